//! Who is asking, and may they: identification and the guards that endpoints name.
//!
//! A guard decides on checked arguments and loads the target that the handler then works on, so that the same value
//! reaches the check and the work. Guards have no effects: `Allow` is computed by asking those of every method.

pub mod attempts;
pub mod audit;
mod comments;
pub mod hashing;
pub mod identity;
mod meter;
mod passwords;
pub mod policy;
mod revisions;
pub mod sessions;
pub mod throttle;
pub mod unlock;

use crate::config::declaration::Family;
use crate::error::{ApiError, Code};
use crate::records::{self, Record};
use crate::registry::args::Role;
use crate::registry::resource::{Context, Resource, Sort};
use crate::registry::{Endpoint, Registry, Route};
use crate::request::args::{Checked, Sources};
use crate::scope::Scope;
use crate::storage::plan::{DbValue, Row};
use crate::text::slug;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
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

// ------------------------------------------------------------------------------------------------ content

fn content_list(asking: &Asking<'_>) -> Decision {
    let resource = asking.resource()?;
    if asking.context() == Context::EDIT && !asking.scope.principal.can(resource.capability("edit")) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    Ok(Found::default())
}

fn content_read(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::PostInvalidId)?;
    let record = Record { resource: asking.resource()?, row: &row };
    if asking.context() == Context::EDIT && !policy::sees_edited(asking.scope, record) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if asking.given.is_some_and(|given| !given.opens(record.text("password"))) {
        return Err(ApiError::new(Code::PostIncorrectPassword));
    }
    if !policy::may(asking.scope, "read", record) {
        return Err(asking.refuse(Code::Forbidden));
    }
    target(row)
}

fn content_create(asking: &Asking<'_>) -> Decision {
    let resource = asking.resource()?;
    let caller = &asking.scope.principal;
    if asking.sources.get("id").is_some() {
        return Err(ApiError::new(Code::PostExists));
    }
    author_and_sticky(asking, resource)?;
    if !caller.can(resource.capability("create")) {
        return Err(asking.refuse(Code::CannotCreate));
    }
    assigned_terms(asking, resource)?;
    attaches(asking, resource, None)?;
    Ok(Found::default())
}

/// Whoever attaches something to a record must be able to edit the record; what is attached to it `already` may stay.
/// An update may name a record that does not exist, as in the recorded contract: no address names it.
fn attaches(asking: &Asking<'_>, resource: &Resource, already: Option<i64>) -> Result<(), ApiError> {
    if !resource.supports("attached") {
        return Ok(());
    }
    let parent = resource.properties.iter().find(|p| p.column.as_deref() == Some("parent"));
    let parent = parent.and_then(|p| asking.args.int(&p.name)).filter(|id| *id != 0 && Some(*id) != already);
    let Some(id) = parent else { return Ok(()) };
    let exists = || -> Result<bool, ApiError> {
        let row = records::first(&*asking.scope.snapshot()?, "record", &["id"], records::eq("id", DbValue::Int(id)))?;
        Ok(row.is_some())
    };
    if policy::parent_content(asking.scope, id, "edit") == Some(true) || already.is_some() && !exists()? {
        return Ok(());
    }
    Err(asking.refuse(Code::CannotEdit))
}

/// A new file out of one that is there: for those who bring files and edit this one.
fn file_edit(asking: &Asking<'_>) -> Decision {
    if !asking.scope.principal.can(asking.resource()?.capability("create")) {
        return Err(asking.refuse(Code::CannotEditImage));
    }
    let found = content_update(asking)?;
    // The new file hangs where the request says.
    attaches(asking, asking.resource()?, None)?;
    Ok(found)
}

fn content_update(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::PostInvalidId)?;
    let resource = asking.resource()?;
    if !policy::may(asking.scope, "edit", Record { resource, row: &row }) {
        return Err(asking.refuse(Code::CannotEdit));
    }
    author_and_sticky(asking, resource)?;
    assigned_terms(asking, resource)?;
    attaches(asking, resource, Some(Record { resource, row: &row }.int("parent")))?;
    target(row)
}

fn content_delete(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::PostInvalidId)?;
    if !policy::may(asking.scope, "delete", Record { resource: asking.resource()?, row: &row }) {
        return Err(asking.refuse(Code::CannotDelete));
    }
    target(row)
}

/// Another's name and the front page are for those who edit others' records (or publish).
fn author_and_sticky(asking: &Asking<'_>, resource: &Resource) -> Result<(), ApiError> {
    let caller = &asking.scope.principal;
    let others = caller.can(resource.capability("edit_others"));
    if let Some(author) = asking.args.int("author")
        && resource.supports("author")
        && author != 0
        && author != caller.id
        && !others
    {
        return Err(asking.refuse(Code::CannotEditOthers));
    }
    let may_stick = others || caller.can(resource.capability("publish"));
    if asking.args.flag("sticky") && resource.supports("sticky") && !may_stick {
        return Err(asking.refuse(Code::CannotAssignSticky));
    }
    Ok(())
}

fn assigned_terms(asking: &Asking<'_>, resource: &Resource) -> Result<(), ApiError> {
    for relation in resource.relations.iter().filter(|r| r.many) {
        let taxonomy = &asking.registry().resources[relation.to];
        if taxonomy.family == Family::Term
            && asking.args.given(&relation.property).is_some()
            && !policy::may_assign(&asking.scope.principal, taxonomy)
        {
            return Err(asking.refuse(Code::CannotAssignTerm));
        }
    }
    Ok(())
}

/// Compares two texts in time that depends on their lengths alone.
pub fn same_text(a: &str, b: &str) -> bool {
    use subtle::ConstantTimeEq;
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

// ------------------------------------------------------------------------------------------------ terms

fn term_list(asking: &Asking<'_>) -> Decision {
    let resource = asking.resource()?;
    if asking.context() == Context::EDIT && !asking.scope.principal.can(resource.capability("edit")) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if let Some(post) = asking.args.int("post").filter(|post| *post != 0) {
        match policy::parent_content(asking.scope, post, "read") {
            None => return Err(ApiError::new(Code::PostInvalidId).with_status(400)),
            Some(false) => return Err(asking.refuse(Code::ForbiddenContext)),
            Some(true) => {}
        }
    }
    Ok(Found::default())
}

fn term_read(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::TermInvalid)?;
    let record = Record { resource: asking.resource()?, row: &row };
    if asking.context() == Context::EDIT && !policy::sees_edited(asking.scope, record) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    target(row)
}

fn term_create(asking: &Asking<'_>) -> Decision {
    let resource = asking.resource()?;
    // Whoever may assign terms of a flat taxonomy may make them up.
    let act = if resource.declared.hierarchical { "edit" } else { "assign" };
    if !asking.scope.principal.can(resource.capability(act)) {
        return Err(asking.refuse(Code::CannotCreate));
    }
    Ok(Found::default())
}

fn term_update(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::TermInvalid)?;
    if !asking.scope.principal.can(asking.resource()?.capability("edit")) {
        return Err(asking.refuse(Code::CannotUpdate));
    }
    target(row)
}

fn term_delete(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::TermInvalid)?;
    let resource = asking.resource()?;
    let default = resource.declared.default_setting.as_deref().map_or(0, |s| asking.scope.settings.int(s));
    // The default term stays, whoever asks: records need one to fall back on.
    if default == (Record { resource, row: &row }).id() || !asking.scope.principal.can(resource.capability("delete")) {
        return Err(asking.refuse(Code::CannotDelete));
    }
    target(row)
}

// ------------------------------------------------------------------------------------------------ users

fn user_list(asking: &Asking<'_>) -> Decision {
    let caller = &asking.scope.principal;
    let lists = caller.can(user_resource(asking)?.capability("list"));
    let filtered = |arg: &str| asking.args.given(arg).is_some_and(|v| v.as_array().is_none_or(|l| !l.is_empty()));
    if !lists && (filtered("roles") || filtered("capabilities")) {
        return Err(asking.refuse(Code::UserCannotView));
    }
    if asking.context() == Context::EDIT && !lists {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if asking.args.text("who") == Some("authors") {
        let mut content = asking.registry().family(Family::Content).filter(|r| r.supports("author"));
        if !lists && !content.any(|r| caller.can(r.capability("edit"))) {
            return Err(asking.refuse(Code::ForbiddenWho));
        }
    }
    Ok(Found::default())
}

/// The user that the path names: an id, or `me`.
fn named_user(asking: &Asking<'_>) -> Result<Row, ApiError> {
    let captured = asking.args.get("id").or_else(|| asking.args.get("user_id"));
    let users = user_resource(asking)?;
    let id = if names_caller(asking) {
        if !asking.scope.principal.known() {
            return Err(ApiError::new(Code::UserInvalidId));
        }
        asking.scope.principal.id
    } else {
        let id = captured.and_then(|v| v.as_i64().or_else(|| v.as_str()?.parse().ok()));
        id.ok_or_else(|| ApiError::new(Code::UserInvalidId))?
    };
    asking.load(users, &DbValue::Int(id))?.ok_or_else(|| ApiError::new(Code::UserInvalidId))
}

/// The path says `me`, or nothing at all.
fn names_caller(asking: &Asking<'_>) -> bool {
    let captured = asking.args.get("id").or_else(|| asking.args.get("user_id"));
    let by_path = asking.endpoint.args.get("id").is_some() || asking.endpoint.args.get("user_id").is_some();
    !by_path || captured.and_then(Value::as_str) == Some("me")
}

fn user_resource<'a>(asking: &Asking<'a>) -> Result<&'a Resource, ApiError> {
    asking.registry().family(Family::User).next().ok_or_else(|| ApiError::new(Code::Internal))
}

fn user_read(asking: &Asking<'_>) -> Decision {
    let by_path = asking.endpoint.args.get("id").is_some();
    if !by_path && !asking.scope.principal.known() {
        // Everybody may ask who they are; the handler answers strangers.
        return Ok(Found::default());
    }
    let row = named_user(asking)?;
    let record = Record { resource: user_resource(asking)?, row: &row };
    if record.id() == asking.scope.principal.id {
        return target(row);
    }
    if asking.context() == Context::EDIT && !policy::sees_edited(asking.scope, record) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    let lists = ["edit", "read"].iter().any(|act| policy::may(asking.scope, act, record));
    let hidden = !asking.registry().declaration.site.list_authors && !asking.scope.principal.known();
    if !lists && (hidden || !policy::has_published(asking.scope, record.id())) {
        return Err(asking.refuse(Code::UserCannotView));
    }
    target(row)
}

fn user_create(asking: &Asking<'_>) -> Decision {
    let can = |act: &str| user_resource(asking).is_ok_and(|users| asking.scope.principal.can(users.capability(act)));
    if !can("create") {
        // What does not fit is told before who may.
        return Err(
            malformed_account(asking.registry(), asking.args).unwrap_or_else(|| asking.refuse(Code::CannotCreateUser))
        );
    }
    let wanted = roles(asking).unwrap_or_default();
    let default = asking.registry().default_role();
    let usual = wanted.iter().all(|role| Some(&**role) == default);
    if !usual && !can("promote") || !policy::may_give(asking.scope, &wanted) {
        return Err(asking.refuse(Code::CannotEditRoles));
    }
    Ok(Found::default())
}

/// The roles that a request gives a user.
fn roles(asking: &Asking<'_>) -> Option<Vec<Arc<str>>> {
    let given = asking.args.given("roles")?.as_array()?;
    Some(given.iter().filter_map(Value::as_str).map(Arc::from).collect())
}

/// What is wrong with the login, the address or the password that a request gives an account, as an argument that does
/// not fit.
pub fn malformed_account(registry: &Registry, args: &Checked) -> Option<ApiError> {
    let site = &registry.declaration.site;
    let given = |name: &str| args.given(name).and_then(Value::as_str);
    if given("username").is_some_and(|login| !slug::valid_login(login)) {
        return Some(ApiError::invalid_for("username", Code::UserInvalidUsername));
    }
    if given("email").is_some_and(|email| email.len() > site.max_login.as_usize()) {
        let message = format!("An e-mail address has at most {} bytes.", site.max_login.bytes());
        return Some(ApiError::invalid_one("email", message));
    }
    let password = given("password")?;
    if password.len() > site.max_password.as_usize() {
        let message = format!("A password has at most {} bytes.", site.max_password.bytes());
        return Some(ApiError::invalid_one("password", message));
    }
    let unfit = password.is_empty() || password.contains(['\\', '\0']);
    unfit.then(|| ApiError::invalid_for("password", Code::UserInvalidPassword))
}

fn user_update(asking: &Asking<'_>) -> Decision {
    let row = named_user(asking)?;
    let record = Record { resource: user_resource(asking)?, row: &row };
    let roles = roles(asking).unwrap_or_default();
    let gives = || policy::may(asking.scope, "promote", record) && policy::may_give(asking.scope, &roles);
    if !roles.is_empty() && !gives() {
        return Err(asking.refuse(Code::CannotEditRoles));
    }
    if !policy::may(asking.scope, "edit", record) {
        return Err(asking.refuse(Code::CannotEdit));
    }
    target(row)
}

fn user_delete(asking: &Asking<'_>) -> Decision {
    let row = named_user(asking)?;
    let record = Record { resource: user_resource(asking)?, row: &row };
    if !policy::may(asking.scope, "delete", record) {
        return Err(asking.refuse(Code::UserCannotDelete));
    }
    target(row)
}

// ------------------------------------------------------------------------------------------------ declarations

fn catalogue_list(asking: &Asking<'_>) -> Decision {
    if asking.context() == Context::EDIT && !policy::edits_something(asking.scope) {
        return Err(asking.refuse(Code::CannotView));
    }
    Ok(Found::default())
}

/// States are for those who may see them; everything else is looked up by the handler.
fn catalogue_read(asking: &Asking<'_>) -> Decision {
    let Some(wanted) = asking.args.text("status") else { return Ok(Found::default()) };
    match asking.registry().status(wanted) {
        None => Err(ApiError::new(Code::StatusInvalid)),
        Some(status) if policy::reads_status(asking.scope, status) => Ok(Found::default()),
        Some(_) => Err(asking.refuse(Code::CannotReadStatus)),
    }
}

/// The active theme is for everybody who edits; the others for those who change themes.
fn theme_read(asking: &Asking<'_>) -> Decision {
    let caller = &asking.scope.principal;
    if caller.can("switch_themes") || caller.can("manage_network_themes") {
        return Ok(Found::default());
    }
    let wanted = asking.args.get("status").and_then(Value::as_array);
    let only_active = wanted.is_some_and(|list| !list.is_empty() && list.iter().all(|s| s == "active"));
    let named = asking.args.text("stylesheet");
    let active = named.is_some_and(|n| asking.registry().declaration.themes.get(n).is_some_and(|t| t.active));
    if (only_active || active) && policy::edits_something(asking.scope) {
        return Ok(Found::default());
    }
    Err(asking.refuse(if only_active || active { Code::CannotReadThemes } else { Code::CannotViewThemes }))
}

// ------------------------------------------------------------------------------------------------ plain

fn plain_list(asking: &Asking<'_>) -> Decision {
    let resource = asking.resource()?;
    let caller = &asking.scope.principal;
    if asking.context() == Context::EDIT && !caller.can(resource.capability("edit")) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if !caller.can(resource.capabilities.get("read").map_or("", String::as_str)) {
        return Err(asking.refuse(Code::Forbidden));
    }
    Ok(Found::default())
}

fn plain_read(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::RecordInvalidId)?;
    let record = Record { resource: asking.resource()?, row: &row };
    if asking.context() == Context::EDIT && !policy::sees_edited(asking.scope, record) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if !policy::may(asking.scope, "read", record) {
        return Err(asking.refuse(Code::Forbidden));
    }
    target(row)
}

fn plain_create(asking: &Asking<'_>) -> Decision {
    if !asking.scope.principal.can(asking.resource()?.capability("create")) {
        return Err(asking.refuse(Code::CannotCreate));
    }
    Ok(Found::default())
}

fn plain_update(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::RecordInvalidId)?;
    if !policy::may(asking.scope, "edit", Record { resource: asking.resource()?, row: &row }) {
        return Err(asking.refuse(Code::CannotEdit));
    }
    target(row)
}

fn plain_delete(asking: &Asking<'_>) -> Decision {
    let row = asking.target(Code::RecordInvalidId)?;
    if !policy::may(asking.scope, "delete", Record { resource: asking.resource()?, row: &row }) {
        return Err(asking.refuse(Code::CannotDelete));
    }
    target(row)
}
