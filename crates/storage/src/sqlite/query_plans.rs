//! The text of each kind of query, and SQLite's plan for it over 100,000 rows.
//!
//! A list that the server ships walks an index: where its plan sorts, a line here gives the reason.

use super::super::fixtures::*;
use super::super::plan::*;
use super::super::sql::{Lowered, ResultKind, lower};
use super::super::statement::Dialect;
use super::values::bind;
use super::*;
use crate::database::{Database, Storage};
use rusqlite::Connection;
use std::fmt::Write;

/// A list of ten posts, newest first.
fn list(conds: Vec<Cond>) -> ReadPlan {
    ReadPlan {
        order: vec![Order::Column(name("date_local"), true)],
        limit: Some(10),
        ..read("record", &["id", "kind", "title"], Cond::All(conds))
    }
}

fn posts() -> Cond {
    eq("kind", text("post"))
}

fn published() -> Cond {
    eq("status", text("publish"))
}

fn linked(dst: &[i64]) -> Cond {
    Cond::Linked { rel: name("post.categories"), dst: dst.to_vec() }
}

/// Ten orders, newest first.
fn orders(conds: Vec<Cond>) -> ReadPlan {
    ReadPlan {
        order: vec![Order::Column(name("placed"), true)],
        limit: Some(10),
        ..read("x_order", &["id", "note"], Cond::All(conds))
    }
}

fn of_item(dst: &[i64]) -> Cond {
    Cond::Linked { rel: name("order.items"), dst: dst.to_vec() }
}

fn order(order: Vec<Order>, plan: ReadPlan) -> ReadPlan {
    ReadPlan { order, ..plan }
}

/// Every important shape, by name.
fn shapes() -> Vec<(&'static str, ReadPlan)> {
    let by = |column: &str, descending| Order::Column(name(column), descending);
    let not = |cond| Cond::Not(Box::new(cond));
    let many = |column: &str, values: &[i64]| Cond::In(name(column), values.iter().map(|v| int(*v)).collect());
    let both = || Cond::In(name("status"), vec![text("publish"), text("private")]);
    vec![
        ("row by id", read("record", &["id", "title"], eq("id", int(1)))),
        ("rows by ids", read("record", &["id", "title"], many("id", &[1, 2]))),
        (
            "rows by ids, in their order",
            order(
                vec![Order::Given(name("id"), vec![int(2), int(1)])],
                list(vec![posts(), published(), many("id", &[1, 2])]),
            ),
        ),
        ("default list", list(vec![posts(), published()])),
        ("default list, oldest first", order(vec![by("date_local", false)], list(vec![posts(), published()]))),
        ("several statuses", list(vec![posts(), both()])),
        ("by author", list(vec![posts(), published(), eq("author", int(3))])),
        ("by several authors", list(vec![posts(), published(), many("author", &[3, 4])])),
        ("not by an author", list(vec![posts(), published(), not(many("author", &[3, 4]))])),
        ("by parent", list(vec![eq("parent", int(5)), posts(), published()])),
        ("by term", list(vec![posts(), published(), linked(&[7])])),
        ("by term, oldest first", order(vec![by("date_local", false)], list(vec![posts(), published(), linked(&[7])]))),
        ("by term, by title", order(vec![by("title_key", false)], list(vec![posts(), published(), linked(&[7])]))),
        ("by several terms", list(vec![posts(), published(), linked(&[7, 8])])),
        ("without terms", list(vec![posts(), published(), not(linked(&[7, 8]))])),
        ("after a date", list(vec![posts(), published(), Cond::Compare(name("date_local"), Op::Gt, int(9))])),
        (
            "sticky first",
            order(vec![Order::First(eq("sticky", int(1))), by("date_local", true)], list(vec![posts(), published()])),
        ),
        ("by slug", list(vec![posts(), published(), Cond::In(name("id"), vec![int(4)])])),
        ("search", list(vec![posts(), published(), Cond::Contains(names(&["title", "content"]), "word".into())])),
        ("orders in a state", orders(vec![eq("state", text("open"))])),
        ("orders in states", orders(vec![Cond::In(name("state"), vec![text("open"), text("paid")])])),
        ("orders of an item", orders(vec![eq("state", text("open")), of_item(&[7])])),
        ("orders of several items", orders(vec![eq("state", text("open")), of_item(&[7, 8])])),
        (
            "orders of an item, without some",
            orders(vec![eq("state", text("open")), of_item(&[7]), not(many("id", &[1, 2]))]),
        ),
        ("orders of an item, in any state", orders(vec![of_item(&[7])])),
        (
            "orders of an item, first ones first",
            order(vec![by("placed", false)], orders(vec![eq("state", text("open")), of_item(&[7])])),
        ),
        (
            "first order that ends",
            ReadPlan {
                limit: Some(1),
                ..order(
                    vec![by("ends", false)],
                    read(
                        "x_order",
                        &["ends"],
                        Cond::All(vec![
                            eq("state", text("open")),
                            Cond::Compare(name("ends"), Op::Gt, int(0)),
                            Cond::Compare(name("ends"), Op::Le, int(5)),
                        ]),
                    ),
                )
            },
        ),
        (
            "own column",
            ReadPlan {
                extensions: names(&["x_book"]),
                ..list(vec![posts(), published(), eq("x_book.isbn", text("1")), eq("x_book.pages", int(2))])
            },
        ),
        (
            "own column, a range in its order",
            order(
                vec![by("x_book.isbn", false)],
                ReadPlan {
                    extensions: names(&["x_book"]),
                    ..list(vec![posts(), published(), Cond::Compare(name("x_book.isbn"), Op::Ge, text("2"))])
                },
            ),
        ),
        (
            "terms by name",
            order(
                vec![by("name_key", false)],
                ReadPlan { limit: Some(10), ..read("term", &["id", "name"], eq("taxonomy", text("tag"))) },
            ),
        ),
        (
            "terms of a post",
            read("term", &["id", "name"], Cond::LinkedFrom { rel: name("post.categories"), src: vec![1] }),
        ),
        (
            "comments of a post",
            order(
                vec![by("date_local", true)],
                ReadPlan {
                    limit: Some(10),
                    ..read("comment", &["id"], Cond::All(vec![eq("post", int(1)), eq("status", text("approved"))]))
                },
            ),
        ),
        (
            "revisions of a post",
            order(
                vec![by("at", true)],
                read(
                    "revision",
                    &["id", "at"],
                    Cond::All(vec![eq("space", text("content")), eq("of", int(1)), eq("autosave", int(0))]),
                ),
            ),
        ),
        (
            "by the name of a term",
            list(vec![
                posts(),
                published(),
                Cond::LinkedTo {
                    rel: name("post.categories"),
                    table: name("term"),
                    filter: Box::new(eq("name_key", text("tea"))),
                },
            ]),
        ),
        (
            "by meta",
            list(vec![
                posts(),
                published(),
                Cond::Related {
                    table: name("meta"),
                    inner: name("id"),
                    outer: name("id"),
                    filter: Box::new(Cond::All(vec![
                        eq("space", text("content")),
                        eq("key", text("k")),
                        eq("json", text("1")),
                    ])),
                },
            ]),
        ),
    ]
}

/// 100,000 posts and pages in 50 categories.
fn filled() -> Site {
    let site = site();
    commit(&site.db, vec![Change::Put(post("publish", 1, "x")), Change::Put(put("term", Target::New, &[]))]).unwrap();
    let rows = "WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < 100000) ";
    let record = "INSERT INTO record (id, kind, status, author, parent, date_local, title, sticky, _version) \
        SELECT n, (SELECT kind FROM record WHERE id = 1), (SELECT status FROM record WHERE id = 1), \
            n % 100, n % 1000, n * 60, 'Post ' || n, n % 5000 = 0, 1 FROM n";
    let edge = "INSERT INTO edge (rel, src, dst, pos, status, sort) \
        SELECT (SELECT number FROM dictionary WHERE word = 'post.categories'), id, id % 50, 0, status, date_local \
        FROM record";
    let orders = "INSERT INTO x_order (id, note, state, placed, _version) \
        SELECT n, 'Order', CASE n % 3 WHEN 0 THEN 'open' ELSE 'paid' END, n * 60, 1 FROM n WHERE n < 20000";
    let items = "INSERT INTO edge (rel, src, dst, pos, status, sort) \
        SELECT (SELECT number FROM dictionary WHERE word = 'order.items'), id, 1 + id % 50, 0, \
            (SELECT number FROM dictionary WHERE word = state), placed FROM x_order";
    let conn = Connection::open(site.folder.path().join("site.db")).unwrap();
    conn.execute_batch(&format!("BEGIN; {rows}{record}; {edge}; {rows}{orders}; {items}; COMMIT")).unwrap();
    // A busy machine has no time for a table now and then.
    let known = "SELECT count(DISTINCT tbl) FROM sqlite_stat1 WHERE tbl IN ('record', 'x_order', 'edge')";
    let gathered = || {
        site.db.gather_statistics().unwrap();
        conn.query_row(known, [], |row| row.get::<_, i64>(0)).is_ok_and(|tables| tables == 3)
    };
    assert!((0..100).any(|_| gathered()), "no statistics");
    site
}

#[test]
fn queries_walk_indexes() {
    let site = filled();
    let shared = &site.db.shared;
    let conn = connect::reading(&shared.path, &shared.settings).unwrap();
    let words = shared.words.load();
    let mut texts = String::new();
    let mut walks = String::new();
    let mut explain = |title: String, lowered: &Lowered<'_>| {
        let rendered = lowered.render(Dialect::Sqlite);
        writeln!(texts, "{title}\n  {}", rendered.text).unwrap();
        writeln!(walks, "{title}").unwrap();
        let mut explain = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", rendered.text)).unwrap();
        for (place, of) in rendered.order.iter().enumerate() {
            bind(&mut explain, place, &lowered.binds[*of]).unwrap();
        }
        let mut steps = explain.raw_query();
        while let Some(step) = steps.next().unwrap() {
            writeln!(walks, "  {}", step.get::<_, String>("detail").unwrap()).unwrap();
        }
    };
    for (what, plan) in shapes() {
        for (want, title) in [(ResultKind::Rows, what.to_owned()), (ResultKind::Count, format!("{what}, counted"))] {
            explain(title, &lower(&plan, want, &shared.catalogue, &words).unwrap());
        }
        let snapshot = site.db.snapshot().unwrap();
        snapshot.rows(&plan).unwrap();
        snapshot.count(&plan).unwrap();
    }
    let (what, plan) = shapes().into_iter().find(|(name, _)| *name == "by term, by title").unwrap();
    let lowered = lower(&plan, ResultKind::OrderedRows, &shared.catalogue, &words).unwrap();
    explain(format!("{what}, of many"), &lowered);
    expect_test::expect_file!["../../../../fixtures/golden/sql.txt"].assert_eq(&texts);
    expect_test::expect_file!["../../../../fixtures/golden/query-plans.txt"].assert_eq(&walks);
    for what in ["default list", "default list, oldest first", "by author", "by parent", "by term"] {
        let (_, plan) = shapes().into_iter().find(|(name, _)| *name == what).unwrap();
        let found = ints(rows(&site.db, &plan));
        assert_eq!(found.len(), 10, "{what}");
        assert!(found.is_sorted_by(|a, b| if what.ends_with("oldest first") { a < b } else { a > b }), "{what}");
    }
}

/// A tenth of the rows has a target, and a few others: both are in the order that is asked for, the many without being sorted.
#[test]
fn rows_of_a_large_target_are_read_in_order() {
    let site = filled();
    let conn = Connection::open(site.folder.path().join("site.db")).unwrap();
    let edges = "INSERT INTO edge (rel, src, dst, pos, status, sort) \
        SELECT (SELECT number FROM dictionary WHERE word = 'post.categories'), id, CASE id % 10 WHEN 5 THEN 61 ELSE 60 END, 1, \
            status, date_local FROM record WHERE id % 10 = 0 OR id % 1000 = 5";
    let titles = "UPDATE record SET title_key = 'post ' || (id * 7919 % 1009)";
    let tallies = "UPDATE tally SET n = 100000 WHERE author < 0; INSERT INTO term (id, taxonomy, name, count, _version) \
        SELECT dst, (SELECT taxonomy FROM term), dst, count(*), 1 FROM edge WHERE dst IN (60, 61) GROUP BY dst";
    conn.execute_batch(&format!("BEGIN; {titles}; {edges}; {tallies}; COMMIT")).unwrap();
    let by_title = |target: i64, offset: u64, descending: bool| {
        let rows = list(vec![posts(), published(), linked(&[target])]);
        ReadPlan { offset, ..order(vec![Order::Column(name("title_key"), descending)], rows) }
    };
    for (target, descending, offset) in
        [(60, false, 0), (60, true, 0), (60, false, 7), (60, false, 5000), (61, false, 0), (61, true, 3)]
    {
        let direction = if descending { "DESC" } else { "ASC" };
        let text = format!(
            "SELECT id FROM record WHERE id IN (SELECT src FROM edge WHERE dst = {target}) \
             ORDER BY title_key {direction}, id {direction} LIMIT 10 OFFSET {offset}"
        );
        let mut expected = conn.prepare(&text).unwrap();
        let expected: Vec<i64> = expected.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(
            ints(rows(&site.db, &by_title(target, offset, descending))),
            expected,
            "{target} {direction} {offset}"
        );
    }
}

#[test]
fn shapes_do_not_depend_on_values() {
    let site = site();
    let shared = &site.db.shared;
    let shape = |cond: Cond, limit: u64| {
        let plan = ReadPlan { limit: Some(limit), ..list(vec![cond]) };
        lower(&plan, ResultKind::Rows, &shared.catalogue, &shared.words.load()).unwrap().shape()
    };
    let ids = |n: i64| Cond::In(name("id"), (0..n).map(int).collect());
    assert_eq!(shape(ids(2), 10), shape(ids(1000), 100));
    assert_eq!(shape(ids(1), 10), shape(eq("id", int(5)), 10), "one member is a comparison");
    assert_eq!(shape(linked(&[1, 2]), 1), shape(linked(&[3, 4, 5]), 1));
    let all: Vec<String> = shapes()
        .iter()
        .map(|(_, plan)| lower(plan, ResultKind::Rows, &shared.catalogue, &shared.words.load()).unwrap().shape())
        .collect();
    let texts: Vec<String> = shapes()
        .iter()
        .map(|(_, plan)| {
            lower(plan, ResultKind::Rows, &shared.catalogue, &shared.words.load()).unwrap().render(Dialect::Sqlite).text
        })
        .collect();
    for (i, shape) in all.iter().enumerate() {
        for (j, other) in all.iter().enumerate() {
            assert_eq!(shape == other, texts[i] == texts[j], "{shape} / {other}");
        }
    }
}
