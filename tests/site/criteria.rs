//! `where`, `order_by` and `_count_by`: lists by the properties that are marked `x-filterable`.

use super::own_types::{folder, make, relation};
use super::server::{Answer, Server};
use serde_json::{Value, json};

/// Venues with a table of their own, and events of both families with every type of property.
fn declared() -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let venue = json!({
        "city": {"type": "string", "x-filterable": true},
        "secret": {"type": "string", "context": ["edit"], "x-filterable": true},
        "seats": {"type": "integer", "x-filterable": true}
    });
    let event = json!({
        "start": {"type": "string", "format": "date-time", "x-filterable": true},
        "price": {"type": "number", "x-filterable": true},
        "form": {"type": "string", "enum": ["talk", "walk"], "x-filterable": true},
        "open": {"type": "boolean", "x-filterable": true},
        "tags": {"type": "array", "items": {"type": "string"}, "x-filterable": true},
        "notes": {"type": "string", "context": ["edit"], "x-filterable": true},
        "words": {"type": "string", "x-filterable": true},
        "plain": {"type": "string"},
        "venue": {"type": "integer", "x-relation": {"to": "venues"}, "x-filterable": true},
        "stages": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "venues"}, "x-filterable": true}
    });
    let sort = "sort = { id = \"id\", start = \"start\", price = \"price\", words = \"words\" }\n";
    vec![
        ("venues", "plain", venue, ""),
        ("p_events", "plain", event.clone(), sort),
        ("c_events", "content", event, sort),
    ]
}

/// A server with two venues, and four events of each family.
fn server() -> Server {
    let server = Server::over(folder(&declared()), &[]);
    let venue = |city: &str, seats: i64| {
        make(&server, "venues", json!({"title": city, "city": city, "seats": seats, "secret": "s"}))
    };
    let (oslo, rome) = (venue("Oslo", 100), venue("Rome", 20));
    for resource in ["p_events", "c_events"] {
        let event = |title: &str, body: Value| {
            let mut body = body;
            body["title"] = json!(title);
            make(&server, resource, body)
        };
        event(
            "a",
            json!({"start": "2020-01-01T10:00:00", "price": 5, "form": "talk", "open": true,
                "tags": ["x", "y"], "notes": "one", "words": "Blue boat", "venue": oslo, "stages": [oslo, rome]}),
        );
        event(
            "b",
            json!({"start": "2099-01-01T10:00:00", "price": 7.5, "form": "walk", "open": false,
                "tags": ["y"], "notes": "two", "words": "red", "venue": rome, "stages": [rome]}),
        );
        event("c", json!({"start": "2099-01-01T10:00:00", "price": 5, "form": "walk", "open": true, "tags": ["z"]}));
        event("d", json!({}));
    }
    server
}

/// The titles of a list, joined.
fn titles(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let list = answer.body.as_array().expect("a list");
    let title = |item: &Value| item["title"].as_str().unwrap_or_default().to_owned();
    list.iter().map(title).collect()
}

#[test]
fn a_list_has_the_items_that_meet_all_criteria() {
    let cases = [
        ("where[price]=5", "ac"),
        ("where[price][eq]=7.5", "b"),
        ("where[price][ne]=5", "bd"),
        ("where[price][gt]=5", "b"),
        ("where[price][ge]=5&where[price][lt]=7", "ac"),
        ("where[price][in]=5,9", "ac"),
        ("where[price][in]=", "abcd"),
        ("where[venue.city][in]=", "abcd"),
        ("where[tags][all]=", "abcd"),
        ("where[price][not_in]=5,9", "bd"),
        ("where[price][set]=false", "d"),
        ("where[start][ge]=now", "bc"),
        ("where[start][lt]=2021-01-01T00:00:00", "a"),
        ("where[start][in]=2020-01-01T10:00:00", "a"),
        ("where[form]=walk", "bc"),
        ("where[form][]=walk&where[form][]=talk", "abc"),
        ("where[open]=true", "ac"),
        ("where[open][ne]=true", "bd"),
        ("where[open][set]=true", "abc"),
        ("where[tags]=y", "ab"),
        ("where[tags][any]=x,z", "ac"),
        ("where[tags][all]=x,y", "a"),
        ("where[words][contains]=BOAT", "a"),
        ("where[words]=red&where[price]=7.5", "b"),
        ("where[words]=red&where[price]=5", ""),
        ("where[venue][set]=true", "ab"),
        ("where[venue][set]=false", "cd"),
        ("where[venue.city]=Oslo", "a"),
        ("where[venue.city][in]=Oslo,Rome", "ab"),
        ("where[venue.seats][lt]=50", "b"),
        ("where[stages.city]=Oslo", "a"),
        ("where[stages.city]=Rome", "ab"),
        ("where[stages.city]=Rome&where[stages.seats][gt]=50", "a"),
        ("where[stages][set]=false", "cd"),
        ("where[price]=5&per_page=1&offset=1", "c"),
        ("order_by=-price,start", "bacd"),
        ("order_by=-start,-price", "bcad"),
        ("order_by=price,-start&where[price][set]=true", "cab"),
    ];
    let server = server();
    for resource in ["p_events", "c_events"] {
        for (query, expected) in cases {
            let route = format!("/own/v1/{resource}?{query}&_fields=title");
            assert_eq!(titles(&server.get(&route)), expected, "{route}");
        }
        let venues = server.get("/own/v1/venues?_fields=id").body;
        let ids: Vec<i64> = venues.as_array().expect("a list").iter().filter_map(|v| v["id"].as_i64()).collect();
        let (oslo, rome) = (ids.iter().min().expect("two"), ids.iter().max().expect("two"));
        for (query, expected) in [
            (format!("where[venue]={oslo}"), "a"),
            (format!("where[stages][any]={oslo}"), "a"),
            (format!("where[stages][all]={oslo},{rome}"), "a"),
            (format!("where[stages][none]={oslo}"), "bcd"),
        ] {
            assert_eq!(titles(&server.get(&format!("/own/v1/{resource}?{query}"))), expected, "{query}");
        }
    }
}

/// The titles of a walk, page by page.
fn walked(server: &Server, resource: &str, query: &str) -> String {
    let mut found = String::new();
    let mut query = query.to_owned();
    loop {
        let page = server.get(&format!("/own/v1/{resource}?{query}"));
        found.push_str(&titles(&page));
        let Some((_, next)) = page.header("link").and_then(|link| link.split_once('?')) else { return found };
        query = next.split('>').next().unwrap_or_default().to_owned();
        let cursor = query.split('&').find_map(|pair| pair.strip_prefix("_cursor=")).expect("a cursor");
        assert!(cursor.len() <= 2000, "a cursor of {} bytes", cursor.len());
    }
}

#[test]
fn a_walk_by_several_keys_sees_every_row_once() {
    let server = server();
    let long = |letter: &str| format!("{letter}{}", "ö".repeat(1200));
    let rest = [
        // The same values as others have, in one or in all keys, and none.
        json!({"title": "e", "price": 5, "start": "2099-01-01T10:00:00", "form": "walk", "words": long("b")}),
        json!({"title": "f", "price": 5, "start": "2099-01-01T10:00:00", "form": "walk", "words": long("a")}),
        json!({"title": "g", "price": 0.1, "words": "red"}),
        json!({"title": "h", "start": "2020-01-01T10:00:00"}),
        json!({"title": "i", "price": 0.30000000000000004, "start": "2020-01-01T10:00:00"}),
        json!({"title": "j"}),
    ];
    for resource in ["p_events", "c_events"] {
        for body in &rest {
            make(&server, resource, body.clone());
        }
        for order in [
            "start",
            "-start",
            "price,-start",
            "-price,start",
            "price,start,words",
            "-words,price",
            "words,-price,start",
            "-price,-id",
            "id,price",
            "price,price",
            "-start,price,-words",
        ] {
            let whole = titles(&server.get(&format!("/own/v1/{resource}?per_page=100&order_by={order}")));
            assert_eq!(whole.len(), 10, "{order}");
            for per_page in [1, 2, 3, 9, 10] {
                let found = walked(&server, resource, &format!("order_by={order}&per_page={per_page}&_cursor="));
                assert_eq!(found, whole, "{resource} by {order}, {per_page} at once");
            }
            let lines = server.send(
                "GET",
                &format!("{}/own/v1/{resource}?order_by={order}&per_page=3&_fields=title", server.rest),
                Some(&server.admin.clone()),
                None,
                &[("accept", "application/x-ndjson")],
            );
            let title = |line: &str| serde_json::from_str::<Value>(line).expect("a document")["title"].clone();
            let found: String =
                lines.text.lines().map(|line| title(line).as_str().unwrap_or_default().to_owned()).collect();
            assert_eq!(found, whole, "{resource} by {order}, as lines");
        }
    }
}

#[test]
fn a_cursor_of_another_order_is_refused() {
    let server = server();
    let cursor = |query: &str| {
        let page = server.get(&format!("/own/v1/p_events?{query}&per_page=1&_cursor="));
        let link = page.header("link").expect("more").to_owned();
        link.split("_cursor=").nth(1).and_then(|rest| rest.split('>').next()).expect("a cursor").to_owned()
    };
    let two = cursor("order_by=-price,start");
    let refused = |query: &str| {
        let answer = server.get(&format!("/own/v1/p_events?{query}"));
        assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{query}: {}", answer.text);
        assert!(answer.body["data"]["params"]["_cursor"].is_string(), "{}", answer.text);
    };
    for order in ["price,start", "-price", "-price,-start", "-price,start,words", "start,-price", "id"] {
        refused(&format!("order_by={order}&_cursor={two}"));
    }
    // Values of other types, too few of them, and more text than a cursor has.
    let forged = |values: &str| {
        use base64::Engine as _;
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let told: Value = serde_json::from_slice(&engine.decode(&two).expect("base64")).expect("JSON");
        engine.encode(format!("[{},{values}]", told[0]))
    };
    for values in [
        "\"x\",5,1",
        "[\"1.5\"],\"x\",1",
        "[\"1.5\"],5,null",
        "[\"1.5\"],1",
        "[\"NaN\"],5,1",
        "1.5,5,1",
        "[],5,1",
        "",
        "1",
        "0",
    ] {
        // The key alone is a cursor, but of a row that is there.
        let expected = if values == "1" { 200 } else { 400 };
        let query = format!("order_by=-price,start&_cursor={}", forged(values));
        if expected == 400 {
            refused(&query)
        } else {
            assert_eq!(server.get(&format!("/own/v1/p_events?{query}")).status, 200)
        }
    }
    let long = forged(&format!("[\"1.5\"],5,1,\"{}\"", "x".repeat(3000)));
    refused(&format!("order_by=-price,start&_cursor={long}"));
}

#[test]
fn a_criterion_that_is_none_is_refused_with_its_name() {
    let server = server();
    for (query, named) in [
        ("where[plain]=x", "plain"),
        ("where[price][about]=5", "about"),
        ("where[price]=cheap", "where[price][eq]"),
        ("where[start][ge]=tomorrow", "where[start][ge]"),
        ("where[form]=swim", "where[form][eq]"),
        ("where[venue.title]=Oslo", "venue.title"),
        ("where=x", "where"),
        ("order_by=size", "order_by"),
        ("_count_by=plain", "_count_by"),
    ] {
        let answer = server.get(&format!("/own/v1/p_events?{query}"));
        assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{query}: {}", answer.text);
        assert!(answer.text.contains(named), "{query}: {}", answer.text);
    }
    let many: String = (0..200).map(|number| format!("where[price][in][]={number}&")).collect();
    assert_eq!(server.get(&format!("/own/v1/p_events?{many}")).status, 400, "a list has a hundred values at most");
}

#[test]
fn what_a_caller_may_not_see_is_no_criterion() {
    let server = server();
    for query in ["where[notes]=one", "where[venue.secret]=s", "_count_by=notes"] {
        for resource in ["p_events", "c_events"] {
            let route = format!("/own/v1/{resource}?{query}");
            let refused = server.get(&route);
            assert_eq!(refused.status, 401, "{route}: {}", refused.text);
            assert_eq!(server.admin("GET", &route, None).status, 200, "{route}");
        }
    }
    assert_eq!(titles(&server.admin("GET", "/own/v1/p_events?where[notes]=one", None)), "a");
    assert_eq!(titles(&server.admin("GET", "/own/v1/p_events?where[venue.secret]=s", None)), "ab");
}

#[test]
fn related_items_that_a_caller_may_not_see_count_as_absent() {
    let papers = json!({"topic": {"type": "string", "x-filterable": true}});
    let notes = json!({"paper": relation("c_papers", "clear"), "papers":
        {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "c_papers"}}});
    let server = Server::over(folder(&[("c_papers", "content", papers, ""), ("notes", "plain", notes, "")]), &[]);
    let hidden = make(&server, "c_papers", json!({"title": "hidden", "topic": "tea", "status": "draft"}));
    let shown = make(&server, "c_papers", json!({"title": "shown", "topic": "tea"}));
    make(&server, "notes", json!({"title": "h", "paper": hidden, "papers": [hidden]}));
    make(&server, "notes", json!({"title": "s", "paper": shown, "papers": [hidden, shown]}));
    for query in ["where[paper.topic]=tea", "where[papers.topic]=tea"] {
        let route = format!("/own/v1/notes?{query}");
        assert_eq!(titles(&server.get(&route)), "s", "{route}");
        assert_eq!(titles(&server.admin("GET", &route, None)), "hs", "{route}");
    }
    // A cached list follows the related rows.
    let route = "/own/v1/notes?where[papers.topic]=tea";
    let changed = server.admin("PUT", &format!("/own/v1/c_papers/{shown}"), Some(&json!({"topic": "coffee"})));
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(titles(&server.get(route)), "");
}

#[test]
fn items_are_counted_by_the_values_of_a_property() {
    let server = server();
    let counts = |route: &str| {
        let answer = server.get(route);
        assert_eq!(answer.status, 200, "{route}: {}", answer.text);
        answer.body
    };
    for resource in ["p_events", "c_events"] {
        let of = |query: &str| counts(&format!("/own/v1/{resource}?{query}"));
        let by_kind =
            json!([{"value": "walk", "count": 2}, {"value": null, "count": 1}, {"value": "talk", "count": 1}]);
        assert_eq!(of("_count_by=form"), by_kind, "{resource}");
        let open = json!([{"value": true, "count": 1}, {"value": false, "count": 1}]);
        let found = of("_count_by=open&where[tags]=y");
        let mut sorted = found.as_array().expect("a list").clone();
        sorted.sort_by_key(|one| one["value"] == json!(false));
        assert_eq!(json!(sorted), open, "{resource}");
    }
    let states = server.admin("GET", "/own/v1/c_events?status=any&_count_by=status", None).body;
    assert_eq!(states, json!([{"value": "publish", "count": 4}]));
    // A cached count follows the rows.
    let fresh = Server::over(folder(&declared()), &[]);
    let route = "/own/v1/p_events?_count_by=form";
    assert_eq!(fresh.get(route).body, json!([]));
    let id = make(&fresh, "p_events", json!({"form": "walk"}));
    assert_eq!(fresh.get(route).body, json!([{"value": "walk", "count": 1}]));
    let changed = fresh.admin("PUT", &format!("/own/v1/p_events/{id}"), Some(&json!({"form": "talk"})));
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(fresh.get(route).body, json!([{"value": "talk", "count": 1}]));
}

#[test]
fn items_are_counted_by_what_they_refer_to() {
    let server = server();
    let venues = server.get("/own/v1/venues?_fields=id&order=asc").body;
    let (oslo, rome) = (&venues[0]["id"], &venues[1]["id"]);
    for resource in ["p_events", "c_events"] {
        let of = |query: &str| server.get(&format!("/own/v1/{resource}?_count_by=stages{query}")).body;
        let all = json!([{"value": null, "count": 2}, {"value": rome, "count": 2}, {"value": oslo, "count": 1}]);
        assert_eq!(of(""), all, "{resource}");
        assert_eq!(of("&where[stages][any]=1,2&where[price]=7.5"), json!([{"value": rome, "count": 1}]), "{resource}");
    }
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let at = |route: &str| format!("/{prefix}/v2/{route}");
        let term = |name: &str| server.admin("POST", &at("tags"), Some(&json!({"name": name}))).body["id"].clone();
        let (one, two) = (term("one"), term("two"));
        let post = |tags: Value, status: &str| {
            let made = server.admin("POST", &at("posts"), Some(&json!({"title": "x", "tags": tags, "status": status})));
            assert_eq!(made.status, 201, "{}", made.text);
            made.body["id"].clone()
        };
        post(json!([one, two]), "publish");
        let second = post(json!([two]), "publish");
        post(json!([one, two]), "draft");
        post(json!([]), "publish");
        let counted = |query: &str| server.get(&at(&format!("posts?_count_by=tags{query}"))).body;
        let expected = |one_has: i64, two_has: i64| {
            json!([
            {"value": two, "count": two_has}, {"value": null, "count": 1}, {"value": one, "count": one_has}])
        };
        assert_eq!(counted(""), expected(1, 2), "what the list does not show is not counted");
        let any = server.admin("GET", &at("posts?_count_by=tags&status=any"), None).body;
        assert_eq!(any, json!([{"value": two, "count": 3}, {"value": one, "count": 2}, {"value": null, "count": 1}]));
        assert_eq!(counted("&where[tags.slug]=one"), json!([{"value": one, "count": 1}, {"value": two, "count": 1}]));
        let comment = json!({"post": second, "content": "Yes."});
        assert_eq!(server.admin("POST", &at("comments"), Some(&comment)).status, 201);
        let states = server.admin("GET", &at("comments?_count_by=status&status=all"), None).body;
        assert_eq!(states, json!([{"value": "approved", "count": 1}]), "{prefix}");
        // A cached count follows the terms of the items.
        let changed = server.admin("POST", &at(&format!("posts/{second}")), Some(&json!({"tags": [one]})));
        assert_eq!(changed.status, 200, "{}", changed.text);
        assert_eq!(counted("&where[tags][set]=true"), json!([{"value": one, "count": 2}, {"value": two, "count": 1}]));
    }
}

#[test]
fn criteria_agree_with_what_documents_show_of_what_is_unset() {
    let filterable = |mut doc: Value| {
        doc["x-filterable"] = json!(true);
        doc
    };
    let added = json!({
        "city": filterable(json!({"type": "string", "default": "Oslo"})),
        "seats": filterable(json!({"type": "integer", "default": 100})),
        "open": filterable(json!({"type": "boolean", "default": true})),
        "tags": filterable(json!({"type": "array", "items": {"type": "string"}, "default": ["big", "old"]})),
        "since": filterable(json!({"type": "string", "format": "date-time", "default": "2000-01-01T00:00:00"})),
        "note": filterable(json!({"type": "string"}))
    });
    let events = json!({
        "hall": {"type": "integer", "x-relation": {"to": "c_halls"}}, "room": {"type": "integer", "x-relation": {"to": "rooms"}},
        "halls": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "c_halls"}}
    });
    let declared = |own: &Value| {
        folder(&[
            ("c_halls", "content", own.clone(), ""),
            ("rooms", "plain", own.clone(), ""),
            ("events", "plain", events.clone(), ""),
        ])
    };
    let server = Server::over(declared(&json!({})), &[]);
    let (hall, room) =
        (make(&server, "c_halls", json!({"title": "old"})), make(&server, "rooms", json!({"title": "old"})));
    make(&server, "events", json!({"title": "old", "hall": hall, "room": room, "halls": [hall]}));
    // The properties are declared when there are items already.
    let after = declared(&added);
    for file in ["site.toml", "schemas/c_halls.json", "schemas/rooms.json"] {
        std::fs::copy(after.path().join(file), server.path(file)).expect("a copy");
    }
    let server = server.restart_with(&[]);
    let body = json!({"title": "new", "city": "Rome", "seats": 20, "open": false, "tags": ["new"], "since": "2020-01-01T00:00:00", "note": "x"});
    let (hall, room) = (make(&server, "c_halls", body.clone()), make(&server, "rooms", body));
    make(&server, "events", json!({"title": "new", "hall": hall, "room": room, "halls": [hall]}));
    assert_eq!(server.get("/own/v1/c_halls?_fields=city&order=asc").body, json!([{"city": "Oslo"}, {"city": "Rome"}]));
    for (criterion, test, expected) in [
        ("city", "=Oslo", "old"),
        ("city", "=Rome", "new"),
        ("city", "[ne]=Oslo", "new"),
        ("city", "[ne]=Rome", "old"),
        ("city", "[in]=Oslo,Rome", "oldnew"),
        ("city", "[not_in]=Oslo", "new"),
        ("city", "[not_in]=Rome", "old"),
        ("city", "[contains]=SLO", "old"),
        ("city", "[set]=true", "oldnew"),
        ("city", "[set]=false", ""),
        ("seats", "=100", "old"),
        ("seats", "[gt]=50", "old"),
        ("seats", "[le]=100", "oldnew"),
        ("seats", "[lt]=100", "new"),
        ("seats", "[ne]=20", "old"),
        ("open", "=true", "old"),
        ("open", "=false", "new"),
        ("open", "[ne]=true", "new"),
        ("tags", "=big", "old"),
        ("tags", "[any]=old,new", "oldnew"),
        ("tags", "[all]=big,old", "old"),
        ("tags", "[all]=big,new", ""),
        ("tags", "[none]=big", "new"),
        ("tags", "[none]=new", "old"),
        ("since", "[lt]=2010-01-01T00:00:00", "old"),
        ("since", "[ge]=2000-01-01T00:00:00", "oldnew"),
        ("note", "[set]=false", "old"),
        ("note", "[ne]=x", "old"),
        ("note", "[not_in]=x,y", "old"),
        ("note", "=x", "new"),
    ] {
        for resource in ["c_halls", "rooms"] {
            let route = format!("/own/v1/{resource}?order=asc&where[{criterion}]{test}");
            assert_eq!(titles(&server.get(&route)), expected, "{route}");
        }
        for relation in ["hall", "room", "halls"] {
            let route = format!("/own/v1/events?order=asc&where[{relation}.{criterion}]{test}");
            assert_eq!(titles(&server.get(&route)), expected, "{route}");
        }
    }
    for resource in ["c_halls", "rooms"] {
        make(&server, resource, json!({"title": "third"}));
        let counted = server.get(&format!("/own/v1/{resource}?_count_by=city")).body;
        assert_eq!(counted, json!([{"value": "Oslo", "count": 2}, {"value": "Rome", "count": 1}]), "{resource}");
    }
}

#[test]
fn check_names_filters_without_an_index() {
    let doc = |mut doc: Value| {
        doc["x-filterable"] = json!(true);
        doc
    };
    let venue =
        json!({"city": doc(json!({"type": "string"})), "code": doc(json!({"type": "string", "x-index": true}))});
    let event = json!({
        "price": doc(json!({"type": "number"})), "start": doc(json!({"type": "string", "format": "date-time"})),
        "open": doc(json!({"type": "boolean"})), "tags": doc(json!({"type": "array", "items": {"type": "string"}})),
        "venue": doc(relation("venues", "clear")), "at": {"type": "integer", "x-relation": {"to": "venues"}},
        "stages": doc(json!({"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "venues"}}))
    });
    let sort = "sort = { id = \"id\", start = \"start\", price = \"price\" }\n";
    for family in ["content", "plain"] {
        let folder = folder(&[("venues", family, venue.clone(), ""), ("events", family, event.clone(), sort)]);
        let config = folder.path().join("routes.toml");
        let done = super::server::run(&["--config", config.to_str().expect("a path"), "check"], "");
        assert!(done.status.success());
        let shown = String::from_utf8_lossy(&done.stderr).into_owned();
        let lines: Vec<&str> = shown.lines().filter(|line| line.contains("no index")).collect();
        let named = |listed: &str, criterion: &str| {
            let text = format!("lists of `{listed}` can be filtered by `{criterion}`");
            lines.iter().any(|line| line.contains(&text))
        };
        // A property that lists are sorted by has an index; yes and no need none; lists of values can have none.
        assert!(named("events", "venue") && named("venues", "city"), "{family}: {shown}");
        assert_eq!(lines.len(), 2, "{family}: {shown}");
    }
}

#[test]
fn shipped_resources_have_criteria_under_both_prefixes() {
    for prefix in ["cms", "wp"] {
        let set = format!("site.prefix={prefix}");
        let server = Server::with(&[&set]);
        let at = |route: &str| format!("/{prefix}/v2/{route}");
        let term = server.admin("POST", &at("categories"), Some(&json!({"name": "Boats"}))).body["id"].clone();
        let body = json!({"title": "One", "status": "publish", "categories": [term]});
        let made = server.admin("POST", &at("posts"), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        let ids = |query: &str| {
            let answer = server.get(&at(&format!("posts?{query}&_fields=id")));
            assert_eq!(answer.status, 200, "{query}: {}", answer.text);
            answer.body
        };
        let one = json!([{"id": made.body["id"]}]);
        assert_eq!(ids("where[categories.slug]=boats"), one);
        assert_eq!(ids("where[author.slug]=admin&where[categories.name]=Boats"), one);
        assert_eq!(ids("where[author.slug]=nobody"), json!([]));
        let listed = server.ask("OPTIONS", &at("posts"), None, None);
        assert_eq!(listed.body["endpoints"][0]["args"].get("where").is_some(), prefix == "cms");
    }
}

#[test]
fn what_is_embedded_has_embedded_documents_of_its_own() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let at = |route: &str| format!("/{prefix}/v2/{route}");
        let made = |route: &str, body: Value| {
            let made = server.admin("POST", &at(route), Some(&body));
            assert_eq!(made.status, 201, "{}", made.text);
            made.body["id"].clone()
        };
        let parent = made("pages", json!({"title": "Above", "status": "publish"}));
        let page = made("pages", json!({"title": "Below", "status": "publish", "parent": parent}));
        let get = |query: &str| server.get(&at(&format!("pages/{page}?_fields=id,_links,_embedded&{query}"))).body;
        let plain = get("_embed=up");
        assert_eq!(plain["_embedded"]["up"][0]["id"], parent);
        assert!(plain["_embedded"]["up"][0].get("_embedded").is_none());
        let nested = get("_embed=up.author");
        assert_eq!(nested["_embedded"]["up"][0]["_embedded"]["author"][0]["slug"], "admin", "{nested}");
        assert!(nested["_embedded"].get("author").is_none(), "only the relations that are named");
        let both = get("_embed=author,up,up.author,up.author.up");
        assert_eq!(both["_embedded"]["author"][0]["slug"], "admin");
        assert_eq!(both["_embedded"]["up"][0]["_embedded"]["author"][0]["slug"], "admin");
        // In a list that is embedded, each document has its own.
        let post = made("posts", json!({"title": "One", "status": "publish"}));
        made("comments", json!({"post": post, "content": "Well."}));
        let list = server.get(&at(&format!("posts?include={post}&_embed=replies.author"))).body;
        let replies = &list[0]["_embedded"]["replies"][0];
        assert_eq!(replies[0]["_embedded"]["author"][0]["slug"], "admin", "{replies}");
    }
}

#[test]
fn states_are_counted_whatever_else_is_marked() {
    let status = json!({"type": "string", "x-column": "status", "enum": ["draft", "publish", "private"]});
    let marked = json!({"status": status, "price": {"type": "number", "x-filterable": true}});
    let declared = [("c_marked", "content", marked, ""), ("c_bare", "content", json!({"status": status}), "")];
    let server = Server::over(folder(&declared), &[]);
    for (resource, _, _, _) in &declared {
        for (title, state) in [("a", "publish"), ("b", "publish"), ("c", "draft")] {
            make(&server, resource, json!({"title": title, "status": state}));
        }
        let route = format!("/own/v1/{resource}");
        let counted = server.admin("GET", &format!("{route}?status=publish,draft&_count_by=status"), None);
        let expected = json!([{"value": "publish", "count": 2}, {"value": "draft", "count": 1}]);
        assert_eq!(counted.body, expected, "{resource}: {}", counted.text);
        let visitors = server.get(&format!("{route}?_count_by=status"));
        assert_eq!(visitors.body, json!([{"value": "publish", "count": 2}]), "{resource}");
        assert_eq!(titles(&server.get(&format!("{route}?where[status]=publish"))), "ab", "{resource}");
    }
}
