//! The engine in the test's own thread, over a database of its own: for what cannot be seen from outside, such as how
//! many statements a response costs, or another time.

use super::server::stdout;
use base64::Engine as _;
use cms_base::clock::{Clock, SystemClock};
use cms_base::pool::wait;
use cms_core::engine::Engine;
use cms_core::model::{Method, Payload, Peer, Request, Upload};
use cms_core::registry::Registry;
use cms_core::request::decode_query;
use cms_server::boot::{self, ConfigSource, Services};
use cms_storage::sqlite::Sqlite;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

/// A site without a socket.
pub struct Inside {
    pub services: Services,
    pub registry: Arc<Registry>,
    pub engine: Engine,
    admin: (String, String),
    folder: TempDir,
}

/// The response, and the statements that it was read with.
pub struct Counted {
    pub status: u16,
    pub body: Value,
    pub queries: u64,
    /// Bytes of text in the rows read.
    pub text: u64,
    /// Instructions of SQLite.
    pub steps: u64,
}

impl Inside {
    /// The shipped declarations, without the demo site.
    pub fn start() -> Inside {
        let folder = TempDir::new().expect("a temporary folder");
        stdout(&["init", folder.path().to_str().expect("a path")], "");
        Inside::over(folder)
    }

    /// With the declarations of the folder.
    pub fn over(folder: TempDir) -> Inside {
        Inside::at(folder, Arc::new(SystemClock), &[])
    }

    /// The shipped declarations with some values set.
    pub fn with(sets: &[&str]) -> Inside {
        let folder = TempDir::new().expect("a temporary folder");
        stdout(&["init", folder.path().to_str().expect("a path")], "");
        Inside::at(folder, Arc::new(SystemClock), sets)
    }

    /// The shipped declarations at another time.
    pub fn timed(clock: Arc<dyn Clock>) -> Inside {
        let folder = TempDir::new().expect("a temporary folder");
        stdout(&["init", folder.path().to_str().expect("a path")], "");
        Inside::at(folder, clock, &[])
    }

    /// With the declarations of the folder at another time.
    pub fn timed_over(folder: TempDir, clock: Arc<dyn Clock>) -> Inside {
        Inside::at(folder, clock, &[])
    }

    fn at(folder: TempDir, clock: Arc<dyn Clock>, sets: &[&str]) -> Inside {
        let (services, registry) = Inside::open(&folder, clock, sets);
        services.seed(&registry).expect("a seeded database");
        services
            .add_user(
                &registry,
                "admin",
                "admin@example.org",
                "administrator",
                cms_server::boot::Secret::Password("an account password"),
            )
            .expect("a user");
        let secret = services.add_app_password("admin", "tests").expect("an application password");
        let engine = services.engine(registry.clone()).expect("an engine");
        Inside { services, registry, engine, admin: ("admin".to_owned(), secret), folder }
    }

    /// The same site after a restart: only the database and the files stay.
    pub fn restart(self, clock: Arc<dyn Clock>) -> Inside {
        let Inside { admin, folder, .. } = self;
        let (services, registry) = Inside::open(&folder, clock, &[]);
        let engine = services.engine(registry.clone()).expect("an engine");
        Inside { services, registry, engine, admin, folder }
    }

    fn open(folder: &TempDir, clock: Arc<dyn Clock>, more: &[&str]) -> (Services, Arc<Registry>) {
        let at = |file: &str| folder.path().join(file);
        let mut sets = vec![
            format!("storage.url=sqlite:{}", at("test.db").display()),
            "site.bcrypt_cost=4".to_owned(),
            "site.demo=false".to_owned(),
            // Every response is computed again.
            "cache.responses=false".to_owned(),
        ];
        sets.extend(more.iter().map(|set| (*set).to_owned()));
        let source = ConfigSource { config: Some(at("routes.toml")), sets };
        let registry = boot::registry(&source.load().expect("declarations"), "127.0.0.1:1").expect("a registry");
        let services = Services::start(boot::open(&registry, true).expect("a database"), &registry).expect("services");
        (services.with_clock(clock), Arc::new(registry))
    }

    /// A request to a route, with a JSON body perhaps.
    pub fn ask(&self, method: Method, route: &str, admin: bool, body: Option<&Value>) -> Counted {
        self.ask_as(method, route, admin.then_some(&self.admin), body)
    }

    /// The same with a login and a password perhaps.
    pub fn ask_as(
        &self,
        method: Method,
        route: &str,
        user: Option<&(String, String)>,
        body: Option<&Value>,
    ) -> Counted {
        let (path, raw_query) = route.split_once('?').unwrap_or((route, ""));
        let mut headers = Vec::new();
        if let Some((login, secret)) = user {
            let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{secret}"));
            headers.push(("authorization".to_owned(), format!("Basic {pair}")));
        }
        if body.is_some() {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        let request = Request {
            id: "test".into(),
            method,
            path: path.to_owned(),
            raw_query: raw_query.to_owned(),
            query: decode_query(raw_query, 64).expect("a query"),
            headers,
            body: body.map(|b| b.to_string().into_bytes()).unwrap_or_default(),
            upload: None,
            goes_on: false,
            peer: Peer { ip: Some([127, 0, 0, 1].into()), https: true, ..Peer::default() },
        };
        self.serve(request)
    }

    /// A form of parts that nobody in particular sends.
    pub fn send_form(&self, route: &str, fields: &[(&str, &str)]) -> Counted {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        self.serve(Request {
            id: "test".into(),
            method: Method::Post,
            path: route.to_owned(),
            raw_query: String::new(),
            query: Default::default(),
            headers: vec![("user-agent".to_owned(), "tests".to_owned())],
            body: Vec::new(),
            upload: Some(Upload { form: true, fields, ..Upload::default() }),
            goes_on: false,
            peer: Peer { ip: Some([127, 0, 0, 1].into()), https: true, ..Peer::default() },
        })
    }

    fn serve(&self, request: Request) -> Counted {
        let before = (Sqlite::queries(), Sqlite::text_read(), Sqlite::steps());
        let reply = wait(self.engine.serve(&request));
        let (queries, text) = (Sqlite::queries() - before.0, Sqlite::text_read() - before.1);
        let steps = Sqlite::steps() - before.2;
        let body = match reply.payload {
            Payload::Json(body) => body,
            Payload::Text(text) => document(&text),
            Payload::Empty => Value::Null,
            Payload::Shared(text) => document(&text.text),
            Payload::Other { bytes, .. } | Payload::Page { bytes, .. } => document(&bytes),
            Payload::Pieces { bytes, .. } => document(&bytes),
            Payload::Events(_) | Payload::Export(_) => json!("later"),
        };
        Counted { status: reply.status, body, queries, text, steps }
    }

    /// A GET.
    pub fn get(&self, route: &str, admin: bool) -> Counted {
        self.ask(Method::Get, route, admin, None)
    }

    /// A GET's cost when nothing had to be found out again: right credentials are looked up once a second, and a second
    /// may end between any two requests.
    pub fn cheapest(&self, route: &str, admin: bool) -> Counted {
        (0..4).map(|_| self.get(route, admin)).min_by_key(|answer| answer.queries).expect("an answer")
    }

    /// Copies a row of a table so often without a request, and lets the database look at what it holds now.
    pub fn copy_row(&self, table: &str, id: i64, times: u32) {
        let conn = rusqlite::Connection::open(self.folder.path().join("test.db")).expect("the database");
        let mut columns = conn.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk = 0").expect("a table");
        let columns: Vec<String> =
            columns.query_map([table], |row| row.get(0)).expect("columns").collect::<Result<_, _>>().expect("names");
        let columns = columns.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let copies = format!(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {times}) \
             INSERT INTO {table} (id, {columns}) SELECT (SELECT max(id) FROM {table}) + n, {columns} FROM {table}, n WHERE id = {id}"
        );
        conn.execute_batch(&copies).expect("copies");
        self.services.storage.gather_statistics().expect("statistics");
    }

    /// Deletes all entries of the change feed but the newest, as their age does.
    pub fn shorten_feed(&self) {
        let conn = rusqlite::Connection::open(self.folder.path().join("test.db")).expect("the database");
        let statement = "DELETE FROM change_feed WHERE seq < (SELECT max(seq) FROM change_feed)";
        assert!(conn.execute(statement, []).expect("it is deleted") > 0);
    }

    /// Makes something as an administrator.
    pub fn make(&self, route: &str, body: &Value) -> Value {
        let made = self.ask(Method::Post, route, true, Some(body));
        assert!(matches!(made.status, 200 | 201), "{route}: {}", made.body);
        made.body
    }
}

/// A body, as a text where it is no JSON.
fn document(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(bytes)))
}
