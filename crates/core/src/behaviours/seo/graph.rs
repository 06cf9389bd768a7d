//! A place as a graph of schema.org: the site, the page, the article or the declared object, its author, the way to it and
//! its picture. Nodes name each other by addresses with a fragment.

use super::head::{HeadAuthor, SeoHead};
use cms_text::hex::hex;
use cms_text::time::format_utc;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The nodes of a place.
pub fn nodes(head: &SeoHead) -> Vec<Value> {
    let mut nodes = vec![site(head)];
    if !head.link.is_empty() {
        nodes.insert(0, page(head));
        nodes.extend(picture(head));
        nodes.extend(trail(head));
        let main = head.declared.as_ref().and_then(|own| declared(head, own)).or_else(|| article(head));
        if let Some(main) = main {
            nodes.insert(0, main);
        }
    }
    nodes.extend(publisher(head));
    nodes.extend(head.author.as_ref().map(|author| person(head, author)));
    nodes
}

/// The graph as a document.
pub fn document(head: &SeoHead) -> Value {
    json!({"@context": "https://schema.org", "@graph": nodes(head)})
}

/// An object without members that are empty.
fn node(members: Value) -> Value {
    let Value::Object(map) = members else { return members };
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    };
    Value::Object(map.into_iter().filter(|(_, value)| !empty(value)).collect())
}

fn named(id: String) -> Value {
    json!({"@id": id})
}

/// A part of the page, at the address that search engines are to know.
fn at(head: &SeoHead, fragment: &str) -> String {
    format!("{}#{fragment}", head.canonical)
}

fn at_home(head: &SeoHead, fragment: &str) -> String {
    format!("{}#{fragment}", head.site.home)
}

fn person_id(head: &SeoHead, author: &HeadAuthor) -> String {
    at_home(head, &format!("/schema/person/{}", person_digest(author)))
}

fn person_digest(author: &HeadAuthor) -> String {
    hex(&Sha256::digest(format!("user/{}", author.id)))[..32].to_owned()
}

fn publisher_id(head: &SeoHead) -> Option<Value> {
    head.site.publisher.as_ref().map(|_| named(at_home(head, "organization")))
}

fn site(head: &SeoHead) -> Value {
    let site = &head.site;
    let search = (!site.search.is_empty()).then(|| {
        json!([{
            "@type": "SearchAction",
            "target": {"@type": "EntryPoint", "urlTemplate": format!("{}{{search_term_string}}", site.search)},
            "query-input": {"@type": "PropertyValueSpecification", "valueRequired": true, "valueName": "search_term_string"},
        }])
    });
    node(json!({
        "@type": "WebSite",
        "@id": at_home(head, "website"),
        "url": site.home,
        "name": site.name,
        "description": site.description,
        "publisher": publisher_id(head),
        "potentialAction": search,
        "inLanguage": site.language(),
    }))
}

fn page(head: &SeoHead) -> Value {
    let picture = head.main_picture.as_ref().map(|_| named(at(head, "primaryimage")));
    node(json!({
        "@type": head.page,
        "@id": head.link,
        "url": head.canonical,
        "name": head.title,
        "isPartOf": named(at_home(head, "website")),
        "primaryImageOfPage": picture.clone(),
        "image": picture,
        "thumbnailUrl": head.main_picture.as_ref().map(|picture| &picture.url),
        "datePublished": head.published.map(format_utc),
        "dateModified": head.modified.map(format_utc),
        "description": head.description,
        "breadcrumb": (head.trail.len() > 1).then(|| named(at(head, "breadcrumb"))),
        "inLanguage": head.site.language(),
        "potentialAction": [{"@type": "ReadAction", "target": [head.canonical]}],
    }))
}

fn article(head: &SeoHead) -> Option<Value> {
    if head.headline.is_empty() {
        return None;
    }
    let author = head.author.as_ref();
    let author = author.map(|author| json!({"name": author.name, "@id": person_id(head, author)}));
    let comment = || json!([{"@type": "CommentAction", "name": "Comment", "target": [at(head, "respond")]}]);
    Some(node(json!({
        "@type": "Article",
        "@id": at(head, "article"),
        "isPartOf": named(head.link.clone()),
        "author": author,
        "headline": head.headline,
        "datePublished": head.published.map(format_utc),
        "dateModified": head.modified.map(format_utc),
        "mainEntityOfPage": named(head.link.clone()),
        "wordCount": head.words.map(|words| words + words_of(&head.headline)),
        "commentCount": head.comments,
        "publisher": publisher_id(head),
        "image": head.main_picture.as_ref().map(|_| named(at(head, "primaryimage"))),
        "thumbnailUrl": head.main_picture.as_ref().map(|picture| &picture.url),
        "keywords": head.tags,
        "articleSection": head.sections,
        "inLanguage": head.site.language(),
        "potentialAction": head.comments.map(|_| comment()),
    })))
}

/// Words of a headline; what has no letter is none.
fn words_of(headline: &str) -> u64 {
    headline.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() as u64
}

/// The declared object, which is what the page is about.
fn declared(head: &SeoHead, own: &Value) -> Option<Value> {
    let own = own.as_object()?;
    let mut all = Map::new();
    all.insert("@type".into(), own.get("@type")?.clone());
    all.insert("@id".into(), json!(at(head, "main")));
    all.extend(own.iter().filter(|(name, _)| *name != "@type").map(|(name, value)| (name.clone(), value.clone())));
    all.entry("mainEntityOfPage").or_insert_with(|| named(head.link.clone()));
    Some(node(Value::Object(all)))
}

fn picture(head: &SeoHead) -> Option<Value> {
    let picture = head.main_picture.as_ref()?;
    Some(node(json!({
        "@type": "ImageObject",
        "inLanguage": head.site.language(),
        "@id": at(head, "primaryimage"),
        "url": picture.url,
        "contentUrl": picture.url,
        "width": picture.width,
        "height": picture.height,
        "caption": picture.alt,
    })))
}

fn trail(head: &SeoHead) -> Option<Value> {
    let last = head.trail.len();
    let step = |(at, (name, address)): (usize, &(String, String))| {
        // The last one is the page itself.
        let address = (at + 1 < last).then_some(address);
        node(json!({"@type": "ListItem", "position": at + 1, "name": name, "item": address}))
    };
    let steps: Vec<Value> = head.trail.iter().enumerate().map(step).collect();
    (last > 1).then(|| json!({"@type": "BreadcrumbList", "@id": at(head, "breadcrumb"), "itemListElement": steps}))
}

fn publisher(head: &SeoHead) -> Option<Value> {
    let publisher = head.site.publisher.as_ref()?;
    let logo = publisher.logo.as_ref().map(|url| {
        json!({"@type": "ImageObject", "inLanguage": head.site.language(), "@id": at_home(head, "/schema/logo/image/"), "url": url, "contentUrl": url, "caption": publisher.name})
    });
    let image = logo.as_ref().map(|_| named(at_home(head, "/schema/logo/image/")));
    Some(node(json!({
        "@type": "Organization",
        "@id": at_home(head, "organization"),
        "name": publisher.name,
        "url": head.site.home,
        "logo": logo,
        "image": image,
        "sameAs": publisher.same_as,
    })))
}

fn person(head: &SeoHead, author: &HeadAuthor) -> Value {
    let picture = (!author.picture.is_empty()).then(|| {
        json!({"@type": "ImageObject", "inLanguage": head.site.language(), "@id": at_home(head, &format!("/schema/person/image/{}", person_digest(author))), "url": author.picture, "contentUrl": author.picture, "caption": author.name})
    });
    let same_as = if author.same_as.is_empty() { Vec::new() } else { vec![&author.same_as] };
    node(json!({
        "@type": "Person",
        "@id": person_id(head, author),
        "name": author.name,
        "image": picture,
        "description": author.description,
        "sameAs": same_as,
        "url": author.address,
    }))
}
