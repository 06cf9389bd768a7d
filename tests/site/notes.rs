//! Notes: remarks of editors on a record, which are comments of a type of their own.

use super::server::{Answer, Server};
use serde_json::{Value, json};

fn server() -> Server {
    Server::with(&["site.prefix=wp"])
}

fn id(answer: &Answer) -> i64 {
    assert!(answer.status < 300, "{}", answer.text);
    answer.body["id"].as_i64().expect("an id")
}

fn post(server: &Server, who: &(String, String), status: &str) -> i64 {
    id(&server.ask("POST", "/wp/v2/posts", Some(who), Some(&json!({"title": "Held", "status": status}))))
}

fn note(server: &Server, who: &(String, String), post: i64, more: &Value) -> Answer {
    let mut body = json!({"post": post, "type": "note", "content": "Look at this."});
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    server.ask("POST", "/wp/v2/comments", Some(who), Some(&body))
}

#[test]
fn those_who_edit_a_record_write_notes_on_it() {
    let server = server();
    let (author, subscriber) = (server.user("ann", "author"), server.user("sid", "subscriber"));
    let own = post(&server, &author, "draft");
    let other = post(&server, &server.admin.clone(), "publish");
    let made = note(&server, &author, own, &json!({}));
    assert_eq!((made.status, &made.body["type"], &made.body["status"]), (201, &json!("note"), &json!("approved")));
    assert!(made.body["content"].get("raw").is_none(), "{}", made.text);
    for who in [&author, &subscriber] {
        let refused = note(&server, who, other, &json!({}));
        assert_eq!((refused.status, refused.code()), (403, "rest_cannot_create_note"));
    }
    assert_eq!(note(&server, &author, 999_999, &json!({})).code(), "rest_cannot_create_note");
    let nobody = json!({"post": other, "type": "note", "content": "Look."});
    let refused = server.ask("POST", "/wp/v2/comments", None, Some(&nobody));
    assert_eq!((refused.status, refused.code()), (401, "rest_comment_login_required"));
    let open = post(&server, &author, "publish");
    let unknown = note(&server, &author, open, &json!({"type": "remark"}));
    assert_eq!(unknown.code(), "rest_invalid_comment_type");
    let block = id(&server.admin("POST", "/wp/v2/blocks", Some(&json!({"title": "B", "status": "publish"}))));
    assert_eq!(note(&server, &server.admin, block, &json!({})).code(), "rest_comment_not_supported_post_type");
    // Neither twice nor too soon is a reason to refuse one; closed comments are none either.
    server.admin("POST", &format!("/wp/v2/posts/{own}"), Some(&json!({"comment_status": "closed"})));
    assert_eq!(note(&server, &author, own, &json!({})).status, 201);
}

#[test]
fn a_note_has_a_state_that_replies_change() {
    let server = server();
    let admin = server.admin.clone();
    let held = post(&server, &admin, "draft");
    let root = id(&note(&server, &admin, held, &json!({})));
    let reply = |content: &str, state: &str| {
        note(&server, &admin, held, &json!({"parent": root, "content": content, "meta": {"_wp_note_status": state}}))
    };
    let resolved = reply("", "resolved");
    assert_eq!((resolved.status, &resolved.body["meta"]["_wp_note_status"]), (201, &json!("resolved")));
    assert_eq!(reply("", "later").code(), "rest_comment_content_invalid");
    let refused = reply("Words", "later");
    assert_eq!((refused.status, refused.code()), (400, "rest_not_in_enum"));
    assert_eq!(note(&server, &admin, held, &json!({"content": ""})).code(), "rest_comment_content_invalid");
    let state = |state: &str| {
        let body = json!({"meta": {"_wp_note_status": state}});
        server.admin("PUT", &format!("/wp/v2/comments/{root}"), Some(&body))
    };
    assert_eq!(state("reopen").body["meta"]["_wp_note_status"], "reopen");
    assert_eq!(state("open").code(), "rest_not_in_enum");
    let read = server.admin("GET", &format!("/wp/v2/comments/{root}"), None);
    let children = read.body["_links"]["children"][0]["href"].as_str().expect("a link").to_owned();
    assert!(children.ends_with(&format!("/wp/v2/comments?parent={root}&type=note&status=all")), "{children}");
}

#[test]
fn notes_are_read_by_those_who_edit_the_record() {
    let server = server();
    let (author, other) = (server.user("ann", "author"), server.user("bob", "author"));
    let own = post(&server, &author, "publish");
    let root = id(&note(&server, &author, own, &json!({})));
    let list = |who: Option<&(String, String)>, more: &str| {
        server.ask("GET", &format!("/wp/v2/comments?post={own}&type=note{more}"), who, None)
    };
    assert_eq!(list(None, "&status=all").code(), "rest_forbidden_param");
    assert_eq!(list(Some(&other), "&context=edit").code(), "rest_forbidden_context");
    assert_eq!(list(Some(&author), "&context=edit&status=all").body.as_array().map(Vec::len), Some(1));
    assert_eq!(list(Some(&other), "").body, json!([]));
    let one = |who: Option<&(String, String)>| server.ask("GET", &format!("/wp/v2/comments/{root}"), who, None).status;
    assert_eq!([one(None), one(Some(&other)), one(Some(&author))], [401, 403, 200]);
    // They are no comments: lists, counts and links of those have none of them.
    assert_eq!(server.get(&format!("/wp/v2/comments?post={own}")).body, json!([]));
    assert_eq!(server.admin("GET", &format!("/wp/v2/comments?post={own}"), None).body, json!([]));
    let types = server.admin("GET", "/wp/v2/types/post?context=edit", None).body;
    assert_eq!(types["supports"]["editor"], json!([{"notes": true}]));
    assert_eq!(types["supports"]["autosave"], json!(true));
}

#[test]
fn replies_follow_a_note_to_the_trash() {
    let server = server();
    let admin = server.admin.clone();
    let held = post(&server, &admin, "draft");
    let root = id(&note(&server, &admin, held, &json!({})));
    let reply = id(&note(&server, &admin, held, &json!({"parent": root, "content": "Yes."})));
    let trashed = server.admin("DELETE", &format!("/wp/v2/comments/{root}"), None);
    assert_eq!(trashed.body["status"], "trash");
    let left = |key: &str| server.admin("GET", &format!("/wp/v2/comments/{reply}"), None).body[key].clone();
    assert_eq!((left("status"), left("parent")), (json!("trash"), json!(root)));
    assert_eq!(server.admin("DELETE", &format!("/wp/v2/comments/{root}?force=true"), None).body["deleted"], true);
    assert_eq!((left("status"), left("parent")), (json!("trash"), json!(0)));
}

#[test]
fn mentions_stay_and_marks_are_for_editors_only() {
    let server = server();
    let author = server.user("ann", "author");
    let own = post(&server, &author, "publish");
    let content = "Hi <span class=\"evil wp-note-mention user-7\">@N</span> <span class=\"zz\">q</span> <u>u</u>";
    let made = note(&server, &author, own, &json!({"content": content}));
    let expected = "<p>Hi <span class=\"wp-note-mention user-7\">@N</span> <span>q</span> u</p>\n";
    assert_eq!(made.body["content"]["rendered"], expected);
    let marked = "<!-- wp:paragraph --><p>One <mark class=\"a wp-note\" data-id=\"5\">two <mark>x</mark></mark></p><!-- /wp:paragraph -->";
    let body = json!({"title": "Marked", "content": marked, "status": "publish"});
    let made = server.admin("POST", "/wp/v2/posts", Some(&body)).body;
    assert_eq!(made["content"]["raw"], marked);
    assert_eq!(made["content"]["rendered"], "<p class=\"wp-block-paragraph\">One two <mark>x</mark></p>");
}
