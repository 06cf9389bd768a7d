//! From files, environment and command line to one declaration, or to every problem at once.
//!
//! Order: the main file with its includes, the overlays whose conditions hold, the environment, the command line
//! (`layers`); then what resources inherit from others (`inherit`); then `{prefix}`; then what taxonomies bring
//! (`taxonomies`); then the schema files with their references and overlays (`schema_files`); then the check against the
//! grammar (`check`). It does not know what the declaration means: the registry does.

use super::check;
use super::grammar::Grammar;
use super::inherit;
use super::layers::{self, MergeResult};
use super::prefix;
use super::read::{MOST_PROBLEMS, Reader};
use super::schema_files::{EntryFiles, entry_files, schema_files};
use super::settings::{COMMAND_LINE, ENVIRONMENT, settings};
use super::shipped;
use super::source::Origin;
use super::taxonomies;
use super::tree::{Node, Sources, pointer_segments};
use crate::Problem;
use cms_declaration::Declaration;
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A valid declaration and the place of everything in it.
#[derive(Clone, Debug)]
pub struct LoadedDeclaration {
    /// As merged. `schema` of a resource is a key of [`LoadedDeclaration::schemas`].
    pub declaration: Arc<Declaration>,
    /// Schema files by path relative to the main file, overlays merged, `{prefix}` filled in.
    pub schemas: IndexMap<String, Value>,
    /// Entries of the files that resources name as `entries_file`, which then is a key of these.
    pub entries: EntryFiles,
    /// The grammar that the files were checked against.
    pub grammar: Arc<Grammar>,
    pub(super) sources: Arc<Sources>,
    pub(super) root: Arc<Node>,
    pub(super) schema_trees: Arc<IndexMap<String, Node>>,
    own: Vec<Vec<String>>,
    shipped_schemas: HashSet<String>,
}

/// Loads the declaration that starts in a file, or the shipped one.
///
/// `sets` are the arguments of `--set`; `env` is the whole environment, of which `CMS_SECTION__KEY` variables count
/// (see [`environment`]). The problems are sorted by place.
pub fn load(
    path: Option<&Path>,
    sets: &[String],
    env: impl IntoIterator<Item = (String, String)>,
) -> Result<LoadedDeclaration, Vec<Problem>> {
    attempt(path.map_or(shipped::origin(), Origin::File), sets, env).outcome
}

/// A load that may have failed, and the files to watch in both cases: the fix may be in a file that only the
/// failed declaration names.
pub struct LoadAttempt {
    pub outcome: Result<LoadedDeclaration, Vec<Problem>>,
    /// Files on disk whose change requires another load, including absent ones that were tried.
    pub files: Vec<PathBuf>,
}

/// [`load`] from anywhere, for reloads.
pub fn attempt(origin: Origin<'_>, sets: &[String], env: impl IntoIterator<Item = (String, String)>) -> LoadAttempt {
    // Held until the last file is read.
    let (grammar, _of_keys) = (Grammar::declaration(), Grammar::file_keys());
    let mut reader = Reader::new(origin);
    let settings = settings(&mut reader, sets, env);
    let layers = layers::layers(&mut reader, &settings);
    let mut merged = layers::merge(&mut reader, layers, &settings);
    inherit::inherit(&mut reader, &mut merged);
    let prefix = prefix::prefix_of(&merged.root);
    prefix::fill(&mut reader, &mut merged.root, &prefix);
    let brought = taxonomies::expand(&mut merged.root);
    layers::remove_inherited(&mut reader, &mut merged);
    let mut schema_trees = schema_files(&mut reader, &mut merged, brought);
    for tree in schema_trees.values_mut() {
        prefix::fill(&mut reader, tree, &prefix);
    }
    let entries = entry_files(&mut reader, &mut merged, &prefix);
    let files = std::mem::take(&mut reader.files);
    let outcome = finish(reader, grammar, merged, schema_trees, entries);
    LoadAttempt { outcome, files }
}

/// The environment of the process, for [`load`]; variables that are not text are left out.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

impl LoadedDeclaration {
    /// The value at a path as the files, the environment or the command line give it; `None` when none of them does.
    pub fn value_at(&self, path: &[&str]) -> Option<Value> {
        self.root.at(path).map(Node::to_value)
    }

    /// A problem at a value of the declaration, e.g. `["resources", "posts", "links", "2", "to"]`.
    pub fn problem(&self, path: &[&str], message: impl Into<String>, hint: Option<String>) -> Problem {
        self.sources.problem(self.root.locate(path), message, hint)
    }

    /// The texts that it was read from: files, environment and command line.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.sources.texts()
    }

    /// Whether a shipped file gives the value at a path, and not one of the user's.
    pub fn is_shipped(&self, path: &[&str]) -> bool {
        shipped::is_shipped(self.sources.name(self.root.locate(path).source))
    }

    /// Whether the value at a path stands in a file of which the program holds the same text.
    pub fn is_verbatim(&self, path: &[&str]) -> bool {
        self.sources.is_verbatim(self.root.locate(path).source)
    }

    /// Whether a schema file is as the program holds it, and what it refers to, too.
    pub fn is_shipped_schema(&self, file: &str) -> bool {
        self.shipped_schemas.contains(file)
    }

    /// Whether all at and below a path of one or two keys is as the program has it.
    pub fn is_untouched(&self, path: &[&str]) -> bool {
        is_untouched(&self.own, path)
    }

    /// The same of a resource, its schema file and what it extends.
    pub fn is_untouched_resource(&self, name: &str) -> bool {
        let resource = self.declaration.resources.get(name);
        resource.is_some_and(|resource| self.is_shipped_schema(&resource.schema))
            && inherit::line(&self.root, name).iter().all(|(table, name)| self.is_untouched(&[table, name]))
    }

    /// Whether the environment or the command line gives the value at a path, and no file.
    pub fn is_given_at_start(&self, path: &[&str]) -> bool {
        [COMMAND_LINE, ENVIRONMENT].contains(&self.sources.name(self.root.locate(path).source))
    }

    /// Whether a resource has the value at a path from the one that it extends.
    pub fn is_inherited(&self, path: &[&str]) -> bool {
        inherit::is_inherited(&self.root, path)
    }

    /// A problem inside a schema file: its key in [`LoadedDeclaration::schemas`] and a JSON pointer.
    pub fn schema_problem(
        &self,
        schema: &str,
        pointer: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Problem {
        match self.schema_trees.get(schema) {
            Some(tree) => self.sources.problem(tree.locate(&pointer_segments(pointer)), message, hint),
            None => Problem { file: schema.to_owned(), place: None, excerpt: None, message: message.into(), hint },
        }
    }
}

fn is_untouched(own: &[Vec<String>], path: &[&str]) -> bool {
    !own.iter().any(|own| own.iter().zip(path).all(|(own, key)| own == key))
}

fn finish(
    mut reader: Reader<'_>,
    grammar: Arc<Grammar>,
    MergeResult { root, own, .. }: MergeResult,
    schema_trees: IndexMap<String, Node>,
    entries: EntryFiles,
) -> Result<LoadedDeclaration, Vec<Problem>> {
    let read = || Declaration::read(root.to_value());
    // The shipped declarations have been checked before; where anything is wrong, all problems are reported.
    let sound = reader.problems.is_empty() && check::check_own(&grammar, &root, &reader.sources).is_empty();
    let declaration = sound.then(read).and_then(Result::ok);
    if declaration.is_none() {
        reader.problems.extend(check::check(&grammar, (&root, &root.to_value()), &reader.sources, reader.partial));
    }
    reader.problems = Problem::sorted(reader.problems);
    if reader.problems.len() >= MOST_PROBLEMS {
        reader.problems.truncate(MOST_PROBLEMS);
        reader.report_file(None, &reader.origin.main(), "further problems are left out".to_owned(), None);
    }
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let declaration = declaration.map_or_else(read, Ok).map_err(|error| {
        // The check covers everything that the types require; should it ever not, the user still gets the reason.
        let file = reader.origin.name(&reader.origin.main());
        vec![Problem { file, place: None, excerpt: None, message: error.to_string(), hint: None }]
    })?;
    let schemas = schema_trees.iter().map(|(key, tree)| (key.clone(), tree.to_value())).collect();
    let shipped = schema_trees
        .iter()
        .filter(|(_, tree)| is_untouched(&own, &["schemas"]) && reader.sources.is_all_verbatim(tree));
    let shipped_schemas = shipped.map(|(key, _)| key.clone()).collect();
    let (sources, root, schema_trees) = (Arc::new(reader.sources), Arc::new(root), Arc::new(schema_trees));
    let declaration = Arc::new(declaration);
    Ok(LoadedDeclaration { declaration, schemas, entries, grammar, sources, root, schema_trees, own, shipped_schemas })
}

#[cfg(test)]
mod tests {
    use super::super::grammar;
    use super::*;
    use cms_declaration::Workers;
    use expect_test::expect_file;
    use proptest::prelude::*;
    use serde_json::json;
    use std::fs;

    fn load_texts(
        files: &[(&str, &str)],
        sets: &[&str],
        env: &[(&str, &str)],
    ) -> Result<LoadedDeclaration, Vec<Problem>> {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let env = env.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        attempt(Origin::Texts { label: "", files }, &sets, env).outcome
    }

    fn printed(problems: &[Problem]) -> String {
        problems.iter().map(|problem| format!("{problem}\n\n")).collect()
    }

    /// Every directory of `fixtures/boot` is a declaration that does not boot, with the problems that are printed.
    /// `args.txt` holds `--set` arguments and environment variables.
    #[test]
    fn boot_errors() {
        let mut count = 0;
        for entry in fs::read_dir("../../fixtures/boot").expect("the fixtures are there") {
            let directory = entry.expect("is readable").path();
            let args = fs::read_to_string(directory.join("args.txt")).unwrap_or_default();
            let sets: Vec<String> =
                args.lines().filter_map(|line| line.strip_prefix("--set ")).map(str::to_owned).collect();
            let env = args.lines().filter(|line| !line.starts_with("--set ")).filter_map(|line| line.split_once('='));
            let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let problems =
                load(Some(&directory.join("routes.toml")), &sets, env).expect_err(&directory.to_string_lossy());
            let expected = fs::canonicalize(&directory).expect("exists").join("expected.txt");
            expect_file![expected].assert_eq(&printed(&problems).replace("../../fixtures", "fixtures"));
            count += 1;
        }
        assert!(count >= 15, "{count}");
    }

    const BASE: &str = r#"
        overlays = [
            { file = "schemas/dialects/wp.toml", when = { "site.prefix" = "wp" } },
            { file = "schemas/dialects/cms.toml", when = { "site.prefix" = "cms" } },
            { file = "site.toml", optional = true },
        ]
        [roles.editor]
        name = "Editor"
        capabilities = ["read", "edit_posts"]
        [namespaces.core]
        path = "{prefix}/v2"
        [capabilities."{prefix}_block"]
        edit = "edit_{PREFIX}_blocks"
        [resources.books]
        family = "plain"
        schema = "schemas/book.json"
        namespace = "core"
        sort = { id = "id" }
        [[resources.books.links]]
        rel = "self"
    "#;
    const BOOK: &str = r#"{"title": "{prefix} book", "required": ["id"], "properties": {"id": {"type": "integer"}, "{prefix}_x": {}}}"#;

    fn base_and<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        [("routes.toml", BASE), ("schemas/book.json", BOOK)].iter().chain(more).copied().collect()
    }

    /// The value at a path of a declaration, as text, after everything is loaded.
    fn said(loaded: &LoadedDeclaration, path: &str) -> String {
        let path = super::super::parse_toml::parse_key(path).expect(path);
        match path.split_first() {
            Some((first, rest)) if first == "schemas" => {
                let tree = loaded.schema_trees.values().next().expect("one schema");
                tree.at(rest).map_or("-".to_owned(), |node| node.to_value().to_string())
            }
            _ => loaded.root.at(&path).map_or("-".to_owned(), |node| node.to_value().to_string()),
        }
    }

    #[test]
    fn overlays_environment_and_command_line_apply_in_order() {
        let check = |more: &[(&str, &str)], sets: &[&str], env: &[(&str, &str)], path: &str, expected: &str| {
            let loaded = load_texts(&base_and(more), sets, env).map_err(|problems| printed(&problems));
            assert_eq!(said(&loaded.expect(path), path), expected, "{path} with {more:?} {sets:?} {env:?}");
        };
        let wp = ("schemas/dialects/wp.toml", "[roles.editor]\nname = \"WP\"\n");
        let cms = ("schemas/dialects/cms.toml", "[roles.editor]\nname = \"CMS\"\n");
        let both = [wp, cms];
        // the default of the prefix counts in conditions; so do the command line, the environment and later overlays
        check(&both, &[], &[], "roles.editor.name", "\"CMS\"");
        check(&both, &["site.prefix=wp"], &[], "roles.editor.name", "\"WP\"");
        check(&both, &[], &[("CMS_SITE__PREFIX", "wp")], "roles.editor.name", "\"WP\"");
        check(&[wp, ("site.toml", "site.prefix = \"wp\"")], &[], &[], "roles.editor.name", "\"WP\"");
        check(&both, &["site.prefix=cms"], &[("CMS_SITE__PREFIX", "wp")], "roles.editor.name", "\"CMS\"");
        // later wins
        let site = ("site.toml", "roles.editor.name = \"Mine\"");
        check(&[cms, site], &[], &[], "roles.editor.name", "\"Mine\"");
        check(&[cms, site], &[], &[("CMS_ROLES__EDITOR__NAME", "Env")], "roles.editor.name", "\"Env\"");
        check(
            &[cms, site],
            &["roles.editor.name=Set"],
            &[("CMS_ROLES__EDITOR__NAME", "Env")],
            "roles.editor.name",
            "\"Set\"",
        );
        // removals come before the overlay's own content
        let site = |text| [cms, ("site.toml", text)];
        check(
            &site("remove = [\"roles.editor.capabilities.read\"]"),
            &[],
            &[],
            "roles.editor.capabilities",
            "[\"edit_posts\"]",
        );
        check(
            &site("remove = [\"roles.editor\"]\nroles.editor.name = \"New\""),
            &[],
            &[],
            "roles.editor",
            "{\"name\":\"New\"}",
        );
        check(&site("remove = [\"resources.books.links.self\"]"), &[], &[], "resources.books.links", "[]");
        check(&site("[roles]\neditor = false"), &[], &[], "roles", "{}");
        check(
            &site("[roles.editor]\n\"+capabilities\" = [\"x\"]"),
            &[],
            &[],
            "roles.editor.capabilities",
            "[\"read\",\"edit_posts\",\"x\"]",
        );
        // schema files
        check(
            &site("[schemas.book]\ntitle = \"B\"\n\"+required\" = [\"x\"]\nproperties.x.type = \"string\""),
            &[],
            &[],
            "schemas",
            r#"{"title":"B","required":["id","x"],"properties":{"id":{"type":"integer"},"cms_x":{},"x":{"type":"string"}}}"#,
        );
        check(&site("remove = [\"schemas.book.properties.id\"]"), &[], &[], "schemas.properties", r#"{"cms_x":{}}"#);
        check(
            &site("[schemas.book.properties]\n\"{prefix}_x\" = false"),
            &[],
            &[],
            "schemas.properties",
            r#"{"id":{"type":"integer"}}"#,
        );
        check(&[cms], &["schemas.book.title=Set"], &[], "schemas.title", "\"Set\"");
        check(&site("[resources]\nbooks = false\n[schemas.book]\ntitle = \"moot\""), &[], &[], "resources", "{}");
        // the prefix, everywhere
        check(&[wp], &["site.prefix=wp"], &[], "namespaces.core.path", "\"wp/v2\"");
        check(&[wp], &["site.prefix=wp"], &[], "capabilities.wp_block.edit", "\"edit_WP_blocks\"");
        check(&[wp], &["site.prefix=wp"], &[], "schemas.title", "\"wp book\"");
        check(&[wp], &["site.prefix=wp"], &[], "schemas.properties.wp_x", "{}");
    }

    #[test]
    fn resources_inherit_what_they_extend() {
        let shelf = r#"
            [base_resources.shelf]
            family = "plain"
            schema = "../book.json"
            namespace = "core"
            kind = "shelved"
            supports = ["title"]
            sort = { id = "id", title = "title" }
            links = [{ rel = "self", href = "{self}" }, { rel = "up", href = "/{prefix}" }]
            listing = { name = "Shelved" }
            [resources.novels]
            extends = "shelf"
            sort = { year = "year" }
            "+links" = [{ rel = "next", href = "/next" }]
            [resources.tales]
            extends = "novels"
            "+supports" = ["editor"]
        "#;
        let check = |site: &str, sets: &[&str], path: &str, expected: &str| {
            let files = base_and(&[("schemas/dialects/cms.toml", shelf), ("site.toml", site)]);
            let loaded = load_texts(&files, sets, &[]).map_err(|problems| printed(&problems));
            assert_eq!(said(&loaded.expect(path), path), expected, "{path} with {site} {sets:?}");
        };
        let rels = |names: &[&str]| {
            let links = names.iter().map(|name| match *name {
                "self" => r#"{"rel":"self","href":"{self}"}"#.to_owned(),
                "up" => r#"{"rel":"up","href":"/cms"}"#.to_owned(),
                name => format!(r#"{{"rel":"{name}","href":"/{name}"}}"#),
            });
            format!("[{}]", links.collect::<Vec<_>>().join(","))
        };
        // tables are merged, `+` appends, other values stand for themselves
        check("", &[], "resources.novels.family", r#""plain""#);
        check("", &[], "resources.novels.sort", r#"{"id":"id","title":"title","year":"year"}"#);
        check("", &[], "resources.novels.links", &rels(&["self", "up", "next"]));
        check("", &[], "resources.tales.supports", r#"["title","editor"]"#);
        check("resources.tales.supports = []", &[], "resources.tales.supports", "[]");
        // the identity is inherited from base resources only
        check("", &[], "resources.novels.kind", r#""shelved""#);
        check("", &[], "resources.tales.kind", "-");
        check("", &[], "resources.tales.listing", "-");
        check("", &[], "resources.tales.sort.year", r#""year""#);
        // later files apply before anything is inherited
        check("base_resources.shelf.sort.id = \"key\"", &[], "resources.tales.sort.id", r#""key""#);
        check("base_resources.shelf.supports = [\"x\"]", &[], "resources.tales.supports", r#"["x","editor"]"#);
        check("", &["base_resources.shelf.namespace=other"], "resources.tales.namespace", r#""other""#);
        check(
            "[[resources.novels.\"+links\"]]\nrel = \"last\"\nhref = \"/last\"",
            &[],
            "resources.tales.links",
            &rels(&["self", "up", "next", "last"]),
        );
        check("resources.novels.links = []", &[], "resources.tales.links", "[]");
        check(
            "resources.novels.extends = \"books\"",
            &[],
            "resources.novels.links",
            r#"[{"rel":"self"},{"rel":"next","href":"/next"}]"#,
        );
        // removals apply to what is inherited, before the own keys are merged over it
        check("remove = [\"resources.novels.links.up\"]", &[], "resources.tales.links", &rels(&["self", "next"]));
        check(
            "remove = [\"resources.novels.links.up\", \"resources.novels.sort.title\"]",
            &[],
            "resources.novels.sort",
            r#"{"id":"id","year":"year"}"#,
        );
        check(
            "remove = [\"resources.novels.links.up\"]\nresources.novels.\"+links\" = [{ rel = \"up\", href = \"/up\" }]",
            &[],
            "resources.novels.links",
            r#"[{"rel":"self","href":"{self}"},{"rel":"next","href":"/next"},{"rel":"up","href":"/up"}]"#,
        );
        // places are those of the file that says something
        let loaded = load_texts(&base_and(&[("schemas/dialects/cms.toml", shelf)]), &[], &[]).expect("sound");
        let line = |path: &[&str]| loaded.problem(path, "", None).place.map_or(0, |(line, _)| line);
        assert_eq!((line(&["resources", "tales", "family"]), line(&["resources", "tales", "sort", "year"])), (3, 13));
        assert_eq!((line(&["resources", "tales"]), line(&["resources", "tales", "links", "2"])), (15, 14));
    }

    #[test]
    fn taxonomies_add_a_property_arguments_and_links() {
        let cms = r#"
            [per_taxonomy]
            property = { type = "array", x-relation = { to = "{taxonomy}" } }
            links = [{ rel = "{prefix}:term", to = "{taxonomy}", attrs = { taxonomy = "{taxonomy.api_name}" }, when = { can = "{taxonomy.create}" } }]
            [per_taxonomy.endpoints.list]
            "{taxonomy.base}" = { type = "array", below = { x-hierarchical = true } }
            "{taxonomy.base}_exclude" = { description = "{taxonomy.kind}, {taxonomy.assign}" }
            [per_taxonomy.link_relations."{prefix}:{taxonomy.base}"]
            title = "Terms"
            [capabilities.topic]
            assign = "write"
            manage = "manage"
            [resources.topics]
            family = "term"
            schema = "../book.json"
            namespace = "core"
            base = "subjects"
            kind = "topic"
            api_name = "{prefix}_topic"
            capabilities = "topic"
        "#;
        let check = |site: &str, path: &str, expected: &str| {
            let site = format!("resources.books.taxonomies = [\"topics\"]\n{site}");
            let files = base_and(&[("schemas/dialects/cms.toml", cms), ("site.toml", &site)]);
            let loaded = load_texts(&files, &[], &[]).map_err(|problems| printed(&problems)).expect(path);
            let found = match path.strip_prefix("schema ") {
                Some(resource) => {
                    loaded.schemas[&loaded.declaration.resources[resource].schema]["properties"]["subjects"].to_string()
                }
                None => said(&loaded, path),
            };
            assert_eq!(found, expected, "{path} with {site}");
        };
        let link = |can: &str| {
            format!(r#"{{"rel":"cms:term","to":"topics","attrs":{{"taxonomy":"cms_topic"}},"when":{{"can":"{can}"}}}}"#)
        };
        check("", "schema books", r#"{"type":"array","x-relation":{"to":"topics"}}"#);
        check("", "schema topics", "null");
        check("", "resources.books.endpoints.list.subjects", r#"{"type":"array"}"#);
        check("", "resources.books.endpoints.list.subjects_exclude", r#"{"description":"topic, write"}"#);
        check("", "resources.books.links", &format!(r#"[{{"rel":"self"}},{}]"#, link("write")));
        check("", "link_relations", r#"{"cms:subjects":{"title":"Terms"}}"#);
        check(
            "resources.topics.hierarchical = true",
            "resources.books.endpoints.list.subjects",
            r#"{"type":"array","below":{}}"#,
        );
        check(
            "resources.topics.hierarchical = true",
            "resources.books.links",
            &format!(r#"[{{"rel":"self"}},{}]"#, link("manage")),
        );
        // what the resource declares itself stays
        check("schemas.book.properties.subjects.type = \"string\"", "schema books", r#"{"type":"string"}"#);
        check("schemas.book.properties.subjects = false", "schema books", "null");
        check("resources.books.endpoints.list.subjects = false", "resources.books.endpoints.list.subjects", "false");
        check(
            "resources.books.links = [{ rel = \"cms:term\", attrs = { taxonomy = \"cms_topic\" } }]",
            "resources.books.links",
            r#"[{"rel":"cms:term","attrs":{"taxonomy":"cms_topic"}}]"#,
        );
        check(
            "remove = [\"resources.books.links.cms:term\"]".replace("cms:term", "\\\"cms:term\\\"").as_str(),
            "resources.books.links",
            r#"[{"rel":"self"}]"#,
        );
        // a resource without links of its own keeps the usual ones
        check("remove = [\"resources.books.links.self\"]", "resources.books.links", &format!("[{}]", link("write")));
    }

    #[test]
    fn references_stand_for_copies() {
        let check = |book: &str, more: &[(&str, &str)], path: &str, expected: &str| {
            let files: Vec<(&str, &str)> = [
                ("routes.toml", BASE),
                ("schemas/book.json", book),
                ("schemas/dialects/cms.toml", ""),
                ("schemas/parts/title.json", PARTS),
            ]
            .iter()
            .chain(more)
            .copied()
            .collect();
            let loaded = load_texts(&files, &[], &[]).map_err(|problems| printed(&problems)).expect(book);
            let found = loaded.schemas["schemas/book.json"].pointer(path).map_or("-".to_owned(), Value::to_string);
            assert_eq!(found, expected, "{path} of {book}");
        };
        const PARTS: &str = r##"{"type": "object", "properties": {"title": {"type": "string", "enum": ["{prefix}"]}, "both": {"$ref": "#/properties/title", "x": 1}, "inner": {"properties": {"raw": {}, "shown": {}}}}}"##;
        let one = |more: &str| {
            format!(r#"{{"properties": {{"t": {{"$ref": "parts/title.json#/properties/title"{more}}}}}}}"#)
        };
        check(&one(""), &[], "/properties/t", r#"{"type":"string","enum":["cms"]}"#);
        check(&one(r#", "type": "array", "y": 2"#), &[], "/properties/t", r#"{"type":"array","enum":["cms"],"y":2}"#);
        check(&one(r#", "+enum": ["b"]"#), &[], "/properties/t/enum", r#"["cms","b"]"#);
        // a whole file, without some parts, with others changed
        let whole = r#"{"$ref": "parts/title.json", "title": "B", "properties": {"title": false, "inner": {"properties": {"raw": false}}}}"#;
        check(
            whole,
            &[],
            "",
            r#"{"type":"object","properties":{"both":{"type":"string","enum":["cms"],"x":1},"inner":{"properties":{"shown":{}}}},"title":"B"}"#,
        );
        // a change of the target reaches the copy, a change of the copy stays there
        let site = |text| [("site.toml", text)];
        check(&one(""), &site("schemas.title.properties.title.type = \"number\""), "/properties/t/type", r#""number""#);
        check(&one(""), &site("schemas.book.properties.t.type = \"number\""), "/properties/t/type", r#""number""#);
        check(
            &one(""),
            &site("remove = [\"schemas.book.properties.t.enum\"]"),
            "/properties/t",
            r#"{"type":"string"}"#,
        );
        // in a chain of files, and in lists
        let chain = [("schemas/a.json", r#"{"x": [{"$ref": "parts/title.json#/properties/inner"}]}"#)];
        check(r#"{"$ref": "a.json"}"#, &chain, "/x/0/properties/raw", "{}");
    }

    /// References that multiply each other are stopped.
    #[test]
    fn references_are_bounded() {
        let level =
            |n: usize| format!(r##""l{n}": {{"a": {{"$ref": "#/l{}"}}, "b": {{"$ref": "#/l{}"}}}}"##, n + 1, n + 1);
        for (levels, expected) in [(40, "or over more than 16 others"), (15, "copy more than 100000 values")] {
            let all: Vec<String> =
                (0..levels).map(level).chain([format!(r#""l{levels}": {{"c": [1, 2, 3, 4]}}"#)]).collect();
            let text = format!("{{{}}}", all.join(", "));
            let found = load_texts(&[("routes.toml", BASE), ("schemas/book.json", &text)], &[], &[]).map(|_| ());
            assert!(printed(&found.expect_err("too large")).contains(expected), "{levels}");
        }
    }

    #[test]
    fn the_declaration_and_its_schemas_are_read() {
        let cms = ("schemas/dialects/cms.toml", "include = [\"more/shelves.toml\"]");
        let shelves = (
            "schemas/dialects/more/shelves.toml",
            "[resources.shelves]\nfamily = \"plain\"\nnamespace = \"core\"\nschema = \"shelf.json\"\n",
        );
        let shelf = ("schemas/dialects/more/shelf.json", "{}");
        let loaded = load_texts(&base_and(&[cms, shelves, shelf]), &["server.workers=3"], &[]).expect("sound");
        assert_eq!(loaded.declaration.server.workers, Workers::Number(3));
        assert_eq!(loaded.declaration.resources["shelves"].schema, "schemas/dialects/more/shelf.json");
        assert_eq!(loaded.schemas["schemas/book.json"]["title"], json!("cms book"));
        assert_eq!(loaded.schemas["schemas/dialects/more/shelf.json"], json!({}));
        assert!(loaded.declaration.schemas.is_empty());
    }

    /// Entries of a file are read in the same way whether or not it is a shipped one, which is read more quickly.
    #[test]
    fn entries_are_in_files_of_their_own() {
        let entries = (
            "schemas/dialects/more/shelf-entries.json",
            r#"{"about": "{prefix}", "entries": [{"name": "{prefix}/a"}, {"{PREFIX}": 1}]}"#,
        );
        let cms = ("schemas/dialects/cms.toml", "resources.books.entries_file = \"more/shelf-entries.json\"");
        let loaded = load_texts(&base_and(&[cms, entries]), &[], &[]).expect("sound");
        assert_eq!(loaded.entries[entries.0].entries(), [json!({"name": "cms/a"}), json!({"CMS": 1})]);
        assert_eq!(loaded.declaration.resources["books"].entries_file.as_deref(), Some(entries.0));

        let shipped = load(None, &["site.prefix=wp".to_owned()], []).expect("sound");
        assert!(shipped.entries.len() >= 5, "{}", shipped.entries.len());
        for (key, entries) in &shipped.entries {
            let mut sources = Sources::default();
            let (_, text) = shipped::FILES.iter().find(|(name, _)| name == key).expect("is shipped");
            let source = sources.add(key, *text);
            let tree = super::super::parse_json::parse(&sources, source, &mut Vec::new()).expect("is JSON");
            assert_eq!(tree.child("entries").map(Node::to_value), Some(json!(entries.entries())), "{key}");
        }
    }

    #[test]
    fn what_the_user_touches_is_known() {
        let check = |site: &str, sets: &[&str], path: &[&str], untouched: bool| {
            let files: Vec<(&str, &str)> = shipped::FILES.iter().copied().chain([("site.toml", site)]).collect();
            let loaded = load_texts(&files, sets, &[]).map_err(|problems| printed(&problems)).expect(site);
            assert_eq!(loaded.is_untouched(path), untouched, "{path:?} with {site:?} {sets:?}");
            loaded
        };
        check("", &["site.prefix=wp"], &["resources"], true);
        check("", &["site.prefix=wp"], &["site"], false);
        check("", &["xmlrpc.enabled=false"], &["xmlrpc"], false);
        let own = "resources.posts.base = \"articles\"";
        for (path, untouched) in
            [(&["resources"][..], false), (&["resources", "posts"][..], false), (&["resources", "pages"][..], true)]
        {
            check(own, &[], path, untouched);
        }
        check("remove = [\"xmlrpc.methods.\\\"demo.sayHello\\\"\"]", &[], &["xmlrpc"], false);
        check("[roles]\nauthor = false", &[], &["roles"], false);
        // A resource has its schema and the one that it extends as parts.
        let posts = |site| check(site, &[], &["args"], true).is_untouched_resource("posts");
        assert!(posts("resources.pages.base = \"sheets\""));
        assert!(!posts("base_resources.content.editors_only = true"));
        assert!(!posts("schemas.page.title = \"Sheet\""));
    }

    #[test]
    fn later_checks_find_places() {
        let cms =
            ("schemas/dialects/cms.toml", "[resources.books]\nbase = \"livres\"\n[schemas.book]\ntitle = \"B\"\n");
        let loaded = load_texts(&base_and(&[cms]), &["site.url=x"], &[]).expect("sound");
        let check = |path: &[&str], file: &str, line: usize, column: usize| {
            let problem = loaded.problem(path, "message", None);
            assert_eq!((problem.file.as_str(), problem.place), (file, Some((line, column))), "{path:?}");
        };
        check(&["resources", "books", "family"], "routes.toml", 15, 18);
        check(&["resources", "books"], "routes.toml", 14, 20);
        check(&["resources", "books", "links", "0", "rel"], "routes.toml", 20, 15);
        check(&["resources", "books", "links", "0", "to", "deeper"], "routes.toml", 19, 9);
        check(&["resources", "books", "sort", "id"], "routes.toml", 18, 23);
        check(&["resources", "books", "base"], "schemas/dialects/cms.toml", 2, 8);
        check(&["capabilities", "cms_block", "edit"], "routes.toml", 13, 16);
        check(&["site", "url"], "command line", 1, 16);

        let in_schema = |pointer: &str, file: &str, line: usize, column: usize| {
            let problem = loaded.schema_problem("schemas/book.json", pointer, "message", None);
            assert_eq!((problem.file.as_str(), problem.place), (file, Some((line, column))), "{pointer}");
        };
        in_schema("", "schemas/book.json", 1, 1);
        in_schema("/properties/id/type", "schemas/book.json", 1, 78);
        in_schema("/properties/id/enum/0", "schemas/book.json", 1, 63);
        in_schema("/properties/cms_x", "schemas/book.json", 1, 90);
        in_schema("/required/0", "schemas/book.json", 1, 41);
        in_schema("/title", "schemas/dialects/cms.toml", 4, 9);
        assert_eq!(loaded.schema_problem("none.json", "", "message", None).to_string(), "none.json: message");
    }

    #[test]
    fn the_shipped_declaration_loads() {
        for prefix in ["cms", "wp"] {
            let loaded = load(None, &[format!("site.prefix={prefix}")], []).map_err(|problems| printed(&problems));
            let loaded = loaded.expect(prefix);
            assert_eq!(loaded.declaration.site.prefix, prefix);
            let leftover = |value: &Value| value.to_string().to_lowercase().contains("{prefix}");
            assert!(!loaded.schemas.values().any(leftover) && !leftover(&loaded.root.to_value()));
        }
    }

    /// The schemas that editors get accept what we ship ourselves.
    #[test]
    fn editors_accept_the_shipped_files() {
        let routes = jsonschema::draft7::new(&grammar::routes_document()).expect("compiles");
        for (name, text) in shipped::FILES.iter().filter(|(name, _)| name.ends_with(".toml")) {
            let mut sources = Sources::default();
            let source = sources.add(*name, *text);
            let tree =
                super::super::parse_toml::parse(&sources, source, &mut Vec::new()).expect("shipped files are TOML");
            let errors: Vec<String> =
                routes.iter_errors(&tree.to_value()).map(|e| format!("{} {e}", e.instance_path())).collect();
            assert!(errors.is_empty(), "{name}: {errors:#?}");
        }
    }

    /// Faults of a file itself.
    #[test]
    fn bad_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("routes.toml");
        let check = |expected: &str| {
            let problems = load(Some(&path), &[], []).map(|_| ()).expect_err(expected);
            assert!(printed(&problems).contains(expected), "{expected}: {}", printed(&problems));
            assert!(problems.iter().all(|problem| problem.excerpt.as_ref().is_none_or(|line| line.len() < 2000)));
        };
        let write = |bytes: &[u8]| fs::write(&path, bytes).expect("writes");
        check("does not exist");
        write(b"\xff\xfe[\0s\0i\0t\0e\0]\0");
        check("routes.toml:1:1: from here on this is not UTF-8 text");
        write(b"[site]\n\0");
        check("routes.toml:2:1: this is not TOML");
        write(&[b'#'; (16 << 20) + 1]);
        check("is larger than 16 MB");
        write(&[b'['; 1 << 20]);
        check("nested too deeply");
        write(format!("x = \"{}\"", "y".repeat(1 << 20)).as_bytes());
        check("there is no key `x`");
        write(format!("{}x = 1", "a.".repeat(1 << 20)).as_bytes());
        check("nested too deeply");
        write((0..20).map(|i| format!("[site.{}x]\n", "y".repeat(i))).collect::<String>().as_bytes());
        check("there is no key `yyx` in `site`");
        write((0..100_000).map(|i| format!("x{i} = 1\n")).collect::<String>().as_bytes());
        check("there is no key `x999`");
        check("further problems are left out");
        write(format!("include = [{}]", (0..100_000).map(|i| format!("\"x{i}\",")).collect::<String>()).as_bytes());
        check("further problems are left out");
        write(format!("{}x = 1", "#\n".repeat(8 << 20)).as_bytes());
        check("is larger than 16 MB");
        fs::remove_file(&path).expect("is there");
        fs::create_dir(&path).expect("creates");
        check("is a directory");
        let loop_problems = load(Some(Path::new("/dev/zero")), &[], []).map(|_| ()).expect_err("no file");
        assert!(printed(&loop_problems).contains("is not a regular file"));
        for odd in ["", "/", "..", "x\0y"] {
            load(Some(Path::new(odd)), &[], []).map(|_| ()).expect_err(odd);
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("routes.toml");
        fs::write(&path, "\u{feff}site.prefix = \"wp\"\r\noverlays = [{ file = \"o.toml\", optional = true }]")
            .expect("writes");
        let attempt = attempt(Origin::File(&path), &[], []);
        assert_eq!(attempt.files, [path.clone(), dir.path().join("o.toml")]);
        let loaded = attempt.outcome.map_err(|problems| printed(&problems)).expect("sound");
        assert_eq!(loaded.declaration.site.prefix, "wp");
        assert_eq!(loaded.problem(&["site", "prefix"], "message", None).place.map(|(_, column)| column), Some(15));
    }

    #[test]
    fn an_include_chain_has_an_end() {
        let names: Vec<String> = (0..40).map(|n| format!("{n}.toml")).collect();
        let texts: Vec<String> = (1..=40).map(|n| format!("include = [\"{n}.toml\"]")).collect();
        let files: Vec<(&str, &str)> = names.iter().zip(&texts).map(|(n, t)| (n.as_str(), t.as_str())).collect();
        let problems = load_texts(&files, &[], &[]).map(|_| ()).expect_err("too long");
        assert!(printed(&problems).starts_with("15.toml:1:12: these are more than 16 includes within includes"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), set in "\\PC*", value in "\\PC*") {
            let dir = tempfile::tempdir().expect("a directory");
            let path = dir.path().join("routes.toml");
            fs::write(&path, &bytes).expect("writes");
            let _ = load(Some(&path), std::slice::from_ref(&set), [("CMS_A__B".to_owned(), value.clone())]);
            let schema = String::from_utf8_lossy(&bytes).into_owned();
            let _ = load_texts(&[("r.toml", BASE), ("schemas/book.json", &schema), ("site.toml", &set)], &[], &[]);
        }

        /// Declarations made of the grammar's own words in wrong places.
        #[test]
        fn arbitrary_declarations_never_panic(lines in prop::collection::vec((
            prop::sample::select(vec!["site", "server", "roles", "resources", "include", "overlays", "remove", "schemas",
                "routes", "route_sets", "\"+routes\"", "\"{prefix}\"", "when", "schema", "file", "book", "properties"]),
            prop::sample::select(vec!["prefix", "x", "schema", "0", "\"\"", "overlays", "\"+x\"", "links", "endpoints"]),
            prop::sample::select(vec!["1", "\"routes.toml\"", "[]", "{}", "false", "[{}]", "[\"a.b\"]", "\"{prefix}\"",
                "[{file = \"site.toml\", when = {\"a.b\" = 1}}]", "{a = {b = false}}", "[[1]]", "1.5", "\"schemas/book.json\""]),
            0..4usize,
        ), 0..12)) {
            let text: String = lines.iter().map(|(first, second, value, form)| match form {
                0 => format!("{first} = {value}\n"),
                1 => format!("{first}.{second} = {value}\n"),
                2 => format!("[{first}.{second}]\nschema = {value}\n"),
                _ => format!("[[{first}]]\n{second} = {value}\n"),
            }).collect();
            let _ = load_texts(&[("routes.toml", &text), ("schemas/book.json", BOOK)], &[], &[]);
            let _ = load_texts(&base_and(&[("site.toml", &text), ("schemas/dialects/cms.toml", "")]), &[], &[]);
        }
    }
}
