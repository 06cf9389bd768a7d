//! The meaning of a change of a row: which resource it is of, and what happened to the item.

use super::FeedEntry;
use cms_core::access::policy;
use cms_core::registry::Registry;
use cms_core::registry::columns::{comment, record, term, user};
use cms_core::registry::resource::{Context, PropertySource, Resource};
use cms_core::scope::Scope;
use cms_declaration::{CommentStatus, EventType, Status};
use cms_storage::plan::DbValue;

/// The table of settings in the feed, and the key of those that a resource shows.
const SETTINGS: (&str, &str) = ("setting", "settings");

/// The resource whose item an entry is about; `None`: it is about nothing that a resource shows.
pub fn resource_of<'r>(registry: &'r Registry, entry: &FeedEntry) -> Option<&'r Resource> {
    match &*entry.table {
        record::TABLE => registry.content_types().find(|resource| Some(&resource.kind) == entry.kind.as_ref()),
        term::TABLE => registry.taxonomies().find(|resource| Some(&resource.kind) == entry.class.as_ref()),
        comment::TABLE => registry.comment_resources().next(),
        user::TABLE => registry.users(),
        table if table == SETTINGS.0 => {
            let shown = matches!(&entry.key, DbValue::Text(key) if **key == *SETTINGS.1);
            registry.singletons().next().filter(|_| shown)
        }
        table => registry.resources.iter().find(|resource| resource.is_plain() && *resource.table == *table),
    }
}

/// The meanings of a change, the type of the event first: what is created in public is published, too.
pub fn meanings(registry: &Registry, resource: &Resource, entry: &FeedEntry) -> Vec<EventType> {
    if entry.deletes() {
        return vec![EventType::Deleted];
    }
    let [before, after] = [0, 1].map(|at| StateFlags::of(registry, resource, entry.status[at].as_deref()));
    let mut found = Vec::new();
    let known = entry.status.iter().all(Option::is_some);
    if known && after.trash && !before.trash {
        found.push(EventType::Trashed);
    }
    if known && before.trash && !after.trash {
        found.push(EventType::Restored);
    }
    if after.public && !before.public && (known || entry.creates()) {
        found.push(EventType::Published);
    }
    if known && before.public && !after.public {
        found.push(EventType::Unpublished);
    }
    if entry.creates() {
        found.push(EventType::Created);
    }
    if found.is_empty() {
        found.push(EventType::Updated);
    }
    found
}

/// Whether an entry is worth an event: something that documents show is another value than before.
pub fn is_told(registry: &Registry, resource: &Resource, entry: &FeedEntry) -> bool {
    let declared = &registry.declaration.events;
    // Whoever is told of deliveries is told for ever.
    let own = [&declared.webhooks, &declared.deliveries].iter().any(|own| own.get() == Some(&resource.name));
    if own || !matches!(&*entry.action, "create" | "update" | "delete") {
        return false;
    }
    // Records that are not saved yet are nobody's matter.
    let internal = |status: &Option<_>| {
        let Some(status) = status.as_deref().filter(|_| resource.is_content()) else { return true };
        registry.status_is(status, |status| status.internal && !status.inherits)
    };
    if resource.is_content() && entry.status.iter().any(Option::is_some) && entry.status.iter().all(internal) {
        return false;
    }
    if &*entry.action != "update" || entry.columns.is_empty() {
        return true;
    }
    let ignored = declared.ignore.get(&resource.name);
    let ignored = |name: &str| ignored.is_some_and(|ignored| ignored.iter().any(|own| own == name));
    let shown = |column: &&_| property_of(resource, column).is_some_and(|name| !ignored(name));
    entry.status[0] != entry.status[1] || entry.columns.iter().map(|column| &**column).any(|column| shown(&column))
}

/// Names of the properties that got other values, as far as everybody who may read the item sees them, and the caller those
/// with rights of their own.
pub fn changed(scope: &Scope, resource: &Resource, entry: &FeedEntry) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in entry.columns.iter().filter(|column| !resource.edit_only.contains(&***column)) {
        let Some(name) = property_of(resource, column) else { continue };
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let relations = resource.relations.iter();
    let relations = relations.filter(|own| entry.targets_before.iter().any(|changed| changed.rel == own.rel));
    let shown = |name: &&str| {
        let property = resource.property(name);
        property.is_some_and(|own| own.is_shown() && !own.hidden && own.contexts.shows_in(Context::VIEW))
    };
    names.extend(relations.map(|own| own.property.as_str()).filter(shown).map(str::to_owned));
    let reads = |name: &str| resource.rights_of_property(name).is_none_or(|rights| policy::reads_field(scope, rights));
    names.retain(|name| reads(name));
    names
}

/// The property of an item's document that shows a column.
fn property_of<'r>(resource: &'r Resource, column: &str) -> Option<&'r str> {
    let holds = |source: &PropertySource| match source {
        PropertySource::Column(at) | PropertySource::Read(_, Some(at)) => {
            let own = &*resource.columns[*at];
            own == column || own.rsplit_once('.').is_some_and(|(_, own)| own == column)
        }
        _ => false,
    };
    let found = resource.properties.iter().filter(|property| property.is_shown() && !property.hidden);
    let mut found = found.filter(|property| match &property.source {
        PropertySource::Object(members) => members.iter().any(|member| holds(&member.source)),
        source => holds(source),
    });
    found.next().map(|property| property.name.as_str())
}

/// Whether everybody may read an item in a state, as far as the state decides; one without states is always public.
pub fn is_public(registry: &Registry, resource: &Resource, status: Option<&str>) -> bool {
    let inherits = || resource.is_content() && registry.status_is(status.unwrap_or(""), |status| status.inherits);
    status.is_none() || StateFlags::of(registry, resource, status).public || inherits()
}

/// The facts of a state that transitions are made of.
#[derive(Clone, Copy, Default)]
struct StateFlags {
    public: bool,
    trash: bool,
}

impl StateFlags {
    fn of(registry: &Registry, resource: &Resource, status: Option<&str>) -> StateFlags {
        let Some(status) = status else { return StateFlags::default() };
        if resource.is_comments() {
            let is = |wanted: fn(&CommentStatus) -> bool| registry.comment_status_is(status, wanted);
            return StateFlags { public: is(|status| status.public), trash: is(|status| status.trash) };
        }
        let is = |wanted: fn(&Status) -> bool| registry.status_is(status, wanted);
        StateFlags { public: is(|status| status.public), trash: is(|status| status.trash) }
    }
}
