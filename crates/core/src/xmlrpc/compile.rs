//! From the `[xmlrpc]` section to methods that can run: every expression checked, every name known, every problem
//! reported.

use super::shape::{ListShape, MemberSelection, ValueShape};
use super::value::Value;
use super::words::Expression;
use super::{CompiledStep, Param, ParamKind, RouteRequest, RpcMethod, StepAction};
use crate::engine::embed;
use crate::error::Code;
use crate::model;
use crate::registry::codes::code_named;
use crate::registry::link::nearest;
use cms_declaration::Declaration;
use cms_declaration::xmlrpc::{self as declared, XmlRpc};
use indexmap::IndexMap;
use std::collections::HashMap;
use std::sync::Arc;

/// Names that every expression may use.
pub const GLOBALS: [&str; 12] =
    ["site", "title", "me", "types", "taxonomies", "routes", "methods", "roles", "sizes", "theme", "settings", "now"];

/// A problem of a method.
pub struct MethodProblem {
    /// Keys from the top of the declaration.
    pub place: Vec<String>,
    pub message: String,
    pub hint: Option<String>,
}

/// Compiles the declared methods: those that can run, and every problem of the others.
pub fn compile(declaration: &Declaration) -> (IndexMap<String, RpcMethod>, Vec<MethodProblem>) {
    let declared = &declaration.xmlrpc;
    let mut compiler =
        Compiler { declaration, declared, problems: Vec::new(), open: Vec::new(), expressions: HashMap::new() };
    compiler.path();
    compiler.faults();
    let mut methods = IndexMap::new();
    for (name, call) in &declared.methods {
        let place = KeyPath(vec!["xmlrpc".into(), "methods".into(), name.clone()]);
        if let Some(method) = compiler.method(&place, call) {
            methods.insert(name.clone(), method);
        }
    }
    (methods, compiler.problems)
}

/// Keys from the top of the declaration.
#[derive(Clone)]
struct KeyPath(Vec<String>);

impl KeyPath {
    fn at(&self, key: impl ToString) -> KeyPath {
        let mut keys = self.0.clone();
        keys.push(key.to_string());
        KeyPath(keys)
    }
}

/// Names that expressions may use at some place.
type VisibleNames = Vec<Arc<str>>;

struct Compiler<'a> {
    declaration: &'a Declaration,
    declared: &'a XmlRpc,
    problems: Vec<MethodProblem>,
    /// Routines and shapes that are being compiled, so that a circle is noticed.
    open: Vec<String>,
    /// Those that were checked, by text.
    expressions: HashMap<String, Expression>,
}

impl Compiler<'_> {
    fn problem(&mut self, place: &KeyPath, message: impl Into<String>, hint: Option<String>) {
        self.problems.push(MethodProblem { place: place.0.clone(), message: message.into(), hint });
    }

    fn path(&mut self) {
        if !self.declared.path.starts_with('/') || self.declared.path.len() < 2 {
            let place = KeyPath(vec!["xmlrpc".into(), "path".into()]);
            self.problem(&place, "a path begins with a slash and has a name", Some("write /xmlrpc.php".into()));
        }
    }

    fn faults(&mut self) {
        let declared = self.declared;
        self.fault_codes(&KeyPath(vec!["xmlrpc".into(), "faults".into()]), &declared.faults);
    }

    fn fault_codes(&mut self, place: &KeyPath, faults: &IndexMap<String, i64>) {
        for key in faults.keys() {
            let status = key.parse::<u16>().is_ok_and(|status| (400..600).contains(&status));
            if !status && code_named(self.declaration, key).is_none() {
                let hint = "write an error code of this server, or an HTTP status".to_owned();
                self.problem(&place.at(key), format!("unknown error `{key}`"), Some(hint));
            }
        }
    }

    /// `same_as` is followed once: a method like another one is compiled like it.
    fn method(&mut self, place: &KeyPath, call: &declared::XmlRpcMethod) -> Option<RpcMethod> {
        let call = match &call.same_as {
            None => call,
            Some(other) => match self.declared.methods.get(other).filter(|other| other.same_as.is_none()) {
                Some(other) => other,
                None => {
                    let hint = nearest(other, self.declared.methods.keys().map(String::as_str));
                    self.problem(&place.at("same_as"), format!("there is no method `{other}` to be the same as"), hint);
                    return None;
                }
            },
        };
        self.fault_codes(&place.at("faults"), &call.faults);
        let mut known: VisibleNames = GLOBALS.iter().map(|name| Arc::from(*name)).collect();
        let mut params = Vec::new();
        for (at, text) in call.params.iter().enumerate() {
            params.push(self.param(&place.at("params").at(at), text)?);
        }
        if params.iter().zip(params.iter().skip(1)).any(|(one, next)| one.optional && !next.optional) {
            self.problem(&place.at("params"), "an optional parameter precedes a required one", None);
        }
        let login = params.iter().position(|param| param.kind == ParamKind::Login);
        let secret = params.iter().position(|param| param.kind == ParamKind::Secret);
        if login.is_some() != secret.is_some() {
            self.problem(&place.at("params"), "`@login` and `@secret` go together", None);
        }
        known.extend(params.iter().map(|param| Arc::clone(&param.name)));
        let steps = self.steps(&place.at("steps"), &call.steps, &mut known);
        let many = call.many.as_deref().and_then(|text| self.expression(&place.at("many"), text, &known));
        let result = self.shape(&place.at("result"), &call.result, &known)?;
        let (strict, faults) = (call.strict, call.faults.clone());
        Some(RpcMethod { params, strict, faults, login: login.zip(secret), steps: steps?, result, many })
    }

    fn param(&mut self, place: &KeyPath, text: &str) -> Option<Param> {
        let (name, kind) = text.split_once(':').map_or((text, "any"), |(name, kind)| (name, kind.trim()));
        let (name, optional) = name.trim().strip_suffix('?').map_or((name.trim(), false), |name| (name, true));
        let kind = match name {
            "@login" => Some(ParamKind::Login),
            "@secret" => Some(ParamKind::Secret),
            _ => ParamKind::parse(kind),
        };
        let Some(kind) = kind else {
            let hint = "kinds are any, id, int, text, flag, list, struct, bytes".to_owned();
            self.problem(place, format!("`{text}` is no parameter"), Some(hint));
            return None;
        };
        Some(Param { name: Arc::from(name), kind, optional })
    }

    fn steps(
        &mut self,
        place: &KeyPath,
        steps: &[declared::XmlRpcStep],
        known: &mut VisibleNames,
    ) -> Option<Vec<CompiledStep>> {
        let compiled: Vec<Option<CompiledStep>> =
            steps.iter().enumerate().map(|(at, step)| self.step(&place.at(at), step, known)).collect();
        compiled.into_iter().collect()
    }

    fn step(&mut self, place: &KeyPath, step: &declared::XmlRpcStep, known: &mut VisibleNames) -> Option<CompiledStep> {
        let acts = [
            (!step.bind.is_empty(), "let"),
            (step.routine.is_some(), "use"),
            (step.refuse.is_some(), "refuse"),
            (step.find.is_some(), "find"),
            (step.meta.is_some(), "meta"),
            (step.each.is_some(), "each"),
            (step.get.is_some(), "get"),
            (step.post.is_some(), "post"),
            (step.delete.is_some(), "delete"),
        ];
        let given: Vec<&str> = acts.iter().filter(|(given, _)| *given).map(|(_, name)| *name).collect();
        let [act] = given[..] else {
            let names: Vec<&str> = acts.iter().map(|(_, name)| *name).collect();
            let message = format!("a step does one thing, and this one does {}", given.len());
            self.problem(place, message, Some(format!("give exactly one of {}", names.join(", "))));
            return None;
        };
        let when = match &step.when {
            Some(text) => Some(self.expression(&place.at("when"), text, known)?),
            None => None,
        };
        let act = match act {
            "let" => {
                let mut bound = Vec::new();
                for (name, shape) in &step.bind {
                    let shape = self.shape(&place.at("let").at(name), shape, known)?;
                    let name: Arc<str> = Arc::from(name.as_str());
                    known.push(Arc::clone(&name));
                    bound.push((name, shape));
                }
                StepAction::Let(bound)
            }
            "use" => StepAction::Block(self.routine(&place.at("use"), step.routine.as_deref()?, known)?),
            "refuse" => StepAction::Refuse(self.code(&place.at("refuse"), step.refuse.as_deref()?)?),
            "find" => StepAction::Find(self.expression(&place.at("find"), step.find.as_deref()?, known)?),
            "meta" => self.meta_step(place, step, known)?,
            "each" => self.each_step(place, step, known)?,
            method => StepAction::Ask(Box::new(self.ask(place, step, method, known)?)),
        };
        let name: Option<Arc<str>> = step.name.as_deref().map(Arc::from);
        known.extend(name.iter().cloned());
        for more in [&step.total, &step.failed].into_iter().flatten() {
            known.push(Arc::from(more.as_str()));
        }
        Some(CompiledStep { when, act, name })
    }

    fn meta_step(&mut self, place: &KeyPath, step: &declared::XmlRpcStep, known: &VisibleNames) -> Option<StepAction> {
        let of = self.expression(&place.at("meta"), step.meta.as_deref()?, known)?;
        let Some(resource) = step.resource.as_deref() else {
            let hint = "write resource = \"type.resource\"".to_owned();
            self.problem(place, "`meta` reads values of a resource, and none is named", Some(hint));
            return None;
        };
        let resource = self.expression(&place.at("resource"), resource, known)?;
        Some(StepAction::Meta { of, resource })
    }

    fn each_step(&mut self, place: &KeyPath, step: &declared::XmlRpcStep, known: &VisibleNames) -> Option<StepAction> {
        let list = self.expression(&place.at("each"), step.each.as_deref()?, known)?;
        let item: Arc<str> = Arc::from(step.item.as_deref().unwrap_or("item"));
        let mut inner = known.clone();
        inner.push(Arc::clone(&item));
        let steps = self.steps(&place.at("steps"), &step.steps, &mut inner)?;
        let collect = match &step.collect {
            Some(shape) => Some(Box::new(self.shape(&place.at("collect"), shape, &inner)?)),
            None => None,
        };
        Some(StepAction::Each { list, item, steps, collect })
    }

    fn ask(
        &mut self,
        place: &KeyPath,
        step: &declared::XmlRpcStep,
        verb: &str,
        known: &VisibleNames,
    ) -> Option<RouteRequest> {
        let (method, path) = match verb {
            "get" => (model::Method::Get, step.get.as_deref()?),
            "post" => (model::Method::Post, step.post.as_deref()?),
            _ => (model::Method::Delete, step.delete.as_deref()?),
        };
        let mut shape = |key: &str, shape: &Option<serde_json::Value>| match shape {
            Some(shape) => self.shape(&place.at(key), shape, known).map(Some),
            None => Some(None),
        };
        let (query, body) = (shape("query", &step.query)?, shape("body", &step.body)?);
        let (file, custom_fields) = (shape("file", &step.file)?, shape("custom_fields", &step.custom_fields)?);
        let mut expression = |key: &str, text: &Option<String>| match text {
            Some(text) => self.expression(&place.at(key), text, known).map(Some),
            None => Some(None),
        };
        let (number, skip) = (expression("number", &step.number)?, expression("skip", &step.skip)?);
        let path = self.expression(&place.at(verb), path, known)?;
        let mut tolerate = Vec::new();
        for (at, code) in step.tolerate.iter().enumerate() {
            tolerate.push(self.code(&place.at("tolerate").at(at), code)?);
        }
        let embed = step.embed.as_ref().map(|rels| serde_json::Value::String(rels.clone()));
        Some(RouteRequest {
            method,
            path,
            query,
            body,
            file,
            custom_fields,
            embed: embed::wanted(embed.as_ref()),
            number,
            skip,
            total: step.total.as_deref().map(Arc::from),
            tolerate,
            failed: step.failed.as_deref().map(Arc::from),
        })
    }

    fn routine(&mut self, place: &KeyPath, name: &str, known: &mut VisibleNames) -> Option<Vec<CompiledStep>> {
        let Some(steps) = self.declared.routines.get(name) else {
            let hint = nearest(name, self.declared.routines.keys().map(String::as_str));
            self.problem(place, format!("there is no routine `{name}`"), hint);
            return None;
        };
        let own = KeyPath(vec!["xmlrpc".into(), "routines".into(), name.to_owned()]);
        self.once(place, &format!("routine {name}"), |compiler| compiler.steps(&own, steps, known))
    }

    /// Compiles something unless it is being compiled already: that would never end.
    fn once<T>(&mut self, place: &KeyPath, what: &str, compile: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.open.iter().any(|open| open == what) {
            self.problem(place, format!("the {what} holds itself"), None);
            return None;
        }
        self.open.push(what.to_owned());
        let compiled = compile(self);
        self.open.pop();
        compiled
    }

    fn shape(&mut self, place: &KeyPath, shape: &serde_json::Value, known: &VisibleNames) -> Option<ValueShape> {
        use serde_json::Value as Json;
        match shape {
            Json::String(text) => self.expression(place, text, known).map(ValueShape::Expression),
            Json::Null => Some(ValueShape::Constant(Value::UNDEFINED)),
            Json::Bool(_) | Json::Number(_) => Some(ValueShape::Constant(super::value::from_json(shape))),
            Json::Array(list) => {
                let shapes = list.iter().enumerate().map(|(at, shape)| self.shape(&place.at(at), shape, known));
                shapes.collect::<Vec<_>>().into_iter().collect::<Option<Vec<ValueShape>>>().map(ValueShape::List)
            }
            Json::Object(map) if map.contains_key("each") => self.each(place, map, known),
            Json::Object(map) if map.contains_key("shape") => self.named(place, map, known),
            Json::Object(map) => self.structure(place, map, known),
        }
    }

    fn structure(
        &mut self,
        place: &KeyPath,
        map: &serde_json::Map<String, serde_json::Value>,
        known: &VisibleNames,
    ) -> Option<ValueShape> {
        let (mut rest, mut members, mut sound) = (None, Vec::new(), true);
        for (name, shape) in map {
            match self.shape(&place.at(name), shape, known) {
                Some(shape) if name == "..." => rest = Some(Box::new(shape)),
                Some(shape) => members.push((Arc::from(name.as_str()), shape)),
                None => sound = false,
            }
        }
        sound.then_some(ValueShape::Structure { rest, members })
    }

    fn each(
        &mut self,
        place: &KeyPath,
        map: &serde_json::Map<String, serde_json::Value>,
        known: &VisibleNames,
    ) -> Option<ValueShape> {
        self.only_keys(place, map, &["each", "item", "when", "key", "give"])?;
        let list = self.expression_in(place, map, "each", known)??;
        let item: Arc<str> = Arc::from(map.get("item").and_then(|item| item.as_str()).unwrap_or("item"));
        let mut inner = known.clone();
        inner.push(Arc::clone(&item));
        let when = self.expression_in(place, map, "when", &inner)?;
        let key = self.expression_in(place, map, "key", &inner)?;
        let shape = match map.get("give") {
            Some(give) => self.shape(&place.at("give"), give, &inner)?,
            None => ValueShape::Expression(self.expression(place, &item, &inner)?),
        };
        Some(ValueShape::Each(Box::new(ListShape { list, item, when, key, shape })))
    }

    fn named(
        &mut self,
        place: &KeyPath,
        map: &serde_json::Map<String, serde_json::Value>,
        known: &VisibleNames,
    ) -> Option<ValueShape> {
        self.only_keys(place, map, &["shape", "with", "only", "always", "groups"])?;
        let name = map.get("shape").and_then(|name| name.as_str()).unwrap_or_default();
        let Some(declared) = self.declared.shapes.get(name) else {
            let hint = nearest(name, self.declared.shapes.keys().map(String::as_str));
            self.problem(&place.at("shape"), format!("there is no shape `{name}`"), hint);
            return None;
        };
        let (mut with, mut inner) = (Vec::new(), known.clone());
        for (name, shape) in map.get("with").and_then(|with| with.as_object()).into_iter().flatten() {
            let name: Arc<str> = Arc::from(name.as_str());
            with.push((Arc::clone(&name), self.shape(&place.at("with").at(&name), shape, known)?));
            inner.push(name);
        }
        let own = KeyPath(vec!["xmlrpc".into(), "shapes".into(), name.to_owned()]);
        let shape = self.once(place, &format!("shape {name}"), |compiler| compiler.shape(&own, declared, &inner))?;
        let only = self.expression_in(place, map, "only", known)?;
        let texts = |value: Option<&serde_json::Value>| -> Vec<String> {
            let list = value.and_then(|value| value.as_array()).into_iter().flatten();
            list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let groups = map.get("groups").and_then(|groups| groups.as_object()).into_iter().flatten();
        let pick = only.map(|only| MemberSelection {
            only,
            always: texts(map.get("always")),
            groups: groups.map(|(name, members)| (name.clone(), texts(Some(members)))).collect(),
        });
        Some(ValueShape::Named { with, shape: Box::new(shape), pick })
    }

    fn only_keys(
        &mut self,
        place: &KeyPath,
        map: &serde_json::Map<String, serde_json::Value>,
        keys: &[&str],
    ) -> Option<()> {
        let Some(other) = map.keys().find(|key| !keys.contains(&key.as_str())).cloned() else { return Some(()) };
        self.problem(
            &place.at(&other),
            format!("`{other}` has no meaning here"),
            Some(format!("known are {}", keys.join(", "))),
        );
        None
    }

    /// The expression under a key: outer `None` for a problem, inner for its absence.
    fn expression_in(
        &mut self,
        place: &KeyPath,
        map: &serde_json::Map<String, serde_json::Value>,
        key: &str,
        known: &VisibleNames,
    ) -> Option<Option<Expression>> {
        match map.get(key) {
            None => Some(None),
            Some(serde_json::Value::String(text)) => self.expression(&place.at(key), text, known).map(Some),
            Some(_) => {
                self.problem(&place.at(key), "an expression is a text", None);
                None
            }
        }
    }

    fn expression(&mut self, place: &KeyPath, text: &str, known: &VisibleNames) -> Option<Expression> {
        let expression = match self.expressions.get(text) {
            Some(checked) => checked.clone(),
            None => match Expression::check(text) {
                Ok(expression) => self.expressions.entry(text.to_owned()).or_insert(expression).clone(),
                Err(error) => {
                    self.problem(place, format!("`{text}` is no expression: {error}"), None);
                    return None;
                }
            },
        };
        for name in expression.names() {
            if !known.iter().any(|known| **known == **name) {
                let hint = nearest(name, known.iter().map(|known| &**known));
                self.problem(place, format!("`{name}` is not known here"), hint);
                return None;
            }
        }
        Some(expression)
    }

    fn code(&mut self, place: &KeyPath, name: &str) -> Option<Code> {
        let code = code_named(self.declaration, name);
        if code.is_none() {
            self.problem(place, format!("unknown error code `{name}`"), None);
        }
        code
    }
}
