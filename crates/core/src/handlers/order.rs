//! The order of a collection, from its arguments.

use super::lists::searched;
use super::search_words::Search;
use crate::error::{ApiError, Code, refuse_if};
use crate::records::txt;
use crate::registry::args::{ArgRole, ArgSet};
use crate::registry::name;
use crate::registry::resource::{Context, Resource, Sort};
use crate::request::args::ArgValues;
use crate::scope::Scope;
use cms_storage::plan::{DbValue, Name, Order};
use cms_text::slug;
use serde_json::Value;

/// The order of the arguments.
///
/// # Errors
/// Sorting by what the request does not contain (`include` without ids, `relevance` without a search), a search of too many
/// words.
pub fn order(
    scope: &Scope,
    resource: &Resource,
    args: &ArgValues,
    set: &ArgSet,
    context: Context,
) -> Result<Vec<Order>, ApiError> {
    if let Some(keys) = args.role(set, ArgRole::OrderKeys).and_then(Value::as_array).filter(|keys| !keys.is_empty()) {
        return Ok(by_keys(resource, keys));
    }
    let descending = args.role(set, ArgRole::Order).and_then(Value::as_str) != Some("asc");
    let Some(orderby) = args.role(set, ArgRole::Orderby).and_then(Value::as_str) else {
        return Ok(vec![Order::Column(resource.key.clone(), descending)]);
    };
    let list =
        |role: ArgRole| -> Vec<Value> { args.role(set, role).and_then(Value::as_array).cloned().unwrap_or_default() };
    Ok(match resource.sort.get(orderby) {
        None => vec![Order::Column(resource.key.clone(), descending)],
        // Recorded: among comments that are equal in the sort order the newest comes first, whatever the direction.
        Some(Sort::Column(column))
            if resource.is_comments() && !column.starts_with("date") && *column != resource.key =>
        {
            vec![Order::Column(column.clone(), descending), Order::Column(resource.key.clone(), true)]
        }
        Some(Sort::Column(column)) => vec![Order::Column(column.clone(), descending)],
        Some(Sort::Include) => {
            let ids = list(ArgRole::Include);
            refuse_if(ids.is_empty() && resource.is_content(), Code::OrderbyIncludeMissing)?;
            let ids = ids.iter().filter_map(Value::as_i64).map(|i| DbValue::Int(i.saturating_abs())).collect();
            // Recorded: the direction turns the list of people around.
            let turned = resource.is_users() && descending || turns(resource, args, set);
            listed(resource, set, descending, (&resource.key, ids), turned)
        }
        Some(Sort::Slugs) => {
            let slugs = args.get("slug").and_then(Value::as_array).cloned().unwrap_or_default();
            let slugs: Vec<DbValue> =
                slugs.iter().filter_map(Value::as_str).map(|s| txt(&slug::sanitize_title(s))).collect();
            listed(resource, set, descending, (&name("slug"), slugs), turns(resource, args, set))
        }
        Some(Sort::Relevance) => {
            let search =
                Search::asked(args, set, resource.is_content())?.ok_or_else(|| ApiError::new(Code::NoSearchTerm))?;
            search.relevance(&searched(scope, resource, context, &[]), descending)
        }
    })
}

/// The order of a list in the request; `turned`: the other way round. Recorded: without one, records are sorted by their
/// date and people by their number, whatever the direction.
fn listed(
    resource: &Resource,
    set: &ArgSet,
    descending: bool,
    (column, mut values): (&Name, Vec<DbValue>),
    turned: bool,
) -> Vec<Order> {
    if values.is_empty() {
        return match resource.is_users() {
            true => vec![Order::Column(resource.key.clone(), false)],
            false => usual_order(resource, set, descending && !resource.is_content()),
        };
    }
    if turned {
        values.reverse();
    }
    vec![Order::Given(column.clone(), values)]
}

/// Recorded: a direction that the request names turns lists of terms around, and of records never.
fn turns(resource: &Resource, args: &ArgValues, set: &ArgSet) -> bool {
    let given = set.role(ArgRole::Order).and_then(|arg| args.explicit(&arg.name)).and_then(Value::as_str);
    resource.is_taxonomy() && given == Some("desc")
}

/// The order by several sort keys; `-` is before those that descend.
fn by_keys(resource: &Resource, keys: &[Value]) -> Vec<Order> {
    let key = |key: &Value| {
        let key = key.as_str()?;
        let name = key.strip_prefix('-').unwrap_or(key);
        match resource.sort.get(name)? {
            Sort::Column(column) => Some(Order::Column(column.clone(), key.starts_with('-'))),
            _ => None,
        }
    };
    keys.iter().filter_map(key).collect()
}

/// The order that a list has without a sort key: its own, or that of the key.
fn usual_order(resource: &Resource, set: &ArgSet, descending: bool) -> Vec<Order> {
    let usual = set.role(ArgRole::Orderby).and_then(|arg| arg.default.as_ref()).and_then(Value::as_str);
    let column = match usual.and_then(|usual| resource.sort.get(usual)) {
        Some(Sort::Column(column)) => column,
        _ => &resource.key,
    };
    vec![Order::Column(column.clone(), descending)]
}
