//! Themes as declared.

mod export;
pub mod guard;

use crate::access::hints;
use crate::error::{ApiError, Code};
use crate::families::{self, content};
use crate::handlers::lists::{PageWindow, paging_headers};
use crate::handlers::{Handler, Outcome, Work, handler};
use crate::records;
use crate::registry::args::ArgRole;
use crate::registry::resource::{Property, Resource};
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use cms_declaration::{Action, Theme};
use cms_storage::plan::{Change, CommitError, WritePlan};
use cms_text::sanitize::esc_html;
use serde_json::{Map, Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler("theme.list", |w| Box::pin(list(w)), "Lists the declared themes.")
        .fails(&[Code::CannotReadThemes, Code::CannotViewThemes])
        .responds(ResponseKind::List)
        .settings(&["user_styles", "theme_links"]),
    handler("theme.get", |w| Box::pin(get(w)), "Responds with one declared theme.")
        .fails(&[Code::CannotViewThemes, Code::ThemeNotFound])
        .settings(&["user_styles", "theme_links"]),
    handler(
        "theme.export",
        |w| Box::pin(export::export(w)),
        "Responds with an archive of the theme's templates and styles.",
    )
    .responds(ResponseKind::Bytes("application/zip"))
    .settings(&["folders", "styles"]),
];

/// The themes in the requested states.
pub async fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let made = complete(work).await?;
    let wanted: Vec<&str> = match work.allowed.args().get("status") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let searched = work.allowed.args().role(&work.endpoint.args, ArgRole::Search).and_then(Value::as_str).unwrap_or("");
    let all = work.scope.registry.declaration.themes.iter();
    let chosen: Vec<_> = all
        .filter(|(_, theme)| wanted.is_empty() || wanted.contains(&state(theme)))
        .filter(|(name, theme)| is_named(name, theme, searched))
        .collect();
    let window = PageWindow::of(work.allowed.args(), &work.endpoint.args);
    let skipped = usize::try_from(window.offset).unwrap_or(usize::MAX);
    let shown = chosen.iter().skip(skipped).take(usize::try_from(window.per_page).unwrap_or(usize::MAX));
    let documents: Vec<Value> = shown.map(|(name, theme)| document(work, name, theme)).collect::<Result<_, _>>()?;
    let mut outcome = Outcome::ok(json!(documents));
    paging_headers(work, &mut outcome, chosen.len() as u64, &window);
    outcome.private |= made;
    Ok(outcome)
}

/// Makes the record of the site's own styles where it is absent and the caller may edit it: editors find it through the
/// active theme. Whether it was made.
async fn complete(work: &Work<'_>) -> Result<bool, ApiError> {
    let own = work.resource()?.declared.options.user_styles.as_ref();
    let resource = own.and_then(|own| work.scope.registry.resource(&own.resource));
    let edits = |resource: &&Resource| work.scope.principal.can(resource.capability(Action::Edit));
    let Some(resource) = resource.filter(edits).filter(|resource| !resource.declared.seed.is_empty()) else {
        return Ok(false);
    };
    if own_record(work, resource)?.is_some() {
        return Ok(false);
    }
    let none = records::columns(&resource.table, &["id"], records::own_rows(resource));
    let changes = vec![
        Change::Require { plan: none, found: false, tag: MADE },
        Change::Put(content::seed(&work.scope.registry, resource, work.scope.now)),
    ];
    match work.commit(WritePlan::new(changes)).await {
        Ok(_) | Err(CommitError::Refused { tag: MADE, .. }) => Ok(true),
        Err(error) => Err(families::commit_failure(work.scope, error)),
    }
}

/// The tag of the refusal when the record has been made meanwhile.
const MADE: &str = "made";

/// Whether the theme's name holds the text, in any case.
fn is_named(name: &str, theme: &Theme, text: &str) -> bool {
    let shown = theme.header.get("name").and_then(Value::as_str).unwrap_or("");
    let text = text.to_lowercase();
    shown.to_lowercase().contains(&text) || name.to_lowercase().contains(&text)
}

/// One theme.
///
/// # Errors
/// There is none of this name.
pub async fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let made = complete(work).await?;
    let wanted = work.captures.get("stylesheet").and_then(Value::as_str).unwrap_or("");
    let theme = work.scope.registry.declaration.themes.get_key_value(wanted);
    let (name, theme) = theme.ok_or_else(|| ApiError::new(Code::ThemeNotFound))?;
    Ok(Outcome { private: made, ..Outcome::ok(document(work, name, theme)?) })
}

fn state(theme: &Theme) -> &'static str {
    if theme.active { "active" } else { "inactive" }
}

fn document(work: &Work<'_>, name: &str, theme: &Theme) -> Result<Value, ApiError> {
    let resource = work.resource()?;
    let mut known = theme.header.clone();
    known.insert("stylesheet".into(), json!(name));
    known.entry("template").or_insert_with(|| json!(name));
    known.insert("status".into(), json!(state(theme)));
    if theme.active {
        known.insert("theme_supports".into(), Value::Object(theme.supports.clone()));
    }
    let mut map: Map<String, Value> = resource
        .properties
        .iter()
        .filter_map(|p: &Property| known.get(&p.name).map(|v| (p.name.clone(), as_shown(&resource.schema, p, v))))
        .collect();
    let registry = &work.scope.registry;
    let own = hints::self_link(work.scope, resource, resource.item_path(name))?;
    let mut links = json!({"self": [own], "collection": [{"href": registry.rest(&resource.path)}]});
    // The site's own styles belong to the active theme.
    if let Some(own) = resource.declared.options.user_styles.as_ref().filter(|_| theme.active)
        && let Some(kept) = registry.resource(&own.resource)
        && let Some(id) = own_record(work, kept)?
    {
        let href = registry.rest(&kept.item_path(&id.to_string()));
        links[own.rel.as_str()] = json!([{"href": href}]);
    }
    for (rel, of) in resource.declared.options.theme_links.iter().filter(|_| theme.active) {
        if let Some(of) = registry.resource(of) {
            links[rel.as_str()] = json!([hints::link(work.scope, of, of.path.clone())?]);
        }
    }
    map.insert("_links".into(), links);
    Ok(Value::Object(map))
}

/// The number of the one record of a resource.
pub fn own_record(work: &Work<'_>, resource: &Resource) -> Result<Option<i64>, ApiError> {
    let own = records::own_rows(resource);
    Ok(records::first(&*work.scope.snapshot()?, &resource.table, &["id"], own)?)
}

/// A text or list, where the schema shows it both as declared and as HTML.
fn as_shown(schema: &Value, property: &Property, declared: &Value) -> Value {
    if declared.is_object() || schema["properties"][&property.name]["properties"].get("rendered").is_none() {
        return declared.clone();
    }
    let rendered = match declared {
        Value::String(text) => esc_html(text),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(esc_html).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    json!({"raw": declared, "rendered": rendered})
}
