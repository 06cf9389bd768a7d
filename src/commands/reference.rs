//! The reference: every word that declarations may use, with its meaning, its facts and an example from the shipped
//! declarations, for `cms-server explain` and for the generated files in `docs/`.
//!
//! Behaviours come from the tables that implement them, words of schemas and configuration keys from the types that read
//! them, examples from what is shipped. So the reference holds nothing that the program does not know.

use cms_base::metrics::METRICS;
use cms_config::grammar::Grammar;
use cms_config::load::{LoadedDeclaration, attempt, load};
use cms_config::shipped;
use cms_config::source::Origin;
use cms_core::engine;
use cms_core::registry::vocabulary::{BehaviourKind, Description, families};
use cms_core::registry::words;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// A word with its meaning and facts.
#[derive(Clone, Debug)]
pub struct ReferenceEntry {
    /// `handler`, `guard`, …, `schema word`, `configuration key`.
    pub kind: &'static str,
    pub name: String,
    pub doc: String,
    /// Further facts by their titles.
    pub facts: Vec<(&'static str, String)>,
    pub example: Option<Example>,
}

/// A use of a word, on one line.
#[derive(Clone, Debug)]
pub struct Example {
    /// Where the shipped declarations have it.
    pub place: String,
    pub text: String,
}

/// A section of the reference.
struct ReferenceSection {
    kind: BehaviourKind,
    title: &'static str,
    singular: &'static str,
    intro: &'static str,
}

const SECTIONS: [ReferenceSection; 7] = [
    ReferenceSection {
        kind: BehaviourKind::Handler,
        title: "Handlers",
        singular: "handler",
        intro: "`handler` of an endpoint: what it does. *Needs* are the rows that the guard must load.",
    },
    ReferenceSection {
        kind: BehaviourKind::Guard,
        title: "Guards",
        singular: "guard",
        intro: "`access` of an endpoint: who may use it. *Loads* are the rows that the handler gets.",
    },
    ReferenceSection {
        kind: BehaviourKind::Read,
        title: "Read behaviours",
        singular: "read behaviour",
        intro: "`x-read` of a property: how its value is computed.",
    },
    ReferenceSection {
        kind: BehaviourKind::Write,
        title: "Write behaviours",
        singular: "write behaviour",
        intro: "`x-write` of a property: what of a value is stored.",
    },
    ReferenceSection {
        kind: BehaviourKind::Query,
        title: "Query behaviours",
        singular: "query behaviour",
        intro: "`x-filter = { query = \"…\" }` of an argument: the rows that its value selects.",
    },
    ReferenceSection {
        kind: BehaviourKind::Renderer,
        title: "Renderers",
        singular: "renderer",
        intro: "`renderer` of `[blocks]` and `[shortcodes]`: what a part of a content shows.",
    },
    ReferenceSection {
        kind: BehaviourKind::Ability,
        title: "Abilities",
        singular: "ability behaviour",
        intro: "`run` of `[abilities]`: what makes the result of an ability.",
    },
];

/// Declarations that are shipped for those who include them.
const OPTIONAL: &str =
    "include = [\"schemas/dialects/block-data.toml\", \"schemas/profiles/*.toml\"]\nsite.prefix = \"wp\"\n";

/// The shipped declarations under both prefixes, and with what can be included, which examples are taken from.
struct ShippedDeclarations(Vec<LoadedDeclaration>);

impl ShippedDeclarations {
    fn read() -> ShippedDeclarations {
        let under = |prefix: &str| load(None, &[format!("site.prefix={prefix}")], []).ok();
        let files: Vec<(&str, &str)> = shipped::FILES.iter().copied().chain([("site.toml", OPTIONAL)]).collect();
        let optional = attempt(Origin::Texts { label: "", files: &files }, &[], []).outcome.ok();
        ShippedDeclarations(["cms", "wp"].into_iter().filter_map(under).chain(optional).collect())
    }

    /// The first example that a search finds.
    fn first(&self, find: impl Fn(&LoadedDeclaration) -> Option<Example>) -> Option<Example> {
        self.0.iter().find_map(find)
    }
}

/// Every word, by kind, in the order of its table.
pub fn words() -> Vec<ReferenceEntry> {
    let (shipped, vocabulary) = (ShippedDeclarations::read(), engine::vocabulary());
    let mut all = Vec::new();
    for (kind, members) in vocabulary.kinds() {
        let Some(section) = SECTIONS.iter().find(|section| section.kind == kind) else { continue };
        all.extend(members.iter().map(|member| ReferenceEntry {
            kind: section.singular,
            name: member.name.to_owned(),
            doc: member.doc.to_owned(),
            facts: facts(kind, member),
            example: shipped.first(|loaded| use_of(kind, member.name, loaded)).or_else(|| {
                let text = member.example?.to_owned();
                Some(Example { place: "not in the shipped declarations".to_owned(), text })
            }),
        }));
    }
    all.extend(words::names(true).iter().map(|word| ReferenceEntry {
        kind: "schema word",
        name: word.name.clone(),
        doc: word.doc.clone(),
        facts: vec![("stands in", places(&word.name).to_owned())],
        example: shipped.first(|loaded| word_in(&word.name, loaded)).or_else(|| {
            let value = word.example.as_ref()?;
            Some(Example {
                place: "not in the shipped declarations".to_owned(),
                text: format!("\"{}\": {value}", word.name),
            })
        }),
    }));
    all.extend(keys(&shipped).into_iter().map(|key| ReferenceEntry {
        kind: "configuration key",
        facts: key.facts(),
        name: key.path,
        doc: key.doc,
        example: None,
    }));
    all
}

fn places(word: &str) -> &'static str {
    match words::names(false).iter().any(|known| known.name == word) {
        true => "properties and arguments",
        false => "properties",
    }
}

fn facts(kind: BehaviourKind, of: &Description) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if !of.serves.is_empty() {
        facts.push(("families", families(of.serves)));
    }
    if of.rows != Default::default() {
        facts.push((if kind == BehaviourKind::Handler { "needs" } else { "loads" }, of.rows.text().to_owned()));
    }
    if let Some(param) = of.param {
        facts.push(("written", format!("`{}:{param}`", of.name)));
    }
    if !of.settings.is_empty() {
        let settings: Vec<String> = of.settings.iter().map(|setting| format!("`options.{setting}`")).collect();
        facts.push(("reads", settings.join(", ")));
    }
    for (option, doc) in of.options {
        facts.push(("option", format!("`{option}`: {doc}")));
    }
    facts
}

// ------------------------------------------------------------------------------------------------ examples

fn use_of(kind: BehaviourKind, name: &str, loaded: &LoadedDeclaration) -> Option<Example> {
    match kind {
        BehaviourKind::Handler | BehaviourKind::Guard => endpoint(kind, name, loaded),
        BehaviourKind::Read => document(loaded, &|doc| doc.get("x-read") == Some(&json!(name)), &["x-read"]),
        BehaviourKind::Write => document(loaded, &|doc| doc.get("x-write") == Some(&json!(name)), &["x-write"]),
        BehaviourKind::Query => {
            let asks = |doc: &Map<String, Value>| doc.get("x-filter").is_some_and(|filter| filter["query"] == *name);
            document(loaded, &asks, &["x-filter"])
        }
        BehaviourKind::Renderer => {
            let (blocks, shortcodes) = (&loaded.declaration.blocks, &loaded.declaration.shortcodes);
            let both = [("blocks", blocks), ("shortcodes", shortcodes)];
            let mut all = both.into_iter().flat_map(|(table, parts)| parts.iter().map(move |part| (table, part)));
            all.find(|(_, (_, part))| part.renderer == name).map(|(table, (part, declared))| {
                let resource =
                    declared.resource.as_ref().map(|of| format!(", resource = \"{of}\"")).unwrap_or_default();
                Example {
                    place: format!("[{table}]"),
                    text: format!("\"{part}\" = {{ renderer = \"{name}\"{resource} }}"),
                }
            })
        }
        BehaviourKind::Ability => {
            let (ability, declared) = loaded.declaration.abilities.iter().find(|(_, declared)| declared.run == name)?;
            let capability = &declared.capability;
            let text = format!("run = \"{name}\", capability = \"{capability}\"");
            Some(Example { place: format!("[abilities.\"{ability}\"]"), text })
        }
    }
}

/// An endpoint that names a handler or a guard.
fn endpoint(kind: BehaviourKind, name: &str, loaded: &LoadedDeclaration) -> Option<Example> {
    let declared = &loaded.declaration;
    let sets = declared.route_sets.iter().map(|(set, routes)| (format!("[[route_sets.{set}]]"), routes));
    let all = sets.chain([("[[routes]]".to_owned(), &declared.routes)]);
    let mut endpoints = all.flat_map(|(place, routes)| {
        routes.iter().flat_map(move |route| {
            route.endpoints.iter().map({
                let place = place.clone();
                move |endpoint| (format!("{place}, path = '{}'", route.path), endpoint)
            })
        })
    });
    let named = |access: &str| access.split(':').next() == Some(name);
    let (place, endpoint) = endpoints.find(|(_, endpoint)| match kind {
        BehaviourKind::Handler => endpoint.handler == name,
        _ => named(&endpoint.access),
    })?;
    let (handler, access) = (&endpoint.handler, &endpoint.access);
    let text = format!("{{ methods = {}, handler = \"{handler}\", access = \"{access}\" }}", json!(endpoint.methods));
    Some(Example { place, text })
}

/// A property or an argument with a word of ours, reduced to its type and that word.
fn word_in(word: &str, loaded: &LoadedDeclaration) -> Option<Example> {
    document(loaded, &|doc| doc.contains_key(word), &[word])
}

/// A test on the document of a property or an argument.
type SchemaTest<'a> = &'a dyn Fn(&Map<String, Value>) -> bool;

fn document(loaded: &LoadedDeclaration, wanted: SchemaTest<'_>, words: &[&str]) -> Option<Example> {
    let declared = &loaded.declaration;
    let properties = declared.resources.iter().find_map(|(resource, declared)| {
        let schema = loaded.schemas.get(&declared.schema)?;
        let (path, doc) = property(schema, wanted)?;
        Some((format!("schema of `{resource}`"), path, doc))
    });
    let groups = declared
        .args
        .iter()
        .flat_map(|(group, args)| args.iter().map(move |(arg, doc)| (format!("[args.{group}]"), arg.clone(), doc)));
    let own = declared.resources.iter().flat_map(|(resource, declared)| {
        declared.endpoints.iter().flat_map(move |(endpoint, args)| {
            let place = format!("[resources.{resource}.endpoints.{endpoint}]");
            args.iter().filter_map(move |(arg, doc)| Some((place.clone(), arg.clone(), doc.as_object()?)))
        })
    });
    let (place, path, doc) = properties.or_else(|| groups.chain(own).find(|(.., doc)| wanted(doc)))?;
    let mut shown: Map<String, Value> = Map::new();
    for key in ["type"].iter().chain(words) {
        if let Some(value) = doc.get(*key) {
            shown.insert((*key).to_owned(), value.clone());
        }
    }
    Some(Example { place, text: format!("\"{path}\": {}", Value::Object(shown)) })
}

/// The first property of a schema that fits, with its dotted path.
fn property<'s>(schema: &'s Value, wanted: SchemaTest<'_>) -> Option<(String, &'s Map<String, Value>)> {
    schema["properties"].as_object()?.iter().find_map(|(name, doc)| {
        let found = doc.as_object()?;
        if wanted(found) {
            return Some((name.clone(), found));
        }
        property(doc, wanted).map(|(below, found)| (format!("{name}.{below}"), found))
    })
}

// ------------------------------------------------------------------------------------------------ configuration keys

/// A key of the configuration.
struct ConfigKey {
    /// Dotted; a name that the file gives is in capitals: `roles.NAME.capabilities`.
    path: String,
    kind: String,
    doc: String,
    /// The default of the type, as TOML.
    default: Option<String>,
    /// The value in the shipped file, where that differs.
    shipped: Option<String>,
    /// A reload does not take a change over.
    restart: bool,
}

impl ConfigKey {
    /// The environment variable that overrides the key.
    fn variable(&self) -> Option<String> {
        (!self.path.contains(NAME)).then(|| format!("CMS_{}", self.path.to_uppercase().replace('.', "__")))
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("type", self.kind.clone())];
        facts.extend(self.default.clone().map(|default| ("default", format!("`{default}`"))));
        facts.extend(self.shipped.clone().map(|shipped| ("shipped", format!("`{shipped}`"))));
        facts.extend(self.variable().map(|variable| ("environment", format!("`{variable}`"))));
        facts.push(("a reload takes it over", if self.restart { "no, restart" } else { "yes" }.to_owned()));
        facts
    }
}

/// The placeholder for a name that a file gives.
const NAME: &str = "NAME";

/// Sections that have the keys of another one.
const SAME_KEYS: [(&str, &str); 1] = [("base_resources", "resources")];

/// Deeper tables are documents of other kinds.
const DEPTH: usize = 6;

fn keys(shipped: &ShippedDeclarations) -> Vec<ConfigKey> {
    let mut out = Vec::new();
    let described_elsewhere = |section: &&str| SAME_KEYS.iter().any(|(same, _)| same == section);
    let grammar = Grammar::declaration();
    for section in grammar.keys::<&str>(&[]).into_iter().filter(|section| !described_elsewhere(section)) {
        below(&grammar, shipped, &mut vec![section], &mut out);
    }
    out
}

/// The keys at a path and below it.
fn below<'g>(grammar: &'g Grammar, shipped: &ShippedDeclarations, path: &mut Vec<&'g str>, out: &mut Vec<ConfigKey>) {
    let (Some(field), Some(schema)) = (grammar.field(path), grammar.at(path)) else { return };
    let mut children = grammar.keys(path);
    if children.is_empty() && path.len() < DEPTH {
        let named = schema.get("additionalProperties").or(schema.get("items")).filter(|entry| entry.is_object());
        if named.is_some_and(|entry| grammar.resolve(entry)["properties"].is_object()) {
            children.push(NAME);
        }
    }
    if children.is_empty() || path.len() >= DEPTH {
        out.push(key(grammar, shipped, path, field, schema));
        return;
    }
    for child in children {
        path.push(child);
        below(grammar, shipped, path, out);
        path.pop();
    }
}

fn key(grammar: &Grammar, shipped: &ShippedDeclarations, path: &[&str], field: &Value, schema: &Value) -> ConfigKey {
    let default = grammar.default_at(path).filter(|default| !default.is_null());
    let written = shipped.0.first().and_then(|loaded| loaded.value_at(path));
    let written = written.filter(|written| Some(written) != default.as_ref() && !path.contains(&NAME));
    let doc = field["description"].as_str().or(schema["description"].as_str()).unwrap_or_default();
    ConfigKey {
        path: path.join("."),
        kind: kind_of(grammar, field),
        doc: doc.replace('\n', " "),
        default: default.as_ref().and_then(toml),
        shipped: written.as_ref().and_then(toml),
        restart: field["x-restart"] == json!(true),
    }
}

/// The type of a value, for people.
fn kind_of(grammar: &Grammar, field: &Value) -> String {
    let constants = field["anyOf"].as_array().into_iter().flatten().filter_map(|part| part.get("const"));
    let constants: String = constants.map(|constant| format!(", or `{constant}`")).collect();
    let schema = grammar.resolve(field);
    let choices = grammar.choices(schema);
    let own = match schema["format"].as_str().or(schema["type"].as_str()) {
        _ if !choices.is_empty() => {
            choices.iter().map(|choice| format!("`\"{choice}\"`")).collect::<Vec<_>>().join(", ")
        }
        Some("array") => format!("list of {}", kind_of(grammar, &schema["items"])),
        Some("object") => "table".to_owned(),
        Some(kind) => kind.to_owned(),
        None => match schema["type"].as_array() {
            Some(kinds) => {
                let kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
                kinds.collect::<Vec<_>>().join(" or ")
            }
            None => "any".to_owned(),
        },
    };
    let bounded = match (schema["minimum"].as_i64().filter(|least| *least != 0), schema["maximum"].as_i64()) {
        (Some(least), Some(most)) => format!("{own}, {least} to {most}"),
        (Some(least), None) => format!("{own}, at least {least}"),
        (None, Some(most)) => format!("{own}, at most {most}"),
        (None, None) => own,
    };
    bounded + &constants
}

/// A value as it is written; nothing for long ones.
fn toml(value: &Value) -> Option<String> {
    const LONGEST: usize = 80;
    let empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
    let text = match value {
        Value::Object(_) if !empty => return None,
        value => value.to_string(),
    };
    (text.len() <= LONGEST).then_some(text)
}

// ------------------------------------------------------------------------------------------------ texts

const GENERATED: &str = "<!-- Generated by `cms-server docs DIRECTORY`; do not edit. -->\n";

/// `docs/reference.md`: behaviours and words of schemas.
pub fn reference() -> String {
    let all = words();
    let mut out = format!(
        "{GENERATED}\n# Reference\n\nThe words of `routes.toml` and of the schemas. `cms-server explain WORD` prints the \
         entry of one.\nConfiguration keys are in [configuration.md](configuration.md).\n\nExamples are the first use in \
         the shipped declarations.\n"
    );
    for section in &SECTIONS {
        table(&mut out, section.title, section.intro, all.iter().filter(|word| word.kind == section.singular));
    }
    let intro = "Words of our own in schemas and arguments, beside those of JSON Schema.";
    table(&mut out, "Schema words", intro, all.iter().filter(|word| word.kind == "schema word"));
    out
}

fn table<'w>(out: &mut String, title: &str, intro: &str, words: impl Iterator<Item = &'w ReferenceEntry>) {
    let _ = write!(out, "\n## {title}\n\n{intro}\n\n| name | meaning | example |\n| --- | --- | --- |\n");
    for word in words {
        let facts: String = word.facts.iter().map(|(title, fact)| format!("<br>{title}: {fact}")).collect();
        let example = word.example.as_ref().map(|example| format!("`{}`", example.text)).unwrap_or_default();
        let row = format!("`{}` | {}{facts} | {example}", word.name, word.doc);
        let cells: Vec<String> = row.splitn(3, " | ").map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

/// `docs/configuration.md`: every key of the configuration.
pub fn configuration() -> String {
    let shipped = ShippedDeclarations::read();
    let mut out = format!(
        "{GENERATED}\n# Configuration\n\nEvery key of `routes.toml` and `site.toml`. Names in capitals (`{NAME}`) are \
         yours to choose.\n\n* A later source wins: the file, its overlays, the environment, `--set KEY=VALUE`.\n* The \
         environment variable of `server.listen` is `CMS_SERVER__LISTEN`: `CMS_`, then the key in capitals with `__` for \
         each dot.\n* Sizes and durations are texts with a unit: `\"16MiB\"`, `\"30s\"`. `false` switches a setting off \
         where its type says so.\n* *Default* is the value without a line in any file. *Shipped* is what the shipped \
         `routes.toml` says instead, under the prefix `cms`.\n* A changed file is read again while the server runs. Keys \
         marked *restart* keep their old value until then.\n* `cms-server explain KEY` prints the entry of one key, \
         `cms-server schema` the JSON Schema of the file for editors.\n"
    );
    let all = keys(&shipped);
    let grammar = Grammar::declaration();
    for section in grammar.keys::<&str>(&[]) {
        let field = grammar.field(&[section]);
        let doc = field.and_then(|field| field["description"].as_str()).unwrap_or_default();
        let _ = write!(out, "\n## `{section}`\n\n{}\n\n", doc.replace('\n', " "));
        if let Some((_, other)) = SAME_KEYS.iter().find(|(same, _)| *same == section) {
            let _ = writeln!(out, "See [`{other}`](#{other}).");
            continue;
        }
        out.push_str("| key | type | default | shipped | meaning |\n| --- | --- | --- | --- | --- |\n");
        let own = |key: &&ConfigKey| key.path == section || key.path.starts_with(&format!("{section}."));
        for key in all.iter().filter(own) {
            let code = |value: &Option<String>| value.as_ref().map(|value| format!("`{value}`")).unwrap_or_default();
            let restart = if key.restart { " *Restart.*" } else { "" };
            let cells = [
                format!("`{}`", key.path),
                key.kind.clone(),
                code(&key.default),
                code(&key.shipped),
                format!("{}{restart}", key.doc),
            ];
            let _ = writeln!(out, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
    }
    out
}

/// `docs/metrics.md`: every metric.
pub fn metrics() -> String {
    let mut out = format!(
        "{GENERATED}\n# Metrics\n\nWhat `/metrics` shows, as OpenMetrics text. [operating.md](operating.md#health-and-metrics) \
         says how to turn it on.\n\nThe samples of a counter end in `_total`, those of a histogram in `_bucket`, `_sum` and \
         `_count`. Counters begin at zero with the process; those of routes and caches begin again at each reload of \
         the declarations. A series without an event yet may be absent.\n\n| metric | type | unit | labels | \
         meaning |\n| --- | --- | --- | --- | --- |\n"
    );
    for metric in METRICS {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let (name, kind, unit) = (metric.name, metric.kind.as_str(), metric.unit.unwrap_or_default());
        let suffix = metric.kind.suffix();
        let _ = writeln!(out, "| `{name}{suffix}` | {kind} | {unit} | {} | {} |", labels.join(", "), metric.meaning);
    }
    out
}

/// The output of `cms-server explain WORD`: each meaning of the word.
///
/// # Errors
/// There is no such word: the message names the nearest.
pub fn explain(wanted: &str) -> Result<String, String> {
    let all = words();
    let below = format!("{wanted}.");
    let mut out = String::new();
    for word in all.iter().filter(|word| word.name == wanted || word.name.starts_with(&below) && is_key(word)) {
        let _ = writeln!(out, "{} {}\n  {}", word.kind, word.name, word.doc);
        for (title, fact) in &word.facts {
            let _ = writeln!(out, "  {title}: {fact}");
        }
        if let Some(example) = &word.example {
            let _ = writeln!(out, "  example ({}):\n    {}", example.place, example.text);
        }
    }
    if out.is_empty() {
        let hint = cms_core::registry::link::nearest(wanted, all.iter().map(|word| word.name.as_str()));
        return Err(format!("there is no word `{wanted}`{}", hint.map(|hint| format!("; {hint}")).unwrap_or_default()));
    }
    Ok(out)
}

fn is_key(word: &ReferenceEntry) -> bool {
    word.kind == "configuration key"
}

/// A JSON Schema of the declarations with the names of behaviours, for editors.
pub fn with_names(mut schema: Value) -> Value {
    let vocabulary = engine::vocabulary();
    let choice = |names: &[Description]| {
        let of = |known: &Description| match known.param {
            None => json!({"const": known.name, "description": known.doc}),
            Some(_) => json!({"pattern": format!("^{}:.", known.name), "description": known.doc}),
        };
        Value::Array(names.iter().map(of).collect())
    };
    for (pointer, names) in [
        ("/definitions/Endpoint/properties/handler", &vocabulary.handlers),
        ("/definitions/Endpoint/properties/access", &vocabulary.guards),
        ("/definitions/Rendered/properties/renderer", &vocabulary.renderers),
        ("/definitions/Ability/properties/run", &vocabulary.abilities),
    ] {
        if let Some(Value::Object(property)) = schema.pointer_mut(pointer) {
            property.insert("anyOf".into(), choice(names));
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_config::grammar;
    use expect_test::expect_file;

    #[test]
    fn every_word_has_a_meaning_and_an_example() {
        let all = words();
        let bare: Vec<&str> = all
            .iter()
            .filter(|word| word.doc.is_empty() || (word.example.is_none() && !is_key(word)))
            .map(|word| word.name.as_str())
            .collect();
        assert!(bare.is_empty(), "without meaning or example: {bare:?}");
        let ends = all.iter().filter(|word| !word.doc.ends_with('.'));
        assert_eq!(ends.map(|word| word.name.as_str()).collect::<Vec<_>>(), Vec::<&str>::new(), "no sentence");
    }

    #[test]
    fn the_generated_documents_are_up_to_date() {
        let pretty = |value: &Value| format!("{}\n", serde_json::to_string_pretty(value).expect("a value prints"));
        expect_file!["../../schemas/routes.schema.json"].assert_eq(&pretty(&with_names(grammar::routes_document())));
        expect_file!["../../schemas/overlay.schema.json"].assert_eq(&pretty(&grammar::overlay_document()));
        expect_file!["../../docs/reference.md"].assert_eq(&reference());
        expect_file!["../../docs/configuration.md"].assert_eq(&configuration());
        expect_file!["../../docs/metrics.md"].assert_eq(&metrics());
    }

    #[test]
    fn words_are_explained_and_misspelt_ones_guessed() {
        let get = explain("get").expect("a handler");
        assert!(get.starts_with("handler get\n") && get.contains("needs: item"), "{get}");
        assert!(explain("status").expect("a query").contains("query behaviour status"));
        assert!(explain("x-column").expect("a word").contains("schema word x-column"));
        let listen = explain("server.listen").expect("a key");
        assert!(listen.contains("CMS_SERVER__LISTEN") && listen.contains("no, restart"), "{listen}");
        assert!(explain("cache").expect("a table").contains("cache.responses"));
        assert!(explain("lsit").expect_err("misspelt").contains("did you mean `list`?"));
    }
}
