//! The guard of abilities: the order in which a call is refused, and the input that it is made with.

use crate::access::{Decision, Guard, GuardInput, GuardRows, guard};
use crate::error::Code;
use crate::model::Method;
use crate::registry::abilities::{Ability, AbilityInput};
use crate::registry::vocabulary::BehaviourEntry;
use crate::registry::vocabulary::VIRTUAL;
use crate::request::args::ArgSources;
use crate::scope::Scope;
use serde_json::{Map, Value};

/// Its rows of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] = &[guard(
    "ability.run",
    run,
    "Allows callers who hold the ability's capability; before that, method and input have to be what it takes.",
)
.on(VIRTUAL)];

/// The ability that the path names, if the request may run it.
pub fn named<'s>(scope: &'s Scope, sources: &ArgSources<'_>) -> Option<&'s Ability> {
    let ability = scope.registry.abilities.get(sources.path.values().next_back()?.as_str()?);
    ability.filter(|ability| ability.listed || scope.tool)
}

/// The input of a call: the parameter `input`, or the default of its schema, coerced.
///
/// # Errors
/// The input does not fit, or there is one and the ability takes none: the code, and a sentence that says more.
pub fn input(ability: &Ability, method: Method, sources: &ArgSources<'_>) -> Result<Value, (Code, Option<String>)> {
    let given = match method {
        Method::Get | Method::Head | Method::Delete => sources.query.get("input"),
        _ => sources.body.get("input"),
    };
    let given = given.filter(|given| !given.is_null());
    let schema = match &ability.input {
        AbilityInput::Nothing => return given.map_or(Ok(Value::Null), |_| Err((Code::MissingParam, None))),
        AbilityInput::Arguments(names) => {
            return arguments(names, given).map_err(|text| (Code::InvalidParam, Some(text)));
        }
        AbilityInput::Fitting(schema) => schema,
    };
    let value = given.or(schema.default_value()).cloned().unwrap_or_default();
    schema.check("input", &value).map_err(|failure| (Code::InvalidParam, Some(failure.message)))?;
    // A value that does not convert is used as it came.
    Ok(schema.coerce("input", value.clone()).unwrap_or(value))
}

/// An object that names nothing but arguments.
fn arguments(names: &[String], given: Option<&Value>) -> Result<Value, String> {
    let Some(given) = given else { return Ok(Value::Object(Map::new())) };
    let given = given.as_object().ok_or("input is not of type object.")?;
    match given.keys().find(|name| !names.contains(name)) {
        Some(unknown) => Err(format!("{unknown} is not a valid property of input.")),
        None => Ok(Value::Object(given.clone())),
    }
}

/// Whether the path names an ability, the method is its own, the input fits and the caller has the capability, in this
/// order.
pub fn run(guard_input: &GuardInput<'_>) -> Decision {
    let ability =
        named(guard_input.scope, guard_input.sources).ok_or_else(|| guard_input.fail(Code::RecordInvalidId))?;
    let method = if guard_input.method == Method::Head { Method::Get } else { guard_input.method };
    if method != ability.method {
        let message = format!("This ability is run with {}.", ability.method.as_str());
        return Err(guard_input.fail(Code::NoRoute).with_message(message));
    }
    input(ability, method, guard_input.sources).map_err(|(code, message)| {
        let error = guard_input.fail(code);
        match message {
            Some(message) => error.with_message(message),
            None => error,
        }
    })?;
    let caller = &guard_input.scope.principal;
    // The route of the request knows its resource; what sends none belongs to no resource.
    let limited = || caller.limits.as_ref().is_some_and(|limits| !limits.resources.is_empty());
    match caller.can(&ability.declared.capability) && (!ability.requests.is_empty() || !limited()) {
        true => Ok(GuardRows::default()),
        false => Err(guard_input.refuse(Code::Forbidden)),
    }
}
