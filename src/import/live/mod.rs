//! A site that runs, read over REST with an application password: into a dump of its tables, which is imported like any other.
//!
//! The reading is polite and goes on where it was ended. Once its dump was imported, the next one reads what has changed since. What
//! REST does not show is not in it: hashes of passwords, types and values that no plugin registers for REST, versions.

mod dump;
mod rows;

use self::dump::LiveDump;
use self::rows::{DocumentFacts, LiveRowShape, WordLists};
use super::names::{NamesWithReason, reason};
use super::remote::{RemoteSite, collection_path};
use crate::boot::BootError;
use cms_base::clock::SystemClock;
use cms_core::error::status;
use cms_text::php;
use cms_text::time::{format_local, parse_datetime};
use indicatif::ProgressBar;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Items of a page.
const PER_PAGE: usize = 50;
/// How often a collection is read from its beginning because it changed meanwhile.
const ROUNDS: u32 = 3;

/// See `live.json`.
#[derive(Deserialize)]
struct LiveVocabulary {
    me: String,
    root: LiveOptions,
    settings: LiveOptions,
    types: String,
    taxonomies: String,
    left_out: Vec<NamesWithReason>,
    users: LiveShape,
    terms: LiveShape,
    records: LiveShape,
    /// Types that are not like the others.
    kinds: BTreeMap<String, LiveShape>,
    comments: LiveShape,
    words: WordLists,
    sticky: LiveShape,
}

/// A document whose members are options.
#[derive(Deserialize)]
struct LiveOptions {
    path: String,
    query: Map<String, Value>,
    options: BTreeMap<String, String>,
}

/// Collections of one sort.
#[derive(Deserialize)]
struct LiveShape {
    #[serde(default)]
    path: String,
    query: Map<String, Value>,
    /// Arguments that choose what has changed since a time.
    #[serde(default)]
    since: Vec<String>,
    /// Members that are requested as a whole: WordPress leaves them out where a part is.
    #[serde(default)]
    whole: Vec<String>,
    /// The member with the address of the record that an item belongs to.
    record: Option<String>,
    #[serde(default)]
    rows: Vec<LiveRowShape>,
}

/// A collection of the site.
struct LiveCollection<'v> {
    path: String,
    shape: &'v LiveShape,
    /// The type or the taxonomy of its items.
    kind: String,
    /// Members with ids of terms.
    terms: Vec<String>,
    is_records: bool,
}

/// See the module.
pub struct LiveSite {
    site: RemoteSite,
    dump: LiveDump,
    /// UTC seconds.
    began: i64,
    /// Rows that are written once.
    once: HashSet<String>,
    /// Parts that were not read, and why.
    notes: Vec<String>,
}

/// Reads what the site has into the dump at `path`, or goes on with that.
///
/// # Errors
/// The site does not answer, or does not know the caller; the file cannot be written.
pub fn read(mut site: RemoteSite, address: &str, path: &Path, progress: &ProgressBar) -> Result<LiveSite, BootError> {
    let vocabulary: LiveVocabulary =
        serde_json::from_str(include_str!("live.json")).map_err(|error| BootError::Other(error.to_string()))?;
    progress.set_message("reading  ");
    let me = site.get(&vocabulary.me, &Map::from_iter([("_fields".to_owned(), json!("id"))]))?;
    if me.status != status::OK {
        let why = format!("{address}: the site does not take the login with this application password ({})", me.status);
        return Err(BootError::Other(why));
    }
    let dump = LiveDump::open(path, address.trim_end_matches('/'))?;
    let mut reader = LiveSite { site, dump, began: SystemClock::now(), once: HashSet::new(), notes: Vec::new() };
    if !reader.dump.state.whole {
        reader.all(&vocabulary, progress)?;
        reader.dump.end()?;
    }
    Ok(reader)
}

impl LiveSite {
    /// Since when changes were read; `None`: everything was.
    pub fn since(&self) -> Option<&str> {
        self.dump.state.since.as_deref()
    }

    /// No record was read.
    pub fn is_empty(&self) -> bool {
        self.dump.state.records.is_empty()
    }

    /// Parts that were not read, and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The dump is imported: the next reading is of what has changed since.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn imported(self) -> Result<(), BootError> {
        self.dump.imported()
    }

    fn all(&mut self, vocabulary: &LiveVocabulary, progress: &ProgressBar) -> Result<(), BootError> {
        self.options(&[&vocabulary.root, &vocabulary.settings])?;
        let taxonomies = self.listed(&vocabulary.taxonomies)?;
        let types = self.listed(&vocabulary.types)?;
        let whole = |shape, path: &str| LiveCollection {
            path: path.to_owned(),
            shape,
            kind: String::new(),
            terms: Vec::new(),
            is_records: false,
        };
        let mut collections = vec![whole(&vocabulary.users, &vocabulary.users.path)];
        for (name, own) in &taxonomies {
            let Some(path) = self.path_of(name, own) else { continue };
            collections.push(LiveCollection { kind: name.clone(), ..whole(&vocabulary.terms, &path) });
        }
        for (name, own) in &types {
            if let Some((_, why)) = reason(&vocabulary.left_out, name) {
                self.notes.push(format!("not read: {name}: {why}"));
                continue;
            }
            let Some(path) = self.path_of(name, own) else { continue };
            let shape = vocabulary.kinds.get(name).unwrap_or(&vocabulary.records);
            let named = own["taxonomies"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let terms = named.filter_map(|taxonomy| taxonomies.get(taxonomy)?["rest_base"].as_str().map(str::to_owned));
            let terms = terms.collect();
            collections.push(LiveCollection { kind: name.clone(), terms, is_records: true, ..whole(shape, &path) });
        }
        collections.push(whole(&vocabulary.comments, &vocabulary.comments.path));
        for collection in &collections {
            match self.dump.state.since.clone().filter(|_| !collection.shape.since.is_empty()) {
                None => self.walk(collection, None, &collections, &vocabulary.words, progress)?,
                Some(since) => {
                    // A change of the same second may be new.
                    let since = parse_datetime(&since).map(|moment| format_local(moment.wall - 1)).unwrap_or(since);
                    for argument in &collection.shape.since {
                        let chosen = Some((argument.as_str(), since.as_str()));
                        self.walk(collection, chosen, &collections, &vocabulary.words, progress)?;
                    }
                }
            }
        }
        self.sticky(&vocabulary.sticky)
    }

    /// The path of a type's or a taxonomy's collection.
    fn path_of(&mut self, name: &str, listed: &Value) -> Option<String> {
        let path = collection_path(listed);
        if path.is_none() {
            self.notes.push(format!("not read: {name}: the site has no collection of it"));
        }
        path
    }

    /// The entries of a document that lists types or taxonomies.
    fn listed(&mut self, path: &str) -> Result<Map<String, Value>, BootError> {
        let answer = self.site.get(path, &Map::from_iter([("context".to_owned(), json!("edit"))]))?;
        match answer.body {
            Value::Object(entries) if answer.status == status::OK => Ok(entries),
            _ => Err(BootError::Other(format!(
                "{path}: the site responds with {}: the user may not edit there",
                answer.status
            ))),
        }
    }

    fn options(&mut self, documents: &[&LiveOptions]) -> Result<(), BootError> {
        for document in documents {
            if self.dump.next_page(&document.path).is_none() {
                continue;
            }
            let answer = self.site.get(&document.path, &document.query)?;
            if answer.status != status::OK {
                self.notes.push(format!("not read: {}: the site responds with {}", document.path, answer.status));
                continue;
            }
            for (option, pointer) in &document.options {
                let text = match answer.body.pointer(pointer) {
                    None | Some(Value::Null | Value::Bool(false)) => continue,
                    Some(Value::Bool(true)) => "1".to_owned(),
                    Some(value) => super::remote::text(value),
                };
                let row = vec![("option_name".to_owned(), option.clone()), ("option_value".to_owned(), text)];
                self.dump.row("options", &row)?;
            }
            self.dump.end_page(&document.path, 1, true)?;
        }
        Ok(())
    }

    /// Reads the pages of a collection that the dump does not have yet.
    fn walk(
        &mut self,
        collection: &LiveCollection<'_>,
        chosen: Option<(&str, &str)>,
        all: &[LiveCollection<'_>],
        words: &WordLists,
        progress: &ProgressBar,
    ) -> Result<(), BootError> {
        let name = format!("{} {}", collection.path, chosen.map_or("", |(argument, _)| argument));
        let mut query = collection.shape.query.clone();
        query.extend(chosen.map(|(argument, since)| (argument.to_owned(), json!(since))));
        query.insert("context".into(), json!("edit"));
        query.insert("per_page".into(), json!(PER_PAGE));
        query.insert("_fields".into(), json!(collection.fields()));
        let (mut rounds, mut read) = (1, 0);
        let mut from_first = self.dump.next_page(&name) == Some(1);
        while let Some(page) = self.dump.next_page(&name) {
            query.insert("page".into(), json!(page));
            let answer = self.site.get(&collection.path, &query)?;
            let items = match (answer.status, answer.body) {
                (200, Value::Array(items)) => items,
                (400, _) if page > 1 => Vec::new(),
                (status @ (400 | 401 | 403 | 404), _) => {
                    self.notes.push(format!("not read: {}: the site responds with {status}", collection.path));
                    return Ok(());
                }
                (status, _) => {
                    return Err(BootError::Other(format!("{}: the site responds with {status}", collection.path)));
                }
            };
            read += items.len() as u64;
            progress.inc(items.len() as u64);
            for item in &items {
                self.item(collection, item, words)?;
                self.record_of(collection, item, all, words)?;
            }
            let last = items.len() < PER_PAGE;
            // Items behind one that was deleted meanwhile have moved to a page that was read before.
            let checked = last && page > 1 && from_first && collection.is_records;
            let short = checked && answer.total.is_some_and(|total| total > read);
            let again = short && rounds < ROUNDS;
            if short && !again {
                let path = &collection.path;
                self.notes.push(format!("{path}: it changed at each of {ROUNDS} readings; run the import again later"));
            }
            self.dump.end_page(&name, page, last && !again)?;
            if again {
                (rounds, read, from_first) = (rounds + 1, 0, true);
                self.dump.again(&name);
            }
        }
        Ok(())
    }

    fn item(&mut self, collection: &LiveCollection<'_>, item: &Value, words: &WordLists) -> Result<(), BootError> {
        // A change in the future would hide those until then.
        let utc = item["modified_gmt"].as_str().and_then(parse_datetime).map(|moment| moment.as_utc());
        let changed = item["modified"].as_str().filter(|_| utc.is_some_and(|utc| utc <= self.began));
        if collection.is_records && !self.dump.record(item["id"].as_i64().unwrap_or(0), changed) {
            return Ok(());
        }
        let facts = DocumentFacts { kind: &collection.kind, terms: &collection.terms, words };
        for shape in &collection.shape.rows {
            for row in shape.rows(item, facts) {
                if !shape.once || self.once.insert(format!("{} {row:?}", shape.table)) {
                    self.dump.row(&shape.table, &row)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the record of a new comment, where that has not changed.
    fn record_of(
        &mut self,
        collection: &LiveCollection<'_>,
        item: &Value,
        all: &[LiveCollection<'_>],
        words: &WordLists,
    ) -> Result<(), BootError> {
        let pointer = collection.shape.record.as_ref().filter(|_| self.dump.state.since.is_some());
        let Some(address) = pointer.and_then(|pointer| item.pointer(pointer)?.as_str()) else { return Ok(()) };
        let of = |own: &&LiveCollection<'_>| own.is_records && address.contains(&format!("{}/", own.path));
        let Some(owner) = all.iter().find(of) else { return Ok(()) };
        let id = address.rsplit('/').next().and_then(|id| id.parse::<i64>().ok()).unwrap_or(0);
        if self.dump.state.records.contains(&id) {
            return Ok(());
        }
        let query = [("context".to_owned(), json!("edit")), ("_fields".to_owned(), json!(owner.fields()))];
        let answer = self.site.get(&format!("{}/{id}", owner.path), &Map::from_iter(query))?;
        if answer.status == status::OK { self.item(owner, &answer.body, words) } else { Ok(()) }
    }

    /// Which records are sticky is an option.
    fn sticky(&mut self, shape: &LiveShape) -> Result<(), BootError> {
        let mut ids = Vec::new();
        for page in 1.. {
            let mut query = shape.query.clone();
            query.insert("page".into(), json!(page));
            query.insert("per_page".into(), json!(PER_PAGE));
            let answer = self.site.get(&shape.path, &query)?;
            let items = match (answer.status, answer.body) {
                (status::OK, Value::Array(items)) => items,
                (status::BAD_REQUEST, _) if page > 1 => break,
                (status, _) => {
                    self.notes.push(format!("not read: which records are sticky: the site responds with {status}"));
                    return Ok(());
                }
            };
            ids.extend(items.iter().filter_map(|item| item["id"].as_i64()).map(Value::from));
            if items.len() < PER_PAGE {
                break;
            }
        }
        let value = php::serialize(&Value::Array(ids));
        self.dump.row("options", &vec![("option_name".into(), "sticky_posts".into()), ("option_value".into(), value)])
    }
}

impl LiveCollection<'_> {
    /// The members that are read.
    fn fields(&self) -> String {
        let mut members: Vec<String> = self.shape.rows.iter().flat_map(LiveRowShape::members).collect();
        for member in &mut members {
            let name = member.split('.').next().unwrap_or_default();
            if self.shape.whole.iter().any(|whole| whole == name) {
                *member = name.to_owned();
            }
        }
        members.extend(self.terms.iter().cloned());
        members.extend(self.shape.record.iter().map(|_| "_links".to_owned()));
        members.push("id".to_owned());
        members.sort_unstable();
        members.dedup();
        members.join(",")
    }
}
