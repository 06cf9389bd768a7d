//! The request that the console makes first at the address of a list. Its answer comes with the page, so that the first rows
//! need no further round trip.
//!
//! The console decides by itself what it asks (`console/src/model/list-query.ts`) and leaves an answer to another request
//! unused. `console/tests/first-list.test.ts` compares both for each list of the golden description.

use serde_json::{Map, Value, json};

/// The layouts of lists, in the order in which the console offers them.
const LAYOUTS: [&str; 4] = ["table", "list", "grid", "tree"];

/// Records of a page where the view declares no number, and the most that a list has.
const PER_PAGE: u64 = 20;
const MOST_PER_PAGE: u64 = 100;

/// Properties that name a record, where the view declares none.
const NAMES: [&str; 7] = ["title", "name", "label", "username", "subject", "event", "slug"];

/// A request for the first page of a list: its path below the base, and its query.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FirstList {
    pub path: String,
    pub query: Map<String, Value>,
}

/// The first request at an address of the console. `None`: the address is not that of a list, or the list begins in another
/// way, such as a tree, a queue, or one with declared filters.
pub(super) fn of(description: &Value, address: &str) -> Option<FirstList> {
    let name = address.strip_prefix("/r/")?;
    let resource = description["resources"].as_array()?.iter().find(|resource| resource["name"] == name)?;
    let operation = resource["operations"].get("list")?;
    let states = states(description, resource);
    if resource["key"].is_null() || !resource["parent"].is_null() || is_queue(&states) {
        return None;
    }
    let args: Vec<&str> = texts(&operation["args"]).collect();
    let takes = |argument: &str| args.contains(&argument);
    let view = view(resource, takes("parent"))?;
    let mut query = order(resource, &view, takes);
    if !states.is_empty() && takes("status") {
        query.insert("status".to_owned(), json!(state_argument(&states)));
    }
    if takes("per_page") {
        let number = view.get("perPage").and_then(Value::as_u64).unwrap_or(PER_PAGE);
        query.insert("per_page".to_owned(), json!(number.clamp(1, MOST_PER_PAGE).to_string()));
        query.insert("_cursor".to_owned(), json!(""));
    }
    query.insert("_fields".to_owned(), json!(fields(resource, &view, !states.is_empty()).join(",")));
    Some(FirstList { path: operation["path"].as_str()?.to_owned(), query })
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The states of a resource. Those of records and those of comments may have the same name: the names in requests tell which
/// ones belong together.
fn states<'d>(description: &'d Value, resource: &'d Value) -> Vec<&'d Value> {
    let all: Vec<&Value> = description["states"].as_array().into_iter().flatten().collect();
    let has_names = |state: &Value| texts(&state["names"]).next().is_some();
    let plain = |name: &str| all.iter().any(|state| state["name"] == name && !has_names(state));
    let renamed = texts(&resource["states"]).any(|name| !plain(name));
    let chosen = |name: &str| {
        let called = || all.iter().copied().filter(|state| state["name"] == name);
        called().find(|state| has_names(state) == renamed).or_else(|| called().next())
    };
    texts(&resource["states"]).filter_map(chosen).collect()
}

/// States that are verdicts on what others have written have a screen of their own.
fn is_queue(states: &[&Value]) -> bool {
    let some = |fact: &str| states.iter().any(|state| state[fact] == true);
    some("review") && some("public") && !some("draft")
}

fn request_name(state: &Value) -> &str {
    texts(&state["names"]).next().or(state["name"].as_str()).unwrap_or_default()
}

/// Every state but the trash. Where requests call states by names of their own, lists take one at a time.
fn state_argument(states: &[&Value]) -> String {
    if states.iter().any(|state| state["name"] != request_name(state)) {
        return "all".to_owned();
    }
    let kept: Vec<&str> =
        states.iter().filter(|state| state["trash"] != true).map(|state| request_name(state)).collect();
    kept.join(",")
}

/// The view that a list has at first.
fn view(resource: &Value, takes_parent: bool) -> Option<Map<String, Value>> {
    let declared = resource["view"]["default_view"].as_object()?;
    let layouts = &resource["view"]["default_layouts"];
    let own = declared.get("type").and_then(Value::as_str);
    let fits = |layout: &str| layouts.get(layout).is_some() || own == Some(layout);
    let any = LAYOUTS.iter().any(|layout| fits(layout));
    let tree = resource["hierarchical"] == true && takes_parent;
    let offered = |layout: &&str| match *layout {
        "tree" if tree => true,
        "table" | "list" if !any => true,
        layout => fits(layout),
    };
    let layout = own.filter(|own| LAYOUTS.iter().filter(|layout| offered(layout)).any(|layout| layout == own));
    let layout = layout.or_else(|| LAYOUTS.iter().find(|layout| offered(layout)).copied())?;
    let mut view = declared.clone();
    view.extend(layouts[layout].as_object().cloned().unwrap_or_default());
    let filtered = view
        .get("filters")
        .and_then(Value::as_array)
        .is_some_and(|filters| filters.iter().any(|one| one["field"] != "status"));
    (layout != "tree" && !filtered).then_some(view)
}

/// The arguments for the order that the view declares.
fn order(resource: &Value, view: &Map<String, Value>, takes: impl Fn(&str) -> bool) -> Map<String, Value> {
    let mut query = Map::new();
    let sort = view.get("sort").unwrap_or(&Value::Null);
    let direction = sort["direction"].as_str().unwrap_or("asc");
    let Some(key) = sort["field"].as_str().and_then(|field| resource["fields"][field]["sort"].as_str()) else {
        return query;
    };
    if takes("orderby") && (takes("order") || !takes("order_by")) {
        query.insert("orderby".to_owned(), json!(key));
    }
    if takes("orderby") && takes("order") {
        query.insert("order".to_owned(), json!(direction));
    } else if takes("order_by") {
        query.insert("order_by".to_owned(), json!(format!("{}{key}", if direction == "desc" { "-" } else { "" })));
    }
    query
}

/// The properties that the list shows, and those that each layout needs.
fn fields<'d>(resource: &'d Value, view: &'d Map<String, Value>, has_states: bool) -> Vec<&'d str> {
    let declared = &resource["view"]["default_view"];
    let tree = resource["view"]["default_layouts"]["tree"].get("layout").unwrap_or(&declared["layout"]);
    let place = tree.get("orderField").or_else(|| tree.get("order_field"));
    let named = declared["titleField"].as_str().filter(|field| !field.is_empty());
    let title = named.or_else(|| NAMES.into_iter().find(|name| resource["fields"].get(name).is_some()));
    let shown = view.get("fields").map(texts).into_iter().flatten();
    let files = texts(&resource["supports"]).any(|feature| feature == "files");
    let of_files: &[&str] = if files { &["mime_type", "media_details.sizes"] } else { &[] };
    let fields = resource["key"].as_str().into_iter().chain(title).chain(shown).chain(["link", "parent"]);
    let fields = fields.chain(declared["mediaField"].as_str()).chain(declared["descriptionField"].as_str());
    let fields = fields.chain(place.and_then(Value::as_str).filter(|field| !field.is_empty()));
    let fields = fields.chain(of_files.iter().copied()).chain(has_states.then_some("status"));
    let mut unique: Vec<&str> = Vec::new();
    for field in fields {
        if !unique.contains(&field) {
            unique.push(field);
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    /// Requests that the console's own test compares with its own.
    #[test]
    fn the_first_requests_of_all_lists() {
        let described = [
            ("cms", include_str!("../../fixtures/golden/console.cms.json")),
            ("wp", include_str!("../../fixtures/golden/console.wp.json")),
        ];
        for (prefix, text) in described {
            let description: Value = serde_json::from_str(text).expect("JSON");
            let names =
                description["resources"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
            let first = |name: &str| of(&description, &format!("/r/{name}"));
            let lists = names.filter_map(|name| Some((name, first(name)?)));
            let lists: Map<String, Value> =
                lists.map(|(name, list)| (name.to_owned(), json!({"path": list.path, "query": list.query}))).collect();
            let text = serde_json::to_string_pretty(&lists).expect("JSON");
            expect_file![format!("../../fixtures/golden/first-lists.{prefix}.json")].assert_eq(&format!("{text}\n"));
            for address in ["/r/", "/r/none", "/", "/declarations", "/r/posts/12", "/r/posts?state=draft"] {
                assert_eq!(of(&description, address), None, "{address}");
            }
        }
    }
}
