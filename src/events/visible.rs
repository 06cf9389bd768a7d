//! Events as a receiver is told of them: as far as it may know of a change at that moment.

use super::FeedEntry;
use super::addresses::{ChangedAddresses, SELECTING, has_addresses};
use super::transition::{changed, is_public, is_told, meanings, resource_of};
use cms_core::access::policy;
use cms_core::engine::Engine;
use cms_core::error::{ApiError, status};
use cms_core::model::{Method, event_head};
use cms_core::records::{self, Record, txt};
use cms_core::registry::Registry;
use cms_core::registry::columns::{record, term};
use cms_core::registry::resource::{Resource, surrogate_keys};
use cms_core::render::{Batch, address};
use cms_core::request::BodyParams;
use cms_core::request::call::Call;
use cms_core::scope::Scope;
use cms_declaration::{Action, EventType};
use cms_storage::plan::{DbValue, ReadPlan, Row};
use cms_text::address::PATH;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Seconds by which the clock of a change may be ahead of that of the feed.
const SAME_MOMENT: i64 = 1;

/// An event as one receiver is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct VisibleEvent {
    pub seq: i64,
    /// When the change was committed, in UTC milliseconds.
    pub at: i64,
    pub resource: String,
    /// Its meanings; the first one is its type.
    pub meanings: Vec<EventType>,
    pub document: Arc<Value>,
    /// The document as it is sent.
    pub text: String,
}

/// The resource of a change, and what a receiver may be told that it means; `None`: nobody is told of it. Nothing is read for
/// that.
pub fn likely_meanings<'r>(registry: &'r Registry, entry: &FeedEntry) -> Option<(&'r Resource, Vec<EventType>)> {
    let (resource, mut meanings) = told_of(registry, entry)?;
    // Who may not read it any more is told that it is gone; to whom it is new, that it is published.
    meanings.extend(GONE);
    meanings.push(EventType::Published);
    Some((resource, meanings))
}

/// The resource of a change, and its meanings; `None`: there is no event for it.
fn told_of<'r>(registry: &'r Registry, entry: &FeedEntry) -> Option<(&'r Resource, Vec<EventType>)> {
    let resource = resource_of(registry, entry).filter(|resource| is_told(registry, resource, entry))?;
    let meanings = meanings(registry, resource, entry);
    let declared = &registry.declaration.events;
    let types = declared.resources.get(&resource.name).unwrap_or(&declared.types);
    meanings.iter().any(|meaning| types.contains(meaning)).then_some((resource, meanings))
}

/// The meanings of an item that the receiver may not read any more.
const GONE: [EventType; 4] = [EventType::Gone, EventType::Unpublished, EventType::Trashed, EventType::Deleted];

/// The event that the caller of a scope is told of a change; `None`: none.
///
/// # Errors
/// The database cannot be read.
pub async fn tell(engine: &Engine, scope: &Scope, entry: &FeedEntry) -> Result<Option<VisibleEvent>, ApiError> {
    let Some((resource, meanings)) = told_of(&scope.registry, entry) else { return Ok(None) };
    let item = ChangedItem { engine, scope, resource, entry, meanings };
    match resource.is_singleton() {
        true => item.of_settings().await,
        false => item.of_item().await,
    }
}

/// A change of an item, and whom it is told to.
struct ChangedItem<'a> {
    engine: &'a Engine,
    scope: &'a Scope,
    resource: &'a Resource,
    entry: &'a FeedEntry,
    meanings: Vec<EventType>,
}

impl ChangedItem<'_> {
    /// Settings have one document, which those read who may.
    async fn of_settings(self) -> Result<Option<VisibleEvent>, ApiError> {
        let ShownDocument::Readable(_) = self.document(&self.resource.path).await? else { return Ok(None) };
        let keys = vec![self.resource.name.clone()];
        let mut addresses = ChangedAddresses::of_paths(&self.scope.registry, &[&self.resource.path]);
        addresses.any_other();
        let members = vec![("addresses", addresses.into_document())];
        Ok(Some(self.told(self.meanings.clone(), None, members, keys)))
    }

    async fn of_item(self) -> Result<Option<VisibleEvent>, ApiError> {
        let stored = records::find(&*self.scope.snapshot()?, self.resource, &self.entry.key)?;
        let row = stored.clone().unwrap_or_else(|| self.remains());
        let current = Record { resource: self.resource, row: &row };
        let path = records::item_path(&self.scope.registry, current);
        let could = |at: usize| self.could_read(&path, &row, at, stored.is_none());
        let (before, after) = (!self.entry.creates() && could(0)?, !self.entry.deletes() && could(1)?);
        if !before && !after {
            return Ok(None);
        }
        let key = records::path_key(&self.scope.registry, current);
        let keys = surrogate_keys(self.resource, Some(&key));
        let shown = match stored.is_some() {
            true => self.document(&path).await?.of(|| self.engine.lets_read(self.scope, &path, current))?,
            false => None,
        };
        let meanings = match (&shown, self.entry.deletes()) {
            (_, true) => vec![EventType::Deleted],
            (None, false) => GONE.to_vec(),
            // To whoever could not read it, it is new.
            (Some(_), false) if !before && self.meanings == [EventType::Updated] => vec![EventType::Published],
            (Some(_), false) => self.meanings.clone(),
        };
        // Whose it was and what it was called may have changed since: that was for others then.
        let unchanged =
            if stored.is_some() { self.is_as_it_was(current, shown.is_some()) } else { self.entry.deletes() };
        let known = before && unchanged;
        let former = if known { self.former(current, stored.is_some(), shown.as_ref())? } else { [None, None] };
        let mut members = Vec::new();
        let of = |member: &str| shown.as_ref().and_then(|document| document.get(member).cloned()).unwrap_or_default();
        members.push(("slug", of("slug")));
        members.push(("link", of("link")));
        let [slug, link] = former;
        let readable = [before, after && shown.is_some()];
        let seen = VisibleItem { path: &path, key: &key, stored: stored.is_some(), readable, shown: shown.as_ref() };
        let addresses = self.addresses(current, &seen, link.as_deref())?;
        members.push(("previous_slug", json!(slug)));
        members.push(("previous_link", json!(link)));
        let status = |at: usize, readable: bool| self.entry.status[at].as_deref().filter(|_| readable);
        members.push(("status", json!({"before": status(0, known), "after": status(1, after && shown.is_some())})));
        let names = if before && shown.is_some() { changed(self.scope, self.resource, self.entry) } else { Vec::new() };
        members.push(("changed", json!(names)));
        members.push(("addresses", addresses));
        let shown_key = match &self.entry.key {
            DbValue::Int(id) if key == id.to_string() => json!(id),
            _ => json!(key),
        };
        Ok(Some(self.told(meanings, Some(shown_key), members, keys)))
    }

    /// The addresses whose responses the change concerns, as far as they follow from declarations.
    fn addresses(
        &self,
        current: Record<'_>,
        seen: &VisibleItem<'_>,
        previous: Option<&str>,
    ) -> Result<Value, ApiError> {
        let (scope, resource, registry) = (self.scope, self.resource, &self.scope.registry);
        let collection = seen.path.strip_suffix(seen.key).map_or("", |path| path.trim_end_matches('/'));
        let mut all = ChangedAddresses::of_paths(registry, &[seen.path, collection]);
        let public = |at: usize| is_public(registry, resource, self.entry.status[at].as_deref());
        let [was, is] = [0, 1].map(|at| seen.readable[at] && public(at));
        if !was && !is {
            return Ok(all.into_document());
        }
        if resource.is_comments() && seen.stored {
            all.add_commented(scope, current)?;
            return Ok(all.into_document());
        }
        let known = seen.stored && has_addresses(resource) && self.is_as_it_was(current, seen.shown.is_some());
        if !known {
            all.any_other();
            return Ok(all.into_document());
        }
        let link = seen.shown.and_then(|document| document.get("link")).and_then(Value::as_str);
        link.filter(|_| is).into_iter().chain(previous.filter(|_| was)).for_each(|link| all.add(scope, link));
        let row = if is { current.row.clone() } else { self.in_state(current.row, 0) };
        all.add_lists(scope, Record { resource, row: &row })?;
        let has_changed = |names: &[&str]| self.entry.columns.iter().any(|own| names.contains(&&**own));
        if was && has_changed(&SELECTING) {
            all.any_other();
        }
        if was && resource.supports("files") {
            all.add_records_with(scope, current)?;
        }
        let moves = was != is || has_changed(&[record::SLUG, record::PARENT]);
        let has_paths = resource.address.has(PATH) || (resource.is_taxonomy() && resource.declared.hierarchical);
        if moves && has_paths && self.has_children(current)? {
            all.any_other();
        }
        if !resource.is_content() {
            if was && (moves || has_changed(&[term::NAME])) {
                all.add_records_with(scope, current)?;
            }
            return Ok(all.into_document());
        }
        if was {
            all.add_former(scope, resource, &self.entry.targets_before)?;
        }
        if let Some(previous) = previous.filter(|_| is) {
            all.add_older(scope, current, previous)?;
        }
        Ok(all.into_document())
    }

    /// Whether there are items below it, whose addresses contain its own.
    fn has_children(&self, current: Record<'_>) -> Result<bool, ApiError> {
        let below = records::eq(record::PARENT, DbValue::Int(current.id()));
        let plan = ReadPlan { limit: Some(1), ..records::plan(self.resource, below) };
        Ok(!records::read(&*self.scope.snapshot()?, self.resource, plan, &[0])?.is_empty())
    }

    /// A row in the state before (0) or after (1) the change.
    fn in_state(&self, row: &Row, at: usize) -> Row {
        let mut row = row.clone();
        let status = self.entry.status[at].clone().map(DbValue::Text);
        if let (Some(place), Some(status)) = (self.resource.column(record::STATUS), status) {
            row[place] = status;
        }
        row
    }

    fn told(
        &self,
        meanings: Vec<EventType>,
        key: Option<Value>,
        members: Vec<(&str, Value)>,
        keys: Vec<String>,
    ) -> VisibleEvent {
        let entry = self.entry;
        let event = meanings.first().map_or("", |meaning| meaning.name());
        let item = [json!(self.resource.name), json!(self.resource.api_name), key.unwrap_or_default()];
        let mut document = event_head(entry.seq, event, entry.at(), entry.depth + 1, item);
        document.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
        document.insert("keys".into(), json!(keys));
        let resource = self.resource.name.clone();
        let document = Arc::new(Value::Object(document));
        let text = document.to_string();
        VisibleEvent { seq: entry.seq, at: entry.at(), resource, meanings, document, text }
    }

    /// A row that is gone, as far as the feed knows it.
    fn remains(&self) -> Row {
        let resource = self.resource;
        let mut row = vec![DbValue::Null; resource.columns.len()];
        let mut set = |column: &str, value: DbValue| {
            if let Some(at) = resource.column(column) {
                row[at] = value;
            }
        };
        let word = |word: &Option<_>| word.clone().map_or(DbValue::Null, DbValue::Text);
        set(&resource.key, self.entry.key.clone());
        set(record::KIND, word(&self.entry.kind));
        set(term::TAXONOMY, word(&self.entry.class));
        set(record::STATUS, word(&self.entry.status[0]));
        set(record::SLUG, word(&self.entry.slug_before));
        set(record::AUTHOR, self.entry.author_before.map_or(DbValue::Null, DbValue::Int));
        row
    }

    /// Whether the caller could read the item in the state before (0) or after (1) the change.
    fn could_read(&self, path: &str, row: &Row, at: usize, gone: bool) -> Result<bool, ApiError> {
        let mut row = row.clone();
        if let (Some(status), Some(place)) = (&self.entry.status[at], self.resource.column(record::STATUS)) {
            let before = text_of(&row, self.resource.column(record::STATUS));
            // In the trash, the state before counts.
            let trashed = self.scope.registry.status_is(status, |status| status.trash);
            if let Some(kept) = self.resource.column(record::STATUS_BEFORE).filter(|_| trashed && *before != **status) {
                row[kept] = DbValue::Text(self.entry.status[1 - at].clone().unwrap_or_else(|| status.clone()));
            }
            row[place] = DbValue::Text(status.clone());
        }
        // Of another author, it was that one's.
        let author = self.entry.author_before.filter(|_| at == 0);
        if let (Some(author), Some(place)) = (author, self.resource.column(record::AUTHOR)) {
            row[place] = DbValue::Int(author);
        }
        let record = Record { resource: self.resource, row: &row };
        let inherits = gone && self.scope.registry.status_is(record.text(record::STATUS), |status| status.inherits);
        // Its record is not known any more.
        if inherits && !policy::may(self.scope, Action::Edit, record)? {
            return Ok(false);
        }
        self.engine.lets_read(self.scope, path, record)
    }

    /// The document of the item, as far as events show it.
    async fn document(&self, path: &str) -> Result<ShownDocument, ApiError> {
        let query = Map::from_iter([("_fields".to_owned(), json!(["id", "slug", "link"]))]);
        let call = Call::internal(Method::Get, path, query, BodyParams::None);
        let part = self.engine.part(self.scope, &call, false).await;
        match part.status {
            status::OK => Ok(ShownDocument::Readable(part.body)),
            wait if status::is_temporary(wait) => {
                Err(self.scope.internal(&format!("an event has to wait: status {wait} of {path}")))
            }
            // One document that fails must not hold up all events behind it.
            failed if status::is_server_error(failed) => {
                tracing::warn!("an event has neither slug nor link: status {failed} of {path}");
                Ok(ShownDocument::Broken)
            }
            _ => Ok(ShownDocument::Hidden),
        }
    }

    /// The slug and the link before the change, where they are known and others than now.
    fn former(
        &self,
        current: Record<'_>,
        stored: bool,
        shown: Option<&Value>,
    ) -> Result<[Option<String>; 2], ApiError> {
        let Some(slug) = self.entry.slug_before.as_deref().filter(|slug| !slug.is_empty()) else {
            return Ok([None, None]);
        };
        let now = |member: &str| shown.and_then(|document| document.get(member)).and_then(Value::as_str);
        let linked = stored && self.resource.property("link").is_some() && self.is_as_it_was(current, shown.is_some());
        let link = if linked { Some(self.link_before(current, slug)?) } else { None };
        let link = link.filter(|link| now("link") != Some(link));
        Ok([Some(slug.to_owned()).filter(|slug| now("slug") != Some(slug)), link])
    }

    /// Whether the rest of the row tells nothing that the caller could not read: it may read it now, or nothing was changed since.
    fn is_as_it_was(&self, current: Record<'_>, readable: bool) -> bool {
        readable || current.modified().is_some_and(|at| at <= self.entry.at() / 1000 + SAME_MOMENT)
    }

    fn link_before(&self, current: Record<'_>, slug: &str) -> Result<String, ApiError> {
        let mut row = current.row.clone();
        let mut set = |column: &str, value: Option<DbValue>| {
            if let (Some(at), Some(value)) = (self.resource.column(column), value) {
                row[at] = value;
            }
        };
        set(record::SLUG, Some(txt(slug)));
        set(record::STATUS, self.entry.status[0].clone().map(DbValue::Text));
        let record = Record { resource: self.resource, row: &row };
        let mut batch = Batch::default();
        batch.load_address_parts(&*self.scope.snapshot()?, self.scope, self.resource, std::slice::from_ref(&row))?;
        Ok(address::of(self.scope, record, &batch, slug))
    }
}

/// An item as its receiver sees it.
struct VisibleItem<'a> {
    path: &'a str,
    key: &'a str,
    /// Its row is still there.
    stored: bool,
    /// The receiver can read it in the state before the change, and after.
    readable: [bool; 2],
    shown: Option<&'a Value>,
}

/// The document of an item for a receiver.
enum ShownDocument {
    Readable(Value),
    /// The server fails to make it.
    Broken,
    /// The receiver may not read it.
    Hidden,
}

impl ShownDocument {
    /// Its members; none of a broken one, where a guard lets the receiver read it. `None`: the receiver may not.
    fn of(self, readable: impl FnOnce() -> Result<bool, ApiError>) -> Result<Option<Value>, ApiError> {
        Ok(match self {
            ShownDocument::Readable(document) => Some(document),
            ShownDocument::Broken => readable()?.then(|| json!({})),
            ShownDocument::Hidden => None,
        })
    }
}

fn text_of(row: &Row, place: Option<usize>) -> &str {
    place.and_then(|at| row.get(at)).map_or("", records::text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_fails_is_shown_to_whom_a_guard_lets_read_it() {
        for (document, readable, shown) in [
            (ShownDocument::Readable(json!({"slug": "a"})), false, Some(json!({"slug": "a"}))),
            (ShownDocument::Broken, true, Some(json!({}))),
            (ShownDocument::Broken, false, None),
            (ShownDocument::Hidden, true, None),
        ] {
            assert_eq!(document.of(|| Ok(readable)).expect("a decision"), shown);
        }
    }
}
