//! The site that an import comes from: title, description, language, and the settings that a database has.

use super::importer::{EMPTY, Importer};
use super::items::{ExportSummary, ImportedSetting, ImportedWidget};
use crate::boot::BootError;
use cms_core::model::Method;
use cms_core::registry::args::Arg;
use cms_core::registry::resource::Resource;
use cms_core::registry::{Registry, name};
use cms_core::request::route;
use cms_core::scope::{read_settings, stored_settings};
use cms_storage::plan::Change;
use cms_text::sanitize::sanitize_text_field;
use cms_text::time::Zone;
use serde_json::{Map, Value, json};

/// Takes them into a site that was empty and has none of its own; what differs is reported.
///
/// # Errors
/// The database cannot be read, or refuses.
pub(super) fn take(importer: &mut Importer<'_>, summary: &ExportSummary) -> Result<(), BootError> {
    let (registry, services) = (importer.registry, importer.services);
    let storage = &*services.storage;
    let present = read_settings(registry, storage)?;
    let own = stored_settings(&*storage.snapshot()?)?;
    // Feeds separate the parts of a language by dashes.
    let language = summary.language.replace('-', "_");
    let named = [("title", &summary.title), ("description", &summary.description), ("language", &language)];
    let named = named.map(|(key, text)| (key.to_owned(), ImportedSetting::Text(text.clone())));
    let mut members = Map::new();
    for (key, setting) in named.into_iter().chain(summary.settings.clone()) {
        let Some(argument) = argument(registry, &key) else { continue };
        let Some(shown) = shown(importer, setting).filter(|value| *value != json!("")) else { continue };
        let value = argument.schema.accept(&key, shown.clone()).ok();
        let value = value.filter(|value| key != ZONE || value.as_str().is_some_and(|zone| Zone::parse(zone).is_some()));
        let here = present.values.get(&key).cloned().unwrap_or_default();
        let fills = importer.fills;
        let report = &mut importer.report.settings;
        match value {
            Some(value) if value == here => {}
            Some(value) if fills && !own.contains_key(&key) => {
                report.add(|| format!("the {key} of the site is {} now", text(&value)));
                members.insert(key, value);
            }
            _ => report.add(|| format!("the {key} of the site stays {}; the file has {}", text(&here), text(&shown))),
        }
    }
    if !members.is_empty() {
        importer.pending.push(Change::SettingMembers { key: name("settings"), members });
    }
    if importer.fills {
        importer.settle(EMPTY);
    }
    importer.flush()
}

/// Gives the settings of widgets that name records and terms the ids that those have here.
pub(super) fn refer(importer: &Importer<'_>, widgets: &mut [ImportedWidget]) {
    for widget in widgets {
        for (member, reference) in std::mem::take(&mut widget.references) {
            let here = shown(importer, reference).unwrap_or_else(|| json!(0));
            if let Some(settings) = widget.settings.as_object_mut() {
                settings.insert(member, here);
            }
        }
    }
}

/// The setting that dates follow.
const ZONE: &str = "timezone";

/// The value of a setting as a request would have it; nothing where what it refers to did not come in.
fn shown(importer: &Importer<'_>, setting: ImportedSetting) -> Option<Value> {
    match setting {
        ImportedSetting::Text(text) => Some(Value::String(sanitize_text_field(&text))),
        ImportedSetting::Record(id) => Some(importer.records.target(id)).filter(|id| *id != 0).map(Value::from),
        ImportedSetting::Term(id) => importer.numbered.get(&id).copied().map(Value::from),
    }
}

/// The argument that sets a setting.
fn argument<'r>(registry: &'r Registry, key: &str) -> Option<&'r Arg> {
    let of = |settings: &'r Resource| {
        let routes = registry.routes.iter().filter(|route| route.resource == Some(settings.index));
        routes.filter_map(|own| route::endpoint(own, Method::Put)).find_map(|endpoint| endpoint.args.get(key))
    };
    registry.singletons().find_map(of)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
