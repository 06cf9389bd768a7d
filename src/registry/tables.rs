//! The tables of the families, and the table of a declared kind.
//!
//! Shapes follow docs/data-model: shared columns are written once here; what a resource declares beyond them lives in
//! its extension table `x_<kind>`.

use super::columns::{
    ID, VERSION, app_password, comment, file, link, old_address, outbox, preview, record, term, user,
};
use super::resource::PropertyKind;
use cms_config::declaration::{Declaration, Family};
use cms_storage::plan::{
    ColumnDef, ColumnType, CountDef, Counted, DbValue, IndexDef, Name, States, TableDef, ValueRule,
};
use std::sync::Arc;

use ColumnType::{Int, Json, Key, Text, Word};

/// The shared table of a family; `None` for families whose rows live in tables of their own, or that have none.
pub fn family_table(family: Family) -> Option<&'static str> {
    match family {
        Family::Content => Some(record::TABLE),
        Family::Term => Some(term::TABLE),
        Family::Comment => Some(comment::TABLE),
        Family::User => Some(user::TABLE),
        Family::Plain | Family::Singleton | Family::Catalogue | Family::Virtual => None,
    }
}

const RECORD: &[(&str, ColumnType)] = &[
    (record::KIND, Word),
    (record::STATUS, Word),
    (record::STATUS_BEFORE, Word),
    (record::SLUG, Text),
    (record::SLUG_BEFORE, Text),
    (record::AUTHOR, Int),
    (record::PARENT, Int),
    (record::MENU_ORDER, Int),
    (record::DATE_LOCAL, Int),
    (record::DATE_UTC, Int),
    (record::DATE_FLOATS, Int),
    (record::MODIFIED_LOCAL, Int),
    (record::MODIFIED_UTC, Int),
    (record::TITLE, Text),
    (record::TITLE_KEY, Key),
    (record::CONTENT, Text),
    (record::EXCERPT, Text),
    (record::PASSWORD, Text),
    (record::COMMENT_STATUS, Word),
    (record::PING_STATUS, Word),
    (record::MIME, Text),
    (record::FILE, Text),
    (record::GUID, Text),
    (record::STICKY, Int),
    (record::FORMAT, Word),
    (record::TEMPLATE, Text),
    (record::FEATURED_MEDIA, Int),
    (record::COMMENT_COUNT, Int),
    (record::TRASHED_AT, Int),
    (record::EXTRA, Json),
];

const TERM: &[(&str, ColumnType)] = &[
    (term::TAXONOMY, Word),
    (term::NAME, Text),
    (term::NAME_KEY, Key),
    (term::SLUG, Text),
    (term::DESCRIPTION, Text),
    (term::PARENT, Int),
    (term::COUNT, Int),
    (term::EXTRA, Json),
];

const USER: &[(&str, ColumnType)] = &[
    (user::LOGIN, Text),
    (user::LOGIN_KEY, Key),
    (user::EMAIL, Text),
    (user::EMAIL_KEY, Key),
    (user::EMAIL_PENDING, Int),
    (user::EMAIL_BEFORE, Text),
    (user::NAME, Text),
    (user::NAME_KEY, Key),
    (user::FIRST_NAME, Text),
    (user::LAST_NAME, Text),
    (user::NICKNAME, Text),
    (user::SLUG, Text),
    (user::URL, Text),
    (user::DESCRIPTION, Text),
    (user::LOCALE, Text),
    (user::REGISTERED, Int),
    (user::ROLES, Text),
    (user::PASSWORD_HASH, Text),
    (user::EXTRA, Json),
];

const COMMENT: &[(&str, ColumnType)] = &[
    (comment::POST, Int),
    (comment::PARENT, Int),
    (comment::AUTHOR, Int),
    (comment::AUTHOR_NAME, Text),
    (comment::AUTHOR_EMAIL, Text),
    (comment::AUTHOR_URL, Text),
    (comment::AUTHOR_IP, Text),
    (comment::AUTHOR_USER_AGENT, Text),
    (comment::DATE_LOCAL, Int),
    (comment::DATE_UTC, Int),
    (comment::CONTENT, Text),
    (comment::STATUS, Word),
    (comment::STATUS_BEFORE, Word),
    (comment::KIND, Word),
    (comment::KARMA, Int),
    (comment::EXTRA, Json),
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
        table(record::TABLE, "content", RECORD, RECORD_INDEXES),
        table(term::TABLE, "term", TERM, TERM_INDEXES),
        table(user::TABLE, "user", USER, USER_INDEXES),
        table(comment::TABLE, "comment", COMMENT, COMMENT_INDEXES),
        credentials(),
        session(),
        presence(),
        links(),
        previews(),
        old_addresses(),
        messages(),
        files(),
    ]
}

/// Credentials of programs. The hash is keyed, so that the table alone verifies nothing.
fn credentials() -> TableDef {
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
    let usual = columns.iter().map(|(name, ty)| column(name, *ty));
    let token = ColumnDef { default: Some(DbValue::Int(0)), ..column(app_password::TOKEN, Int) };
    let index = |index: &str, columns: &[&str], unique: bool| IndexDef {
        name: n(index),
        columns: columns.iter().map(|column| (n(column), false)).collect(),
        unique,
    };
    TableDef {
        name: n(app_password::TABLE),
        key: column(app_password::KEY, Text),
        space: None,
        columns: usual.chain([token]).collect(),
        indexes: vec![
            index("app_password_hash", &["hash"], true),
            index("app_password_user", &[app_password::USER], false),
            index("app_password_token", &[app_password::TOKEN, app_password::EXPIRES], false),
        ],
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

/// Browser sessions. The hash is keyed, so that the table alone authenticates nobody.
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
        kind: None,
        states: None,
    }
}

/// Records that windows of the console have open; the key is that of the user's window.
fn presence() -> TableDef {
    let columns = [("user", Int), ("resource", Text), ("item", Text), ("since", Int), ("taken", Int), ("expires", Int)];
    let index = |index: &str, columns: &[&str]| IndexDef {
        name: n(index),
        columns: columns.iter().map(|column| (n(column), false)).collect(),
        unique: false,
    };
    TableDef {
        name: n("presence"),
        key: column("key", Text),
        space: None,
        columns: columns.iter().map(|(name, ty)| column(name, *ty)).collect(),
        indexes: vec![index("presence_item", &["resource", "item"]), index("presence_user", &["user"])],
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

/// Links with which a password is set. The hash is keyed, so that the table alone authenticates nobody.
fn links() -> TableDef {
    let columns = [(link::USER, Int), (link::EXPIRES, Int), (link::BOUND, Text)];
    TableDef {
        name: n(link::TABLE),
        key: column(link::HASH, Text),
        space: None,
        columns: columns.iter().map(|(name, ty)| column(name, *ty)).collect(),
        indexes: vec![IndexDef { name: n("password_link_user"), columns: vec![(n(link::USER), false)], unique: false }],
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

/// Links that show a record as it is being edited. A token is signed, and stored nowhere.
fn previews() -> TableDef {
    let columns = [preview::RECORD, preview::USER, preview::CREATED, preview::EXPIRES];
    let index =
        |index: &str, column: &str| IndexDef { name: n(index), columns: vec![(n(column), false)], unique: false };
    TableDef {
        name: n(preview::TABLE),
        key: column(preview::ID, Text),
        space: None,
        columns: columns.iter().map(|name| column(name, Int)).collect(),
        indexes: vec![
            index("preview_link_record", preview::RECORD),
            index("preview_link_user", preview::USER),
            index("preview_link_end", preview::EXPIRES),
        ],
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

/// Addresses that records had. They name the record, not another address, so that no chain of them is followed.
fn old_addresses() -> TableDef {
    let columns =
        [(old_address::SCOPE, Text), (old_address::SLUG, Text), (old_address::DATE, Int), (old_address::RECORD, Int)];
    let index = |index: &str, columns: &[&str]| IndexDef {
        name: n(index),
        columns: columns.iter().map(|column| (n(column), false)).collect(),
        unique: false,
    };
    TableDef {
        name: n(old_address::TABLE),
        key: column(ID, Int),
        space: Some(n(old_address::TABLE)),
        columns: columns.iter().map(|(name, ty)| column(name, *ty)).collect(),
        indexes: vec![
            index("old_address_slug", &[old_address::SLUG, old_address::SCOPE]),
            index("old_address_record", &[old_address::RECORD]),
        ],
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

/// Messages that wait to be sent. Their texts are written when they are sent, so that no token is stored here.
fn messages() -> TableDef {
    let columns = [
        (outbox::KIND, Text),
        (outbox::USER, Int),
        (outbox::ADDRESS, Text),
        (outbox::DATA, Text),
        (outbox::CREATED, Int),
        (outbox::DUE, Int),
        (outbox::ATTEMPTS, Int),
    ];
    TableDef {
        name: n(outbox::TABLE),
        key: column(ID, Int),
        space: Some(n(outbox::TABLE)),
        columns: columns.iter().map(|(name, ty)| column(name, *ty)).collect(),
        indexes: vec![IndexDef { name: n("outbox_due"), columns: vec![(n(outbox::DUE), false)], unique: false }],
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

/// Files by their keys. A row is written before its file and outlives it, so that nothing is lost from sight; a file
/// without a record is on its way in or out.
fn files() -> TableDef {
    let columns = [(file::RECORD, Int), (file::AT, Int)];
    TableDef {
        name: n(file::TABLE),
        key: column(file::KEY, Text),
        space: None,
        columns: columns
            .iter()
            .map(|(name, ty)| ColumnDef { default: Some(DbValue::Int(0)), ..column(name, *ty) })
            .collect(),
        indexes: vec![IndexDef {
            name: n("file_record"),
            columns: vec![(n(file::RECORD), false), (n(file::AT), false)],
            unique: false,
        }],
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

/// Counts of rows that the writer stores in their parents.
pub fn counts(declared: &Declaration) -> Vec<CountDef> {
    vec![CountDef {
        table: n(comment::TABLE),
        reference: n(comment::POST),
        status: n(comment::STATUS),
        statuses: declared.comment_statuses_where(|status| status.public).map(n).collect(),
        parent: n(record::TABLE),
        column: n(record::COMMENT_COUNT),
    }]
}

/// The records that a relation to terms counts: public ones, and files, which are as visible as their parents.
pub fn term_count(declared: &Declaration) -> Counted {
    let statuses = declared.statuses_where(|status| status.public || status.inherits).map(n).collect();
    Counted { column: n(term::COUNT), statuses }
}

/// Columns that a family keeps for itself, where properties are shown under other names or not at all. A property that is
/// called like one would meet it by accident.
pub fn kept_columns(family: Family) -> Vec<&'static str> {
    const KEPT: [&str; 21] = [
        record::KIND,
        record::STATUS_BEFORE,
        record::SLUG_BEFORE,
        record::DATE_LOCAL,
        record::DATE_UTC,
        record::DATE_FLOATS,
        record::MODIFIED_LOCAL,
        record::MODIFIED_UTC,
        record::TITLE_KEY,
        record::MIME,
        record::FILE,
        record::COMMENT_COUNT,
        record::TRASHED_AT,
        record::EXTRA,
        term::NAME_KEY,
        user::LOGIN_KEY,
        user::EMAIL_KEY,
        user::PASSWORD_HASH,
        user::EMAIL_PENDING,
        user::EMAIL_BEFORE,
        VERSION,
    ];
    family_columns(family).into_iter().filter(|column| KEPT.contains(column)).collect()
}

/// Columns of a family that no client writes, whatever property shows them.
pub fn engine_columns(family: Family) -> &'static [&'static str] {
    match family {
        Family::Content => &[record::GUID, record::COMMENT_COUNT],
        Family::Term => &[term::COUNT, term::TAXONOMY],
        _ => &[],
    }
}

/// The columns of a family's shared table, without key and version.
fn shared_columns(family: Family) -> &'static [(&'static str, ColumnType)] {
    match family {
        Family::Content => RECORD,
        Family::Term => TERM,
        Family::User => USER,
        Family::Comment => COMMENT,
        _ => &[],
    }
}

/// The type of a column of a family's shared table.
pub fn family_column_type(family: Family, column: &str) -> Option<ColumnType> {
    shared_columns(family).iter().find(|(name, _)| *name == column).map(|(_, ty)| *ty)
}

/// Names of the columns of a family's shared table, key and version included.
pub fn family_columns(family: Family) -> Vec<&'static str> {
    let columns = shared_columns(family);
    if columns.is_empty() {
        return Vec::new();
    }
    let mut names = vec![ID];
    names.extend(columns.iter().map(|(name, _)| *name));
    names.push(VERSION);
    names
}

/// A column of a declared kind.
#[derive(Clone, Debug)]
pub struct DeclaredColumn {
    pub name: String,
    pub kind: PropertyKind,
    pub indexed: bool,
    /// Lists can be sorted by it.
    pub sorted: bool,
    pub unique: bool,
    pub was: Option<String>,
    pub rule: Option<ValueRule>,
}

/// The table of a plain resource, or the extension table of a kind of the other families. `states`: with whether lists always
/// select by them.
pub fn declared(
    (table, kind): (&str, &Name),
    key: &str,
    key_is_text: bool,
    extends: Option<&str>,
    columns: &[DeclaredColumn],
    states: Option<(States, bool)>,
) -> TableDef {
    let state = states.as_ref().map(|(states, _)| &*states.column);
    let within = |c: &&DeclaredColumn| c.sorted && state.is_some_and(|state| *c.name != *state);
    // An index that begins with the state serves every list that selects by states.
    let replaced = |c: &&DeclaredColumn| match &states {
        Some((_, true)) if state == Some(&c.name) => columns.iter().any(|c| within(&c)),
        Some((_, true)) => !c.indexed,
        _ => false,
    };
    let single = columns.iter().filter(|c| c.unique || (c.indexed || c.sorted) && !replaced(c)).map(|c| IndexDef {
        name: n(&format!("{table}_{}", c.name)),
        columns: vec![(n(&c.name), false)],
        unique: c.unique,
    });
    let of_states = state.into_iter().flat_map(|state| {
        columns.iter().filter(within).map(move |c| IndexDef {
            name: n(&format!("{table}_{state}.{}", c.name)),
            columns: vec![(n(state), false), (n(&c.name), false)],
            unique: false,
        })
    });
    let indexes = single.chain(of_states).collect();
    TableDef {
        name: n(table),
        key: column(key, if key_is_text { Text } else { Int }),
        space: (extends.is_none() && !key_is_text).then(|| n(table)),
        columns: columns
            .iter()
            .map(|c| ColumnDef {
                was: c.was.as_deref().map(n),
                rule: c.rule.clone(),
                ..column(&c.name, storage_type(c.kind))
            })
            .collect(),
        indexes,
        versioned: extends.is_none(),
        extends: extends.map(n),
        kind: Some(kind.clone()),
        states: states.map(|(states, _)| states),
    }
}

fn storage_type(kind: PropertyKind) -> ColumnType {
    match kind {
        PropertyKind::Text => Text,
        PropertyKind::Integer | PropertyKind::Boolean | PropertyKind::Time => Int,
        PropertyKind::Number => ColumnType::Real,
        PropertyKind::Json => Json,
    }
}

fn table(name: &str, space: &str, columns: &[(&str, ColumnType)], indexes: Indexes) -> TableDef {
    TableDef {
        name: n(name),
        key: column(ID, Int),
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
        kind: None,
        states: None,
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
    ColumnDef { name: n(name), ty, default: None, was: None, rule: None }
}

fn n(text: &str) -> Name {
    Arc::from(text)
}
