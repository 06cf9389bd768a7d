//! Routes and their endpoints, and what counts them.

use super::super::args::ArgSet;
use super::super::path_matcher::PathMatcher;
use super::super::path_template::PathTemplate;
use super::super::resource::*;
use super::super::vocabulary::{Description, families, names};
use super::super::{Behaviour, Endpoint, Route, edit_only, without_x_words};
use super::argument::example;
use super::{ArgOrigin, Linker, extend, refs};
use crate::model::Method;
use cms_config::check::suggestion;
use cms_declaration as declaration;
use cms_schema::Dialect;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

impl Linker<'_> {
    pub(super) fn routes(&mut self, resources: &[Resource]) -> Vec<Route> {
        let mut routes: Vec<Route> = Vec::new();
        let declared = self.declared;
        for (i, route) in declared.routes.iter().enumerate() {
            let i = i.to_string();
            let namespace = match &route.namespace {
                None => String::new(),
                Some(wanted) => match declared.namespaces.get(wanted) {
                    Some(namespace) => namespace.path.clone(),
                    None => {
                        let names: Vec<&str> = declared.namespaces.keys().map(String::as_str).collect();
                        self.known(&["routes", &i, "namespace"], "namespace", wanted, &names);
                        continue;
                    }
                },
            };
            let resource = route.resource.as_ref().and_then(|wanted| resources.iter().find(|r| r.name == *wanted));
            let path = ["routes".to_owned(), i];
            routes.extend(self.route(route, &namespace, "", resource, resources, &path));
        }
        for resource in resources {
            for (i, set) in resource.declared.routes.iter().enumerate() {
                let Some(list) = declared.route_sets.get(set) else {
                    let names: Vec<&str> = declared.route_sets.keys().map(String::as_str).collect();
                    let path = ["resources", &resource.name, "routes", &i.to_string()];
                    self.known(&path, "route set", set, &names);
                    continue;
                };
                for (i, route) in list.iter().enumerate() {
                    let path = ["route_sets".to_owned(), set.clone(), i.to_string()];
                    let (namespace, base) = (&resource.namespace, &resource.base);
                    routes.extend(self.route(route, namespace, base, Some(resource), resources, &path));
                }
            }
        }
        self.duplicates(&routes, resources);
        self.unused(resources);
        routes
    }

    /// Links the route sets that no resource lists and the groups of arguments that no endpoint names, to find their
    /// problems before somebody uses them.
    pub(super) fn unused(&mut self, resources: &[Resource]) {
        let declared = self.declared;
        let listed = |set: &String| declared.resources.values().any(|resource| resource.routes.contains(set));
        for (set, routes) in declared.route_sets.iter().filter(|(set, _)| !listed(set)) {
            for (i, route) in routes.iter().enumerate() {
                let path = ["route_sets".to_owned(), set.clone(), i.to_string()];
                self.route(route, "", set, None, resources, &path);
            }
        }
        let routes = declared.route_sets.values().flatten().chain(&declared.routes);
        let named: HashSet<&String> = routes.flat_map(|route| &route.endpoints).flat_map(|e| &e.args).collect();
        for (group, args) in declared.args.iter().filter(|(group, _)| !named.contains(group)) {
            for (arg, doc) in args {
                let place = ArgOrigin::Config(vec!["args".into(), group.clone(), arg.clone()]);
                self.arg(arg, doc.clone(), (None, &[]), (&place, false), self.dialect);
            }
        }
    }

    pub(super) fn duplicates(&mut self, routes: &[Route], resources: &[Resource]) {
        let mut seen = HashMap::new();
        for route in routes {
            for endpoint in &route.endpoints {
                for method in &endpoint.methods {
                    let Some(first) = seen.insert((route.pattern.to_lowercase(), *method), route.owner) else {
                        continue;
                    };
                    let first = first.map_or("`routes`".to_owned(), |owner| format!("`{}`", resources[owner].name));
                    let message = format!("{} {} is declared by {first} already", method.as_str(), route.pattern);
                    match route.owner {
                        Some(owner) => self.problem(&["resources", &resources[owner].name, "routes"], message, None),
                        None => self.problem(&["routes"], message, None),
                    }
                }
            }
        }
    }

    pub(super) fn route(
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
            Some(wanted) => Some(&resources[self.resource_named(&extend(&refs(path), "resource"), wanted)?]),
        };
        let below = route.path.replace("{base}", base);
        let separator = if below.starts_with('/') || below.is_empty() { "" } else { "/" };
        let pattern = if namespace.is_empty() { below } else { format!("/{namespace}{separator}{below}") };
        let mut at = refs(path);
        let (matcher, captures) = match PathMatcher::of(&pattern) {
            Ok(compiled) => compiled,
            Err(message) => {
                at.push("path");
                self.problem(&at, format!("the path is not a regular expression: {message}"), None);
                return None;
            }
        };
        let mut endpoints = Vec::new();
        for (i, endpoint) in route.endpoints.iter().enumerate() {
            let mut at: Vec<String> = path.to_vec();
            at.extend(["endpoints".to_owned(), i.to_string()]);
            endpoints.extend(self.endpoint(endpoint, (resource, shown, resources), &captures, &at));
        }
        Some(Route {
            template: PathTemplate::of(&pattern),
            pattern,
            matcher,
            captures,
            namespace: namespace.to_owned(),
            resource: shown.map(|r| r.index),
            owner: resource.map(|r| r.index),
            no_schema: route.no_schema,
            secure_context: route.secure_context,
            described: route.described,
            hidden: route.hidden || self.declared.namespaces.values().any(|n| n.hidden && n.path == namespace),
            schema: shown.zip(resource).filter(|(s, o)| s.index != o.index).map(|(s, o)| self.schema_below(s, o)),
            examples: Map::new(),
            endpoints,
        })
    }

    /// The schema of what hangs below another resource's items: properties marked `x-inherit` are the owner's.
    pub(super) fn schema_below(&self, shown: &Resource, owner: &Resource) -> Value {
        if shown.declared.inherit_properties {
            let mut schema = owner.schema.clone();
            let own = shown.schema["properties"].as_object().cloned().unwrap_or_default();
            if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
                properties.extend(own);
            }
            return schema;
        }
        let mut schema = shown.schema.clone();
        schema["title"] = json!(format!("{}-revision", owner.api_name));
        if !self.declared.dialect.revisions_of_texts
            && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
        {
            let held = owner.properties.iter().filter(|property| property.is_versioned());
            for name in held.map(|property| &property.name).filter(|name| shown.property(name).is_none()) {
                properties.extend(owner.schema["properties"].get(name).map(|own| (name.clone(), own.clone())));
            }
        }
        let declared = self.schema(&shown.declared.schema).and_then(|s| s.get("properties"));
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

    pub(super) fn endpoint(
        &mut self,
        endpoint: &declaration::Endpoint,
        (resource, shown, resources): (Option<&Resource>, Option<&Resource>, &[Resource]),
        captures: &[String],
        path: &[String],
    ) -> Option<Endpoint> {
        let at = refs(path);
        let mut methods = Vec::new();
        for (i, method) in endpoint.methods.iter().enumerate() {
            methods.extend(self.method(&[&at[..], &["methods", &i.to_string()]].concat(), method));
        }
        let handler =
            self.known(&extend(&at, "handler"), "handler", &endpoint.handler, &names(&self.vocabulary.handlers));
        let (guard_name, guard_param) = match endpoint.access.split_once(':') {
            Some((guard, param)) => (guard, param),
            None => (endpoint.access.as_str(), ""),
        };
        let guard = self.known(&extend(&at, "access"), "guard", guard_name, &names(&self.vocabulary.guards));
        if let (Some(handler), Some(guard)) = (handler, guard) {
            self.fit(handler, guard, guard_param, shown, &at);
        }
        let codes = self.codes(&extend(&at, "codes"), &endpoint.codes);
        let docs = self.arg_docs(endpoint, resource, captures, &at);
        let null_as_empty = self.declared.dialect.null_as_empty;
        let mut args = ArgSet { null_as_empty, ..ArgSet::default() };
        let dialect = self.dialect_of(&methods);
        let sound = self.has_shipped_args(endpoint, resource, &at);
        for (arg, (doc, place)) in docs {
            args.args.extend(self.arg(&arg, doc, (resource, resources), (&place, sound), dialect));
        }
        args.edit_only = resource.is_some_and(|resource| edit_only::uses_edit_context(resource, &args));
        if let Some(resource) = resource.filter(|resource| !resource.guarded.is_empty()) {
            args.edit_only = true;
            self.guarded_defaults(resource, &args, endpoint.name.as_deref().unwrap_or_default());
        }
        Some(Endpoint {
            name: endpoint.name.clone(),
            methods,
            handler: Behaviour(handler?),
            role: self.vocabulary.handlers[handler?].role,
            guard: Behaviour(guard?),
            guard_param: guard_param.to_owned(),
            codes,
            editors_only: endpoint.editors_only && resource.is_none_or(|resource| resource.declared.editors_only),
            cache: endpoint
                .cache_control
                .as_ref()
                .or(resource.and_then(|r| r.declared.cache_control.as_ref()))
                .map(cache_control),
            args,
            batch: endpoint.batch,
            file: endpoint.file,
            no_page_links: endpoint.no_page_links,
            max_upload: endpoint.max_upload.map(|most| most.bytes()),
            credentials: endpoint.credentials,
            drafts: self.vocabulary.guards[guard?].drafts,
            export: endpoint.export.clone(),
            envelope: endpoint.envelope,
            forwards: endpoint.forwards,
            limits: Vec::new(),
            audit: endpoint.audit.clone(),
        })
    }

    /// Whether nothing that the documents of an endpoint's arguments follow from is the user's, so that they are sound.
    fn has_shipped_args(&self, endpoint: &declaration::Endpoint, resource: Option<&Resource>, at: &[&str]) -> bool {
        let untouched = |path: &[&str]| self.loaded.is_untouched(path);
        untouched(&at[..at.len().min(2)])
            && ["bounds", "dialect", "per_taxonomy"].iter().all(|table| untouched(&[table]))
            && endpoint.args.iter().all(|group| untouched(&["args", group]))
            && resource.is_none_or(|resource| self.loaded.is_untouched_resource(&resource.name))
    }

    /// A handler and a guard work on the same rows, and on the resource that the route shows.
    fn fit(&mut self, handler: usize, guard: usize, param: &str, shown: Option<&Resource>, at: &[&str]) {
        let vocabulary = self.vocabulary;
        let (handler, guard) = (&vocabulary.handlers[handler], &vocabulary.guards[guard]);
        for (key, what, is) in [("handler", "handler", handler), ("access", "guard", guard)] {
            match shown {
                _ if is.serves.is_empty() => {}
                // A set that no resource takes over has none yet.
                None if at.first() == Some(&"route_sets") => {}
                None => {
                    let message = format!("the {what} `{}` works on a resource, and the route has none", is.name);
                    self.problem(&extend(at, key), message, Some("name one with `resource`".into()));
                }
                Some(shown) if !is.fits(shown.family) => {
                    let message = format!(
                        "the {what} `{}` works on the families {}; `{}` is {}",
                        is.name,
                        families(is.serves),
                        shown.name,
                        shown.family
                    );
                    self.problem(&extend(at, key), message, None);
                }
                Some(_) => {}
            }
        }
        if !guard.rows.cover(handler.rows) {
            let fit = |other: &&Description| {
                other.rows.cover(handler.rows) && shown.is_none_or(|shown| other.fits(shown.family))
            };
            let fitting: Vec<&str> = vocabulary.guards.iter().filter(fit).map(|guard| guard.name).collect();
            let message = format!(
                "the handler `{}` needs a guard that loads the {}, and `{}` does not",
                handler.name,
                handler.rows.text(),
                guard.name
            );
            self.problem(&extend(at, "access"), message, Some(format!("these do: {}", fitting.join(", "))));
        }
        if guard.param.is_some() == param.is_empty() {
            let message = match guard.param {
                Some(meaning) => format!("the guard `{0}` is written `{0}:{meaning}`", guard.name),
                None => format!("the guard `{}` takes nothing behind a colon", guard.name),
            };
            self.problem(&extend(at, "access"), message, None);
        }
    }

    /// How an endpoint's arguments are read: the usual number of items is for what writes bring, reads declare theirs.
    pub(super) fn dialect_of(&self, methods: &[Method]) -> Dialect {
        let mut dialect = self.dialect;
        if methods.iter().all(|method| *method == Method::Get) {
            dialect.bounds.items = None;
        }
        dialect
    }

    /// Gives routes without a resource the schemas declared for them; what is left are those of the indexes.
    pub(super) fn route_schemas(&mut self, routes: &mut [Route]) -> HashMap<String, Value> {
        let declared = self.declared;
        let mut indexes = HashMap::new();
        for (path, file) in &declared.route_schemas {
            // The loader has told why a file cannot be read.
            let Some(schema) = self.schema(file) else { continue };
            self.compile_schema(file, schema);
            let shown = without_x_words(schema);
            if path == EVERY_NAMESPACE {
                for namespace in declared.namespaces.values().map(|namespace| format!("/{}", namespace.path)) {
                    indexes.entry(namespace).or_insert_with(|| shown.clone());
                }
                continue;
            }
            if path == "/" || declared.namespaces.values().any(|n| path.strip_prefix('/') == Some(&n.path)) {
                indexes.insert(path.clone(), shown);
                continue;
            }
            match routes.iter_mut().find(|r| r.resource.is_none() && r.pattern == *path) {
                Some(route) => (route.schema, route.examples) = (Some(shown), named_examples(schema)),
                None => {
                    let alone = routes.iter().filter(|r| r.resource.is_none()).map(|r| r.pattern.as_str());
                    let hint = suggestion(path, alone.collect::<Vec<_>>());
                    let message = format!("no route without a resource has the path `{path}`");
                    self.problem(&["route_schemas", path], message, hint);
                }
            }
        }
        indexes
    }
}

/// The documents that `x-examples` of a schema names: what each says, and the `x-example` of every other property.
fn named_examples(schema: &Value) -> Map<String, Value> {
    let named = schema["x-examples"].as_object().into_iter().flatten();
    let usual = schema.as_object().and_then(example);
    let whole = |(name, own): (&String, &Value)| {
        let mut document = usual.clone().unwrap_or_default();
        let members = document.as_object_mut().zip(own.as_object());
        members.into_iter().for_each(|(all, own)| all.extend(own.clone()));
        (name.clone(), document)
    };
    named.map(whole).collect()
}

/// Key of the schema of namespaces that have none of their own.
const EVERY_NAMESPACE: &str = "/*";

/// The headers for a declared lifetime.
pub(super) fn cache_control(declared: &declaration::CacheControl) -> (String, Option<String>) {
    let mut value = format!("public, max-age={}", declared.max_age.map_or(0, |age| age.seconds()));
    let stale = declared.stale_while_revalidate;
    for (word, age) in [("s-maxage", declared.shared_max_age), ("stale-while-revalidate", stale)] {
        if let Some(age) = age {
            value.push_str(&format!(", {word}={}", age.seconds()));
        }
    }
    (value, declared.tag_header.clone())
}
