//! Tables of files that build scripts put into a program.

use std::fs;
use std::path::Path;

/// The Rust expression of a table: the names of files below `folder` with their contents, which the macro `include` reads.
/// The compiler adds where the sources are, so that a build folder that was copied serves its new place.
pub fn table(folder: &str, files: &[String], name: impl Fn(&str) -> String, include: &str) -> String {
    let rows = files.iter().map(|file| {
        let (name, file) = (name(file), format!("{folder}/{file}"));
        format!("    ({name:?}, {include}!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),\n")
    });
    format!("&[\n{}]\n", rows.collect::<String>())
}

/// Adds the files at or below `path` whose names have one of these endings, in the order of their names and as paths below
/// `root`.
pub fn collect(root: &Path, path: &Path, endings: &[&str], files: &mut Vec<String>) {
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        for entry in entries {
            collect(root, &entry, endings, files);
        }
    } else if path.is_file() && path.extension().is_some_and(|end| endings.iter().any(|ending| end == *ending)) {
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        files.push(name);
    }
}
