//! A piece of an export, for a client that takes one after the other.

use super::records::RecordReader;
use super::report::ExportReport;
use super::write::WxrWriter;
use super::{PAGE, exported_site, terms};
use crate::import::items::ExportItem;
use cms_core::engine::Engine;
use cms_core::error::ApiError;
use cms_core::features::site_export::place_after;
use cms_core::model::{Payload, SiteExportQuery, WXR};
use cms_core::scope::{Principal, Scope};
use std::io;

/// Records of the first piece.
const FIRST: u64 = 20;

/// Bytes between which pieces are to be: the next one has more records, or fewer.
const SMALL: usize = 256 << 10;
const LARGE: usize = 1 << 20;

/// Writes a piece of an export, read from one snapshot: the head, authors and terms with the first records, or further records.
///
/// # Errors
/// The database cannot be read.
pub fn piece(engine: &Engine, query: &SiteExportQuery) -> Result<Payload, ApiError> {
    let reader = Principal { capabilities: query.reader.clone(), ..Principal::default() };
    let scope = engine.scope_of(reader)?;
    let (bytes, next) = written(&scope, query)?;
    Ok(Payload::Pieces { media_type: WXR, bytes: bytes.into(), next })
}

fn written(scope: &Scope, query: &SiteExportQuery) -> Result<(Vec<u8>, Option<String>), ApiError> {
    // Memory takes every byte.
    let failed = |error: io::Error| scope.internal(&error);
    let snapshot = scope.snapshot()?;
    let mut reader = RecordReader::new(scope, &*snapshot, query)?;
    let site = exported_site(scope);
    let mut out = if query.goes_on.is_some() {
        WxrWriter::go_on(&site).map_err(failed)?
    } else {
        let mut out = WxrWriter::begin(Vec::new(), &site).map_err(failed)?;
        for author in reader.authors()? {
            out.item(&ExportItem::Author(author)).map_err(failed)?;
        }
        // Further parts have records alone.
        for term in if query.after == 0 { terms::all(scope, &*snapshot)? } else { Vec::new() } {
            out.item(&ExportItem::Term(term)).map_err(failed)?;
        }
        out
    };
    let records = query.goes_on.unwrap_or(FIRST).clamp(1, PAGE);
    let begun = out.output().len();
    while let Some(page) = reader.page(records, &mut ExportReport::default())? {
        for record in page {
            out.item(&ExportItem::Record(Box::new(record))).map_err(failed)?;
        }
        // Records that nobody has saved yet leave no text, and a piece without any would end the body.
        if !out.output().is_empty() {
            let records = match out.output().len() - begun {
                ..SMALL => records * 2,
                SMALL..LARGE => records,
                _ => records / 2,
            };
            return Ok((out.into_output(), Some(place_after(query, reader.last(), records))));
        }
    }
    Ok((out.end().map_err(failed)?, None))
}
