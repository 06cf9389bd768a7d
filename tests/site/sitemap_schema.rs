//! Sitemaps, read as strictly as their schemas are written: what such a schema refuses is refused here.
//!
//! The rules of `urlset` and `sitemapindex` are those of `sitemap.xsd` and `siteindex.xsd` of version 0.9, from sitemaps.org; those
//! of pictures are `sitemap-image.xsd` of version 1.1, from Google. Links to translations have no schema in sitemaps: search engines
//! document the three attributes of `xhtml:link`. Counts and sizes, which a schema cannot say, are those of the protocol on sitemaps.org.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;

const SITEMAPS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const PICTURES: &str = "http://www.google.com/schemas/sitemap-image/1.1";
const XHTML: &str = "http://www.w3.org/1999/xhtml";

/// Most addresses and bytes of a document, and most pictures of an address.
const MOST: (usize, usize, usize) = (50_000, 52_428_800, 1_000);

/// An entry of a sitemap.
#[derive(Debug, Default, PartialEq)]
pub struct SitemapEntry {
    pub url: String,
    pub modified: Option<String>,
    pub pictures: Vec<String>,
    /// Tags of languages with addresses.
    pub translations: Vec<(String, String)>,
}

/// The type of an element's text.
#[derive(Clone, Copy, PartialEq)]
enum TextKind {
    /// It has children alone.
    None,
    /// `anyURI` of 12 to 2048 characters, in ASCII.
    Address,
    /// `date` or `dateTime`.
    Moment,
    Frequency,
    /// A decimal number from 0 to 1.
    Priority,
    Any,
}

/// An element by namespace and name: its text, its children in their order with how often each may be there, whether elements of
/// other namespaces may follow them, its attributes.
struct ElementRule {
    of: (&'static str, &'static str),
    text: TextKind,
    children: &'static [(&'static str, usize, usize)],
    others: bool,
    attributes: &'static [&'static str],
}

const fn rule(
    of: (&'static str, &'static str),
    text: TextKind,
    children: &'static [(&'static str, usize, usize)],
) -> ElementRule {
    ElementRule { of, text, children, others: false, attributes: &[] }
}

const RULES: [ElementRule; 15] = [
    ElementRule { others: true, ..rule((SITEMAPS, "urlset"), TextKind::None, &[("url", 1, MOST.0)]) },
    ElementRule { others: true, ..rule((SITEMAPS, "sitemapindex"), TextKind::None, &[("sitemap", 1, MOST.0)]) },
    ElementRule {
        others: true,
        ..rule(
            (SITEMAPS, "url"),
            TextKind::None,
            &[("loc", 1, 1), ("lastmod", 0, 1), ("changefreq", 0, 1), ("priority", 0, 1)],
        )
    },
    rule((SITEMAPS, "sitemap"), TextKind::None, &[("loc", 1, 1), ("lastmod", 0, 1)]),
    rule((SITEMAPS, "loc"), TextKind::Address, &[]),
    rule((SITEMAPS, "lastmod"), TextKind::Moment, &[]),
    rule((SITEMAPS, "changefreq"), TextKind::Frequency, &[]),
    rule((SITEMAPS, "priority"), TextKind::Priority, &[]),
    rule(
        (PICTURES, "image"),
        TextKind::None,
        &[("loc", 1, 1), ("caption", 0, 1), ("geo_location", 0, 1), ("title", 0, 1), ("license", 0, 1)],
    ),
    rule((PICTURES, "loc"), TextKind::Address, &[]),
    rule((PICTURES, "caption"), TextKind::Any, &[]),
    rule((PICTURES, "geo_location"), TextKind::Any, &[]),
    rule((PICTURES, "title"), TextKind::Any, &[]),
    rule((PICTURES, "license"), TextKind::Address, &[]),
    ElementRule { attributes: &["rel", "hreflang", "href"], ..rule((XHTML, "link"), TextKind::None, &[]) },
];

#[derive(Debug, Default)]
struct Element {
    namespace: String,
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Element>,
}

/// The entries of a sitemap with this root; otherwise what its schema refuses.
pub fn entries(text: &str, root: &str) -> Result<Vec<SitemapEntry>, String> {
    if text.len() > MOST.1 {
        return Err(format!("{} bytes", text.len()));
    }
    let whole = tree(text)?;
    if whole.name != root {
        return Err(format!("{} is the root, not {root}", whole.name));
    }
    check(&whole)?;
    Ok(whole.children.iter().map(entry).collect())
}

fn entry(element: &Element) -> SitemapEntry {
    let own = |name: &str| element.children.iter().find(|child| child.name == name && child.namespace == SITEMAPS);
    let of = |namespace: &'static str| element.children.iter().filter(move |child| child.namespace == namespace);
    let attribute = |link: &Element, name: &str| {
        link.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    SitemapEntry {
        url: own("loc").map(|loc| loc.text.clone()).unwrap_or_default(),
        modified: own("lastmod").map(|moment| moment.text.clone()),
        pictures: of(PICTURES).map(|picture| picture.children[0].text.clone()).collect(),
        translations: of(XHTML).map(|link| (attribute(link, "hreflang"), attribute(link, "href"))).collect(),
    }
}

/// The elements of a document, with their namespaces.
fn tree(text: &str) -> Result<Element, String> {
    let mut reader = Reader::from_str(text);
    let mut spaces = HashMap::new();
    let (mut open, mut root) = (Vec::new(), None);
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match event {
            Event::Start(tag) => open.push(element(&tag, &mut spaces)?),
            Event::Empty(tag) => {
                let element = element(&tag, &mut spaces)?;
                let parent: &mut Element = open.last_mut().ok_or("an empty root")?;
                parent.children.push(element);
            }
            Event::Text(text) => add(&mut open, &text)?,
            Event::GeneralRef(name) => {
                add(&mut open, &unescape(&format!("&{};", &*name)).map_err(|error| error.to_string())?)?;
            }
            Event::CData(_) | Event::DocType(_) => return Err("markup that no sitemap needs".into()),
            Event::End(_) => {
                let done = open.pop().ok_or("an end without a beginning")?;
                match open.last_mut() {
                    Some(parent) => parent.children.push(done),
                    None if root.is_none() => root = Some(done),
                    None => return Err("two roots".into()),
                }
            }
            Event::Eof if open.is_empty() => return root.ok_or_else(|| "nothing".into()),
            Event::Eof => return Err("an element has no end".into()),
            _ => {}
        }
    }
}

fn add(open: &mut [Element], text: &str) -> Result<(), String> {
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        None if text.trim().is_empty() => {}
        None => return Err(format!("{text} outside of the root")),
    }
    Ok(())
}

fn element(tag: &BytesStart<'_>, spaces: &mut HashMap<String, String>) -> Result<Element, String> {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = unescape(&attribute.value).map_err(|error| error.to_string())?.into_owned();
        let name: &str = attribute.key.as_ref();
        match name.split_once(':') {
            None if name == "xmlns" => drop(spaces.insert(String::new(), value)),
            Some(("xmlns", prefix)) => drop(spaces.insert(prefix.to_owned(), value)),
            _ => attributes.push((name.to_owned(), value)),
        }
    }
    let name = tag.name();
    let name: &str = name.as_ref();
    let (prefix, name) = name.split_once(':').unwrap_or(("", name));
    let namespace = spaces.get(prefix).ok_or_else(|| format!("{prefix} is no namespace"))?.clone();
    Ok(Element { namespace, name: name.to_owned(), attributes, ..Element::default() })
}

fn check(element: &Element) -> Result<(), String> {
    let known = RULES.iter().find(|rule| rule.of == (&*element.namespace, &*element.name));
    let rule = known.ok_or_else(|| format!("{} of {} is unknown", element.name, element.namespace))?;
    let names: Vec<&str> = element.attributes.iter().map(|(name, _)| name.as_str()).collect();
    if names != rule.attributes {
        return Err(format!("{} has the attributes {names:?}", element.name));
    }
    let mut children = element.children.iter().peekable();
    for (name, least, most) in rule.children {
        let mut count = 0;
        while children.next_if(|child| child.namespace == rule.of.0 && child.name == *name).is_some() {
            count += 1;
        }
        if !(*least..=*most).contains(&count) {
            return Err(format!("{} has {name} {count} times", element.name));
        }
    }
    let pictures = element.children.iter().filter(|child| child.namespace == PICTURES && child.name == "image");
    if element.namespace == SITEMAPS && pictures.count() > MOST.2 {
        return Err(format!("more than {} pictures", MOST.2));
    }
    if let Some(stray) = children.find(|child| !rule.others || child.namespace == rule.of.0) {
        return Err(format!("{} is in {} where it may not be", stray.name, element.name));
    }
    if !fits(rule.text, &element.text) {
        return Err(format!("{} is {:?}", element.name, element.text));
    }
    let href = element.attributes.iter().find(|(name, _)| name == "href");
    if href.is_some_and(|(_, value)| !fits(TextKind::Address, value)) {
        return Err(format!("{href:?} is no address"));
    }
    element.children.iter().try_for_each(check)
}

fn fits(kind: TextKind, text: &str) -> bool {
    match kind {
        TextKind::None => text.trim().is_empty(),
        TextKind::Address => {
            let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !br#"<>"\^`{|}"#.contains(&byte));
            plain && (12..=2_048).contains(&text.len()) && url::Url::parse(text).is_ok_and(|url| url.has_host())
        }
        TextKind::Moment => is_moment(text),
        TextKind::Frequency => ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"].contains(&text),
        TextKind::Priority => text.parse::<f64>().is_ok_and(|number| (0.0..=1.0).contains(&number)),
        TextKind::Any => true,
    }
}

/// A day, or a moment with its zone.
fn is_moment(text: &str) -> bool {
    let shape: String = text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    let zoned = ["0000-00-00T00:00:00Z", "0000-00-00T00:00:00+00:00", "0000-00-00T00:00:00-00:00"];
    let whole = if shape == "0000-00-00" { format!("{text}T00:00:00Z") } else { text.to_owned() };
    (zoned.contains(&&*shape) || shape == "0000-00-00") && cms_text::time::parse_datetime(&whole).is_some()
}

#[test]
fn the_schema_refuses_what_is_no_sitemap() {
    let part = |inside: &str| {
        format!(
            "<?xml version=\"1.0\"?>\n<urlset xmlns=\"{SITEMAPS}\" xmlns:image=\"{PICTURES}\" xmlns:x=\"{XHTML}\">{inside}</urlset>"
        )
    };
    let loc = "<loc>https://a.example/?a&amp;b</loc>";
    let picture = "<image:image><image:loc>https://a.example/a.png</image:loc></image:image>";
    let link = "<x:link rel=\"alternate\" hreflang=\"de\" href=\"https://a.example/de/\"/>";
    let good = part(&format!("<url>{loc}<lastmod>2024-05-06T07:08:09+00:00</lastmod>{link}{picture}</url>"));
    let read = entries(&good, "urlset").expect("a sitemap");
    assert_eq!(
        read,
        [SitemapEntry {
            url: "https://a.example/?a&b".into(),
            modified: Some("2024-05-06T07:08:09+00:00".into()),
            pictures: vec!["https://a.example/a.png".into()],
            translations: vec![("de".into(), "https://a.example/de/".into())],
        }]
    );
    let many = picture.repeat(MOST.2 + 1);
    let long = format!("<url><loc>https://a.example/{}</loc></url>", "x".repeat(2_048));
    for bad in [
        String::new(),
        "x".to_owned(),
        "<url></url>".to_owned(),
        "<lastmod>2024-05-06</lastmod>".to_owned(),
        "<url><lastmod>2024-05-06</lastmod></url>".to_owned(),
        format!("<url><lastmod>2024-05-06</lastmod>{loc}</url>"),
        format!("<url>{loc}{loc}</url>"),
        format!("<url>{loc}<lastmod>2024-13-06</lastmod></url>"),
        format!("<url>{loc}<lastmod>2024-05-06T07:08:09</lastmod></url>"),
        format!("<url>{loc}<lastmod>yesterday</lastmod></url>"),
        format!("<url>{loc}<changefreq>often</changefreq></url>"),
        format!("<url>{loc}<priority>2</priority></url>"),
        format!("<url>{picture}{loc}</url>"),
        format!("<url>{loc}{picture}<lastmod>2024-05-06</lastmod></url>"),
        format!("<url>{loc}<image:image></image:image></url>"),
        format!("<url>{loc}<image:loc>https://a.example/a.png</image:loc></url>").replace("image:loc", "image:address"),
        format!("<url>{loc}<x:link rel=\"alternate\" href=\"https://a.example/\"/></url>"),
        format!("<url>{loc}<x:link rel=\"alternate\" hreflang=\"de\" href=\"/de/\"/></url>"),
        format!("<url>{loc}<y:link/></url>"),
        format!("<url>{loc}{many}</url>"),
        "<url><loc>/a/path/alone/</loc></url>".to_owned(),
        "<url><loc>https://a.example/ü</loc></url>".to_owned(),
        "<url><loc>https://a.example/a b</loc></url>".to_owned(),
        long,
    ] {
        assert!(entries(&part(&bad), "urlset").is_err(), "{bad}");
    }
    for bad in [
        good.replace(SITEMAPS, "http://a.example"),
        good.replace("</urlset>", ""),
        good.replace("urlset", "sitemapindex"),
    ] {
        assert!(entries(&bad, "urlset").is_err() && entries(&bad, "sitemapindex").is_err(), "{bad}");
    }
}
