//! The expressions that methods are declared with: a small, closed language and its named conversions.
//!
//! The language is `minijinja`'s (names, members, `or`, `if else`, filters); it has no loops and no way out. An
//! undefined value stays undefined through any number of members. Our conversions are the filters added below.

use super::value::{CompactTime, Value, elements, members, to_rest_time};
use crate::files::names;
use cms_text::strip::strip_tags;
use cms_text::time::Zone;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};
use once_cell::sync::OnceCell;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

static LANGUAGE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut language = Environment::new();
    language.set_undefined_behavior(UndefinedBehavior::Chainable);
    // They write to nobody, and the second takes any number.
    for function in ["debug", "range", "lipsum", "randrange", "namespace", "cycler", "joiner"] {
        language.remove_global(function);
    }
    for filter in ["pprint", "indent", "format", "safe", "escape", "e"] {
        language.remove_filter(filter);
    }
    language.add_filter("moment", moment);
    language.add_filter("rest_time", |text: &str| to_rest_time(text));
    language
        .add_filter("before", |text: &str, mark: &str| text.split_once(mark).map_or(text, |(head, _)| head).to_owned());
    language
        .add_filter("after", |text: &str, mark: &str| text.split_once(mark).map_or("", |(_, tail)| tail).to_owned());
    language.add_filter("between", between);
    language.add_filter("without", without);
    language.add_filter("flag", flag);
    language.add_filter("by", by);
    language.add_filter("words", words);
    language.add_filter("flat", flat);
    language.add_filter("gather", gather);
    language.add_filter("matches", matches);
    language.add_filter("zone", zone);
    language.add_filter("utc_offset", utc_offset);
    language.add_filter("file_name", file_name);
    language.add_filter("strip_tags", |text: &str| strip_tags(text).trim().to_owned());
    language
});

/// An expression that compiles. It is compiled again when it is first used, and shared by all places with its text: most
/// calls never come, and each compiled expression takes 7 KB.
#[derive(Clone)]
pub struct Expression(Arc<CheckedExpression>);

struct CheckedExpression {
    text: String,
    names: Vec<String>,
    compiled: OnceCell<minijinja::Expression<'static, 'static>>,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl Expression {
    /// Checks a text.
    ///
    /// # Errors
    /// The problem, in a sentence; unknown filters are found, too.
    pub fn check(text: &str) -> Result<Expression, String> {
        let compiled = LANGUAGE.compile_expression(text).map_err(|error| explain(&error))?;
        if let Some(name) = filters(text).find(|name| !known_filter(name)) {
            return Err(format!("unknown filter: `{name}`"));
        }
        let mut names: Vec<String> = compiled.undeclared_variables(false).into_iter().collect();
        names.sort();
        Ok(Expression(Arc::new(CheckedExpression { text: text.to_owned(), names, compiled: OnceCell::new() })))
    }

    /// The names that it takes from outside, sorted.
    pub fn names(&self) -> &[String] {
        &self.0.names
    }

    /// Its value.
    ///
    /// # Errors
    /// A value had another type than the expression needs.
    pub fn eval(&self, names: Value) -> Result<Value, Error> {
        let compile = || LANGUAGE.compile_expression_owned(self.0.text.clone());
        self.0.compiled.get_or_try_init(compile)?.eval(names)
    }
}

/// The names behind bars, outside quotes.
fn filters(text: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let bars = text.char_indices().filter(move |(_, c)| match (quote, *c) {
        (None, '\'' | '"') => {
            quote = Some(*c);
            false
        }
        (Some(open), c) if c == open => {
            quote = None;
            false
        }
        (quote, c) => quote.is_none() && c == '|',
    });
    bars.map(|(at, _)| {
        let name = text[at + 1..].trim_start();
        &name[..name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len())]
    })
}

fn known_filter(name: &str) -> bool {
    static ASK: LazyLock<Result<minijinja::Expression<'static, 'static>, Error>> =
        LazyLock::new(|| LANGUAGE.compile_expression("name is filter"));
    let asked = ASK.as_ref().map(|ask| ask.eval(Value::from_pairs([("name", Value::from(name))])));
    matches!(asked, Ok(Ok(known)) if known.is_true())
}

fn explain(error: &Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()))
}

/// A time of the REST routes as XML-RPC writes it; anything else becomes the time that old clients take for "never".
fn moment(value: &Value) -> Value {
    let moment = value.as_str().and_then(CompactTime::from_rest);
    moment.or_else(|| CompactTime::from_rest("0000-00-00T00:00:00")).map_or(Value::UNDEFINED, Value::from_object)
}

/// The text between two marks; empty when they are not there.
fn between(text: &str, start: &str, end: &str) -> String {
    let inner = text.split_once(start).and_then(|(_, rest)| rest.split_once(end));
    inner.map_or("", |(inner, _)| inner).to_owned()
}

/// The text without what is between two marks, nor the marks.
fn without(text: &str, start: &str, end: &str) -> String {
    match text.split_once(start).and_then(|(head, rest)| rest.split_once(end).map(|(_, tail)| (head, tail))) {
        Some((head, tail)) => format!("{head}{tail}"),
        None => text.to_owned(),
    }
}

/// Whether a client's value is true: `1`, `true`, a number that is not 0.
fn flag(value: &Value) -> bool {
    match value.as_str() {
        Some(text) => !matches!(text.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "closed" | "no"),
        None => value.is_true(),
    }
}

/// A list of maps as a map by one of their members.
fn by(list: &Value, key: &str) -> Value {
    let pairs = elements(list).into_iter().map(|item| (item.get_attr(key).unwrap_or_default().to_string(), item));
    Value::from_pairs(pairs.map(|(key, item)| (Value::from(key), item)))
}

/// The name that the number of words of one text has among the names of an expression; no expression can write it.
pub const MOST_WORDS: &str = "@most_words";

/// The number where nothing is declared.
const WORDS: usize = 1000;

/// A text has more words than allowed.
#[derive(Debug)]
struct WordLimitError;

impl fmt::Display for WordLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text has too many words")
    }
}

impl std::error::Error for WordLimitError {}

/// Whether an expression failed because a text has more words than allowed.
pub fn is_too_long(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<WordLimitError>())
}

/// The words of a list, or of a text with commas: trimmed, none empty, each once, in the order of their first
/// occurrence.
fn words(state: &State, value: &Value) -> Result<Value, Error> {
    let most = state.lookup(MOST_WORDS).and_then(|most| most.as_usize()).unwrap_or(WORDS);
    let texts: Vec<Value> = match value.as_str() {
        Some(_) => Vec::new(),
        None => elements(value),
    };
    let texts: Vec<Cow<'_, str>> = texts.iter().map(text_of).collect();
    let split = value.as_str().into_iter().flat_map(|text| text.split(','));
    let (mut seen, mut words) = (HashSet::new(), Vec::new());
    for word in split.chain(texts.iter().map(|text| &**text)).map(str::trim) {
        if !word.is_empty() && seen.insert(word) {
            if words.len() == most {
                return Err(Error::new(ErrorKind::InvalidOperation, "too many words").with_source(WordLimitError));
            }
            words.push(Value::from(word));
        }
    }
    Ok(Value::from(words))
}

fn text_of(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

/// The elements of the lists in a list.
fn flat(list: &Value) -> Value {
    elements(list).iter().flat_map(elements).collect()
}

/// The values of the named members of a map, or of each map in a list: one list, each value once.
fn gather(maps: &Value, names: &Value) -> Value {
    let names: Vec<String> = match names.as_str() {
        Some(name) => vec![name.to_owned()],
        None => elements(names).iter().map(ToString::to_string).collect(),
    };
    let maps = if maps.kind() == ValueKind::Map { vec![maps.clone()] } else { elements(maps) };
    let mut gathered: Vec<Value> = Vec::new();
    for map in &maps {
        let held = names.iter().flat_map(|name| elements(&map.get_attr(name).unwrap_or_default()));
        gathered.extend(held);
    }
    let mut seen = HashSet::new();
    gathered.retain(|value| seen.insert(value.to_string()));
    Value::from(gathered)
}

/// Whether a map has the members of another one, as clients compare: by what is shown of them, flags by truth.
fn matches(map: &Value, wanted: &Value) -> bool {
    members(wanted).iter().all(|(name, wanted)| {
        let own = map.get_attr(name).unwrap_or_default();
        match own.kind() {
            ValueKind::Undefined => false,
            ValueKind::Bool => own.is_true() == flag(wanted),
            _ => own.to_string() == wanted.to_string(),
        }
    })
}

/// The zone with an offset in hours; other texts name one already.
fn zone(offset: &Value) -> String {
    let text = offset.to_string();
    let sign = if text.starts_with(['+', '-']) { "" } else { "+" };
    if text.parse::<f64>().is_ok() { format!("UTC{sign}{text}") } else { text }
}

/// The hours by which a zone is ahead of UTC at a moment.
fn utc_offset(zone: &str, now: i64) -> String {
    let ahead = Zone::parse(zone).map_or(0, |zone| zone.utc_to_local(now) - now);
    let hours = format!("{:.2}", ahead as f64 / 3600.0);
    hours.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The name under which a file of this name is stored, as long as no other one has it.
fn file_name(given: &str) -> Value {
    let name = names::stored(given, |_| true).map(|(base, extension)| format!("{base}.{extension}"));
    name.map_or(Value::UNDEFINED, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xmlrpc::value::{from_json, to_json};
    use serde_json::json;

    #[test]
    fn expressions() {
        let names = json!({"p": {"title": {"raw": "T"}, "date": "2031-01-02T03:04:05", "n": 7}, "list": [{"k": "a", "v": 1}],
            "blog": "<title>A</title><category>1,2</category>text", "no": "0"});
        let check = |text: &str, expected: serde_json::Value| {
            let value = Expression::check(text).and_then(|e| e.eval(from_json(&names)).map_err(|e| e.to_string()));
            assert_eq!(value.map(|v| to_json(&v).unwrap_or(json!("undefined"))), Ok(expected), "{text}");
        };
        check("p.title.raw", json!("T"));
        check("p.n|string", json!("7"));
        check("p.date|moment", json!("20310102T03:04:05"));
        check("none|moment", json!("00000000T00:00:00"));
        check("p.nothing.at.all", json!("undefined"));
        check("x.y if x is defined", json!("undefined"));
        check("(list|by('k')).a.v", json!(1));
        check("blog|between('<title>', '</title>')", json!("A"));
        check("blog|between('<category>', '</category>')|words", json!(["1", "2"]));
        check("blog|without('<title>', '</title>')|without('<category>', '</category>')", json!("text"));
        check("'a<!--more-->b'|before('<!--more-->') ~ '|' ~ 'a<!--more-->b'|after('<!--more-->')", json!("a|b"));
        check("no|flag", json!(false));
        check("['x', ' x ', '']|words", json!(["x"]));
        check("p|matches({'n': '7'}) and not p|matches({'n': 7, 'none': 1})", json!(true));
        check("{'yes': true}|matches({'yes': '1'}) and not {'yes': true}|matches({'yes': 0})", json!(true));
        check("[2|zone, '-3.5'|zone, 'Europe/Paris'|zone]", json!(["UTC+2", "UTC-3.5", "Europe/Paris"]));
        check("[''|utc_offset(0), 'UTC-3.5'|utc_offset(0), 'UTC+10'|utc_offset(0)]", json!(["0", "-3.5", "10"]));
        check("'a/Red Dot.PNG'|file_name", json!("Red-Dot.png"));
        check("''|file_name", json!("undefined"));
        check("{'ID': 'id'}['ID'] or 'date'", json!("id"));
    }

    #[test]
    fn a_text_has_so_many_words() {
        let words = Expression::check("t|words").expect("fine");
        let eval = |text: Value, most: Option<usize>| {
            let mut names = vec![("t", text)];
            names.extend(most.map(|most| (MOST_WORDS, Value::from(most))));
            words.eval(Value::from_pairs(names)).map(|words| words.len())
        };
        let text = |n: usize| (0..n).map(|n| format!("w{n},")).collect::<String>();
        let list = |n: usize| (0..n).map(|n| Value::from(format!("w{n}"))).collect::<Value>();
        for n in [WORDS - 1, WORDS] {
            assert_eq!(eval(Value::from(text(n)), None).ok(), Some(Some(n)));
            assert_eq!(eval(list(n), None).ok(), Some(Some(n)));
        }
        for long in [Value::from(text(WORDS + 1)), list(WORDS + 1)] {
            assert!(eval(long, None).is_err_and(|error| is_too_long(&error)));
        }
        assert!(eval(Value::from("a,b,c"), Some(3)).is_ok() && eval(Value::from("a,b,c"), Some(2)).is_err());
        // Spaces and repetitions are no words, however many there are.
        assert_eq!(eval(Value::from(", a".repeat(200_000)), None).ok(), Some(Some(1)));
        let other = Expression::check("t|join(1, 2, 3, 4)").expect("fine");
        assert!(other.eval(Value::from_pairs([("t", Value::from("x"))])).is_err_and(|error| !is_too_long(&error)));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let check = |text: &str, expected: &str| {
            let error = Expression::check(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("a +", "syntax error");
        check("a|nosuch", "nosuch");
        check("a if b else 'x|y'|nosuch", "`nosuch`");
        check("", "syntax error");
        let sum = Expression::check("a.b + (c|default(d))").expect("fine");
        assert_eq!(sum.names(), ["a", "c", "d"]);
    }
}
