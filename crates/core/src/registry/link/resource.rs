//! One resource: names, table, columns, capabilities, sort keys, codes.

use super::super::addresses::ItemAddress;
use super::super::columns::VERSION;
use super::super::meta::MetaType;
use super::super::path_template::PathTemplate;
use super::super::resource::*;
use super::super::tables::{self};
use super::super::{edit_only, fields, locked, name};
use super::layout::ident;
use super::property::kind_of;
use super::shown::shown_schema;
use super::{Linker, escape, extend};
use cms_declaration::{self as declaration, Action, CapabilityMap, Family};
use cms_storage::plan::{DbValue, Row};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Linker<'_> {
    pub(super) fn resources(&mut self) -> Vec<Resource> {
        let declared = self.declared;
        let mut resources = Vec::new();
        for (resource_name, resource) in &declared.resources {
            let index = resources.len();
            if let Some(compiled) = self.resource(index, resource_name, resource) {
                self.places.insert(resource_name.clone(), index);
                resources.push(compiled);
            }
        }
        resources
    }

    /// Links the base resources to find their problems before somebody extends them.
    pub(super) fn base_resources(&mut self, targets: &[(Family, bool)]) {
        let declared = self.declared;
        self.table = "base_resources";
        let bases = declared.base_resources.iter().filter_map(|(name, resource)| self.resource(0, name, resource));
        let mut bases: Vec<Resource> = bases.collect();
        self.relations(&mut bases, targets);
        self.links(&mut bases);
        self.table = "resources";
    }

    pub(super) fn resource(&mut self, index: usize, key: &str, declared: &declaration::Resource) -> Option<Resource> {
        let Some(schema) = self.schema(&declared.schema) else {
            // The loader has told why the file cannot be read.
            return None;
        };
        let namespace = match self.declared.namespaces.get(&declared.namespace) {
            Some(namespace) => namespace.path.clone(),
            None => {
                let names: Vec<&str> = self.declared.namespaces.keys().map(String::as_str).collect();
                self.known(&[self.table, key, "namespace"], "namespace", &declared.namespace, &names);
                return None;
            }
        };
        self.compile_schema(&declared.schema, schema);
        let mut declared = without_entries(declared);
        let title = schema.get("title").and_then(Value::as_str).unwrap_or(key);
        let title = declared.listing.name.as_deref().unwrap_or(title);
        fill_labels(&mut declared.labels, title);
        let base = declared.base.clone().unwrap_or_else(|| key.to_owned());
        let kind = declared.kind.clone().unwrap_or_else(|| key.to_owned());
        let family_table = tables::family_table(declared.family);
        let own_table = format!("x_{}", ident(&kind));
        let path = format!("/{namespace}/{base}");
        let mut resource = Resource {
            index,
            name: key.to_owned(),
            family: declared.family,
            kind: name(&kind),
            api_name: declared.api_name.clone().unwrap_or(kind),
            template: PathTemplate::of(&path),
            path,
            namespace,
            base,
            title: schema.get("title").and_then(Value::as_str).unwrap_or(key).to_owned(),
            table: match declared.family {
                Family::Plain => name(&own_table),
                _ => name(family_table.unwrap_or("")),
            },
            extension: None,
            key: name("id"),
            key_is_text: false,
            properties: Vec::new(),
            columns: tables::family_columns(declared.family).into_iter().map(name).collect(),
            column_index: ColumnIndex::default(),
            relations: Vec::new(),
            links: Vec::new(),
            sort: IndexMap::new(),
            search: IndexMap::new(),
            edit_only: HashSet::new(),
            locked: HashSet::new(),
            guarded: Vec::new(),
            capabilities: HashMap::new(),
            codes: HashMap::new(),
            not_empty: Vec::new(),
            within: None,
            status_of_codes: HashMap::new(),
            bare_in_updates: HashSet::new(),
            schema: Value::Null,
            address: ItemAddress::default(),
            originals: Vec::new(),
            fields: None,
            seo: None,
            podcast: Vec::new(),
            meta: declared.meta.iter().map(|(key, meta)| (key.clone(), MetaType::of(meta, self.dialect))).collect(),
            declared: Arc::new(declared),
        };
        resource.column_index = resource.columns.iter().enumerate().map(|(i, c)| (c.to_string(), i)).collect();
        if resource.is_plain() {
            self.plain_key(&mut resource, schema);
        }
        let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for (property_name, doc) in &properties {
            let pointer = format!("/properties/{}", escape(property_name));
            let property = self.property(&mut resource, property_name, doc, &pointer, true);
            resource.properties.push(property);
        }
        if resource.properties.iter().any(|property| matches!(property.source, PropertySource::Fields(_))) {
            resource.fields = Some(fields::of_resource(self.field_groups, &resource, self.dialect));
        }
        self.property_names(&resource, &properties);
        if resource.columns.iter().any(|c| c.starts_with(&format!("{own_table}."))) {
            resource.extension = Some(name(&own_table));
        }
        resource.edit_only = edit_only::columns(&resource);
        resource.locked = locked::columns(&resource);
        let fields = fields::described(self.field_groups, &resource);
        resource.schema = shown_schema(schema, &resource, (self.declared, fields), self.dialect);
        self.names(&mut resource);
        self.originals(&mut resource);
        Some(resource)
    }

    /// The rows of declared originals: their keys count down from -1, and they are published.
    fn originals(&mut self, resource: &mut Resource) {
        let (declared, owner) = (resource.declared.clone(), resource.name.clone());
        let published = self.declared.statuses.iter().find(|(_, status)| status.public && !status.inherits);
        let published = published.map_or("", |(name, _)| name.as_str()).to_owned();
        for (i, columns) in declared.originals.iter().enumerate() {
            let path = [self.table, owner.as_str(), "originals", &i.to_string()];
            if declared.key != declaration::ItemKey::ThemeAndSlug || !columns.contains_key("slug") {
                let message = "an original is found by the theme and its slug".to_owned();
                self.problem(
                    &path,
                    message,
                    Some("set key = \"theme_and_slug\", and slug in each original".to_owned()),
                );
                continue;
            }
            let mut row: Row = vec![DbValue::Null; resource.columns.len()];
            let key = i64::try_from(i).map_or(i64::MIN, |i| -1 - i);
            let fixed = [("id", DbValue::Int(key)), ("author", DbValue::Int(0)), (VERSION, DbValue::Int(0))];
            let texts = [("kind", &*resource.kind), ("status", published.as_str())];
            let given = columns.iter().map(|(column, value)| (column.as_str(), value.as_str()));
            for (column, value) in texts.into_iter().chain(given) {
                self.column(resource, &extend(&path, column), column);
                if let Some(at) = resource.column(column) {
                    row[at] = DbValue::Text(value.into());
                }
            }
            for (column, value) in fixed {
                if let Some(at) = resource.column(column) {
                    row[at] = value;
                }
            }
            resource.originals.push(row);
        }
    }

    /// Links the sort keys of a resource's lists.
    fn sort_keys(&mut self, resource: &mut Resource) {
        let (sort, owner) = (resource.declared.sort.clone(), resource.name.clone());
        for (value, target) in &sort {
            let sort = match target.as_str() {
                "@include" => Sort::Include,
                "@slugs" => Sort::Slugs,
                "@relevance" => Sort::Relevance,
                column => match self.column(resource, &[self.table, &owner, "sort", value], column) {
                    // The order tells something of each value, and cursors hold it.
                    Some(found) if resource.locked.contains(&found) => {
                        let message = format!("records cannot be sorted by `{column}`: their passwords protect it");
                        let hint = "remove the sort key, or write `\"x-password-protected\": false` in the schema";
                        self.problem(&[self.table, &owner, "sort", value], message, Some(hint.into()));
                        continue;
                    }
                    Some(column) => Sort::Column(column),
                    None => continue,
                },
            };
            resource.sort.insert(value.clone(), sort);
        }
    }

    /// Capabilities, sort keys, searched columns and codes of a resource.
    pub(super) fn names(&mut self, resource: &mut Resource) {
        let declared = resource.declared.clone();
        let owner = resource.name.clone();
        if let Some(map) = &declared.capabilities {
            match self.declared.capabilities.get(map) {
                Some(CapabilityMap(needed)) => {
                    let known = needed.iter().filter_map(|(name, needs)| Some((Action::named(name)?, needs.clone())));
                    resource.capabilities = known.collect();
                }
                None => {
                    let names: Vec<&str> = self.declared.capabilities.keys().map(String::as_str).collect();
                    self.known(&[self.table, &owner, "capabilities"], "capability map", map, &names);
                }
            }
        }
        self.sort_keys(resource);
        for (value, column) in &declared.search {
            if let Some(column) = self.column(resource, &[self.table, &owner, "search", value], column) {
                resource.search.insert(value.clone(), column);
            }
        }
        resource.codes = self.codes(&[self.table, &owner, "codes"], &declared.codes);
        for (i, required) in declared.not_empty.iter().enumerate() {
            let i = i.to_string();
            let path = [self.table, owner.as_str(), "not_empty", &i];
            for column in required.when.keys() {
                self.column(resource, &[&path[..], &["when", column]].concat(), column);
            }
            self.column(resource, &extend(&path, "column"), &required.column);
            if let Some(code) = self.code(&extend(&path, "code"), &required.code) {
                resource.not_empty.push((required.clone(), code));
            }
        }
        self.above(resource);
        if let Some(reference) = &declared.reference {
            for (key, column) in [("class", &reference.class), ("kind", &reference.kind), ("id", &reference.id)] {
                self.column(resource, &[self.table, &owner, "reference", key], column);
            }
        }
        for column in declared.import.keys() {
            self.column(resource, &[self.table, &owner, "import", column], column);
        }
        for (i, taxonomy) in declared.taxonomies.iter().enumerate() {
            let path = [self.table, owner.as_str(), "taxonomies", &i.to_string()];
            self.resource_named(&path, taxonomy);
            let family = self.declared.resources.get(taxonomy).map(|resource| resource.family);
            if family.is_some_and(|family| family != Family::Term) {
                let message = format!("`{taxonomy}` is not a taxonomy");
                self.problem(&path, message, Some("declare it with family = \"term\"".to_owned()));
            }
        }
        self.statuses_of_codes(resource);
    }

    /// Links statuses and bodies of codes that differ from the server's own.
    fn statuses_of_codes(&mut self, resource: &mut Resource) {
        let (declared, owner) = (resource.declared.clone(), resource.name.clone());
        for (code, status) in &declared.status_of_codes {
            if let Some(code) = self.code(&[self.table, &owner, "status_of_codes", code], code) {
                resource.status_of_codes.insert(code, *status);
            }
        }
        for (i, code) in declared.bare_in_updates.iter().enumerate() {
            let found = self.code(&[self.table, &owner, "bare_in_updates", &i.to_string()], code);
            resource.bare_in_updates.extend(found);
        }
    }

    /// The item above, the first state, and the files that items bring.
    fn above(&mut self, resource: &mut Resource) {
        let declared = resource.declared.clone();
        let owner = resource.name.clone();
        if let Some(within) = &declared.within {
            let path = [self.table, owner.as_str(), "within"];
            self.column(resource, &extend(&path, "property"), &within.property);
            let mismatch = self.code(&extend(&path, "mismatch"), &within.mismatch);
            resource.within = mismatch.map(|code| (within.clone(), code));
        }
        if let Some(status) = &declared.initial_status {
            let names: Vec<&str> = self.declared.statuses.keys().map(String::as_str).collect();
            self.known(&[self.table, &owner, "initial_status"], "status", status, &names);
        }
        if let Some(uploads) = &declared.options.uploads {
            let path = [self.table, owner.as_str(), "options", "uploads"];
            let properties: Vec<&str> = resource.properties.iter().map(|p| p.name.as_str()).collect();
            self.known(&extend(&path, "property"), "property", &uploads.property, &properties);
            let types: Vec<&str> = self.declared.media.types.keys().map(String::as_str).collect();
            for (i, mime) in uploads.types.iter().enumerate() {
                self.known(&[&path[..], &["types", &i.to_string()]].concat(), "type of files", mime, &types);
            }
        }
    }

    pub(super) fn plain_key(&mut self, resource: &mut Resource, schema: &Value) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let key = properties.into_iter().flatten().find(|(_, doc)| doc["x-key"] == true);
        if let Some((key, doc)) = key {
            resource.key = name(key);
            resource.key_is_text = kind_of(doc) == PropertyKind::Text;
        }
        resource.columns = vec![resource.key.clone(), name(VERSION)];
        resource.column_index = ColumnIndex::from_iter([(resource.key.to_string(), 0), (VERSION.to_owned(), 1)]);
    }
}

/// A copy of a declaration without its entries, which the registry reads from the declaration.
fn without_entries(declared: &declaration::Resource) -> declaration::Resource {
    let mut copy = declared.clone();
    copy.options.entries = Vec::new();
    copy
}

/// Puts the two names of a resource into its other labels; `title` is its name where it has none.
fn fill_labels(labels: &mut IndexMap<String, String>, title: &str) {
    let own = |key: &str| labels.get(key).map_or(title, String::as_str).to_owned();
    let (name, singular) = (own("name"), own("singular_name"));
    for label in labels.values_mut().filter(|label| label.contains('{')) {
        *label = label_of(label, &name, &singular);
    }
}
