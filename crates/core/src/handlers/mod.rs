//! Handlers of endpoints: a closed set that serves every resource.
//!
//! A handler gets what access has allowed, reads or writes through plans, and returns documents. It knows families,
//! never resources by name.

pub mod auto_add;
mod comments;
mod comparisons;
mod criteria;
pub mod cursor;
mod echo;
mod fetched;
mod field_rights;
pub mod files;
mod hits;
pub mod items;
pub mod lists;
mod order;
mod originals;
mod outcome;
pub mod proposals;
mod search_words;
mod singleton;
mod table;
mod terms;
mod turns;
mod uploads;
mod users;
mod windows;
mod written;

pub use hits::{Usage, UsageCounts};
pub use outcome::{Outcome, RenderedJson};
pub use table::{HANDLERS, handler, sync_handler};
pub use turns::RowTurns;
pub use written::{WriteRefusal, WrittenRow};

use crate::access::hashing::Hasher;
use crate::access::identity::Identity;
use crate::access::unlock::RecordPassword;
use crate::access::{Authorization, audit};
use crate::behaviours::{BLOCKS, READS};
use crate::cache::descriptions::Descriptions;
use crate::cache::documents::DocumentCache;
use crate::error::{ApiError, Code, status};
use crate::families::file::MediaServices;
use crate::families::{self, RowEdit};
use crate::model::Method;
use crate::outbound::Outbound;
use crate::records::Record;
use crate::registry::codes::code_named;
use crate::registry::resource::{Context, Resource};
use crate::registry::{Endpoint, Route};
use crate::render::View;
use crate::request::BodyParams;
use crate::request::args::ArgSources;
use crate::request::call::{Call, CustomField, SubResponse};
use crate::request::conditional::Preconditions;
use crate::request::fields::Fields;
use crate::scope::{ImportOptions, Scope};
use cms_base::pool::{OwnerShares, OwnerTurn, OwnerTurns, PoolError};
use cms_config::places::DeclarationPlace;
use cms_storage::Transaction;
use cms_storage::plan::{Change, CommitError, Committed, Row, WritePlan};
use cms_text::dress::UniqueNames;
use serde_json::{Map, Value};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The input of a handler.
pub struct Work<'a> {
    pub scope: &'a Scope,
    pub route: &'a Route,
    pub endpoint: &'a Endpoint,
    pub allowed: &'a Authorization,
    pub fields: &'a Fields,
    /// The query as sent, for links to the neighbouring pages.
    pub query: &'a Map<String, Value>,
    pub raw_query: &'a str,
    pub body: &'a BodyParams,
    /// Path of the route as requested.
    pub path: &'a str,
    /// The conditions of a write on its target.
    pub expects: &'a Preconditions,
    /// The route's values from the path.
    pub captures: &'a Map<String, Value>,
    /// Documents may be returned as text: nothing is added to them or wrapped around them. (Embedded documents are put
    /// into the text.)
    pub as_text: bool,
    /// The collection is read as lines, page by page.
    pub lines: bool,
    /// The password of a record that the request brings.
    pub given: Option<&'a RecordPassword<'a>>,
    pub shared: &'a SharedServices,
    /// Changes of single meta values of the row that is written.
    pub custom_fields: &'a [CustomField],
    /// The names that the documents of the response have used.
    pub unique: UniqueNames,
    /// For handlers that send requests to other routes.
    pub dispatch: &'a dyn Dispatcher,
    /// Something was committed: what fails from then on refuses nothing.
    pub committed: AtomicBool,
}

/// Services that handlers use besides the database; all requests share them.
pub struct SharedServices {
    /// Verifies and makes credentials.
    pub identity: Arc<Identity>,
    /// Hashes account passwords.
    pub hasher: Arc<Hasher>,
    /// Where files live, and who works on pictures.
    pub media: Arc<MediaServices>,
    /// Documents that were rendered before.
    pub documents: DocumentCache,
    /// Requests to other sites.
    pub outbound: Outbound,
    /// Who writes a row that several requests want to change.
    pub turns: RowTurns,
    /// Writes that wait for the writer: no caller has more than half of the places.
    pub writes: Arc<OwnerShares>,
    /// Transactions that are held open: one of each caller.
    pub transactions: Arc<OwnerTurns>,
    /// Menus that new records are added to.
    pub menus: auto_add::AutoAddMenus,
    /// How often redirects were used.
    pub redirects: UsageCounts<i64>,
    /// How often addresses were requested that nothing has, by path.
    pub missing: UsageCounts<String>,
    /// Descriptions of the service.
    pub descriptions: Descriptions,
    /// Facts about the process outside requests; none where requests are not served.
    pub inside: OnceLock<Box<dyn ProcessInfo>>,
}

/// Facts about the process outside requests.
pub trait ProcessInfo: Send + Sync {
    /// Declarations in force with their places.
    fn declared(&self) -> &[DeclarationPlace];

    /// Why the newest declarations are not in force: a text for each problem.
    fn refusal(&self) -> Vec<String>;

    /// Keys whose newest values wait for a restart.
    fn waiting(&self) -> Vec<String>;

    /// In what other processes over the same database differ from this one.
    fn disagreements(&self) -> Vec<String>;

    /// Hours since the newest of the backups that the server makes by itself; nothing where there is none.
    fn backup_age(&self) -> Option<i64>;

    /// Whether a backup has failed since the last one that was made.
    fn backup_failed(&self) -> bool;
}

/// Requests inside a request.
pub trait Dispatcher {
    /// Answers a request inside another; `batch` refuses routes that take no part in batches.
    fn part<'a>(
        &'a self,
        scope: &'a Scope,
        call: &'a Call,
        batch: bool,
    ) -> Pin<Box<dyn Future<Output = SubResponse> + 'a>>;

    /// Checks a part of a batch before anything is done.
    ///
    /// # Errors
    /// The route does not exist or takes no part in batches; arguments do not fit.
    fn check_part(&self, call: &Call) -> Result<(), ApiError>;

    /// The password that a call sets, and the key of the account; an empty one when that is a new account.
    fn password<'c>(&self, scope: &Scope, call: &'c Call) -> Option<(String, &'c str)>;
}

/// A handler's outcome, ready perhaps only after a commit.
pub type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Result<Outcome, ApiError>> + 'a>>;

/// A handler.
#[derive(Clone, Copy)]
pub enum Handler {
    /// It waits for nothing.
    Sync(for<'a> fn(&'a Work<'a>) -> Result<Outcome, ApiError>),
    Async(for<'a> fn(&'a Work<'a>) -> HandlerFuture<'a>),
}

impl Handler {
    /// Carries the endpoint out.
    ///
    /// # Errors
    /// Those of the endpoint.
    pub async fn run(self, work: &Work<'_>) -> Result<Outcome, ApiError> {
        match self {
            Handler::Sync(run) => run(work),
            Handler::Async(run) => run(work).await,
        }
    }
}

impl<'a> Work<'a> {
    /// The route's resource.
    ///
    /// # Errors
    /// A handler of resources on a route without one: 500.
    pub fn resource(&self) -> Result<&'a Resource, ApiError> {
        let index = self.route.resource.ok_or_else(|| ApiError::new(Code::Internal))?;
        Ok(&self.scope.registry.resources[index])
    }

    /// Requests another route in the caller's name.
    pub async fn ask(&self, method: Method, path: &str, query: Value, body: BodyParams) -> SubResponse {
        let mut scope = self.scope.clone();
        // A write for the sake of an imported item is of another item.
        scope.imported = scope.imported.map(|_| ImportOptions::default());
        self.ask_in(scope, method, path, query, body).await
    }

    /// Requests another route in the name of the scope's caller.
    pub async fn ask_in(
        &self,
        mut scope: Scope,
        method: Method,
        path: &str,
        query: Value,
        body: BodyParams,
    ) -> SubResponse {
        let query = query.as_object().cloned().unwrap_or_default();
        scope.depth += 1;
        let call = Call::internal(method, path, query, body);
        self.dispatch.part(&scope, &call, false).await
    }

    /// The error of an inner request as the response to the outer one.
    pub fn refusal_of(&self, part: &SubResponse) -> ApiError {
        let body = &part.body;
        let code = body["code"].as_str().and_then(|code| code_named(&self.scope.registry.declaration, code));
        let error = ApiError::new(code.unwrap_or(Code::Internal)).with_status(part.status);
        let error = match body["message"].as_str() {
            Some(message) => error.with_message(message),
            None => error,
        };
        let data = body["data"].as_object().into_iter().flatten().filter(|(key, _)| *key != "status");
        data.fold(error, |error, (key, value)| error.with(key, value.clone()))
    }

    /// The sources of arguments of the request.
    pub fn sources(&self) -> ArgSources<'a> {
        ArgSources { path: self.captures, body: self.body, query: self.query }
    }

    /// The resource that took the route over.
    ///
    /// # Errors
    /// A route without one: 500.
    pub fn owner(&self) -> Result<&'a Resource, ApiError> {
        let index = self.route.owner.ok_or_else(|| ApiError::new(Code::Internal))?;
        Ok(&self.scope.registry.resources[index])
    }

    /// The row that the guard has loaded: the one that the path names.
    ///
    /// # Errors
    /// A handler of rows behind a guard that loads none: 500.
    pub fn target(&self) -> Result<&'a Row, ApiError> {
        self.allowed.target().ok_or_else(|| ApiError::new(Code::Internal))
    }

    /// The row above the one that the path names, of a resource.
    ///
    /// # Errors
    /// As [`Work::target`].
    pub fn parent(&self, resource: &'a Resource) -> Result<Record<'a>, ApiError> {
        let row = self.allowed.parent().ok_or_else(|| ApiError::new(Code::Internal))?;
        Ok(Record { resource, row })
    }

    /// The account that a path below the users names.
    ///
    /// # Errors
    /// As [`Work::target`].
    pub fn account(&self) -> Result<Record<'a>, ApiError> {
        self.parent(self.scope.registry.users().ok_or_else(|| ApiError::new(Code::Internal))?)
    }

    /// The change that the request describes.
    ///
    /// # Errors
    /// It names fields that the caller may not write.
    pub fn edit<'b>(&'b self, resource: &'b Resource, row: Option<&'b Row>) -> Result<RowEdit<'b>, ApiError> {
        field_rights::check(self, resource, row)?;
        let given = self.sources().get("type").and_then(Value::as_str);
        let comment_type = given.filter(|kind| row.is_none() && resource.comment_type(kind).is_some());
        Ok(RowEdit {
            scope: self.scope,
            resource,
            row,
            args: self.allowed.args(),
            comment_type,
            custom_fields: self.custom_fields,
        })
    }

    /// How rows that the caller may read are shown in a context.
    pub fn view(&self, context: Context) -> View<'_> {
        View {
            context,
            fields: self.fields,
            password: self.given,
            links: true,
            readable: true,
            reads: READS,
            blocks: BLOCKS,
            excerpt_words: None,
            unique: &self.unique,
        }
    }

    /// Writes a plan; the outcome is ready when it is durable.
    ///
    /// # Errors
    /// A refusal of the database; the caller has half of the writer's queue.
    pub async fn commit(&self, mut plan: WritePlan) -> Result<Committed, CommitError> {
        plan.changes.extend(self.audited());
        self.commit_in(self.scope, plan).await
    }

    /// The same in a scope, perhaps that of a transaction, and without the entry of the audit trail that the endpoint declares.
    ///
    /// # Errors
    /// As [`Work::commit`].
    pub async fn commit_in(&self, scope: &Scope, plan: WritePlan) -> Result<Committed, CommitError> {
        // Within a transaction the writer serves this caller already.
        let half = scope.registry.declaration.storage.write_queue.div_ceil(2).max(1);
        let take = || self.shared.writes.take(scope.source(), half, usize::MAX);
        let _place = (!scope.tentative).then(take).transpose().map_err(|_: PoolError| CommitError::Busy)?;
        let done = scope.storage.commit(scope.attributed(plan)).await;
        self.committed.fetch_or(done.is_ok() && !scope.tentative, Ordering::Relaxed);
        done
    }

    /// An error of the handler. A fault of the server after a commit says that the change may be there: clients take one that
    /// is refused for one that never happened.
    pub fn failed(&self, error: ApiError) -> ApiError {
        if !self.committed.load(Ordering::Relaxed) || !status::is_server_error(error.status()) {
            return error;
        }
        let message = "The change is made, but the result could not be read; read it before you send it again.";
        ApiError::new(Code::OutcomeUnknown).with_message(message)
    }

    /// The entry that the endpoint's declaration requires, when the request sets one of the arguments that it names.
    pub fn audited(&self) -> Option<Change> {
        let declared = self.endpoint.audit.as_ref()?;
        let args = self.allowed.args();
        if !declared.args.is_empty() && !declared.args.iter().any(|arg| args.explicit(arg).is_some()) {
            return None;
        }
        let values = declared.values.iter().filter(|arg| !declared.args.contains(arg));
        let changed: Vec<String> = declared
            .args
            .iter()
            .chain(values)
            .filter_map(|arg| Some((arg, args.explicit(arg)?)))
            .map(|(arg, value)| if declared.values.contains(arg) { format!("{arg}={value}") } else { arg.clone() })
            .collect();
        let caller = &self.scope.principal;
        // A text may be given as an object with what people write.
        let subject = declared.subject.as_ref().and_then(|arg| args.explicit(arg));
        let subject = subject.and_then(|value| value.get("raw").unwrap_or(value).as_str()).unwrap_or_default();
        let event = audit::Event {
            name: &declared.event,
            user: caller.id,
            login: &caller.login,
            path: self.path,
            subject,
            changed,
        };
        audit::entry(self.scope, &event)
    }

    /// Writes changes that no rule of a family refuses.
    ///
    /// # Errors
    /// Why nothing was written.
    pub async fn write(&self, changes: Vec<Change>) -> Result<Committed, ApiError> {
        let done = self.commit(WritePlan::new(changes)).await;
        done.map_err(|error| families::commit_failure(self.scope, error))
    }
}

/// Callers of one user, or of one network without credentials, that may wait for a transaction.
const MOST_WAITING: usize = 8;

/// How long they wait: as long as the writer holds one.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Requests whose writes are one commit.
pub struct TransactionScope {
    pub scope: Scope,
    transaction: Arc<dyn Transaction>,
    _turn: OwnerTurn,
}

impl TransactionScope {
    /// Begins a transaction that `scope` writes in. All other writes wait until it ends, so each caller has one at a
    /// time.
    ///
    /// # Errors
    /// The caller has too many that wait; the database takes none.
    pub async fn begin(work: &Work<'_>, mut scope: Scope) -> Result<TransactionScope, ApiError> {
        let turn = work.shared.transactions.take(scope.job_owner()?, MOST_WAITING, LONGEST_WAIT);
        let turn = turn.await.map_err(|_: PoolError| ApiError::new(Code::Busy))?;
        let transaction = scope.storage.begin().await.map_err(|error| families::commit_failure(work.scope, error))?;
        scope.storage = transaction.clone();
        scope.tentative = true;
        Ok(TransactionScope { scope, transaction, _turn: turn })
    }

    /// Commits what was written.
    ///
    /// # Errors
    /// The database refuses it.
    pub async fn finish(self, work: &Work<'_>) -> Result<(), ApiError> {
        let done = self.transaction.finish().await.map_err(|error| families::commit_failure(&self.scope, error));
        work.committed.fetch_or(done.is_ok(), Ordering::Relaxed);
        done
    }
}
