//! Deliveries of webhooks and event streams as an operator counts them.

use super::server::until;
use super::webhooks::{Answers, HookReceiver, hook, post, server};
use serde_json::json;
use std::net::TcpListener;

#[test]
fn deliveries_are_counted_for_the_operator() {
    let receiver = HookReceiver::start();
    let operator = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
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
