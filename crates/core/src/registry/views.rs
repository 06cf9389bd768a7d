//! How lists and forms of a resource look: what is declared (`resources.NAME.view`) over what follows from its schema, its
//! states and its arguments.
//!
//! It has the members of `view-config`. It knows no caller.

use super::args::{ArgRole, ArgSet};
use super::resource::{Property, PropertyKind, PropertySource, Resource, Sort};
use super::{Endpoint, Registry, Route};
use cms_declaration::ViewChoice;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Columns of own properties that a list has where none are declared.
const MOST_COLUMNS: usize = 4;

/// Members of a view that name a property.
pub const NAMING: [&str; 3] = ["titleField", "mediaField", "descriptionField"];

/// Rows of a page where none are declared.
const PER_PAGE: u64 = 20;

/// The first fields of a form, as properties with these columns.
const FIRST: [&str; 4] = ["title", "name", "content", "excerpt"];

/// Properties that belong to the state of a record, by column.
const STATE: [&str; 6] = ["status", "date_local", "slug", "password", "sticky", "comment_status"];

/// Columns that say the same as others, in another form.
const TWICE: [&str; 2] = ["date_utc", "modified_utc"];

/// How a list looks, what its layouts change, its views and the form.
pub fn view(registry: &Registry, resource: &Resource) -> Map<String, Value> {
    let facts = ViewDefaults::new(registry, resource);
    let declared = &resource.declared.view;
    let mut first = facts.default_view();
    first.extend(declared.default_view.clone());
    facts.leave_out(&mut first);
    let mut layouts = facts.layouts(&first);
    layouts.extend(declared.default_layouts.clone());
    let choices = declared.view_list.as_ref().map(|list| list.iter().map(|one| choice(resource, one)).collect());
    let mut form = facts.form();
    form.extend(declared.form.clone());
    Map::from_iter([
        ("default_view".to_owned(), Value::Object(first)),
        ("default_layouts".to_owned(), Value::Object(layouts)),
        ("view_list".to_owned(), Value::Array(choices.unwrap_or_else(|| facts.choices()))),
        ("form".to_owned(), Value::Object(form)),
    ])
}

fn choice(resource: &Resource, declared: &ViewChoice) -> Value {
    let label = declared.title.strip_prefix("{labels.").and_then(|rest| rest.strip_suffix('}'));
    let title = label.and_then(|label| resource.declared.labels.get(label)).unwrap_or(&declared.title);
    match declared.view.is_empty() {
        true => json!({"title": title, "slug": declared.slug}),
        false => json!({"title": title, "slug": declared.slug, "view": declared.view}),
    }
}

/// Parts of names that are written in a way of their own.
const WRITTEN: [(&str, &str); 14] = [
    ("id", "ID"),
    ("url", "URL"),
    ("uri", "URI"),
    ("ip", "IP"),
    ("html", "HTML"),
    ("css", "CSS"),
    ("json", "JSON"),
    ("uuid", "UUID"),
    ("gmt", "UTC"),
    ("email", "E-mail"),
    ("api", "API"),
    ("rss", "RSS"),
    ("seo", "SEO"),
    ("isbn", "ISBN"),
];

/// A name of a declaration as people read it: `menu_order` and `menuOrder` become `Menu order`. The console makes the same
/// of it.
pub fn humanize_name(name: &str) -> String {
    let mut parted = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && parted.ends_with(|last: char| last.is_lowercase() || last.is_numeric()) {
            parted.push(' ');
        }
        parted.push(letter);
    }
    let part = |part: &str| {
        let small = part.to_lowercase();
        let written = WRITTEN.iter().find(|(known, _)| *known == small).map(|(_, written)| (*written).to_owned());
        written.unwrap_or_else(|| if part.chars().all(char::is_uppercase) { part.to_owned() } else { small })
    };
    let parts = parted.split(|c: char| c.is_whitespace() || "_-.:/".contains(c)).filter(|one| !one.is_empty());
    let text = parts.map(part).collect::<Vec<_>>().join(" ");
    let mut letters = text.chars();
    letters.next().map_or_else(|| name.to_owned(), |first| first.to_uppercase().chain(letters).collect())
}

/// An endpoint of a resource by its name, on a route that shows the resource itself.
pub fn endpoint<'r>(registry: &'r Registry, resource: &Resource, name: &str) -> Option<(&'r Route, &'r Endpoint)> {
    let own = |route: &&Route| route.owner == Some(resource.index) && route.resource == Some(resource.index);
    let routes = registry.routes.iter().filter(own);
    routes
        .flat_map(|route| route.endpoints.iter().map(move |endpoint| (route, endpoint)))
        .find(|(_, endpoint)| endpoint.name.as_deref() == Some(name))
}

/// The top-level property that holds a column, at any depth.
pub fn holder<'r>(resource: &'r Resource, column: &str) -> Option<&'r Property> {
    fn holds(property: &Property, column: &str) -> bool {
        match &property.source {
            PropertySource::Object(children) => children.iter().any(|child| holds(child, column)),
            _ => property.column.as_deref().map(bare) == Some(column),
        }
    }
    resource.properties.iter().find(|property| holds(property, column))
}

/// The name of a column in its own table: plans call those of extension tables `x_event.starts`.
fn bare(column: &str) -> &str {
    column.rsplit('.').next().unwrap_or(column)
}

/// The key for `order_by` of each property that has one.
pub fn sort_keys(resource: &Resource) -> IndexMap<&str, &str> {
    let mut keys = IndexMap::new();
    for (key, sort) in &resource.sort {
        let Sort::Column(column) = sort else { continue };
        let column = bare(column);
        let found = holder(resource, column).or_else(|| holder(resource, column.strip_suffix("_key")?));
        // A property and its key usually have one name; others do not take its place.
        if let Some(property) = found
            && (property.name == *key || !keys.contains_key(property.name.as_str()))
        {
            keys.insert(property.name.as_str(), key.as_str());
        }
    }
    keys
}

/// The states that records of a resource can have, as requests name them.
pub fn states(registry: &Registry, resource: &Resource) -> Vec<String> {
    match resource.is_content() {
        true => content_states(registry, resource),
        false if resource.is_comments() => registry.declaration.comment_statuses.keys().cloned().collect(),
        false => Vec::new(),
    }
}

/// Those that the list's argument takes, and that requests may set or deletions lead to.
fn content_states(registry: &Registry, resource: &Resource) -> Vec<String> {
    let list = endpoint(registry, resource, "list").map(|(_, endpoint)| &endpoint.args);
    let column = holder(resource, "status").map_or("status", |property| property.name.as_str());
    let arg = list.and_then(|args| args.get(column));
    let taken = arg.and_then(|arg| arg.shown["items"]["enum"].as_array());
    let usual = arg.map(|arg| &arg.shown["default"]);
    let only = &resource.declared.only_statuses;
    let states = registry.declaration.statuses.iter().filter(|(name, status)| {
        let is_usual = usual.is_some_and(|usual| usual == name.as_str());
        let listed = taken.is_none_or(|taken| taken.iter().any(|value| value == name.as_str()));
        let possible = only.is_empty() || only.contains(name) || status.trash;
        listed && possible && (!status.internal || is_usual) && (!status.trash || resource.declared.trash)
    });
    states.map(|(name, _)| name.clone()).collect()
}

/// Views that follow from a resource's declaration.
struct ViewDefaults<'r> {
    registry: &'r Registry,
    resource: &'r Resource,
    list: Option<&'r ArgSet>,
}

impl<'r> ViewDefaults<'r> {
    fn new(registry: &'r Registry, resource: &'r Resource) -> ViewDefaults<'r> {
        let list = endpoint(registry, resource, "list").map(|(_, endpoint)| &endpoint.args);
        ViewDefaults { registry, resource, list }
    }

    /// The properties that documents show.
    fn shown(&self) -> impl Iterator<Item = &'r Property> {
        self.resource
            .properties
            .iter()
            .filter(|property| !property.hidden && !matches!(property.source, PropertySource::Nothing))
    }

    fn related(&self, property: &Property) -> Option<(&'r Resource, bool)> {
        let relation = self.resource.relations.iter().find(|relation| relation.property == property.name)?;
        Some((&self.registry.resources[relation.to], relation.is_list()))
    }

    /// The property that people know an item by.
    fn title(&self) -> Option<&'r str> {
        let named = ["title", "name"].iter().find_map(|column| holder(self.resource, column));
        let text =
            || self.shown().find(|property| property.kind == PropertyKind::Text && property.own && !property.refers);
        let any = || self.shown().find(|property| property.kind == PropertyKind::Text);
        named.or_else(text).or_else(any).or_else(|| self.shown().next()).map(|property| property.name.as_str())
    }

    /// The property with a picture.
    fn picture(&self) -> Option<&'r str> {
        let leads =
            |property: &&Property| self.related(property).is_some_and(|(to, many)| !many && to.supports("files"));
        self.shown().find(leads).map(|property| property.name.as_str())
    }

    /// A value that one cell of a table has room for.
    fn fits_cell(&self, property: &Property) -> bool {
        let text = &self.resource.schema["properties"][&property.name];
        let short = text["maxLength"].as_u64().is_none_or(|most| most <= 1000);
        let nested = matches!(property.source, PropertySource::Object(_) | PropertySource::Meta);
        !nested
            && (self.related(property).is_some() || property.kind != PropertyKind::Json || property.members.is_some())
            && short
    }

    /// Columns of a list: the state, the author, terms, the date, then the first own properties.
    fn columns(&self) -> Vec<&'r str> {
        let title = self.title();
        let key = &*self.resource.key;
        let by_column = |column: &str| holder(self.resource, column).map(|property| property.name.as_str());
        let terms = || self.shown().filter(|p| self.related(p).is_some_and(|(to, _)| to.is_taxonomy()));
        let usual = ["status", "author"].into_iter().filter_map(by_column);
        let usual = usual.chain(terms().map(|p| p.name.as_str())).chain(by_column("date_local"));
        let mut columns: Vec<&str> = usual.collect();
        let stored = self.resource.stores_rows();
        let own = self.shown().filter(|p| (p.own || !stored) && self.fits_cell(p) && &*p.name != key);
        let own: Vec<&str> = own.map(|p| p.name.as_str()).filter(|name| !columns.contains(name)).collect();
        columns.extend(own.into_iter().filter(|name| Some(*name) != title).take(MOST_COLUMNS));
        columns.retain(|name| Some(*name) != title);
        columns
    }

    /// The order of a list that names none.
    fn sort(&self) -> Option<Value> {
        let key = self.list?.role(ArgRole::Orderby)?.default.as_ref()?.as_str()?;
        let order = self.list?.role(ArgRole::Order).and_then(|arg| arg.default.as_ref());
        let direction = order.and_then(Value::as_str).unwrap_or("desc");
        let keys = sort_keys(self.resource);
        let field = keys.iter().find(|(_, own)| **own == key).map_or(key, |(property, _)| property);
        Some(json!({"field": field, "direction": direction}))
    }

    fn default_view(&self) -> Map<String, Value> {
        let mut view = Map::new();
        // Of a hierarchy, a list is asked for what is below one of its records.
        let has_branches = || self.list.is_some_and(|args| args.args.iter().any(|arg| arg.name == "parent"));
        let layout = if self.resource.supports("files") {
            "grid"
        } else if self.resource.declared.hierarchical && has_branches() {
            "tree"
        } else {
            "table"
        };
        view.insert("type".to_owned(), json!(layout));
        view.insert("filters".to_owned(), json!([]));
        view.insert("perPage".to_owned(), json!(PER_PAGE));
        view.insert("fields".to_owned(), json!(self.columns()));
        let names = [("titleField", self.title()), ("mediaField", self.picture())];
        view.extend(names.into_iter().filter_map(|(key, name)| Some((key.to_owned(), json!(name?)))));
        view.extend(self.sort().map(|sort| ("sort".to_owned(), sort)));
        if self.resource.declared.hierarchical {
            view.insert("showLevels".to_owned(), json!(true));
        }
        view
    }

    /// Takes away what a view says of properties that there are not.
    fn leave_out(&self, view: &mut Map<String, Value>) {
        let known = |name: &Value| {
            let top = name.as_str().and_then(|name| name.split('.').next());
            top.is_some_and(|name| self.resource.property(name).is_some())
        };
        if let Some(Value::Array(fields)) = view.get_mut("fields") {
            fields.retain(known);
        }
        view.retain(|member, value| !NAMING.contains(&member.as_str()) || known(value));
    }

    fn layouts(&self, view: &Map<String, Value>) -> Map<String, Value> {
        let mut names = vec!["table", "list"];
        if view.contains_key("mediaField") || view.get("type") == Some(&json!("grid")) {
            names.push("grid");
        }
        let mut layouts: Map<String, Value> = names.into_iter().map(|name| (name.to_owned(), json!({}))).collect();
        if self.resource.declared.hierarchical {
            let fields = [("parentField", "parent"), ("orderField", "menu_order")];
            let held = fields.into_iter().filter_map(|(key, column)| Some((key, &holder(self.resource, column)?.name)));
            let layout: Map<String, Value> = held.map(|(key, name)| (key.to_owned(), json!(name))).collect();
            layouts.insert("tree".to_owned(), json!({"layout": layout}));
        }
        layouts
    }

    /// All items, and those in each state.
    fn choices(&self) -> Vec<Value> {
        let labels = &self.resource.declared.labels;
        let all = labels.get("all_items").cloned().unwrap_or_else(|| "All".to_owned());
        let mut choices = vec![json!({"title": all, "slug": "all"})];
        let states = states(self.registry, self.resource);
        let field = holder(self.resource, "status").map(|property| property.name.as_str());
        if let Some(field) = field.filter(|_| states.len() > 1) {
            choices.extend(states.iter().map(|state| {
                let filter = json!({"field": field, "operator": "is", "value": state, "isLocked": true});
                json!({"title": state_label(self.registry, state), "slug": state, "view": {"filters": [filter]}})
            }));
        }
        choices
    }

    /// Fields of a form, or of a group of it: those that are rarely needed stand folded at the end.
    fn folded(&self, id: &str, fields: Vec<Value>) -> Vec<Value> {
        let is_folded = |field: &Value| {
            let property = field.as_str().and_then(|name| self.resource.property(name));
            let declared =
                |property: &Property| self.resource.declared.view.fields.get(&property.name).map(|own| own.folded);
            property.is_some_and(|property| property.view.folded || declared(property).unwrap_or_default())
        };
        let (folded, mut open): (Vec<Value>, Vec<Value>) = fields.into_iter().partition(is_folded);
        if !folded.is_empty() {
            let layout = json!({"type": "details"});
            open.push(json!({"id": format!("{id}_more"), "label": "More", "layout": layout, "children": folded}));
        }
        open
    }

    /// A form of the writable members: title and text, own properties in the order of the schema, then groups: the
    /// state, terms, and the rest.
    fn form(&self) -> Map<String, Value> {
        let names = ["update", "create"];
        let args: Vec<&ArgSet> =
            names.iter().filter_map(|name| Some(&endpoint(self.registry, self.resource, name)?.1.args)).collect();
        let twice =
            |property: &Property| property.column.as_deref().is_some_and(|column| TWICE.contains(&bare(column)));
        let writes = |property: &&Property| {
            !property.readonly && !twice(property) && args.iter().any(|args| args.get(&property.name).is_some())
        };
        let mut left: Vec<&Property> = self.resource.properties.iter().filter(|p| !p.hidden).filter(writes).collect();
        let mut take = |wanted: &dyn Fn(&Property) -> bool| -> Vec<&str> {
            let (taken, rest): (Vec<&Property>, Vec<&Property>) = left.iter().copied().partition(|p| wanted(p));
            left = rest;
            taken.into_iter().map(|property| property.name.as_str()).collect()
        };
        let mut fields: Vec<Value> = Vec::new();
        for column in FIRST {
            let held = holder(self.resource, column).map(|property| property.name.as_str());
            fields.extend(take(&|property| Some(property.name.as_str()) == held).into_iter().map(|name| json!(name)));
        }
        if !self.resource.is_content() {
            fields.extend(take(&|_| true).into_iter().map(|name| json!(name)));
        }
        let shows_fields = self.resource.fields_property().map(|property| property.name.as_str());
        let own =
            take(&|property| (property.own && property.name != "meta") || Some(property.name.as_str()) == shows_fields);
        fields.extend(own.into_iter().map(|name| json!(name)));
        let state = take(&|property| {
            let column = property.column.as_deref().map_or(property.name.as_str(), bare);
            STATE.contains(&column) || STATE.contains(&property.name.as_str())
        });
        let terms = take(&|property| self.related(property).is_some_and(|(to, _)| to.is_taxonomy()));
        let rest = take(&|_| true);
        for (id, label, names) in [("state", "Status", state), ("terms", "Terms", terms), ("details", "Details", rest)]
        {
            let children = self.folded(id, names.into_iter().map(|name| json!(name)).collect());
            if !children.is_empty() {
                fields.push(json!({"id": id, "label": label, "children": children}));
            }
        }
        let fields = self.folded("form", fields);
        Map::from_iter([("layout".to_owned(), json!({"type": "panel"})), ("fields".to_owned(), json!(fields))])
    }
}

/// The name of a state for people.
pub fn state_label(registry: &Registry, state: &str) -> String {
    let declared = &registry.declaration;
    let label = declared.statuses.get(state).map(|status| &status.label);
    let label = label.or_else(|| declared.comment_statuses.get(state).map(|status| &status.label));
    label.filter(|label| !label.is_empty()).cloned().unwrap_or_else(|| humanize_name(state))
}

#[cfg(test)]
mod tests {
    use super::humanize_name;

    #[test]
    fn names_are_read_as_words() {
        // The console's tests have the same pairs.
        for (name, expected) in [
            ("menu_order", "Menu order"),
            ("menuOrder", "Menu order"),
            ("menu-order", "Menu order"),
            ("cms:menu/order", "Cms menu order"),
            ("featured_media", "Featured media"),
            ("id", "ID"),
            ("date_gmt", "Date UTC"),
            ("avatar_urls", "Avatar urls"),
            ("SEO_title", "SEO title"),
            ("MP3 file", "Mp3 file"),
            ("email", "E-mail"),
            ("größe", "Größe"),
            ("_", "_"),
            ("", ""),
        ] {
            assert_eq!(humanize_name(name), expected, "{name}");
        }
    }
}
