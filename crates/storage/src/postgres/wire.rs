//! A connection to the server: waiting for it on the thread that reads, statements prepared once, and requests that are
//! sent without waiting.
//!
//! Reads are synchronous: the thread that serves a request sleeps until the rows are there. Requests that follow each
//! other without a decision in between are sent together, so that they cost one round trip.
//!
//! Answers come in the order of the requests, and the driver takes the next one only after somebody has taken the rows
//! before it. So whoever waits takes whatever comes, for those who ask for it later.
//!
//! Every wait has an end: the deadline of the read, else the limit of the connection, else [`PATIENCE`].

use super::super::sql::{Bind, Rendered};
use super::super::statement::{DbError, Fault};
use super::connect::{Address, Refused};
use super::driver::{explain, wait};
use super::text;
use futures_util::TryStreamExt as _;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio_postgres::{Client, Error, Row, SimpleQueryMessage, Statement};

/// Most bytes of statements that a connection has prepared, as far as their texts tell.
const STATEMENTS: u64 = 2 << 20;
/// Bytes of a prepared statement beside its texts.
const STATEMENT: u64 = 2 << 10;
/// A request that has no deadline of its own ends after this.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// A server that is there answers BEGIN in less: it reads and locks nothing. One that does not is silent.
const AT_ONCE: Duration = Duration::from_secs(3);
/// How long to wait until a server has been told that a request is cancelled.
const CANCELLING: Duration = Duration::from_secs(1);

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
struct PreparedBytes;

impl Weighter<String, Arc<Prepared>> for PreparedBytes {
    fn weight(&self, key: &String, prepared: &Arc<Prepared>) -> u64 {
        (key.len() + 3 * prepared.rendered.text.len()) as u64 + STATEMENT
    }
}

type Request = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + Send>>;

/// A request that was sent.
struct SentRequest {
    number: u64,
    request: Request,
    answer: Option<Result<Vec<Row>, Error>>,
    use_of: Use,
}

/// The purpose of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Only a failure matters.
    Outcome,
    /// The same, and the server answers at once.
    Begin,
    /// Somebody takes the rows.
    Rows,
}

impl SentRequest {
    fn is_open(&self) -> bool {
        self.answer.is_none()
    }
}

/// A statement that was sent, whose rows are taken later.
pub struct PendingRows(u64);

/// A connection of one thread at a time.
pub struct Session {
    client: Arc<Client>,
    /// The task that drives it.
    connection: AbortHandle,
    address: Arc<Address>,
    statements: RefCell<Cache<String, Arc<Prepared>, PreparedBytes>>,
    /// Requests whose answers nobody has taken yet, in their order.
    sent: RefCell<VecDeque<SentRequest>>,
    next: Cell<u64>,
    broken: Cell<bool>,
    /// Ready when the server has been told that the last request is cancelled.
    cancelled: RefCell<Option<oneshot::Receiver<()>>>,
    /// Something was sent since the server was last waited for.
    unheard: Cell<bool>,
    /// When requests that have no deadline of their own end.
    limit: Cell<Option<Instant>>,
}

/// The driver would keep a connection until the server has answered everything, and a silent one never does.
impl Drop for Session {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Session {
    /// A new connection, set up by the deadline.
    pub fn connect(address: &Arc<Address>, deadline: Option<Instant>) -> Result<Session, Refused> {
        let (client, connection) = address.connect(deadline)?;
        Ok(Session {
            client: Arc::new(client),
            connection,
            address: address.clone(),
            statements: RefCell::new(Cache::with_weighter(1024, STATEMENTS, PreparedBytes)),
            sent: RefCell::default(),
            next: Cell::new(0),
            broken: Cell::new(false),
            cancelled: RefCell::default(),
            unheard: Cell::new(false),
            limit: Cell::new(None),
        })
    }

    /// Whether nothing can be read with it any more.
    pub fn is_broken(&self) -> bool {
        self.broken.get() || self.client.is_closed()
    }

    /// Requests without a deadline of their own end then; `None`: each after [`PATIENCE`].
    pub fn limit(&self, until: Option<Instant>) {
        self.limit.set(until);
    }

    /// Forgets what was sent and not taken.
    pub fn abandon(&self) {
        self.sent.borrow_mut().clear();
    }

    /// Sends the beginning of a transaction, as the first request of several.
    pub fn send_begin(&self, text: &'static str) {
        self.abandon();
        let client = self.client.clone();
        self.push(Use::Begin, Box::pin(async move { client.batch_execute(text).await.map(|()| Vec::new()) }));
    }

    /// Sends a text of statements without placeholders.
    pub fn send_text(&self, text: &'static str) {
        let client = self.client.clone();
        self.push(Use::Outcome, Box::pin(async move { client.batch_execute(text).await.map(|()| Vec::new()) }));
    }

    /// Sends a statement.
    pub fn send(&self, prepared: &Arc<Prepared>, binds: &[Bind]) {
        let (client, prepared) = (self.client.clone(), prepared.clone());
        let binds = in_order(&prepared.rendered, binds);
        let request = async move {
            let params = binds.iter().map(|bind| bind as &(dyn tokio_postgres::types::ToSql + Sync));
            client.execute_raw(&prepared.statement, params).await.map(|_| Vec::new())
        };
        self.push(Use::Outcome, Box::pin(request));
    }

    /// Sends a statement whose rows are taken later.
    pub fn ask(&self, prepared: &Arc<Prepared>, binds: &[Bind]) -> PendingRows {
        let (client, prepared) = (self.client.clone(), prepared.clone());
        let binds = in_order(&prepared.rendered, binds);
        let request = async move {
            let params = binds.iter().map(|bind| bind as &(dyn tokio_postgres::types::ToSql + Sync));
            client.query_raw(&prepared.statement, params).await?.try_collect::<Vec<Row>>().await
        };
        PendingRows(self.push(Use::Rows, Box::pin(request)))
    }

    /// A future sends when it is polled for the first time.
    fn push(&self, use_of: Use, mut request: Request) -> u64 {
        self.unheard.set(true);
        let answer = match request.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        };
        let number = self.next.replace(self.next.get() + 1);
        self.sent.borrow_mut().push_back(SentRequest { number, request, answer, use_of });
        number
    }

    /// Takes the answers that are there, in their order: one that is left with the driver holds up all behind it.
    fn drain(&self, context: &mut Context<'_>) {
        let mut sent = self.sent.borrow_mut();
        for one in sent.iter_mut().filter(|one| one.is_open()) {
            match one.request.as_mut().poll(context) {
                Poll::Ready(answer) => one.answer = Some(answer),
                Poll::Pending => break,
            }
        }
        while sent.front().is_some_and(|one| one.use_of != Use::Rows && matches!(one.answer, Some(Ok(_)))) {
            sent.pop_front();
        }
    }

    /// The first failure of a request of which nobody takes the rows.
    fn failure(&self) -> Result<(), DbError> {
        let mut sent = self.sent.borrow_mut();
        let failed = |one: &SentRequest| one.use_of != Use::Rows && matches!(one.answer, Some(Err(_)));
        let failed = sent.iter().position(failed).and_then(|place| sent.remove(place));
        drop(sent);
        match failed.and_then(|one| one.answer) {
            Some(failed) => {
                self.abandon();
                self.told(failed).map(drop)
            }
            None => Ok(()),
        }
    }

    /// Waits for everything that was sent; the first failure.
    pub fn settle(&self, deadline: Option<Instant>) -> Result<(), DbError> {
        let is_due = |one: &SentRequest| one.use_of != Use::Rows && one.is_open();
        if self.sent.borrow().iter().any(is_due) {
            let settled = poll_fn(|_| match self.sent.borrow().iter().any(is_due) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            });
            self.until_ready(settled, deadline)?;
        }
        // Every answer may have come before anybody waited.
        if !self.sent.borrow().iter().any(SentRequest::is_open) {
            self.count_round_trip();
        }
        self.failure()
    }

    /// Counts a round trip for what was sent since the last one.
    fn count_round_trip(&self) {
        if self.unheard.replace(false) {
            self.address.round_trips.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for a request, which is cancelled at its deadline.
    fn waited<T>(
        &self,
        request: impl Future<Output = Result<T, Error>>,
        deadline: Option<Instant>,
    ) -> Result<T, DbError> {
        self.told(self.until_ready(request, deadline)?)
    }

    /// Waits for something, and takes what comes before it.
    fn until_ready<T>(&self, ready: impl Future<Output = T>, deadline: Option<Instant>) -> Result<T, DbError> {
        if self.broken.get() {
            return Err(DbError { fault: Fault::Unavailable, cause: "the connection is not used any more".into() });
        }
        let mut ready = pin!(ready);
        let mut poll = |context: &mut Context<'_>| {
            self.drain(context);
            ready.as_mut().poll(context)
        };
        let until = deadline.or(self.limit.get()).unwrap_or_else(|| Instant::now() + PATIENCE);
        let alive = until.min(Instant::now() + AT_ONCE);
        let begun = poll_fn(|context| match poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.is_beginning() => Poll::Pending,
            Poll::Pending => Poll::Ready(None),
        });
        let answered = match wait(begun, alive) {
            Some(Some(done)) => Some(done),
            Some(None) => wait(poll_fn(poll), until),
            None => None,
        };
        // An answer before this one may have come at the same moment.
        self.drain(&mut Context::from_waker(Waker::noop()));
        self.count_round_trip();
        answered.ok_or_else(|| {
            let is_silent = alive < until && self.is_beginning();
            self.cancel();
            let fault = if deadline.is_some() && !is_silent { Fault::TimedOut } else { Fault::Unavailable };
            DbError { fault, cause: "the database did not answer in time".into() }
        })
    }

    fn is_beginning(&self) -> bool {
        self.sent.borrow().front().is_some_and(|one| one.use_of == Use::Begin && one.is_open())
    }

    /// An answer, its failure explained.
    fn told<T>(&self, answer: Result<T, Error>) -> Result<T, DbError> {
        answer.map_err(|error| {
            let error = explain(&error, self.client.is_closed());
            if error.fault == Fault::Unavailable && self.client.is_closed() {
                self.broken.set(true);
            }
            error
        })
    }

    /// Ends what the server is doing for this connection, which is used again only after [`Session::recover`].
    fn cancel(&self) {
        self.broken.set(true);
        self.cancelled.replace(Some(self.address.cancel(self.client.cancel_token())));
    }

    /// Goes on after a cancelled request, once that has been told to the server: it should not end the next one.
    pub fn recover(&self) {
        let heard = self.cancelled.take().and_then(|heard| wait(heard, Instant::now() + CANCELLING));
        if matches!(heard, Some(Ok(()))) {
            self.broken.set(false);
        }
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
        let statement = self.waited(self.client.prepare(&text), deadline)?;
        let prepared = Arc::new(Prepared { statement, rendered });
        self.statements.borrow_mut().insert(key.to_owned(), prepared.clone());
        Ok(prepared)
    }

    /// The rows of a statement that was sent.
    pub fn taken(&self, asked: PendingRows, deadline: Option<Instant>) -> Result<Vec<Row>, DbError> {
        let answer = poll_fn(|_| {
            let mut sent = self.sent.borrow_mut();
            let place = sent.iter().position(|one| one.number == asked.0);
            match place {
                Some(place) if sent[place].is_open() => Poll::Pending,
                place => Poll::Ready(place.and_then(|place| sent.remove(place)).and_then(|one| one.answer)),
            }
        });
        let answer = self.until_ready(answer, deadline)?;
        // It has failed for the reason of the one before.
        self.failure()?;
        self.told(answer.ok_or_else(|| DbError::other("a request was given up"))?)
    }

    /// The rows of several statements, in one round trip, after what was sent before.
    pub fn query_all(
        &self,
        asked: &[(Arc<Prepared>, Vec<Bind>)],
        deadline: Option<Instant>,
    ) -> Result<Vec<Vec<Row>>, DbError> {
        let asked: Vec<PendingRows> = asked.iter().map(|(prepared, binds)| self.ask(prepared, binds)).collect();
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
        let changed = self.waited(self.client.execute_raw(&prepared.statement, params), deadline);
        self.failure()?;
        changed
    }

    /// The number of the server's process behind the connection.
    pub fn backend(&self) -> Result<String, DbError> {
        self.settle(None)?;
        self.unheard.set(true);
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
