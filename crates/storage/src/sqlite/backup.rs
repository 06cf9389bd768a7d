//! Backup, restore and examination of a database.
//!
//! A backup is made while others read and write: it contains one state of the database, the one at its beginning. A
//! backup is restored only where nobody uses the database that it replaces, and that one is preserved. It knows no
//! server.

use super::super::catalogue::Catalogue;
use super::super::derived::{self, LISTED};
use super::super::plan::Layout;
use super::connect::examining;
use super::connection::SqliteConnection;
use super::neighbour::Neighbour;
use super::search;
use crate::error::StorageError;
use crate::opening::OpenError;
use cms_base::platform;
use rusqlite::{Connection, OptionalExtension, Result};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Copies the database to a file that does not exist yet, and checks the copy. Its size in bytes.
///
/// # Errors
/// The file exists; the database cannot be read, the copy not be written; the copy is damaged.
pub fn backup(path: &Path, to: &Path) -> std::result::Result<u64, StorageError> {
    if to.exists() {
        return Err(StorageError::Failed(format!(
            "{}: there is a file already; a backup overwrites none",
            to.display()
        )));
    }
    let half = beside(to, ".part");
    let made = copy_into(path, &half).and_then(|()| {
        whole(&half)?;
        fs::rename(&half, to).map_err(|e| failed(to, &e))?;
        sync_folder(to);
        fs::metadata(to).map(|m| m.len()).map_err(|e| failed(to, &e))
    });
    if made.is_err() {
        // Half a copy is none.
        let _ = fs::remove_file(&half);
    }
    made
}

/// Replaces a database by a copy. The old database is renamed; its new path, if there was one.
///
/// # Errors
/// The copy is damaged, or not one of ours; somebody uses the database; the files cannot be written.
pub fn restore(from: &Path, path: &Path) -> std::result::Result<Option<PathBuf>, StorageError> {
    whole(from)?;
    unused(path)?;
    let new = beside(path, ".restored");
    let done = copy_over(from, &new).and_then(|()| put_in_place(&new, path));
    if done.is_err() {
        // Nothing was restored, so nothing stays.
        let _ = fs::remove_file(&new);
    }
    done
}

/// No server uses a database.
///
/// # Errors
/// One does; the message names its process.
pub fn unused(path: &Path) -> std::result::Result<(), StorageError> {
    let Some(server) = Neighbour::of(path) else { return Ok(()) };
    let process = server.process.map_or_else(String::new, |number| format!(" (process {number})"));
    let text = format!("a server{process} uses this database; stop the server first, then run the command again");
    Err(StorageError::Failed(format!("{}: {text}", path.display())))
}

fn copy_over(from: &Path, new: &Path) -> std::result::Result<(), StorageError> {
    let _ = fs::remove_file(new);
    fs::copy(from, new).map_err(|e| failed(new, &e))?;
    private(new)?;
    File::open(new).and_then(|file| file.sync_all()).map_err(|e| failed(new, &e))
}

/// Renames a database out of the way of another one; its new path, if there was one.
fn put_in_place(new: &Path, path: &Path) -> std::result::Result<Option<PathBuf>, StorageError> {
    let aside = path.exists().then(|| free_name(path));
    if let Some(aside) = &aside {
        closed(path)?;
        fs::rename(path, aside).map_err(|e| failed(path, &e))?;
    }
    fs::rename(new, path).map_err(|e| failed(path, &e))?;
    sync_folder(path);
    Ok(aside)
}

/// The texts of a column of a copy, which nobody else writes to.
///
/// # Errors
/// There is no such copy, or not with this table.
pub fn texts(copy: &Path, table: &str, column: &str) -> std::result::Result<Vec<String>, StorageError> {
    let conn = examining(copy).map_err(|e| StorageError::Failed(e.to_string()))?;
    let mut select = conn.prepare(&format!("SELECT \"{column}\" FROM \"{table}\" ORDER BY 1"))?;
    let rows = select.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>>>()?;
    Ok(rows)
}

/// Copies of a database from before changes of its tables that stay.
const COPIES: usize = 3;

/// Copies a database before its tables change, to a file beside it, and deletes the oldest of such copies; its path. What a
/// transaction has not committed yet is not in it.
pub fn before_migration(path: &Path) -> std::result::Result<PathBuf, StorageError> {
    let copies = |n: usize| beside(path, &format!(".before-migration-{n}"));
    let last = numbers_of_copies(path).last().copied().unwrap_or(0);
    let copy = copies(last + 1);
    backup(path, &copy)?;
    let numbers = numbers_of_copies(path);
    for number in &numbers[..numbers.len().saturating_sub(COPIES)] {
        // One more copy does no harm.
        let _ = fs::remove_file(copies(*number));
    }
    Ok(copy)
}

/// The numbers of the copies that [`before_migration`] has made, in order.
fn numbers_of_copies(path: &Path) -> Vec<usize> {
    let prefix = beside(path, ".before-migration-");
    let prefix = prefix.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut numbers: Vec<usize> =
        entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix(&prefix)?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// Everything that is wrong with a database, in sentences; empty: nothing. Other programs may use it meanwhile.
///
/// # Errors
/// It cannot be read at all.
pub fn examine(path: &Path, layout: &Layout) -> std::result::Result<Vec<String>, StorageError> {
    let conn = examining(path).map_err(|e: OpenError| StorageError::Failed(e.to_string()))?;
    let catalogue = Catalogue::new(layout)?;
    // One snapshot for all queries.
    conn.execute_batch("BEGIN")?;
    let mut found = integrity(&conn)?;
    if found.is_empty() {
        found.extend(dangling(&conn, &catalogue)?);
        found.extend(derived::differences(&SqliteConnection::new(conn), &catalogue, LISTED)?);
    }
    Ok(found)
}

fn copy_into(path: &Path, to: &Path) -> std::result::Result<(), StorageError> {
    let conn = examining(path).map_err(|e| StorageError::Failed(e.to_string()))?;
    // The copy holds secrets; the file is there before SQLite fills it, so that only its owner may read it.
    File::create(to).map_err(|e| failed(to, &e))?;
    private(to)?;
    let name = to.to_str().ok_or_else(|| StorageError::Failed(format!("{}: the name is no UTF-8", to.display())))?;
    conn.execute("VACUUM INTO ?1", [name])?;
    File::open(to).and_then(|file| file.sync_all()).map_err(|e| failed(to, &e))
}

/// The file is a database of ours without damage.
fn whole(path: &Path) -> std::result::Result<(), StorageError> {
    let conn = examining(path).map_err(|e| StorageError::Failed(e.to_string()))?;
    match integrity(&conn)?.first() {
        None => Ok(()),
        Some(damage) => Err(StorageError::Failed(format!("{}: {damage}", path.display()))),
    }
}

fn integrity(conn: &Connection) -> Result<Vec<String>> {
    let mut select = conn.prepare("PRAGMA integrity_check")?;
    let rows = select.query_map([], |row| row.get::<_, String>(0))?;
    rows.filter(|row| !matches!(row, Ok(text) if text == "ok")).collect()
}

/// Rows that refer to rows which do not exist.
fn dangling(conn: &Connection, catalogue: &Catalogue) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let number = |word: &str| -> Result<i64> {
        let number = conn.query_row("SELECT number FROM dictionary WHERE word = ?1", [word], |row| row.get(0));
        Ok(number.optional()?.unwrap_or(0))
    };
    let mut count = |what: String, text: &str| -> Result<()> {
        let n: i64 = conn.query_row(text, [], |row| row.get(0))?;
        if n > 0 {
            found.push(format!("{n} {what}"));
        }
        Ok(())
    };
    for relation in &catalogue.relations {
        let (def, rel) = (&relation.def, number(&relation.def.name)?);
        for (end, table) in [("src", relation.src), ("dst", relation.dst)] {
            let table = &catalogue.tables[table].def;
            let text = format!(
                "SELECT count(*) FROM edge WHERE rel = {rel} AND NOT EXISTS \
                 (SELECT 1 FROM \"{}\" AS t WHERE t.\"{}\" = edge.{end})",
                table.name, table.key.name
            );
            count(format!("links of {} lead to a {} that is not there", def.name, table.name), &text)?;
        }
    }
    for table in catalogue.tables.iter().filter(|t| !t.searched.is_empty()) {
        let what = format!("rows of {} are not found by a search", table.def.name);
        count(what, &search::lost_text(table, number(&table.def.name)?))?;
    }
    for table in catalogue.tables.iter().filter(|t| !t.companion && t.def.extends.is_none() && &*t.def.key.name == "id")
    {
        let (name, of, space) = (&table.def.name, number(&table.def.name)?, number(&table.space)?);
        let lost = |companion: &str, filter: String, column: &str| {
            format!(
                "SELECT count(*) FROM \"{companion}\" AS c WHERE {filter} AND NOT EXISTS \
                 (SELECT 1 FROM \"{name}\" AS t WHERE t.id = c.\"{column}\")"
            )
        };
        let shared = catalogue.tables.iter().filter(|t| t.space == table.space && t.def.extends.is_none()).count() > 1;
        count(
            format!("slugs are held by a {name} that is not there"),
            &lost("slug", format!("c.\"table\" = {of}"), "id"),
        )?;
        if !shared {
            count(
                format!("values belong to a {name} that is not there"),
                &lost("meta", format!("c.space = {space}"), "id"),
            )?;
            let text = lost("revision", format!("c.space = {space}"), "of");
            count(format!("revisions are of a {name} that is not there"), &text)?;
        }
    }
    Ok(found)
}

/// Nobody else has the database open, and its log is empty.
fn closed(path: &Path) -> std::result::Result<(), StorageError> {
    let used = || {
        let text = "another program uses this database; stop the server first, then restore the backup";
        StorageError::Failed(format!("{}: {text}", path.display()))
    };
    let conn = Connection::open(path)?;
    // Leaving the log behind takes the database for oneself alone.
    let mode = conn.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get::<_, String>(0));
    match mode {
        Ok(mode) if mode == "delete" => Ok(()),
        Ok(_) => Err(used()),
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
            ) =>
        {
            Err(used())
        }
        // A damaged file is put aside as it is.
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn free_name(path: &Path) -> PathBuf {
    let names = (1..).map(|n| beside(path, &format!(".before-{n}")));
    names.into_iter().find(|name| !name.exists()).unwrap_or_else(|| beside(path, ".before"))
}

fn private(path: &Path) -> std::result::Result<(), StorageError> {
    platform::make_private(path).map_err(|e| failed(path, &e))
}

/// A new name is safe once its folder is on disk. Where folders cannot be synced the name follows soon.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

fn failed(path: &Path, error: &std::io::Error) -> StorageError {
    StorageError::Failed(format!("{}: {error}", path.display()))
}
