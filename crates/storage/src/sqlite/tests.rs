//! Tests of SQLite alone: files, locks, processes that die, other processes, the text and plan of
//! queries.

use super::super::fixtures::*;
use super::super::plan::*;
use super::*;
use crate::database::{CommitFuture, Database, Storage};
use crate::dependencies::VersionSlot;
use crate::migrate::META_VERSION;
use rusqlite::Connection;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn options(path: &Path) -> OpenOptions {
    OpenOptions { busy: Duration::from_millis(50), ..OpenOptions::new(path) }
}

fn other_connection(site: &Site) -> Connection {
    Connection::open(site.folder.path().join("site.db")).unwrap()
}

fn count(db: &dyn Storage, filter: Cond) -> u64 {
    db.snapshot().unwrap().count(&read("record", &[], filter)).unwrap()
}

// ------------------------------------------------------------------------------------------------ files

#[test]
fn files_that_cannot_be_used_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("text.db"), "this is no database, only some text that is long enough ".repeat(40)).unwrap();
    Connection::open(at("foreign.db")).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    drop(Sqlite::open(options(&at("newer.db")), &layout()).unwrap());
    Connection::open(at("newer.db")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    drop(Sqlite::open(options(&at("damaged.db")), &layout()).unwrap());
    let mut bytes = std::fs::read(at("damaged.db")).unwrap();
    bytes[100..4096].fill(0x55);
    std::fs::write(at("damaged.db"), bytes).unwrap();
    std::fs::create_dir(at("folder.db")).unwrap();
    for (name, expected) in [
        ("nowhere/site.db", "DirectoryMissing"),
        ("text.db", "NotADatabase"),
        ("damaged.db", "NotADatabase"),
        ("foreign.db", "Foreign"),
        ("newer.db", "Newer"),
        ("folder.db", "Other"),
    ] {
        let error = Sqlite::open(options(&at(name)), &layout()).err().expect(name);
        assert!(format!("{error:?}").starts_with(expected), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let theirs: i64 = Connection::open(at("foreign.db"))
        .unwrap()
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(theirs, 1, "a foreign database is left as it is");
}

/// Runs this test again in a process of its own; there `STORAGE_TEST` holds `path`.
fn again(test: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("sqlite::tests::{test}");
    command.args(["--exact", &name, "--nocapture"]).env("STORAGE_TEST", path).stdout(Stdio::piped());
    command
}

fn child_path() -> Option<std::path::PathBuf> {
    std::env::var_os("STORAGE_TEST").map(Into::into)
}

#[cfg(unix)]
#[test]
fn a_folder_without_write_permission_is_told() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    if let Some(path) = child_path() {
        for name in ["site.db", "new.db"] {
            match Sqlite::open(options(&path.join(name)), &layout()) {
                Err(OpenError::ReadOnly { .. }) => println!("\nread-only {name}"),
                Err(error) => println!("\n{error:?}"),
                Ok(_) => println!("\nopened"),
            }
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    drop(Sqlite::open(options(&folder.path().join("site.db")), &layout()).unwrap());
    let allow = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    assert_eq!(std::fs::metadata(folder.path().join("site.db")).unwrap().permissions().mode() & 0o777, 0o600);
    allow(&folder.path().join("site.db"), 0o444);
    allow(folder.path(), 0o555);
    // Permissions do not hold for root, so the child runs as nobody; the program has to be within nobody's reach.
    let program = folder.path().join("program");
    allow(folder.path(), 0o755);
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    allow(folder.path(), 0o555);
    let mut command = Command::new(&program);
    let name = "sqlite::tests::a_folder_without_write_permission_is_told";
    command.args(["--exact", name, "--nocapture"]).env("STORAGE_TEST", folder.path());
    if std::fs::metadata("/root").is_ok() && std::fs::read_dir("/root").is_ok() {
        command.uid(65534).gid(65534);
    }
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    allow(folder.path(), 0o755);
    for name in ["site.db", "new.db"] {
        assert!(said.contains(&format!("read-only {name}")), "{said}");
    }
}

#[test]
fn a_killed_process_loses_nothing_it_acknowledged() {
    if let Some(path) = child_path() {
        let db = Sqlite::open(OpenOptions::new(path), &layout()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let db = &db;
                scope.spawn(move || {
                    for n in 0.. {
                        let linked = Put { slug: Some(slug("post", &["same"])), ..post("publish", n, "x") };
                        println!("\nkept {}", id(commit(db, vec![Change::Put(linked)])));
                    }
                });
            }
        });
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    let mut child = again("a_killed_process_loses_nothing_it_acknowledged", &path).spawn().unwrap();
    let mut kept = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if let Some(id) = line.unwrap().strip_prefix("kept ") {
            kept.push(id.parse::<i64>().unwrap());
        }
        if kept.len() == 300 {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(kept.len() >= 300);
    let db = Sqlite::open(OpenOptions::new(path), &layout()).unwrap();
    let present = ints(rows(&db, &read("record", &["id"], Cond::All(vec![]))));
    let lost: Vec<&i64> = kept.iter().filter(|id| !present.contains(id)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let next = id(commit(&db, vec![Change::Put(post("draft", 1, "y"))]));
    assert_eq!(next, present.iter().max().unwrap() + 1);
    assert_eq!(count(&db, eq("status", text("publish"))), present.len() as u64, "tallies fit the rows");
}

// ------------------------------------------------------------------------------------------------ other connections

#[test]
fn another_writers_lock_is_waited_for_then_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    let db = Sqlite::open(options(&path), &layout()).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let write = || commit(&db, vec![Change::Put(post("draft", 1, "x"))]);
    match write() {
        Err(CommitError::Unavailable(why)) => assert!(why.contains("locked"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(count(&db, Cond::All(vec![])), 0, "readers go on");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(id(write()), 1);
}

#[test]
fn a_thread_that_ends_leaves_the_locks_of_its_process() {
    if let Some(path) = child_path() {
        let other = Connection::open(path).unwrap();
        other.busy_timeout(Duration::ZERO).unwrap();
        let taken = other.execute_batch("BEGIN IMMEDIATE");
        println!("\n{}", if taken.is_err() { "waits" } else { "writes" });
        return;
    }
    let site = site();
    let open = wait(site.db.begin()).unwrap();
    wait(open.commit(WritePlan::new(vec![Change::Put(post("draft", 1, "x"))]))).unwrap();
    // A worker reads often, and looks at the index of the log.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            reader::reuse_transactions();
            (0..3).for_each(|_| assert_eq!(count(&site.db, Cond::All(vec![])), 0));
        });
    });
    let other =
        again("a_thread_that_ends_leaves_the_locks_of_its_process", &site.folder.path().join("site.db")).output();
    let said = String::from_utf8(other.unwrap().stdout).unwrap();
    assert!(said.contains("\nwaits"), "another process writes in the middle of a transaction: {said}");
    wait(open.finish()).unwrap();
    assert_eq!(count(&site.db, Cond::All(vec![])), 1);
}

#[test]
fn a_file_locked_for_one_process_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    drop(Sqlite::open(options(&path), &layout()).unwrap());
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE").unwrap();
    let error = Sqlite::open(options(&path), &layout()).err().unwrap();
    assert!(matches!(error, OpenError::Locked { .. }), "{error:?}");
}

#[test]
fn the_log_is_emptied_when_nobody_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    let db = Sqlite::open(OpenOptions::new(&path), &layout()).unwrap();
    let log = || std::fs::metadata(folder.path().join("site.db-wal")).unwrap().len();
    let emptied = |within: Duration| {
        let start = Instant::now();
        while log() > 0 && start.elapsed() < within {
            std::thread::sleep(Duration::from_millis(20));
        }
        log() == 0
    };
    for title in ["One", "Two"] {
        commit(&db, vec![Change::Put(post("publish", 1, title))]).unwrap();
        assert!(log() > 0);
        assert!(emptied(Duration::from_secs(20)));
    }
    // A reader keeps its snapshot, and the writer does not wait for it.
    let other = Connection::open(&path).unwrap();
    commit(&db, vec![Change::Put(post("publish", 1, "Three"))]).unwrap();
    other.execute_batch("BEGIN; SELECT count(*) FROM record").unwrap();
    commit(&db, vec![Change::Put(post("publish", 1, "Four"))]).unwrap();
    assert!(!emptied(Duration::from_secs(3)));
    commit(&db, vec![Change::Put(post("publish", 1, "Five"))]).unwrap();
    other.execute_batch("COMMIT").unwrap();
    assert!(emptied(Duration::from_secs(20)));
    let all = db.snapshot().unwrap().count(&read("record", &[], Cond::All(vec![]))).unwrap();
    assert_eq!(all, 5);
}

#[test]
fn the_log_stays_short_while_much_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let db = Sqlite::open(OpenOptions::new(folder.path().join("site.db")), &layout()).unwrap();
    let mut longest = 0;
    for n in 0..120_u32 {
        // Some 64 pages, none of which is like another.
        let words: String = (0..60_000_u32).map(|m| (n * 60_000 + m).to_string() + " ").collect();
        let mut change = post("publish", 1, "Long");
        change.set.push((name("content"), Input::Value(text(&words[..256 << 10]))));
        commit(&db, vec![Change::Put(change)]).unwrap();
        longest = longest.max(std::fs::metadata(folder.path().join("site.db-wal")).unwrap().len());
    }
    // 120 commits write some 32 MB. A start after a crash reads no more than this.
    assert!(longest < 20 << 20, "{longest} bytes");
}

#[test]
fn more_than_the_queue_holds_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    let db = Sqlite::open(OpenOptions { queue: 3, ..OpenOptions::new(&path) }, &layout()).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let write = || db.commit(WritePlan::new(vec![Change::Put(post("draft", 1, "x"))]));
    let first = write();
    // The writer takes the first from the queue and waits for the lock.
    std::thread::sleep(Duration::from_millis(100));
    let queued: Vec<CommitFuture> = (0..3).map(|_| write()).collect();
    assert_eq!(wait(write()), Err(CommitError::Busy));
    other.execute_batch("COMMIT").unwrap();
    assert!(std::iter::once(first).chain(queued).all(|outcome| wait(outcome).is_ok()));
}

#[test]
fn a_transaction_that_takes_too_long_is_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    let hold = Duration::from_millis(100);
    let db = Sqlite::open(OpenOptions { hold, ..OpenOptions::new(&path) }, &layout()).unwrap();
    let transaction = wait(db.begin()).unwrap();
    commit(&*transaction, vec![Change::Put(post("publish", 1, "Lost"))]).unwrap();
    assert_eq!(id(commit(&db, vec![Change::Put(post("publish", 1, "Next"))])), 1, "others get their turn");
    let late = commit(&*transaction, vec![Change::Put(post("publish", 1, "Late"))]);
    assert!(matches!(late, Err(CommitError::Unavailable(_))), "{late:?}");
    assert!(matches!(wait(transaction.finish()), Err(CommitError::Unavailable(_))));
    assert_eq!(rows(&db, &read("record", &["title"], Cond::All(vec![]))), [[text("Next")]]);
}

#[test]
fn what_another_process_writes_is_noticed() {
    let site = site();
    let path = site.folder.path().join("site.db");
    let other = Sqlite::open(options(&path), &layout()).unwrap();
    assert_eq!(count(&site.db, eq("title", text("x"))), 0);
    assert_eq!(id(commit(&site.db, vec![Change::Put(post("publish", 1, "x"))])), 1);
    assert_eq!(count(&other, eq("title", text("x"))), 1);
    assert_eq!(id(commit(&other, vec![Change::Put(post("a new word", 1, "x"))])), 2);
    let here = rows(&site.db, &read("record", &["status"], eq("id", int(2))));
    assert_eq!(here, [[text("a new word")]]);
    assert_eq!(count(&site.db, eq("status", text("a new word"))), 1);
    assert_eq!(count(&site.db, eq("title", text("x"))), 2, "a remembered count is not trusted");
    let scope = name("record");
    assert_eq!((site.db.scope_version(&scope), other.scope_version(&scope)), (2, 2));
    assert_eq!(id(commit(&site.db, vec![Change::Put(post("another word", 1, "x"))])), 3);
    assert_eq!(site.db.scope_version(&scope), 3);
}

#[test]
fn transactions_that_are_used_again_show_every_commit_at_once() {
    let site = site();
    let other = Sqlite::open(options(&site.folder.path().join("site.db")), &layout()).unwrap();
    assert!(!reuse_transactions(), "it holds for this thread alone");
    let titles = |db: &Sqlite| rows(db, &read("record", &["title"], Cond::All(vec![]))).len();
    for n in 1..=60 {
        let writer = if n % 3 == 0 { &other } else { &site.db };
        commit(writer, vec![Change::Put(post("publish", 1, "x"))]).unwrap();
        for db in [&site.db, &other, &site.db, &other] {
            assert_eq!(titles(db), n);
        }
    }
    // An idle transaction keeps the log from being emptied until it ends.
    let log = || std::fs::metadata(site.folder.path().join("site.db-wal")).unwrap().len();
    end_idle_transactions();
    let start = Instant::now();
    while log() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn commits_without_entries_count_as_changes_of_everything() {
    let site = site();
    let other = Sqlite::open(options(&site.folder.path().join("site.db")), &layout()).unwrap();
    let of_others = |db: &Sqlite| {
        db.catch_up().unwrap();
        db.slot_version(VersionSlot::OTHERS)
    };
    let write = |db: &Sqlite| commit(db, vec![Change::Put(post("publish", 1, "x"))]).unwrap();
    (0..3).for_each(|_| drop(write(&site.db)));
    assert_eq!((of_others(&site.db), of_others(&other)), (0, 0));
    other_connection(&site).execute_batch("UPDATE version SET n = n + 1 WHERE scope = 'commits'").unwrap();
    assert_eq!((of_others(&site.db), of_others(&other)), (1, 1));
    write(&other);
    write(&site.db);
    assert_eq!((of_others(&site.db), of_others(&other)), (1, 1));
    other_connection(&site).execute_batch("DELETE FROM change_feed").unwrap();
    write(&other);
    assert_eq!(of_others(&site.db), 2);
}

#[test]
fn snapshots_of_a_thread_see_the_same_state() {
    let site = site();
    let outer = site.db.snapshot().unwrap();
    let plan = read("record", &["id"], Cond::All(vec![]));
    assert_eq!(outer.rows(&plan).unwrap().len(), 0);
    commit(&site.db, vec![Change::Put(post("draft", 1, "x"))]).unwrap();
    assert_eq!(site.db.snapshot().unwrap().rows(&plan).unwrap().len(), 0);
    std::thread::scope(|scope| scope.spawn(|| assert_eq!(rows(&site.db, &plan).len(), 1)).join().unwrap());
    drop(outer);
    let before = Sqlite::queries();
    assert_eq!(rows(&site.db, &plan).len(), 1);
    assert_eq!(Sqlite::queries() - before, 1);
}

// ------------------------------------------------------------------------------------------------ the writer

#[test]
fn a_refusal_does_not_undo_its_neighbours() {
    let site = site();
    let lock = other_connection(&site);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = Change::Require { plan: read("record", &["id"], Cond::Any(vec![])), found: true, tag: "no" };
    let panics = Change::Setting { key: name("panic"), json: None };
    let plans: Vec<CommitFuture> = (0..30)
        .map(|n| {
            let mut changes = vec![Change::Put(post(&format!("word {n}"), n, "x"))];
            match n % 3 {
                1 => changes.push(refused.clone()),
                2 => changes.push(panics.clone()),
                _ => {}
            }
            site.db.commit(WritePlan::new(changes))
        })
        .collect();
    lock.execute_batch("COMMIT").unwrap();
    for (n, outcome) in plans.into_iter().map(wait).enumerate() {
        match (n % 3, outcome) {
            (0, Ok(_)) | (1, Err(CommitError::Refused { tag: "no", .. })) => {}
            (2, Err(CommitError::Failed(why))) => assert_eq!(why, "the writer panicked: as a test asked for"),
            (_, outcome) => panic!("{n}: {outcome:?}"),
        }
    }
    let found = rows(&site.db, &read("record", &["date_local", "status"], Cond::All(vec![])));
    let expected: Vec<Row> = (0..30).step_by(3).map(|n| vec![int(n), text(&format!("word {n}"))]).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_failed_commit_fails_every_plan_and_the_writer_goes_on() {
    let site = site();
    let other = other_connection(&site);
    let trigger = "CREATE TRIGGER fail AFTER INSERT ON setting WHEN new.key = 'fail' \
        BEGIN SELECT raise(ROLLBACK, 'no more'); END";
    other.execute_batch(trigger).unwrap();
    let write =
        |key: &str| site.db.commit(WritePlan::new(vec![Change::Setting { key: name(key), json: Some("1".into()) }]));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let plans = ["a", "fail", "b"].map(write);
    other.execute_batch("COMMIT").unwrap();
    let failed = plans.map(wait).into_iter().filter(|o| matches!(o, Err(CommitError::Unavailable(_)))).count();
    assert!(failed >= 1, "the group of the failing plan fails");
    assert!(wait(write("c")).is_ok());
    assert_eq!(site.db.snapshot().unwrap().setting(&name("fail")).unwrap(), None);
}

#[test]
fn secrets_are_made_once() {
    let site = site();
    let secret = site.db.secret("nonce", 32).unwrap();
    assert_eq!((secret.len(), site.db.secret("nonce", 32).unwrap() == secret), (32, true));
    assert_ne!(site.db.secret("other", 32).unwrap(), secret);
    let Site { db, folder } = site;
    drop(db);
    let db = Sqlite::open(options(&folder.path().join("site.db")), &layout()).unwrap();
    assert_eq!(db.secret("nonce", 32).unwrap(), secret);
}

#[test]
fn equal_titles_cost_one_look_each() {
    let site = site();
    let same = || Change::Put(Put { slug: Some(slug("post", &["measured"])), ..post("publish", 1, "Measured") });
    let done = commit(&site.db, (0..3000).map(|_| same()).collect()).unwrap();
    assert_eq!(done.puts[2999].slug.as_deref(), Some("measured-3000"));
    commit(&site.db, vec![Change::Remove { table: name("record"), key: int(1500), expect: None }]).unwrap();
    assert_eq!(commit(&site.db, vec![same()]).unwrap().puts[0].slug.as_deref(), Some("measured-1500"));
    let runs: i64 = other_connection(&site).query_row("SELECT count(*) FROM slug_run", [], |row| row.get(0)).unwrap();
    assert_eq!(runs, 1);
}

// ------------------------------------------------------------------------------------------------ derived numbers

mod derived {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};
    use std::collections::BTreeSet;

    const STATUSES: [&str; 4] = ["publish", "private", "draft", "trash"];
    const ORDERS: [&str; 3] = ["open", "paid", "lost"];

    fn record() -> impl Strategy<Value = Put> {
        let edges = || subsequence(vec![1i64, 2, 3], 0..=3);
        let kinds = select(vec!["post", "page"]);
        (kinds, select(STATUSES.to_vec()), 0..3i64, 0..5i64, proptest::option::of(edges()), edges()).prop_map(
            |(kind, status, author, date, categories, tags)| {
                let set = [
                    ("kind", text(kind)),
                    ("status", text(status)),
                    ("author", int(author)),
                    ("date_local", int(date)),
                ];
                let mut put = put("record", Target::New, &set);
                put.edges = categories.map(|c| (name("post.categories"), c)).into_iter().collect();
                put.edges.push((name("post.tags"), tags));
                put.slug = Some(slug(kind, &["same"]));
                put
            },
        )
    }

    /// An order in a state that is declared, in another one, or in none.
    fn order() -> impl Strategy<Value = Put> {
        let states = || proptest::option::of(select(ORDERS.to_vec()));
        (states(), 0..5i64, subsequence(vec![1i64, 2, 3], 0..=3)).prop_map(|(state, placed, items)| {
            let state = state.map_or(DbValue::Null, text);
            let put = put("x_order", Target::New, &[("state", state), ("placed", int(placed))]);
            Put { edges: vec![(name("order.items"), items)], ..put }
        })
    }

    fn comment() -> impl Strategy<Value = Put> {
        (1..8i64, select(vec!["approved", "hold"]))
            .prop_map(|(post, status)| put("comment", Target::New, &[("post", int(post)), ("status", text(status))]))
    }

    /// The put as a change of a row that may or may not be there; only some of its columns.
    fn changed(put: Put, id: i64, keep: usize) -> Put {
        let set = put.set.into_iter().take(keep).collect();
        Put { target: existing(id), set, slug: put.slug.filter(|_| keep != 2), ..put }
    }

    fn keyed(put: Put, id: i64) -> Change {
        Change::Put(Put { target: Target::Keyed(int(id)), ..put })
    }

    /// A comment on a post that is there.
    fn commented(put: Put) -> Vec<Change> {
        let post = put.set.iter().find_map(|(column, input)| match input {
            Input::Value(post) if **column == *"post" => Some(post.clone()),
            _ => None,
        });
        let exists = post.map(|post| Change::Require {
            plan: read("record", &["id"], eq("id", post)),
            found: true,
            tag: "no post",
        });
        exists.into_iter().chain([Change::Put(put)]).collect()
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        prop_oneof![
            3 => comment().prop_map(commented),
            2 => (comment(), 1..8i64, 0..3usize).prop_map(|(put, id, keep)| commented(changed(put, id, keep))),
            9 => change().prop_map(|change| vec![change]),
        ]
    }

    fn change() -> impl Strategy<Value = Change> {
        let id = || 1..8i64;
        let status = || select(STATUSES.to_vec());
        let remove = |table: &'static str| move |id| Change::Remove { table: name(table), key: int(id), expect: None };
        prop_oneof![
            4 => record().prop_map(Change::Put),
            3 => (record(), id(), 0..5usize).prop_map(|(put, id, keep)| Change::Put(changed(put, id, keep))),
            1 => (record(), id()).prop_map(|(put, id)| keyed(put, id)),
            1 => Just(keyed(put("term", Target::New, &[]), 3)),
            2 => order().prop_map(Change::Put),
            2 => (order(), id(), 0..3usize).prop_map(|(put, id, keep)| Change::Put(changed(put, id, keep))),
            1 => id().prop_map(remove("x_order")),
            1 => select(ORDERS.to_vec()).prop_map(|s| Change::UpdateWhere {
                table: name("x_order"), filter: eq("state", text(s)), set: vec![(name("state"), text("paid"))],
            }),
            1 => id().prop_map(remove("record")),
            1 => id().prop_map(remove("comment")),
            1 => (3..4i64).prop_map(remove("term")),
            1 => (1..4i64, proptest::option::of(1..4i64)).prop_map(|(dst, instead)| Change::Unlink {
                rel: name("post.categories"), dst, instead
            }),
            1 => (status(), status()).prop_map(|(from, to)| Change::UpdateWhere {
                table: name("record"), filter: eq("status", text(from)), set: vec![(name("status"), text(to))],
            }),
            1 => status().prop_map(|s| Change::RemoveWhere { table: name("record"), filter: eq("status", text(s)) }),
            1 => id().prop_map(|id| Change::Require {
                plan: read("record", &["id"], eq("id", int(id))), found: true, tag: "missing",
            }),
            1 => (1..4i64).prop_map(|id| Change::Put(put("term", existing(id), &[("name", text(&id.to_string()))]))),
        ]
    }

    /// Each counts the rows that contain something else than a recount gives.
    const RECOUNTS: [&str; 9] = [
        "SELECT count(*) FROM term WHERE count IS NOT (SELECT count(*) FROM edge JOIN record ON record.id = edge.src
            WHERE edge.dst = term.id AND (
                edge.rel = (SELECT number FROM dictionary WHERE word = 'post.categories') AND record.status IN
                    (SELECT number FROM dictionary WHERE word = 'publish')
                OR edge.rel = (SELECT number FROM dictionary WHERE word = 'post.tags') AND record.status IN
                    (SELECT number FROM dictionary WHERE word IN ('publish', 'private'))))",
        "SELECT count(*) FROM record WHERE comment_count IS NOT (SELECT count(*) FROM comment
            WHERE post = record.id AND status = (SELECT number FROM dictionary WHERE word = 'approved'))",
        "SELECT count(*) FROM edge JOIN record ON record.id = edge.src
            WHERE edge.rel <> (SELECT number FROM dictionary WHERE word = 'order.items')
                AND (edge.status IS NOT record.status OR edge.sort IS NOT record.date_local)",
        "SELECT count(*) FROM edge LEFT JOIN x_order ON x_order.id = edge.src
                LEFT JOIN dictionary ON dictionary.word = x_order.state
            WHERE edge.rel = (SELECT number FROM dictionary WHERE word = 'order.items')
                AND (x_order.id IS NULL OR edge.status IS NOT dictionary.number OR edge.sort IS NOT x_order.placed)",
        "SELECT count(*) FROM edge WHERE rel <> (SELECT number FROM dictionary WHERE word = 'order.items')
            AND src NOT IN (SELECT id FROM record)",
        "SELECT count(*) FROM tally WHERE \"table\" = (SELECT number FROM dictionary WHERE word = 'x_order')
            AND n IS NOT (SELECT count(*) FROM x_order LEFT JOIN dictionary ON dictionary.word = x_order.state
                WHERE coalesce(dictionary.number, 0) = tally.status)",
        "SELECT count(*) FROM tally WHERE \"table\" = (SELECT number FROM dictionary WHERE word = 'record')
            AND n IS NOT (SELECT count(*) FROM record WHERE record.kind = tally.kind AND record.status = tally.status
                AND (tally.author = -1 OR record.author = tally.author))",
        "SELECT count(*) FROM record LEFT JOIN slug ON slug.id = record.id AND slug.slug = record.slug
            WHERE record.slug IS NOT NULL AND slug.id IS NULL",
        "SELECT count(*) FROM (SELECT scope, count(*) AS n FROM slug WHERE slug <> 'same' GROUP BY scope) AS claims
            WHERE n IS NOT (SELECT sum(hi - lo + 1) FROM slug_run WHERE slug_run.scope = claims.scope)",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn numbers_stay_true(plans in prop::collection::vec(prop::collection::vec(changes(), 1..4), 1..40)) {
            let site = site();
            let term = || Change::Put(put("term", Target::New, &[]));
            commit(&site.db, vec![term(), term(), term()]).unwrap();
            let outcomes: Vec<CommitFuture> =
                plans.into_iter().map(|all| site.db.commit(WritePlan::new(all.concat()))).collect();
            for outcome in outcomes {
                match wait(outcome) {
                    Ok(_) | Err(CommitError::Stale | CommitError::Refused { .. }) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            let conn = other_connection(&site);
            for recount in RECOUNTS {
                let wrong: i64 = conn.query_row(recount, [], |row| row.get(0)).unwrap();
                prop_assert_eq!(wrong, 0, "{}", recount);
            }
            for status in STATUSES {
                let plan = read("record", &["id"], eq("status", text(status)));
                let snapshot = site.db.snapshot().unwrap();
                prop_assert_eq!(snapshot.count(&plan).unwrap(), snapshot.rows(&plan).unwrap().len() as u64);
            }
            let of = |states: &[&str]| Cond::In(name("state"), states.iter().map(|state| text(state)).collect());
            let item = || Cond::Linked { rel: name("order.items"), dst: vec![2] };
            for states in [Cond::All(vec![]), of(&["open"]), of(&["lost"]), of(&["open", "paid"]), of(&["unknown"])] {
                for filter in [states.clone(), Cond::All(vec![states, item()])] {
                    let snapshot = site.db.snapshot().unwrap();
                    let plan = ReadPlan {
                        order: vec![Order::Column(name("placed"), true)],
                        ..read("x_order", &["id"], filter.clone())
                    };
                    // No index and no number of edges has a part in this.
                    let tested = Cond::Not(Box::new(Cond::Not(Box::new(filter))));
                    let sorted = |plan: &ReadPlan| ints(rows(&site.db, plan)).into_iter().collect::<BTreeSet<i64>>();
                    let all = sorted(&read("x_order", &["id"], tested));
                    prop_assert_eq!(snapshot.count(&plan).unwrap(), all.len() as u64);
                    prop_assert_eq!(sorted(&plan), all);
                }
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------ statistics

#[test]
fn statistics_follow_the_tables() {
    let site = site();
    let add = |number: i64| {
        let state = |n: i64| if n % 3 == 0 { "draft" } else { "publish" };
        let rows = (0..number).map(|n| Change::Put(post(state(n), n, "x"))).collect();
        commit(&site.db, rows).unwrap();
    };
    add(30);
    let other = other_connection(&site);
    site.db.gather_statistics().unwrap();
    let known = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'";
    let tables: i64 = other.query_row(known, [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 0, "tables of a few rows are left");
    add(570);
    let version = || other.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0)).unwrap();
    let shapes = || -> Vec<(String, String)> {
        let mut read = other.prepare("SELECT idx, stat FROM sqlite_stat1 WHERE tbl = 'record' ORDER BY idx").unwrap();
        let rows = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<std::result::Result<_, _>>().unwrap()
    };
    site.db.gather_statistics().unwrap();
    let small = shapes();
    assert!(!small.is_empty() && small.iter().all(|(_, shape)| shape.starts_with("600 ")), "{small:?}");
    add(30);
    site.db.gather_statistics().unwrap();
    assert_eq!(shapes(), small, "a table that has not grown tenfold is as it was");
    let before = version();
    add(6000);
    site.db.gather_statistics().unwrap();
    let large = shapes();
    assert!(large.iter().all(|(_, shape)| shape.starts_with("6630 ")), "{large:?}");
    // Counted, not guessed from a sample of 400 entries: there are two states.
    assert!(large.iter().any(|(_, shape)| shape.split(' ').any(|part| part == "3315")), "{large:?}");
    assert!(version() > before, "connections that were open before read them");
}

// ------------------------------------------------------------------------------------------------ the search index

/// Waits until the writer has taken everything into the index.
fn indexed(site: &Site) {
    let conn = other_connection(site);
    for _ in 0..500 {
        let waiting: i64 = conn.query_row("SELECT count(*) FROM search_todo", [], |row| row.get(0)).unwrap();
        if waiting == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the index was never caught up with");
}

fn found(db: &dyn Storage, needle: &str) -> Vec<i64> {
    let plan = read("record", &["id"], Cond::Contains(names(&["title", "content"]), needle.into()));
    let mut ids = ints(rows(db, &plan));
    assert_eq!(db.snapshot().unwrap().count(&plan).unwrap(), ids.len() as u64, "{needle}");
    ids.sort_unstable();
    ids
}

#[test]
fn a_search_finds_the_same_before_and_after_the_index() {
    let site = site();
    let titles = [
        "An apple a day",
        "Ångström units",
        "apples, and pears",
        "",
        "“quoted” \"text\"",
        "日本語の本",
        "a\0b apple",
        "7",
        "x7",
    ];
    let ids: Vec<i64> =
        titles.iter().map(|title| id(commit(&site.db, vec![Change::Put(post("publish", 1, title))]))).collect();
    let needles: [(&str, &[usize]); 24] = [
        ("apple", &[0, 2, 6]),
        ("APPLE", &[0, 2, 6]),
        ("pples", &[2]),
        ("angstrom", &[1]),
        ("ap", &[0, 2, 6]),
        ("\"text\"", &[4]),
        ("本語の", &[5]),
        ("apple a day or two", &[]),
        ("le*", &[]),
        ("NOT", &[]),
        ("s, a", &[2]),
        ("\0b ap", &[6]),
        ("7", &[7, 8]),
        ("x7", &[8]),
        ("7x", &[]),
        ("A", &[0, 1, 2, 6]),
        ("Å", &[0, 1, 2, 6]),
        ("本", &[5]),
        ("の本", &[5]),
        ("の", &[5]),
        ("a\0", &[6]),
        ("b ", &[6]),
        ("\"", &[4]),
        ("” ", &[4]),
    ];
    let check = |when: &str| {
        for (needle, expected) in needles {
            let expected: Vec<i64> = expected.iter().map(|n| ids[*n]).collect();
            assert_eq!(found(&site.db, needle), expected, "{needle} {when}");
        }
    };
    check("before");
    indexed(&site);
    check("after");
    let path = site.folder.path().join("site.db");
    assert_eq!(backup::examine(&path, &layout()).unwrap(), Vec::<String>::new());

    let change = put("record", existing(ids[0]), &[("title", text("A banana"))]);
    commit(&site.db, vec![Change::Put(change)]).unwrap();
    commit(&site.db, vec![Change::Remove { table: name("record"), key: int(ids[2]), expect: None }]).unwrap();
    for when in ["at once", "after the index"] {
        assert_eq!(found(&site.db, "apple"), [ids[6]], "{when}");
        assert_eq!(found(&site.db, "banana"), [ids[0]], "{when}");
        indexed(&site);
    }
    let conn = other_connection(&site);
    let known: i64 = conn.query_row("SELECT count(*) FROM search_record_docsize", [], |row| row.get(0)).unwrap();
    assert_eq!(known, ids.len() as i64 - 1, "what was removed is forgotten");
}

#[test]
fn an_index_in_many_parts_is_merged() {
    let site = site();
    let add = |title: &str| id(commit(&site.db, vec![Change::Put(post("publish", 1, title))]));
    let first = add("An apple");
    indexed(&site);
    let conn = other_connection(&site);
    let segments = || {
        let text = "SELECT count(DISTINCT segid) FROM search_record_idx";
        conn.query_row(text, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    conn.execute("INSERT INTO search_record (search_record, rank) VALUES ('automerge', 0)", []).unwrap();
    for number in 0..12 {
        conn.execute("INSERT INTO search_record (rowid, text) VALUES (?1, 'pea\u{1f}ear\u{1f}')", [900 + number])
            .unwrap();
    }
    assert!(segments() > 10, "{}", segments());
    let second = add("Apples");
    let until = Instant::now() + Duration::from_secs(10);
    while segments() > 1 {
        assert!(Instant::now() < until, "{} segments are left", segments());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(found(&site.db, "apple"), [first, second]);
    let ears = "SELECT count(*) FROM search_record WHERE search_record MATCH 'ear'";
    assert_eq!(conn.query_row(ears, [], |row| row.get::<_, i64>(0)).unwrap(), 12);
    // A few are left as they are.
    let third = add("An apple tree");
    indexed(&site);
    assert_eq!((segments(), found(&site.db, "apple")), (2, vec![first, second, third]));
}

#[test]
fn short_texts_are_looked_up_where_few_rows_have_them() {
    let site = site();
    let plans: Vec<_> = (0..400)
        .map(|n| WritePlan::new(vec![Change::Put(post("publish", 1, &format!("Post {n} of many")))]))
        .map(|plan| site.db.commit(plan))
        .collect();
    plans.into_iter().for_each(|outcome| drop(wait(outcome).unwrap()));
    indexed(&site);
    let (conn, frequent) = (other_connection(&site), search::FrequentTexts::default());
    let columns = || names(&["title", "content"]);
    for (filter, narrowed) in [
        (vec!["77"], Some(4)),
        (vec!["post", "77"], Some(4)),
        (vec!["post", "77", "f m"], Some(4)),
        (vec!["9", "77"], Some(4)),
        (vec!["o", "77"], Some(4)),
        (vec!["qx"], Some(0)),
        (vec!["post", "qx"], Some(0)),
        (vec!["o"], None),
        (vec!["o"], None),
        (vec!["st", "of"], None),
    ] {
        let conds = filter.iter().map(|needle| Cond::Contains(columns(), (*needle).into())).collect();
        let plan = read("record", &["id"], Cond::All(conds));
        let shared = &site.db.shared;
        let found = search::narrowed((&conn, &frequent), &shared.catalogue, &shared.words.load(), &plan).unwrap();
        let named = match &found.filter {
            Cond::All(conds) => conds.iter().find_map(|cond| match cond {
                Cond::In(_, ids) => Some(ids.len()),
                _ => None,
            }),
            _ => None,
        };
        assert_eq!(named, narrowed, "{filter:?}");
        let expected = (0..400).filter(|n| filter.iter().all(|w| format!("post {n} of many").contains(w))).count();
        assert_eq!(rows(&site.db, &plan).len(), expected, "{filter:?}");
    }
}

#[test]
fn rows_that_a_search_would_miss_are_told() {
    let site = site();
    commit(&site.db, vec![Change::Put(post("publish", 1, "An apple"))]).unwrap();
    indexed(&site);
    other_connection(&site).execute_batch("DELETE FROM search_record WHERE rowid = 1").unwrap();
    let path = site.folder.path().join("site.db");
    let told = backup::examine(&path, &layout()).unwrap();
    assert_eq!(told, ["1 rows of record are not found by a search"]);
}

#[test]
fn a_file_from_before_the_index_gets_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    let db = Sqlite::open(options(&path), &layout()).unwrap();
    let apple = id(commit(&db, vec![Change::Put(post("publish", 1, "An apple"))]));
    drop(db);
    let before = "DROP TABLE search_record; DROP TABLE search_todo; DROP TABLE change_feed; DELETE FROM layout WHERE name LIKE 'search:%'; \
        UPDATE layout SET definition = 'of before' WHERE name = 'fingerprint'; PRAGMA user_version = 1";
    Connection::open(&path).unwrap().execute_batch(before).unwrap();
    let site = Site { db: Sqlite::open(options(&path), &layout()).unwrap(), folder };
    assert_eq!(found(&site.db, "apple"), [apple]);
    indexed(&site);
    assert_eq!(found(&site.db, "apple"), [apple]);
    assert_eq!(backup::examine(&path, &layout()).unwrap(), Vec::<String>::new());
    let version: i64 = other_connection(&site).pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, META_VERSION, "an older program, which would not keep the index, is told so");
}

#[test]
fn a_feed_that_does_not_say_what_rows_were_learns_to() {
    let former = &["slug_before", "class", "author_before", "depth", "targets_before"];
    for (version, lacks) in [(5, &former[..]), (6, &former[3..]), (7, &former[4..])] {
        a_feed_learns(version, lacks);
    }
}

/// The feed of a version that lacks columns of now has them once the database was opened.
fn a_feed_learns(version: i64, lacks: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    let db = Sqlite::open(options(&path), &layout()).unwrap();
    let one = id(commit(&db, vec![Change::Put(post("publish", 1, "One"))]));
    drop(db);
    let drops: String = lacks.iter().map(|column| format!("ALTER TABLE change_feed DROP COLUMN {column}; ")).collect();
    let before = format!(
        "{drops}UPDATE layout SET definition = 'of before' WHERE name = 'fingerprint'; PRAGMA user_version = {version}"
    );
    Connection::open(&path).unwrap().execute_batch(&before).unwrap();
    let db = Sqlite::open(options(&path), &layout()).unwrap();
    let remove = vec![Change::Remove { table: name("record"), key: int(one), expect: None }];
    wait(db.commit(WritePlan::new(remove).by(None, 2))).unwrap();
    let told = rows(&db, &read("change_feed", &["author_before", "depth"], Cond::All(vec![])));
    assert_eq!(told, [vec![DbValue::Null, DbValue::Null], vec![int(0), int(2)]], "{version}");
}

#[test]
fn values_that_were_counted_get_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    let db = Sqlite::open(options(&path), &layout()).unwrap();
    let meta = |key: &str| MetaChange::Key(name(key), vec!["1".into(), "2".into()]);
    let one = id(commit(&db, vec![Change::Put(Put { meta: vec![meta("a"), meta("b")], ..post("draft", 1, "x") })]));
    let other = id(commit(&db, vec![Change::Put(Put { meta: vec![meta("a")], ..post("draft", 1, "y") })]));
    drop(db);
    let before = "DROP TABLE change_feed; UPDATE meta SET n = CAST(json AS INTEGER) - 1; DELETE FROM sequence WHERE space = 'meta'; \
        UPDATE layout SET definition = 'of before' WHERE name = 'fingerprint'; PRAGMA user_version = 2";
    Connection::open(&path).unwrap().execute_batch(before).unwrap();
    let db = Sqlite::open(options(&path), &layout()).unwrap();
    let read = || db.snapshot().unwrap().meta(&name("content"), &[one, other]).unwrap();
    let texts: Vec<String> = read().iter().map(|m| format!("{} {}={}", m.id, m.key, m.json)).collect();
    assert_eq!(texts, ["1 a=1", "1 a=2", "1 b=1", "1 b=2", "2 a=1", "2 a=2"]);
    let add = Put { meta: vec![MetaChange::Add(name("c"), "3".into())], ..put("record", existing(one), &[]) };
    commit(&db, vec![Change::Put(add)]).unwrap();
    let numbers: std::collections::BTreeSet<i64> = read().iter().map(|m| m.number).collect();
    assert_eq!(numbers.len(), 7);
}
