//! The site of a dump: the prefix of its tables, its settings, and the rows that no item has.

use super::records::RowValues;
use super::stage::StagedTables;
use super::tables::{DumpVocabulary, OptionKind};
use super::widgets;
use crate::import::items::{ExportSummary, FileFault, ImportedSetting};
use crate::import::names::reason;
use cms_storage::{StagedRead, StagedValue};
use cms_text::{php, sanitize};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

/// Options that have a meaning of their own here.
const OWN_OPTIONS: [&str; 8] =
    ["blogname", "blogdescription", "siteurl", "home", "WPLANG", "gmt_offset", "sticky_posts", "upload_url_path"];

/// See the module.
pub(super) struct DumpSite {
    /// Of the tables of the site.
    pub prefix: String,
    /// Of the tables of accounts, which the sites of a network share.
    pub accounts: String,
    /// The dump is of a network of sites, which share their accounts.
    pub is_network: bool,
    /// Records that stay on top.
    pub sticky: HashSet<i64>,
    /// Address of the folder of uploads.
    pub uploads: String,
    /// Words of the site's roles; empty: it does not say.
    pub roles: HashSet<String>,
    /// The site as far as no item tells of it.
    pub summary: ExportSummary,
}

impl DumpSite {
    /// The site that a dump holds, or that the prefix names.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub(super) fn of(
        staged: &StagedTables,
        vocabulary: &DumpVocabulary,
        wanted: Option<&str>,
    ) -> Result<DumpSite, FileFault> {
        let prefix = prefix_of(&staged.tables, wanted)?;
        let shared = staged.tables.iter().filter(|(own, name)| name == "users" && prefix.starts_with(own.as_str()));
        let accounts = shared.map(|(own, _)| own).max_by_key(|own| own.len()).unwrap_or(&prefix).clone();
        let options = DumpOptions { staged, table: format!("{prefix}options"), prefix: &prefix };
        let mut summary = options.summary(vocabulary)?;
        options.others(vocabulary, &mut summary)?;
        others(staged, vocabulary, (&prefix, &accounts), &mut summary)?;
        let sticky = match php::unserialize(&options.text("sticky_posts")?) {
            Some(Value::Array(ids)) => ids.iter().filter_map(number).collect(),
            Some(Value::Object(ids)) => ids.values().filter_map(number).collect(),
            _ => HashSet::new(),
        };
        let roles = match php::unserialize(&options.text(&format!("{prefix}user_roles"))?) {
            Some(Value::Object(roles)) => roles.into_iter().map(|(role, _)| role).collect(),
            _ => HashSet::new(),
        };
        let mut uploads = options.text("upload_url_path")?;
        if uploads.is_empty() {
            uploads = format!("{}/wp-content/uploads", summary.site_url.trim_end_matches('/'));
            // The sites of a network besides the first one have a number, in their prefix and in their folder.
            let number = prefix.strip_prefix(accounts.as_str()).unwrap_or_default().trim_end_matches('_');
            if !number.is_empty() {
                uploads = format!("{uploads}/sites/{number}");
            }
        }
        let is_network = prefix != accounts || staged.others.contains_key(&format!("{accounts}blogs"));
        Ok(DumpSite { prefix, accounts, is_network, sticky, uploads, roles, summary })
    }
}

/// The prefix of the tables of the only site, or the wanted one.
fn prefix_of(tables: &BTreeSet<(String, String)>, wanted: Option<&str>) -> Result<String, FileFault> {
    let fault = |message: String| FileFault { line: 0, message, hint: "" };
    let with =
        |name: &'static str| tables.iter().filter(move |(_, own)| own == name).map(|(prefix, _)| prefix.as_str());
    let mut sites: Vec<&str> = with("posts").collect();
    if sites.len() > 1 && sites.iter().any(|site| with("options").any(|own| own == *site)) {
        // The table of a plugin may be called as one of WordPress.
        sites.retain(|site| with("options").any(|own| own == *site));
    }
    let listed = sites.iter().map(|site| format!("`{site}`")).collect::<Vec<_>>().join(", ");
    match (wanted, sites.as_slice()) {
        (Some(wanted), sites) if sites.contains(&wanted) => Ok(wanted.to_owned()),
        (Some(wanted), _) => Err(fault(format!("the dump has no rows of a table {wanted}posts"))),
        (None, [site]) => Ok((*site).to_owned()),
        (None, []) => Err(fault(
            "this is no dump of a WordPress database: it has no rows of a table of posts\n  hint: choose a dump with the \
             rows of all tables"
                .into(),
        )),
        (None, _) => Err(fault(format!(
            "the dump has several sites, whose tables begin with {listed}\n  hint: name the one to take: --table-prefix {}",
            sites[0]
        ))),
    }
}

pub(super) fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// The options of a site.
pub(super) struct DumpOptions<'d> {
    staged: &'d StagedTables,
    table: String,
    prefix: &'d str,
}

impl DumpOptions<'_> {
    fn is_there(&self) -> bool {
        self.staged.tables.contains(&(self.prefix.to_owned(), "options".to_owned()))
    }

    /// The text of an option; empty where it is not there.
    pub(super) fn text(&self, name: &str) -> Result<String, FileFault> {
        if !self.is_there() {
            return Ok(String::new());
        }
        let name = StagedValue::Text(name.to_owned());
        let of = Some(("option_name", &name));
        let read = StagedRead { table: &self.table, columns: &["option_value"], of, order: "option_name" };
        let row = self.staged.file.all(&read)?.into_iter().next();
        Ok(row.map(|row| RowValues::of(row).text()).unwrap_or_default())
    }

    fn summary(&self, vocabulary: &DumpVocabulary) -> Result<ExportSummary, FileFault> {
        let site_url = self.text("siteurl")?;
        let home = self.text("home")?;
        let mut summary = ExportSummary {
            // Names are stored as they stand in pages.
            title: sanitize::unescape(&self.text("blogname")?),
            description: sanitize::unescape(&self.text("blogdescription")?),
            language: self.text("WPLANG")?,
            base_url: [home, site_url.clone(), format!("tables {}", self.prefix)]
                .into_iter()
                .find(|address| !address.is_empty())
                .unwrap_or_default(),
            site_url,
            warnings: self.staged.warnings.clone(),
            ..ExportSummary::default()
        };
        if self.staged.utf8_in_latin1 > 0 {
            let count = self.staged.utf8_in_latin1;
            let message = format!("{count} texts of the dump are in UTF-8, although it says latin1: they are read so");
            summary.warnings.add(0, message);
        }
        for (option, target) in &vocabulary.settings {
            let text = self.text(option)?;
            let id = text.parse().ok().filter(|id| *id > 0);
            let setting = match target.kind {
                OptionKind::Text => (!text.is_empty()).then_some(ImportedSetting::Text(text)),
                kind => id.and_then(|id| kind.of(id)),
            };
            summary.settings.extend(setting.map(|setting| (target.to.clone(), setting)));
        }
        // Without the name of a zone there is a number of hours.
        let hours = self.text("gmt_offset")?;
        if let Some(zone) = vocabulary.settings.get("timezone_string").filter(|_| !["", "0"].contains(&hours.as_str()))
        {
            let sign = if hours.starts_with('-') { "" } else { "+" };
            let offset = ImportedSetting::Text(format!("UTC{sign}{hours}"));
            summary.settings.entry(zone.to.clone()).or_insert(offset);
        }
        Ok(summary)
    }

    /// Counts the options that become nothing, and takes the widgets.
    fn others(&self, vocabulary: &DumpVocabulary, summary: &mut ExportSummary) -> Result<(), FileFault> {
        if !self.is_there() {
            return Ok(());
        }
        let roles = format!("{}user_roles", self.prefix);
        let mut widgets = Vec::new();
        let read = StagedRead { table: &self.table, columns: &["option_name"], of: None, order: "option_name" };
        self.staged.file.each(&read, |row| {
            let name = RowValues::of(row).text();
            if let Some(kind) = name.strip_prefix(widgets::OPTION) {
                widgets.push(kind.to_owned());
                return Ok(());
            }
            let is_own = [roles.as_str(), widgets::AREAS].contains(&name.as_str());
            let is_own = is_own || OWN_OPTIONS.contains(&name.as_str());
            if !is_own && !vocabulary.settings.contains_key(&name) {
                let why = reason(&vocabulary.left_out.options, &name);
                let why = why.map_or("no setting here has them", |(_, why)| why);
                summary.leave_out(format!("options: {why}"), 1);
            }
            Ok::<(), FileFault>(())
        })?;
        self.widgets(&widgets, vocabulary, summary)
    }
}

/// Counts the rows of tables that are not read.
fn others(
    staged: &StagedTables,
    vocabulary: &DumpVocabulary,
    (prefix, accounts): (&str, &str),
    summary: &mut ExportSummary,
) -> Result<(), FileFault> {
    const ANOTHER: &str = "it is not of this site";
    for (table, rows) in &staged.others {
        let why = if vocabulary.split(table).is_some() { ANOTHER } else { "nothing here is like it" };
        summary.leave_out(format!("rows of the table {table}: {why}"), *rows);
    }
    for (own, name) in &staged.tables {
        if own != if vocabulary.is_shared(name) { accounts } else { prefix } {
            let table = format!("{own}{name}");
            let rows = staged.file.count(&table)?;
            summary.leave_out(format!("rows of the table {table}: {ANOTHER}"), rows);
        }
    }
    Ok(())
}
