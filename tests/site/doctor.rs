//! `cms-server doctor`: its report on a healthy site, and on proxies in front of one.

use super::free_port::free_address;
use super::left_out::{SERVER, left_out};
use super::server::{Server, run};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// The doctor's report on the server at an address, and whether all is well.
fn doctor(server: &Server, url: &str) -> (String, bool) {
    doctor_with(server, url, &[])
}

/// The same with further settings.
fn doctor_with(server: &Server, url: &str, sets: &[&str]) -> (String, bool) {
    let own = format!("site.url={}", server.site);
    let mut args = server.args();
    args.extend(sets.iter().chain([&&*own]).flat_map(|set| ["--set", *set]));
    args.extend(["doctor", "--url", url]);
    let done = run(&args, "");
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    (said, done.status.success())
}

/// A proxy that changes the heads of requests; its address.
fn proxy(server: &Server, change: fn(&str) -> Option<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let to = server.site.trim_start_matches("http://").to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let to = to.clone();
            std::thread::spawn(move || pass_on(stream, &to, change));
        }
    });
    format!("http://{address}")
}

fn pass_on(mut client: TcpStream, to: &str, change: fn(&str) -> Option<String>) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let mut lines: Vec<String> =
        head.trim_end().lines().filter(|l| !l.to_lowercase().starts_with("connection:")).filter_map(change).collect();
    lines.push("Connection: close".into());
    let mut server = TcpStream::connect(to).ok()?;
    server.write_all(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes()).ok()?;
    std::io::copy(&mut server, &mut client).ok().map(|_| ())
}

#[test]
fn a_site_that_is_well_is_told_so() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let route = format!("/{prefix}/v2/users/me/application-passwords");
        let before = server.admin("GET", &route, None).body;
        let (said, well) = doctor(&server, &server.site);
        assert!(well && !said.contains("WRONG") && said.contains("good   an application password"), "{said}");
        assert_eq!(server.admin("GET", &route, None).body.as_array().map(Vec::len), before.as_array().map(Vec::len));
    }
}

#[test]
fn a_site_that_search_engines_leave_out_is_told() {
    let server = Server::with(&["site.noindex=true"]);
    let (said, well) = doctor(&server, &server.site);
    assert!(!well && said.contains("WRONG  search engines may list the site"), "{said}");
    assert!(said.contains("site.noindex is on"), "{said}");
}

#[test]
fn what_stands_before_the_server_is_told_with_what_helps() {
    let server = Server::with(&["site.application_passwords=on"]);
    type Change = fn(&str) -> Option<String>;
    let cases: [(Change, &str); 4] = [
        (|line| (!line.to_lowercase().starts_with("authorization:")).then(|| line.to_owned()), "does not arrive"),
        (|line| Some(line.replace("DELETE ", "GET ")), "it calls itself"),
        (|line| (!line.to_lowercase().starts_with("if-none-match:")).then(|| line.to_owned()), "If-None-Match"),
        (|line| Some(line.replace(" /cms-json", " /elsewhere")), "pass "),
    ];
    for (change, told) in cases {
        let (said, well) = doctor(&server, &proxy(&server, change));
        assert!(!well && said.contains(told), "{told}: {said}");
    }
    // A forwarding header means that not everything stays on this machine.
    let careful = Server::start();
    let forwarding = proxy(&careful, |line| {
        Some(line.replacen("Host:", "X-Forwarded-For: 192.0.2.1\r\nHost:", 1).replacen(
            "host:",
            "X-Forwarded-For: 192.0.2.1\r\nhost:",
            1,
        ))
    });
    let (said, well) = doctor(&careful, &forwarding);
    assert!(!well && said.contains("not HTTPS"), "{said}");
    let nobody = free_address();
    let (said, well) = doctor(&careful, &format!("http://{nobody}"));
    assert!(!well && said.contains("Does the server run"), "{said}");
}

#[test]
fn nodes_that_differ_from_what_is_here_are_named() {
    let server = Server::with(&["server.node=one"]);
    if !server.storage().starts_with("storage.url=postgres") {
        left_out(SERVER);
        return;
    }
    let other = server.beside_with(&["server.node=two", &format!("site.url={}", server.site)]);
    let seen = |said: &str| said.contains("the node one ") && said.contains("the node two ");
    let mut found = doctor(&server, &server.site);
    // A node shows itself a moment after it is ready.
    for _ in 0..20 {
        if !seen(&found.0) {
            found = doctor(&server, &server.site);
        }
    }
    let (said, well) = found;
    assert!(well && seen(&said) && !said.contains("WRONG"), "{said}");
    assert!(said.contains("good   the clocks of the database and of this machine agree"), "{said}");
    let elsewhere = format!("media.url=file:{}", other.path("elsewhere").display());
    for (set, wrong) in [
        ("settings.title=Another", "has other declarations"),
        ("site.prefix=other", "another site.url or site.prefix"),
        // This folder has no mark yet, so nothing is known of it.
        (&*elsewhere, ""),
    ] {
        let (said, well) = doctor_with(&server, &server.site, &[set]);
        assert_eq!(said.contains("WRONG  the node two"), !wrong.is_empty(), "{set}: {said}");
        assert!(said.contains(wrong) && (wrong.is_empty() || !well), "{set}: {said}");
    }
}

#[test]
fn a_path_that_the_server_does_not_know_of_is_told() {
    let server = Server::start();
    // The proxy takes the path away, and the server believes that it has the host for itself.
    let proxy = proxy(&server, |line| Some(line.replacen(" /blog/", " /", 1)));
    let (said, well) = doctor(&server, &format!("{proxy}/blog"));
    assert!(!well && said.contains("the login page is there") && said.contains("with its path"), "{said}");
}
