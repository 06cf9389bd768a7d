//! Arguments compiled from their declarations: schema, role, filter and spelling.

use super::Behaviour;
use super::criteria::Criteria;
use super::resource::ColumnClock;
use super::words::SizesWord;
use crate::error::{Code, status};
use cms_schema::ParamFailure;
use cms_schema::Schema;
use cms_storage::plan::{DbValue, Name, Op};
use cms_text::search::WordLimit;
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

/// The effect of an argument in addition to its check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgRole {
    Page,
    PerPage,
    Offset,
    Order,
    Orderby,
    Search,
    SearchColumns,
    SearchSemantics,
    Context,
    Include,
    Force,
    Password,
    Preview,
    Key,
    Reassign,
    TaxRelation,
    IgnoreSticky,
    ExcerptWords,
    Where,
    OrderKeys,
    CountBy,
}

impl ArgRole {
    /// The role of this name in declarations.
    pub fn parse(name: &str) -> Option<ArgRole> {
        ArgRole::ALL.iter().find(|(n, _)| *n == name).map(|(_, r)| *r)
    }

    /// Every role with its name.
    pub const ALL: &'static [(&'static str, ArgRole)] = &[
        ("page", ArgRole::Page),
        ("per_page", ArgRole::PerPage),
        ("offset", ArgRole::Offset),
        ("order", ArgRole::Order),
        ("orderby", ArgRole::Orderby),
        ("search", ArgRole::Search),
        ("search_columns", ArgRole::SearchColumns),
        ("search_semantics", ArgRole::SearchSemantics),
        ("context", ArgRole::Context),
        ("include", ArgRole::Include),
        ("force", ArgRole::Force),
        ("password", ArgRole::Password),
        ("preview", ArgRole::Preview),
        ("key", ArgRole::Key),
        ("reassign", ArgRole::Reassign),
        ("tax_relation", ArgRole::TaxRelation),
        ("ignore_sticky", ArgRole::IgnoreSticky),
        ("excerpt_words", ArgRole::ExcerptWords),
        ("where", ArgRole::Where),
        ("order_keys", ArgRole::OrderKeys),
        ("count_by", ArgRole::CountBy),
    ];
}

/// How a column filter compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterOp {
    Compare(Op),
    In,
    NotIn,
    Contains,
    HasWord,
}

impl FilterOp {
    /// Every operator with its name.
    pub const ALL: &'static [(&'static str, FilterOp)] = &[
        ("eq", FilterOp::Compare(Op::Eq)),
        ("ne", FilterOp::Compare(Op::Ne)),
        ("gt", FilterOp::Compare(Op::Gt)),
        ("ge", FilterOp::Compare(Op::Ge)),
        ("lt", FilterOp::Compare(Op::Lt)),
        ("le", FilterOp::Compare(Op::Le)),
        ("in", FilterOp::In),
        ("not_in", FilterOp::NotIn),
        ("contains", FilterOp::Contains),
        ("has_word", FilterOp::HasWord),
    ];
}

/// Comparisons with the present moment, by name.
pub const MOMENTS: &[(&str, Op)] = &[("future", Op::Gt), ("past", Op::Le)];

/// How a column filter reads the value of its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// As it came; integers in lists are ids.
    Id,
    /// As it came.
    Value,
    /// A date and time: seconds of this clock.
    Time(ColumnClock),
    /// A slug, compared as one is stored: in any script, with capitals or blanks.
    Slug,
    /// A member of the list in the column.
    Member,
}

/// The value that a boolean argument compares a column with.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparisonValue {
    Value(DbValue),
    /// The present moment.
    Now(ColumnClock),
}

/// The rows that an argument's value selects.
#[derive(Clone, Debug)]
pub enum Filter {
    /// `first`: given together with another filter on the same column, this one counts alone.
    Column {
        column: Name,
        op: FilterOp,
        operand: Operand,
        first: bool,
    },
    /// True selects the rows for which the comparison holds, false the others.
    Fixed {
        column: Name,
        op: Op,
        value: ComparisonValue,
    },
    /// Rows with one of these targets of a relation; `without`: the others.
    Linked {
        rel: Name,
        without: bool,
    },
    Query {
        behaviour: Behaviour,
        params: Map<String, Value>,
    },
    /// Rows that meet all the criteria of the value.
    Where(Criteria),
}

/// A document of an argument that is made when it is first shown.
pub type LazyDocument = Arc<LazyLock<Value, Box<dyn FnOnce() -> Value + Send>>>;

/// One argument of an endpoint.
#[derive(Clone, Debug)]
pub struct Arg {
    pub name: String,
    /// Further names of the argument.
    pub also: Vec<String>,
    pub schema: Schema,
    pub required: bool,
    /// As the handler gets it: coerced, in the stored spelling.
    pub default: Option<Value>,
    pub role: Option<ArgRole>,
    pub filter: Option<Filter>,
    /// The filter uses what only the edit context shows.
    pub edit_only: bool,
    /// The capability that reading what the filter compares needs; empty: none.
    pub needs: String,
    /// The filter compares what a record's password locks.
    pub locked: bool,
    /// How many words a search may have.
    pub words: Option<WordLimit>,
    /// Spelling of values: stored to public.
    pub aliases: Vec<(String, String)>,
    /// The value that stands for nothing (`x-unset`).
    pub unset: Option<Value>,
    /// Types that are taken although the schema does not describe them.
    pub accepts: Vec<String>,
    /// How long such values may be.
    pub accepted: Option<Schema>,
    /// The text is JSON.
    pub json: Option<JsonText>,
    /// The value names sizes of pictures.
    pub sizes: Option<SizesWord>,
    /// The server requests this address.
    pub fetched: bool,
    /// The value that the item has is accepted (`x-current`).
    pub current: bool,
    /// The value names a template of the active theme (`x-theme-template`).
    pub theme_template: bool,
    /// A failure is reported by its sentence alone.
    pub sentence_only: bool,
    /// An empty text is no empty object here.
    pub no_text: bool,
    /// The value that is checked where the request gives none (`x-checked-default`).
    pub checked_default: Option<Value>,
    /// A failure is reported when the value would be written, with the code of the failed check (`x-late`).
    pub late: bool,
    /// Values of field groups, which have a check of their own.
    pub fields: bool,
    /// A value for descriptions (`x-example`, also of its members); null: requests are shown without the argument.
    pub example: Option<Value>,
    /// OPTIONS lists the argument.
    pub listed: bool,
    /// The argument in OPTIONS.
    pub shown: LazyDocument,
}

/// Rules for a text that is JSON.
#[derive(Clone, Debug)]
pub struct JsonText {
    pub schema: Schema,
    /// Members that may not be empty.
    pub required: Vec<String>,
    /// Members that may not be sent.
    pub absent: Vec<String>,
}

impl JsonText {
    /// Reads the text of an argument.
    ///
    /// # Errors
    /// It is no JSON, or other than it has to be.
    pub fn read(&self, name: &str, text: &str) -> Result<Value, Box<ParamFailure>> {
        let invalid = |message: String| {
            let failure = Code::InvalidParam.failure_of(name);
            Box::new(ParamFailure { message, ..failure })
        };
        let value: Value = serde_json::from_str(text)
            .ok()
            .filter(|value: &Value| !value.is_null())
            .ok_or_else(|| invalid(format!("{name} has to be a text that is JSON.")))?;
        if let Some(sent) = self.absent.iter().find(|member| value.get(member.as_str()).is_some()) {
            return Err(invalid(format!("{sent} cannot be changed.")));
        }
        let status = |mut failure: Box<ParamFailure>| {
            failure.data = json!({"status": status::BAD_REQUEST});
            failure
        };
        self.schema.check(name, &value).map_err(status)?;
        let empty = |value: &Value| value == "" || value.as_array().is_some_and(Vec::is_empty);
        if let Some(member) = self.required.iter().find(|member| value.get(member.as_str()).is_some_and(empty)) {
            return Err(invalid(format!("{name}[{member}] cannot be empty.")));
        }
        self.schema.coerce(name, value).map_err(status)
    }
}

impl Arg {
    /// A failure as this argument reports it.
    pub fn report_failure(&self, mut failure: Box<ParamFailure>) -> Box<ParamFailure> {
        if self.sentence_only && !self.late {
            failure.reason = None;
        }
        failure
    }
}

/// The arguments of an endpoint, in order.
#[derive(Clone, Debug, Default)]
pub struct ArgSet {
    pub args: Vec<Arg>,
    /// Some value of some argument uses what only the edit context shows, or what not everybody may read.
    pub edit_only: bool,
    /// See [`cms_declaration::Dialect::null_as_empty`].
    pub null_as_empty: bool,
}

impl ArgSet {
    /// The argument that plays a role.
    pub fn role(&self, role: ArgRole) -> Option<&Arg> {
        self.args.iter().find(|a| a.role == Some(role))
    }

    /// The argument of this name.
    pub fn get(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|a| a.name == name)
    }
}

/// Direction of a change of spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpellingDirection {
    ToApi,
    ToStored,
}

/// Respells a text, the items of a list, or the parts of a comma-separated text.
pub fn convert_spelling(value: Value, aliases: &[(String, String)], direction: SpellingDirection) -> Value {
    if aliases.is_empty() {
        return value;
    }
    let one = |text: &str| -> Option<String> {
        aliases.iter().find_map(|(stored, public)| {
            let (from, to) = if direction == SpellingDirection::ToApi { (stored, public) } else { (public, stored) };
            (from == text).then(|| to.clone())
        })
    };
    match value {
        Value::String(text) => match one(&text) {
            Some(spelled) => Value::String(spelled),
            None if text.contains(',') => {
                let parts: Vec<String> =
                    text.split(',').map(|p| one(p.trim()).unwrap_or_else(|| p.to_owned())).collect();
                Value::String(parts.join(","))
            }
            None => Value::String(text),
        },
        Value::Array(list) => Value::Array(list.into_iter().map(|v| convert_spelling(v, aliases, direction)).collect()),
        other => other,
    }
}
