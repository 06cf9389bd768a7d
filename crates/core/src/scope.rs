//! The scope of a stage: the registry, the database, the settings, the caller and the time.
//!
//! A [`Scope`] belongs to one request (or one part of a batch) and is passed first to every stage. It knows nothing of
//! HTTP.

use crate::error::{ApiError, Code};
use crate::model::{Method, Peer};
use crate::registry::resource::Resource;
use crate::registry::roles::{Roles, StoredRoles};
use crate::registry::{Endpoint, Registry, Route, name};
use cms_base::network;
use cms_base::pool::JobOwner;
use cms_declaration::SecureContext;
use cms_declaration::translations::Translator;
use cms_storage::plan::{Name, Row, WritePlan};
use cms_storage::{ReadBudget, Snapshot, Storage, StorageError};
use cms_text::phrase::fill;
use cms_text::time::Zone;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

/// The caller. An anonymous one has id 0 and no capability.
#[derive(Clone, Debug, Default)]
pub struct Principal {
    pub id: i64,
    pub login: Arc<str>,
    pub roles: Vec<Arc<str>>,
    pub capabilities: Arc<HashSet<Arc<str>>>,
    /// Key of the application password that the request was sent with.
    pub app_password: Option<Arc<str>>,
    /// The limits of that password.
    pub limits: Option<Arc<CredentialLimits>>,
    /// The `Authorization` header as one that has a token, where tokens are taken.
    pub bearer: BearerHeader,
    /// The token of a registration in that header: it names a program, and no caller.
    pub client_token: Option<Arc<str>>,
    /// Key of the session that the request was sent with.
    pub session: Option<Arc<str>>,
    /// All that the caller may do is to set up a second factor.
    pub lacks_factor: bool,
    /// Parts that an anonymous caller's credentials lack, when some were sent: a refusal names them after the main
    /// error.
    pub lacks: &'static [Code],
    /// A proxy brought the request, and no credentials with it.
    pub unheard: bool,
    /// The capability that was asked for last and is missing.
    pub missing: MissingCapability,
}

/// The `Authorization` header of a request as one that has a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BearerHeader {
    /// There is none, or no tokens are taken here.
    #[default]
    Absent,
    /// It has another scheme.
    Other,
    /// It has the scheme and no token.
    Empty,
    /// Its token is not valid.
    Wrong,
    /// It has the token of the caller.
    Valid,
}

/// Remembers a capability that a caller lacks, for the refusal that follows. A copy of a caller begins without one.
#[derive(Debug, Default)]
pub struct MissingCapability(Mutex<Option<String>>);

impl MissingCapability {
    /// Takes the capability out.
    pub fn take(&self) -> Option<String> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Clone for MissingCapability {
    fn clone(&self) -> MissingCapability {
        MissingCapability::default()
    }
}

/// The actions of a credential that only drafts.
pub const DRAFTING: &str = "read draft";

/// The limits of an application password. It never manages credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialLimits {
    pub read_only: bool,
    /// It writes drafts alone (`actions`).
    pub draft: bool,
    /// Names of the resources that it reaches; empty: all.
    pub resources: Vec<Arc<str>>,
}

impl CredentialLimits {
    /// Whether an endpoint of a route is within the limits.
    pub fn admit(&self, registry: &Registry, route: &Route, endpoint: &Endpoint) -> bool {
        let reads = endpoint.methods.iter().all(|method| matches!(method, Method::Get | Method::Head));
        let resource = route.owner.or(route.resource).map(|index| &*registry.resources[index].name);
        let reached = resource.is_none_or(|resource| self.reach(resource));
        let writes = !self.read_only && (!self.draft || endpoint.drafts);
        let within = endpoint.envelope || endpoint.forwards || ((reads || writes) && reached);
        !endpoint.credentials && within
    }

    /// The actions that it is limited to, as they are stored; empty: all, or those of `read_only`.
    pub fn actions(&self) -> &'static str {
        if self.draft { DRAFTING } else { "" }
    }

    /// Whether a resource is within the limits.
    pub fn reach(&self, resource: &str) -> bool {
        self.resources.is_empty() || self.resources.iter().any(|name| **name == *resource)
    }
}

impl Principal {
    /// Whether the caller is logged in.
    pub fn is_logged_in(&self) -> bool {
        self.id != 0
    }

    /// Whether the caller has a primitive capability; the empty one is everybody's.
    pub fn has(&self, capability: &str) -> bool {
        capability.is_empty() || self.capabilities.contains(capability)
    }

    /// The same, where a refusal follows that names what is missing.
    pub fn can(&self, capability: &str) -> bool {
        let has = self.has(capability);
        if !has && self.is_logged_in() {
            *self.missing.lock() = Some(capability.to_owned());
        }
        has
    }

    /// A refusal for this caller: 401 or 403.
    pub fn refuse(&self, code: Code) -> ApiError {
        let mut lacks = self.lacks.iter().copied().map(ApiError::new);
        match lacks.next() {
            Some(first) => lacks.fold(first, ApiError::and),
            None if self.unheard && code == Code::NotLoggedIn => ApiError::new(code).with_message(
                "Nobody is logged in: no Authorization header arrived. If one was sent, the proxy before this server \
                 took it away; `cms-server doctor` tells.",
            ),
            None => ApiError::denied(code, self.is_logged_in()),
        }
    }
}

/// The site's settings as they are now.
#[derive(Clone, Debug)]
pub struct Settings {
    pub values: Map<String, Value>,
    pub zone: Zone,
    /// The roles in force.
    pub roles: Roles,
    /// The version that they were read at.
    pub version: u64,
}

impl Settings {
    /// An integer setting; 0 when it is absent.
    pub fn int(&self, key: &str) -> i64 {
        self.values.get(key).and_then(Value::as_i64).unwrap_or(0)
    }

    /// A text setting; empty when it is absent.
    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// The site's locale, such as `de_DE`. A site in American English may store none, as WordPress does.
    pub fn locale(&self) -> &str {
        Some(self.text("language")).filter(|locale| !locale.is_empty()).unwrap_or("en_US")
    }

    /// The locale as documents on the web name it: `de-DE`.
    pub fn language_tag(&self) -> String {
        self.locale().replace('_', "-")
    }

    /// A boolean setting.
    pub fn flag(&self, key: &str) -> bool {
        self.values.get(key).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// See the module's description.
#[derive(Clone)]
pub struct Scope {
    pub registry: Arc<Registry>,
    pub storage: Arc<dyn Storage>,
    /// Time that the reads of the request may still take; `storage` counts it. `None`: no limit.
    pub budget: Option<Arc<ReadBudget>>,
    pub settings: Arc<Settings>,
    pub principal: Principal,
    /// UTC seconds, the same throughout the request.
    pub now: i64,
    pub peer: Peer,
    /// The client's name for itself (its user agent, the name of an assistant), shortened; empty when there is none.
    pub agent: Arc<str>,
    /// How many webhooks, one after the other, led to the request.
    pub hook_depth: i64,
    /// How deep this request is nested in others (embedding, batches).
    pub depth: u8,
    pub request_id: Arc<str>,
    /// Writes may still be taken back: nothing outside the database may follow from them.
    pub tentative: bool,
    /// The request writes what an import contains.
    pub imported: Option<ImportOptions>,
    /// The request is the call of a tool: it may run abilities that REST does not list.
    pub tool: bool,
    /// Gets how far a request of several steps is, and may cancel it.
    pub progress: Option<Arc<Progress>>,
    /// Hashes of passwords that were made before a transaction, by the passwords.
    pub hashes: Arc<HashMap<String, String>>,
    /// The record that is shown as it is being edited, to a caller who is anonymous otherwise.
    pub preview: Option<Arc<PreviewedRecord>>,
}

/// A content record as a preview shows it, in place of what is stored. Everything else is as anonymous callers see it, and
/// nothing that is made of it is cached.
#[derive(Clone, Debug)]
pub struct PreviewedRecord {
    pub id: i64,
    /// The columns of its resource.
    pub row: Row,
    /// Targets by relation, where they are not those that are stored.
    pub edges: HashMap<Name, Vec<i64>>,
    /// Meta values with their keys, where they are not those that are stored.
    pub meta: Option<Vec<(Arc<str>, Value)>>,
}

/// Options of an imported item outside its document.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions {
    /// The key of an item that is created.
    pub key: Option<i64>,
}

/// Gets the steps that are done, how many there are, and the name of the next one.
type ProgressCallback = dyn Fn(usize, usize, &str) + Send + Sync;

/// How far a request of several steps is.
pub struct Progress {
    report: Box<ProgressCallback>,
    cancelled: AtomicBool,
}

impl Progress {
    /// `report` is called before each step.
    pub fn new(report: impl Fn(usize, usize, &str) + Send + Sync + 'static) -> Arc<Progress> {
        Arc::new(Progress { report: Box::new(report), cancelled: AtomicBool::new(false) })
    }

    /// Another step begins; `false`: it must not, because the request was called off.
    pub fn begin_step(&self, done: usize, of: usize, next: &str) -> bool {
        if self.cancelled.load(Ordering::Relaxed) {
            return false;
        }
        (self.report)(done, of, next);
        true
    }

    /// Calls the request off: no further step begins.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Scope {
    /// A consistent view for the reads of one stage.
    pub fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, ApiError> {
        Ok(self.storage.snapshot()?)
    }

    /// The user who causes what the request writes; `None` for anonymous callers.
    pub fn actor(&self) -> Option<i64> {
        Some(self.principal.id).filter(|id| *id > 0)
    }

    /// A plan that says who causes what the request writes, and after how many webhooks.
    pub fn attributed(&self, plan: WritePlan) -> WritePlan {
        plan.by(self.actor(), self.hook_depth)
    }

    /// The record that a setting names as a page of the site, such as `page_on_front`; `None` where the site's own address shows
    /// the newest records.
    pub fn page_of(&self, setting: &str) -> Option<i64> {
        let shown = self.settings.text("show_on_front") == "page";
        Some(self.settings.int(setting)).filter(|id| shown && *id > 0)
    }

    /// Turns a failed read into an opaque 500 and logs the cause once.
    pub fn internal(&self, cause: &dyn std::fmt::Display) -> ApiError {
        tracing::error!(request = %self.request_id, "{cause}");
        ApiError::new(Code::Internal)
    }

    /// Whom slow work is done for: hashes, pictures, files, requests to other sites. It is needed for each of these, so
    /// that none is done while all other writes wait.
    ///
    /// # Errors
    /// A transaction is open.
    pub fn job_owner(&self) -> Result<JobOwner, ApiError> {
        if self.tentative {
            let why = "This takes too long to be a part of one transaction; send it as a request of its own.";
            return Err(ApiError::new(Code::BatchNotAllowed).with_message(why));
        }
        Ok(self.source())
    }

    /// Whom the request is counted for: the user, or the network of an anonymous caller.
    pub fn source(&self) -> JobOwner {
        match self.principal.id {
            0 => JobOwner::network(self.peer.ip.map(network::caller_address)),
            id => JobOwner::user(id),
        }
    }

    /// Whether the request was sent in a secure context.
    pub fn secure(&self) -> bool {
        let always = self.registry.declaration.site.secure_context == SecureContext::Always;
        always || self.peer.https || self.peer.localhost
    }

    /// A text of the program that readers of the site see, in the site's language where `translations` has it.
    pub fn phrase<'s>(&'s self, text: &'s str) -> &'s str {
        Translator::of(&self.registry.declaration.translations, self.settings.locale()).translate(text)
    }

    /// A text for one, or for so many: `{count}` in it.
    pub fn plural(&self, one: &str, many: &str, count: u64) -> String {
        fill(self.phrase(if count == 1 { one } else { many }), &[("count", &count.to_string())])
    }

    /// The record with this id as a preview shows it, where that is the one that the request shows.
    pub fn previewed(&self, resource: &Resource, id: i64) -> Option<&PreviewedRecord> {
        self.preview.as_deref().filter(|preview| resource.is_content() && preview.id == id)
    }

    /// The site's wall clock now.
    pub fn local_now(&self) -> i64 {
        self.settings.zone.utc_to_local(self.now)
    }
}

/// A failed read inside a stage.
impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> ApiError {
        match error {
            // The budget logs once for the whole request.
            StorageError::TimedOut => ApiError::new(Code::ReadTimeout),
            StorageError::Unavailable(cause) => {
                tracing::error!("{cause}");
                ApiError::new(Code::StorageReadOnly)
            }
            StorageError::Failed(cause) => {
                tracing::error!("{cause}");
                ApiError::new(Code::Internal)
            }
        }
    }
}

/// The scope of the settings' versions.
pub static SETTINGS: LazyLock<Name> = LazyLock::new(|| name("setting"));

/// Reads the settings: what is stored over what the declarations start with.
pub fn read_settings(registry: &Registry, storage: &dyn Storage) -> Result<Settings, StorageError> {
    let version = storage.scope_version(&SETTINGS);
    let mut values = registry.declaration.settings.clone();
    for value in values.values_mut().filter(|value| *value == "{site}") {
        *value = Value::String(registry.site.url.clone());
    }
    let (stored, roles) = {
        let snapshot = storage.snapshot()?;
        (stored_settings(&*snapshot)?, Roles::of(registry, &stored_roles(&*snapshot)?))
    };
    values.extend(stored);
    let zone = values.get("timezone").and_then(Value::as_str).and_then(Zone::parse).unwrap_or_else(Zone::utc);
    Ok(Settings { values, zone, roles, version })
}

/// The settings that were set explicitly.
pub fn stored_settings(snapshot: &dyn Snapshot) -> Result<Map<String, Value>, StorageError> {
    let stored = snapshot.setting(&name("settings"))?;
    Ok(stored.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// The key of the roles among the settings: a change of them is one of the settings, which every cache and every node follows.
pub const STORED_ROLES: &str = "roles";

/// The roles that were stored.
pub fn stored_roles(snapshot: &dyn Snapshot) -> Result<StoredRoles, StorageError> {
    let stored = snapshot.setting(&name(STORED_ROLES))?;
    stored.map_or(Ok(StoredRoles::new()), |json| {
        serde_json::from_str(&json)
            .map_err(|error| StorageError::Failed(format!("the stored roles are not readable: {error}")))
    })
}
