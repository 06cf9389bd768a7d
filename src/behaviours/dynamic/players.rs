//! Pictures and players of shortcodes.

use super::{MOST_ROWS, Part, classes, unwrapped};
use crate::access::policy;
use crate::records::{among, eq, txt};
use crate::registry::name;
use crate::storage::plan::{Cond, DbValue, Op, Order};
use crate::text::dress;
use crate::text::html::Html;
use crate::text::sanitize::clean_url;
use serde_json::Value;

/// `[gallery]`: pictures by id, or those that are attached to the record.
pub fn gallery(part: &Part<'_>) -> Option<Html> {
    let own = part.item.record.id();
    let wanted = match part.numbers("ids") {
        ids if ids.is_empty() => part.numbers("include"),
        ids => ids,
    };
    let pictures = Cond::Compare(name("mime"), Op::Gt, txt("image/"));
    let pictures = Cond::All(vec![pictures, Cond::Compare(name("mime"), Op::Lt, txt("image0"))]);
    let (filter, order) = if wanted.is_empty() {
        let of = part.numbers("id").first().copied().unwrap_or(own);
        let without = Cond::Not(Box::new(among("id", part.numbers("exclude"))));
        let order = vec![Order::Column(name("menu_order"), false), Order::Column(name("id"), false)];
        (Cond::All(vec![eq("parent", DbValue::Int(of)), without, pictures]), order)
    } else {
        let order = Order::Given(name("id"), wanted.iter().copied().map(DbValue::Int).collect());
        (Cond::All(vec![among("id", wanted), pictures]), vec![order])
    };
    let filter = Cond::All(vec![filter, policy::visible(part.item.scope, part.of?)]);
    let found = part.documents(filter, order, MOST_ROWS, "id,link,title,caption,alt_text,source_url,media_details");
    if found.is_empty() {
        return None;
    }
    let size = Some(part.text("size")).filter(|size| !size.is_empty()).unwrap_or("thumbnail");
    let own = format!("gallery galleryid-{own} gallery-columns-{} gallery-size-{size}", part.number("columns", 3));
    let mut html = Html::new();
    html.raw("<div").attr_in_single_quotes("class", &own).raw(">");
    for picture in found.iter() {
        if !part.goes_on(&html) {
            break;
        }
        let file = clean_url(picture["source_url"].as_str().unwrap_or(""));
        let target = match part.text("link") {
            "none" => None,
            "file" => Some(file.as_str()),
            _ => picture["link"].as_str(),
        };
        html.raw("<figure class='gallery-item'>\n\t\t\t<div class='gallery-icon '>\n\t\t\t\t");
        match target {
            Some(target) => html
                .raw("<a")
                .attr_in_single_quotes("href", target)
                .raw(">")
                .html(&image(picture, size, &file))
                .raw("</a>"),
            None => html.html(&image(picture, size, &file)),
        };
        html.raw("\n\t\t\t</div>");
        let caption = unwrapped(picture["caption"]["rendered"].as_str().unwrap_or(""));
        if !caption.is_empty() {
            html.raw("\n\t\t\t\t<figcaption class='wp-caption-text gallery-caption'>\n\t\t\t\t");
            html.html(&Html::rendered(caption)).raw("\n\t\t\t\t</figcaption>");
        }
        html.raw("</figure>");
    }
    html.raw("\n\t\t</div>\n");
    Some(html)
}

/// A picture in a size, or as it is where it has no such size.
fn image(picture: &Value, size: &str, file: &str) -> Html {
    let shown = &picture["media_details"]["sizes"][size];
    let sides = if shown.is_object() { shown } else { &picture["media_details"] };
    let mut html = Html::new();
    html.raw("<img");
    if let (Some(width), Some(height)) = (sides["width"].as_u64(), sides["height"].as_u64()) {
        html.raw(" width=\"").number(width).raw("\" height=\"").number(height).raw("\"");
    }
    html.attr("src", shown["source_url"].as_str().unwrap_or(file));
    html.attr("class", &format!("attachment-{size} size-{size}"));
    html.attr("alt", picture["alt_text"].as_str().unwrap_or("")).raw(" decoding=\"async\" loading=\"lazy\" />");
    html
}

/// A gallery block that shows the pictures attached to the record; without any it shows nothing.
pub fn dynamic_gallery(part: &Part<'_>) -> Option<Html> {
    let wanted = &part.attributes["dynamicContent"];
    if wanted["source"] != "core/attached-media" {
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
        if !part.goes_on(&pictures) {
            break;
        }
        pictures.html(&gallery_item(part, picture, size));
    }
    let inside = part.inside(part.within);
    if let Some(html) = dress::prepend(inside.as_str(), &["figure"], &pictures) {
        return Some(Html::rendered(html));
    }
    let mut html = Html::new();
    let own = classes(part, "", "wp-block-gallery has-nested-images columns-default is-cropped");
    html.raw("<figure").attr("class", &own).raw(">").html(&pictures).raw("</figure>");
    Some(html)
}

/// A picture of a gallery block.
fn gallery_item(part: &Part<'_>, picture: &Value, size: &str) -> Html {
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

/// `[audio]` and `[video]`: the browser's own player.
pub fn player(part: &Part<'_>, element: &str) -> Option<Html> {
    const KINDS: &[(&str, &str)] = &[
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
    let named = KINDS.iter().map(|(end, _)| part.text(end)).find(|text| !text.is_empty());
    let address = Some(part.text("src")).filter(|src| !src.is_empty()).or(named)?;
    let end = address.split(['?', '#']).next()?.rsplit('.').next()?.to_lowercase();
    let kind = KINDS.iter().find(|(known, kind)| *known == end && kind.starts_with(element))?.1;
    let address = Some(clean_url(address)).filter(|address| !address.is_empty())?;
    let (open, close) = match element {
        "video" => ("<video class=\"wp-video-shortcode\"", "</video>"),
        _ => ("<audio class=\"wp-audio-shortcode\"", "</audio>"),
    };
    let mut html = Html::new();
    html.raw(open);
    match (element, part.number("width", 640), part.number("height", 360)) {
        ("video", width, height) => {
            html.raw(" width=\"").number(width).raw("\" height=\"").number(height).raw("\" preload=\"metadata\"")
        }
        _ => html.raw(" preload=\"none\" style=\"width: 100%;\""),
    };
    html.raw(" controls=\"controls\"><source").attr("type", kind).attr("src", &address).raw(" /><a");
    html.attr("href", &address).raw(">").text(&address).raw("</a>").raw(close);
    Some(html)
}
