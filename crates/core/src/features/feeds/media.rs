//! Files of records that programs for feeds play: those that their audio and video elements name.

use crate::error::ApiError;
use crate::files::kinds;
use crate::handlers::Work;
use crate::records::{self, is_in, txt};
use crate::registry::columns::{ID, file, record};
use crate::registry::name;
use cms_storage::plan::Cond;
use cms_text::tags;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Most of a record.
const MOST: usize = 10;

/// The bytes of uploaded files that contents play, by key.
pub(super) struct PlayedFiles {
    lengths: HashMap<String, i64>,
}

impl PlayedFiles {
    /// The files of all contents: two statements.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn of<'c>(work: &Work<'_>, contents: impl Iterator<Item = &'c str>) -> Result<PlayedFiles, ApiError> {
        let played = contents.flat_map(|content| played(work, content));
        let keys: Vec<_> = played.filter_map(|(url, _)| Some(txt(key(work, &url)?))).collect();
        if keys.is_empty() {
            return Ok(PlayedFiles { lengths: HashMap::new() });
        }
        let snapshot = work.scope.snapshot()?;
        let among = Cond::In(name(file::KEY), keys);
        let owners: Vec<(String, i64)> =
            snapshot.rows_as(&records::columns(file::TABLE, &[file::KEY, file::RECORD], among))?;
        let ids = is_in(ID, owners.iter().map(|(_, id)| *id));
        let extras: HashMap<i64, Arc<str>> =
            snapshot.rows_as(&records::columns(record::TABLE, &[ID, record::EXTRA], ids))?;
        let length = |id: &i64| {
            let extra: Value = serde_json::from_str(extras.get(id)?).ok()?;
            extra["media_details"]["filesize"].as_i64()
        };
        let lengths = owners.into_iter().filter_map(|(key, id)| Some((key, length(&id)?)));
        Ok(PlayedFiles { lengths: lengths.collect() })
    }

    /// The files of a rendered content: address, type, length in bytes (0: it is not known).
    pub(super) fn enclosures(&self, work: &Work<'_>, content: &str) -> Vec<Value> {
        let one = |(url, kind): (String, &str)| {
            let length = key(work, &url).and_then(|key| self.lengths.get(key)).copied().unwrap_or(0);
            json!({"url": url, "type": kind, "length": length})
        };
        played(work, content).into_iter().map(one).collect()
    }
}

/// Addresses and types of what a content plays.
fn played<'w>(work: &'w Work<'_>, content: &str) -> Vec<(String, &'w str)> {
    let media = &work.scope.registry.declaration.media;
    let mut found: Vec<(String, &str)> = Vec::new();
    for url in tags::values(content, &["audio", "video", "source"], "src") {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let kind = kinds::promised(path.rsplit('/').next().unwrap_or_default(), media);
        let plays = kind.starts_with("audio/") || kind.starts_with("video/");
        if plays && url.starts_with("http") && found.len() < MOST && found.iter().all(|(own, _)| *own != url) {
            found.push((url, kind));
        }
    }
    found
}

/// The key of an uploaded file at an address.
fn key<'u>(work: &Work<'_>, url: &'u str) -> Option<&'u str> {
    let registry = &work.scope.registry;
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.strip_prefix(&registry.site.url)?.strip_prefix(&registry.declaration.media.path)?.strip_prefix('/')
}
