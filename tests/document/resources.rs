//! Resources and their fields.

use crate::server::Server;
use crate::shared::{block, id, keys, made, options, post, refused, refused_params, site, unique};
use serde_json::{Value, json};

const SETTINGS: [&str; 15] = [
    "date_format",
    "default_category",
    "default_comment_status",
    "default_ping_status",
    "default_post_format",
    "description",
    "email",
    "language",
    "posts_per_page",
    "start_of_week",
    "time_format",
    "timezone",
    "title",
    "url",
    "use_smilies",
];

/// A row of a table of fields: name, type, format, contexts, read-only.
type Described = (&'static str, &'static str, Option<&'static str>, &'static [&'static str], bool);

fn property(route: &str, name: &str) -> Value {
    let schema = options(&site(), route)["schema"].take();
    schema["properties"].get(name).cloned().unwrap_or_else(|| panic!("{route} has no {name}"))
}

/// Only the table's fields exist, and the response always contains all of them.
#[test]
fn settings_have_these_fields_only() {
    let site = Server::start();
    assert_eq!(keys(&site.admin("GET", "/cms/v2/settings", None).body), SETTINGS);
    assert_eq!(keys(&options(&site, "/cms/v2/settings")["schema"]["properties"]), SETTINGS);
    let answer = site.admin("POST", "/cms/v2/settings", Some(&json!({"show_on_front": "page", "other": 1})));
    assert_eq!(keys(&answer.body), SETTINGS);
}

/// Types, formats, allowed values and defaults of the settings.
#[test]
fn settings_have_their_types_and_defaults() {
    let site = Server::start();
    let schema = options(&site, "/cms/v2/settings")["schema"]["properties"].take();
    let args = crate::shared::args(&site, "/cms/v2/settings", "POST");
    let fields = [
        ("title", "string", json!(null)),
        ("description", "string", json!(null)),
        ("url", "string", json!(null)),
        ("email", "string", json!(null)),
        ("timezone", "string", json!(null)),
        ("date_format", "string", json!(null)),
        ("time_format", "string", json!(null)),
        ("start_of_week", "integer", json!(null)),
        ("language", "string", json!("en_US")),
        ("use_smilies", "boolean", json!(true)),
        ("default_category", "integer", json!(null)),
        ("default_post_format", "string", json!(null)),
        ("posts_per_page", "integer", json!(10)),
        ("default_ping_status", "string", json!(null)),
        ("default_comment_status", "string", json!(null)),
    ];
    let values = site.admin("GET", "/cms/v2/settings", None).body;
    for (name, kind, default) in fields {
        assert_eq!(schema[name]["type"], kind, "{name}");
        assert_eq!(schema[name].get("default").unwrap_or(&Value::Null), &default, "{name}");
        assert_eq!(args[name]["type"], kind, "{name}");
        assert_eq!(args[name]["required"], false, "{name}");
        let fits = match kind {
            "string" => values[name].is_string(),
            "integer" => values[name].is_i64(),
            _ => values[name].is_boolean(),
        };
        assert!(fits, "{name}: {}", values[name]);
    }
    assert_eq!(schema["url"]["format"], "uri");
    assert_eq!(schema["email"]["format"], "email");
    for name in ["default_ping_status", "default_comment_status"] {
        assert_eq!(schema[name]["enum"], json!(["open", "closed"]), "{name}");
        assert_eq!(args[name]["enum"], json!(["open", "closed"]), "{name}");
    }
    assert_eq!(
        (&values["language"], &values["use_smilies"], &values["posts_per_page"]),
        (&json!("en_US"), &json!(true), &json!(10))
    );
}

/// Each field is written and read back; any subset is accepted, the rest stays.
#[test]
fn each_setting_is_written_and_read_back() {
    let site = Server::start();
    let category = id(&made(&site, "/cms/v2/categories", &json!({"name": "Other"})));
    let writes = [
        ("title", json!("My site")),
        ("description", json!("A tagline")),
        ("url", json!("https://example.org")),
        ("email", json!("me@example.org")),
        ("timezone", json!("Europe/Athens")),
        ("date_format", json!("Y-m-d")),
        ("time_format", json!("H:i")),
        ("start_of_week", json!(3)),
        ("language", json!("de_DE")),
        ("use_smilies", json!(false)),
        ("default_category", json!(category)),
        ("default_post_format", json!("aside")),
        ("posts_per_page", json!(7)),
        ("default_ping_status", json!("closed")),
        ("default_comment_status", json!("closed")),
    ];
    let mut expected = site.admin("GET", "/cms/v2/settings", None).body;
    for (n, (name, value)) in writes.into_iter().enumerate() {
        let method = ["POST", "PUT", "PATCH"][n % 3];
        let answer = site.admin(method, "/cms/v2/settings", Some(&json!({name: value})));
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        expected[name] = value;
        assert_eq!(answer.body, expected, "{name}");
        assert_eq!(site.admin("GET", "/cms/v2/settings", None).body, expected, "{name}");
    }
    let root = site.get("/").body;
    assert_eq!(
        (&root["name"], &root["description"], &root["timezone_string"]),
        (&json!("My site"), &json!("A tagline"), &json!("Europe/Athens"))
    );
    assert_eq!(site.admin("POST", "/cms/v2/settings", Some(&json!({}))).body, expected, "no field at all");
}

/// Values that do not fit are refused, and nothing of that request is written.
#[test]
fn bad_settings_are_refused() {
    let site = site();
    let before = site.admin("GET", "/cms/v2/settings", None).body;
    let bad = [
        ("title", json!(["x"])),
        ("title", json!({"raw": "x"})),
        ("url", json!("not an address")),
        ("url", json!("")),
        ("email", json!("nobody")),
        ("email", json!("")),
        ("timezone", json!("Nowhere/City")),
        ("start_of_week", json!("monday")),
        ("start_of_week", json!(1.5)),
        ("start_of_week", json!(7)),
        ("start_of_week", json!(-1)),
        ("use_smilies", json!("perhaps")),
        ("use_smilies", json!(2)),
        ("default_category", json!("first")),
        ("default_category", json!(99_999_999)),
        ("posts_per_page", json!("many")),
        ("default_ping_status", json!("ajar")),
        ("default_ping_status", json!("")),
        ("default_comment_status", json!("Open")),
        ("default_comment_status", json!(true)),
    ];
    for (name, value) in bad {
        let mut body = json!({"description": "must not be written"});
        body[name] = value.clone();
        let answer = site.admin("POST", "/cms/v2/settings", Some(&body));
        assert_eq!(answer.status, 400, "{name} {value}: {}", answer.text);
        refused_params(answer, &[name]);
    }
    assert_eq!(site.admin("GET", "/cms/v2/settings", None).body["description"], before["description"]);
}

/// A new site has its own address and its first user's e-mail address.
#[test]
fn a_new_site_tells_where_it_is_and_whose_it_is() {
    let site = Server::start();
    let values = site.admin("GET", "/cms/v2/settings", None).body;
    assert_eq!((&values["url"], &values["email"]), (&json!(site.site), &json!("admin@example.org")));
}

/// Null takes a field back to the default of the table.
#[test]
fn null_takes_a_setting_back_to_its_default() {
    let site = Server::start();
    let changed = json!({"title": "x", "start_of_week": 3, "language": "de_DE", "use_smilies": false, "posts_per_page": 3,
        "default_comment_status": "closed"});
    site.admin("POST", "/cms/v2/settings", Some(&changed));
    let defaults = json!({"title": null, "start_of_week": null, "language": "en_US", "use_smilies": true, "posts_per_page": 10,
        "default_comment_status": null});
    let nulls: Value = changed.as_object().expect("a map").keys().map(|k| (k.clone(), Value::Null)).collect();
    let answer = site.admin("PATCH", "/cms/v2/settings", Some(&nulls));
    for (name, default) in defaults.as_object().expect("a map") {
        assert_eq!(&answer.body[name], default, "{name}: {}", answer.text);
    }
    assert_eq!(site.get("/").body["name"], "");
}

/// Smilies become pictures or stay text, by the setting and at once.
#[test]
fn use_smilies_takes_effect() {
    let site = Server::start();
    let record = post(&site, json!({"content": {"raw": "Hello :-)"}}));
    assert!(!record["content"]["rendered"].as_str().expect("text").contains(":-)"));
    site.admin("POST", "/cms/v2/settings", Some(&json!({"use_smilies": false})));
    let read = site.get(&format!("/cms/v2/posts/{}", id(&record)));
    assert!(read.body["content"]["rendered"].as_str().expect("text").contains(":-)"), "{}", read.text);
}

/// New posts take the default category, format and the two default statuses.
#[test]
fn the_default_settings_reach_new_posts() {
    let site = Server::start();
    let category = id(&made(&site, "/cms/v2/categories", &json!({"name": "Other"})));
    let settings = json!({"default_category": category, "default_post_format": "aside", "default_ping_status": "closed",
        "default_comment_status": "closed"});
    assert_eq!(site.admin("POST", "/cms/v2/settings", Some(&settings)).status, 200);
    let record = post(&site, json!({}));
    assert_eq!(record["categories"], json!([category]));
    assert_eq!((&record["ping_status"], &record["comment_status"]), (&json!("closed"), &json!("closed")));
}

/// Search results: `id`, `title`, `url`, `type`, `subtype` and the three links.
#[test]
fn a_search_result_has_its_fields() {
    let site = site();
    let title = unique("Findable");
    let record = post(&site, json!({"title": {"raw": title}}));
    let page = made(&site, "/cms/v2/pages", &json!({"title": {"raw": format!("{title} page")}, "status": "publish"}));
    let found = site.get(&format!("/cms/v2/search?search={title}"));
    let list = found.body.as_array().expect("a list");
    assert_eq!(list.len(), 2, "{}", found.text);
    let result = list.iter().find(|r| r["id"] == record["id"]).expect("the post");
    assert_eq!(keys(result), ["_links", "id", "subtype", "title", "type", "url"]);
    assert_eq!(
        (&result["title"], &result["type"], &result["subtype"]),
        (&json!(title), &json!("post"), &json!("post"))
    );
    assert_eq!(result["url"], record["link"]);
    let links = &result["_links"];
    let own = &links["self"][0];
    assert_eq!(
        (&own["embeddable"], &own["href"]),
        (&json!(true), &json!(format!("{}/cms/v2/posts/{}", site.rest, id(&record))))
    );
    assert_eq!(links["about"][0]["href"], format!("{}/cms/v2/types/post", site.rest));
    assert_eq!(links["collection"][0]["href"], format!("{}/cms/v2/search", site.rest));
    let other = list.iter().find(|r| r["id"] == page["id"]).expect("the page");
    assert_eq!((&other["type"], &other["subtype"]), (&json!("post"), &json!("page")));
    let schema = options(&site, "/cms/v2/search")["schema"]["properties"].take();
    for (name, kind) in
        [("id", "integer"), ("title", "string"), ("url", "string"), ("type", "string"), ("subtype", "string")]
    {
        let type_ = &schema[name]["type"];
        assert!(type_ == kind || type_.as_array().is_some_and(|t| t.contains(&json!(kind))), "{name}: {type_}");
    }
}

/// The active theme lists what it supports.
#[test]
fn the_active_theme_tells_what_it_supports() {
    let site = site();
    let themes = site.admin("GET", "/cms/v2/themes?status=active", None);
    assert_eq!(themes.body.as_array().map(Vec::len), Some(1), "{}", themes.text);
    let supports = &themes.body[0]["theme_supports"];
    let seen = ["standard", "aside", "image", "video", "quote", "link", "gallery", "status", "audio", "chat"];
    let formats = supports["formats"].as_array().expect("a list");
    assert!(formats.contains(&json!("standard")) && formats.iter().all(|f| seen.iter().any(|s| f == s)), "{supports}");
    assert!(supports["post-thumbnails"].is_boolean(), "{supports}");
    assert!(supports["responsive-embeds"].is_boolean(), "{supports}");
}

/// A block's fields: type, format, contexts, read-only, as the table has them.
#[test]
fn a_block_has_its_fields() {
    let all: &'static [&str] = &["view", "edit", "embed"];
    let most: &'static [&str] = &["view", "edit"];
    let edit: &[&str] = &["edit"];
    let table: [Described; 13] = [
        ("date", "string", Some("date-time"), all, false),
        ("date_gmt", "string", Some("date-time"), most, false),
        ("guid", "object", None, most, true),
        ("id", "integer", None, all, true),
        ("link", "string", Some("uri"), all, true),
        ("modified", "string", Some("date-time"), most, true),
        ("modified_gmt", "string", Some("date-time"), most, true),
        ("slug", "string", None, all, false),
        ("status", "string", None, most, false),
        ("type", "string", None, all, true),
        ("password", "string", None, edit, false),
        ("title", "object", None, all, false),
        ("content", "object", None, most, false),
    ];
    for (name, kind, format, contexts, read_only) in table {
        described("/cms/v2/blocks", name, kind, format, contexts, read_only);
    }
    described("/cms/v2/blocks", "template", "string", None, most, false);
    let guid = property("/cms/v2/blocks", "guid")["properties"].take();
    assert_eq!((&guid["raw"]["type"], sorted(&guid["raw"]["context"])), (&json!("string"), vec!["edit".into()]));
    assert_eq!(sorted(&guid["rendered"]["context"]), ["edit", "view"]);
    let title = property("/cms/v2/blocks", "title")["properties"].take();
    assert_eq!(
        (&title["raw"]["type"], sorted(&title["raw"]["context"])),
        (&json!("string"), vec!["edit".into(), "view".into()])
    );
    let content = property("/cms/v2/blocks", "content")["properties"].take();
    assert_eq!(
        (&content["raw"]["type"], sorted(&content["raw"]["context"])),
        (&json!("string"), vec!["edit".into(), "view".into()])
    );
    let version = &content["block_version"];
    assert_eq!(
        (&version["type"], sorted(&version["context"]), &version["readonly"]),
        (&json!("integer"), vec!["edit".into()], &json!(true))
    );
    let protected = &content["protected"];
    assert_eq!((&protected["type"], &protected["readonly"]), (&json!("boolean"), &json!(true)));
    assert_eq!(sorted(&protected["context"]), ["edit", "embed", "view"]);
}

fn described(route: &str, name: &str, kind: &str, format: Option<&str>, contexts: &[&str], read_only: bool) {
    let property = property(route, name);
    let type_ = &property["type"];
    assert!(type_ == kind || type_.as_array().is_some_and(|t| t.contains(&json!(kind))), "{name}: {type_}");
    assert_eq!(property.get("format").and_then(Value::as_str), format, "{name}");
    let mut expected: Vec<String> = contexts.iter().map(|c| (*c).to_owned()).collect();
    expected.sort();
    assert_eq!(sorted(&property["context"]), expected, "{name}");
    assert_eq!(property.get("readonly").and_then(Value::as_bool).unwrap_or(false), read_only, "{name}");
}

fn sorted(list: &Value) -> Vec<String> {
    let mut texts: Vec<String> =
        list.as_array().map(|l| l.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect()).unwrap_or_default();
    texts.sort();
    texts
}

/// A block's response by context, nested fields included.
#[test]
fn a_block_answers_by_context() {
    let site = site();
    let raw = "<!-- cms:paragraph --><p>Text</p><!-- /cms:paragraph -->";
    let record = block(&site, json!({"content": {"raw": raw}, "password": "secret"}));
    let route = format!("/cms/v2/blocks/{}", id(&record));
    let edit = site.admin("GET", &format!("{route}?context=edit"), None).body;
    assert_eq!(edit["password"], "secret");
    assert_eq!(edit["content"]["raw"], raw);
    assert!(edit["content"]["block_version"].is_i64());
    assert_eq!(edit["content"]["protected"], true);
    assert!(edit["guid"]["raw"].is_string() && edit["guid"]["rendered"].is_string());
    let view = site.admin("GET", &route, None).body;
    assert_eq!(view.get("password"), None);
    assert!(view["title"]["raw"].is_string());
    assert_eq!(view["content"].get("block_version"), None);
    assert_eq!(keys(&view["guid"]), ["rendered"]);
    let embed = site.admin("GET", &format!("{route}?context=embed"), None).body;
    for name in ["date_gmt", "guid", "modified", "modified_gmt", "status", "password", "template"] {
        assert_eq!(embed.get(name), None, "{name}");
    }
    for name in ["date", "id", "link", "slug", "type", "title"] {
        assert!(embed.get(name).is_some(), "{name}");
    }
    assert_eq!(edit["type"], "cms_block");
}

/// The password protects access to the content.
#[test]
fn a_password_protects_a_block() {
    let site = site();
    let record = block(&site, json!({"content": {"raw": "<p>hidden words</p>"}, "password": "se cret"}));
    let route = format!("/cms/v2/blocks/{}", id(&record));
    let author = site.user(&unique("author"), "author");
    let get = |query: &str| site.ask("GET", &format!("{route}{query}"), Some(&author), None);
    let locked = get("");
    assert!(!locked.text.contains("hidden words"), "{}", locked.text);
    assert_eq!(locked.body["content"]["protected"], true, "{}", locked.text);
    let open = get("?password=se%20cret");
    assert_eq!(open.body["content"]["raw"], "<p>hidden words</p>", "{}", open.text);
    refused(get("?password=wrong"), 403, "rest_post_incorrect_password");
    assert!(!site.ask("GET", "/cms/v2/blocks", Some(&author), None).text.contains("hidden words"));
}

/// Read-only fields are not written, and are no arguments.
#[test]
fn read_only_fields_are_not_written() {
    let site = site();
    let record = block(&site, json!({}));
    let route = format!("/cms/v2/blocks/{}", id(&record));
    let body =
        json!({"guid": {"raw": "x"}, "link": "http://x.example", "modified": "2001-01-01T00:00:00", "type": "post"});
    let after = site.admin("POST", &route, Some(&body));
    assert_eq!(after.status, 200, "{}", after.text);
    for name in ["guid", "link", "type", "id"] {
        assert_eq!(after.body[name], record[name], "{name}");
    }
    assert_ne!(after.body["modified"], "2001-01-01T00:00:00");
    let args = crate::shared::args(&site, "/cms/v2/blocks", "POST");
    for name in ["guid", "id", "link", "modified", "modified_gmt", "type"] {
        assert_eq!(args.get(name), None, "{name}");
    }
}

/// A slug is unique to the type.
#[test]
fn a_block_s_slug_is_unique_to_its_type() {
    let site = site();
    let slug = unique("the-slug-");
    assert_eq!(block(&site, json!({"slug": slug}))["slug"], slug);
    assert_eq!(block(&site, json!({"slug": slug}))["slug"], format!("{slug}-2"));
    assert_eq!(post(&site, json!({"slug": slug}))["slug"], slug, "another type");
}

/// `date` and `date_gmt` are one moment in the site's zone and in GMT; `modified` likewise.
#[test]
fn dates_are_in_the_site_s_zone_and_in_gmt() {
    let site = Server::start();
    site.admin("POST", "/cms/v2/settings", Some(&json!({"timezone": "Europe/Athens"})));
    let record = block(&site, json!({"date": "2020-01-02T03:04:05"}));
    assert_eq!((&record["date"], &record["date_gmt"]), (&json!("2020-01-02T03:04:05"), &json!("2020-01-02T01:04:05")));
    let record = block(&site, json!({"date_gmt": "2020-07-02T03:04:05"}));
    assert_eq!((&record["date"], &record["date_gmt"]), (&json!("2020-07-02T06:04:05"), &json!("2020-07-02T03:04:05")));
    let local = record["modified"].as_str().expect("a date");
    let gmt = record["modified_gmt"].as_str().expect("a date");
    assert_ne!(local, gmt);
    let offset = block(&site, json!({"date": "2020-01-02T03:04:05Z"}));
    assert_eq!(offset["date_gmt"], "2020-01-02T03:04:05", "{offset}");
}

/// A category's fields, as the table has them.
#[test]
fn a_category_has_its_fields() {
    let all: &'static [&str] = &["view", "edit", "embed"];
    let most: &'static [&str] = &["view", "edit"];
    let table: [Described; 9] = [
        ("id", "integer", None, all, true),
        ("count", "integer", None, most, true),
        ("description", "string", None, most, false),
        ("link", "string", Some("uri"), all, true),
        ("name", "string", None, all, false),
        ("slug", "string", None, all, false),
        ("taxonomy", "string", None, all, true),
        ("parent", "integer", None, most, false),
        ("meta", "object", None, most, false),
    ];
    for (name, kind, format, contexts, read_only) in table {
        described("/cms/v2/categories", name, kind, format, contexts, read_only);
    }
    let schema = options(&site(), "/cms/v2/categories")["schema"]["properties"].take();
    assert_eq!(keys(&schema), ["count", "description", "id", "link", "meta", "name", "parent", "slug", "taxonomy"]);
    assert_eq!(schema["taxonomy"]["enum"], json!(["category", "post_tag", "nav_menu", "link_category", "post_format"]));
    let site = site();
    let name = unique("Nature ");
    let parent = made(&site, "/cms/v2/categories", &json!({"name": name}));
    assert_eq!(
        keys(&parent),
        ["_links", "count", "description", "id", "link", "meta", "name", "parent", "slug", "taxonomy"]
    );
    let text = "<em>What</em> grows";
    let body = json!({"name": unique("Trees "), "description": text, "slug": unique("trees-"), "parent": id(&parent)});
    let child = made(&site, "/cms/v2/categories", &body);
    for field in ["name", "description", "slug", "parent"] {
        assert_eq!(child[field], body[field], "{field}");
    }
    assert_eq!((&child["taxonomy"], &child["count"], &child["meta"]), (&json!("category"), &json!(0), &json!({})));
    assert!(child["link"].as_str().is_some_and(|l| l.starts_with(&site.site)));
    assert_eq!(child["_links"]["up"][0]["href"], format!("{}/cms/v2/categories/{}", site.rest, id(&parent)));
}

/// `count` is the number of published items.
#[test]
fn a_category_counts_published_items() {
    let site = site();
    let category = id(&made(&site, "/cms/v2/categories", &json!({"name": unique("Counted ")})));
    let count = || site.get(&format!("/cms/v2/categories/{category}")).body["count"].take();
    post(&site, json!({"categories": [category]}));
    let draft = post(&site, json!({"categories": [category], "status": "draft"}));
    assert_eq!(count(), 1);
    site.admin("POST", &format!("/cms/v2/posts/{}", id(&draft)), Some(&json!({"status": "publish"})));
    assert_eq!(count(), 2);
    site.admin("DELETE", &format!("/cms/v2/posts/{}", id(&draft)), None);
    assert_eq!(count(), 1);
}

/// `parent` must exist; `name` is required on create.
#[test]
fn a_category_needs_a_name_and_a_real_parent() {
    let site = site();
    let answer =
        refused(site.admin("POST", "/cms/v2/categories", Some(&json!({}))), 400, "rest_missing_callback_param");
    assert_eq!(answer.body["data"]["params"], json!(["name"]));
    let answer = site.admin("POST", "/cms/v2/categories", Some(&json!({"name": unique("x"), "parent": 99_999_999})));
    refused(answer, 400, "rest_term_invalid");
    let name = unique("Twice ");
    let first = made(&site, "/cms/v2/categories", &json!({"name": name}));
    let answer = refused(site.admin("POST", "/cms/v2/categories", Some(&json!({"name": name}))), 400, "term_exists");
    assert_eq!(answer.body["data"]["term_id"], first["id"], "{}", answer.text);
}

/// The application password record.
#[test]
fn an_application_password_has_its_fields() {
    let site = site();
    let route = "/cms/v2/users/me/application-passwords";
    let app = "12345678-1234-4234-8234-1234567890ab";
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs().cast_signed();
    let record = made(&site, route, &json!({"name": unique("Program "), "app_id": app}));
    let uuid = record["uuid"].as_str().expect("a uuid");
    assert!(uuid::Uuid::parse_str(uuid).is_ok(), "{uuid}");
    assert_eq!(record["app_id"], app);
    let created = record["created"].as_i64().expect("a Unix time");
    assert!((now - created).abs() < 10, "{created} {now}");
    assert_eq!((&record["last_used"], &record["last_ip"]), (&Value::Null, &Value::Null));
    let clear = record["password"].as_str().expect("a clear value");
    assert!(clear.split(' ').all(|g| g.chars().all(|c| c.is_ascii_alphanumeric())), "{clear}");
    let empty = made(&site, route, &json!({"name": unique("Program "), "app_id": ""}));
    assert_eq!(empty["app_id"], "");
    assert_eq!(made(&site, route, &json!({"name": unique("Program ")}))["app_id"], "");
    let read = site.admin("GET", &format!("{route}/{uuid}"), None).body;
    assert_eq!(read.get("password"), None);
    assert_eq!(
        (&read["uuid"], &read["name"], &read["created"]),
        (&record["uuid"], &record["name"], &record["created"])
    );
    for bad in ["not-a-uuid", "12345678"] {
        refused_params(site.admin("POST", route, Some(&json!({"name": unique("P"), "app_id": bad}))), &["app_id"]);
    }
    let answer = refused(site.admin("POST", route, Some(&json!({}))), 400, "rest_missing_callback_param");
    assert_eq!(answer.body["data"]["params"], json!(["name"]));
}

/// The clear password: letters and digits, shown in groups of 4 separated by spaces where a person reads it.
#[test]
fn a_clear_password_has_letters_and_digits_only() {
    let site = site();
    let record = made(&site, "/cms/v2/users/me/application-passwords", &json!({"name": unique("Program ")}));
    let clear = record["password"].as_str().expect("a clear value");
    assert!(clear.chars().filter(|c| *c != ' ').all(|c| c.is_ascii_alphanumeric()), "{clear}");
    assert!(clear.chars().filter(|c| *c != ' ').count() >= 20, "{clear}");
}

/// The error object.
#[test]
fn an_error_has_code_message_and_data() {
    let site = site();
    let answer = site.get("/cms/v2/posts/99999999");
    assert_eq!(keys(&answer.body), ["code", "data", "message"]);
    assert_eq!((&answer.body["code"], &answer.body["data"]["status"]), (&json!("rest_post_invalid_id"), &json!(404)));
    let answer = site.get("/cms/v2/posts?per_page=0&page=0");
    assert_eq!(keys(&answer.body["data"]["params"]), ["page", "per_page"]);
}
