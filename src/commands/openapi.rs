//! `openapi`, `types`, `client`, `diff`: the description of the routes, its types, a client with them, and what changed
//! between two descriptions.

use super::{linked, print};
use crate::boot::{BootError, ConfigSource};
use crate::engine;
use crate::openapi::diff::{Effect, changes};
use crate::openapi::{Selection, document, python, rust, typescript, yaml};
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;

/// See [`super::Command::Openapi`].
pub(super) fn openapi(source: &ConfigSource, as_yaml: bool, namespace: Option<&str>) -> Result<(), BootError> {
    let registry = linked(source)?;
    if let Some(wanted) = namespace.filter(|wanted| !registry.namespaces.iter().any(|own| own == wanted)) {
        let all = registry.namespaces.join(", ");
        return Err(BootError::Other(format!("there is no namespace `{wanted}`; there are {all}")));
    }
    let selection = Selection { namespace, endpoints: &|_, _| true, server: &registry.site.rest_url };
    let described = document(&registry, &engine::vocabulary(), &selection);
    let text = match as_yaml {
        true => yaml(&described).map_err(|error| BootError::Other(error.to_string()))?,
        false => format!("{described:#}\n"),
    };
    print(text.as_bytes());
    Ok(())
}

/// Languages that clients are written in.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Language {
    /// TypeScript, with `fetch`.
    Ts,
    /// Python, with `httpx`.
    Python,
    /// Rust, with `reqwest`.
    Rust,
}

/// See [`super::Command::Types`].
pub(super) fn types(source: &ConfigSource) -> Result<(), BootError> {
    print(typescript::types(&whole(source)?).as_bytes());
    Ok(())
}

/// See [`super::Command::Client`].
pub(super) fn client(source: &ConfigSource, language: Language) -> Result<(), BootError> {
    let document = whole(source)?;
    let text = match language {
        Language::Ts => typescript::client(&document),
        Language::Python => python::client(&document),
        Language::Rust => rust::client(&document),
    };
    print(text.as_bytes());
    Ok(())
}

fn whole(source: &ConfigSource) -> Result<Value, BootError> {
    let registry = linked(source)?;
    let selection = Selection { namespace: None, endpoints: &|_, _| true, server: &registry.site.rest_url };
    Ok(document(&registry, &engine::vocabulary(), &selection))
}

/// Bytes of a description that is read.
const MOST_BYTES: u64 = 64 << 20;

/// See [`super::Command::Diff`].
pub(super) fn diff(source: &ConfigSource, old: &Path, new: &Path) -> Result<(), BootError> {
    if source.config.is_some() {
        return Err(BootError::Other("diff compares OLD and NEW; leave out --config".to_owned()));
    }
    let found = changes(&described(source, old)?, &described(source, new)?);
    let mut text: String = found.iter().map(|change| format!("{change}\n")).collect();
    let breaking = found.iter().filter(|change| change.effect == Effect::Breaking).count();
    text.push_str(&match (breaking, found.len()) {
        (_, 0) => "no changes\n".to_owned(),
        (0, all) => format!("{all} additive\n"),
        (_, all) => format!(
            "{breaking} breaking, {} additive\n  hint: keep the old namespace as it is and declare the new version in one \
             of its own\n",
            all - breaking
        ),
    });
    print(text.as_bytes());
    if breaking == 0 { Ok(()) } else { Err(BootError::Reported) }
}

/// A description that is in a file, or that of declarations.
fn described(source: &ConfigSource, path: &Path) -> Result<Value, BootError> {
    if path.extension().is_none_or(|end| end != "json") {
        return whole(&ConfigSource { config: Some(path.to_owned()), sets: source.sets.clone() });
    }
    let refused = |what: &str| BootError::Other(format!("{}: {what}", path.display()));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| refused(&error.to_string()))?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| refused(&error.to_string()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(refused("the file is larger than 64 MiB"));
    }
    let document: Value = serde_json::from_str(&text).map_err(|error| refused(&error.to_string()))?;
    let version = document["openapi"].as_str().unwrap_or_default();
    match version.starts_with("3.1.") && document["paths"].is_object() {
        true => Ok(document),
        false => Err(refused("this is no OpenAPI 3.1 description; `cms-server openapi` prints one")),
    }
}
