//! Files of a record that programs for feeds play: those that its audio and video elements name.

use crate::error::ApiError;
use crate::files::kinds;
use crate::handlers::Work;
use crate::records::{self, Record, eq, txt};
use crate::registry::columns::{file, record};
use cms_storage::plan::DbValue;
use cms_text::tags;
use serde_json::{Value, json};

/// Most of a record.
const MOST: usize = 10;

/// The files of a rendered content: address, type, length in bytes (0: it is not known).
///
/// # Errors
/// The database cannot be read.
pub(super) fn enclosures(work: &Work<'_>, content: &str) -> Result<Vec<Value>, ApiError> {
    let registry = &work.scope.registry;
    let media = &registry.declaration.media;
    let own = format!("{}{}/", registry.site.url, media.path);
    let mut seen: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for url in tags::values(content, &["audio", "video", "source"], "src") {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let kind = kinds::promised(path.rsplit('/').next().unwrap_or_default(), media);
        let plays = kind.starts_with("audio/") || kind.starts_with("video/");
        if !plays || !url.starts_with("http") || seen.contains(&url) || found.len() == MOST {
            continue;
        }
        let length = match path.strip_prefix(&own) {
            Some(key) => length_of(work, key)?,
            None => 0,
        };
        found.push(json!({"url": url, "type": kind, "length": length}));
        seen.push(url);
    }
    Ok(found)
}

/// Bytes of an uploaded file.
fn length_of(work: &Work<'_>, key: &str) -> Result<i64, ApiError> {
    let snapshot = work.scope.snapshot()?;
    let Some(files) = work.scope.registry.content_types().find(|kind| kind.supports("files")) else { return Ok(0) };
    let Some(owner) = records::first::<DbValue>(&*snapshot, file::TABLE, &[file::RECORD], eq(file::KEY, txt(key)))?
    else {
        return Ok(0);
    };
    let Some(row) = records::find(&*snapshot, files, &owner)? else { return Ok(0) };
    let extra = Record { resource: files, row: &row }.text(record::EXTRA);
    let extra: Value = serde_json::from_str(extra).unwrap_or_default();
    Ok(extra["media_details"]["filesize"].as_i64().unwrap_or(0))
}
