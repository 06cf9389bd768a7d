//! Records that stand for files: upload, edit, missing copies, and deletion of files.
//!
//! The request is read here; the family `file` stores it.

use super::fetched::{self, ADDRESS};
use super::{Outcome, Work, WrittenRow, items};
use crate::behaviours::files::{address, file_of};
use crate::error::{ApiError, Code, refuse_if};
use crate::families::content::{self, FileDefaults};
use crate::families::file::{self, FileSource, FileStore, PictureOptions, StoreError};
use crate::families::{self, RowEdit, text_column};
use crate::files::kinds::FileKind;
use crate::files::{FilesError, names};
use crate::model::{Upload, UploadFile};
use crate::records::{self, Record, eq, int};
use crate::registry::columns::{ID, record};
use crate::registry::resource::{Context, Resource};
use crate::request::BodyParams;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_pictures::{Edit, PictureError};
use cms_storage::plan::{Change, CommitError, DbValue, Name, Put, Target, WritePlan};
use cms_text::sanitize;
use cms_text::time::CivilDateTime;
use md5::{Digest, Md5};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The argument that holds a file as base64, and the one with its name.
const DATA: &str = "data";
const FILENAME: &str = "filename";

/// `file_create`: a record from a file in the body, in a form's field `file`, at the address in `url`, or in `data`.
///
/// # Errors
/// No file, one whose contents contradict its name, one of a type that is not accepted.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    // The refusal of fields comes before a file is kept.
    let edit = work.edit(resource, None)?;
    let text = |arg: &str| work.allowed.args().explicit(arg).and_then(Value::as_str);
    let address = text(ADDRESS);
    let file = match (address, text(DATA)) {
        (Some(_), Some(_)) => {
            let message = "Give `url` or `data`, not both.";
            return Err(ApiError::invalid_for(DATA, Code::InvalidParam).with_message(message));
        }
        (Some(address), None) => Some(fetched::picture(work, address).await?),
        (None, Some(data)) => Some(decoded(work, data, text(FILENAME).unwrap_or_default())?),
        (None, None) if !work.endpoint.file => {
            return Err(ApiError::new(Code::UploadNoData).with_message("Give the file as `url` or as `data`."));
        }
        (None, None) => None,
    };
    let given = match file {
        Some(file) => UploadedFile { file, named: false, refusal: Code::UploadRefusedBody },
        None => sent(work).await?,
    };
    let media = &work.scope.registry.declaration.media;
    let file = &given.file;
    let known = file::recognised(&file.name, file.path(), media);
    let (base, kind) = known.ok_or_else(|| unsupported_type(work, given.refusal))?;
    refuse_if(file.size > media.max_upload.bytes(), Code::UploadTooLarge)?;
    let folder = folder(work, resource)?;
    let source = FileSource { path: file.path(), size: file.size, meta: None, making: making(work), kept: None };
    let kept = file_store(work)?.keep(source, &base, &kind, &folder).await;
    let broken = if refuses_as_server(work) { given.refusal } else { Code::UploadTypeRefused };
    let kept = kept.map_err(|error| refusal(work, error, broken))?;
    // A title in the picture's metadata outranks its file's name.
    let own = |what: &str| {
        let meta = kept.extra.get("media_details").and_then(|d| d.pointer(&format!("/image_meta/{what}")));
        meta.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let named = if given.named { title_of(&file.name) } else { String::new() };
    let titles = [own("title"), named, kept.title.clone()];
    let title = titles.into_iter().find(|title| !title.is_empty()).unwrap_or_default();
    let texts = vec![("title", title), ("excerpt", own("caption")), ("mime", kept.mime), ("file", kept.file)];
    let mut extra = kept.extra;
    if !kept.alternative.is_empty() {
        extra.insert(ALTERNATIVE.into(), json!(sanitize::sanitize_text_field(&kept.alternative)));
    }
    let brought = FileDefaults { texts, guid: kept.url, extra, changes: file::owned_by_new(&kept.keys) };
    // Where files can be sent, too, WordPress takes no texts beside an address.
    let bare = work.scope.registry.declaration.dialect.bare_fetched_files && work.endpoint.file;
    let bare = bare && work.scope.imported.is_none();
    let written = match address.filter(|_| bare) {
        Some(_) => {
            let args = work.allowed.args().only(parent_of(resource));
            make(work, RowEdit { args: &args, ..edit }, brought).await
        }
        None => make(work, edit, brought).await,
    };
    let written = undo_on_failure(work, written, kept.keys).await?;
    Ok(with_id_header(work, items::created(work, resource, &written)?, &written.key))
}

/// Most characters of a title that is the name of a file.
const LONGEST_NAME: usize = 200;

/// The name of a file in a form as a title: a name for people, while the stored one is for addresses. It is plain text,
/// without characters that turn the direction of writing.
fn title_of(file: &str) -> String {
    let name = file.rsplit_once('.').map_or("", |(name, _)| name);
    let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain: String = name.chars().filter(|c| !c.is_control() && !turns(c)).take(LONGEST_NAME).collect();
    sanitize::sanitize_text_field(&plain)
}

/// Member of `extra` with the alternative text.
const ALTERNATIVE: &str = "alt_text";

/// The steps that the request selects for the picture.
fn making(work: &Work<'_>) -> PictureOptions {
    let wanted = |name: &str| work.allowed.args().get(name) != Some(&Value::Bool(false));
    PictureOptions {
        copies: wanted("generate_sub_sizes"),
        display: wanted("generate_sub_sizes"),
        convert: wanted("convert_format"),
        ..PictureOptions::all(work.scope.settings.locale())
    }
}

/// Clients read the new record's id from a header, too: it is there even when the body is lost.
fn with_id_header(work: &Work<'_>, mut outcome: Outcome, key: &DbValue) -> Outcome {
    let header = format!("X-{}-Upload-Attachment-ID", work.scope.registry.site.prefix.to_uppercase());
    outcome.headers.push((header, int(key).to_string()));
    outcome
}

/// Creates the record of a file.
async fn make(work: &Work<'_>, edit: RowEdit<'_>, brought: FileDefaults) -> Result<WrittenRow, ApiError> {
    let changes = content::plan_creation(&edit, brought)?;
    work.insert(edit.resource, changes).await
}

/// The property that says which record a file belongs to.
fn parent_of(resource: &Resource) -> &str {
    resource.property_of_column("parent").map_or("", |property| &property.name)
}

/// `file_edit`: a new record with the picture cropped, rotated or mirrored; the old one stays.
///
/// # Errors
/// The file is no picture of this record, or no change was requested.
pub async fn edit(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let row = work.target()?;
    let record = Record { resource, row };
    let edit = work.edit(resource, None)?;
    let extra = extra(record);
    let file = file_of(record, &extra).filter(|file| is_one_of(work, &extra, file));
    let mime = record.text("mime");
    let (Some(file), true) = (file, mime.starts_with("image/")) else {
        return Err(ApiError::new(Code::UnknownAttachment));
    };
    let format = cms_pictures::format_of(mime).ok_or_else(|| ApiError::new(Code::CannotEditFileType))?;
    let steps = steps(work);
    refuse_if(steps.is_empty(), Code::ImageNotEdited)?;
    let store = file_store(work)?;
    let source = store.media.files.fetch(file).await.map_err(|e| unreachable_files(work, &e))?;
    let mut edited = store.media.files.temporary().map_err(|e| unreachable_files(work, &e))?;
    let written = store.in_pool(move |bounds| {
        let picture = cms_pictures::edit(&source, format, bounds, &steps)?;
        let written = std::io::Write::write_all(&mut edited, &picture.value);
        Ok((written.map(|()| edited), picture.value.len() as u64))
    });
    let written = written.await.map_err(|error| refusal(work, error, Code::ImageCropFailed))?;
    let (incoming, size) = written.map_err(|error| picture_refusal(error, Code::ImageCropFailed))?;
    let incoming = incoming.map_err(|e| work.scope.internal(&e))?;
    let (folder, old) = file.rsplit_once('/').unwrap_or(("", file));
    let (base, extension) = old.rsplit_once('.').unwrap_or((old, ""));
    let kind = FileKind { mime: mime.to_owned(), extension: extension.to_owned() };
    let mut meta = extra.pointer("/media_details/image_meta").cloned();
    if let Some(meta) = &mut meta {
        // The edit began with the picture upright.
        if meta["orientation"].as_str().is_none_or(|told| told != "0") {
            meta["orientation"] = json!("1");
        }
    }
    let making = PictureOptions::all("");
    let source = FileSource { path: incoming.path(), size, meta, making, kept: None };
    let kept = store.keep(source, &edited_name(base), &kind, folder).await;
    let kept = kept.map_err(|error| refusal(work, error, Code::ImageCropFailed))?;
    let mut all = kept.extra;
    if let Some(details) = all.get_mut("media_details").and_then(Value::as_object_mut) {
        details.insert("parent_image".into(), json!({"attachment_id": record.key(), "file": file}));
    }
    all.insert(ALTERNATIVE.into(), extra.get(ALTERNATIVE).cloned().unwrap_or_else(|| json!("")));
    let texts = ["title", "content", "excerpt"].map(|column| (column, record.text(column).to_owned()));
    let texts = texts.into_iter().chain([("mime", kept.mime), ("file", kept.file)]);
    let changes = file::owned_by_new(&kept.keys);
    let brought = FileDefaults { texts: texts.collect(), guid: kept.url, extra: all, changes };
    let written = make(work, edit, brought).await;
    let written = undo_on_failure(work, written, kept.keys).await?;
    let row = items::row_of(work, resource, &written)?;
    let path = resource.item_path(&Record { resource, row: &row }.key());
    let document = items::show(work, resource, &row, Context::VIEW, work.fields)?;
    Ok(with_id_header(work, Outcome::created(document, work.scope.registry.rest(&path)), &written.key))
}

/// `file_process`: makes the sizes that are still missing.
///
/// # Errors
/// The picture cannot be read any more.
pub async fn process(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let row = work.target()?;
    let record = Record { resource, row };
    let mut all = extra(record);
    let (Some(file), Some(format)) =
        (file_of(record, &all).map(str::to_owned), cms_pictures::format_of(record.text("mime")))
    else {
        return Ok(Outcome::ok(items::show(work, resource, row, Context::EDIT, work.fields)?));
    };
    let present = all.pointer("/media_details/sizes").and_then(Value::as_object).cloned().unwrap_or_default();
    let store = file_store(work)?;
    let source = store.media.files.fetch(&file).await.map_err(|e| unreachable_files(work, &e))?;
    let media = &work.scope.registry.declaration.media;
    let kind = FileKind { mime: record.text("mime").to_owned(), extension: end_of(&file).to_owned() };
    let (kind, wanted) = PictureOptions::all("").of(&kind, format, media);
    let made = store
        .in_pool(move |bounds| {
            cms_pictures::missing(&source, format, bounds, &wanted, |size| !present.contains_key(size))
        })
        .await
        .map_err(|error| refusal(work, error, Code::ImageCropFailed))?;
    let made = made.map_err(|error| picture_refusal(error, Code::ImageCropFailed))?;
    if let Some(made) = made.filter(|made| !made.value.is_empty()) {
        let (folder, own) = file.rsplit_once('/').unwrap_or(("", &file));
        let base = own.rsplit_once('.').map_or(own, |(base, _)| base);
        let mut keys = Vec::new();
        let sizes = store.keep_sizes(made.value, (folder, base, &kind.extension), &kind.mime, &mut keys).await;
        let sizes = sizes.map_err(|error| refusal(work, error, Code::ImageCropFailed))?;
        if let Some(details) = all.get_mut("media_details").and_then(Value::as_object_mut)
            && let Some(known) = details.entry("sizes").or_insert_with(|| json!({})).as_object_mut()
        {
            known.extend(sizes);
        }
        let key = record.value("id").clone();
        let target = Target::Existing { key: key.clone(), expect: record.version() };
        let set = vec![text_column(content::columns::EXTRA, &all.to_string())];
        let mut changes = vec![Change::Put(Put::new(resource.table.clone(), target, set))];
        changes.extend(file::owned_by(&keys, &key));
        let done = work.commit(WritePlan::new(changes)).await.map(|_| key.clone()).map_err(|error| match error {
            CommitError::Stale | CommitError::Refused { .. } => ApiError::new(Code::PreconditionFailed),
            error => families::commit_failure(work.scope, error),
        });
        undo_on_failure(work, done, keys).await?;
    }
    items::show_written(work, resource, WrittenRow::unread(record.value("id").clone()))
}

/// Deletes files whose record is gone. In a transaction, after which the record may be there still, they are left to be
/// swept.
pub async fn remove(work: &Work<'_>, keys: Vec<String>) {
    if let Ok(store) = file_store(work) {
        store.remove(keys).await;
    }
}

// ------------------------------------------------------------------------------------------------ what was sent

pub struct UploadedFile {
    pub file: UploadFile,
    /// A form names the file for people.
    pub named: bool,
    /// The code for a file that is not taken; bodies and forms have their own.
    pub refusal: Code,
}

/// A file that was sent as base64.
fn decoded(work: &Work<'_>, data: &str, name: &str) -> Result<UploadFile, ApiError> {
    let refused = |arg: &str, why: &str| Err(ApiError::invalid_for(arg, Code::InvalidParam).with_message(why));
    if name.is_empty() {
        return refused(FILENAME, "Give the name of the file as `filename`, such as `harbour.jpg`.");
    }
    let Ok(bytes) = STANDARD.decode(data.trim()) else { return refused(DATA, "`data` is no base64.") };
    let written = || -> Result<tempfile::TempPath, String> {
        let mut file = file_store(work)
            .map_err(|error| error.message().to_owned())?
            .media
            .files
            .temporary()
            .map_err(|error| error.to_string())?;
        std::io::Write::write_all(&mut file, &bytes).map_err(|error| error.to_string())?;
        Ok(file.into_temp_path())
    };
    let file = written().map_err(|error| work.scope.internal(&error))?;
    let name = name.replace(['/', '\\'], "");
    Ok(UploadFile { field: String::new(), name, size: bytes.len() as u64, file: Arc::new(file) })
}

/// The file in the body, checked against its digest.
pub async fn sent(work: &Work<'_>) -> Result<UploadedFile, ApiError> {
    let upload = match work.body {
        BodyParams::Upload(upload) => upload,
        BodyParams::None => return Err(ApiError::new(Code::UploadNoData)),
        // Plain parameters: it may be a file, but there is no name.
        BodyParams::Json(_) | BodyParams::Form(_) => return Err(ApiError::new(Code::UploadNoDisposition)),
    };
    let given = given(work, upload)?;
    if let Some(expected) = &upload.md5 {
        check_digest(work, &given.file, expected).await?;
    }
    Ok(given)
}

fn given(work: &Work<'_>, upload: &Upload) -> Result<UploadedFile, ApiError> {
    if upload.form {
        refuse_if(upload.files.is_empty(), Code::UploadNoData)?;
        let mut files = upload.files.iter().filter(|f| f.field == "file" && f.size > 0);
        let file = files.next_back();
        if files.next().is_some() && !work.scope.registry.declaration.dialect.last_file_of_a_field {
            let several = "The form has several files in the field `file`; send each in a request of its own.";
            return Err(ApiError::new(Code::BadRequest).with_message(several));
        }
        let absent = || if refuses_as_server(work) { Code::UploadRefusedPart } else { Code::UploadNoData };
        let file = file.cloned().ok_or_else(|| ApiError::new(absent()))?;
        return Ok(UploadedFile { file, named: true, refusal: Code::UploadRefusedPart });
    }
    let file = upload.files.first().ok_or_else(|| ApiError::new(Code::UploadNoData))?;
    let header = upload.disposition.as_deref().ok_or_else(|| ApiError::new(Code::UploadNoDisposition))?;
    let name = names::in_disposition(header).ok_or_else(|| ApiError::new(Code::UploadInvalidDisposition))?;
    // As observed: a header names a file and no path, so that slashes are left out like other signs.
    let name = name.replace(['/', '\\'], "");
    Ok(UploadedFile { file: UploadFile { name, ..file.clone() }, named: false, refusal: Code::UploadRefusedBody })
}

/// Whether a file that is not taken is an error of the server.
fn refuses_as_server(work: &Work<'_>) -> bool {
    work.scope.registry.declaration.dialect.refused_file_as_server_error
}

/// The refusal of a file by its type, with the endings of what is taken; `recorded` is its code as an error of the server.
pub fn unsupported_type(work: &Work<'_>, recorded: Code) -> ApiError {
    if refuses_as_server(work) {
        return ApiError::new(recorded);
    }
    let types = work.scope.registry.declaration.media.types.values();
    let taken: Vec<&str> = types.filter(|of| of.enabled).flat_map(|of| &of.extensions).map(String::as_str).collect();
    let message = format!("{} Taken are: {}.", Code::UploadTypeRefused.message(), taken.join(", "));
    ApiError::new(Code::UploadTypeRefused).with_message(message).with("extensions", json!(taken))
}

async fn check_digest(work: &Work<'_>, file: &UploadFile, expected: &str) -> Result<(), ApiError> {
    let held = Arc::clone(&file.file);
    let found = file_store(work)?.in_pool(move |_| digest(&held)).await;
    let found = found.map_err(|error| refusal(work, error, Code::Internal))?;
    let found = found.map_err(|error| work.scope.internal(&error))?;
    if found == expected.trim() { Ok(()) } else { Err(ApiError::new(Code::UploadHashMismatch)) }
}

fn digest(file: &Path) -> std::io::Result<String> {
    let mut md5 = Md5::new();
    std::io::copy(&mut std::fs::File::open(file)?, &mut md5)?;
    Ok(md5.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

/// Files are stored by year and month: of the record that they are for, where it has a date, otherwise the current one.
fn folder(work: &Work<'_>, resource: &Resource) -> Result<String, ApiError> {
    let parent = work.allowed.args().int(parent_of(resource)).filter(|id| *id != 0);
    let mut moment = work.scope.local_now();
    if let Some(id) = parent {
        let (wanted, this) = ([record::KIND, record::DATE_LOCAL], eq(ID, DbValue::Int(id)));
        let found = records::first::<(Name, i64)>(&*work.scope.snapshot()?, record::TABLE, &wanted, this)?;
        if let Some((kind, date)) = found.filter(|(_, date)| *date != 0)
            && work.scope.registry.resource_of_kind(&kind).is_some_and(|r| !r.declared.hierarchical)
        {
            moment = date;
        }
    }
    let civil = CivilDateTime::of(moment);
    Ok(format!("{:04}/{:02}", civil.year, civil.month))
}

/// The steps of an edit: a list, or the older parameters, turned first and cut then.
fn steps(work: &Work<'_>) -> Vec<Edit> {
    let args = work.allowed.args();
    if let Some(list) = args.get("modifiers").and_then(Value::as_array) {
        return list.iter().filter_map(step).collect();
    }
    let number = |name: &str| args.get(name).and_then(Value::as_f64);
    let rotation = number("rotation").map(Edit::Rotate);
    let crop = match (number("x"), number("y"), number("width"), number("height")) {
        (Some(left), Some(top), Some(width), Some(height)) => Some(Edit::Crop { left, top, width, height }),
        _ => None,
    };
    rotation.into_iter().chain(crop).collect()
}

fn step(modifier: &Value) -> Option<Edit> {
    let args = &modifier["args"];
    let number = |name: &str| args[name].as_f64();
    Some(match modifier["type"].as_str()? {
        "rotate" => Edit::Rotate(number("angle")?),
        "flip" => Edit::Flip {
            horizontal: args["flip"]["horizontal"] == json!(true),
            vertical: args["flip"]["vertical"] == json!(true),
        },
        "crop" => Edit::Crop {
            left: number("left")?,
            top: number("top")?,
            width: number("width")?,
            height: number("height")?,
        },
        _ => return None,
    })
}

/// Whether `src` is the address of the record's file, or of one of its sizes.
fn is_one_of(work: &Work<'_>, extra: &Value, file: &str) -> bool {
    let source = work.allowed.args().text("src").unwrap_or_default();
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let sizes = extra.pointer("/media_details/sizes").and_then(Value::as_object);
    let sizes = sizes.into_iter().flatten().filter_map(|(_, size)| size["file"].as_str());
    let original = extra.pointer("/media_details/original_image").and_then(Value::as_str);
    let mut beside = sizes.chain(original).map(|own| format!("{folder}/{own}"));
    let registry = &work.scope.registry;
    source == address(registry, file) || beside.any(|key| source == address(registry, &key))
}

/// The extension of a file's name.
fn end_of(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(_, end)| end)
}

/// `tree-edited-2` and `tree-scaled` are edited as `tree`.
fn edited_name(base: &str) -> String {
    let base = base.trim_end_matches("-scaled").trim_end_matches("-rotated");
    let numberless = base.trim_end_matches(|c: char| c.is_ascii_digit());
    let plain = numberless.strip_suffix('-').and_then(|b| b.strip_suffix("-edited")).or(base.strip_suffix("-edited"));
    format!("{}-edited", plain.unwrap_or(base))
}

pub fn extra(record: Record<'_>) -> Value {
    serde_json::from_str(record.text("extra")).unwrap_or_else(|_| json!({}))
}

/// The services that store files; the only way in which handlers reach files.
///
/// # Errors
/// A transaction is open.
pub fn file_store<'a>(work: &'a Work<'_>) -> Result<FileStore<'a>, ApiError> {
    Ok(FileStore {
        registry: &work.scope.registry,
        storage: &*work.scope.storage,
        media: &work.shared.media,
        owner: work.scope.job_owner()?,
        now: work.scope.now,
    })
}

/// Files of a record that was not created are deleted at once.
pub async fn undo_on_failure<T>(work: &Work<'_>, done: Result<T, ApiError>, keys: Vec<String>) -> Result<T, ApiError> {
    if done.is_err() {
        remove(work, keys).await;
    }
    done
}

/// Why a file is not stored, to the client; `broken` is the code for a picture that cannot be read.
pub fn refusal(work: &Work<'_>, error: StoreError, broken: Code) -> ApiError {
    match error {
        StoreError::Busy => ApiError::new(Code::Busy),
        StoreError::Picture(error) => picture_refusal(error, broken),
        StoreError::Failed(why) => {
            tracing::error!(request = %work.scope.request_id, "files: {why}");
            ApiError::new(Code::StorageReadOnly)
        }
    }
}

pub fn picture_refusal(error: PictureError, broken: Code) -> ApiError {
    let code = match error {
        PictureError::TooLarge(_) => Code::UploadTooLarge,
        PictureError::Broken(_) | PictureError::NoPixels | PictureError::Empty | PictureError::Refused(_) => broken,
    };
    ApiError::new(code).with_message(error.to_string())
}

pub fn unreachable_files(work: &Work<'_>, error: &FilesError) -> ApiError {
    tracing::error!(request = %work.scope.request_id, "files: {error}");
    ApiError::new(Code::StorageReadOnly)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_edited_pictures() {
        for (from, to) in [
            ("tree", "tree-edited"),
            ("tree-edited", "tree-edited"),
            ("tree-edited-12", "tree-edited"),
            ("tree-scaled", "tree-edited"),
            ("tree-2", "tree-2-edited"),
        ] {
            assert_eq!(edited_name(from), to, "{from}");
        }
    }
}
