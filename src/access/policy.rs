//! What a caller may do to an object, and which rows a caller may see.
//!
//! The declared capability maps name the primitive capability of each action; this file holds the one rule that derives an
//! object's acts from ownership and status (contract: "Authentication", 10), and its twin as a condition on rows, which
//! lists, items, searches, counts and embedding share.

use super::unlock::RecordPassword;
use crate::config::declaration::{Action, Family, Status};
use crate::records::{self, Record, among, columns, eq, everything, nothing, txt, words};
use crate::registry::name;
use crate::registry::resource::{Context, Resource};
use crate::scope::{Principal, Scope};
use crate::storage::plan::{Cond, DbValue, Op};
use std::sync::Arc;

/// Whether the caller may do an act on a row.
pub fn may(scope: &Scope, action: Action, record: Record<'_>) -> bool {
    match record.resource.family {
        Family::Content => content(scope, action, record),
        Family::User => user(scope, action, record),
        Family::Comment => comment(scope, action, record),
        Family::Plain => plain(scope, action, record),
        _ => scope.principal.can(record.resource.capability(action)),
    }
}

fn content(scope: &Scope, action: Action, record: Record<'_>) -> bool {
    let caller = &scope.principal;
    let resource = record.resource;
    let can = |action: Action| caller.can(resource.capability(action));
    match action {
        Action::Read => read_content(scope, record),
        Action::Edit | Action::Delete => {
            let status = match record.text("status") {
                status if scope.registry.status_is(status, |s| s.trash) => record.text("status_before"),
                status => status,
            };
            let out = scope.registry.is_out(status);
            if caller.known() && record.int("author") == caller.id {
                return can(if out { action.to_published() } else { action });
            }
            can(action.to_others())
                && (!out || can(action.to_published()))
                && (!scope.registry.status_is(status, |s| s.private) || can(action.to_private()))
        }
        action => can(action),
    }
}

fn read_content(scope: &Scope, record: Record<'_>) -> bool {
    let caller = &scope.principal;
    let resource = record.resource;
    let read = resource.reading_capability();
    let status = record.text("status");
    match scope.registry.status(status) {
        Some(s) if s.inherits => inherited(scope, record),
        Some(s) if s.public => caller.can(read),
        // What is one's own one reads in any state, even with no right to change it any more.
        _ if caller.known() && record.int("author") == caller.id && caller.can(read) => true,
        Some(s) if s.private => caller.can(resource.capability(Action::ReadPrivate)),
        _ => content(scope, Action::Edit, record),
    }
}

/// A record that takes its parent's visibility; without a parent it is public.
fn inherited(scope: &Scope, record: Record<'_>) -> bool {
    let parent = record.int("parent");
    if parent == 0 {
        return true;
    }
    let Ok(snapshot) = scope.storage.snapshot() else { return false };
    let found = records::first(&*snapshot, "record", &["kind"], eq("id", DbValue::Int(parent)));
    let Ok(Some(row)) = found else { return true };
    let Some(resource) = scope.registry.resource_of_kind(records::text(&row[0])) else { return false };
    match records::find(&*snapshot, resource, &DbValue::Int(parent)) {
        Ok(Some(row)) => read_content(scope, Record { resource, row: &row }),
        _ => false,
    }
}

/// Control of an account gives all of its capabilities. So a caller changes the accounts of others only where the caller
/// has these capabilities, too.
fn user(scope: &Scope, action: Action, record: Record<'_>) -> bool {
    let caller = &scope.principal;
    let own = caller.known() && caller.id == record.id();
    let reaches = || may_give(scope, &records::split_words(record.text("roles")));
    let can = |action: Action| caller.can(record.resource.capability(action));
    match action {
        Action::Edit => own || (can(Action::Edit) && reaches()),
        Action::Delete | Action::Promote => can(action) && reaches(),
        Action::Read => own || can(Action::List),
        action => can(action),
    }
}

/// Whether the caller has all that these roles allow. A user with a `required` role may manage all of them, also
/// those that allow what it does not.
pub fn may_give(scope: &Scope, roles: &[Arc<str>]) -> bool {
    let caller = &scope.principal;
    let declared = &scope.registry.declaration.roles;
    caller.roles.iter().any(|role| declared.get(&**role).is_some_and(|role| role.required))
        || scope.registry.capabilities(roles).iter().all(|capability| caller.can(capability))
}

/// Whether the caller sees a row in the edit context: the one rule for reading it so, and for the response to a write.
pub fn sees_edited(scope: &Scope, record: Record<'_>) -> bool {
    match record.resource.family {
        Family::Comment => moderates(scope) || (is_remark(record) && comment(scope, Action::Edit, record)),
        Family::Content | Family::User | Family::Plain => may(scope, Action::Edit, record),
        _ => scope.principal.can(record.resource.capability(Action::Edit)),
    }
}

/// Whether a comment is of a declared type, for those who may edit its record.
fn is_remark(record: Record<'_>) -> bool {
    record.resource.comment_type(record.text("kind")).is_some()
}

/// Whether the caller moderates comments, on whatever record.
pub fn moderates(scope: &Scope) -> bool {
    holds_on_comments(scope, Action::Moderate)
}

/// Whether the caller may do an act on comments that needs no comment.
pub fn holds_on_comments(scope: &Scope, action: Action) -> bool {
    scope.registry.family(Family::Comment).any(|comments| scope.principal.can(comments.capability(action)))
}

fn comment(scope: &Scope, action: Action, record: Record<'_>) -> bool {
    let caller = &scope.principal;
    match action {
        // A caller who may edit the record of a comment may edit the comment.
        Action::Edit | Action::Delete => {
            moderates(scope)
                || (caller.known() && parent_content(scope, record.int("post"), Action::Edit).unwrap_or(false))
        }
        Action::Read => reads_comment(scope, record, None),
        action => caller.can(record.resource.capability(action)),
    }
}

/// Whether the caller sees a comment: an approved one below a readable record, an own one, one that the caller edits.
pub fn reads_comment(scope: &Scope, record: Record<'_>, password: Option<&RecordPassword<'_>>) -> bool {
    let caller = &scope.principal;
    let post = record.int("post");
    let shown = scope.registry.comment_status_is(record.text("status"), |status| status.public);
    if shown && !is_remark(record) && reads_commented(scope, post, password) == Some(true) {
        return true;
    }
    if post == 0 && !moderates(scope) {
        return false;
    }
    caller.known() && (record.int("author") == caller.id || comment(scope, Action::Edit, record))
}

/// Whether the caller reads the record with this id and what is locked in it; `None` when there is none.
pub fn reads_commented(scope: &Scope, id: i64, password: Option<&RecordPassword<'_>>) -> Option<bool> {
    with_record(scope, id, |record| {
        let lock = record.text("password");
        let locked = !lock.is_empty() && !password.is_some_and(|given| given.opens(lock));
        content(scope, if locked { Action::Edit } else { Action::Read }, record)
    })
}

/// Whether the caller may do an act on the record with this id; `None` when there is none.
pub fn parent_content(scope: &Scope, id: i64, action: Action) -> Option<bool> {
    with_record(scope, id, |record| content(scope, action, record))
}

/// The content record with this id, of whatever kind; `None` when there is none.
pub fn with_record<T>(scope: &Scope, id: i64, ask: impl FnOnce(Record<'_>) -> T) -> Option<T> {
    let snapshot = scope.storage.snapshot().ok()?;
    let row = records::first(&*snapshot, "record", &["kind"], eq("id", DbValue::Int(id))).ok()??;
    let resource = scope.registry.resource_of_kind(records::text(&row[0]))?;
    let row = records::find(&*snapshot, resource, &DbValue::Int(id)).ok()??;
    Some(ask(Record { resource, row: &row }))
}

fn plain(scope: &Scope, action: Action, record: Record<'_>) -> bool {
    let caller = &scope.principal;
    let resource = record.resource;
    let can = |action: Action| caller.can(resource.capability(action));
    match (&resource.declared.owner, action) {
        (_, Action::Read) => caller.can(resource.reading_capability()),
        (Some(owner), Action::Edit | Action::Delete) if !(caller.known() && record.int(owner) == caller.id) => {
            can(action.to_others())
        }
        (_, action) => can(action),
    }
}

/// Whether the caller edits records of any kind: who does may see how kinds are declared.
pub fn edits_something(scope: &Scope) -> bool {
    let caller = &scope.principal;
    scope.registry.family(Family::Content).any(|r| caller.can(r.capability(Action::Edit)))
}

/// Whether the caller may see a state.
pub fn reads_status(scope: &Scope, status: &Status) -> bool {
    status.public || (!status.internal && edits_something(scope))
}

// ------------------------------------------------------------------------------------------------ as a condition

/// The rows of a resource that the caller may see.
pub fn visible(scope: &Scope, resource: &Resource) -> Cond {
    match resource.family {
        Family::Content => visible_content(scope, resource),
        Family::Comment => visible_comments(scope, None),
        Family::User => visible_users(scope, resource),
        Family::Plain => {
            if reads(scope, resource) {
                everything()
            } else {
                nothing()
            }
        }
        _ => everything(),
    }
}

/// The rows of a resource that meet a filter and that the caller may see, as far as the filter leaves that open: a
/// request for states that everybody may see is not authorized row by row.
pub fn visible_among(scope: &Scope, resource: &Resource, filter: &Cond) -> Cond {
    let public = |status: &DbValue| matches!(status, DbValue::Text(status) if scope.registry.status(status).is_some_and(|status| status.public));
    fn asks_for_states(filter: &Cond, all: &dyn Fn(&DbValue) -> bool) -> bool {
        match filter {
            Cond::All(conds) => conds.iter().any(|cond| asks_for_states(cond, all)),
            Cond::In(column, states) => **column == *"status" && states.iter().all(all),
            Cond::Compare(column, Op::Eq, status) => **column == *"status" && all(status),
            _ => false,
        }
    }
    let open = resource.family == Family::Content && reads(scope, resource) && asks_for_states(filter, &public);
    if open { everything() } else { visible(scope, resource) }
}

/// Whether the caller may see rows of a resource at all.
fn reads(scope: &Scope, resource: &Resource) -> bool {
    scope.principal.can(resource.reading_capability())
}

/// The rows that the caller may see as they are edited: those that the caller may edit.
pub fn visible_for_editing(scope: &Scope, resource: &Resource) -> Cond {
    match (resource.family, &resource.declared.owner) {
        (Family::Content, _) => Cond::All(vec![visible_content(scope, resource), editable_content(scope, resource)]),
        (Family::Plain, Some(owner)) if !scope.principal.can(resource.capability(Action::EditOthers)) => {
            let own = resource.plan_column(owner).map(|owner| eq(&owner, DbValue::Int(scope.principal.id)));
            Cond::All(vec![visible(scope, resource), own.unwrap_or_else(nothing)])
        }
        _ => visible(scope, resource),
    }
}

/// Whether the caller may see the values of edit-only columns, in every row of a list in this
/// context.
pub fn sees_edit_only(scope: &Scope, resource: &Resource, context: Context) -> bool {
    let can = |action: Action| scope.principal.can(resource.capability(action));
    match resource.family {
        Family::User => can(Action::List),
        Family::Comment => moderates(scope),
        // Lists in the edit context hold nothing but rows that the caller may edit.
        Family::Content => edits_all(scope, resource) || (context == Context::EDIT && can(Action::Edit)),
        Family::Plain => {
            can(Action::Edit)
                && (resource.declared.owner.is_none() || context == Context::EDIT || can(Action::EditOthers))
        }
        _ => can(Action::Edit),
    }
}

/// Whether the caller may edit every record of a resource.
fn edits_all(scope: &Scope, resource: &Resource) -> bool {
    let actions = [Action::Edit, Action::EditOthers, Action::EditPublished, Action::EditPrivate];
    actions.iter().all(|action| scope.principal.can(resource.capability(*action)))
}

/// Records whose text no password hides from the caller; `None` where that is all of them.
pub fn unlocked(scope: &Scope, resource: &Resource) -> Option<Cond> {
    if resource.family != Family::Content || edits_all(scope, resource) {
        return None;
    }
    let mut any = vec![Cond::IsNull(name("password")), eq("password", txt(""))];
    if scope.principal.known() {
        any.push(editable_content(scope, resource));
    }
    Some(Cond::Any(any))
}

fn visible_content(scope: &Scope, resource: &Resource) -> Cond {
    let caller = &scope.principal;
    let can = |action: Action| caller.can(resource.capability(action));
    let read = reads(scope, resource);
    let own = || eq("author", DbValue::Int(caller.id));
    let statuses = |wanted: &'static dyn Fn(&Status) -> bool| scope.registry.declaration.statuses_where(wanted);
    let mut any = Vec::new();
    if read {
        any.push(words("status", statuses(&|s| s.public)));
    }
    if can(Action::ReadPrivate) {
        any.push(words("status", statuses(&|s| s.private)));
    }
    if caller.known() && read {
        let closed = statuses(&|s| !s.public && !s.inherits);
        any.push(Cond::All(vec![words("status", closed), own()]));
    }
    if caller.known() && (can(Action::Edit) || can(Action::EditPublished)) {
        let closed = statuses(&|s| !s.public && !s.private && !s.inherits);
        let closed =
            closed.filter(|s| can(if scope.registry.is_out(s) { Action::EditPublished } else { Action::Edit }));
        let whose = if can(Action::EditOthers) { everything() } else { own() };
        any.push(Cond::All(vec![words("status", closed), whose]));
    }
    if resource.supports("attached") {
        any.push(Cond::All(vec![words("status", statuses(&|s| s.inherits)), visible_parent(scope)]));
    }
    Cond::Any(any)
}

/// The row's `parent` is nothing, or a record that the caller may see.
fn visible_parent(scope: &Scope) -> Cond {
    let orphan = eq("parent", DbValue::Int(0));
    Cond::Any(vec![
        orphan,
        Cond::Related {
            table: name("record"),
            inner: name("id"),
            outer: name("parent"),
            filter: Box::new(readable_records(scope, true)),
        },
    ])
}

/// Records of any kind that the caller may see (`attached` kinds, which depend on their parents, only when requested).
pub fn readable_records(scope: &Scope, flat: bool) -> Cond {
    let kinds = scope.registry.family(Family::Content).filter(|r| !(flat && r.supports("attached")));
    Cond::Any(kinds.map(|r| Cond::All(vec![records::own_rows(r), visible_content(scope, r)])).collect())
}

/// Comments that the caller may see; `unlocked` is the record whose password the request carries.
pub fn visible_comments(scope: &Scope, unlocked: Option<i64>) -> Cond {
    let caller = &scope.principal;
    if moderates(scope) {
        return everything();
    }
    let below = |filter: Cond| Cond::Related {
        table: name("record"),
        inner: name("id"),
        outer: name("post"),
        filter: Box::new(filter),
    };
    let open = Cond::Any(vec![eq("password", txt("")), among("id", unlocked)]);
    let readable = below(Cond::All(vec![readable_records(scope, false), open]));
    let shown = words("status", scope.registry.declaration.comment_statuses_where(|status| status.public));
    let types = scope.registry.family(Family::Comment).flat_map(|resource| resource.declared.comment_types.keys());
    let types: Vec<&str> = types.map(String::as_str).collect();
    let public = match types.is_empty() {
        true => everything(),
        false => Cond::Not(Box::new(words("kind", types))),
    };
    let mut any = vec![Cond::All(vec![shown, public, readable])];
    if caller.known() {
        let below_some = Cond::Compare(name("post"), Op::Ne, DbValue::Int(0));
        any.push(Cond::All(vec![eq("author", DbValue::Int(caller.id)), below_some]));
        let edited = scope.registry.family(Family::Content).map(|r| editable_content(scope, r));
        any.push(below(Cond::Any(edited.collect())));
    }
    Cond::Any(any)
}

/// Comments whose record is in no state that hides them.
pub fn unhidden_comments(scope: &Scope) -> Cond {
    let hiding = scope.registry.declaration.statuses_where(|status| status.hides_comments);
    Cond::Not(Box::new(Cond::Related {
        table: name("record"),
        inner: name("id"),
        outer: name("post"),
        filter: Box::new(words("status", hiding)),
    }))
}

/// The twin of [`content`]'s `edit` (for records in the trash, the state before is not considered).
fn editable_content(scope: &Scope, resource: &Resource) -> Cond {
    let can = |action: Action| scope.principal.can(resource.capability(action));
    let all = || scope.registry.declaration.statuses.iter();
    let of = |wanted: &dyn Fn(&str) -> bool| -> Cond {
        words("status", all().map(|(name, _)| name.as_str()).filter(|name| wanted(name)))
    };
    let out = |status: &str| scope.registry.is_out(status);
    let own = of(&|status| can(if out(status) { Action::EditPublished } else { Action::Edit }));
    let others = of(&|status| {
        can(Action::EditOthers)
            && (!out(status) || can(Action::EditPublished))
            && (!scope.registry.status_is(status, |s| s.private) || can(Action::EditPrivate))
    });
    let own = Cond::All(vec![eq("author", DbValue::Int(scope.principal.id)), own]);
    Cond::All(vec![records::own_rows(resource), Cond::Any(vec![own, others])])
}

fn visible_users(scope: &Scope, users: &Resource) -> Cond {
    let caller = &scope.principal;
    if caller.can(users.capability(Action::List)) {
        return everything();
    }
    if !scope.registry.declaration.site.list_authors && !caller.known() {
        return nothing();
    }
    published_authors(scope, None)
}

/// Records in a state that everybody may read.
pub fn published(scope: &Scope) -> Cond {
    words("status", scope.registry.declaration.statuses_where(|status| status.public))
}

/// Users who have published something, of these kinds or of any that is shown to the public.
pub fn published_authors(scope: &Scope, kinds: Option<Vec<&str>>) -> Cond {
    let kinds = kinds.unwrap_or_else(|| {
        let public = scope.registry.family(Family::Content).filter(|r| !r.capabilities.contains_key(&Action::Read));
        public.filter(|r| r.supports("author")).map(|r| &*r.kind).collect()
    });
    Cond::Related {
        table: name("record"),
        inner: name("author"),
        outer: name("id"),
        filter: Box::new(Cond::All(vec![words("kind", kinds), published(scope)])),
    }
}

/// Whether a user has published anything (see [`published_authors`]).
pub fn has_published(scope: &Scope, user: i64) -> bool {
    let Ok(snapshot) = scope.storage.snapshot() else { return false };
    let filter = Cond::All(vec![among("id", [user]), published_authors(scope, None)]);
    snapshot.rows(&columns("user", &["id"], filter)).is_ok_and(|rows| !rows.is_empty())
}

/// Whether the caller may assign a term of this taxonomy.
pub fn may_assign(caller: &Principal, taxonomy: &Resource) -> bool {
    caller.can(taxonomy.capability(Action::Assign))
}
