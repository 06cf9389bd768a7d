//! The rows of a window of a collection, wherever the window is: stretch by stretch, and from the end that is nearer.

use super::cursor::{KeyRange, SortKeys};
use crate::error::ApiError;
use crate::registry::resource::Resource;
use cms_storage::plan::{Cond, Layout, Order, ReadPlan, Row};
use cms_storage::{Snapshot, StorageError};

/// Rows in front of a window from which on those behind it are counted: skipping a row costs little.
const FAR: u64 = 100;

/// Every so many rows, the sort values of one are cached: what is behind it is found by them. The first are found by the rows
/// of the second.
const STRIDES: [u64; 2] = [100, 10_000];

/// The rows of a plan with a window, and how they are stored.
pub struct WindowRows<'r> {
    pub snapshot: &'r dyn Snapshot,
    pub layout: &'r Layout,
    pub resource: &'r Resource,
    pub plan: &'r ReadPlan,
    /// The parts of the whole order, each of which is that of an index; none: the order is not divided.
    pub stretches: &'r [KeyRange],
    /// The number of all rows is wanted anyway.
    pub counts: bool,
}

impl WindowRows<'_> {
    /// Reads the rows.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn read(&self, read: impl Fn(&ReadPlan) -> Result<Vec<Row>, ApiError>) -> Result<Vec<Row>, ApiError> {
        if self.stretches.is_empty() {
            return self.read_nearer_end(self.plan, || self.snapshot.count(self.plan), &read);
        }
        let size = |place: usize, _: &ReadPlan| self.size(place);
        in_stretches(self.plan, self.stretches, size, |place, plan| {
            self.read_nearer_end(plan, || self.size(place), &read)
        })
    }

    /// The rows of a stretch. All rows are counted as they are written, and those without a value are few: the first stretch
    /// is the rest.
    fn size(&self, place: usize) -> Result<u64, StorageError> {
        let count = |stretch: &KeyRange| self.snapshot.count(&stretch.of(self.plan));
        if place > 0 {
            return count(&self.stretches[place]);
        }
        let all = self.snapshot.count(self.plan)?;
        self.stretches[1..].iter().try_fold(all, |rest, stretch| Ok(rest.saturating_sub(count(stretch)?)))
    }

    /// The rows of a plan's window. Far from the beginning they are read in the opposite order where the end is nearer.
    fn read_nearer_end(
        &self,
        plan: &ReadPlan,
        size: impl FnOnce() -> Result<u64, StorageError>,
        read: &impl Fn(&ReadPlan) -> Result<Vec<Row>, ApiError>,
    ) -> Result<Vec<Row>, ApiError> {
        let turned = self.turned(plan).filter(|_| self.counts && plan.offset >= FAR);
        let Some(order) = turned else { return self.read_far(plan, &STRIDES, read) };
        let rest = size()?.saturating_sub(plan.offset);
        let limit = plan.limit.map_or(rest, |limit| limit.min(rest));
        let behind = rest - limit;
        if limit == 0 {
            return Ok(Vec::new());
        }
        if behind >= plan.offset {
            return self.read_far(plan, &STRIDES, read);
        }
        let mut rows =
            self.read_far(&ReadPlan { order, limit: Some(limit), offset: behind, ..plan.clone() }, &STRIDES, read)?;
        rows.reverse();
        Ok(rows)
    }

    /// The rows of a plan's window. Those far in front of it are not skipped, but excluded by the sort values of one of them.
    fn read_far(
        &self,
        plan: &ReadPlan,
        strides: &[u64],
        read: &dyn Fn(&ReadPlan) -> Result<Vec<Row>, ApiError>,
    ) -> Result<Vec<Row>, ApiError> {
        let [stride, longer @ ..] = strides else { return read(plan) };
        // Edges of a target are in an order of their own.
        let of_target = || plan.filter.conjuncts().iter().any(|cond| matches!(cond, Cond::Linked { .. }));
        if plan.offset < *stride || of_target() {
            return read(plan);
        }
        let Some(keys) = SortKeys::of(self.layout, self.resource, &plan.order) else { return read(plan) };
        let offset = plan.offset % stride;
        let before =
            ReadPlan { columns: keys.columns(), limit: Some(1), offset: plan.offset - offset - 1, ..plan.clone() };
        let before = self.read_far(&before, longer, &|plan| Ok(self.snapshot.cached_rows(plan)?))?;
        let Some(values) = before.last() else { return Ok(Vec::new()) };
        let size = |_, plan: &ReadPlan| self.snapshot.count(plan);
        in_stretches(&ReadPlan { offset, ..plan.clone() }, &keys.stretches(Some(values)), size, |_, plan| read(plan))
    }

    /// The opposite order; `None` where that is not the order backwards. In a stretch, all rows have a value in the first column,
    /// or none has.
    fn turned(&self, plan: &ReadPlan) -> Option<Vec<Order>> {
        let table = self.layout.table(&plan.table)?;
        let divided = !self.stretches.is_empty();
        let order = plan.order.iter().enumerate().map(|(place, order)| match order {
            Order::Column(name, descending) if !table.unset_last(name) || divided && place == 0 => {
                Some(Order::Column(name.clone(), !descending))
            }
            _ => None,
        });
        order.collect::<Option<Vec<Order>>>().filter(|order| !order.is_empty())
    }
}

/// The rows of a plan's window, stretch by stretch. Where it begins behind one, the stretch's size is requested.
fn in_stretches(
    plan: &ReadPlan,
    stretches: &[KeyRange],
    size: impl Fn(usize, &ReadPlan) -> Result<u64, StorageError>,
    read: impl Fn(usize, &ReadPlan) -> Result<Vec<Row>, ApiError>,
) -> Result<Vec<Row>, ApiError> {
    let most = plan.limit.unwrap_or(u64::MAX);
    let (mut rows, mut offset) = (Vec::new(), plan.offset);
    for (place, stretch) in stretches.iter().enumerate() {
        let left = most.saturating_sub(rows.len() as u64);
        if left == 0 {
            break;
        }
        let within = ReadPlan { limit: Some(left), offset, ..stretch.of(plan) };
        let found = read(place, &within)?;
        // Where the window begins behind the stretch, it begins in a later one.
        let is_last = place + 1 == stretches.len();
        offset =
            if offset == 0 || is_last || !found.is_empty() { 0 } else { offset.saturating_sub(size(place, &within)?) };
        rows.extend(found);
    }
    Ok(rows)
}
