//! Documents of revisions and autosaves: the members of the history, and the texts as the record would show them.

use super::*;
use crate::features::addresses::preview_nonce;

/// The members of a document of the history beside the texts.
pub(super) struct RevisionFacts {
    id: i64,
    parent: i64,
    author: i64,
    /// On the clock of the site, and UTC; none while the date floats.
    date: Option<(i64, i64)>,
    modified: (i64, i64),
    slug: String,
    guid: String,
    preview: String,
    /// Its content.
    content: RevisionContent,
    /// The record as it was then.
    then: Row,
}

impl RevisionFacts {
    /// The members of a revision or an autosave.
    pub(super) fn of(work: &Work<'_>, record: Record<'_>, row: &RevisionRow) -> RevisionFacts {
        let (id, of, autosave) = (row.id, row.of, row.autosave);
        let at = (work.scope.settings.zone.utc_to_local(row.at), row.at);
        let content = row.content();
        RevisionFacts {
            id,
            parent: of,
            author: row.author,
            date: Some(at),
            modified: at,
            slug: format!("{of}-{}-v1", if autosave { "autosave" } else { "revision" }),
            guid: format!("{}/?p={id}", work.scope.registry.site.url),
            preview: if autosave { preview(work, record, true) } else { String::new() },
            then: content.row(record),
            content,
        }
    }

    /// A draft that was changed in place describes itself.
    pub(super) fn present(work: &Work<'_>, record: Record<'_>) -> Result<RevisionFacts, ApiError> {
        let dates = |name: &str| (record.int(&format!("{name}_local")), record.int(&format!("{name}_utc")));
        Ok(RevisionFacts {
            id: record.id(),
            parent: record.int("parent"),
            author: record.int("author"),
            date: (record.int("date_floats") == 0).then(|| dates("date")),
            modified: dates("modified"),
            slug: record.text("slug").to_owned(),
            guid: record.text("guid").to_owned(),
            preview: preview(work, record, false),
            content: RevisionContent::of(work.scope, record)?,
            then: record.row.clone(),
        })
    }
}

/// The document of a row of the history.
pub(super) fn document(work: &Work<'_>, row: &RevisionRow) -> Result<Value, ApiError> {
    show(work, &RevisionFacts::of(work, parent(work)?, row), work.allowed.context())
}

/// A document as the shown schema describes it, its texts in the rendering of the record's own kind.
pub(super) fn show(work: &Work<'_>, past: &RevisionFacts, context: Context) -> Result<Value, ApiError> {
    let (shown, owner) = (work.resource()?, work.owner()?);
    let record = Record { resource: owner, row: &past.then };
    let author_names = if shown.declared.inherit_properties { authored(work, record, past)? } else { HashMap::new() };
    let edges = past.content.edges().map(|(rel, ends)| ((rel, record.id()), ends)).collect();
    let meta = HashMap::from([(record.id(), past.content.meta())]);
    let batch = Batch { author_names, edges, meta, ..Batch::default() };
    let scope = work.scope;
    work.unique.begin();
    let item = Item { context, ..Item::viewed(scope, record, &batch, READS, &work.unique) };
    let local = |at: Option<(i64, i64)>| at.map(|at| time::format_local(at.0));
    let utc = |at: Option<(i64, i64)>| at.map(|at| time::format_local(at.1));
    let mut map = Map::new();
    let wanted = |p: &&Property| p.contexts.shows_in(context) && work.fields.wants(&p.name);
    if shown.declared.inherit_properties {
        for property in owner.properties.iter().filter(wanted) {
            let value = match property.column.as_deref() {
                Some("id") => json!(past.id),
                Some("author") => json!(past.author),
                Some("status") => json!(scope.registry.inherited_status()),
                Some("modified_local") => json!(local(Some(past.modified))),
                _ => match item.value(property) {
                    Some(value) => value,
                    None => continue,
                },
            };
            map.insert(property.name.clone(), value);
        }
    }
    let whole = !scope.registry.declaration.dialect.revisions_of_texts;
    let held = |p: &&Property| p.is_versioned() && shown.property(&p.name).is_none() && past.content.holds(owner, p);
    for property in owner.properties.iter().filter(|_| whole).filter(held).filter(wanted) {
        if let Some(value) = item.value(property) {
            map.insert(property.name.clone(), value);
        }
    }
    for property in shown.properties.iter().filter(wanted) {
        let value = match property.name.as_str() {
            "id" => json!(past.id),
            "author" => json!(past.author),
            "parent" => json!(past.parent),
            "date" => json!(local(past.date)),
            "date_gmt" => json!(utc(past.date)),
            "modified" => json!(local(Some(past.modified))),
            "modified_gmt" => json!(utc(Some(past.modified))),
            "slug" => json!(past.slug),
            "guid" if context == Context::EDIT => json!({"rendered": past.guid, "raw": past.guid}),
            "guid" => json!({"rendered": past.guid}),
            "preview_link" => json!(past.preview),
            // Where values are not stored, what is shown is what a record without values shows.
            "meta" => match owner.property("meta") {
                Some(property) if whole && !past.content.holds(owner, property) => continue,
                property => property.and_then(|p| item.value(p)).unwrap_or_else(|| no_meta(scope)),
            },
            texts => match owner.property(texts) {
                Some(property) if matches!(property.source, PropertySource::Object(_)) => then_text(&item, property),
                Some(property) => item.value(property).unwrap_or(Value::Null),
                None => continue,
            },
        };
        map.insert(property.name.clone(), value);
    }
    if let Some(links) = shown_links(work, past)? {
        map.insert("_links".into(), links);
    }
    Ok(Value::Object(map))
}

/// The links of a revision or autosave.
pub(super) fn links_to_record(work: &Work<'_>) -> Result<Value, ApiError> {
    let path = records::path_key(&work.scope.registry, parent(work)?);
    let up = work.scope.registry.rest(&work.owner()?.item_path(&path));
    Ok(json!({"parent": [{"href": up}]}))
}

/// The links of a document of the history, where it shows them.
fn shown_links(work: &Work<'_>, past: &RevisionFacts) -> Result<Option<Value>, ApiError> {
    let (shown, owner, registry) = (work.resource()?, work.owner()?, &work.scope.registry);
    // Under that dialect the link is one of the member that names the parent.
    let linked = !registry.declaration.dialect.link_revisions
        || shown.declared.inherit_properties
        || work.fields.wants("parent") && past.parent != 0;
    if !linked || !work.fields.wants("_links") {
        return Ok(None);
    }
    let mut links = links_to_record(work)?;
    if shown.declared.inherit_properties {
        let kind = if past.slug.contains("-autosave-") { "autosaves" } else { "revisions" };
        let path = records::path_key(registry, parent(work)?);
        let path = format!("{}/{kind}/{}", owner.item_path(&path), past.id);
        links["self"] = json!([hints::self_link(work.scope, shown, path)?]);
    }
    Ok(Some(links))
}

/// The `meta` of a record when no values are registered.
fn no_meta(scope: &Scope) -> Value {
    if scope.registry.declaration.dialect.empty_list_as_object { json!([]) } else { json!({}) }
}

/// The name of a revision's author, in place of the record's.
fn authored(work: &Work<'_>, record: Record<'_>, past: &RevisionFacts) -> Result<HashMap<i64, Arc<str>>, ApiError> {
    let id = eq(ID, DbValue::Int(past.author));
    let found = records::first(&*work.scope.snapshot()?, user::TABLE, &[user::NAME], id)?;
    Ok(found.into_iter().map(|name| (record.int("author"), name)).collect())
}

/// `raw` where the kind shows it, and `rendered` always.
fn then_text(item: &Item<'_>, property: &Property) -> Value {
    let PropertySource::Object(children) = &property.source else { return Value::Null };
    let mut map = Map::new();
    for child in children.iter().filter(|c| c.name == "raw" && c.contexts.shows_in(item.context)) {
        map.insert("raw".into(), item.value(child).unwrap_or(Value::Null));
    }
    // A content shows what the server makes of its blocks now; the other texts follow from what was stored.
    let shown = children.iter().find(|child| child.name == "rendered" && property.name == "content");
    let stored = item.record.text(&property.name);
    let rendered = shown.and_then(|child| item.value(child));
    map.insert("rendered".into(), rendered.unwrap_or_else(|| json!(self::rendered(item, &property.name, stored))));
    Value::Object(map)
}

fn rendered(item: &Item<'_>, property: &str, stored: &str) -> String {
    use cms_text::render::{render_content, render_excerpt, render_title};
    let options = crate::behaviours::text_options(item);
    match property {
        "title" => render_title(stored),
        // An excerpt that nobody wrote stays empty here.
        "excerpt" if stored.is_empty() => String::new(),
        "excerpt" => render_excerpt(stored, "", &options),
        _ => render_content(stored, &options),
    }
}

/// The address of the record's preview: with the caller's autosave, or as it is. Empty for kinds without
/// pages of their own.
fn preview(work: &Work<'_>, record: Record<'_>, autosave: bool) -> String {
    if !record.resource.viewable() {
        return String::new();
    }
    let mut above = Batch::default();
    if let Ok(snapshot) = work.scope.snapshot() {
        // Without the records above, the address is shorter and no worse.
        let _ = above.load_address_parts(&*snapshot, work.scope, record.resource, std::slice::from_ref(record.row));
    }
    let address = address::of(work.scope, record, &above, record.text("slug"));
    let join = if address.contains('?') { '&' } else { '?' };
    if !autosave {
        return format!("{address}{join}preview=true");
    }
    let id = record.id();
    let nonce = preview_nonce::of(work.scope, id);
    format!("{address}{join}preview_id={id}&preview_nonce={nonce}&preview=true")
}
