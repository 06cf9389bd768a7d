//! Comments: author, moderation, threads, states, the trash.
//!
//! Where the contract is silent, the recorded behaviour applies. Whether a comment is too fast or a duplicate is
//! decided inside the commit, so that two simultaneous requests cannot both pass.

use super::failures::Failures;
use super::values::{meta, stored};
use super::{RowEdit, existing, parents};
use crate::access::{failure, policy};
use crate::behaviours::comment_phrases;
use crate::error::{ApiError, Code};
use crate::records::{self, Record, eq, int, text, txt};
pub use crate::registry::columns::comment as columns;
use crate::registry::columns::{ID, record, user};
use crate::registry::resource::{PropertySource, Resource};
use crate::registry::{Registry, name};
use crate::scope::Scope;
use cms_declaration::{Action, CommentType};
use cms_storage::plan::{Change, Cond, DbValue, MetaChange, Op, Put, Row, Target};
use cms_text::time;
use serde_json::Value;
use std::collections::BTreeMap;

use columns as col;

/// The errors that end requests for these rows.
pub const FAILURES: Failures = Failures {
    list: &[Code::CannotRead, Code::CannotReadPost, Code::ForbiddenContext, Code::ForbiddenParam],
    get: &[Code::CannotRead, Code::CannotReadPost, Code::CommentInvalidId, Code::ForbiddenContext, Code::PostInvalidId],
    create: &[
        Code::CannotCreate,
        Code::CannotReadPost,
        Code::CommentAuthorInvalid,
        Code::CommentAuthorRequired,
        Code::CommentClosed,
        Code::CommentContentInvalid,
        Code::CommentDraftPost,
        Code::CommentDuplicate,
        Code::CommentExists,
        Code::CommentFlood,
        Code::CommentInvalidAuthor,
        Code::CommentInvalidAuthorIp,
        Code::CommentInvalidPostId,
        Code::CommentInvalidStatus,
        Code::CommentInvalidType,
        Code::CommentLoginRequired,
        Code::CommentNotSupported,
        Code::CommentTrashPost,
    ],
    update: &[
        Code::CannotEdit,
        Code::CommentAuthorInvalid,
        Code::CommentContentInvalid,
        Code::CommentInvalidAuthor,
        Code::CommentInvalidAuthorIp,
        Code::CommentInvalidId,
        Code::CommentInvalidPostId,
        Code::CommentTypeFixed,
        Code::PreconditionFailed,
    ],
    delete: &[Code::AlreadyTrashed, Code::CannotDelete, Code::CommentInvalidId, Code::PreconditionFailed],
};

/// Most ancestors of a comment that are searched for a loop.
const DEEPEST: usize = 1000;

/// The values that a write sets on a comment.
#[derive(Default)]
struct CommentDraft {
    set: BTreeMap<&'static str, DbValue>,
    meta: Vec<MetaChange>,
    /// The word for a given state.
    status: Option<String>,
}

impl CommentDraft {
    fn text(&self, column: &str) -> &str {
        self.set.get(column).map_or("", text)
    }

    fn int(&self, column: &str) -> i64 {
        self.set.get(column).map_or(0, int)
    }

    /// Sets a state, and the one to return to.
    fn set_status(&mut self, (status, before): (String, Option<String>)) {
        self.set.insert(col::STATUS, txt(&status));
        self.set.insert(col::STATUS_BEFORE, before.map_or(DbValue::Null, |before| txt(&before)));
    }

    fn put(self, target: Target) -> Change {
        let set = self.set.into_iter().map(|(column, value)| super::column(column, value)).collect();
        Change::Put(Put { meta: self.meta, ..Put::new(col::TABLE, target, set) })
    }
}

/// The plan that makes a comment.
///
/// # Errors
/// No text, no author, a column that is too long.
pub fn plan_creation(edit: &RowEdit<'_>) -> Result<Vec<Change>, ApiError> {
    let resource = edit.resource;
    let mut draft = draft(edit)?;
    let declared = edit.comment_type.and_then(|kind| resource.comment_type(kind));
    if draft.text(col::CONTENT).trim().is_empty() && !declared.is_some_and(|of| has_state(resource, of, &draft)) {
        return Err(failure(resource, Code::CommentContentInvalid));
    }
    signed(edit, &mut draft)?;
    lengths(resource, &draft)?;
    draft.set.insert(col::KIND, edit.comment_type.map_or_else(|| DbValue::Text(resource.kind.clone()), txt));
    let first = match declared {
        // Who may write it needs no moderator.
        Some(_) => edit.scope.registry.approved_comment_status(),
        None => first_status(edit, &draft)?,
    };
    let given = draft.status.take();
    let status = given.and_then(|word| transition(&edit.scope.registry, first, "", &word));
    draft.set_status(status.unwrap_or_else(|| (first.into(), None)));
    let mut changes = vec![on_a_record(&draft)];
    // An imported comment was accepted before.
    if declared.is_none() && edit.scope.imported.is_none() {
        changes.push(twice(&edit.scope.registry, &draft));
        changes.extend(too_soon(edit, &draft));
    }
    changes.push(draft.put(Target::New));
    Ok(changes)
}

/// The plan that changes a comment.
///
/// # Errors
/// No text, no such author or record, a column that is too long.
pub fn update(edit: &RowEdit<'_>, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    let mut draft = draft(edit)?;
    clean_for_author(edit.scope, record, &mut draft)?;
    let state =
        edit.resource.comment_type(record.text(col::KIND)).is_some_and(|of| has_state(edit.resource, of, &draft));
    if draft.set.contains_key(col::CONTENT) && draft.text(col::CONTENT).trim().is_empty() && !state {
        return Err(failure(edit.resource, Code::CommentContentInvalid));
    }
    lengths(edit.resource, &draft)?;
    movable(edit.scope, record, &draft)?;
    let mut changes = Vec::new();
    if draft.int(col::POST) != 0 {
        changes.push(on_a_record(&draft));
    }
    if let Some(word) = draft.status.take()
        && let Some(states) =
            transition(&edit.scope.registry, record.text(col::STATUS), record.text(col::STATUS_BEFORE), &word)
    {
        draft.set_status(states);
    }
    changes.push(draft.put(edit.target()));
    Ok(changes)
}

/// The plan that moves a comment to the trash, from where it can be restored.
///
/// # Errors
/// It is in the trash already.
pub fn trashing(scope: &Scope, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    let registry = &scope.registry;
    let status = record.text(col::STATUS);
    if registry.comment_status_is(status, |status| status.trash) {
        return Err(failure(record.resource, Code::AlreadyTrashed));
    }
    let mut draft = CommentDraft::default();
    draft.set_status((registry.trashed_comment_status().to_owned(), Some(status.to_owned())));
    let mut changes = vec![draft.put(existing(record))];
    if record.resource.comment_type(record.text(col::KIND)).is_some() {
        changes.extend(replies_to_trash(scope, record)?);
    }
    Ok(changes)
}

/// The replies to a comment of a declared type go to the trash with it.
fn replies_to_trash(scope: &Scope, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    let removed = scope.registry.declaration.comment_statuses_where(|status| status.removed);
    let filter = Cond::All(vec![
        eq(col::PARENT, DbValue::Int(record.id())),
        eq(col::KIND, txt(record.text(col::KIND))),
        Cond::Not(Box::new(records::words(col::STATUS, removed))),
    ]);
    let rows = scope.snapshot()?.rows(&records::plan(record.resource, filter))?;
    let trashed = scope.registry.trashed_comment_status();
    let put = |row: &Row| {
        let reply = Record { resource: record.resource, row };
        let mut draft = CommentDraft::default();
        draft.set_status((trashed.to_owned(), Some(reply.text(col::STATUS).to_owned())));
        draft.put(existing(reply))
    };
    Ok(rows.iter().map(put).collect())
}

/// Whether a comment of a declared type has one of the states that stand in for a text.
fn has_state(resource: &Resource, of: &CommentType, draft: &CommentDraft) -> bool {
    let Some(key) = &of.state else { return false };
    let known = resource.declared.meta.get(key).and_then(|meta| meta.schema.get("enum")).and_then(Value::as_array);
    let given = draft.meta.iter().find_map(|change| match change {
        MetaChange::Key(own, values) if **own == **key => Some(values),
        _ => None,
    });
    let value = given.and_then(|values| serde_json::from_str::<Value>(values.first()?).ok());
    value.is_some_and(|value| known.is_some_and(|known| known.contains(&value)))
}

/// The change that the deletion of a comment makes to its replies: they move up.
pub fn leaving(record: Record<'_>) -> Change {
    Change::UpdateWhere {
        table: record.resource.table.clone(),
        filter: eq(col::PARENT, record.value(&record.resource.key).clone()),
        set: vec![(name(col::PARENT), DbValue::Int(record.int(col::PARENT)))],
    }
}

// ------------------------------------------------------------------------------------------------ what is given

/// The columns that are set; their texts are as they will be stored.
fn draft(edit: &RowEdit<'_>) -> Result<CommentDraft, ApiError> {
    let (scope, resource) = (edit.scope, edit.resource);
    let mut draft = CommentDraft::default();
    author(edit, &mut draft)?;
    for property in resource.properties.iter().filter(|p| !p.readonly) {
        let Some(value) = edit.wanted(&property.name) else { continue };
        if let PropertySource::Meta = property.source {
            draft.meta.extend(meta(resource, value));
            continue;
        }
        if let PropertySource::Fields(_) = property.source {
            continue;
        }
        let Some((column, value)) = stored(scope, property, value)? else { continue };
        let Some(column) = SETTABLE.iter().find(|known| **known == &*column) else { continue };
        // No comment has a number below 0, so such a parent is none.
        let none = *column == col::PARENT && int(&value) < 0;
        draft.set.insert(column, if none { DbValue::Int(0) } else { value });
    }
    draft.status = edit.given_text("status").map(str::to_owned);
    // Recorded: the last author's user agent is stored, also of an update.
    let ip = scope.peer.ip.map(|ip| ip.to_string()).unwrap_or_default();
    for (column, seen) in [(col::AUTHOR_USER_AGENT, &*scope.agent), (col::AUTHOR_IP, ip.as_str())] {
        if draft.text(column).is_empty() && !seen.is_empty() && scope.imported.is_none() {
            draft.set.insert(column, txt(seen));
        }
    }
    dates(edit, &mut draft);
    if let Some(record) = edit.record() {
        thread(scope, record, &mut draft)?;
    }
    Ok(draft)
}

/// Columns that arguments set as they are; the others have rules of their own.
const SETTABLE: [&str; 8] = [
    col::POST,
    col::PARENT,
    col::AUTHOR_NAME,
    col::AUTHOR_EMAIL,
    col::AUTHOR_URL,
    col::AUTHOR_IP,
    col::AUTHOR_USER_AGENT,
    col::CONTENT,
];

/// The columns that a comment copies from its author's user row.
const SIGNATURE: [(&str, &str); 3] =
    [(col::AUTHOR_NAME, user::NAME), (col::AUTHOR_EMAIL, user::EMAIL), (col::AUTHOR_URL, user::URL)];

/// A user named as the author lends the comment name, e-mail address and site.
fn author(edit: &RowEdit<'_>, draft: &mut CommentDraft) -> Result<(), ApiError> {
    let Some(id) = edit.args.explicit("author").and_then(Value::as_i64) else { return Ok(()) };
    // The author may be nobody, or be gone: it can be sent back as it is.
    let same = edit.record().is_some_and(|record| record.int(col::AUTHOR) == id);
    let nobody = id == 0 && edit.scope.imported.is_some();
    if !(sign(edit.scope, draft, id)? || same || nobody) {
        return Err(failure(edit.resource, Code::CommentAuthorInvalid));
    }
    Ok(())
}

/// Puts a user's data into a comment; false when there is no such user.
fn sign(scope: &Scope, draft: &mut CommentDraft, id: i64) -> Result<bool, ApiError> {
    let Some(users) = scope.registry.users() else { return Ok(false) };
    let Some(row) = records::find(&*scope.snapshot()?, users, &DbValue::Int(id))? else { return Ok(false) };
    let user = Record { resource: users, row: &row };
    draft.set.insert(col::AUTHOR, DbValue::Int(id));
    for (column, of_user) in SIGNATURE {
        draft.set.insert(column, txt(user.text(of_user)));
    }
    Ok(true)
}

/// A new comment without an author belongs to the caller; an author that is given is given completely.
/// An imported comment names its author itself.
fn signed(edit: &RowEdit<'_>, draft: &mut CommentDraft) -> Result<(), ApiError> {
    if edit.scope.imported.is_some() && edit.args.explicit("author").is_some() {
        return Ok(());
    }
    let nobody = SIGNATURE.iter().all(|(column, _)| draft.text(column).is_empty());
    if nobody && draft.int(col::AUTHOR) == 0 {
        sign(edit.scope, draft, edit.scope.principal.id)?;
    }
    if draft.text(col::AUTHOR_NAME).is_empty() || draft.text(col::AUTHOR_EMAIL).is_empty() {
        return Err(failure(edit.resource, Code::CommentAuthorRequired));
    }
    Ok(())
}

fn lengths(resource: &Resource, draft: &CommentDraft) -> Result<(), ApiError> {
    for property in &resource.properties {
        let bounded = match &property.source {
            PropertySource::Object(children) => children.iter().find(|child| child.longest.is_some()),
            _ => Some(property),
        };
        let Some((column, (most, code))) = bounded.and_then(|p| p.column.as_deref().zip(p.longest)) else { continue };
        if draft.text(column).len() > most {
            return Err(failure(resource, code));
        }
    }
    Ok(())
}

fn dates(edit: &RowEdit<'_>, draft: &mut CommentDraft) {
    let scope = edit.scope;
    let zone = &scope.settings.zone;
    let parsed = |name: &str| edit.given_text(name).and_then(time::parse_datetime);
    let (local, utc) = match (parsed("date"), parsed("date_gmt")) {
        // An imported comment may have been written in another zone.
        (Some(local), Some(utc)) if scope.imported.is_some() => (local.in_zone(zone).0, utc.as_utc()),
        (Some(moment), _) => moment.in_zone(zone),
        (None, Some(moment)) => (zone.utc_to_local(moment.as_utc()), moment.as_utc()),
        (None, None) if edit.row.is_none() => (scope.local_now(), scope.now),
        (None, None) => return,
    };
    draft.set.insert(col::DATE_LOCAL, DbValue::Int(local));
    draft.set.insert(col::DATE_UTC, DbValue::Int(utc));
}

/// Who edits comments only below own records moves them only between those.
fn movable(scope: &Scope, record: Record<'_>, draft: &CommentDraft) -> Result<(), ApiError> {
    let caller = &scope.principal;
    let moves = draft.set.get(col::POST).is_some_and(|post| int(post) != record.int(col::POST));
    // Who moderates all comments need not edit the record, and yet has to see it.
    let act = if policy::moderates(scope) { Action::Read } else { Action::Edit };
    if moves && policy::parent_content(scope, draft.int(col::POST), act)? == Some(false) {
        return Err(caller.refuse(Code::CannotEdit));
    }
    Ok(())
}

/// A comment below itself moves to the top.
fn thread(scope: &Scope, record: Record<'_>, draft: &mut CommentDraft) -> Result<(), ApiError> {
    let snapshot = scope.snapshot()?;
    for ancestor in parents::above(&*snapshot, col::TABLE, &[], draft.int(col::PARENT)).take(DEEPEST) {
        if ancestor?.id == record.id() {
            draft.set.insert(col::PARENT, DbValue::Int(0));
            break;
        }
    }
    Ok(())
}

// ------------------------------------------------------------------------------------------------ states

/// The state of a new comment when none is given: it is shown at once when its author moderates, wrote the record, or
/// has had a comment approved before.
fn first_status<'r>(edit: &RowEdit<'r>, draft: &CommentDraft) -> Result<&'r str, ApiError> {
    let registry = &edit.scope.registry;
    let (approved, held) = (registry.approved_comment_status(), registry.held_comment_status());
    let author = draft.int(col::AUTHOR);
    if author != 0 && trusted(edit, author, draft.int(col::POST))? {
        return Ok(approved);
    }
    let most = edit.resource.declared.moderation.hold_links.get();
    if most.is_some_and(|most| links(draft.text(col::CONTENT)) >= *most) {
        return Ok(held);
    }
    let same = match author {
        0 => Cond::All(vec![
            eq(col::AUTHOR_NAME, txt(draft.text(col::AUTHOR_NAME))),
            eq(col::AUTHOR_EMAIL, txt(draft.text(col::AUTHOR_EMAIL))),
        ]),
        author => eq(col::AUTHOR, DbValue::Int(author)),
    };
    let filter = Cond::All(vec![same, eq(col::STATUS, txt(approved))]);
    let known = records::exists(&*edit.scope.snapshot()?, col::TABLE, filter)?;
    Ok(if known { approved } else { held })
}

fn trusted(edit: &RowEdit<'_>, author: i64, post: i64) -> Result<bool, ApiError> {
    let snapshot = edit.scope.snapshot()?;
    let found = records::first(&*snapshot, record::TABLE, &[record::AUTHOR], eq(ID, DbValue::Int(post)))?;
    if found == Some(author) {
        return Ok(true);
    }
    may(edit.scope, author, edit.resource.capability(Action::Moderate))
}

/// Whether the roles of a user, who may be nobody, have a capability.
fn may(scope: &Scope, user: i64, capability: &str) -> Result<bool, ApiError> {
    let own = eq(ID, DbValue::Int(user));
    let roles = records::first::<String>(&*scope.snapshot()?, user::TABLE, &[user::ROLES], own)?;
    let roles = records::split_words(&roles.unwrap_or_default());
    Ok(scope.settings.roles.capabilities(&roles).contains(capability))
}

/// Removes markup that the author of a comment may not write. That of a caller who may not is removed before.
fn clean_for_author(scope: &Scope, record: Record<'_>, draft: &mut CommentDraft) -> Result<(), ApiError> {
    const ANY: &str = "unfiltered_html";
    let author = record.int(col::AUTHOR);
    let is_open = draft.set.contains_key(col::CONTENT) && scope.principal.has(ANY) && scope.principal.id != author;
    if is_open && !may(scope, author, ANY)? {
        let allowed = comment_phrases(draft.text(col::CONTENT));
        draft.set.insert(col::CONTENT, txt(&allowed));
    }
    Ok(())
}

fn links(markup: &str) -> usize {
    markup.to_ascii_lowercase().matches("<a ").count()
}

/// The state that a word means, and the one to return to; `None` leaves the comment as it is.
fn transition(registry: &Registry, status: &str, before: &str, word: &str) -> Option<(String, Option<String>)> {
    let removed = |status: &str| registry.comment_status_is(status, |status| status.removed);
    let Some(to) = registry.comment_status_named(word) else {
        let restores = word.strip_prefix("un") == Some(status) && removed(status);
        let back = if before.is_empty() { registry.held_comment_status() } else { before };
        return restores.then(|| (back.to_owned(), None));
    };
    (to != status).then(|| (to.to_owned(), removed(to).then(|| status.to_owned())))
}

// ------------------------------------------------------------------------------------------------ inside the commit

/// The record of the comment exists.
fn on_a_record(draft: &CommentDraft) -> Change {
    Change::Require {
        plan: records::columns(record::TABLE, &[ID], eq(ID, DbValue::Int(draft.int(col::POST)))),
        found: true,
        tag: Code::CommentInvalidPostId.as_str(),
    }
}

/// Refuses a duplicate comment.
fn twice(registry: &Registry, draft: &CommentDraft) -> Change {
    let filter = Cond::All(vec![
        eq(col::POST, DbValue::Int(draft.int(col::POST))),
        eq(col::PARENT, DbValue::Int(draft.int(col::PARENT))),
        Cond::Not(Box::new(eq(col::STATUS, txt(registry.trashed_comment_status())))),
        Cond::Any(vec![
            eq(col::AUTHOR_NAME, txt(draft.text(col::AUTHOR_NAME))),
            eq(col::AUTHOR_EMAIL, txt(draft.text(col::AUTHOR_EMAIL))),
        ]),
        eq(col::CONTENT, txt(draft.text(col::CONTENT))),
    ]);
    let plan = records::columns(col::TABLE, &[ID], filter);
    Change::Require { plan, found: false, tag: Code::CommentDuplicate.as_str() }
}

/// Callers who do not moderate pause between two comments, under whatever name. One lookup each, so that each has its
/// index.
fn too_soon(edit: &RowEdit<'_>, draft: &CommentDraft) -> Vec<Change> {
    let caller = &edit.scope.principal;
    let Some(interval) = edit.resource.declared.moderation.min_interval.get() else { return Vec::new() };
    if [Action::Moderate, Action::SkipLimits].iter().any(|action| caller.can(edit.resource.capability(*action))) {
        return Vec::new();
    }
    let mut who = vec![eq(col::AUTHOR_EMAIL, txt(draft.text(col::AUTHOR_EMAIL)))];
    if caller.is_logged_in() {
        who.push(eq(col::AUTHOR, DbValue::Int(caller.id)));
    }
    if draft.int(col::AUTHOR) == 0 {
        // Another name does not help: anonymous comments from this address count.
        let from_here = eq(col::AUTHOR_IP, txt(draft.text(col::AUTHOR_IP)));
        who.push(Cond::All(vec![eq(col::AUTHOR, DbValue::Int(0)), from_here]));
    }
    let since = Cond::Compare(
        name(col::DATE_UTC),
        Op::Gt,
        DbValue::Int(edit.scope.now.saturating_sub(interval.seconds_signed())),
    );
    let look = |who: Cond| Change::Require {
        plan: records::columns(col::TABLE, &[ID], Cond::All(vec![who, since.clone()])),
        found: false,
        tag: Code::CommentFlood.as_str(),
    };
    who.into_iter().map(look).collect()
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::shipped;

    #[test]
    fn words_lead_from_state_to_state() {
        let registry = shipped(&[]);
        let check = |status: &str, before: &str, word: &str, expected: Option<(&str, Option<&str>)>| {
            let expected = expected.map(|(to, back)| (to.to_owned(), back.map(str::to_owned)));
            assert_eq!(transition(&registry, status, before, word), expected, "{status} {word}");
        };
        check("hold", "", "approve", Some(("approved", None)));
        check("hold", "", "1", Some(("approved", None)));
        check("approved", "", "approved", None);
        check("approved", "", "0", Some(("hold", None)));
        check("approved", "", "spam", Some(("spam", Some("approved"))));
        check("spam", "approved", "unspam", Some(("approved", None)));
        check("spam", "", "unspam", Some(("hold", None)));
        check("hold", "", "trash", Some(("trash", Some("hold"))));
        check("trash", "spam", "untrash", Some(("spam", None)));
        check("trash", "spam", "approve", Some(("approved", None)));
        check("approved", "", "untrash", None);
        check("approved", "", "purple", None);
    }

    #[test]
    fn links_are_counted_by_their_tags() {
        let check = |markup: &str, expected: usize| assert_eq!(links(markup), expected, "{markup}");
        check("", 0);
        check("<a href=\"http://a.example\">a</a> and <A HREF=\"http://b.example\">b</A>", 2);
        check("<abbr>a</abbr> http://a.example", 0);
    }
}
