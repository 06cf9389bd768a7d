//! Filters, words of a search and sort keys of arguments.

use super::super::args::{ComparisonValue, Filter, FilterOp, MOMENTS, Operand};
use super::super::resource::*;
use super::super::vocabulary::{families, names};
use super::super::words::{Overflow, SearchWords};
use super::super::{Behaviour, name};
use super::report::no_column;
use super::{ArgOrigin, Linker};
use cms_declaration::SchemaDoc;
use cms_storage::plan::{DbValue, Name, Op};
use cms_text::search::WordLimit;
use serde_json::{Map, Value, json};

impl Linker<'_> {
    pub(super) fn filter(
        &mut self,
        filter: Map<String, Value>,
        doc: &SchemaDoc,
        resource: Option<&Resource>,
        place: &ArgOrigin,
    ) -> Option<Filter> {
        if let Some(query) = filter.get("query").and_then(Value::as_str) {
            return self.query(query, &filter, resource, place);
        }
        let resource = resource?;
        for key in filter.keys() {
            self.known_in((place, &format!("x-filter/{key}")), "option", key, &OPTIONS);
        }
        let column = filter.get("column").and_then(Value::as_str).unwrap_or_default();
        let op = filter.get("op").and_then(Value::as_str).unwrap_or("eq");
        let operators: Vec<&str> =
            FilterOp::ALL.iter().map(|(n, _)| *n).chain(MOMENTS.iter().map(|(n, _)| *n)).collect();
        self.known_in((place, "x-filter"), "operator", op, &operators)?;
        let result = match resource.relations.iter().find(|r| r.is_list() && r.property == column) {
            Some(relation) => linked(relation, op, &filter, doc),
            None => match resource.plan_column(column) {
                Some(plan_column) => comparison(resource, plan_column, op, &filter, doc),
                None => {
                    let (message, hint) = no_column(resource, column);
                    self.report(place, "x-filter", message, hint);
                    return None;
                }
            },
        };
        result.map_err(|(message, hint)| self.report(place, "x-filter", message, Some(hint))).ok()
    }

    /// A filter by a query behaviour: it exists, serves the resource, and has these options.
    fn query(
        &mut self,
        wanted: &str,
        filter: &Map<String, Value>,
        resource: Option<&Resource>,
        place: &ArgOrigin,
    ) -> Option<Filter> {
        let vocabulary = self.vocabulary;
        let found = self.known_in((place, "x-filter"), "query behaviour", wanted, &names(&vocabulary.queries))?;
        let query = &vocabulary.queries[found];
        if let Some(resource) = resource.filter(|resource| !query.fits(resource.family)) {
            let message = format!(
                "the query `{wanted}` selects rows of the families {}, not of `{}` ({})",
                families(query.serves),
                resource.name,
                resource.family
            );
            self.report(place, "x-filter", message, None);
        }
        if query.options.iter().any(|(option, _)| *option == "column")
            && let Some(resource) = resource
            && let Some(column) = filter.get("column").and_then(Value::as_str)
            && resource.clock(&resource.plan_column(column).unwrap_or_else(|| name(column))).is_none()
        {
            let message = format!("`{column}` of `{}` holds no times", resource.name);
            self.report(place, "x-filter/column", message, None);
        }
        let options: Vec<&str> = query.options.iter().map(|(option, _)| *option).chain(["query"]).collect();
        for key in filter.keys() {
            self.known_in((place, &format!("x-filter/{key}")), "option", key, &options);
        }
        Some(Filter::Query { behaviour: Behaviour(found), params: filter.clone() })
    }

    pub(super) fn check_orderby(&mut self, doc: &SchemaDoc, resource: &Resource, place: &ArgOrigin) {
        for value in doc.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if resource.stores_rows() && !resource.sort.contains_key(value) {
                let hint = format!("add `{value} = \"a column\"` to [resources.{}.sort]", resource.name);
                self.report(
                    place,
                    "enum",
                    format!("`orderby` offers `{value}`, which `{}` has no sort key for", resource.name),
                    Some(hint),
                );
            }
        }
    }
}

/// The keys of a comparison.
const OPTIONS: [&str; 4] = ["column", "op", "value", "first"];

/// A filter, or what is wrong with it and what to do.
type FilterResult = Result<Filter, (String, String)>;

fn wrong<T>(message: String, hint: &str) -> Result<T, (String, String)> {
    Err((message, hint.to_owned()))
}

/// A filter by the targets of a relation.
fn linked(relation: &Relation, op: &str, filter: &Map<String, Value>, doc: &SchemaDoc) -> FilterResult {
    let property = &relation.property;
    let without = match op {
        "eq" | "in" => false,
        "ne" | "not_in" => true,
        _ => return wrong(format!("`{property}` has no `{op}`"), "a relation has eq, ne, in and not_in"),
    };
    if filter.contains_key("value") {
        return wrong("a relation has no fixed value".into(), "remove `value`; the argument is the id");
    }
    fits(doc, property, PropertyKind::Integer, matches!(op, "in" | "not_in"))?;
    Ok(Filter::Linked { rel: relation.rel.clone(), without })
}

/// A comparison of a column with the value, or with what the declaration names.
fn comparison(
    resource: &Resource,
    column: Name,
    op: &str,
    filter: &Map<String, Value>,
    doc: &SchemaDoc,
) -> FilterResult {
    let clock = resource.clock(&column);
    let fixed = filter.get("value");
    let holder = resource.holder(&column);
    let property = holder.filter(|property| property.own);
    if fixed.is_some() || MOMENTS.iter().any(|(moment, _)| *moment == op) {
        return compared_with(column, op, fixed, doc, property, clock);
    }
    let Some((_, op)) = FilterOp::ALL.iter().find(|(n, _)| *n == op) else {
        return wrong(format!("unknown operator `{op}`"), "");
    };
    let first = filter.get("first") == Some(&json!(true));
    let slug = holder.is_some_and(|property| property.slug);
    let mut operand = if slug { Operand::Slug } else { clock.map_or(Operand::Id, Operand::Time) };
    if let Some(property) = property {
        operand = own_operand(property, *op, doc)?;
    }
    Ok(Filter::Column { column, op: *op, operand, first })
}

/// How a filter by a declared property reads its value: operator, property and argument have to go together.
fn own_operand(property: &Property, op: FilterOp, doc: &SchemaDoc) -> Result<Operand, (String, String)> {
    let name = &property.name;
    let list = matches!(op, FilterOp::In | FilterOp::NotIn);
    let worded = property.kind == PropertyKind::Json && property.write.is_some();
    match (op, property.kind) {
        (FilterOp::HasWord, kind) if !(worded || kind == PropertyKind::Text) => {
            return wrong(format!("`{name}` has no words"), "use `eq` or `in`");
        }
        (FilterOp::Contains, kind) if !(worded || kind == PropertyKind::Text) => {
            return wrong(format!("`{name}` is no text"), "use `eq` or `in`");
        }
        (FilterOp::HasWord | FilterOp::Contains, _) if !property.slug => return Ok(Operand::Value),
        (FilterOp::Compare(Op::Lt | Op::Le | Op::Gt | Op::Ge), PropertyKind::Boolean | PropertyKind::Json) => {
            return wrong(format!("values of `{name}` have no order"), "use `eq`, `ne`, `in` or `not_in`");
        }
        (_, PropertyKind::Json) if worded => return wrong(format!("`{name}` holds words"), "use `has_word`"),
        (_, PropertyKind::Json) if property.members.is_none() => {
            return wrong(format!("`{name}` is an object"), "filter by a property of its own");
        }
        _ => {}
    }
    fits(doc, name, property.members.unwrap_or(property.kind), list)?;
    Ok(match (property.kind, property.clock) {
        (PropertyKind::Json, _) => Operand::Member,
        (_, Some(clock)) => Operand::Time(clock),
        _ if property.refers => Operand::Id,
        _ if property.slug => Operand::Slug,
        _ => Operand::Value,
    })
}

/// A comparison with a fixed value, or with the present moment.
fn compared_with(
    column: Name,
    op: &str,
    fixed: Option<&Value>,
    doc: &SchemaDoc,
    property: Option<&Property>,
    clock: Option<ColumnClock>,
) -> FilterResult {
    if types(doc) != ["boolean"] {
        return wrong("the value is declared, so the argument only switches it".into(), "its type is `boolean`");
    }
    let short = column.rsplit('.').next().unwrap_or_default();
    let named = MOMENTS.iter().find(|(moment, _)| *moment == op);
    if let Some((_, op)) = named {
        let Some(clock) = clock else {
            return wrong(format!("`{short}` holds no times"), "future and past are of properties of format date-time");
        };
        if fixed.is_some() {
            return wrong("future and past name the moment already".into(), "remove `value`");
        }
        return Ok(Filter::Fixed { column, op: *op, value: ComparisonValue::Now(clock) });
    }
    let Some((_, FilterOp::Compare(op))) = FilterOp::ALL.iter().find(|(n, _)| *n == op) else {
        return wrong(format!("`{op}` takes no fixed value"), "use eq, ne, lt, le, gt or ge");
    };
    let op = *op;
    let value = match (fixed, clock) {
        (Some(Value::String(now)), Some(clock)) if now == "now" => {
            return Ok(Filter::Fixed { column, op, value: ComparisonValue::Now(clock) });
        }
        (Some(value), None) => value,
        (_, _) => return wrong(format!("`{short}` holds times"), "the value is \"now\""),
    };
    let kind = property.map(|property| property.kind);
    let value = match (kind, value) {
        (Some(PropertyKind::Boolean) | None, Value::Bool(flag)) => DbValue::Int(i64::from(*flag)),
        (Some(PropertyKind::Integer | PropertyKind::Number) | None, Value::Number(n)) => match n.as_i64() {
            Some(n) => DbValue::Int(n),
            None => DbValue::Real(n.as_f64().unwrap_or_default()),
        },
        (Some(PropertyKind::Text) | None, Value::String(text)) => DbValue::Text(text.as_str().into()),
        _ => return wrong(format!("`{short}` cannot be compared with {value}"), "give a value of its type"),
    };
    Ok(Filter::Fixed { column, op, value: ComparisonValue::Value(value) })
}

/// Whether an argument gives values of this kind; lists only where several values are meant.
fn fits(doc: &SchemaDoc, property: &str, kind: PropertyKind, list: bool) -> Result<(), (String, String)> {
    let mut own = types(doc);
    let mut format = doc.get("format");
    if own.contains(&"array") {
        if !list {
            return wrong(format!("a list is compared with `{property}`"), "the operators for lists are in and not_in");
        }
        let items = doc.get("items").and_then(Value::as_object);
        own = items.map(types).unwrap_or_default();
        format = items.and_then(|items| items.get("format"));
    }
    let (wanted, hint): (&[&str], _) = match kind {
        PropertyKind::Integer | PropertyKind::Number => (&["integer", "number"], "its type is `integer` or `number`"),
        PropertyKind::Boolean => (&["boolean"], "its type is `boolean`"),
        PropertyKind::Time => (&["string"], "its type is `string`, its format `date-time`"),
        PropertyKind::Text | PropertyKind::Json => (&["string"], "its type is `string`"),
    };
    let timed = kind != PropertyKind::Time || format.is_some_and(|format| format == "date-time");
    if own.is_empty() || !timed || own.iter().any(|own| !wanted.contains(own)) {
        return wrong(format!("the argument gives no values of the type of `{property}`"), hint);
    }
    Ok(())
}

/// The types of an argument, but for null.
fn types(doc: &SchemaDoc) -> Vec<&str> {
    let named = match doc.get("type") {
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        one => one.and_then(Value::as_str).into_iter().collect::<Vec<_>>(),
    };
    named.into_iter().filter(|own| *own != "null").collect()
}

/// How many words a search has, as it is carried out.
pub(super) fn word_limit(words: SearchWords) -> WordLimit {
    let SearchWords { max, overflow, skipped, plus } = words;
    WordLimit { most: max, phrase: overflow == Overflow::Phrase, skipped, plus }
}
