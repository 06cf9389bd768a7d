//! One property of a resource's schema: where its value comes from, what is stored.

use super::super::resource::*;
use super::super::tables::{self};
use super::super::{Behaviour, name};
use super::layout::ident;
use super::{Linker, escape, nearest};
use crate::config::declaration::Family;
use crate::error::Code;
use serde_json::{Value, json};

impl Linker<'_> {
    pub(super) fn property(
        &mut self,
        resource: &mut Resource,
        property_name: &str,
        doc: &Value,
        pointer: &str,
        top: bool,
    ) -> Property {
        let word = |w: &str| doc.get(w).and_then(Value::as_str);
        let kind = kind_of(doc);
        let column = word("x-column").map(str::to_owned);
        let read = word("x-read").map(str::to_owned);
        let write = word("x-write").map(str::to_owned);
        let children = doc.get("properties").and_then(Value::as_object);
        let composed = children.is_some_and(|c| c.values().any(has_source));
        let owns_columns = tables::family_table(resource.family).is_some() || resource.family == Family::Plain;
        let mut column_name = column.clone();
        let source = if let Some(read) = read {
            let index = column.as_deref().and_then(|c| self.place(resource, c, pointer));
            match self.schema_name(resource, pointer, "x-read", &read, &self.vocabulary.reads.clone()) {
                Some(behaviour) => Source::Read(Behaviour(behaviour), index),
                None => Source::Nothing,
            }
        } else if let Some(value) = doc.get("x-const") {
            Source::Fixed(value.clone())
        } else if doc.get("x-meta") == Some(&json!(true)) {
            Source::Meta
        } else if doc.get("x-relation").is_some() && kind == Kind::Json {
            // The relation itself is resolved when all resources are known.
            Source::Nothing
        } else if doc.get("x-handler-property") == Some(&json!(true)) || !owns_columns {
            Source::Extra
        } else if doc.get("x-input-only") == Some(&json!(true)) {
            Source::Nothing
        } else if let Some(column) = &column {
            self.place(resource, column, pointer).map_or(Source::Nothing, Source::Column)
        } else if composed {
            let children = children.cloned().unwrap_or_default();
            let list = children.iter().map(|(child, doc)| {
                let pointer = format!("{pointer}/properties/{}", escape(child));
                self.property(resource, child, doc, &pointer, false)
            });
            Source::Object(list.collect())
        } else if top {
            column_name = Some(property_name.to_owned());
            self.place(resource, property_name, pointer).map_or(Source::Nothing, Source::Column)
        } else {
            Source::Nothing
        };
        let write = write.and_then(|write| {
            self.schema_name(resource, pointer, "x-write", &write, &self.vocabulary.writes.clone()).map(Behaviour)
        });
        Property {
            name: property_name.to_owned(),
            contexts: contexts_of(doc),
            readonly: doc.get("readonly") == Some(&json!(true)),
            source,
            kind,
            nullable: types_of(doc).contains(&"null"),
            column: column_name.and_then(|c| resource.plan_column(&c)),
            digest: doc.get("x-stored-digest") == Some(&json!(true)),
            write,
            among: word("x-options-from").map(str::to_owned),
            aliases: aliases_of(doc),
            locked: doc
                .get("x-password-protected")
                .and_then(Value::as_bool)
                .unwrap_or_else(|| is_content(resource, doc)),
            longest: self.longest(resource, doc, pointer),
        }
    }

    /// `x-too-long-code` with its `x-max-bytes`.
    pub(super) fn longest(&mut self, resource: &Resource, doc: &Value, pointer: &str) -> Option<(usize, Code)> {
        let wanted = doc.get("x-too-long-code")?.as_str().unwrap_or_default();
        let most = doc.get("x-max-bytes").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        let code = Code::parse(wanted);
        if code.is_none() || most.is_none() {
            let message = match code {
                None => format!("no error has the code `{wanted}`"),
                Some(_) => "x-too-long-code goes with x-max-bytes".to_owned(),
            };
            let hint = nearest(wanted, Code::ALL.iter().map(|c| c.as_str()));
            let place = format!("{pointer}/x-too-long-code");
            self.problems.push(self.loaded.schema_problem(&resource.declared.schema, &place, message, hint));
        }
        most.zip(code)
    }

    /// Position of a column, made on the spot when the kind may declare its own.
    pub(super) fn place(&mut self, resource: &mut Resource, column: &str, pointer: &str) -> Option<usize> {
        if let Some(index) = resource.column(column) {
            return Some(index);
        }
        if !is_ident(column) {
            let file = resource.declared.schema.clone();
            let message = format!("`{column}` cannot be the name of a column");
            let hint = "letters, digits and _ only; rename the property or give x-column";
            self.problems.push(self.loaded.schema_problem(&file, pointer, message, Some(hint.into())));
            return None;
        }
        let full = if resource.family == Family::Plain {
            name(column)
        } else {
            name(&format!("x_{}.{column}", ident(&resource.kind)))
        };
        resource.columns.push(full);
        let index = resource.columns.len() - 1;
        resource.column_index.insert(column.to_owned(), index);
        Some(index)
    }

    pub(super) fn schema_name(
        &mut self,
        resource: &Resource,
        pointer: &str,
        word: &str,
        wanted: &str,
        names: &[&'static str],
    ) -> Option<usize> {
        let found = names.iter().position(|n| *n == wanted);
        if found.is_none() {
            let hint = nearest(wanted, names.iter().copied());
            let place = format!("{pointer}/{word}");
            let message = format!("unknown behaviour `{wanted}`");
            let problem = self.loaded.schema_problem(&resource.declared.schema, &place, message, hint);
            self.problems.push(problem);
        }
        found
    }
}

/// What a record's password locks unless the schema says otherwise (`x-password-protected`): its long texts and its meta.
pub(super) fn is_content(resource: &Resource, doc: &Value) -> bool {
    let word = |word: &str| doc.get(word).and_then(Value::as_str).unwrap_or_default();
    resource.family == Family::Content
        && (doc.get("x-meta") == Some(&json!(true))
            || matches!(word("x-column"), "content" | "excerpt")
            || matches!(word("x-read"), "content.rendered" | "excerpt.rendered"))
}

pub(super) fn has_source(doc: &Value) -> bool {
    ["x-column", "x-read", "x-handler-property", "x-meta", "x-relation", "x-input-only"]
        .iter()
        .any(|w| doc.get(w).is_some())
        || doc.get("properties").and_then(Value::as_object).is_some_and(|c| c.values().any(has_source))
}

pub(super) fn types_of(doc: &Value) -> Vec<&str> {
    match doc.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn kind_of(doc: &Value) -> Kind {
    match types_of(doc).into_iter().find(|t| *t != "null") {
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("array" | "object") => Kind::Json,
        Some("string") if doc.get("format").is_some_and(|f| f == "date-time") => Kind::Time,
        _ => Kind::Text,
    }
}

pub(super) fn contexts_of(doc: &Value) -> Context {
    match doc.get("context").and_then(Value::as_array) {
        None => Context::ALL,
        Some(list) => {
            Context(list.iter().filter_map(Value::as_str).filter_map(Context::parse).fold(0, |bits, c| bits | c.0))
        }
    }
}

pub(super) fn aliases_of(doc: &Value) -> Vec<(String, String)> {
    let map = doc.get("x-value-map").and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}

pub(super) fn is_ident(column: &str) -> bool {
    !column.is_empty()
        && column.len() <= 60
        && column.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !column.starts_with(|c: char| c.is_ascii_digit())
}
