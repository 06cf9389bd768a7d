//! The same head with the names and the types that Yoast's REST interface documents, as JSON and as markup.

use super::graph;
use super::head::{HeadPicture, SeoHead};
use crate::scope::Scope;
use cms_text::html::Html;
use cms_text::time::format_utc;
use serde_json::{Map, Value, json};

/// A tag of the head: the attribute that names it, the name, and the value. What is empty is left out.
type HeadTag = (&'static str, &'static str, String);

/// The picture; its dimensions follow it.
const PICTURE: &str = "og:image";

/// The tags that both forms have.
fn tags(head: &SeoHead) -> Vec<HeadTag> {
    let site = &head.site;
    let mut tags: Vec<HeadTag> = vec![
        ("property", "og:locale", site.locale.clone()),
        ("property", "og:type", head.kind.clone()),
        ("property", "og:title", head.social_title.clone()),
        ("property", "og:description", head.social_description.clone()),
        ("property", "og:url", head.canonical.clone()),
        ("property", "og:site_name", site.name.clone()),
        ("property", "article:publisher", head.facebook().to_owned()),
    ];
    tags.extend(times(head).map(|(name, seconds)| ("property", name, format_utc(seconds))));
    tags.extend(head.picture.iter().map(|picture| ("property", PICTURE, picture.url.clone())));
    let article = !head.headline.is_empty();
    let author = head.author.iter().filter(|_| article);
    tags.extend(author.map(|author| ("name", "author", author.name.clone())));
    tags.extend([
        ("name", "twitter:card", "summary_large_image".to_owned()),
        ("name", "twitter:title", head.twitter_title.clone()),
        ("name", "twitter:description", head.twitter_description.clone()),
        (
            "name",
            "twitter:image",
            head.twitter_picture.as_ref().map_or_else(String::new, |picture| picture.url.clone()),
        ),
        ("name", "twitter:creator", if article { site.twitter.clone() } else { String::new() }),
        ("name", "twitter:site", site.twitter.clone()),
    ]);
    tags
}

/// The head as markup and as JSON.
pub fn forms(scope: &Scope, head: &SeoHead) -> (String, Value) {
    let graph = graph::document(head);
    (markup(scope, head, &graph), document(scope, head, graph))
}

/// The head as `yoast_head_json` has it. What is empty is left out.
fn document(scope: &Scope, head: &SeoHead, graph: Value) -> Value {
    let mut map = Map::new();
    put(&mut map, "title", &head.title);
    put(&mut map, "description", &head.description);
    let robots = robots(head).into_iter().map(|(name, word)| (name.to_owned(), json!(word)));
    map.insert("robots".into(), Value::Object(robots.collect()));
    put(&mut map, "canonical", &head.canonical);
    for (_, name, value) in tags(head) {
        put(&mut map, &name.replace(':', "_"), &value);
    }
    // A list, in the place of the address alone.
    map.extend(head.picture.iter().map(|picture| ("og_image".to_owned(), json!([picture_of(picture)]))));
    let labels = labels(scope, head);
    if !labels.is_empty() {
        let labels = labels.into_iter().map(|(label, text)| (label, json!(text)));
        map.insert("twitter_misc".into(), Value::Object(labels.collect()));
    }
    map.insert("schema".into(), graph);
    Value::Object(map)
}

fn put(map: &mut Map<String, Value>, name: &str, value: &str) {
    if !value.is_empty() {
        map.insert(name.to_owned(), json!(value));
    }
}

/// The words for search engines, by the names of the members that have them.
fn robots(head: &SeoHead) -> Vec<(&str, String)> {
    let robots = &head.robots;
    let mut all = vec![
        ("index", if robots.index { "index" } else { "noindex" }.to_owned()),
        ("follow", if robots.follow { "follow" } else { "nofollow" }.to_owned()),
    ];
    if !robots.index {
        return all;
    }
    // A limit is for what may be shown at all.
    let barred = |word: &str| robots.directives.iter().any(|own| own == word);
    let limits = &robots.limits;
    if !barred("nosnippet") {
        all.push(("max-snippet", format!("max-snippet:{}", limits.max_snippet)));
    }
    if !barred("noimageindex") {
        all.push(("max-image-preview", format!("max-image-preview:{}", limits.max_image_preview.name())));
    }
    all.push(("max-video-preview", format!("max-video-preview:{}", limits.max_video_preview)));
    all.extend(robots.directives.iter().map(|word| (word.strip_prefix("no").unwrap_or(word), word.clone())));
    all
}

fn times(head: &SeoHead) -> impl Iterator<Item = (&'static str, i64)> {
    let published = head.published.filter(|_| !head.headline.is_empty());
    let published = published.map(|seconds| ("article:published_time", seconds));
    // A record that nobody has changed since has no time of that.
    let modified = head.modified.filter(|modified| head.published != Some(*modified));
    published.into_iter().chain(modified.map(|seconds| ("article:modified_time", seconds)))
}

/// Sizes are those of files that are here: what a content says of others is how large they are shown.
fn sizes(picture: &HeadPicture) -> [Option<i64>; 2] {
    if picture.media_type.is_empty() { [None, None] } else { [picture.width, picture.height] }
}

fn picture_of(picture: &HeadPicture) -> Value {
    let mut map = Map::new();
    let sizes = ["width", "height"].into_iter().zip(sizes(picture));
    map.extend(sizes.filter_map(|(name, size)| Some((name.to_owned(), json!(size?)))));
    put(&mut map, "url", &picture.url);
    put(&mut map, "type", &picture.media_type);
    Value::Object(map)
}

/// Labels with their texts.
fn labels(scope: &Scope, head: &SeoHead) -> Vec<(String, String)> {
    let author = head.author.as_ref().filter(|_| !head.headline.is_empty());
    let written = author.map(|author| (scope.phrase("Written by").to_owned(), author.name.clone()));
    let minutes = head.minutes().filter(|_| head.published.is_some());
    let reading = minutes.map(|minutes| {
        (scope.phrase("Est. reading time").to_owned(), scope.plural("1 minute", "{count} minutes", minutes))
    });
    written.into_iter().chain(reading).collect()
}

fn meta(html: &mut Html, name: &'static str, key: &'static str, value: &str) {
    if !value.is_empty() {
        html.raw("<meta").attr(name, key).attr_text("content", value).raw(" />\n");
    }
}

/// The head as `yoast_head` has it: tags, each on a line.
fn markup(scope: &Scope, head: &SeoHead, graph: &Value) -> String {
    let mut html = Html::new();
    html.raw("<title>").text_as_it_is(&head.title).raw("</title>\n");
    meta(&mut html, "name", "description", &head.description);
    let words: Vec<String> = robots(head).into_iter().map(|(_, word)| word).collect();
    meta(&mut html, "name", "robots", &words.join(", "));
    if !head.canonical.is_empty() {
        html.raw("<link rel=\"canonical\"").attr_text("href", &head.canonical).raw(" />\n");
    }
    for (attribute, name, value) in tags(head) {
        meta(&mut html, attribute, name, &value);
        if let Some(picture) = head.picture.as_ref().filter(|_| name == PICTURE) {
            let number = |number: Option<i64>| number.map_or_else(String::new, |number| number.to_string());
            let [width, height] = sizes(picture);
            meta(&mut html, attribute, "og:image:width", &number(width));
            meta(&mut html, attribute, "og:image:height", &number(height));
            meta(&mut html, attribute, "og:image:type", &picture.media_type);
        }
    }
    const LABELS: [(&str, &str); 2] = [("twitter:label1", "twitter:data1"), ("twitter:label2", "twitter:data2")];
    for ((label, data), (name, value)) in LABELS.into_iter().zip(labels(scope, head)) {
        meta(&mut html, "name", label, &name);
        meta(&mut html, "name", data, &value);
    }
    html.raw("<script type=\"application/ld+json\" class=\"yoast-schema-graph\">");
    html.json(graph).raw("</script>");
    html.as_str().to_owned()
}
