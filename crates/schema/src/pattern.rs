//! `pattern`: ECMA 262 regular expressions without flags.
//!
//! A pattern is rewritten into the notation of `regex`, whose engine is linear: `\d \w \s . \b` are spelled out so that
//! they mean what ECMA says, and so is every character that only `regex` gives a meaning. Look-aheads at the start, as in
//! password rules, become expressions of their own that all have to hold. What no linear engine runs (back references,
//! `\B`, look-behind, look-ahead elsewhere) runs on `fancy-regex`, with a limit on the length of the text and on the
//! steps back. Characters are Unicode characters, not UTF-16 halves. A group that a repetition enters again keeps its
//! text for back references until it matches again.

use std::fmt::Write;
use std::sync::Once;

/// Steps back that a text may cost.
const MOST_STEPS: usize = 100_000;

/// Bytes of a text that may be compared with a pattern that steps back: each step may read the text once.
const LONGEST_TEXT: usize = 8192;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    source: String,
    matcher: Matcher,
    /// The log names a pattern once.
    logged: Once,
}

#[derive(Debug)]
enum Matcher {
    /// Expressions with whether each has to match; all have to hold.
    Linear(Vec<(regex::Regex, bool)>),
    Backtracking(Box<fancy_regex::Regex>),
}

/// A text costs more steps than a pattern may take.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StepLimit;

/// Why a pattern cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatternProblem {
    pub message: String,
    pub hint: Option<&'static str>,
}

impl Pattern {
    /// Compiles a pattern as its author wrote it.
    ///
    /// # Errors
    /// It is no pattern, or it is too large once written out.
    pub fn compile(source: &str) -> Result<Pattern, PatternProblem> {
        let matcher = match linear(source)? {
            Some(clauses) => Matcher::Linear(clauses),
            None => Matcher::Backtracking(Box::new(backtracking(source)?)),
        };
        Ok(Pattern { source: source.to_owned(), matcher, logged: Once::new() })
    }

    /// The pattern as its author wrote it.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the pattern occurs anywhere in the text.
    ///
    /// # Errors
    /// To find out would take too many steps; the log names the pattern.
    pub fn is_in(&self, text: &str) -> Result<bool, StepLimit> {
        let result = match &self.matcher {
            Matcher::Linear(clauses) => {
                return Ok(clauses.iter().all(|(regex, wanted)| regex.is_match(text) == *wanted));
            }
            Matcher::Backtracking(regex) if text.len() <= LONGEST_TEXT => regex.is_match(text).map_err(|_| StepLimit),
            Matcher::Backtracking(_) => Err(StepLimit),
        };
        if result.is_err() {
            self.logged.call_once(|| {
                tracing::warn!("values are refused because the pattern {} takes too many steps on them", self.source);
            });
        }
        result
    }
}

/// The expressions of a pattern that needs no steps back.
fn linear(source: &str) -> Result<Option<Vec<(regex::Regex, bool)>>, PatternProblem> {
    let mut reader = PatternReader { rest: source, spelled: false, backtracks: false };
    let mut clauses = Vec::new();
    let anchored = reader.takes("^");
    while anchored && (reader.rest.starts_with("(?=") || reader.rest.starts_with("(?!")) {
        let wanted = reader.takes("(?=") || !reader.takes("(?!");
        let (text, _) = reader.expression()?;
        clauses.push((format!("^(?:{text})"), wanted));
        if !reader.takes(")") {
            return Err(unreadable("a group is not closed"));
        }
    }
    let (text, choice) = reader.expression()?;
    if !reader.rest.is_empty() {
        return Err(unreadable("a group is closed that was not opened"));
    }
    if reader.backtracks || choice && !clauses.is_empty() {
        return Ok(None);
    }
    clauses.push((format!("{}{text}", if anchored { "^" } else { "" }), true));
    clauses.into_iter().map(|(text, wanted)| Ok((built(&text)?, wanted))).collect::<Result<_, _>>().map(Some)
}

fn backtracking(source: &str) -> Result<fancy_regex::Regex, PatternProblem> {
    let (text, _) = PatternReader { rest: source, spelled: true, backtracks: false }.expression()?;
    fancy_regex::RegexBuilder::new(&text)
        .backtrack_limit(MOST_STEPS)
        .delegate_size_limit(1 << 21)
        .build()
        .map_err(|error| PatternProblem { message: format!("The pattern cannot be read: {error}"), hint: None })
}

fn built(text: &str) -> Result<regex::Regex, PatternProblem> {
    regex::RegexBuilder::new(text).size_limit(1 << 21).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => PatternProblem {
            message: "The pattern is too large once its repetitions are written out".into(),
            hint: Some("limit the length with maxLength instead"),
        },
        error => PatternProblem { message: format!("The pattern cannot be read: {error}"), hint: None },
    })
}

fn unreadable(what: &str) -> PatternProblem {
    PatternProblem { message: format!("The pattern cannot be read: {what}"), hint: None }
}

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str = r"\t\n\x0B\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
const ANY: &str = r"[\x{0}-\x{10FFFF}]";
const NONE: &str = r"[^\x{0}-\x{10FFFF}]";
const NOT_LINE_END: &str = r"[^\n\r\x{2028}\x{2029}]";

/// One character, or several in the notation of `regex`.
enum Member {
    One(char),
    Set(String),
}

impl Member {
    fn written(&self) -> String {
        match self {
            Member::One(c) => hex(*c),
            Member::Set(text) => text.clone(),
        }
    }
}

fn hex(c: char) -> String {
    format!("\\x{{{:X}}}", u32::from(c))
}

/// What is left of a pattern.
struct PatternReader<'s> {
    rest: &'s str,
    /// Whether boundaries of words are spelled out as look-around and groups capture.
    spelled: bool,
    /// Whether a part was read that no linear engine runs.
    backtracks: bool,
}

impl PatternReader<'_> {
    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// The text before a character, which is passed over, too.
    fn until(&mut self, end: char) -> Result<String, PatternProblem> {
        let (text, rest) =
            self.rest.split_once(end).ok_or_else(|| unreadable(&format!("there is no `{end}` where one is due")))?;
        self.rest = rest;
        Ok(text.to_owned())
    }

    /// Reads up to the end, or to a `)` that closes what was opened before; the rewritten text and whether it is a choice
    /// outside of any group.
    fn expression(&mut self) -> Result<(String, bool), PatternProblem> {
        let (mut text, mut choice, mut open) = (String::new(), false, 0);
        let mut repeatable = false;
        while !(self.rest.is_empty() || open == 0 && self.rest.starts_with(')')) {
            let (part, can_repeat) = match self.next().unwrap_or_default() {
                '(' => {
                    open += 1;
                    (self.group()?, false)
                }
                ')' => {
                    open -= 1;
                    (")".into(), true)
                }
                '|' => {
                    choice |= open == 0;
                    ("|".into(), false)
                }
                assertion @ ('^' | '$') => (assertion.into(), false),
                sign @ ('*' | '+' | '?' | '{') if repeatable => (self.repetition(sign)?, false),
                sign @ ('*' | '+' | '?' | '{') => {
                    return Err(unreadable(&format!("`{sign}` repeats nothing; escape it where it is meant as text")));
                }
                '.' => (NOT_LINE_END.into(), true),
                '[' => (self.class()?, true),
                '\\' if self.takes("b") => (self.boundary(), false),
                '\\' if self.takes("B") => {
                    self.backtracks = true;
                    ("(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))".into(), false)
                }
                '\\' if self.rest.starts_with(['1', '2', '3', '4', '5', '6', '7', '8', '9', 'k']) => {
                    (self.back_reference()?, true)
                }
                '\\' => (self.escape()?.written(), true),
                other => (hex(other), true),
            };
            text.push_str(&part);
            repeatable = can_repeat;
        }
        if open > 0 {
            return Err(unreadable("a group is not closed"));
        }
        Ok((text, choice))
    }

    fn boundary(&self) -> String {
        let spelled = "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))";
        if self.spelled { spelled.into() } else { r"(?-u:\b)".into() }
    }

    /// A reference to a group, which is empty where the group has not matched.
    fn back_reference(&mut self) -> Result<String, PatternProblem> {
        self.backtracks = true;
        if self.takes("k") {
            if !self.takes("<") {
                return Err(unreadable("`\\k` names no group"));
            }
            let name = self.until('>')?;
            return Ok(format!("(?(<{name}>)\\k<{name}>|)"));
        }
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        Ok(format!("(?({number})(?:\\{number})|)"))
    }

    /// What opens a group. What it captures matters only to back references.
    fn group(&mut self) -> Result<String, PatternProblem> {
        for look in ["?=", "?!", "?<=", "?<!"] {
            if self.takes(look) {
                self.backtracks = true;
                return Ok(format!("({look}"));
            }
        }
        if self.takes("?<") {
            let name = self.until('>')?;
            return Ok(if self.spelled { format!("(?<{name}>") } else { "(?:".into() });
        }
        if self.takes("?:") {
            return Ok("(?:".into());
        }
        if self.rest.starts_with('?') {
            return Err(unreadable("a group begins with `(?` and is none that ECMA 262 knows"));
        }
        Ok(if self.spelled { "(" } else { "(?:" }.into())
    }

    /// Which match is found does not matter here, so lazy is the same as greedy.
    fn repetition(&mut self, sign: char) -> Result<String, PatternProblem> {
        let mut text = sign.to_string();
        if sign == '{' {
            let range = self.until('}')?;
            let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let (least, most) = range.split_once(',').unwrap_or((&range, ""));
            if !number(least) || !(most.is_empty() || number(most)) {
                return Err(unreadable("`{` begins no repetition; escape it where it is meant as text"));
            }
            text.push_str(&range);
            text.push('}');
        }
        self.takes("?");
        Ok(text)
    }

    fn class(&mut self) -> Result<String, PatternProblem> {
        let negated = self.takes("^");
        let mut items = String::new();
        while !self.takes("]") {
            let low = self.member()?;
            // A dash between two characters makes a range; first or last it is a dash.
            if self.rest.starts_with("-]") || !self.takes("-") {
                items.push_str(&low.written());
                continue;
            }
            match (low, self.member()?) {
                (Member::One(low), Member::One(high)) if low <= high => {
                    // Writing to a text cannot fail.
                    let _ = write!(items, "{}-{}", hex(low), hex(high));
                }
                _ => return Err(unreadable("a range in a class needs two characters, the smaller one first")),
            }
        }
        Ok(match (items.is_empty(), negated) {
            (true, true) => ANY.into(),
            (true, false) => NONE.into(),
            (false, true) => format!("[^{items}]"),
            (false, false) => format!("[{items}]"),
        })
    }

    fn member(&mut self) -> Result<Member, PatternProblem> {
        match self.next() {
            None => Err(unreadable("a class is not closed")),
            Some('\\') if self.takes("b") => Ok(Member::One('\u{8}')),
            Some('\\') => self.escape(),
            Some(other) => Ok(Member::One(other)),
        }
    }

    /// What follows a backslash and means the same inside and outside a class.
    fn escape(&mut self) -> Result<Member, PatternProblem> {
        let set = |items: &str, negated| Member::Set(format!("[{}{items}]", if negated { "^" } else { "" }));
        Ok(match self.next().ok_or_else(|| unreadable("it ends in a backslash"))? {
            'd' => set(DIGIT, false),
            'D' => set(DIGIT, true),
            'w' => set(WORD, false),
            'W' => set(WORD, true),
            's' => set(SPACE, false),
            'S' => set(SPACE, true),
            't' => Member::One('\t'),
            'n' => Member::One('\n'),
            'v' => Member::One('\u{b}'),
            'f' => Member::One('\u{c}'),
            'r' => Member::One('\r'),
            '0' if !self.rest.starts_with(|c: char| c.is_ascii_digit()) => Member::One('\0'),
            'c' if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                Member::One(char::from(self.next().map_or(0, |letter| letter as u8 % 32)))
            }
            'x' => Member::One(character(self.hexadecimal(2)?)?),
            'u' if self.takes("{") => Member::One(character(u32::from_str_radix(&self.until('}')?, 16).unwrap_or(!0))?),
            'u' => Member::One(self.code_unit()?),
            property @ ('p' | 'P') if self.takes("{") => {
                let name = self.until('}')?;
                if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'=') {
                    return Err(unreadable("the name of a property holds letters, digits, `_` and `=`"));
                }
                Member::Set(format!("\\{property}{{{name}}}"))
            }
            other if other.is_ascii_alphanumeric() => {
                return Err(unreadable(&format!("`\\{other}` is no escape that ECMA 262 knows")));
            }
            other => Member::One(other),
        })
    }

    /// `\u0041`, or a pair of surrogates for a character beyond the first plane; a lone half has no meaning here.
    fn code_unit(&mut self) -> Result<char, PatternProblem> {
        let high = self.hexadecimal(4)?;
        if !(0xD800..0xDC00).contains(&high) || !self.takes("\\u") {
            return character(high);
        }
        let low = self.hexadecimal(4)?.wrapping_sub(0xDC00);
        character(if low < 0x400 { 0x10000 + ((high - 0xD800) << 10) + low } else { high })
    }

    fn hexadecimal(&mut self, length: usize) -> Result<u32, PatternProblem> {
        let digits = self.rest.get(..length).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let digits = digits.ok_or_else(|| unreadable("an escape lacks hexadecimal digits"))?;
        self.rest = &self.rest[length..];
        u32::from_str_radix(digits, 16).map_err(|_| unreadable("an escape lacks hexadecimal digits"))
    }
}

fn character(number: u32) -> Result<char, PatternProblem> {
    char::from_u32(number).ok_or_else(|| unreadable("an escape names no character"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(source: &str, yes: &[&str], no: &[&str]) {
        let pattern = Pattern::compile(source).unwrap_or_else(|problem| panic!("{source}: {problem:?}"));
        for text in yes {
            assert_eq!(pattern.is_in(text), Ok(true), "{source} in {text:?}");
        }
        for text in no {
            assert_eq!(pattern.is_in(text), Ok(false), "{source} in {text:?}");
        }
    }

    #[test]
    fn patterns_mean_what_ecma_says() {
        check("^a$", &["a"], &["a\n", "\na", "ab"]);
        check(r"^\d+$", &["19"], &["١٩", ""]);
        check(r"^\w$", &["_", "Z"], &["é"]);
        check(r"^\s$", &["\u{a0}", "\u{feff}", "\u{2029}", " "], &["\u{85}", "x"]);
        check(r"^\S$", &["\u{85}", "é"], &["\u{a0}"]);
        check("^.$", &["é", "😀", "\u{85}"], &["\n", "\u{2028}", "ab"]);
        check(r"\u0041", &["xAx"], &["u0041"]);
        check(r"^\uD83D\uDE00$", &["😀"], &["\u{fffd}"]);
        check(r"^\u{1F600}$", &["😀"], &["u"]);
        check(r"\bcat\b", &["a cat", "écat"], &["cats"]);
        check(r"^[\w-]+$", &["a-b_c"], &["a b"]);
        check(r"^[a\-z]$", &["-", "a", "z"], &["b"]);
        check("^[^]$", &["\n"], &["", "ab"]);
        check("[]", &[], &["", "a"]);
        check(r"^[\b]$", &["\u{8}"], &["b"]);
        check(r"^[^\d\s]$", &["a"], &["1", " "]);
        check("^a{2}$", &["aa"], &["a{2}"]);
        check("^a]}$", &["a]}"], &["a"]);
        check("^[&&~~-]+$", &["&~-"], &["a"]);
        check("^[[a]+$", &["[a"], &["]"]);
        check(r"^\/\.$", &["/."], &["/x"]);
        check(r"^\p{Lu}+$", &["ÄB"], &["a"]);
        check("(?<year>[0-9]{4})", &["in 2031"], &["203"]);
        check("^(?:a|b|)$", &["a", "b", ""], &["c"]);
        check("#x y", &["#x y"], &["#xy"]);
        check("", &["", "x"], &[]);
        check(r".*\S.*", &["  x "], &["   ", ""]);
        check(r"[^.\/]+(?:\/[^.\/]+)?", &["a/b"], &["./"]);
        check(r"\cJ", &["\n"], &["J"]);
        check(r"\x41", &["A"], &["x41"]);
    }

    #[test]
    fn look_aheads_at_the_start() {
        check(r"^(?=.*\d)(?=.*[a-z])(?!.*\s).{4,}$", &["abc1"], &["abcd", "1234", "ab 1", "a1"]);
        check("^(?!-)(?:[a-z]+-)*[a-z]+$", &["a-b"], &["-a", "a-"]);
        check("^(?!a|b(c))[a-z]+", &["bd"], &["a", "bc", "-d"]);
    }

    #[test]
    fn back_references_and_look_around() {
        check(r"^(\w)\1$", &["aa", "zz"], &["ab", "a"]);
        check(r"^(?<q>['\x22]).*\k<q>$", &["'a'", "\"a\""], &["'a\""]);
        check(r"^(a)?b\1$", &["b", "aba"], &["ba", "ab"]);
        check("(?<=€)[0-9]+", &["€5"], &["$5", "5€"]);
        check("(?<!€)[0-9]$", &["$5"], &["€5"]);
        check("^a(?!b)", &["ac", "a"], &["ab"]);
        check(r"a\Bb", &["ab"], &["a b"]);
        check(r"(?<=\d)\b ", &["1 "], &["é "]);
        check("^(?!a)b|c", &["b", "ac"], &["ab"]);
        check(r"(?=\d).$", &["1"], &["١", "1\n"]);
    }

    #[test]
    fn no_text_takes_long() {
        let text = format!("{}!", "a".repeat(5000));
        for source in [
            r"^(a+)+\1$",
            r"^(a|a)*\1b$",
            r"^(\w*)*(?<=x)$",
            r"(.*)(.*)(.*)\1\2\3x",
            r"^(?:a(?=.*b))*c|(?!a)x",
            "(?=.*x)y",
        ] {
            let pattern = Pattern::compile(source).expect(source);
            let begun = std::time::Instant::now();
            assert_ne!(pattern.is_in(&text), Ok(true), "{source}");
            assert!(begun.elapsed().as_secs() < 5, "{source} took {:?}", begun.elapsed());
        }
        let pattern = Pattern::compile(r"^(a|a)*\1b$").expect("sound");
        assert_eq!(pattern.is_in(&text), Err(StepLimit));
        assert_eq!(Pattern::compile(r"(a)\1").expect("sound").is_in(&"a".repeat(LONGEST_TEXT + 1)), Err(StepLimit));
        // Where no step back is needed, no length is too much.
        assert_eq!(Pattern::compile("^(?:a+)+$").expect("sound").is_in(&"a".repeat(1 << 20)), Ok(true));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for source in [
            "(",
            ")",
            "^(?=a",
            "^(?=a))",
            "[b-a]",
            r"[\d-x]",
            "[a",
            "a**",
            "a+*",
            "^*",
            "*",
            "(?<n",
            "(?i)a",
            r"\ud800",
            r"\ud83dx",
            r"\u{110000}",
            r"\xg0",
            r"\x4",
            r"\p{Nonsense}",
            r"\pL",
            r"\p{[a]}",
            r"\A",
            r"\z",
            r"\01",
            "\\",
            "a{2,1}",
            "a{,2}",
            "a{x",
            "a{2",
            "{",
            r"\c1",
        ] {
            let problem = Pattern::compile(source).expect_err(source);
            assert!(problem.message.starts_with("The pattern cannot be read: "), "{source}: {problem:?}");
        }
        let big = Pattern::compile("^(((((a{50}){50}){50}){50}){50})$").expect_err("too large");
        assert!(big.message.contains("too large"), "{big:?}");
        let deep = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
        assert!(Pattern::compile(&deep).is_err());
    }

    fn a_pattern() -> impl Strategy<Value = String> {
        let atom = prop::sample::select(vec![
            "a", "b", "é", r"\d", r"\w", r"\s", ".", "[ab]", "[^a]", r"\W", r"[\S1]", "^", "$", r"\b", "\\u0061", "-",
        ]);
        let part = (atom, prop::sample::select(vec!["", "", "*", "+", "?", "{2}", "{1,2}", "{1,}?"]));
        let part =
            part.prop_map(
                |(atom, repeat)| {
                    if ["^", "$", r"\b"].contains(&atom) { atom.to_owned() } else { format!("{atom}{repeat}") }
                },
            );
        let sequence = prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat());
        prop::collection::vec(sequence, 1..3).prop_map(|branches| branches.join("|"))
    }

    proptest! {
        #[test]
        fn a_backtracking_engine_agrees(source in a_pattern(), text in r"[ab1é \n_-]{0,6}") {
            let pattern = Pattern::compile(&source).expect("the generator writes sound patterns");
            let ecma = regress::Regex::new(&source).expect("sound").find(&text).is_some();
            prop_assert_eq!(pattern.is_in(&text), Ok(ecma), "{} in {:?}", source, text);
        }

        #[test]
        fn any_text_is_a_pattern_or_a_problem(source in r"[-ab\\\[\](){}|?*+^$.,0-9<>=!:kudDwWsSbBxcp😀]{0,24}", text in ".{0,12}") {
            if let Ok(pattern) = Pattern::compile(&source) {
                let _ = pattern.is_in(&text);
            }
        }
    }
}
