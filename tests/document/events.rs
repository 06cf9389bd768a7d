//! Events: the contract shows none, so none is sent; a write has only the effects that its response shows.

use crate::shared::{id, post, site};
use serde_json::json;

/// "Events: not shown." No route offers any.
#[test]
fn there_is_no_route_of_events() {
    let site = site();
    let root = site.get("/");
    let routes = root.body["routes"].as_object().expect("routes");
    assert!(!routes.keys().any(|r| r.contains("event") || r.contains("hook")), "{:?}", routes.keys());
    let record = post(&site, json!({}));
    assert_eq!(site.get(&format!("/cms/v2/posts/{}/events", id(&record))).status, 404);
}
