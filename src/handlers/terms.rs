//! Writes of the term family: names unique below a parent, slugs unique in the taxonomy, parents without loops.

use super::lineage;
use super::plain::{pointing, stored};
use super::{Refusal, Work};
use crate::access::failure;
use crate::error::{ApiError, Code};
use crate::records::{self, Record, eq, int, txt};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::storage::plan::{Change, Cond, DbValue, Input, Name, Op, Put, Row, SlugClaim, Target, WritePlan};
use crate::text::html_policy::{self, Policy};
use crate::text::{sanitize, slug};
use serde_json::{Value, json};
use std::sync::Arc;

/// Inserts a term; its key.
///
/// # Errors
/// An empty name, a name that its siblings have, a parent that does not exist.
pub async fn create(work: &Work<'_>, resource: &Resource) -> Result<DbValue, ApiError> {
    let args = work.allowed.args();
    let title = shown_name(args.text("name").unwrap_or(""));
    if title.is_empty() {
        return Err(failure(resource, Code::EmptyTermName));
    }
    let (parent, unmoved) = parent(work, resource, 0)?.unwrap_or_default();
    let mut set = columns(work, resource, &title, parent)?;
    set.push((name("taxonomy"), Input::Value(DbValue::Text(resource.kind.clone()))));
    let unique = resource.declared.unique_names;
    let given = args.text("slug").map(slug::sanitize_title).filter(|s| !s.is_empty() && !unique);
    let taken_over = taken_over(work, resource, &set, 0)?;
    let mut changes = Vec::new();
    if given.is_none() || resource.declared.hierarchical {
        changes.push(unlike(resource, &title, parent, 0));
    }
    changes.push(Change::Put(Put {
        table: resource.table.clone(),
        target: Target::New,
        set,
        slug: Some(claim(work, resource, given, &title, parent)?),
        edges: Vec::new(),
        meta: Vec::new(),
        revision: None,
    }));
    changes.extend(taken_over);
    changes.extend(unmoved);
    let done = work.commit(WritePlan { changes }).await.map_err(|refusal| answer(work, resource, refusal))?;
    done.puts.into_iter().next().map(|put| put.key).ok_or_else(|| ApiError::new(Code::Internal))
}

/// Changes a term.
///
/// # Errors
/// As [`create`], and a slug that another term of the taxonomy has.
pub async fn update(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let args = work.allowed.args();
    let key = record.value("id").clone();
    let title = match args.given("name").and_then(Value::as_str) {
        Some(given) => shown_name(given),
        None => record.text("name").to_owned(),
    };
    if title.is_empty() {
        return Err(failure(resource, Code::EmptyTermName).into());
    }
    let moved = parent(work, resource, record.id())?;
    let (parent, unmoved) = moved.unwrap_or_else(|| (record.int("parent"), Vec::new()));
    let unique = resource.declared.unique_names;
    let slug = args.given("slug").and_then(Value::as_str).filter(|_| !unique);
    let slug = slug.or_else(|| (unique && title != record.text("name")).then_some("")).map(|given| {
        let slug = slug::sanitize_title(given);
        let slug = if slug.is_empty() { slug::sanitize_title(&title) } else { slug };
        SlugClaim {
            column: name("slug"),
            scope: Some(resource.kind.clone()),
            candidates: vec![slug.into()],
            refuse: Some("duplicate_term_slug"),
        }
    });
    let put = Put {
        table: resource.table.clone(),
        target: Target::Existing { key: key.clone(), expect: Some(record.int("version")) },
        set: columns(work, resource, &title, parent)?,
        slug,
        edges: Vec::new(),
        meta: Vec::new(),
        revision: None,
    };
    let mut changes = taken_over(work, resource, &put.set, record.id())?;
    if unique {
        changes.push(unlike(resource, &title, parent, record.id()));
    }
    changes.push(Change::Put(put));
    changes.extend(unmoved);
    work.carry_out(changes, |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// Declared entries stand in one row at most: the other rows that hold those that this one gets lose them.
fn taken_over(work: &Work<'_>, resource: &Resource, set: &[(Name, Input)], own: i64) -> Result<Vec<Change>, ApiError> {
    let mut changes = Vec::new();
    for property in resource.properties.iter().filter(|p| p.among.is_some()) {
        let column = property.column.as_ref();
        let Some((column, Input::Value(gets))) = set.iter().find(|(c, _)| Some(c) == column) else { continue };
        let gets = records::split_words(records::text(gets));
        if gets.is_empty() {
            continue;
        }
        let others = Cond::All(vec![
            records::own_rows(resource),
            Cond::Compare(name("id"), Op::Ne, DbValue::Int(own)),
            Cond::Compare(column.clone(), Op::Ne, txt("")),
        ]);
        for row in work.scope.snapshot()?.rows(&records::plan(resource, others))? {
            let other = Record { resource, row: &row };
            let held = records::split_words(other.text(&property.name));
            let kept = held.iter().filter(|word| !gets.contains(word)).map(|word| &**word);
            if held.iter().any(|word| gets.contains(word)) {
                changes.push(Change::Put(Put {
                    table: resource.table.clone(),
                    target: Target::Existing { key: other.value("id").clone(), expect: other.version() },
                    set: vec![(column.clone(), Input::Value(txt(&records::join_words(kept))))],
                    slug: None,
                    edges: Vec::new(),
                    meta: Vec::new(),
                    revision: None,
                }));
            }
        }
    }
    Ok(changes)
}

/// No other term below the same parent has the name.
fn unlike(resource: &Resource, title: &str, parent: i64, own: i64) -> Change {
    let same_name = Cond::All(vec![
        records::own_rows(resource),
        eq("name_key", txt(&slug::title_key(title))),
        eq("parent", DbValue::Int(parent)),
        Cond::Compare(name("id"), Op::Ne, DbValue::Int(own)),
    ]);
    Change::Require { plan: records::columns("term", &["id"], same_name), found: false, tag: "term_exists" }
}

/// Deletes a term: children move up, records that are left without a term get the default one.
///
/// # Errors
/// It is the default term.
pub async fn remove(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value("id").clone();
    let default = resource.declared.default_setting.as_deref().map_or(0, |s| work.scope.settings.int(s));
    if default == record.id() {
        return Err(ApiError::new(Code::CannotDeleteStored).with_message("The default term stays.").into());
    }
    let children = Cond::All(vec![records::own_rows(resource), eq("parent", DbValue::Int(record.id()))]);
    let mut changes = vec![Change::UpdateWhere {
        table: resource.table.clone(),
        filter: children,
        set: vec![(name("parent"), DbValue::Int(record.int("parent")))],
    }];
    changes.extend(pointing(&work.scope.registry, resource, &key).into_iter().map(|change| match change {
        Change::Unlink { rel, dst, .. } => Change::Unlink { rel, dst, instead: (default != 0).then_some(default) },
        change => change,
    }));
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
        Refusal::Stale => failure(resource, Code::TermInvalid),
        Refusal::Rule { tag: "term_exists", row } => {
            let id = row.and_then(|row| row.first().map(int)).unwrap_or(0);
            failure(resource, Code::TermExists).with("term_id", json!(id))
        }
        Refusal::Rule { tag: "duplicate_term_slug", .. } => failure(resource, Code::DuplicateTermSlug),
        Refusal::Rule { tag: lineage::MOVED, .. } => ApiError::new(Code::Busy),
        Refusal::Rule { tag, .. } => work.scope.internal(&format!("no answer for refusal {tag}")),
    }
}

/// A name is text, kept as the HTML that shows it; what is encoded already stays.
fn shown_name(given: &str) -> String {
    sanitize::esc_text(&sanitize::sanitize_text_field(given))
}

fn columns(work: &Work<'_>, resource: &Resource, title: &str, parent: i64) -> Result<Vec<(Name, Input)>, ApiError> {
    let mut set = vec![
        (name("name"), Input::Value(txt(title))),
        (name("name_key"), Input::Value(txt(&slug::title_key(title)))),
        (name("parent"), Input::Value(DbValue::Int(parent))),
    ];
    if let Some(description) = work.allowed.args().given("description").and_then(Value::as_str) {
        let clean = html_policy::sanitise(description, Policy::phrases());
        set.push((name("description"), Input::Value(txt(&clean))));
    }
    // What the taxonomy declares for itself.
    for property in resource.properties.iter().filter(|p| !p.readonly) {
        let own = property.column.as_ref().is_some_and(|column| column.contains('.'));
        if let Some(value) = work.allowed.args().given(&property.name).filter(|_| own)
            && let Some((column, value)) = stored(work, resource, property, value)?
        {
            set.push((column, Input::Value(value)));
        }
    }
    Ok(set)
}

/// The parent asked for, and what has to hold of the terms above it: one that exists; below itself, a term goes to the
/// top.
fn parent(work: &Work<'_>, resource: &Resource, own: i64) -> Result<Option<(i64, Vec<Change>)>, ApiError> {
    if !resource.declared.hierarchical && work.sources().get("parent").is_some() {
        return Err(ApiError::new(Code::TaxonomyNotHierarchical));
    }
    let Some(wanted) = work.allowed.args().given("parent").and_then(Value::as_i64) else { return Ok(None) };
    if wanted == 0 {
        return Ok(Some((0, Vec::new())));
    }
    if records::find(&*work.scope.snapshot()?, resource, &DbValue::Int(wanted))?.is_none() {
        return Err(ApiError::new(Code::TermInvalid).with_status(400).with_message("The parent does not exist."));
    }
    let above = lineage::above(work, &resource.table, own, wanted)?;
    if above.looped {
        return Ok(Some((0, Vec::new())));
    }
    Ok(Some((wanted, above.unmoved(&resource.table).collect())))
}

/// The slug wanted; below a parent, a taken one takes the parent's slugs before it takes a number.
fn claim(
    work: &Work<'_>,
    resource: &Resource,
    given: Option<String>,
    title: &str,
    parent: i64,
) -> Result<SlugClaim, ApiError> {
    let base = given.unwrap_or_else(|| slug::sanitize_title(title));
    let base = if base.is_empty() { SlugClaim::ID.to_owned() } else { base };
    let mut candidates: Vec<Arc<str>> = vec![base.as_str().into()];
    let snapshot = work.scope.snapshot()?;
    let (mut above, mut longer) = (parent, base);
    while above != 0 && candidates.len() < 20 {
        let Some(row) = records::find(&*snapshot, resource, &DbValue::Int(above))? else { break };
        let record = Record { resource, row: &row };
        let end = format!("-{}", record.text("slug"));
        // Nothing of its own would be left.
        if end.len() >= slug::MAX_SLUG {
            break;
        }
        longer = slug::with_end(&longer, &end);
        candidates.push(longer.as_str().into());
        above = record.int("parent");
    }
    Ok(SlugClaim { column: name("slug"), scope: Some(resource.kind.clone()), candidates, refuse: None })
}
