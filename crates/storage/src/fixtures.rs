//! A small site for the tests: content with terms and comments, a kind with columns of its own, a plain kind.

use super::plan::*;
use super::postgres::{PgOptions, Postgres};
use super::sqlite::{OpenOptions, Sqlite};
use crate::database::Storage;
pub use cms_base::pool::wait;
use std::sync::Arc;
use tempfile::TempDir;

#[path = "../../../tests/common/left_out.rs"]
mod left_out;

/// A database in a folder that is deleted with it.
pub struct Site {
    pub db: Sqlite,
    pub folder: TempDir,
}

pub fn site() -> Site {
    let folder = tempfile::tempdir().unwrap();
    let db = Sqlite::open(OpenOptions::new(folder.path().join("site.db")), &layout()).unwrap();
    Site { db, folder }
}

/// A database in a schema of its own, on the server that `CMS_TEST_POSTGRES` names; `None` where it names none.
pub fn postgres_site() -> Option<PostgresSite> {
    let schema = TestSchema::create()?;
    let db = Postgres::open(&PgOptions::new(&schema.url), &layout()).unwrap();
    Some(PostgresSite { db, _schema: schema })
}

/// See [`postgres_site`].
pub struct PostgresSite {
    pub db: Postgres,
    _schema: TestSchema,
}

/// A schema that is deleted with this.
pub struct TestSchema {
    pub url: String,
    name: String,
    server: String,
}

impl TestSchema {
    /// A new one; `None` where no server is named.
    pub fn create() -> Option<TestSchema> {
        let Some(server) = std::env::var("CMS_TEST_POSTGRES").ok().filter(|url| !url.is_empty()) else {
            left_out::left_out(left_out::SERVER);
            return None;
        };
        let name = format!("test_{:016x}", rand::random::<u64>());
        execute(&server, &format!("CREATE SCHEMA {name}"));
        let mark = if server.contains('?') { '&' } else { '?' };
        Some(TestSchema { url: format!("{server}{mark}options=-csearch_path%3D{name}"), name, server })
    }

    /// Carries out statements in it.
    pub fn execute(&self, text: &str) {
        execute(&self.url, text);
    }
}

impl Drop for TestSchema {
    fn drop(&mut self) {
        execute(&self.server, &format!("DROP SCHEMA {} CASCADE", self.name));
    }
}

fn execute(url: &str, text: &str) {
    super::postgres::execute(url, text);
}

pub fn name(text: &str) -> Name {
    text.into()
}

pub fn names(all: &[&str]) -> Vec<Name> {
    all.iter().map(|n| name(n)).collect()
}

pub fn text(value: &str) -> DbValue {
    DbValue::Text(value.into())
}

pub fn int(value: i64) -> DbValue {
    DbValue::Int(value)
}

pub fn column(name: &str, ty: ColumnType) -> ColumnDef {
    ColumnDef { name: name.into(), ty, default: None, was: None, rule: None }
}

pub fn column_or(name: &str, ty: ColumnType, default: DbValue) -> ColumnDef {
    ColumnDef { default: Some(default), ..column(name, ty) }
}

pub fn index(name: &str, columns: &[&str]) -> IndexDef {
    let columns = columns.iter().map(|c| (Arc::from(*c), false)).collect();
    IndexDef { name: name.into(), columns, unique: false, partial: false }
}

pub fn table(name: &str, space: Option<&str>, columns: Vec<ColumnDef>, indexes: Vec<IndexDef>) -> TableDef {
    TableDef {
        name: name.into(),
        key: column("id", ColumnType::Int),
        space: space.map(Name::from),
        columns,
        indexes,
        versioned: true,
        extends: None,
        kind: None,
        states: None,
    }
}

pub fn layout() -> Layout {
    use ColumnType::{Int, Json, Key, Real, Text, Word};
    let record = table(
        "record",
        Some("content"),
        vec![
            column("kind", Word),
            column("status", Word),
            column("slug", Text),
            column_or("author", Int, int(0)),
            column_or("parent", Int, int(0)),
            column("date_local", Int),
            column("title", Text),
            column("title_key", Key),
            column("content", Text),
            column_or("sticky", Int, int(0)),
            column_or("comment_count", Int, int(0)),
            column("extra", Json),
        ],
        vec![
            index("date", &["kind", "status", "date_local"]),
            index("author", &["kind", "status", "author", "date_local"]),
            index("titles", &["kind", "status", "title_key"]),
            index("parent", &["parent", "kind", "status", "date_local"]),
        ],
    );
    let mut book = table(
        "x_book",
        None,
        vec![column("isbn", Text), column_or("pages", Int, int(1)), column("price", Real)],
        vec![index("isbn", &["isbn"])],
    );
    book.extends = Some("record".into());
    book.versioned = false;
    let mut term = table(
        "term",
        Some("term"),
        vec![
            column("taxonomy", Word),
            column("name", Text),
            column("name_key", Key),
            column("slug", Text),
            column_or("count", Int, int(0)),
        ],
        vec![index("name", &["taxonomy", "name_key"])],
    );
    term.indexes.push(IndexDef {
        name: "unique_name".into(),
        columns: vec![("taxonomy".into(), false), ("name".into(), false)],
        unique: true,
        partial: false,
    });
    let comment = table(
        "comment",
        Some("comment"),
        vec![column("post", Int), column("status", Word), column("content", Text), column("date_local", Int)],
        vec![index("post", &["post", "status", "date_local"])],
    );
    let mut order = table(
        "x_order",
        Some("x_order"),
        vec![
            column("note", Text),
            column_or("total", Int, int(0)),
            column("state", Text),
            column("placed", Int),
            column_or("ends", Int, int(0)),
        ],
        vec![index("placed", &["state", "placed"]), IndexDef { partial: true, ..index("ends", &["state", "ends"]) }],
    );
    order.states = Some(States { column: "state".into(), values: names(&["open", "paid"]) });
    let mut option = table("option", None, vec![column("value", Text)], vec![]);
    option.key = column("name", Text);
    option.versioned = false;
    let relation = |name: &str, statuses: &[&str]| RelationDef {
        name: name.into(),
        src: "record".into(),
        dst: "term".into(),
        status: Some("status".into()),
        sort: Some("date_local".into()),
        counted: Some(Counted { column: "count".into(), statuses: names(statuses) }),
        only_kind: Some("post".into()),
        inside: None,
    };
    Layout {
        references: Vec::new(),
        searched: vec![("record".into(), names(&["title", "content"]))],
        tables: vec![record, book, term, comment, order, option],
        relations: vec![
            relation("post.categories", &["publish"]),
            relation("post.tags", &["publish", "private"]),
            RelationDef {
                name: "order.items".into(),
                src: "x_order".into(),
                dst: "record".into(),
                status: Some("state".into()),
                sort: Some("placed".into()),
                counted: None,
                only_kind: None,
                inside: None,
            },
        ],
        counts: vec![CountDef {
            table: "comment".into(),
            reference: "post".into(),
            status: "status".into(),
            statuses: names(&["approved"]),
            parent: "record".into(),
            column: "comment_count".into(),
        }],
    }
}

/// Carries a plan out and waits.
pub fn commit(db: &dyn Storage, changes: Vec<Change>) -> Result<Committed, CommitError> {
    wait(db.commit(WritePlan::new(changes)))
}

pub fn put(table: &str, target: Target, set: &[(&str, DbValue)]) -> Put {
    Put {
        table: table.into(),
        target,
        set: set.iter().map(|(n, v)| (name(n), Input::Value(v.clone()))).collect(),
        slug: None,
        edges: Vec::new(),
        meta: Vec::new(),
        revisions: Vec::new(),
    }
}

pub fn existing(id: i64) -> Target {
    Target::Existing { key: int(id), expect: None }
}

pub fn post(status: &str, date: i64, title: &str) -> Put {
    put(
        "record",
        Target::New,
        &[
            ("kind", text("post")),
            ("status", text(status)),
            ("date_local", int(date)),
            ("title", text(title)),
            ("title_key", text(&cms_text::fold(title))),
        ],
    )
}

pub fn slug(scope: &str, candidates: &[&str]) -> SlugClaim {
    SlugClaim {
        column: "slug".into(),
        scope: Some(scope.into()),
        candidates: candidates.iter().map(|c| Arc::from(*c)).collect(),
        reserved: false,
        refuse: None,
        longest: SlugClaim::LONGEST,
    }
}

/// The id of the one row that a commit put.
pub fn id(done: Result<Committed, CommitError>) -> i64 {
    match done.unwrap().puts[..] {
        [PutDone { key: DbValue::Int(id), .. }] => id,
        ref puts => panic!("one row was to be put: {puts:?}"),
    }
}

pub fn read(table: &str, columns: &[&str], filter: Cond) -> ReadPlan {
    ReadPlan {
        table: table.into(),
        extensions: Vec::new(),
        columns: names(columns),
        filter,
        order: Vec::new(),
        limit: None,
        offset: 0,
        width: None,
    }
}

pub fn eq(column: &str, value: DbValue) -> Cond {
    Cond::Compare(column.into(), Op::Eq, value)
}

pub fn rows(db: &dyn Storage, plan: &ReadPlan) -> Vec<Row> {
    db.snapshot().unwrap().rows(plan).unwrap()
}

/// The first column of the rows, as integers.
pub fn ints(rows: Vec<Row>) -> Vec<i64> {
    rows.into_iter().map(|row| if let DbValue::Int(n) = row[0] { n } else { panic!("{row:?}") }).collect()
}
