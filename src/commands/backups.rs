//! `backup` and `restore`.

use super::linked;
use crate::backup::{self as snapshots, DatabaseDigest, database_of, is_snapshot};
use crate::boot::{self, BootError, ConfigSource};
use cms_base::clock::SystemClock;
use cms_core::files::Files;
use cms_core::registry::Registry;
use cms_storage::place::Place;
use cms_storage::sqlite::backup;
use cms_storage::sqlite::{OpenOptions, Sqlite};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

fn files(registry: &Registry) -> Result<Files, BootError> {
    let url = registry.declaration.media.url.as_deref().unwrap_or_default();
    Files::at(url, &boot::place(&registry.declaration)?.base()).map_err(|error| BootError::Other(error.to_string()))
}

/// A copy of the database in one file, or a snapshot with the files in a folder of backups.
pub(super) fn backup(source: &ConfigSource, to: Option<PathBuf>, with_files: bool) -> Result<(), BootError> {
    let registry = linked(source)?;
    let database = boot::database(&registry.declaration)?;
    let declared = registry.declaration.backup.folder.get().map(PathBuf::from);
    let hint = "name a file, or a folder with --with-files, or declare backup.folder";
    let (to, with_files) = match (to, declared) {
        (Some(to), _) => (to, with_files),
        (None, Some(folder)) => (folder, true),
        (None, None) => return Err(BootError::Other(format!("where to?\n  hint: {hint}"))),
    };
    if with_files {
        let taken = snapshots::take(&to, &database, Some(&files(&registry)?), SystemClock::now())?;
        say!("{}", taken.described());
        return Ok(());
    }
    let bytes = backup::backup(&database, &to)?;
    snapshots::note_digest(&to)?;
    say!("{}: {bytes} bytes, whole; its digest is in the file beside it", to.display());
    say!("Uploaded files are not in it: --with-files copies them, too.");
    Ok(())
}

/// Replaces the database, and puts the files of a snapshot back.
pub(super) fn restore(source: &ConfigSource, from: &Path) -> Result<(), BootError> {
    let registry = linked(source)?;
    let path = boot::database(&registry.declaration)?;
    // Before anything is replaced.
    let mut problems = examine_database(from)?;
    if is_snapshot(from) {
        problems.extend(snapshots::examine_files(from)?.0);
    }
    refuse(from, &problems)?;
    let aside = backup::restore(&database_of(from), &path)?;
    say!("{}: restored", path.display());
    if let Some(aside) = aside {
        say!("The old database is {}", aside.display());
    }
    if is_snapshot(from) {
        say!("{} files were put back", snapshots::put_back(from, &files(&registry)?)?);
    }
    Ok(())
}

/// Copies the database into a new one.
pub(super) fn copy(source: &ConfigSource, from: Option<&str>, to: &str) -> Result<(), BootError> {
    let registry = linked(source)?;
    let place = |url: &str| Place::of(url).ok_or_else(|| boot::unknown_place(url));
    let from = from.map_or_else(|| boot::place(&registry.declaration), place)?;
    let to = place(to)?;
    // Writes of a server from here on would be in the old database alone.
    from.unused()?;
    let shows = std::io::stderr().is_terminal();
    let mut progress = |table: &str, rows: u64| {
        if shows {
            // Nothing depends on a terminal that has gone away.
            let _ = write!(std::io::stderr(), "\r\x1b[K{table}: {rows}");
        }
    };
    let copied = from.copy(&to, &registry.layout, &mut progress);
    if shows {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    let copied = copied?;
    for table in copied.tables.iter().filter(|table| table.rows > 0) {
        say!("{:>10} {:<16} {}", table.rows, table.name, &table.digest[..16]);
    }
    for left in &copied.left {
        say!("not declared, and left: {left}");
    }
    say!("{}: equal to {} in rows and digests", to.shown(), from.shown());
    say!("Set storage.url to it. Uploaded files are not in it.");
    Ok(())
}

/// Rehearses a restore: everything but the replacement.
pub(super) fn verify(source: &ConfigSource, from: &Path) -> Result<(), BootError> {
    let registry = linked(source)?;
    let mut problems = examine_database(from)?;
    refuse(from, &problems)?;
    let folder = tempfile::tempdir().map_err(|error| BootError::Other(format!("no place to rehearse in: {error}")))?;
    let copy = folder.path().join("rehearsal.db");
    backup::restore(&database_of(from), &copy)?;
    let opened = Sqlite::open(OpenOptions::new(&copy), &registry.layout)?;
    for change in opened.applied() {
        say!("these declarations change its tables: {change}");
    }
    drop(opened);
    problems.extend(backup::examine(&copy, &registry.layout)?);
    let mut text = "the database is whole and opens with these declarations".to_owned();
    if is_snapshot(from) {
        let (found, number) = snapshots::examine_files(from)?;
        problems.extend(found);
        text += &format!("; {number} files, all with their contents");
    }
    refuse(from, &problems)?;
    say!("{}: {text}", from.display());
    say!("Nothing was changed.");
    Ok(())
}

/// The problems of the database file of a backup.
fn examine_database(from: &Path) -> Result<Vec<String>, BootError> {
    Ok(match snapshots::examine_database(from)? {
        DatabaseDigest::Same => Vec::new(),
        DatabaseDigest::Different => vec!["the database is damaged: it is not as it was when it was copied".to_owned()],
        DatabaseDigest::Unknown => {
            tell!("{}: there is no digest of the database, so damage of its texts may not be found", from.display());
            Vec::new()
        }
    })
}

fn refuse(from: &Path, problems: &[String]) -> Result<(), BootError> {
    for problem in problems {
        tell!("{}: {problem}", from.display());
    }
    match problems.len() {
        0 => Ok(()),
        n => Err(BootError::Other(format!("{n} problems found; this backup is not restored"))),
    }
}
