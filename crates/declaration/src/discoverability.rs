//! Feeds, sitemaps, `robots.txt`: by which readers and search engines find the site.

use crate::units::OptionalSetting;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Feeds of the site's public lists: of all records, of one type, of the records of a term, an author, a month or a search, and
/// of comments.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Syndication {
    /// They are served.
    pub enabled: bool,
    /// Last part of a feed's path, after the path of its list and before its format: `/category/news/feed/atom/`.
    #[schemars(regex(pattern = r"^[a-z0-9-]+$"))]
    pub path: String,
    /// Format of a feed whose path names none.
    pub format: FeedFormat,
    /// Other names of formats.
    pub names: IndexMap<String, FeedFormat>,
    /// Further paths of the feed of all records, by path: `/feed.json`.
    pub aliases: IndexMap<String, FeedFormat>,
    /// Path of the list of all comments.
    #[schemars(regex(pattern = r"^/[a-z0-9/-]*[a-z0-9]$"))]
    pub comments: String,
    /// Path above the words of a search.
    #[schemars(regex(pattern = r"^/[a-z0-9/-]*[a-z0-9]$"))]
    pub search: String,
    /// Most records or comments of a feed.
    #[schemars(range(min = 1, max = 100))]
    pub items: u32,
    /// Records are shown by their excerpts; otherwise whole.
    pub excerpts: bool,
    /// The feed of a list that does not exist is empty. Otherwise the response is 404.
    pub empty_if_unknown: bool,
    /// Address of the WebSub hub that feeds name; the server sends it nothing.
    pub hub: OptionalSetting<String>,
}

impl Default for Syndication {
    fn default() -> Self {
        Syndication {
            enabled: true,
            path: "feed".into(),
            format: FeedFormat::Rss2,
            names: IndexMap::new(),
            aliases: IndexMap::new(),
            comments: "/comments".into(),
            search: "/search".into(),
            items: 10,
            excerpts: false,
            empty_if_unknown: false,
            hub: OptionalSetting::OFF,
        }
    }
}

/// How a feed is written.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FeedFormat {
    /// RSS 2.0.
    Rss2,
    /// Atom 1.0.
    Atom,
    /// RSS 1.0.
    Rdf,
    /// JSON Feed 1.1.
    Json,
}

impl FeedFormat {
    /// As declarations and paths write it.
    pub fn name(self) -> &'static str {
        match self {
            FeedFormat::Rss2 => "rss2",
            FeedFormat::Atom => "atom",
            FeedFormat::Rdf => "rdf",
            FeedFormat::Json => "json",
        }
    }
}

impl Syndication {
    /// The format with this name.
    pub fn format_of(&self, name: &str) -> Option<FeedFormat> {
        let own = [FeedFormat::Rss2, FeedFormat::Atom, FeedFormat::Rdf, FeedFormat::Json];
        own.into_iter().find(|format| format.name() == name).or_else(|| self.names.get(name).copied())
    }
}

/// In which feeds the records of a type are.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Syndicated {
    /// In those of the whole site, of authors, months and searches, and of their terms.
    Site,
    /// In one of the type, and in those of their terms and of searches.
    Own,
    /// In none.
    #[default]
    None,
}

/// Sitemaps: an index, and parts with the addresses of published records, of terms that such records have, and of their authors.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sitemaps {
    /// They are served.
    pub enabled: bool,
    /// Path of the index.
    #[schemars(regex(pattern = r"^/[^?#{}]+$"))]
    pub index: String,
    /// Path of a part: `{list}` is the name of its list, `{page}` its number.
    #[schemars(regex(pattern = r"^/[^?#{}]*\{list\}[^?#{}]+\{page\}[^?#{}]*$"))]
    pub part: String,
    /// Names of lists of records, with `{name}`, `{base}` and `{api_name}` of the resource.
    pub records: String,
    /// Names of lists of terms.
    pub terms: String,
    /// Name of the list of authors.
    pub users: String,
    /// Most addresses of a part.
    #[schemars(range(min = 1, max = 50_000))]
    pub addresses: u32,
    /// Most pictures of an address: the featured one, and those of the content whose files are here; 0: none.
    #[schemars(range(max = 1_000))]
    pub pictures: u32,
    /// Addresses name their translations (`hreflang`), where languages are declared.
    pub alternates: bool,
    /// The list with the site's own address, which stands before those of this list: the name of its resource.
    pub home: OptionalSetting<String>,
    /// Paths that redirect to the index.
    pub redirects: Vec<String>,
    /// Paths of the style sheets with which browsers show an index and a part; `false`: none.
    pub styles: OptionalSetting<[String; 2]>,
    /// A part whose list begins like the name of none is the page of the site's own address. Otherwise the response is 404.
    pub home_if_foreign: bool,
}

impl Default for Sitemaps {
    fn default() -> Self {
        Sitemaps {
            enabled: true,
            index: "/sitemap.xml".into(),
            part: "/sitemap-{list}-{page}.xml".into(),
            records: "{name}".into(),
            terms: "{name}".into(),
            users: "users".into(),
            addresses: 5_000,
            pictures: 10,
            alternates: true,
            home: OptionalSetting::OFF,
            redirects: Vec::new(),
            styles: OptionalSetting::OFF,
            home_if_foreign: false,
        }
    }
}

/// Elements of podcasts, by their names without `itunes:`. `image` is an address, `category` a name of a category.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Podcast {
    /// Those of the feed itself: `author = "Harbour Radio"`.
    pub channel: IndexMap<String, String>,
    /// Those of an episode, by templates of its properties: `duration = "{length}"`. What is empty is left out.
    pub item: IndexMap<String, String>,
}

/// `robots.txt`: which paths programs that follow links should leave out.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Robots {
    /// It is served.
    pub enabled: bool,
    /// Its lines. The address of the sitemap follows them.
    pub lines: Vec<String>,
}

impl Default for Robots {
    fn default() -> Self {
        Robots { enabled: true, lines: vec!["User-agent: *".into(), "Disallow:".into()] }
    }
}
