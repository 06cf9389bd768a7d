//! Rate limits: the declared ones, and what happens beyond them.

use super::server::{Answer, Server, run};
use serde_json::{Value, json};

fn server(limits: &str) -> Server {
    let server = Server::start();
    std::fs::write(server.path("site.toml"), limits).expect("a file");
    server.restart_with(&[])
}

/// An open post of the administrator, and an anonymous caller's comments on it.
fn commented(server: &Server) -> impl Fn(&str) -> Answer {
    let body = json!({"title": {"raw": "T"}, "status": "publish", "comment_status": "open"});
    let post = server.admin("POST", "/cms/v2/posts", Some(&body)).body["id"].clone();
    move |text: &str| {
        let comment =
            json!({"post": post, "author_name": "A", "author_email": "a@example.org", "content": {"raw": text}});
        server.ask("POST", "/cms/v2/comments", None, Some(&comment))
    }
}

const ANONYMOUS_COMMENTS: &str = "[limits.anonymous_writes]\nburst = 3\nper_minute = 2\n";

#[test]
fn strangers_write_no_more_often_than_declared() {
    let server = server(&format!("{ANONYMOUS_COMMENTS}[site]\nanonymous_comments = true\n"));
    // A request that is refused anyway takes nobody's place.
    for _ in 0..10 {
        assert_eq!(server.ask("POST", "/cms/v2/posts", None, Some(&json!({}))).status, 401);
    }
    let comment = commented(&server);
    let mut said = Vec::new();
    for n in 0..20 {
        let answer = comment(&format!("Comment {n}"));
        said.push((answer.status, answer.code().to_owned(), answer.header("retry-after").map(str::to_owned)));
        if answer.status == 429 {
            break;
        }
    }
    let refused = said.last().expect("an answer").clone();
    assert_eq!((refused.0, &*refused.1), (429, "rest_too_many_requests"), "{said:?}");
    assert_eq!(said.len(), 4, "three are borne: {said:?}");
    assert_eq!((said[0].0, &*said[1].1), (201, "comment_flood"), "a second one at once is too fast anyway");
    let wait: u32 = refused.2.expect("Retry-After").parse().expect("seconds");
    assert!((20..=30).contains(&wait), "{wait}");
    // Reading continues, and so does writing for authenticated users.
    assert_eq!(server.get("/cms/v2/posts").status, 200);
    for n in 0..8 {
        assert_eq!(server.admin("POST", "/cms/v2/tags", Some(&json!({"name": format!("T{n}")}))).status, 201);
    }
}

#[test]
fn a_limit_counts_what_it_names() {
    let server = server(
        "[limits.searches]\ncallers = \"all\"\nresources = [\"search\"]\nburst = 2\nper_minute = 1\n\
         [limits.mine]\ncallers = \"authenticated\"\nmethods = [\"DELETE\"]\nburst = 1\nper_minute = 1\n",
    );
    let search = |text: &str| server.get(&format!("/cms/v2/search?search={text}")).status;
    assert_eq!([search("a"), search("b"), search("c"), search("d")], [200, 200, 429, 429]);
    assert_eq!(server.get("/cms/v2/posts?search=a").status, 200, "another resource");
    let editor = server.user("eva", "editor");
    let delete = |user: &(String, String), id: i64| {
        server.ask("DELETE", &format!("/cms/v2/tags/{id}?force=true"), Some(user), None).status
    };
    let ids: Vec<i64> = (0..4)
        .map(|n| server.admin("POST", "/cms/v2/tags", Some(&json!({"name": format!("T{n}")}))).body["id"].as_i64())
        .map(|id| id.expect("an id"))
        .collect();
    assert_eq!((delete(&server.admin, ids[0]), delete(&server.admin, ids[1])), (200, 429));
    assert_eq!((delete(&editor, ids[1]), delete(&editor, ids[2])), (200, 429), "each user has a bucket");
    let parts: Vec<Value> = ids[2..]
        .iter()
        .map(|id| json!({"method": "DELETE", "path": format!("/cms/v2/tags/{id}?force=true")}))
        .collect();
    let done = server.ask("POST", "/batch/v1", Some(&editor), Some(&json!({"requests": parts}))).body;
    assert_eq!(
        (&done["responses"][0]["status"], &done["responses"][1]["status"]),
        (&json!(429), &json!(429)),
        "{done}"
    );
    let pause = done["responses"][0]["headers"]["Retry-After"].as_i64();
    assert!(pause.is_some_and(|seconds| (1..=60).contains(&seconds)), "{done}");
}

#[test]
fn wrong_credentials_are_slowed_and_right_ones_are_not() {
    let server = server("[limits.wrong_credentials]\nburst = 3\nper_minute = 1\n");
    let wrong = ("admin".to_owned(), "wrong wrong wrong".to_owned());
    let status = |user| server.ask("GET", "/cms/v2/posts", Some(user), None).status;
    assert_eq!([status(&wrong), status(&wrong), status(&wrong), status(&wrong)], [401, 401, 401, 429]);
    assert_eq!(status(&server.admin), 200, "the owner is accepted");
    assert_eq!(server.get("/cms/v2/posts").status, 200, "without credentials the caller is anonymous");
}

#[test]
fn limits_are_checked_with_the_other_declarations() {
    let server = Server::start();
    for (text, said) in [
        ("[limits.a]\ncallers = \"all\"\nresources = [\"pots\"]\nburst = 1\nper_minute = 1\n", "did you mean `posts`?"),
        ("[limits.a]\ncallers = \"all\"\nmethods = [\"FETCH\"]\nburst = 1\nper_minute = 1\n", "unknown method `FETCH`"),
        ("[limits.a]\ncallers = \"all\"\nburst = 0\nper_minute = 1\n", "site.toml:3"),
        ("[limits.a]\ncallers = \"everyone\"\nburst = 1\nper_minute = 1\n", "site.toml:2"),
    ] {
        std::fs::write(server.path("site.toml"), text).expect("a file");
        let checked = run(&["--config", server.path("routes.toml").to_str().expect("a path"), "check"], "");
        let told = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(!checked.status.success() && told.contains(said), "{text}\n{told}");
    }
}

#[test]
fn strangers_comment_where_the_site_lets_them_and_say_who_they_are() {
    let server = server("[site]\nanonymous_comments = true\n");
    let body = json!({"title": {"raw": "T"}, "status": "publish", "comment_status": "open"});
    let post = server.admin("POST", "/cms/v2/posts", Some(&body)).body["id"].clone();
    let comment = |members: Value| {
        let mut comment = json!({"post": post, "content": {"raw": "Well said."}});
        comment.as_object_mut().expect("a map").extend(members.as_object().expect("a map").clone());
        let answer = server.ask("POST", "/cms/v2/comments", None, Some(&comment));
        (answer.status, answer.code().to_owned(), answer.body)
    };
    for (members, code) in [
        (json!({}), "rest_comment_author_data_required"),
        (json!({"author_name": "A"}), "rest_comment_author_data_required"),
        (json!({"author_name": "A", "author_email": "a@example.org", "author": 1}), "rest_comment_invalid_author"),
        (
            json!({"author_name": "A", "author_email": "a@example.org", "status": "approved"}),
            "rest_comment_invalid_status",
        ),
    ] {
        let (status, told, _) = comment(members);
        assert!(status >= 400 && told == code, "{told} for {code}");
    }
    let (status, _, made) = comment(json!({"author_name": "A", "author_email": "a@example.org"}));
    assert_eq!((status, &made["author"], &made["author_name"]), (201, &json!(0), &json!("A")), "{made}");
    let id = made["id"].as_i64().expect("an id");
    let held = server.admin("GET", &format!("/cms/v2/comments/{id}?context=edit"), None).body;
    assert_eq!(held["status"], "hold", "the first one waits for a moderator");
    assert_eq!(comment(json!({"author_name": "B", "author_email": "b@example.org"})).1, "comment_flood");
}

#[test]
fn cached_responses_count() {
    let server = server("[limits.reads]\ncallers = \"anonymous\"\nmethods = [\"GET\"]\nburst = 5\nper_minute = 1\n");
    let found: Vec<u16> = (0..8).map(|_| server.get("/cms/v2/categories").status).collect();
    assert_eq!(found, [200, 200, 200, 200, 200, 429, 429, 429]);
    assert_eq!(server.admin("GET", "/cms/v2/categories", None).status, 200, "others have limits of their own");
}

#[test]
fn a_collection_that_is_read_whole_is_one_request() {
    let server = server("[limits.reads]\ncallers = \"all\"\nmethods = [\"GET\"]\nburst = 3\nper_minute = 1\n");
    for number in 0..6 {
        let made = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": format!("Tag {number}")})));
        assert_eq!(made.status, 201, "{}", made.text);
    }
    let url = format!("{}/cms/v2/tags?orderby=id&per_page=1", server.rest);
    let lines = || server.send("GET", &url, Some(&server.admin), None, &[("accept", "application/x-ndjson")]);
    let counts: Vec<(u16, usize)> = (0..4).map(|_| lines()).map(|all| (all.status, all.text.lines().count())).collect();
    assert_eq!(counts[..3], [(200, 6); 3]);
    assert_eq!(counts[3].0, 429);
}
