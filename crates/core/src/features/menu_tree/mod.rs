//! A menu as a tree, for everybody: what a front end needs to show it, in one answer.

use crate::access::policy;
use crate::error::{ApiError, Code};
use crate::features::static_entries;
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::records::{self, Record, eq, is_in};
use crate::registry::columns::{ID, record};
use crate::registry::name;
use crate::registry::resource::{Context, Resource};
use crate::registry::vocabulary::BehaviourEntry;
use crate::render::{self, View};
use crate::request::fields::Fields;
use cms_declaration::MenuTree;
use cms_storage::Snapshot;
use cms_storage::plan::{Cond, DbValue, Order, ReadPlan, Row};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] =
    &[sync_handler("menu_tree.get", get, "Responds with a menu and its items as a tree, for everybody.")
        .fails(&[Code::RecordInvalidId])
        .settings(&["menu_tree"])];

/// Most items of a menu that are shown.
const MOST_ITEMS: u64 = 1000;

/// Members of an item besides its title and the items below it.
const MEMBERS: [&str; 10] =
    ["id", "url", "target", "xfn", "classes", "description", "attr_title", "type", "object", "object_id"];

/// The menu that the last value of the path names: by its place, or else by its slug. Items that are not published are left
/// out, and so are those whose target is gone or not public, with what is below them.
///
/// # Errors
/// There is no such menu; the database cannot be read.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let options = resource.declared.options.menu_tree.as_ref();
    let Some((options, [menus, items, places])) =
        options.and_then(|options| Some((options, resources(work, options)?)))
    else {
        return Err(ApiError::new(Code::Internal));
    };
    let snapshot = work.scope.snapshot()?;
    let wanted = work.captures.get("menu").and_then(Value::as_str).unwrap_or("");
    let named = match static_entries::holder_of(work, places, wanted)? {
        Some(id) => eq(&menus.key, DbValue::Int(id)),
        None => Cond::All(vec![records::own_rows(menus), eq("slug", records::txt(wanted))]),
    };
    let found = snapshot.rows(&ReadPlan { limit: Some(1), ..records::plan(menus, named) })?;
    let Some(row) = found.first() else { return Err(ApiError::new(resource.code(Code::RecordInvalidId))) };
    let menu = Record { resource: menus, row };
    let items = shown_items(work, &*snapshot, (items, &options.menu), menu.id())?;
    let mut below: HashMap<i64, Vec<&Value>> = HashMap::new();
    for item in &items {
        below.entry(item["parent"].as_i64().unwrap_or(0)).or_default().push(item);
    }
    Ok(Outcome::ok(json!({
        "id": menu.id(),
        "slug": menu.text("slug"),
        "name": menu.text("name"),
        "items": level(&below, 0),
    })))
}

/// The resources that the options name: menus, items, places.
fn resources<'w>(work: &Work<'w>, options: &MenuTree) -> Option<[&'w Resource; 3]> {
    let named = |name: &str| work.scope.registry.resource(name);
    Some([named(&options.menus)?, named(&options.items)?, named(&options.places)?])
}

/// The documents of the items that everybody may see, in their order.
fn shown_items(
    work: &Work<'_>,
    snapshot: &dyn Snapshot,
    (items, menu): (&Resource, &str),
    id: i64,
) -> Result<Vec<Value>, ApiError> {
    let of_menu = items.plan_column(menu).ok_or_else(|| ApiError::new(Code::Internal))?;
    let filter = [records::own_rows(items), policy::published(work.scope), eq(&of_menu, DbValue::Int(id))];
    let order = [record::MENU_ORDER, ID].map(|column| Order::Column(name(column), false));
    let plan = records::plan(items, Cond::All(filter.to_vec()));
    let rows = snapshot.rows(&ReadPlan { order: order.to_vec(), limit: Some(MOST_ITEMS), ..plan })?;
    let public = public_targets(work, snapshot, items, &rows)?;
    let view = View { fields: &Fields::default(), links: false, ..work.view(Context::VIEW) };
    let documents = render::documents(work.scope, snapshot, items, &rows, &view)?;
    let shown = |row: &Row| record_target(Record { resource: items, row }).is_none_or(|id| public.contains(&id));
    let all = rows.iter().zip(documents);
    Ok(all.filter(|(row, document)| shown(row) && document["invalid"] != true).map(|(_, document)| document).collect())
}

/// The record that an item leads to.
fn record_target(item: Record<'_>) -> Option<i64> {
    let reference = item.resource.declared.reference.as_ref()?;
    (item.text(&reference.class) == reference.record).then(|| item.int(&reference.id))
}

/// Those of the records that items lead to that everybody may read. Files are as public as what they are attached to.
fn public_targets(
    work: &Work<'_>,
    snapshot: &dyn Snapshot,
    items: &Resource,
    rows: &[Row],
) -> Result<HashSet<i64>, ApiError> {
    let ids = rows.iter().filter_map(|row| record_target(Record { resource: items, row }));
    let filter = Cond::All(vec![is_in(ID, ids), policy::published_or_inherited(work.scope)]);
    Ok(snapshot.rows_as(&records::columns(record::TABLE, &[ID], filter))?)
}

/// The items below one, each with those below itself.
fn level(below: &HashMap<i64, Vec<&Value>>, parent: i64) -> Value {
    let item = |document: &&Value| {
        let mut item: Map<String, Value> =
            MEMBERS.iter().map(|member| ((*member).to_owned(), document[*member].clone())).collect();
        item.insert("title".into(), document["title"]["rendered"].clone());
        // An item that is below itself is below nothing, so that this ends.
        item.insert("items".into(), level(below, document["id"].as_i64().unwrap_or(-1)));
        Value::Object(item)
    };
    below.get(&parent).into_iter().flatten().map(item).collect()
}
