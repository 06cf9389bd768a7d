//! Writes of the content family: dates, states, slugs, trash, revisions.
//!
//! Contract: "Block", "States and transitions"; where the document is silent, the recorded behaviour.

use super::files::keep;
use super::lineage;
use super::plain::{check_reference, pointing, related, stored};
use super::{Refusal, Work};
use crate::access::{failure, policy};
use crate::args::Checked;
use crate::behaviours::{WRITES, WriteContext, address};
use crate::config::declaration::Family;
use crate::error::{ApiError, Code, ParamFailure};
use crate::prepare::Batch;
use crate::records::{self, Record, eq, int, text, txt};
use crate::registry::resource::{Property, Resource, Source};
use crate::registry::{Registry, name};
use crate::storage::plan::{
    Change, Cond, DbValue, EdgePlan, Input, Name, Piece, Put, RevisionPut, Row, SlugClaim, Target, WritePlan,
};
use crate::text::{slug, time};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Values by meta key, as JSON text.
pub type MetaValues = Vec<(Name, Vec<Arc<str>>)>;

/// What a file brings to the record that stands for it, where the request says nothing else.
#[derive(Default)]
pub struct FileDefaults {
    /// Texts by column.
    pub texts: Vec<(&'static str, String)>,
    /// Address of the file as it is now: the identifier of the record for ever.
    pub guid: String,
    /// Members of `extra`.
    pub extra: Map<String, Value>,
    /// What else is written in the same commit; the record is its first put.
    pub changes: Vec<Change>,
}

/// What a record is about to be: its columns, in part from the request, in part as they were.
struct Draft<'a> {
    resource: &'a Resource,
    before: Option<&'a Row>,
    set: HashMap<String, DbValue>,
    /// Columns of the extension table.
    extension: Vec<(Name, DbValue)>,
    extra: Option<Map<String, Value>>,
    edges: Vec<(Name, Vec<i64>)>,
    meta: MetaValues,
    /// A new record's identifier; empty: its address.
    guid: String,
    /// What has to hold of the records above.
    unmoved: Vec<Change>,
}

impl<'a> Draft<'a> {
    /// A record that stays as it is.
    fn unchanged(resource: &'a Resource, row: &'a Row) -> Draft<'a> {
        Draft { before: Some(row), ..Draft::empty(resource) }
    }

    fn empty(resource: &'a Resource) -> Draft<'a> {
        Draft {
            resource,
            before: None,
            set: HashMap::new(),
            extension: Vec::new(),
            extra: None,
            edges: Vec::new(),
            meta: Vec::new(),
            guid: String::new(),
            unmoved: Vec::new(),
        }
    }

    /// The column's coming value.
    fn get(&self, column: &str) -> DbValue {
        let own =
            || self.extension.iter().rev().find(|(name, _)| name.split_once('.').is_some_and(|(_, c)| c == column));
        match (self.set.get(column).or_else(|| own().map(|(_, value)| value)), self.before) {
            (Some(value), _) => value.clone(),
            (None, Some(row)) => Record { resource: self.resource, row }.value(column).clone(),
            (None, None) => DbValue::Null,
        }
    }

    fn text(&self, column: &str) -> String {
        text(&self.get(column)).to_owned()
    }

    fn int(&self, column: &str) -> i64 {
        int(&self.get(column))
    }

    fn put(&mut self, column: &str, value: DbValue) {
        self.set.insert(column.to_owned(), value);
    }

    fn before_text(&self, column: &str) -> &str {
        self.before.map_or("", |row| Record { resource: self.resource, row }.text(column))
    }
}

/// Inserts a record; its key.
///
/// # Errors
/// The rules of the family.
pub async fn create(work: &Work<'_>, resource: &Resource) -> Result<DbValue, ApiError> {
    create_for_file(work, resource, FileDefaults::default()).await
}

/// Inserts a record that stands for a file; its key.
///
/// # Errors
/// As [`create`].
pub async fn create_for_file(work: &Work<'_>, resource: &Resource, brought: FileDefaults) -> Result<DbValue, ApiError> {
    let mut draft = draft(work, resource, None)?;
    for (column, value) in &brought.texts {
        if draft.text(column).is_empty() {
            let value = as_if_sent(work, resource, column, value)?;
            draft.put(column, value);
        }
    }
    if !brought.extra.is_empty() {
        let given = draft.extra.take().unwrap_or_default();
        draft.extra = Some(brought.extra.into_iter().chain(given).collect());
    }
    draft.guid = brought.guid;
    let put = finish(work, &mut draft, Target::New)?;
    let mut changes = vec![Change::Put(put)];
    changes.append(&mut draft.unmoved);
    changes.extend(brought.changes);
    let done = work.commit(WritePlan { changes }).await;
    let done = done.map_err(|refusal| answer(work, resource, refusal))?;
    done.puts.into_iter().next().map(|put| put.key).ok_or_else(|| ApiError::new(Code::Internal))
}

/// What a text that a file brings is stored as: what the caller's own text would be, where a client may write the column.
fn as_if_sent(work: &Work<'_>, resource: &Resource, column: &str, value: &str) -> Result<DbValue, ApiError> {
    let writes = |property: &Property| match &property.source {
        Source::Object(children) => children.iter().any(|c| !c.readonly && c.column.as_deref() == Some(column)),
        _ => property.column.as_deref() == Some(column),
    };
    let property = resource.properties.iter().find(|property| !property.readonly && writes(property));
    let written = property.map(|property| stored(work, resource, property, &json!(value))).transpose()?.flatten();
    Ok(written.map_or_else(|| txt(value), |(_, value)| value))
}

/// Changes a record.
///
/// # Errors
/// The rules of the family.
pub async fn update(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    change(work, resource, row, true).await
}

/// Changes a record and keeps nothing of what it was.
///
/// # Errors
/// As an update.
pub async fn overwrite(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    change(work, resource, row, false).await
}

async fn change(work: &Work<'_>, resource: &Resource, row: &Row, keep: bool) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value("id").clone();
    let mut draft = draft(work, resource, Some(row))?;
    let target = Target::Existing { key: key.clone(), expect: Some(record.int("version")) };
    let mut put = finish(work, &mut draft, target)?;
    put.revision = if keep { revision(work, &draft) } else { None };
    let mut changes = vec![Change::Put(put)];
    changes.append(&mut draft.unmoved);
    work.carry_out(changes, |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// Moves a record to the trash, from where it can come back.
///
/// # Errors
/// It is there already.
pub async fn trash(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value("id").clone();
    if record.text("status") == "trash" {
        return Err(ApiError::new(Code::AlreadyTrashed).into());
    }
    let own = record.text("slug");
    let put = Put {
        table: resource.table.clone(),
        target: Target::Existing { key: key.clone(), expect: Some(record.int("version")) },
        set: values([
            ("status", txt("trash")),
            ("status_before", txt(record.text("status"))),
            ("slug_before", txt(own)),
            ("trashed_at", DbValue::Int(work.scope.now)),
            ("modified_local", DbValue::Int(work.scope.local_now())),
            ("modified_utc", DbValue::Int(work.scope.now)),
        ]),
        slug: Some(SlugClaim {
            column: name("slug"),
            scope: Some(scope_of(resource, record.int("parent"))),
            candidates: vec![slug::with_end(own, "__trashed").into()],
            refuse: None,
        }),
        edges: missing_terms(work, resource, Some(row), &[])?,
        meta: Vec::new(),
        revision: revision(work, &Draft::unchanged(resource, row)),
    };
    work.carry_out(vec![Change::Put(put)], |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// Deletes a record for good, with its comments; its children and what hangs on it move up.
///
/// # Errors
/// Another record points to it and its relation refuses.
pub async fn remove(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let changes = removal(&work.scope.registry, record);
    work.carry_out(changes, |refusal| answer(work, resource, refusal)).await?;
    Ok(record.value("id").clone())
}

/// What the deletion of a record for good is made of.
pub fn removal(registry: &Registry, record: Record<'_>) -> Vec<Change> {
    let resource = record.resource;
    let (key, id) = (record.value("id").clone(), record.id());
    let children = Cond::All(vec![records::own_rows(resource), eq("parent", DbValue::Int(id))]);
    let hanging = registry.family(Family::Content).filter(|r| r.supports("attached")).map(|r| &*r.kind);
    let hanging = Cond::All(vec![records::words("kind", hanging), eq("parent", DbValue::Int(id))]);
    // First of all, while its version is still the expected one: what is counted in the row would raise it.
    let mut changes = vec![
        Change::Remove { table: resource.table.clone(), key: key.clone(), expect: Some(record.int("version")) },
        Change::UpdateWhere {
            table: resource.table.clone(),
            filter: Cond::Any(vec![children, hanging]),
            set: vec![(name("parent"), DbValue::Int(record.int("parent")))],
        },
        Change::RemoveWhere { table: name("comment"), filter: eq("post", DbValue::Int(id)) },
    ];
    changes.extend(pointing(registry, resource, &key));
    changes
}

fn answer(work: &Work<'_>, resource: &Resource, refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::Error(error) => error,
        Refusal::Stale => failure(resource, Code::PostInvalidId),
        Refusal::Rule { tag: "pointed_to", .. } => {
            ApiError::new(Code::CannotDeleteStored).with_message("Other items point to this one.").with_status(409)
        }
        Refusal::Rule { tag: "duplicate" | "key_taken", .. } => ApiError::new(Code::DuplicateValue),
        Refusal::Rule { tag: keep::SWEPT | lineage::MOVED, .. } => ApiError::new(Code::Busy),
        Refusal::Rule { tag, .. } => work.scope.internal(&format!("no answer for refusal {tag}")),
    }
}

// ------------------------------------------------------------------------------------------------ what was asked for

fn draft<'a>(work: &Work<'_>, resource: &'a Resource, before: Option<&'a Row>) -> Result<Draft<'a>, ApiError> {
    let mut draft = Draft { before, ..Draft::empty(resource) };
    let args = work.allowed.args();
    for property in resource.properties.iter().filter(|p| !p.readonly) {
        let value = if before.is_none() { args.get(&property.name) } else { args.given(&property.name) };
        let Some(value) = value else { continue };
        // Only `raw` is written; what was rendered may come back beside it, or alone.
        let says_nothing = match value {
            Value::Object(members) => !members.contains_key("raw"),
            Value::Array(list) => list.is_empty(),
            _ => false,
        };
        if says_nothing && matches!(property.source, Source::Object(_)) {
            continue;
        }
        match &property.source {
            Source::Relation(index) => {
                let ids = related(work, resource, property, *index, value)?;
                draft.edges.push((resource.relations[*index].rel.clone(), ids));
            }
            Source::Meta => draft.meta.extend(meta(resource, value)),
            Source::Extra => {
                let stored = || {
                    let text = before.map_or("", |row| Record { resource, row }.text("extra"));
                    serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default()
                };
                let value = match property.write {
                    Some(write) => {
                        json!(text(&WRITES[write.0].1(&WriteContext { scope: work.scope, resource, property }, value)?))
                    }
                    None => value.clone(),
                };
                draft.extra.get_or_insert_with(stored).insert(property.name.clone(), value);
            }
            // Dates, state and slug have rules of their own below.
            Source::Read(..) | Source::Column(_)
                if matches!(
                    property.column.as_deref(),
                    Some("date_local" | "date_utc" | "status" | "slug" | "parent" | "template" | "featured_media")
                ) => {}
            _ => {
                if let Some((column, value)) = stored(work, resource, property, value)? {
                    if column.contains('.') {
                        check_reference(work, resource, property, &value)?;
                    }
                    match column.split_once('.') {
                        Some(_) => draft.extension.push((column, value)),
                        None => draft.put(&column, value),
                    }
                }
            }
        }
    }
    author(work, &mut draft)?;
    state(work, &mut draft)?;
    password(args, &draft)?;
    parent(work, &mut draft)?;
    template(work, &mut draft)?;
    media(work, &mut draft)?;
    stands(work, &draft)?;
    required(&draft)?;
    Ok(draft)
}

/// What the row stands for has to be there, unless its kind is told as well.
fn stands(work: &Work<'_>, draft: &Draft<'_>) -> Result<(), ApiError> {
    let Some(declared) = &draft.resource.declared.reference else { return Ok(()) };
    let (class, kind) = (draft.text(&declared.class), draft.text(&declared.kind));
    if class == declared.archive {
        let known = work.scope.registry.resource_of_kind(&kind).is_some();
        return if known { Ok(()) } else { Err(ApiError::new(Code::PostInvalidType)) };
    }
    let (table, code) = match &class {
        class if *class == declared.record => ("record", Code::PostInvalidId),
        class if *class == declared.term => ("term", Code::TermInvalidId),
        _ => return Ok(()),
    };
    let number = draft.int(&declared.id);
    let there = || {
        let id = eq("id", DbValue::Int(number));
        Ok::<_, ApiError>(records::first(&*work.scope.snapshot()?, table, &["id"], id)?.is_some())
    };
    let hidden = || table == "record" && !unchanged(draft, &declared.id, number) && !readable(work, number);
    let told = || Ok::<_, ApiError>(there()? && !hidden());
    if kind.is_empty() && !told()? { Err(ApiError::new(code).with_status(400)) } else { Ok(()) }
}

/// The registered meta that an argument sets.
pub fn meta(resource: &Resource, value: &Value) -> MetaValues {
    let mut all = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let Some(declared) = resource.declared.meta.get(key) else { continue };
        let values: Vec<Arc<str>> = match (declared.single, value) {
            (_, Value::Null) => Vec::new(),
            (true, value) => vec![value.to_string().into()],
            (false, Value::Array(list)) => list.iter().map(|v| v.to_string().into()).collect(),
            (false, value) => vec![value.to_string().into()],
        };
        all.push((name(key), values));
    }
    all
}

/// What the declaration does not let be empty.
fn required(draft: &Draft<'_>) -> Result<(), ApiError> {
    let holds = |(column, wanted): (&String, &String)| draft.text(column) == *wanted;
    for (required, code) in &draft.resource.not_empty {
        if required.when.iter().all(holds) && draft.text(&required.column).is_empty() {
            return Err(failure(draft.resource, *code));
        }
    }
    Ok(())
}

fn author(work: &Work<'_>, draft: &mut Draft<'_>) -> Result<(), ApiError> {
    // Nobody is no author: what was, or who writes, stays.
    if draft.set.get("author").is_some_and(|given| int(given) == 0) {
        draft.set.remove("author");
    }
    match draft.set.get("author") {
        Some(given) if int(given) != work.scope.principal.id && draft.resource.supports("author") => {
            let users = work.scope.registry.family(Family::User).next();
            let users = users.ok_or_else(|| ApiError::new(Code::Internal))?;
            if records::find(&*work.scope.snapshot()?, users, given)?.is_none() {
                return Err(ApiError::new(Code::InvalidAuthor));
            }
        }
        Some(_) => {}
        None if draft.before.is_none() => draft.put("author", DbValue::Int(work.scope.principal.id)),
        None => {}
    }
    Ok(())
}

/// The state asked for, if the caller may bring a record into it.
fn state(work: &Work<'_>, draft: &mut Draft<'_>) -> Result<(), ApiError> {
    let wanted = draft.resource.properties.iter().find(|p| p.column.as_deref() == Some("status"));
    let args = work.allowed.args();
    let asked = |name: &str| if draft.before.is_none() { args.get(name) } else { args.given(name) };
    let wanted = wanted.and_then(|p| asked(&p.name)).and_then(Value::as_str);
    let before = draft.before_text("status").to_owned();
    if draft.resource.supports("attached") {
        return attached_state(work, draft, wanted);
    }
    let Some(wanted) = wanted.filter(|w| *w != before) else {
        if draft.before.is_none() {
            draft.put("status", txt("draft"));
        }
        return Ok(());
    };
    let caller = &work.scope.principal;
    let declared = work.scope.registry.status(wanted);
    let publishes = wanted == "future" || declared.is_some_and(|s| s.public || s.private);
    if publishes && !caller.can(draft.resource.capability("publish")) {
        return Err(caller.refuse(Code::CannotPublish));
    }
    draft.put("status", txt(wanted));
    Ok(())
}

/// What hangs on other records takes their state; all that can be chosen is to be private.
fn attached_state(work: &Work<'_>, draft: &mut Draft<'_>, wanted: Option<&str>) -> Result<(), ApiError> {
    let private = wanted.filter(|w| work.scope.registry.status(w).is_some_and(|s| s.private));
    match private {
        Some(status) => {
            let caller = &work.scope.principal;
            if !caller.can(draft.resource.capability("publish")) {
                return Err(caller.refuse(Code::CannotPublish));
            }
            draft.put("status", txt(status));
        }
        None if wanted.is_some() || draft.before.is_none() => draft.put("status", txt("inherit")),
        None => {}
    }
    Ok(())
}

fn password(args: &Checked, draft: &Draft<'_>) -> Result<(), ApiError> {
    if !draft.resource.supports("sticky") {
        return Ok(());
    }
    let locks = args.given("password").and_then(Value::as_str).is_some_and(|p| !p.is_empty());
    let sticks = args.given("sticky").and_then(Value::as_bool) == Some(true);
    let locked = !draft.before_text("password").is_empty();
    let stuck = draft.before.is_some_and(|row| Record { resource: draft.resource, row }.int("sticky") != 0);
    if (locks && (sticks || stuck)) || (sticks && locked && args.given("password").is_none()) {
        return Err(ApiError::new(Code::InvalidField).with_message("A record cannot be sticky and have a password."));
    }
    Ok(())
}

fn parent(work: &Work<'_>, draft: &mut Draft<'_>) -> Result<(), ApiError> {
    let Some(property) = draft.resource.properties.iter().find(|p| p.column.as_deref() == Some("parent")) else {
        return Ok(());
    };
    let Some(wanted) = work.allowed.args().given(&property.name).and_then(Value::as_i64) else { return Ok(()) };
    if draft.resource.supports("attached") {
        attachable(work, wanted)?;
        draft.put("parent", DbValue::Int(wanted.max(0)));
        return Ok(());
    }
    if wanted == 0 {
        draft.put("parent", DbValue::Int(0));
        return Ok(());
    }
    let snapshot = work.scope.snapshot()?;
    let found = records::first(&*snapshot, "record", &["id"], eq("id", DbValue::Int(wanted)))?;
    // What the caller may not read is to the caller as if it were not there, unless it is the parent already.
    if found.filter(|_| unchanged(draft, "parent", wanted) || readable(work, wanted)).is_none() {
        return Err(ApiError::new(Code::PostInvalidId).with_status(400).with_message("The parent does not exist."));
    }
    // Below itself, a record stays at the top.
    let own = draft.before.map_or(0, |row| Record { resource: draft.resource, row }.id());
    let above = lineage::above(work, &draft.resource.table, own, wanted)?;
    draft.put("parent", DbValue::Int(if above.looped { 0 } else { wanted }));
    if !above.looped {
        draft.unmoved = above.unmoved(&draft.resource.table).collect();
    }
    Ok(())
}

/// Whether a record has this value in a column already: what comes back as it was is nobody's doing.
fn unchanged(draft: &Draft<'_>, column: &str, wanted: i64) -> bool {
    draft.before.is_some_and(|row| Record { resource: draft.resource, row }.int(column) == wanted)
}

/// Whether the caller may read the record with this number.
fn readable(work: &Work<'_>, id: i64) -> bool {
    policy::parent_content(work.scope, id, "read") == Some(true)
}

/// Files hang on records that do not hang on others themselves. One that does not exist is as good as any.
fn attachable(work: &Work<'_>, wanted: i64) -> Result<(), ApiError> {
    let snapshot = work.scope.snapshot()?;
    let found = records::first(&*snapshot, "record", &["kind"], eq("id", DbValue::Int(wanted)))?;
    let kind = found.as_ref().map(|row| text(&row[0]));
    let attached = kind.and_then(|k| work.scope.registry.resource_of_kind(k)).is_some_and(|r| r.supports("attached"));
    if attached {
        return Err(ApiError::new(Code::InvalidParam).with_message("A file cannot belong to a file."));
    }
    Ok(())
}

/// A template of the active theme, or the one that the record has already.
fn template(work: &Work<'_>, draft: &mut Draft<'_>) -> Result<(), ApiError> {
    let Some(wanted) = work.allowed.args().given("template").and_then(Value::as_str) else { return Ok(()) };
    let themes = &work.scope.registry.declaration.themes;
    let known = themes.values().filter(|t| t.active).any(|t| t.templates.contains_key(wanted));
    if !(wanted.is_empty() || known || wanted == draft.before_text("template")) {
        return Err(ApiError::invalid(vec![ParamFailure {
            name: "template".into(),
            message: "The active theme has no such template.".into(),
            reason: Some(Code::InvalidParam.as_str()),
            data: Value::Null,
        }]));
    }
    draft.put("template", txt(wanted));
    Ok(())
}

/// A picture that exists and that the caller sees; anything else counts as none.
fn media(work: &Work<'_>, draft: &mut Draft<'_>) -> Result<(), ApiError> {
    let Some(wanted) = work.allowed.args().given("featured_media").and_then(Value::as_i64) else { return Ok(()) };
    let kinds = work.scope.registry.family(Family::Content).filter(|r| r.supports("files")).map(|r| &*r.kind);
    let filter = Cond::All(vec![eq("id", DbValue::Int(wanted)), records::words("kind", kinds)]);
    let found = wanted != 0
        && records::first(&*work.scope.snapshot()?, "record", &["id"], filter)?.is_some()
        && (unchanged(draft, "featured_media", wanted) || readable(work, wanted));
    draft.put("featured_media", DbValue::Int(if found { wanted } else { 0 }));
    Ok(())
}

// ------------------------------------------------------------------------------------------------ what follows from it

fn finish(work: &Work<'_>, draft: &mut Draft<'_>, target: Target) -> Result<Put, ApiError> {
    let creating = draft.before.is_none();
    defaults(work, draft);
    if ["title", "content", "excerpt"].iter().all(|column| draft.text(column).trim().is_empty())
        && ["title", "editor", "excerpt"].iter().all(|s| draft.resource.supports(s))
    {
        return Err(ApiError::new(Code::EmptyContent));
    }
    dates(work, draft);
    restore(draft);
    // What only its readers see needs no password beside.
    if work.scope.registry.status(&draft.text("status")).is_some_and(|s| s.private)
        && !draft.text("password").is_empty()
    {
        draft.put("password", txt(""));
    }
    if draft.set.contains_key("title") {
        let key = slug::title_key(&draft.text("title"));
        draft.put("title_key", txt(&key));
    }
    let claim = slug_claim(work, draft);
    default_terms(work, draft)?;
    if creating {
        draft.put("kind", DbValue::Text(draft.resource.kind.clone()));
    }
    let mut set: Vec<(Name, Input)> =
        draft.set.iter().map(|(column, value)| (name(column), Input::Value(value.clone()))).collect();
    set.sort_by(|a, b| a.0.cmp(&b.0));
    set.extend(draft.extension.iter().map(|(column, value)| (column.clone(), Input::Value(value.clone()))));
    if let Some(extra) = &draft.extra {
        set.push((name("extra"), Input::Value(txt(&Value::Object(extra.clone()).to_string()))));
    }
    if creating {
        let own = Input::Value(txt(&draft.guid));
        set.push((name("guid"), if draft.guid.is_empty() { Input::Text(guid(work, draft)?) } else { own }));
    }
    Ok(Put {
        table: draft.resource.table.clone(),
        target,
        set,
        slug: claim,
        edges: std::mem::take(&mut draft.edges),
        meta: std::mem::take(&mut draft.meta),
        revision: None,
    })
}

/// What a new record has when nothing was said: from the schema's `x-default` and `x-default-setting`.
fn defaults(work: &Work<'_>, draft: &mut Draft<'_>) {
    if draft.before.is_some() {
        return;
    }
    let resource = draft.resource;
    for (column, setting) in [("comment_status", "default_comment_status"), ("ping_status", "default_ping_status")] {
        if draft.set.contains_key(column) {
            continue;
        }
        let machinery = if column == "comment_status" { "comments" } else { "trackbacks" };
        let closed = !resource.supports(machinery) || resource.declared.closed_by_default;
        let value = if closed { "closed" } else { work.scope.settings.text(setting) };
        draft.put(column, txt(if value.is_empty() { "closed" } else { value }));
    }
}

/// Dates in the site's zone and in UTC, whether they float, and whether publishing waits for them.
fn dates(work: &Work<'_>, draft: &mut Draft<'_>) {
    let (now, local_now) = (work.scope.now, work.scope.local_now());
    let creating = draft.before.is_none();
    let given = |column: &str| {
        let property = draft.resource.properties.iter().find(|p| p.column.as_deref() == Some(column))?;
        work.allowed.args().given(&property.name)
    };
    let (local, utc) = (given("date_local"), given("date_utc"));
    let zone = &work.scope.settings.zone;
    let parsed = |value: Option<&Value>| value.and_then(Value::as_str).and_then(time::parse_datetime);
    let mut chosen = None;
    if let Some(moment) = parsed(local) {
        let pair = moment.in_zone(zone);
        // A draft that sends its floating date back keeps floating.
        let unchanged = draft.int("date_floats") != 0 && draft.int("date_local") == pair.0;
        chosen = (!unchanged).then_some(pair);
    } else if let Some(moment) = parsed(utc) {
        let utc = moment.as_utc();
        chosen = Some((zone.utc_to_local(utc), utc));
    }
    let reset = local.is_some_and(Value::is_null) || utc.is_some_and(Value::is_null);
    let mut status = draft.text("status");
    let floats_here = work.scope.registry.status(&status).is_some_and(|s| s.date_floating);
    if let Some((local, utc)) = chosen {
        draft.put("date_local", DbValue::Int(local));
        draft.put("date_utc", DbValue::Int(utc));
        draft.put("date_floats", DbValue::Int(0));
    } else if creating || reset || draft.int("date_floats") != 0 {
        draft.put("date_local", DbValue::Int(local_now));
        draft.put("date_utc", DbValue::Int(now));
        draft.put("date_floats", DbValue::Int(i64::from(floats_here)));
    }
    let due = draft.int("date_utc");
    if status == "publish" && due > now {
        status = "future".into();
    } else if status == "future" && due <= now {
        status = "publish".into();
    }
    draft.put("status", txt(&status));
    let modified = if creating { (draft.int("date_local"), due) } else { (local_now, now) };
    draft.put("modified_local", DbValue::Int(modified.0));
    draft.put("modified_utc", DbValue::Int(modified.1));
}

/// Out of the trash, a record gets its slug back.
fn restore(draft: &mut Draft<'_>) {
    if draft.before_text("status") == "trash" && draft.text("status") != "trash" {
        let slug = draft.before_text("slug_before").to_owned();
        draft.put("slug", txt(&slug));
        draft.put("slug_before", txt(""));
        draft.put("status_before", DbValue::Null);
        draft.put("trashed_at", DbValue::Int(0));
    }
}

/// The slug that the record asks for. Drafts write theirs down and claim nothing.
fn slug_claim(work: &Work<'_>, draft: &Draft<'_>) -> Option<SlugClaim> {
    let resource = draft.resource;
    let status = draft.text("status");
    let property = resource.properties.iter().find(|p| p.column.as_deref() == Some("slug"))?;
    let given = work.allowed.args().given(&property.name).and_then(Value::as_str).map(slug::sanitize_title);
    let claims = work.scope.registry.status(&status).is_some_and(|s| s.claims_slug);
    let mut wanted = given.clone().unwrap_or_else(|| draft.text("slug"));
    if status == "pending" && !work.scope.principal.can(resource.capability("publish")) {
        wanted = String::new();
    }
    if wanted.is_empty() && claims {
        wanted = slug::sanitize_title(&draft.text("title"));
    }
    if wanted.is_empty() && claims {
        wanted = SlugClaim::ID.into();
    }
    let moved = draft.before.is_none()
        || given.is_some()
        || draft.set.contains_key("slug")
        || draft.text("status") != draft.before_text("status")
        || draft.set.contains_key("parent")
        || wanted != draft.text("slug");
    if !moved {
        return None;
    }
    let mut candidates = vec![Arc::from(wanted.as_str())];
    if claims && (reserved(&wanted) || reads_as_date(work, resource, &wanted)) {
        candidates = vec![slug::with_suffix(&wanted, 2).into()];
    }
    Some(SlugClaim {
        column: name("slug"),
        scope: claims.then(|| scope_of(resource, draft.int("parent"))),
        candidates,
        refuse: None,
    })
}

fn reads_as_date(work: &Work<'_>, resource: &Resource, slug: &str) -> bool {
    resource.declared.address.as_deref() == Some("permalinks")
        && work.scope.registry.site.permalinks.reads_as_date(slug)
}

/// Last parts of addresses that lead to feeds and embeds.
fn reserved(slug: &str) -> bool {
    matches!(slug, "feed" | "rdf" | "rss" | "rss2" | "atom" | "embed")
}

/// Where a slug is unique: in its kind, or among the children of one parent.
pub fn scope_of(resource: &Resource, parent: i64) -> Arc<str> {
    if resource.declared.hierarchical { format!("{}:{parent}", resource.kind).into() } else { resource.kind.clone() }
}

/// A record that has no term of a taxonomy gets its default one whenever it is written, unless the request names others
/// (or none).
fn default_terms(work: &Work<'_>, draft: &mut Draft<'_>) -> Result<(), ApiError> {
    let given: Vec<Name> = draft.edges.iter().map(|(rel, _)| rel.clone()).collect();
    let missing = missing_terms(work, draft.resource, draft.before, &given)?;
    draft.edges.extend(missing);
    Ok(())
}

/// The default terms of those taxonomies of which a record has no term, and that are not given.
fn missing_terms(
    work: &Work<'_>,
    resource: &Resource,
    before: Option<&Row>,
    given: &[Name],
) -> Result<Vec<(Name, Vec<i64>)>, ApiError> {
    let mut defaults = Vec::new();
    for relation in resource.relations.iter().filter(|r| r.many && !given.contains(&r.rel)) {
        let taxonomy = &work.scope.registry.resources[relation.to];
        let default = taxonomy.declared.default_setting.as_ref().map_or(0, |setting| work.scope.settings.int(setting));
        if default != 0 {
            defaults.push((relation.rel.clone(), vec![default]));
        }
    }
    let Some(row) = before.filter(|_| !defaults.is_empty()) else { return Ok(defaults) };
    let rels = defaults.iter().map(|(rel, _)| rel.clone()).collect();
    let plan = EdgePlan { rels, of: vec![Record { resource, row }.id()], reverse: false };
    let present = work.scope.snapshot()?.edges(&plan)?;
    defaults.retain(|(rel, _)| !present.iter().any(|edge| edge.rel == *rel));
    Ok(defaults)
}

/// An identifier that never changes: the address at the time of creation.
fn guid(work: &Work<'_>, draft: &Draft<'_>) -> Result<Vec<Piece>, ApiError> {
    const ID: i64 = 987_654_321_987;
    const SLUG: &str = "slug-of-the-record-to-be";
    let resource = draft.resource;
    let status = draft.text("status");
    let row: Row = resource
        .columns
        .iter()
        .map(|column| match &**column {
            "id" => DbValue::Int(ID),
            column => draft.get(column),
        })
        .collect();
    let record = Record { resource, row: &row };
    let text = if address::forced_plain(work.scope, &status) {
        address::plain(work.scope, resource, ID)
    } else {
        let mut batch = Batch::default();
        batch.load_above(&*work.scope.snapshot()?, work.scope, resource, std::slice::from_ref(&row))?;
        address::of(work.scope, record, &batch, SLUG)
    };
    let mut pieces = Vec::new();
    for (i, part) in text.split(&ID.to_string()).enumerate() {
        if i > 0 {
            pieces.push(Piece::Id);
        }
        for (i, part) in part.split(SLUG).enumerate() {
            if i > 0 {
                pieces.push(Piece::Slug);
            }
            pieces.push(Piece::Literal(part.into()));
        }
    }
    Ok(pieces)
}

/// A snapshot of what revisions keep, when the kind has revisions.
fn revision(work: &Work<'_>, draft: &Draft<'_>) -> Option<RevisionPut> {
    if !draft.resource.supports("revisions") || draft.text("status") == "auto-draft" {
        return None;
    }
    Some(RevisionPut {
        author: work.scope.principal.id,
        at: work.scope.now,
        autosave: false,
        json: snapshot(&draft.text("title"), &draft.text("content"), &draft.text("excerpt"), extra(draft)),
        keep: None,
        skip_same: true,
    })
}

/// The further members of a record whose kind declares any, as they are stored.
fn extra(draft: &Draft<'_>) -> Option<String> {
    let declared = draft.resource.properties.iter().any(|property| matches!(property.source, Source::Extra));
    declared
        .then(|| draft.extra.as_ref().map_or_else(|| draft.text("extra").to_string(), |extra| json!(extra).to_string()))
}

/// What a revision keeps of a record.
pub fn snapshot(title: &str, content: &str, excerpt: &str, extra: Option<String>) -> Arc<str> {
    let mut kept = json!({"title": title, "content": content, "excerpt": excerpt});
    if let Some(extra) = extra {
        kept["extra"] = json!(extra);
    }
    kept.to_string().into()
}

fn values<const N: usize>(pairs: [(&str, DbValue); N]) -> Vec<(Name, Input)> {
    pairs.into_iter().map(|(column, value)| (name(column), Input::Value(value))).collect()
}
