//! Documents whose content shows other rows are cached until one of those rows is written.

use super::free_port::free_address;
use super::server::Server;
use serde_json::{Value, json};

/// One part for each way of reading other rows; `PIECE` is the id of a pattern, `PICTURE` that of a picture.
const PARTS: [&str; 17] = [
    "<!-- wp:latest-posts {\"displayPostDate\":true,\"displayPostContent\":true} /-->",
    "<!-- wp:latest-posts {\"orderBy\":\"title\",\"order\":\"asc\",\"postsToShow\":3} /-->",
    "<!-- wp:archives {\"showPostCounts\":true} /-->",
    "<!-- wp:categories {\"showPostCounts\":true} /-->",
    "<!-- wp:tag-cloud {\"showTagCounts\":true,\"taxonomy\":\"category\"} /-->",
    "<!-- wp:page-list /-->",
    "<!-- wp:latest-comments /-->",
    "<!-- wp:block {\"ref\":PIECE} /-->",
    "<!-- wp:query {\"query\":{\"perPage\":4}} --><div class=\"wp-block-query\"><!-- wp:post-template --><!-- wp:post-title /-->\
     <!-- wp:post-excerpt /--><!-- wp:post-terms {\"term\":\"category\"} /--><!-- wp:post-author /--><!-- /wp:post-template -->\
     <!-- wp:query-no-results --><p>Nothing.</p><!-- /wp:query-no-results --></div><!-- /wp:query -->",
    "<!-- wp:query {\"query\":{\"author\":\"2\"}} --><div class=\"wp-block-query\"><!-- wp:post-template --><!-- wp:post-date /-->\
     <!-- /wp:post-template --></div><!-- /wp:query -->",
    "<!-- wp:site-title /-->",
    "<!-- wp:site-tagline /-->",
    "<!-- wp:post-title /--><!-- wp:post-date /--><!-- wp:post-author /-->",
    "<!-- wp:navigation --><!-- wp:page-list /--><!-- /wp:navigation -->",
    "[gallery]",
    "[gallery ids=\"PICTURE\"]",
    "<p>No part.</p>",
];

struct Site {
    server: Server,
    metrics: String,
    posts: Vec<i64>,
    terms: Vec<i64>,
    pages: Vec<i64>,
    piece: i64,
    picture: i64,
}

/// A small generator of numbers.
struct Roll(u64);

impl Roll {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

impl Site {
    fn start() -> Site {
        Site::with("true")
    }

    /// `across`: whether numbers of ids go on through all documents of a response.
    fn with(across: &str) -> Site {
        let port = free_address().port();
        let listen = format!("server.admin_listen=127.0.0.1:{port}");
        let across = format!("dialect.numbers_across_documents={across}");
        let server = Server::with(&["site.prefix=wp", "cache.responses=false", &listen, &across]);
        server.user("writer", "author");
        let metrics = format!("http://127.0.0.1:{port}/metrics");
        let mut site = Site { server, metrics, posts: vec![], terms: vec![], pages: vec![], piece: 0, picture: 0 };
        site.terms = (0..3).map(|n| site.make("categories", json!({"name": format!("Topic {n}")}))).collect();
        site.posts = (0..6)
            .map(|n| {
                let date = format!("2026-0{}-01T00:00:00", n + 1);
                let body = json!({"title": format!("Word {n}"), "content": "word", "status": "publish", "date": date,
                    "categories": [site.terms[n % 3]]});
                site.make("posts", body)
            })
            .collect();
        site.piece = site.make("blocks", json!({"title": "Piece", "content": "<p>A piece.</p>", "status": "publish"}));
        let url = format!("{}/wp/v2/media", site.server.rest);
        let gif =
            b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
                .to_vec();
        let name = [("content-disposition", "attachment; filename=dot.gif")];
        let sent = site.server.send("POST", &url, Some(&site.server.admin), Some(("image/gif", gif)), &name);
        site.picture = sent.body["id"].as_i64().unwrap_or_else(|| panic!("{}", sent.text));
        site.pages = PARTS
            .iter()
            .map(|part| {
                let part = part.replace("PIECE", &site.piece.to_string()).replace("PICTURE", &site.picture.to_string());
                let body =
                    json!({"title": "Page", "content": part, "status": "publish", "featured_media": site.picture});
                site.make("pages", body)
            })
            .collect();
        site
    }

    fn make(&self, route: &str, body: Value) -> i64 {
        self.write("POST", route, &body)["id"].as_i64().expect("an id")
    }

    fn write(&self, method: &str, route: &str, body: &Value) -> Value {
        let answer = self.server.admin(method, &format!("/wp/v2/{route}"), Some(body));
        assert!(answer.status < 300, "{method} {route} {body}: {}", answer.text);
        answer.body
    }

    /// Members of a document as the cache may have it, whole and selected, and rendered for this request: what is in an
    /// envelope is not cached.
    fn cached_and_fresh(&self, route: &str) -> ([Value; 2], Value) {
        let shown = |query: &str| self.server.get(&format!("/wp/v2/{route}{query}")).body;
        let members = |document: &Value| {
            json!([document["content"], document["title"], document["_links"], document["link"], document["code"]])
        };
        let fields = "_fields=content,title,_links,link";
        let cached = [members(&shown("")), members(&shown(&format!("?{fields}")))];
        (cached, members(&shown(&format!("?_envelope=1&{fields}"))["body"]))
    }

    /// Documents that came from the cache.
    fn hits(&self) -> u64 {
        let text = self.server.send("GET", &self.metrics, None, None, &[]).text;
        let line = text.lines().find(|line| line.starts_with("cms_server_cache_hits_total{cache=\"documents\"} "));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{text}"))
    }

    fn change(&self, round: usize, roll: &mut Roll) -> (&'static str, Value) {
        let post = format!("posts/{}", roll.one_of(&self.posts));
        let term = roll.one_of(&self.terms);
        let status = roll.one_of(&["publish", "publish", "draft", "private"]);
        let text = format!("Word {round}");
        match round % 14 {
            0 | 7 => ("title", self.write("POST", &post, &json!({"title": text}))),
            1 => ("content", self.write("POST", &post, &json!({"content": text}))),
            2 | 8 => ("status", self.write("POST", &post, &json!({"status": status}))),
            3 => (
                "date",
                self.write("POST", &post, &json!({"date": format!("2026-0{}-11T00:00:00", 1 + roll.below(9))})),
            ),
            4 => ("terms", self.write("POST", &post, &json!({"categories": [term]}))),
            5 => ("author", self.write("POST", &post, &json!({"author": 1 + roll.below(2)}))),
            6 => ("piece", self.write("POST", &format!("blocks/{}", self.piece), &json!({"content": text}))),
            9 => ("term", self.write("POST", &format!("categories/{term}"), &json!({"name": text}))),
            10 => {
                let body = json!({"post": self.posts[0], "content": text, "status": "approve"});
                ("comment", self.write("POST", "comments", &body))
            }
            11 => {
                let page = roll.one_of(&self.pages);
                (
                    "page",
                    self.write("POST", &format!("pages/{page}"), &json!({"title": text, "menu_order": roll.below(5)})),
                )
            }
            12 => {
                let post = roll.one_of(&self.pages);
                let body = json!({"caption": text, "alt_text": text, "post": post});
                ("picture", self.write("POST", &format!("media/{}", self.picture), &body))
            }
            _ => match roll.below(3) {
                // A picture below a private page is private.
                0 => {
                    let page = format!("pages/{}", self.pages[0]);
                    self.write("POST", &format!("media/{}", self.picture), &json!({"post": self.pages[0]}));
                    ("privacy", self.write("POST", &page, &json!({"status": (["private", "publish"][round / 14 % 2])})))
                }
                1 => ("settings", self.write("POST", "settings", &json!({"title": text, "description": text}))),
                _ => ("user", self.write("POST", "users/1", &json!({"name": text}))),
            },
        }
    }
}

#[test]
fn parts_that_show_other_rows_are_never_stale() {
    let site = Site::start();
    let mut roll = Roll(11);
    for round in 0..42 {
        let (what, _) = site.change(round, &mut roll);
        let pages = site.pages.iter().zip(PARTS).map(|(page, part)| (format!("pages/{page}"), part));
        for (route, part) in pages.chain([(format!("media/{}", site.picture), "a picture")]) {
            let (cached, fresh) = site.cached_and_fresh(&route);
            for (cached, members) in cached.iter().zip(["all", "selected"]) {
                assert_eq!(*cached, fresh, "round {round}, after {what}: {part}, {members} members");
            }
        }
    }
}

#[test]
fn parts_that_show_other_rows_are_cached_until_one_is_written() {
    // Queries and galleries have numbers in their ids, which may go on through all documents of a response.
    for (across, all) in [("false", PARTS.len() as u64), ("true", PARTS.len() as u64 - 3)] {
        let site = Site::with(across);
        let list = format!(
            "/wp/v2/pages?per_page=100&include={}",
            site.pages.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
        );
        let found = || {
            let before = site.hits();
            assert_eq!(site.server.get(&list).body.as_array().map(Vec::len), Some(PARTS.len()));
            site.hits() - before
        };
        found();
        assert_eq!(found(), all, "numbers across documents: {across}");
        // A text that no part shows.
        site.write("POST", &format!("posts/{}", site.posts[0]), &json!({"meta": {}, "comment_status": "closed"}));
        let after = found();
        assert!(after >= 8, "{after} of {all} documents show no row of the kind");
        assert_eq!(found(), all, "numbers across documents: {across}");
        // Other callers may see other pictures: they have these documents rendered for themselves.
        let before = site.hits();
        site.server.admin("GET", &list, None);
        assert_eq!(site.hits() - before, 0);
    }
}

#[test]
fn selected_members_are_cached_for_each_selection() {
    let site = Site::start();
    let ids = site.posts.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let list =
        |fields: &str| site.server.get(&format!("/wp/v2/posts?include={ids}&orderby=id&order=asc&_fields={fields}"));
    let one = |fields: &str| site.server.get(&format!("/wp/v2/posts/{}?_fields={fields}", site.posts[0]));
    let fresh = |fields: &str| {
        let path = format!("/wp/v2/posts?include={ids}&orderby=id&order=asc&_envelope=1&_fields={fields}");
        site.server.get(&path).body["body"].clone()
    };
    let all = site.posts.len() as u64;
    for fields in
        ["id", "id,title", "title.rendered", "title.rendered,id", "_links", "_links.self", "content", "nothing"]
    {
        let before = site.hits();
        assert_eq!(list(fields).body, fresh(fields), "{fields}");
        assert_eq!(site.hits() - before, 0, "{fields}");
        assert_eq!(list(fields).body, fresh(fields), "{fields}");
        assert_eq!(site.hits() - before, all, "{fields}");
    }
    // The links of a lone document are there whole or not at all.
    assert_eq!(list("_links.self").body[0]["_links"].as_object().map(|links| links.len()), Some(1));
    assert!(one("_links.self").body["_links"].as_object().is_some_and(|links| links.len() > 1));
    assert_eq!(one("_links.self").text, one("_links.self").text);
    site.write("POST", &format!("posts/{}", site.posts[0]), &json!({"title": "Another"}));
    assert_eq!(list("title.rendered").body[0], json!({"title": {"rendered": "Another"}}));
    assert_eq!(one("title").body["title"]["rendered"], "Another");
    // Values that only some callers see are in no cached text.
    let edited = site.server.admin("GET", &format!("/wp/v2/posts?include={ids}&context=edit&_fields=title.raw"), None);
    assert!(edited.body[0]["title"]["raw"].is_string(), "{}", edited.text);
    assert_eq!(list("title.raw").body[0], json!({"title": []}));
}

#[test]
fn classes_name_terms_by_slug_and_follow_it() {
    let site = Site::start();
    let tag = |slug: &str| site.make("tags", json!({"name": format!("Named {slug}"), "slug": slug}));
    let tags = ["blue", "77", "1e5", "привет", "-9-", "a_b-c"].map(tag);
    let body =
        json!({"title": "T", "status": "publish", "format": "aside", "tags": tags, "categories": [site.terms[0]]});
    let post = site.make("posts", body);
    let classes = || -> Vec<String> {
        let list = site.server.get(&format!("/wp/v2/posts/{post}?_fields=class_list")).body;
        let edited = site.server.admin("GET", &format!("/wp/v2/posts/{post}?_fields=class_list"), None).body;
        assert_eq!(list["class_list"], edited["class_list"]);
        list["class_list"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let has = |class: &str| classes().iter().any(|one| one == class);
    for class in ["tag-blue", "tag-a_b-c", "category-topic-0", "post_format-post-format-aside", "format-aside"] {
        assert!(has(class), "{class}: {:?}", classes());
    }
    // A number, dashes around one, and what has no letters of a class would say nothing.
    for id in &tags[1..5] {
        assert!(has(&format!("tag-{id}")), "{id}: {:?}", classes());
    }
    let before = site.hits();
    classes();
    assert_eq!(site.hits() - before, 2);
    // A change of a term beside its slug leaves the documents where they are.
    site.make("posts", json!({"title": "Other", "status": "publish", "tags": [tags[0]]}));
    site.write("POST", &format!("tags/{}", tags[0]), &json!({"description": "Sky"}));
    let before = site.hits();
    classes();
    assert_eq!(site.hits() - before, 2);
    site.write("POST", &format!("tags/{}", tags[0]), &json!({"slug": "red"}));
    assert!(has("tag-red") && !has("tag-blue"), "{:?}", classes());
    site.write("POST", &format!("categories/{}", site.terms[0]), &json!({"slug": "theme"}));
    assert!(has("category-theme"), "{:?}", classes());
}
