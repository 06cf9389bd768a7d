//! States and transitions.

use crate::shared::{args, block, id, ids, made, options, refused, refused_params, site, unique};
use serde_json::json;

const WRITTEN: [&str; 5] = ["Publish", "Future", "draft", "pending", "private"];

/// A block's states are spelled `Publish`, `Future`, `draft`, `pending`, `private`.
#[test]
fn a_block_has_five_states() {
    let site = site();
    for route in ["/cms/v2/blocks", "/cms/v2/blocks/1"] {
        assert_eq!(args(&site, route, "POST")["status"]["enum"], json!(WRITTEN));
    }
    assert_eq!(options(&site, "/cms/v2/blocks")["schema"]["properties"]["status"]["enum"], json!(WRITTEN));
    for status in ["Publish", "draft", "pending", "private"] {
        let record = block(&site, json!({"status": status}));
        assert_eq!(record["status"], status);
        let read = site.admin("GET", &format!("/cms/v2/blocks/{}", id(&record)), None);
        assert_eq!(read.body["status"], status);
    }
    let record = block(&site, json!({"status": "Future", "date": "2099-01-02T03:04:05"}));
    assert_eq!(record["status"], "Future");
    assert_eq!(record["date"], "2099-01-02T03:04:05");
}

/// Lower case is taken on input too, and read back in the document's spelling.
#[test]
fn lower_case_states_are_taken() {
    let site = site();
    assert_eq!(block(&site, json!({"status": "publish"}))["status"], "Publish");
    assert_eq!(block(&site, json!({"status": "future", "date": "2099-01-02T03:04:05"}))["status"], "Future");
}

/// Other states are refused on write.
#[test]
fn other_states_are_not_written() {
    let site = site();
    for status in ["trash", "auto-draft", "inherit", "request-pending", "any", "PUBLISH", "Draft", "", "nothing"] {
        let body = json!({"title": {"raw": "x"}, "status": status});
        refused_params(site.admin("POST", "/cms/v2/blocks", Some(&body)), &["status"]);
    }
}

/// A future date with `Publish` waits as `Future`.
#[test]
fn a_future_date_makes_it_wait() {
    let site = site();
    let record = block(&site, json!({"status": "Publish", "date": "2099-01-02T03:04:05"}));
    assert_eq!(record["status"], "Future");
}

/// The filter takes all states, the additional values and `any`; its default is `publish`.
#[test]
fn the_filter_takes_more_values() {
    let site = site();
    let status = args(&site, "/cms/v2/blocks", "GET")["status"].take();
    assert_eq!(status["default"], "publish");
    assert_eq!(status["type"], "array");
    let listed = status["items"]["enum"].as_array().expect("values").clone();
    let more = [
        "trash",
        "auto-draft",
        "inherit",
        "request-pending",
        "request-confirmed",
        "request-failed",
        "request-completed",
        "any",
    ];
    for value in WRITTEN.iter().chain(&more) {
        assert!(listed.iter().any(|v| v == value), "{value} is not in {listed:?}");
        let answer = site.admin("GET", &format!("/cms/v2/blocks?status={value}"), None);
        assert_eq!(answer.status, 200, "{value}: {}", answer.text);
    }
    for value in ["publish", "future", "Publish,draft", "draft,pending"] {
        assert_eq!(site.admin("GET", &format!("/cms/v2/blocks?status={value}"), None).status, 200, "{value}");
    }
    refused_params(site.admin("GET", "/cms/v2/blocks?status=nothing", None), &["status"]);
}

/// Each filter value matches the records in that state.
#[test]
fn a_filter_finds_the_records_in_that_state() {
    let site = site();
    let title = unique("filtered");
    let of = |status: &str, more: serde_json::Value| {
        let mut body = json!({"title": {"raw": title}, "status": status});
        body.as_object_mut().expect("a map").extend(more.as_object().cloned().unwrap_or_default());
        id(&made(&site, "/cms/v2/blocks", &body))
    };
    let published = of("Publish", json!({}));
    let future = of("Future", json!({"date": "2098-01-01T00:00:00"}));
    let draft = of("draft", json!({}));
    let pending = of("pending", json!({}));
    let private = of("private", json!({}));
    let trashed = of("Publish", json!({}));
    assert_eq!(site.admin("DELETE", &format!("/cms/v2/blocks/{trashed}"), None).status, 200);
    let find = |status: &str| {
        let mut found =
            ids(&site.admin("GET", &format!("/cms/v2/blocks?search={title}&orderby=id&order=asc{status}"), None));
        found.sort_unstable();
        found
    };
    assert_eq!(find(""), [published], "the default is publish");
    assert_eq!(find("&status=publish"), [published]);
    assert_eq!(find("&status=Publish"), [published]);
    assert_eq!(find("&status=Future"), [future]);
    assert_eq!(find("&status=future"), [future]);
    assert_eq!(find("&status=draft"), [draft]);
    assert_eq!(find("&status=pending"), [pending]);
    assert_eq!(find("&status=private"), [private]);
    assert_eq!(find("&status=trash"), [trashed]);
    assert_eq!(find("&status=draft,pending"), [draft, pending]);
    assert_eq!(find("&status%5B%5D=Publish&status%5B%5D=private"), [published, private]);
    assert_eq!(find("&status=inherit"), [] as [i64; 0]);
    let any = find("&status=any");
    for number in [published, future, draft, pending, private] {
        assert!(any.contains(&number), "any has {any:?}");
    }
    assert!(!any.contains(&trashed));
}

/// The publish action link offers `Publish` and `future`.
#[test]
fn the_publish_action_offers_publish_and_future() {
    let site = site();
    let links = options(&site, "/cms/v2/blocks")["schema"]["links"].take();
    let links = links.as_array().expect("links").clone();
    let publish =
        links.iter().find(|l| l["rel"].as_str().is_some_and(|r| r.ends_with("action-publish"))).expect("a link");
    assert_eq!(publish["href"], format!("{}/cms/v2/blocks/{{id}}", site.rest));
    assert_eq!(publish["targetSchema"]["properties"]["status"]["type"], "string");
    assert_eq!(publish["targetSchema"]["properties"]["status"]["enum"], json!(["Publish", "future"]));
    let html =
        links.iter().find(|l| l["rel"].as_str().is_some_and(|r| r.ends_with("unfiltered-html"))).expect("a link");
    assert_eq!(html["href"], format!("{}/cms/v2/blocks/{{id}}", site.rest));
    assert_eq!(html["targetSchema"]["properties"]["content"]["properties"]["raw"]["type"], "string");
}

/// Deleting has `force`, false by default: the block goes to the trash; true deletes it for good.
#[test]
fn delete_goes_to_the_trash_unless_forced() {
    let site = site();
    let force = args(&site, "/cms/v2/blocks/1", "DELETE")["force"].take();
    assert_eq!((&force["type"], &force["default"]), (&json!("boolean"), &json!(false)));
    let route = format!("/cms/v2/blocks/{}", id(&block(&site, json!({}))));
    let trashed = site.admin("DELETE", &route, None);
    assert_eq!((trashed.status, &trashed.body["status"]), (200, &json!("trash")), "{}", trashed.text);
    assert_eq!(site.admin("GET", &route, None).body["status"], "trash");
    refused(site.admin("DELETE", &route, None), 410, "rest_already_trashed");
    let gone = site.admin("DELETE", &format!("{route}?force=true"), None);
    assert_eq!((gone.status, &gone.body["deleted"]), (200, &json!(true)), "{}", gone.text);
    assert_eq!(gone.body["previous"]["status"], "trash");
    refused(site.admin("GET", &route, None), 404, "rest_post_invalid_id");
    let at_once = format!("/cms/v2/blocks/{}?force=1", id(&block(&site, json!({}))));
    assert_eq!(site.admin("DELETE", &at_once, None).body["deleted"], true);
}

/// Application passwords: none, created, used, revoked.
#[test]
fn an_application_password_is_created_used_and_revoked() {
    let site = site();
    let route = "/cms/v2/users/me/application-passwords";
    let record = made(&site, route, &json!({"name": unique("Program ")}));
    assert_eq!(record["last_used"], serde_json::Value::Null);
    assert_eq!(record["last_ip"], serde_json::Value::Null);
    let item = format!("{route}/{}", record["uuid"].as_str().expect("a uuid"));
    assert_eq!(site.admin("GET", &item, None).body.get("password"), None, "the clear value is shown once");
    let user = ("admin".to_owned(), record["password"].as_str().expect("a clear value").to_owned());
    assert_eq!(site.ask("GET", "/cms/v2/users/me", Some(&user), None).status, 200);
    let wait = std::time::Instant::now();
    let used = loop {
        let read = site.admin("GET", &item, None).body;
        if !read["last_used"].is_null() || wait.elapsed().as_secs() > 5 {
            break read;
        }
    };
    assert!(used["last_used"].is_i64(), "{used}");
    assert_eq!(used["last_ip"], "127.0.0.1");
    assert_eq!(site.ask("GET", "/cms/v2/users/me", Some(&user), None).status, 200);
    assert_eq!(site.admin("GET", &item, None).body["last_used"], used["last_used"], "not again within 24 hours");
    assert_eq!(site.admin("DELETE", &item, None).body["deleted"], true);
    assert_eq!(site.ask("GET", "/cms/v2/users/me", Some(&user), None).status, 401, "it stops working");
}
