//! The records of uploaded files, one after the other.

use crate::boot::BootError;
use cms_core::records::{self, Record, meta_space};
use cms_core::registry::{Registry, name};
use cms_storage::Storage;
use cms_storage::plan::{Cond, DbValue, Op, Order};
use cms_text::php;
use serde_json::Value;

/// Records processed together.
const PAGE: u64 = 200;

/// The meta key of what WordPress knows of a picture and its smaller copies.
const DETAILS: &str = "_wp_attachment_metadata";

/// Visits the records of files, each with what WordPress knows of it.
///
/// # Errors
/// The database cannot be read, or the visit fails.
pub fn each_file(
    registry: &Registry,
    storage: &dyn Storage,
    mut visit: impl FnMut(Record<'_>, &Value) -> Result<(), BootError>,
) -> Result<(), BootError> {
    for resource in registry.content_types().filter(|resource| resource.supports("files")) {
        let mut last = 0;
        loop {
            let after = Cond::Compare(resource.key.clone(), Op::Gt, DbValue::Int(last));
            let mut plan = records::plan(resource, after);
            (plan.order, plan.limit) = (vec![Order::Column(name("id"), false)], Some(PAGE));
            let rows = storage.snapshot()?.rows(&plan)?;
            let Some(row) = rows.last() else { break };
            last = Record { resource, row }.id();
            let ids: Vec<i64> = rows.iter().map(|row| Record { resource, row }.id()).collect();
            let details = storage.snapshot()?.meta(&meta_space(resource), &ids)?;
            for row in &rows {
                let record = Record { resource, row };
                let own = details.iter().find(|value| value.id == record.id() && &*value.key == DETAILS);
                visit(record, &details_of(own.map(|own| &*own.json)))?;
            }
        }
    }
    Ok(())
}

/// The details that WordPress knows of a picture, from its meta value.
fn details_of(stored: Option<&str>) -> Value {
    let text = stored.and_then(|json| serde_json::from_str::<String>(json).ok());
    text.and_then(|text| php::unserialize(&text)).unwrap_or_default()
}
