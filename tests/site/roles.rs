//! Roles that people make: what they give, to whom, when it holds, and what is refused.

use super::events::EventReader;
use super::mcp;
use super::pages::Browser;
use super::server::{Answer, Server, run, stdout, until, within};
use serde_json::{Value, json};
use std::time::Duration;

const ROLES: &str = "/server/v1/roles";

/// How long a change may take until another server follows it.
const PATIENCE: Duration = Duration::from_secs(1);

fn made(server: &Server, slug: &str, capabilities: &[&str]) -> Answer {
    let body = json!({"slug": slug, "name": slug, "capabilities": capabilities});
    let made = server.admin("POST", ROLES, Some(&body));
    assert_eq!(made.status, 201, "{}", made.text);
    made
}

fn change(server: &Server, slug: &str, capabilities: &[&str]) -> Answer {
    let body = json!({"capabilities": capabilities});
    let changed = server.admin("POST", &format!("{ROLES}/{slug}"), Some(&body));
    assert_eq!(changed.status, 200, "{}", changed.text);
    changed
}

/// Waits no longer than a change may take.
fn soon(what: &str, holds: impl FnMut() -> bool) {
    within(PATIENCE, what, holds);
}

/// Whether a user may write a post.
fn writes(server: &Server, user: &(String, String)) -> bool {
    server.ask("POST", "/cms/v2/posts", Some(user), Some(&json!({"title": "A"}))).status == 201
}

#[test]
fn roles_are_listed_made_changed_and_deleted() {
    let server = Server::start();
    let list = server.admin("GET", ROLES, None).body;
    let names: Vec<&str> = list.as_array().into_iter().flatten().filter_map(|role| role["slug"].as_str()).collect();
    assert_eq!(names, ["administrator", "editor", "author", "contributor", "subscriber"]);
    assert_eq!((&list[0]["required"], &list[1]["origin"]), (&json!(true), &json!("declared")));
    let proof = made(&server, "proof", &["read", "edit_posts"]);
    assert_eq!(proof.header("location"), Some(&*format!("{}{ROLES}/proof", server.rest)));
    assert_eq!((&proof.body["origin"], &proof.body["editable"]), (&json!("stored"), &json!(true)));
    let user = server.user("paula", "proof");
    assert!(writes(&server, &user));
    assert_eq!(
        server.ask("GET", "/cms/v2/users/me?context=edit", Some(&user), None).body["capabilities"]["edit_posts"],
        true
    );
    change(&server, "proof", &["read"]);
    assert!(!writes(&server, &user), "what is taken is gone with the response");
    let changed = change(&server, "editor", &["read", "edit_posts"]);
    assert_eq!(changed.body["origin"], "changed");
    let reset = server.admin("DELETE", &format!("{ROLES}/editor"), None);
    assert_eq!((reset.status, &reset.body["previous"]["origin"]), (200, &json!("changed")));
    let editor = server.admin("GET", &format!("{ROLES}/editor"), None).body;
    assert_eq!((&editor["origin"], editor["capabilities"].as_array().map(Vec::len)), (&json!("declared"), Some(27)));
    let kept = server.admin("DELETE", &format!("{ROLES}/proof"), None);
    assert_eq!((kept.status, kept.code()), (409, "rest_cannot_delete_stored"));
    let gone = server.admin("DELETE", &format!("{ROLES}/proof?reassign=author"), None);
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert!(writes(&server, &user), "who had the role is an author now");
    assert_eq!(server.admin("GET", &format!("{ROLES}/proof"), None).status, 404);
    let trail = server.admin("GET", "/server/v1/audit?per_page=100", None).body;
    let entry = |event: &str| trail.as_array().into_iter().flatten().rfind(|entry| entry["event"] == event).cloned();
    let deleted = entry("role_deleted").map(|entry| (entry["subject"].clone(), entry["changed"].clone()));
    assert!(deleted.is_some(), "{trail}");
    let changed = entry("role_changed").map(|entry| entry["changed"].clone()).unwrap_or_default();
    assert!(changed.to_string().contains("removed=edit_posts"), "{changed}");
}

#[test]
fn nobody_gives_what_they_do_not_hold() {
    let server = Server::start();
    made(&server, "manager", &["read", "edit_posts", "manage_options", "list_users", "promote_users", "edit_users"]);
    made(&server, "writer", &["read", "edit_posts"]);
    let manager = server.user("mira", "manager");
    let author = server.user("anton", "author");
    let role = |slug: &str, capabilities: Value| json!({"slug": slug, "name": slug, "capabilities": capabilities});
    let copy = server.admin("GET", &format!("{ROLES}/administrator"), None).body["capabilities"].clone();
    let own =
        json!(["read", "edit_posts", "manage_options", "list_users", "promote_users", "edit_users", "delete_users"]);
    for (who, method, path, body, status) in [
        (&author, "GET", "", Value::Null, 403),
        (&author, "POST", "", role("x", json!(["read"])), 403),
        (&manager, "GET", "", Value::Null, 200),
        (&manager, "POST", "", role("x", json!(["read", "delete_users"])), 403),
        (&manager, "POST", "", role("x", copy), 403),
        (&manager, "POST", "/manager", json!({"capabilities": own}), 403),
        (&manager, "POST", "/editor", json!({"capabilities": ["read"]}), 403),
        (&manager, "POST", "/administrator", json!({"name": "Me"}), 403),
        (&manager, "POST", "/writer", json!({"capabilities": ["read", "publish_posts"]}), 403),
        (&manager, "POST", "/writer", json!({"capabilities": ["read", "edit_posts", "list_users"]}), 200),
        (&manager, "POST", "", role("y", json!(["read", "edit_posts"])), 201),
    ] {
        let answer =
            server.ask(method, &format!("{ROLES}{path}"), Some(who), Some(&body).filter(|body| !body.is_null()));
        assert_eq!(answer.status, status, "{method} {path} {body}: {}", answer.text);
    }
    // Who has lost a capability does not give it back by undoing the change.
    change(&server, "author", &["read", "edit_posts"]);
    let back = server.ask("DELETE", &format!("{ROLES}/author"), Some(&manager), None);
    assert_eq!(back.status, 403, "{}", back.text);
    assert!(back.text.contains("upload_files"), "{}", back.text);
    assert_eq!(server.get(ROLES).status, 401);
}

#[test]
fn what_is_no_role_is_refused() {
    let server = Server::start();
    std::fs::write(server.path("site.toml"), "site.max_stored_roles = 2\nroles.contributor.locked = true\n")
        .expect("a file");
    until("the role is locked", || {
        server.admin("GET", &format!("{ROLES}/contributor"), None).body["locked"] == json!(true)
    });
    made(&server, "one", &["read"]);
    let role = |slug: &str| json!({"slug": slug, "name": "A", "capabilities": ["read"]});
    for (method, path, body, status, said) in [
        ("POST", "", role("Not A Slug"), 400, "slug"),
        ("POST", "", role(&"x".repeat(41)), 400, "slug"),
        ("POST", "", role("one"), 409, "already"),
        ("POST", "", role("editor"), 409, "already"),
        ("POST", "", json!({"slug": "a", "name": "A"}), 400, "capabilities"),
        ("POST", "", json!({"slug": "a", "name": " ", "capabilities": []}), 400, "name"),
        ("POST", "", json!({"slug": "a", "name": "x".repeat(61), "capabilities": []}), 400, "name"),
        ("POST", "", json!({"slug": "a", "name": "A", "capabilities": ["fly"]}), 400, "fly"),
        ("POST", "", json!({"slug": "a", "name": "A", "capabilities": ["*"]}), 400, "*"),
        ("POST", "", json!({"slug": "a", "name": "A", "capabilities": ["do_not_allow"]}), 400, "do_not_allow"),
        ("POST", "/contributor", json!({"name": "B"}), 403, "locked"),
        ("DELETE", "/contributor", Value::Null, 403, "locked"),
        ("POST", "/administrator", json!({"capabilities": ["read"]}), 400, "keeps"),
        ("DELETE", "/subscriber", Value::Null, 403, "declared"),
        ("POST", "/nobody", json!({"name": "B"}), 404, ""),
        ("DELETE", "/nobody", Value::Null, 404, ""),
        ("POST", "", role("two"), 201, ""),
        ("POST", "", role("three"), 400, "site.max_stored_roles"),
        ("POST", "/editor", json!({"name": "B"}), 400, "site.max_stored_roles"),
    ] {
        let answer = server.admin(method, &format!("{ROLES}{path}"), Some(&body).filter(|body| !body.is_null()));
        assert_eq!(answer.status, status, "{method} {path} {body}: {}", answer.text);
        assert!(answer.text.contains(said), "{method} {path} {body}: {}", answer.text);
    }
    server.user("una", "one");
    for to in ["nobody", "one"] {
        let answer = server.admin("DELETE", &format!("{ROLES}/one?reassign={to}"), None);
        assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{to}: {}", answer.text);
    }
}

#[test]
fn a_change_of_what_others_have_changed_is_refused() {
    let server = Server::start();
    let first = made(&server, "proof", &["read"]);
    let tag = first.header("etag").expect("a tag").to_owned();
    let update = |tag: &str, name: &str| {
        let body = json!({"name": name}).to_string().into_bytes();
        let path = format!("{}{ROLES}/proof", server.rest);
        server.send("POST", &path, Some(&server.admin), Some(("application/json", body)), &[("if-match", tag)])
    };
    let second = update(&tag, "Proofs");
    assert_eq!(second.status, 200, "{}", second.text);
    assert_eq!(update(&tag, "Other").code(), "rest_precondition_failed");
    assert_eq!(update(second.header("etag").expect("a tag"), "Other").status, 200);
}

#[test]
fn other_servers_and_a_restart_know_stored_roles() {
    let first = Server::start();
    let second = first.beside();
    made(&first, "proof", &["read", "edit_posts"]);
    let user = first.user("paula", "proof");
    soon("the second server lets the user write", || writes(&second, &user));
    change(&first, "proof", &["read"]);
    soon("the second server refuses what is taken", || !writes(&second, &user));
    change(&second, "proof", &["read", "edit_posts"]);
    soon("the first server lets the user write again", || writes(&first, &user));
    drop(second);
    let server = first.restart_with(&[]);
    assert!(writes(&server, &user));
    // A capability that nothing names any more gives nothing, and the log says so.
    let server = server.restart_with(&["roles.proof.name=Proof", "roles.proof.locked=true"]);
    assert!(!writes(&server, &user), "the declarations win where they are locked");
    server.log_until("the stored role `proof` does not apply");
}

#[test]
fn the_table_says_what_each_action_needs() {
    let server = Server::start();
    made(&server, "manager", &["read", "manage_options", "promote_users"]);
    let manager = server.user("mira", "manager");
    let table = server.ask("GET", "/console/v1/capabilities?lang=de", Some(&manager), None).body;
    let posts = table["resources"].as_array().and_then(|all| all.iter().find(|one| one["name"] == "posts").cloned());
    let posts = posts.expect("posts are there");
    assert_eq!((&posts["label"], &posts["actions"]["publish"]), (&json!("Beiträge"), &json!("publish_posts")));
    let givable = |name: &str| {
        let mut all = table["capabilities"].as_array().into_iter().flatten();
        all.find(|one| one["name"] == name).map(|one| one["givable"] == true)
    };
    assert_eq!((givable("read"), givable("publish_posts"), givable("fly")), (Some(true), Some(false), None));
}

#[test]
fn a_demotion_holds_for_all_that_is_open_on_every_node() {
    let first = Server::with(&["mcp.path=/mcp"]);
    let second = first.beside();
    made(&first, "proof", &["read", "edit_posts", "edit_others_posts"]);
    let user = first.user("paula", "proof");
    let draft = first.admin("POST", "/cms/v2/posts", Some(&json!({"title": "Secret"}))).body;
    let item = format!("/cms/v2/posts/{}", draft["id"]);
    let nodes = [&first, &second];
    let mut browsers = nodes.map(|node| Browser::of(node, "paula", "long enough"));
    let mut streams = nodes.map(|node| EventReader::open(node, "?resources=posts,pages", Some(&user)));
    let mcp = json!({"uri": format!("cms://posts/{}", draft["id"])});
    // Which of a password, a session and an assistant read the draft, on both nodes.
    let mut readers = || {
        let by_password = |node: &&Server| node.ask("GET", &item, Some(&user), None).status == 200;
        let by_mcp = |node: &&Server| mcp::asked(node, &user, "resources/read", mcp.clone())["result"].is_object();
        let mut all = [nodes.map(|node| by_password(&node)), nodes.map(|node| by_mcp(&node))].concat();
        for browser in &mut browsers {
            let nonce = browser.get("/nonce").text;
            all.push(browser.rest("GET", &item, &[("x-cms-nonce", nonce.trim())]).status == 200);
        }
        all
    };
    assert_eq!(readers(), [true; 6]);
    first.admin("POST", &item, Some(&json!({"title": "Secret two"})));
    for stream in &mut streams {
        assert_eq!(stream.of("posts").1["record"], draft["id"]);
    }
    change(&first, "proof", &["read"]);
    soon("nothing that is open reads the draft any more", || readers() == [false; 6]);
    first.admin("POST", &item, Some(&json!({"title": "Secret three"})));
    let page = first.admin("POST", "/cms/v2/pages", Some(&json!({"title": "Page", "status": "publish"}))).body;
    for stream in &mut streams {
        let (_, event) = stream.next().expect("an event");
        assert_eq!(event["record"], page["id"], "the draft is not told of: {event}");
    }
}

#[test]
fn the_command_line_prints_and_checks_stored_roles() {
    let server = Server::start();
    made(&server, "proof", &["read", "edit_posts"]);
    change(&server, "author", &["read"]);
    let args = server.args();
    let listed = stdout(&[&args[..], &["roles"]].concat(), "");
    let row = |slug: &str| listed.lines().find(|line| line.starts_with(slug)).map(|line| line.replace("  ", " "));
    assert!(row("proof").is_some_and(|row| row.contains("stored") && row.ends_with('2')), "{listed}");
    assert!(row("author").is_some_and(|row| row.contains("changed")), "{listed}");
    let toml = stdout(&[&args[..], &["roles", "--toml"]].concat(), "");
    assert_eq!(
        toml,
        "[roles.author]\nname = \"Author\"\ncapabilities = [\"read\"]\n\n\
         [roles.proof]\nname = \"proof\"\ncapabilities = [\"read\", \"edit_posts\"]\n"
    );
    let file = server.path("site.xml");
    let told = stdout(&[&args[..], &["export", "--wxr", file.to_str().expect("a path")]].concat(), "");
    assert!(told.contains("2 stored roles; `cms-server roles --toml` prints them"), "{told}");
    // In a file they are declared, and what is stored can be deleted.
    std::fs::write(server.path("site.toml"), format!("{toml}locked = true\n")).expect("a file");
    let mut server = server.restart_with(&[]);
    let names =
        ["proof", "author"].map(|slug| server.admin("GET", &format!("{ROLES}/{slug}"), None).body["origin"].clone());
    assert_eq!(names, [json!("declared"), json!("changed")]);
    server.stop();
    let checked = run(&[&server.args()[..], &["check", "--data"]].concat(), "");
    let warned = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && warned.contains("the stored role `proof` does not apply"), "{warned}");
}
