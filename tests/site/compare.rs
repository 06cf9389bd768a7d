//! `cms-server compare`: the same GETs to an old site and to this one.

use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::net::TcpListener;

/// Settings that let requests reach a server on this machine.
pub fn reaches(sites: &[&str]) -> [String; 2] {
    let ports: Vec<u16> = sites.iter().filter_map(|site| url::Url::parse(site).ok()?.port()).collect();
    ["outbound.networks=[\"127.0.0.0/8\"]".to_owned(), format!("outbound.ports={ports:?}")]
}

fn compared(here: &Server, old: &str, more: &[&str]) -> std::process::Output {
    let sets = reaches(&[old]);
    let mut args = here.args();
    args.extend(sets.iter().flat_map(|set| ["--set", set]));
    args.extend(["compare", old, "--pause", "0"]);
    args.extend(more);
    run(&args, "")
}

fn differences(here: &Server, old: &str) -> Value {
    let done = compared(here, old, &["--json"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).expect("JSON")
}

/// How often a kind of difference is at a place.
fn count(found: &Value, kind: &str, place: &str) -> u64 {
    let all = found["differences"].as_array().expect("a list");
    let one = all.iter().find(|one| one["kind"] == kind && one["place"] == place);
    one.and_then(|one| one["count"].as_u64()).unwrap_or(0)
}

#[test]
fn a_moved_site_is_compared_with_the_old_one() {
    let old = Server::with(&["site.prefix=wp", "site.demo=true"]);
    let file = old.path("site.xml").display().to_string();
    let mut args = old.args();
    args.extend(["export", "--wxr", &file]);
    stdout(&args, "");
    let here = Server::with(&["site.prefix=wp"]);
    let mut args = here.args();
    args.extend(["import", &file]);
    stdout(&args, "");

    let found = differences(&here, &old.site);
    let route = |path: &str| {
        let all = found["routes"].as_array().expect("a list");
        all.iter().find(|one| one["path"] == path).cloned().unwrap_or_default()
    };
    for (path, least) in [("/wp/v2/posts", 10), ("/wp/v2/pages", 3), ("/wp/v2/tags", 3), ("/wp/v2/comments", 1)] {
        let route = route(path);
        assert!(route["compared"].as_u64() >= Some(least), "{path}: {found:#}");
        assert_eq!((&route["missing"], &route["extra"]), (&json!(0), &json!(0)), "{path}");
    }
    assert_eq!(route("/wp/v2/menu-items")["unlike"], "both sites respond with 401", "{found:#}");
    for kind in ["missing", "extra", "type", "value"] {
        assert_eq!(count(&found, kind, "/wp/v2/posts.content.rendered"), 0, "{found:#}");
        assert_eq!(count(&found, kind, "/wp/v2/posts.link"), 0, "addresses of both sites are the same: {found:#}");
    }

    // Whatever changes here is found by kind.
    let posts = here.get("/wp/v2/posts?per_page=3&orderby=id&order=asc&_fields=id").body;
    let at = |n: usize| format!("/wp/v2/posts/{}", posts[n]["id"]);
    assert_eq!(here.admin("POST", &at(0), Some(&json!({"title": "Changed"}))).status, 200);
    assert_eq!(here.admin("DELETE", &format!("{}?force=true", at(1)), None).status, 200);
    let made = here.admin("POST", "/wp/v2/posts", Some(&json!({"title": "Another", "status": "publish"})));
    assert_eq!(made.status, 201, "{}", made.text);
    let found = differences(&here, &old.site);
    assert_eq!(count(&found, "value", "/wp/v2/posts.title.rendered"), 1, "{found:#}");
    assert_eq!(count(&found, "missing", "/wp/v2/posts"), 1, "{found:#}");
    assert_eq!(count(&found, "extra", "/wp/v2/posts"), 1, "{found:#}");
    let told = compared(&here, &old.site, &["--most", "2"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("which --most leaves out") && told.contains(" differences"), "{told}");
}

#[test]
fn sites_that_cannot_be_compared_are_told() {
    let here = Server::with(&["site.prefix=wp"]);
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
    let closed = format!("http://{}", nobody.local_addr().expect("an address"));
    drop(nobody);
    for (site, told) in [
        ("ftp://old.example.org", "name the site by its address"),
        ("old.example.org", "old.example.org: "),
        (&*closed, "127.0.0.1"),
    ] {
        let done = compared(&here, site, &[]);
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && error.contains(told), "{site}: {error}");
    }
    // Private networks are asked where the declarations allow it.
    let mut args = here.args();
    args.extend(["compare", &closed]);
    let done = run(&args, "");
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && error.contains("outbound.networks"), "{error}");
}
