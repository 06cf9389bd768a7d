//! Pictures and players that shortcodes stand for.

use super::{MOST_ROWS, Part};
use crate::access::acts;
use crate::records::{among, eq, txt};
use crate::registry::name;
use crate::storage::plan::{Cond, DbValue, Op, Order};
use crate::text::sanitize::{clean_url, esc_attr};
use std::fmt::Write as _;

/// `[gallery]`: pictures by number, or those that hang on the record.
pub fn gallery(part: &Part<'_>) -> Option<String> {
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
    let filter = Cond::All(vec![filter, acts::visible(part.item.scope, part.of?)]);
    let found = part.documents(filter, order, MOST_ROWS, "id,link,title,caption,alt_text,source_url,media_details");
    if found.is_empty() {
        return None;
    }
    let size = Some(part.text("size")).filter(|size| !size.is_empty()).unwrap_or("thumbnail");
    let columns = part.number("columns", 3);
    let mut out =
        format!("<div class='gallery galleryid-{own} gallery-columns-{columns} gallery-size-{}'>", esc_attr(size));
    for picture in &found {
        let shown = &picture["media_details"]["sizes"][size];
        let file = clean_url(picture["source_url"].as_str().unwrap_or(""));
        let source = shown["source_url"].as_str().unwrap_or(&file);
        let sides = if shown.is_object() { shown } else { &picture["media_details"] };
        let sides = match (sides["width"].as_u64(), sides["height"].as_u64()) {
            (Some(width), Some(height)) => format!(" width=\"{width}\" height=\"{height}\""),
            _ => String::new(),
        };
        let image = format!(
            "<img{sides} src=\"{}\" class=\"attachment-{size} size-{size}\" alt=\"{}\" decoding=\"async\" loading=\"lazy\" />",
            esc_attr(source),
            esc_attr(picture["alt_text"].as_str().unwrap_or("")),
            size = esc_attr(size),
        );
        let target = match part.text("link") {
            "none" => None,
            "file" => Some(file.as_str()),
            _ => picture["link"].as_str(),
        };
        let image = target.map_or(image.clone(), |target| format!("<a href='{}'>{image}</a>", esc_attr(target)));
        let _ = write!(
            out,
            "<figure class='gallery-item'>\n\t\t\t<div class='gallery-icon '>\n\t\t\t\t{image}\n\t\t\t</div>"
        );
        let caption = picture["caption"]["rendered"].as_str().unwrap_or("").trim();
        let caption = caption.strip_prefix("<p>").and_then(|c| c.strip_suffix("</p>")).unwrap_or(caption);
        if !caption.is_empty() {
            let _ = write!(
                out,
                "\n\t\t\t\t<figcaption class='wp-caption-text gallery-caption'>\n\t\t\t\t{caption}\n\t\t\t\t</figcaption>"
            );
        }
        out.push_str("</figure>");
    }
    out.push_str("\n\t\t</div>\n");
    Some(out)
}

/// `[audio]` and `[video]`: the browser's own player.
pub fn player(part: &Part<'_>, element: &str) -> Option<String> {
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
    let address = esc_attr(&address);
    let sides = match (element, part.number("width", 640), part.number("height", 360)) {
        ("video", width, height) => format!(" width=\"{width}\" height=\"{height}\" preload=\"metadata\""),
        _ => " preload=\"none\" style=\"width: 100%;\"".to_owned(),
    };
    Some(format!(
        "<{element} class=\"wp-{element}-shortcode\"{sides} controls=\"controls\"><source type=\"{kind}\" src=\"{address}\" />\
         <a href=\"{address}\">{address}</a></{element}>"
    ))
}
