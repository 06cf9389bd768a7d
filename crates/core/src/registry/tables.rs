//! The tables of the families, and the table of a declared kind.
//!
//! Shapes follow docs/data-model: shared columns are written once here; what a resource declares beyond them lives in
//! its extension table `x_<kind>`.

use super::columns::{
    ID, VERSION, app_password, client, comment, factor, file, link, login_identity, login_state, old_address, outbox,
    presence, preview, record, recovery, session, term, user,
};
use super::resource::PropertyKind;
use cms_declaration::{Declaration, Family, Moment};
use cms_storage::plan::{
    ColumnDef, ColumnType, CountDef, Counted, DbValue, IndexDef, Name, States, TableDef, ValueRule,
};
use std::collections::BTreeSet;
use std::sync::Arc;

use ColumnType::{Int, Json, Key, Text};

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

/// A table that the resources of a family share.
struct SharedTable {
    family: Family,
    name: &'static str,
    /// Where its ids and companion rows (meta) are.
    space: &'static str,
    columns: &'static [(&'static str, ColumnType)],
    indexes: Indexes,
    /// The column that says of which resource a row is, where it has rows of several.
    kind: Option<&'static str>,
    /// Columns that no client writes, whatever property shows them.
    engine: &'static [&'static str],
}

const SHARED: [SharedTable; 4] = [
    SharedTable {
        family: Family::Content,
        name: record::TABLE,
        space: "content",
        columns: record::COLUMNS,
        indexes: RECORD_INDEXES,
        kind: Some(record::KIND),
        engine: &[record::GUID, record::COMMENT_COUNT],
    },
    SharedTable {
        family: Family::Term,
        name: term::TABLE,
        space: term::TABLE,
        columns: term::COLUMNS,
        indexes: TERM_INDEXES,
        kind: Some(term::TAXONOMY),
        engine: &[term::COUNT, term::TAXONOMY],
    },
    SharedTable {
        family: Family::User,
        name: user::TABLE,
        space: user::TABLE,
        columns: user::COLUMNS,
        indexes: USER_INDEXES,
        kind: None,
        engine: &[],
    },
    SharedTable {
        family: Family::Comment,
        name: comment::TABLE,
        space: comment::TABLE,
        columns: comment::COLUMNS,
        indexes: COMMENT_INDEXES,
        kind: None,
        engine: &[],
    },
];

fn shared_table(family: Family) -> Option<&'static SharedTable> {
    SHARED.iter().find(|table| table.family == family)
}

/// The shared table of a family; `None` for families whose rows live in tables of their own, or that have none.
pub fn family_table(family: Family) -> Option<&'static str> {
    shared_table(family).map(|table| table.name)
}

/// The space of a family's ids and companion rows (meta), where its resources share one.
pub fn family_space(family: Family) -> Option<&'static str> {
    shared_table(family).map(|table| table.space)
}

/// The column that says of which resource of a family a row is.
pub fn kind_column(family: Family) -> Option<&'static str> {
    shared_table(family)?.kind
}

const CREDENTIAL_INDEXES: Indexes = &[
    ("app_password_hash", &["hash"], true),
    ("app_password_user", &["user"], false),
    ("app_password_token", &["token", "expires"], false),
];

const PRESENCE_INDEXES: Indexes =
    &[("presence_item", &["resource", "item"], false), ("presence_user", &["user"], false)];

const PREVIEW_INDEXES: Indexes = &[
    ("preview_link_record", &["record"], false),
    ("preview_link_user", &["user"], false),
    ("preview_link_end", &["expires"], false),
];

const OLD_ADDRESS_INDEXES: Indexes =
    &[("old_address_slug", &["slug", "scope"], false), ("old_address_record", &["record"], false)];

/// The column of a time of a record.
pub fn moment_column(moment: Moment) -> &'static str {
    match moment {
        Moment::Date => record::DATE_UTC,
        Moment::Modified => record::MODIFIED_UTC,
        Moment::Trashed => record::TRASHED_AT,
    }
}

/// The indexes by which records that wait for a declared transition are found, in the order in which they fall due.
fn transition_indexes(declared: &Declaration) -> Vec<IndexDef> {
    let columns: BTreeSet<&str> =
        declared.statuses.values().filter_map(|status| Some(moment_column(status.transition.as_ref()?.on))).collect();
    let has = |column: &str| RECORD_INDEXES.iter().any(|(_, columns, _)| *columns == [record::STATUS, column]);
    let index = |column: &str| IndexDef {
        name: n(&format!("{}_{column}", record::TABLE)),
        columns: vec![(n(record::STATUS), false), (n(column), false)],
        unique: false,
        partial: true,
    };
    columns.into_iter().filter(|column| !has(column)).map(index).collect()
}

/// The tables of every site.
pub fn shared(declared: &Declaration) -> Vec<TableDef> {
    let own = [
        own(app_password::TABLE, (app_password::KEY, Text), app_password::COLUMNS, CREDENTIAL_INDEXES),
        own(client::TABLE, (client::KEY, Text), client::COLUMNS, &[("oauth_client_end", &["expires"], false)]),
        own(factor::TABLE, (factor::KEY, Text), factor::COLUMNS, &[("second_factor_user", &["user"], false)]),
        own(recovery::TABLE, (recovery::HASH, Text), recovery::COLUMNS, &[("recovery_code_user", &["user"], false)]),
        own(session::TABLE, (session::HASH, Text), session::COLUMNS, &[("session_user", &["user"], false)]),
        own(
            login_identity::TABLE,
            (login_identity::KEY, Text),
            login_identity::COLUMNS,
            &[("login_identity_user", &["user"], false)],
        ),
        own(login_state::TABLE, (login_state::ID, Text), login_state::COLUMNS, &[]),
        own(presence::TABLE, (presence::KEY, Text), presence::COLUMNS, PRESENCE_INDEXES),
        own(link::TABLE, (link::HASH, Text), link::COLUMNS, &[("password_link_user", &["user"], false)]),
        own(preview::TABLE, (preview::ID, Text), preview::COLUMNS, PREVIEW_INDEXES),
        own(old_address::TABLE, (ID, Int), old_address::COLUMNS, OLD_ADDRESS_INDEXES),
        own(outbox::TABLE, (ID, Int), outbox::COLUMNS, &[("outbox_due", &["due"], false)]),
        own(file::TABLE, (file::KEY, Text), file::COLUMNS, &[("file_record", &["record", "at"], false)]),
    ];
    let shared = SHARED.iter().map(|of| table(of.name, of.space, of.columns, of.indexes));
    let mut tables: Vec<TableDef> = shared.chain(own).collect();
    let records = tables.iter_mut().filter(|table| *table.name == *record::TABLE);
    records.for_each(|table| table.indexes.extend(transition_indexes(declared)));
    tables
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
    const KEPT: [&str; 22] = [
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
        user::FACTOR_DUE,
        VERSION,
    ];
    family_columns(family).into_iter().filter(|column| KEPT.contains(column)).collect()
}

/// Columns of a family that no client writes, whatever property shows them.
pub fn engine_columns(family: Family) -> &'static [&'static str] {
    shared_table(family).map_or(&[], |table| table.engine)
}

/// The columns of a family's shared table, without key and version.
fn shared_columns(family: Family) -> &'static [(&'static str, ColumnType)] {
    shared_table(family).map_or(&[], |table| table.columns)
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
        partial: false,
    });
    let of_states = state.into_iter().flat_map(|state| {
        columns.iter().filter(within).map(move |c| IndexDef {
            name: n(&format!("{table}_{state}.{}", c.name)),
            columns: vec![(n(state), false), (n(&c.name), false)],
            unique: false,
            partial: false,
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

/// A table of the program's own. Secrets in it are hashed with a key, so that the table alone authenticates nobody.
fn own(table_name: &str, key: (&str, ColumnType), columns: &[(&str, ColumnType)], indexes: Indexes) -> TableDef {
    // Passwords are older than tokens, sessions than providers, and programs than their documents; a file without a record is on
    // its way in or out.
    const LATER: [&str; 10] = [
        session::PROVIDER,
        session::ID_TOKEN,
        app_password::ACTIONS,
        app_password::TOKEN,
        app_password::CONNECTED,
        app_password::TOKEN_ENDS,
        app_password::REFRESH,
        app_password::PENDING,
        client::DOCUMENT,
        client::STALE,
    ];
    let later = |name: &str| table_name == file::TABLE || LATER.contains(&name);
    let default = |name: &str, ty| later(name).then(|| default_of(name, ty)).flatten();
    TableDef {
        key: column(key.0, key.1),
        space: (key.1 == Int).then(|| n(table_name)),
        columns: columns
            .iter()
            .map(|(name, ty)| ColumnDef { default: default(name, *ty), ..column(name, *ty) })
            .collect(),
        versioned: false,
        ..table(table_name, table_name, columns, indexes)
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
                partial: false,
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
