//! Records of the content family: dates, states, slugs, trash, revisions.
//!
//! Contract: "Block", "States and transitions"; where the document is silent, the recorded behaviour. Checks of what is
//! given are in `given`, what follows from it in `derived`.

mod derived;
mod given;
pub mod old;
mod proposal;
mod revision;
mod terms;

pub use self::proposal::{ProposedChange, proposal};
pub use self::revision::{HeldContent, RevisionContent};
pub use self::terms::default_terms;
use self::terms::{defaults_beside, edges_of, missing_terms, those_of};
use super::failures::Failures;
use super::field_values;
use super::values::{self, stored};
use super::{Columns, RowEdit, column, existing, text_column};
use crate::behaviours::{WRITES, WriteContext};
use crate::error::{ApiError, Code, refuse_if};
use crate::records::{self, Record, eq, int, text, txt};
pub use crate::registry::columns::record as columns;
use crate::registry::columns::{ID, VERSION};
use crate::registry::resource::{Property, PropertySource, Resource};
use crate::registry::{Registry, name};
use crate::scope::Scope;
use cms_storage::plan::{Change, Cond, DbValue, MetaChange, Name, Put, Row, SlugClaim, Target};
use cms_storage::{ReadRequest, Snapshot};
use cms_text::slug;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

use columns as col;

/// The errors that end requests for these rows.
pub const FAILURES: Failures = Failures {
    list: &[
        Code::CannotView,
        Code::ForbiddenContext,
        Code::ForbiddenOrderby,
        Code::ForbiddenParam,
        Code::NoSearchTerm,
        Code::OrderbyIncludeMissing,
        Code::PostInvalidPageNumber,
    ],
    get: &[
        Code::CannotRead,
        Code::CannotView,
        Code::Forbidden,
        Code::ForbiddenContext,
        Code::PostIncorrectPassword,
        Code::PostInvalidId,
        Code::PostInvalidParent,
    ],
    create: &[
        Code::CannotAssignSticky,
        Code::CannotAssignTerm,
        Code::CannotCreate,
        Code::CannotEditOthers,
        Code::CannotPublish,
        Code::CustomCssMarkup,
        Code::CustomCssType,
        Code::DuplicateValue,
        Code::EmptyContent,
        Code::InvalidAuthor,
        Code::InvalidField,
        Code::PostExists,
        Code::PostInvalidType,
        Code::TermInvalidId,
    ],
    update: &[
        Code::OriginalInvalid,
        Code::CannotAssignSticky,
        Code::CannotAssignTerm,
        Code::CannotEdit,
        Code::CannotEditOthers,
        Code::CannotPublish,
        Code::CustomCssMarkup,
        Code::CustomCssType,
        Code::DuplicateValue,
        Code::EmptyContent,
        Code::InvalidAuthor,
        Code::InvalidField,
        Code::PostInvalidId,
        Code::PostInvalidType,
        Code::PreconditionFailed,
        Code::TermInvalidId,
    ],
    delete: &[
        Code::OriginalInvalid,
        Code::AlreadyTrashed,
        Code::CannotDelete,
        Code::CannotDeleteStored,
        Code::PostInvalidId,
        Code::PreconditionFailed,
        Code::TrashNotSupported,
    ],
};

/// Values that a file contributes to its record, where nothing else is given.
#[derive(Default)]
pub struct FileDefaults {
    /// Texts by column.
    pub texts: Vec<(&'static str, String)>,
    /// Address of the file as it is now: the identifier of the record for ever.
    pub guid: String,
    /// Members of `extra`.
    pub extra: Map<String, Value>,
    /// Other changes of the same commit; the record is its first put.
    pub changes: Vec<Change>,
}

/// The draft of a record: its columns, in part from the request, in part as they were.
struct ContentDraft<'a> {
    resource: &'a Resource,
    before: Option<&'a Row>,
    set: HashMap<String, DbValue>,
    /// Columns of the extension table.
    extension: Vec<(Name, DbValue)>,
    extra: Option<Map<String, Value>>,
    edges: Vec<(Name, Vec<i64>)>,
    meta: Vec<MetaChange>,
    /// A new record's identifier; empty: its address.
    guid: String,
    /// Conditions on the records above, which have to hold at the commit.
    unmoved: Vec<Change>,
}

impl<'a> ContentDraft<'a> {
    fn empty(resource: &'a Resource) -> ContentDraft<'a> {
        ContentDraft {
            resource,
            before: None,
            set: HashMap::new(),
            extension: Vec::new(),
            extra: None,
            edges: Vec::new(),
            meta: Vec::new(),
            guid: String::new(),
            unmoved: Vec::new(),
        }
    }

    /// The column's coming value.
    fn get(&self, column: &str) -> DbValue {
        match (self.given(column), self.before) {
            (Some(value), _) => value,
            (None, Some(row)) => Record { resource: self.resource, row }.value(column).clone(),
            (None, None) => DbValue::Null,
        }
    }

    /// The column's coming value, where it is set. Columns of the extension are found by their short names, too.
    fn given(&self, column: &str) -> Option<DbValue> {
        let named = |name: &Name| **name == *column || name.split_once('.').is_some_and(|(_, own)| own == column);
        let own = || self.extension.iter().rev().find(|(name, _)| named(name)).map(|(_, value)| value);
        self.set.get(column).or_else(own).cloned()
    }

    fn text(&self, column: &str) -> String {
        text(&self.get(column)).to_owned()
    }

    fn int(&self, column: &str) -> i64 {
        int(&self.get(column))
    }

    fn put(&mut self, column: &str, value: DbValue) {
        self.set.insert(column.to_owned(), value);
    }

    /// Sets a column of the record, or of its extension.
    fn set_column(&mut self, column: Name, value: DbValue) {
        match column.split_once('.') {
            Some(_) => self.extension.push((column, value)),
            None => self.put(&column, value),
        }
    }

    fn put_all<const N: usize>(&mut self, columns: [(&'static str, DbValue); N]) {
        self.set.extend(columns.map(|(column, value)| (column.to_owned(), value)));
    }

    fn before_text(&self, column: &str) -> &str {
        self.before.map_or("", |row| Record { resource: self.resource, row }.text(column))
    }

    /// Whether the record has this value in a column already: a value that is sent back unchanged is not a change.
    fn has_already(&self, column: &str, wanted: i64) -> bool {
        self.before.is_some_and(|row| Record { resource: self.resource, row }.int(column) == wanted)
    }
}

/// The moments of a record, on the site's wall clock and in UTC (seconds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dates {
    pub local: i64,
    pub utc: i64,
    /// Nobody has chosen the date: it moves until the record is published.
    pub floats: bool,
    pub modified_local: i64,
    pub modified_utc: i64,
}

impl Dates {
    /// A moment at which all is done.
    pub fn at(local: i64, utc: i64) -> Dates {
        Dates { local, utc, floats: false, modified_local: local, modified_utc: utc }
    }

    fn columns(self) -> impl Iterator<Item = (&'static str, DbValue)> {
        let date = date_columns(self.local, self.utc, self.floats);
        date.into_iter().chain(modified_columns(self.modified_local, self.modified_utc))
    }
}

fn date_columns(local: i64, utc: i64, floats: bool) -> [(&'static str, DbValue); 3] {
    [
        (col::DATE_LOCAL, DbValue::Int(local)),
        (col::DATE_UTC, DbValue::Int(utc)),
        (col::DATE_FLOATS, DbValue::Int(i64::from(floats))),
    ]
}

/// When the record is said to have changed.
pub fn modified_columns(local: i64, utc: i64) -> [(&'static str, DbValue); 2] {
    [(col::MODIFIED_LOCAL, DbValue::Int(local)), (col::MODIFIED_UTC, DbValue::Int(utc))]
}

/// A record as it is stored, without a caller: what imports and the boot write. Its further columns are `set`;
/// what follows from them is derived here.
pub fn put(kind: &str, target: Target, status: &str, dates: Dates, mut set: Columns) -> Put {
    set.push(text_column(col::KIND, kind));
    set.push(text_column(col::STATUS, status));
    set.extend(dates.columns().map(|(name, value)| column(name, value)));
    if let Some(title) = super::text_of(&set, col::TITLE) {
        let key = slug::title_key(title);
        set.push(text_column(col::TITLE_KEY, &key));
    }
    Put::new(col::TABLE, target, set)
}

/// The record that a resource has from the start (`seed`), made at a moment in UTC seconds.
pub fn seed(registry: &Registry, resource: &Resource, now: i64) -> Put {
    let mut set =
        vec![text_column(col::COMMENT_STATUS, derived::CLOSED), text_column(col::PING_STATUS, derived::CLOSED)];
    set.extend(resource.declared.seed.iter().map(|(column, value)| text_column(column, value)));
    put(&resource.kind, Target::New, registry.published_status(), Dates::at(now, now), set)
}

/// The plan that creates a record, perhaps one for a file.
///
/// # Errors
/// The rules of the family.
pub fn plan_creation(edit: &RowEdit<'_>, brought: FileDefaults) -> Result<Vec<Change>, ApiError> {
    ahead_of_creation(edit)?;
    let mut draft = draft(edit)?;
    for (column, value) in &brought.texts {
        if draft.text(column).is_empty() {
            let value = as_if_sent(edit, column, value)?;
            draft.put(column, value);
        }
    }
    if !brought.extra.is_empty() {
        let given = draft.extra.take().unwrap_or_default();
        draft.extra = Some(brought.extra.into_iter().chain(given).collect());
    }
    draft.guid = brought.guid;
    let put = derived::finish(edit, &mut draft)?;
    let mut changes = vec![Change::Put(put)];
    changes.append(&mut draft.unmoved);
    changes.extend(brought.changes);
    field_values::add(edit, &mut changes)?;
    Ok(changes)
}

/// The plan that makes a record of an original: what is given, and else what the original has.
///
/// # Errors
/// The rules of the family; somebody has made it meanwhile.
pub fn from_original(edit: &RowEdit<'_>, original: Record<'_>) -> Result<Vec<Change>, ApiError> {
    let edit = RowEdit { row: None, ..*edit };
    let resource = edit.resource;
    let mut draft = draft(&edit)?;
    for (column, value) in resource.columns.iter().zip(original.row) {
        let own = matches!(&**column, col::SLUG | col::STATUS);
        let fixed = matches!(&**column, col::KIND | col::AUTHOR | ID | VERSION);
        let plain = column.split_once('.').map_or(&**column, |(_, plain)| plain);
        if !fixed && *value != DbValue::Null && (own || draft.get(plain) == DbValue::Null) {
            draft.set_column(column.clone(), value.clone());
        }
    }
    let slug = original.text(col::SLUG);
    let there = Cond::Not(Box::new(eq(col::STATUS, txt(edit.scope.registry.trash_status()))));
    let taken = Cond::All(vec![records::own_rows(resource), eq(col::SLUG, txt(slug)), there]);
    let plan = records::columns(&resource.table, &["id"], taken);
    let put = derived::finish(&edit, &mut draft)?;
    Ok(vec![Change::Require { plan, found: false, tag: super::parents::MOVED }, Change::Put(put)])
}

/// The stored form of a text from a file: that of the caller's own text, where a client may write the column.
fn as_if_sent(edit: &RowEdit<'_>, column: &str, value: &str) -> Result<DbValue, ApiError> {
    let writes = |property: &Property| match &property.source {
        PropertySource::Object(children) => children.iter().any(|c| !c.readonly && c.column.as_deref() == Some(column)),
        _ => property.column.as_deref() == Some(column),
    };
    let property = edit.resource.properties.iter().find(|property| !property.readonly && writes(property));
    let written = property.map(|property| stored(edit.scope, property, &json!(value))).transpose()?.flatten();
    Ok(written.map_or_else(|| txt(value), |(_, value)| value))
}

/// The plan that changes a record and stores a revision.
///
/// # Errors
/// The rules of the family.
pub fn update(edit: &RowEdit<'_>, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    change(edit, record, true)
}

/// The plan that changes a record without a revision.
///
/// # Errors
/// As [`update`].
pub fn overwriting(edit: &RowEdit<'_>, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    change(edit, record, false)
}

fn change(edit: &RowEdit<'_>, record: Record<'_>, keep: bool) -> Result<Vec<Change>, ApiError> {
    let edit = RowEdit { row: Some(record.row), ..*edit };
    let mut draft = draft(&edit)?;
    let mut put = derived::finish(&edit, &mut draft)?;
    if keep {
        put.revisions = derived::revisions(edit.scope, &draft, record, &put)?;
    }
    let moved = old::remembered(&edit, &draft, record, &put);
    let mut changes = vec![Change::Put(put)];
    changes.append(&mut draft.unmoved);
    changes.extend(moved);
    field_values::add(&edit, &mut changes)?;
    Ok(changes)
}

/// The plan that moves a record to the trash, from where it can be restored.
///
/// # Errors
/// It is in the trash already.
pub fn trashing(scope: &Scope, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    let resource = record.resource;
    refuse_if(scope.registry.status_is(record.text(col::STATUS), |status| status.trash), Code::AlreadyTrashed)?;
    let own = record.text(col::SLUG);
    let mut set = vec![
        text_column(col::STATUS, scope.registry.trash_status()),
        text_column(col::STATUS_BEFORE, record.text(col::STATUS)),
        text_column(col::SLUG_BEFORE, own),
        column(col::TRASHED_AT, DbValue::Int(scope.now)),
    ];
    set.extend(modified_columns(scope.local_now(), scope.now).map(|(name, value)| column(name, value)));
    Ok(vec![Change::Put(Put {
        slug: Some(SlugClaim {
            column: name(col::SLUG),
            scope: Some(slug_scope(resource, record.int(col::PARENT))),
            candidates: vec![slug::with_end(own, TRASHED_SLUG).into()],
            reserved: false,
            refuse: None,
            longest: SlugClaim::LONGEST,
        }),
        edges: missing_terms(scope, record, &[], None)?,
        revisions: derived::last_revision(scope, record)?,
        ..Put::new(resource.table.clone(), existing(record), set)
    })])
}

/// The end of slugs of records in the trash.
const TRASHED_SLUG: &str = "__trashed";

/// The slug that a record in the trash had before.
pub fn slug_before(trashed: &str) -> &str {
    trashed.trim_end_matches(TRASHED_SLUG)
}

/// The change that the deletion of a record makes: its children and attached records move up.
pub fn leaving(registry: &Registry, record: Record<'_>) -> Change {
    let resource = record.resource;
    let id = DbValue::Int(record.id());
    // A parent that may be missing stays what it is.
    let own = if resource.declared.loose_parent { Cond::Any(Vec::new()) } else { records::own_rows(resource) };
    let children = Cond::All(vec![own, eq(col::PARENT, id.clone())]);
    let hanging = registry.content_types().filter(|r| r.supports("attached")).map(|r| &*r.kind);
    let hanging = Cond::All(vec![records::words(col::KIND, hanging), eq(col::PARENT, id)]);
    Change::UpdateWhere {
        table: resource.table.clone(),
        filter: Cond::Any(vec![children, hanging]),
        set: vec![(name(col::PARENT), DbValue::Int(record.int(col::PARENT)))],
    }
}

/// Where a slug is unique: in its kind, or among the children of one parent.
pub fn slug_scope(resource: &Resource, parent: i64) -> Arc<str> {
    if resource.declared.hierarchical { format!("{}:{parent}", resource.kind).into() } else { resource.kind.clone() }
}

/// The content of an autosave: the values that the edit gives, and those of `base` for the rest. `None`: the edit
/// gives nothing that autosaves hold.
///
/// # Errors
/// The rules for the values.
pub fn autosave(
    edit: &RowEdit<'_>,
    record: Record<'_>,
    base: &RevisionContent,
) -> Result<Option<RevisionContent>, ApiError> {
    let texts = revision::TEXTS.into_iter().filter_map(|name| edit.resource.property(name));
    let others = revision::properties(HeldContent::of_revisions(edit.scope), edit.resource);
    let others = others.filter(|property| !revision::TEXTS.contains(&&*property.name));
    let held: Vec<&Property> = texts.chain(others).filter(|property| !property.readonly).collect();
    let gives = held.iter().any(|property| edit.args.explicit(&property.name).is_some());
    let content = proposal::changed(edit, record, base, &held)?;
    Ok(gives.then_some(content))
}

/// Whether the default terms of a new record exist is asked together with what else is asked for.
fn ahead_of_creation(edit: &RowEdit<'_>) -> Result<(), ApiError> {
    let snapshot = edit.scope.snapshot()?;
    if !snapshot.can_prefetch() {
        return Ok(());
    }
    for (rel, ids) in defaults_beside(edit.scope, edit.resource, &|name| edit.wanted(name).is_some()) {
        let relation = edit.resource.relations.iter().find(|relation| relation.rel == rel);
        if let Some(relation) = relation {
            snapshot.prefetch(&[ReadRequest::Rows(&those_of(&edit.scope.registry.resources[relation.to], &ids))]);
        }
    }
    Ok(())
}

/// See [`super::ahead_of_update`].
pub fn ahead_of_update(
    scope: &Scope,
    resource: &Resource,
    snapshot: &dyn Snapshot,
    id: i64,
    given: &dyn Fn(&str) -> bool,
) {
    let defaults = defaults_beside(scope, resource, given);
    if !defaults.is_empty() {
        snapshot.prefetch(&[ReadRequest::Edges(&edges_of(&defaults, id))]);
    }
    if resource.supports("revisions") {
        revision::ahead(scope, resource, snapshot, id);
    }
}

/// Columns with rules of their own: dates, state, slug, place and picture.
const RULED: [&str; 7] =
    [col::DATE_LOCAL, col::DATE_UTC, col::STATUS, col::SLUG, col::PARENT, col::TEMPLATE, col::FEATURED_MEDIA];

fn draft<'a>(edit: &RowEdit<'a>) -> Result<ContentDraft<'a>, ApiError> {
    let mut draft = ContentDraft { before: edit.row, ..ContentDraft::empty(edit.resource) };
    for property in edit.resource.properties.iter().filter(|p| !p.readonly) {
        take(edit, &mut draft, property)?;
    }
    given::check(edit, &mut draft)?;
    Ok(draft)
}

/// Takes the value that an edit wants a property to have, where it wants one.
fn take(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>, property: &Property) -> Result<(), ApiError> {
    if let Some((column, text)) = values::derived(edit, property) {
        draft.set_column(column, text);
        return Ok(());
    }
    let Some(value) = edit.wanted(&property.name) else { return Ok(()) };
    if let Some(members) = values::written_members(property) {
        for (member, value) in members.iter().filter_map(|member| Some((member, value.get(&member.name)?))) {
            if let Some((column, value)) = stored(edit.scope, member, value)? {
                draft.set_column(column, value);
            }
        }
        return Ok(());
    }
    match &property.source {
        PropertySource::Relation(index) => {
            let ids = values::related(edit, property, *index, value)?;
            draft.edges.push((edit.resource.relations[*index].rel.clone(), ids));
        }
        PropertySource::Meta => draft.meta.extend(values::meta(edit.resource, value)),
        // Which values are stored follows from what the record will be.
        PropertySource::Fields(_) => {}
        PropertySource::Extra => member(edit, draft, property, value)?,
        PropertySource::Read(..) | PropertySource::Column(_)
            if property.column.as_deref().is_some_and(|column| RULED.contains(&column)) => {}
        _ => {
            values::check_inside(edit, property, value)?;
            if let Some((column, value)) = stored(edit.scope, property, value)? {
                if column.contains('.') {
                    values::check_reference(edit, property, &value)?;
                }
                draft.set_column(column, value);
            }
        }
    }
    Ok(())
}

/// Sets a member of `extra`; the others stay.
fn member(
    edit: &RowEdit<'_>,
    draft: &mut ContentDraft<'_>,
    property: &Property,
    value: &Value,
) -> Result<(), ApiError> {
    let value = match property.write {
        Some(write) => {
            let writing = WriteContext { scope: edit.scope, property };
            let stored = (WRITES[write.0].run)(&writing, value)?;
            match value.is_string() {
                true => json!(text(&stored)),
                false => serde_json::from_str(text(&stored)).unwrap_or_else(|_| json!(text(&stored))),
            }
        }
        None => value.clone(),
    };
    let before = edit.record();
    let stored = || {
        let text = before.map_or("", |record| record.text(col::EXTRA));
        serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default()
    };
    draft.extra.get_or_insert_with(stored).insert(property.name.clone(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_follow_from_the_values() {
        let titled = put(
            "post",
            Target::New,
            "publish",
            Dates { floats: true, ..Dates::at(7200, 3600) },
            vec![text_column("title", "Über")],
        );
        let got = |column: &str| titled.set.iter().find(|(name, _)| &**name == column).map(|(_, input)| input.clone());
        let is = |column: &str, value: DbValue| assert_eq!(got(column), Some(super::super::column(column, value).1));
        is("kind", txt("post"));
        is("status", txt("publish"));
        is("title_key", txt(&slug::title_key("Über")));
        is("date_local", DbValue::Int(7200));
        is("modified_utc", DbValue::Int(3600));
        is("date_floats", DbValue::Int(1));
        let untitled = put("post", Target::New, "publish", Dates::at(0, 0), Vec::new());
        assert!(untitled.set.iter().all(|(name, _)| &**name != "title_key"), "no title, no key");
    }

    #[test]
    fn a_slug_in_the_trash_gives_the_one_before() {
        assert_eq!(slug_before("a-tree__trashed"), "a-tree");
        assert_eq!(slug_before("a-tree"), "a-tree");
    }
}
