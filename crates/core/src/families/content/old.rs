//! Addresses that records had: remembered when a record moves, forgotten when it is deleted.
//!
//! An old address is the place of a slug and the date at that time, so that it outlives changes of templates and of the records
//! above.

use super::{ContentDraft, col, slug_scope};
use crate::families::{RowEdit, column, text_column};
use crate::records::{Record, eq, int, txt};
use crate::registry::Registry;
use crate::registry::columns::old_address as old;
use crate::registry::name;
use crate::scope::Scope;
use cms_storage::plan::{Change, Cond, DbValue, Name, Put, Target};
use cms_text::address::{AddressPiece, AddressTemplate, DATE};
use cms_text::time::CivilDateTime;
use std::sync::Arc;

/// The changes that remember where a record was, if it moves.
pub(super) fn remembered(edit: &RowEdit<'_>, draft: &ContentDraft<'_>, record: Record<'_>, put: &Put) -> Vec<Change> {
    let (scope, resource) = (edit.scope, edit.resource);
    let slug = record.text(col::SLUG);
    let before = record.text(col::STATUS);
    let after = draft.text(col::STATUS);
    let trashed = |status: &str| scope.registry.status_is(status, |status| status.trash);
    let shown = has_address(scope, before) || has_address(scope, &after);
    if slug.is_empty() || !resource.viewable() || !shown || trashed(before) || trashed(&after) {
        return Vec::new();
    }
    let wanted = put.slug.as_ref().and_then(|claim| claim.candidates.last());
    let renamed = wanted.is_some_and(|wanted| **wanted != *slug);
    let parent = record.int(col::PARENT);
    let moved = resource.declared.hierarchical && draft.int(col::PARENT) != parent;
    let (was, is) = (record.int(col::DATE_LOCAL), draft.int(col::DATE_LOCAL));
    let templates = || resource.address.templates();
    let redated = was != is && templates().any(|template| tells_apart(template, was, is));
    if !renamed && !moved && !redated {
        return Vec::new();
    }
    entry(slug_scope(resource, parent), slug, was, DbValue::Int(record.id()))
}

/// The changes that store an old address of a record, once.
pub fn entry(scope: Arc<str>, slug: &str, date: i64, record: DbValue) -> Vec<Change> {
    let same = [
        eq(old::SLUG, txt(slug)),
        eq(old::SCOPE, DbValue::Text(scope.clone())),
        eq(old::DATE, DbValue::Int(date)),
        eq(old::RECORD, record.clone()),
    ];
    let set = vec![
        text_column(old::SCOPE, &scope),
        text_column(old::SLUG, slug),
        column(old::DATE, DbValue::Int(date)),
        column(old::RECORD, DbValue::Int(int(&record))),
    ];
    vec![
        Change::RemoveWhere { table: name(old::TABLE), filter: Cond::All(same.to_vec()) },
        Change::Put(Put::new(old::TABLE, Target::New, set)),
    ]
}

/// The change that forgets the old addresses of records.
pub fn forgotten(records: Vec<DbValue>) -> Change {
    let filter = Cond::In(Name::from(old::RECORD), records);
    Change::RemoveWhere { table: name(old::TABLE), filter }
}

/// Whether records of a state have addresses that readers know.
fn has_address(scope: &Scope, status: &str) -> bool {
    has_address_in(&scope.registry, status)
}

/// See [`has_address`].
pub fn has_address_in(registry: &Registry, status: &str) -> bool {
    registry.status_is(status, |status| status.public || status.private || status.inherits)
}

/// Whether the addresses of two moments differ.
fn tells_apart(template: &AddressTemplate, one: i64, other: i64) -> bool {
    let (one, other) = (CivilDateTime::of(one), CivilDateTime::of(other));
    let differs = |piece: &AddressPiece| matches!(piece, AddressPiece::Date(member, part) if member == DATE && part.of(&one) != part.of(&other));
    template.pieces().iter().any(differs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_as_far_as_addresses_show_them() {
        let (morning, evening, next) = (1_714_979_289, 1_715_020_000, 1_715_100_000);
        let monthly = AddressTemplate::permalinks("/%year%/%monthnum%/%postname%/").expect("a template");
        let daily = AddressTemplate::permalinks("/%year%/%monthnum%/%day%/%postname%/").expect("a template");
        let plain = AddressTemplate::permalinks("/%postname%/").expect("a template");
        assert!(tells_apart(&daily, morning, next) && !tells_apart(&daily, morning, evening));
        assert!(!tells_apart(&monthly, morning, next) && tells_apart(&monthly, morning, morning + 3_000_000));
        assert!(!tells_apart(&plain, morning, morning + 100_000_000));
    }
}
