//! How often a request waits for a PostgreSQL server, once its statements are prepared. docs/scaling.md has the numbers.

use super::relay::Relay;
use super::server::Server;
use serde_json::{Value, json};

/// How often each kind of request is sent, to records that nothing has read before.
const ROUNDS: usize = 10;

fn id(answer: &super::server::Answer) -> i64 {
    assert!(answer.status < 300, "{}", answer.text);
    answer.body["id"].as_i64().expect("an id")
}

struct Site {
    node: Server,
    relay: Relay,
    posts: Vec<i64>,
    tags: Vec<i64>,
    comments: Vec<i64>,
    /// It goes last.
    _first: Server,
}

fn site() -> Option<Site> {
    let first = Server::start();
    let relay = Relay::before(&first.storage())?;
    let made = |path: &str, body: &Value| id(&first.admin("POST", path, Some(body)));
    let count = 4 * ROUNDS;
    let tags: Vec<i64> = (0..count).map(|n| made("/cms/v2/tags", &json!({"name": format!("Tag {n}")}))).collect();
    let post = |n: usize| {
        json!({"title": {"raw": format!("Post {n}")}, "content": {"raw": "Some text."}, "status": "publish",
            "tags": [tags[n], tags[n / 2]], "comment_status": "open"})
    };
    let posts: Vec<i64> = (0..count).map(|n| made("/cms/v2/posts", &post(n))).collect();
    let comment = |n: usize| json!({"post": posts[n], "content": {"raw": format!("Comment {n}")}});
    let comments = (0..ROUNDS).map(|n| made("/cms/v2/comments", &comment(n))).collect();
    // Whatever is asked for is read.
    let node = first.beside_with(&[&relay.storage, "cache.responses=0B", "cache.documents=0B"]);
    Some(Site { node, relay, posts, tags, comments, _first: first })
}

/// The least that a request of a kind takes. The first ones prepare statements, and the scheduler reads meanwhile.
fn least(site: &Site, send: &dyn Fn(usize)) -> u64 {
    let trips = |n| {
        let before = site.relay.trips();
        send(n);
        site.relay.trips() - before
    };
    (0..ROUNDS).map(trips).min().unwrap_or(0)
}

#[test]
fn requests_wait_for_the_database_as_often_as_documented() {
    let Some(site) = site() else { return };
    let get = |path: String| {
        let answer = site.node.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    };
    let write = |path: String, body: Value| {
        let answer = site.node.admin("POST", &path, Some(&body));
        assert!(answer.status < 300, "{path}: {}", answer.text);
    };
    let (posts, tags) = (&site.posts, &site.tags);
    type Send<'s> = Box<dyn Fn(usize) + 's>;
    let kinds: [(&str, u64, Send<'_>); 12] = [
        ("item", 1, Box::new(|n| get(format!("/cms/v2/posts/{}", posts[n])))),
        (
            "item by an editor",
            1,
            Box::new(|n| {
                let path = format!("/cms/v2/posts/{}?context=edit", posts[n + ROUNDS]);
                assert_eq!(site.node.admin("GET", &path, None).status, 200);
            }),
        ),
        ("item with _embed", 5, Box::new(|n| get(format!("/cms/v2/posts/{}?_embed=1", posts[n + 2 * ROUNDS])))),
        ("term", 1, Box::new(|n| get(format!("/cms/v2/tags/{}", tags[n])))),
        ("comment", 6, Box::new(|n| get(format!("/cms/v2/comments/{}", site.comments[n])))),
        ("list of ten", 2, Box::new(|n| get(format!("/cms/v2/posts?per_page=10&offset={n}")))),
        ("list of ten with _embed", 6, Box::new(|n| get(format!("/cms/v2/posts?_embed=1&offset={n}&order=asc")))),
        ("list of a tag", 2, Box::new(|n| get(format!("/cms/v2/posts?tags={}", tags[n])))),
        ("search", 2, Box::new(|n| get(format!("/cms/v2/posts?search=post+{n}")))),
        ("list of terms", 2, Box::new(|n| get(format!("/cms/v2/tags?per_page=10&offset={n}")))),
        (
            "create",
            4,
            Box::new(|n| {
                let body = json!({"title": {"raw": format!("New {n}")}, "content": {"raw": "Text"}, "status": "publish",
                "slug": format!("new-{n}"), "tags": [tags[n]]});
                write("/cms/v2/posts".into(), body);
            }),
        ),
        (
            "update",
            4,
            Box::new(|n| {
                write(
                    format!("/cms/v2/posts/{}", posts[n + 3 * ROUNDS]),
                    json!({"title": {"raw": format!("Newer {n}")}}),
                );
            }),
        ),
    ];
    let found: Vec<(&str, u64, u64)> =
        kinds.iter().map(|(name, most, send)| (*name, *most, least(&site, send))).collect();
    println!("{found:?}");
    for (name, most, trips) in &found {
        assert!(trips <= most && *trips > 0, "{name}: {trips} round trips, at most {most}: {found:?}");
    }
}
