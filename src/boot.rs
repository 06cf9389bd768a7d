//! From the declarations to a server that is ready: the database opened, an empty one seeded, the engine built.

use cms_base::clock::{Clock, SystemClock};
use cms_base::pool::{JobOwner, Pool, wait};
use cms_config::Problem;
use cms_config::load::{self, LoadedDeclaration};
use cms_core::access::app_passwords::{self, NewPassword};
use cms_core::access::hashing::{self, Hasher};
use cms_core::access::identity::{self, Identity};
use cms_core::access::outbox::{self, MessageSubject, Owner};
use cms_core::engine::{self, Engine};
use cms_core::families::file::{self, MediaServices};
use cms_core::families::{content, term, text_column, user};
use cms_core::features::addresses::templates;
use cms_core::files::Files;
use cms_core::records::{self, txt};
use cms_core::registry::{Registry, link, name};
use cms_core::scope::{CredentialLimits, read_settings};
use cms_core::xmlrpc::Rpc;
use cms_declaration::{Declaration, Migrate};
use cms_storage::nodes::{Digest, NodeFacts};
use cms_storage::place::{CopyError, Place};
use cms_storage::plan::{Change, CommitError, Cond, DbValue, Target, WritePlan};
use cms_storage::{Database, DatabaseOptions, FeedRetention, OpenError, Storage, StorageError, typed_row};
use cms_text::slug;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Files that are swept away in one commit.
const SWEPT_AT_ONCE: u64 = 500;

/// The name of commands in the audit trail and in notices.
pub const OPERATOR_NAME: &str = "command line";

/// The setting that says that a server has been started over the database.
const STARTED: &str = "started";

/// Why the server does not start.
#[derive(Debug)]
pub enum BootError {
    /// The declarations, every problem at once.
    Problems(Vec<Problem>),
    Open(Box<OpenError>),
    Storage(StorageError),
    Commit(CommitError),
    /// Anything else, in a sentence.
    Other(String),
    /// The command has printed what is wrong.
    Reported,
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BootError::Problems(problems) => {
                for problem in problems {
                    writeln!(f, "{problem}")?;
                }
                let s = if problems.len() == 1 { "" } else { "s" };
                write!(f, "{} problem{s}; nothing was started", problems.len())
            }
            BootError::Open(error) => write!(f, "{error}\n  hint: {}", error.hint()),
            BootError::Storage(StorageError::Unavailable(cause)) => write!(f, "the database is not available: {cause}"),
            BootError::Storage(error) => write!(f, "{error}"),
            BootError::Commit(error) => write!(f, "the database did not take a write: {error}"),
            BootError::Other(text) => f.write_str(text),
            BootError::Reported => Ok(()),
        }
    }
}

impl From<CopyError> for BootError {
    fn from(error: CopyError) -> BootError {
        match error {
            CopyError::Open(error) => error.into(),
            CopyError::Copy(error) => error.into(),
        }
    }
}

impl From<OpenError> for BootError {
    fn from(error: OpenError) -> BootError {
        BootError::Open(Box::new(error))
    }
}

impl From<StorageError> for BootError {
    fn from(error: StorageError) -> BootError {
        BootError::Storage(error)
    }
}

/// Where the declarations come from.
#[derive(Clone, Debug, Default)]
pub struct ConfigSource {
    /// `routes.toml`; `None` takes the shipped one.
    pub config: Option<PathBuf>,
    /// `--set KEY=VALUE`.
    pub sets: Vec<String>,
}

impl ConfigSource {
    /// Reads and merges the declarations.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn load(&self) -> Result<LoadedDeclaration, BootError> {
        load::load(self.config.as_deref(), &self.sets, load::environment()).map_err(BootError::Problems)
    }
}

/// Links the declarations for a listener's address.
///
/// # Errors
/// Every problem at once.
pub fn registry(loaded: &LoadedDeclaration, listener: &str) -> Result<Registry, BootError> {
    let server = &loaded.declaration.server;
    let scheme = if server.tls.get().is_some() { "https" } else { "http" };
    // A Unix socket has no address; what is in front of it has one, which is site.url.
    let host = if listener.starts_with("unix:") { "localhost" } else { listener };
    link::link(loaded, &engine::vocabulary(), &format!("{scheme}://{host}")).map_err(BootError::Problems)
}

/// The XML-RPC methods; `None` when they are switched off.
///
/// # Errors
/// Every problem at once.
pub fn calls(loaded: &LoadedDeclaration) -> Result<Option<Rpc>, BootError> {
    let calls = Rpc::new(loaded).map_err(BootError::Problems)?;
    Ok(loaded.declaration.xmlrpc.enabled.then_some(calls))
}

/// Opens the database that the declarations name; `migrate` allows additive changes of an existing one.
///
/// # Errors
/// See [`OpenError`]; an address of another form.
pub fn open(registry: &Registry, migrate: bool) -> Result<Arc<dyn Database>, BootError> {
    open_for(registry, migrate, false)
}

/// The same for one command.
///
/// # Errors
/// See [`open`].
pub fn open_briefly(registry: &Registry, migrate: bool) -> Result<Arc<dyn Database>, BootError> {
    open_for(registry, migrate, true)
}

fn open_for(registry: &Registry, migrate: bool, brief: bool) -> Result<Arc<dyn Database>, BootError> {
    let (storage, feed) = (&registry.declaration.storage, &registry.declaration.feed);
    let options = DatabaseOptions {
        migrate: migrate && storage.migrate != Migrate::Never,
        copy: storage.copy_before_migration,
        queue: storage.write_queue.max(1),
        connections: storage.connections,
        brief,
        feed: FeedRetention { age: feed.keep.std(), entries: feed.entries },
    };
    Ok(place(&registry.declaration)?.open(options, &registry.layout)?)
}

/// Where the database is that the declarations name.
///
/// # Errors
/// The declared address names none.
pub fn place(declared: &Declaration) -> Result<Place, BootError> {
    let url = &declared.storage.url;
    Place::of(url).ok_or_else(|| unknown_place(url))
}

/// An address that names no database.
pub fn unknown_place(url: &str) -> BootError {
    BootError::Other(format!("`{url}` is not of the form sqlite:FILE or postgres://…"))
}

/// The database file that the declarations name, for what is done with files alone.
///
/// # Errors
/// The database is on a server.
pub fn database(declared: &Declaration) -> Result<PathBuf, BootError> {
    let hint = "use pg_dump and pg_restore";
    match place(declared)? {
        Place::File(path) => Ok(path),
        place => Err(BootError::Other(format!("{}: this is no file\n  hint: {hint}", place.shown()))),
    }
}

/// The secret by which a new user logs in.
#[derive(Clone, Copy)]
pub enum Secret<'a> {
    Password(&'a str),
    /// A hash that another program made.
    Hash(&'a str),
    /// Nothing yet: the user sets a password by a link.
    None,
}

/// The long-lived parts that every registry shares.
#[derive(Clone)]
pub struct Services {
    pub storage: Arc<dyn Database>,
    pub identity: Arc<Identity>,
    pub hasher: Arc<Hasher>,
    pub media: Arc<MediaServices>,
    pub clock: Arc<dyn Clock>,
    /// Of the secrets that were read.
    secrets: Digest,
}

impl Services {
    /// Starts them.
    ///
    /// # Errors
    /// The database does not give its key; a thread cannot be started.
    pub fn start(storage: Arc<dyn Database>, registry: &Registry) -> Result<Services, BootError> {
        let key = storage.secret("app-password", 32)?;
        let cost = registry.declaration.site.bcrypt_cost.clamp(4, 16);
        let hasher = Hasher::start(cost).map_err(|e| BootError::Other(format!("no thread for hashing: {e}")))?;
        let media = &registry.declaration.media;
        let files = Files::at(media.url.as_deref().unwrap_or_default(), &place(&registry.declaration)?.base())
            .map_err(|e| BootError::Other(e.to_string()))?;
        let pool = Pool::start("pictures", (media.workers, media.workers), media.queue);
        let pool = pool.map_err(|e| BootError::Other(format!("no thread for pictures: {e}")))?;
        Ok(Services {
            storage,
            secrets: Digest::of(&key),
            identity: Arc::new(Identity::new(&key)),
            hasher: Arc::new(hasher),
            media: Arc::new(MediaServices { files: Arc::new(files), pool, memory: Arc::default() }),
            clock: Arc::new(SystemClock),
        })
    }

    /// With another clock.
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Services {
        Services { clock, ..self }
    }

    /// Facts that other nodes have to agree on with this one. `files`: where uploads go, as [`Files::place`] says.
    pub fn facts(&self, registry: &Registry, name: &str, files: Option<&str>) -> NodeFacts {
        static PROCESS: OnceLock<u64> = OnceLock::new();
        let process = PROCESS.get_or_init(rand::random);
        NodeFacts {
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: Digest::of(process.to_string()),
            declarations: Digest::of(&registry.shared),
            site: Digest::of(format!("{} {}", registry.site.prefix, registry.site.url)),
            secrets: self.secrets.clone(),
            files: files.map(Digest::of),
            clock: 0,
        }
    }

    /// An engine over a registry.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub fn engine(&self, registry: Arc<Registry>) -> Result<Engine, BootError> {
        let storage: Arc<dyn Storage> = self.storage.clone();
        let (identity, hasher, media) = (self.identity.clone(), self.hasher.clone(), self.media.clone());
        Ok(Engine::new(registry, storage, identity, hasher, media, self.clock.clone())?)
    }

    fn commit(&self, changes: Vec<Change>) -> Result<cms_storage::plan::Committed, BootError> {
        wait(self.storage.commit(WritePlan::new(changes))).map_err(BootError::Commit)
    }

    /// Deletes what interrupted uploads have left: files without a record that were claimed `after` seconds ago or
    /// earlier. How many were deleted.
    pub fn sweep(&self, after: u64) -> Result<usize, BootError> {
        self.media.files.clear_incoming(Duration::from_secs(after));
        let now = self.clock.now();
        let before = now.saturating_sub(i64::try_from(after).unwrap_or(i64::MAX));
        let mut swept = 0;
        loop {
            let orphans = file::orphans(&*self.storage.snapshot()?, before, SWEPT_AT_ONCE)?;
            if !orphans.is_empty() {
                // A writer that still wants to use one must learn of it before it is gone.
                self.commit(vec![file::doom(&orphans, before)])?;
            }
            let orphans = file::doomed(&*self.storage.snapshot()?, SWEPT_AT_ONCE)?;
            let mut changes = Vec::new();
            for key in &orphans {
                match wait(self.media.files.delete(key)) {
                    Ok(()) => changes.push(file::unclaimed(key)),
                    Err(error) => tracing::warn!("{key} cannot be swept away: {error}"),
                }
            }
            let gone = changes.len();
            if gone > 0 {
                self.commit(changes)?;
                swept += gone;
            }
            // Files that could not be deleted would be found again at once.
            if gone == 0 || (gone as u64) < SWEPT_AT_ONCE {
                return Ok(swept);
            }
        }
    }

    /// Whether nobody has an account yet.
    pub fn is_empty(&self) -> Result<bool, BootError> {
        Ok(identity::storage_is_empty(&*self.storage)?)
    }

    /// Whether a server has been started over the database before.
    pub fn was_started(&self) -> Result<bool, BootError> {
        Ok(self.storage.snapshot()?.setting(&name(STARTED))?.is_some())
    }

    /// Remembers that a server has been started over the database.
    pub fn mark_started(&self) -> Result<(), BootError> {
        self.commit(vec![Change::Setting { key: name(STARTED), json: Some("true".into()) }]).map(drop)
    }

    /// Whether some user has a role.
    pub fn holds(&self, role: &str) -> Result<bool, BootError> {
        let held = Cond::HasWord(name(user::columns::ROLES), role.into());
        Ok(records::exists(&*self.storage.snapshot()?, user::columns::TABLE, held)?)
    }

    /// A login that nobody has as such or before the `@` of `example.org`: this one, or with a number behind it.
    pub fn free_login(&self, wanted: &str) -> Result<String, BootError> {
        let snapshot = self.storage.snapshot()?;
        let mut number = 1;
        loop {
            let login = if number == 1 { wanted.to_owned() } else { format!("{wanted}{number}") };
            let is = |column: &str, text: &str| records::eq(column, txt(&slug::title_key(text)));
            let taken = Cond::Any(vec![is("login_key", &login), is("email_key", &format!("{login}@example.org"))]);
            if !records::exists(&*snapshot, user::columns::TABLE, taken)? {
                return Ok(login);
            }
            number += 1;
        }
    }

    /// Whether there is any content.
    pub fn has_records(&self) -> Result<bool, BootError> {
        Ok(records::exists(&*self.storage.snapshot()?, content::columns::TABLE, records::always())?)
    }

    /// Gives an empty database what every site has: the default terms.
    pub fn seed(&self, registry: &Registry) -> Result<(), BootError> {
        for (taxonomy, id) in registry.default_terms() {
            let snapshot = self.storage.snapshot()?;
            if records::find(&*snapshot, taxonomy, &DbValue::Int(id))?.is_some() {
                continue;
            }
            drop(snapshot);
            self.commit(vec![Change::Put(term::seed(taxonomy, id))])?;
        }
        Ok(())
    }

    /// Remembers by which templates the addresses of records are made, for when they are made by others.
    pub fn remember_templates(&self, registry: &Registry) -> Result<(), BootError> {
        let change = templates::remembered(&*self.storage.snapshot()?, registry)?;
        change.map_or(Ok(()), |change| self.commit(vec![change]).map(drop))
    }

    /// Creates the records that always exist, once there is content at all: an import into an empty database keeps its
    /// ids.
    pub fn complete(&self, registry: &Registry) -> Result<(), BootError> {
        let now = self.clock.now();
        let any = self.has_records()?;
        for resource in registry.content_types().filter(|r| any && !r.declared.seed.is_empty()) {
            let snapshot = self.storage.snapshot()?;
            let found = records::exists(&*snapshot, &resource.table, records::own_rows(resource))?;
            drop(snapshot);
            if !found {
                self.commit(vec![Change::Put(content::seed(registry, resource, now))])?;
            }
        }
        Ok(())
    }

    /// Adds a user; the id.
    ///
    /// # Errors
    /// The login or address is taken or malformed; the role does not exist.
    pub fn add_user(
        &self,
        registry: &Registry,
        login: &str,
        email: &str,
        role: &str,
        secret: Secret<'_>,
    ) -> Result<i64, BootError> {
        if login.is_empty() || !slug::valid_login(login) {
            return Err(BootError::Other(format!("`{login}` cannot be a login")));
        }
        let roles = read_settings(registry, &*self.storage)?.roles;
        if !roles.contains(role) {
            let known: Vec<&str> = roles.names().collect();
            return Err(BootError::Other(format!("there is no role `{role}`; there are {}", known.join(", "))));
        }
        let site = &registry.declaration.site;
        if email.len() > site.max_login.as_usize() {
            return Err(BootError::Other(format!("an e-mail address has at most {} bytes", site.max_login.bytes())));
        }
        let hash = match secret {
            Secret::Password(password) if password.len() > site.max_password.as_usize() || password.contains('\0') => {
                let most = site.max_password.bytes();
                return Err(BootError::Other(format!("a password has at most {most} bytes and holds no NUL")));
            }
            Secret::Password(password) => wait(self.hasher.hash(JobOwner::PROGRAM, password))
                .map_err(|_| BootError::Other("the password could not be hashed".into()))?,
            // No password has an empty hash.
            Secret::None => String::new(),
            Secret::Hash(hash) if hashing::is_known(hash) => hash.to_owned(),
            Secret::Hash(_) => {
                let known = "hashes begin with $wp$2y$, $2y$, $2b$, $2a$, $P$ or $H$";
                return Err(BootError::Other(format!("this hash has an unknown format; {known}")));
            }
        };
        let now = self.clock.now();
        // The site is the first user's own.
        let first = self.is_empty()?;
        let url = if first { registry.site.url.as_str() } else { "" };
        let set = vec![
            text_column(user::columns::EMAIL, email),
            text_column(user::columns::URL, url),
            user::roles_column([role]),
            text_column(user::columns::PASSWORD_HASH, &hash),
        ];
        let mut changes = vec![Change::Put(user::put(Target::New, login, now, None, set))];
        if first {
            changes.extend(self.reached_at(registry, email)?);
        }
        match self.commit(changes) {
            Ok(done) => Ok(done.puts.first().map_or(0, |put| records::int(&put.key))),
            Err(BootError::Commit(CommitError::Refused { .. })) => {
                Err(BootError::Other(format!("there is a user with the login {login} or the address {email} already")))
            }
            Err(error) => Err(error),
        }
    }

    /// Settings that are e-mail addresses and that nobody has set name this one.
    fn reached_at(&self, registry: &Registry, email: &str) -> Result<Option<Change>, BootError> {
        let mut values = cms_core::scope::stored_settings(&*self.storage.snapshot()?)?;
        let settings = registry.singletons().find_map(|r| r.schema["properties"].as_object());
        let open: Vec<&String> = settings
            .into_iter()
            .flatten()
            .filter(|(name, doc)| doc["format"] == "email" && !values.contains_key(*name))
            .map(|(name, _)| name)
            .collect();
        if open.is_empty() {
            return Ok(None);
        }
        values.extend(open.into_iter().map(|name| (name.clone(), email.into())));
        let json = serde_json::Value::Object(values).to_string();
        Ok(Some(Change::Setting { key: name("settings"), json: Some(json.into()) }))
    }

    /// Adds an application password that is good for everything; the clear value.
    ///
    /// # Errors
    /// There is no such user.
    pub fn add_app_password(&self, login: &str, title: &str) -> Result<String, BootError> {
        self.add_limited_app_password(login, title, 0, CredentialLimits::default(), None)
    }

    /// Adds an application password that ends at some second (0: never) or is not good for everything; the clear value.
    /// With a registry the owner is notified as it says.
    ///
    /// # Errors
    /// There is no such user.
    pub fn add_limited_app_password(
        &self,
        login: &str,
        title: &str,
        expires: i64,
        limits: CredentialLimits,
        notify: Option<&Registry>,
    ) -> Result<String, BootError> {
        let snapshot = self.storage.snapshot()?;
        let named = records::eq(user::columns::LOGIN_KEY, txt(&slug::title_key(login)));
        let found = records::first_of::<AccountAddress>(&*snapshot, named)?;
        drop(snapshot);
        let Some(row) = found else { return Err(BootError::Other(format!("there is no user with the login {login}"))) };
        let now = self.clock.now();
        let wanted = NewPassword { user: row.id, title, app_id: "", expires, limits };
        let (_, secret, put) = app_passwords::plan_creation(&self.identity, &wanted, now);
        let mut changes = vec![Change::Put(put)];
        let address = if row.email_pending { &row.email_before } else { &row.email };
        let owner = Owner { id: row.id, login: &row.login, address };
        let data = serde_json::json!({"name": title, "by": OPERATOR_NAME});
        let notice = |registry| outbox::notified(registry, MessageSubject::ApplicationPassword, owner, data, now);
        changes.extend(notify.and_then(notice));
        self.commit(changes)?;
        Ok(app_passwords::format_secret(&secret))
    }
}

typed_row! {
    user::columns::TABLE;
    /// Where notices to a user go.
    struct AccountAddress {
        id: i64,
        login: Arc<str>,
        email: Arc<str>,
        email_pending: bool,
        email_before: Arc<str>,
    }
}
