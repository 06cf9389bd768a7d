//! XML-RPC: the older interface, served by the REST routes.
//!
//! A method is declared (`[xmlrpc]`): parameters, the requests to the routes that it stands for, the shape of its
//! result. `compile` checks that at startup; `run` carries it out inside the engine, so that permissions, validation
//! and errors are those of REST. `wire` reads and writes the XML, `words` and `shape` are the language of the
//! declarations. No method is named here.

mod compile;
mod globals;
mod params;
mod rsd;
mod run;
mod shape;
pub(crate) mod value;
pub(crate) mod wire;
mod words;

use crate::engine::Engine;
use crate::engine::embed::Wanted;
use crate::error::Code;
use crate::model::{Method as Verb, Payload, Reply, Request};
use crate::registry::Registry;
use cms_config::Problem;
use cms_config::load::Loaded;
use indexmap::IndexMap;
use shape::Shape;
use std::sync::Arc;
use words::Expression;

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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

impl Kind {
    fn parse(name: &str) -> Option<Kind> {
        Some(match name {
            "any" => Kind::Any,
            "id" => Kind::Id,
            "int" => Kind::Int,
            "text" => Kind::Text,
            "flag" => Kind::Flag,
            "list" => Kind::List,
            "struct" => Kind::Struct,
            "bytes" => Kind::Bytes,
            _ => return None,
        })
    }
}

#[derive(Debug)]
struct Param {
    name: Arc<str>,
    kind: Kind,
    optional: bool,
}

/// A method that can run.
#[derive(Debug)]
struct Method {
    params: Vec<Param>,
    /// Takes exactly these parameters, numbers not as texts.
    strict: bool,
    /// Codes of its faults that differ from those of other methods, by error code or status.
    faults: IndexMap<String, i64>,
    /// Places of the login and the secret among the parameters.
    login: Option<(usize, usize)>,
    steps: Vec<CompiledStep>,
    result: Shape,
    /// The calls that it makes one after the other.
    many: Option<Expression>,
}

#[derive(Debug)]
struct CompiledStep {
    when: Option<Expression>,
    act: Act,
    name: Option<Arc<str>>,
}

#[derive(Debug)]
enum Act {
    Let(Vec<(Arc<str>, Shape)>),
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
        collect: Option<Box<Shape>>,
    },
    Ask(Box<Ask>),
    Block(Vec<CompiledStep>),
}

/// A request to a REST route.
#[derive(Debug)]
struct Ask {
    method: Verb,
    path: Expression,
    query: Option<Shape>,
    body: Option<Shape>,
    file: Option<Shape>,
    custom_fields: Option<Shape>,
    embed: Option<Wanted>,
    number: Option<Expression>,
    skip: Option<Expression>,
    total: Option<Arc<str>>,
    tolerate: Vec<Code>,
    failed: Option<Arc<str>>,
}

/// See the module's description.
#[derive(Debug)]
pub struct Rpc {
    methods: IndexMap<String, Method>,
    /// Names that every expression sees and that no request changes.
    globals: shape::Names,
    /// The document that tells editors where the API is.
    rsd: Vec<u8>,
}

const XML: &str = "text/xml; charset=UTF-8";
const PLAIN: &str = "text/plain; charset=UTF-8";

impl Rpc {
    /// Compiles the declared methods over a registry.
    ///
    /// # Errors
    /// Every problem of the `[xmlrpc]` section at once.
    pub fn new(loaded: &Loaded, registry: &Registry) -> Result<Rpc, Vec<Problem>> {
        let methods = compile::compile(loaded)?;
        let globals = globals::globals(registry, methods.keys());
        Ok(Rpc { methods, globals, rsd: rsd::document(registry).into_bytes() })
    }

    /// How many methods there are.
    pub fn len(&self) -> usize {
        self.methods.len()
    }

    /// Handles a request to the declared address.
    pub async fn serve(&self, engine: &Engine, request: Request) -> Reply {
        if request.method != Verb::Post {
            return self.read(&request);
        }
        let body = run::answer(self, engine, &request).await;
        reply(200, XML, body)
    }

    /// Only the description may be read.
    fn read(&self, request: &Request) -> Reply {
        let reads = matches!(request.method, Verb::Get | Verb::Head);
        if reads && request.query.contains_key("rsd") {
            return reply(200, XML, self.rsd.clone());
        }
        let mut refusal = reply(405, PLAIN, b"XML-RPC calls are sent by POST.\n".to_vec());
        refusal.headers.push(("Allow".into(), Verb::Post.as_str().into()));
        refusal
    }
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
