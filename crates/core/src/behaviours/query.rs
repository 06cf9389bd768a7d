//! Behaviours that turn an argument into a condition on rows.

use super::{QueryBehaviour, QueryContext};
use crate::access::policy;
use crate::error::{ApiError, Code};
use crate::records::{self, columns, eq, is_in, never, txt, words};
use crate::registry::args::{Arg, Filter};
use crate::registry::name;
use crate::registry::resource::{ColumnClock, Resource};
use crate::registry::vocabulary::{BehaviourEntry, ListEffect, ROWS};
use crate::registry::vocabulary::{COMMENTS, CONTENT, TAXONOMY, USERS};
use crate::registry::words::SizesWord;
use crate::scope::Scope;
use cms_declaration::Action;
use cms_schema::ParamFailure;
use cms_schema::Reason;
use cms_storage::plan::{Cond, DbValue, Op};
use cms_text::{slug, time};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

const fn query(name: &'static str, run: QueryBehaviour, doc: &'static str) -> BehaviourEntry<QueryBehaviour> {
    BehaviourEntry::new(name, run, doc)
}

/// Every query behaviour by name.
pub const QUERIES: &[BehaviourEntry<QueryBehaviour>] = &[
    query("status", status, "Records in one of these statuses; `any` is every listed one.")
        .on(CONTENT)
        .effect(ListEffect::States),
    query("terms", terms, "Records with one of these terms, or all of them.")
        .on(CONTENT)
        .effect(ListEffect::Terms)
        .options(&[("to", "The taxonomy's resource."), ("exclude", "`true`: records without the terms.")]),
    query("sticky", sticky, "Sticky records, or the others.").on(CONTENT).effect(ListEffect::Content),
    query("format", format, "Records of these post formats; `standard` are those without one.")
        .on(CONTENT)
        .effect(ListEffect::Content),
    query("slug", slugs, "Rows with one of these slugs.").on(ROWS),
    query("date", date, "Rows before or after a date and time.")
        .options(&[("column", "The column that is compared."), ("op", "`lt` (default), `le`, `gt` or `ge`.")]),
    query("term_post", term_post, "Terms of this record.").on(TAXONOMY),
    query("hide_empty", hide_empty, "Terms that published records have, and the terms above them.")
        .on(TAXONOMY)
        .effect(ListEffect::HidesEmpty),
    query("user_roles", user_roles, "Users with one of these roles.").on(USERS),
    query("user_capabilities", user_capabilities, "Users with all of these capabilities.").on(USERS),
    query("who", who, "`authors`: users who may write records.").on(USERS).effect(ListEffect::Authors),
    query("published_authors", published_authors, "`true`, or a list of types: users who have published such records.")
        .on(USERS),
    query("file_types", file_types, "Files of these classes (`image`) and MIME types (`image/png`).")
        .on(CONTENT)
        .options(&[
            ("other", "The argument that gives the rest of the types."),
            ("second", "`true`: the other argument decides for both where it is given."),
        ]),
    query("comment_status", comment_status, "Comments in this status; `all` is every one that is not removed.")
        .on(COMMENTS),
    query("comment_type", comment_type, "Comments of this type; `pings` is pingbacks and trackbacks.").on(COMMENTS),
    query(
        "language",
        language,
        "Rows in this language; an unknown one is the default, and an empty text is every one.",
    )
    .on(ROWS),
    query("meta", meta, "Rows with this value, or one of several, under a meta key.")
        .example(r#""colour": {"type": "string", "x-filter": {"query": "meta", "key": "colour"}}"#)
        .on(ROWS)
        .options(&[("key", "The meta key.")]),
];

/// The effect of an argument on its list.
pub fn effect(arg: &Arg) -> Option<ListEffect> {
    match &arg.filter {
        Some(Filter::Query { behaviour, .. }) => QUERIES[behaviour.0].is.effect,
        _ => None,
    }
}

/// The check of an argument before its schema checks it; `None` when it is left to that.
pub fn check_argument(
    scope: &Scope,
    resource: Option<&Resource>,
    arg: &Arg,
    value: &Value,
) -> Option<Result<(), Box<ParamFailure>>> {
    if let Some(word) = &arg.sizes {
        return sizes(scope, word, &arg.name, value);
    }
    let resource = resource.filter(|_| effect(arg) == Some(ListEffect::States))?;
    Some(states(scope, resource, arg, value))
}

/// Whether every name is that of a size, or one that the argument's declaration adds.
fn sizes(scope: &Scope, word: &SizesWord, arg: &str, value: &Value) -> Option<Result<(), Box<ParamFailure>>> {
    let declared = &scope.registry.declaration.media.sizes;
    let listed = |name: &str| declared.contains_key(name) || word.also.iter().any(|also| also == name);
    let fits = match value {
        Value::String(name) => name.is_empty() || listed(name) || word.alone.contains(name),
        Value::Array(list) => list.iter().all(|name| name.as_str().is_none_or(|name| name.is_empty() || listed(name))),
        _ => return None,
    };
    if fits {
        return Some(Ok(()));
    }
    let names: Vec<&str> = declared.keys().chain(&word.also).chain(&word.alone).map(String::as_str).collect();
    let message = format!("{arg} has to be one of: {}.", names.join(", "));
    Some(Err(Box::new(ParamFailure {
        name: arg.to_owned(),
        message,
        reason: Some(Reason::Enum.as_str()),
        data: Value::Null,
    })))
}

type QueryResult = Result<Option<Cond>, ApiError>;

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        Value::String(text) => vec![text],
        _ => Vec::new(),
    }
}

fn ids(value: &Value) -> Vec<i64> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_i64).map(i64::saturating_abs).collect(),
        Value::Number(n) => n.as_i64().map(i64::saturating_abs).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Every caller may request what the list shows anyway; any other state is for callers who may edit such records.
fn states(scope: &Scope, resource: &Resource, arg: &Arg, value: &Value) -> Result<(), Box<ParamFailure>> {
    let caller = &scope.principal;
    if caller.can(resource.capability(Action::Edit)) {
        return Ok(());
    }
    let usual = arg.default.as_ref().map(texts).unwrap_or_default();
    let separates = |c: char| c == ',' || c.is_ascii_whitespace();
    for status in texts(value).into_iter().flat_map(|t| t.split(separates)).filter(|s| !s.is_empty()) {
        let status = arg.aliases.iter().find(|(_, public)| public == status).map_or(status, |(stored, _)| stored);
        let private = scope.registry.status(status).is_some_and(|s| s.private);
        let may = usual.contains(&status) || (private && caller.can(resource.capability(Action::ReadPrivate)));
        if !may {
            let refusal = caller.refuse(Code::ForbiddenStatus);
            return Err(Box::new(ParamFailure {
                name: arg.name.clone(),
                message: refusal.message().to_owned(),
                reason: Some(refusal.code().as_str()),
                data: json!({"status": refusal.status()}),
            }));
        }
    }
    Ok(())
}

/// States of records (see [`states`]).
fn status(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let declared = &asked.scope.registry.declaration;
    let mut wanted = Vec::new();
    for status in texts(value) {
        if status == "any" {
            // Whatever people see as a state of a record, and what takes its parent's.
            let any = declared.statuses_where(|s| s.listed || s.inherits);
            wanted.extend(any);
        } else {
            wanted.push(status);
        }
    }
    if wanted.is_empty() {
        // Nothing named is the usual.
        wanted.extend(asked.usual.map(texts).unwrap_or_default());
    }
    Ok((!wanted.is_empty()).then(|| words("status", wanted)))
}

/// Rows in a language.
fn language(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let Some(languages) = &asked.scope.registry.languages else { return Ok(None) };
    let Some(column) = asked.resource.plan_column(&languages.column) else { return Ok(None) };
    let text = value.as_str().unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(languages.rows(&column, text)))
}

/// Records that carry terms: a list of ids, or an object with `terms`, `operator` and `include_children`.
fn terms(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let to = asked.params.get("to").and_then(Value::as_str).unwrap_or_default();
    let registry = &asked.scope.registry;
    let relation = asked.resource.relations.iter().find(|r| registry.resources[r.to].name == to);
    let Some(relation) = relation else { return Ok(None) };
    let exclude = asked.params.get("exclude") == Some(&json!(true));
    let list = value.get("terms").unwrap_or(value);
    let wanted = ids(list);
    if wanted.is_empty() {
        return Ok(None);
    }
    let children = value.get("include_children").and_then(Value::as_bool).unwrap_or(false);
    let all = value.get("operator").and_then(Value::as_str) == Some("AND");
    let groups: Vec<Vec<i64>> = if all { wanted.into_iter().map(|t| vec![t]).collect() } else { vec![wanted] };
    let mut conditions = Vec::new();
    for mut group in groups {
        if children {
            group = with_descendants(asked, &registry.resources[relation.to], group)?;
        }
        conditions.push(match asked.resource.plan_column(&relation.property) {
            Some(column) if relation.is_column() => Cond::In(column, group.into_iter().map(DbValue::Int).collect()),
            _ => Cond::Linked { rel: relation.rel.clone(), dst: group },
        });
    }
    let carried = if conditions.len() == 1 { conditions.remove(0) } else { Cond::All(conditions) };
    Ok(Some(if exclude { Cond::Not(Box::new(carried)) } else { carried }))
}

/// Rows with a value, or one of several, under the meta key that the declaration names.
fn meta(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let Some(key) = asked.params.get("key").and_then(Value::as_str) else { return Ok(None) };
    // An import stores every value as a text.
    let spelled = |one: &Value| {
        let text = match one {
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(if *flag { "1" } else { "" }.to_owned()),
            _ => None,
        };
        let text = text.map(|text| txt(&Value::String(text).to_string()));
        std::iter::once(txt(&one.to_string())).chain(text).collect::<Vec<_>>()
    };
    let wanted = match value {
        Value::Array(list) => list.iter().flat_map(spelled).collect(),
        one => spelled(one),
    };
    let filter = vec![
        eq("space", DbValue::Text(records::meta_space(asked.resource))),
        eq("key", txt(key)),
        Cond::In(name("json"), wanted),
    ];
    Ok(Some(Cond::Related {
        table: name("meta"),
        inner: name("id"),
        outer: asked.resource.key.clone(),
        filter: Box::new(Cond::All(filter)),
    }))
}

fn with_descendants(asked: &QueryContext<'_>, taxonomy: &Resource, mut found: Vec<i64>) -> Result<Vec<i64>, ApiError> {
    let snapshot = asked.scope.snapshot()?;
    let mut level = found.clone();
    while !level.is_empty() {
        let filter = Cond::All(vec![records::own_rows(taxonomy), is_in("parent", level)]);
        level = snapshot.rows_as(&columns(&taxonomy.table, &["id"], filter))?;
        level.retain(|id| !found.contains(id));
        found.extend(&level);
    }
    Ok(found)
}

fn sticky(_: &QueryContext<'_>, value: &Value) -> QueryResult {
    Ok(value.as_bool().map(|sticky| eq("sticky", DbValue::Int(i64::from(sticky)))))
}

/// Formats; `standard` is the absence of one.
fn format(_: &QueryContext<'_>, value: &Value) -> QueryResult {
    let wanted = texts(value);
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut any = vec![words("format", wanted.iter().copied())];
    if wanted.contains(&"standard") {
        any.push(Cond::IsNull(name("format")));
    }
    Ok(Some(Cond::Any(any)))
}

fn slugs(_: &QueryContext<'_>, value: &Value) -> QueryResult {
    let wanted = texts(value);
    if wanted.is_empty() {
        return Ok(None);
    }
    Ok(Some(Cond::In(name("slug"), wanted.into_iter().map(|s| txt(&slug::sanitize_title(s))).collect())))
}

/// A comparison with a moment, by the clock that the column counts.
fn date(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let param = |key: &str| asked.params.get(key).and_then(Value::as_str).unwrap_or_default();
    let Some(parsed) = value.as_str().and_then(time::parse_datetime) else { return Ok(None) };
    let (local, utc) = parsed.in_zone(&asked.scope.settings.zone);
    let column = asked.resource.plan_column(param("column")).unwrap_or_else(|| name(param("column")));
    let moment = if asked.resource.clock(&column) == Some(ColumnClock::Utc) { utc } else { local };
    let op = match param("op") {
        "gt" => Op::Gt,
        "ge" => Op::Ge,
        "le" => Op::Le,
        _ => Op::Lt,
    };
    Ok(Some(Cond::Compare(column, op, DbValue::Int(moment))))
}

/// Terms that a record carries.
fn term_post(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let Some(post) = value.as_i64().filter(|post| *post != 0) else { return Ok(None) };
    let preview = asked.scope.preview.as_deref().filter(|preview| preview.id == post);
    let linked = |rel| match preview.and_then(|preview| preview.edges.get(&rel)) {
        Some(ends) => is_in("id", ends.iter().copied()),
        None => Cond::LinkedFrom { rel, src: vec![post] },
    };
    let mut any: Vec<Cond> = relations_to(asked).map(linked).collect();
    for other in &asked.scope.registry.resources {
        // Kinds whose records carry one term at most, in a column.
        let single = other.relations.iter().find(|r| r.is_column() && r.to == asked.resource.index);
        if let Some(index) = single.and_then(|relation| other.column(&relation.property))
            && let Some(row) = records::find(&*asked.scope.snapshot()?, other, &DbValue::Int(post))?
        {
            let row = asked.scope.previewed(other, post).map_or(&row, |preview| &preview.row);
            any.push(eq("id", row[index].clone()));
        }
    }
    Ok(Some(Cond::Any(any)))
}

fn relations_to<'a>(asked: &QueryContext<'a>) -> impl Iterator<Item = cms_storage::plan::Name> + use<'a> {
    let to = asked.resource.index;
    let all = asked.scope.registry.resources.iter().flat_map(|r| &r.relations);
    all.filter(move |r| r.is_list() && r.to == to).map(|r| r.rel.clone())
}

/// Terms that published records carry, and those above them.
fn hide_empty(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    if value.as_bool() != Some(true) {
        return Ok(None);
    }
    let used = Cond::Compare(name("count"), Op::Gt, DbValue::Int(0));
    if !asked.resource.declared.hierarchical {
        return Ok(Some(Cond::Any(std::iter::once(used).chain(used_by_column(asked)).collect())));
    }
    let snapshot = asked.scope.snapshot()?;
    let table = &asked.resource.table;
    let terms = columns(table, &["id", "parent", "count"], records::own_rows(asked.resource));
    let terms: Vec<(i64, i64, i64)> = snapshot.rows_as(&terms)?;
    let parents: HashMap<i64, i64> = terms.iter().map(|(id, parent, _)| (*id, *parent)).collect();
    let mut kept = HashSet::new();
    for (id, ..) in terms.iter().filter(|(.., count)| *count > 0) {
        let mut term = *id;
        while term != 0 && kept.insert(term) {
            term = parents.get(&term).copied().unwrap_or(0);
        }
    }
    Ok(Some(is_in("id", kept)))
}

/// Terms that published records of kinds carry which have one term at most, in a column.
fn used_by_column(asked: &QueryContext<'_>) -> Vec<Cond> {
    let of_kind = |other: &Resource| {
        let single = other.relations.iter().find(|r| r.is_column() && r.to == asked.resource.index)?;
        let column = other.plan_column(&single.property)?;
        let (table, inner) = column.split_once('.')?;
        Some(Cond::Related {
            table: name(table),
            inner: name(inner),
            outer: asked.resource.key.clone(),
            filter: Box::new(Cond::Related {
                table: other.table.clone(),
                inner: other.key.clone(),
                outer: other.key.clone(),
                filter: Box::new(Cond::All(vec![records::own_rows(other), policy::published(asked.scope)])),
            }),
        })
    };
    asked.scope.registry.content_types().filter_map(of_kind).collect()
}

fn has_one_of<'w>(column: &str, words: impl Iterator<Item = &'w str>) -> Cond {
    Cond::Any(words.map(|w| Cond::HasWord(name(column), w.into())).collect())
}

fn user_roles(_: &QueryContext<'_>, value: &Value) -> QueryResult {
    let wanted = texts(value);
    Ok((!wanted.is_empty()).then(|| has_one_of("roles", wanted.into_iter())))
}

/// Users whose roles have every one of these capabilities.
fn user_capabilities(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let wanted = texts(value);
    if wanted.is_empty() {
        return Ok(None);
    }
    Ok(Some(Cond::All(wanted.into_iter().map(|capability| with_capability(asked, &[capability])).collect())))
}

fn with_capability(asked: &QueryContext<'_>, any_of: &[&str]) -> Cond {
    let roles = asked.scope.settings.roles.iter();
    let able = roles.filter(|(_, role)| any_of.iter().any(|c| role.capabilities.contains(*c)));
    has_one_of("roles", able.map(|(name, _)| name))
}

/// `authors`: users who may write.
fn who(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    if value.as_str() != Some("authors") {
        return Ok(None);
    }
    let content = asked.scope.registry.content_types().filter(|r| r.supports("author"));
    let needed: Vec<&str> = content.map(|r| r.capability(Action::Edit)).collect();
    Ok(Some(with_capability(asked, &needed)))
}

/// True, or a list of kinds: users who have published such records.
fn published_authors(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let registry = &asked.scope.registry;
    Ok(match value {
        Value::Bool(true) => Some(policy::published_authors(asked.scope, None)),
        Value::Array(list) if !list.is_empty() => {
            let kinds = list.iter().filter_map(Value::as_str).filter_map(|w| registry.resource_by_api_name(w));
            let kinds: Vec<&str> = kinds.map(|r| &*r.kind).collect();
            Some(if kinds.is_empty() { never() } else { policy::published_authors(asked.scope, Some(kinds)) })
        }
        _ => None,
    })
}

/// Classes of MIME types (`image`, `video`, …) and exact ones: files of any of them. The two arguments name each other
/// (`other`), and the one that is evaluated first covers both.
fn file_types(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let other = asked.params.get("other").and_then(Value::as_str).unwrap_or_default();
    let both = [Some(value), asked.args.get(other)];
    let given = |value: &Value| !texts(value).is_empty();
    let (classes, exact): (Vec<&str>, Vec<&str>) =
        both.into_iter().flatten().flat_map(texts).filter(|t| !t.is_empty()).partition(|t| !t.contains('/'));
    if asked.params.contains_key("second") && asked.args.get(other).is_some_and(given) {
        return Ok(None);
    }
    let taken = &asked.scope.registry.declaration.media.types;
    // Types that no file here can have count for nothing.
    let exact: Vec<&str> = exact.into_iter().filter(|t| taken.get(*t).is_some_and(|t| t.enabled)).collect();
    let classes: Vec<&str> = classes.into_iter().filter(|c| CLASSES.contains(c)).collect();
    if classes.is_empty() && exact.is_empty() {
        return Ok(None);
    }
    // Every type of a class is between `class/` and `class0`, the character after the slash.
    let within = |class: &&str| {
        Cond::All(vec![
            Cond::Compare(name("mime"), Op::Ge, txt(&format!("{class}/"))),
            Cond::Compare(name("mime"), Op::Lt, txt(&format!("{class}0"))),
        ])
    };
    let mut any: Vec<Cond> = classes.iter().map(within).collect();
    if !exact.is_empty() {
        any.push(Cond::In(name("mime"), exact.into_iter().map(txt).collect()));
    }
    Ok(Some(Cond::Any(any)))
}

/// Classes of MIME types.
const CLASSES: [&str; 7] = ["application", "audio", "font", "image", "model", "text", "video"];

/// States of comments; `all` leaves out what was removed.
fn comment_status(asked: &QueryContext<'_>, value: &Value) -> QueryResult {
    let registry = &asked.scope.registry;
    Ok(Some(match value.as_str().unwrap_or_default() {
        "" | "all" | "any" => words("status", registry.declaration.comment_statuses_where(|status| !status.removed)),
        word => registry.comment_status_called(word).map_or_else(never, |status| words("status", [status])),
    }))
}

/// Types of comments, some of them by a name for several.
fn comment_type(_: &QueryContext<'_>, value: &Value) -> QueryResult {
    Ok(match value.as_str().unwrap_or_default() {
        "" | "all" => None,
        "comment" | "comments" => Some(words("kind", ["comment"])),
        "pings" => Some(words("kind", ["pingback", "trackback"])),
        other => Some(words("kind", [other])),
    })
}
