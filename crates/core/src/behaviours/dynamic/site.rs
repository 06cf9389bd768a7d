//! Blocks of the site itself: its title and tagline, a form that searches it.

use super::wrapper::{text_classes, wrapper};
use super::{DynamicPart, heading};
use crate::access::policy;
use crate::records::eq;
use cms_storage::plan::{Cond, DbValue};
use cms_text::html::Html;
use cms_text::sanitize::clean_url;
use cms_text::slug;

/// The title of the site, as a link to it unless the author wants none.
pub fn title(part: &DynamicPart<'_>) -> Option<Html> {
    let scope = part.item.scope;
    let title = scope.settings.text("title");
    if title.is_empty() {
        return None;
    }
    let (open, close) = heading(part.number("level", 1));
    let mut html = Html::new();
    html.raw(open).attrs(&wrapper(part, &text_classes(part, ""))).raw(">");
    if part.attributes["isLink"] == false {
        html.text(title).raw(close);
        return Some(html);
    }
    let target = if part.text("linkTarget") == "_blank" { "_blank" } else { "_self" };
    html.raw("<a").attr("href", &scope.registry.site.front).attr("target", target).raw(" rel=\"home\">");
    html.text(title).raw("</a>").raw(close);
    Some(html)
}

/// The site's tagline.
pub fn tagline(part: &DynamicPart<'_>) -> Option<Html> {
    let tagline = part.item.scope.settings.text("description");
    if tagline.is_empty() {
        return None;
    }
    let (open, close) = heading(part.number("level", 0));
    let mut html = Html::new();
    html.raw(open).attrs(&wrapper(part, &text_classes(part, ""))).raw(">");
    html.text(tagline).raw(close);
    Some(html)
}

/// A form that searches the site.
pub fn search(part: &DynamicPart<'_>) -> Option<Html> {
    let text = |key: &str, otherwise: &str| {
        let given = part.attributes[key].as_str().filter(|given| !given.is_empty());
        cms_text::strip::strip_all_tags(given.unwrap_or(otherwise))
    };
    let label = text("label", part.item.scope.phrase("Search"));
    let placed = match part.text("buttonPosition") {
        placed @ ("button-inside" | "no-button" | "button-only") => placed,
        _ => "button-outside",
    };
    let kind = if placed == "no-button" { "" } else { " wp-block-search__text-button" };
    let own = format!("wp-block-search__{placed}{kind}");
    let hidden = if part.attributes["showLabel"] == false { " screen-reader-text" } else { "" };
    let home = format!("{}/", clean_url(&part.item.scope.registry.site.front));
    let mut html = Html::new();
    let own = wrapper(part, &own);
    let wrapped = part.text("tagName") == "search";
    match wrapped {
        true => html.raw("<search").attrs(&own).raw(" ><form method=\"get\"").attr("action", &home).raw(">"),
        false => html.raw("<form role=\"search\" method=\"get\"").attr("action", &home).attrs(&own).raw(" >"),
    };
    let id = format!("wp-block-search__input-{}", part.within.budget.unique.number());
    let mut label_class = format!("wp-block-search__label{hidden}");
    for (key, behind) in [("fontSize", "font-size"), ("fontFamily", "font-family")] {
        if !part.text(key).is_empty() {
            label_class.push_str(&format!(" has-{}-{behind}", slug::sanitize_title(part.text(key))));
        }
    }
    html.raw("<label").attr("class", &label_class).attr("for", &id).raw(" >");
    html.text(&label).raw("</label><div class=\"wp-block-search__inside-wrapper\" ><input");
    html.raw(" class=\"wp-block-search__input\"").attr("id", &id).attr("placeholder", &text("placeholder", ""));
    html.raw(" value=\"\" type=\"search\" name=\"s\" required />");
    if placed != "no-button" {
        let button = text("buttonText", part.item.scope.phrase("Search"));
        html.raw("<button").attr("aria-label", &button);
        html.raw(" class=\"wp-block-search__button wp-element-button\" type=\"submit\" >").text(&button);
        html.raw("</button>");
    }
    html.raw(if wrapped { "</div></form></search>" } else { "</div></form>" });
    Some(html)
}

/// A link to log in, or for who is logged in, to log out.
pub fn login(part: &DynamicPart<'_>) -> Option<Html> {
    let scope = part.item.scope;
    let known = scope.principal.is_logged_in();
    let pages = &scope.registry.declaration.pages;
    let page = if known { pages.logout.as_str() } else { pages.login.as_str() };
    let mut html = Html::new();
    let own = if known { "logged-in" } else { "logged-out" };
    html.raw("<div").attrs(&wrapper(part, own)).raw("><a");
    html.address("href", &format!("{}{page}", scope.registry.site.url));
    html.raw(">").text(if known { scope.phrase("Log out") } else { scope.phrase("Log in") }).raw("</a></div>");
    Some(html)
}

/// The site's logo, as a link to its home.
pub fn logo(part: &DynamicPart<'_>) -> Option<Html> {
    let scope = part.item.scope;
    let wanted = Some(scope.settings.int("site_logo")).filter(|id| *id != 0)?;
    let filter = Cond::All(vec![eq("id", DbValue::Int(wanted)), policy::visible(scope, part.of?)]);
    let found = part.documents(filter, Vec::new(), 1, "alt_text,source_url,media_details");
    let picture = found.first()?;
    let side = |name: &str| picture["media_details"][name].as_u64().unwrap_or(0);
    let (width, height) = match (part.number("width", 0), side("width"), side("height")) {
        (0, width, height) => (width, height),
        (wanted, width, height) if width > 0 => (wanted, wanted.saturating_mul(height) / width),
        (wanted, _, _) => (wanted, 0),
    };
    let alt = picture["alt_text"].as_str().filter(|alt| !alt.is_empty());
    let mut image = Html::new();
    image.raw("<img width=\"").number(width).raw("\" height=\"").number(height).raw("\"");
    image.attr("src", &clean_url(picture["source_url"].as_str()?)).raw(" class=\"custom-logo\"");
    image.attr("alt", alt.unwrap_or(scope.settings.text("title"))).raw(" decoding=\"async\" />");
    let mut html = Html::new();
    let own = if part.number("width", 0) == 0 { "is-default-size" } else { "" };
    html.raw("<div").attrs(&wrapper(part, own)).raw(">");
    match part.attributes["isLink"] == false {
        true => html.html(&image),
        false => {
            html.raw("<a").attr("href", &format!("{}/", scope.registry.site.front)).raw(" class=\"custom-logo-link\"");
            html.raw(" rel=\"home\"");
            if part.text("linkTarget") == "_blank" {
                html.attr("aria-label", scope.phrase("(Home link, opens in a new tab)")).raw(" target=\"_blank\"");
            }
            html.raw(">").html(&image).raw("</a>")
        }
    };
    html.raw("</div>");
    Some(html)
}
