//! `file.replace`: another file under the address of a record's file.
//!
//! The new file and its sizes are stored under names of their own first, so that a broken picture, a full disk or a record
//! that has changed leave the old file as it is. Then the record is written, and the files are copied over the old ones.
//! Where that is cut off, sending the file again completes it; what is left of the new one is swept.

use crate::behaviours::files::file_of;
use crate::error::{ApiError, Code, refuse_if};
use crate::families::content::{columns, modified_columns};
use crate::families::file::{self, FileSource, PictureOptions, StoredFiles};
use crate::families::replacement::Replacement;
use crate::families::{column, text_column};
use crate::files::kinds;
use crate::handlers::files::{
    extra, file_store, refusal, remove, sent, undo_on_failure, unreachable_files, unsupported_type,
};
use crate::handlers::{Handler, Outcome, Work, WriteRefusal, WrittenRow, handler, items};
use crate::records::Record;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::BehaviourEntry;
use crate::registry::vocabulary::CONTENT;
use cms_storage::plan::{Change, Put, Row, Target};
use serde_json::{Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[handler(
    "file.replace",
    |w| Box::pin(replace(w)),
    "Puts another file of the same type in the place of a record's file; all addresses stay.",
)
.fails(&[
    Code::PostInvalidId,
    Code::CannotEdit,
    Code::CannotEditImage,
    Code::FileElsewhere,
    Code::PreconditionFailed,
    Code::UploadHashMismatch,
    Code::UploadInvalidDisposition,
    Code::UploadNoData,
    Code::UploadNoDisposition,
    Code::UploadOtherType,
    Code::UploadTooLarge,
    Code::UploadTypeRefused,
])
.on(CONTENT)
.item()];

/// See the module's description.
///
/// # Errors
/// The record's file is elsewhere; the new one is of another type, or not taken.
pub async fn replace(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let row = work.target()?;
    let record = Record { resource, row };
    let old = extra(record);
    let shown = file_of(record, &old).ok_or_else(|| ApiError::new(Code::FileElsewhere))?.to_owned();
    let new = stored(work, record, &old, &shown).await?;
    // Of two at once, the second begins when the first has all its files in place.
    let _turn = work.shared.turns.wait_for_turn(format!("file {shown}")).await;
    let described = &old["media_details"];
    let replacement = Replacement::of(&shown, described, &new);
    let written = items::with_target(work, resource, async |row| {
        describe(work, resource, row, (&shown, described), &replacement).await
    });
    let written = undo_on_failure(work, written.await, new.keys.clone()).await?;
    let files = &file_store(work)?.media.files;
    for (from, to) in &replacement.copies {
        files.copy(from, to).await.map_err(|error| unreachable_files(work, &error))?;
    }
    let is_unused = |key: &String| !replacement.kept.contains(key);
    remove(work, new.keys.into_iter().filter(is_unused).collect()).await;
    items::show_written(work, resource, written)
}

/// The upload with its sizes, under names that nobody knows yet.
async fn stored(work: &Work<'_>, record: Record<'_>, old: &Value, shown: &str) -> Result<StoredFiles, ApiError> {
    let media = &work.scope.registry.declaration.media;
    let given = sent(work).await?;
    let known = file::recognised(&given.file.name, given.file.path(), media);
    let (base, kind) = known.ok_or_else(|| unsupported_type(work, given.refusal))?;
    refuse_if(given.file.size > media.max_upload.bytes(), Code::UploadTooLarge)?;
    let upload = old.pointer("/media_details/original_image").and_then(Value::as_str).unwrap_or(shown);
    let end = upload.rsplit_once('.').map_or("", |(_, end)| end);
    refuse_if(kinds::by_extension(end, media).is_none_or(|(mime, _)| mime != kind.mime), Code::UploadOtherType)?;
    let folder = shown.rsplit_once('/').map_or("", |(folder, _)| folder);
    let making = PictureOptions { convert: record.text("mime") != kind.mime, ..PictureOptions::all("") };
    let source = FileSource { path: given.file.path(), size: given.file.size, meta: None, making, kept: None };
    let kept = file_store(work)?.keep(source, &base, &kind, folder).await;
    let kept = kept.map_err(|error| refusal(work, error, Code::UploadTypeRefused))?;
    if kept.mime != record.text("mime") {
        remove(work, kept.keys).await;
        return Err(ApiError::new(Code::UploadOtherType));
    }
    Ok(kept)
}

/// Writes what the record says of its new file.
async fn describe(
    work: &Work<'_>,
    resource: &Resource,
    row: &Row,
    (shown, described): (&str, &Value),
    replacement: &Replacement,
) -> Result<WrittenRow, WriteRefusal> {
    let record = Record { resource, row };
    let mut all = extra(record);
    if record.text("file") != shown || all["media_details"] != *described {
        return Err(ApiError::new(Code::PreconditionFailed).into());
    }
    all["media_details"] = json!(replacement.details);
    let target = Target::Existing { key: record.value("id").clone(), expect: record.version() };
    let mut set = vec![text_column(columns::EXTRA, &all.to_string())];
    let (local, now) = (work.scope.local_now(), work.scope.now);
    set.extend(modified_columns(local, now).map(|(name, value)| column(name, value)));
    let mut changes = vec![Change::Put(Put::new(resource.table.clone(), target, set))];
    changes.extend(file::owned_by(&replacement.kept, record.value("id")));
    work.rewrite(record, changes).await
}
