//! PostgreSQL databases that cannot be used, or not well: the program says at the start what is wrong and what helps.

use super::free_port::free_address;
use super::left_out::{SERVER, left_out};
use super::server::{Server, postgres, program, within};
use serde_json::json;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use url::Url;

/// The answer comes in this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// A database of its own, deleted at the end.
struct Database {
    folder: TempDir,
    /// Its address, for the user who may do everything.
    url: Url,
}

impl Database {
    /// With further words of `CREATE DATABASE`; `None` without a server.
    fn with(options: &str) -> Option<Database> {
        let Some(server) = postgres::server() else {
            left_out(SERVER);
            return None;
        };
        let folder = TempDir::new().expect("a temporary folder");
        let name = postgres::name(folder.path());
        postgres::psql(&server, &format!("CREATE DATABASE {name} {options}"));
        let mut url = Url::parse(&server).expect("an address");
        url.set_path(&name);
        Some(Database { folder, url })
    }

    fn run(&self, text: &str) {
        self.read(text);
    }

    /// The lines that a statement prints.
    fn read(&self, text: &str) -> String {
        postgres::psql(self.url.as_str(), text)
    }

    /// Its address with changes.
    fn at(&self, change: impl Fn(&mut Url)) -> String {
        let mut url = self.url.clone();
        change(&mut url);
        url.to_string()
    }

    /// The output of the program when it is started over an address, and whether it ended by itself.
    fn start(&self, url: &str) -> (String, bool) {
        let files = format!("media.url=file:{}", self.folder.path().join("files").display());
        let sets = [&format!("storage.url={url}"), &files, "server.listen=127.0.0.1:0", "site.demo=false"];
        let mut child = program()
            .args(sets.iter().flat_map(|set| ["--set", set]))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut pipe = child.stderr.take().expect("a pipe");
        let (ended, end) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            let mut said = Vec::new();
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = pipe.read(&mut buffer) {
                said.extend_from_slice(&buffer[..read]);
                if String::from_utf8_lossy(&said).contains("ready in") {
                    break;
                }
            }
            // Nobody may be waiting any more.
            let _ = ended.send(());
            String::from_utf8_lossy(&said).into_owned()
        });
        let in_time = end.recv_timeout(PATIENCE).is_ok();
        let _ = child.kill();
        let code = child.wait().expect("it has ended").code();
        let said = reader.join().expect("a text");
        assert!(in_time, "{url}: nothing in time: {said}");
        (said, code.is_some_and(|code| code != 0))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        postgres::delete(self.folder.path());
    }
}

/// A port where something else than a database answers with these bytes, or not at all; how long it waits is up to the client.
fn other_program(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        // Those that get no answer wait for it.
        let mut open = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut first = [0; 1024];
            let _ = stream.read(&mut first);
            let _ = stream.write_all(answer);
            if answer.is_empty() {
                open.push(stream);
            }
        }
    });
    port
}

/// Options of an address: the functions of a schema come before those of the system.
fn shadowed(url: &mut Url) {
    url.set_query(Some("sslmode=disable&options=-csearch_path%3Dfake,pg_catalog"));
}

#[test]
fn what_is_wrong_with_a_server_is_said_at_the_start_with_what_helps() {
    let Some(database) = Database::with("") else { return };
    let nobody = free_address().port();
    let port = |port: u16| database.at(|url| url.set_port(Some(port)).expect("a port"));
    let user = |name: &str, password: Option<&str>| {
        database.at(|url| {
            url.set_username(name).expect("a user");
            url.set_password(password).expect("a password");
        })
    };
    let query = |text: &str| database.at(|url| url.set_query(Some(text)));
    database.run("CREATE SCHEMA fake");
    database.run(
        "CREATE FUNCTION fake.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT CASE $1 \
         WHEN 'server_version_num' THEN '140012' WHEN 'server_version' THEN '14.12' \
         ELSE pg_catalog.current_setting($1) END $$",
    );
    for (url, said, hint) in [
        (port(nobody), "refused", "Start the database server"),
        (port(other_program(b"")), "no answer in time", "Start the database server"),
        (port(other_program(b"HTTP/1.1 400 Bad Request\r\n\r\n")), "", "host and port"),
        (port(other_program(b"\x00\x01\x02garbage of some kind, longer than a head")), "", "host and port"),
        (user("guarded", Some("wrong")), "password authentication failed", "Correct user and password"),
        (user("guarded", None), "password", "Correct user and password"),
        (user("missing", None), "missing", "Correct user and password"),
        (user("encrypted", None), "no encryption", "Set sslmode"),
        (port(other_program(b"N")).replace("disable", "require"), "TLS", "Set sslmode"),
        (query("sslmode=perhaps"), "perhaps", "The form is"),
        (database.at(|url| url.set_path("not_there")), "does not exist", "Create the database"),
        (user("limited", None), "may not create tables", "Give the user the schema"),
        (query("sslmode=disable&options=-csearch_path%3Dno_schema"), "search_path", "Give the user"),
        (query("sslmode=disable&options=-cdefault_transaction_read_only%3Don"), "takes no writes", "Name the primary"),
        (database.at(shadowed), "PostgreSQL 14.12", "Upgrade the database server"),
        ("postgres://".into(), "", "hint"),
    ] {
        let (text, failed) = database.start(&url);
        assert!(failed && text.contains(said) && text.contains(hint), "{url}: {text}");
        assert!(!text.contains("wrong@") && !text.contains("panicked"), "{url}: {text}");
    }
    let Some(latin) = Database::with("ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0") else {
        return;
    };
    let (text, failed) = latin.start(latin.url.as_str());
    assert!(failed && text.contains("LATIN1") && text.contains("ENCODING 'UTF8'"), "{text}");
}

#[test]
fn connections_are_encrypted_as_the_address_says() {
    let Some(database) = Database::with("") else { return };
    if postgres::psql(database.url.as_str(), "SHOW ssl").trim() != "on" {
        left_out("the server offers no TLS");
        return;
    }
    // This user has to encrypt.
    database.run("CREATE SCHEMA encrypted AUTHORIZATION encrypted");
    let file = |name: &str| concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tls/").to_owned() + name;
    let (own, another) = (file("authority.pem"), file("server2.pem"));
    let at = |host: &str, mode: &str, roots: Option<&str>| {
        database.at(|url| {
            url.set_username("encrypted").expect("a user");
            url.set_host(Some(host)).expect("a host");
            url.query_pairs_mut().clear().append_pair("hostaddr", "127.0.0.1").append_pair("sslmode", mode);
            if let Some(roots) = roots {
                url.query_pairs_mut().append_pair("sslrootcert", roots);
            }
        })
    };
    for (host, mode, roots) in [
        ("127.0.0.1", "prefer", None),
        ("127.0.0.1", "require", None),
        ("other.test", "require", None),
        ("127.0.0.1", "require", Some(&*own)),
        ("127.0.0.1", "verify-full", Some(&*own)),
        ("localhost", "verify-full", Some(&*own)),
    ] {
        let (text, failed) = database.start(&at(host, mode, roots));
        assert!(!failed && text.contains("ready in"), "{host} {mode} {roots:?}: {text}");
    }
    for (host, mode, roots, said) in [
        ("127.0.0.1", "disable", None, "no encryption"),
        ("127.0.0.1", "require", Some(&*another), "certificate"),
        ("127.0.0.1", "verify-full", Some(&*another), "certificate"),
        ("other.test", "verify-full", Some(&*own), "certificate"),
        ("127.0.0.1", "verify-full", None, "sslrootcert"),
        ("127.0.0.1", "verify-full", Some("/nowhere.pem"), "/nowhere.pem"),
    ] {
        let (text, failed) = database.start(&at(host, mode, roots));
        assert!(failed && text.contains(said), "{host} {mode} {roots:?}: {text}");
        let hint = if said == "certificate" { "Name the authority" } else { "sslmode" };
        assert!(text.contains(hint), "{host} {mode} {roots:?}: {text}");
    }
}

/// A running PgBouncer.
struct Pooler {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Pooler {
    /// In a mode, before the server of an address; `None` where it is not installed.
    fn before(server: &Url, mode: &str) -> Option<Pooler> {
        let folder = TempDir::new().expect("a temporary folder");
        let port = free_address().port();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("users"), "\"postgres\" \"\"\n").expect("a file");
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = {mode}\ndefault_pool_size = 50\n",
            server.port().unwrap_or(5432),
            at("users").display(),
        );
        std::fs::write(at("settings"), settings).expect("a file");
        let mut command = Command::new("pgbouncer");
        // It refuses to run as root, and then reads its files as another user.
        if std::fs::metadata(folder.path()).expect("a folder").uid() == 0 {
            command.args(["-u", "postgres"]);
            std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("a mode");
        }
        let started = command.arg(at("settings")).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let Ok(mut process) = started else {
            left_out("there is no PgBouncer");
            return None;
        };
        // It says when it listens.
        let mut said = BufReader::new(process.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let up = said.by_ref().find(|line| line.contains("process up") || line.contains("FATAL")).unwrap_or_default();
        assert!(up.contains("process up"), "{up}");
        std::thread::spawn(move || said.for_each(drop));
        Some(Pooler { process, port, _folder: folder })
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_pooler_has_to_lend_its_connections_for_whole_sessions() {
    let Some(database) = Database::with("") else { return };
    for mode in ["session", "transaction", "statement"] {
        let Some(pooler) = Pooler::before(&database.url, mode) else { return };
        let url = database.at(|url| url.set_port(Some(pooler.port)).expect("a port"));
        let (text, failed) = database.start(&url);
        match mode {
            "session" => assert!(!failed && text.contains("ready in"), "{text}"),
            _ => {
                assert!(failed && text.contains("a pooler lends its connections"), "{mode}: {text}");
                assert!(text.contains("pool_mode = session"), "{mode}: {text}");
            }
        }
        let refused = format!("{url}&options=-csearch_path%3Dpublic");
        let (text, failed) = database.start(&refused);
        assert!(failed && text.contains("ALTER ROLE"), "{mode}: {text}");
    }
}

#[test]
fn nodes_work_behind_a_pooler_in_session_mode() {
    let first = Server::start();
    let Some(url) = first.storage().strip_prefix("storage.url=postgres").map(|rest| format!("postgres{rest}")) else {
        return;
    };
    let mut url = Url::parse(&url).expect("an address");
    let Some(pooler) = Pooler::before(&url, "session") else { return };
    url.set_port(Some(pooler.port)).expect("a port");
    let node = first.beside_with(&[&format!("storage.url={url}")]);
    let title = |n: usize| json!({"title": {"raw": format!("Title {n}")}, "status": "publish"});
    let made = node.admin("POST", "/cms/v2/posts", Some(&title(0)));
    assert_eq!(made.status, 201, "{}", made.text);
    let path = format!("/cms/v2/posts/{}", made.body["id"]);
    let shows = |server: &Server, n: usize| server.get(&path).body["title"]["rendered"] == format!("Title {n}");
    for n in 1..=10 {
        let [here, there] = if n % 2 == 0 { [&first, &node] } else { [&node, &first] };
        assert_eq!(here.admin("POST", &path, Some(&title(n))).status, 200);
        assert!(shows(here, n));
        within(PATIENCE, "the other node hears of it", || shows(there, n));
    }
}

#[test]
fn what_is_wrong_with_a_database_is_said_at_the_start_with_what_helps() {
    let Some(database) = Database::with("") else { return };
    let start = || database.start(database.url.as_str());
    let refused = |said: &str, hint: &str| {
        let (text, failed) = start();
        assert!(failed && text.contains(said) && text.contains(hint), "{said}: {text}");
    };
    database.run("CREATE TABLE theirs (a int)");
    refused("holds tables of another program", "Name an empty database");
    database.run("DROP TABLE theirs");

    // A server whose disk is full refuses like this.
    database.run(
        "CREATE FUNCTION full_disk() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$; \
         CREATE EVENT TRIGGER no_space ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION full_disk()",
    );
    refused("No space left on device", "Make room on the database server's disk");
    database.run("DROP EVENT TRIGGER no_space");

    database.run("CREATE ROLE narrow LOGIN CONNECTION LIMIT 0");
    let narrow = database.at(|url| url.set_username("narrow").expect("a user"));
    let (text, failed) = database.start(&narrow);
    database.run("DROP ROLE narrow");
    assert!(failed && text.contains("too many connections") && text.contains("max_connections"), "{text}");

    let (text, failed) = start();
    assert!(!failed && text.contains("ready in"), "{text}");
    database.run("UPDATE layout SET definition = '99' WHERE name = 'version'");
    // Every row that any transaction has written since counts.
    let written = "SELECT (SELECT string_agg(name || definition, ',' ORDER BY name) FROM layout), \
        (SELECT count(*) FROM pg_class), (SELECT max(seq) FROM change_feed)";
    let before = database.read(written);
    refused("written by a newer version", "Start the newer version");
    assert_eq!(database.read(written), before, "nothing is touched");
    database.run("UPDATE layout SET definition = 'else' WHERE name = 'program'");
    refused("holds tables of another program", "Name an empty database");
}

#[test]
fn a_clock_that_differs_is_reported_at_the_start() {
    let Some(database) = Database::with("") else { return };
    database.run("CREATE SCHEMA fake");
    database.run(
        "CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql \
         AS 'SELECT pg_catalog.clock_timestamp() + interval ''1 hour'''",
    );
    let begun = Instant::now();
    let (text, failed) = database.start(&database.at(shadowed));
    assert!(!failed && text.contains("ready in") && begun.elapsed() < PATIENCE, "{text}");
    let told = text.lines().find(|line| line.contains("synchronise both")).unwrap_or_else(|| panic!("{text}"));
    assert!((3598..=3602).any(|seconds| told.contains(&format!("by {seconds} seconds"))), "{told}");
}

#[test]
fn a_missing_extension_is_reported_at_each_start_until_it_is_there() {
    let Some(database) = Database::with("") else { return };
    database.run("CREATE SCHEMA limited AUTHORIZATION limited");
    let limited = database.at(|url| url.set_username("limited").expect("a user"));
    for _ in 0..2 {
        let (text, failed) = database.start(&limited);
        assert!(!failed && text.contains("ready in"), "{text}");
        assert!(text.contains("pg_trgm cannot be created") && text.contains("CREATE EXTENSION pg_trgm"), "{text}");
    }
    let indexes = "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%gin_trgm_ops%'";
    assert_eq!(postgres::psql(database.url.as_str(), indexes).trim(), "0");
    database.run("CREATE EXTENSION pg_trgm");
    for _ in 0..2 {
        let (text, failed) = database.start(&limited);
        assert!(!failed && !text.contains("pg_trgm"), "{text}");
    }
    assert_ne!(postgres::psql(database.url.as_str(), indexes).trim(), "0");
}

#[test]
fn another_prefix_finds_the_same_records() {
    let server = Server::start();
    let body = serde_json::json!({"title": {"raw": "One"}, "status": "publish"});
    let made = server.admin("POST", "/cms/v2/posts", Some(&body));
    let other = server.restart_with(&["site.prefix=wp"]);
    let shown = other.get(&format!("/wp/v2/posts/{}", made.body["id"]));
    assert_eq!(shown.body["title"]["rendered"], "One", "{}", shown.text);
}
