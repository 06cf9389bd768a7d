//! The reader of WXR, the export format of WordPress (RSS with the `wp:` vocabulary, versions 1.0 to 1.2).
//!
//! Owns the vocabulary and what its values mean; yields one item at a time, so memory holds one record however long the
//! file is. Items that are not as WordPress writes them are read as far as they can be, with a warning; an item that
//! cannot be read is left out, with one, too. A fault of the file itself ends the reading. It knows neither what a
//! record becomes nor where it is stored. A first pass that only counts is a [`read`] whose sink does nothing.

use super::dates::{DateZone, feed_date, moment};
use super::items::{Author, Comment, ExportItem, ExportRecord, ExportSummary, FileFault, ReadError, Term, TermRef};
pub use super::xml::WxrLimits;
use super::xml::{XmlCursor, XmlTag, brief};
use std::io::BufRead;

const HINT_WXR: &str = "choose a file made by Tools > Export in WordPress";
const HINT_NAMES: &str = "no valid export is like this: check that place in the file";

/// Bytes of the longest kind, status or taxonomy; WordPress itself stores no more than 32.
const LONGEST_NAME: usize = 128;
/// The post type of files.
const FILE: &str = "attachment";

/// The versions that this reader understands.
const VERSIONS: [&str; 3] = ["1.0", "1.1", "1.2"];

/// Reads a whole export, passing each item to `each` as soon as it is complete.
///
/// `progress` gets the bytes read so far, after each item. Unknown elements are skipped. Items that were passed on
/// before an error stay passed on: a caller who wants all or nothing reads once with a sink that does nothing.
pub fn read<R: BufRead, E>(
    input: R,
    limits: &WxrLimits,
    progress: impl FnMut(u64),
    each: impl FnMut(ExportItem) -> Result<(), E>,
) -> Result<ExportSummary, ReadError<E>> {
    let mut cursor = XmlCursor::new(input, *limits);
    let mut outlet = ImportSink { summary: ExportSummary::default(), left: limits.items, progress, each };
    match cursor.root()? {
        Some(tag) if tag.name == "rss" => {}
        _ => return Err(foreign(&cursor).into()),
    }
    while let Some(tag) = cursor.child()? {
        match tag.name.as_str() {
            "channel" => channel(&mut cursor, &mut outlet)?,
            _ => cursor.skip()?,
        }
    }
    cursor.finish()?;
    if outlet.summary.version.is_empty() {
        return Err(foreign(&cursor).into());
    }
    (outlet.progress)(cursor.bytes());
    outlet.summary.warnings = cursor.warnings;
    Ok(outlet.summary)
}

fn foreign<R: BufRead>(cursor: &XmlCursor<R>) -> FileFault {
    cursor.fault("this is not a WordPress export".into(), HINT_WXR)
}

/// Where items go, and the account of them.
struct ImportSink<P, F> {
    summary: ExportSummary,
    left: u64,
    progress: P,
    each: F,
}

impl<P: FnMut(u64), F> ImportSink<P, F> {
    /// Hands on an item; nothing where one was left out.
    fn deliver<R: BufRead, E>(&mut self, cursor: &XmlCursor<R>, item: Option<ExportItem>) -> Result<(), ReadError<E>>
    where
        F: FnMut(ExportItem) -> Result<(), E>,
    {
        if self.left == 0 {
            let hint = "split the export, or raise the limit";
            return Err(cursor.fault("the file holds more items than the limit allows".into(), hint).into());
        }
        self.left -= 1;
        let Some(item) = item else { return Ok(()) };
        self.summary.count(&item).map_err(|message| cursor.fault(message, HINT_NAMES))?;
        (self.each)(item).map_err(ReadError::Sink)?;
        (self.progress)(cursor.bytes());
        Ok(())
    }
}

fn channel<R: BufRead, P: FnMut(u64), F, E>(
    cursor: &mut XmlCursor<R>,
    outlet: &mut ImportSink<P, F>,
) -> Result<(), ReadError<E>>
where
    F: FnMut(ExportItem) -> Result<(), E>,
{
    while let Some(tag) = cursor.child()? {
        cursor.begin_record();
        let item = match tag.name.as_str() {
            // Plain RSS has items too.
            "item" if outlet.summary.version.is_empty() => return Err(foreign(cursor).into()),
            "item" => record(cursor, &tag)?.map(|record| ExportItem::Record(Box::new(record))),
            "wp:author" => author(cursor, &tag)?.map(ExportItem::Author),
            "wp:category" => term(cursor, &tag, "category")?.map(ExportItem::Term),
            "wp:tag" => term(cursor, &tag, "post_tag")?.map(ExportItem::Term),
            "wp:term" => term(cursor, &tag, "")?.map(ExportItem::Term),
            _ => {
                about_site(cursor, &tag, &mut outlet.summary)?;
                continue;
            }
        };
        outlet.deliver(cursor, item)?;
    }
    Ok(())
}

fn about_site<R: BufRead>(
    cursor: &mut XmlCursor<R>,
    tag: &XmlTag,
    summary: &mut ExportSummary,
) -> Result<(), FileFault> {
    match tag.name.as_str() {
        "wp:wxr_version" => summary.version = version(cursor)?,
        "title" => summary.title = cursor.text()?,
        "description" => summary.description = cursor.text()?,
        "language" => summary.language = word(cursor)?,
        "wp:base_site_url" => summary.site_url = word(cursor)?,
        "wp:base_blog_url" => summary.base_url = word(cursor)?,
        "link" => {
            let link = word(cursor)?;
            if summary.base_url.is_empty() {
                summary.base_url = link;
            }
        }
        _ => cursor.skip()?,
    }
    Ok(())
}

fn version<R: BufRead>(cursor: &mut XmlCursor<R>) -> Result<String, FileFault> {
    let version = word(cursor)?;
    if VERSIONS.contains(&version.as_str()) {
        return Ok(version);
    }
    let hint = "versions 1.0, 1.1 and 1.2 can be read";
    Err(cursor.fault(format!("export version \"{}\" is not supported", brief(&version)), hint))
}

/// Warns of an omission, with its reason.
fn warn_omitted<R: BufRead>(cursor: &mut XmlCursor<R>, at: &XmlTag, what: &str, why: &str) {
    cursor.warnings.add(at.line, format!("the {what} that begins here is left out: {why}"));
}

fn author<R: BufRead>(cursor: &mut XmlCursor<R>, at: &XmlTag) -> Result<Option<Author>, FileFault> {
    let mut author = Author::default();
    while let Some(tag) = cursor.child()? {
        match tag.name.as_str() {
            "wp:author_id" => author.id = optional_number(cursor, &tag)?,
            "wp:author_login" => author.login = word(cursor)?,
            "wp:author_email" => author.email = word(cursor)?,
            "wp:author_display_name" => author.display_name = cursor.text()?,
            "wp:author_first_name" => author.first_name = cursor.text()?,
            "wp:author_last_name" => author.last_name = cursor.text()?,
            _ => cursor.skip()?,
        }
    }
    if author.login.is_empty() {
        warn_omitted(cursor, at, "author", "it has no wp:author_login");
        return Ok(None);
    }
    Ok(Some(author))
}

/// The three spellings of a term differ in the names of their parts alone.
fn term<R: BufRead>(cursor: &mut XmlCursor<R>, at: &XmlTag, taxonomy: &str) -> Result<Option<Term>, FileFault> {
    let mut term = Term { taxonomy: taxonomy.to_owned(), ..Term::default() };
    while let Some(tag) = cursor.child()? {
        match tag.name.as_str() {
            "wp:term_id" => term.id = optional_number(cursor, &tag)?,
            "wp:term_taxonomy" if taxonomy.is_empty() => term.taxonomy = word(cursor)?,
            "wp:category_nicename" | "wp:tag_slug" | "wp:term_slug" => term.slug = word(cursor)?,
            "wp:cat_name" | "wp:tag_name" | "wp:term_name" => term.name = cursor.text()?,
            "wp:category_parent" | "wp:term_parent" => term.parent_slug = word(cursor)?,
            "wp:category_description" | "wp:tag_description" | "wp:term_description" => {
                term.description = cursor.text()?;
            }
            "wp:termmeta" => term.meta.push(meta(cursor)?),
            _ => cursor.skip()?,
        }
    }
    if !is_name(&term.taxonomy) {
        warn_omitted(cursor, at, "term", "it does not say which taxonomy it belongs to");
        return Ok(None);
    }
    Ok(Some(term))
}

/// A record; `None`: it cannot be read, and is left out.
fn record<R: BufRead>(cursor: &mut XmlCursor<R>, item: &XmlTag) -> Result<Option<ExportRecord>, FileFault> {
    let mut record = ExportRecord { line: item.line, ..ExportRecord::default() };
    let (mut published, mut fault) = (None, None);
    while let Some(tag) = cursor.child()? {
        match tag.name.as_str() {
            "title" => record.title = cursor.text()?,
            "link" => record.link = word(cursor)?,
            "guid" => record.guid = word(cursor)?,
            "dc:creator" => record.author_login = word(cursor)?,
            "content:encoded" => record.content = cursor.text()?,
            "excerpt:encoded" => record.excerpt = cursor.text()?,
            "pubDate" => published = feed_date(&word(cursor)?),
            "category" => record.terms.extend(term_ref(cursor, &tag)?),
            "wp:postmeta" => record.meta.push(meta(cursor)?),
            "wp:comment" => record.comments.push(comment(cursor)?),
            _ => record_detail(cursor, &tag, &mut record, &mut fault)?,
        }
    }
    if record.kind.is_empty() {
        fault.get_or_insert("it has no wp:post_type".to_owned());
    } else if record.status.is_empty() {
        record.status = if record.kind == FILE { "inherit" } else { "draft" }.to_owned();
        let message = format!("the item that begins here has no wp:status, and becomes `{}`", record.status);
        cursor.warnings.add(item.line, message);
    }
    if let Some(why) = fault {
        warn_omitted(cursor, item, "item", &why);
        return Ok(None);
    }
    if record.date_local.is_none() && record.date_utc.is_none() {
        record.date_utc = published;
    }
    record.terms = without_repetitions(std::mem::take(&mut record.terms));
    Ok(Some(record))
}

/// Version 1.0 also lists each term a second time without a slug.
fn without_repetitions(terms: Vec<TermRef>) -> Vec<TermRef> {
    let (with_slug, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|term| !term.slug.is_empty());
    let new = |term: &TermRef| !with_slug.iter().any(|own| own.taxonomy == term.taxonomy && own.name == term.name);
    let others: Vec<TermRef> = others.into_iter().filter(new).collect();
    with_slug.into_iter().chain(others).collect()
}

fn record_detail<R: BufRead>(
    cursor: &mut XmlCursor<R>,
    tag: &XmlTag,
    record: &mut ExportRecord,
    fault: &mut Option<String>,
) -> Result<(), FileFault> {
    match tag.name.as_str() {
        "wp:post_id" => record.id = number(cursor, tag)?,
        "wp:post_date" => match moment(&word(cursor)?, DateZone::Local) {
            Ok(moment) => record.date_local = moment,
            Err(text) => *fault = Some(format!("<{}> holds \"{}\", which is no date", tag.name, brief(&text))),
        },
        "wp:post_date_gmt" => record.date_utc = date(cursor, tag, DateZone::Utc)?,
        "wp:post_modified" => record.modified_local = date(cursor, tag, DateZone::Local)?,
        "wp:post_modified_gmt" => record.modified_utc = date(cursor, tag, DateZone::Utc)?,
        "wp:comment_status" => record.comment_status = word(cursor)?,
        "wp:ping_status" => record.ping_status = word(cursor)?,
        "wp:post_name" => record.slug = word(cursor)?,
        "wp:status" => record.status = name(cursor, tag, fault)?,
        "wp:post_parent" => record.parent = number(cursor, tag)?,
        "wp:menu_order" => record.menu_order = number(cursor, tag)?,
        "wp:post_type" => record.kind = name(cursor, tag, fault)?,
        "wp:post_password" => record.password = cursor.text()?,
        "wp:is_sticky" => record.sticky = flag(cursor, tag)?,
        "wp:attachment_url" => record.attachment_url = Some(word(cursor)?).filter(|url| !url.is_empty()),
        _ => cursor.skip()?,
    }
    Ok(())
}

/// Version 1.0 calls `tag` what later versions call `post_tag`.
fn term_ref<R: BufRead>(cursor: &mut XmlCursor<R>, tag: &XmlTag) -> Result<Option<TermRef>, FileFault> {
    cursor.part()?;
    let name = cursor.text()?;
    let slug = tag.attribute("nicename").unwrap_or_default();
    let taxonomy = match tag.attribute("domain") {
        None => "category",
        Some("tag") => "post_tag",
        Some(other) => other,
    };
    cursor.charge(taxonomy.len() + slug.len())?;
    if slug.is_empty() && name.trim().is_empty() {
        return Ok(None);
    }
    if !is_name(taxonomy) {
        warn_omitted(cursor, tag, "term of an item", &format!("\"{}\" is no taxonomy", brief(taxonomy)));
        return Ok(None);
    }
    Ok(Some(TermRef { taxonomy: taxonomy.to_owned(), slug: slug.to_owned(), name }))
}

/// `wp:postmeta`, `wp:commentmeta` and `wp:termmeta` alike.
fn meta<R: BufRead>(cursor: &mut XmlCursor<R>) -> Result<(String, String), FileFault> {
    cursor.part()?;
    let (mut key, mut value) = (String::new(), String::new());
    while let Some(tag) = cursor.child()? {
        match tag.name.as_str() {
            "wp:meta_key" => key = cursor.text()?,
            "wp:meta_value" => value = cursor.text()?,
            _ => cursor.skip()?,
        }
    }
    Ok((key, value))
}

fn comment<R: BufRead>(cursor: &mut XmlCursor<R>) -> Result<Comment, FileFault> {
    cursor.part()?;
    let mut comment = Comment::default();
    while let Some(tag) = cursor.child()? {
        match tag.name.as_str() {
            "wp:comment_id" => comment.id = number(cursor, &tag)?,
            "wp:comment_author" => comment.author = cursor.text()?,
            "wp:comment_author_email" => comment.email = word(cursor)?,
            "wp:comment_author_url" => comment.url = word(cursor)?,
            "wp:comment_author_IP" => comment.ip = word(cursor)?,
            "wp:comment_date" => comment.date_local = date(cursor, &tag, DateZone::Local)?,
            "wp:comment_date_gmt" => comment.date_utc = date(cursor, &tag, DateZone::Utc)?,
            "wp:comment_content" => comment.content = cursor.text()?,
            "wp:comment_approved" => comment.approved = word(cursor)?,
            "wp:comment_type" => comment.kind = word(cursor)?,
            "wp:comment_parent" => comment.parent = number(cursor, &tag)?,
            "wp:comment_user_id" => comment.user_id = number(cursor, &tag)?,
            "wp:commentmeta" => comment.meta.push(meta(cursor)?),
            _ => cursor.skip()?,
        }
    }
    if comment.kind.is_empty() {
        comment.kind = "comment".into();
    }
    Ok(comment)
}

/// A text in which blanks at the ends mean nothing.
fn word<R: BufRead>(cursor: &mut XmlCursor<R>) -> Result<String, FileFault> {
    let mut text = cursor.text()?;
    text.truncate(text.trim_end().len());
    text.drain(..text.len() - text.trim_start().len());
    Ok(text)
}

/// Whether a text can be the name of a kind, a status or a taxonomy.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_NAME
}

/// The name of a kind or a status; one that is too long is a fault of its item.
fn name<R: BufRead>(cursor: &mut XmlCursor<R>, tag: &XmlTag, fault: &mut Option<String>) -> Result<String, FileFault> {
    let text = word(cursor)?;
    if !text.is_empty() && !is_name(&text) {
        *fault = Some(format!("<{}> holds more than {LONGEST_NAME} bytes", tag.name));
    }
    Ok(text)
}

/// A whole number; nothing at all is 0.
fn number<R: BufRead>(cursor: &mut XmlCursor<R>, tag: &XmlTag) -> Result<i64, FileFault> {
    Ok(optional_number(cursor, tag)?.unwrap_or(0))
}

/// A whole number: of another text, the digits at its beginning.
fn optional_number<R: BufRead>(cursor: &mut XmlCursor<R>, tag: &XmlTag) -> Result<Option<i64>, FileFault> {
    let text = word(cursor)?;
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(number) = text.parse() {
        return Ok(Some(number));
    }
    let digits = text.strip_prefix('-').unwrap_or(&text).bytes().take_while(u8::is_ascii_digit).count();
    let sign = text.len() - text.strip_prefix('-').unwrap_or(&text).len();
    let read: Option<i64> = text.get(..sign + digits).and_then(|number| number.parse().ok());
    odd(cursor, tag, &text, &read.map_or("left out".into(), |read| format!("read as {read}")));
    Ok(read)
}

/// Yes or no, as a number or a word.
fn flag<R: BufRead>(cursor: &mut XmlCursor<R>, tag: &XmlTag) -> Result<bool, FileFault> {
    let text = word(cursor)?;
    let (set, usual) = match text.to_ascii_lowercase().as_str() {
        "" | "0" => (false, true),
        "1" => (true, true),
        "true" | "yes" | "on" => (true, false),
        other => (other.parse::<f64>().is_ok_and(|number| number != 0.0), false),
    };
    if !usual {
        odd(cursor, tag, &text, if set { "read as 1" } else { "read as 0" });
    }
    Ok(set)
}

/// A date and time; nothing at all and the zero date are `None`, as is what cannot be read.
fn date<R: BufRead>(cursor: &mut XmlCursor<R>, tag: &XmlTag, clock: DateZone) -> Result<Option<i64>, FileFault> {
    let text = word(cursor)?;
    Ok(moment(&text, clock).unwrap_or_else(|text| {
        odd(cursor, tag, &text, "left out");
        None
    }))
}

/// Notes a value that is not as WordPress writes it.
fn odd<R: BufRead>(cursor: &mut XmlCursor<R>, tag: &XmlTag, text: &str, read: &str) {
    cursor.warnings.add(tag.line, format!("<{}> holds \"{}\": {read}", tag.name, brief(text)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::io::{BufReader, Read, repeat};
    use std::path::Path;

    const SMALL: &[u8] = include_bytes!("../../fixtures/small.xml");
    const PIECES: &[&str] = &[
        "<rss>",
        "<channel>",
        "<item>",
        "</item>",
        "<wp:comment>",
        "</wp:comment>",
        "<wp:postmeta>",
        "</wp:postmeta>",
        "<wp:post_type>",
        "post",
        "</wp:post_type>",
        "<wp:status>draft</wp:status>",
        "<wp:post_type>a</wp:post_type>",
        "<wp:post_date>",
        "</wp:post_date>",
        "2024-01-01 00:00:00",
        "<category nicename='",
        "'",
        "\"",
        "/>",
        ">",
        "<",
        "<![CDATA[",
        "]]>",
        "]]",
        "<!--",
        "-->",
        "<?",
        "?>",
        "<!DOCTYPE",
        "<!",
        "&",
        "&amp;",
        "&#",
        "&#x41;",
        ";",
        "é",
        "\n",
        "\r",
        "\u{feff}",
        "\0",
        "-1",
        "</channel>",
        "</rss>",
        "<wp:term/>",
        "<x y='z'>",
        "</x>",
    ];
    const TIGHT: WxrLimits = WxrLimits { text: 400, record: 2000, depth: 6, items: 3 };

    fn items(input: impl BufRead) -> Result<(Vec<ExportItem>, ExportSummary), FileFault> {
        let mut items = Vec::new();
        let sink = |item| {
            items.push(item);
            Ok::<(), Infallible>(())
        };
        match read(input, &WxrLimits::default(), |_| {}, sink) {
            Ok(summary) => Ok((items, summary)),
            Err(ReadError::File(error)) => Err(error),
            Err(ReadError::Sink(never)) => match never {},
        }
    }

    fn small() -> (Vec<ExportItem>, ExportSummary) {
        items(SMALL).expect("the fixture is sound")
    }

    fn small_record(id: i64) -> ExportRecord {
        let found = small().0.into_iter().find_map(|item| match item {
            ExportItem::Record(record) if record.id == id => Some(*record),
            _ => None,
        });
        found.expect("the fixture holds this record")
    }

    /// The channel of a valid file around `inside`, which begins in line 2.
    fn file(inside: &str) -> String {
        format!("<rss><channel><wp:wxr_version>1.2</wp:wxr_version>\n{inside}\n</channel></rss>")
    }

    fn post(inside: &str) -> String {
        file(&format!("<item><wp:post_type>post</wp:post_type>\n<wp:status>draft</wp:status>\n{inside}</item>"))
    }

    /// So many terms, one a line, each of a taxonomy of its own.
    fn kinds(count: usize) -> String {
        (0..count).map(|n| format!("<wp:term><wp:term_taxonomy>t{n}</wp:term_taxonomy></wp:term>\n")).collect()
    }

    fn check(input: impl Read, limits: &WxrLimits, expected: &str) {
        let sink = |_| Ok::<(), Infallible>(());
        let told = match read(BufReader::new(input), limits, |_| {}, sink) {
            Ok(_) => "read".into(),
            Err(error) => error.to_string(),
        };
        assert!(told.starts_with(expected), "expected {expected:?}, told {told:?}");
    }

    #[test]
    fn refuses_what_is_malformed_and_says_where() {
        let table: &[(&str, &str)] = &[
            ("", "line 1: this is not a WordPress export (choose"),
            ("\n\n  ", "line 3: this is not a WordPress export"),
            ("{\"a\": 1}", "line 1: this is not a WordPress export"),
            ("\n<b>Warning</b>: out of memory\n<rss/>", "line 2: this is not a WordPress export"),
            ("<html>\n<p>hello</p></html>", "line 1: this is not a WordPress export"),
            ("<rss>\n<channel>\n<title>news</title>\n</channel></rss>", "line 4: this is not a WordPress export"),
            ("<rss><channel>\n<item><title>news</title></item></channel></rss>", "line 2: this is not a"),
            ("<rss><channel>\n<wp:wxr_version>2.0</wp:wxr_version>", "line 2: export version \"2.0\" is not supported"),
            (
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<rss/>",
                "line 1: the file says that it is encoded as ISO-",
            ),
            ("\n<!DOCTYPE rss [<!ENTITY a \"aaaa\">]>\n<rss/>", "line 2: the file declares a document type"),
            ("<rss>\n<channel>", "line 2: the file ends inside the element that begins in line 2"),
            ("<rss>\n<channel></rss>", "line 2: </rss> found where </channel> is expected"),
            ("<rss></rss>\n</rss>", "line 2: </rss> closes nothing"),
            (&(file("") + "\n<rss/>"), "line 4: something follows the end"),
            (&(file("") + "tail"), "line 3: something follows the end"),
            (&post("<title><![CDATA[one\ntwo"), "line 4: the file ends inside a CDATA section"),
            (&post("<!-- one\ntwo"), "line 4: the file ends inside a comment"),
            (&post("<title"), "line 4: <title</item> is not an element"),
            (&post("a < b > c"), "line 4: <> is not an element"),
            (&post("<!what>"), "line 4: <! begins no markup"),
            (&file(&kinds(4096)), "read"),
            (&file(&kinds(4097)), "line 4098: the file holds more than 4096 kinds"),
        ];
        for (input, expected) in table {
            check(input.as_bytes(), &WxrLimits::default(), expected);
        }
    }

    /// Everything else of the file is read, and a line says what is not as it is written.
    #[test]
    fn reads_on_where_values_are_odd() {
        let odd = |name: &str, value: &str| post(&format!("<{name}>{value}</{name}>"));
        let dated = |value: &str| odd("wp:post_date", value);
        type RecordCheck = fn(&ExportRecord) -> bool;
        let kept: RecordCheck = |_| true;
        let table: &[(&str, &str, Option<RecordCheck>)] = &[
            (&odd("title", "R & D"), "line 4: an & is read as itself", Some(|r| r.title == "R & D")),
            (&odd("title", "R&D; x"), "line 4: &D; is no entity", Some(|r| r.title == "R&D; x")),
            (&odd("title", "R&nbsp;D &eacute;"), "line 4: &nbsp; is no entity", Some(|r| r.title == "R\u{a0}D é")),
            (&odd("title", "a &other; b"), "line 4: &other; is no entity", Some(|r| r.title == "a &other; b")),
            (&odd("title", "&#xD800;x&#0;"), "line 4: &#xD800; is no entity", Some(|r| r.title == "&#xD800;x&#0;")),
            (&odd("title", "a\0b"), "line 4: NUL characters", Some(|r| r.title == "ab")),
            (&odd("title", "<![CDATA[a\0b]]>"), "line 4: NUL characters", Some(|r| r.title == "ab")),
            (
                &odd("content:encoded", "one\n<b class='x'>two</b>"),
                "line 5: <b> is read as a part",
                Some(|r| r.content == "one\n<b class=\"x\">two</b>"),
            ),
            (&post("<unknown a=1/>"), "line 4: malformed attributes of <unknown>", Some(kept)),
            (&post("<unknown a='1' a='2'/>"), "line 4: malformed attributes", Some(kept)),
            (
                &post("<category domain='category' nicename='r&d'>R</category>"),
                "line 4: an attribute of <category>",
                Some(|r| r.terms[0].slug == "r&d"),
            ),
            (&odd("wp:post_id", "12x"), "line 4: <wp:post_id> holds \"12x\": read as 12", Some(|r| r.id == 12)),
            (&odd("wp:post_id", "99999999999999999999"), "line 4: <wp:post_id> holds", Some(|r| r.id == 0)),
            (
                &odd("wp:menu_order", "0.5"),
                "line 4: <wp:menu_order> holds \"0.5\": read as 0",
                Some(|r| r.menu_order == 0),
            ),
            (&odd("wp:menu_order", "-3.5"), "line 4: <wp:menu_order> holds", Some(|r| r.menu_order == -3)),
            (
                &odd("wp:post_parent", "none"),
                "line 4: <wp:post_parent> holds \"none\": left out",
                Some(|r| r.parent == 0),
            ),
            (&odd("wp:is_sticky", "true"), "line 4: <wp:is_sticky> holds", Some(|r| r.sticky)),
            (&odd("wp:is_sticky", "no"), "line 4: <wp:is_sticky> holds", Some(|r| !r.sticky)),
            (&odd("wp:post_date_gmt", "soon"), "line 4: <wp:post_date_gmt> holds", Some(|r| r.date_utc.is_none())),
            (&odd("wp:post_modified", "soon"), "line 4: <wp:post_modified> holds", Some(kept)),
            (&dated("2020-01-02T03:04:05Z"), "", Some(|r| r.date_local == Some(1_577_934_245))),
            (&dated("2020-01-02 03:04"), "", Some(|r| r.date_local == Some(1_577_934_240))),
            (&dated("2024-02-30 00:00:00"), "line 2: the item that begins here is left out: <wp:post_date>", None),
            (&dated("Invalid date"), "line 2: the item that begins here is left out: <wp:post_date> holds \"Inv", None),
            (
                &file("\n<item><wp:status>draft</wp:status></item>"),
                "line 3: the item that begins here is left out",
                None,
            ),
            (
                &post(&format!("<wp:status>{}</wp:status>", "x".repeat(129))),
                "line 2: the item that begins here is",
                None,
            ),
            (
                &file("\n<item>\n<wp:post_type>post</wp:post_type></item>"),
                "line 3: the item that begins here has no wp:status, and becomes `draft`",
                Some(|r| r.status == "draft"),
            ),
            (
                &file("\n<item>\n<wp:post_type>attachment</wp:post_type></item>"),
                "line 3: the item that begins here has no wp:status, and becomes `inherit`",
                Some(|r| r.status == "inherit"),
            ),
            (&file("<wp:term></wp:term>"), "line 2: the term that begins here is left out", None),
            (&file("<wp:author></wp:author>"), "line 2: the author that begins here is left out", None),
            (&file("<unknown>&other; & \0</unknown>"), "", None),
        ];
        for (input, warning, check) in table {
            let (items, summary) = items(input.as_bytes()).unwrap_or_else(|error| panic!("{input}: {error}"));
            let warnings: Vec<String> =
                summary.warnings.listed.iter().map(|(line, text)| format!("line {line}: {text}")).collect();
            let first = warnings.first().map_or("", String::as_str);
            assert!(first.starts_with(warning) && first.is_empty() == warning.is_empty(), "{input}: {warnings:?}");
            match (&*items, check) {
                ([ExportItem::Record(record)], Some(check)) => assert!(check(record), "{input}: {record:?}"),
                ([], None) => {}
                other => panic!("{input}: {other:?}"),
            }
        }
    }

    #[test]
    fn dates_of_feeds_stand_in_for_missing_ones() {
        let read = |inside: &str| items(post(inside).as_bytes()).map(|(items, _)| items);
        let date = |inside: &str| match read(inside).as_deref() {
            Ok([ExportItem::Record(record)]) => (record.date_local, record.date_utc),
            other => panic!("{inside}: {other:?}"),
        };
        let published = "<pubDate>Tue, 05 Mar 2024 10:15:00 +0000</pubDate>";
        assert_eq!(date(published), (None, Some(1_709_633_700)));
        let both = format!("{published}<wp:post_date>2020-01-02 03:04:05</wp:post_date>");
        assert_eq!(date(&both), (Some(1_577_934_245), None));
    }

    #[test]
    fn warnings_are_bounded() {
        let many = "<wp:menu_order>0.5</wp:menu_order>\n".repeat(500);
        let (_, summary) = items(post(&many).as_bytes()).expect("the file is sound");
        assert_eq!((summary.warnings.listed.len(), summary.warnings.more), (100, 400));
    }

    #[test]
    fn refuses_other_encodings() {
        let utf16: Vec<u8> = "\u{feff}<rss/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut latin = post("<title>one\ntwo ?</title>").into_bytes();
        let mark = latin.iter().position(|&byte| byte == b'?').expect("it was put there");
        latin[mark] = 0xe9;
        let table: &[(&[u8], &str)] = &[
            (&utf16, "line 1: the text is not UTF-8 (save"),
            (&[0x1f, 0x8b, 8, 0, 0xff], "line 1: the text is not UTF-8"),
            (&latin, "line 5: the text is not UTF-8"),
        ];
        for (input, expected) in table {
            check(*input, &WxrLimits::default(), expected);
        }
    }

    #[test]
    fn stops_at_the_limits() {
        let texts = "<wp:postmeta><wp:meta_value>".to_owned() + &"x".repeat(390) + "</wp:meta_value></wp:postmeta>\n";
        let table: &[(&str, &str)] = &[
            (&post(&format!("<title>{}</title>", "x".repeat(400))), "read"),
            (&post(&format!("<title>{}</title>", "x".repeat(401))), "line 4: a text is longer than 400 bytes"),
            (&post(&format!("<title>{}</title>", "<![CDATA[xxx]]>".repeat(134))), "line 4: a text is longer"),
            (&post(&format!("<title>{}</title>", "&amp;".repeat(401))), "line 4: a text is longer"),
            (&file(&format!("<unknown>{}</unknown>", "x".repeat(401))), "line 2: a text is longer"),
            (&post(&texts.repeat(3)), "read"),
            (&post(&texts.repeat(4)), "line 7: a record holds more than 2000 bytes"),
            (&post(&"<wp:comment/>".repeat(8)), "line 4: a record holds more"),
            (&post(&format!("<category nicename=\"{}\"/>", "x".repeat(1800))), "line 4: a record holds more"),
            (&file("<a><b><c><d/></c></b></a>"), "read"),
            (&file("<a><b><c><d><e/></d></c></b></a>"), "line 2: elements are nested more than 6 deep"),
            (&file(&"<wp:author/>\n".repeat(3)), "read"),
            (&file(&"<wp:author/>\n".repeat(4)), "line 5: the file holds more items than the limit allows"),
            (&file(&format!("<{}/>", "x".repeat(65_000))), "read"),
            (&file(&format!("<{}/>", "x".repeat(65_900))), "line 2: a t"),
        ];
        for (input, expected) in table {
            check(input.as_bytes(), &TIGHT, expected);
        }
    }

    #[test]
    fn bounds_what_never_ends() {
        for (opening, byte) in
            [("<rss><channel><![CDATA[", b'x'), ("<rss>", b'x'), ("<!--", b'-'), ("<rss a=\"", b'y'), ("<rss>&", b'z')]
        {
            check(opening.as_bytes().chain(repeat(byte)), &TIGHT, "line 1: a text is longer than 400 bytes");
        }
    }

    #[test]
    fn refuses_every_beginning_of_a_file() {
        let end = SMALL.len() - "</rss>\n".len();
        for length in (0..end).step_by(61).chain(end - 20..end) {
            assert!(items(&SMALL[..length]).is_err(), "the first {length} bytes passed for a whole file");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Whatever is damaged, the reader ends with a result, and a fault is within the file.
        #[test]
        fn survives_any_damage(damage in vec((0..SMALL.len(), 0..40usize, vec(any::<u8>(), 0..6)), 1..4)) {
            let mut file = SMALL.to_vec();
            for (at, cut, instead) in damage {
                let at = at.min(file.len());
                file.splice(at..(at + cut).min(file.len()), instead);
            }
            if let Err(error) = items(&*file) {
                let lines = file.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
                prop_assert!((1..=lines).contains(&error.line), "{error} of {lines} lines");
            }
        }

        /// The pieces of markup in any order reach every state of the reader.
        #[test]
        fn survives_any_order_of_markup(pieces in vec(select(PIECES), 0..60)) {
            let mut limits = TIGHT;
            limits.record = 4000;
            let sink = |_| Ok::<(), Infallible>(());
            let _ = read(pieces.concat().as_bytes(), &limits, |_| {}, sink);
            let _ = read(file(&pieces.concat()).as_bytes(), &limits, |_| {}, sink);
        }
    }

    #[test]
    fn reads_the_same_in_pieces_of_any_size() {
        let whole = small();
        let marked: Vec<u8> = [&[0xef, 0xbb, 0xbf], SMALL].concat();
        for size in [1, 2, 7, 4096] {
            assert_eq!(items(BufReader::with_capacity(size, SMALL)).as_ref(), Ok(&whole));
            assert_eq!(items(BufReader::with_capacity(size, &*marked)).as_ref(), Ok(&whole));
        }
    }

    #[test]
    fn counts_what_the_small_export_holds() {
        let (items, summary) = small();
        let records: Vec<String> = summary.records.iter().map(|((k, s), n)| format!("{k}/{s} {n}")).collect();
        let terms: Vec<String> = summary.terms.iter().map(|(taxonomy, n)| format!("{taxonomy} {n}")).collect();
        assert_eq!(
            records.join(", "),
            "attachment/inherit 1, nav_menu_item/publish 1, page/publish 3, post/draft 1, post/future 1, \
             post/pending 1, post/private 1, post/publish 3, post/trash 1, wp_block/publish 1"
        );
        assert_eq!(terms.join(", "), "category 4, nav_menu 1, post_tag 3");
        assert_eq!((summary.authors, summary.comments, items.len()), (2, 6, 24));
        assert_eq!((summary.version.as_str(), summary.title.as_str()), ("1.2", "A Small Harbour & Its Boats"));
        assert_eq!(summary.base_url, "https://small.example");
    }

    /// The site of the first start holds together: all that its items name is there.
    #[test]
    fn the_demo_is_whole() {
        let (items, summary) = items(&include_bytes!("../../fixtures/demo.xml")[..]).expect("the fixture is sound");
        let (mut logins, mut terms, mut records) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            match item {
                ExportItem::Author(author) => logins.push(author.login),
                ExportItem::Term(term) => {
                    assert!(term.parent_slug.is_empty() || terms.contains(&(term.taxonomy.clone(), term.parent_slug)));
                    terms.push((term.taxonomy, term.slug));
                }
                ExportItem::Record(record) => records.push(*record),
            }
        }
        for record in &records {
            // One post is by the administrator whom the first start makes.
            let known = record.author_login == "admin" || logins.contains(&record.author_login);
            assert!(known, "{}: author", record.slug);
            assert!(record.parent == 0 || records.iter().any(|other| other.id == record.parent), "{}", record.slug);
            for term in record.terms.iter().filter(|term| term.taxonomy != "post_format") {
                assert!(terms.contains(&(term.taxonomy.clone(), term.slug.clone())), "{}: {}", record.slug, term.slug);
            }
            for comment in &record.comments {
                let above = record.comments.iter().find(|other| other.id == comment.parent);
                assert!(comment.parent == 0 || above.is_some_and(|above| above.date_utc < comment.date_utc));
            }
        }
        let counts: Vec<u64> = summary.records.values().copied().collect();
        assert_eq!((counts, summary.authors, summary.comments, terms.len()), (vec![4, 12, 3], 3, 15, 16));
    }

    #[test]
    fn reads_authors_and_terms() {
        let (items, _) = small();
        let author = Author {
            id: Some(2),
            login: "bela".into(),
            email: "bela@small.example".into(),
            display_name: "Béla Szép".into(),
            first_name: "Béla".into(),
            last_name: "Szép".into(),
            account: None,
        };
        let term = Term {
            id: Some(4),
            taxonomy: "category".into(),
            slug: "spring-tides".into(),
            name: "Spring & neap".into(),
            parent_slug: "tides".into(),
            ..Term::default()
        };
        let tag = Term {
            id: Some(5),
            taxonomy: "post_tag".into(),
            slug: "knots".into(),
            name: "Knots".into(),
            meta: vec![("colour".into(), "rope-brown".into())],
            ..Term::default()
        };
        for expected in [ExportItem::Author(author), ExportItem::Term(term), ExportItem::Term(tag)] {
            assert!(items.contains(&expected), "{expected:?} is missing");
        }
    }

    #[test]
    fn reads_a_record_whole() {
        let record = small_record(101);
        assert!(record.sticky && record.content.contains("if (a[b[0]]>1 &amp;&amp; c)"));
        assert!(record.content.starts_with("<!-- wp:paragraph -->\n") && record.content.contains("Þóra. 🌊"));
        assert_eq!(record.excerpt, "Twice a day, & never at the same hour.");
        assert_eq!((record.date_local, record.date_utc), (Some(1_709_633_700), Some(1_709_630_100)));
        assert_eq!(record.modified_utc, Some(1_709_708_430));
        assert_eq!((record.slug.as_str(), record.author_login.as_str()), ("reading-the-tide-table", "ada"));
        let terms: Vec<&str> = record.terms.iter().map(|term| term.slug.as_str()).collect();
        assert_eq!(terms, ["tides", "spring-tides", "knots", "caf%c3%a9"]);
        let meta: Vec<(&str, &str)> = record.meta.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(meta[1..], [("mood", "calm"), ("mood", "windy"), ("empty", ""), ("bracket", "a]]>b")]);
        let line = SMALL.split(|&byte| byte == b'\n').position(|line| line == b"\t<item>").expect("it has items");
        assert_eq!(record.line, line as u64 + 1);
    }

    #[test]
    fn reads_comments() {
        let comments = small_record(101).comments;
        let threads: Vec<(i64, i64, &str, &str)> =
            comments.iter().map(|c| (c.id, c.parent, c.approved.as_str(), c.kind.as_str())).collect();
        assert_eq!(
            threads,
            [
                (201, 0, "1", "comment"),
                (202, 201, "1", "comment"),
                (203, 202, "1", "comment"),
                (204, 0, "0", "comment"),
                (205, 0, "spam", "comment"),
                (206, 0, "1", "pingback"),
            ]
        );
        assert_eq!((comments[0].url.as_str(), comments[0].meta.len()), ("https://runa.example/?a=1&b=2", 1));
        assert_eq!((comments[1].user_id, comments[2].ip.as_str()), (1, "2001:db8::7"));
        assert_eq!(comments[2].content, "Then I shall come & look.");
        assert_eq!(comments[0].date_utc, Some(1_709_632_800));
    }

    #[test]
    fn reads_records_of_every_kind() {
        assert_eq!((small_record(102).date_utc, small_record(102).modified_utc), (None, None));
        assert_eq!((small_record(102).slug.as_str(), small_record(105).status.as_str()), ("", "future"));
        assert_eq!(small_record(107).password, "ebb & flow ");
        let format = TermRef { taxonomy: "post_format".into(), slug: "post-format-aside".into(), name: "Aside".into() };
        assert!(small_record(108).terms.contains(&format));
        assert_eq!((small_record(110).menu_order, small_record(112).parent), (-1, 111));
        let url = "https://small.example/wp-content/uploads/2024/03/tide-table.jpg";
        assert_eq!(small_record(120).attachment_url.as_deref(), Some(url));
        assert_eq!((small_record(130).kind.as_str(), small_record(140).kind.as_str()), ("nav_menu_item", "wp_block"));
    }

    #[test]
    fn reads_what_older_versions_write() {
        let inside = "<title>a&#8217;s &#x26; &quot;b&quot;\r\n</title><category><![CDATA[Sea]]></category>\
            <category domain=\"tag\" nicename=\"a&amp;b\">A</category><category nicename=\"sea\">Sea</category>\
            <wp:post_date>-0001-11-30 00:00:00</wp:post_date><wp:post_date_gmt>0000-00-00 00:00:00</wp:post_date_gmt>\
            <wp:post_name>\n\tx </wp:post_name><wp:post_parent/><wp:comment></wp:comment>";
        let (items, _) = items(post(inside).as_bytes()).expect("the file is sound");
        let [ExportItem::Record(record)] = &*items else { panic!("one record is due") };
        assert_eq!((record.title.as_str(), record.slug.as_str()), ("a’s & \"b\"\n", "x"));
        assert_eq!((record.date_local, record.date_utc, record.parent), (None, None, 0));
        let terms: Vec<(&str, &str)> = record.terms.iter().map(|t| (t.taxonomy.as_str(), t.slug.as_str())).collect();
        assert_eq!(terms, [("post_tag", "a&b"), ("category", "sea")]);
        assert_eq!(record.comments.len(), 1);
    }

    #[test]
    fn ends_when_the_sink_does_and_tells_progress() {
        let mut received = Vec::new();
        let mut left = 3;
        let sink = |_| {
            left -= 1;
            if left == 0 { Err("full") } else { Ok(()) }
        };
        let ended = read(SMALL, &WxrLimits::default(), |bytes| received.push(bytes), sink);
        assert!(matches!(ended, Err(ReadError::Sink("full"))));
        assert!(received.len() == 2 && received.is_sorted());

        let (mut last, sink) = (0, |_| Ok::<(), Infallible>(()));
        assert!(read(SMALL, &WxrLimits::default(), |bytes| last = bytes, sink).is_ok());
        assert_eq!(last, SMALL.len() as u64);
    }

    /// Counts in the text itself, without a parser, on a file that others made.
    #[test]
    fn agrees_with_a_plain_count_of_a_foreign_export() {
        // The file is not part of this repository; a working copy may be at any depth beside it.
        let places = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let found = places.map(|place| place.join("shared/data/themeunittestdata.wordpress.xml")).find(|p| p.exists());
        let Some(path) = found else { return };
        let text = std::fs::read_to_string(path).expect("what exists can be read");
        let (items, summary) = items(text.as_bytes()).expect("the file is sound");
        let count = |needle: &str| text.matches(needle).count() as u64;
        let value = |item: &str, name: &str| {
            let held = item.split_once(&format!("<{name}>"))?.1.split_once('<')?;
            let held = if held.0.is_empty() { held.1.strip_prefix("![CDATA[")?.split_once("]]>")?.0 } else { held.0 };
            Some(held.to_owned())
        };
        let mut records = BTreeMap::<(String, String), u64>::new();
        for item in text.split("<item>").skip(1) {
            let key = value(item, "wp:post_type").zip(value(item, "wp:status")).expect("every item has both");
            *records.entry(key).or_default() += 1;
        }
        assert_eq!(summary.records, records);
        assert_eq!((summary.authors, summary.comments), (count("<wp:author>"), count("<wp:comment>")));
        let terms = [("category", "<wp:category>"), ("nav_menu", "<wp:term>"), ("post_tag", "<wp:tag>")];
        let terms: BTreeMap<String, u64> = terms.iter().map(|(name, tag)| ((*name).to_owned(), count(tag))).collect();
        assert_eq!(summary.terms, terms);
        let (mut meta, mut mentions) = (0, 0);
        for item in &items {
            if let ExportItem::Record(record) = item {
                meta += record.meta.len() as u64;
                mentions += record.terms.len() as u64;
            }
        }
        assert_eq!((meta, mentions), (count("<wp:postmeta>"), count("<category domain=")));
    }
}
