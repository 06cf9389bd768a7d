//! `ability.run`: runs a declared ability, by one of the behaviours of the table here.

pub mod guard;

use self::guard::{input, named};
use crate::access::{self, drafts};
use crate::error::{ApiError, Code, status};
use crate::handlers::{Handler, Outcome, TransactionScope, Work, handler};
use crate::model::Method;
use crate::registry::abilities::{Ability, AbilityInput, RequestTemplate};
use crate::registry::operations::{ETAG, FIELDS};
use crate::registry::templates::TemplateReference;
use crate::registry::vocabulary::VIRTUAL;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind};
use crate::request::BodyParams;
use crate::request::call::Call;
use crate::request::conditional::Preconditions;
use crate::scope::Scope;
use cms_declaration::{Fact, ResultSource};
use serde_json::{Map, Value, json};
use std::future::Future;
use std::pin::Pin;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] =
    &[handler("ability.run", |w| Box::pin(run(w)), "Runs a declared ability and responds with its result.")
        .role(HandlerRole::RunAbility)
        .fails(&[
            Code::RecordInvalidId,
            Code::NoRoute,
            Code::Forbidden,
            Code::MissingParam,
            Code::InvalidParam,
            Code::Internal,
            Code::AlreadyTrashed,
            Code::CannotCreate,
            Code::Cancelled,
        ])
        .responds(ResponseKind::Json(status::OK, "{}"))
        .on(VIRTUAL)];

/// A result, ready perhaps only after a request.
type AbilityFuture<'a> = Pin<Box<dyn Future<Output = Result<AbilityResult, ApiError>> + 'a>>;

/// The result of an ability.
#[derive(Debug, Default)]
pub struct AbilityResult {
    value: Value,
    /// See [`Outcome::version`].
    version: Option<i64>,
    /// The change waits for a review, and the value is that.
    waits: bool,
}

/// A function that makes the result of an ability from its input.
pub type AbilityHandler = for<'a> fn(&'a Work<'a>, &'a Ability, &'a Value) -> AbilityFuture<'a>;

/// Every behaviour by the name that declarations use.
pub const ABILITIES: &[BehaviourEntry<AbilityHandler>] = &[
    BehaviourEntry::new(
        "values",
        |work, ability, input| {
            Box::pin(async move {
                let value = chosen(work, ability, input, &mut |_| Value::Null);
                Ok(AbilityResult { value, ..AbilityResult::default() })
            })
        },
        "Responds with the declared members (`result`): settings, facts of the site and fixed values.",
    ),
    BehaviourEntry::new(
        "request",
        |work, ability, input| Box::pin(request(work, ability, input)),
        "Sends the declared request (`request`) to a route in the caller's name, with the input as its arguments, or \
         several one after the other (`steps`), and responds with the last response or with members of them (`result`). \
         A refusal of a route is the ability's.",
    ),
];

/// Runs the ability that the path names.
///
/// # Errors
/// The input does not fit; what the behaviour refuses; a result that does not fit its schema.
pub async fn run(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let fail = |code: Code| failure(work, code);
    let sources = work.sources();
    let ability = named(work.scope, &sources).ok_or_else(|| fail(Code::RecordInvalidId))?;
    let input = input(ability, work.allowed.method(), &sources).map_err(|(code, _)| fail(code))?;
    let behaviour = ABILITIES.get(ability.run.0).ok_or_else(|| ApiError::new(Code::Internal))?;
    let AbilityResult { value, version, waits } = (behaviour.run)(work, ability, &input).await?;
    if waits {
        return Ok(Outcome { status: status::ACCEPTED, private: true, ..Outcome::ok(value) });
    }
    if let Some(failure) = ability.output.as_ref().and_then(|schema| schema.check("output", &value).err()) {
        return Err(fail(Code::Internal).with_message(failure.message));
    }
    Ok(Outcome { private: true, version, ..Outcome::ok(value) })
}

/// A failure with the code that the resource has for it.
fn failure(work: &Work<'_>, code: Code) -> ApiError {
    work.resource().map_or_else(|error| error, |resource| access::failure(resource, code))
}

/// The response to the declared request, or to the last of several, or the members of them that the declaration names.
async fn request(work: &Work<'_>, ability: &Ability, input: &Value) -> Result<AbilityResult, ApiError> {
    let scope = work.scope.clone();
    if !ability.declared.atomic {
        return sent(work, scope, ability, input).await;
    }
    let open = TransactionScope::begin(work, scope).await?;
    let done = sent(work, open.scope.clone(), ability, input).await?;
    open.finish(work).await?;
    Ok(done)
}

/// Sends the requests one after the other. The first that is refused ends them.
async fn sent(work: &Work<'_>, mut scope: Scope, ability: &Ability, input: &Value) -> Result<AbilityResult, ApiError> {
    scope.depth += 1;
    let mut known = input.as_object().cloned().unwrap_or_default();
    let (mut last, mut version, mut written) = (None, None, Vec::new());
    // The caller's conditions concern the first row that is written.
    let mut expects = Some(work.expects);
    for (at, request) in ability.requests.iter().enumerate() {
        if let Some(progress) = &scope.progress
            && !progress.begin_step(at, ability.requests.len(), &request.name)
        {
            return Err(at_step(ApiError::new(Code::Cancelled), ability, request, &written));
        }
        if request.when.as_ref().is_some_and(|when| !holds(when.value(&known))) {
            continue;
        }
        let mut call = call(request, input, &known).map_err(|message| {
            let error = failure(work, Code::InvalidParam).with_message(message);
            at_step(error, ability, request, &written)
        })?;
        let writes = request.method != Method::Get;
        if let Some(expects) = expects.take_if(|_| writes)
            && request.if_match.is_none()
        {
            call.expects = expects.clone();
        }
        let part = work.dispatch.part(&scope, &call, ability.declared.atomic && writes).await;
        if status::is_error(part.status) {
            let error = work.refusal_of(&part);
            return Err(at_step(error, ability, request, &written));
        }
        if part.status == status::ACCEPTED && drafts::only_drafts(&scope) {
            return Ok(AbilityResult { value: without_links(part.body), waits: true, ..AbilityResult::default() });
        }
        written.extend(writes.then_some(request.name.as_str()));
        version = part.version;
        let mut body = part.body;
        if let (Some(version), Some(map)) = (version, body.as_object_mut()) {
            map.insert(ETAG.into(), json!(format!("\"{version}\"")));
        }
        known.insert(request.name.clone(), body);
        last = Some(request);
    }
    let last = last.map(|request| request.name.clone()).unwrap_or_default();
    if ability.declared.result.is_empty() {
        let body = known.remove(&last).unwrap_or_default();
        return Ok(AbilityResult { value: plain(body, ability, input), version, waits: false });
    }
    let value = chosen(work, ability, input, &mut |source| {
        let response = known.get(source.step.as_ref().unwrap_or(&last));
        let member = source.member.as_deref().unwrap_or_default().replace('.', "/");
        response.and_then(|response| response.pointer(&format!("/{member}"))).cloned().unwrap_or_default()
    });
    Ok(AbilityResult { value, version, waits: false })
}

/// Whether a step is done where this decides.
fn holds(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(Value::Bool(true) | Value::Number(_)) => true,
    }
}

/// A request with what it names filled in.
///
/// # Errors
/// The path needs a number or a name that is not there: a sentence.
fn call(request: &RequestTemplate, input: &Value, known: &Map<String, Value>) -> Result<Call, String> {
    let path = request.path.filled(|name| TemplateReference::parse(name)?.text(known));
    let path = path.ok_or_else(|| {
        let names: Vec<&str> = request.path.members().collect();
        format!("input needs {} as a number or a name.", names.join(", "))
    })?;
    let apart = |name: &String| request.apart.as_ref().is_none_or(|apart| apart.contains(name));
    let members = input.as_object().into_iter().flatten().filter(|(name, _)| !apart(name));
    let mut args: Map<String, Value> = members.map(|(name, value)| (name.clone(), value.clone())).collect();
    args.extend(request.args.iter().filter_map(|(name, template)| Some((name.clone(), template.filled(known)?))));
    let (query, body) = match request.method {
        Method::Get | Method::Delete => (args, BodyParams::None),
        _ => (Map::new(), BodyParams::Json(args)),
    };
    let mut call = Call::internal(request.method, &path, query, body);
    if let Some(Value::String(tag)) = request.if_match.as_ref().and_then(|tag| tag.filled(known)) {
        call.expects = Preconditions::tagged(&tag);
    }
    Ok(call)
}

/// An error of one of several steps: which, and which before it have written something that stays.
fn at_step(error: ApiError, ability: &Ability, request: &RequestTemplate, written: &[&str]) -> ApiError {
    if request.name.is_empty() {
        return error;
    }
    let stays = if ability.declared.atomic { &[] } else { written };
    error.with("step", json!(request.name)).with("written", json!(stays))
}

/// A whole response as a result: without its links, and with its entity tag where the ability promises it and the
/// input does not leave it out.
fn plain(body: Value, ability: &Ability, input: &Value) -> Value {
    let mut body = without_links(body);
    let wanted = match &input[FIELDS] {
        Value::Array(names) => names.is_empty() || names.iter().any(|name| name == ETAG),
        Value::String(names) => names.is_empty() || names.split(',').any(|name| name.trim() == ETAG),
        _ => true,
    };
    let of_resource = matches!(ability.input, AbilityInput::Arguments(_));
    if let Some(map) = body.as_object_mut().filter(|_| !(of_resource && wanted)) {
        map.shift_remove(ETAG);
    }
    body
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

/// The declared members of the result, or those of them that the input selects.
fn chosen(work: &Work<'_>, ability: &Ability, input: &Value, member: &mut dyn FnMut(&ResultSource) -> Value) -> Value {
    let wanted = ability.declared.select.as_ref().and_then(|select| input.get(select)).and_then(Value::as_array);
    let wanted = wanted.filter(|wanted| !wanted.is_empty());
    let sources = ability.declared.result.iter();
    let sources = sources.filter(|(name, _)| wanted.is_none_or(|wanted| wanted.iter().any(|one| one == name.as_str())));
    let values = sources.map(|(name, source)| {
        let value = if source.member.is_some() { member(source) } else { fact(work, source) };
        (name.clone(), value)
    });
    Value::Object(values.collect())
}

/// The value of a source that names no member of a response.
fn fact(work: &Work<'_>, source: &ResultSource) -> Value {
    let (registry, settings) = (&work.scope.registry, &work.scope.settings);
    if let Some(setting) = &source.setting {
        return settings.values.get(setting).cloned().unwrap_or_default();
    }
    match source.fact {
        Some(Fact::SiteUrl) => json!(registry.site.url),
        Some(Fact::RestUrl) => json!(registry.site.rest_url),
        Some(Fact::LanguageTag) => json!(settings.language_tag()),
        Some(Fact::Program) => json!(env!("CARGO_PKG_NAME")),
        Some(Fact::Version) => json!(env!("CARGO_PKG_VERSION")),
        None => source.value.clone().unwrap_or_default(),
    }
}
