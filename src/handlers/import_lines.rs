//! `import`: a collection from JSON documents in lines, as [`super::lists`] exports it.
//!
//! Each line is a request of its own to the routes of the resource, with the caller's rights: it creates an item, or
//! changes the one that has the same value of the property that `upsert` names. Lines are written in batches, each in one
//! transaction; a line that fails leaves the others as they are. Files come from elsewhere, and no transaction waits for
//! them: where items are files, each line is written by itself.

use super::{Outcome, TransactionScope, Work};
use crate::access::policy;
use crate::error::{ApiError, Code};
use crate::model::{LINES, Method};
use crate::records::{self, Record, txt};
use crate::registry::Endpoint;
use crate::registry::args::Role;
use crate::registry::resource::{Context, Property, Resource, Source};
use crate::request::call::Part;
use crate::request::{self, BodyParams, route};
use crate::scope::{Imported, Scope};
use crate::storage::plan::{ColumnType, Cond, DbValue, Name, Op, ReadPlan};
use crate::text::slug;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Lines of one request; the response to a longer file says where to go on.
const MOST_LINES: usize = 1000;
/// How often the lines that fail are tried again, as long as one of them succeeds.
const MOST_PASSES: usize = 10;
/// Lines that are written in one transaction.
const BATCH: usize = 50;
/// Bytes of one line.
const LONGEST_LINE: u64 = 8 << 20;
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
        let message = "Send the lines as the body of the request, with `Content-Type: application/x-ndjson`.";
        return Err(ApiError::new(Code::UploadNoData).with_message(message));
    };
    let [file] = upload.files.as_slice() else { return Err(ApiError::new(Code::UploadNoData)) };
    let import = Import::of(work, file.path(), from)?;
    let mut done: Vec<Done> = Vec::new();
    let more = import.pass(&mut done, |_| true, MOST_LINES).await?;
    // Items may refer to those of later lines, as terms to the one above.
    let failed = |done: &[Done]| done.iter().filter(|done| done.result == FAILED).count();
    let mut left = failed(&done);
    for _ in 0..MOST_PASSES {
        let open: Vec<bool> = done.iter().map(|done| done.result == FAILED).collect();
        if left == 0 || left == done.len() {
            break;
        }
        import.pass(&mut done, |place| open[place], open.len()).await?;
        if std::mem::replace(&mut left, failed(&done)) == left {
            break;
        }
    }
    let mut results = Vec::new();
    for (position, done) in (from..).zip(&done) {
        serde_json::to_writer(&mut results, &done.shown(position)).map_err(|error| work.scope.internal(&error))?;
        results.push(b'\n');
    }
    if more {
        let next = from + done.len() as u64;
        results.extend_from_slice(format!("{}\n", json!({"next": next})).as_bytes());
    }
    Ok(Outcome { status: 200, other: Some((LINES, results)), private: true, ..Outcome::default() })
}

/// What items are found by.
struct FoundBy<'r> {
    property: &'r Property,
    column: Name,
    /// The column with the folded values, which has an index; true: no two rows have the same there.
    folded: Option<(Name, bool)>,
}

/// The property that items are found by: the key, the slug, or one whose values are texts or integers. Whether an item is
/// found says what value it has, so the caller has to be allowed to see it.
fn found_by<'r>(scope: &'r Scope, resource: &'r Resource, wanted: &str) -> Result<FoundBy<'r>, ApiError> {
    use crate::registry::resource::Kind::{Integer, Text};
    let found = resource.property(wanted).and_then(|property| Some((property, property.column.clone()?)));
    let usable = |(property, _): &(&Property, Name)| {
        matches!(property.kind, Text | Integer) && !property.digest && property.is_shown()
    };
    let Some((property, column)) = found.filter(usable) else {
        return Err(ApiError::invalid_one("upsert", format!("upsert: items are not found by {wanted}.")));
    };
    let hidden = resource.edit_only.contains(&column) || resource.locked.contains(&column);
    if hidden && !policy::sees_edit_only(scope, resource, Context::VIEW) {
        let message = format!("You may not find items by {wanted}: you do not see the values of all of them.");
        return Err(scope.principal.refuse(Code::Forbidden).with_message(message));
    }
    let key = format!("{column}_key");
    let folded = scope.registry.layout.column(&resource.table, &key).filter(|(_, key)| key.ty == ColumnType::Key);
    let folded = folded.map(|(table, key)| {
        let unique = |index: &crate::storage::plan::IndexDef| index.unique && index.columns[0].0 == key.name;
        (key.name.clone(), table.indexes.iter().any(unique))
    });
    Ok(FoundBy { property, column, folded })
}

impl FoundBy<'_> {
    /// The items with the value that a document has; `None`: it has none.
    fn condition(&self, document: &Map<String, Value>) -> Option<Cond> {
        let value = match document.get(&self.property.name)? {
            Value::String(text) => txt(text),
            Value::Number(number) => DbValue::Int(number.as_i64()?),
            _ => return None,
        };
        let same = |value| Cond::Compare(self.column.clone(), Op::Eq, value);
        Some(match (&self.folded, &value) {
            (Some((key, unique)), DbValue::Text(text)) => {
                let folded = Cond::Compare(key.clone(), Op::Eq, txt(&slug::title_key(text)));
                if *unique { folded } else { Cond::All(vec![folded, same(value)]) }
            }
            _ => same(value),
        })
    }
}

/// The result of a line that was not carried out.
const FAILED: &str = "failed";

/// What became of a line.
struct Done {
    status: u16,
    result: &'static str,
    /// The item's id, or the error.
    told: Value,
}

impl Done {
    fn failed(error: &ApiError) -> Done {
        Done { status: error.status(), result: FAILED, told: error.body() }
    }

    fn shown(&self, position: u64) -> Value {
        let told = if self.result == FAILED { "error" } else { "id" };
        json!({"position": position, "status": self.status, "result": self.result, told: self.told})
    }
}

/// An import as its arguments want it.
struct Import<'w> {
    work: &'w Work<'w>,
    resource: &'w Resource,
    file: &'w Path,
    /// Lines at the beginning that are left out.
    from: u64,
    by: Option<FoundBy<'w>>,
    /// Items that are created get the ids of their lines.
    keeps: bool,
    /// What creates an item, and what changes one.
    creates: Option<&'w Endpoint>,
    updates: Option<&'w Endpoint>,
}

impl<'w> Import<'w> {
    fn of(work: &'w Work<'w>, file: &'w Path, from: u64) -> Result<Import<'w>, ApiError> {
        let (resource, registry, args) = (work.resource()?, &work.scope.registry, work.allowed.args());
        let by = args.text("upsert").map(|name| found_by(work.scope, resource, name)).transpose()?;
        let by_key = by.as_ref().is_some_and(|by| by.column == resource.key);
        let keeps = !resource.key_is_text && (by_key || args.flag("keep_ids"));
        let mut collection = registry.routes.iter().filter(|route| route.matcher.is_match(resource.path.as_bytes()));
        let item = registry.item_routes[resource.index].map(|at| &registry.routes[at]);
        let creates = collection.find_map(|own| route::endpoint(own, Method::Post));
        let updates = item.and_then(|own| route::endpoint(own, Method::Put));
        Ok(Import { work, resource, file, from, by, keeps, creates, updates })
    }

    /// Goes through the lines at most once and carries out those whose place is `open`; whether there are further lines.
    async fn pass(&self, done: &mut Vec<Done>, open: impl Fn(usize) -> bool, most: usize) -> Result<bool, ApiError> {
        let unread = |error: io::Error| self.work.scope.internal(&error);
        let mut lines = Lines::of(File::open(self.file).map_err(unread)?);
        lines.skip(self.from).map_err(unread)?;
        let mut batch = Vec::with_capacity(BATCH);
        for place in 0..most {
            let Some(line) = lines.next().map_err(unread)? else {
                self.carry_out(&mut batch, done).await?;
                return Ok(false);
            };
            if open(place) {
                batch.push((place, line));
            }
            if batch.len() == BATCH {
                self.carry_out(&mut batch, done).await?;
            }
        }
        self.carry_out(&mut batch, done).await?;
        Ok(lines.next().map_err(unread)?.is_some())
    }

    /// Carries out a batch, in a transaction of its own.
    async fn carry_out(&self, batch: &mut Vec<(usize, Vec<u8>)>, done: &mut Vec<Done>) -> Result<(), ApiError> {
        if batch.is_empty() {
            return Ok(());
        }
        if let Some(budget) = &self.work.scope.budget {
            budget.renew();
        }
        let outside = Scope { imported: Some(Imported::default()), ..self.work.scope.clone() };
        let open = match self.creates.is_some_and(|own| own.file) {
            true => None,
            false => Some(TransactionScope::begin(self.work, outside.clone()).await?),
        };
        let scope = open.as_ref().map_or(&outside, |open| &open.scope);
        for (place, line) in batch.drain(..) {
            let result = self.write(scope, &line).await;
            match done.get_mut(place) {
                Some(before) => *before = result,
                None => done.push(result),
            }
        }
        match open {
            Some(open) => open.finish().await,
            None => Ok(()),
        }
    }

    /// Carries out one line.
    async fn write(&self, scope: &Scope, line: &[u8]) -> Done {
        let document = match request::json_text("The line", line, scope.registry.declaration.server.max_depth) {
            Ok(Value::Object(document)) => document,
            Ok(_) => {
                return Done::failed(&ApiError::new(Code::InvalidJson).with_message("The line is no JSON object."));
            }
            Err(error) => return Done::failed(&error),
        };
        match self.existing(scope, &document) {
            Err(error) => Done::failed(&error),
            Ok(None) => self.create(scope, document).await,
            Ok(Some(key)) => self.update(scope, &self.resource.item_path(&key), document).await,
        }
    }

    /// The key of the item that has the line's value.
    fn existing(&self, scope: &Scope, document: &Map<String, Value>) -> Result<Option<String>, ApiError> {
        let resource = self.resource;
        let Some(by) = &self.by else { return Ok(None) };
        let Some(same) = by.condition(document) else { return Ok(None) };
        let same = Cond::All(vec![records::own_rows(resource), same]);
        let plan = ReadPlan { limit: Some(2), ..records::plan(resource, same) };
        match scope.snapshot()?.rows(&plan)?.as_slice() {
            [] => Ok(None),
            [row] => Ok(Some(Record { resource, row }.key())),
            _ => Err(ApiError::invalid_one("upsert", format!("Several items have this {}.", by.property.name))),
        }
    }

    async fn create(&self, scope: &Scope, document: Map<String, Value>) -> Done {
        let path = &self.resource.path;
        let mut scope = scope.clone();
        if self.keeps {
            match kept(self.resource, &document) {
                Ok(key) => scope.imported = Some(Imported { key }),
                Err(error) => return Done::failed(&error),
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
            return Done::failed(&error);
        }
        done(self.work.ask_in(scope, Method::Post, path, edited(), BodyParams::Json(body)).await, "created")
    }

    /// Changes an item that is other than the line.
    async fn update(&self, scope: &Scope, path: &str, document: Map<String, Value>) -> Done {
        let body = accepted(self.updates, document);
        let current = self.work.ask_in(scope.clone(), Method::Get, path, edited(), BodyParams::None).await;
        let has =
            |(name, value): (&String, &Value)| current.body.get(name).is_some_and(|own| self.has(name, own, value));
        if current.status == 200 && body.iter().all(has) {
            return done(current, "unchanged");
        }
        done(self.work.ask_in(scope.clone(), Method::Put, path, edited(), BodyParams::Json(body)).await, "updated")
    }

    /// Whether a property has a value already. Members that are written one by one are compared one by one.
    fn has(&self, name: &str, own: &Value, value: &Value) -> bool {
        let apart = |property: &Property| matches!(property.source, Source::Object(_) | Source::Meta);
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

fn done(mut part: Part, result: &'static str) -> Done {
    let made = part.status < 400;
    let told = if made { part.body["id"].take() } else { part.body };
    Done { status: part.status, result: if made { result } else { FAILED }, told }
}

/// The members of a document that an endpoint takes: not those that only the server sets.
fn accepted(endpoint: Option<&Endpoint>, document: Map<String, Value>) -> Map<String, Value> {
    let Some(endpoint) = endpoint else { return Map::new() };
    let key = endpoint.args.role(Role::Key);
    let takes = |name: &String| endpoint.args.get(name).is_some() && key.is_none_or(|key| key.name != *name);
    document.into_iter().filter(|(name, _)| takes(name)).collect()
}

/// The lines of a file, without empty ones.
struct Lines(BufReader<File>);

impl Lines {
    fn of(file: File) -> Lines {
        Lines(BufReader::new(file))
    }

    /// The next line; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.0).take(LONGEST_LINE).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(None);
            }
            // What is left of a line that is too long is no line of its own. The part that was read is no JSON.
            let mut whole = line.ends_with(b"\n") || (read as u64) < LONGEST_LINE;
            while !whole {
                let mut rest = Vec::new();
                let read = (&mut self.0).take(LONGEST_LINE).read_until(b'\n', &mut rest)?;
                whole = rest.ends_with(b"\n") || read == 0;
            }
            let blank = line.trim_ascii().is_empty();
            if !blank {
                return Ok(Some(line));
            }
        }
    }

    fn skip(&mut self, count: u64) -> io::Result<()> {
        for _ in 0..count {
            if self.next()?.is_none() {
                break;
            }
        }
        Ok(())
    }
}
