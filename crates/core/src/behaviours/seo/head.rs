//! The head of one place of the site, for search engines and social networks.

use super::graph;
use crate::scope::Scope;
use cms_declaration::{Seo, SeoRobots};
use cms_text::time::format_utc;
use serde_json::{Value, json};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct SeoHead {
    /// The address of the place itself; empty where nothing is.
    pub link: String,
    pub title: String,
    pub description: String,
    /// The address that search engines are to know; empty: none.
    pub canonical: String,
    pub robots: HeadRobots,
    /// The type in Open Graph.
    pub kind: String,
    pub social_title: String,
    pub social_description: String,
    /// Own ones for X; empty: as in other networks.
    pub twitter_title: String,
    pub twitter_description: String,
    pub twitter_picture: Option<HeadPicture>,
    pub picture: Option<HeadPicture>,
    /// The picture that stands on the page.
    pub main_picture: Option<HeadPicture>,
    /// Seconds since 1970.
    pub published: Option<i64>,
    pub modified: Option<i64>,
    pub author: Option<HeadAuthor>,
    pub sections: Vec<String>,
    pub tags: Vec<String>,
    pub words: Option<u64>,
    /// Pictures in the text.
    pub pictures: u64,
    /// Comments, where everybody may add some.
    pub comments: Option<i64>,
    /// Names and addresses of the places above, from the site's own address down to this place.
    pub trail: Vec<(String, String)>,
    /// The type of the page in schema.org.
    pub page: &'static str,
    /// The headline of an article; empty where it is none. Articles alone have an author.
    pub headline: String,
    /// The declared object of schema.org.
    pub declared: Option<Value>,
    pub site: HeadSite,
}

/// The limits of search engines at a place.
#[derive(Clone, Debug)]
pub struct HeadRobots {
    pub index: bool,
    pub follow: bool,
    pub limits: SeoRobots,
    /// Further words, such as `noarchive`.
    pub directives: Vec<String>,
}

impl Default for HeadRobots {
    fn default() -> Self {
        HeadRobots { index: true, follow: true, limits: SeoRobots::default(), directives: Vec::new() }
    }
}

/// A picture that networks show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadPicture {
    pub url: String,
    pub width: Option<i64>,
    pub height: Option<i64>,
    pub media_type: String,
    pub alt: String,
}

/// The author of a record.
#[derive(Clone, Debug, Default)]
pub struct HeadAuthor {
    pub id: i64,
    pub name: String,
    pub description: String,
    pub address: String,
    /// Address of the picture.
    pub picture: String,
    pub same_as: String,
}

/// Facts about the site.
#[derive(Clone, Debug, Default)]
pub struct HeadSite {
    pub name: String,
    pub description: String,
    /// With a final slash.
    pub home: String,
    /// As in `en_US`.
    pub locale: String,
    /// The address of a search without its words; empty: there is none.
    pub search: String,
    pub publisher: Option<HeadPublisher>,
    /// Account on X.
    pub twitter: String,
    /// The page on Facebook.
    pub facebook: String,
    pub words_per_minute: u64,
}

/// The organization that publishes the site.
#[derive(Clone, Debug, Default)]
pub struct HeadPublisher {
    pub name: String,
    pub logo: Option<String>,
    pub same_as: Vec<String>,
}

impl HeadSite {
    /// The facts of the site as it is now.
    pub fn of(scope: &Scope) -> HeadSite {
        let (registry, settings) = (&scope.registry, &scope.settings);
        let declared = &registry.declaration.seo;
        let home = format!("{}/", registry.site.front);
        let name = super::texts::plain(settings.text("title"));
        let words = registry.declaration.addresses.words();
        let publisher = declared.publisher.get().map(|publisher| HeadPublisher {
            name: if publisher.name.is_empty() { name.clone() } else { publisher.name.clone() },
            logo: publisher.logo.get().cloned(),
            same_as: publisher.same_as.clone(),
        });
        HeadSite {
            description: super::texts::plain(settings.text("description")),
            locale: settings.locale().to_owned(),
            search: words.map_or_else(String::new, |words| format!("{home}?{words}=")),
            twitter: declared.twitter_site.get().cloned().unwrap_or_default(),
            facebook: declared.facebook_page.get().cloned().unwrap_or_default(),
            words_per_minute: words_per_minute(declared, settings.locale()),
            publisher,
            home,
            name,
        }
    }

    /// The language as documents on the web name it: `en-US`.
    pub fn language(&self) -> String {
        self.locale.replace('_', "-")
    }
}

/// Words that people read in a minute, unless it is declared.
const SPEED: u64 = 200;

/// Seconds that people look at a picture.
const LOOK: u64 = 12;

fn words_per_minute(declared: &Seo, locale: &str) -> u64 {
    let speeds = &declared.words_per_minute;
    let language = locale.split(['_', '-']).next().unwrap_or_default();
    speeds.get(language).or_else(|| speeds.get("other")).map_or(SPEED, |speed| u64::from(speed.get()))
}

impl HeadPicture {
    fn document(&self) -> Value {
        json!({
            "url": self.url,
            "width": self.width,
            "height": self.height,
            "type": self.media_type,
            "alt": self.alt,
        })
    }
}

impl SeoHead {
    /// The minutes that it takes to read.
    pub fn minutes(&self) -> Option<u64> {
        let speed = self.site.words_per_minute;
        let minutes = self.words.map(|words| (60 * words + LOOK * self.pictures * speed).div_ceil(60 * speed));
        minutes.filter(|minutes| *minutes > 0)
    }

    /// The page of the site on Facebook, which records name.
    pub fn facebook(&self) -> &str {
        if self.modified.is_some() { &self.site.facebook } else { "" }
    }

    /// The document that is shown.
    pub fn document(&self) -> Value {
        let none = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let robots = &self.robots;
        let pictures: Vec<Value> = self.picture.iter().map(HeadPicture::document).collect();
        let twitter_picture = self.twitter_picture.as_ref().or(self.picture.as_ref());
        let or = |own: &str, other: &str| if own.is_empty() { other.to_owned() } else { own.to_owned() };
        json!({
            "title": self.title,
            "description": self.description,
            "canonical": none(&self.canonical),
            "robots": {
                "index": robots.index,
                "follow": robots.follow,
                "max_snippet": robots.limits.max_snippet,
                "max_image_preview": robots.limits.max_image_preview,
                "max_video_preview": robots.limits.max_video_preview,
                "directives": robots.directives,
            },
            "open_graph": {
                "type": self.kind,
                "title": self.social_title,
                "description": self.social_description,
                "url": none(&self.canonical),
                "site_name": self.site.name,
                "locale": self.site.locale,
                "published_time": self.published.map(format_utc),
                "modified_time": self.modified.map(format_utc),
                "publisher": none(self.facebook()),
                "section": self.sections.first(),
                "tags": self.tags,
                "images": pictures,
            },
            "twitter": {
                "card": if twitter_picture.is_some() { "summary_large_image" } else { "summary" },
                "title": or(&self.twitter_title, &self.social_title),
                "description": or(&self.twitter_description, &self.social_description),
                "image": twitter_picture.map(|picture| &picture.url),
                "site": none(&self.site.twitter),
            },
            "schema": graph::nodes(self),
        })
    }
}
