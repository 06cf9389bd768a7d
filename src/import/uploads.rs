//! A folder of uploads: its files, the copies beside a file, and the names of files in texts.

use super::file_records::each_file;
use crate::boot::BootError;
use cms_core::families::content::columns;
use cms_core::registry::Registry;
use cms_storage::Storage;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Most bytes of a name with its folders.
const LONGEST: usize = 1024;

/// Names that a text is searched for.
const MOST_NAMES: usize = 50_000;

/// Texts that are looked for before names.
const MOST_MARKS: usize = 40;

/// The folder. The names of the directory that was looked at last stay in memory: files come month by month.
pub(super) struct UploadFolder {
    folder: PathBuf,
    listed: Option<(PathBuf, Vec<String>)>,
}

impl UploadFolder {
    pub(super) fn at(folder: &Path) -> UploadFolder {
        UploadFolder { folder: folder.to_owned(), listed: None }
    }

    /// A file of the folder, with its name; a name that leads out of it finds nothing, nor does a link in it that does.
    pub(super) fn file(&self, relative: &str) -> Option<(String, PathBuf)> {
        let parts = Path::new(relative);
        let inside = parts.components().all(|part| matches!(part, Component::Normal(_)));
        let path = self.folder.join(parts);
        let stays = || Some(path.canonicalize().ok()?.starts_with(self.folder.canonicalize().ok()?));
        (inside && path.is_file() && stays() == Some(true)).then(|| (relative.to_owned(), path))
    }

    /// Names of files beside one that are named like copies of it: `tree-300x200.jpg` beside `tree.jpg`, and beside
    /// `tree-scaled.jpg`.
    pub(super) fn copies_of(&mut self, relative: &str) -> Vec<String> {
        let (folder, own) = relative.rsplit_once('/').unwrap_or(("", relative));
        let Some((stem, end)) = own.rsplit_once('.') else { return Vec::new() };
        let names = self.names(self.folder.join(folder));
        let stems = [stem, stem.trim_end_matches("-scaled").trim_end_matches("-rotated")];
        let copy = |name: &&String| {
            let Some((other, other_end)) = name.rsplit_once('.') else { return false };
            let marks = |stem: &str| other.strip_prefix(stem).is_some_and(is_mark);
            name.as_str() != own && other_end.eq_ignore_ascii_case(end) && stems.into_iter().any(marks)
        };
        names.iter().filter(copy).cloned().collect()
    }

    /// The names in a directory; none where it cannot be read.
    fn names(&mut self, directory: PathBuf) -> &[String] {
        if self.listed.as_ref().is_none_or(|(listed, _)| *listed != directory) {
            let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            self.listed = Some((directory, names));
        }
        self.listed.as_ref().map_or(&[], |(_, names)| names)
    }
}

/// Whether the end of a name marks a copy: its size, perhaps after the number of an edit, or what WordPress shows instead.
fn is_mark(mark: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(mark) = mark.strip_prefix('-') else { return false };
    let edited = mark.strip_prefix('e').map_or(mark, |edit| match edit.split_once('-') {
        Some((edit, rest)) if number(edit) => rest,
        None if number(edit) => "scaled",
        _ => mark,
    });
    match edited {
        "scaled" | "rotated" => true,
        size => size.split_once('x').is_some_and(|(width, height)| number(width) && number(height)),
    }
}

/// Texts that stand before the names of files in addresses.
pub(super) struct UploadMarks(Vec<String>);

impl UploadMarks {
    /// Those of the files that a site has: folders of uploads, and the places of files that an address of a record names. JSON
    /// texts escape slashes.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn of(registry: &Registry, storage: &dyn Storage) -> Result<UploadMarks, BootError> {
        let mut marks = UploadMarks::default();
        each_file(registry, storage, |record, _| {
            let extra: Value = serde_json::from_str(record.text("extra")).unwrap_or_default();
            for address in [record.text(columns::GUID), extra["source_url"].as_str().unwrap_or_default()] {
                marks.add(address);
            }
            Ok(())
        })?;
        Ok(marks)
    }

    /// Takes the place of a file whose address has no folder of uploads.
    fn add(&mut self, address: &str) {
        let Some((place, _)) = dated(address).filter(|(place, _)| !place.contains("/uploads/")) else { return };
        let Some((_, place)) = place.split_once("//") else { return };
        if self.0.len() < MOST_MARKS && !self.0.iter().any(|mark| mark == place) {
            self.0.extend([place.to_owned(), place.replace('/', "\\/")]);
        }
    }

    /// The files that a text names: the part of each address behind a mark, in every form in which it may be the name of a
    /// file.
    pub(super) fn named_files(&self, text: &str) -> BTreeSet<String> {
        let names = self.places(text).flat_map(|(_, behind)| names(&text[behind..]));
        names.take(MOST_NAMES).map(|(name, _)| name).collect()
    }

    /// The places where a text has a mark: where that begins, and what is behind it.
    pub(super) fn places(&self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        self.0.iter().flat_map(move |mark| text.match_indices(mark.as_str()).map(|(at, mark)| (at, at + mark.len())))
    }
}

impl Default for UploadMarks {
    fn default() -> UploadMarks {
        UploadMarks(vec!["/uploads/".to_owned(), "\\/uploads\\/".to_owned()])
    }
}

/// The place and the name of a file in an address that ends with month and name, as WordPress stores files:
/// `https://files.example/` and `2013/03/tree.jpg`.
pub(super) fn dated(address: &str) -> Option<(&str, &str)> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at);
    let (last, month, year) = (slashes.next()?, slashes.next()?, slashes.next()?);
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_dated = digits(&path[year + 1..month], 4) && digits(&path[month + 1..last], 2) && path[last..].contains('.');
    is_dated.then(|| path.split_at(year + 1))
}

/// Every name of a file that may be at the beginning of a text, with its bytes there.
pub(super) fn names(rest: &str) -> Vec<(String, usize)> {
    let mut most = rest.len().min(LONGEST);
    while !rest.is_char_boundary(most) {
        most -= 1;
    }
    let rest = &rest[..most];
    // Blanks may be part of a name, or what ends it.
    let quoted = rest.split(['"', '<', '>', '\n', '\r', '\t', '|']).next().unwrap_or_default();
    let single = quoted.split(['\'', ')']).next().unwrap_or_default();
    let plain = single.split([' ', ',', '?', '#', '&', ']']).next().unwrap_or_default();
    let forms = [quoted, single, plain].into_iter().flat_map(|name| {
        let written = name.trim_end_matches('\\');
        let name = written.replace("\\/", "/");
        [(percent_decode_str(&name).decode_utf8_lossy().into_owned(), written.len()), (name, written.len())]
    });
    forms.filter(|(name, _)| name.contains('.')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_folder_is_found() {
        let dir = tempfile::tempdir().expect("a folder");
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).expect("made");
        std::fs::write(dir.path().join("secret.png"), "x").expect("written");
        std::fs::write(inner.join("a.png"), "x").expect("written");
        let uploads = UploadFolder::at(&inner);
        assert!(uploads.file("a.png").is_some());
        for outside in ["../secret.png", "/etc/passwd", "x/../../secret.png", "."] {
            assert_eq!(uploads.file(outside), None, "{outside}");
        }
    }

    #[test]
    fn copies_are_found_by_their_names() {
        let dir = tempfile::tempdir().expect("a folder");
        let copies = ["tree-300x200.jpg", "tree-e1600000000.jpg", "tree-e1600000000-150x150.jpg", "tree-scaled.jpg"];
        for name in
            copies.iter().chain(&["tree.jpg", "tree-2.jpg", "trees-300x200.jpg", "tree-300x200.png", "tree-x.jpg"])
        {
            std::fs::write(dir.path().join(name), "x").expect("written");
        }
        let mut uploads = UploadFolder::at(dir.path());
        let mut found = uploads.copies_of("tree.jpg");
        found.sort();
        let mut expected = copies.map(str::to_owned);
        expected.sort();
        assert_eq!(found, expected);
        assert!(uploads.copies_of("tree-scaled.jpg").contains(&"tree-300x200.jpg".to_owned()));
    }

    #[test]
    fn names_of_files_in_texts() {
        let check = |text: &str, expected: &str| {
            let found = UploadMarks::default().named_files(text);
            assert!(found.contains(expected), "{text}: {found:?}");
        };
        check("<img src=\"http://x/wp-content/uploads/2020/01/a-5x5.jpg\">", "2020/01/a-5x5.jpg");
        check("<img src='http://x/wp-content/uploads/2020/01/b.jpg'>", "2020/01/b.jpg");
        check("srcset=\"http://x/uploads/c.jpg 300w, http://x/uploads/d.jpg 600w\"", "c.jpg");
        check("srcset=\"http://x/uploads/c.jpg 300w, http://x/uploads/d.jpg 600w\"", "d.jpg");
        check("\"http://x/uploads/with space.jpg\"", "with space.jpg");
        check("\"http://x/uploads/with%20space.jpg\"", "with space.jpg");
        check("\"http://x/uploads/quote's.jpg\"", "quote's.jpg");
        check("{\"url\":\"http:\\/\\/x\\/uploads\\/2020\\/e.jpg\"}", "2020/e.jpg");
        check("url(http://x/uploads/f.jpg)", "f.jpg");
        check("http://x/uploads/g.pdf?download=1", "g.pdf");
        check("[audio http://x/uploads/h.mp3]", "h.mp3");
        assert!(UploadMarks::default().named_files("nothing, or /uploads/ alone").is_empty());
    }

    #[test]
    fn places_of_files_without_a_folder_of_uploads() {
        let mut marks = UploadMarks::default();
        for address in
            ["https://x.files.example/2013/03/a.jpg?w=5", "https://y/uploads/2013/03/a.jpg", "https://z/?p=1", "a/b"]
        {
            marks.add(address);
        }
        let found =
            marks.named_files("<img src=\"https://x.files.example/2014/12/b.jpg?w=300\"> https://z/2014/12/c.jpg");
        assert!(found.contains("2014/12/b.jpg") && !found.contains("2014/12/c.jpg"), "{found:?}");
        assert_eq!(marks.0.len(), 4);
        assert_eq!(dated("https://z/201/03/a.jpg"), None);
    }
}
