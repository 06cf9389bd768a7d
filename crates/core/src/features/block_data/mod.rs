//! The blocks of a record in the shape of VIP's Block Data API, which front ends read.

use crate::access::policy;
use crate::behaviours::READS;
use crate::behaviours::dynamic::data::{self, BlockData, BlockReading, FREEFORM};
use crate::error::{ApiError, Code, refuse_if};
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::records::{self, Record, is_in};
use crate::registry::columns::ID;
use crate::registry::vocabulary::BehaviourEntry;
use crate::render::{Batch, Item};
use cms_declaration::Action;
use cms_storage::plan::{Cond, Row};
use cms_text::block_source::SourceReading;
use cms_text::blocks::has_blocks;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[sync_handler(
    "block_data.get",
    get,
    "Responds with the blocks of a record and their attributes, in the shape of VIP's Block Data API.",
)
.fails(&[Code::NoBlocks, Code::BlockFilters])];

/// The block whose attributes get the size of its picture.
const IMAGE: &str = "core/image";

/// `{blocks: [{name, attributes, innerBlocks?}], warnings?}`.
///
/// # Errors
/// A record that the caller may not read, or that a password locks; a content without blocks; arguments that do not fit.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let names = BlockFilter::asked(work)?;
    let id = work.allowed.args().int("id").unwrap_or(0);
    let unreadable = || ApiError::invalid_one("id", "Not the id of a record that you may read.");
    let found = policy::with_record(work.scope, id, |record| {
        let open = record.text("password").is_empty() || policy::may(work.scope, Action::Edit, record)?;
        let seen = is_seen_in_contents(work, record) || policy::may(work.scope, Action::Read, record)?;
        Ok::<_, ApiError>((open && seen).then(|| read(work, record)))
    })?;
    let blocks = found.transpose()?.flatten().ok_or_else(unreadable)?;
    let blocks = blocks.ok_or_else(|| ApiError::new(Code::NoBlocks))?;
    let sizes = sizes(work, &blocks)?;
    let mut unknown = BTreeSet::new();
    let shown = names.shown(&blocks, &sizes, &mut unknown);
    let mut document = Map::from_iter([("blocks".to_owned(), shown)]);
    if !unknown.is_empty() {
        let warning = |name: String| {
            format!("The type of the block `{name}` is not declared: only its own attributes are known.")
        };
        let warnings: Vec<String> = unknown.into_iter().map(warning).collect();
        document.insert("warnings".into(), json!(warnings));
    }
    Ok(Outcome::ok(Value::Object(document)))
}

/// Whether every content can show the record, so that everybody sees it: published patterns.
fn is_seen_in_contents(work: &Work<'_>, record: Record<'_>) -> bool {
    let registry = &work.scope.registry;
    let mut shown = registry.declaration.blocks.values().filter(|made| made.renderer == "reusable_block");
    shown.any(|made| made.resource.as_ref() == Some(&record.resource.name))
        && registry.status_is(record.text("status"), |status| status.public)
}

/// The blocks of a record; `None`: its content has none.
fn read(work: &Work<'_>, record: Record<'_>) -> Option<Vec<BlockData>> {
    let content = record.text("content");
    let batch = Batch::default();
    let item = Item::viewed(work.scope, record, &batch, READS, &work.unique);
    let how = BlockReading { reading: SourceReading::Vip, html: false, patterns: true };
    has_blocks(content).then(|| data::blocks(&item, content, how))
}

/// The blocks that a request names.
struct BlockFilter {
    include: Option<Vec<String>>,
    exclude: Vec<String>,
}

impl BlockFilter {
    /// Reads the arguments.
    ///
    /// # Errors
    /// A value is not names with commas between them; both arguments are given.
    fn asked(work: &Work<'_>) -> Result<BlockFilter, ApiError> {
        let read = |arg: &str| -> Result<Option<Vec<String>>, ApiError> {
            let Some(given) = work.allowed.args().explicit(arg).and_then(Value::as_str) else { return Ok(None) };
            let names: Vec<String> = given.split(',').map(|name| name.trim().to_owned()).collect();
            let part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            let named = |name: &String| name.split_once('/').is_some_and(|(space, name)| part(space) && part(name));
            match names.iter().all(named) {
                true => Ok(Some(names)),
                false => {
                    Err(ApiError::invalid_one(arg, "Names of blocks, such as core/heading, with commas between them."))
                }
            }
        };
        let (include, exclude) = (read("include")?, read("exclude")?);
        refuse_if(include.is_some() && exclude.is_some(), Code::BlockFilters)?;
        Ok(BlockFilter { include, exclude: exclude.unwrap_or_default() })
    }

    fn shown(&self, blocks: &[BlockData], sizes: &HashMap<i64, [Value; 2]>, unknown: &mut BTreeSet<String>) -> Value {
        let wanted = |block: &&BlockData| {
            block.name != FREEFORM
                && self.include.as_ref().is_none_or(|names| names.contains(&block.name))
                && !self.exclude.contains(&block.name)
        };
        let mut all = Vec::new();
        for block in blocks.iter().filter(wanted) {
            if block.unknown {
                unknown.insert(block.name.clone());
            }
            let mut attributes = block.attributes.clone();
            attributes.sort_keys();
            if let Some([width, height]) = picture(block).and_then(|id| sizes.get(&id)) {
                attributes.insert("width".into(), width.clone());
                attributes.insert("height".into(), height.clone());
            }
            let mut document = Map::from_iter([
                ("name".to_owned(), json!(block.name)),
                ("attributes".to_owned(), Value::Object(attributes)),
            ]);
            let inner = self.shown(&block.inner, sizes, unknown);
            if inner.as_array().is_some_and(|inner| !inner.is_empty()) {
                document.insert("innerBlocks".into(), inner);
            }
            all.push(Value::Object(document));
        }
        Value::Array(all)
    }
}

/// The file that a block shows.
fn picture(block: &BlockData) -> Option<i64> {
    block.attributes.get("id").and_then(Value::as_i64).filter(|_| block.name == IMAGE)
}

/// Width and height of the pictures that blocks show, by the ids of their files.
fn sizes(work: &Work<'_>, blocks: &[BlockData]) -> Result<HashMap<i64, [Value; 2]>, ApiError> {
    fn ids(blocks: &[BlockData], found: &mut BTreeSet<i64>) {
        for block in blocks {
            found.extend(picture(block));
            ids(&block.inner, found);
        }
    }
    let mut wanted = BTreeSet::new();
    ids(blocks, &mut wanted);
    let files = work.scope.registry.content_types().find(|resource| resource.supports("files"));
    let Some(files) = files.filter(|_| !wanted.is_empty()) else { return Ok(HashMap::new()) };
    let filter = [records::own_rows(files), is_in(ID, wanted), policy::published_or_inherited(work.scope)];
    let rows = work.scope.snapshot()?.rows(&records::plan(files, Cond::All(filter.to_vec())))?;
    let batch = Batch::default();
    let size = |row: &Row| {
        let record = Record { resource: files, row };
        let item = Item::viewed(work.scope, record, &batch, READS, &work.unique);
        let details = files.property("media_details").and_then(|property| item.value(property))?;
        let [width, height] = ["width", "height"].map(|side| details[side].clone());
        (width.is_number() && height.is_number()).then(|| (record.id(), [width, height]))
    };
    Ok(rows.iter().filter_map(size).collect())
}
