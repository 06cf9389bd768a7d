//! The rules of each family's rows: the draft that becomes a write plan, states, slugs, removal, and the error for a write
//! that the database refuses.
//!
//! Handlers, imports, startup and the scheduler share it. It knows a caller where a rule depends on one, but no request
//! and no handler: its caller commits the plan.

pub mod comment;
pub mod content;
pub mod custom_fields;
pub mod failures;
pub mod field_values;
pub mod file;
pub mod parents;
pub mod plain;
pub mod removal;
pub mod replacement;
pub mod term;
pub mod user;
mod values;

use removal::RemovalContext;

use crate::access::failure;
use crate::error::{ApiError, Code, status};
use crate::records::{self, Record, eq, int, text, txt};
use crate::registry::resource::Resource;
use crate::registry::{columns, name};
use crate::request::args::ArgValues;
use crate::request::call::CustomField;
use crate::scope::Scope;
use cms_declaration::Family;
use cms_storage::Snapshot;
use cms_storage::plan::{Change, CommitError, Cond, DbValue, Input, Name, Row, Target};
use serde_json::{Map, Value, json};

/// Columns and what they are set to, in the order in which they are written.
pub type Columns = Vec<(Name, Input)>;

/// The tag of the refusal when another row points to one that is to go.
const POINTED_TO: &str = "pointed_to";

/// A draft of a row: a new one, or changes of an existing one.
#[derive(Clone, Copy)]
pub struct RowEdit<'a> {
    pub scope: &'a Scope,
    pub resource: &'a Resource,
    /// The row as it is; `None`: a new one.
    pub row: Option<&'a Row>,
    /// The values that it is to have, by property.
    pub args: &'a ArgValues,
    /// The declared type of a new comment, where it is not the resource's own.
    pub comment_type: Option<&'a str>,
    /// Changes of single meta values.
    pub custom_fields: &'a [CustomField],
}

impl<'a> RowEdit<'a> {
    /// The row as it is, with its resource.
    pub fn record(&self) -> Option<Record<'a>> {
        self.row.map(|row| Record { resource: self.resource, row })
    }

    /// The value that a property is to have: for a new row perhaps its default.
    fn wanted(&self, property: &str) -> Option<&'a Value> {
        if self.row.is_none() { self.args.get(property) } else { self.args.explicit(property) }
    }

    /// A text that was given.
    fn given_text(&self, property: &str) -> Option<&'a str> {
        self.args.explicit(property).and_then(Value::as_str)
    }

    /// The row that the edit writes.
    fn target(&self) -> Target {
        self.record().map_or(Target::New, existing)
    }
}

/// The plan that makes a new row, which is its first put.
///
/// # Errors
/// The rules of the family.
pub fn plan_creation(edit: &RowEdit<'_>) -> Result<Vec<Change>, ApiError> {
    let mut changes = match edit.resource.family {
        Family::Content => content::plan_creation(edit, content::FileDefaults::default()),
        Family::Term => term::plan_creation(edit),
        Family::Comment => comment::plan_creation(edit),
        _ => plain::plan_creation(edit),
    }?;
    if !edit.resource.is_content() {
        field_values::add(edit, &mut changes)?;
    }
    custom_fields::add(edit, &mut changes)?;
    edit.args.check_deferred()?;
    Ok(changes)
}

/// The plan that changes a row.
///
/// # Errors
/// The rules of the family.
pub fn update(edit: &RowEdit<'_>, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    let mut changes = match edit.resource.family {
        Family::Content => content::update(edit, record),
        Family::Term => term::update(edit, record),
        Family::Comment => comment::update(edit, record),
        _ => plain::update(edit),
    }?;
    if !edit.resource.is_content() {
        field_values::add(&RowEdit { row: Some(record.row), ..*edit }, &mut changes)?;
    }
    custom_fields::add(&RowEdit { row: Some(record.row), ..*edit }, &mut changes)?;
    edit.args.check_deferred()?;
    Ok(changes)
}

/// Prefetches the reads that an update makes beside the row. `given`: properties that the request has.
pub fn ahead_of_update(
    scope: &Scope,
    resource: &Resource,
    snapshot: &dyn Snapshot,
    id: i64,
    given: &dyn Fn(&str) -> bool,
) {
    if resource.is_content() {
        content::ahead_of_update(scope, resource, snapshot, id, given);
    }
}

/// The plan that makes a row of an original (`originals`), which is its last put.
///
/// # Errors
/// The rules of the family.
pub fn from_original(edit: &RowEdit<'_>, original: Record<'_>) -> Result<Vec<Change>, ApiError> {
    let changes = content::from_original(edit, original)?;
    edit.args.check_deferred()?;
    Ok(changes)
}

/// The icon of a resource that declares none.
pub fn icon(resource: &Resource) -> &'static str {
    match resource.family {
        Family::Content if resource.supports("files") => "image",
        Family::Content => "document",
        Family::Term if resource.declared.hierarchical => "folder",
        Family::Term => "tag",
        Family::Comment => "comment",
        Family::User => "user",
        Family::Singleton => "settings",
        Family::Plain | Family::Catalogue | Family::Virtual => "list",
    }
}

/// Whether rows of a resource go to the trash before they are deleted.
pub fn has_trash(resource: &Resource) -> bool {
    match resource.family {
        Family::Content => resource.declared.trash && !resource.supports("attached"),
        Family::Comment => true,
        _ => false,
    }
}

/// The plan that moves a row to the trash, where its family has one (see [`has_trash`]).
///
/// # Errors
/// It is there already.
pub fn trashing(scope: &Scope, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    match record.resource.family {
        Family::Comment => comment::trashing(scope, record),
        _ => content::trashing(scope, record),
    }
}

/// The plan that deletes a row for good, with what the declarations say of rows that refer to it. What belongs to a user
/// goes to `heir`.
///
/// # Errors
/// Rows that stay refer to it; it is a default term.
pub fn removal(scope: &Scope, record: Record<'_>, heir: Option<i64>) -> Result<Vec<Change>, ApiError> {
    let snapshot = scope.snapshot()?;
    let mut left = Vec::new();
    let mut changes = Vec::new();
    if record.resource.is_users() && heir.is_none() {
        for resource in scope.registry.content_types().filter(|resource| resource.declared.trash_with_author) {
            let trash = scope.registry.trash_status();
            let others = Cond::Not(Box::new(eq(columns::record::STATUS, txt(trash))));
            let own = eq(columns::record::AUTHOR, DbValue::Int(record.id()));
            let filter = Cond::All(vec![records::own_rows(resource), own, others]);
            for row in &snapshot.rows(&records::plan(resource, filter))? {
                let record = Record { resource, row };
                left.push(record.id());
                changes.extend(trashing(scope, record)?);
            }
        }
    }
    let (registry, settings) = (&*scope.registry, &*scope.settings);
    let deciding = RemovalContext { registry, snapshot: &*snapshot, settings, heir, left: &left };
    changes.extend(deciding.plan(record).map_err(|held| removal::refused(scope, record.resource, held))?);
    Ok(changes)
}

/// The error for a refused commit. A row that has changed meanwhile is reported as if it were gone: callers that can
/// decide again do so before.
pub fn refusal(scope: &Scope, resource: &Resource, error: CommitError) -> ApiError {
    match error {
        CommitError::Stale => failure(resource, gone(resource.family)),
        CommitError::Refused { tag: POINTED_TO, .. } => failure(resource, Code::CannotDeleteStored)
            .with_message("Other items refer to this one.")
            .with_status(status::CONFLICT),
        CommitError::Refused { tag: "duplicate", row } => duplicate(resource, row),
        CommitError::Refused { tag: "key_taken", .. } => failure(resource, Code::DuplicateValue),
        CommitError::Refused { tag: file::SWEPT | parents::MOVED, .. } => contended(),
        CommitError::Refused { tag, row } => match Code::parse(tag) {
            Some(Code::TermExists) => {
                let id = row.and_then(|row| row.first().map(int)).unwrap_or(0);
                failure(resource, Code::TermExists).with("term_id", json!(id))
            }
            Some(code) => failure(resource, code),
            None => scope.internal(&format!("no error for refusal {tag}")),
        },
        error => commit_failure(scope, error),
    }
}

/// Another row has the value of a property that is unique.
fn duplicate(resource: &Resource, column: Option<Row>) -> ApiError {
    let error = failure(resource, Code::DuplicateValue);
    let column = column.as_ref().and_then(|row| row.first()).map_or("", text);
    let own = column.strip_prefix(&*resource.table).and_then(|rest| rest.strip_prefix('.')).unwrap_or(column);
    let shown = resource.property_of_column(own).filter(|property| !property.hidden);
    let Some(property) = shown else { return error };
    let message = format!("Another item has this {}.", property.name);
    let mut params = Map::new();
    params.insert(property.name.clone(), json!(message));
    error.with_message(message).with("params", Value::Object(params))
}

/// Others kept changing what a write depends on.
pub fn contended() -> ApiError {
    ApiError::new(Code::Busy).with_message("Others are changing the same items at the moment; try again.")
}

/// The refusal of values of fields that the caller may not write.
pub fn forbidden_fields(scope: &Scope, names: &[String]) -> ApiError {
    let message = |name: &str| format!("You may not write {name}. Leave it out: the value that is stored stays.");
    let params: Map<String, Value> = names.iter().map(|name| (name.clone(), json!(message(name)))).collect();
    let error = scope.principal.refuse(Code::ForbiddenField);
    error.with_message(message(&names.join(", "))).with("params", Value::Object(params))
}

/// Why nothing was written, where no rule of a family is the reason.
pub fn commit_failure(scope: &Scope, error: CommitError) -> ApiError {
    match error {
        CommitError::Busy => ApiError::new(Code::Busy),
        CommitError::Unavailable(why) => {
            tracing::error!(request = %scope.request_id, "{why}");
            ApiError::new(Code::StorageReadOnly)
        }
        CommitError::Unknown(why) => {
            tracing::error!(request = %scope.request_id, "{why}");
            ApiError::new(Code::OutcomeUnknown)
        }
        CommitError::Failed(why) => scope.internal(&why),
        error @ (CommitError::Refused { .. } | CommitError::Stale) => {
            tracing::warn!(request = %scope.request_id, "{error}: {error:?}");
            contended()
        }
    }
}

/// The code for a row that is not there.
fn gone(family: Family) -> Code {
    match family {
        Family::Content => Code::PostInvalidId,
        Family::Term => Code::TermInvalid,
        Family::Comment => Code::CommentInvalidId,
        Family::User => Code::UserInvalidId,
        _ => Code::RecordInvalidId,
    }
}

/// The row as it was when it was read.
fn existing(record: Record<'_>) -> Target {
    Target::Existing { key: record.value(&record.resource.key).clone(), expect: record.version() }
}

/// The deletion of the row as it was when it was read.
fn deletion(record: Record<'_>) -> Change {
    let key = record.value(&record.resource.key).clone();
    Change::Remove { table: record.resource.table.clone(), key, expect: record.version() }
}

/// A column and its value.
pub fn column(column: &str, value: DbValue) -> (Name, Input) {
    (name(column), Input::Value(value))
}

/// A column and its text.
pub fn text_column(column: &str, text: &str) -> (Name, Input) {
    self::column(column, crate::records::txt(text))
}

/// The text that a column is set to; `None` where it is set to none.
fn text_of<'c>(set: &'c Columns, column: &str) -> Option<&'c str> {
    set.iter().find_map(|(own, input)| match input {
        Input::Value(DbValue::Text(text)) if &**own == column => Some(&**text),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_a_code_for_what_is_gone() {
        let check = |family: Family, expected: &str| assert_eq!(gone(family).as_str(), expected);
        check(Family::Content, "rest_post_invalid_id");
        check(Family::Term, "rest_term_invalid");
        check(Family::Comment, "rest_comment_invalid_id");
        check(Family::User, "rest_user_invalid_id");
        check(Family::Plain, "rest_invalid_id");
    }

    #[test]
    fn tags_of_plans_are_codes_or_have_arms_of_their_own() {
        for tag in [term::EXISTS, term::SLUG_TAKEN, user::LOGIN_TAKEN, user::EMAIL_TAKEN] {
            assert!(Code::parse(tag).is_some(), "{tag}");
        }
    }

    #[test]
    fn the_text_of_a_column_is_found() {
        let set = vec![column("author", DbValue::Int(1)), text_column("title", "A")];
        assert_eq!(text_of(&set, "title"), Some("A"));
        assert_eq!(text_of(&set, "author"), None, "a number");
        assert_eq!(text_of(&set, "slug"), None);
    }
}
