//! An import on its way: items taken one by one, committed in batches.

use super::ids::{ExportIds, IdMap, assign_ids, may_stay};
use super::items::{ExportItem, ExportSummary};
use super::properties::OwnType;
use super::records::neutral;
use super::{BATCH, ImportReport, SiteImport};
use crate::boot::{BootError, Services};
use cms_base::pool::wait;
use cms_core::families::{column, content, term};
use cms_core::records::{self, always, columns, eq, select, txt};
use cms_core::registry::columns::user;
use cms_core::registry::fields::{self, FieldTarget};
use cms_core::registry::{Registry, name};
use cms_core::scope::Settings;
use cms_storage::Snapshot;
use cms_storage::plan::{Change, Cond, DbValue, Name, Put, SlugClaim, Target, WritePlan};
use cms_storage::typed_row;
use cms_text::slug;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// An import on its way: what the file's things became, and what is to be committed.
pub(super) struct Importer<'a> {
    pub registry: &'a Registry,
    pub services: &'a Services,
    /// Address of the exported site: what came from it is remembered under this name.
    pub source: String,
    pub settings: Settings,
    /// New ids by those of the file.
    pub records: IdMap,
    pub comments: IdMap,
    pub terms: IdMap,
    pub users: IdMap,
    /// Source keys that an earlier run brought, with what they became.
    pub known: HashMap<String, i64>,
    /// Those that this run has brought; none of them is known.
    pub fresh: HashSet<String>,
    /// Users by folded login.
    pub logins: HashMap<String, i64>,
    /// Accounts by folded address: login, and id, or none where this run brings it.
    pub addresses: HashMap<String, (String, Option<i64>)>,
    /// Users for the file's authors, by folded login; `None` where it lists none.
    pub authors: Option<HashMap<String, i64>>,
    /// Who gets records whose author the file does not list.
    pub importing: i64,
    /// Terms by taxonomy and slug.
    pub slugs: HashMap<(String, String), i64>,
    /// Default terms of an empty site, by taxonomy: they become the terms of the file that have their ids.
    pub seeds: HashMap<Name, i64>,
    /// Terms by their numbers in the file.
    pub numbered: HashMap<i64, i64>,
    /// The kinds of rows that values of fields refer to, by the keys of the fields.
    pub fields: HashMap<String, FieldTarget>,
    /// The types of own properties, by resource and name, as they were needed; `None`: no document shows the property.
    pub own_types: HashMap<(usize, String), Option<OwnType>>,
    /// Parents to be set when every term is there: taxonomy, child, slug of the parent.
    pub parents: Vec<(String, i64, String)>,
    /// Languages and translations of terms, to be set when every term is there: group, language, number in the file.
    pub spoken: Vec<(String, String, i64)>,
    /// Published records without a slug, which get one when all others have theirs: id, where it is unique, wish.
    pub unnamed: Vec<(i64, Arc<str>, Arc<str>)>,
    /// UTC seconds.
    pub now: i64,
    pub next_term: i64,
    /// The site was empty when the import began, perhaps in a run that was ended.
    pub fills: bool,
    pub pending: Vec<Change>,
    /// Nothing is committed.
    pub dry_run: bool,
    /// See [`SiteImport::renew`].
    pub renew: bool,
    pub report: ImportReport,
}

/// The user in whose name an import runs: the one that is named, else the first administrator; 0 where there is nobody.
fn importing_user(registry: &Registry, accounts: &[AccountRow], named: Option<&str>) -> Result<i64, BootError> {
    let found = match named {
        Some(login) => {
            let found = accounts.iter().find(|account| *account.login_key == slug::title_key(login));
            Some(found.ok_or_else(|| BootError::Other(format!("there is no user {login}")))?)
        }
        None => {
            let role = registry.required_role();
            let holds = |account: &&AccountRow| account.roles.split_whitespace().any(|held| Some(held) == role);
            accounts.iter().find(holds).or(accounts.first())
        }
    };
    Ok(found.map_or(0, |account| account.id))
}

/// The terms that are here by taxonomy and slug, those of undeclared taxonomies too; without those that give way.
fn term_slugs(
    snapshot: &dyn Snapshot,
    seeds: &HashMap<Name, i64>,
) -> Result<HashMap<(String, String), i64>, BootError> {
    let rows: Vec<(String, String, i64)> = snapshot.rows_as(&columns("term", &["taxonomy", "slug", "id"], always()))?;
    let staying = rows.into_iter().filter(|(taxonomy, _, id)| seeds.get(&**taxonomy) != Some(id));
    Ok(staying.map(|(taxonomy, slug, id)| ((taxonomy, slug), id)).collect())
}

/// The default terms that are as the site was given them, and whose ids the file has for others.
fn untouched_seeds(
    registry: &Registry,
    snapshot: &dyn Snapshot,
    ids: &ExportIds,
) -> Result<HashMap<Name, i64>, BootError> {
    let mut untouched = HashMap::new();
    for (taxonomy, id) in registry.default_terms() {
        let kind = &taxonomy.kind;
        let seed = term::seed(taxonomy, id).slug.and_then(|claim| claim.candidates.first().cloned());
        let Some(slug) = seed else { continue };
        let named = |(from, _): &&(String, String)| **from == **kind || *neutral(from) == **kind;
        let has_id = ids.slugs.iter().any(|(name, own)| named(&name) && *own == id);
        let has_slug = ids.slugs.keys().any(|name| named(&name) && *name.1 == *slug);
        let here = Cond::All(vec![eq("id", DbValue::Int(id)), eq("taxonomy", txt(kind)), eq("slug", txt(&slug))]);
        if has_id && !has_slug && records::exists(snapshot, term::columns::TABLE, here)? {
            untouched.insert(kind.clone(), id);
        }
    }
    Ok(untouched)
}

typed_row! {
    user::TABLE;
    struct AccountRow {
        id: i64,
        login: String,
        login_key: String,
        email_key: String,
        roles: String,
    }
}

impl<'a> Importer<'a> {
    pub(super) fn new(
        registry: &'a Registry,
        services: &'a Services,
        summary: &ExportSummary,
        settings: Settings,
        ids: &ExportIds,
        options: SiteImport<'_>,
        was_empty: bool,
    ) -> Result<Importer<'a>, BootError> {
        let storage = &*services.storage;
        let mut report = ImportReport::default();
        let snapshot = storage.snapshot()?;
        let source = summary.base_url.clone();
        let known: HashMap<String, i64> =
            snapshot.rows_as(&columns("origin", &["source_key", "row"], eq("source", txt(&source))))?;
        let seeds = if was_empty { untouched_seeds(registry, &*snapshot, ids)? } else { HashMap::new() };
        let mut place = |space: &'static str, ids: &[i64]| {
            let free = seeds.values().filter(|_| space == "term").copied().collect();
            assign_ids(&*snapshot, space, ids, &free, &known, &mut report)
        };
        let records = place("record", &ids.records)?;
        let comments = place("comment", &ids.comments)?;
        let terms = place("term", &ids.terms)?;
        let users = place("user", &ids.users)?;
        let accounts: Vec<AccountRow> =
            snapshot.rows_as(&records::ordered(select::<AccountRow>(always()), "id", false))?;
        let importing = importing_user(registry, &accounts, options.user)?;
        let logins = accounts.iter().map(|account| (account.login_key.clone(), account.id)).collect();
        let address = |account: AccountRow| (account.email_key, (account.login, Some(account.id)));
        let addresses = accounts.into_iter().map(address).collect();
        let slugs = term_slugs(&*snapshot, &seeds)?;
        let own = ids.terms.iter().filter(|id| may_stay(**id));
        let highest = terms.moved.values().chain(slugs.values()).chain(own).copied().max().unwrap_or(0);
        drop(snapshot);
        let mut importer = Importer {
            registry,
            services,
            source,
            settings,
            records,
            comments,
            terms,
            users,
            known,
            fresh: HashSet::new(),
            logins,
            addresses,
            authors: (!ids.users.is_empty()).then(HashMap::new),
            importing,
            slugs,
            seeds,
            numbered: HashMap::new(),
            fields: fields::targets(&registry.field_groups),
            own_types: HashMap::new(),
            parents: Vec::new(),
            spoken: Vec::new(),
            unnamed: Vec::new(),
            now: services.clock.now(),
            next_term: highest + 1,
            fills: false,
            pending: Vec::new(),
            dry_run: options.dry_run,
            renew: options.renew,
            report,
        };
        importer.begin_settings(was_empty);
        Ok(importer)
    }

    /// The settings of an empty site are taken when all items are there, perhaps in a later run.
    fn begin_settings(&mut self, was_empty: bool) {
        let waits = self.waits(EMPTY);
        self.fills = was_empty || waits;
        if was_empty && !waits {
            self.remember_as(EMPTY, WAITING, 0);
        }
    }

    pub(super) fn take(&mut self, mut item: ExportItem) -> Result<(), BootError> {
        self.spread(&mut item);
        self.follow(&mut item);
        match item {
            ExportItem::Author(author) => self.author(author)?,
            ExportItem::Term(term) => {
                let number = term.id;
                let became = self.term(term);
                self.numbered.extend(number.zip(became));
            }
            ExportItem::Record(record) => self.record(*record)?,
        }
        self.flush_full()
    }

    pub(super) fn flush_full(&mut self) -> Result<(), BootError> {
        if self.pending.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    pub(super) fn flush(&mut self) -> Result<(), BootError> {
        let changes = std::mem::take(&mut self.pending);
        if changes.is_empty() || self.dry_run {
            return Ok(());
        }
        let wished: Vec<Option<Arc<str>>> = changes.iter().filter_map(wished_slug).collect();
        let done = wait(self.services.storage.commit(WritePlan::new(changes))).map_err(BootError::Commit)?;
        for (wish, put) in wished.into_iter().zip(&done.puts) {
            if let (Some(wish), Some(got)) = (wish, &put.slug)
                && wish != *got
            {
                self.report.slugs.change(&wish, got);
            }
        }
        Ok(())
    }

    /// Commits whatever waits for all items.
    pub(super) fn finish(&mut self) -> Result<(), BootError> {
        for (taxonomy, child, parent) in std::mem::take(&mut self.parents) {
            if let Some(parent) = self.slugs.get(&(taxonomy, parent)).copied() {
                let target = Target::Existing { key: DbValue::Int(child), expect: None };
                let set = vec![column(term::columns::PARENT, DbValue::Int(parent))];
                self.pending.push(Change::Put(Put::new(term::columns::TABLE, target, set)));
            }
            self.settle(&parent_key(child));
            self.flush_full()?;
        }
        self.speak();
        self.flush()?;
        for (id, scope, wish) in std::mem::take(&mut self.unnamed) {
            let target = Target::Existing { key: DbValue::Int(id), expect: None };
            let claim = SlugClaim {
                column: name(content::columns::SLUG),
                scope: Some(scope),
                candidates: vec![wish],
                reserved: false,
                refuse: None,
                longest: SlugClaim::LONGEST,
            };
            self.pending
                .push(Change::Put(Put { slug: Some(claim), ..Put::new(content::columns::TABLE, target, Vec::new()) }));
            self.settle(&slug_key(id));
            self.flush_full()?;
        }
        self.flush()
    }

    /// Whether an earlier run was ended before what waits under this key was done.
    pub(super) fn waits(&self, key: &str) -> bool {
        self.known.contains_key(key)
    }

    /// Forgets what has waited under this key.
    pub(super) fn settle(&mut self, key: &str) {
        let filter = Cond::All(vec![eq("source", txt(&self.source)), eq("source_key", txt(key))]);
        self.pending.push(Change::RemoveWhere { table: name("origin"), filter });
    }

    /// Remembers what a source key became; false when this run or an earlier one has brought it.
    pub(super) fn remember(&mut self, key: String, table: &str, row: i64) -> bool {
        if self.known.contains_key(&key) {
            self.report.known += 1;
            return false;
        }
        if self.fresh.contains(&key) {
            self.report.twice += 1;
            return false;
        }
        self.remember_as(&key, table, row);
        self.fresh.insert(key)
    }
}

/// The table under which `origin` keeps what waits for all items: a run that was ended leaves it to the next one.
pub(super) const WAITING: &str = "waiting";

/// The key of the site's settings.
pub(super) const EMPTY: &str = "empty";

/// The key of a term that gets its parent.
pub(super) fn parent_key(term: i64) -> String {
    format!("parent:{term}")
}

/// The key of a record that gets a slug.
pub(super) fn slug_key(record: i64) -> String {
    format!("slug:{record}")
}

/// The slug that the file gives a row, where it has to be unique; one entry for each put.
fn wished_slug(change: &Change) -> Option<Option<Arc<str>>> {
    let Change::Put(put) = change else { return None };
    let given = put.slug.as_ref().filter(|slug| slug.scope.is_some() && matches!(put.target, Target::Keyed(_)));
    Some(given.and_then(|slug| slug.candidates.first()).filter(|slug| ***slug != *SlugClaim::ID).cloned())
}
