//! Addresses that a record had and that lead to it.

use crate::error::ApiError;
use crate::families::content::slug_scope;
use crate::records::{self, Record};
use crate::registry::columns::{old_address as old, record as col};
use crate::render::{Batch, address};
use crate::scope::Scope;
use cms_storage::plan::{DbValue, ReadPlan, Row};
use std::sync::Arc;

/// The older addresses of a record as its type makes them today, and whether there are further ones: more than `most`, or below
/// other records.
///
/// # Errors
/// The database cannot be read.
pub fn older_links(scope: &Scope, record: Record<'_>, most: usize) -> Result<(Vec<String>, bool), ApiError> {
    let resource = record.resource;
    let own = records::eq(old::RECORD, DbValue::Int(record.id()));
    let plan = records::columns(old::TABLE, &[old::SCOPE, old::SLUG, old::DATE], own);
    let snapshot = scope.snapshot()?;
    let stored: Vec<(Arc<str>, Arc<str>, i64)> =
        snapshot.rows_as(&ReadPlan { limit: Some(most as u64 + 1), ..plan })?;
    let here = slug_scope(resource, record.int(col::PARENT));
    let places = [resource.column(col::SLUG), resource.column(col::DATE_LOCAL)];
    let moved = |slug: &Arc<str>, date: i64| {
        let mut row: Row = record.row.clone();
        for (place, value) in places.iter().zip([DbValue::Text(slug.clone()), DbValue::Int(date)]) {
            if let Some(place) = place {
                row[*place] = value;
            }
        }
        row
    };
    let known = stored.iter().take(most).filter(|(scope, ..)| *scope == here);
    let rows: Vec<Row> = known.map(|(_, slug, date)| moved(slug, *date)).collect();
    let mut batch = Batch::default();
    batch.load_addresses(&*snapshot, scope, resource, &rows)?;
    let link = |row: &Row| {
        let record = Record { resource, row };
        address::of(scope, record, &batch, record.text(col::SLUG))
    };
    Ok((rows.iter().map(link).collect(), rows.len() < stored.len()))
}
