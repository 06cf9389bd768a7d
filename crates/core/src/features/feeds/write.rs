//! A feed written down. Every value is escaped by the template engine, or stands in a CDATA section; characters that XML does
//! not have are left out.

use cms_declaration::FeedFormat;
use cms_text::xml::{cdata, writable};
use minijinja::{AutoEscape, Environment, Value as TemplateValue};
use quick_xml::escape::escape;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

const TEMPLATES: [(&str, &str); 4] = [
    ("podcast", include_str!("templates/podcast.xml")),
    ("rss2", include_str!("templates/rss2.xml")),
    ("atom", include_str!("templates/atom.xml")),
    ("rdf", include_str!("templates/rdf.xml")),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Custom("xml".into()));
    environment.set_formatter(|out, _, value| match value {
        value if value.is_undefined() || value.is_none() => Ok(()),
        value if value.is_safe() => Ok(out.write_str(&value.to_string())?),
        value => Ok(out.write_str(&escape(writable(&value.to_string())))?),
    });
    environment.add_filter("cdata", |text: String| TemplateValue::from_safe_string(cdata(&text)));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("the shipped templates are sound; a test renders each");
    }
    environment
});

/// A feed in a format: its media type and its bytes. `comments`: its items are comments.
///
/// # Errors
/// A value that its template needs is missing; for the log.
pub(super) fn write(
    format: FeedFormat,
    comments: bool,
    feed: &Value,
) -> Result<(&'static str, Vec<u8>), minijinja::Error> {
    let media_type = match format {
        FeedFormat::Rss2 => "application/rss+xml; charset=UTF-8",
        FeedFormat::Atom => "application/atom+xml; charset=UTF-8",
        FeedFormat::Rdf => "application/rdf+xml; charset=UTF-8",
        // Writing a value that is already in memory cannot fail.
        FeedFormat::Json => {
            return Ok((
                "application/feed+json; charset=UTF-8",
                serde_json::to_vec(&json_feed(feed)).unwrap_or_default(),
            ));
        }
    };
    let mut data = feed.clone();
    data["comments"] = json!(comments);
    let data = TemplateValue::from(minijinja::value::Serde(data));
    let text = ENVIRONMENT.get_template(format.name())?.render(data)?;
    Ok((media_type, text.into_bytes()))
}

/// JSON Feed 1.1.
fn json_feed(feed: &Value) -> Value {
    let mut document = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed["title"],
        "home_page_url": feed["link"],
        "feed_url": feed["self"],
        "language": feed["language"],
    });
    set(&mut document, "description", &feed["description"]);
    if !feed["hub"].is_null() {
        document["hubs"] = json!([{"type": "WebSub", "url": feed["hub"]}]);
    }
    let items = feed["items"].as_array().into_iter().flatten();
    document["items"] = items.map(|item| json_item(item, feed["excerpts"] == true)).collect();
    document
}

fn json_item(item: &Value, excerpts: bool) -> Value {
    let content = if excerpts { &item["excerpt"] } else { &item["content"] };
    let mut document = json!({
        "id": item["guid"],
        "url": item["link"],
        "title": item["title"],
        "content_html": content,
        "date_published": item["date"]["iso"],
        "date_modified": item["modified"]["iso"],
    });
    set(&mut document, "summary", &item["excerpt"]);
    let mut author = json!({});
    set(&mut author, "name", &item["author"]);
    set(&mut author, "url", &item["author_url"]);
    if author.as_object().is_some_and(|author| !author.is_empty()) {
        document["authors"] = json!([author]);
    }
    if item["terms"].as_array().is_some_and(|terms| !terms.is_empty()) {
        document["tags"] = item["terms"].clone();
    }
    let files = item["enclosures"].as_array().into_iter().flatten();
    let files: Vec<Value> = files.map(attachment).collect();
    if !files.is_empty() {
        document["attachments"] = json!(files);
    }
    document
}

fn attachment(file: &Value) -> Value {
    let mut members =
        Map::from_iter([("url".to_owned(), file["url"].clone()), ("mime_type".to_owned(), file["type"].clone())]);
    if file["length"] != 0 {
        members.insert("size_in_bytes".to_owned(), file["length"].clone());
    }
    Value::Object(members)
}

/// Sets a member, unless its text is empty.
fn set(document: &mut Value, member: &str, value: &Value) {
    if value.as_str().is_some_and(|text| !text.is_empty()) {
        document[member] = value.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        let item = json!({"title": "<a> & \u{1}\"b\"]]>", "link": "https://a.example/?a=1&b=2", "guid": "https://a.example/?p=1", "date": {"mail": "x", "iso": "2026-01-01T00:00:00Z"},
            "modified": {"iso": "2026-01-01T00:00:00Z"}, "author": "]]></dc:creator>", "author_url": "", "terms": ["A & B"], "excerpt": "\u{b}e", "content": "<p>c]]></p>", "enclosures": [],
            "podcast": [{"name": "image", "attribute": "href", "text": "\"><x>"}, {"name": "title", "attribute": null, "text": "</itunes:title>"}]});
        let feed = json!({"title": "A & B", "link": "https://a.example/", "self": "https://a.example/feed/", "description": "", "updated": {"mail": "x", "iso": "2026-01-01T00:00:00Z"},
            "language": "en", "generator": "g", "version": "1", "scheme": "https://a.example", "hub": null, "excerpts": false, "podcast": {"channel": []}, "items": [item]});
        for format in [FeedFormat::Rss2, FeedFormat::Atom, FeedFormat::Rdf] {
            let (_, bytes) = write(format, false, &feed).expect("a feed");
            let text = String::from_utf8(bytes).expect("text");
            assert!(!text.contains(['\u{1}', '\u{b}']) && !text.contains("{{"), "{text}");
            assert!(text.contains("<p>c]]]]><![CDATA[></p>"), "{text}");
            let mut reader = quick_xml::Reader::from_str(&text);
            while !matches!(reader.read_event().expect("XML"), quick_xml::events::Event::Eof) {}
        }
    }
}
