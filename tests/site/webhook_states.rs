//! How webhooks go, as an operator counts it, and as editors see it who rebuild the site.

use super::free_port::free_address;
use super::server::{Server, until};
use super::webhooks::{Answers, HookReceiver, hook, post, server};
use serde_json::{Value, json};

#[test]
fn deliveries_are_counted_for_the_operator() {
    let receiver = HookReceiver::start();
    let operator = free_address();
    let server = server(&receiver, &["events.backoff=1s", &format!("server.admin_listen={operator}")]);
    let made = hook(&server, json!({"name": "Front end", "url": receiver.url("/a"), "resources": ["posts"]}));
    let off = hook(&server, json!({"name": "Off", "url": receiver.url("/b"), "enabled": false}));
    let shows = |line: &str| {
        let text = server.send("GET", &format!("http://{operator}/metrics"), None, None, &[]).text;
        text.lines().any(|own| own == line)
    };
    let deliveries = |outcome: &str| {
        format!("cms_server_webhook_deliveries_total{{webhook=\"{}\",outcome=\"{outcome}\"}}", made["id"])
    };
    receiver.set(Answers::Status(500));
    post(&server, "One", "publish");
    receiver.wait("/a", 1);
    until("a failure is counted", || !shows(&format!("{} 0", deliveries("failed"))));
    assert!(shows("cms_server_event_streams 0") && shows(&format!("{} 0", deliveries("sent"))));
    until("it waits", || !shows(&format!("cms_server_webhook_lag{{webhook=\"{}\"}} 0", made["id"])));
    receiver.set(Answers::Status(200));
    until("it is sent", || shows(&format!("{} 1", deliveries("sent"))));
    until("nothing waits", || shows(&format!("cms_server_webhook_lag{{webhook=\"{}\"}} 0", made["id"])));
    until("it keeps its position", || !shows(&format!("cms_server_webhook_lag{{webhook=\"{}\"}} 0", off["id"])));
    assert_eq!(server.admin("DELETE", &format!("/server/v1/webhooks/{}?force=true", made["id"]), None).status, 200);
    until("it is gone", || !shows(&format!("{} 1", deliveries("sent"))));
}

const REBUILDS: &str = "/server/v1/rebuilds";

fn rebuilds(server: &Server, user: &(String, String)) -> Value {
    let list = server.ask("GET", REBUILDS, Some(user), None);
    assert_eq!(list.status, 200, "{}", list.text);
    list.body
}

#[test]
fn editors_rebuild_the_site() {
    let receiver = HookReceiver::start();
    let server = server(&receiver, &["events.backoff=1s", "events.timeout=1s"]);
    let [editor, author] = ["editor", "author"].map(|role| server.user(role, role));
    assert_eq!(rebuilds(&server, &editor), json!([]));
    let body = json!({"name": "Site", "url": receiver.url("/build"), "format": "build", "resources": ["posts"], "rebuild": true});
    let build = hook(&server, body);
    let body = json!({"name": "Front end", "url": receiver.url("/events"), "resources": ["pages"], "rebuild": true});
    let events = hook(&server, body);
    let other = hook(&server, json!({"name": "Other", "url": receiver.url("/other")}));
    let first = || rebuilds(&server, &editor)[0].clone();
    let row = |state: &str| json!({"id": build["id"], "name": "Site", "state": state, "status": null, "time": null, "due": null});
    assert_eq!(first(), row("never"), "neither an address nor a secret");
    let press = |id: &Value| server.ask("POST", &format!("{REBUILDS}/{id}"), Some(&editor), None);
    let wait = |state: &str, status: u16| {
        until(&format!("{state} {status}: {}", first()), || first()["state"] == state && first()["status"] == status);
        assert!(first()["time"].is_string(), "{}", first());
    };
    // Whoever presses gets a call, whatever the filters are.
    assert_eq!(press(&build["id"]).status, 202);
    assert_eq!(receiver.wait("/build", 1).len(), 1);
    wait("sent", 200);
    assert_eq!(press(&events["id"]).status, 202);
    let event = receiver.wait("/events", 1)[0].json();
    assert_eq!(
        (&event["type"], &event["id"], &event["record"]),
        (&json!("rebuild"), &json!(0), &events["id"]),
        "{event}"
    );
    assert_eq!(event["addresses"], json!({"all": true, "front": [], "rest": []}));
    receiver.set(Answers::Hang);
    assert_eq!(press(&build["id"]).status, 202);
    assert_eq!(first()["state"], "pending");
    wait("failed", 0);
    // A change is retried, a press is not.
    assert!(first()["due"].is_null(), "{}", first());
    receiver.set(Answers::Status(500));
    post(&server, "One", "publish");
    wait("failed", 500);
    until("it is retried", || first()["due"].is_string());
    receiver.set(Answers::Status(200));
    wait("sent", 200);
    // A webhook that is off is not called, and neither is one that nobody has marked.
    let of = format!("/server/v1/webhooks/{}", build["id"]);
    assert_eq!(server.admin("POST", &of, Some(&json!({"enabled": false}))).status, 200);
    assert_eq!(first()["state"], "paused");
    let refused = press(&build["id"]);
    assert_eq!((refused.status, refused.code()), (403, "rest_cannot_edit"), "{}", refused.text);
    for missing in [&other["id"], &json!(999)] {
        assert_eq!(press(missing).status, 404, "{missing}");
    }
    for (user, status) in [(None, 401), (Some(&author), 403)] {
        for (method, path) in [("GET", REBUILDS.to_owned()), ("POST", format!("{REBUILDS}/{}", events["id"]))] {
            assert_eq!(server.ask(method, &path, user, None).status, status, "{method} {path}");
        }
    }
    let audit = server.admin("GET", "/server/v1/audit?event=rebuild_ordered", None).body;
    assert_eq!((audit.as_array().map(Vec::len), &audit[0]["login"]), (Some(3), &json!("editor")), "{audit}");
    // The console learns from the description what there is, and for whom.
    let described = |user| server.ask("GET", "/console/v1/description", Some(user), None).body;
    let named = |body: &Value| {
        let listed = body["resources"].as_array().into_iter().flatten();
        listed
            .filter(|one| one["name"] == body["site"]["rebuilds"])
            .map(|one| one["operations"].clone())
            .collect::<Vec<_>>()
    };
    let operations = named(&described(&editor));
    assert!(operations[0]["list"].is_object() && operations[0]["run"]["method"] == "POST", "{operations:?}");
    assert!(named(&described(&author)).is_empty());
}
