//! The records of a site, with what belongs to them: terms, values and comments.

use super::report::ExportReport;
use super::terms::taxonomy;
use crate::import::filing;
use crate::import::items::{Author, Comment, ExportRecord, TermRef};
use cms_core::access::policy;
use cms_core::behaviours::files;
use cms_core::error::ApiError;
use cms_core::features::site_export::{exported, exported_name};
use cms_core::model::SiteExportQuery;
use cms_core::records::{self, Record, all, always, columns, is_in, select};
use cms_core::registry::Registry;
use cms_core::registry::columns::{ID, comment, old_address, record, term, user};
use cms_core::registry::name;
use cms_core::registry::resource::{Property, PropertyKind, PropertySource, Relation, Resource};
use cms_core::registry::views::humanize_name;
use cms_core::render::{Batch, address};
use cms_core::scope::Scope;
use cms_declaration::ImportFormat;
use cms_storage::plan::{Cond, DbValue, Edge, EdgePlan, Name, Op, ReadPlan, Row};
use cms_storage::{Snapshot, typed_row};
use cms_text::php;
use cms_text::time::format_local;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The space of the meta values of records.
const CONTENT: &str = "content";

/// Meta keys of WordPress's own that follow from columns here, so stored values of these are of another time.
const FROM_COLUMNS: [&str; 7] = [
    "_thumbnail_id",
    "_wp_page_template",
    "_wp_trash_meta_status",
    "_wp_attachment_image_alt",
    "_wp_attached_file",
    "_wp_old_slug",
    "_wp_old_date",
];

typed_row! {
    record::TABLE;
    struct RecordRow {
        id: i64,
        kind: Arc<str>,
        status: String,
        status_before: String,
        slug: String,
        author: i64,
        parent: i64,
        menu_order: i64,
        date_local: i64,
        date_utc: i64,
        date_floats: bool,
        modified_local: i64,
        modified_utc: i64,
        title: String,
        content: String,
        excerpt: String,
        password: String,
        comment_status: String,
        ping_status: String,
        file: String,
        guid: String,
        sticky: bool,
        format: String,
        template: String,
        featured_media: i64,
        extra: String,
    }
}

typed_row! {
    user::TABLE;
    struct UserRow {
        id: i64,
        login: String,
        email: String,
        name: String,
        first_name: String,
        last_name: String,
    }
}

typed_row! {
    comment::TABLE;
    struct CommentRow {
        id: i64,
        post: i64,
        parent: i64,
        author: i64,
        author_name: String,
        author_email: String,
        author_url: String,
        author_ip: String,
        date_local: i64,
        date_utc: i64,
        content: String,
        status: String,
        kind: String,
    }
}

typed_row! {
    old_address::TABLE;
    struct OldAddress {
        slug: String,
        date: i64 = old_address::DATE,
        record: i64,
    }
}

/// Reads the records in the order of their ids.
pub(super) struct RecordReader<'s> {
    scope: &'s Scope,
    snapshot: &'s dyn Snapshot,
    /// Taxonomies that there are terms of.
    taxonomies: Vec<Name>,
    filter: Cond,
    last: i64,
    logins: HashMap<i64, String>,
}

/// The rows that records refer to, by record and relation.
pub(super) type RelatedIds = HashMap<(i64, Name), Vec<i64>>;

/// Terms, values, comments and addresses of the records of a page, by their ids.
struct PageParts {
    /// Rows of declared types with all of their columns.
    rows: HashMap<i64, (usize, Row)>,
    /// Addresses and files.
    links: HashMap<i64, String>,
    terms: HashMap<i64, Vec<TermRef>>,
    related: RelatedIds,
    meta: HashMap<i64, Vec<(String, String)>>,
    comments: HashMap<i64, Vec<Comment>>,
    old: HashMap<i64, Vec<(String, i64)>>,
}

impl<'s> RecordReader<'s> {
    pub(super) fn new(
        scope: &'s Scope,
        snapshot: &'s dyn Snapshot,
        query: &SiteExportQuery,
    ) -> Result<RecordReader<'s>, ApiError> {
        let taxonomies = snapshot.groups(&columns(term::TABLE, &[term::TAXONOMY], always()))?;
        let taxonomies = taxonomies.into_iter().filter_map(|row| Some(name(records::text(row.first()?)))).collect();
        let (filter, last) = (exported(query), query.after);
        Ok(RecordReader { scope, snapshot, taxonomies, filter, last, logins: HashMap::new() })
    }

    /// The accounts that own records.
    pub(super) fn authors(&mut self) -> Result<Vec<Author>, ApiError> {
        let owners = columns(record::TABLE, &[record::AUTHOR], self.filter.clone());
        let ids = self.snapshot.groups(&owners)?.into_iter().filter_map(|row| row.first().map(records::int));
        let rows = self.users(ids.collect())?;
        let author = |row: UserRow| Author {
            id: Some(row.id),
            login: row.login,
            email: row.email,
            display_name: row.name,
            first_name: row.first_name,
            last_name: row.last_name,
            account: None,
        };
        Ok(rows.into_iter().map(author).collect())
    }

    fn users(&mut self, ids: Vec<i64>) -> Result<Vec<UserRow>, ApiError> {
        let plan = records::ordered(select::<UserRow>(is_in(ID, ids)), ID, false);
        let rows: Vec<UserRow> = self.snapshot.rows_as(&plan)?;
        self.logins.extend(rows.iter().map(|row| (row.id, row.login.clone())));
        Ok(rows)
    }

    /// The id of the last record that was read.
    pub(super) fn last(&self) -> i64 {
        self.last
    }

    /// The next records, so many at most; `None` after the last one.
    pub(super) fn page(&mut self, most: u64, report: &mut ExportReport) -> Result<Option<Vec<ExportRecord>>, ApiError> {
        let after = Cond::Compare(name(ID), Op::Gt, DbValue::Int(self.last));
        let plan = records::ordered(select::<RecordRow>(all([self.filter.clone(), after])), ID, false);
        let rows: Vec<RecordRow> = self.snapshot.rows_as(&ReadPlan { limit: Some(most), ..plan })?;
        let Some(last) = rows.last() else { return Ok(None) };
        self.last = last.id;
        let unknown = |author: &i64| *author != 0 && !self.logins.contains_key(author);
        let unknown: Vec<i64> = rows.iter().map(|row| row.author).filter(unknown).collect();
        if !unknown.is_empty() {
            self.users(unknown)?;
        }
        let registry = &self.scope.registry;
        let saved = |row: &RecordRow| !registry.status_is(&row.status, |status| status.internal && status.draft);
        let (rows, unsaved): (Vec<_>, Vec<_>) = rows.into_iter().partition(saved);
        report.unsaved += unsaved.len() as u64;
        let mut parts = self.parts(&rows, report)?;
        Ok(Some(rows.into_iter().map(|row| self.record(row, &mut parts, report)).collect()))
    }

    fn parts(&self, rows: &[RecordRow], report: &mut ExportReport) -> Result<PageParts, ApiError> {
        let (scope, snapshot) = (self.scope, self.snapshot);
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        let mut by_type: HashMap<usize, Vec<i64>> = HashMap::new();
        for row in rows {
            if let Some(resource) = scope.registry.resource_of_kind(&row.kind) {
                by_type.entry(resource.index).or_default().push(row.id);
            }
        }
        let mut parts = PageParts {
            rows: HashMap::new(),
            links: HashMap::new(),
            terms: self.kept_terms(&ids)?,
            related: HashMap::new(),
            meta: stored_values(snapshot, CONTENT, &ids)?,
            comments: self.comments(&ids, report)?,
            old: HashMap::new(),
        };
        for (index, ids) in by_type {
            let resource = &scope.registry.resources[index];
            let rows = snapshot.rows(&records::plan(resource, is_in(ID, ids.iter().copied())))?;
            let mut batch = Batch::default();
            batch.load_addresses(snapshot, scope, resource, &rows)?;
            for row in rows {
                let record = Record { resource, row: &row };
                let id = record.id();
                parts.links.insert(id, address::of(scope, record, &batch, record.text(record::SLUG)));
                parts.rows.insert(id, (index, row));
            }
            self.relate(resource, &ids, &mut parts)?;
        }
        let past: Vec<OldAddress> = snapshot.rows_as(&select::<OldAddress>(is_in(old_address::RECORD, ids)))?;
        for OldAddress { slug, date, record } in past {
            parts.old.entry(record).or_default().push((slug, date));
        }
        Ok(parts)
    }

    /// Reads the relations of records of a type: terms, and what else they refer to.
    fn relate(&self, resource: &Resource, ids: &[i64], parts: &mut PageParts) -> Result<(), ApiError> {
        let registry = &self.scope.registry;
        let several = resource.relations.iter().filter(|relation| relation.is_list());
        let rels: Vec<Name> = several.map(|relation| relation.rel.clone()).collect();
        let edges = match rels.is_empty() {
            true => Vec::new(),
            false => self.snapshot.edges(&EdgePlan { rels, of: ids.to_vec(), reverse: false })?,
        };
        let to_terms = |relation: &&Relation| !relation.is_inside() && registry.resources[relation.to].is_taxonomy();
        let filing: Vec<&Relation> = resource.relations.iter().filter(to_terms).collect();
        let is_filed = |edge: &Edge| filing.iter().any(|relation| relation.rel == edge.rel);
        let (filed, others): (Vec<_>, Vec<_>) = edges.into_iter().partition(is_filed);
        let mut filed: Vec<(i64, i64)> = filed.into_iter().map(|edge| (edge.src, edge.dst)).collect();
        for relation in filing.into_iter().filter(|relation| relation.is_column()) {
            let rows = ids.iter().filter_map(|id| parts.rows.get(id));
            let records = rows.map(|(_, row)| Record { resource, row });
            filed.extend(
                records.map(|record| (record.id(), record.int(&relation.property))).filter(|(_, term)| *term != 0),
            );
        }
        let terms = self.terms(filed.iter().map(|(_, term)| *term))?;
        for (record, term) in filed {
            parts.terms.entry(record).or_default().extend(terms.get(&term).cloned());
        }
        for edge in others {
            parts.related.entry((edge.src, edge.rel)).or_default().push(edge.dst);
        }
        Ok(())
    }

    fn terms(&self, ids: impl Iterator<Item = i64>) -> Result<HashMap<i64, TermRef>, ApiError> {
        let plan = columns(term::TABLE, &[ID, term::TAXONOMY, term::SLUG, term::NAME], is_in(ID, ids));
        let rows: Vec<(i64, String, String, String)> = self.snapshot.rows_as(&plan)?;
        let one = |(id, kind, slug, name): (i64, String, String, String)| {
            (id, TermRef { taxonomy: taxonomy(&self.scope.registry, &kind), slug, name })
        };
        Ok(rows.into_iter().map(one).collect())
    }

    /// The terms of records that nothing declares a property for.
    fn kept_terms(&self, ids: &[i64]) -> Result<HashMap<i64, Vec<TermRef>>, ApiError> {
        let kept = filing::kept(self.snapshot, self.taxonomies.iter(), ids)?;
        let terms = self.terms(kept.iter().map(|(_, term)| *term))?;
        let mut all: HashMap<i64, Vec<TermRef>> = HashMap::new();
        for (record, term) in kept {
            all.entry(record).or_default().extend(terms.get(&term).cloned());
        }
        Ok(all)
    }

    fn comments(&self, ids: &[i64], report: &mut ExportReport) -> Result<HashMap<i64, Vec<Comment>>, ApiError> {
        let filter = is_in(comment::POST, ids.iter().copied());
        let rows: Vec<CommentRow> =
            self.snapshot.rows_as(&records::ordered(select::<CommentRow>(filter), ID, false))?;
        let own: Vec<i64> = rows.iter().map(|row| row.id).collect();
        let mut meta = stored_values(self.snapshot, comment::TABLE, &own)?;
        for comments in self.scope.registry.comment_resources() {
            let reads = |key: &str| policy::reads_meta(self.scope, comments, key);
            meta.values_mut().for_each(|values| values.retain(|(key, _)| reads(key)));
        }
        let mut all: HashMap<i64, Vec<Comment>> = HashMap::new();
        for row in rows {
            let approved = approved(self.scope, &row.status);
            if approved == "spam" {
                report.spam += 1;
                continue;
            }
            report.comments += 1;
            report.accounts += u64::from(row.author != 0 && !self.logins.contains_key(&row.author));
            all.entry(row.post).or_default().push(Comment {
                id: row.id,
                author: row.author_name,
                email: row.author_email,
                url: row.author_url,
                ip: row.author_ip,
                date_local: Some(row.date_local),
                date_utc: Some(row.date_utc),
                content: row.content,
                agent: String::new(),
                approved,
                kind: row.kind,
                parent: row.parent,
                user_id: row.author,
                meta: meta.remove(&row.id).unwrap_or_default(),
            });
        }
        Ok(all)
    }

    fn record(&self, row: RecordRow, parts: &mut PageParts, report: &mut ExportReport) -> ExportRecord {
        let registry = &self.scope.registry;
        let whole = parts.rows.remove(&row.id);
        let typed = whole.as_ref().map(|(index, row)| Record { resource: &registry.resources[*index], row });
        let kind = typed.map_or_else(|| row.kind.to_string(), |of| exported_name(registry, of.resource));
        *report.records.entry(kind.clone()).or_default() += 1;
        let extra: Value = serde_json::from_str(&row.extra).unwrap_or(Value::Null);
        let source = extra["source_url"].as_str().map(str::to_owned);
        let is_file = !row.file.is_empty() || source.is_some();
        let attachment_url =
            is_file.then(|| source.or_else(|| typed.map(|of| files::source_of(self.scope, of)))).flatten();
        let mut terms = parts.terms.remove(&row.id).unwrap_or_default();
        if !row.format.is_empty() && row.format != "standard" {
            let slug = format!("post-format-{}", row.format);
            let name = humanize_name(&row.format);
            terms.push(TermRef { taxonomy: "post_format".to_owned(), name, slug });
        }
        terms.extend(typed.into_iter().flat_map(|of| language_terms(registry, of)));
        let mut meta = parts.meta.remove(&row.id).unwrap_or_default();
        let trashed = registry.status_is(&row.status, |status| status.trash);
        let own = own_values(trashed, &row, &extra, parts.old.remove(&row.id));
        // Of a file that is still elsewhere only the stored values are known.
        let is_own = |key: &str| FROM_COLUMNS.contains(&key) || own.iter().any(|(known, _)| known == key);
        meta.retain(|(key, _)| !is_own(key));
        meta.extend(own);
        if let Some(of) = typed {
            let reads = |key: &str| policy::reads_meta(self.scope, of.resource, key);
            meta.retain(|(key, _)| reads(key));
            replace(&mut meta, declared_values(self.scope, of));
            let found = property_values(self.scope, of, &parts.related);
            for (property, _) in &found {
                *report.properties.entry((kind.clone(), property.clone())).or_default() += 1;
            }
            replace(&mut meta, found);
        }
        ExportRecord {
            id: row.id,
            link: parts.links.remove(&row.id).unwrap_or_else(|| row.guid.clone()),
            title: row.title,
            content: row.content,
            excerpt: row.excerpt,
            guid: row.guid,
            date_local: Some(row.date_local),
            date_utc: Some(row.date_utc).filter(|_| !row.date_floats),
            modified_local: Some(row.modified_local),
            modified_utc: Some(row.modified_utc),
            author_login: self.logins.get(&row.author).cloned().unwrap_or_default(),
            slug: row.slug,
            status: row.status,
            // A menu item says in a meta value which one is above it.
            parent: if typed.is_some_and(|of| of.resource.declared.import.contains_key(record::PARENT)) {
                0
            } else {
                row.parent
            },
            menu_order: row.menu_order,
            kind,
            password: row.password,
            sticky: row.sticky,
            comment_status: row.comment_status,
            ping_status: row.ping_status,
            attachment_url,
            terms,
            meta,
            comments: parts.comments.remove(&row.id).unwrap_or_default(),
            line: 0,
        }
    }
}

/// The language of a record and the group of its translations, as the terms that an import reads them from.
fn language_terms(registry: &Registry, record: Record<'_>) -> Vec<TermRef> {
    let Some(languages) = &registry.languages else { return Vec::new() };
    let from = [(&languages.import.records, &languages.column), (&languages.import.record_groups, &languages.group)];
    let named = from.into_iter().filter(|(taxonomy, _)| !taxonomy.is_empty());
    let term = |(taxonomy, column): (&String, &String)| {
        let slug = Some(record.text(column)).filter(|slug| !slug.is_empty())?.to_owned();
        let name = languages.find(&slug).map_or_else(|| slug.clone(), |language| language.name.clone());
        Some(TermRef { taxonomy: taxonomy.clone(), name, slug })
    };
    named.filter_map(term).collect()
}

/// The word that exports have for a state of comments.
fn approved(scope: &Scope, status: &str) -> String {
    let words = ["1", "0", "spam", "trash"];
    let word = words.into_iter().find(|word| scope.registry.comment_status_named(word) == Some(status));
    word.unwrap_or(status).to_owned()
}

/// The stored meta values of rows as WordPress stores them: texts as they are, lists and objects serialised by PHP.
///
/// # Errors
/// The database cannot be read.
pub(super) fn stored_values(
    snapshot: &dyn Snapshot,
    space: &str,
    ids: &[i64],
) -> Result<HashMap<i64, Vec<(String, String)>>, ApiError> {
    let mut all: HashMap<i64, Vec<(String, String)>> = HashMap::new();
    for row in snapshot.meta(&name(space), ids)? {
        let value = serde_json::from_str(&row.json).unwrap_or(Value::Null);
        all.entry(row.id).or_default().push((row.key.to_string(), php::stored(&value)));
    }
    Ok(all)
}

/// WordPress's own meta values, of columns that every record has.
fn own_values(trashed: bool, row: &RecordRow, extra: &Value, old: Option<Vec<(String, i64)>>) -> Vec<(String, String)> {
    let mut values = Vec::new();
    let mut set = |key: &str, value: String| values.push((key.to_owned(), value));
    if row.featured_media != 0 {
        set("_thumbnail_id", row.featured_media.to_string());
    }
    if !row.template.is_empty() {
        set("_wp_page_template", row.template.clone());
    }
    if trashed {
        set("_wp_trash_meta_status", row.status_before.clone());
    }
    if let Some(alt) = extra["alt_text"].as_str().filter(|alt| !alt.is_empty()) {
        set("_wp_attachment_image_alt", alt.to_owned());
    }
    if !row.file.is_empty() {
        set("_wp_attached_file", row.file.clone());
    }
    if let Some(details) = extra.get("media_details").filter(|details| details.get("width").is_some()) {
        set("_wp_attachment_metadata", php::serialize(details));
    }
    // WordPress keeps slugs and days apart.
    let day = |date: i64| format_local(date)[..10].to_owned();
    let old = old.unwrap_or_default();
    let days: BTreeSet<String> =
        old.iter().map(|(_, date)| day(*date)).filter(|old| *old != day(row.date_local)).collect();
    let slugs: BTreeSet<String> = old.into_iter().map(|(slug, _)| slug).filter(|slug| *slug != row.slug).collect();
    slugs.into_iter().for_each(|slug| set("_wp_old_slug", slug));
    days.into_iter().for_each(|day| set("_wp_old_date", day));
    values
}

/// The meta values that an import would read columns from, written back.
fn declared_values(scope: &Scope, record: Record<'_>) -> Vec<(String, String)> {
    let resource = record.resource;
    let mut values = Vec::new();
    let reads = |column: &str| {
        resource.plan_column(column).is_some_and(|column| policy::reads_column(scope, resource, &column))
    };
    for (column, from) in resource.declared.import.iter().filter(|(column, _)| reads(column)) {
        let stored = record.value(column);
        let text = match from.kind {
            ImportFormat::Text => php::stored(&plain(stored)),
            ImportFormat::Words => {
                // No word at all is an empty one, as WordPress stores it.
                let words = records::text(stored).split(' ').map(Value::from).collect();
                php::serialize(&Value::Array(words))
            }
            ImportFormat::Record | ImportFormat::Referenced => records::int(stored).to_string(),
            ImportFormat::Kind => kind_name(scope, records::text(stored)),
        };
        values.push((from.meta.clone(), text));
    }
    values
}

/// The name that WordPress has for a stored kind or taxonomy.
fn kind_name(scope: &Scope, kind: &str) -> String {
    let registry = &scope.registry;
    let declared = registry.resources.iter().find(|resource| *resource.kind == *kind);
    declared.map_or_else(|| kind.to_owned(), |resource| exported_name(registry, resource))
}

/// Adds values in the place of stored ones under the same keys.
pub(super) fn replace(meta: &mut Vec<(String, String)>, values: Vec<(String, String)>) {
    meta.retain(|(key, _)| !values.iter().any(|(own, _)| own == key));
    meta.extend(values);
}

/// Properties of a type of one's own as meta values: WordPress has no columns for them.
pub(super) fn property_values(scope: &Scope, record: Record<'_>, related: &RelatedIds) -> Vec<(String, String)> {
    let (registry, resource) = (&scope.registry, record.resource);
    // Terms of a record are named beside its values.
    let filed = |column: &str| {
        let relation = resource.relations.iter().find(|relation| *relation.property == *column);
        relation.is_some_and(|relation| registry.resources[relation.to].is_taxonomy())
    };
    let spoken =
        |column: &str| registry.languages.as_ref().is_some_and(|own| own.column == *column || own.group == *column);
    let imported =
        |column: &str| resource.declared.import.keys().any(|own| *own == *column) || filed(column) || spoken(column);
    let value = |property: &Property| -> Option<Value> {
        match &property.source {
            PropertySource::Relation(at) => {
                let relation = &resource.relations[*at];
                let targets = related.get(&(record.id(), relation.rel.clone()))?;
                Some(json!(targets.iter().map(i64::to_string).collect::<Vec<_>>()))
            }
            _ if !property.own => None,
            _ => {
                // Plans name a column of an extension with its table.
                let column = property.column.as_deref()?.rsplit('.').next()?;
                let stored = record.value(column);
                if imported(column) {
                    return None;
                }
                Some(match (property.kind, stored) {
                    (_, DbValue::Null) => return None,
                    (PropertyKind::Json, DbValue::Text(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
                    (PropertyKind::Boolean, _) => json!(records::int(stored) != 0),
                    (PropertyKind::Time, _) => json!(format_local(records::int(stored)).replace('T', " ")),
                    _ => plain(stored),
                })
            }
        }
    };
    let read = resource.properties.iter().filter(|property| policy::reads_field(scope, &property.rights));
    let found = read.filter_map(|property| Some((property.name.clone(), value(property)?)));
    found.map(|(name, value)| (name, php::stored(&value))).collect()
}

fn plain(value: &DbValue) -> Value {
    match value {
        DbValue::Int(number) => json!(number),
        DbValue::Real(number) => json!(number),
        DbValue::Text(text) => json!(&**text),
        _ => Value::Null,
    }
}
