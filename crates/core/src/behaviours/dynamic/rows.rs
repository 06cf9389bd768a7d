//! Reads of the parts of a content: documents, dates and numbers of rows, within the budget of the content.

use super::loops::LoopRecord;
use super::{DynamicPart, MOST_ROWS};
use crate::behaviours::{BLOCKS, READS};
use crate::records::{self, Record, is_in};
use crate::registry::columns::record;
use crate::registry::name;
use crate::registry::resource::{Context, Resource};
use crate::render::{View, columns_for, documents};
use crate::request::fields::Fields;
use cms_storage::plan::{Cond, Order, ReadPlan, Row};
use cms_storage::{FromRow, Snapshot, StorageError};
use cms_text::dress::UniqueNames;
use cms_text::render;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Seconds of a day.
pub const DAY: u32 = 86_400;
/// The column of a record's date on the site's wall clock.
pub const DATE: &str = "date_local";

/// The member that leads to related rows, and the fields of their documents.
type RelationKey = (String, String);

/// The documents of a list, and what its parts have read for all of them at once: so a list takes as many statements for
/// ten records as for one.
pub struct ListReads<'d> {
    documents: &'d [Value],
    related: RefCell<HashMap<RelationKey, Rc<[Value]>>>,
    /// Rows of the records themselves behind their keys, by columns.
    rows: RefCell<HashMap<String, Rc<[Row]>>>,
}

impl<'d> ListReads<'d> {
    /// Nothing has been read yet.
    pub fn of(documents: &'d [Value]) -> ListReads<'d> {
        ListReads { documents, related: RefCell::default(), rows: RefCell::default() }
    }

    fn ids(&self, member: &str) -> BTreeSet<i64> {
        self.documents.iter().flat_map(|document| ids_of(&document[member])).collect()
    }
}

/// A number, or those of a list; 0 is none.
fn ids_of(member: &Value) -> Vec<i64> {
    let list = member.as_array().map_or(std::slice::from_ref(member), Vec::as_slice);
    list.iter().filter_map(Value::as_i64).filter(|id| *id != 0).collect()
}

impl DynamicPart<'_> {
    /// Documents of the rows to which a member of the record here leads, as far as they meet the filter; `fields` begin
    /// with the id.
    pub fn related(
        &self,
        (document, member): (&Value, &str),
        (resource, filter): (&Resource, Cond),
        order: Vec<Order>,
        fields: &str,
    ) -> Vec<Value> {
        let read = |ids: BTreeSet<i64>| {
            let filter = Cond::All(vec![filter.clone(), is_in("id", ids)]);
            self.documents_of(resource, filter, order.clone(), (0, MOST_ROWS), fields)
        };
        let wanted: BTreeSet<i64> = ids_of(&document[member]).into_iter().collect();
        let Some(list) = self.within.shown.map(LoopRecord::list) else { return read(wanted) };
        let key = (member.to_owned(), fields.to_owned());
        let known = list.related.borrow().get(&key).cloned();
        let known = known.unwrap_or_else(|| {
            let found: Rc<[Value]> = read(list.ids(member)).into();
            list.related.borrow_mut().insert(key, found.clone());
            found
        });
        if known.len() as u64 >= MOST_ROWS {
            return read(wanted);
        }
        known.iter().filter(|one| one["id"].as_i64().is_some_and(|id| wanted.contains(&id))).cloned().collect()
    }

    /// The rows of a plan with types; none where they cannot be read.
    pub fn rows_as<T: FromRow, C: FromIterator<T> + Default>(&self, plan: &ReadPlan) -> C {
        self.item.scope.snapshot().and_then(|snapshot| Ok(snapshot.rows_as(plan)?)).unwrap_or_default()
    }

    /// Columns of the record here.
    pub fn row<T: FromRow>(&self, columns: &[&str]) -> Option<T> {
        let all: Vec<&str> = std::iter::once("id").chain(columns.iter().copied()).collect();
        let mut row = self.row_by(self.within.record(), &columns.join(","), 0, |ids| {
            records::columns(record::TABLE, &all, is_in("id", ids))
        })?;
        Some(T::from_row(row.split_off(1)))
    }

    /// A whole row of a resource, if it meets the filter.
    pub fn whole_row(&self, resource: &Resource, id: i64, filter: &Cond) -> Option<Row> {
        let key = resource.column(&resource.key)?;
        let plan = |ids| records::plan(resource, Cond::All(vec![is_in("id", ids), filter.clone()]));
        self.row_by(id, "", key, plan)
    }

    /// The row with this key, which is in the column at `place` of the plan; in a list with those of all of its records.
    fn row_by(&self, id: i64, columns: &str, place: usize, plan: impl Fn(BTreeSet<i64>) -> ReadPlan) -> Option<Row> {
        let read = |ids: BTreeSet<i64>| {
            let rows = self.item.scope.snapshot().and_then(|snapshot| Ok(snapshot.rows(&plan(ids))?));
            rows.unwrap_or_default()
        };
        let own =
            |rows: &[Row]| rows.iter().find(|row| row.get(place).is_some_and(|own| records::int(own) == id)).cloned();
        let Some(list) = self.within.shown.filter(|shown| shown.id() == id).map(LoopRecord::list) else {
            return own(&read(BTreeSet::from([id])));
        };
        let known = list.rows.borrow().get(columns).cloned();
        let known = known.unwrap_or_else(|| {
            let found: Rc<[Row]> = read(list.ids("id")).into();
            list.rows.borrow_mut().insert(columns.to_owned(), found.clone());
            found
        });
        own(&known)
    }

    /// Documents of rows of the declared resource.
    pub fn documents(&self, filter: Cond, order: Vec<Order>, most: u64, fields: &str) -> Vec<Value> {
        self.of.map_or_else(Vec::new, |resource| self.documents_of(resource, filter, order, (0, most), fields))
    }

    pub fn documents_of(
        &self,
        resource: &Resource,
        filter: Cond,
        order: Vec<Order>,
        (skip, most): (u64, u64),
        fields: &str,
    ) -> Vec<Value> {
        let (scope, budget) = (self.item.scope, self.within.budget);
        let fields = Fields::parse(Some(&Value::from(fields)));
        let excerpts = fields.wants("excerpt");
        let spent = excerpts && budget.text.get() == 0;
        if spent || budget.spend_one(&budget.reads).is_none() {
            budget.cut.set(true);
            return Vec::new();
        }
        let most = most.min(MOST_ROWS).min(budget.rows.get());
        let mut plan = records::plan(resource, filter);
        (plan.order, plan.offset, plan.limit) = (order, skip, Some(most));
        let view = View {
            context: Context::VIEW,
            fields: &fields,
            password: None,
            links: false,
            readable: true,
            reads: READS,
            blocks: BLOCKS,
            excerpt_words: None,
            unique: &UniqueNames::default(),
        };
        let read = || {
            let snapshot = scope.snapshot()?;
            let mut rows = match columns_for(resource, &view) {
                Some(columns) => records::read(&*snapshot, resource, plan, &columns)?,
                None => snapshot.rows(&plan)?,
            };
            if excerpts {
                let source = |row: &Row| excerpt_source(&Record { resource, row });
                rows.truncate(rows.iter().take_while(|row| budget.render(source(row)).is_some()).count());
            }
            budget.show(rows.len() as u64);
            documents(scope, &*snapshot, resource, &rows, &view)
        };
        read().unwrap_or_default()
    }

    /// The wall clock of the first row of the declared resource in the order of its date.
    pub fn first_date(&self, filter: Cond, newest: bool) -> Option<i64> {
        let order = vec![Order::Column(name(DATE), newest)];
        let plan = ReadPlan { order, limit: Some(1), ..self.plan(filter)? };
        self.dates(plan, |snapshot, plan| snapshot.rows(plan)).first().cloned().map(i64::from_row)
    }

    /// The days of the wall clock, by their beginning, to which rows of the declared resource belong, each with how many.
    pub fn days(&self, filter: Cond) -> BTreeMap<i64, u64> {
        const MOST_DAYS: u64 = 100_000;
        let Some(plan) = self.plan(filter) else { return BTreeMap::new() };
        let plan = ReadPlan { width: Some(DAY), limit: Some(MOST_DAYS), ..plan };
        let days = self.dates(plan, |snapshot, plan| snapshot.groups(plan));
        days.iter().cloned().map(<(i64, i64)>::from_row).map(|(day, count)| (day, count.unsigned_abs())).collect()
    }

    fn plan(&self, filter: Cond) -> Option<ReadPlan> {
        Some(records::plan(self.of?, filter))
    }

    fn dates(
        &self,
        plan: ReadPlan,
        read: impl FnOnce(&dyn Snapshot, &ReadPlan) -> Result<Vec<Row>, StorageError>,
    ) -> Rc<[Row]> {
        let budget = self.within.budget;
        let plan = ReadPlan { columns: vec![name(DATE)], extensions: Vec::new(), ..plan };
        let known = budget.dates.borrow().iter().find(|(known, _)| *known == plan).map(|(_, rows)| rows.clone());
        if let Some(rows) = known {
            return rows;
        }
        if budget.spend_one(&budget.reads).is_none() {
            return Rc::default();
        }
        let rows = self.item.scope.snapshot().and_then(|snapshot| Ok(read(&*snapshot, &plan)?));
        let rows: Rc<[Row]> = rows.unwrap_or_default().into();
        budget.dates.borrow_mut().push((plan, rows.clone()));
        rows
    }

    /// How many rows there are.
    pub fn count_of(&self, resource: &Resource, filter: Cond) -> u64 {
        let budget = self.within.budget;
        if budget.spend_one(&budget.reads).is_none() {
            return 0;
        }
        let plan = records::plan(resource, filter);
        self.item.scope.snapshot().and_then(|snapshot| Ok(snapshot.count(&plan)?)).unwrap_or_default()
    }
}

/// Bytes that a record's excerpt is made of.
fn excerpt_source(record: &Record<'_>) -> usize {
    match record.text("excerpt") {
        "" => record.text("content").len().min(render::EXCERPT_SOURCE),
        own => own.len(),
    }
}

/// Documents by the number of what they are below.
pub struct DocumentTree<'d>(HashMap<i64, Vec<&'d Value>>);

impl<'d> DocumentTree<'d> {
    /// As they say themselves.
    pub fn of(all: &'d [Value]) -> DocumentTree<'d> {
        DocumentTree::by(all, |parent| parent)
    }

    /// Those are at the top that are below what is not among them.
    pub fn build_tree(all: &'d [Value]) -> DocumentTree<'d> {
        let known: HashSet<i64> = all.iter().filter_map(|document| document["id"].as_i64()).collect();
        DocumentTree::by(all, |parent| if known.contains(&parent) { parent } else { 0 })
    }

    fn by(all: &'d [Value], above: impl Fn(i64) -> i64) -> DocumentTree<'d> {
        let mut tree: HashMap<i64, Vec<&Value>> = HashMap::new();
        for document in all {
            tree.entry(above(document["parent"].as_i64().unwrap_or(0))).or_default().push(document);
        }
        DocumentTree(tree)
    }

    /// The children of a document's id, in the order of the documents.
    pub fn children(&self, above: i64) -> &[&'d Value] {
        self.0.get(&above).map_or(&[], Vec::as_slice)
    }
}
