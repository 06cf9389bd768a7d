//! What the site itself shows: its title and tagline, a form that searches it.

use super::wrapper::{classes, text_align};
use super::{Part, heading};
use crate::text::html::Html;
use crate::text::sanitize::clean_url;

/// What the site is called, as a link to it unless the author wants none.
pub fn title(part: &Part<'_>) -> Option<Html> {
    let scope = part.item.scope;
    let title = scope.settings.text("title");
    if title.is_empty() {
        return None;
    }
    let (open, close) = heading(part.number("level", 1));
    let mut html = Html::new();
    html.raw(open).attr("class", &classes(part, &text_align(part), "wp-block-site-title")).raw(">");
    if part.attributes["isLink"] == false {
        html.text(title).raw(close);
        return Some(html);
    }
    let target = if part.text("linkTarget") == "_blank" { "_blank" } else { "_self" };
    html.raw("<a").attr("href", &scope.registry.site.url).attr("target", target).raw(" rel=\"home\">");
    html.text(title).raw("</a>").raw(close);
    Some(html)
}

/// The site's tagline.
pub fn tagline(part: &Part<'_>) -> Option<Html> {
    let tagline = part.item.scope.settings.text("description");
    if tagline.is_empty() {
        return None;
    }
    let (open, close) = heading(part.number("level", 0));
    let mut html = Html::new();
    html.raw(open).attr("class", &classes(part, &text_align(part), "wp-block-site-tagline")).raw(">");
    html.text(tagline).raw(close);
    Some(html)
}

/// A form that searches the site.
pub fn search(part: &Part<'_>) -> Option<Html> {
    let text = |key: &str, otherwise: &str| {
        let given = part.attributes[key].as_str().filter(|given| !given.is_empty());
        crate::text::strip::strip_all_tags(given.unwrap_or(otherwise))
    };
    let label = text("label", "Search");
    let placed = match part.text("buttonPosition") {
        placed @ ("button-inside" | "no-button" | "button-only") => placed,
        _ => "button-outside",
    };
    let kind = if placed == "no-button" { "" } else { " wp-block-search__text-button" };
    let own = format!("wp-block-search__{placed}{kind}");
    let hidden = if part.attributes["showLabel"] == false { " screen-reader-text" } else { "" };
    let home = format!("{}/", clean_url(&part.item.scope.registry.site.url));
    let mut html = Html::new();
    let own = classes(part, &own, "wp-block-search");
    let wrapped = part.text("tagName") == "search";
    match wrapped {
        true => html.raw("<search").attr("class", &own).raw(" ><form method=\"get\"").attr("action", &home).raw(">"),
        false => html.raw("<form role=\"search\" method=\"get\"").attr("action", &home).attr("class", &own).raw(" >"),
    };
    let id = format!("wp-block-search__input-{}", part.within.budget.unique.number());
    html.raw("<label class=\"wp-block-search__label").raw(hidden).raw("\"").attr("for", &id).raw(" >");
    html.text(&label).raw("</label><div class=\"wp-block-search__inside-wrapper\" ><input");
    html.raw(" class=\"wp-block-search__input\"").attr("id", &id).attr("placeholder", &text("placeholder", ""));
    html.raw(" value=\"\" type=\"search\" name=\"s\" required />");
    if placed != "no-button" {
        let button = text("buttonText", "Search");
        html.raw("<button").attr("aria-label", &button);
        html.raw(" class=\"wp-block-search__button wp-element-button\" type=\"submit\" >").text(&button);
        html.raw("</button>");
    }
    html.raw(if wrapped { "</div></form></search>" } else { "</div></form>" });
    Some(html)
}
