//! Records that stand for files: upload, edit, what is still to be made, and what goes with them.
//!
//! The order that survives a crash: names are claimed in the database, then files are stored, then the record is written
//! together with whose files they are. What is claimed and belongs to no record is swept away later.

use super::{Outcome, Refusal, Work, content, items};
use crate::behaviours::files::{address, file_of};
use crate::error::{ApiError, Code};
use crate::files::kinds::{self, Kind};
use crate::files::{FilesError, names};
use crate::model::{Incoming, Upload};
use crate::pictures::pool::PoolError;
use crate::pictures::{self, Made, PictureError, Step};
use crate::records::{self, Record, columns, eq, int, text, txt};
use crate::registry::name;
use crate::registry::resource::{Context, Resource};
use crate::request::BodyParams;
use crate::storage::plan::{Change, Cond, DbValue, Input, Put, Row, Target, WritePlan};
use crate::text::time::Civil;
use content::Brought;
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The table of files.
const TABLE: &str = "file";

/// How many names are tried one after the other; then chance decides.
const TRIES: u32 = 40;

/// `file_create`: a record from a file in the body, or in a form's field `file`.
///
/// # Errors
/// No file, one that is not what it says, one that is not taken.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let given = given(work)?;
    if let Some(expected) = &given.md5 {
        check_digest(work, given.file, expected).await?;
    }
    let media = &work.scope.registry.declaration.media;
    let (base, kind) = recognised(given.name, given.file.path(), work).ok_or_else(|| ApiError::new(given.refusal))?;
    if given.file.size > media.max_upload {
        return Err(ApiError::new(Code::UploadTooLarge));
    }
    let folder = folder(work, resource)?;
    let source = Source { path: given.file.path(), size: given.file.size, meta: None };
    let kept = keep(work, source, &base, &kind, &folder, given.refusal).await?;
    let texts = vec![("title", kept.title.clone()), ("mime", kind.mime)];
    let brought = Brought { texts, guid: kept.url, extra: kept.extra, changes: owned_by_new(&kept.keys, work) };
    let key = content::create_for_file(work, resource, brought).await;
    let key = undo_on_failure(work, key, kept.keys).await?;
    let mut outcome = items::created(work, resource, &key)?;
    let header = format!("X-{}-Upload-Attachment-ID", work.scope.registry.site.prefix.to_uppercase());
    outcome.headers.push((header, int(&key).to_string()));
    Ok(outcome)
}

/// `file_edit`: a new record with the picture cut, turned or mirrored; the old one stays.
///
/// # Errors
/// The file is no picture of this record, or nothing was asked for.
pub async fn edit(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let row = work.allowed.target().ok_or_else(|| ApiError::new(Code::Internal))?;
    let record = Record { resource, row };
    let extra = extra(record);
    let file = file_of(&extra).filter(|file| is_one_of(work, &extra, file));
    let mime = record.text("mime");
    let (Some(file), true) = (file, mime.starts_with("image/")) else {
        return Err(ApiError::new(Code::UnknownAttachment));
    };
    let format = pictures::format_of(mime).ok_or_else(|| ApiError::new(Code::CannotEditFileType))?;
    let steps = steps(work);
    if steps.is_empty() {
        return Err(ApiError::new(Code::ImageNotEdited));
    }
    let source = work.engine.studio().files.fetch(file).await.map_err(|e| unreachable_files(work, &e))?;
    let edited = in_pool(work, move |media| pictures::edit(&source, format, media, &steps)).await?;
    let edited = edited.map_err(|error| picture_refusal(error, Code::ImageCropFailed))?;
    let mut incoming = work.engine.studio().files.temporary().map_err(|e| unreachable_files(work, &e))?;
    std::io::Write::write_all(&mut incoming, &edited).map_err(|e| work.scope.internal(&e))?;
    let (folder, old) = file.rsplit_once('/').unwrap_or(("", file));
    let (base, extension) = old.rsplit_once('.').unwrap_or((old, ""));
    let kind = Kind { mime: mime.to_owned(), extension: extension.to_owned() };
    let meta = extra.pointer("/media_details/image_meta").cloned();
    let source = Source { path: incoming.path(), size: edited.len() as u64, meta };
    let kept = keep(work, source, &edited_name(base), &kind, folder, Code::ImageCropFailed).await?;
    let mut all = kept.extra;
    if let Some(details) = all.get_mut("media_details").and_then(Value::as_object_mut) {
        details.insert("parent_image".into(), json!({"attachment_id": record.id(), "file": file}));
    }
    all.insert("alt_text".into(), extra.get("alt_text").cloned().unwrap_or_else(|| json!("")));
    let texts = ["title", "content", "excerpt", "mime"].map(|column| (column, record.text(column).to_owned()));
    let changes = owned_by_new(&kept.keys, work);
    let brought = Brought { texts: texts.to_vec(), guid: kept.url, extra: all, changes };
    let key = content::create_for_file(work, resource, brought).await;
    let key = undo_on_failure(work, key, kept.keys).await?;
    let row = items::fetch(work, resource, &key)?;
    let path = resource.item_path(&Record { resource, row: &row }.key());
    let document = items::show(work, resource, &row, Context::VIEW, work.fields)?;
    Ok(Outcome::created(document, work.scope.registry.rest(&path)))
}

/// `file_process`: makes the sizes that are still missing.
///
/// # Errors
/// The picture cannot be read any more.
pub async fn process(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let row = work.allowed.target().ok_or_else(|| ApiError::new(Code::Internal))?;
    let record = Record { resource, row };
    let mut all = extra(record);
    let (Some(file), Some(format)) = (file_of(&all).map(str::to_owned), pictures::format_of(record.text("mime")))
    else {
        return Ok(Outcome::ok(items::show(work, resource, row, Context::EDIT, work.fields)?));
    };
    let present = all.pointer("/media_details/sizes").and_then(Value::as_object).cloned().unwrap_or_default();
    let source = work.engine.studio().files.fetch(&file).await.map_err(|e| unreachable_files(work, &e))?;
    let made =
        in_pool(work, move |media| pictures::missing(&source, format, media, |size| !present.contains_key(size)))
            .await?;
    let made = made.map_err(|error| picture_refusal(error, Code::ImageCropFailed))?;
    if !made.is_empty() {
        let (folder, own) = file.rsplit_once('/').unwrap_or(("", &file));
        let (base, extension) = own.rsplit_once('.').unwrap_or((own, ""));
        let mut keys = Vec::new();
        let sizes = keep_sizes(work, made, (folder, base, extension), record.text("mime"), &mut keys).await?;
        if let Some(details) = all.get_mut("media_details").and_then(Value::as_object_mut)
            && let Some(known) = details.entry("sizes").or_insert_with(|| json!({})).as_object_mut()
        {
            known.extend(sizes);
        }
        let key = record.value("id").clone();
        let target = Target::Existing { key: key.clone(), expect: Some(record.int("version")) };
        let mut changes = vec![Change::Put(put(&resource.table, target, vec![("extra", txt(&all.to_string()))]))];
        changes.extend(keys.iter().map(|file| owned_by(file, &key)));
        let done = work.commit(WritePlan { changes }).await.map(|_| key.clone()).map_err(|refusal| match refusal {
            Refusal::Error(error) => error,
            _ => ApiError::new(Code::PreconditionFailed),
        });
        undo_on_failure(work, done, keys).await?;
    }
    items::show_written(work, resource, record.value("id"))
}

/// Keys of the files of a record.
///
/// # Errors
/// The database cannot be read.
pub fn of_record(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<Vec<String>, ApiError> {
    let id = Record { resource, row }.id();
    let rows = work.scope.snapshot()?.rows(&columns(TABLE, &["key"], eq("record", DbValue::Int(id))))?;
    Ok(rows.iter().map(|row| text(&row[0]).to_owned()).collect())
}

/// Takes files away whose record is gone. What cannot be taken away now is swept later.
pub async fn remove(work: &Work<'_>, keys: Vec<String>) {
    for key in keys {
        if let Err(error) = work.engine.studio().files.delete(&key).await {
            tracing::warn!(request = %work.scope.request_id, "{key} stays for now: {error}");
            continue;
        }
        let gone = Change::Remove { table: name(TABLE), key: txt(&key), expect: None };
        if let Err(error) = work.scope.storage.commit(WritePlan { changes: vec![gone] }).await {
            tracing::warn!(request = %work.scope.request_id, "{key} is still claimed: {error:?}");
        }
    }
}

// ------------------------------------------------------------------------------------------------ what was sent

struct Given<'a> {
    file: &'a Incoming,
    name: &'a str,
    md5: Option<String>,
    /// The code for a file that is not taken; bodies and forms have their own.
    refusal: Code,
}

fn given<'a>(work: &'a Work<'_>) -> Result<Given<'a>, ApiError> {
    let BodyParams::Upload(upload) = work.body else { return Err(ApiError::new(Code::UploadNoData)) };
    let md5 = upload.md5.clone();
    if upload.form {
        if upload.files.is_empty() {
            return Err(ApiError::new(Code::UploadNoData));
        }
        let file = upload.files.iter().find(|f| f.field == "file" && f.size > 0);
        let file = file.ok_or_else(|| ApiError::new(Code::UploadRefusedPart))?;
        return Ok(Given { file, name: &file.name, md5, refusal: Code::UploadRefusedPart });
    }
    let file = upload.files.first().ok_or_else(|| ApiError::new(Code::UploadNoData))?;
    let name = disposition(upload)?;
    Ok(Given { file, name, md5, refusal: Code::UploadRefusedBody })
}

/// The file name of `attachment; filename="tree.png"`, with or without quotes.
fn disposition(upload: &Upload) -> Result<&str, ApiError> {
    let header = upload.disposition.as_deref().ok_or_else(|| ApiError::new(Code::UploadNoDisposition))?;
    let mut parts = header.split(';').skip(1);
    let found = parts.find_map(|part| {
        let (key, value) = part.trim().split_once('=')?;
        key.trim().eq_ignore_ascii_case("filename").then(|| value.trim().trim_matches('"').trim())
    });
    found.filter(|name| !name.is_empty()).ok_or_else(|| ApiError::new(Code::UploadInvalidDisposition))
}

async fn check_digest(work: &Work<'_>, file: &Incoming, expected: &str) -> Result<(), ApiError> {
    let held = Arc::clone(&file.file);
    let found = in_pool(work, move |_| digest(&held)).await?.map_err(|error| work.scope.internal(&error))?;
    if found == expected.trim() { Ok(()) } else { Err(ApiError::new(Code::UploadHashMismatch)) }
}

fn digest(file: &Path) -> std::io::Result<String> {
    let mut md5 = Md5::new();
    std::io::copy(&mut std::fs::File::open(file)?, &mut md5)?;
    Ok(md5.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

/// What the file is to be called and what it is; `None` when it is not taken.
fn recognised(given: &str, file: &Path, work: &Work<'_>) -> Option<(String, Kind)> {
    let media = &work.scope.registry.declaration.media;
    let (base, extension) = names::stored(given, |end| kinds::by_extension(end, media).is_some())?;
    let head = kinds::head(file).ok()?;
    Some((base, kinds::kind(&extension, &head, media)?))
}

/// Files lie by year and month: of the record that they are for, where it has a place in time, otherwise of now.
fn folder(work: &Work<'_>, resource: &Resource) -> Result<String, ApiError> {
    let parent = resource.properties.iter().find(|p| p.column.as_deref() == Some("parent"));
    let parent = parent.and_then(|p| work.allowed.args().int(&p.name)).filter(|id| *id != 0);
    let mut moment = work.scope.local_now();
    if let Some(id) = parent {
        let row =
            records::first(&*work.scope.snapshot()?, "record", &["kind", "date_local"], eq("id", DbValue::Int(id)))?;
        if let Some(row) = row
            && work.scope.registry.resource_of_kind(text(&row[0])).is_some_and(|r| !r.declared.hierarchical)
            && int(&row[1]) != 0
        {
            moment = int(&row[1]);
        }
    }
    let civil = Civil::of(moment);
    Ok(format!("{:04}/{:02}", civil.year, civil.month))
}

/// The steps of an edit: a list, or the older parameters, turned first and cut then.
fn steps(work: &Work<'_>) -> Vec<Step> {
    let args = work.allowed.args();
    if let Some(list) = args.get("modifiers").and_then(Value::as_array) {
        return list.iter().filter_map(step).collect();
    }
    let number = |name: &str| args.get(name).and_then(Value::as_f64);
    let rotation = number("rotation").map(Step::Rotate);
    let crop = match (number("x"), number("y"), number("width"), number("height")) {
        (Some(left), Some(top), Some(width), Some(height)) => Some(Step::Crop { left, top, width, height }),
        _ => None,
    };
    rotation.into_iter().chain(crop).collect()
}

fn step(modifier: &Value) -> Option<Step> {
    let args = &modifier["args"];
    let number = |name: &str| args[name].as_f64();
    Some(match modifier["type"].as_str()? {
        "rotate" => Step::Rotate(number("angle")?),
        "flip" => Step::Flip {
            horizontal: args["flip"]["horizontal"] == json!(true),
            vertical: args["flip"]["vertical"] == json!(true),
        },
        "crop" => Step::Crop {
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
    source == address(work.scope, file) || beside.any(|key| source == address(work.scope, &key))
}

/// `tree-edited-2` and `tree-scaled` are edited as `tree`.
fn edited_name(base: &str) -> String {
    let base = base.trim_end_matches("-scaled").trim_end_matches("-rotated");
    let numberless = base.trim_end_matches(|c: char| c.is_ascii_digit());
    let plain = numberless.strip_suffix('-').and_then(|b| b.strip_suffix("-edited")).or(base.strip_suffix("-edited"));
    format!("{}-edited", plain.unwrap_or(base))
}

// ------------------------------------------------------------------------------------------------ storing

struct Source<'a> {
    path: &'a Path,
    size: u64,
    /// What is said of the picture in place of what the file says itself.
    meta: Option<Value>,
}

/// Files that are stored and claimed, and belong to nobody yet.
struct Kept {
    title: String,
    url: String,
    keys: Vec<String>,
    extra: Map<String, Value>,
}

async fn keep(
    work: &Work<'_>,
    source: Source<'_>,
    base: &str,
    kind: &Kind,
    folder: &str,
    refusal: Code,
) -> Result<Kept, ApiError> {
    let prepared = match pictures::format_of(&kind.mime) {
        None => None,
        Some(format) => {
            let path = PathBuf::from(source.path);
            let prepared = in_pool(work, move |media| pictures::prepare(&path, format, media)).await?;
            Some(prepared.map_err(|error| picture_refusal(error, refusal))?)
        }
    };
    let files = &work.engine.studio().files;
    let extension = &kind.extension;
    let (key, base) = claim(work, folder, base, extension).await?;
    let mut keys = vec![key.clone()];
    let cleaned = prepared.as_ref().and_then(|p| p.cleaned.clone());
    let mut size = cleaned.as_ref().map_or(source.size, |bytes| bytes.len() as u64);
    let stored = match cleaned {
        Some(bytes) => files.put(&key, bytes).await,
        None => files.put_file(&key, source.path).await,
    };
    stored.map_err(|error| unreachable_files(work, &error))?;
    let mut details = Map::new();
    let mut shown = key.clone();
    if let Some(prepared) = prepared {
        let mut original = None;
        if let Some(standing) = prepared.standing {
            let marked = format!("{base}{}", standing.mark);
            let (marked, _) = claim(work, folder, &marked, extension).await?;
            keys.push(marked.clone());
            size = standing.bytes.len() as u64;
            files.put(&marked, standing.bytes).await.map_err(|error| unreachable_files(work, &error))?;
            original = Some(last(&key).to_owned());
            shown = marked;
        }
        let sizes = keep_sizes(work, prepared.made, (folder, &base, extension), &kind.mime, &mut keys).await?;
        details.insert("width".into(), json!(prepared.width));
        details.insert("height".into(), json!(prepared.height));
        details.insert("file".into(), json!(shown));
        details.insert("filesize".into(), json!(size));
        details.insert("sizes".into(), Value::Object(sizes));
        details.insert("image_meta".into(), source.meta.unwrap_or(prepared.meta));
        if let Some(original) = original {
            details.insert("original_image".into(), json!(original));
        }
    } else {
        details.insert("filesize".into(), json!(size));
        details.insert("sizes".into(), json!({}));
    }
    let mut extra = Map::new();
    extra.insert("file".into(), json!(shown));
    extra.insert("media_details".into(), Value::Object(details));
    Ok(Kept { title: base, url: address(work.scope, &shown), keys, extra })
}

/// Claims and stores smaller copies; what is said of them, by name.
async fn keep_sizes(
    work: &Work<'_>,
    made: Vec<Made>,
    (folder, base, extension): (&str, &str, &str),
    mime: &str,
    keys: &mut Vec<String>,
) -> Result<Map<String, Value>, ApiError> {
    let named: Vec<(String, Made)> = made
        .into_iter()
        .map(|made| (in_folder(folder, &format!("{base}-{}x{}.{extension}", made.width, made.height)), made))
        .collect();
    // Two sizes may come to the same.
    let mut wanted: Vec<String> = named.iter().map(|(key, _)| key.clone()).collect();
    wanted.sort();
    wanted.dedup();
    let all_at_once = !wanted.is_empty() && claimed(work, &wanted).await?;
    let mut sizes = Map::new();
    let mut done: Vec<String> = Vec::new();
    for (mut key, made) in named {
        if !all_at_once && !done.contains(&key) {
            let own = format!("{base}-{}x{}", made.width, made.height);
            key = claim(work, folder, &own, extension).await?.0;
        }
        let size = made.bytes.len();
        if !done.contains(&key) {
            done.push(key.clone());
            keys.push(key.clone());
            let files = &work.engine.studio().files;
            files.put(&key, made.bytes).await.map_err(|error| unreachable_files(work, &error))?;
        }
        let told = json!({
            "file": last(&key), "width": made.width, "height": made.height, "filesize": size, "mime_type": mime,
        });
        sizes.insert(made.name, told);
    }
    Ok(sizes)
}

/// Claims the first free name: `base`, `base-1`, `base-2`, …; the key, and the base that it was made of.
async fn claim(work: &Work<'_>, folder: &str, base: &str, extension: &str) -> Result<(String, String), ApiError> {
    for n in 0..TRIES * 2 {
        let own = match n {
            0 => base.to_owned(),
            n if n < TRIES => format!("{base}-{n}"),
            _ => format!("{base}-{:08x}", rand::random::<u32>()),
        };
        let key = in_folder(folder, &format!("{own}.{extension}"));
        // A file that lies there without being known is somebody's, too.
        let lies = work.engine.studio().files.stat(&key).await.map_err(|error| unreachable_files(work, &error))?;
        if lies.is_none() && claimed(work, std::slice::from_ref(&key)).await? {
            return Ok((key, own));
        }
    }
    Err(ApiError::new(Code::Busy))
}

/// Claims these keys, all or none; false when one of them is taken.
async fn claimed(work: &Work<'_>, keys: &[String]) -> Result<bool, ApiError> {
    let claims = keys.iter().map(|key| {
        let set = vec![("record", DbValue::Int(0)), ("at", DbValue::Int(work.scope.now))];
        Change::Put(put(TABLE, Target::Keyed(txt(key)), set))
    });
    match work.commit(WritePlan { changes: claims.collect() }).await {
        Ok(_) => Ok(true),
        Err(Refusal::Rule { tag: "key_taken" | "duplicate", .. }) => Ok(false),
        Err(Refusal::Error(error)) => Err(error),
        Err(refusal) => Err(work.scope.internal(&format!("a claim was refused: {refusal:?}"))),
    }
}

/// Gives files to the record that is the plan's first put.
fn owned_by_new(keys: &[String], work: &Work<'_>) -> Vec<Change> {
    let own = |key: &String| {
        let mut put = put(TABLE, Target::Existing { key: txt(key), expect: None }, Vec::new());
        put.set = vec![(name("record"), Input::IdOf(0)), (name("at"), Input::Value(DbValue::Int(work.scope.now)))];
        Change::Put(put)
    };
    keys.iter().map(own).collect()
}

fn owned_by(key: &str, record: &DbValue) -> Change {
    Change::Put(put(TABLE, Target::Existing { key: txt(key), expect: None }, vec![("record", record.clone())]))
}

/// Files of a record that did not come to be are taken away at once.
async fn undo_on_failure(
    work: &Work<'_>,
    done: Result<DbValue, ApiError>,
    keys: Vec<String>,
) -> Result<DbValue, ApiError> {
    if done.is_err() {
        remove(work, keys).await;
    }
    done
}

fn put(table: &str, target: Target, set: Vec<(&str, DbValue)>) -> Put {
    Put {
        table: name(table),
        target,
        set: set.into_iter().map(|(column, value)| (name(column), Input::Value(value))).collect(),
        slug: None,
        edges: Vec::new(),
        meta: Vec::new(),
        revision: None,
    }
}

/// Files that were claimed before `before` and belong to no record, at most so many.
///
/// # Errors
/// The database cannot be read.
pub fn orphans(
    snapshot: &dyn crate::storage::Snapshot,
    before: i64,
    most: u64,
) -> Result<Vec<String>, crate::storage::StorageError> {
    let owned = Cond::Related {
        table: name("record"),
        inner: name("id"),
        outer: name("record"),
        filter: Box::new(records::everything()),
    };
    let old = Cond::Compare(name("at"), crate::storage::plan::Op::Le, DbValue::Int(before));
    let mut plan = columns(TABLE, &["key"], Cond::All(vec![old, Cond::Not(Box::new(owned))]));
    plan.limit = Some(most);
    Ok(snapshot.rows(&plan)?.iter().map(|row| text(&row[0]).to_owned()).collect())
}

fn in_folder(folder: &str, own: &str) -> String {
    if folder.is_empty() { own.to_owned() } else { format!("{folder}/{own}") }
}

fn last(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

fn extra(record: Record<'_>) -> Value {
    serde_json::from_str(record.text("extra")).unwrap_or_else(|_| json!({}))
}

async fn in_pool<T: Send + 'static>(
    work: &Work<'_>,
    job: impl FnOnce(&crate::config::declaration::Media) -> T + Send + 'static,
) -> Result<T, ApiError> {
    let registry = Arc::clone(&work.scope.registry);
    let done = work.engine.studio().pool.run(move || job(&registry.declaration.media)).await;
    done.map_err(|error| match error {
        PoolError::Busy => ApiError::new(Code::Busy),
        PoolError::Failed => work.scope.internal(&"work on a picture broke off"),
    })
}

fn picture_refusal(error: PictureError, broken: Code) -> ApiError {
    let code = match error {
        PictureError::TooLarge(_) => Code::UploadTooLarge,
        PictureError::Broken(_) | PictureError::Empty => broken,
    };
    ApiError::new(code).with_message(error.to_string())
}

fn unreachable_files(work: &Work<'_>, error: &FilesError) -> ApiError {
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

    #[test]
    fn dispositions() {
        let check = |header: &str, expected: Result<&str, &str>| {
            let upload = Upload { disposition: Some(header.to_owned()), ..Upload::default() };
            let found = disposition(&upload);
            assert_eq!(found.as_ref().map(|n| *n).map_err(|e| e.code().as_str()), expected, "{header}");
        };
        check("attachment; filename=\"a b.png\"", Ok("a b.png"));
        check("attachment; filename=a.png", Ok("a.png"));
        check("inline; x=1; Filename = \"a.png\"", Ok("a.png"));
        for wrong in
            ["attachment", "filename=\"a.png\"", "attachment; filename=\"\"", "attachment; filename*=UTF-8''a.png", ""]
        {
            check(wrong, Err("rest_upload_invalid_disposition"));
        }
    }
}
