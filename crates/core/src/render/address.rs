//! Addresses of items, where the site is read.

use crate::records::{self, Record};
use crate::registry::addresses::AddressShape;
use crate::registry::resource::PropertySource;
use crate::render::{Batch, Item};
use crate::scope::Scope;
use cms_storage::plan::DbValue;
use cms_text::address::{AUTHOR, AddressValues, CATEGORY, DATE, ID, PATH, SLUG};
use cms_text::time::{self, CivilDateTime};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::borrow::Cow;
use std::sync::Arc;

/// Characters that are encoded in parts of an address.
pub const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The address of an item, as visitors use it.
pub fn address(item: &Item<'_>) -> String {
    of(item.scope, item.record, item.batch, item.record.text("slug"))
}

/// The address that a record has (or would have with this slug) where the site is read.
pub fn of(scope: &Scope, record: Record<'_>, batch: &Batch, slug: &str) -> String {
    let front = in_language(scope, record, &scope.registry.site.front);
    let path = has_shape(scope, record).then(|| in_shape(&front, true, record, batch, slug)).flatten();
    path.unwrap_or_else(|| format!("{front}{}", by_number(record)))
}

/// The beginning of the addresses of a record's language.
pub fn in_language<'b>(scope: &Scope, record: Record<'_>, base: &'b str) -> Cow<'b, str> {
    let part = scope.registry.languages.as_ref().and_then(|languages| languages.part(record.text(&languages.column)));
    part.map_or(Cow::Borrowed(base), |part| Cow::Owned(format!("{base}/{part}")))
}

/// An address below another beginning, such as that of a language; one that does not begin so stays.
pub fn moved(link: &str, front: &str, base: &str) -> String {
    link.strip_prefix(front).map_or_else(|| link.to_owned(), |path| format!("{base}{path}"))
}

/// The path that a record will have in the front end once it is published: with the slug that its title gives where it has
/// none yet.
pub fn once_published(scope: &Scope, record: Record<'_>, batch: &Batch) -> String {
    let front = &scope.registry.site.front;
    let slug = match record.text("slug") {
        "" => Cow::Owned(records::slug_of_title(record.resource, record.text("title"))),
        slug => Cow::Borrowed(slug),
    };
    let begin = in_language(scope, record, front);
    let address = (!slug.is_empty()).then(|| in_shape(&begin, true, record, batch, &slug)).flatten();
    address.and_then(|address| address.strip_prefix(&**front).map(str::to_owned)).unwrap_or_else(|| by_number(record))
}

/// The address at the site itself, which does not change with the front end. Recorded: it names no language.
pub fn on_site(scope: &Scope, record: Record<'_>, batch: &Batch, slug: &str) -> String {
    let site = &*scope.registry.site.url;
    let path = has_shape(scope, record).then(|| in_shape(site, false, record, batch, slug)).flatten();
    path.unwrap_or_else(|| format!("{site}{}", by_number(record)))
}

/// The address that an item would have, with a tag in place of its slug.
pub fn template(item: &Item<'_>) -> String {
    let (site, record) = (&item.scope.registry.site, item.record);
    let deep = record.resource.address.has(PATH);
    let trashed = item.scope.registry.status_is(record.text("status"), |s| s.trash);
    let named = match &record.resource.address.on_site {
        AddressShape::Attached => record.int("parent") != 0 && has_shape(item.scope, record),
        _ => deep || !trashed,
    };
    let slug = if deep { "%pagename%" } else { "%postname%" };
    let front = in_language(item.scope, record, &site.front);
    let path = named.then(|| in_shape(&front, true, record, item.batch, slug)).flatten();
    path.unwrap_or_else(|| format!("{front}{}", by_number(record)))
}

/// Whether a record is in a state in which its address has the shape of its resource; others are named by their number.
pub fn has_shape(scope: &Scope, record: Record<'_>) -> bool {
    let published = |status: &str| scope.registry.status_is(status, |s| s.public || s.private || s.inherits);
    !record.resource.is_content() || published(record.text("status"))
}

/// The address in the shape of its resource; `None` where it has none.
fn in_shape(base: &str, front: bool, record: Record<'_>, batch: &Batch, slug: &str) -> Option<String> {
    let address = &record.resource.address;
    let template = match if front { address.template() } else { address.template_on_site() } {
        Some(template) => template,
        None if !matches!(address.on_site, AddressShape::Attached) => return None,
        None => match record.int("parent") {
            0 => return Some(format!("{base}/{slug}/")),
            parent => return below(batch, parent, slug),
        },
    };
    Some(format!("{base}{}", template.render(&AddressParts { record, batch, slug })?))
}

/// The address of an attached record: below the other record's; `None` where that one has none that everybody may know.
fn below(batch: &Batch, parent: i64, slug: &str) -> Option<String> {
    let place = batch.places.get(&parent).filter(|place| place.open && !place.address.contains('?'))?;
    Some(format!("{}/{slug}/", place.address.trim_end_matches('/')))
}

/// The path by number, for what has no public address yet.
fn by_number(record: Record<'_>) -> String {
    format!("/?{}={}", record.resource.declared.query_var.as_deref().unwrap_or("p"), record.id())
}

/// The values that fill the template of a record's address.
struct AddressParts<'a> {
    record: Record<'a>,
    batch: &'a Batch,
    slug: &'a str,
}

impl AddressValues for AddressParts<'_> {
    fn text(&self, member: &str) -> Cow<'_, str> {
        match member {
            SLUG => Cow::Borrowed(self.slug),
            PATH => Cow::Owned(path(self.record, self.batch, self.slug).unwrap_or_default()),
            ID => Cow::Owned(self.record.key()),
            AUTHOR => Cow::Borrowed(self.batch.authors.get(&self.record.int("author")).map_or("", |slug| slug)),
            CATEGORY if self.record.resource.address.category.is_some() => {
                Cow::Borrowed(self.batch.categories.get(&self.record.id()).map_or("", String::as_str))
            }
            member => match self.value(member) {
                DbValue::Text(text) => utf8_percent_encode(text, UNRESERVED).into(),
                DbValue::Int(number) => Cow::Owned(number.to_string()),
                _ => Cow::Borrowed(""),
            },
        }
    }

    fn date(&self, member: &str) -> Option<CivilDateTime> {
        if member == DATE && self.record.resource.column("date_local").is_some() {
            return Some(CivilDateTime::of(self.record.int("date_local")));
        }
        match self.value(member) {
            DbValue::Int(seconds) => Some(CivilDateTime::of(*seconds)),
            DbValue::Text(text) => time::parse_datetime(text).map(|moment| CivilDateTime::of(moment.as_utc())),
            _ => None,
        }
    }
}

impl AddressParts<'_> {
    /// The stored value of a property.
    fn value(&self, member: &str) -> &DbValue {
        let property = self.record.resource.property(member);
        let column = property.and_then(|property| match property.source {
            PropertySource::Column(column) | PropertySource::Read(_, Some(column)) => Some(column),
            _ => None,
        });
        column.and_then(|column| self.record.row.get(column)).unwrap_or(&DbValue::Null)
    }
}

/// Slugs from the topmost ancestor down, but for ancestors without one; `None` where one of them is not for everybody: an
/// address is the same for every caller and never names what some of them may not read.
pub(super) fn path(record: Record<'_>, batch: &Batch, slug: &str) -> Option<String> {
    let mut slugs: Vec<Arc<str>> = Vec::new();
    let mut parent = record.int("parent");
    while let Some(above) = batch.above.get(&parent) {
        if !above.open && !above.slug.is_empty() {
            return None;
        }
        if !above.slug.is_empty() {
            slugs.push(above.slug.clone());
        }
        parent = above.parent;
        if slugs.len() > 100 {
            break;
        }
    }
    let mut path: String = slugs.iter().rev().map(|s| format!("{s}/")).collect();
    path.push_str(slug);
    Some(path)
}
