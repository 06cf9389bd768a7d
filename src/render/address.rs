//! Addresses of items on the site.

use crate::records::Record;
use crate::registry::resource::Resource;
use crate::render::{Batch, Item};
use crate::scope::Scope;
use cms_text::permalink::Parts;
use cms_text::time::CivilDateTime;
use std::sync::Arc;

/// The address of an item, as visitors use it.
pub fn address(item: &Item<'_>) -> String {
    of(item.scope, item.record, item.batch, item.record.text("slug"))
}

/// The address that a record has (or would have with this slug).
pub fn of(scope: &Scope, record: Record<'_>, batch: &Batch, slug: &str) -> String {
    let site = &scope.registry.site;
    let resource = record.resource;
    let shape = resource.declared.address.as_deref().unwrap_or("plain");
    let status = record.text("status");
    if shape == "plain" || (resource.is_content() && forced_plain(scope, status)) {
        return plain(scope, resource, record.id());
    }
    match shape {
        "permalinks" => format!("{}{}", site.url, site.permalinks.render(&parts(record, batch, slug))),
        "attached" => below(scope, record, batch, slug),
        shape => {
            let Some(path) = path(record, batch, slug) else { return plain(scope, resource, record.id()) };
            if shape == "path" {
                return format!("{}/{path}/", site.url);
            }
            let filled = shape.replace("{path}", &path).replace("{slug}", slug).replace("{id}", &record.key());
            let filled = filled.replace("{api_name}", &resource.api_name);
            format!("{}{}", site.url, filled)
        }
    }
}

/// The address of an attached record: below the other record's, or by id where that one has none that
/// everybody may know.
fn below(scope: &Scope, record: Record<'_>, batch: &Batch, slug: &str) -> String {
    let parent = record.int("parent");
    if parent == 0 {
        return format!("{}/{slug}/", scope.registry.site.url);
    }
    let place = batch.places.get(&parent).filter(|place| place.open);
    match place.map(|place| &place.address).filter(|address| !address.contains('?')) {
        Some(address) => format!("{address}{slug}/"),
        None => plain(scope, record.resource, record.id()),
    }
}

/// Addresses by id, for what has no public address yet.
pub fn plain(scope: &Scope, resource: &Resource, id: i64) -> String {
    let query = resource.declared.query_var.as_deref().unwrap_or("p");
    format!("{}/?{query}={id}", scope.registry.site.url)
}

/// Unpublished records have no address in the site's shape.
pub fn forced_plain(scope: &Scope, status: &str) -> bool {
    !scope.registry.status_is(status, |s| s.public || s.private || s.inherits)
}

/// The values that fill a permalink structure.
pub fn parts<'a>(record: Record<'a>, batch: &'a Batch, slug: &'a str) -> Parts<'a> {
    Parts {
        date: CivilDateTime::of(record.int("date_local")),
        postname: slug,
        post_id: record.id(),
        author: batch.authors.get(&record.int("author")).map_or("", |a| a),
        category: "",
    }
}

/// Slugs from the topmost ancestor down, but for ancestors without one; `None` where one of them is not for everybody: an
/// address is the same for every caller and never names what some of them may not read.
pub fn path(record: Record<'_>, batch: &Batch, slug: &str) -> Option<String> {
    let mut slugs: Vec<Arc<str>> = Vec::new();
    let mut parent = record.int("parent");
    while let Some(above) = batch.above.get(&parent) {
        if !above.open && !above.slug.is_empty() {
            return None;
        }
        if !above.slug.is_empty() {
            slugs.push(above.slug.clone());
        }
        parent = above.parent;
        if slugs.len() > 100 {
            break;
        }
    }
    let mut path: String = slugs.iter().rev().map(|s| format!("{s}/")).collect();
    path.push_str(slug);
    Some(path)
}
