//! Starts the real program on a free port over a database of its own, and sends it requests.

use super::described;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running server and its folder. Dropping it ends the process.
pub struct Server {
    process: Child,
    pub folder: TempDir,
    pub site: String,
    pub rest: String,
    pub prefix: String,
    /// `admin:application password`.
    pub admin: (String, String),
    args: Vec<String>,
    log: Log,
    /// Nothing was declared beside what is shipped.
    is_shipped: bool,
}

/// Overrides that change no description.
const SETTINGS: &[&str] = &["site.prefix=", "site.demo=", "server.", "storage.", "log.", "cache.", "site.bcrypt_cost"];

/// The text that the process has written to its standard error.
type Log = Arc<(Mutex<String>, Condvar)>;

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub text: String,
    pub bytes: Vec<u8>,
}

impl Answer {
    /// A header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The error's code.
    pub fn code(&self) -> &str {
        self.body.get("code").and_then(Value::as_str).unwrap_or("")
    }
}

/// A command of the program.
pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cms-server"))
}

/// Runs a command to its end.
pub fn run(args: &[&str], input: &str) -> Output {
    let mut child = program()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the program reads its input");
    child.wait_with_output().expect("the program ends")
}

/// Output of a command that must succeed.
pub fn stdout(args: &[&str], input: &str) -> String {
    let output = run(args, input);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The file of a folder's database; files beside it have its name at the beginning of theirs.
const DATABASE: &str = "test.db";

/// The shipped declarations and a database with an administrator, which every server of a prefix begins with.
struct Prepared {
    declarations: Vec<PreparedFile>,
    /// Empty on a PostgreSQL server.
    database: Vec<PreparedFile>,
    secret: String,
    /// On a PostgreSQL server: the database.
    name: String,
}

struct PreparedFile {
    path: PathBuf,
    bytes: Vec<u8>,
    permissions: Permissions,
}

impl Prepared {
    /// Made by the program itself, once for each prefix.
    fn with(prefix: &str) -> Arc<Prepared> {
        static ALL: Mutex<BTreeMap<String, Arc<Prepared>>> = Mutex::new(BTreeMap::new());
        let mut all = ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let made = || {
            let folder = TempDir::new().expect("a temporary folder");
            stdout(&["init", folder.path().to_str().expect("a path")], "");
            let secret = administrator(&folder, &arguments(&folder, &[&format!("site.prefix={prefix}")]));
            let mut files = Vec::new();
            gather(folder.path(), folder.path(), &mut files);
            let (database, declarations) =
                files.into_iter().partition(|file| file.path.to_string_lossy().starts_with(DATABASE));
            let name = postgres::name(folder.path());
            Arc::new(Prepared { declarations, database, secret, name })
        };
        all.entry(prefix.to_owned()).or_insert_with(made).clone()
    }

    fn copy_declarations(&self, folder: &Path) {
        self.declarations.iter().for_each(|file| file.copy(folder));
    }

    fn copy_database(&self, folder: &Path) {
        self.database.iter().for_each(|file| file.copy(folder));
        postgres::create(folder, Some(&self.name));
    }
}

impl PreparedFile {
    fn copy(&self, folder: &Path) {
        let path = folder.join(&self.path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, &self.bytes).expect("a file");
        std::fs::set_permissions(&path, self.permissions.clone()).expect("permissions");
    }
}

fn gather(root: &Path, folder: &Path, files: &mut Vec<PreparedFile>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            gather(root, &path, files);
            continue;
        }
        let permissions = path.metadata().expect("a file").permissions();
        let bytes = std::fs::read(&path).expect("a file");
        files.push(PreparedFile { path: path.strip_prefix(root).expect("inside").to_owned(), bytes, permissions });
    }
}

/// A folder with the shipped declarations, profiles that they include, and a `site.toml`.
pub fn with_profiles(profiles: &[&str], site: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    Prepared::with("cms").copy_declarations(folder.path());
    let routes = folder.path().join("routes.toml");
    let core = "\"schemas/core/*.toml\"";
    let more: String = profiles.iter().map(|profile| format!(", \"schemas/profiles/{profile}.toml\"")).collect();
    let text = std::fs::read_to_string(&routes).expect("a file");
    std::fs::write(routes, text.replacen(core, &format!("{core}{more}"), 1)).expect("a file");
    std::fs::write(folder.path().join("site.toml"), site).expect("a file");
    folder
}

/// A text as a part of a query.
pub fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn prefix_of<'s>(sets: &[&'s str]) -> &'s str {
    sets.iter().find_map(|set| set.strip_prefix("site.prefix=")).unwrap_or("cms")
}

/// Arguments of the program over a folder.
fn arguments(folder: &TempDir, sets: &[&str]) -> Vec<String> {
    let at = |file: &str| folder.path().join(file).display().to_string();
    let mut args = vec!["--config".to_owned(), at("routes.toml")];
    let database = storage(folder.path());
    // Beside the database where that is a file.
    let files = format!("media.url=file:{}", at("test.db.files"));
    let files = postgres::server().map(|_| &*files);
    let usual = [&*database, "server.listen=127.0.0.1:0", "site.demo=false", "site.bcrypt_cost=4"];
    let sets = usual.iter().copied().chain(files).chain(sets.iter().copied());
    args.extend(sets.flat_map(|set| ["--set".to_owned(), set.to_owned()]));
    args
}

/// The setting that names the database of a folder: a file in it, or one of its own on the server that
/// `CMS_TEST_POSTGRES` names.
pub fn storage(folder: &Path) -> String {
    match postgres::server() {
        Some(server) => format!("storage.url={}", postgres::url(&server, &postgres::name(folder))),
        None => format!("storage.url=sqlite:{}", folder.join(DATABASE).display()),
    }
}

/// Databases on a PostgreSQL server, for the tests that run on one.
pub mod postgres {
    use super::*;

    /// The server that tests use, instead of files.
    pub fn server() -> Option<String> {
        std::env::var("CMS_TEST_POSTGRES").ok().filter(|url| !url.is_empty())
    }

    /// The name of a folder's database.
    pub fn name(folder: &Path) -> String {
        let name = folder.file_name().expect("a name").to_string_lossy().to_lowercase();
        format!("site_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
    }

    /// Who uses the databases, instead of the user who creates them.
    fn user() -> Option<String> {
        std::env::var("CMS_TEST_POSTGRES_USER").ok().filter(|user| !user.is_empty())
    }

    /// The address of a database.
    pub fn url(server: &str, name: &str) -> String {
        let mut url = url::Url::parse(server).expect("an address");
        url.set_path(name);
        if let Some(user) = user() {
            url.set_username(&user).expect("an address has a user");
        }
        url.to_string()
    }

    /// Carries out a statement; what it prints.
    pub fn psql(url: &str, text: &str) -> String {
        let output = Command::new("psql").args([url, "-v", "ON_ERROR_STOP=1", "-qAtc", text]).output().expect("psql");
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A database for a folder, empty or like that of another folder.
    pub fn create(folder: &Path, like: Option<&str>) {
        let Some(server) = server() else { return };
        let template = like.map_or_else(String::new, |like| format!(" TEMPLATE {like}"));
        psql(&server, &format!("CREATE DATABASE {}{template}", name(folder)));
        if let (Some(user), None) = (user(), like) {
            let mut url = url::Url::parse(&server).expect("an address");
            url.set_path(&name(folder));
            // It may create what it needs there, and no extension.
            psql(url.as_str(), &format!("CREATE SCHEMA {user} AUTHORIZATION {user}"));
        }
    }

    /// Whether a folder has its database.
    pub fn exists(folder: &Path) -> bool {
        let Some(server) = server() else { return false };
        let text = format!("SELECT 1 FROM pg_database WHERE datname = '{}'", name(folder));
        !psql(&server, &text).is_empty()
    }

    /// Deletes the database of a folder.
    pub fn delete(folder: &Path) {
        if let Some(server) = server() {
            psql(&server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", name(folder)));
        }
    }
}

fn has_database(folder: &Path) -> bool {
    match postgres::server() {
        Some(_) => postgres::exists(folder),
        None => folder.join(DATABASE).exists(),
    }
}

/// Whether overrides decide what a new database holds.
fn decide_first_content(sets: &[&str]) -> bool {
    let own = |set: &&str| ["site.", "storage.", "settings."].iter().any(|key| set.starts_with(key));
    sets.iter().filter(|set| !set.starts_with("site.prefix=")).any(own)
}

/// An application password of the administrator, who is added to a new database.
fn administrator(folder: &TempDir, args: &[String]) -> String {
    if !has_database(folder.path()) {
        postgres::create(folder.path(), None);
        let mut add = refs(args);
        add.extend(["user", "add", "admin", "admin@example.org", "--role", "administrator", "--password-stdin"]);
        stdout(&add, "an account password\n");
    }
    let mut add = refs(args);
    add.extend(["app-password", "add", "admin", "tests"]);
    stdout(&add, "").trim().to_owned()
}

impl Server {
    /// The shipped declarations under the default prefix, without the demo site.
    pub fn start() -> Server {
        Server::with(&[])
    }

    /// The shipped declarations with further overrides.
    pub fn with(sets: &[&str]) -> Server {
        let folder = TempDir::new().expect("a temporary folder");
        Prepared::with(prefix_of(sets)).copy_declarations(folder.path());
        Server::over(folder, sets)
    }

    /// With the declarations of the folder. A new database is one that was made under the shipped ones, unless the overrides
    /// decide what it holds at first.
    pub fn over(folder: TempDir, sets: &[&str]) -> Server {
        let args = arguments(&folder, sets);
        let secret = if decide_first_content(sets) || has_database(folder.path()) {
            administrator(&folder, &args)
        } else {
            let prepared = Prepared::with(prefix_of(sets));
            prepared.copy_database(folder.path());
            prepared.secret.clone()
        };
        Server::run(folder, args, sets, secret)
    }

    fn run(folder: TempDir, args: Vec<String>, sets: &[&str], secret: String) -> Server {
        let prefix = prefix_of(sets).to_owned();
        let (process, rest, log) = spawn(&args);
        let site = rest.trim_end_matches('/').trim_end_matches(&format!("/{prefix}-json")).to_owned();
        let rest = rest.trim_end_matches('/').to_owned();
        let declares = |set: &&str| !SETTINGS.iter().any(|own| set.starts_with(own));
        let is_shipped = !sets.iter().any(declares) && !folder.path().join("site.toml").exists();
        Server { process, folder, site, rest, prefix, admin: ("admin".into(), secret), args, log, is_shipped }
    }

    /// Ends the process and serves the same folder with other overrides.
    pub fn restart_with(mut self, sets: &[&str]) -> Server {
        let folder = std::mem::replace(&mut self.folder, TempDir::new().expect("a temporary folder"));
        let secret = self.admin.1.clone();
        drop(self);
        let args = arguments(&folder, sets);
        Server::run(folder, args, sets, secret)
    }

    /// Kills the process without warning.
    pub fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Asks the process to end, and waits until it has.
    pub fn end(&mut self) {
        let asked = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
        assert!(asked.expect("kill").success());
        assert!(self.process.wait().expect("it ends").success());
    }

    /// Several processes that start at once over an empty database, with the demo site. Those after the first have empty
    /// folders.
    pub fn at_once(number: usize) -> Vec<Server> {
        let folder = TempDir::new().expect("a temporary folder");
        stdout(&["init", folder.path().to_str().expect("a path")], "");
        postgres::create(folder.path(), None);
        let args = arguments(&folder, &["site.demo=true"]);
        let started: Vec<_> = std::thread::scope(|threads| {
            let all: Vec<_> = (0..number).map(|_| threads.spawn(|| spawn(&args))).collect();
            all.into_iter().map(|one| one.join().expect("a server that serves")).collect()
        });
        let mut folder = Some(folder);
        let server = |(process, rest, log): (Child, String, Log)| {
            let folder = folder.take().unwrap_or_else(|| TempDir::new().expect("a temporary folder"));
            let rest = rest.trim_end_matches('/').to_owned();
            let site = rest.trim_end_matches("/cms-json").to_owned();
            let admin = ("admin".to_owned(), String::new());
            let (prefix, args) = ("cms".to_owned(), args.clone());
            Server { process, folder, site, rest, prefix, admin, args, log, is_shipped: false }
        };
        started.into_iter().map(server).collect()
    }

    /// Another process over the same declarations and database. Its folder is an empty one.
    pub fn beside(&self) -> Server {
        self.beside_with(&[])
    }

    /// The same, with further settings.
    pub fn beside_with(&self, sets: &[&str]) -> Server {
        let mut args = self.args.clone();
        args.extend(sets.iter().flat_map(|set| ["--set".to_owned(), (*set).to_owned()]));
        let (process, rest, log) = spawn(&args);
        let rest = rest.trim_end_matches('/').to_owned();
        let site = rest.trim_end_matches(&format!("/{}-json", self.prefix)).to_owned();
        let folder = TempDir::new().expect("a temporary folder");
        let (prefix, admin) = (self.prefix.clone(), self.admin.clone());
        Server { process, folder, site, rest, prefix, admin, args, log, is_shipped: false }
    }

    /// The log by now.
    pub fn log(&self) -> String {
        self.log.0.lock().expect("no panic holds it").clone()
    }

    /// Kills the process without warning, if it still runs, and starts it again over the same database.
    pub fn kill_and_restart(&mut self) {
        self.restart_in(&[]).unwrap_or_else(|said| panic!("the server did not start:\n{said}"));
    }

    /// The same with further variables of its environment; what it says if it does not start.
    pub fn restart_in(&mut self, environment: &[(&str, String)]) -> Result<(), String> {
        self.stop();
        let (process, rest, log) = spawn_in(&self.args, environment)?;
        self.log = log;
        let rest = rest.trim_end_matches('/').to_owned();
        self.site = rest.trim_end_matches(&format!("/{}-json", self.prefix)).to_owned();
        self.rest = rest;
        self.process = process;
        Ok(())
    }

    /// The log, as soon as it holds this text.
    pub fn log_until(&self, text: &str) -> String {
        let (written, grown) = &*self.log;
        let log = written.lock().expect("no panic holds it");
        let waited = grown.wait_timeout_while(log, Duration::from_secs(30), |log| !log.contains(text));
        let (log, waited) = waited.expect("no panic holds it");
        assert!(!waited.timed_out(), "the log has no {text}: {log}");
        log.clone()
    }

    /// The arguments that the process was started with.
    pub fn args(&self) -> Vec<&str> {
        refs(&self.args)
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The processor time that the process has taken, in seconds. Other programs on the machine add nothing to it.
    pub fn processor_time(&self) -> f64 {
        let about = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("a running process");
        // After the name in parentheses; user and system time are the 14th and 15th field, in hundredths of a second.
        let fields: Vec<&str> = about.rsplit_once(')').expect("a name").1.split_whitespace().collect();
        fields[11..13].iter().map(|ticks| ticks.parse::<f64>().expect("a number") / 100.0).sum()
    }

    /// The setting that names the database.
    pub fn storage(&self) -> String {
        storage(self.folder.path())
    }

    /// The rows of a query, a line each, or what a statement changed.
    pub fn sql(&self, text: &str) -> Vec<String> {
        if let Some(url) = self.storage().strip_prefix("storage.url=postgres") {
            return postgres::psql(&format!("postgres{url}"), text).lines().map(str::to_owned).collect();
        }
        let database = rusqlite::Connection::open(self.path("test.db")).expect("the database");
        let mut statement = database.prepare(text).expect("a statement");
        let width = statement.column_count();
        let mut rows = statement.query([]).expect("rows");
        let mut found = Vec::new();
        while let Some(row) = rows.next().expect("a row") {
            let cells = (0..width).map(|at| match row.get::<_, rusqlite::types::Value>(at).expect("a value") {
                rusqlite::types::Value::Null => String::new(),
                rusqlite::types::Value::Integer(n) => n.to_string(),
                rusqlite::types::Value::Real(n) => n.to_string(),
                rusqlite::types::Value::Text(text) => text,
                rusqlite::types::Value::Blob(_) => "blob".to_owned(),
            });
            found.push(cells.collect::<Vec<_>>().join("|"));
        }
        found
    }

    /// Path of a file in the folder.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// A request to a route; `as_user` is a login and a password.
    pub fn ask(&self, method: &str, route: &str, as_user: Option<&(String, String)>, body: Option<&Value>) -> Answer {
        let body = body.map(|b| ("application/json", b.to_string().into_bytes()));
        self.send(method, &format!("{}{route}", self.rest), as_user, body, &[])
    }

    /// The same as an administrator.
    pub fn admin(&self, method: &str, route: &str, body: Option<&Value>) -> Answer {
        self.ask(method, route, Some(&self.admin), body)
    }

    /// An anonymous GET.
    pub fn get(&self, route: &str) -> Answer {
        self.ask("GET", route, None, None)
    }

    /// A user of a role with an application password.
    pub fn user(&self, login: &str, role: &str) -> (String, String) {
        let body = serde_json::json!({"username": login, "email": format!("{login}@example.org"), "password": "long enough",
            "roles": [role]});
        let ns = format!("/{}/v2", self.prefix);
        let made = self.admin("POST", &format!("{ns}/users"), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        let id = made.body["id"].as_i64().expect("an id");
        let route = format!("{ns}/users/{id}/application-passwords");
        let made = self.admin("POST", &route, Some(&serde_json::json!({"name": "tests"})));
        assert_eq!(made.status, 201, "{}", made.text);
        (login.to_owned(), made.body["password"].as_str().expect("the clear value").to_owned())
    }

    /// Any request at all.
    pub fn send(
        &self,
        method: &str,
        url: &str,
        as_user: Option<&(String, String)>,
        body: Option<(&str, Vec<u8>)>,
        headers: &[(&str, &str)],
    ) -> Answer {
        use base64::Engine;
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .max_redirects(0)
            .build()
            .into();
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        if let Some((login, password)) = as_user {
            let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{password}"));
            request = request.header("authorization", format!("Basic {pair}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let done = match body {
            Some((media, bytes)) => {
                let request = request.header("content-type", media).body(bytes).expect("a request");
                agent.run(request)
            }
            None => agent.run(request.body(()).expect("a request")),
        };
        let mut response = done.unwrap_or_else(|e| panic!("{method} {url}: {e}"));
        let bytes = response.body_mut().read_to_vec().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let answer = Answer {
            status: response.status().as_u16(),
            headers: response
                .headers()
                .iter()
                .map(|(n, v)| (n.as_str().to_owned(), v.to_str().unwrap_or("").to_owned()))
                .collect(),
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
            bytes,
        };
        self.hold_to_the_description(method, url, headers, &answer);
        answer
    }

    /// A response of the shipped declarations is what their description says.
    fn hold_to_the_description(&self, method: &str, url: &str, headers: &[(&str, &str)], answer: &Answer) {
        let Some(route) = url.strip_prefix(&self.rest).filter(|_| self.is_shipped) else { return };
        let (path, query) = route.split_once('?').unwrap_or((route, ""));
        // The description leaves hidden routes out.
        if path.ends_with("/import") {
            return;
        }
        let shaped = ["_envelope", "_jsonp", "_method"].iter().any(|name| query.contains(name));
        if shaped || headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("x-http-method-override")) {
            return;
        }
        if let Some(objection) = described::under(&self.prefix).objection(method, path, answer) {
            panic!("{method} {route} is not as described: {objection}");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        postgres::delete(self.folder.path());
    }
}

fn refs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

/// A process that listens: its further lines, what it has said before, and its address.
type Started = (Child, std::io::Lines<BufReader<std::process::ChildStderr>>, String, String);

/// Starts the process; what it said, if it ended again.
fn attempt(args: &[String], environment: &[(&str, String)]) -> Result<Started, String> {
    let mut command = program();
    command.args(args).envs(environment.iter().cloned()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut said = String::new();
    loop {
        let Some(Ok(line)) = lines.next() else {
            child.wait().expect("it has ended");
            return Err(said);
        };
        said.push_str(&line);
        said.push('\n');
        // The log may be lines of JSON.
        if let Some((_, rest)) = line.split_once("ready in ").and_then(|(_, l)| l.split_once(": ")) {
            let rest = rest.trim_end_matches("\"}").to_owned();
            return Ok((child, lines, said, rest));
        }
    }
}

/// Starts the process and waits until it reports where it listens. A port that a test has chosen may be in use for a moment,
/// by a connection of another test.
fn spawn(args: &[String]) -> (Child, String, Log) {
    spawn_in(args, &[]).unwrap_or_else(|said| panic!("the server did not start:\n{said}"))
}

fn spawn_in(args: &[String], environment: &[(&str, String)]) -> Result<(Child, String, Log), String> {
    let started = (0..20).map(|_| attempt(args, environment)).find(|attempt| match attempt {
        Ok(_) => true,
        Err(said) => !said.contains("another program listens there already"),
    });
    let (child, lines, said, rest) = started.expect("a free port")?;
    // The log continues; without a reader it would block the server.
    let log: Log = Arc::new((Mutex::new(said), Condvar::new()));
    let ours = Arc::clone(&log);
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let (written, grown) = &*ours;
            let mut written = written.lock().expect("no panic holds it");
            written.push_str(&line);
            written.push('\n');
            grown.notify_all();
        }
    });
    Ok((child, rest, log))
}

/// Waits until something holds that the server does in the background.
pub fn until(what: &str, holds: impl FnMut() -> bool) {
    within(Duration::from_secs(30), what, holds);
}

/// The same within a bound that belongs to what is promised.
pub fn within(bound: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < bound, "{what}");
        // A test that asks without a pause takes the processor from what it waits for.
        std::thread::sleep(Duration::from_millis(5));
    }
}
