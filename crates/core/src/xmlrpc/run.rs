//! Runs calls: parameters checked, the caller identified, steps carried out as requests inside the engine.
//!
//! It decides nothing about permissions or validity: the routes do. Faults are made of their errors.

use super::globals;
use super::params::{checked, custom_field, whole};
use super::shape::Bindings;
use super::value::{Value, bytes, elements, from_json, json_bytes, to_json};
use super::wire::{self, CallLimits, MethodCall};
use super::{CompiledMethods, CompiledStep, Param, ParamKind, RouteRequest, Rpc, RpcMethod, StepAction};
use crate::access::attempts::AttemptLimit;
use crate::access::audit::Event;
use crate::access::drafts;
use crate::access::identity;
use crate::access::passwords::LoginContext;
use crate::access::policy;
use crate::access::tokens::is_token;
use crate::engine::Engine;
use crate::engine::embed;
use crate::error::{ApiError, Code, XmlRpcFault, status};
use crate::families::custom_fields;
use crate::handlers::{RenderedJson, proposals};
use crate::model::{Request, Upload, UploadFile};
use crate::records::{self, eq};
use crate::registry::Registry;
use crate::request::call::Call;
use crate::request::{BodyParams, holds_nul};
use crate::scope::{Principal, Scope};
use cms_storage::plan::DbValue;
use cms_text::slug::title_key;
use indexmap::IndexMap;
use minijinja::value::ValueKind;
use serde_json::Map;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

/// A call that ends in a fault.
enum CallFailure {
    Fault {
        code: i64,
        message: String,
    },
    /// The fault depends on the method.
    Error(ApiError),
}

impl From<XmlRpcFault> for CallFailure {
    fn from(fault: XmlRpcFault) -> CallFailure {
        let (code, message) = fault.parts();
        CallFailure::Fault { code, message: message.to_owned() }
    }
}

impl From<ApiError> for CallFailure {
    fn from(error: ApiError) -> CallFailure {
        CallFailure::Error(error)
    }
}

/// An expression met a value of a type that it cannot use: the client sent something odd.
impl From<minijinja::Error> for CallFailure {
    fn from(error: minijinja::Error) -> CallFailure {
        if super::words::is_too_long(&error) {
            return XmlRpcFault::TooLarge.into();
        }
        tracing::debug!("an XML-RPC expression failed: {error}");
        XmlRpcFault::InvalidParams.into()
    }
}

/// The body of the response to a posted call; faults are responses, too.
pub async fn answer(rpc: &Rpc, engine: &Engine, request: &Request) -> Vec<u8> {
    let declared = &engine.registry().declaration.xmlrpc;
    let outcome = async {
        if request.body.len() > declared.max_body.as_usize() {
            return Err(CallFailure::from(XmlRpcFault::TooLarge));
        }
        let limits = CallLimits { depth: declared.max_depth, values: declared.max_values, list: declared.max_list };
        let called = wire::read(&request.body, limits)?;
        let mut scope = engine.anonymous(request)?;
        // Requests inside this one are reduced and finished here.
        scope.depth += 1;
        let compiled = rpc.compiled(engine.registry());
        let session = Session { compiled, engine, scope, proven: RefCell::default(), failed: Cell::new(false) };
        session.call(called).await
    };
    match outcome.await {
        Ok(value) => wire::answer(&value),
        Err(failure) => {
            let (code, message) = failure.parts(engine.registry(), &IndexMap::new());
            wire::fault(code, &message)
        }
    }
}

impl CallFailure {
    /// Number and sentence. An error has the number that is declared for its code or its status, for the method or for
    /// all, or else its status.
    fn parts(self, registry: &Registry, faults: &IndexMap<String, i64>) -> (i64, String) {
        let error = match self {
            CallFailure::Fault { code, message } => return (code, message),
            CallFailure::Error(error) => error,
        };
        let status = error.status().to_string();
        let by = |declared: &IndexMap<String, i64>| {
            [error.code().as_str(), &status].iter().find_map(|key| declared.get(*key).copied())
        };
        let code = by(faults).or_else(|| by(&registry.declaration.xmlrpc.faults));
        (code.unwrap_or_else(|| i64::from(error.status())), error.message().to_owned())
    }
}

/// One HTTP request: its calls share who was proven to be calling, and the end of all patience.
struct Session<'a> {
    compiled: &'a CompiledMethods,
    engine: &'a Engine,
    scope: Scope,
    /// The credentials that were right last, with whose they are.
    proven: RefCell<Option<(String, String, Principal)>>,
    /// A login has failed; no further call is authenticated.
    failed: Cell<bool>,
}

type RunFuture<'f, T> = Pin<Box<dyn Future<Output = Result<T, CallFailure>> + 'f>>;

impl Session<'_> {
    async fn call(&self, called: MethodCall) -> Result<Value, CallFailure> {
        let method = self.method(&called.method)?;
        if let Some(many) = &method.many {
            let (names, _) = self.begin(method, called.params).await?;
            return self.many(elements(&many.eval(names.value())?)).await;
        }
        let value = self.run(method, called.params).await?;
        self.fits(bytes(&value))?;
        Ok(value)
    }

    fn method(&self, name: &str) -> Result<&RpcMethod, CallFailure> {
        self.compiled.methods.get(name).ok_or_else(|| CallFailure::from(XmlRpcFault::UnknownMethod))
    }

    /// The result of a method.
    async fn run(&self, method: &RpcMethod, params: Vec<Value>) -> Result<Value, CallFailure> {
        let result = async {
            let (names, scope) = self.begin(method, params).await?;
            let names = self.steps(&scope, &method.steps, names).await?;
            Ok(method.result.eval(&names)?)
        };
        result.await.map_err(|failure: CallFailure| {
            let (code, message) = failure.parts(self.engine.registry(), &method.faults);
            CallFailure::Fault { code, message }
        })
    }

    /// Several calls, each with a result of a list of one value, or a fault.
    async fn many(&self, calls: Vec<Value>) -> Result<Value, CallFailure> {
        if calls.len() > self.engine.registry().declaration.xmlrpc.max_calls {
            return Err(XmlRpcFault::TooLarge.into());
        }
        let mut answers = Vec::with_capacity(calls.len());
        let mut size = 0;
        for call in calls {
            let answer = match self.fits(size) {
                Ok(()) => self.one_of_many(&call).await,
                Err(error) => Err(error.into()),
            };
            size += answer.as_ref().map_or(0, bytes);
            let answer = self.fits(size).map_err(CallFailure::from).and(answer);
            answers.push(match answer {
                Ok(value) => Value::from(vec![value]),
                Err(failure) => {
                    let (code, message) = failure.parts(self.engine.registry(), &IndexMap::new());
                    wire::fault_value(code, &message)
                }
            });
        }
        Ok(Value::from(answers))
    }

    async fn one_of_many(&self, call: &Value) -> Result<Value, CallFailure> {
        let name = call.get_attr("methodName").unwrap_or_default();
        let params = elements(&call.get_attr("params").unwrap_or_default());
        let method = self.method(name.as_str().unwrap_or_default())?;
        if method.many.is_some() {
            return Err(XmlRpcFault::Recursion.into());
        }
        self.run(method, params).await
    }

    /// The names that a method starts with, and the scope of its caller.
    async fn begin(&self, method: &RpcMethod, params: Vec<Value>) -> Result<(Bindings, Scope), CallFailure> {
        let needed = method.params.iter().filter(|param| !param.optional).count();
        if params.len() < needed {
            return Err(XmlRpcFault::TooFewParams.into());
        }
        let number = |value: &Value| value.kind() == ValueKind::Number && value.as_i64().is_some();
        let fits =
            |(param, value): (&Param, &Value)| !matches!(param.kind, ParamKind::Id | ParamKind::Int) || number(value);
        if method.strict && !(params.len() <= method.params.len() && method.params.iter().zip(&params).all(fits)) {
            return Err(XmlRpcFault::OtherParams.into());
        }
        let mut scope = self.scope.clone();
        if let Some((login, secret)) = method.login {
            let given = |at: usize| params.get(at).cloned().unwrap_or_default();
            scope.principal = self.identify(&given(login), &given(secret)).await?;
        }
        let mut names = self.compiled.globals.clone();
        for (name, value) in [
            ("me", globals::caller(&scope.principal)),
            ("title", Value::from(self.engine.site_title())),
            ("settings", from_json(&serde_json::Value::Object(scope.settings.values.clone()))),
            ("roles", scope.settings.roles.names().map(Value::from).collect()),
            ("now", Value::from(scope.now)),
        ] {
            names = names.and(&Arc::from(name), value);
        }
        let mut given = params.into_iter();
        for param in &method.params {
            let absent = || (param.kind == ParamKind::Id).then(|| Value::from(0));
            if let Some(value) = given.next().map(|value| checked(param, value)).transpose()?.or_else(absent) {
                names = names.and(&param.name, value);
            }
        }
        Ok((names, scope))
    }

    /// The caller. After one failure no further call is authenticated: many calls in one would be many guesses.
    async fn identify(&self, login: &Value, secret: &Value) -> Result<Principal, CallFailure> {
        let (login, secret) = (login.to_string(), secret.to_string());
        if self.failed.get() {
            return Err(XmlRpcFault::Credentials.into());
        }
        if let Some((l, s, principal)) = &*self.proven.borrow()
            && (l, s) == (&login, &secret)
        {
            return Ok(principal.clone());
        }
        match self.verify(&login, &secret).await? {
            Some(principal) => {
                *self.proven.borrow_mut() = Some((login, secret, principal.clone()));
                Ok(principal)
            }
            None => {
                self.failed.set(true);
                Err(XmlRpcFault::Credentials.into())
            }
        }
    }

    async fn verify(&self, login: &str, secret: &str) -> Result<Option<Principal>, ApiError> {
        let (identity, scope) = (self.engine.identity(), &self.scope);
        if login.is_empty() || secret.is_empty() {
            return Ok(None);
        }
        if identity::available(&scope.registry, &scope.peer)
            && let Ok(principal) = identity.verify(scope, login, secret).await?
        {
            return Ok(Some(principal));
        }
        if is_token(secret) && scope.registry.takes_tokens() && identity::available(&scope.registry, &scope.peer) {
            // The name belongs to the token, as it belongs to a password.
            let found = identity.verify_token(scope, secret).await?.ok();
            return Ok(found.filter(|caller| title_key(&caller.login) == title_key(login)));
        }
        if !scope.registry.declaration.xmlrpc.account_passwords {
            return Ok(None);
        }
        let declared = &scope.registry.declaration.xmlrpc;
        let patience = AttemptLimit::paused(declared.max_login_attempts, declared.retry_after);
        let occasion = LoginContext { patience, path: &declared.path };
        let found = identity.verify_account(scope, &self.engine.shared().hasher, (login, secret), occasion).await?;
        let Some(known) = found else { return Ok(None) };
        let hashed = known.hashed;
        let caller = known.alone()?;
        if hashed {
            let event = Event { name: "login", user: caller.id, login, path: &declared.path, ..Event::default() };
            identity::record(scope, &event).await;
        }
        Ok(Some(caller))
    }

    fn steps<'f>(
        &'f self,
        scope: &'f Scope,
        steps: &'f [CompiledStep],
        mut names: Bindings,
    ) -> RunFuture<'f, Bindings> {
        Box::pin(async move {
            for step in steps {
                if let Some(when) = &step.when
                    && !when.eval(names.value())?.is_true()
                {
                    continue;
                }
                names = self.step(scope, step, names).await?;
            }
            Ok(names)
        })
    }

    async fn step(&self, scope: &Scope, step: &CompiledStep, mut names: Bindings) -> Result<Bindings, CallFailure> {
        let value = match &step.act {
            StepAction::Block(steps) => return self.steps(scope, steps, names).await,
            StepAction::Let(bound) => {
                for (name, shape) in bound {
                    let value = shape.eval(&names)?;
                    names = names.and(name, value);
                }
                return Ok(names);
            }
            StepAction::Refuse(code) => return Err(scope.principal.refuse(*code).into()),
            StepAction::Find(id) => {
                let id = id.eval(names.value())?;
                self.find(scope, &id)?
            }
            StepAction::Meta { of, resource } => {
                let (of, resource) = (of.eval(names.value())?, resource.eval(names.value())?);
                self.meta(scope, &of, &resource.to_string())?
            }
            StepAction::Each { list, item, steps, collect } => {
                let mut collected = Vec::new();
                for element in elements(&list.eval(names.value())?) {
                    let inner = self.steps(scope, steps, names.and(item, element)).await?;
                    let value = collect.as_ref().map(|shape| shape.eval(&inner)).transpose()?;
                    collected.extend(value.filter(|value| !value.is_undefined()));
                }
                Value::from(collected)
            }
            StepAction::Ask(ask) => {
                let asked = self.ask(scope, ask, &names).await?;
                if let (Some(name), Some(total)) = (&ask.total, asked.total) {
                    names = names.and(name, Value::from(total));
                }
                if let (Some(name), Some(data)) = (&ask.failed, asked.failed) {
                    names = names.and(name, data);
                }
                asked.value
            }
        };
        Ok(match &step.name {
            Some(name) => names.and(name, value),
            None => names,
        })
    }

    /// Refuses responses that contain more text than declared.
    fn fits(&self, bytes: usize) -> Result<(), ApiError> {
        let most = self.engine.registry().declaration.xmlrpc.max_response.as_usize();
        let message = || format!("The response is larger than {most} bytes; request fewer items.");
        if bytes > most { Err(ApiError::new(Code::PayloadTooLarge).with_message(message())) } else { Ok(()) }
    }

    /// The record with this id among all kinds of content, or the revision of one.
    fn find(&self, scope: &Scope, id: &Value) -> Result<Value, ApiError> {
        let missing = || ApiError::new(Code::PostInvalidId);
        let id = whole(id).filter(|id| *id > 0).ok_or_else(missing)?;
        let snapshot = scope.snapshot()?;
        let kind = |id| records::first::<Arc<str>>(&*snapshot, "record", &["kind"], eq("id", DbValue::Int(id)));
        if let Some(kind) = kind(id)? {
            return self.found(scope, id, &kind).ok_or_else(missing);
        }
        let of = records::first(&*snapshot, "revision", &["of"], eq("id", DbValue::Int(id)))?.ok_or_else(missing)?;
        let found = self.found(scope, of, &kind(of)?.ok_or_else(missing)?).ok_or_else(missing)?;
        Ok(Value::from_pairs([("of", found), ("revision", Value::from(id))]))
    }

    fn found(&self, scope: &Scope, id: i64, kind: &str) -> Option<Value> {
        let resource = scope.registry.resource_of_kind(kind)?;
        let kind = self
            .compiled
            .globals
            .get("types")?
            .get_attr(&resource.api_name)
            .ok()
            .filter(|kind| !kind.is_undefined())?;
        Some(Value::from_pairs([
            ("id", Value::from(id)),
            ("path", Value::from(resource.item_path(&id.to_string()))),
            ("type", kind),
        ]))
    }

    /// The meta values of documents, by id, each with its number.
    fn meta(&self, scope: &Scope, documents: &Value, resource: &str) -> Result<Value, ApiError> {
        let Some(resource) = scope.registry.resource(resource) else { return Ok(Value::UNDEFINED) };
        let id = |document: &Value| whole(&document.get_attr("id").unwrap_or_default());
        let ids: Vec<i64> = elements(documents).iter().filter_map(id).collect();
        let mut by_id: BTreeMap<i64, Vec<Value>> = BTreeMap::new();
        let mut held = 0;
        for row in scope.snapshot()?.meta(&records::meta_space(resource), &ids)? {
            if !custom_fields::is_open(resource, &row.key) || !policy::reads_meta(scope, resource, &row.key) {
                continue;
            }
            held += row.json.len();
            self.fits(held)?;
            let value = serde_json::from_str(&row.json).map_or(Value::UNDEFINED, |json| from_json(&json));
            let members =
                [("id", Value::from(row.number.to_string())), ("key", Value::from(&*row.key)), ("value", value)];
            by_id.entry(row.id).or_default().push(Value::from_pairs(members));
        }
        Ok(Value::from_pairs(by_id.into_iter().map(|(id, values)| (id.to_string(), Value::from(values)))))
    }

    async fn ask(&self, scope: &Scope, ask: &RouteRequest, names: &Bindings) -> Result<RequestResult, CallFailure> {
        let path = ask.path.eval(names.value())?.to_string();
        let map = |shape: &Option<super::ValueShape>| -> Result<Map<String, serde_json::Value>, CallFailure> {
            let value = shape.as_ref().map(|shape| shape.eval(names)).transpose()?;
            Ok(match value.as_ref().map(argument).transpose()? {
                Some(serde_json::Value::Object(map)) => map,
                _ => Map::new(),
            })
        };
        let custom_fields = ask.custom_fields.as_ref().map(|shape| shape.eval(names)).transpose()?;
        custom_fields.as_ref().map(argument).transpose()?;
        let body = match &ask.file {
            Some(file) => self.upload(&file.eval(names)?, map(&ask.body)?)?,
            None if ask.body.is_some() => BodyParams::Json(map(&ask.body)?),
            None => BodyParams::None,
        };
        let query = map(&ask.query)?;
        let call = Call {
            method: ask.method,
            path,
            query,
            raw_query: String::new(),
            body: Ok(body),
            expects: Default::default(),
            text: false,
            lines: false,
            custom_fields: custom_fields
                .map_or_else(Vec::new, |list| elements(&list).iter().map(custom_field).collect()),
        };
        let outcome = match &ask.number {
            Some(number) => {
                let skip = ask.skip.as_ref().map(|skip| skip.eval(names.value())).transpose()?;
                self.pages(scope, call, &number.eval(names.value())?, skip.as_ref()).await
            }
            None => self.request(scope, &call).await,
        };
        match outcome {
            Ok(DocumentResult { document, total }) => {
                let document = match &ask.embed {
                    Some(wanted) => {
                        let text = embed::embed(self.engine, scope, &RenderedJson::of(&document), wanted).await;
                        serde_json::from_slice(&text).unwrap_or_default()
                    }
                    None => document,
                };
                Ok(RequestResult { value: from_json(&document), total, failed: None })
            }
            Err(error) if ask.tolerate.contains(&error.code()) => {
                let data = error.body().get("data").map(from_json);
                Ok(RequestResult { value: Value::UNDEFINED, total: None, failed: data })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A file as a form contains it, with fields beside it.
    fn upload(&self, file: &Value, fields: Map<String, serde_json::Value>) -> Result<BodyParams, CallFailure> {
        let part = |name: &str| file.get_attr(name).unwrap_or_default();
        let (field, name, bytes) = (part("field").to_string(), part("name").to_string(), part("bytes"));
        let bytes = bytes.as_bytes().ok_or(XmlRpcFault::InvalidParams)?;
        let written = || -> Result<tempfile::TempPath, String> {
            let mut file = self.engine.shared().media.files.temporary().map_err(|error| error.to_string())?;
            std::io::Write::write_all(&mut file, bytes).map_err(|error| error.to_string())?;
            Ok(file.into_temp_path())
        };
        let file = Arc::new(written().map_err(|error| self.scope.internal(&error))?);
        let incoming = UploadFile { field, name, size: bytes.len() as u64, file };
        let upload = Upload { fields, files: vec![incoming], form: true, ..Upload::default() };
        Ok(BodyParams::Upload(Box::new(upload)))
    }

    async fn request(&self, scope: &Scope, call: &Call) -> Result<DocumentResult, ApiError> {
        let outcome = self.engine.dispatch(scope, call).await.result?;
        if outcome.status == status::ACCEPTED && drafts::only_drafts(scope) {
            // A response has no place for that.
            return Err(ApiError::new(Code::AppPasswordLimited).with_message(proposals::told(&outcome.body)));
        }
        let total = outcome.headers.iter().find(|(name, _)| name.ends_with("-Total"));
        Ok(DocumentResult { total: total.and_then(|(_, total)| total.parse().ok()), document: outcome.body })
    }

    /// A list of as many items as are wanted, read page by page.
    async fn pages(
        &self,
        scope: &Scope,
        mut call: Call,
        number: &Value,
        skip: Option<&Value>,
    ) -> Result<DocumentResult, ApiError> {
        let declared = &self.engine.registry().declaration.xmlrpc;
        let count = |value: &Value| whole(value).and_then(|n| usize::try_from(n).ok());
        let wanted = count(number).unwrap_or(declared.max_items).min(declared.max_items);
        let skip = skip.and_then(count).unwrap_or(0);
        let most = declared.paging.max.max(1);
        // Pages as long as what is wanted where one begins there, otherwise pages of which the first is cut.
        let size = Some(wanted.clamp(1, most)).filter(|size| skip.is_multiple_of(*size)).unwrap_or(most);
        let mut whole = DocumentResult { document: serde_json::Value::Array(Vec::new()), total: None };
        let serde_json::Value::Array(items) = &mut whole.document else { return Ok(whole) };
        let (mut at, mut cut, mut held) = (skip / size + 1, skip % size, 0);
        while items.len() < wanted {
            call.query.insert(declared.paging.size.clone(), size.into());
            call.query.insert(declared.paging.page.clone(), at.into());
            let page = match self.request(scope, &call).await {
                Err(error) if error.code() == Code::PostInvalidPageNumber => break,
                page => page?,
            };
            whole.total = page.total;
            let serde_json::Value::Array(mut more) = page.document else { break };
            let full = more.len() >= size;
            more.drain(..cut.min(more.len()));
            held += more.iter().map(json_bytes).sum::<usize>();
            self.fits(held)?;
            items.extend(more);
            if !full {
                break;
            }
            (at, cut) = (at + 1, 0);
        }
        items.truncate(wanted);
        Ok(whole)
    }
}

/// The document of a request and the length of the whole list that it is a part of.
struct DocumentResult {
    document: serde_json::Value,
    total: Option<i64>,
}

struct RequestResult {
    value: Value,
    total: Option<i64>,
    /// Data of an error that was tolerated.
    failed: Option<Value>,
}

/// A value as an argument of a request. A text may be bytes (`base64`), so the reader of the call has not seen what is in it.
fn argument(value: &Value) -> Result<serde_json::Value, XmlRpcFault> {
    let value = to_json(value).unwrap_or_default();
    if holds_nul(&value) { Err(XmlRpcFault::InvalidParams) } else { Ok(value) }
}
