//! Tables, columns and relations of the database.

use super::super::args::ArgRole;
use super::super::name;
use super::super::resource::*;
use super::super::tables::{self, DeclaredColumn};
use super::super::words::PropertyWords;
use super::property::kind_of;
use super::values::rule;
use super::{Linker, escape};
use cms_declaration::{self as declaration, SchemaDoc};
use cms_storage::plan::{ColumnType, Layout, Name, Reference, ReferenceValues, RelationDef, States, VERSION};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

impl Linker<'_> {
    pub(super) fn layout(&mut self, resources: &[Resource]) -> Layout {
        let mut layout = Layout {
            tables: tables::shared(self.declared),
            counts: tables::counts(self.declared),
            searched: searched(resources),
            references: self.references(resources),
            ..Layout::default()
        };
        for resource in resources {
            if let Some(table) = self.own_table(resource) {
                match layout.tables.iter().find(|made| made.name == table.name) {
                    Some(made) => self.same_table(resource, &table, made),
                    None => {
                        self.table_names(resource, &table);
                        layout.tables.push(table);
                    }
                }
            }
            for relation in resource.relations.iter().filter(|r| !r.is_column()) {
                let target = &resources[relation.to];
                let content = resource.is_content();
                let states = layout.table(&resource.table).and_then(|table| table.states.as_ref());
                let leads_there = |r: &&Relation| !r.is_column() && r.to == relation.to;
                let sole = resources.iter().flat_map(|r| &r.relations).filter(leads_there).count() == 1;
                let def = RelationDef {
                    name: relation.rel.clone(),
                    src: resource.table.clone(),
                    dst: target.table.clone(),
                    status: if content { Some(name("status")) } else { states.map(|states| states.column.clone()) },
                    sort: if content { Some(name("date_local")) } else { self.default_sort(resource, &layout) },
                    counted: (content && target.is_taxonomy()).then(|| tables::term_count(self.declared)),
                    only_kind: sole.then(|| resource.kind.clone()),
                    inside: relation.inner_keys().cloned(),
                };
                if !layout.relations.iter().any(|r| r.name == def.name) {
                    layout.relations.push(def);
                }
            }
        }
        layout
    }

    pub(super) fn own_table(&mut self, resource: &Resource) -> Option<cms_storage::plan::TableDef> {
        let plain = resource.is_plain();
        let table = if plain { resource.table.clone() } else { resource.extension.clone()? };
        let prefix = format!("{table}.");
        let docs = self.schema(&resource.declared.schema)?.get("properties")?.as_object()?;
        let (sorted, selected) = (sorted_columns(&resource.declared), selected_columns(&resource.declared));
        let ends = |column: &str| resource.declared.retention.as_ref().is_some_and(|rule| rule.on == column);
        let read = docs.iter().map(|(property, doc)| {
            let words = PropertyWords::of(doc);
            (words.column.clone().unwrap_or_else(|| property.clone()), (doc, words))
        });
        // Of several properties of a column the first one describes it.
        let mut described: HashMap<String, (&Value, PropertyWords)> = HashMap::new();
        for (column, document) in read {
            described.entry(column).or_insert(document);
        }
        let mut columns = Vec::new();
        for full in &resource.columns {
            let short = if plain {
                if **full == *resource.key || &**full == VERSION {
                    continue;
                }
                full.to_string()
            } else {
                match full.strip_prefix(&prefix) {
                    Some(short) => short.to_owned(),
                    None => continue,
                }
            };
            let (kind, words, rule) = match described.remove(&short) {
                Some((doc, words)) => {
                    let property = resource.property_of_column(full);
                    (kind_of(doc), words, property.and_then(|property| rule(property, doc, self.dialect)))
                }
                None => (PropertyKind::Text, PropertyWords::default(), None),
            };
            columns.push(DeclaredColumn {
                kind,
                indexed: words.index || selected.contains(&short) || ends(&short),
                sorted: sorted.contains(&short),
                unique: words.unique,
                was: words.was,
                name: short,
                rule,
            });
        }
        let extends = (!plain).then_some(&*resource.table);
        let states = if plain { self.states(resource) } else { None };
        Some(tables::declared((&table, &resource.kind), &resource.key, resource.key_is_text, extends, &columns, states))
    }

    /// The column that lists of a plain resource are sorted by where nothing else is requested, if it holds numbers or times.
    fn default_sort(&self, resource: &Resource, layout: &Layout) -> Option<Name> {
        let role = |doc: &SchemaDoc| doc.get("x-param").and_then(Value::as_str).and_then(ArgRole::parse);
        let sorts = |doc: &SchemaDoc| role(doc) == Some(ArgRole::Orderby);
        let declared = |arg: &String| self.declared.args.values().any(|group| group.get(arg).is_some_and(sorts));
        let args =
            resource.declared.endpoints.values().flatten().filter_map(|(arg, doc)| Some((arg, doc.as_object()?)));
        let mut orders = args.filter(|(arg, doc)| sorts(doc) || declared(arg));
        let by = orders.find_map(|(_, doc)| doc.get("default")?.as_str())?;
        let column = resource.declared.sort.get(by)?;
        let (_, def) = layout.column(&resource.table, column)?;
        (def.ty == ColumnType::Int && **column != *resource.key).then(|| def.name.clone())
    }

    /// The states of a plain resource's rows, and whether lists select by them without being told to: the values of the first
    /// property of that kind, or else of the first one by which lists can select.
    fn states(&self, resource: &Resource) -> Option<(States, bool)> {
        let docs = self.schema(&resource.declared.schema)?.get("properties")?.as_object()?;
        let selecting = |column: &Name| {
            let args = resource.declared.endpoints.values().flat_map(|args| args.values()).filter_map(Value::as_object);
            let by_column = args.filter(|doc| {
                let filter = doc.get("x-filter").and_then(|filter| filter.get("column"));
                filter.and_then(Value::as_str) == Some(column)
            });
            by_column.map(|doc| doc.get("default").is_some_and(|default| !default.is_null())).max()
        };
        let found = resource.properties.iter().filter_map(|property| {
            let PropertySource::Column(place) = property.source else { return None };
            let column = &resource.columns[place];
            let listed = docs.get(&property.name)?.get("enum")?.as_array()?;
            let texts = listed.iter().all(|value| value.is_string() || value.is_null());
            let few =
                texts && property.kind == PropertyKind::Text && property.aliases.is_empty() && !property.open_enum;
            let values = listed.iter().filter_map(Value::as_str).map(name).collect();
            let always = selecting(column).filter(|_| few)?;
            Some((States { column: column.clone(), values }, always))
        });
        found.reduce(|first, next| if next.1 && !first.1 { next } else { first })
    }

    /// References in lists, and in columns of declared tables: those of shared tables lead where their family says.
    fn references(&mut self, resources: &[Resource]) -> Vec<Reference> {
        let mut all: Vec<Reference> = Vec::new();
        for resource in resources {
            for relation in &resource.relations {
                let words = self.words_of(resource, &relation.property).unwrap_or_default();
                let own = own_column(resource, &relation.property, &words);
                let own_table = match resource.is_plain() {
                    true => resource.table.clone(),
                    false => name(&format!("x_{}", ident(&resource.kind))),
                };
                let column = name(words.column.as_deref().unwrap_or(&relation.property));
                let (table, values) = match (relation.is_column(), own) {
                    (false, _) => (resource.table.clone(), ReferenceValues::Relation(relation.rel.clone())),
                    (true, Some((table, short))) => (table, ReferenceValues::Column(short)),
                    (true, None) => continue,
                };
                let was = words.was.filter(|_| relation.is_list()).map(|was| name(&format!("{}.{was}", resource.kind)));
                // Resources may share a table, or a relation that leads to different ones.
                if all.iter().all(|known| known.table != table || known.values != values) {
                    let to = resources[relation.to].kind.clone();
                    all.push(Reference { table, values, to, was, own: own_table, column });
                }
            }
        }
        all
    }

    fn words_of(&self, resource: &Resource, property: &str) -> Option<PropertyWords> {
        Some(PropertyWords::of(self.schema(&resource.declared.schema)?.get("properties")?.get(property)?))
    }

    /// Former names of properties: of columns in the resource's own table, or of lists of references, and not of what
    /// another property is called now.
    pub(super) fn former_names(&mut self, resources: &[Resource]) {
        for resource in resources {
            for property in &resource.properties {
                let words = self.words_of(resource, &property.name).unwrap_or_default();
                let Some(was) = &words.was else { continue };
                let pointer = format!("/properties/{}/x-was", escape(&property.name));
                let file = resource.declared.schema.clone();
                let list = resource.relations.iter().any(|r| r.is_list() && r.property == property.name);
                if !list && own_column(resource, &property.name, &words).is_none() {
                    let message = format!("`{}` has no column of its own that had another name", property.name);
                    self.in_schema(&file, &pointer, message, Some("remove x-was".into()));
                } else if resource.properties.iter().any(|other| other.name == *was) {
                    let hint = "x-was is the name that the property itself had before";
                    self.in_schema(&file, &pointer, format!("`{was}` is a property"), Some(hint.into()));
                }
            }
        }
    }
}

/// The declared table that a property has a column in, and the column's name there. Columns of the table that a family
/// shares are not declared.
fn own_column(resource: &Resource, property: &str, words: &PropertyWords) -> Option<(Name, Name)> {
    let column = resource.plan_column(words.column.as_deref().unwrap_or(property))?;
    if resource.is_plain() {
        return Some((resource.table.clone(), column));
    }
    let table = resource.extension.clone()?;
    let short = name(column.strip_prefix(&*table)?.strip_prefix('.')?);
    Some((table, short))
}

/// The columns that searches look into, by table: of content and of what the site declares for itself.
pub(super) fn searched(resources: &[Resource]) -> Vec<(Name, Vec<Name>)> {
    let mut all: IndexMap<Name, Vec<Name>> = IndexMap::new();
    for resource in resources.iter().filter(|r| (r.is_content() || r.is_plain()) && !r.key_is_text) {
        let columns = all.entry(resource.table.clone()).or_default();
        for column in resource.search.values().filter(|column| !column.contains('.')) {
            if !columns.contains(column) && *column != resource.key {
                columns.push(column.clone());
            }
        }
        columns.sort();
    }
    all.into_iter().filter(|(_, columns)| !columns.is_empty()).collect()
}

/// Columns that an argument of the resource filters or sorts by.
pub(super) fn filtered_columns(declared: &declaration::Resource) -> HashSet<String> {
    sorted_columns(declared).union(&selected_columns(declared)).cloned().collect()
}

/// Columns that an argument of the resource sorts by.
fn sorted_columns(declared: &declaration::Resource) -> HashSet<String> {
    declared.sort.values().filter(|c| !c.starts_with('@')).cloned().collect()
}

/// Columns that an argument of the resource filters by, and that of its owner.
fn selected_columns(declared: &declaration::Resource) -> HashSet<String> {
    let mut columns = HashSet::new();
    for args in declared.endpoints.values() {
        for doc in args.values() {
            columns.extend(doc["x-filter"]["column"].as_str().map(str::to_owned));
        }
    }
    columns.extend(declared.owner.clone());
    columns
}

pub(super) fn ident(kind: &str) -> String {
    kind.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}
