//! Errors.

use crate::shared::{every_route, id, post, refused, refused_params, site, unique};
use serde_json::{Value, json};

/// The HTTP status equals `data.status`.
#[test]
fn the_status_equals_data_status() {
    let site = site();
    for (method, route) in [
        ("GET", "/cms/v2/nothing"),
        ("GET", "/cms/v2/posts/99999999"),
        ("GET", "/cms/v2/posts?page=0"),
        ("GET", "/cms/v2/settings"),
        ("GET", "/cms/v2/users/me"),
        ("POST", "/cms/v2/posts"),
        ("DELETE", "/cms/v2/categories/1"),
        ("PUT", "/cms/v2/settings"),
    ] {
        let answer = site.ask(method, route, None, None);
        assert!(answer.status >= 400, "{method} {route}: {}", answer.text);
        assert_eq!(answer.body["data"]["status"], answer.status, "{method} {route}: {}", answer.text);
    }
}

/// `rest_missing_callback_param`: the names that are missing.
#[test]
fn missing_parameters_are_listed() {
    let site = site();
    let missing = |route: &str, names: &[&str]| {
        let answer = refused(site.admin("POST", route, Some(&json!({}))), 400, "rest_missing_callback_param");
        assert_eq!(answer.body["data"]["params"], json!(names), "{}", answer.text);
        for name in names {
            assert!(answer.body["message"].as_str().is_some_and(|m| m.contains(name)), "{}", answer.text);
        }
    };
    missing("/cms/v2/categories", &["name"]);
    missing("/cms/v2/tags", &["name"]);
    missing("/cms/v2/users", &["username", "email", "password"]);
    missing("/cms/v2/users/1/application-passwords", &["name"]);
    let answer = refused(site.admin("GET", "/cms/v2/themes", None), 400, "rest_missing_callback_param");
    assert_eq!(answer.body["data"]["params"], json!(["status"]));
    let answer = refused(site.get("/oembed/1.0/embed"), 400, "rest_missing_callback_param");
    assert_eq!(answer.body["data"]["params"], json!(["url"]));
}

/// `rest_invalid_param`: a map of names to messages; a type failure names the type, an enum failure its values.
#[test]
fn invalid_parameters_say_why() {
    let site = site();
    let answer =
        refused_params(site.get("/cms/v2/blocks?page=x&orderby=colour&order=up"), &["order", "orderby", "page"]);
    let said = |name: &str| answer.body["data"]["params"][name].as_str().unwrap_or("").to_owned();
    assert!(said("page").contains("page") && said("page").contains("integer"), "{}", answer.text);
    assert!(said("order").contains("asc") && said("order").contains("desc"), "{}", answer.text);
    for value in
        ["author", "date", "id", "include", "modified", "parent", "relevance", "slug", "include_slugs", "title"]
    {
        assert!(said("orderby").contains(value), "{}", answer.text);
    }
    for name in ["page", "orderby", "order"] {
        assert!(answer.body["message"].as_str().is_some_and(|m| m.contains(name)), "{}", answer.text);
    }
    let answer = refused_params(site.admin("POST", "/cms/v2/blocks", Some(&json!({"title": 5}))), &["title"]);
    assert!(answer.body["data"]["params"]["title"].as_str().is_some_and(|m| m.contains("object")), "{}", answer.text);
}

/// `rest_forbidden`: 401 for an anonymous caller, 403 for a user; no params.
#[test]
fn forbidden_is_401_or_403() {
    let site = site();
    let subscriber = site.user(&unique("reader"), "subscriber");
    for (method, route) in [("GET", "/cms/v2/settings"), ("POST", "/cms/v2/settings")] {
        for (user, status) in [(None, 401), (Some(&subscriber), 403)] {
            let answer = refused(site.ask(method, route, user, None), status, "rest_forbidden");
            assert_eq!(answer.body["data"].get("params"), None, "{}", answer.text);
        }
    }
}

/// Every route that refuses an anonymous caller responds with 401, and with 403 to a user without the capability.
#[test]
fn permission_failures_are_401_for_strangers_and_403_for_users() {
    let site = site();
    let subscriber = site.user(&unique("reader"), "subscriber");
    let record = id(&post(&site, json!({})));
    for (method, route, body) in [
        ("POST", "/cms/v2/posts".to_owned(), json!({"title": {"raw": "x"}})),
        ("POST", format!("/cms/v2/posts/{record}"), json!({"title": {"raw": "x"}})),
        ("DELETE", format!("/cms/v2/posts/{record}"), json!({})),
        ("POST", "/cms/v2/pages".to_owned(), json!({"title": {"raw": "x"}})),
        ("POST", "/cms/v2/blocks".to_owned(), json!({"title": {"raw": "x"}})),
        ("POST", "/cms/v2/categories".to_owned(), json!({"name": "x"})),
        ("POST", "/cms/v2/categories/1".to_owned(), json!({"name": "x"})),
        ("DELETE", "/cms/v2/categories/1?force=true".to_owned(), json!({})),
        (
            "POST",
            "/cms/v2/users".to_owned(),
            json!({"username": "x", "email": "x@example.org", "password": "long enough"}),
        ),
        ("GET", "/cms/v2/posts?context=edit".to_owned(), json!({})),
        ("GET", "/cms/v2/themes?status=active".to_owned(), json!({})),
    ] {
        let body = (method != "GET").then_some(&body);
        assert_eq!(site.ask(method, &route, None, body).status, 401, "{method} {route}");
        assert_eq!(site.ask(method, &route, Some(&subscriber), body).status, 403, "{method} {route}");
    }
}

/// No code for a bad `_jsonp` name but 400; nothing is wrapped.
#[test]
fn a_bad_callback_is_400() {
    let site = site();
    let answer = site.get("/?_jsonp=a-b");
    assert_eq!(answer.status, 400);
    assert!(!answer.text.contains("a-b("), "{}", answer.text);
    assert!(answer.body["data"].get("params").is_none(), "{}", answer.text);
}

/// `oneOf` and `anyOf` failures name the nearest schema by its title and the reason.
#[test]
fn a_choice_that_fails_names_the_nearest() {
    let site = site();
    let answer = site.get("/cms/v2/posts?categories%5Bterms%5D=x&categories%5Boperator%5D=OR");
    let answer = refused_params(answer, &["categories"]);
    let said = answer.body["data"]["params"]["categories"].as_str().unwrap_or("").to_owned();
    assert!(said.contains("categories"), "{}", answer.text);
    assert!(said.len() > 20, "{said}");
}

/// `empty_username`: credentials without a login; `data` is null, `additional_errors` names what else is missing.
#[test]
fn empty_credentials_are_told() {
    let site = site();
    for route in ["/cms/v2/users/me", "/cms/v2/settings", "/cms/v2/themes?status=active"] {
        let ask = |pair: (&str, &str)| site.ask("GET", route, Some(&(pair.0.to_owned(), pair.1.to_owned())), None);
        let both = ask(("", ""));
        assert_eq!(
            (both.status, both.code(), &both.body["data"]),
            (401, "empty_username", &Value::Null),
            "{}",
            both.text
        );
        let also = both.body["additional_errors"].as_array().expect("a list");
        assert_eq!((also.len(), &also[0]["code"], &also[0]["data"]), (1, &json!("empty_password"), &Value::Null));
        assert!(also[0]["message"].as_str().is_some_and(|m| !m.is_empty()), "{}", both.text);
        let login = ask(("", "secret"));
        assert_eq!((login.status, login.code()), (401, "empty_username"), "{}", login.text);
        let password = ask(("admin", ""));
        assert_eq!((password.status, password.code()), (401, "empty_password"), "{}", password.text);
        assert_eq!(site.get(route).body["data"]["status"], 401, "without credentials it is a plain refusal");
    }
    assert_eq!(site.ask("GET", "/cms/v2/posts", Some(&(String::new(), String::new())), None).status, 200);
}

/// Errors are JSON wherever they occur, never another format.
#[test]
fn errors_are_json_everywhere() {
    let site = site();
    for route in every_route(&site) {
        let answer = site.ask("PROPFIND", &route, None, None);
        assert!(answer.status == 404 || answer.status == 501, "{route}: {} {}", answer.status, answer.text);
        assert!(answer.body["code"].is_string(), "{route}: {}", answer.text);
    }
    let broken = Some(("application/json", b"{\"title\":".to_vec()));
    let answer = site.send("POST", &format!("{}/cms/v2/blocks", site.rest), Some(&site.admin), broken, &[]);
    refused(answer, 400, "rest_invalid_json");
}

/// The method override serves clients and firewalls that block methods.
#[test]
fn a_blocked_method_goes_by_post() {
    let site = site();
    let record = id(&post(&site, json!({})));
    let url = format!("{}/cms/v2/posts/{record}", site.rest);
    let answer = site.send("POST", &url, Some(&site.admin), None, &[("x-http-method-override", "DELETE")]);
    assert_eq!((answer.status, &answer.body["status"]), (200, &Value::from("trash")), "{}", answer.text);
}

/// HEAD responds to an error as GET does, without the body.
#[test]
fn head_tells_an_error_by_its_status() {
    let site = site();
    for (route, status) in
        [("/cms/v2/posts?per_page=0", 400), ("/cms/v2/posts/99999999", 404), ("/cms/v2/settings", 401)]
    {
        let answer = site.ask("HEAD", route, None, None);
        assert_eq!((answer.status, answer.text.as_str()), (status, ""), "{route}");
        assert_eq!(answer.header("content-type"), Some("application/json; charset=UTF-8"), "{route}");
        assert!(answer.header("x-request-id").is_some(), "{route}");
    }
    assert_eq!(site.ask("HEAD", "/cms/v2/posts?per_page=0", None, None).header("allow"), Some("GET"));
}
