//! A running server for its operator: metrics, health, logs.

use super::free_port::free_address;
use super::server::{Server, program, until};
use cms_base::metrics::{METRICS, MetricKind};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A server with a listener for its operator, and the address of that.
fn observed(sets: &[&str]) -> (Server, String) {
    let port = free_address().port();
    let address = format!("127.0.0.1:{port}");
    let listen = format!("server.admin_listen={address}");
    let sets: Vec<&str> = sets.iter().copied().chain([listen.as_str()]).collect();
    (Server::with(&sets), format!("http://{address}"))
}

fn read(server: &Server, operator: &str, path: &str) -> String {
    server.send("GET", &format!("{operator}{path}"), None, None, &[]).text
}

/// The value of a series.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {series} in\n{text}"))
}

/// Metrics of each webhook, of which there is none here; `webhook_states` reads them.
const OF_WEBHOOKS: &[&str] = &["cms_server_webhook_deliveries", "cms_server_webhook_lag"];

/// Metrics that only a PostgreSQL server has, and those that only a file has.
const OF_ENGINES: [&[&str]; 2] = [
    &[
        "cms_server_database_connections",
        "cms_server_database_round_trips",
        "cms_server_leader",
        "cms_server_nodes",
        "cms_server_nodes_differing",
    ],
    &["cms_server_database_bytes", "cms_server_database_log_bytes"],
];

#[test]
fn every_metric_is_shown_with_its_type_and_unit() {
    let folder = TempDir::new().expect("a temporary folder");
    let (server, operator) = observed(&[&format!("backup.folder={}", folder.path().display())]);
    server.log_until(": the database (");
    server.admin("POST", "/cms/v2/posts", Some(&serde_json::json!({"title": "a"})));
    let text = read(&server, &operator, "/metrics");
    let others = OF_ENGINES[usize::from(server.storage().starts_with("storage.url=postgres"))];
    let missing = [others, OF_WEBHOOKS].concat();
    for metric in METRICS.iter().filter(|metric| !missing.contains(&metric.name)) {
        let name = metric.name;
        assert!(text.contains(&format!("# TYPE {name} {}\n", metric.kind.as_str())), "{name} in\n{text}");
        assert!(text.contains(&format!("# HELP {name} ")), "{name}");
        if let Some(unit) = metric.unit {
            assert!(text.contains(&format!("# UNIT {name} {unit}\n")), "{name}");
        }
        let sample = match metric.kind {
            MetricKind::Histogram => format!("\n{name}_count "),
            kind => format!("\n{name}{}", kind.suffix()),
        };
        assert!(text.contains(&sample), "{name} has no sample in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn requests_are_counted_by_route_not_by_path() {
    let (server, operator) = observed(&["cache.responses=4MiB"]);
    let made = server.admin("POST", "/cms/v2/posts", Some(&serde_json::json!({"title": "a", "status": "publish"})));
    let id = made.body["id"].as_i64().expect("an id");
    for _ in 0..3 {
        server.get(&format!("/cms/v2/posts/{id}"));
    }
    for missing in 0..20 {
        server.get(&format!("/cms/v2/posts/{}", 9000 + missing));
        server.get(&format!("/nowhere/{missing}"));
    }
    let text = read(&server, &operator, "/metrics");
    let of = |route: &str, status: &str| {
        value(&text, &format!("cms_server_http_route_requests_total{{route=\"{route}\",status=\"{status}\"}}"))
    };
    let item = "/cms/v2/posts/(?P<id>[\\\\d]+)";
    assert_eq!((of(item, "2xx"), of(item, "4xx")), (3.0, 20.0), "{text}");
    assert_eq!(of("/cms/v2/posts", "2xx"), 1.0, "the post that was written");
    assert_eq!(of("none", "4xx"), 20.0);
    let series = text.lines().filter(|line| line.starts_with("cms_server_http_route_requests_total"));
    assert!(series.count() < 10, "{text}");
}

#[test]
fn failed_logins_and_rate_limits_are_counted() {
    let (server, operator) =
        observed(&["limits.mistakes.callers=failed_auth", "limits.mistakes.burst=3", "limits.mistakes.per_minute=1"]);
    let wrong = ("admin".to_owned(), "wrong".to_owned());
    for _ in 0..6 {
        server.ask("GET", "/cms/v2/posts", Some(&wrong), None);
    }
    let text = read(&server, &operator, "/metrics");
    assert_eq!(value(&text, "cms_server_failed_logins_total{credentials=\"app_password\"}"), 6.0, "{text}");
    assert!(value(&text, "cms_server_http_rate_limited_total") >= 1.0, "{text}");
}

#[test]
fn commits_are_counted_with_their_writes() {
    let (server, operator) = observed(&[]);
    let before = read(&server, &operator, "/metrics");
    for _ in 0..5 {
        server.admin("POST", "/cms/v2/posts", Some(&serde_json::json!({"title": "a"})));
    }
    let mut text = String::new();
    // The server writes of itself as well, and a reading may fall between the start of a write and its commit.
    until("every write that began is committed", || {
        text = read(&server, &operator, "/metrics");
        let waited = value(&text, "cms_server_write_wait_seconds_count");
        value(&text, "cms_server_write_queue") == 0.0 && waited == value(&text, "cms_server_commit_writes_sum")
    });
    let more = |series: &str| value(&text, series) - value(&before, series);
    assert!(more("cms_server_commit_writes_sum") >= 5.0, "{text}");
    assert!(more("cms_server_commit_writes_count") >= 5.0, "one after another: {text}");
    let bytes = |file: &str| value(&text, &format!("cms_server_{file}_bytes"));
    assert!(bytes("database") >= 4096.0 && bytes("database_log") > 0.0, "{text}");
}

#[test]
fn operators_see_that_the_newest_declarations_are_refused() {
    let (server, operator) = observed(&[]);
    for path in ["/health", "/health/ready", "/health/live"] {
        assert_eq!(read(&server, &operator, path), "ok\n");
    }
    std::fs::write(server.path("site.toml"), "[nonsense").expect("a file");
    until("health names the refusal", || read(&server, &operator, "/health").contains("declarations are refused"));
    let health = read(&server, &operator, "/health");
    assert!(health.starts_with("ok\n") && health.contains("site.toml"), "{health}");
    let text = read(&server, &operator, "/metrics");
    assert_eq!(value(&text, "cms_server_declarations_refused"), 1.0);
    assert_eq!(value(&text, "cms_server_reloads_total{outcome=\"refused\"}"), 1.0);
    std::fs::write(server.path("site.toml"), "[server]\nworkers = 3\nmax_depth = 32\n").expect("a file");
    until("the declarations are in force", || !read(&server, &operator, "/health").contains("refused"));
    let health = read(&server, &operator, "/health");
    assert_eq!(health, "ok\nchanged keys wait for a restart: server.workers\n");
    assert!(server.log_until("keep their old values").contains("restart: server.workers\n"));
    let text = read(&server, &operator, "/metrics");
    assert_eq!(value(&text, "cms_server_declarations_refused"), 0.0);
    assert_eq!(value(&text, "cms_server_restart_pending_keys"), 1.0);
}

#[test]
fn the_log_is_json_when_that_is_declared() {
    let server = Server::with(&["log.format=json"]);
    let wrong = ("admin".to_owned(), "wrong".to_owned());
    let answer = server.ask("GET", "/cms/v2/posts?per_page=2", Some(&wrong), None);
    let id = answer.header("x-request-id").expect("an id").to_owned();
    let log = server.log_until("\"query\":\"per_page=2\"");
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"))).collect();
    let message = |text: &str| {
        let says = |line: &&serde_json::Value| line["message"].as_str().is_some_and(|m| m.starts_with(text));
        lines.iter().find(says).unwrap_or_else(|| panic!("no {text} in {log}"))
    };
    assert_eq!(message("console: ")["level"], "info");
    assert_eq!(message("credentials refused")["id"], id.as_str());
    assert!(lines.iter().any(|line| line["status"] == answer.status && line["id"] == id.as_str()), "{log}");
}

#[test]
fn the_level_of_the_log_leaves_out_what_is_less_severe() {
    let server = Server::with(&["log.level=error", "server.access_log=false"]);
    let wrong = ("admin".to_owned(), "wrong".to_owned());
    server.ask("GET", "/cms/v2/posts", Some(&wrong), None);
    std::fs::write(server.path("site.toml"), "[server]\nworkers = 3\n").expect("a file");
    let log = server.log_until("reloaded the declarations");
    assert!(!log.contains("credentials refused") && !log.contains("WARN"), "{log}");
    assert!(log.contains("console: http://127.0.0.1:"), "{log}");
}

/// A request through a Unix socket; status line, headers and body.
fn ask_unix(path: &Path, head: &str) -> String {
    let mut stream = UnixStream::connect(path).expect("a server that listens");
    write!(stream, "{head}\r\nHost: a\r\nConnection: close\r\n\r\n").expect("a request is sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("a response");
    text
}

#[test]
fn the_server_listens_on_a_unix_socket() {
    let folder = TempDir::new().expect("a temporary folder");
    let socket = folder.path().join("http.sock");
    let listen = format!("server.listen=unix:{}", socket.display());
    // A killed server leaves its socket behind.
    drop(std::os::unix::net::UnixListener::bind(&socket).expect("a socket"));
    let mut server = Server::with(&[&listen, "site.url=https://www.example.org", "server.trusted_proxies=[\"unix\"]"]);
    assert!(server.rest.starts_with("https://www.example.org/"), "{}", server.rest);
    let answer = ask_unix(&socket, "GET /cms-json/cms/v2/posts HTTP/1.1");
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    ask_unix(&socket, "GET /cms-json/cms/v2/types HTTP/1.1\r\nX-Forwarded-For: 192.0.2.7");
    server.log_until("ip=192.0.2.7");
    let mode = std::fs::metadata(&socket).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o660, "a proxy in the group may connect");
    let second =
        program().args(["--set", &listen, "--set", "storage.url=sqlite:/nowhere/x.db"]).output().expect("it ends");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("another program listens there already"), "{said}");
    server.end();
    assert!(!socket.exists(), "a server removes its socket");
}

#[test]
fn systemd_passes_a_socket_on_and_learns_when_the_server_is_ready() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    let notified = std::os::unix::net::UnixDatagram::bind(at("notify")).expect("a socket");
    notified.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    // The shell gives the socket the number that systemd gives it.
    let script = "exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" \"$@\"";
    let mut child = std::process::Command::new("sh")
        .args(["-c", script, program().get_program().to_str().expect("a path")])
        .args(["--set", "server.listen=nowhere:1", "--set", "site.demo=false"])
        .args(["--set", &format!("storage.url=sqlite:{}", at("x.db").display())])
        .env("NOTIFY_SOCKET", at("notify"))
        .stdin(std::os::fd::OwnedFd::from(listener))
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program starts");
    let said = || {
        let mut buffer = [0; 256];
        let length = notified.recv(&mut buffer).expect("a message");
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    assert_eq!(said().trim(), "READY=1");
    let answer = ureq::get(format!("http://{address}/cms-json/")).call().expect("an answer");
    assert_eq!(answer.status(), 200);
    let asked = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(asked.expect("kill").success() && child.wait().expect("it ends").success());
    assert_eq!(said().trim(), "STOPPING=1");
}
