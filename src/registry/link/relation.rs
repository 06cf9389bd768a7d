//! Relations between resources.

use super::super::name;
use super::super::resource::*;
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
                if let Some(among) =
                    doc.get("x-options-from").and_then(Value::as_str).filter(|a| !places.contains_key(*a))
                {
                    let pointer = format!("/properties/{}/x-options-from", escape(&property));
                    let hint = nearest(among, places.keys().map(String::as_str));
                    let message = format!("the values are entries of `{among}`, which is no resource");
                    self.problems.push(self.loaded.schema_problem(&file, &pointer, message, hint));
                }
                let Some(relation) = doc.get("x-relation") else { continue };
                let pointer = format!("/properties/{}/x-relation", escape(&property));
                let to = relation.get("to").and_then(Value::as_str).unwrap_or_default();
                let Some(target) = places.get(to).copied() else {
                    let hint = nearest(to, places.keys().map(String::as_str));
                    let message = format!("the relation leads to `{to}`, which is no resource");
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
        relation: &Value,
        to: usize,
    ) {
        let many = kind_of(doc) == Kind::Json;
        let declared = relation.get("rel").and_then(Value::as_str);
        let rel = declared.map_or_else(|| format!("{}.{property}", resource.kind), str::to_owned);
        let flag = |word: &str, default: bool| relation.get(word).and_then(Value::as_bool).unwrap_or(default);
        let on_delete = match relation.get("on_delete").and_then(Value::as_str).unwrap_or("clear") {
            "clear" => OnDelete::Clear,
            "refuse" => OnDelete::Refuse,
            "cascade" => OnDelete::Cascade,
            "reassign" => OnDelete::Reassign,
            other => {
                let pointer = format!("/properties/{}/x-relation/on_delete", escape(property));
                let message = format!("unknown word `{other}`");
                let hint = "clear, refuse, cascade or reassign";
                let file = resource.declared.schema.clone();
                self.problems.push(self.loaded.schema_problem(&file, &pointer, message, Some(hint.into())));
                OnDelete::Clear
            }
        };
        let position = resource.relations.len();
        resource.relations.push(Relation {
            rel: name(&rel),
            property: property.to_owned(),
            to,
            many,
            check: flag("check", true),
            missing: relation
                .get("code")
                .and_then(Value::as_str)
                .and_then(|code| self.code(&["schemas", property], code)),
            embeddable: flag("embeddable", false),
            on_delete,
        });
        if many && let Some(p) = resource.properties.iter_mut().find(|p| p.name == property) {
            p.source = Source::Relation(position);
        }
    }
}
