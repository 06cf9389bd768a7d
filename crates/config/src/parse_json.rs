//! JSON text to a span-keeping tree, strictly: no comments, no trailing commas, no duplicate keys, no lone surrogates.
//!
//! serde_json reports neither the place of a value nor a duplicate key, hence our own reader. It does not know what
//! any key means.

use super::parse_toml::MOST;
use super::tree::{DEPTH, Data, Member, Node, Sources, Span, Table};
use crate::Problem;
use serde_json::Number;

/// Parses the text of a source. `None` after any problem: a syntax error ends the parse, duplicate keys are all
/// reported.
pub fn parse(sources: &Sources, source: usize, problems: &mut Vec<Problem>) -> Option<Node> {
    let mut reader = JsonParser { text: sources.text(source), at: 0, source, duplicates: Vec::new() };
    let outcome = reader.document();
    let mut found: Vec<Problem> = Vec::new();
    for (key, again, first) in reader.duplicates.iter().take(MOST) {
        let hint = format!("the first is at {}", sources.reference(*first));
        found.push(sources.problem(*again, format!("the key `{key}` is given twice"), Some(hint)));
    }
    let node = match outcome {
        Ok(node) => Some(node),
        Err((at, message)) => {
            let span = Span { source, start: at, end: at };
            found.push(sources.problem(span, format!("this is not JSON: {message}"), None));
            None
        }
    };
    let sound = found.is_empty();
    problems.append(&mut found);
    node.filter(|_| sound)
}

/// Where parsing stopped, and why.
type SyntaxError = (usize, &'static str);

struct JsonParser<'a> {
    text: &'a str,
    at: usize,
    source: usize,
    duplicates: Vec<(String, Span, Span)>,
}

impl JsonParser<'_> {
    fn document(&mut self) -> Result<Node, SyntaxError> {
        let node = self.value(0)?;
        self.space();
        match self.peek() {
            None => Ok(node),
            Some(_) => Err((self.at, "something follows the end of the document")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        self.space();
        let start = self.at;
        if depth > DEPTH {
            return Err((start, "it is nested too deeply"));
        }
        let data = match self.peek() {
            Some(b'{') => Data::Table(self.table(depth)?),
            Some(b'[') => Data::Array(self.array(depth)?),
            Some(b'"') => Data::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Data::Number(self.number()?),
            Some(b't') => self.word("true", Data::Bool(true))?,
            Some(b'f') => self.word("false", Data::Bool(false))?,
            Some(b'n') => self.word("null", Data::Null)?,
            Some(_) => return Err((start, "a value is expected here")),
            None => return Err((start, "the text ends too early")),
        };
        Ok(Node { data, span: self.span(start) })
    }

    fn table(&mut self, depth: usize) -> Result<Table, SyntaxError> {
        let mut table = Table::new();
        self.at += 1;
        self.space();
        if self.take(b'}') {
            return Ok(table);
        }
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err((start, "a key in double quotes is expected here"));
            }
            let name = self.string()?;
            let key = self.span(start);
            self.space();
            if !self.take(b':') {
                return Err((self.at, "a colon is expected here"));
            }
            let node = self.value(depth + 1)?;
            match table.get(&name) {
                Some(first) => self.duplicates.push((name, key, first.key)),
                None => drop(table.insert(name, Member { key, node })),
            }
            if self.end_of_list(b'}')? {
                return Ok(table);
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, SyntaxError> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.end_of_list(b']')? {
                return Ok(items);
            }
        }
    }

    fn end_of_list(&mut self, close: u8) -> Result<bool, SyntaxError> {
        self.space();
        match (self.take(close), close) {
            (true, _) => Ok(true),
            _ if self.take(b',') => Ok(false),
            (_, b'}') => Err((self.at, "a comma or a closing brace is expected here")),
            _ => Err((self.at, "a comma or a closing bracket is expected here")),
        }
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').ok_or((self.text.len(), OPEN_STRING))?;
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err((self.at, "control characters in strings are written as \\u0000")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let start = self.at;
        self.at += 2;
        Ok(match self.text.as_bytes().get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => return Err((start, "there is no such escape")),
        })
    }

    /// `\uXXXX`, or a pair of surrogates.
    fn unicode(&mut self, start: usize) -> Result<char, SyntaxError> {
        let first = self.hex(start)?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).ok_or((start, LONE_SURROGATE));
        }
        if first >= 0xdc00 || !self.text[self.at..].starts_with("\\u") {
            return Err((start, LONE_SURROGATE));
        }
        self.at += 2;
        let second = self.hex(start)?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err((start, LONE_SURROGATE));
        }
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or((start, LONE_SURROGATE))
    }

    fn hex(&mut self, start: usize) -> Result<u32, SyntaxError> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or((start, OPEN_STRING))?;
        let mut number = 0;
        for digit in digits {
            let digit = char::from(*digit).to_digit(16).ok_or((start, "four hexadecimal digits are expected here"))?;
            number = number * 16 + digit;
        }
        self.at += 4;
        Ok(number)
    }

    fn number(&mut self) -> Result<Number, SyntaxError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        // serde_json knows the grammar of numbers and refuses those that exceed a float.
        serde_json::from_str(&self.text[start..self.at])
            .map_err(|_| (start, "this is not a number, or it is too large"))
    }

    fn word(&mut self, word: &str, data: Data) -> Result<Data, SyntaxError> {
        if !self.text[self.at..].starts_with(word) {
            return Err((self.at, "a value is expected here"));
        }
        self.at += word.len();
        Ok(data)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn span(&self, start: usize) -> Span {
        Span { source: self.source, start, end: self.at }
    }
}

const OPEN_STRING: &str = "a string is not closed";
const LONE_SURROGATE: &str = "half of a surrogate pair stands alone";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn parsed(text: &str) -> Result<Node, Vec<String>> {
        let mut sources = Sources::default();
        let source = sources.add("t", text);
        let mut problems = Vec::new();
        parse(&sources, source, &mut problems).ok_or(problems.iter().map(|p| p.to_string()).collect())
    }

    #[test]
    fn refusals_have_places() {
        let check = |text: &str, expected: &str| {
            let problems = parsed(text).map(|node| node.to_value()).expect_err(text);
            assert!(problems[0].starts_with(&format!("t:{expected}")), "{text}: {problems:?}");
        };
        check("", "1:1: this is not JSON: the text ends too early");
        check("{\"a\": 1,\n}", "2:1: this is not JSON: a key in double quotes is expected here");
        check("[1 2]", "1:4: this is not JSON: a comma or a closing bracket is expected here");
        check("{\"a\" 1}", "1:6: this is not JSON: a colon is expected here");
        check("{\"a\": 1 \"b\"}", "1:9: this is not JSON: a comma or a closing brace is expected here");
        check("nul", "1:1: this is not JSON: a value is expected here");
        check("\"a\nb\"", "1:3: this is not JSON: control characters");
        check("\"abc", "1:5: this is not JSON: a string is not closed");
        check("\"\\x\"", "1:2: this is not JSON: there is no such escape");
        check("\"\\ud800\"", "1:2: this is not JSON: half of a surrogate pair");
        check("\"\\udc00\\ud800\"", "1:2: this is not JSON: half of a surrogate pair");
        check("\"\\u12", "1:2: this is not JSON: ");
        check("\"\\u1ä\"", "1:2: this is not JSON: four hexadecimal digits");
        check("1e400", "1:1: this is not JSON: this is not a number, or it is too large");
        check("01", "1:1: this is not JSON: this is not a number");
        check("{} {}", "1:4: this is not JSON: something follows");
        check("{\"a\": 1,\n \"a\": 2}", "2:2: the key `a` is given twice");
        check(&"[".repeat(1_000_000), "1:66: this is not JSON: it is nested too deeply");
    }

    proptest! {
        #[test]
        fn json_like_text_never_panics_and_agrees_with_serde(parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", "\"", ":", ",", "\\u00e4", "\\ud83d", "\\ude00", "\\n", "a", "1", "-", ".5", "e3", "true",
            "null", " ", "\n", "\"k\"", "\"k\":", "ä",
        ]), 0..40)) {
            let text = parts.concat();
            let theirs = serde_json::from_str::<Value>(&text);
            match (parsed(&text), theirs) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours.to_value(), theirs),
                (Ok(_), Err(error)) => prop_assert!(false, "{text}: {error}"),
                (Err(problems), Ok(_)) => prop_assert!(problems.iter().all(|p| p.contains("twice")), "{text}: {problems:?}"),
                (Err(_), Err(_)) => {}
            }
        }

        #[test]
        fn what_serde_writes_is_read_back(text in "\\PC*", number: i64, float in -1e300..1e300f64) {
            let value = serde_json::json!({"a": [text, number, float, null, true], "b": {}});
            prop_assert_eq!(parsed(&value.to_string()).expect("sound").to_value(), value);
        }
    }
}
