//! Translations of what a part lists: the addresses in each language (`hreflang`), where a resource declares languages.

use crate::error::ApiError;
use crate::handlers::Work;
use crate::records::{self, Record, txt};
use crate::registry::columns::{ID, record};
use crate::registry::languages::Languages;
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::render::{Batch, address, short_columns};
use cms_storage::Snapshot;
use cms_storage::plan::{Cond, Order, ReadPlan, Row};
use std::collections::{HashMap, HashSet};

/// The tag of the address for languages that a site does not have.
const OTHERS: &str = "x-default";

/// The translations of a part's rows.
#[derive(Default)]
pub(super) struct Translations {
    /// Tags of languages with addresses, by the name that translations share.
    of: HashMap<String, Vec<(String, String)>>,
    /// The column with that name.
    group: String,
    pub(super) newest: Option<i64>,
}

impl Translations {
    /// The translations of rows among those that `listed` has: one statement, and those of their addresses.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn load(
        work: &Work<'_>,
        snapshot: &dyn Snapshot,
        resource: &Resource,
        rows: &[Row],
        listed: ReadPlan,
    ) -> Result<Translations, ApiError> {
        let Some(languages) = &work.scope.registry.languages else { return Ok(Translations::default()) };
        let Some(column) = resource.plan_column(&languages.group) else { return Ok(Translations::default()) };
        let group = |row| Record { resource, row }.text(&languages.group);
        let groups: HashSet<&str> = rows.iter().map(group).filter(|group| !group.is_empty()).collect();
        if groups.is_empty() {
            return Ok(Translations::default());
        }
        let most = groups.len().saturating_mul(languages.all.len()) as u64;
        let among = Cond::In(column, groups.into_iter().map(txt).collect());
        let filter = records::all([listed.filter, among]);
        let order = vec![Order::Column(name(ID), false)];
        let plan = ReadPlan { filter, order, limit: Some(most), offset: 0, ..listed };
        let found = records::read(snapshot, resource, plan, &short_columns(resource))?;
        let mut batch = Batch::default();
        batch.load_address_parts(snapshot, work.scope, resource, &found)?;
        let mut translations = Translations { group: languages.group.clone(), ..Translations::default() };
        for record in found.iter().map(|row| Record { resource, row }) {
            let url = address::of(work.scope, record, &batch, record.text(record::SLUG));
            let known = translations.of.entry(record.text(&languages.group).to_owned()).or_default();
            add(known, languages, record.text(&languages.column), url);
            translations.newest = translations.newest.max(record.modified());
        }
        translations.of.retain(|_, known| known.iter().filter(|(tag, _)| tag != OTHERS).count() > 1);
        Ok(translations)
    }

    /// The tags and addresses of a row's translations, its own among them; none where it has no translation.
    pub(super) fn of(&self, record: Record<'_>) -> &[(String, String)] {
        self.of.get(record.text(&self.group)).map_or(&[], Vec::as_slice)
    }
}

/// Adds an address in a language, of which the first counts. That of the default language is for all other readers, too.
fn add(known: &mut Vec<(String, String)>, languages: &Languages, stored: &str, url: String) {
    let language = languages.named(stored);
    let tag = languages.tag(language);
    if known.iter().any(|(own, _)| own == tag) {
        return;
    }
    if language == languages.default {
        known.push((OTHERS.to_owned(), url.clone()));
    }
    known.push((tag.to_owned(), url));
}
