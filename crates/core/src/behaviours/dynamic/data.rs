//! A content as data: its blocks in their order, with their attributes and as HTML.

use super::{Budget, PartContext, nested, seen_by_all};
use crate::records::{self, Record, eq};
use crate::registry::resource::Resource;
use crate::render::Item;
use crate::request::fields::PatternView;
use cms_storage::plan::{Cond, DbValue, ReadPlan, Row};
use cms_text::block_source::SourceReading;
use cms_text::blocks::{Block, parse};
use cms_text::render::RenderOptions;
use serde_json::{Map, Value, json};
use std::cell::Cell;

/// Most blocks of a content, those of synced patterns included. Further ones are left out.
const MOST_BLOCKS: usize = 10_000;

/// How deep synced patterns are in each other.
const DEEPEST: usize = 8;

/// The name of content that is outside of any block.
pub const FREEFORM: &str = "core/freeform";

/// A block with its attributes.
pub struct BlockData {
    /// With its namespace: `core/heading`.
    pub name: String,
    pub attributes: Map<String, Value>,
    pub inner: Vec<BlockData>,
    /// As the server shows it; `None` where that was not requested, or where it exceeds what a content may make.
    html: Option<String>,
    /// Its type is not declared.
    pub unknown: bool,
}

/// How a content is read.
#[derive(Clone, Copy)]
pub struct BlockReading {
    pub reading: SourceReading,
    /// Whether blocks are shown as HTML, too.
    pub html: bool,
    /// Whether a synced pattern has its blocks inside it.
    pub patterns: bool,
}

/// The blocks of the content that an item shows: `{name, attributes, inner, html}` each.
pub fn shown(item: &Item<'_>, patterns: PatternView) -> Value {
    let reading =
        BlockReading { reading: SourceReading::Editor, html: true, patterns: patterns == PatternView::Resolved };
    blocks(item, item.record.text("content"), reading).iter().map(document).collect()
}

fn document(block: &BlockData) -> Value {
    let inner: Vec<Value> = block.inner.iter().map(document).collect();
    json!({"name": block.name, "attributes": block.attributes, "inner": inner, "html": block.html})
}

/// The blocks of a content. Text outside of blocks is a `core/freeform`; blocks that are hidden are left out.
pub fn blocks(item: &Item<'_>, raw: &str, how: BlockReading) -> Vec<BlockData> {
    let budget = Budget::of(item);
    let reader = ContentReader { how, budget: &budget, left: Cell::new(MOST_BLOCKS) };
    reader.content(item, raw, &[item.record.id()])
}

/// Reads the blocks of one content.
struct ContentReader<'r> {
    how: BlockReading,
    budget: &'r Budget<'r>,
    /// How many further blocks are read.
    left: Cell<usize>,
}

impl ContentReader<'_> {
    /// The blocks of a text that is a content of its own. `within`: the records whose contents are being read.
    fn content(&self, item: &Item<'_>, text: &str, within: &[i64]) -> Vec<BlockData> {
        let blocks = parse(text);
        // A content without blocks gets its paragraphs, text between blocks does not.
        let part = !matches!(blocks.as_slice(), [Block { name: None, .. }]);
        self.level(item, &mut blocks.iter(), part, within)
    }

    fn level<'b>(
        &self,
        item: &Item<'_>,
        blocks: &mut dyn Iterator<Item = &'b Block<'b>>,
        part: bool,
        within: &[i64],
    ) -> Vec<BlockData> {
        let blank = |block: &Block<'_>| block.name.is_none() && block.inside().trim().is_empty();
        let shown = blocks.filter(|block| !block.is_hidden() && !blank(block));
        shown.map_while(|block| self.block(item, block, part, within)).collect()
    }

    /// `None`: there are too many.
    fn block(&self, item: &Item<'_>, block: &Block<'_>, part: bool, within: &[i64]) -> Option<BlockData> {
        self.left.set(self.left.get().checked_sub(1)?);
        let Some(name) = block.name.as_deref() else {
            let text = block.inside();
            let text = text.trim();
            let attributes = linked(item, Map::from_iter([("content".to_owned(), json!(text))]));
            let html = self.html(item, text, part);
            return Some(BlockData { name: FREEFORM.to_owned(), attributes, inner: Vec::new(), html, unknown: false });
        };
        let declared = item.scope.registry.block_types().get(name);
        let attributes = match (declared, block.attributes()) {
            (Some(declared), _) => declared.read(block, self.how.reading),
            (None, Value::Object(own)) => own,
            (None, _) => Map::new(),
        };
        let attributes = linked(item, attributes);
        let html = self.html(item, &block.written(), true);
        let inner = match self.how.patterns.then(|| pattern(item, name, &attributes, within)).flatten() {
            None => self.level(item, &mut block.inner(), true, within),
            Some((resource, row)) => {
                let record = Record { resource, row: &row };
                let item = item.showing(record);
                self.content(&item, record.text("content"), &[within, &[record.id()]].concat())
            }
        };
        Some(BlockData { name: name.to_owned(), attributes, inner, html, unknown: declared.is_none() })
    }

    /// A piece of the content as the server shows it; `None`: the content has made as much as it may.
    fn html(&self, item: &Item<'_>, piece: &str, part: bool) -> Option<String> {
        if !self.how.html || !self.budget.allows(piece.len()) {
            return None;
        }
        let options = RenderOptions { part, ..super::super::read::options(item) };
        let shown = || Some(nested(item, piece, &options, PartContext::top(item, self.budget)));
        self.budget.count(shown).map(|html| html.trim().to_owned())
    }
}

/// The attributes of a block, whose links lead to where the site is read.
fn linked(item: &Item<'_>, mut attributes: Map<String, Value>) -> Map<String, Value> {
    if let Some(links) = &item.scope.registry.site.links {
        attributes.values_mut().for_each(|value| links.in_value(value));
    }
    attributes
}

/// The record whose content a block shows, if everybody may see it and it is not within itself.
fn pattern<'a>(
    item: &Item<'a>,
    name: &str,
    attributes: &Map<String, Value>,
    within: &[i64],
) -> Option<(&'a Resource, Row)> {
    let made = item.scope.registry.declaration.blocks.get(name).filter(|made| made.renderer == "reusable_block")?;
    let resource = item.scope.registry.resource(made.resource.as_deref()?)?;
    let id = attributes.get("ref").and_then(Value::as_i64).filter(|id| !within.contains(id))?;
    if within.len() > DEEPEST {
        return None;
    }
    let filter = [records::own_rows(resource), eq(&resource.key, DbValue::Int(id)), seen_by_all(item.scope)];
    let plan = records::plan(resource, Cond::All(filter.to_vec()));
    // A database that cannot be read shows nothing, as in contents.
    let rows = item.scope.snapshot().and_then(|snapshot| Ok(snapshot.rows(&ReadPlan { limit: Some(1), ..plan })?));
    Some((resource, rows.unwrap_or_default().pop()?))
}
