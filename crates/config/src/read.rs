//! Steps that every part of loading shares: reading texts, numbering them, and collecting problems.
//!
//! It does not know what is in the texts.

use super::check;
use super::source::{Origin, SourceError};
use super::tree::{Sources, Span};
use crate::Problem;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Most files of one declaration.
const MOST_FILES: usize = 1000;

/// Most problems that are reported; each costs a pass over a line, and nobody reads more.
pub const MOST_PROBLEMS: usize = 1000;

/// The state of a load.
pub struct Reader<'a> {
    pub origin: Origin<'a>,
    pub sources: Sources,
    pub problems: Vec<Problem>,
    /// Files on disk that were read or tried.
    pub files: Vec<PathBuf>,
    /// Some declaration file could not be used, so absent keys prove nothing.
    pub partial: bool,
    keys: HashMap<usize, String>,
    /// How many files were requested.
    asked: usize,
}

impl<'a> Reader<'a> {
    pub fn new(origin: Origin<'a>) -> Self {
        Reader {
            origin,
            sources: Sources::default(),
            problems: Vec::new(),
            files: Vec::new(),
            partial: false,
            keys: HashMap::new(),
            asked: 0,
        }
    }

    /// The key of a file that is named somewhere in a source; environment and command line name files beside the main
    /// one.
    pub fn resolve(&self, from: usize, named: &str) -> String {
        self.origin.resolve(self.keys.get(&from).map_or("", String::as_str), named)
    }

    /// The keys of the files that a source includes under a name, which may be a pattern. The folder of a pattern is
    /// watched, too: a file may be added.
    pub fn included(&mut self, place: Span, named: &str) -> Vec<String> {
        let key = self.resolve(place.source, named);
        if !named.contains('*') {
            return vec![key];
        }
        let folder = self.origin.path(&key).and_then(|path| path.parent().map(Path::to_path_buf));
        self.files.extend(folder.filter(|folder| !self.files.contains(folder)));
        let (message, hint) = match self.origin.selected(&key) {
            Some(keys) if !keys.is_empty() => return keys,
            Some(_) => (format!("no file matches `{}`", self.origin.name(&key)), None),
            None => {
                let hint = "it selects files of one folder: \"schemas/core/*.toml\"";
                (
                    format!("`{named}` has more than one `*` in the name of the file, or one in a folder's"),
                    Some(hint.to_owned()),
                )
            }
        };
        self.report(place, message, hint);
        self.partial = true;
        Vec::new()
    }

    /// Reports a problem at a place.
    pub fn report(&mut self, place: Span, message: impl Into<String>, hint: Option<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(self.sources.problem(place, message, hint));
        }
    }

    /// Reports a problem with a file where it is named; without a place, of the main file.
    pub fn report_file(&mut self, named_at: Option<Span>, key: &str, message: String, hint: Option<String>) {
        match named_at {
            Some(place) => self.report(place, message, hint),
            None => {
                let file = self.origin.name(key);
                self.problems.push(Problem { file, place: None, excerpt: None, message, hint });
            }
        }
    }

    /// Reads a file and numbers it as a source.
    pub fn source(&mut self, key: &str, named_at: Option<Span>, optional: bool) -> Option<usize> {
        let name = self.origin.name(key);
        self.asked += 1;
        if self.asked > MOST_FILES {
            self.report_file(named_at, key, format!("these are more than {MOST_FILES} files"), None);
            return None;
        }
        if let Some(path) = self.origin.path(key)
            && !self.files.contains(&path)
        {
            self.files.push(path);
        }
        let (message, hint) = match self.origin.read(key) {
            Ok(text) => {
                let source = self.sources.add(name, text);
                self.keys.insert(source, key.to_owned());
                return Some(source);
            }
            Err(SourceError::Missing) if optional => return None,
            Err(SourceError::Missing) => (format!("`{name}` does not exist"), self.missing_hint(key, named_at)),
            Err(SourceError::Other(why)) => (format!("`{name}` {why}"), None),
            Err(SourceError::NotText(before)) => {
                let source = self.sources.add(name, &before);
                let place = Span { source, start: before.len(), end: before.len() };
                let hint = Some("save the file in UTF-8".to_owned());
                self.report(place, "from here on this is not UTF-8 text", hint);
                return None;
            }
        };
        self.report_file(named_at, key, message, hint);
        None
    }

    fn missing_hint(&self, key: &str, named_at: Option<Span>) -> Option<String> {
        if named_at.is_none() {
            return Some("`cms-server init DIR` writes the shipped declarations into a directory".to_owned());
        }
        let siblings = self.origin.siblings(key);
        let near = check::nearest(key, siblings.iter().map(String::as_str));
        near.map(|near| format!("did you mean `{}`?", self.origin.name(near)))
    }
}
