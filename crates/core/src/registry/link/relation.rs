//! Relations between resources.

use super::super::name;
use super::super::resource::*;
use super::super::words::{MembersWord, PropertyWords, RelationWord};
use super::property::{is_list, is_required, kind_of};
use super::{ArgOrigin, Linker, escape};
use cms_declaration::Family;
use serde_json::Value;

/// A schema that has `x-relation`: that of a property, or one inside it.
#[derive(Clone)]
pub(super) struct RelationSchema<'d> {
    /// The relation's name in the API, see [`Relation::property`].
    pub name: String,
    pub pointer: String,
    pub doc: &'d Value,
    pub required: bool,
    pub inside: bool,
}

impl Linker<'_> {
    /// `targets`: family of each served resource, and whether its keys are texts.
    pub(super) fn relations(&mut self, resources: &mut [Resource], targets: &[(Family, bool)]) {
        for resource in resources.iter_mut() {
            let file = resource.declared.schema.clone();
            let docs = self.schema(&file).and_then(|s| s.get("properties")).and_then(Value::as_object);
            for (property, doc) in docs.into_iter().flatten() {
                let words = PropertyWords::of(doc);
                let place = ArgOrigin::Schema(file.clone(), format!("/properties/{}", escape(property)));
                if let Some(among) = words.options_from.as_deref() {
                    self.resource_named_in((&place, "x-options-from"), among);
                }
                if let Some(members) = &words.members {
                    self.members(&place, members);
                }
                let Some(relation) = words.relation else {
                    self.inner_relations(resource, property, doc, targets);
                    continue;
                };
                let Some(target) = self.resource_named_in((&place, "x-relation/to"), &relation.to) else { continue };
                let schema = RelationSchema {
                    name: property.clone(),
                    pointer: format!("/properties/{}", escape(property)),
                    doc,
                    required: is_required(doc),
                    inside: false,
                };
                self.deletion(resource, &schema, &relation, targets[target]);
                let many = kind_of(doc) == PropertyKind::Json;
                let place = if many { RelationPlace::List } else { RelationPlace::Column };
                let position = self.relation(resource, &schema, relation, target, place);
                if many && let Some(p) = resource.properties.iter_mut().find(|p| p.name == *property) {
                    p.source = PropertySource::Relation(position);
                }
            }
        }
    }

    /// Rows that refer to an item: their resource and its property exist.
    fn members(&mut self, place: &ArgOrigin, members: &MembersWord) {
        if self.resource_named_in((place, "x-members/of"), &members.of).is_none() {
            return;
        }
        let schema = self.declared.resources.get(&members.of).and_then(|of| self.schema(&of.schema));
        let known = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object).cloned();
        let known = known.unwrap_or_default();
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        self.known_in((place, "x-members/by"), "property", &members.by, &names);
    }

    /// Whether `on_delete` can be carried out, and whether the property can hold keys of the target.
    pub(super) fn deletion(
        &mut self,
        resource: &Resource,
        schema: &RelationSchema<'_>,
        relation: &RelationWord,
        (family, text): (Family, bool),
    ) {
        let RelationSchema { name: property, doc, inside, .. } = schema;
        let kind = kind_of(doc);
        let (on_delete, to) = (relation.on_delete, &relation.to);
        let mut wrong = |below: &str, message: String, hint: &str| {
            let pointer = format!("{}/{below}", schema.pointer);
            self.in_schema(&resource.declared.schema, &pointer, message, Some(hint.into()));
        };
        let place = "x-relation/on_delete";
        if on_delete == OnDelete::Clear && kind != PropertyKind::Json && schema.required {
            let message = format!("the deletion of an item of `{to}` cannot clear `{property}`, which is required");
            wrong(place, message, "set on_delete to `restrict` or `cascade`");
        }
        if on_delete == OnDelete::Reassign && !matches!(family, Family::User | Family::Term) {
            wrong(place, format!("items of `{to}` have no replacement"), "only those of users and terms have one");
        }
        if on_delete == OnDelete::Reassign && *inside {
            wrong(place, format!("`{property}` is inside a value, which keeps its keys"), "set on_delete to `clear`");
        }
        if on_delete == OnDelete::Cascade && resource.is_users() {
            wrong(place, "users are not deleted with other rows".into(), "set on_delete to `restrict` or `clear`");
        }
        let list = is_list(doc);
        let fits = match kind {
            PropertyKind::Integer if *inside && resource.key_is_text => false,
            PropertyKind::Integer => !text,
            PropertyKind::Text => text && !inside,
            PropertyKind::Json => list && !text && !resource.key_is_text,
            PropertyKind::Number | PropertyKind::Boolean | PropertyKind::Time => false,
        };
        if !fits {
            let hint = match (text, list) {
                _ if *inside => {
                    "only items with integer keys can refer to such from inside a value: the type is `integer`"
                }
                (true, true) => "only items with integer keys can be in a list",
                (false, true) => "only items with integer keys can have lists of others",
                (true, _) => "its keys are texts: the type is `string`",
                (false, _) => "its keys are integers: the type is `integer`, or `array` of them",
            };
            wrong("type", format!("`{property}` cannot hold keys of `{to}`"), hint);
        }
    }

    /// Adds a relation; its position.
    pub(super) fn relation(
        &mut self,
        resource: &mut Resource,
        schema: &RelationSchema<'_>,
        relation: RelationWord,
        to: usize,
        place: RelationPlace,
    ) -> usize {
        let pointer = format!("{}/x-relation/code", schema.pointer);
        let missing = relation.code.and_then(|code| self.code_in(&resource.declared.schema, &pointer, &code));
        let rel = relation.rel.unwrap_or_else(|| format!("{}.{}", resource.kind, schema.name));
        resource.relations.push(Relation {
            rel: name(&rel),
            property: schema.name.clone(),
            to,
            place,
            filterable: PropertyWords::of(schema.doc).filterable,
            check: relation.check,
            missing,
            embeddable: relation.embeddable,
            on_delete: relation.on_delete,
        });
        resource.relations.len() - 1
    }
}
