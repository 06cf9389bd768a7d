//! The rows that a sitemap lists, and windows of them.
//!
//! Whether search engines are to leave out a row is beside the row. Few rows say so: their places are read first, so that nothing
//! is asked of each row that is counted or skipped.

use crate::access::policy;
use crate::error::ApiError;
use crate::handlers::Work;
use crate::records::{self, Record, is_in};
use crate::registry::columns::{ID, record, seo, term};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::render::short_columns;
use cms_storage::Snapshot;
use cms_storage::plan::{Cond, DbValue, Op, Order, ReadPlan, Row};
use std::collections::HashMap;

/// Most rows that are left out one by one.
const FEW: usize = 5_000;

/// The place of a row in the order of its list: what it is sorted by, and its id.
type Place = (i64, i64);

/// The rows of a list, the oldest first.
pub(super) struct ListedRows<'r> {
    resource: &'r Resource,
    /// Exactly these rows.
    pub plan: ReadPlan,
    /// The same with those that are left out.
    all: ReadPlan,
    /// Places of those that are left out; `None`: they are not few.
    hidden: Option<Vec<Place>>,
}

impl<'r> ListedRows<'r> {
    /// Those of a resource: one statement where rows can say that they are left out.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn of(
        work: &Work<'_>,
        snapshot: &dyn Snapshot,
        resource: &'r Resource,
    ) -> Result<ListedRows<'r>, ApiError> {
        let (open, order) = open(work, resource);
        let plan = |filter: Cond| ReadPlan { order: order.clone(), ..records::plan(resource, filter) };
        let mut all = plan(open.clone());
        if resource.is_content() {
            // Nothing is read beside the rows that are skipped.
            all.extensions.clear();
        }
        let none = resource.seo.as_ref().is_some_and(|rules| rules.noindex);
        let Some(column) = resource.plan_column(seo::NOINDEX) else {
            let plan = plan(records::all([open, records::constant(!none)]));
            return Ok(ListedRows { resource, plan, all, hidden: (!none).then(Vec::new) });
        };
        let says = |hidden: i64| Cond::Compare(column.clone(), Op::Eq, DbValue::Int(hidden));
        if none {
            return Ok(ListedRows { resource, plan: plan(records::all([open, says(0)])), all, hidden: None });
        }
        let hidden = ReadPlan { limit: Some(FEW as u64 + 1), ..plan(records::all([open.clone(), says(1)])) };
        let mut hidden = places(snapshot, resource, hidden)?;
        hidden.sort_unstable();
        let listed = records::any([Cond::IsNull(column.clone()), says(0)]);
        let hidden = Some(hidden).filter(|hidden| hidden.len() <= FEW);
        Ok(ListedRows { resource, plan: plan(records::all([open, listed])), all, hidden })
    }

    /// Their number.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn count(&self, snapshot: &dyn Snapshot) -> Result<u64, ApiError> {
        Ok(match &self.hidden {
            Some(hidden) => snapshot.count(&self.all)?.saturating_sub(hidden.len() as u64),
            None => snapshot.count(&self.plan)?,
        })
    }

    /// At most `size` rows after those that are skipped: a statement for their ids, and one for them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn window(&self, snapshot: &dyn Snapshot, skipped: u64, size: u64) -> Result<Vec<Row>, ApiError> {
        let resource = self.resource;
        let ids = self.ids(snapshot, skipped, size)?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let plan = records::plan(resource, is_in(ID, ids.iter().copied()));
        let rows = records::read(snapshot, resource, plan, &short_columns(resource))?;
        let id = |row: &Row| Record { resource, row }.id();
        let mut rows: HashMap<i64, Row> = rows.into_iter().map(|row| (id(&row), row)).collect();
        Ok(ids.iter().filter_map(|id| rows.remove(id)).collect())
    }

    /// The ids of a window. Behind the middle they are read from the end: a database counts what it skips.
    fn ids(&self, snapshot: &dyn Snapshot, skipped: u64, size: u64) -> Result<Vec<i64>, ApiError> {
        let total = if skipped == 0 { size } else { self.count(snapshot)? };
        let here = total.saturating_sub(skipped).min(size);
        if here == 0 {
            return Ok(Vec::new());
        }
        let behind = total - skipped - here;
        let backwards = behind < skipped;
        let turned = |order| match order {
            Order::Column(column, descending) => Order::Column(column, descending != backwards),
            other => other,
        };
        let (plan, hidden) = match &self.hidden {
            Some(hidden) => (&self.all, &hidden[..]),
            None => (&self.plan, &[][..]),
        };
        let order = plan.order.iter().cloned().map(turned).collect();
        let offset = if backwards { behind } else { skipped };
        // As many rows more as may stand among them and be left out.
        let limit = Some(here + hidden.len() as u64);
        let found = places(snapshot, self.resource, ReadPlan { order, limit, offset, ..plan.clone() })?;
        let Some(first) = found.first() else { return Ok(Vec::new()) };
        let passed = hidden.iter().filter(|place| if backwards { *place > first } else { *place < first }).count();
        let listed = found.iter().filter(|place| hidden.binary_search(place).is_err());
        let mut ids: Vec<i64> = listed.skip(passed).take(here as usize).map(|(_, id)| *id).collect();
        if backwards {
            ids.reverse();
        }
        Ok(ids)
    }

    /// The rows as records.
    pub(super) fn records<'w>(&self, rows: &'w [Row]) -> impl Iterator<Item = Record<'w>>
    where
        'r: 'w,
    {
        let resource = self.resource;
        rows.iter().map(move |row| Record { resource, row })
    }
}

/// The places of the rows of a plan.
fn places(snapshot: &dyn Snapshot, resource: &Resource, plan: ReadPlan) -> Result<Vec<Place>, ApiError> {
    if resource.is_content() {
        return Ok(snapshot.rows_as(&ReadPlan { columns: vec![name(record::DATE_LOCAL), name(ID)], ..plan })?);
    }
    let ids: Vec<i64> = snapshot.rows_as(&ReadPlan { columns: vec![name(ID)], ..plan })?;
    Ok(ids.into_iter().map(|id| (id, id)).collect())
}

/// The rows that everybody may read, and their order.
fn open(work: &Work<'_>, resource: &Resource) -> (Cond, Vec<Order>) {
    let scope = work.scope;
    let by_id = Order::Column(name(ID), false);
    if resource.is_content() {
        let published = policy::published(scope);
        let visible = policy::visible_among(scope, resource, &published);
        (records::all([published, visible]), vec![Order::Column(name(record::DATE_LOCAL), false), by_id])
    } else if resource.is_taxonomy() {
        let used = Cond::Compare(name(term::COUNT), Op::Gt, DbValue::Int(0));
        (records::all([used, policy::visible(scope, resource)]), vec![by_id])
    } else {
        (policy::listed_users(scope, resource), vec![by_id])
    }
}
