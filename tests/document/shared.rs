//! One server for all tests that run at the same time, and the requests that most of them send.

use crate::server::{Answer, Server};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());

/// The server of the tests that run now. The last to let it go ends the process.
pub fn site() -> Arc<Server> {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = running.upgrade() {
        return server;
    }
    let server = Arc::new(Server::start());
    *running = Arc::downgrade(&server);
    server
}

/// A name that no other test uses.
pub fn unique(stem: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("{stem}{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Creates by an administrator's JSON; the record must come back with 201.
pub fn made(site: &Server, route: &str, body: &Value) -> Value {
    let answer = site.admin("POST", route, Some(body));
    assert_eq!(answer.status, 201, "{route} {body}: {}", answer.text);
    answer.body
}

/// The number of a record.
pub fn id(record: &Value) -> i64 {
    record["id"].as_i64().unwrap_or_else(|| panic!("no id in {record}"))
}

/// A published block.
pub fn block(site: &Server, more: Value) -> Value {
    let mut body =
        json!({"title": {"raw": unique("A block ")}, "content": {"raw": "<p>Text</p>"}, "status": "Publish"});
    body.as_object_mut().expect("a map").extend(more.as_object().cloned().unwrap_or_default());
    made(site, "/cms/v2/blocks", &body)
}

/// A published post.
pub fn post(site: &Server, more: Value) -> Value {
    let mut body = json!({"title": {"raw": unique("A post ")}, "content": {"raw": "<p>Text</p>"}, "status": "publish"});
    body.as_object_mut().expect("a map").extend(more.as_object().cloned().unwrap_or_default());
    made(site, "/cms/v2/posts", &body)
}

/// The description of a route.
pub fn options(site: &Server, route: &str) -> Value {
    let answer = site.admin("OPTIONS", route, None);
    assert_eq!(answer.status, 200, "OPTIONS {route}: {}", answer.text);
    answer.body
}

/// The args of the endpoint of a route that has the method.
pub fn args(site: &Server, route: &str, method: &str) -> Value {
    let described = options(site, route);
    let endpoints = described["endpoints"].as_array().cloned().unwrap_or_default();
    let has = |e: &Value| e["methods"].as_array().is_some_and(|m| m.iter().any(|m| m == method));
    endpoints.into_iter().find(has).unwrap_or_else(|| panic!("{route} has no {method}"))["args"].take()
}

/// The keys of a map, sorted.
pub fn keys(value: &Value) -> Vec<String> {
    let mut keys: Vec<String> = value.as_object().map(|m| m.keys().cloned().collect()).unwrap_or_default();
    keys.sort();
    keys
}

/// The ids of a list.
pub fn ids(answer: &Answer) -> Vec<i64> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body.as_array().unwrap_or_else(|| panic!("no list: {}", answer.text)).iter().map(id).collect()
}

/// The response must be this error; returns it.
pub fn refused(answer: Answer, status: u16, code: &str) -> Answer {
    assert_eq!((answer.status, answer.code()), (status, code), "{}", answer.text);
    assert_eq!(answer.body["data"]["status"], status, "{}", answer.text);
    assert!(answer.body["message"].as_str().is_some_and(|m| !m.is_empty()), "{}", answer.text);
    answer
}

/// The response must refuse these parameters.
pub fn refused_params(answer: Answer, params: &[&str]) -> Answer {
    let answer = refused(answer, 400, "rest_invalid_param");
    assert_eq!(keys(&answer.body["data"]["params"]), params, "{}", answer.text);
    for name in params {
        assert!(answer.body["data"]["params"][name].is_string(), "{}", answer.text);
    }
    answer
}

/// Every route of the root, with numbers in place of its patterns.
pub fn every_route(site: &Server) -> Vec<String> {
    let root = site.get("/");
    let routes = root.body["routes"].as_object().expect("routes");
    routes.keys().map(|route| concrete(route)).collect()
}

fn concrete(route: &str) -> String {
    let mut path = String::new();
    let mut rest = route;
    while let Some(start) = rest.find("(?P<") {
        path.push_str(&rest[..start]);
        let mut depth = 0;
        let end = rest[start..].char_indices().find_map(|(at, c)| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            (depth == 0).then_some(start + at + 1)
        });
        let end = end.expect("a closed pattern");
        let group = &rest[start..end];
        path.push_str(match group {
            g if g.contains("<type>") => "post",
            g if g.contains("<taxonomy>") => "category",
            g if g.contains("<status>") => "publish",
            g if g.contains("<stylesheet>") => "default",
            g if g.contains("<uuid>") => "12345678-1234-4234-8234-1234567890ab",
            _ => "1",
        });
        rest = &rest[end..];
    }
    path.push_str(rest);
    path
}
