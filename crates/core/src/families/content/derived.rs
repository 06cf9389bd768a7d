//! Values derived from those given for a record: its dates, state in time, slug, identifier and revision.

use super::{ContentDraft, RevisionContent, col, date_columns, modified_columns, slug_scope, terms};
use crate::error::{ApiError, Code};
use crate::families::{Columns, RowEdit, column, text_column};
use crate::records::{self, Record, txt};
use crate::registry::columns::ID;
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::render::Batch;
use crate::render::address;
use crate::scope::Scope;
use cms_declaration::{Action, ItemKey};
use cms_storage::plan::{DbValue, Input, Piece, Put, RevisionPut, Row, SlugClaim};
use cms_text::{slug, time};
use serde_json::Value;

/// The put that a draft becomes.
pub(super) fn finish(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) -> Result<Put, ApiError> {
    let creating = draft.before.is_none();
    defaults(edit.scope, draft);
    if [col::TITLE, col::CONTENT, col::EXCERPT].iter().all(|column| draft.text(column).trim().is_empty())
        && ["title", "editor", "excerpt"].iter().all(|s| draft.resource.supports(s))
    {
        return Err(ApiError::new(Code::EmptyContent));
    }
    dates(edit, draft);
    restore(edit.scope, draft);
    // A record that only readers of private records see needs no password as well.
    if edit.scope.registry.status(&draft.text(col::STATUS)).is_some_and(|s| s.private)
        && !draft.text(col::PASSWORD).is_empty()
    {
        draft.put(col::PASSWORD, txt(""));
    }
    if draft.set.contains_key(col::TITLE) {
        let key = slug::title_key(&draft.text(col::TITLE));
        draft.put(col::TITLE_KEY, txt(&key));
    }
    let claim = slug_claim(edit, draft);
    terms::of_draft(edit, draft)?;
    if creating {
        draft.put(col::KIND, DbValue::Text(draft.resource.kind.clone()));
    }
    let mut set: Columns = draft.set.iter().map(|(name, value)| column(name, value.clone())).collect();
    set.sort_by(|a, b| a.0.cmp(&b.0));
    set.extend(draft.extension.iter().map(|(column, value)| (column.clone(), Input::Value(value.clone()))));
    if let Some(extra) = &draft.extra {
        set.push(text_column(col::EXTRA, &Value::Object(extra.clone()).to_string()));
    }
    if creating {
        let own = Input::Value(txt(&draft.guid));
        set.push((name(col::GUID), if draft.guid.is_empty() { Input::Text(guid(edit.scope, draft)?) } else { own }));
    }
    Ok(Put {
        slug: claim,
        edges: std::mem::take(&mut draft.edges),
        meta: std::mem::take(&mut draft.meta),
        ..Put::new(draft.resource.table.clone(), edit.target(), set)
    })
}

/// Whether a new record takes comments and pings when the request does not say.
fn defaults(scope: &Scope, draft: &mut ContentDraft<'_>) {
    if draft.before.is_some() {
        return;
    }
    let resource = draft.resource;
    for (column, machinery, setting) in [
        (col::COMMENT_STATUS, "comments", "default_comment_status"),
        (col::PING_STATUS, "trackbacks", "default_ping_status"),
    ] {
        if draft.set.contains_key(column) {
            continue;
        }
        let closed = !resource.supports(machinery) || resource.declared.closed_by_default;
        let value = if closed { CLOSED } else { scope.settings.text(setting) };
        draft.put(column, txt(if value.is_empty() { CLOSED } else { value }));
    }
}

/// Comments or pings are not taken.
pub(super) const CLOSED: &str = "closed";

/// Dates in the site's zone and in UTC, whether they float, and whether publishing waits for them.
fn dates(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) {
    let scope = edit.scope;
    let (now, local_now) = (scope.now, scope.local_now());
    let creating = draft.before.is_none();
    let given = |column: &str| edit.args.explicit(&draft.resource.property_of_column(column)?.name);
    let (local, utc) = (given(col::DATE_LOCAL), given(col::DATE_UTC));
    let zone = &scope.settings.zone;
    let parsed = |value: Option<&Value>| value.and_then(Value::as_str).and_then(time::parse_datetime);
    let mut chosen = None;
    if let Some(moment) = parsed(local) {
        let mut pair = moment.in_zone(zone);
        // An imported record may have been written in another zone.
        if scope.imported.is_some() {
            pair.1 = parsed(utc).map_or(pair.1, |moment| moment.as_utc());
        }
        // A draft that sends its floating date back keeps it floating.
        let unchanged = draft.int(col::DATE_FLOATS) != 0 && draft.int(col::DATE_LOCAL) == pair.0;
        chosen = (!unchanged).then_some(pair);
    } else if let Some(moment) = parsed(utc) {
        let utc = moment.as_utc();
        chosen = Some((zone.utc_to_local(utc), utc));
    }
    let reset = local.is_some_and(Value::is_null) || utc.is_some_and(Value::is_null);
    let mut status = draft.text(col::STATUS);
    let floats_here = scope.registry.status(&status).is_some_and(|s| s.date_floating);
    let changed = match chosen {
        Some(pair) => Some((pair, false)),
        None if creating || reset || draft.int(col::DATE_FLOATS) != 0 => Some(((local_now, now), floats_here)),
        None => None,
    };
    if let Some(((local, utc), floats)) = changed {
        draft.put_all(date_columns(local, utc, floats));
    }
    let due = draft.int(col::DATE_UTC);
    let registry = &scope.registry;
    let later = registry.status(&status).and_then(|status| status.schedules_to.as_deref()).filter(|_| due > now);
    if let Some(other) = later.or_else(|| registry.scheduled_for(&status).filter(|_| due <= now)) {
        status = other.to_owned();
    }
    draft.put(col::STATUS, txt(&status));
    let modified = if creating { (draft.int(col::DATE_LOCAL), due) } else { (local_now, now) };
    draft.put_all(modified_columns(modified.0, modified.1));
}

/// Out of the trash, a record gets its slug back.
fn restore(scope: &Scope, draft: &mut ContentDraft<'_>) {
    let trashed = |status: &str| scope.registry.status_is(status, |status| status.trash);
    if trashed(draft.before_text(col::STATUS)) && !trashed(&draft.text(col::STATUS)) {
        let slug = draft.before_text(col::SLUG_BEFORE).to_owned();
        draft.put(col::SLUG, txt(&slug));
        draft.put(col::SLUG_BEFORE, txt(""));
        draft.put(col::STATUS_BEFORE, DbValue::Null);
        draft.put(col::TRASHED_AT, DbValue::Int(0));
    }
}

/// The slug of the record. A draft has one, and claims it, where somebody has chosen it.
fn slug_claim(edit: &RowEdit<'_>, draft: &ContentDraft<'_>) -> Option<SlugClaim> {
    let (scope, resource) = (edit.scope, draft.resource);
    let status = draft.text(col::STATUS);
    let property = resource.property_of_column(col::SLUG)?;
    // The slug of an existing record stays where it is the record's key.
    let fixed = resource.declared.key != ItemKey::Id && draft.before.is_some();
    let given = edit.given_text(&property.name).filter(|_| !fixed).map(slug::sanitize_title);
    let claims = scope.registry.status(&status).is_some_and(|s| s.claims_slug);
    let mut wanted = given.clone().unwrap_or_else(|| draft.text(col::SLUG));
    if scope.registry.status_is(&status, |status| status.review)
        && !scope.principal.can(resource.capability(Action::Publish))
    {
        wanted = String::new();
    }
    if wanted.is_empty() && claims {
        wanted = records::slug_of_title(resource, &draft.text(col::TITLE));
    }
    if wanted.is_empty() && claims {
        wanted = SlugClaim::ID.into();
    }
    let moved = draft.before.is_none()
        || given.is_some()
        || draft.set.contains_key(col::SLUG)
        || status != draft.before_text(col::STATUS)
        || draft.set.contains_key(col::PARENT)
        || wanted != draft.text(col::SLUG);
    if !moved {
        return None;
    }
    Some(SlugClaim {
        column: name(col::SLUG),
        scope: (!wanted.is_empty()).then(|| slug_scope(resource, draft.int(col::PARENT))),
        reserved: reserved(scope, resource, &wanted),
        candidates: vec![wanted.into()],
        refuse: None,
        longest: SlugClaim::LONGEST,
    })
}

/// Whether the address of a record with this slug would lead to something else: a feed, an embed, the records of a date, or a
/// page of the record above.
fn reserved(scope: &Scope, resource: &Resource, slug: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match resource.declared.address.as_deref() {
        _ if leads_to_feed(slug) => true,
        Some("permalinks") => scope.registry.site.permalinks.reads_as_date(slug),
        Some("path") => is_number(slug.strip_prefix("page").unwrap_or(slug)),
        _ => false,
    }
}

/// Last parts of addresses that lead to feeds and embeds.
fn leads_to_feed(slug: &str) -> bool {
    matches!(slug, "feed" | "rdf" | "rss" | "rss2" | "atom" | "embed")
}

/// An identifier that never changes: the address at the time of creation.
fn guid(scope: &Scope, draft: &ContentDraft<'_>) -> Result<Vec<Piece>, ApiError> {
    const NUMBER: i64 = 987_654_321_987;
    const SLUG: &str = "slug-of-the-record-to-be";
    let resource = draft.resource;
    let row: Row = resource
        .columns
        .iter()
        .map(|column| match &**column {
            ID => DbValue::Int(NUMBER),
            column => draft.get(column),
        })
        .collect();
    let record = Record { resource, row: &row };
    let mut batch = Batch::default();
    if address::has_shape(scope, record) {
        batch.load_address_parts(&*scope.snapshot()?, scope, resource, std::slice::from_ref(&row))?;
    }
    let text = address::on_site(scope, record, &batch, SLUG);
    Ok(pieces(&text, &NUMBER.to_string(), SLUG))
}

/// A text in which a number and a word stand for the row's id and slug.
fn pieces(text: &str, number: &str, word: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (i, part) in text.split(number).enumerate() {
        if i > 0 {
            pieces.push(Piece::Id);
        }
        for (i, part) in part.split(word).enumerate() {
            if i > 0 {
                pieces.push(Piece::Slug);
            }
            pieces.push(Piece::Literal(part.into()));
        }
    }
    pieces
}

/// The revisions that an update stores: the state before it, unless the newest revision holds that, and the one after.
/// Where revisions hold texts alone, the state before is not stored.
pub(super) fn revisions(
    scope: &Scope,
    draft: &ContentDraft<'_>,
    record: Record<'_>,
    put: &Put,
) -> Result<Vec<RevisionPut>, ApiError> {
    if !is_saved(scope, &draft.text(col::STATUS)) || !draft.resource.supports("revisions") {
        return Ok(Vec::new());
    }
    let before = RevisionContent::of(scope, record)?;
    let after = before.clone().after(draft, &put.edges, &put.meta);
    let mut all = Vec::new();
    if is_saved(scope, record.text(col::STATUS)) && !scope.registry.declaration.dialect.revisions_of_texts {
        let at = record.int(col::MODIFIED_UTC).min(scope.now);
        all.push(RevisionPut { author: record.int(col::AUTHOR), at, ..revision(scope, &before) });
    }
    all.push(revision(scope, &after));
    Ok(all)
}

/// The revision that is stored of a record before it goes to the trash.
pub(super) fn last_revision(scope: &Scope, record: Record<'_>) -> Result<Vec<RevisionPut>, ApiError> {
    if !is_saved(scope, record.text(col::STATUS)) || !record.resource.supports("revisions") {
        return Ok(Vec::new());
    }
    Ok(vec![revision(scope, &RevisionContent::of(scope, record)?)])
}

/// Whether somebody has saved a record of this state.
fn is_saved(scope: &Scope, status: &str) -> bool {
    !scope.registry.status_is(status, |status| status.draft && status.internal)
}

/// A revision that the caller makes now.
fn revision(scope: &Scope, content: &RevisionContent) -> RevisionPut {
    RevisionPut {
        author: scope.principal.id,
        at: scope.now,
        autosave: false,
        json: content.json(),
        keep: Some(scope.registry.declaration.bounds.max_revisions),
        skip_same: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_wait_for_number_and_slug() {
        let literal = |text: &str| Piece::Literal(text.into());
        assert_eq!(
            pieces("http://a/?p=77", "77", "word"),
            [literal("http://a/?p="), Piece::Id, literal("")],
            "a number"
        );
        assert_eq!(
            pieces("http://a/word/77/", "77", "word"),
            [literal("http://a/"), Piece::Slug, literal("/"), Piece::Id, literal("/")],
            "both"
        );
    }

    #[test]
    fn last_parts_of_feeds_are_reserved() {
        assert!(leads_to_feed("feed") && leads_to_feed("embed"));
        assert!(!leads_to_feed("feeds"));
    }
}
