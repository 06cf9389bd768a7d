//! What an argument selects: filters, words of a search, sort keys.

use super::super::Behaviour;
use super::super::args::{Filter, FilterOp};
use super::super::resource::*;
use super::super::vocabulary::{families, names};
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
            return self.query(query, &filter, resource, place);
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

    /// A filter by a query behaviour: it exists, serves the resource, and has these options.
    fn query(
        &mut self,
        wanted: &str,
        filter: &Map<String, Value>,
        resource: Option<&Resource>,
        place: &Declared,
    ) -> Option<Filter> {
        let vocabulary = self.vocabulary;
        let found = self.known_in((place, "x-filter"), "query behaviour", wanted, &names(&vocabulary.queries))?;
        let query = &vocabulary.queries[found];
        if let Some(resource) = resource.filter(|resource| !query.fits(resource.family)) {
            let message = format!(
                "the query `{wanted}` selects rows of the families {}, not of `{}` ({})",
                families(query.serves),
                resource.name,
                resource.family.name()
            );
            self.report(place, "x-filter", message, None);
        }
        let options: Vec<&str> = query.options.iter().map(|(option, _)| *option).chain(["query"]).collect();
        for key in filter.keys() {
            self.known_in((place, &format!("x-filter/{key}")), "option", key, &options);
        }
        Some(Filter::Query { behaviour: Behaviour(found), params: filter.clone() })
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
