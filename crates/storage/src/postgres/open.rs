//! Opening a database: what can go wrong and what to do about it.

use super::super::catalogue::Catalogue;
use super::super::common::Common;
use super::super::connection::Connection;
use super::super::derived::{self, LISTED};
use super::super::layout_table::kept;
use super::super::migrate::{self, Extent, META_VERSION, PendingChange, Schema};
use super::super::plan::{Layout, Row};
use super::super::statement::{DbError, Fault, Statements as _, int, text_at};
use super::super::versions;
use super::super::words::Words;
use super::connect::{Address, BadAddress, CERTIFICATE, Refused};
use super::neighbours::Neighbours;
use super::pool::Pool;
use super::schema::{PROGRAM, search_key};
use super::shared::PgShared;
use super::wire::{PATIENCE, Session};
use super::writer::PgConnection;
use crate::error::StorageError;
use crate::feed::FeedRetention;
use crate::opening::OpenError;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long it takes at most to find out whether a database can be used.
const STARTING: Duration = Duration::from_secs(9);
/// How long a change of the tables may take: an index over millions of texts takes many minutes.
const CHANGING: Duration = Duration::from_secs(6 * 60 * 60);

/// The oldest server, as it numbers itself.
const OLDEST: i64 = 150_000;

pub const SYSTEM: &str = "The cause comes from the database or the operating system.";
const REACH: &str = "Start the database server, or correct host and port in storage.url, where another program may listen; a \
    firewall may be in between.";
const FULL: &str =
    "Raise max_connections of the server or the limit of the user, or lower storage.connections of the nodes.";
const OTHER: &str = "Is there a PostgreSQL server at host and port of storage.url, and no other program?";
const LOGIN: &str = "Correct user and password in storage.url (special characters in them are percent-encoded), or allow the \
    user in pg_hba.conf.";
const NO_DATABASE: &str = "Create the database (`createdb NAME`), or name another one in storage.url.";
const FORM: &str = "The form is postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=require.";
const ENCRYPTION: &str =
    "Set sslmode in storage.url to what the server offers: disable, prefer, require or verify-full.";
const AUTHORITY: &str = "Name the authority that signed the server's certificate in sslrootcert, and the server in storage.url \
    as its certificate does; sslmode=require without sslrootcert takes any certificate.";
const UPGRADE: &str = "Upgrade the database server to PostgreSQL 15 or later.";
const UTF8: &str = "Create the database with ENCODING 'UTF8' TEMPLATE template0.";
const PRIMARY: &str = "Name the primary server in storage.url; a replica takes no writes.";
const RIGHTS: &str =
    "Give the user the schema: GRANT USAGE, CREATE ON SCHEMA NAME TO USER, or let it own the database.";
const FOREIGN: &str =
    "Name an empty database, or an empty schema by `options=-csearch_path%3DNAME`; this one was left as it is.";
const ROOM: &str = "Make room on the database server's disk.";
const SESSIONS: &str = "Set the pooler to session mode (PgBouncer: pool_mode = session), or name the database server itself in storage.url.";
const PARAMETER: &str = "Leave the parameter out of storage.url, where a pooler does not take it; what it sets, ALTER ROLE sets for \
    the user, too.";
const BUSY: &str = "Another session holds locks on the tables; end it, or try again when it is done.";
const NEWER: &str = "Start the newer version, or restore the backup from before the upgrade.";

/// How to open a database.
#[derive(Clone, Debug)]
pub struct PgOptions {
    pub url: String,
    /// Bring an existing database to the layout. Otherwise [`OpenError::Pending`] lists what would change.
    pub migrate: bool,
    /// Most writes in the queue; one more is refused as busy.
    pub queue: usize,
    /// Most connections for reads.
    pub connections: usize,
    /// How long a transaction may make other writers wait.
    pub hold: Duration,
    /// How long a write may take that the server does not answer.
    pub patience: Duration,
    /// How long entries of the change feed stay.
    pub feed: FeedRetention,
}

impl PgOptions {
    /// The usual settings.
    pub fn new(url: impl Into<String>) -> PgOptions {
        let (queue, connections) = (4096, 16);
        let (hold, feed) = (Duration::from_secs(10), FeedRetention::default());
        PgOptions { url: url.into(), migrate: true, queue, connections, hold, patience: PATIENCE, feed }
    }
}

/// The result of [`open`].
pub struct OpenedSchema {
    pub address: Arc<Address>,
    pub session: Session,
    pub shared: PgShared,
    pub applied: Vec<PendingChange>,
}

/// A failure of the server at an address.
pub fn server(address: &Address, cause: &dyn std::fmt::Display, hint: &'static str) -> OpenError {
    OpenError::Server { at: address.shown.clone(), cause: cause.to_string(), hint }
}

/// Connects, checks what is there, and brings it to the layout.
pub fn open(options: &PgOptions, layout: &Layout) -> Result<OpenedSchema, OpenError> {
    static NEXT_ID: AtomicU64 = AtomicU64::new(0);
    let catalogue = Catalogue::new(layout).map_err(OpenError::Layout)?;
    let (address, conn, schema) = connected(&options.url)?;
    let extent = if options.migrate { Extent::Apply { drops: &[] } } else { Extent::Refuse };
    let applied = bring(&conn, &address, (&catalogue, layout), extent)?;
    let failed = |error: DbError| server(&address, &error, explain_write(&error));
    if options.migrate && lacks_index(&conn, &catalogue).map_err(failed)? {
        add_indexes(&conn, &catalogue).map_err(failed)?;
    }
    conn.patience(PATIENCE);
    let versions = versions::load(&conn).map_err(failed)?;
    let words = Words::load(&conn).map_err(failed)?;
    let common = Common::new(catalogue, words, versions, (options.hold, options.feed));
    let shared = PgShared {
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        // The writer, the mailer, the scheduler and others read beside the workers.
        pool: Arc::new(Pool::new(address.clone(), options.connections + 4)),
        node: common.node.to_string().into(),
        common: Arc::new(common),
        schema,
        hears: AtomicBool::new(false),
        leads: AtomicBool::new(false),
        neighbours: Neighbours::default(),
    };
    let session = Session::connect(&address, None).map_err(|refused| explain(&address, refused))?;
    Ok(OpenedSchema { address, session, shared, applied })
}

/// See [`super::Postgres::migrate`] and [`super::Postgres::rehearse`].
pub fn migrated(url: &str, layout: &Layout, extent: Extent<'_>) -> Result<Vec<PendingChange>, OpenError> {
    let catalogue = Catalogue::new(layout).map_err(OpenError::Layout)?;
    let (address, conn, _) = connected(url)?;
    bring(&conn, &address, (&catalogue, layout), extent)
}

/// See [`super::Postgres::examine`].
pub fn examine(url: &str, layout: &Layout) -> Result<Vec<String>, StorageError> {
    let catalogue = Catalogue::new(layout)?;
    let (_, conn, _) = connected(url).map_err(|error| StorageError::Failed(error.to_string()))?;
    Ok(derived::differences(&conn, &catalogue, LISTED)?)
}

fn bring(
    conn: &PgConnection,
    address: &Address,
    (catalogue, layout): (&Catalogue, &Layout),
    extent: Extent<'_>,
) -> Result<Vec<PendingChange>, OpenError> {
    let outcome = migrate::migrate(conn, catalogue, layout, extent, &mut || Ok(()));
    let outcome = outcome.map_err(|error| server(address, &error, explain_write(&error)))?;
    outcome.into_changes(Path::new(&address.shown))
}

/// Whether searched texts have no index, because it was not allowed when their table was made.
fn lacks_index(conn: &PgConnection, catalogue: &Catalogue) -> Result<bool, DbError> {
    let made = conn.texts(INDEXED, &[])?;
    let searched = catalogue.tables.iter().filter(|table| !table.searched.is_empty());
    Ok(searched.map(|table| search_key(&table.def.name)).any(|key| !made.iter().any(|made| **made == *key)))
}

/// Makes the indexes of texts that are missing, where that is allowed by now.
fn add_indexes(conn: &PgConnection, catalogue: &Catalogue) -> Result<(), DbError> {
    conn.begin()?;
    let renewed = Words::load(conn).and_then(|words| conn.renew_search(catalogue, &words));
    match renewed {
        Ok(()) => conn.commit(None),
        Err(error) => {
            conn.rollback();
            Err(error)
        }
    }
}

/// The advice for a failure while tables are made.
fn explain_write(error: &DbError) -> &'static str {
    let code = |code: &str| error.cause.ends_with(&format!("({code})"));
    match () {
        () if code("53100") => ROOM,
        () if code("42501") => RIGHTS,
        () if error.fault == Fault::ReadOnly => PRIMARY,
        () if error.fault == Fault::Locked => BUSY,
        () => SYSTEM,
    }
}

fn address(url: &str) -> Result<Arc<Address>, OpenError> {
    let bad = |BadAddress(cause)| OpenError::Server { at: "storage.url".into(), cause, hint: FORM };
    Address::parse(url).map(Arc::new).map_err(bad)
}

/// A connection to a database that this program may use, and the name of its schema.
pub fn connected(url: &str) -> Result<(Arc<Address>, PgConnection, Arc<str>), OpenError> {
    let (address, until) = (address(url)?, Instant::now() + STARTING);
    let connect = || Session::connect(&address, Some(until)).map_err(|refused| explain(&address, refused));
    let (session, other) = (connect()?, connect()?);
    [&session, &other].iter().for_each(|session| session.limit(Some(until)));
    if is_lent(&session, &other).map_err(|error| server(&address, &error, SYSTEM))? {
        return Err(server(&address, &"a pooler lends its connections for one transaction at a time", SESSIONS));
    }
    let conn = PgConnection::new(address.clone(), session);
    conn.patience(until.saturating_duration_since(Instant::now()));
    let schema = check(&conn, &address)?;
    conn.patience(CHANGING);
    Ok((address, conn, schema))
}

/// Waits for the lock of nodes that start. The session holds it, and drives its connection by the address.
pub fn start(url: &str, patience: Duration) -> Result<(Session, Arc<Address>), OpenError> {
    let address = address(url)?;
    let session =
        Session::connect(&address, Some(Instant::now() + STARTING)).map_err(|refused| explain(&address, refused))?;
    // The server gives up first.
    session.limit(Some(Instant::now() + patience + STARTING));
    let limits = format!("SET lock_timeout = '{0}s'; SET idle_session_timeout = '{0}s'", patience.as_secs());
    let locked = session.batch(&limits).and_then(|()| session.batch(START_LOCK));
    match locked {
        Ok(()) => Ok((session, address)),
        Err(error) if error.fault == Fault::Locked => {
            Err(server(&address, &"another node starts over this database and takes too long", BUSY))
        }
        Err(error) => Err(server(&address, &error, SYSTEM)),
    }
}

/// Whether a pooler in between gives connections to different processes of the server: those that are open both have one
/// process, or one of them has another than before. Nothing is prepared for that, which such a pooler may refuse.
fn is_lent(one: &Session, other: &Session) -> Result<bool, DbError> {
    let first = one.backend()?;
    for _ in 0..ASKED {
        if other.backend()? == first || one.backend()? != first {
            return Ok(true);
        }
    }
    Ok(false)
}

fn explain(address: &Address, refused: Refused) -> OpenError {
    let (cause, hint) = match refused {
        Refused::Closed(cause) => (cause, REACH),
        Refused::Full(cause) => (cause, FULL),
        Refused::Unwanted { code, cause } => {
            let hint = match &*code {
                "3D000" => NO_DATABASE,
                "28000" if cause.contains("encryption") || cause.contains("SSL") => ENCRYPTION,
                "28000" | "28P01" => LOGIN,
                "" if cause.contains(CERTIFICATE) => AUTHORITY,
                "" if cause.to_lowercase().contains("tls") || cause.contains("certificate") => ENCRYPTION,
                "" if cause.contains("password") => LOGIN,
                "08P01" if cause.contains("startup parameter") => PARAMETER,
                "" => OTHER,
                _ => SYSTEM,
            };
            (cause, hint)
        }
    };
    server(address, &cause, hint)
}

const FACTS: &str = "SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding'), \
    (pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool)::int, current_schema()::text, \
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)::int, current_setting('server_version'), \
    extract(epoch FROM clock_timestamp())::bigint";

const TABLES: &str = "SELECT count(*) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace \
    AND c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')";

/// The tables whose texts have an index: see [`search_key`].
const INDEXED: &str = "SELECT name FROM layout WHERE name LIKE 'search:%' AND definition <> ''";

/// Nodes that start wait for each other.
const START_LOCK: &str = "SELECT pg_advisory_lock(hashtextextended('cms-server start ' || current_schema(), 0))";

/// How often two connections are asked for their processes.
const ASKED: usize = 3;

/// Seconds by which two clocks may differ: a connection takes some.
const CLOCK: u64 = 30;

/// Says that the server's clock differs from this machine's. The times of records come from the machine.
fn compare_clocks(address: &Address, there: i64) {
    let here = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let apart = here.abs_diff(there);
    if apart > CLOCK {
        let shown = &address.shown;
        tracing::warn!("the clock of {shown} differs from this machine's by {apart} seconds; synchronise both (NTP)");
    }
}

/// Checks that the server, the database and the schema can be used; the schema's name.
fn check(conn: &PgConnection, address: &Address) -> Result<Arc<str>, OpenError> {
    let failed = |error: DbError| server(address, &error, SYSTEM);
    let facts: Row = conn.first(FACTS, &[]).map_err(failed)?.unwrap_or_default();
    if int(&facts, 0) < OLDEST {
        let version = text_at(&facts, 5).unwrap_or_default();
        return Err(server(
            address,
            &format!("this is PostgreSQL {version}, and 15 is the oldest that serves"),
            UPGRADE,
        ));
    }
    compare_clocks(address, int(&facts, 6));
    let encoding = text_at(&facts, 1).unwrap_or_default();
    if &*encoding != "UTF8" {
        return Err(server(address, &format!("the database is encoded in {encoding}, not in UTF8"), UTF8));
    }
    if int(&facts, 2) > 0 {
        return Err(server(address, &"the server takes no writes: it is a replica, or set to read only", PRIMARY));
    }
    let Some(schema) = text_at(&facts, 3) else {
        return Err(server(address, &"none of the schemas of search_path is there", RIGHTS));
    };
    if !conn.has_table("layout").map_err(failed)? {
        let tables = conn.number(TABLES, &[]).map_err(failed)?.unwrap_or(0);
        if tables > 0 {
            return Err(server(address, &format!("the schema {schema} holds tables of another program"), FOREIGN));
        }
        if int(&facts, 4) == 0 {
            return Err(server(address, &format!("the user may not create tables in the schema {schema}"), RIGHTS));
        }
        return Ok(schema);
    }
    match kept(conn, "program").map_err(failed)?.as_deref() {
        Some(PROGRAM) => {}
        _ => return Err(server(address, &format!("the schema {schema} holds tables of another program"), FOREIGN)),
    }
    let version = conn.version().map_err(failed)?;
    if version > META_VERSION {
        let cause = format!("written by a newer version (tables of version {version}, this one knows {META_VERSION})");
        return Err(server(address, &cause, NEWER));
    }
    Ok(schema)
}
