//! Who did what to accounts, passwords, permissions and contents: rows of a declared resource (`site.audit`).
//!
//! An entry is committed with the plan that it describes, so that neither exists without the other. Values are recorded
//! only where the declaration names them; secrets never are. Every text of an entry has a limit, and so has the number
//! of entries that anonymous callers can cause.

use crate::records::{columns, eq, first_by, ordered, txt, words};
use crate::registry::link::parts::AUDITED;
use crate::registry::{Registry, name};
use crate::scope::Scope;
use cms_storage::plan::{Change, Cond, DbValue, Input, Name, Op, Put, ReadPlan, Target};
use cms_storage::{Storage, StorageError};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Longest text of an entry, in characters.
const LONGEST: usize = 300;

/// Most changed things that one entry names.
const MOST_CHANGED: usize = 20;

/// Something that happened.
#[derive(Clone, Debug, Default)]
pub struct Event<'a> {
    /// Name of the event, e.g. `login_failed`.
    pub name: &'a str,
    /// The user; 0: not authenticated.
    pub user: i64,
    pub login: &'a str,
    /// Where the request came from.
    pub path: &'a str,
    /// The subject, where the path does not name it.
    pub subject: &'a str,
    /// Names that were set, or `name=value`.
    pub changed: Vec<String>,
}

/// The change that records an event; nothing where no resource stores them.
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
        DbValue::Text(Arc::from(Value::from(changed(event)).to_string())),
        short(&ip),
        short(&client(scope)),
        short(scope.principal.app_password.as_deref().unwrap_or_default()),
    ];
    let set = AUDITED.iter().zip(values).map(|(column, value)| (name(column), Input::Value(value))).collect();
    Some(Change::Put(Put::new(resource.table.clone(), Target::New, set)))
}

/// The client, and how many webhooks led to its request.
fn client(scope: &Scope) -> Cow<'_, str> {
    let shown = scope.agent.as_ref();
    match scope.hook_depth {
        0 => shown.into(),
        depth => format!("webhook-depth {depth}; {shown}").into(),
    }
}

/// The names that were set, shortened.
fn changed(event: &Event<'_>) -> Vec<String> {
    event.changed.iter().take(MOST_CHANGED).map(|text| text.chars().take(LONGEST).collect()).collect()
}

/// The change that holds the entries of anonymous callers below `site.max_audit_anonymous` when another one is added: a
/// flood replaces entries of other anonymous callers only, never those about users.
pub fn overflow(scope: &Scope) -> Result<Option<Change>, StorageError> {
    let registry = &scope.registry;
    let Some(resource) = resource(registry).map(|index| &registry.resources[index]) else { return Ok(None) };
    let most = registry.declaration.site.max_audit_anonymous.max(1);
    let strangers = || eq("user", DbValue::Int(0));
    let newest = ordered(columns(&resource.table, &["id"], strangers()), "id", true);
    let plan = ReadPlan { offset: most - 1, ..newest };
    let last = first_by::<i64>(&*scope.storage.snapshot()?, plan)?;
    Ok(last.map(|last| {
        let old = Cond::Compare(name("id"), Op::Le, DbValue::Int(last));
        Change::RemoveWhere { table: resource.table.clone(), filter: Cond::All(vec![strangers(), old]) }
    }))
}

/// Entries about what happens often, as declared.
pub struct FrequentEntries {
    table: Name,
    events: BTreeSet<String>,
    /// How many newer entries they may have.
    most: i64,
}

impl FrequentEntries {
    /// Nothing where there is no audit trail, or no such event.
    pub fn declared(registry: &Registry) -> Option<FrequentEntries> {
        let table = registry.resources[resource(registry)?].table.clone();
        let endpoints = registry.routes.iter().flat_map(|route| &route.endpoints);
        let frequent = endpoints.filter_map(|endpoint| endpoint.audit.as_ref()).filter(|audit| audit.frequent);
        let events: BTreeSet<String> = frequent.map(|audit| audit.event.clone()).collect();
        let most = i64::try_from(registry.declaration.site.max_audit_frequent).unwrap_or(i64::MAX);
        (!events.is_empty()).then_some(FrequentEntries { table, events, most })
    }

    /// The table that holds them.
    pub fn table(&self) -> &Name {
        &self.table
    }

    /// The change that removes those with more than `site.max_audit_frequent` newer entries; nothing where there are none.
    /// Entries about accounts stay.
    pub fn outdated(&self, storage: &dyn Storage) -> Result<Option<Change>, StorageError> {
        let snapshot = storage.snapshot()?;
        let at_end = |filter: Cond, newest: bool| -> Result<Option<i64>, StorageError> {
            first_by(&*snapshot, ordered(columns(&self.table, &["id"], filter), "id", newest))
        };
        let newest = at_end(Cond::All(Vec::new()), true)?.unwrap_or(0);
        let last = newest.saturating_sub(self.most);
        for event in self.events.iter().filter(|_| last > 0) {
            if at_end(eq("event", txt(event)), false)?.is_some_and(|oldest| oldest <= last) {
                let old = Cond::Compare(name("id"), Op::Le, DbValue::Int(last));
                let filter = Cond::All(vec![words("event", self.events.iter().map(String::as_str)), old]);
                return Ok(Some(Change::RemoveWhere { table: self.table.clone(), filter }));
            }
        }
        Ok(None)
    }
}

fn resource(registry: &Registry) -> Option<usize> {
    registry.declaration.site.audit.get().and_then(|audit| registry.resource(audit)).map(|resource| resource.index)
}
