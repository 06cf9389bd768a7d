//! TOML text to a span-keeping tree; every syntax error of a text at once.
//!
//! It does not know what any key means.

use super::tree::{DEPTH, Data, Member, Node, Sources, Span, Table};
use crate::Problem;
use serde_json::Number;
use std::ops::Range;
use toml::de::{DeInteger, DeTable, DeValue};
use toml_parser::lexer::TokenKind;

/// Most dots in one key, and most brackets within brackets. The parser's own result is a recursive structure whose
/// mere release would exhaust the stack, so depth is bounded before it is built.
const KEY_DOTS: usize = 24;
const BRACKETS: usize = 32;

/// Most problems that one text reports; each costs a pass over the text, and nobody reads more.
pub const MOST: usize = 100;

/// Parses the text of a source. `None` after any problem, because half a file would only cause misleading further
/// ones.
pub fn parse(sources: &Sources, source: usize, problems: &mut Vec<Problem>) -> Option<Node> {
    let text = sources.text(source);
    // Nothing that is shipped is.
    if !sources.is_verbatim(source)
        && let Some(start) = too_deep(text)
    {
        let span = Span { source, start, end: start };
        problems.push(sources.problem(span, "this is nested too deeply", None));
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    let whole = Span { source, start: 0, end: 0 };
    if !errors.is_empty() {
        problems.extend(errors.iter().take(MOST).map(|error| syntax_problem(sources, source, error)));
        return None;
    }
    let mut conversion = Conversion { sources, source, found: Vec::new() };
    let root = Node { data: Data::Table(conversion.table(table.into_inner(), 0)), span: whole };
    let sound = conversion.found.is_empty();
    problems.append(&mut conversion.found);
    sound.then_some(root)
}

/// Parses one value as written on a command line. `None` when it is not TOML.
pub fn parse_value(text: &str, span: Span) -> Option<Node> {
    if too_deep(text).is_some() {
        return None;
    }
    let value = DeValue::parse(text.trim()).ok()?;
    let sources = Sources::default();
    let mut conversion = Conversion { sources: &sources, source: span.source, found: Vec::new() };
    let node = conversion.node(value.into_inner(), 0..0, 0);
    conversion.found.is_empty().then(|| node.moved_to(span))
}

/// The segments of a dotted key; quoted segments may hold dots. `None` when it is not a key.
pub fn parse_key(text: &str) -> Option<Vec<String>> {
    let line = format!("{text} = 0");
    if text.contains(['\n', '=', '#']) && !text.contains(['"', '\'']) || too_deep(&line).is_some() {
        return None;
    }
    let mut table = DeTable::parse(&line).ok()?.into_inner();
    let mut path = Vec::new();
    loop {
        if table.len() != 1 {
            return None;
        }
        let (key, value) = table.into_iter().next()?;
        path.push(key.into_inner().into_owned());
        match value.into_inner() {
            DeValue::Table(inner) => table = inner,
            _ => return Some(path),
        }
    }
}

fn too_deep(text: &str) -> Option<usize> {
    let (mut dots, mut open) = (0, 0usize);
    for token in toml_parser::Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                dots = 0;
                open += 1;
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => open = open.saturating_sub(1),
            TokenKind::Newline | TokenKind::Comma | TokenKind::Equals => dots = 0,
            _ => {}
        }
        if dots > KEY_DOTS || open > BRACKETS {
            return Some(token.span().start());
        }
    }
    None
}

fn syntax_problem(sources: &Sources, source: usize, error: &toml::de::Error) -> Problem {
    let range = error.span().unwrap_or(0..0);
    let span = Span { source, start: range.start, end: range.end };
    if error.message() == "duplicate key" {
        let key = sources.text(source).get(range).unwrap_or("").trim();
        return sources.problem(span, format!("the key `{key}` is given twice"), Some("keep one of the two".into()));
    }
    sources.problem(span, format!("this is not TOML: {}", error.message()), None)
}

struct Conversion<'a> {
    sources: &'a Sources,
    source: usize,
    found: Vec<Problem>,
}

impl Conversion<'_> {
    fn table(&mut self, table: DeTable<'_>, depth: usize) -> Table {
        // The parser sorts keys by name; order is meaning here (routes, arguments), so we go back to the order of the
        // text.
        let mut members: Vec<_> = table.into_iter().collect();
        members.sort_by_key(|(key, _)| key.span().start);
        let mut out = Table::with_capacity(members.len());
        for (key, value) in members {
            let key_span = self.span(key.span());
            let span = value.span();
            let node = self.node(value.into_inner(), span, depth + 1);
            out.insert(key.into_inner().into_owned(), Member { key: key_span, node });
        }
        out
    }

    fn node(&mut self, value: DeValue<'_>, range: Range<usize>, depth: usize) -> Node {
        let span = self.span(range);
        if depth > DEPTH {
            self.refuse(span, "this is nested too deeply");
            return Node { data: Data::Null, span };
        }
        let data = match value {
            DeValue::String(text) => Data::String(text.into_owned()),
            DeValue::Boolean(flag) => Data::Bool(flag),
            DeValue::Datetime(time) => Data::String(time.to_string()),
            DeValue::Integer(integer) => self.integer(&integer, span),
            DeValue::Float(float) => self.float(float.as_str(), span),
            DeValue::Table(table) => Data::Table(self.table(table, depth)),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| {
                    let range = item.span();
                    self.node(item.into_inner(), range, depth + 1)
                });
                Data::Array(items.collect())
            }
        };
        Node { data, span }
    }

    fn integer(&mut self, integer: &DeInteger<'_>, span: Span) -> Data {
        match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) => Data::Number(number.into()),
            Err(_) => {
                self.refuse(span, "this integer is beyond 64 bits");
                Data::Null
            }
        }
    }

    fn float(&mut self, text: &str, span: Span) -> Data {
        match text.parse::<f64>().ok().and_then(Number::from_f64) {
            Some(number) => Data::Number(number),
            None => {
                self.refuse(span, "this number is not finite");
                Data::Null
            }
        }
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span { source: self.source, start: range.start, end: range.end }
    }

    fn refuse(&mut self, span: Span, message: &str) {
        if self.found.len() < MOST {
            self.found.push(self.sources.problem(span, message, None));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<Node, Vec<String>> {
        let mut sources = Sources::default();
        let source = sources.add("t", text);
        let mut problems = Vec::new();
        parse(&sources, source, &mut problems).ok_or(problems.iter().map(|p| p.to_string()).collect())
    }

    #[test]
    fn order_is_that_of_the_text() {
        let node = parsed("[z.b]\nx = 1\n[a]\n[z.a]\n[m]\nq.z = 1\nq.a = 2\n[z.c]\n").expect("sound");
        let text = node.to_value().to_string();
        assert_eq!(text, r#"{"z":{"b":{"x":1},"a":{},"c":{}},"a":{},"m":{"q":{"z":1,"a":2}}}"#);
    }

    #[test]
    fn values_become_json() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parsed(&format!("v = {text}")).expect(text).to_value()["v"].to_string(), expected);
        };
        check("1_000", "1000");
        check("0xff", "255");
        check("0b11", "3");
        check("-7", "-7");
        check("1.5", "1.5");
        check("2020-01-01", "\"2020-01-01\"");
        check("[1, [true]]", "[1,[true]]");
        check("{ a.b = 1 }", r#"{"a":{"b":1}}"#);
    }

    #[test]
    fn refusals_have_places() {
        let check = |text: &str, expected: &str| {
            let problems = parsed(text).map(|node| node.to_value()).expect_err(text);
            assert!(problems[0].starts_with(expected), "{text}: {problems:?}");
        };
        check("a = 1\na = 2\n", "t:2:1: the key `a` is given twice");
        check("[a]\n[b]\n[a]\n", "t:3:2: the key `a` is given twice");
        check("x = 99999999999999999999", "t:1:5: this integer is beyond 64 bits");
        check("x = inf", "t:1:5: this number is not finite");
        check("x = 1e999", "t:1:5: this");
        check("x = [", "t:1:");
        check("x = \"\u{0}\"", "t:1:");
        check(&format!("x = {}{}", "[".repeat(200_000), "]".repeat(200_000)), "t:1:37: this is nested too deeply");
        check(&format!("{}a = 1", "a.".repeat(200_000)), "t:1:50: this is nested too deeply");
    }

    #[test]
    fn every_syntax_error_is_reported() {
        assert_eq!(parsed("a = \nb = 1\nc = ]\n").map(|node| node.to_value()).expect_err("broken").len(), 2);
    }

    #[test]
    fn keys_may_quote_their_segments() {
        let check = |text: &str, expected: Option<&[&str]>| {
            let found = parse_key(text);
            assert_eq!(
                found.as_deref(),
                expected.map(|e| e.iter().map(|s| s.to_string()).collect::<Vec<_>>()).as_deref()
            );
        };
        check("site.prefix", Some(&["site", "prefix"]));
        check("a.\"b.c\".'d'", Some(&["a", "b.c", "d"]));
        check("", None);
        check("a..b", None);
        check("a = 1\nb", None);
        check("a b", None);
        check("\"a\" = 1\n\"b\"", None);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "\\PC*") {
            let _ = parsed(&text).map(|node| node.to_value());
            let _ = parse_key(&text);
            let _ = parse_value(&text, Span { source: 0, start: 0, end: 0 });
        }

        #[test]
        fn toml_like_text_never_panics(parts in prop::collection::vec(prop::sample::select(vec![
            "a", "b", ".", "=", "[", "]", "[[", "]]", "{", "}", ",", "\n", "\"", "'", "\"\"\"", "#", " ", "1", "-", "e9",
            "true", "\\u12", "2020-01-01", "0x", "\r", "+",
        ]), 0..60)) {
            let text = parts.concat();
            let _ = parsed(&text).map(|node| node.to_value());
            let _ = parse_key(&text);
        }
    }
}
