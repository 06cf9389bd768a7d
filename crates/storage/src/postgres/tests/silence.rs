//! A network that goes silent at any point of a conversation: nobody waits longer than they said they would, and
//! everything goes on afterwards. And answers that come in another order than they are asked for.

use super::super::super::budget;
use super::*;
use crate::database::Transaction;
use crate::snapshot::ReadRequest;
use std::sync::Condvar;

/// The time limit of a read.
const READ: Duration = Duration::from_secs(1);
/// The time limit of a write that the server does not answer.
const WRITE: Duration = Duration::from_secs(4);
/// How long it is asked what became of a commit.
const ASKING: Duration = Duration::from_secs(5);
/// Machines that are busy.
const MARGIN: Duration = Duration::from_millis(900);

/// Where everything between a node and its server goes silent. Nobody hears of it: connections stay open.
#[derive(Clone, Copy, Debug)]
enum Point {
    /// Now: who connects hears nothing.
    Now,
    /// When a node sends this.
    Sent(&'static str),
    /// When the server sends this, in the middle of it.
    Answered(&'static str),
    /// Only requests to cancel something go unheard.
    Cancelling,
}

/// Stands between a node and its server.
struct SilentRelay {
    url: String,
    state: Arc<ProxyState>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

#[derive(Default)]
struct ProxyState {
    now: Mutex<(Option<Point>, bool)>,
    changed: Condvar,
}

impl ProxyState {
    /// How many of these bytes pass before it goes silent.
    fn passing(&self, bytes: &[u8], from_server: bool) -> usize {
        let mut now = self.now.lock().unwrap();
        let text = match now.0 {
            Some(Point::Sent(text)) if !from_server => text,
            Some(Point::Answered(text)) if from_server => text,
            _ => return bytes.len(),
        };
        let Some(at) = bytes.windows(text.len()).position(|part| part == text.as_bytes()) else { return bytes.len() };
        *now = (None, true);
        if from_server { at + text.len() / 2 } else { 0 }
    }

    fn wait(&self) {
        drop(self.changed.wait_while(self.now.lock().unwrap(), |now| now.1).unwrap());
    }

    fn cancels_unheard(&self) -> bool {
        matches!(self.now.lock().unwrap().0, Some(Point::Cancelling))
    }
}

/// The code of a cancel request, after its length.
const CANCEL: [u8; 4] = 80_877_102_u32.to_be_bytes();

fn pump(mut from: TcpStream, mut to: TcpStream, state: &ProxyState, from_server: bool) {
    let mut buffer = [0; 1 << 16];
    let mut first = !from_server;
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        if std::mem::take(&mut first) && bytes.get(4..8) == Some(&CANCEL[..]) && state.cancels_unheard() {
            // It stays open as long as the relay.
            return;
        }
        state.wait();
        let passing = state.passing(bytes, from_server);
        let sent = to.write_all(&bytes[..passing]);
        state.wait();
        if sent.and_then(|()| to.write_all(&bytes[passing..])).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

impl SilentRelay {
    fn before(url: &str) -> SilentRelay {
        let mut address = url::Url::parse(url).unwrap();
        let server = format!("{}:{}", address.host_str().unwrap(), address.port().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        address.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let (state, streams) = (Arc::new(ProxyState::default()), Arc::new(Mutex::new(Vec::new())));
        let (shared, all) = (state.clone(), streams.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&server) else { continue };
                let copy = |stream: &TcpStream| stream.try_clone().unwrap();
                all.lock().unwrap().extend([copy(&client), copy(&server)]);
                for (from, to, from_server) in
                    [(copy(&client), copy(&server), false), (copy(&server), copy(&client), true)]
                {
                    let shared = shared.clone();
                    std::thread::spawn(move || pump(from, to, &shared, from_server));
                }
            }
        });
        SilentRelay { url: address.to_string(), state, streams }
    }

    fn hush(&self, point: Point) {
        *self.state.now.lock().unwrap() = match point {
            Point::Now => (None, true),
            point => (Some(point), false),
        };
    }

    fn is_silent(&self) -> bool {
        self.state.now.lock().unwrap().1
    }

    fn restore(&self) {
        *self.state.now.lock().unwrap() = (None, false);
        self.state.changed.notify_all();
    }

    /// Ends all connections.
    fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn node(url: &str) -> Postgres {
    let options = PgOptions { patience: WRITE, hold: WRITE, ..PgOptions::new(url) };
    Postgres::open(&options, &layout()).unwrap()
}

fn everything() -> ReadPlan {
    read("record", &["id", "title"], Cond::All(vec![]))
}

/// The result of a read within its time; a test that takes longer fails.
fn in_time<T>(what: &str, limit: Duration, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let outcome = run();
    assert!(start.elapsed() < limit + MARGIN, "{what} took {:?}", start.elapsed());
    outcome
}

fn read_in_time(db: &Postgres, what: &str) -> Result<usize, StorageError> {
    in_time(what, READ, || {
        budget::until(Some(Instant::now() + READ), || {
            db.catch_up()?;
            db.snapshot()?.rows(&everything()).map(|rows| rows.len())
        })
    })
}

fn write_in_time(db: &Postgres, title: &str) -> Result<Committed, CommitError> {
    in_time(title, WRITE + ASKING, || commit(db, vec![Change::Put(post("publish", 1, title))]))
}

/// Every request is answered at each point, and afterwards everything goes on.
fn survives(schema: &TestSchema, point: Point, is_new: bool, writes_first: bool) {
    let relay = SilentRelay::before(&schema.url);
    let db = node(&relay.url);
    let rows = (0..60).map(|n| Change::Put(post("publish", 1, &format!("title {n} of sixty")))).collect();
    commit(&db, rows).unwrap();
    assert_eq!(read_in_time(&db, "the first read"), Ok(60));
    if is_new {
        relay.cut();
    }
    relay.hush(point);
    let what = format!("{point:?}");
    let mut acknowledged = 60;
    for round in 0..2 {
        if (round == 0) == writes_first {
            acknowledged += usize::from(write_in_time(&db, &format!("a write at {what}")).is_ok());
        } else {
            // Earlier reads do not matter: the connection may be silent from the next request on.
            let _ = read_in_time(&db, &what);
        }
    }
    assert!(relay.is_silent(), "{what} was not reached");
    assert!(matches!(read_in_time(&db, &what), Err(StorageError::Unavailable(_) | StorageError::TimedOut)), "{what}");
    let refused = write_in_time(&db, &format!("another write at {what}")).unwrap_err();
    assert!(matches!(refused, CommitError::Unavailable(_) | CommitError::Unknown(_)), "{what}: {refused:?}");
    relay.restore();
    let start = Instant::now();
    let recovered = || read_in_time(&db, &what).is_ok() && write_in_time(&db, "Recovered").is_ok();
    while !recovered() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}: it does not recover");
    }
    let titles = ints(rows_of(&db));
    assert!(titles.len() > acknowledged, "{what}: {} of {acknowledged}", titles.len());
}

fn rows_of(db: &Postgres) -> Vec<Row> {
    super::rows(db, &everything())
}

#[test]
fn nobody_waits_longer_for_a_silent_server_than_they_said() {
    let points = [
        (Point::Now, true, false),
        (Point::Sent("application_name"), true, false),
        (Point::Sent("SET client_min_messages"), true, false),
        (Point::Now, false, false),
        (Point::Sent("BEGIN ISOLATION LEVEL REPEATABLE"), false, false),
        (Point::Sent("BEGIN ISOLATION LEVEL READ COMMITTED"), false, true),
        (Point::Sent("FROM \"record\""), true, false),
        (Point::Sent("INSERT INTO"), true, true),
        (Point::Answered("title 30 of sixty"), false, false),
        (Point::Sent("COMMIT\0"), false, true),
        (Point::Answered("COMMIT\0"), false, true),
    ];
    let schemas: Option<Vec<TestSchema>> = points.iter().map(|_| TestSchema::create()).collect();
    let Some(schemas) = schemas else { return };
    std::thread::scope(|scope| {
        for ((point, is_new, writes_first), schema) in points.into_iter().zip(&schemas) {
            scope.spawn(move || survives(schema, point, is_new, writes_first));
        }
    });
}

#[test]
fn a_start_ends_soon_when_the_server_says_nothing() {
    let Some(schema) = TestSchema::create() else { return };
    let points =
        [Point::Now, Point::Sent("application_name"), Point::Sent("pg_backend_pid"), Point::Sent("server_version_num")];
    std::thread::scope(|scope| {
        for point in points {
            let schema = &schema;
            scope.spawn(move || {
                let relay = SilentRelay::before(&schema.url);
                relay.hush(point);
                let (said, _) = in_time(&format!("{point:?}"), Duration::from_secs(9), || error(&relay.url));
                assert!(said.contains("in time"), "{point:?}: {said}");
                relay.restore();
            });
        }
    });
}

#[test]
fn a_read_ends_also_where_its_cancellation_is_not_heard() {
    let Some(schema) = TestSchema::create() else { return };
    let relay = SilentRelay::before(&schema.url);
    let db = node(&relay.url);
    commit(&db, vec![Change::Put(post("publish", 1, "One"))]).unwrap();
    for point in [None, Some(Point::Cancelling)] {
        assert!(read_in_time(&db, "a read of what nobody holds").is_ok());
        let other = Session::connect(&Arc::new(Address::parse(&schema.url).unwrap()), None).unwrap();
        let transaction = wait(db.begin()).unwrap();
        other.batch("BEGIN; LOCK TABLE record IN ACCESS EXCLUSIVE MODE").unwrap();
        if let Some(point) = point {
            relay.hush(point);
        }
        assert_eq!(read_in_time(&db, "a read of what is held"), Err(StorageError::TimedOut));
        let inside = in_time("a read in a transaction", READ, || {
            budget::until(Some(Instant::now() + READ), || transaction.snapshot()?.rows(&everything()))
        });
        assert_eq!(inside, Err(StorageError::TimedOut));
        other.batch("ROLLBACK").unwrap();
        relay.restore();
        // The statement ended by itself where nothing was heard of its cancellation.
        let finished = in_time("the end", WRITE, || wait(Transaction::finish(&*transaction)));
        assert_eq!(finished, Ok(()), "{point:?}");
        drop(transaction);
        until(|| commit(&db, vec![Change::Put(post("publish", 1, "Next"))]).is_ok());
    }
}

#[test]
fn answers_may_be_taken_in_another_order_than_they_come() {
    let Some(schema) = TestSchema::create() else { return };
    let db = open(&schema.url);
    commit(&db, vec![Change::Put(put("term", Target::New, &[])); 10]).unwrap();
    let linked = |n| Put {
        edges: vec![(name("post.categories"), (1..=10).collect())],
        ..post("publish", n, "A title that takes some room, so that the rows do not fit into one packet")
    };
    commit(&db, (0..400).map(|n| Change::Put(linked(n))).collect()).unwrap();
    // Its connections are new, so that statements are prepared between the answers.
    let db = open(&schema.url);
    let ids: Vec<i64> = (1..=400).collect();
    let edges = EdgePlan { rels: names(&["post.categories"]), of: ids.clone(), reverse: false };
    in_time("reading ahead", READ, || {
        let snapshot = db.snapshot().unwrap();
        snapshot.prefetch(&[
            ReadRequest::Edges(&edges),
            ReadRequest::Rows(&everything()),
            ReadRequest::Meta(&name("post"), &ids),
            ReadRequest::Revisions(&name("content"), &ids),
            ReadRequest::Count(&everything()),
        ]);
        assert_eq!(snapshot.count(&everything()), Ok(400));
        assert_eq!(snapshot.revisions(&name("content"), &ids).map(|all| all.len()), Ok(0));
        assert_eq!(snapshot.rows(&everything()).map(|rows| rows.len()), Ok(400));
        assert_eq!(snapshot.edges(&edges).map(|edges| edges.len()), Ok(4000));
        assert_eq!(snapshot.meta(&name("post"), &ids).map(|all| all.len()), Ok(0));
    });
}
