//! Widgets: rows of a declared type, with settings, in a declared place.
//!
//! Types and places are entries of other resources (`options.widgets`). A type says which settings its widgets have and
//! what shows them; a place says what stands around a widget. It knows no type by name.

mod html;

use self::html::WidgetInstance;
use crate::access::hashing::same_text;
use crate::behaviours::allowed_html;
use crate::error::{ApiError, Code, status};
use crate::families::{self, column, text_column};
use crate::features::static_entries::{self, ENTRIES};
use crate::handlers::{Handler, Outcome, Work, handler, items, sync_handler};
use crate::records::{self, Record, eq, txt};
use crate::registry::resource::{Context, Resource};
use crate::registry::vocabulary::PLAIN;
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use crate::render;
use crate::request::decode_query;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_declaration::WidgetOptions;
use cms_storage::WRITE_PATIENCE;
use cms_storage::plan::{Change, CommitError, DbValue, Put, Row, Target, WritePlan};
use cms_text::html::Html;
use cms_text::sanitize::sanitize_text_field;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Instant;

/// The response with a preview.
const PREVIEW: &str =
    r#"{"type": "object", "properties": {"preview": {"type": "string", "description": "A page as HTML."}}}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("widget.list", list, "Lists widgets, in the order of their places.")
        .responds(ResponseKind::List)
        .on(PLAIN)
        .settings(&["widgets"]),
    sync_handler("widget.get", get, "Responds with one widget.").on(PLAIN).fails(&[Code::RecordInvalidId]),
    handler("widget.create", |w| Box::pin(create(w)), "Makes a widget of a declared type.")
        .responds(ResponseKind::Created)
        .on(PLAIN)
        .fails(&[Code::InvalidField]),
    handler("widget.update", |w| Box::pin(update(w)), "Changes the settings or the place of a widget.")
        .on(PLAIN)
        .fails(&[Code::InvalidField, Code::RecordInvalidId]),
    handler("widget.delete", |w| Box::pin(delete(w)), "Deletes a widget, or moves it to the unused ones.")
        .responds(ResponseKind::Trashed)
        .on(PLAIN)
        .fails(&[Code::RecordInvalidId]),
    sync_handler("widget.places", places, "Lists the declared places with their widgets.")
        .responds(ResponseKind::List)
        .settings(ENTRIES),
    sync_handler("widget.place", place, "Responds with one place and its widgets.")
        .settings(ENTRIES)
        .fails(&[Code::RecordInvalidId]),
    handler("widget.arrange", |w| Box::pin(arrange(w)), "Puts widgets into a place, in an order.")
        .settings(ENTRIES)
        .fails(&[Code::RecordInvalidId]),
    sync_handler(
        "widget.encode",
        encode,
        "Responds with the form for settings, the widget that they make, and the settings as they are stored.",
    )
    .responds(ResponseKind::Json(status::OK, "{}"))
    .fails(&[Code::RecordInvalidId]),
    sync_handler("widget.preview", preview, "Responds with a page that shows a widget alone.")
        .responds(ResponseKind::Json(status::OK, PREVIEW))
        .fails(&[Code::RecordInvalidId]),
];

/// Most widgets of a site.
const MOST: usize = 500;

/// Most bytes of the settings of a widget.
const MOST_BYTES: usize = 65_536;

/// The first number of a widget of a type.
const FIRST: i64 = 2;

/// How deep the names of a form's fields are nested: `widget-text[3][title]`.
const FORM_DEPTH: usize = 4;

/// The declared options of widgets, and the resource of their rows.
struct WidgetResource<'a> {
    rows: &'a Resource,
    options: &'a WidgetOptions,
}

impl<'a> WidgetResource<'a> {
    fn of(work: &Work<'a>) -> Result<WidgetResource<'a>, ApiError> {
        let registry = &work.scope.registry;
        let found = registry.resources.iter().find_map(|rows| Some((rows, rows.declared.options.widgets.as_ref()?)));
        let (rows, options) = found.ok_or_else(|| ApiError::new(Code::Internal))?;
        Ok(WidgetResource { rows, options })
    }

    fn entry(&self, work: &Work<'a>, of: &str, key: &str) -> Option<&'a Value> {
        let registry = &work.scope.registry;
        registry.entry(registry.resource(of)?, key)
    }

    /// The place that a widget is in: one that is not declared any more is that of unused widgets.
    fn place(&self, work: &Work<'a>, record: Record<'_>) -> String {
        self.known_place(work, record.text("sidebar"))
    }

    fn known_place(&self, work: &Work<'a>, named: &str) -> String {
        let known = self.entry(work, &self.options.places, named).is_some();
        if known { named.to_owned() } else { self.options.unused.clone() }
    }

    /// All widgets, in the order of their places; within a place the one that was put there last comes first.
    fn all(&self, work: &Work<'a>) -> Result<Vec<Row>, ApiError> {
        let plan = records::ordered(records::plan(self.rows, records::always()), "position", true);
        Ok(work.scope.snapshot()?.rows(&plan)?)
    }

    fn in_place(&self, work: &Work<'a>, place: &str) -> Result<Vec<Row>, ApiError> {
        let mut rows = self.all(work)?;
        rows.retain(|row| self.place(work, Record { resource: self.rows, row }) == place);
        Ok(rows)
    }

    fn invalid(&self) -> ApiError {
        ApiError::new(self.rows.code(Code::InvalidField))
    }
}

/// The widgets, of one place where the request names one.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let wanted = work.allowed.args().explicit("sidebar").and_then(Value::as_str);
    let registry = &work.scope.registry;
    let places = registry.resource(&site.options.places).map_or(&[][..], |places| registry.entries(places));
    let names = places.iter().filter_map(|place| place["id"].as_str());
    let mut rows = Vec::new();
    for place in names.filter(|place| wanted.is_none_or(|wanted| wanted == *place)) {
        rows.extend(site.in_place(work, place)?);
    }
    Ok(Outcome::ok(Value::Array(documents(work, &site, &rows, work.allowed.context())?)))
}

/// One widget.
///
/// # Errors
/// There is none with this name.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    one(work, &site, &target(work, &site)?, work.allowed.context())
}

/// Makes a widget of the requested type; 201.
///
/// # Errors
/// There is no such type; the settings do not fit; there are too many widgets.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let args = work.allowed.args();
    let asked = args.explicit("id").and_then(Value::as_str);
    let kind = asked.map(|id| numbered(id).0).or_else(|| args.text("id_base")).unwrap_or("");
    let entry = site.entry(work, &site.options.types, kind).ok_or_else(|| site.invalid())?;
    if site.all(work)?.len() >= MOST {
        return Err(ApiError::invalid_one("id_base", format!("A site has at most {MOST} widgets.")));
    }
    let place = args.explicit("sidebar").and_then(Value::as_str).unwrap_or_default();
    let place = site.known_place(work, place);
    let until = Instant::now() + WRITE_PATIENCE;
    while Instant::now() < until {
        let number = asked.and_then(|id| numbered(id).1).map_or_else(|| next_number(work, &site, kind), Ok)?;
        let id = format!("{kind}-{number}");
        if let Some(row) = records::find(&*work.scope.snapshot()?, site.rows, &txt(&id))? {
            // A widget that is there is changed; the status is that of a new one.
            return Ok(Outcome { status: status::CREATED, ..changed(work, &site, &row).await? });
        }
        let settings = settings(work, &site, entry, number)?.unwrap_or_else(|| "{}".to_owned());
        let set = vec![
            text_column("id_base", kind),
            text_column("sidebar", &place),
            column("position", DbValue::Int(front(work, &site)?)),
            text_column("settings", &settings),
        ];
        let put = Put::new(site.rows.table.clone(), Target::Keyed(txt(&id)), set);
        match work.commit(WritePlan::new(vec![Change::Put(put)])).await {
            Ok(_) => {
                let row = items::fetch(work, site.rows, &txt(&id))?;
                return Ok(Outcome { status: status::CREATED, ..one(work, &site, &row, Context::EDIT)? });
            }
            Err(CommitError::Refused { tag: "key_taken", .. }) => {}
            Err(error) => return Err(families::refusal(work.scope, site.rows, error)),
        }
    }
    Err(families::contended())
}

/// Changes the settings or the place of a widget.
///
/// # Errors
/// There is none with this name; the settings do not fit.
pub async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let row = target(work, &site)?;
    changed(work, &site, &row).await
}

async fn changed(work: &Work<'_>, site: &WidgetResource<'_>, row: &Row) -> Result<Outcome, ApiError> {
    let record = Record { resource: site.rows, row };
    let entry = site.entry(work, &site.options.types, record.text("id_base")).ok_or_else(|| site.invalid())?;
    let mut set = Vec::new();
    if let Some(settings) = settings(work, site, entry, numbered(record.text("id")).1.unwrap_or(0))? {
        set.push(text_column("settings", &settings));
    }
    let place = work.allowed.args().explicit("sidebar").and_then(Value::as_str);
    let place = place.map(|place| site.known_place(work, place));
    if let Some(place) = place.filter(|place| *place != site.place(work, record)) {
        set.push(text_column("sidebar", &place));
        set.push(column("position", DbValue::Int(front(work, site)?)));
    }
    write(work, site, record, set).await?;
    one(work, site, &items::fetch(work, site.rows, record.value("id"))?, Context::EDIT)
}

/// Deletes a widget, or moves it to the unused ones.
///
/// # Errors
/// There is none with this name.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let row = target(work, &site)?;
    let record = Record { resource: site.rows, row: &row };
    if !work.allowed.args().flag("force") {
        let set =
            vec![text_column("sidebar", &site.options.unused), column("position", DbValue::Int(front(work, &site)?))];
        write(work, &site, record, set).await?;
        return one(work, &site, &items::fetch(work, site.rows, record.value("id"))?, Context::EDIT);
    }
    let mut previous = documents(work, &site, std::slice::from_ref(&row), Context::EDIT)?.pop().unwrap_or_default();
    if let Some(members) = previous.as_object_mut() {
        members.shift_remove("_links");
    }
    let removal = Change::Remove { table: site.rows.table.clone(), key: record.value("id").clone(), expect: None };
    let done = work.commit(WritePlan::new(vec![removal])).await;
    done.map_err(|error| families::refusal(work.scope, site.rows, error))?;
    Ok(Outcome { reduced: false, ..Outcome::ok(json!({"deleted": true, "previous": previous})) })
}

/// The declared places with their widgets.
pub fn places(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let mut outcome = static_entries::list(work)?;
    for place in outcome.body.as_array_mut().into_iter().flatten() {
        fill(work, &site, place)?;
    }
    Ok(outcome)
}

/// One place with its widgets.
///
/// # Errors
/// There is no such place.
pub fn place(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let mut outcome = static_entries::get(work)?;
    fill(work, &site, &mut outcome.body)?;
    Ok(outcome)
}

/// Puts widgets into a place, in the order of the request. Those that the request does not name become unused.
///
/// # Errors
/// There is no such place.
pub async fn arrange(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let shown = static_entries::get(work)?;
    let id = shown.body["id"].as_str().unwrap_or_default().to_owned();
    if let Some(wanted) = work.allowed.args().explicit("widgets").and_then(Value::as_array) {
        let wanted: Vec<&str> = wanted.iter().filter_map(Value::as_str).collect();
        let rows = site.all(work)?;
        let front = front(work, &site)?;
        let mut changes = Vec::new();
        for row in &rows {
            let record = Record { resource: site.rows, row };
            let set = match wanted.iter().position(|one| *one == record.text("id")) {
                Some(at) => {
                    let position = front + i64::try_from(wanted.len() - at).unwrap_or(0);
                    vec![text_column("sidebar", &id), column("position", DbValue::Int(position))]
                }
                None if site.place(work, record) == id => vec![text_column("sidebar", &site.options.unused)],
                None => continue,
            };
            changes.push(Change::Put(Put::new(site.rows.table.clone(), existing(record), set)));
        }
        let done = work.commit(WritePlan::new(changes)).await;
        done.map_err(|error| families::refusal(work.scope, site.rows, error))?;
    }
    place(work)
}

/// The parts of settings for an editor, before they are stored: the form, the widget's HTML, and the settings.
///
/// # Errors
/// There is no such type; the settings are not this server's.
pub fn encode(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let entry = kind(work)?;
    let args = work.allowed.args();
    let number = args.int("number").unwrap_or(-1);
    let proven = |instance: &&Value| instance.get("encoded").is_some() && instance.get("hash").is_some();
    let given = match args.explicit("instance").filter(proven) {
        Some(_) => decoded(work, &site, &args.explicit("instance").cloned().unwrap_or_default())?,
        None => json!({}),
    };
    let form = args.explicit("form_data").and_then(Value::as_str).map(|form| from_form(form, entry, None));
    let settings = match form.transpose()?.flatten() {
        Some(form) => normal(work, entry, &form),
        None => given,
    };
    let shown = WidgetInstance { entry, settings: &settings, number };
    Ok(Outcome::ok(json!({
        "form": shown.form(),
        "preview": shown.preview(work).as_str(),
        "instance": instance(work, &settings),
    })))
}

/// A page that shows a widget alone.
///
/// # Errors
/// There is no such type; the settings do not fit.
pub fn preview(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let site = WidgetResource::of(work)?;
    let entry = kind(work)?;
    let given = work.allowed.args().explicit("instance").cloned().unwrap_or_default();
    let settings = match (given.get("raw"), given.get("encoded")) {
        (Some(raw), _) => normal(work, entry, raw),
        (None, Some(_)) => normal(work, entry, &decoded(work, &site, &given)?),
        (None, None) => json!({}),
    };
    let page = WidgetInstance { entry, settings: &settings, number: -1 }.page(work);
    Ok(Outcome::ok(json!({"preview": page.as_str()})))
}

/// The entry of the type that the path names.
fn kind<'a>(work: &Work<'a>) -> Result<&'a Value, ApiError> {
    let resource = work.resource()?;
    let wanted = work.captures.get("id").and_then(Value::as_str).unwrap_or("");
    work.scope.registry.entry(resource, wanted).ok_or_else(|| ApiError::new(resource.code(Code::RecordInvalidId)))
}

fn target(work: &Work<'_>, site: &WidgetResource<'_>) -> Result<Row, ApiError> {
    let wanted = work.captures.get("id").and_then(Value::as_str).unwrap_or("");
    let found = records::find(&*work.scope.snapshot()?, site.rows, &txt(wanted))?;
    found.ok_or_else(|| ApiError::new(site.rows.code(Code::RecordInvalidId)))
}

fn existing(record: Record<'_>) -> Target {
    Target::Existing { key: record.value("id").clone(), expect: None }
}

async fn write(
    work: &Work<'_>,
    site: &WidgetResource<'_>,
    record: Record<'_>,
    set: families::Columns,
) -> Result<(), ApiError> {
    if set.is_empty() {
        return Ok(());
    }
    let put = Put::new(site.rows.table.clone(), existing(record), set);
    let done = work.commit(WritePlan::new(vec![Change::Put(put)])).await;
    done.map(|_| ()).map_err(|error| families::refusal(work.scope, site.rows, error))
}

/// The type and number in a widget's name: `recent-posts-2`.
fn numbered(id: &str) -> (&str, Option<i64>) {
    match id.rsplit_once('-').and_then(|(kind, number)| Some((kind, number.parse().ok()?))) {
        Some((kind, number)) if number >= 0 => (kind, Some(number)),
        _ => (id, None),
    }
}

fn next_number(work: &Work<'_>, site: &WidgetResource<'_>, kind: &str) -> Result<i64, ApiError> {
    let plan = records::columns(&site.rows.table, &["id"], eq("id_base", txt(kind)));
    let ids: Vec<Arc<str>> = work.scope.snapshot()?.rows_as(&plan)?;
    let taken = ids.iter().filter_map(|id| numbered(id).1).max();
    Ok(taken.map_or(FIRST, |taken| taken.saturating_add(1).max(FIRST)))
}

/// A position before that of every widget.
fn front(work: &Work<'_>, site: &WidgetResource<'_>) -> Result<i64, ApiError> {
    let plan = records::columns(&site.rows.table, &["position"], records::always());
    let last = records::first_by::<i64>(&*work.scope.snapshot()?, records::ordered(plan, "position", true))?;
    Ok(last.map_or(1, |last| last.saturating_add(1)))
}

// ------------------------------------------------------------------------------------------------ settings

/// The settings that the request gives, as they are stored; `None` when it gives none.
fn settings(
    work: &Work<'_>,
    site: &WidgetResource<'_>,
    entry: &Value,
    number: i64,
) -> Result<Option<String>, ApiError> {
    let args = work.allowed.args();
    let given = match (args.explicit("instance"), args.explicit("form_data").and_then(Value::as_str)) {
        (Some(instance), _) => match instance.get("raw") {
            Some(raw) if instance.get("encoded").is_none() => normal(work, entry, raw),
            _ => normal(work, entry, &decoded(work, site, instance)?),
        },
        (None, Some(form)) => match from_form(form, entry, Some(number))? {
            Some(given) => normal(work, entry, &given),
            None => return Ok(None),
        },
        (None, None) => return Ok(None),
    };
    let stored = given.to_string();
    if stored.len() > MOST_BYTES {
        return Err(ApiError::invalid_one(
            "instance",
            format!("The settings of a widget have at most {MOST_BYTES} bytes."),
        ));
    }
    Ok(Some(stored))
}

/// Settings that this server has encoded.
fn decoded(work: &Work<'_>, site: &WidgetResource<'_>, instance: &Value) -> Result<Value, ApiError> {
    let part = |name: &str| instance.get(name).and_then(Value::as_str).unwrap_or("");
    let (encoded, hash) = (part("encoded"), part("hash"));
    if encoded.is_empty() || !same_text(hash, &proof(work, encoded)) {
        return Err(site.invalid());
    }
    let json = STANDARD.decode(encoded).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    json.ok_or_else(|| site.invalid())
}

fn proof(work: &Work<'_>, encoded: &str) -> String {
    let proof = work.shared.identity.proof(&format!("widget:{encoded}"));
    proof.chars().take(32).collect()
}

/// The settings as editors get them.
fn instance(work: &Work<'_>, settings: &Value) -> Value {
    let encoded = STANDARD.encode(settings.to_string());
    let hash = proof(work, &encoded);
    json!({"encoded": encoded, "hash": hash, "raw": settings})
}

/// The settings in the fields of a form (`widget-text[3][title]=…`): those of a number, or the first.
fn from_form(form: &str, entry: &Value, number: Option<i64>) -> Result<Option<Value>, ApiError> {
    let fields = decode_query(form, FORM_DEPTH)?;
    let kind = entry["id"].as_str().unwrap_or_default();
    let all = fields.get(&format!("widget-{kind}"));
    let place = |number: i64, list: &[Value]| usize::try_from(number).ok().and_then(|at| list.get(at)).cloned();
    Ok(match (all, number) {
        (Some(Value::Object(numbers)), Some(number)) => numbers.get(&number.to_string()).cloned(),
        (Some(Value::Object(numbers)), None) => numbers.values().next().cloned(),
        (Some(Value::Array(list)), Some(number)) => place(number, list),
        (Some(Value::Array(list)), None) => list.first().cloned(),
        _ => None,
    })
}

/// Settings as the type declares them (`settings`): members of other names are left out, unless it says `any`.
fn normal(work: &Work<'_>, entry: &Value, given: &Value) -> Value {
    let mut map = Map::new();
    let declared = entry["settings"].as_object();
    for (member, about) in declared.into_iter().flatten() {
        let value = match given.get(member) {
            Some(value) => value,
            None => match about.get("default") {
                Some(default) => {
                    map.insert(member.clone(), default.clone());
                    continue;
                }
                None => continue,
            },
        };
        map.insert(member.clone(), fitted(work, about["type"].as_str().unwrap_or("text"), value));
    }
    Value::Object(map)
}

fn fitted(work: &Work<'_>, kind: &str, value: &Value) -> Value {
    let plain =
        value.as_str().map_or_else(|| if value.is_null() { String::new() } else { value.to_string() }, str::to_owned);
    let set = !matches!(plain.as_str(), "" | "0" | "false");
    match kind {
        "integer" => json!(plain.trim().parse::<f64>().map_or(0, |number| number as i64).max(0)),
        "switch" => json!(i64::from(set)),
        "boolean" => json!(set),
        "html" => json!(allowed_html(work.scope, &plain)),
        "any" if value.is_object() || value.is_array() => value.clone(),
        _ => json!(sanitize_text_field(&plain)),
    }
}

// ------------------------------------------------------------------------------------------------ documents

fn one(work: &Work<'_>, site: &WidgetResource<'_>, row: &Row, context: Context) -> Result<Outcome, ApiError> {
    let document = documents(work, site, std::slice::from_ref(row), context)?.pop();
    Ok(Outcome::ok(document.ok_or_else(|| ApiError::new(Code::Internal))?))
}

fn documents(
    work: &Work<'_>,
    site: &WidgetResource<'_>,
    rows: &[Row],
    context: Context,
) -> Result<Vec<Value>, ApiError> {
    let view = work.view(context);
    let snapshot = work.scope.snapshot()?;
    let mut documents = render::documents(work.scope, &*snapshot, site.rows, rows, &view)?;
    for (document, row) in documents.iter_mut().zip(rows) {
        let record = Record { resource: site.rows, row };
        let Some(members) = document.as_object_mut() else { continue };
        let settings: Value = serde_json::from_str(record.text("settings")).unwrap_or_default();
        let entry = site.entry(work, &site.options.types, record.text("id_base")).unwrap_or(&Value::Null);
        let number = numbered(record.text("id")).1.unwrap_or(0);
        let shown = WidgetInstance { entry, settings: &settings, number };
        let place = site.place(work, record);
        let declared = site.entry(work, &site.options.places, &place).filter(|_| place != site.options.unused);
        let rendered = declared.map(|place| shown.body(work, Some((place, record.text("id")))));
        let values = [
            ("rendered", json!(rendered.as_ref().map_or("", Html::as_str))),
            ("rendered_form", json!(shown.form())),
            ("instance", instance(work, &settings)),
        ];
        for (name, value) in values {
            let shows = site.rows.property(name).is_some_and(|property| property.contexts.shows_in(context));
            if shows && work.fields.wants(name) {
                members.insert(name.to_owned(), value);
            }
        }
    }
    Ok(documents)
}

/// Puts the names of its widgets into a place.
fn fill(work: &Work<'_>, site: &WidgetResource<'_>, place: &mut Value) -> Result<(), ApiError> {
    let id = place["id"].as_str().unwrap_or_default().to_owned();
    let rows = site.in_place(work, &id)?;
    let names: Vec<&str> = rows.iter().map(|row| Record { resource: site.rows, row }.text("id")).collect();
    if let Some(widgets) = place.get_mut("widgets") {
        *widgets = json!(names);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_widgets_end_in_a_number() {
        for (id, expected) in [
            ("recent-posts-2", ("recent-posts", Some(2))),
            ("text", ("text", None)),
            ("text-x", ("text-x", None)),
            ("text--1", ("text-", Some(1))),
        ] {
            assert_eq!(numbered(id), expected, "{id}");
        }
    }

    #[test]
    fn a_form_holds_settings_by_number() {
        let entry = json!({"id": "text"});
        let form = "widget-text%5B3%5D%5Btitle%5D=A+b&widget-text%5B3%5D%5Btext%5D=c&id_base=text";
        let read = |number| from_form(form, &entry, number).expect("a form");
        let found = Some(json!({"title": "A b", "text": "c"}));
        assert_eq!((read(Some(3)), read(None), read(Some(4))), (found.clone(), found, None));
    }
}
