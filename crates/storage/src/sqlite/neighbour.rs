//! Which servers use a database: a lock file beside it, which each of them holds while it runs. Another one lets them start one
//! after the other.
//!
//! The operating system releases the locks with the process, however that ends, so a file that is left behind means
//! nothing. The first lock warns and keeps nobody out; SQLite's own locks keep the data whole.

use cms_base::platform;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The ending of the files' names, after that of the database.
const END: &str = "-lock";
const START_END: &str = "-start";

/// Between two attempts to start.
const PAUSE: Duration = Duration::from_millis(20);

/// Most bytes that are read of the file.
const MOST: u64 = 64;

/// Another server that uses the same database.
#[derive(Debug)]
pub struct Neighbour {
    /// The number of its process, as far as the file names it.
    pub process: Option<u32>,
    /// The lock file.
    pub file: PathBuf,
}

/// A server uses the database until this is dropped.
#[derive(Debug)]
pub struct Claim {
    _file: File,
}

impl Claim {
    /// Claims the database for a server; with it another one that has claimed it before and still runs. `None`: the
    /// file system takes no lock file, so nobody can be told.
    pub fn of(database: &Path) -> Option<(Claim, Option<Neighbour>)> {
        let path = lock_file(database);
        let mut file = opened(&path)?;
        let neighbour = neighbour(&mut file, path);
        // Servers share it: the lock is there as long as one of them runs.
        file.lock_shared().ok()?;
        let named = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
        // Without the number a warning only says less.
        drop(named);
        Some((Claim { _file: file }, neighbour))
    }
}

/// No other process starts over the database until this is dropped.
#[derive(Debug)]
pub struct StartLock {
    _file: File,
}

impl StartLock {
    /// Waits until others have started. `Ok(None)`: the file system takes no lock file.
    ///
    /// # Errors
    /// Others take too long.
    pub fn of(database: &Path, patience: Duration) -> Result<Option<StartLock>, StartTimeout> {
        let Some(file) = opened(&beside(database, START_END)) else { return Ok(None) };
        let until = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(StartLock { _file: file })),
                Err(TryLockError::Error(_)) => return Ok(None),
                Err(TryLockError::WouldBlock) if Instant::now() > until => return Err(StartTimeout),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        }
    }
}

/// Another process has been starting for too long.
#[derive(Debug)]
pub struct StartTimeout;

impl Neighbour {
    /// The server that uses a database; `None` when there is none, or it cannot be told.
    pub fn of(database: &Path) -> Option<Neighbour> {
        let path = lock_file(database);
        let mut file = OpenOptions::new().read(true).open(&path).ok()?;
        neighbour(&mut file, path)
    }
}

fn lock_file(database: &Path) -> PathBuf {
    beside(database, END)
}

fn beside(database: &Path, end: &str) -> PathBuf {
    let mut name: OsString = database.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn opened(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    platform::private(options.read(true).write(true).create(true).truncate(false)).open(path).ok()
}

/// Whoever else holds the lock.
fn neighbour(file: &mut File, path: PathBuf) -> Option<Neighbour> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let read = file.take(MOST).read_to_string(&mut text);
            Some(Neighbour { process: read.ok().and_then(|_| text.trim().parse().ok()), file: path })
        }
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_start_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("site.db");
        let first = StartLock::of(&database, Duration::ZERO).unwrap();
        assert!(first.is_some() && StartLock::of(&database, Duration::ZERO).is_err());
        drop(first);
        assert!(StartLock::of(&database, Duration::ZERO).unwrap().is_some());
        let nowhere = folder.path().join("none/site.db");
        assert!(StartLock::of(&nowhere, Duration::ZERO).unwrap().is_none(), "opening it says what is wrong");
    }

    #[test]
    fn a_claim_is_noticed_while_it_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("site.db");
        assert!(Neighbour::of(&database).is_none());
        let (first, nobody) = Claim::of(&database).unwrap();
        assert!(nobody.is_none());
        let (second, before) = Claim::of(&database).unwrap();
        assert_eq!(before.unwrap().process, Some(std::process::id()));
        drop(first);
        assert!(Neighbour::of(&database).is_some(), "the second one still runs");
        drop(second);
        assert!(Neighbour::of(&database).is_none(), "a file that is left behind means nothing");
        assert!(Claim::of(&database).unwrap().1.is_none());
    }
}
