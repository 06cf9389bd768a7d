//! Themes as declared.

use super::{Outcome, Work};
use crate::config::declaration::Theme;
use crate::error::{ApiError, Code};
use crate::registry::resource::Property;
use serde_json::{Map, Value, json};

/// The themes in the states asked for.
///
/// # Errors
/// None of its own.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let wanted: Vec<&str> = match work.allowed.args().get("status") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let all = work.scope.registry.declaration.themes.iter();
    let chosen = all.filter(|(_, t)| wanted.is_empty() || wanted.contains(&state(t)));
    let documents: Vec<Value> = chosen.map(|(name, theme)| document(work, name, theme)).collect::<Result<_, _>>()?;
    let mut outcome = Outcome::ok(json!(documents));
    let window = super::lists::Window::of(work.allowed.args(), &work.endpoint.args);
    super::lists::paging_headers(work, &mut outcome, documents.len() as u64, &window);
    Ok(outcome)
}

/// One theme.
///
/// # Errors
/// There is none of this name.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let wanted = work.captures.get("stylesheet").and_then(Value::as_str).unwrap_or("");
    let theme = work.scope.registry.declaration.themes.get_key_value(wanted);
    let (name, theme) = theme.ok_or_else(|| ApiError::new(Code::ThemeNotFound))?;
    Ok(Outcome::ok(document(work, name, theme)?))
}

fn state(theme: &Theme) -> &'static str {
    if theme.active { "active" } else { "inactive" }
}

fn document(work: &Work<'_>, name: &str, theme: &Theme) -> Result<Value, ApiError> {
    let resource = work.resource()?;
    let mut known = theme.about.clone();
    known.insert("stylesheet".into(), json!(name));
    known.entry("template").or_insert_with(|| json!(name));
    known.insert("status".into(), json!(state(theme)));
    if theme.active {
        known.insert("theme_supports".into(), Value::Object(theme.supports.clone()));
    }
    let mut map: Map<String, Value> = resource
        .properties
        .iter()
        .filter_map(|p: &Property| known.get(&p.name).map(|v| (p.name.clone(), v.clone())))
        .collect();
    let registry = &work.scope.registry;
    let item = resource.item_path(name);
    map.insert(
        "_links".into(),
        json!({"self": [{"href": registry.rest(&item)}], "collection": [{"href": registry.rest(&resource.path)}]}),
    );
    Ok(Value::Object(map))
}
