//! The check of written values: by their schema, and against the rows that they refer to.

use crate::error::{ApiError, Code};
use crate::records::{columns, is_in, split_words};
use crate::registry::Registry;
use crate::registry::columns::{record, user};
use crate::registry::fields::{FieldNode, FieldTarget, LAYOUT, numeric};
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_declaration::FieldKind;
use cms_schema::ParamFailure;
use cms_text::php;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Checks the values that a request gives to the fields of an item; `param` is the argument.
///
/// # Errors
/// The first value that does not fit.
pub fn check(scope: &Scope, resource: &Resource, param: &str, given: &Value) -> Result<(), Box<ParamFailure>> {
    let Some(fields) = &resource.fields else { return Ok(()) };
    let unreadable = || refused(param, given, "cannot be checked");
    let schema = fields.check.as_ref().ok_or_else(unreadable)?;
    let value = by_name(scope, resource, given);
    schema.check(param, &value)?;
    let Value::Object(members) = schema.coerce(param, value)? else { return Ok(()) };
    let given = members.iter().filter_map(|(name, value)| Some((named(scope, resource, name)?, name, value)));
    let given: Vec<(&FieldNode, &String, &Value)> = given.collect();
    let mut wanted = References::default();
    given.iter().for_each(|(field, _, value)| wanted.add(field, value));
    let known = wanted.read(scope).map_err(|_| unreadable())?;
    given.iter().try_for_each(|(field, name, value)| {
        known.judge(&scope.registry, field, &format!("{param}[{name}]"), value, false)
    })
}

/// The given values by the names of their fields, as objects where objects are due.
pub(super) fn by_name(scope: &Scope, resource: &Resource, given: &Value) -> Value {
    let members = match given {
        Value::Null => Map::new(),
        Value::String(text) if text.is_empty() => Map::new(),
        Value::Array(list) => php::list_to_object(list.clone()),
        Value::Object(members) => members.clone(),
        other => return other.clone(),
    };
    let renamed = members.into_iter().map(|(name, value)| {
        let field = named(scope, resource, &name);
        let value = field.map_or_else(|| value.clone(), |field| shaped(field, value.clone()));
        (field.map_or(name, |field| field.name.clone()), value)
    });
    Value::Object(renamed.collect())
}

/// A list as an object, where an object is due.
fn shaped(field: &FieldNode, value: Value) -> Value {
    let kind = field.declared.kind;
    let structured = matches!(
        kind,
        FieldKind::Link | FieldKind::IconPicker | FieldKind::GoogleMap | FieldKind::Group | FieldKind::Layout
    );
    match value {
        Value::Array(list) if structured => shaped(field, Value::Object(php::list_to_object(list))),
        // PHP reads an empty object as an empty list.
        Value::Object(members) if members.is_empty() && !structured => Value::Array(Vec::new()),
        Value::Object(members) if kind.holds_fields() && !kind.holds_rows() => shaped_members(&field.fields, members),
        Value::Array(rows) if kind.holds_rows() => {
            let row = |row: Value| match row {
                Value::Object(members) => shaped_members(row_fields(field, &members), members),
                row => row,
            };
            rows.into_iter().map(row).collect()
        }
        value => value,
    }
}

fn shaped_members(fields: &[FieldNode], members: Map<String, Value>) -> Value {
    let inside = members.into_iter().map(|(name, value)| {
        let inner = fields.iter().find(|inner| inner.name == name);
        let value = inner.map_or_else(|| value.clone(), |inner| shaped(inner, value.clone()));
        (name, value)
    });
    Value::Object(inside.collect())
}

/// The fields of a given row; none of one without a layout that is known.
pub(super) fn row_fields<'f>(field: &'f FieldNode, row: &Map<String, Value>) -> &'f [FieldNode] {
    field.row_fields(row.get(LAYOUT).and_then(Value::as_str).unwrap_or_default()).unwrap_or_default()
}

/// The rows of a value that holds some, with their fields.
fn given_rows<'a>(
    field: &'a FieldNode,
    value: &'a Value,
) -> impl Iterator<Item = (&'a [FieldNode], &'a Map<String, Value>)> {
    let rows = value.as_array().filter(|_| field.holds_rows());
    rows.into_iter().flatten().filter_map(Value::as_object).map(|row| (row_fields(field, row), row))
}

/// The field of a name or key: one of the resource's, or else one of another group, whose values are checked and not kept.
fn named<'r>(scope: &'r Scope, resource: &Resource, name: &str) -> Option<&'r FieldNode> {
    let groups = &scope.registry.field_groups;
    let fits = |field: &&FieldNode| field.name == name || field.declared.key.as_deref() == Some(name);
    let own = resource.fields.iter().flat_map(|fields| &fields.groups).flat_map(|at| &groups[*at].fields);
    own.into_iter().find(fits).or_else(|| groups.iter().flat_map(|group| &group.fields).find(fits))
}

fn refused(place: &str, value: &Value, what: &str) -> Box<ParamFailure> {
    let param = place.split('[').next().unwrap_or(place);
    Box::new(ParamFailure {
        name: param.to_owned(),
        message: format!("{place} {what}."),
        reason: Some(Code::InvalidParam.as_str()),
        data: json!({"param": place, "value": value}),
    })
}

/// Ids that given values refer to.
#[derive(Default)]
struct References {
    records: HashSet<i64>,
    users: HashSet<i64>,
}

impl References {
    fn add(&mut self, field: &FieldNode, value: &Value) {
        match field.target() {
            Some(FieldTarget::Record | FieldTarget::File) => self.records.extend(ids(value)),
            Some(FieldTarget::User) => self.users.extend(ids(value)),
            Some(FieldTarget::Term) => {}
            None if field.holds_rows() => given_rows(field, value).for_each(|(fields, row)| {
                fields
                    .iter()
                    .for_each(|inner| row.get(&inner.name).into_iter().for_each(|value| self.add(inner, value)));
            }),
            None => field.fields.iter().for_each(|inner| {
                value.get(&inner.name).into_iter().for_each(|value| self.add(inner, value));
            }),
        }
    }

    fn read(&self, scope: &Scope) -> Result<KnownRows, ApiError> {
        let mut known = KnownRows::default();
        let snapshot = scope.snapshot()?;
        if !self.records.is_empty() {
            let plan = columns(record::TABLE, &["id", "kind", "mime"], is_in("id", self.records.iter().copied()));
            let records: Vec<(i64, String, String)> = snapshot.rows_as(&plan)?;
            known.records = records.into_iter().map(|(id, kind, mime)| (id, (kind, mime))).collect();
        }
        if !self.users.is_empty() {
            let plan = columns(user::TABLE, &["id", "roles"], is_in("id", self.users.iter().copied()));
            known.users = snapshot.rows_as(&plan)?;
        }
        Ok(known)
    }
}

/// Facts about the rows that given values refer to, by id.
#[derive(Default)]
struct KnownRows {
    /// Kind and MIME type.
    records: HashMap<i64, (String, String)>,
    /// Roles.
    users: HashMap<i64, String>,
}

impl KnownRows {
    /// `inside`: the field is inside another one.
    fn judge(
        &self,
        registry: &Registry,
        field: &FieldNode,
        place: &str,
        value: &Value,
        inside: bool,
    ) -> Result<(), Box<ParamFailure>> {
        let declared = &field.declared;
        match (field.target(), value) {
            (_, Value::Null) => Ok(()),
            (Some(FieldTarget::File), Value::Array(_)) if field.is_list() => all_fit(
                place,
                value,
                |id| self.is_file(registry, field, *id),
                "names files that this field does not take",
            ),
            (Some(FieldTarget::File), id) => {
                let fits = ids(id).all(|id| self.is_file(registry, field, id));
                if fits && numeric(id.clone()).as_i64().is_some_and(|id| id > 0) {
                    return Ok(());
                }
                Err(refused(place, id, "is no file that this field takes"))
            }
            (Some(FieldTarget::Record), value) => {
                let fits =
                    |id: &i64| self.records.get(id).is_some_and(|(kind, _)| takes(registry, &declared.kinds, kind));
                all_fit(place, value, fits, "names records that this field does not take")
            }
            (Some(FieldTarget::User), value) => {
                let holds = |roles: &String| {
                    let held = split_words(roles);
                    declared.roles.is_empty()
                        || held.iter().any(|role| declared.roles.iter().any(|own| **role == **own))
                };
                all_fit(
                    place,
                    value,
                    |id| self.users.get(id).is_some_and(holds),
                    "names users whom this field does not take",
                )
            }
            (Some(FieldTarget::Term), _) => Ok(()),
            // Recorded: inside another field a single choice is not compared.
            (None, Value::String(text)) if declared.kind == FieldKind::Select && !inside => {
                let open = declared.custom || declared.choices.is_empty() || declared.choices.contains_key(text);
                if open { Ok(()) } else { Err(refused(place, value, "is not one of the choices")) }
            }
            (None, value) if field.holds_rows() => {
                given_rows(field, value).enumerate().try_for_each(|(at, (fields, row))| {
                    self.judge_all(registry, fields, &format!("{place}[{at}]"), |name| row.get(name))
                })
            }
            (None, value) => self.judge_all(registry, &field.fields, place, |name| value.get(name)),
        }
    }

    /// The same of fields inside another one.
    fn judge_all<'v>(
        &self,
        registry: &Registry,
        fields: &[FieldNode],
        place: &str,
        value: impl Fn(&str) -> Option<&'v Value>,
    ) -> Result<(), Box<ParamFailure>> {
        fields.iter().try_for_each(|inner| match value(&inner.name) {
            Some(value) => self.judge(registry, inner, &format!("{place}[{}]", inner.name), value, true),
            None => Ok(()),
        })
    }

    fn is_file(&self, registry: &Registry, field: &FieldNode, id: i64) -> bool {
        let Some((kind, mime)) = self.records.get(&id) else { return false };
        let holds =
            |resource: &Resource| resource.is_content() && *resource.kind == **kind && resource.supports("files");
        let accepted = &field.declared.mime_types;
        let endings = registry.declaration.media.types.get(mime).map(|of| of.extensions.as_slice()).unwrap_or_default();
        let fits = |wanted: &String| {
            let wanted = wanted.trim_start_matches('.');
            wanted.eq_ignore_ascii_case(mime) || endings.iter().any(|ending| ending.eq_ignore_ascii_case(wanted))
        };
        registry.resources.iter().any(holds) && (accepted.is_empty() || accepted.iter().any(fits))
    }
}

/// Whether a field that takes these kinds takes records of a kind.
fn takes(registry: &Registry, kinds: &[String], kind: &str) -> bool {
    let named = |wanted: &String| registry.resources.iter().any(|one| *one.kind == *kind && one.is_named(wanted));
    kinds.is_empty() || kinds.iter().any(named)
}

fn all_fit(place: &str, value: &Value, fits: impl Fn(&i64) -> bool, what: &str) -> Result<(), Box<ParamFailure>> {
    let missing: Vec<i64> = ids(value).filter(|id| !fits(id)).collect();
    if missing.is_empty() { Ok(()) } else { Err(refused(place, &json!(missing), what)) }
}

/// The ids in a given value; texts that are no numbers are addresses.
fn ids(value: &Value) -> impl Iterator<Item = i64> + '_ {
    let all = match value {
        Value::Array(list) => list.as_slice(),
        value => std::slice::from_ref(value),
    };
    all.iter().filter_map(|id| numeric(id.clone()).as_i64())
}
