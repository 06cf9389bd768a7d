//! Writes of the comment family: who wrote it, whether it shows at once, threads, states, the bin.
//!
//! Where the contract is silent, the recorded behaviour. That a comment comes too fast or for the second time is
//! decided inside the commit, so that two requests at once cannot both pass.

use super::content::meta;
use super::plain::{pointing, stored};
use super::{Refusal, Work};
use crate::access::{failure, policy};
use crate::config::declaration::Family;
use crate::error::{ApiError, Code};
use crate::records::{self, Record, columns, eq, int, text, txt};
use crate::registry::name;
use crate::registry::resource::{Resource, Source};
use crate::storage::plan::{Change, Cond, DbValue, Input, Name, Op, Put, Row, Target, WritePlan};
use crate::text::time;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Seconds between two comments of one person.
const PAUSE: i64 = 15;

/// A stranger's text with this many links waits for a moderator.
const SUSPICIOUS_LINKS: usize = 2;

/// What a request sets of a comment.
struct Draft {
    set: BTreeMap<&'static str, DbValue>,
    meta: Vec<(Name, Vec<Arc<str>>)>,
    /// The word for a state that the request gives.
    status: Option<String>,
}

impl Draft {
    fn text(&self, column: &str) -> &str {
        self.set.get(column).map_or("", text)
    }

    fn int(&self, column: &str) -> i64 {
        self.set.get(column).map_or(0, int)
    }

    fn put(self, resource: &Resource, target: Target) -> Change {
        Change::Put(Put {
            table: resource.table.clone(),
            target,
            set: self.set.into_iter().map(|(column, value)| (name(column), Input::Value(value))).collect(),
            slug: None,
            edges: Vec::new(),
            meta: self.meta,
            revision: None,
        })
    }
}

/// Inserts a comment; its key.
///
/// # Errors
/// No text, no author, a column that is too long, the same comment again, too soon after the last one.
pub async fn create(work: &Work<'_>, resource: &Resource) -> Result<DbValue, ApiError> {
    let named = |member: &str| work.sources().get(member).cloned().unwrap_or_default();
    if !matches!(named("id"), Value::Null) {
        return Err(failure(resource, Code::CommentExists));
    }
    if !matches!(named("type").as_str(), None | Some("" | COMMENT)) {
        return Err(failure(resource, Code::CommentInvalidType));
    }
    let mut draft = draft(work, resource, None)?;
    if draft.text("content").trim().is_empty() {
        return Err(failure(resource, Code::CommentContentInvalid));
    }
    signed(work, resource, &mut draft)?;
    lengths(resource, &draft)?;
    draft.set.insert("kind", txt(COMMENT));
    let first = first_status(work, &draft)?;
    let (status, before) =
        draft.status.as_deref().and_then(|w| transition(first, "", w)).unwrap_or((first.into(), None));
    draft.set.insert("status", txt(&status));
    draft.set.insert("status_before", before.map_or(DbValue::Null, |before| txt(&before)));
    let mut changes = vec![on_a_record(&draft), twice(&draft)];
    changes.extend(too_soon(work, &draft));
    changes.push(draft.put(resource, Target::New));
    let done = work.commit(WritePlan { changes }).await.map_err(|refusal| answer(work, resource, refusal))?;
    done.puts.into_iter().next().map(|put| put.key).ok_or_else(|| ApiError::new(Code::Internal))
}

/// Changes a comment.
///
/// # Errors
/// No text, no such author or record, another type, a column that is too long.
pub async fn update(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value("id").clone();
    let sources = work.sources();
    if sources.get("type").and_then(Value::as_str).is_some_and(|kind| kind != record.text("kind")) {
        return Err(failure(resource, Code::CommentTypeFixed).into());
    }
    let mut draft = draft(work, resource, Some(record))?;
    if draft.set.contains_key("content") && draft.text("content").trim().is_empty() {
        return Err(failure(resource, Code::CommentContentInvalid).into());
    }
    lengths(resource, &draft)?;
    movable(work, record, &draft)?;
    let mut changes = Vec::new();
    if draft.int("post") != 0 {
        changes.push(on_a_record(&draft));
    }
    if let Some(word) = draft.status.take()
        && let Some((status, before)) = transition(record.text("status"), record.text("status_before"), &word)
    {
        draft.set.insert("status", txt(&status));
        draft.set.insert("status_before", before.map_or(DbValue::Null, |before| txt(&before)));
    }
    changes.push(draft.put(resource, Target::Existing { key: key.clone(), expect: Some(record.int("version")) }));
    work.carry_out(changes, |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// Moves a comment to the bin, from where it can come back.
///
/// # Errors
/// It is there already.
pub async fn trash(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value("id").clone();
    if record.text("status") == TRASH {
        return Err(failure(resource, Code::AlreadyTrashed).into());
    }
    let set = BTreeMap::from([("status", txt(TRASH)), ("status_before", txt(record.text("status")))]);
    let draft = Draft { set, meta: Vec::new(), status: None };
    let target = Target::Existing { key: key.clone(), expect: Some(record.int("version")) };
    work.carry_out(vec![draft.put(resource, target)], |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// Deletes a comment for good; answers to it move up.
///
/// # Errors
/// Another row points to it and its relation refuses.
pub async fn remove(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value("id").clone();
    let mut changes = vec![Change::UpdateWhere {
        table: resource.table.clone(),
        filter: eq("parent", key.clone()),
        set: vec![(name("parent"), DbValue::Int(record.int("parent")))],
    }];
    changes.extend(pointing(&work.scope.registry, resource, &key));
    changes.push(Change::Remove {
        table: resource.table.clone(),
        key: key.clone(),
        expect: Some(record.int("version")),
    });
    work.carry_out(changes, |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

fn answer(work: &Work<'_>, resource: &Resource, refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::Error(error) => error,
        Refusal::Stale => failure(resource, Code::CommentInvalidId),
        Refusal::Rule { tag: "pointed_to", .. } => {
            failure(resource, Code::CannotDeleteStored).with_message("Other items point to this one.").with_status(409)
        }
        Refusal::Rule { tag, .. } => match Code::parse(tag) {
            Some(code) => failure(resource, code),
            None => work.scope.internal(&format!("no answer for refusal {tag}")),
        },
    }
}

const COMMENT: &str = "comment";
const APPROVED: &str = "approved";
const HOLD: &str = "hold";
const TRASH: &str = "trash";

// ------------------------------------------------------------------------------------------------ what was asked for

/// The columns that the request sets; their texts are as they will be stored.
fn draft(work: &Work<'_>, resource: &Resource, before: Option<Record<'_>>) -> Result<Draft, ApiError> {
    let mut draft = Draft { set: BTreeMap::new(), meta: Vec::new(), status: None };
    let args = work.allowed.args();
    author(work, resource, &mut draft)?;
    for property in resource.properties.iter().filter(|p| !p.readonly) {
        let value = if before.is_none() { args.get(&property.name) } else { args.given(&property.name) };
        let Some(value) = value else { continue };
        if let Source::Meta = property.source {
            draft.meta.extend(meta(resource, value));
            continue;
        }
        // An object says something of the text only where it holds the text.
        if value.is_object() && value.get("raw").is_none() {
            continue;
        }
        let Some((column, value)) = stored(work, resource, property, value)? else { continue };
        let Some(column) = SETTABLE.iter().find(|known| **known == &*column) else { continue };
        draft.set.insert(column, value);
    }
    draft.status = args.given("status").and_then(Value::as_str).map(str::to_owned);
    // Recorded: whoever writes last is remembered, also of an update.
    let ip = work.scope.peer.ip.map(|ip| ip.to_string()).unwrap_or_default();
    for (column, seen) in [("author_user_agent", &*work.scope.agent), ("author_ip", ip.as_str())] {
        if draft.text(column).is_empty() && !seen.is_empty() {
            draft.set.insert(column, txt(seen));
        }
    }
    dates(work, before.is_none(), &mut draft);
    if let Some(record) = before {
        thread(work, record, &mut draft)?;
    }
    Ok(draft)
}

/// Columns that arguments set as they are; the others have rules of their own.
const SETTABLE: [&str; 8] =
    ["post", "parent", "author_name", "author_email", "author_url", "author_ip", "author_user_agent", "content"];

/// A user named as the author lends the comment name, e-mail address and site.
fn author(work: &Work<'_>, resource: &Resource, draft: &mut Draft) -> Result<(), ApiError> {
    let Some(id) = work.allowed.args().given("author").and_then(Value::as_i64) else { return Ok(()) };
    if !sign(work, draft, id)? {
        return Err(failure(resource, Code::CommentAuthorInvalid));
    }
    Ok(())
}

/// Puts a user's data into a comment; false when there is no such user.
fn sign(work: &Work<'_>, draft: &mut Draft, id: i64) -> Result<bool, ApiError> {
    let Some(users) = work.scope.registry.family(Family::User).next() else { return Ok(false) };
    let Some(row) = records::find(&*work.scope.snapshot()?, users, &DbValue::Int(id))? else { return Ok(false) };
    let user = Record { resource: users, row: &row };
    draft.set.insert("author", DbValue::Int(id));
    for (column, of_user) in [("author_name", "name"), ("author_email", "email"), ("author_url", "url")] {
        draft.set.insert(column, txt(user.text(of_user)));
    }
    Ok(true)
}

/// A new comment that names nobody is the caller's; one that names somebody names them fully.
fn signed(work: &Work<'_>, resource: &Resource, draft: &mut Draft) -> Result<(), ApiError> {
    let nobody = ["author_name", "author_email", "author_url"].iter().all(|column| draft.text(column).is_empty());
    if nobody && draft.int("author") == 0 {
        sign(work, draft, work.scope.principal.id)?;
    }
    if draft.text("author_name").is_empty() || draft.text("author_email").is_empty() {
        return Err(failure(resource, Code::CommentAuthorRequired));
    }
    Ok(())
}

fn lengths(resource: &Resource, draft: &Draft) -> Result<(), ApiError> {
    for property in &resource.properties {
        let bounded = match &property.source {
            Source::Object(children) => children.iter().find(|child| child.longest.is_some()),
            _ => Some(property),
        };
        let Some((column, (most, code))) = bounded.and_then(|p| p.column.as_deref().zip(p.longest)) else { continue };
        if draft.text(column).len() > most {
            return Err(failure(resource, code));
        }
    }
    Ok(())
}

fn dates(work: &Work<'_>, creating: bool, draft: &mut Draft) {
    let args = work.allowed.args();
    let zone = &work.scope.settings.zone;
    let parsed = |name: &str| args.given(name).and_then(Value::as_str).and_then(time::parse_datetime);
    let (local, utc) = match (parsed("date"), parsed("date_gmt")) {
        (Some(moment), _) => moment.in_zone(zone),
        (None, Some(moment)) => (zone.utc_to_local(moment.as_utc()), moment.as_utc()),
        (None, None) if creating => (work.scope.local_now(), work.scope.now),
        (None, None) => return,
    };
    draft.set.insert("date_local", DbValue::Int(local));
    draft.set.insert("date_utc", DbValue::Int(utc));
}

/// Who edits comments only below own records moves them only between those.
fn movable(work: &Work<'_>, record: Record<'_>, draft: &Draft) -> Result<(), ApiError> {
    let caller = &work.scope.principal;
    let moves = draft.set.get("post").is_some_and(|post| int(post) != record.int("post"));
    // Who moderates all comments need not edit the record, and yet has to see it.
    let act = if caller.can("moderate_comments") { "read" } else { "edit" };
    if moves && policy::parent_content(work.scope, draft.int("post"), act) == Some(false) {
        return Err(caller.refuse(Code::CannotEdit));
    }
    Ok(())
}

/// Below itself, a comment stands at the top.
fn thread(work: &Work<'_>, record: Record<'_>, draft: &mut Draft) -> Result<(), ApiError> {
    const DEEPEST: usize = 1000;
    let snapshot = work.scope.snapshot()?;
    let (mut above, mut steps) = (draft.int("parent"), 0);
    while above != 0 && steps < DEEPEST {
        if above == record.id() {
            draft.set.insert("parent", DbValue::Int(0));
            return Ok(());
        }
        let row = records::first(&*snapshot, "comment", &["parent"], eq("id", DbValue::Int(above)))?;
        above = row.map_or(0, |row| int(&row[0]));
        steps += 1;
    }
    Ok(())
}

// ------------------------------------------------------------------------------------------------ states

/// The state that a new comment has when nobody says: it shows at once when its author moderates, wrote the record, or
/// has had a comment approved before.
fn first_status(work: &Work<'_>, draft: &Draft) -> Result<&'static str, ApiError> {
    let author = draft.int("author");
    if author != 0 && trusted(work, author, draft.int("post"))? {
        return Ok(APPROVED);
    }
    if links(draft.text("content")) >= SUSPICIOUS_LINKS {
        return Ok(HOLD);
    }
    let same = match author {
        0 => Cond::All(vec![
            eq("author_name", txt(draft.text("author_name"))),
            eq("author_email", txt(draft.text("author_email"))),
        ]),
        author => eq("author", DbValue::Int(author)),
    };
    let filter = Cond::All(vec![same, eq("status", txt(APPROVED))]);
    let known = records::first(&*work.scope.snapshot()?, "comment", &["id"], filter)?.is_some();
    Ok(if known { APPROVED } else { HOLD })
}

fn trusted(work: &Work<'_>, author: i64, post: i64) -> Result<bool, ApiError> {
    let snapshot = work.scope.snapshot()?;
    let record = records::first(&*snapshot, "record", &["author"], eq("id", DbValue::Int(post)))?;
    if record.is_some_and(|row| int(&row[0]) == author) {
        return Ok(true);
    }
    let user = records::first(&*snapshot, "user", &["roles"], eq("id", DbValue::Int(author)))?;
    let roles = user.map(|row| records::split_words(text(&row[0]))).unwrap_or_default();
    Ok(work.scope.registry.capabilities(&roles).contains("moderate_comments"))
}

fn links(markup: &str) -> usize {
    markup.to_ascii_lowercase().matches("<a ").count()
}

/// The state that a word leads to, and the one to come back to; `None` leaves the comment as it is.
fn transition(status: &str, before: &str, word: &str) -> Option<(String, Option<String>)> {
    let back = || if before.is_empty() { HOLD } else { before }.to_owned();
    let (to, away) = match word {
        APPROVED | "approve" | "1" => (APPROVED, false),
        HOLD | "0" => (HOLD, false),
        "spam" | TRASH => (word, true),
        "untrash" if status == TRASH => return Some((back(), None)),
        "unspam" if status == "spam" => return Some((back(), None)),
        _ => return None,
    };
    (to != status).then(|| (to.to_owned(), away.then(|| status.to_owned())))
}

// ------------------------------------------------------------------------------------------------ inside the commit

/// The record that the comment is to stand under exists.
fn on_a_record(draft: &Draft) -> Change {
    Change::Require {
        plan: columns("record", &["id"], eq("id", DbValue::Int(draft.int("post")))),
        found: true,
        tag: Code::CommentInvalidPostId.as_str(),
    }
}

/// Nobody says the same in the same place twice.
fn twice(draft: &Draft) -> Change {
    let filter = Cond::All(vec![
        eq("post", DbValue::Int(draft.int("post"))),
        eq("parent", DbValue::Int(draft.int("parent"))),
        Cond::Not(Box::new(eq("status", txt(TRASH)))),
        Cond::Any(vec![
            eq("author_name", txt(draft.text("author_name"))),
            eq("author_email", txt(draft.text("author_email"))),
        ]),
        eq("content", txt(draft.text("content"))),
    ]);
    Change::Require { plan: columns("comment", &["id"], filter), found: false, tag: Code::CommentDuplicate.as_str() }
}

/// Who does not moderate pauses between two comments, under whatever name. One look each, so that each has its index.
fn too_soon(work: &Work<'_>, draft: &Draft) -> Vec<Change> {
    let caller = &work.scope.principal;
    if caller.can("moderate_comments") || caller.can("manage_options") {
        return Vec::new();
    }
    let mut who = vec![eq("author_email", txt(draft.text("author_email")))];
    if caller.known() {
        who.push(eq("author", DbValue::Int(caller.id)));
    }
    if draft.int("author") == 0 {
        // Another name does not help: what came from here without a user counts.
        let from_here = eq("author_ip", txt(draft.text("author_ip")));
        who.push(Cond::All(vec![eq("author", DbValue::Int(0)), from_here]));
    }
    let since = Cond::Compare(name("date_utc"), Op::Gt, DbValue::Int(work.scope.now - PAUSE));
    let look = |who: Cond| Change::Require {
        plan: columns("comment", &["id"], Cond::All(vec![who, since.clone()])),
        found: false,
        tag: Code::CommentFlood.as_str(),
    };
    who.into_iter().map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_from_state_to_state() {
        let check = |status: &str, before: &str, word: &str, expected: Option<(&str, Option<&str>)>| {
            let expected = expected.map(|(to, back)| (to.to_owned(), back.map(str::to_owned)));
            assert_eq!(transition(status, before, word), expected, "{status} {word}");
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
