//! Heads of places that are no items: the site's own address, lists of a type, dates, searches, what is not there.

use super::head::{HeadPicture, HeadRobots, HeadSite, SeoHead};
use super::texts;
use crate::registry::seo::SeoRules;
use crate::registry::templates::Template;
use crate::scope::Scope;
use cms_text::phrase::fill;
use serde_json::{Map, Value, json};

/// A place that is no item.
#[derive(Clone, Debug)]
pub enum SeoPlace {
    FrontPage,
    /// The list of a type, by the name of the type.
    Archive(String),
    /// A period, by its name.
    Date(String),
    /// A search for words.
    Search(String),
}

impl SeoPlace {
    /// The head of the place at an address, which is a page of a list perhaps.
    pub fn head(&self, scope: &Scope, link: &str, page: Option<u64>) -> SeoHead {
        let (rules, site) = (&scope.registry.seo, HeadSite::of(scope));
        let mut known = site_members(scope, &site, page);
        let (rules, name, kind) = match self {
            SeoPlace::FrontPage => (&rules.front_page, "", "CollectionPage"),
            SeoPlace::Archive(name) => (&rules.archive, name.as_str(), "CollectionPage"),
            SeoPlace::Date(name) => (&rules.date, name.as_str(), "CollectionPage"),
            SeoPlace::Search(words) => (&rules.search, words.as_str(), "SearchResultsPage"),
        };
        let name = texts::plain(name);
        let member = if matches!(self, SeoPlace::Search(_)) { "words" } else { "title" };
        known.insert(member.to_owned(), json!(name));
        let mut head = begun(scope, rules, &known, site);
        if !matches!(self, SeoPlace::FrontPage) {
            head.trail = vec![home(scope), (name, link.to_owned())];
        }
        SeoHead { link: link.to_owned(), canonical: link.to_owned(), page: kind, ..head }
    }
}

/// The head of an address that nothing has.
pub fn not_found(scope: &Scope) -> SeoHead {
    let site = HeadSite::of(scope);
    begun(scope, &scope.registry.seo.not_found, &site_members(scope, &site, None), site)
}

/// The members of every template.
pub(super) fn site_members(scope: &Scope, site: &HeadSite, page: Option<u64>) -> Map<String, Value> {
    let page = page.filter(|page| *page > 1).map(|page| page.to_string());
    let page = page.map_or_else(String::new, |page| fill(scope.phrase("Page {page}"), &[("page", &page)]));
    Map::from_iter([
        ("site".to_owned(), json!({"title": site.name, "description": site.description, "url": site.home})),
        ("separator".to_owned(), json!(scope.registry.declaration.seo.separator)),
        ("page".to_owned(), json!(page)),
    ])
}

/// The first step of each trail.
pub(super) fn home(scope: &Scope) -> (String, String) {
    (scope.phrase("Home").to_owned(), format!("{}/", scope.registry.site.front))
}

/// A head as far as templates and declarations say.
pub(super) fn begun(scope: &Scope, rules: &SeoRules, known: &Map<String, Value>, site: HeadSite) -> SeoHead {
    let declared = &scope.registry.declaration.seo;
    let title = |templates: &[Template]| texts::first(templates, known, declared.title_length);
    let description = |templates: &[Template]| texts::first(templates, known, declared.description_length);
    let or = |own: String, other: &str| if own.is_empty() { other.to_owned() } else { own };
    let (shown, told) = (title(&rules.title), description(&rules.description));
    let robots = HeadRobots {
        index: !rules.noindex && !scope.registry.declaration.site.noindex,
        limits: declared.robots.clone(),
        ..HeadRobots::default()
    };
    SeoHead {
        social_title: or(title(&rules.social_title), &shown),
        social_description: or(told.clone(), &description(&rules.social_description)),
        title: shown,
        description: told,
        robots,
        kind: rules.kind.clone(),
        picture: declared.picture.get().map(|url| HeadPicture { url: url.clone(), ..HeadPicture::default() }),
        page: "WebPage",
        site,
        ..SeoHead::default()
    }
}
