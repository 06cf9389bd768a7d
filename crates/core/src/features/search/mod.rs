//! The search over every searchable kind at once.
//!
//! Contract: "Search result". `type` names the kind of thing that is searched (records, terms), `subtype` the kinds or
//! taxonomies; only what is published and what the caller may see is found.

use crate::access::hints::{self, Hints};
use crate::access::policy;
use crate::error::{ApiError, Code, refuse_if};
use crate::handlers::lists::{Highlights, PageWindow, Search, paging_headers, searched};
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::records::{self, Record, is_in};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::registry::tables;
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use crate::render::address;
use crate::render::{self, Batch};
use cms_storage::Snapshot;
use cms_storage::plan::{Cond, DbValue, Order, ReadPlan, Row};
use cms_text::render::render_title;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] =
    &[sync_handler("search", search, "Searches records, terms and declared values of all searchable types at once.")
        .fails(&[Code::SearchInvalidPageNumber])
        .responds(ResponseKind::Page)
        .settings(&["values"])];

/// One page of what was found.
pub fn search(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    if let Some(values) = args.text("type").and_then(|kind| SearchValues::declared(work, kind)) {
        return values.search(work);
    }
    let public = |taxonomy: &&Resource| taxonomy.declared.listing.visibility.get("public") == Some(&json!(true));
    let kinds = match args.text("type") {
        Some("term") => chosen(work, work.scope.registry.taxonomy_kinds().filter(public)),
        Some("post") | None => chosen(work, work.scope.registry.content_kinds().filter(|r| r.declared.searchable)),
        Some(_) => Vec::new(),
    };
    let window = PageWindow::of(args, &work.endpoint.args);
    let mut outcome = Outcome::ok(Value::Array(Vec::new()));
    let mut total = 0;
    if let Some(first) = kinds.first() {
        let plan = plan(work, first, &kinds, &window)?;
        let snapshot = work.scope.snapshot()?;
        let rows = snapshot.rows(&plan)?;
        // Beyond the last page the number of results is unknown.
        total = if rows.is_empty() { 0 } else { snapshot.count(&plan)? };
        let rows = with_address_columns(&*snapshot, &kinds, rows)?;
        outcome.body = Value::Array(documents(work, &*snapshot, &kinds, &rows)?);
    }
    paging_headers(work, &mut outcome, total, &window);
    Ok(outcome)
}

/// Values of a property that can be found like records: declared as `options.values` of the search, by type.
struct SearchValues<'a> {
    kind: &'a str,
    /// Whose records have the property, and in which column.
    of: &'a Resource,
    column: &'a str,
    /// Path of a value's page.
    address: &'a str,
    /// Names of the values for people.
    labels: &'a IndexMap<String, String>,
}

impl<'a> SearchValues<'a> {
    fn declared(work: &Work<'a>, wanted: &str) -> Option<SearchValues<'a>> {
        let all = &work.resource().ok()?.declared.options.values;
        let (kind, declared) = all.iter().find(|(kind, _)| *kind == wanted)?;
        let of = work.scope.registry.resource(&declared.resource)?;
        let property = of.properties.iter().find(|p| p.name == declared.property)?;
        // Who may not read the property finds none of its values.
        if !policy::reads_field(work.scope, &property.rights) {
            return None;
        }
        Some(SearchValues {
            kind,
            of,
            column: property.column.as_deref()?,
            address: &declared.address,
            labels: &declared.labels,
        })
    }

    /// The values that some record has which the caller may see, and whose label holds the text.
    fn search(&self, work: &Work<'_>) -> Result<Outcome, ApiError> {
        let args = work.allowed.args();
        let text = args.text("search").unwrap_or("").to_lowercase();
        let snapshot = work.scope.snapshot()?;
        let registry = &work.scope.registry;
        let mut found = Vec::new();
        for (value, label) in self.labels {
            let has = records::eq(self.column, records::txt(value));
            let plan = records::plan(self.of, Cond::All(vec![policy::visible(work.scope, self.of), has]));
            // Counts are cached, so that a value that no record has is not searched each time.
            if !label.to_lowercase().contains(&text) || snapshot.count(&plan)? == 0 {
                continue;
            }
            let url = format!("{}{}", registry.site.url, self.address.replace("{value}", value));
            let collection = registry.rest(&work.resource()?.path);
            found.push(json!({"id": value, "title": label, "url": url, "type": self.kind,
                "_links": {"collection": [{"href": collection}]}}));
        }
        let window = PageWindow::of(args, &work.endpoint.args);
        // Unlike those of records, the number of pages is known beyond the last one.
        refuse_if(!found.is_empty() && window.page > window.pages(found.len() as u64), Code::SearchInvalidPageNumber)?;
        let [skip, most] = [window.offset, window.per_page].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let shown: Vec<Value> = found.iter().skip(skip).take(most).cloned().collect();
        let mut outcome = Outcome::ok(Value::Array(shown));
        paging_headers(work, &mut outcome, found.len() as u64, &window);
        Ok(outcome)
    }
}

/// The requested ones of the searchable kinds (or taxonomies).
fn chosen<'a>(work: &Work<'a>, all: impl Iterator<Item = &'a Resource>) -> Vec<&'a Resource> {
    let wanted: Vec<&str> = match work.allowed.args().get("subtype") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one.as_str()],
        _ => Vec::new(),
    };
    let all: Vec<&Resource> = all.collect();
    let chosen: Vec<&Resource> = all.iter().copied().filter(|r| wanted.contains(&r.api_name.as_str())).collect();
    // Names of another family choose nothing: of records the first kind is searched, of terms every taxonomy.
    match chosen.is_empty() {
        _ if wanted.is_empty() || wanted.contains(&"any") => all,
        true if all.iter().all(|kind| kind.is_taxonomy()) => all,
        true => all.into_iter().take(1).collect(),
        false => chosen,
    }
}

fn plan(work: &Work<'_>, first: &Resource, kinds: &[&Resource], window: &PageWindow) -> Result<ReadPlan, ApiError> {
    let args = work.allowed.args();
    let search = Search::asked(args, &work.endpoint.args, first.is_content())?;
    let visible = kinds.iter().map(|kind| {
        let mut own = vec![records::own_rows(kind), policy::visible(work.scope, kind)];
        // Only callers who may edit a locked record learn whether its text matches.
        own.extend(search.as_ref().and_then(|_| policy::unlocked(work.scope, kind)));
        Cond::All(own)
    });
    let mut all = vec![Cond::Any(visible.collect())];
    if first.is_content() {
        all.push(policy::published(work.scope));
    }
    for (arg, inside) in [("include", true), ("exclude", false)] {
        let ids: Vec<i64> =
            args.get(arg).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_i64).collect();
        if !ids.is_empty() {
            let listed = is_in("id", ids);
            all.push(if inside { listed } else { Cond::Not(Box::new(listed)) });
        }
    }
    let context = work.allowed.context();
    let columns = searched(work.scope, first, context, &[]);
    all.extend(search.iter().flat_map(|search| search.conditions(&columns)));
    let order = match &search {
        _ if first.is_taxonomy() => vec![Order::Column(name("name_key"), false)],
        Some(search) => search.relevance(&columns, true),
        None => vec![Order::Column(name("date_local"), true)],
    };
    let plan = records::columns(&first.table, &tables::family_columns(first.family), Cond::All(all));
    Ok(ReadPlan { order, limit: Some(window.per_page), offset: window.offset, ..plan })
}

fn documents(
    work: &Work<'_>,
    snapshot: &dyn Snapshot,
    kinds: &[&Resource],
    rows: &[Row],
) -> Result<Vec<Value>, ApiError> {
    let collection = work.resource()?;
    let (mut batch, mut hints) = (Batch::default(), HashMap::new());
    for kind in kinds {
        let own: Vec<Row> = rows.iter().filter(|row| is_of(kind, row)).cloned().collect();
        batch.load_address_parts(snapshot, work.scope, kind, &own)?;
        let of = |row| Record { resource: kind, row }.id();
        hints.extend(own.iter().map(of).zip(hints::of_rows(work.scope, kind, &own, true)?));
    }
    let highlights = kinds.first().map(|kind| Highlights::asked(work, kind)).transpose()?.flatten();
    Ok(rows
        .iter()
        .filter_map(|row| kinds.iter().find(|kind| is_of(kind, row)).map(|kind| (kind, row)))
        .map(|(kind, row)| {
            let own = hints.get(&Record { resource: kind, row }.id()).copied().unwrap_or_default();
            let mut document = document(work, collection, (kind, row), own, &batch);
            if let Some(highlights) = &highlights {
                highlights.add(&mut document, Record { resource: kind, row });
            }
            document
        })
        .collect())
}

/// The rows with what addresses show of each kind's own columns: a query for each kind that has such.
fn with_address_columns(
    snapshot: &dyn Snapshot,
    kinds: &[&Resource],
    mut rows: Vec<Row>,
) -> Result<Vec<Row>, ApiError> {
    for kind in kinds.iter().filter(|kind| !kind.address.columns.is_empty()) {
        let id = |row: &Row| Record { resource: kind, row }.id();
        let plan = records::plan(kind, records::is_in("id", rows.iter().filter(|row| is_of(kind, row)).map(id)));
        let found = records::read(snapshot, kind, plan, &render::short_columns(kind))?;
        for whole in found {
            if let Some(row) = rows.iter_mut().find(|row| is_of(kind, row) && id(row) == id(&whole)) {
                row.resize(kind.columns.len(), DbValue::Null);
                kind.address.columns.iter().for_each(|column| row[*column] = whole[*column].clone());
            }
        }
    }
    Ok(rows)
}

fn is_of(kind: &Resource, row: &Row) -> bool {
    let column = if kind.is_content() { "kind" } else { "taxonomy" };
    Record { resource: kind, row }.value(column) == &DbValue::Text(kind.kind.clone())
}

fn document(
    work: &Work<'_>,
    collection: &Resource,
    (kind, row): (&Resource, &Row),
    hints: Hints,
    batch: &Batch,
) -> Value {
    let registry = &work.scope.registry;
    let record = Record { resource: kind, row };
    let mut map = Map::new();
    let content = kind.is_content();
    let title = if content { render_title(record.text("title")) } else { record.text("name").to_owned() };
    map.insert("id".into(), json!(record.id()));
    map.insert("title".into(), json!(title));
    map.insert("url".into(), json!(address::of(work.scope, record, batch, record.text("slug"))));
    // The member holds a term's taxonomy in place of a record's kind of thing.
    map.insert("type".into(), json!(if content { "post" } else { kind.api_name.as_str() }));
    if content {
        map.insert("subtype".into(), json!(kind.api_name));
    }
    let about = registry.resources.iter().find(|r| match crate::features::catalogue::Catalogue::of(r) {
        Some(crate::features::catalogue::Catalogue::Types) => content,
        Some(crate::features::catalogue::Catalogue::Taxonomies) => !content,
        _ => false,
    });
    let mut links = Map::new();
    let own = registry.rest(&kind.item_path(&record.key()));
    let mut link = json!({"embeddable": true, "href": own});
    if let Some(hints) = hints.shown(registry, kind) {
        link["targetHints"] = hints;
    }
    links.insert("self".into(), json!([link]));
    if let Some(about) = about {
        links.insert("about".into(), json!([{"href": registry.rest(&about.item_path(&kind.api_name))}]));
    }
    links.insert("collection".into(), json!([{"href": registry.rest(&collection.path)}]));
    map.insert("_links".into(), Value::Object(links));
    Value::Object(map)
}
