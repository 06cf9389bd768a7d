//! Relations whose keys are inside the values of properties: `x-relation` at a schema inside that of a property.

use super::super::resource::*;
use super::super::words::{PropertyWords, RelationWord};
use super::property::{is_list, is_required};
use super::relation::RelationSchema;
use super::{ArgOrigin, Linker, escape};
use cms_declaration::Family;
use cms_storage::{InnerKeys, JsonStep};
use serde_json::Value;

/// A schema inside that of a property, with its `x-relation`.
struct InnerRelation<'d> {
    schema: RelationSchema<'d>,
    path: Vec<JsonStep>,
    word: RelationWord,
}

impl Linker<'_> {
    /// The relations inside a property's value.
    pub(super) fn inner_relations(
        &mut self,
        resource: &mut Resource,
        property: &str,
        doc: &Value,
        targets: &[(Family, bool)],
    ) {
        let start = RelationSchema {
            name: property.to_owned(),
            pointer: format!("/properties/{}", escape(property)),
            doc,
            required: false,
            inside: true,
        };
        let (mut found, mut unfiltered) = (Vec::new(), Vec::new());
        gather(&start, &[], &mut found, &mut unfiltered);
        let stored = |own: &Property| own.own && own.kind == PropertyKind::Json && own.name == property;
        let at =
            resource.properties.iter().position(|own| stored(own) && matches!(own.source, PropertySource::Column(_)));
        let column = at.and_then(|at| resource.properties[at].column.clone());
        // Members of an object that is not stored as a whole have columns of their own.
        for schema in unfiltered.iter().filter(|_| column.is_some()) {
            let message = format!("lists cannot be filtered by `{}`", schema.name);
            let hint = "inside a list or an object, x-filterable is for members with an x-relation";
            self.in_schema(
                &resource.declared.schema,
                &format!("{}/x-filterable", schema.pointer),
                message,
                Some(hint.into()),
            );
        }
        for InnerRelation { schema, path, word } in found {
            let file = resource.declared.schema.clone();
            let (Some(at), Some(column)) = (at, &column) else {
                let message = format!("`{property}` is no value that is stored as a whole");
                let hint = "x-relation stands at a property, or inside a list or an object of the type's own";
                self.in_schema(&file, &format!("{}/x-relation", schema.pointer), message, Some(hint.into()));
                continue;
            };
            let place = ArgOrigin::Schema(file.clone(), schema.pointer.clone());
            let Some(to) = self.resource_named_in((&place, "x-relation/to"), &word.to) else { continue };
            self.deletion(resource, &schema, &word, targets[to]);
            if !word.check {
                let message = format!("items that `{}` names are always checked", schema.name);
                self.report(&place, "x-relation/check", message, Some("remove check".into()));
            }
            let place = RelationPlace::Inside(InnerKeys { column: column.clone(), path });
            // The alternatives of a value can have the same member.
            match resource.relations.iter().find(|own| own.property == schema.name) {
                Some(own) if own.place == place && own.to == to && own.on_delete == word.on_delete => continue,
                Some(_) => {
                    let message = format!("another relation inside `{property}` is called `{}`", schema.name);
                    let hint = "give the members different names, or the same x-relation";
                    self.in_schema(&file, &format!("{}/x-relation", schema.pointer), message, Some(hint.into()));
                }
                None => {
                    let position = self.relation(resource, &schema, word, to, place);
                    resource.properties[at].inner_relations.push(position);
                }
            }
        }
    }
}

/// Finds the relations inside a schema, and the members that lists should be filtered by and that are none; `path` leads to it.
fn gather<'d>(
    at: &RelationSchema<'d>,
    path: &[JsonStep],
    found: &mut Vec<InnerRelation<'d>>,
    unfiltered: &mut Vec<RelationSchema<'d>>,
) {
    let with = |step: JsonStep| -> Vec<JsonStep> { path.iter().cloned().chain([step]).collect() };
    let words = PropertyWords::of(at.doc);
    match words.relation {
        Some(word) if !path.is_empty() => {
            let path = if is_list(at.doc) { with(JsonStep::Each) } else { path.to_vec() };
            return found.push(InnerRelation { schema: at.clone(), path, word });
        }
        None if words.filterable && !path.is_empty() => unfiltered.push(at.clone()),
        _ => {}
    }
    let required = at.doc.get("required").and_then(Value::as_array);
    for (name, doc) in at.doc.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let listed = required.is_some_and(|names| names.iter().any(|one| one == name));
        let below = RelationSchema {
            name: format!("{}.{name}", at.name),
            pointer: format!("{}/properties/{}", at.pointer, escape(name)),
            doc,
            required: listed || is_required(doc),
            inside: true,
        };
        gather(&below, &with(JsonStep::Member(name.as_str().into())), found, unfiltered);
    }
    let same = |word: &str, doc: &'d Value| RelationSchema {
        pointer: format!("{}/{word}", at.pointer),
        doc,
        required: false,
        ..at.clone()
    };
    for word in ["items", "additionalProperties"] {
        if let Some(doc) = at.doc.get(word).filter(|doc| doc.is_object()) {
            gather(&same(word, doc), &with(JsonStep::Each), found, unfiltered);
        }
    }
    for word in ["oneOf", "anyOf"] {
        for (i, doc) in at.doc.get(word).and_then(Value::as_array).into_iter().flatten().enumerate() {
            gather(
                &RelationSchema { required: at.required, ..same(&format!("{word}/{i}"), doc) },
                path,
                found,
                unfiltered,
            );
        }
    }
}
