//! Relations between resources.

use super::super::name;
use super::super::resource::*;
use super::super::words::{PropertyWords, RelationWord};
use super::property::kind_of;
use super::{Linker, escape, nearest};
use serde_json::Value;
use std::collections::HashMap;

impl Linker<'_> {
    pub(super) fn relations(&mut self, resources: &mut [Resource]) {
        let places: HashMap<String, usize> = resources.iter().map(|r| (r.name.clone(), r.index)).collect();
        for resource in resources.iter_mut() {
            let file = resource.declared.schema.clone();
            let docs = self.loaded.schemas.get(&file).and_then(|s| s.get("properties")).and_then(Value::as_object);
            for (property, doc) in docs.cloned().unwrap_or_default() {
                let words = PropertyWords::of(&doc);
                if let Some(among) = words.options_from.as_deref().filter(|a| !places.contains_key(*a)) {
                    let pointer = format!("/properties/{}/x-options-from", escape(&property));
                    let hint = nearest(among, places.keys().map(String::as_str));
                    let message = format!("the values are entries of `{among}`, which is no resource");
                    self.problems.push(self.loaded.schema_problem(&file, &pointer, message, hint));
                }
                let Some(relation) = words.relation else { continue };
                let Some(target) = places.get(&relation.to).copied() else {
                    let pointer = format!("/properties/{}/x-relation", escape(&property));
                    let hint = nearest(&relation.to, places.keys().map(String::as_str));
                    let message = format!("the relation leads to `{}`, which is no resource", relation.to);
                    self.problems.push(self.loaded.schema_problem(&file, &pointer, message, hint));
                    continue;
                };
                self.relation(resource, &property, &doc, relation, target);
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
        let rel = relation.rel.unwrap_or_else(|| format!("{}.{property}", resource.kind));
        let position = resource.relations.len();
        resource.relations.push(Relation {
            rel: name(&rel),
            property: property.to_owned(),
            to,
            many,
            check: relation.check,
            missing: relation.code.as_deref().and_then(|code| self.code(&["schemas", property], code)),
            embeddable: relation.embeddable,
            on_delete: relation.on_delete,
        });
        if many && let Some(p) = resource.properties.iter_mut().find(|p| p.name == property) {
            p.source = Source::Relation(position);
        }
    }
}
