//! Rows to documents: the requested fields, in the requested context, with their links.
//!
//! Everything that other rows contribute is loaded once per list ([`Batch`]), so a list costs a fixed number of
//! queries whatever its length. Fields that were not requested are neither fetched nor computed. The functions that
//! compute properties come with the [`View`]: they may render documents themselves, and are not known here.

pub mod address;
mod batch;
mod columns;
mod item;
mod links;
mod needs;
pub mod seo;

pub use self::batch::{Batch, ReferencedRow};
pub use self::columns::{columns_for, short_columns};
pub use self::item::{Item, column_value};
pub use self::needs::Needs;

use crate::access::hints::{self, Hints};
use crate::access::unlock::RecordPassword;
use crate::error::ApiError;
use crate::records::Record;
use crate::registry::resource::{Context, Property, PropertySource, Resource};
use crate::registry::vocabulary::BehaviourEntry;
use crate::request::fields::{Fields, PatternView};
use crate::scope::Scope;
use cms_storage::plan::{DbValue, Row};
use cms_storage::{ReadSet, Snapshot, TrackedStorage};
use cms_text::dress::UniqueNames;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Computes a property's value; `None` leaves the property out.
pub type PropertyReader = fn(&Item<'_>, &Property, &DbValue) -> Option<Value>;

/// Every function that computes a property, at the position that the registry knows it by: its name, the function, what
/// it needs from other rows.
pub type PropertyReaders = &'static [BehaviourEntry<(PropertyReader, Needs)>];

/// Shows the content of an item as blocks.
pub type BlockReader = fn(&Item<'_>, PatternView) -> Value;

/// How rows are shown.
pub struct View<'a> {
    pub context: Context,
    pub fields: &'a Fields,
    /// The object password that the request carries.
    pub password: Option<&'a RecordPassword<'a>>,
    /// Whether links are wanted.
    pub links: bool,
    /// That the caller may read the rows has been decided already.
    pub readable: bool,
    pub reads: PropertyReaders,
    pub blocks: BlockReader,
    /// Words of excerpts that are made from contents, where the request says how many.
    pub excerpt_words: Option<usize>,
    /// The names that the documents of the response have used.
    pub unique: &'a UniqueNames,
}

impl View<'_> {
    /// Whether links are shown; embedding depends on them.
    pub fn wants_links(&self) -> bool {
        self.links && (self.fields.wants("_links") || self.fields.wants("_embedded"))
    }

    /// Whether documents of a resource show other rows by what search engines are told of them.
    pub fn tells_of_others(&self, resource: &Resource) -> bool {
        resource.seo.is_some() && Needs::of_properties(resource, self).seo
    }

    /// Whether the links of values of field groups are shown, which come with the values.
    fn wants_links_of_fields(&self, resource: &Resource) -> bool {
        let wants = |property: &Property| self.fields.wants(&property.name);
        self.links && self.fields.keeps_links() && resource.fields_property().is_some_and(wants)
    }
}

/// Turns rows of a resource into documents.
pub fn documents(
    scope: &Scope,
    snapshot: &dyn Snapshot,
    resource: &Resource,
    rows: &[Row],
    view: &View<'_>,
) -> Result<Vec<Value>, ApiError> {
    let (batch, hints) = prepared(scope, snapshot, resource, rows, view)?;
    let one = |row| {
        view.unique.begin();
        document(scope, resource, row, view, &batch)
    };
    rows.iter().zip(hints).map(one).collect()
}

/// Prepares the rows that documents need besides their own.
fn prepared(
    scope: &Scope,
    snapshot: &dyn Snapshot,
    resource: &Resource,
    rows: &[Row],
    view: &View<'_>,
) -> Result<(Batch, Vec<Hints>), ApiError> {
    let batch = Batch::load(snapshot, scope, resource, rows, view)?;
    let hints = match view.wants_links() {
        true => hints::of_rows(scope, resource, rows, view.readable)?,
        false => vec![Hints::default(); rows.len()],
    };
    Ok((batch, hints))
}

/// Which reads of a document are tracked.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadTracking {
    /// Those for its properties and links.
    pub links: bool,
    /// Those for parts of its content.
    pub parts: bool,
}

/// Reads of other rows for a document, as far as they were tracked.
pub enum ReadTrace {
    Nothing,
    Tracked(Vec<Arc<ReadSet>>),
    /// It is not certain until when that is current, or the document depends on those before it in the response.
    Unknown,
}

/// The same, each with its reads. Reads for properties and links are made for all rows together, so their
/// documents share one read set.
pub fn tracked_documents(
    scope: &Scope,
    snapshot: &dyn Snapshot,
    resource: &Resource,
    rows: &[Row],
    view: &View<'_>,
    tracking: &[ReadTracking],
) -> Result<Vec<(Value, ReadTrace)>, ApiError> {
    let tracked = || {
        let storage = Arc::new(TrackedStorage::new(scope.storage.clone()));
        (Scope { storage: storage.clone(), ..scope.clone() }, storage)
    };
    let ((batch, hints), of_links) = if tracking.iter().any(|tracking| tracking.links) {
        let (scope, storage) = tracked();
        let prepared = prepared(&scope, &*scope.snapshot()?, resource, rows, view)?;
        (prepared, storage.seen().map(Arc::new))
    } else {
        (prepared(scope, snapshot, resource, rows, view)?, None)
    };
    let one = |(row, tracking): ((&Row, Hints), &ReadTracking)| {
        let links = tracking.links.then(|| of_links.clone());
        let used = view.unique.begin();
        let (document, read) = if tracking.parts {
            let (scope, storage) = tracked();
            let document = document(&scope, resource, row, view, &batch)?;
            (document, ReadTrace::of([links, Some(storage.seen().map(Arc::new))]))
        } else {
            (document(scope, resource, row, view, &batch)?, ReadTrace::of([links]))
        };
        Ok((document, if view.unique.is_counted_since(used) { ReadTrace::Unknown } else { read }))
    };
    rows.iter().zip(hints).zip(tracking).map(one).collect()
}

impl ReadTrace {
    /// Of read sets that are tracked (the outer level) and certain (the inner one).
    fn of<const N: usize>(sets: [Option<Option<Arc<ReadSet>>>; N]) -> ReadTrace {
        let tracked: Vec<Option<Arc<ReadSet>>> = sets.into_iter().flatten().collect();
        match tracked.into_iter().collect::<Option<Vec<_>>>() {
            None => ReadTrace::Unknown,
            Some(sets) if sets.is_empty() => ReadTrace::Nothing,
            Some(sets) => ReadTrace::Tracked(sets),
        }
    }
}

fn document(
    scope: &Scope,
    resource: &Resource,
    (row, hints): (&Row, Hints),
    view: &View<'_>,
    batch: &Batch,
) -> Result<Value, ApiError> {
    let record = Record { resource, row };
    let unlocked = view.context == Context::EDIT
        || scope.previewed(resource, record.id()).is_some()
        || view.password.is_some_and(|given| given.opens(record.text("password")));
    let item = Item {
        context: view.context,
        unlocked,
        formatted: view.fields.formatted(),
        excerpt_words: view.excerpt_words,
        ..Item::viewed(scope, record, batch, view.reads, view.unique)
    };
    let mut map = Map::new();
    for property in shown(&resource.properties, view) {
        if let Some(value) = item.value(property) {
            map.insert(property.name.clone(), value);
        }
    }
    if let Some(patterns) = view.fields.blocks()
        && let Some(content) = map.get_mut("content").and_then(Value::as_object_mut)
        && resource.is_content()
        && item.open()
    {
        content.insert("blocks".into(), (view.blocks)(&item, patterns));
    }
    let meta = shown(&resource.properties, view).any(|property| matches!(property.source, PropertySource::Meta));
    map.extend(item.beside(meta, |member| view.fields.wants(member)));
    if view.wants_links() || view.wants_links_of_fields(resource) {
        let mut links = if view.wants_links() { item.links(hints)? } else { Map::new() };
        if let Some(property) = resource.fields_property().filter(|property| map.contains_key(&property.name)) {
            item.add_field_links(property, &mut links);
        }
        if !links.is_empty() {
            map.insert("_links".into(), Value::Object(links));
        }
    }
    Ok(Value::Object(map))
}

fn shown<'p>(properties: &'p [Property], view: &'p View<'_>) -> impl Iterator<Item = &'p Property> {
    let demanded = |p: &Property| !p.on_demand || !view.fields.is_all();
    properties.iter().filter(move |p| p.contexts.shows_in(view.context) && view.fields.wants(&p.name) && demanded(p))
}
