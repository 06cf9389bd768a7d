//! `pattern`: ECMA 262 regular expressions without flags, in bounded time.
//!
//! Choice: a pattern is parsed once, and wherever its meaning can be kept it runs on the linear engine of `regex`
//! (written out so that `\d \w \s . ^ $ \b` mean what ECMA says). Look-aheads at the start, as in password rules,
//! become separate linear expressions that all have to hold. What is left (back references, look-behind, look-ahead
//! elsewhere) runs on the backtracking engine `regress`, but only if the shape of the pattern bounds the work: nested
//! repetition is refused when the schema is compiled, and the longest text that is tried follows from the number of
//! repetitions in sequence. Characters are Unicode characters, not UTF-16 halves.
//!
//! What would change the choice: a linear engine that knows ECMA, or a step limit in `regress`.

use std::fmt::Write;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    source: String,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    /// Expressions with whether each has to match; all have to hold.
    Linear(Vec<(regex::Regex, bool)>),
    Backtracking {
        regex: Box<regress::Regex>,
        longest: usize,
    },
}

/// The outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Found,
    Absent,
    /// The text is longer than what this pattern can be tried on in bounded time.
    Unknown {
        longest: usize,
    },
}

/// Why a pattern cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatternProblem {
    pub message: String,
    pub hint: Option<&'static str>,
}

impl Pattern {
    pub fn compile(source: &str) -> Result<Pattern, PatternProblem> {
        // `regress` is the authority on syntax. The `u` grammar knows \u{...} and \p{...}; the older one is laxer.
        let ecma = regress::Regex::with_flags(source, "u")
            .or_else(|_| regress::Regex::new(source))
            .map_err(|error| PatternProblem { message: format!("The pattern cannot be read: {error}"), hint: None })?;
        let tree = Parser::parse(source).ok_or_else(|| PatternProblem {
            message: "The pattern uses syntax that this server does not understand".into(),
            hint: Some("write it without surrogate halves and without octal escapes"),
        })?;
        if let Some(clauses) = linear(&tree) {
            return Ok(Pattern { source: source.to_owned(), engine: Engine::Linear(clauses?) });
        }
        let longest = longest_text(&tree).ok_or_else(|| PatternProblem {
            message: "The pattern could take forever: it repeats a repetition or a choice".into(),
            hint: Some("such patterns are fine without look-behind, back references and look-ahead after the start"),
        })?;
        Ok(Pattern { source: source.to_owned(), engine: Engine::Backtracking { regex: Box::new(ecma), longest } })
    }

    /// The pattern as its author wrote it.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the pattern occurs anywhere in the text.
    pub fn find_in(&self, text: &str) -> Match {
        let found = match &self.engine {
            Engine::Linear(clauses) => clauses.iter().all(|(regex, wanted)| regex.is_match(text) == *wanted),
            Engine::Backtracking { longest, .. } if text.len() > *longest => {
                return Match::Unknown { longest: *longest };
            }
            Engine::Backtracking { regex, .. } => regex.find(text).is_some(),
        };
        if found { Match::Found } else { Match::Absent }
    }
}

/// A pattern as a tree; classes are in the notation of `regex` already.
#[derive(Clone, Debug)]
enum Tree {
    Class(String),
    Start,
    End,
    WordEdge,
    NoWordEdge,
    BackReference,
    Sequence(Vec<Tree>),
    Choice(Vec<Tree>),
    Repeat { what: Box<Tree>, least: u32, most: Option<u32> },
    Look { what: Box<Tree>, ahead: bool, wanted: bool },
}

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str = r"\t\n\x0B\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
const ANY: &str = r"[\x{0}-\x{10FFFF}]";
const NONE: &str = r"[^\x{0}-\x{10FFFF}]";
const NOT_LINE_END: &str = r"[^\n\r\x{2028}\x{2029}]";
/// Nesting that no honest pattern has; keeps the recursion below bounded.
const DEEPEST: usize = 100;

struct Parser {
    rest: std::iter::Peekable<std::vec::IntoIter<char>>,
    depth: usize,
}

impl Parser {
    /// `None` where the meaning is in doubt.
    fn parse(source: &str) -> Option<Tree> {
        let characters: Vec<char> = source.chars().collect();
        let mut parser = Parser { rest: characters.into_iter().peekable(), depth: 0 };
        let tree = parser.choice()?;
        parser.rest.next().is_none().then_some(tree)
    }

    fn choice(&mut self) -> Option<Tree> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut branches = vec![self.sequence()?];
        while self.rest.next_if_eq(&'|').is_some() {
            branches.push(self.sequence()?);
        }
        self.depth -= 1;
        if branches.len() == 1 { branches.pop() } else { Some(Tree::Choice(branches)) }
    }

    fn sequence(&mut self) -> Option<Tree> {
        let mut parts = Vec::new();
        while let Some(&next) = self.rest.peek() {
            if next == '|' || next == ')' {
                break;
            }
            let part = self.part()?;
            parts.push(self.repeated(part)?);
        }
        Some(Tree::Sequence(parts))
    }

    fn part(&mut self) -> Option<Tree> {
        match self.rest.next()? {
            '^' => Some(Tree::Start),
            '$' => Some(Tree::End),
            '.' => Some(Tree::Class(NOT_LINE_END.into())),
            '[' => self.class(),
            '(' => self.group(),
            '\\' => self.escape(),
            '*' | '+' | '?' => None,
            other => Some(character(other)),
        }
    }

    fn group(&mut self) -> Option<Tree> {
        let mut look = None;
        if self.rest.next_if_eq(&'?').is_some() {
            match self.rest.next()? {
                ':' => {}
                '=' => look = Some((true, true)),
                '!' => look = Some((true, false)),
                '<' => match self.rest.peek()? {
                    '=' => look = Some((false, true)),
                    '!' => look = Some((false, false)),
                    _ => while self.rest.next()? != '>' {},
                },
                _ => return None,
            }
            if matches!(look, Some((false, _))) {
                self.rest.next();
            }
        }
        let what = self.choice()?;
        self.rest.next_if_eq(&')')?;
        Some(match look {
            Some((ahead, wanted)) => Tree::Look { what: Box::new(what), ahead, wanted },
            None => what,
        })
    }

    fn repeated(&mut self, part: Tree) -> Option<Tree> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.braces() {
                Some(range) => range,
                None => return Some(part),
            },
            _ => return Some(part),
        };
        self.rest.next();
        // Which match is found does not matter here, so lazy is the same as greedy.
        self.rest.next_if_eq(&'?');
        let repeatable = matches!(part, Tree::Class(_) | Tree::Sequence(_) | Tree::Choice(_) | Tree::BackReference);
        let nested = matches!(self.rest.peek(), Some('*' | '+' | '?'));
        (repeatable && !nested).then(|| Tree::Repeat { what: Box::new(part), least, most })
    }

    /// Reads `{2}`, `{2,}` or `{2,5}` up to its closing brace; anything else is literal text and stays unread.
    fn braces(&mut self) -> Option<(u32, Option<u32>)> {
        let ahead: String = self.rest.clone().skip(1).take_while(|c| *c != '}').collect();
        let closed = self.rest.clone().nth(1 + ahead.chars().count()) == Some('}');
        let (least, most) = match ahead.split_once(',') {
            None => (ahead.as_str(), Some(ahead.as_str())),
            Some((least, "")) => (least, None),
            Some((least, most)) => (least, Some(most)),
        };
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let range = (number(least)?, most.map_or(Some(None), |most| number(most).map(Some))?);
        if !closed {
            return None;
        }
        for _ in 0..=ahead.chars().count() {
            self.rest.next();
        }
        Some(range)
    }

    fn escape(&mut self) -> Option<Tree> {
        match *self.rest.peek()? {
            'b' => self.rest.next().map(|_| Tree::WordEdge),
            'B' => self.rest.next().map(|_| Tree::NoWordEdge),
            '1'..='9' => {
                while self.rest.next_if(char::is_ascii_digit).is_some() {}
                Some(Tree::BackReference)
            }
            'k' => {
                self.rest.next();
                self.rest.next_if_eq(&'<')?;
                while self.rest.next()? != '>' {}
                Some(Tree::BackReference)
            }
            _ => self.member().map(|member| match member {
                Member::One(c) => character(c),
                Member::Set { items, negated } => Tree::Class(class_text(&items, negated)),
            }),
        }
    }

    fn class(&mut self) -> Option<Tree> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut items = String::new();
        loop {
            let first = match self.rest.next()? {
                ']' => break,
                '\\' => self.class_escape()?,
                other => Member::One(other),
            };
            // A dash between two characters makes a range; first, last or beside a class it is a dash.
            let mut ahead = self.rest.clone();
            let dash = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
            let (low, true) = (&first, dash) else {
                first.write_into(&mut items);
                continue;
            };
            self.rest.next();
            let last = match self.rest.next()? {
                '\\' => self.class_escape()?,
                other => Member::One(other),
            };
            match (low, &last) {
                (Member::One(low), Member::One(high)) if low <= high => {
                    write!(items, "{}-{}", hex(*low), hex(*high)).ok()?;
                }
                (Member::One(_), Member::One(_)) => return None,
                _ => {
                    first.write_into(&mut items);
                    Member::One('-').write_into(&mut items);
                    last.write_into(&mut items);
                }
            }
        }
        Some(Tree::Class(match (items.is_empty(), negated) {
            (true, true) => ANY.into(),
            (true, false) => NONE.into(),
            (false, negated) => class_text(&items, negated),
        }))
    }

    fn class_escape(&mut self) -> Option<Member> {
        match self.rest.peek()? {
            'b' => self.rest.next().map(|_| Member::One('\u{8}')),
            '1'..='9' => None,
            _ => self.member(),
        }
    }

    /// What follows a backslash and means the same inside and outside a class.
    fn member(&mut self) -> Option<Member> {
        let set = |items: &str, negated| Some(Member::Set { items: items.to_owned(), negated });
        let one = |c| Some(Member::One(c));
        match self.rest.next()? {
            'd' => set(DIGIT, false),
            'D' => set(DIGIT, true),
            'w' => set(WORD, false),
            'W' => set(WORD, true),
            's' => set(SPACE, false),
            'S' => set(SPACE, true),
            't' => one('\t'),
            'n' => one('\n'),
            'v' => one('\u{b}'),
            'f' => one('\u{c}'),
            'r' => one('\r'),
            '0' if !self.rest.peek().is_some_and(char::is_ascii_digit) => one('\0'),
            'c' => {
                let letter = self.rest.next_if(char::is_ascii_alphabetic)?;
                one(char::from(u8::try_from(letter).ok()? % 32))
            }
            'x' => one(char::from_u32(self.hexadecimal(2)?)?),
            'u' if self.rest.next_if_eq(&'{').is_some() => {
                let digits: String = std::iter::from_fn(|| self.rest.next_if(char::is_ascii_hexdigit)).collect();
                self.rest.next_if_eq(&'}')?;
                one(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?)
            }
            'u' => one(self.code_unit()?),
            p @ ('p' | 'P') => {
                self.rest.next_if_eq(&'{')?;
                let name: String =
                    std::iter::from_fn(|| self.rest.next_if(|c| c.is_ascii_alphanumeric() || "_=".contains(*c)))
                        .collect();
                self.rest.next_if_eq(&'}')?;
                set(&format!("\\{p}{{{name}}}"), false)
            }
            digit if digit.is_ascii_digit() => None,
            other => one(other),
        }
    }

    /// `\u0041`, or a pair of surrogates for a character beyond the first plane; a lone half has no meaning here.
    fn code_unit(&mut self) -> Option<char> {
        let high = self.hexadecimal(4)?;
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high);
        }
        self.rest.next_if_eq(&'\\')?;
        self.rest.next_if_eq(&'u')?;
        let low = self.hexadecimal(4)?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + low)
    }

    fn hexadecimal(&mut self, length: usize) -> Option<u32> {
        (0..length).try_fold(0, |number, _| {
            self.rest.next_if(char::is_ascii_hexdigit).and_then(|c| c.to_digit(16)).map(|digit| number * 16 + digit)
        })
    }
}

enum Member {
    One(char),
    Set { items: String, negated: bool },
}

impl Member {
    fn write_into(&self, items: &mut String) {
        match self {
            Member::One(c) => items.push_str(&hex(*c)),
            Member::Set { items: set, negated } => items.push_str(&class_text(set, *negated)),
        }
    }
}

fn class_text(items: &str, negated: bool) -> String {
    format!("[{}{items}]", if negated { "^" } else { "" })
}

fn hex(c: char) -> String {
    format!("\\x{{{:X}}}", u32::from(c))
}

fn character(c: char) -> Tree {
    Tree::Class(hex(c))
}

/// The pattern as linear expressions; `None` if one is not enough of a language for it. Patterns that are too large
/// once written out are an error.
fn linear(tree: &Tree) -> Option<Result<Vec<(regex::Regex, bool)>, PatternProblem>> {
    let mut clauses = Vec::new();
    let rest = match tree {
        Tree::Sequence(parts) if matches!(parts.first(), Some(Tree::Start)) => {
            let looks = parts[1..].iter().take_while(|part| matches!(part, Tree::Look { ahead: true, .. })).count();
            for look in &parts[1..=looks] {
                if let Tree::Look { what, wanted, .. } = look {
                    clauses.push((format!("\\A{}", linear_text(what)?), *wanted));
                }
            }
            Tree::Sequence(std::iter::once(&Tree::Start).chain(&parts[1 + looks..]).cloned().collect())
        }
        other => other.clone(),
    };
    clauses.push((linear_text(&rest)?, true));
    let build = |(text, wanted): (String, bool)| match regex::RegexBuilder::new(&text).size_limit(1 << 21).build() {
        Ok(regex) => Ok((regex, wanted)),
        Err(regex::Error::CompiledTooBig(_)) => Err(PatternProblem {
            message: "The pattern is too large once its repetitions are written out".into(),
            hint: Some("limit the length with maxLength instead"),
        }),
        Err(error) => Err(PatternProblem { message: format!("The pattern cannot be used: {error}"), hint: None }),
    };
    Some(clauses.into_iter().map(build).collect())
}

fn linear_text(tree: &Tree) -> Option<String> {
    let all = |parts: &[Tree]| parts.iter().map(linear_text).collect::<Option<Vec<_>>>();
    Some(match tree {
        Tree::Class(text) => text.clone(),
        Tree::Start => "\\A".into(),
        Tree::End => "\\z".into(),
        Tree::WordEdge => "(?-u:\\b)".into(),
        Tree::Sequence(parts) => format!("(?:{})", all(parts)?.concat()),
        Tree::Choice(branches) => format!("(?:{})", all(branches)?.join("|")),
        Tree::Repeat { what, least, most } => {
            let most = most.map_or_else(String::new, |most| most.to_string());
            format!("(?:{}){{{least},{most}}}", linear_text(what)?)
        }
        Tree::NoWordEdge | Tree::BackReference | Tree::Look { .. } => return None,
    })
}

/// How many steps a search may take: at the speed of the engine well under a second, even on a busy machine.
const STEPS: u64 = 4_000_000;
/// Patterns that could only be tried on texts shorter than this are refused at once.
const SHORTEST_LIMIT: u64 = 64;

/// The longest text in bytes that the pattern can be tried on; `None` if no useful bound exists.
fn longest_text(tree: &Tree) -> Option<usize> {
    let cost = cost_of(tree)?.total;
    let anchored = matches!(tree, Tree::Sequence(parts) if matches!(parts.first(), Some(Tree::Start)));
    let degree = cost.degree + u32::from(!anchored);
    let steps = STEPS / cost.factor;
    // The largest length whose power stays within the steps; a plain search is exact and runs once.
    let fits = |length: &u64| length.checked_pow(degree.max(1)).is_some_and(|work| work <= steps);
    let longest = (1..=18).rev().map(|bit| 1u64 << bit).find(fits).filter(|length| *length >= SHORTEST_LIMIT)?;
    usize::try_from(longest).ok()
}

/// Work as `factor * length ^ degree`.
#[derive(Clone, Copy)]
struct Work {
    degree: u32,
    factor: u64,
}

impl Work {
    const ONE: Work = Work { degree: 0, factor: 1 };

    fn times(self, other: Work) -> Work {
        Work { degree: self.degree + other.degree, factor: self.factor.saturating_mul(other.factor).min(STEPS) }
    }

    fn max(self, other: Work) -> Work {
        Work { degree: self.degree.max(other.degree), factor: self.factor.max(other.factor) }
    }
}

/// The ways through a part, and the work of trying all of them (which a look-around adds to without adding ways).
struct Cost {
    ways: Work,
    total: Work,
}

fn cost_of(tree: &Tree) -> Option<Cost> {
    let plain = |work| Some(Cost { ways: work, total: work });
    match tree {
        Tree::Class(_) | Tree::Start | Tree::End | Tree::WordEdge | Tree::NoWordEdge => plain(Work::ONE),
        // Comparing takes as long as the text that is referred to.
        Tree::BackReference => Some(Cost { ways: Work::ONE, total: Work { degree: 1, factor: 1 } }),
        Tree::Look { what, .. } => Some(Cost { ways: Work::ONE, total: cost_of(what)?.total }),
        Tree::Sequence(parts) => parts.iter().try_fold(Cost { ways: Work::ONE, total: Work::ONE }, |sum, part| {
            let cost = cost_of(part)?;
            let total = sum.total.max(sum.ways.times(cost.total));
            Some(Cost { ways: sum.ways.times(cost.ways), total })
        }),
        Tree::Choice(branches) => branches.iter().try_fold(
            Cost { ways: Work { degree: 0, factor: 0 }, total: Work { degree: 0, factor: 0 } },
            |sum, branch| {
                let cost = cost_of(branch)?;
                let add = |a: Work, b: Work| Work {
                    degree: a.degree.max(b.degree),
                    factor: a.factor.saturating_add(b.factor).min(STEPS),
                };
                Some(Cost { ways: add(sum.ways, cost.ways), total: add(sum.total, cost.total) })
            },
        ),
        Tree::Repeat { what, least, most } => {
            let inner = cost_of(what)?;
            let single = inner.ways.degree == 0 && inner.ways.factor == 1;
            match most {
                Some(0) => plain(Work::ONE),
                Some(1) => {
                    let more = |work: Work| Work { factor: work.factor.saturating_add(1).min(STEPS), ..work };
                    Some(Cost { ways: more(inner.ways), total: more(inner.total) })
                }
                // Several ways through one turn multiply with every turn.
                _ if !single => None,
                Some(most) => {
                    let ways = Work { degree: 0, factor: u64::from(most.saturating_sub(*least)) + 1 };
                    let turns = Work { degree: 0, factor: u64::from(*most) };
                    Some(Cost { ways, total: turns.times(inner.total) })
                }
                None => {
                    let ways = Work { degree: 1, factor: 1 };
                    Some(Cost { ways, total: ways.times(inner.total) })
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(source: &str, yes: &[&str], no: &[&str]) {
        let pattern = Pattern::compile(source).unwrap_or_else(|problem| panic!("{source}: {problem:?}"));
        for text in yes {
            assert_eq!(pattern.find_in(text), Match::Found, "{source} in {text:?}");
        }
        for text in no {
            assert_eq!(pattern.find_in(text), Match::Absent, "{source} in {text:?}");
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
        check(r"^[\d-x]$", &["-", "5", "x"], &["e"]);
        check("^[^]$", &["\n"], &["", "ab"]);
        check("[]", &[], &["", "a"]);
        check(r"^[\b]$", &["\u{8}"], &["b"]);
        check(r"^[^\d\s]$", &["a"], &["1", " "]);
        check("^a{2}$", &["aa"], &["a{2}"]);
        check("^a{,2}$", &["a{,2}"], &["aa"]);
        check("^a{x$", &["a{x"], &["a"]);
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
    fn what_linear_expressions_cannot_say_works_too() {
        check(r"^(?=.*\d)(?=.*[a-z])(?!.*\s).{4,}$", &["abc1"], &["abcd", "1234", "ab 1", "a1"]);
        check("^(?!-)(?:[a-z]+-)*[a-z]+$", &["a-b"], &["-a", "a-"]);
        check(r"(\w)\1", &["xaax"], &["abab"]);
        check(r"^(?<q>['\x22]).*\k<q>$", &["'a'"], &["'a\""]);
        check("(?<=€)[0-9]", &["€5"], &["5"]);
        check("a(?!b)", &["ac", "a"], &["ab"]);
        check(r"a\Bb", &["ab"], &["a b"]);
    }

    #[test]
    fn what_cannot_be_bounded_is_refused() {
        for source in
            ["(", "[b-a]", "a**", "(?<n", r"^(a+)+\1$", r"^(a|aa)*(?<=b)$", r"(?<=(a*)*)b", r"\ud800", "a{2,1}"]
        {
            assert!(Pattern::compile(source).is_err(), "{source}");
        }
        let big = Pattern::compile("^(((((a{50}){50}){50}){50}){50})$").expect_err("too large");
        assert!(big.message.contains("too large"), "{big:?}");
    }

    #[test]
    fn backtracking_is_bounded_by_length() {
        let pattern = Pattern::compile(r"(a*)b\1c").expect("compiles");
        let Engine::Backtracking { longest, .. } = pattern.engine else { panic!("needs the backtracking engine") };
        let started = std::time::Instant::now();
        assert_eq!(pattern.find_in(&"a".repeat(longest)), Match::Absent);
        assert!(started.elapsed().as_secs() < 20, "{:?} for {longest}", started.elapsed());
        assert_eq!(pattern.find_in(&"a".repeat(longest + 1)), Match::Unknown { longest });
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
        fn both_engines_agree(source in a_pattern(), text in r"[ab1é \n_-]{0,6}") {
            let pattern = Pattern::compile(&source).expect("the generator writes sound patterns");
            prop_assert!(matches!(pattern.engine, Engine::Linear(_)));
            let ecma = regress::Regex::new(&source).expect("sound").find(&text).is_some();
            prop_assert_eq!(pattern.find_in(&text) == Match::Found, ecma, "{} in {:?}", source, text);
        }

        #[test]
        fn any_text_is_a_pattern_or_a_problem(source in r"[-ab\\\[\](){}|?*+^$.,0-9<>=!:kudDwWsSbBxcp😀]{0,24}", text in ".{0,12}") {
            if let Ok(pattern) = Pattern::compile(&source) {
                pattern.find_in(&text);
            }
        }
    }
}
