//! A resource that is one document: the settings.
//!
//! Contract: "Settings": every field is optional on write, the response always contains all of them, changes take
//! effect at once.

use super::{Outcome, Work};
use crate::error::ApiError;
use crate::registry::name;
use crate::registry::resource::{Property, PropertyKind, Resource};
use cms_storage::plan::{Change, DbValue};
use serde_json::{Map, Value};

/// The whole document.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    Ok(Outcome::ok(Value::Object(document(&resource.properties, &work.scope.settings.values))))
}

/// Writes the given fields and returns the whole document.
///
/// # Errors
/// A zone that does not exist, a default term that does not exist.
pub async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let mut values = work.scope.settings.values.clone();
    let mut members = Map::new();
    for property in &resource.properties {
        let Some(value) = work.allowed.args().explicit(&property.name) else { continue };
        // Null resets a field to the default in its schema.
        let value = if value.is_null() { default_of(resource, property) } else { normal(work, property, value)? };
        members.insert(property.name.clone(), value.clone());
        values.insert(property.name.clone(), value);
    }
    work.write(vec![Change::SettingMembers { key: name("settings"), members }]).await?;
    Ok(Outcome::ok(Value::Object(document(&resource.properties, &values))))
}

fn document(properties: &[Property], values: &Map<String, Value>) -> Map<String, Value> {
    let value = |property: &Property| {
        match (property.kind, values.get(&property.name)) {
            // A boolean setting always reads as a boolean.
            (PropertyKind::Boolean, None | Some(Value::Null)) => Value::Bool(false),
            (PropertyKind::Text, None) if !property.nullable => Value::from(""),
            (_, stored) => stored.cloned().unwrap_or(Value::Null),
        }
    };
    properties.iter().map(|p| (p.name.clone(), value(p))).collect()
}

fn default_of(resource: &Resource, property: &Property) -> Value {
    resource.schema["properties"][&property.name].get("default").cloned().unwrap_or(Value::Null)
}

fn normal(work: &Work<'_>, property: &Property, value: &Value) -> Result<Value, ApiError> {
    let Some(behaviour) = property.write else { return Ok(value.clone()) };
    let writing = crate::behaviours::WriteContext { scope: work.scope, property };
    Ok(match (crate::behaviours::WRITES[behaviour.0].run)(&writing, value)? {
        DbValue::Text(text) => Value::String(text.to_string()),
        DbValue::Int(i) => Value::from(i),
        DbValue::Real(r) => Value::from(r),
        DbValue::Null => Value::Null,
    })
}
