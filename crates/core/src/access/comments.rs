//! Guards of comments: who may see, write, change and delete the comments of a record.
//!
//! A comment is as visible as its record; the record's password opens both. Facts of the contract that no declaration
//! can express: anonymous callers do not comment by default, and they do not search by anything that identifies the
//! author of a comment.

use super::{Decision, GuardInput, GuardRows, policy, target};
use crate::error::{ApiError, Code};
use crate::model::Method;
use crate::records::{self, Record};
use crate::registry::columns::record;
use crate::registry::resource::Context;
use cms_declaration::{Action, CommentType};
use cms_storage::plan::{DbValue, Row};
use serde_json::Value;

/// Every comment of the requested records must be open to the caller; the condition on rows decides about the rest.
pub(super) fn list(input: &GuardInput<'_>) -> Decision {
    let posts = asked_posts(input);
    for post in &posts {
        input.refuse_if(*post == 0 && !policy::moderates(input.scope), Code::CannotRead)?;
        let password = input.given.filter(|_| posts.len() == 1);
        input.refuse_if(policy::reads_commented(input.scope, *post, password)? == Some(false), Code::CannotReadPost)?;
    }
    if input.context() == Context::EDIT && !policy::moderates(input.scope) && !edits_remarks(input, &posts)? {
        return Err(input.refuse(Code::ForbiddenContext));
    }
    if policy::edits_something(input.scope) {
        return Ok(GuardRows::default());
    }
    let forbidden: Vec<&str> = PRIVATE.into_iter().filter(|name| asks_privately(input, name)).collect();
    if forbidden.is_empty() {
        return Ok(GuardRows::default());
    }
    let message = format!("You may not use these parameters with these values: {}.", forbidden.join(", "));
    Err(input.refuse(Code::ForbiddenParam).with_message(message))
}

/// Whether the request is for comments of a declared type below records that the caller may edit.
fn edits_remarks(input: &GuardInput<'_>, posts: &[i64]) -> Result<bool, ApiError> {
    let kind = input.args.text("type").unwrap_or_default();
    if posts.is_empty() || input.resource()?.comment_type(kind).is_none() {
        return Ok(false);
    }
    for post in posts {
        if policy::parent_content(input.scope, *post, Action::Edit)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Parameters that reveal a comment's author or anything that is not public.
const PRIVATE: [&str; 5] = ["author", "author_exclude", "author_email", "type", "status"];

/// Whether a parameter selects otherwise than it does by default.
fn asks_privately(input: &GuardInput<'_>, name: &str) -> bool {
    let default = input.endpoint.args.get(name).and_then(|arg| arg.default.as_ref()).and_then(Value::as_str);
    let value = input.args.get(name);
    match (default, value) {
        (Some(default), value) if !default.is_empty() => value.and_then(Value::as_str) != Some(default),
        (_, Some(Value::Array(list))) => !list.is_empty(),
        (_, Some(Value::String(text))) => !text.is_empty(),
        _ => false,
    }
}

fn asked_posts(input: &GuardInput<'_>) -> Vec<i64> {
    match input.args.get("post") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_i64).map(i64::abs).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn read(input: &GuardInput<'_>) -> Decision {
    let row = stored(input)?;
    let record = Record { resource: input.resource()?, row: &row };
    input.refuse_if(input.context() == Context::EDIT && !input.sees_edited(record)?, Code::ForbiddenContext)?;
    let opened = policy::opened(input.scope, record.int("post"), input.given)?;
    let readable = policy::readable_comments(input.scope, opened);
    if records::meets(&*input.scope.storage, record, &readable)? {
        return target(row);
    }
    // Its author would read it, if the record were open.
    let own = input.scope.principal.is_logged_in() && record.int("author") == input.scope.principal.id;
    let code = if own { Code::CannotReadPost } else { Code::CannotRead };
    Err(input.refuse(code))
}

pub(super) fn create(input: &GuardInput<'_>) -> Decision {
    let caller = &input.scope.principal;
    if !caller.is_logged_in() && !input.registry().declaration.site.anonymous_comments {
        return Err(input.fail(Code::CommentLoginRequired));
    }
    claims(input, None)?;
    let kind = input.sources.get("type").and_then(Value::as_str).unwrap_or_default();
    let kind = input.resource()?.comment_type(kind);
    // Also a status that is a list's default: recorded, for `Allow` of lists.
    if input.args.get("status").is_some() && !policy::moderates(input.scope) && kind.is_none() {
        return Err(input.refuse(Code::CommentInvalidStatus));
    }
    let post = input.args.int("post").or_else(|| asked_posts(input).first().copied()).unwrap_or(0);
    if let Some(kind) = kind.filter(|_| post != 0) {
        return remark(input, kind, post);
    }
    // Recorded: in `Allow` of a list, the records whose comments it has refuse none.
    let listing = matches!(input.method, Method::Get | Method::Head);
    if listing && input.sources.get("post").is_some_and(|posts| *posts != "") {
        return Ok(GuardRows::default());
    }
    let status = policy::with_record(input.scope, post, |record| record.text("status").to_owned())?;
    let Some(status) = status else { return Err(input.fail(Code::CommentInvalidPostId)) };
    if input.registry().status_is(&status, |status| status.draft) {
        return Err(input.fail(Code::CommentDraftPost));
    }
    if input.registry().status_is(&status, |status| status.trash) {
        return Err(input.fail(Code::CommentTrashPost));
    }
    input.refuse_if(policy::reads_commented(input.scope, post, input.given)? != Some(true), Code::CannotReadPost)?;
    let takes = policy::with_record(input.scope, post, |record| {
        (record.resource.supports("comments"), record.takes_comments())
    });
    let (takes, open) = takes?.unwrap_or_default();
    match (takes, open) {
        (false, _) => Err(input.fail(Code::CommentNotSupported)),
        // An imported comment was written when they were open.
        (_, false) if input.scope.imported.is_none() => Err(input.fail(Code::CommentClosed)),
        _ => Ok(GuardRows::default()),
    }
}

/// Comments of declared types are for callers who may edit the record, whatever its state.
fn remark(input: &GuardInput<'_>, kind: &CommentType, post: i64) -> Decision {
    let found = policy::with_record(input.scope, post, |record| -> Result<_, ApiError> {
        let trashed = input.registry().status_is(record.text("status"), |status| status.trash);
        Ok((input.may(Action::Edit, record)?, trashed, record.resource.supports(&kind.supports)))
    });
    match found?.transpose()? {
        Some((true, false, true)) => Ok(GuardRows::default()),
        Some((true, true, _)) => Err(input.fail(Code::CommentTrashPost)),
        Some((true, false, false)) => Err(input.fail(Code::CommentNotSupported)),
        // A record that is not there is as one that the caller may not edit.
        Some((false, ..)) | None => Err(input.refuse(Code::CannotCreate)),
    }
}

/// Only moderators give a comment another person's name or address, be it new or, with what it has `before`, changed.
fn claims(input: &GuardInput<'_>, before: Option<Record<'_>>) -> Result<(), ApiError> {
    let caller = &input.scope.principal;
    if policy::moderates(input.scope) {
        return Ok(());
    }
    let may_name = |id: Option<i64>| id == Some(caller.id) || before.is_some_and(|b| Some(b.int("author")) == id);
    if input.args.explicit("author").is_some_and(|author| !may_name(author.as_i64())) {
        return Err(input.refuse(Code::CommentInvalidAuthor));
    }
    let own = input.scope.peer.ip.map(|ip| ip.to_string());
    let may_come_from =
        |ip: Option<&str>| ip == own.as_deref() || before.is_some_and(|b| Some(b.text("author_ip")) == ip);
    if input.args.explicit("author_ip").is_some_and(|ip| !may_come_from(ip.as_str())) {
        return Err(input.refuse(Code::CommentInvalidAuthorIp));
    }
    Ok(())
}

pub(super) fn update(input: &GuardInput<'_>) -> Decision {
    let row = stored(input)?;
    let record = Record { resource: input.resource()?, row: &row };
    input.refuse_if(!input.may(Action::Edit, record)?, Code::CannotEdit)?;
    claims(input, Some(record))?;
    target(row)
}

pub(super) fn delete(input: &GuardInput<'_>) -> Decision {
    let row = stored(input)?;
    if !input.may(Action::Delete, Record { resource: input.resource()?, row: &row })? {
        return Err(input.refuse(Code::CannotDelete));
    }
    target(row)
}

/// The comment that the path names; a comment whose record does not exist does not exist either.
fn stored(input: &GuardInput<'_>) -> Result<Row, ApiError> {
    let row = input.target(Code::CommentInvalidId)?;
    let post = Record { resource: input.resource()?, row: &row }.int("post");
    let of_post = records::eq("id", DbValue::Int(post));
    if post != 0 && !records::exists(&*input.scope.snapshot()?, record::TABLE, of_post)? {
        return Err(input.fail(Code::PostInvalidId));
    }
    Ok(row)
}
