//! Permalink structures: compiled once, rendered for a record, matched against a path.
//!
//! Owns the `%tag%` language of the permalink setting. It must not know how a record is found or what the site's
//! address is: paths start with a slash and carry no host.

use super::time::CivilDateTime;
use regex::Regex;
use std::fmt;

/// A compiled structure such as `/%year%/%monthnum%/%postname%/`.
#[derive(Clone, Debug)]
pub struct Permalink {
    structure: String,
    pieces: Vec<PermalinkPiece>,
    pattern: Regex,
}

#[derive(Clone, Debug, PartialEq)]
enum PermalinkPiece {
    Text(String),
    Tag(PermalinkTag),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PermalinkTag {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    PostId,
    PostName,
    Category,
    Author,
}

/// Name as written between the per cent signs, and what it matches in a path.
const TAGS: [(&str, PermalinkTag, &str); 10] = [
    ("year", PermalinkTag::Year, "[0-9]{4}"),
    ("monthnum", PermalinkTag::Month, "[0-9]{1,2}"),
    ("day", PermalinkTag::Day, "[0-9]{1,2}"),
    ("hour", PermalinkTag::Hour, "[0-9]{1,2}"),
    ("minute", PermalinkTag::Minute, "[0-9]{1,2}"),
    ("second", PermalinkTag::Second, "[0-9]{1,2}"),
    ("post_id", PermalinkTag::PostId, "[0-9]+"),
    ("postname", PermalinkTag::PostName, "[^/]+"),
    // A category brings its ancestors along: `music/jazz`.
    ("category", PermalinkTag::Category, ".+?"),
    ("author", PermalinkTag::Author, "[^/]+"),
];

/// Why a structure cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermalinkError {
    /// Byte position in the structure.
    pub position: usize,
    /// The problem there.
    pub kind: PermalinkProblem,
}

/// The kinds of [`PermalinkError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermalinkProblem {
    /// The tag between two per cent signs is none of ours.
    UnknownTag(String),
    /// The same tag occurs twice, so a path could not be read back.
    RepeatedTag(String),
    /// A per cent sign without its partner.
    LonePercent,
    /// Neither `%postname%` nor `%post_id%`: no path would name one post.
    NamesNoPost,
    /// A structure starts with a slash.
    NoLeadingSlash,
    /// A character that cannot be in a path.
    BadCharacter(char),
}

impl fmt::Display for PermalinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PermalinkProblem::UnknownTag(tag) => write!(f, "unknown tag %{tag}%")?,
            PermalinkProblem::RepeatedTag(tag) => write!(f, "tag %{tag}% occurs twice")?,
            PermalinkProblem::LonePercent => write!(f, "per cent sign without its partner")?,
            PermalinkProblem::NamesNoPost => write!(f, "neither %postname% nor %post_id% is present")?,
            PermalinkProblem::NoLeadingSlash => write!(f, "does not start with a slash")?,
            PermalinkProblem::BadCharacter(c) => write!(f, "character {c:?} is not allowed in a path")?,
        }
        write!(f, " (at byte {})", self.position)
    }
}

impl std::error::Error for PermalinkError {}

/// The parts of a record's path. Texts are inserted as given: they are slugs, percent-encoded already.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Wall clock of the publication date.
    pub date: CivilDateTime,
    /// Id of the record.
    pub post_id: i64,
    /// Slug of the record.
    pub postname: &'a str,
    /// Slug of its category, ancestors first, joined by slashes.
    pub category: &'a str,
    /// Nicename of its author.
    pub author: &'a str,
}

/// The parts of a record that its path names; absent tags are `None`. Texts are as they are in the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures<'a> {
    /// Four digits.
    pub year: Option<i64>,
    /// One or two digits, unchecked.
    pub month: Option<u8>,
    /// One or two digits, unchecked.
    pub day: Option<u8>,
    /// One or two digits, unchecked.
    pub hour: Option<u8>,
    /// One or two digits, unchecked.
    pub minute: Option<u8>,
    /// One or two digits, unchecked.
    pub second: Option<u8>,
    /// Id of the record.
    pub post_id: Option<i64>,
    /// Slug of the record.
    pub postname: Option<&'a str>,
    /// Category path.
    pub category: Option<&'a str>,
    /// Nicename of the author.
    pub author: Option<&'a str>,
}

impl Permalink {
    /// Compiles a structure or returns what is wrong with it and where.
    pub fn compile(structure: &str) -> Result<Permalink, PermalinkError> {
        if !structure.starts_with('/') {
            return Err(PermalinkError { position: 0, kind: PermalinkProblem::NoLeadingSlash });
        }
        let pieces = parse(structure)?;
        if !pieces.iter().any(|p| matches!(p, PermalinkPiece::Tag(PermalinkTag::PostId | PermalinkTag::PostName))) {
            return Err(PermalinkError { position: structure.len(), kind: PermalinkProblem::NamesNoPost });
        }
        let pattern = Regex::new(&pattern(&pieces)).expect("escaped text and fixed groups are a pattern");
        Ok(Permalink { structure: structure.to_owned(), pieces, pattern })
    }

    /// The structure as written.
    pub fn structure(&self) -> &str {
        &self.structure
    }

    /// Whether a name would read as a part of a date: a number where an archive has a year, month or day.
    pub fn reads_as_date(&self, name: &str) -> bool {
        if !name.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        let number: u32 = name.parse().unwrap_or(0);
        let tags =
            || self.pieces.iter().filter_map(|p| if let PermalinkPiece::Tag(tag) = p { Some(*tag) } else { None });
        let before = tags().take_while(|tag| *tag != PermalinkTag::PostName).last();
        let named = tags().any(|tag| tag == PermalinkTag::PostName);
        named
            && number > 0
            && match before {
                None => true,
                Some(PermalinkTag::Year) => number < 13,
                Some(PermalinkTag::Month) => number < 32,
                Some(_) => false,
            }
    }

    /// The path of a record: `/2019/03/harbour/`.
    pub fn render(&self, parts: &Parts) -> String {
        self.render_pieces(parts, None)
    }

    /// The path with `%postname%` left in place: what `permalink_template` shows.
    pub fn render_template(&self, parts: &Parts) -> String {
        self.render_pieces(parts, Some("%postname%"))
    }

    /// Reads a path back; a final slash may be missing or added. `None` when it has another shape.
    pub fn match_path<'a>(&self, path: &'a str) -> Option<Captures<'a>> {
        let found = self.pattern.captures(path)?;
        let text = |name: &str| found.name(name).map(|m| m.as_str());
        let small = |name: &str| text(name).and_then(|t| t.parse().ok());
        let post_id = match text("post_id") {
            // An id that does not fit is nobody's.
            Some(digits) => Some(digits.parse().ok()?),
            None => None,
        };
        Some(Captures {
            year: text("year").and_then(|t| t.parse().ok()),
            month: small("monthnum"),
            day: small("day"),
            hour: small("hour"),
            minute: small("minute"),
            second: small("second"),
            post_id,
            postname: text("postname"),
            category: text("category"),
            author: text("author"),
        })
    }

    fn render_pieces(&self, parts: &Parts, postname: Option<&str>) -> String {
        let mut out = String::with_capacity(self.structure.len() + parts.postname.len() + parts.category.len());
        for piece in &self.pieces {
            match piece {
                PermalinkPiece::Text(text) => out.push_str(text),
                PermalinkPiece::Tag(PermalinkTag::PostName) => out.push_str(postname.unwrap_or(parts.postname)),
                PermalinkPiece::Tag(tag) => out.push_str(&value(*tag, parts)),
            }
        }
        out
    }
}

fn value(tag: PermalinkTag, parts: &Parts) -> String {
    let date = &parts.date;
    match tag {
        PermalinkTag::Year => format!("{:04}", date.year),
        PermalinkTag::Month => format!("{:02}", date.month),
        PermalinkTag::Day => format!("{:02}", date.day),
        PermalinkTag::Hour => format!("{:02}", date.hour),
        PermalinkTag::Minute => format!("{:02}", date.minute),
        PermalinkTag::Second => format!("{:02}", date.second),
        PermalinkTag::PostId => parts.post_id.to_string(),
        PermalinkTag::PostName => parts.postname.to_owned(),
        PermalinkTag::Category => parts.category.to_owned(),
        PermalinkTag::Author => parts.author.to_owned(),
    }
}

fn parse(structure: &str) -> Result<Vec<PermalinkPiece>, PermalinkError> {
    let mut pieces = Vec::new();
    let (mut rest, mut position) = (structure, 0);
    while let Some(at) = rest.find('%') {
        push_text(&mut pieces, &rest[..at], position)?;
        position += at;
        let error = |kind| PermalinkError { position, kind };
        let end = rest[at + 1..].find('%').ok_or_else(|| error(PermalinkProblem::LonePercent))?;
        let name = &rest[at + 1..at + 1 + end];
        let tag = TAGS.iter().find(|(known, ..)| *known == name).map(|(_, tag, _)| *tag);
        let tag = tag.ok_or_else(|| error(PermalinkProblem::UnknownTag(name.to_owned())))?;
        if pieces.contains(&PermalinkPiece::Tag(tag)) {
            return Err(error(PermalinkProblem::RepeatedTag(name.to_owned())));
        }
        pieces.push(PermalinkPiece::Tag(tag));
        rest = &rest[at + end + 2..];
        position += end + 2;
    }
    push_text(&mut pieces, rest, position)?;
    Ok(pieces)
}

fn push_text(pieces: &mut Vec<PermalinkPiece>, text: &str, position: usize) -> Result<(), PermalinkError> {
    let bad = |c: &char| c.is_whitespace() || c.is_control() || "?#<>\"'\\".contains(*c);
    if let Some((at, c)) = text.char_indices().find(|(_, c)| bad(c)) {
        return Err(PermalinkError { position: position + at, kind: PermalinkProblem::BadCharacter(c) });
    }
    if !text.is_empty() {
        pieces.push(PermalinkPiece::Text(text.to_owned()));
    }
    Ok(())
}

fn pattern(pieces: &[PermalinkPiece]) -> String {
    let mut out = String::from("^");
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            PermalinkPiece::Text(text) if at + 1 == pieces.len() => {
                out.push_str(&regex::escape(text.trim_end_matches('/')))
            }
            PermalinkPiece::Text(text) => out.push_str(&regex::escape(text)),
            PermalinkPiece::Tag(tag) => {
                let known = TAGS.iter().find(|(_, known, _)| known == tag);
                let (name, _, matches) = known.expect("every tag is in the table");
                out.push_str(&format!("(?P<{name}>{matches})"));
            }
        }
    }
    out.push_str("/?$");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts<'static> {
        let date = CivilDateTime { year: 2019, month: 3, day: 4, hour: 5, minute: 6, second: 7 };
        Parts { date, post_id: 42, postname: "harbour", category: "music/jazz", author: "fay" }
    }

    #[test]
    fn renders_and_reads_back() {
        fn check(structure: &str, path: &str) {
            let compiled = Permalink::compile(structure).expect(structure);
            assert_eq!(compiled.render(&parts()), path, "{structure}");
            for form in
                [path.to_owned(), format!("{}/", path.trim_end_matches('/')), path.trim_end_matches('/').to_owned()]
            {
                let found = compiled.match_path(&form).unwrap_or_else(|| panic!("{structure} reads {form}"));
                assert!(found.postname == Some("harbour") || found.post_id == Some(42), "{found:?}");
                assert!(found.year.is_none_or(|y| y == 2019) && found.month.is_none_or(|m| m == 3), "{found:?}");
                assert!(found.category.is_none_or(|c| c == "music/jazz") && found.author.is_none_or(|a| a == "fay"));
            }
        }
        check("/%year%/%monthnum%/%postname%/", "/2019/03/harbour/");
        check("/%year%/%monthnum%/%day%/%postname%/", "/2019/03/04/harbour/");
        check("/archives/%post_id%", "/archives/42");
        check("/%category%/%postname%/", "/music/jazz/harbour/");
        check("/%author%/%post_id%.html", "/fay/42.html");
        check("/%year%%monthnum%%day%-%hour%.%minute%.%second%/%postname%", "/20190304-05.06.07/harbour");
    }

    #[test]
    fn other_paths_do_not_match() {
        fn check(structure: &str, path: &str) {
            assert_eq!(Permalink::compile(structure).expect(structure).match_path(path), None, "{structure} {path}");
        }
        check("/%year%/%monthnum%/%postname%/", "/2019/harbour/");
        check("/%year%/%monthnum%/%postname%/", "/2019/03/a/b/");
        check("/%year%/%monthnum%/%postname%/", "/19/03/a/");
        check("/archives/%post_id%", "/archives/99999999999999999999");
        check("/%postname%/", "/");
    }

    #[test]
    fn templates_keep_the_name_open() {
        let compiled = Permalink::compile("/%year%/%monthnum%/%postname%/").expect("a structure");
        assert_eq!(compiled.render_template(&parts()), "/2019/03/%postname%/");
        assert_eq!(compiled.structure(), "/%year%/%monthnum%/%postname%/");
    }

    #[test]
    fn mistakes_are_placed() {
        fn check(structure: &str, position: usize, kind: PermalinkProblem) {
            let got = Permalink::compile(structure).expect_err(structure);
            assert_eq!(got, PermalinkError { position, kind }, "{structure}");
        }
        check("/%year%/%nope%/", 8, PermalinkProblem::UnknownTag("nope".into()));
        check("/%year%/%postname", 8, PermalinkProblem::LonePercent);
        check("/%year%/", 8, PermalinkProblem::NamesNoPost);
        check("%postname%", 0, PermalinkProblem::NoLeadingSlash);
        check("/%postname%/%postname%", 12, PermalinkProblem::RepeatedTag("postname".into()));
        check("/a b/%postname%", 2, PermalinkProblem::BadCharacter(' '));
    }

    #[test]
    fn numbers_read_as_dates_where_archives_stand() {
        let table = [
            ("/%postname%/", "2019", true),
            ("/%postname%/", "two", false),
            ("/%year%/%postname%/", "12", true),
            ("/%year%/%postname%/", "13", false),
            ("/%year%/%monthnum%/%postname%/", "31", true),
            ("/%year%/%monthnum%/%postname%/", "32", false),
            ("/%year%/%monthnum%/%postname%/", "0", false),
            ("/%year%/%monthnum%/%day%/%postname%/", "1", false),
            ("/%year%/%post_id%/", "1", false),
        ];
        for (structure, name, expected) in table {
            let permalink = Permalink::compile(structure).expect("a structure");
            assert_eq!(permalink.reads_as_date(name), expected, "{structure} {name}");
        }
    }
}
