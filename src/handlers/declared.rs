//! Collections whose entries are declared beside the resource (`about.entries`), none if none are.
//!
//! It knows no resource: what an entry holds is the schema's business, who may see it the guard's.

use super::lists::{Window, paging_headers};
use super::{Outcome, Work};
use crate::error::{ApiError, Code};
use crate::registry::args::Role;
use serde_json::{Map, Value};

/// The declared entries: an array, paged where the endpoint takes a page.
///
/// # Errors
/// A route without a resource: 500.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let entries = entries(work)?;
    let args = work.allowed.args();
    let window = Window::of(args, &work.endpoint.args);
    let paged = args.role(&work.endpoint.args, Role::PerPage).is_some();
    let shown: Vec<Value> = if paged {
        entries
            .iter()
            .skip(count(window.offset))
            .take(count(window.per_page))
            .map(|e| shown(work, e))
            .collect::<Result<_, _>>()?
    } else {
        entries.iter().map(|e| shown(work, e)).collect::<Result<_, _>>()?
    };
    let mut outcome = Outcome::ok(Value::Array(shown));
    if paged {
        paging_headers(work, &mut outcome, entries.len() as u64, &window);
    }
    Ok(outcome)
}

/// The entry whose `about.key` is the last value of the path.
///
/// # Errors
/// There is none.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let missing = || ApiError::new(resource.code(Code::RecordInvalidId));
    let wanted = work.captures.values().next_back().ok_or_else(missing)?;
    let key = resource.declared.about.get("key").and_then(Value::as_str).unwrap_or("id");
    // Keys are texts in a path and may be numbers in an entry.
    let wanted = wanted.as_str().ok_or_else(missing)?;
    let named = |entry: &&Value| match entry.get(key) {
        Some(Value::String(key)) => key == wanted,
        Some(Value::Number(key)) => key.as_i64().is_some_and(|key| wanted.parse() == Ok(key)),
        _ => false,
    };
    let entry = entries(work)?.iter().find(named).ok_or_else(missing)?;
    Ok(Outcome::ok(shown(work, entry)?))
}

fn entries<'a>(work: &Work<'a>) -> Result<&'a [Value], ApiError> {
    let entries = work.resource()?.declared.about.get("entries").and_then(Value::as_array);
    Ok(entries.map_or(&[], Vec::as_slice))
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The members of an entry that the context shows.
fn shown(work: &Work<'_>, entry: &Value) -> Result<Value, ApiError> {
    let context = work.allowed.context();
    let properties = work.resource()?.properties.iter().filter(|p| p.contexts.shows_in(context));
    let members: Map<String, Value> =
        properties.filter_map(|p| entry.get(&p.name).map(|v| (p.name.clone(), v.clone()))).collect();
    Ok(Value::Object(members))
}
