//! Templates for search engines and social networks, compiled: those of each resource and of each other place.
//!
//! Values are filled in once and are no templates themselves, so nothing in them is expanded.

use super::resource::{Context, Property, PropertyKind, PropertySource, Relation, Resource};
use super::templates::Template;
use cms_declaration::{SeoPictureSource, SeoTemplates};
use std::collections::HashSet;
use url::Url;

/// Most characters of a template.
pub const LONGEST: usize = 1_000;

/// Most bytes of an address that somebody gives.
pub const LONGEST_ADDRESS: usize = 2_000;

/// An address that somebody gives, where it is one of the web: its scheme is `http` or `https`, and it holds no credentials.
pub fn web_address(text: &str) -> Option<Url> {
    let text = text.trim();
    let url = Url::parse(text).ok().filter(|_| text.len() <= LONGEST_ADDRESS)?;
    let web = matches!(url.scheme(), "http" | "https") && url.has_host();
    (web && url.username().is_empty() && url.password().is_none()).then_some(url)
}

/// Members that templates of every place have.
pub const ANYWHERE: [&str; 5] = ["site.title", "site.description", "site.url", "separator", "page"];

/// The templates of a place or of the items of a resource.
#[derive(Clone, Debug, Default)]
pub struct SeoRules {
    pub title: Vec<Template>,
    pub description: Vec<Template>,
    /// Empty: the title is the one.
    pub social_title: Vec<Template>,
    pub social_description: Vec<Template>,
    pub pictures: Vec<SeoPictureSource>,
    /// The type in Open Graph.
    pub kind: String,
    pub noindex: bool,
    /// Items are articles.
    pub article: bool,
    /// The declared object of schema.org.
    pub schema: Option<Template>,
    /// The first words of all members.
    members: HashSet<String>,
}

impl SeoRules {
    /// Compiles templates; lists and texts that are not given are those of `usual`.
    pub fn of(declared: &SeoTemplates, usual: &UsualTemplates) -> SeoRules {
        let list = |own: &[String], usual: &[&str]| -> Vec<Template> {
            match own {
                [] => usual.iter().map(|text| Template::parse(&(*text).into())).collect(),
                own => own.iter().map(|text| Template::parse(&text.as_str().into())).collect(),
            }
        };
        let pictures = match declared.pictures.as_slice() {
            [] => vec![SeoPictureSource::Featured, SeoPictureSource::First],
            own => own.to_vec(),
        };
        let schema = (!declared.schema.is_empty()).then(|| Template::parse(&declared.schema.clone().into()));
        let mut rules = SeoRules {
            title: list(&declared.title, usual.title),
            description: list(&declared.description, usual.description),
            social_title: list(&declared.social_title, &[]),
            social_description: list(&declared.social_description, &[]),
            pictures,
            kind: if declared.kind.is_empty() { usual.kind.to_owned() } else { declared.kind.clone() },
            noindex: declared.noindex,
            article: declared.article.unwrap_or(usual.article),
            schema,
            members: HashSet::new(),
        };
        rules.members = rules.templates().flat_map(Template::references).map(|member| member.of.clone()).collect();
        rules
    }

    /// All of its templates.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let lists = [&self.title, &self.description, &self.social_title, &self.social_description];
        lists.into_iter().flatten().chain(&self.schema)
    }

    /// Whether a member, or a part of it, occurs in one of the templates.
    pub fn uses(&self, member: &str) -> bool {
        self.members.contains(member)
    }
}

/// The templates of items whose resource declares none.
#[derive(Clone, Copy, Debug)]
pub struct UsualTemplates {
    pub title: &'static [&'static str],
    pub description: &'static [&'static str],
    pub kind: &'static str,
    pub article: bool,
}

const TITLE: &[&str] = &["{title} {page} {separator} {site.title}"];

impl UsualTemplates {
    /// Those of places that are no items.
    pub const PLACE: UsualTemplates =
        UsualTemplates { title: TITLE, description: &[], kind: "website", article: false };

    /// Those of a resource, with the members that its templates have beside its properties; `None`: its items have no addresses that
    /// search engines read.
    pub fn of(resource: &Resource) -> Option<(UsualTemplates, &'static [&'static str])> {
        let usual = |description, kind| UsualTemplates { title: TITLE, description, kind, article: false };
        if resource.is_content() {
            let article = !resource.declared.hierarchical && !resource.supports("files");
            let records = usual(&["{excerpt}", "{first_paragraph}"], "article");
            return Some((UsualTemplates { article, ..records }, &OF_RECORDS));
        }
        let described = usual(&["{description}"], if resource.is_users() { "profile" } else { "website" });
        if resource.is_users() {
            return Some((described, &OF_USERS));
        }
        resource.is_taxonomy().then_some((described, &OF_TERMS))
    }
}

/// Members of the templates of records that are no properties.
const OF_RECORDS: [&str; 10] =
    ["title", "excerpt", "beginning", "first_paragraph", "author", "date", "modified", "parent", "link", "picture"];

const OF_TERMS: [&str; 5] = ["title", "description", "parent", "link", "picture"];

const OF_USERS: [&str; 4] = ["title", "description", "link", "picture"];

/// Whether a property is a member of templates: its value is one text or number of the row that everybody may read.
pub fn is_member(property: &Property) -> bool {
    let stored = matches!(property.source, PropertySource::Column(_) | PropertySource::Read(_, Some(_)));
    stored && property.contexts.shows_in(Context::VIEW) && property.kind != PropertyKind::Json
}

/// The relations to the terms that templates name, with their taxonomies: everybody may read which terms an item has.
pub fn term_relations<'r>(
    resource: &'r Resource,
    all: &'r [Resource],
) -> impl Iterator<Item = (&'r Relation, &'r Resource)> {
    let is_shown = |relation: &&Relation| {
        let property = resource.property(&relation.property);
        relation.is_list() && property.is_some_and(|property| property.contexts.shows_in(Context::VIEW))
    };
    let relations = resource.relations.iter().filter(is_shown).map(|relation| (relation, &all[relation.to]));
    relations.filter(|(_, taxonomy)| taxonomy.is_taxonomy())
}

/// The templates of places that are no items.
#[derive(Clone, Debug, Default)]
pub struct SiteSeo {
    pub front_page: SeoRules,
    pub archive: SeoRules,
    pub date: SeoRules,
    pub search: SeoRules,
    pub not_found: SeoRules,
}
