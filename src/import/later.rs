//! Values that earlier runs have stored and that newer declarations take: for search engines, into columns of a resource, into the
//! fields of a group. A run takes them once the declarations have changed, where nothing is set yet: what somebody has set stays.

use super::BATCH;
use super::importer::Importer;
use super::properties::taking;
use crate::boot::BootError;
use cms_core::records::{self, Record, is_in, meta_space};
use cms_core::registry::columns::seo;
use cms_core::registry::fields::FieldNode;
use cms_core::registry::name;
use cms_core::registry::resource::Resource;
use cms_storage::plan::{Change, DbValue, EdgePlan, MetaChange, Name, Put, Target};
use cms_text::php;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The word of the entries that say which keys earlier runs have taken.
const TAKEN: &str = "taken";

impl Importer<'_> {
    /// Takes what earlier runs of this source could not.
    pub(super) fn take_later(&mut self) -> Result<(), BootError> {
        let registry = self.registry;
        let records = registry.content_types().map(|resource| (resource, "record:".to_owned()));
        let terms = registry.taxonomies().map(|resource| (resource, format!("term:{}:", resource.kind)));
        let others = registry.users().into_iter().map(|resource| (resource, "user:".to_owned()));
        let comments = registry.comment_resources().take(1).map(|resource| (resource, "comment:".to_owned()));
        let all: Vec<(&Resource, String)> = records.chain(terms).chain(others).chain(comments).collect();
        for (resource, space) in all {
            let keys = self.taken_keys(resource);
            let digest = Sha256::digest(json!(keys).to_string());
            let mark = digest.iter().take(6).fold(0, |number, byte| (number << 8) | i64::from(*byte));
            let key = format!("{TAKEN}:{}", resource.kind);
            let before = self.known.get(&key).copied();
            if keys.is_empty() || before == Some(mark) {
                continue;
            }
            let earlier = self.known.iter().filter(|(key, _)| key.starts_with(&space));
            let mut earlier: Vec<i64> = earlier.map(|(_, row)| *row).collect();
            earlier.sort_unstable();
            for page in earlier.chunks(BATCH) {
                self.take_page(resource, page, &keys)?;
                self.flush()?;
            }
            if before.is_some() {
                self.settle(&key);
                self.flush()?;
            }
            self.remember_as(&key, TAKEN, mark);
        }
        self.flush()
    }

    /// Meta keys whose values become something else than meta values of a resource.
    fn taken_keys(&self, resource: &Resource) -> BTreeSet<String> {
        let of_seo = resource.column(seo::VALUES).map(|_| self.registry.declaration.seo.import.keys().cloned());
        let of_columns = resource.declared.import.values().map(|from| from.meta.clone());
        let groups = resource.fields.iter().flat_map(|fields| &fields.groups);
        let mut keys: BTreeSet<String> = of_seo.into_iter().flatten().chain(of_columns).collect();
        groups.for_each(|group| group_keys(&self.registry.field_groups[*group].fields, &mut keys));
        let own = resource.properties.iter().map(|property| &property.name);
        keys.extend(own.filter(|name| taking(self.registry, resource, name).is_some()).cloned());
        keys
    }

    fn take_page(&mut self, resource: &Resource, ids: &[i64], keys: &BTreeSet<String>) -> Result<(), BootError> {
        let snapshot = self.services.storage.snapshot()?;
        let mut values: BTreeMap<i64, Vec<(String, String)>> = BTreeMap::new();
        for row in snapshot.meta(&meta_space(resource), ids)? {
            let text = serde_json::from_str(&row.json).ok().and_then(|value| super::field_values::stored(&value));
            values.entry(row.id).or_default().extend(text.map(|text| (row.key.to_string(), text)));
        }
        values.retain(|_, of| of.iter().any(|(key, _)| keys.contains(key)));
        let rows = snapshot.rows(&records::plan(resource, is_in("id", values.keys().copied())))?;
        let rels = resource.relations.iter().filter(|relation| relation.is_list());
        let of = EdgePlan {
            rels: rels.map(|own| own.rel.clone()).collect(),
            of: values.keys().copied().collect(),
            reverse: false,
        };
        let linked: BTreeSet<(i64, Name)> = snapshot.edges(&of)?.into_iter().map(|edge| (edge.src, edge.rel)).collect();
        drop(snapshot);
        for row in &rows {
            let record = Record { resource, row };
            let Some(own) = values.get(&record.id()) else { continue };
            let mut set = self.imported(resource, own);
            set.extend(self.seo_columns(resource, own));
            let (columns, mut edges) = self.own_values(resource, own);
            set.extend(columns);
            set.retain(|(column, _)| is_unset(record, column));
            edges.retain(|(rel, _)| !linked.contains(&(record.id(), rel.clone())));
            let meta = self.group_values(resource, own);
            if !set.is_empty() || !edges.is_empty() || !meta.is_empty() {
                let target = Target::Existing { key: DbValue::Int(record.id()), expect: None };
                self.pending.push(Change::Put(Put { meta, edges, ..Put::new(resource.table.clone(), target, set) }));
                self.report.later += 1;
            }
        }
        Ok(())
    }

    /// The values of fields that are inside stored groups, with the keys of the fields.
    fn group_values(&self, resource: &Resource, stored: &[(String, String)]) -> Vec<MetaChange> {
        let mut spread = stored.to_vec();
        self.spread_values(Some(resource), &mut spread);
        let mut new: Vec<(String, String)> = spread.into_iter().filter(|pair| !stored.contains(pair)).collect();
        self.follow_values(&mut new);
        let one = |(key, value): (String, String)| MetaChange::Key(name(&key), vec![json!(value).to_string().into()]);
        new.into_iter().map(one).collect()
    }
}

/// Whether nobody has set a column.
fn is_unset(record: Record<'_>, column: &str) -> bool {
    let short = column.rsplit_once('.').map_or(column, |(_, short)| short);
    match record.value(short) {
        DbValue::Null => true,
        // A decision for search engines that an editor has made, not the usual number of a column.
        DbValue::Int(0) => short != seo::NOINDEX,
        DbValue::Text(text) => {
            serde_json::from_str::<Value>(text).map_or(text.is_empty(), |value| php::is_empty(&value))
        }
        _ => false,
    }
}

/// Keys of groups, and of those inside them.
fn group_keys(fields: &[FieldNode], keys: &mut BTreeSet<String>) {
    for field in fields.iter().filter(|field| field.declared.kind.holds_fields()) {
        keys.insert(field.meta.clone());
        group_keys(&field.fields, keys);
    }
}
