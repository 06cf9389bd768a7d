//! How fast SQLite takes and gives records. `cargo bench --bench storage [-- <folder>]`; figures depend on the disk.

use cms_storage::Storage;
use cms_storage::plan::*;
use cms_storage::sqlite::{OpenOptions, Sqlite};
use cms_text::fold;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let folder = std::env::args()
        .skip(1)
        .find(|a| !a.starts_with("--"))
        .unwrap_or_else(|| std::env::temp_dir().join("cms-server-bench").to_string_lossy().into_owned());
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = Path::new(&folder).join("bench.db");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
    let open = || Sqlite::open(OpenOptions::new(&path), &layout()).expect("the database opens");
    let db = open();
    commit(&db, vec![Change::Put(term())]);
    for waiting in [1, 16, 64, 256] {
        creates(&db, waiting, &format!("create, {waiting} waiting"), |n| vec![Change::Put(post(n))]);
    }
    creates(&db, 64, "create with the same slug, 64 waiting", |n| {
        let mut post = post(n);
        post.slug = Some(claim("measured".into()));
        vec![Change::Put(post)]
    });
    creates(&db, 64, "update with revision, 64 waiting", |n| vec![Change::Put(update(n))]);
    reads(&db);
    drop(db);
    timed("open, layout unchanged", 20, |_| drop(open()));
}

fn creates(db: &Sqlite, waiting: usize, what: &str, change: impl Fn(i64) -> Vec<Change>) {
    if std::env::var("BENCH_ONLY").is_ok_and(|only| !what.contains(&only)) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    let start = Instant::now();
    let mut waits: Vec<Duration> = Vec::new();
    runtime.block_on(tokio::task::LocalSet::new().run_until(async {
        let next = std::cell::Cell::new(0);
        let waits = std::cell::RefCell::new(&mut waits);
        let worker = async || {
            while start.elapsed() < Duration::from_secs(3) {
                next.set(next.get() + 1);
                let sent = Instant::now();
                db.commit(WritePlan::new(change(next.get()))).await.expect("the plan is carried out");
                waits.borrow_mut().push(sent.elapsed());
            }
        };
        let workers: Vec<_> = (0..waiting).map(|_| worker()).collect();
        join(workers).await;
    }));
    let rate = waits.len() as f64 / start.elapsed().as_secs_f64();
    waits.sort();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize];
    println!("{what:45} {rate:9.0}/s   p50 {:?}   p99 {:?}", at(0.5), at(0.99));
}

/// Polls all until each is done.
async fn join(futures: Vec<impl Future<Output = ()>>) {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).map(Some).collect();
    std::future::poll_fn(|cx| {
        for slot in &mut futures {
            if slot.as_mut().is_some_and(|f| f.as_mut().poll(cx).is_ready()) {
                *slot = None;
            }
        }
        match futures.iter().all(Option::is_none) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
}

fn reads(db: &Sqlite) {
    let total = db.snapshot().and_then(|s| s.count(&list(Cond::All(vec![])))).expect("rows are counted");
    println!("({total} records)");
    let published = || Cond::All(vec![eq("kind", text("post")), Cond::In("status".into(), vec![text("publish")])]);
    let by_term = || {
        let linked = Cond::Linked { rel: "post.categories".into(), dst: vec![1] };
        Cond::All(vec![published(), linked])
    };
    let plan = list(published());
    timed("list of 10", 20_000, |_| assert_eq!(snapshot(db).rows(&plan).expect("rows").len(), 10));
    timed("count by status (tally)", 20_000, |_| assert!(snapshot(db).count(&plan).expect("a count") > 10));
    let plan = list(by_term());
    timed("list of 10 of a term", 20_000, |_| assert_eq!(snapshot(db).rows(&plan).expect("rows").len(), 10));
    timed("count of a term", 5, |_| assert!(snapshot(db).count(&plan).expect("a count") > 10));
    timed("row by id", 50_000, |n| {
        let plan = ReadPlan { order: vec![], limit: None, ..list(eq("id", DbValue::Int(n as i64 % 1000 + 1))) };
        assert_eq!(snapshot(db).rows(&plan).expect("rows").len(), 1);
    });
    timed("slug", 50_000, |n| {
        assert!(snapshot(db).slug("post", &format!("post-{}", n % 1000 + 1)).expect("a slug").is_some());
    });
    timed("snapshot alone", 50_000, |_| drop(snapshot(db)));
}

fn snapshot(db: &Sqlite) -> Box<dyn cms_storage::Snapshot + '_> {
    db.snapshot().expect("a snapshot opens")
}

fn timed(what: &str, times: u32, mut run: impl FnMut(u32)) {
    if std::env::var("BENCH_ONLY").is_ok_and(|only| !what.contains(&only)) {
        return;
    }
    let start = Instant::now();
    (0..times).for_each(&mut run);
    println!("{what:45} {:?} each", start.elapsed() / times);
}

fn commit(db: &Sqlite, changes: Vec<Change>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    runtime.block_on(db.commit(WritePlan::new(changes))).expect("the plan is carried out");
}

fn layout() -> Layout {
    use ColumnType::{Int, Json, Key, Text, Word};
    let column = |name: &str, ty| ColumnDef { name: name.into(), ty, default: None, was: None, rule: None };
    let index = |name: &str, columns: &[&str]| IndexDef {
        name: name.into(),
        columns: columns.iter().map(|c| (Name::from(*c), false)).collect(),
        unique: false,
        partial: false,
    };
    let table = |name: &str, columns, indexes| TableDef {
        name: name.into(),
        key: column("id", Int),
        space: Some(name.into()),
        columns,
        indexes,
        versioned: true,
        extends: None,
        kind: None,
        states: None,
    };
    let record = [
        ("kind", Word),
        ("status", Word),
        ("slug", Text),
        ("author", Int),
        ("parent", Int),
        ("date_local", Int),
        ("date_utc", Int),
        ("modified_local", Int),
        ("modified_utc", Int),
        ("title", Text),
        ("title_key", Key),
        ("content", Text),
        ("excerpt", Text),
        ("extra", Json),
    ];
    let indexes = vec![
        index("date", &["kind", "status", "date_local"]),
        index("author", &["kind", "status", "author", "date_local"]),
        index("parent", &["parent", "kind", "status"]),
    ];
    Layout {
        references: Vec::new(),
        searched: Vec::new(),
        tables: vec![
            table("record", record.iter().map(|(n, ty)| column(n, *ty)).collect(), indexes),
            table("term", vec![column("name", Text), column("count", Int)], vec![]),
        ],
        relations: vec![RelationDef {
            name: "post.categories".into(),
            src: "record".into(),
            dst: "term".into(),
            status: Some("status".into()),
            sort: Some("date_local".into()),
            counted: Some(Counted { column: "count".into(), statuses: vec!["publish".into()] }),
            only_kind: None,
            inside: None,
        }],
        counts: vec![],
    }
}

fn text(text: &str) -> DbValue {
    DbValue::Text(text.into())
}

fn eq(column: &str, value: DbValue) -> Cond {
    Cond::Compare(column.into(), Op::Eq, value)
}

fn list(filter: Cond) -> ReadPlan {
    let columns = ["id", "kind", "status", "slug", "author", "date_local", "title", "content", "excerpt", "version"];
    ReadPlan {
        table: "record".into(),
        extensions: vec![],
        columns: columns.map(Name::from).to_vec(),
        filter,
        order: vec![Order::Column("date_local".into(), true)],
        limit: Some(10),
        offset: 0,
        width: None,
    }
}

fn term() -> Put {
    put("term", Target::New, vec![("name", text("News"))])
}

fn put(table: &str, target: Target, set: Vec<(&str, DbValue)>) -> Put {
    Put {
        table: table.into(),
        target,
        set: set.into_iter().map(|(n, v)| (n.into(), Input::Value(v))).collect(),
        slug: None,
        edges: vec![],
        meta: vec![],
        revisions: Vec::new(),
    }
}

fn claim(slug: String) -> SlugClaim {
    SlugClaim {
        column: "slug".into(),
        scope: Some("post".into()),
        candidates: vec![slug.into()],
        reserved: false,
        refuse: None,
        longest: SlugClaim::LONGEST,
    }
}

fn post(n: i64) -> Put {
    let title = format!("Post {n}");
    let content = "Two dozen words of text make one line, and some such lines a short post. ".repeat(16);
    let set = vec![
        ("kind", text("post")),
        ("status", text("publish")),
        ("author", DbValue::Int(n % 7)),
        ("parent", DbValue::Int(0)),
        ("date_local", DbValue::Int(1_700_000_000 + n)),
        ("date_utc", DbValue::Int(1_700_000_000 + n)),
        ("modified_local", DbValue::Int(1_700_000_000 + n)),
        ("modified_utc", DbValue::Int(1_700_000_000 + n)),
        ("title", text(&title)),
        ("title_key", text(&fold(&title))),
        ("content", DbValue::Text(Arc::from(content))),
        ("excerpt", text("")),
    ];
    Put {
        slug: Some(claim(format!("post-{n}"))),
        edges: vec![("post.categories".into(), vec![1])],
        ..put("record", Target::New, set)
    }
}

fn update(n: i64) -> Put {
    let key = DbValue::Int(n % 1000 + 1);
    let revision = RevisionPut {
        author: 1,
        at: n,
        autosave: false,
        json: format!("{{\"title\":\"Post {n}\"}}").into(),
        keep: Some(10),
        skip_same: true,
    };
    let set = vec![("title", text("Changed")), ("modified_utc", DbValue::Int(n))];
    Put { revisions: vec![revision], ..put("record", Target::Existing { key, expect: None }, set) }
}
