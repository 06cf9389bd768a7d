//! The place that an address names: a record, a term, an author, a list. One function finds it, for one address as for many, with a number
//! of statements that does not depend on how many there are.

use super::candidates::{self, Candidate, CandidateTarget};
use super::period::Period;
use super::requested::{RequestedAddress, last_slug};
use super::walk::{self, PathHit};
use crate::access::policy;
use crate::error::ApiError;
use crate::records::{self, Record, is_in, txt};
use crate::registry::columns::{ID, file, record, term};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::render::short_columns;
use crate::scope::Scope;
use cms_storage::plan::{Cond, DbValue, Op, Order, ReadPlan, Row};
use cms_storage::{FromRow, Snapshot};
use cms_text::address::{AddressMatch, DATE};
use cms_text::time::CivilDateTime;
use std::collections::{HashMap, HashSet};

/// A place of the site that has an address.
#[derive(Debug)]
pub enum SitePlace<'a> {
    Record(&'a Resource, Row),
    Term(&'a Resource, Row),
    Author(&'a Resource, Row),
    /// The file of a record, by its key.
    File(&'a Resource, Row, String),
    /// The page that lists the records of a type.
    Archive(&'a Resource),
    Period(Period),
    /// The site's own address.
    Site,
}

/// A place, and how the address names it.
#[derive(Debug)]
pub struct NamedPlace<'a> {
    pub place: SitePlace<'a>,
    /// The address is one that the record had.
    pub old: bool,
    /// Parameters that name it, and whether they lead to its address.
    pub by: Option<(Vec<&'a str>, bool)>,
}

/// Seconds of a day.
const DAY: u32 = 24 * 60 * 60;

/// Most records whose slugs begin alike that a guess looks at.
const MOST_GUESSED: u64 = 20;

/// The place of an address.
///
/// # Errors
/// The database cannot be read.
pub fn find<'a>(scope: &'a Scope, address: &RequestedAddress) -> Result<Option<NamedPlace<'a>>, ApiError> {
    Ok(find_all(scope, std::slice::from_ref(address))?.pop().flatten())
}

/// The place of each of these addresses. What the caller may not read is not there.
///
/// # Errors
/// The database cannot be read.
pub fn find_all<'a>(scope: &'a Scope, addresses: &[RequestedAddress]) -> Result<Vec<Option<NamedPlace<'a>>>, ApiError> {
    let mut search = AddressSearch { scope, addresses, found: addresses.iter().map(|_| None).collect() };
    let all = addresses.iter().enumerate();
    search.living(all.flat_map(|(at, address)| candidates::of(scope, at, address)).collect())?;
    if search.open().next().is_some() {
        search.old()?;
    }
    if scope.registry.declaration.addresses.guesses {
        search.guess()?;
    }
    Ok(search.found)
}

/// The public record at an address, for everybody who looks for one.
///
/// # Errors
/// The database cannot be read.
pub fn public_record<'a>(
    scope: &'a Scope,
    address: &RequestedAddress,
) -> Result<Option<(&'a Resource, Row)>, ApiError> {
    let found = find_living(scope, address)?;
    Ok(match found.map(|found| found.place) {
        Some(SitePlace::Record(resource, row)) if is_public(scope, Record { resource, row: &row }) => {
            Some((resource, row))
        }
        _ => None,
    })
}

/// Whether a record that the caller may read is one for everybody. A file is as public as the record that it belongs to.
pub fn is_public(scope: &Scope, record: Record<'_>) -> bool {
    let status = record.text(record::STATUS);
    let public = scope.registry.status_is(status, |status| status.public);
    public || record.resource.supports("attached") && status == scope.registry.inherited_status()
}

fn find_living<'a>(scope: &'a Scope, address: &RequestedAddress) -> Result<Option<NamedPlace<'a>>, ApiError> {
    let mut search = AddressSearch { scope, addresses: std::slice::from_ref(address), found: vec![None] };
    search.living(candidates::of(scope, 0, address))?;
    Ok(search.found.pop().flatten())
}

/// Whether a record has the language that its address has.
fn is_in_language(scope: &Scope, address: &RequestedAddress, record: Record<'_>) -> bool {
    let languages = scope.registry.languages.as_ref();
    languages.is_none_or(|languages| languages.part(record.text(&languages.column)) == address.language.as_deref())
}

/// Addresses on their way to places.
struct AddressSearch<'a, 'p> {
    scope: &'a Scope,
    addresses: &'p [RequestedAddress],
    found: Vec<Option<NamedPlace<'a>>>,
}

impl<'a> AddressSearch<'a, '_> {
    /// Positions of the addresses without a place.
    fn open(&self) -> impl Iterator<Item = usize> {
        self.found.iter().enumerate().filter(|(_, found)| found.is_none()).map(|(at, _)| at)
    }

    /// Gives each address the first of its candidates that is there. Those of an address are in their order.
    fn living(&mut self, candidates: Vec<Candidate<'a, '_>>) -> Result<(), ApiError> {
        let snapshot = self.scope.snapshot()?;
        let mut hits = walk::living(&*snapshot, self.scope, &candidates)?;
        by_number(&*snapshot, &candidates, &mut hits)?;
        let records = readable(&*snapshot, self.scope, hits.iter().flatten())?;
        let items = self.items(&*snapshot, &candidates)?;
        let days = days(&*snapshot, self.scope, &candidates)?;
        for (candidate, hits) in candidates.into_iter().zip(hits) {
            if self.found[candidate.address].is_some() {
                continue;
            }
            let place = match &candidate.target {
                CandidateTarget::Record(id) if id.is_none() => None,
                CandidateTarget::Record(_) | CandidateTarget::Slugs(..) | CandidateTarget::File(_) => {
                    let fits = |hit: &PathHit| of_that_date(candidate.parts.as_ref(), hit, records.get(&hit.id)?);
                    let found = hits.iter().find_map(fits);
                    let by_path = matches!(candidate.target, CandidateTarget::Slugs(..));
                    let address = &self.addresses[candidate.address];
                    let found = found.filter(|(resource, row)| {
                        !by_path || is_in_language(self.scope, address, Record { resource, row })
                    });
                    found.map(|(resource, row)| match &candidate.target {
                        CandidateTarget::File(key) => SitePlace::File(resource, row, key.clone()),
                        _ => SitePlace::Record(resource, row),
                    })
                }
                CandidateTarget::Term(resource, named) => {
                    items.get(resource, named).map(|row| SitePlace::Term(resource, row))
                }
                CandidateTarget::Author(resource, named) => {
                    items.get(resource, named).map(|row| SitePlace::Author(resource, row))
                }
                CandidateTarget::Period(period) => days.has(*period).then_some(SitePlace::Period(*period)),
                CandidateTarget::Archive(resource) => Some(SitePlace::Archive(resource)),
                CandidateTarget::Site => Some(SitePlace::Site),
            };
            let by = candidate.by;
            self.found[candidate.address] = place.map(|place| NamedPlace { place, old: false, by });
        }
        Ok(())
    }

    /// The terms and authors that candidates name, a statement for each resource.
    fn items(&self, snapshot: &dyn Snapshot, candidates: &[Candidate<'a, '_>]) -> Result<NamedItems, ApiError> {
        let mut wanted: HashMap<usize, (Vec<DbValue>, Vec<DbValue>)> = HashMap::new();
        for candidate in candidates {
            let (CandidateTarget::Term(resource, named) | CandidateTarget::Author(resource, named)) = &candidate.target
            else {
                continue;
            };
            let (ids, slugs) = wanted.entry(resource.index).or_default();
            if let DbValue::Int(_) = named { ids } else { slugs }.push(named.clone());
        }
        let mut items = NamedItems::default();
        for (index, (ids, slugs)) in wanted {
            let resource = &self.scope.registry.resources[index];
            let named =
                records::any([(ID, ids), (term::SLUG, slugs)].map(|(column, values)| match values.is_empty() {
                    true => records::never(),
                    false => Cond::In(name(column), values),
                }));
            let visible = match resource.is_taxonomy() {
                true => policy::visible(self.scope, resource),
                false => policy::listed_users(self.scope, resource),
            };
            let plan = records::plan(resource, records::all([named, visible]));
            for row in records::read(snapshot, resource, plan, &short_columns(resource))? {
                let record = Record { resource, row: &row };
                let slug = txt(record.text(term::SLUG));
                items.0.insert((index, key_of(&DbValue::Int(record.id()))), row.clone());
                items.0.insert((index, key_of(&slug)), row);
            }
        }
        Ok(items)
    }

    /// Looks for the addresses that records had, by the templates of today and of before.
    fn old(&mut self) -> Result<(), ApiError> {
        let snapshot = self.scope.snapshot()?;
        let open: Vec<usize> = self.open().collect();
        let former = candidates::former_templates(&*snapshot, &self.scope.registry)?;
        let mut candidates = Vec::new();
        for at in open {
            candidates.extend(candidates::of_records(self.scope, at, &self.addresses[at].list, &former));
        }
        let mut hits = walk::old(&*snapshot, self.scope, &candidates)?;
        by_number(&*snapshot, &candidates, &mut hits)?;
        let records = readable(&*snapshot, self.scope, hits.iter().flatten())?;
        for (candidate, hits) in candidates.iter().zip(hits) {
            if self.found[candidate.address].is_some() {
                continue;
            }
            let fits = |hit: &PathHit| of_that_date(candidate.parts.as_ref(), hit, records.get(&hit.id)?);
            let found = hits.iter().find_map(fits);
            self.found[candidate.address] = found.map(|(resource, row)| NamedPlace {
                place: SitePlace::Record(resource, row),
                old: true,
                by: None,
            });
        }
        Ok(())
    }

    /// Looks for published records whose slugs begin with the last part of an address, as WordPress does.
    fn guess(&mut self) -> Result<(), ApiError> {
        let registry = &self.scope.registry;
        let kinds = || registry.content_types().filter(|kind| kind.viewable() && kind.address.template().is_some());
        for at in self.open().collect::<Vec<_>>() {
            let path = &*self.addresses[at].list;
            // The number of a page is no slug.
            let text = candidates::without_page(path);
            let path = text.filter(|text| !last_slug(text).bytes().all(|b| b.is_ascii_digit())).unwrap_or(path);
            let slug = last_slug(path);
            let Some(after) = successor(&slug) else { continue };
            let snapshot = self.scope.snapshot()?;
            let filter = records::all([
                records::words(record::KIND, kinds().map(|kind| &*kind.kind)),
                policy::published(self.scope),
                Cond::Compare(name(record::SLUG), Op::Ge, txt(&slug)),
                Cond::Compare(name(record::SLUG), Op::Lt, txt(&after)),
            ]);
            let order = [record::SLUG, ID].map(|column| Order::Column(name(column), false)).to_vec();
            let plan = records::columns(record::TABLE, &[ID, record::DATE_LOCAL], filter);
            let rows: Vec<(i64, i64)> = snapshot.rows_as(&ReadPlan { order, limit: Some(MOST_GUESSED), ..plan })?;
            let dated = kinds()
                .flat_map(|kind| kind.address.templates())
                .find_map(|template| template.match_path(path).filter(|_| template.has(DATE)));
            let fits = |date: i64| dated.as_ref().is_none_or(|dated| dated.is_on(DATE, &CivilDateTime::of(date)));
            let fitting = rows.into_iter().filter(|(_, date)| fits(*date));
            let hits: Vec<PathHit> = fitting.map(|(id, _)| PathHit { id, date: None }).collect();
            let found = readable(&*snapshot, self.scope, &hits)?;
            let first = hits.iter().find_map(|hit| found.get(&hit.id)).map(|(resource, row)| (*resource, row.clone()));
            self.found[at] = first.map(|(resource, row)| NamedPlace {
                place: SitePlace::Record(resource, row),
                old: true,
                by: None,
            });
        }
        Ok(())
    }
}

/// The least text after all that begin with this one; `None`: it is empty or no slug.
fn successor(slug: &str) -> Option<String> {
    let mut bytes = slug.as_bytes().to_vec();
    let last = bytes.last_mut().filter(|last| last.is_ascii() && **last < 0x7e)?;
    *last += 1;
    String::from_utf8(bytes).ok()
}

/// The rows of terms and authors, by resource and by number or slug.
#[derive(Default)]
struct NamedItems(HashMap<(usize, String), Row>);

impl NamedItems {
    fn get(&self, resource: &Resource, named: &DbValue) -> Option<Row> {
        self.0.get(&(resource.index, key_of(named))).cloned()
    }
}

/// A number or a slug as a key.
fn key_of(value: &DbValue) -> String {
    match value {
        DbValue::Int(id) => format!("#{id}"),
        other => records::text(other).to_owned(),
    }
}

/// The record of a hit, where its date is the one in its address, or was, as far as the address has one.
fn of_that_date<'a>(
    parts: Option<&AddressMatch<'_>>,
    hit: &PathHit,
    (resource, row): &(&'a Resource, Row),
) -> Option<(&'a Resource, Row)> {
    let dates = [Some(Record { resource, row }.int(record::DATE_LOCAL)), hit.date];
    let is_on = |seconds: &i64| parts.is_none_or(|parts| parts.is_on(DATE, &CivilDateTime::of(*seconds)));
    dates.iter().flatten().any(is_on).then(|| (*resource, row.clone()))
}

/// Adds the records that candidates name by number, and those of files.
fn by_number(
    snapshot: &dyn Snapshot,
    candidates: &[Candidate<'_, '_>],
    hits: &mut [Vec<PathHit>],
) -> Result<(), ApiError> {
    let keys: Vec<DbValue> = candidates
        .iter()
        .filter_map(|candidate| match &candidate.target {
            CandidateTarget::File(key) => Some(txt(key)),
            _ => None,
        })
        .collect();
    let mut files: HashMap<String, i64> = HashMap::new();
    if !keys.is_empty() {
        let plan = records::columns(file::TABLE, &[file::KEY, file::RECORD], Cond::In(name(file::KEY), keys));
        files = snapshot.rows_as(&plan)?;
    }
    for (candidate, hits) in candidates.iter().zip(hits) {
        let id = match &candidate.target {
            CandidateTarget::Record(id) => *id,
            CandidateTarget::File(key) => files.get(key).copied(),
            _ => None,
        };
        hits.extend(id.filter(|id| *id != 0).map(|id| PathHit { id, date: None }));
    }
    Ok(())
}

/// The records of hits that the caller may read, a statement for each kind.
fn readable<'a, 'h>(
    snapshot: &dyn Snapshot,
    scope: &'a Scope,
    hits: impl IntoIterator<Item = &'h PathHit>,
) -> Result<HashMap<i64, (&'a Resource, Row)>, ApiError> {
    let ids: HashSet<i64> = hits.into_iter().map(|hit| hit.id).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let mut by_kind: HashMap<usize, Vec<i64>> = HashMap::new();
    for (id, kind) in records::kinds(snapshot, ids)? {
        let resource = scope.registry.resource_of_kind(&kind).filter(|resource| resource.viewable());
        if let Some(resource) = resource {
            by_kind.entry(resource.index).or_default().push(id);
        }
    }
    let mut found = HashMap::new();
    for (index, ids) in by_kind {
        let resource = &scope.registry.resources[index];
        let trashed = records::words(record::STATUS, scope.registry.declaration.statuses_where(|status| status.trash));
        let filter = records::all([is_in(ID, ids), policy::visible(scope, resource), records::not(trashed)]);
        let rows = records::read(snapshot, resource, records::plan(resource, filter), &short_columns(resource))?;
        found.extend(rows.into_iter().map(|row| (Record { resource, row: &row }.id(), (resource, row))));
    }
    Ok(found)
}

/// Days on which records were published, within the periods that candidates name.
struct PublishedDays(Vec<i64>);

impl PublishedDays {
    fn has(&self, period: Period) -> bool {
        self.0.iter().any(|day| (period.begin..period.end).contains(day))
    }
}

fn days(snapshot: &dyn Snapshot, scope: &Scope, candidates: &[Candidate<'_, '_>]) -> Result<PublishedDays, ApiError> {
    let periods: Vec<Cond> = candidates
        .iter()
        .filter_map(|candidate| match &candidate.target {
            CandidateTarget::Period(period) => Some(period.condition()),
            _ => None,
        })
        .collect();
    if periods.is_empty() {
        return Ok(PublishedDays(Vec::new()));
    }
    let kinds = candidates::dated_kinds(scope).map(|kind| &*kind.kind);
    let filter = records::all([records::words(record::KIND, kinds), policy::published(scope), records::any(periods)]);
    let plan = records::columns(record::TABLE, &[record::DATE_LOCAL], filter);
    let rows = snapshot.groups(&ReadPlan { width: Some(DAY), ..plan })?;
    Ok(PublishedDays(rows.into_iter().map(FromRow::from_row).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_begin_alike_lie_between_two() {
        assert_eq!(successor("seco").as_deref(), Some("secp"));
        assert_eq!((successor(""), successor("a~")), (None, None));
    }
}
