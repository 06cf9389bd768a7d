//! Tests of PostgreSQL alone: several nodes, connections that break, round trips, a server that cannot be
//! used, names and letters. Without `CMS_TEST_POSTGRES` there is nothing to test on.

mod silence;

use super::super::fixtures::*;
use super::super::plan::*;
use super::*;
use crate::database::{Database, Storage};
use crate::dependencies::VersionSlot;
use crate::error::StorageError;
use crate::snapshot::ReadRequest;
use cms_text::fold;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

fn open(url: &str) -> Postgres {
    Postgres::open(&PgOptions::new(url), &layout()).unwrap()
}

fn error(url: &str) -> (String, &'static str) {
    let error = Postgres::open(&PgOptions::new(url), &layout()).err().expect(url);
    (error.to_string(), error.hint())
}

/// Waits until something holds.
fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Stands between a node and the server, and cuts connections.
struct Proxy {
    url: String,
    /// The answer to the next COMMIT is lost.
    cuts: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    fn before(url: &str) -> Proxy {
        let mut address = url::Url::parse(url).unwrap();
        let server = format!("{}:{}", address.host_str().unwrap(), address.port().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        address.set_host(Some("127.0.0.1")).unwrap();
        address.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let cuts = Arc::new(AtomicBool::new(false));
        let streams = Arc::new(Mutex::new(Vec::new()));
        let (cutting, all) = (cuts.clone(), streams.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&server) else { continue };
                all.lock().unwrap().push(client.try_clone().unwrap());
                let (from_client, to_client) = (client.try_clone().unwrap(), client);
                let (from_server, to_server) = (server.try_clone().unwrap(), server);
                let cutting = cutting.clone();
                std::thread::spawn(move || relay(from_client, to_server, |_| true));
                std::thread::spawn(move || {
                    relay(from_server, to_client, |bytes| {
                        let committed = bytes.windows(7).any(|seven| seven == b"COMMIT\0");
                        !(committed && cutting.swap(false, Ordering::SeqCst))
                    });
                });
            }
        });
        Proxy { url: address.to_string(), cuts, streams }
    }

    /// Ends all connections.
    fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Passes on what is read, as long as `passes` agrees.
fn relay(mut from: TcpStream, mut to: TcpStream, passes: impl Fn(&[u8]) -> bool) {
    let mut buffer = [0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if !passes(&buffer[..read]) || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

// ------------------------------------------------------------------------------------------------ servers

#[test]
fn databases_that_cannot_be_used_are_told_apart() {
    let Some(schema) = TestSchema::create() else { return };
    let at = |change: &dyn Fn(&mut url::Url)| {
        let mut url = url::Url::parse(&schema.url).unwrap();
        change(&mut url);
        url.to_string()
    };
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (url, said, hint) in [
        (at(&|url| url.set_port(Some(nobody)).unwrap()), "refused", "Start the database server"),
        (at(&|url| url.set_path("not_there")), "does not exist", "Create the database"),
        (at(&|url| url.set_username("nobody").unwrap()), "nobody", "user"),
        (at(&|url| url.set_query(Some("sslmode=sometimes"))), "sometimes", "The form is"),
        (at(&|url| url.set_query(Some("sslmode=verify-full"))), "sslrootcert", "The form is"),
        (at(&|url| url.set_query(Some("options=-csearch_path%3Dno_schema"))), "search_path", "Give the user"),
        (at(&|url| url.set_query(Some("options=-cdefault_transaction_read_only%3Don"))), "no writes", "primary"),
    ] {
        let start = Instant::now();
        let (text, advice) = error(&url);
        assert!(text.contains(said), "{url}: {text}");
        assert!(advice.contains(hint), "{url}: {text}: {advice}");
        assert!(start.elapsed() < Duration::from_secs(10), "{url}");
    }
    schema.execute("CREATE TABLE theirs (a int)");
    assert!(error(&schema.url).0.contains("another program"));
    schema.execute("DROP TABLE theirs");
    drop(open(&schema.url));
    schema.execute("UPDATE layout SET definition = '99' WHERE name = 'version'");
    assert!(error(&schema.url).0.contains("newer version"));
}

#[test]
fn many_nodes_may_lay_out_a_database_at_once() {
    let Some(schema) = TestSchema::create() else { return };
    std::thread::scope(|scope| {
        let nodes: Vec<_> = (0..6).map(|_| scope.spawn(|| open(&schema.url))).collect();
        for node in nodes {
            let db = node.join().unwrap();
            assert!(rows(&db, &read("record", &["id"], Cond::All(vec![]))).is_empty());
        }
    });
}

#[test]
fn the_layout_changes_as_on_sqlite() {
    let Some(schema) = TestSchema::create() else { return };
    let db = open(&schema.url);
    commit(&db, vec![Change::Put(post("publish", 1, "x"))]).unwrap();
    drop(db);
    let mut changed = layout();
    changed.tables[0].columns.push(column_or("flag", ColumnType::Word, text("brand new")));
    changed.tables[0].indexes.push(IndexDef { unique: true, ..index("one", &["title", "id"]) });
    changed.tables[0].indexes.push(IndexDef { partial: true, ..index("above", &["status", "parent"]) });
    let db = Postgres::open(&PgOptions::new(&schema.url), &changed).unwrap();
    let made: Vec<String> = db.applied().iter().map(ToString::to_string).collect();
    let wanted = ["add the column `flag`", "create the unique index `one`", "create the index `above`"];
    assert_eq!(made, wanted.map(|what| format!("record: {what}")));
    assert_eq!(rows(&db, &read("record", &["flag"], eq("flag", text("brand new")))), [[text("brand new")]]);
    drop(db);
    let db = Postgres::open(&PgOptions::new(&schema.url), &changed).unwrap();
    assert!(db.applied().is_empty(), "the second time nothing is left to do");
    drop(db);
    changed.searched.clear();
    changed.tables[0].columns.retain(|column| *column.name != *"title");
    changed.tables[0].indexes.retain(|index| *index.name != *"one");
    let refused = Postgres::open(&PgOptions::new(&schema.url), &changed).err().unwrap().to_string();
    assert!(refused.contains("remove the column `title` (1 row holds a value in it)"), "{refused}");
    let changes = Postgres::migrate(&schema.url, &changed, &["record.title".into()]).unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!(Postgres::rehearse(&schema.url, &changed).unwrap(), []);
    assert_eq!(Postgres::examine(&schema.url, &changed).unwrap(), [""; 0]);
}

#[test]
fn long_names_are_names_of_their_own() {
    let Some(schema) = TestSchema::create() else { return };
    let [one, other] = ["one", "other"].map(|end| format!("{}_{end}", "a_long_name".repeat(8)));
    let mut long = layout();
    let columns = vec![column(&one, ColumnType::Text), column(&other, ColumnType::Text)];
    long.tables.push(table(
        &format!("x_{one}"),
        Some("long"),
        columns,
        vec![index(&one, &[&one]), index(&other, &[&other])],
    ));
    let db = Postgres::open(&PgOptions::new(&schema.url), &long).unwrap();
    let table = format!("x_{one}");
    commit(&db, vec![Change::Put(put(&table, Target::New, &[(&one, text("1")), (&other, text("2"))]))]).unwrap();
    let found = rows(&db, &read(&table, &[&one, &other], eq(&other, text("2"))));
    assert_eq!(found, [[text("1"), text("2")]]);
    drop(db);
    assert!(Postgres::open(&PgOptions::new(&schema.url), &long).unwrap().applied().is_empty());
}

#[test]
fn texts_are_folded_as_everywhere() {
    let Some(site) = postgres_site() else { return };
    let mut words: Vec<String> =
        ["Crème Brûlée", "İstanbul", "ΟΔΟΣ", "Straße", "ǅ", "e\u{301}", "한국어", "50%_\\ off", "A", ""]
            .map(str::to_owned)
            .into();
    words.extend(('\u{a0}'..='\u{52f}').chain('\u{1e00}'..='\u{1eff}').map(|letter| letter.to_string()));
    let puts = words.iter().map(|word| Change::Put(post("publish", 1, &format!("<{word}>")))).collect();
    commit(&site.db, puts).unwrap();
    let wrong: Vec<&String> = words
        .iter()
        .enumerate()
        .filter(|(at, word)| {
            let needle: Arc<str> = format!("<{}>", fold(word)).into();
            let same = read("record", &["id"], Cond::Same(names(&["title"]), needle.clone()));
            let part = read("record", &["id"], Cond::Contains(names(&["title"]), needle));
            [same, part].iter().any(|plan| !ints(rows(&site.db, plan)).contains(&(*at as i64 + 1)))
        })
        .map(|(_, word)| word)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

// ------------------------------------------------------------------------------------------------ nodes

#[test]
fn nodes_that_write_at_once_are_exact() {
    let Some(schema) = TestSchema::create() else { return };
    let nodes: Vec<Postgres> = (0..3).map(|_| open(&schema.url)).collect();
    commit(&nodes[0], vec![Change::Put(put("term", Target::New, &[]))]).unwrap();
    let write = |node: &Postgres| {
        let linked = Put {
            slug: Some(slug("posts", &["same"])),
            edges: vec![(name("post.categories"), vec![1])],
            ..post("publish", 1, "Same")
        };
        let made = commit(node, vec![Change::Put(linked)]).unwrap();
        (made.puts[0].key.clone(), made.puts[0].slug.clone().unwrap())
    };
    let made: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = nodes
            .iter()
            .flat_map(|node| (0..4).map(move |_| scope.spawn(move || (0..10).map(|_| write(node)).collect::<Vec<_>>())))
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(made.len(), 120);
    let slugs: std::collections::BTreeSet<&str> = made.iter().map(|(_, slug)| &**slug).collect();
    assert_eq!(slugs.len(), 120, "no slug is given twice");
    assert!(slugs.contains("same-120"), "and none is left out");
    for node in &nodes {
        let term = rows(node, &read("term", &["count"], Cond::All(vec![])));
        assert_eq!(term, [[int(120)]]);
        let count = node.snapshot().unwrap().count(&read("record", &[], eq("kind", text("post")))).unwrap();
        assert_eq!(count, 120);
    }
    assert_eq!(Postgres::examine(&schema.url, &layout()).unwrap(), [""; 0]);
}

#[test]
fn nodes_hear_of_what_others_write() {
    let Some(schema) = TestSchema::create() else { return };
    let (one, other) = (open(&schema.url), open(&schema.url));
    let stamp = |node: &Postgres| (node.slot_version(VersionSlot::OTHERS), node.scope_version(&name("record")));
    until(|| one.has_commit_listener() && other.has_commit_listener());
    // Both listen from here on.
    commit(&other, vec![Change::Put(post("publish", 1, "First"))]).unwrap();
    until(|| stamp(&one).1 == stamp(&other).1);
    for n in 0..5 {
        let (before, own) = (stamp(&one), stamp(&other));
        commit(&other, vec![Change::Put(post(&format!("word {n}"), 1, "Next"))]).unwrap();
        assert_eq!(stamp(&other).0, own.0, "what a node writes itself does not cost it its caches");
        until(|| stamp(&one).1 > before.1);
        assert_eq!(stamp(&one).0, before.0, "the change feed says all of it");
        let found = rows(&one, &read("record", &["title"], eq("status", text(&format!("word {n}")))));
        assert_eq!(found, [[text("Next")]]);
    }
}

#[test]
fn one_node_leads_and_another_takes_over() {
    let Some(schema) = TestSchema::create() else { return };
    let nodes = [open(&schema.url), open(&schema.url), open(&schema.url)];
    let leading = |nodes: &[Postgres]| nodes.iter().filter(|node| node.leads()).count();
    until(|| nodes.iter().all(Storage::has_commit_listener) && leading(&nodes) == 1);
    let (leader, others): (Vec<Postgres>, Vec<Postgres>) = nodes.into_iter().partition(Database::leads);
    assert_eq!(leading(&others), 0);
    drop(leader);
    until(|| leading(&others) == 1);
    // The server ends the connection, and with it the lock.
    schema.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 \
        AND (classid::bigint << 32 | objid::bigint) = hashtextextended('cms-server leader ' || current_schema(), 0)",
    );
    until(|| leading(&others) == 1 && others.iter().all(Storage::has_commit_listener));
}

// ------------------------------------------------------------------------------------------------ connections

#[test]
fn broken_connections_are_replaced() {
    let Some(schema) = TestSchema::create() else { return };
    let proxy = Proxy::before(&schema.url);
    let db = open(&proxy.url);
    commit(&db, vec![Change::Put(post("publish", 1, "One"))]).unwrap();
    let titles = read("record", &["title"], Cond::All(vec![]));
    assert_eq!(rows(&db, &titles).len(), 1);
    db.shared.pool.lend(false, None).unwrap().batch("SELECT pg_terminate_backend(pg_backend_pid())").unwrap_err();
    assert_eq!(rows(&db, &titles).len(), 1, "a read finds another connection");
    let snapshot = db.snapshot().unwrap();
    assert_eq!(snapshot.rows(&titles).unwrap().len(), 1);
    proxy.cut();
    assert_eq!(snapshot.rows(&titles).unwrap().len(), 1, "it was read before");
    let ids = read("record", &["id"], Cond::All(vec![]));
    assert!(matches!(snapshot.rows(&ids), Err(StorageError::Unavailable(_))), "its state is gone");
    drop(snapshot);
    assert_eq!(rows(&db, &titles).len(), 1);
    commit(&db, vec![Change::Put(post("publish", 1, "Two"))]).unwrap();
    assert_eq!(rows(&db, &titles).len(), 2);
}

#[test]
fn a_commit_whose_answer_is_lost_is_asked_for() {
    let Some(schema) = TestSchema::create() else { return };
    let proxy = Proxy::before(&schema.url);
    let db = open(&proxy.url);
    commit(&db, vec![Change::Put(post("publish", 1, "One"))]).unwrap();
    proxy.cuts.store(true, Ordering::SeqCst);
    commit(&db, vec![Change::Put(post("publish", 1, "Two"))]).unwrap();
    assert!(!proxy.cuts.load(Ordering::SeqCst), "the connection was cut");
    assert_eq!(rows(&db, &read("record", &["title"], Cond::All(vec![]))), [[text("One")], [text("Two")]]);
    commit(&db, vec![Change::Put(post("publish", 1, "Three"))]).unwrap();
}

#[test]
fn round_trips_are_few() {
    let Some(schema) = TestSchema::create() else { return };
    let db = open(&schema.url);
    let term = || Change::Put(put("term", Target::New, &[]));
    commit(&db, vec![term(), term()]).unwrap();
    let create = |title: &str| {
        let revision =
            RevisionPut { author: 1, at: 1, autosave: false, json: "{}".into(), keep: Some(5), skip_same: true };
        let put = Put {
            slug: Some(slug("posts", &[title])),
            edges: vec![(name("post.categories"), vec![1, 2])],
            revisions: vec![revision],
            ..post("publish", 1, title)
        };
        commit(&db, vec![Change::Put(put)]).unwrap();
    };
    let plan = ReadPlan { limit: Some(10), ..read("record", &["id", "title"], eq("kind", text("post"))) };
    let list = || {
        let held = db.pin_snapshot();
        let snapshot = db.snapshot().unwrap();
        snapshot.prefetch(&[ReadRequest::Count(&plan)]);
        let found = ints(snapshot.rows(&plan).unwrap());
        let edges = EdgePlan { rels: names(&["post.categories"]), of: found.clone(), reverse: false };
        snapshot.prefetch(&[ReadRequest::Edges(&edges), ReadRequest::Revisions(&name("content"), &found)]);
        assert_eq!(snapshot.count(&plan).unwrap(), found.len() as u64);
        assert_eq!(snapshot.edges(&edges).unwrap().len(), 2 * found.len());
        assert_eq!(snapshot.revisions(&name("content"), &found).unwrap().len(), found.len());
        drop(snapshot);
        drop(held);
    };
    let trips = |during: &dyn Fn()| {
        let before = db.round_trips();
        during();
        db.round_trips() - before
    };
    // Statements are prepared once for each connection.
    for title in ["one", "two", "three"] {
        create(title);
        list();
    }
    assert_eq!(trips(&list), 2, "one for each statement that needs the one before");
    assert_eq!(trips(&|| create("four")), 2, "beginning, commit");
    let update = |key: i64| {
        let revision =
            RevisionPut { author: 1, at: 2, autosave: false, json: "{1}".into(), keep: Some(5), skip_same: true };
        let put = Put {
            slug: Some(slug("posts", &[&format!("newer-{}", key + 100)])),
            edges: vec![(name("post.categories"), vec![2])],
            revisions: vec![revision],
            ..put("record", Target::Existing { key: DbValue::Int(key), expect: None }, &[("status", text("publish"))])
        };
        commit(&db, vec![Change::Put(put)]).unwrap();
    };
    let ids = ints(rows(&db, &read("record", &["id"], Cond::All(vec![]))));
    update(ids[0]);
    assert_eq!(trips(&|| update(ids[1])), 2, "beginning, commit");
}
