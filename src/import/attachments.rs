//! Files of imported records, taken from a folder: the export contains their names, the folder the files.
//!
//! Processes records that stand for files and have none here, so it may be run again when more files are available.

use crate::behaviours::files::file_of;
use crate::boot::{BootError, Services, wait};
use crate::config::declaration::Family;
use crate::families::content::columns;
use crate::families::file::{self, FileStore, Making, Source, StoredFiles};
use crate::families::text_column;
use crate::pool::JobOwner;
use crate::records::{self, Record};
use crate::registry::resource::Resource;
use crate::registry::{Registry, name};
use crate::scope::read_settings;
use crate::storage::Storage;
use crate::storage::plan::{Change, Cond, DbValue, Op, Order, Put, Row, Target, WritePlan};
use crate::text::time::Civil;
use serde_json::{Map, Value};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Records processed together.
const PAGE: u64 = 200;

/// Names that the report spells out.
const NAMED: usize = 20;

/// What became of the files, for people.
#[derive(Debug, Default)]
pub struct AttachmentReport {
    files: u64,
    bytes: u64,
    /// Names that the folder does not have.
    missing: Vec<String>,
    /// Names of files that were not taken, and why.
    refused: Vec<(String, String)>,
}

impl fmt::Display for AttachmentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} files, {} bytes", self.files, self.bytes)?;
        for name in self.missing.iter().take(NAMED) {
            write!(f, "\nnot in the folder: {name}")?;
        }
        if self.missing.len() > NAMED {
            write!(f, "\nnot in the folder: {} more", self.missing.len() - NAMED)?;
        }
        for (name, why) in &self.refused {
            write!(f, "\nnot taken: {name}: {why}")?;
        }
        Ok(())
    }
}

/// Brings in what the folder holds.
///
/// # Errors
/// The folder cannot be read, or the database or the store refuses.
pub fn bring(registry: &Arc<Registry>, services: &Services, folder: &Path) -> Result<AttachmentReport, BootError> {
    if !folder.is_dir() {
        return Err(BootError::Other(format!("{} is no folder", folder.display())));
    }
    let mut brought = AttachmentReport::default();
    let storage: &dyn Storage = &*services.storage;
    let settings = read_settings(registry, storage)?;
    for resource in registry.family(Family::Content).filter(|r| r.supports("files")) {
        let mut last = 0;
        loop {
            let rows = page(storage, resource, last)?;
            let Some(row) = rows.last() else { break };
            last = Record { resource, row }.id();
            for row in &rows {
                let now = services.clock.now();
                let store = FileStore { registry, storage, media: &services.media, owner: JobOwner::PROGRAM, now };
                one(&store, resource, row, (folder, settings.text("language")), &mut brought)?;
            }
        }
    }
    Ok(brought)
}

fn page(storage: &dyn Storage, resource: &Resource, after: i64) -> Result<Vec<Row>, BootError> {
    let mut plan = records::plan(resource, Cond::Compare(resource.key.clone(), Op::Gt, DbValue::Int(after)));
    plan.order = vec![Order::Column(name("id"), false)];
    plan.limit = Some(PAGE);
    Ok(storage.snapshot()?.rows(&plan)?)
}

fn one(
    store: &FileStore<'_>,
    resource: &Resource,
    row: &Row,
    (folder, language): (&Path, &str),
    brought: &mut AttachmentReport,
) -> Result<(), BootError> {
    let record = Record { resource, row };
    let extra: Map<String, Value> = serde_json::from_str(record.text("extra")).unwrap_or_default();
    if file_of(record, &Value::Object(extra.clone())).is_some() {
        return Ok(());
    }
    let wanted = wanted(&extra);
    let Some(first) = wanted.first() else { return Ok(()) };
    let Some((relative, path)) = wanted.iter().find_map(|r| Some((r, found(folder, r)?))) else {
        brought.missing.push(first.clone());
        return Ok(());
    };
    let media = &store.registry.declaration.media;
    let Some((base, kind)) = file::recognised(relative, &path, media) else {
        brought
            .refused
            .push((relative.clone(), "its type is not accepted, or its contents do not match its name".into()));
        return Ok(());
    };
    let size = path.metadata().map_or(0, |meta| meta.len());
    let below = match relative.rsplit_once('/') {
        Some((below, _)) => below.to_owned(),
        None => {
            let civil = Civil::of(record.int("date_local"));
            format!("{:04}/{:02}", civil.year, civil.month)
        }
    };
    let source = Source { path: &path, size, meta: None, making: Making::all(language) };
    match wait(store.keep(source, &base, &kind, &below)) {
        Ok(kept) => {
            commit(store, record, extra, kept)?;
            brought.files += 1;
            brought.bytes += size;
        }
        Err(file::StoreError::Picture(why)) => brought.refused.push((relative.clone(), why.to_string())),
        Err(error) => return Err(BootError::Other(format!("{relative}: {error}"))),
    }
    Ok(())
}

fn commit(
    store: &FileStore<'_>,
    record: Record<'_>,
    mut extra: Map<String, Value>,
    kept: StoredFiles,
) -> Result<(), BootError> {
    extra.remove("source_url");
    extra.extend(kept.extra);
    let key = record.value("id").clone();
    let target = Target::Existing { key: key.clone(), expect: Some(record.int("version")) };
    let extra = Value::Object(extra).to_string();
    let set = vec![
        text_column(columns::EXTRA, &extra),
        text_column(columns::MIME, &kept.mime),
        text_column(columns::FILE, &kept.file),
    ];
    let mut changes = vec![Change::Put(Put::new(record.resource.table.clone(), target, set))];
    changes.extend(file::owned_by(&kept.keys, &key));
    wait(store.storage.commit(WritePlan::new(changes))).map(|_| ()).map_err(BootError::Commit)
}

/// Possible names of a file in the folder, likeliest first: as WordPress stores it, as its address continues after the
/// folder of uploads, by its name alone.
fn wanted(extra: &Map<String, Value>) -> Vec<String> {
    let filed = extra.get("media_details").and_then(|d| d.get("file")).and_then(Value::as_str).unwrap_or_default();
    let url = extra.get("source_url").and_then(Value::as_str).unwrap_or_default();
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let below = ["/uploads/", "/files/"].iter().find_map(|mark| url.split_once(mark)).map_or("", |(_, below)| below);
    let own = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut all = vec![filed.to_owned(), below.to_owned(), own(filed), own(url)];
    all.retain(|path| !path.is_empty());
    let mut seen = Vec::new();
    all.retain(|path| {
        !seen.contains(path) && {
            seen.push(path.clone());
            true
        }
    });
    all
}

/// A file of the folder; a name that leads out of it finds nothing, nor does a link in it that does.
fn found(folder: &Path, relative: &str) -> Option<PathBuf> {
    let relative = Path::new(relative);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let path = folder.join(relative);
    let stays = || Some(path.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?));
    (inside && path.is_file() && stays() == Some(true)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_that_are_looked_for() {
        let check = |extra: Value, expected: &[&str]| {
            assert_eq!(wanted(extra.as_object().expect("an object")), expected, "{extra}");
        };
        check(
            json!({"source_url": "http://x/wp-content/uploads/2008/06/a.jpg?w=5", "media_details": {"file": "2008/06/a.jpg"}}),
            &["2008/06/a.jpg", "a.jpg"],
        );
        check(json!({"source_url": "http://x/files/b.jpg"}), &["b.jpg"]);
        check(json!({"media_details": {"file": ""}}), &[]);
    }

    #[test]
    fn nothing_outside_the_folder_is_found() {
        let dir = tempfile::tempdir().expect("a folder");
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).expect("made");
        std::fs::write(dir.path().join("secret.png"), "x").expect("written");
        std::fs::write(inner.join("a.png"), "x").expect("written");
        assert!(found(&inner, "a.png").is_some());
        for outside in ["../secret.png", "/etc/passwd", "x/../../secret.png", "."] {
            assert_eq!(found(&inner, outside), None, "{outside}");
        }
    }
}
