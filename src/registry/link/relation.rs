//! Relations between resources.

use super::super::name;
use super::super::resource::*;
use super::super::words::{PropertyWords, RelationWord};
use super::property::kind_of;
use super::{Declared, Linker, escape};
use serde_json::Value;

impl Linker<'_> {
    pub(super) fn relations(&mut self, resources: &mut [Resource]) {
        for resource in resources.iter_mut() {
            let file = resource.declared.schema.clone();
            let docs = self.loaded.schemas.get(&file).and_then(|s| s.get("properties")).and_then(Value::as_object);
            for (property, doc) in docs.cloned().unwrap_or_default() {
                let words = PropertyWords::of(&doc);
                let place = Declared::Schema(file.clone(), format!("/properties/{}", escape(&property)));
                if let Some(among) = words.options_from.as_deref() {
                    self.resource_named_in((&place, "x-options-from"), among);
                }
                let Some(relation) = words.relation else { continue };
                if let Some(target) = self.resource_named_in((&place, "x-relation/to"), &relation.to) {
                    self.relation(resource, &property, &doc, relation, target);
                }
            }
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
        let many = kind_of(doc) == Kind::Json;
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
            p.source = Source::Relation(position);
        }
    }
}
