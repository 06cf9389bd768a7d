//! Properties of a type's own whose values are meta values of the old site under the same names, as an export from here writes them.

use super::importer::Importer;
use cms_core::families::Columns;
use cms_core::records::txt;
use cms_core::registry::Registry;
use cms_core::registry::meta::MetaType;
use cms_core::registry::resource::{Property, PropertyKind, PropertySource, Resource};
use cms_declaration::Meta;
use cms_storage::plan::{DbValue, Input, Name};
use cms_text::time::parse_datetime;
use serde_json::{Map, Value, json};

/// The type of an own property's values.
pub(super) struct OwnType {
    read: MetaType,
    schema: Map<String, Value>,
}

/// The property of a type that takes the values under a meta key.
pub(super) fn taking<'r>(registry: &Registry, resource: &'r Resource, key: &str) -> Option<&'r Property> {
    let property = resource.property(key).filter(|_| resource.is_content() && !resource.meta.contains_key(key))?;
    let stored = match &property.source {
        PropertySource::Relation(at) => !registry.resources[resource.relations[*at].to].is_taxonomy(),
        PropertySource::Column(_) => property.own && !property.digest && property.derived.is_none(),
        _ => false,
    };
    let column = property.column.as_deref().and_then(|column| column.rsplit('.').next());
    let spoken =
        registry.languages.as_ref().is_some_and(|own| column == Some(&own.column) || column == Some(&own.group));
    let declared = column.is_some_and(|column| resource.declared.import.contains_key(column));
    let filed = resource
        .relations
        .iter()
        .any(|own| own.is_column() && own.property == *key && registry.resources[own.to].is_taxonomy());
    let seo = registry.declaration.seo.import.contains_key(key);
    (stored && !spoken && !declared && !filed && !seo).then_some(property)
}

impl Importer<'_> {
    /// The columns and the lists of references with the values of a type's own properties.
    pub(super) fn own_values(
        &mut self,
        resource: &Resource,
        values: &[(String, String)],
    ) -> (Columns, Vec<(Name, Vec<i64>)>) {
        let (mut set, mut lists) = (Columns::new(), Vec::new());
        for property in &resource.properties {
            let key = &property.name;
            let Some((_, text)) = values.iter().find(|(own, _)| own == key) else { continue };
            if taking(self.registry, resource, key).is_none() {
                continue;
            }
            let read = self.own_value(resource, property, text);
            match (&property.source, read, &property.column) {
                (_, None, _) => *self.report.unfit.entry(key.clone()).or_default() += 1,
                (_, Some(Value::Null), _) => {}
                (PropertySource::Relation(at), Some(ids), _) => {
                    let relation = &resource.relations[*at];
                    let ids = ids.as_array().into_iter().flatten().filter_map(Value::as_i64);
                    let targets = ids.map(|id| self.target_in(relation.to, id)).filter(|id| *id != 0);
                    lists.push((relation.rel.clone(), targets.collect()));
                }
                (_, Some(value), Some(column)) => {
                    let value = self.with_targets(resource, property, value);
                    set.extend(in_column(property.kind, &value).map(|value| (column.clone(), Input::Value(value))));
                }
                (_, Some(_), None) => {}
            }
        }
        (set, lists)
    }

    /// A value as its property has it; null: there is none, `None`: it does not fit.
    fn own_value(&mut self, resource: &Resource, property: &Property, text: &str) -> Option<Value> {
        match property.kind {
            PropertyKind::Text => {}
            PropertyKind::Boolean if text.is_empty() => return Some(json!(false)),
            _ if text.is_empty() => return Some(Value::Null),
            PropertyKind::Time => return parse_datetime(&text.replacen(' ', "T", 1)).map(|_| json!(text)),
            _ => {}
        }
        let place = (resource.index, property.name.clone());
        let registry = self.registry;
        let own = self.own_types.entry(place).or_insert_with(|| {
            let schema = resource.schema["properties"][&property.name].as_object()?.clone();
            let meta = Meta { schema, single: true, beside: false };
            Some(OwnType { read: MetaType::of(&meta, registry.dialect()), schema: meta.schema })
        });
        let own = own.as_ref()?;
        own.read.read(&json!(text), &own.schema)
    }

    /// A value whose keys are those that the rows have here.
    fn with_targets(&self, resource: &Resource, property: &Property, mut value: Value) -> Value {
        let column = resource.relations.iter().find(|own| own.is_column() && own.property == property.name);
        if let (Some(relation), Some(id)) = (column, value.as_i64()) {
            value = json!(Some(self.target_in(relation.to, id)).filter(|id| *id != 0));
        }
        for relation in property.inner_relations.iter().map(|at| &resource.relations[*at]) {
            if let Some(keys) = relation.inner_keys() {
                keys.replace(&mut value, |id| Some(self.target_in(relation.to, id)).filter(|id| *id != 0));
            }
        }
        value
    }

    /// The key here of a row that the source names; 0: it is not there.
    fn target_in(&self, to: usize, id: i64) -> i64 {
        match &self.registry.resources[to] {
            to if to.is_content() => self.records.target(id),
            to if to.is_taxonomy() => self.numbered.get(&id).copied().unwrap_or(0),
            to if to.is_users() => self.users.target(id),
            _ => id,
        }
    }
}

/// The value of a column; `None`: nothing.
fn in_column(kind: PropertyKind, value: &Value) -> Option<DbValue> {
    match kind {
        PropertyKind::Integer => value.as_i64().map(DbValue::Int),
        PropertyKind::Number => value.as_f64().map(DbValue::Real),
        PropertyKind::Boolean => value.as_bool().map(|flag| DbValue::Int(i64::from(flag))),
        PropertyKind::Time => {
            let text = value.as_str()?.replacen(' ', "T", 1);
            parse_datetime(&text).map(|time| DbValue::Int(time.wall))
        }
        PropertyKind::Text => value.as_str().map(txt),
        PropertyKind::Json => Some(txt(&value.to_string())),
    }
}
