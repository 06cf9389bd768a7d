//! Field groups compiled from their declarations: fields as a tree, the groups that each resource may have, the schema of
//! their values.
//!
//! Whether a group applies to an item is decided by facts about the item and the reader, where it is shown or written; here is
//! decided what follows from the resource alone.

mod schema;

use super::resource::Resource;
use cms_declaration::{Declaration, Field, FieldGroup, FieldKind, LocationParam, LocationRule, RuleOperator};
use cms_schema::{Dialect, Schema};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A group with its fields as a tree.
#[derive(Clone, Debug)]
pub struct GroupFields {
    pub name: String,
    pub declared: FieldGroup,
    pub fields: Vec<FieldNode>,
}

/// A field with those inside it.
#[derive(Clone, Debug)]
pub struct FieldNode {
    /// The name within the field around it.
    pub name: String,
    /// Meta key of the value: the names from the outermost field down, joined by `_`. Those in rows have the number of the
    /// row behind the name of the field around it (`team_0_name`); layouts have none of their own.
    pub meta: String,
    pub declared: Arc<Field>,
    pub fields: Vec<FieldNode>,
}

/// A kind of rows that values of a field refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldTarget {
    Record,
    File,
    Term,
    User,
}

impl FieldNode {
    /// The rows that the values refer to; `None`: there are none.
    pub fn target(&self) -> Option<FieldTarget> {
        Some(match self.declared.kind {
            FieldKind::Image | FieldKind::File | FieldKind::Gallery => FieldTarget::File,
            FieldKind::PostObject | FieldKind::Relationship | FieldKind::PageLink => FieldTarget::Record,
            FieldKind::Taxonomy => FieldTarget::Term,
            FieldKind::User => FieldTarget::User,
            _ => return None,
        })
    }

    /// Whether pages show the text as markup.
    pub fn holds_markup(&self) -> bool {
        matches!(self.declared.kind, FieldKind::Text | FieldKind::Textarea | FieldKind::Wysiwyg)
    }

    /// Whether the value is a list wherever it is shown.
    pub fn is_list(&self) -> bool {
        match self.declared.kind {
            FieldKind::Checkbox | FieldKind::Relationship | FieldKind::Gallery => true,
            FieldKind::Taxonomy => !matches!(self.declared.control.as_deref(), Some("radio" | "select")),
            _ => self.declared.multiple,
        }
    }

    /// Whether it holds rows of other fields.
    pub fn holds_rows(&self) -> bool {
        self.declared.kind.holds_rows()
    }

    /// The fields of its rows, or of those with a layout; `None`: there is no such layout.
    pub fn row_fields(&self, layout: &str) -> Option<&[FieldNode]> {
        match self.declared.kind {
            FieldKind::FlexibleContent => {
                self.fields.iter().find(|own| own.name == layout).map(|own| own.fields.as_slice())
            }
            _ => Some(&self.fields),
        }
    }

    /// Fields inside it as they are in the row of this number.
    pub fn in_row(&self, fields: &[FieldNode], row: &str) -> Vec<FieldNode> {
        let moved = |field: &FieldNode| {
            let rest = field.meta.strip_prefix(&*self.meta).unwrap_or_default();
            FieldNode {
                name: field.name.clone(),
                meta: format!("{}_{row}{rest}", self.meta),
                declared: field.declared.clone(),
                fields: self.in_row(&field.fields, row),
            }
        };
        fields.iter().map(moved).collect()
    }

    fn any(&self, test: &dyn Fn(&FieldNode) -> bool) -> bool {
        test(self) || self.fields.iter().any(|field| field.any(test))
    }
}

/// The groups of a resource, and what its documents need for them.
#[derive(Clone, Debug)]
pub struct ResourceFields {
    /// Positions of the groups that documents may have, in their order.
    pub groups: Vec<usize>,
    /// Meta keys of its fields, and those that hold the keys of these, with `#` in the place of a row's number.
    keys: HashSet<String>,
    /// The check of written values; `None`: the declaration was refused.
    pub check: Option<Schema>,
    /// Whether rules or values need the terms of a record.
    pub terms: bool,
    /// Whether rules ask whether a record has others below it.
    pub children: bool,
    /// Whether rules ask for the record of a comment.
    pub place: bool,
    /// Whether values refer to other rows.
    pub refers: bool,
}

impl ResourceFields {
    /// Whether a meta key is that of a field, or holds the key of one.
    pub fn declares(&self, key: &str) -> bool {
        self.keys.contains(key) || self.is_in_row(key)
    }

    /// Whether it is that of a field in a row, and of no other field.
    pub fn is_in_row(&self, key: &str) -> bool {
        !self.keys.contains(key) && self.keys.contains(&numbered(key))
    }
}

/// Rows of a field, and pictures of one.
pub const MOST_ROWS: usize = 1000;

/// The layout that a row names.
pub const LAYOUT: &str = "acf_fc_layout";

/// A meta key with `#` in the place of numbers of rows.
fn numbered(key: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    key.split('_').map(|part| if is_number(part) { "#" } else { part }).collect::<Vec<_>>().join("_")
}

/// The rows that values of fields refer to, by the keys by which exports know the fields.
pub fn targets(groups: &[GroupFields]) -> HashMap<String, FieldTarget> {
    fn of(fields: &[FieldNode], found: &mut HashMap<String, FieldTarget>) {
        for field in fields {
            found.extend(field.declared.key.clone().zip(field.target()));
            of(&field.fields, found);
        }
    }
    let mut found = HashMap::new();
    groups.iter().for_each(|group| of(&group.fields, &mut found));
    found
}

/// The places of the stored values that refer to rows: beside the value of a field, its key is stored.
pub fn referring(targets: &HashMap<String, FieldTarget>, values: &[(String, String)]) -> Vec<(usize, FieldTarget)> {
    let keyed = |(name, key): &'_ (String, String)| Some((name.strip_prefix('_')?.to_owned(), *targets.get(key)?));
    let named: HashMap<String, FieldTarget> = values.iter().filter_map(keyed).collect();
    let referring = values.iter().enumerate().filter_map(|(at, (name, _))| Some((at, *named.get(name)?)));
    referring.collect()
}

/// Every group, in the order in which documents show them.
pub fn groups(declared: &Declaration) -> Vec<GroupFields> {
    let compiled = declared.field_groups.iter().map(|(name, group)| GroupFields {
        name: name.clone(),
        fields: tree(group, "", ""),
        declared: group.clone(),
    });
    let mut groups: Vec<GroupFields> = compiled.collect();
    groups.sort_by(|a, b| (a.declared.order, &a.declared.title).cmp(&(b.declared.order, &b.declared.title)));
    groups
}

/// The fields directly inside the one of this path; an empty path is the group itself.
fn tree(group: &FieldGroup, path: &str, meta: &str) -> Vec<FieldNode> {
    let inside = |full: &str| match path {
        "" => Some(full.to_owned()),
        path => full.strip_prefix(path)?.strip_prefix('.').map(str::to_owned),
    };
    let direct = group.fields.iter().filter_map(|(full, field)| Some((full, inside(full)?, field)));
    let nodes = direct.filter(|(_, name, _)| !name.is_empty() && !name.contains('.')).map(|(full, name, field)| {
        let meta = match field.kind {
            FieldKind::Layout => meta.to_owned(),
            _ if meta.is_empty() => name.clone(),
            _ => format!("{meta}_{name}"),
        };
        let fields = if field.kind.holds_fields() { tree(group, full, &meta) } else { Vec::new() };
        FieldNode { name, meta, declared: Arc::new(field.clone()), fields }
    });
    nodes.collect()
}

/// The document of the property that shows the values, with the groups that a resource may have; `None` where there are none.
pub fn described(groups: &[GroupFields], resource: &Resource) -> Option<Map<String, Value>> {
    // A group that is not active is described, as its fields are accepted.
    let possible = groups.iter().filter(|group| group.declared.in_rest && possible(group, resource) != Some(false));
    let mut properties = Map::new();
    for field in possible.flat_map(|group| &group.fields) {
        properties.entry(field.name.clone()).or_insert_with(|| schema::shown(field));
    }
    (!properties.is_empty()).then_some(properties)
}

/// The problem of a group's bounds and choices, where nothing could fit them.
pub fn problem(group: &GroupFields, dialect: Dialect) -> Option<String> {
    let properties = group.fields.iter().map(|field| (field.name.clone(), schema::checked(field, true)));
    let document = json!({"type": "object", "properties": properties.collect::<Map<_, _>>()});
    let problems = Schema::compile(&document, dialect).err()?;
    problems
        .into_iter()
        .next()
        .map(|problem| format!("{}: {}", problem.pointer.replace("/properties/", "."), problem.message))
}

/// The groups of a resource whose documents have values of fields.
pub fn of_resource(groups: &[GroupFields], resource: &Resource, dialect: Dialect) -> ResourceFields {
    let listed = |group: &GroupFields| group.declared.in_rest && possible(group, resource) != Some(false);
    let shown: Vec<usize> =
        (0..groups.len()).filter(|at| listed(&groups[*at]) && groups[*at].declared.active).collect();
    let mut properties = Map::new();
    for group in groups.iter().filter(|group| listed(group)) {
        let certain = group.declared.active && possible(group, resource) == Some(true);
        for field in &group.fields {
            properties.entry(field.name.clone()).or_insert_with(|| schema::checked(field, certain));
        }
    }
    let document = json!({"type": "object", "properties": properties});
    let rules = || {
        let of = |at: &usize| groups[*at].declared.location.iter().flatten();
        shown.iter().flat_map(of).map(|rule| rule.param)
    };
    let any = |test: &dyn Fn(&FieldNode) -> bool| {
        shown.iter().any(|at| groups[*at].fields.iter().any(|field| field.any(test)))
    };
    let by_terms = [LocationParam::PostCategory, LocationParam::PostTaxonomy];
    ResourceFields {
        terms: rules().any(|param| by_terms.contains(&param)) || any(&|field| field.declared.assigned),
        children: rules().any(|param| param == LocationParam::PageType),
        place: resource.is_comments() && rules().any(|param| param == LocationParam::Comment),
        refers: any(&|field| field.target().is_some()),
        check: Schema::compile(&document, dialect).ok(),
        keys: keys(groups.iter().filter(|group| listed(group)).flat_map(|group| &group.fields)),
        groups: shown,
    }
}

/// Meta keys of fields and of those inside them.
fn keys<'f>(fields: impl Iterator<Item = &'f FieldNode>) -> HashSet<String> {
    let mut all = HashSet::new();
    for field in fields {
        all.extend([field.meta.clone(), format!("_{}", field.meta)]);
        match field.holds_rows() {
            true => all.extend(keys(field.in_row(&field.fields, "0").iter()).iter().map(|key| numbered(key))),
            false => all.extend(keys(field.fields.iter())),
        }
    }
    all
}

/// Whether a group applies to items of a resource, as far as that follows from the resource; `None`: the item decides.
fn possible(group: &GroupFields, resource: &Resource) -> Option<bool> {
    let lists = group.declared.location.iter().map(|rules| all_of(rules, resource));
    let outcomes: Vec<Option<bool>> = lists.collect();
    if outcomes.contains(&Some(true)) {
        return Some(true);
    }
    if outcomes.contains(&None) { None } else { Some(false) }
}

/// The same of one list of rules, all of which have to hold; an empty one holds nowhere.
fn all_of(rules: &[LocationRule], resource: &Resource) -> Option<bool> {
    let outcomes: Vec<Option<bool>> = rules.iter().map(|rule| of_kind(rule, resource)).collect();
    if outcomes.is_empty() || outcomes.contains(&Some(false)) {
        return Some(false);
    }
    if outcomes.contains(&None) { None } else { Some(true) }
}

/// Whether a rule holds for items of a resource, as far as that follows from the resource.
pub fn of_kind(rule: &LocationRule, resource: &Resource) -> Option<bool> {
    use LocationParam::{
        Attachment, Comment, CurrentUser, CurrentUserRole, Page, PageParent, PageTemplate, PageType, Post,
        PostCategory, PostFormat, PostStatus, PostTaxonomy, PostTemplate, PostType, Taxonomy, UserForm, UserRole,
    };
    let among = |is_so: bool, decided: Option<bool>| if is_so { decided } else { Some(false) };
    let named = || is(rule, resource.is_named(&rule.value));
    match rule.param {
        PostType => among(resource.is_content(), Some(named())),
        PostStatus | PostTemplate | PostFormat | PostCategory | PostTaxonomy | Post | PageType | PageParent
        | PageTemplate | Page => among(resource.is_content(), None),
        Taxonomy if rule.value == "all" => among(resource.is_taxonomy(), Some(is(rule, true))),
        Taxonomy => among(resource.is_taxonomy(), Some(named())),
        UserForm => among(resource.is_users(), Some(is(rule, matches!(rule.value.as_str(), "all" | "edit")))),
        UserRole => among(resource.is_users(), None),
        Comment if rule.value == "all" => among(resource.is_comments(), Some(is(rule, true))),
        Comment => among(resource.is_comments(), None),
        CurrentUser | CurrentUserRole => None,
        Attachment => Some(false),
    }
}

/// The outcome of a comparison under the rule's operator.
pub fn is(rule: &LocationRule, same: bool) -> bool {
    same == (rule.operator == RuleOperator::Is)
}

/// A number for a text that is one; any other value as it is.
pub fn numeric(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    let plain = text.trim();
    if let Ok(whole) = plain.parse::<i64>() {
        return json!(whole);
    }
    let number = plain.parse::<f64>().ok().filter(|number| number.is_finite());
    number.and_then(serde_json::Number::from_f64).map_or(value, Value::Number)
}
