//! Behaviours of records that stand for files: addresses, details, the markup that shows the file in a page.

use crate::records::Record;
use crate::registry::Registry;
use crate::registry::resource::Property;
use crate::render::Item;
use crate::scope::Scope;
use cms_storage::plan::DbValue;
use cms_text::html::Html;
use cms_text::render;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Characters that a path of an address must encode; letters of all scripts stay readable.
const UNSAFE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

/// Address of a stored file.
pub fn address(registry: &Registry, key: &str) -> String {
    // Of what is not ASCII nothing is unsafe.
    let key: String = key.chars().map(escaped).collect();
    format!("{}{}/{key}", registry.site.url, registry.declaration.media.path)
}

fn escaped(char: char) -> String {
    if char.is_ascii() { utf8_percent_encode(char.encode_utf8(&mut [0; 4]), UNSAFE).to_string() } else { char.into() }
}

/// The key of a record's file; `None` when the file is not here, but still where it was imported from.
pub fn file_of<'a>(record: Record<'a>, extra: &Value) -> Option<&'a str> {
    let key = record.text("file");
    (!key.is_empty() && extra.get("source_url").is_none()).then_some(key)
}

fn extra(item: &Item<'_>) -> Value {
    extra_of(item.record)
}

/// Facts about a record's file, as they are stored.
pub fn extra_of(record: Record<'_>) -> Value {
    serde_json::from_str(record.text("extra")).unwrap_or(Value::Null)
}

fn source(item: &Item<'_>, extra: &Value) -> String {
    source_in(item.scope, item.record, extra)
}

/// Address of a record's file: here, or where an imported one still is.
pub fn source_in(scope: &Scope, record: Record<'_>, extra: &Value) -> String {
    match file_of(record, extra) {
        Some(key) => address(&scope.registry, key),
        None => extra["source_url"].as_str().unwrap_or(record.text("guid")).to_owned(),
    }
}

/// Address of the file of a record that is not the one that is shown.
pub fn source_of(scope: &Scope, record: Record<'_>) -> String {
    source_in(scope, record, &extra_of(record))
}

/// Address of another file in the folder of the record's own.
pub fn beside(source: &str, own: &str) -> String {
    let own: String = own.chars().map(escaped).collect();
    format!("{}/{own}", source.rsplit_once('/').map_or("", |(folder, _)| folder))
}

/// `file.url`.
pub fn url(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(source(item, &extra(item))))
}

/// `file.details`: what is stored, the sizes with their addresses, the picture itself among them.
pub fn details(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let extra = extra(item);
    let mut details = extra["media_details"].as_object().cloned().unwrap_or_default();
    details.retain(|key, value| key != "file" || *value != "");
    if details.is_empty() {
        return Some(json!({}));
    }
    let source = source(item, &extra);
    let mut sizes = details.get("sizes").and_then(Value::as_object).cloned().unwrap_or_default();
    for size in sizes.values_mut().filter_map(Value::as_object_mut) {
        let address = size.get("file").and_then(Value::as_str).map(|own| beside(&source, own));
        size.insert("source_url".into(), json!(address));
    }
    let mime = item.record.text("mime");
    if !mime.starts_with("image/") {
        // A picture of the first page, if there is one, described as every whole file.
        if let Some(full) = sizes.get_mut("full").and_then(Value::as_object_mut) {
            full.remove("filesize");
            full.insert("mime_type".into(), json!(mime));
        }
    } else if !sizes.is_empty() {
        let own = details.get("file").and_then(Value::as_str).unwrap_or(&source).rsplit('/').next();
        let full = json!({
            "file": own, "width": details.get("width"), "height": details.get("height"),
            "mime_type": mime, "source_url": source,
        });
        sizes.insert("full".into(), full);
    }
    details.insert("sizes".into(), Value::Object(sizes));
    Some(Value::Object(details))
}

/// `file.name`: the name of the upload, as it is stored.
pub fn name(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let extra = extra(item);
    let original = extra["media_details"]["original_image"].as_str();
    let own = original.unwrap_or_else(|| item.record.text("file")).rsplit('/').next().unwrap_or_default();
    Some(if own.is_empty() { Value::Null } else { json!(own) })
}

/// `file.size`: bytes of the file that is shown.
pub fn size(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(extra(item)["media_details"]["filesize"].as_u64().map_or(Value::Null, |size| json!(size)))
}

/// `file.orientation`: how a picture still has to be turned.
pub fn orientation(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    picture_type(item)?;
    let extra = extra(item);
    let told = &extra["media_details"]["image_meta"]["orientation"];
    let told = told.as_u64().or_else(|| told.as_str()?.parse().ok());
    Some(json!(told.filter(|turn| (1..=8).contains(turn)).unwrap_or(1)))
}

/// `file.output_type`: the type of the copies, where it is another.
pub fn output_type(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let media = &item.scope.registry.declaration.media;
    Some(json!(media.converted(picture_type(item)?)))
}

/// `file.quality`: the quality of copies, and the sizes with another.
pub fn quality(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let (mime, declared) = (picture_type(item)?, &item.scope.registry.declaration);
    let media = &declared.media;
    let usual = media.quality_of(media.converted(mime).unwrap_or(mime));
    let others = media.sizes.iter().filter_map(|(name, size)| Some((name, size.quality.filter(|own| *own != usual)?)));
    let sizes: Map<String, Value> = others.map(|(name, own)| (name.clone(), json!(own))).collect();
    let none = sizes.is_empty() && declared.dialect.empty_list_as_object;
    Some(json!({"default": usual, "sizes": if none { json!([]) } else { Value::Object(sizes) }}))
}

/// `file.progressive`: whether clients that make copies write them progressively.
pub fn progressive(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let media = &item.scope.registry.declaration.media;
    let mime = picture_type(item)?;
    Some(json!(media.types.get(media.converted(mime).unwrap_or(mime)).is_some_and(|of| of.progressive)))
}

/// The type of a picture; `None`: the file is no picture, or an import does not say which file it is.
fn picture_type<'a>(item: &Item<'a>) -> Option<&'a str> {
    Some(item.record.text("mime")).filter(|mime| mime.starts_with("image/") && !item.record.text("file").is_empty())
}

/// `file.type`: `image`, or `file` for anything else.
pub fn media_type(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(if picture_type(item).is_some() { "image" } else { "file" }))
}

/// `file.missing_sizes`: declared sizes that the picture should have and has not.
pub fn missing_sizes(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let extra = extra(item);
    let details = &extra["media_details"];
    let media = &item.scope.registry.declaration.media;
    let made = |name: &str| details["sizes"].get(name).is_some();
    if let Some(kind) = media.types.get(item.record.text("mime"))
        && !kind.previews.is_empty()
    {
        return Some(json!(kind.previews.iter().filter(|name| !made(name)).collect::<Vec<_>>()));
    }
    let side = |name: &str| details[name].as_u64().and_then(|n| u32::try_from(n).ok());
    let (Some(width), Some(height)) = (side("width"), side("height")) else { return Some(json!([])) };
    if file_of(item.record, &extra).is_none() || cms_pictures::format_of(item.record.text("mime")).is_none() {
        return Some(json!([]));
    }
    let missing = cms_pictures::wanted_sizes((width, height), media).filter(|name| !made(name));
    Some(json!(missing.collect::<Vec<_>>()))
}

/// `file.description`: the file as a page shows it, then what is written about it.
pub fn description(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let written = render::render_content(item.record.text("content").trim_end(), &super::read::options(item));
    Some(json!(match String::from(shown(item)) {
        shown if shown.is_empty() => written,
        // Not rendered with the text: the title is shown as it is written.
        shown => format!("{shown}\n{written}"),
    }))
}

/// `file.caption`: the author's, or the beginning of what is shown and written.
pub fn caption(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let (own, written) = (item.record.text("excerpt"), item.record.text("content"));
    let content = match (own, picture_type(item).is_some()) {
        ("", false) => Cow::Owned(format!("{}\n\n{written}", shown(item))),
        _ => Cow::Borrowed(written),
    };
    let rendered = render::render_excerpt(own, &content, &super::read::options(item));
    Some(json!(rendered))
}

/// The file in HTML: a picture in a link to it, a player, or a link.
fn shown(item: &Item<'_>) -> Html {
    let extra = extra(item);
    let source = source(item, &extra);
    let mut html = Html::new();
    if source.is_empty() {
        return html;
    }
    let mime = item.record.text("mime");
    let class = mime.split('/').next().filter(|_| !item.record.text("file").is_empty());
    let (open, close) = match class {
        Some("audio") => ("<audio", "</audio>"),
        Some("video") => ("<video", "</video>"),
        _ => {
            html.raw("<p class=\"attachment\"><a").attr_in_single_quotes("href", &source).raw(">");
            match picture_type(item) {
                Some(_) => html.html(&picture(&extra, &source, extra["alt_text"].as_str().unwrap_or_default())),
                _ => html.text(item.record.text("title")),
            };
            html.raw("</a></p>");
            return html;
        }
    };
    html.raw(open).raw(" class=\"attachment\" controls preload=\"none\"><source").attr("type", mime);
    html.attr("src", &source).raw("><a").attr("href", &source).raw(">").text(&source).raw("</a>").raw(close);
    html
}

/// The size that suits a text, with the others of the same proportions to choose from.
fn picture(extra: &Value, source: &str, alt: &str) -> Html {
    let details = &extra["media_details"];
    let full = (details["width"].as_u64().unwrap_or(0), details["height"].as_u64().unwrap_or(0));
    let none = Map::new();
    let sizes = details["sizes"].as_object().unwrap_or(&none);
    let of = |size: &Value| Some((size["width"].as_u64()?, size["height"].as_u64()?));
    let medium = sizes.get("medium").and_then(|size| Some((of(size)?, beside(source, size["file"].as_str()?))));
    let ((width, height), address) = medium.unwrap_or_else(|| (full, source.to_owned()));
    let mut html = Html::new();
    html.raw("<img class=\"attachment-medium size-medium\"").attr("src", &address).attr("alt", alt);
    html.raw(" decoding=\"async\" loading=\"lazy\"");
    if width > 0 && height > 0 {
        html.raw(" width=\"").number(width).raw("\" height=\"").number(height).raw("\"");
    }
    // A crop shows something else; only whole pictures can replace each other.
    let same_shape = |(w, h): (u64, u64)| (w * full.1).abs_diff(h * full.0) <= full.0.max(full.1);
    let mut choices: Vec<(u64, String)> = sizes
        .values()
        .filter_map(|size| Some((of(size)?, beside(source, size["file"].as_str()?))))
        .filter(|(size, _)| same_shape(*size))
        .map(|((w, _), address)| (w, address))
        .collect();
    if !choices.is_empty() && full.0 > 0 {
        choices.push((full.0, source.to_owned()));
        choices.sort();
        choices.dedup_by_key(|(w, _)| *w);
        let list: Vec<String> = choices.iter().map(|(w, address)| format!("{address} {w}w")).collect();
        html.attr("srcset", &list.join(", ")).attr("sizes", &format!("(max-width: {width}px) 100vw, {width}px"));
    }
    html.raw(" />");
    html
}
