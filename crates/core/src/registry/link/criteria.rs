//! `where`, `order_by` and `_count_by`: arguments of lists that follow from the properties marked `x-filterable` and from the
//! sort keys.

use super::super::args::{ArgRole, Operand};
use super::super::columns::comment;
use super::super::criteria::{
    CHOICE, Criteria, Criterion, CriterionOp, CriterionSubject, FLAG, KEYS, LIST, ORDERED, RelationPath, TEXT,
    takes_list,
};
use super::super::edit_only;
use super::super::resource::*;
use super::super::views::holder;
use super::{Linker, escape};
use cms_declaration::SchemaDoc;
use serde_json::{Map, Value, json};

/// Criteria that one request may have.
const MOST_CRITERIA: u64 = 20;
/// Values of one list.
const MOST_VALUES: u64 = 100;
/// Length of a text that is compared.
const LONGEST: u64 = 1000;
/// Sort keys that one request may have.
const MOST_KEYS: u64 = 5;

/// A property that lists can be filtered by.
struct FilterProperty<'r> {
    property: &'r Property,
    /// Its name; that of a member of an object is behind a dot.
    name: String,
    pointer: String,
}

/// The properties of a resource that are marked.
fn filterable(resource: &Resource) -> Vec<FilterProperty<'_>> {
    fn gather<'r>(properties: &'r [Property], above: &str, pointer: &str, found: &mut Vec<FilterProperty<'r>>) {
        for property in properties {
            let name = format!("{above}{}", property.name);
            let pointer = format!("{pointer}/properties/{}", escape(&property.name));
            if let PropertySource::Object(children) = &property.source {
                gather(children, &format!("{name}."), &pointer, found);
            }
            if property.filterable {
                found.push(FilterProperty { property, name, pointer });
            }
        }
    }
    let mut found = Vec::new();
    gather(&resource.properties, "", "", &mut found);
    found
}

/// The state of a resource's records. Tabs and counts of lists need it, whichever properties are marked.
fn state(resource: &Resource) -> Option<FilterProperty<'_>> {
    let property = resource.is_content().then(|| holder(resource, "status")).flatten()?;
    let plain = matches!(property.source, PropertySource::Column(_)) && property.kind == PropertyKind::Text;
    let pointer = format!("/properties/{}", escape(&property.name));
    plain.then(|| FilterProperty { property, name: property.name.clone(), pointer })
}

impl Linker<'_> {
    /// Fills in what an argument with one of these roles takes. `false`: the resource has nothing that it could take.
    pub(super) fn complete(
        &self,
        role: ArgRole,
        doc: &mut SchemaDoc,
        criteria: &Criteria,
        resource: &Resource,
    ) -> bool {
        match role {
            ArgRole::Where => {
                let properties: Map<String, Value> =
                    criteria.0.iter().map(|(name, own)| (name.clone(), operators(own))).collect();
                doc.insert("properties".into(), Value::Object(properties));
                doc.insert("additionalProperties".into(), json!(false));
                doc.insert("maxProperties".into(), json!(MOST_CRITERIA));
                !criteria.0.is_empty()
            }
            ArgRole::OrderKeys => {
                let column = |sort: &Sort| matches!(sort, Sort::Column(_));
                let keys = resource.sort.iter().filter(|(_, sort)| column(sort)).map(|(name, _)| name);
                let both: Vec<String> = keys.flat_map(|name| [name.clone(), format!("-{name}")]).collect();
                let any = !both.is_empty();
                doc.insert("items".into(), json!({"type": "string", "enum": both}));
                doc.insert("maxItems".into(), json!(MOST_KEYS));
                any
            }
            ArgRole::CountBy => {
                let names: Vec<&String> =
                    criteria.0.iter().filter(|(_, own)| own.counts()).map(|(name, _)| name).collect();
                doc.insert("enum".into(), json!(names));
                !names.is_empty()
            }
            _ => true,
        }
    }

    /// The criteria of a resource's lists: its own, and those of related resources, one relation away.
    pub(super) fn criteria(&mut self, resource: &Resource, resources: &[Resource]) -> Criteria {
        let mut found = Criteria::default();
        found.0.extend(resource.inner_relations().filter_map(|relation| inner_criterion(resource, relation)));
        for own in filterable(resource).into_iter().chain(state(resource)) {
            match self.criterion(resource, &own) {
                Some(criterion) => drop(found.0.insert(own.name, criterion)),
                None => {
                    let message = format!("lists cannot be filtered by `{}`", own.name);
                    let hint = "x-filterable is for properties with a column or a relation of their own";
                    self.in_schema(
                        &resource.declared.schema,
                        &format!("{}/x-filterable", own.pointer),
                        message,
                        Some(hint.into()),
                    );
                }
            }
        }
        for relation in &resource.relations {
            let target = &resources[relation.to];
            let through = match resource.plan_column(&relation.property) {
                _ if !target.stores_rows() || target.key_is_text => continue,
                _ if !relation.is_column() => RelationPath::Edges(relation.rel.clone()),
                Some(column) => RelationPath::Column(column),
                None => continue,
            };
            let hidden = edit_only::hidden_relation(resource, relation);
            let related = resource.rights_of_relation(relation).map(|rights| rights.read.clone());
            for own in filterable(target) {
                let name = format!("{}.{}", relation.property, own.name);
                if let Some(criterion) = self.criterion(target, &own)
                    && !found.0.contains_key(&name)
                    && !hidden
                {
                    let needs = criterion.needs.iter().chain(&related).cloned().collect();
                    found.0.insert(name, Criterion { through: Some(through.clone()), needs, ..criterion });
                }
            }
        }
        found
    }

    fn criterion(&self, resource: &Resource, own: &FilterProperty<'_>) -> Option<Criterion> {
        let property = own.property;
        let doc = self.schema(&resource.declared.schema)?.pointer(&own.pointer)?;
        let free = doc.get("enum").is_none();
        let base = |subject, operators, value, edit_only| {
            let (aliases, locked) = (property.aliases.clone(), property.locked);
            let (kind, unset) = (property.kind, property.shown_unset().filter(|_| property.own));
            Criterion {
                resource: resource.index,
                through: None,
                subject,
                operators,
                value,
                kind,
                edit_only,
                needs: vec![property.rights.read.clone()],
                locked,
                made: is_made(resource, property),
                aliases,
                unset,
            }
        };
        if let Some(relation) = resource.relations.iter().find(|r| r.is_list() && r.property == property.name) {
            let hidden = edit_only::hidden_relation(resource, relation);
            return Some(base(CriterionSubject::Edges(relation.rel.clone()), KEYS, json!({"type": "integer"}), hidden));
        }
        let column = property.column.clone()?;
        let hidden = resource.edit_only.contains(&column);
        let clock = resource.clock(&column);
        let (operand, operators) = match (property.kind, clock) {
            _ if property.digest => return None,
            (_, Some(clock)) => (Operand::Time(clock), ORDERED),
            (PropertyKind::Time, None) => return None,
            (PropertyKind::Json, _) if property.members.is_some_and(|of| of != PropertyKind::Json) && property.own => {
                (Operand::Member, LIST)
            }
            (PropertyKind::Json, _) => return None,
            (PropertyKind::Boolean, _) => (Operand::Value, FLAG),
            (PropertyKind::Integer, _) if property.refers => (Operand::Id, CHOICE),
            (PropertyKind::Integer | PropertyKind::Number, _) => (Operand::Value, ORDERED),
            (PropertyKind::Text, _) if property.slug => (Operand::Slug, TEXT),
            // Their order is that of the texts.
            (PropertyKind::Text, _) if sorts_as_text(doc) => (Operand::Value, ORDERED),
            (PropertyKind::Text, _) if free => (Operand::Value, TEXT),
            (PropertyKind::Text, _) => (Operand::Value, CHOICE),
        };
        let value = match operand {
            Operand::Time(_) => {
                json!({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "enum": ["now"]}]})
            }
            Operand::Member => value_of(doc.get("items")?, doc["items"].get("enum")),
            _ => value_of(doc, doc.get("enum").filter(|_| property.own && !property.open_enum)),
        };
        let (extension, column) = match column.split_once('.') {
            Some((table, column)) => (Some(table.into()), column.into()),
            None => (None, column),
        };
        Some(base(CriterionSubject::Column { column, extension, operand }, operators, value, hidden))
    }
}

/// The criterion of keys inside a value, with its name.
fn inner_criterion(resource: &Resource, relation: &Relation) -> Option<(String, Criterion)> {
    let holder = resource.property(relation.holder()).filter(|_| relation.filterable)?;
    let criterion = Criterion {
        resource: resource.index,
        through: None,
        subject: CriterionSubject::Edges(relation.rel.clone()),
        operators: KEYS,
        value: json!({"type": "integer"}),
        kind: PropertyKind::Json,
        edit_only: edit_only::hidden_relation(resource, relation),
        needs: vec![holder.rights.read.clone()],
        locked: holder.locked,
        made: false,
        aliases: Vec::new(),
        unset: None,
    };
    Some((relation.property.clone(), criterion))
}

/// The schema of a criterion in `where`: an object of operators.
fn operators(criterion: &Criterion) -> Value {
    let value = &criterion.value;
    let list = json!({"type": "array", "items": value, "maxItems": MOST_VALUES});
    let operand = |test: CriterionOp| match test {
        CriterionOp::Set => json!({"type": "boolean"}),
        test if takes_list(test) => list.clone(),
        _ => value.clone(),
    };
    let members: Map<String, Value> =
        criterion.operators.iter().map(|(operator, test)| ((*operator).to_owned(), operand(*test))).collect();
    json!({"description": "How the value is compared.", "type": "object",
        "properties": members, "additionalProperties": false, "minProperties": 1})
}

/// The schema of operands for a property. Columns that a family shares have further values than their schema lists.
fn value_of(doc: &Value, choices: Option<&Value>) -> Value {
    let types: Vec<&str> = match &doc["type"] {
        Value::Array(list) => list.iter().filter_map(Value::as_str).filter(|own| *own != "null").collect(),
        one => one.as_str().into_iter().collect(),
    };
    let mut value = Map::new();
    value.insert("type".into(), types.first().copied().unwrap_or("string").into());
    if types.first() == Some(&"string") {
        match doc.get("format").filter(|_| sorts_as_text(doc)) {
            Some(format) => value.insert("format".into(), format.clone()),
            None => value.insert("maxLength".into(), json!(LONGEST)),
        };
        let choices = choices.and_then(Value::as_array).map(|list| list.iter().filter(|choice| !choice.is_null()));
        value.extend(choices.map(|choices| ("enum".to_owned(), choices.cloned().collect())));
    }
    Value::Object(value)
}

/// Whether values are days or times of day.
fn sorts_as_text(doc: &Value) -> bool {
    doc.get("format").and_then(Value::as_str).is_some_and(|format| matches!(format, "date" | "time"))
}

/// Whether documents show what is made of the value in place of the value. States are declared, so a stored one shows
/// nothing that documents hide.
fn is_made(resource: &Resource, property: &Property) -> bool {
    let state = !resource.is_plain() && property.column.as_deref() == Some(comment::STATUS);
    matches!(property.source, PropertySource::Read(..)) && !state
}
