//! Terms and records of a staged dump, joined with their values, terms and comments.

use super::SqlDump;
use crate::import::dates::{DateZone, moment};
use crate::import::items::{
    Comment, ExportItem, ExportRecord, ExportSummary, FileFault, ReadError, SourcePart, Term, TermRef, VERSION,
};
use crate::import::names::reason;
use cms_storage::{StagedRead, StagedValue};
use std::collections::HashMap;

/// The post type of files.
const FILE: &str = "attachment";

/// The meta key of a file's name below the folder of uploads.
const FILE_NAME: &str = "_wp_attached_file";

/// Charged to a record for each value and comment, so that empty ones are not free.
const PART: usize = 256;

const POST: [&str; 18] = [
    "ID",
    "post_author",
    "post_parent",
    "menu_order",
    "post_type",
    "post_status",
    "post_title",
    "post_content",
    "post_excerpt",
    "guid",
    "post_name",
    "post_password",
    "comment_status",
    "ping_status",
    "post_date",
    "post_date_gmt",
    "post_modified",
    "post_modified_gmt",
];

const COMMENT: [&str; 13] = [
    "comment_ID",
    "comment_parent",
    "user_id",
    "comment_author",
    "comment_author_email",
    "comment_author_url",
    "comment_author_IP",
    "comment_content",
    "comment_agent",
    "comment_approved",
    "comment_type",
    "comment_date",
    "comment_date_gmt",
];

/// A reading on its way: where items go, and the account of them.
pub(super) struct ItemReader<'d, P, F> {
    pub dump: &'d SqlDump,
    part: SourcePart,
    pub summary: ExportSummary,
    progress: P,
    each: F,
    done: u64,
    /// Rows that belong to items which were passed on, by table.
    taken: HashMap<&'static str, u64>,
    /// The account whose login was asked for last.
    author: (i64, String),
}

/// Tables whose rows belong to items, and how the others of their rows are reported.
const BELONGING: [(&str, &str); 5] = [
    ("postmeta", "values of records that are left out or not there"),
    ("comments", "comments of records that are left out or not there"),
    ("commentmeta", "values of comments that are left out or not there"),
    ("termmeta", "values of terms that are left out or not there"),
    ("usermeta", "values of accounts that are left out or not there"),
];

/// The values of a row, taken one after the other.
pub(super) struct RowValues(std::vec::IntoIter<StagedValue>);

impl RowValues {
    pub(super) fn of(row: Vec<StagedValue>) -> RowValues {
        RowValues(row.into_iter())
    }

    pub(super) fn int(&mut self) -> i64 {
        self.0.next().map_or(0, |value| value.int())
    }

    pub(super) fn text(&mut self) -> String {
        self.0.next().map(StagedValue::into_text).unwrap_or_default()
    }

    pub(super) fn word(&mut self) -> String {
        self.text().trim().to_owned()
    }
}

impl<'d, E, P: FnMut(u64), F: FnMut(ExportItem) -> Result<(), E>> ItemReader<'d, P, F> {
    pub(super) fn new(dump: &'d SqlDump, part: SourcePart, progress: P, each: F) -> Self {
        ItemReader {
            dump,
            part,
            summary: dump.site.summary.clone(),
            progress,
            each,
            done: 0,
            taken: HashMap::new(),
            author: (0, String::new()),
        }
    }

    pub(super) fn count_taken(&mut self, table: &'static str, count: usize) {
        *self.taken.entry(table).or_default() += count as u64;
    }

    /// Hands on an item.
    pub(super) fn deliver(&mut self, item: ExportItem) -> Result<(), ReadError<E>> {
        let fault = |message| FileFault { line: 0, message, hint: "" };
        self.summary.count(&item).map_err(fault)?;
        (self.each)(item).map_err(ReadError::Sink)
    }

    pub(super) fn tick(&mut self) {
        self.done += 1;
        (self.progress)(self.done);
    }

    /// Hands on the terms.
    pub(super) fn terms(&mut self) -> Result<(), ReadError<E>> {
        let dump = self.dump;
        let Some(table) = dump.table("term_taxonomy") else { return Ok(()) };
        let columns = ["term_id", "parent", "taxonomy", "description"];
        let read = StagedRead { table: &table, columns: &columns, of: None, order: "term_taxonomy_id" };
        dump.staged.file.each(&read, |row| {
            let mut row = RowValues::of(row);
            let (id, parent, taxonomy, description) = (row.int(), row.int(), row.word(), row.text());
            self.tick();
            if let Some((_, why)) = reason(&dump.vocabulary.left_out.taxonomies, &taxonomy) {
                self.summary.leave_out(format!("terms of {taxonomy}: {why}"), 1);
                return Ok(());
            }
            let Some((name, slug)) = dump.term(id)? else {
                self.summary.leave_out(format!("terms of {taxonomy}: they have no name"), 1);
                return Ok(());
            };
            let parent_slug = if parent == 0 { None } else { dump.term(parent)? };
            let meta = dump.meta("termmeta", ("term_id", id))?;
            self.count_taken("termmeta", meta.len());
            let parent_slug = parent_slug.map(|(_, slug)| slug).unwrap_or_default();
            let term = Term { id: Some(id), taxonomy, slug, name, parent_slug, description, meta };
            self.deliver(ExportItem::Term(term))
        })
    }

    /// Hands on the records.
    pub(super) fn records(&mut self) -> Result<(), ReadError<E>> {
        let dump = self.dump;
        let Some(table) = dump.table("posts") else { return Ok(()) };
        let read = StagedRead { table: &table, columns: &POST, of: None, order: "ID" };
        dump.staged.file.each(&read, |row| {
            self.tick();
            match self.record(RowValues::of(row))? {
                Some(record) => self.deliver(ExportItem::Record(Box::new(record))),
                None => Ok(()),
            }
        })
    }

    /// A record; nothing where it stays out.
    fn record(&mut self, mut row: RowValues) -> Result<Option<ExportRecord>, FileFault> {
        let dump = self.dump;
        let left_out = &dump.vocabulary.left_out;
        let (id, author, parent, menu_order) = (row.int(), row.int(), row.int(), row.int());
        let (kind, status) = (row.word(), row.word());
        if !self.part.has(&kind) {
            self.summary.versions += u64::from(kind == VERSION);
            return Ok(None);
        }
        if let Some((_, why)) = reason(&left_out.kinds, &kind) {
            self.summary.leave_out(format!("records of the type {kind}: {why}"), 1);
            return Ok(None);
        }
        if let Some((_, why)) = reason(&left_out.statuses, &status) {
            self.summary.leave_out(format!("records in the state {status}: {why}"), 1);
            return Ok(None);
        }
        if kind.is_empty() {
            self.summary.leave_out("records: they have no type", 1);
            return Ok(None);
        }
        let mut record = ExportRecord {
            id,
            author_login: self.login(author)?,
            parent,
            menu_order,
            sticky: dump.site.sticky.contains(&id),
            status: if status.is_empty() { "draft".to_owned() } else { status },
            kind,
            title: row.text(),
            content: row.text(),
            excerpt: row.text(),
            guid: row.word(),
            slug: row.word(),
            password: row.text(),
            comment_status: row.word(),
            ping_status: row.word(),
            ..ExportRecord::default()
        };
        let of = || format!("the record {id}");
        record.date_local = self.date(&row.word(), DateZone::Local, of);
        record.date_utc = self.date(&row.word(), DateZone::Utc, of);
        record.modified_local = self.date(&row.word(), DateZone::Local, of);
        record.modified_utc = self.date(&row.word(), DateZone::Utc, of);
        if self.part == SourcePart::Versions {
            return Ok(Some(record));
        }
        record.meta = dump.meta("postmeta", ("post_id", id))?;
        record.terms = dump.terms_of(id)?;
        record.comments = self.comments(id)?;
        if record.kind == FILE {
            record.attachment_url = Some(self.file_address(&record));
        }
        let values: usize = record.meta.iter().map(|(key, value)| key.len() + value.len() + PART).sum();
        let comments: usize = record.comments.iter().map(|comment| comment.content.len() + PART).sum();
        if record.content.len() + values + comments > dump.limits.row {
            let message =
                format!("the record {id} is left out: with its values it has more than {} bytes", dump.limits.row);
            self.summary.warnings.add(0, message);
            return Ok(None);
        }
        self.count_taken("postmeta", record.meta.len());
        self.count_taken("comments", record.comments.len());
        self.count_taken("commentmeta", record.comments.iter().map(|comment| comment.meta.len()).sum());
        Ok(Some(record))
    }

    /// The address of a file: a name below the folder of uploads, or one that a program gave.
    fn file_address(&self, record: &ExportRecord) -> String {
        match record.meta.iter().find(|(key, value)| key == FILE_NAME && !value.is_empty()) {
            Some((_, file)) if file.contains("://") => file.clone(),
            Some((_, file)) => format!("{}/{file}", self.dump.site.uploads.trim_end_matches('/')),
            None => record.guid.clone(),
        }
    }

    fn date(&mut self, text: &str, zone: DateZone, of: impl Fn() -> String) -> Option<i64> {
        moment(text, zone).unwrap_or_else(|text| {
            self.summary.warnings.add(0, format!("{}: {text} is no date", of()));
            None
        })
    }

    /// The login of an account that is passed on; empty where it is none.
    fn login(&mut self, id: i64) -> Result<String, FileFault> {
        if self.author.0 != id {
            let row = self.dump.rows("users", &["user_login"], ("ID", id))?.into_iter().next();
            self.author = (id, row.map(|row| RowValues::of(row).word()).unwrap_or_default());
        }
        Ok(self.author.1.clone())
    }

    fn comments(&mut self, record: i64) -> Result<Vec<Comment>, FileFault> {
        let rows = self.dump.rows("comments", &COMMENT, ("comment_post_ID", record))?;
        let comment = |row| -> Result<Comment, FileFault> {
            let mut row = RowValues::of(row);
            let (id, parent, user_id) = (row.int(), row.int(), row.int());
            let mut comment = Comment {
                id,
                parent,
                user_id,
                author: row.text(),
                email: row.word(),
                url: row.word(),
                ip: row.word(),
                content: row.text(),
                agent: row.text(),
                approved: row.word(),
                kind: row.word(),
                ..Comment::default()
            };
            if comment.kind.is_empty() {
                comment.kind = "comment".into();
            }
            let of = || format!("the comment {id}");
            comment.date_local = self.date(&row.word(), DateZone::Local, of);
            comment.date_utc = self.date(&row.word(), DateZone::Utc, of);
            comment.meta = self.dump.meta("commentmeta", ("comment_id", id))?;
            Ok(comment)
        };
        rows.into_iter().map(comment).collect()
    }

    /// The account of the site, and of what stays out of it.
    pub(super) fn finish(mut self) -> Result<ExportSummary, FileFault> {
        self.dump.redirects(&mut self.summary)?;
        for (table, others) in BELONGING {
            let taken = self.taken.get(table).copied().unwrap_or(0);
            self.summary.leave_out(others, self.dump.count(table)?.saturating_sub(taken));
        }
        Ok(self.summary)
    }
}

impl SqlDump {
    /// The name and the slug of a term.
    fn term(&self, id: i64) -> Result<Option<(String, String)>, FileFault> {
        let row = self.rows("terms", &["name", "slug"], ("term_id", id))?.into_iter().next();
        Ok(row.map(|row| {
            let mut row = RowValues::of(row);
            (row.text(), row.word())
        }))
    }

    /// The terms that a record has.
    fn terms_of(&self, record: i64) -> Result<Vec<TermRef>, FileFault> {
        let mut terms = Vec::new();
        for row in self.rows("term_relationships", &["term_taxonomy_id"], ("object_id", record))? {
            let number = RowValues::of(row).int();
            let filed = self.rows("term_taxonomy", &["term_id", "taxonomy"], ("term_taxonomy_id", number))?;
            let Some(filed) = filed.into_iter().next() else { continue };
            let mut filed = RowValues::of(filed);
            let (id, taxonomy) = (filed.int(), filed.word());
            // Links have ids of their own.
            if reason(&self.vocabulary.left_out.taxonomies, &taxonomy).is_some() {
                continue;
            }
            if let Some((name, slug)) = self.term(id)? {
                terms.push(TermRef { taxonomy, slug, name });
            }
        }
        Ok(terms)
    }
}
