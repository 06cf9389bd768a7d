//! An endpoint and a call: arguments checked, the caller authorized, the handler run, `Allow` computed.

use super::CallOutcome;
use super::allow::AllowContext;
use super::password::PasswordAttempt;
use super::routing::RoutedCall;
use crate::access::unlock::RecordPassword;
use crate::access::{self, Authorization, GuardInput, LoadedRows};
use crate::behaviours::{BLOCKS, READS, check_argument};
use crate::error::{ApiError, Code, status};
use crate::families;
use crate::features::HANDLERS;
use crate::fields;
use crate::handlers::{Outcome, Work};
use crate::model::Method;
use crate::records::{self, Record};
use crate::registry::args::Arg;
use crate::registry::resource::{Property, surrogate_keys};
use crate::registry::vocabulary::HandlerRole;
use crate::render::{Batch, View};
use crate::request::args::{self, ArgSources, ArgValues, RemainingCheck};
use cms_schema::ParamFailure;
use cms_storage::plan::DbValue;
use cms_text::dress::UniqueNames;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

/// Parameters that add to the documents of a response, or put something around them.
const SHAPING: [&str; 2] = ["_envelope", "_highlight"];

/// A call of an endpoint.
pub(super) struct EndpointCall<'a> {
    found: &'a RoutedCall<'a>,
    sources: ArgSources<'a>,
    password: Option<&'a PasswordAttempt<'a>>,
}

impl<'a> EndpointCall<'a> {
    pub(super) fn new(found: &'a RoutedCall<'a>, password: Option<&'a PasswordAttempt<'a>>) -> EndpointCall<'a> {
        EndpointCall { found, sources: found.sources(), password }
    }

    fn given(&self) -> Option<&'a RecordPassword<'a>> {
        self.password.map(|attempt| &attempt.given)
    }

    fn reads(&self) -> bool {
        matches!(self.found.call.method, Method::Get | Method::Head)
    }

    /// The arguments, checked and coerced: 400.
    pub(super) fn check(&self) -> Result<ArgValues, ApiError> {
        self.names_within()?;
        let resource = self.found.resource();
        let judge = |arg: &Arg, value: &Value| match arg.fetched {
            true => {
                let fetches = self.found.engine.shared.fetches(self.found.scope, &arg.name, value.as_str()?);
                Some(fetches.map(|()| RemainingCheck::Schema))
            }
            false if arg.current && self.unchanged(arg, value) => Some(Ok(RemainingCheck::Nothing)),
            false if arg.theme_template => self.names_template(arg, value),
            false if arg.fields => resource.map(|resource| {
                let checked = fields::check(self.found.scope, resource, &arg.name, value);
                checked.map(|()| RemainingCheck::Nothing)
            }),
            false => check_argument(self.found.scope, resource, arg, value)
                .map(|judged| judged.map(|()| RemainingCheck::Schema)),
        };
        let set = &self.found.endpoint.args;
        let asked = self.sources.query.get(args::STRICT).is_some_and(|value| value != "false" && value != "0");
        if asked || self.found.scope.registry.declaration.dialect.refuse_unknown_parameters {
            args::refuse_unknown(set, &self.sources)?;
        }
        // Arguments that no document shows, such as a password, cannot be in an import.
        let imports = self.found.scope.imported.is_some();
        let shown =
            |arg: &Arg| resource.and_then(|resource| resource.property(&arg.name)).is_none_or(Property::is_shown);
        args::check(set, &self.sources, &judge, &|arg| imports && !shown(arg))
    }

    /// Whether the item that the path names has this value already.
    fn unchanged(&self, arg: &Arg, value: &Value) -> bool {
        let has = || {
            let resource = self.found.resource()?;
            let key = self.sources.path.get(&*resource.key)?.as_str()?.parse().ok()?;
            let column = resource.property(&arg.name)?.column.as_deref()?;
            let snapshot = self.found.scope.snapshot().ok()?;
            let row = records::find(&*snapshot, resource, &DbValue::Int(key)).ok()??;
            Some(*value == *Record { resource, row: &row }.text(column))
        };
        has().unwrap_or(false)
    }

    /// Whether the active theme has this template; none is always there, and so is the one that the item has.
    fn names_template(&self, arg: &Arg, value: &Value) -> Option<Result<RemainingCheck, Box<ParamFailure>>> {
        let wanted = value.as_str()?;
        let themes = &self.found.scope.registry.declaration.themes;
        let known = themes.values().filter(|theme| theme.active).any(|theme| theme.templates.contains_key(wanted));
        Some(match wanted.is_empty() || known || self.unchanged(arg, value) {
            true => Ok(RemainingCheck::Schema),
            false => Err(Box::new(ParamFailure {
                name: arg.name.clone(),
                message: "The active theme has no such template.".into(),
                reason: Some(Code::InvalidParam.as_str()),
                data: Value::Null,
            })),
        })
    }

    /// The document of an item is made from other rows, too. Where each read costs a round trip, they are sent with the
    /// first one. Parts of another request are read together anyway.
    pub(super) fn prefetch(&self, args: &ArgValues) {
        let RoutedCall { engine, scope, endpoint, .. } = self.found;
        let updates = endpoint.role == Some(HandlerRole::Update);
        let gets = endpoint.role == Some(HandlerRole::Get) && self.reads();
        let item = scope.depth == 0 && (gets || updates);
        let Some(resource) = self.found.resource().filter(|resource| item && !resource.key_is_text) else { return };
        let key = self.sources.path.get(&*resource.key).and_then(Value::as_str).and_then(|key| key.parse().ok());
        let (Some(id), Ok(snapshot)) = (key, scope.snapshot()) else { return };
        if !snapshot.can_prefetch() {
            return;
        }
        if updates {
            return families::ahead_of_update(scope, resource, &*snapshot, id, &|name| args.explicit(name).is_some());
        }
        let view = View {
            context: args.context(&endpoint.args),
            fields: &engine.fields(Some(resource), |name| self.sources.get(name)),
            password: self.given(),
            links: true,
            readable: true,
            reads: READS,
            blocks: BLOCKS,
            excerpt_words: None,
            unique: &UniqueNames::default(),
        };
        Batch::prefetch(&*snapshot, scope, resource, &[id], &view);
    }

    /// Whether the caller may, and what the path names: 401, 403, 404.
    pub(super) fn authorize(&self, args: ArgValues, loaded: &LoadedRows) -> Result<Authorization, ApiError> {
        let RoutedCall { scope, call, endpoint, matched, .. } = self.found;
        let (sources, given) = (&self.sources, self.given());
        // Later refusals have reasons of their own.
        scope.principal.missing.take();
        let (route, method, explains) = (matched.route, call.method, true);
        let input = GuardInput { scope, route, endpoint, method, args: &&args, sources, loaded, given, explains };
        access::allow(&input, args.clone())
    }

    /// Counts the request against the declared limits: 429. Reads inside another request are part of that.
    pub(super) fn limit(&self) -> Result<(), ApiError> {
        let RoutedCall { engine, scope, endpoint, .. } = self.found;
        if scope.depth > 0 && self.reads() {
            return Ok(());
        }
        engine.identity().throttle().request(scope, &endpoint.limits)
    }

    /// Whether the endpoint's collection can be read as lines.
    ///
    /// # Errors
    /// The caller may not.
    fn exports(&self) -> Result<bool, ApiError> {
        let RoutedCall { scope, endpoint, .. } = self.found;
        match &endpoint.export {
            None => Ok(false),
            Some(capability) if scope.principal.can(capability) => Ok(true),
            Some(_) => {
                let message = "You may not export this collection. Leave out application/x-ndjson of Accept to read it page by page.";
                Err(scope.principal.refuse(Code::Forbidden).with_message(message))
            }
        }
    }

    /// Runs the endpoint's handler.
    pub(super) async fn handle(&self, allowed: &Authorization) -> Result<Outcome, ApiError> {
        let RoutedCall { engine, scope, call, matched, endpoint, body } = self.found;
        if let Some(missing) = allowed.missing() {
            return Err(missing.clone());
        }
        let lines = call.lines && self.exports()?;
        let fields = engine.fields(self.found.resource(), |name| self.sources.get(name));
        let unshaped = || SHAPING.iter().all(|name| self.sources.get(name).is_none());
        let work = Work {
            scope,
            route: matched.route,
            endpoint,
            allowed,
            fields: &fields,
            query: &call.query,
            raw_query: &call.raw_query,
            body,
            path: &call.path,
            expects: &call.expects,
            captures: &matched.captures,
            given: self.given(),
            shared: &engine.shared,
            lines,
            custom_fields: &call.custom_fields,
            dispatch: *engine,
            as_text: call.text && call.method == Method::Get && unshaped(),
            unique: UniqueNames::of_documents(scope.registry.declaration.dialect.numbers_across_documents),
            committed: AtomicBool::new(false),
        };
        let done = HANDLERS[endpoint.handler.0].run.run(&work).await;
        let mut outcome = done.map_err(|error| work.failed(error))?;
        outcome.private |= self.password.is_some() || scope.preview.is_some();
        if scope.preview.is_some() {
            // They are those of what is stored.
            (outcome.version, outcome.modified) = (None, None);
        }
        self.say_how_long_it_keeps(&mut outcome);
        Ok(outcome)
    }

    /// The declared `Cache-Control` of what everybody may read, and the keys by which caches can invalidate it.
    fn say_how_long_it_keeps(&self, outcome: &mut Outcome) {
        let read = self.reads() && outcome.status == status::OK;
        if let Some((lifetime, keys)) = &self.found.endpoint.cache
            && read
            && !(outcome.private || self.found.scope.principal.is_logged_in())
        {
            outcome.headers.push(("Cache-Control".into(), lifetime.clone()));
            let shown = keys.clone().map(|header| {
                let key = self.found.matched.captures.values().next_back().map(text_of_key);
                let keys = self.found.resource().map(|resource| surrogate_keys(resource, key.as_deref()).join(" "));
                (header, keys.unwrap_or_else(|| "site".to_owned()))
            });
            outcome.headers.extend(shown);
        }
    }

    /// Lists of names that every route takes have no declaration of their own to bound them.
    fn names_within(&self) -> Result<(), ApiError> {
        let most = usize::try_from(self.found.engine.registry.declaration.bounds.max_items).unwrap_or(usize::MAX);
        for name in ["_fields", "_embed"] {
            let names = match self.sources.get(name) {
                Some(Value::String(text)) => text.split(',').count(),
                Some(Value::Array(list)) => list.len(),
                _ => 0,
            };
            if names > most {
                return Err(ApiError::invalid_one(name, format!("{name} takes at most {most} names.")));
            }
        }
        Ok(())
    }

    /// A refusal for want of a capability, with the name of that.
    fn named(&self, error: ApiError) -> ApiError {
        let dialect = &self.found.engine.registry.declaration.dialect;
        let missing = self.found.scope.principal.missing.take();
        match missing
            .filter(|_| dialect.name_missing_capability && error.is_denial() && error.status() == status::FORBIDDEN)
        {
            Some(capability) => error.lacking(&capability),
            None => error,
        }
    }

    /// The outcome of the call, with the methods that the caller may use now. Reports the outcome of a password.
    pub(super) fn conclude(&self, mut result: Result<Outcome, ApiError>, loaded: &LoadedRows) -> CallOutcome {
        let RoutedCall { engine, scope, call, matched, endpoint, body } = self.found;
        result = result.map_err(|error| self.named(error));
        // A write may have changed what the caller may do, or taken the target away.
        let written = result.as_mut().ok().and_then(|outcome| outcome.written.take());
        let edited = result.as_ref().is_ok_and(|outcome| outcome.edited);
        let fresh = written
            .map_or_else(LoadedRows::default, |(index, row)| LoadedRows::with(&engine.registry.resources[index], row));
        let loaded = if self.reads() { loaded } else { &fresh };
        let granted = Some(*endpoint).filter(|_| self.reads() && result.is_ok());
        let allow = |sources: &ArgSources<'_>| {
            let asked = AllowContext { scope, matched, method: call.method, sources, given: self.given() };
            asked.allow(Some(endpoint), granted, loaded)
        };
        // A written record is shown as it is edited; a caller who may not read so has only written.
        let allow = if edited {
            let mut query = call.query.clone();
            query.insert("context".into(), "edit".into());
            allow(&ArgSources { path: &matched.captures, body, query: &query })
        } else {
            allow(&self.sources)
        };
        engine.report_password(scope, self.password);
        CallOutcome { result, allow, route: Some(matched.index), preview: None }
    }
}

/// A value of a path as text.
fn text_of_key(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
