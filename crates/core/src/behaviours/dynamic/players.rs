//! Pictures and players of shortcodes.

use super::wrapper::wrapper;
use super::{DynamicPart, MOST_ROWS, title_of, unwrapped};
use crate::access::policy;
use crate::records::{self, eq, is_in, txt};
use crate::registry::columns::record;
use crate::registry::name;
use cms_storage::plan::{Cond, DbValue, Op, Order};
use cms_text::html::Html;
use cms_text::html_policy::Policy;
use cms_text::sanitize::clean_url;
use cms_text::tags;
use cms_text::texturize::texturize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// `[gallery]`: pictures by id, or those that are attached to the record.
pub fn gallery(part: &DynamicPart<'_>) -> Option<Html> {
    let own = part.item.record.id();
    let wanted = match part.numbers("ids") {
        ids if ids.is_empty() => part.numbers("include"),
        ids => ids,
    };
    let pictures = Cond::Compare(name("mime"), Op::Gt, txt("image/"));
    let pictures = Cond::All(vec![pictures, Cond::Compare(name("mime"), Op::Lt, txt("image0"))]);
    let (filter, order) = if wanted.is_empty() {
        let of = part.numbers("id").first().copied().unwrap_or(own);
        let without = Cond::Not(Box::new(is_in("id", part.numbers("exclude"))));
        let order = vec![Order::Column(name("menu_order"), false), Order::Column(name("id"), false)];
        (Cond::All(vec![eq("parent", DbValue::Int(of)), without, pictures]), order)
    } else {
        let order = Order::Given(name("id"), wanted.iter().copied().map(DbValue::Int).collect());
        (Cond::All(vec![is_in("id", wanted), pictures]), vec![order])
    };
    let filter = Cond::All(vec![filter, policy::visible(part.item.scope, part.of?)]);
    let found = part.documents(filter, order, MOST_ROWS, "id,link,title,media_type,alt_text,source_url,media_details");
    if found.is_empty() {
        return None;
    }
    let captions = captions(part, &found);
    let selector = format!("gallery-{}", part.within.budget.unique.count_landmark("gallery"));
    let size = Some(part.text("size")).filter(|size| !size.is_empty()).unwrap_or("thumbnail");
    let own = format!("gallery galleryid-{own} gallery-columns-{} gallery-size-{size}", part.number("columns", 3));
    let mut html = Html::new();
    html.raw("<div").attr_in_single_quotes("id", &selector).attr_in_single_quotes("class", &own).raw(">");
    for picture in &found {
        if !part.has_room_for_row(&html) {
            break;
        }
        let id = picture["id"].as_i64().unwrap_or(0);
        let caption = captions.get(&id).map_or("", String::as_str);
        let described = if caption.is_empty() { String::new() } else { format!("{selector}-{id}") };
        let file = clean_url(picture["source_url"].as_str().unwrap_or(""));
        let target = match part.text("link") {
            "none" => None,
            "file" => Some(file.as_str()),
            _ => picture["link"].as_str(),
        };
        let shown = match (picture["media_type"] == "image", target) {
            (true, _) => image(picture, size, &file, &described),
            (false, Some(_)) => title_of(part, picture),
            (false, None) => Html::new(),
        };
        html.raw("<figure class='gallery-item'>\n\t\t\t<div class='gallery-icon ").raw(shape(picture));
        html.raw("'>\n\t\t\t\t");
        match target {
            Some(target) => html.raw("<a").attr_in_single_quotes("href", target).raw(">").html(&shown).raw("</a>"),
            None => html.html(&shown),
        };
        html.raw("\n\t\t\t</div>");
        if !caption.is_empty() {
            html.raw("\n\t\t\t\t<figcaption class='wp-caption-text gallery-caption'");
            html.attr_in_single_quotes("id", &described).raw(">\n\t\t\t\t");
            html.html(&Html::sanitised(&texturize(caption), Policy::posts())).raw("\n\t\t\t\t</figcaption>");
        }
        html.raw("</figure>");
    }
    html.raw("\n\t\t</div>\n");
    Some(html)
}

/// Captions of pictures, by their ids.
fn captions(part: &DynamicPart<'_>, pictures: &[Value]) -> HashMap<i64, String> {
    let ids = pictures.iter().filter_map(|picture| picture["id"].as_i64());
    let plan = records::columns(record::TABLE, &["id", "excerpt"], is_in("id", ids));
    let captions: Vec<(i64, Arc<str>)> = part.rows_as(&plan);
    captions.into_iter().map(|(id, caption)| (id, caption.trim().to_owned())).collect()
}

/// The class of a picture's shape.
fn shape(picture: &Value) -> &'static str {
    let side = |name: &str| picture["media_details"][name].as_u64();
    match side("height").zip(side("width")) {
        Some((height, width)) if height > width => "portrait",
        Some(_) => "landscape",
        None => "",
    }
}

/// A picture in a size, or as it is where it has no such size.
fn image(picture: &Value, size: &str, file: &str, described: &str) -> Html {
    let shown = &picture["media_details"]["sizes"][size];
    let sides = if shown.is_object() { shown } else { &picture["media_details"] };
    let mut html = Html::new();
    html.raw("<img");
    if let (Some(width), Some(height)) = (sides["width"].as_u64(), sides["height"].as_u64()) {
        html.raw(" width=\"").number(width).raw("\" height=\"").number(height).raw("\"");
    }
    html.attr("src", shown["source_url"].as_str().unwrap_or(file));
    html.attr("class", &format!("attachment-{size} size-{size}"));
    html.attr("alt", picture["alt_text"].as_str().unwrap_or("")).attr_if("aria-describedby", described);
    html.raw(" decoding=\"async\" loading=\"lazy\" />");
    html
}

/// A gallery block that shows the pictures attached to the record; without any it shows nothing.
pub fn dynamic_gallery(part: &DynamicPart<'_>) -> Option<Html> {
    let wanted = &part.attributes["dynamicContent"];
    if part.source.is_some_and(|source| wanted["source"] != source) {
        return None;
    }
    let args = &wanted["args"];
    let column = if args["orderBy"] == "title" { "title_key" } else { "date_local" };
    let descending = args["order"] != "asc";
    let order = vec![Order::Column(name(column), descending), Order::Column(name("id"), descending)];
    let filter = Cond::All(vec![
        eq("parent", DbValue::Int(part.within.record())),
        Cond::Compare(name("mime"), Op::Gt, txt("image/")),
        Cond::Compare(name("mime"), Op::Lt, txt("image0")),
        policy::visible(part.item.scope, part.of?),
    ]);
    let found = part.documents(filter, order, MOST_ROWS, "id,link,caption,alt_text,source_url,media_details");
    if found.is_empty() {
        return None;
    }
    let size = Some(part.text("sizeSlug")).filter(|size| !size.is_empty()).unwrap_or("large");
    let mut pictures = Html::new();
    for picture in &found {
        if !part.has_room_for_row(&pictures) {
            break;
        }
        pictures.html(&gallery_item(part, picture, size));
    }
    let inside = part.inside(part.within);
    if let Some(html) = tags::prepend(inside.as_str(), &["figure"], &pictures) {
        return Some(Html::rendered(html));
    }
    let mut html = Html::new();
    html.raw("<figure")
        .attrs(&wrapper(part, "has-nested-images columns-default is-cropped"))
        .raw(">")
        .html(&pictures)
        .raw("</figure>");
    Some(html)
}

/// A picture of a gallery block.
fn gallery_item(part: &DynamicPart<'_>, picture: &Value, size: &str) -> Html {
    let file = clean_url(picture["source_url"].as_str().unwrap_or(""));
    let shown = picture["media_details"]["sizes"][size]["source_url"].as_str().unwrap_or(&file);
    let mut image = Html::new();
    image.raw("<img").attr("src", shown).attr("alt", picture["alt_text"].as_str().unwrap_or(""));
    image.attr("class", &format!("wp-image-{}", picture["id"].as_i64().unwrap_or(0))).raw("/>");
    let target = match part.text("linkTo") {
        "media" | "file" => Some(file.as_str()),
        "attachment" | "post" => picture["link"].as_str(),
        _ => None,
    };
    let mut html = Html::new();
    html.raw("<figure").attr("class", &format!("wp-block-image size-{size}")).raw(">");
    match target {
        Some(target) => html.raw("<a").attr("href", target).raw(">").html(&image).raw("</a>"),
        None => html.html(&image),
    };
    let caption = unwrapped(picture["caption"]["rendered"].as_str().unwrap_or(""));
    if !caption.is_empty() {
        html.raw("<figcaption class=\"wp-element-caption\">").html(&Html::rendered(caption)).raw("</figcaption>");
    }
    html.raw("</figure>");
    html
}

/// Ends of names of files that browsers play, with their types.
const PLAYED: &[(&str, &str)] = &[
    ("mp3", "audio/mpeg"),
    ("ogg", "audio/ogg"),
    ("flac", "audio/flac"),
    ("m4a", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("mp4", "video/mp4"),
    ("m4v", "video/mp4"),
    ("webm", "video/webm"),
    ("ogv", "video/ogg"),
];

/// `[audio]` and `[video]`: the browser's own player, or a link to what browsers do not play. Without a source it plays the
/// first such file that is attached to the record.
pub fn player(part: &DynamicPart<'_>, element: &'static str) -> Option<Html> {
    let number = part.within.budget.unique.count_landmark(element);
    let of_element = |kind: &str| kind.split('/').next() == Some(element);
    let known = || PLAYED.iter().filter(|(_, kind)| of_element(kind));
    let given = Some(part.text("src")).filter(|src| !src.is_empty()).map(clean_url);
    if let Some(address) = given.as_ref().filter(|address| !known().any(|(end, _)| ends_in(address, end))) {
        let mut html = Html::new();
        html.raw("<a").attr("class", &format!("wp-embedded-{element}")).attr("href", address).raw(">");
        html.text(address).raw("</a>");
        return (!address.is_empty()).then_some(html);
    }
    let named = known().map(|(end, _)| clean_url(part.text(end))).filter(|address| !address.is_empty());
    let mut sources: Vec<String> = given.into_iter().chain(named).collect();
    if sources.is_empty() {
        sources.push(attached(part, element)?);
    }
    let mut html = Html::new();
    let width = part.number("width", 640);
    if element == "video" {
        html.raw("<div style=\"width: ").number(width).raw("px;\" class=\"wp-video\"><video");
    } else {
        html.raw("<audio");
    }
    html.attr("class", &format!("wp-{element}-shortcode"));
    html.attr("id", &format!("{element}-{}-{number}", part.item.record.id()));
    if element == "video" {
        html.raw(" width=\"").number(width).raw("\" height=\"").number(part.number("height", 360)).raw("\"");
        html.attr_if("poster", &clean_url(part.text("poster")));
    }
    for (name, flag) in [("loop", " loop"), ("autoplay", " autoplay"), ("muted", " muted")] {
        if !matches!(part.text(name), "" | "0" | "off" | "false") {
            html.raw(flag);
        }
    }
    let usual = if element == "video" { "metadata" } else { "none" };
    html.attr("preload", Some(part.text("preload")).filter(|given| !given.is_empty()).unwrap_or(usual));
    html.raw(if element == "video" { "" } else { " style=\"width: 100%;\"" }).raw(" controls=\"controls\">");
    for address in &sources {
        let kind = known().find(|(end, _)| ends_in(address, end)).map_or("", |(_, kind)| kind);
        let between = if address.contains('?') { '&' } else { '?' };
        html.raw("<source").attr("type", kind).address("src", &format!("{address}{between}_={number}")).raw(" />");
    }
    html.raw("<a").address("href", &sources[0]).raw(">").address_text(&sources[0]).raw("</a>");
    html.raw(if element == "video" { "</video></div>" } else { "</audio>" });
    Some(html)
}

/// Whether an address is that of a file whose name ends so.
fn ends_in(address: &str, end: &str) -> bool {
    let file = address.split(['?', '#']).next().unwrap_or_default();
    file.rsplit_once('.').is_some_and(|(_, own)| own.eq_ignore_ascii_case(end))
}

/// The address of the first file of a type that is attached to the record.
fn attached(part: &DynamicPart<'_>, class: &str) -> Option<String> {
    let filter = Cond::All(vec![
        eq("parent", DbValue::Int(part.item.record.id())),
        Cond::Compare(name("mime"), Op::Gt, txt(&format!("{class}/"))),
        Cond::Compare(name("mime"), Op::Lt, txt(&format!("{class}0"))),
        policy::visible(part.item.scope, part.of?),
    ]);
    let order = vec![Order::Column(name("menu_order"), false), Order::Column(name("id"), false)];
    let found = part.documents(filter, order, 1, "source_url");
    Some(clean_url(found.first()?["source_url"].as_str()?)).filter(|address| !address.is_empty())
}
