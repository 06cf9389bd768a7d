//! Declared entries of resources (`options.entries`, `entries_file`, `entries_from`). Most are never asked for, so those of a
//! resource are read when they are first needed.

use super::Registry;
use super::abilities::{ability_document, category_document};
use super::operations;
use super::resource::Resource;
use cms_config::schema_files::{EntryFile, EntryFiles};
use cms_declaration::{AbilityCategory, Declaration, EntrySource};
use cms_text::html_policy::{Policy, sanitise};
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// The entries that a resource declares, its own before those of its file. Only shapes are left of drawings.
pub(super) fn declared(declaration: &Declaration, files: &EntryFiles, resource: &Resource) -> Vec<Value> {
    let own = declaration.resources.get(&resource.name).map(|own| own.options.entries.clone());
    let file = resource.declared.entries_file.as_ref().and_then(|file| files.get(file));
    let mut entries: Vec<Value> = own.into_iter().chain(file.map(EntryFile::entries)).flatten().collect();
    for property in resource.properties.iter().filter(|property| property.drawing) {
        for value in entries.iter_mut().filter_map(|entry| entry.get_mut(&property.name)) {
            if let Some(drawing) = value.as_str() {
                // Names of attributes are in small letters, as HTML reads them.
                *value = Value::String(sanitise(drawing, Policy::drawings()).replace(" viewBox=", " viewbox="));
            }
        }
    }
    entries
}

impl Registry {
    /// The entries of a resource, none if none are declared.
    pub fn entries(&self, resource: &Resource) -> &[Value] {
        self.entries[resource.index].get_or_init(|| {
            let mut entries = declared(&self.declaration, &self.entry_files, resource);
            let key = key_name(resource);
            let listed = self.listed(resource).into_iter().map(|(name, document)| {
                let own = [(key.to_owned(), Value::String(name))];
                Value::Object(own.into_iter().chain(document).collect())
            });
            entries.extend(listed);
            entries
        })
    }

    /// The entry of a resource with this key (`options.key`). Keys are texts in a path and may be numbers in an entry.
    pub fn entry(&self, resource: &Resource, wanted: &str) -> Option<&Value> {
        self.entries(resource).iter().find(|entry| match entry.get(key_name(resource)) {
            Some(Value::String(key)) => key == wanted,
            Some(Value::Number(key)) => key.as_i64().is_some_and(|key| wanted.parse() == Ok(key)),
            _ => false,
        })
    }

    /// The documents of the declared table that a resource lists, by name.
    fn listed(&self, resource: &Resource) -> Vec<(String, Map<String, Value>)> {
        match resource.declared.options.entries_from {
            None => Vec::new(),
            Some(EntrySource::Abilities) => {
                let listed = self.abilities.iter().filter(|(_, ability)| ability.listed);
                let document = listed.map(|(name, ability)| {
                    let [input, output] = operations::schemas(ability, &self.resources, &self.routes);
                    (name.clone(), ability_document(&ability.declared, [&input, &output]))
                });
                document.collect()
            }
            Some(EntrySource::AbilityCategories) => {
                let categories = self.ability_categories();
                categories.iter().map(|(slug, of)| (slug.clone(), category_document(of))).collect()
            }
        }
    }

    fn ability_categories(&self) -> IndexMap<String, AbilityCategory> {
        let mut categories = self.declaration.ability_categories.clone();
        for resource in self.resources.iter().filter(|resource| resource.declared.ability) {
            let slug = operations::word(&resource.name);
            categories.entry(slug).or_insert_with(|| operations::category_of(resource));
        }
        categories
    }
}

/// The name of the member that identifies entries.
pub fn key_name(resource: &Resource) -> &str {
    resource.declared.options.key.as_deref().unwrap_or("id")
}
