//! `view_config.get`: how lists and forms of an entity look: what is declared for all, for its kind and for itself.

pub mod guard;
mod patch;

use self::guard::entity;
use crate::error::{ApiError, Code, status};
use crate::handlers::{Handler, Outcome, Work, handler};
use crate::model::Method;
use crate::registry::views::view;
use crate::registry::vocabulary::BehaviourEntry;
use crate::registry::vocabulary::VIRTUAL;
use crate::request::BodyParams;
use cms_declaration::{ViewChange, ViewParts, ViewSource, ViewTemplate};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[handler(
    "view_config.get",
    |w| Box::pin(get(w)),
    "Responds with the declared look of an entity's lists and forms.",
)
.fails(&[Code::RecordInvalidId, Code::CannotRead])
.on(VIRTUAL)
.settings(&["views"])];

/// Version of the configuration's shape.
const VERSION: i64 = 1;

/// Most rows of one source that become views.
const MOST_ROWS: i64 = 100;

/// The configuration of the entity that the arguments name.
///
/// # Errors
/// The declaration has no views: 500.
pub async fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let views = work.resource()?.declared.options.views.as_ref().ok_or_else(|| ApiError::new(Code::Internal))?;
    let args = work.allowed.args();
    let (kind, name) = (args.text("kind").unwrap_or_default(), args.text("name").unwrap_or_default());
    let resource = views.kinds.get(kind).and_then(|kind| entity(&work.scope.registry, kind, name));
    let labels = resource.map(|resource| &resource.declared.labels);
    let base = parts(&views.base, labels);
    let mut config = base.clone();
    // Entities that the declaration of views does not list look as their resources say.
    let own = views.kinds.get(kind).is_some_and(|kind| !kind.listed.iter().any(|listed| listed == name));
    let own = resource.filter(|_| own).map(|resource| view(&work.scope.registry, resource));
    for (change, own) in
        [(kind.to_owned(), own), (format!("{kind}/{name}"), None)].into_iter().filter_map(|(key, own)| {
            let change = views.changes.get(&key).cloned();
            (change.is_some() || own.is_some()).then(|| (change.unwrap_or_default(), own))
        })
    {
        let ViewChange { set, replace, merge, remove, lists } = &change;
        config.extend(parts(set, labels));
        patch::patch(&mut config, parts(replace, labels), patch::ListPolicy::Replace);
        patch::patch(&mut config, parts(merge, labels), patch::ListPolicy::Merge);
        patch::remove(&mut config, remove, &base);
        for list in lists {
            let added = views_of(work, list).await;
            if let Some(Value::Array(all)) = config.get_mut("view_list") {
                all.extend(added);
            }
        }
        config.extend(own.into_iter().flatten());
    }
    let mut document = Map::new();
    document.insert("kind".to_owned(), json!(kind));
    document.insert("name".to_owned(), json!(name));
    document.insert("version".to_owned(), json!(VERSION));
    document.extend(config);
    Ok(Outcome::ok(Value::Object(document)))
}

/// The parts that are declared, with the entity's labels; a text whose label the entity does not have is left out.
fn parts(declared: &ViewParts, labels: Option<&IndexMap<String, String>>) -> Map<String, Value> {
    let mut value = json!(declared);
    fill(&mut value, labels);
    value.as_object().cloned().unwrap_or_default()
}

fn fill(value: &mut Value, labels: Option<&IndexMap<String, String>>) {
    let label = |value: &Value| {
        let name = value.as_str()?.strip_prefix("{labels.")?.strip_suffix('}')?;
        Some(labels.and_then(|labels| labels.get(name)).filter(|label| !label.is_empty()).cloned())
    };
    match value {
        Value::Object(map) => map.retain(|_, member| match label(member) {
            Some(None) => false,
            Some(Some(label)) => {
                *member = Value::String(label);
                true
            }
            None => {
                fill(member, labels);
                true
            }
        }),
        Value::Array(list) => list.iter_mut().for_each(|item| fill(item, labels)),
        _ => {}
    }
}

/// One view for each item of the sources.
async fn views_of(work: &Work<'_>, declared: &ViewTemplate) -> Vec<Value> {
    let mut titles: IndexMap<String, String> = IndexMap::new();
    for source in &declared.from {
        let mut items = items(work, source).await;
        items.sort_by_key(|item| source.last.iter().any(|(member, value)| item[member] == *value));
        for item in &items {
            let text = |member: &str| item[member].as_str().unwrap_or_default().to_owned();
            let (slug, title) = (text(&source.slug), text(&source.title));
            if !slug.is_empty() {
                titles.insert(slug, title);
            }
        }
    }
    for view in &declared.also {
        titles.entry(view.slug.clone()).or_insert_with(|| view.title.clone());
    }
    if declared.sorted {
        titles.sort_by_key(|slug, title| (title.to_lowercase(), slug.clone()));
    }
    let place = |slug: &String| declared.first.iter().position(|first| first == slug).unwrap_or(declared.first.len());
    let mut slugs: Vec<(String, String)> = titles.into_iter().collect();
    slugs.sort_by_key(|(slug, _)| place(slug));
    let view = |(slug, title): (String, String)| match &declared.filter {
        None => json!({"title": title, "slug": slug}),
        Some(filter) => {
            let filter = json!({"field": filter.field, "operator": filter.operator, "value": slug, "isLocked": true});
            json!({"title": title, "slug": slug, "view": {"filters": [filter]}})
        }
    };
    slugs.into_iter().map(view).collect()
}

/// The items of a source: declared entries, rows that the caller may see, or a list of the active theme.
async fn items(work: &Work<'_>, source: &ViewSource) -> Vec<Value> {
    let registry = &work.scope.registry;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    if let Some(member) = &source.theme {
        let theme = registry.declaration.themes.get(registry.active_theme());
        return theme.and_then(|theme| theme.header.get(member)).map(list).unwrap_or_default();
    }
    let Some(resource) = source.resource.as_ref().and_then(|name| registry.resource(name)) else { return Vec::new() };
    if !resource.stores_rows() {
        return registry.entries(resource).to_vec();
    }
    let members = [&source.slug, &source.title].into_iter().chain(source.last.keys());
    let fields = members.map(String::as_str).collect::<Vec<_>>().join(",");
    let query = json!({"per_page": MOST_ROWS, "_fields": fields});
    let part = work.ask(Method::Get, &resource.path, query, BodyParams::None).await;
    if part.status == status::OK { list(&part.body) } else { Vec::new() }
}
