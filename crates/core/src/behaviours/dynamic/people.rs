//! Authors: their names, pictures and descriptions.

use super::loops::{subject, target};
use super::wrapper::{text_classes, wrapper};
use super::{DynamicPart, boxed};
use crate::access::policy;
use crate::records::{always, eq};
use cms_storage::plan::DbValue;
use cms_text::block_css::border_of;
use cms_text::html::Html;
use cms_text::html_policy::Policy;
use cms_text::phrase::fill;
use cms_text::sanitize::clean_url;
use serde_json::Value;

/// Pixels of a picture at most.
const MOST_PIXELS: u64 = 2048;

/// The picture of a person.
pub struct Avatar<'a> {
    /// In any size: the address says which.
    pub address: &'a str,
    pub size: u64,
    pub alt: &'a str,
    pub class: &'a str,
    pub style: &'a str,
}

impl Avatar<'_> {
    /// The element, for screens of ordinary and of double density.
    pub fn html(&self) -> Html {
        let size = self.size.clamp(1, MOST_PIXELS);
        let class = format!("avatar avatar-{size} photo {}", self.class);
        let mut html = Html::new();
        html.raw("<img").attr_in_single_quotes("alt", self.alt);
        html.address_in_single_quotes("src", &sized(self.address, size));
        html.address_in_single_quotes("srcset", &format!("{} 2x", sized(self.address, size * 2)));
        html.attr_in_single_quotes("class", class.trim_end());
        html.raw(" height='").number(size).raw("' width='").number(size).raw("' ");
        html.attr_if("style", self.style).raw("/>");
        html
    }
}

/// The address of a picture in another size.
fn sized(address: &str, size: u64) -> String {
    match address.split_once("?s=") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}?s={size}{rest}")
        }
        None => address.to_owned(),
    }
}

/// The address of the largest picture that a document names.
pub fn picture_of(urls: &Value) -> Option<&str> {
    urls.as_object()?.values().next_back()?.as_str()
}

/// Fields of a record's author.
fn author_of(part: &DynamicPart<'_>, fields: &str) -> Option<Value> {
    let (resource, document) = subject(part)?;
    let users = part.item.scope.registry.users().filter(|_| resource.supports("author"))?;
    part.related((&document, "author"), (users, always()), Vec::new(), &format!("id,{fields}")).pop()
}

fn user(part: &DynamicPart<'_>, id: i64, fields: &str) -> Option<Value> {
    let users = part.item.scope.registry.users()?;
    part.documents_of(users, eq("id", DbValue::Int(id)), Vec::new(), (0, 1), fields).into_iter().next()
}

/// The name of who wrote a record.
pub fn author_name(part: &DynamicPart<'_>) -> Option<Html> {
    let author = author_of(part, "name,link")?;
    let mut name = Html::new();
    match author["link"].as_str().filter(|_| part.flag("isLink")) {
        Some(link) => {
            name.raw("<a").attr("href", link).attr("target", target(part));
            name.raw(" class=\"wp-block-post-author-name__link\">").text(named(&author)).raw("</a>")
        }
        None => name.text(named(&author)),
    };
    Some(boxed(&wrapper(part, &text_classes(part, "")), &name))
}

fn named(user: &Value) -> &str {
    user["name"].as_str().unwrap_or("")
}

/// Who wrote a record: a picture, a name, a description.
pub fn author(part: &DynamicPart<'_>) -> Option<Html> {
    const SIZE: u64 = 48;
    let author = author_of(part, "name,link,description,avatar_urls")?;
    let mut own = String::new();
    if let aligned @ ("left" | "center" | "right" | "space-between") = part.text("itemsJustification") {
        own = format!("items-justified-{aligned}");
    }
    let mut html = Html::new();
    let picture = picture_of(&author["avatar_urls"]).filter(|_| part.attributes["showAvatar"] != false);
    if let Some(address) = picture {
        let portrait = Avatar { address, size: part.number("avatarSize", SIZE), alt: "", class: "", style: "" };
        html.raw("<div class=\"wp-block-post-author__avatar\">").html(&portrait.html()).raw("</div>");
    }
    html.raw("<div class=\"wp-block-post-author__content\">");
    let byline = Html::sanitised(part.text("byline"), Policy::posts());
    if !byline.is_empty() {
        html.raw("<p class=\"wp-block-post-author__byline\">").html(&byline).raw("</p>");
    }
    html.raw("<p class=\"wp-block-post-author__name\">");
    match author["link"].as_str().filter(|_| part.flag("isLink")) {
        Some(link) => {
            html.raw("<a").attr("href", link).attr("target", target(part)).raw(">").text(named(&author)).raw("</a>")
        }
        None => html.text(named(&author)),
    };
    html.raw("</p>");
    if part.flag("showBio") {
        html.raw("<p class=\"wp-block-post-author__bio\">").html(&description(&author)).raw("</p>");
    }
    html.raw("</div>");
    Some(boxed(&wrapper(part, &text_classes(part, &own)), &html))
}

fn description(user: &Value) -> Html {
    Html::sanitised(user["description"].as_str().unwrap_or(""), Policy::posts())
}

/// The biography of a record's author.
pub fn biography(part: &DynamicPart<'_>) -> Option<Html> {
    let text = description(&author_of(part, "description")?);
    (!text.is_empty()).then(|| boxed(&wrapper(part, &text_classes(part, "")), &text))
}

/// The picture of a comment's author, of a user, or of a record's author.
pub fn avatar(part: &DynamicPart<'_>) -> Option<Html> {
    const SIZE: u64 = 96;
    const FIELDS: &str = "name,link,avatar_urls";
    let comment = part.within.comment;
    let user = match (comment, part.attributes["userId"].as_i64()) {
        (Some(_), _) => None,
        // Everybody sees only those who have published something.
        (None, Some(id)) if !policy::has_published(part.item.scope, id).is_ok_and(|published| published) => {
            return None;
        }
        (None, Some(id)) => Some(user(part, id, FIELDS)?),
        (None, None) => Some(author_of(part, FIELDS)?),
    };
    let (name, urls, link) = match (comment, &user) {
        (Some(comment), _) => {
            (comment["author_name"].as_str().unwrap_or(""), &comment["author_avatar_urls"], &comment["author_url"])
        }
        (None, Some(user)) => (named(user), &user["avatar_urls"], &user["link"]),
        (None, None) => return None,
    };
    let style = match border_of(&part.attributes) {
        css if css.is_empty() => css,
        css => format!("{css};"),
    };
    let alt = fill(part.item.scope.phrase("{name} Avatar"), &[("name", name)]);
    let (size, class) = (part.number("size", SIZE), "wp-block-avatar__image");
    let image = Avatar { address: picture_of(urls)?, size, alt: &alt, class, style: &style }.html();
    let link = clean_url(link.as_str().filter(|_| part.flag("isLink")).unwrap_or(""));
    if link.is_empty() {
        return Some(boxed(&wrapper(part, ""), &image));
    }
    let mut html = Html::new();
    html.raw("<a").attr("href", &link).attr("target", target(part));
    html.raw(if target(part) == "_blank" { "" } else { " " });
    if target(part) == "_blank" {
        let scope = part.item.scope;
        let label = match comment {
            Some(_) => scope.phrase("({name} website link, opens in a new tab)"),
            None => scope.phrase("({name} author archive, opens in a new tab)"),
        };
        html.attr("aria-label", &fill(label, &[("name", name)]));
    }
    html.raw(" class=\"wp-block-avatar__link\">").html(&image).raw("</a>");
    Some(boxed(&wrapper(part, ""), &html))
}
