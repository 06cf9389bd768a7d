//! The same head with the names and the types that Yoast's REST interface documents, as JSON and as markup.

use super::graph;
use super::head::{HeadPicture, SeoHead, moment};
use crate::scope::Scope;
use cms_text::html::Html;
use serde_json::{Map, Value, json};

/// The head as `yoast_head_json` has it. What is empty is left out.
pub fn document(scope: &Scope, head: &SeoHead) -> Value {
    let mut map = Map::new();
    put(&mut map, "title", &head.title);
    put(&mut map, "description", &head.description);
    map.insert(
        "robots".into(),
        Value::Object(robots(head).into_iter().map(|(name, word)| (name.to_owned(), json!(word))).collect()),
    );
    put(&mut map, "canonical", &head.canonical);
    put(&mut map, "og_locale", &head.site.locale);
    put(&mut map, "og_type", &head.kind);
    put(&mut map, "og_title", &head.social_title);
    put(&mut map, "og_description", &head.social_description);
    put(&mut map, "og_url", &head.canonical);
    put(&mut map, "og_site_name", &head.site.name);
    for (name, seconds) in times(head) {
        put(&mut map, name, &moment(seconds));
    }
    if let Some(picture) = &head.picture {
        map.insert("og_image".into(), json!([picture_of(picture)]));
    }
    let author = head.author.as_ref().filter(|_| head.published.is_some());
    map.extend(author.map(|author| ("author".to_owned(), json!(author.name))));
    map.insert("twitter_card".into(), json!("summary_large_image"));
    let twitter_picture = head.twitter_picture.as_ref().map_or("", |picture| &picture.url);
    for (name, value) in [
        ("twitter_title", head.twitter_title.as_str()),
        ("twitter_description", &head.twitter_description),
        ("twitter_image", twitter_picture),
        ("twitter_site", &head.site.twitter),
    ] {
        put(&mut map, name, value);
    }
    let labels = labels(scope, head);
    if !labels.is_empty() {
        map.insert(
            "twitter_misc".into(),
            labels.into_iter().map(|(label, text)| (label, json!(text))).collect::<Map<_, _>>().into(),
        );
    }
    map.insert("schema".into(), graph::document(head));
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
    if robots.index {
        all.push(("max-snippet", format!("max-snippet:{}", robots.max_snippet)));
        all.push(("max-image-preview", format!("max-image-preview:{}", robots.max_image_preview)));
        all.push(("max-video-preview", format!("max-video-preview:{}", robots.max_video_preview)));
    }
    all.extend(robots.directives.iter().map(|word| (word.as_str(), word.clone())));
    all
}

fn times(head: &SeoHead) -> Vec<(&'static str, i64)> {
    let published = head.published.map(|seconds| ("article_published_time", seconds));
    // Recorded: a record that nobody has changed since has no time of that.
    let modified = head.modified.filter(|modified| head.published.is_none_or(|published| *modified > published));
    published.into_iter().chain(modified.map(|seconds| ("article_modified_time", seconds))).collect()
}

fn picture_of(picture: &HeadPicture) -> Value {
    let mut map = Map::new();
    map.extend(picture.width.map(|width| ("width".to_owned(), json!(width))));
    map.extend(picture.height.map(|height| ("height".to_owned(), json!(height))));
    map.insert("url".into(), json!(picture.url));
    if !picture.media_type.is_empty() {
        map.insert("type".into(), json!(picture.media_type));
    }
    Value::Object(map)
}

/// Labels with their texts.
fn labels(scope: &Scope, head: &SeoHead) -> Vec<(String, String)> {
    let author = head.author.as_ref().filter(|_| head.published.is_some() && !head.headline.is_empty());
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
pub fn markup(scope: &Scope, head: &SeoHead) -> String {
    let mut html = Html::new();
    html.raw("<title>").text_as_it_is(&head.title).raw("</title>\n");
    meta(&mut html, "name", "description", &head.description);
    let words: Vec<String> = robots(head).into_iter().map(|(_, word)| word).collect();
    meta(&mut html, "name", "robots", &words.join(", "));
    if !head.canonical.is_empty() {
        html.raw("<link rel=\"canonical\"").attr_text("href", &head.canonical).raw(" />\n");
    }
    meta(&mut html, "property", "og:locale", &head.site.locale);
    meta(&mut html, "property", "og:type", &head.kind);
    meta(&mut html, "property", "og:title", &head.social_title);
    meta(&mut html, "property", "og:description", &head.social_description);
    meta(&mut html, "property", "og:url", &head.canonical);
    meta(&mut html, "property", "og:site_name", &head.site.name);
    for (name, seconds) in times(head) {
        let key = if name.contains("published") { "article:published_time" } else { "article:modified_time" };
        meta(&mut html, "property", key, &moment(seconds));
    }
    if let Some(picture) = &head.picture {
        let number = |number: Option<i64>| number.map_or_else(String::new, |number| number.to_string());
        meta(&mut html, "property", "og:image", &picture.url);
        meta(&mut html, "property", "og:image:width", &number(picture.width));
        meta(&mut html, "property", "og:image:height", &number(picture.height));
        meta(&mut html, "property", "og:image:type", &picture.media_type);
    }
    if let Some(author) = head.author.as_ref().filter(|_| head.published.is_some()) {
        meta(&mut html, "name", "author", &author.name);
    }
    meta(&mut html, "name", "twitter:card", "summary_large_image");
    meta(&mut html, "name", "twitter:title", &head.twitter_title);
    meta(&mut html, "name", "twitter:description", &head.twitter_description);
    meta(&mut html, "name", "twitter:image", head.twitter_picture.as_ref().map_or("", |picture| &picture.url));
    meta(&mut html, "name", "twitter:site", &head.site.twitter);
    const LABELS: [(&str, &str); 2] = [("twitter:label1", "twitter:data1"), ("twitter:label2", "twitter:data2")];
    for ((label, data), (name, value)) in LABELS.into_iter().zip(labels(scope, head)) {
        meta(&mut html, "name", label, &name);
        meta(&mut html, "name", data, &value);
    }
    html.raw("<script type=\"application/ld+json\" class=\"yoast-schema-graph\">");
    html.json(&graph::document(head)).raw("</script>");
    html.as_str().to_owned()
}
