//! The description: the site, the states, and the resources that the caller may list or edit, with the operations that they
//! may use for some records at least. Its texts are in the language that the caller asks for, where there are translations.

use super::texts;
use crate::access::policy;
use crate::error::ApiError;
use crate::families;
use crate::features::HANDLERS;
use crate::features::service_description::{may_use, may_use_with};
use crate::handlers::{Outcome, Work};
use crate::model::Method;
use crate::registry::args::ArgRole;
use crate::registry::path_template::Parameter;
use crate::registry::resource::Resource;
use crate::registry::views::{self, NAMING, humanize_name, state_label};
use crate::registry::vocabulary::HandlerRole;
use crate::registry::{Endpoint, Registry, Route};
use cms_declaration::translations::Translator;
use cms_declaration::{Action, CommentStatus};
use cms_text::sanitize::unescape;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Place of a resource that declares none.
const ORDER: i64 = 100;

/// The description.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let registry = &work.scope.registry;
    let mut shown: Vec<ConsoleResource<'_>> = Vec::new();
    for resource in &registry.resources {
        shown.extend(ConsoleResource::of(work, resource));
    }
    let places: Vec<&String> = registry.declaration.view_groups.keys().collect();
    let place = |group: &str| places.iter().position(|own| *own == group).unwrap_or(places.len());
    shown.sort_by_key(|one| (place(&one.group), one.resource.declared.view.order.unwrap_or(ORDER)));
    let used: HashSet<&str> = shown.iter().map(|one| one.group.as_str()).collect();
    let groups = registry.declaration.view_groups.iter().filter(|(name, _)| used.contains(name.as_str()));
    let groups: Vec<Value> = groups.map(|(name, group)| json!({"name": name, "label": group.label})).collect();
    let listed: HashSet<&str> = shown.iter().map(|one| one.resource.name.as_str()).collect();
    let resources: Vec<Value> = shown.iter().map(|one| one.document(work, &listed)).collect();
    let mut description = json!({
        "version": format!("{:016x}", registry.fingerprint),
        "site": site(work),
        "groups": groups,
        "resources": resources,
        "states": states(registry),
    });
    let translator =
        work.allowed.args().text("lang").map(|tag| Translator::of(&registry.declaration.translations, tag));
    if let Some(translator) = translator.filter(|translator| !translator.is_empty()) {
        texts::translate(registry, &mut description, &translator);
    }
    Ok(Outcome::ok(description))
}

fn site(work: &Work<'_>) -> Value {
    let (registry, settings) = (&work.scope.registry, &work.scope.settings);
    let media = &registry.declaration.media;
    let types = media.types.iter().filter(|(_, of)| of.enabled && of.alone).map(|(name, _)| name);
    json!({
        "title": unescape(settings.text("title")),
        "url": registry.site.url,
        "language": settings.language_tag(),
        "timezone": zone(settings.zone.name()),
        "start_of_week": settings.int("start_of_week").rem_euclid(7),
        "max_upload": media.max_upload.bytes(),
        "upload_types": types.collect::<Vec<_>>(),
        "health": may_see(work, HandlerRole::SiteHealth),
        "saved_views": registry.declaration.console.saved_views.get(),
        "noindex": registry.declaration.site.noindex,
        "rebuilds": registry.declaration.console.rebuilds.get(),
        "roles": registry.declaration.console.roles.get(),
        "reviews": registry.declaration.reviews.resource.get(),
        "assistants": registry.declaration.mcp.path.get().is_some() || registry.oauth().is_some(),
        "preview_origin": registry.site.front_preview.as_ref().map(|preview| &preview.origin),
    })
}

/// Whether the caller may use an endpoint whose handler has this role.
fn may_see(work: &Work<'_>, role: HandlerRole) -> bool {
    let handles = |endpoint: &&Endpoint| endpoint.role == Some(role);
    let mut routes = work.scope.registry.routes.iter();
    routes.any(|route| route.endpoints.iter().filter(handles).any(|endpoint| may_use(work, route, endpoint)))
}

/// An IANA name, or an offset such as `+02:00`: settings write `UTC+2` and `UTC-3.5`.
fn zone(name: &str) -> String {
    if name.is_empty() {
        return "UTC".to_owned();
    }
    let Some(offset) = name.strip_prefix("UTC").filter(|rest| !rest.is_empty()) else { return name.to_owned() };
    match offset.parse::<f64>() {
        Ok(hours) => {
            let minutes = (hours * 60.0).round() as i64;
            let sign = if minutes < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
        }
        Err(_) => name.to_owned(),
    }
}

/// States of records, then those of comments: requests know these by names of their own, even where a record's state has
/// the same name.
pub fn states(registry: &Registry) -> Vec<Value> {
    let declared = &registry.declaration;
    let records = declared.statuses.iter().map(|(name, status)| {
        json!({
            "name": name, "label": status.label, "public": status.public, "private": status.private, "draft": status.draft,
            "review": status.review, "trash": status.trash, "inherits": status.inherits, "schedules_to": status.schedules_to,
            "names": [],
        })
    });
    let waits = |status: &CommentStatus| !status.public && !status.removed;
    let comments = declared.comment_statuses.iter().map(|(name, status)| {
        let names = if status.names.is_empty() { std::slice::from_ref(name) } else { &status.names[..] };
        json!({
            "name": name, "label": state_label(registry, name), "public": status.public, "private": false, "draft": false,
            "review": waits(status), "trash": status.trash, "inherits": false, "schedules_to": null, "names": names,
        })
    });
    records.chain(comments).collect()
}

/// The name of a resource for people.
pub fn label(resource: &Resource) -> String {
    let declared = &resource.declared;
    let named = declared.labels.get("name").or(declared.listing.name.as_ref());
    named.cloned().unwrap_or_else(|| humanize_name(&resource.name))
}

/// A resource that the caller has something to do with.
struct ConsoleResource<'r> {
    resource: &'r Resource,
    group: String,
    /// Parameter of paths that names an item.
    key: Option<String>,
    operations: Map<String, Value>,
}

impl<'r> ConsoleResource<'r> {
    fn of(work: &Work<'r>, resource: &'r Resource) -> Option<ConsoleResource<'r>> {
        let registry = &work.scope.registry;
        let key = key(registry, resource);
        let mut operations = Map::new();
        for (route, endpoint) in endpoints(registry, resource, work.scope.secure()) {
            if !may_use(work, route, endpoint) {
                continue;
            }
            let Some(name) = operation_name(route, endpoint).filter(|name| !operations.contains_key(*name)) else {
                continue;
            };
            let operation = operation(registry, resource, key.as_deref(), (route, endpoint));
            operations.insert(name.to_owned(), operation);
        }
        let changes = |operation: &Value| operation["method"] != Method::Get.as_str();
        if !operations.contains_key("list") && !operations.values().any(changes) {
            return None;
        }
        let view = &resource.declared.view;
        let hidden = view.hidden || parent(registry, resource).is_some() || !looks_after(work, resource, &operations);
        let first = registry.declaration.view_groups.keys().next();
        let group = view.group.as_ref().or(first).filter(|_| !hidden).cloned().unwrap_or_default();
        Some(ConsoleResource { resource, group, key, operations })
    }

    fn document(&self, work: &Work<'_>, listed: &HashSet<&str>) -> Value {
        let registry = &work.scope.registry;
        let (resource, declared) = (self.resource, &self.resource.declared);
        let taxonomies: Vec<&String> =
            declared.taxonomies.iter().filter(|name| listed.contains(name.as_str())).collect();
        let mut document = texts::document(registry, &work.scope.settings.roles, resource);
        let more = json!({
            "api_name": resource.api_name,
            "group": self.group,
            "icon": declared.view.icon.as_deref().unwrap_or(families::icon(resource)),
            "key": self.key,
            "parent": parent(registry, resource),
            "operations": self.operations,
            "supports": declared.supports,
            "hierarchical": declared.hierarchical,
            "states": views::states(registry, resource),
            "publishes": work.scope.principal.can(resource.capability(Action::Publish)),
            "taxonomies": taxonomies,
        });
        for field in resource.guarded.iter().filter(|field| !policy::reads_field(work.scope, &field.rights)) {
            leave_out(&mut document, &field.name());
        }
        if let (Value::Object(document), Value::Object(more)) = (&mut document, more) {
            document.extend(more);
            if !declared.view.creates.is_empty() {
                document.insert("creates".to_owned(), json!(declared.view.creates));
            }
        }
        document
    }
}

/// Takes a field that the caller may not read out of a resource's description: its hints, columns, sort orders and places in
/// the form.
fn leave_out(described: &mut Value, field: &str) {
    let is_about = |value: &Value| *value == *field || value["field"] == *field;
    let is_inside = |name: &str| name.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    match described {
        Value::Array(list) => {
            list.retain(|value| !is_about(value));
            list.iter_mut().for_each(|value| leave_out(value, field));
        }
        Value::Object(members) => {
            members.retain(|name, value| !(is_inside(name) && value.is_object()) && value["field"] != *field);
            members.retain(|name, value| !NAMING.contains(&name.as_str()) || *value != *field);
            members.values_mut().for_each(|value| leave_out(value, field));
        }
        _ => {}
    }
}

/// Whether the caller does more with a resource than visitors do: they may list it as editors see it, or change the one
/// document that there is.
fn looks_after(work: &Work<'_>, resource: &Resource, operations: &Map<String, Value>) -> bool {
    let Some((route, endpoint)) = views::endpoint(&work.scope.registry, resource, "list") else {
        return resource.is_singleton() && operations.contains_key("update");
    };
    let edit = endpoint.args.role(ArgRole::Context).map(|arg| (arg.name.clone(), json!("edit")));
    operations.contains_key("list") && may_use_with(work, route, endpoint, &edit.into_iter().collect())
}

/// The endpoints of the routes that a resource took over, each with its route.
pub fn endpoints<'r>(
    registry: &'r Registry,
    resource: &Resource,
    secure: bool,
) -> impl Iterator<Item = (&'r Route, &'r Endpoint)> {
    let index = Some(resource.index);
    let routes = registry.routes.iter().filter(move |route| route.owner.or(route.resource) == index);
    let routes = routes.filter(move |route| secure || !route.secure_context);
    routes.flat_map(|route| route.endpoints.iter().map(move |endpoint| (route, endpoint)))
}

/// The declared name of an endpoint; on a route that shows the resource itself, otherwise what its handler does.
pub fn operation_name<'r>(route: &Route, endpoint: &'r Endpoint) -> Option<&'r str> {
    let own = route.owner.is_none() || route.owner == route.resource;
    let verb = || HANDLERS[endpoint.handler.0].is.name.rsplit('.').next().filter(|_| own);
    endpoint.name.as_deref().or_else(verb)
}

/// The parameter that names an item: the last one in the shortest path that ends with one.
fn key(registry: &Registry, resource: &Resource) -> Option<String> {
    let own = |route: &&Route| route.owner == Some(resource.index) && route.resource == Some(resource.index);
    let ends = |route: &&Route| route.template.end.is_empty();
    let items = registry.routes.iter().filter(own).filter(ends);
    let named = items.min_by_key(|route| route.captures.len()).and_then(|route| route.captures.last()).cloned();
    named.or_else(|| resource.stores_rows().then(|| resource.key.to_string()))
}

/// The resource whose records these belong to: the one whose collection is before the first parameter of the path.
fn parent(registry: &Registry, resource: &Resource) -> Option<Value> {
    let routes = registry.routes.iter().filter(|route| route.owner == Some(resource.index));
    let route = routes.min_by_key(|route| route.pattern.len())?;
    let parameter = route.template.parameters.first()?;
    let base = parameter.before.trim_end_matches('/').rsplit('/').next()?;
    let above = registry.resources.iter().find(|other| other.base == base && other.index != resource.index)?;
    Some(json!({"resource": above.name, "parameter": parameter.name}))
}

fn operation(
    registry: &Registry,
    resource: &Resource,
    key: Option<&str>,
    (route, endpoint): (&Route, &Endpoint),
) -> Value {
    let args = endpoint.args.args.iter().map(|arg| arg.name.as_str());
    let args: Vec<&str> = args.filter(|arg| !route.captures.iter().any(|capture| capture == arg)).collect();
    let method = endpoint.methods.first().map_or("", |method| method.as_str());
    json!({
        "method": method,
        "path": path(registry, resource, key, route),
        "args": args,
        "file": endpoint.file,
        "batch": endpoint.batch == Some(true),
    })
}

/// The path of a route with names of parameters. The parameter of an item of the resource has the name that it has in
/// the item's own path, also in paths below the item.
fn path(registry: &Registry, resource: &Resource, key: Option<&str>, route: &Route) -> String {
    // Parameters that name a record of another resource.
    let above = if parent(registry, resource).is_some() { 1 } else { 0 };
    let below = route.resource.filter(|index| *index != resource.index).map(|index| &registry.resources[index]);
    let mut path = String::new();
    for (at, Parameter { before, name, .. }) in route.template.parameters.iter().enumerate() {
        let name = match (key, below) {
            (Some(key), _) if at == above => key,
            // Several parameters that name one item together: values of the first one hold slashes.
            (Some(_), None) if at > above && before == "/" => continue,
            (Some(key), Some(below)) if at > above && *name == key => &below.kind,
            _ => name,
        };
        path.push_str(before);
        path.push_str(&format!("{{{name}}}"));
    }
    path + &route.template.end
}

#[cfg(test)]
mod tests {
    use super::zone;

    #[test]
    fn zones_are_names_or_offsets() {
        for (written, expected) in [
            ("Europe/Berlin", "Europe/Berlin"),
            ("UTC", "UTC"),
            ("", "UTC"),
            ("UTC+2", "+02:00"),
            ("UTC-3.5", "-03:30"),
            ("UTC+5.75", "+05:45"),
            ("UTC+0", "+00:00"),
        ] {
            assert_eq!(zone(written), expected, "{written}");
        }
    }
}
