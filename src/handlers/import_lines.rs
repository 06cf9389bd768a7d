//! `import`: a collection from JSON documents in lines, as [`super::lists`] exports it.
//!
//! Each line is a request of its own to the routes of the resource, with the caller's rights: it creates an item, or
//! changes the one that has the same value of the property that `upsert` names. Lines are written in batches, each in one
//! transaction; a line that fails leaves the others as they are.

use super::{Outcome, Work};
use crate::access::policy;
use crate::error::{ApiError, Code};
use crate::families;
use crate::model::{LINES, Method};
use crate::records::{self, Record, txt};
use crate::registry::resource::{Context, Property, Resource};
use crate::request::{self, BodyParams, route};
use crate::scope::Scope;
use crate::storage::plan::{Cond, DbValue, Name, Op, ReadPlan};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// Lines of one request; the response to a longer file says where to go on.
const MOST_LINES: u64 = 1000;
/// Lines that are written in one transaction.
const BATCH: usize = 50;
/// Bytes of one line.
const LONGEST_LINE: u64 = 8 << 20;

/// `import`: 200, a result for each line, and where the next request goes on.
///
/// # Errors
/// The body is no file of lines, `upsert` names no property that items can be found by, or the database takes no
/// transaction.
pub async fn import(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let args = work.allowed.args();
    let by = args.text("upsert").map(|name| found_by(work.scope, resource, name)).transpose()?;
    let from = args.int("from").unwrap_or(0).unsigned_abs();
    let BodyParams::Upload(upload) = work.body else {
        let message = "Send the lines as the body of the request, with `Content-Type: application/x-ndjson`.";
        return Err(ApiError::new(Code::UploadNoData).with_message(message));
    };
    let [file] = upload.files.as_slice() else { return Err(ApiError::new(Code::UploadNoData)) };
    let unread = |error: &io::Error| work.scope.internal(error);
    let mut lines = Lines::of(File::open(file.path()).map_err(|error| unread(&error))?);
    lines.skip(from).map_err(|error| unread(&error))?;
    let mut results = Vec::new();
    let mut position = from;
    let mut ended = false;
    while !ended && position - from < MOST_LINES {
        if let Some(budget) = &work.scope.budget {
            budget.renew();
        }
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            match lines.next().map_err(|error| unread(&error))? {
                Some(line) => batch.push(line),
                None => {
                    ended = true;
                    break;
                }
            }
        }
        if batch.is_empty() {
            break;
        }
        let transaction = work.scope.storage.begin().await.map_err(|error| families::unwritten(work.scope, error))?;
        let scope = Scope { storage: transaction.clone(), tentative: true, ..work.scope.clone() };
        for line in batch {
            let done = write(work, &scope, resource, by.as_ref(), &line).await;
            serde_json::to_writer(&mut results, &done.shown(position)).map_err(|error| work.scope.internal(&error))?;
            results.push(b'\n');
            position += 1;
        }
        transaction.finish().await.map_err(|error| families::unwritten(work.scope, error))?;
    }
    if !ended {
        results.extend_from_slice(format!("{}\n", json!({"next": position})).as_bytes());
    }
    Ok(Outcome { status: 200, other: Some((LINES, results)), private: true, ..Outcome::default() })
}

/// What items are found by.
struct FoundBy<'r> {
    property: &'r Property,
    column: Name,
}

/// The property that items are found by: the key, the slug, or one whose values are texts or integers. Whether an item is
/// found says what value it has, so the caller has to be allowed to see it.
fn found_by<'r>(scope: &Scope, resource: &'r Resource, wanted: &str) -> Result<FoundBy<'r>, ApiError> {
    let found = resource.property(wanted).and_then(|property| Some((property, property.column.clone()?)));
    let usable = |(property, _): &(&Property, Name)| {
        use crate::registry::resource::Kind::{Integer, Text};
        matches!(property.kind, Text | Integer) && !property.digest
    };
    let hidden = |column: &Name| resource.edit_only.contains(column) || resource.locked.contains(column);
    match found.filter(usable) {
        Some((_, column)) if hidden(&column) && !policy::sees_edit_only(scope, resource, Context::VIEW) => {
            let message = format!("You may not find items by {wanted}: you do not see the values of all of them.");
            Err(scope.principal.refuse(Code::Forbidden).with_message(message))
        }
        Some((property, column)) => Ok(FoundBy { property, column }),
        None => Err(ApiError::invalid_one("upsert", format!("upsert: items are not found by {wanted}."))),
    }
}

/// What became of a line.
struct Done {
    status: u16,
    result: &'static str,
    body: Value,
}

impl Done {
    fn failed(error: &ApiError) -> Done {
        Done { status: error.status(), result: "failed", body: error.body() }
    }

    fn shown(&self, position: u64) -> Value {
        let mut line = json!({"position": position, "status": self.status, "result": self.result});
        match self.result {
            "failed" => line["error"] = self.body.clone(),
            _ => line["id"] = self.body["id"].clone(),
        }
        line
    }
}

/// Carries out one line.
async fn write(work: &Work<'_>, scope: &Scope, resource: &Resource, by: Option<&FoundBy<'_>>, line: &[u8]) -> Done {
    let document = match request::json_text("The line", line, scope.registry.declaration.server.max_depth) {
        Ok(Value::Object(document)) => document,
        Ok(_) => return Done::failed(&ApiError::new(Code::InvalidJson).with_message("The line is no JSON object.")),
        Err(error) => return Done::failed(&error),
    };
    let key = match by.map(|by| existing(scope, resource, by, &document)).transpose() {
        Ok(key) => key.flatten(),
        Err(error) => return Done::failed(&error),
    };
    match key {
        None => create(work, scope, resource, document).await,
        Some(key) => update(work, scope, &resource.item_path(&key), document).await,
    }
}

/// The key of the item that has the line's value.
fn existing(
    scope: &Scope,
    resource: &Resource,
    by: &FoundBy<'_>,
    document: &Map<String, Value>,
) -> Result<Option<String>, ApiError> {
    let value = match document.get(&by.property.name) {
        Some(Value::String(text)) => txt(text),
        Some(Value::Number(number)) => number.as_i64().map_or(DbValue::Null, DbValue::Int),
        _ => return Ok(None),
    };
    let same = Cond::All(vec![records::own_rows(resource), Cond::Compare(by.column.clone(), Op::Eq, value)]);
    let plan = ReadPlan { limit: Some(2), ..records::plan(resource, same) };
    match scope.snapshot()?.rows(&plan)?.as_slice() {
        [] => Ok(None),
        [row] => Ok(Some(Record { resource, row }.key())),
        _ => Err(ApiError::invalid_one("upsert", format!("Several items have this {}.", by.property.name))),
    }
}

async fn create(work: &Work<'_>, scope: &Scope, resource: &Resource, document: Map<String, Value>) -> Done {
    let body = accepted(work, &resource.path, Method::Post, document);
    done(work.ask_in(scope.clone(), Method::Post, &resource.path, edited(), BodyParams::Json(body)).await, "created")
}

/// Changes an item that is other than the line.
async fn update(work: &Work<'_>, scope: &Scope, path: &str, document: Map<String, Value>) -> Done {
    let body = accepted(work, path, Method::Put, document);
    let current = work.ask_in(scope.clone(), Method::Get, path, edited(), BodyParams::None).await;
    if current.status == 200 && body.iter().all(|(name, value)| current.body.get(name) == Some(value)) {
        return done(current, "unchanged");
    }
    done(work.ask_in(scope.clone(), Method::Put, path, edited(), BodyParams::Json(body)).await, "updated")
}

fn edited() -> Value {
    json!({"context": "edit"})
}

fn done(part: crate::request::call::Part, result: &'static str) -> Done {
    let result = if part.status < 400 { result } else { "failed" };
    Done { status: part.status, result, body: part.body }
}

/// The members of a document that the route takes: not those that only the server sets.
fn accepted(work: &Work<'_>, path: &str, method: Method, document: Map<String, Value>) -> Map<String, Value> {
    let registry = &work.scope.registry;
    let matching = registry.routes.iter().filter(|route| route.matcher.is_match(path.as_bytes()));
    let endpoint = matching.filter_map(|own| route::endpoint(own, method)).next();
    let takes = |name: &String| endpoint.is_some_and(|endpoint| endpoint.args.get(name).is_some());
    let named = |name: &String| {
        endpoint.is_some_and(|endpoint| {
            endpoint.args.role(crate::registry::args::Role::Key).is_some_and(|key| key.name == *name)
        })
    };
    document.into_iter().filter(|(name, _)| takes(name) && !named(name)).collect()
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
