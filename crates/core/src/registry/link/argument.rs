//! Arguments of endpoints: groups, what schemas derive, adjustments; compiled with their filters.

use super::super::args::{Arg, ArgRole, Filter, JsonText, LazyDocument, SpellingDirection, convert_spelling};
use super::super::resource::*;
use super::super::words::{ArgumentWords, JsonWord, PropertyWords};
use super::super::{bounds, edit_only, fields, locked, without_x_words};
use super::filter::word_limit;
use super::shown::{meta_properties, show_no_meta, without_bounds};
use super::{ArgOrigin, Linker, escape};
use cms_declaration::{self as declaration, SchemaDoc};
use cms_schema::{Dialect, Schema};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// The parts of an argument that follow from its document.
#[derive(Clone)]
pub(super) struct ArgDocument {
    schema: Schema,
    accepted: Option<Schema>,
    shown: LazyDocument,
}

/// Those that were compiled, by dialect, whether the argument is required, and a digest of its document, which is with it.
pub(super) type ArgDocuments = HashMap<(Dialect, bool, u64), (Arc<Value>, ArgDocument), foldhash::fast::RandomState>;

impl Linker<'_> {
    /// The argument documents of an endpoint in order: groups, its own, the resource's adjustments.
    pub(super) fn arg_docs(
        &mut self,
        endpoint: &declaration::Endpoint,
        resource: Option<&Resource>,
        captures: &[String],
        at: &[&str],
    ) -> IndexMap<String, (SchemaDoc, ArgOrigin)> {
        let mut docs: IndexMap<String, (SchemaDoc, ArgOrigin)> = IndexMap::new();
        for (i, group) in endpoint.args.iter().enumerate() {
            match group.as_str() {
                "@create" | "@update" => {
                    if let Some(resource) = resource {
                        self.derived(resource, group == "@create", &mut docs);
                    }
                }
                "@key" => {
                    for capture in captures {
                        let place = ArgOrigin::Config(at.iter().map(|s| (*s).to_owned()).collect());
                        docs.entry(capture.clone()).or_insert_with(|| (key_doc(capture, resource), place));
                    }
                }
                group => match self.declared.args.get(group) {
                    Some(args) => {
                        for (arg, doc) in args {
                            let place = ArgOrigin::Config(vec!["args".into(), group.into(), arg.clone()]);
                            merge_arg(&mut docs, arg, doc, place);
                        }
                    }
                    None => {
                        let declared = self.declared.args.keys().map(String::as_str);
                        let names: Vec<&str> = declared.chain(["@create", "@update", "@key"]).collect();
                        self.known(&[at, &["args", &i.to_string()]].concat(), "group of arguments", group, &names);
                    }
                },
            }
        }
        let own = endpoint.with.iter().map(|(arg, change)| {
            let mut place: Vec<String> = at.iter().map(|s| (*s).to_owned()).collect();
            place.extend(["with".to_owned(), arg.clone()]);
            (arg, change, place)
        });
        let adjusted = endpoint.name.as_ref().zip(resource).and_then(|(n, r)| {
            r.declared.endpoints.get(n).map(|args| {
                args.iter()
                    .map(|(arg, change)| {
                        let place =
                            vec!["resources".into(), r.name.clone(), "endpoints".into(), n.clone(), arg.clone()];
                        (arg, change, place)
                    })
                    .collect::<Vec<_>>()
            })
        });
        for (arg, change, place) in own.chain(adjusted.into_iter().flatten()) {
            match change {
                Value::Bool(false) => {
                    docs.shift_remove(arg);
                }
                Value::Object(doc) => merge_arg(&mut docs, arg, doc, ArgOrigin::Config(place)),
                _ => {
                    let path: Vec<&str> = place.iter().map(String::as_str).collect();
                    self.problem(&path, "an argument must be a table, or `false` to remove it", None);
                }
            }
        }
        docs
    }

    /// Create and update arguments from the schema's properties.
    pub(super) fn derived(
        &self,
        resource: &Resource,
        create: bool,
        docs: &mut IndexMap<String, (SchemaDoc, ArgOrigin)>,
    ) {
        let Some(schema) = self.schema(&resource.declared.schema) else { return };
        for (property, doc) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let words = PropertyWords::of(doc);
            let Some(doc) = doc.as_object() else { continue };
            if doc.get("readonly") == Some(&json!(true)) || words.args == Some(json!(false)) || words.hidden {
                continue;
            }
            let mut arg: SchemaDoc = doc
                .iter()
                .filter(|(k, _)| !matches!(k.as_str(), "context" | "readonly" | "arg_options"))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            if words.meta {
                arg.extend(meta_properties(resource, Value::clone));
            }
            if words.fields && fields::described(self.field_groups, resource).is_none() {
                arg.insert("x-unlisted".to_owned(), json!(true));
            }
            let extra = [doc.get("arg_options"), doc.get("x-args"), doc.get("x-create-arg").filter(|_| create)];
            for (key, value) in extra.into_iter().flatten().filter_map(Value::as_object).flatten() {
                arg.insert(key.clone(), value.clone());
            }
            let listed = schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == property));
            if create && listed {
                arg.insert("required".to_owned(), json!(true));
            }
            if !create {
                arg.shift_remove("default");
                arg.shift_remove("x-default-null");
                arg.shift_remove("required");
            }
            if texts_as_objects(&arg) {
                arg.insert("x-also-types".to_owned(), json!(["string"]));
            }
            if resource.is_singleton() {
                // Null takes a field back to its default.
                let accepts = arg.entry("x-also-types".to_owned()).or_insert_with(|| json!([]));
                accepts.as_array_mut().into_iter().for_each(|types| types.push(json!("null")));
            }
            if !self.declared.bounds.in_options {
                arg.insert("x-bounds-in-options".into(), json!(false));
            }
            let place =
                ArgOrigin::Schema(resource.declared.schema.clone(), format!("/properties/{}", escape(property)));
            match docs.get_mut(property) {
                // A path capture of the same name stays what it is.
                Some(_) => {}
                None => {
                    docs.insert(property.clone(), (arg, place));
                }
            }
        }
    }

    pub(super) fn arg(
        &mut self,
        arg: &str,
        mut doc: SchemaDoc,
        (resource, resources): (Option<&Resource>, &[Resource]),
        (place, mut sound): (&ArgOrigin, bool),
        dialect: Dialect,
    ) -> Option<Arg> {
        let required = doc.shift_remove("required").and_then(|r| r.as_bool()).unwrap_or(false);
        let default = doc.get("default").cloned();
        let words = ArgumentWords::of(&doc);
        let role = match words.param.as_deref() {
            None => None,
            Some(wanted) => {
                let names: Vec<&str> = ArgRole::ALL.iter().map(|(name, _)| *name).collect();
                self.known_in((place, "x-param"), "x-param", wanted, &names);
                ArgRole::parse(wanted)
            }
        };
        let mut filter = words.filter.and_then(|filter| self.filter(filter, &doc, resource, place));
        if let Some(role @ (ArgRole::Where | ArgRole::OrderKeys | ArgRole::CountBy)) = role
            && let Some(resource) = resource
        {
            let criteria = self.criteria(resource, resources);
            if !self.complete(role, &mut doc, &criteria, resource) {
                return None;
            }
            filter = (role == ArgRole::Where).then_some(Filter::Where(criteria));
            // It describes other resources, too.
            sound = false;
        }
        let aliases: Vec<(String, String)> = words.value_map.into_iter().collect();
        let accepts = words.also_types;
        if let Some(resource) = resource.filter(|resource| resource.is_content()) {
            self.check_states(&doc, resource, filter.as_ref(), &aliases, place);
        }
        let meta = is_meta(&doc);
        if role == Some(ArgRole::Orderby)
            && let Some(resource) = resource
        {
            self.check_orderby(&doc, resource, place);
        }
        let unset = doc.get("x-unset").cloned();
        let example = example(&doc);
        let json = words.json.and_then(|word| self.json_text(&word, resource, arg, place, dialect));
        let source = Arc::new(Value::Object(doc));
        let ArgDocument { schema, accepted, mut shown } =
            self.arg_document(&source, required, (place, sound), dialect)?;
        let of_fields = source.get("x-fields") == Some(&json!(true));
        if let Some(resource) = resource.filter(|_| of_fields) {
            let mut document = Value::clone(&shown);
            document["properties"] = json!(fields::described(self.field_groups, resource));
            shown = Arc::new(LazyLock::new(Box::new(|| document)));
        }
        // A default that does not fit its own type stays as declared.
        let default = default.map(|declared| {
            let coerced = schema.accept(arg, declared.clone()).unwrap_or(declared);
            convert_spelling(coerced, &aliases, SpellingDirection::ToStored)
        });
        Some(Arg {
            name: arg.to_owned(),
            also: words.arg_aliases,
            schema,
            required,
            default,
            role,
            edit_only: resource.zip(filter.as_ref()).is_some_and(|(r, filter)| edit_only::filters(r, filter)),
            needs: resource
                .zip(filter.as_ref())
                .and_then(|(r, filter)| Some(r.rights_of_filter(filter)?.read.clone()))
                .unwrap_or_default(),
            locked: resource.zip(filter.as_ref()).is_some_and(|(r, filter)| locked::filters(r, filter)),
            filter,
            words: words.search_words.map(word_limit),
            aliases,
            unset,
            accepts,
            accepted,
            json,
            sizes: words.picture_sizes,
            fetched: words.fetched,
            sentence_only: meta,
            // Recorded: what takes an empty list for an object takes no text for meta values.
            no_text: meta && dialect.empty_list_as_object,
            checked_default: words.checked_default,
            current: words.current,
            theme_template: words.theme_template,
            late: words.late,
            fields: of_fields,
            example,
            listed: !words.unlisted,
            shown,
        })
    }

    /// The parts that follow from an argument's document alone, which many arguments have in common. One that is `sound` is
    /// compiled for the first value.
    fn arg_document(
        &mut self,
        source: &Arc<Value>,
        required: bool,
        (place, sound): (&ArgOrigin, bool),
        dialect: Dialect,
    ) -> Option<ArgDocument> {
        let mut digest = self.documents.hasher().build_hasher();
        digest_of(source, &mut digest);
        let key = (dialect, required, digest.finish());
        if let Some((_, known)) = self.documents.get(&key).filter(|(of, _)| of == source) {
            return Some(known.clone());
        }
        let words = source.as_object().map(ArgumentWords::of).unwrap_or_default();
        let bounds = accepted_bounds(source, &words.also_types);
        let (of, most) = (Arc::clone(source), self.declared.bounds.max_items);
        let bounded = move || bounds::apply_bounds(&of, most);
        let accepted = bounds.map(|bounds| Schema::later(|| bounds, dialect));
        let schema = match sound {
            true => Schema::later(bounded, dialect),
            false => match Schema::compile(&bounded(), dialect) {
                Ok(schema) => schema,
                Err(problems) => {
                    for problem in problems {
                        self.report(place, &problem.pointer, problem.message, problem.hint);
                    }
                    return None;
                }
            },
        };
        let (of, own) = (Arc::clone(source), self.dialect);
        let show: Box<dyn FnOnce() -> Value + Send> = Box::new(move || Value::Object(shown(&of, required, own)));
        let shown = Arc::new(LazyLock::new(show));
        let document = ArgDocument { schema, accepted, shown };
        self.documents.insert(key, (Arc::clone(source), document.clone()));
        Some(document)
    }

    /// `x-json`: what the text of an argument has to say.
    fn json_text(
        &mut self,
        word: &JsonWord,
        resource: Option<&Resource>,
        arg: &str,
        place: &ArgOrigin,
        dialect: Dialect,
    ) -> Option<JsonText> {
        let schema = resource.and_then(|resource| self.schema(&resource.declared.schema));
        let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
        let names: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        self.known_in((place, "x-json"), "property", arg, &names)?;
        let mut doc = properties?.get(arg)?.clone();
        let required = doc["required"].as_array().cloned().unwrap_or_default();
        if word.partial
            && let Some(doc) = doc.as_object_mut()
        {
            doc.shift_remove("required");
        }
        // A fault in the schema is reported with the resource.
        let schema = Schema::compile(&bounds::apply_bounds(&doc, self.declared.bounds.max_items), dialect).ok()?;
        let required = required.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Some(JsonText { schema, required, absent: word.absent.clone() })
    }
}

/// Hashes a document with the order of its members, which OPTIONS shows.
fn digest_of(value: &Value, digest: &mut impl Hasher) {
    match value {
        Value::Object(map) => {
            digest.write_usize(map.len());
            for (key, value) in map {
                key.hash(digest);
                digest_of(value, digest);
            }
        }
        Value::Array(list) => {
            digest.write_usize(list.len());
            list.iter().for_each(|value| digest_of(value, digest));
        }
        other => other.hash(digest),
    }
}

/// The argument as OPTIONS shows it.
fn shown(source: &Value, required: bool, dialect: Dialect) -> SchemaDoc {
    let words = source.as_object().map(ArgumentWords::of).unwrap_or_default();
    let mut shown = match without_x_words(source) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    if source.get("x-bounds-in-options") == Some(&json!(false)) {
        without_bounds(&mut shown);
    }
    if words.default_null {
        shown.insert("default".into(), Value::Null);
    }
    if let Some(default) = &words.checked_default {
        shown.insert("default".into(), default.clone());
    }
    if source.as_object().is_some_and(is_meta) {
        show_no_meta(&mut shown, dialect);
    }
    if source["items"].as_object().is_some_and(|items| ArgumentWords::of(items).enum_as_object)
        && let Some(items) = shown.get_mut("items").and_then(Value::as_object_mut)
        && let Some(Value::Array(values)) = items.get("enum")
    {
        let by_name = values.iter().filter_map(|v| Some((v.as_str()?.to_owned(), v.clone()))).collect();
        items.insert("enum".into(), Value::Object(by_name));
    }
    shown.entry("description").or_insert_with(|| json!(""));
    shown.insert("required".into(), json!(required));
    shown
}

/// The argument holds registered meta values.
fn is_meta(doc: &SchemaDoc) -> bool {
    doc.get("x-meta") == Some(&json!(true))
}

pub(super) fn merge_arg(
    docs: &mut IndexMap<String, (SchemaDoc, ArgOrigin)>,
    arg: &str,
    change: &SchemaDoc,
    place: ArgOrigin,
) {
    match docs.get_mut(arg) {
        Some((doc, at)) => {
            for (key, value) in change {
                if value == &Value::Bool(false) && key != "default" && key != "required" {
                    doc.shift_remove(key);
                } else {
                    doc.insert(key.clone(), value.clone());
                }
            }
            *at = place;
        }
        None => {
            docs.insert(arg.to_owned(), (change.clone(), place));
        }
    }
}

pub(super) fn key_doc(capture: &str, resource: Option<&Resource>) -> SchemaDoc {
    let text = resource.is_some_and(|r| r.key_is_text && capture == &*r.key);
    let doc = json!({
        "description": format!("The {capture} in the path."),
        "type": if text { "string" } else { "integer" },
    });
    doc.as_object().cloned().unwrap_or_default()
}

/// `x-example` of an argument, or those of the members that may be written.
pub(super) fn example(doc: &SchemaDoc) -> Option<Value> {
    if let Some(own) = doc.get("x-example") {
        return Some(own.clone());
    }
    let members = doc.get("properties")?.as_object()?.iter();
    let written = members.filter(|(_, doc)| doc["readonly"] != true);
    let given = written.filter_map(|(name, doc)| Some((name.clone(), example(doc.as_object()?)?)));
    let given: Map<String, Value> = given.collect();
    (!given.is_empty()).then_some(Value::Object(given))
}

/// An object with its text in `raw`: the text alone is accepted, too, where the declaration does not say otherwise.
fn texts_as_objects(arg: &SchemaDoc) -> bool {
    let raw = arg.get("properties").and_then(|properties| properties.get("raw"));
    raw.is_some_and(|raw| raw["type"] == "string")
        && arg.get("type") == Some(&json!("object"))
        && !arg.contains_key("x-also-types")
}

/// Bounds of values that are accepted although the schema does not describe them: those of the text that they replace,
/// which is the argument's own or its `raw`. `None`: only values without extent are accepted.
pub(super) fn accepted_bounds(source: &Value, accepts: &[String]) -> Option<Value> {
    if !accepts.iter().any(|kind| matches!(kind.as_str(), "string" | "array" | "object")) {
        return None;
    }
    let raw = source.get("properties").and_then(|properties| properties.get("raw")).unwrap_or(source);
    let words =
        ["maxLength", "x-max-bytes", "x-too-long-code"].iter().filter_map(|word| Some((*word, raw.get(*word)?)));
    let mut bounds: Map<String, Value> = words.map(|(word, value)| (word.to_owned(), value.clone())).collect();
    let mut inner = bounds.clone();
    inner.insert("type".into(), json!(["string", "number", "boolean", "null"]));
    bounds.insert("properties".into(), json!({"raw": inner}));
    Some(Value::Object(bounds))
}
