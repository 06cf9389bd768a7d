//! Who did what to accounts, passwords and permissions: rows of a declared resource (`site.audit`).
//!
//! An entry travels in the plan that it tells of, so that neither is there without the other. Values are recorded only
//! where the declaration names them; secrets never are. It reads nothing.

use crate::registry::link::AUDITED;
use crate::registry::{Registry, name};
use crate::scope::Scope;
use crate::storage::plan::{Change, DbValue, Input, Put, Target};
use serde_json::Value;
use std::sync::Arc;

/// Longest text of an entry, in characters.
const LONGEST: usize = 300;

/// Something that happened.
#[derive(Clone, Debug, Default)]
pub struct Event<'a> {
    /// What happened, e.g. `login_failed`.
    pub name: &'a str,
    /// Who did it; 0: nobody known.
    pub user: i64,
    pub login: &'a str,
    /// Where it was asked for.
    pub path: &'a str,
    /// What it is about, where the path does not tell.
    pub subject: &'a str,
    /// What was set: names, or `name=value`.
    pub changed: Vec<String>,
}

/// The change that records an event; nothing where no resource keeps them.
pub fn entry(scope: &Scope, event: &Event<'_>) -> Option<Change> {
    let registry = &scope.registry;
    let resource = &registry.resources[resource(registry)?];
    let short = |text: &str| DbValue::Text(text.chars().take(LONGEST).collect::<String>().into());
    let ip = scope.peer.ip.map(|ip| ip.to_string()).unwrap_or_default();
    let values = [
        DbValue::Int(scope.now),
        short(event.name),
        DbValue::Int(event.user),
        short(event.login),
        short(event.path),
        short(event.subject),
        DbValue::Text(Arc::from(Value::from(event.changed.clone()).to_string())),
        short(&ip),
    ];
    Some(Change::Put(Put {
        table: resource.table.clone(),
        target: Target::New,
        set: AUDITED.iter().zip(values).map(|(column, value)| (name(column), Input::Value(value))).collect(),
        slug: None,
        edges: Vec::new(),
        meta: Vec::new(),
        revision: None,
    }))
}

fn resource(registry: &Registry) -> Option<usize> {
    registry.resource(&registry.declaration.site.audit).map(|resource| resource.index)
}
