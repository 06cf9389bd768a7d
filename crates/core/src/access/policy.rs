//! Rules for what a caller may do to an object, and which rows a caller may see.
//!
//! The declared capability maps name the primitive capability of each action. [`permitted`] is the one rule that derives
//! from them, from ownership and from states (contract: "Authentication", 10) which rows an act is open for. It is a
//! condition: lists, searches, counts and embedding select rows by it, and guards, links and hints ask whether a row
//! meets it. So a list contains what can be read item by item, and nothing else.

use super::unlock::RecordPassword;
use crate::records::{self, Record, all, always, any, columns, constant, eq, is_in, never, not, txt, words};
use crate::registry::columns::{record, review, user};
use crate::registry::guarded::FieldRights;
use crate::registry::name;
use crate::registry::resource::{Context, Resource};
use crate::scope::{Principal, Scope};
use cms_declaration::{Action, Family, Status};
use cms_storage::StorageError;
use cms_storage::plan::{Cond, DbValue, Op};
use indexmap::IndexSet;
use std::sync::Arc;

/// The rows of a resource to which the caller may do an act.
pub fn permitted(scope: &Scope, action: Action, resource: &Resource) -> Cond {
    match (resource.family, action) {
        (Family::Content, Action::Read) => readable_content(scope, resource, true),
        (Family::Content, Action::Edit | Action::Delete) => changeable_content(scope, resource, action),
        (Family::Comment, Action::Read) => readable_comments(scope, None),
        (Family::Comment, Action::Edit | Action::Delete) => changeable_comments(scope),
        (Family::User, _) => users(scope, resource, action),
        (Family::Plain, _) => plain(scope, resource, action),
        (_, Action::Read) => always(),
        (_, action) => held(scope, resource, action),
    }
}

/// Whether the caller may do an act to a row.
pub fn may(scope: &Scope, action: Action, record: Record<'_>) -> Result<bool, StorageError> {
    records::meets(&*scope.storage, record, &permitted(scope, action, record.resource))
}

/// The rows of a resource that the caller may see.
pub fn visible(scope: &Scope, resource: &Resource) -> Cond {
    permitted(scope, Action::Read, resource)
}

/// The rows of a resource that the caller sees as they are edited, where they are visible.
pub fn edited(scope: &Scope, resource: &Resource) -> Cond {
    match resource.family {
        Family::Comment if !moderates(scope) => {
            // Those of a declared type are for callers who may edit their record.
            let types = resource.declared.comment_types.keys().map(String::as_str);
            all([words("kind", types), changeable_comments(scope)])
        }
        Family::User => any([held(scope, resource, Action::List), permitted(scope, Action::Edit, resource)]),
        _ => permitted(scope, Action::Edit, resource),
    }
}

/// Whether the caller sees a row as it is edited.
pub fn sees_edited(scope: &Scope, record: Record<'_>) -> Result<bool, StorageError> {
    records::meets(&*scope.storage, record, &edited(scope, record.resource))
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
    let open = resource.is_content() && reads(scope, resource) && asks_for_states(filter, &public);
    if open { always() } else { visible(scope, resource) }
}

/// Every row, where the caller has the capability that the act needs, otherwise none.
fn held(scope: &Scope, resource: &Resource, action: Action) -> Cond {
    constant(has(scope, resource, action))
}

/// Whether the caller has the capability that an act needs. No refusal follows from it yet, so nothing is noted.
fn has(scope: &Scope, resource: &Resource, action: Action) -> bool {
    scope.principal.has(resource.capability(action))
}

/// Whether the caller may see rows of a resource at all.
fn reads(scope: &Scope, resource: &Resource) -> bool {
    scope.principal.has(resource.reading_capability())
}

/// Rows whose column names the caller.
fn own(scope: &Scope, column: &str) -> Cond {
    if scope.principal.is_logged_in() { eq(column, DbValue::Int(scope.principal.id)) } else { never() }
}

/// Rows to which another one is related that meets a condition: the one whose id their column contains.
fn below(column: &str, filter: Cond) -> Cond {
    match filter == never() {
        true => never(),
        false => Cond::Related {
            table: name(record::TABLE),
            inner: name("id"),
            outer: name(column),
            filter: Box::new(filter),
        },
    }
}

// ------------------------------------------------------------------------------------------------ content

/// `parents`: what takes the visibility of its parent may be visible by that, too.
fn readable_content(scope: &Scope, resource: &Resource, parents: bool) -> Cond {
    let states = |wanted: fn(&Status) -> bool| words("status", scope.registry.declaration.statuses_where(wanted));
    let reads = reads(scope, resource);
    any([
        all([constant(reads), states(|status| status.public)]),
        // Own records are readable in any state, even with no right to change them any more.
        all([constant(reads), own(scope, "author")]),
        all([held(scope, resource, Action::ReadPrivate), states(|status| status.private)]),
        // Changeable records are readable: the response to a change shows them.
        changeable_content(scope, resource, Action::Edit),
        match parents && reads && resource.supports("attached") {
            true => all([states(|status| status.inherits), visible_parent(scope)]),
            false => never(),
        },
    ])
}

/// Rows that are attached to nothing, or to a record that the caller may see by its own state.
fn visible_parent(scope: &Scope) -> Cond {
    let readable = records_of_all_kinds(scope, |resource| readable_content(scope, resource, false));
    // Files that are attached to a previewed record are shown with it.
    let previewed = scope.preview.as_ref().map_or_else(never, |preview| eq("parent", DbValue::Int(preview.id)));
    any([eq("parent", DbValue::Int(0)), previewed, below("parent", readable), not(below("parent", always()))])
}

/// Records of every declared kind, by a condition for each.
fn records_of_all_kinds(scope: &Scope, of: impl Fn(&Resource) -> Cond) -> Cond {
    any(scope.registry.content_types().map(|resource| match of(resource) {
        filter if filter == never() => filter,
        filter => all([records::own_rows(resource), filter]),
    }))
}

/// Records that the caller may edit or delete. In the trash, the state before counts.
fn changeable_content(scope: &Scope, resource: &Resource, action: Action) -> Cond {
    let has = |action: Action| has(scope, resource, action);
    let [usual, others, published, private] =
        [action, action.to_others(), action.to_published(), action.to_private()].map(has);
    if !(others || scope.principal.is_logged_in() && (usual || published)) {
        return never();
    }
    if usual && others && published && private {
        return always();
    }
    let declared = &scope.registry.declaration;
    let in_state = |column: &str| {
        let out = || {
            let out = declared.statuses.keys().map(String::as_str);
            words(column, out.filter(|status| scope.registry.is_published_or_scheduled(status)))
        };
        let secret = || words(column, declared.statuses_where(|status| status.private));
        let mine = any([all([constant(published), out()]), all([constant(usual), not(out())])]);
        let theirs = all([
            constant(others),
            not(own(scope, "author")),
            any([constant(published), not(out())]),
            any([constant(private), not(secret())]),
        ]);
        any([all([own(scope, "author"), mine]), theirs])
    };
    let trash = || words("status", declared.statuses_where(|status| status.trash));
    any([all([not(trash()), in_state("status")]), all([trash(), in_state("status_before")])])
}

/// Whether the caller may edit every record of a resource.
fn edits_all(scope: &Scope, resource: &Resource) -> bool {
    changeable_content(scope, resource, Action::Edit) == always()
}

/// Records whose text no password hides from the caller; `None` where that is all of them.
pub fn unlocked(scope: &Scope, resource: &Resource) -> Option<Cond> {
    if !resource.is_content() || edits_all(scope, resource) {
        return None;
    }
    let open = [Cond::IsNull(name("password")), eq("password", txt(""))];
    Some(any(open.into_iter().chain([changeable_content(scope, resource, Action::Edit)])))
}

/// Records in a state that everybody may read.
pub fn published(scope: &Scope) -> Cond {
    words("status", scope.registry.declaration.statuses_where(|status| status.public))
}

/// The same, and files, which are as visible as what they are attached to.
pub fn published_or_inherited(scope: &Scope) -> Cond {
    words("status", scope.registry.declaration.statuses_where(|status| status.public || status.inherits))
}

/// Whether the caller may do an act to the record with this id; `None` when there is none.
pub fn parent_content(scope: &Scope, id: i64, action: Action) -> Result<Option<bool>, StorageError> {
    with_record(scope, id, |record| may(scope, action, record))?.transpose()
}

/// The content record with this id, of whatever declared kind; `None` when there is none.
pub fn with_record<T>(scope: &Scope, id: i64, ask: impl FnOnce(Record<'_>) -> T) -> Result<Option<T>, StorageError> {
    let snapshot = scope.storage.snapshot()?;
    let kind = records::kinds(&*snapshot, [id])?.pop();
    let Some(resource) = kind.and_then(|(_, kind)| scope.registry.resource_of_kind(&kind)) else { return Ok(None) };
    let row = records::find(&*snapshot, resource, &DbValue::Int(id))?;
    Ok(row.map(|row| ask(Record { resource, row: &row })))
}

// ------------------------------------------------------------------------------------------------ comments

/// Whether the caller moderates comments, on whatever record.
pub fn moderates(scope: &Scope) -> bool {
    scope.registry.comment_resources().any(|comments| has(scope, comments, Action::Moderate))
}

/// Comments that the caller may see: moderators all; others those below records that they enter, as far as these are
/// approved, their own, or below what they edit. `opened` is the record whose password the request carries.
pub fn readable_comments(scope: &Scope, opened: Option<i64>) -> Cond {
    if moderates(scope) {
        return always();
    }
    let open = records_of_all_kinds(scope, |resource| fully_readable(scope, resource, opened));
    let edited = records_of_all_kinds(scope, |resource| {
        all([fully_readable(scope, resource, opened), changeable_content(scope, resource, Action::Edit)])
    });
    let types = scope.registry.comment_resources().flat_map(|resource| resource.declared.comment_types.keys());
    let shown = all([
        words("status", scope.registry.declaration.comment_statuses_where(|status| status.public)),
        not(words("kind", types.map(String::as_str))),
    ]);
    any([all([any([shown, own(scope, "author")]), below("post", open)]), below("post", edited)])
}

/// Records that the caller may read with what is locked in them.
fn fully_readable(scope: &Scope, resource: &Resource, opened: Option<i64>) -> Cond {
    let unlocked = unlocked(scope, resource)
        .map(|unlocked| any([unlocked, opened.map_or_else(never, |id| eq("id", DbValue::Int(id)))]));
    all([visible(scope, resource)].into_iter().chain(unlocked))
}

/// Comments that the caller may change: moderators all, others those below records that they may edit.
fn changeable_comments(scope: &Scope) -> Cond {
    if moderates(scope) {
        return always();
    }
    if !scope.principal.is_logged_in() {
        return never();
    }
    below("post", records_of_all_kinds(scope, |resource| changeable_content(scope, resource, Action::Edit)))
}

/// Whether the caller reads the record with this id and what is locked in it; `None` when there is none.
pub fn reads_commented(
    scope: &Scope,
    id: i64,
    password: Option<&RecordPassword<'_>>,
) -> Result<Option<bool>, StorageError> {
    // A preview shows that there is a list, and none of it: comments are below what their readers may read.
    if scope.preview.as_ref().is_some_and(|preview| preview.id == id) {
        return Ok(Some(true));
    }
    let reads = with_record(scope, id, |record| {
        let opened = password.filter(|given| given.opens(record.text("password"))).map(|_| id);
        records::meets(&*scope.storage, record, &fully_readable(scope, record.resource, opened))
    });
    reads?.transpose()
}

/// The record with this id, if it is one that the password of the request opens.
pub fn opened(scope: &Scope, id: i64, password: Option<&RecordPassword<'_>>) -> Result<Option<i64>, StorageError> {
    let Some(given) = password else { return Ok(None) };
    Ok(with_record(scope, id, |record| given.opens(record.text("password")))?.filter(|opens| *opens).map(|_| id))
}

/// Comments whose record is in no state that hides them.
pub fn unhidden_comments(scope: &Scope) -> Cond {
    not(below("post", words("status", scope.registry.declaration.statuses_where(|status| status.hides_comments))))
}

// ------------------------------------------------------------------------------------------------ users

/// Control of an account gives all of its capabilities. So a caller changes the accounts of others only where the caller
/// has these capabilities, too.
fn users(scope: &Scope, resource: &Resource, action: Action) -> Cond {
    let held = |action: Action| held(scope, resource, action);
    match action {
        Action::Edit => any([own(scope, &resource.key), all([held(action), users_within_rights(scope)])]),
        Action::Delete | Action::Promote => all([held(action), users_within_rights(scope)]),
        Action::Read => any([users(scope, resource, Action::Edit), listed_users(scope, resource)]),
        action => held(action),
    }
}

/// Users whose roles allow nothing that the caller may not do.
fn users_within_rights(scope: &Scope) -> Cond {
    let more = scope.settings.roles.names().filter(|role| missing_capability(scope, [*role]).is_some());
    not(any(more.map(|role| Cond::HasWord(name("roles"), name(role)))))
}

/// The first capability of these roles, in their order, that the caller lacks.
fn missing_capability<'s, 'r>(scope: &'s Scope, roles: impl IntoIterator<Item = &'r str>) -> Option<&'s str> {
    let roles = roles.into_iter().filter_map(|role| scope.settings.roles.get(role));
    missing_of(scope, roles.flat_map(|role| &role.capabilities).map(|capability| &**capability))
}

/// The first of these capabilities that the caller lacks, and so may neither give nor take. A user with a `required` role
/// lacks none: such users manage all roles, also those that allow what they may not do.
pub fn missing_of<'c>(scope: &Scope, mut capabilities: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let (caller, roles) = (&scope.principal, &scope.settings.roles);
    if caller.roles.iter().any(|role| roles.get(role).is_some_and(|role| role.required)) {
        return None;
    }
    capabilities.find(|capability| !caller.has(capability))
}

/// Whether the caller has all that these roles allow; a refusal names the first capability that is missing.
pub fn check_assignable<'r>(scope: &Scope, roles: impl IntoIterator<Item = &'r str>) -> bool {
    missing_capability(scope, roles).is_none_or(|capability| scope.principal.can(capability))
}

/// The users that a list shows: those who have published something, to callers who may list users all.
pub fn listed_users(scope: &Scope, users: &Resource) -> Cond {
    match has(scope, users, Action::List) {
        true => always(),
        false => all([constant(knows_authors(scope, users)), published_authors(scope, None)]),
    }
}

/// Whether the caller may know who has published a record.
pub fn knows_authors(scope: &Scope, users: &Resource) -> bool {
    scope.registry.declaration.site.list_authors || scope.principal.is_logged_in() || has(scope, users, Action::List)
}

/// Users who have published something, of these kinds or of any that is shown to the public.
pub fn published_authors(scope: &Scope, kinds: Option<Vec<&str>>) -> Cond {
    let kinds = kinds.unwrap_or_else(|| {
        let public = scope.registry.content_types().filter(|r| !r.capabilities.contains_key(&Action::Read));
        public.filter(|r| r.supports("author")).map(|r| &*r.kind).collect()
    });
    Cond::Related {
        table: name(record::TABLE),
        inner: name("author"),
        outer: name("id"),
        filter: Box::new(Cond::All(vec![words("kind", kinds), published(scope)])),
    }
}

/// Whether a user has published anything (see [`published_authors`]).
pub fn has_published(scope: &Scope, user: i64) -> Result<bool, StorageError> {
    let filter = Cond::All(vec![is_in("id", [user]), published_authors(scope, None)]);
    Ok(!scope.storage.snapshot()?.rows(&columns(user::TABLE, &["id"], filter))?.is_empty())
}

// ------------------------------------------------------------------------------------------------ rows of their own, kinds, columns

fn plain(scope: &Scope, resource: &Resource, action: Action) -> Cond {
    if scope.registry.declaration.reviews.resource.get() == Some(&resource.name) {
        return reviews(scope, resource, action);
    }
    let held = |action: Action| held(scope, resource, action);
    match (&resource.declared.owner, action) {
        (_, Action::Read) => constant(reads(scope, resource)),
        (Some(owner), Action::Edit | Action::Delete) => {
            let owned = resource.plan_column(owner).map_or_else(never, |column| own(scope, &column));
            any([all([held(action), owned.clone()]), all([held(action.to_others()), not(owned)])])
        }
        (_, action) => held(action),
    }
}

/// Changes that wait for a review: those see one who may decide, and the user in whose name it was proposed. Who may publish
/// the record decides.
fn reviews(scope: &Scope, resource: &Resource, action: Action) -> Cond {
    let column = |column: &str| resource.plan_column(column).unwrap_or_else(|| name(column));
    let decidable = || {
        let publishes = |resource: &Resource| {
            all([held(scope, resource, Action::Publish), changeable_content(scope, resource, Action::Edit)])
        };
        below(&column(review::RECORD), records_of_all_kinds(scope, publishes))
    };
    match action {
        Action::Read => all([constant(reads(scope, resource)), any([own(scope, &column(review::USER)), decidable()])]),
        Action::Edit => decidable(),
        _ => never(),
    }
}

/// Whether the caller edits records of any kind: who does may see how kinds are declared.
pub fn edits_something(scope: &Scope) -> bool {
    let caller = &scope.principal;
    scope.registry.content_types().any(|r| caller.can(r.capability(Action::Edit)))
}

/// Whether the caller may see a state.
pub fn reads_status(scope: &Scope, status: &Status) -> bool {
    status.public || (!status.internal && edits_something(scope))
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

/// Whether the caller may read a field with these rights, where the caller may read its item.
pub fn reads_field(scope: &Scope, rights: &FieldRights) -> bool {
    scope.principal.has(&rights.read)
}

/// Whether the caller may write a field with these rights, where the caller may write its item.
pub fn writes_field(scope: &Scope, rights: &FieldRights) -> bool {
    scope.principal.has(&rights.write)
}

/// Whether the caller may read a column, as far as its property decides.
pub fn reads_column(scope: &Scope, resource: &Resource, column: &str) -> bool {
    resource.rights_of_column(column).is_none_or(|rights| reads_field(scope, rights))
}

/// Whether the caller may read the values of a meta key, as far as that has a declaration.
pub fn reads_meta(scope: &Scope, resource: &Resource, key: &str) -> bool {
    resource.rights_of_meta(key).is_none_or(|rights| reads_field(scope, rights))
}

/// Positions of the fields of a resource that the caller may not read: documents of callers with others are others.
pub fn hidden_fields(scope: &Scope, resource: &Resource) -> Vec<usize> {
    let fields = resource.guarded.iter().enumerate();
    fields.filter(|(_, field)| !reads_field(scope, &field.rights)).map(|(at, _)| at).collect()
}

/// Whether the caller may assign a term of this taxonomy.
pub fn may_assign(caller: &Principal, taxonomy: &Resource) -> bool {
    caller.can(taxonomy.capability(Action::Assign))
}

// ------------------------------------------------------------------------------------------------ refusals

/// Notes the capability that the caller lacks for an act to a row that is not permitted, for the refusal that follows: of
/// those that would do, the first in the order of actions.
pub fn note_missing(scope: &Scope, action: Action, record: Record<'_>) -> Result<(), StorageError> {
    let (caller, resource) = (&scope.principal, record.resource);
    caller.missing.take();
    match resource.family {
        Family::User => {
            if caller.can(resource.capability(action)) {
                check_assignable(scope, record.text("roles").split_whitespace());
            }
        }
        Family::Content | Family::Plain => {
            let named = Action::ALL.iter().filter_map(|action| resource.capabilities.get(action));
            let mut needed: IndexSet<&str> = named.map(String::as_str).filter(|name| !caller.has(name)).collect();
            let suffices = |needed: &IndexSet<&str>| {
                let more = needed.iter().map(|name| Arc::from(*name));
                let capabilities = Arc::new(caller.capabilities.iter().cloned().chain(more).collect());
                let principal = Principal { capabilities, ..caller.clone() };
                may(&Scope { principal, ..scope.clone() }, action, record)
            };
            if !suffices(&needed)? {
                return Ok(());
            }
            for at in (0..needed.len()).rev() {
                let mut fewer = needed.clone();
                fewer.shift_remove_index(at);
                if suffices(&fewer)? {
                    needed = fewer;
                }
            }
            if let Some(name) = needed.first() {
                caller.can(name);
            }
        }
        Family::Comment => {
            caller.can(resource.capability(Action::Moderate));
        }
        _ => {
            caller.can(resource.capability(action));
        }
    }
    Ok(())
}
