//! The rows of a window of a collection, wherever the window is: stretch by stretch, and from the end that is nearer.

use super::cursor::KeyRange;
use crate::error::ApiError;
use cms_storage::plan::{Layout, Order, ReadPlan, Row};
use cms_storage::{Snapshot, StorageError};

/// Rows in front of a window from which on those behind it are counted: skipping a row costs little.
const FAR: u64 = 100;

/// The rows of a plan with a window, and how they are stored.
pub struct WindowRows<'r> {
    pub snapshot: &'r dyn Snapshot,
    pub layout: &'r Layout,
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
        let most = self.plan.limit.unwrap_or(u64::MAX);
        let (mut rows, mut offset) = (Vec::new(), self.plan.offset);
        for (place, stretch) in self.stretches.iter().enumerate() {
            let left = most.saturating_sub(rows.len() as u64);
            if left == 0 {
                break;
            }
            let plan = ReadPlan { limit: Some(left), offset, ..stretch.of(self.plan) };
            let size = || self.size(place);
            let found = self.read_nearer_end(&plan, size, &read)?;
            // Where the window begins behind the stretch, it begins in a later one.
            offset = if offset == 0 || !found.is_empty() { 0 } else { offset.saturating_sub(size()?) };
            rows.extend(found);
        }
        Ok(rows)
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
        let Some(order) = turned else { return read(plan) };
        let rest = size()?.saturating_sub(plan.offset);
        let limit = plan.limit.map_or(rest, |limit| limit.min(rest));
        let behind = rest - limit;
        if limit == 0 {
            return Ok(Vec::new());
        }
        if behind >= plan.offset {
            return read(plan);
        }
        let mut rows = read(&ReadPlan { order, limit: Some(limit), offset: behind, ..plan.clone() })?;
        rows.reverse();
        Ok(rows)
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
