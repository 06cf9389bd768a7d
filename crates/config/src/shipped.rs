//! The declarations inside the binary: writing them out (`cms-server init DIR`), and whether those of a folder are the same.

use super::source::Origin;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The shipped files by path, `routes.toml` first.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The folder of the shipped files; others in it are the user's.
const SCHEMAS: &str = "schemas";

/// The folder of the files that `routes.toml` includes, which are never the user's.
const CORE: &str = "schemas/core";

/// The file that says which version of the program wrote [`CORE`].
const VERSION_FILE: &str = "schemas/core/version.txt";

const VERSION: &str = env!("CARGO_PKG_VERSION");

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
    /// There is nothing to upgrade: the folder has no [`CORE`].
    NoCore(PathBuf),
}

impl std::fmt::Display for InitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InitError::Exists(paths) => {
                write!(f, "nothing was written, because these files exist:")?;
                paths.iter().try_for_each(|path| write!(f, "\n  {}", path.display()))
            }
            InitError::Io(path, error) => write!(f, "{} cannot be written: {error}", path.display()),
            InitError::NoCore(path) => {
                let hint = "`cms-server init DIR` writes a new folder; take your own settings and files along to it";
                write!(f, "there is no folder {} to replace\n  hint: {hint}", path.display())
            }
        }
    }
}

impl std::error::Error for InitError {}

/// Writes the shipped files below a directory and returns their paths. Existing files are never changed: if there is
/// one, nothing is written.
pub fn init(directory: &Path) -> Result<Vec<PathBuf>, InitError> {
    write_files(directory, &files_of_init())
}

/// Whether a file is one that an upgrade replaces, by the name that problems show. `routes.toml` is the user's.
pub fn is_shipped(file: &str) -> bool {
    FILES.iter().any(|(name, _)| name.starts_with(SCHEMAS) && file.ends_with(name))
}

/// The text of a shipped file, if it is exactly this one.
pub fn same(key: &str, text: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, shipped)| *name == key && *shipped == text).map(|(_, shipped)| *shipped)
}

/// Whether a shipped file has exactly this text.
pub fn is_text(text: &str) -> bool {
    FILES.iter().any(|(_, shipped)| *shipped == text)
}

/// The keys of a table of a shipped file; none where there is no such table.
pub fn keys_of(file: &str, path: &[&str]) -> Vec<String> {
    let text = FILES.iter().find(|(name, _)| *name == file).map_or("", |(_, text)| *text);
    let root: toml::Table = toml::from_str(text).unwrap_or_default();
    let table = path.iter().try_fold(&root, |table, key| table.get(*key)?.as_table());
    table.into_iter().flat_map(toml::Table::keys).cloned().collect()
}

fn files_of_init() -> Vec<(&'static str, &'static str)> {
    FILES.iter().copied().chain([(VERSION_FILE, VERSION)]).collect()
}

/// Replaces the shipped files in the folder `schemas` of a directory. The user's own files in it stay, and so does everything
/// outside of it, `routes.toml` and `site.toml` above all. The old folder is renamed; its new name is returned.
///
/// # Errors
/// The directory has no shipped folder to replace, or a file cannot be written: then nothing has changed.
pub fn upgrade(directory: &Path) -> Result<PathBuf, InitError> {
    let (schemas, core) = (directory.join(SCHEMAS), directory.join(CORE));
    if !core.is_dir() {
        return Err(InitError::NoCore(core));
    }
    // Everything is written beside the old folder, so that one that fails half-way has changed nothing.
    let new = directory.join(format!("{SCHEMAS}.new-{}", std::process::id()));
    let written = copied(&schemas, &new, &|path| path == core)
        .and_then(|()| files_of_init().iter().try_for_each(|(name, text)| replaced(&new, name, text)));
    let old =
        (1..).map(|n| directory.join(format!("{SCHEMAS}.before-{n}"))).find(|path| path.symlink_metadata().is_err());
    let old = old.expect("one of endless names is free");
    let swapped = written.and_then(|()| renamed(&schemas, &old)).and_then(|()| renamed(&new, &schemas));
    if swapped.is_err() {
        if schemas.symlink_metadata().is_err() {
            let _ = fs::rename(&old, &schemas);
        }
        let _ = fs::remove_dir_all(&new);
    }
    swapped.map(|()| old)
}

fn renamed(from: &Path, to: &Path) -> Result<(), InitError> {
    fs::rename(from, to).map_err(|error| InitError::Io(to.to_owned(), error))
}

/// Copies a folder without what is left out.
fn copied(from: &Path, to: &Path, left_out: &dyn Fn(&Path) -> bool) -> Result<(), InitError> {
    let failed = |error| InitError::Io(to.to_owned(), error);
    fs::create_dir(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if left_out(&path) {
            continue;
        }
        match path.is_dir() {
            true => copied(&path, &copy, left_out)?,
            false => drop(fs::copy(&path, &copy).map_err(|error| InitError::Io(copy, error))?),
        }
    }
    Ok(())
}

/// Writes a shipped file below the folder that becomes `schemas`; files outside of that are left alone.
fn replaced(schemas: &Path, name: &str, text: &str) -> Result<(), InitError> {
    let Ok(name) = Path::new(name).strip_prefix(SCHEMAS) else { return Ok(()) };
    let path = schemas.join(name);
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(&path, text)).map_err(|error| InitError::Io(path, error))
}

/// Says in which way the shipped files that a directory's `routes.toml` includes are not those of this program; `None` when they
/// are, or when there are none.
pub fn outdated(directory: &Path) -> Option<String> {
    let core = directory.join(CORE);
    if !core.is_dir() {
        return None;
    }
    let shipped: Vec<_> = FILES.iter().filter(|(name, _)| name.starts_with(CORE)).collect();
    let differs = |name: &str, text: &str| fs::read_to_string(directory.join(name)).map_or(true, |own| own != text);
    let changed: Vec<&str> = shipped.iter().filter(|(name, text)| differs(name, text)).map(|(name, _)| *name).collect();
    if changed.is_empty() {
        return None;
    }
    let of = fs::read_to_string(directory.join(VERSION_FILE)).unwrap_or_default();
    let number = |version: &str| version.trim().split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>();
    let is = match (number(&of), number(VERSION)) {
        (Some(folder), Some(program)) if folder < program => {
            format!("is older than this program ({} < {VERSION})", of.trim())
        }
        (Some(folder), Some(program)) if folder > program => {
            format!("is newer than this program ({} > {VERSION})", of.trim())
        }
        _ => format!("is not that of this program ({VERSION}): {} changed or missing", changed.join(", ")),
    };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    Some(format!("{} {is}; `cms-server init --upgrade {}` replaces it", core.display(), directory.display()))
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
    fn a_table_of_a_shipped_file_has_its_keys() {
        let keys = keys_of("schemas/profiles/seo.toml", &["seo", "import"]);
        assert!(keys.iter().any(|key| key == "_yoast_wpseo_title"), "{keys:?}");
        assert_eq!(keys_of("schemas/profiles/seo.toml", &["seo", "nothing"]), [""; 0]);
        assert_eq!(keys_of("schemas/none.toml", &[]), [""; 0]);
    }

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
    fn what_an_upgrade_replaces_is_shipped() {
        for (file, expected) in [
            ("schemas/core/20-posts.toml", true),
            ("/site/schemas/core/20-posts.toml", true),
            ("(shipped) schemas/translations/de.toml", true),
            ("/site/schemas/mine.toml", false),
            ("/site/site.toml", false),
            ("/site/routes.toml", false),
            ("routes.toml", false),
        ] {
            assert_eq!(is_shipped(file), expected, "{file}");
        }
    }

    #[test]
    fn an_upgrade_replaces_what_is_shipped_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let read = |name: &str| fs::read_to_string(at(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(matches!(upgrade(dir.path()), Err(InitError::NoCore(_))));
        init(dir.path()).expect("writes");
        assert_eq!(outdated(dir.path()), None);

        fs::write(at(VERSION_FILE), "0.0.9\n").expect("writes");
        fs::write(at("routes.toml"), "my = 1").expect("writes");
        fs::write(at("schemas/mine.json"), "{}").expect("writes");
        fs::write(at("schemas/core/20-posts.toml"), "old = 1").expect("writes");
        fs::write(at("schemas/core/19-gone.toml"), "gone = 1").expect("writes");
        fs::write(at("schemas/post.json"), "{}").expect("writes");
        let warning = outdated(dir.path()).expect("older");
        assert!(warning.contains("is older than this program (0.0.9 < "), "{warning}");

        let old = upgrade(dir.path()).expect("replaces");
        assert_eq!(outdated(dir.path()), None);
        assert_eq!((read("routes.toml"), read("schemas/mine.json")), ("my = 1".to_owned(), "{}".to_owned()));
        assert!(!at("schemas/core/19-gone.toml").exists() && read("schemas/post.json") != "{}");
        assert_eq!(old, at("schemas.before-1"));
        assert_eq!(read("schemas.before-1/core/20-posts.toml"), "old = 1");
        assert_eq!(upgrade(dir.path()).expect("replaces"), at("schemas.before-2"));

        fs::write(at("schemas/core/20-posts.toml"), "edited = 1").expect("writes");
        let warning = outdated(dir.path()).expect("edited");
        assert!(warning.contains("is not that of this program") && warning.contains("20-posts.toml"), "{warning}");
    }

    #[test]
    fn an_upgrade_that_fails_changes_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        init(dir.path()).expect("writes");
        // A folder where a shipped file has to be.
        fs::remove_file(dir.path().join("schemas/post.json")).expect("was there");
        fs::create_dir(dir.path().join("schemas/post.json")).expect("creates");
        let error = upgrade(dir.path()).expect_err("in the way");
        assert!(error.to_string().contains("post.json cannot be written"), "{error}");
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["routes.toml", "schemas"]);
        assert!(dir.path().join("schemas/post.json").is_dir());
    }

    #[test]
    fn init_tells_which_file_failed() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("schemas"), "a file in the way").expect("writes");
        let error = write_files(dir.path(), &[("schemas/a.json", "{}")]).expect_err("in the way");
        assert!(error.to_string().contains("schemas/a.json cannot be written"), "{error}");
    }
}
