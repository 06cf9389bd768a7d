//! The pages of a query: links to them, how many records there are. A content shows the first page.

use super::BlockFrame;
use super::loops::found;
use super::wrapper::{link_classes, text_classes, wrapper};
use super::{DynamicPart, PartContext, boxed, heading};
use cms_text::html::Html;
use cms_text::html_policy::Policy;
use cms_text::phrase::fill;

/// Links that are shown beside the first, the last and the current page.
const BESIDE: u64 = 2;
/// Links at most.
const MOST_LINKS: u64 = 100;

/// Links to the pages of a query.
pub fn pages(part: &DynamicPart<'_>) -> Option<Html> {
    let frame = BlockFrame { attributes: &part.attributes, outer: part.within.around };
    let inside = part.inside(PartContext { around: Some(&frame), ..part.within });
    let mut html = Html::new();
    html.raw("<nav").attrs(&wrapper(part, &link_classes(part, "")));
    html.attr("aria-label", part.item.scope.phrase("Pagination")).raw(">");
    html.html(&inside).raw("</nav>");
    (!inside.as_str().trim().is_empty()).then_some(html)
}

/// The address of a page, from the page that shows the content.
fn address(part: &DynamicPart<'_>, page: u64) -> String {
    match part.within.around("queryId").and_then(serde_json::Value::as_u64) {
        Some(id) => format!("?query-{id}-page={page}"),
        None => format!("?query-page={page}"),
    }
}

/// A link to the second page, if there is one.
pub fn next(part: &DynamicPart<'_>) -> Option<Html> {
    const ARROWS: [(&str, &str); 2] = [("arrow", "→"), ("chevron", "»")];
    let found = found(part)?;
    if found.pages(found.total(part)) < 2 {
        return None;
    }
    let label =
        Some(part.text("label")).filter(|label| !label.is_empty()).unwrap_or(part.item.scope.phrase("Next Page"));
    let labelled = part.within.around("showLabel").is_none_or(|shows| *shows != false);
    let arrow = part.within.around("paginationArrow").and_then(serde_json::Value::as_str).unwrap_or("");
    let mut html = Html::new();
    html.raw("<a").attr("href", &address(part, 2)).attrs(&wrapper(part, ""));
    html.attr_if("aria-label", if labelled { "" } else { label }).raw(">");
    html.text(if labelled { label } else { "" });
    if let Some((kind, arrow)) = ARROWS.into_iter().find(|(kind, _)| *kind == arrow) {
        html.raw("<span class='wp-block-query-pagination-next-arrow is-arrow-").text(kind);
        html.raw("' aria-hidden='true'>").text(arrow).raw("</span>");
    }
    html.raw("</a>");
    Some(html)
}

/// Nothing is before the first page.
pub fn previous(_: &DynamicPart<'_>) -> Option<Html> {
    None
}

/// Links to the pages by their numbers, those far away left out.
pub fn numbers(part: &DynamicPart<'_>) -> Option<Html> {
    let found = found(part)?;
    let last = found.pages(found.total(part));
    if last < 2 {
        return None;
    }
    let beside = part.number("midSize", BESIDE).min(MOST_LINKS);
    let mut html = Html::new();
    html.raw("<span aria-current=\"page\" class=\"page-numbers current\">1</span>");
    for page in 2..=last.min(beside.saturating_add(1)) {
        link(part, page, &mut html);
    }
    if last > beside.saturating_add(2) {
        html.raw("\n<span class=\"page-numbers dots\">&hellip;</span>");
    }
    if last > beside.saturating_add(1) {
        link(part, last, &mut html);
    }
    Some(boxed(&wrapper(part, ""), &html))
}

fn link(part: &DynamicPart<'_>, page: u64, html: &mut Html) {
    html.raw("\n<a class=\"page-numbers\"").attr("href", &address(part, page)).raw(">").number(page).raw("</a>");
}

/// How many records a query finds, or which of them it shows.
pub fn total(part: &DynamicPart<'_>) -> Option<Html> {
    part.within.around("query")?;
    let found = found(part);
    let total = found.as_ref().map_or(0, |found| found.total(part));
    let last = found.map_or(0, |found| found.per_page.min(total));
    let mut html = Html::new();
    let scope = part.item.scope;
    let (last_number, all) = (last.to_string(), total.to_string());
    let values = [("last", last_number.as_str()), ("total", all.as_str())];
    html.text(&match part.text("displayType") {
        "range-display" if last < 2 => fill(scope.phrase("Displaying {last} of {total}"), &values),
        "range-display" => fill(scope.phrase("Displaying 1 – {last} of {total}"), &values),
        _ => scope.plural("1 result found", "{count} results found", total),
    });
    Some(boxed(&wrapper(part, ""), &html))
}

/// The name of the type of record that a query finds, or of the content's own. Titles of archives and of searches belong to pages.
pub fn title(part: &DynamicPart<'_>) -> Option<Html> {
    if part.text("type") != "post-type" {
        return None;
    }
    let wanted = part.within.around("query").and_then(|query| query["postType"].as_str());
    let resource = match wanted.filter(|wanted| !wanted.is_empty()) {
        Some(wanted) => part.item.scope.registry.resource_by_api_name(wanted)?,
        None => part.item.resource,
    };
    let name = Html::sanitised(resource.declared.labels.get("singular_name")?, Policy::phrases());
    let (open, close) = heading(part.number("level", 1));
    let mut html = Html::new();
    html.raw(open).attrs(&wrapper(part, &text_classes(part, ""))).raw(">");
    match part.attributes["showPrefix"] == false {
        true => html.html(&name),
        false => html.phrase(part.item.scope.phrase("Post Type: &#8220;{name}&#8221;"), &[("name", &name)]),
    };
    html.raw(close);
    Some(html)
}
