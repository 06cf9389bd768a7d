//! Parts of other rows that a list shows, loaded once for all of it.

use super::columns::short_columns;
use super::seo::SeoRows;
use super::{Needs, View, address, links};
use crate::access::policy;
use crate::error::ApiError;
use crate::fields::{FieldIds, FieldRows, RuleTerms, StoredValues};
use crate::records::{self, Record, columns, int, is_in, meta_space};
use crate::registry::columns::{record, user};
use crate::registry::name;
use crate::registry::resource::{Link, LinkTarget, PropertySource, Relation, Resource};
use crate::scope::Scope;
use cms_declaration::Action;
use cms_storage::plan::{Cond, EdgePlan, Name, ReadPlan, Row};
use cms_storage::{ReadRequest, Snapshot};
use cms_text::address::AUTHOR;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Everything that a list of rows needs from other rows.
#[derive(Default)]
pub struct Batch {
    /// Targets by relation and source.
    pub edges: HashMap<(Name, i64), Vec<i64>>,
    /// Slugs of the terms among these targets, by id.
    pub term_slugs: HashMap<i64, Arc<str>>,
    /// Meta values by id and key.
    pub meta: HashMap<i64, Vec<(Arc<str>, Value)>>,
    /// Number of revisions and the newest one's id, by record.
    pub revisions: HashMap<i64, (i64, i64)>,
    /// The rows above, by id.
    pub above: HashMap<i64, AncestorSlug>,
    /// Keys of the rows that refer to a row, by property.
    pub members: HashMap<(String, i64), Vec<i64>>,
    /// Rows that have children of their kind.
    pub parents: HashSet<i64>,
    /// Paths of the terms that addresses have, by record.
    pub categories: HashMap<i64, String>,
    /// Slugs of authors, by id.
    pub authors: HashMap<i64, Arc<str>>,
    /// Names of authors, by id.
    pub author_names: HashMap<i64, Arc<str>>,
    /// Records by id, for their comments and for rows that refer to them.
    pub places: HashMap<i64, ReferencedRow>,
    /// Terms by id, for rows that refer to them.
    pub terms: HashMap<i64, ReferencedRow>,
    /// The terms that rules of field groups name.
    pub rule_terms: RuleTerms,
    /// Rows that values of field groups refer to.
    pub field_rows: FieldRows,
    /// Other rows that search engines are told of.
    pub seo: SeoRows,
}

/// The part of the row above that the address of a row needs.
pub struct AncestorSlug {
    pub slug: Arc<str>,
    pub parent: i64,
    /// Everybody may read it, so that addresses may name it.
    pub open: bool,
}

/// The row that a record or a term refers to, as far as it is shown.
pub struct ReferencedRow {
    /// Position of its resource.
    pub resource: usize,
    /// Its title or name, as stored.
    pub title: Arc<str>,
    pub address: String,
    pub trashed: bool,
    /// Everybody may read it, so that addresses may name it.
    pub open: bool,
    /// The caller may read it.
    pub seen: bool,
}

impl Batch {
    pub(super) fn load(
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
        view: &View<'_>,
    ) -> Result<Batch, ApiError> {
        let mut batch = Batch::default();
        if rows.is_empty() {
            return Ok(batch);
        }
        let needs = Needs::of_documents(resource, view);
        let ids: Vec<i64> = rows.iter().map(|row| Record { resource, row }.id()).collect();
        Batch::prefetch(snapshot, scope, resource, &ids, view);
        // It fails at the end, so that parts of another request need what follows at once with it.
        let companions = batch.load_companions(snapshot, scope, resource, ids, needs);
        if needs.members {
            batch.load_members(snapshot, scope, resource, rows)?;
        }
        if needs.above {
            batch.load_addresses(snapshot, scope, resource, rows)?;
        }
        if needs.author_names {
            batch.load_author_names(snapshot, resource, rows)?;
        }
        let named = |column| named_by(resource, rows, column);
        if needs.posts {
            let linked = resource.links.iter().filter(|link| links::of_kind(link));
            let columns = linked.filter_map(|link| match link.target {
                LinkTarget::Item { column, .. } => resource.columns.get(column).cloned(),
                _ => None,
            });
            let columns: HashSet<Name> = columns.chain([name("post")]).collect();
            let ids =
                columns.iter().filter(|column| resource.column(column).is_some()).flat_map(|column| named(column));
            let ids = ids.filter(|id| !batch.places.contains_key(id)).collect();
            batch.load_places(snapshot, scope, ids)?;
        }
        if view.links {
            for column in resource.links.iter().filter_map(Link::must_be_readable) {
                let ids = rows.iter().filter_map(|row| row.get(column)).map(int).filter(|id| *id != 0);
                batch.load_places(snapshot, scope, ids.collect())?;
            }
        }
        if let Some(reference) = resource.declared.reference.as_ref().filter(|_| needs.referenced) {
            let of = |class: &str| -> HashSet<i64> {
                let rows = rows.iter().map(|row| Record { resource, row });
                rows.filter(|record| record.text(&reference.class) == class)
                    .map(|record| record.int(&reference.id))
                    .collect()
            };
            batch.load_places(snapshot, scope, of(&reference.record))?;
            batch.load_terms(snapshot, scope, &of(&reference.term))?;
        }
        if needs.fields {
            batch.load_fields(snapshot, scope, resource, rows, view)?;
        }
        companions?;
        if needs.seo && resource.seo.is_some() {
            batch.load_seo(snapshot, scope, resource, rows)?;
        }
        Ok(batch)
    }

    /// Sends the reads of these rows' companions ahead, where that is possible: they are known before the rows are.
    pub fn prefetch(snapshot: &dyn Snapshot, scope: &Scope, resource: &Resource, ids: &[i64], view: &View<'_>) {
        if ids.is_empty() || !snapshot.can_prefetch() {
            return;
        }
        let needs = Needs::of_documents(resource, view);
        if needs.edges && resource.relations.iter().any(|r| !r.is_column()) {
            let rels = resource.relations.iter().filter(|r| !r.is_column()).map(|r| r.rel.clone()).collect();
            if needs.term_slugs {
                for (table, rels) in taxonomies(scope, resource) {
                    let edges = EdgePlan { rels, of: ids.to_vec(), reverse: false };
                    snapshot.prefetch_targets(&edges, &slugs_of(table, HashSet::new()));
                }
            }
            snapshot.prefetch(&[ReadRequest::Edges(&EdgePlan { rels, of: ids.to_vec(), reverse: false })]);
        }
        if needs.meta && stores_meta(resource) {
            snapshot.prefetch(&[ReadRequest::Meta(&meta_space(resource), ids)]);
        }
        if needs.revisions && resource.supports("revisions") {
            snapshot.prefetch(&[ReadRequest::Revisions(&name("content"), ids)]);
        }
    }

    /// Loads companions of the rows: relations, meta, revisions, whether they have children.
    pub(super) fn load_companions(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        ids: Vec<i64>,
        needs: Needs,
    ) -> Result<(), ApiError> {
        if needs.edges && resource.relations.iter().any(|r| !r.is_column()) {
            let rels = resource.relations.iter().filter(|r| !r.is_column()).map(|r| r.rel.clone()).collect();
            for edge in snapshot.edges(&EdgePlan { rels, of: ids.clone(), reverse: false })? {
                self.edges.entry((edge.rel, edge.src)).or_default().push(edge.dst);
            }
            for relation in resource.inner_relations() {
                for id in &ids {
                    self.edges.entry((relation.rel.clone(), *id)).or_default();
                }
            }
        }
        let preview = ids.iter().find_map(|id| scope.previewed(resource, *id));
        // Which keys inside the values of a preview are there is not known.
        for (preview, relation) in preview.iter().flat_map(|own| resource.inner_relations().map(move |of| (own, of))) {
            self.edges.remove(&(relation.rel.clone(), preview.id));
        }
        for (rel, ends) in preview.iter().flat_map(|preview| &preview.edges) {
            self.edges.extend(preview.map(|preview| ((rel.clone(), preview.id), ends.clone())));
        }
        if needs.term_slugs {
            self.load_term_slugs(snapshot, scope, resource)?;
        }
        if needs.meta && stores_meta(resource) {
            for row in snapshot.meta(&meta_space(resource), &ids)? {
                let value = serde_json::from_str(&row.json).unwrap_or(Value::Null);
                self.meta.entry(row.id).or_default().push((row.key, value));
            }
        }
        if let Some((preview, meta)) = preview.and_then(|preview| Some((preview, preview.meta.clone()?))) {
            self.meta.insert(preview.id, meta);
        }
        if needs.revisions && resource.supports("revisions") {
            self.load_revisions(snapshot, &ids)?;
        }
        if needs.children {
            let filter = Cond::All(vec![records::own_rows(resource), is_in("parent", ids)]);
            self.parents = snapshot.rows_as(&columns(&resource.table, &["parent"], filter))?;
        }
        Ok(())
    }

    /// Slugs of the terms that were found as targets, a query for each table of terms.
    fn load_term_slugs(&mut self, snapshot: &dyn Snapshot, scope: &Scope, resource: &Resource) -> Result<(), ApiError> {
        let mut by_table: HashMap<&Name, HashSet<i64>> = HashMap::new();
        for ((rel, _), targets) in &self.edges {
            let relation = resource.relations.iter().find(|relation| relation.rel == *rel);
            let taxonomy = relation.map(|relation| &scope.registry.resources[relation.to]);
            if let Some(taxonomy) = taxonomy.filter(|taxonomy| taxonomy.is_taxonomy()) {
                by_table.entry(&taxonomy.table).or_default().extend(targets);
            }
        }
        for (table, ids) in by_table {
            self.term_slugs.extend(snapshot.rows_as::<_, Vec<(i64, Arc<str>)>>(&slugs_of(table, ids))?);
        }
        Ok(())
    }

    /// Rows of other resources that refer to these, newest first.
    fn load_members(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
    ) -> Result<(), ApiError> {
        for property in &resource.properties {
            let PropertySource::Members(of, by) = &property.source else { continue };
            let Some(other) = scope.registry.resource(of) else { continue };
            let by = other.property(by).filter(|property| policy::reads_field(scope, &property.rights));
            let Some(column) = by.and_then(|property| property.column.clone()) else { continue };
            let keys = rows.iter().map(|row| Record { resource, row }.value(&resource.key).clone()).collect();
            let seen = Cond::All(vec![Cond::In(column.clone(), keys), policy::visible(scope, other)]);
            let mut plan = records::ordered(records::plan(other, seen), &other.key, true);
            plan.columns = vec![column, other.key.clone()];
            for (of, member) in snapshot.rows_as::<_, Vec<(i64, i64)>>(&plan)? {
                self.members.entry((property.name.clone(), of)).or_default().push(member);
            }
        }
        Ok(())
    }

    /// Loads the names of the authors.
    fn load_author_names(
        &mut self,
        snapshot: &dyn Snapshot,
        resource: &Resource,
        rows: &[Row],
    ) -> Result<(), ApiError> {
        let plan = columns(user::TABLE, &["id", "name"], is_in("id", named_by(resource, rows, "author")));
        self.author_names = snapshot.rows_as(&plan)?;
        Ok(())
    }

    /// Terms by number, a query for each taxonomy.
    pub(super) fn load_terms(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        ids: &HashSet<i64>,
    ) -> Result<(), ApiError> {
        if ids.is_empty() {
            return Ok(());
        }
        for taxonomy in scope.registry.taxonomy_kinds() {
            let plan = records::plan(taxonomy, is_in("id", ids.iter().copied()));
            let found = snapshot.rows(&plan)?;
            let mut batch = Batch::default();
            batch.load_address_parts(snapshot, scope, taxonomy, &found)?;
            for row in &found {
                let record = Record { resource: taxonomy, row };
                let address = address::of(scope, record, &batch, record.text("slug"));
                let title = Arc::from(record.text("name"));
                let place =
                    ReferencedRow { resource: taxonomy.index, title, address, trashed: false, open: true, seen: true };
                self.terms.insert(record.id(), place);
            }
        }
        Ok(())
    }

    /// Records by number, a query for each kind among them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn load_places(&mut self, snapshot: &dyn Snapshot, scope: &Scope, posts: HashSet<i64>) -> Result<(), ApiError> {
        if posts.is_empty() {
            return Ok(());
        }
        let mut by_kind: HashMap<Name, Vec<i64>> = HashMap::new();
        for (id, kind) in records::kinds(snapshot, posts)? {
            by_kind.entry(kind).or_default().push(id);
        }
        for content in scope.registry.content_types() {
            let Some(ids) = by_kind.remove(&content.kind) else { continue };
            let short = short_columns(content);
            let found = records::read(snapshot, content, records::plan(content, is_in("id", ids)), &short)?;
            let mut batch = Batch::default();
            batch.load_address_parts(snapshot, scope, content, &found)?;
            let open = |record: Record<'_>| {
                let public = scope.registry.status(record.text("status")).is_some_and(|status| status.public);
                public && !content.capabilities.contains_key(&Action::Read)
            };
            let closed = found.iter().map(|row| Record { resource: content, row }).filter(|record| !open(*record));
            let seen = seen_among(snapshot, scope, content, closed.map(|record| record.id()).collect())?;
            for row in &found {
                let record = Record { resource: content, row };
                let open = open(record);
                let place = ReferencedRow {
                    resource: content.index,
                    title: Arc::from(record.text("title")),
                    address: address::of(scope, record, &batch, record.text("slug")),
                    trashed: scope.registry.status_is(record.text("status"), |status| status.trash),
                    open,
                    seen: open || seen.contains(&record.id()),
                };
                self.places.insert(record.id(), place);
            }
        }
        Ok(())
    }

    /// Loads what the values of field groups refer to, as far as links or the form of the values show it.
    fn load_fields(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
        view: &View<'_>,
    ) -> Result<(), ApiError> {
        self.rule_terms = RuleTerms::load(snapshot, &scope.registry, resource)?;
        let formatted = view.fields.formatted();
        let linked = view.wants_links() || view.wants_links_of_fields(resource);
        let Some(of) = resource.fields.as_ref().filter(|of| of.refers && (formatted || linked)) else { return Ok(()) };
        let mut ids = FieldIds::default();
        for id in rows.iter().map(|row| Record { resource, row }.id()) {
            let meta = self.meta.get(&id).map_or(&[][..], Vec::as_slice);
            let terms = |name: &str| self.terms_named(scope, resource, id, name);
            for group in of.groups.iter().map(|at| &scope.registry.field_groups[*at]) {
                ids.add(&group.fields, StoredValues { meta, terms: &terms });
            }
        }
        let records = ids.records.iter().copied().filter(|id| !self.places.contains_key(id)).collect();
        self.load_places(snapshot, scope, records)?;
        self.load_terms(snapshot, scope, &ids.terms)?;
        let shown = if formatted { ids } else { FieldIds { users: ids.users, ..FieldIds::default() } };
        self.field_rows = FieldRows::load(snapshot, scope, &shown)?;
        self.load_file_addresses(snapshot, scope)
    }

    /// Addresses of files that values refer to: they follow from those of the records that the files belong to.
    fn load_file_addresses(&mut self, snapshot: &dyn Snapshot, scope: &Scope) -> Result<(), ApiError> {
        let resources = &scope.registry.resources;
        let attached = |at: &usize| resources[*at].address.is_attached();
        let rows = || self.field_rows.records.values().filter(|(at, _)| attached(at));
        let parents = rows().map(|(at, row)| Record { resource: &resources[*at], row }.int("parent"));
        let mut above = Batch::default();
        above.load_places(snapshot, scope, parents.filter(|id| *id != 0).collect())?;
        let found = rows().map(|(at, row)| {
            let record = Record { resource: &resources[*at], row };
            (record.id(), address::of(scope, record, &above, record.text("slug")))
        });
        let found: Vec<(i64, String)> = found.collect();
        for (id, address) in found {
            self.places.entry(id).and_modify(|place| place.address = address);
        }
        Ok(())
    }

    /// Terms of a row in the taxonomy of this name.
    pub(super) fn terms_named(&self, scope: &Scope, resource: &Resource, id: i64, name: &str) -> Vec<i64> {
        let named = |one: &&Resource| one.is_taxonomy() && one.is_named(name);
        let taxonomy = scope.registry.resources.iter().find(named);
        taxonomy.map_or_else(Vec::new, |taxonomy| self.terms_in(resource, id, taxonomy.index))
    }

    /// Terms of a row in the taxonomy at this position.
    pub(super) fn terms_in(&self, resource: &Resource, id: i64, taxonomy: usize) -> Vec<i64> {
        let relations = resource.relations.iter().filter(|relation| relation.is_list() && relation.to == taxonomy);
        let edges = relations.filter_map(|relation| self.edges.get(&(relation.rel.clone(), id)));
        edges.flatten().copied().collect()
    }

    fn load_revisions(&mut self, snapshot: &dyn Snapshot, ids: &[i64]) -> Result<(), ApiError> {
        for found in snapshot.revisions(&name("content"), ids)? {
            self.revisions.insert(found.of, (found.count, found.newest));
        }
        Ok(())
    }

    /// Loads what the addresses of rows are made of beside the rows: the rows above, slugs of authors, paths of terms, and
    /// the addresses of records that rows are attached to.
    pub fn load_addresses(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
    ) -> Result<(), ApiError> {
        self.load_address_parts(snapshot, scope, resource, rows)?;
        match resource.address.is_attached() {
            true => self.load_places(snapshot, scope, named_by(resource, rows, "parent")),
            false => Ok(()),
        }
    }

    /// The same without the addresses of other records, which may be attached to further ones.
    pub fn load_address_parts(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
    ) -> Result<(), ApiError> {
        if resource.address.has(AUTHOR) {
            let plan = columns(user::TABLE, &["id", "slug"], is_in("id", named_by(resource, rows, "author")));
            self.authors.extend(snapshot.rows_as::<_, Vec<(i64, Arc<str>)>>(&plan)?);
        }
        if let Some(relation) = resource.address.shown_category() {
            self.load_categories(snapshot, scope, (resource, &resource.relations[relation]), rows)?;
        }
        if resource.address.is_attached() { Ok(()) } else { self.load_above(snapshot, scope, resource, rows) }
    }

    /// The path of the oldest term of each record, as WordPress chooses it.
    fn load_categories(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        (resource, relation): (&Resource, &Relation),
        rows: &[Row],
    ) -> Result<(), ApiError> {
        let of = rows.iter().map(|row| Record { resource, row }.id()).collect();
        let mut oldest: HashMap<i64, i64> = HashMap::new();
        for edge in snapshot.edges(&EdgePlan { rels: vec![relation.rel.clone()], of, reverse: false })? {
            let term = oldest.entry(edge.src).or_insert(edge.dst);
            *term = edge.dst.min(*term);
        }
        let taxonomy = &scope.registry.resources[relation.to];
        let terms = records::read(
            snapshot,
            taxonomy,
            records::plan(taxonomy, is_in("id", oldest.values().copied())),
            &short_columns(taxonomy),
        )?;
        let mut above = Batch::default();
        above.load_above(snapshot, scope, taxonomy, &terms)?;
        let terms = terms.iter().map(|row| Record { resource: taxonomy, row });
        let paths: HashMap<i64, String> =
            terms.filter_map(|term| Some((term.id(), address::path(term, &above, term.text("slug"))?))).collect();
        let found = oldest.into_iter().filter_map(|(record, term)| Some((record, paths.get(&term)?.clone())));
        self.categories.extend(found);
        Ok(())
    }

    /// Climbs level by level: as many queries as the deepest row is deep, however many rows there are.
    fn load_above(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
    ) -> Result<(), ApiError> {
        let parent = |row: &Row| Record { resource, row }.int("parent");
        let mut wanted: HashSet<i64> = rows.iter().map(parent).filter(|p| *p != 0).collect();
        let states = resource.is_content();
        let public: HashSet<&str> = if states { public_states(scope) } else { HashSet::new() };
        while !wanted.is_empty() {
            let state = if states { "status" } else { "slug" };
            let plan = columns(&resource.table, &["id", "slug", "parent", state], is_in("id", wanted));
            let mut next = HashSet::new();
            for (id, slug, parent, state) in snapshot.rows_as::<_, Vec<(i64, Arc<str>, i64, Arc<str>)>>(&plan)? {
                let above = AncestorSlug { slug, parent, open: !states || public.contains(&*state) };
                let fresh = self.above.insert(id, above).is_none();
                if fresh && parent != 0 && !self.above.contains_key(&parent) {
                    next.insert(parent);
                }
            }
            wanted = next;
        }
        Ok(())
    }
}

/// Whether documents of a resource have values that are kept as meta values.
fn stores_meta(resource: &Resource) -> bool {
    !resource.declared.meta.is_empty() || resource.fields.as_ref().is_some_and(|fields| !fields.groups.is_empty())
}

/// Relations to terms, by the tables of those.
fn taxonomies<'s>(scope: &'s Scope, resource: &Resource) -> HashMap<&'s Name, Vec<Name>> {
    let mut by_table: HashMap<&Name, Vec<Name>> = HashMap::new();
    for relation in resource.relations.iter().filter(|relation| relation.is_list()) {
        let taxonomy = &scope.registry.resources[relation.to];
        if taxonomy.is_taxonomy() {
            by_table.entry(&taxonomy.table).or_default().push(relation.rel.clone());
        }
    }
    by_table
}

/// The plan that reads slugs of terms.
fn slugs_of(table: &Name, ids: HashSet<i64>) -> ReadPlan {
    columns(table, &["id", "slug"], is_in("id", ids))
}

/// The ids in a column, without the one that means none.
fn named_by(resource: &Resource, rows: &[Row], column: &str) -> HashSet<i64> {
    rows.iter().map(|row| Record { resource, row }.int(column)).filter(|id| *id != 0).collect()
}

fn public_states(scope: &Scope) -> HashSet<&str> {
    let all = scope.registry.declaration.statuses.iter();
    all.filter(|(_, status)| status.public).map(|(name, _)| name.as_str()).collect()
}

/// Those of these records that the caller may read.
fn seen_among(
    snapshot: &dyn Snapshot,
    scope: &Scope,
    content: &Resource,
    ids: Vec<i64>,
) -> Result<HashSet<i64>, ApiError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let filter = Cond::All(vec![is_in("id", ids), policy::visible(scope, content)]);
    Ok(snapshot.rows_as(&columns(record::TABLE, &["id"], filter))?)
}
