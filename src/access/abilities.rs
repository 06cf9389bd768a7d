//! The guard of abilities: the order in which a call is refused, and the input that it is made with.

use super::{Asking, Decision, Found};
use crate::error::Code;
use crate::model::Method;
use crate::registry::Registry;
use crate::registry::abilities::Ability;
use crate::request::args::Sources;
use serde_json::Value;

/// The ability that the path names.
pub fn named<'r>(registry: &'r Registry, sources: &Sources<'_>) -> Option<&'r Ability> {
    registry.abilities.get(sources.path.values().next_back()?.as_str()?)
}

/// The input of a call: the parameter `input`, or the default of its schema, coerced.
///
/// # Errors
/// The input does not fit, or there is one and the ability takes none: the code, and a sentence that says more.
pub fn input(ability: &Ability, method: Method, sources: &Sources<'_>) -> Result<Value, (Code, Option<String>)> {
    let given = match method {
        Method::Get | Method::Head | Method::Delete => sources.query.get("input"),
        _ => sources.body.get("input"),
    };
    let given = given.filter(|given| !given.is_null());
    let Some(schema) = &ability.input else {
        return given.map_or(Ok(Value::Null), |_| Err((Code::MissingParam, None)));
    };
    let value = given.or(schema.default_value()).cloned().unwrap_or_default();
    schema.check("input", &value).map_err(|failure| (Code::InvalidParam, Some(failure.message)))?;
    // What does not convert is used as it came.
    Ok(schema.coerce("input", value.clone()).unwrap_or(value))
}

/// Whether the path names an ability, the method is its own, the input fits and the caller has the capability, in this
/// order.
pub(super) fn run(asking: &Asking<'_>) -> Decision {
    let ability = named(asking.registry(), asking.sources).ok_or_else(|| asking.fail(Code::RecordInvalidId))?;
    let method = if asking.method == Method::Head { Method::Get } else { asking.method };
    if method != ability.method {
        let message = format!("This ability is run with {}.", ability.method.as_str());
        return Err(asking.fail(Code::NoRoute).with_message(message));
    }
    input(ability, method, asking.sources).map_err(|(code, message)| {
        let error = asking.fail(code);
        match message {
            Some(message) => error.with_message(message),
            None => error,
        }
    })?;
    match asking.scope.principal.can(&ability.declared.capability) {
        true => Ok(Found::default()),
        false => Err(asking.refuse(Code::Forbidden)),
    }
}
