//! oEmbed: what another site needs to show a record of this one.

use crate::access::policy;
use crate::behaviours::READS;
use crate::error::{ApiError, Code, status};
use crate::features::addresses::{self, RequestedAddress};
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::records::{self, Record};
use crate::registry::resource::Resource;
use crate::registry::vocabulary::BehaviourEntry;
use crate::render::address;
use crate::render::{Batch, Item};
use cms_declaration::Action;
use cms_storage::plan::{DbValue, Row};
use cms_text::html::Html;
use cms_text::phrase::fill;
use cms_text::render::render_title;
use cms_text::sanitize::esc_html;
use cms_text::strip::strip_tags;
use serde_json::{Map, Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] =
    &[sync_handler("oembed.get", embed, "Describes a record of this site for others that embed it (oEmbed).")
        .also("text/xml")
        .fails(&[Code::OembedInvalidUrl])];

/// Widths are limited to these.
const WIDTHS: std::ops::RangeInclusive<i64> = 200..=600;

/// The record behind an address of this site.
///
/// # Errors
/// The address is none of a published record without a password.
pub fn embed(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    let xml = args.text("format") == Some("xml");
    let Some((resource, row)) = record_at(work, args.text("url").unwrap_or(""))? else {
        let error = ApiError::new(Code::OembedInvalidUrl);
        return if xml { Ok(as_xml(error.status(), &error.body())) } else { Err(error) };
    };
    let document = describe(work, Record { resource, row: &row })?;
    Ok(if xml { as_xml(status::OK, &document) } else { Outcome::ok(document) })
}

/// The title of the site or of the record at an address of this site, as text.
pub fn own_title(work: &Work<'_>, address: &str) -> Result<Option<String>, ApiError> {
    let site = &work.scope.registry.site;
    if address == site.url || address == site.front {
        return Ok(Some(work.scope.settings.text("title").to_owned()));
    }
    let found = record_at(work, address)?;
    Ok(found.map(|(resource, row)| strip_tags(Record { resource, row: &row }.text("title")).into_owned()))
}

fn describe(work: &Work<'_>, record: Record<'_>) -> Result<Value, ApiError> {
    let width = width(work.allowed.args().get("maxwidth"));
    let height = ((width * 9 + 15) / 16).max(200);
    let mut batch = Batch::default();
    batch.load_addresses(&*work.scope.snapshot()?, work.scope, record.resource, std::slice::from_ref(record.row))?;
    let link = address::of(work.scope, record, &batch, record.text("slug"));
    let title = render_title(record.text("title"));
    let title = match record.text("password").is_empty() {
        true => title,
        false => fill(work.scope.phrase("Protected: {title}"), &[("title", &title)]),
    };
    let (author, author_url) = author(work, record.int("author"))?;
    let mut html = Html::new();
    html.raw("<blockquote class=\"embedded-record\"><a").attr("href", &link).raw(">");
    html.html(&Html::rendered(title.as_str())).raw("</a></blockquote>\n<iframe sandbox=\"\"");
    html.attr("src", &format!("{link}?embed=true")).raw(" width=\"").number(width).raw("\" height=\"").number(height);
    html.raw("\"").attr("title", &title).raw("></iframe>");
    let mut document = json!({
        "version": "1.0",
        "provider_name": work.scope.settings.text("title"),
        "provider_url": work.scope.registry.site.url,
        "author_name": author,
        "author_url": author_url,
        "title": title,
        "type": "rich",
        "width": width,
        "height": height,
        "html": html.as_str(),
    });
    if let Some(members) = document.as_object_mut() {
        members.extend(picture(work, record, width)?.into_iter().flatten());
    }
    Ok(document)
}

/// The picture of the record, or the record itself where it is one, no wider than `most`.
fn picture(work: &Work<'_>, record: Record<'_>, most: i64) -> Result<Option<Map<String, Value>>, ApiError> {
    let Some(media) = work.scope.registry.content_types().find(|r| r.supports("files")) else {
        return Ok(None);
    };
    let own = *record.resource.kind == *media.kind;
    let id = if own { record.id() } else { record.int("featured_media") };
    if id == 0 {
        return Ok(None);
    }
    let Some(row) = records::find(&*work.scope.snapshot()?, media, &DbValue::Int(id))? else { return Ok(None) };
    let picture = Record { resource: media, row: &row };
    if !policy::may(work.scope, Action::Read, picture)? {
        return Ok(None);
    }
    let batch = Batch::default();
    let item = Item::viewed(work.scope, picture, &batch, READS, &work.unique);
    let value = |name: &str| media.property(name).and_then(|property| item.value(property)).unwrap_or_default();
    let details = value("media_details");
    let (Some(width), Some(height)) = (details["width"].as_i64(), details["height"].as_i64()) else { return Ok(None) };
    let shown = width.min(most);
    // The height in proportion, to the nearest pixel.
    let height = (height * shown * 2 + width) / (width * 2).max(1);
    Ok(Some(Map::from_iter([
        ("thumbnail_url".to_owned(), value("source_url")),
        ("thumbnail_width".to_owned(), json!(shown)),
        ("thumbnail_height".to_owned(), json!(height)),
    ])))
}

/// A width within bounds. Anything that is no number counts as 0, a sign not at all.
fn width(given: Option<&Value>) -> i64 {
    let number = match given {
        Some(Value::Number(n)) => n.as_f64().unwrap_or(0.0),
        Some(Value::String(text)) => {
            let text = text.trim_start().trim_start_matches(['-', '+']);
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            text[..end].parse().unwrap_or(0.0)
        }
        _ => 0.0,
    };
    // A cast stays within the type; the limits are applied after it.
    (number.abs() as i64).clamp(*WIDTHS.start(), *WIDTHS.end())
}

fn as_xml(status: u16, document: &Value) -> Outcome {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>\n<oembed>");
    write_xml(document, &mut text);
    text.push_str("</oembed>\n");
    Outcome { status, other: Some(("text/xml; charset=UTF-8", text.into_bytes())), ..Outcome::default() }
}

fn write_xml(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                out.push_str(&format!("<{name}>"));
                write_xml(value, out);
                out.push_str(&format!("</{name}>"));
            }
        }
        Value::String(text) => out.push_str(&esc_html(text)),
        Value::Null => {}
        other => out.push_str(&other.to_string()),
    }
}

fn author(work: &Work<'_>, id: i64) -> Result<(String, String), ApiError> {
    let Some(users) = work.scope.registry.users() else { return Ok(Default::default()) };
    let row = records::find(&*work.scope.snapshot()?, users, &DbValue::Int(id))?;
    Ok(row.map_or_else(Default::default, |row| {
        let record = Record { resource: users, row: &row };
        let url = address::of(work.scope, record, &Batch::default(), record.text("slug"));
        (record.text("name").to_owned(), url)
    }))
}

/// The published record that an address of this site or of its front end leads to.
fn record_at<'a>(work: &Work<'a>, url: &str) -> Result<Option<(&'a Resource, Row)>, ApiError> {
    match RequestedAddress::of(work.scope, url).filter(|_| !url.starts_with('/')) {
        Some(address) => addresses::public_record(work.scope, &address),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_stay_within_bounds() {
        fn check(given: Value, expected: i64) {
            assert_eq!(width(Some(&given)), expected, "{given}");
        }
        check(json!(600), 600);
        check(json!("300"), 300);
        check(json!("-300"), 300);
        check(json!("300.7px"), 300);
        check(json!("abc"), 200);
        check(json!("99999999999999999999999"), 600);
        check(json!(["400"]), 200);
    }

    #[test]
    fn documents_become_elements() {
        let outcome = as_xml(404, &json!({"a": "x & <y>", "b": {"c": 5}}));
        let (_, bytes) = outcome.other.expect("XML");
        let text = String::from_utf8(bytes).expect("text");
        assert!(text.ends_with("<oembed><a>x &amp; &lt;y&gt;</a><b><c>5</c></b></oembed>\n"), "{text}");
    }
}
