//! What an argument selects: filters, words of a search, sort keys.

use super::super::Behaviour;
use super::super::args::{Filter, FilterOp};
use super::super::resource::*;
use super::super::words::{Overflow, SearchWords};
use super::report::no_column;
use super::{Declared, Linker};
use crate::config::declaration::SchemaDoc;
use crate::text::search::WordLimit;
use serde_json::{Map, Value, json};

impl Linker<'_> {
    pub(super) fn filter(
        &mut self,
        filter: Map<String, Value>,
        resource: Option<&Resource>,
        place: &Declared,
    ) -> Option<Filter> {
        if let Some(query) = filter.get("query").and_then(Value::as_str) {
            let names = self.vocabulary.queries.clone();
            let found = self.known_in((place, "x-filter"), "query behaviour", query, &names);
            return Some(Filter::Query { behaviour: Behaviour(found?), params: filter });
        }
        let resource = resource?;
        let column = filter.get("column").and_then(Value::as_str).unwrap_or_default();
        let op = filter.get("op").and_then(Value::as_str).unwrap_or("eq");
        let Some(plan_column) = resource.plan_column(column) else {
            let (message, hint) = no_column(resource, column);
            self.report(place, "x-filter", message, hint);
            return None;
        };
        let names: Vec<&str> = FilterOp::ALL.iter().map(|(name, _)| *name).collect();
        let (_, op) = &FilterOp::ALL[self.known_in((place, "x-filter"), "operator", op, &names)?];
        let first = filter.get("first") == Some(&json!(true));
        Some(Filter::Column { column: plan_column, op: *op, first })
    }

    pub(super) fn check_orderby(&mut self, doc: &SchemaDoc, resource: &Resource, place: &Declared) {
        for value in doc.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if resource.stores_rows() && !resource.sort.contains_key(value) {
                let hint = format!("add `{value} = \"a column\"` to [resources.{}.sort]", resource.name);
                self.report(
                    place,
                    "enum",
                    format!("`orderby` offers `{value}`, which `{}` has no sort key for", resource.name),
                    Some(hint),
                );
            }
        }
    }
}

/// How many words a search has, as it is carried out.
pub(super) fn word_limit(words: SearchWords) -> WordLimit {
    WordLimit { most: words.max, phrase: words.overflow == Overflow::Phrase }
}
