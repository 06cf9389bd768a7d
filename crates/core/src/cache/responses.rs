//! Whole responses in memory, behind authorization: the response to a caller is used again as long as no row or column
//! that it was made from has been written.
//!
//! A response is found by its address and its caller. It is valid as long as the versions of all that was read for it
//! are current. Parts that change with time alone (an offset of daylight saving, a preview's key) are at most
//! [`MAX_AGE`] old. The registry is part of no key: a reload builds another engine, and with it another cache.

use crate::error::status;
use crate::model::{EncodingBudget, Method, Payload, Peer, Reply, Request, SharedText};
use crate::scope::Principal;
use cms_storage::{ReadSet, Storage, TrackedStorage};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Seconds after which a response is computed again, whatever it was made from.
pub const MAX_AGE: i64 = 60;

/// How long writes of other processes may go unnoticed while every response is found here. A read of the database
/// notices them at once.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Larger responses are not cached: a few of them would evict everything else.
const MAX_RESPONSE: usize = 1 << 20;

/// The key of a cached response.
#[derive(PartialEq, Eq)]
struct ResponseCacheKey {
    describes: bool,
    path: String,
    query: String,
    caller: Caller,
    way: ConnectionFacts,
}

/// Who may see a response: anonymous callers share theirs, everybody else has their own.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Caller {
    id: i64,
    roles: Vec<Arc<str>>,
    app_password: Option<Arc<str>>,
}

impl Caller {
    /// The caller.
    pub fn of(principal: &Principal) -> Caller {
        Caller { id: principal.id, roles: principal.roles.clone(), app_password: principal.app_password.clone() }
    }

    /// Bytes of its own memory.
    pub fn bytes(&self) -> usize {
        self.roles.len() * size_of::<Arc<str>>()
    }
}

/// Facts about the connection that documents may mention.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnectionFacts {
    https: bool,
    forwarded: bool,
    localhost: bool,
    loopback: bool,
}

impl ConnectionFacts {
    /// How a request arrived.
    pub fn of(peer: &Peer) -> ConnectionFacts {
        let loopback = peer.ip.is_some_and(|ip| ip.is_loopback());
        ConnectionFacts { https: peer.https, forwarded: peer.forwarded, localhost: peer.localhost, loopback }
    }
}

/// A request's key, borrowed.
#[derive(Hash)]
struct ResponseCacheKeyRef<'a> {
    describes: bool,
    path: &'a str,
    query: &'a str,
    caller: &'a Caller,
    way: ConnectionFacts,
}

impl Hash for ResponseCacheKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ResponseCacheKey { describes, path, query, caller, way } = self;
        ResponseCacheKeyRef { describes: *describes, path, query, caller, way: *way }.hash(state);
    }
}

impl Equivalent<ResponseCacheKey> for ResponseCacheKeyRef<'_> {
    fn equivalent(&self, key: &ResponseCacheKey) -> bool {
        let alike = self.describes == key.describes && self.way == key.way;
        alike && self.path == key.path && self.query == key.query && *self.caller == key.caller
    }
}

#[derive(Clone)]
struct CachedResponse {
    headers: Arc<[(String, String)]>,
    kept: Arc<SharedText>,
    seen: Arc<ReadSet>,
    at: i64,
    /// Position of the route that it is from.
    route: Option<usize>,
}

#[derive(Clone)]
struct ResponseWeight;

impl Weighter<ResponseCacheKey, CachedResponse> for ResponseWeight {
    fn weight(&self, key: &ResponseCacheKey, answer: &CachedResponse) -> u64 {
        // Each header is two texts of its own.
        let headers: usize = answer.headers.iter().map(|(name, value)| name.len() + value.len() + 80).sum();
        let key = key.path.len() + key.query.len() + key.caller.bytes();
        (key + answer.kept.text.len() + headers + answer.seen.bytes() + 512) as u64
    }
}

/// Hits and misses of a cache.
#[derive(Default)]
pub struct HitCounts {
    found: AtomicU64,
    missed: AtomicU64,
}

impl HitCounts {
    /// Counts one lookup.
    pub fn count(&self, found: bool) {
        if found { &self.found } else { &self.missed }.fetch_add(1, Ordering::Relaxed);
    }

    /// Hits and misses.
    pub fn numbers(&self) -> [u64; 2] {
        [&self.found, &self.missed].map(|n| n.load(Ordering::Relaxed))
    }
}

/// See the module's description.
pub struct ResponseCache {
    cache: Option<Cache<ResponseCacheKey, CachedResponse, ResponseWeight>>,
    /// Most bytes of the encodings of the responses.
    room: Arc<EncodingBudget>,
    encodings: u64,
    asked: HitCounts,
    began: Instant,
    /// Milliseconds since `began` at the last check of the database.
    looked: AtomicU64,
}

/// A request whose response can be cached.
pub struct ResponseKey<'a> {
    request: &'a Request,
    caller: Caller,
    now: i64,
}

impl ResponseCache {
    /// A store of at most `bytes`, a quarter of them for encodings; none at all for 0.
    pub fn new(bytes: u64) -> ResponseCache {
        let encodings = bytes / 4;
        let bytes = bytes - encodings;
        let answers = usize::try_from(bytes / 8192).unwrap_or(usize::MAX).max(64);
        let cache = (bytes > 0).then(|| Cache::with_weighter(answers, bytes, ResponseWeight));
        ResponseCache {
            cache,
            room: EncodingBudget::new(encodings),
            encodings,
            asked: HitCounts::default(),
            began: Instant::now(),
            looked: AtomicU64::new(0),
        }
    }

    /// The key of a request, if its response can be cached: a GET or OPTIONS without a body, by an anonymous caller or a
    /// program. (Responses to browser sessions carry a fresh nonce.)
    pub fn cache_key<'a>(&self, request: &'a Request, principal: &Principal, now: i64) -> Option<ResponseKey<'a>> {
        let reads = matches!(request.method, Method::Get | Method::Options);
        let plain = self.cache.is_some() && reads && request.body.is_empty();
        let program = !principal.is_logged_in() || principal.app_password.is_some();
        (plain && program).then(|| ResponseKey { request, caller: Caller::of(principal), now })
    }

    /// The cached response, if it is still valid, and the position of its route.
    pub fn get(&self, key: &ResponseKey<'_>, storage: &dyn Storage) -> Option<(Reply, Option<usize>)> {
        let found = self.cache.as_ref()?.get(&key.borrowed());
        self.look(storage);
        let holds = |answer: &CachedResponse| key.now - answer.at < MAX_AGE && answer.seen.holds(storage, key.now);
        let Some(answer) = found.filter(holds) else {
            self.asked.count(false);
            return None;
        };
        self.asked.count(true);
        let reply =
            Reply { status: status::OK, headers: answer.headers.to_vec(), payload: Payload::Shared(answer.kept) };
        Some((reply, answer.route))
    }

    fn look(&self, storage: &dyn Storage) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if now.saturating_sub(self.looked.load(Ordering::Relaxed)) >= POLL_INTERVAL.as_millis() as u64 {
            self.looked.store(now, Ordering::Relaxed);
            // Opening a snapshot takes over the versions that others have raised; a failure shows in the next read.
            drop(storage.snapshot());
        }
    }

    /// Caches a response if it is successful and it is known what it was made from.
    pub fn put(&self, key: &ResponseKey<'_>, observed: &TrackedStorage, reply: Reply, route: Option<usize>) -> Reply {
        let Reply { status, headers, payload } = reply;
        let seen = if status == status::OK { observed.seen() } else { None };
        match (&self.cache, payload, seen) {
            (Some(cache), Payload::Text(text), Some(seen)) if text.len() <= MAX_RESPONSE => {
                let kept = Arc::new(SharedText::new(text, self.room.clone()));
                let shared = headers.iter().cloned().collect();
                let answer =
                    CachedResponse { headers: shared, kept: kept.clone(), seen: Arc::new(seen), at: key.now, route };
                cache.insert(key.key(), answer);
                Reply { status, headers, payload: Payload::Shared(kept) }
            }
            (_, payload, _) => Reply { status, headers, payload },
        }
    }

    /// Hits and misses of this cache.
    pub fn hit_counts(&self) -> &HitCounts {
        &self.asked
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.cache.as_ref().map_or(0, Cache::weight) + (self.encodings - self.room.left())
    }
}

impl ResponseKey<'_> {
    /// Whether it is a request for a description of the route (OPTIONS), which counts against no limit of its reads.
    pub fn describes(&self) -> bool {
        self.request.method == Method::Options
    }

    fn borrowed(&self) -> ResponseCacheKeyRef<'_> {
        ResponseCacheKeyRef {
            describes: self.describes(),
            path: &self.request.path,
            query: &self.request.raw_query,
            caller: &self.caller,
            way: ConnectionFacts::of(&self.request.peer),
        }
    }

    fn key(&self) -> ResponseCacheKey {
        ResponseCacheKey {
            describes: self.describes(),
            path: self.request.path.clone(),
            query: self.request.raw_query.clone(),
            caller: self.caller.clone(),
            way: ConnectionFacts::of(&self.request.peer),
        }
    }
}
