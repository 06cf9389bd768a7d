//! A cursor over an XML file nobody vouches for: elements one by one, in bounded memory, every fault with its line.
//!
//! Owns the refusals (DTD, other encodings, oversize, bad nesting), and what is read although it is no XML: unescaped
//! ampersands, entities of HTML, markup within texts. It knows no vocabulary: what an element means is the caller's
//! business.

use super::items::{FileFault, Warnings};
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::escape::{resolve_html5_entity, resolve_xml_entity};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error, Reader, XmlVersion};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The cost of a file at which it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WxrLimits {
    /// Bytes of the longest single text, comment or CDATA section.
    pub text: usize,
    /// Bytes of all texts of one record, its comments, metadata and mentions of terms included.
    pub record: usize,
    /// Elements inside one another.
    pub depth: usize,
    /// Items handed out in all.
    pub items: u64,
}

impl Default for WxrLimits {
    /// 64 MB a text, 256 MB a record, 64 levels, ten million items.
    fn default() -> Self {
        WxrLimits { text: 64 << 20, record: 256 << 20, depth: 64, items: 10_000_000 }
    }
}

pub(super) const HINT_CUT: &str = "the file looks cut short or damaged: export it again";
const HINT_ESCAPE: &str = "write &amp; and &lt;, or put the text into a CDATA section";
const HINT_SIZE: &str = "no valid export is this large: check that place in the file, or raise the limit";
pub(super) const HINT_UTF8: &str = "save the file as UTF-8, unpacked, and try again";
const HINT_DTD: &str = "exports carry no DOCTYPE: remove it";

/// Charged to a record for each of its parts, so that empty ones are not free.
const PART: usize = 256;
/// Most bytes of markup: names and attributes are short, and open names are stored while their elements are open.
const LONGEST_TAG: usize = 64 << 10;
/// A buffer grown beyond this is given back after use.
const KEPT_BUFFER: usize = 1 << 20;

/// An element that has just been entered.
#[derive(Debug)]
pub(super) struct XmlTag {
    pub name: String,
    pub line: u64,
    attributes: Vec<(String, String)>,
}

impl XmlTag {
    /// The value of an attribute, entities resolved.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The element's start as markup.
    fn write(&self, text: &mut String) {
        text.push('<');
        text.push_str(&self.name);
        for (key, value) in &self.attributes {
            text.push_str(&format!(" {key}=\"{}\"", value.replace('&', "&amp;").replace('"', "&quot;")));
        }
        text.push('>');
    }
}

/// See the module. The caller is always inside one element: it walks the children with [`XmlCursor::child`], and for each
/// of them calls `child` itself until `None`, or [`XmlCursor::text`], or [`XmlCursor::skip`].
pub(super) struct XmlCursor<R> {
    reader: Reader<BudgetReader<R>>,
    buffer: Vec<u8>,
    limits: WxrLimits,
    /// Where each open element begins, outermost first.
    open: Vec<u64>,
    line: u64,
    spent: usize,
    pub warnings: Warnings,
}

enum WxrEvent {
    Enter(XmlTag),
    Leave,
    /// Text, a comment or an instruction; `true` if there was text other than blanks.
    Inert(bool),
    Eof,
}

impl<R: BufRead> XmlCursor<R> {
    pub fn new(input: R, limits: WxrLimits) -> Self {
        let mut reader = Reader::from_reader(BudgetReader { input, bytes: 0, line: 1, budget: 0 });
        reader.config_mut().expand_empty_elements = true;
        reader.config_mut().allow_dangling_amp = true;
        let warnings = Warnings::default();
        XmlCursor { reader, buffer: Vec::new(), limits, open: Vec::new(), line: 1, spent: 0, warnings }
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.reader.get_ref().bytes
    }

    /// The document's one outermost element, entered; `None` if something else comes first or nothing at all.
    pub fn root(&mut self) -> Result<Option<XmlTag>, FileFault> {
        loop {
            match self.step(None)? {
                WxrEvent::Enter(tag) => return Ok(Some(tag)),
                WxrEvent::Inert(false) => {}
                WxrEvent::Inert(true) | WxrEvent::Leave | WxrEvent::Eof => return Ok(None),
            }
        }
    }

    /// The next child element, entered; `None` once the current element is left. Text between children is dropped.
    pub fn child(&mut self) -> Result<Option<XmlTag>, FileFault> {
        loop {
            match self.step(None)? {
                WxrEvent::Enter(tag) => return Ok(Some(tag)),
                WxrEvent::Leave => return Ok(None),
                WxrEvent::Inert(_) => {}
                WxrEvent::Eof => return Err(self.cut()),
            }
        }
    }

    /// The text of the current element, which is left. Line ends become `\n`. Elements within it are part of the text.
    pub fn text(&mut self) -> Result<String, FileFault> {
        let mut text = String::new();
        let mut within: Vec<String> = Vec::new();
        loop {
            match self.step(Some(&mut text))? {
                WxrEvent::Leave => match within.pop() {
                    Some(name) => text.extend(["<", "/", &name, ">"]),
                    None => break,
                },
                WxrEvent::Inert(_) => {}
                WxrEvent::Enter(tag) => {
                    self.warn(format!("<{}> is read as a part of the text: it is not escaped", brief(&tag.name)));
                    tag.write(&mut text);
                    within.push(tag.name);
                }
                WxrEvent::Eof => return Err(self.cut()),
            }
            if text.len() > self.limits.text {
                return Err(EventPlace { line: self.line, limit: self.limits.text }.too_long());
            }
        }
        self.charge(text.len())?;
        Ok(text)
    }

    /// Notes what is read otherwise than it is written, at the latest event.
    pub fn warn(&mut self, message: String) {
        self.warnings.add(self.line, message);
    }

    /// Leaves the current element and whatever it holds.
    pub fn skip(&mut self) -> Result<(), FileFault> {
        let above = self.open.len().saturating_sub(1);
        while self.open.len() > above {
            if let WxrEvent::Eof = self.step(None)? {
                return Err(self.cut());
            }
        }
        Ok(())
    }

    /// Reads on behind the root: nothing but blanks and comments may follow.
    pub fn finish(&mut self) -> Result<(), FileFault> {
        loop {
            match self.step(None)? {
                WxrEvent::Eof => return Ok(()),
                WxrEvent::Inert(false) => {}
                _ => {
                    return Err(self.fault("something follows the end of the document".into(), "remove it"));
                }
            }
        }
    }

    /// Starts the account of a new record.
    pub fn begin_record(&mut self) {
        self.spent = 0;
    }

    /// Enters one more part into the account of the record.
    pub fn part(&mut self) -> Result<(), FileFault> {
        self.charge(PART)
    }

    /// An error at the latest event.
    pub fn fault(&self, message: String, hint: &'static str) -> FileFault {
        FileFault { line: self.line, message, hint }
    }

    /// Counts bytes that the record stores besides its texts, which count by themselves.
    pub fn charge(&mut self, bytes: usize) -> Result<(), FileFault> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.limits.record {
            return Err(self.fault(format!("a record holds more than {} bytes", self.limits.record), HINT_SIZE));
        }
        Ok(())
    }

    fn cut(&self) -> FileFault {
        let message = match self.open.last() {
            Some(line) => format!("the file ends inside the element that begins in line {line}"),
            None => "the file ends early".into(),
        };
        self.fault(message, HINT_CUT)
    }

    /// One event. Its text is added to `text`, if a caller wants it.
    fn step(&mut self, text: Option<&mut String>) -> Result<WxrEvent, FileFault> {
        if self.buffer.capacity() > KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        self.buffer.clear();
        let meter = self.reader.get_mut();
        self.line = meter.line;
        meter.budget = self.limits.text.saturating_add(LONGEST_TAG);
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(error) => return Err(explain(error, self.line, &self.buffer, &self.limits)),
        };
        let place = EventPlace { line: self.line, limit: self.limits.text };
        let warnings = &mut self.warnings;
        match event {
            Event::Start(start) => {
                let tag = place.tag(&start, warnings)?;
                self.open.push(self.line);
                if self.open.len() > self.limits.depth {
                    let message = format!("elements are nested more than {} deep", self.limits.depth);
                    return Err(self.fault(message, HINT_SIZE));
                }
                Ok(WxrEvent::Enter(tag))
            }
            Event::End(_) => {
                self.open.pop();
                Ok(WxrEvent::Leave)
            }
            Event::Text(part) => {
                // The rest of a line behind an ampersand that begins no entity arrives as a text of its own.
                if part.starts_with('&') && text.is_some() {
                    warnings.add(place.line, "an & is read as itself: it is not escaped".into());
                }
                place.add(text, &part.xml10_content(), warnings)
            }
            Event::CData(part) => place.add(text, &part.xml10_content(), warnings),
            Event::GeneralRef(name) => {
                let mut utf8 = [0; 4];
                let resolved = match name.resolve_char_ref() {
                    Ok(Some(char)) => Some(&*char.encode_utf8(&mut utf8)),
                    Ok(None) => resolve_xml_entity(&name),
                    Err(_) => None,
                };
                match resolved {
                    Some(resolved) => place.add(text, resolved, warnings),
                    None => {
                        let read = text.is_some().then(|| unknown_entity(&name, place.line, warnings));
                        place.add(text, read.as_deref().unwrap_or("&"), warnings)
                    }
                }
            }
            Event::Decl(decl) => match decl.encoding() {
                Some(Ok(name)) if !name.eq_ignore_ascii_case("utf-8") && !name.eq_ignore_ascii_case("utf8") => {
                    Err(place.fault(format!("the file says that it is encoded as {}", brief(&name)), HINT_UTF8))
                }
                _ => Ok(WxrEvent::Inert(false)),
            },
            Event::DocType(_) => Err(place.fault("the file declares a document type".into(), HINT_DTD)),
            Event::Comment(_) | Event::PI(_) | Event::Empty(_) => Ok(WxrEvent::Inert(false)),
            Event::Eof => Ok(WxrEvent::Eof),
        }
    }
}

/// The place of an event, for what can go wrong with it while it still borrows the buffer.
struct EventPlace {
    line: u64,
    limit: usize,
}

impl EventPlace {
    fn tag(&self, start: &BytesStart<'_>, warnings: &mut Warnings) -> Result<XmlTag, FileFault> {
        if start.len() > LONGEST_TAG {
            return Err(self.fault(format!("a tag is longer than {LONGEST_TAG} bytes"), HINT_SIZE));
        }
        let name = start.name().into_inner().to_owned();
        // The parser takes any run of bytes for a name.
        if name.is_empty() || name.chars().any(|char| char.is_ascii() && !is_name_char(char)) {
            return Err(self.fault(format!("<{}> is not an element", brief(&name)), HINT_ESCAPE));
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let Ok(attribute) = attribute else {
                warnings.add(self.line, format!("malformed attributes of <{}> are left out", brief(&name)));
                continue;
            };
            let value = match attribute.normalized_value(XmlVersion::Implicit1_0) {
                Ok(value) => value.into_owned(),
                Err(_) => {
                    warnings.add(self.line, format!("an attribute of <{}> is read as it is written", brief(&name)));
                    attribute.value.to_string()
                }
            };
            attributes.push((attribute.key.into_inner().to_owned(), value));
        }
        Ok(XmlTag { name, line: self.line, attributes })
    }

    fn add(&self, text: Option<&mut String>, part: &str, warnings: &mut Warnings) -> Result<WxrEvent, FileFault> {
        // XML has no such character, and not every database can store it.
        let whole = if text.is_some() && part.contains('\0') {
            warnings.add(self.line, "NUL characters are left out of a text".into());
            Cow::Owned(part.replace('\0', ""))
        } else {
            Cow::Borrowed(part)
        };
        let part = &*whole;
        let held = text.as_ref().map_or(0, |text| text.len());
        if held + part.len() > self.limit {
            return Err(self.too_long());
        }
        if let Some(text) = text {
            text.push_str(part);
        }
        // A byte order mark that arrives in pieces reaches us as text.
        Ok(WxrEvent::Inert(!part.trim_start_matches('\u{feff}').trim().is_empty()))
    }

    fn too_long(&self) -> FileFault {
        self.fault(format!("a text is longer than {} bytes", self.limit), HINT_SIZE)
    }

    fn fault(&self, message: String, hint: &'static str) -> FileFault {
        FileFault { line: self.line, message, hint }
    }
}

/// An entity of HTML is what it is there; any other one, and what only looks like one, is text.
fn unknown_entity(name: &str, line: u64, warnings: &mut Warnings) -> String {
    warnings.add(line, format!("&{}; is no entity of XML, and is read as in HTML", brief(name)));
    resolve_html5_entity(name).map_or_else(|| format!("&{name};"), str::to_owned)
}

/// Words a fault of the parser. `read` is what it had consumed since `line`.
fn explain(error: Error, line: u64, read: &[u8], limits: &WxrLimits) -> FileFault {
    let fault = |message: String, hint| FileFault { line, message, hint };
    match error {
        Error::Io(cause) if cause.get_ref().is_some_and(|cause| cause.is::<OverBudget>()) => {
            EventPlace { line, limit: limits.text }.too_long()
        }
        Error::Io(cause) => fault(format!("the file cannot be read: {cause}"), "check the file and its permissions"),
        Error::Syntax(SyntaxError::InvalidBangMarkup) => fault("<! begins no markup that is known".into(), HINT_ESCAPE),
        Error::Syntax(kind) => fault(format!("the file ends inside {}", unclosed(kind)), HINT_CUT),
        Error::IllFormed(kind) => ill_formed(kind, line),
        Error::Encoding(_) => {
            let sound = std::str::from_utf8(read).err().map_or(read.len(), |error| error.valid_up_to());
            let line = line + newlines(read.get(..sound).unwrap_or_default());
            FileFault { line, message: "the text is not UTF-8".into(), hint: HINT_UTF8 }
        }
        _ => fault("the markup is malformed".into(), HINT_CUT),
    }
}

fn unclosed(kind: SyntaxError) -> &'static str {
    match kind {
        SyntaxError::UnclosedCData => "a CDATA section",
        SyntaxError::UnclosedComment => "a comment",
        SyntaxError::UnclosedDoctype => "a DOCTYPE",
        SyntaxError::UnclosedPI | SyntaxError::UnclosedXmlDecl => "an instruction",
        _ => "a tag",
    }
}

fn ill_formed(kind: IllFormedError, line: u64) -> FileFault {
    let (message, hint) = match kind {
        IllFormedError::MismatchedEndTag { expected, found } => {
            (format!("</{}> found where </{}> is expected", brief(&found), brief(&expected)), HINT_CUT)
        }
        IllFormedError::UnmatchedEndTag(found) => (format!("</{}> closes nothing", brief(&found)), HINT_CUT),
        _ => ("the markup is malformed".into(), HINT_CUT),
    };
    FileFault { line, message, hint }
}

fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, ':' | '_' | '-' | '.')
}

/// A piece of the file fit for a message.
pub(super) fn brief(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut chars = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut brief: String = chars.by_ref().take(LONGEST).collect();
    if chars.next().is_some() {
        brief.push('…');
    }
    brief
}

/// Counts what is read and stops a single event from taking in more than its budget.
struct BudgetReader<R> {
    input: R,
    bytes: u64,
    line: u64,
    budget: usize,
}

#[derive(Debug)]
struct OverBudget;

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one event takes more than its budget")
    }
}

impl std::error::Error for OverBudget {}

impl<R: BufRead> BufRead for BudgetReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let available = self.input.fill_buf()?;
        if self.budget == 0 && !available.is_empty() {
            return Err(io::Error::other(OverBudget));
        }
        Ok(&available[..available.len().min(self.budget)])
    }

    fn consume(&mut self, amount: usize) {
        // The consumed bytes were buffered by `fill_buf`, so repeating it neither reads nor fails.
        if let Ok(available) = self.input.fill_buf() {
            self.line += newlines(available.get(..amount).unwrap_or(available));
        }
        self.bytes += amount as u64;
        self.budget = self.budget.saturating_sub(amount);
        self.input.consume(amount);
    }
}

impl<R: BufRead> Read for BudgetReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let taken = self.fill_buf()?.read(into)?;
        self.consume(taken);
        Ok(taken)
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
