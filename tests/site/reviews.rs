//! Changes of live records by credentials that only draft: they wait, people decide, and programs read the outcome.

use super::draft_only::drafting;
use super::mcp::{asked, names};
use super::server::{Answer, Server};
use serde_json::{Value, json};

type Caller = (String, String);

fn id(answer: &Answer) -> i64 {
    answer.body["id"].as_i64().unwrap_or_else(|| panic!("{}", answer.text))
}

/// A published post, and its route.
fn live(server: &Server, prefix: &str) -> String {
    let body = json!({"title": "Old", "content": "Old text", "excerpt": "Kept", "status": "publish"});
    format!("/{prefix}/v2/posts/{}", id(&server.admin("POST", &format!("/{prefix}/v2/posts"), Some(&body))))
}

/// The record as a stranger reads it.
fn seen(server: &Server, route: &str) -> String {
    server.get(route).text
}

fn proposed(server: &Server, who: &Caller, route: &str, body: Value) -> Value {
    let answer = server.ask("POST", route, Some(who), Some(&body));
    assert_eq!((answer.status, &answer.body["state"]), (202, &json!("pending")), "{}", answer.text);
    let at = answer.header("location").unwrap_or_default();
    assert!(at.ends_with(&format!("/server/v1/reviews/{}", answer.body["id"])), "{at}");
    answer.body
}

fn review(server: &Server, who: &Caller, review: &Value) -> Answer {
    server.ask("GET", &format!("/server/v1/reviews/{}", review["id"]), Some(who), None)
}

fn decide(server: &Server, who: &Caller, review: &Value, body: Value) -> Answer {
    server.ask("POST", &format!("/server/v1/reviews/{}", review["id"]), Some(who), Some(&body))
}

/// Publishes a change as it is now.
fn publish(server: &Server, who: &Caller, of: &Value) -> Answer {
    let seen = review(server, who, of).body["seen"].as_str().unwrap_or("none").to_owned();
    decide(server, who, of, json!({"state": "published", "seen": seen}))
}

#[test]
fn a_change_of_a_live_record_waits_until_a_person_decides() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}"), "site.application_passwords=on"]);
        let who = drafting_in(&server, prefix);
        let route = live(&server, prefix);
        let before = seen(&server, &route);
        let tag = server.admin("POST", &format!("/{prefix}/v2/tags"), Some(&json!({"name": "New"})));
        let first = proposed(&server, &who, &route, json!({"title": "New", "tags": [id(&tag)]}));
        assert_eq!(
            (&first["members"], &first["client"], &first["title"]),
            (&json!(["title", "tags"]), &json!("Assistant"), &json!("Old"))
        );
        assert_eq!((first.get("content"), first.get("credential")), (None, None), "{first}");
        // The next change of the program is added to it.
        let again = proposed(&server, &who, &route, json!({"content": "<p>New text</p>", "status": "publish"}));
        assert_eq!((&again["id"], &again["members"]), (&first["id"], &json!(["title", "tags", "content"])));
        assert_eq!(seen(&server, &route), before, "nothing has changed");
        assert_eq!(server.get(&format!("/server/v1/reviews/{}", first["id"])).status, 401);

        let read = review(&server, &server.admin, &first);
        assert_eq!(read.body["notices"], json!([]), "{}", read.text);
        let difference = read.body["difference"].as_array().expect("a difference");
        let of = |name: &str| difference.iter().find(|one| one["member"] == name).expect("a member").clone();
        assert_eq!(difference.len(), 3);
        assert_eq!(of("title")["present"]["raw"], "Old");
        assert_eq!(of("title")["proposed"]["raw"], "New");
        assert_eq!(of("content")["proposed"]["raw"], "<p>New text</p>");
        assert!(of("content")["proposed"]["rendered"].as_str().expect("HTML").contains("<p>New text</p>"));
        assert_eq!((&of("tags")["present"], &of("tags")["proposed"]), (&json!([]), &json!([id(&tag)])));

        let unseen = decide(&server, &server.admin, &first, json!({"state": "published"}));
        assert_eq!((unseen.status, unseen.code()), (400, "rest_missing_callback_param"), "{}", unseen.text);
        let done = publish(&server, &server.admin, &first);
        assert_eq!((done.status, &done.body["state"], &done.body["decided_by"]), (200, &json!("published"), &json!(1)));
        let now = server.admin("GET", &format!("{route}?context=edit"), None).body;
        assert_eq!((&now["title"]["raw"], &now["content"]["raw"]), (&json!("New"), &json!("<p>New text</p>")));
        assert_eq!((&now["tags"], &now["excerpt"]["raw"]), (&json!([id(&tag)]), &json!("Kept")));
        let told = review(&server, &who, &first);
        assert_eq!((told.status, &told.body["state"], &told.body["seen"]), (200, &json!("published"), &Value::Null));
        let closed = publish(&server, &server.admin, &first);
        assert_eq!((closed.status, closed.code()), (409, "rest_review_closed"), "{}", closed.text);
    }
}

fn drafting_in(server: &Server, prefix: &str) -> Caller {
    let body = json!({"name": "Assistant", "actions": ["read", "draft"]});
    let made = server.admin("POST", &format!("/{prefix}/v2/users/me/application-passwords"), Some(&body));
    (server.admin.0.clone(), made.body["password"].as_str().unwrap_or_else(|| panic!("{}", made.text)).to_owned())
}

#[test]
fn a_change_is_sent_back_with_a_note_or_withdrawn() {
    let server = Server::start();
    let who = drafting(&server);
    let route = live(&server, "cms");
    let before = seen(&server, &route);
    let sent = proposed(&server, &who, &route, json!({"title": "New"}));
    let back = decide(&server, &server.admin, &sent, json!({"state": "returned", "note": "Not so."}));
    assert_eq!((back.status, &back.body["note"]), (200, &json!("Not so.")), "{}", back.text);
    let told = review(&server, &who, &sent).body;
    assert_eq!((&told["state"], &told["note"]), (&json!("returned"), &json!("Not so.")));
    // Another try is another review, and whoever proposed it may take it back.
    let next = proposed(&server, &who, &route, json!({"title": "Newer"}));
    assert_ne!(next["id"], sent["id"]);
    let own = decide(&server, &who, &next, json!({"state": "withdrawn"}));
    assert_eq!((own.status, &own.body["state"]), (200, &json!("withdrawn")), "{}", own.text);
    assert_eq!(seen(&server, &route), before);
    let waiting = server.admin("GET", "/server/v1/reviews?state=pending", None).body;
    assert_eq!(waiting, json!([]));
    let trail = server.admin("GET", "/server/v1/audit?event=change_proposed,change_decided&order=asc", None).body;
    let trail: Vec<(&str, &str)> = trail
        .as_array()
        .expect("entries")
        .iter()
        .map(|one| (one["event"].as_str().expect("a name"), one["changed"][0].as_str().expect("a value")))
        .collect();
    let expected = [
        ("change_proposed", "title"),
        ("change_decided", "state=\"returned\""),
        ("change_proposed", "title"),
        ("change_decided", "state=\"withdrawn\""),
    ];
    assert_eq!(trail, expected);
}

#[test]
fn who_may_publish_the_record_decides() {
    let server = Server::start();
    let who = drafting(&server);
    let route = live(&server, "cms");
    let sent = proposed(&server, &who, &route, json!({"title": "New"}));
    let [editor, author, reader] =
        [("ed", "editor"), ("al", "author"), ("re", "subscriber")].map(|(login, role)| server.user(login, role));
    let listed = |caller: &Caller| server.ask("GET", "/server/v1/reviews", Some(caller), None);
    assert_eq!(listed(&editor).body[0]["id"], sent["id"]);
    assert_eq!(listed(&author).body, json!([]), "the record is another's");
    assert_eq!(listed(&reader).status, 403);
    for (caller, status) in [(&author, 403), (&reader, 403), (&who, 403)] {
        let answer = decide(&server, caller, &sent, json!({"state": "returned"}));
        assert_eq!(answer.status, status, "{}: {}", caller.0, answer.text);
    }
    let draft = decide(&server, &who, &sent, json!({"state": "published", "seen": "1-1"}));
    assert!(draft.text.contains("decides about none"), "{}", draft.text);
    let other = decide(&server, &editor, &sent, json!({"state": "withdrawn"}));
    assert_eq!(other.status, 403, "it is not theirs to withdraw");
    // An author decides about the own post.
    let own = server.ask("POST", "/cms/v2/posts", Some(&author), Some(&json!({"title": "Own", "status": "publish"})));
    let of_author = proposed(&server, &who, &format!("/cms/v2/posts/{}", id(&own)), json!({"title": "Better"}));
    assert_eq!(listed(&author).body[0]["id"], of_author["id"]);
    let done = publish(&server, &author, &of_author);
    assert_eq!((done.status, &done.body["state"]), (200, &json!("published")), "{}", done.text);
    assert_eq!(publish(&server, &editor, &sent).status, 200);
}

#[test]
fn what_has_happened_meanwhile_is_told() {
    let server = Server::start();
    let who = drafting(&server);
    let route = live(&server, "cms");
    let notices = |of: &Value| review(&server, &server.admin, of).body["notices"].clone();
    let sent = proposed(&server, &who, &route, json!({"title": "New"}));
    let read = review(&server, &server.admin, &sent).body;
    // The record is changed by a person: the difference is against the present, and the rest of the change stays.
    server.admin("POST", &route, Some(&json!({"title": "Person", "content": "By a person"})));
    let stale = decide(&server, &server.admin, &sent, json!({"state": "published", "seen": read["seen"]}));
    assert_eq!((stale.status, stale.code()), (409, "rest_review_outdated"), "{}", stale.text);
    let now = review(&server, &server.admin, &sent).body;
    assert_eq!(now["notices"], json!(["record_changed"]));
    assert_eq!(now["difference"][0]["present"]["raw"], "Person");
    assert_eq!(publish(&server, &server.admin, &sent).status, 200);
    let shown = server.admin("GET", &format!("{route}?context=edit"), None).body;
    assert_eq!((&shown["title"]["raw"], &shown["content"]["raw"]), (&json!("New"), &json!("By a person")));

    // Two programs: the second one is told that the record has changed.
    let body = json!({"name": "Other", "actions": ["read", "draft"]});
    let other = server.admin("POST", "/cms/v2/users/me/application-passwords", Some(&body)).body;
    let second = ("admin".to_owned(), other["password"].as_str().expect("a password").to_owned());
    let [a, b] = [&who, &second].map(|who| proposed(&server, who, &route, json!({"title": who.1.clone()})));
    assert_ne!(a["id"], b["id"]);
    let seen = review(&server, &server.admin, &a).body["seen"].clone();
    let changed = proposed(&server, &who, &route, json!({"excerpt": "More"}));
    assert_eq!(changed["id"], a["id"]);
    let unread = decide(&server, &server.admin, &a, json!({"state": "published", "seen": seen}));
    assert_eq!(unread.code(), "rest_review_outdated", "the change itself is another one: {}", unread.text);
    assert_eq!(publish(&server, &server.admin, &a).status, 200);
    assert_eq!(notices(&b), json!(["record_changed"]));
    // The credential is revoked, the user demoted: what waits stays, and both are told.
    server.admin(
        "DELETE",
        &format!("/cms/v2/users/me/application-passwords/{}", other["uuid"].as_str().expect("a key")),
        None,
    );
    assert_eq!(notices(&b), json!(["record_changed", "credential_ended"]));
    let editor = server.user("ed", "editor");
    let body = json!({"name": "Ed's", "actions": ["read", "draft"]});
    let made = server.ask("POST", "/cms/v2/users/me/application-passwords", Some(&editor), Some(&body));
    assert_eq!(made.status, 201, "{}", made.text);
    let theirs = ("ed".to_owned(), made.body["password"].as_str().expect("a password").to_owned());
    let c = proposed(&server, &theirs, &route, json!({"title": "Ed"}));
    let users = server.admin("GET", "/cms/v2/users?search=ed&context=edit", None).body;
    let ed = users.as_array().expect("users").iter().find(|user| user["username"] == "ed").expect("ed")["id"].clone();
    server.admin("POST", &format!("/cms/v2/users/{ed}"), Some(&json!({"roles": ["subscriber"]})));
    assert_eq!(notices(&c), json!(["user_may_not_edit"]));
    let refused = server.ask("POST", &route, Some(&theirs), Some(&json!({"title": "Ed again"})));
    assert_eq!((refused.status, refused.code()), (403, "rest_cannot_edit"), "{}", refused.text);
    // In the trash nothing is published; it can be sent back.
    server.admin("DELETE", &route, None);
    assert_eq!(notices(&b), json!(["record_trashed", "credential_ended"]));
    let trashed = publish(&server, &server.admin, &b);
    assert_eq!((trashed.status, trashed.code()), (409, "rest_review_outdated"), "{}", trashed.text);
    assert_eq!(decide(&server, &server.admin, &b, json!({"state": "returned"})).status, 200);
    let gone = server.ask("POST", &route, Some(&who), Some(&json!({"title": "X"})));
    assert_eq!((gone.status, gone.code()), (403, "rest_application_password_limited"), "{}", gone.text);
}

#[test]
fn what_a_change_cannot_contain_is_named() {
    let server = Server::with(&["reviews.most=2"]);
    let who = drafting(&server);
    let route = live(&server, "cms");
    let ask = |route: &str, body: Value| server.ask("POST", route, Some(&who), Some(&body));
    for (body, code, words) in [
        (json!({"title": "New", "slug": "new"}), "rest_application_password_limited", "cannot contain slug"),
        (json!({"status": "draft"}), "rest_application_password_limited", "cannot contain status"),
        (json!({"date": "2020-01-01T00:00:00"}), "rest_application_password_limited", "cannot contain date"),
        (json!({"password": "x"}), "rest_application_password_limited", "cannot contain password"),
        (json!({"title": "Old"}), "rest_proposal_no_changes", "nothing"),
        (json!({}), "rest_proposal_no_changes", "nothing"),
        (json!({"tags": [99_999]}), "rest_term_invalid_id", ""),
    ] {
        let answer = ask(&route, body.clone());
        let told = answer.code() == code && answer.text.contains(words);
        assert!(told || code == "rest_term_invalid_id" && answer.status < 500, "{body}: {}", answer.text);
    }
    let waiting = server.admin("GET", "/server/v1/reviews", None).body;
    for of in waiting.as_array().expect("a list") {
        decide(&server, &server.admin, of, json!({"state": "returned"}));
    }
    for _ in 0..2 {
        proposed(&server, &who, &live(&server, "cms"), json!({"title": "New"}));
    }
    let full = ask(&route, json!({"title": "New"}));
    assert_eq!((full.status, full.code()), (409, "rest_too_many_reviews"), "{}", full.text);
    // HTML that the user may not write does not get in by a reviewer who may.
    let author = server.user("al", "author");
    let body = json!({"name": "x", "actions": ["read", "draft"]});
    let made = server.ask("POST", "/cms/v2/users/me/application-passwords", Some(&author), Some(&body));
    let theirs = ("al".to_owned(), made.body["password"].as_str().expect("a password").to_owned());
    let own = server.ask("POST", "/cms/v2/posts", Some(&author), Some(&json!({"title": "Own", "status": "publish"})));
    let own = format!("/cms/v2/posts/{}", id(&own));
    let sent = proposed(&server, &theirs, &own, json!({"content": "<p>A<script>alert(1)</script></p>"}));
    assert_eq!(publish(&server, &server.admin, &sent).status, 200);
    let shown = server.get(&own).body["content"]["rendered"].as_str().expect("HTML").to_owned();
    assert!(shown.contains("<p>A") && !shown.contains("<script"), "{shown}");
}

#[test]
fn assistants_propose_changes_and_read_the_outcome() {
    let server = Server::with(&["mcp.path=/mcp"]);
    let who = drafting(&server);
    let route = live(&server, "cms");
    let number: i64 = route.rsplit('/').next().and_then(|end| end.parse().ok()).expect("a number");
    let tools = asked(&server, &who, "tools/list", json!({}))["result"]["tools"].clone();
    let tool = |name: &str| tools.as_array().expect("tools").iter().find(|tool| tool["name"] == name).cloned();
    assert!(tool("posts-update").is_some_and(|tool| tool.get("outputSchema").is_none()), "it may become a review");
    assert!(tool("reviews-get").is_some_and(|tool| tool.get("outputSchema").is_some()));
    let call = |who: &Caller, name: &str, arguments: Value| {
        asked(&server, who, "tools/call", json!({"name": name, "arguments": arguments}))["result"].clone()
    };
    let sent = call(&who, "posts-update", json!({"id": number, "title": "New"}));
    let words = sent["content"][0]["text"].as_str().expect("a sentence");
    assert!(words.starts_with("Nothing has changed yet") && sent["isError"] == false, "{sent}");
    let review = sent["structuredContent"].clone();
    assert_eq!((&review["state"], &review["members"]), (&json!("pending"), &json!(["title"])), "{sent}");
    let read = call(&who, "reviews-get", json!({"id": review["id"]}))["structuredContent"].clone();
    assert_eq!(read["difference"][0]["proposed"]["raw"], "New", "{read}");
    let refused = call(&who, "reviews-update", json!({"id": review["id"], "state": "published", "seen": read["seen"]}));
    assert!(refused["isError"] == true && refused.to_string().contains("decides about none"), "{refused}");
    // A person with an assistant that may do what the person may.
    assert!(names(&server, &server.admin).contains(&"reviews-update".to_owned()));
    let note = json!({"id": review["id"], "state": "returned", "note": "Shorter, please."});
    assert_eq!(call(&server.admin, "reviews-update", note)["structuredContent"]["state"], "returned");
    let told = call(&who, "reviews-get", json!({"id": review["id"]}))["structuredContent"].clone();
    assert_eq!((&told["state"], &told["note"]), (&json!("returned"), &json!("Shorter, please.")));
    let resource = asked(&server, &who, "resources/read", json!({"uri": format!("cms://reviews/{}", review["id"])}));
    assert!(resource["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.contains("Shorter")));
    let told = asked(&server, &who, "initialize", json!({"protocolVersion": "2025-11-25"}));
    assert!(told["result"]["instructions"].as_str().is_some_and(|text| text.contains("only drafts")), "{told}");
}
