//! The declarations inside the binary, and writing them out (`cms-server init DIR`).

use super::source::Origin;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The shipped files by path, `routes.toml` first.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The shipped declaration, to load without a file.
pub fn origin() -> Origin<'static> {
    Origin::Texts { label: "(shipped) ", files: FILES }
}

/// Why the files were not written.
#[derive(Debug)]
pub enum InitError {
    /// These are there already; nothing was written.
    Exists(Vec<PathBuf>),
    /// Writing this one failed.
    Io(PathBuf, io::Error),
}

impl std::fmt::Display for InitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InitError::Exists(paths) => {
                write!(f, "nothing was written, because these files exist:")?;
                paths.iter().try_for_each(|path| write!(f, "\n  {}", path.display()))
            }
            InitError::Io(path, error) => write!(f, "{} cannot be written: {error}", path.display()),
        }
    }
}

impl std::error::Error for InitError {}

/// Writes the shipped files below a directory and returns their paths. Existing files are never changed: if there is
/// one, nothing is written.
pub fn init(directory: &Path) -> Result<Vec<PathBuf>, InitError> {
    write_files(directory, FILES)
}

fn write_files(directory: &Path, files: &[(&str, &str)]) -> Result<Vec<PathBuf>, InitError> {
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| directory.join(name)).collect();
    let existing: Vec<PathBuf> = paths.iter().filter(|path| path.symlink_metadata().is_ok()).cloned().collect();
    if !existing.is_empty() {
        return Err(InitError::Exists(existing));
    }
    for (path, (_, text)) in paths.iter().zip(files) {
        write_new(path, text).map_err(|error| InitError::Io(path.clone(), error))?;
    }
    Ok(paths)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    // `create_new`, so that a file which appeared since the check is not lost either.
    fs::File::options().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn init_writes_once_and_never_over_anything() {
        let dir = tempfile::tempdir().expect("a directory");
        let files = [("routes.toml", "[site]\n"), ("schemas/deep/a.json", "{}")];
        let written = write_files(&dir.path().join("new"), &files).expect("writes");
        assert_eq!(written.len(), 2);
        assert_eq!(fs::read_to_string(&written[1]).expect("is there"), "{}");

        fs::remove_file(&written[0]).expect("was there");
        fs::write(&written[1], "mine").expect("writes");
        let error = write_files(&dir.path().join("new"), &files).expect_err("one exists");
        assert!(error.to_string().ends_with("schemas/deep/a.json"), "{error}");
        assert!(!written[0].exists());
        assert_eq!(fs::read_to_string(&written[1]).expect("is there"), "mine");
    }

    #[test]
    fn init_tells_which_file_failed() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("schemas"), "a file in the way").expect("writes");
        let error = write_files(dir.path(), &[("schemas/a.json", "{}")]).expect_err("in the way");
        assert!(error.to_string().contains("schemas/a.json cannot be written"), "{error}");
    }
}
