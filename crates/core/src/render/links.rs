//! The links of an item: which apply, where they lead, what they say.

use super::Item;
use crate::access::hints::Hints;
use crate::access::policy;
use crate::error::ApiError;
use crate::fields::stored_ids;
use crate::records;
use crate::registry::fields::FieldTarget;
use crate::registry::resource::{Context, HrefPiece, Link, LinkTarget, Property, QueryValue, Resource};
use cms_storage::plan::DbValue;
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Item<'_> {
    /// The `_links` of the item, by relation, in the order of declaration. The one to itself has the hints.
    pub fn links(&self, hints: Hints) -> Result<Map<String, Value>, ApiError> {
        let mut links: Map<String, Value> = Map::new();
        for link in &self.resource.links {
            if !self.applies(link)? {
                continue;
            }
            let each = link.each.as_ref().map_or_else(|| vec![None], |list| self.each(list));
            for each in each {
                let Some(href) = self.href(link, each.as_deref()) else { continue };
                let mut object = Map::new();
                for (key, value) in &link.attrs {
                    object.insert(key.clone(), self.attr(link, value));
                }
                if link.embeddable {
                    object.insert("embeddable".into(), Value::Bool(true));
                }
                object.insert("href".into(), Value::String(href));
                if link.rel == "self"
                    && let Some(hints) = hints.shown(&self.scope.registry, self.resource)
                {
                    object.insert("targetHints".into(), hints);
                }
                let entry = links.entry(link.rel.clone()).or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = entry {
                    list.push(Value::Object(object));
                }
            }
        }
        self.drop_unused_curies(&mut links);
        Ok(links)
    }

    /// The values of a property, for each of which there is a link: declared entries, or keys of other rows.
    fn each(&self, property: &str) -> Vec<Option<Arc<str>>> {
        let declared = self.resource.property(property).is_some_and(|property| property.among.is_some());
        match declared {
            true => records::split_words(self.record.text(property)).into_iter().map(Some).collect(),
            false => self.members(property).iter().map(|key| Some(key.to_string().into())).collect(),
        }
    }

    /// Adds the links to what the values of fields refer to, those of the last field first. Recorded: fields inside others, and
    /// those that hold one file, have none.
    pub(super) fn add_field_links(&self, property: &Property, links: &mut Map<String, Value>) {
        let mut found: Vec<(&str, Value)> = Vec::new();
        self.with_field_values(property, |values| {
            for field in self.field_groups().into_iter().flat_map(|group| &group.fields) {
                let Some(target) = field.target() else { continue };
                for id in stored_ids(field, values) {
                    found.extend(self.field_link(target, id).filter(|link| !found.contains(link)));
                }
            }
        });
        for (rel, link) in found.into_iter().rev() {
            if let Value::Array(list) = links.entry(rel).or_insert_with(|| json!([])) {
                list.push(link);
            }
        }
    }

    /// The link to what a value refers to, if that is there and the caller may read it. Recorded: it leads to users whoever asks,
    /// and the response to it says what the caller may read of them.
    fn field_link(&self, target: FieldTarget, id: i64) -> Option<(&str, Value)> {
        let registry = &self.scope.registry;
        let declared = &registry.declaration.fields.links;
        let served = |resource: usize| {
            registry
                .item_route(resource)
                .map(|_| registry.rest(&registry.resources[resource].item_path(&id.to_string())))
        };
        match target {
            FieldTarget::File => None,
            FieldTarget::Record => {
                let place = self.batch.places.get(&id).filter(|place| place.seen)?;
                let files = registry.resources[place.resource].supports("files");
                let rel = if files { &declared.file } else { &declared.record };
                Some((rel.as_deref()?, json!({"embeddable": true, "href": served(place.resource)?})))
            }
            FieldTarget::Term => {
                let place = self.batch.terms.get(&id)?;
                let taxonomy = &registry.resources[place.resource].api_name;
                let link = json!({"taxonomy": taxonomy, "embeddable": true, "href": served(place.resource)?});
                Some((declared.term.as_deref()?, link))
            }
            FieldTarget::User => {
                let (users, _) = self.batch.field_rows.users.get(&id)?;
                Some((declared.user.as_deref()?, json!({"embeddable": true, "href": served(*users)?})))
            }
        }
    }

    /// Abbreviations that no relation uses need no explanation.
    fn drop_unused_curies(&self, links: &mut Map<String, Value>) {
        let Some(Value::Array(mut curies)) = links.shift_remove("curies") else { return };
        curies.retain(|curie| {
            let name = curie["name"].as_str().unwrap_or_default();
            links.keys().any(|rel| rel.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
        });
        if !curies.is_empty() {
            links.insert("curies".into(), Value::Array(curies));
        }
    }

    /// Whether the record that a link leads to is there and the caller may read it.
    fn reads_target(&self, link: &Link) -> bool {
        let LinkTarget::Item { column, .. } = link.target else { return true };
        let id = self.record.row.get(column).map_or(0, records::int);
        self.batch.places.get(&id).is_some_and(|place| place.seen)
    }

    /// `@name` in an attribute is replaced by a fact of the item.
    fn attr(&self, link: &Link, value: &Value) -> Value {
        match value.as_str() {
            Some("@kind") if let LinkTarget::Referenced(family) = link.target => {
                json!(self.referenced(family).map(|(_, place)| &self.scope.registry.resources[place.resource].api_name))
            }
            Some("@revision_count") => json!(self.revisions().0),
            Some("@revision_id") => json!(self.revisions().1),
            Some(OF_KIND) => json!(self.leads_to(link).map(|r| &r.api_name)),
            Some("@id") if let LinkTarget::Item { column, .. } = link.target => {
                json!(self.record.row.get(column).map(records::int))
            }
            _ => value.clone(),
        }
    }

    /// The resource of the record that a link leads to, whichever it is.
    fn leads_to(&self, link: &Link) -> Option<&Resource> {
        let LinkTarget::Item { column, .. } = link.target else { return None };
        let place = self.batch.places.get(&records::int(self.record.row.get(column)?))?;
        Some(&self.scope.registry.resources[place.resource])
    }

    fn applies(&self, link: &Link) -> Result<bool, ApiError> {
        let when = &link.when;
        let set = |i: usize| match self.record.row.get(i) {
            Some(DbValue::Int(i)) => *i != 0,
            Some(DbValue::Text(t)) => !t.is_empty(),
            Some(DbValue::Real(_)) => true,
            Some(DbValue::Null) | None => false,
        };
        let reads = || self.resource.rights_of_link(link).all(|rights| policy::reads_field(self.scope, rights));
        let applies = (self.resource.guarded.is_empty() || reads())
            && when.context.as_deref().is_none_or(|c| Context::parse(c) == Some(self.context))
            && link.when_column.is_none_or(set)
            && when.can.as_deref().is_none_or(|c| self.scope.principal.can(c))
            && (!when.revised || self.revisions().0 > 0)
            && (!when.stored || !self.record.is_original())
            && (!when.children || self.batch.parents.contains(&self.record.id()))
            && (!when.readable || self.reads_target(link));
        match when.act {
            Some(action) if applies => Ok(policy::may(self.scope, action, self.record)?),
            _ => Ok(applies),
        }
    }

    fn href(&self, link: &Link, each: Option<&str>) -> Option<String> {
        let registry = &self.scope.registry;
        let path = match &link.target {
            LinkTarget::Item { resource, column } => {
                let key = show(self.record.row.get(*column)?)?;
                let resource = match of_kind(link) {
                    true => self.leads_to(link)?,
                    false => &registry.resources[*resource],
                };
                resource.item_path(&key)
            }
            LinkTarget::Referenced(family) => {
                let (id, place) = self.referenced(*family)?;
                registry.resources[place.resource].item_path(&id.to_string())
            }
            LinkTarget::Collection { resource, query } => {
                let mut path = registry.resources[*resource].path.clone();
                for (i, (arg, value)) in query.iter().enumerate() {
                    let value = match value {
                        QueryValue::Column(index) => show(self.record.row.get(*index)?)?,
                        QueryValue::Literal(text) => match text.strip_prefix('@') {
                            Some(property) => self.targets_of(property)?,
                            None => text.clone(),
                        },
                    };
                    path.push(if i == 0 { '?' } else { '&' });
                    path.push_str(&format!("{arg}={value}"));
                }
                let replies = self.resource.comment_type(self.record.text("kind")).filter(|_| link.when.children);
                for (arg, value) in replies.iter().flat_map(|kind| &kind.replies) {
                    path.push_str(&format!("&{arg}={value}"));
                }
                path
            }
            LinkTarget::Template(pieces) => {
                let mut path = String::new();
                for piece in pieces {
                    match piece {
                        HrefPiece::Literal(text) => path.push_str(text),
                        HrefPiece::Column(index) => path.push_str(&show(self.record.row.get(*index)?)?),
                        HrefPiece::SelfPath => path.push_str(&records::item_path(registry, self.record)),
                        HrefPiece::CollectionPath => path.push_str(&records::collection_path(self.record)),
                        HrefPiece::Each => path.push_str(each?),
                        HrefPiece::RevisionId => path.push_str(&self.revisions().1.to_string()),
                        HrefPiece::ApiName => path.push_str(&self.resource.api_name),
                    }
                }
                path
            }
        };
        Some(if link.absolute { path } else { registry.rest(&path) })
    }

    /// Whether the caller sees nothing of a property here: only those who edit the item do, or its password locks it.
    fn hides(&self, property: &Property) -> bool {
        let edits = self.context == Context::EDIT || property.contexts.shows_in(Context::VIEW);
        !edits || property.locked && !self.open()
    }

    fn targets_of(&self, property: &str) -> Option<String> {
        let relation = self.resource.relations.iter().find(|r| r.property == property)?;
        if self.resource.property(relation.holder()).is_some_and(|holder| self.hides(holder)) {
            return None;
        }
        let targets = self.batch.edges.get(&(relation.rel.clone(), self.record.id()))?;
        let ids: Vec<String> = targets.iter().map(i64::to_string).collect();
        (!ids.is_empty()).then(|| ids.join(","))
    }
}

/// An attribute that is replaced by the kind of the record that the link leads to, whichever that is.
const OF_KIND: &str = "@post_type";

pub(super) fn of_kind(link: &Link) -> bool {
    link.attrs.values().any(|value| value == OF_KIND)
}

fn show(value: &DbValue) -> Option<String> {
    match value {
        DbValue::Int(i) => Some(i.to_string()),
        DbValue::Text(t) => Some(t.to_string()),
        _ => None,
    }
}
