//! Parts of a content that show other rows: galleries, lists of records or terms, queries, menus, synced patterns.
//!
//! Files: `makers` is the table of renderers; `bindings` values that a block takes from a record, `players` pictures and
//! players, `lists` lists of rows, `loops` a query and the blocks inside it for each record, `paging` its pages, `terms` a query
//! of terms, `comments` those of a record, `people` authors, `phrases` the program's own texts, `trail` the way to a record,
//! `rows` reads of rows, `reading` how long a record takes to read, `menus` navigation, `calendar` a month, `social` drawings
//! and links to accounts, `site` the site itself, `wrapper` the style and classes of a block. The blocks and shortcodes, their
//! renderers and resources are declared (`[blocks]`, `[shortcodes]`). Each reads for itself, so a record with such parts costs
//! statements of its own, and its document is cached until a row that was read for it changes. Of records and patterns only published ones
//! are shown, to every caller; of pictures those that the reader may see. An author's text in a part is a value: [`Html`]
//! escapes it where it is written, and no address is a script. The parts of one content are limited ([`Budget`]).

mod bindings;
mod calendar;
mod comments;
pub mod data;
mod lists;
mod loops;
mod makers;
mod menus;
mod paging;
mod people;
mod phrases;
mod players;
mod reading;
mod rows;
mod site;
mod social;
mod terms;
mod trail;
mod wrapper;

pub use self::makers::MAKERS;
pub use self::phrases::phrases;
use crate::access::policy;
use crate::records::{Record, eq, txt};
use crate::registry::resource::Resource;
use crate::render::Item;
use crate::scope::Scope;
use cms_declaration::{Declaration, DynamicBlock};
use cms_storage::plan::{Cond, ReadPlan, Row};
use cms_text::blocks::{self, Block, BlockOptions, DynamicRenderer, has_blocks, parse};
use cms_text::dates;
use cms_text::dress::{self, UniqueNames};
use cms_text::html::Html;
use cms_text::render::{self, RenderOptions};
use cms_text::shortcode::Shortcode;
use cms_text::time::{format_local, parse_datetime};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Pieces in pieces in pieces: beyond that, nothing is shown.
const MOST_DEPTH: u8 = 4;
/// Parts of one content, those in its pieces included: beyond that, nothing is shown.
const MOST_PARTS: u32 = 200;
/// Lists and counts that the parts of one content read.
const MOST_READS: u32 = 1_000;
/// Rows that they show, those of queries in queries included.
const MOST_SHOWN: u64 = 2_000;
/// Bytes of other records' texts that they render: contents of patterns, and the sources of excerpts.
const MOST_TEXT: usize = 1 << 20;
/// Most rows of a list, whatever an author requests.
const MOST_ROWS: u64 = 100;
/// Months or years of an archive at most.
const MOST_SPANS: usize = 1000;

/// A dynamic block or shortcode as its renderer gets it: the author's attributes, and where the rows are.
pub struct DynamicPart<'a> {
    item: &'a Item<'a>,
    /// The full name of the block, or the name of the shortcode.
    name: &'a str,
    /// The resource that is declared for it.
    of: Option<&'a Resource>,
    /// The source that is declared for it.
    source: Option<&'a str>,
    /// The content inside it; shortcodes and single parts have none.
    block: Option<&'a Block<'a>>,
    attributes: Value,
    within: PartContext<'a>,
    /// Bytes of the budget that were left when it began.
    left: usize,
}

/// The surroundings of a part.
#[derive(Clone, Copy)]
struct PartContext<'a> {
    /// How many patterns it is inside.
    depth: u8,
    budget: &'a Budget<'a>,
    /// The record whose content this is, whatever it contains.
    current: i64,
    /// The blocks around it that others refer to, the innermost first.
    around: Option<&'a BlockFrame<'a>>,
    /// The record that a query shows here; none: the record whose content this is.
    shown: Option<&'a loops::LoopRecord<'a>>,
    /// The comment that a list shows here.
    comment: Option<&'a Value>,
    /// Whether the record of that comment takes more of them.
    open: bool,
    /// The term that a list shows here, and what it is a term of.
    term: Option<(&'a Resource, &'a Value)>,
    /// The records whose content is being shown.
    shows: Option<&'a RecordFrame<'a>>,
}

/// A block that others inside it refer to.
struct BlockFrame<'a> {
    attributes: &'a Value,
    outer: Option<&'a BlockFrame<'a>>,
}

/// A record whose content is being shown.
struct RecordFrame<'a> {
    id: i64,
    outer: Option<&'a RecordFrame<'a>>,
}

impl<'a> PartContext<'a> {
    fn top(item: &Item<'_>, budget: &'a Budget<'a>) -> PartContext<'a> {
        PartContext {
            depth: 0,
            budget,
            current: item.record.id(),
            around: None,
            shown: None,
            comment: None,
            open: false,
            term: None,
            shows: None,
        }
    }
}

impl<'a> PartContext<'a> {
    /// An attribute of the innermost block around that has it.
    fn around(&self, key: &str) -> Option<&'a Value> {
        std::iter::successors(self.around, |frame| frame.outer).find_map(|frame| frame.attributes.get(key))
    }

    /// Whether the content of a record is being shown.
    fn is_showing(&self, id: i64) -> bool {
        std::iter::successors(self.shows, |shows| shows.outer).any(|shows| shows.id == id)
    }

    /// The record that a query shows here, or the one whose content this is.
    fn record(&self) -> i64 {
        self.shown.map_or(self.current, loops::LoopRecord::id)
    }
}

/// Periods of archives, by the resource and whether they are years.
type Archives = HashMap<(String, bool), Rc<[lists::ArchivePeriod]>>;

/// The limits that the parts of one content have left. A small content can request a large page: a query in a query shows
/// its content ten thousand times.
struct Budget<'a> {
    parts: Cell<u32>,
    reads: Cell<u32>,
    rows: Cell<u64>,
    /// Bytes of texts that are rendered.
    text: Cell<usize>,
    /// Bytes of HTML; `server.max_rendered` at first.
    bytes: Cell<usize>,
    /// Whether something was left out.
    cut: Cell<bool>,
    /// The names that the document has used.
    unique: &'a UniqueNames,
    /// Dates that were read: a content may show the same calendar many times.
    dates: RefCell<Vec<(ReadPlan, Rc<[Row]>)>>,
    /// The archives that it has shown, by resource and whether by year.
    archives: RefCell<Archives>,
}

impl<'a> Budget<'a> {
    fn of(item: &Item<'a>) -> Budget<'a> {
        let bytes = item.scope.registry.declaration.server.max_rendered;
        Budget {
            parts: Cell::new(MOST_PARTS),
            reads: Cell::new(MOST_READS),
            rows: Cell::new(MOST_SHOWN),
            text: Cell::new(MOST_TEXT),
            bytes: Cell::new(bytes.as_usize()),
            cut: Cell::new(false),
            unique: item.unique,
            dates: RefCell::default(),
            archives: RefCell::default(),
        }
    }

    /// One of what is counted; `None` when nothing of it is left.
    fn spend_one(&self, left: &Cell<u32>) -> Option<()> {
        let rest = left.get().checked_sub(1);
        rest.map_or_else(|| self.cut.set(true), |rest| left.set(rest));
        rest.map(drop)
    }

    /// Takes bytes of a text before it is rendered; `None` when fewer are left, and then nothing is left for the next.
    fn render(&self, bytes: usize) -> Option<()> {
        let rest = self.text.get().checked_sub(bytes);
        self.cut.set(self.cut.get() || rest.is_none());
        self.text.set(rest.unwrap_or(0));
        rest.map(drop)
    }

    /// Counts rows; where they are the last ones, what follows is left out.
    fn show(&self, rows: u64) {
        let rest = self.rows.get().saturating_sub(rows);
        self.cut.set(self.cut.get() || rest == 0);
        self.rows.set(rest);
    }

    /// Whether so many bytes, not counted yet, are within the budget.
    fn allows(&self, bytes: usize) -> bool {
        let within = bytes <= self.bytes.get();
        self.cut.set(self.cut.get() || !within);
        within
    }

    /// The periods of an archive, read and formatted once for a content.
    fn archive(
        &self,
        of: &Resource,
        yearly: bool,
        read: impl FnOnce() -> Vec<lists::ArchivePeriod>,
    ) -> Rc<[lists::ArchivePeriod]> {
        let key = (of.name.clone(), yearly);
        let known = self.archives.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let made: Rc<[lists::ArchivePeriod]> = read().into();
            self.archives.borrow_mut().insert(key, made.clone());
            made
        })
    }

    /// Counts the HTML that a part makes: each byte once, also where it was made by a part within. What is too large is
    /// left out.
    fn count<T: AsRef<str>>(&self, make: impl FnOnce() -> Option<T>) -> Option<T> {
        let before = self.bytes.get();
        let html = make()?;
        let counted = before - self.bytes.get();
        let rest = html.as_ref().len().saturating_sub(counted);
        let within = self.allows(rest);
        self.bytes.set(self.bytes.get().saturating_sub(rest));
        within.then_some(html)
    }
}

/// Makes the HTML of a part; `None` shows nothing.
type PartRenderer = fn(&DynamicPart<'_>) -> Option<Html>;

/// Whether rendering a content reads other rows.
pub fn reads_other_rows(declared: &Declaration, content: &str) -> bool {
    fn within(declared: &Declaration, block: &Block) -> bool {
        made_of(declared, block).is_some()
            || bindings::of(block).is_some()
            || block.inner().any(|inner| within(declared, inner))
    }
    let code = |name: &String| content.contains(&format!("[{name}"));
    (content.contains('[') && declared.shortcodes.keys().any(code))
        || (has_blocks(content) && parse(content).iter().any(|block| within(declared, block)))
}

/// A content as HTML, with its parts that show other rows. Where those exceed the limits, a comment at
/// the end says so.
pub fn content(item: &Item<'_>, raw: &str, options: &RenderOptions<'_>) -> String {
    let budget = Budget::of(item);
    let mut html = nested(item, raw, options, PartContext::top(item, &budget));
    if budget.cut.get() {
        html.push_str("\n<!-- Some blocks and shortcodes are left out: this content exceeds a limit. -->");
    }
    html
}

/// One block as a page shows it; `None`: nothing makes such a block.
pub fn block(item: &Item<'_>, block_name: &str, attributes: Value) -> Option<String> {
    let made = item.scope.registry.declaration.blocks.get(block_name)?;
    let budget = Budget::of(item);
    let html =
        make(item, (block_name, made), None, attributes.clone(), PartContext::top(item, &budget)).unwrap_or_default();
    let html = anchored(made, html, &attributes);
    Some(dress::apply_block_attributes(block_name, &attributes, html, &block_options(item, None, &budget)).into())
}

/// The declared renderer of a block; `None`: only the markup inside it is shown.
fn made_of<'d>(declared: &'d Declaration, block: &Block<'_>) -> Option<&'d DynamicBlock> {
    let made = declared.blocks.get(block.name.as_deref()?)?;
    let wanted = |key: &String| {
        block.attrs.is_some_and(|json| json.contains(key.as_str())) && !block.attributes()[key].is_null()
    };
    made.when.as_ref().is_none_or(wanted).then_some(made)
}

/// The HTML of a block with its anchor as id. What only shows the content of others has no element of its own.
fn anchored(made: &DynamicBlock, html: Html, attributes: &Value) -> Html {
    match made.renderer.as_str() {
        "reusable_block" | "query" | "frame" => html,
        _ => dress::with_id(html, attributes["anchor"].as_str().unwrap_or("")),
    }
}

fn block_options<'a>(
    item: &Item<'a>,
    dynamic: Option<DynamicRenderer<'a>>,
    budget: &'a Budget<'a>,
) -> BlockOptions<'a> {
    BlockOptions { dynamic, styles: Some(&item.scope.registry.block_styles), unique: Some(budget.unique), around: None }
}

fn nested(item: &Item<'_>, raw: &str, options: &RenderOptions<'_>, within: PartContext<'_>) -> String {
    let declared = &item.scope.registry.declaration;
    let blocks = |block: &Block, added: &str| of_block(item, block, added, within);
    let shortcodes = |code: &Shortcode| {
        let made = declared.shortcodes.get(code.name)?;
        let attributes = code.attrs().map(|(k, v)| (k.to_lowercase(), Value::from(v))).collect();
        make(item, (code.name, made), None, Value::Object(attributes), within)
    };
    let unique = Some(within.budget.unique);
    render::render_content(
        raw,
        &RenderOptions { shortcodes: Some(&shortcodes), blocks: Some(&blocks), unique, ..*options },
    )
}

/// The HTML of a block; `None`: no renderer is declared for it.
fn of_block(item: &Item<'_>, block: &Block<'_>, added: &str, within: PartContext<'_>) -> Option<Html> {
    let Some(made) = made_of(&item.scope.registry.declaration, block) else {
        return bindings::of(block).and_then(|bound| bindings::shown(item, block, &bound, within));
    };
    let mut attributes = block.attributes();
    if !added.is_empty() {
        let own = attributes["className"].as_str().unwrap_or_default();
        attributes["className"] = Value::from(format!("{own} {added}").trim_start());
    }
    let name = block.name.as_deref().unwrap_or_default();
    let html = make(item, (name, made), Some(block), attributes.clone(), within).unwrap_or_default();
    Some(anchored(made, html, &attributes))
}

fn make(
    item: &Item<'_>,
    (name, made): (&str, &DynamicBlock),
    block: Option<&Block<'_>>,
    attributes: Value,
    within: PartContext<'_>,
) -> Option<Html> {
    let budget = within.budget;
    budget.spend_one(&budget.parts)?;
    if budget.bytes.get() == 0 {
        budget.cut.set(true);
        return None;
    }
    let maker = MAKERS.iter().find(|named| named.is.name == made.renderer)?.run;
    let of = made.resource.as_deref().and_then(|of| item.scope.registry.resource(of));
    budget.count(|| {
        maker(&DynamicPart {
            item,
            name,
            of,
            source: made.source.as_deref(),
            block,
            attributes,
            within,
            left: budget.bytes.get(),
        })
    })
}

// ---------------------------------------------------------------------------------------------------- reads

impl DynamicPart<'_> {
    fn text(&self, key: &str) -> &str {
        self.attributes[key].as_str().unwrap_or("")
    }

    fn flag(&self, key: &str) -> bool {
        let value = &self.attributes[key];
        *value == true || matches!(value.as_str(), Some("true" | "1"))
    }

    fn number(&self, key: &str, otherwise: u64) -> u64 {
        let value = &self.attributes[key];
        // Numbers of a block's type may be written with a fraction.
        let whole = || value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..1e9).contains(n)).map(|n| n as u64);
        value.as_u64().or_else(whole).or_else(|| value.as_str()?.trim().parse().ok()).unwrap_or(otherwise)
    }

    /// A moment of the wall clock as `strftime` forms it, in the site's language.
    fn format_date(&self, local: i64, form: &str) -> String {
        dates::format_strftime(local, form, self.item.scope.settings.locale())
    }

    /// The record that the block shows.
    fn reference(&self) -> Option<i64> {
        i64::try_from(self.number("ref", 0)).ok().filter(|id| *id != 0)
    }

    /// Numbers in a list, or in a text between commas.
    fn numbers(&self, key: &str) -> Vec<i64> {
        match &self.attributes[key] {
            Value::String(text) => text.split(',').filter_map(|n| n.trim().parse().ok()).collect(),
            Value::Array(list) => list.iter().filter_map(|v| v.as_i64().or_else(|| v["id"].as_i64())).collect(),
            one => one.as_i64().into_iter().collect(),
        }
    }

    /// The content inside the block, rendered as `within` says.
    fn inside(&self, within: PartContext<'_>) -> Html {
        self.block.map_or_else(Html::new, |block| Html::rendered(render_inner(self.item, block, within)))
    }

    /// Whether a list that has made so much goes on with another row.
    fn has_room_for_row(&self, made: &Html) -> bool {
        let budget = self.within.budget;
        let counted = self.left - budget.bytes.get();
        budget.allows(made.len().saturating_sub(counted))
    }
}

/// The content inside a block, rendered as `within` says.
fn render_inner(item: &Item<'_>, block: &Block<'_>, within: PartContext<'_>) -> String {
    let dynamic = |block: &Block, added: &str| of_block(item, block, added, within);
    blocks::render_inside(block, &block_options(item, Some(&dynamic), within.budget))
}

/// Records that everybody sees whole: published ones without a password.
fn seen_by_all(scope: &Scope) -> Cond {
    Cond::All(vec![policy::published(scope), eq("password", txt(""))])
}

/// Rows in a state that everybody sees.
fn published(part: &DynamicPart<'_>) -> Cond {
    policy::published(part.item.scope)
}

/// The title of a document, which is HTML.
fn title_of(part: &DynamicPart<'_>, document: &Value) -> Html {
    let title = document["title"]["rendered"].as_str().filter(|title| !title.is_empty());
    let mut html = Html::new();
    match title {
        Some(title) => html.html(&Html::rendered(title)),
        None => html.text(part.item.scope.phrase("(no title)")),
    };
    html
}

/// HTML in a box.
fn boxed(attributes: &[(&'static str, String)], inside: &Html) -> Html {
    let mut html = Html::new();
    html.raw("<div").attrs(attributes).raw(">").html(inside).raw("</div>");
    html
}

/// A rendered text without the paragraph around it.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("<p>").and_then(|inside| inside.strip_suffix("</p>")).unwrap_or(text)
}

/// A moment of a document, as a machine and as people read it; a link to an address, if there is one.
fn time_of(part: &DynamicPart<'_>, date: &Value, class: &str, link: Option<&str>) -> Html {
    let (local, machine) = moment_of(part.item, date);
    let shown = date_of(part, local);
    let mut html = Html::new();
    html.raw("<time").attr("datetime", &machine).attr_if("class", class).raw(">");
    match link {
        Some(link) => html.raw("<a").attr("href", link).raw(">").text(&shown).raw("</a>"),
        None => html.text(&shown),
    };
    html.raw("</time>");
    html
}

/// A moment of the site's wall clock in the form that the part wants, or in the site's.
fn date_of(part: &DynamicPart<'_>, local: i64) -> String {
    const AGO: &str = "human-diff";
    let scope = part.item.scope;
    match part.text("format") {
        AGO => {
            let seconds = scope.local_now() - local;
            scope.storage.limit_validity(scope.now.saturating_add(dates::time_ago_lifetime(seconds)));
            let ([one, many], count) = dates::time_ago(seconds);
            scope.plural(one, many, count)
        }
        "" => dates::format_php_date(local, scope.settings.text("date_format"), scope.settings.locale()),
        form => dates::format_php_date(local, form, scope.settings.locale()),
    }
}

/// A moment of a document in the site's zone: its seconds, and as machines read it.
fn moment_of(item: &Item<'_>, date: &Value) -> (i64, String) {
    let zone = &item.scope.settings.zone;
    let moment = parse_datetime(date.as_str().unwrap_or(""));
    let local = moment.map_or(0, |m| m.in_zone(zone).0);
    let offset = local - zone.local_to_utc(local);
    let (sign, offset) = (if offset < 0 { '-' } else { '+' }, offset.abs());
    (local, format!("{}{sign}{:02}:{:02}", format_local(local), offset / 3600, offset / 60 % 60))
}

// ---------------------------------------------------------------------------------------------------- makers

/// Shows what is inside it, for which it is the frame.
fn frame(part: &DynamicPart<'_>) -> Option<Html> {
    let frame = BlockFrame { attributes: &part.attributes, outer: part.within.around };
    Some(part.inside(PartContext { around: Some(&frame), ..part.within }))
}

/// A reusable piece: the content of another record.
fn render_reusable_block(part: &DynamicPart<'_>) -> Option<Html> {
    let frame = BlockFrame { attributes: &part.attributes, outer: part.within.around };
    let within = PartContext { around: Some(&frame), ..part.within };
    content_of(part, part.of?, part.reference()?, within, true)
}

/// The content of another record, if everybody may see it; `inline`: as a part of the content around it.
fn content_of(
    part: &DynamicPart<'_>,
    resource: &Resource,
    wanted: i64,
    within: PartContext<'_>,
    inline: bool,
) -> Option<Html> {
    if within.is_showing(wanted) || within.depth >= MOST_DEPTH {
        return None;
    }
    let row = part.whole_row(resource, wanted, &seen_by_all(part.item.scope))?;
    let record = Record { resource, row: &row };
    within.budget.render(record.text("content").len())?;
    let item = part.item.showing(record);
    let shows = RecordFrame { id: wanted, outer: within.shows };
    let within = PartContext { depth: within.depth + 1, shows: Some(&shows), ..within };
    let options = RenderOptions { part: inline, ..super::read::options(&item) };
    Some(Html::rendered(nested(&item, record.text("content"), &options, within)))
}

/// The opening and closing tag of a heading, without the end of the first; level 0 is a paragraph.
fn heading(level: u64) -> (&'static str, &'static str) {
    const TAGS: [(&str, &str); 7] = [
        ("<p", "</p>"),
        ("<h1", "</h1>"),
        ("<h2", "</h2>"),
        ("<h3", "</h3>"),
        ("<h4", "</h4>"),
        ("<h5", "</h5>"),
        ("<h6", "</h6>"),
    ];
    TAGS[usize::try_from(level).map_or(6, |level| level.min(6))]
}
