//! XML-RPC: the older interface, served by the REST routes.
//!
//! A method is declared (`[xmlrpc]`): parameters, the requests to the routes that it stands for, the shape of its
//! result. `compile` checks that at startup, where it is not as shipped, and compiles it for the first call; `run` carries
//! it out inside the engine, so that permissions, validation and errors are those of REST. `wire` reads and writes the XML,
//! `words` and `shape` are the language of the
//! declarations. No method is named here.

mod compile;
mod globals;
mod params;
mod rsd;
mod run;
mod shape;
pub mod value;
pub mod wire;
mod words;

use crate::engine::Engine;
use crate::engine::embed::EmbedSelection;
use crate::error::{Code, status};
use crate::model::{Method as Verb, Payload, Reply, Request};
use crate::registry::Registry;
use cms_config::Problem;
use cms_config::load::LoadedDeclaration;
use compile::MethodProblem;
use indexmap::IndexMap;
use shape::ValueShape;
use std::sync::{Arc, OnceLock};
use words::Expression;

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParamKind {
    Any,
    /// A number, or a text that is one.
    Id,
    Int,
    Text,
    Flag,
    List,
    Struct,
    Bytes,
    Login,
    Secret,
}

impl ParamKind {
    fn parse(name: &str) -> Option<ParamKind> {
        Some(match name {
            "any" => ParamKind::Any,
            "id" => ParamKind::Id,
            "int" => ParamKind::Int,
            "text" => ParamKind::Text,
            "flag" => ParamKind::Flag,
            "list" => ParamKind::List,
            "struct" => ParamKind::Struct,
            "bytes" => ParamKind::Bytes,
            _ => return None,
        })
    }
}

#[derive(Debug)]
struct Param {
    name: Arc<str>,
    kind: ParamKind,
    optional: bool,
}

/// A method that can run.
#[derive(Debug)]
struct RpcMethod {
    params: Vec<Param>,
    /// Takes exactly these parameters, numbers not as texts.
    strict: bool,
    /// Codes of its faults that differ from those of other methods, by error code or status.
    faults: IndexMap<String, i64>,
    /// Places of the login and the secret among the parameters.
    login: Option<(usize, usize)>,
    steps: Vec<CompiledStep>,
    result: ValueShape,
    /// The calls that it makes one after the other.
    many: Option<Expression>,
}

#[derive(Debug)]
struct CompiledStep {
    when: Option<Expression>,
    act: StepAction,
    name: Option<Arc<str>>,
}

#[derive(Debug)]
enum StepAction {
    Let(Vec<(Arc<str>, ValueShape)>),
    Refuse(Code),
    Find(Expression),
    /// The meta values of documents of a resource.
    Meta {
        of: Expression,
        resource: Expression,
    },
    Each {
        list: Expression,
        item: Arc<str>,
        steps: Vec<CompiledStep>,
        collect: Option<Box<ValueShape>>,
    },
    Ask(Box<RouteRequest>),
    Block(Vec<CompiledStep>),
}

/// A request to a REST route.
#[derive(Debug)]
struct RouteRequest {
    method: Verb,
    path: Expression,
    query: Option<ValueShape>,
    body: Option<ValueShape>,
    file: Option<ValueShape>,
    custom_fields: Option<ValueShape>,
    embed: Option<EmbedSelection>,
    number: Option<Expression>,
    skip: Option<Expression>,
    total: Option<Arc<str>>,
    tolerate: Vec<Code>,
    failed: Option<Arc<str>>,
}

/// See the module's description.
#[derive(Debug, Default)]
pub struct Rpc(OnceLock<CompiledMethods>);

#[derive(Debug)]
struct CompiledMethods {
    methods: IndexMap<String, RpcMethod>,
    /// Names that every expression sees and that no request changes.
    globals: shape::Bindings,
}

const XML: &str = "text/xml; charset=UTF-8";
const PLAIN: &str = "text/plain; charset=UTF-8";

impl Rpc {
    /// Checks the declared methods; those that are shipped are sound. They are compiled for the first call.
    ///
    /// # Errors
    /// Every problem of the `[xmlrpc]` section at once.
    pub fn new(loaded: &LoadedDeclaration) -> Result<Rpc, Vec<Problem>> {
        if loaded.is_untouched(&["xmlrpc"]) {
            return Ok(Rpc::default());
        }
        let found =
            compile::compile(&loaded.declaration).1.into_iter().map(|MethodProblem { place, message, hint }| {
                let keys: Vec<&str> = place.iter().map(String::as_str).collect();
                loaded.problem(&keys, message, hint)
            });
        let mut problems: Vec<Problem> = found.collect();
        problems.sort();
        problems.dedup();
        if problems.is_empty() { Ok(Rpc::default()) } else { Err(problems) }
    }

    /// The methods over the registry of the engine that they are called in, compiled once.
    fn compiled(&self, registry: &Registry) -> &CompiledMethods {
        self.0.get_or_init(|| {
            let methods = compile::compile(&registry.declaration).0;
            CompiledMethods { globals: globals::globals(registry, methods.keys()), methods }
        })
    }

    /// Handles a request to the declared address.
    pub async fn serve(&self, engine: &Engine, request: Request) -> Reply {
        if request.method != Verb::Post {
            return read(engine.registry(), &request);
        }
        let body = run::answer(self, engine, &request).await;
        reply(status::OK, XML, body)
    }
}

/// Only the description may be read, which tells editors where the API is.
fn read(registry: &Registry, request: &Request) -> Reply {
    let reads = matches!(request.method, Verb::Get | Verb::Head);
    if reads && request.query.contains_key("rsd") {
        return reply(status::OK, XML, rsd::document(registry).into_bytes());
    }
    let mut refusal = reply(status::METHOD_NOT_ALLOWED, PLAIN, b"XML-RPC calls are sent by POST.\n".to_vec());
    refusal.headers.push(("Allow".into(), Verb::Post.as_str().into()));
    refusal
}

fn reply(status: u16, media_type: &'static str, bytes: Vec<u8>) -> Reply {
    Reply { status, headers: Vec::new(), payload: Payload::Other { media_type, bytes } }
}

/// Absolute address of the interface; `None` when it is off.
pub fn address(registry: &Registry) -> Option<String> {
    let declared = &registry.declaration.xmlrpc;
    declared.enabled.then(|| format!("{}{}", registry.site.url, declared.path))
}

/// Absolute address of its description, by which old editors find it; `None` when the interface is off.
pub fn description_url(registry: &Registry) -> Option<String> {
    Some(format!("{}?rsd", address(registry)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_declaration::Declaration;

    #[test]
    fn shipped_methods_are_sound_whatever_else_is_declared() {
        let loaded = cms_config::load::load(None, &[], []).expect("loads");
        let declared = Declaration { codes: Default::default(), ..Declaration::clone(&loaded.declaration) };
        let (methods, problems) = compile::compile(&declared);
        assert_eq!(problems.iter().map(|problem| &problem.message).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(methods.len(), declared.xmlrpc.methods.len());
    }
}
