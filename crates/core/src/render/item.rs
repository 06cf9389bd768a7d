//! One row on its way to a document: the values of its properties.

use super::{Batch, PropertyReaders, ReferencedRow};
use crate::access::policy;
use crate::fields::{self, LocationFacts, StoredValues};
use crate::records::{Record, int};
use crate::registry::args::{SpellingDirection, convert_spelling};
use crate::registry::fields::GroupFields;
use crate::registry::meta::empty;
use crate::registry::resource::{Context, Property, PropertyKind, PropertySource, Resource};
use crate::scope::Scope;
use cms_declaration::{Family, Meta};
use cms_storage::plan::DbValue;
use cms_text::dress::UniqueNames;
use cms_text::time::format_local;
use serde_json::{Map, Value, json};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

/// One row on its way to a document.
pub struct Item<'a> {
    pub scope: &'a Scope,
    pub resource: &'a Resource,
    pub record: Record<'a>,
    pub context: Context,
    /// Its password was presented, or the caller edits it.
    pub unlocked: bool,
    pub batch: &'a Batch,
    pub reads: PropertyReaders,
    /// Values of field groups are wanted as pages show them.
    pub formatted: bool,
    /// Words of an excerpt that is made from the content, where the request says how many.
    pub excerpt_words: Option<usize>,
    /// Its content as HTML, once that is rendered and an excerpt can be made from it.
    pub rendered: OnceCell<String>,
    /// The markup and the document of its head for search engines, once either is shown.
    pub head: OnceCell<Option<(String, Value)>>,
    /// The names that its texts have used, or those of all documents of the response.
    pub unique: &'a UniqueNames,
}

impl<'a> Item<'a> {
    /// An item that is shown in the view context to callers who may read it.
    pub fn viewed(
        scope: &'a Scope,
        record: Record<'a>,
        batch: &'a Batch,
        reads: PropertyReaders,
        unique: &'a UniqueNames,
    ) -> Item<'a> {
        Item {
            scope,
            resource: record.resource,
            record,
            context: Context::VIEW,
            unlocked: true,
            batch,
            reads,
            formatted: false,
            excerpt_words: None,
            rendered: OnceCell::new(),
            head: OnceCell::new(),
            unique,
        }
    }

    /// Another record in its place, shown in the same way.
    pub fn showing<'b>(&self, record: Record<'b>) -> Item<'b>
    where
        'a: 'b,
    {
        Item { resource: record.resource, record, rendered: OnceCell::new(), head: OnceCell::new(), ..*self }
    }
}

impl Item<'_> {
    /// The value of a property; `None` leaves it out: the caller may not read it, or there is none. A value that the record's
    /// password locks shows as unset.
    pub fn value(&self, property: &Property) -> Option<Value> {
        if !policy::reads_field(self.scope, &property.rights) {
            return None;
        }
        if property.locked
            && !self.open()
            && !matches!(property.source, PropertySource::Meta | PropertySource::Fields(_) | PropertySource::Object(_))
        {
            return Some(locked_value(property.kind));
        }
        let value = match &property.source {
            PropertySource::Nothing => return None,
            PropertySource::Fixed(value) => value.clone(),
            PropertySource::Column(index) => {
                let value = column_value(property, self.record.row.get(*index).unwrap_or(&DbValue::Null));
                self.without_lost_keys(property, value)
            }
            PropertySource::Read(behaviour, index) => {
                let column = index.and_then(|i| self.record.row.get(i)).unwrap_or(&DbValue::Null);
                let read = self.reads[behaviour.0].run.0;
                read(self, property, column)?
            }
            PropertySource::Object(children) => {
                let children = children.iter().filter(|c| c.contexts.shows_in(self.context));
                let map: Map<String, Value> = children.filter_map(|c| Some((c.name.clone(), self.value(c)?))).collect();
                let empty = map.is_empty() && self.scope.registry.declaration.dialect.empty_list_as_object;
                if empty { json!([]) } else { Value::Object(map) }
            }
            PropertySource::Relation(index) => {
                let rel = &self.resource.relations[*index].rel;
                let targets = self.batch.edges.get(&(rel.clone(), self.record.id()));
                json!(targets.cloned().unwrap_or_default())
            }
            PropertySource::Meta => self.meta(property.locked && !self.open()),
            PropertySource::Fields(behaviour) => {
                let read = self.reads[behaviour.0].run.0;
                read(self, property, &DbValue::Null)?
            }
            PropertySource::Members(..) => json!(self.members(&property.name)),
            PropertySource::Extra => {
                let extra: Value = serde_json::from_str(self.record.text("extra")).unwrap_or(Value::Null);
                match extra.get(&property.name) {
                    Some(value) => value.clone(),
                    None => column_value(property, &DbValue::Null),
                }
            }
        };
        Some(convert_spelling(value, &property.aliases, SpellingDirection::ToApi))
    }

    /// A value without the keys inside of rows that are no longer there.
    fn without_lost_keys(&self, property: &Property, mut value: Value) -> Value {
        for relation in property.inner_relations.iter().map(|at| &self.resource.relations[*at]) {
            let there = self.batch.edges.get(&(relation.rel.clone(), self.record.id()));
            if let Some((keys, there)) = relation.inner_keys().zip(there) {
                let there: HashSet<i64> = there.iter().copied().collect();
                keys.replace(&mut value, |key| Some(key).filter(|key| there.contains(key)));
            }
        }
        value
    }

    /// Keys of the rows that refer to this one, by a property that shows them.
    pub(super) fn members(&self, property: &str) -> &[i64] {
        self.batch.members.get(&(property.to_owned(), self.record.id())).map_or(&[], Vec::as_slice)
    }

    /// Whether the caller may see what the record's password protects.
    pub fn open(&self) -> bool {
        self.unlocked || self.record.text("password").is_empty()
    }

    /// Meta values that are members of the document (`beside`), as far as these are wanted. `shown`: the document shows
    /// its `meta`.
    pub(super) fn beside<'s>(
        &'s self,
        shown: bool,
        wants: impl Fn(&str) -> bool + 's,
    ) -> impl Iterator<Item = (String, Value)> + 's {
        let beside = self.resource.declared.meta.iter().filter(move |(key, meta)| meta.beside && wants(key));
        let beside = beside.filter(|(key, _)| policy::reads_meta(self.scope, self.resource, key));
        beside.map(move |(key, meta)| {
            let stored = self.batch.meta.get(&self.record.id()).filter(|_| shown && self.open());
            let value = self.meta_value(key, meta, stored);
            (key.clone(), if value.is_null() { empty(&meta.schema) } else { value })
        })
    }

    fn meta(&self, locked: bool) -> Value {
        if self.resource.declared.meta.is_empty() && self.scope.registry.declaration.dialect.empty_list_as_object {
            return json!([]);
        }
        let stored = self.batch.meta.get(&self.record.id());
        let mut map = Map::new();
        let within = self.resource.declared.meta.iter().filter(|(_, meta)| !meta.beside);
        let within = within.filter(|(key, _)| policy::reads_meta(self.scope, self.resource, key));
        for (key, meta) in within.filter(|(_, meta)| self.shows_meta(&meta.schema)) {
            let stored = stored.filter(|_| !locked || meta.schema.get("x-password-protected") == Some(&json!(false)));
            map.insert(key.clone(), self.meta_value(key, meta, stored));
        }
        match map.is_empty() && self.scope.registry.declaration.dialect.empty_list_as_object {
            true => json!([]),
            false => Value::Object(map),
        }
    }

    /// The value of a meta key among the stored ones, or its default; null where what is stored does not fit.
    fn meta_value(&self, key: &str, meta: &Meta, stored: Option<&Vec<(Arc<str>, Value)>>) -> Value {
        let typed = |(_, value): &(Arc<str>, Value)| match self.resource.meta.get(key) {
            Some(of) => of.read(value, &meta.schema).unwrap_or(Value::Null),
            None => value.clone(),
        };
        let mut values = stored.into_iter().flatten().filter(|(k, _)| **k == *key).map(typed);
        if !meta.single {
            return Value::Array(values.collect());
        }
        let value = values.next().or_else(|| meta.schema.get("default").cloned());
        allowed(&meta.schema, value.unwrap_or_else(|| empty(&meta.schema)))
    }

    /// Whether a meta value shows in the context: in the contexts that its schema names, or in all.
    fn shows_meta(&self, schema: &Map<String, Value>) -> bool {
        let contexts = schema.get("context").and_then(Value::as_array);
        let parse = |context: &Value| context.as_str().and_then(Context::parse);
        contexts.is_none_or(|contexts| contexts.iter().filter_map(parse).any(|one| one.shows_in(self.context)))
    }

    /// The groups of fields that the item has.
    pub fn field_groups(&self) -> Vec<&GroupFields> {
        let record = self.record;
        let place = self.batch.places.get(&record.int("post")).filter(|_| self.resource.is_comments());
        let facts = LocationFacts {
            resource: self.resource,
            id: record.id(),
            status: record.text("status"),
            parent: record.int("parent"),
            template: record.text("template"),
            format: record.text("format"),
            roles: record.text("roles"),
            children: self.batch.parents.contains(&record.id()),
            place: place.map(|place| &self.scope.registry.resources[place.resource]),
            terms: &|taxonomy| self.batch.terms_in(self.resource, record.id(), taxonomy),
            rule_terms: &self.batch.rule_terms,
        };
        fields::applying(self.scope, &facts)
    }

    /// Runs a function with the stored values of the item's fields: none where the record's password locks them.
    pub fn with_field_values<T>(&self, property: &Property, run: impl FnOnce(StoredValues<'_>) -> T) -> T {
        let locked = property.locked && !self.open();
        let meta = self.batch.meta.get(&self.record.id()).filter(|_| !locked);
        let terms = |name: &str| match locked {
            true => Vec::new(),
            false => self.batch.terms_named(self.scope, self.resource, self.record.id(), name),
        };
        run(StoredValues { meta: meta.map_or(&[], Vec::as_slice), terms: &terms })
    }

    /// The record or term that the row refers to, and its id.
    pub fn referenced(&self, family: Family) -> Option<(i64, &ReferencedRow)> {
        let reference = self.resource.declared.reference.as_ref()?;
        let (class, places) = match family {
            Family::Term => (&reference.term, &self.batch.terms),
            _ => (&reference.record, &self.batch.places),
        };
        let id = self.record.int(&reference.id);
        let place = places.get(&id).filter(|place| place.seen && self.record.text(&reference.class) == class);
        place.map(|place| (id, place))
    }

    /// How many revisions the record has, and the newest of them.
    pub(super) fn revisions(&self) -> (i64, i64) {
        self.batch.revisions.get(&self.record.id()).copied().unwrap_or((0, 0))
    }
}

/// Recorded: what a meta key's own choices leave out, its default included, reads as null.
fn allowed(schema: &Map<String, Value>, value: Value) -> Value {
    let choices = schema.get("enum").and_then(Value::as_array);
    if choices.is_none_or(|choices| choices.contains(&value)) { value } else { Value::Null }
}

/// A locked value: the property's type without content.
fn locked_value(kind: PropertyKind) -> Value {
    match kind {
        PropertyKind::Text | PropertyKind::Time => json!(""),
        PropertyKind::Integer | PropertyKind::Number => json!(0),
        PropertyKind::Boolean => json!(false),
        PropertyKind::Json => Value::Null,
    }
}

/// A column's value as the property's type.
pub fn column_value(property: &Property, value: &DbValue) -> Value {
    match (property.kind, value) {
        (_, DbValue::Null) => property.shown_unset().unwrap_or(Value::Null),
        (PropertyKind::Boolean, value) => Value::Bool(int(value) != 0),
        (PropertyKind::Json, DbValue::Text(t)) => serde_json::from_str(t).unwrap_or(Value::Null),
        (PropertyKind::Time, DbValue::Int(seconds)) => json!(format_local(*seconds)),
        (_, DbValue::Int(i)) => json!(i),
        (_, DbValue::Real(r)) => json!(r),
        (_, DbValue::Text(t)) => Value::String(t.to_string()),
    }
}
