//! The contract of every backend, whatever the database: each test takes a `&dyn Storage` laid out as the fixtures say.

use super::fixtures::*;
use super::opening::DatabaseOptions;
use super::place::Place;
use super::plan::*;
use super::postgres::{PgOptions, Postgres};
use super::sqlite::{OpenOptions, Sqlite};
use super::toy::Toy;
use crate::database::{Database, Storage};
use crate::dependencies::VersionSlot;
use crate::feed::FeedRetention;
use crate::snapshot::ReadRequest;
use std::sync::Arc;

/// Runs a test on each backend, and within a transaction of each, where everything has to be the same.
fn on_each(test: fn(&dyn Storage)) {
    on_each_outside(test);
    test(&*wait(site().db.begin()).unwrap());
    test(&*wait(Toy::open(&layout()).unwrap().begin()).unwrap());
    if let Some(site) = postgres_site() {
        test(&*wait(site.db.begin()).unwrap());
    }
}

/// Runs a test on each backend: for what transactions do not have.
fn on_each_outside(test: fn(&dyn Storage)) {
    test(&site().db);
    test(&Toy::open(&layout()).unwrap());
    if let Some(site) = postgres_site() {
        test(&site.db);
    }
}

fn seeds(db: &dyn Storage) -> Vec<i64> {
    ["One", "Two", "Three", "Zwölf"]
        .iter()
        .enumerate()
        .map(|(n, title)| id(commit(db, vec![Change::Put(post("publish", n as i64, title))])))
        .collect()
}

#[test]
fn a_row_is_read_as_it_was_written() {
    on_each(|db| {
        let id = id(commit(db, vec![Change::Put(post("publish", 7, "Hello"))]));
        let plan = read("record", &["id", "kind", "status", "title", "author", "extra", VERSION], eq("id", int(id)));
        assert_eq!(
            rows(db, &plan),
            [vec![int(1), text("post"), text("publish"), text("Hello"), int(0), DbValue::Null, int(1)]]
        );
    });
}

#[test]
fn conditions_find_what_they_say() {
    on_each(|db| {
        let ids = seeds(db);
        assert_eq!(ids, [1, 2, 3, 4]);
        let mut private = post("private", 9, "Five");
        private.set.push((name("author"), Input::Value(int(4))));
        commit(db, vec![Change::Put(private)]).unwrap();
        let compare = |c: &str, op, v| Cond::Compare(name(c), op, v);
        let not = |c| Cond::Not(Box::new(c));
        let big: Vec<DbValue> = (2..200_000).map(int).collect();
        for (cond, expected) in [
            (Cond::All(vec![]), vec![1, 2, 3, 4, 5]),
            (Cond::Any(vec![]), vec![]),
            (eq("status", text("publish")), vec![1, 2, 3, 4]),
            (eq("status", text("never heard of")), vec![]),
            (not(eq("status", text("publish"))), vec![5]),
            (compare("status", Op::Ne, text("private")), vec![1, 2, 3, 4]),
            (compare("status", Op::Gt, text("private")), vec![1, 2, 3, 4]),
            (compare("date_local", Op::Ge, int(2)), vec![3, 4, 5]),
            (compare("date_local", Op::Lt, int(1)), vec![1]),
            (compare("extra", Op::Ne, text("x")), vec![1, 2, 3, 4, 5]),
            (not(eq("extra", text("x"))), vec![1, 2, 3, 4, 5]),
            (compare("extra", Op::Eq, DbValue::Null), vec![1, 2, 3, 4, 5]),
            (compare("extra", Op::Ne, DbValue::Null), vec![]),
            (Cond::IsNull(name("extra")), vec![1, 2, 3, 4, 5]),
            (Cond::In(name("id"), vec![]), vec![]),
            (Cond::In(name("id"), vec![int(3)]), vec![3]),
            (Cond::In(name("id"), big), vec![2, 3, 4, 5]),
            (Cond::In(name("status"), vec![text("private"), text("draft")]), vec![5]),
            (not(Cond::In(name("id"), vec![int(3), int(4)])), vec![1, 2, 5]),
            (Cond::Contains(names(&["title"]), "ZWOLF".into()), vec![4]),
            (Cond::Contains(names(&["content", "title"]), "e".into()), vec![1, 3, 5]),
            (Cond::Contains(names(&["title_key"]), "Zwö".into()), vec![4]),
            (Cond::Contains(vec![], "e".into()), vec![]),
            (Cond::Same(names(&["content", "title"]), "ZWOLF".into()), vec![4]),
            (Cond::Same(names(&["title"]), "wölf".into()), vec![]),
            (Cond::Same(vec![], "Two".into()), vec![]),
            (Cond::Any(vec![eq("id", int(1)), eq("title", text("Two"))]), vec![1, 2]),
            (Cond::All(vec![eq("kind", text("post")), Cond::All(vec![eq("author", int(4))])]), vec![5]),
            (
                Cond::Related {
                    table: name("record"),
                    inner: name("id"),
                    outer: name("author"),
                    filter: Box::new(eq("title", text("Zwölf"))),
                },
                vec![5],
            ),
        ] {
            let plan =
                ReadPlan { order: vec![Order::Column(name("id"), false)], ..read("record", &["id"], cond.clone()) };
            assert_eq!(ints(rows(db, &plan)), expected, "{cond:?}");
            assert_eq!(db.snapshot().unwrap().count(&plan).unwrap(), expected.len() as u64, "{cond:?}");
        }
    });
}

#[test]
fn words_in_text_are_found_whole() {
    on_each(|db| {
        commit(db, vec![Change::Put(put("x_order", Target::New, &[("note", text(" a bc "))]))]).unwrap();
        for (word, found) in [("a", 1), ("bc", 1), ("b", 0)] {
            let plan = read("x_order", &["id"], Cond::HasWord(name("note"), word.into()));
            assert_eq!(rows(db, &plan).len(), found, "{word}");
        }
    });
}

#[test]
fn orders_are_total() {
    on_each(|db| {
        seeds(db);
        let mut twin = post("publish", 2, "Two");
        twin.set.push((name("sticky"), Input::Value(int(1))));
        commit(db, vec![Change::Put(twin)]).unwrap();
        let by = |c: &str, descending| Order::Column(name(c), descending);
        for (order, expected) in [
            (vec![by("date_local", true)], vec![4, 5, 3, 2, 1]),
            (vec![by("date_local", false)], vec![1, 2, 3, 5, 4]),
            (vec![by("title", false), by("id", true)], vec![1, 3, 5, 2, 4]),
            (vec![Order::Given(name("id"), vec![int(3), int(1), int(3), int(9)])], vec![3, 1, 2, 4, 5]),
            (vec![Order::Given(name("id"), vec![])], vec![1, 2, 3, 4, 5]),
            (vec![Order::First(eq("sticky", int(1))), by("date_local", true)], vec![5, 4, 3, 2, 1]),
            (vec![by("status", true)], vec![5, 4, 3, 2, 1]),
            (vec![Order::Given(name("title"), vec![text("Two")])], vec![2, 5, 1, 3, 4]),
        ] {
            let plan = ReadPlan { order: order.clone(), ..read("record", &["id"], Cond::All(vec![])) };
            assert_eq!(ints(rows(db, &plan)), expected, "{order:?}");
            let window = ReadPlan { limit: Some(2), offset: 1, ..plan };
            assert_eq!(ints(rows(db, &window)), expected[1..3], "{order:?}");
        }
    });
}

#[test]
fn windows_are_slices_of_the_whole() {
    on_each(|db| {
        let term = || Change::Put(put("term", Target::New, &[]));
        let mut changes = vec![term(), term(), term()];
        for n in 0..60i64 {
            let mut post = post(["publish", "private", "draft"][n as usize % 3], n % 7, &format!("x {}", n * 7 % 60));
            post.set.push((name("author"), Input::Value(int(n % 4))));
            let terms: Vec<i64> = (1..=3).filter(|t| (n / t) % 2 == 0).collect();
            post.edges = vec![(name("post.categories"), terms)];
            changes.push(Change::Put(post));
        }
        commit(db, changes).unwrap();
        let among = |column: &str, words: &[&str]| Cond::In(name(column), words.iter().map(|w| text(w)).collect());
        let ints_among = |column: &str, n: &[i64]| Cond::In(name(column), n.iter().map(|n| int(*n)).collect());
        let linked = |dst: &[i64]| Cond::Linked { rel: name("post.categories"), dst: dst.to_vec() };
        let post = || eq("kind", text("post"));
        let published = || eq("status", text("publish"));
        let contains = |needle: &str| Cond::Contains(vec![name("title"), name("content")], needle.into());
        for conds in [
            vec![post(), among("status", &["publish", "private", "publish", "odd"])],
            vec![post(), published(), ints_among("author", &[3, 1, 3])],
            vec![post(), published(), linked(&[1])],
            vec![post(), published(), linked(&[3, 1, 3])],
            vec![post(), published(), linked(&[3, 1]), Cond::Not(Box::new(linked(&[2])))],
            vec![post(), among("status", &["publish", "draft"]), linked(&[2, 3]), eq("author", int(1))],
            vec![post(), ints_among("id", &[50, 4, 4, 10, 22, 7]), linked(&[1, 2, 3])],
            // Texts are looked into in the order of the window.
            vec![
                post(),
                ints_among("id", &(1..=60).collect::<Vec<_>>()),
                contains("X 1"),
                Cond::Not(Box::new(linked(&[2]))),
            ],
        ] {
            for (by, descending) in [("date_local", true), ("date_local", false), ("title", true)] {
                let order = vec![Order::Column(name(by), descending)];
                let whole = ReadPlan { order, ..read("record", &["id"], Cond::All(conds.clone())) };
                let all = ints(rows(db, &whole));
                assert!(all.len() > 3, "{conds:?}");
                for (offset, limit) in [(0, 3), (2, 5), (all.len() - 1, 9), (all.len(), 2)] {
                    let window = ReadPlan { limit: Some(limit), offset: offset as u64, ..whole.clone() };
                    let until = (offset + limit as usize).min(all.len());
                    assert_eq!(ints(rows(db, &window)), all[offset..until], "{conds:?} {by} {offset} {limit}");
                }
                assert_eq!(db.snapshot().unwrap().count(&whole).unwrap(), all.len() as u64);
            }
        }
    });
}

#[test]
fn edges_lead_to_rows_that_meet_a_condition() {
    on_each(|db| {
        let term = |title: &str| Change::Put(put("term", Target::New, &[("name", text(title))]));
        commit(db, vec![term("tea"), term("coffee")]).unwrap();
        for dst in [vec![1], vec![2, 1], vec![2], vec![]] {
            let linked = Put { edges: vec![(name("post.categories"), dst)], ..post("publish", 1, "x") };
            commit(db, vec![Change::Put(linked)]).unwrap();
        }
        let to =
            |filter| Cond::LinkedTo { rel: name("post.categories"), table: name("term"), filter: Box::new(filter) };
        let not = |cond| Cond::Not(Box::new(cond));
        let named = |title: &str| to(eq("name", text(title)));
        for (cond, expected) in [
            (named("tea"), vec![1, 2]),
            (named("milk"), vec![]),
            (not(named("tea")), vec![3, 4]),
            (Cond::All(vec![named("tea"), named("coffee")]), vec![2]),
            (Cond::Any(vec![named("tea"), named("coffee")]), vec![1, 2, 3]),
            (not(to(Cond::All(vec![]))), vec![4]),
        ] {
            let order = vec![Order::Column(name("id"), false)];
            let plan = ReadPlan { order, ..read("record", &["id"], cond.clone()) };
            assert_eq!(ints(rows(db, &plan)), expected, "{cond:?}");
            assert_eq!(db.snapshot().unwrap().count(&plan).unwrap(), expected.len() as u64, "{cond:?}");
        }
    });
}

#[test]
fn rows_are_counted_by_the_values_of_a_column() {
    on_each(|db| {
        seeds(db);
        commit(db, vec![Change::Put(post("private", 9, "One"))]).unwrap();
        let groups = |column: &str, limit, filter| {
            let plan = ReadPlan { limit, ..read("record", &[column], filter) };
            db.snapshot().unwrap().groups(&plan).unwrap()
        };
        let by_status = [vec![text("publish"), int(4)], vec![text("private"), int(1)]];
        assert_eq!(groups("status", None, Cond::All(vec![])), by_status);
        assert_eq!(groups("status", Some(1), Cond::All(vec![])), by_status[..1]);
        assert_eq!(groups("title", Some(1), Cond::All(vec![])), [vec![text("One"), int(2)]]);
        assert_eq!(groups("extra", None, eq("status", text("private"))), [vec![DbValue::Null, int(1)]]);
        assert_eq!(groups("status", None, eq("title", text("none"))), [] as [Vec<DbValue>; 0]);
        commit(db, [-5, -4, -1, 0, 3, 4].map(|date| Change::Put(post("draft", date, "n"))).to_vec()).unwrap();
        let fours = ReadPlan { width: Some(4), ..read("record", &["date_local"], eq("status", text("draft"))) };
        let rounded_down = [(-4, 2), (0, 2), (-8, 1), (4, 1)].map(|(least, rows)| vec![int(least), int(rows)]);
        assert_eq!(db.snapshot().unwrap().groups(&fours).unwrap(), rounded_down);
    });
}

#[test]
fn counts_follow_writes() {
    on_each(|db| {
        let category = || Cond::Linked { rel: name("post.categories"), dst: vec![1] };
        let private = || eq("status", text("private"));
        let both = |a, b| Cond::All(vec![a, b]);
        let conds = [
            Cond::All(vec![]),
            eq("kind", text("post")),
            both(eq("kind", text("post")), private()),
            both(Cond::In(name("status"), vec![text("private"), text("publish")]), eq("author", int(7))),
            eq("author", int(-1)),
            both(private(), private()),
            both(category(), private()),
            eq("title", text("x")),
        ];
        let counts = || {
            let snapshot = db.snapshot().unwrap();
            let count = |cond: &Cond| snapshot.count(&read("record", &[], cond.clone())).unwrap();
            let all: Vec<u64> = conds.iter().map(count).collect();
            let rows = |cond: &Cond| snapshot.rows(&read("record", &[], cond.clone())).unwrap().len() as u64;
            assert_eq!(all, conds.iter().map(rows).collect::<Vec<_>>());
            assert_eq!(conds.iter().map(count).collect::<Vec<_>>(), all, "asked twice");
            all
        };
        assert_eq!(counts(), [0; 8]);
        commit(db, vec![Change::Put(put("term", Target::New, &[]))]).unwrap();
        let mut linked = Put { edges: vec![(name("post.categories"), vec![1])], ..post("private", 1, "x") };
        linked.set.push((name("author"), Input::Value(int(7))));
        let id = id(commit(db, vec![Change::Put(linked)]));
        assert_eq!(counts(), [1, 1, 1, 1, 0, 1, 1, 1]);
        commit(db, vec![Change::Put(post("publish", 1, "y"))]).unwrap();
        assert_eq!(counts(), [2, 2, 1, 1, 0, 1, 1, 1]);
        commit(db, vec![Change::Put(put("record", existing(id), &[("status", text("publish"))]))]).unwrap();
        assert_eq!(counts(), [2, 2, 0, 1, 0, 0, 0, 1]);
        commit(db, vec![Change::Put(put("record", existing(id), &[("kind", text("page"))]))]).unwrap();
        assert_eq!(counts(), [2, 1, 0, 1, 0, 0, 0, 1]);
        commit(db, vec![Change::Remove { table: name("record"), key: int(id), expect: None }]).unwrap();
        assert_eq!(counts(), [1, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(db.snapshot().unwrap().count(&read("term", &[], Cond::All(vec![]))).unwrap(), 1);
    });
}

/// One count serves lists in several orders, whose columns are written more or less often than rows are made.
#[test]
fn counts_are_those_of_every_order() {
    on_each(|db| {
        let first = id(commit(db, vec![Change::Put(post("publish", 1, "x"))]));
        for n in 2..20 {
            let author = vec![(name("author"), Input::Value(int(n)))];
            commit(db, vec![Change::Put(Put { set: author, ..put("record", existing(first), &[]) })]).unwrap();
            commit(db, vec![Change::Put(post("publish", n, "x"))]).unwrap();
            let snapshot = db.snapshot().unwrap();
            for column in ["date_local", "author"] {
                let filter = Cond::All(vec![eq("kind", text("post")), eq("title", text("x"))]);
                let order = vec![Order::Column(name(column), false)];
                let plan = ReadPlan { order, ..read("record", &[], filter) };
                assert_eq!(snapshot.count(&plan).unwrap(), n as u64, "by {column}");
            }
        }
    });
}

#[test]
fn links_are_counted_where_they_lead() {
    on_each(|db| {
        let terms = || Change::Put(put("term", Target::New, &[]));
        commit(db, vec![terms(), terms()]).unwrap();
        let category = |dst: &[i64]| Cond::Linked { rel: name("post.categories"), dst: dst.to_vec() };
        let published = |more: Vec<Cond>| {
            let own = [eq("kind", text("post")), Cond::In(name("status"), vec![text("publish")])];
            Cond::All(own.into_iter().chain(more).collect())
        };
        let conds = [
            published(vec![category(&[1])]),
            published(vec![category(&[2])]),
            published(vec![category(&[1, 2])]),
            published(vec![Cond::Not(Box::new(category(&[1])))]),
            published(vec![Cond::Not(Box::new(category(&[1]))), category(&[2])]),
            published(vec![category(&[1]), eq("author", int(7))]),
            Cond::All(vec![eq("kind", text("post")), eq("status", text("draft")), category(&[1])]),
            published(vec![Cond::Not(Box::new(Cond::In(name("id"), vec![int(1), int(99)])))]),
            published(vec![Cond::Not(Box::new(eq("id", int(3)))), Cond::Not(Box::new(category(&[1])))]),
        ];
        let counts = || {
            let snapshot = db.snapshot().unwrap();
            let count = |cond: &Cond| snapshot.count(&read("record", &[], cond.clone())).unwrap();
            let rows = |cond: &Cond| snapshot.rows(&read("record", &[], cond.clone())).unwrap().len() as u64;
            let all: Vec<u64> = conds.iter().map(count).collect();
            assert_eq!(all, conds.iter().map(rows).collect::<Vec<_>>());
            all
        };
        let linked = |status, dst: &[i64]| {
            let mut put = Put { edges: vec![(name("post.categories"), dst.to_vec())], ..post(status, 1, "x") };
            put.set.push((name("author"), Input::Value(int(7))));
            Change::Put(put)
        };
        assert_eq!(counts(), [0; 9]);
        let first = id(commit(db, vec![linked("publish", &[1, 2])]));
        commit(db, vec![linked("publish", &[1]), linked("draft", &[1]), linked("publish", &[])]).unwrap();
        assert_eq!(counts(), [2, 1, 2, 1, 0, 2, 1, 2, 1]);
        commit(db, vec![Change::Put(put("record", existing(first), &[("status", text("draft"))]))]).unwrap();
        assert_eq!(counts(), [1, 0, 1, 1, 0, 1, 2, 2, 1]);
        commit(db, vec![Change::Remove { table: name("record"), key: int(first), expect: None }]).unwrap();
        assert_eq!(counts(), [1, 0, 1, 1, 0, 1, 1, 2, 1]);
    });
}

#[test]
fn rows_come_in_the_order_of_their_keys() {
    on_each(|db| {
        seeds(db);
        let keys = |keys: &[i64]| keys.iter().map(|k| int(*k)).collect::<Vec<_>>();
        for (wanted, given) in [(&[4, 1, 9, 4, 2][..], &[4, 1, 9, 4, 2][..]), (&[1, 2, 4], &[4, 1, 2])] {
            let plan = ReadPlan {
                order: vec![Order::Given(name("id"), keys(given))],
                ..read("record", &["id"], Cond::In(name("id"), keys(wanted)))
            };
            assert_eq!(ints(rows(db, &plan)), [4, 1, 2]);
        }
    });
}

#[test]
fn extensions_live_and_die_with_their_row() {
    on_each(|db| {
        let mut book = post("publish", 1, "A book");
        book.set.push((name("x_book.isbn"), Input::Value(text("123"))));
        let book = id(commit(db, vec![Change::Put(book)]));
        let bare = id(commit(db, vec![Change::Put(post("publish", 2, "No book"))]));
        let plan = ReadPlan {
            extensions: names(&["x_book"]),
            order: vec![Order::Column(name("id"), false)],
            ..read("record", &["id", "x_book.isbn", "x_book.pages"], Cond::All(vec![]))
        };
        assert_eq!(rows(db, &plan), [[int(book), text("123"), int(1)], [int(bare), DbValue::Null, int(1)]]);
        let one = ReadPlan { filter: eq("x_book.pages", int(1)), ..plan.clone() };
        assert_eq!(db.snapshot().unwrap().count(&one).unwrap(), 2);
        let set = |n| put("record", existing(bare), &[("x_book.pages", int(n))]);
        commit(db, vec![Change::Put(set(5))]).unwrap();
        let mut add = set(0);
        add.set[0].1 = Input::Add(2);
        commit(db, vec![Change::Put(add)]).unwrap();
        assert_eq!(rows(db, &plan)[1], [int(bare), DbValue::Null, int(7)]);
        commit(db, vec![Change::Remove { table: name("record"), key: int(book), expect: None }]).unwrap();
        assert_eq!(rows(db, &read("x_book", &["id"], Cond::All(vec![]))), [[int(bare)]]);
    });
}

#[test]
fn text_keys_work() {
    on_each(|db| {
        let target = || Target::Keyed(text("a//b"));
        let done = commit(db, vec![Change::Put(put("option", target(), &[("value", text("1"))]))]).unwrap();
        assert_eq!(done.puts[0], PutDone { key: text("a//b"), version: 0, slug: None, revision: None });
        let again = commit(db, vec![Change::Put(put("option", target(), &[]))]);
        assert_eq!(again, Err(CommitError::Refused { tag: "key_taken", row: None }));
        let plan = read("option", &["name", "value"], eq("name", text("a//b")));
        assert_eq!(rows(db, &plan), [[text("a//b"), text("1")]]);
    });
}

#[test]
fn a_write_returns_the_row_that_a_read_finds() {
    on_each(|db| {
        let columns =
            names(&["id", "kind", "slug", "author", "title", "sticky", VERSION, "x_book.isbn", "x_book.pages"]);
        let mut row: Option<Row> = None;
        // Whether a plan returns the row.
        let mut check = |what: &str, changes: Vec<Change>, returns: bool| {
            let done = wait(db.commit(WritePlan::new(changes).returning(&columns))).unwrap();
            let plan = ReadPlan { extensions: names(&["x_book"]), ..read("record", &[], eq("id", int(1))) };
            let read = rows(db, &ReadPlan { columns: columns.clone(), ..plan }).remove(0);
            assert_eq!(done.row.is_some(), returns, "{what}: {:?}", done.row);
            if let Some(set) = done.row {
                let before = row.clone().unwrap_or_else(|| vec![text("not set"); columns.len()]);
                let merged: Row = set.into_iter().zip(before).map(|(set, before)| set.unwrap_or(before)).collect();
                assert_eq!(merged, read, "{what}");
            }
            row = Some(read);
        };
        let set = |more: &[(&str, DbValue)]| put("record", existing(1), more);
        let adding = |column: &str| Put { set: vec![(name(column), Input::Add(2))], ..set(&[]) };
        let comment = || put("comment", Target::New, &[("status", text("approved")), ("post", int(1))]);
        let everywhere = |title: &str| Change::UpdateWhere {
            table: name("record"),
            filter: Cond::All(vec![]),
            set: vec![(name("title"), text(title))],
        };
        let made = Put { slug: Some(slug("post", &["a"])), ..post("publish", 1, "A") };
        check("created", vec![Change::Put(made)], true);
        check("a column", vec![Change::Put(set(&[("title", text("B"))]))], true);
        check("an extension that it did not have", vec![Change::Put(set(&[("x_book.isbn", text("1"))]))], true);
        check("an extension that it has", vec![Change::Put(set(&[("x_book.pages", int(7))]))], true);
        check(
            "null and a new word",
            vec![Change::Put(set(&[("author", DbValue::Null), ("kind", text("page"))]))],
            true,
        );
        check("nothing", vec![Change::Put(set(&[]))], true);
        check("a slug", vec![Change::Put(Put { slug: Some(slug("post", &["b"])), ..set(&[]) })], true);
        let other = || Change::Put(post("draft", 1, "C"));
        check("another row, too", vec![Change::Put(set(&[("sticky", int(1))])), other()], true);
        check("after others", vec![everywhere("D"), Change::Put(set(&[("sticky", int(0))]))], false);
        check(
            "twice",
            vec![Change::Put(set(&[("title", text("E"))])), Change::Put(set(&[("title", text("F"))]))],
            false,
        );
        check("with others", vec![Change::Put(set(&[("sticky", int(1))])), everywhere("G")], false);
        check("counted into", vec![Change::Put(set(&[("sticky", int(0))])), Change::Put(comment())], false);
        check("a sum", vec![Change::Put(adding("sticky"))], false);
        check("a sum in the extension", vec![Change::Put(adding("x_book.pages"))], false);
    });
}

#[test]
fn ids_are_never_given_twice() {
    on_each(|db| {
        let first = id(commit(db, vec![Change::Put(post("draft", 1, "a"))]));
        commit(db, vec![Change::Remove { table: name("record"), key: int(first), expect: None }]).unwrap();
        assert_eq!(id(commit(db, vec![Change::Put(post("draft", 1, "b"))])), first + 1);
        let keyed = |id| Put { target: Target::Keyed(int(id)), ..post("draft", 1, "c") };
        assert_eq!(id(commit(db, vec![Change::Put(keyed(50))])), 50);
        assert_eq!(id(commit(db, vec![Change::Put(post("draft", 1, "d"))])), 51);
        assert_eq!(id(commit(db, vec![Change::Put(keyed(20))])), 20);
        assert_eq!(id(commit(db, vec![Change::Put(post("draft", 1, "e"))])), 52);
        let taken = commit(db, vec![Change::Put(keyed(51))]);
        assert_eq!(taken, Err(CommitError::Refused { tag: "key_taken", row: None }));
    });
}

#[test]
fn versions_rise_and_guard() {
    on_each(|db| {
        let id = id(commit(db, vec![Change::Put(post("draft", 1, "a"))]));
        let write = |expect| {
            let target = Target::Existing { key: int(id), expect };
            commit(db, vec![Change::Put(put("record", target, &[("title", text("b"))]))]).map(|d| d.puts[0].version)
        };
        assert_eq!(write(None), Ok(2));
        assert_eq!(write(Some(2)), Ok(3));
        assert_eq!(write(Some(2)), Err(CommitError::Stale));
        let remove = |expect| commit(db, vec![Change::Remove { table: name("record"), key: int(id), expect }]);
        assert_eq!(remove(Some(1)), Err(CommitError::Stale));
        assert!(remove(Some(3)).is_ok());
        assert_eq!(remove(None), Err(CommitError::Stale));
        assert_eq!(write(None), Err(CommitError::Stale));
    });
}

#[test]
fn a_refused_plan_leaves_nothing() {
    on_each(|db| {
        let taken = |found, tag| Change::Require { plan: read("record", &["id"], eq("title", text("a"))), found, tag };
        commit(db, vec![taken(false, "exists"), Change::Put(post("draft", 1, "a"))]).unwrap();
        let again = commit(db, vec![Change::Put(post("odd word", 1, "b")), taken(false, "exists")]);
        assert_eq!(again, Err(CommitError::Refused { tag: "exists", row: Some(vec![int(1)]) }));
        let missing = Change::Require { plan: read("record", &["id"], eq("title", text("z"))), found: true, tag: "no" };
        assert_eq!(commit(db, vec![missing]), Err(CommitError::Refused { tag: "no", row: None }));
        assert_eq!(rows(db, &read("record", &["status"], Cond::All(vec![]))), [[text("draft")]]);
        commit(db, vec![Change::Put(post("odder word", 1, "c")), Change::Put(post("odd word", 1, "d"))]).unwrap();
        let plan = read("record", &["title"], eq("status", text("odd word")));
        assert_eq!(rows(db, &plan), [[text("d")]]);
        let term = || Change::Put(put("term", Target::New, &[("taxonomy", text("tag")), ("name", text("t"))]));
        commit(db, vec![term()]).unwrap();
        let column = Some(vec![text("term.taxonomy")]);
        assert_eq!(commit(db, vec![term()]), Err(CommitError::Refused { tag: "duplicate", row: column }));
    });
}

#[test]
fn puts_of_a_plan_may_refer_to_each_other() {
    on_each(|db| {
        let mut child = post("draft", 1, "child");
        child.set.push((name("parent"), Input::IdOf(0)));
        child.slug = Some(slug("post", &["child"]));
        let pieces = vec![Piece::Literal("/?p=".into()), Piece::Id, Piece::Literal("&s=".into()), Piece::Slug];
        child.set.push((name("extra"), Input::Text(pieces)));
        let done = commit(db, vec![Change::Put(post("draft", 1, "parent")), Change::Put(child)]).unwrap();
        assert_eq!(done.puts[1].slug.as_deref(), Some("child"));
        let plan = read("record", &["parent", "extra"], eq("title", text("child")));
        assert_eq!(rows(db, &plan), [[int(1), text("/?p=2&s=child")]]);
    });
}

#[test]
fn slugs_are_claimed_once() {
    on_each(|db| {
        let new = |candidates: &[&str]| {
            let claim = slug("post", candidates);
            let done = commit(db, vec![Change::Put(Put { slug: Some(claim), ..post("publish", 1, "x") })]).unwrap();
            done.puts[0].slug.clone().unwrap().to_string()
        };
        assert_eq!(new(&["a"]), "a");
        assert_eq!(new(&["a"]), "a-2");
        assert_eq!(new(&["a-4"]), "a-4");
        assert_eq!(new(&["a", "b"]), "b");
        assert_eq!(new(&["a"]), "a-3");
        assert_eq!(new(&["a"]), "a-5");
        let snapshot = db.snapshot().unwrap();
        assert_eq!(snapshot.slug("post", "a-4").unwrap(), Some(3));
        assert_eq!(snapshot.slug("page", "a-4").unwrap(), None);
        drop(snapshot);
        assert_eq!(new(&[SlugClaim::ID]), "7");
        // Row 2 has a-2: it keeps it when it wants it, otherwise gives it up; then a-2 is the smallest free one.
        let claim = |id, claim| {
            let put = Put { slug: Some(claim), ..put("record", existing(id), &[]) };
            commit(db, vec![Change::Put(put)]).map(|d| d.puts[0].slug.clone().unwrap().to_string())
        };
        assert_eq!(claim(2, slug("post", &["z", "a-2"])), Ok("a-2".into()));
        assert_eq!(claim(2, slug("post", &["z"])), Ok("z".into()));
        assert_eq!(claim(2, slug("post", &["a"])), Ok("a-2".into()));
        assert_eq!(claim(2, SlugClaim { scope: None, ..slug("post", &["draft"]) }), Ok("draft".into()));
        assert_eq!(new(&["a"]), "a-2");
        let refused = claim(2, SlugClaim { refuse: Some("slug_taken"), ..slug("post", &["a"]) });
        assert_eq!(refused, Err(CommitError::Refused { tag: "slug_taken", row: Some(vec![int(1)]) }));
        // A put without a slug leaves the claim, a removal gives it up.
        commit(db, vec![Change::Put(put("record", existing(1), &[("title", text("y"))]))]).unwrap();
        assert_eq!(db.snapshot().unwrap().slug("post", "a").unwrap(), Some(1));
        commit(db, vec![Change::Remove { table: name("record"), key: int(1), expect: None }]).unwrap();
        assert_eq!(new(&["a"]), "a");
        let plan = read("record", &["slug"], eq("id", int(2)));
        assert_eq!(rows(db, &plan), [[text("draft")]]);
    });
}

#[test]
fn slugs_of_plans_that_are_committed_together_are_claimed_once() {
    on_each_outside(|db| {
        let claimed = |wanted: &[&str]| -> Vec<String> {
            // They wait while the first one is committed.
            let put = |slug_: &&str| Put { slug: Some(slug("post", &[slug_])), ..post("publish", 1, "x") };
            let waiting: Vec<_> =
                wanted.iter().map(|one| db.commit(WritePlan::new(vec![Change::Put(put(one))]))).collect();
            let done =
                waiting.into_iter().map(|waiting| wait(waiting).unwrap().puts[0].slug.clone().unwrap().to_string());
            done.collect()
        };
        let first: Vec<String> = (2..20).rev().map(|n| format!("a-{n}")).collect();
        let wanted: Vec<&str> =
            first.iter().map(String::as_str).chain(["a", "b-3", "b-5", "b-4", "a", "b", "b", "a"]).collect();
        let mut expected = first.clone();
        expected.extend(["a", "b-3", "b-5", "b-4", "a-20", "b", "b-2", "a-21"].map(str::to_owned));
        assert_eq!(claimed(&wanted), expected);
        // Rows 1 to 18 have a-19 to a-2; what is given up is free in the same group.
        let give_up = |id: i64| vec![Change::Remove { table: name("record"), key: int(id), expect: None }];
        let plans = [
            give_up(14),
            give_up(9),
            vec![Change::Put(Put { slug: Some(slug("post", &["a"])), ..post("publish", 1, "x") })],
        ];
        let waiting: Vec<_> = plans.into_iter().map(|changes| db.commit(WritePlan::new(changes))).collect();
        let done: Vec<Committed> = waiting.into_iter().map(|waiting| wait(waiting).unwrap()).collect();
        assert_eq!(done[2].puts[0].slug.as_deref(), Some("a-6"));
        assert_eq!(claimed(&["a", "a", "a-7", "b-6", "b"]), ["a-11", "a-22", "a-7-2", "b-6", "b-7"]);
    });
}

#[test]
fn long_slugs_stay_within_200_bytes() {
    on_each(|db| {
        let long = "ü".repeat(100);
        let new = || {
            let claim = slug("post", &[&long]);
            let done = commit(db, vec![Change::Put(Put { slug: Some(claim), ..post("publish", 1, "x") })]).unwrap();
            done.puts[0].slug.clone().unwrap().to_string()
        };
        assert_eq!(new(), long);
        let short = |n: usize| {
            let claim = SlugClaim { longest: 6, ..slug("short", &["abcdef"]) };
            let done = commit(db, vec![Change::Put(Put { slug: Some(claim), ..post("publish", 1, "x") })]).unwrap();
            assert_eq!(done.puts[0].slug.as_deref(), Some(["abcdef", "abcd-2", "abcd-3"][n]));
        };
        (0..3).for_each(short);
        for n in 2..=10 {
            let expected = if n < 10 { format!("{}-{n}", "ü".repeat(99)) } else { format!("{}-{n}", "ü".repeat(98)) };
            assert_eq!(new(), expected);
        }
    });
}

#[test]
fn edges_keep_their_order_and_find_both_ends() {
    on_each(|db| {
        for n in ["x", "y", "z"] {
            commit(db, vec![Change::Put(put("term", Target::New, &[("name", text(n))]))]).unwrap();
        }
        let linked = |edges: &[i64]| Put {
            edges: vec![(name("post.categories"), edges.to_vec()), (name("post.tags"), vec![1])],
            ..post("publish", 1, "x")
        };
        commit(db, vec![Change::Put(linked(&[3, 1, 3]))]).unwrap();
        commit(db, vec![Change::Put(linked(&[2]))]).unwrap();
        let edges = |rels: &[&str], of: &[i64], reverse| {
            let plan = EdgePlan { rels: names(rels), of: of.to_vec(), reverse };
            let edges = db.snapshot().unwrap().edges(&plan).unwrap();
            edges.into_iter().map(|e| (e.rel.to_string(), e.src, e.dst)).collect::<Vec<_>>()
        };
        let category = |src, dst| ("post.categories".to_owned(), src, dst);
        assert_eq!(edges(&["post.categories"], &[2, 1], false), [category(1, 3), category(1, 1), category(2, 2)]);
        assert_eq!(edges(&["post.categories"], &[1, 2], true), [category(1, 1), category(2, 2)]);
        assert_eq!(edges(&["post.categories", "post.tags"], &[2], false).len(), 2);
        let linked = |dst: &[i64]| Cond::Linked { rel: name("post.categories"), dst: dst.to_vec() };
        let not = |c| Cond::Not(Box::new(c));
        for (cond, expected) in [
            (linked(&[1]), vec![1]),
            (linked(&[]), vec![]),
            (linked(&[1, 2]), vec![1, 2]),
            (not(linked(&[1, 3])), vec![2]),
            (Cond::All(vec![linked(&[1]), linked(&[3]), eq("status", text("publish"))]), vec![1]),
            (Cond::All(vec![linked(&[1]), linked(&[2])]), vec![]),
        ] {
            let order = vec![Order::Column(name("date_local"), true)];
            let plan = ReadPlan { order, ..read("record", &["id"], cond.clone()) };
            let mut found = ints(rows(db, &plan));
            found.sort();
            assert_eq!(found, expected, "{cond:?}");
            assert_eq!(db.snapshot().unwrap().count(&plan).unwrap(), expected.len() as u64, "{cond:?}");
        }
        let terms = read("term", &["name"], Cond::LinkedFrom { rel: name("post.categories"), src: vec![1] });
        assert_eq!(rows(db, &terms), [[text("x")], [text("z")]]);
        assert_eq!(counts(db), [3, 1, 1]);
        commit(db, vec![Change::Put(put("record", existing(1), &[("status", text("private"))]))]).unwrap();
        assert_eq!(counts(db), [2, 1, 0], "private posts count under their tags only");
        let unlink = Change::Unlink { rel: name("post.categories"), dst: 2, instead: Some(3) };
        assert_eq!(commit(db, vec![unlink]).unwrap().touched, 1);
        assert_eq!(edges(&["post.categories"], &[2], false), [category(2, 3)]);
        assert_eq!(counts(db), [2, 0, 1]);
        commit(db, vec![Change::Remove { table: name("term"), key: int(3), expect: None }]).unwrap();
        assert_eq!(edges(&["post.categories"], &[1, 2], false), [category(1, 1)]);
        let versions = read("record", &[VERSION], Cond::All(vec![]));
        assert_eq!(ints(rows(db, &versions)), [3, 3]);
    });
}

fn counts(db: &dyn Storage) -> Vec<i64> {
    let plan =
        ReadPlan { order: vec![Order::Column(name("id"), false)], ..read("term", &["count"], Cond::All(vec![])) };
    ints(rows(db, &plan))
}

#[test]
fn counts_raise_the_version_that_the_plan_reports() {
    on_each(|db| {
        let mut comment = put("comment", Target::New, &[("status", text("approved"))]);
        comment.set.push((name("post"), Input::IdOf(0)));
        let done = commit(db, vec![Change::Put(post("publish", 1, "x")), Change::Put(comment)]).unwrap();
        assert_eq!(done.puts[0].version, 2);
        let row = rows(db, &read("record", &[VERSION, "comment_count"], Cond::All(vec![])));
        assert_eq!(row, [[int(2), int(1)]]);
        let hold = put("comment", existing(1), &[("status", text("hold"))]);
        let count_is = |n: i64, tag| Change::Require {
            plan: read("record", &["id"], eq("comment_count", int(n))),
            found: true,
            tag,
        };
        let plan = vec![count_is(1, "before"), Change::Put(hold), count_is(0, "after")];
        commit(db, plan).unwrap();
    });
}

#[test]
fn meta_holds_several_values_of_a_key() {
    on_each(|db| {
        let meta = |values: &[&str]| vec![MetaChange::Key(name("k"), values.iter().map(|v| Arc::from(*v)).collect())];
        let id = id(commit(db, vec![Change::Put(Put { meta: meta(&["1", "2"]), ..post("draft", 1, "x") })]));
        let read_meta = || {
            let rows = db.snapshot().unwrap().meta(&name("content"), &[id]).unwrap();
            rows.into_iter().map(|m| m.json.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(read_meta(), ["1", "2"]);
        let by_meta = Cond::Related {
            table: name("meta"),
            inner: name("id"),
            outer: name("id"),
            filter: Box::new(Cond::All(vec![
                eq("space", text("content")),
                eq("key", text("k")),
                eq("json", text("2")),
            ])),
        };
        assert_eq!(rows(db, &read("record", &["id"], by_meta)), [[int(id)]]);
        let change = |values: &[&str]| Put { meta: meta(values), ..put("record", existing(id), &[]) };
        assert_eq!(commit(db, vec![Change::Put(change(&["3"]))]).unwrap().puts[0].version, 2);
        assert_eq!(read_meta(), ["3"]);
        commit(db, vec![Change::Put(change(&[]))]).unwrap();
        assert!(read_meta().is_empty());
    });
}

#[test]
fn single_values_are_changed_by_their_numbers() {
    on_each(|db| {
        let meta = |id: i64| {
            let rows = db.snapshot().unwrap().meta(&name("content"), &[id]).unwrap();
            rows.into_iter().map(|m| (m.number, format!("{}={}", m.key, m.json))).collect::<Vec<_>>()
        };
        let texts = |id: i64| meta(id).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        let add = |key: &str, json: &str| MetaChange::Add(name(key), Arc::from(json));
        let change = |id: i64, meta: Vec<MetaChange>| {
            let done = commit(db, vec![Change::Put(Put { meta, ..put("record", existing(id), &[]) })]).unwrap();
            done.puts[0].version
        };
        let adds = vec![add("k", "1"), add("j", "2"), add("k", "3")];
        let one = id(commit(db, vec![Change::Put(Put { meta: adds, ..post("draft", 1, "x") })]));
        let other = id(commit(db, vec![Change::Put(Put { meta: vec![add("k", "9")], ..post("draft", 1, "y") })]));
        assert_eq!(texts(one), ["j=2", "k=1", "k=3"]);
        let numbers: Vec<i64> = meta(one).into_iter().chain(meta(other)).map(|(number, _)| number).collect();
        assert_eq!(numbers.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "{numbers:?}");

        assert_eq!(change(one, vec![MetaChange::Set(numbers[1], "4".into()), MetaChange::Remove(numbers[0])]), 2);
        assert_eq!(meta(one), [(numbers[1], "k=4".into()), (numbers[2], "k=3".into())]);
        // A number of another row's value, or of none, names nothing here.
        change(one, vec![MetaChange::Set(numbers[3], "5".into()), MetaChange::Remove(numbers[3])]);
        change(one, vec![MetaChange::Remove(numbers[0]), MetaChange::Remove(-1)]);
        assert_eq!(texts(one), ["k=4", "k=3"]);
        assert_eq!(texts(other), ["k=9"]);
        // Values that are set by key keep the numbers of those that they replace.
        change(one, vec![MetaChange::Key(name("k"), vec!["6".into()])]);
        assert_eq!(meta(one), [(numbers[1], "k=6".into())]);
        // A number is not given twice.
        change(one, vec![MetaChange::Remove(numbers[1]), add("k", "7")]);
        assert!(meta(one).iter().all(|(number, _)| !numbers.contains(number)));
        let remove = Change::Remove { table: name("record"), key: DbValue::Int(one), expect: None };
        commit(db, vec![remove]).unwrap();
        assert!(meta(one).is_empty());
    });
}

#[test]
fn several_revisions_of_a_put_are_stored_in_their_order() {
    on_each(|db| {
        let row = id(commit(db, vec![Change::Put(post("draft", 1, "x"))]));
        let revision = |at: i64, json: &str| RevisionPut {
            author: 1,
            at,
            autosave: false,
            json: json.into(),
            keep: Some(2),
            skip_same: true,
        };
        let write = |revisions: Vec<RevisionPut>| {
            let put = Put { revisions, ..put("record", existing(row), &[]) };
            commit(db, vec![Change::Put(put)]).unwrap().puts[0].revision
        };
        let plan = ReadPlan {
            order: vec![Order::Column(name("id"), false)],
            ..read("revision", &["at", "json"], Cond::All(vec![eq("space", text("content")), eq("of", int(row))]))
        };
        assert_eq!(write(vec![revision(1, "before"), revision(5, "after")]), Some(3));
        assert_eq!(rows(db, &plan), [[int(1), text("before")], [int(5), text("after")]]);
        // A revision equal to the newest is not stored again, and the oldest go.
        assert_eq!(write(vec![revision(5, "after"), revision(6, "after")]), None);
        assert_eq!(write(vec![revision(5, "after"), revision(6, "later")]), Some(4));
        assert_eq!(rows(db, &plan), [[int(5), text("after")], [int(6), text("later")]]);
    });
}

#[test]
fn revisions_are_kept_beside_the_row() {
    on_each(|db| {
        let id = id(commit(db, vec![Change::Put(post("draft", 1, "x"))]));
        let at = std::cell::Cell::new(0);
        let write = |json: &str, change: fn(&mut RevisionPut)| {
            at.set(at.get() + 1);
            let mut revision = RevisionPut {
                author: 1,
                at: at.get(),
                autosave: false,
                json: json.into(),
                keep: Some(2),
                skip_same: true,
            };
            change(&mut revision);
            let put = Put { revisions: vec![revision], ..put("record", existing(id), &[]) };
            let done = commit(db, vec![Change::Put(put)]).unwrap();
            assert_eq!(done.puts[0].version, 1, "a revision alone changes nothing that is shown");
            done.puts[0].revision
        };
        assert_eq!(write("a", |_| ()), Some(2));
        assert_eq!(write("a", |_| ()), None);
        assert_eq!(write("a", |r| r.skip_same = false), Some(3));
        assert_eq!(write("draft", |r| r.autosave = true), Some(4));
        assert_eq!(write("draft 2", |r| r.autosave = true), Some(4));
        assert_eq!(write("other", |r| (r.autosave, r.author) = (true, 2)), Some(5));
        assert_eq!(write("b", |_| ()), Some(6));
        let plan = ReadPlan {
            order: vec![Order::Column(name("id"), false)],
            ..read("revision", &["id", "json"], Cond::All(vec![eq("space", text("content")), eq("of", int(id))]))
        };
        let found: Vec<Row> = rows(db, &plan);
        assert_eq!(
            found,
            [[int(3), text("a")], [int(4), text("draft 2")], [int(5), text("other")], [int(6), text("b")]]
        );
        // Another space's revisions may have the same ids.
        let order = || put("x_order", Target::New, &[]);
        let revision =
            RevisionPut { author: 1, at: 1, autosave: false, json: "o".into(), keep: None, skip_same: false };
        let done = commit(db, vec![Change::Put(order()), Change::Put(order())]).unwrap();
        let put = Put {
            target: Target::Existing { key: done.puts[0].key.clone(), expect: None },
            revisions: vec![revision],
            ..order()
        };
        assert_eq!(commit(db, vec![Change::Put(put)]).unwrap().puts[0].revision, Some(3));
        let brought = |id: Option<i64>| {
            let mut set = vec![("space", text("content")), ("of", int(1)), ("json", text("old"))];
            set.extend(id.map(|id| ("id", int(id))));
            commit(db, vec![Change::Put(self::put("revision", Target::New, &set))])
        };
        assert!(brought(Some(40)).is_ok());
        assert!(matches!(brought(Some(40)), Err(CommitError::Refused { tag: "duplicate", .. })));
        assert!(brought(None).is_ok());
        assert_eq!(self::id(commit(db, vec![Change::Put(post("draft", 1, "y"))])), 42);
        commit(db, vec![Change::Remove { table: name("record"), key: int(id), expect: None }]).unwrap();
        assert!(rows(db, &plan).is_empty());
    });
}

#[test]
fn many_rows_change_at_once() {
    on_each(|db| {
        seeds(db);
        let update = Change::UpdateWhere {
            table: name("record"),
            filter: Cond::Compare(name("date_local"), Op::Ge, int(2)),
            set: vec![(name("status"), text("trash")), (name("x_book.pages"), int(9))],
        };
        assert_eq!(commit(db, vec![update]).unwrap().touched, 2);
        let trash = eq("status", text("trash"));
        let plan = read("record", &[VERSION], trash.clone());
        assert_eq!(ints(rows(db, &plan)), [2, 2]);
        let remove =
            Change::RemoveWhere { table: name("record"), filter: Cond::All(vec![trash, eq("x_book.pages", int(9))]) };
        assert_eq!(commit(db, vec![remove]).unwrap().touched, 2);
        assert_eq!(db.snapshot().unwrap().count(&read("record", &[], Cond::All(vec![]))).unwrap(), 2);
    });
}

#[test]
fn settings_are_documents() {
    on_each_outside(|db| {
        let set = |json: Option<&str>| {
            let change = Change::Setting { key: name("general"), json: json.map(Arc::from) };
            commit(db, vec![change]).unwrap();
            db.snapshot().unwrap().setting(&name("general")).unwrap().map(|json| json.to_string())
        };
        assert_eq!(set(Some("{}")).as_deref(), Some("{}"));
        assert_eq!(set(Some("[1]")).as_deref(), Some("[1]"));
        assert_eq!(set(None), None);
        assert_eq!(db.scope_version(&name("setting")), 3);
        let put = |members: serde_json::Value| {
            let members = members.as_object().expect("members").clone();
            commit(db, vec![Change::SettingMembers { key: name("general"), members }]).unwrap();
            db.snapshot().unwrap().setting(&name("general")).unwrap().map(|json| json.to_string())
        };
        assert_eq!(put(serde_json::json!({"a": 1, "b": null})).as_deref(), Some("{\"a\":1,\"b\":null}"));
        assert_eq!(put(serde_json::json!({"b": 2})).as_deref(), Some("{\"a\":1,\"b\":2}"));
    });
}

#[test]
fn generations_grow_with_what_was_written() {
    on_each_outside(|db| {
        let scopes = ["record", "record:post", "record:page", "term", "post.categories", "revision"];
        let versions = || scopes.map(|scope| db.scope_version(&name(scope)));
        assert_eq!(versions(), [0; 6]);
        commit(db, vec![Change::Put(put("term", Target::New, &[]))]).unwrap();
        assert_eq!(versions(), [0, 0, 0, 1, 0, 0]);
        let linked = Put { edges: vec![(name("post.categories"), vec![1])], ..post("publish", 1, "x") };
        let id = id(commit(db, vec![Change::Put(linked)]));
        assert_eq!(versions(), [1, 1, 0, 2, 1, 0]);
        commit(db, vec![Change::Put(put("record", existing(id), &[("kind", text("page"))]))]).unwrap();
        assert_eq!(versions(), [2, 2, 1, 2, 1, 0]);
        let revision = RevisionPut { author: 1, at: 1, autosave: true, json: "".into(), keep: None, skip_same: false };
        let autosave = Put { revisions: vec![revision], ..put("record", existing(id), &[]) };
        commit(db, vec![Change::Put(autosave)]).unwrap();
        assert_eq!(versions(), [2, 2, 1, 2, 1, 1], "an autosave leaves lists of records as they are");
        let refused = Change::Require { plan: read("term", &["id"], Cond::Any(vec![])), found: true, tag: "no" };
        commit(db, vec![Change::Put(put("term", Target::New, &[])), refused]).unwrap_err();
        assert_eq!(versions(), [2, 2, 1, 2, 1, 1]);
    });
}

#[test]
fn what_a_read_depends_on_grows_when_it_would_read_something_else() {
    on_each_outside(|db| dependencies_grow(db, db));
}

/// Runs a test on each backend with two processes that share a database.
fn on_each_shared(feed: FeedRetention, test: fn(&dyn Storage, &dyn Storage)) {
    let site = site();
    let open = || Sqlite::open(OpenOptions { feed, ..OpenOptions::new(site.folder.path().join("site.db")) }, &layout());
    test(&open().unwrap(), &open().unwrap());
    if let Some(schema) = TestSchema::create() {
        let open = || Postgres::open(&PgOptions { feed, ..PgOptions::new(&schema.url) }, &layout());
        test(&open().unwrap(), &open().unwrap());
    }
}

#[test]
fn what_another_process_writes_raises_what_it_raises_there() {
    on_each_shared(FeedRetention::default(), |here, there| {
        dependencies_grow(here, there);
        let others = || {
            here.catch_up().unwrap();
            here.slot_version(VersionSlot::OTHERS)
        };
        let before = others();
        commit(there, vec![Change::Put(put("option", Target::Keyed(text("a")), &[("value", text("1"))]))]).unwrap();
        commit(there, vec![Change::Setting { key: name("general"), json: Some("1".into()) }]).unwrap();
        commit(there, vec![Change::Put(post("a new word", 1, "x"))]).unwrap();
        assert_eq!(others(), before, "entries say all of it");
        let many = (0..2100).map(|_| Change::Put(put("x_order", Target::New, &[]))).collect();
        commit(there, many).unwrap();
        assert!(others() > before, "too many to be read");
        // A process that listens takes the many up a second time, in its own time.
        let is_exact_again = (0..100).any(|_| {
            let after = others();
            commit(there, vec![Change::Put(post("publish", 1, "x"))]).unwrap();
            others() == after
        });
        assert!(is_exact_again);
    });
}

#[test]
fn the_change_feed_says_what_happened() {
    on_each_shared(FeedRetention::default(), |db, _| {
        let revision = RevisionPut { author: 1, at: 1, autosave: true, json: "".into(), keep: None, skip_same: false };
        let one = id(commit(db, vec![Change::Put(post("draft", 1, "One"))]));
        let set = |set: &[(&str, DbValue)]| Change::Put(put("record", existing(one), set));
        let by =
            WritePlan::new(vec![set(&[("title", text("Two")), ("slug", text("two")), ("status", text("publish"))])]);
        let by = by.by(Some(7), 2);
        wait(db.commit(by)).unwrap();
        commit(db, vec![set(&[("title", text("a"))]), set(&[("content", text("b")), ("status", text("draft"))])])
            .unwrap();
        commit(db, vec![Change::Put(Put { revisions: vec![revision], ..put("record", existing(one), &[]) })]).unwrap();
        commit(db, vec![set(&[("kind", text("page"))])]).unwrap();
        let refused = Change::Require { plan: read("term", &["id"], Cond::Any(vec![])), found: true, tag: "no" };
        commit(db, vec![set(&[("title", text("never"))]), refused]).unwrap_err();
        commit(db, vec![Change::Put(put("option", Target::Keyed(text("a")), &[("value", text("1"))]))]).unwrap();
        commit(db, vec![Change::Setting { key: name("general"), json: Some("1".into()) }]).unwrap();
        commit(db, vec![set(&[("slug", text("three"))]), set(&[("slug", text("four"))])]).unwrap();
        commit(db, vec![Change::Remove { table: name("record"), key: int(one), expect: None }]).unwrap();
        let columns = [
            "table",
            "kind",
            "id",
            "key",
            "action",
            "status_before",
            "status_after",
            "columns",
            "actor",
            "slug_before",
            "class",
            "author_before",
            "depth",
        ];
        let plan = ReadPlan {
            order: vec![Order::Column(name("seq"), false)],
            ..read("change_feed", &columns, Cond::All(vec![]))
        };
        let shown = |value: &DbValue| match value {
            DbValue::Null => "-".to_owned(),
            DbValue::Int(n) => n.to_string(),
            DbValue::Real(n) => n.to_string(),
            DbValue::Text(text) => text.to_string(),
        };
        let line = |row: &Row| row.iter().map(shown).collect::<Vec<_>>().join(",");
        let lines: Vec<String> = rows(db, &plan).iter().map(line).collect();
        assert_eq!(
            lines,
            [
                "record,post,1,-,create,-,draft,-,-,-,-,-,-",
                "record,post,1,-,update,draft,publish,status slug title,7,-,-,-,2",
                "record,post,1,-,update,publish,draft,title status content,-,two,-,-,-",
                "record,-,1,-,revise,-,-,-,-,-,-,-,-",
                "record,post,1,-,delete,draft,draft,kind,-,two,-,0,-",
                "record,page,1,-,create,draft,draft,kind,-,-,-,-,-",
                "option,-,-,a,create,-,-,-,-,-,-,-,-",
                "setting,-,-,general,update,-,-,-,-,-,-,-,-",
                "record,page,1,-,update,draft,draft,slug,-,two,-,-,-",
                "record,page,1,-,delete,draft,-,-,-,four,-,0,-",
            ]
        );
        let numbers = ReadPlan { columns: names(&["seq", "in_commit"]), ..plan };
        let numbers = rows(db, &numbers);
        assert_eq!(ints(numbers.clone()), (1..=10).collect::<Vec<_>>(), "without gaps");
        let commits: Vec<i64> = numbers.iter().map(|row| if let DbValue::Int(n) = row[1] { n } else { 0 }).collect();
        assert!(commits.is_sorted() && commits[4] == commits[5], "{commits:?}");
    });
}

#[test]
fn the_change_feed_says_which_targets_a_row_had() {
    on_each_shared(FeedRetention::default(), |db, _| {
        let linked = |target: Target, edges: &[(&str, &[i64])]| {
            let edges = edges.iter().map(|(rel, to)| (name(rel), to.to_vec())).collect();
            Change::Put(Put { edges, ..put("record", target, &[("title", text("x"))]) })
        };
        let new = Put { edges: vec![(name("post.categories"), vec![1, 2, 3])], ..post("publish", 1, "x") };
        let one = id(commit(db, vec![Change::Put(new)]));
        let told = |edges: &[(&str, &[i64])]| {
            commit(db, vec![linked(existing(one), edges)]).unwrap();
            let plan = ReadPlan {
                order: vec![Order::Column(name("seq"), true)],
                limit: Some(1),
                ..read("change_feed", &["targets_before"], Cond::All(vec![]))
            };
            rows(db, &plan)[0][0].clone()
        };
        assert_eq!(told(&[("post.categories", &[1, 2, 3])]), DbValue::Null, "the same");
        assert_eq!(told(&[("post.categories", &[2, 4])]), text("post.categories:1,3"));
        assert_eq!(told(&[("post.categories", &[2, 4, 5]), ("post.tags", &[9])]), text("post.categories: post.tags:"));
        let many: Vec<i64> = (10..1200).collect();
        told(&[("post.categories", &many)]);
        let DbValue::Text(told) = told(&[("post.categories", &[]), ("post.tags", &[])]) else { panic!("no text") };
        assert!(told.contains(",1009,+ ") && told.ends_with("post.tags:+"), "{told}");
    });
}

#[test]
fn old_entries_of_the_change_feed_are_deleted() {
    let keep = FeedRetention { entries: 1000, ..FeedRetention::default() };
    fn length(db: &dyn Storage) -> u64 {
        db.snapshot().unwrap().count(&read("change_feed", &[], Cond::All(vec![]))).unwrap()
    }
    fn orders(db: &dyn Storage, n: usize) {
        commit(db, (0..n).map(|_| Change::Put(put("x_order", Target::New, &[]))).collect()).unwrap();
    }
    on_each_shared(keep, |db, other| {
        orders(db, 3000);
        orders(db, 2000);
        let newest = length(db);
        assert!((1000..2100).contains(&newest), "{newest}");
        commit(other, vec![Change::Put(post("publish", 1, "x"))]).unwrap();
        let seq = ints(rows(db, &read("change_feed", &["seq"], eq("table", text("record")))));
        assert_eq!(seq, [5001], "numbers go on");
    });
    on_each_shared(FeedRetention { age: std::time::Duration::ZERO, ..FeedRetention::default() }, |db, _| {
        orders(db, 3000);
        orders(db, 1100);
        assert_eq!(length(db), 1900, "twice as many as were added");
    });
}

/// Whether what reads `here` depend on grows exactly when a commit `there` lets them read something else.
fn dependencies_grow(here: &dyn Storage, there: &dyn Storage) {
    let made: Vec<i64> =
        ["a", "b"].map(|title| id(commit(there, vec![Change::Put(post("publish", 1, title))]))).to_vec();
    commit(there, vec![Change::Put(put("record", Target::New, &[("kind", text("page"))]))]).unwrap();
    let posts = |more: Vec<Cond>| Cond::All([vec![eq("kind", text("post"))], more].concat());
    let first = || read("record", &["id", "content"], posts(vec![eq("id", int(made[0]))]));
    let published = || read("record", &["id", "title"], posts(vec![eq("status", text("publish"))]));
    let titles = || ReadPlan {
        limit: Some(1),
        order: vec![Order::Column(name("title"), false)],
        ..read("record", &["id"], posts(vec![]))
    };
    let statuses = || read("record", &["status"], posts(vec![]));
    let all = || read("record", &["id"], Cond::All(vec![]));
    let plans = [first(), published(), titles(), statuses(), all()];
    let sums = || {
        here.catch_up().unwrap();
        plans.each_ref().map(|plan| {
            let snapshot = here.snapshot().unwrap();
            let request = ReadRequest::Rows(plan);
            let on = snapshot.dependencies(request, &snapshot.read(request).unwrap()).unwrap();
            assert!(on.scopes.is_empty(), "{on:?}");
            on.slots.iter().map(|slot| here.slot_version(*slot)).sum::<u64>()
        })
    };
    let set = |id: i64, column: &str, value: DbValue| put("record", existing(id), &[(column, value)]);
    let [one, two] = [made[0], made[1]];
    for (what, change, grow) in [
        ("the other's content", set(two, "content", text("x")), [false, true, false, false, true]),
        ("its content", set(one, "content", text("x")), [true, true, true, false, true]),
        ("a title that is sorted by", set(two, "title", text("c")), [false, true, true, false, true]),
        ("the same status", set(two, "status", text("publish")), [false, true, false, false, true]),
        ("another status", set(two, "status", text("draft")), [false, true, false, true, true]),
        ("a page", put("record", Target::New, &[("kind", text("page"))]), [false, false, false, false, true]),
        ("a post", post("publish", 1, "d"), [false, true, true, true, true]),
        ("another kind", set(two, "kind", text("page")), [false, true, true, true, true]),
    ] {
        let before = sums();
        commit(there, vec![Change::Put(change)]).unwrap();
        let after = sums();
        let grown = [0, 1, 2, 3, 4].map(|n| after[n] != before[n]);
        assert_eq!(grown, grow, "{what}");
    }
}

#[test]
fn mistakes_in_plans_are_told() {
    on_each(|db| {
        let read_fails = |plan: ReadPlan| db.snapshot().unwrap().rows(&plan).unwrap_err().to_string();
        let any = || Cond::All(vec![]);
        assert_eq!(read_fails(read("nowhere", &["id"], any())), "there is no table nowhere");
        assert_eq!(read_fails(read("record", &["nothing"], any())), "the table record has no column nothing");
        let linked = Cond::Linked { rel: name("post.friends"), dst: vec![1] };
        assert_eq!(read_fails(read("record", &["id"], linked)), "there is no relation post.friends");
        let plan = read("record", &["x_book.isbn"], any());
        assert_eq!(read_fails(plan), "x_book.isbn: the plan does not join the table x_book");
        let write_fails = |put: Put| match commit(db, vec![Change::Put(put)]) {
            Err(CommitError::Failed(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(write_fails(put("meta", Target::New, &[])), "rows of meta are made by the writer alone");
        assert_eq!(write_fails(put("option", Target::New, &[])), "a new row of option needs a key");
        let stray = put("record", Target::New, &[("x_order.note", text(""))]);
        assert_eq!(write_fails(stray), "the table x_order does not extend record");
    });
}

// ------------------------------------------------------------------------------------------------ transactions

fn titles(db: &dyn Storage) -> Vec<Row> {
    rows(db, &read("record", &["title"], Cond::All(vec![])))
}

/// All posts, those in the first category, and the count that the category stores.
fn tallies(db: &dyn Storage) -> (u64, u64, Vec<Row>) {
    let snapshot = db.snapshot().unwrap();
    let count = |cond: Cond| snapshot.count(&read("record", &[], cond)).unwrap();
    let linked = Cond::Linked { rel: name("post.categories"), dst: vec![1] };
    let told = snapshot.rows(&read("term", &["count"], Cond::All(vec![]))).unwrap();
    (count(eq("kind", text("post"))), count(linked), told)
}

#[test]
fn a_transaction_is_seen_as_a_whole_or_not_at_all() {
    on_each_outside(|db| {
        commit(db, vec![Change::Put(put("term", Target::New, &[]))]).unwrap();
        let linked = |status| Put { edges: vec![(name("post.categories"), vec![1])], ..post(status, 1, "In it") };
        for finished in [false, true] {
            let before = (tallies(db), db.scope_version(&name("record")), db.scope_version(&name("commits")));
            let transaction = wait(db.begin()).unwrap();
            let inside = &*transaction as &dyn Storage;
            let first = id(commit(inside, vec![Change::Put(linked("publish"))]));
            assert_eq!(tallies(inside), (1, 1, vec![vec![int(1)]]));
            let second = id(commit(inside, vec![Change::Put(linked("a new word"))]));
            assert_eq!(tallies(inside), (2, 2, vec![vec![int(1)]]));
            let named = read("record", &["status"], eq("id", int(second)));
            assert_eq!(rows(inside, &named), [[text("a new word")]]);
            let refused = Change::Require { plan: read("term", &["id"], Cond::Any(vec![])), found: true, tag: "no" };
            commit(inside, vec![Change::Put(linked("publish")), refused]).unwrap_err();
            assert_eq!(tallies(inside), (2, 2, vec![vec![int(1)]]), "a refused plan undoes only itself");
            commit(inside, vec![Change::Remove { table: name("record"), key: int(first), expect: None }]).unwrap();
            assert_eq!(tallies(inside), (1, 1, vec![vec![int(0)]]));
            let outside = (tallies(db), db.scope_version(&name("record")), db.scope_version(&name("commits")));
            assert_eq!(outside, before, "nobody else sees any of it");
            if finished {
                wait(transaction.finish()).unwrap();
                assert_eq!(tallies(db), (1, 1, vec![vec![int(0)]]));
                assert!(db.scope_version(&name("record")) > before.1);
                assert_eq!(rows(db, &named), [[text("a new word")]]);
            }
            assert!(finished || titles(db).is_empty());
        }
        assert_eq!(titles(db), [[text("In it")]]);
    });
}

#[test]
fn a_dropped_transaction_leaves_nothing_and_lets_others_go_on() {
    on_each_outside(|db| {
        let write = |title: &str| commit(db, vec![Change::Put(post("another new word", 1, title))]);
        let transaction = wait(db.begin()).unwrap();
        commit(&*transaction, vec![Change::Put(post("a new word", 1, "Lost"))]).unwrap();
        let waiting = db.commit(WritePlan::new(vec![Change::Put(post("publish", 1, "Waited"))]));
        let next = db.begin();
        drop(db.begin());
        assert_eq!(titles(db), Vec::<Row>::new(), "it waits");
        drop(transaction);
        wait(waiting).unwrap();
        assert_eq!(titles(db), [[text("Waited")]]);
        drop(wait(next).unwrap());
        write("Later").unwrap();
        assert_eq!(titles(db), [[text("Waited")], [text("Later")]]);
        let named = rows(db, &read("record", &["status"], eq("title", text("Later"))));
        assert_eq!(named, [[text("another new word")]]);
    });
}

#[test]
fn a_transaction_ends_once_and_holds_no_other() {
    on_each_outside(|db| {
        let transaction = wait(db.begin()).unwrap();
        assert!(matches!(wait(transaction.begin()), Err(CommitError::Failed(_))));
        wait(transaction.finish()).unwrap();
        let late = commit(&*transaction, vec![Change::Put(post("publish", 1, "Late"))]);
        assert!(matches!(late, Err(CommitError::Unavailable(_))), "{late:?}");
        assert!(transaction.snapshot().unwrap().rows(&read("record", &["id"], Cond::All(vec![]))).is_err());
        assert!(wait(transaction.finish()).is_err());
        assert_eq!(titles(db), Vec::<Row>::new());
    });
}

// ------------------------------------------------------------------------------------------------ copies

/// Writes something into each table.
fn fill(db: &dyn Database) {
    let revision = RevisionPut { author: 1, at: 1, autosave: false, json: "{}".into(), keep: None, skip_same: false };
    let meta = |key: &str| MetaChange::Key(name(key), vec!["1".into(), "\"zwölf\"".into()]);
    let terms = (0..3).map(|n| Change::Put(put("term", Target::New, &[("name", text(&format!("Term {n}")))])));
    commit(db, terms.collect()).unwrap();
    let long = "ä".repeat(5000);
    let posts = (0..2500).map(|n| {
        Change::Put(Put {
            slug: Some(slug("posts", &["equal"])),
            edges: vec![(name("post.categories"), vec![1 + n % 3])],
            meta: if n < 5 { vec![meta("a"), meta("b")] } else { Vec::new() },
            revisions: Some(revision.clone()).filter(|_| n < 5).into_iter().collect(),
            ..post(if n % 7 == 0 { "a status" } else { "publish" }, n, if n == 3 { &long } else { "Équal" })
        })
    });
    commit(db, posts.collect()).unwrap();
    let book = [("kind", text("book")), ("x_book.isbn", text("i")), ("x_book.price", DbValue::Real(0.1))];
    commit(db, vec![Change::Put(put("record", Target::New, &book))]).unwrap();
    commit(db, vec![Change::Put(put("option", Target::Keyed(text("a:b")), &[("value", text(""))]))]).unwrap();
    commit(db, vec![Change::Setting { key: name("general"), json: Some("{\"a\": 1}".into()) }]).unwrap();
    commit(db, vec![Change::Remove { table: name("record"), key: int(9), expect: None }]).unwrap();
    assert_eq!(db.secret("key", 32).unwrap().len(), 32);
}

#[test]
fn a_copy_holds_the_same_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| Place::File(folder.path().join(name));
    let schema = TestSchema::create();
    let mut places = vec![file("one.db"), file("two.db")];
    places.extend(schema.iter().map(|schema| Place::Server(schema.url.clone())));
    places.extend(schema.iter().map(|_| file("three.db")));
    let open = |place: &Place| {
        let terms = DatabaseOptions {
            migrate: false,
            copy: false,
            queue: 10,
            connections: 2,
            brief: false,
            feed: FeedRetention::default(),
        };
        place.open(terms, &layout()).unwrap()
    };
    let first = open(&places[0]);
    fill(&*first);
    let secret = first.secret("key", 32).unwrap();
    let copy = |from: &Place, to: &Place| {
        let mut seen = 0;
        let copied = from.copy(to, &layout(), &mut |table, rows| seen = if table == "record" { rows } else { seen });
        (copied, seen)
    };
    let mut before = None;
    for pair in places.windows(2) {
        // The first one is in use.
        let (copied, seen) = copy(&pair[0], &pair[1]);
        let copied = copied.unwrap();
        assert_eq!((seen, copied.left.len()), (2500, 0));
        assert!(
            copied
                .tables
                .iter()
                .all(|table| table.rows > 0 || ["comment", "x_order", "origin"].contains(&&*table.name))
        );
        assert!(before.is_none_or(|before| before == copied.tables), "{pair:?}");
        before = Some(copied.tables);
        let again = format!("{:?}", copy(&pair[0], &pair[1]).0.unwrap_err());
        assert!(again.contains("the target holds a site already"), "{again}");
        assert_eq!(pair[1].examine(&layout()).unwrap(), [""; 0]);
    }
    for place in &places[1..] {
        let copy = open(place);
        assert_eq!(copy.secret("key", 32).unwrap(), secret);
        let all = |db: &dyn Storage| rows(db, &read("record", &["id", "status", "title", VERSION], Cond::All(vec![])));
        assert_eq!(all(&*copy), all(&*first));
        let found = Cond::Contains(names(&["title"]), "äää".into());
        assert_eq!(ints(rows(&*copy, &read("record", &["id"], found))).len(), 1, "texts are searched");
    }
    for place in &places {
        let put = Put { slug: Some(slug("posts", &["equal"])), ..post("publish", 1, "x") };
        let made = commit(&*open(place), vec![Change::Put(put)]).unwrap();
        assert_eq!(made.puts[0].slug.as_deref(), Some("equal-5"), "the first that is free");
        assert_eq!(made.puts[0].key, int(2507));
    }
}

#[test]
fn what_cannot_be_copied_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| Place::File(folder.path().join(name));
    let refusal = |from: &Place, to: &Place, layout: &Layout| {
        format!("{:?}", from.copy(to, layout, &mut |_, _| ()).map(|copied| copied.tables.len()).unwrap_err())
    };
    let missing = refusal(&file("none.db"), &file("new.db"), &layout());
    assert!(missing.contains("there is no such file"), "{missing}");
    let db = Sqlite::open(OpenOptions::new(folder.path().join("site.db")), &layout()).unwrap();
    commit(&db, vec![Change::Put(post("publish", 1, "x"))]).unwrap();
    let mut more = layout();
    more.tables.push(table("x_more", None, vec![column("a", ColumnType::Int)], vec![]));
    let behind = refusal(&file("site.db"), &file("new.db"), &more);
    assert!(behind.contains("cms-server migrate"), "{behind}");
    std::fs::write(folder.path().join("text.db"), "no database at all, but a text ".repeat(100)).unwrap();
    assert!(refusal(&file("site.db"), &file("text.db"), &layout()).contains("NotADatabase"));
    let nowhere = refusal(&file("site.db"), &Place::Server("postgres://127.0.0.1:1/none".into()), &layout());
    assert!(nowhere.contains("storage.url"), "{nowhere}");
    // PostgreSQL takes no NUL in a text: all of it is undone.
    let Some(schema) = TestSchema::create() else { return };
    commit(&db, vec![Change::Put(post("publish", 1, "a\0b"))]).unwrap();
    let nul = refusal(&file("site.db"), &Place::Server(schema.url.clone()), &layout());
    assert!(nul.contains("record: "), "{nul}");
    assert!(
        Postgres::open(&PgOptions { migrate: false, ..PgOptions::new(&schema.url) }, &layout()).is_ok(),
        "it is new"
    );
}
