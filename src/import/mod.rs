//! Imports a site: from a WordPress export to commits.
//!
//! A first pass reads the whole file and writes nothing, so that a broken file changes nothing; the second one commits
//! in batches. Ids, slugs and dates stay the same; an id that is taken is replaced, and with it every reference. The
//! origin of every row is stored, so that a second run imports nothing twice.

pub mod attachments;
pub mod wxr;
mod xml;

use crate::boot::{BootError, Services, wait};
use crate::config::declaration::{Family, ImportedAs};
use crate::families::{self, Columns, column, comment, content, term, text_column, user};
use crate::records::{self, among, columns, eq, everything, int, text, txt};
use crate::registry::resource::Resource;
use crate::registry::{Registry, name};
use crate::scope::{Settings, read_settings};
use crate::storage::Storage;
use crate::storage::plan::{Change, Cond, DbValue, Input, Name, Put, SlugClaim, Target, WritePlan};
use crate::text::slug;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::Path;
use std::sync::Arc;
use wxr::{Comment, Item, Limits, ReadError, Record, Summary, TermRef};

/// Changes committed together.
const BATCH: usize = 400;

/// The demo site, which is imported into an empty database.
const DEMO: &str = include_str!("../../fixtures/demo.xml");

/// The state in exports of comments that went to the trash with their record.
const WITH_ITS_RECORD: &str = "post-trashed";

/// What an import did, for people.
#[derive(Debug, Default)]
pub struct Report {
    /// Records brought in, by kind and status.
    records: BTreeMap<(String, String), u64>,
    terms: u64,
    users: u64,
    comments: u64,
    /// Things that an earlier run brought already.
    known: u64,
    /// Ids that were taken: space, id of the file, id given instead.
    moved: Vec<(&'static str, i64, i64)>,
    /// Taxonomies that nothing here declares.
    left_out: BTreeMap<String, u64>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        for ((kind, status), n) in &self.records {
            let _ = writeln!(out, "{n:>8} {kind} {status}");
        }
        for (what, n) in [("terms", self.terms), ("users", self.users), ("comments", self.comments)] {
            let _ = writeln!(out, "{n:>8} {what}");
        }
        if self.known > 0 {
            let _ = writeln!(out, "{:>8} were here already", self.known);
        }
        for (taxonomy, n) in &self.left_out {
            let _ = writeln!(out, "{n:>8} terms of {taxonomy} left out: no resource is declared for them");
        }
        for (what, from, to) in &self.moved {
            let _ = writeln!(out, "{what} {from} was taken and became {to}; what pointed to it follows");
        }
        f.write_str(out.trim_end())
    }
}

/// Imports a file; `bar` shows the progress on a terminal.
///
/// # Errors
/// The file cannot be read or is broken (then nothing was written), or the database refuses.
pub fn import(registry: &Registry, services: &Services, file: &Path, bar: bool) -> Result<Report, BootError> {
    let open = || {
        let file = File::open(file).map_err(|e| BootError::Other(format!("{}: {e}", file.display())))?;
        Ok::<_, BootError>(BufReader::with_capacity(1 << 18, file))
    };
    let size = std::fs::metadata(file).map_or(0, |m| m.len());
    let shown = file.display().to_string();
    let progress = ProgressBar::with_draw_target(
        Some(size * 2),
        if bar { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
    );
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta}") {
        progress.set_style(style);
    }
    let report = run(registry, services, &shown, open, &progress);
    progress.finish_and_clear();
    report
}

/// Imports the demo site.
///
/// # Errors
/// The database refuses.
pub fn demo(registry: &Registry, services: &Services) -> Result<Report, BootError> {
    run(registry, services, "the demo site", || Ok(Cursor::new(DEMO)), &ProgressBar::hidden())
}

fn run<R: BufRead>(
    registry: &Registry,
    services: &Services,
    shown: &str,
    open: impl Fn() -> Result<R, BootError>,
    progress: &ProgressBar,
) -> Result<Report, BootError> {
    progress.set_message("checking ");
    let (summary, ids) = survey(open()?, shown, |n| progress.set_position(n))?;
    progress.set_message("importing");
    let first = progress.position();
    let storage = &*services.storage;
    let settings = read_settings(registry, storage)?;
    let mut importer = Importer::new(registry, services, &summary, settings, &ids)?;
    let limits = Limits::default();
    let done = wxr::read(open()?, &limits, |n| progress.set_position(first + n), |item| importer.take(item));
    match done {
        Ok(_) => importer.finish(),
        Err(ReadError::Wxr(error)) => Err(BootError::Other(format!("{shown}, {error}; the file changed meanwhile"))),
        Err(ReadError::Sink(error)) => Err(error),
    }
}

/// Ids that the file holds.
#[derive(Default)]
struct Ids {
    records: Vec<i64>,
    comments: Vec<i64>,
    terms: Vec<i64>,
    users: Vec<i64>,
}

/// The first pass: everything is read, nothing is written.
fn survey<R: BufRead>(input: R, shown: &str, progress: impl FnMut(u64)) -> Result<(Summary, Ids), BootError> {
    let mut ids = Ids::default();
    let done = wxr::read(input, &Limits::default(), progress, |item| {
        match item {
            Item::Author(author) => ids.users.push(author.id.unwrap_or(0)),
            Item::Term(term) => ids.terms.push(term.id.unwrap_or(0)),
            Item::Record(record) => {
                ids.records.push(record.id);
                ids.comments.extend(record.comments.iter().map(|c| c.id));
            }
        }
        Ok::<(), BootError>(())
    });
    match done {
        Ok(summary) => Ok((summary, ids)),
        Err(ReadError::Wxr(error)) => Err(BootError::Other(format!("{shown}, {error}; nothing was imported"))),
        Err(ReadError::Sink(error)) => Err(error),
    }
}

struct Importer<'a> {
    registry: &'a Registry,
    services: &'a Services,
    /// Address of the exported site: the origin of its rows is stored under this name.
    source: String,
    settings: Settings,
    /// New ids by those of the file.
    records: Placed,
    comments: Placed,
    terms: Placed,
    users: Placed,
    /// Source keys that an earlier run brought, with what they became.
    known: HashMap<String, i64>,
    /// Users by folded login.
    logins: HashMap<String, i64>,
    /// Terms by taxonomy and slug.
    slugs: HashMap<(String, String), i64>,
    /// What the file's numbers of terms became.
    numbered: HashMap<i64, i64>,
    /// Parents to be set when every term is there: taxonomy, child, slug of the parent.
    parents: Vec<(String, i64, String)>,
    next_term: i64,
    pending: Vec<Change>,
    report: Report,
}

impl<'a> Importer<'a> {
    fn new(
        registry: &'a Registry,
        services: &'a Services,
        summary: &Summary,
        settings: Settings,
        ids: &Ids,
    ) -> Result<Importer<'a>, BootError> {
        let storage = &*services.storage;
        let mut report = Report::default();
        let snapshot = storage.snapshot()?;
        let source = summary.base_url.clone();
        let known: HashMap<String, i64> = snapshot
            .rows(&columns("origin", &["source_key", "row"], eq("source", txt(&source))))?
            .iter()
            .map(|row| (text(&row[0]).to_owned(), int(&row[1])))
            .collect();
        let mut place = |table: &str, key: &str, what, ids: &[i64]| {
            placed(&*snapshot, table, key, ids, &known, &mut report.moved, what)
        };
        let records = place("record", "record", "record", &ids.records)?;
        let comments = place("comment", "comment", "comment", &ids.comments)?;
        let terms = place("term", "term", "term", &ids.terms)?;
        let users = place("user", "user", "user", &ids.users)?;
        let logins = snapshot.rows(&columns("user", &["login_key", "id"], everything()))?;
        let logins = logins.iter().map(|row| (text(&row[0]).to_owned(), int(&row[1]))).collect();
        let mut slugs = HashMap::new();
        for taxonomy in registry.family(Family::Term) {
            let rows = snapshot.rows(&columns("term", &["slug", "id"], records::own_rows(taxonomy)))?;
            slugs.extend(rows.iter().map(|r| ((taxonomy.kind.to_string(), text(&r[0]).to_owned()), int(&r[1]))));
        }
        let highest = terms.moved.values().chain(slugs.values()).chain(&ids.terms).copied().max().unwrap_or(0);
        drop(snapshot);
        Ok(Importer {
            registry,
            services,
            source,
            settings,
            records,
            comments,
            terms,
            users,
            known,
            logins,
            slugs,
            numbered: HashMap::new(),
            parents: Vec::new(),
            next_term: highest + 1,
            pending: Vec::new(),
            report,
        })
    }

    fn take(&mut self, item: Item) -> Result<(), BootError> {
        match item {
            Item::Author(author) => self.author(author)?,
            Item::Term(term) => {
                let number = term.id;
                let became = self.term(term);
                self.numbered.extend(number.zip(became));
            }
            Item::Record(record) => self.record(*record)?,
        }
        if self.pending.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), BootError> {
        let changes = std::mem::take(&mut self.pending);
        if changes.is_empty() {
            return Ok(());
        }
        wait(self.services.storage.commit(WritePlan { changes })).map(|_| ()).map_err(BootError::Commit)
    }

    fn finish(mut self) -> Result<Report, BootError> {
        for (taxonomy, child, parent) in std::mem::take(&mut self.parents) {
            let Some(parent) = self.slugs.get(&(taxonomy, parent)).copied() else { continue };
            let target = Target::Existing { key: DbValue::Int(child), expect: None };
            let set = vec![column(term::columns::PARENT, DbValue::Int(parent))];
            self.pending.push(Change::Put(Put::new(term::columns::TABLE, target, set)));
        }
        self.flush()?;
        Ok(self.report)
    }

    /// Stores what a source key became; false when an earlier run imported it.
    fn remember(&mut self, key: String, table: &str, row: i64) -> bool {
        if self.known.contains_key(&key) {
            self.report.known += 1;
            return false;
        }
        let set = vec![
            text_column("source", &self.source),
            text_column("source_key", &key),
            text_column("table", table),
            column("row", DbValue::Int(row)),
        ];
        self.pending.push(Change::Put(Put::new("origin", Target::New, set)));
        self.known.insert(key, row);
        true
    }

    // -------------------------------------------------------------------------------------------- users and terms

    fn author(&mut self, author: wxr::Author) -> Result<(), BootError> {
        let key = slug::title_key(&author.login);
        let (id, _) = self.users.take("user", author.id.unwrap_or(0));
        if let Some(here) = self.logins.get(&key) {
            self.users.moved.insert((author.id.unwrap_or(0), 0), *here);
            return Ok(());
        }
        if !self.remember(format!("user:{}", author.login), "user", id) {
            return Ok(());
        }
        // Every account has an address; one that is missing gets one that can never receive.
        let email = if author.email.is_empty() { format!("{key}@invalid") } else { author.email.clone() };
        let shown = if author.display_name.is_empty() { &author.login } else { &author.display_name };
        let now = time::OffsetDateTime::now_utc().unix_timestamp();
        let set = vec![
            text_column(user::columns::EMAIL, &email),
            text_column(user::columns::NAME, shown),
            text_column(user::columns::FIRST_NAME, &author.first_name),
            text_column(user::columns::LAST_NAME, &author.last_name),
            user::roles_column(self.registry.imported_role()),
        ];
        let target = Target::Keyed(DbValue::Int(id));
        self.pending.push(Change::Put(user::put(target, &author.login, now, None, set)));
        self.logins.insert(key, id);
        self.report.users += 1;
        Ok(())
    }

    /// The neutral name of a taxonomy, if a resource is declared for it.
    fn taxonomy(&self, exported: &str) -> Option<&'a Resource> {
        self.registry.family(Family::Term).find(|r| *r.kind == *exported || *r.kind == *neutral(exported))
    }

    fn term(&mut self, term: wxr::Term) -> Option<i64> {
        let Some(taxonomy) = self.taxonomy(&term.taxonomy) else {
            *self.report.left_out.entry(term.taxonomy).or_default() += 1;
            return None;
        };
        let kind = taxonomy.kind.to_string();
        let slug = if term.slug.is_empty() { slug::sanitize_title(&term.name) } else { term.slug.clone() };
        if let Some(id) = self.slugs.get(&(kind.clone(), slug.clone())).copied() {
            self.terms.take("term", term.id.unwrap_or(0));
            self.report.known += 1;
            return Some(id);
        }
        let id = match term.id {
            Some(id) => self.terms.take("term", id).0,
            None => {
                self.next_term += 1;
                self.next_term - 1
            }
        };
        self.remember(format!("term:{kind}:{slug}"), "term", id);
        let set = vec![text_column(term::columns::DESCRIPTION, &term.description)];
        let target = Target::Keyed(DbValue::Int(id));
        self.pending.push(Change::Put(term::put(taxonomy, target, &term.name, &slug, set)));
        if !term.parent_slug.is_empty() {
            self.parents.push((kind.clone(), id, term.parent_slug));
        }
        self.slugs.insert((kind, slug), id);
        self.report.terms += 1;
        Some(id)
    }

    /// The id of a term that a record carries; one that the file does not list is made.
    fn carried(&mut self, term: &TermRef) -> Option<i64> {
        let taxonomy = self.taxonomy(&term.taxonomy)?;
        if let Some(id) = self.slugs.get(&(taxonomy.kind.to_string(), term.slug.clone())) {
            return Some(*id);
        }
        self.term(wxr::Term {
            taxonomy: term.taxonomy.clone(),
            slug: term.slug.clone(),
            name: term.name.clone(),
            ..wxr::Term::default()
        })
    }

    // -------------------------------------------------------------------------------------------- records

    fn record(&mut self, record: Record) -> Result<(), BootError> {
        let (id, key) = self.records.take("record", record.id);
        if !self.remember(key, "record", id) {
            return Ok(());
        }
        let kind = self.kind(&record.kind);
        let resource = self.registry.resource_of_kind(&kind);
        let mut change = self.put(&record, &kind, id);
        let claims = self.registry.status_is(&record.status, |status| status.claims_slug || status.trash);
        let parent = self.records.target(record.parent);
        let scope = match resource {
            Some(resource) => content::slug_scope(resource, parent),
            None => kind.as_str().into(),
        };
        change.slug = Some(SlugClaim {
            column: name("slug"),
            scope: (claims && !record.slug.is_empty()).then_some(scope),
            candidates: vec![record.slug.as_str().into()],
            refuse: None,
        });
        let mut edges: BTreeMap<Name, Vec<i64>> = BTreeMap::new();
        let mut terms: Vec<&wxr::TermRef> = record.terms.iter().collect();
        terms.sort_by_cached_key(|term| slug::title_key(&term.name));
        for term in terms {
            let Some(target) = self.carried(term) else { continue };
            let relation = resource.and_then(|r| {
                let named = [term.taxonomy.as_str(), neutral(&term.taxonomy)];
                r.relations.iter().find(|rel| named.contains(&&*self.registry.resources[rel.to].kind))
            });
            match relation {
                Some(relation) if relation.many => {
                    let list = edges.entry(relation.rel.clone()).or_default();
                    if !list.contains(&target) {
                        list.push(target);
                    }
                }
                relation => {
                    let column = relation.zip(resource).and_then(|(rel, r)| r.plan_column(&rel.property));
                    change.set.extend(column.map(|column| (column, Input::Value(DbValue::Int(target)))));
                }
            }
        }
        if let Some(resource) = resource {
            let imported = self.imported(resource, &record);
            change.set.retain(|(column, _)| !imported.iter().any(|(own, _)| own == column));
            change.set.extend(imported);
            self.default_terms(resource, &record, &mut edges);
        }
        change.edges = edges.into_iter().collect();
        change.meta = meta(&record.meta);
        *self.report.records.entry((record.kind.clone(), record.status.clone())).or_default() += 1;
        self.pending.push(Change::Put(change));
        for comment in &record.comments {
            self.comment(comment, id);
        }
        Ok(())
    }

    /// A record that names no term of a taxonomy gets its default one, unless nobody has saved it yet.
    fn default_terms(&self, resource: &Resource, record: &Record, edges: &mut BTreeMap<Name, Vec<i64>>) {
        if self.registry.status(&record.status).is_some_and(|status| status.internal) {
            return;
        }
        let given: Vec<Name> = edges.keys().cloned().collect();
        edges.extend(content::default_terms(self.registry, resource, &given, |setting| self.settings.int(setting)));
    }

    /// The neutral name of a kind: without the platform's prefix where a resource is declared for it.
    fn kind(&self, exported: &str) -> String {
        let neutral = neutral(exported);
        let declared = self.registry.resource_of_kind(neutral).is_some();
        if declared { neutral.to_owned() } else { exported.to_owned() }
    }

    fn put(&self, record: &Record, kind: &str, id: i64) -> Put {
        let dates = self.dates(record);
        content::put(kind, Target::Keyed(DbValue::Int(id)), &record.status, dates, self.columns(record))
    }

    fn dates(&self, record: &Record) -> content::Dates {
        let (local, utc) = self.pair(record.date_local, record.date_utc);
        let (modified_local, modified_utc) = match (record.modified_local, record.modified_utc) {
            (None, None) => (local, utc),
            (local, utc) => self.pair(local, utc),
        };
        let floats = record.date_utc.is_none()
            && self.registry.status(&record.status).is_some_and(|status| status.date_floating);
        content::Dates { local, utc, floats, modified_local, modified_utc }
    }

    /// The columns that the export contains, except kind, state and dates.
    fn columns(&self, record: &Record) -> Columns {
        let meta = |key: &str| record.meta.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        let author = self.logins.get(&slug::title_key(&record.author_login)).copied().unwrap_or(0);
        let picture = meta("_thumbnail_id").and_then(|id| id.parse::<i64>().ok()).unwrap_or(0);
        let template = meta("_wp_page_template").filter(|t| *t != "default").unwrap_or("");
        let format = record.terms.iter().find(|t| t.taxonomy == "post_format");
        let format = format.map(|t| t.slug.trim_start_matches("post-format-"));
        let mut set = vec![
            text_column(content::columns::TITLE, &record.title),
            text_column(content::columns::CONTENT, &record.content),
            text_column(content::columns::EXCERPT, &record.excerpt),
            text_column(content::columns::GUID, &record.guid),
            text_column(content::columns::PASSWORD, &record.password),
            text_column(content::columns::TEMPLATE, template),
            text_column(
                content::columns::COMMENT_STATUS,
                if record.comment_status == "open" { "open" } else { "closed" },
            ),
            text_column(content::columns::PING_STATUS, if record.ping_status == "open" { "open" } else { "closed" }),
            text_column(content::columns::MIME, media_type(record.attachment_url.as_deref().unwrap_or(""))),
            column(content::columns::AUTHOR, DbValue::Int(author)),
            column(content::columns::PARENT, DbValue::Int(self.records.target(record.parent))),
            column(content::columns::MENU_ORDER, DbValue::Int(record.menu_order)),
            column(content::columns::STICKY, DbValue::Int(i64::from(record.sticky))),
            column(content::columns::FEATURED_MEDIA, DbValue::Int(self.records.target(picture))),
        ];
        if let Some(format) = format {
            set.push(text_column(content::columns::FORMAT, format));
        }
        if self.registry.status_is(&record.status, |status| status.trash) {
            let before = meta("_wp_trash_meta_status").filter(|s| self.registry.status(s).is_some());
            set.push(text_column(content::columns::STATUS_BEFORE, before.unwrap_or(self.registry.draft_status())));
            set.push(text_column(content::columns::SLUG_BEFORE, content::slug_before(&record.slug)));
        }
        if let Some(url) = record.attachment_url.as_deref().filter(|url| !url.is_empty()) {
            let alt = meta("_wp_attachment_image_alt").unwrap_or("");
            let file = meta("_wp_attached_file").unwrap_or("");
            let extra = json!({"source_url": url, "alt_text": alt, "media_details": {"file": file}});
            set.push(text_column(content::columns::EXTRA, &extra.to_string()));
            set.push(text_column(content::columns::FILE, file));
        }
        set
    }

    /// Declared columns whose values are in meta values.
    fn imported(&self, resource: &Resource, record: &Record) -> Vec<(Name, Input)> {
        let mut set = Vec::new();
        for (column, from) in &resource.declared.import {
            let found = record.meta.iter().find(|(key, _)| *key == from.meta);
            let (Some(column), Some((_, value))) = (resource.plan_column(column), found) else { continue };
            let number = value.parse().unwrap_or(0);
            let value = match from.kind {
                ImportedAs::Text => txt(value),
                ImportedAs::Words => txt(wxr::php_strings(value).join(" ").trim()),
                ImportedAs::Record => DbValue::Int(self.records.target(number)),
                ImportedAs::Kind => txt(self.registry.resource_by_api_name(value).map_or(value, |r| &*r.kind)),
                ImportedAs::Referenced => DbValue::Int(self.referenced(resource, record, number)),
            };
            set.push((column, Input::Value(value)));
        }
        set
    }

    /// What the number of a record or term became, by the class that another imported column holds.
    fn referenced(&self, resource: &Resource, record: &Record, number: i64) -> i64 {
        let class = resource.declared.reference.as_ref().and_then(|reference| {
            let from = resource.declared.import.get(&reference.class)?;
            let (_, class) = record.meta.iter().find(|(key, _)| *key == from.meta)?;
            Some((reference, class))
        });
        match class {
            Some((reference, class)) if *class == reference.term => self.numbered.get(&number).copied().unwrap_or(0),
            _ => self.records.target(number),
        }
    }

    /// The wall clock and UTC; the one that is missing follows from the other.
    fn pair(&self, local: Option<i64>, utc: Option<i64>) -> (i64, i64) {
        match (local, utc) {
            (Some(local), Some(utc)) => (local, utc),
            (Some(local), None) => (local, self.settings.zone.local_to_utc(local)),
            (None, Some(utc)) => (self.settings.zone.utc_to_local(utc), utc),
            (None, None) => (0, 0),
        }
    }

    /// The user with an id in the file, if that user is here; 0 is nobody.
    fn account(&self, user: i64) -> i64 {
        let id = self.users.target(user);
        if user != 0 && self.logins.values().any(|known| *known == id) { id } else { 0 }
    }

    fn comment(&mut self, from: &Comment, record: i64) {
        let (id, key) = self.comments.take("comment", from.id);
        if !self.remember(key, "comment", id) {
            return;
        }
        use comment::columns as col;
        let value = |name: &str, value: i64| column(name, DbValue::Int(value));
        let status = match from.approved.as_str() {
            WITH_ITS_RECORD => Some(self.registry.trashed_comment_status()),
            word => self.registry.comment_status_named(word),
        };
        let status = status.unwrap_or(self.registry.held_comment_status());
        let (local, utc) = self.pair(from.date_local, from.date_utc);
        let set = vec![
            text_column(col::CONTENT, &from.content),
            text_column(col::AUTHOR_NAME, &from.author),
            text_column(col::AUTHOR_EMAIL, &from.email),
            text_column(col::AUTHOR_URL, &from.url),
            text_column(col::AUTHOR_IP, &from.ip),
            text_column(col::STATUS, status),
            text_column(col::KIND, &from.kind),
            value(col::POST, record),
            value(col::PARENT, self.comments.target(from.parent)),
            value(col::AUTHOR, self.account(from.user_id)),
            value(col::DATE_LOCAL, local),
            value(col::DATE_UTC, utc),
        ];
        self.pending.push(Change::Put(Put::new(col::TABLE, Target::Keyed(DbValue::Int(id)), set)));
        self.report.comments += 1;
    }
}

/// Decides the id of everything before anything is written: the file's own where it is free, else the next free one.
fn placed(
    snapshot: &dyn crate::storage::Snapshot,
    table: &str,
    key: &str,
    ids: &[i64],
    known: &HashMap<String, i64>,
    moved: &mut Vec<(&'static str, i64, i64)>,
    what: &'static str,
) -> Result<Placed, BootError> {
    let mut rows = snapshot.rows(&columns(table, &["id"], among("id", ids.iter().copied())))?;
    let taken: HashSet<i64> = rows.iter().map(|row| int(&row[0])).collect();
    let mut newest = records::ordered(columns(table, &["id"], Cond::All(Vec::new())), "id", true);
    newest.limit = Some(1);
    rows = snapshot.rows(&newest)?;
    let mut next = rows.first().map_or(0, |row| int(&row[0])).max(ids.iter().copied().max().unwrap_or(0)) + 1;
    let mut placed = HashMap::new();
    let mut given: HashMap<i64, u32> = HashMap::new();
    for id in ids {
        // A file may give one id to several things; what points to it means the first.
        let nth = given.entry(*id).and_modify(|n| *n += 1).or_insert(0);
        if let Some(before) = known.get(&source_key(key, *id, *nth)) {
            placed.insert((*id, *nth), *before);
        } else if taken.contains(id) || *id <= 0 || *nth > 0 {
            placed.insert((*id, *nth), next);
            // Users and terms that are here already are matched by name later; only real changes of ids are reported.
            if table == "record" || table == "comment" {
                moved.push((what, *id, next));
            }
            next += 1;
        }
    }
    Ok(Placed { moved: placed, seen: HashMap::new() })
}

/// The key under which the origin of something from a file is stored.
fn source_key(what: &str, id: i64, nth: u32) -> String {
    if nth == 0 { format!("{what}:{id}") } else { format!("{what}:{id}:{nth}") }
}

/// Ids that are not the file's own.
struct Placed {
    /// By the file's id and how many things before had the same.
    moved: HashMap<(i64, u32), i64>,
    /// How often each id has occurred so far.
    seen: HashMap<i64, u32>,
}

impl Placed {
    /// The new id of something that another part of the file refers to.
    fn target(&self, id: i64) -> i64 {
        self.moved.get(&(id, 0)).copied().unwrap_or(id)
    }

    /// The id of the next thing with this id, and the key of its origin.
    fn take(&mut self, what: &str, id: i64) -> (i64, String) {
        let nth = *self.seen.entry(id).and_modify(|n| *n += 1).or_insert(0);
        (self.moved.get(&(id, nth)).copied().unwrap_or(id), source_key(what, id, nth))
    }
}

/// Kinds and taxonomies of the platform carry its prefix in exports.
fn neutral(exported: &str) -> &str {
    exported.strip_prefix("wp_").unwrap_or(exported)
}

/// Values by key, each as JSON text.
fn meta(pairs: &[(String, String)]) -> families::MetaValues {
    let mut all: families::MetaValues = Vec::new();
    for (key, value) in pairs {
        let value: Arc<str> = json!(value).to_string().into();
        match all.iter_mut().find(|(k, _)| **k == **key) {
            Some((_, values)) => values.push(value),
            None => all.push((name(key), vec![value])),
        }
    }
    all
}

/// The MIME type that a file's name promises.
fn media_type(url: &str) -> &'static str {
    const TYPES: &[(&str, &str)] = &[
        ("jpg", "image/jpeg"),
        ("jpeg", "image/jpeg"),
        ("png", "image/png"),
        ("gif", "image/gif"),
        ("webp", "image/webp"),
        ("avif", "image/avif"),
        ("svg", "image/svg+xml"),
        ("mp3", "audio/mpeg"),
        ("ogg", "audio/ogg"),
        ("wav", "audio/wav"),
        ("mp4", "video/mp4"),
        ("m4v", "video/mp4"),
        ("mov", "video/quicktime"),
        ("webm", "video/webm"),
        ("pdf", "application/pdf"),
        ("zip", "application/zip"),
        ("txt", "text/plain"),
    ];
    let end = url.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    if url.is_empty() {
        return "";
    }
    TYPES.iter().find(|(e, _)| *e == end).map_or("application/octet-stream", |(_, t)| t)
}
