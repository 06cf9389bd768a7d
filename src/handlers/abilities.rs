//! `ability.run`: runs a declared ability, by one of the behaviours of the table here.

use super::{Outcome, Work};
use crate::access;
use crate::access::abilities::{input, named};
use crate::config::declaration::{Fact, ResultSource};
use crate::error::{ApiError, Code};
use crate::model::Method;
use crate::registry::abilities::Ability;
use crate::registry::vocabulary::Named;
use crate::request::BodyParams;
use serde_json::{Map, Value, json};
use std::future::Future;
use std::pin::Pin;

/// A result, ready perhaps only after a request.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<Value, ApiError>> + 'a>>;

/// What makes the result of an ability from its input.
pub type Run = for<'a> fn(&'a Work<'a>, &'a Ability, &'a Value) -> Answering<'a>;

/// Every behaviour by the name that declarations use.
pub const ABILITIES: &[Named<Run>] = &[
    Named::new(
        "values",
        |work, ability, input| Box::pin(async move { Ok(chosen(work, ability, input, &Value::Null)) }),
        "Responds with the declared members (`result`): settings, facts of the site and fixed values.",
    ),
    Named::new(
        "request",
        |work, ability, input| Box::pin(request(work, ability, input)),
        "Sends the declared request (`request`) to a route in the caller's name, with the input as its arguments, and \
         responds with its response or with members of that (`result`). A refusal of the route is the ability's.",
    ),
];

/// Runs the ability that the path names.
///
/// # Errors
/// The input does not fit; what the behaviour refuses; a result that does not fit its schema.
pub async fn run(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let fail = |code: Code| failure(work, code);
    let sources = work.sources();
    let ability = named(&work.scope.registry, &sources).ok_or_else(|| fail(Code::RecordInvalidId))?;
    let input = input(ability, work.allowed.method(), &sources).map_err(|(code, _)| fail(code))?;
    let behaviour = ABILITIES.get(ability.run.0).ok_or_else(|| ApiError::new(Code::Internal))?;
    let result = (behaviour.run)(work, ability, &input).await?;
    if let Some(failure) = ability.output.as_ref().and_then(|schema| schema.check("output", &result).err()) {
        return Err(fail(Code::Internal).with_message(failure.message));
    }
    Ok(Outcome { private: true, ..Outcome::ok(result) })
}

/// A failure with the code that the resource has for it.
fn failure(work: &Work<'_>, code: Code) -> ApiError {
    work.resource().map_or_else(|error| error, |resource| access::failure(resource, code))
}

/// The response to the declared request, or the members of it that the declaration names.
async fn request(work: &Work<'_>, ability: &Ability, input: &Value) -> Result<Value, ApiError> {
    let (method, template) = ability.request.as_ref().ok_or_else(|| ApiError::new(Code::Internal))?;
    let text = |name: &str| match input.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let path = template.filled(text).ok_or_else(|| {
        let names: Vec<&str> = template.members().collect();
        let message = format!("input needs {} as a number or a name.", names.join(", "));
        failure(work, Code::InvalidParam).with_message(message)
    })?;
    let in_path = |name: &str| template.members().any(|member| member == name);
    let selects = |name: &str| ability.declared.select.as_deref() == Some(name);
    let members = input.as_object().into_iter().flatten().filter(|(name, _)| !in_path(name) && !selects(name));
    let mut args: Map<String, Value> = members.map(|(name, value)| (name.clone(), value.clone())).collect();
    args.extend(ability.declared.request.iter().flat_map(|request| request.args.clone()));
    let (query, body) = match method {
        Method::Get | Method::Delete => (Value::Object(args), BodyParams::None),
        _ => (json!({}), BodyParams::Json(args)),
    };
    let part = work.ask(*method, &path, query, body).await;
    if part.status >= 400 {
        return Err(refusal(work, part.status, &part.body));
    }
    match ability.declared.result.is_empty() {
        true => Ok(without_links(part.body)),
        false => Ok(chosen(work, ability, input, &part.body)),
    }
}

/// A document, or each of a list, without its links: they are requests, which a caller of abilities does not send.
fn without_links(mut body: Value) -> Value {
    match &mut body {
        Value::Object(map) => {
            map.shift_remove("_links");
        }
        Value::Array(list) => list.iter_mut().filter_map(Value::as_object_mut).for_each(|map| {
            map.shift_remove("_links");
        }),
        _ => {}
    }
    body
}

/// The error of an inner request as the response to the outer one.
fn refusal(work: &Work<'_>, status: u16, body: &Value) -> ApiError {
    let code = body["code"].as_str().and_then(|code| work.scope.registry.declaration.code(code));
    let error = ApiError::new(code.unwrap_or(Code::Internal)).with_status(status);
    let error = match body["message"].as_str() {
        Some(message) => error.with_message(message),
        None => error,
    };
    let data = body["data"].as_object().into_iter().flatten().filter(|(key, _)| *key != "status");
    data.fold(error, |error, (key, value)| error.with(key, value.clone()))
}

/// The declared members of the result, or those of them that the input selects.
fn chosen(work: &Work<'_>, ability: &Ability, input: &Value, response: &Value) -> Value {
    let wanted = ability.declared.select.as_ref().and_then(|select| input.get(select)).and_then(Value::as_array);
    let wanted = wanted.filter(|wanted| !wanted.is_empty());
    let sources = ability.declared.result.iter();
    let sources = sources.filter(|(name, _)| wanted.is_none_or(|wanted| wanted.iter().any(|one| one == name.as_str())));
    Value::Object(sources.map(|(name, source)| (name.clone(), value(work, source, response))).collect())
}

fn value(work: &Work<'_>, source: &ResultSource, response: &Value) -> Value {
    let (registry, settings) = (&work.scope.registry, &work.scope.settings);
    let ResultSource { member, setting, fact, value } = source;
    if let Some(member) = member {
        return response.pointer(&format!("/{}", member.replace('.', "/"))).cloned().unwrap_or_default();
    }
    if let Some(setting) = setting {
        return settings.values.get(setting).cloned().unwrap_or_default();
    }
    match fact {
        Some(Fact::SiteUrl) => json!(registry.site.url),
        Some(Fact::RestUrl) => json!(registry.site.rest_url),
        Some(Fact::LanguageTag) => json!(settings.text("language").replace('_', "-")),
        Some(Fact::Program) => json!(env!("CARGO_PKG_NAME")),
        Some(Fact::Version) => json!(env!("CARGO_PKG_VERSION")),
        None => value.clone().unwrap_or_default(),
    }
}
