//! Endpoints.

use crate::server::Server;
use crate::shared::{args, block, id, ids, keys, made, post, refused, refused_params, site, unique};
use serde_json::{Value, json};

/// One arg: its type, default (null: none) and required.
fn arg(args: &Value, name: &str, kind: &str, default: Value) {
    let arg = args.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", keys(args)));
    let type_ = &arg["type"];
    assert!(type_ == kind || type_.as_array().is_some_and(|t| t.contains(&json!(kind))), "{name}: {arg}");
    assert_eq!(arg.get("default").unwrap_or(&Value::Null), &default, "{name}: {arg}");
}

/// Settings: GET and POST, PUT, PATCH; GET has no parameters.
#[test]
fn settings_are_read_and_updated() {
    let site = site();
    assert_eq!(args(&site, "/cms/v2/settings", "GET"), json!({}));
    for method in ["POST", "PUT", "PATCH"] {
        assert_eq!(keys(&args(&site, "/cms/v2/settings", method)).len(), 15, "{method}");
        assert_eq!(site.admin(method, "/cms/v2/settings", Some(&json!({"start_of_week": 1}))).status, 200, "{method}");
    }
    refused(site.admin("DELETE", "/cms/v2/settings", None), 404, "rest_no_route");
}

/// Search: the parameters of the table.
#[test]
fn search_has_its_parameters() {
    let site = site();
    let args = args(&site, "/cms/v2/search", "GET");
    arg(&args, "context", "string", json!("view"));
    assert_eq!(args["context"]["enum"], json!(["view", "embed"]));
    arg(&args, "page", "integer", json!(1));
    arg(&args, "per_page", "integer", json!(10));
    arg(&args, "search", "string", json!(null));
    arg(&args, "type", "string", json!("post"));
    assert_eq!(args["type"]["enum"], json!(["post"]));
    arg(&args, "subtype", "array", json!("any"));
    assert_eq!(args["subtype"]["items"]["enum"], json!(["post", "page", "any"]));
    assert!(args.as_object().is_some_and(|a| a.values().all(|arg| arg["required"] == false)));
    for bad in
        ["context=edit", "type=term", "type=page", "subtype=block", "subtype=post,none", "page=0", "per_page=101"]
    {
        let name = bad.split('=').next().expect("a name");
        refused_params(site.get(&format!("/cms/v2/search?{bad}")), &[name]);
    }
}

/// Search: what it finds, by `search`, `type`, `subtype`, pages and contexts; anonymous callers find what is public.
#[test]
fn search_finds_posts_and_pages() {
    let site = site();
    let word = unique("quince");
    let in_post = id(&post(&site, json!({"title": {"raw": word}})));
    let in_content = id(&post(&site, json!({"content": {"raw": format!("<p>{word}</p>")}})));
    let page = id(&made(&site, "/cms/v2/pages", &json!({"title": {"raw": word}, "status": "publish"})));
    post(&site, json!({"title": {"raw": word}, "status": "draft"}));
    post(&site, json!({"title": {"raw": word}, "status": "private"}));
    block(&site, json!({"title": {"raw": word}}));
    let find = |more: &str| {
        let mut found = ids(&site.get(&format!("/cms/v2/search?search={word}{more}")));
        found.sort_unstable();
        found
    };
    assert_eq!(find(""), [in_post, in_content, page]);
    assert_eq!(find("&type=post"), [in_post, in_content, page]);
    assert_eq!(find("&subtype=post"), [in_post, in_content]);
    assert_eq!(find("&subtype=page"), [page]);
    assert_eq!(find("&subtype=post,page"), [in_post, in_content, page]);
    assert_eq!(find("&subtype%5B%5D=any"), [in_post, in_content, page]);
    assert_eq!(find("nothing"), [] as [i64; 0]);
    let first = site.get(&format!("/cms/v2/search?search={word}&per_page=2"));
    let second = site.get(&format!("/cms/v2/search?search={word}&per_page=2&page=2"));
    assert_eq!((first.header("x-cms-total"), first.header("x-cms-totalpages")), (Some("3"), Some("2")));
    assert_eq!((ids(&first).len(), ids(&second).len()), (2, 1));
    let embedded = site.get(&format!("/cms/v2/search?search={word}&context=embed"));
    assert_eq!(ids(&embedded).len(), 3);
    assert!(site.get("/cms/v2/search").body.is_array());
}

/// Themes: `status` is required, and only `active`; the other parameters are there.
#[test]
fn themes_have_their_parameters() {
    let site = site();
    let args = args(&site, "/cms/v2/themes", "GET");
    assert_eq!(keys(&args), ["context", "page", "per_page", "search", "status"]);
    arg(&args, "context", "string", json!(null));
    arg(&args, "page", "integer", json!(1));
    arg(&args, "per_page", "integer", json!(10));
    arg(&args, "search", "string", json!(null));
    arg(&args, "status", "array", json!(null));
    assert_eq!(args["status"]["items"]["enum"], json!(["active"]));
    assert_eq!(args["status"]["required"], true);
    refused_params(site.admin("GET", "/cms/v2/themes?status=inactive", None), &["status"]);
    refused_params(site.admin("GET", "/cms/v2/themes?status=active,other", None), &["status"]);
    for query in ["status=active", "status%5B%5D=active", "status=active&page=1&per_page=5&context=view"] {
        let answer = site.admin("GET", &format!("/cms/v2/themes?{query}"), None);
        assert_eq!(answer.body.as_array().map(Vec::len), Some(1), "{query}: {}", answer.text);
        assert_eq!(answer.header("x-cms-total"), Some("1"), "{query}");
    }
    let none = site.admin("GET", "/cms/v2/themes?status=active&search=no-such-theme", None);
    assert_eq!(none.body, json!([]), "{}", none.text);
}

/// Blocks: the parameters of the list.
#[test]
fn blocks_have_their_list_parameters() {
    let site = site();
    let args = args(&site, "/cms/v2/blocks", "GET");
    arg(&args, "context", "string", json!("view"));
    assert_eq!(args["context"]["enum"], json!(["view", "embed", "edit"]));
    arg(&args, "page", "integer", json!(1));
    arg(&args, "per_page", "integer", json!(10));
    for name in ["search", "after", "before"] {
        arg(&args, name, "string", json!(null));
    }
    arg(&args, "exclude", "array", json!([]));
    arg(&args, "include", "array", json!([]));
    assert_eq!(args["exclude"]["items"]["type"], "integer");
    assert_eq!(args["include"]["items"]["type"], "integer");
    arg(&args, "offset", "integer", json!(null));
    arg(&args, "Order", "string", json!("desc"));
    assert_eq!(args["Order"]["enum"], json!(["asc", "desc"]));
    arg(&args, "orderby", "string", json!("date"));
    let orders =
        ["author", "date", "id", "include", "modified", "parent", "relevance", "slug", "include_slugs", "title"];
    assert_eq!(args["orderby"]["enum"], json!(orders));
    arg(&args, "slug", "array", json!(null));
    assert_eq!(args["slug"]["items"]["type"], "string");
    arg(&args, "status", "array", json!("publish"));
    for name in ["after", "before"] {
        assert_eq!(args[name]["format"], "date-time", "{name}");
    }
}

/// Blocks: what each list parameter does.
#[test]
fn block_lists_obey_their_parameters() {
    let site = site();
    let word = unique("medlar");
    let of = |slug: &str, date: &str, title: &str| {
        id(&block(
            &site,
            json!({"slug": format!("{word}-{slug}"), "date": date, "title": {"raw": format!("{word} {title}")}}),
        ))
    };
    let a = of("a", "2020-01-01T00:00:00", "zeta");
    let b = of("b", "2020-02-01T00:00:00", "alpha");
    let c = of("c", "2020-03-01T00:00:00", "mu");
    let find = |more: &str| ids(&site.admin("GET", &format!("/cms/v2/blocks?search={word}{more}"), None));
    assert_eq!(find(""), [c, b, a], "newest first");
    assert_eq!(find("&order=asc"), [a, b, c]);
    assert_eq!(find("&Order=asc"), [a, b, c]);
    assert_eq!(find("&Order=desc"), [c, b, a]);
    assert_eq!(find("&orderby=title&order=asc"), [b, c, a]);
    assert_eq!(find("&orderby=title"), [a, c, b]);
    assert_eq!(find("&orderby=slug&order=asc"), [a, b, c]);
    assert_eq!(find("&orderby=id"), [c, b, a]);
    assert_eq!(find(&format!("&orderby=include&include={b},{c},{a}")), [b, c, a]);
    assert_eq!(find(&format!("&orderby=include_slugs&slug={word}-c,{word}-a")), [c, a]);
    assert_eq!(find("&orderby=relevance").len(), 3);
    for order in ["author", "modified", "parent"] {
        assert_eq!(find(&format!("&orderby={order}")).len(), 3, "{order}");
    }
    assert_eq!(find("&after=2020-01-15T00:00:00"), [c, b]);
    assert_eq!(find("&before=2020-02-15T00:00:00"), [b, a]);
    assert_eq!(find("&after=2020-01-15T00:00:00&before=2020-02-15T00:00:00"), [b]);
    assert_eq!(find(&format!("&exclude={b}")), [c, a]);
    assert_eq!(find(&format!("&exclude%5B%5D={b}&exclude%5B%5D={a}")), [c]);
    assert_eq!(find(&format!("&include={a},{c}")), [c, a]);
    assert_eq!(find("&offset=1"), [b, a]);
    assert_eq!(find("&offset=1&per_page=1"), [b]);
    assert_eq!(find("&per_page=1&page=2"), [b]);
    assert_eq!(find(&format!("&slug={word}-b")), [b]);
    assert_eq!(find(&format!("&slug%5B%5D={word}-b&slug%5B%5D={word}-a")), [b, a]);
    let stray = site.admin("GET", &format!("/cms/v2/blocks?search={word}&page=9"), None);
    refused(stray, 400, "rest_post_invalid_page_number");
    refused_params(site.get("/cms/v2/blocks?orderby=menu_order"), &["orderby"]);
    refused_params(site.get("/cms/v2/blocks?after=yesterday"), &["after"]);
    refused(site.get("/cms/v2/blocks?orderby=relevance"), 400, "rest_no_search_term_defined");
    refused(site.get("/cms/v2/blocks?orderby=include"), 400, "rest_orderby_include_missing_include");
}

/// Blocks: the parameters of create, all optional; the response is the block.
#[test]
fn blocks_are_created() {
    let site = site();
    let args = args(&site, "/cms/v2/blocks", "POST");
    for (name, kind) in [
        ("date", "string"),
        ("date_gmt", "string"),
        ("slug", "string"),
        ("status", "string"),
        ("password", "string"),
        ("title", "object"),
        ("content", "object"),
        ("template", "string"),
    ] {
        arg(&args, name, kind, json!(null));
        assert_eq!(args[name]["required"], false, "{name}");
    }
    let slug = unique("made-");
    let body = json!({"date": "2021-02-03T04:05:06", "slug": slug, "status": "Publish", "password": "pw", "title": {"raw": "T"},
        "content": {"raw": "<p>C</p>"}, "template": ""});
    let answer = site.admin("POST", "/cms/v2/blocks", Some(&body));
    assert_eq!(answer.status, 201, "{}", answer.text);
    let route = format!("/cms/v2/blocks/{}", id(&answer.body));
    assert_eq!(answer.header("location"), Some(format!("{}{route}", site.rest).as_str()));
    for name in ["date", "slug", "status", "password", "template"] {
        assert_eq!(answer.body[name], body[name], "{name}: {}", answer.text);
    }
    assert_eq!((&answer.body["title"]["raw"], &answer.body["content"]["raw"]), (&json!("T"), &json!("<p>C</p>")));
    let plain = site.admin("POST", "/cms/v2/blocks", Some(&json!({"title": {"raw": "Only a title"}})));
    assert_eq!((plain.status, &plain.body["status"]), (201, &json!("draft")), "{}", plain.text);
}

/// Blocks: the item is read by `id`, `context`, `password`.
#[test]
fn a_block_is_read() {
    let site = site();
    let args = args(&site, "/cms/v2/blocks/1", "GET");
    arg(&args, "id", "integer", json!(null));
    arg(&args, "context", "string", json!("view"));
    assert_eq!(args["context"]["enum"], json!(["view", "embed", "edit"]));
    arg(&args, "password", "string", json!(null));
    let record = block(&site, json!({}));
    let read = site.admin("GET", &format!("/cms/v2/blocks/{}", id(&record)), None);
    assert_eq!((read.status, &read.body["id"]), (200, &record["id"]));
    refused(site.admin("GET", "/cms/v2/blocks/99999999", None), 404, "rest_post_invalid_id");
    let other = post(&site, json!({}));
    refused(site.admin("GET", &format!("/cms/v2/blocks/{}", id(&other)), None), 404, "rest_post_invalid_id");
}

/// Blocks: POST, PUT and PATCH update the same fields as create.
#[test]
fn a_block_is_updated() {
    let site = site();
    let route = format!("/cms/v2/blocks/{}", id(&block(&site, json!({}))));
    for method in ["POST", "PUT", "PATCH"] {
        let described = args(&site, "/cms/v2/blocks/1", method);
        arg(&described, "id", "integer", json!(null));
        let mut create = keys(&args(&site, "/cms/v2/blocks", "POST"));
        create.push("id".into());
        create.sort();
        assert_eq!(keys(&described), create, "{method}");
        let title = unique("Changed ");
        let body = json!({"title": {"raw": title}, "content": {"raw": "<p>new</p>"}, "date": "2022-02-02T02:02:02"});
        let answer = site.admin(method, &route, Some(&body));
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(
            (&answer.body["title"]["raw"], &answer.body["date"]),
            (&json!(title), &json!("2022-02-02T02:02:02"))
        );
    }
    refused(site.admin("PUT", "/cms/v2/blocks/99999999", Some(&json!({}))), 404, "rest_post_invalid_id");
}

/// Blocks: DELETE takes `id` and `force`.
#[test]
fn a_block_is_deleted() {
    let site = site();
    let args = args(&site, "/cms/v2/blocks/1", "DELETE");
    arg(&args, "id", "integer", json!(null));
    arg(&args, "force", "boolean", json!(false));
    assert_eq!(keys(&args), ["force", "id"]);
    let route = format!("/cms/v2/blocks/{}", id(&block(&site, json!({}))));
    refused_params(site.admin("DELETE", &format!("{route}?force=perhaps"), None), &["force"]);
    assert_eq!(site.admin("DELETE", &format!("{route}?force=true"), None).body["deleted"], true);
    refused(site.admin("DELETE", &route, None), 404, "rest_post_invalid_id");
}

/// Categories: GET the collection, POST with `name`, `description`, `slug`, `parent`, `meta`.
#[test]
fn categories_are_listed_and_created() {
    let site = site();
    let args = args(&site, "/cms/v2/categories", "POST");
    assert_eq!(keys(&args), ["description", "meta", "name", "parent", "slug"]);
    for (name, kind) in
        [("name", "string"), ("description", "string"), ("slug", "string"), ("parent", "integer"), ("meta", "object")]
    {
        arg(&args, name, kind, json!(null));
        assert_eq!(args[name]["required"], name == "name", "{name}");
    }
    let stem = unique("Cat");
    let made: Vec<i64> = ["b", "a", "c"]
        .iter()
        .map(|n| id(&made(&site, "/cms/v2/categories", &json!({"name": format!("{stem} {n}")}))))
        .collect();
    let find = |more: &str| ids(&site.get(&format!("/cms/v2/categories?search={stem}{more}")));
    assert_eq!(find("&orderby=name&order=asc"), [made[1], made[0], made[2]]);
    assert_eq!(find("&orderby=name"), [made[2], made[0], made[1]], "desc by default");
    assert_eq!(find("&orderby=id"), [made[2], made[1], made[0]]);
    assert_eq!(
        find(&format!("&orderby=include&include={},{},{}", made[2], made[0], made[1])),
        [made[2], made[0], made[1]]
    );
    for order in ["slug", "term_group", "description", "count"] {
        assert_eq!(find(&format!("&orderby={order}")).len(), 3, "{order}");
    }
    assert_eq!(find("&orderby=id&offset=1&per_page=1"), [made[1]]);
    refused_params(site.get("/cms/v2/categories?orderby=date"), &["orderby"]);
    let listed = crate::shared::args(&site, "/cms/v2/categories", "GET");
    for order in ["id", "include", "name", "slug", "term_group", "description", "count"] {
        assert!(listed["orderby"]["enum"].as_array().is_some_and(|e| e.contains(&json!(order))), "{order}");
    }
    assert_eq!(listed["order"]["default"], "desc");
}

/// Posts: list, create, read, update by three methods, remove with the removed data; users: PUT with a description.
#[test]
fn posts_and_users_are_used() {
    let site = site();
    assert_eq!(site.get("/cms/v2/posts").status, 200);
    let record =
        made(&site, "/cms/v2/posts", &json!({"title": {"raw": "T"}, "content": {"raw": "C"}, "status": "publish"}));
    let route = format!("/cms/v2/posts/{}", id(&record));
    assert_eq!(site.get(&route).body["title"]["rendered"], "T");
    for method in ["POST", "PUT", "PATCH"] {
        let title = unique("Title ");
        let answer = site.admin(method, &route, Some(&json!({"title": {"raw": title}})));
        assert_eq!((answer.status, &answer.body["title"]["raw"]), (200, &json!(title)));
    }
    let removed = site.admin("DELETE", &route, None);
    assert_eq!((removed.status, &removed.body["id"]), (200, &record["id"]), "{}", removed.text);
    let text = unique("About ");
    let answer = site.admin("PUT", "/cms/v2/users/1", Some(&json!({"description": text})));
    assert_eq!((answer.status, &answer.body["description"]), (200, &json!(text)), "{}", answer.text);
}

/// Application passwords: POST creates one for the user.
#[test]
fn application_passwords_are_created_for_a_user() {
    let site = site();
    let (login, _) = site.user(&unique("writer"), "author");
    let user = ids(&site.admin("GET", &format!("/cms/v2/users?search={login}"), None))[0];
    let route = format!("/cms/v2/users/{user}/application-passwords");
    let record = made(&site, &route, &json!({"name": unique("Program ")}));
    let clear = record["password"].as_str().expect("a clear value").to_owned();
    let me = site.ask("GET", "/cms/v2/users/me", Some(&(login, clear)), None);
    assert_eq!(me.body["id"], user, "{}", me.text);
}

/// Collections: `page`, `per_page`, `offset`, `order`, `orderby`, and the two headers.
#[test]
fn every_collection_has_the_collection_parameters() {
    let site = site();
    for name in ["posts", "pages", "blocks", "media", "categories", "tags", "users", "comments"] {
        let route = format!("/cms/v2/{name}");
        let args = args(&site, &route, "GET");
        arg(&args, "page", "integer", json!(1));
        arg(&args, "per_page", "integer", json!(10));
        arg(&args, "offset", "integer", json!(null));
        let order = if name == "blocks" { "Order" } else { "order" };
        assert_eq!(args[order]["enum"].as_array().map(Vec::len), Some(2), "{route}");
        let expected = if name == "users" { &args[order]["default"] } else { &json!("desc") };
        arg(&args, order, "string", expected.clone());
        assert!(args["orderby"]["enum"].is_array(), "{route}");
        let answer = site.admin("GET", &route, None);
        for header in ["x-cms-total", "x-cms-totalpages"] {
            assert!(answer.header(header).is_some_and(|v| v.parse::<u64>().is_ok()), "{route} {header}");
        }
    }
    let orders = ["author", "date", "id", "include", "modified", "parent", "relevance", "slug", "title"];
    let posts = args(&site, "/cms/v2/posts", "GET");
    for order in orders {
        assert!(posts["orderby"]["enum"].as_array().is_some_and(|e| e.contains(&json!(order))), "{order}");
    }
    assert_eq!(posts["orderby"]["default"], "date");
    for name in ["posts", "pages", "blocks", "comments"] {
        let by = args(&site, &format!("/cms/v2/{name}"), "GET")["orderby"]["default"].take();
        assert!(by == "date" || by == "date_gmt", "{name}: {by}");
    }
}

/// `offset` with `per_page` gives the same window as the `page` that it equals.
#[test]
fn an_offset_equals_its_page() {
    let site = site();
    let word = unique("window");
    for n in 0..7 {
        post(&site, json!({"title": {"raw": format!("{word} {n}")}}));
    }
    for page in 1..=4 {
        let by_page = site.get(&format!("/cms/v2/posts?search={word}&per_page=2&page={page}&orderby=id"));
        let by_offset =
            site.get(&format!("/cms/v2/posts?search={word}&per_page=2&offset={}&orderby=id", (page - 1) * 2));
        assert_eq!(ids(&by_page), ids(&by_offset), "{page}");
        for header in ["x-cms-total", "x-cms-totalpages"] {
            assert_eq!(by_page.header(header), by_offset.header(header));
        }
    }
}

/// Posts order by each value, both ways.
#[test]
fn posts_order_by_each_value() {
    let site = Server::start();
    let of = |title: &str, date: &str| {
        id(&post(
            &site,
            json!({"title": {"raw": format!("lychee {title}")}, "date": date, "slug": format!("lychee-{title}")}),
        ))
    };
    let a = of("b", "2020-01-03T00:00:00");
    let b = of("c", "2020-01-01T00:00:00");
    let c = of("a", "2020-01-02T00:00:00");
    let find = |query: &str| ids(&site.get(&format!("/cms/v2/posts?{query}")));
    assert_eq!(find("orderby=date"), [a, c, b]);
    assert_eq!(find("orderby=date&order=asc"), [b, c, a]);
    assert_eq!(find("orderby=id"), [c, b, a]);
    assert_eq!(find("orderby=id&order=asc"), [a, b, c]);
    assert_eq!(find("orderby=title"), [b, a, c]);
    assert_eq!(find("orderby=title&order=asc"), [c, a, b]);
    assert_eq!(find("orderby=slug&order=asc"), [c, a, b]);
    assert_eq!(find(&format!("orderby=include&include={c},{a},{b}")), [c, a, b]);
    assert_eq!(find("orderby=relevance&search=lychee").len(), 3);
    for order in ["author", "modified", "parent"] {
        assert_eq!(find(&format!("orderby={order}")).len(), 3, "{order}");
    }
}
