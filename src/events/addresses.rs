//! The addresses whose responses a change concerns, as far as they follow from declarations: the item's own and its older ones, those
//! of the lists that show or showed it, the feeds of these, and the records that show its name.

use super::feed::FormerTargets;
use cms_core::access::policy;
use cms_core::error::ApiError;
use cms_core::features::addresses::{is_public_taxonomy, lists_of, lists_of_terms, older_links, records_with};
use cms_core::records::Record;
use cms_core::registry::columns::{comment, record};
use cms_core::registry::resource::Resource;
use cms_core::registry::{Registry, Site};
use cms_core::render::Batch;
use cms_core::scope::Scope;
use cms_declaration::{Action, Syndication};
use cms_text::address::AUTHOR;
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

    /// Adds the lists of the terms that a record of a resource has no more, and their feeds.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn add_former(&mut self, scope: &Scope, resource: &Resource, former: &[FormerTargets]) -> Result<(), ApiError> {
        let targets = former.iter().flat_map(|of| of.targets.iter().map(|target| (of.rel.clone(), *target)));
        lists_of_terms(scope, resource, targets, MOST as u64)?.iter().for_each(|list| self.add(scope, list));
        let shown = resource.address.shown_category().map(|relation| &resource.relations[relation].rel);
        // The address of the record itself was another one.
        self.all |= former.iter().any(|of| of.more || Some(&of.rel) == shown);
        Ok(())
    }

    /// Adds the addresses that a record had before its previous one, which lead to another one now. They may be from a time when not everybody
    /// could read it, so that only those who may edit it are told them. To others they lead by the previous one, which is named.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn add_older(&mut self, scope: &Scope, record: Record<'_>, previous: &str) -> Result<(), ApiError> {
        let (mut links, more) = older_links(scope, record, MOST)?;
        links.retain(|link| link != previous);
        let knows = policy::may(scope, Action::Edit, record)?;
        self.all |= more && knows;
        self.front.extend(links.into_iter().filter(|_| knows));
        Ok(())
    }

    /// Adds the records that show the name of a term or an author, or a file that they refer to.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn add_records_with(&mut self, scope: &Scope, named: Record<'_>) -> Result<(), ApiError> {
        // One more than fits shows that there are more.
        self.front.extend(records_with(scope, named, MOST as u64 + 1)?);
        let resource = named.resource;
        let names = |kind: &&Resource| {
            let category = kind.address.shown_category().map(|relation| kind.relations[relation].to);
            category == Some(resource.index) || (kind.address.has(AUTHOR) && resource.is_users())
        };
        // Their own addresses have its slug.
        self.all |= scope.registry.content_types().any(|kind| names(&kind));
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
