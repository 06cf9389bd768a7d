//! Runs calls: parameters checked, the caller identified, steps carried out as requests inside the engine.
//!
//! It decides nothing about permissions or validity: the routes do. Faults are made of their errors.

use super::shape::Names;
use super::value::{Value, bytes, elements, from_json, json_bytes, to_json};
use super::wire::{self, Called, Limits};
use super::words::MOST_WORDS;
use super::{Act, Ask, CompiledStep, Kind, Method, Param, Rpc};
use crate::access::attempts::AttemptLimit;
use crate::access::audit::Event;
use crate::access::identity::{self, LoginContext};
use crate::config::declaration::{Action, Family};
use crate::engine::Engine;
use crate::engine::embed;
use crate::error::{ApiError, Code, Fault};
use crate::handlers::Rendered;
use crate::model::{Incoming, Request, Upload};
use crate::records::{self, eq, int, text};
use crate::registry::Registry;
use crate::registry::resource::Resource;
use crate::request::BodyParams;
use crate::request::call::Call;
use crate::scope::{Principal, Scope};
use crate::storage::plan::DbValue;
use minijinja::value::ValueKind;
use serde_json::Map;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::Arc;

/// A call that ends in a fault.
struct Failure {
    code: i64,
    message: String,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        let (code, message) = fault.parts();
        Failure { code, message: message.to_owned() }
    }
}

/// An expression met a value of a type that it cannot use: the client sent something odd.
impl From<minijinja::Error> for Failure {
    fn from(error: minijinja::Error) -> Failure {
        if super::words::is_too_long(&error) {
            return Fault::TooLarge.into();
        }
        tracing::debug!("an XML-RPC expression failed: {error}");
        Fault::InvalidParams.into()
    }
}

/// The body of the response to a posted call; faults are responses, too.
pub async fn answer(rpc: &Rpc, engine: &Engine, request: &Request) -> Vec<u8> {
    let declared = &engine.registry().declaration.xmlrpc;
    let outcome = async {
        if request.body.len() > declared.max_body.as_usize() {
            return Err(Failure::from(Fault::TooLarge));
        }
        let limits = Limits { depth: declared.max_depth, values: declared.max_values, list: declared.max_list };
        let called = wire::read(&request.body, limits)?;
        let mut scope = engine.stranger(request).map_err(|error| failure(engine.registry(), &error))?;
        // Requests inside this one are reduced and finished here.
        scope.depth += 1;
        let session = Session { rpc, engine, scope, proven: RefCell::default(), failed: Cell::new(false) };
        session.call(called).await
    };
    match outcome.await {
        Ok(value) => wire::answer(&value),
        Err(failure) => wire::fault(failure.code, &failure.message),
    }
}

/// Names that every expression sees and that follow from the declarations alone.
pub fn globals<'m>(registry: &Registry, methods: impl Iterator<Item = &'m String>) -> Names {
    let served = |family: Family| registry.family(family).filter(|resource| !resource.declared.routes.is_empty());
    let terms = Value::from_pairs(served(Family::Term).map(|r| (r.api_name.as_str(), taxonomy(r, None))));
    let types = served(Family::Content).map(|r| (r.api_name.as_str(), kind(registry, r)));
    let routes = registry.resources.iter().map(|r| (r.name.as_str(), Value::from(r.path.as_str())));
    let site = Value::from_pairs([
        ("url", Value::from(registry.site.url.as_str())),
        ("rest_url", Value::from(registry.site.rest_url.as_str())),
        ("calls_url", Value::from(format!("{}{}", registry.site.url, registry.declaration.xmlrpc.path))),
        ("prefix", Value::from(registry.site.prefix.as_str())),
        ("version", Value::from(env!("CARGO_PKG_VERSION"))),
        ("program", Value::from(env!("CARGO_PKG_NAME"))),
    ]);
    Names::default()
        .and(&Arc::from(MOST_WORDS), Value::from(registry.declaration.xmlrpc.max_list))
        .and(&Arc::from("site"), site)
        .and(&Arc::from("types"), Value::from_pairs(types))
        .and(&Arc::from("taxonomies"), terms)
        .and(&Arc::from("routes"), Value::from_pairs(routes))
        .and(&Arc::from("methods"), methods.map(|name| Value::from(name.as_str())).collect())
}

/// A content resource as expressions see it.
fn kind(registry: &Registry, resource: &Resource) -> Value {
    let relation = |to: &Resource| resource.relations.iter().find(|r| r.many && r.to == to.index);
    let terms = registry.family(Family::Term).filter(|term| !term.declared.routes.is_empty());
    let terms = terms.filter_map(|term| relation(term).map(|relation| taxonomy(term, Some(&relation.property))));
    Value::from_pairs([
        ("name", Value::from(resource.api_name.as_str())),
        ("route", Value::from(resource.path.as_str())),
        ("resource", Value::from(resource.name.as_str())),
        ("hierarchical", Value::from(resource.declared.hierarchical)),
        ("create", Value::from(resource.capability(Action::Create))),
        ("supports", resource.declared.supports.iter().map(|s| Value::from(s.as_str())).collect()),
        ("meta", resource.declared.meta.keys().map(|key| Value::from(key.as_str())).collect()),
        ("taxonomies", terms.collect()),
    ])
}

fn taxonomy(resource: &Resource, property: Option<&str>) -> Value {
    Value::from_pairs([
        ("name", Value::from(resource.api_name.as_str())),
        ("route", Value::from(resource.path.as_str())),
        ("hierarchical", Value::from(resource.declared.hierarchical)),
        ("property", property.map_or(Value::UNDEFINED, Value::from)),
    ])
}

/// What an error is as a fault: by its code, by its status, or the status itself.
fn failure(registry: &Registry, error: &ApiError) -> Failure {
    let declared = &registry.declaration.xmlrpc.faults;
    let by = |key: &str| declared.get(key).copied();
    let code = by(error.code().as_str()).or_else(|| by(&error.status().to_string()));
    Failure { code: code.unwrap_or_else(|| i64::from(error.status())), message: error.message().to_owned() }
}

/// One HTTP request: its calls share who was proven to be calling, and the end of all patience.
struct Session<'a> {
    rpc: &'a Rpc,
    engine: &'a Engine,
    scope: Scope,
    /// The credentials that were right last, with whose they are.
    proven: RefCell<Option<(String, String, Principal)>>,
    /// A login has failed; no further call is authenticated.
    failed: Cell<bool>,
}

type Done<'f, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + 'f>>;

impl Session<'_> {
    async fn call(&self, called: Called) -> Result<Value, Failure> {
        let method = self.method(&called.method)?;
        let (names, scope) = self.begin(method, called.params).await?;
        match &method.many {
            Some(many) => self.many(elements(&many.eval(names.value())?)).await,
            None => {
                let value = self.run(method, names, &scope).await?;
                self.fits(bytes(&value)).map(|()| value).map_err(|error| self.failure(&error))
            }
        }
    }

    fn method(&self, name: &str) -> Result<&Method, Failure> {
        self.rpc.methods.get(name).ok_or_else(|| Failure::from(Fault::UnknownMethod))
    }

    async fn run(&self, method: &Method, names: Names, scope: &Scope) -> Result<Value, Failure> {
        let names = self.steps(scope, &method.steps, names).await?;
        Ok(method.result.eval(&names)?)
    }

    /// Several calls, each with a result of a list of one value, or a fault.
    async fn many(&self, calls: Vec<Value>) -> Result<Value, Failure> {
        if calls.len() > self.engine.registry().declaration.xmlrpc.max_calls {
            return Err(Fault::TooLarge.into());
        }
        let mut answers = Vec::with_capacity(calls.len());
        let mut size = 0;
        for call in calls {
            let answer = match self.fits(size) {
                Ok(()) => self.one_of_many(&call).await,
                Err(error) => Err(self.failure(&error)),
            };
            size += answer.as_ref().map_or(0, bytes);
            let answer = self.fits(size).map_err(|error| self.failure(&error)).and(answer);
            answers.push(match answer {
                Ok(value) => Value::from(vec![value]),
                Err(failure) => wire::fault_value(failure.code, &failure.message),
            });
        }
        Ok(Value::from(answers))
    }

    async fn one_of_many(&self, call: &Value) -> Result<Value, Failure> {
        let name = call.get_attr("methodName").unwrap_or_default();
        let params = elements(&call.get_attr("params").unwrap_or_default());
        let method = self.method(name.as_str().unwrap_or_default())?;
        if method.many.is_some() {
            return Err(Fault::Recursion.into());
        }
        let (names, scope) = self.begin(method, params).await?;
        self.run(method, names, &scope).await
    }

    /// The names that a method starts with, and the scope of its caller.
    async fn begin(&self, method: &Method, params: Vec<Value>) -> Result<(Names, Scope), Failure> {
        let needed = method.params.iter().filter(|param| !param.optional).count();
        if params.len() < needed {
            return Err(Fault::TooFewParams.into());
        }
        let number = |value: &Value| value.kind() == ValueKind::Number && value.as_i64().is_some();
        let fits = |(param, value): (&Param, &Value)| !matches!(param.kind, Kind::Id | Kind::Int) || number(value);
        if method.strict && !(params.len() <= method.params.len() && method.params.iter().zip(&params).all(fits)) {
            return Err(Fault::OtherParams.into());
        }
        let mut scope = self.scope.clone();
        if let Some((login, secret)) = method.login {
            scope.principal = self.identify(&params[login], &params[secret]).await?;
        }
        let title = Value::from(self.engine.site_title());
        let names = self.rpc.globals.and(&Arc::from("me"), caller(&scope.principal));
        let mut names = names.and(&Arc::from("title"), title);
        for (param, value) in method.params.iter().zip(params) {
            names = names.and(&param.name, checked(param, value)?);
        }
        Ok((names, scope))
    }

    /// The caller. After one failure no further call is authenticated: many calls in one would be many guesses.
    async fn identify(&self, login: &Value, secret: &Value) -> Result<Principal, Failure> {
        let (login, secret) = (login.to_string(), secret.to_string());
        if self.failed.get() {
            return Err(Fault::Credentials.into());
        }
        if let Some((l, s, principal)) = &*self.proven.borrow()
            && (l, s) == (&login, &secret)
        {
            return Ok(principal.clone());
        }
        match self.verify(&login, &secret).await.map_err(|error| failure(self.engine.registry(), &error))? {
            Some(principal) => {
                *self.proven.borrow_mut() = Some((login, secret, principal.clone()));
                Ok(principal)
            }
            None => {
                self.failed.set(true);
                Err(Fault::Credentials.into())
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
        if !scope.registry.declaration.xmlrpc.account_passwords {
            return Ok(None);
        }
        let declared = &scope.registry.declaration.xmlrpc;
        let patience = AttemptLimit::paused(declared.max_login_attempts, declared.retry_after);
        let occasion = LoginContext { patience, path: &declared.path };
        let found = identity.verify_account(scope, &self.engine.shared().hasher, (login, secret), occasion).await?;
        if let Some((caller, true)) = &found {
            let event = Event { name: "login", user: caller.id, login, path: &declared.path, ..Event::default() };
            identity::record(scope, &event).await;
        }
        Ok(found.map(|(caller, _)| caller))
    }

    fn steps<'f>(&'f self, scope: &'f Scope, steps: &'f [CompiledStep], mut names: Names) -> Done<'f, Names> {
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

    async fn step(&self, scope: &Scope, step: &CompiledStep, mut names: Names) -> Result<Names, Failure> {
        let value = match &step.act {
            Act::Block(steps) => return self.steps(scope, steps, names).await,
            Act::Let(bound) => {
                for (name, shape) in bound {
                    let value = shape.eval(&names)?;
                    names = names.and(name, value);
                }
                return Ok(names);
            }
            Act::Refuse(code) => return Err(self.failure(&scope.principal.refuse(*code))),
            Act::Find(id) => {
                let id = id.eval(names.value())?;
                self.find(scope, &id).map_err(|error| self.failure(&error))?
            }
            Act::Each { list, item, steps, collect } => {
                let mut collected = Vec::new();
                for element in elements(&list.eval(names.value())?) {
                    let inner = self.steps(scope, steps, names.and(item, element)).await?;
                    let value = collect.as_ref().map(|shape| shape.eval(&inner)).transpose()?;
                    collected.extend(value.filter(|value| !value.is_undefined()));
                }
                Value::from(collected)
            }
            Act::Ask(ask) => {
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

    fn failure(&self, error: &ApiError) -> Failure {
        failure(self.engine.registry(), error)
    }

    /// The record with this id among all kinds of content, or the revision of one.
    fn find(&self, scope: &Scope, id: &Value) -> Result<Value, ApiError> {
        let missing = || ApiError::new(Code::PostInvalidId);
        let id = whole(id).filter(|id| *id > 0).ok_or_else(missing)?;
        let snapshot = scope.snapshot()?;
        let revised = match records::first(&*snapshot, "record", &["kind"], eq("id", DbValue::Int(id)))? {
            Some(row) => return self.found(scope, id, text(&row[0])).ok_or_else(missing),
            None => records::first(&*snapshot, "revision", &["of"], eq("id", DbValue::Int(id)))?,
        };
        let of = revised.map(|row| int(&row[0])).ok_or_else(missing)?;
        let row = records::first(&*snapshot, "record", &["kind"], eq("id", DbValue::Int(of)))?.ok_or_else(missing)?;
        let found = self.found(scope, of, text(&row[0])).ok_or_else(missing)?;
        Ok(Value::from_pairs([("of", found), ("revision", Value::from(id))]))
    }

    fn found(&self, scope: &Scope, id: i64, kind: &str) -> Option<Value> {
        let resource = scope.registry.resource_of_kind(kind)?;
        let kind =
            self.rpc.globals.get("types")?.get_attr(&resource.api_name).ok().filter(|kind| !kind.is_undefined())?;
        Some(Value::from_pairs([
            ("id", Value::from(id)),
            ("path", Value::from(resource.item_path(&id.to_string()))),
            ("type", kind),
        ]))
    }

    async fn ask(&self, scope: &Scope, ask: &Ask, names: &Names) -> Result<PageRequest, Failure> {
        let path = ask.path.eval(names.value())?.to_string();
        let map = |shape: &Option<super::Shape>| -> Result<Map<String, serde_json::Value>, Failure> {
            let value = shape.as_ref().map(|shape| shape.eval(names)).transpose()?;
            Ok(match value.as_ref().and_then(to_json) {
                Some(serde_json::Value::Object(map)) => map,
                _ => Map::new(),
            })
        };
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
        };
        let outcome = match &ask.number {
            Some(number) => {
                let skip = ask.skip.as_ref().map(|skip| skip.eval(names.value())).transpose()?;
                self.pages(scope, call, &number.eval(names.value())?, skip.as_ref()).await
            }
            None => self.request(scope, &call).await,
        };
        match outcome {
            Ok(Page { document, total }) => {
                let document = match &ask.embed {
                    Some(wanted) => {
                        let text = embed::embed(self.engine, scope, &Rendered::of(&document), wanted).await;
                        serde_json::from_slice(&text).unwrap_or_default()
                    }
                    None => document,
                };
                Ok(PageRequest { value: from_json(&document), total, failed: None })
            }
            Err(error) if ask.tolerate.contains(&error.code()) => {
                let data = error.body().get("data").map(from_json);
                Ok(PageRequest { value: Value::UNDEFINED, total: None, failed: data })
            }
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// A file as a form contains it, with fields beside it.
    fn upload(&self, file: &Value, fields: Map<String, serde_json::Value>) -> Result<BodyParams, Failure> {
        let part = |name: &str| file.get_attr(name).unwrap_or_default();
        let (field, name, bytes) = (part("field").to_string(), part("name").to_string(), part("bytes"));
        let bytes = bytes.as_bytes().ok_or(Fault::InvalidParams)?;
        let written = || -> Result<tempfile::TempPath, String> {
            let mut file = self.engine.shared().media.files.temporary().map_err(|error| error.to_string())?;
            std::io::Write::write_all(&mut file, bytes).map_err(|error| error.to_string())?;
            Ok(file.into_temp_path())
        };
        let file = Arc::new(written().map_err(|error| self.failure(&self.scope.internal(&error)))?);
        let incoming = Incoming { field, name, size: bytes.len() as u64, file };
        let upload = Upload { fields, files: vec![incoming], form: true, ..Upload::default() };
        Ok(BodyParams::Upload(Box::new(upload)))
    }

    async fn request(&self, scope: &Scope, call: &Call) -> Result<Page, ApiError> {
        let outcome = self.engine.dispatch(scope, call).await.result?;
        let total = outcome.headers.iter().find(|(name, _)| name.ends_with("-Total"));
        Ok(Page { total: total.and_then(|(_, total)| total.parse().ok()), document: outcome.body })
    }

    /// A list of as many items as are wanted, read page by page.
    async fn pages(
        &self,
        scope: &Scope,
        mut call: Call,
        number: &Value,
        skip: Option<&Value>,
    ) -> Result<Page, ApiError> {
        let declared = &self.engine.registry().declaration.xmlrpc;
        let count = |value: &Value| whole(value).and_then(|n| usize::try_from(n).ok());
        let wanted = count(number).unwrap_or(declared.max_items).min(declared.max_items);
        let skip = skip.and_then(count).unwrap_or(0);
        let mut whole = Page { document: serde_json::Value::Array(Vec::new()), total: None };
        let serde_json::Value::Array(items) = &mut whole.document else { return Ok(whole) };
        let mut held = 0;
        while items.len() < wanted {
            let size = declared.paging.max.max(1).min(wanted - items.len());
            call.query.insert(declared.paging.size.clone(), size.into());
            call.query.insert(declared.paging.skip.clone(), (skip + items.len()).into());
            let page = self.request(scope, &call).await?;
            whole.total = page.total;
            let serde_json::Value::Array(more) = page.document else { break };
            let full = more.len() == size;
            held += more.iter().map(json_bytes).sum::<usize>();
            self.fits(held)?;
            items.extend(more);
            if !full {
                break;
            }
        }
        Ok(whole)
    }
}

/// The document of a request and the length of the whole list that it is a part of.
struct Page {
    document: serde_json::Value,
    total: Option<i64>,
}

struct PageRequest {
    value: Value,
    total: Option<i64>,
    /// Data of an error that was tolerated.
    failed: Option<Value>,
}

fn caller(principal: &Principal) -> Value {
    let can = principal.capabilities.iter().map(|capability| (&**capability, Value::from(true)));
    Value::from_pairs([
        ("id", Value::from(principal.id)),
        ("login", Value::from(&*principal.login)),
        ("can", Value::from_pairs(can)),
        ("roles", principal.roles.iter().map(|role| Value::from(&**role)).collect()),
    ])
}

/// A whole number, or a text that is one.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
}

/// A parameter of its kind. What is empty where another kind is wanted counts as absent, as old clients intend it.
fn checked(param: &Param, value: Value) -> Result<Value, Failure> {
    let kind = value.kind();
    let fits = match param.kind {
        Kind::Any | Kind::Login | Kind::Secret => true,
        Kind::Id | Kind::Int => whole(&value).is_some(),
        Kind::Text => matches!(kind, ValueKind::String | ValueKind::Number),
        Kind::Flag => !matches!(kind, ValueKind::Seq | ValueKind::Map | ValueKind::Bytes),
        Kind::List => kind == ValueKind::Seq,
        Kind::Struct => kind == ValueKind::Map,
        Kind::Bytes => kind == ValueKind::Bytes,
    };
    let empty = value.is_none() || value.len() == Some(0);
    match (fits, empty, param.kind) {
        (true, ..) => Ok(value),
        // A struct without members is a list to some clients.
        (false, true, Kind::Struct) => Ok(Value::from_pairs::<_, &str, Value>([])),
        (false, true, Kind::List) => Ok(Value::from(Vec::<Value>::new())),
        (false, true, _) if param.optional => Ok(Value::UNDEFINED),
        _ => Err(Fault::InvalidParams.into()),
    }
}
