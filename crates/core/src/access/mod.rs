//! Authentication and authorization: identification and the guards that endpoints name.
//!
//! A guard decides on checked arguments and loads the target that the handler then works on, so that the same value
//! is checked and used. Guards have no effects: `Allow` is computed by running those of every method.

pub mod addresses;
pub mod app_passwords;
pub mod attempts;
pub mod audit;
pub mod authorization_server;
pub mod client_documents;
pub mod clients;
mod comments;
mod content;
pub mod credentials;
pub mod drafts;
pub mod factor_proofs;
pub mod factors;
mod general;
pub mod grants;
pub mod hashing;
pub mod hints;
pub mod identity;
pub mod links;
mod meter;
pub mod outbox;
pub mod passkeys;
pub mod passwords;
mod plain;
pub mod policy;
pub mod preview_links;
mod seal;
pub mod sessions;
mod terms;
pub mod throttle;
pub mod tokens;
pub mod unlock;
mod users;
mod webauthn;

pub use self::users::{malformed_account, malformed_password, named_user, names_caller, path_user, user_resource};

use self::content::{content_create, content_delete, content_list, content_read, content_update, file_edit};
use self::general::{authenticated, can, public};
use self::plain::{plain_create, plain_delete, plain_list, plain_read, plain_update};
use self::terms::{term_create, term_delete, term_list, term_read, term_update};
use self::users::{user_create, user_delete, user_list, user_read, user_update};
use crate::error::{ApiError, Code, refuse_if};
use crate::features::abilities::guard as abilities;
use crate::features::application_passwords::guard as application_passwords;
use crate::features::catalogue::guard as catalogue;
use crate::features::preview_links::guard as preview_link_guards;
use crate::features::reviews::guard as reviews;
use crate::features::revisions::guard as revisions;
use crate::features::roles::guard as roles;
use crate::features::sessions::guard as account_sessions;
use crate::features::themes::guard as themes;
use crate::features::view_config::guard as view_config;
use crate::model::Method;
use crate::records::{self, Record};
use crate::registry::args::{Arg, ArgRole, Filter};
use crate::registry::resource::{Context, Resource, Sort};
use crate::registry::vocabulary::{AnonymousAccess, BehaviourEntry, joined, rows};
use crate::registry::vocabulary::{COMMENTS, CONTENT, PLAIN, TAXONOMY, USERS};
use crate::registry::{Endpoint, Registry, Route};
use crate::request::args::{ArgSources, ArgValues};
use crate::scope::Scope;
use cms_declaration::Action;
use cms_storage::plan::{DbValue, Row};
use serde_json::Value;
use std::cell::{LazyCell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use unlock::RecordPassword;

/// The decision that a request may go on, with what it was made on. Only [`allow`] makes one.
pub struct Authorization {
    args: ArgValues,
    target: Option<Row>,
    parent: Option<Row>,
    missing: Option<ApiError>,
    context: Context,
    method: Method,
}

impl Authorization {
    /// The checked arguments.
    pub fn args(&self) -> &ArgValues {
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

    /// The error that the target does not exist, for callers who have the rights: it changes nothing about these.
    pub fn missing(&self) -> Option<&ApiError> {
        self.missing.as_ref()
    }

    /// The requested context.
    pub fn context(&self) -> Context {
        self.context
    }

    /// The method of the request.
    pub fn method(&self) -> Method {
        self.method
    }
}

/// Rows that were loaded for one request, so that the guards of its methods load each once.
#[derive(Default)]
pub struct LoadedRows {
    rows: RefCell<HashMap<(usize, String), Option<Row>>>,
    /// The row that the path names, and the position of its resource.
    named: Option<(usize, Row)>,
}

impl LoadedRows {
    /// Begins with a row of a resource that was read already.
    pub fn with(resource: &Resource, row: Row) -> LoadedRows {
        let key = LoadedRows::key(resource, Record { resource, row: &row }.value(&resource.key));
        LoadedRows { rows: RefCell::new(HashMap::from([(key, Some(row))])), named: None }
    }

    /// Begins with the row that the path names.
    fn named(resource: &Resource, row: Row) -> LoadedRows {
        LoadedRows { named: Some((resource.index, row)), ..LoadedRows::default() }
    }

    fn key(resource: &Resource, key: &DbValue) -> (usize, String) {
        (resource.index, format!("{key:?}"))
    }
}

/// Everything that a guard decides on.
pub struct GuardInput<'a> {
    pub scope: &'a Scope,
    pub route: &'a Route,
    pub endpoint: &'a Endpoint,
    /// The method of the request, also where `Allow` asks about others.
    pub method: Method,
    /// Read when they are needed: many guards need the caller alone.
    pub args: &'a dyn Deref<Target = ArgValues>,
    /// Sources of the request's arguments, for those that are not declared.
    pub sources: &'a ArgSources<'a>,
    pub loaded: &'a LoadedRows,
    /// The password of a record that the request brings.
    pub given: Option<&'a RecordPassword<'a>>,
    /// A refusal is the answer, so that it names what is missing.
    pub explains: bool,
}

/// Rows that a guard has read for its decision.
#[derive(Default)]
pub struct GuardRows {
    pub target: Option<Row>,
    pub parent: Option<Row>,
    /// See [`Authorization::missing`].
    pub missing: Option<ApiError>,
}

/// A guard's outcome.
pub type Decision = Result<GuardRows, ApiError>;

/// A guard.
pub type Guard = fn(&GuardInput<'_>) -> Decision;

/// A row of a table of guards.
pub const fn guard(name: &'static str, run: Guard, doc: &'static str) -> BehaviourEntry<Guard> {
    BehaviourEntry::new(name, run, doc)
}

/// Guards of rows, and those that look at the caller alone.
const OWN: &[BehaviourEntry<Guard>] = &[
    guard("public", public, "Allows every caller.").anonymous(AnonymousAccess::Always),
    guard("authenticated", authenticated, "Allows every caller with valid credentials.")
        .fails(&[Code::NotLoggedIn])
        .example(r#"{ methods = ["GET"], handler = "echo", access = "authenticated" }"#),
    guard("can", can, "Allows callers who hold the capability behind the colon.").param("CAPABILITY"),
    guard(
        "content.list",
        content_list,
        "Allows every caller, for the rows that the caller may read; the edit context needs `edit`.",
    )
    .anonymous(AnonymousAccess::Perhaps)
    .on(CONTENT),
    guard(
        "content.read",
        content_read,
        "Allows callers who may read the record; the edit context needs the right to edit it.",
    )
    .anonymous(AnonymousAccess::Perhaps)
    .on(CONTENT)
    .item(),
    guard(
        "content.create",
        content_create,
        "Allows callers with the capability `create` who may set the given author, stickiness and terms.",
    )
    .needs(Action::Create)
    .drafts()
    .on(CONTENT),
    guard("content.update", content_update, "Allows callers who may edit the record in its state.")
        .needs(Action::Edit)
        .drafts()
        .on(CONTENT)
        .item(),
    guard("content.delete", content_delete, "Allows callers who may delete the record in its state.")
        .needs(Action::Delete)
        .drafts()
        .on(CONTENT)
        .item(),
    guard("file.edit", file_edit, "Allows callers who may create files and edit this one.")
        .needs(Action::Create)
        .on(CONTENT)
        .item(),
    guard("term.list", term_list, "Allows every caller; the edit context needs the capability `edit`.")
        .anonymous(AnonymousAccess::Perhaps)
        .on(TAXONOMY),
    guard("term.read", term_read, "Allows every caller; the edit context needs the capability `edit`.")
        .anonymous(AnonymousAccess::Perhaps)
        .on(TAXONOMY)
        .item(),
    guard(
        "term.create",
        term_create,
        "Allows callers with the capability `edit`, or `assign` where the taxonomy is flat.",
    )
    .on(TAXONOMY),
    guard("term.update", term_update, "Allows callers with the capability `edit`.")
        .needs(Action::Edit)
        .on(TAXONOMY)
        .item(),
    guard("term.delete", term_delete, "Allows callers with the capability `delete`; never the default term.")
        .needs(Action::Delete)
        .on(TAXONOMY)
        .item(),
    guard(
        "user.list",
        user_list,
        "Allows every caller, for users with published records; the edit context needs `list`.",
    )
    .anonymous(AnonymousAccess::Perhaps)
    .on(USERS),
    guard(
        "user.read",
        user_read,
        "Allows the user, callers who may list users, and everybody for users with published records.",
    )
    .anonymous(AnonymousAccess::Perhaps)
    .on(USERS)
    .item(),
    guard("user.create", user_create, "Allows callers with the capability `create`, for roles that they may give.")
        .needs(Action::Create)
        .on(USERS),
    guard("user.update", user_update, "Allows the user, and callers who may edit users and have their rights.")
        .on(USERS)
        .item(),
    guard("user.delete", user_delete, "Allows callers who may delete users and have their rights.").on(USERS).item(),
    guard(
        "comment.list",
        comments::list,
        "Allows callers who may read the named records; filters by author or status are for editors.",
    )
    .anonymous(AnonymousAccess::Perhaps)
    .on(COMMENTS),
    guard("comment.read", comments::read, "Allows callers who may read the comment and its record.")
        .anonymous(AnonymousAccess::Perhaps)
        .on(COMMENTS)
        .item(),
    guard(
        "comment.create",
        comments::create,
        "Allows callers who may comment on the record, as far as author and state are theirs to set.",
    )
    .anonymous(AnonymousAccess::Perhaps)
    .on(COMMENTS),
    guard("comment.update", comments::update, "Allows moderators and callers who may edit the record.")
        .editors()
        .on(COMMENTS)
        .item(),
    guard("comment.delete", comments::delete, "Allows moderators and callers who may edit the record.")
        .editors()
        .on(COMMENTS)
        .item(),
    guard("plain.list", plain_list, "Allows callers with the capability `read`, or everybody where none is declared.")
        .anonymous(AnonymousAccess::WhereReadable)
        .on(PLAIN),
    guard("plain.read", plain_read, "Allows callers with the capability `read`, or everybody where none is declared.")
        .anonymous(AnonymousAccess::WhereReadable)
        .on(PLAIN)
        .item(),
    guard("plain.create", plain_create, "Allows callers with the capability `create`.").needs(Action::Create).on(PLAIN),
    guard(
        "plain.update",
        plain_update,
        "Allows callers with `edit`; rows of others need `edit_others` where the resource has an owner.",
    )
    .needs(Action::Edit)
    .on(PLAIN)
    .item(),
    guard(
        "plain.delete",
        plain_delete,
        "Allows callers with `delete`; rows of others need `delete_others` where there is an owner.",
    )
    .needs(Action::Delete)
    .on(PLAIN)
    .item(),
];

/// The guards of this module, and those of the features.
const TABLES: &[&[BehaviourEntry<Guard>]] = &[
    OWN,
    reviews::GUARDS,
    revisions::GUARDS,
    roles::GUARDS,
    preview_link_guards::GUARDS,
    catalogue::GUARDS,
    themes::GUARDS,
    application_passwords::GUARDS,
    account_sessions::GUARDS,
    abilities::GUARDS,
    view_config::GUARDS,
];

/// Every guard by the name that declarations use.
pub static GUARDS: &[BehaviourEntry<Guard>] = &joined::<_, { rows(TABLES) }>(TABLES);

/// Runs the endpoint's guard.
///
/// # Errors
/// The guard's refusal, or 404 when the target is missing.
pub fn allow(input: &GuardInput<'_>, args: ArgValues) -> Result<Authorization, ApiError> {
    let GuardRows { target, parent, missing } = ask(input)?;
    let context = args.context(&input.endpoint.args);
    Ok(Authorization { args, target, parent, missing, context, method: input.method })
}

/// Runs the guard without going on: what `Allow` needs.
///
/// # Errors
/// As [`allow`].
pub fn ask(input: &GuardInput<'_>) -> Decision {
    let GuardInput { scope, route, endpoint, .. } = input;
    if let Some(limits) =
        scope.principal.limits.as_ref().filter(|limits| !limits.admit(&scope.registry, route, endpoint))
    {
        return Err(drafts::beyond(limits));
    }
    let named = input.resource().ok().filter(|resource| content::rights_are_uniform(resource));
    input.refuse_if(named.is_some() && endpoint.editors_only && !policy::edits_something(scope), Code::CannotView)?;
    let found = match (GUARDS[input.endpoint.guard.0].run)(input) {
        // The rights to records of this kind do not depend on the record.
        Err(error) if named.is_some_and(|of| error.code() == of.code(Code::PostInvalidId)) => {
            GuardRows { missing: Some(error), ..GuardRows::default() }
        }
        decision => decision?,
    };
    let found = GuardRows { missing: found.missing.or(within(input, found.target.as_ref())?), ..found };
    open_criteria(input).and_then(|()| edit_only(input))?;
    input.refuse_if(endpoint.editors_only && !policy::edits_something(scope), Code::CannotView)?;
    Ok(found)
}

/// The item above that the path names exists, and what the path names is below it.
fn within(input: &GuardInput<'_>, target: Option<&Row>) -> Result<Option<ApiError>, ApiError> {
    let Some(resource) = input.route.resource.map(|index| &input.registry().resources[index]) else {
        return Ok(None);
    };
    let Some((within, mismatch)) = &resource.within else { return Ok(None) };
    let named = input.sources.path.get(&within.property).and_then(Value::as_str).and_then(|key| key.parse().ok());
    let relation = resource.relations.iter().find(|relation| relation.property == within.property);
    let (Some(named), Some(relation)) = (named, relation) else { return Ok(None) };
    let above = &input.registry().resources[relation.to];
    if input.load(above, &DbValue::Int(named))?.is_none() {
        return Ok(Some(failure(resource, relation.missing.unwrap_or(Code::PostInvalidParent))));
    }
    Ok(match target {
        Some(row) if Record { resource, row }.int(&within.property) != named => Some(failure(resource, *mismatch)),
        _ => None,
    })
}

/// Criteria, and the one that rows are counted by, use nothing that the caller or the application password may not see.
fn open_criteria(input: &GuardInput<'_>) -> Result<(), ApiError> {
    let (set, args, limits) = (&input.endpoint.args, input.args, input.scope.principal.limits.as_ref());
    let Some(arg) = set.role(ArgRole::Where) else { return Ok(()) };
    let Some(Filter::Where(criteria)) = &arg.filter else { return Ok(()) };
    let given = args.explicit(&arg.name).and_then(Value::as_object).into_iter().flatten();
    let named = given.map(|(name, _)| name.as_str()).chain(args.role(set, ArgRole::CountBy).and_then(Value::as_str));
    for (name, criterion) in named.filter_map(|name| Some((name, criteria.0.get(name)?))) {
        let (target, related) = (&input.registry().resources[criterion.resource], criterion.through.is_some());
        refuse_if(related && limits.is_some_and(|limits| !limits.reach(&target.name)), Code::AppPasswordLimited)?;
        // Related rows are not listed, so none of them is shown for editing.
        let context = if related { Context::VIEW } else { input.context() };
        let reads = criterion.needs.iter().all(|capability| input.scope.principal.can(capability));
        if !reads || criterion.edit_only && !policy::sees_edit_only(input.scope, target, context) {
            let message = format!("You may not use these parameters with these values: {}[{name}].", arg.name);
            return Err(input.refuse(Code::ForbiddenParam).with_message(message));
        }
    }
    Ok(())
}

/// Callers who may not see edit-only columns, or fields with rights of their own, learn nothing of them by a filter or a sort
/// order either. A search leaves such columns out: `lists::searched`.
fn edit_only(input: &GuardInput<'_>) -> Result<(), ApiError> {
    let set = &input.endpoint.args;
    let Some(resource) = input.route.resource.filter(|_| set.edit_only).map(|index| &input.registry().resources[index])
    else {
        return Ok(());
    };
    let (args, scope) = (input.args, input.scope);
    let sees = LazyCell::new(|| policy::sees_edit_only(scope, resource, input.context()));
    let empty = |value: &Value| matches!(value, Value::Null) || value.as_array().is_some_and(Vec::is_empty);
    let usual = |arg: &&Arg| (arg.edit_only || !arg.needs.is_empty()) && arg.role != Some(ArgRole::Where);
    let given = |arg: &&Arg| args.explicit(&arg.name).is_some_and(|value| !empty(value));
    let closed = |arg: &&Arg| !scope.principal.can(&arg.needs) || arg.edit_only && !*sees;
    let filter = set.args.iter().filter(usual).filter(given).find(closed);
    let sort = args.role(set, ArgRole::Orderby).and_then(Value::as_str).and_then(|orderby| resource.sort.get(orderby));
    let keys =
        args.role(set, ArgRole::OrderKeys).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let keys = keys.filter_map(|key| resource.sort.get(key.strip_prefix('-').unwrap_or(key)));
    let hidden = |sort: &Sort| match sort {
        Sort::Column(column) => {
            !policy::reads_column(scope, resource, column) || resource.edit_only.contains(column) && !*sees
        }
        _ => false,
    };
    match filter {
        Some(arg) => {
            let message = format!("You may not use these parameters with these values: {}.", arg.name);
            Err(input.refuse(Code::ForbiddenParam).with_message(message))
        }
        None => input.refuse_if(sort.into_iter().chain(keys).any(hidden), Code::ForbiddenOrderby),
    }
}

/// Runs the guard once more on the rows as they are now.
///
/// # Errors
/// As [`allow`].
pub fn still_allowed(
    scope: &Scope,
    route: &Route,
    endpoint: &Endpoint,
    allowed: &Authorization,
    (sources, given): (&ArgSources<'_>, Option<&RecordPassword<'_>>),
) -> Result<(), ApiError> {
    let (method, args, loaded, explains) = (allowed.method, &&allowed.args, &LoadedRows::default(), true);
    let found = ask(&GuardInput { scope, route, endpoint, method, args, sources, loaded, given, explains })?;
    found.missing.map_or(Ok(()), Err)
}

impl<'a> GuardInput<'a> {
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

    /// The requested context.
    pub fn context(&self) -> Context {
        self.args.context(&self.endpoint.args)
    }

    /// Whether the caller may do an act to a row.
    pub fn may(&self, action: Action, record: Record<'_>) -> Result<bool, ApiError> {
        let may = policy::may(self.scope, action, record)?;
        self.noted(may, action, record)
    }

    /// Whether the caller sees a row as it is edited.
    pub fn sees_edited(&self, record: Record<'_>) -> Result<bool, ApiError> {
        let sees = policy::sees_edited(self.scope, record)?;
        self.noted(sees, Action::Edit, record)
    }

    fn noted(&self, may: bool, action: Action, record: Record<'_>) -> Result<bool, ApiError> {
        if !may && self.explains && self.registry().declaration.dialect.name_missing_capability {
            policy::note_missing(self.scope, action, record)?;
        }
        Ok(may)
    }

    /// An error with the code of the endpoint, or else of the resource.
    pub fn refuse(&self, code: Code) -> ApiError {
        let own = self.endpoint.codes.get(&code).copied();
        let code = own.unwrap_or_else(|| self.resource().map_or(code, |r| r.code(code)));
        self.scope.principal.refuse(code)
    }

    /// Refuses with [`GuardInput::refuse`] where a condition holds.
    ///
    /// # Errors
    /// It holds.
    pub fn refuse_if(&self, refused: bool, code: Code) -> Result<(), ApiError> {
        if refused { Err(self.refuse(code)) } else { Ok(()) }
    }

    /// A failure with the code of the resource.
    pub fn fail(&self, code: Code) -> ApiError {
        match self.resource() {
            Ok(resource) => failure(resource, code),
            Err(_) => ApiError::new(code),
        }
    }

    /// The row of a resource with this key, loaded once.
    pub fn load(&self, resource: &Resource, key: &DbValue) -> Result<Option<Row>, ApiError> {
        let id = LoadedRows::key(resource, key);
        if let Some(row) = self.loaded.rows.borrow().get(&id) {
            return Ok(row.clone());
        }
        let row = records::find(&*self.scope.snapshot()?, resource, key)?;
        self.loaded.rows.borrow_mut().insert(id, row.clone());
        Ok(row)
    }

    /// The row that the path names, or the resource's 404.
    ///
    /// # Errors
    /// There is none, or the database cannot be read.
    pub fn target(&self, missing: Code) -> Result<Row, ApiError> {
        let resource = self.resource()?;
        if let Some((of, row)) = &self.loaded.named
            && *of == resource.index
        {
            return Ok(row.clone());
        }
        let arg = self.endpoint.args.role(ArgRole::Key).map_or(&*resource.key, |a| a.name.as_str());
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

/// An error with the resource's own code and status for a catalogue code.
pub fn failure(resource: &Resource, code: Code) -> ApiError {
    let code = resource.code(code);
    let error = ApiError::new(code);
    match resource.status_of_codes.get(&code) {
        Some(status) if *status != error.status() => error.with_status(*status),
        _ => error,
    }
}

fn target(row: Row) -> Decision {
    Ok(GuardRows { target: Some(row), ..GuardRows::default() })
}
