//! How the linker reports a problem: at a place of the configuration, at one of a schema file, or at either; and the
//! look-ups of names that end in one.
//!
//! Each is marked `track_caller`: in tests the caller is noted, so that every place which reports something has a case
//! in `fixtures/link`.

use super::super::codes::{code_named, code_names};
use super::super::resource::Resource;
use super::{ArgOrigin, Linker, extend};
use crate::error::Code;
use crate::model::Method;
use cms_config::Problem;
use cms_config::check::suggestion;
use cms_schema::Schema;
use cms_storage::plan::Name;
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::HashMap;

impl Linker<'_> {
    #[track_caller]
    fn found(&mut self, problem: Problem) {
        #[cfg(test)]
        super::tests::note(std::panic::Location::caller());
        self.problems.push(problem);
    }

    /// A problem at a value of the configuration.
    #[track_caller]
    pub(super) fn problem(&mut self, path: &[&str], message: impl Into<String>, hint: Option<String>) {
        self.found(self.loaded.problem(path, message, hint));
    }

    /// A problem at a value that may hold a password: its line is not shown.
    #[track_caller]
    pub(super) fn problem_with_secret(&mut self, path: &[&str], message: impl Into<String>, hint: Option<String>) {
        self.found(Problem { excerpt: None, ..self.loaded.problem(path, message, hint) });
    }

    /// A problem in a schema file.
    #[track_caller]
    pub(super) fn in_schema(&mut self, file: &str, pointer: &str, message: impl Into<String>, hint: Option<String>) {
        self.found(self.loaded.schema_problem(file, pointer, message, hint));
    }

    /// A problem in a document, wherever that was written; `below` is a JSON pointer in it.
    #[track_caller]
    pub(super) fn report(&mut self, place: &ArgOrigin, below: &str, message: impl Into<String>, hint: Option<String>) {
        match place {
            ArgOrigin::Config(path) => {
                let mut path: Vec<&str> = path.iter().map(String::as_str).collect();
                path.extend(below.split('/').filter(|s| !s.is_empty()));
                self.problem(&path, message, hint);
            }
            ArgOrigin::Schema(file, pointer) => {
                let pointer = format!("{pointer}/{}", below.trim_start_matches('/'));
                self.in_schema(file, &pointer, message, hint);
            }
        }
    }

    /// The position of a name in a list; an unknown name is a problem.
    #[track_caller]
    pub(super) fn known(&mut self, path: &[&str], what: &str, wanted: &str, names: &[&str]) -> Option<usize> {
        let found = names.iter().position(|n| *n == wanted);
        if found.is_none() {
            self.problem(path, unknown(what, wanted), suggestion(wanted, names.iter().copied()));
        }
        found
    }

    /// [`Self::known`] for a name in a document.
    #[track_caller]
    pub(super) fn known_in(
        &mut self,
        (place, below): (&ArgOrigin, &str),
        what: &str,
        wanted: &str,
        names: &[&str],
    ) -> Option<usize> {
        let found = names.iter().position(|n| *n == wanted);
        if found.is_none() {
            self.report(place, below, unknown(what, wanted), suggestion(wanted, names.iter().copied()));
        }
        found
    }

    /// The place of a resource. `None` also for one that is declared and has problems of its own: those are reported.
    #[track_caller]
    pub(super) fn resource_named(&mut self, path: &[&str], wanted: &str) -> Option<usize> {
        let names: Vec<&str> = self.declared.resources.keys().map(String::as_str).collect();
        self.known(path, "resource", wanted, &names)?;
        self.places.get(wanted).copied()
    }

    /// [`Self::resource_named`] for a name in a document.
    #[track_caller]
    pub(super) fn resource_named_in(&mut self, place: (&ArgOrigin, &str), wanted: &str) -> Option<usize> {
        let names: Vec<&str> = self.declared.resources.keys().map(String::as_str).collect();
        self.known_in(place, "resource", wanted, &names)?;
        self.places.get(wanted).copied()
    }

    /// A column of a resource.
    #[track_caller]
    pub(super) fn column(&mut self, resource: &Resource, path: &[&str], column: &str) -> Option<Name> {
        let found = resource.plan_column(column);
        if found.is_none() {
            let (message, hint) = no_column(resource, column);
            self.problem(path, message, hint);
        }
        found
    }

    /// An error code.
    #[track_caller]
    pub(super) fn code(&mut self, path: &[&str], wanted: &str) -> Option<Code> {
        let found = code_named(self.declared, wanted);
        if found.is_none() {
            self.problem(path, unknown("error code", wanted), Some(self.code_hint(wanted)));
        }
        found
    }

    /// [`Self::code`] in a schema file.
    #[track_caller]
    pub(super) fn code_in(&mut self, file: &str, pointer: &str, wanted: &str) -> Option<Code> {
        let found = code_named(self.declared, wanted);
        if found.is_none() {
            self.in_schema(file, pointer, unknown("error code", wanted), Some(self.code_hint(wanted)));
        }
        found
    }

    fn code_hint(&self, wanted: &str) -> String {
        let near = suggestion(wanted, code_names(self.declared));
        near.unwrap_or_else(|| format!("declare it: [codes.{wanted}] with a status and a message"))
    }

    /// Codes that stand in for others.
    #[track_caller]
    pub(super) fn codes(&mut self, path: &[&str], declared: &IndexMap<String, String>) -> HashMap<Code, Code> {
        let mut codes = HashMap::new();
        for (from, to) in declared {
            let path = extend(path, from);
            if let (Some(from), Some(to)) = (self.code(&path, from), self.code(&path, to)) {
                codes.insert(from, to);
            }
        }
        codes
    }

    /// A method by its name in capitals.
    #[track_caller]
    pub(super) fn method(&mut self, path: &[&str], wanted: &str) -> Option<Method> {
        let found = Method::parse(wanted);
        if found.is_none() {
            let hint = "the methods are GET, POST, PUT, PATCH and DELETE";
            self.problem(path, unknown("method", wanted), Some(hint.into()));
        }
        found
    }

    /// Compiles a schema file to find its problems; the compiled form is dropped. Those that are shipped have none.
    #[track_caller]
    pub(super) fn compile_schema(&mut self, file: &str, schema: &Value) {
        if self.loaded.is_shipped_schema(file) {
            return;
        }
        for problem in Schema::compile(schema, self.dialect).err().into_iter().flatten() {
            self.in_schema(file, &problem.pointer, problem.message, problem.hint);
        }
    }
}

fn unknown(what: &str, wanted: &str) -> String {
    format!("unknown {what} `{wanted}`")
}

/// Message and hint for a column that a resource does not have.
pub(super) fn no_column(resource: &Resource, column: &str) -> (String, Option<String>) {
    let mut names: Vec<(&String, &usize)> = resource.column_index.iter().collect();
    names.sort_by_key(|(_, index)| **index);
    let hint = suggestion(column, names.into_iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    (format!("`{}` has no column `{column}`", resource.name), hint)
}
