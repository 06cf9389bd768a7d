//! `where`: by what lists can be filtered, and how each value is compared.
//!
//! A criterion is a property that its schema marks with `x-filterable`, or such a property of a related resource
//! (`venue.city`). Each has the operators of its type.

use super::Registry;
use super::args::{Filter, FilterOp, Operand};
use super::resource::PropertyKind;
use cms_storage::plan::{Name, Op};
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// How a criterion compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionOp {
    Compare(FilterOp),
    /// Each of the values occurs.
    All,
    /// There is a value, or there is none.
    Set,
}

/// Operators of a criterion, by name.
pub type Operators = &'static [(&'static str, CriterionOp)];

const EQ: (&str, CriterionOp) = ("eq", CriterionOp::Compare(FilterOp::Compare(Op::Eq)));
const NE: (&str, CriterionOp) = ("ne", CriterionOp::Compare(FilterOp::Compare(Op::Ne)));
const LT: (&str, CriterionOp) = ("lt", CriterionOp::Compare(FilterOp::Compare(Op::Lt)));
const LE: (&str, CriterionOp) = ("le", CriterionOp::Compare(FilterOp::Compare(Op::Le)));
const GT: (&str, CriterionOp) = ("gt", CriterionOp::Compare(FilterOp::Compare(Op::Gt)));
const GE: (&str, CriterionOp) = ("ge", CriterionOp::Compare(FilterOp::Compare(Op::Ge)));
const IN: (&str, CriterionOp) = ("in", CriterionOp::Compare(FilterOp::In));
const NOT_IN: (&str, CriterionOp) = ("not_in", CriterionOp::Compare(FilterOp::NotIn));
const CONTAINS: (&str, CriterionOp) = ("contains", CriterionOp::Compare(FilterOp::Contains));
const ANY: (&str, CriterionOp) = ("any", CriterionOp::Compare(FilterOp::In));
const NONE: (&str, CriterionOp) = ("none", CriterionOp::Compare(FilterOp::NotIn));
const ALL: (&str, CriterionOp) = ("all", CriterionOp::All);
const SET: (&str, CriterionOp) = ("set", CriterionOp::Set);

/// Numbers and times.
pub const ORDERED: Operators = &[EQ, NE, LT, LE, GT, GE, IN, NOT_IN, SET];
/// Texts.
pub const TEXT: Operators = &[EQ, NE, IN, NOT_IN, CONTAINS, SET];
/// Choices and keys.
pub const CHOICE: Operators = &[EQ, NE, IN, NOT_IN, SET];
/// True or false.
pub const FLAG: Operators = &[EQ, NE, SET];
/// Lists of values.
pub const LIST: Operators = &[ANY, ALL, NONE];
/// Lists of keys.
pub const KEYS: Operators = &[ANY, ALL, NONE, SET];

/// Whether an operator takes a list.
pub fn takes_list(test: CriterionOp) -> bool {
    matches!(test, CriterionOp::All | CriterionOp::Compare(FilterOp::In | FilterOp::NotIn))
}

/// The values that a criterion compares.
#[derive(Clone, Debug)]
pub enum CriterionSubject {
    /// The name of the column in its own table, the extension table that has it, and how values are read.
    Column { column: Name, extension: Option<Name>, operand: Operand },
    /// The targets of a relation.
    Edges(Name),
}

/// How a related row is found.
#[derive(Clone, Debug)]
pub enum RelationPath {
    /// Its key is in this column, by the name that plans have for it.
    Column(Name),
    Edges(Name),
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// Position of the resource that has the property.
    pub resource: usize,
    /// `None`: the property is one of the listed rows.
    pub through: Option<RelationPath>,
    pub subject: CriterionSubject,
    pub operators: Operators,
    /// Schema of the values.
    pub value: Value,
    pub kind: PropertyKind,
    /// Only the edit context shows the property.
    pub edit_only: bool,
    /// The capabilities that reading what it compares needs.
    pub needs: Vec<String>,
    /// A record's password locks the property.
    pub locked: bool,
    /// Documents show what is made of the value, not the value.
    pub made: bool,
    /// Spelling of values: stored to public.
    pub aliases: Vec<(String, String)>,
    /// The value in documents where nothing is stored, if not null.
    pub unset: Option<Value>,
}

impl Criterion {
    /// The operator of this name.
    pub fn operator(&self, name: &str) -> Option<CriterionOp> {
        self.operators.iter().find(|(own, _)| *own == name).map(|(_, test)| *test)
    }

    /// Rows can be counted by its values.
    pub fn counts(&self) -> bool {
        let counted = match &self.subject {
            CriterionSubject::Column { operand, .. } => matches!(operand, Operand::Id | Operand::Value | Operand::Slug),
            CriterionSubject::Edges(_) => true,
        };
        self.through.is_none() && !self.made && counted
    }

    /// The operator of a value that names none.
    fn usual(&self, value: &Value) -> &'static str {
        match self.operators {
            [(first @ "any", _), ..] => first,
            _ if value.is_array() && self.operator("in").is_some() => "in",
            _ => "eq",
        }
    }
}

/// The criteria of a resource's lists, by name.
#[derive(Clone, Debug, Default)]
pub struct Criteria(pub IndexMap<String, Criterion>);

impl Criteria {
    /// The value of `where` in which each criterion has an object of operators: `{"city": "Oslo"}` becomes
    /// `{"city": {"eq": "Oslo"}}`.
    pub fn expand_operators(&self, value: &Value) -> Value {
        let Value::Object(members) = value else { return value.clone() };
        let full = |(name, value): (&String, &Value)| {
            let value = match self.0.get(name) {
                Some(criterion) if !value.is_object() => {
                    Value::Object(Map::from_iter([(criterion.usual(value).to_owned(), value.clone())]))
                }
                _ => value.clone(),
            };
            (name.clone(), value)
        };
        Value::Object(members.iter().map(full).collect())
    }
}

/// A column that lists are filtered or counted by and that has no index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnindexedColumn<'r> {
    /// The resource whose lists these are, and the criterion.
    pub listed: &'r str,
    pub criterion: &'r str,
    /// The resource and the property that the index is for.
    pub resource: &'r str,
    pub property: &'r str,
}

impl Registry {
    /// Columns of declared tables that lists compare and that have no index, each once.
    pub fn unindexed_criteria(&self) -> Vec<UnindexedColumn<'_>> {
        let mut found: Vec<UnindexedColumn<'_>> = Vec::new();
        for route in &self.routes {
            let Some(listed) = route.resource.map(|index| &self.resources[index]) else { continue };
            let filters = route.endpoints.iter().flat_map(|endpoint| &endpoint.args.args).map(|arg| &arg.filter);
            for criteria in filters.filter_map(|filter| match filter {
                Some(Filter::Where(criteria)) => Some(criteria),
                _ => None,
            }) {
                for (name, criterion) in &criteria.0 {
                    let own = &self.resources[criterion.resource];
                    let property = match criterion.through {
                        // Behind the name of the relation.
                        Some(_) => name.split_once('.').map_or(name.as_str(), |(_, property)| property),
                        None => name,
                    };
                    let slow = UnindexedColumn { listed: &listed.name, criterion: name, resource: &own.name, property };
                    let known =
                        |other: &UnindexedColumn<'_>| (other.resource, other.property) == (slow.resource, property);
                    if self.unindexed(criterion) && !found.iter().any(known) {
                        found.push(slow);
                    }
                }
            }
        }
        found
    }

    fn unindexed(&self, criterion: &Criterion) -> bool {
        let CriterionSubject::Column {
            column,
            extension,
            operand: Operand::Id | Operand::Value | Operand::Slug | Operand::Time(_),
        } = &criterion.subject
        else {
            return false;
        };
        let table = extension.as_ref().unwrap_or(&self.resources[criterion.resource].table);
        let table = self.layout.table(table).filter(|table| table.is_declared());
        // An index on two values saves little.
        criterion.kind != PropertyKind::Boolean
            && table.is_some_and(|table| table.indexes.iter().all(|index| index.columns[0].0 != *column))
    }
}
