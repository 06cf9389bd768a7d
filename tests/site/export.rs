//! Whole collections as lines (`Accept: application/x-ndjson`).

use super::media::{png, upload};
use super::server::{Answer, Server};
use serde_json::{Value, json};
use std::collections::HashSet;

const LINES: &str = "application/x-ndjson";

fn export(server: &Server, route: &str, as_user: Option<&(String, String)>) -> Answer {
    server.send("GET", &format!("{}{route}", server.rest), as_user, None, &[("accept", LINES)])
}

fn documents(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some(LINES));
    answer.text.lines().map(|line| serde_json::from_str(line).expect("a document in each line")).collect()
}

#[test]
fn a_collection_is_read_whole() {
    let server = Server::start();
    for number in 0..260 {
        let body = json!({"name": format!("Tag {number}"), "description": "two\nlines"});
        assert_eq!(server.admin("POST", "/cms/v2/tags", Some(&body)).status, 201);
    }
    let admin = server.admin.clone();
    let all = documents(&export(&server, "/cms/v2/tags?orderby=id", Some(&admin)));
    let ids: HashSet<i64> = all.iter().filter_map(|tag| tag["id"].as_i64()).collect();
    assert_eq!((all.len(), ids.len()), (260, 260));
    assert_eq!(all[0]["description"], "two\nlines");
    // Sort order, filters, fields and embedding are those of lists.
    let named =
        documents(&export(&server, "/cms/v2/tags?orderby=id&order=desc&_fields=name&search=Tag%2025", Some(&admin)));
    assert_eq!(named.first(), Some(&json!({"name": "Tag 259"})));
    assert_eq!(named.len(), 11);
    let few = documents(&export(&server, "/cms/v2/tags?orderby=id&per_page=7&_fields=id", Some(&admin)));
    assert_eq!(few.len(), 260, "per_page is how many are read at once");
    let none = documents(&export(&server, "/cms/v2/tags?search=nothing", Some(&admin)));
    assert!(none.is_empty());
    let failed = export(&server, "/cms/v2/tags?orderby=nonsense", Some(&admin));
    assert_eq!((failed.status, failed.code()), (400, "rest_invalid_param"));
}

#[test]
fn those_who_may_not_export_are_refused() {
    let server = Server::start();
    let author = server.user("author", "author");
    assert_eq!(export(&server, "/cms/v2/posts", None).status, 401);
    let refused = export(&server, "/cms/v2/posts", Some(&author));
    assert_eq!((refused.status, refused.code()), (403, "rest_forbidden"));
    // Another route responds as ever, and so does a list for those who ask for JSON.
    let types = export(&server, "/cms/v2/types", None);
    assert_eq!(types.status, 200);
    assert!(types.header("content-type").is_some_and(|own| own.starts_with("application/json")));
    assert!(server.get("/cms/v2/posts").body.is_array());
    // Those who accept both, JSON first, get JSON.
    let url = format!("{}/cms/v2/posts", server.rest);
    let both = server.send("GET", &url, None, None, &[("accept", "application/json, application/x-ndjson;q=0.5")]);
    assert_eq!(both.status, 200, "{}", both.text);
}

#[test]
fn what_is_cached_for_lists_is_not_what_is_exported() {
    let server = Server::start();
    let admin = server.admin.clone();
    let route = "/cms/v2/posts?_fields=id";
    assert!(server.admin("GET", route, None).body.is_array());
    let lines = documents(&export(&server, route, Some(&admin)));
    assert!(server.admin("GET", route, None).body.is_array());
    assert_eq!(documents(&export(&server, route, Some(&admin))), lines);
}

// ------------------------------------------------------------------------------------------------ import

fn import(server: &Server, route: &str, lines: &str, as_user: Option<&(String, String)>) -> Answer {
    let body = Some((LINES, lines.as_bytes().to_vec()));
    server.send("POST", &format!("{}{route}", server.rest), as_user, body, &[])
}

/// The result of each line.
fn results(answer: &Answer) -> Vec<Value> {
    documents(answer)
}

fn count(results: &[Value], result: &str) -> usize {
    results.iter().filter(|line| line["result"] == result).count()
}

/// The collections that can be imported, from the description of the service.
fn imported_collections(server: &Server) -> Vec<String> {
    let described = server.get("/openapi.json").body;
    let paths = described["paths"].as_object().expect("paths");
    paths.keys().filter_map(|path| path.strip_suffix("/import")).map(str::to_owned).collect()
}

/// The whole of a collection, whatever the states and types that its list leaves out by default.
fn whole(server: &Server, route: &str) -> Answer {
    export(server, &query_of_whole(server, route), Some(&server.admin.clone()))
}

/// See [`whole`].
fn query_of_whole(server: &Server, route: &str) -> String {
    let arguments = server.ask("OPTIONS", route, Some(&server.admin), None).body["endpoints"][0]["args"].clone();
    let states = arguments.get("status").map(|status| match status["items"]["enum"].as_array() {
        None => "&status=all".to_owned(),
        Some(states) if states.contains(&json!("any")) => "&status=any,trash".to_owned(),
        Some(states) => {
            let states: Vec<&str> = states.iter().filter_map(Value::as_str).collect();
            format!("&status={}", states.join(","))
        }
    });
    let types = arguments.get("type").filter(|_| route.ends_with("/comments")).map(|_| "&type=all");
    format!("{route}?context=edit{}{}", states.unwrap_or_default(), types.unwrap_or_default())
}

/// Every row of the site, and how much was written so far.
fn rows(server: &Server) -> Vec<String> {
    let tables =
        ["record", "term", "\"user\"", "comment", "meta", "edge", "slug", "revision", "version", "sequence", "setting"];
    let of = |table: &&str| {
        let rows = server.sql(&format!("SELECT * FROM {table} AS t ORDER BY 1, 2"));
        rows.into_iter().map(|row| format!("{table}: {row}")).collect::<Vec<_>>()
    };
    let written = server.sql("SELECT count(*) FROM change_feed");
    tables.iter().flat_map(of).chain(written).collect()
}

/// A site with something of everything.
fn inhabited(prefix: &str) -> Server {
    let server = Server::with(&[&format!("site.prefix={prefix}"), "site.demo=true"]);
    let at = |route: &str| format!("/{prefix}/v2/{route}");
    let made = |route: &str, body: Value| {
        let made = server.admin("POST", &at(route), Some(&body));
        assert_eq!(made.status, 201, "{route}: {}", made.text);
        made.body["id"].clone()
    };
    let editor = made(
        "users",
        json!({"username": "Erin", "email": "Erin@Example.org", "password": "long enough",
        "roles": ["editor"], "first_name": "Erin", "description": "Writes <em>well</em>."}),
    );
    let above = made("categories", json!({"name": "Above & beyond", "description": "Two\nlines"}));
    let below = made("categories", json!({"name": "Below", "parent": above}));
    let tag = made("tags", json!({"name": "Ünique"}));
    let post = made(
        "posts",
        json!({"title": "A <b>post</b> & more", "content": "<!-- wp:paragraph -->\n<p>Text</p>\n<!-- /wp:paragraph -->",
        "status": "publish", "author": editor, "categories": [above, below], "tags": [tag], "password": "secret", "excerpt": "Short",
        "date": "2020-02-03T04:05:06", "comment_status": "open", "sticky": false}),
    );
    made("posts", json!({"title": "Draft", "status": "draft"}));
    made("posts", json!({"title": "Later", "status": "future", "date": "2099-01-01T00:00:00"}));
    let page = made("pages", json!({"title": "Page", "status": "private"}));
    made("pages", json!({"title": "Page", "status": "publish", "parent": page, "menu_order": 7}));
    let gone = made("pages", json!({"title": "Gone", "status": "publish"}));
    assert_eq!(server.admin("DELETE", &at(&format!("pages/{}", gone)), None).status, 200);
    made("blocks", json!({"title": {"raw": "Piece"}, "content": {"raw": "<p>x</p>"}, "status": "publish"}));
    let first = made(
        "comments",
        json!({"post": post, "content": "First", "author_name": "Ann", "author_email": "ann@example.org"}),
    );
    let reply = made("comments", json!({"post": post, "content": "Reply", "parent": first}));
    made(
        "comments",
        json!({"post": post, "content": "Spam", "parent": reply, "author_name": "S", "author_email": "s@example.org", "status": "spam"}),
    );
    let picture = upload(&server, "tree.png", "image/png", png(40, 30)).body["id"].clone();
    let texts = json!({"alt_text": "A \"tree\"", "caption": "Caption", "description": "<p>Long</p>", "post": post});
    assert_eq!(server.admin("POST", &at(&format!("media/{picture}")), Some(&texts)).status, 200);
    server
}

#[test]
fn what_is_exported_is_imported_without_a_change() {
    for prefix in ["cms", "wp"] {
        let server = inhabited(prefix);
        let admin = server.admin.clone();
        let collections = imported_collections(&server);
        for expected in ["posts", "pages", "blocks", "categories", "tags", "users", "comments", "media"] {
            assert!(collections.contains(&format!("/{prefix}/v2/{expected}")), "{expected}: {collections:?}");
        }
        let mut filled = 0;
        for route in collections {
            let exported = whole(&server, &route);
            let lines = documents(&exported).len();
            if lines == 0 {
                continue;
            }
            filled += usize::from(lines > 0);
            let before = rows(&server);
            let done = results(&import(&server, &format!("{route}/import?upsert=id"), &exported.text, Some(&admin)));
            assert_eq!(count(&done, "unchanged"), lines, "{route}: {done:#?}");
            assert_eq!(whole(&server, &route).text, exported.text, "{route}");
            let after = rows(&server);
            let changed: Vec<_> = after.iter().filter(|row| !before.contains(row)).collect();
            assert!(before == after, "{route}: {changed:#?}");
        }
        assert!(filled >= 8, "{filled} collections have items");
    }
}

/// A document without what the server sets: dates of changes, addresses of the other site.
fn carried(document: &Value, left: &Server, here: &Server) -> Value {
    let text = document.to_string().replace(&left.site, &here.site);
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    for name in ["modified", "modified_gmt", "registered_date", "guid", "_links"] {
        document.as_object_mut().expect("an object").remove(name);
    }
    document
}

#[test]
fn a_site_moves_into_an_empty_one() {
    for prefix in ["cms", "wp"] {
        let server = inhabited(prefix);
        let other = Server::with(&[&format!("site.prefix={prefix}")]);
        let of_other = other.admin.clone();
        let names = ["users", "categories", "tags", "posts", "pages", "blocks", "comments"];
        let by = |name: &str| if name == "users" { "upsert=username&keep_ids=true" } else { "upsert=id" };
        let parts = names.map(|name| {
            let route = format!("/{prefix}/v2/{name}");
            // The trash stays behind.
            let exported = documents(&whole(&server, &route)).into_iter().filter(|one| one["status"] != "trash");
            (name, route, exported.collect::<Vec<Value>>())
        });
        let file = |documents: &[Value]| documents.iter().map(|one| format!("{one}\n")).collect::<String>();
        for (name, route, exported) in &parts {
            let address = format!("{route}/import?{}", by(name));
            let done = results(&import(&other, &address, &file(exported), Some(&of_other)));
            assert_eq!(count(&done, "failed"), 0, "{route}: {done:#?}");
        }
        for (name, route, exported) in &parts {
            let arrived = documents(&whole(&other, route));
            for sent in exported {
                let found = arrived.iter().find(|one| one["id"] == sent["id"]).expect("the item");
                assert_eq!(carried(found, &other, &other), carried(sent, &server, &other), "{route}");
            }
            // Once is enough.
            let address = format!("{route}/import?{}", by(name));
            let again = results(&import(&other, &address, &file(exported), Some(&of_other)));
            assert_eq!(count(&again, "unchanged"), again.len(), "{route}: {again:#?}");
        }
    }
}

#[test]
fn each_line_has_a_result_of_its_own() {
    let server = Server::start();
    let admin = server.admin.clone();
    let lines = "{\"name\": \"One\", \"slug\": \"one\"}\nnonsense\n\n{\"slug\": \"nameless\"}\n[]\n{\"name\": \"Two\"}";
    let done = results(&import(&server, "/cms/v2/tags/import?upsert=slug", lines, Some(&admin)));
    let shown = |line: &Value| (line["position"].clone(), line["status"].clone(), line["result"].clone());
    assert_eq!(
        done.iter().map(shown).collect::<Vec<_>>(),
        [
            (json!(0), json!(201), json!("created")),
            (json!(1), json!(400), json!("failed")),
            (json!(2), json!(400), json!("failed")),
            (json!(3), json!(400), json!("failed")),
            (json!(4), json!(201), json!("created")),
        ]
    );
    assert_eq!(done[2]["error"]["code"], "rest_missing_callback_param");
    let changed = "{\"name\": \"Uno\", \"slug\": \"one\"}\n{\"name\": \"Two\", \"slug\": \"two\"}";
    let done = results(&import(&server, "/cms/v2/tags/import?upsert=slug", changed, Some(&admin)));
    assert_eq!((count(&done, "updated"), count(&done, "unchanged")), (1, 1), "{done:#?}");
    let from = results(&import(&server, "/cms/v2/tags/import?upsert=slug&from=1", changed, Some(&admin)));
    assert_eq!(from.len(), 1);
    assert_eq!(from[0]["position"], 1);
}

#[test]
fn a_long_file_is_imported_in_several_requests() {
    let server = Server::start();
    let admin = server.admin.clone();
    let file: String = (0..1100).map(|n| format!("{{\"name\": \"Tag {n}\", \"slug\": \"tag-{n}\"}}\n")).collect();
    let first = results(&import(&server, "/cms/v2/tags/import?upsert=slug", &file, Some(&admin)));
    let next = first.last().and_then(|line| line["next"].as_u64()).expect("where to go on");
    assert_eq!((first.len(), next), (1001, 1000));
    let rest = results(&import(&server, &format!("/cms/v2/tags/import?upsert=slug&from={next}"), &file, Some(&admin)));
    assert_eq!((rest.len(), count(&rest, "created")), (100, 100));
    assert_eq!(server.get("/cms/v2/tags?per_page=1").header("x-cms-total"), Some("1100"));
}

#[test]
fn a_line_that_is_too_long_fails_alone() {
    let server = Server::start();
    let admin = server.admin.clone();
    let long = "x".repeat((8 << 20) + 100);
    let lines = format!("{{\"name\": \"{long}\"}}\n{{\"name\": \"Two\", \"slug\": \"two\"}}\n");
    let done = results(&import(&server, "/cms/v2/tags/import?upsert=slug", &lines, Some(&admin)));
    let shown = |line: &Value| (line["position"].clone(), line["result"].clone());
    assert_eq!(done.iter().map(shown).collect::<Vec<_>>(), [(json!(0), json!("failed")), (json!(1), json!("created"))]);
}

#[test]
fn users_are_imported_without_passwords() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}"), "site.bcrypt_cost=4"]);
        let admin = server.admin.clone();
        let route = format!("/{prefix}/v2/users/import");
        let line = |body: Value| format!("{body}\n");
        let anna =
            json!({"id": 77, "username": "Anna", "email": "Anna@Example.org", "name": "Anna A.", "roles": ["author"]});
        let known = line(json!({"username": "kim", "email": "kim@example.org", "password": "a long password"}));
        let file = format!("{}{known}", line(anna.clone()));
        let done = results(&import(&server, &format!("{route}?upsert=username&keep_ids=true"), &file, Some(&admin)));
        assert_eq!(count(&done, "created"), 2, "{done:#?}");
        assert_eq!(done[0]["id"], 77);
        let login = |name: &str, password: &str| {
            let mine = (name.to_owned(), password.to_owned());
            server.ask("GET", &format!("/{prefix}/v2/users/me"), Some(&mine), None).status
        };
        assert_eq!(login("Anna", ""), 401);
        let hashes =
            server.sql("SELECT login, length(password_hash) > 0 FROM \"user\" WHERE login <> 'admin' ORDER BY login");
        assert_eq!(
            hashes.iter().map(|row| row.ends_with('1') || row.ends_with('t')).collect::<Vec<_>>(),
            [false, true]
        );
        // Found by what is the same in other letters, and by each of these.
        for (by, value) in [("username", "ANNA"), ("email", "anna@example.ORG"), ("slug", "anna")] {
            let found = results(&import(
                &server,
                &format!("{route}?upsert={by}"),
                &line(json!({by: value, "description": by})),
                Some(&admin),
            ));
            let expected = if by == "username" { "failed" } else { "updated" };
            assert_eq!((&found[0]["result"], by), (&json!(expected), by), "{found:#?}");
        }
        let found = results(&import(
            &server,
            &format!("{route}?upsert=id"),
            &line(json!({"id": 77, "roles": ["editor"]})),
            Some(&admin),
        ));
        assert_eq!((&found[0]["result"], &found[0]["id"]), (&json!("updated"), &json!(77)), "{found:#?}");
        // Roles that there are not, an id that is taken, a property that nobody sees.
        let wrong = results(&import(
            &server,
            &route,
            &line(json!({"username": "x", "email": "x@example.org", "roles": ["emperor"]})),
            Some(&admin),
        ));
        assert_eq!(wrong[0]["error"]["code"], "rest_user_invalid_role", "{wrong:#?}");
        let taken = line(json!({"id": 77, "username": "y", "email": "y@example.org"}));
        let taken = results(&import(&server, &format!("{route}?keep_ids=true"), &taken, Some(&admin)));
        assert_eq!((&taken[0]["status"], &taken[0]["result"]), (&json!(409), &json!("failed")), "{taken:#?}");
        assert_eq!(import(&server, &format!("{route}?upsert=password"), "{}", Some(&admin)).status, 400);
    }
}

#[test]
fn roles_are_imported_as_far_as_the_caller_may_give_them() {
    let server = Server::with(&[
        "roles.clerk.name=Clerk",
        "roles.clerk.capabilities=[\"read\", \"import\", \"list_users\", \"create_users\", \"edit_users\"]",
    ]);
    let clerk = server.user("clerk", "clerk");
    let file = "{\"username\": \"a\", \"email\": \"a@example.org\", \"roles\": [\"administrator\"]}\n\
        {\"username\": \"b\", \"email\": \"b@example.org\"}\n";
    let done = results(&import(&server, "/cms/v2/users/import?upsert=username", file, Some(&clerk)));
    assert_eq!(
        (done[0]["result"].as_str(), done[1]["result"].as_str()),
        (Some("failed"), Some("created")),
        "{done:#?}"
    );
}

#[test]
fn comments_are_imported_with_their_threads() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let admin = server.admin.clone();
        let at = |route: &str| format!("/{prefix}/v2/{route}");
        let body = json!({"title": "One", "status": "publish", "comment_status": "closed"});
        let post = server.admin("POST", &at("posts"), Some(&body)).body["id"].clone();
        let comment = |id: i64, parent: i64, post: &Value| {
            json!({"id": id, "parent": parent, "post": post, "content": {"raw": "The same"}, "author_name": "Ann",
                "author_email": "ann@example.org", "date": "2020-01-01T00:00:00", "status": "approved"})
        };
        // The record takes no comments any more, and one text twice is no repetition.
        let lines =
            [comment(41, 0, &post), comment(42, 41, &post), comment(43, 42, &post), comment(44, 0, &json!(9999))];
        let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let route = at("comments/import?upsert=id");
        let done = results(&import(&server, &route, &file, Some(&admin)));
        assert_eq!((count(&done, "created"), count(&done, "failed")), (3, 1), "{done:#?}");
        assert_eq!(done[3]["error"]["code"], "rest_comment_invalid_post_id");
        let found = server.get(&at("comments?order=asc&orderby=id&_fields=id,parent,date")).body;
        let expected = |id: i64, parent: i64| json!({"id": id, "parent": parent, "date": "2020-01-01T00:00:00"});
        assert_eq!(found, json!([expected(41, 0), expected(42, 41), expected(43, 42)]));
        let again = results(&import(&server, &route, &file, Some(&admin)));
        assert_eq!((count(&again, "unchanged"), count(&again, "failed")), (3, 1), "{again:#?}");
        let next =
            server.admin("POST", &at("posts"), Some(&json!({"title": "Open", "status": "publish"}))).body["id"].clone();
        let new = server.admin("POST", &at("comments"), Some(&json!({"post": next, "content": "New"})));
        assert_eq!(new.body["id"], 44, "{}", new.text);
        let wrong = results(&import(&server, &route, &format!("{}\n", comment(-4, 0, &post)), Some(&admin)));
        assert_eq!(wrong[0]["error"]["code"], "rest_invalid_param", "{wrong:#?}");
    }
}

#[test]
fn lines_change_the_records_of_files() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let admin = server.admin.clone();
        let id = upload(&server, "tree.png", "image/png", png(40, 30)).body["id"].clone();
        let route = format!("/{prefix}/v2/media/import?upsert=id");
        let known = json!({"id": id, "alt_text": "A tree", "title": {"raw": "Tree"}});
        let unknown = json!({"id": 999, "alt_text": "No tree", "source_url": "https://example.org/tree.png"});
        let refused = json!({"id": 998, "alt_text": "No tree", "url": "http://127.0.0.1:1/tree.png"});
        let done = results(&import(&server, &route, &format!("{known}\n{unknown}\n{refused}\n"), Some(&admin)));
        let told: Vec<&str> = done.iter().filter_map(|line| line["result"].as_str()).collect();
        assert_eq!(told, ["updated", "failed", "failed"], "{done:#?}");
        assert_eq!(done[1]["error"]["code"], "rest_upload_no_data");
        assert!(done[1]["error"]["message"].as_str().is_some_and(|message| message.contains("`url`")), "{done:#?}");
        let shown = server.admin("GET", &format!("/{prefix}/v2/media/{id}?context=edit"), None).body;
        assert_eq!((&shown["alt_text"], &shown["title"]["raw"]), (&json!("A tree"), &json!("Tree")));
    }
}

#[test]
fn imports_are_for_those_who_may() {
    let server = Server::start();
    let line = "{\"name\": \"One\"}";
    let author = server.user("author", "author");
    assert_eq!(import(&server, "/cms/v2/tags/import", line, None).status, 401);
    assert_eq!(import(&server, "/cms/v2/tags/import", line, Some(&author)).status, 403);
    let admin = server.admin.clone();
    let wrong = import(&server, "/cms/v2/tags/import?upsert=description_of", line, Some(&admin));
    assert_eq!((wrong.status, wrong.code()), (400, "rest_invalid_param"));
    let empty = server.admin("POST", "/cms/v2/tags/import", None);
    assert_eq!((empty.status, empty.code()), (400, "rest_upload_no_data"));
    assert_eq!(server.get("/cms/v2/tags").body, json!([]));
}

/// A server with venues and people that refer to each other.
fn circular(prefix: &str) -> Server {
    let own = |to: &str| json!({"type": "integer", "x-relation": {"to": to}});
    let many = |to: &str| json!({"type": "array", "items": {"type": "integer"}, "x-relation": {"to": to}});
    let rows = json!({"type": "array", "items": {"type": "object", "properties": {"at": own("venues")}}});
    let properties = json!({"part_of": own("venues"), "related": many("venues"), "stops": rows});
    let declared = super::own_types::folder(&[("venues", "plain", properties, "")]);
    Server::over(declared, &[&format!("site.prefix={prefix}")])
}

#[test]
fn items_that_refer_to_each_other_are_imported() {
    let rows = [
        json!({"id": 6000, "title": "C1", "part_of": 6001, "related": [6000, 6002], "stops": [{"at": 6002}, {"at": 6000}]}),
        json!({"id": 6001, "title": "C2", "part_of": 6000, "related": []}),
        json!({"id": 6002, "title": "Self", "part_of": 6002, "related": [6000, 6001, 6002]}),
    ];
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    for query in ["upsert=id", "keep_ids=true"] {
        let server = circular("cms");
        let admin = server.admin.clone();
        let done = results(&import(&server, &format!("/own/v1/venues/import?{query}"), &lines, Some(&admin)));
        assert_eq!(count(&done, "created"), 3, "{query}: {done:#?}");
        assert!(done.iter().all(|line| line.get("deferred").is_none()), "{query}: {done:#?}");
        for row in &rows {
            let found = server.get(&format!("/own/v1/venues/{}", row["id"])).body;
            for property in ["part_of", "related", "stops"] {
                let wanted = row.get(property).unwrap_or(&Value::Null);
                assert_eq!(found[property], *wanted, "{query}, {property}: {found}");
            }
        }
    }
    // A reference to nothing is refused as before, and nothing of it is made.
    let server = circular("cms");
    let admin = server.admin.clone();
    let lost = "{\"id\": 6010, \"title\": \"Lost\", \"part_of\": 7777}\n";
    let done = results(&import(&server, "/own/v1/venues/import?upsert=id", lost, Some(&admin)));
    assert_eq!(count(&done, "failed"), 1, "{done:#?}");
    assert_eq!(server.get("/own/v1/venues/6010").status, 404);
    // With `deferred` it is made, the property is named, and the same lines set it later.
    let done = results(&import(&server, "/own/v1/venues/import?upsert=id&deferred=true", lost, Some(&admin)));
    assert_eq!((&done[0]["result"], &done[0]["deferred"]), (&json!("created"), &json!(["part_of"])), "{done:#?}");
    let found = "{\"id\": 7777, \"title\": \"Found\"}\n";
    results(&import(&server, "/own/v1/venues/import?upsert=id", found, Some(&admin)));
    let done = results(&import(&server, "/own/v1/venues/import?upsert=id", lost, Some(&admin)));
    assert_eq!(count(&done, "updated"), 1, "{done:#?}");
    assert_eq!(server.get("/own/v1/venues/6010").body["part_of"], 7777);
}

/// References lead across the requests that a long file takes, both ways.
#[test]
fn items_of_several_requests_refer_to_each_other() {
    let server = circular("cms");
    let admin = server.admin.clone();
    let last = 1100;
    let row = |n: i64| match n {
        0 => json!({"id": 5000, "title": "First", "part_of": 5000 + last, "related": [5000, 5000 + last]}),
        n if n == last => json!({"id": 5000 + last, "title": "Last", "part_of": 5000}),
        n => json!({"id": 5000 + n, "title": format!("Venue {n}")}),
    };
    let file: String = (0..=last).map(|n| format!("{}\n", row(n))).collect();
    let first = results(&import(&server, "/own/v1/venues/import?upsert=id", &file, Some(&admin)));
    assert_eq!((count(&first, "created"), &first[0]["deferred"]), (1000, &json!(["part_of", "related"])));
    let rest = results(&import(&server, "/own/v1/venues/import?upsert=id&from=1000", &file, Some(&admin)));
    assert_eq!((count(&rest, "created"), count(&rest, "updated"), count(&rest, "failed")), (101, 1, 0));
    assert_eq!(rest[0]["position"], 0, "the line of the first request");
    let found = server.get("/own/v1/venues/5000").body;
    assert_eq!((&found["part_of"], &found["related"]), (&json!(5000 + last), &json!([5000, 5000 + last])));
    assert_eq!(server.get(&format!("/own/v1/venues/{}", 5000 + last)).body["part_of"], 5000);
    let again = results(&import(&server, "/own/v1/venues/import?upsert=id&from=1000", &file, Some(&admin)));
    assert_eq!(count(&again, "unchanged"), 101, "{again:#?}");
}

#[test]
fn pages_come_before_their_parents_in_another_request() {
    let server = Server::start();
    let admin = server.admin.clone();
    let row = |n: i64| {
        json!({"id": 5000 + n, "title": {"raw": format!("Page {n}")}, "status": "draft",
        "parent": if n == 0 { 6050 } else { 0 }})
    };
    let file: String = (0..=1050).map(|n| format!("{}\n", row(n))).collect();
    for from in ["", "&from=1000"] {
        let done = results(&import(&server, &format!("/cms/v2/pages/import?upsert=id{from}"), &file, Some(&admin)));
        assert_eq!(count(&done, "failed"), 0, "{done:#?}");
    }
    assert_eq!(server.admin("GET", "/cms/v2/pages/5000?context=edit", None).body["parent"], 6050);
}

#[test]
fn the_export_of_nothing_is_imported() {
    let server = Server::start();
    let admin = server.admin.clone();
    for body in ["", "\n\n"] {
        let answer = import(&server, "/cms/v2/tags/import?upsert=slug", body, Some(&admin));
        assert_eq!((answer.status, answer.text.as_str()), (200, ""), "{body:?}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let server = Server::start();
    let admin = server.admin.clone();
    let lines = "\u{feff}{\"name\": \"One\", \"slug\": \"one\"}\n{\"name\": \"Two\", \"slug\": \"two\"}\n";
    let done = results(&import(&server, "/cms/v2/tags/import?upsert=slug", lines, Some(&admin)));
    assert_eq!(count(&done, "created"), 2, "{done:#?}");
    let body = Some(("application/json", "\u{feff}{\"name\": \"Three\"}".as_bytes().to_vec()));
    let made = server.send("POST", &format!("{}/cms/v2/tags", server.rest), Some(&admin), body, &[]);
    assert_eq!(made.status, 201, "{}", made.text);
}
