//! Who is asking, and may they: identification and the guards that endpoints name.
//!
//! A guard decides on checked arguments and loads the target that the handler then works on, so that the same value
//! reaches the check and the work. Guards have no effects: `Allow` is computed by asking those of every method.

pub mod attempts;
pub mod audit;
mod comments;
mod content;
mod declared;
pub mod hashing;
pub mod identity;
mod meter;
mod passwords;
mod plain;
pub mod policy;
mod revisions;
pub mod sessions;
mod terms;
pub mod throttle;
pub mod unlock;
mod users;

pub use self::users::malformed_account;

use self::content::{content_create, content_delete, content_list, content_read, content_update, file_edit};
use self::declared::{catalogue_list, catalogue_read, theme_read};
use self::plain::{plain_create, plain_delete, plain_list, plain_read, plain_update};
use self::terms::{term_create, term_delete, term_list, term_read, term_update};
use self::users::{user_create, user_delete, user_list, user_read, user_update};
use crate::error::{ApiError, Code};
use crate::records::{self, Record};
use crate::registry::args::Role;
use crate::registry::resource::{Context, Resource, Sort};
use crate::registry::{Endpoint, Registry, Route};
use crate::request::args::{Checked, Sources};
use crate::scope::Scope;
use crate::storage::plan::{DbValue, Row};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use unlock::RecordPassword;

/// The decision that a request may go on, with what it was made on. Only [`allow`] makes one.
pub struct Allowed {
    args: Checked,
    target: Option<Row>,
    parent: Option<Row>,
    context: Context,
}

impl Allowed {
    /// The checked arguments.
    pub fn args(&self) -> &Checked {
        &self.args
    }

    /// The row that the path names, where it names one.
    pub fn target(&self) -> Option<&Row> {
        self.target.as_ref()
    }

    /// The row that the target hangs below (a revision's record), where there is one.
    pub fn parent(&self) -> Option<&Row> {
        self.parent.as_ref()
    }

    /// The context asked for.
    pub fn context(&self) -> Context {
        self.context
    }
}

/// Rows that were loaded for one request, so that the guards of its methods load each once.
#[derive(Default)]
pub struct Loaded(RefCell<HashMap<(usize, String), Option<Row>>>);

impl Loaded {
    /// Begins with a row of a resource that was read already.
    pub fn with(resource: &Resource, row: Row) -> Loaded {
        let key = Loaded::key(resource, Record { resource, row: &row }.value(&resource.key));
        Loaded(RefCell::new(HashMap::from([(key, Some(row))])))
    }

    fn key(resource: &Resource, key: &DbValue) -> (usize, String) {
        (resource.index, format!("{key:?}"))
    }
}

/// What a guard decides on.
pub struct Asking<'a> {
    pub scope: &'a Scope,
    pub route: &'a Route,
    pub endpoint: &'a Endpoint,
    /// Read when they are asked for: many guards need the caller alone.
    pub args: &'a dyn Deref<Target = Checked>,
    /// What the request brings, for what no argument declares.
    pub sources: &'a Sources<'a>,
    pub loaded: &'a Loaded,
    /// The password of a record that the request brings.
    pub given: Option<&'a RecordPassword<'a>>,
}

/// What a guard finds on the way.
#[derive(Default)]
pub struct Found {
    pub target: Option<Row>,
    pub parent: Option<Row>,
}

/// A guard's outcome.
pub type Decision = Result<Found, ApiError>;

/// A guard.
pub type Guard = fn(&Asking<'_>) -> Decision;

/// Every guard by the name that declarations use.
pub const GUARDS: &[(&str, Guard)] = &[
    ("public", public),
    ("authenticated", authenticated),
    ("can", can),
    ("content.list", content_list),
    ("content.read", content_read),
    ("content.create", content_create),
    ("content.update", content_update),
    ("content.delete", content_delete),
    ("file.edit", file_edit),
    ("term.list", term_list),
    ("term.read", term_read),
    ("term.create", term_create),
    ("term.update", term_update),
    ("term.delete", term_delete),
    ("user.list", user_list),
    ("user.read", user_read),
    ("user.create", user_create),
    ("user.update", user_update),
    ("user.delete", user_delete),
    ("revision.list", revisions::read),
    ("revision.read", revisions::read),
    ("revision.delete", revisions::delete),
    ("autosave.list", revisions::read),
    ("autosave.read", revisions::read),
    ("autosave.create", revisions::autosave),
    ("comment.list", comments::list),
    ("comment.read", comments::read),
    ("comment.create", comments::create),
    ("comment.update", comments::update),
    ("comment.delete", comments::delete),
    ("catalogue.list", catalogue_list),
    ("catalogue.read", catalogue_read),
    ("theme.list", theme_read),
    ("theme.read", theme_read),
    ("app_password.list", passwords::list),
    ("app_password.read", passwords::read),
    ("app_password.create", passwords::create),
    ("app_password.update", passwords::update),
    ("app_password.delete", passwords::delete),
    ("app_password.delete_all", passwords::delete_all),
    ("app_password.introspect", passwords::introspect),
    ("plain.list", plain_list),
    ("plain.read", plain_read),
    ("plain.create", plain_create),
    ("plain.update", plain_update),
    ("plain.delete", plain_delete),
];

/// Asks the endpoint's guard.
///
/// # Errors
/// The guard's refusal, or 404 when the target is missing.
pub fn allow(asking: &Asking<'_>, args: Checked) -> Result<Allowed, ApiError> {
    let found = ask(asking)?;
    let context = args.context(&asking.endpoint.args);
    Ok(Allowed { args, target: found.target, parent: found.parent, context })
}

/// Asks without going on: what `Allow` needs.
///
/// # Errors
/// As [`allow`].
pub fn ask(asking: &Asking<'_>) -> Decision {
    let Asking { scope, route, endpoint, .. } = asking;
    if scope.principal.limits.as_ref().is_some_and(|limits| !limits.admit(&scope.registry, route, endpoint)) {
        return Err(ApiError::new(Code::AppPasswordLimited));
    }
    let (_, guard) = GUARDS[asking.endpoint.guard.0];
    let found = guard(asking)?;
    edit_only(asking)?;
    if endpoint.editors_only && !policy::edits_something(scope) {
        return Err(asking.refuse(Code::CannotView));
    }
    Ok(found)
}

/// What only the edit context shows, nobody else learns by a filter, a sort order or a searched column.
fn edit_only(asking: &Asking<'_>) -> Result<(), ApiError> {
    let set = &asking.endpoint.args;
    let Some(resource) =
        asking.route.resource.filter(|_| set.edit_only).map(|index| &asking.registry().resources[index])
    else {
        return Ok(());
    };
    let args = asking.args;
    let empty = |value: &Value| matches!(value, Value::Null) || value.as_array().is_some_and(Vec::is_empty);
    let filter = set.args.iter().find(|arg| arg.edit_only && args.given(&arg.name).is_some_and(|value| !empty(value)));
    let sort = args.role(set, Role::Orderby).and_then(Value::as_str).and_then(|orderby| resource.sort.get(orderby));
    let sorts = matches!(sort, Some(Sort::Column(column)) if resource.edit_only.contains(column));
    let named = args.role(set, Role::SearchColumns).and_then(Value::as_array).into_iter().flatten();
    let closed = |name: &&str| resource.search.get(*name).is_some_and(|column| resource.edit_only.contains(column));
    let searched = named.filter_map(Value::as_str).find(closed);
    if (filter.is_none() && !sorts && searched.is_none())
        || policy::sees_edit_only(asking.scope, resource, asking.context())
    {
        return Ok(());
    }
    if let (Some(column), Some(arg)) = (searched, set.role(Role::SearchColumns)) {
        return Err(ApiError::invalid_one(&arg.name, format!("{}: you may not search in {column}.", arg.name)));
    }
    match filter {
        Some(arg) => {
            let message = format!("You may not use these parameters with these values: {}.", arg.name);
            Err(asking.refuse(Code::ForbiddenParam).with_message(message))
        }
        None => Err(asking.refuse(Code::ForbiddenOrderby)),
    }
}

/// Asks the guard once more on the rows as they are now.
///
/// # Errors
/// As [`allow`].
pub fn still_allowed(
    scope: &Scope,
    route: &Route,
    endpoint: &Endpoint,
    args: &Checked,
    (sources, given): (&Sources<'_>, Option<&RecordPassword<'_>>),
) -> Result<(), ApiError> {
    ask(&Asking { scope, route, endpoint, args: &args, sources, loaded: &Loaded::default(), given }).map(|_| ())
}

impl<'a> Asking<'a> {
    /// The registry of the request.
    pub fn registry(&self) -> &'a Registry {
        &self.scope.registry
    }

    /// The route's resource.
    ///
    /// # Errors
    /// A route without a resource that names a guard of resources: 500.
    pub fn resource(&self) -> Result<&'a Resource, ApiError> {
        let index = self.route.resource.ok_or_else(|| ApiError::new(Code::Internal))?;
        Ok(&self.scope.registry.resources[index])
    }

    /// The context asked for.
    pub fn context(&self) -> Context {
        self.args.context(&self.endpoint.args)
    }

    /// A refusal in the endpoint's words, or else in the resource's.
    pub fn refuse(&self, code: Code) -> ApiError {
        let own = self.endpoint.codes.get(&code).copied();
        let code = own.unwrap_or_else(|| self.resource().map_or(code, |r| r.code(code)));
        self.scope.principal.refuse(code)
    }

    /// A failure in the resource's words.
    pub fn fail(&self, code: Code) -> ApiError {
        match self.resource() {
            Ok(resource) => failure(resource, code),
            Err(_) => ApiError::new(code),
        }
    }

    /// The row of a resource with this key, loaded once.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn load(&self, resource: &Resource, key: &DbValue) -> Result<Option<Row>, ApiError> {
        let id = Loaded::key(resource, key);
        if let Some(row) = self.loaded.0.borrow().get(&id) {
            return Ok(row.clone());
        }
        let row = records::find(&*self.scope.snapshot()?, resource, key)?;
        self.loaded.0.borrow_mut().insert(id, row.clone());
        Ok(row)
    }

    /// The row that the path names, or the resource's 404.
    ///
    /// # Errors
    /// There is none, or the database cannot be read.
    pub fn target(&self, missing: Code) -> Result<Row, ApiError> {
        let resource = self.resource()?;
        let arg = self.endpoint.args.role(Role::Key).map_or(&*resource.key, |a| a.name.as_str());
        // A route may name its item without declaring an argument for it.
        let key = match self.args.get(arg).or_else(|| self.sources.path.get(arg)) {
            Some(Value::Number(n)) => n.as_i64().map(DbValue::Int),
            Some(Value::String(text)) => records::key_of(self.registry(), &*self.scope.snapshot()?, resource, text)?,
            _ => None,
        };
        let key = key.ok_or_else(|| self.fail(missing))?;
        self.load(resource, &key)?.ok_or_else(|| self.fail(missing))
    }
}

/// An error in a resource's words: its own code and status for a catalogue code.
pub fn failure(resource: &Resource, code: Code) -> ApiError {
    let code = resource.code(code);
    let error = ApiError::new(code);
    match resource.status_of_codes.get(&code) {
        Some(status) if *status != error.status() => error.with_status(*status),
        _ => error,
    }
}

fn target(row: Row) -> Decision {
    Ok(Found { target: Some(row), parent: None })
}

/// Compares two texts in time that depends on their lengths alone.
pub fn same_text(a: &str, b: &str) -> bool {
    use subtle::ConstantTimeEq;
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

// ------------------------------------------------------------------------------------------------ general

fn public(_: &Asking<'_>) -> Decision {
    Ok(Found::default())
}

fn authenticated(asking: &Asking<'_>) -> Decision {
    if asking.scope.principal.known() {
        Ok(Found::default())
    } else {
        Err(asking.scope.principal.refuse(Code::NotLoggedIn))
    }
}

fn can(asking: &Asking<'_>) -> Decision {
    if asking.scope.principal.can(&asking.endpoint.guard_param) {
        Ok(Found::default())
    } else {
        Err(asking.refuse(Code::Forbidden))
    }
}
