//! The widgets of a staged dump: an option for each type with the settings by number, and one that says which area has which.

use super::site::DumpOptions;
use super::tables::DumpVocabulary;
use crate::import::items::{ExportSummary, FileFault, ImportedWidget};
use cms_text::php;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The option with the widgets of each area.
pub(super) const AREAS: &str = "sidebars_widgets";

/// The beginning of the names of options with the settings of a type.
pub(super) const OPTION: &str = "widget_";

/// Areas whose widgets nobody sees.
const UNUSED: [&str; 2] = ["wp_inactive_widgets", "orphaned_widgets"];

impl DumpOptions<'_> {
    /// Adds the widgets to a summary, area by area; `types`: the types that have an option.
    pub(super) fn widgets(
        &self,
        types: &[String],
        vocabulary: &DumpVocabulary,
        summary: &mut ExportSummary,
    ) -> Result<(), FileFault> {
        let mut settings = BTreeMap::new();
        for kind in types {
            let numbered = members(&self.text(&format!("{OPTION}{kind}"))?);
            let own = numbered.into_iter().filter(|(number, _)| number.parse::<u32>().is_ok());
            settings.extend(own.map(|(number, own)| (format!("{kind}-{number}"), own)));
        }
        for (area, ids) in members(&self.text(AREAS)?) {
            let ids = match ids {
                Value::Array(ids) => ids,
                Value::Object(ids) => ids.into_iter().map(|(_, id)| id).collect(),
                // A number says how the option is made.
                _ => continue,
            };
            let is_shown = !UNUSED.iter().any(|unused| area.starts_with(unused));
            let ids = ids.iter().filter_map(Value::as_str);
            let found = ids.filter_map(|id| {
                let settings = settings.remove(id)?;
                let area = is_shown.then(|| area.clone());
                Some(ImportedWidget { id: id.to_owned(), area, settings, references: Vec::new() })
            });
            summary.widgets.extend(found);
            summary.areas.extend(is_shown.then_some(area));
        }
        summary.leave_out("widgets that no area has", settings.len() as u64);
        for widget in &mut summary.widgets {
            for (member, kind) in &vocabulary.widget_references {
                let id = widget.settings.get(member).and_then(super::site::number).filter(|id| *id > 0);
                widget.references.extend(id.and_then(|id| Some((member.clone(), kind.of(id)?))));
            }
        }
        Ok(())
    }
}

/// The members of a serialised array.
fn members(text: &str) -> Map<String, Value> {
    match php::unserialize(text) {
        Some(Value::Object(map)) => map,
        Some(Value::Array(list)) => php::list_to_object(list),
        _ => Map::new(),
    }
}
