//! The cost of a response: a list takes as many statements for ten items as for a hundred.

use super::inside::Inside;
use super::own_types::folder;
use cms_core::model::Method;
use serde_json::{Value, json};

/// A site in which a hundred items of each kind are related in different ways.
fn grown() -> Inside {
    let site = Inside::start();
    let id = |made: Value| made["id"].as_i64().expect("an id");
    let mut authors = Vec::new();
    for i in 0..30 {
        let body = json!({"username": format!("author{i}"), "email": format!("a{i}@example.org"),
            "password": "long enough", "roles": ["author"]});
        authors.push(id(site.make("/cms/v2/users", &body)));
    }
    let mut terms = (Vec::new(), Vec::new());
    for i in 0..100 {
        let parent = if i % 3 == 1 { terms.0[i - 1] } else { 0 };
        terms.0.push(id(site.make("/cms/v2/categories", &json!({"name": format!("C{i}"), "parent": parent}))));
        terms.1.push(id(site.make("/cms/v2/tags", &json!({"name": format!("T{i}")}))));
    }
    let mut page = 0;
    for i in 0..100usize {
        let body = json!({"title": {"raw": format!("Post {i}")}, "content": {"raw": "Some words."}, "status": "publish",
            "author": authors[i % 30], "categories": [terms.0[i], terms.0[(i * 7 + 1) % 100]], "tags": [terms.1[i]],
            "sticky": i % 20 == 0});
        let post = id(site.make("/cms/v2/posts", &body));
        let words = json!({"content": {"raw": format!("Other words {i}.")}});
        site.ask(Method::Put, &format!("/cms/v2/posts/{post}"), true, Some(&words));
        let parent = if i % 4 == 0 { 0 } else { page };
        let body = json!({"title": {"raw": format!("Page {i}")}, "status": "publish", "parent": parent,
            "comment_status": "open"});
        page = id(site.make("/cms/v2/pages", &body));
        let body = json!({"title": {"raw": format!("Block {i}")}, "content": {"raw": "x"}, "status": "publish"});
        site.make("/cms/v2/blocks", &body);
        for on in [post, page] {
            let body = json!({"post": on, "content": {"raw": format!("Comment {i}")}, "author_name": "A",
                "author_email": "a@example.org", "status": "approved"});
            let comment = id(site.make("/cms/v2/comments", &body));
            if i % 5 == 0 {
                let body = json!({"post": on, "parent": comment, "content": {"raw": format!("Reply {i}")}});
                site.make("/cms/v2/comments", &body);
            }
        }
    }
    site
}

#[test]
fn a_list_costs_the_same_whatever_its_length() {
    let site = grown();
    let post = site.get("/cms/v2/posts?per_page=1&_fields=id", true).body[0]["id"].clone();
    for i in 0..100 {
        let words = json!({"content": {"raw": format!("Once more {i}.")}});
        site.ask(Method::Put, &format!("/cms/v2/posts/{post}"), true, Some(&words));
    }
    let revisions = format!("/cms/v2/posts/{post}/revisions");
    let lists = [
        "/cms/v2/posts",
        "/cms/v2/pages",
        "/cms/v2/blocks",
        "/cms/v2/categories",
        "/cms/v2/tags",
        "/cms/v2/comments",
        "/cms/v2/users",
        "/cms/v2/search",
        &revisions,
    ];
    let mut table = String::new();
    for list in lists {
        for (admin, more) in [(false, ""), (true, ""), (true, "&context=edit"), (false, "&_embed"), (true, "&_embed")] {
            if list == "/cms/v2/search" && more == "&context=edit" {
                continue;
            }
            let ask = |n: usize| site.cheapest(&format!("{list}?per_page={n}{more}"), admin);
            let (few, many) = (ask(10), ask(100));
            let of = |answer: &Value| answer.as_array().map_or(0, Vec::len);
            // Some lists are not for anonymous callers.
            if !admin && (few.status == 401 || of(&few.body) == 0) {
                continue;
            }
            assert_eq!(of(&few.body), 10, "{list}");
            assert!(of(&many.body) > 30 || list == "/cms/v2/users", "{list}");
            table.push_str(&format!("{list} admin={admin} {more}: {} {}\n", few.queries, many.queries));
            assert!(many.queries <= few.queries, "{table}");
            assert!(many.queries < 30, "{table}");
        }
    }
}

#[test]
fn what_is_embedded_is_what_a_request_of_its_own_answers() {
    let site = grown();
    for admin in [false, true] {
        for list in ["/cms/v2/posts", "/cms/v2/pages", "/cms/v2/categories", "/cms/v2/comments", "/cms/v2/search"] {
            let all = site.get(&format!("{list}?per_page=40&_embed"), admin).body;
            let mut compared = 0;
            for document in all.as_array().expect("a list") {
                let Some(embedded) = document["_embedded"].as_object() else { continue };
                for (rel, found) in embedded {
                    for (link, found) in
                        document["_links"][rel].as_array().expect("links").iter().zip(found.as_array().expect("a list"))
                    {
                        let href = link["href"].as_str().expect("an address");
                        let route = href.split_once("-json").expect("below the REST base").1;
                        let join = if route.contains('?') { '&' } else { '?' };
                        let alone = site.get(&format!("{route}{join}context=embed"), admin).body;
                        assert_eq!(*found, alone, "{href}");
                        compared += 1;
                    }
                }
            }
            assert!(compared > 10, "{list}: {compared}");
        }
    }
}

#[test]
fn what_is_not_asked_for_is_not_read() {
    let site = grown();
    let cost =
        |list: &str, more: &str| site.cheapest(&format!("/cms/v2/{list}?per_page=50&context=edit{more}"), true).queries;
    for list in ["posts", "pages", "comments"] {
        let (whole, id, links) = (cost(list, ""), cost(list, "&_fields=id"), cost(list, "&_fields=_links"));
        assert!(id < links && links <= whole, "{list}: {whole} for all, {links} for links, {id} for ids");
    }
    // The caller, and one statement for the rows: relations, meta and history only where they are shown.
    assert_eq!(cost("posts", "&_fields=id,title,content"), cost("posts", "&_fields=id"));
    assert_eq!(cost("posts", "&_fields=id,categories"), cost("posts", "&_fields=id") + 1);
    assert_eq!(cost("posts", "&_fields=id,meta"), cost("posts", "&_fields=id") + 1);
}

#[test]
fn long_texts_are_read_only_for_fields_that_are_made_of_them() {
    let site = Inside::start();
    let (long, rows) = ("Many words. ".repeat(2000), 10u64);
    for n in 0..rows {
        let body = json!({"title": {"raw": format!("P{n}")}, "content": {"raw": long}, "excerpt": {"raw": "Short."},
            "status": "publish"});
        let post = site.make("/cms/v2/posts", &body)["id"].clone();
        site.make("/cms/v2/comments", &json!({"post": post, "content": {"raw": long}, "status": "approved"}));
        site.make("/cms/v2/tags", &json!({"name": format!("T{n}"), "description": long}));
    }
    let whole = rows * long.len() as u64;
    for (list, texts) in [("posts", "content excerpt"), ("comments", "content"), ("tags", "description")] {
        for fields in ["id", "id,slug,link,status", "_links", "title,meta", "name,author,date"] {
            let read = site.get(&format!("/cms/v2/{list}?context=edit&_fields={fields}"), true).text;
            assert!(read < whole / 10, "{list}: {read} bytes for {fields}");
        }
        for field in texts.split(' ') {
            let read = site.get(&format!("/cms/v2/{list}?context=edit&_fields={field}"), true).text;
            assert!(read >= whole, "{list}: {read} bytes for {field}");
        }
    }
}

#[test]
fn a_field_alone_is_what_it_is_among_all() {
    let site = grown();
    let lists = ["posts", "pages", "blocks", "media", "categories", "tags", "comments", "users"];
    for list in lists {
        for (admin, context) in [(false, "view"), (true, "view"), (true, "edit"), (true, "embed")] {
            let route = format!("/cms/v2/{list}?per_page=5&context={context}");
            let all = site.get(&route, admin).body;
            let Some(first) = all.get(0).and_then(Value::as_object) else { continue };
            for field in first.keys() {
                let alone = site.get(&format!("{route}&_fields={field}"), admin).body;
                for (whole, part) in all.as_array().expect("a list").iter().zip(alone.as_array().expect("a list")) {
                    assert_eq!(part.get(field), whole.get(field), "{route}&_fields={field}");
                    assert_eq!(part.as_object().map(serde_json::Map::len), Some(1), "{route}&_fields={field}");
                }
            }
        }
    }
}

#[test]
fn settings_take_effect_with_the_next_request() {
    let site = Inside::start();
    let set = |body: Value| site.make("/cms/v2/settings", &body);
    let post = || {
        site.make(
            "/cms/v2/posts",
            &json!({"title": {"raw": "T"}, "content": {"raw": "Well :)"},
        "status": "publish", "date_gmt": "2024-01-01T12:00:00"}),
        )
    };
    let first = post();
    assert_eq!((&first["date"], &first["comment_status"]), (&json!("2024-01-01T12:00:00"), &json!("open")));
    let shown = |id: &Value| site.get(&format!("/cms/v2/posts/{id}"), false).body["content"]["rendered"].clone();
    let with_smilies = shown(&first["id"]);
    let category = site.make("/cms/v2/categories", &json!({"name": "Main"}))["id"].clone();
    set(json!({"timezone": "Europe/Oslo", "use_smilies": false, "default_comment_status": "closed",
        "default_ping_status": "closed", "default_category": category}));
    let second = post();
    assert_eq!(second["date"], "2024-01-01T13:00:00");
    assert_eq!((&second["comment_status"], &second["ping_status"]), (&json!("closed"), &json!("closed")));
    assert_eq!(second["categories"], json!([category]));
    let without = shown(&first["id"]);
    assert_ne!(with_smilies, without, "what was rendered before is rendered anew");
    assert!(without.as_str().is_some_and(|text| text.contains(":)")), "{without}");
}

/// Types that share the table of posts or have their own, sorted by a column of theirs that some items have no value in.
#[test]
fn pages_in_the_order_of_an_own_column_read_what_they_show() {
    let keys = "sort = { id = \"id\", start = \"start\", price = \"price\" }\n";
    let number = json!({"type": "integer"});
    let properties = json!({"start": number, "price": number});
    let declared = [("c_talks", "content", properties.clone(), keys), ("talks", "plain", properties, keys)];
    let site = Inside::over(folder(&declared));
    for resource in ["c_talks", "talks"] {
        let made: Vec<i64> = (0..500)
            .map(|n| {
                let mut talk = json!({"title": format!("Talk {n}"), "price": n % 7});
                if resource == "c_talks" {
                    talk["status"] = json!("publish");
                }
                if n % 10 != 3 {
                    talk["start"] = json!(n * 37 % 101);
                }
                site.make(&format!("/own/v1/{resource}"), &talk)["id"].as_i64().expect("an id")
            })
            .collect();
        let path = |query: &str| format!("/own/v1/{resource}?{query}");
        let check = |order: &str, gone: &[i64]| {
            let page = |size: usize, page: usize| {
                site.get(&path(&format!("orderby=start&order={order}&per_page={size}&page={page}")), false)
            };
            let pages = |size: usize| -> Vec<Value> {
                (1..=500_usize.div_ceil(size))
                    .flat_map(|n| page(size, n).body.as_array().cloned().unwrap_or_default())
                    .collect()
            };
            let whole = pages(7);
            let mut expected: Vec<(bool, i64, i64)> = whole
                .iter()
                .map(|talk| {
                    let sign = if order == "asc" { 1 } else { -1 };
                    let id = talk["id"].as_i64().expect("an id");
                    // Of those without a start, the last made is first in the other direction, too.
                    (talk["start"].is_null(), sign * talk["start"].as_i64().unwrap_or(0), sign * id)
                })
                .collect();
            let read = expected.clone();
            expected.sort_unstable();
            assert_eq!(read, expected, "{resource} {order}");
            assert_eq!(whole.len(), made.len() - gone.len(), "{resource} {order}: each is on one page");
            assert!(whole.iter().all(|talk| !gone.contains(&talk["id"].as_i64().expect("an id"))));
            assert!(pages(100) == whole && pages(10) == whole, "{resource} {order}: whatever the size of pages");
            // A row that is skipped costs some instructions, and the page before the last is as near to the end as the second
            // is to the beginning. Far from both, no more rows are skipped than between two whose places are known.
            let [first, second, later, middle, last] = [1, 2, 9, 24, 44].map(|n| page(10, n).steps);
            for (what, steps, most) in [
                ("ninth", later, first + 80 * 25),
                ("middle", middle, second + 30 * 25),
                ("last full", last, second + 30 * 25),
            ] {
                assert!(
                    steps < most,
                    "{resource} {order}: {steps} instructions for the {what} page, {second} for the second"
                );
            }
        };
        for order in ["asc", "desc"] {
            check(order, &[]);
        }
        // The places of rows are known until something is written that they depend on.
        let gone = format!("/own/v1/{resource}/{}?force=true", made[0]);
        assert_eq!(site.ask(Method::Delete, &gone, true, None).status, 200);
        assert_eq!(
            site.ask(Method::Patch, &format!("/own/v1/{resource}/{}", made[498]), true, Some(&json!({"start": -1})))
                .status,
            200
        );
        for order in ["asc", "desc"] {
            check(order, &made[..1]);
        }
    }
}

/// Half of the items of a type with a table of its own have one topic.
#[test]
fn a_large_group_is_not_sorted_in_the_order_of_another_column() {
    let more = "sort = { id = \"id\", start = \"start\", price = \"price\" }\n[resources.talks.endpoints.list]\n\
        topic = { type = \"array\", items = { type = \"integer\" }, x-filter = { column = \"topics\", op = \"in\" } }\n";
    let keys = json!({"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "topics"}});
    let properties = json!({"start": {"type": "integer"}, "price": {"type": "integer"}, "topics": keys});
    let declared = [("topics", "plain", json!({}), ""), ("talks", "plain", properties, more)];
    let site = Inside::over(folder(&declared));
    let topics: Vec<Value> =
        ["Large", "Small"].map(|title| site.make("/own/v1/topics", &json!({"title": title}))["id"].clone()).into();
    let mut expected = [Vec::new(), Vec::new()];
    for n in 0..400 {
        let of: Vec<usize> =
            [(0, n % 2 == 0), (1, n % 50 == 7)].into_iter().filter(|(_, is)| *is).map(|(of, _)| of).collect();
        let start = n * 7919 % 1009;
        let talk =
            json!({"title": "Talk", "start": start, "topics": of.iter().map(|of| &topics[*of]).collect::<Vec<_>>()});
        site.make("/own/v1/talks", &talk);
        of.iter().for_each(|of| expected[*of].push(start));
    }
    let list = |of: usize, order: &str, page: usize| {
        site.get(&format!("/own/v1/talks?topic={}&orderby=start&order={order}&page={page}", topics[of]), false)
    };
    let starts = |list: &Value| -> Vec<i64> {
        list.as_array().expect("a list").iter().map(|talk| talk["start"].as_i64().expect("a number")).collect()
    };
    for (of, expected) in expected.iter_mut().enumerate() {
        expected.sort_unstable();
        for order in ["asc", "desc"] {
            for (page, expected) in expected.chunks(10).enumerate() {
                assert_eq!(starts(&list(of, order, page + 1).body), expected, "{of} {order} {page}");
            }
            expected.reverse();
        }
    }
    // To sort two hundred rows, each is read.
    let (large, all) = (list(0, "asc", 1), site.get("/own/v1/talks?orderby=start&order=asc", false));
    assert!(large.steps < all.steps + 20 * 40, "{} instructions, {} for all talks", large.steps, all.steps);
}
