//! Collections whose entries are declared beside the resource (`about.entries`), none if none are.
//!
//! It knows no resource: what an entry holds is the schema's business, who may see it the guard's.

use super::lists::{Window, paging_headers};
use super::{Outcome, Work};
use crate::error::{ApiError, Code};
use crate::records::{self, Record};
use crate::registry::args::Role;
use serde_json::{Map, Value};

/// The declared entries: an array, paged where the endpoint takes a page.
///
/// # Errors
/// A route without a resource: 500.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let entries = work.resource()?.entries();
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
    let entry = wanted.as_str().and_then(|wanted| resource.entry(wanted)).ok_or_else(missing)?;
    Ok(Outcome::ok(shown(work, entry)?))
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The members of an entry that the context shows, and who holds it, where the declaration asks for that.
fn shown(work: &Work<'_>, entry: &Value) -> Result<Value, ApiError> {
    let context = work.allowed.context();
    let resource = work.resource()?;
    let mut entry = entry.clone();
    if let Some(holder) = resource.declared.about.get("holder")
        && let Some(map) = entry.as_object_mut()
    {
        let word = |key: &str| holder.get(key).and_then(Value::as_str).unwrap_or("");
        let key = map.get(resource.declared.about.get("key").and_then(Value::as_str).unwrap_or("id"));
        let held = held_by(work, word("resource"), word("property"), key.and_then(Value::as_str).unwrap_or(""))?;
        map.insert(word("shown_as").to_owned(), Value::from(held));
    }
    let properties = resource.properties.iter().filter(|p| p.contexts.shows_in(context));
    let members: Map<String, Value> =
        properties.filter_map(|p| entry.get(&p.name).map(|v| (p.name.clone(), v.clone()))).collect();
    Ok(Value::Object(members))
}

/// The row that names an entry among its words; 0 when none does.
fn held_by(work: &Work<'_>, resource: &str, property: &str, entry: &str) -> Result<i64, ApiError> {
    let Some(holders) = work.scope.registry.resource(resource) else { return Ok(0) };
    let rows = work.scope.snapshot()?.rows(&records::plan(holders, records::own_rows(holders)))?;
    let mut all = rows.iter().map(|row| Record { resource: holders, row });
    let holds = |record: &Record<'_>| record.text(property).split_whitespace().any(|word| word == entry);
    Ok(all.find(holds).map_or(0, |record| record.id()))
}
