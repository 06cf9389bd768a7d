//! Declarations of operators.

use super::HtmlAuditor;
use cms_config::load;
use cms_config::source::Origin;
use cms_core::engine;
use cms_core::registry::link;

/// A declaration; behind a NUL the schema file `schemas/book.json`.
pub(super) fn declarations(bytes: &[u8], _: HtmlAuditor) {
    let text = String::from_utf8_lossy(bytes);
    let (routes, schema) = text.split_once('\0').unwrap_or((&text, "{}"));
    let files = [("routes.toml", routes), ("schemas/book.json", schema)];
    let problems = match load::attempt(Origin::Texts { label: "", files: &files }, &[], []).outcome {
        Ok(loaded) => link::link(&loaded, &engine::vocabulary(), "http://site.example").err().unwrap_or_default(),
        Err(problems) => {
            assert!(!problems.is_empty());
            problems
        }
    };
    assert!(problems.iter().all(|problem| !problem.message.is_empty() && !problem.to_string().is_empty()));
}
