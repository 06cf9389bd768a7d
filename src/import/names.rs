//! Lists of names that stay out of an import or a proposal, each with its reason.

use serde::Deserialize;

/// Names that stay out for one reason. A `*` matches any characters.
#[derive(Deserialize)]
pub(super) struct NamesWithReason {
    why: String,
    names: Vec<String>,
}

/// The entry by which a name is left out, with the reason; `None`: it is not.
pub(super) fn reason<'n>(all: &'n [NamesWithReason], name: &str) -> Option<(&'n str, &'n str)> {
    let fits = |pattern: &String| match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
        None => name == pattern,
    };
    all.iter().find_map(|one| Some((one.names.iter().find(|pattern| fits(pattern))?.as_str(), one.why.as_str())))
}
