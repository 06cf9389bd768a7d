//! The export of the site over HTTP: `GET server/v1/export`.

use super::server::{Answer, Server, run, stdout, until};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

const ROUTE: &str = "/server/v1/export";

/// The file that the command writes.
fn file(server: &Server, name: &str, more: &[&str]) -> String {
    let path = server.path(name).display().to_string();
    let mut args = server.args();
    args.extend(["export", "--wxr", &path]);
    args.extend(more);
    stdout(&args, "");
    // The server listens where the command does not know.
    fs::read_to_string(path).expect("an export").replace("http://127.0.0.1:0", &server.site)
}

fn brought(server: &Server, text: &str) {
    let path = server.path("in.xml");
    fs::write(&path, text).expect("a file");
    let path = path.display().to_string();
    let mut args = server.args();
    args.extend(["import", &path]);
    let done = run(&args, "");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn exported(server: &Server, query: &str) -> Answer {
    let answer = server.admin("GET", &format!("{ROUTE}{query}"), None);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text);
    answer
}

/// The address of the next part.
fn next(answer: &Answer) -> Option<String> {
    let links = answer.header("link")?;
    let link = links.split(", ").find(|link| link.ends_with("rel=\"next\""))?;
    Some(link.trim_start_matches('<').split('>').next()?.to_owned())
}

#[test]
fn the_export_is_the_file_of_the_command_for_those_who_may_export() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&*format!("site.prefix={prefix}"), "site.demo=true"]);
        let answer = exported(&server, "");
        assert_eq!(answer.header("content-type"), Some("application/rss+xml"));
        assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"site.xml\""));
        assert!(answer.header("cache-control").is_some_and(|held| held.contains("no-store")));
        assert!(answer.text == file(&server, "whole.xml", &[]), "{prefix}: {}", answer.text);
        assert!(exported(&server, "?type=pages").text == file(&server, "pages.xml", &["--type", "pages"]));
        let since = exported(&server, "?since=2999-01-01T00:00:00");
        assert_eq!(since.text, file(&server, "since.xml", &["--since", "2999-01-01"]));

        // Parts are exports of their own, and are together the whole.
        let other = Server::with(&[&*format!("site.prefix={prefix}")]);
        let (mut part, mut parts) = (exported(&server, "?limit=7"), 0);
        loop {
            parts += 1;
            assert!(part.text.matches("<item>").count() <= 7, "{}", part.text);
            brought(&other, &part.text);
            let Some(address) = next(&part) else { break };
            part = server.send("GET", &address, Some(&server.admin), None, &[]);
            assert_eq!(part.status, 200, "{address}: {}", part.text);
        }
        assert!(parts > 2, "{parts}");
        let (items, again) = (|text: &str| text.matches("<item>").count(), exported(&other, ""));
        assert_eq!(items(&again.text), items(&answer.text));

        let editor = server.user("edith", "editor");
        assert_eq!(server.get(ROUTE).status, 401);
        let refused = server.ask("GET", ROUTE, Some(&editor), None);
        assert_eq!((refused.status, refused.code()), (403, "rest_forbidden"));
        let made = server.admin(
            "POST",
            &format!("/{prefix}/v2/users/me/application-passwords"),
            Some(&json!({"name": "Posts", "resources": ["posts"]})),
        );
        let limited = (server.admin.0.clone(), made.body["password"].as_str().expect("a password").to_owned());
        let refused = server.ask("GET", ROUTE, Some(&limited), None);
        assert_eq!((refused.status, refused.code()), (403, "rest_application_password_limited"));
        for query in ["?type=books", "?since=yesterday", "?limit=0", "?after=-1", "?_cursor=soon"] {
            let refused = server.admin("GET", &format!("{ROUTE}{query}"), None);
            assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{query}");
        }
        let head = server.admin("HEAD", ROUTE, None);
        assert_eq!((head.status, head.text.as_str()), (200, ""));
    }
}

#[test]
fn a_slow_reader_of_a_large_export_holds_neither_memory_nor_a_transaction() {
    let server = Server::start();
    let text = "x".repeat(100_000);
    let mut wxr = String::from(
        "<rss xmlns:wp=\"http://wordpress.org/export/1.2/\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\">\
         <channel><wp:wxr_version>1.2</wp:wxr_version>",
    );
    for n in 1..=300 {
        let _ = write!(
            wxr,
            "<item><title>Post {n}</title><content:encoded>{text}</content:encoded><wp:post_id>{n}</wp:post_id>\
             <wp:post_date>2024-01-01 00:00:00</wp:post_date><wp:status>publish</wp:status><wp:post_type>post</wp:post_type></item>"
        );
    }
    brought(&server, &(wxr + "</channel></rss>"));
    let before = memory(&server);
    let mut stream = slow_reader(&server);
    let mut answer = vec![0; 200_000];
    stream.read_exact(&mut answer).expect("the beginning");
    // The buffers of the sockets are full by now; the rest waits for the client.
    let held = if server.storage().contains("sqlite") {
        "PRAGMA wal_checkpoint(TRUNCATE)"
    } else {
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
    };
    until("no transaction is open", || server.sql(held).first().is_some_and(|row| row.starts_with('0')));
    let made = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": "Meanwhile", "status": "publish"})));
    assert_eq!(made.status, 201, "{}", made.text);
    let grown = memory(&server).saturating_sub(before);
    assert!(grown < 26 << 20, "{} MiB of 28", grown >> 20);
    stream.read_to_end(&mut answer).expect("the rest");
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.ends_with("0\r\n\r\n"), "the last chunk");
    assert!(answer.matches("<item>").count() >= 300 && answer.contains("</rss>"));
}

/// The memory of the server's own, in bytes: without what it maps of files.
fn memory(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// A connection that has asked for the export.
fn slow_reader(server: &Server) -> TcpStream {
    use base64::Engine as _;
    let (login, password) = &server.admin;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{password}"));
    let address = server.site.trim_start_matches("http://");
    let path = server.rest.trim_start_matches(&server.site);
    let mut stream = TcpStream::connect(address).expect("a connection");
    let head = format!(
        "GET {path}{ROUTE} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Basic {pair}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("a request");
    stream
}
