//! `items`, `minItems`, `maxItems` and `uniqueItems`; `x-max-bytes` of lists without `items`.

use super::compile::Reader;
use super::equal::has_duplicates;
use super::failure::{Failure, Reason, Report, ValuePath, count};
use super::free::{check_free, size_of};
use super::node::Node;
use serde_json::Value;

/// The rules of a schema for a list.
#[derive(Debug, Default)]
pub(super) struct ArrayRules {
    items: Option<Box<Node>>,
    fewest: Option<u64>,
    most: Option<u64>,
    unique: bool,
    /// Bytes of a list whose items no schema describes.
    free: Option<u64>,
}

impl ArrayRules {
    pub fn read(reader: &mut Reader<'_, '_>) -> Self {
        let items = reader.schema("items").map(Box::new);
        let bounds = reader.bounds();
        let (fewest, most) = reader.bounded_range("minItems", "maxItems", bounds.items);
        let free = if items.is_none() { reader.most_bytes(bounds.free) } else { None };
        ArrayRules { items, fewest, most, unique: reader.flag("uniqueItems").unwrap_or(false), free }
    }

    /// Items first, then how many, then whether they differ: the order in which clients see failures.
    pub fn check<R: Report>(&self, place: &ValuePath<'_>, list: &[Value]) -> Result<(), R> {
        if let Some(node) = &self.items {
            for (index, item) in list.iter().enumerate() {
                node.check::<R>(&place.item(index), item)?;
            }
        }
        let length = list.len() as u64;
        if let Some(fewest) = self.fewest.filter(|fewest| length < *fewest) {
            let rest = || format!("needs at least {}", count(fewest, "item", "items"));
            return Err(R::at(place, Reason::TooFewItems, rest));
        }
        if let Some(most) = self.most.filter(|most| length > *most) {
            let rest = || format!("takes at most {}", count(most, "item", "items"));
            return Err(R::at(place, Reason::TooManyItems, rest));
        }
        check_free(place, self.free, || list.iter().map(size_of).sum())?;
        self.check_unique(place, list)
    }

    /// Converts every item; `[1, "1"]` may hold duplicates only now.
    pub fn coerce(&self, place: &ValuePath<'_>, list: &mut [Value]) -> Result<(), Failure> {
        let Some(node) = &self.items else { return Ok(()) };
        for (index, item) in list.iter_mut().enumerate() {
            *item = node.coerce(&place.item(index), item.take())?;
        }
        self.check_unique(place, list)
    }

    fn check_unique<R: Report>(&self, place: &ValuePath<'_>, list: &[Value]) -> Result<(), R> {
        if self.unique && has_duplicates(list) {
            return Err(R::at(place, Reason::DuplicateItems, || "holds the same item twice".into()));
        }
        Ok(())
    }
}
