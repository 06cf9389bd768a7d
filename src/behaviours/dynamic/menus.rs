//! Navigation: menus of links, one below another.

use super::{Part, classes, content_of, published};
use crate::config::declaration::Family;
use crate::records::{self, eq};
use crate::storage::plan::{Cond, DbValue};
use crate::text::html_policy::{Policy, sanitise};
use crate::text::sanitize::{clean_url, esc_attr};
use std::fmt::Write as _;

/// A menu: its own items, or those of the record that it names.
pub fn menu(part: &Part<'_>) -> Option<String> {
    let items = match part.attributes["ref"].as_i64() {
        Some(wanted) => content_of(part, wanted)?,
        None => part.inside(part.within),
    };
    let own = esc_attr(&classes(part, "", "wp-block-navigation"));
    let label = esc_attr(part.text("ariaLabel"));
    (!items.trim().is_empty()).then(|| {
        format!(
            "<nav class=\"{own}\" aria-label=\"{label}\"><ul class=\"wp-block-navigation__container\">{items}</ul></nav>"
        )
    })
}

/// A link in a menu, with the items below it, which a branch is there for. One to a record that nobody may see shows nothing.
pub fn item(part: &Part<'_>, branch: bool) -> Option<String> {
    let label = sanitise(part.text("label"), Policy::phrases());
    if label.trim().is_empty() || leads_nowhere(part) {
        return None;
    }
    let below = part.inside(part.within);
    let below = below.trim();
    let mut own = "wp-block-navigation-item".to_owned();
    if branch || !below.is_empty() {
        own.push_str(" has-child");
    }
    let own = classes(part, &own, if branch { "wp-block-navigation-submenu" } else { "wp-block-navigation-link" });
    let mut out = format!("<li class=\"{}\"><a class=\"wp-block-navigation-item__content\"", esc_attr(&own));
    for (attribute, value) in [
        ("href", clean_url(part.text("url"))),
        ("target", if part.flag("opensInNewTab") { "_blank".to_owned() } else { String::new() }),
        ("rel", part.text("rel").to_owned()),
        ("title", part.text("title").to_owned()),
    ] {
        if !value.is_empty() {
            let _ = write!(out, " {attribute}=\"{}\"", esc_attr(&value));
        }
    }
    let _ = write!(out, "><span class=\"wp-block-navigation-item__label\">{label}</span>");
    let description = sanitise(part.text("description"), Policy::phrases());
    if !description.is_empty() {
        let _ = write!(out, "<span class=\"wp-block-navigation-item__description\">{description}</span>");
    }
    out.push_str("</a>");
    if !below.is_empty() {
        let _ = write!(out, "<ul class=\"wp-block-navigation__submenu-container\">{below}</ul>");
    }
    out.push_str("</li>");
    Some(out)
}

fn leads_nowhere(part: &Part<'_>) -> bool {
    let Some(id) = part.attributes["id"].as_i64() else { return false };
    let named = part.item.scope.registry.resource_of_wire(part.text("type"));
    let of_records = || named.is_some_and(|resource| resource.family == Family::Content);
    let to_record = part.text("kind") == "post-type" || of_records();
    let filter = Cond::All(vec![eq("id", DbValue::Int(id)), published(part)]);
    let there = || {
        let plan = records::columns("record", &["id"], filter);
        part.item.scope.snapshot().is_ok_and(|snapshot| snapshot.rows(&plan).is_ok_and(|rows| !rows.is_empty()))
    };
    to_record && !there()
}

/// A link to the site's home.
pub fn home(part: &Part<'_>) -> Option<String> {
    let label = sanitise(part.text("label"), Policy::phrases());
    let own = esc_attr(&classes(part, "wp-block-navigation-item", "wp-block-home-link"));
    let home = esc_attr(&part.item.scope.registry.site.url);
    (!label.trim().is_empty()).then(|| {
        format!(
            "<li class=\"{own}\"><a class=\"wp-block-home-link__content wp-block-navigation-item__content\" href=\"{home}\" \
             rel=\"home\">{label}</a></li>"
        )
    })
}
