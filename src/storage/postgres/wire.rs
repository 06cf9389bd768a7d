//! Connections to the server: a thread that drives all of them, waiting for them on the threads that read, statements
//! prepared once, and requests that are sent without waiting.
//!
//! Reads are synchronous: the thread that serves a request sleeps until the rows are there. Requests that follow each
//! other without a decision in between are sent together, so that they cost one round trip.

use super::super::connection::{DbError, Fault};
use super::super::sql::{Bind, Rendered};
use super::connect::Address;
use super::text;
use futures_util::TryStreamExt as _;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Row, SimpleQueryMessage, Statement};

/// Most bytes of statements that a connection has prepared, as far as their texts tell.
const STATEMENTS: u64 = 2 << 20;
/// What a prepared statement takes beside its texts.
const STATEMENT: u64 = 2 << 10;
/// A request that has no deadline of its own ends after this.
const PATIENCE: Duration = Duration::from_secs(30);

/// The thread on which connections live.
pub struct Driver {
    pub handle: Handle,
    _stop: oneshot::Sender<()>,
}

impl Driver {
    /// Starts the thread. It ends when the driver is dropped.
    pub fn start() -> std::io::Result<Driver> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new().name("storage-postgres".into()).spawn(move || {
            // An error is the sender's end.
            let _ = runtime.block_on(stopped);
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(Driver { handle, _stop: stop })
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
}

/// Sleeps until a future is ready, or `None` at the deadline.
pub fn wait<T>(future: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    let mut future = pin!(future);
    let until = deadline.unwrap_or_else(|| Instant::now() + PATIENCE);
    WAKER.with(|waker| {
        let mut context = Context::from_waker(waker);
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                return Some(done);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::park_timeout(left);
        }
    })
}

/// A statement that the server knows.
pub struct Prepared {
    statement: Statement,
    pub rendered: Rendered,
}

impl Prepared {
    /// The types of its placeholders.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.statement.params().iter().map(tokio_postgres::types::Type::name)
    }
}

#[derive(Clone)]
struct Bytes;

impl Weighter<String, Arc<Prepared>> for Bytes {
    fn weight(&self, key: &String, prepared: &Arc<Prepared>) -> u64 {
        (key.len() + 3 * prepared.rendered.text.len()) as u64 + STATEMENT
    }
}

type Sent = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// The rows of a statement that was sent.
pub type Asked = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + Send>>;

/// A connection of one thread at a time.
pub struct Session {
    client: Arc<Client>,
    address: Arc<Address>,
    statements: RefCell<Cache<String, Arc<Prepared>, Bytes>>,
    /// Requests whose outcome nobody has seen yet, in their order.
    sent: RefCell<VecDeque<Sent>>,
    broken: Cell<bool>,
    /// Something was sent since the server was last waited for.
    unheard: Cell<bool>,
}

impl Session {
    pub fn new(client: Client, address: Arc<Address>) -> Session {
        Session {
            client: Arc::new(client),
            address,
            statements: RefCell::new(Cache::with_weighter(1024, STATEMENTS, Bytes)),
            sent: RefCell::default(),
            broken: Cell::new(false),
            unheard: Cell::new(false),
        }
    }

    /// Whether nothing can be read with it any more.
    pub fn is_broken(&self) -> bool {
        self.broken.get() || self.client.is_closed()
    }

    /// Forgets what was sent without waiting.
    pub fn abandon(&self) {
        self.sent.borrow_mut().clear();
    }

    /// Sends a text of statements without placeholders.
    pub fn send_text(&self, text: &'static str) {
        let client = self.client.clone();
        self.push(Box::pin(async move { client.batch_execute(text).await }));
    }

    /// Sends a statement.
    pub fn send(&self, prepared: &Arc<Prepared>, binds: &[Bind]) {
        let (client, prepared) = (self.client.clone(), prepared.clone());
        let binds = in_order(&prepared.rendered, binds);
        self.push(Box::pin(async move {
            let params = binds.iter().map(|bind| bind as &(dyn tokio_postgres::types::ToSql + Sync));
            client.execute_raw(&prepared.statement, params).await.map(drop)
        }));
    }

    /// A future sends when it is polled for the first time.
    fn push(&self, mut sent: Sent) {
        self.unheard.set(true);
        if let Poll::Ready(done) = sent.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            sent = Box::pin(std::future::ready(done));
        }
        self.sent.borrow_mut().push_back(sent);
    }

    /// Waits for everything that was sent; the first failure.
    pub fn settle(&self, deadline: Option<Instant>) -> Result<(), DbError> {
        while let Some(sent) = self.take_sent() {
            if let Err(error) = self.waited(sent, deadline) {
                self.abandon();
                return Err(error);
            }
        }
        Ok(())
    }

    fn take_sent(&self) -> Option<Sent> {
        self.sent.borrow_mut().pop_front()
    }

    /// Waits for a request, which is cancelled at its deadline.
    fn waited<T>(
        &self,
        request: impl Future<Output = Result<T, Error>>,
        deadline: Option<Instant>,
    ) -> Result<T, DbError> {
        let answered = wait(request, deadline);
        if self.unheard.replace(false) {
            self.address.round_trips.fetch_add(1, Ordering::Relaxed);
        }
        match answered {
            Some(Ok(done)) => Ok(done),
            Some(Err(error)) => {
                let error = explain(&error, self.client.is_closed());
                if error.fault == Fault::Unavailable && self.client.is_closed() {
                    self.broken.set(true);
                }
                Err(error)
            }
            None => {
                self.cancel();
                let fault = if deadline.is_some() { Fault::TimedOut } else { Fault::Unavailable };
                Err(DbError { fault, cause: "the database did not answer in time".into() })
            }
        }
    }

    /// Ends what the server is doing for this connection. The connection is not used again unless its outcome was awaited.
    fn cancel(&self) {
        self.broken.set(true);
        self.address.cancel(self.client.cancel_token());
    }

    /// Goes on after a cancelled request: the server has ended it.
    pub fn recover(&self) {
        self.broken.set(false);
    }

    /// The statement that is known under a key.
    pub fn prepared(
        &self,
        key: &str,
        make: &dyn Fn() -> Rendered,
        deadline: Option<Instant>,
    ) -> Result<Arc<Prepared>, DbError> {
        if let Some(prepared) = self.statements.borrow_mut().get(key) {
            return Ok(prepared.clone());
        }
        let rendered = make();
        let text = text::for_server(&rendered.text);
        self.unheard.set(true);
        let prepare = self.client.prepare(&text);
        let statement = self.waited(prepare, deadline)?;
        let prepared = Arc::new(Prepared { statement, rendered });
        self.statements.borrow_mut().insert(key.to_owned(), prepared.clone());
        Ok(prepared)
    }

    /// Sends a statement whose rows are taken later.
    pub fn ask(&self, prepared: &Arc<Prepared>, binds: &[Bind]) -> Asked {
        let (client, prepared) = (self.client.clone(), prepared.clone());
        let binds = in_order(&prepared.rendered, binds);
        let mut asked: Asked = Box::pin(async move {
            let params = binds.iter().map(|bind| bind as &(dyn tokio_postgres::types::ToSql + Sync));
            client.query_raw(&prepared.statement, params).await?.try_collect::<Vec<Row>>().await
        });
        self.unheard.set(true);
        if let Poll::Ready(done) = asked.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            asked = Box::pin(std::future::ready(done));
        }
        asked
    }

    /// The rows of a statement that was sent.
    pub fn taken(&self, asked: Asked, deadline: Option<Instant>) -> Result<Vec<Row>, DbError> {
        self.settle(deadline)?;
        self.waited(asked, deadline)
    }

    /// The rows of several statements, in one round trip, after what was sent before.
    pub fn query_all(
        &self,
        asked: &[(Arc<Prepared>, Vec<Bind>)],
        deadline: Option<Instant>,
    ) -> Result<Vec<Vec<Row>>, DbError> {
        let asked: Vec<Asked> = asked.iter().map(|(prepared, binds)| self.ask(prepared, binds)).collect();
        asked.into_iter().map(|asked| self.taken(asked, deadline)).collect()
    }

    /// The rows of a statement for each of several lists of values.
    pub fn query_each(
        &self,
        prepared: &Arc<Prepared>,
        binds: Vec<Vec<Bind>>,
        deadline: Option<Instant>,
    ) -> Result<Vec<Vec<Row>>, DbError> {
        let asked: Vec<_> = binds.into_iter().map(|binds| (prepared.clone(), binds)).collect();
        self.query_all(&asked, deadline)
    }

    /// How many rows a statement changed, after what was sent before.
    pub fn execute(&self, prepared: &Prepared, binds: &[Bind], deadline: Option<Instant>) -> Result<u64, DbError> {
        let binds = in_order(&prepared.rendered, binds);
        let params = binds.iter().map(|bind| bind as &(dyn tokio_postgres::types::ToSql + Sync));
        self.unheard.set(true);
        let mut request = pin!(self.client.execute_raw(&prepared.statement, params));
        let early = request.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.settle(deadline)?;
        match early {
            Poll::Ready(done) => self.waited(std::future::ready(done), deadline),
            Poll::Pending => self.waited(request, deadline),
        }
    }

    /// The number of the server's process behind the connection.
    pub fn backend(&self) -> Result<String, DbError> {
        self.settle(None)?;
        let messages = self.waited(self.client.simple_query("SELECT pg_backend_pid()"), None)?;
        let number = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        Ok(number.unwrap_or_default().to_owned())
    }

    /// Carries out a text of statements without placeholders.
    pub fn batch(&self, text: &str) -> Result<(), DbError> {
        self.settle(None)?;
        self.unheard.set(true);
        self.waited(self.client.batch_execute(&text::for_server(text)), None)
    }
}

/// The binds in the order of a statement's placeholders.
fn in_order(rendered: &Rendered, binds: &[Bind]) -> Vec<Bind> {
    rendered.order.iter().map(|place| binds[*place].clone()).collect()
}

/// A text whose placeholders are in the order of its binds.
pub fn plain(text: &str) -> Rendered {
    Rendered { text: text.to_owned(), order: (0..text::placeholders(text)).collect(), words: Vec::new() }
}

/// What kind of thing went wrong. `closed`: the connection is gone.
pub fn explain(error: &Error, closed: bool) -> DbError {
    let Some(db) = error.as_db_error() else {
        let fault = if closed || error.is_closed() { Fault::Unavailable } else { Fault::Other };
        return DbError { fault, cause: with_causes(error) };
    };
    let code = db.code();
    let fault = match code.code() {
        "23505" => Fault::Duplicate(column_of(db)),
        "25006" => Fault::ReadOnly,
        "55P03" | "40001" | "40P01" => Fault::Locked,
        _ if *code == SqlState::QUERY_CANCELED => Fault::TimedOut,
        // No connection, no resources, an operator's intervention, the system's I/O.
        code if ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class)) => Fault::Unavailable,
        "25P03" => Fault::Unavailable,
        _ => Fault::Other,
    };
    DbError { fault, cause: format!("{}: {} ({})", db.severity(), db.message(), code.code()) }
}

/// The first column, `table.column`, of the index that refused a row.
fn column_of(error: &tokio_postgres::error::DbError) -> Option<Arc<str>> {
    let columns = error.detail()?.split_once("Key (")?.1;
    let first = columns.split([',', ')']).next()?.trim_matches('"');
    Some(format!("{}.{first}", error.table()?).into())
}

/// An error with what caused it.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}
