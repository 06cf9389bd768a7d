//! Rows that refer to a record, a term, all records of a kind, or nothing: what they show of it.

use crate::records::{int, text};
use crate::registry::resource::{Property, Resource};
use crate::render::{Item, ReferencedRow};
use cms_declaration::{Family, Reference};
use cms_storage::plan::DbValue;
use cms_text::render;
use serde_json::{Value, json};

/// The thing that a row refers to.
enum Referent<'a> {
    Itself,
    One(&'a ReferencedRow),
    All(&'a Resource),
    /// The row refers to something that does not exist.
    Nothing,
}

fn declared<'a>(item: &Item<'a>) -> Option<&'a Reference> {
    item.resource.declared.reference.as_ref()
}

fn referent<'a>(item: &'a Item<'_>) -> Referent<'a> {
    let Some(declared) = declared(item) else { return Referent::Itself };
    let class = item.record.text(&declared.class);
    let kind = item.record.text(&declared.kind);
    let one = |family| item.referenced(family).map(|(_, place)| place);
    if class == declared.record {
        one(Family::Content).map_or(Referent::Nothing, Referent::One)
    } else if class == declared.term {
        // A term of another taxonomy is none.
        let named =
            |place: &&ReferencedRow| kind.is_empty() || *item.scope.registry.resources[place.resource].kind == *kind;
        one(Family::Term).filter(named).map_or(Referent::Nothing, Referent::One)
    } else if class == declared.archive {
        item.scope.registry.resource_of_kind(kind).map_or(Referent::Nothing, Referent::All)
    } else {
        Referent::Itself
    }
}

fn told<'a>(resource: &'a Resource, label: &str) -> Option<&'a str> {
    resource.declared.labels.get(label).map(String::as_str)
}

/// The row's own title, or else that of its target.
fn heading(item: &Item<'_>, own: &DbValue) -> String {
    if !text(own).is_empty() {
        return text(own).to_owned();
    }
    let number = || declared(item).map_or(0, |d| item.record.int(&d.id));
    match referent(item) {
        Referent::One(place) if !place.title.is_empty() => place.title.to_string(),
        Referent::One(_) | Referent::Nothing => format!("#{} (no title)", number()),
        Referent::All(resource) => told(resource, "archives").unwrap_or(&resource.title).to_owned(),
        Referent::Itself => String::new(),
    }
}

pub fn title(item: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(Value::String(heading(item, value)))
}

pub fn title_rendered(item: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(Value::String(render::render_title(&heading(item, value))))
}

/// The label of the target's kind.
pub fn label(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let declared = declared(item)?;
    let registry = &item.scope.registry;
    let kind = item.record.text(&declared.kind);
    let resource = match referent(item) {
        Referent::One(place) if kind.is_empty() => Some(&registry.resources[place.resource]),
        Referent::One(_) | Referent::Nothing => of_kind(item, kind),
        Referent::All(_) | Referent::Itself => None,
    };
    let class = || declared.labels.get(item.record.text(&declared.class)).map_or(kind, String::as_str);
    Some(json!(resource.and_then(|r| told(r, "singular_name")).unwrap_or_else(class)))
}

/// The resource of a kind, among those of the family that the row refers to.
fn of_kind<'a>(item: &Item<'a>, kind: &str) -> Option<&'a Resource> {
    let declared = declared(item)?;
    let term = item.record.text(&declared.class) == declared.term;
    let registry = &item.scope.registry;
    registry.resources.iter().find(|r| *r.kind == *kind && if term { r.is_taxonomy() } else { r.is_content() })
}

/// The kind of the target, as it is written in the API.
pub fn kind(item: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    let registry = &item.scope.registry;
    let kind = match referent(item) {
        Referent::Itself => return Some(json!(item.record.text(&declared(item)?.class))),
        Referent::One(place) if text(value).is_empty() => Some(&registry.resources[place.resource]),
        _ => registry.resources.iter().find(|r| *r.kind == *text(value)),
    };
    Some(json!(kind.map_or(text(value), |r| &r.api_name)))
}

/// The id of the target; without one, the row's own.
pub fn id(item: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(json!(if matches!(referent(item), Referent::Itself) { item.record.id() } else { int(value) }))
}

/// The address of the target; without one, the one that was given.
pub fn url(item: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(match referent(item) {
        Referent::Itself => json!(text(value)),
        Referent::One(place) => json!(place.address),
        Referent::All(_) => json!(item.scope.registry.site.url),
        Referent::Nothing => json!(""),
    })
}

/// The target is gone or in the trash, or the row names a kind that does not exist.
pub fn invalid(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let kind = declared(item).map_or("", |d| item.record.text(&d.kind));
    Some(json!(match referent(item) {
        Referent::Itself | Referent::All(_) => false,
        Referent::Nothing => true,
        Referent::One(place) => place.trashed || !(kind.is_empty() || of_kind(item, kind).is_some()),
    }))
}
