//! From the declarations to the registry: every name resolved, every schema compiled, every problem collected.
//!
//! Nothing here reads files or a database; [`link`] returns the whole registry or the whole list of problems.

use super::args::{Arg, ArgSet, Filter, FilterOp, Role as ArgRole, Spelling, spell};
use super::resource::*;
use super::tables::{self, DeclaredColumn};
use super::{Behaviour, Endpoint, Registry, Role, Route, Site, Vocabulary, bounds, edit_only, name, without_x_words};
use crate::config::declaration::{self, Declaration, Family, SchemaDoc};
use crate::config::load::Loaded;
use crate::error::{Code, Problem};
use crate::model::Method;
use crate::network::Network;
use crate::outbound::pattern;
use crate::schema::{Bounds, Dialect, Schema};
use crate::storage::plan::{Layout, RelationDef};
use crate::text::permalink::Permalink;
use crate::text::search::WordLimit;
use crate::text::shortcode;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet, hash_map::DefaultHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use url::Url;

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
    linker.networks();
    linker.media();
    let roles = linker.roles();
    linker.people();
    linker.transitions();
    let mut resources = linker.resources();
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
    linker.auto_add(&resources);
    let problems = linker.problems;
    let Some(site) = site else { return Err(sorted(problems)) };
    if !problems.is_empty() {
        return Err(sorted(problems));
    }
    Ok(Registry {
        declaration: loaded.declaration.clone(),
        site,
        roles,
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

/// What an entry of the audit trail holds.
pub const AUDITED: [&str; 8] = ["date", "event", "user", "login", "path", "subject", "changed", "ip"];

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

    /// What stands in contents for other rows: who makes it, and of which resource.
    fn parts(&mut self, resources: &[Resource]) {
        let (blocks, shortcodes) = (&self.declared.blocks, &self.declared.shortcodes);
        let makers = self.vocabulary.makers.clone();
        let names: Vec<&str> = resources.iter().map(|r| r.name.as_str()).collect();
        for (table, all) in [("blocks", blocks), ("shortcodes", shortcodes)] {
            for (part, made) in all {
                if table == "shortcodes" {
                    self.known(&[table, part], "shortcode", part, &shortcode::NAMES);
                }
                self.known(&[table, part, "renderer"], "renderer", &made.renderer, &makers);
                if let Some(of) = &made.resource {
                    self.known(&[table, part, "resource"], "resource", of, &names);
                }
            }
        }
    }

    /// Menus to which records are added when they are published.
    fn auto_add(&mut self, resources: &[Resource]) {
        let names: Vec<&str> = resources.iter().map(|r| r.name.as_str()).collect();
        for resource in resources {
            let Some(auto_add) = &resource.declared.auto_add else { continue };
            let path = ["resources", resource.name.as_str(), "auto_add"];
            for of in &auto_add.resources {
                self.known(&extend(&path, "resources"), "resource", of, &names);
            }
            if let Some(menus) = self.known(&extend(&path, "menu"), "resource", &auto_add.menu, &names) {
                self.column(&resources[menus], &extend(&path, "property"), &auto_add.property);
                self.column(resource, &extend(&path, "menu"), &auto_add.menu);
            }
            if resource.declared.reference.is_none() {
                self.problem(&path, "its rows refer to nothing", Some("declare `reference`, too".into()));
            }
        }
    }

    fn site(&mut self, listener: &str) -> Option<Site> {
        let site = &self.declared.site;
        let url = site.url.as_deref().filter(|url| !url.is_empty()).unwrap_or(listener);
        let url = url.trim_end_matches('/').to_owned();
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            self.problem(&["site", "url"], "not an http or https address", Some("write https://example.org".into()));
        }
        let permalinks = match Permalink::compile(&site.permalinks) {
            Ok(permalinks) => permalinks,
            Err(error) => {
                self.problem(&["site", "permalinks"], error.to_string(), None);
                return None;
            }
        };
        let rest_path = format!("/{}-json", site.prefix);
        Some(Site { prefix: site.prefix.clone(), rest_url: format!("{url}{rest_path}"), rest_path, url, permalinks })
    }

    /// Networks, and whom other sites' things are asked of.
    fn networks(&mut self) {
        let (trusted, open) = (&self.declared.server.trusted_proxies, &self.declared.outbound.networks);
        for (path, networks) in [(["server", "trusted_proxies"], trusted), (["outbound", "networks"], open)] {
            for (i, text) in networks.iter().enumerate().filter(|(_, text)| Network::parse(text).is_none()) {
                let hint = "write 10.0.0.0/8, fd00::/8 or a single address";
                self.problem(&[path[0], path[1], &i.to_string()], format!("`{text}` is no network"), Some(hint.into()));
            }
        }
        for (key, provider) in &self.declared.outbound.providers {
            let path = ["outbound", "providers", key];
            for (i, address) in provider.addresses.iter().enumerate().filter(|(_, text)| pattern(text).is_none()) {
                let hint = "write https://*.example.com/watch*";
                let message = format!("`{address}` is no address");
                self.problem(&[path[0], path[1], path[2], "addresses", &i.to_string()], message, Some(hint.into()));
            }
            let endpoint = Url::parse(&provider.endpoint);
            if !endpoint.is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
                let hint = "write https://example.com/oembed";
                self.problem(&extend(&path, "endpoint"), "not an http or https address", Some(hint.into()));
            }
        }
    }

    /// Where files are served, and what is made and taken of them.
    fn media(&mut self) {
        let media = &self.declared.media;
        let path = media.path.as_str();
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        let plain = |segment: &&str| {
            !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        if !path.starts_with('/') || segments.is_empty() || !segments.iter().all(plain) {
            let hint = "write /files: a slash before each part, none at the end";
            self.problem(&["media", "path"], "not a path below the site's address", Some(hint.into()));
        } else if segments[0] == format!("{}-json", self.declared.site.prefix) {
            self.problem(&["media", "path"], "this is where the interface is served", None);
        }
        for (key, size) in &media.sizes {
            if size.width == 0 && (size.height == 0 || size.crop) || size.height == 0 && size.crop {
                let hint = "give a width, a height, or both; a cut needs both";
                self.problem(&["media", "sizes", key], "a size without a side", Some(hint.into()));
            }
        }
        for (mime, kind) in &media.types {
            let odd = |end: &String| end.is_empty() || !end.bytes().all(|b| b.is_ascii_alphanumeric());
            if kind.extensions.is_empty() || kind.extensions.iter().any(odd) {
                let hint = "extensions = [\"png\"]: at least one, without a dot";
                self.problem(&["media", "types", mime], "a type needs ends of file names", Some(hint.into()));
            }
        }
    }

    fn roles(&mut self) -> IndexMap<String, Role> {
        let roles = self.declared.roles.iter().map(|(key, role)| {
            let capabilities = role.capabilities.iter().map(|c| Arc::from(c.as_str())).collect();
            (key.clone(), Role { name: role.name.clone(), capabilities })
        });
        roles.collect()
    }

    /// Roles that passwords are limited to have to exist; users come and go.
    fn people(&mut self) {
        let declared = self.declared;
        let known: Vec<&str> = declared.roles.keys().map(String::as_str).collect();
        for (i, role) in declared.site.application_passwords_for.roles.iter().enumerate() {
            let place = ["site", "application_passwords_for", "roles", &i.to_string()];
            self.known(&place, "role", role, &known);
        }
    }

    // -------------------------------------------------------------------------------------------- resources

    fn resources(&mut self) -> Vec<Resource> {
        let declared = self.declared;
        let mut resources = Vec::new();
        for (resource_name, resource) in &declared.resources {
            let index = resources.len();
            if let Some(compiled) = self.resource(index, resource_name, resource) {
                resources.push(compiled);
            }
        }
        resources
    }

    fn resource(&mut self, index: usize, key: &str, declared: &declaration::Resource) -> Option<Resource> {
        let at = |rest: &[&'static str]| -> Vec<String> {
            let mut path = vec!["resources".to_owned(), key.to_owned()];
            path.extend(rest.iter().map(|s| (*s).to_owned()));
            path
        };
        let Some(schema) = self.loaded.schemas.get(&declared.schema) else {
            // The loader has told why the file cannot be read.
            return None;
        };
        let namespace = match self.declared.namespaces.get(&declared.namespace) {
            Some(namespace) => namespace.path.clone(),
            None => {
                let names: Vec<String> = self.declared.namespaces.keys().cloned().collect();
                let hint = nearest(&declared.namespace, names.iter().map(String::as_str));
                let path = at(&["namespace"]);
                self.problem(&refs(&path), format!("unknown namespace `{}`", declared.namespace), hint);
                return None;
            }
        };
        self.compile_schema(&declared.schema, "", schema);
        let mut declared = declared.clone();
        if let Some(data) = declared.data.as_ref().and_then(|file| self.loaded.schemas.get(file)?.as_object()) {
            declared.about.extend(data.clone());
        }
        let base = declared.base.clone().unwrap_or_else(|| key.to_owned());
        let kind = declared.kind.clone().unwrap_or_else(|| key.to_owned());
        let family_table = tables::family_table(declared.family);
        let own_table = format!("x_{}", ident(&kind));
        let mut resource = Resource {
            index,
            name: key.to_owned(),
            family: declared.family,
            kind: name(&kind),
            api_name: declared.api_name.clone().unwrap_or(kind),
            path: format!("/{namespace}/{base}"),
            namespace,
            base,
            title: schema.get("title").and_then(Value::as_str).unwrap_or(key).to_owned(),
            table: match declared.family {
                Family::Plain => name(&own_table),
                _ => name(family_table.unwrap_or("")),
            },
            extension: None,
            key: name("id"),
            key_is_text: false,
            properties: Vec::new(),
            columns: tables::family_columns(declared.family).into_iter().map(name).collect(),
            column_index: HashMap::new(),
            relations: Vec::new(),
            links: Vec::new(),
            sort: IndexMap::new(),
            search: IndexMap::new(),
            edit_only: HashSet::new(),
            capabilities: HashMap::new(),
            codes: HashMap::new(),
            not_empty: Vec::new(),
            status_of_codes: HashMap::new(),
            schema: Value::Null,
            declared: declared.clone(),
        };
        resource.column_index = resource.columns.iter().enumerate().map(|(i, c)| (c.to_string(), i)).collect();
        if declared.family == Family::Plain {
            self.plain_key(&mut resource, schema);
        }
        let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for (property_name, doc) in &properties {
            let pointer = format!("/properties/{}", escape(property_name));
            let property = self.property(&mut resource, property_name, doc, &pointer, true);
            resource.properties.push(property);
        }
        if resource.columns.iter().any(|c| c.starts_with(&format!("{own_table}."))) {
            resource.extension = Some(name(&own_table));
        }
        resource.edit_only = edit_only::columns(&resource);
        resource.schema = shown_schema(schema, &resource, self.dialect);
        self.names(&mut resource);
        Some(resource)
    }

    /// Capabilities, sort keys, searched columns and codes of a resource.
    fn names(&mut self, resource: &mut Resource) {
        let declared = resource.declared.clone();
        let owner = resource.name.clone();
        if let Some(map) = &declared.capabilities {
            match self.declared.capabilities.get(map) {
                Some(acts) => resource.capabilities = acts.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
                None => {
                    let names: Vec<String> = self.declared.capabilities.keys().cloned().collect();
                    let hint = nearest(map, names.iter().map(String::as_str));
                    let path = ["resources", &owner, "capabilities"];
                    self.problem(&path, format!("unknown capability map `{map}`"), hint);
                }
            }
        }
        for (value, target) in &declared.sort {
            let sort = match target.as_str() {
                "@include" => Sort::Include,
                "@slugs" => Sort::Slugs,
                "@relevance" => Sort::Relevance,
                column => match self.column(resource, &["resources", &owner, "sort", value], column) {
                    Some(column) => Sort::Column(column),
                    None => continue,
                },
            };
            resource.sort.insert(value.clone(), sort);
        }
        for (value, column) in &declared.search {
            if let Some(column) = self.column(resource, &["resources", &owner, "search", value], column) {
                resource.search.insert(value.clone(), column);
            }
        }
        resource.codes = self.codes(&["resources", &owner, "codes"], &declared.codes);
        for (i, required) in declared.not_empty.iter().enumerate() {
            let i = i.to_string();
            let path = ["resources", owner.as_str(), "not_empty", &i];
            for column in required.when.keys().chain([&required.column]) {
                self.column(resource, &path, column);
            }
            if let Some(code) = self.code(&extend(&path, "code"), &required.code) {
                resource.not_empty.push((required.clone(), code));
            }
        }
        if let Some(reference) = &declared.reference {
            for column in [&reference.class, &reference.kind, &reference.id] {
                self.column(resource, &["resources", &owner, "reference"], column);
            }
        }
        for column in declared.import.keys() {
            self.column(resource, &["resources", &owner, "import", column], column);
        }
        for (code, status) in &declared.status_of_codes {
            if let Some(code) = self.code(&["resources", &owner, "status_of_codes", code], code) {
                resource.status_of_codes.insert(code, *status);
            }
        }
    }

    /// Codes that stand in for others.
    fn codes(&mut self, path: &[&str], declared: &IndexMap<String, String>) -> HashMap<Code, Code> {
        let mut codes = HashMap::new();
        for (from, to) in declared {
            let path = extend(path, from);
            if let (Some(from), Some(to)) = (self.code(&path, from), self.code(&path, to)) {
                codes.insert(from, to);
            }
        }
        codes
    }

    fn code(&mut self, path: &[&str], code: &str) -> Option<Code> {
        let found = Code::parse(code);
        if found.is_none() {
            let hint = nearest(code, Code::ALL.iter().map(|c| c.as_str()));
            self.problem(path, format!("no error has the code `{code}`"), hint);
        }
        found
    }

    fn column(&mut self, resource: &Resource, path: &[&str], column: &str) -> Option<crate::storage::plan::Name> {
        let found = resource.plan_column(column);
        if found.is_none() {
            let hint = nearest(column, resource.column_index.keys().map(String::as_str));
            self.problem(path, format!("`{}` has no column `{column}`", resource.name), hint);
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

    fn plain_key(&mut self, resource: &mut Resource, schema: &Value) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let key = properties.into_iter().flatten().find(|(_, doc)| doc.get("x-key") == Some(&json!(true)));
        if let Some((key, doc)) = key {
            resource.key = name(key);
            resource.key_is_text = kind_of(doc) == Kind::Text;
        }
        resource.columns = vec![resource.key.clone(), name("version")];
        resource.column_index = HashMap::from([(resource.key.to_string(), 0), ("version".to_owned(), 1)]);
    }

    fn property(
        &mut self,
        resource: &mut Resource,
        property_name: &str,
        doc: &Value,
        pointer: &str,
        top: bool,
    ) -> Property {
        let word = |w: &str| doc.get(w).and_then(Value::as_str);
        let kind = kind_of(doc);
        let column = word("x-column").map(str::to_owned);
        let read = word("x-read").map(str::to_owned);
        let write = word("x-write").map(str::to_owned);
        let children = doc.get("properties").and_then(Value::as_object);
        let composed = children.is_some_and(|c| c.values().any(has_source));
        let owns_columns = tables::family_table(resource.family).is_some() || resource.family == Family::Plain;
        let mut column_name = column.clone();
        let source = if let Some(read) = read {
            let index = column.as_deref().and_then(|c| self.place(resource, c, pointer));
            match self.schema_name(resource, pointer, "x-read", &read, &self.vocabulary.reads.clone()) {
                Some(behaviour) => Source::Read(Behaviour(behaviour), index),
                None => Source::Nothing,
            }
        } else if let Some(value) = doc.get("x-const") {
            Source::Fixed(value.clone())
        } else if doc.get("x-meta") == Some(&json!(true)) {
            Source::Meta
        } else if doc.get("x-relation").is_some() && kind == Kind::Json {
            // The relation itself is resolved when all resources are known.
            Source::Nothing
        } else if doc.get("x-handler-property") == Some(&json!(true)) || !owns_columns {
            Source::Extra
        } else if doc.get("x-input-only") == Some(&json!(true)) {
            Source::Nothing
        } else if let Some(column) = &column {
            self.place(resource, column, pointer).map_or(Source::Nothing, Source::Column)
        } else if composed {
            let children = children.cloned().unwrap_or_default();
            let list = children.iter().map(|(child, doc)| {
                let pointer = format!("{pointer}/properties/{}", escape(child));
                self.property(resource, child, doc, &pointer, false)
            });
            Source::Object(list.collect())
        } else if top {
            column_name = Some(property_name.to_owned());
            self.place(resource, property_name, pointer).map_or(Source::Nothing, Source::Column)
        } else {
            Source::Nothing
        };
        let write = write.and_then(|write| {
            self.schema_name(resource, pointer, "x-write", &write, &self.vocabulary.writes.clone()).map(Behaviour)
        });
        Property {
            name: property_name.to_owned(),
            contexts: contexts_of(doc),
            readonly: doc.get("readonly") == Some(&json!(true)),
            source,
            kind,
            nullable: types_of(doc).contains(&"null"),
            column: column_name.and_then(|c| resource.plan_column(&c)),
            digest: doc.get("x-stored-digest") == Some(&json!(true)),
            write,
            among: word("x-options-from").map(str::to_owned),
            aliases: aliases_of(doc),
            locked: doc
                .get("x-password-protected")
                .and_then(Value::as_bool)
                .unwrap_or_else(|| is_content(resource, doc)),
            longest: self.longest(resource, doc, pointer),
        }
    }

    /// `x-too-long-code` with its `x-max-bytes`.
    fn longest(&mut self, resource: &Resource, doc: &Value, pointer: &str) -> Option<(usize, Code)> {
        let wanted = doc.get("x-too-long-code")?.as_str().unwrap_or_default();
        let most = doc.get("x-max-bytes").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        let code = Code::parse(wanted);
        if code.is_none() || most.is_none() {
            let message = match code {
                None => format!("no error has the code `{wanted}`"),
                Some(_) => "x-too-long-code goes with x-max-bytes".to_owned(),
            };
            let hint = nearest(wanted, Code::ALL.iter().map(|c| c.as_str()));
            let place = format!("{pointer}/x-too-long-code");
            self.problems.push(self.loaded.schema_problem(&resource.declared.schema, &place, message, hint));
        }
        most.zip(code)
    }

    /// Position of a column, made on the spot when the kind may declare its own.
    fn place(&mut self, resource: &mut Resource, column: &str, pointer: &str) -> Option<usize> {
        if let Some(index) = resource.column(column) {
            return Some(index);
        }
        if !is_ident(column) {
            let file = resource.declared.schema.clone();
            let message = format!("`{column}` cannot be the name of a column");
            let hint = "letters, digits and _ only; rename the property or give x-column";
            self.problems.push(self.loaded.schema_problem(&file, pointer, message, Some(hint.into())));
            return None;
        }
        let full = if resource.family == Family::Plain {
            name(column)
        } else {
            name(&format!("x_{}.{column}", ident(&resource.kind)))
        };
        resource.columns.push(full);
        let index = resource.columns.len() - 1;
        resource.column_index.insert(column.to_owned(), index);
        Some(index)
    }

    fn schema_name(
        &mut self,
        resource: &Resource,
        pointer: &str,
        word: &str,
        wanted: &str,
        names: &[&'static str],
    ) -> Option<usize> {
        let found = names.iter().position(|n| *n == wanted);
        if found.is_none() {
            let hint = nearest(wanted, names.iter().copied());
            let place = format!("{pointer}/{word}");
            let message = format!("unknown behaviour `{wanted}`");
            let problem = self.loaded.schema_problem(&resource.declared.schema, &place, message, hint);
            self.problems.push(problem);
        }
        found
    }

    // -------------------------------------------------------------------------------------------- relations

    fn relations(&mut self, resources: &mut [Resource]) {
        let places: HashMap<String, usize> = resources.iter().map(|r| (r.name.clone(), r.index)).collect();
        for resource in resources.iter_mut() {
            let file = resource.declared.schema.clone();
            let docs = self.loaded.schemas.get(&file).and_then(|s| s.get("properties")).and_then(Value::as_object);
            for (property, doc) in docs.cloned().unwrap_or_default() {
                if let Some(among) =
                    doc.get("x-options-from").and_then(Value::as_str).filter(|a| !places.contains_key(*a))
                {
                    let pointer = format!("/properties/{}/x-options-from", escape(&property));
                    let hint = nearest(among, places.keys().map(String::as_str));
                    let message = format!("the values are entries of `{among}`, which is no resource");
                    self.problems.push(self.loaded.schema_problem(&file, &pointer, message, hint));
                }
                let Some(relation) = doc.get("x-relation") else { continue };
                let pointer = format!("/properties/{}/x-relation", escape(&property));
                let to = relation.get("to").and_then(Value::as_str).unwrap_or_default();
                let Some(target) = places.get(to).copied() else {
                    let hint = nearest(to, places.keys().map(String::as_str));
                    let message = format!("the relation leads to `{to}`, which is no resource");
                    self.problems.push(self.loaded.schema_problem(&file, &pointer, message, hint));
                    continue;
                };
                self.relation(resource, &property, &doc, relation, target);
            }
        }
    }

    fn relation(&mut self, resource: &mut Resource, property: &str, doc: &Value, relation: &Value, to: usize) {
        let many = kind_of(doc) == Kind::Json;
        let declared = relation.get("rel").and_then(Value::as_str);
        let rel = declared.map_or_else(|| format!("{}.{property}", resource.kind), str::to_owned);
        let flag = |word: &str, default: bool| relation.get(word).and_then(Value::as_bool).unwrap_or(default);
        let on_delete = match relation.get("on_delete").and_then(Value::as_str).unwrap_or("clear") {
            "clear" => OnDelete::Clear,
            "refuse" => OnDelete::Refuse,
            "cascade" => OnDelete::Cascade,
            "reassign" => OnDelete::Reassign,
            other => {
                let pointer = format!("/properties/{}/x-relation/on_delete", escape(property));
                let message = format!("unknown word `{other}`");
                let hint = "clear, refuse, cascade or reassign";
                let file = resource.declared.schema.clone();
                self.problems.push(self.loaded.schema_problem(&file, &pointer, message, Some(hint.into())));
                OnDelete::Clear
            }
        };
        let position = resource.relations.len();
        resource.relations.push(Relation {
            rel: name(&rel),
            property: property.to_owned(),
            to,
            many,
            check: flag("check", true),
            missing: relation
                .get("code")
                .and_then(Value::as_str)
                .and_then(|code| self.code(&["schemas", property], code)),
            embeddable: flag("embeddable", false),
            on_delete,
        });
        if many && let Some(p) = resource.properties.iter_mut().find(|p| p.name == property) {
            p.source = Source::Relation(position);
        }
    }

    // -------------------------------------------------------------------------------------------- links

    fn links(&mut self, resources: &mut [Resource]) {
        let places: HashMap<String, usize> = resources.iter().map(|r| (r.name.clone(), r.index)).collect();
        for resource in resources.iter_mut() {
            let declared = resource.declared.links.clone();
            for (i, link) in declared.iter().enumerate() {
                let i = i.to_string();
                let owner = resource.name.clone();
                let path = ["resources", owner.as_str(), "links", i.as_str()];
                if let Some(link) = self.link(resource, link, &places, &path) {
                    resource.links.push(link);
                }
            }
            if declared.is_empty() && resource.stores_rows() {
                resource.links.extend(usual_links());
            }
            let embeddable = resource.relations.iter().filter(|r| r.embeddable).cloned().collect::<Vec<_>>();
            for relation in embeddable {
                if !declared.iter().any(|l| l.rel == relation.property) {
                    resource.links.extend(relation_link(resource, &relation));
                }
            }
        }
    }

    fn link(
        &mut self,
        resource: &Resource,
        link: &declaration::Link,
        places: &HashMap<String, usize>,
        path: &[&str],
    ) -> Option<Link> {
        let target = match (link.to.as_deref(), &link.href) {
            (Some("@record"), None) => Target::Referenced(Family::Content),
            (Some("@term"), None) => Target::Referenced(Family::Term),
            (Some(to), None) => {
                let Some(to) = places.get(to).copied() else {
                    let hint = nearest(to, places.keys().map(String::as_str));
                    self.problem(&extend(path, "to"), format!("the link leads to `{to}`, which is no resource"), hint);
                    return None;
                };
                match &link.key {
                    Some(key) => {
                        self.column(resource, &extend(path, "key"), key)?;
                        Target::Item { resource: to, column: resource.column(key)? }
                    }
                    None => {
                        let mut query = Vec::new();
                        for (arg, column) in &link.query {
                            let value = match column.strip_prefix('=') {
                                Some(literal) => QueryValue::Literal(literal.to_owned()),
                                None => {
                                    self.column(resource, &extend(path, "query"), column)?;
                                    QueryValue::Column(resource.column(column)?)
                                }
                            };
                            query.push((arg.clone(), value));
                        }
                        Target::Collection { resource: to, query }
                    }
                }
            }
            (None, Some(href)) => Target::Template(self.template(resource, href, path)?),
            _ => {
                self.problem(path, "a link has either `to` or `href`", None);
                return None;
            }
        };
        let when_column = match &link.when.set {
            Some(column) => {
                self.column(resource, &extend(path, "when"), column)?;
                resource.column(column)
            }
            None => None,
        };
        Some(Link {
            rel: link.rel.clone(),
            absolute: link.href.as_deref().is_some_and(|h| h.contains("://")),
            target,
            embeddable: link.embeddable,
            attrs: link.attrs.clone(),
            when: link.when.clone(),
            when_column,
        })
    }

    fn template(&mut self, resource: &Resource, href: &str, path: &[&str]) -> Option<Vec<HrefPiece>> {
        let mut pieces = Vec::new();
        let mut rest = href;
        while let Some(open) = rest.find('{') {
            let close = rest[open..].find('}').map(|c| c + open)?;
            pieces.push(HrefPiece::Literal(rest[..open].to_owned()));
            let place = &rest[open + 1..close];
            pieces.push(match place {
                "self" => HrefPiece::SelfPath,
                "collection" => HrefPiece::CollectionPath,
                "api_name" => HrefPiece::ApiName,
                // A URI template for clients, as in curies.
                "rel" => HrefPiece::Literal("{rel}".into()),
                "@revision_id" => HrefPiece::RevisionId,
                column => {
                    self.column(resource, &extend(path, "href"), column)?;
                    HrefPiece::Column(resource.column(column)?)
                }
            });
            rest = &rest[close + 1..];
        }
        pieces.push(HrefPiece::Literal(rest.to_owned()));
        Some(pieces)
    }

    // -------------------------------------------------------------------------------------------- layout

    /// A record keeps its slug through a timed transition: where it claims one before, it does so after.
    fn transitions(&mut self) {
        for (name, status) in &self.declared.statuses {
            let Some(to) = status.transition.as_ref().and_then(|transition| transition.to.as_deref()) else { continue };
            let path = ["statuses", name, "transition", "to"];
            let names: Vec<&str> = self.declared.statuses.keys().map(String::as_str).collect();
            if self.known(&path, "status", to, &names).is_none() {
                continue;
            }
            if self.declared.statuses[to].claims_slug != status.claims_slug || to == name {
                let message = format!("records cannot come from `{name}` into `{to}` by themselves");
                let hint = "the two differ, and agree on `claims_slug`".to_owned();
                self.problem(&path, message, Some(hint));
            }
        }
    }

    fn layout(&mut self, resources: &[Resource]) -> Layout {
        let mut layout = Layout {
            tables: tables::shared(),
            counts: tables::counts(),
            searched: searched(resources),
            ..Layout::default()
        };
        let mut made = HashSet::new();
        for resource in resources {
            if let Some(table) = self.own_table(resource)
                && made.insert(table.name.clone())
            {
                layout.tables.push(table);
            }
            for relation in resource.relations.iter().filter(|r| r.many) {
                let target = &resources[relation.to];
                let content = resource.family == Family::Content;
                let leads_there = |r: &&Relation| r.many && r.to == relation.to;
                let sole = resources.iter().flat_map(|r| &r.relations).filter(leads_there).count() == 1;
                let def = RelationDef {
                    name: relation.rel.clone(),
                    src: resource.table.clone(),
                    dst: target.table.clone(),
                    status: content.then(|| name("status")),
                    sort: content.then(|| name("date_local")),
                    counted: (content && target.family == Family::Term).then(tables::term_count),
                    only_kind: sole.then(|| resource.kind.clone()),
                };
                if !layout.relations.iter().any(|r| r.name == def.name) {
                    layout.relations.push(def);
                }
            }
        }
        layout
    }

    fn own_table(&mut self, resource: &Resource) -> Option<crate::storage::plan::TableDef> {
        let plain = resource.family == Family::Plain;
        let table = if plain { resource.table.clone() } else { resource.extension.clone()? };
        let prefix = format!("{table}.");
        let docs = self.loaded.schemas.get(&resource.declared.schema)?.get("properties")?.as_object()?;
        let filtered = filtered_columns(resource);
        let mut columns = Vec::new();
        for full in &resource.columns {
            let short = if plain {
                if **full == *resource.key || &**full == "version" {
                    continue;
                }
                full.to_string()
            } else {
                match full.strip_prefix(&prefix) {
                    Some(short) => short.to_owned(),
                    None => continue,
                }
            };
            let doc = docs
                .iter()
                .find(|(p, d)| d.get("x-column").and_then(Value::as_str).unwrap_or(p) == short)
                .map(|(_, d)| d);
            let flag = |word: &str| doc.is_some_and(|d| d.get(word) == Some(&json!(true)));
            columns.push(DeclaredColumn {
                kind: doc.map_or(Kind::Text, kind_of),
                indexed: flag("x-index") || filtered.contains(&short),
                unique: flag("x-unique"),
                was: doc.and_then(|d| d.get("x-was")).and_then(Value::as_str).map(str::to_owned),
                name: short,
            });
        }
        let extends = (!plain).then_some(&*resource.table);
        Some(tables::declared(&table, &resource.key, resource.key_is_text, extends, &columns))
    }

    // -------------------------------------------------------------------------------------------- routes

    fn routes(&mut self, resources: &[Resource]) -> Vec<Route> {
        let mut routes: Vec<Route> = Vec::new();
        let declared = self.declared;
        for (i, route) in declared.routes.iter().enumerate() {
            let i = i.to_string();
            let namespace = match &route.namespace {
                None => String::new(),
                Some(wanted) => match declared.namespaces.get(wanted) {
                    Some(namespace) => namespace.path.clone(),
                    None => {
                        let hint = nearest(wanted, declared.namespaces.keys().map(String::as_str));
                        let message = format!("unknown namespace `{wanted}`");
                        self.problem(&["routes", &i, "namespace"], message, hint);
                        continue;
                    }
                },
            };
            let resource = route.resource.as_ref().and_then(|wanted| resources.iter().find(|r| r.name == *wanted));
            let path = ["routes".to_owned(), i];
            routes.extend(self.route(route, &namespace, "", resource, resources, &path));
        }
        for resource in resources {
            for family in &resource.declared.routes {
                let Some(list) = declared.route_sets.get(family) else {
                    let hint = nearest(family, declared.route_sets.keys().map(String::as_str));
                    let message = format!("there is no route set `{family}`");
                    self.problem(&["resources", &resource.name, "routes"], message, hint);
                    continue;
                };
                for (i, route) in list.iter().enumerate() {
                    let path = ["route_sets".to_owned(), family.clone(), i.to_string()];
                    let (namespace, base) = (&resource.namespace, &resource.base);
                    routes.extend(self.route(route, namespace, base, Some(resource), resources, &path));
                }
            }
        }
        self.duplicates(&routes);
        routes
    }

    /// The resource of the audit trail has to be there, with rows of its own and what entries hold.
    fn audit(&mut self, resources: &[Resource]) {
        let Some(wanted) = self.declared.site.audit.get() else { return };
        let names: Vec<&str> = resources.iter().map(|r| r.name.as_str()).collect();
        let Some(index) = self.known(&["site", "audit"], "resource", wanted, &names) else { return };
        let resource = &resources[index];
        if resource.family != Family::Plain {
            let message = format!("`{wanted}` has no table of its own");
            self.problem(&["site", "audit"], message, Some("family = \"plain\"".into()));
            return;
        }
        let missing: Vec<&str> = AUDITED.into_iter().filter(|column| resource.column(column).is_none()).collect();
        if !missing.is_empty() {
            let message = format!("the schema of `{wanted}` lacks {}", missing.join(", "));
            self.problem(&["site", "audit"], message, None);
        }
    }

    /// What leaves a total unfiltered has to be an argument of the resource's routes.
    fn totals(&mut self, routes: &[Route], resources: &[Resource]) {
        for resource in resources {
            let own = routes.iter().filter(|route| route.owner == Some(resource.index));
            let args = own.flat_map(|route| &route.endpoints).flat_map(|endpoint| &endpoint.args.args);
            let names: Vec<&str> = args.map(|arg| arg.name.as_str()).collect();
            for (i, arg) in resource.declared.unfiltered_args.iter().enumerate() {
                let path = ["resources", &resource.name, "unfiltered_args", &i.to_string()];
                self.known(&path, "argument", arg, &names);
            }
        }
    }

    /// Tells each endpoint which of the declared limits count it.
    fn limits(&mut self, routes: &mut [Route], resources: &[Resource]) {
        let declared = self.declared;
        let names: Vec<&str> = resources.iter().map(|r| r.name.as_str()).collect();
        for (index, (key, limit)) in declared.limits.iter().enumerate() {
            for (i, resource) in limit.resources.iter().enumerate() {
                self.known(&["limits", key, "resources", &i.to_string()], "resource", resource, &names);
            }
            let mut methods = Vec::new();
            for (i, method) in limit.methods.iter().enumerate() {
                match Method::parse(method) {
                    Some(method) => methods.push(method),
                    None => {
                        let place = ["limits", key, "methods", &i.to_string()];
                        self.problem(&place, format!("unknown method `{method}`"), None);
                    }
                }
            }
            for route in routes.iter_mut() {
                let named = |resource: Option<usize>| {
                    resource.is_some_and(|r| limit.resources.iter().any(|name| *name == resources[r].name))
                };
                if !limit.resources.is_empty() && !named(route.owner) && !named(route.resource) {
                    continue;
                }
                for endpoint in &mut route.endpoints {
                    // What only carries requests is counted by what it carries.
                    let counts = |method| methods.contains(method);
                    if !endpoint.envelope && (methods.is_empty() || endpoint.methods.iter().any(counts)) {
                        endpoint.limits.push(index);
                    }
                }
            }
        }
    }

    /// Gives routes without a resource the schemas declared for them; what is left are those of the indexes.
    fn route_schemas(&mut self, routes: &mut [Route]) -> HashMap<String, Value> {
        let declared = self.declared;
        let mut indexes = HashMap::new();
        for (path, file) in &declared.route_schemas {
            // The loader has told why a file cannot be read.
            let Some(schema) = self.loaded.schemas.get(file) else { continue };
            self.compile_schema(file, "", schema);
            let shown = without_x_words(schema);
            if path == "/" || declared.namespaces.values().any(|n| path.strip_prefix('/') == Some(&n.path)) {
                indexes.insert(path.clone(), shown);
                continue;
            }
            match routes.iter_mut().find(|r| r.resource.is_none() && r.pattern == *path) {
                Some(route) => route.schema = Some(shown),
                None => {
                    let alone = routes.iter().filter(|r| r.resource.is_none()).map(|r| r.pattern.as_str());
                    let hint = nearest(path, alone);
                    let message = format!("no route without a resource has the path `{path}`");
                    self.problem(&["route_schemas", path], message, hint);
                }
            }
        }
        indexes
    }

    fn duplicates(&mut self, routes: &[Route]) {
        let mut seen = HashMap::new();
        for route in routes {
            for endpoint in &route.endpoints {
                for method in &endpoint.methods {
                    let owner = route.resource.map(|r| self.declared.resources.get_index(r).map(|(k, _)| k.clone()));
                    let owner = owner.flatten();
                    if seen.insert((route.pattern.to_lowercase(), *method), owner.clone()).is_some() {
                        let message = format!("{} {} is declared twice", method.as_str(), route.pattern);
                        match owner {
                            Some(owner) => self.problem(&["resources", &owner, "routes"], message, None),
                            None => self.problem(&["routes"], message, None),
                        }
                    }
                }
            }
        }
    }

    fn route(
        &mut self,
        route: &declaration::Route,
        namespace: &str,
        base: &str,
        resource: Option<&Resource>,
        resources: &[Resource],
        path: &[String],
    ) -> Option<Route> {
        let shown = match &route.resource {
            None => resource,
            Some(wanted) => match resources.iter().find(|r| r.name == *wanted) {
                Some(shown) => Some(shown),
                None => {
                    let hint = nearest(wanted, resources.iter().map(|r| r.name.as_str()));
                    let mut at = refs(path);
                    at.push("resource");
                    self.problem(&at, format!("unknown resource `{wanted}`"), hint);
                    return None;
                }
            },
        };
        let below = route.path.replace("{base}", base);
        let separator = if below.starts_with('/') || below.is_empty() { "" } else { "/" };
        let pattern = if namespace.is_empty() { below } else { format!("/{namespace}{separator}{below}") };
        let mut at = refs(path);
        let (matcher, captures) = match compile_pattern(&pattern) {
            Ok(compiled) => compiled,
            Err(message) => {
                at.push("path");
                self.problem(&at, format!("the path is no regular expression: {message}"), None);
                return None;
            }
        };
        let mut endpoints = Vec::new();
        for (i, endpoint) in route.endpoints.iter().enumerate() {
            let mut at: Vec<String> = path.to_vec();
            at.extend(["endpoints".to_owned(), i.to_string()]);
            endpoints.extend(self.endpoint(endpoint, resource, &captures, &at));
        }
        Some(Route {
            pattern,
            matcher,
            captures,
            namespace: namespace.to_owned(),
            resource: shown.map(|r| r.index),
            owner: resource.map(|r| r.index),
            no_schema: route.no_schema,
            hidden: route.hidden,
            schema: shown.zip(resource).filter(|(s, o)| s.index != o.index).map(|(s, o)| self.schema_below(s, o)),
            endpoints,
        })
    }

    /// The schema of what hangs below another resource's items: properties marked `x-inherit` are the owner's.
    fn schema_below(&self, shown: &Resource, owner: &Resource) -> Value {
        if shown.declared.extends.is_some() {
            let mut schema = owner.schema.clone();
            let own = shown.schema["properties"].as_object().cloned().unwrap_or_default();
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                properties.extend(own);
            }
            return schema;
        }
        let mut schema = shown.schema.clone();
        schema["title"] = json!(format!("{}-revision", owner.api_name));
        let declared = self.loaded.schemas.get(&shown.declared.schema).and_then(|s| s.get("properties"));
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, doc| {
                let borrowed =
                    declared.and_then(|d| d.get(name)).and_then(|d| d.get("x-inherit")) == Some(&json!(true));
                match owner.schema["properties"].get(name) {
                    Some(own) if borrowed => {
                        *doc = own.clone();
                        true
                    }
                    found => !borrowed || found.is_some(),
                }
            });
        }
        schema
    }

    fn endpoint(
        &mut self,
        endpoint: &declaration::Endpoint,
        resource: Option<&Resource>,
        captures: &[String],
        path: &[String],
    ) -> Option<Endpoint> {
        let at = refs(path);
        let mut methods = Vec::new();
        for method in &endpoint.methods {
            match Method::parse(method) {
                Some(method) => methods.push(method),
                None => {
                    self.problem(&extend(&at, "methods"), format!("unknown method `{method}`"), None);
                }
            }
        }
        let handlers = self.vocabulary.handlers.clone();
        let handler = self.known(&extend(&at, "handler"), "handler", &endpoint.handler, &handlers);
        let (guard_name, guard_param) = match endpoint.access.split_once(':') {
            Some((guard, param)) => (guard, param),
            None => (endpoint.access.as_str(), ""),
        };
        let guards = self.vocabulary.guards.clone();
        let guard = self.known(&extend(&at, "access"), "guard", guard_name, &guards);
        let docs = self.arg_docs(endpoint, resource, captures, &at);
        let mut args = ArgSet::default();
        let dialect = self.dialect_of(&methods);
        for (arg, (doc, place)) in docs {
            args.args.extend(self.arg(&arg, doc, resource, &place, dialect));
        }
        args.edit_only = resource.is_some_and(|resource| edit_only::reached(resource, &args));
        Some(Endpoint {
            methods,
            handler: Behaviour(handler?),
            guard: Behaviour(guard?),
            guard_param: guard_param.to_owned(),
            codes: self.codes(&extend(&at, "codes"), &endpoint.codes),
            editors_only: endpoint.editors_only,
            cache: endpoint
                .cache_control
                .as_ref()
                .or(resource.and_then(|r| r.declared.cache_control.as_ref()))
                .map(cache_control),
            args,
            batch: endpoint.batch,
            file: endpoint.file,
            credentials: endpoint.credentials,
            envelope: endpoint.envelope,
            limits: Vec::new(),
            audit: endpoint.audit.clone(),
        })
    }

    /// How an endpoint's arguments are read: the usual number of items is for what writes bring, reads declare theirs.
    fn dialect_of(&self, methods: &[Method]) -> Dialect {
        let mut dialect = self.dialect;
        if methods.iter().all(|method| *method == Method::Get) {
            dialect.bounds.items = None;
        }
        dialect
    }

    /// The argument documents of an endpoint in order: groups, its own, the resource's adjustments.
    fn arg_docs(
        &mut self,
        endpoint: &declaration::Endpoint,
        resource: Option<&Resource>,
        captures: &[String],
        at: &[&str],
    ) -> IndexMap<String, (SchemaDoc, Declared)> {
        let mut docs: IndexMap<String, (SchemaDoc, Declared)> = IndexMap::new();
        for group in &endpoint.args {
            match group.as_str() {
                "@create" | "@update" => {
                    if let Some(resource) = resource {
                        self.derived(resource, group == "@create", &mut docs);
                    }
                }
                "@key" => {
                    for capture in captures {
                        let place = Declared::Config(at.iter().map(|s| (*s).to_owned()).collect());
                        docs.entry(capture.clone()).or_insert_with(|| (key_doc(capture, resource), place));
                    }
                }
                group => match self.declared.args.get(group) {
                    Some(args) => {
                        for (arg, doc) in args {
                            let place = Declared::Config(vec!["args".into(), group.into(), arg.clone()]);
                            merge_arg(&mut docs, arg, doc, place);
                        }
                    }
                    None => {
                        let names: Vec<&str> = self.declared.args.keys().map(String::as_str).collect();
                        let hint = nearest(group, names.into_iter().chain(["@create", "@update", "@key"]));
                        self.problem(&extend(at, "args"), format!("unknown group of arguments `{group}`"), hint);
                    }
                },
            }
        }
        let own = endpoint.with.iter().map(|(arg, change)| {
            let mut place: Vec<String> = at.iter().map(|s| (*s).to_owned()).collect();
            place.extend(["with".to_owned(), arg.clone()]);
            (arg, change, place)
        });
        let adjusted = endpoint.name.as_ref().zip(resource).and_then(|(n, r)| {
            r.declared.endpoints.get(n).map(|args| {
                args.iter()
                    .map(|(arg, change)| {
                        let place =
                            vec!["resources".into(), r.name.clone(), "endpoints".into(), n.clone(), arg.clone()];
                        (arg, change, place)
                    })
                    .collect::<Vec<_>>()
            })
        });
        for (arg, change, place) in own.chain(adjusted.into_iter().flatten()) {
            match change {
                Value::Bool(false) => {
                    docs.shift_remove(arg);
                }
                Value::Object(doc) => merge_arg(&mut docs, arg, doc, Declared::Config(place)),
                _ => {
                    let path: Vec<&str> = place.iter().map(String::as_str).collect();
                    self.problem(&path, "an argument is a table, or false to remove it", None);
                }
            }
        }
        docs
    }

    /// Create and update arguments from the schema's properties.
    fn derived(&self, resource: &Resource, create: bool, docs: &mut IndexMap<String, (SchemaDoc, Declared)>) {
        let Some(schema) = self.loaded.schemas.get(&resource.declared.schema) else { return };
        for (property, doc) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let Some(doc) = doc.as_object() else { continue };
            if doc.get("readonly") == Some(&json!(true)) || doc.get("x-args") == Some(&json!(false)) {
                continue;
            }
            let mut arg: SchemaDoc = doc
                .iter()
                .filter(|(k, _)| !matches!(k.as_str(), "context" | "readonly" | "arg_options"))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            if doc.get("x-meta") == Some(&json!(true)) {
                arg.extend(meta_properties(resource, Value::clone));
            }
            let extra = [doc.get("arg_options"), doc.get("x-args"), doc.get("x-create-arg").filter(|_| create)];
            for (key, value) in extra.into_iter().flatten().filter_map(Value::as_object).flatten() {
                arg.insert(key.clone(), value.clone());
            }
            if !create {
                arg.shift_remove("default");
                arg.shift_remove("x-default-null");
                arg.shift_remove("required");
            }
            if resource.family == Family::Singleton {
                // Null takes a field back to its default.
                let accepts = arg.entry("x-also-types".to_owned()).or_insert_with(|| json!([]));
                accepts.as_array_mut().into_iter().for_each(|types| types.push(json!("null")));
            }
            if !self.declared.bounds.in_options {
                arg.insert("x-bounds-in-options".into(), json!(false));
            }
            let place = Declared::Schema(resource.declared.schema.clone(), format!("/properties/{}", escape(property)));
            match docs.get_mut(property) {
                // A path capture of the same name stays what it is.
                Some(_) => {}
                None => {
                    docs.insert(property.clone(), (arg, place));
                }
            }
        }
    }

    fn arg(
        &mut self,
        arg: &str,
        mut doc: SchemaDoc,
        resource: Option<&Resource>,
        place: &Declared,
        dialect: Dialect,
    ) -> Option<Arg> {
        let required = doc.shift_remove("required").and_then(|r| r.as_bool()).unwrap_or(false);
        let default = doc.get("default").cloned();
        let role = match doc.get("x-param").and_then(Value::as_str) {
            None => None,
            Some(wanted) => {
                let found = ArgRole::parse(wanted);
                if found.is_none() {
                    let hint = nearest(wanted, ArgRole::ALL.iter().map(|(n, _)| *n));
                    self.report(place, "x-param", format!("unknown role `{wanted}`"), hint);
                }
                found
            }
        };
        let filter = doc.get("x-filter").cloned().and_then(|f| self.filter(&f, resource, place));
        let words = doc.get("x-search-words").cloned().and_then(|words| self.word_limit(&words, place));
        let aliases = aliases_of(&Value::Object(doc.clone()));
        let also = strings(doc.get("x-arg-aliases"));
        let accepts = strings(doc.get("x-also-types"));
        if role == Some(ArgRole::Orderby)
            && let Some(resource) = resource
        {
            self.check_orderby(&doc, resource, place);
        }
        let source = Value::Object(doc);
        let accepted = accepted_bounds(&source, &accepts).and_then(|bounds| Schema::compile(&bounds, dialect).ok());
        let bounded = bounds::applied(&source, self.declared.bounds.max_items);
        let schema = match Schema::compile(&bounded, dialect) {
            Ok(schema) => schema,
            Err(problems) => {
                for problem in problems {
                    self.report(place, &problem.pointer, problem.message, problem.hint);
                }
                return None;
            }
        };
        let mut shown = match without_x_words(&source) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        if source.get("x-bounds-in-options") == Some(&json!(false)) {
            without_bounds(&mut shown);
        }
        if source.get("x-default-null") == Some(&json!(true)) {
            shown.insert("default".into(), Value::Null);
        }
        if source.get("x-meta") == Some(&json!(true)) {
            show_no_meta(&mut shown, self.dialect);
        }
        if source["items"]["x-enum-as-object"] == json!(true)
            && let Some(items) = shown.get_mut("items").and_then(Value::as_object_mut)
            && let Some(Value::Array(values)) = items.get("enum")
        {
            let by_name = values.iter().filter_map(|v| Some((v.as_str()?.to_owned(), v.clone()))).collect();
            items.insert("enum".into(), Value::Object(by_name));
        }
        shown.entry("description").or_insert_with(|| json!(""));
        shown.insert("required".into(), json!(required));
        // A default that does not fit its own type stays as declared.
        let default = default.map(|declared| {
            let coerced = schema.accept(arg, declared.clone()).unwrap_or(declared);
            spell(coerced, &aliases, Spelling::ToStored)
        });
        Some(Arg {
            name: arg.to_owned(),
            also,
            schema,
            required,
            default,
            role,
            edit_only: resource.zip(filter.as_ref()).is_some_and(|(r, filter)| edit_only::filters(r, filter)),
            filter,
            words,
            aliases,
            accepts,
            accepted,
            sentence_only: source.get("x-meta") == Some(&json!(true)),
            shown: Value::Object(shown),
        })
    }

    fn word_limit(&mut self, words: &Value, place: &Declared) -> Option<WordLimit> {
        let most = words.get("max").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        let phrase = match words.get("overflow").and_then(Value::as_str) {
            Some("phrase") => Some(true),
            Some("refuse") => Some(false),
            _ => None,
        };
        let limit = most.zip(phrase).map(|(most, phrase)| WordLimit { most, phrase });
        if limit.is_none() {
            let hint = "write { max = 20, overflow = \"refuse\" } or { max = 9, overflow = \"phrase\" }";
            self.report(place, "x-search-words", "not a limit of words".into(), Some(hint.into()));
        }
        limit
    }

    fn check_orderby(&mut self, doc: &SchemaDoc, resource: &Resource, place: &Declared) {
        for value in doc.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if resource.stores_rows() && !resource.sort.contains_key(value) {
                let hint = format!("add `{value} = \"a column\"` to [resources.{}.sort]", resource.name);
                self.report(place, "enum", format!("orderby offers `{value}`, which has no sort key"), Some(hint));
            }
        }
    }

    fn filter(&mut self, filter: &Value, resource: Option<&Resource>, place: &Declared) -> Option<Filter> {
        if let Some(query) = filter.get("query").and_then(Value::as_str) {
            let names = self.vocabulary.queries.clone();
            let found = names.iter().position(|n| *n == query);
            if found.is_none() {
                let hint = nearest(query, names.iter().copied());
                self.report(place, "x-filter", format!("unknown query behaviour `{query}`"), hint);
            }
            let params = filter.as_object().cloned().unwrap_or_default();
            return Some(Filter::Query { behaviour: Behaviour(found?), params });
        }
        let resource = resource?;
        let column = filter.get("column").and_then(Value::as_str).unwrap_or_default();
        let op = filter.get("op").and_then(Value::as_str).unwrap_or("eq");
        let Some(plan_column) = resource.plan_column(column) else {
            let hint = nearest(column, resource.column_index.keys().map(String::as_str));
            self.report(place, "x-filter", format!("`{}` has no column `{column}`", resource.name), hint);
            return None;
        };
        let Some((_, op)) = FilterOp::ALL.iter().find(|(n, _)| *n == op) else {
            let hint = nearest(op, FilterOp::ALL.iter().map(|(n, _)| *n));
            self.report(place, "x-filter", format!("unknown operator `{op}`"), hint);
            return None;
        };
        let first = filter.get("first") == Some(&json!(true));
        Some(Filter::Column { column: plan_column, op: *op, first })
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

// ------------------------------------------------------------------------------------------------ pure parts

/// A pattern as the router matches it, and the names of its captures.
fn compile_pattern(pattern: &str) -> Result<(regex::bytes::Regex, Vec<String>), String> {
    let matcher = regex::bytes::RegexBuilder::new(&format!("^(?:{pattern})$"))
        .unicode(false)
        .case_insensitive(true)
        .build()
        .map_err(|e| e.to_string().lines().last().unwrap_or("").trim().to_owned())?;
    let captures = matcher.capture_names().flatten().map(str::to_owned).collect();
    Ok((matcher, captures))
}

fn merge_arg(docs: &mut IndexMap<String, (SchemaDoc, Declared)>, arg: &str, change: &SchemaDoc, place: Declared) {
    match docs.get_mut(arg) {
        Some((doc, at)) => {
            for (key, value) in change {
                if value == &Value::Bool(false) && key != "default" && key != "required" {
                    doc.shift_remove(key);
                } else {
                    doc.insert(key.clone(), value.clone());
                }
            }
            *at = place;
        }
        None => {
            docs.insert(arg.to_owned(), (change.clone(), place));
        }
    }
}

fn key_doc(capture: &str, resource: Option<&Resource>) -> SchemaDoc {
    let text = resource.is_some_and(|r| r.key_is_text && capture == &*r.key);
    let doc = json!({
        "description": format!("The {capture} in the path."),
        "type": if text { "string" } else { "integer" },
    });
    doc.as_object().cloned().unwrap_or_default()
}

/// What a record's password locks unless the schema says otherwise (`x-password-protected`): its long texts and its meta.
fn is_content(resource: &Resource, doc: &Value) -> bool {
    let word = |word: &str| doc.get(word).and_then(Value::as_str).unwrap_or_default();
    resource.family == Family::Content
        && (doc.get("x-meta") == Some(&json!(true))
            || matches!(word("x-column"), "content" | "excerpt")
            || matches!(word("x-read"), "content.rendered" | "excerpt.rendered"))
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

/// What holds of values that are accepted although the schema does not describe them: the bounds of the text that they
/// stand for, which is the argument's own or its `raw`. `None`: only values without extent are accepted.
fn accepted_bounds(source: &Value, accepts: &[String]) -> Option<Value> {
    if !accepts.iter().any(|kind| matches!(kind.as_str(), "string" | "array" | "object")) {
        return None;
    }
    let raw = source.get("properties").and_then(|properties| properties.get("raw")).unwrap_or(source);
    let words =
        ["maxLength", "x-max-bytes", "x-too-long-code"].iter().filter_map(|word| Some((*word, raw.get(*word)?)));
    let mut bounds: Map<String, Value> = words.map(|(word, value)| (word.to_owned(), value.clone())).collect();
    let inner = Value::Object(bounds.clone());
    bounds.insert("properties".into(), json!({"raw": inner}));
    Some(Value::Object(bounds))
}

/// Takes `maxLength` and `maxItems` out of what is shown of an argument.
fn without_bounds(shown: &mut Map<String, Value>) {
    shown.shift_remove("maxLength");
    shown.shift_remove("maxItems");
    let inner = shown.get_mut("items").and_then(Value::as_object_mut);
    inner.into_iter().for_each(without_bounds);
    for key in ["properties", "oneOf", "anyOf"] {
        match shown.get_mut(key) {
            Some(Value::Object(members)) => {
                members.values_mut().filter_map(Value::as_object_mut).for_each(without_bounds);
            }
            Some(Value::Array(list)) => list.iter_mut().filter_map(Value::as_object_mut).for_each(without_bounds),
            _ => {}
        }
    }
}

/// The schema that OPTIONS shows.
fn shown_schema(schema: &Value, resource: &Resource, dialect: Dialect) -> Value {
    let mut shown = match without_x_words(schema) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    shown.entry("$schema").or_insert_with(|| json!("http://json-schema.org/draft-04/schema#"));
    shown.entry("title").or_insert_with(|| json!(resource.api_name));
    shown.entry("type").or_insert_with(|| json!("object"));
    if !resource.declared.schema_links.is_empty() {
        shown.insert("links".into(), Value::Array(resource.declared.schema_links.clone()));
    }
    if let Some(properties) = shown.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, doc) in properties.iter_mut() {
            if let Some(doc) = doc.as_object_mut() {
                doc.shift_remove("arg_options");
                // TOML cannot say null, and meta keys are declared beside the schema.
                let declared = schema.get("properties").and_then(|p| p.get(name));
                if declared.and_then(|d| d.get("x-meta")) == Some(&json!(true)) {
                    doc.extend(meta_properties(resource, without_x_words));
                    show_no_meta(doc, dialect);
                }
                if declared.and_then(|d| d.get("x-default-null")) == Some(&json!(true)) {
                    doc.insert("default".into(), Value::Null);
                }
            }
        }
    }
    Value::Object(shown)
}

/// Where empty lists pass for empty maps, one shows that no meta is registered.
fn show_no_meta(doc: &mut Map<String, Value>, dialect: Dialect) {
    if dialect.empty_list_as_object {
        doc.entry("properties").or_insert_with(|| json!([]));
    }
}

/// Registered meta as the `properties` of the `meta` object; nothing where none is registered.
fn meta_properties(resource: &Resource, written: impl Fn(&Value) -> Value) -> Option<(String, Value)> {
    let doc = |meta: &declaration::Meta| {
        let one = written(&Value::Object(meta.schema.clone()));
        if meta.single { one } else { json!({"type": "array", "items": one}) }
    };
    let registered: Map<String, Value> =
        resource.declared.meta.iter().map(|(key, meta)| (key.clone(), doc(meta))).collect();
    (!registered.is_empty()).then(|| ("properties".to_owned(), Value::Object(registered)))
}

/// The columns that searches look into, by table: of content and of what the site declares for itself.
fn searched(resources: &[Resource]) -> Vec<(crate::storage::plan::Name, Vec<crate::storage::plan::Name>)> {
    let mut all: IndexMap<crate::storage::plan::Name, Vec<crate::storage::plan::Name>> = IndexMap::new();
    for resource in resources.iter().filter(|r| matches!(r.family, Family::Content | Family::Plain) && !r.key_is_text) {
        let columns = all.entry(resource.table.clone()).or_default();
        for column in resource.search.values().filter(|column| !column.contains('.')) {
            if !columns.contains(column) && *column != resource.key {
                columns.push(column.clone());
            }
        }
        columns.sort();
    }
    all.into_iter().filter(|(_, columns)| !columns.is_empty()).collect()
}

/// What a declared lifetime is in headers.
fn cache_control(declared: &declaration::CacheControl) -> (String, Option<String>) {
    let mut value = format!("public, max-age={}", declared.max_age.map_or(0, |age| age.seconds()));
    let stale = declared.stale_while_revalidate;
    for (word, age) in [("s-maxage", declared.shared_max_age), ("stale-while-revalidate", stale)] {
        if let Some(age) = age {
            value.push_str(&format!(", {word}={}", age.seconds()));
        }
    }
    (value, declared.tag_header.clone())
}

/// Links of the schema name the REST base as `{base}`.
fn schema_links(resources: &mut [Resource], rest_url: &str) {
    for resource in resources {
        for link in resource.schema.get_mut("links").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(href) = link.get("href").and_then(Value::as_str).map(|h| h.replace("{base}", rest_url)) {
                link["href"] = Value::String(href);
            }
        }
    }
}

/// What every item links to unless the declarations say otherwise.
fn usual_links() -> [Link; 2] {
    let link = |rel: &str, piece: HrefPiece| Link {
        rel: rel.to_owned(),
        target: Target::Template(vec![piece]),
        embeddable: false,
        attrs: Map::new(),
        when: declaration::When::default(),
        when_column: None,
        absolute: false,
    };
    [link("self", HrefPiece::SelfPath), link("collection", HrefPiece::CollectionPath)]
}

fn relation_link(resource: &Resource, relation: &Relation) -> Option<Link> {
    let target = if relation.many {
        Target::Collection {
            resource: relation.to,
            query: vec![("include".into(), QueryValue::Literal(format!("@{}", relation.property)))],
        }
    } else {
        Target::Item { resource: relation.to, column: resource.column(&relation.property)? }
    };
    Some(Link {
        rel: relation.property.clone(),
        absolute: false,
        when_column: if relation.many { None } else { resource.column(&relation.property) },
        target,
        embeddable: true,
        attrs: Map::new(),
        when: declaration::When::default(),
    })
}

/// Columns that an argument of the resource filters or sorts by.
fn filtered_columns(resource: &Resource) -> HashSet<String> {
    let mut columns: HashSet<String> =
        resource.declared.sort.values().filter(|c| !c.starts_with('@')).cloned().collect();
    for args in resource.declared.endpoints.values() {
        for doc in args.values() {
            let column = doc.get("x-filter").and_then(|f| f.get("column")).and_then(Value::as_str);
            columns.extend(column.map(str::to_owned));
        }
    }
    columns.extend(resource.declared.owner.clone());
    columns
}

fn has_source(doc: &Value) -> bool {
    ["x-column", "x-read", "x-handler-property", "x-meta", "x-relation", "x-input-only"]
        .iter()
        .any(|w| doc.get(w).is_some())
        || doc.get("properties").and_then(Value::as_object).is_some_and(|c| c.values().any(has_source))
}

fn types_of(doc: &Value) -> Vec<&str> {
    match doc.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn kind_of(doc: &Value) -> Kind {
    match types_of(doc).into_iter().find(|t| *t != "null") {
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("array" | "object") => Kind::Json,
        Some("string") if doc.get("format").is_some_and(|f| f == "date-time") => Kind::Time,
        _ => Kind::Text,
    }
}

fn contexts_of(doc: &Value) -> Context {
    match doc.get("context").and_then(Value::as_array) {
        None => Context::ALL,
        Some(list) => {
            Context(list.iter().filter_map(Value::as_str).filter_map(Context::parse).fold(0, |bits, c| bits | c.0))
        }
    }
}

fn aliases_of(doc: &Value) -> Vec<(String, String)> {
    let map = doc.get("x-value-map").and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}

fn strings(value: Option<&Value>) -> Vec<String> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
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

fn ident(kind: &str) -> String {
    kind.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

fn is_ident(column: &str) -> bool {
    !column.is_empty()
        && column.len() <= 60
        && column.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !column.starts_with(|c: char| c.is_ascii_digit())
}
