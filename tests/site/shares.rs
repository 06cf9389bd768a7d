//! The share of one caller in what all share: the write transaction, the threads that hash and work on pictures, the memory
//! of bodies, the descriptions of the service.

use super::media::{encoded, halves, route, upload};
use super::pages::{Browser, PASSWORD};
use super::server::{Answer, Server};
use image::ImageFormat;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const OWN_PASSWORD: &str = "long enough";

/// A user of a role: login and application password, and the id.
fn user(server: &Server, login: &str, role: &str) -> ((String, String), i64) {
    let user = server.user(login, role);
    let me = server.ask("GET", "/cms/v2/users/me", Some(&user), None);
    (user, me.body["id"].as_i64().expect("an id"))
}

// ------------------------------------------------------------------------------------------------ transactions

#[test]
fn a_transaction_takes_nothing_slow() {
    let server = Server::start();
    let (reader, id) = user(&server, "reader", "subscriber");
    let path = format!("/cms/v2/users/{id}");
    let password = json!({"method": "POST", "path": path, "body": {"password": "another long one"}});
    let named = json!({"method": "POST", "path": path, "body": {"nickname": "Reader"}});
    let batch = |requests: Value| {
        server.ask("POST", "/batch/v1", Some(&reader), Some(&json!({"atomic": true, "requests": requests}))).body
    };
    let whole = batch(json!([named, password]));
    assert_eq!((&whole["responses"][0]["status"], &whole["responses"][1]["status"]), (&json!(200), &json!(200)));
    let log_in =
        |password: &str| Browser::new(&server).post("/login", &[("login", "reader"), ("password", password)]).status;
    assert_eq!((log_in(OWN_PASSWORD), log_in("another long one")), (401, 303));
    // Passwords are hashed before the transaction, and counted as they are elsewhere: nothing is written by this one.
    let own = |n: usize| {
        let path = if n.is_multiple_of(2) { path.as_str() } else { "/cms/v2/users/me" };
        json!({"method": "POST", "path": path, "body": {"password": format!("own password {n}")}})
    };
    let refused = batch((0..25).map(own).collect());
    assert_eq!(refused["failed"], "atomic", "{refused}");
    let statuses: Vec<&Value> =
        refused["responses"].as_array().into_iter().flatten().filter(|r| !r.is_null()).map(|r| &r["status"]).collect();
    assert_eq!(statuses, [429], "{refused}");
    assert_eq!(log_in("another long one"), 303);
    // Nobody without credentials has anything hashed.
    let body = json!({"atomic": true, "requests": [password]});
    let unknown = server.ask("POST", "/batch/v1", None, Some(&body)).body;
    assert_eq!(unknown["responses"][0]["status"], 401, "{unknown}");
}

#[test]
fn steps_of_one_commit_set_no_passwords_and_imports_hash_them_before() {
    let server = Server::start();
    let ability = r#"
[abilities."desk/reset"]
category = "site"
label = "Reset"
description = "Gives a user another password."
show_in_rest = true
atomic = true
input_schema = { type = "object", required = ["user", "password"], properties = { user = { type = "integer" }, password = { type = "string" } } }
steps = [ { name = "set", method = "POST", path = "/{prefix}/v2/users/{user}", args = { password = "{password}" } } ]
"#;
    std::fs::write(server.path("site.toml"), ability).expect("a file");
    let server = server.restart_with(&[]);
    let (_, id) = user(&server, "reader", "subscriber");
    let body = json!({"input": {"user": id, "password": "another long one"}});
    let refused = server.admin("POST", "/abilities/v1/abilities/desk/reset/run", Some(&body));
    assert_eq!((refused.status, refused.code()), (400, "rest_batch_not_allowed"), "{}", refused.text);
    let line = json!({"id": id, "password": "another long one"}).to_string();
    let url = format!("{}/cms/v2/users/import?upsert=id", server.rest);
    let sent = Some(("application/x-ndjson", line.into_bytes()));
    let imported = server.send("POST", &url, Some(&server.admin), sent, &[]);
    let result: Value = serde_json::from_str(imported.text.lines().next().unwrap_or_default()).unwrap_or_default();
    assert_eq!(result["result"], "updated", "{}", imported.text);
    let log_in = |password| Browser::new(&server).post("/login", &[("login", "reader"), ("password", password)]).status;
    assert_eq!((log_in(OWN_PASSWORD), log_in("another long one")), (401, 303));
}

// ------------------------------------------------------------------------------------------------ hashes

#[test]
fn nobody_keeps_others_from_logging_in() {
    let server = Server::start();
    let (reader, id) = user(&server, "reader", "subscriber");
    for n in 0..4 {
        server.user(&format!("other{n}"), "author");
    }
    let over = AtomicBool::new(false);
    let statuses = std::thread::scope(|threads| {
        let flood: Vec<_> = (0..24)
            .map(|thread| {
                let (server, reader, over) = (&server, &reader, &over);
                threads.spawn(move || {
                    let mut statuses = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        let body = json!({"password": format!("own password {thread}")});
                        let route = format!("/cms/v2/users/{id}");
                        let answer = server.ask("POST", &route, Some(reader), Some(&body));
                        statuses.push((answer.status, answer.header("retry-after").is_some()));
                    }
                    statuses
                })
            })
            .collect();
        let mut logins = vec![("admin".to_owned(), PASSWORD)];
        logins.extend((0..4).map(|n| (format!("other{n}"), OWN_PASSWORD)));
        for (login, password) in logins {
            let answer = Browser::new(&server).post("/login", &[("login", &login), ("password", password)]);
            assert_eq!(answer.status, 303, "{login}: {}", answer.text);
        }
        over.store(true, Ordering::Relaxed);
        flood.into_iter().flat_map(|thread| thread.join().expect("an end")).collect::<Vec<_>>()
    });
    let set = statuses.iter().filter(|(status, _)| *status == 200).count();
    assert!((1..=11).contains(&set), "as often as passwords are guessed: {set}");
    assert!(statuses.iter().all(|(status, _)| matches!(status, 200 | 429 | 503)), "{statuses:?}");
    assert!(statuses.iter().all(|(status, waits)| *status == 200 || *waits), "they say how long to wait");
    // Others set passwords meanwhile.
    let route = format!("/cms/v2/users/{id}");
    assert_eq!(server.admin("POST", &route, Some(&json!({"password": "the last one"}))).status, 200);
}

// ------------------------------------------------------------------------------------------------ pictures

/// A picture made of boxes with so many descriptions of one item, in so many places.
fn repeated(descriptions: u16, places: u16, boxes: usize) -> Vec<u8> {
    let made = |name: &[u8; 4], inside: &[u8]| {
        let length = u32::try_from(inside.len() + 8).expect("short");
        [&length.to_be_bytes()[..], name, inside].concat()
    };
    let info = made(b"infe", b"\x02\0\0\0\0\x07\0\0Exif\0");
    let infos = [b"\0\0\0\0".as_slice(), &descriptions.to_be_bytes(), &info.repeat(descriptions.into())].concat();
    let place = [40_u32.to_be_bytes(), (4_u32 << 20).to_be_bytes()].concat();
    let located =
        [b"\0\0\0\0\x44\0\0\x01\0\x07\0\0".as_slice(), &places.to_be_bytes(), &place.repeat(places.into())].concat();
    let meta = [b"\0\0\0\0".to_vec(), made(b"iinf", &infos), made(b"iloc", &located)].concat();
    [made(b"ftyp", b"avif\0\0\0\0mif1avif"), made(b"meta", &meta).repeat(boxes)].concat()
}

#[test]
fn metadata_of_a_small_file_take_little() {
    let server = Server::start();
    for (name, kind) in [("a.avif", "image/avif"), ("a.mp4", "video/mp4")] {
        for (descriptions, places, boxes) in [(2_000, 2_000, 1), (2_000, 2_000, 4), (1, 60, 60), (1, 2_000, 4)] {
            let mut bytes = repeated(descriptions, places, boxes);
            bytes.resize(bytes.len() + (1 << 20), 0);
            if name.ends_with("mp4") {
                bytes[8..12].copy_from_slice(b"isom");
            }
            let (start, before) = (server.processor_time(), memory(&server));
            let refused = upload(&server, name, kind, bytes);
            assert_eq!(
                refused.code(),
                "rest_upload_unsupported_type",
                "{name} {descriptions} {places} {boxes}: {}",
                refused.text
            );
            let taken = server.processor_time() - start;
            assert!(taken < 10.0, "{name} {descriptions} {places} {boxes}: {taken} s");
            let grown = memory(&server).saturating_sub(before);
            assert!(grown < 64 << 20, "{name} {descriptions} {places} {boxes}: {} MiB", grown >> 20);
        }
    }
}

/// The memory of the server's process, in bytes.
fn memory(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

#[test]
fn pictures_that_break_off_are_refused() {
    let server = Server::start();
    let of = |format: ImageFormat| encoded(&halves(400, 300), format);
    for (name, kind, bytes) in [
        ("a.png", "image/png", of(ImageFormat::Png)),
        ("a.jpg", "image/jpeg", of(ImageFormat::Jpeg)),
        ("a.gif", "image/gif", of(ImageFormat::Gif)),
        ("a.webp", "image/webp", of(ImageFormat::WebP)),
    ] {
        let whole = upload(&server, name, kind, bytes.clone());
        assert_eq!(whole.status, 201, "{name}: {}", whole.text);
        for length in [bytes.len() / 2, bytes.len() * 9 / 10] {
            let half = upload(&server, name, kind, bytes[..length].to_vec());
            assert_eq!(
                (half.status, half.code()),
                (415, "rest_upload_unsupported_type"),
                "{name} {length}: {}",
                half.text
            );
        }
    }
}

// ------------------------------------------------------------------------------------------------ bodies

/// Begins a request with a body, of which so much is sent; the rest is not.
fn begun(server: &Server, path: &str, announced: usize, sent: usize) -> TcpStream {
    let host = server.site.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let kind = if path.ends_with(".php") { "text/xml" } else { "application/json" };
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {announced}\r\n\r\n");
    // A server that refuses the body closes the connection.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![b' '; sent]));
    stream
}

/// The status of the response, as soon as there is one; 0: none.
fn status(stream: &mut TcpStream) -> u16 {
    let mut head = [0; 12];
    match stream.read_exact(&mut head) {
        Ok(()) => String::from_utf8_lossy(&head[9..]).parse().expect("a status"),
        Err(_) => 0,
    }
}

#[test]
fn bodies_in_progress_share_their_memory() {
    let server = Server::with(&["xmlrpc.enabled=true"]);
    let large = json!({"title": {"raw": "Large"}, "content": {"raw": "x".repeat(3 << 20)}, "status": "publish"});
    assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&large)).status, 201);
    let before = memory(&server);
    // Without credentials, large bodies are refused by their head.
    for path in ["/cms-json/cms/v2/posts", "/cms-json/batch/v1"] {
        let mut all: Vec<TcpStream> = (0..40).map(|_| begun(&server, path, 16_000_000, 1 << 20)).collect();
        for stream in &mut all {
            assert!(matches!(status(stream), 413 | 0), "{path}");
        }
    }
    // Without a length, too; and one just small enough is none of these.
    let url = format!("{}/cms/v2/posts", server.rest);
    let body = |bytes: usize| Some(("application/json", format!("{{\"a\":\"{}\"}}", "x".repeat(bytes)).into_bytes()));
    let too_large: Answer = server.send("POST", &url, None, body(1 << 20), &[]);
    assert_eq!((too_large.status, too_large.code()), (413, "rest_payload_too_large"), "{}", too_large.text);
    assert_eq!(server.send("POST", &url, None, body((1 << 20) - 10), &[]).status, 401);
    // Calls bring their credentials inside, so their bodies share what there is.
    let mut calls: Vec<TcpStream> = (0..12).map(|_| begun(&server, "/xmlrpc.php", 16_000_000, 4 << 20)).collect();
    let refused = calls.iter_mut().rev().take(6).map(status).filter(|status| *status == 503).count();
    assert!(refused >= 5, "{refused} of the last six");
    let grown = memory(&server).saturating_sub(before);
    assert!(grown < 64 << 20, "{} MiB", grown >> 20);
    // Others work meanwhile, also with large bodies.
    assert_eq!(Browser::new(&server).post("/login", &[("login", "admin"), ("password", PASSWORD)]).status, 303);
    assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&large)).status, 201);
    drop(calls);
    let again = (0..200).any(|_| {
        std::thread::yield_now();
        let mut call = begun(&server, "/xmlrpc.php", 4 << 20, 4 << 20);
        status(&mut call) == 200
    });
    assert!(again, "the memory is given back with the connections");
}

#[test]
fn a_form_takes_memory_as_other_bodies_do() {
    let server = Server::start();
    let form = |bytes: usize| {
        let field = "x".repeat(bytes);
        format!("--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n{field}\r\n--b--\r\n").into_bytes()
    };
    let send = |bytes: usize, as_user: Option<&(String, String)>| {
        let sent = Some(("multipart/form-data; boundary=b", form(bytes)));
        server.send("POST", &route(&server, ""), as_user, sent, &[]).status
    };
    assert_eq!(send(2 << 20, None), 413);
    assert_eq!(send(1 << 10, None), 401);
    assert_eq!(send(2 << 20, Some(&server.admin)), 400, "no file");
}

// ------------------------------------------------------------------------------------------------ descriptions

#[test]
fn a_pretty_description_is_the_same() {
    let server = Server::start();
    let plain = server.admin("GET", "/openapi.json?for=me", None);
    let pretty = server.admin("GET", "/openapi.json?for=me&_pretty", None);
    assert_eq!((plain.status, pretty.status), (200, 200), "{}", plain.text);
    assert_eq!(pretty.text, serde_json::to_string_pretty(&plain.body).expect("JSON"));
}
