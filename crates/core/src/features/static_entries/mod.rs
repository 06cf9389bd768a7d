//! Collections whose entries are declared beside the resource (`options.entries`), none if none are.
//!
//! It knows no resource: the schema decides what an entry contains, the guard who may see it.

use crate::access::hints;
use crate::error::{ApiError, Code, CodeStatus};
use crate::handlers::lists::{PageWindow, paging_headers};
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::records::{self, Record};
use crate::registry::args::ArgRole;
use crate::registry::entries::key_name;
use crate::registry::resource::{Resource, link_parts};
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use cms_declaration::{Comparison, EntryFilter};
use serde_json::{Map, Value, json};

/// Options of a resource whose entries are declared.
pub const ENTRIES: &[&str] =
    &["entries", "entries_from", "key", "key_parts", "links", "links_where", "embeddable_links", "holder", "filters"];

/// Placeholder for the id of the row that names an entry. An entry without such a row has no link with it.
const HOLDER: &str = "{holder}";

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("static.list", list, "Lists the entries that `options.entries` declares.")
        .fails(&[Code::RecordInvalidId, Code::CannotRead, Code::CannotView, Code::Forbidden, Code::ThemeNotFound])
        .responds(ResponseKind::List)
        .settings(ENTRIES),
    sync_handler(
        "static.by_key",
        by_key,
        "Responds with an object of the entries that `options.entries` declares, by their keys.",
    )
    .fails(&[Code::CannotView])
    .responds(ResponseKind::ByKey)
    .settings(ENTRIES),
    sync_handler("static.get", get, "Responds with one declared entry.")
        .fails(&[Code::RecordInvalidId, Code::CannotRead, Code::CannotView, Code::Forbidden, Code::ThemeNotFound])
        .settings(ENTRIES),
    sync_handler("static.update", update, "Changes the row that names an entry (`options.holder`).")
        .settings(ENTRIES)
        .fails(&[Code::RecordInvalidId]),
];

/// The declared entries: an array, paged where the endpoint takes a page.
///
/// # Errors
/// A route without a resource: 500.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let filters = filters(work)?;
    let fits = |entry: &&Value| chosen(work, entry) && filters.iter().all(|filter| filter.fits(entry));
    let entries: Vec<&Value> = entries(work)?.iter().filter(fits).collect();
    let args = work.allowed.args();
    let window = PageWindow::of(args, &work.endpoint.args);
    let paged = args.role(&work.endpoint.args, ArgRole::PerPage).is_some();
    let shown: Vec<Value> = if paged {
        entries
            .iter()
            .skip(count(window.offset))
            .take(count(window.per_page))
            .map(|e| shown(work, e))
            .collect::<Result<_, _>>()?
    } else {
        entries.iter().map(|e| shown(work, e)).collect::<Result<_, _>>()?
    };
    let mut outcome = Outcome::ok(Value::Array(shown));
    if paged {
        paging_headers(work, &mut outcome, entries.len() as u64, &window);
    }
    Ok(outcome)
}

/// The declared entries: an object with a member for each, and an empty list where none are.
///
/// # Errors
/// As [`list`].
pub fn by_key(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let key = key_name(work.resource()?);
    let named = entries(work)?.iter().filter_map(|entry| Some((entry.get(key)?.as_str()?.to_owned(), entry)));
    let all: Map<String, Value> =
        named.map(|(name, entry)| Ok((name, shown(work, entry)?))).collect::<Result<_, ApiError>>()?;
    Ok(Outcome::ok(if all.is_empty() { json!([]) } else { Value::Object(all) }))
}

/// The entry whose `options.key` is the last value of the path; where a path has no values, the one entry.
///
/// # Errors
/// There is none.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let own = work.endpoint.codes.get(&Code::RecordInvalidId).copied();
    let missing = || ApiError::new(own.unwrap_or_else(|| resource.code(Code::RecordInvalidId)));
    let parts: Vec<&str> = parts(resource).filter_map(|part| work.captures.get(part)?.as_str()).collect();
    let last = || work.captures.values().next_back().and_then(Value::as_str).map(str::to_owned);
    let wanted = if parts.is_empty() { last() } else { Some(parts.join("/")) };
    let entry = match wanted {
        Some(wanted) => work.scope.registry.entry(resource, &wanted),
        None => entries(work)?.first(),
    };
    let entry = entry.ok_or_else(missing)?;
    Ok(Outcome::ok(shown(work, entry)?))
}

/// Entries are declared, not written: one that does not exist is not found, and nothing else is changed, either.
///
/// # Errors
/// Always, with the endpoint's code for `rest_cannot_edit`.
pub fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    if !work.captures.is_empty() {
        get(work)?;
    }
    let code = work.endpoint.codes.get(&Code::CannotEdit).copied().unwrap_or(Code::CannotEdit);
    Err(match code.status() {
        CodeStatus::Denied => work.scope.principal.refuse(code),
        _ => ApiError::new(code),
    })
}

/// The names of the parts of a key (`options.key_parts`), where it has several.
fn parts(resource: &Resource) -> impl Iterator<Item = &str> {
    resource.declared.options.key_parts.iter().map(String::as_str)
}

fn entries<'a>(work: &Work<'a>) -> Result<&'a [Value], ApiError> {
    Ok(work.scope.registry.entries(work.resource()?))
}

/// The entry's key has the parts that the path or the arguments name.
fn chosen(work: &Work<'_>, entry: &Value) -> bool {
    let Ok(resource) = work.resource() else { return false };
    let mut own = entry.get(key_name(resource)).and_then(Value::as_str).unwrap_or("").split('/');
    parts(resource).all(|part| {
        let wanted = work.captures.get(part).or_else(|| work.allowed.args().explicit(part)).and_then(Value::as_str);
        let own = own.next();
        wanted.is_none_or(|wanted| wanted.is_empty() || own == Some(wanted))
    })
}

/// A filter of the request (`options.filters`).
struct EntryCondition<'a> {
    declared: &'a EntryFilter,
    arg: &'a str,
    wanted: Value,
}

/// The filters whose arguments the request gives, in the path or as parameters.
///
/// # Errors
/// A value that has to be an entry of another resource is none: that resource's 404.
fn filters<'a>(work: &Work<'a>) -> Result<Vec<EntryCondition<'a>>, ApiError> {
    let mut filters = Vec::new();
    for (arg, declared) in &work.resource()?.declared.options.filters {
        let Some(wanted) = work.captures.get(arg).or_else(|| work.allowed.args().explicit(arg)) else { continue };
        if wanted.as_str() == Some("") {
            continue;
        }
        let among = declared.among.as_ref().and_then(|name| work.scope.registry.resource(name));
        if let (Some(among), Some(key)) = (among, wanted.as_str())
            && work.scope.registry.entry(among, key).is_none()
        {
            return Err(ApiError::new(among.code(Code::RecordInvalidId)));
        }
        let mut wanted = wanted.clone();
        if let Some(members) = wanted.as_object_mut() {
            members.retain(|name, _| !declared.ignored.contains(name));
        }
        filters.push(EntryCondition { declared, arg, wanted });
    }
    Ok(filters)
}

impl EntryCondition<'_> {
    fn fits(&self, entry: &Value) -> bool {
        let fits = |member: &str| {
            let held = entry.get(member);
            match (self.declared.by, held, self.wanted.as_str()) {
                (Comparison::Equal, held, _) => held == Some(&self.wanted),
                (Comparison::Contains, Some(Value::String(held)), Some(part)) => {
                    held.to_lowercase().contains(&part.to_lowercase())
                }
                (Comparison::Contains, ..) => false,
                (Comparison::Part, held, _) => held.is_some_and(|held| has_part(held, &self.wanted)),
            }
        };
        match self.declared.members.as_slice() {
            [] => fits(self.arg),
            members => members.iter().any(|member| fits(member)),
        }
    }
}

/// Whether a value has every member of another, at any depth.
fn has_part(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|whole| has_part(whole, part)))
        }
        _ => whole == part,
    }
}

/// Declared links (`options.links`): templates with `{key}`, the names of the key's parts, and `{holder}`.
fn links(work: &Work<'_>, entry: &Value) -> Result<Option<Value>, ApiError> {
    let resource = work.resource()?;
    let declared = &resource.declared.options.links;
    if declared.is_empty() {
        return Ok(None);
    }
    let key = entry.get(key_name(resource)).and_then(Value::as_str).unwrap_or("");
    let holder = resource.declared.options.holder.as_ref();
    let holder = holder.and_then(|holder| entry.get(&holder.shown_as)?.as_i64()).unwrap_or(0);
    let fill = |template: &str| {
        let named = parts(resource).zip(key.split('/'));
        let text = template.replace("{key}", key).replace(HOLDER, &holder.to_string());
        named.fold(text, |text, (part, value)| text.replace(&format!("{{{part}}}"), value))
    };
    let registry = &work.scope.registry;
    let mut links = Map::new();
    let has = |rel: &str| match resource.declared.options.links_where.get(rel) {
        Some(member) => entry.get(member.as_str()) == Some(&Value::Bool(true)),
        None => true,
    };
    for (rel, template) in declared.iter().filter(|(rel, to)| has(rel) && (holder != 0 || !to.contains(HOLDER))) {
        let (of, below) = match link_parts(template) {
            (None, below) => (Some(resource), below),
            (Some(name), below) => (registry.resource(name), below),
        };
        let path = of.map_or("", |of| of.path.as_str());
        let path = format!("{path}{}", fill(below));
        let link = match rel.as_str() {
            "self" => json!(hints::self_link(work.scope, resource, path)?),
            rel if resource.declared.options.embeddable_links.iter().any(|one| one == rel) => {
                json!({"embeddable": true, "href": registry.rest(&path)})
            }
            _ => json!({"href": registry.rest(&path)}),
        };
        links.insert(rel.clone(), json!([link]));
    }
    let used = |name: &str| links.keys().any(|rel| rel.split_once(':').is_some_and(|(prefix, _)| prefix == name));
    let curies = registry.declaration.curies.iter().filter(|(name, _)| used(name));
    let curies: Vec<Value> =
        curies.map(|(name, href)| json!({"name": name, "href": href, "templated": true})).collect();
    if !curies.is_empty() {
        links.insert("curies".to_owned(), Value::Array(curies));
    }
    Ok(Some(Value::Object(links)))
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The members of an entry that the context shows, and its holder, where the declaration requires that.
fn shown(work: &Work<'_>, entry: &Value) -> Result<Value, ApiError> {
    let context = work.allowed.context();
    let resource = work.resource()?;
    let mut entry = entry.clone();
    if let Some(holder) = &resource.declared.options.holder
        && let Some(map) = entry.as_object_mut()
    {
        let key = map.get(key_name(resource));
        let held = held_by(work, &holder.resource, &holder.property, key.and_then(Value::as_str).unwrap_or(""))?;
        map.insert(holder.shown_as.clone(), Value::from(held));
    }
    let properties = resource.properties.iter().filter(|p| p.contexts.shows_in(context));
    let mut members: Map<String, Value> =
        properties.filter_map(|p| entry.get(&p.name).map(|v| (p.name.clone(), v.clone()))).collect();
    members.extend(links(work, &entry)?.map(|links| ("_links".to_owned(), links)));
    Ok(Value::Object(members))
}

/// The row that names an entry of the resource, such as the menu that has a place; `None`: there is no such entry, or no row
/// names it.
pub fn holder_of(work: &Work<'_>, resource: &Resource, entry: &str) -> Result<Option<i64>, ApiError> {
    let known = || work.scope.registry.entry(resource, entry).is_some();
    let Some(holder) = resource.declared.options.holder.as_ref().filter(|_| known()) else { return Ok(None) };
    Ok(Some(held_by(work, &holder.resource, &holder.property, entry)?).filter(|id| *id != 0))
}

/// The row that names an entry among its words; 0 when none does.
fn held_by(work: &Work<'_>, resource: &str, property: &str, entry: &str) -> Result<i64, ApiError> {
    let Some(holders) = work.scope.registry.resource(resource) else { return Ok(0) };
    let rows = work.scope.snapshot()?.rows(&records::plan(holders, records::own_rows(holders)))?;
    let mut all = rows.iter().map(|row| Record { resource: holders, row });
    let holds = |record: &Record<'_>| record.text(property).split_whitespace().any(|word| word == entry);
    Ok(all.find(holds).map_or(0, |record| record.id()))
}
