//! The report of an import: imported items, items that differ from the file, and items that are not shown.

use super::encoding::TextEncodings;
use super::ids::may_stay;
use super::items::Warnings;
use super::report_lines::ReportLines;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The outcome of importing a redirect.
pub enum RedirectOutcome {
    Made,
    /// One from the same address is here already.
    Known,
    /// With the reason.
    Refused(String),
}

/// The outcome of importing a widget.
pub enum WidgetOutcome {
    Made,
    /// Its area, which nothing declares.
    Hidden(String),
    /// It is here already.
    Known,
    /// With the reason.
    Refused(String),
}

/// Changes that the report spells out, of each sort.
const LISTED: usize = 20;
/// Meta keys that are counted one by one: plugins make keys without end.
const MOST_KEYS: usize = 10_000;
/// Meta keys that the report spells out, the most frequent ones.
const LISTED_KEYS: usize = 200;

/// Sentences of one sort: the first ones, and how many more there are.
#[derive(Debug, Default)]
pub(super) struct ReportSentences {
    listed: Vec<String>,
    more: u64,
}

impl ReportSentences {
    pub(super) fn add(&mut self, text: impl FnOnce() -> String) {
        match self.listed.len() < LISTED {
            true => self.listed.push(text()),
            false => self.more += 1,
        }
    }

    /// Adds what was taken and became another one.
    pub(super) fn change(&mut self, from: &dyn fmt::Display, to: &dyn fmt::Display) {
        let taken = if self.listed.is_empty() { "was taken and " } else { "" };
        self.add(|| format!("{from} {taken}became {to}"));
    }

    /// The sentences in one line.
    fn line(&self, lines: &mut ReportLines, of: &str, end: &str) {
        if self.listed.is_empty() {
            return;
        }
        let more = if self.more > 0 { format!(", and {} more", self.more) } else { String::new() };
        lines.note(format!("{of} {}{more}{end}", self.listed.join(", ")));
    }

    /// The sentences on lines of their own.
    fn lines(&self, lines: &mut ReportLines, of: &str) {
        self.listed.iter().for_each(|line| lines.note(line));
        if self.more > 0 {
            lines.note(format!("{} more {of}", self.more));
        }
    }
}

/// See the module's description.
#[derive(Debug, Default)]
pub struct ImportReport {
    /// Records brought in, by kind and status; true: no resource shows them.
    pub(super) records: BTreeMap<(String, String, bool), u64>,
    pub(super) terms: u64,
    /// Terms of taxonomies that nothing here declares.
    pub(super) hidden_terms: BTreeMap<String, u64>,
    /// Mentions of terms in records that have no such property, by taxonomy.
    pub(super) filings: BTreeMap<String, u64>,
    /// Mentions of earlier runs that have a property by now.
    pub(super) filed: u64,
    pub(super) users: u64,
    /// New accounts that log in with the passwords that they had, and those that have to set one.
    pub(super) passwords: u64,
    pub(super) no_passwords: u64,
    /// New accounts with roles that nothing declares, by role.
    pub(super) roles: BTreeMap<String, u64>,
    /// Records of authors that the file does not list, by login.
    pub(super) unlisted: BTreeMap<String, u64>,
    pub(super) comments: u64,
    pub(super) redirects: u64,
    pub(super) refused_redirects: ReportSentences,
    pub(super) widgets: u64,
    pub(super) refused_widgets: ReportSentences,
    /// Widgets of areas that nothing declares, by area.
    pub(super) hidden_widgets: BTreeMap<String, u64>,
    /// Things that an earlier run brought already, or that were here before.
    pub(super) known: u64,
    /// Items that an earlier run brought, with values that declarations take by now.
    pub(super) later: u64,
    /// Records that an earlier run brought, and that are as in the source again.
    pub(super) renewed: u64,
    /// Things that the file names a second time.
    pub(super) twice: u64,
    /// Ids that were taken, or whose thing was here under another one, by space.
    pub(super) moved: BTreeMap<&'static str, ReportSentences>,
    /// Slugs that were taken.
    pub(super) slugs: ReportSentences,
    pub(super) accounts: ReportSentences,
    pub(super) settings: ReportSentences,
    /// Values under meta keys that nothing declares.
    pub(super) keys: BTreeMap<String, u64>,
    pub(super) more_keys: u64,
    /// Values under declared meta keys that do not fit.
    pub(super) unfit: BTreeMap<String, u64>,
    /// Variables of titles and descriptions that templates here do not have.
    pub(super) variables: BTreeMap<String, u64>,
    /// Files that are not here, by the host that has them.
    pub(super) elsewhere: BTreeMap<String, u64>,
    /// Parts of the file that are not items, with the reason.
    pub(super) left_out: BTreeMap<String, u64>,
    /// Ids that the source points to and does not have, by what has them.
    pub(super) lost: [(&'static str, BTreeSet<i64>); 4],
    /// Versions and autosaves that came in, those of records that did not, and those that were not asked for.
    pub(super) versions: u64,
    pub(super) lost_versions: u64,
    pub(super) other_versions: u64,
    pub(super) encodings: TextEncodings,
    pub(super) warnings: Warnings,
}

/// Counts a name, unless there are too many others. Whether it is counted.
fn count(names: &mut BTreeMap<String, u64>, name: &str) -> bool {
    let room = names.len() < MOST_KEYS;
    match names.get_mut(name) {
        Some(count) => *count += 1,
        None if room => drop(names.insert(name.to_owned(), 1)),
        None => return false,
    }
    true
}

/// Versions that were not asked for.
pub(super) fn versions_line(count: u64) -> String {
    format!("{count} versions and autosaves of records: --revisions brings them")
}

impl ImportReport {
    /// Counts a value under a key that nothing declares.
    pub(super) fn hidden_value(&mut self, key: &str) {
        self.more_keys += u64::from(!count(&mut self.keys, key));
    }

    /// Counts a variable that templates here do not have.
    pub(super) fn unknown_variable(&mut self, name: &str) {
        self.more_keys += u64::from(!count(&mut self.variables, name));
    }

    /// Counts a record of an author that the file does not list.
    pub(super) fn unlisted_author(&mut self, login: &str) {
        if !count(&mut self.unlisted, login) {
            *self.unlisted.entry("further authors".to_owned()).or_default() += 1;
        }
    }

    /// The files are looked for in a folder; the report on that says which are missing.
    pub fn files_follow(&mut self) {
        self.elsewhere.clear();
    }

    /// Counts a redirect.
    pub fn redirect(&mut self, outcome: RedirectOutcome) {
        match outcome {
            RedirectOutcome::Made => self.redirects += 1,
            RedirectOutcome::Known => self.known += 1,
            RedirectOutcome::Refused(why) => {
                self.refused_redirects.add(|| format!("redirect that is not imported: {why}"));
            }
        }
    }

    /// Counts a widget.
    pub fn widget(&mut self, outcome: WidgetOutcome) {
        match outcome {
            WidgetOutcome::Made => self.widgets += 1,
            WidgetOutcome::Hidden(area) => {
                self.widgets += 1;
                *self.hidden_widgets.entry(area).or_default() += 1;
            }
            WidgetOutcome::Known => self.known += 1,
            WidgetOutcome::Refused(why) => {
                self.refused_widgets.add(|| format!("widget that is not imported: {why}"));
            }
        }
    }

    /// An id of the file that became another one.
    pub(super) fn moved(&mut self, space: &'static str, from: i64, to: i64) {
        let moved = self.moved.entry(space).or_default();
        match may_stay(from) {
            true => moved.change(&from, &to),
            false => moved.add(|| format!("{from} is too large for programs that read JSON, and became {to}")),
        }
    }

    fn counts(&self, lines: &mut ReportLines) {
        for ((kind, status, hidden), n) in &self.records {
            let hidden = if *hidden { ": stored, no resource shows them" } else { "" };
            lines.count(*n, format!("{kind} {status}{hidden}"));
        }
        lines.count(self.terms, "terms");
        lines.count(self.users, "users");
        lines.count(self.comments, "comments");
        let further = [
            (self.renewed, "records that were here are as in the source again"),
            (self.known, "were here already"),
            (self.twice, "are named twice in the file: the first one counts"),
            (self.later, "items that came before show values that are declared by now"),
            (self.filed, "terms of records that came before are shown now"),
            (self.passwords, "accounts have the passwords that they had"),
            (self.no_passwords, "accounts have no password that can be verified here: their owners set one"),
            (self.redirects, "redirects"),
            (self.widgets, "widgets"),
            (self.versions, "versions and autosaves of records"),
        ];
        for (n, what) in further.into_iter().filter(|(n, _)| *n > 0) {
            lines.count(n, what);
        }
        for (role, n) in &self.roles {
            lines.count(*n, format!("accounts have the role {role}, which nothing declares: it gives them no right"));
        }
        for (login, n) in &self.unlisted {
            lines.count(
                *n,
                format!("records of {login}, whom the file does not list: they belong to the user of the import"),
            );
        }
        for (taxonomy, n) in &self.hidden_terms {
            lines.count(*n, format!("terms of {taxonomy}: stored, no resource shows them"));
        }
        for (area, n) in &self.hidden_widgets {
            lines.count(*n, format!("widgets of the area {area}, which nothing declares: unused until it is declared"));
        }
        for (taxonomy, n) in &self.filings {
            lines.count(
                *n,
                format!("times a record has a term of {taxonomy} that it cannot show: kept until it is declared"),
            );
        }
    }

    fn meta(&self, lines: &mut ReportLines) {
        for (key, n) in &self.unfit {
            lines.count(*n, format!("values of the meta key {key} do not fit its declaration: kept, shown as null"));
        }
        if !self.variables.is_empty() {
            let listed = self.variables.iter().take(LISTED_KEYS).map(|(name, n)| format!("{name} ({n})"));
            let listed: Vec<String> = listed.collect();
            let what = "variables of titles and descriptions that nothing here has, left out";
            lines.note(format!("{what}: {}", listed.join(", ")));
        }
        if self.keys.is_empty() {
            return;
        }
        let mut keys: Vec<(&String, &u64)> = self.keys.iter().collect();
        keys.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let listed: Vec<String> = keys.iter().take(LISTED_KEYS).map(|(key, n)| format!("{key} ({n})")).collect();
        let more = keys.iter().skip(LISTED_KEYS).map(|(_, n)| **n).sum::<u64>() + self.more_keys;
        let more = if more > 0 { format!(", and {more} values under others") } else { String::new() };
        lines.note(format!("meta keys that nothing declares, stored and not shown: {}{more}", listed.join(", ")));
    }

    /// The report, line by line.
    pub fn lines(&self) -> ReportLines {
        let mut lines = ReportLines::default();
        self.counts(&mut lines);
        self.meta(&mut lines);
        for (host, n) in &self.elsewhere {
            lines.count(*n, format!("files are still at {host}: --attachments FOLDER brings them"));
        }
        for (space, moved) in &self.moved {
            moved.line(&mut lines, space, "; what pointed to it follows");
        }
        self.slugs.line(&mut lines, "slug", "");
        self.accounts.lines(&mut lines, "accounts");
        self.settings.lines(&mut lines, "settings");
        self.refused_redirects.lines(&mut lines, "redirects that are not imported");
        self.refused_widgets.lines(&mut lines, "widgets that are not imported");
        for (what, n) in &self.left_out {
            lines.leave_out(Some(*n), what);
        }
        for (what, lost) in self.lost.iter().filter(|(_, lost)| !lost.is_empty()) {
            let listed: Vec<String> = lost.iter().take(LISTED).map(i64::to_string).collect();
            let more = if lost.len() > LISTED { ", …" } else { "" };
            let listed = listed.join(", ");
            let what = format!("{what} are not there, and what pointed to them points to nothing: {listed}{more}");
            lines.count(lost.len() as u64, what);
        }
        if self.lost_versions > 0 {
            lines.leave_out(Some(self.lost_versions), "versions of records that are left out or not there");
        }
        if self.other_versions > 0 {
            lines.leave_out(None, versions_line(self.other_versions));
        }
        self.encodings.lines().chain(self.warnings.lines()).for_each(|line| lines.note(line));
        lines
    }
}
