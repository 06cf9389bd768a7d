//! Checks the merged declaration against its grammar: every deviation becomes a problem with its place.
//!
//! `jsonschema` finds them; this file only words them. It does not read files.

use super::grammar::Grammar;
use super::read::MOST_PROBLEMS;
use super::tree::{Data, Member, Node, Sources, dotted, pointer_segments};
use crate::Problem;
use cms_declaration::units::FORMATS;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

/// Every deviation of a tree, whose value is given, too, from a grammar. `partial`: some file could not be read, so absent keys
/// prove nothing.
pub fn check(grammar: &Grammar, tree: (&Node, &Value), sources: &Sources, partial: bool) -> Vec<Problem> {
    check_by(grammar.validator(), grammar, tree, sources, partial)
}

/// The deviations of what is not as shipped. Nothing is said about keys that should be there.
pub fn check_own(grammar: &Grammar, root: &Node, sources: &Sources) -> Vec<Problem> {
    let own = |(key, member): (&String, &Member)| {
        (!sources.is_all_verbatim(&member.node)).then(|| (key.clone(), member.node.to_value()))
    };
    let own: Map<String, Value> = root.as_table().into_iter().flatten().filter_map(own).collect();
    let part = grammar.part(own.keys());
    check_by(part.validator(), grammar, (root, &Value::Object(own)), sources, true)
}

fn check_by(
    validator: &Validator,
    grammar: &Grammar,
    (root, value): (&Node, &Value),
    sources: &Sources,
    partial: bool,
) -> Vec<Problem> {
    let mut check = Check { grammar, root, sources, partial, found: Vec::new() };
    for error in validator.iter_errors(value) {
        check.tell(&error);
        if check.found.len() >= MOST_PROBLEMS {
            break;
        }
    }
    check.whole_numbers();
    check.found
}

/// The known name that a mistyped name most likely stands for.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    let distance = |candidate: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase());
    let scored = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    scored.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// The hint for an unknown name: the nearest known one, or all of them if they are few.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(near) = nearest(name, known.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let names: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    (1..=30).contains(&names.len()).then(|| format!("known here: {}", names.join(", ")))
}

/// The paths, last segment first, of floats that have no fraction.
fn whole_floats(node: &Node) -> Vec<Vec<String>> {
    let below = |segment: &dyn Fn() -> String, node: &Node| {
        whole_floats(node).into_iter().map(|path| [path, vec![segment()]].concat()).collect::<Vec<_>>()
    };
    match &node.data {
        Data::Number(number) if number.as_f64().is_some_and(|n| number.is_f64() && n.fract() == 0.0) => {
            vec![Vec::new()]
        }
        Data::Array(items) => {
            items.iter().enumerate().flat_map(|(index, item)| below(&|| index.to_string(), item)).collect()
        }
        Data::Table(table) => table.iter().flat_map(|(key, member)| below(&|| key.clone(), &member.node)).collect(),
        _ => Vec::new(),
    }
}

struct Check<'a> {
    grammar: &'a Grammar,
    root: &'a Node,
    sources: &'a Sources,
    partial: bool,
    found: Vec<Problem>,
}

impl Check<'_> {
    fn tell(&mut self, error: &ValidationError<'_>) {
        let path = pointer_segments(error.instance_path().as_str());
        let is_choice = !self.choices(&path).is_empty();
        match error.kind() {
            _ if is_choice => self.not_among(&path),
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                for key in unexpected.iter().take(MOST_PROBLEMS) {
                    self.unknown_key(&path, key);
                }
            }
            ValidationErrorKind::Required { property } => self.absent_key(&path, property.as_str().unwrap_or("")),
            ValidationErrorKind::Type { kind } => self.wrong_type(&path, &expected_types(kind)),
            ValidationErrorKind::Minimum { limit } => self.at_value(&path, &format!("must be at least {limit}")),
            ValidationErrorKind::Maximum { limit } => self.at_value(&path, &format!("must be at most {limit}")),
            ValidationErrorKind::Pattern { .. } if self.unit(&path).is_some() => self.wrong_type(&path, "a string"),
            ValidationErrorKind::Pattern { pattern } => self.at_value(&path, &format!("must match `{pattern}`")),
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                // Of the alternatives, the one that fails deepest is most likely the intended one, and null never is: no
                // file has it.
                let likely = |errors: &&Vec<ValidationError<'static>>| {
                    let depth = errors.iter().map(|error| error.instance_path().as_str().len()).max().unwrap_or(0);
                    let null = |error: &ValidationError<'_>| match error.kind() {
                        ValidationErrorKind::Type { kind } => expected_types(kind).is_empty(),
                        _ => false,
                    };
                    (depth, !errors.iter().any(null))
                };
                for error in context.iter().max_by_key(likely).into_iter().flatten() {
                    self.tell(error);
                }
            }
            kind => self.at_value(&path, &format!("does not satisfy `{}`", kind.keyword())),
        }
    }

    fn unknown_key(&mut self, path: &[String], key: &str) {
        let message = match path {
            [] => format!("there is no key `{key}` at the top level"),
            _ => format!("there is no key `{key}` in `{}`", dotted(path)),
        };
        let hint = suggestion(key, self.grammar.keys(path));
        let mut full = path.to_vec();
        full.push(key.to_owned());
        self.found.push(self.sources.problem(self.root.locate_key(&full), message, hint));
    }

    fn absent_key(&mut self, path: &[String], key: &str) {
        if self.partial {
            return;
        }
        let mut full = path.to_vec();
        full.push(key.to_owned());
        let hint = self.description(&full).map(|text| format!("`{key}`: {text}"));
        let message = match path {
            [] => format!("the key `{key}` is absent"),
            _ => format!("`{}` needs the key `{key}`", dotted(path)),
        };
        self.found.push(self.sources.problem(self.root.locate(path), message, hint));
    }

    fn wrong_type(&mut self, path: &[String], expected: &str) {
        let Some(node) = self.root.at(path) else { return };
        if let Some((kind, example)) = self.unit(path) {
            let given = node.as_str().map_or(node.kind().to_owned(), |text| format!("`{text}`"));
            let message =
                format!("`{}` must be a {kind} with its unit, such as \"{example}\", not {given}", dotted(path));
            return self.found.push(self.sources.problem(self.root.locate(path), message, self.description(path)));
        }
        let source = self.sources.name(node.span.source);
        let hint = match &node.data {
            Data::Bool(false) if expected == "a table" => {
                Some("`false` removes what an earlier file declares; there is nothing of this name".to_owned())
            }
            Data::Number(_) | Data::Bool(_) if expected == "a string" && source == super::settings::COMMAND_LINE => {
                Some("put the value in quotes of its own: --set 'KEY=\"VALUE\"'".to_owned())
            }
            _ => self.description(path),
        };
        let message = format!("`{}` must be {expected}, not {}", dotted(path), node.kind());
        self.found.push(self.sources.problem(self.root.locate(path), message, hint));
    }

    fn not_among(&mut self, path: &[String]) {
        let choices = self.choices(path);
        let Some(node) = self.root.at(path) else { return };
        let given = node.as_str().map_or(node.kind().to_owned(), |text| format!("`{text}`"));
        let hint = node.as_str().and_then(|text| nearest(text, choices.iter().copied()));
        let hint = hint.map(|near| format!("did you mean `{near}`?"));
        let names: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        let message = format!("`{}` must be one of {}, not {given}", dotted(path), names.join(", "));
        self.found.push(self.sources.problem(self.root.locate(path), message, hint));
    }

    fn at_value(&mut self, path: &[String], what: &str) {
        let message = format!("`{}` {what}", dotted(path));
        self.found.push(self.sources.problem(self.root.locate(path), message, self.description(path)));
    }

    /// JSON Schema accepts 2.0 as an integer; the types behind the grammar do not.
    fn whole_numbers(&mut self) {
        for mut path in whole_floats(self.root) {
            path.reverse();
            let whole = self.grammar.at(&path).is_some_and(|schema| schema["type"] == "integer");
            whole.then(|| self.wrong_type(&path, "an integer"));
        }
    }

    /// The description of a value with a unit, and an example of it.
    fn unit(&self, path: &[String]) -> Option<(&'static str, &'static str)> {
        let format = self.grammar.at(path)?["format"].as_str()?;
        FORMATS.into_iter().find(|(known, _)| *known == format)
    }

    fn choices(&self, path: &[String]) -> Vec<&str> {
        self.grammar.at(path).map(|schema| self.grammar.choices(schema)).unwrap_or_default()
    }

    fn description(&self, path: &[String]) -> Option<String> {
        let text = self.grammar.field(path)?["description"].as_str()?;
        Some(text.replace('\n', " "))
    }
}

fn expected_types(kind: &TypeKind) -> String {
    let word = |name: &str| match name {
        "object" => "a table",
        "array" => "an array",
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "a boolean",
        _ => "null",
    };
    let names: Vec<String> = match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect(),
    };
    // TOML has no null: an optional key is absent.
    let words: Vec<&str> = names.iter().filter(|name| *name != "null").map(|name| word(name)).collect();
    words.join(" or ")
}
