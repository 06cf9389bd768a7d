//! A writer by hand: the rows that a post or its update makes in the program's own tables, several requests to one durable
//! commit, and nothing else: nothing is validated, authorized or compared, and the response is a number.

use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use tokio::sync::oneshot;

/// Requests in one commit at most, as in the program.
const GROUP: usize = 256;

/// The columns of a post that a write sets.
struct Job {
    /// The post that is changed; none: a new one.
    id: Option<i64>,
    title: String,
    content: String,
    done: oneshot::Sender<i64>,
}

/// The requests' end.
#[derive(Clone)]
pub struct Writer(SyncSender<Job>);

impl Writer {
    /// Writes into a copy of the program's database.
    pub fn start(program: &Path, copy: &Path) -> Writer {
        let from = Connection::open(program).expect("the program's database");
        from.execute("VACUUM INTO ?1", [copy.to_str().expect("a path")]).expect("a copy");
        let conn = Connection::open(copy).expect("a database");
        for (name, value) in
            [("journal_mode", "WAL"), ("synchronous", "FULL"), ("wal_autocheckpoint", "4000"), ("cache_size", "-16384")]
        {
            conn.pragma_update_and_check(None, name, value, |_| Ok(()))
                .or_else(|_| conn.pragma_update(None, name, value))
                .expect("a setting");
        }
        conn.set_prepared_statement_cache_capacity(64);
        let (send, receive) = sync_channel(4096);
        std::thread::spawn(move || write(&conn, &receive));
        Writer(send)
    }

    /// Writes what a body holds; the post's number, when it is on disk.
    pub async fn put(&self, id: Option<i64>, body: &[u8]) -> i64 {
        let body: Value = serde_json::from_slice(body).expect("JSON");
        let text = |name: &str| body[name]["raw"].as_str().unwrap_or("").to_owned();
        let (done, answer) = oneshot::channel();
        self.0.send(Job { id, title: text("title"), content: text("content"), done }).expect("a writer");
        answer.await.expect("a commit")
    }
}

fn write(conn: &Connection, jobs: &Receiver<Job>) {
    let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    let like = number("SELECT max(id) FROM record WHERE kind = (SELECT number FROM dictionary WHERE word = 'post')");
    let table = number("SELECT number FROM dictionary WHERE word = 'record'");
    let mut next = number("SELECT next FROM sequence WHERE space = 'content'");
    let mut revision = 1_i64;
    let columns: Vec<String> = {
        let mut columns = conn.prepare("SELECT name FROM pragma_table_info('record')").expect("a statement");
        columns.query_map([], |row| row.get(0)).expect("columns").map(|name| name.expect("text")).collect()
    };
    let taken = |column: &String| match column.as_str() {
        "id" => "?1".to_owned(),
        "slug" => "?2".to_owned(),
        "title" => "?3".to_owned(),
        "title_key" => "lower(?3)".to_owned(),
        "content" => "?4".to_owned(),
        column => format!("\"{column}\""),
    };
    let taken = columns.iter().map(taken).collect::<Vec<_>>().join(", ");
    let record = format!("INSERT INTO record SELECT {taken} FROM record WHERE id = ?5");
    let execute = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
        conn.prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params))
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
    };
    while let Ok(first) = jobs.recv() {
        let group: Vec<Job> = std::iter::once(first).chain(jobs.try_iter().take(GROUP - 1)).collect();
        execute("BEGIN IMMEDIATE", &[]);
        let (mut made, mut written) = (0_i64, Vec::with_capacity(group.len()));
        for job in &group {
            let id = match job.id {
                Some(id) => {
                    let kept = json!({"title": job.title, "content": job.content, "excerpt": ""}).to_string();
                    execute(
                        "INSERT INTO revision SELECT ?1, ?2, (SELECT number FROM dictionary WHERE word = 'content'), ?3, \
                         author, modified_utc, 0, ?4 FROM record WHERE id = ?3",
                        params![10_000_000 + revision, next, id, kept],
                    );
                    (next, revision) = (next + 1, revision + 1);
                    execute(
                        "UPDATE record SET title = ?1, title_key = lower(?1), content = ?2, modified_utc = modified_utc + 1, \
                         modified_local = modified_local + 1, _version = _version + 1 WHERE id = ?3",
                        params![job.title, job.content, id],
                    );
                    id
                }
                None => {
                    let slug = format!("{}-{next}", job.title.to_lowercase().replace(' ', "-"));
                    execute(&record, params![next, slug, job.title, job.content, like]);
                    execute(
                        "INSERT INTO slug SELECT scope, ?1, \"table\", ?2 FROM slug WHERE \"table\" = ?4 AND id = ?3",
                        params![slug, next, like, table],
                    );
                    execute(
                        "INSERT INTO edge SELECT rel, ?1, dst, pos, status, sort FROM edge WHERE src = ?2",
                        params![next, like],
                    );
                    (next, made) = (next + 1, made + 1);
                    next - 1
                }
            };
            execute("INSERT OR IGNORE INTO search_todo VALUES (?1, ?2)", params![table, id]);
            written.push(id);
        }
        if made > 0 {
            execute("UPDATE tally SET n = n + ?1", params![made]);
            execute(
                "UPDATE term SET count = count + ?1, _version = _version + 1 WHERE id IN (SELECT dst FROM edge WHERE src = ?2)",
                params![made, like],
            );
        }
        execute("UPDATE sequence SET next = ?1 WHERE space = 'content'", params![next]);
        for scope in ["record", "record:post", "commits", if made > 0 { "term" } else { "revision" }] {
            execute("UPDATE version SET n = n + 1 WHERE scope = ?1", params![scope]);
        }
        execute("COMMIT", &[]);
        for (job, id) in group.into_iter().zip(written) {
            let _ = job.done.send(id);
        }
    }
}
