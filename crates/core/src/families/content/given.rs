//! Checks of what is given for a record: its author, state, place, template and picture.

use super::{ContentDraft, col};
use crate::access::drafts::{self, DraftedRecord};
use crate::access::{failure, policy};
use crate::error::{ApiError, Code, refuse_if, status};
use crate::families::{RowEdit, parents};
use crate::records::{self, Record, eq, int, txt};
use crate::registry::columns::{ID, record, term};
use crate::scope::Scope;
use cms_declaration::{Action, RequiredColumn};
use cms_storage::plan::{DbValue, Name};
use serde_json::Value;

/// Checks all that is given and sets the columns that have rules of their own, but for dates and slugs.
pub(super) fn check(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) -> Result<(), ApiError> {
    author(edit, draft)?;
    state(edit, draft)?;
    password(edit, draft)?;
    parent(edit, draft)?;
    template(edit, draft);
    media(edit, draft)?;
    let status = draft.text(col::STATUS);
    let (author, parent) = (draft.int(col::AUTHOR), draft.int(col::PARENT));
    drafts::check_result(edit.scope, &DraftedRecord { resource: draft.resource, author, status: &status, parent })?;
    stands(edit.scope, draft)?;
    titled(edit.scope, draft)?;
    required(draft)
}

/// The target of the row's reference has to exist, unless its kind is given as well.
fn stands(scope: &Scope, draft: &ContentDraft<'_>) -> Result<(), ApiError> {
    let Some(declared) = &draft.resource.declared.reference else { return Ok(()) };
    let (class, kind) = (draft.text(&declared.class), draft.text(&declared.kind));
    if class == declared.archive {
        let known = scope.registry.resource_of_kind(&kind).is_some();
        return if known { Ok(()) } else { Err(ApiError::new(Code::PostInvalidType)) };
    }
    let (table, code) = match &class {
        class if *class == declared.record => (record::TABLE, Code::PostInvalidId),
        class if *class == declared.term => (term::TABLE, Code::TermInvalidId),
        _ => return Ok(()),
    };
    let number = draft.int(&declared.id);
    let there = || {
        let id = eq(ID, DbValue::Int(number));
        Ok::<_, ApiError>(records::exists(&*scope.snapshot()?, table, id)?)
    };
    let seen = || {
        Ok::<_, ApiError>(table != record::TABLE || draft.has_already(&declared.id, number) || readable(scope, number)?)
    };
    let told = || Ok::<_, ApiError>(there()? && seen()?);
    if kind.is_empty() && !told()? { Err(ApiError::new(code).with_status(status::BAD_REQUEST)) } else { Ok(()) }
}

/// A title that is that of what the row refers to is not stored, so that it follows it; a row that comes to refer to
/// something else keeps the title that it had.
fn titled(scope: &Scope, draft: &mut ContentDraft<'_>) -> Result<(), ApiError> {
    let Some(declared) = &draft.resource.declared.reference else { return Ok(()) };
    let before = draft.before_text(&declared.class).to_owned();
    let resource = draft.resource;
    let former = (before, draft.before.map_or(0, |row| Record { resource, row }.int(&declared.id)));
    let now = (draft.text(&declared.class), draft.int(&declared.id));
    let title_of = |(class, id): &(String, i64)| -> Result<Option<String>, ApiError> {
        let (table, column) = match class {
            class if *class == declared.record => (record::TABLE, col::TITLE),
            class if *class == declared.term => (term::TABLE, term::NAME),
            _ => return Ok(None),
        };
        Ok(records::first(&*scope.snapshot()?, table, &[column], eq(ID, DbValue::Int(*id)))?)
    };
    if draft.before.is_some() && former != now && draft.text(col::TITLE).is_empty() {
        let kept = title_of(&former)?.unwrap_or_default();
        draft.put(col::TITLE, txt(&kept));
    }
    let own = draft.text(col::TITLE);
    if !own.is_empty() && draft.set.contains_key(col::TITLE) && title_of(&now)?.is_some_and(|title| title == own) {
        draft.put(col::TITLE, txt(""));
    }
    Ok(())
}

/// The columns that the declaration requires must not be empty.
fn required(draft: &ContentDraft<'_>) -> Result<(), ApiError> {
    let holds = |(column, wanted): (&String, &String)| draft.text(column) == *wanted;
    let empty = |(required, _): &&(RequiredColumn, Code)| {
        required.when.iter().all(holds) && draft.text(&required.column).is_empty()
    };
    let mut refused = draft.resource.not_empty.iter().filter(empty).map(|(_, code)| failure(draft.resource, *code));
    refused.next().map_or(Ok(()), |first| Err(refused.fold(first, ApiError::and)))
}

fn author(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) -> Result<(), ApiError> {
    let caller = edit.scope.principal.id;
    // Nobody is no author: what was, or who writes, stays.
    if draft.set.get(col::AUTHOR).is_some_and(|given| int(given) == 0) {
        draft.set.remove(col::AUTHOR);
    }
    match draft.set.get(col::AUTHOR) {
        Some(given) if int(given) != caller && draft.resource.supports("author") => {
            let users = edit.scope.registry.users();
            let users = users.ok_or_else(|| ApiError::new(Code::Internal))?;
            refuse_if(records::find(&*edit.scope.snapshot()?, users, given)?.is_none(), Code::InvalidAuthor)?;
        }
        Some(_) => {}
        None if draft.before.is_none() => draft.put(col::AUTHOR, DbValue::Int(caller)),
        None => {}
    }
    Ok(())
}

/// The requested state, if the caller may change a record to it.
fn state(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) -> Result<(), ApiError> {
    let wanted = draft.resource.property_of_column(col::STATUS);
    let wanted = wanted.and_then(|p| edit.wanted(&p.name)).and_then(Value::as_str);
    let before = draft.before_text(col::STATUS).to_owned();
    if draft.resource.supports("attached") {
        return attached_state(edit, draft, wanted);
    }
    let only = &draft.resource.declared.only_statuses;
    let wanted = wanted.map(|wanted| match only.last() {
        Some(other) if !only.iter().any(|known| known == wanted) => other.as_str(),
        _ => wanted,
    });
    let Some(wanted) = wanted.filter(|w| *w != before) else {
        if draft.before.is_none() {
            let initial = draft.resource.declared.initial_status.as_deref();
            draft.put(col::STATUS, txt(initial.unwrap_or(edit.scope.registry.draft_status())));
        }
        return Ok(());
    };
    let caller = &edit.scope.principal;
    let registry = &edit.scope.registry;
    let publishes = registry.is_published_or_scheduled(wanted) || registry.status_is(wanted, |status| status.private);
    if publishes && !caller.can(draft.resource.capability(Action::Publish)) {
        return Err(caller.refuse(Code::CannotPublish));
    }
    draft.put(col::STATUS, txt(wanted));
    Ok(())
}

/// Attached records take the state of their parent; requests can only make them private.
fn attached_state(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>, wanted: Option<&str>) -> Result<(), ApiError> {
    let private = wanted.filter(|w| edit.scope.registry.status(w).is_some_and(|s| s.private));
    match private {
        Some(status) => {
            let caller = &edit.scope.principal;
            if !caller.can(draft.resource.capability(Action::Publish)) {
                return Err(caller.refuse(Code::CannotPublish));
            }
            draft.put(col::STATUS, txt(status));
        }
        None if wanted.is_some() || draft.before.is_none() => {
            draft.put(col::STATUS, txt(edit.scope.registry.inherited_status()))
        }
        None => {}
    }
    Ok(())
}

fn password(edit: &RowEdit<'_>, draft: &ContentDraft<'_>) -> Result<(), ApiError> {
    if !draft.resource.supports("sticky") {
        return Ok(());
    }
    let locks = edit.given_text("password").is_some_and(|p| !p.is_empty());
    let sticks = edit.args.explicit("sticky").and_then(Value::as_bool) == Some(true);
    let locked = !draft.before_text(col::PASSWORD).is_empty();
    let stuck = edit.record().is_some_and(|record| record.int(col::STICKY) != 0);
    // As recorded: what was counts, although the same request would change it.
    if (locks && (sticks || stuck)) || (sticks && locked) {
        return Err(ApiError::new(Code::InvalidField).with_message("A record cannot be sticky and have a password."));
    }
    Ok(())
}

fn parent(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) -> Result<(), ApiError> {
    let Some(property) = draft.resource.property_of_column(col::PARENT) else { return Ok(()) };
    let Some(wanted) = edit.args.explicit(&property.name) else { return Ok(()) };
    // Where null is taken, it takes the record off.
    let wanted = wanted.as_i64().unwrap_or(0);
    if draft.resource.supports("attached") {
        attachable(edit.scope, wanted)?;
        draft.put(col::PARENT, DbValue::Int(wanted.max(0)));
        return Ok(());
    }
    if wanted == 0 {
        draft.put(col::PARENT, DbValue::Int(0));
        return Ok(());
    }
    if draft.resource.declared.loose_parent {
        let itself = edit.record().is_some_and(|record| record.id() == wanted);
        draft.put(col::PARENT, DbValue::Int(if itself { 0 } else { wanted }));
        return Ok(());
    }
    let snapshot = edit.scope.snapshot()?;
    let exists = records::exists(&*snapshot, record::TABLE, eq(ID, DbValue::Int(wanted)))?;
    // A parent that the caller may not read counts as missing, unless it is the parent already.
    if !exists || !(draft.has_already(col::PARENT, wanted) || readable(edit.scope, wanted)?) {
        return Err(ApiError::new(Code::PostInvalidId)
            .with_status(status::BAD_REQUEST)
            .with_message("The parent does not exist."));
    }
    // Below itself, a record stays at the top.
    let above = parents::place(edit.scope, &draft.resource.table, edit.record().map_or(0, |r| r.id()), wanted)?;
    draft.put(col::PARENT, DbValue::Int(if above.looped { 0 } else { wanted }));
    if !above.looped {
        draft.unmoved = above.unmoved(&draft.resource.table);
    }
    Ok(())
}

/// Whether the caller may read the record with this number.
fn readable(scope: &Scope, id: i64) -> Result<bool, ApiError> {
    Ok(policy::parent_content(scope, id, Action::Read)? == Some(true))
}

/// Files are attached to records that are not attached to others themselves. A record that does not exist is accepted.
fn attachable(scope: &Scope, wanted: i64) -> Result<(), ApiError> {
    let found = records::kinds(&*scope.snapshot()?, [wanted])?;
    let kind = found.first().map(|(_, kind)| kind);
    let attached = kind.and_then(|k| scope.registry.resource_of_kind(k)).is_some_and(|r| r.supports("attached"));
    if attached {
        return Err(ApiError::new(Code::InvalidParam).with_message("A file cannot belong to a file."));
    }
    Ok(())
}

/// The template: the argument is checked already.
pub(super) fn template(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) {
    if let Some(wanted) = edit.given_text("template") {
        draft.put(col::TEMPLATE, txt(wanted));
    }
}

/// A picture that the caller sees; anything else counts as none. What does not exist leaves the one that is there.
pub(super) fn media(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) -> Result<(), ApiError> {
    let Some(wanted) = edit.args.explicit("featured_media").and_then(Value::as_i64) else { return Ok(()) };
    let (columns, this) = ([col::KIND, col::MIME, col::EXTRA], eq(ID, DbValue::Int(wanted)));
    let found: Option<(Name, Name, Name)> = records::first(&*edit.scope.snapshot()?, record::TABLE, &columns, this)?;
    if found.is_none() && wanted != 0 {
        return Ok(());
    }
    let is_file = |kind: &str| edit.scope.registry.resource_of_kind(kind).is_some_and(|r| r.supports("files"));
    let shows = found.is_some_and(|(kind, mime, extra)| is_file(&kind) && is_picture(&mime, &extra))
        && (draft.has_already(col::FEATURED_MEDIA, wanted) || readable(edit.scope, wanted)?);
    draft.put(col::FEATURED_MEDIA, DbValue::Int(if shows { wanted } else { 0 }));
    Ok(())
}

/// Whether a file can be shown as a picture: it is one, or a document with pictures of its pages.
fn is_picture(mime: &str, extra: &str) -> bool {
    let previews = || {
        let extra: Value = serde_json::from_str(extra).unwrap_or_default();
        extra.pointer("/media_details/sizes").and_then(Value::as_object).is_some_and(|sizes| !sizes.is_empty())
    };
    mime.starts_with("image/") || previews()
}
