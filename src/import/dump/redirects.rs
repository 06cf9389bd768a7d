//! Redirects that the plugin Redirection keeps, as far as redirects here are like them.

use super::SqlDump;
use super::records::RowValues;
use crate::import::items::{ExportSummary, FileFault};
use cms_storage::StagedRead;
use std::collections::BTreeMap;

/// Redirects that are taken.
const MOST: usize = 20_000;

impl SqlDump {
    /// Adds the redirects to a summary; those that are not taken are counted.
    pub(super) fn redirects(&self, summary: &mut ExportSummary) -> Result<(), FileFault> {
        let Some(table) = self.table("redirection_items") else { return Ok(()) };
        let columns = ["url", "regex", "status", "action_type", "action_code", "action_data", "match_type", "title"];
        let read = StagedRead { table: &table, columns: &columns, of: None, order: "id" };
        self.staged.file.each(&read, |row| {
            let mut row = RowValues::of(row);
            let (from, is_pattern, status, action) = (row.text(), row.int() != 0, row.text(), row.text());
            let (code, to, condition, note) = (row.int(), row.text(), row.text(), row.text());
            let (to, code) = match (action.as_str(), code) {
                ("url", 301 | 302 | 307 | 308) => (to, code),
                ("error", 410) => (String::new(), code),
                _ => {
                    summary.leave_out("redirects: they do something else than to lead to an address", 1);
                    return Ok(());
                }
            };
            if is_pattern || condition != "url" {
                summary.leave_out("redirects: they are regular expressions, or have conditions", 1);
            } else if summary.redirects.len() == MOST {
                summary.leave_out(format!("redirects: they follow the first {MOST}"), 1);
            } else {
                let enabled = (status != "disabled").to_string();
                let members =
                    [("from", from), ("to", to), ("status", code.to_string()), ("note", note), ("enabled", enabled)];
                let members: BTreeMap<String, String> =
                    members.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
                summary.redirects.push(members);
            }
            Ok::<(), FileFault>(())
        })
    }
}
