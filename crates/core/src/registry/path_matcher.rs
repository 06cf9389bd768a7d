//! Which paths are those of a route. The expression is compiled when a path is first compared with it: most routes of a site are
//! never asked for.

use regex::bytes::{Captures, Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look};
use std::sync::OnceLock;

/// Longest pattern that is compiled late, in bytes. What it compiles to is bounded by its length, but for counted repetitions.
const LONGEST: usize = 1000;

/// A pattern of paths: the whole path, ASCII classes, any case.
#[derive(Clone, Debug)]
pub struct PathMatcher {
    expression: String,
    /// The text that every path begins with, in any case.
    start: Vec<u8>,
    /// The start is the whole path.
    literal: bool,
    /// `None` in it: nothing matches.
    compiled: OnceLock<Option<Regex>>,
}

impl PathMatcher {
    /// Reads a pattern. The names of its captures come with it, in order.
    ///
    /// # Errors
    /// It is not a regular expression, or too large as one.
    pub fn of(pattern: &str) -> Result<(PathMatcher, Vec<String>), String> {
        let expression = format!("^(?:{pattern})$");
        let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
        let parsed = parser.parse(&expression).map_err(|error| last_line(&error.to_string()))?;
        let (start, literal) = start(&parsed);
        let matcher = PathMatcher { expression, start, literal, compiled: OnceLock::new() };
        if pattern.contains('{') || pattern.len() > LONGEST {
            let compiled = matcher.compile().map_err(|error| last_line(&error.to_string()))?;
            matcher.compiled.get_or_init(|| Some(compiled));
        }
        let mut names = Vec::new();
        name_captures(&parsed, &mut names);
        Ok((matcher, names))
    }

    /// Whether a path is one of the route.
    pub fn is_match(&self, path: &str) -> bool {
        let path = path.as_bytes();
        match self.literal {
            true => path.eq_ignore_ascii_case(&self.start),
            false => self.regex(path).is_some_and(|regex| regex.is_match(path)),
        }
    }

    /// The values of its captures in a path; `None` when the path is not one of the route.
    pub fn captures<'p>(&self, path: &'p str) -> Option<Captures<'p>> {
        self.regex(path.as_bytes())?.captures(path.as_bytes())
    }

    /// The expression, unless the start of the path rules it out.
    fn regex(&self, path: &[u8]) -> Option<&Regex> {
        let head = path.get(..self.start.len())?;
        let begins = head.eq_ignore_ascii_case(&self.start);
        begins.then(|| self.compiled.get_or_init(|| self.compile().ok()).as_ref())?
    }

    fn compile(&self) -> Result<Regex, regex::Error> {
        RegexBuilder::new(&self.expression).unicode(false).case_insensitive(true).build()
    }
}

/// The text with which everything begins that an anchored expression matches, and whether that is all of it.
fn start(parsed: &Hir) -> (Vec<u8>, bool) {
    let HirKind::Concat(parts) = parsed.kind() else { return (Vec::new(), false) };
    let literal = |part: &Hir| match part.kind() {
        HirKind::Literal(literal) => Some(literal.0.to_vec()),
        _ => None,
    };
    let end = |part: &Hir| *part.kind() == HirKind::Look(Look::End);
    match &parts[..] {
        [_, first, rest @ ..] => {
            literal(first).map_or((Vec::new(), false), |text| (text, matches!(rest, [last] if end(last))))
        }
        _ => (Vec::new(), false),
    }
}

fn name_captures(part: &Hir, names: &mut Vec<String>) {
    if let HirKind::Capture(capture) = part.kind() {
        names.extend(capture.name.as_deref().map(str::to_owned));
    }
    part.kind().subs().iter().for_each(|part| name_captures(part, names));
}

fn last_line(message: &str) -> String {
    message.lines().last().unwrap_or("").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_as_their_expression_says() {
        let check = |pattern: &str, path: &str, expected: bool| {
            let (matcher, names) = PathMatcher::of(pattern).expect(pattern);
            let plain = RegexBuilder::new(&format!("^(?:{pattern})$")).unicode(false).case_insensitive(true).build();
            let plain = plain.expect(pattern);
            assert_eq!(matcher.is_match(path), expected, "{pattern} {path}");
            assert_eq!(plain.is_match(path.as_bytes()), expected, "{pattern} {path}");
            assert_eq!(plain.capture_names().flatten().collect::<Vec<_>>(), names, "{pattern}");
            assert_eq!(matcher.captures(path).is_some(), expected, "{pattern} {path}");
        };
        check("/cms/v2/posts", "/CMS/v2/Posts", true);
        check("/cms/v2/posts", "/cms/v2/posts/1", false);
        check("/cms/v2/posts", "/cms", false);
        check("/oembed/1.0", "/oembed/1x0", true);
        check(r"/posts/(?P<id>[\d]+)", "/POSTS/15", true);
        check(r"/posts/(?P<id>[\d]+)", "/posts/x", false);
        check(r"/posts/(?P<id>[\d]+)", "/pages/1", false);
        check(r"/posts/(?P<id>[\d]+)/parts/(?P<part>a|(?P<b>b))", "/posts/1/parts/b", true);
        check("/a|/b", "/b", true);
        check("/a|/b", "/a/b", false);
        check("/ab?", "/a", true);
        check("/(?i)é", "/É", false);
        check("/x{3}", "/xxx", true);
        check("", "", true);
        check("/posts", "/post\u{17f}", false);
    }

    #[test]
    fn a_wrong_pattern_is_refused_before_it_is_compiled() {
        let check = |pattern: &str, expected: &str| {
            let message = PathMatcher::of(pattern).expect_err(pattern);
            assert!(message.contains(expected), "{pattern}: {message}");
        };
        check("/(", "unclosed group");
        check("/[z-a]", "invalid character class range");
        check(r"/\pL", "Unicode");
        check("/((a{1000}){1000}){1000}", "size limit");
    }
}
