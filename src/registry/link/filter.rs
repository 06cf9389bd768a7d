//! What an argument selects: filters, words of a search, sort keys.

use super::super::Behaviour;
use super::super::args::{Filter, FilterOp};
use super::super::resource::*;
use super::super::words::{Overflow, SearchWords};
use super::{Declared, Linker, nearest};
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
            let found = names.iter().position(|n| *n == query);
            if found.is_none() {
                let hint = nearest(query, names.iter().copied());
                self.report(place, "x-filter", format!("unknown query behaviour `{query}`"), hint);
            }
            return Some(Filter::Query { behaviour: Behaviour(found?), params: filter });
        }
        let resource = resource?;
        let column = filter.get("column").and_then(Value::as_str).unwrap_or_default();
        let op = filter.get("op").and_then(Value::as_str).unwrap_or("eq");
        let Some(plan_column) = resource.plan_column(column) else {
            let hint = nearest(column, resource.column_index.keys().map(String::as_str));
            self.report(place, "x-filter", format!("`{}` has no column `{column}`", resource.name), hint);
            return None;
        };
        let Some((_, op)) = FilterOp::ALL.iter().find(|(n, _)| *n == op) else {
            let hint = nearest(op, FilterOp::ALL.iter().map(|(n, _)| *n));
            self.report(place, "x-filter", format!("unknown operator `{op}`"), hint);
            return None;
        };
        let first = filter.get("first") == Some(&json!(true));
        Some(Filter::Column { column: plan_column, op: *op, first })
    }

    pub(super) fn check_orderby(&mut self, doc: &SchemaDoc, resource: &Resource, place: &Declared) {
        for value in doc.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if resource.stores_rows() && !resource.sort.contains_key(value) {
                let hint = format!("add `{value} = \"a column\"` to [resources.{}.sort]", resource.name);
                self.report(place, "enum", format!("orderby offers `{value}`, which has no sort key"), Some(hint));
            }
        }
    }
}

/// How many words a search has, as it is carried out.
pub(super) fn word_limit(words: SearchWords) -> WordLimit {
    WordLimit { most: words.max, phrase: words.overflow == Overflow::Phrase }
}
