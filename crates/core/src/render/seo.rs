//! Rows that titles and descriptions for search engines show beside the item's own: authors, pictures, terms, the rows above.
//! They are read once for a whole list.

use super::{Batch, Needs, address};
use crate::access::policy;
use crate::error::ApiError;
use crate::records::{self, Record, is_in};
use crate::registry::columns::{ID, record, seo, user};
use crate::registry::resource::Resource;
use crate::registry::seo::term_relations;
use crate::scope::Scope;
use cms_declaration::SeoPictureSource;
use cms_storage::Snapshot;
use cms_storage::plan::{Name, Row};
use cms_text::tags;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// See the module's description.
#[derive(Default)]
pub struct SeoRows {
    /// By id.
    pub authors: HashMap<i64, SeoAuthor>,
    /// Files by id, as far as the caller may read them.
    pub files: HashMap<i64, Row>,
    /// The first picture of a content, by record.
    pub first: HashMap<i64, ContentPicture>,
    /// The ids of the rows above an item, the nearest first.
    pub above: HashMap<i64, Vec<i64>>,
}

/// An author as search engines are told of one.
pub struct SeoAuthor {
    pub name: Arc<str>,
    pub description: Arc<str>,
    pub email: Arc<str>,
    /// A site of the author's own.
    pub url: Arc<str>,
    pub address: String,
}

/// A picture in a content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContentPicture {
    pub url: String,
    pub alt: String,
    pub width: Option<i64>,
    pub height: Option<i64>,
    /// The file, where the markup names one.
    pub id: Option<i64>,
}

/// The first picture of a content that has an address.
pub fn first_picture(content: &str) -> Option<ContentPicture> {
    let found = tags::first_with(content, "img", "src", &["alt", "width", "height", "class"])?;
    let [url, alt, width, height, class]: [String; 5] = found.try_into().ok()?;
    let number = |text: &str| text.trim().parse::<i64>().ok().filter(|number| *number > 0);
    let id = class.split_whitespace().find_map(|class| number(class.strip_prefix("wp-image-")?));
    Some(ContentPicture { width: number(&width), height: number(&height), id, url, alt })
}

/// The values that an editor gives an item.
pub fn own_values(record: Record<'_>) -> Value {
    serde_json::from_str(record.text(seo::VALUES)).unwrap_or(Value::Null)
}

/// Members of own values that are pictures.
pub const PICTURES: [&str; 2] = ["picture", "twitter_picture"];

/// Most rows above an item that are named.
const MOST_ABOVE: usize = 20;

impl Batch {
    /// Everything that search engines are told of rows beside them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn for_seo(
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
    ) -> Result<Batch, ApiError> {
        let mut batch = Batch::default();
        let ids = rows.iter().map(|row| Record { resource, row }.id()).collect();
        batch.load_companions(snapshot, scope, resource, ids, Needs::SEO)?;
        batch.load_addresses(snapshot, scope, resource, rows)?;
        batch.load_seo(snapshot, scope, resource, rows)?;
        Ok(batch)
    }

    /// Loads what is told of the rows beside them. The relations and the rows above are loaded already.
    pub(super) fn load_seo(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
    ) -> Result<(), ApiError> {
        let mut wanted = HashSet::new();
        let mut authors = HashSet::new();
        let first = resource.seo.as_ref().is_some_and(|rules| rules.pictures.contains(&SeoPictureSource::First));
        for record in rows.iter().map(|row| Record { resource, row }) {
            let own = own_values(record);
            wanted.extend(PICTURES.iter().filter_map(|member| own[member].as_i64()));
            if resource.is_content() {
                if resource.supports("author") {
                    authors.insert(record.int(record::AUTHOR));
                }
                wanted.insert(record.int(record::FEATURED_MEDIA));
                if let Some(picture) = first.then(|| first_picture(record.text(record::CONTENT))).flatten() {
                    wanted.extend(picture.id);
                    self.seo.first.insert(record.id(), picture);
                }
            }
            let above = self.ids_above(record);
            self.seo.above.insert(record.id(), above);
        }
        let above: HashSet<i64> = self.seo.above.values().flatten().copied().collect();
        let mut terms = self.terms_of(scope, resource);
        if resource.is_content() {
            self.load_places(snapshot, scope, above)?;
        } else if resource.is_taxonomy() {
            terms.extend(above);
        }
        self.load_terms(snapshot, scope, &terms)?;
        self.load_files(snapshot, scope, wanted)?;
        self.load_seo_authors(snapshot, scope, authors)
    }

    /// The rows above, as far as they are known.
    fn ids_above(&self, record: Record<'_>) -> Vec<i64> {
        let mut ids = Vec::new();
        let mut parent = record.int(record::PARENT);
        while let Some(above) = self.above.get(&parent).filter(|_| ids.len() < MOST_ABOVE && !ids.contains(&parent)) {
            ids.push(parent);
            parent = above.parent;
        }
        ids
    }

    /// The terms of all rows.
    fn terms_of(&self, scope: &Scope, resource: &Resource) -> HashSet<i64> {
        let relations = term_relations(resource, &scope.registry.resources);
        let of_terms: HashSet<&Name> = relations.map(|(relation, _)| &relation.rel).collect();
        let edges = self.edges.iter().filter(|((rel, _), _)| of_terms.contains(rel));
        edges.flat_map(|(_, targets)| targets).copied().collect()
    }

    fn load_files(&mut self, snapshot: &dyn Snapshot, scope: &Scope, mut ids: HashSet<i64>) -> Result<(), ApiError> {
        ids.remove(&0);
        let Some(files) = scope.registry.content_types().find(|kind| kind.supports("files")) else { return Ok(()) };
        if ids.is_empty() {
            return Ok(());
        }
        let seen = records::all([is_in(ID, ids), policy::visible(scope, files)]);
        let found = snapshot.rows(&records::plan(files, seen))?.into_iter();
        self.seo.files.extend(found.map(|row| (Record { resource: files, row: &row }.id(), row)));
        Ok(())
    }

    fn load_seo_authors(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        mut ids: HashSet<i64>,
    ) -> Result<(), ApiError> {
        ids.remove(&0);
        let Some(users) = scope.registry.users().filter(|_| !ids.is_empty()) else { return Ok(()) };
        for row in snapshot.rows(&records::plan(users, is_in(ID, ids)))? {
            let author = Record { resource: users, row: &row };
            let text = |column: &str| Arc::from(author.text(column));
            let known = SeoAuthor {
                name: text(user::NAME),
                description: text(user::DESCRIPTION),
                email: text(user::EMAIL),
                url: text(user::URL),
                address: address::of(scope, author, &Batch::default(), author.text(user::SLUG)),
            };
            self.seo.authors.insert(author.id(), known);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_picture_with_an_address_counts() {
        let picture = |url: &str| ContentPicture { url: url.into(), ..ContentPicture::default() };
        let cases = [
            ("<p>x</p>", None),
            ("<img alt=x><img src='/b.png'>", Some(picture("/b.png"))),
            (
                r#"<figure><img class="a wp-image-7" width="30" height="x" alt="A &amp; B" src="https://a.example/?a&amp;b"/>"#,
                Some(ContentPicture {
                    alt: "A & B".into(),
                    width: Some(30),
                    id: Some(7),
                    ..picture("https://a.example/?a&b")
                }),
            ),
            ("<img src=", None),
        ];
        for (content, expected) in cases {
            assert_eq!(first_picture(content), expected, "{content}");
        }
    }
}
