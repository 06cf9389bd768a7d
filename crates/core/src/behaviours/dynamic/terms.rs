//! A query of terms, and the blocks inside it for each term.

use super::wrapper::{link_classes, text_classes, wrapper};
use super::{DynamicPart, MOST_DEPTH, PartContext, boxed, heading};
use crate::records::{eq, is_in};
use crate::registry::name;
use cms_storage::plan::{Cond, DbValue, Op, Order};
use cms_text::html::Html;
use cms_text::html_policy::Policy;
use serde_json::Value;

/// The fields of a term that blocks show.
const FIELDS: &str = "id,name,slug,link,count,parent,description";

/// The terms that the query around finds, each with the blocks inside.
pub fn list(part: &DynamicPart<'_>) -> Option<Html> {
    const ROWS: u64 = 10;
    let query = part.within.around("termQuery").filter(|_| part.within.depth < MOST_DEPTH)?;
    let registry = &part.item.scope.registry;
    // A query that names no taxonomy is of the first one.
    let taxonomy = match query["taxonomy"].as_str() {
        Some(wanted) => registry.resource_by_api_name(wanted).filter(|r| r.is_taxonomy()),
        None => registry.taxonomies().find(|r| r.viewable()),
    };
    let taxonomy = taxonomy.filter(|r| r.viewable())?;
    let include: Vec<i64> = query["include"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    let mut filter = Vec::new();
    if query["hideEmpty"] != false {
        filter.push(Cond::Compare(name("count"), Op::Gt, DbValue::Int(0)));
    }
    if include.is_empty() && taxonomy.property("parent").is_some() && query["showNested"] != true {
        filter.push(eq("parent", DbValue::Int(0)));
    }
    let column = match query["orderBy"].as_str() {
        Some("count") => "count",
        Some("id") => "id",
        _ => "name_key",
    };
    let descending = query["order"] == "desc";
    let order = match include.is_empty() {
        true => vec![Order::Column(name(column), descending), Order::Column(name("id"), false)],
        false => {
            let order = Order::Given(name("id"), include.iter().copied().map(DbValue::Int).collect());
            filter.push(is_in("id", include));
            vec![order]
        }
    };
    let most = query["perPage"].as_u64().unwrap_or(ROWS).max(1);
    let found = part.documents_of(taxonomy, Cond::All(filter), order, (0, most), FIELDS);
    if found.is_empty() {
        return None;
    }
    let mut html = Html::new();
    html.raw("<ul").attrs(&wrapper(part, &link_classes(part, ""))).raw(">");
    for term in &found {
        if !part.has_room_for_row(&html) {
            break;
        }
        let within = PartContext { term: Some((taxonomy, term)), depth: part.within.depth + 1, ..part.within };
        let (id, name) = (term["id"].as_i64().unwrap_or(0), &taxonomy.api_name);
        let own = format!("wp-block-term term-{id} {name} taxonomy-{name}");
        html.raw("<li").attr("class", &own).raw(">").html(&part.inside(within)).raw("</li>");
    }
    html.raw("</ul>");
    Some(html)
}

/// A term's name.
pub fn title(part: &DynamicPart<'_>) -> Option<Html> {
    let (_, term) = part.within.term?;
    let (open, close) = heading(part.number("level", 0));
    let mut html = Html::new();
    html.raw(open).attrs(&wrapper(part, &text_classes(part, ""))).raw(">");
    let name = term["name"].as_str().unwrap_or("");
    match term["link"].as_str().filter(|_| part.flag("isLink")) {
        Some(link) => html.raw("<a").attr("href", link).raw(">").text(name).raw("</a>"),
        None => html.text(name),
    };
    html.raw(close);
    Some(html)
}

/// How many records have a term.
pub fn count(part: &DynamicPart<'_>) -> Option<Html> {
    let (_, term) = part.within.term?;
    let (open, close) = match part.attributes["bracketType"].as_str() {
        None | Some("round") => ("(", ")"),
        Some("square") => ("[", "]"),
        Some("curly") => ("{", "}"),
        Some("angle") => ("&lt;", "&gt;"),
        Some(_) => ("", ""),
    };
    let mut html = Html::new();
    html.raw(open).number(term["count"].as_u64().unwrap_or(0)).raw(close);
    Some(boxed(&wrapper(part, ""), &html))
}

/// A term's description.
pub fn description(part: &DynamicPart<'_>) -> Option<Html> {
    let (_, term) = part.within.term?;
    let text = Html::sanitised(term["description"].as_str().unwrap_or(""), Policy::posts());
    (!text.is_empty()).then(|| boxed(&wrapper(part, &text_classes(part, "")), &text))
}

/// A member of the term that a list shows here, as a text.
pub fn member(part: &DynamicPart<'_>, field: &str) -> Option<String> {
    const KNOWN: [&str; 7] = ["id", "name", "link", "slug", "description", "parent", "count"];
    let (_, term) = part.within.term?;
    match &term[*KNOWN.iter().find(|known| **known == field)?] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
