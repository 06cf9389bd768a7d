//! Files of imported records, taken from a folder: the export contains their names, the folder the files.
//!
//! They keep their names, so that the addresses in contents stay right: the files of records, the smaller copies beside
//! them, and those that contents name. Files that are here already stay, so it may be run again with more files.

use super::file_records::each_file;
use super::report_lines::ReportLines;
use super::texts;
use super::uploads::{UploadFolder, UploadMarks, dated};
use crate::boot::{BootError, Services};
use cms_base::pool::JobOwner;
use cms_base::pool::wait;
use cms_core::behaviours::files::file_of;
use cms_core::families::content::columns;
use cms_core::families::file::{self, FileSource, FileStore, ImportedFile, PictureOptions, StoreError, StoredFiles};
use cms_core::families::text_column;
use cms_core::files::is_key;
use cms_core::files::kinds::FileKind;
use cms_core::records::Record;
use cms_core::registry::Registry;
use cms_core::scope::read_settings;
use cms_storage::Storage;
use cms_storage::plan::{Change, Put, Target, WritePlan};
use cms_text::time::CivilDateTime;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names that the report spells out.
const NAMED: usize = 20;

/// Names of files that have something in common: the first ones, each once, and how many there are.
#[derive(Debug, Default)]
pub struct FileNames {
    listed: Vec<String>,
    count: u64,
}

impl FileNames {
    /// Adds one, unless it is listed.
    pub fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.listed.contains(&text) {
            return;
        }
        self.count += 1;
        if self.listed.len() < NAMED {
            self.listed.push(text);
        }
    }

    /// Adds them as lines of their own, each behind `what`.
    pub fn lines(&self, lines: &mut ReportLines, what: &str) {
        self.listed.iter().for_each(|text| lines.note(format!("{what}: {text}")));
        let more = self.count - self.listed.len() as u64;
        if more > 0 {
            lines.note(format!("{what}: {more} more"));
        }
    }
}

/// The outcome for the files, for people.
#[derive(Debug, Default)]
pub struct AttachmentReport {
    files: u64,
    bytes: u64,
    /// Smaller copies, and files that contents name.
    further: u64,
    /// Names that the folder does not have.
    missing: FileNames,
    /// Names that were taken, and those that the files got.
    renamed: FileNames,
    /// Names of files that were not taken, and why.
    refused: FileNames,
    /// Files that have another name here, by the name that they had.
    pub(crate) other_names: HashMap<String, String>,
}

impl AttachmentReport {
    /// The report, line by line.
    pub fn lines(&self) -> ReportLines {
        let mut lines = ReportLines::default();
        lines.count(self.files, format!("files, {} bytes", self.bytes));
        lines.count(self.further, "smaller copies, and files that contents name");
        self.missing.lines(&mut lines, "not in the folder");
        self.renamed.lines(&mut lines, "renamed, the name was taken");
        self.refused.lines(&mut lines, "not taken");
        lines
    }
}

/// A folder on its way into the store.
struct AttachmentImport<'a> {
    store: FileStore<'a>,
    language: String,
    uploads: UploadFolder,
    report: AttachmentReport,
}

/// Brings in what the folder holds.
///
/// # Errors
/// The folder cannot be read, or the database or the store refuses.
pub fn bring(registry: &Arc<Registry>, services: &Services, folder: &Path) -> Result<AttachmentReport, BootError> {
    if !folder.is_dir() {
        return Err(BootError::Other(format!("{} is no folder", folder.display())));
    }
    let storage: &dyn Storage = &*services.storage;
    let language = read_settings(registry, storage)?.locale().to_owned();
    let (media, now) = (&services.media, services.clock.now());
    let store = FileStore { registry, storage, media, owner: JobOwner::PROGRAM, now };
    let uploads = UploadFolder::at(folder);
    let mut bringing = AttachmentImport { store, language, uploads, report: AttachmentReport::default() };
    each_file(registry, storage, |record, details| {
        bringing.store.now = services.clock.now();
        bringing.one(record, details)
    })?;
    bringing.named()?;
    Ok(bringing.report)
}

impl AttachmentImport<'_> {
    /// Brings in the file of a record, if it is not here, and the copies beside it.
    fn one(&mut self, record: Record<'_>, details: &Value) -> Result<(), BootError> {
        let extra: Map<String, Value> = serde_json::from_str(record.text("extra")).unwrap_or_default();
        let wanted = wanted(&extra);
        let Some(first) = wanted.first() else { return Ok(()) };
        let here = file_of(record, &Value::Object(extra.clone())).map(str::to_owned);
        let found = wanted.iter().find_map(|relative| self.uploads.file(relative));
        let Some((found, path)) = found else {
            if here.is_none() {
                self.report.missing.add(first.clone());
            }
            return Ok(());
        };
        let key = here.clone().unwrap_or_else(|| key_of(first, record));
        if key != *first {
            self.report.other_names.insert(first.clone(), key.clone());
        }
        if !is_key(&key) {
            self.report.refused.add(format!("{key}: it cannot be the name of a file here"));
            return Ok(());
        }
        let mut sizes = Map::new();
        let keys = self.copies(&found, &key, details, &mut sizes)?;
        let owner = record.value("id");
        if here.is_some() {
            return if keys.is_empty() { Ok(()) } else { self.commit(file::owned_by(&keys, owner)) };
        }
        let media = &self.store.registry.declaration.media;
        let (_, end) = found.rsplit_once('.').unwrap_or_default();
        let Some((_, kind)) = file::recognised(&format!("file.{end}"), &path, media) else {
            self.report
                .refused
                .add(format!("{found}: its type is not accepted, or its contents do not match its name"));
            return Ok(());
        };
        let size = path.metadata().map_or(0, |meta| meta.len());
        let base = file::recognised(&found, &path, media).map_or("file".to_owned(), |(base, _)| base);
        let below = key.rsplit_once('/').map_or("", |(below, _)| below);
        // Pictures are shown as WordPress shows them: they stay as large as they are.
        let making = PictureOptions { display: false, convert: false, ..PictureOptions::all(&self.language) };
        let source =
            FileSource { path: &path, size, meta: None, making, kept: Some(ImportedFile { key: key.clone(), sizes }) };
        match wait(self.store.keep(source, &base, &kind, below)) {
            Ok(kept) => {
                if kept.file != key {
                    self.report.renamed.add(format!("{key} is {}", kept.file));
                    self.report.other_names.insert(first.clone(), kept.file.clone());
                }
                self.commit(of_record(record, extra, kept, &keys))?;
                self.report.files += 1;
                self.report.bytes += size;
            }
            Err(StoreError::Picture(why)) => self.report.refused.add(format!("{found}: {why}")),
            Err(error) => return Err(BootError::Other(format!("{found}: {error}"))),
        }
        Ok(())
    }

    /// Stores the copies of a file that the folder has: those that its record describes, whose descriptions go to `sizes`,
    /// and all others that are named like copies of it. The keys of those that were not here.
    fn copies(
        &mut self,
        found: &str,
        key: &str,
        details: &Value,
        sizes: &mut Map<String, Value>,
    ) -> Result<Vec<String>, BootError> {
        let beside = |path: &str, own: &str| match path.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{own}"),
            None => own.to_owned(),
        };
        let described: Vec<(&String, &Value)> = details["sizes"].as_object().into_iter().flatten().collect();
        let own = |value: &Value| value["file"].as_str().map(str::to_owned);
        let mut names = listed_copies(details);
        names.extend(self.uploads.copies_of(found));
        names.sort();
        names.dedup();
        // Details may list the file itself as one of its sizes.
        names.retain(|own| beside(found, own) != found);
        let mut keys = Vec::new();
        for own in names {
            let Some((_, path)) = self.uploads.file(&beside(found, &own)) else { continue };
            keys.extend(self.adopt(&path, beside(key, &own))?);
        }
        for (name, size) in described {
            let (Some(own), Some(width), Some(height)) = (own(size), whole(&size["width"]), whole(&size["height"]))
            else {
                continue;
            };
            let Some((_, path)) = self.uploads.file(&beside(found, &own)) else { continue };
            let bytes = path.metadata().map_or(0, |meta| meta.len());
            let mime = size["mime-type"].as_str().unwrap_or_default();
            let told = json!({"file": own, "width": width, "height": height, "filesize": bytes, "mime_type": mime});
            sizes.insert(name.clone(), told);
        }
        Ok(keys)
    }

    /// Stores a file under its name; its key, if it was not here.
    fn adopt(&mut self, path: &Path, key: String) -> Result<Option<String>, BootError> {
        let Some(kind) = self.kind(path).filter(|_| is_key(&key)) else {
            self.report.refused.add(format!("{key}: its type is not accepted, or its contents do not match its name"));
            return Ok(None);
        };
        match wait(self.store.store_imported_copy(path, &key, &kind)) {
            Ok(new) => {
                self.report.further += u64::from(new);
                Ok(new.then_some(key))
            }
            Err(StoreError::Picture(why)) => {
                self.report.refused.add(format!("{key}: {why}"));
                Ok(None)
            }
            Err(error) => Err(BootError::Other(format!("{key}: {error}"))),
        }
    }

    fn kind(&self, path: &Path) -> Option<FileKind> {
        let end = path.extension()?.to_str()?;
        file::recognised(&format!("file.{end}"), path, &self.store.registry.declaration.media).map(|(_, kind)| kind)
    }

    /// Stores the files of the folder that texts name. Each belongs to the record that names it first: one that only a term,
    /// an account, a comment or a widget names has none.
    fn named(&mut self) -> Result<(), BootError> {
        let marks = UploadMarks::of(self.store.registry, self.store.storage)?;
        texts::each_page(self.store.registry, self.store.storage, |table, snapshot, rows| {
            for mut row in rows {
                let files = row.files(&marks).into_iter().filter_map(|relative| self.uploads.file(&relative));
                let files: Vec<(String, PathBuf)> = files.filter(|(_, path)| self.kind(path).is_some()).collect();
                if !table.has_files() {
                    let here = file::among(snapshot, files.iter().map(|(relative, _)| relative))?;
                    for (relative, _) in files.into_iter().filter(|(relative, _)| !here.contains(relative)) {
                        self.report
                            .refused
                            .add(format!("{relative}: no record names it: upload it, and name it again"));
                    }
                    continue;
                }
                let mut keys = Vec::new();
                for (relative, path) in files {
                    keys.extend(self.adopt(&path, relative)?);
                }
                if !keys.is_empty() {
                    self.commit(file::owned_by(&keys, &row.key))?;
                }
            }
            Ok(())
        })
    }

    fn commit(&self, changes: Vec<Change>) -> Result<(), BootError> {
        wait(self.store.storage.commit(WritePlan::new(changes))).map(|_| ()).map_err(BootError::Commit)
    }
}

/// The names of the copies of a picture that its details list.
pub(super) fn listed_copies(details: &Value) -> Vec<String> {
    let sizes = details["sizes"].as_object().into_iter().flatten();
    let files = sizes.map(|(_, size)| &size["file"]).chain([&details["original_image"]]);
    files.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The changes of a record whose file is here now.
fn of_record(record: Record<'_>, mut extra: Map<String, Value>, kept: StoredFiles, copies: &[String]) -> Vec<Change> {
    extra.remove("source_url");
    extra.extend(kept.extra);
    let key = record.value("id").clone();
    let target = Target::Existing { key: key.clone(), expect: record.version() };
    let extra = Value::Object(extra).to_string();
    let set = vec![
        text_column(columns::EXTRA, &extra),
        text_column(columns::MIME, &kept.mime),
        text_column(columns::FILE, &kept.file),
    ];
    let mut changes = vec![Change::Put(Put::new(record.resource.table.clone(), target, set))];
    changes.extend(file::owned_by(&kept.keys, &key));
    changes.extend(file::owned_by(copies, &key));
    changes
}

/// A number, also one that is written as a text.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The name that the file of a record keeps: that of the export. One without a folder gets that of its month.
fn key_of(wanted: &str, record: Record<'_>) -> String {
    if wanted.contains('/') {
        return wanted.to_owned();
    }
    let civil = CivilDateTime::of(record.int("date_local"));
    format!("{:04}/{:02}/{wanted}", civil.year, civil.month)
}

/// Possible names of a file in the folder, likeliest first: as WordPress stores it, as its address continues after the
/// folder of uploads, by its name alone.
fn wanted(extra: &Map<String, Value>) -> Vec<String> {
    let filed = extra.get("media_details").and_then(|d| d.get("file")).and_then(Value::as_str).unwrap_or_default();
    let url = extra.get("source_url").and_then(Value::as_str).unwrap_or_default();
    let marked = ["/uploads/", "/files/"].iter().find_map(|mark| url.split_once(mark));
    let whole = marked.or_else(|| dated(url)).map_or("", |(_, below)| below);
    let below = whole.split(['?', '#']).next().unwrap_or_default();
    let decoded = percent_decode_str(below).decode_utf8_lossy().into_owned();
    let own = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let bare = own(url.split(['?', '#']).next().unwrap_or_default());
    // A name may have the signs themselves.
    let mut all = vec![filed.to_owned(), decoded, below.to_owned(), whole.to_owned(), own(filed), bare];
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
            &["2008/06/a.jpg", "2008/06/a.jpg?w=5", "a.jpg"],
        );
        check(json!({"source_url": "http://x/files/b.jpg"}), &["b.jpg"]);
        check(json!({"source_url": "http://x.files.example/2008/06/c.jpg"}), &["2008/06/c.jpg", "c.jpg"]);
        check(json!({"media_details": {"file": ""}}), &[]);
    }
}
