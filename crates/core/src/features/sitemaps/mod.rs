//! Sitemaps and `robots.txt`: which addresses of the site search engines may read, and when each was changed.
//!
//! An index names the parts; a part has at most so many addresses of one list, the oldest first, so that a new record changes the
//! last part alone. A list is what anonymous callers may read: published records, terms that such records have, their authors.
//! `rows` reads it, `pictures` says which pictures are at an address, `alternates` where its translations are.

mod alternates;
mod pictures;
mod rows;

use crate::error::{ApiError, Code};
use crate::features::feeds::as_document;
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::registry::columns::record;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole};
use crate::render::{Batch, address};
use alternates::Translations;
use cms_declaration::Sitemaps;
use cms_text::time::format_utc;
use percent_encoding::{CONTROLS, utf8_percent_encode};
use pictures::PartPictures;
use quick_xml::escape::escape;
use rows::ListedRows;
use serde_json::json;
use std::fmt::Write as _;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler(
        "sitemap.get",
        get,
        "Responds with the index of the sitemaps, or with the part at a path of the site.",
    )
    .role(HandlerRole::Sitemap)
    .also("application/xml")
    .fails(&[Code::NoRoute]),
    handler("robots.get", |w| Box::pin(async move { Ok(robots(w)) }), "Responds with the site's `robots.txt`.")
        .role(HandlerRole::Robots)
        .also("text/plain"),
];

const XML: &str = "application/xml; charset=UTF-8";
const PLAIN: &str = "text/plain; charset=UTF-8";
const SCHEMA: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// The namespaces of pictures and of translations, with their prefixes.
const PICTURES: [&str; 2] = ["image", "http://www.google.com/schemas/sitemap-image/1.1"];
const TRANSLATIONS: [&str; 2] = ["xhtml", "http://www.w3.org/1999/xhtml"];

/// Most characters of an address, by the schema of sitemaps.
const LONGEST: usize = 2_048;

/// Bytes of a part after which nothing is written beside addresses: a part has at most 50 MB, by the rules of sitemaps.
const ROOM: usize = 30_000_000;

/// How browsers show an index, and a part.
const STYLES: [&str; 2] = [include_str!("index.xsl"), include_str!("part.xsl")];

/// The document at the path that the argument `path` names.
///
/// # Errors
/// No sitemap has this path; the database cannot be read.
fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let declaration = &work.scope.registry.declaration;
    let declared = &declaration.sitemaps;
    let path = work.allowed.args().text("path").unwrap_or("");
    let missing = || ApiError::new(Code::NoRoute);
    if let Some(style) = declared.styles.get().and_then(|styles| styles.iter().position(|own| own == path)) {
        return Ok(as_document(work, XML, STYLES[style].as_bytes().to_vec()));
    }
    if !declared.enabled || declaration.site.noindex {
        return Err(missing());
    }
    if path == declared.index {
        return index(work, declared);
    }
    let (list, page) = part_of(declared, path).ok_or_else(missing)?;
    let list = lists(work).find(|resource| list_name(declared, resource) == list).ok_or_else(missing)?;
    part(work, declared, list, page)?.ok_or_else(missing)
}

/// The resources with a list.
fn lists<'a>(work: &Work<'a>) -> impl Iterator<Item = &'a Resource> {
    let registry = &work.scope.registry;
    let taxonomies = registry
        .taxonomies()
        .filter(|taxonomy| taxonomy.declared.listing.visibility.get("public") == Some(&json!(true)));
    let users = registry.users().filter(|_| registry.declaration.site.list_authors);
    let all = registry.content_types().filter(|kind| kind.viewable()).chain(taxonomies).chain(users);
    all.filter(|resource| resource.declared.sitemap)
}

/// The name of a list in the paths of its parts.
fn list_name(declared: &Sitemaps, resource: &Resource) -> String {
    let template = match resource.is_content() {
        true => &declared.records,
        false if resource.is_taxonomy() => &declared.terms,
        false => &declared.users,
    };
    let base = resource.path.rsplit('/').next().unwrap_or_default();
    template.replace("{name}", &resource.name).replace("{base}", base).replace("{api_name}", &resource.api_name)
}

/// The list and the number of a part's path.
pub fn part_of<'p>(declared: &Sitemaps, path: &'p str) -> Option<(&'p str, u64)> {
    let (before, rest) = declared.part.split_once("{list}")?;
    let (between, after) = rest.split_once("{page}")?;
    let (list, page) = path.strip_prefix(before)?.strip_suffix(after)?.rsplit_once(between)?;
    let number = page.bytes().all(|b| b.is_ascii_digit()) && !page.starts_with('0') && !list.is_empty();
    Some((list, page.parse().ok().filter(|_| number)?))
}

/// Whether the name of a list begins like that of none.
pub fn is_foreign(declared: &Sitemaps, list: &str) -> bool {
    let templates = [&declared.records, &declared.terms, &declared.users];
    !templates.iter().any(|template| list.starts_with(template.split('{').next().unwrap_or_default()))
}

/// Whether the site's own address stands before those of this list.
fn has_home(declared: &Sitemaps, resource: &Resource) -> bool {
    declared.home.get().is_some_and(|home| *home == resource.name)
}

fn index(work: &Work<'_>, declared: &Sitemaps) -> Result<Outcome, ApiError> {
    let site = &work.scope.registry.site;
    let mut out = beginning(work, declared, 0, "sitemapindex", &[]);
    let snapshot = work.scope.snapshot()?;
    for resource in lists(work) {
        let rows = ListedRows::of(work, &*snapshot, resource)?.count(&*snapshot)?;
        let pages = rows.div_ceil(u64::from(declared.addresses)).max(u64::from(has_home(declared, resource)));
        for page in 1..=pages.min(MOST_PARTS) {
            let list = list_name(declared, resource);
            let path = declared.part.replace("{list}", &list).replace("{page}", &page.to_string());
            // Writing to a text cannot fail.
            let _ = writeln!(out, "<sitemap><loc>{}</loc></sitemap>", escape(format!("{}{path}", site.url)));
        }
    }
    out.push_str("</sitemapindex>\n");
    Ok(as_document(work, XML, out.into_bytes()))
}

/// Most parts that an index may name, by the rules of sitemaps.
const MOST_PARTS: u64 = 50_000;

/// A part of a list; `None`: the list has no such part.
fn part(work: &Work<'_>, declared: &Sitemaps, resource: &Resource, page: u64) -> Result<Option<Outcome>, ApiError> {
    let size = u64::from(declared.addresses);
    let snapshot = work.scope.snapshot()?;
    let listed = ListedRows::of(work, &*snapshot, resource)?;
    let rows = listed.window(&*snapshot, (page - 1).saturating_mul(size), size)?;
    let home = page == 1 && has_home(declared, resource);
    if rows.is_empty() && !home {
        return Ok(None);
    }
    let mut batch = Batch::default();
    batch.load_address_parts(&*snapshot, work.scope, resource, &rows)?;
    let pictures = PartPictures::load(work, &*snapshot, resource, &rows, declared.pictures as usize)?;
    let translations = match declared.alternates {
        true => Translations::load(work, &*snapshot, resource, &rows, listed.plan.clone())?,
        false => Translations::default(),
    };
    let newest = listed.records(&rows).filter_map(|record| record.modified()).max();
    let spoken = declared.alternates && work.scope.registry.languages.is_some();
    let namespaces = [(declared.pictures > 0, PICTURES), (spoken, TRANSLATIONS)];
    let namespaces: Vec<_> = namespaces.into_iter().filter(|(used, _)| *used).map(|(_, namespace)| namespace).collect();
    let mut out = beginning(work, declared, 1, "urlset", &namespaces);
    if home {
        write_address(&mut out, &format!("{}/", work.scope.registry.site.front), None, std::iter::empty(), &[]);
    }
    for record in listed.records(&rows) {
        let url = address::of(work.scope, record, &batch, record.text(record::SLUG));
        write_address(&mut out, &url, record.modified(), pictures.of(record.id()), translations.of(record));
    }
    out.push_str("</urlset>\n");
    let newest = newest.max(pictures.newest()).max(translations.newest);
    Ok(Some(Outcome { modified: newest, ..as_document(work, XML, out.into_bytes()) }))
}

/// One address of a part, with the seconds of its last change, its pictures and its translations. Writing to a text cannot fail.
fn write_address<'p>(
    out: &mut String,
    url: &str,
    modified: Option<i64>,
    pictures: impl Iterator<Item = &'p str>,
    translations: &[(String, String)],
) {
    let Some(written) = listed(url) else { return };
    let _ = write!(out, "<url><loc>{written}</loc>");
    if let Some(modified) = modified.filter(|modified| *modified > 0) {
        let _ = write!(out, "<lastmod>{}</lastmod>", format_utc(modified));
    }
    if out.len() < ROOM {
        for (tag, url) in translations {
            if let Some(url) = listed(url) {
                let tag = escape(tag);
                let _ = write!(out, "<xhtml:link rel=\"alternate\" hreflang=\"{tag}\" href=\"{url}\"/>");
            }
        }
        for url in pictures.filter_map(listed) {
            let _ = write!(out, "<image:image><image:loc>{url}</image:loc></image:image>");
        }
    }
    out.push_str("</url>\n");
}

/// An address in ASCII, escaped; `None`: sitemaps take none of this length.
fn listed(url: &str) -> Option<String> {
    let encoded = utf8_percent_encode(url, CONTROLS).to_string();
    (encoded.len() <= LONGEST).then(|| escape(encoded).into_owned())
}

/// The head of a document, up to the beginning of its root, with namespaces beside that of sitemaps.
fn beginning(work: &Work<'_>, declared: &Sitemaps, style: usize, root: &str, more: &[[&str; 2]]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    if let Some(styles) = declared.styles.get() {
        let place = format!("{}{}", work.scope.registry.site.url, styles[style]);
        let _ = writeln!(out, "<?xml-stylesheet type=\"text/xsl\" href=\"{}\" ?>", escape(place));
    }
    let _ = write!(out, "<{root} xmlns=\"{SCHEMA}\"");
    for [prefix, namespace] in more {
        let _ = write!(out, " xmlns:{prefix}=\"{namespace}\"");
    }
    out.push_str(">\n");
    out
}

/// `robots.txt`, which names the sitemap, or forbids everything where the site is not to be found.
fn robots(work: &Work<'_>) -> Outcome {
    let registry = &work.scope.registry;
    let (declaration, site) = (&registry.declaration, &registry.site);
    let mut text = String::new();
    if declaration.site.noindex {
        text.push_str("User-agent: *\nDisallow: /\n");
    } else {
        for line in &declaration.robots.lines {
            text.push_str(&line.replace(['\r', '\n'], " ").replace("{base}", &site.base));
            text.push('\n');
        }
        if declaration.sitemaps.enabled {
            text.push_str(&format!("\nSitemap: {}{}\n", site.url, declaration.sitemaps.index));
        }
    }
    as_document(work, PLAIN, text.into_bytes())
}
