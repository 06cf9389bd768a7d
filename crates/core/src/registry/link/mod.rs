//! From the declarations to the registry: every name resolved, every schema compiled, every problem collected.
//!
//! Nothing here reads files or a database; [`link`] returns the whole registry or the whole list of problems.

mod abilities;
mod addresses;
mod argument;
pub(super) mod blocks;
mod criteria;
mod digests;
mod fields;
mod filter;
mod guarded;
mod inner_relations;
mod layout;
mod limits;
mod links;
mod login;
mod names;
pub mod parts;
mod plausible;
mod podcasts;
mod property;
mod relation;
mod report;
mod resource;
mod route;
mod seo;
mod shown;
mod site;
mod states;
mod unset;
mod values;
pub mod views;
mod words;

use super::capabilities;
use super::entries;
use super::fields::{GroupFields, groups as field_groups_of};
use super::languages::Languages;
use super::vocabulary::{HandlerRole, Vocabulary};
use super::{Registry, Route};
use argument::ArgDocuments;
use cms_config::Problem;
use cms_config::load::LoadedDeclaration;
use cms_declaration::{self as declaration, Declaration, Family};
use cms_schema::{Dialect, ValueBounds};
use cms_storage::place::Place;
use serde_json::Value;
use shown::schema_links;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Builds the registry. `site_url` is the listener's address, used when `site.url` is empty.
///
/// # Errors
/// Every problem of the declarations at once, sorted by place.
pub fn link(loaded: &LoadedDeclaration, vocabulary: &Vocabulary, site_url: &str) -> Result<Registry, Vec<Problem>> {
    let schemas = &unset::with_null(loaded);
    let field_groups = field_groups_of(&loaded.declaration);
    let mut linker = Linker::new(loaded, schemas, &field_groups, vocabulary);
    let site = linker.site(site_url);
    linker.beside_resources();
    let roles = linker.roles();
    linker.people();
    linker.error_codes();
    let mut resources = linker.resources();
    let targets: Vec<(Family, bool)> = resources.iter().map(|r| (r.family, r.key_is_text)).collect();
    linker.base_resources(&targets);
    linker.needed(&resources);
    linker.seeds(&resources);
    linker.relations(&mut resources, &targets);
    if let Some(site) = &site {
        schema_links(&mut resources, &site.rest_url);
        linker.item_addresses(&mut resources, site);
    }
    linker.guarded(&mut resources);
    linker.links(&mut resources);
    let seo = linker.seo(&mut resources);
    linker.podcasts(&mut resources);
    linker.former_names(&resources);
    let layout = linker.layout(&resources);
    let mut routes = linker.routes(&resources);
    let index_schemas = linker.route_schemas(&mut routes);
    linker.limits(&mut routes, &resources);
    linker.totals(&routes, &resources);
    linker.audit(&resources);
    linker.assistants(&resources);
    linker.events(&resources);
    linker.console();
    linker.parts();
    linker.options(&resources, &routes);
    let abilities = linker.abilities(&resources, &routes);
    linker.auto_add(&resources);
    linker.retentions(&resources);
    linker.adjustments(&resources);
    linker.settings(&resources);
    linker.views(&resources);
    linker.translations();
    linker.block_types(&resources);
    let Some(site) = site.filter(|_| linker.problems.is_empty()) else { return Err(Problem::sorted(linker.problems)) };
    let capabilities = capabilities::named(&roles, &loaded.declaration, &resources, &routes);
    Ok(Registry {
        item_routes: vec![OnceLock::new(); resources.len()],
        tokens: with_role(&routes, HandlerRole::TokenCheck),
        oauth: with_role(&routes, HandlerRole::OAuthToken),
        seo,
        languages: Languages::declared(&resources, |of| entries::declared(&loaded.declaration, &loaded.entries, of)),
        entries: vec![OnceLock::new(); resources.len()],
        entry_files: loaded.entries.clone(),
        declaration: Arc::clone(&loaded.declaration),
        site,
        declared_roles: capabilities::expand_roles(roles, &capabilities),
        capabilities,
        namespaces: listed_namespaces(&loaded.declaration),
        resources,
        field_groups,
        routes,
        abilities,
        index_schemas,
        layout,
        block_types: OnceLock::new(),
        block_styles: blocks::block_styles(&loaded.declaration),
        fingerprint: digests::fingerprint(loaded),
        shared: if is_alone(&loaded.declaration) { String::new() } else { digests::shared(loaded) },
    })
}

/// The resource of the route that has a role.
fn with_role(routes: &[Route], role: HandlerRole) -> Option<usize> {
    routes.iter().find(|route| route.has_role(role)).and_then(|route| route.resource)
}

/// Whether no other node can serve the same database.
fn is_alone(declared: &Declaration) -> bool {
    Place::of(&declared.storage.url).is_some_and(|place| place.file().is_some())
}

/// The namespaces that the root lists.
fn listed_namespaces(declared: &Declaration) -> Vec<String> {
    declared.namespaces.values().filter(|n| !n.hidden).map(|n| n.path.clone()).collect()
}

struct Linker<'a> {
    field_groups: &'a [GroupFields],
    loaded: &'a LoadedDeclaration,
    /// Those of resources; see [`Linker::schema`].
    schemas: &'a HashMap<&'a str, Value>,
    declared: &'a Declaration,
    vocabulary: &'a Vocabulary,
    dialect: Dialect,
    /// The table whose resources are being compiled.
    table: &'static str,
    /// Positions of the compiled resources, by name.
    places: HashMap<String, usize>,
    documents: ArgDocuments,
    problems: Vec<Problem>,
}

impl<'a> Linker<'a> {
    fn new(
        loaded: &'a LoadedDeclaration,
        schemas: &'a HashMap<&'a str, Value>,
        field_groups: &'a [GroupFields],
        vocabulary: &'a Vocabulary,
    ) -> Self {
        Linker {
            field_groups,
            loaded,
            schemas,
            declared: &loaded.declaration,
            vocabulary,
            dialect: dialect(&loaded.declaration),
            table: "resources",
            places: HashMap::new(),
            documents: ArgDocuments::default(),
            problems: Vec::new(),
        }
    }

    /// A schema file as it is linked.
    fn schema(&self, file: &str) -> Option<&'a Value> {
        self.schemas.get(file).or_else(|| self.loaded.schemas.get(file))
    }

    /// Checks what depends on no resource.
    fn beside_resources(&mut self) {
        self.words();
        self.networks();
        self.media();
        self.mail();
        self.logins();
        self.addresses();
        self.actions();
        self.transitions();
        self.fields();
    }
}

/// Where an argument's document was written.
#[derive(Clone, Debug)]
enum ArgOrigin {
    Config(Vec<String>),
    Schema(String, String),
}

/// How values are read, as it is declared.
pub(super) fn dialect(declared: &Declaration) -> Dialect {
    Dialect {
        space_separated_lists: declared.dialect.space_separated_lists,
        empty_list_as_object: declared.dialect.empty_list_as_object,
        explain_types: declared.dialect.explain_types,
        any_address: !declared.dialect.check_addresses,
        escape_text_fields: declared.dialect.escape_text_fields,
        scalars_as_lists: declared.dialect.scalars_as_lists,
        lenient_dates: declared.dialect.lenient_dates,
        lenient_numbers: declared.dialect.lenient_numbers,
        empty_text_as_text: declared.dialect.empty_text_as_text,
        bounds: usual_bounds(&declared.bounds),
    }
}

/// The declared bounds, for schemas that set none.
fn usual_bounds(declared: &declaration::Bounds) -> ValueBounds {
    ValueBounds {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::PROJECT;
    use cms_config::load::attempt;
    use cms_config::shipped;
    use cms_config::source::Origin;
    use expect_test::expect_file;
    use regex::Regex;
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::fs;
    use std::panic::Location;
    use std::path::{Path, PathBuf};
    use std::sync::LazyLock;

    /// A place of the linker's source: file, line and column.
    type Site = (String, usize, usize);

    thread_local! {
        /// The places that have reported something on this thread.
        static NOTED: RefCell<BTreeSet<Site>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// Notes a place that reports something.
    pub(super) fn note(place: &Location<'_>) {
        let site = (place.file().replace('\\', "/"), place.line() as usize, place.column() as usize);
        NOTED.with_borrow_mut(|noted| noted.insert(site));
    }

    /// Every folder of `fixtures/link`: its path, and what `cms-server check` prints where `site.toml` and the schemas
    /// lie beside the shipped declarations.
    struct LinkFixtures {
        printed: Vec<(PathBuf, String)>,
        sites: BTreeSet<Site>,
    }

    static CASES: LazyLock<LinkFixtures> = LazyLock::new(|| {
        let root = Path::new(PROJECT).join("fixtures/link");
        let entries = fs::read_dir(root).expect("the fixtures are there");
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("is readable").path()).collect();
        folders.sort();
        let printed = folders.into_iter().map(|folder| (folder.clone(), printed(&problems(&folder)))).collect();
        LinkFixtures { printed, sites: NOTED.take() }
    });

    fn problems(folder: &Path) -> Vec<Problem> {
        let read = |file: &Path| (file.strip_prefix(folder).map(Path::to_owned), fs::read_to_string(file));
        let more = fs::read_dir(folder.join("schemas")).into_iter().flatten().flatten().map(|entry| entry.path());
        let own: Vec<(String, String)> = more
            .chain([folder.join("site.toml")])
            .map(|file| match read(&file) {
                (Ok(name), Ok(text)) => (name.to_string_lossy().replace('\\', "/"), text),
                _ => panic!("{} cannot be read", file.display()),
            })
            .collect();
        let own = own.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let files: Vec<(&str, &str)> = shipped::FILES.iter().copied().chain(own).collect();
        match attempt(Origin::Texts { label: "", files: &files }, &[], []).outcome {
            Err(problems) => problems,
            Ok(loaded) => match link(&loaded, &crate::engine::vocabulary(), "http://site.example") {
                Err(problems) => problems,
                Ok(_) => crate::xmlrpc::Rpc::new(&loaded).err().unwrap_or_default(),
            },
        }
    }

    /// Lines of the shipped files move with every change to them: of places there the file alone is compared.
    fn printed(problems: &[Problem]) -> String {
        let shipped = |problem: &Problem| shipped::FILES.iter().any(|(name, _)| *name == problem.file);
        let place = |problem: &Problem| problem.place.filter(|_| !shipped(problem));
        problems.iter().map(|problem| format!("{}\n", Problem { place: place(problem), ..problem.clone() })).collect()
    }

    fn sources(folder: &str) -> Vec<(String, String)> {
        let entries = fs::read_dir(Path::new(PROJECT).join(folder)).expect("the sources are there");
        let files = entries.map(|entry| entry.expect("is readable").path()).filter(|path| path.is_file());
        let read = files.map(|path| {
            let text = fs::read_to_string(&path).expect("is text");
            let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
            (format!("{folder}/{}", path.file_name().unwrap_or_default().to_string_lossy()), product)
        });
        read.collect()
    }

    #[test]
    fn cases_have_the_problems_that_are_expected() {
        assert!(CASES.printed.len() > 20, "{}", CASES.printed.len());
        for (folder, printed) in &CASES.printed {
            assert!(!printed.is_empty(), "{} has no problem", folder.display());
            expect_file![folder.join("problems.txt")].assert_eq(printed);
        }
    }

    #[test]
    fn shipped_schemas_are_sound() {
        // With another text each is checked as one of the user's is.
        let changed: Vec<(&str, String)> =
            shipped::FILES.iter().map(|(name, text)| (*name, format!("{text}\n"))).collect();
        let files: Vec<(&str, &str)> = changed.iter().map(|(name, text)| (*name, text.as_str())).collect();
        for prefix in ["cms", "wp"] {
            let sets = [format!("site.prefix={prefix}")];
            let loaded = attempt(Origin::Texts { label: "", files: &files }, &sets, []).outcome.expect(prefix);
            assert!(!loaded.is_shipped_schema("schemas/post.json"));
            let linked = link(&loaded, &crate::engine::vocabulary(), "http://site.example");
            let problems = linked.and_then(|_| crate::xmlrpc::Rpc::new(&loaded)).map(drop);
            assert_eq!(problems.map_err(|problems| printed(&problems)), Ok(()), "{prefix}");
            let loaded = attempt(shipped::origin(), &sets, []).outcome.expect(prefix);
            assert!(loaded.is_shipped_schema("schemas/tag.json"));
        }
    }

    #[test]
    fn every_place_that_reports_something_has_a_case() {
        let call = r"self\s*\.(problem|problem_with_secret|in_schema|report|known|known_in|resource_named|resource_named_in|column|code|code_in|codes|method|compile_schema)\(";
        let call = Regex::new(call).expect("a pattern");
        let (mut count, mut without) = (0, Vec::new());
        for (file, text) in sources("crates/core/src/registry/link") {
            if file.ends_with("/report.rs") {
                continue;
            }
            for name in call.captures_iter(&text).filter_map(|found| found.get(1)) {
                let before = &text[..name.start()];
                let line = before.matches('\n').count() + 1;
                let column = name.start() - before.rfind('\n').map_or(0, |end| end + 1) + 1;
                count += 1;
                if !CASES.sites.contains(&(file.clone(), line, column)) {
                    without.push(format!("{file}:{line}:{column}"));
                }
            }
        }
        assert!(count > 60, "only {count} places were found");
        assert!(without.is_empty(), "no case in fixtures/link reaches {without:#?}");
    }

    /// Texts that are no messages, and messages of faults that no file of this size can have; unit tests cover those.
    const WITHOUT_A_CASE: &[&str] = &[
        "did you mean `{n}`?",
        "The {capture} in the path.",
        "How the value is compared.",
        "public, max-age={}",
        ", {word}={}",
        // The grammar uses no keyword that has no sentence of its own, and requires no key at the top.
        "does not satisfy `{}`",
        "the key `{key}` is absent",
        "these are more than {LONGEST_CHAIN} includes within includes",
        "further problems are left out",
        "the references of this file copy more than {MOST} values",
    ];

    #[test]
    fn every_message_has_a_case() {
        let boot = fs::read_dir(Path::new(PROJECT).join("fixtures/boot")).expect("the fixtures");
        let boot =
            boot.flatten().map(|entry| fs::read_to_string(entry.path().join("expected.txt")).unwrap_or_default());
        let printed: String = boot.chain(CASES.printed.iter().map(|(_, printed)| printed.clone())).collect();
        let literal = Regex::new(r#""((?:[^"\\\n]|\\.)*)""#).expect("a pattern");
        let place = Regex::new(r"\\\{[^{}]*\\\}").expect("a pattern");
        let files =
            ["check", "inherit", "layers", "load", "merge", "prefix", "references", "schema_files", "taxonomies"]
                .map(|name| format!("crates/config/src/{name}.rs"));
        let config = sources("crates/config/src").into_iter().filter(|(file, _)| files.contains(file));
        let methods = sources("crates/core/src/xmlrpc").into_iter().filter(|(file, _)| file.ends_with("/compile.rs"));
        let mut without = Vec::new();
        for (file, text) in sources("crates/core/src/registry/link").into_iter().chain(config).chain(methods) {
            let code: String =
                text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            for found in literal.captures_iter(&code) {
                let text = &found[1];
                if !text.trim().contains(' ') || WITHOUT_A_CASE.contains(&text) {
                    continue;
                }
                let text =
                    text.replace(r#"\""#, "\"").replace(r"\\", r"\").replace("{{", "\u{1}").replace("}}", "\u{2}");
                let pattern =
                    place.replace_all(&regex::escape(&text), ".*").replace('\u{1}', r"\{").replace('\u{2}', r"\}");
                if !Regex::new(&pattern).expect("a pattern").is_match(&printed) {
                    without.push(format!("{file}: {text}"));
                }
            }
        }
        assert!(without.is_empty(), "no case in fixtures/link or fixtures/boot has {without:#?}");
    }

    #[test]
    fn the_shipped_declarations_have_no_problems() {
        for prefix in ["cms", "wp"] {
            let loaded = cms_config::load::load(None, &[format!("site.prefix={prefix}")], []).expect("loads");
            let linked = link(&loaded, &crate::engine::vocabulary(), "http://site.example");
            assert_eq!(printed(&linked.err().unwrap_or_default()), "", "{prefix}");
        }
    }
}
