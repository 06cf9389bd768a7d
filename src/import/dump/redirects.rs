//! Redirects that the plugin Redirection keeps, as far as redirects here are like them.

use super::SqlDump;
use crate::import::items::{ExportSummary, FileFault};
use cms_storage::{StagedRead, StagedValue};
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
            let mut row = row.into_iter();
            let from = row.next().map(StagedValue::into_text).unwrap_or_default();
            let is_pattern = row.next().is_some_and(|regex| regex.int() != 0);
            let status = row.next().map(StagedValue::into_text).unwrap_or_default();
            let action = row.next().map(StagedValue::into_text).unwrap_or_default();
            let code = row.next().map_or(0, |code| code.int());
            let [to, condition, note] =
                std::array::from_fn(|_| row.next().map(StagedValue::into_text).unwrap_or_default());
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
