//! Rights to single fields: the capability that a word names, and that nothing else shows what it guards.

use super::super::args::{ArgRole, ArgSet};
use super::super::guarded::{FieldRights, GuardedField, can_be_hidden};
use super::super::resource::*;
use super::super::words::PropertyWords;
use super::{ArgOrigin, Linker, escape};
use cms_declaration::Action;
use serde_json::{Value, json};

/// The words that give a field rights of its own.
const WORDS: [&str; 2] = ["x-read-capability", "x-write-capability"];

/// Whether a word guards something where it stands: at a property of a schema, or at the schema of a meta value.
pub(super) fn is_misplaced(word: &str, place: &ArgOrigin, pointer: &str) -> bool {
    let placed = match place {
        ArgOrigin::Schema(..) => pointer.strip_prefix("/properties/").is_some_and(|name| !name.contains('/')),
        ArgOrigin::Config(path) => pointer.is_empty() && path.get(2).is_some_and(|key| key == "meta"),
    };
    WORDS.contains(&word) && !placed
}

impl Linker<'_> {
    /// Links the rights of all fields that have some.
    pub(super) fn guarded(&mut self, resources: &mut [Resource]) {
        let terms: Vec<bool> = resources.iter().map(Resource::is_taxonomy).collect();
        for resource in resources {
            let mut found = Vec::new();
            let schema = self.schema(&resource.declared.schema);
            let docs = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
            for (name, doc) in docs.into_iter().flatten() {
                let Some(rights) = rights(resource, &PropertyWords::of(doc)) else { continue };
                let place =
                    ArgOrigin::Schema(resource.declared.schema.clone(), format!("/properties/{}", escape(name)));
                self.check_property(resource, name, doc, &place, &terms);
                found.push(GuardedField { property: name.clone(), key: None, rights });
            }
            let shown = resource.properties.iter().find(|property| matches!(property.source, PropertySource::Meta));
            let shown = shown.map_or("meta", |property| property.name.as_str()).to_owned();
            for (key, meta) in &resource.declared.meta {
                let words = PropertyWords::of(&Value::Object(meta.schema.clone()));
                let Some(rights) = rights(resource, &words) else { continue };
                if resource.fields.as_ref().is_some_and(|fields| fields.declares(key)) {
                    let path = ["resources", resource.name.as_str(), "meta", key, "schema"];
                    let message = format!("a field group shows `{key}` to everybody");
                    self.problem(&path, message, Some("remove the field, or the capability".into()));
                }
                found.push(GuardedField { property: shown.clone(), key: Some(key.clone()), rights });
            }
            for field in &found {
                match &field.key {
                    None => {
                        for own in resource.properties.iter_mut().filter(|own| own.name == field.property) {
                            own.optional |= !field.rights.read.is_empty();
                            own.rights.clone_from(&field.rights);
                        }
                    }
                    Some(key) => {
                        if let Some(of) = resource.meta.get_mut(key) {
                            of.rights.clone_from(&field.rights);
                        }
                    }
                }
            }
            resource.guarded = found;
        }
    }

    /// Whether the words at a property can be kept: requests write it, and nothing else shows its value.
    fn check_property(&mut self, resource: &Resource, name: &str, doc: &Value, place: &ArgOrigin, terms: &[bool]) {
        let words = PropertyWords::of(doc);
        let Some(property) = resource.property(name) else { return };
        let written = resource.stores_rows() && words.args != Some(json!(false)) && *name != *resource.key;
        let whole = matches!(property.source, PropertySource::Meta | PropertySource::Fields(_));
        if words.write_capability.is_some() && (property.readonly || property.hidden || whole || !written) {
            let hint = "remove it; the values of `meta` have it each for itself: [resources.NAME.meta.KEY]";
            self.report(place, WORDS[1], format!("requests do not write `{name}` itself"), Some(hint.into()));
        }
        if words.read_capability.is_none() {
            return;
        }
        let mut relations = resource.relations.iter().filter(|relation| relation.holder() == name);
        if !can_be_hidden(property) || property.hidden || relations.any(|relation| terms[relation.to]) {
            let hint =
                "x-read-capability is for columns and relations that a type declares for itself, and for meta values";
            let message = format!("others than this property show what `{name}` holds");
            return self.report(place, WORDS[0], message, Some(hint.into()));
        }
        let column = property.column.as_deref();
        let shows = |other: &Property| {
            let same = column.is_some() && other.column.as_deref() == column;
            let made = other.derived.as_ref().is_some_and(|derived| derived.from == name);
            other.name != name && (same || made)
        };
        if let Some(other) = all_of(&resource.properties).into_iter().find(|other| shows(other)) {
            let message = format!("`{}` shows what `{name}` holds to everybody", other.name);
            self.report(place, WORDS[0], message, Some("give each property a column of its own".into()));
        }
        let at = column.and_then(|column| resource.columns.iter().position(|own| **own == *column));
        if at.is_some_and(|at| resource.address.columns.contains(&at)) {
            let hint = "take it out of the address, or remove the capability";
            self.report(place, WORDS[0], format!("addresses show `{name}` to everybody"), Some(hint.into()));
        }
    }

    /// The defaults of a list have to be open to everybody who may read it.
    pub(super) fn guarded_defaults(&mut self, resource: &Resource, args: &ArgSet, endpoint: &str) {
        let secret = |rights: Option<&FieldRights>| rights.is_some_and(|rights| !rights.read.is_empty());
        for arg in args.args.iter().filter(|arg| arg.default.as_ref().is_some_and(|default| !default.is_null())) {
            let filtered = arg.filter.as_ref().and_then(|filter| resource.rights_of_filter(filter));
            let sorted = arg.default.as_ref().filter(|_| arg.role == Some(ArgRole::Orderby)).and_then(Value::as_str);
            let sorted = sorted.and_then(|key| match resource.sort.get(key) {
                Some(Sort::Column(column)) => resource.rights_of_column(column),
                _ => None,
            });
            if secret(filtered) || secret(sorted) {
                let message = format!("the default of `{}` uses a value that not everybody may read", arg.name);
                let path = ["resources", resource.name.as_str(), "endpoints", endpoint, &arg.name, "default"];
                self.problem(&path, message, Some("give it another default, or none".into()));
            }
        }
    }
}

/// The rights that the words name; `None`: they name none.
fn rights(resource: &Resource, words: &PropertyWords) -> Option<FieldRights> {
    let resolved = |named: &String| {
        let action = Action::named(named).and_then(|action| resource.capabilities.get(&action));
        action.unwrap_or(named).clone()
    };
    let (read, write) = (words.read_capability.as_ref(), words.write_capability.as_ref());
    let rights = FieldRights {
        read: read.map(resolved).unwrap_or_default(),
        write: write.or(read).map(resolved).unwrap_or_default(),
    };
    (rights != FieldRights::default()).then_some(rights)
}

/// Properties with those inside them.
fn all_of(properties: &[Property]) -> Vec<&Property> {
    let mut found = Vec::new();
    for property in properties {
        found.push(property);
        if let PropertySource::Object(children) = &property.source {
            found.extend(all_of(children));
        }
    }
    found
}
