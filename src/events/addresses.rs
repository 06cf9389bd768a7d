//! The addresses whose responses a change concerns, as far as they follow from declarations: the item's own, those of
//! the lists that show it, and the feeds of both.

use crate::error::ApiError;
use crate::features::addresses::{is_public_taxonomy, lists_of};
use crate::records::Record;
use crate::registry::columns::{comment, record};
use crate::registry::resource::Resource;
use crate::registry::{Registry, Site};
use crate::render::Batch;
use crate::scope::Scope;
use cms_declaration::Syndication;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Most addresses of an event.
const MOST: usize = 1000;

/// Addresses of an event. Where there are others that it does not name, it says so.
#[derive(Default)]
pub struct ChangedAddresses {
    /// Addresses where the site is read.
    front: Vec<String>,
    /// Addresses of the REST interface.
    rest: Vec<String>,
    /// Any other address may show it, too.
    all: bool,
}

impl ChangedAddresses {
    /// The addresses of an item and of its collection in the REST interface, by their paths.
    pub fn of_paths(registry: &Registry, paths: &[&str]) -> ChangedAddresses {
        let rest = paths.iter().map(|path| registry.rest(path)).collect();
        ChangedAddresses { rest, ..ChangedAddresses::default() }
    }

    /// Any other address may show it, too.
    pub fn any_other(&mut self) {
        self.all = true;
    }

    /// Adds the address of an item, and that of its feed where it has one.
    pub fn add(&mut self, scope: &Scope, link: &str) {
        let registry = &scope.registry;
        self.front.push(link.to_owned());
        self.front.extend(feed_of(&registry.site, &registry.declaration.syndication, link));
    }

    /// Adds the lists that show a record, and their feeds.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn add_lists(&mut self, scope: &Scope, record: Record<'_>) -> Result<(), ApiError> {
        let lists = lists_of(scope, record, MOST as u64)?;
        let registry = &scope.registry;
        let declared = &registry.declaration.syndication;
        if !lists.is_empty() && declared.enabled {
            self.front.extend(declared.aliases.keys().map(|path| format!("{}{path}", registry.site.url)));
        }
        if scope.page_of("page_on_front") == Some(record.id()) {
            self.front.push(format!("{}/", registry.site.front));
        }
        lists.iter().for_each(|list| self.add(scope, list));
        Ok(())
    }

    /// Adds the record of a comment, where everybody may read it, and the feeds that show the comment.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn add_commented(&mut self, scope: &Scope, comment: Record<'_>) -> Result<(), ApiError> {
        let on = comment.int(comment::POST);
        let mut batch = Batch::default();
        batch.load_places(&*scope.snapshot()?, scope, HashSet::from([on]))?;
        let Some(place) = batch.places.get(&on).filter(|place| place.open) else { return Ok(()) };
        self.add(scope, &place.address);
        let declared = &scope.registry.declaration.syndication;
        let comments = format!("{}{}/", scope.registry.site.front, declared.comments);
        self.front.extend(feed_of(&scope.registry.site, declared, &comments));
        Ok(())
    }

    /// The member of the event.
    pub fn into_document(mut self) -> Value {
        let mut seen = HashSet::new();
        self.front.retain(|address| seen.insert(address.clone()));
        let left = MOST.saturating_sub(self.rest.len());
        self.all |= self.front.len() > left;
        self.front.truncate(left);
        json!({"all": self.all, "front": self.front, "rest": self.rest})
    }
}

/// The feed of the list at an address of the front end; `None`: the site serves none, or the address has no path.
fn feed_of(site: &Site, declared: &Syndication, list: &str) -> Option<String> {
    let path = list.strip_prefix(&*site.front).filter(|path| declared.enabled && !path.contains(['?', '#']))?;
    Some(format!("{}{}/{}/", site.url, path.trim_end_matches('/'), declared.path))
}

/// Whether items of a resource have addresses of their own. What has none may be shown anywhere.
pub fn has_addresses(resource: &Resource) -> bool {
    let public = !resource.is_taxonomy() || is_public_taxonomy(resource);
    resource.property("link").is_some() && resource.viewable() && public
}

/// The names of columns by which lists select records. Which lists had a record before such a change is not known.
pub const SELECTING: [&str; 2] = [record::DATE_LOCAL, record::AUTHOR];
