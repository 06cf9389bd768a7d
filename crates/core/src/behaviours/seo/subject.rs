//! The head of an item: a record, a term or an author.

use super::head::{HeadAuthor, HeadPicture, HeadSite, SeoHead};
use super::places::{begun, home, site_members};
use super::texts;
use crate::behaviours::{files, read};
use crate::records::Record;
use crate::registry::columns::{record, seo, term, user};
use crate::registry::seo::{LONGEST_ADDRESS, SeoRules, UsualTemplates, is_member, term_relations, web_address};
use crate::registry::templates::Template;
use crate::render::seo::own_values;
use crate::render::{Item, address};
use cms_declaration::SeoPictureSource;
use cms_storage::plan::DbValue;
use cms_text::dates::format_php_date;
use cms_text::phrase::fill;
use cms_text::render::{self, RenderOptions, render_title};
use cms_text::tags;
use cms_text::words::count_words;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use url::Url;

/// An item whose head is made.
struct SeoSubject<'a, 'i> {
    item: &'i Item<'a>,
    rules: &'i SeoRules,
    /// The values that an editor gives it.
    own: Value,
    link: String,
    /// The page of a list.
    page: Option<u64>,
    terms: Vec<SubjectTerms<'i>>,
}

/// The terms of an item in one taxonomy.
struct SubjectTerms<'i> {
    /// The property that has them.
    property: &'i str,
    hierarchical: bool,
    names: Vec<String>,
    /// The name of the term that a site begins with.
    unfiled: Option<String>,
}

/// The head of an item, or of a page of its list; `None`: its resource has no templates, or no pages of its own.
pub fn head_of(item: &Item<'_>, page: Option<u64>) -> Option<SeoHead> {
    let rules = item.resource.seo.as_ref().filter(|_| item.resource.viewable())?;
    let front = item.resource.is_content() && item.scope.page_of("page_on_front") == Some(item.record.id());
    let link = if front { home(item.scope).1 } else { address::address(item) };
    let subject = SeoSubject { item, rules, own: own_values(item.record), link, page, terms: terms(item) };
    Some(subject.head(front))
}

/// The names of the terms of an item.
fn terms<'i>(item: &'i Item<'_>) -> Vec<SubjectTerms<'i>> {
    let lists = term_relations(item.resource, &item.scope.registry.resources).map(|(relation, taxonomy)| {
        let targets = item.batch.edges.get(&(relation.rel.clone(), item.record.id()));
        let names = targets.into_iter().flatten().filter_map(|id| item.batch.terms.get(id));
        let names = names.map(|term| texts::plain(&term.title)).collect();
        SubjectTerms {
            property: &relation.property,
            hierarchical: taxonomy.declared.hierarchical,
            names,
            unfiled: taxonomy.declared.seed.get("name").cloned(),
        }
    });
    lists.collect()
}

/// How a text of the item is rendered whose markup is dropped: names in that are none of the page's.
fn options_of_text<'a>(item: &Item<'a>) -> RenderOptions<'a> {
    RenderOptions { unique: None, ..read::options(item) }
}

impl SeoSubject<'_, '_> {
    fn head(&self, front: bool) -> SeoHead {
        let (item, scope) = (self.item, self.item.scope);
        let own = |member: &str| Template::parse(&json!(self.own[member].as_str().unwrap_or_default()));
        let rules = if front { &scope.registry.seo.front_page } else { self.rules };
        let templates =
            ["title", "description", "social_title", "social_description", "twitter_title", "twitter_description"];
        let own_templates = templates.map(own);
        let site = HeadSite::of(scope);
        let known = self.members(&site, rules, &own_templates);
        let declared = &scope.registry.declaration.seo;
        let made = |at: usize| {
            let most = if at.is_multiple_of(2) { declared.title_length } else { declared.description_length };
            texts::first(&own_templates[at..=at], &known, most)
        };
        let mut head = begun(scope, rules, &known, site);
        let [title, description, social_title, social_description, twitter_title, twitter_description] =
            [0, 1, 2, 3, 4, 5].map(made);
        // Networks are told the same as search engines, unless they have something of their own.
        for (own, social, told, shared) in [
            (title, social_title, &mut head.title, &mut head.social_title),
            (description, social_description, &mut head.description, &mut head.social_description),
        ] {
            if !own.is_empty() {
                (*told, *shared) = (own.clone(), own);
            }
            if !social.is_empty() {
                *shared = social;
            }
        }
        (head.twitter_title, head.twitter_description) = (twitter_title, twitter_description);
        head.declared = rules.schema.as_ref().and_then(|schema| schema.filled(&known));
        head.link.clone_from(&self.link);
        head.canonical = self.canonical().unwrap_or_else(|| self.link.clone());
        self.limit(&mut head);
        head.main_picture = self.main_picture();
        head.picture = self.picture().or(head.picture);
        head.twitter_picture = self.own["twitter_picture"].as_i64().and_then(|id| self.file(id));
        head.trail = self.trail(front);
        match item.resource.is_content() {
            true => self.describe_record(&mut head, front),
            false => self.describe_other(&mut head),
        }
        head
    }

    /// The members that templates name.
    fn members(&self, site: &HeadSite, rules: &SeoRules, own: &[Template]) -> Map<String, Value> {
        let mut known = site_members(self.item.scope, site, self.page);
        let own: HashSet<&str> = own.iter().flat_map(Template::references).map(|member| member.of.as_str()).collect();
        let wanted = |member: &str| rules.uses(member) || own.contains(member);
        for terms in &self.terms {
            known.insert(terms.property.to_owned(), json!(terms.names));
        }
        let built_in = UsualTemplates::of(self.item.resource).map_or(&[][..], |(_, built_in)| built_in);
        for property in &self.item.resource.properties {
            let name = property.name.as_str();
            let plain = |value: Value| value.as_str().map_or(value.clone(), |text| json!(texts::plain(text)));
            if is_member(property) && wanted(name) && !built_in.contains(&name) && !known.contains_key(name) {
                known.extend(self.item.value(property).map(|value| (name.to_owned(), plain(value))));
            }
        }
        for member in built_in.iter().filter(|member| wanted(member)) {
            known.extend(self.member(member).map(|text| ((*member).to_owned(), json!(text))));
        }
        known
    }

    /// The text of a member that is no property.
    fn member(&self, member: &str) -> Option<String> {
        let (item, record) = (self.item, self.item.record);
        let open = |text: String| if item.open() { text } else { String::new() };
        Some(match member {
            // As it is written: search engines and networks set no type.
            "title" if item.resource.is_content() => texts::plain(record.text(record::TITLE)),
            "title" => self.name(),
            "link" => self.link.clone(),
            "picture" => self.picture()?.url,
            "description" => texts::plain(record.text(term::DESCRIPTION)),
            "excerpt" => open(texts::plain(record.text(record::EXCERPT))),
            "beginning" => {
                let options = options_of_text(item);
                open(texts::plain(&render::plain_excerpt(
                    record.text(record::CONTENT),
                    options.excerpt_words,
                    &options,
                )))
            }
            "first_paragraph" => {
                open(texts::plain(&render::first_paragraph(record.text(record::CONTENT), &options_of_text(item))))
            }
            "author" => texts::plain(&item.batch.seo.authors.get(&record.int(record::AUTHOR))?.name),
            "date" | "modified" => {
                let column = if member == "date" { record::DATE_LOCAL } else { record::MODIFIED_LOCAL };
                let settings = &item.scope.settings;
                format_php_date(record.int(column), settings.text("date_format"), settings.locale())
            }
            "parent" => self.above().next()?.0,
            _ => return None,
        })
    }

    /// The name of the item as plain text.
    fn name(&self) -> String {
        let record = self.item.record;
        if !self.item.resource.is_content() {
            return texts::plain(record.text(term::NAME));
        }
        let title = texts::plain(&render_title(record.text(record::TITLE)));
        match record.text(record::PASSWORD) {
            "" => title,
            _ => fill(self.item.scope.phrase("Protected: {title}"), &[("title", &title)]),
        }
    }

    /// The address that an editor gives, where it is one of the web.
    fn canonical(&self) -> Option<String> {
        let url = web_address(self.own["canonical"].as_str()?)?;
        let links = self.item.scope.registry.site.links.as_ref();
        Some(links.and_then(|links| links.in_front(url.as_str())).unwrap_or_else(|| url.to_string()))
    }

    /// Sets the limits of search engines.
    fn limit(&self, head: &mut SeoHead) {
        let (record, registry) = (self.item.record, &self.item.scope.registry);
        if let DbValue::Int(own) = record.value(seo::NOINDEX) {
            head.robots.index = *own == 0 && !registry.declaration.site.noindex;
        }
        let public = |status: &str| registry.status_is(status, |status| status.public || status.inherits);
        if self.item.resource.is_content() && !public(record.text(record::STATUS)) {
            head.robots.index = false;
        }
        head.robots.follow = self.own["nofollow"] != true;
        let directives = self.own["directives"].as_array().into_iter().flatten();
        head.robots.directives = directives.filter_map(Value::as_str).map(str::to_owned).collect();
    }

    /// The picture of the item.
    fn picture(&self) -> Option<HeadPicture> {
        let own = self.own["picture"].as_i64().and_then(|id| self.file(id));
        let given = || {
            let url = self.own["picture_url"].as_str().filter(|url| !url.is_empty())?;
            Some(HeadPicture { url: self.absolute(url)?, ..HeadPicture::default() })
        };
        own.or_else(given).or_else(|| self.main_picture())
    }

    /// The picture that stands on the page of the item.
    fn main_picture(&self) -> Option<HeadPicture> {
        let item = self.item;
        if item.resource.supports("files") {
            return self.of_file(item.record);
        }
        let found = |source: &SeoPictureSource| match source {
            SeoPictureSource::Featured => self.file(item.record.int(record::FEATURED_MEDIA)),
            SeoPictureSource::First => {
                let first = item.batch.seo.first.get(&item.record.id()).filter(|_| item.open())?;
                let file = first.id.and_then(|id| self.file(id));
                file.or_else(|| {
                    Some(HeadPicture {
                        url: self.absolute(&first.url)?,
                        width: first.width,
                        height: first.height,
                        alt: texts::plain(&first.alt),
                        media_type: String::new(),
                    })
                })
            }
        };
        self.rules.pictures.iter().find_map(found)
    }

    /// An address of the web; one without a host is below the site.
    fn absolute(&self, url: &str) -> Option<String> {
        let base = Url::parse(&format!("{}/", self.item.scope.registry.site.url)).ok()?;
        let url = base.join(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        Some(url.to_string()).filter(|url| url.len() <= LONGEST_ADDRESS)
    }

    fn file(&self, id: i64) -> Option<HeadPicture> {
        let resource = self.item.scope.registry.content_types().find(|kind| kind.supports("files"))?;
        let row = self.item.batch.seo.files.get(&id)?;
        self.of_file(Record { resource, row })
    }

    fn of_file(&self, file: Record<'_>) -> Option<HeadPicture> {
        let media_type = Some(file.text(record::MIME)).filter(|kind| kind.starts_with("image/"))?;
        let extra = files::extra_of(file);
        let side = |name: &str| extra["media_details"][name].as_i64().filter(|side| *side > 0);
        Some(HeadPicture {
            url: files::source_in(self.item.scope, file, &extra),
            width: side("width"),
            height: side("height"),
            media_type: media_type.to_owned(),
            alt: texts::plain(extra["alt_text"].as_str().unwrap_or_default()),
        })
    }

    /// Names and addresses of the items above that everybody may know, the nearest first.
    fn above(&self) -> impl Iterator<Item = (String, String)> {
        let batch = self.item.batch;
        let places = if self.item.resource.is_content() { &batch.places } else { &batch.terms };
        let ids = batch.seo.above.get(&self.item.record.id()).into_iter().flatten();
        let known = ids.filter_map(|id| places.get(id).filter(|place| place.open));
        known.map(|place| (texts::plain(&place.title), place.address.clone()))
    }

    fn trail(&self, front: bool) -> Vec<(String, String)> {
        let mut trail: Vec<(String, String)> = self.above().collect();
        trail.push(home(self.item.scope));
        trail.reverse();
        if !front {
            trail.push((self.name(), self.link.clone()));
        }
        trail
    }

    fn describe_record(&self, head: &mut SeoHead, front: bool) {
        let (item, record) = (self.item, self.item.record);
        let author = record.int(record::AUTHOR);
        let article = self.rules.article && !front;
        let known = item.batch.seo.authors.get(&author).filter(|_| article);
        head.author = known.map(|known| HeadAuthor {
            id: author,
            name: texts::plain(&known.name),
            description: texts::plain(&known.description),
            address: known.address.clone(),
            picture: read::avatar_url(&known.email, 96),
            same_as: known.url.to_string(),
        });
        head.words = item.open().then(|| count_words(record.text(record::CONTENT)) as u64);
        head.pictures = tags::values(record.text(record::CONTENT), &["img"], "src").count() as u64;
        head.comments = record.takes_comments().then(|| record.int(record::COMMENT_COUNT));
        for terms in &self.terms {
            let names = if terms.hierarchical { &mut head.sections } else { &mut head.tags };
            // The term of what nobody has filed says nothing.
            names.extend(terms.names.iter().filter(|name| Some(*name) != terms.unfiled.as_ref()).cloned());
        }
        if front {
            head.modified = record.modified();
            return;
        }
        head.published = Some(record.int(record::DATE_UTC)).filter(|date| *date > 0);
        head.modified = record.modified().filter(|date| *date > 0);
        if article {
            head.headline = self.name();
        }
    }

    fn describe_other(&self, head: &mut SeoHead) {
        let record = self.item.record;
        head.page = "CollectionPage";
        if self.item.resource.is_users() {
            head.page = "ProfilePage";
            head.author = Some(HeadAuthor {
                id: record.id(),
                name: self.name(),
                description: texts::plain(record.text(user::DESCRIPTION)),
                address: self.link.clone(),
                picture: read::avatar_url(record.text(user::EMAIL), 96),
                same_as: record.text(user::URL).to_owned(),
            });
        }
    }
}
