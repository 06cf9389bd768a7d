//! Lists and searches: limits of requests, and that no caller learns by them what it may not read.

use crate::server::{Answer, Server, stdout};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_config::load;
use cms_server::boot;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tempfile::TempDir;

type User = (String, String);

/// `"n"` times with commas between.
fn times(what: &str, n: usize) -> String {
    vec![what; n].join(",")
}

fn total(answer: &Answer) -> &str {
    answer.headers.iter().find(|(name, _)| name.ends_with("-total")).map_or("", |(_, value)| value)
}

fn ids(answer: &Answer) -> Vec<i64> {
    answer.body.as_array().into_iter().flatten().filter_map(|item| item["id"].as_i64()).collect()
}

// ------------------------------------------------------------------------------------------------ bounds

#[test]
fn every_list_of_a_request_has_a_bound() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let ns = format!("/{prefix}/v2");
        let check = |route: &str, name: &str, item: &str, most: usize| {
            for (n, status) in [(most - 1, 200), (most, 200), (most + 1, 400)] {
                let answer = server.admin("GET", &format!("{ns}/{route}{name}={}", times(item, n)), None);
                assert_eq!(answer.status, status, "{route}{name} of {n}: {}", answer.text);
                if status == 400 {
                    assert_eq!(answer.code(), "rest_invalid_param", "{route}{name}");
                }
            }
        };
        for name in ["include", "exclude", "author", "author_exclude", "slug", "categories", "tags_exclude", "status"] {
            let item = if name == "status" { "publish" } else { "7" };
            check("posts?", name, item, 1000);
        }
        for (route, name) in [
            ("pages?", "parent"),
            ("media?", "parent_exclude"),
            ("comments?", "post"),
            ("comments?", "author"),
            ("comments?", "include"),
            ("users?", "include"),
            ("tags?", "exclude"),
            ("search?", "include"),
            ("search?", "exclude"),
        ] {
            check(route, name, "7", 1000);
        }
        check("posts?", "search_columns", "post_title", 1000);
        check("search?", "subtype", "post", 1000);
        check("users?", "roles", "editor", 100);
        check("users?", "capabilities", "edit_posts", 100);
        check("media?", "media_type", "image", 100);
        check("media?", "mime_type", "image/png", 100);
        check("posts?", "_fields", "id", 1000);
        check("posts?", "_embed", "author", 1000);
        check("posts?categories[operator]=AND&", "categories[terms]", "7", 100);
        check("posts?tags[operator]=OR&", "tags[terms]", "7", 100);
    }
}

#[test]
fn the_bounds_hold_however_a_list_comes() {
    let server = Server::with(&["bounds.max_items=3"]);
    let url = format!("{}/cms/v2/posts", server.rest);
    let (form, urlencoded) = ("include[]=1&include[]=2&include[]=3", "application/x-www-form-urlencoded");
    for (more, status) in [("", 200), ("&include[]=4", 400)] {
        let query = format!("{url}?{form}{more}");
        assert_eq!(server.send("GET", &query, None, None, &[]).status, status);
        let list: Vec<usize> = (1..=form.matches("include").count() + more.matches("include").count()).collect();
        let body = json!({"include": list}).to_string().into_bytes();
        assert_eq!(server.send("GET", &url, None, Some(("application/json", body)), &[]).status, status);
        let created = format!("title[raw]=A&{}", format!("{form}{more}").replace("include", "tags"));
        let answer =
            server.send("POST", &url, Some(&server.admin), Some((urlencoded, created.clone().into_bytes())), &[]);
        assert_eq!(answer.status == 400, status == 400, "{}", answer.text);
        let named = format!("{url}?_method=GET&{form}{more}");
        assert_eq!(server.send("POST", &named, None, None, &[]).status, status);
        let part = json!({"path": "/cms/v2/posts", "body": {"title": {"raw": "B"}, "tags": list}});
        let batch = server.admin("POST", "/batch/v1", Some(&json!({"requests": [part]})));
        let told = batch.body["responses"][0]["status"].as_u64();
        assert_eq!(told == Some(400), status == 400, "{}", batch.text);
    }
}

#[test]
fn a_search_has_a_length_and_few_words() {
    for (prefix, most) in [("cms", 20), ("wp", 9)] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let ns = format!("/{prefix}/v2");
        let words: Vec<String> = (0..most + 1).map(|n| format!("w{n}x")).collect();
        let phrase = words.join(" ");
        let body = json!({"title": {"raw": "Words"}, "content": {"raw": phrase}, "status": "publish"});
        let made = server.admin("POST", &format!("{ns}/posts"), Some(&body));
        let post = made.body["id"].as_i64().expect("an id");
        let changed = json!({"content": {"raw": format!("{phrase} more")}});
        server.admin("POST", &format!("{ns}/posts/{post}"), Some(&changed));
        let backwards = |n: usize| words[..n].iter().rev().cloned().collect::<Vec<_>>().join("+");
        let routes = [
            "posts?".to_owned(),
            "search?".to_owned(),
            format!("posts/{post}/revisions?"),
            "posts?orderby=relevance&".to_owned(),
            "posts?_highlight=1&".to_owned(),
        ];
        for route in &routes {
            let ask = |search: &str| server.admin("GET", &format!("{ns}/{route}search={search}"), None);
            for n in [most - 1, most] {
                let found = ask(&backwards(n));
                assert_eq!((found.status, !ids(&found).is_empty()), (200, true), "{route} {n}: {}", found.text);
            }
            let beyond = ask(&backwards(most + 1));
            if prefix == "cms" {
                assert_eq!((beyond.status, beyond.code()), (400, "rest_invalid_param"), "{route}");
                assert!(beyond.body["data"]["params"]["search"].as_str().is_some_and(|s| s.contains("20 words")));
            } else {
                assert_eq!((beyond.status, ids(&beyond).len()), (200, 0), "{route}: it is one phrase");
                assert!(!ids(&ask(&words.join("+"))).is_empty(), "{route}: it is one phrase");
            }
        }
        for route in ["posts", "users", "comments", "tags", "search"] {
            for (n, status) in [(1599, 200), (1600, 200), (1601, 400)] {
                let answer = server.admin("GET", &format!("{ns}/{route}?search={}", "y".repeat(n)), None);
                assert_eq!(answer.status, status, "{route} {n}");
            }
        }
    }
}

/// Kilobytes of memory that the process has in use.
#[cfg(target_os = "linux")]
fn resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("the process runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("a line");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number")
}

#[cfg(target_os = "linux")]
#[test]
fn searches_leave_no_memory_behind() {
    let server = Server::start();
    let search = |n: usize| {
        // Which words are wanted and which are not is another shape of a statement each time.
        let sign = |bit: usize| if ((n * 2_654_435_761) >> bit) & 1 == 1 { "-" } else { "" };
        let words: Vec<String> = (0..20).map(|bit| format!("{}w{n}x{bit}", sign(bit))).collect();
        let answer = server.get(&format!("/cms/v2/posts?orderby=relevance&search={}", words.join("+")));
        assert_eq!(answer.status, 200);
    };
    (0..50).for_each(search);
    let before = resident(&server);
    (50..650).for_each(search);
    let grown = resident(&server).saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} KiB more");
}

#[test]
fn the_reads_of_a_request_share_one_budget() {
    let server = Server::start();
    for n in 0..5 {
        let body = json!({"title": {"raw": format!("Post {n}")}, "status": "publish"});
        server.admin("POST", "/cms/v2/posts", Some(&body));
    }
    let routes = ["/cms/v2/posts", "/cms/v2/posts?_embed", "/cms/v2/posts?search=post", "/cms/v2/users"];
    for route in routes {
        assert_eq!(server.get(route).status, 200, "{route}: five seconds are enough");
    }
    let server = server.restart_with(&["storage.read_timeout=0ms"]);
    for route in routes {
        // Twice: nothing of a response that was ended is cached.
        for _ in 0..2 {
            let answer = server.get(route);
            assert_eq!((answer.status, answer.code()), (503, "rest_read_timeout"), "{route}: {}", answer.text);
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
    }
    let wrapped = server.get("/cms/v2/posts?_embed&_envelope");
    assert_eq!((wrapped.status, wrapped.body["status"].as_u64()), (200, Some(503)), "{}", wrapped.text);
    let head = server.ask("HEAD", "/cms/v2/posts", None, None);
    assert_eq!(head.status, 503);
    let server = server.restart_with(&["storage.read_timeout=false"]);
    assert_eq!(ids(&server.get("/cms/v2/posts")).len(), 5, "0 is no bound");
}

// ------------------------------------------------------------------------------------------------ what is hidden

/// Addresses of a user and of a commenter, a post that was commented on.
fn with_addresses(prefix: &str) -> (Server, Vec<(&'static str, Option<User>)>) {
    let server = Server::with(&[&format!("site.prefix={prefix}")]);
    let ns = format!("/{prefix}/v2");
    let people = [("nobody", ""), ("sue", "subscriber"), ("con", "contributor"), ("art", "author")];
    let callers = people.map(|(login, role)| (login, (!role.is_empty()).then(|| server.user(login, role)))).to_vec();
    let writer = server.user("hiddenlogin", "author");
    let body = json!({"title": {"raw": "Hers"}, "status": "publish"});
    let post = server.ask("POST", &format!("{ns}/posts"), Some(&writer), Some(&body)).body["id"].clone();
    let me = server.ask("GET", &format!("{ns}/users/me?context=edit"), Some(&writer), None).body["id"].clone();
    let changed = json!({"email": "wanda@secret.example", "name": "Wanda", "slug": "wanda"});
    let changed = server.admin("POST", &format!("{ns}/users/{me}"), Some(&changed));
    assert_eq!(changed.status, 200, "{}", changed.text);
    let comment = json!({"post": post, "content": {"raw": "Well said."}, "author_name": "Guest",
        "author_email": "guest@secret.example", "author_ip": "203.0.113.77", "status": "approved"});
    let made = server.admin("POST", &format!("{ns}/comments"), Some(&comment));
    assert_eq!(made.status, 201, "{}", made.text);
    (server, callers)
}

#[test]
fn addresses_are_not_found_by_those_who_may_not_see_them() {
    for prefix in ["cms", "wp"] {
        let (server, callers) = with_addresses(prefix);
        let ns = format!("/{prefix}/v2");
        let searches = [
            ("users", "search=wanda@s"),
            ("users", "search=hiddenlogin"),
            ("users", "search=secret.example&_total=false"),
            ("comments", "search=guest@s"),
            ("comments", "search=203.0.113"),
        ];
        for (who, caller) in &callers {
            let ask = |route: &str| server.ask("GET", &format!("{ns}/{route}"), caller.as_ref(), None);
            for (route, query) in searches {
                let found = ask(&format!("{route}?{query}"));
                assert_eq!((found.status, ids(&found).len()), (200, 0), "{who} {route} {query}: {}", found.text);
                assert!(matches!(total(&found), "0" | ""), "{who} {route} {query}");
            }
            for column in ["email", "username"] {
                let by = |text: &str, columns: &str| {
                    let found = ask(&format!("users?search={text}&search_columns={columns}"));
                    assert_eq!(found.status, 200, "{who} {column}: {}", found.text);
                    ids(&found).len()
                };
                assert_eq!(by("hiddenlogin", column) + by("secret.example", column), 0, "{who} {column}");
                assert_eq!(by("wanda", column), 1, "{who} {column}: the columns that are left are searched");
                assert_eq!(by("wanda", &format!("{column},id")), 0, "{who} {column}: the open one of two is searched");
            }
            for orderby in ["email", "registered_date"] {
                let refused = ask(&format!("users?orderby={orderby}"));
                let status = if caller.is_some() { 403 } else { 401 };
                assert_eq!((refused.status, refused.code()), (status, "rest_forbidden_orderby"), "{who}");
            }
            let refused = ask("comments?author_email=guest@secret.example");
            assert_eq!(refused.code(), "rest_forbidden_param", "{who}: {}", refused.text);
            let shown = ask("users?search=wanda&_highlight=1");
            assert_eq!(ids(&shown).len(), 1, "{who}: by name");
            assert!(!shown.text.contains("secret") && shown.text.contains("<mark>"), "{who}: {}", shown.text);
            let shown = ask("comments?search=guest&_highlight=1");
            assert!(shown.text.contains("<mark>") && !shown.text.contains("@"), "{who}: {}", shown.text);
        }
        for (route, query) in searches {
            let found = server.admin("GET", &format!("{ns}/{route}?{query}"), None);
            assert_eq!(ids(&found).len(), 1, "who may see them, finds them: {query}");
        }
        let found = server.admin("GET", &format!("{ns}/users?search=wanda@s&search_columns=email"), None);
        assert_eq!(ids(&found).len(), 1);
        let found = server.admin("GET", &format!("{ns}/comments?author_email=guest@secret.example"), None);
        assert_eq!(ids(&found).len(), 1);
    }
}

/// The books of the README with a shelf mark that only those see who edit.
fn library() -> Server {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let declared = include_str!("../../../fixtures/books/site.toml")
        .replace("pages = \"pages\", include", "pages = \"pages\", shelf = \"shelf\", include")
        .replace("search = { title = \"title\" }", "search = { title = \"title\", shelf = \"shelf\" }")
        .replace("enum = [\"id\", \"title\", \"pages\"", "enum = [\"id\", \"title\", \"pages\", \"shelf\"")
        + "shelf = { description = \"Only this shelf.\", type = \"string\", x-filter = { column = \"shelf\", op = \"eq\" } }\n\
           columns = { description = \"Where the search looks.\", type = \"array\", items = { type = \"string\" }, x-param = \"search_columns\" }\n";
    let mut schema: Value = serde_json::from_str(include_str!("../../../fixtures/books/book.json")).expect("JSON");
    schema["properties"]["shelf"] = json!({"description": "Where it stands.", "type": "string", "context": ["edit"]});
    std::fs::write(folder.path().join("site.toml"), declared).expect("a file");
    std::fs::write(folder.path().join("schemas/book.json"), schema.to_string()).expect("a file");
    Server::over(folder, &[])
}

#[test]
fn a_property_of_the_edit_context_is_no_filter_for_others() {
    let server = library();
    let (editor, author) = (server.user("eve", "editor"), server.user("art", "author"));
    for (title, shelf) in [("One", "s3cret"), ("Two", "plain")] {
        let body = json!({"title": title, "shelf": shelf, "pages": 1});
        let made = server.ask("POST", "/library/v1/books", Some(&editor), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
    }
    let ask =
        |caller: Option<&User>, query: &str| server.ask("GET", &format!("/library/v1/books?{query}"), caller, None);
    for (caller, denied) in [(None, 401), (Some(&author), 403)] {
        let found = ask(caller, "search=s3c");
        assert_eq!((found.status, ids(&found).len(), total(&found)), (200, 0, "0"));
        for (query, status, code) in
            [("shelf=s3cret", denied, "rest_forbidden_param"), ("orderby=shelf", denied, "rest_forbidden_orderby")]
        {
            let refused = ask(caller, query);
            assert_eq!((refused.status, refused.code()), (status, code), "{query}");
        }
        for (query, found) in [("s3c&columns=shelf", 0), ("one&columns=shelf", 1), ("one&columns=title", 1)] {
            assert_eq!(ids(&ask(caller, &format!("search={query}"))).len(), found, "{query}");
        }
    }
    for query in ["search=s3c", "shelf=s3cret", "search=s3c&columns=shelf"] {
        assert_eq!(ids(&ask(Some(&editor), query)).len(), 1, "{query}");
    }
    assert_eq!(ids(&ask(Some(&editor), "orderby=shelf&order=desc")).len(), 2);
}

#[test]
fn locked_texts_are_found_by_those_who_edit_them() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let ns = format!("/{prefix}/v2");
        let owner = server.user("own", "author");
        let body = json!({"title": {"raw": "Locked"}, "content": {"raw": "The treasure is below the oak."},
            "password": "key", "status": "publish"});
        let made = server.ask("POST", &format!("{ns}/posts"), Some(&owner), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        let others = [
            None,
            Some(server.user("sue", "subscriber")),
            Some(server.user("con", "contributor")),
            Some(server.user("art", "author")),
        ];
        let queries = [
            "posts?search=treas",
            "posts?search=treas&_highlight=1",
            "search?search=treas",
            "search?search=treas&_highlight=1",
            "posts?search=-treas",
            "posts?search=treas&orderby=relevance",
            "posts?search=treasure+oak",
            "posts?search=treas&search_columns=post_content",
        ];
        for query in queries {
            for other in &others {
                let found = server.ask("GET", &format!("{ns}/{query}"), other.as_ref(), None);
                assert_eq!((found.status, ids(&found).len(), total(&found)), (200, 0, "0"), "{query} {other:?}");
                assert!(!found.text.contains("mark>"), "{query}");
            }
            let wanted = usize::from(!query.contains("=-"));
            for editor in [&owner, &server.admin] {
                let found = server.ask("GET", &format!("{ns}/{query}"), Some(editor), None);
                assert_eq!((found.status, ids(&found).len()), (200, wanted), "{query}: {}", found.text);
            }
        }
    }
}

#[test]
fn totals_tell_nothing_of_what_is_in_rows_that_nobody_shows() {
    let server = Server::with(&["site.prefix=wp"]);
    let body = json!({"title": "Piece", "slug": "hidden-piece", "content": "The word is xyzzy.", "status": "publish"});
    let block = server.admin("POST", "/wp/v2/blocks", Some(&body)).body["id"].as_i64().expect("an id");
    let draft = json!({"title": "Draft", "content": "The word is plugh.", "status": "draft"});
    server.admin("POST", "/wp/v2/posts", Some(&draft));
    let author = server.user("art", "author");
    let check = |caller: Option<&User>, query: &str, told: &str| {
        let answer = server.ask("GET", &format!("/wp/v2/{query}"), caller, None);
        assert_eq!((answer.status, ids(&answer).len(), total(&answer)), (200, 0, told), "{query}: {}", answer.text);
    };
    // As WordPress counts: there are such rows.
    check(None, "blocks", "1");
    check(None, &format!("blocks?include={block}"), "1");
    check(Some(&author), "posts?status=draft", "1");
    for query in [
        "search=xyzzy",
        "search=nothing",
        "slug=hidden-piece",
        "after=2001-01-01T00:00:00",
        "before=2100-01-01T00:00:00",
    ] {
        check(None, &format!("blocks?{query}"), "0");
        check(None, &format!("blocks?include={block}&{query}"), "0");
    }
    for query in [
        "search=plugh",
        "after=2001-01-01T00:00:00",
        "modified_after=2001-01-01T00:00:00",
        "author=1",
        "slug=draft",
        "sticky=false",
    ] {
        check(Some(&author), &format!("posts?status=draft&{query}"), "0");
    }
}

#[test]
fn the_columns_that_only_editors_see() {
    for prefix in ["cms", "wp"] {
        let loaded = load::load(None, &[format!("site.prefix={prefix}")], []).expect("the shipped declarations");
        let registry = boot::registry(&loaded, "127.0.0.1:80").expect("the shipped declarations");
        let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for resource in registry.resources.iter().filter(|resource| resource.stores_rows()) {
            let mut columns: Vec<&str> = resource.edit_only.iter().map(|column| &**column).collect();
            columns.sort_unstable();
            all.insert(&resource.name, columns);
        }
        let of = |name: &str| all.get(name).cloned().unwrap_or_default();
        assert_eq!(of("comments"), ["author_email", "author_ip", "author_user_agent"]);
        assert_eq!(
            of("users"),
            [
                "email",
                "email_key",
                "first_name",
                "last_name",
                "locale",
                "login",
                "login_key",
                "nickname",
                "password_hash",
                "registered",
                "roles"
            ]
        );
        for resource in ["posts", "pages"] {
            assert_eq!(of(resource), ["password"], "{resource}");
        }
        for resource in ["categories", "tags", "audit"] {
            assert_eq!(of(resource), Vec::<&str>::new(), "{resource}");
        }
        let searched = registry.resources.iter().flat_map(|resource| {
            resource.search.iter().filter(|(_, column)| resource.edit_only.contains(*column)).map(|(name, _)| &**name)
        });
        let mut searched: Vec<&str> = searched.collect();
        searched.sort_unstable();
        assert_eq!(searched, ["author_email", "author_ip", "email", "username"], "{prefix}: {all:?}");
    }
}

#[test]
fn a_cursor_holds_no_nul() {
    let server = Server::start();
    server.user("zoe", "author");
    let route = "/cms/v2/users?orderby=name&order=desc&per_page=1";
    let first = server.admin("GET", &format!("{route}&_cursor="), None);
    let link = first.header("link").expect("a link");
    let cursor = link.split("_cursor=").nth(1).and_then(|rest| rest.split(['&', '>']).next()).expect("a cursor");
    let told = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).expect("base64")).expect("UTF-8");
    let forged = URL_SAFE_NO_PAD.encode(told.replace("\"zoe\"", "\"z\\u0000e\""));
    assert_ne!(forged, cursor, "{told}");
    let refused = server.admin("GET", &format!("{route}&_cursor={forged}"), None);
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{}", refused.text);
}
