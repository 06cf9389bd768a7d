//! Reports of people about clients and other servers: what is sent back as it was read, far dates, odd names of files,
//! odd addresses.

use super::media::{png, upload};
use super::server::{Answer, Server};
use serde_json::{Value, json};

fn wordpress() -> Server {
    Server::with(&["site.prefix=wp"])
}

fn make(server: &Server, route: &str, body: Value) -> Value {
    let answer = server.admin("POST", route, Some(&body));
    assert_eq!(answer.status, 201, "{route} {body}: {}", answer.text);
    answer.body
}

/// The texts that people write, in the members `raw`.
fn raw(document: &Value) -> Vec<&str> {
    ["title", "content", "excerpt", "caption", "description"]
        .iter()
        .filter_map(|name| document[name]["raw"].as_str())
        .collect()
}

#[test]
fn a_null_beside_a_rendered_text_leaves_the_text() {
    let server = wordpress();
    let null = json!({"raw": null, "rendered": "<p>read</p>"});
    for resource in ["posts", "pages", "blocks", "navigation"] {
        let body = json!({"title": "Kept", "content": "<p>kept</p>", "excerpt": "kept too", "status": "publish"});
        let made = make(&server, &format!("/wp/v2/{resource}"), body);
        let route = format!("/wp/v2/{resource}/{}", made["id"]);
        for sent in [
            json!({"title": null}),
            json!({"content": null}),
            json!({"excerpt": null}),
            json!({"title": null, "content": null, "excerpt": null}),
            json!({"title": {"other": 1}, "content": ["x"], "excerpt": {}}),
        ] {
            let sent: Value = sent
                .as_object()
                .expect("a map")
                .iter()
                .map(|(name, value)| (name.clone(), if value.is_null() { null.clone() } else { value.clone() }))
                .collect();
            let answer = server.admin("POST", &route, Some(&sent));
            assert_eq!(answer.status, 200, "{resource} {sent}: {}", answer.text);
            assert_eq!((raw(&answer.body), &answer.body["slug"]), (raw(&made), &made["slug"]), "{resource} {sent}");
        }
        for (sent, stored) in [(json!(7), "7"), (json!(true), "1"), (json!("0"), "0"), (json!(""), "")] {
            let answer = server.admin("POST", &route, Some(&json!({"content": {"raw": sent}})));
            assert_eq!(answer.body["content"]["raw"], stored, "{resource} {sent}: {}", answer.text);
        }
        let refused = server.admin("POST", &route, Some(&json!({"title": {"raw": ["x"]}})));
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{resource}: {}", refused.text);
        let kept = server.admin("GET", &format!("{route}?context=edit"), None);
        assert_eq!(kept.body["title"]["raw"], "Kept", "{resource}");
    }
    let picture = upload(&server, "a.png", "image/png", png(4, 4)).body;
    let route = format!("/wp/v2/media/{}", picture["id"]);
    let texts = json!({"title": "T", "caption": "C", "description": "D"});
    assert_eq!(server.admin("POST", &route, Some(&texts)).status, 200);
    let nulls = json!({"title": null, "caption": null, "description": null});
    let nulls: Value = nulls.as_object().expect("a map").keys().map(|name| (name.clone(), null.clone())).collect();
    assert_eq!(raw(&server.admin("POST", &route, Some(&nulls)).body), ["T", "C", "D"]);
    let post = make(&server, "/wp/v2/posts", json!({"title": "P", "status": "publish"}));
    let comment = make(&server, "/wp/v2/comments", json!({"post": post["id"], "content": "kept"}));
    let route = format!("/wp/v2/comments/{}", comment["id"]);
    assert_eq!(server.admin("POST", &route, Some(&json!({"content": null}))).body["content"]["raw"], "kept");

    let strict = Server::start();
    let post = make(&strict, "/cms/v2/posts", json!({"title": "Kept", "content": "kept"}));
    let route = format!("/cms/v2/posts/{}", post["id"]);
    let refused = strict.admin("POST", &route, Some(&json!({"title": null})));
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"));
    let refused = strict.admin("POST", &route, Some(&json!({"title": {"raw": null, "rendered": "x"}})));
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{}", refused.text);
}

#[test]
fn far_dates_can_be_written_and_read() {
    for (prefix, zone) in
        [("wp", "America/New_York"), ("wp", "Asia/Tokyo"), ("cms", "UTC-12"), ("cms", "Pacific/Kiritimati")]
    {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let settings = format!("/{prefix}/v2/settings");
        let set = server.admin("POST", &settings, Some(&json!({"timezone": zone})));
        assert_eq!(set.status, 200, "{}", set.text);
        for date in ["9999-12-31T23:59:59", "0000-01-01T00:00:00", "0001-01-01T00:00:00", "1969-12-31T23:59:59"] {
            for (member, text) in
                [("date", date.to_owned()), ("date", format!("{date}-12:00")), ("date_gmt", format!("{date}+12:00"))]
            {
                for status in ["draft", "publish"] {
                    let body = json!({"title": "x", "content": "x", member: text, "status": status});
                    let made = make(&server, &format!("/{prefix}/v2/posts"), body);
                    let route = format!("/{prefix}/v2/posts/{}", made["id"]);
                    for query in ["", "?context=edit", "?_fields=id"] {
                        let read = server.admin("GET", &format!("{route}{query}"), None);
                        assert_eq!(read.status, 200, "{zone} {text} {query}: {}", read.text);
                    }
                    assert_eq!(server.admin("HEAD", &route, None).status, 200, "{zone} {text}");
                    let again = server.admin("PUT", &route, Some(&json!({"date": made["date"], "title": "y"})));
                    assert_eq!(
                        (again.status, &again.body["date"]),
                        (200, &made["date"]),
                        "{zone} {text}: {}",
                        again.text
                    );
                    for column in ["date", "date_gmt", "modified", "modified_gmt"] {
                        let told = made[column].as_str().expect("a date");
                        assert_eq!((told.len(), &told[10..11]), (19, "T"), "{zone} {text} {column}: {told}");
                    }
                    for (query, plus) in
                        [("after", ""), ("before", "%2B14:00"), ("modified_after", "-12:00"), ("modified_before", "Z")]
                    {
                        let list = format!("/{prefix}/v2/posts?status=any&{query}={date}{plus}");
                        assert_eq!(server.admin("GET", &list, None).status, 200, "{list}");
                    }
                }
            }
        }
        let list = server.admin("GET", &format!("/{prefix}/v2/posts?status=any&per_page=100"), None);
        assert_eq!((list.status, list.body.as_array().map(Vec::len)), (200, Some(24)), "{}", list.text);
        assert!(!server.log().contains("panic"), "{}", server.log());
    }
}

#[test]
fn a_date_with_small_letters_is_that_date_or_refused() {
    let is = Server::start();
    let wp = wordpress();
    let day = "2016-01-26";
    for (text, strict, lenient) in [
        (format!("{day}t21:45:20z"), Some("2016-01-26T21:45:20"), None),
        (format!("{day}T21:45:20z"), Some("2016-01-26T21:45:20"), None),
        (format!("{day} 21:45:20.5z"), Some("2016-01-26T21:45:20"), None),
        (format!("{day}t21:45:20Z"), Some("2016-01-26T21:45:20"), Some("2016-01-26T21:45:20")),
        (format!("{day}t21:45:20"), Some("2016-01-26T21:45:20"), Some("2016-01-26T21:45:20")),
        (format!("{day}t21:45:20+02:00"), Some("2016-01-26T19:45:20"), Some("2016-01-26T19:45:20")),
        (format!("{day}T21:45:20+02"), None, Some("2016-01-26T19:45:20")),
    ] {
        for (server, ns, expected) in [(&is, "cms", strict), (&wp, "wp", lenient)] {
            for member in ["date", "date_gmt"] {
                let body = json!({"title": "x", "status": "publish", member: text});
                let answer = server.admin("POST", &format!("/{ns}/v2/posts"), Some(&body));
                match expected {
                    Some(date) => assert_eq!(answer.body["date_gmt"], date, "{ns} {member} {text}: {}", answer.text),
                    None => assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{ns} {text}"),
                }
            }
            let list = format!("/{ns}/v2/posts?after={}", text.replace('+', "%2B").replace(' ', "%20"));
            assert_eq!(server.get(&list).status, if expected.is_some() { 200 } else { 400 }, "{list}");
        }
    }
    let after = |query: &str| is.get(&format!("/cms/v2/posts?{query}")).body.as_array().map_or(0, Vec::len);
    let all = after("after=2016-01-26t00:00:00z&per_page=100");
    assert!(all > 0 && after("where[date][ge]=2016-01-26t00:00:00z&per_page=100") == all);
    assert_eq!(after("before=2016-01-26t00:00:00z"), 0);
}

#[test]
fn a_file_without_a_usable_name_gets_one() {
    let server = wordpress();
    let name_of = |answer: &Answer| {
        assert_eq!(answer.status, 201, "{}", answer.text);
        let url = answer.body["source_url"].as_str().expect("an address").to_owned();
        url.rsplit('/').next().expect("a name").to_owned()
    };
    let body = || Some(("image/png", png(2, 2)));
    let sent = |disposition: &str| {
        let headers = [("content-disposition", disposition)];
        server.send("POST", &format!("{}/wp/v2/media", server.rest), Some(&server.admin), body(), &headers)
    };
    for (disposition, expected) in [
        ("attachment; filename=\".png\"", "unnamed-file.png"),
        ("attachment; filename=\"+++.png\"", "unnamed-file-1.png"),
        ("attachment; filename=\"with \\\"quote\\\".png\"", "with-quote.png"),
        ("attachment; filename=\"C:\\temp\\way.png\"", "Ctempway.png"),
        ("attachment; filename=\"sub/dir/way.png\"", "subdirway.png"),
        ("attachment; filename=\"../../up.png\"", "up.png"),
        ("attachment; filename*=UTF-8''%F0%9F%8E%89.png", "unnamed-file-2.png"),
        ("attachment; filename*=UTF-8''na%C3%AFve%20one.png", "naive-one.png"),
        ("attachment; filename=\"plain.png\"; filename*=utf-8'en'%E2%82%AC-star.png", "E-star.png"),
        ("attachment; filename*=iso-8859-1''gar%E7on.png", "garcon.png"),
    ] {
        assert_eq!(name_of(&sent(disposition)), expected, "{disposition}");
    }
    let long = format!("attachment; filename=\"{}.png\"", "n".repeat(400));
    assert!(name_of(&sent(&long)).len() < 200);
    let form = |header: &str| {
        let mut form = format!("--x\r\nContent-Disposition: form-data; name=\"file\"; {header}\r\n\r\n").into_bytes();
        form.extend(png(2, 2));
        form.extend(b"\r\n--x--\r\n");
        let body = Some(("multipart/form-data; boundary=x", form));
        server.send("POST", &format!("{}/wp/v2/media", server.rest), Some(&server.admin), body, &[])
    };
    for (header, expected) in [
        ("filename=\"C:\\temp\\form.png\"", "form.png"),
        ("filename=\"sub/dir/form.png\"", "form-1.png"),
        ("filename=\"🦃.png\"", "unnamed-file-3.png"),
        ("filename=\"🎄🎄 ❤️.png\"", "unnamed-file-4.png"),
        ("filename=\"a \\\"b\\\".png\"", "a-b.png"),
        ("filename*=UTF-8''caf%C3%A9.png", "cafe.png"),
    ] {
        assert_eq!(name_of(&form(header)), expected, "{header}");
    }
    let call = "<?xml version=\"1.0\"?><methodCall><methodName>wp.uploadFile</methodName><params>\
        <param><value><int>1</int></value></param><param><value>LOGIN</value></param><param><value>SECRET</value></param>\
        <param><value><struct><member><name>name</name><value>🎉.png</value></member>\
        <member><name>type</name><value>image/png</value></member>\
        <member><name>bits</name><value><base64>BITS</base64></value></member></struct></value></param></params></methodCall>";
    use base64::Engine as _;
    let bits = base64::engine::general_purpose::STANDARD.encode(png(2, 2));
    let call = call.replace("LOGIN", &server.admin.0).replace("SECRET", &server.admin.1).replace("BITS", &bits);
    let url = format!("{}/xmlrpc.php", server.site);
    let answer = server.send("POST", &url, None, Some(("text/xml", call.into_bytes())), &[]);
    assert!(answer.text.contains("unnamed-file") && !answer.text.contains("<fault>"), "{}", answer.text);
}

#[test]
fn beside_an_address_of_a_file_wordpress_takes_the_record_alone() {
    for (ns, title, alternative) in [("wp", "a-1", ""), ("cms", "T", "A")] {
        let server = Server::with(&[&format!("site.prefix={ns}")]);
        let own = upload(&server, "a.png", "image/png", png(2, 2)).body["source_url"].clone();
        let post = make(&server, &format!("/{ns}/v2/posts"), json!({"title": "P"}))["id"].clone();
        let body = json!({"url": own, "title": "T", "alt_text": "A", "post": post});
        let made = make(&server, &format!("/{ns}/v2/media"), body);
        let told = (&made["title"]["raw"], &made["alt_text"], &made["post"]);
        assert_eq!(told, (&json!(title), &json!(alternative), &post), "{ns}: {made}");
    }
}

#[test]
fn addresses_that_clients_join_carelessly_are_found() {
    let server = Server::start();
    let get = |path: &str| server.send("GET", &format!("{}{path}", server.site), None, None, &[]);
    let posts = get("/cms-json/cms/v2/posts?_fields=id").text;
    for path in [
        "/cms-json//cms/v2/posts?_fields=id",
        "//cms-json/cms/v2/posts?_fields=id",
        "/index.php/cms-json/cms/v2/posts?_fields=id",
        "/?rest_route=//cms/v2/posts&_fields=id",
    ] {
        let answer = get(path);
        assert_eq!((answer.status, answer.text), (200, posts.clone()), "{path}");
    }
    for path in ["/index.php/cms-json", "/cms-json//", "//index.php//cms-json/"] {
        assert!(get(path).body["routes"].is_object(), "{path}");
    }
    assert_eq!(get("/cms-json/cms/v2//posts").code(), "rest_no_route");
    for (fields, expected) in [("name", json!(["name"])), ("name,_links", json!(["name", "_links"]))] {
        let index = get(&format!("/cms-json/?_fields={fields}")).body;
        assert_eq!(
            index.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>()).map(|keys| json!(keys)),
            Some(expected)
        );
    }
}

#[test]
fn credentials_may_lack_their_padding() {
    use base64::Engine as _;
    let server = Server::start();
    for login in ["ann", "anna", "annab"] {
        let (login, secret) = server.user(login, "author");
        let pair = base64::engine::general_purpose::STANDARD_NO_PAD.encode(format!("{login}:{secret}"));
        let header = format!("Basic {pair}");
        let url = format!("{}/cms/v2/users/me", server.rest);
        assert_eq!(server.send("GET", &url, None, None, &[("authorization", &header)]).status, 200, "{header}");
    }
}

#[test]
fn only_what_can_be_shown_as_a_picture_represents_a_record() {
    let server = wordpress();
    let picture = upload(&server, "a.png", "image/png", png(2, 2)).body["id"].clone();
    let file = upload(&server, "a.pdf", "application/pdf", b"%PDF-1.4\n%x\n".to_vec()).body["id"].clone();
    let post = make(&server, "/wp/v2/posts", json!({"title": "P", "status": "publish", "featured_media": file}));
    assert_eq!(post["featured_media"], 0);
    let route = format!("/wp/v2/posts/{}", post["id"]);
    for (sent, expected) in [(&picture, &picture), (&file, &json!(0))] {
        let answer = server.admin("POST", &route, Some(&json!({"featured_media": sent})));
        assert_eq!(&answer.body["featured_media"], expected, "{}", answer.text);
    }
}

#[test]
fn a_record_with_a_password_does_not_become_sticky_by_the_request_that_takes_it_away() {
    let server = wordpress();
    let body = json!({"title": "P", "status": "publish", "password": "x"});
    let route = format!("/wp/v2/posts/{}", make(&server, "/wp/v2/posts", body)["id"]);
    let refused = server.admin("POST", &route, Some(&json!({"password": "", "sticky": true})));
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_field"));
    assert_eq!(server.admin("POST", &route, Some(&json!({"password": ""}))).status, 200);
    assert_eq!(server.admin("POST", &route, Some(&json!({"sticky": true}))).body["sticky"], true);
}

#[test]
fn lists_by_slugs_without_slugs_have_their_own_order() {
    let server = wordpress();
    let make = |route: &str, body: Value| make(&server, &format!("/wp/v2/{route}"), body)["id"].clone();
    let [first, second, third] = [("Mango", 2), ("Apple", 3), ("Zebra", 1)].map(|(title, day)| {
        make("posts", json!({"title": title, "status": "publish", "date": format!("2020-01-0{day}T00:00:00")}))
    });
    let [m, a, z] = ["Mango", "Apple", "Zebra"].map(|name| make("tags", json!({"name": name})));
    let found = |query: &str| {
        let list = server.admin("GET", &format!("/wp/v2/{query}"), None);
        list.body.as_array().expect("a list").iter().map(|item| item["id"].clone()).collect::<Vec<_>>()
    };
    let these = format!("include={first},{second},{third}");
    for query in ["orderby=include_slugs", "orderby=include_slugs&order=asc", "orderby=include_slugs&slug="] {
        assert_eq!(found(&format!("posts?{these}&{query}")), [third.clone(), first.clone(), second.clone()], "{query}");
    }
    assert_eq!(found(&format!("posts?{these}&orderby=include&order=desc")), [first, second, third]);
    assert_eq!(found("tags?orderby=include_slugs&slug=zebra,mango,apple"), [z.clone(), m.clone(), a.clone()]);
    assert_eq!(
        found("tags?orderby=include_slugs&slug=zebra,mango,apple&order=desc"),
        [a.clone(), m.clone(), z.clone()]
    );
    assert_eq!(found(&format!("tags?orderby=include&include={z},{m},{a}&order=desc")), [a, m, z]);
    for name in ["zoe", "abe"] {
        server.user(name, "author");
    }
    let people = found("users?orderby=include_slugs");
    assert_eq!((people.clone(), people), (found("users?orderby=id"), found("users?orderby=include_slugs&order=desc")));
}

#[test]
fn lists_of_comments_say_who_may_write_one() {
    let server = wordpress();
    let post = make(&server, "/wp/v2/posts", json!({"title": "P", "status": "publish"}));
    let (subscriber, editor) = (server.user("sue", "subscriber"), server.user("eve", "editor"));
    let list = format!("/wp/v2/comments?post={}", post["id"]);
    for (method, user, expected) in [
        ("GET", None, "GET"),
        ("GET", Some(&subscriber), "GET"),
        ("GET", Some(&editor), "GET, POST"),
        ("OPTIONS", Some(&subscriber), "POST"),
    ] {
        let answer = server.ask(method, &list, user, None);
        assert_eq!(answer.header("allow"), Some(expected), "{method} {user:?}");
    }
    let closed = make(&server, "/wp/v2/posts", json!({"title": "C", "status": "publish", "comment_status": "closed"}));
    let list = format!("/wp/v2/comments?post={}", closed["id"]);
    assert_eq!(server.ask("GET", &list, Some(&editor), None).header("allow"), Some("GET, POST"));
    assert_eq!(server.ask("GET", "/wp/v2/comments", Some(&editor), None).header("allow"), Some("GET"));
}

#[test]
fn slugs_in_any_script_are_found_by_where() {
    let server = Server::start();
    let make = |route: &str, body: Value| make(&server, &format!("/cms/v2/{route}"), body)["id"].clone();
    let news = make("categories", json!({"name": "Новости"}));
    let other = make("categories", json!({"name": "Città"}));
    let post = make("posts", json!({"title": "Überraschung 東京", "status": "publish", "categories": [news]}));
    let found = |query: &str| {
        let list = server.get(&format!("/cms/v2/{query}"));
        let ids = list.body.as_array().unwrap_or_else(|| panic!("{query}: {}", list.text)).iter();
        ids.map(|item| item["id"].clone()).collect::<Vec<_>>()
    };
    for query in [
        "slug=новости",
        "where[slug]=новости",
        "where[slug]=Новости",
        "where[slug][eq]=новости",
        "where[slug][in]=новости,nothing",
        "where[slug][contains]=овост",
        "where[slug]=%25d0%25bd%25d0%25be%25d0%25b2%25d0%25be%25d1%2581%25d1%2582%25d0%25b8",
    ] {
        assert_eq!(found(&format!("categories?{query}")), std::slice::from_ref(&news), "{query}");
    }
    assert_eq!(found("categories?where[slug]=Città"), std::slice::from_ref(&other));
    assert!(!found("categories?where[slug][ne]=новости").contains(&news));
    assert!(!found("categories?where[slug][not_in]=новости,città").contains(&other));
    for query in ["where[slug]=Überraschung%20東京", "where[categories.slug]=Новости", "where[slug][contains]=東京"]
    {
        assert_eq!(found(&format!("posts?{query}")), std::slice::from_ref(&post), "{query}");
    }
    assert_eq!(
        found("posts?where[categories.slug][ne]=новости").len(),
        found("posts").len() - 1 - uncategorised(&server)
    );
    assert_eq!(found("posts?where[slug][in]="), found("posts"), "an empty list selects everything, as everywhere");
    assert_eq!(found("posts?where[categories.slug][in]="), found("posts"));
}

/// How many published posts have no category.
fn uncategorised(server: &Server) -> usize {
    let list = server.get("/cms/v2/posts?per_page=100&_fields=categories").body;
    list.as_array().expect("a list").iter().filter(|post| post["categories"] == json!([])).count()
}

#[test]
fn markup_of_authors_has_no_broken_references() {
    let server = wordpress();
    let author = server.user("art", "author");
    let content = |text: &str| {
        let body = json!({"title": "K", "content": text});
        server.ask("POST", "/wp/v2/posts", Some(&author), Some(&body)).body["content"]["raw"].clone()
    };
    assert_eq!(content("a&#0;b <B>c</B><SCRIPT>d</SCRIPT>"), "a&amp;#0;b <B>c</B>d");
    let post = make(&server, "/wp/v2/posts", json!({"title": "P", "status": "publish"}));
    let body = json!({"post": post["id"], "content": "<A HREF=\"http://example.org/\">x</A>"});
    let made = server.ask("POST", "/wp/v2/comments", Some(&author), Some(&body));
    let link = "<p><a href=\"http://example.org/\" rel=\"nofollow ugc\">x</a></p>\n";
    assert_eq!(made.body["content"]["rendered"], link, "{}", made.text);
}

#[test]
fn meta_values_are_no_text_under_wordpress() {
    let server = wordpress();
    for (route, body) in [
        ("posts", json!({"title": "T"})),
        ("tags", json!({"name": "T"})),
        ("users", json!({"username": "tom", "email": "tom@example.org", "password": "long enough"})),
    ] {
        for (meta, status) in [(json!(""), 400), (json!("x"), 400), (json!([]), 201)] {
            let mut body = body.clone();
            body["meta"] = meta.clone();
            let answer = server.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
            assert_eq!(answer.status, status, "{route} {meta}: {}", answer.text);
        }
    }
}

#[test]
fn a_pattern_within_a_record_is_a_part_of_it() {
    let server = wordpress();
    let pattern = |content: &str| {
        make(&server, "/wp/v2/blocks", json!({"title": "B", "content": content, "status": "publish"}))["id"].clone()
    };
    let shown = |reference: &Value| {
        let content = format!("<!-- wp:block {{\"ref\":{reference}}} /-->");
        let post = make(&server, "/wp/v2/posts", json!({"title": "P", "content": content, "status": "publish"}));
        post["content"]["rendered"].clone()
    };
    assert_eq!(shown(&pattern("one\n\ntwo & three")), "one\n\ntwo &#038; three", "no paragraphs of its own");
    let itself = pattern("x");
    let content = format!("<!-- wp:html --><i>s</i><!-- /wp:html --><!-- wp:block {{\"ref\":{itself}}} /-->");
    server.admin("POST", &format!("/wp/v2/blocks/{itself}"), Some(&json!({"content": content})));
    assert_eq!(shown(&itself), "<i>s</i>", "a pattern in itself is shown once");
}

#[test]
fn an_empty_title_within_an_object_is_none_to_wordpress_and_a_title_to_the_document() {
    let server = wordpress();
    for resource in ["posts", "pages", "blocks", "navigation", "media"] {
        let made = match resource {
            "media" => upload(&server, "a.png", "image/png", png(4, 4)).body,
            _ => {
                make(&server, &format!("/wp/v2/{resource}"), json!({"title": "T", "content": "c", "status": "publish"}))
            }
        };
        let route = format!("/wp/v2/{resource}/{}", made["id"]);
        let titled = |title: Value| {
            let answer = server.admin("POST", &route, Some(&json!({"title": title})));
            assert_eq!(answer.status, 200, "{resource}: {}", answer.text);
            answer.body["title"]["raw"].as_str().expect("text").to_owned()
        };
        assert_eq!(titled(json!({"raw": "Kept"})), "Kept");
        for title in [
            json!({"raw": ""}),
            json!({"raw": "", "rendered": "x"}),
            json!({"raw": 0}),
            json!({"raw": "0"}),
            json!({"raw": false}),
            json!({"raw": null}),
            json!({}),
        ] {
            assert_eq!(titled(title.clone()), "Kept", "{resource} {title}");
        }
        assert_eq!(titled(json!({"raw": " x "})), "x", "{resource}");
        assert_eq!(titled(json!("")), "", "{resource}: a text by itself empties it");
    }
    let post = make(&server, "/wp/v2/posts", json!({"title": "T", "content": "c", "excerpt": "e"}));
    let route = format!("/wp/v2/posts/{}", post["id"]);
    let texts = json!({"content": {"raw": ""}, "excerpt": {"raw": ""}});
    assert_eq!(raw(&server.admin("POST", &route, Some(&texts)).body), ["T", "", ""], "other texts are emptied");
    let strict = Server::start();
    let post = make(&strict, "/cms/v2/posts", json!({"title": {"raw": "T"}, "content": {"raw": "c"}}));
    let route = format!("/cms/v2/posts/{}", post["id"]);
    assert_eq!(raw(&strict.admin("POST", &route, Some(&json!({"title": {"raw": ""}}))).body), ["", "c", ""]);
}

#[test]
fn meta_is_an_object_or_to_wordpress_a_list_whose_places_are_no_keys() {
    let server = wordpress();
    for route in ["posts", "pages", "tags", "media"] {
        let made = match route {
            "media" => upload(&server, "a.png", "image/png", png(4, 4)).body,
            _ => make(&server, &format!("/wp/v2/{route}"), json!({"title": "T", "name": "N", "content": "c"})),
        };
        let route = format!("/wp/v2/{route}/{}", made["id"]);
        for meta in
            [json!([]), json!([1]), json!([[]]), json!(["a"]), json!([null]), json!({"0": 1}), json!({}), json!(null)]
        {
            let answer = server.admin("POST", &route, Some(&json!({"meta": meta})));
            assert_eq!((answer.status, &answer.body["meta"]), (200, &made["meta"]), "{route} {meta}: {}", answer.text);
        }
        for meta in [json!(""), json!("x"), json!(0), json!(false), json!(true)] {
            let answer = server.admin("POST", &route, Some(&json!({"meta": meta})));
            assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{route} {meta}");
        }
    }
    let strict = Server::start();
    let refused = strict.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "T"}, "meta": [1]})));
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"));
}

#[test]
fn slugs_that_lead_elsewhere_get_the_numbers_of_the_slug_itself() {
    let server = wordpress();
    let made = |route: &str, slugs: &[&str]| {
        let one = |slug: &&str| {
            let body = json!({"title": "T", "content": "c", "status": "publish", "slug": slug});
            make(&server, &format!("/wp/v2/{route}"), body)["slug"].as_str().expect("text").to_owned()
        };
        slugs.iter().map(one).collect::<Vec<_>>()
    };
    for (slug, in_posts) in
        [("1", true), ("12", true), ("31", true), ("007", true), ("feed", true), ("embed", true), ("32", false)]
    {
        let numbered = [2, 3, 4].map(|n| format!("{slug}-{n}"));
        let plain = [slug.to_owned(), format!("{slug}-2"), format!("{slug}-3")];
        assert_eq!(made("posts", &[slug; 3]), if in_posts { &numbered } else { &plain }, "posts {slug}");
        // The number of a page of the record above.
        assert_eq!(made("pages", &[slug; 3]), numbered, "pages {slug}");
    }
    assert_eq!(made("pages", &["page2", "page", "pages2"]), ["page2-2", "page", "pages2"]);
    assert_eq!(made("posts", &["page2", "3-2", "3", "3"]), ["page2", "3-2", "3-3", "3-4"]);
    let route = format!("/wp/v2/posts/{}", server.get("/wp/v2/posts?slug=3-3").body[0]["id"]);
    let same = server.admin("POST", &route, Some(&json!({"slug": "3"})));
    assert_eq!(same.body["slug"], "3-3", "it keeps its own number");
}
