//! Addresses in texts: those of files that are here now become the addresses that these have here.
//!
//! An address is meant where its site is the one that the import came from, or this machine, where a site is tried out. What
//! else names a folder of uploads is counted by its site.

use super::attachments::FileNames;
use super::file_records::each_file;
use super::records::host;
use super::report_lines::ReportLines;
use super::texts;
use super::uploads::{UploadMarks, names};
use crate::boot::{BootError, Services};
use cms_base::pool::wait;
use cms_core::behaviours::files;
use cms_core::families::content::columns;
use cms_core::families::file;
use cms_core::registry::Registry;
use cms_storage::plan::{Change, CommitError, WritePlan};
use cms_text::php;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Bytes of an address before the folder of uploads.
const LONGEST: usize = 1024;

/// Sites that are counted one by one.
const MOST_SITES: usize = 1000;

/// The outcome, for people.
#[derive(Debug, Default)]
pub struct AddressReport {
    changed: u64,
    /// Records, terms, accounts, comments and widgets.
    items: u64,
    /// Addresses of files that are not here, by site.
    elsewhere: BTreeMap<String, u64>,
    /// Files of the old site that texts name, and that are not here.
    missing: FileNames,
    /// Items that somebody wrote meanwhile.
    busy: u64,
}

impl AddressReport {
    /// The report, line by line.
    pub fn lines(&self) -> ReportLines {
        let mut lines = ReportLines::default();
        lines.count(self.changed, format!("addresses in {} items lead to the files here", self.items));
        for (site, count) in &self.elsewhere {
            lines.count(*count, format!("addresses of files are still at {site}"));
        }
        self.missing.lines(&mut lines, "still elsewhere");
        if self.busy > 0 {
            lines.count(self.busy, "items were written by others meanwhile: run it again");
        }
        lines
    }
}

/// A change of addresses on its way.
struct AddressChange<'a> {
    registry: &'a Registry,
    /// Sites whose files are here.
    sites: HashSet<String>,
    marks: &'a UploadMarks,
    /// Files that have another name here.
    renamed: &'a HashMap<String, String>,
    /// Names of files that are here, among those that the texts of these records have.
    here: HashSet<String>,
    report: AddressReport,
}

/// Changes the addresses in all texts that may name files. `sites`: addresses of the site that the records come from;
/// `renamed`: names of files there, with those that they have here.
///
/// # Errors
/// The database cannot be read, or refuses.
pub fn rewrite(
    registry: &Registry,
    services: &Services,
    sites: &[&str],
    renamed: &HashMap<String, String>,
) -> Result<AddressReport, BootError> {
    let mut sites: HashSet<String> = sites.iter().map(|site| site_of(site)).collect();
    // The files of a site may have a site of their own.
    each_file(registry, &*services.storage, |record, _| {
        sites.insert(site_of(record.text(columns::GUID)));
        Ok(())
    })?;
    sites.remove("");
    let marks = UploadMarks::of(registry, &*services.storage)?;
    let mut change = AddressChange {
        registry,
        sites,
        marks: &marks,
        renamed,
        here: HashSet::new(),
        report: AddressReport::default(),
    };
    texts::each_page(registry, &*services.storage, |table, snapshot, mut rows| {
        let named: HashSet<String> = rows.iter_mut().flat_map(|row| row.files(&marks)).collect();
        let named = named.iter().map(|name| renamed.get(name).unwrap_or(name));
        change.here = file::among(snapshot, named)?;
        for mut row in rows {
            let before = change.report.changed;
            let Some(put) = row.changed(table, |text| change.stored(text)) else { continue };
            match wait(services.storage.commit(WritePlan::new(vec![Change::Put(put)]))) {
                Ok(_) => change.report.items += 1,
                Err(CommitError::Stale) => {
                    change.report.changed = before;
                    change.report.busy += 1;
                }
                Err(error) => return Err(BootError::Commit(error)),
            }
        }
        Ok(())
    })?;
    Ok(change.report)
}

impl AddressChange<'_> {
    /// Changes a text, also one that PHP has serialised; whether there was anything to change.
    fn stored(&mut self, text: &mut String) -> bool {
        let before = self.report.changed;
        php::change_texts(text, &mut |text| {
            if let Some(changed) = self.text(text) {
                *text = changed;
            }
        });
        self.report.changed > before
    }

    /// A text after the change; `None`: there is nothing to change.
    fn text(&mut self, text: &str) -> Option<String> {
        let mut places: Vec<(usize, usize)> = self.marks.places(text).collect();
        places.sort_unstable();
        let (mut changed, mut done) = (String::new(), 0);
        for (at, behind) in places {
            let Some(start) = text.get(done..at).and_then(beginning).map(|start| done + start) else { continue };
            let address = &text[start..behind];
            if address.replace("\\/", "/") == files::address(self.registry, "") {
                continue;
            }
            let forms = names(&text[behind..]);
            let Some((last, _)) = forms.last() else { continue };
            let site = site_of(address);
            let key = |name: &String| self.renamed.get(name).unwrap_or(name).clone();
            let found = forms.iter().find(|(name, _)| self.here.contains(&key(name)));
            match found.filter(|_| self.sites.contains(&site) || is_local(&site)) {
                None => self.report.elsewhere(site, last),
                Some((name, length)) => {
                    let written = &text[behind..behind + length];
                    let new = match self.renamed.get(name) {
                        Some(key) => files::address(self.registry, key),
                        None => files::address(self.registry, "") + &written.replace("\\/", "/"),
                    };
                    let new = if address.contains("\\/") { new.replace('/', "\\/") } else { new };
                    let end = behind + length;
                    if text[start..end] != new {
                        changed.push_str(&text[done..start]);
                        changed.push_str(&new);
                        self.report.changed += 1;
                        done = end;
                    }
                }
            }
        }
        changed.push_str(&text[done..]);
        (done > 0).then_some(changed)
    }
}

impl AddressReport {
    /// Counts an address of a file that is not here.
    fn elsewhere(&mut self, site: String, file: &str) {
        let known = self.elsewhere.len() < MOST_SITES || self.elsewhere.contains_key(&site);
        let site = if known { site } else { "further sites".to_owned() };
        self.missing.add(format!("{file} at {site}"));
        *self.elsewhere.entry(site).or_default() += 1;
    }
}

/// Where the address begins that is at the end of a text; `None`: it is one without a site.
fn beginning(before: &str) -> Option<usize> {
    const SCHEMES: [&str; 4] = ["https://", "http://", "https:\\/\\/", "http:\\/\\/"];
    let mut from = before.len().saturating_sub(LONGEST);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let (skipped, before) = (from, &before[from..]);
    let ends = |letter: char| letter.is_whitespace() || "\"'<>()[]{}=,;|".contains(letter);
    let from = before.rfind(ends).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let tail = &before[from..];
    let found = SCHEMES.iter().filter_map(|scheme| tail.rfind(scheme)).max();
    let bare = tail.starts_with("//") || tail.starts_with("\\/\\/");
    found.or(bare.then_some(0)).map(|at| skipped + from + at)
}

/// The site of an address, as others may write it: `example.org` for `https://www.Example.org/files`.
fn site_of(address: &str) -> String {
    let address = address.replace("\\/", "/");
    let site = host(&address).to_lowercase();
    site.strip_prefix("www.").map_or(site.clone(), str::to_owned)
}

/// Whether a site is on this machine, where sites are tried out.
fn is_local(site: &str) -> bool {
    site == "localhost" || ["localhost:", "127.", "[::1]"].iter().any(|local| site.starts_with(local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_begins_with_its_site() {
        for (text, expected) in [
            ("<img src=\"https://old.example/wp-content", Some("https://old.example/wp-content")),
            ("srcset=\"https://a/uploads/x.jpg 300w, http://b:80", Some("http://b:80")),
            ("{\"url\":\"https:\\/\\/old.example\\/wp-content", Some("https:\\/\\/old.example\\/wp-content")),
            ("url(//old.example", Some("//old.example")),
            ("https://proxy/https://old.example", Some("https://old.example")),
            ("href=\"/wp-content", None),
            ("ü „http://old.example", Some("http://old.example")),
            ("", None),
        ] {
            assert_eq!(beginning(text).map(|at| &text[at..]), expected, "{text}");
        }
    }

    #[test]
    fn sites_are_told_by_their_hosts() {
        for (address, expected) in [
            ("https://www.Old.example/wp", "old.example"),
            ("http:\\/\\/127.0.0.1:80\\/x", "127.0.0.1:80"),
            ("//old.example", "old.example"),
            ("", ""),
        ] {
            assert_eq!(site_of(address), expected, "{address}");
        }
        assert!(is_local("127.0.0.1:80") && is_local("localhost") && !is_local("localhost.example"));
    }
}
