//! The service as a whole, and the global request parameters.

use crate::shared::{block, every_route, id, ids, keys, made, options, post, refused, site, unique};
use serde_json::{Value, json};

/// 1: bodies are JSON, responses and errors alike; requests may be forms too.
#[test]
fn bodies_are_json() {
    let site = site();
    for (route, status) in [("/", 200), ("/cms/v2/blocks", 200), ("/cms/v2/nothing", 404), ("/cms/v2/settings", 401)] {
        let answer = site.get(route);
        assert_eq!(answer.status, status, "{route}");
        assert_eq!(answer.header("content-type"), Some("application/json; charset=UTF-8"), "{route}");
        assert!(answer.body.is_object() || answer.body.is_array(), "{}", answer.text);
    }
}

/// 2: a route may have several endpoints, one per method; another method on it is not found.
#[test]
fn a_route_has_an_endpoint_per_method() {
    let site = site();
    let described = options(&site, "/cms/v2/blocks");
    let methods: Vec<&Value> =
        described["endpoints"].as_array().expect("a list").iter().map(|e| &e["methods"]).collect();
    assert_eq!(methods, [&json!(["GET"]), &json!(["POST"])]);
    let item = options(&site, "/cms/v2/blocks/1");
    let methods: Vec<&Value> = item["endpoints"].as_array().expect("a list").iter().map(|e| &e["methods"]).collect();
    assert_eq!(methods, [&json!(["GET"]), &json!(["POST", "PUT", "PATCH"]), &json!(["DELETE"])]);
    refused(site.admin("DELETE", "/cms/v2/blocks", None), 404, "rest_no_route");
    refused(site.get("/cms/v2/blocks/none"), 404, "rest_no_route");
}

/// 3: a namespace leads the route.
#[test]
fn a_namespace_leads_its_routes() {
    let site = site();
    for (route, described) in site.get("/").body["routes"].as_object().expect("routes") {
        let namespace = described["namespace"].as_str().expect("a name");
        assert!(namespace.is_empty() || route.starts_with(&format!("/{namespace}")), "{route}");
    }
}

/// 4: posts, pages, comments, users, terms, settings, search results, themes, blocks; CRUD by methods.
#[test]
fn every_kind_is_created_read_updated_and_deleted() {
    let site = site();
    let parent = id(&post(&site, json!({})));
    let user = unique("person");
    let kinds = [
        ("posts", json!({"title": {"raw": "One"}}), json!({"title": {"raw": "Two"}}), "/title/raw"),
        ("pages", json!({"title": {"raw": "One"}}), json!({"title": {"raw": "Two"}}), "/title/raw"),
        ("blocks", json!({"title": {"raw": "One"}}), json!({"title": {"raw": "Two"}}), "/title/raw"),
        ("categories", json!({"name": unique("One")}), json!({"description": "Two"}), "/description"),
        ("tags", json!({"name": unique("One")}), json!({"description": "Two"}), "/description"),
        (
            "comments",
            json!({"post": parent, "content": {"raw": unique("One")}}),
            json!({"content": {"raw": "Two"}}),
            "/content/raw",
        ),
        (
            "users",
            json!({"username": user, "email": format!("{user}@example.org"), "password": "long enough"}),
            json!({"description": "Two"}),
            "/description",
        ),
    ];
    for (kind, create, update, changed) in kinds {
        let route = format!("/cms/v2/{kind}");
        let item = format!("{route}/{}", id(&made(&site, &route, &create)));
        assert_eq!(site.admin("GET", &item, None).status, 200, "{item}");
        for method in ["POST", "PUT", "PATCH"] {
            let answer = site.admin(method, &item, Some(&update));
            assert_eq!(answer.status, 200, "{method} {item}: {}", answer.text);
            assert_eq!(answer.body.pointer(changed), Some(&json!("Two")), "{}", answer.text);
        }
        let gone = site.admin("DELETE", &format!("{item}?force=true&reassign=1"), None);
        assert_eq!(gone.status, 200, "{}", gone.text);
        assert_eq!(gone.body["deleted"], true, "{}", gone.text);
        assert_eq!(gone.body["previous"].pointer(changed), Some(&json!("Two")), "{}", gone.text);
        assert_eq!(site.admin("GET", &item, None).status, 404, "{item}");
    }
    assert_eq!(site.admin("GET", "/cms/v2/settings", None).status, 200);
    assert_eq!(site.get("/cms/v2/search").status, 200);
    assert_eq!(site.admin("GET", "/cms/v2/themes?status=active", None).status, 200);
}

/// 5: the root route describes the site.
#[test]
fn the_root_describes_the_site() {
    let site = site();
    let root = site.get("/").body;
    for name in ["name", "description", "url", "home"] {
        assert!(root[name].is_string(), "{name}: {}", root[name]);
    }
    assert_eq!(root["url"], site.site.as_str());
    assert!(root["namespaces"].as_array().is_some_and(|n| n.iter().all(Value::is_string)));
    assert!(root["authentication"].is_object());
    for (route, described) in root["routes"].as_object().expect("routes") {
        assert!(route.starts_with('/'));
        assert!(described["namespace"].is_string(), "{route}");
        assert!(described["methods"].as_array().is_some_and(|m| !m.is_empty()), "{route}");
        for endpoint in described["endpoints"].as_array().expect("endpoints") {
            assert!(endpoint["methods"].is_array() && endpoint["args"].is_object(), "{route}: {endpoint}");
        }
    }
}

/// 6: `OPTIONS` on any route gives its whole description.
#[test]
fn options_describes_any_route() {
    let site = site();
    for route in every_route(&site) {
        for described in [options(&site, &route), site.ask("OPTIONS", &route, None, None).body] {
            assert!(described["namespace"].is_string(), "{route}");
            assert!(described["methods"].as_array().is_some_and(|m| m.iter().all(Value::is_string)), "{route}");
            for endpoint in described["endpoints"].as_array().unwrap_or_else(|| panic!("{route}")) {
                assert!(endpoint["methods"].as_array().is_some_and(|m| !m.is_empty()), "{route}");
                for (name, arg) in endpoint["args"].as_object().unwrap_or_else(|| panic!("{route}")) {
                    assert!(arg["required"].is_boolean(), "{route} {name}: {arg}");
                    assert!(arg["description"].as_str().is_some_and(|d| !d.is_empty()), "{route} {name}: {arg}");
                    assert!(arg["type"].is_string() || arg["type"].is_array(), "{route} {name}: {arg}");
                }
            }
            let schema = &described["schema"];
            assert_eq!(schema["$schema"], "http://json-schema.org/draft-04/schema#", "{route}");
            assert!(schema["title"].as_str().is_some_and(|t| !t.is_empty()), "{route}");
            assert_eq!(schema["type"], "object", "{route}");
            assert!(schema["properties"].is_object(), "{route}");
            assert_links(&described["_links"], &route);
            assert!(described["_links"]["self"][0]["href"].is_string(), "{route}");
        }
    }
}

/// 6: a schema's title is the name of its resource.
#[test]
fn a_schema_is_named_after_its_resource() {
    let site = site();
    let titles = [
        ("posts", "post"),
        ("pages", "page"),
        ("blocks", "cms_block"),
        ("categories", "category"),
        ("tags", "tag"),
        ("users", "user"),
        ("comments", "comment"),
        ("settings", "settings"),
        ("search", "search-result"),
        ("themes", "theme"),
    ];
    for (route, title) in titles {
        assert_eq!(options(&site, &format!("/cms/v2/{route}"))["schema"]["title"], title, "{route}");
    }
}

/// 7: `rest_route` addresses any route with the route as its value.
#[test]
fn rest_route_addresses_a_route() {
    let site = site();
    let made = block(&site, json!({}));
    let by_query =
        |query: &str| site.send("GET", &format!("{}/?rest_route={query}", site.site), Some(&site.admin), None, &[]);
    assert_eq!(by_query("/").body["namespaces"], site.get("/").body["namespaces"]);
    let one = by_query(&format!("/cms/v2/blocks/{}", id(&made)));
    assert_eq!(one.body["id"], made["id"], "{}", one.text);
    assert_eq!(by_query(&format!("%2Fcms%2Fv2%2Fblocks%2F{}&context=edit", id(&made))).body["password"], "");
    assert_eq!(by_query("/cms/v2/blocks&per_page=1").body.as_array().map(Vec::len), Some(1));
    let title = unique("By query ");
    let body = json!({"title": {"raw": title}});
    let url = format!("{}/?rest_route=/cms/v2/blocks", site.site);
    let answer =
        site.send("POST", &url, Some(&site.admin), Some(("application/json", body.to_string().into_bytes())), &[]);
    assert_eq!((answer.status, &answer.body["title"]["raw"]), (201, &json!(title)));
    refused(by_query("/cms/v2/nothing"), 404, "rest_no_route");
}

/// 8: responses carry `_links` with `self`, `about`, `collection`; a link has `href`, and may be `embeddable`.
#[test]
fn resources_carry_links() {
    let site = site();
    let record = post(&site, json!({}));
    let comment = made(&site, "/cms/v2/comments", &json!({"post": id(&record), "content": {"raw": unique("Said ")}}));
    let page = made(&site, "/cms/v2/pages", &json!({"title": {"raw": "P"}, "status": "publish"}));
    let items = [
        ("posts", id(&record)),
        ("pages", id(&page)),
        ("blocks", id(&block(&site, json!({})))),
        ("categories", 1),
        ("comments", id(&comment)),
        ("users", 1),
    ];
    for (kind, number) in items {
        let route = format!("/cms/v2/{kind}");
        let answer = site.admin("GET", &format!("{route}/{number}"), None);
        let links = &answer.body["_links"];
        assert_links(links, &route);
        assert_eq!(links["self"][0]["href"], format!("{}{route}/{number}", site.rest), "{}", answer.text);
        assert_eq!(links["collection"][0]["href"], format!("{}{route}", site.rest), "{}", answer.text);
        if !["comments", "users"].contains(&kind) {
            assert!(links["about"][0]["href"].is_string(), "{}", answer.text);
        }
        for listed in site.admin("GET", &route, None).body.as_array().expect("a list") {
            assert_links(&listed["_links"], &route);
        }
    }
}

fn assert_links(links: &Value, at: &str) {
    let links = links.as_object().unwrap_or_else(|| panic!("{at} has no links"));
    for (relation, list) in links {
        if relation == "curies" {
            continue;
        }
        for link in list.as_array().unwrap_or_else(|| panic!("{at} {relation}: {list}")) {
            assert!(link["href"].as_str().is_some_and(|h| h.starts_with("http")), "{at} {relation}: {link}");
            assert!(link.get("embeddable").is_none_or(Value::is_boolean), "{at} {relation}: {link}");
        }
    }
}

/// 9: the context decides the fields, as the schema lists them.
#[test]
fn the_context_decides_the_fields() {
    let site = site();
    let record = post(&site, json!({}));
    let comment = made(&site, "/cms/v2/comments", &json!({"post": id(&record), "content": {"raw": unique("Said ")}}));
    let page = made(&site, "/cms/v2/pages", &json!({"title": {"raw": "P"}, "status": "publish"}));
    let tag = made(&site, "/cms/v2/tags", &json!({"name": unique("tag")}));
    let items = [
        ("posts", id(&record)),
        ("pages", id(&page)),
        ("blocks", id(&block(&site, json!({})))),
        ("categories", 1),
        ("tags", id(&tag)),
        ("comments", id(&comment)),
        ("users", 1),
    ];
    for (kind, number) in items {
        let route = format!("/cms/v2/{kind}/{number}");
        let schema = options(&site, &route)["schema"].take();
        for context in ["view", "embed", "edit"] {
            let mut answer = site.admin("GET", &format!("{route}?context={context}"), None).body;
            answer.as_object_mut().expect("an object").remove("_links");
            let mut expected = Vec::new();
            for (name, property) in schema["properties"].as_object().expect("properties") {
                let contexts =
                    property["context"].as_array().unwrap_or_else(|| panic!("{route} {name} has no context"));
                if contexts.iter().any(|c| c == context) {
                    expected.push(name.clone());
                }
            }
            expected.sort();
            assert_eq!(keys(&answer), expected, "{route} in {context}");
        }
        let plain = site.admin("GET", &route, None).body;
        assert_eq!(plain, site.admin("GET", &format!("{route}?context=view"), None).body);
        let bad = site.admin("GET", &format!("{route}?context=other"), None);
        refused(bad, 400, "rest_invalid_param");
    }
}

/// `_method`: a POST is handled as if sent with the method that it names.
#[test]
fn method_in_the_query_overrides_a_post() {
    let site = site();
    let made = block(&site, json!({}));
    let route = format!("/cms/v2/blocks/{}", id(&made));
    let got = site.admin("POST", &format!("{route}?_method=GET"), None);
    assert_eq!((got.status, &got.body["id"]), (200, &made["id"]));
    let title = json!({"title": {"raw": "Put"}});
    assert_eq!(site.admin("POST", &format!("{route}?_method=PUT"), Some(&title)).body["title"]["raw"], "Put");
    assert_eq!(site.admin("POST", &format!("{route}?_method=patch"), Some(&json!({"slug": "pat"}))).status, 200);
    let described = site.admin("POST", &format!("{route}?_method=OPTIONS"), None);
    assert_eq!(described.body["namespace"], "cms/v2", "{}", described.text);
    let gone = site.admin("POST", &format!("{route}?_method=DELETE&force=true"), None);
    assert_eq!((gone.status, &gone.body["deleted"]), (200, &json!(true)));
    assert_eq!(site.admin("GET", &route, None).status, 404);
}

/// Only a POST is honoured for the override.
#[test]
fn only_a_post_is_overridden() {
    let site = site();
    let route = format!("/cms/v2/blocks/{}", id(&block(&site, json!({}))));
    for method in ["GET", "PUT", "PATCH"] {
        let answer = site.admin(method, &format!("{route}?_method=DELETE&force=true"), None);
        assert_eq!(answer.status, 200, "{method}: {}", answer.text);
        assert_eq!(answer.body.get("deleted"), None, "{method}: {}", answer.text);
        let url = format!("{}{route}?force=true", site.rest);
        let answer = site.send(method, &url, Some(&site.admin), None, &[("x-http-method-override", "DELETE")]);
        assert_eq!(answer.body.get("deleted"), None, "{method}: {}", answer.text);
    }
    assert_eq!(site.admin("GET", &route, None).status, 200);
}

/// `X-HTTP-Method-Override` does the same; `_method` outranks both it and the real method.
#[test]
fn the_header_overrides_a_post_and_the_query_outranks_it() {
    let site = site();
    let route = format!("/cms/v2/blocks/{}", id(&block(&site, json!({}))));
    let send = |query: &str, method: &str| {
        let url = format!("{}{route}{query}", site.rest);
        site.send("POST", &url, Some(&site.admin), None, &[("x-http-method-override", method)])
    };
    let got = send("", "GET");
    assert_eq!((got.status, got.body["id"].is_i64()), (200, true), "{}", got.text);
    let got = send("?_method=GET&force=true", "DELETE");
    assert_eq!((got.status, got.body.get("deleted")), (200, None), "{}", got.text);
    let gone = send("?force=true", "DELETE");
    assert_eq!(gone.body["deleted"], true, "{}", gone.text);
}

/// `_envelope`: the body carries `status` and `headers` as well.
#[test]
fn the_envelope_carries_status_and_headers() {
    let site = site();
    block(&site, json!({}));
    for query in ["_envelope", "_envelope=1", "_envelope="] {
        let answer = site.get(&format!("/cms/v2/blocks?per_page=1&{query}"));
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body["status"], 200, "{query}: {}", answer.text);
        assert!(answer.body["headers"]["X-CMS-Total"].is_i64() || answer.body["headers"]["X-CMS-Total"].is_string());
        assert_eq!(answer.body["headers"].get("Date"), None, "not all headers: {}", answer.text);
        assert!(answer.body["body"].is_array(), "{}", answer.text);
    }
    let missing = site.get("/cms/v2/blocks/99999999?_envelope");
    assert_eq!((missing.status, &missing.body["status"]), (200, &json!(404)), "{}", missing.text);
    assert_eq!(missing.body["body"]["data"]["status"], 404);
    let plain = site.get("/cms/v2/blocks?per_page=1");
    assert!(plain.body.is_array(), "without it there is none");
}

/// `_embed`: resources whose link is embeddable are included under `_embedded`, and no others.
#[test]
fn embed_brings_the_embeddable_links() {
    let site = site();
    let record = post(&site, json!({}));
    for query in ["_embed", "_embed=1", "_embed=true"] {
        let answer = site.get(&format!("/cms/v2/posts/{}?{query}", id(&record)));
        let embedded = answer.body["_embedded"].as_object().unwrap_or_else(|| panic!("{query}: {}", answer.text));
        assert_eq!(embedded["author"][0]["id"], 1, "{}", answer.text);
        for (relation, list) in answer.body["_links"].as_object().expect("links") {
            let embeddable = list.as_array().is_some_and(|l| l.iter().any(|link| link["embeddable"] == true));
            assert!(embeddable || !embedded.contains_key(relation), "{relation} came along");
            let ours = list.as_array().is_some_and(|l| l.iter().all(|link| !link.to_string().contains("replies")));
            assert!(
                !embeddable || !ours || embedded.contains_key(relation),
                "{relation} did not come: {}",
                answer.text
            );
        }
        let listed = site.get(&format!("/cms/v2/posts?include={}&{query}", id(&record)));
        assert_eq!(listed.body[0]["_embedded"]["author"][0]["id"], 1, "{}", listed.text);
    }
    assert_eq!(site.get(&format!("/cms/v2/posts/{}", id(&record))).body.get("_embedded"), None);
    let title = record["title"]["raw"].as_str().expect("a title").replace(' ', "%20");
    let found = site.get(&format!("/cms/v2/search?search={title}&_embed"));
    assert_eq!(found.body[0]["_embedded"]["self"][0]["id"], record["id"], "{}", found.text);
}

/// `_jsonp`: the response is a call of the named function; a bad name is 400 and nothing is wrapped.
#[test]
fn jsonp_wraps_the_answer() {
    let site = site();
    let answer = site.get("/cms/v2/types?_jsonp=my.call_1");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/javascript; charset=UTF-8"));
    let (before, rest) = answer.text.split_once("my.call_1(").expect("a call");
    assert!(before.is_empty() || before == "/**/", "{before}");
    let inner = rest.trim_end().trim_end_matches(';').strip_suffix(')').expect("a closed call");
    let inner: Value = serde_json::from_str(inner).expect("JSON inside");
    assert_eq!(inner, site.get("/cms/v2/types").body);
    let bad = site.get("/cms/v2/types?_jsonp=alert(1)");
    assert_eq!(bad.status, 400);
    assert!(bad.body.is_object() && !bad.text.contains("alert"), "{}", bad.text);
    let wrapped = site.get("/cms/v2/settings?_jsonp=cb");
    assert!(wrapped.text.contains("cb({\"code\":\"rest_forbidden\""), "{}", wrapped.text);
}

/// The query parameter `filter` does not exist: it changes nothing.
#[test]
fn there_is_no_filter() {
    let site = site();
    let (one, two) = (id(&block(&site, json!({}))), id(&block(&site, json!({}))));
    let plain = ids(&site.get(&format!("/cms/v2/blocks?include={one},{two}")));
    let filtered = site.get(&format!("/cms/v2/blocks?include={one},{two}&filter%5Bposts_per_page%5D=1&filter=x"));
    assert_eq!(ids(&filtered), plain);
    assert!(options(&site, "/cms/v2/blocks")["endpoints"][0]["args"].get("filter").is_none());
}

/// Parameters may be given in the query or in the body; bodies are JSON or forms.
#[test]
fn parameters_come_by_query_json_or_form() {
    let site = site();
    let url = format!("{}/cms/v2/categories", site.rest);
    let name = unique("By query ");
    let answer = site.send("POST", &format!("{url}?name={}", name.replace(' ', "+")), Some(&site.admin), None, &[]);
    assert_eq!((answer.status, &answer.body["name"]), (201, &json!(name)), "{}", answer.text);
    let name = unique("By form ");
    let form = format!("name={}&description=a%20b", name.replace(' ', "+")).into_bytes();
    let form = Some(("application/x-www-form-urlencoded", form));
    let answer = site.send("POST", &url, Some(&site.admin), form, &[]);
    assert_eq!((answer.status, &answer.body["name"], &answer.body["description"]), (201, &json!(name), &json!("a b")));
    let name = unique("By parts ");
    let parts = format!("--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n{name}\r\n--b--\r\n").into_bytes();
    let parts = Some(("multipart/form-data; boundary=b", parts));
    let answer = site.send("POST", &url, Some(&site.admin), parts, &[]);
    assert_eq!((answer.status, &answer.body["name"]), (201, &json!(name)), "{}", answer.text);
    let name = unique("By JSON ");
    let answer = site.admin("POST", "/cms/v2/categories", Some(&json!({"name": name})));
    assert_eq!((answer.status, &answer.body["name"]), (201, &json!(name)), "{}", answer.text);
}
