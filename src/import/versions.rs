//! Versions and autosaves of records. They come when all records are there: they take ids that no record of the source has.

use super::importer::Importer;
use super::items::ExportRecord;
use crate::boot::BootError;
use cms_core::families::content::{RevisionContent, columns};
use cms_storage::plan::{Change, DbValue, Put, RevisionPut, Target};

/// The part of a slug that only those of autosaves have.
const AUTOSAVE: &str = "-autosave-";

impl Importer<'_> {
    /// Takes a version of a record that came in, with its author and its date.
    pub(super) fn version(&mut self, version: &ExportRecord) -> Result<(), BootError> {
        let of = self.records.target(version.parent);
        if of == 0 || !self.dry_run && !self.is_here(of)? {
            self.report.lost_versions += 1;
            return Ok(());
        }
        if !self.remember(format!("version:{}", version.id), "version", of) {
            return Ok(());
        }
        let revision = RevisionPut {
            author: self.author_of(&version.author_login),
            at: self.dates(version).modified_utc,
            autosave: version.slug.contains(AUTOSAVE),
            json: RevisionContent::of_texts(&version.title, &version.content, &version.excerpt).json(),
            keep: None,
            skip_same: false,
        };
        let target = Target::Existing { key: DbValue::Int(of), expect: None };
        let put = Put { revisions: vec![revision], ..Put::new(columns::TABLE, target, Vec::new()) };
        self.pending.push(Change::Put(put));
        self.report.versions += 1;
        self.flush_full()
    }
}
