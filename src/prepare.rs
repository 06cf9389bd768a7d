//! Rows to documents: the fields that were asked for, in the context that was asked for, with their links.
//!
//! Everything that other rows contribute is loaded once per list ([`Batch`]), so a list costs a fixed number of
//! queries whatever its length. Fields that were not asked for are neither fetched nor computed.

use crate::access::policy;
use crate::access::unlock::RecordPassword;
use crate::behaviours::{Needs, READS, address};
use crate::config::declaration::Family;
use crate::error::ApiError;
use crate::fields::Fields;
use crate::records::{self, Record, among, columns, int, text};
use crate::registry::args::{Spelling, spell};
use crate::registry::name;
use crate::registry::resource::{Context, HrefPiece, Kind, Link, Property, QueryValue, Resource, Source, Target};
use crate::scope::Scope;
use crate::storage::Snapshot;
use crate::storage::plan::{Cond, DbValue, EdgePlan, Name, Order, ReadPlan, Row};
use crate::text::time::format_local;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a list of rows needs from other rows.
#[derive(Default)]
pub struct Batch {
    /// Targets by relation and source.
    pub edges: HashMap<(Name, i64), Vec<i64>>,
    /// Meta values by id and key.
    pub meta: HashMap<i64, Vec<(Arc<str>, Value)>>,
    /// Number of revisions and the newest one's id, by record.
    pub revisions: HashMap<i64, (i64, i64)>,
    /// The rows above, by id.
    pub above: HashMap<i64, Ancestor>,
    /// Rows that have children of their kind.
    pub parents: HashSet<i64>,
    /// Slugs of authors, by id.
    pub authors: HashMap<i64, Arc<str>>,
    /// Records by id, for what stands under them or for them.
    pub places: HashMap<i64, Linked>,
    /// Terms by id, for what stands for them.
    pub terms: HashMap<i64, Linked>,
}

/// What a row above another tells for its address.
pub struct Ancestor {
    pub slug: Arc<str>,
    pub parent: i64,
    /// Everybody may read it, so that addresses may name it.
    pub open: bool,
}

/// What other rows tell of a record or a term.
pub struct Linked {
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

/// One row on its way to a document.
pub struct Item<'a> {
    pub scope: &'a Scope,
    pub resource: &'a Resource,
    pub record: Record<'a>,
    pub context: Context,
    /// Its password was presented, or the caller edits it.
    pub unlocked: bool,
    pub batch: &'a Batch,
}

/// How rows are shown.
pub struct View<'a> {
    pub context: Context,
    pub fields: &'a Fields,
    /// The object password that the request carries.
    pub password: Option<&'a RecordPassword<'a>>,
    /// Whether links are wanted.
    pub links: bool,
}

impl View<'_> {
    /// Whether links are shown; what is embedded hangs on them.
    fn wants_links(&self) -> bool {
        self.links && (self.fields.wants("_links") || self.fields.wants("_embedded"))
    }
}

/// Turns rows of a resource into documents.
///
/// # Errors
/// The database cannot be read.
pub fn documents(
    scope: &Scope,
    snapshot: &dyn Snapshot,
    resource: &Resource,
    rows: &[Row],
    view: &View<'_>,
) -> Result<Vec<Value>, ApiError> {
    let batch = Batch::load(snapshot, scope, resource, rows, view)?;
    Ok(rows.iter().map(|row| document(scope, resource, row, view, &batch)).collect())
}

/// Columns of unbounded length, which many fields of a row can do without.
const LONG: [&str; 4] = ["content", "excerpt", "description", "extra"];

/// The columns that rows have to be read with to be shown so, by position: no long texts, and nothing that the resource
/// declares for itself, unless a wanted field is made of it. `None`: all.
pub fn columns_for(resource: &Resource, view: &View<'_>) -> Option<Vec<usize>> {
    if view.fields.is_all() {
        return None;
    }
    let (mut used, mut needs) = (HashSet::new(), Needs::default());
    for property in shown(&resource.properties, view) {
        use_columns(resource, property, view.context, &mut used);
        collect(property, view.context, &mut needs);
    }
    if needs.texts {
        return None;
    }
    if view.wants_links() {
        resource.links.iter().for_each(|link| link_columns(link, &mut used));
    }
    Some(all_but_spared(resource, &used))
}

/// Positions of the columns without those that can be long and are not used.
fn all_but_spared(resource: &Resource, used: &HashSet<usize>) -> Vec<usize> {
    let own = |column: usize| resource.columns[column].contains('.');
    let any_own = used.iter().any(|column| own(*column));
    let spared = |column: usize| match own(column) {
        true => !any_own,
        false => LONG.contains(&&*resource.columns[column]) && !used.contains(&column),
    };
    (0..resource.columns.len()).filter(|column| !spared(*column)).collect()
}

fn use_columns(resource: &Resource, property: &Property, context: Context, used: &mut HashSet<usize>) {
    match &property.source {
        Source::Column(column) => used.extend([*column]),
        Source::Read(_, column) => used.extend(*column),
        Source::Extra => used.extend(resource.column("extra")),
        Source::Object(children) => {
            let shown = children.iter().filter(|child| child.contexts.shows_in(context));
            shown.for_each(|child| use_columns(resource, child, context, used));
        }
        Source::Relation(_) | Source::Meta | Source::Nothing | Source::Fixed(_) => {}
    }
}

fn link_columns(link: &Link, used: &mut HashSet<usize>) {
    used.extend(link.when_column);
    match &link.target {
        Target::Item { column, .. } => used.extend([*column]),
        Target::Collection { query, .. } => used.extend(query.iter().filter_map(|(_, value)| match value {
            QueryValue::Column(column) => Some(*column),
            QueryValue::Literal(_) => None,
        })),
        Target::Template(pieces) => used.extend(pieces.iter().filter_map(|piece| match piece {
            HrefPiece::Column(column) => Some(*column),
            _ => None,
        })),
        // What it leads to is not of this row.
        Target::Referenced(_) => {}
    }
}

fn document(scope: &Scope, resource: &Resource, row: &Row, view: &View<'_>, batch: &Batch) -> Value {
    let record = Record { resource, row };
    let unlocked =
        view.context == Context::EDIT || view.password.is_some_and(|given| given.opens(record.text("password")));
    let item = Item { scope, resource, record, context: view.context, unlocked, batch };
    let mut map = Map::new();
    for property in shown(&resource.properties, view) {
        if let Some(value) = item.value(property) {
            map.insert(property.name.clone(), value);
        }
    }
    if view.wants_links() {
        let links = item.links();
        if !links.is_empty() {
            map.insert("_links".into(), Value::Object(links));
        }
    }
    Value::Object(map)
}

fn shown<'p>(properties: &'p [Property], view: &'p View<'_>) -> impl Iterator<Item = &'p Property> {
    properties.iter().filter(|p| p.contexts.shows_in(view.context) && view.fields.wants(&p.name))
}

impl Item<'_> {
    /// The value of a property; `None` leaves it out. What the record's password locks shows as if nothing were stored.
    pub fn value(&self, property: &Property) -> Option<Value> {
        if property.locked && !self.open() && !matches!(property.source, Source::Meta | Source::Object(_)) {
            return Some(locked_value(property.kind));
        }
        let value = match &property.source {
            Source::Nothing => return None,
            Source::Fixed(value) => value.clone(),
            Source::Column(index) => column_value(property, self.record.row.get(*index).unwrap_or(&DbValue::Null)),
            Source::Read(behaviour, index) => {
                let column = index.and_then(|i| self.record.row.get(i)).unwrap_or(&DbValue::Null);
                let read = READS[behaviour.0].1;
                read(self, property, column)?
            }
            Source::Object(children) => {
                let children = children.iter().filter(|c| c.contexts.shows_in(self.context));
                let map: Map<String, Value> = children.filter_map(|c| Some((c.name.clone(), self.value(c)?))).collect();
                Value::Object(map)
            }
            Source::Relation(index) => {
                let rel = &self.resource.relations[*index].rel;
                let targets = self.batch.edges.get(&(rel.clone(), self.record.id()));
                json!(targets.cloned().unwrap_or_default())
            }
            Source::Meta => self.meta(property.locked && !self.open()),
            Source::Extra => {
                let extra: Value = serde_json::from_str(self.record.text("extra")).unwrap_or(Value::Null);
                match extra.get(&property.name) {
                    Some(value) => value.clone(),
                    None => column_value(property, &DbValue::Null),
                }
            }
        };
        Some(spell(value, &property.aliases, Spelling::ToApi))
    }

    /// Whether the caller may see what the record's password protects.
    pub fn open(&self) -> bool {
        self.unlocked || self.record.text("password").is_empty()
    }

    fn meta(&self, locked: bool) -> Value {
        if self.resource.declared.meta.is_empty() && self.scope.registry.declaration.dialect.empty_list_as_object {
            return json!([]);
        }
        let stored = self.batch.meta.get(&self.record.id());
        let mut map = Map::new();
        for (key, meta) in &self.resource.declared.meta {
            let stored = stored.filter(|_| !locked || meta.schema.get("x-password-protected") == Some(&json!(false)));
            let mut values = stored.into_iter().flatten().filter(|(k, _)| **k == **key).map(|(_, v)| v.clone());
            let value = if meta.single {
                let value = values.next().or_else(|| meta.schema.get("default").cloned());
                allowed(&meta.schema, value.unwrap_or_else(|| empty(&meta.schema)))
            } else {
                Value::Array(values.collect())
            };
            map.insert(key.clone(), value);
        }
        Value::Object(map)
    }

    // -------------------------------------------------------------------------------------------- links

    /// The `_links` of the item, by relation, in the order of declaration.
    pub fn links(&self) -> Map<String, Value> {
        let mut links: Map<String, Value> = Map::new();
        for link in &self.resource.links {
            if !self.applies(link) {
                continue;
            }
            let Some(href) = self.href(link) else { continue };
            let mut object = Map::new();
            for (key, value) in &link.attrs {
                object.insert(key.clone(), self.attr(link, value));
            }
            if link.embeddable {
                object.insert("embeddable".into(), Value::Bool(true));
            }
            object.insert("href".into(), Value::String(href));
            let entry = links.entry(link.rel.clone()).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = entry {
                list.push(Value::Object(object));
            }
        }
        self.drop_unused_curies(&mut links);
        links
    }

    /// Abbreviations that no relation uses need no explanation.
    fn drop_unused_curies(&self, links: &mut Map<String, Value>) {
        let Some(Value::Array(mut curies)) = links.shift_remove("curies") else { return };
        curies.retain(|curie| {
            let name = curie["name"].as_str().unwrap_or_default();
            links.keys().any(|rel| rel.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
        });
        if !curies.is_empty() {
            links.insert("curies".into(), Value::Array(curies));
        }
    }

    /// `@name` in an attribute stands for a fact of the item.
    fn attr(&self, link: &Link, value: &Value) -> Value {
        match value.as_str() {
            Some("@kind") if let Target::Referenced(family) = link.target => {
                json!(self.referenced(family).map(|(_, place)| &self.scope.registry.resources[place.resource].api_name))
            }
            Some("@revision_count") => json!(self.revisions().0),
            Some("@revision_id") => json!(self.revisions().1),
            Some(OF_KIND) => json!(self.commented().map(|r| &r.api_name)),
            _ => value.clone(),
        }
    }

    /// The resource of the record that this one stands under.
    fn commented(&self) -> Option<&Resource> {
        let place = self.batch.places.get(&self.record.int("post"))?;
        Some(&self.scope.registry.resources[place.resource])
    }

    /// The record or term that the row stands for, and its number.
    pub fn referenced(&self, family: Family) -> Option<(i64, &Linked)> {
        let reference = self.resource.declared.reference.as_ref()?;
        let (class, places) = match family {
            Family::Term => (&reference.term, &self.batch.terms),
            _ => (&reference.record, &self.batch.places),
        };
        let id = self.record.int(&reference.id);
        let place = places.get(&id).filter(|place| place.seen && self.record.text(&reference.class) == class);
        place.map(|place| (id, place))
    }

    fn revisions(&self) -> (i64, i64) {
        self.batch.revisions.get(&self.record.id()).copied().unwrap_or((0, 0))
    }

    fn applies(&self, link: &Link) -> bool {
        let when = &link.when;
        let set = |i: usize| match self.record.row.get(i) {
            Some(DbValue::Int(i)) => *i != 0,
            Some(DbValue::Text(t)) => !t.is_empty(),
            Some(DbValue::Real(_)) => true,
            Some(DbValue::Null) | None => false,
        };
        when.context.as_deref().is_none_or(|c| Context::parse(c) == Some(self.context))
            && link.when_column.is_none_or(set)
            && when.can.as_deref().is_none_or(|c| self.scope.principal.can(c))
            && when.act.as_deref().is_none_or(|a| policy::may(self.scope, a, self.record))
            && (!when.revised || self.revisions().0 > 0)
            && (!when.children || self.batch.parents.contains(&self.record.id()))
    }

    fn href(&self, link: &Link) -> Option<String> {
        let registry = &self.scope.registry;
        let path = match &link.target {
            Target::Item { resource, column } => {
                let key = show(self.record.row.get(*column)?)?;
                let resource = match of_kind(link) {
                    true => self.commented()?,
                    false => &registry.resources[*resource],
                };
                resource.item_path(&key)
            }
            Target::Referenced(family) => {
                let (id, place) = self.referenced(*family)?;
                registry.resources[place.resource].item_path(&id.to_string())
            }
            Target::Collection { resource, query } => {
                let mut path = registry.resources[*resource].path.clone();
                for (i, (arg, value)) in query.iter().enumerate() {
                    let value = match value {
                        QueryValue::Column(index) => show(self.record.row.get(*index)?)?,
                        QueryValue::Literal(text) => match text.strip_prefix('@') {
                            Some(property) => self.targets_of(property)?,
                            None => text.clone(),
                        },
                    };
                    path.push(if i == 0 { '?' } else { '&' });
                    path.push_str(&format!("{arg}={value}"));
                }
                path
            }
            Target::Template(pieces) => {
                let mut path = String::new();
                for piece in pieces {
                    match piece {
                        HrefPiece::Literal(text) => path.push_str(text),
                        HrefPiece::Column(index) => path.push_str(&show(self.record.row.get(*index)?)?),
                        HrefPiece::SelfPath => {
                            path.push_str(&self.resource.item_path(&records::path_key(registry, self.record)))
                        }
                        HrefPiece::CollectionPath => path.push_str(&self.resource.path),
                        HrefPiece::RevisionId => path.push_str(&self.revisions().1.to_string()),
                        HrefPiece::ApiName => path.push_str(&self.resource.api_name),
                    }
                }
                path
            }
        };
        Some(if link.absolute { path } else { registry.rest(&path) })
    }

    fn targets_of(&self, property: &str) -> Option<String> {
        let relation = self.resource.relations.iter().find(|r| r.property == property)?;
        let targets = self.batch.edges.get(&(relation.rel.clone(), self.record.id()))?;
        let ids: Vec<String> = targets.iter().map(i64::to_string).collect();
        (!ids.is_empty()).then(|| ids.join(","))
    }
}

/// An attribute that stands for the kind of the record that the link leads to, whichever that is.
const OF_KIND: &str = "@post_type";

fn of_kind(link: &Link) -> bool {
    link.attrs.values().any(|value| value == OF_KIND)
}

fn show(value: &DbValue) -> Option<String> {
    match value {
        DbValue::Int(i) => Some(i.to_string()),
        DbValue::Text(t) => Some(t.to_string()),
        _ => None,
    }
}

/// Recorded: what a meta key's own choices leave out, its default included, reads as null.
fn allowed(schema: &Map<String, Value>, value: Value) -> Value {
    let choices = schema.get("enum").and_then(Value::as_array);
    if choices.is_none_or(|choices| choices.contains(&value)) { value } else { Value::Null }
}

/// What is locked, as the property's type without content.
fn locked_value(kind: Kind) -> Value {
    match kind {
        Kind::Text | Kind::Time => json!(""),
        Kind::Integer | Kind::Number => json!(0),
        Kind::Boolean => json!(false),
        Kind::Json => Value::Null,
    }
}

fn empty(schema: &Map<String, Value>) -> Value {
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!(""),
    }
}

/// A column's value as the property's type.
pub fn column_value(property: &Property, value: &DbValue) -> Value {
    match (property.kind, value) {
        (Kind::Boolean, DbValue::Null) if property.nullable => Value::Null,
        (Kind::Boolean, value) => Value::Bool(int(value) != 0),
        (Kind::Integer, DbValue::Null) if !property.nullable => json!(0),
        (Kind::Text, DbValue::Null) if !property.nullable => json!(""),
        (Kind::Json, DbValue::Text(t)) => serde_json::from_str(t).unwrap_or(Value::Null),
        (Kind::Time, DbValue::Int(seconds)) => json!(format_local(*seconds)),
        (_, DbValue::Null) => Value::Null,
        (_, DbValue::Int(i)) => json!(i),
        (_, DbValue::Real(r)) => json!(r),
        (_, DbValue::Text(t)) => Value::String(t.to_string()),
    }
}

// ------------------------------------------------------------------------------------------------ batches

impl Batch {
    fn load(
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
        let mut needs = Needs::default();
        for property in shown(&resource.properties, view) {
            collect(property, view.context, &mut needs);
        }
        if view.wants_links() {
            for link in &resource.links {
                needs.revisions |= link.when.revised || link.attrs.values().any(|v| v == "@revision_count");
                needs.children |= link.when.children;
                needs.posts |= of_kind(link);
                needs.referenced |= matches!(link.target, Target::Referenced(_));
                if let Target::Collection { query, .. } = &link.target {
                    needs.edges |= query.iter().any(|(_, v)| matches!(v, QueryValue::Literal(l) if l.starts_with('@')));
                }
            }
        }
        let ids: Vec<i64> = rows.iter().map(|row| Record { resource, row }.id()).collect();
        if needs.edges && resource.relations.iter().any(|r| r.many) {
            let rels = resource.relations.iter().filter(|r| r.many).map(|r| r.rel.clone()).collect();
            for edge in snapshot.edges(&EdgePlan { rels, of: ids.clone(), reverse: false })? {
                batch.edges.entry((edge.rel, edge.src)).or_default().push(edge.dst);
            }
        }
        if needs.meta && !resource.declared.meta.is_empty() {
            for row in snapshot.meta(&meta_space(resource), &ids)? {
                let value = serde_json::from_str(&row.json).unwrap_or(Value::Null);
                batch.meta.entry(row.id).or_default().push((row.key, value));
            }
        }
        if needs.revisions && resource.supports("revisions") {
            batch.load_revisions(snapshot, &ids)?;
        }
        let attached = resource.declared.address.as_deref() == Some("attached");
        if needs.above && !attached {
            batch.load_above(snapshot, scope, resource, rows)?;
        }
        if needs.children {
            let plan = columns(
                &resource.table,
                &["parent"],
                Cond::All(vec![records::own_rows(resource), among("parent", ids.clone())]),
            );
            batch.parents = snapshot.rows(&plan)?.iter().map(|row| int(&row[0])).collect();
        }
        if needs.authors && scope.registry.site.permalinks.structure().contains("%author%") {
            let authors: HashSet<i64> = rows.iter().map(|row| Record { resource, row }.int("author")).collect();
            let plan = columns("user", &["id", "slug"], among("id", authors));
            batch.authors = snapshot.rows(&plan)?.iter().map(|row| (int(&row[0]), Arc::from(text(&row[1])))).collect();
        }
        let named = |column: &str| -> HashSet<i64> {
            rows.iter().map(|row| Record { resource, row }.int(column)).filter(|id| *id != 0).collect()
        };
        if needs.above && attached {
            batch.load_places(snapshot, scope, named("parent"))?;
        }
        if needs.posts {
            batch.load_places(snapshot, scope, named("post"))?;
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
        Ok(batch)
    }

    /// Terms by number, a query for each taxonomy.
    fn load_terms(&mut self, snapshot: &dyn Snapshot, scope: &Scope, ids: &HashSet<i64>) -> Result<(), ApiError> {
        if ids.is_empty() {
            return Ok(());
        }
        for taxonomy in scope.registry.kinds(Family::Term) {
            let plan = records::plan(taxonomy, among("id", ids.iter().copied()));
            let found = snapshot.rows(&plan)?;
            let mut batch = Batch::default();
            batch.load_above(snapshot, scope, taxonomy, &found)?;
            for row in &found {
                let record = Record { resource: taxonomy, row };
                let address = address::of(scope, record, &batch, record.text("slug"));
                let title = Arc::from(record.text("name"));
                let place = Linked { resource: taxonomy.index, title, address, trashed: false, open: true, seen: true };
                self.terms.insert(record.id(), place);
            }
        }
        Ok(())
    }

    /// Records by number, a query for each kind among them.
    fn load_places(&mut self, snapshot: &dyn Snapshot, scope: &Scope, posts: HashSet<i64>) -> Result<(), ApiError> {
        if posts.is_empty() {
            return Ok(());
        }
        let mut by_kind: HashMap<Name, Vec<i64>> = HashMap::new();
        for row in snapshot.rows(&columns("record", &["id", "kind"], among("id", posts)))? {
            by_kind.entry(name(text(&row[1]))).or_default().push(int(&row[0]));
        }
        for content in scope.registry.family(Family::Content) {
            let Some(ids) = by_kind.remove(&content.kind) else { continue };
            let short = all_but_spared(content, &HashSet::new());
            let found = records::read(snapshot, content, records::plan(content, among("id", ids)), &short)?;
            let mut batch = Batch::default();
            batch.load_above(snapshot, scope, content, &found)?;
            let open = |record: Record<'_>| {
                let public = scope.registry.status(record.text("status")).is_some_and(|status| status.public);
                public && !content.capabilities.contains_key("read")
            };
            let closed = found.iter().map(|row| Record { resource: content, row }).filter(|record| !open(*record));
            let seen = seen_among(snapshot, scope, content, closed.map(|record| record.id()).collect())?;
            for row in &found {
                let record = Record { resource: content, row };
                let open = open(record);
                let place = Linked {
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

    fn load_revisions(&mut self, snapshot: &dyn Snapshot, ids: &[i64]) -> Result<(), ApiError> {
        for found in snapshot.revisions(&name("content"), ids)? {
            self.revisions.insert(found.of, (found.count, found.newest));
        }
        Ok(())
    }

    /// Climbs level by level: as many queries as the deepest row is deep, however many rows there are.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn load_above(
        &mut self,
        snapshot: &dyn Snapshot,
        scope: &Scope,
        resource: &Resource,
        rows: &[Row],
    ) -> Result<(), ApiError> {
        let parent = |row: &Row| Record { resource, row }.int("parent");
        let mut wanted: HashSet<i64> = rows.iter().map(parent).filter(|p| *p != 0).collect();
        let states = resource.family == Family::Content;
        let public: HashSet<&str> = if states { public_states(scope) } else { HashSet::new() };
        while !wanted.is_empty() {
            let state = if states { "status" } else { "slug" };
            let plan = columns(&resource.table, &["id", "slug", "parent", state], among("id", wanted));
            let mut next = HashSet::new();
            for row in snapshot.rows(&plan)? {
                let (id, parent) = (int(&row[0]), int(&row[2]));
                let open = !states || public.contains(text(&row[3]));
                let above = Ancestor { slug: Arc::from(text(&row[1])), parent, open };
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
    let filter = Cond::All(vec![among("id", ids), policy::visible(scope, content)]);
    Ok(snapshot.rows(&columns("record", &["id"], filter))?.iter().map(|row| int(&row[0])).collect())
}

fn collect(property: &Property, context: Context, needs: &mut Needs) {
    if !property.contexts.shows_in(context) {
        return;
    }
    match &property.source {
        Source::Read(behaviour, _) => needs.add(READS[behaviour.0].2),
        Source::Object(children) => children.iter().for_each(|c| collect(c, context, needs)),
        Source::Relation(_) => needs.edges = true,
        Source::Meta => needs.meta = true,
        _ => {}
    }
}

/// The space that a resource's companion rows (meta) are kept under.
pub fn meta_space(resource: &Resource) -> Name {
    match resource.family {
        Family::Content => name("content"),
        _ => resource.table.clone(),
    }
}

/// Keeps the plan's order for rows that were read by a list of ids.
pub fn in_given_order(plan: &mut ReadPlan, ids: &[i64]) {
    plan.order = vec![Order::Given(name("id"), ids.iter().copied().map(DbValue::Int).collect())];
}
