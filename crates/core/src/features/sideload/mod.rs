//! Files that clients make of a picture themselves: each is added to its record as it comes (`file.sideload`), then all
//! are described at once (`file.finalize`).
//!
//! A file belongs to the record as soon as it is stored, so files may be added at the same time and only the end
//! writes metadata. The purpose of each one is declared with the argument (`x-picture-sizes`).

use crate::behaviours::files::file_of;
use crate::error::{ApiError, Code, refuse_if, status};
use crate::families::content::columns;
use crate::families::file::{self, FileSource, PictureOptions, StoreError};
use crate::families::text_column;
use crate::handlers::files::{
    extra, file_store, picture_refusal, refusal, sent, undo_on_failure, unreachable_files, unsupported_type,
};
use crate::handlers::{Handler, Outcome, Work, WriteRefusal, WrittenRow, handler, items};
use crate::model::UploadFile;
use crate::records::Record;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::CONTENT;
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use cms_pictures::PictureError;
use cms_storage::plan::{Change, Put, Row, Target};
use serde_json::{Value, json};
use std::sync::Arc;

/// The response where a file was added.
const ADDED: &str = r#"{"type": "object", "properties": {
    "image_size": {"type": ["string", "array"], "items": {"type": "string"}}, "width": {"type": "integer"},
    "height": {"type": "integer"}, "file": {"type": "string"}, "mime_type": {"type": "string"},
    "filesize": {"type": "integer"}, "original_image": {"type": "string"}}}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler(
        "file.sideload",
        |w| Box::pin(add(w)),
        "Adds one file that the client made of a picture, without describing it.",
    )
    .fails(&[
        Code::CannotEdit,
        Code::PostInvalidId,
        Code::UploadDimensionMismatch,
        Code::UploadInvalidDimensions,
        Code::UploadInvalidImage,
        Code::UploadNoData,
        Code::UploadRefusedBody,
    ])
    .fails_at(&[(None, Code::PostInvalidId, status::BAD_REQUEST)])
    .responds(ResponseKind::Json(status::OK, ADDED))
    .on(CONTENT)
    .item(),
    handler("file.finalize", |w| Box::pin(finish(w)), "Describes the files that were added to a record, in one write.")
        .fails(&[Code::PostInvalidId, Code::CannotEdit, Code::CannotEditImage, Code::InvalidSubSizeFile])
        .on(CONTENT)
        .item(),
];

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileRole {
    /// A copy in a size.
    Size,
    /// It is shown instead of the upload, smaller.
    Scaled,
    /// It is shown instead of the upload, as large as that.
    Original,
    /// The file of another type that the upload was made from, or a film that was: metadata under this name.
    Companion(&'static str),
}

impl FileRole {
    fn named(name: &str) -> FileRole {
        match name {
            "scaled" => FileRole::Scaled,
            "original" => FileRole::Original,
            "source_original" => FileRole::Companion("source_image"),
            "animated_video" => FileRole::Companion("animated_video"),
            "animated_video_poster" => FileRole::Companion("animated_video_poster"),
            _ => FileRole::Size,
        }
    }

    fn is_shown(self) -> bool {
        matches!(self, FileRole::Scaled | FileRole::Original)
    }
}

/// `file.sideload`: stores one file beside that of the record.
///
/// # Errors
/// The record has no picture, or the file is not one for this size.
pub async fn add(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let row = work.target()?;
    let record = Record { resource, row };
    let extra = extra(record);
    let own = suited(work, record, &extra)?;
    let wanted = work.allowed.args().get("image_size").cloned().unwrap_or_default();
    let names = names(&wanted);
    let part = names.first().map_or(FileRole::Size, |name| FileRole::named(name));
    let given = sent(work).await?;
    let media = &work.scope.registry.declaration.media;
    let known = file::recognised(&given.file.name, given.file.path(), media);
    let (base, kind) = known.ok_or_else(|| unsupported_type(work, given.refusal))?;
    refuse_if(given.file.size > media.max_upload.bytes(), Code::UploadTooLarge)?;
    let size = match is_measured(&names) {
        true => {
            let size = measured(work, &given.file, &kind.mime).await?;
            names.iter().try_for_each(|name| fits(work, &extra, name, size))?;
            size
        }
        false => (0, 0),
    };
    let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
    let making = PictureOptions { copies: false, display: false, convert: false, language: String::new() };
    let source = FileSource { path: given.file.path(), size: given.file.size, meta: None, making, kept: None };
    let kept = file_store(work)?.keep(source, &base, &kind, folder).await;
    let kept = kept.map_err(|error| refusal(work, error, Code::UploadInvalidImage))?;
    let bytes = kept.extra.get("media_details").map_or(Value::Null, |details| details["filesize"].clone());
    let mut changes = Vec::new();
    if part.is_shown() {
        let target = Target::Existing { key: record.value("id").clone(), expect: None };
        let set = vec![text_column(columns::FILE, &kept.file), text_column(columns::MIME, &kept.mime)];
        changes.push(Change::Put(Put::new(resource.table.clone(), target, set)));
    }
    changes.extend(file::owned_by(&kept.keys, record.value("id")));
    let done = work.carry_out(resource, changes).await.map(|()| record.value("id").clone());
    let done = done.map_err(|refused| match refused {
        WriteRefusal::Stale => ApiError::new(Code::PreconditionFailed),
        WriteRefusal::Error(error) => error,
    });
    undo_on_failure(work, done, kept.keys).await?;
    let (width, height) = size;
    let file = last(&kept.file);
    Ok(Outcome::ok(match part {
        FileRole::Size => json!({
            "image_size": wanted, "width": width, "height": height, "file": file, "mime_type": kept.mime, "filesize": bytes,
        }),
        FileRole::Companion(_) => json!({"image_size": wanted, "file": file}),
        FileRole::Scaled | FileRole::Original => json!({
            "image_size": wanted, "original_image": upload(&extra, &own), "width": width, "height": height,
            "filesize": bytes, "file": kept.file,
        }),
    }))
}

/// `file.finalize`: describes the files that were added, in one write.
///
/// # Errors
/// A file is none of the record's.
pub async fn finish(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let written = items::with_target(work, resource, async |row| describe(work, resource, row).await).await?;
    items::show_written(work, resource, written)
}

async fn describe(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<WrittenRow, WriteRefusal> {
    let record = Record { resource, row };
    let mut all = extra(record);
    let own = suited(work, record, &all)?;
    let sent = work.allowed.args().get("sub_sizes").and_then(Value::as_array).cloned().unwrap_or_default();
    let known = file::of_record(&*work.scope.snapshot()?, record.id()).map_err(ApiError::from)?;
    // As recorded: that of the whole picture has its folder, others are names.
    let main = [own.clone(), all["media_details"]["file"].as_str().unwrap_or_default().to_owned()];
    let key_of = |file: &str| {
        let is_named = |key: &&String| last(key) == file || (*key == file && main.contains(key));
        let found = known.iter().find(is_named).cloned();
        found.ok_or_else(|| ApiError::new(Code::InvalidSubSizeFile))
    };
    let mut set = Vec::new();
    let Some(details) = all.as_object_mut().map(|all| all.entry("media_details").or_insert_with(|| json!({}))) else {
        return Ok(WrittenRow::unread(record.value("id").clone()));
    };
    let mut shown = own;
    for entry in &sent {
        let Some(file) = entry["file"].as_str() else { continue };
        let key = key_of(file)?;
        let bytes = file_store(work)?.media.files.stat(&key).await.map_err(|error| unreachable_files(work, &error))?;
        let bytes = bytes.map_or_else(|| entry["filesize"].clone(), |stat| json!(stat.size));
        for name in names(&entry["image_size"]) {
            match FileRole::named(&name) {
                FileRole::Companion(member) => details[member] = json!(last(&key)),
                FileRole::Size => {
                    if !details["sizes"].is_object() {
                        details["sizes"] = json!({});
                    }
                    let mime = entry["mime_type"].as_str().unwrap_or_default();
                    details["sizes"][&name] = json!({
                        "file": last(&key), "width": side(entry, "width"), "height": side(entry, "height"),
                        "filesize": bytes, "mime_type": mime,
                    });
                }
                FileRole::Scaled | FileRole::Original => {
                    if let Some(original) = entry["original_image"].as_str() {
                        details["original_image"] = json!(last(&key_of(original)?));
                    }
                    details["width"] = json!(side(entry, "width"));
                    details["height"] = json!(side(entry, "height"));
                    details["file"] = json!(key);
                    details["filesize"] = bytes.clone();
                    if details["image_meta"].is_object() {
                        details["image_meta"]["orientation"] = json!("1");
                    }
                    shown.clone_from(&key);
                }
            }
        }
    }
    set.push(text_column(columns::FILE, &shown));
    set.push(text_column(columns::EXTRA, &all.to_string()));
    let target = Target::Existing { key: record.value("id").clone(), expect: record.version() };
    work.rewrite(record, vec![Change::Put(Put::new(resource.table.clone(), target, set))]).await
}

/// The key of the file of a record that may have derived ones.
fn suited(work: &Work<'_>, record: Record<'_>, extra: &Value) -> Result<String, ApiError> {
    let mime = record.text("mime");
    let previews = work.scope.registry.declaration.media.types.get(mime).is_some_and(|of| !of.previews.is_empty());
    if !mime.starts_with("image/") && !previews {
        return Err(ApiError::new(Code::PostInvalidId).with_status(status::BAD_REQUEST));
    }
    let own = file_of(record, extra).map(str::to_owned);
    own.ok_or_else(|| ApiError::new(Code::FileElsewhere))
}

/// The sizes that a file is for.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::String(name) => vec![name.clone()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Companions are stored as they are, but for the picture that stands for a film.
fn is_measured(names: &[String]) -> bool {
    names.iter().all(|name| {
        let part = FileRole::named(name);
        !matches!(part, FileRole::Companion(_)) || part == FileRole::Companion("animated_video_poster")
    })
}

/// Width and height by the picture's header.
async fn measured(work: &Work<'_>, file: &UploadFile, mime: &str) -> Result<(u32, u32), ApiError> {
    let invalid = || ApiError::new(Code::UploadInvalidImage);
    let Some(format) = cms_pictures::format_of(mime) else {
        let found = file_store(work)?.extent(file.path(), mime).await;
        return found.map_err(|error| unmeasured(work, error))?.ok_or_else(invalid);
    };
    let held = Arc::clone(&file.file);
    let found = file_store(work)?.in_pool(move |bounds| cms_pictures::measured(&held, format, bounds)).await;
    found.and_then(|found| found.map_err(StoreError::Picture)).map_err(|error| unmeasured(work, error))
}

/// Why a picture's size is not known.
fn unmeasured(work: &Work<'_>, error: StoreError) -> ApiError {
    match error {
        StoreError::Picture(PictureError::NoPixels) => ApiError::new(Code::UploadInvalidDimensions),
        StoreError::Picture(error) => picture_refusal(error, Code::UploadInvalidImage),
        error => refusal(work, error, Code::UploadInvalidImage),
    }
}

/// Whether a picture is as large as its purpose allows.
fn fits(work: &Work<'_>, extra: &Value, name: &str, (width, height): (u32, u32)) -> Result<(), ApiError> {
    let mismatch = || Err(ApiError::new(Code::UploadDimensionMismatch));
    if FileRole::named(name) == FileRole::Original {
        let details = &extra["media_details"];
        let (stored, own) = ((side(details, "width"), side(details, "height")), (u64::from(width), u64::from(height)));
        // A document has no sides that the picture could differ from.
        return if stored == (0, 0) || own == stored || own == (stored.1, stored.0) { Ok(()) } else { mismatch() };
    }
    let Some(size) = work.scope.registry.declaration.media.sizes.get(name) else { return Ok(()) };
    // A pixel more is rounding.
    let exceeds = |side: u32, most: u32| most != 0 && side > most.saturating_add(1);
    if exceeds(width, size.width) || exceeds(height, size.height) { mismatch() } else { Ok(()) }
}

/// A width or a height; 0 where there is none.
fn side(described: &Value, name: &str) -> u64 {
    described[name].as_u64().unwrap_or(0)
}

/// The name of the upload.
fn upload(extra: &Value, own: &str) -> String {
    extra["media_details"]["original_image"].as_str().unwrap_or(last(own)).to_owned()
}

fn last(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}
