//! Files of imported records, downloaded from where they are into the folder that [`super::attachments`] brings them from: those of
//! records with their smaller copies, and those that texts name. Files of the folder are not requested again.

use super::attachments::{FileNames, listed_copies};
use super::file_records::each_file;
use super::remote::asked_pause;
use super::report_lines::ReportLines;
use super::texts;
use super::uploads::{UploadMarks, dated};
use crate::boot::{BootError, Services};
use cms_core::families::file;
use cms_core::files::kinds;
use cms_core::outbound::{DownloadError, FetchError, Outbound};
use cms_core::registry::Registry;
use cms_declaration::Media;
use indicatif::ProgressBar;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Component, Path};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use url::Url;

/// Files that are downloaded at once.
const AT_ONCE: usize = 4;
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// How often a file is requested that the site asks to request later.
const TRIES: u32 = 5;
/// Files that are requested.
const MOST: usize = 5_000_000;
/// The folder of uploads in an address, in front of the names in it.
const MARK: &str = "/uploads/";

/// The outcome, for people.
#[derive(Debug, Default)]
pub struct FetchReport {
    files: u64,
    bytes: u64,
    here: u64,
    failed: FileNames,
    /// Names that were not requested: beyond [`MOST`], or of no place inside the folder.
    left_out: FileNames,
}

impl FetchReport {
    /// The report, line by line.
    pub fn lines(&self) -> ReportLines {
        let mut lines = ReportLines::default();
        lines.count(self.files, format!("files downloaded, {} bytes; {} were in the folder", self.bytes, self.here));
        self.failed.lines(&mut lines, "not downloaded");
        self.left_out.lines(&mut lines, "not requested, beyond five million files or not inside the folder");
        lines
    }
}

/// Names of files below folders of uploads.
#[derive(Default)]
struct WantedFiles {
    /// Files by the address of their folder of uploads.
    by_folder: BTreeMap<String, HashSet<String>>,
    count: usize,
    left_out: FileNames,
}

impl WantedFiles {
    fn add(&mut self, folder: &str, file: String) {
        let inside = Path::new(&file).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside || self.count == MOST {
            return self.left_out.add(file);
        }
        let files = self.by_folder.entry(folder.to_owned()).or_default();
        self.count += usize::from(files.insert(file));
    }
}

/// Downloads what the folder does not have yet.
///
/// # Errors
/// The folder cannot be written, or the database cannot be read.
pub fn fetch(
    registry: &Registry,
    services: &Services,
    folder: &Path,
    progress: &ProgressBar,
) -> Result<FetchReport, BootError> {
    fs::create_dir_all(folder).map_err(|error| BootError::Other(format!("{}: {error}", folder.display())))?;
    let wanted = wanted(registry, services)?;
    progress.set_length(wanted.count as u64);
    progress.set_message("downloading");
    let report = FetchReport { left_out: wanted.left_out, ..FetchReport::default() };
    let files =
        wanted.by_folder.into_iter().flat_map(|(base, files)| files.into_iter().map(move |file| (base.clone(), file)));
    let (files, report) = (Mutex::new(files), Mutex::new(report));
    let next = || files.lock().ok().and_then(|mut files| files.next());
    // A site that asks to wait means all of the downloads.
    let not_before = Mutex::new(Instant::now());
    let declaration = &registry.declaration;
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let client = Outbound::new(&declaration.outbound);
                while let Some((base, file)) = next() {
                    let done = download(&client, &declaration.media, (&base, &file), folder, &not_before);
                    progress.inc(1);
                    let Ok(mut report) = report.lock() else { return };
                    match done {
                        Ok(None) => report.here += 1,
                        Ok(Some(bytes)) => {
                            report.files += 1;
                            report.bytes += bytes;
                        }
                        Err(why) => report.failed.add(format!("{base}{file}: {why}")),
                    }
                }
            });
        }
    });
    progress.finish_and_clear();
    report.into_inner().map_err(|_| BootError::Other("a download has failed inside the program".into()))
}

/// The files that records, contents and meta values name.
fn wanted(registry: &Registry, services: &Services) -> Result<WantedFiles, BootError> {
    let storage = &*services.storage;
    let mut wanted = WantedFiles::default();
    each_file(registry, storage, |record, details| {
        let extra: Map<String, Value> = serde_json::from_str(record.text("extra")).unwrap_or_default();
        let address = extra.get("source_url").and_then(Value::as_str).unwrap_or_default();
        let address = address.split(['?', '#']).next().unwrap_or_default();
        let marked = address.find(MARK).map(|at| address.split_at(at + MARK.len()));
        let Some((base, file)) = marked.or_else(|| dated(address)) else { return Ok(()) };
        let (base, file) = (base.to_owned(), percent_decode_str(file).decode_utf8_lossy());
        let beside = file.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        for copy in listed_copies(details) {
            wanted.add(&base, format!("{beside}{copy}"));
        }
        wanted.add(&base, file.into_owned());
        Ok(())
    })?;
    // Without a record that is still elsewhere nothing says where the files of contents are.
    let Some(base) = wanted.by_folder.iter().max_by_key(|(_, files)| files.len()).map(|(base, _)| base.clone()) else {
        return Ok(wanted);
    };
    let media = &registry.declaration.media;
    let marks = UploadMarks::of(registry, storage)?;
    texts::each_page(registry, storage, |_, _, mut rows| {
        for file in rows.iter_mut().flat_map(|row| row.files(&marks)) {
            // Of the forms that a name may have, those that go on with another address or are no file are none.
            let is_file = media.types.contains_key(kinds::promised(&file, media)) && !file.contains("://");
            if is_file && !file.contains(MARK) {
                wanted.add(&base, file);
            }
        }
        Ok(())
    })?;
    Ok(wanted)
}

/// Downloads a file; its size, or `None` where the folder has it.
fn download(
    client: &Outbound,
    media: &Media,
    (base, file): (&str, &str),
    folder: &Path,
    not_before: &Mutex<Instant>,
) -> Result<Option<u64>, String> {
    let place = folder.join(file);
    if place.is_file() {
        return Ok(None);
    }
    let encoded: Vec<String> =
        file.split('/').map(|part| utf8_percent_encode(part, NON_ALPHANUMERIC).to_string()).collect();
    let url = Url::parse(&format!("{base}{}", encoded.join("/"))).map_err(|error| error.to_string())?;
    for tried in 1.. {
        let into = tempfile::NamedTempFile::new_in(folder).map_err(|error| error.to_string())?;
        let until = *not_before.lock().unwrap_or_else(PoisonError::into_inner);
        thread::sleep(until.saturating_duration_since(Instant::now()));
        let found = match client.fetch_file(&url, into, (PATIENCE, media.max_upload.bytes())) {
            Ok(found) => found,
            Err(DownloadError { error: FetchError::Status(429 | 503), wait }) if tried < TRIES => {
                let mut until = not_before.lock().unwrap_or_else(PoisonError::into_inner);
                *until = (*until).max(Instant::now() + asked_pause(wait));
                continue;
            }
            Err(DownloadError { error, .. }) => return Err(refusal(error)),
        };
        // The page of an error may have the status of a file.
        if file::recognised(&format!("file.{}", file.rsplit('.').next().unwrap_or_default()), &found.file, media)
            .is_none()
        {
            return Err("its type is not accepted, or its contents do not match its name".to_owned());
        }
        let made = place.parent().map_or(Ok(()), fs::create_dir_all);
        made.map_err(|error| error.to_string())?;
        found.file.persist(&place).map_err(|error| error.to_string())?;
        return Ok(Some(found.size));
    }
    Err("there is no answer".to_owned())
}

/// Why a file was not downloaded, for people.
fn refusal(error: FetchError) -> String {
    match error {
        FetchError::Address(why) => format!("{why} (outbound.networks, outbound.ports)"),
        FetchError::Status(status) => format!("the site responds with {status}"),
        FetchError::TooLarge => "it is larger than media.max_upload".to_owned(),
        FetchError::Nothing(why) => why,
        FetchError::Busy => "there is no answer".to_owned(),
    }
}
