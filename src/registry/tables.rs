//! The tables of the families, and the table of a declared kind.
//!
//! Shapes follow docs/data-model: shared columns are written once here; what a resource declares beyond them lives in
//! its extension table `x_<kind>`.

use super::resource::Kind;
use crate::config::declaration::Family;
use crate::storage::plan::{ColumnDef, ColumnType, CountDef, Counted, DbValue, IndexDef, Name, TableDef};
use std::sync::Arc;

use ColumnType::{Int, Json, Key, Text, Word};

/// The shared table of a family; `None` for families whose rows live in tables of their own, or that have none.
pub fn family_table(family: Family) -> Option<&'static str> {
    match family {
        Family::Content => Some("record"),
        Family::Term => Some("term"),
        Family::Comment => Some("comment"),
        Family::User => Some("user"),
        Family::Plain | Family::Singleton | Family::Catalogue | Family::Virtual => None,
    }
}

const RECORD: &[(&str, ColumnType)] = &[
    ("kind", Word),
    ("status", Word),
    ("status_before", Word),
    ("slug", Text),
    ("slug_before", Text),
    ("author", Int),
    ("parent", Int),
    ("menu_order", Int),
    ("date_local", Int),
    ("date_utc", Int),
    ("date_floats", Int),
    ("modified_local", Int),
    ("modified_utc", Int),
    ("title", Text),
    ("title_key", Key),
    ("content", Text),
    ("excerpt", Text),
    ("password", Text),
    ("comment_status", Word),
    ("ping_status", Word),
    ("mime", Text),
    ("file", Text),
    ("guid", Text),
    ("sticky", Int),
    ("format", Word),
    ("template", Text),
    ("featured_media", Int),
    ("comment_count", Int),
    ("trashed_at", Int),
    ("extra", Json),
];

const TERM: &[(&str, ColumnType)] = &[
    ("taxonomy", Word),
    ("name", Text),
    ("name_key", Key),
    ("slug", Text),
    ("description", Text),
    ("parent", Int),
    ("count", Int),
    ("extra", Json),
];

const USER: &[(&str, ColumnType)] = &[
    ("login", Text),
    ("login_key", Key),
    ("email", Text),
    ("email_key", Key),
    ("name", Text),
    ("name_key", Key),
    ("first_name", Text),
    ("last_name", Text),
    ("nickname", Text),
    ("slug", Text),
    ("url", Text),
    ("description", Text),
    ("locale", Text),
    ("registered", Int),
    ("roles", Text),
    ("password_hash", Text),
    ("extra", Json),
];

const COMMENT: &[(&str, ColumnType)] = &[
    ("post", Int),
    ("parent", Int),
    ("author", Int),
    ("author_name", Text),
    ("author_email", Text),
    ("author_url", Text),
    ("author_ip", Text),
    ("author_user_agent", Text),
    ("date_local", Int),
    ("date_utc", Int),
    ("content", Text),
    ("status", Word),
    ("status_before", Word),
    ("kind", Word),
    ("karma", Int),
    ("extra", Json),
];

/// Indexes as `(name, columns, unique)`; a leading `-` is descending.
type Indexes = &'static [(&'static str, &'static [&'static str], bool)];

const RECORD_INDEXES: Indexes = &[
    ("record_date", &["kind", "status", "-date_local", "-id"], false),
    ("record_author", &["kind", "author", "status", "-date_local"], false),
    ("record_modified", &["kind", "status", "-modified_local", "-id"], false),
    ("record_title", &["kind", "status", "title_key", "id"], false),
    ("record_slug", &["slug", "kind"], false),
    ("record_parent", &["kind", "parent", "menu_order"], false),
    ("record_due", &["status", "date_utc"], false),
];

const TERM_INDEXES: Indexes = &[
    ("term_name", &["taxonomy", "name_key", "id"], false),
    ("term_slug", &["taxonomy", "slug"], false),
    ("term_parent", &["taxonomy", "parent"], false),
    ("term_count", &["taxonomy", "count"], false),
];

const USER_INDEXES: Indexes = &[
    ("user_login", &["login_key"], true),
    ("user_email", &["email_key"], true),
    ("user_slug", &["slug"], false),
    ("user_name", &["name_key", "id"], false),
];

const COMMENT_INDEXES: Indexes = &[
    ("comment_date", &["status", "-date_utc", "-id"], false),
    ("comment_post", &["post", "status", "-date_utc"], false),
    ("comment_parent", &["parent"], false),
    ("comment_author", &["author", "-date_utc"], false),
    ("comment_email", &["author_email", "-date_utc"], false),
];

/// The fixed tables, for every site.
pub fn shared() -> Vec<TableDef> {
    vec![
        table("record", "content", RECORD, RECORD_INDEXES),
        table("term", "term", TERM, TERM_INDEXES),
        table("user", "user", USER, USER_INDEXES),
        table("comment", "comment", COMMENT, COMMENT_INDEXES),
        app_password(),
        session(),
        file(),
    ]
}

/// Credentials of programs. The hash is keyed, so that the table alone verifies nothing.
fn app_password() -> TableDef {
    let columns = [
        ("user", Int),
        ("app_id", Text),
        ("name", Text),
        ("hash", Key),
        ("created", Int),
        ("ordinal", Int),
        ("last_used", Int),
        ("last_ip", Text),
        ("expires", Int),
        ("read_only", Int),
        ("resources", Text),
    ];
    TableDef {
        name: n("app_password"),
        key: column("uuid", Text),
        space: None,
        columns: columns.iter().map(|(name, ty)| column(name, *ty)).collect(),
        indexes: vec![
            IndexDef { name: n("app_password_hash"), columns: vec![(n("hash"), false)], unique: true },
            IndexDef { name: n("app_password_user"), columns: vec![(n("user"), false)], unique: false },
        ],
        versioned: false,
        extends: None,
    }
}

/// Browsers in which somebody is logged in. The hash is keyed, so that the table alone opens nothing.
fn session() -> TableDef {
    let columns = [("user", Int), ("created", Int), ("seen", Int), ("expires", Int), ("ip", Text), ("agent", Text)];
    TableDef {
        name: n("session"),
        key: column("hash", Text),
        space: None,
        columns: columns.iter().map(|(name, ty)| column(name, *ty)).collect(),
        indexes: vec![IndexDef { name: n("session_user"), columns: vec![(n("user"), false)], unique: false }],
        versioned: false,
        extends: None,
    }
}

/// Files by their keys. A row is written before its file and outlives it, so that nothing is lost from sight; a file
/// without a record is on its way in or out.
fn file() -> TableDef {
    let columns = [("record", Int), ("at", Int)];
    TableDef {
        name: n("file"),
        key: column("key", Text),
        space: None,
        columns: columns
            .iter()
            .map(|(name, ty)| ColumnDef { default: Some(DbValue::Int(0)), ..column(name, *ty) })
            .collect(),
        indexes: vec![IndexDef {
            name: n("file_record"),
            columns: vec![(n("record"), false), (n("at"), false)],
            unique: false,
        }],
        versioned: false,
        extends: None,
    }
}

/// Counts of rows that the writer keeps in their parents.
pub fn counts() -> Vec<CountDef> {
    vec![CountDef {
        table: n("comment"),
        reference: n("post"),
        status: n("status"),
        statuses: vec![n("approved")],
        parent: n("record"),
        column: n("comment_count"),
    }]
}

/// What a relation of records to terms counts.
pub fn term_count() -> Counted {
    Counted { column: n("count"), statuses: vec![n("publish")] }
}

/// Names of the columns of a family's shared table, key and version included.
pub fn family_columns(family: Family) -> Vec<&'static str> {
    let columns = match family {
        Family::Content => RECORD,
        Family::Term => TERM,
        Family::User => USER,
        Family::Comment => COMMENT,
        _ => return Vec::new(),
    };
    let mut names = vec!["id"];
    names.extend(columns.iter().map(|(name, _)| *name));
    names.push("version");
    names
}

/// A column of a declared kind.
#[derive(Clone, Debug)]
pub struct DeclaredColumn {
    pub name: String,
    pub kind: Kind,
    pub indexed: bool,
    pub unique: bool,
    pub was: Option<String>,
}

/// The table of a plain resource, or the extension table of a kind of the other families.
pub fn declared(
    table: &str,
    key: &str,
    key_is_text: bool,
    extends: Option<&str>,
    columns: &[DeclaredColumn],
) -> TableDef {
    let indexes = columns
        .iter()
        .filter(|c| c.indexed || c.unique)
        .map(|c| IndexDef {
            name: n(&format!("{table}_{}", c.name)),
            columns: vec![(n(&c.name), false)],
            unique: c.unique,
        })
        .collect();
    TableDef {
        name: n(table),
        key: column(key, if key_is_text { Text } else { Int }),
        space: (extends.is_none() && !key_is_text).then(|| n(table)),
        columns: columns
            .iter()
            .map(|c| ColumnDef { was: c.was.as_deref().map(n), ..column(&c.name, storage_type(c.kind)) })
            .collect(),
        indexes,
        versioned: extends.is_none(),
        extends: extends.map(n),
    }
}

fn storage_type(kind: Kind) -> ColumnType {
    match kind {
        Kind::Text => Text,
        Kind::Integer | Kind::Boolean | Kind::Time => Int,
        Kind::Number => ColumnType::Real,
        Kind::Json => Json,
    }
}

fn table(name: &str, space: &str, columns: &[(&str, ColumnType)], indexes: Indexes) -> TableDef {
    TableDef {
        name: n(name),
        key: column("id", Int),
        space: Some(n(space)),
        columns: columns
            .iter()
            .map(|(name, ty)| ColumnDef { default: default_of(name, *ty), ..column(name, *ty) })
            .collect(),
        indexes: indexes
            .iter()
            .map(|(name, columns, unique)| IndexDef {
                name: n(name),
                columns: columns.iter().map(|c| (n(c.trim_start_matches('-')), c.starts_with('-'))).collect(),
                unique: *unique,
            })
            .collect(),
        versioned: true,
        extends: None,
    }
}

/// Numbers that are never absent start at 0, texts empty; words and JSON may be null.
fn default_of(name: &str, ty: ColumnType) -> Option<DbValue> {
    match ty {
        Int if name.starts_with("date") && name != "date_floats" => None,
        Int => Some(DbValue::Int(0)),
        Text | Key => Some(DbValue::Text(Arc::from(""))),
        _ => None,
    }
}

fn column(name: &str, ty: ColumnType) -> ColumnDef {
    ColumnDef { name: n(name), ty, default: None, was: None }
}

fn n(text: &str) -> Name {
    Arc::from(text)
}
