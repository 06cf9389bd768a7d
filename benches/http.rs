//! The served contract beside hand-written handlers, in one run: `cargo bench --bench http`.
//!
//! Three servers over the same 1,000 posts: the program itself; an actix-web + rusqlite handler that reads ten rows and
//! serialises them to the same bytes with serde; a handler that sends those bytes from memory. The workloads are
//! interleaved round by round, so that a noisy machine is noisy for all of them; what counts are the ratios printed.
//! Creates are measured with 64 connections, each answered only after its commit is on disk.

mod common;

use common::{Program, answer, creation, get, load, median};
use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};

const POSTS: usize = 1000;
const ROUNDS: usize = 5;

fn main() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let server = Program::start(folder.path(), &[]);
    fill(&server);
    let list = get(&server.address, "/cms-json/cms/v2/posts").1;
    let item = get(&server.address, "/cms-json/cms/v2/posts/500").1;
    let by_hand = by_hand(folder.path(), &list, &item);
    let connections = std::env::var("BENCH_CONNECTIONS").ok().and_then(|c| c.parse().ok()).unwrap_or(16);

    let mut table = Vec::new();
    for (name, path) in [("list of 10", "/cms-json/cms/v2/posts"), ("item", "/cms-json/cms/v2/posts/500")] {
        let kind = if name == "item" { "item" } else { "list" };
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            rates[0].push(load(&server.address, path, connections));
            rates[1].push(load(&by_hand, &format!("/{kind}"), connections));
            rates[2].push(load(&by_hand, &format!("/{kind}-static"), connections));
        }
        let [own, hand, fixed] = rates.map(median);
        table.push(format!(
            "| {name} | {own:.0}/s | {hand:.0}/s | {fixed:.0}/s | {:.2} | {:.2} |",
            own / hand,
            own / fixed
        ));
    }
    let creates = (0..3).map(|_| server.creates(64)).collect();
    println!("| workload | cms-server | by hand (serde) | static bytes | of by hand | of static |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for line in table {
        println!("{line}");
    }
    println!("\ncreate, 64 connections, durable: {:.0}/s", median(creates));
}

fn fill(server: &Program) {
    let mut socket = TcpStream::connect(&server.address).expect("a connection");
    for n in 0..POSTS {
        socket.write_all(&creation(&server.authorization, n)).expect("a request");
        assert_eq!(answer(&mut socket, &mut Vec::new()).0, 201);
    }
}

// ------------------------------------------------------------------------------------------------ by hand

/// Starts the hand-written server over a database that holds the same documents as rows of columns.
fn by_hand(folder: &Path, list: &[u8], item: &[u8]) -> String {
    use actix_web::{App, HttpResponse, HttpServer, web};
    let file = folder.join("by-hand.db");
    let documents: Vec<Map<String, Value>> = serde_json::from_slice(list).expect("a list");
    let one: Map<String, Value> = serde_json::from_slice(item).expect("a document");
    let keys: Arc<Vec<String>> = Arc::new(one.keys().cloned().collect());
    let connection = rusqlite::Connection::open(&file).expect("a database");
    connection.execute_batch("PRAGMA journal_mode=WAL").expect("WAL");
    let columns: Vec<String> = keys.iter().map(|k| format!("\"{k}\" TEXT")).collect();
    connection
        .execute_batch(&format!("CREATE TABLE post(n INTEGER PRIMARY KEY, {})", columns.join(", ")))
        .expect("a table");
    let marks = vec!["?"; keys.len()].join(", ");
    for document in documents.iter().chain([&one]) {
        let values: Vec<String> = keys.iter().map(|k| document[k.as_str()].to_string()).collect();
        let sql = format!("INSERT INTO post VALUES (NULL, {marks})");
        connection.execute(&sql, rusqlite::params_from_iter(values)).expect("a row");
    }
    let columns = keys.iter().map(|k| format!("\"{k}\"")).collect::<Vec<_>>().join(", ");
    let list_sql: Arc<str> = format!("SELECT {columns} FROM post ORDER BY n LIMIT 10").into();
    let item_sql: Arc<str> = format!("SELECT {columns} FROM post WHERE n = 11").into();
    let (list, item): (Arc<[u8]>, Arc<[u8]>) = (list.into(), item.into());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            HttpServer::new(move || {
                let connection = Arc::new(Mutex::new(rusqlite::Connection::open(&file).expect("a database")));
                let read = |sql: Arc<str>, keys: Arc<Vec<String>>, whole: bool| {
                    let connection = connection.clone();
                    move || {
                        let connection = connection.lock().expect("one thread");
                        let mut statement = connection.prepare_cached(&sql).expect("a statement");
                        let rows = statement.query_map([], |row| {
                            let mut map = IndexMap::with_capacity(keys.len());
                            for (i, key) in keys.iter().enumerate() {
                                map.insert(key.clone(), RawValue::from_string(row.get(i)?).expect("JSON"));
                            }
                            Ok(map)
                        });
                        let rows: Vec<IndexMap<String, Box<RawValue>>> =
                            rows.expect("rows").map(|r| r.expect("a row")).collect();
                        let count = if whole {
                            connection
                                .prepare_cached("SELECT count(*) FROM post")
                                .expect("a statement")
                                .query_row([], |r| r.get::<_, i64>(0))
                                .expect("a count")
                        } else {
                            1
                        };
                        let body = if whole { serde_json::to_vec(&rows) } else { serde_json::to_vec(&rows[0]) };
                        let body = body.expect("JSON");
                        async move {
                            HttpResponse::Ok()
                                .insert_header(("X-Total", count))
                                .content_type("application/json")
                                .body(body)
                        }
                    }
                };
                let fixed = |bytes: Arc<[u8]>| {
                    move || {
                        let bytes = bytes.clone();
                        async move { HttpResponse::Ok().content_type("application/json").body(bytes.to_vec()) }
                    }
                };
                App::new()
                    .route("/list", web::get().to(read(list_sql.clone(), keys.clone(), true)))
                    .route("/item", web::get().to(read(item_sql.clone(), keys.clone(), false)))
                    .route("/list-static", web::get().to(fixed(list.clone())))
                    .route("/item-static", web::get().to(fixed(item.clone())))
            })
            .workers(std::thread::available_parallelism().map_or(1, usize::from))
            .listen(listener)
            .expect("a listener")
            .run()
            .await
        })
    });
    address
}
