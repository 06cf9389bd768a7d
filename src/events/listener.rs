//! A caller who listens: what every open stream needs, whatever it tells. It waits for news of the hub, looks the caller up
//! again where credentials may have changed, and says when the stream has to end.

use super::hub::{EventHub, HubReceiver};
use cms_base::pool::OwnerPlace;
use cms_core::engine::Engine;
use cms_core::error::ApiError;
use cms_core::model::{Request, StopReason, StopSignal};
use cms_core::registry::name;
use cms_core::scope::{Principal, SETTINGS, Scope};
use cms_storage::{Storage, StorageError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Between two looks at what may end a stream.
const PAUSE: Duration = Duration::from_secs(1);

/// Tables whose rows decide who a caller is.
const CALLERS: [&str; 3] = ["app_password", "session", "user"];

/// The parts of the program that serve an open stream.
pub trait EventHost: 'static {
    fn engine(&self) -> &Engine;
    fn hub(&self) -> &EventHub;
}

/// The rows that decide who a caller is, and the settings, which have the roles, as they were at a moment.
#[derive(Clone, Copy, PartialEq)]
pub struct CallerVersions([u64; 3], u64);

impl CallerVersions {
    /// Read before the caller is identified in the scope, so that what is written meanwhile has the caller looked up again.
    pub fn of(scope: &Scope) -> CallerVersions {
        CallerVersions::at(&*scope.storage, scope.settings.version)
    }

    fn at(storage: &dyn Storage, settings: u64) -> CallerVersions {
        CallerVersions(CALLERS.map(|table| storage.scope_version(&name(table))), settings)
    }
}

/// See the module.
pub struct EventListener {
    request: Request,
    endings: StopSignal,
    /// A stream without news shows so often that it is there; the caller is identified again.
    heartbeat: Duration,
    pub caller: Principal,
    versions: CallerVersions,
    /// When the caller was identified last.
    known: Instant,
    pub receiver: HubReceiver,
    /// When the client heard something last.
    seen: Instant,
    _place: OwnerPlace,
}

impl EventListener {
    /// Begins to listen in the name of a scope's caller, who was identified at these versions; and the number of the newest
    /// entry of the feed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn join(
        hub: &EventHub,
        (request, endings): (Request, StopSignal),
        scope: &Scope,
        versions: CallerVersions,
        place: OwnerPlace,
    ) -> Result<(EventListener, i64), ApiError> {
        let (receiver, newest) = hub.join()?;
        let heartbeat = scope.registry.declaration.events.heartbeat.std();
        let (caller, now) = (scope.principal.clone(), Instant::now());
        let (known, seen) = (now, now);
        let listener =
            EventListener { request, endings, heartbeat, caller, versions, known, receiver, seen, _place: place };
        Ok((listener, newest))
    }

    /// Why the stream has to end.
    pub fn ending(&self) -> Option<StopReason> {
        (self.endings)()
    }

    /// The client has heard something.
    pub fn heard(&mut self) {
        self.seen = Instant::now();
    }

    /// Whether the client has heard nothing for so long that it needs a sign.
    pub fn is_silent(&self) -> bool {
        self.seen.elapsed() >= self.heartbeat
    }

    /// Waits for news, or for a moment.
    pub async fn wait(&mut self) {
        // The hub lives as long as those who listen to it.
        let _ = timeout(PAUSE, self.receiver.changes.changed()).await;
    }

    /// Takes notice of commits of other processes, where the database does not hear of them by itself.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn catch_up(&self) -> Result<(), StorageError> {
        let storage = self.receiver.storage();
        if storage.has_commit_listener() { Ok(()) } else { storage.catch_up() }
    }

    /// Whether the caller may have lost rights since the last look, or was not looked up for long.
    pub fn may_have_changed(&self) -> bool {
        let has_credentials = ["authorization", "cookie"].iter().any(|name| self.request.header(name).is_some());
        let storage = self.receiver.storage();
        let changed = || CallerVersions::at(storage, storage.scope_version(&SETTINGS)) != self.versions;
        has_credentials && (self.known.elapsed() >= self.heartbeat || changed())
    }

    /// A scope in the caller's name; `None`: the caller's credentials are not valid any more, or nobody can say.
    pub async fn scope(&mut self, engine: &Engine) -> Option<Scope> {
        let scope = engine.anonymous(&self.request).ok()?;
        if self.may_have_changed() {
            let versions = CallerVersions::of(&scope);
            // In a box: most streams are idle.
            let caller = Box::pin(engine.identity().authenticate(&scope, &self.request)).await.ok()?;
            if (caller.id, &caller.app_password) != (self.caller.id, &self.caller.app_password) {
                return None;
            }
            (self.caller, self.versions, self.known) = (caller, versions, Instant::now());
        }
        Some(Scope { principal: self.caller.clone(), ..scope })
    }
}
