//! Copies the uploaded files of a site into a folder, under the names that WordPress has below its folder of uploads.
//!
//! Each file is whole or not there, so an export that was ended goes on. A file of the folder that differs stays.

use crate::boot::{BootError, Services};
use crate::import::attachments::FileNames;
use crate::import::file_records::each_file;
use crate::import::report_lines::ReportLines;
use cms_base::pool::wait;
use cms_core::behaviours::files::file_of;
use cms_core::families::file;
use cms_core::files::{Files, Stat};
use cms_core::registry::Registry;
use serde_json::Value;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Names that are read together.
const PAGE: u64 = 400;

/// The beginning of the names of files on their way into the folder.
const INCOMING: &str = ".cms-server-export-";

/// The outcome, for people.
#[derive(Debug, Default)]
pub struct ExportedFiles {
    copied: u64,
    bytes: u64,
    /// Files that the folder had.
    here: u64,
    /// Records whose files are at other sites.
    elsewhere: u64,
    /// Names of which the folder has another file.
    other: FileNames,
    /// Names of files that are lost.
    lost: FileNames,
}

impl fmt::Display for ExportedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} files copied, {} bytes; {} were in the folder", self.copied, self.bytes, self.here)?;
        if self.elsewhere > 0 {
            write!(f, "\n{:>8} records have their files at other sites", self.elsewhere)?;
        }
        let mut lines = ReportLines::default();
        self.other.lines(&mut lines, "not copied, the folder has another file of this name");
        self.lost.lines(&mut lines, "not copied, the file is lost");
        if lines.has_any() { write!(f, "\n{lines}") } else { Ok(()) }
    }
}

/// Copies the files that belong to records, with all their sizes.
///
/// # Errors
/// The folder cannot be written, or the database or the files cannot be read.
pub fn copy_all(registry: &Registry, services: &Services, folder: &Path) -> Result<ExportedFiles, BootError> {
    let mut report = ExportedFiles::default();
    prepare(folder).map_err(|error| BootError::Other(format!("{}: {error}", folder.display())))?;
    let mut last = String::new();
    loop {
        let keys = file::owned_after(&*services.storage.snapshot()?, &last, PAGE)?;
        let Some(end) = keys.last() else { break };
        last.clone_from(end);
        for key in &keys {
            let copied = copy(&services.media.files, key, folder, &mut report);
            copied.map_err(|why| BootError::Other(format!("{key}: {why}; run it again, and it goes on")))?;
        }
    }
    each_file(registry, &*services.storage, |record, _| {
        let extra: Value = serde_json::from_str(record.text("extra")).unwrap_or_default();
        report.elsewhere += u64::from(file_of(record, &extra).is_none());
        Ok(())
    })?;
    Ok(report)
}

/// Makes the folder, and removes what an export that was ended has begun.
fn prepare(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(INCOMING) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn copy(files: &Files, key: &str, folder: &Path, report: &mut ExportedFiles) -> Result<(), String> {
    let told = |error: &dyn fmt::Display| error.to_string();
    let Some(stat) = wait(files.stat(key)).map_err(|error| told(&error))? else {
        report.lost.add(key);
        return Ok(());
    };
    let place = folder.join(key);
    if place.symlink_metadata().is_ok() {
        match is_same(files, key, &stat, &place)? {
            true => report.here += 1,
            false => report.other.add(key),
        }
        return Ok(());
    }
    let temporary = tempfile::Builder::new().prefix(INCOMING).tempfile_in(folder);
    let mut temporary = temporary.map_err(|error| told(&error))?;
    let pieces = files.each_piece(key, stat.size, |piece| temporary.write_all(piece));
    wait(pieces).map_err(|error| told(&error))?;
    let file = temporary.as_file();
    // By its time a later run knows the file without reading it.
    file.set_modified(time_of(&stat)).and_then(|()| file.sync_all()).map_err(|error| told(&error))?;
    fs::create_dir_all(place.parent().unwrap_or(folder)).map_err(|error| told(&error))?;
    make_readable(temporary.path()).map_err(|error| told(&error))?;
    match temporary.persist_noclobber(&place) {
        Ok(_) => {
            report.copied += 1;
            report.bytes += stat.size;
        }
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => report.other.add(key),
        Err(error) => return Err(error.to_string()),
    }
    Ok(())
}

/// Temporary files are their owner's alone; a web server reads these.
fn make_readable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Whether a file of the folder is a copy of a stored one: by its size and time, else by its bytes.
fn is_same(files: &Files, key: &str, stat: &Stat, place: &Path) -> Result<bool, String> {
    let told = |error: io::Error| error.to_string();
    let there = place.metadata().map_err(told)?;
    if !there.is_file() || there.len() != stat.size {
        return Ok(false);
    }
    if there.modified().is_ok_and(|modified| modified == time_of(stat)) {
        return Ok(true);
    }
    let mut file = File::open(place).map_err(told)?;
    let (mut same, mut own) = (true, Vec::new());
    let pieces = files.each_piece(key, stat.size, |piece| {
        own.resize(piece.len(), 0);
        file.read_exact(&mut own)?;
        same &= own == piece;
        Ok(())
    });
    wait(pieces).map_err(|error| error.to_string())?;
    Ok(same)
}

fn time_of(stat: &Stat) -> std::time::SystemTime {
    UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.modified).unwrap_or(0))
}
