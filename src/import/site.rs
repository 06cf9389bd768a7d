//! The site that an export comes from: title, description and language.

use super::ImportReport;
use super::wxr::ExportSummary;
use crate::boot::{BootError, Services, wait};
use crate::registry::{Registry, name};
use crate::scope::{read_settings, stored_settings};
use cms_storage::plan::{Change, WritePlan};
use cms_text::sanitize::sanitize_text_field;
use serde_json::{Map, Value};

/// Takes them into a site that was empty and has none of its own; what differs is reported.
///
/// # Errors
/// The database cannot be read, or refuses.
pub(super) fn take(
    registry: &Registry,
    services: &Services,
    summary: &ExportSummary,
    was_empty: bool,
    report: &mut ImportReport,
) -> Result<(), BootError> {
    let storage = &*services.storage;
    let present = read_settings(registry, storage)?;
    let own = stored_settings(&*storage.snapshot()?)?;
    let schema = registry.singletons().find_map(|resource| resource.schema["properties"].as_object());
    // Feeds separate the parts of a language by dashes.
    let language = summary.language.replace('-', "_");
    let mut members = Map::new();
    for (key, text) in [("title", &summary.title), ("description", &summary.description), ("language", &language)] {
        let text = sanitize_text_field(text);
        let Some(declared) = schema.and_then(|schema| schema.get(key)) else { continue };
        let longest = declared["maxLength"].as_u64().unwrap_or(u64::MAX);
        if text.is_empty() || present.text(key) == text {
            continue;
        }
        if was_empty && !own.contains_key(key) && text.chars().count() as u64 <= longest {
            report.settings.add(|| format!("the {key} of the site is {text} now"));
            members.insert(key.to_owned(), Value::String(text));
        } else {
            report.settings.add(|| format!("the {key} of the site stays {}; the file has {text}", present.text(key)));
        }
    }
    if members.is_empty() {
        return Ok(());
    }
    let change = Change::SettingMembers { key: name("settings"), members };
    wait(storage.commit(WritePlan::new(vec![change]))).map(|_| ()).map_err(BootError::Commit)
}
