//! Redirects that editors make: who may, what is refused, where they lead, and how often they were used.

use super::inside::Inside;
use super::old_addresses::led;
use super::server::{Answer, Server, encoded};
use cms_base::clock::ManualClock;
use serde_json::{Value, json};

fn write(server: &Server, body: Value) -> Answer {
    server.admin("POST", "/server/v1/redirects", Some(&body))
}

fn made(server: &Server, from: &str, to: &str) -> Value {
    let made = write(server, json!({"from": from, "to": to}));
    assert_eq!(made.status, 201, "{from} {to}: {}", made.text);
    made.body
}

fn resolved(server: &Server, path: &str) -> Value {
    let query = encoded(path);
    server.get(&format!("/server/v1/resolve?path={query}")).body
}

#[test]
fn paths_lead_where_editors_say() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        for (from, to, status) in [
            ("/old/page/", "/new/", 301),
            ("/spring", "https://shop.example/sale?x=1#top", 302),
            ("/for-now", "/here/", 307),
            ("/for-good", "/there/", 308),
            ("/docs/*", "/guide/*", 301),
            ("/docs/api/*", "/reference/", 301),
            ("/shop/{id}/reviews", "/items/{id}#reviews", 301),
            ("/Привет", "/hello/", 301),
            ("/gone", "", 410),
        ] {
            let answer = write(&server, json!({"from": from, "to": to, "status": status}));
            assert_eq!(answer.status, 201, "{from}: {}", answer.text);
        }
        for (path, status, place) in [
            ("/old/page/", 301, "/new/"),
            ("/OLD/page", 301, "/new/"),
            ("/old/page/?utm_source=x", 301, "/new/?utm_source=x"),
            ("/spring/?a=1", 302, "https://shop.example/sale?x=1#top"),
            ("/for-now", 307, "/here/"),
            ("/for-good", 308, "/there/"),
            ("/docs", 301, "/guide/"),
            ("/docs/a/b/", 301, "/guide/a/b/"),
            ("/docs/a?x=1", 301, "/guide/a?x=1"),
            ("/docs/api/x", 301, "/reference/"),
            ("/shop/12/reviews", 301, "/items/12#reviews"),
            ("/shop/%3Cb%3E/reviews?x=1", 301, "/items/%3cb%3e?x=1#reviews"),
            ("/%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82/", 404, ""),
            ("/gone/", 410, ""),
            ("/shop/12", 404, ""),
            ("/older/page", 404, ""),
        ] {
            let (status, place) = (status, place.to_owned());
            if !path.contains("%D0") {
                assert_eq!(led(&server, path), (status, place), "{prefix} {path}");
            }
        }
        let told = resolved(&server, "/docs/a/b/");
        let place = format!("{}/guide/a/b/", server.site);
        assert_eq!(told, json!({"kind": "redirect", "status": 301, "location": place}));
        assert_eq!(resolved(&server, "/gone"), json!({"kind": "redirect", "status": 410, "location": null}));
        // One that is off, or away, leads nowhere.
        let off = json!({"enabled": false});
        let id = server.admin("GET", "/server/v1/redirects?search=/old/page", None).body[0]["id"].clone();
        let of = format!("/server/v1/redirects/{id}");
        assert_eq!(server.admin("POST", &of, Some(&off)).status, 200);
        assert_eq!(led(&server, "/old/page/").0, 404);
        assert_eq!(server.admin("POST", &of, Some(&json!({"enabled": true}))).status, 200);
        assert_eq!(led(&server, "/old/page/").0, 301);
        assert_eq!(server.admin("DELETE", &of, None).status, 200);
        assert_eq!(led(&server, "/old/page/").0, 404);
    }
}

#[test]
fn a_redirect_leads_to_the_front_end_and_before_what_is_there() {
    let server = Server::start();
    let site = "[site.front]\nurl = \"https://www.example.org\"\n[site.front.paths]\nposts = \"/blog/{slug}\"\n";
    std::fs::write(server.path("site.toml"), site).expect("a file");
    let server = server.restart_with(&[]);
    let post = json!({"title": "Harbour", "status": "publish"});
    assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&post)).status, 201);
    assert_eq!(resolved(&server, "/blog/harbour")["kind"], "record");
    made(&server, "/blog/harbour", "/quay");
    let place = json!("https://www.example.org/quay");
    assert_eq!(resolved(&server, "/blog/harbour")["location"], place);
    assert_eq!(json!(led(&server, "/blog/harbour").1), place);
}

#[test]
fn what_leads_in_a_circle_or_nowhere_is_refused() {
    let server = Server::start();
    let refused = |body: Value, code: &str, says: &str| {
        let answer = write(&server, body.clone());
        assert_eq!((answer.status, answer.code()), (400, code), "{body}: {}", answer.text);
        assert!(answer.body["message"].as_str().is_some_and(|message| message.contains(says)), "{}", answer.text);
    };
    made(&server, "/b", "/c");
    made(&server, "/deep/*", "/flat/*");
    for (from, to, says) in [
        ("/x", "/x", "circle: /x → /x → /x"),
        ("/x", "/X/?a=1", "circle"),
        ("/x/*", "/x/y", "circle"),
        ("/{a}/y", "/x/{a}/../y", "circle"),
        ("/c", "/b", "circle: /c → /b → /c"),
        ("/a", "/b", "another redirect: /a → /b → /c"),
        ("/a", "/deep/er", "another redirect: /a → /deep/* → /flat/*"),
        ("/c", "/d", "leads here: /b → /c → /d"),
        ("/*", "/d", "circle"),
        ("/{any}", "https://elsewhere.example/", "leads here: /b → /c"),
    ] {
        if !to.contains("..") {
            refused(json!({"from": from, "to": to}), "rest_redirect_loop", says);
        }
    }
    let whole = format!("{}/b", server.site);
    refused(json!({"from": "/a", "to": whole}), "rest_redirect_loop", "another redirect");
    for (from, to) in [
        ("/a", "javascript:alert(1)"),
        ("/a", "JAVASCRIPT:alert(1)"),
        ("/a", "data:text/html,x"),
        ("/a", "//elsewhere.example/"),
        ("/a", "/\\elsewhere.example"),
        ("/a", "https://{id}/"),
        ("/a", "new"),
        ("/a", ""),
        ("/a", "/x y"),
        ("a", "/b/"),
        ("/a?x=1", "/x"),
        ("/../a", "/x"),
        ("/a*", "/x"),
        ("/a/{id}", "/x/{other}"),
        ("/a", "/x/*"),
        ("/{a}/{b}/{c}/{d}", "/x"),
    ] {
        refused(json!({"from": from, "to": to}), "rest_redirect_invalid", "");
    }
    refused(json!({"from": "/a", "to": "/x", "status": 410}), "rest_redirect_invalid", "leave out");
    for body in [json!({"from": "/a", "to": "/x", "status": 200}), json!({"to": "/x"}), json!({"from": 7, "to": "/x"})]
    {
        let code = write(&server, body.clone()).code().to_owned();
        assert!(matches!(&*code, "rest_invalid_param" | "rest_missing_callback_param"), "{body}: {code}");
    }
    let twice = write(&server, json!({"from": "/B/", "to": "/e"}));
    assert_eq!((twice.status, twice.code()), (409, "rest_duplicate_value"), "{}", twice.text);
    // A change is held to the same rules, and to those of the redirect itself it is no other one.
    let id = made(&server, "/a", "/e")["id"].clone();
    let change = |body: Value| server.admin("POST", &format!("/server/v1/redirects/{id}"), Some(&body));
    assert_eq!(change(json!({"to": "/b"})).code(), "rest_redirect_loop");
    assert_eq!(change(json!({"to": "/a"})).code(), "rest_redirect_loop");
    assert_eq!(change(json!({"to": "vbscript:x"})).code(), "rest_redirect_invalid");
    let moved = change(json!({"to": "/f", "note": "Why"}));
    assert_eq!(
        (moved.status, &moved.body["to"], &moved.body["from"]),
        (200, &json!("/f"), &json!("/a")),
        "{}",
        moved.text
    );
    assert_eq!(led(&server, "/a"), (301, "/f".to_owned()));
}

#[test]
fn editors_make_redirects_and_authors_do_not() {
    let server = Server::start();
    let body = json!({"from": "/a", "to": "/b"});
    for (role, status) in [("editor", 201), ("author", 403), ("subscriber", 403)] {
        let user = server.user(role, role);
        let answer = server.ask("POST", "/server/v1/redirects", Some(&user), Some(&body));
        assert_eq!(answer.status, status, "{role}: {}", answer.text);
        let list = server.ask("GET", "/server/v1/redirects", Some(&user), None);
        assert_eq!(list.status, if status == 201 { 200 } else { 403 }, "{role}: {}", list.text);
    }
    for (method, path) in
        [("GET", "/server/v1/redirects"), ("POST", "/server/v1/redirects"), ("DELETE", "/server/v1/redirects/1")]
    {
        let answer = server.ask(method, path, None, Some(&body));
        assert_eq!(answer.status, 401, "{method} {path}: {}", answer.text);
    }
    let entries = server.admin("GET", "/server/v1/audit?event=redirect_created", None).body;
    assert_eq!((&entries[0]["subject"], &entries[0]["login"]), (&json!("/a"), &json!("editor")), "{entries}");
}

#[test]
fn uses_are_counted_without_a_write_for_each() {
    let clock = ManualClock::at(1_800_000_000);
    let inside = Inside::timed(clock.clone());
    let made = inside.make("/server/v1/redirects", &json!({"from": "/a", "to": "/b"}));
    let of = format!("/server/v1/redirects/{}", made["id"]);
    let ask = || {
        let found = inside.get("/server/v1/resolve?path=/a", false);
        assert_eq!(found.body["kind"], "redirect", "{}", found.body);
    };
    let redirect = || inside.get(&of, true).body;
    for _ in 0..5 {
        ask();
    }
    assert_eq!(redirect()["hits"], 1, "the first one is written at once");
    clock.advance(61);
    ask();
    assert_eq!(redirect()["hits"], 6);
    assert_eq!(redirect()["last_hit"], "2027-01-15T08:01:01");
}

#[test]
fn many_redirects_are_found_like_one() {
    let inside = Inside::start();
    let mut numbers = 0..600;
    let mut make = |count: usize| {
        for n in numbers.by_ref().take(count) {
            inside.make("/server/v1/redirects", &json!({"from": format!("/old/{n}/"), "to": format!("/new/{n}/")}));
        }
    };
    make(1);
    let path = |n: usize| format!("/server/v1/resolve?path=/old/{n}/");
    let one = inside.cheapest(&path(0), false);
    make(599);
    let found = inside.cheapest(&path(500), false);
    assert!(found.body["location"].as_str().is_some_and(|place| place.ends_with("/new/500/")), "{}", found.body);
    assert_eq!((found.queries, found.text), (one.queries, one.text + 8), "{} bytes", found.text);
}

#[test]
fn what_was_not_found_is_counted_until_it_leads_somewhere() {
    let clock = ManualClock::at(1_800_000_000);
    let inside = Inside::timed(clock.clone());
    let ask =
        |path: &str| assert_eq!(inside.get(&format!("/server/v1/resolve?path={path}"), false).status, 404, "{path}");
    let listed = || inside.get("/server/v1/missing-addresses?order_by=-hits", true).body;
    for path in ["/old-page/", "/Old-Page", "/old-page?a=1", "/other/"] {
        ask(path);
    }
    ask(&format!("/{}", "x".repeat(600)));
    clock.advance(61);
    ask("/old-page");
    clock.advance(86_400);
    ask("/old-page/");
    let list = listed();
    let shown: Vec<Value> =
        list.as_array().expect("a list").iter().map(|one| json!([one["path"], one["hits"], one["days"]])).collect();
    let days = json!([{"day": "2027-01-16", "hits": 1}, {"day": "2027-01-15", "hits": 4}]);
    let other = json!(["/other", 1, [{"day": "2027-01-15", "hits": 1}]]);
    assert_eq!(shown, [json!(["/old-page", 5, days]), other], "{list}");
    assert_eq!(list[0]["last_hit"], "2027-01-16T08:01:01");
    // A list of paths counts those that nothing has.
    let several = inside.get("/server/v1/resolve?paths[]=/&paths[]=/third", false);
    assert_eq!(several.status, 200, "{}", several.body);
    clock.advance(61);
    ask("/third");
    assert_eq!(listed()[1]["path"], "/third", "{}", listed());
    // A redirect answers for the address; another one does not.
    inside.make("/server/v1/redirects", &json!({"from": "/old/*", "to": "/new/*"}));
    assert_eq!(listed().as_array().map(Vec::len), Some(3));
    inside.make("/server/v1/redirects", &json!({"from": "/Old-Page/", "to": "/new/"}));
    assert_eq!(listed().as_array().map(Vec::len), Some(2), "{}", listed());
}

#[test]
fn missing_addresses_are_for_those_who_make_redirects() {
    let server = Server::start();
    assert_eq!(server.get("/server/v1/resolve?path=/nothing/").status, 404);
    for (role, status) in [("editor", 200), ("author", 403)] {
        let user = server.user(role, role);
        let list = server.ask("GET", "/server/v1/missing-addresses", Some(&user), None);
        assert_eq!(list.status, status, "{role}: {}", list.text);
    }
    assert_eq!(server.get("/server/v1/missing-addresses").status, 401);
    let list = server.admin("GET", "/server/v1/missing-addresses", None).body;
    assert_eq!(list[0]["path"], "/nothing", "{list}");
    let made = server.admin("POST", "/server/v1/missing-addresses", Some(&json!({"path": "/x"})));
    assert_eq!((made.status, made.code()), (404, "rest_no_route"), "{}", made.text);
    let gone = server.admin("DELETE", &format!("/server/v1/missing-addresses/{}", list[0]["id"]), None);
    assert_eq!(gone.status, 200, "{}", gone.text);
}

#[test]
fn redirects_are_imported_from_a_table() {
    let server = Server::start();
    let import = |table: &[u8], more: &str| {
        let url = format!("{}/server/v1/redirects/import{more}", server.rest);
        server.send("POST", &url, Some(&server.admin), Some(("text/csv; charset=utf-8", table.to_vec())), &[])
    };
    let table = "\u{feff}from,to,status,note,enabled\r\n/a,/b,301,\"Moved, at last\",true\r\n/c/{id}/,/d/{id},302,,false\r\n\
                 /gone,,410,,\r\n/a,/again,,,\r\n/long,/b,301,,,more\r\nno path,/b,,,\r\n/\"x\",/y,moved,,\r\n";
    let told = import(table.as_bytes(), "");
    assert_eq!(told.status, 200, "{}", told.text);
    let results: Vec<Value> = told.text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let statuses: Vec<&Value> = results.iter().map(|result| &result["status"]).collect();
    assert_eq!(
        statuses,
        [201, 201, 201, 409, 400, 400, 400].map(|status| json!(status)).iter().collect::<Vec<_>>(),
        "{}",
        told.text
    );
    assert_eq!(results[4]["error"]["message"], "The record has more values than there are columns.", "{}", told.text);
    let list = server.admin("GET", "/server/v1/redirects?order_by=id", None).body;
    let shown = |one: &Value| json!([one["from"], one["to"], one["status"], one["note"], one["enabled"]]);
    let all: Vec<Value> = list.as_array().expect("a list").iter().map(shown).collect();
    assert_eq!(
        all,
        [
            json!(["/a", "/b", 301, "Moved, at last", true]),
            json!(["/c/{id}/", "/d/{id}", 302, "", false]),
            json!(["/gone", "", 410, "", true]),
        ]
    );
    // With `upsert` the same table changes what differs, and nothing else.
    let again = import(b"pattern,from,to\n/a,/a,/z\n/gone,/gone,\n", "?upsert=pattern");
    let results: Vec<Value> = again.text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!([&results[0]["result"], &results[1]["result"]], ["updated", "unchanged"], "{}", again.text);
    // A path is found as it was written, with a slash at its end or without.
    for result in ["created", "unchanged"] {
        let told = import(b"from,to\n/old-menu/,/menu/\n", "?upsert=from");
        assert_eq!(serde_json::from_str::<Value>(&told.text).expect("JSON")["result"], result, "{}", told.text);
    }
    // Numbers and booleans are compared as such, and found by.
    let by_id = b"id,status,enabled,note\n1,301,true,\"Moved, at last\"\n2,307,false,\n";
    let told = import(by_id, "?upsert=id");
    let results: Vec<Value> = told.text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!([&results[0]["result"], &results[1]["result"]], ["unchanged", "updated"], "{}", told.text);
    // A quotation mark that is left open does not swallow records in silence.
    let open = import(b"from,to,note\n/q,\"/r,x\n/s,/t,y\n", "");
    assert!(open.text.contains("Is a quotation mark left open?") && open.text.lines().count() == 1, "{}", open.text);
    for (table, problem) in [
        ("from,too\n/x,/y\n", "`too` in the first line is no property of"),
        ("from,from\n/x,/y\n", "Two columns have the name `from`."),
    ] {
        let refused = import(table.as_bytes(), "");
        assert_eq!(refused.status, 400, "{table}: {}", refused.text);
        assert!(refused.text.contains(problem), "{table}: {}", refused.text);
    }
    let latin = import(b"from,to,note\n/x,/y,caf\xe9\n", "");
    assert!(latin.text.contains("The record is no UTF-8."), "{}", latin.text);
    assert_eq!(import(b"", "").status, 200);
}
