//! Backups with uploaded files: a folder of snapshots that share contents, and the schedule that makes them.
//!
//! ```text
//! FOLDER/contents/ab/abcd…             each content once, by its SHA-256
//! FOLDER/2026-11-23T04-00-00Z/         one snapshot
//!     database.db                      one state of the database
//!     files.json                       the digest of the database; key → digest, size, tag of each file that it names
//! ```
//!
//! A snapshot is complete or it is not there: it is made beside its place and renamed. A file that has not changed since
//! the snapshot before is not read again.

use crate::boot::{BootError, Services};
use cms_base::clock::Clock;
use cms_base::metrics::{Counter, Reading};
use cms_base::platform;
use cms_base::pool::wait;
use cms_core::files::Files;
use cms_core::registry::columns::file;
use cms_declaration::Backup;
use cms_storage::sqlite::backup;
use cms_text::time::format_local;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;

const DATABASE: &str = "database.db";
const FILES: &str = "files.json";
const CONTENTS: &str = "contents";
const LOCK: &str = ".lock";
/// The end of the name of a snapshot in the making.
const PART: &str = ".part";

/// How much of a file is in memory at a time.
const CHUNK: u64 = 1 << 20;

/// Between two looks at the clock.
const PAUSE: i64 = 30;

/// A failed backup is tried again after so long at most.
const RETRY: i64 = 3600;

/// The parts of a snapshot, with digests.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Manifest {
    /// The digest of the database; older snapshots have none.
    database: Option<String>,
    /// Nothing where the snapshot is of the database alone.
    files: Option<BTreeMap<String, FileEntry>>,
}

/// A file of a snapshot.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct FileEntry {
    /// Of the contents, in hexadecimal digits.
    sha256: String,
    size: u64,
    /// It changes whenever the contents do.
    tag: String,
}

/// A snapshot, with the sizes of its parts.
#[derive(Debug, Default)]
pub struct SnapshotSummary {
    pub path: PathBuf,
    /// Bytes of the copy of the database.
    pub database: u64,
    pub files: usize,
    /// Files whose contents were not in the folder yet, and their bytes.
    pub copied: usize,
    pub copied_bytes: u64,
    /// Files that the database names and that are not there.
    pub missing: Vec<String>,
}

fn failed(path: &Path, error: impl std::fmt::Display) -> BootError {
    BootError::Other(format!("{}: {error}", path.display()))
}

/// Holds a folder of backups for one process: what it copies is in no snapshot yet, and another one would delete it.
fn hold(folder: &Path) -> Result<File, BootError> {
    private_folder(folder)?;
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|error| failed(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(failed(folder, "another process works on these backups")),
    }
}

/// Makes a snapshot of the database and, if there are any, of these files.
///
/// # Errors
/// The database or a file cannot be read; the folder cannot be written.
pub fn take(folder: &Path, database: &Path, files: Option<&Files>, now: i64) -> Result<SnapshotSummary, BootError> {
    let _held = hold(folder)?;
    let name = format!("{}Z", format_local(now).replace(':', "-"));
    let (path, part) = (folder.join(&name), folder.join(format!("{name}{PART}")));
    if path.exists() {
        return Err(failed(&path, "there is a backup of this second already"));
    }
    let before = newest(folder)?.map(|newest| manifest(&newest)).transpose()?.unwrap_or_default();
    clear_parts(folder);
    private_folder(&part)?;
    let mut taken = SnapshotSummary { path: path.clone(), ..SnapshotSummary::default() };
    let made = fill(folder, &part, database, files, &before, &mut taken)
        .and_then(|()| fs::rename(&part, &path).map_err(|error| failed(&path, error)));
    if let Err(error) = made {
        // Half a backup is none.
        let _ = fs::remove_dir_all(&part);
        return Err(error);
    }
    sync(folder);
    Ok(taken)
}

/// Removes what interrupted backups have left.
fn clear_parts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.ends_with(PART)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn fill(
    folder: &Path,
    part: &Path,
    database: &Path,
    files: Option<&Files>,
    before: &Manifest,
    taken: &mut SnapshotSummary,
) -> Result<(), BootError> {
    let copy = part.join(DATABASE);
    taken.database = backup::backup(database, &copy)?;
    let digest = digest_of(&copy).map_err(|error| failed(&copy, error))?;
    let stored = files.map(|files| copy_files(folder, &copy, files, before, taken)).transpose()?;
    let path = part.join(FILES);
    let text = serde_json::to_vec_pretty(&Manifest { database: Some(digest), files: stored });
    write(&path, &text.map_err(|error| failed(&path, error))?)
}

/// Copies the files that a database names, as far as their contents are not in the folder.
fn copy_files(
    folder: &Path,
    database: &Path,
    files: &Files,
    before: &Manifest,
    taken: &mut SnapshotSummary,
) -> Result<BTreeMap<String, FileEntry>, BootError> {
    let mut all = BTreeMap::new();
    for key in backup::texts(database, file::TABLE, file::KEY)? {
        let stat = wait(files.stat(&key)).map_err(|error| BootError::Other(format!("{key}: {error}")))?;
        let Some(stat) = stat else {
            taken.missing.push(key);
            continue;
        };
        let known = before
            .files
            .as_ref()
            .and_then(|files| files.get(&key))
            .filter(|known| known.tag == stat.etag && known.size == stat.size);
        let stored = match known.filter(|known| content(folder, &known.sha256).exists()) {
            Some(known) => known.clone(),
            None => {
                let (sha256, new) = copy_in(folder, files, &key, stat.size)?;
                if new {
                    taken.copied += 1;
                    taken.copied_bytes += stat.size;
                }
                FileEntry { sha256, size: stat.size, tag: stat.etag }
            }
        };
        all.insert(key, stored);
    }
    taken.files = all.len();
    Ok(all)
}

fn write(path: &Path, text: &[u8]) -> Result<(), BootError> {
    let written = File::create(path).and_then(|mut file| file.write_all(text).and_then(|()| file.sync_all()));
    written.map_err(|error| failed(path, error))
}

/// Copies a file to its place among the contents. Its digest, and whether the contents are new.
fn copy_in(folder: &Path, files: &Files, key: &str, size: u64) -> Result<(String, bool), BootError> {
    let contents = folder.join(CONTENTS);
    private_folder(&contents)?;
    let mut copy = tempfile::NamedTempFile::new_in(&contents).map_err(|error| failed(&contents, error))?;
    let mut digest = Sha256::new();
    let pieces = files.each_piece(key, size, |bytes| {
        digest.update(bytes);
        copy.write_all(bytes)
    });
    wait(pieces).map_err(|error| BootError::Other(format!("{key}: {error}")))?;
    let sha256 = hexadecimal(&digest.finalize());
    let place = content(folder, &sha256);
    if place.exists() {
        return Ok((sha256, false));
    }
    if let Some(parent) = place.parent() {
        private_folder(parent)?;
    }
    copy.as_file().sync_all().map_err(|error| failed(&place, error))?;
    copy.persist(&place).map_err(|error| failed(&place, error))?;
    Ok((sha256, true))
}

fn content(folder: &Path, sha256: &str) -> PathBuf {
    folder.join(CONTENTS).join(sha256.get(..2).unwrap_or_default()).join(sha256)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn manifest(snapshot: &Path) -> Result<Manifest, BootError> {
    let path = snapshot.join(FILES);
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(&path, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Manifest::default()),
        Err(error) => Err(failed(&path, error)),
    }
}

/// Whether a path is a snapshot, not a single copy of a database.
pub fn is_snapshot(path: &Path) -> bool {
    path.join(DATABASE).is_file()
}

/// The snapshots of a folder, the oldest first: their names are their times.
fn snapshots(folder: &Path) -> Result<Vec<PathBuf>, BootError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(folder, error)),
    };
    let whole = |path: &PathBuf| is_snapshot(path) && path.extension().is_none();
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(whole).collect();
    found.sort();
    Ok(found)
}

fn newest(folder: &Path) -> Result<Option<PathBuf>, BootError> {
    Ok(snapshots(folder)?.pop())
}

/// Deletes all but the newest snapshots, and contents that none of them needs. How many snapshots were deleted.
///
/// # Errors
/// The folder cannot be read or written; a snapshot is damaged, so that nobody knows what it needs.
pub fn prune(folder: &Path, keep: usize) -> Result<usize, BootError> {
    let _held = hold(folder)?;
    let mut old = snapshots(folder)?;
    let retained = old.split_off(old.len().saturating_sub(keep.max(1)));
    if old.is_empty() {
        return Ok(0);
    }
    let mut needed = BTreeSet::new();
    for snapshot in &retained {
        needed.extend(manifest(snapshot)?.files.unwrap_or_default().into_values().map(|stored| stored.sha256));
    }
    for snapshot in &old {
        fs::remove_dir_all(snapshot).map_err(|error| failed(snapshot, error))?;
    }
    for group in fs::read_dir(folder.join(CONTENTS)).into_iter().flatten().flatten() {
        for entry in fs::read_dir(group.path()).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| !needed.contains(name)) {
                fs::remove_file(entry.path()).map_err(|error| failed(&entry.path(), error))?;
            }
        }
    }
    Ok(old.len())
}

/// The contents of the files of a snapshot, whose folder holds them.
fn shared(snapshot: &Path) -> PathBuf {
    snapshot.parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// The database of a backup, which is a snapshot or a single file.
pub fn database_of(path: &Path) -> PathBuf {
    if is_snapshot(path) { path.join(DATABASE) } else { path.to_owned() }
}

/// Writes the digest of a copy of a database to a file beside it, in the form of `sha256sum`.
///
/// # Errors
/// The copy cannot be read, or the file not be written.
pub fn note_digest(copy: &Path) -> Result<(), BootError> {
    let digest = digest_of(copy).map_err(|error| failed(copy, error))?;
    let name = copy.file_name().unwrap_or_default().to_string_lossy();
    write(&digest_file(copy), format!("{digest}  {name}\n").as_bytes())
}

fn digest_file(copy: &Path) -> PathBuf {
    let mut name = copy.as_os_str().to_owned();
    name.push(".sha256");
    name.into()
}

/// Whether the database of a backup has the digest that was noted when it was made.
#[derive(Debug, PartialEq, Eq)]
pub enum DatabaseDigest {
    Same,
    Different,
    /// An older backup, or a file without the one beside it.
    Unknown,
}

/// Compares the database of a backup with what was noted when it was made.
///
/// # Errors
/// The backup cannot be read.
pub fn examine_database(backup: &Path) -> Result<DatabaseDigest, BootError> {
    let database = database_of(backup);
    let noted = match is_snapshot(backup) {
        true => manifest(backup)?.database,
        false => {
            let text = fs::read_to_string(digest_file(backup)).ok();
            text.and_then(|text| text.split_whitespace().next().map(str::to_owned))
        }
    };
    let Some(noted) = noted else { return Ok(DatabaseDigest::Unknown) };
    let digest = digest_of(&database).map_err(|error| failed(&database, error))?;
    Ok(if digest == noted { DatabaseDigest::Same } else { DatabaseDigest::Different })
}

/// The problems of a snapshot's files, in sentences; and the number of files.
///
/// # Errors
/// The snapshot cannot be read at all.
pub fn examine_files(snapshot: &Path) -> Result<(Vec<String>, usize), BootError> {
    let Some(files) = manifest(snapshot)?.files else { return Ok((Vec::new(), 0)) };
    let folder = shared(snapshot);
    let mut found = Vec::new();
    for (key, stored) in &files {
        match digest_of(&content(&folder, &stored.sha256)) {
            Ok(digest) if digest == stored.sha256 => {}
            Ok(_) => found.push(format!("{key}: its contents are damaged")),
            Err(error) => found.push(format!("{key}: its contents cannot be read: {error}")),
        }
    }
    for key in backup::texts(&database_of(snapshot), file::TABLE, file::KEY)? {
        if !files.contains_key(&key) {
            found.push(format!("{key}: the database names this file, and the backup does not have it"));
        }
    }
    Ok((found, files.len()))
}

fn digest_of(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let (mut digest, mut chunk) = (Sha256::new(), vec![0; CHUNK as usize]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            n => digest.update(&chunk[..n]),
        }
    }
}

/// Puts the files of a snapshot back where they differ. How many were written.
///
/// # Errors
/// The contents cannot be read, or the files not be written.
pub fn put_back(snapshot: &Path, files: &Files) -> Result<usize, BootError> {
    let folder = shared(snapshot);
    let mut written = 0;
    for (key, stored) in manifest(snapshot)?.files.unwrap_or_default() {
        let fail = |error: cms_core::files::FilesError| BootError::Other(format!("{key}: {error}"));
        let there = wait(files.stat(&key)).map_err(fail)?;
        if there.is_some_and(|stat| stat.etag == stored.tag && stat.size == stored.size) {
            continue;
        }
        wait(files.put_file(&key, &content(&folder, &stored.sha256))).map_err(fail)?;
        written += 1;
    }
    Ok(written)
}

fn private_folder(path: &Path) -> Result<(), BootError> {
    platform::make_private_folder(path).map_err(|error| failed(path, error))
}

/// A new name is safe once its folder is on disk.
fn sync(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

// ------------------------------------------------------------------------------------------------ schedule

/// The state of the schedule, for operators.
pub struct BackupStatus {
    clock: Arc<dyn Clock>,
    /// When the newest snapshot was made, in UTC seconds; 0: there is none.
    newest: AtomicI64,
    made: Counter,
    failed: Counter,
    /// The last attempt failed.
    failing: AtomicBool,
}

impl BackupStatus {
    /// Hours since the newest snapshot; nothing where there is none.
    pub fn age(&self) -> Option<i64> {
        let newest = self.newest.load(Ordering::Relaxed);
        (newest > 0).then(|| (self.clock.now() - newest).max(0) / 3600)
    }

    /// Whether the last attempt failed.
    pub fn failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    /// The readings of it on `/metrics`.
    pub fn readings(&self) -> Vec<Reading> {
        let mut readings = vec![
            Reading::count("cms_server_backups", &["made"], self.made.get()),
            Reading::count("cms_server_backups", &["failed"], self.failed.get()),
        ];
        let newest = self.newest.load(Ordering::Relaxed);
        if newest > 0 {
            let age = (self.clock.now() - newest).max(0);
            readings.push(Reading::gauge("cms_server_backup_age_seconds", &[], age as f64));
        }
        readings
    }
}

/// Starts the thread that makes the declared backups, if there are any.
///
/// # Errors
/// No thread.
pub fn start(declared: &Backup, database: Option<&Path>, services: &Services) -> Result<Arc<BackupStatus>, BootError> {
    let (clock, files) = (services.clock.clone(), services.media.files.clone());
    let (made, failed) = Default::default();
    let status =
        Arc::new(BackupStatus { clock, newest: AtomicI64::new(0), made, failed, failing: AtomicBool::new(false) });
    let (Some(folder), Some(every)) = (declared.folder.get(), declared.every.get()) else { return Ok(status) };
    let Some(database) = database.map(Path::to_owned) else {
        tracing::warn!("backup.folder has no effect on a PostgreSQL server: back its database up with pg_dump");
        return Ok(status);
    };
    let (folder, every) = (PathBuf::from(folder), every.seconds_signed().max(1));
    let (keep, with_files) = (declared.keep, declared.files);
    let shown = status.clone();
    let work = move || {
        let mut retry_at = 0;
        loop {
            let newest = newest(&folder).ok().flatten().and_then(|path| time_of(&path)).unwrap_or(0);
            shown.newest.store(newest, Ordering::Relaxed);
            let now = shown.clock.now();
            if now >= newest.saturating_add(every) && now >= retry_at {
                match make(&folder, &database, with_files.then_some(&*files), keep, now) {
                    Ok(taken) => {
                        shown.made.inc();
                        shown.failing.store(false, Ordering::Relaxed);
                        shown.newest.store(now, Ordering::Relaxed);
                        tracing::info!("{}", taken.described());
                    }
                    Err(error) => {
                        shown.failed.inc();
                        shown.failing.store(true, Ordering::Relaxed);
                        retry_at = now + every.min(RETRY);
                        tracing::error!("the backup failed: {error}");
                    }
                }
            }
            shown.clock.park_until(Some(now + every.min(PAUSE)));
        }
    };
    let spawned = thread::Builder::new().name("backup".into()).spawn(work);
    spawned.map_err(|error| BootError::Other(format!("no thread for backups: {error}")))?;
    Ok(status)
}

fn make(
    folder: &Path,
    database: &Path,
    files: Option<&Files>,
    keep: usize,
    now: i64,
) -> Result<SnapshotSummary, BootError> {
    let taken = take(folder, database, files, now)?;
    prune(folder, keep)?;
    Ok(taken)
}

impl SnapshotSummary {
    /// In a sentence or two.
    pub fn described(&self) -> String {
        let mut text = format!(
            "{}: the database ({} bytes) and {} files, {} of them new ({} bytes)",
            self.path.display(),
            self.database,
            self.files,
            self.copied,
            self.copied_bytes
        );
        if let Some(first) = self.missing.first() {
            text += &format!("; {} files that the database names are missing, such as {first}", self.missing.len());
        }
        text
    }
}

/// The time in the name of a snapshot.
fn time_of(path: &Path) -> Option<i64> {
    let name = path.file_name()?.to_str()?.strip_suffix('Z')?;
    let (date, time) = name.split_once('T')?;
    Some(cms_text::time::parse_datetime(&format!("{date}T{}", time.replace('-', ":")))?.as_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_times() {
        assert_eq!(time_of(Path::new("/x/2026-11-23T04-00-01Z")), Some(1_795_406_401));
        assert_eq!(time_of(Path::new("/x/contents")), None);
        assert_eq!(time_of(Path::new("/x/2026-11-23T04-00-01Z.part")), None);
    }
}
