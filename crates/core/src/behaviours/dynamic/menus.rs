//! Navigation: menus of links, one below another.

use super::wrapper::wrapper;
use super::{DynamicPart, content_of, published};
use crate::records::{self, eq};
use crate::registry::columns::record;
use cms_storage::plan::{Cond, DbValue};
use cms_text::html::Html;
use cms_text::html_policy::Policy;
use cms_text::sanitize::clean_url;

/// A menu: its own items, or those of the record that it names.
pub fn menu(part: &DynamicPart<'_>) -> Option<Html> {
    let items = match part.reference() {
        Some(wanted) => content_of(part, part.of?, wanted, part.within, true)?,
        None => part.inside(part.within),
    };
    if items.as_str().trim().is_empty() {
        return None;
    }
    let mut html = Html::new();
    html.raw("<nav").attrs(&wrapper(part, ""));
    // Readers tell landmarks of one page apart by their names.
    let name = name_of(part);
    let label = match part.within.budget.unique.count_landmark(&name) {
        0 | 1 => name,
        times => format!("{name} {times}"),
    };
    html.attr_if("aria-label", &label).raw("><ul class=\"wp-block-navigation__container\">");
    html.html(&items).raw("</ul></nav>");
    Some(html)
}

/// The name of a menu: its own, or the title of the record that it shows.
fn name_of(part: &DynamicPart<'_>) -> String {
    let own = part.text("ariaLabel");
    let shown = part.reference().filter(|_| own.is_empty());
    let Some((wanted, resource)) = shown.zip(part.of) else { return own.to_owned() };
    let filter = Cond::All(vec![eq("id", DbValue::Int(wanted)), published(part), records::own_rows(resource)]);
    let plan = records::columns(record::TABLE, &["title"], filter);
    part.rows_as::<String, Vec<_>>(&plan).into_iter().next().unwrap_or_default()
}

/// A link in a menu, with the items below it, which a branch is there for. One to a record that nobody may see shows nothing.
pub fn item(part: &DynamicPart<'_>, branch: bool) -> Option<Html> {
    let label = Html::sanitised(part.text("label"), Policy::phrases());
    if label.as_str().trim().is_empty() || leads_nowhere(part) {
        return None;
    }
    let below = part.inside(part.within);
    let below = Html::rendered(below.as_str().trim());
    let mut own = "wp-block-navigation-item".to_owned();
    if branch || !below.is_empty() {
        own.push_str(" has-child");
    }
    let own = wrapper(part, &own);
    let mut html = Html::new();
    html.raw("<li").attrs(&own).raw("><a class=\"wp-block-navigation-item__content\"");
    html.attr_if("href", &clean_url(part.text("url")));
    html.attr_if("target", if part.flag("opensInNewTab") { "_blank" } else { "" });
    html.attr_if("rel", part.text("rel")).attr_if("title", part.text("title"));
    html.raw("><span class=\"wp-block-navigation-item__label\">").html(&label).raw("</span>");
    let description = Html::sanitised(part.text("description"), Policy::phrases());
    if !description.is_empty() {
        html.raw("<span class=\"wp-block-navigation-item__description\">").html(&description).raw("</span>");
    }
    html.raw("</a>");
    if !below.is_empty() {
        html.raw("<ul class=\"wp-block-navigation__submenu-container\">").html(&below).raw("</ul>");
    }
    html.raw("</li>");
    Some(html)
}

fn leads_nowhere(part: &DynamicPart<'_>) -> bool {
    let Some(id) = part.attributes["id"].as_i64() else { return false };
    let named = part.item.scope.registry.resource_by_api_name(part.text("type"));
    let of_records = || named.is_some_and(|resource| resource.is_content());
    let to_record = part.text("kind") == "post-type" || of_records();
    let filter = Cond::All(vec![eq("id", DbValue::Int(id)), published(part)]);
    let there = || !part.rows_as::<i64, Vec<_>>(&records::columns(record::TABLE, &["id"], filter)).is_empty();
    to_record && !there()
}

/// A link to the site's home.
pub fn home(part: &DynamicPart<'_>) -> Option<Html> {
    let given = Some(part.text("label")).filter(|given| !given.trim().is_empty());
    let label = Html::sanitised(given.unwrap_or(part.item.scope.phrase("Home")), Policy::phrases());
    let own = wrapper(part, "wp-block-navigation-item");
    let mut html = Html::new();
    html.raw("<li").attrs(&own);
    html.raw("><a class=\"wp-block-home-link__content wp-block-navigation-item__content\"");
    html.attr("href", &part.item.scope.registry.site.front).raw(" rel=\"home\" >").html(&label).raw("</a></li>");
    Some(html)
}
