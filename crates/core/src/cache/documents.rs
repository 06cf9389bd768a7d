//! Documents rendered once: the JSON text of a row in a context, cached in memory until something in it changes.
//!
//! The text of a document follows from its row, its context and the declarations alone, so its key is (resource, key, version,
//! context) with the scope versions of what it uses outside the row (settings; the rows above, for addresses; slugs of terms).
//! It is the same for every caller with the same rights to the row, which are part of the key where documents list them, and
//! with the same rights to single fields, which are part of it, too.
//!
//! A document that shows other rows (by its links, or by parts of its content) has read sets, too: it is used as long as
//! nothing of what was read for it has been written. The shown parts of those rows may depend on the caller, so only
//! anonymous callers share such documents, and those that mention the caller otherwise.

use super::responses::{HitCounts, MAX_AGE};
use crate::access::hints::Hints;
use crate::behaviours::READS;
use crate::records::{self, Record};
use crate::registry::Registry;
use crate::registry::columns::{VERSION, user};
use crate::registry::name;
use crate::registry::resource::{Context, Link, Property, PropertySource, Resource};
use crate::render::{Needs, ReadTrace};
use crate::request::fields::Fields;
use crate::scope::Scope;
use cms_storage::plan::Name;
use cms_storage::{ReadSet, Snapshot, slugs};
use cms_text::address::{AUTHOR, CATEGORY};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Spreads numbers, so that sums of several do not meet.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// Text of one document.
pub type DocumentText = Arc<[u8]>;

/// The origin of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DocumentKey {
    resource: usize,
    id: i64,
    version: i64,
    way: RenderVariant,
    settings: u64,
    outside: u64,
}

/// How a row is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RenderVariant {
    pub context: Context,
    /// Acts that the caller may do with it.
    pub hints: Hints,
    /// See [`DocumentCache::field_set`].
    pub fields: u64,
    /// See [`DocumentCache::hidden_set`].
    pub hidden: u64,
}

/// Reads of other rows, and their time (UTC seconds).
struct DocumentDependencies {
    read: Vec<Arc<ReadSet>>,
    at: i64,
}

#[derive(Clone)]
struct CachedDocument {
    text: DocumentText,
    /// `None`: it follows from its key.
    others: Option<Arc<DocumentDependencies>>,
}

#[derive(Clone)]
struct DocumentWeight;

impl Weighter<DocumentKey, CachedDocument> for DocumentWeight {
    fn weight(&self, _: &DocumentKey, document: &CachedDocument) -> u64 {
        // A read set that several documents share counts for each of them.
        let read = |set: &Arc<ReadSet>| set.bytes() + 64;
        let others = document.others.as_ref().map_or(0, |others| others.read.iter().map(read).sum::<usize>() + 64);
        (document.text.len() + others + 104) as u64
    }
}

/// How a resource's documents can be cached.
#[derive(Clone, Debug)]
struct CachePlan {
    keeps: bool,
    /// Every document shows other rows, or mentions the caller.
    others: bool,
    /// Scopes whose writes may change a document although its row stays: all of them, and those for rows with a parent.
    always: Vec<Name>,
    below: Option<Name>,
    /// Columns of links to records that the caller has to be able to read: documents of rows that have one show another.
    readable: Vec<usize>,
    /// Positions of the columns that form a key.
    columns: Vec<usize>,
}

/// In how many parts a cache of so many bytes is locked: as many as processors want, as long as each has room for a document
/// with the largest content. The costliest documents would otherwise be made again for each request.
fn shards(bytes: u64, largest: u64) -> usize {
    // JSON escapes, and a document has other members.
    let room = bytes / (largest + largest / 4).max(1);
    let wanted = std::thread::available_parallelism().map_or(4, |processors| processors.get() * 4).next_power_of_two();
    usize::try_from(room).unwrap_or(usize::MAX).checked_ilog2().map_or(1, |most| wanted.min(1 << most))
}

/// See the module's description.
pub struct DocumentCache {
    cache: Cache<DocumentKey, CachedDocument, DocumentWeight>,
    plans: Vec<CachePlan>,
    asked: HitCounts,
    /// Its key is random, so that nobody can choose fields that have the number of others.
    field_sets: RandomState,
}

impl DocumentCache {
    /// An empty store of at most `bytes` for the resources of a registry.
    pub fn new(registry: &Registry, bytes: u64) -> DocumentCache {
        let documents = usize::try_from(bytes / 2048).unwrap_or(1024).max(1024);
        let shards = shards(bytes, registry.declaration.server.max_rendered.as_usize() as u64);
        let options = OptionsBuilder::new()
            .estimated_items_capacity(documents)
            .weight_capacity(bytes)
            .shards(shards)
            .build()
            .expect("both capacities are set");
        DocumentCache {
            cache: Cache::with_options(
                options,
                DocumentWeight,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            plans: registry.resources.iter().map(|r| plan(registry, r)).collect(),
            asked: HitCounts::default(),
            field_sets: RandomState::new(),
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.cache.weight()
    }

    /// Hits and misses of this cache.
    pub fn hit_counts(&self) -> &HitCounts {
        &self.asked
    }

    /// Whether documents of a resource can be cached for the caller.
    pub fn keeps(&self, scope: &Scope, resource: &Resource) -> bool {
        let plan = &self.plans[resource.index];
        plan.keeps && (!plan.others || caches_others(scope))
    }

    /// Whether the document of a row shows other rows by its properties or links.
    pub fn shows_others(&self, record: Record<'_>) -> bool {
        let plan = &self.plans[record.resource.index];
        let set = |column: &usize| record.row.get(*column).is_some_and(|value| records::int(value) != 0);
        plan.others || plan.readable.iter().any(set)
    }

    /// A number for the members that a text has; 0 for all of them. `alone`: the text is no part of a list, which decides
    /// about its links.
    pub fn field_set(&self, fields: &Fields, alone: bool) -> u64 {
        if fields.is_all() && fields.blocks().is_none() && !fields.formatted() {
            0
        } else {
            self.field_sets.hash_one((fields, alone)) | 1
        }
    }

    /// A number for the fields that the caller may not read; 0 for none.
    pub fn hidden_set(&self, hidden: &[usize]) -> u64 {
        if hidden.is_empty() { 0 } else { self.field_sets.hash_one(hidden) | 1 }
    }

    /// Positions of the columns by which a text is found.
    pub fn columns(&self, resource: &Resource) -> &[usize] {
        &self.plans[resource.index].columns
    }

    /// The text of a row, if it is there. Versions outside the row are the snapshot's, too.
    pub fn get(
        &self,
        scope: &Scope,
        snapshot: &dyn Snapshot,
        record: Record<'_>,
        way: RenderVariant,
    ) -> Option<DocumentText> {
        let key = self.key(scope, record, way);
        let belongs = key.outside == 0 || snapshot.is_newest();
        let found = belongs.then(|| self.cache.get(&key)).flatten();
        let current = |document: &CachedDocument| {
            let Some(others) = &document.others else { return true };
            let fresh = caches_others(scope) && scope.now - others.at < MAX_AGE && snapshot.is_newest();
            fresh && others.read.iter().all(|read| read.holds(&*scope.storage, scope.now))
        };
        let found = found.filter(current);
        self.asked.count(found.is_some());
        found.map(|document| document.text)
    }

    /// Caches the text of a row, unless what it uses outside the row has changed since the snapshot was taken, or it
    /// shows other rows in a way that may depend on the caller.
    pub fn put(
        &self,
        scope: &Scope,
        snapshot: &dyn Snapshot,
        record: Record<'_>,
        way: RenderVariant,
        text: DocumentText,
        read: ReadTrace,
    ) {
        let others = match read {
            ReadTrace::Nothing => None,
            ReadTrace::Tracked(read) if caches_others(scope) => {
                Some(Arc::new(DocumentDependencies { read, at: scope.now }))
            }
            ReadTrace::Tracked(_) | ReadTrace::Unknown => return,
        };
        let key = self.key(scope, record, way);
        if snapshot.is_newest() {
            self.cache.insert(key, CachedDocument { text, others });
        }
    }

    fn key(&self, scope: &Scope, record: Record<'_>, way: RenderVariant) -> DocumentKey {
        let plan = &self.plans[record.resource.index];
        let version = |scope_name: &Name| scope.storage.scope_version(scope_name);
        let below = plan.below.as_ref().filter(|_| record.int("parent") != 0).map_or(0, version);
        let always = plan.always.iter().fold(0, |sum: u64, name| sum.wrapping_add(version(name)).wrapping_mul(MIX));
        DocumentKey {
            resource: record.resource.index,
            id: record.id(),
            version: record.int(VERSION),
            way,
            settings: scope.settings.version,
            outside: always ^ below,
        }
    }
}

/// Whether documents that show other rows can be cached for the caller.
fn caches_others(scope: &Scope) -> bool {
    !scope.principal.is_logged_in()
}

fn plan(registry: &Registry, resource: &Resource) -> CachePlan {
    let mut needs = Needs::default();
    resource.properties.iter().for_each(|p| gather(p, &mut needs));
    let family = resource.stores_rows() && !resource.is_comments();
    let mentions_caller = resource.links.iter().any(|link| {
        (link.when.can.is_some() || link.when.act.is_some()) && link.when.context.as_deref() != Some("edit")
    });
    let refers = |property: &Property| matches!(property.source, PropertySource::Members(..));
    // Rules of groups and what values refer to may depend on other rows, and on the reader.
    let others = needs.posts
        || resource.fields.as_ref().is_some_and(|fields| !fields.groups.is_empty())
        || needs.referenced
        || resource.properties.iter().any(refers)
        || resource.links.iter().any(|link| link.when.children);
    let by_author = needs.above && resource.address.has(AUTHOR);
    let readable: Vec<usize> = resource.links.iter().filter_map(Link::must_be_readable).collect();
    let users = (by_author || needs.author_names).then(|| name(user::TABLE)).into_iter();
    let related = resource.relations.iter().map(|relation| &registry.resources[relation.to]);
    let tables: BTreeSet<&Name> = related.filter(|to| to.is_taxonomy()).map(|to| &to.table).collect();
    let by_category = needs.above && resource.address.has(CATEGORY);
    let terms = tables.into_iter().filter(|_| needs.term_slugs || by_category).map(slugs);
    let own = [&*resource.key, VERSION, "parent"].into_iter().filter_map(|column| resource.column(column));
    CachePlan {
        keeps: family && !resource.key_is_text,
        others: mentions_caller || others,
        always: users.chain(terms).collect(),
        below: needs.above.then(|| resource.table.clone()),
        columns: own.chain(readable.iter().copied()).collect(),
        readable,
    }
}

fn gather(property: &Property, needs: &mut Needs) {
    match &property.source {
        PropertySource::Read(behaviour, _) => needs.add(READS[behaviour.0].run.1),
        PropertySource::Object(children) => children.iter().for_each(|c| gather(c, needs)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::shards;

    #[test]
    fn each_part_has_room_for_the_largest_document() {
        for (bytes, largest) in
            [(21 << 20, 2 << 20), (8 << 20, 2 << 20), (1 << 20, 2 << 20), (0, 2 << 20), (21 << 20, 0)]
        {
            let shards = shards(bytes, largest) as u64;
            assert!(shards.is_power_of_two());
            assert!(shards == 1 || bytes / shards >= largest + largest / 4, "{bytes} / {largest}: {shards}");
        }
        assert_eq!(shards(8 << 20, 2 << 20), 2);
    }
}
