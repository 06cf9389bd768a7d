//! The way from the home page to a record.

use super::loops::subject;
use super::wrapper::styled_wrapper;
use super::{DynamicPart, seen_by_all, title_of};
use crate::records::{eq, first, is_in};
use crate::registry::columns::record;
use crate::registry::name;
use crate::registry::resource::Resource;
use cms_storage::plan::{Cond, DbValue, Name, Order};
use cms_text::html::Html;
use cms_text::sanitize::clean_url;
use serde_json::Value;

/// Steps at most.
const MOST_STEPS: usize = 20;

/// A step: its name, and where it leads.
type Breadcrumb = (Html, String);

/// The way to a record: home, the records above it or its first term, and the record itself.
pub fn path(part: &DynamicPart<'_>) -> Option<Html> {
    let (resource, document) = subject(part)?;
    let document = document.as_ref();
    let shows = |key: &str| part.attributes[key] != false;
    let mut steps: Vec<Breadcrumb> = Vec::new();
    if shows("showHomeItem") {
        let mut home = Html::new();
        home.text(part.item.scope.phrase("Home"));
        steps.push((home, format!("{}/", part.item.scope.registry.site.front)));
    }
    let above = records_above(part, resource, document);
    let by_terms = match above.is_empty() && resource.relations.iter().any(|relation| relation.is_list()) {
        true => resource.property("parent").is_none() || part.flag("prefersTaxonomy"),
        false => false,
    };
    steps.extend(if by_terms { terms(part, resource, document) } else { above });
    let mut html = Html::new();
    for (name, address) in &steps {
        html.raw("<li><a").attr("href", &clean_url(address)).raw(">").html(name).raw("</a></li>");
    }
    if shows("showCurrentItem") {
        html.raw("<li><span aria-current=\"page\">").html(&title_of(part, document)).raw("</span></li>");
    }
    if html.is_empty() {
        return None;
    }
    let separator = part.attributes["separator"].as_str().unwrap_or("/").replace('\\', "\\\\").replace('"', "\\\"");
    let mut list = Html::new();
    list.raw("<nav").attrs(&styled_wrapper(part, "", &format!("--separator: \"{separator}\"")));
    list.attr("aria-label", part.item.scope.phrase("Breadcrumbs")).raw("><ol>").html(&html).raw("</ol></nav>");
    Some(list)
}

/// The records that one is below, the uppermost first; the one that a file belongs to counts.
fn records_above(part: &DynamicPart<'_>, resource: &Resource, document: &Value) -> Vec<Breadcrumb> {
    let mut steps: Vec<Breadcrumb> = Vec::new();
    let Some(id) = document["id"].as_i64() else { return steps };
    let mut at = parent_of(part, resource, id);
    while let Some((above, parent)) = at.filter(|_| steps.len() < MOST_STEPS) {
        let found = part.documents_of(above, eq("id", DbValue::Int(parent)), Vec::new(), (0, 1), "title,link");
        let Some(document) = found.first() else { break };
        steps.push((title_of(part, document), document["link"].as_str().unwrap_or("").to_owned()));
        at = parent_of(part, above, parent);
    }
    steps.reverse();
    steps
}

/// The parent of a record, if everybody may see it.
fn parent_of<'r>(part: &'r DynamicPart<'_>, resource: &Resource, id: i64) -> Option<(&'r Resource, i64)> {
    resource.column("parent")?;
    let scope = part.item.scope;
    let snapshot = scope.snapshot().ok()?;
    let parent = first(&*snapshot, record::TABLE, &[record::PARENT], eq("id", DbValue::Int(id))).ok()??;
    let visible = Cond::All(vec![eq("id", DbValue::Int(parent)), seen_by_all(scope)]);
    let kind: Name = first(&*snapshot, record::TABLE, &[record::KIND], visible).ok()?.filter(|_| parent != 0)?;
    let above = scope.registry.resources.iter().find(|resource| resource.kind == kind)?;
    Some((above, parent))
}

/// The first term of a record in the first taxonomy that it has terms of, behind the terms above it.
fn terms(part: &DynamicPart<'_>, resource: &Resource, document: &Value) -> Vec<Breadcrumb> {
    let registry = &part.item.scope.registry;
    let mut steps = Vec::new();
    let with_terms = resource.relations.iter().filter(|relation| relation.is_list()).find_map(|relation| {
        let ids: Vec<i64> = document[&relation.property].as_array()?.iter().filter_map(Value::as_i64).collect();
        (!ids.is_empty()).then(|| (&registry.resources[relation.to], ids))
    });
    let Some((taxonomy, ids)) = with_terms else { return steps };
    let mut wanted = is_in("id", ids);
    while steps.len() < MOST_STEPS {
        let order = vec![Order::Column(name("name_key"), false)];
        let found = part.documents_of(taxonomy, wanted, order, (0, 1), "name,link,parent");
        let Some(term) = found.first() else { break };
        let mut label = Html::new();
        label.text(term["name"].as_str().unwrap_or(""));
        steps.push((label, term["link"].as_str().unwrap_or("").to_owned()));
        match term["parent"].as_i64().filter(|parent| *parent != 0) {
            Some(parent) => wanted = eq("id", DbValue::Int(parent)),
            None => break,
        }
    }
    steps.reverse();
    steps
}
