//! `import`: a collection from JSON documents in lines, as [`crate::handlers::lists`] exports it, or from a table of
//! comma-separated values.
//!
//! Each line is a request of its own to the routes of the resource, with the caller's rights: it creates an item, or
//! changes the one that has the same value of the property that `upsert` names. Lines are written in batches, each in one
//! transaction; a line that fails leaves the others as they are. Files come from elsewhere, and no transaction waits for
//! them: where items are files, each line is written by itself.
//!
//! Lines may refer to the items of others, also in circles: see [`super::references`].

use super::lookup::{ItemLookup, found_by};
use super::reader::{ImportRecords, PROBLEM, RecordError};
use super::references::{ItemReference, defer, key_of, references};
use crate::access::policy;
use crate::error::{ApiError, Code, status};
use crate::handlers::{Outcome, TransactionScope, Work};
use crate::model::{LINES, Method, RecordFormat};
use crate::records::{self, Record};
use crate::registry::Endpoint;
use crate::registry::args::ArgRole;
use crate::registry::columns::user::PASSWORD_HASH;
use crate::registry::resource::{Property, PropertyKind, PropertySource, Resource};
use crate::request::call::SubResponse;
use crate::request::{self, BodyParams, route};
use crate::scope::{ImportOptions, Scope};
use cms_storage::plan::ReadPlan;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Lines of one request; the response to a longer file says where to go on.
const MOST_LINES: usize = 1000;
/// How often the lines that fail are tried again, as long as one of them succeeds.
const MOST_PASSES: usize = 10;
/// Lines that are written in one transaction.
const BATCH: usize = 50;
/// The greatest id that a line can keep: the next ones follow it.
const GREATEST_ID: i64 = 1_000_000_000_000;

/// `import`: 200, a result for each line, and where the next request goes on.
///
/// # Errors
/// The body is no file of lines, `upsert` names no property that items can be found by, or the database takes no
/// transaction.
pub async fn import(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let from = work.allowed.args().int("from").unwrap_or(0).unsigned_abs();
    let BodyParams::Upload(upload) = work.body else {
        let message =
            "Send the records as the body of the request, with `Content-Type: application/x-ndjson` or `text/csv`.";
        return Err(ApiError::new(Code::UploadNoData).with_message(message));
    };
    let file = match upload.files.as_slice() {
        [file] => file,
        // The export of an empty collection.
        [] if upload.records.is_some() => return Ok(told(Vec::new())),
        _ => return Err(ApiError::new(Code::UploadNoData)),
    };
    let format = upload.records.unwrap_or(RecordFormat::Lines);
    let import = Import::of(work, (file.path(), format), from)?;
    import.check_columns()?;
    let mut done: Vec<LineOutcome> = Vec::new();
    let more = import.pass(from, &mut done, |_| true, MOST_LINES, &ImportMode::Whole).await?;
    import.try_again(&mut done).await?;
    let mut results = Vec::new();
    if !more {
        for (position, done) in import.earlier().await? {
            serde_json::to_writer(&mut results, &done.shown(position)).map_err(|error| work.scope.internal(&error))?;
            results.push(b'\n');
        }
    }
    for (position, done) in (from..).zip(&done) {
        serde_json::to_writer(&mut results, &done.shown(position)).map_err(|error| work.scope.internal(&error))?;
        results.push(b'\n');
    }
    if more {
        let next = from + done.len() as u64;
        results.extend_from_slice(format!("{}\n", json!({"next": next})).as_bytes());
    }
    Ok(told(results))
}

fn told(results: Vec<u8>) -> Outcome {
    Outcome { status: status::OK, other: Some((LINES, results)), private: true, ..Outcome::default() }
}

/// The result of a line that was not carried out.
const FAILED: &str = "failed";

/// The outcome of a line.
struct LineOutcome {
    status: u16,
    result: &'static str,
    /// The item's id, or the error.
    told: Value,
    /// Properties whose references lead to nothing yet, and are left out.
    deferred: Vec<String>,
}

impl LineOutcome {
    fn failed(error: &ApiError) -> LineOutcome {
        LineOutcome { status: error.status(), result: FAILED, told: error.body(), deferred: Vec::new() }
    }

    /// Of a line that no pass was about.
    fn untouched() -> LineOutcome {
        LineOutcome { status: status::OK, result: "unchanged", told: Value::Null, deferred: Vec::new() }
    }

    /// The key of its item.
    fn id(&self) -> Option<String> {
        match &self.told {
            Value::Number(id) => Some(id.to_string()),
            Value::String(id) => Some(id.clone()),
            _ => None,
        }
    }

    fn shown(&self, position: u64) -> Value {
        let told = if self.result == FAILED { "error" } else { "id" };
        let mut shown = json!({"position": position, "status": self.status, "result": self.result, told: self.told});
        if !self.deferred.is_empty() {
            shown["deferred"] = json!(self.deferred);
        }
        shown
    }
}

/// How lines are carried out.
enum ImportMode {
    /// As they are; with `deferred`, without what is not there yet.
    Whole,
    /// Those that failed, without references to the items of these lines that are not there yet.
    Without(HashMap<String, u64>),
    /// Those whose references were left out, with all that are there by now.
    Completing,
}

/// An import as its arguments want it.
struct Import<'w> {
    work: &'w Work<'w>,
    resource: &'w Resource,
    file: &'w Path,
    format: RecordFormat,
    /// Lines at the beginning that are left out.
    from: u64,
    by: Option<ItemLookup<'w>>,
    /// Items that are created get the ids of their lines.
    keeps: bool,
    /// Properties that refer to items that have to be there.
    references: Vec<ItemReference<'w>>,
    /// References to what is not there are left out.
    deferred: bool,
    /// The endpoint that creates an item, and the one that changes it.
    creates: Option<&'w Endpoint>,
    updates: Option<&'w Endpoint>,
}

impl<'w> Import<'w> {
    fn of(work: &'w Work<'w>, (file, format): (&'w Path, RecordFormat), from: u64) -> Result<Import<'w>, ApiError> {
        let (resource, registry, args) = (work.resource()?, &work.scope.registry, work.allowed.args());
        let by = args.text("upsert").map(|name| found_by(work.scope, resource, name)).transpose()?;
        let by_key = by.as_ref().is_some_and(|by| by.column == resource.key);
        let keeps = !resource.key_is_text && (by_key || args.flag("keep_ids"));
        let mut collection = registry.routes.iter().filter(|route| route.matcher.is_match(&resource.path));
        let item = registry.item_route(resource.index).map(|at| &registry.routes[at]);
        let creates = collection.find_map(|own| route::endpoint(own, Method::Post));
        let updates = item.and_then(|own| route::endpoint(own, Method::Put));
        let (references, deferred) = (references(work.scope, resource), args.flag("deferred"));
        Ok(Import { work, resource, file, format, from, by, keeps, references, deferred, creates, updates })
    }

    /// The records of the file, from the first one.
    fn records(&self) -> Result<ImportRecords, ApiError> {
        let file = File::open(self.file).map_err(|error| self.work.scope.internal(&error))?;
        ImportRecords::of(file, self.format).map_err(|error| match error {
            RecordError::Unread(error) => self.work.scope.internal(&error),
            RecordError::Invalid(message) => ApiError::new(Code::UploadNoData).with_message(message),
        })
    }

    /// Checks that each column of a table is a property: a misspelt one would be left out of every record.
    fn check_columns(&self) -> Result<(), ApiError> {
        let records = self.records()?;
        let takes = |name: &String| {
            let argument = self.creates.is_some_and(|endpoint| endpoint.args.get(name).is_some());
            argument || self.resource.property(name).is_some()
        };
        match records.columns().iter().find(|name| !takes(name)) {
            None => Ok(()),
            Some(name) => {
                let message = format!("`{name}` in the first line is no property of {}.", self.resource.path);
                Err(ApiError::new(Code::UploadNoData).with_message(message))
            }
        }
    }

    /// Lines that failed are tried again, as long as one of them succeeds: items may refer to those of later lines, as
    /// terms to the one above. Items that refer in circles are made without their references, which are set then.
    async fn try_again(&self, done: &mut Vec<LineOutcome>) -> Result<(), ApiError> {
        let failed = |done: &[LineOutcome]| done.iter().map(|done| done.result == FAILED).collect::<Vec<bool>>();
        let count = |open: &[bool]| open.iter().filter(|open| **open).count();
        let mut open = failed(done);
        for _ in 0..MOST_PASSES {
            let left = count(&open);
            if left == 0 || left == open.len() {
                break;
            }
            self.pass(self.from, done, |place| open[place], open.len(), &ImportMode::Whole).await?;
            open = failed(done);
            if count(&open) == left {
                break;
            }
        }
        if count(&open) > 0 && self.is_circular() {
            let mode = ImportMode::Without(self.positions()?);
            self.pass(self.from, done, |place| open[place], open.len(), &mode).await?;
        }
        let open: Vec<bool> = done.iter().map(|done| !done.deferred.is_empty()).collect();
        if count(&open) > 0 {
            self.pass(self.from, done, |place| open[place], open.len(), &ImportMode::Completing).await?;
        }
        Ok(())
    }

    /// Whether lines can refer to each other: by keys that their items get here, too.
    fn is_circular(&self) -> bool {
        (self.keeps || self.resource.key_is_text) && self.references.iter().any(|reference| reference.own)
    }

    /// Where each key is in the file, those of other requests included.
    fn positions(&self) -> Result<HashMap<String, u64>, ApiError> {
        let mut positions = HashMap::new();
        self.each_line(u64::MAX, |position, document| {
            positions.extend(key_of(document, self.key_name()).map(|key| (key, position)));
        })?;
        Ok(positions)
    }

    fn key_name(&self) -> &str {
        self.resource.property_of_column(&self.resource.key).map_or("id", |property| &property.name)
    }

    /// The document of a record. Values of a table are texts, which are read as what the property takes.
    ///
    /// # Errors
    /// It is no JSON object, or no record of the table.
    fn document(&self, line: &[u8]) -> Result<Map<String, Value>, ApiError> {
        let invalid = |message: &str| ApiError::new(Code::InvalidJson).with_message(message);
        let read = request::json_text("The line", line, self.work.scope.registry.declaration.server.max_depth)?;
        let Value::Object(mut document) = read else { return Err(invalid("The line is no JSON object.")) };
        if self.format == RecordFormat::Csv {
            if let Some(problem) = document.get(PROBLEM) {
                return Err(invalid(problem.as_str().unwrap_or_default()));
            }
            for (name, value) in &mut document {
                // A text that does not fit stays: the check of the argument says why.
                *value = self.typed(name, value).unwrap_or_else(|| value.take());
            }
        }
        Ok(document)
    }

    fn typed(&self, name: &str, value: &Value) -> Option<Value> {
        let argument = [self.creates, self.updates].into_iter().flatten().find_map(|endpoint| endpoint.args.get(name));
        match (argument, self.resource.property(name)?.kind) {
            (Some(argument), _) => argument.schema.accept(name, value.clone()).ok(),
            (None, PropertyKind::Integer) => value.as_str()?.parse::<i64>().ok().map(Value::from),
            (None, _) => None,
        }
    }

    /// Reads the documents of the file, up to a position.
    fn each_line(&self, most: u64, mut each: impl FnMut(u64, &Map<String, Value>)) -> Result<(), ApiError> {
        let unread = |error: io::Error| self.work.scope.internal(&error);
        let mut lines = self.records()?;
        for position in 0..most {
            let Some(line) = lines.next().map_err(unread)? else { break };
            if let Ok(document) = self.document(&line) {
                each(position, &document);
            }
        }
        Ok(())
    }

    /// Sets the references of lines of earlier requests to items that later ones brought: what changed, by position.
    async fn earlier(&self) -> Result<Vec<(u64, LineOutcome)>, ApiError> {
        if self.from == 0 || !self.is_circular() {
            return Ok(Vec::new());
        }
        let positions = self.positions()?;
        let mut open = Vec::new();
        self.each_line(self.from, |position, document| {
            let own = self.references.iter().filter(|reference| reference.own);
            let mut keys = own.flat_map(|reference| reference.keys(document));
            open.push(keys.any(|(key, _)| positions.get(&key).is_some_and(|later| *later >= position)));
        })?;
        let mut done: Vec<LineOutcome> = open.iter().map(|_| LineOutcome::untouched()).collect();
        if open.contains(&true) {
            let is_open = |place: usize| open.get(place) == Some(&true);
            self.pass(0, &mut done, is_open, open.len(), &ImportMode::Completing).await?;
        }
        let changed = (0..).zip(done).filter(|(_, done)| ["updated", FAILED].contains(&done.result));
        Ok(changed.collect())
    }

    /// Goes through the lines at most once and carries out those whose place is `open`; whether there are further lines.
    async fn pass(
        &self,
        from: u64,
        done: &mut Vec<LineOutcome>,
        open: impl Fn(usize) -> bool,
        most: usize,
        mode: &ImportMode,
    ) -> Result<bool, ApiError> {
        let unread = |error: io::Error| self.work.scope.internal(&error);
        let mut lines = self.records()?;
        lines.skip(from).map_err(unread)?;
        let mut batch = Vec::with_capacity(BATCH);
        for place in 0..most {
            let Some(line) = lines.next().map_err(unread)? else {
                self.carry_out(&mut batch, done, mode).await?;
                return Ok(false);
            };
            if open(place) {
                batch.push((place, line));
            }
            if batch.len() == BATCH {
                self.carry_out(&mut batch, done, mode).await?;
            }
        }
        self.carry_out(&mut batch, done, mode).await?;
        Ok(lines.next().map_err(unread)?.is_some())
    }

    /// Carries out a batch, in a transaction of its own.
    async fn carry_out(
        &self,
        batch: &mut Vec<(usize, Vec<u8>)>,
        done: &mut Vec<LineOutcome>,
        mode: &ImportMode,
    ) -> Result<(), ApiError> {
        if batch.is_empty() {
            return Ok(());
        }
        if let Some(budget) = &self.work.scope.budget {
            budget.renew();
        }
        let mut outside = Scope { imported: Some(ImportOptions::default()), ..self.work.scope.clone() };
        let mut hashes = HashMap::new();
        let mut unhashed = HashMap::new();
        for (place, line) in &*batch {
            if let Err(error) = self.hash_ahead(&outside, line, &mut hashes).await {
                unhashed.insert(*place, LineOutcome::failed(&error));
            }
        }
        outside.hashes = Arc::new(hashes);
        let open = match self.creates.is_some_and(|own| own.file) {
            true => None,
            false => Some(TransactionScope::begin(self.work, outside.clone()).await?),
        };
        let scope = open.as_ref().map_or(&outside, |open| &open.scope);
        for (place, line) in batch.drain(..) {
            let result = match unhashed.remove(&place) {
                Some(failed) => Some(failed),
                None => self.write(scope, &line, mode, done.get(place)).await,
            };
            match (result, done.get_mut(place)) {
                (Some(result), Some(before)) => *before = result,
                (Some(result), None) => done.push(result),
                (None, _) => {}
            }
        }
        match open {
            Some(open) => open.finish(self.work).await,
            None => Ok(()),
        }
    }

    /// Makes the hash of the password of a line before the transaction, for which all other writes wait.
    ///
    /// # Errors
    /// Those of [`Identity::hash_new`](crate::access::identity::Identity::hash_new).
    async fn hash_ahead(
        &self,
        scope: &Scope,
        line: &[u8],
        hashes: &mut HashMap<String, String>,
    ) -> Result<(), ApiError> {
        let Some(property) = self.resource.property_of_column(PASSWORD_HASH) else { return Ok(()) };
        // A line with an error has no password; the error is reported when the line is written.
        let Ok(document) = self.document(line) else { return Ok(()) };
        let Some(password) = document.get(&property.name).and_then(Value::as_str) else { return Ok(()) };
        let account = self.existing(scope, &document)?.unwrap_or_default();
        let hash = self.work.shared.identity.hash_new(scope, &self.work.shared.hasher, (&account, password)).await?;
        hashes.insert(password.to_owned(), hash);
        Ok(())
    }

    /// Carries out one line; `None`: what it was before stays.
    async fn write(
        &self,
        scope: &Scope,
        line: &[u8],
        mode: &ImportMode,
        before: Option<&LineOutcome>,
    ) -> Option<LineOutcome> {
        let mut document = match self.document(line) {
            Ok(document) => document,
            Err(error) => return Some(LineOutcome::failed(&error)),
        };
        let references = match mode {
            ImportMode::Whole if !self.deferred => &[],
            _ => self.references.as_slice(),
        };
        let deferred = defer(scope, references, &mut document, |reference, key| match mode {
            ImportMode::Whole => true,
            ImportMode::Without(positions) => reference.own && positions.contains_key(key),
            ImportMode::Completing => true,
        });
        let deferred = match (deferred, mode) {
            // It failed for another reason.
            (Ok(none), ImportMode::Without(positions)) if none.is_empty() && !self.refers(&document, positions) => {
                return None;
            }
            (Ok(deferred), _) => deferred,
            (Err(error), _) => return Some(LineOutcome::failed(&error)),
        };
        let mut done = match self.existing(scope, &document) {
            Err(error) => LineOutcome::failed(&error),
            Ok(Some(key)) => self.update(scope, &self.resource.item_path(&key), document).await,
            Ok(None) if matches!(mode, ImportMode::Completing) => {
                let own = before.and_then(LineOutcome::id).or_else(|| key_of(&document, self.key_name()))?;
                self.update(scope, &self.resource.item_path(&own), document).await
            }
            Ok(None) => self.create(scope, document).await,
        };
        if done.result == FAILED {
            // An item that is there without its references keeps its result.
            return (!matches!((mode, before), (ImportMode::Completing, Some(before)) if before.id().is_some()))
                .then_some(done);
        }
        done.deferred = deferred;
        if let (ImportMode::Completing, Some(before)) = (mode, before.filter(|before| before.id().is_some())) {
            (done.status, done.result) = (before.status, before.result);
        }
        Some(done)
    }

    /// Whether a document refers to an item of these lines.
    fn refers(&self, document: &Map<String, Value>, positions: &HashMap<String, u64>) -> bool {
        let own = self.references.iter().filter(|reference| reference.own);
        own.flat_map(|reference| reference.keys(document)).any(|(key, _)| positions.contains_key(&key))
    }

    /// The key of the item that has the line's value. One that the caller may not see counts as absent, as in criteria.
    fn existing(&self, scope: &Scope, document: &Map<String, Value>) -> Result<Option<String>, ApiError> {
        let resource = self.resource;
        let Some(by) = &self.by else { return Ok(None) };
        let Some(same) = by.condition(document) else { return Ok(None) };
        let same = records::all([same, policy::visible(scope, resource)]);
        let plan = ReadPlan { limit: Some(2), ..records::plan(resource, same) };
        match scope.snapshot()?.rows(&plan)?.as_slice() {
            [] => Ok(None),
            [row] => Ok(Some(Record { resource, row }.key())),
            _ => Err(ApiError::invalid_one("upsert", format!("Several items have this {}.", by.property.name))),
        }
    }

    async fn create(&self, scope: &Scope, document: Map<String, Value>) -> LineOutcome {
        let path = &self.resource.path;
        let mut scope = scope.clone();
        if self.keeps {
            match kept(self.resource, &document) {
                Ok(key) => scope.imported = Some(ImportOptions { key }),
                Err(error) => return LineOutcome::failed(&error),
            }
        }
        // Only the document says which type a comment has.
        let kind = document
            .get("type")
            .filter(|kind| kind.as_str().is_some_and(|kind| self.resource.comment_type(kind).is_some()));
        let kind = kind.cloned();
        let mut body = accepted(self.creates, document);
        body.extend(kind.map(|kind| ("type".to_owned(), kind)));
        if let Some(error) = self.without_a_file(&body) {
            return LineOutcome::failed(&error);
        }
        done(self.work.ask_in(scope, Method::Post, path, edited(), BodyParams::Json(body)).await, "created")
    }

    /// Changes an item that is other than the line.
    async fn update(&self, scope: &Scope, path: &str, document: Map<String, Value>) -> LineOutcome {
        let body = accepted(self.updates, document);
        let current = self.work.ask_in(scope.clone(), Method::Get, path, edited(), BodyParams::None).await;
        let has =
            |(name, value): (&String, &Value)| current.body.get(name).is_some_and(|own| self.has(name, own, value));
        if current.status == status::OK && body.iter().all(has) {
            return done(current, "unchanged");
        }
        done(self.work.ask_in(scope.clone(), Method::Put, path, edited(), BodyParams::Json(body)).await, "updated")
    }

    /// Whether a property has a value already. Members that are written one by one are compared one by one.
    fn has(&self, name: &str, own: &Value, value: &Value) -> bool {
        let apart = |property: &Property| matches!(property.source, PropertySource::Object(_) | PropertySource::Meta);
        match (own, value) {
            (Value::Object(own), Value::Object(value)) if self.resource.property(name).is_some_and(apart) => {
                value.iter().all(|(name, value)| own.get(name) == Some(value))
            }
            _ => own == value,
        }
    }

    /// Why no item can be created from a document: it would be a file, and the document names none that the server
    /// fetches.
    fn without_a_file(&self, body: &Map<String, Value>) -> Option<ApiError> {
        let endpoint = self.creates.filter(|endpoint| endpoint.file)?;
        let fetched = endpoint.args.args.iter().find(|arg| arg.fetched);
        if fetched.is_some_and(|arg| body.contains_key(&arg.name)) {
            return None;
        }
        let hint = fetched.map_or(String::new(), |arg| format!(": `{}` names one that the server fetches", arg.name));
        let message = format!("No item is found for this line, and a new one needs a file{hint}.");
        Some(ApiError::new(Code::UploadNoData).with_message(message))
    }
}

/// The key that a new item keeps, if its line has one.
fn kept(resource: &Resource, document: &Map<String, Value>) -> Result<Option<i64>, ApiError> {
    let key = resource.property_of_column(&resource.key).map_or("id", |property| &property.name);
    match document.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64().filter(|id| (1..=GREATEST_ID).contains(id)) {
            Some(id) => Ok(Some(id)),
            None => Err(ApiError::invalid_one(key, format!("A new item keeps an id from 1 to {GREATEST_ID}."))),
        },
    }
}

fn edited() -> Value {
    json!({"context": "edit"})
}

fn done(mut part: SubResponse, result: &'static str) -> LineOutcome {
    let made = !status::is_error(part.status);
    let told = if made { part.body["id"].take() } else { part.body };
    LineOutcome { status: part.status, result: if made { result } else { FAILED }, told, deferred: Vec::new() }
}

/// The members of a document that an endpoint takes: not those that only the server sets.
fn accepted(endpoint: Option<&Endpoint>, document: Map<String, Value>) -> Map<String, Value> {
    let Some(endpoint) = endpoint else { return Map::new() };
    let key = endpoint.args.role(ArgRole::Key);
    let takes = |name: &String| endpoint.args.get(name).is_some() && key.is_none_or(|key| key.name != *name);
    document.into_iter().filter(|(name, _)| takes(name)).collect()
}
