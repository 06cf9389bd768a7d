//! The templates that addresses of records were made by: each one that the site has had, so that old addresses are understood.

use crate::registry::{Registry, name};
use cms_storage::plan::Change;
use cms_storage::{Snapshot, StorageError};
use cms_text::address::AddressTemplate;
use serde_json::{Map, Value, json};

/// The setting that holds them, by resource.
const SETTING: &str = "addresses";

/// Most templates of a resource; the oldest one gives way.
const MOST: usize = 20;

/// The stored templates, by resource.
///
/// # Errors
/// The database cannot be read.
pub fn stored(snapshot: &dyn Snapshot) -> Result<Map<String, Value>, StorageError> {
    let stored = snapshot.setting(&name(SETTING))?;
    Ok(stored.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// The change that remembers the templates of a registry; `None`: they are known.
///
/// # Errors
/// The database cannot be read.
pub fn remembered(snapshot: &dyn Snapshot, registry: &Registry) -> Result<Option<Change>, StorageError> {
    let known = stored(snapshot)?;
    let mut members = Map::new();
    for resource in registry.content_types() {
        let before = known.get(&resource.name).and_then(Value::as_array).cloned().unwrap_or_default();
        let mut all = before.clone();
        for source in resource.address.templates().map(AddressTemplate::source).map(|source| json!(source)) {
            if !all.contains(&source) {
                all.push(source);
            }
        }
        if all != before {
            all.drain(..all.len().saturating_sub(MOST));
            members.insert(resource.name.clone(), Value::Array(all));
        }
    }
    Ok((!members.is_empty()).then(|| Change::SettingMembers { key: name(SETTING), members }))
}
