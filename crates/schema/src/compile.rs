//! From a schema document to a tree of nodes, collecting every problem on the way.
//!
//! Owns the list of keywords. Each keyword family reads its own keywords through [`Reader`]; what a value has to be
//! like is decided there, never here.

use super::array::ArrayRules;
use super::combine::Alternatives;
use super::failure::{Failure, ValuePath};
use super::format::Format;
use super::meta_schema;
use super::node::Node;
use super::number::{Num, NumberRules};
use super::object::ObjectRules;
use super::pattern::{Pattern, PatternProblem};
use super::rewrite::KEYWORDS;
use super::string::StringRules;
use super::types::Type;
use super::{Dialect, SchemaProblem, ValueBounds};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Keywords that only inform people or other parts of the server.
const ANNOTATIONS: &[&str] =
    &["$schema", "title", "description", "default", "context", "readonly", "example", "arg_options", "links"];

/// Words of other drafts and of draft 4 that the contract leaves out, with what to write instead.
const ELSEWHERE: &[(&str, &str)] = &[
    ("$ref", "write the referenced schema out"),
    ("definitions", "write the definitions out where they are used"),
    ("allOf", "merge the schemas into one"),
    ("not", "say what is allowed with enum, pattern or anyOf"),
    ("const", "use enum with one value"),
    ("examples", "use example"),
    ("readOnly", "use readonly"),
    ("additionalItems", "items is one schema for all items"),
    ("dependencies", "use anyOf with required"),
    ("nullable", "add \"null\" to type"),
];

/// Deeper schemas are refused, which bounds every recursion along a schema.
const DEEPEST: usize = 64;

/// Compiles a document.
pub(super) fn compile(document: &Value, dialect: Dialect) -> Result<Node, Vec<SchemaProblem>> {
    let mut compiler = Compiler { dialect, problems: Vec::new(), depth: 0 };
    let node = compiler.node(document, String::new(), &[]);
    let mut problems = compiler.problems;
    // Where a keyword family has reported a problem, above or below, the meta-schema would only repeat it.
    let said =
        |pointer: &str| problems.iter().any(|p| p.pointer.starts_with(pointer) || pointer.starts_with(&p.pointer));
    let settled = problems.is_empty() && meta_schema::surely_fits(document);
    let more = if settled { Vec::new() } else { meta_schema::problems(document) };
    let more = more.into_iter().filter(|(pointer, _)| !said(pointer));
    let mut more: Vec<_> = more.map(|(pointer, message)| SchemaProblem { pointer, message, hint: None }).collect();
    problems.append(&mut more);
    if problems.is_empty() { Ok(node) } else { Err(problems) }
}

struct Compiler {
    dialect: Dialect,
    problems: Vec<SchemaProblem>,
    depth: usize,
}

impl Compiler {
    fn node(&mut self, document: &Value, pointer: String, inherited: &[Type]) -> Node {
        let Value::Object(map) = document else {
            self.problem(pointer, "A schema is an object".into(), None);
            return Node::default();
        };
        if self.depth == DEEPEST {
            self.problem(pointer, format!("Schemas nested deeper than {DEEPEST} levels are refused"), None);
            return Node::default();
        }
        self.depth += 1;
        let outside = self.dialect;
        if map.get("readonly") == Some(&Value::Bool(true)) {
            self.dialect.bounds = ValueBounds::default();
        }
        let before = self.problems.len();
        let mut reader = Reader { map, pointer, compiler: self };
        reader.check_words();
        let node = reader.node(inherited);
        if reader.compiler.problems.len() == before {
            reader.check_values(&node);
        }
        self.depth -= 1;
        self.dialect = outside;
        node
    }

    fn problem(&mut self, pointer: String, message: String, hint: Option<String>) {
        self.problems.push(SchemaProblem { pointer, message, hint });
    }
}

/// One schema object being read. Every method that finds something wrong records the problem and goes on.
pub(super) struct Reader<'d, 'c> {
    map: &'d Map<String, Value>,
    pointer: String,
    compiler: &'c mut Compiler,
}

impl<'d> Reader<'d, '_> {
    /// Records a problem with a keyword.
    pub fn problem(&mut self, key: &str, message: String, hint: Option<String>) {
        let pointer = self.pointer_to(key);
        self.compiler.problem(pointer, message, hint);
    }

    /// The keyword as written.
    pub fn get(&self, key: &str) -> Option<&'d Value> {
        self.map.get(key)
    }

    /// A lower and an upper limit of something that is counted.
    pub fn range(&mut self, least: &str, most: &str) -> (Option<u64>, Option<u64>) {
        let limits = (self.count(least), self.count(most));
        if let (Some(low), Some(high)) = limits
            && low > high
        {
            self.problem(least, format!("{least} is above {most}: nothing can fit"), None);
        }
        limits
    }

    /// As [`Reader::range`]; without an upper limit the usual one holds, unless the lower one is above it.
    pub fn bounded_range(&mut self, least: &str, most: &str, usual: Option<u64>) -> (Option<u64>, Option<u64>) {
        let (low, high) = self.range(least, most);
        (low, high.or_else(|| usual.map(|usual| usual.max(low.unwrap_or(0)))))
    }

    /// The most bytes that a value may have: `x-max-bytes`, or else the usual number.
    pub fn most_bytes(&mut self, usual: Option<u64>) -> Option<u64> {
        self.count("x-max-bytes").or(usual)
    }

    /// Bounds of values where this schema sets none.
    pub fn bounds(&self) -> ValueBounds {
        self.compiler.dialect.bounds
    }

    /// Any number.
    pub fn number(&mut self, key: &str) -> Option<Num> {
        self.read(key, "a number", |value| value.as_number().map(Num::of))
    }

    /// A boolean.
    pub fn flag(&mut self, key: &str) -> Option<bool> {
        self.read(key, "true or false", Value::as_bool)
    }

    /// A text.
    pub fn text(&mut self, key: &str) -> Option<&'d str> {
        self.read(key, "a text", Value::as_str)
    }

    /// The list of names that `required` may be; its boolean form belongs to the schema outside.
    pub fn names(&mut self, key: &str) -> Vec<String> {
        let names = |value: &Value| match value {
            Value::Bool(_) => Some(Vec::new()),
            Value::Array(list) => list.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        self.read(key, "true, false or a list of names", names).unwrap_or_default()
    }

    /// One schema.
    pub fn schema(&mut self, key: &str) -> Option<Node> {
        let document = self.get(key)?;
        let pointer = self.pointer_to(key);
        if document.is_array() {
            self.problem(key, format!("{key} takes one schema, not a list"), None);
            return None;
        }
        Some(self.schema_at(document, pointer))
    }

    /// A schema at a place that the caller has found.
    pub fn schema_at(&mut self, document: &Value, pointer: String) -> Node {
        self.compiler.node(document, pointer, &[])
    }

    /// A list of schemas, which take over `types` where they have none.
    pub fn schemas(&mut self, key: &str, types: &[Type]) -> Vec<Node> {
        let list = self.read(key, "a list of schemas", |value| value.as_array().filter(|list| !list.is_empty()));
        let mut nodes = Vec::new();
        for (index, document) in list.into_iter().flatten().enumerate() {
            let pointer = format!("{}/{index}", self.pointer_to(key));
            let node = self.compiler.node(document, pointer.clone(), types);
            let fits = |kind: &Type| types.contains(kind) || (*kind == Type::Integer && types.contains(&Type::Number));
            if !types.is_empty() && !node.types.iter().all(fits) {
                let hint = "list its type in the type of the schema around it";
                self.compiler.problem(pointer, "No value can be of this type here".into(), Some(hint.into()));
            }
            nodes.push(node);
        }
        nodes
    }

    /// The members of a map of schemas: name, schema, pointer.
    pub fn members(&mut self, key: &str) -> Vec<(&'d str, &'d Value, String)> {
        let at = self.pointer_to(key);
        let map = self.read(key, "an object that holds schemas", Value::as_object);
        let member = |(name, document): (&'d String, &'d Value)| (name.as_str(), document, joined(&at, name));
        map.into_iter().flatten().map(member).collect()
    }

    /// A regular expression under a keyword.
    pub fn pattern(&mut self, key: &str, source: &str) -> Option<Pattern> {
        let pointer = self.pointer_to(key);
        self.pattern_at(pointer, source)
    }

    /// A regular expression at a place that the caller has found.
    pub fn pattern_at(&mut self, pointer: String, source: &str) -> Option<Pattern> {
        let note = |PatternProblem { message, hint }| self.compiler.problem(pointer, message, hint.map(str::to_owned));
        Pattern::compile(source).map_err(note).ok()
    }

    fn node(&mut self, inherited: &[Type]) -> Node {
        let mut types = self.types().unwrap_or_else(|| inherited.to_vec());
        let members = self.list("enum");
        // A null that is listed is taken, whatever the types are.
        let lists_null = members.as_ref().is_some_and(|members| members.contains(&Value::Null));
        if lists_null && !types.is_empty() && !types.contains(&Type::Null) {
            types.push(Type::Null);
        }
        Node {
            dialect: self.compiler.dialect,
            title: self.text("title").map(str::to_owned),
            alternatives: Alternatives::read(self, &types),
            string: StringRules::read(self),
            number: NumberRules::read(self),
            array: ArrayRules::read(self),
            object: ObjectRules::read(self),
            members,
            format: self.format(),
            // A value with a behaviour of its own is stored as that decides.
            cleans: self.get("x-write").is_none(),
            types,
        }
    }

    fn types(&mut self) -> Option<Vec<Type>> {
        let names: Vec<&'d Value> = match self.get("type")? {
            Value::Array(list) if !list.is_empty() => list.iter().collect(),
            single => vec![single],
        };
        let mut types = Vec::new();
        for name in names {
            match name.as_str().and_then(Type::parse) {
                Some(kind) if types.contains(&kind) => self.problem("type", format!("{name} is listed twice"), None),
                Some(kind) => types.push(kind),
                None => {
                    let known = Type::ALL.map(Type::as_str);
                    let hint = name.as_str().and_then(|name| meant(name, &known));
                    let hint = hint.unwrap_or_else(|| format!("the types are {}", known.join(", ")));
                    self.problem("type", format!("{name} is not a type"), Some(hint));
                }
            }
        }
        Some(types)
    }

    fn format(&mut self) -> Option<Format> {
        let name = self.text("format")?;
        let found = Format::parse(name);
        if found.is_none() {
            let known = Format::ALL.map(Format::as_str);
            let hint = meant(name, &known).unwrap_or_else(|| format!("the formats are {}", known.join(", ")));
            self.problem("format", format!("\"{name}\" is not a format"), Some(hint));
        }
        found
    }

    fn list(&mut self, key: &str) -> Option<Vec<Value>> {
        self.read(key, "a list of values", |value| value.as_array().filter(|list| !list.is_empty()).cloned())
    }

    fn count(&mut self, key: &str) -> Option<u64> {
        self.read(key, "a whole number from 0", Value::as_u64)
    }

    fn read<T>(&mut self, key: &str, expected: &str, convert: impl Fn(&'d Value) -> Option<T>) -> Option<T> {
        let value = self.get(key)?;
        let converted = convert(value);
        if converted.is_none() {
            self.problem(key, format!("{key} has to be {expected}"), None);
        }
        converted
    }

    fn pointer_to(&self, key: &str) -> String {
        joined(&self.pointer, key)
    }

    fn check_words(&mut self) {
        let known: Vec<&str> = KEYWORDS.iter().chain(ANNOTATIONS).copied().collect();
        let keys: Vec<&'d String> = self.map.keys().collect();
        for key in keys {
            if key.starts_with("x-") || known.contains(&key.as_str()) {
                continue;
            }
            match ELSEWHERE.iter().find(|(word, _)| word == key) {
                Some((word, instead)) => {
                    self.problem(key, format!("{word} is not part of this contract"), Some((*instead).to_owned()));
                }
                None => {
                    let hint = meant(key, &known).unwrap_or_else(|| "words of your own start with x-".into());
                    self.problem(key, format!("\"{key}\" is not a schema keyword"), Some(hint));
                }
            }
        }
    }

    /// The default, the example and the listed values have to pass the schema around them.
    fn check_values(&mut self, node: &Node) {
        // Null takes an inherited example away, and `{kind}` is filled in where the kind is known.
        let is_plain = |example: &&Value| !example.is_null() && *example != "{kind}";
        if let Some(example) = self.get("x-example").filter(is_plain)
            && let Err(failure) = node.check::<Failure>(&ValuePath::root("x-example"), example)
        {
            let hint = "change the example or what forbids it";
            self.problem("x-example", format!("The schema refuses its own {}", failure.message), Some(hint.into()));
        }
        let place = ValuePath::root("default");
        if let Some(default) = self.get("default").filter(|default| !default.is_null()) {
            // Only the outermost default is ever applied; those of properties tell people what an absent one means, and
            // some have a meaning that no request may send ("" beside an enum). Their type has to be right all the
            // same.
            let applied = self.compiler.depth == 1;
            let checked = if applied { node.check::<Failure>(&place, default) } else { Ok(()) };
            if let Err(failure) = checked.and_then(|()| node.coerce(&place, default.clone()).map(drop)) {
                let hint = "change the default or what forbids it";
                self.problem("default", format!("The schema refuses its own {}", failure.message), Some(hint.into()));
            }
        }
        let mut seen = HashSet::new();
        for (index, member) in node.members.iter().flatten().enumerate() {
            let matches_itself = node
                .coerce(&place, member.clone())
                .is_ok_and(|converted| super::equal::values_equal(&converted, member));
            let key = format!("enum/{index}");
            if !matches_itself {
                let pointer = format!("{}/{key}", self.pointer);
                let hint = "list it as the type would convert it";
                self.compiler.problem(pointer, format!("{member} can never be matched"), Some(hint.into()));
            } else if !seen.insert(member.to_string()) {
                let pointer = format!("{}/{key}", self.pointer);
                self.compiler.problem(pointer, format!("{member} is listed twice"), None);
            }
        }
    }
}

fn joined(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// "did you mean ...?", if something is near.
fn meant(word: &str, known: &[&str]) -> Option<String> {
    let similarity = |candidate: &&str| strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase());
    let best = known.iter().copied().max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    (similarity(&best) > 0.8).then(|| format!("did you mean {best}?"))
}
