//! Titles, descriptions, pictures and structured data for search engines and social networks.
//!
//! Templates are texts with members in braces: `{title} {separator} {site.title}`. Of several templates the first one that gives
//! a text counts.

use super::route::SchemaDoc;
use crate::units::OptionalSetting;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Titles, descriptions and the like of the site for search engines and social networks. The resources that have a `seo` block have titles and
/// descriptions of their own; the other places of the site are here.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seo {
    /// The text of `{separator}`.
    pub separator: String,
    /// Most characters of a title; a longer one is cut between words.
    #[schemars(range(min = 10, max = 1000))]
    pub title_length: u32,
    /// Most characters of a description.
    #[schemars(range(min = 10, max = 1000))]
    pub description_length: u32,
    /// How much of a page search engines may show.
    pub robots: SeoRobots,
    /// The organization that publishes the site.
    pub publisher: OptionalSetting<SeoPublisher>,
    /// Account of the site on X, such as `@example`.
    pub twitter_site: OptionalSetting<String>,
    /// Address of the site's page on Facebook.
    pub facebook_page: OptionalSetting<String>,
    /// Words that people read in a minute, by language: `en = 228`; `other` is for the other languages.
    pub words_per_minute: IndexMap<String, NonZeroU32>,
    /// Address of a picture for what has none.
    pub picture: OptionalSetting<String>,
    /// The site's own address.
    pub front_page: SeoTemplates,
    /// The page that lists the records of a type; `{title}` is the name of the type.
    pub archive: SeoTemplates,
    /// A year, a month or a day; `{title}` is its name.
    pub date: SeoTemplates,
    /// The list of a search; `{words}` are those that are searched for.
    pub search: SeoTemplates,
    /// An address that nothing has.
    pub not_found: SeoTemplates,
    /// Meta keys of other programs whose values an import takes over, by key. Of several keys for one member the first one that has
    /// a value counts.
    pub import: IndexMap<String, SeoImport>,
    /// Members of templates by the names of variables in such values: `sitename = "{site.title}"`. An import leaves other variables
    /// out, and its report counts them.
    pub variables: IndexMap<String, String>,
}

impl Default for Seo {
    fn default() -> Self {
        let titled = |title: &str| SeoTemplates { title: vec![title.into()], ..SeoTemplates::default() };
        Seo {
            separator: "–".into(),
            title_length: 300,
            description_length: 320,
            robots: SeoRobots::default(),
            publisher: OptionalSetting::OFF,
            twitter_site: OptionalSetting::OFF,
            facebook_page: OptionalSetting::OFF,
            words_per_minute: IndexMap::new(),
            picture: OptionalSetting::OFF,
            front_page: SeoTemplates {
                description: vec!["{site.description}".into()],
                ..titled("{site.title} {page} {separator} {site.description}")
            },
            archive: titled("{title} {page} {separator} {site.title}"),
            date: titled("{title} {page} {separator} {site.title}"),
            search: SeoTemplates { noindex: true, ..titled("{words} {page} {separator} {site.title}") },
            not_found: SeoTemplates { noindex: true, ..titled("404 {separator} {site.title}") },
            import: IndexMap::new(),
            variables: IndexMap::new(),
        }
    }
}

/// See [`Seo::robots`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeoRobots {
    /// Most characters of a text; -1: as many as they like.
    #[schemars(range(min = -1))]
    pub max_snippet: i32,
    /// The size of a picture.
    pub max_image_preview: PicturePreview,
    /// Most seconds of a video; -1: as many as they like.
    #[schemars(range(min = -1))]
    pub max_video_preview: i32,
}

impl Default for SeoRobots {
    fn default() -> Self {
        SeoRobots { max_snippet: -1, max_image_preview: PicturePreview::Large, max_video_preview: -1 }
    }
}

/// See [`SeoRobots::max_image_preview`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PicturePreview {
    None,
    Standard,
    Large,
}

impl PicturePreview {
    /// As declarations and pages write it.
    pub fn name(self) -> &'static str {
        match self {
            PicturePreview::None => "none",
            PicturePreview::Standard => "standard",
            PicturePreview::Large => "large",
        }
    }
}

/// See [`Seo::publisher`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeoPublisher {
    /// Its name; empty: the site's.
    pub name: String,
    /// Address of its logo.
    pub logo: OptionalSetting<String>,
    /// Addresses of its pages elsewhere.
    pub same_as: Vec<String>,
}

/// Templates for one place of the site, or for all items of a resource. A list without templates is the usual one of such items.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeoTemplates {
    /// The title.
    pub title: Vec<String>,
    /// The description; `[""]`: none unless the item has one of its own.
    pub description: Vec<String>,
    /// The title in social networks; without templates: the title.
    pub social_title: Vec<String>,
    /// The description in social networks, where there is no other.
    pub social_description: Vec<String>,
    /// Where a picture is looked for, in this order.
    pub pictures: Vec<SeoPictureSource>,
    /// The type in Open Graph: `article`, `website`, `profile`.
    #[schemars(regex(pattern = r"^[a-z_.]*$"))]
    pub kind: String,
    /// Records are articles, with a headline, an author and a time of publication. Absent: those of types without a hierarchy are,
    /// but for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article: Option<bool>,
    /// Search engines leave these pages out, unless an item says otherwise.
    pub noindex: bool,
    /// An object of schema.org that describes an item in place of the article: `"@type" = "Event"`, `startDate = "{start}"`. Texts
    /// are templates; members whose value is not there are left out.
    pub schema: SchemaDoc,
}

/// See [`SeoTemplates::pictures`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SeoPictureSource {
    /// The featured picture.
    Featured,
    /// The first picture of the content.
    First,
}

/// See [`Seo::import`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SeoImport {
    /// The member of `seo_values` that gets the value; none where its form says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<SeoMember>,
    /// The form of the value.
    #[serde(rename = "as")]
    pub form: SeoImportForm,
}

/// See [`SeoImport::to`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeoMember {
    Title,
    Description,
    Canonical,
    Picture,
    PictureUrl,
    SocialTitle,
    SocialDescription,
    TwitterTitle,
    TwitterDescription,
    TwitterPicture,
}

impl SeoMember {
    /// As documents have it.
    pub fn name(self) -> &'static str {
        match self {
            SeoMember::Title => "title",
            SeoMember::Description => "description",
            SeoMember::Canonical => "canonical",
            SeoMember::Picture => "picture",
            SeoMember::PictureUrl => "picture_url",
            SeoMember::SocialTitle => "social_title",
            SeoMember::SocialDescription => "social_description",
            SeoMember::TwitterTitle => "twitter_title",
            SeoMember::TwitterDescription => "twitter_description",
            SeoMember::TwitterPicture => "twitter_picture",
        }
    }
}

/// See [`SeoImport::form`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeoImportForm {
    /// A text with variables such as `%%title%%`.
    TwoPercents,
    /// A text with variables such as `%title%`.
    Percents,
    /// A text with variables such as `#post_title`.
    Hashes,
    /// An address of the web.
    Address,
    /// The number that a file has in the export.
    File,
    /// 1 or `on`: search engines leave the item out; 2: they do not.
    Noindex,
    /// 1 or `on`: they follow no links.
    Nofollow,
    /// A list of words for search engines, with commas or serialised by PHP.
    Words,
    /// `seo_values` as an export of this program has them, serialised by PHP: the values of plugins do not count beside them.
    Own,
    /// `noindex` as an export of this program has it, 1 or empty: as `own`.
    OwnNoindex,
}

impl SeoImportForm {
    /// Whether an export of this program has the value, not a plugin.
    pub fn is_own(self) -> bool {
        matches!(self, SeoImportForm::Own | SeoImportForm::OwnNoindex)
    }
}
