//! Templates of addresses: compiled once, rendered for an item, matched against a path.
//!
//! Owns the `{member}` language of addresses and the `%tag%` language of the permalink setting, which is written in it. It
//! must not know how an item is found or what the site's address is: paths start with a slash and carry no host.

use super::time::CivilDateTime;
use regex::Regex;
use std::borrow::Cow;
use std::fmt;

/// A compiled template such as `/events/{start:%Y}/{slug}`.
#[derive(Clone, Debug)]
pub struct AddressTemplate {
    source: String,
    pieces: Vec<AddressPiece>,
    pattern: Regex,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressPiece {
    /// The same in every address.
    Text(String),
    /// The text of a member, or the second one where it has none.
    Member(String, Option<String>),
    /// A part of a member that is a date.
    Date(String, DatePart),
}

/// A part of a date in an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatePart {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

impl DatePart {
    /// The letter after the per cent sign, and the tag of the permalink setting.
    const ALL: [(char, &str, DatePart); 6] = [
        ('Y', "year", DatePart::Year),
        ('m', "monthnum", DatePart::Month),
        ('d', "day", DatePart::Day),
        ('H', "hour", DatePart::Hour),
        ('M', "minute", DatePart::Minute),
        ('S', "second", DatePart::Second),
    ];

    /// The part of a date, as a number.
    pub fn of(self, date: &CivilDateTime) -> i64 {
        match self {
            DatePart::Year => date.year,
            DatePart::Month => date.month.into(),
            DatePart::Day => date.day.into(),
            DatePart::Hour => date.hour.into(),
            DatePart::Minute => date.minute.into(),
            DatePart::Second => date.second.into(),
        }
    }

    fn written(self, date: &CivilDateTime) -> String {
        let number = self.of(date);
        if self == DatePart::Year { format!("{number:04}") } else { format!("{number:02}") }
    }
}

/// The member that names an item by its slugs from the topmost ancestor down.
pub const PATH: &str = "path";
/// The member that names an item by its slug.
pub const SLUG: &str = "slug";
/// The member that names an item by its number.
pub const ID: &str = "id";
/// The slug of the item's author.
pub const AUTHOR: &str = "author";
/// When the item was published.
pub const DATE: &str = "date";

/// The slug of the item's category, ancestors first.
pub const CATEGORY: &str = "category";

/// Tags of the permalink setting that are members, besides those of the date.
const TAGS: [(&str, &str); 4] = [("post_id", ID), ("postname", SLUG), ("category", CATEGORY), ("author", AUTHOR)];

/// Characters that end a path, or that no address has as they are.
const NOT_IN_PATHS: &str = "?#<>\"'\\{}";

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError {
    /// Byte position in the template.
    pub position: usize,
    /// The problem there.
    pub kind: AddressProblem,
}

/// The kinds of [`AddressError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressProblem {
    /// The tag between two per cent signs is none of the permalink setting's.
    UnknownTag(String),
    /// The same part occurs twice, so a path could not be read back.
    Repeated(String),
    /// A per cent sign or a brace without its partner.
    Lone(char),
    /// Nothing that names one item.
    NamesNoItem(&'static str),
    /// A template starts with a slash.
    NoLeadingSlash,
    /// A character that cannot be in a path.
    BadCharacter(char),
    /// The letter after a per cent sign is no part of a date.
    UnknownDatePart(String),
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            AddressProblem::UnknownTag(tag) => write!(f, "unknown tag %{tag}%")?,
            AddressProblem::Repeated(part) => write!(f, "{part} occurs twice")?,
            AddressProblem::Lone(c) => write!(f, "`{c}` without its partner")?,
            AddressProblem::NamesNoItem(names) => write!(f, "none of {names} is present")?,
            AddressProblem::NoLeadingSlash => write!(f, "does not start with a slash")?,
            AddressProblem::BadCharacter(c) => write!(f, "character {c:?} is not allowed in a path")?,
            AddressProblem::UnknownDatePart(part) => {
                write!(f, "`{part}` is no date: write %Y, %m, %d, %H, %M or %S")?;
            }
        }
        write!(f, " (at byte {})", self.position)
    }
}

impl std::error::Error for AddressError {}

/// A source of the texts that a template shows.
pub trait AddressValues {
    /// The text of a member as it stands in a path; empty: it has none.
    fn text(&self, member: &str) -> Cow<'_, str>;
    /// The date that a member is, on the site's clock.
    fn date(&self, member: &str) -> Option<CivilDateTime>;
}

/// The parts that a path has, in the order of its template. Texts are as they are in the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressMatch<'a>(pub Vec<(&'a AddressPiece, &'a str)>);

impl<'a> AddressMatch<'a> {
    /// The text of a member.
    pub fn text(&self, member: &str) -> Option<&'a str> {
        let named = |piece: &AddressPiece| matches!(piece, AddressPiece::Member(name, _) if name == member);
        self.0.iter().find(|(piece, _)| named(piece)).map(|(_, text)| *text)
    }

    /// Whether a date has the parts that the path has of that member.
    pub fn is_on(&self, member: &str, date: &CivilDateTime) -> bool {
        self.0.iter().all(|(piece, text)| match piece {
            AddressPiece::Date(name, part) if name == member => text.parse() == Ok(part.of(date)),
            _ => true,
        })
    }
}

impl AddressTemplate {
    /// Compiles a template such as `/people/{slug}`.
    ///
    /// # Errors
    /// The problem and its place.
    pub fn compile(source: &str) -> Result<AddressTemplate, AddressError> {
        // The part after the question mark may be what names the item.
        let (path, query) = source.split_at(source.find('?').unwrap_or(source.len()));
        let mut pieces = parse(path, '{', '}', member)?;
        if let Some(query) = query.strip_prefix('?') {
            pieces.push(AddressPiece::Text("?".to_owned()));
            let below = parse(query, '{', '}', member);
            pieces.extend(below.map_err(|e| AddressError { position: e.position + path.len() + 1, ..e })?);
        }
        AddressTemplate::of(source, pieces, "{slug}, {path} and {id}")
    }

    /// Compiles a structure of the permalink setting, such as `/%year%/%monthnum%/%postname%/`.
    ///
    /// # Errors
    /// The problem and its place.
    pub fn permalinks(structure: &str) -> Result<AddressTemplate, AddressError> {
        let pieces = parse(structure, '%', '%', tag)?;
        AddressTemplate::of(structure, pieces, "%postname% and %post_id%")
    }

    fn of(source: &str, pieces: Vec<AddressPiece>, names: &'static str) -> Result<AddressTemplate, AddressError> {
        if !source.starts_with('/') {
            return Err(AddressError { position: 0, kind: AddressProblem::NoLeadingSlash });
        }
        let names_item =
            |p: &AddressPiece| matches!(p, AddressPiece::Member(name, _) if [SLUG, PATH, ID].contains(&&**name));
        if !pieces.iter().any(names_item) {
            return Err(AddressError { position: source.len(), kind: AddressProblem::NamesNoItem(names) });
        }
        let pattern = Regex::new(&pattern(&pieces)).expect("escaped text and fixed groups are a pattern");
        Ok(AddressTemplate { source: source.to_owned(), pieces, pattern })
    }

    /// Compiles a template in whichever of the two languages it is written.
    ///
    /// # Errors
    /// The problem and its place.
    pub fn of_source(source: &str) -> Result<AddressTemplate, AddressError> {
        if source.contains('{') { AddressTemplate::compile(source) } else { AddressTemplate::permalinks(source) }
    }

    /// The template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The parts in their order.
    pub fn pieces(&self) -> &[AddressPiece] {
        &self.pieces
    }

    /// Whether addresses have a member.
    pub fn has(&self, member: &str) -> bool {
        self.pieces.iter().any(|piece| match piece {
            AddressPiece::Member(name, _) | AddressPiece::Date(name, _) => name == member,
            AddressPiece::Text(_) => false,
        })
    }

    /// Whether a name would read as a part of a date: a number where an archive has a year, month or day.
    pub fn reads_as_date(&self, name: &str) -> bool {
        let number: u32 = match name.bytes().all(|b| b.is_ascii_digit()) {
            true => name.parse().unwrap_or(0),
            false => return false,
        };
        let slug = self.pieces.iter().position(|p| matches!(p, AddressPiece::Member(name, _) if name == SLUG));
        let before = &self.pieces[..slug.unwrap_or(0)];
        let before = before.iter().rev().find(|piece| !matches!(piece, AddressPiece::Text(_)));
        let most = match before {
            None => u32::MAX,
            Some(AddressPiece::Date(_, DatePart::Year)) => 12,
            Some(AddressPiece::Date(_, DatePart::Month)) => 31,
            Some(_) => 0,
        };
        slug.is_some() && (1..=most).contains(&number)
    }

    /// The path of an item; `None`: a member that has no text and nothing for that case.
    pub fn render(&self, values: &impl AddressValues) -> Option<String> {
        let mut out = String::with_capacity(64);
        for piece in &self.pieces {
            match piece {
                AddressPiece::Text(text) => out.push_str(text),
                AddressPiece::Date(member, part) => out.push_str(&part.written(&values.date(member)?)),
                AddressPiece::Member(member, fallback) => match &*values.text(member) {
                    "" => out.push_str(fallback.as_deref()?),
                    text => out.push_str(text),
                },
            }
        }
        Some(out)
    }

    /// Reads a path back; a final slash may be missing or added. `None` when it has another shape.
    pub fn match_path<'a>(&'a self, path: &'a str) -> Option<AddressMatch<'a>> {
        let found = self.pattern.captures(path)?;
        let pieces = self.pieces.iter().filter(|piece| !matches!(piece, AddressPiece::Text(_)));
        let texts = (1..found.len()).map(|group| found.get(group).map_or("", |m| m.as_str()));
        Some(AddressMatch(pieces.zip(texts).collect()))
    }

    /// Whether some path has the shape of both templates and neither begins with more fixed text, so that nothing decides
    /// which of them it is.
    pub fn is_ambiguous_with(&self, other: &AddressTemplate) -> bool {
        self.fixed_segments() == other.fixed_segments() && overlap(&self.segments(), &other.segments())
    }

    /// How many segments are fixed before the first that is not. Of two templates that match a path, the one with more is
    /// meant.
    pub fn fixed_segments(&self) -> usize {
        self.segments().iter().take_while(|segment| matches!(segment, Segment::Fixed(_))).count()
    }

    fn segments(&self) -> Vec<Segment<'_>> {
        let mut segments = vec![Segment::Fixed("")];
        for piece in &self.pieces {
            let last = segments.len() - 1;
            match piece {
                AddressPiece::Text(text) => {
                    let mut parts = text.split('/').map(Segment::Fixed);
                    // A text after a member of the same segment changes nothing.
                    if let Some(first) = parts.next().filter(|_| segments[last] == Segment::Fixed("")) {
                        segments[last] = first;
                    }
                    segments.extend(parts);
                }
                AddressPiece::Member(name, _) if is_deep(name) => segments[last] = Segment::Several,
                AddressPiece::Member(..) | AddressPiece::Date(..) => segments[last] = Segment::Any,
            }
        }
        segments.retain(|segment| *segment != Segment::Fixed(""));
        segments
    }
}

/// Between two slashes of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Segment<'a> {
    Fixed(&'a str),
    Any,
    /// One or more.
    Several,
}

fn overlap(ours: &[Segment<'_>], theirs: &[Segment<'_>]) -> bool {
    match (ours, theirs) {
        ([], []) => true,
        ([Segment::Several, ours @ ..], [_, rest @ ..]) => {
            overlap(ours, rest) || overlap(&[&[Segment::Several], ours].concat(), rest)
        }
        ([_, ..], [Segment::Several, ..]) => overlap(theirs, ours),
        ([Segment::Fixed(a), ours @ ..], [Segment::Fixed(b), theirs @ ..]) => a == b && overlap(ours, theirs),
        ([_, ours @ ..], [_, theirs @ ..]) => overlap(ours, theirs),
        _ => false,
    }
}

/// Whether the text of a member has slashes: slugs of ancestors are in it.
fn is_deep(member: &str) -> bool {
    matches!(member, PATH | CATEGORY)
}

/// A part that stands between the signs: `slug`, `topic|general`, `start:%Y-%m`.
fn member(written: &str) -> Result<Vec<AddressPiece>, AddressProblem> {
    let word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if let Some((name, format)) = written.split_once(':').filter(|(name, _)| word(name)) {
        return date_parts(name, format);
    }
    let (name, fallback) = match written.split_once('|') {
        Some((name, fallback)) => (name, Some(fallback.to_owned())),
        None => (written, None),
    };
    if !word(name) || fallback.as_deref().is_some_and(|text| text.is_empty() || text.contains('/')) {
        return Err(AddressProblem::BadCharacter(written.chars().find(|c| !c.is_alphanumeric()).unwrap_or('}')));
    }
    Ok(vec![AddressPiece::Member(name.to_owned(), fallback)])
}

fn date_parts(name: &str, format: &str) -> Result<Vec<AddressPiece>, AddressProblem> {
    let unknown = || AddressProblem::UnknownDatePart(format.to_owned());
    let mut pieces = Vec::new();
    let (before, parts) = format.split_once('%').ok_or_else(unknown)?;
    if !before.is_empty() {
        pieces.push(AddressPiece::Text(before.to_owned()));
    }
    for part in parts.split('%') {
        let mut chars = part.chars();
        let letter = chars.next().ok_or_else(unknown)?;
        let known = DatePart::ALL.iter().find(|(known, ..)| *known == letter).ok_or_else(unknown)?;
        pieces.push(AddressPiece::Date(name.to_owned(), known.2));
        if !chars.as_str().is_empty() {
            pieces.push(AddressPiece::Text(chars.as_str().to_owned()));
        }
    }
    Ok(pieces)
}

/// A tag of the permalink setting.
fn tag(written: &str) -> Result<Vec<AddressPiece>, AddressProblem> {
    if let Some((_, _, part)) = DatePart::ALL.iter().find(|(_, tag, _)| *tag == written) {
        return Ok(vec![AddressPiece::Date(DATE.to_owned(), *part)]);
    }
    let known = TAGS.iter().find(|(tag, _)| *tag == written);
    let (_, member) = known.ok_or_else(|| AddressProblem::UnknownTag(written.to_owned()))?;
    Ok(vec![AddressPiece::Member((*member).to_owned(), None)])
}

/// The parts of a template whose members stand between two signs.
fn parse(
    source: &str,
    open: char,
    close: char,
    read: fn(&str) -> Result<Vec<AddressPiece>, AddressProblem>,
) -> Result<Vec<AddressPiece>, AddressError> {
    let mut pieces = Vec::new();
    let (mut rest, mut position) = (source, 0);
    while let Some(at) = rest.find(open) {
        push_text(&mut pieces, &rest[..at], position)?;
        position += at;
        let error = |kind| AddressError { position, kind };
        let end = rest[at + 1..].find(close).ok_or_else(|| error(AddressProblem::Lone(open)))?;
        let written = &rest[at..at + end + 2];
        for piece in read(&written[1..=end]).map_err(error)? {
            match &piece {
                AddressPiece::Text(text) | AddressPiece::Member(_, Some(text)) => fits_path(text, position)?,
                _ => {}
            }
            if !matches!(piece, AddressPiece::Text(_)) && pieces.contains(&piece) {
                return Err(error(AddressProblem::Repeated(written.to_owned())));
            }
            pieces.push(piece);
        }
        rest = &rest[at + end + 2..];
        position += end + 2;
    }
    push_text(&mut pieces, rest, position)?;
    Ok(pieces)
}

fn push_text(pieces: &mut Vec<AddressPiece>, text: &str, position: usize) -> Result<(), AddressError> {
    fits_path(text, position)?;
    if !text.is_empty() {
        pieces.push(AddressPiece::Text(text.to_owned()));
    }
    Ok(())
}

/// Whether a path can have a text that stands at a position of the template.
fn fits_path(text: &str, position: usize) -> Result<(), AddressError> {
    let bad = |c: &char| c.is_whitespace() || c.is_control() || NOT_IN_PATHS.contains(*c);
    match text.char_indices().find(|(_, c)| bad(c)) {
        Some((at, c)) => Err(AddressError { position: position + at, kind: AddressProblem::BadCharacter(c) }),
        None => Ok(()),
    }
}

fn pattern(pieces: &[AddressPiece]) -> String {
    let mut out = String::from("^");
    for (at, piece) in pieces.iter().enumerate() {
        out.push_str(&match piece {
            AddressPiece::Text(text) if at + 1 == pieces.len() => regex::escape(text.trim_end_matches('/')),
            AddressPiece::Text(text) => regex::escape(text),
            AddressPiece::Date(_, DatePart::Year) => "([0-9]{4})".to_owned(),
            AddressPiece::Date(..) => "([0-9]{1,2})".to_owned(),
            AddressPiece::Member(name, _) if name == ID => "([0-9]+)".to_owned(),
            AddressPiece::Member(name, _) if is_deep(name) => "(.+?)".to_owned(),
            AddressPiece::Member(..) => "([^/]+)".to_owned(),
        });
    }
    out.push_str("/?$");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Harbour;

    impl AddressValues for Harbour {
        fn text(&self, member: &str) -> Cow<'_, str> {
            Cow::Borrowed(match member {
                ID => "42",
                SLUG => "harbour",
                PATH => "about/harbour",
                "category" => "music/jazz",
                AUTHOR => "fay",
                _ => "",
            })
        }

        fn date(&self, member: &str) -> Option<CivilDateTime> {
            let date = CivilDateTime { year: 2019, month: 3, day: 4, hour: 5, minute: 6, second: 7 };
            (member != "never").then_some(date)
        }
    }

    fn compiled(source: &str) -> Result<AddressTemplate, AddressError> {
        AddressTemplate::of_source(source)
    }

    #[test]
    fn renders_and_reads_back() {
        fn check(source: &str, path: &str) {
            let template = compiled(source).expect(source);
            assert_eq!(template.render(&Harbour).as_deref(), Some(path), "{source}");
            let bare = path.trim_end_matches('/');
            for form in [path.to_owned(), format!("{bare}/"), bare.to_owned()] {
                let found = template.match_path(&form).unwrap_or_else(|| panic!("{source} reads {form}"));
                for member in [SLUG, ID, PATH, "category", AUTHOR].into_iter().filter(|member| template.has(member)) {
                    assert_eq!(found.text(member), Some(&*Harbour.text(member)), "{form}");
                }
                let date = Harbour.date(DATE).expect("a date");
                assert!(found.is_on(DATE, &date) && found.is_on("start", &date), "{found:?}");
            }
        }
        check("/%year%/%monthnum%/%postname%/", "/2019/03/harbour/");
        check("/%year%/%monthnum%/%day%/%postname%/", "/2019/03/04/harbour/");
        check("/archives/%post_id%", "/archives/42");
        check("/%category%/%postname%/", "/music/jazz/harbour/");
        check("/%author%/%post_id%.html", "/fay/42.html");
        check("/%year%%monthnum%%day%-%hour%.%minute%.%second%/%postname%", "/20190304-05.06.07/harbour");
        check("/blog/{slug}", "/blog/harbour");
        check("/{path}", "/about/harbour");
        check("/events/{start:%Y-%m}/{slug}/", "/events/2019-03/harbour/");
        check("/{topic|general}/{id}", "/general/42");
        check("/?kind=a&name={slug}", "/?kind=a&name=harbour");
    }

    #[test]
    fn a_member_without_text_has_no_address() {
        assert_eq!(compiled("/{topic}/{slug}").expect("a template").render(&Harbour), None);
        assert_eq!(compiled("/{never:%Y}/{slug}").expect("a template").render(&Harbour), None);
    }

    #[test]
    fn other_paths_do_not_match() {
        fn check(source: &str, path: &str) {
            assert_eq!(compiled(source).expect(source).match_path(path), None, "{source} {path}");
        }
        check("/%year%/%monthnum%/%postname%/", "/2019/harbour/");
        check("/%year%/%monthnum%/%postname%/", "/2019/03/a/b/");
        check("/%year%/%monthnum%/%postname%/", "/19/03/a/");
        check("/archives/%post_id%", "/archives/a");
        check("/%postname%/", "/");
        check("/blog/{slug}", "/blog/a/b");
        check("/blog/{slug}", "/Blog/a");
    }

    #[test]
    fn dates_differ_from_those_of_paths() {
        let template = compiled("/%year%/%monthnum%/%postname%/").expect("a structure");
        let date = |month| CivilDateTime { year: 2019, month, day: 4, hour: 0, minute: 0, second: 0 };
        let found = template.match_path("/2019/3/a").expect("its shape");
        assert!(found.is_on(DATE, &date(3)) && !found.is_on(DATE, &date(4)));
    }

    #[test]
    fn mistakes_are_placed() {
        fn check(source: &str, position: usize, kind: AddressProblem) {
            assert_eq!(compiled(source).expect_err(source), AddressError { position, kind }, "{source}");
        }
        check("/%year%/%nope%/", 8, AddressProblem::UnknownTag("nope".into()));
        check("/%year%/%postname", 8, AddressProblem::Lone('%'));
        check("/%year%/", 8, AddressProblem::NamesNoItem("%postname% and %post_id%"));
        check("%postname%", 0, AddressProblem::NoLeadingSlash);
        check("/%postname%/%postname%", 12, AddressProblem::Repeated("%postname%".into()));
        check("/a b/%postname%", 2, AddressProblem::BadCharacter(' '));
        check("/{topic}", 8, AddressProblem::NamesNoItem("{slug}, {path} and {id}"));
        check("/{slug", 1, AddressProblem::Lone('{'));
        check("/{start:%Q}/{slug}", 1, AddressProblem::UnknownDatePart("%Q".into()));
        check("/{start:year}/{slug}", 1, AddressProblem::UnknownDatePart("year".into()));
        check("/{slug}/{slug}", 8, AddressProblem::Repeated("{slug}".into()));
        check("/{a b}/{slug}", 1, AddressProblem::BadCharacter(' '));
        check("/{topic|any#}/{slug}", 4, AddressProblem::BadCharacter('#'));
        check("/{start:%Y #%m}/{slug}", 1, AddressProblem::BadCharacter(' '));
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
            assert_eq!(compiled(structure).expect("a structure").reads_as_date(name), expected, "{structure} {name}");
        }
    }

    #[test]
    fn templates_can_be_told_apart_by_their_fixed_beginning() {
        let table = [
            ("/{slug}", "/{path}", true),
            ("/blog/{slug}", "/{path}", false),
            ("/blog/{slug}", "/blog/{id}/", true),
            ("/blog/{slug}", "/news/{slug}", false),
            ("/events/{start:%Y}/{slug}", "/events/{slug}", false),
            ("/events/{start:%Y}/{slug}", "/events/{path}", true),
            ("/{slug}/about", "/{slug}/team", false),
        ];
        for (one, other, expected) in table {
            let [a, b] = [one, other].map(|source| compiled(source).expect(source));
            assert_eq!((a.is_ambiguous_with(&b), b.is_ambiguous_with(&a)), (expected, expected), "{one} {other}");
        }
    }
}
