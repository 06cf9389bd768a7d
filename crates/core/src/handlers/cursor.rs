//! Walks through a collection: the cost of a page does not depend on its position, and no row is repeated because
//! others were inserted before it.
//!
//! `_cursor=` starts the walk; the `Link` of each response leads on, until there is nothing more. The cursor is opaque: it
//! holds the sort values and the key of the last row seen, or the key alone where the values are long.

use super::Work;
use crate::error::ApiError;
use crate::records::{self, Record};
use crate::registry::resource::Resource;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_storage::Snapshot;
use cms_storage::plan::{ColumnType, Cond, DbValue, Layout, Name, Op, Order, ReadPlan, Row};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Name of the parameter.
pub const PARAM: &str = "_cursor";

/// Most bytes of a cursor.
const LONGEST: usize = 2000;

/// A sort key. The last one of an order is the key of the rows.
struct SortKey {
    column: Name,
    ty: ColumnType,
    descending: bool,
    /// Where the rows without a value are; `None`: every row has one.
    unset: Option<NullPlacement>,
    /// Rows can be read in this order from an index.
    indexed: bool,
}

/// Where rows without a value are.
#[derive(Clone, Copy, PartialEq)]
enum NullPlacement {
    First,
    Last,
}

/// The sort keys of an order that determines the place of each row.
pub struct SortKeys(Vec<SortKey>);

/// A walk that a request continues.
pub struct Cursor {
    keys: SortKeys,
    /// Sort values of the last row seen.
    after: Option<Vec<DbValue>>,
}

/// Rows that follow each other in an index. The stretches of a collection follow each other, too.
pub struct KeyRange {
    filter: Cond,
    order: Vec<Order>,
}

impl KeyRange {
    /// The plan, of the rows of the stretch.
    pub fn of(&self, plan: &ReadPlan) -> ReadPlan {
        let filter = Cond::All(vec![plan.filter.clone(), self.filter.clone()]);
        ReadPlan { filter, order: self.order.clone(), ..plan.clone() }
    }
}

impl Cursor {
    /// The walk of the request, if any, through the rows of a plan.
    ///
    /// # Errors
    /// A cursor of another order, or not one of ours; an order without columns; a database that cannot be read.
    pub fn of(work: &Work<'_>, resource: &Resource, plan: &ReadPlan) -> Result<Option<Cursor>, ApiError> {
        let begin = Value::from("");
        let Some(given) = work.query.get(PARAM).or(work.lines.then_some(&begin)) else { return Ok(None) };
        let invalid = |message: &str| ApiError::invalid_one(PARAM, message);
        let keys = SortKeys::of(&work.scope.registry.layout, resource, &plan.order)
            .ok_or_else(|| invalid("This order knows no next row; walk by columns such as date or id."))?;
        if resource.key_is_text {
            return Err(invalid("Only what has numbers for keys can be walked through."));
        }
        let word = given.as_str().unwrap_or("");
        if word.is_empty() {
            return Ok(Some(Cursor { keys, after: None }));
        }
        let told = read(word, &keys.mark()).and_then(|told| keys.fitting(told));
        let told = told.ok_or_else(|| invalid("Not a cursor of this order; begin with an empty one."))?;
        let after = match told.as_slice() {
            [id] if keys.0.len() > 1 => {
                let gone = "The item that this cursor continues after is no longer there; begin with an empty one.";
                keys.values_of(&*work.scope.snapshot()?, resource, plan, id)?.ok_or_else(|| invalid(gone))?
            }
            _ => told,
        };
        Ok(Some(Cursor { keys, after: Some(after) }))
    }

    /// The cursor that continues after a row.
    pub fn next(&self, resource: &Resource, row: &Row) -> String {
        let record = Record { resource, row };
        let column = |key: &SortKey| record.value(key.column.rsplit('.').next().unwrap_or_default()).clone();
        let values: Vec<DbValue> = self.keys.0.iter().map(column).collect();
        let mark = self.keys.mark();
        let whole = write(&mark, &values);
        if whole.len() <= LONGEST { whole } else { write(&mark, &[DbValue::Int(record.id())]) }
    }

    /// The remaining rows.
    pub fn remaining_ranges(&self) -> Vec<KeyRange> {
        self.keys.stretches(self.after.as_deref())
    }
}

impl SortKeys {
    /// `None`: the order is not by columns.
    pub fn of(layout: &Layout, resource: &Resource, order: &[Order]) -> Option<SortKeys> {
        let table = layout.table(&resource.table)?;
        let key = |name: &Name, descending: bool| {
            let (holder, column) = layout.column(&resource.table, name)?;
            let short = &column.name;
            let always = column.default.is_some() || *name == resource.key;
            let unset = match (table.unset_last(name), descending) {
                _ if always => None,
                (true, _) | (false, true) => Some(NullPlacement::Last),
                (false, false) => Some(NullPlacement::First),
            };
            let state = holder.states.as_ref().map(|states| &states.column);
            let indexed = holder.indexes.iter().any(|index| match index.columns.as_slice() {
                [(first, _), (second, _), ..] if Some(first) == state => second == short,
                [(first, _), ..] => first == short,
                [] => false,
            });
            Some(SortKey { column: name.clone(), ty: column.ty, descending, unset, indexed })
        };
        let mut keys: Vec<SortKey> = Vec::new();
        for order in order {
            let Order::Column(name, descending) = order else { return None };
            if keys.iter().all(|known| known.column != *name) {
                keys.push(key(name, *descending)?);
            }
            if *name == resource.key {
                return Some(SortKeys(keys));
            }
        }
        let descending = keys.first()?.descending;
        keys.push(key(&resource.key, descending)?);
        Some(SortKeys(keys))
    }

    /// The stretches of the whole order, where its first column has an index that the rows without a value would keep from
    /// being used.
    pub fn by_an_index(&self) -> Option<Vec<KeyRange>> {
        let first = self.0.first()?;
        (first.indexed && first.unset.is_some()).then(|| self.stretches(None))
    }

    /// Their columns.
    pub fn columns(&self) -> Vec<Name> {
        self.0.iter().map(|key| key.column.clone()).collect()
    }

    /// The mark that all cursors of this order share.
    fn mark(&self) -> String {
        let keys: Vec<Value> = self.0.iter().map(|key| json!([&*key.column, key.descending])).collect();
        let digest = Sha256::digest(json!(keys).to_string());
        URL_SAFE_NO_PAD.encode(&digest[..9])
    }

    /// The values, if they are of the types of the columns: of all sort keys, or of the last one.
    fn fitting(&self, values: Vec<DbValue>) -> Option<Vec<DbValue>> {
        let keys = match values.len() {
            1 => &self.0[self.0.len() - 1..],
            _ => &self.0[..],
        };
        let fits = |(key, value): (&SortKey, &DbValue)| match (key.ty, value) {
            (_, DbValue::Null) => key.unset.is_some(),
            (ColumnType::Int, DbValue::Int(_)) | (ColumnType::Real, DbValue::Real(_)) => true,
            (ColumnType::Int | ColumnType::Real, _) => false,
            (_, value) => matches!(value, DbValue::Text(text) if !text.contains('\0')),
        };
        (keys.len() == values.len() && keys.iter().zip(&values).all(fits)).then_some(values)
    }

    /// The sort values of a row that the plan selects.
    fn values_of(
        &self,
        snapshot: &dyn Snapshot,
        resource: &Resource,
        plan: &ReadPlan,
        id: &DbValue,
    ) -> Result<Option<Row>, ApiError> {
        let same = Cond::Compare(resource.key.clone(), Op::Eq, id.clone());
        let filter = Cond::All(vec![plan.filter.clone(), same]);
        let plan =
            ReadPlan { columns: self.columns(), filter, order: Vec::new(), limit: Some(1), offset: 0, ..plan.clone() };
        Ok(snapshot.rows(&plan)?.pop())
    }

    /// The rows behind these sort values, or all. Those without a value of the first column are a stretch of their own: they
    /// are elsewhere in its index.
    pub fn stretches(&self, after: Option<&[DbValue]>) -> Vec<KeyRange> {
        let [first, rest @ ..] = self.0.as_slice() else { return Vec::new() };
        let order =
            |keys: &[SortKey]| keys.iter().map(|key| Order::Column(key.column.clone(), key.descending)).collect();
        let known = |filter: Cond| KeyRange { filter, order: order(&self.0) };
        let null = || Cond::IsNull(first.column.clone());
        let unset = |filter: Cond| KeyRange { filter, order: order(rest) };
        let all_known = || known(Cond::Not(Box::new(null())));
        match (after, first.unset) {
            (None, None) => vec![known(records::always())],
            (None, Some(NullPlacement::First)) => vec![unset(null()), all_known()],
            (None, Some(NullPlacement::Last)) => vec![all_known(), unset(null())],
            (Some([DbValue::Null, values @ ..]), place) => {
                let behind = unset(Cond::All(vec![null(), beyond(rest, values)]));
                if place == Some(NullPlacement::First) { vec![behind, all_known()] } else { vec![behind] }
            }
            (Some(values), place) => {
                // The range follows from the rest, and is what an index can start from.
                let range =
                    values.first().map(|value| first.compared(if first.descending { Op::Le } else { Op::Ge }, value));
                let later = beyond_known(&self.0, values);
                let behind = known(Cond::All(range.into_iter().chain([later]).collect()));
                if place == Some(NullPlacement::Last) { vec![behind, unset(null())] } else { vec![behind] }
            }
        }
    }
}

impl SortKey {
    fn compared(&self, op: Op, value: &DbValue) -> Cond {
        Cond::Compare(self.column.clone(), op, value.clone())
    }

    fn beyond(&self, value: &DbValue) -> Cond {
        self.compared(if self.descending { Op::Lt } else { Op::Gt }, value)
    }
}

/// The rows behind these values of sort keys.
fn beyond(keys: &[SortKey], values: &[DbValue]) -> Cond {
    let ([key, rest @ ..], [value, others @ ..]) = (keys, values) else { return records::never() };
    let null = || Cond::IsNull(key.column.clone());
    match (value, key.unset) {
        (DbValue::Null, place) => {
            let same = Cond::All(vec![null(), beyond(rest, others)]);
            if place == Some(NullPlacement::First) { Cond::Any(vec![same, Cond::Not(Box::new(null()))]) } else { same }
        }
        (_, Some(NullPlacement::Last)) => Cond::Any(vec![beyond_known(keys, values), null()]),
        _ => beyond_known(keys, values),
    }
}

/// The rows behind these values that have a value of the first column, as the values do.
fn beyond_known(keys: &[SortKey], values: &[DbValue]) -> Cond {
    let ([key, rest @ ..], [value, others @ ..]) = (keys, values) else { return records::never() };
    match rest {
        [] => key.beyond(value),
        _ => Cond::Any(vec![key.beyond(value), Cond::All(vec![key.compared(Op::Eq, value), beyond(rest, others)])]),
    }
}

/// The values in a cursor with this mark; `None` for another walk's and for what is no cursor of ours.
pub fn read(word: &str, mark: &str) -> Option<Vec<DbValue>> {
    if word.len() > LONGEST {
        return None;
    }
    let told: Vec<Value> = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(word).ok()?).ok()?;
    let [own, values @ ..] = told.as_slice() else { return None };
    let value = |value: &Value| match value {
        Value::Null => Some(DbValue::Null),
        Value::Number(n) => Some(DbValue::Int(n.as_i64()?)),
        // No text of a request holds a NUL, so none that was stored does.
        Value::String(text) if !text.contains('\0') => Some(DbValue::Text(text.as_str().into())),
        Value::Array(real) => {
            let real: f64 = real.first()?.as_str()?.parse().ok()?;
            real.is_finite().then_some(DbValue::Real(real))
        }
        _ => None,
    };
    let values = (own == mark).then(|| values.iter().map(value).collect::<Option<Vec<_>>>())??;
    matches!(values.last(), Some(DbValue::Int(_))).then_some(values)
}

/// The cursor with a mark and values; see [`read`]. Numbers with fractions are texts, which lose nothing.
pub fn write(mark: &str, values: &[DbValue]) -> String {
    let value = |value: &DbValue| match value {
        DbValue::Null => Value::Null,
        DbValue::Int(n) => json!(n),
        DbValue::Real(n) => json!([n.to_string()]),
        DbValue::Text(text) => json!(&**text),
    };
    let told: Vec<Value> = std::iter::once(json!(mark)).chain(values.iter().map(value)).collect();
    URL_SAFE_NO_PAD.encode(json!(told).to_string())
}
