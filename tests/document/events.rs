//! Events: the contract shows none, so none is sent; a write has only the effects that its response shows.

use crate::shared::{id, post, site};
use serde_json::json;

/// "Events: not shown." No route of the contract's namespaces offers any; the server's own are in a namespace of their own.
#[test]
fn there_is_no_route_of_events() {
    let site = site();
    let root = site.get("/");
    let routes = root.body["routes"].as_object().expect("routes");
    let mut shown = routes.keys().filter(|route| !route.starts_with("/server/"));
    assert!(!shown.any(|route| route.contains("event") || route.contains("hook")), "{:?}", routes.keys());
    let record = post(&site, json!({}));
    assert_eq!(site.get(&format!("/cms/v2/posts/{}/events", id(&record))).status, 404);
}
