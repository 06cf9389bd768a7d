//! One property of a resource's schema: where its value comes from, what is stored.

use super::super::columns::VERSION;
use super::super::guarded::FieldRights;
use super::super::resource::*;
use super::super::tables::{self};
use super::super::vocabulary::names;
use super::super::words::PropertyWords;
use super::super::{Behaviour, name};
use super::layout::ident;
use super::names::RESERVED_MARK;
use super::{Linker, escape};
use crate::error::Code;
use cms_config::check::suggestion;
use cms_declaration::Family;
use cms_schema::{Schema, constraints};
use serde_json::{Value, json};

/// The `x-view` of schemas inside a schema.
fn inner_views(doc: &Value) -> Vec<InnerView> {
    let mut found = Vec::new();
    let mut waiting = vec![(String::new(), String::new(), doc)];
    while let Some((path, pointer, doc)) = waiting.pop() {
        if !pointer.is_empty()
            && doc.get("x-view").is_some()
            && let Some(view) = PropertyWords::of(doc).view
        {
            found.push(InnerView { path: path.clone(), pointer: pointer.clone(), view });
        }
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        for (word, free) in [("properties", false), ("patternProperties", true)] {
            for (name, inside) in doc.get(word).and_then(Value::as_object).into_iter().flatten() {
                let at = if free { below("*") } else { below(name) };
                waiting.push((at, format!("{pointer}/{word}/{}", escape(name)), inside));
            }
        }
        for word in ["items", "additionalProperties"] {
            waiting.extend(
                doc.get(word)
                    .filter(|inside| inside.is_object())
                    .map(|inside| (below("*"), format!("{pointer}/{word}"), inside)),
            );
        }
        for word in ["oneOf", "anyOf"] {
            for (i, inside) in doc.get(word).and_then(Value::as_array).into_iter().flatten().enumerate() {
                waiting.push((path.clone(), format!("{pointer}/{word}/{i}"), inside));
            }
        }
    }
    found.reverse();
    found
}

impl Linker<'_> {
    pub(super) fn property(
        &mut self,
        resource: &mut Resource,
        property_name: &str,
        doc: &Value,
        pointer: &str,
        top: bool,
    ) -> Property {
        let (words, kind) = (PropertyWords::of(doc), kind_of(doc));
        let composed = doc["properties"].as_object().is_some_and(|c| c.values().any(has_source));
        let owns_columns = tables::family_table(resource.family).is_some() || resource.is_plain();
        let mut column_name = words.column.clone();
        let source = if let Some(source) = self.computed(resource, &words, pointer) {
            source
        } else if let Some(source) = without_column(&words) {
            source
        } else if words.relation.is_some() && kind == PropertyKind::Json {
            PropertySource::Nothing // The relation itself is resolved when all resources are known.
        } else if words.handler_property || !owns_columns {
            PropertySource::Extra
        } else if words.input_only {
            PropertySource::Nothing
        } else if let Some(column) = &words.column {
            self.place(resource, column, pointer).map_or(PropertySource::Nothing, PropertySource::Column)
        } else if composed {
            PropertySource::Object(self.children(resource, doc, pointer))
        } else if top {
            column_name = Some(property_name.to_owned());
            self.place_by_name(resource, property_name, pointer).map_or(PropertySource::Nothing, PropertySource::Column)
        } else {
            PropertySource::Nothing
        };
        let own = is_own(resource.family, &resource.key, column_name.as_deref());
        Property {
            name: property_name.to_owned(),
            contexts: if words.hidden { Context(0) } else { contexts_of(doc) },
            readonly: doc.get("readonly") == Some(&json!(true)),
            write: self.written(resource, &words, pointer),
            refusal: self.refusal(resource, &words, pointer),
            longest: self.longest(resource, &words, pointer),
            source,
            kind,
            nullable: is_nullable(doc),
            own,
            unset: words.unset.clone().or_else(|| doc.get("default").cloned()).filter(|_| own),
            clock: (own && kind == PropertyKind::Time).then(|| clock_of(&words)),
            refers: words.relation.is_some(),
            inner_relations: Vec::new(),
            slug: words.write.as_deref() == Some("slug"),
            hidden: words.hidden,
            filterable: words.filterable,
            optional: words.optional || words.on_demand,
            on_demand: words.on_demand,
            rights: FieldRights::default(),
            locked: words.password_protected.unwrap_or_else(|| is_content(resource, &words)),
            shown_types: words.shown_types,
            open_enum: words.open_enum,
            derived: words.derived,
            drawing: words.drawing,
            example: example(words.example, resource),
            view: words.view.unwrap_or_default(),
            inner_views: if composed { Vec::new() } else { inner_views(doc) },
            members: doc.get("items").filter(|_| is_list(doc)).map(kind_of),
            column: column_name.and_then(|c| resource.plan_column(&c)),
            stored: self.stored_schema(doc, own),
            digest: words.stored_digest,
            among: words.options_from,
            aliases: words.value_map.into_iter().collect(),
        }
    }

    /// The source of a property that a behaviour computes.
    fn computed(&mut self, resource: &mut Resource, words: &PropertyWords, pointer: &str) -> Option<PropertySource> {
        let read = words.read.as_deref().or(words.fields.then_some(""))?;
        let index = words.column.as_deref().and_then(|column| self.place(resource, column, pointer));
        let found = self.schema_name(resource, pointer, "x-read", read, &names(&self.vocabulary.reads)).map(Behaviour);
        Some(match found {
            Some(behaviour) if words.fields => PropertySource::Fields(behaviour),
            Some(behaviour) => PropertySource::Read(behaviour, index),
            None => PropertySource::Nothing,
        })
    }

    /// The properties that an object is composed of.
    fn children(&mut self, resource: &mut Resource, doc: &Value, pointer: &str) -> Vec<Property> {
        let children = doc.get("properties").and_then(Value::as_object).into_iter().flatten();
        let list = children.map(|(child, doc)| {
            let pointer = format!("{pointer}/properties/{}", escape(child));
            self.property(resource, child, doc, &pointer, false)
        });
        list.collect()
    }

    /// `x-write`.
    fn written(&mut self, resource: &Resource, words: &PropertyWords, pointer: &str) -> Option<Behaviour> {
        let write = words.write.as_deref()?;
        self.schema_name(resource, pointer, "x-write", write, &names(&self.vocabulary.writes)).map(Behaviour)
    }

    /// The schema of a text once a behaviour has changed it: lengths apply to the stored text, and blanks alone are no
    /// value where one is required. The fields of WordPress's own resources are as WordPress has them.
    fn stored_schema(&self, doc: &Value, own: bool) -> Option<Schema> {
        let write = doc.get("x-write")?.as_str()?;
        let plain = ["text_field", "textarea"].contains(&write) && !self.dialect.escape_text_fields;
        let mut schema = constraints(doc);
        let keywords = schema.as_object_mut().filter(|_| (own || plain) && kind_of(doc) == PropertyKind::Text)?;
        if is_required(doc) {
            keywords.entry("minLength").or_insert_with(|| json!(1));
        }
        Schema::compile(&schema, self.dialect).ok()
    }

    /// `x-refusal`.
    fn refusal(&mut self, resource: &Resource, words: &PropertyWords, pointer: &str) -> Option<PropertyRefusal> {
        let word = words.refusal.as_ref()?;
        let code = self.code_in(&resource.declared.schema, &format!("{pointer}/x-refusal/code"), &word.code)?;
        Some(PropertyRefusal { code, member: word.member.clone() })
    }

    /// `x-too-long-code` with its `x-max-bytes`.
    pub(super) fn longest(
        &mut self,
        resource: &Resource,
        words: &PropertyWords,
        pointer: &str,
    ) -> Option<(usize, Code)> {
        let wanted = words.too_long_code.as_deref()?;
        let most = words.max_bytes.and_then(|most| usize::try_from(most).ok());
        let place = format!("{pointer}/x-too-long-code");
        let code = self.code_in(&resource.declared.schema, &place, wanted);
        if most.is_none() {
            self.in_schema(&resource.declared.schema, &place, "`x-too-long-code` needs `x-max-bytes`", None);
        }
        most.zip(code)
    }

    /// Position of the column that is called as the property. One that the family keeps for itself is met by accident.
    fn place_by_name(&mut self, resource: &mut Resource, property: &str, pointer: &str) -> Option<usize> {
        if tables::kept_columns(resource.family).contains(&property) {
            let message = format!("`{property}` is a column that every item of this family has");
            let hint = "rename the property, or give it a column of its own with x-column";
            self.in_schema(&resource.declared.schema, pointer, message, Some(hint.into()));
        }
        self.place(resource, property, pointer)
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
            // A property with a name of the interface is reported as such.
            if !column.starts_with(RESERVED_MARK) || !pointer.ends_with(&format!("/{column}")) {
                self.in_schema(&file, pointer, message, Some(hint.into()));
            }
            return None;
        }
        let full =
            if resource.is_plain() { name(column) } else { name(&format!("x_{}.{column}", ident(&resource.kind))) };
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
            let hint = suggestion(wanted, names.iter().copied());
            let place = format!("{pointer}/{word}");
            self.in_schema(&resource.declared.schema, &place, format!("unknown {word} behaviour `{wanted}`"), hint);
        }
        found
    }
}

/// `x-example`, in which `{kind}` is the name that the kind has in the API.
fn example(declared: Option<Value>, resource: &Resource) -> Option<Value> {
    declared.map(|example| filled(example, &resource.api_name))
}

fn filled(example: Value, kind: &str) -> Value {
    match example {
        Value::String(text) => Value::String(text.replace("{kind}", kind)),
        Value::Array(list) => Value::Array(list.into_iter().map(|item| filled(item, kind)).collect()),
        other => other,
    }
}

/// The source of a property that no column and no behaviour has a part in.
fn without_column(words: &PropertyWords) -> Option<PropertySource> {
    match (&words.constant, &words.members) {
        (Some(value), _) => Some(PropertySource::Fixed(value.clone())),
        _ if words.meta => Some(PropertySource::Meta),
        (None, members) => {
            members.as_ref().map(|members| PropertySource::Members(members.of.clone(), members.by.clone()))
        }
    }
}

/// Whether a record's password locks a property that does not say so (`x-password-protected`): long texts and meta.
pub(super) fn is_content(resource: &Resource, words: &PropertyWords) -> bool {
    resource.is_content()
        && (words.meta
            || words.fields
            || matches!(words.column.as_deref(), Some("content" | "excerpt"))
            || matches!(words.read.as_deref(), Some("content.rendered" | "excerpt.rendered")))
}

pub(super) fn has_source(doc: &Value) -> bool {
    let words = PropertyWords::of(doc);
    let own = words.column.is_some()
        || words.read.is_some()
        || words.members.is_some()
        || words.handler_property
        || words.meta
        || words.input_only;
    own || doc.get("properties").and_then(Value::as_object).is_some_and(|c| c.values().any(has_source))
}

pub(super) fn types_of(doc: &Value) -> Vec<&str> {
    match doc.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether the value may be null: one of the types, or of the listed values.
pub(super) fn is_nullable(doc: &Value) -> bool {
    let listed = doc.get("enum").and_then(Value::as_array).is_some_and(|list| list.contains(&Value::Null));
    listed || types_of(doc).contains(&"null")
}

/// How a value is stored. One of several types, of several shapes or of any says itself which one it has.
pub(super) fn kind_of(doc: &Value) -> PropertyKind {
    let types = types_of(doc);
    let alternatives: Vec<&Value> =
        ["oneOf", "anyOf"].iter().filter_map(|word| doc.get(word)?.as_array()).flatten().collect();
    let kinds: Vec<PropertyKind> = if !types.is_empty() {
        types.into_iter().filter(|name| *name != "null").map(|name| kind_of_type(name, doc)).collect()
    } else if !alternatives.is_empty() {
        alternatives.into_iter().filter(|one| types_of(one) != ["null"]).map(kind_of).collect()
    } else {
        let listed = doc.get("enum").and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(kind_of_value).collect()
    };
    let both = |one, other| match (one, other) {
        (one, other) if one == other => one,
        (PropertyKind::Integer | PropertyKind::Number, PropertyKind::Integer | PropertyKind::Number) => {
            PropertyKind::Number
        }
        _ => PropertyKind::Json,
    };
    kinds.into_iter().reduce(both).unwrap_or(PropertyKind::Json)
}

fn kind_of_type(name: &str, doc: &Value) -> PropertyKind {
    match name {
        "integer" => PropertyKind::Integer,
        "number" => PropertyKind::Number,
        "boolean" => PropertyKind::Boolean,
        "string" if doc.get("format").is_some_and(|f| f == "date-time") => PropertyKind::Time,
        "string" => PropertyKind::Text,
        _ => PropertyKind::Json,
    }
}

fn kind_of_value(value: &Value) -> Option<PropertyKind> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) => PropertyKind::Boolean,
        Value::Number(number) if number.is_f64() => PropertyKind::Number,
        Value::Number(_) => PropertyKind::Integer,
        Value::String(_) => PropertyKind::Text,
        Value::Array(_) | Value::Object(_) => PropertyKind::Json,
    })
}

/// Whether the value is a list, and nothing else but null.
pub(super) fn is_list(doc: &Value) -> bool {
    let types = types_of(doc);
    types.contains(&"array") && types.iter().all(|name| ["array", "null"].contains(name))
}

/// The clock of an own property of times: those of the behaviour `time` are UTC.
fn clock_of(words: &PropertyWords) -> ColumnClock {
    if words.write.as_deref() == Some("time") { ColumnClock::Utc } else { ColumnClock::Local }
}

/// Whether a column is declared with the kind, rather than shared by the family.
pub(super) fn is_own(family: Family, key: &str, column: Option<&str>) -> bool {
    let shared = tables::family_columns(family);
    column.is_some_and(|column| match family == Family::Plain {
        true => column != key && column != VERSION,
        false => !shared.is_empty() && !shared.contains(&column),
    })
}

/// Whether a new row has to have the property.
pub(super) fn is_required(doc: &Value) -> bool {
    let required = |at: &str| doc.pointer(at) == Some(&Value::Bool(true));
    required("/required") || required("/x-create-arg/required") || required("/x-args/required")
}

pub(super) fn contexts_of(doc: &Value) -> Context {
    match doc.get("context").and_then(Value::as_array) {
        None => Context::ALL,
        Some(list) => {
            Context(list.iter().filter_map(Value::as_str).filter_map(Context::parse).fold(0, |bits, c| bits | c.0))
        }
    }
}

pub(super) fn is_ident(column: &str) -> bool {
    !column.is_empty()
        && column.len() <= 60
        && column.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !column.starts_with(|c: char| c.is_ascii_digit() || c == RESERVED_MARK)
}
