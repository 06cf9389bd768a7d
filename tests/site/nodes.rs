//! Several servers over one database: what one has written, the others show.

use super::free_port::free_address;
use super::left_out::{SERVER, left_out};
use super::server::{self, Server, within};
use serde_json::json;
use std::time::Duration;

/// How long a write may take until another server shows it. It takes a few milliseconds on a machine that does nothing
/// else.
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn a_strict_node_shows_at_once_what_another_has_written() {
    let first = Server::with(&["cache.consistency=strict"]);
    let second = first.beside();
    let made = first.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "Zero"}, "status": "publish"})));
    let item = format!("/cms/v2/posts/{}", made.body["id"]);
    for round in 0..20 {
        let (writer, reader) = if round % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let title = format!("Title {round}");
        let changed = writer.admin("POST", &item, Some(&json!({"title": {"raw": title}})));
        assert_eq!(changed.status, 200, "{}", changed.text);
        for node in [reader, writer] {
            assert_eq!(node.get(&item).body["title"]["rendered"], *title, "round {round}");
            let list = node.get("/cms/v2/posts?_fields=title").body;
            assert!(list.as_array().is_some_and(|all| all.iter().any(|post| post["title"]["rendered"] == *title)));
        }
    }
    // Who may do what is no exception.
    let user = first.user("helper", "editor");
    assert_eq!(second.ask("GET", "/cms/v2/users/me", Some(&user), None).status, 200);
    let id = second.ask("GET", "/cms/v2/users/me", Some(&user), None).body["id"].clone();
    let path = format!("/cms/v2/users/{id}/application-passwords");
    assert_eq!(first.admin("DELETE", &path, None).status, 200);
    assert_eq!(second.ask("GET", "/cms/v2/users/me", Some(&user), None).status, 401);
}

#[test]
fn a_node_soon_shows_what_another_has_written() {
    let first = Server::start();
    let second = first.beside();
    let made = first.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "Zero"}, "status": "publish"})));
    let item = format!("/cms/v2/posts/{}", made.body["id"]);
    for round in 0..10 {
        let title = format!("Title {round}");
        first.admin("POST", &item, Some(&json!({"title": {"raw": title}})));
        within(PATIENCE, &title, || second.get(&item).body["title"]["rendered"] == *title);
        // A title that was seen once does not go away.
        assert_eq!(second.get(&item).body["title"]["rendered"], *title);
    }
}

#[test]
fn cached_responses_survive_what_another_node_writes_elsewhere() {
    let first = Server::start();
    let port = free_address().port();
    let second = first.beside_with(&[&format!("server.admin_listen=127.0.0.1:{port}")]);
    let make = |title: &str| {
        let made = first.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": title}, "status": "publish"})));
        format!("/cms/v2/posts/{}", made.body["id"])
    };
    let (one, other) = (make("One"), make("Other"));
    let hits = || {
        let text = second.send("GET", &format!("http://127.0.0.1:{port}/metrics"), None, None, &[]).text;
        let line = text.lines().find_map(|line| line.strip_prefix("cms_server_cache_hits_total{cache=\"responses\"} "));
        line.and_then(|n| n.parse::<u64>().ok()).unwrap_or_else(|| panic!("{text}"))
    };
    let shows = |item: &str, title: &str| {
        within(PATIENCE, title, || second.get(item).body["title"]["rendered"] == *title);
    };
    // The first response may be of a moment in which something is taken up, and is not cached then.
    (0..3).for_each(|_| shows(&one, "One"));
    for round in 0..5 {
        let title = format!("Title {round}");
        first.admin("POST", &other, Some(&json!({"title": {"raw": title}})));
        shows(&other, &title);
        let before = hits();
        shows(&one, "One");
        assert_eq!(hits(), before + 1, "round {round}");
    }
    first.admin("POST", &one, Some(&json!({"title": {"raw": "Two"}})));
    shows(&one, "Two");
}

#[test]
fn nodes_make_no_slug_twice() {
    let first = Server::start();
    let second = first.beside();
    let slugs: Vec<String> = std::thread::scope(|threads| {
        let make = |node: &Server| {
            let body = json!({"title": {"raw": "The same"}, "status": "publish"});
            let made = node.admin("POST", "/cms/v2/posts", Some(&body));
            assert_eq!(made.status, 201, "{}", made.text);
            made.body["slug"].as_str().expect("a slug").to_owned()
        };
        let workers =
            [&first, &second].map(|node| threads.spawn(move || (0..15).map(|_| make(node)).collect::<Vec<_>>()));
        workers.into_iter().flat_map(|worker| worker.join().expect("posts")).collect()
    });
    let mut distinct = slugs.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), slugs.len(), "{slugs:?}");
    for node in [&first, &second] {
        let listed = node.admin("GET", "/cms/v2/posts?per_page=1&search=same", None);
        assert_eq!(listed.header("x-cms-total"), Some("30"));
    }
}

#[test]
fn nodes_that_differ_are_named_in_the_log_in_health_and_in_metrics() {
    let ports: Vec<u16> = (0..2).map(|_| free_address().port()).collect();
    let operator = |n: usize| format!("server.admin_listen=127.0.0.1:{}", ports[n]);
    let first = Server::with(&["site.url=http://127.0.0.1:1", "server.node=one", &operator(0)]);
    if !first.storage().starts_with("storage.url=postgres") {
        left_out(SERVER);
        return;
    }
    let second = first.beside_with(&["server.node=two", &operator(1)]);
    let read = |n: usize, path: &str| {
        second.send("GET", &format!("http://127.0.0.1:{}{path}", ports[n]), None, None, &[]).text
    };
    let until = |n: usize, path: &str, text: &str| {
        server::until(&format!("{text} in {path} of {n}"), || read(n, path).contains(text));
    };
    until(0, "/metrics", "cms_server_nodes 2\n");
    until(0, "/metrics", "cms_server_nodes_differing 0\n");
    assert_eq!(read(1, "/health"), "ok\n");
    assert!(!first.log().contains("the node "), "{}", first.log());

    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let elsewhere = format!("media.url=file:{}", folder.path().join("own").display());
    let unseen = "server.admin_listen=127.0.0.1:0";
    let mut third = first.beside_with(&["server.node=three", "site.url=http://127.0.0.1:2", &elsewhere, unseen]);
    for (node, other) in [(&third, "one"), (&third, "two"), (&first, "three"), (&second, "three")] {
        let log = node.log_until(&format!("the node {other} "));
        assert!(log.contains("has another site.url or site.prefix"), "{log}");
        assert!(log.contains("stores uploads in another place"), "{log}");
        assert!(!log.contains("has other declarations"), "{log}");
    }
    until(1, "/health", "the node three has another site.url");
    until(1, "/metrics", "cms_server_nodes 3\n");
    until(1, "/metrics", "cms_server_nodes_differing 1\n");
    third.stop();
    first.log_until("all nodes agree again");
    until(1, "/metrics", "cms_server_nodes 2\n");
    until(1, "/health", "ok\n");

    let newer = first.beside_with(&["server.node=four", "settings.title=Another", unseen]);
    let log = newer.log_until("the node two ");
    assert!(log.contains("has other declarations") && !log.contains("uploads"), "{log}");
}

#[test]
fn ten_servers_that_start_at_once_make_one_site() {
    let servers = Server::at_once(10);
    let of = |server: &Server, path: &str| {
        let list = server.get(path);
        (list.status, list.header("x-cms-total").map(str::to_owned))
    };
    for path in ["/cms/v2/posts", "/cms/v2/pages", "/cms/v2/tags", "/cms/v2/comments"] {
        let first = of(&servers[0], path);
        assert!(first.0 == 200 && first.1.as_deref() > Some("0"), "{path}: {first:?}");
        for server in &servers[1..] {
            assert_eq!(of(server, path), first, "{path}");
        }
    }
    let said: Vec<String> = servers.iter().map(Server::log).collect();
    let made = said.iter().filter(|said| said.contains("This is a new database")).count();
    assert_eq!(made, 1, "one of them makes the administrator: {said:?}");
    let slugs =
        servers[0].sql("SELECT slug FROM record WHERE kind = (SELECT number FROM dictionary WHERE word = 'post')");
    let mut distinct = slugs.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), slugs.len(), "nothing of the demo site is there twice: {slugs:?}");
}

/// Requests of many clients at once, spread over the nodes; their statuses and codes.
fn crowd(
    nodes: &[&Server],
    clients: usize,
    ask: impl Fn(&Server, usize) -> super::server::Answer + Sync,
) -> Vec<String> {
    std::thread::scope(|threads| {
        let client = |number: usize| {
            let (node, ask) = (nodes[number % nodes.len()], &ask);
            threads.spawn(move || {
                let answer = ask(node, number);
                format!("{} {}", answer.status, answer.code())
            })
        };
        let all: Vec<_> = (0..clients).map(client).collect();
        all.into_iter().map(|one| one.join().expect("an answer")).collect()
    })
}

#[test]
fn many_clients_write_one_row_and_none_is_refused() {
    let first = Server::start();
    let second = first.beside();
    let made = first.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "Zero"}, "status": "publish"})));
    let (item, id) = (format!("/cms/v2/posts/{}", made.body["id"]), made.body["id"].clone());
    for nodes in [vec![&first], vec![&first, &second]] {
        for clients in [16, 32] {
            let what = format!("{} nodes, {clients} clients", nodes.len());
            for round in 0..3 {
                let said = crowd(&nodes, clients, |node, n| {
                    node.admin("PATCH", &item, Some(&json!({"title": {"raw": format!("{what} {round} {n}")}})))
                });
                assert!(said.iter().all(|said| said == "200 "), "{what}: {said:?}");
            }
            let batched = crowd(&nodes, clients, |node, n| {
                let part = json!({"method": "PUT", "path": item, "body": {"title": {"raw": format!("batch {n}")}}});
                let batch = node.admin("POST", "/batch/v1", Some(&json!({"requests": [part]})));
                assert_eq!(batch.body["responses"][0]["status"], 200, "{}", batch.text);
                batch
            });
            assert!(batched.iter().all(|said| said == "207 "), "{what}: {batched:?}");
        }
    }
    // A client that reads, adds one and says what it has read loses nothing.
    let count = |node: &Server| loop {
        let read = node.admin("GET", &format!("{item}?context=edit&_fields=excerpt"), None);
        let (tag, text) = (read.header("etag").expect("a tag").to_owned(), read.body["excerpt"]["raw"].clone());
        let next = text.as_str().and_then(|text| text.parse::<u32>().ok()).unwrap_or(0) + 1;
        let body = ("application/json", json!({"excerpt": {"raw": next.to_string()}}).to_string().into_bytes());
        let url = format!("{}{item}", node.rest);
        let written = node.send("PATCH", &url, Some(&node.admin), Some(body), &[("If-Match", &tag)]);
        match written.status {
            412 => continue,
            _ => return written,
        }
    };
    let said = crowd(&[&first, &second], 16, |node, _| count(node));
    assert!(said.iter().all(|said| said == "200 "), "{said:?}");
    let read = first.admin("GET", &format!("{item}?context=edit"), None);
    assert_eq!(read.body["excerpt"]["raw"], "16", "{id}: no update is lost");
}

#[test]
fn one_of_many_clients_gets_a_unique_value_on_any_node() {
    let folder = tempfile::tempdir().expect("a folder");
    super::server::stdout(&["init", folder.path().to_str().expect("a path")], "");
    let schema = json!({"title": "part", "type": "object", "properties": {
        "id": {"type": "integer", "description": "Id.", "readonly": true},
        "number": {"type": "string", "description": "Number.", "x-unique": true}}});
    std::fs::create_dir_all(folder.path().join("schemas")).expect("a folder");
    std::fs::write(folder.path().join("schemas/part.json"), schema.to_string()).expect("a schema");
    let declared = "[resources.parts]\nfamily = \"plain\"\nnamespace = \"core\"\nschema = \"schemas/part.json\"\n\
        routes = [\"crud\"]\ncapabilities = \"part\"\n[capabilities.part]\nread = \"\"\ncreate = \"edit_posts\"\n\
        edit = \"edit_posts\"\ndelete = \"edit_posts\"\n";
    std::fs::write(folder.path().join("site.toml"), declared).expect("declarations");
    let first = Server::over(folder, &[]);
    let second = first.beside();
    let mine = |n: usize| json!({"number": format!("own {n}")});
    let made: Vec<String> =
        (0..16).map(|n| first.admin("POST", "/cms/v2/parts", Some(&mine(n))).body["id"].to_string()).collect();
    for nodes in [vec![&first], vec![&first, &second]] {
        for wanted in ["created", "updated"] {
            let value = json!({"number": format!("{wanted} on {} nodes", nodes.len())});
            let mut said = crowd(&nodes, 16, |node, n| match wanted {
                "created" => node.admin("POST", "/cms/v2/parts", Some(&value)),
                _ => node.admin("PATCH", &format!("/cms/v2/parts/{}", made[n]), Some(&value)),
            });
            said.sort();
            let done = if wanted == "created" { "201 " } else { "200 " };
            assert_eq!(said[0], done, "{said:?}");
            assert!(said[1..].iter().all(|said| said == "409 rest_duplicate_value"), "{said:?}");
        }
    }
}
