//! Heads of the places at addresses, for search engines: items are read together, a fixed number of statements for each resource
//! among them.

use super::find::{NamedPlace, SitePlace};
use super::requested::RequestedAddress;
use crate::behaviours::READS;
use crate::behaviours::seo::{SeoHead, SeoPlace, head_of};
use crate::error::ApiError;
use crate::handlers::Work;
use crate::records::{self, Record, is_in};
use crate::registry::columns::ID;
use crate::render::{Batch, Item};
use std::collections::HashMap;

/// The heads of the items among places, by position.
///
/// # Errors
/// The database cannot be read.
pub(super) fn of_items(
    work: &Work<'_>,
    found: &[Option<NamedPlace<'_>>],
    requested: &[RequestedAddress],
) -> Result<HashMap<usize, SeoHead>, ApiError> {
    let scope = work.scope;
    let mut wanted: HashMap<usize, Vec<(usize, i64)>> = HashMap::new();
    for (at, found) in found.iter().enumerate() {
        if let Some(
            SitePlace::Record(resource, row) | SitePlace::Term(resource, row) | SitePlace::Author(resource, row),
        ) = found.as_ref().filter(|found| !found.old).map(|found| &found.place)
        {
            wanted.entry(resource.index).or_default().push((at, Record { resource, row }.id()));
        }
    }
    let snapshot = scope.snapshot()?;
    let mut heads = HashMap::new();
    for (index, places) in wanted {
        let resource = &scope.registry.resources[index];
        if resource.seo.is_none() {
            continue;
        }
        let rows = snapshot.rows(&records::plan(resource, is_in(ID, places.iter().map(|(_, id)| *id))))?;
        let batch = Batch::for_seo(&*snapshot, scope, resource, &rows)?;
        for row in &rows {
            let record = Record { resource, row };
            let item = Item { unlocked: false, ..Item::viewed(scope, record, &batch, READS, &work.unique) };
            for (at, _) in places.iter().filter(|(_, id)| *id == record.id()) {
                let page = requested[*at].page_of(&scope.registry.declaration.addresses.page);
                heads.extend(head_of(&item, page).map(|head| (*at, head)));
            }
        }
    }
    Ok(heads)
}

/// The place at an address, where it is no item.
pub(super) fn place_of(work: &Work<'_>, place: &SitePlace<'_>, requested: &RequestedAddress) -> Option<SeoPlace> {
    let declared = &work.scope.registry.declaration.addresses;
    Some(match place {
        SitePlace::Site => match declared.words().and_then(|words| requested.parameter(words)) {
            Some(words) => SeoPlace::Search(words.to_owned()),
            None => SeoPlace::FrontPage,
        },
        SitePlace::Archive(kind) => {
            SeoPlace::Archive(kind.declared.labels.get("name").cloned().unwrap_or_else(|| kind.name.clone()))
        }
        SitePlace::Period(period) => SeoPlace::Date(period.name(&work.scope.settings)),
        SitePlace::Record(..) | SitePlace::Term(..) | SitePlace::Author(..) | SitePlace::File(..) => return None,
    })
}
