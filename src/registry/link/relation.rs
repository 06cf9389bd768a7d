//! Relations between resources.

use super::super::name;
use super::super::resource::*;
use super::super::words::{MembersWord, PropertyWords, RelationWord};
use super::property::{is_list, is_required, kind_of};
use super::{ArgOrigin, Linker, escape};
use cms_declaration::Family;
use serde_json::Value;

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
                let Some(relation) = words.relation else { continue };
                if let Some(target) = self.resource_named_in((&place, "x-relation/to"), &relation.to) {
                    self.deletion(resource, property, doc, &relation, targets[target]);
                    self.relation(resource, property, doc, relation, target);
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
    fn deletion(
        &mut self,
        resource: &Resource,
        property: &str,
        doc: &Value,
        relation: &RelationWord,
        (family, text): (Family, bool),
    ) {
        let kind = kind_of(doc);
        let (on_delete, to) = (relation.on_delete, &relation.to);
        let mut wrong = |below: &str, message: String, hint: &str| {
            let pointer = format!("/properties/{}/{below}", escape(property));
            self.in_schema(&resource.declared.schema, &pointer, message, Some(hint.into()));
        };
        let place = "x-relation/on_delete";
        if on_delete == OnDelete::Clear && kind != PropertyKind::Json && is_required(doc) {
            let message = format!("the deletion of an item of `{to}` cannot clear `{property}`, which is required");
            wrong(place, message, "set on_delete to `restrict` or `cascade`");
        }
        if on_delete == OnDelete::Reassign && !matches!(family, Family::User | Family::Term) {
            wrong(place, format!("items of `{to}` have no replacement"), "only those of users and terms have one");
        }
        if on_delete == OnDelete::Cascade && resource.is_users() {
            wrong(place, "users are not deleted with other rows".into(), "set on_delete to `restrict` or `clear`");
        }
        let list = is_list(doc);
        let fits = match kind {
            PropertyKind::Integer => !text,
            PropertyKind::Text => text,
            PropertyKind::Json => list && !text && !resource.key_is_text,
            PropertyKind::Number | PropertyKind::Boolean | PropertyKind::Time => false,
        };
        if !fits {
            let hint = match (text, list) {
                (true, true) => "only items with integer keys can be in a list",
                (false, true) => "only items with integer keys can have lists of others",
                (true, _) => "its keys are texts: the type is `string`",
                (false, _) => "its keys are integers: the type is `integer`, or `array` of them",
            };
            wrong("type", format!("`{property}` cannot hold keys of `{to}`"), hint);
        }
    }

    pub(super) fn relation(
        &mut self,
        resource: &mut Resource,
        property: &str,
        doc: &Value,
        relation: RelationWord,
        to: usize,
    ) {
        let many = kind_of(doc) == PropertyKind::Json;
        let pointer = format!("/properties/{}/x-relation/code", escape(property));
        let missing = relation.code.and_then(|code| self.code_in(&resource.declared.schema, &pointer, &code));
        let rel = relation.rel.unwrap_or_else(|| format!("{}.{property}", resource.kind));
        let position = resource.relations.len();
        resource.relations.push(Relation {
            rel: name(&rel),
            property: property.to_owned(),
            to,
            many,
            check: relation.check,
            missing,
            embeddable: relation.embeddable,
            on_delete: relation.on_delete,
        });
        if many && let Some(p) = resource.properties.iter_mut().find(|p| p.name == property) {
            p.source = PropertySource::Relation(position);
        }
    }
}
