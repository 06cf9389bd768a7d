//! Records of an export, with their terms, meta values and comments.

use super::importer::{Importer, WAITING, slug_key};
use super::items::{Comment, ExportRecord, TermRef};
use super::properties::taking;
use crate::boot::BootError;
use cms_core::families::{Columns, column, comment, content, text_column};
use cms_core::files::kinds;
use cms_core::records::{self, columns, eq, txt};
use cms_core::registry::Registry;
use cms_core::registry::columns::seo as seo_columns;
use cms_core::registry::name;
use cms_core::registry::resource::{Relation, Resource};
use cms_declaration::ImportFormat;
use cms_storage::plan::{Change, DbValue, Input, MetaChange, Name, Put, SlugClaim, Target};
use cms_text::time::parse_datetime;
use cms_text::{html_policy, php, slug};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

/// The status that exports give comments that went to the trash with their record.
const WITH_ITS_RECORD: &str = "post-trashed";

impl<'a> Importer<'a> {
    pub(super) fn record(&mut self, record: ExportRecord) -> Result<(), BootError> {
        let (id, key) = self.records.take("record", record.id);
        let renewed = self.renew && self.known.contains_key(&key) && self.is_here(id)?;
        let kind = self.kind(&record.kind);
        let resource = self.registry.resource_of_kind(&kind);
        let scope = match resource {
            Some(resource) => content::slug_scope(resource, self.records.target(record.parent)),
            None => kind.as_str().into(),
        };
        if !renewed && !self.remember(key, "record", id) {
            if self.waits(&slug_key(id)) {
                self.name_later(&record, scope, id);
            }
            return Ok(());
        }
        self.judge_author(&record);
        let mut change = self.put(&record, &kind, id);
        let unnamed = record.slug.is_empty() && self.registry.status_is(&record.status, |status| status.claims_slug);
        let claims = self.registry.status_is(&record.status, |status| status.claims_slug || status.trash);
        if unnamed {
            if !renewed {
                self.remember_as(&slug_key(id), WAITING, id);
            }
            self.name_later(&record, scope.clone(), id);
        }
        let moved = self.old_addresses(&record, resource, &scope, id);
        change.slug = Some(SlugClaim {
            column: name("slug"),
            scope: (claims && !record.slug.is_empty()).then_some(scope),
            candidates: vec![record.slug.as_str().into()],
            reserved: false,
            refuse: None,
            longest: SlugClaim::LONGEST,
        });
        let mut edges = self.filed(&record, resource, id, &mut change.set);
        if let Some(resource) = resource {
            let imported = self.imported(resource, &record.meta);
            change.set.retain(|(column, _)| !imported.iter().any(|(own, _)| own == column));
            change.set.extend(imported);
            change.set.extend(self.seo_columns(resource, &record.meta));
            let (own, lists) = self.own_values(resource, &record.meta);
            change.set.extend(own);
            edges.extend(lists);
            self.default_terms(resource, &record, &mut edges);
        }
        change.edges = edges.into_iter().collect();
        change.meta = meta(&record.meta);
        self.judge_meta(resource, &record.meta, &OWN_KEYS);
        if renewed {
            renew(&mut change, resource, self.registry, &record.meta);
            self.report.renewed += 1;
        } else {
            let counted = (record.kind.clone(), record.status.clone(), resource.is_none());
            *self.report.records.entry(counted).or_default() += 1;
            if let Some(url) = &record.attachment_url {
                *self.report.elsewhere.entry(host(url).to_owned()).or_default() += 1;
            }
        }
        self.pending.push(Change::Put(change));
        self.pending.extend(moved);
        for comment in &record.comments {
            self.comment(comment, id);
        }
        Ok(())
    }

    /// A record gets a slug when all others have theirs.
    fn name_later(&mut self, record: &ExportRecord, scope: Arc<str>, id: i64) {
        let wish = slug::sanitize_title(&record.title);
        let wish = if wish.is_empty() { SlugClaim::ID } else { &wish };
        self.unnamed.push((id, scope, wish.into()));
    }

    /// Whether a record is still here.
    pub(super) fn is_here(&self, id: i64) -> Result<bool, BootError> {
        let row: Option<i64> = records::first_by(
            &*self.services.storage.snapshot()?,
            columns(content::columns::TABLE, &["id"], eq("id", DbValue::Int(id))),
        )?;
        Ok(row.is_some())
    }

    /// The terms of a record: those of relations to several, which are returned, and those of columns. Terms that have
    /// no property are kept for later.
    fn filed(
        &mut self,
        record: &ExportRecord,
        resource: Option<&Resource>,
        id: i64,
        set: &mut Columns,
    ) -> BTreeMap<Name, Vec<i64>> {
        let mut edges: BTreeMap<Name, Vec<i64>> = BTreeMap::new();
        let mut terms: Vec<&TermRef> = record.terms.iter().collect();
        terms.sort_by_cached_key(|term| slug::title_key(&term.name));
        for term in terms {
            if let Some(column) = resource.and_then(|resource| self.language_column(resource, &term.taxonomy)) {
                set.push((column, Input::Value(txt(&term.slug))));
                continue;
            }
            let Some(target) = self.carried(term) else { continue };
            let relation = resource.and_then(|r| {
                let named = [term.taxonomy.as_str(), neutral(&term.taxonomy)];
                let leads = |rel: &&Relation| named.contains(&&*self.registry.resources[rel.to].kind);
                r.relations.iter().filter(|rel| !rel.is_inside()).find(leads)
            });
            match relation {
                Some(relation) if relation.is_list() => {
                    let list = edges.entry(relation.rel.clone()).or_default();
                    if !list.contains(&target) {
                        list.push(target);
                    }
                }
                Some(relation) => {
                    let column = resource.and_then(|r| r.plan_column(&relation.property));
                    set.extend(column.map(|column| (column, Input::Value(DbValue::Int(target)))));
                }
                None => {
                    let taxonomy = self.taxonomy_kind(&term.taxonomy);
                    self.keep_filing(&taxonomy, id, target);
                }
            }
        }
        edges
    }

    /// The changes that store the addresses that a record had where it comes from: each of its slugs at each of its dates, as
    /// nothing there says which belong together.
    fn old_addresses(
        &mut self,
        record: &ExportRecord,
        resource: Option<&Resource>,
        scope: &Arc<str>,
        id: i64,
    ) -> Vec<Change> {
        let of = |key: &'static str| record.meta.iter().filter(move |(own, value)| own == key && !value.is_empty());
        let date = self.dates(record).local;
        let (slugs, long): (Vec<&str>, Vec<&str>) =
            of(OLD_SLUG).map(|(_, slug)| slug.as_str()).partition(|slug| slug.len() <= SlugClaim::LONGEST);
        let (days, other): (Vec<_>, Vec<_>) =
            of(OLD_DATE).map(|(_, day)| parse_datetime(&format!("{day}T00:00:00"))).partition(Option::is_some);
        let dates: BTreeSet<i64> = iter::once(date).chain(days.iter().flatten().map(|day| day.wall)).collect();
        let own = Some(&*record.slug).filter(|slug| !slug.is_empty());
        let names: BTreeSet<&str> = own.into_iter().chain(slugs).collect();
        let all = names.iter().flat_map(|slug| dates.iter().map(|date| (*slug, *date)));
        let most = if resource.is_none_or(Resource::viewable) { MOST_OLD_ADDRESSES } else { 0 };
        let old = all.filter(|address| *address != (&*record.slug, date)).take(most);
        let entry = |(slug, at)| content::old::entry(scope.clone(), slug, at, DbValue::Int(id));
        let changes = old.flat_map(entry).collect();
        // The present one is among them.
        let lost = names.len().saturating_mul(dates.len()).saturating_sub(most + 1);
        let why = match most {
            0 => "old addresses of records that have no address".to_owned(),
            most => format!("old addresses of a record that has over {most}"),
        };
        let reasons = [(lost, why), (long.len() + other.len(), "old slugs and dates that are none".to_owned())];
        for (count, what) in reasons.into_iter().filter(|(count, _)| *count > 0) {
            *self.report.left_out.entry(what).or_default() += count as u64;
        }
        changes
    }

    /// The column with what a taxonomy says of languages and translations.
    fn language_column(&self, resource: &Resource, taxonomy: &str) -> Option<Name> {
        let languages = self.registry.languages.as_ref()?;
        let columns =
            [(&languages.import.records, &languages.column), (&languages.import.record_groups, &languages.group)];
        let (_, column) = columns.into_iter().find(|(from, _)| *from == taxonomy && !taxonomy.is_empty())?;
        resource.plan_column(column)
    }

    /// A record that names no term of a taxonomy gets its default one, unless nobody has saved it yet.
    fn default_terms(&self, resource: &Resource, record: &ExportRecord, edges: &mut BTreeMap<Name, Vec<i64>>) {
        if self.registry.status(&record.status).is_some_and(|status| status.internal) {
            return;
        }
        let given: Vec<Name> = edges.keys().cloned().collect();
        edges.extend(content::default_terms(self.registry, resource, &given, |setting| self.settings.int(setting)));
    }

    /// The neutral name of a kind: without the platform's prefix where a resource is declared for it.
    pub(super) fn kind(&self, exported: &str) -> String {
        let neutral = neutral(exported);
        let declared = self.registry.resource_of_kind(neutral).is_some();
        if declared { neutral.to_owned() } else { exported.to_owned() }
    }

    fn put(&self, record: &ExportRecord, kind: &str, id: i64) -> Put {
        let dates = self.dates(record);
        content::put(kind, Target::Keyed(DbValue::Int(id)), &record.status, dates, self.columns(record))
    }

    pub(super) fn dates(&self, record: &ExportRecord) -> content::Dates {
        let (local, utc) = self.pair(record.date_local, record.date_utc);
        let (modified_local, modified_utc) = match (record.modified_local, record.modified_utc) {
            (None, None) => (local, utc),
            (local, utc) => self.pair(local, utc),
        };
        let floats = record.date_utc.is_none()
            && self.registry.status(&record.status).is_some_and(|status| status.date_floating);
        content::Dates { local, utc, floats, modified_local, modified_utc }
    }

    /// The account of an author.
    pub(super) fn author_of(&self, login: &str) -> i64 {
        let authors = self.authors.as_ref().unwrap_or(&self.logins);
        authors.get(&slug::title_key(login)).copied().unwrap_or(self.importing)
    }

    /// Counts a record of an author that the file does not list.
    fn judge_author(&mut self, record: &ExportRecord) {
        let login = &record.author_login;
        let authors = self.authors.as_ref().unwrap_or(&self.logins);
        if !login.is_empty() && !authors.contains_key(&slug::title_key(login)) {
            self.report.unlisted_author(login);
        }
    }

    /// The columns that the export contains, except kind, state and dates.
    fn columns(&self, record: &ExportRecord) -> Columns {
        let meta = |key: &str| record.meta.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        let picture = meta("_thumbnail_id").and_then(|id| id.parse::<i64>().ok()).unwrap_or(0);
        let template = meta("_wp_page_template").filter(|t| *t != "default").unwrap_or("");
        let format = record.terms.iter().find(|t| t.taxonomy == "post_format");
        let format = format.map(|t| t.slug.trim_start_matches("post-format-"));
        let mut set = vec![
            text_column(content::columns::TITLE, &record.title),
            text_column(content::columns::CONTENT, &record.content),
            text_column(content::columns::EXCERPT, &record.excerpt),
            text_column(content::columns::GUID, &record.guid),
            text_column(content::columns::PASSWORD, &record.password),
            text_column(content::columns::TEMPLATE, template),
            text_column(
                content::columns::COMMENT_STATUS,
                if record.comment_status == "open" { "open" } else { "closed" },
            ),
            text_column(content::columns::PING_STATUS, if record.ping_status == "open" { "open" } else { "closed" }),
            text_column(content::columns::MIME, self.media_type(record.attachment_url.as_deref().unwrap_or(""))),
            column(content::columns::AUTHOR, DbValue::Int(self.author_of(&record.author_login))),
            column(content::columns::PARENT, DbValue::Int(self.records.target(record.parent))),
            column(content::columns::MENU_ORDER, DbValue::Int(record.menu_order)),
            column(content::columns::STICKY, DbValue::Int(i64::from(record.sticky))),
            column(content::columns::FEATURED_MEDIA, DbValue::Int(self.records.target(picture))),
        ];
        if let Some(format) = format {
            set.push(text_column(content::columns::FORMAT, format));
        }
        if self.registry.status_is(&record.status, |status| status.trash) {
            let before = meta("_wp_trash_meta_status").filter(|s| self.registry.status(s).is_some());
            set.push(text_column(content::columns::STATUS_BEFORE, before.unwrap_or(self.registry.draft_status())));
            set.push(text_column(content::columns::SLUG_BEFORE, content::slug_before(&record.slug)));
        }
        if let Some(url) = record.attachment_url.as_deref().filter(|url| !url.is_empty()) {
            let alt = meta("_wp_attachment_image_alt").unwrap_or("");
            let file = meta("_wp_attached_file").unwrap_or("");
            let extra = json!({"source_url": url, "alt_text": alt, "media_details": if file.is_empty() { json!({}) } else { json!({"file": file}) }});
            set.push(text_column(content::columns::EXTRA, &extra.to_string()));
            set.push(text_column(content::columns::FILE, file));
        }
        set
    }

    /// Declared columns whose values are in meta values.
    pub(super) fn imported(&self, resource: &Resource, values: &[(String, String)]) -> Columns {
        let mut set = Vec::new();
        for (column, from) in &resource.declared.import {
            let found = values.iter().find(|(key, _)| *key == from.meta);
            let (Some(column), Some((_, value))) = (resource.plan_column(column), found) else { continue };
            let number = value.parse().unwrap_or(0);
            let value = match from.kind {
                ImportFormat::Text => txt(value),
                ImportFormat::Words => txt(php::texts(value).join(" ").trim()),
                ImportFormat::Record => DbValue::Int(self.records.target(number)),
                ImportFormat::Kind => txt(self.registry.resource_by_api_name(value).map_or(value, |r| &*r.kind)),
                ImportFormat::Referenced => DbValue::Int(self.referenced(resource, values, number)),
            };
            set.push((column, Input::Value(value)));
        }
        set
    }

    /// The id here of a record or term with this number, by the class that another imported column holds.
    fn referenced(&self, resource: &Resource, values: &[(String, String)], number: i64) -> i64 {
        let class = resource.declared.reference.as_ref().and_then(|reference| {
            let from = resource.declared.import.get(&reference.class)?;
            let (_, class) = values.iter().find(|(key, _)| *key == from.meta)?;
            Some((reference, class))
        });
        match class {
            Some((reference, class)) if *class == reference.term => self.numbered.get(&number).copied().unwrap_or(0),
            _ => self.records.target(number),
        }
    }

    /// The wall clock and UTC; the one that is missing follows from the other.
    fn pair(&self, local: Option<i64>, utc: Option<i64>) -> (i64, i64) {
        match (local, utc) {
            (Some(local), Some(utc)) => (local, utc),
            (Some(local), None) => (local, self.settings.zone.local_to_utc(local)),
            (None, Some(utc)) => (self.settings.zone.utc_to_local(utc), utc),
            (None, None) => (self.settings.zone.utc_to_local(self.now), self.now),
        }
    }

    /// The user with an id in the file, if that user is here; 0 is nobody.
    fn account(&self, user: i64) -> i64 {
        let id = self.users.target(user);
        if user != 0 && self.logins.values().any(|known| *known == id) { id } else { 0 }
    }

    fn comment(&mut self, from: &Comment, record: i64) {
        let (id, key) = self.comments.take("comment", from.id);
        if !self.remember(key, "comment", id) {
            return;
        }
        use comment::columns as col;
        let value = |name: &str, value: i64| column(name, DbValue::Int(value));
        let status = match from.approved.as_str() {
            WITH_ITS_RECORD => Some(self.registry.trashed_comment_status()),
            word => self.registry.comment_status_named(word),
        };
        let status = status.unwrap_or(self.registry.held_comment_status());
        let (local, utc) = self.pair(from.date_local, from.date_utc);
        let set = vec![
            text_column(col::CONTENT, &html_policy::mark_links(&from.content)),
            text_column(col::AUTHOR_NAME, &from.author),
            text_column(col::AUTHOR_EMAIL, &from.email),
            text_column(col::AUTHOR_URL, &from.url),
            text_column(col::AUTHOR_IP, &from.ip),
            text_column(col::AUTHOR_USER_AGENT, &from.agent),
            text_column(col::STATUS, status),
            text_column(col::KIND, &from.kind),
            value(col::POST, record),
            value(col::PARENT, self.comments.target(from.parent)),
            value(col::AUTHOR, self.account(from.user_id)),
            value(col::DATE_LOCAL, local),
            value(col::DATE_UTC, utc),
        ];
        self.judge_meta(self.registry.comment_resources().next(), &from.meta, &[]);
        let put = Put::new(col::TABLE, Target::Keyed(DbValue::Int(id)), set);
        self.pending.push(Change::Put(Put { meta: meta(&from.meta), ..put }));
        self.report.comments += 1;
    }

    /// Counts the values that no document shows: their keys are not declared, or they do not fit. `own`: keys whose values
    /// are columns here.
    pub(super) fn judge_meta(&mut self, resource: Option<&Resource>, values: &[(String, String)], own: &[&str]) {
        for (key, value) in values {
            let declared = resource.and_then(|r| Some((r.meta.get(key)?, &r.declared.meta.get(key)?.schema)));
            let seo = &self.registry.declaration.seo.import;
            let takes = |r: &Resource| {
                let told = seo.contains_key(key) && r.column(seo_columns::VALUES).is_some();
                told || taking(self.registry, r, key).is_some()
                    || r.declared.import.values().any(|from| from.meta == *key)
            };
            let imported = || resource.is_some_and(takes);
            match declared {
                Some((of, schema)) if of.read(&json!(value), schema).is_none() => {
                    *self.report.unfit.entry(key.clone()).or_default() += 1;
                }
                Some(_) => {}
                None if own.contains(&key.as_str()) || imported() => {}
                None if resource.is_some_and(|resource| resource.declares_meta(key)) => {}
                None => self.report.hidden_value(key),
            }
        }
    }

    /// The MIME type that a file's name promises; empty where there is no file.
    fn media_type(&self, url: &str) -> &'a str {
        let name = url.split(['?', '#']).next().unwrap_or_default();
        if name.is_empty() { "" } else { kinds::promised(name, &self.registry.declaration.media) }
    }
}

/// Meta keys of the slugs and the days (`2024-05-06`) that a record had.
const OLD_SLUG: &str = "_wp_old_slug";
const OLD_DATE: &str = "_wp_old_date";

/// Old addresses of one record that an import brings.
const MOST_OLD_ADDRESSES: usize = 500;

/// Meta keys of WordPress's own whose values are columns of a record, or say of its file what the file itself says.
const OWN_KEYS: [&str; 8] = [
    OLD_SLUG,
    OLD_DATE,
    "_thumbnail_id",
    "_wp_page_template",
    "_wp_trash_meta_status",
    "_wp_attachment_image_alt",
    "_wp_attached_file",
    "_wp_attachment_metadata",
];

/// The host of an address.
pub(super) fn host(url: &str) -> &str {
    let behind = url.split_once("//").map_or(url, |(_, behind)| behind);
    behind.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Kinds and taxonomies of the platform carry its prefix in exports.
pub(super) fn neutral(exported: &str) -> &str {
    exported.strip_prefix("wp_").unwrap_or(exported)
}

/// Makes the put of a new record one of the record that is here. What became of its file here stays.
fn renew(change: &mut Put, resource: Option<&Resource>, registry: &Registry, values: &[(String, String)]) {
    if let Target::Keyed(key) = &change.target {
        change.target = Target::Existing { key: key.clone(), expect: None };
    }
    let of_file = [content::columns::FILE, content::columns::EXTRA, content::columns::MIME].map(name);
    change.set.retain(|(column, _)| !of_file.contains(column));
    if !change.set.iter().any(|(column, _)| **column == *content::columns::FORMAT) {
        change.set.push(text_column(content::columns::FORMAT, ""));
    }
    // Of a taxonomy that the source does not name any more it has no terms.
    let filed = resource.into_iter().flat_map(|own| &own.relations);
    for relation in filed.filter(|own| own.is_list() && registry.resources[own.to].is_taxonomy()) {
        if !change.edges.iter().any(|(rel, _)| *rel == relation.rel) {
            change.edges.push((relation.rel.clone(), Vec::new()));
        }
    }
    let mut by_key: BTreeMap<&str, Vec<Arc<str>>> = BTreeMap::new();
    for (key, value) in values {
        by_key.entry(key).or_default().push(json!(value).to_string().into());
    }
    change.meta = by_key.into_iter().map(|(key, values)| MetaChange::Key(name(key), values)).collect();
}

/// Values by key, each as JSON text.
pub(super) fn meta(pairs: &[(String, String)]) -> Vec<MetaChange> {
    pairs.iter().map(|(key, value)| MetaChange::Add(name(key), json!(value).to_string().into())).collect()
}
