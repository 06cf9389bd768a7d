//! Rows of resources: how they are queried, and how their columns are read.

mod meets;

pub use self::meets::meets;

use crate::registry::columns::{ID, VERSION, feed, record};
use crate::registry::resource::{Relation, Resource};
use crate::registry::{Registry, name, tables};
use cms_declaration::ItemKey;
use cms_storage::plan::{Change, Cond, DbValue, Input, Name, Op, Order, ReadPlan, Row};
use cms_storage::{FromRow, Snapshot, StorageError, TypedRow};
use cms_text::slug;
use std::sync::Arc;

/// A row of a resource with its columns by name.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub resource: &'a Resource,
    pub row: &'a Row,
}

impl<'a> Record<'a> {
    /// The value of a column; null when the resource has none of this name.
    pub fn value(&self, column: &str) -> &'a DbValue {
        const NULL: &DbValue = &DbValue::Null;
        self.resource.column(column).and_then(|i| self.row.get(i)).unwrap_or(NULL)
    }

    /// An integer column; 0 when it is null.
    pub fn int(&self, column: &str) -> i64 {
        int(self.value(column))
    }

    /// A text column; empty when it is null.
    pub fn text(&self, column: &str) -> &'a str {
        text(self.value(column))
    }

    /// The key as an integer (0 for text keys).
    pub fn id(&self) -> i64 {
        int(self.value(&self.resource.key))
    }

    /// How often the row was changed, where it counts that.
    pub fn version(&self) -> Option<i64> {
        self.resource.column(VERSION).map(|_| self.int(VERSION))
    }

    /// UTC seconds of the last change, where the row has them.
    pub fn modified(&self) -> Option<i64> {
        self.resource.column("modified_utc").map(|_| self.int("modified_utc"))
    }

    /// Whether anybody who may comment can do so now.
    pub fn takes_comments(&self) -> bool {
        self.resource.supports("comments") && self.text("comment_status") == "open"
    }

    /// Whether nobody has written it: it is one of the declared `originals`.
    pub fn is_original(&self) -> bool {
        self.resource.original(self.id()).is_some()
    }

    /// The key as it is in a path.
    pub fn key(&self) -> String {
        match self.value(&self.resource.key) {
            DbValue::Int(id) => id.to_string(),
            DbValue::Text(text) => text.to_string(),
            _ => String::new(),
        }
    }
}

/// The name of a record in paths: its key, or the name that such records have.
pub fn path_key(registry: &Registry, record: Record<'_>) -> String {
    match record.resource.declared.key {
        ItemKey::ThemeAndSlug => format!("{}//{}", registry.active_theme(), record.text("slug")),
        ItemKey::Id => record.key(),
    }
}

/// Path of a record below the REST base.
pub fn item_path(registry: &Registry, record: Record<'_>) -> String {
    format!("{}/{}", collection_path(record), path_key(registry, record))
}

/// Path of the collection that a record is in: where its items are below those of another resource, the record names
/// the item above.
pub fn collection_path(record: Record<'_>) -> String {
    record.resource.path_of(|column| record.int(column).to_string())
}

/// The row of a text of a path: its key in most resources, its name in some.
pub fn key_of(
    registry: &Registry,
    snapshot: &dyn Snapshot,
    resource: &Resource,
    text: &str,
) -> Result<Option<DbValue>, StorageError> {
    if resource.declared.key == ItemKey::Id {
        return Ok(match resource.key_is_text {
            true => Some(txt(text)),
            false => text.parse().ok().map(DbValue::Int),
        });
    }
    // An encoded slash is left as it is when routes are matched.
    let text = text.replace("%2F", "/").replace("%2f", "/");
    let Some((theme, slug)) = text.rsplit_once('/') else { return Ok(None) };
    if theme.trim_end_matches('/') != registry.active_theme() {
        return Ok(None);
    }
    let there = Cond::Compare(name("status"), Op::Ne, txt(registry.trash_status()));
    let filter = Cond::All(vec![own_rows(resource), eq("slug", txt(slug)), there]);
    let stored = first(snapshot, &resource.table, &[ID], filter)?;
    Ok(stored.or_else(|| {
        let row = resource.original_of_slug(slug)?;
        Some(Record { resource, row }.value(&resource.key).clone())
    }))
}

/// The integer in a value, or 0.
pub fn int(value: &DbValue) -> i64 {
    match value {
        DbValue::Int(i) => *i,
        DbValue::Real(r) => *r as i64,
        _ => 0,
    }
}

/// The text in a value, or the empty one.
pub fn text(value: &DbValue) -> &str {
    match value {
        DbValue::Text(t) => t,
        _ => "",
    }
}

/// Makes a text value.
pub fn txt(text: &str) -> DbValue {
    DbValue::Text(Arc::from(text))
}

/// `column = value`.
pub fn eq(column: &str, value: DbValue) -> Cond {
    Cond::Compare(name(column), Op::Eq, value)
}

/// `column in values`.
pub fn is_in(column: &str, values: impl IntoIterator<Item = i64>) -> Cond {
    Cond::In(name(column), values.into_iter().map(DbValue::Int).collect())
}

/// `column in words`.
pub fn words<'w>(column: &str, words: impl IntoIterator<Item = &'w str>) -> Cond {
    let words: Vec<DbValue> = words.into_iter().map(txt).collect();
    if words.is_empty() { never() } else { Cond::In(name(column), words) }
}

/// A condition that nothing meets.
pub fn never() -> Cond {
    Cond::Any(Vec::new())
}

/// A condition that everything meets.
pub fn always() -> Cond {
    Cond::All(Vec::new())
}

/// A condition that everything meets, or nothing.
pub fn constant(met: bool) -> Cond {
    if met { always() } else { never() }
}

/// All of the conditions, without those that decide nothing.
pub fn all(conds: impl IntoIterator<Item = Cond>) -> Cond {
    let mut left: Vec<Cond> = conds.into_iter().filter(|cond| *cond != always()).collect();
    match left.len() {
        _ if left.contains(&never()) => never(),
        1 => left.remove(0),
        _ => Cond::All(left),
    }
}

/// One of the conditions, without those that decide nothing.
pub fn any(conds: impl IntoIterator<Item = Cond>) -> Cond {
    let mut left: Vec<Cond> = conds.into_iter().filter(|cond| *cond != never()).collect();
    match left.len() {
        _ if left.contains(&always()) => always(),
        1 => left.remove(0),
        _ => Cond::Any(left),
    }
}

/// Rows that do not meet the condition.
pub fn not(cond: Cond) -> Cond {
    match cond {
        cond if cond == always() => never(),
        cond if cond == never() => always(),
        cond => Cond::Not(Box::new(cond)),
    }
}

/// The space in which a resource's companion rows (meta) are stored.
pub fn meta_space(resource: &Resource) -> Name {
    tables::family_space(resource.family).map_or_else(|| resource.table.clone(), name)
}

/// The slug that a title gives.
pub fn slug_of_title(resource: &Resource, title: &str) -> String {
    // The form of a plain title is declared for the text itself; other titles are markup.
    let plain = resource.property_of_column(record::TITLE).is_some_and(|property| property.stored.is_some());
    if plain { slug::of_plain_text(title) } else { slug::sanitize_title(title) }
}

/// The rows of a resource that refer to rows with these keys by a relation; `None`: the relation is not stored.
pub fn referring(resource: &Resource, relation: &Relation, keys: &[DbValue]) -> Option<Cond> {
    if !relation.is_column() {
        let dst = keys.iter().filter(|key| matches!(key, DbValue::Int(_))).map(int).collect();
        return Some(Cond::Linked { rel: relation.rel.clone(), dst });
    }
    Some(Cond::In(column_of(resource, relation)?, keys.to_vec()))
}

/// The column of a relation to one row; `None`: it has edges, or is not stored.
pub fn column_of(resource: &Resource, relation: &Relation) -> Option<Name> {
    resource.property(&relation.property)?.column.clone()
}

/// The condition that selects the rows of this resource in a shared table.
pub fn own_rows(resource: &Resource) -> Cond {
    tables::kind_column(resource.family).map_or_else(always, |column| eq(column, DbValue::Text(resource.kind.clone())))
}

/// A plan for whole rows of a resource.
pub fn plan(resource: &Resource, filter: Cond) -> ReadPlan {
    ReadPlan {
        table: resource.table.clone(),
        extensions: resource.extension.iter().cloned().collect(),
        columns: resource.columns.clone(),
        filter: Cond::All(vec![own_rows(resource), filter]),
        order: Vec::new(),
        limit: None,
        offset: 0,
        width: None,
    }
}

/// A plan for some columns of a table.
pub fn columns(table: &str, columns: &[&str], filter: Cond) -> ReadPlan {
    ReadPlan {
        table: name(table),
        extensions: Vec::new(),
        columns: columns.iter().map(|c| name(c)).collect(),
        filter,
        order: Vec::new(),
        limit: None,
        offset: 0,
        width: None,
    }
}

/// The rows of a resource's plan with only some columns read, by position, and null in the place of the rest.
pub fn read(
    snapshot: &dyn Snapshot,
    resource: &Resource,
    mut plan: ReadPlan,
    wanted: &[usize],
) -> Result<Vec<Row>, StorageError> {
    plan.columns = wanted.iter().map(|place| resource.columns[*place].clone()).collect();
    let spread = |row: Row| {
        let mut whole = vec![DbValue::Null; resource.columns.len()];
        wanted.iter().zip(row).for_each(|(place, value)| whole[*place] = value);
        whole
    };
    Ok(snapshot.rows(&plan)?.into_iter().map(spread).collect())
}

/// Adds an order by one column.
pub fn ordered(mut plan: ReadPlan, column: &str, descending: bool) -> ReadPlan {
    plan.order.push(Order::Column(name(column), descending));
    plan
}

/// The row with this key, if the resource has one.
pub fn find(snapshot: &dyn Snapshot, resource: &Resource, key: &DbValue) -> Result<Option<Row>, StorageError> {
    if let Some(original) = resource.original(int(key)) {
        return Ok(Some(original.clone()));
    }
    let mut plan = plan(resource, Cond::Compare(resource.key.clone(), Op::Eq, key.clone()));
    plan.limit = Some(1);
    Ok(snapshot.rows(&plan)?.into_iter().next())
}

/// A plan for the columns of rows with types.
pub fn select<T: TypedRow>(filter: Cond) -> ReadPlan {
    columns(T::TABLE, T::COLUMNS, filter)
}

/// The first row with types that meets a condition.
pub fn first_of<T: TypedRow>(snapshot: &dyn Snapshot, filter: Cond) -> Result<Option<T>, StorageError> {
    first(snapshot, T::TABLE, T::COLUMNS, filter)
}

/// The first row of a table that meets a condition: the given columns.
pub fn first<T: FromRow>(
    snapshot: &dyn Snapshot,
    table: &str,
    wanted: &[&str],
    filter: Cond,
) -> Result<Option<T>, StorageError> {
    first_by(snapshot, columns(table, wanted, filter))
}

/// The first row of a plan.
pub fn first_by<T: FromRow>(snapshot: &dyn Snapshot, plan: ReadPlan) -> Result<Option<T>, StorageError> {
    Ok(snapshot.rows(&ReadPlan { limit: Some(1), ..plan })?.into_iter().next().map(T::from_row))
}

/// Whether a row of a shared table meets a condition.
pub fn exists(snapshot: &dyn Snapshot, table: &str, filter: Cond) -> Result<bool, StorageError> {
    Ok(first::<DbValue>(snapshot, table, &[ID], filter)?.is_some())
}

/// The ids and kinds of content records. Guards and addresses share this read, so that a batch makes it once.
pub fn kinds(snapshot: &dyn Snapshot, ids: impl IntoIterator<Item = i64>) -> Result<Vec<(i64, Name)>, StorageError> {
    snapshot.rows_as(&columns(record::TABLE, &[ID, record::KIND], is_in(ID, ids)))
}

/// The values that a put sets.
pub fn set<'c>(values: impl IntoIterator<Item = (&'c str, DbValue)>) -> Vec<(Name, Input)> {
    values.into_iter().map(|(column, value)| (name(column), Input::Value(value))).collect()
}

/// The values of a resource's columns, by the names that plans know.
pub fn set_of(resource: &Resource, values: &[(&str, DbValue)]) -> Vec<(Name, Input)> {
    let named = |column: &str| resource.plan_column(column).unwrap_or_else(|| name(column));
    values.iter().map(|(column, value)| (named(column), Input::Value(value.clone()))).collect()
}

/// Sets columns of the first row that changes write, whatever they set before.
pub fn set_first(resource: &Resource, changes: &mut [Change], values: &[(&str, DbValue)]) {
    let put = changes.iter_mut().find_map(|change| match change {
        Change::Put(put) => Some(put),
        _ => None,
    });
    let Some(put) = put else { return };
    for (column, value) in set_of(resource, values) {
        put.set.retain(|(own, _)| *own != column);
        put.set.push((column, value));
    }
}

/// The number of the newest entry of the change feed.
pub fn newest_change(snapshot: &dyn Snapshot) -> Result<i64, StorageError> {
    let plan = ordered(columns(feed::TABLE, &[feed::SEQ], always()), feed::SEQ, true);
    Ok(first_by::<i64>(snapshot, plan)?.unwrap_or(0))
}

/// Text columns that contain words between spaces: ` a b `.
pub fn split_words(text: &str) -> Vec<Arc<str>> {
    text.split_whitespace().map(Arc::from).collect()
}

/// The reverse of [`split_words`].
pub fn join_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let joined = words.into_iter().collect::<Vec<_>>().join(" ");
    if joined.is_empty() { joined } else { format!(" {joined} ") }
}
