//! Single items of every family: read, and the way to each family's writes.

use super::{
    Outcome, RenderedJson, Work, WriteRefusal, WrittenRow, auto_add, comments, originals, proposals, terms, users,
};
use crate::access::drafts;
use crate::access::hints::{self, Hints};
use crate::access::policy;
use crate::behaviours::dynamic;
use crate::cache::documents::{DocumentText, RenderVariant};
use crate::error::{ApiError, Code, refuse_if};
use crate::families;
use crate::model::Method;
use crate::records::{self, Record};
use crate::registry::args::ArgRole;
use crate::registry::columns::record;
use crate::registry::resource::{Context, Resource};
use crate::render::address;
use crate::render::{self, Batch, ReadTracking, View};
use crate::request::fields::Fields;
use cms_declaration::{Action, ItemKey};
use cms_storage::plan::{DbValue, Row};
use cms_storage::{Snapshot, WRITE_PATIENCE};
use serde_json::{Value, json};
use std::time::Instant;

/// `get`: the item that the path names.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let row = work.target()?;
    let (record, rows) = (Record { resource, row }, std::slice::from_ref(row));
    let view = View { excerpt_words: excerpt_words(work), ..work.view(work.allowed.context()) };
    let snapshot = work.scope.snapshot()?;
    let texts = cached_texts(work, resource, rows, &view, &*snapshot, true, |missing| Ok(missing.to_vec()))?;
    let mut outcome = match texts.and_then(|texts| texts.into_iter().next()) {
        Some(text) => Outcome { text: Some(RenderedJson::One(text)), ..Outcome::of_row(Value::Null, record) },
        None => Outcome::of_row(show(work, resource, row, work.allowed.context(), work.fields)?, record),
    };
    if resource.is_content() && resource.viewable() {
        let page = page(work, resource, row)?;
        outcome.headers.push(("Link".into(), format!("<{page}>; rel=\"alternate\"; type=text/html")));
    }
    Ok(outcome)
}

/// How many words the request wants in excerpts that are made from contents.
fn excerpt_words(work: &Work<'_>) -> Option<usize> {
    let wanted = work.allowed.args().role(&work.endpoint.args, ArgRole::ExcerptWords)?.as_i64()?;
    Some(usize::try_from(wanted).unwrap_or(0))
}

/// The address of the item on the site.
fn page(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<String, ApiError> {
    if resource.address.is_of_row() {
        let record = Record { resource, row };
        return Ok(address::of(work.scope, record, &Batch::default(), record.text("slug")));
    }
    let document = show(work, resource, row, Context::VIEW, &Fields::parse(Some(&json!("link"))))?;
    Ok(document["link"].as_str().unwrap_or_default().to_owned())
}

/// One row as a document.
pub fn show(
    work: &Work<'_>,
    resource: &Resource,
    row: &Row,
    context: Context,
    fields: &Fields,
) -> Result<Value, ApiError> {
    show_on(work, &*work.scope.snapshot()?, resource, row, context, fields)
}

/// The same, on a given state.
fn show_on(
    work: &Work<'_>,
    snapshot: &dyn Snapshot,
    resource: &Resource,
    row: &Row,
    context: Context,
    fields: &Fields,
) -> Result<Value, ApiError> {
    let readable = matches!(work.allowed.method(), Method::Get | Method::Head);
    let view = View { fields, readable, excerpt_words: excerpt_words(work), ..work.view(context) };
    let rows = std::slice::from_ref(row);
    let mut documents = render::documents(work.scope, snapshot, resource, rows, &view)?;
    documents.pop().ok_or_else(|| ApiError::new(Code::Internal))
}

/// A row as it was, without links: what they lead to is gone with it.
pub fn show_alone(work: &Work<'_>, resource: &Resource, row: &Row, context: Context) -> Result<Value, ApiError> {
    let mut document = show(work, resource, row, context, work.fields)?;
    if let Some(members) = document.as_object_mut() {
        members.shift_remove("_links");
    }
    Ok(document)
}

/// Whether documents are available as cached text, which the columns of [`DocumentCache::columns`] are enough to find.
///
/// [`DocumentCache::columns`]: crate::cache::documents::DocumentCache::columns
pub fn has_cached_text(work: &Work<'_>, resource: &Resource, view: &View<'_>) -> bool {
    let own = view.password.is_some() || view.context == Context::EDIT || view.excerpt_words.is_some();
    // Documents with values of fields may differ where they are embedded.
    let own = own || resource.fields.is_some() && view.context == Context::EMBED;
    work.as_text && !own && work.scope.preview.is_none() && work.shared.documents.keeps(work.scope, resource)
}

/// The rows' documents as text, each rendered at most once; `None` where they depend on this request. `alone`: it is one
/// document, no list. `whole` gives the rows that have to be rendered with the columns that are shown.
pub fn cached_texts(
    work: &Work<'_>,
    resource: &Resource,
    rows: &[Row],
    view: &View<'_>,
    snapshot: &dyn Snapshot,
    alone: bool,
    whole: impl FnOnce(&[Row]) -> Result<Vec<Row>, ApiError>,
) -> Result<Option<Vec<DocumentText>>, ApiError> {
    if !has_cached_text(work, resource, view) {
        return Ok(None);
    }
    let cache = &work.shared.documents;
    let hints = match view.wants_links() {
        true => hints::of_rows(work.scope, resource, rows, view.readable)?,
        false => vec![Hints::default(); rows.len()],
    };
    let fields = cache.field_set(view.fields, alone);
    let hidden = cache.hidden_set(&policy::hidden_fields(work.scope, resource));
    let way = |at: usize| RenderVariant { context: view.context, hints: hints[at], fields, hidden };
    let cached = |(at, row)| cache.get(work.scope, snapshot, Record { resource, row }, way(at));
    let mut texts: Vec<Option<DocumentText>> = rows.iter().enumerate().map(cached).collect();
    let missing: Vec<usize> = (0..rows.len()).filter(|at| texts[*at].is_none()).collect();
    if !missing.is_empty() {
        let short: Vec<Row> = missing.iter().map(|at| rows[*at].clone()).collect();
        let full = whole(&short)?;
        let others = view.tells_of_others(resource);
        let tracking = |row: &Row| {
            let record = Record { resource, row };
            let parts = dynamic::reads_other_rows(&work.scope.registry.declaration, record.text("content"));
            ReadTracking { links: others || cache.shows_others(record), parts }
        };
        let tracking: Vec<ReadTracking> = full.iter().map(tracking).collect();
        let documents = render::tracked_documents(work.scope, snapshot, resource, &full, view, &tracking)?;
        let mut made = full.iter().zip(&missing).zip(documents).map(|((row, at), (document, read))| {
            let text: DocumentText = view.fields.keep_of(document, alone).to_string().into_bytes().into();
            cache.put(work.scope, snapshot, Record { resource, row }, way(*at), text.clone(), read);
            text
        });
        for text in texts.iter_mut().filter(|t| t.is_none()) {
            *text = made.next();
        }
    }
    Ok(Some(texts.into_iter().flatten().collect()))
}

/// The context of the document that a write returns: the edit context for callers who may read the row so and change it.
pub fn written_context(work: &Work<'_>, record: Record<'_>) -> Result<Context, ApiError> {
    let edits = policy::sees_edited(work.scope, record)? && policy::may(work.scope, Action::Edit, record)?;
    Ok(if edits { Context::EDIT } else { Context::VIEW })
}

/// The response to a change: the row as it is now, as [`written_context`] says.
///
/// # Errors
/// It is gone, or the database cannot be read.
pub fn show_written(work: &Work<'_>, resource: &Resource, written: WrittenRow) -> Result<Outcome, ApiError> {
    let mut row = row_of(work, resource, &written)?;
    // The response to the caller who has moved it to the trash has the name by which it was found.
    if resource.declared.key != ItemKey::Id
        && let Some(slug) = resource.column(record::SLUG).and_then(|at| row.get_mut(at))
    {
        *slug = records::txt(families::content::slug_before(records::text(slug)));
    }
    let record = Record { resource, row: &row };
    let context = written_context(work, record)?;
    let document = show_on(work, &*written.snapshot(work, resource)?, resource, &row, context, work.fields)?;
    let shown = Outcome::of_row(document, record);
    Ok(Outcome { written: Some((resource.index, row)), edited: true, ..shown })
}

/// The row with this key as it is now.
///
/// # Errors
/// It is gone, or the database cannot be read.
pub fn fetch(work: &Work<'_>, resource: &Resource, key: &DbValue) -> Result<Row, ApiError> {
    let snapshot = work.scope.snapshot()?;
    let found = records::find(&*snapshot, resource, key)?;
    found.ok_or_else(|| work.scope.internal(&format!("{}: the row {key:?} is not there", resource.name)))
}

/// A written row as it is now.
///
/// # Errors
/// It is gone, or the database cannot be read.
pub fn row_of(work: &Work<'_>, resource: &Resource, written: &WrittenRow) -> Result<Row, ApiError> {
    match &written.row {
        Some(row) => Ok(row.clone()),
        None => fetch(work, resource, &written.key),
    }
}

/// `create`: 201, the new item as [`written_context`] says, its address in `Location`.
///
/// # Errors
/// The family's rules.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    if resource.is_users() {
        return users::create(work).await;
    }
    if resource.is_comments() {
        comments::check_new(work, resource)?;
    }
    let changes = families::plan_creation(&work.edit(resource, None)?)?;
    if resource.is_taxonomy() {
        terms::check(work, resource)?;
    }
    let written = work.insert(resource, changes).await?;
    if resource.is_content() {
        auto_add::add_to_menus(work, resource, &written, "").await?;
    }
    created(work, resource, &written)
}

/// The item that serves for a slug: the one of this slug, of its shorter beginnings (`page-about`, `page`), or of the
/// slugs that `options.lookup` names for those; `{}` when there is none.
pub fn lookup(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let snapshot = work.scope.snapshot()?;
    let declared = resource.declared.options.lookup.clone().unwrap_or_default();
    let custom = work.allowed.args().flag("is_custom");
    let asked = work.allowed.args().text("slug").unwrap_or("");
    let mut next = (!asked.is_empty()).then_some(if custom { declared.custom.as_str() } else { asked });
    // Each slug is shorter, or named by the one before: a circle of names ends where there are as many as declared.
    for _ in 0..=asked.len() + declared.instead.len() {
        let Some(slug) = next else { break };
        let name = format!("{}//{slug}", work.scope.registry.active_theme());
        if let Some(key) = records::key_of(&work.scope.registry, &*snapshot, resource, &name)? {
            let row = fetch(work, resource, &key)?;
            return Ok(Outcome::ok(show(work, resource, &row, Context::VIEW, work.fields)?));
        }
        let named = declared.instead.get(slug).map(String::as_str);
        let shorter = || slug.rsplit_once('-').map(|(shorter, _)| shorter);
        next = named.or_else(shorter).or((slug != declared.last).then_some(declared.last.as_str()));
    }
    Ok(Outcome::ok(json!({})))
}

/// The response to a creation.
pub fn created(work: &Work<'_>, resource: &Resource, written: &WrittenRow) -> Result<Outcome, ApiError> {
    let row = row_of(work, resource, written)?;
    let record = Record { resource, row: &row };
    let path = records::item_path(&work.scope.registry, record);
    // Recorded: the author of a record sees a new comment on it as its readers do.
    let as_reader = resource.is_comments() && !policy::moderates(work.scope);
    // Recorded, too: what is found by its name is shown as in lists.
    let by_name = resource.is_content() && resource.declared.key != ItemKey::Id;
    let context = if as_reader || by_name { Context::VIEW } else { written_context(work, record)? };
    let document = show_on(work, &*written.snapshot(work, resource)?, resource, &row, context, work.fields)?;
    let made = Outcome::created(document, work.scope.registry.rest(&path));
    // Recorded: a caller who may only comment needs permission to read.
    let edited = !resource.is_comments() || context == Context::EDIT;
    Ok(Outcome { version: record.version(), modified: record.modified(), edited, ..made })
}

/// `update`: the changed item as [`written_context`] says.
///
/// # Errors
/// The family's rules.
pub async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    if resource.is_users() {
        return users::update(work).await;
    }
    if let Some(row) = work.allowed.target().filter(|row| Record { resource, row }.is_original()) {
        if originals::reverts(work, resource) {
            return Ok(Outcome::ok(show(work, resource, row, Context::EDIT, work.fields)?));
        }
        let changes = families::from_original(&work.edit(resource, None)?, Record { resource, row })?;
        let written = work.insert(resource, changes).await?;
        return show_written(work, resource, written);
    }
    if let Some(original) = work
        .allowed
        .target()
        .filter(|_| originals::reverts(work, resource))
        .and_then(|row| resource.original_of_slug(Record { resource, row }.text(record::SLUG)))
    {
        with_target(work, resource, async |row| {
            let changes = families::removal(work.scope, Record { resource, row }, None)?;
            work.carry_out(resource, changes).await
        })
        .await?;
        return Ok(Outcome::ok(show(work, resource, original, Context::EDIT, work.fields)?));
    }
    if resource.is_content() && drafts::proposes(work.scope, Record { resource, row: work.target()? })? {
        return proposals::propose(work, resource).await;
    }
    let written = with_target(work, resource, async |row| {
        let record = Record { resource, row };
        if resource.is_comments() {
            comments::check_change(work, record)?;
        }
        let changes = families::update(&work.edit(resource, Some(row))?, record);
        let changes = changes.map_err(|error| unexpected(resource, error))?;
        if resource.is_taxonomy() {
            terms::check(work, resource)?;
        }
        let written = work.rewrite(record, changes).await;
        written.map_err(|refusal| match refusal {
            WriteRefusal::Error(error) => WriteRefusal::Error(unexpected(resource, error)),
            stale => stale,
        })
    })
    .await?;
    if resource.is_content()
        && let Some(row) = work.allowed.target()
    {
        auto_add::add_to_menus(work, resource, &written, Record { resource, row }.text("status")).await?;
    }
    show_written(work, resource, written)
}

/// The refusal of an update, as the declaration of the resource has it.
fn unexpected(resource: &Resource, error: ApiError) -> ApiError {
    if resource.bare_in_updates.contains(&error.code()) { error.bare() } else { error }
}

/// `delete`: the trashed item, or `{deleted, previous}`.
///
/// # Errors
/// The family's rules.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    if resource.is_users() {
        return users::delete(work).await;
    }
    let force = work.allowed.args().role(&work.endpoint.args, ArgRole::Force).and_then(Value::as_bool).unwrap_or(false);
    let trashes = families::has_trash(resource);
    if !force && !trashes {
        // A plain resource has no trash; where `force` is declared, it is required.
        if work.endpoint.args.role(ArgRole::Force).is_some() {
            return Err(crate::access::failure(resource, Code::TrashNotSupported));
        }
    }
    let target = work.target()?;
    if (Record { resource, row: target }).is_original() {
        return Err(crate::access::failure(resource, Code::OriginalInvalid));
    }
    if !force && trashes {
        let written = with_target(work, resource, async |row| {
            let record = Record { resource, row };
            work.rewrite(record, families::trashing(work.scope, record)?).await
        })
        .await?;
        return show_written(work, resource, written);
    }
    let context = written_context(work, Record { resource, row: target })?;
    let previous = show_alone(work, resource, target, context)?;
    let files = if resource.supports("files") || resource.declared.options.uploads.is_some() {
        families::file::of_record(&*work.scope.snapshot()?, Record { resource, row: target }.id())?
    } else {
        Vec::new()
    };
    with_target(work, resource, async |row| {
        let changes = families::removal(work.scope, Record { resource, row }, None)?;
        work.carry_out(resource, changes).await
    })
    .await?;
    super::files::remove(work, files).await;
    Ok(Outcome { reduced: false, ..Outcome::ok(json!({"deleted": true, "previous": previous})) })
}

/// Carries out a write on the target; when the row has changed since it was decided, decides again on the new one, in turn
/// with other requests that do, until the time limit of writes.
///
/// # Errors
/// The write's own; the row is not what the request expects; or it kept changing.
pub async fn with_target<F, T>(work: &Work<'_>, resource: &Resource, write: F) -> Result<T, ApiError>
where
    F: AsyncFn(&Row) -> Result<T, WriteRefusal>,
{
    let until = Instant::now() + WRITE_PATIENCE;
    let mut row = work.target()?.clone();
    let key = Record { resource, row: &row }.value(&resource.key).clone();
    let line = format!("{} {key:?}", resource.table);
    // Where others wait already, what was read will have changed when its turn comes.
    let mut is_stale = !work.scope.tentative && work.shared.turns.has_line(&line);
    let mut turn = None;
    loop {
        if is_stale {
            // Nobody else writes during a transaction, and who waits for its end holds a turn.
            if turn.is_none() && !work.scope.tentative {
                turn = Some(work.shared.turns.wait_for_turn(line.clone()).await);
            }
            row = read_again(work, resource, &key)?;
        }
        let record = Record { resource, row: &row };
        refuse_if(!work.expects.matches(record.version(), record.modified()), Code::PreconditionFailed)?;
        match write(&row).await {
            Ok(done) => return Ok(done),
            // In a transaction, the row is as it was read again.
            Err(WriteRefusal::Stale) if Instant::now() < until && !(work.scope.tentative && is_stale) => {
                is_stale = true
            }
            Err(WriteRefusal::Stale) => return Err(families::contended()),
            Err(WriteRefusal::Error(error)) => return Err(error),
        }
    }
}

/// The target as it is now, which the caller may still change.
fn read_again(work: &Work<'_>, resource: &Resource, key: &DbValue) -> Result<Row, ApiError> {
    let snapshot = work.scope.snapshot()?;
    let again = records::find(&*snapshot, resource, key)?;
    let row = again.ok_or_else(|| crate::access::failure(resource, Code::RecordInvalidId))?;
    crate::access::still_allowed(work.scope, work.route, work.endpoint, work.allowed, (&work.sources(), work.given))?;
    Ok(row)
}
