//! The documents that describe the service: root, namespaces, OPTIONS. Rendered from the registry when they are requested.
//!
//! Contract: "What the service does" 5, 6; "Root and discovery".

use crate::access::policy;
use crate::model::Method;
use crate::registry::guarded::GuardedField;
use crate::registry::{Endpoint, Registry, Route};
use crate::scope::Scope;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The responses to OPTIONS of the routes, by position in the registry: the JSON text of an object, once it was requested.
pub struct Discovery(Vec<OnceLock<Box<str>>>);

impl Discovery {
    /// None of them yet.
    pub fn new(registry: &Registry) -> Discovery {
        Discovery(registry.routes.iter().map(|_| OnceLock::new()).collect())
    }

    /// The OPTIONS document of a route as JSON text; `path` is the one requested, for `self`.
    pub fn options(&self, scope: &Scope, index: usize, path: &str) -> String {
        let route = &scope.registry.routes[index];
        let text = self.0[index].get_or_init(|| described(&scope.registry, route).to_string().into());
        let linked = !scope.registry.declaration.dialect.options_without_route || route.captures.is_empty();
        match text.strip_suffix('}').filter(|_| linked) {
            Some(members) => {
                let own = scope.registry.rest(path.trim_end_matches('/'));
                let links = json!({"self": [{"href": own}]}).to_string();
                [members, ",\"_links\":", &links, "}"].concat()
            }
            None => text.to_string(),
        }
    }
}

/// The OPTIONS document of a route as the caller may use it: without the properties that the caller may not read, and those that
/// the caller may not write are read-only and no arguments of requests that write.
pub fn for_caller(scope: &Scope, route: &Route, text: String) -> String {
    let of = [route.owner, route.resource].into_iter().flatten().map(|index| &scope.registry.resources[index]);
    let fields = of.flat_map(|resource| &resource.guarded);
    let limited = fields
        .filter(|field| !policy::reads_field(scope, &field.rights) || !policy::writes_field(scope, &field.rights));
    let limited: Vec<&GuardedField> = limited.collect();
    if limited.is_empty() {
        return text;
    }
    let Ok(mut document) = serde_json::from_str::<Value>(&text) else { return text };
    for field in limited {
        let (reads, writes) = (policy::reads_field(scope, &field.rights), policy::writes_field(scope, &field.rights));
        if let Some(properties) = field_around(field, &mut document["schema"]["properties"]) {
            match properties.get_mut(field.own_name()).and_then(Value::as_object_mut) {
                Some(schema) if reads => drop(schema.insert("readonly".into(), json!(true))),
                _ => drop(properties.shift_remove(field.own_name())),
            }
        }
        let written = document["endpoints"].as_array_mut().into_iter().flatten().filter(|_| !writes);
        for endpoint in written.filter(|endpoint| endpoint["methods"] != json!([Method::Get.as_str()])) {
            if let Some(args) = field_around(field, &mut endpoint["args"]) {
                args.shift_remove(field.own_name());
            }
        }
    }
    document.to_string()
}

/// The schemas among which that of a field is: those of properties, or of the values of meta.
fn field_around<'d>(field: &GuardedField, schemas: &'d mut Value) -> Option<&'d mut Map<String, Value>> {
    match field.key {
        None => schemas.as_object_mut(),
        Some(_) => schemas.get_mut(&field.property)?.get_mut("properties")?.as_object_mut(),
    }
}

/// The OPTIONS document of the root or of a namespace.
pub fn index_options(registry: &Registry, path: &str) -> Option<Value> {
    let wanted = format!("/{}", path.trim_matches('/'));
    let at = indexes(registry).find(|at| at.eq_ignore_ascii_case(&wanted))?;
    let mut described = index(registry, &at);
    if let Some((schema, map)) = registry.index_schemas.get(&at).zip(described.as_object_mut()) {
        map.insert("schema".into(), schema.clone());
    }
    Some(described)
}

/// Paths of the root and the namespaces, which every registry has.
fn indexes(registry: &Registry) -> impl Iterator<Item = String> {
    std::iter::once("/".to_owned()).chain(registry.namespaces.iter().map(|namespace| format!("/{namespace}")))
}

/// The routes of a namespace (or all of them) by pattern.
fn routes(scope: &Scope, namespace: Option<&str>) -> Map<String, Value> {
    let (registry, secure) = (&scope.registry, scope.secure());
    let own = indexes(registry).filter(|at| namespace.is_none_or(|n| at.trim_start_matches('/') == n));
    let mut routes: Map<String, Value> = own.map(|at| (at.clone(), index(registry, &at))).collect();
    let shown = registry
        .routes
        .iter()
        .filter(|route| !route.hidden && namespace.is_none_or(|n| route.namespace == n))
        .filter(|route| secure || !route.secure_context);
    routes.extend(shown.map(|route| (route.pattern.clone(), listed(registry, route))));
    routes
}

/// The site's name, addresses, namespaces and routes.
pub fn root(scope: &Scope, authentication: Value) -> Value {
    let (registry, settings) = (&scope.registry, &scope.settings);
    let offset = settings.zone.offset_hours_at(scope.now);
    let offset = if offset.fract() == 0.0 { json!(offset as i64) } else { json!(offset) };
    let mut root = Map::new();
    root.insert("name".into(), json!(settings.text("title")));
    root.insert("description".into(), json!(settings.text("description")));
    root.insert("url".into(), json!(registry.site.url));
    root.insert("home".into(), json!(registry.site.front));
    root.insert("gmt_offset".into(), offset);
    let zone = if settings.zone.is_named() { settings.zone.name() } else { "" };
    root.insert("timezone_string".into(), json!(zone));
    root.insert("page_for_posts".into(), json!(settings.int("page_for_posts")));
    root.insert("page_on_front".into(), json!(settings.int("page_on_front")));
    let front = settings.text("show_on_front");
    root.insert("show_on_front".into(), json!(if front.is_empty() { "posts" } else { front }));
    root.insert("namespaces".into(), json!(registry.namespaces));
    root.insert("authentication".into(), authentication);
    root.insert("routes".into(), Value::Object(routes(scope, None)));
    root.insert("site_logo".into(), json!(settings.int("site_logo")));
    root.insert("site_icon".into(), json!(settings.int("site_icon")));
    root.insert("site_icon_url".into(), json!(""));
    root.extend(picture_processing(scope));
    let help = format!("{}/", registry.site.rest_url);
    root.insert("_links".into(), json!({"help": [{"href": help}]}));
    Value::Object(root)
}

/// How pictures are processed, for callers who upload and make copies themselves.
fn picture_processing(scope: &Scope) -> Map<String, Value> {
    let media = &scope.registry.declaration.media;
    let told = media.described_to.get().is_some_and(|capability| scope.principal.can(capability));
    if !told || !scope.secure() {
        return Map::new();
    }
    let sizes = media
        .sizes
        .iter()
        .map(|(name, size)| (name.clone(), json!({"width": size.width, "height": size.height, "crop": size.crop})));
    Map::from_iter([
        ("image_sizes".to_owned(), Value::Object(sizes.collect())),
        ("image_size_threshold".to_owned(), json!(media.max_side.get().copied().unwrap_or(0))),
        // Copies bring no metadata along.
        ("image_strip_meta".to_owned(), json!(true)),
        ("image_max_bit_depth".to_owned(), json!(media.max_bit_depth)),
    ])
}

/// A namespace and its routes.
pub fn namespace(scope: &Scope, namespace: &str) -> Value {
    let routes = routes(scope, Some(namespace));
    json!({
        "namespace": namespace,
        "routes": routes,
        "_links": {"up": [{"href": format!("{}/", scope.registry.site.rest_url)}]},
    })
}

fn listed(registry: &Registry, route: &Route) -> Value {
    let mut map = base(registry, route);
    // A pattern is no address to follow.
    if route.captures.is_empty() {
        map.insert("_links".into(), json!({"self": [{"href": registry.rest(&route.pattern)}]}));
    }
    Value::Object(map)
}

fn described(registry: &Registry, route: &Route) -> Value {
    let mut map = base(registry, route);
    let of_resource = route.resource.filter(|_| !route.no_schema).map(|r| &registry.resources[r].schema);
    if let Some(schema) = route.schema.as_ref().filter(|_| !route.no_schema).or(of_resource) {
        map.insert("schema".into(), schema.clone());
    }
    Value::Object(map)
}

fn base(registry: &Registry, route: &Route) -> Map<String, Value> {
    let mut methods: Vec<&str> = Vec::new();
    for method in route.endpoints.iter().flat_map(|e| &e.methods) {
        if !methods.contains(&method.as_str()) {
            methods.push(method.as_str());
        }
    }
    let endpoints: Vec<Value> = route.endpoints.iter().map(|one| endpoint(registry, one)).collect();
    let mut map = Map::new();
    map.insert("namespace".into(), json!(route.namespace));
    map.insert("methods".into(), json!(methods));
    map.insert("endpoints".into(), json!(endpoints));
    map
}

fn endpoint(registry: &Registry, endpoint: &Endpoint) -> Value {
    let methods: Vec<&str> = endpoint.methods.iter().map(|m| m.as_str()).collect();
    let listed = endpoint.args.args.iter().filter(|arg| arg.listed);
    let args: Map<String, Value> = listed.map(|arg| (arg.name.clone(), Value::clone(&arg.shown))).collect();
    let mut map = Map::new();
    map.insert("methods".into(), json!(methods));
    if let Some(allowed) = endpoint.batch {
        map.insert("allow_batch".into(), json!({"v1": allowed}));
    }
    // Where empty lists pass for empty maps, one shows that there are no arguments.
    let none = args.is_empty() && registry.declaration.dialect.empty_list_as_object;
    map.insert("args".into(), if none { json!([]) } else { Value::Object(args) });
    Value::Object(map)
}

/// A description of the root or of a namespace.
fn index(registry: &Registry, at: &str) -> Value {
    let mut args = Map::new();
    let namespace = at.trim_start_matches('/');
    if !namespace.is_empty() {
        let description = "The namespace that is described.";
        let doc = json!({"description": description, "type": "string", "default": namespace, "required": false});
        args.insert("namespace".into(), doc);
    }
    let description = "Which fields the response contains.";
    let doc = json!({"description": description, "type": "string", "default": "view", "required": false});
    args.insert("context".into(), doc);
    json!({
        "namespace": namespace,
        "methods": ["GET"],
        "endpoints": [{"methods": ["GET"], "args": args}],
        "_links": {"self": [{"href": registry.rest(at)}]},
    })
}
