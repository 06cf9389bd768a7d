//! Hints about properties that the schemas for clients do not contain: relations, criteria, sort keys, labels of
//! values, and declarations about showing and editing them.

use super::field_groups;
use crate::registry::Registry;
use crate::registry::args::{ArgRole, Filter};
use crate::registry::criteria::Criteria;
use crate::registry::entries::key_name;
use crate::registry::resource::{Link, LinkTarget, Property, PropertyKind, PropertySource, Resource};
use crate::registry::roles::Roles;
use crate::registry::views::{self, humanize_name};
use cms_declaration::{FieldView, LabelSource};
use cms_storage::JsonStep;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// The hints of all properties that have some, by name; `a.b` for what is nested.
pub fn hints(registry: &Registry, roles: &Roles, resource: &Resource) -> Map<String, Value> {
    let list = views::endpoint(registry, resource, "list").map(|(_, endpoint)| &endpoint.args);
    let criteria = list.and_then(|args| match &args.role(ArgRole::Where)?.filter {
        Some(Filter::Where(criteria)) => Some(criteria),
        _ => None,
    });
    let sorts = list.and_then(|args| args.role(ArgRole::Orderby).or(args.role(ArgRole::OrderKeys)));
    let keys = sorts.map(|_| views::sort_keys(resource)).unwrap_or_default();
    let facts = FieldContext { registry, roles, resource, criteria, keys };
    let mut hints = Map::new();
    facts.gather(&resource.properties, "", &resource.schema, &mut hints);
    // Declared fields that are no properties of documents, such as an argument of its own.
    for (name, declared) in &resource.declared.view.fields {
        hints.entry(name.clone()).or_insert_with(|| Value::Object(facts.declared(declared)));
    }
    field_groups::add_hints(registry, resource, &mut hints);
    hints
}

/// A step as hints write it.
fn step_name(step: &JsonStep) -> &str {
    match step {
        JsonStep::Member(name) => name,
        JsonStep::Each => "*",
    }
}

/// Whether a link has an attribute with the type of what it leads to.
fn names_type(link: &Link) -> bool {
    link.attrs.values().any(|value| value == "@post_type")
}

/// Labels of declared entries, by their keys.
fn entry_labels<'r>(registry: &'r Registry, resource: &Resource) -> IndexMap<&'r str, &'r str> {
    fn named<'e>(entry: &'e Value, key: &str) -> Option<(&'e str, &'e str)> {
        let key = Value::as_str(&entry[key])?;
        let label = ["title", "label", "description"].iter().find_map(|name| entry[*name].as_str());
        Some((key, label.filter(|label| !label.is_empty()).unwrap_or(key)))
    }
    let key = key_name(resource);
    registry.entries(resource).iter().filter_map(|entry| named(entry, key)).collect()
}

struct FieldContext<'r> {
    registry: &'r Registry,
    roles: &'r Roles,
    resource: &'r Resource,
    criteria: Option<&'r Criteria>,
    keys: IndexMap<&'r str, &'r str>,
}

impl FieldContext<'_> {
    fn gather(&self, properties: &[Property], above: &str, schema: &Value, hints: &mut Map<String, Value>) {
        for property in properties.iter().filter(|property| !property.hidden) {
            let name = if above.is_empty() { property.name.clone() } else { format!("{above}.{}", property.name) };
            let schema = &schema["properties"][&property.name];
            let mut hint = self.hint(property, &name, above.is_empty());
            // Lists and filters show no schema: what its title says, they know from here.
            let title = schema["title"].as_str().filter(|title| !title.is_empty());
            if let Some(title) = title.filter(|_| !hint.contains_key("label")) {
                hint.insert("label".to_owned(), json!(title));
            }
            if !hint.is_empty() {
                hints.insert(name.clone(), Value::Object(hint));
            }
            for inner in &property.inner_views {
                hints.insert(format!("{name}.{}", inner.path), Value::Object(self.declared(&inner.view)));
            }
            for relation in property.inner_relations.iter().map(|at| &self.resource.relations[*at]) {
                let Some(keys) = relation.inner_keys() else { continue };
                let to = &self.registry.resources[relation.to].name;
                let (path, many) = match keys.path.split_last() {
                    Some((JsonStep::Each, above)) => (above, true),
                    _ => (&keys.path[..], false),
                };
                let path: Vec<&str> = path.iter().map(step_name).collect();
                let at = std::iter::once(name.as_str()).chain(path).collect::<Vec<_>>().join(".");
                let hint = hints.entry(at).or_insert_with(|| json!({}));
                hint["relation"] = json!({"resources": [to], "many": many});
            }
            if let PropertySource::Object(children) = &property.source {
                self.gather(children, &name, schema, hints);
            }
        }
    }

    fn hint(&self, property: &Property, name: &str, top: bool) -> Map<String, Value> {
        let mut hint = Map::new();
        if top {
            if let Some((to, many)) = self.relation(property) {
                hint.insert("relation".to_owned(), json!({"resources": [to.name], "many": many}));
            }
            let criterion = self.criteria.and_then(|criteria| criteria.0.get(&property.name));
            if let Some(criterion) = criterion {
                let names: Vec<&str> = criterion.operators.iter().map(|(name, _)| *name).collect();
                hint.insert("operators".to_owned(), json!(names));
            }
            if let Some(key) = self.keys.get(property.name.as_str()) {
                hint.insert("sort".to_owned(), json!(key));
            }
        }
        if let Some(among) = property.among.as_deref().and_then(|name| self.registry.resource(name)) {
            let control = if property.kind == PropertyKind::Text { "select" } else { "checkboxes" };
            hint.insert("control".to_owned(), json!(control));
            hint.insert("labels".to_owned(), json!(entry_labels(self.registry, among)));
        }
        let states = views::holder(self.resource, "status").is_some_and(|state| state.name == property.name);
        if states && top {
            hint.insert("labels".to_owned(), json!(self.states(property)));
        }
        for declared in [&property.view, self.resource.declared.view.fields.get(name).unwrap_or(&property.view)] {
            hint.extend(self.declared(declared));
        }
        hint
    }

    /// The resource that a property refers to: by its relation, or by a link with its key from the property's column.
    fn relation(&self, property: &Property) -> Option<(&Resource, bool)> {
        let resources = &self.registry.resources;
        let declared = self.resource.relations.iter().find(|relation| relation.property == property.name);
        if let Some(relation) = declared {
            return Some((&resources[relation.to], relation.is_list()));
        }
        let column = self.resource.column(property.column.as_deref()?)?;
        let leads = |link: &Link| match link.target {
            // Where the link says of which type the item is, it may be one of any type.
            LinkTarget::Item { resource, column: own } if own == column && !names_type(link) => Some(resource),
            _ => None,
        };
        let target = self.resource.links.iter().find_map(leads)?;
        (property.kind == PropertyKind::Integer).then(|| (&resources[target], false))
    }

    /// The labels of states, as documents write their names.
    fn states(&self, property: &Property) -> IndexMap<String, String> {
        let written = |state: &String| {
            let alias = property.aliases.iter().find(|(stored, _)| stored == state);
            alias.map_or_else(|| state.clone(), |(_, public)| public.clone())
        };
        let states = views::states(self.registry, self.resource);
        states.iter().map(|state| (written(state), views::state_label(self.registry, state))).collect()
    }

    fn declared(&self, declared: &FieldView) -> Map<String, Value> {
        let mut hint = match json!(declared) {
            Value::Object(hint) => hint,
            _ => Map::new(),
        };
        // The form that follows has it already.
        hint.remove("folded");
        if hint.remove("labels_from").is_some()
            && let Some(from) = declared.labels_from
        {
            let mut labels = self.labels(from);
            labels.extend(declared.labels.clone());
            hint.insert("labels".to_owned(), json!(labels));
            if let Some(usual) = self.registry.default_role().filter(|_| from == LabelSource::Roles) {
                let mut options = declared.options.clone();
                options.insert("usual".to_owned(), json!(usual));
                hint.insert("options".to_owned(), Value::Object(options));
            }
        }
        hint
    }

    fn labels(&self, from: LabelSource) -> IndexMap<String, String> {
        let declared = &self.registry.declaration;
        let of = |resource: &Resource| (resource.api_name.clone(), super::describe::label(resource));
        match from {
            LabelSource::Roles => self.roles.iter().map(|(name, role)| (name.to_owned(), role.name.clone())).collect(),
            LabelSource::Statuses => {
                declared.statuses.iter().map(|(name, own)| (name.clone(), own.label.clone())).collect()
            }
            LabelSource::Types => self.registry.content_kinds().map(of).collect(),
            LabelSource::Taxonomies => self.registry.taxonomy_kinds().map(of).collect(),
            LabelSource::Resources => {
                let served = |own: &&Resource| {
                    self.registry.routes.iter().any(|route| [route.owner, route.resource].contains(&Some(own.index)))
                };
                let rows = self.registry.resources.iter().filter(served);
                rows.map(|own| (own.name.clone(), humanize_name(&own.name))).collect()
            }
            LabelSource::Templates => {
                let themes = declared.themes.values().filter(|theme| theme.active);
                themes.flat_map(|theme| &theme.templates).map(|(name, title)| (name.clone(), title.clone())).collect()
            }
        }
    }
}
