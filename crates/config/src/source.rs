//! Where declaration files come from: a directory, or texts in memory such as the shipped ones.
//!
//! Owns the limits of reading and the messages for files that cannot be read. It does not know what is in them.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Largest file that is read, in bytes.
pub const LARGEST: u64 = 16 << 20;

/// The files to load. They are named by keys: paths relative to the main file's directory, with `/`.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// This file and those that it names.
    File(&'a Path),
    /// Files in memory, by key; the first is the main one. The label precedes their names in problems.
    Texts { label: &'a str, files: &'a [(&'a str, &'a str)] },
}

/// Why a file is not available.
#[derive(Debug)]
pub enum SourceError {
    Missing,
    /// Not UTF-8 from this byte on; the text before it.
    NotText(String),
    Other(String),
}

impl Origin<'_> {
    /// The key of the main file.
    pub fn main(&self) -> String {
        match self {
            Origin::File(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            Origin::Texts { files, .. } => files.first().map_or(String::new(), |(key, _)| (*key).to_owned()),
        }
    }

    /// The key of a file that another one names.
    pub fn resolve(&self, from: &str, named: &str) -> String {
        normal(&Path::new(from).parent().unwrap_or(Path::new("")).join(named))
    }

    /// The file as the user would name it.
    pub fn name(&self, key: &str) -> String {
        let name = match self {
            Origin::File(_) => self.path(key).unwrap_or_default().display().to_string(),
            Origin::Texts { label, .. } => format!("{label}{key}"),
        };
        name.replace(char::is_control, "\u{fffd}")
    }

    /// The path on disk, where there is a disk.
    pub fn path(&self, key: &str) -> Option<PathBuf> {
        match self {
            Origin::File(main) if main.file_name().is_none() => Some(main.to_path_buf()),
            Origin::File(main) => Some(main.parent().unwrap_or(Path::new("")).join(key)),
            Origin::Texts { .. } => None,
        }
    }

    /// The text of a file, without a byte order mark.
    pub fn read(&self, key: &str) -> Result<String, SourceError> {
        match (self, self.path(key)) {
            (Origin::Texts { files, .. }, _) => {
                let found = files.iter().find(|(name, _)| *name == key);
                found.map(|(_, text)| (*text).to_owned()).ok_or(SourceError::Missing)
            }
            (_, Some(path)) => text_of(read_bytes(&path)?),
            (_, None) => Err(SourceError::Missing),
        }
    }

    /// The keys of the files that a pattern selects, sorted. Its `*` is any part of the file's name; hidden files are not
    /// selected. `None` when it has more than one, or one in the name of a folder.
    pub fn selected(&self, pattern: &str) -> Option<Vec<String>> {
        let (before, after) = pattern.split_once('*')?;
        if after.contains(['*', '/']) {
            return None;
        }
        let hidden = before.is_empty() || before.ends_with('/');
        let mut keys = self.siblings(pattern);
        keys.retain(|key| {
            let part = key.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            let named =
                part.is_some_and(|part| !part.contains('/') && !part.starts_with(if hidden { "." } else { "/" }));
            named && !self.path(key).is_some_and(|path| path.is_dir())
        });
        Some(keys)
    }

    /// Names of the files beside a key, sorted: for suggestions and patterns.
    pub fn siblings(&self, key: &str) -> Vec<String> {
        let folder = Path::new(key).parent().unwrap_or(Path::new(""));
        let mut names: Vec<String> = match self {
            Origin::Texts { files, .. } => files.iter().map(|(name, _)| (*name).to_owned()).collect(),
            Origin::File(_) => {
                let listing = self.path(key).and_then(|path| fs::read_dir(path.parent()?).ok());
                let entries = listing.into_iter().flatten().flatten();
                entries.map(|entry| normal(&folder.join(entry.file_name()))).collect()
            }
        };
        names.sort();
        names
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, SourceError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => SourceError::Missing,
        ErrorKind::PermissionDenied => SourceError::Other("may not be read by this user".into()),
        _ => SourceError::Other(format!("cannot be read: {error}")),
    };
    // Checked before it is opened: opening a pipe would wait for a writer.
    let about = fs::metadata(path).map_err(failed)?;
    if about.is_dir() {
        return Err(SourceError::Other("is a directory".into()));
    }
    if !about.is_file() {
        return Err(SourceError::Other("is not a regular file".into()));
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(SourceError::Other(format!("is larger than {} MB", LARGEST >> 20))),
        false => Ok(bytes),
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, SourceError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        SourceError::NotText(String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned())
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn normal(path: &Path) -> String {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_relative_to_the_file_that_names_them() {
        let origin = Origin::File(Path::new("conf/routes.toml"));
        let check = |from: &str, named: &str, key: &str, name: &str| {
            let found = origin.resolve(from, named);
            assert_eq!((found.as_str(), origin.name(&found).as_str()), (key, name));
        };
        check("routes.toml", "schemas/post.json", "schemas/post.json", "conf/schemas/post.json");
        check("library/books.toml", "./book.json", "library/book.json", "conf/library/book.json");
        check("library/books.toml", "../schemas/post.json", "schemas/post.json", "conf/schemas/post.json");
        check("routes.toml", "../a.toml", "../a.toml", "conf/../a.toml");
        check("routes.toml", "/etc/a.toml", "/etc/a.toml", "/etc/a.toml");
        assert_eq!(Origin::File(Path::new("routes.toml")).name("routes.toml"), "routes.toml");
    }

    #[test]
    fn patterns_select_files_of_one_folder_in_the_order_of_their_names() {
        let names =
            ["routes.toml", "core/b.toml", "core/a.toml", "core/c.json", "core/.#a.toml", "core/deep/d.toml", "b.toml"];
        let texts: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            fs::create_dir_all(folder.path().join(name).parent().expect("a folder")).expect("creates");
            fs::write(folder.path().join(name), "").expect("writes");
        }
        let main = folder.path().join("routes.toml");
        let check = |pattern: &str, expected: Option<&[&str]>| {
            for origin in [Origin::Texts { label: "", files: &texts }, Origin::File(&main)] {
                let selected = origin.selected(pattern);
                let selected = selected.as_ref().map(|keys| keys.iter().map(String::as_str).collect::<Vec<_>>());
                assert_eq!(selected.as_deref(), expected, "{pattern} {origin:?}");
            }
        };
        check("core/*.toml", Some(&["core/a.toml", "core/b.toml"]));
        check("core/a*", Some(&["core/a.toml"]));
        check("core/*", Some(&["core/a.toml", "core/b.toml", "core/c.json"]));
        check("cor*.toml", Some(&[]));
        check("nowhere/*.toml", Some(&[]));
        check("*/b.toml", None);
        check("core/*.*", None);
    }
}
