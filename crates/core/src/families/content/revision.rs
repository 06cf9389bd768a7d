//! The content of a revision or an autosave: the record's texts and, unless the dialect says otherwise, everything else
//! that a form edits.

use super::{ContentDraft, col};
use crate::error::ApiError;
use crate::records::{Record, meta_space, txt};
use crate::registry::resource::{Property, PropertyKind, PropertySource, Resource};
use crate::scope::Scope;
use cms_storage::plan::{DbValue, EdgePlan, MetaChange, Name, Row};
use cms_storage::{ReadRequest, Snapshot};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Values by column, with the targets of relations and the registered meta values as members of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RevisionContent(Map<String, Value>);

/// The texts that every revision holds.
pub(super) const TEXTS: [&str; 3] = [col::TITLE, col::CONTENT, col::EXCERPT];

const EDGES: &str = "edges";
const META: &str = "meta";

impl RevisionContent {
    /// The content stored as JSON text.
    pub fn parse(text: &str) -> RevisionContent {
        RevisionContent(serde_json::from_str(text).unwrap_or_default())
    }

    /// Of these texts alone.
    pub fn of_texts(title: &str, content: &str, excerpt: &str) -> RevisionContent {
        let texts = TEXTS.into_iter().zip([title, content, excerpt]);
        RevisionContent(texts.map(|(column, text)| (column.to_owned(), json!(text))).collect())
    }

    /// As it is stored.
    pub fn json(&self) -> Arc<str> {
        Value::Object(self.0.clone()).to_string().into()
    }

    /// The present content of a record, as far as revisions hold it.
    pub fn of(scope: &Scope, record: Record<'_>) -> Result<RevisionContent, ApiError> {
        Self::held_by(HeldContent::of_revisions(scope), scope, record)
    }

    /// The present content of a record.
    pub fn held_by(held: HeldContent, scope: &Scope, record: Record<'_>) -> Result<RevisionContent, ApiError> {
        let resource = record.resource;
        let value = |column: &Name| {
            let place = resource.columns.iter().position(|known| known == column);
            place.and_then(|place| record.row.get(place)).unwrap_or(&DbValue::Null)
        };
        let columns = columns(held, resource).into_iter();
        let mut map: Map<String, Value> =
            columns.map(|(column, kind)| (column.to_string(), stored(&column, kind, value(&column)))).collect();
        let snapshot = scope.snapshot()?;
        let rels = relations(held, resource);
        if !rels.is_empty() {
            let mut edges: Map<String, Value> = rels.iter().map(|rel| (rel.to_string(), json!([]))).collect();
            for edge in snapshot.edges(&EdgePlan { rels, of: vec![record.id()], reverse: false })? {
                if let Some(Value::Array(ends)) = edges.get_mut(&*edge.rel) {
                    ends.push(json!(edge.dst));
                }
            }
            map.insert(EDGES.into(), Value::Object(edges));
        }
        if holds_meta(held, resource) {
            let mut meta: Map<String, Value> = Map::new();
            let rows = snapshot.meta(&meta_space(resource), &[record.id()])?;
            for row in rows.iter().filter(|row| resource.declared.meta.contains_key(&*row.key)) {
                let values = meta.entry(row.key.to_string()).or_insert_with(|| json!([]));
                if let Some(values) = values.as_array_mut() {
                    values.push(serde_json::from_str(&row.json).unwrap_or(Value::Null));
                }
            }
            map.insert(META.into(), Value::Object(meta));
        }
        Ok(RevisionContent(map))
    }

    /// The same after a draft, and after changes of relations and meta values, as far as it holds them.
    pub(super) fn after(
        mut self,
        draft: &ContentDraft<'_>,
        edges: &[(Name, Vec<i64>)],
        meta: &[MetaChange],
    ) -> RevisionContent {
        for (column, kind) in columns(HeldContent::Whole, draft.resource) {
            if let Some(value) = draft.given(&column).filter(|_| self.0.contains_key(&*column)) {
                self.0.insert(column.to_string(), stored(&column, kind, &value));
            }
        }
        if let Some(extra) = draft.extra.as_ref().filter(|_| self.0.contains_key(col::EXTRA)) {
            self.0.insert(col::EXTRA.into(), json!(json!(extra).to_string()));
        }
        if let Some(Value::Object(held)) = self.0.get_mut(EDGES) {
            for (rel, ends) in edges {
                if let Some(held) = held.get_mut(&**rel) {
                    *held = json!(ends);
                }
            }
        }
        if let Some(Value::Object(held)) = self.0.get_mut(META) {
            for change in meta {
                // Single values under other keys are changed by their numbers; a revision does not hold them.
                let MetaChange::Key(key, values) = change else { continue };
                let values: Vec<Value> =
                    values.iter().map(|json| serde_json::from_str(json).unwrap_or(Value::Null)).collect();
                match values.is_empty() {
                    true => held.shift_remove(&**key),
                    false => held.insert(key.to_string(), Value::Array(values)),
                };
            }
            held.sort_keys();
        }
        self
    }

    /// The same with what only `other` holds.
    pub fn completed(mut self, other: &RevisionContent) -> RevisionContent {
        for (name, value) in &other.0 {
            self.0.entry(name).or_insert_with(|| value.clone());
        }
        self
    }

    /// Whether both hold the same, but for white space in texts.
    pub fn reads_as(&self, other: &RevisionContent) -> bool {
        let same = |name: &String, value: &Value| match (value.as_str(), other.0.get(name).and_then(Value::as_str)) {
            (Some(a), Some(b)) => a.split_whitespace().eq(b.split_whitespace()),
            _ => other.0.get(name) == Some(value),
        };
        self.0.len() == other.0.len() && self.0.iter().all(|(name, value)| same(name, value))
    }

    /// A text by its column; empty where it is not held.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).and_then(Value::as_str).unwrap_or("")
    }

    /// Whether it holds the value of a property. Older ones hold texts alone, or lack what was declared later.
    pub fn holds(&self, resource: &Resource, property: &Property) -> bool {
        match &property.source {
            PropertySource::Relation(index) => {
                self.0.get(EDGES).is_some_and(|edges| edges.get(&*resource.relations[*index].rel).is_some())
            }
            PropertySource::Meta => self.0.contains_key(META),
            PropertySource::Extra => self.0.contains_key(col::EXTRA),
            _ => property.written_columns().all(|(column, _)| self.0.contains_key(&**column)),
        }
    }

    /// The row of a record as it was; what is not held is as it is now.
    pub fn row(&self, record: Record<'_>) -> Row {
        let columns = record.resource.columns.iter().zip(record.row);
        columns.map(|(column, now)| self.0.get(&**column).map_or_else(|| now.clone(), value_of)).collect()
    }

    /// The targets of relations.
    pub fn edges(&self) -> impl Iterator<Item = (Name, Vec<i64>)> {
        let held = self.0.get(EDGES).and_then(Value::as_object).into_iter().flatten();
        held.map(|(rel, ends)| {
            (rel.as_str().into(), ends.as_array().into_iter().flatten().filter_map(Value::as_i64).collect())
        })
    }

    /// The registered meta values, each with its key, where it holds them.
    pub fn held_meta(&self) -> Option<Vec<(Arc<str>, Value)>> {
        self.0.contains_key(META).then(|| self.meta())
    }

    /// The registered meta values, each with its key.
    pub fn meta(&self) -> Vec<(Arc<str>, Value)> {
        let held = self.0.get(META).and_then(Value::as_object).into_iter().flatten();
        let values = |(key, values): (&String, &Value)| {
            let values = values.as_array().cloned().unwrap_or_default();
            values.into_iter().map(|value| (Arc::from(key.as_str()), value)).collect::<Vec<_>>()
        };
        held.flat_map(values).collect()
    }
}

/// The extent of a content: how much of a record it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldContent {
    /// Its texts.
    Texts,
    /// Everything that a form edits, but for its place, its dates and its state.
    Whole,
}

impl HeldContent {
    /// The extent of revisions and autosaves.
    pub fn of_revisions(scope: &Scope) -> HeldContent {
        match scope.registry.declaration.dialect.revisions_of_texts {
            true => HeldContent::Texts,
            false => HeldContent::Whole,
        }
    }
}

/// Prefetches the reads that [`RevisionContent::of`] makes beside the row.
pub(super) fn ahead(scope: &Scope, resource: &Resource, snapshot: &dyn Snapshot, id: i64) {
    let held = HeldContent::of_revisions(scope);
    let rels = relations(held, resource);
    if !rels.is_empty() {
        snapshot.prefetch(&[ReadRequest::Edges(&EdgePlan { rels, of: vec![id], reverse: false })]);
    }
    if holds_meta(held, resource) {
        snapshot.prefetch(&[ReadRequest::Meta(&meta_space(resource), &[id])]);
    }
}

/// The properties that revisions hold beside the texts.
pub(super) fn properties(held: HeldContent, resource: &Resource) -> impl Iterator<Item = &Property> {
    resource.properties.iter().filter(move |property| held == HeldContent::Whole && property.is_versioned())
}

fn columns(held: HeldContent, resource: &Resource) -> Vec<(Name, PropertyKind)> {
    let mut all: Vec<(Name, PropertyKind)> = TEXTS.map(|column| (column.into(), PropertyKind::Text)).into();
    if resource.properties.iter().any(|property| matches!(property.source, PropertySource::Extra)) {
        all.push((col::EXTRA.into(), PropertyKind::Text));
    }
    for (column, kind) in properties(held, resource).flat_map(Property::written_columns) {
        if !all.iter().any(|(known, _)| known == column) {
            all.push((column.clone(), kind));
        }
    }
    all
}

fn relations(held: HeldContent, resource: &Resource) -> Vec<Name> {
    let of = |property: &Property| match property.source {
        PropertySource::Relation(index) => Some(resource.relations[index].rel.clone()),
        _ => None,
    };
    properties(held, resource).filter_map(of).collect()
}

fn holds_meta(held: HeldContent, resource: &Resource) -> bool {
    !resource.declared.meta.is_empty()
        && properties(held, resource).any(|property| matches!(property.source, PropertySource::Meta))
}

/// A column's value in JSON, the same whether it was read or is about to be written.
fn stored(column: &str, kind: PropertyKind, value: &DbValue) -> Value {
    match (kind, value) {
        (_, DbValue::Null) if TEXTS.contains(&column) || column == col::EXTRA => json!(""),
        (PropertyKind::Number, DbValue::Int(number)) => json!(*number as f64),
        (_, DbValue::Int(number)) => json!(number),
        (_, DbValue::Real(number)) => json!(number),
        (_, DbValue::Text(text)) => json!(**text),
        (_, DbValue::Null) => Value::Null,
    }
}

fn value_of(held: &Value) -> DbValue {
    match held {
        Value::String(text) => txt(text),
        Value::Number(number) => match number.as_i64() {
            Some(number) => DbValue::Int(number),
            None => number.as_f64().map_or(DbValue::Null, DbValue::Real),
        },
        _ => DbValue::Null,
    }
}
