//! Losses of an export in WordPress's own importer, so that the report can name them.

use super::report::ExportReport;
use crate::import::items::{ExportRecord, Term};
use cms_core::registry::fields::{FieldTarget, GroupFields, referring, targets};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The type of menu items in the format, which WordPress's importer always creates again.
const MENU_ITEM: &str = "nav_menu_item";

/// Counts the losses, record by record.
pub(super) struct ImporterLosses {
    /// The kinds of rows that values of fields refer to, by the keys of the fields.
    fields: HashMap<String, FieldTarget>,
    /// Types, titles and dates so far, as digests.
    seen: HashSet<u64>,
}

impl ImporterLosses {
    pub(super) fn new(groups: &[GroupFields]) -> ImporterLosses {
        ImporterLosses { fields: targets(groups), seen: HashSet::new() }
    }

    pub(super) fn of_record(&mut self, record: &ExportRecord, report: &mut ExportReport) {
        if record.kind != MENU_ITEM {
            let mut digest = DefaultHasher::new();
            (&record.kind, &record.title, record.date_local).hash(&mut digest);
            report.twins += u64::from(!self.seen.insert(digest.finish()));
            report.changed += u64::from(record.modified_local != record.date_local);
        }
        report.numbers += self.numbers(&record.meta);
        report.numbers += record.comments.iter().map(|comment| self.numbers(&comment.meta)).sum::<u64>();
    }

    pub(super) fn of_term(&self, term: &Term, report: &mut ExportReport) {
        report.numbers += self.numbers(&term.meta);
    }

    /// How many values refer to rows that the importer numbers again.
    fn numbers(&self, values: &[(String, String)]) -> u64 {
        let renumbered = |target: FieldTarget| matches!(target, FieldTarget::Term | FieldTarget::User);
        let referring = referring(&self.fields, values).into_iter();
        referring.filter(|(at, target)| renumbered(*target) && !values[*at].1.is_empty()).count() as u64
    }
}
