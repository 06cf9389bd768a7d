//! From the sources of a request to checked arguments: merge, defaults, required, validate, coerce.
//!
//! Contract: "Parameter validation and coercion"; a value is looked up in path, JSON, form, query, defaults, in that
//! order (the path wins on purpose). All missing names make one error, then all failing ones make one error.

use crate::error::{ApiError, Code, UNKNOWN_PARAM};
use crate::registry::args::{Arg, ArgRole, ArgSet, Filter, SpellingDirection, convert_spelling};
use crate::registry::resource::Context;
use crate::request::BodyParams;
use cms_config::check::nearest;
use cms_schema::{ParamFailure, Type};
use cms_text::php::list_to_object;
use cms_text::sanitize;
use serde_json::{Map, Value};

/// Where values come from, highest first.
pub struct ArgSources<'a> {
    pub path: &'a Map<String, Value>,
    pub body: &'a BodyParams,
    pub query: &'a Map<String, Value>,
}

impl<'a> ArgSources<'a> {
    /// The value of a name, if any source has it.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.path.get(name).or_else(|| self.body.get(name)).or_else(|| self.query.get(name))
    }
}

/// Arguments that fit their definitions, coerced. Only this module makes them.
#[derive(Clone, Debug, Default)]
pub struct ArgValues {
    values: Map<String, Value>,
    given: Vec<String>,
    /// The first failure that is reported when the value would be written.
    late: Option<Box<ParamFailure>>,
}

impl ArgValues {
    /// The value of an argument, its default included.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The value, if the request itself gave it.
    pub fn explicit(&self, name: &str) -> Option<&Value> {
        if self.given.iter().any(|g| g == name) { self.values.get(name) } else { None }
    }

    /// The value of the argument that plays a role.
    pub fn role(&self, set: &ArgSet, role: ArgRole) -> Option<&Value> {
        self.values.get(&set.role(role)?.name)
    }

    /// A text argument.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }

    /// An integer argument.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.values.get(name)?.as_i64()
    }

    /// A boolean argument; false when it is absent.
    pub fn flag(&self, name: &str) -> bool {
        self.values.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The requested context, or `view`.
    pub fn context(&self, set: &ArgSet) -> Context {
        let named = self.role(set, ArgRole::Context).and_then(Value::as_str);
        named.and_then(Context::parse).unwrap_or(Context::VIEW)
    }

    /// Reports the failure that waits until the values would be written, after all else that can be wrong.
    ///
    /// # Errors
    /// A value of an argument with `x-late` does not fit: the code of the failed check.
    pub fn check_deferred(&self) -> Result<(), ApiError> {
        let Some(failure) = &self.late else { return Ok(()) };
        let code = failure.reason.map_or(Code::InvalidParam, Code::of_check);
        Err(ApiError::new(code).with_message(failure.message.clone()))
    }

    /// Everything, for `echo`.
    pub fn into_values(self) -> Map<String, Value> {
        self.values
    }

    /// The arguments without all but one.
    pub fn only(&self, name: &str) -> ArgValues {
        let values = self.values.iter().filter(|(own, _)| *own == name);
        ArgValues {
            values: values.map(|(own, value)| (own.clone(), value.clone())).collect(),
            given: self.given.iter().filter(|own| *own == name).cloned().collect(),
            late: None,
        }
    }

    /// Replaces a value that the request gave by what a handler has made of it.
    pub fn replace(&mut self, name: &str, value: Value) {
        if let Some(given) = self.values.get_mut(name) {
            *given = value;
        }
    }

    fn take(&mut self, arg: &Arg, value: Value) {
        self.given.push(arg.name.clone());
        self.values.insert(arg.name.clone(), value);
    }

    /// The valid values, the rest left out: the guards of a route's other methods are called with them. Absent
    /// arguments have the defaults of the called endpoint.
    pub fn parse_lenient(set: &ArgSet, sources: &ArgSources<'_>, answering: Option<&ArgSet>) -> ArgValues {
        let mut checked = ArgValues::default();
        for arg in &set.args {
            if let Some((name, value)) = given(arg, sources)
                && let Ok(value) = fit(arg, name, value)
            {
                checked.given.push(arg.name.clone());
                checked.values.insert(arg.name.clone(), value);
            } else if let Some(default) = answering.and_then(|a| a.get(&arg.name)).and_then(|a| a.default.as_ref()) {
                checked.values.insert(arg.name.clone(), default.clone());
            }
        }
        checked
    }
}

/// The check that remains for a value that its argument's own behaviour accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemainingCheck {
    /// The check by its schema.
    Schema,
    /// Nothing: the value is taken as it is.
    Nothing,
}

/// The check of a value by its argument's own behaviour; `None` when there is none for such arguments, and the
/// schema alone decides.
pub type ValueCheck<'a> = &'a dyn Fn(&Arg, &Value) -> Option<Result<RemainingCheck, Box<ParamFailure>>>;

/// Checks and coerces the arguments of an endpoint. `spared` are required ones that may be absent all the same.
///
/// # Errors
/// `rest_missing_callback_param` with every missing name, or else `rest_invalid_param` with every failing one; what a
/// behaviour checks is reported only when nothing else fails.
pub fn check(
    set: &ArgSet,
    sources: &ArgSources<'_>,
    judge: ValueCheck<'_>,
    spared: &dyn Fn(&Arg) -> bool,
) -> Result<ArgValues, ApiError> {
    let mut checked = ArgValues::default();
    let mut missing = Vec::new();
    let mut failures = Vec::new();
    let mut judged = Vec::new();
    for arg in &set.args {
        let given = given(arg, sources);
        let emptied;
        let given = match given {
            Some((name, Value::Null)) if set.null_as_empty && !takes_null(arg, name) => {
                // Nothing at all is as good as what is empty, where that is no failure.
                let empty = if arg.required { None } else { empty(arg) };
                emptied = empty.filter(|value| judge(arg, value).is_none_or(|judged| judged.is_ok()));
                // A value that only means that nothing is set (`x-unset`) is never meant by null.
                let fits = |value: &&Value| {
                    fit(arg, name, value).is_ok() && (arg.unset.is_none() || arg.schema.check(name, value).is_ok())
                };
                emptied.as_ref().filter(fits).map(|value| (name, value))
            }
            given => given,
        };
        if let Some((name, value)) = given
            && let Some(judgement) = judge(arg, value)
        {
            let rest =
                |judged| if judged == RemainingCheck::Schema { fit(arg, name, value) } else { Ok(value.clone()) };
            match judgement.and_then(rest) {
                Ok(value) => checked.take(arg, value),
                Err(failure) => judged.push(*failure),
            }
            continue;
        }
        match given {
            Some((name, value)) => match fit(arg, name, value) {
                Ok(value) => checked.take(arg, value),
                Err(failure) if arg.late && value_of_members(value) => {
                    checked.late = checked.late.take().or(Some(failure));
                }
                Err(failure) if arg.late => failures.push(ParamFailure { reason: None, ..*failure }),
                Err(failure) => failures.push(*failure),
            },
            None if arg.required && arg.default.is_none() && !spared(arg) => missing.push(arg.name.clone()),
            None => {
                if let Some(default) = &arg.default {
                    checked.values.insert(arg.name.clone(), default.clone());
                }
            }
        }
    }
    if !missing.is_empty() {
        return Err(ApiError::missing(missing));
    }
    let failures = if failures.is_empty() { judged } else { failures };
    if !failures.is_empty() {
        return Err(ApiError::invalid(failures));
    }
    Ok(checked)
}

/// Whether members of a value are checked, not the value as a whole.
fn value_of_members(value: &Value) -> bool {
    value.is_object() || value.as_array().is_some_and(Vec::is_empty)
}

/// Refuses parameters of the query and the body that an endpoint does not have.
///
/// # Errors
/// `rest_invalid_param` with every unknown name and the nearest known one.
pub fn refuse_unknown(set: &ArgSet, sources: &ArgSources<'_>) -> Result<(), ApiError> {
    let known = || set.args.iter().flat_map(|arg| std::iter::once(&arg.name).chain(&arg.also)).map(String::as_str);
    let given = sources.query.keys().map(String::as_str).chain(sources.body.names());
    let unknown = given.filter(|name| !name.starts_with('_') && *name != STRICT && !known().any(|arg| arg == *name));
    let failures: Vec<ParamFailure> = unknown
        .take(MOST_UNKNOWN)
        .map(|name| {
            let hint = nearest(name, known()).map(|near| format!("; did you mean {near}?")).unwrap_or(".".to_owned());
            let message = format!("{name} is no parameter of this endpoint{hint}");
            ParamFailure { name: name.to_owned(), message, reason: Some(UNKNOWN_PARAM), data: Value::Null }
        })
        .collect();
    if failures.is_empty() { Ok(()) } else { Err(ApiError::invalid(failures)) }
}

/// The parameter by which a request asks for [`refuse_unknown`].
pub const STRICT: &str = "strict";

/// Names that one refusal lists.
const MOST_UNKNOWN: usize = 20;

/// The given value with the one of the argument's names that was used.
fn given<'a>(arg: &'a Arg, sources: &'a ArgSources<'_>) -> Option<(&'a str, &'a Value)> {
    let mut names = std::iter::once(&arg.name).chain(&arg.also);
    let sent = names.find_map(|name| Some((name.as_str(), sources.get(name)?)));
    sent.or_else(|| Some((arg.name.as_str(), arg.checked_default.as_ref()?)))
}

fn takes_null(arg: &Arg, name: &str) -> bool {
    arg.accepts.iter().any(|t| t == "null") || arg.schema.check(name, &Value::Null).is_ok()
}

/// The empty value of an argument that has one type.
fn empty(arg: &Arg) -> Option<Value> {
    match arg.schema.types() {
        [Type::Boolean] => Some(Value::Bool(false)),
        [Type::Integer] => Some(Value::from(0)),
        [Type::String] => Some(Value::from("")),
        [Type::Array] => Some(Value::Array(Vec::new())),
        _ => None,
    }
}

/// The coerced value, a text to search without its markup; a failure calls the argument by the name that was used.
fn fit(arg: &Arg, name: &str, value: &Value) -> Result<Value, Box<ParamFailure>> {
    if let Some(Filter::Where(criteria)) = &arg.filter {
        let accepted = arg.schema.accept(name, criteria.expand_operators(value));
        return accepted.map_err(|failure| arg.report_failure(failure));
    }
    if arg.late
        && let Value::Object(members) = value
        && members.values().any(Value::is_null)
    {
        // A null removes what is stored: there is nothing to check.
        let (removed, set): (Map<_, _>, Map<_, _>) =
            members.clone().into_iter().partition(|(_, value)| value.is_null());
        let mut fitting = fit(arg, name, &Value::Object(set))?;
        if let Some(members) = fitting.as_object_mut() {
            members.extend(removed);
        }
        return Ok(fitting);
    }
    // Where each member is checked by itself, those of a list have numbers for names.
    if let Value::Array(list) = value
        && arg.late
        && !list.is_empty()
    {
        return fit(arg, name, &Value::Object(list_to_object(list.clone())));
    }
    if let (Some(ArgRole::Reassign), Value::String(heir)) = (arg.role, value)
        && !(matches!(heir.as_str(), "" | "false") || heir.trim().parse::<f64>().is_ok_and(f64::is_finite))
    {
        return Err(Box::new(Code::InvalidParam.failure_of(name)));
    }
    if arg.no_text && value.is_string() {
        return Err(arg.report_failure(Box::new(Code::InvalidParam.failure_of(name))));
    }
    if arg.unset.as_ref() == Some(value) {
        return Ok(value.clone());
    }
    let accepted = arg.accepts.iter().any(|t| match t.as_str() {
        "string" => value.is_string(),
        "null" => value.is_null(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        _ => false,
    });
    if accepted {
        if let Some(bounds) = &arg.accepted {
            bounds.check(name, value)?;
        }
        return Ok(value.clone());
    }
    if arg.aliases.is_empty() {
        arg.schema.check(name, value).map_err(|failure| arg.report_failure(failure))?;
        let coerced = arg.schema.coerce(name, value.clone())?;
        if let (Some(json), Value::String(text)) = (&arg.json, &coerced) {
            return json.read(name, text);
        }
        return Ok(match &coerced {
            Value::String(text) if arg.role == Some(ArgRole::Search) => {
                sanitize::text_field(text, arg.schema.escapes_text_fields()).into()
            }
            _ => coerced,
        });
    }
    let spelled = convert_spelling(value.clone(), &arg.aliases, SpellingDirection::ToApi);
    arg.schema.check(name, &spelled)?;
    let coerced = arg.schema.coerce(name, spelled)?;
    Ok(convert_spelling(coerced, &arg.aliases, SpellingDirection::ToStored))
}
