//! Uploaded files: stored, claimed and assigned to records, for requests and imports.
//!
//! The order that survives a crash: names are claimed in the database, then files are stored, then the record is written
//! together with the owner of its files. What is claimed and belongs to no record is swept later.

use super::column;
use crate::behaviours::files::address;
use crate::files::kinds::{self, FileKind};
use crate::files::{Files, FilesError, names};
use crate::records::{always, columns, eq, is_in, txt};
use crate::registry::columns::file as col;
use crate::registry::columns::{ID, record};
use crate::registry::{Registry, name};
use cms_base::pool::{Budget, JobOwner, Pool, PoolError};
use cms_declaration::Media;
use cms_pictures::{PictureBounds, PictureError, PictureResult, PrepareOptions, PreparedPicture, ResizedCopy, boxes};
use cms_storage::plan::{Change, CommitError, Cond, DbValue, Input, Op, Order, Put, Target, WritePlan};
use cms_storage::{Snapshot, Storage, StorageError};
use image::ImageFormat;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many names are tried in order; then chance decides.
const TRIES: u32 = 200;

/// Where files live, and the threads that work on pictures.
pub struct MediaServices {
    pub files: Arc<Files>,
    pub pool: Pool,
    /// Memory for the work on pictures.
    pub memory: Arc<Budget>,
}

/// The services that store files.
pub struct FileStore<'a> {
    pub registry: &'a Arc<Registry>,
    pub storage: &'a dyn Storage,
    pub media: &'a MediaServices,
    /// Whom the work is done for.
    pub owner: JobOwner,
    /// UTC seconds.
    pub now: i64,
}

/// Why a file is not stored.
#[derive(Debug)]
pub enum StoreError {
    /// The queue is full.
    Busy,
    /// The picture is broken or too large.
    Picture(PictureError),
    /// The store or the database does not do its part: why.
    Failed(String),
}

impl From<FilesError> for StoreError {
    fn from(error: FilesError) -> StoreError {
        StoreError::Failed(error.to_string())
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Busy => f.write_str("the queue is full"),
            StoreError::Picture(error) => write!(f, "{error}"),
            StoreError::Failed(why) => f.write_str(why),
        }
    }
}

/// A file to store.
pub struct FileSource<'a> {
    pub path: &'a Path,
    /// Bytes.
    pub size: u64,
    /// Metadata that replace those of the file.
    pub meta: Option<Value>,
    pub making: PictureOptions,
    /// Data to preserve from another site.
    pub kept: Option<ImportedFile>,
}

/// The data that a file preserves from the site that it comes from.
pub struct ImportedFile {
    /// Its name, which nothing is changed in; where it is taken, the file gets another one.
    pub key: String,
    /// Smaller copies that are stored already, as its record describes them.
    pub sizes: Map<String, Value>,
}

/// The processing of a picture in addition to storing it.
#[derive(Clone, Debug)]
pub struct PictureOptions {
    /// Copies in the declared sizes.
    pub copies: bool,
    /// A copy that is shown instead of a picture that is too large or not upright.
    pub display: bool,
    /// They are of the type that is declared for the picture's.
    pub convert: bool,
    /// The language of texts, such as `en_US`.
    pub language: String,
}

impl PictureOptions {
    /// Everything that is declared.
    pub fn all(language: &str) -> PictureOptions {
        PictureOptions { copies: true, display: true, convert: true, language: language.to_owned() }
    }

    /// The kind of what is made of a picture, and how it is made.
    pub fn of(&self, kind: &FileKind, format: ImageFormat, media: &Media) -> (FileKind, PrepareOptions) {
        let made = self.kind(kind, media);
        let wanted = PrepareOptions {
            copies: self.copies,
            display: self.display,
            format: cms_pictures::format_of(&made.mime).unwrap_or(format),
            quality: media.quality_of(&made.mime),
            language: self.language.clone(),
        };
        (made, wanted)
    }

    fn kind(&self, kind: &FileKind, media: &Media) -> FileKind {
        let converted = media.converted(&kind.mime).filter(|_| self.convert);
        let end = |mime: &str| media.types.get(mime).and_then(|of| of.extensions.first()).cloned();
        match converted.and_then(|mime| Some((mime.to_owned(), end(mime)?))) {
            Some((mime, extension)) if cms_pictures::format_of(&mime).is_some() => FileKind { mime, extension },
            _ => kind.clone(),
        }
    }
}

/// Files that are stored and claimed, and belong to nobody yet.
pub struct StoredFiles {
    /// The name without its end.
    pub title: String,
    pub url: String,
    /// The key of the file that represents the record.
    pub file: String,
    pub mime: String,
    /// The description of the picture in its metadata.
    pub alternative: String,
    pub keys: Vec<String>,
    /// Members of the record's `extra`.
    pub extra: Map<String, Value>,
}

/// The name and the kind of a file; `None` when the file is refused.
pub fn recognised(given: &str, file: &Path, media: &Media) -> Option<(String, FileKind)> {
    let alone = |mime: &str| media.types.get(mime).is_some_and(|of| of.alone);
    any_recognised(given, file, media).filter(|(_, kind)| alone(&kind.mime))
}

/// As [`recognised`], also of a type that is not accepted by itself.
pub fn any_recognised(given: &str, file: &Path, media: &Media) -> Option<(String, FileKind)> {
    let (base, extension) = names::stored(given, |end| kinds::by_extension(end, media).is_some())?;
    let head = kinds::head(file).ok()?;
    Some((base, kinds::kind(&extension, &head, media)?))
}

/// The owner of files that are being swept away.
const DOOMED: i64 = -1;

/// The owner of a file that an import has begun to bring: a run that was ended leaves the name to the next one.
const IMPORTED: i64 = -2;

/// The owner of any other file that no record has yet.
const NOBODY: i64 = 0;

/// The keys of a record's files.
pub fn of_record(snapshot: &dyn Snapshot, record: i64) -> Result<Vec<String>, StorageError> {
    snapshot.rows_as(&columns(col::TABLE, &[col::KEY], eq(col::RECORD, DbValue::Int(record))))
}

/// Assigns files to the record that is the plan's first put, unless they were swept meanwhile.
pub fn owned_by_new(keys: &[String]) -> Vec<Change> {
    keys.iter().flat_map(|key| owned(key, Input::IdOf(0))).collect()
}

/// Assigns files to an existing record, unless they were swept meanwhile.
pub fn owned_by(keys: &[String], record: &DbValue) -> Vec<Change> {
    keys.iter().flat_map(|key| owned(key, Input::Value(record.clone()))).collect()
}

fn owned(key: &str, record: Input) -> [Change; 2] {
    let pending = Cond::All(vec![eq(col::KEY, txt(key)), is_in(col::RECORD, [NOBODY, IMPORTED])]);
    let target = Target::Existing { key: txt(key), expect: None };
    let put = Put::new(col::TABLE, target, vec![(name(col::RECORD), record)]);
    [Change::Require { plan: columns(col::TABLE, &[col::KEY], pending), found: true, tag: SWEPT }, Change::Put(put)]
}

/// Why a record whose files are gone is not written.
pub const SWEPT: &str = "swept";

/// Files that were claimed before `before` and belong to no record.
fn orphaned(before: i64) -> Cond {
    let owned = Cond::Related {
        table: name(record::TABLE),
        inner: name(ID),
        outer: name(col::RECORD),
        filter: Box::new(always()),
    };
    let old = Cond::Compare(name(col::AT), Op::Le, DbValue::Int(before));
    Cond::All(vec![old, Cond::Not(Box::new(owned))])
}

/// Files that were claimed before `before` and belong to no record, at most so many.
pub fn orphans(snapshot: &dyn Snapshot, before: i64, most: u64) -> Result<Vec<String>, StorageError> {
    let mut plan = columns(col::TABLE, &[col::KEY], orphaned(before));
    plan.limit = Some(most);
    snapshot.rows_as(&plan)
}

/// Marks these files for sweeping, unless a record has claimed them by now.
pub fn doom(keys: &[String], before: i64) -> Change {
    let among = Cond::In(name(col::KEY), keys.iter().map(|key| txt(key)).collect());
    Change::UpdateWhere {
        table: name(col::TABLE),
        filter: Cond::All(vec![among, orphaned(before)]),
        set: vec![(name(col::RECORD), DbValue::Int(DOOMED))],
    }
}

/// Files that [`doom`] has marked, at most so many.
pub fn doomed(snapshot: &dyn Snapshot, most: u64) -> Result<Vec<String>, StorageError> {
    let mut plan = columns(col::TABLE, &[col::KEY], eq(col::RECORD, DbValue::Int(DOOMED)));
    plan.limit = Some(most);
    snapshot.rows_as(&plan)
}

/// The files that records have among these.
pub fn among<'k>(
    snapshot: &dyn Snapshot,
    keys: impl Iterator<Item = &'k String>,
) -> Result<HashSet<String>, StorageError> {
    let owned = Cond::Compare(name(col::RECORD), Op::Gt, DbValue::Int(NOBODY));
    let among = Cond::In(name(col::KEY), keys.map(|key| txt(key)).collect());
    snapshot.rows_as(&columns(col::TABLE, &[col::KEY], Cond::All(vec![among, owned])))
}

/// The files that records have, behind a key, in the order of keys.
///
/// # Errors
/// The database cannot be read.
pub fn owned_after(snapshot: &dyn Snapshot, key: &str, most: u64) -> Result<Vec<String>, StorageError> {
    let owned = Cond::Compare(name(col::RECORD), Op::Gt, DbValue::Int(NOBODY));
    let behind = Cond::Compare(name(col::KEY), Op::Gt, txt(key));
    let mut plan = columns(col::TABLE, &[col::KEY], Cond::All(vec![owned, behind]));
    (plan.order, plan.limit) = (vec![Order::Column(name(col::KEY), false)], Some(most));
    snapshot.rows_as(&plan)
}

/// How many files belong to no record yet, or are to be deleted.
pub fn waiting(snapshot: &dyn Snapshot) -> Result<u64, StorageError> {
    let nobodys = Cond::Compare(name(col::RECORD), Op::Le, DbValue::Int(0));
    snapshot.count(&columns(col::TABLE, &[col::KEY], nobodys))
}

/// Removes the claim of a deleted file.
pub fn unclaimed(key: &str) -> Change {
    Change::Remove { table: name(col::TABLE), key: txt(key), expect: None }
}

impl FileStore<'_> {
    /// Stores a file with all its copies.
    ///
    /// # Errors
    /// See [`StoreError`]; what was stored by then is claimed by no record and swept.
    pub async fn keep(
        &self,
        source: FileSource<'_>,
        base: &str,
        kind: &FileKind,
        folder: &str,
    ) -> Result<StoredFiles, StoreError> {
        let (mut prepared, made) = self.prepared(&source, kind).await?;
        // Where nothing is decoded, the place of origin is written over.
        let copy = if prepared.is_none() { self.without_place(source.path).await? } else { None };
        let files = &self.media.files;
        let (key, base) = match &source.kept {
            Some(kept) if self.claims_imported(&kept.key).await? => (kept.key.clone(), stem(&kept.key).to_owned()),
            _ => self.claim(folder, base, &kind.extension).await?,
        };
        let mut keys = vec![key.clone()];
        let mut cleaned = prepared.as_mut().and_then(|p| p.value.cleaned.take());
        let mut standing = prepared.as_mut().and_then(|p| p.value.standing.take());
        if source.kept.is_some() {
            // The upright picture has the name of the one that no longer says how it has to be turned.
            cleaned = standing.take().map(|standing| standing.bytes).or(cleaned);
        }
        let mut size = cleaned.as_ref().map_or(source.size, |bytes| bytes.len() as u64);
        match cleaned {
            Some(bytes) => files.put(&key, bytes).await?,
            None => files.put_file(&key, copy.as_ref().map_or(source.path, |copy| copy.path())).await?,
        }
        let (mut shown, mut mime, mut original) = (key.clone(), &kind.mime, None);
        let alternative = prepared.as_mut().map(|p| std::mem::take(&mut p.value.alternative)).unwrap_or_default();
        if let Some(standing) = standing {
            let marked = format!("{base}{}", standing.mark);
            let (marked, _) = self.claim(folder, &marked, &made.extension).await?;
            keys.push(marked.clone());
            size = standing.bytes.len() as u64;
            files.put(&marked, standing.bytes).await?;
            original = Some(last(&key).to_owned());
            (shown, mime) = (marked, &made.mime);
        }
        let extent = match &prepared {
            Some(PictureResult { value, .. }) => Some((value.width, value.height)),
            None => self.extent(source.path, &kind.mime).await?,
        };
        let mut details = Map::new();
        if let Some((width, height)) = extent {
            details.insert("width".into(), json!(width));
            details.insert("height".into(), json!(height));
            details.insert("file".into(), json!(shown));
        }
        details.insert("filesize".into(), json!(size));
        details.insert("sizes".into(), json!({}));
        if let Some(PictureResult { value: prepared, .. }) = prepared {
            let place = (folder, base.as_str(), made.extension.as_str());
            let mut sizes = source.kept.map(|kept| kept.sizes).unwrap_or_default();
            let missing = prepared.made.into_iter().filter(|made| !sizes.contains_key(&made.name)).collect();
            sizes.extend(self.keep_sizes(missing, place, &made.mime, &mut keys).await?);
            details.insert("sizes".into(), Value::Object(sizes));
            details.insert("image_meta".into(), source.meta.unwrap_or(prepared.meta));
        }
        details.extend(original.map(|original| ("original_image".to_owned(), json!(original))));
        let mut extra = Map::new();
        extra.insert("media_details".into(), Value::Object(details));
        let (url, mime) = (address(self.registry, &shown), mime.clone());
        Ok(StoredFiles { title: base, url, file: shown, mime, alternative, keys, extra })
    }

    /// The copies of a picture, with its media type; none of other files.
    async fn prepared(
        &self,
        source: &FileSource<'_>,
        kind: &FileKind,
    ) -> Result<(Option<PictureResult<PreparedPicture>>, FileKind), StoreError> {
        let Some(format) = cms_pictures::format_of(&kind.mime) else { return Ok((None, kind.clone())) };
        let (made, wanted) = source.making.of(kind, format, &self.registry.declaration.media);
        let path = PathBuf::from(source.path);
        let prepared = self.in_pool(move |bounds| cms_pictures::prepare(&path, format, bounds, &wanted)).await?;
        Ok((Some(prepared.map_err(StoreError::Picture)?), made))
    }

    /// Stores a copy of a file that an import brings, as it is but for the place where it was taken; false when its name
    /// is taken.
    pub async fn store_imported_copy(&self, file: &Path, key: &str, kind: &FileKind) -> Result<bool, StoreError> {
        let cleaned = match cms_pictures::format_of(&kind.mime) {
            Some(format) => {
                let path = PathBuf::from(file);
                let cleaned = self.in_pool(move |bounds| cms_pictures::cleaned(&path, format, bounds)).await?;
                cleaned.map_err(StoreError::Picture)?
            }
            None => None,
        };
        let copy = if cleaned.is_none() { self.without_place(file).await? } else { None };
        if !self.claims_imported(key).await? {
            return Ok(false);
        }
        match cleaned {
            Some(cleaned) => self.media.files.put(key, cleaned.value).await?,
            None => self.media.files.put_file(key, copy.as_ref().map_or(file, |copy| copy.path())).await?,
        }
        Ok(true)
    }

    /// Claims this name, if it is free. A file that exists without a claim belongs to somebody else.
    async fn claims(&self, key: &str, owner: i64) -> Result<bool, StoreError> {
        Ok(self.media.files.stat(key).await?.is_none() && self.claimed(&[key.to_owned()], owner).await?)
    }

    /// Claims the name that a file of an import has, also where an earlier run was ended before a record had it.
    async fn claims_imported(&self, key: &str) -> Result<bool, StoreError> {
        if self.claims(key, IMPORTED).await? {
            return Ok(true);
        }
        let filter = Cond::All(vec![eq(col::KEY, txt(key)), eq(col::RECORD, DbValue::Int(IMPORTED))]);
        let set = vec![(name(col::AT), DbValue::Int(self.now))];
        let again = Change::UpdateWhere { table: name(col::TABLE), filter, set };
        match self.storage.commit(WritePlan::new(vec![again])).await {
            Ok(done) => Ok(done.touched > 0),
            Err(error) => Err(unclaimable(error)),
        }
    }

    /// Width and height of a picture that is not decoded.
    pub async fn extent(&self, file: &Path, mime: &str) -> Result<Option<(u32, u32)>, StoreError> {
        let (path, mime) = (PathBuf::from(file), mime.to_owned());
        self.in_pool(move |bounds| cms_pictures::extent_of(&path, &mime, bounds)).await?.map_err(StoreError::Picture)
    }

    /// A copy of a file without its location; `None` when the file has none.
    async fn without_place(&self, file: &Path) -> Result<Option<tempfile::NamedTempFile>, StoreError> {
        let (path, files) = (PathBuf::from(file), Arc::clone(&self.media.files));
        let copied = self.in_pool(move |bounds| {
            let places = boxes::location_patches(&path, bounds).map_err(StoreError::Picture)?;
            if places.is_empty() {
                return Ok(None);
            }
            let copy = files.temporary()?;
            let written = std::fs::copy(&path, copy.path()).and_then(|_| boxes::write_over(copy.path(), &places));
            written.map_err(|error| StoreError::Failed(error.to_string()))?;
            Ok(Some(copy))
        });
        copied.await?
    }

    /// Claims and stores smaller copies; their metadata by name. Their keys are added to `keys`.
    pub async fn keep_sizes(
        &self,
        made: Vec<ResizedCopy>,
        (folder, base, extension): (&str, &str, &str),
        mime: &str,
        keys: &mut Vec<String>,
    ) -> Result<Map<String, Value>, StoreError> {
        let named: Vec<(String, ResizedCopy)> = made
            .into_iter()
            .map(|made| (in_folder(folder, &format!("{base}-{}x{}.{extension}", made.width, made.height)), made))
            .collect();
        // Two sizes may be equal for this picture.
        let mut wanted: Vec<String> = named.iter().map(|(key, _)| key.clone()).collect();
        wanted.sort();
        wanted.dedup();
        let all_at_once = !wanted.is_empty() && self.claimed(&wanted, NOBODY).await?;
        let mut sizes = Map::new();
        let mut done: Vec<String> = Vec::new();
        for (mut key, made) in named {
            if !all_at_once && !done.contains(&key) {
                let own = format!("{base}-{}x{}", made.width, made.height);
                key = self.claim(folder, &own, extension).await?.0;
            }
            let size = made.bytes.len();
            if !done.contains(&key) {
                done.push(key.clone());
                keys.push(key.clone());
                self.media.files.put(&key, made.bytes).await?;
            }
            let told = json!({
                "file": last(&key), "width": made.width, "height": made.height, "filesize": size, "mime_type": mime,
            });
            sizes.insert(made.name, told);
        }
        Ok(sizes)
    }

    /// Deletes files that belong to no record any more. What cannot be deleted now is swept later.
    pub async fn remove(&self, keys: Vec<String>) {
        for key in keys {
            if let Err(error) = self.media.files.delete(&key).await {
                tracing::warn!("{key} stays for now: {error}");
                continue;
            }
            if let Err(error) = self.storage.commit(WritePlan::new(vec![unclaimed(&key)])).await {
                tracing::warn!("{key} is still claimed: {error}");
            }
        }
    }

    /// Runs work on a picture.
    ///
    /// # Errors
    /// The queue of pictures is full.
    pub async fn in_pool<T: Send + 'static>(
        &self,
        job: impl FnOnce(PictureBounds<'_>) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (registry, memory) = (Arc::clone(self.registry), Arc::clone(&self.media.memory));
        let bounds = move || job(PictureBounds { rules: &registry.declaration.media, memory: &memory });
        let done = self.media.pool.run(self.owner, bounds).await;
        done.map_err(|error| match error {
            PoolError::Busy => StoreError::Busy,
            // A decoder that panics has met a broken or malicious file.
            PoolError::Failed => StoreError::Picture(PictureError::Broken("the work on it broke off".into())),
        })
    }

    /// Claims the first free name: `base`, `base-1`, `base-2`, …; the key, and the base that it was made from.
    async fn claim(&self, folder: &str, base: &str, extension: &str) -> Result<(String, String), StoreError> {
        let numbered = (1..TRIES).map(|n| format!("{base}-{n}"));
        let chance = (0..3).map(|_| format!("{base}-{:08x}", rand::random::<u32>()));
        let names: Vec<String> = std::iter::once(base.to_owned()).chain(numbered).chain(chance).collect();
        let key = |own: &String| in_folder(folder, &format!("{own}.{extension}"));
        let taken = self.taken(names.iter().map(key)).map_err(|error| StoreError::Failed(error.to_string()))?;
        for own in names {
            let key = key(&own);
            if !taken.contains(&key) && self.claims(&key, NOBODY).await? {
                return Ok((key, own));
            }
        }
        Err(StoreError::Busy)
    }

    /// Those of the keys that are claimed already.
    fn taken(&self, keys: impl Iterator<Item = String>) -> Result<HashSet<String>, StorageError> {
        let among = Cond::In(name(col::KEY), keys.map(|key| txt(&key)).collect());
        self.storage.snapshot()?.rows_as(&columns(col::TABLE, &[col::KEY], among))
    }

    /// Claims these keys, all or none; false when one of them is taken.
    async fn claimed(&self, keys: &[String], owner: i64) -> Result<bool, StoreError> {
        let claims = keys.iter().map(|key| {
            let set = vec![column(col::RECORD, DbValue::Int(owner)), column(col::AT, DbValue::Int(self.now))];
            Change::Put(Put::new(col::TABLE, Target::Keyed(txt(key)), set))
        });
        match self.storage.commit(WritePlan::new(claims.collect())).await {
            Ok(_) => Ok(true),
            Err(CommitError::Refused { tag: "key_taken" | "duplicate", .. }) => Ok(false),
            Err(error) => Err(unclaimable(error)),
        }
    }
}

fn unclaimable(error: CommitError) -> StoreError {
    match error {
        CommitError::Busy => StoreError::Busy,
        error => StoreError::Failed(format!("a name cannot be claimed: {error}")),
    }
}

fn in_folder(folder: &str, own: &str) -> String {
    if folder.is_empty() { own.to_owned() } else { format!("{folder}/{own}") }
}

/// A file's name without its folder and its end.
fn stem(key: &str) -> &str {
    let own = last(key);
    own.rsplit_once('.').map_or(own, |(stem, _)| stem)
}

fn last(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}
