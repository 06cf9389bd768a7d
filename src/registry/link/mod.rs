//! From the declarations to the registry: every name resolved, every schema compiled, every problem collected.
//!
//! Nothing here reads files or a database; [`link`] returns the whole registry or the whole list of problems.

mod argument;
mod filter;
mod layout;
mod limits;
mod links;
pub mod parts;
mod property;
mod relation;
mod resource;
mod route;
mod shown;
mod site;
mod states;
mod words;

use super::vocabulary::Vocabulary;
use super::{Registry, Route, capabilities};
use crate::config::declaration::{self, Declaration};
use crate::config::load::Loaded;
use crate::error::Problem;
use crate::schema::{Bounds, Dialect, Schema};
use serde_json::Value;
use shown::schema_links;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Builds the registry. `site_url` is the listener's address, used when `site.url` is empty.
///
/// # Errors
/// Every problem of the declarations at once, sorted by place.
pub fn link(loaded: &Loaded, vocabulary: &Vocabulary, site_url: &str) -> Result<Registry, Vec<Problem>> {
    let mut linker = Linker {
        loaded,
        declared: &loaded.declaration,
        vocabulary,
        dialect: Dialect {
            space_separated_lists: loaded.declaration.dialect.space_separated_lists,
            empty_list_as_object: loaded.declaration.dialect.empty_list_as_object,
            bounds: usual_bounds(&loaded.declaration.bounds),
        },
        problems: Vec::new(),
    };
    let site = linker.site(site_url);
    linker.words();
    linker.networks();
    linker.media();
    let roles = linker.roles();
    linker.people();
    linker.transitions();
    let mut resources = linker.resources();
    linker.needed(&resources);
    linker.seeds(&resources);
    if let Some(site) = &site {
        schema_links(&mut resources, &site.rest_url);
    }
    linker.relations(&mut resources);
    linker.links(&mut resources);
    let layout = linker.layout(&resources);
    let mut routes = linker.routes(&resources);
    let index_schemas = linker.route_schemas(&mut routes);
    linker.limits(&mut routes, &resources);
    linker.totals(&routes, &resources);
    linker.audit(&resources);
    linker.parts(&resources);
    linker.options(&resources, &routes);
    linker.auto_add(&resources);
    let problems = linker.problems;
    let Some(site) = site else { return Err(sorted(problems)) };
    if !problems.is_empty() {
        return Err(sorted(problems));
    }
    Ok(Registry {
        declaration: loaded.declaration.clone(),
        site,
        roles: capabilities::resolved(roles, &loaded.declaration, &resources, &routes),
        namespaces: listed_namespaces(&loaded.declaration, &routes),
        resources,
        routes,
        index_schemas,
        layout,
        fingerprint: fingerprint(loaded),
    })
}

/// The namespaces that clients are told of.
fn listed_namespaces(declared: &Declaration, routes: &[Route]) -> Vec<String> {
    let hidden = |namespace: &str| {
        let mut own = routes.iter().filter(|route| route.namespace == namespace).peekable();
        own.peek().is_some() && own.all(|route| route.hidden)
    };
    declared.namespaces.values().map(|n| n.path.clone()).filter(|path| !hidden(path)).collect()
}

fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort();
    problems.dedup();
    problems
}

fn fingerprint(loaded: &Loaded) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?}", loaded.declaration).hash(&mut hasher);
    for (file, schema) in &loaded.schemas {
        file.hash(&mut hasher);
        schema.to_string().hash(&mut hasher);
    }
    hasher.finish()
}

struct Linker<'a> {
    loaded: &'a Loaded,
    declared: &'a Declaration,
    vocabulary: &'a Vocabulary,
    dialect: Dialect,
    problems: Vec<Problem>,
}

impl Linker<'_> {
    fn problem(&mut self, path: &[&str], message: impl Into<String>, hint: Option<String>) {
        let problem = self.loaded.problem(path, message, hint);
        self.problems.push(problem);
    }

    /// Looks a name up in a list of names; an unknown one is a problem with the nearest match.
    fn known(&mut self, path: &[&str], what: &str, wanted: &str, names: &[&str]) -> Option<usize> {
        let found = names.iter().position(|n| *n == wanted);
        if found.is_none() {
            let hint = nearest(wanted, names.iter().copied());
            self.problem(path, format!("unknown {what} `{wanted}`"), hint);
        }
        found
    }

    /// Compiles a schema to find its problems; the compiled form is dropped.
    fn compile_schema(&mut self, file: &str, pointer: &str, schema: &Value) {
        if let Err(problems) = Schema::compile(schema, self.dialect) {
            for problem in problems {
                let place = format!("{pointer}{}", problem.pointer);
                let problem = self.loaded.schema_problem(file, &place, problem.message, problem.hint);
                self.problems.push(problem);
            }
        }
    }

    fn report(&mut self, place: &Declared, below: &str, message: String, hint: Option<String>) {
        let problem = match place {
            Declared::Config(path) => {
                let mut path: Vec<&str> = path.iter().map(String::as_str).collect();
                path.extend(below.split('/').filter(|s| !s.is_empty()));
                self.loaded.problem(&path, message, hint)
            }
            Declared::Schema(file, pointer) => {
                let pointer = format!("{pointer}/{}", below.trim_start_matches('/'));
                self.loaded.schema_problem(file, &pointer, message, hint)
            }
        };
        self.problems.push(problem);
    }
}

/// Where an argument's document was written.
#[derive(Clone, Debug)]
enum Declared {
    Config(Vec<String>),
    Schema(String, String),
}

/// The declared bounds, for schemas that set none.
fn usual_bounds(declared: &declaration::Bounds) -> Bounds {
    Bounds {
        text: Some(declared.max_length),
        items: Some(declared.max_items),
        members: Some(declared.max_properties),
        free: Some(declared.max_free_form.bytes()),
    }
}

/// A hint for a name that is none: the nearest of those that are.
pub fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    names
        .map(|n| (strsim::jaro_winkler(wanted, n), n))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, n)| format!("did you mean `{n}`?"))
}

fn refs(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

fn extend<'p>(path: &[&'p str], last: &'p str) -> Vec<&'p str> {
    let mut path = path.to_vec();
    path.push(last);
    path
}

fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}
