//! Content types of one's own as a bench needs them: the events of `docs/content-types.md`, which share the table of posts, and
//! articles, which have a table of their own.

use super::{Program, answer, measured, post};
use serde_json::{Value, json};
use std::cell::Cell;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Topics of articles, venues of events, categories of posts.
const GROUPS: usize = 20;

/// How long a kind of request is measured at most.
const LONGEST: Duration = Duration::from_secs(2);

/// The declarations of articles.
const ARTICLES: &str = r#"
[namespaces.press]
path = "press/v1"

[capabilities.press]
read = ""
create = "edit_others_posts"
edit = "edit_others_posts"
delete = "edit_others_posts"

[resources.topics]
extends = "plain"
namespace = "press"
schema = "schemas/topic.json"
kind = "topic"
capabilities = "press"

[resources.articles]
extends = "plain"
namespace = "press"
schema = "schemas/article.json"
kind = "article"
capabilities = "press"
sort = { published = "published", title = "title" }
search = { title = "title", content = "content" }

[resources.articles.endpoints.list]
orderby = { enum = ["id", "include", "published", "title"], default = "published" }
order = { default = "desc" }
state = { description = "Only articles in these states.", type = "array", items = { type = "string", enum = ["draft", "publish"] }, default = ["publish"], x-filter = { column = "state", op = "in" } }
topic = { description = "Only articles with this topic.", type = "array", items = { type = "integer" }, x-filter = { column = "topics", op = "in" } }
"#;

/// A type, and where its list is.
pub struct OwnType {
    pub name: &'static str,
    path: &'static str,
    /// The argument that filters by a group.
    group: &'static str,
    item: fn(usize, Vec<i64>, &str) -> Value,
}

/// Posts, and types of one's own.
pub const TYPES: [OwnType; 3] = [
    OwnType {
        name: "posts",
        path: "cms/v2/posts",
        group: "categories",
        item: |n, groups, text| {
            json!({"title": {"raw": title(n)}, "content": {"raw": text}, "status": "publish", "date": time(n),
                "categories": groups})
        },
    },
    OwnType {
        name: "articles",
        path: "press/v1/articles",
        group: "topic",
        item: |n, groups, text| json!({"title": title(n), "content": text, "state": "publish", "published": time(n), "topics": groups}),
    },
    OwnType {
        name: "events",
        path: "agenda/v1/events",
        group: "venue",
        item: |n, groups, text| {
            json!({"title": title(n), "content": {"raw": text}, "status": "publish", "starts": time(n),
                "price": n % 50, "venues": groups})
        },
    },
];

/// Kinds of requests to a list.
pub const LISTS: [&str; 6] =
    ["list of 10", "with _embed", "of a group, by title", "search", "page in the middle", "last page"];

impl OwnType {
    /// The path of a kind of request, with this number of items.
    fn list(&self, kind: &str, size: usize, group: i64) -> String {
        let pages = size.div_ceil(10);
        let query = match kind {
            "with _embed" => "_embed=1".to_owned(),
            "of a group, by title" => format!("{}={group}&orderby=title&order=asc", self.group),
            "search" => "search=quagga".to_owned(),
            "page in the middle" => format!("page={}", pages.div_ceil(2)),
            "last page" => format!("page={pages}"),
            _ => String::new(),
        };
        format!("/cms-json/{}?{query}", self.path)
    }

    /// Makes groups and items; the ids of the groups.
    pub fn fill(&self, server: &Program, size: usize) -> Vec<i64> {
        let groups = match self.name {
            "posts" => "cms/v2/categories",
            "articles" => "press/v1/topics",
            _ => "agenda/v1/venues",
        };
        let made = made_groups(server, groups);
        let (authorization, next, item) = (server.authorization.clone(), Cell::new(0_usize), self.item);
        let (path, ids) = (format!("/cms-json/{}", self.path), made.clone());
        measured(&server.address, 64, 201, move |_, _| {
            let n = next.replace(next.get() + 1);
            let rare = if n.is_multiple_of((size / 100).max(1)) { "quagga " } else { "" };
            let text = format!("<p>{rare}{}</p>", "Seagulls stand on the pier and wait. ".repeat(80));
            let groups = vec![ids[n % GROUPS], ids[(n / GROUPS) % GROUPS]];
            (n < size).then(|| post(&authorization, &path, &item(n, groups, &text)))
        });
        made
    }

    /// Microseconds of the server's processor time for each request of a kind, and the requests a second.
    pub fn cost(&self, server: &Program, kind: &str, size: usize, groups: &[i64]) -> (f64, f64) {
        let request = |n: usize| {
            let path = self.list(kind, size, groups[n % GROUPS]);
            format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes()
        };
        let requests: Vec<Vec<u8>> = (0..GROUPS).map(request).collect();
        let round = |longest: Duration| {
            let (requests, until) = (requests.clone(), Instant::now() + longest);
            measured(&server.address, 16, 200, move |c, n| {
                (Instant::now() < until).then(|| requests[(c + n) % GROUPS].clone())
            })
        };
        round(LONGEST / 8);
        let before = server.cpu();
        let (rate, times) = round(LONGEST);
        ((server.cpu() - before) * 1e6 / times.len() as f64, rate)
    }
}

fn made_groups(server: &Program, path: &str) -> Vec<i64> {
    let mut socket = TcpStream::connect(&server.address).expect("a connection");
    let mut group = |n: usize| {
        use std::io::Write;
        let body = json!({"name": format!("Group {n}")});
        socket.write_all(&post(&server.authorization, &format!("/cms-json/{path}"), &body)).expect("a request");
        let mut buffer = Vec::new();
        let (status, start) = answer(&mut socket, &mut buffer);
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&buffer));
        let made: Value = serde_json::from_slice(&buffer[start..]).expect("JSON");
        made["id"].as_i64().expect("an id")
    };
    (0..GROUPS).map(&mut group).collect()
}

fn title(n: usize) -> String {
    // Neighbours in time are no neighbours by title.
    format!("Item {:06}", n * 7919 % 1_000_003)
}

/// Twenty minutes after the one before.
fn time(n: usize) -> String {
    let (minute, day) = (n * 20 % 1440, n / 72);
    let (year, month, day) = (1980 + day / 336, 1 + day / 28 % 12, 1 + day % 28);
    format!("{year}-{month:02}-{day:02}T{:02}:{:02}:00", minute / 60, minute % 60)
}

/// Writes the declarations of both types into a folder.
pub fn declare(folder: &Path) {
    let program = env!("CARGO_BIN_EXE_cms-server");
    let made = Command::new(program).args(["init", folder.to_str().expect("a path")]).output().expect("it ends");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let page = include_str!("../../docs/content-types.md");
    let mut blocks = page.split("\n```").skip(1).step_by(2);
    let mut block = |kind: &str| {
        let text = blocks.find_map(|block| block.strip_prefix(kind)).expect("the page has it");
        text.trim_start().to_owned()
    };
    let (venue, event, site) = (block("json\n"), block("json\n"), block("toml\n"));
    let text = |more: Value| {
        let mut doc = json!({"type": "string", "description": "Text."});
        doc.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        doc
    };
    let id = json!({"type": "integer", "description": "Id.", "readonly": true, "context": ["view", "edit", "embed"]});
    let topic = json!({"title": "topic", "type": "object", "properties": {
        "id": id, "name": text(json!({"context": ["view", "edit", "embed"]}))
    }});
    let article = json!({"title": "article", "type": "object", "properties": {
        "id": id,
        "title": text(json!({"x-write": "text_field"})),
        "content": text(json!({"x-write": "html"})),
        "state": text(json!({"enum": ["draft", "publish"], "default": "draft", "x-index": true})),
        "published": text(json!({"format": "date-time", "x-index": true})),
        "topics": {"type": "array", "description": "Topics.", "items": {"type": "integer"},
            "x-relation": {"to": "topics", "embeddable": true}}
    }});
    let files = [
        ("schemas/venue.json", venue),
        ("schemas/event.json", event),
        ("schemas/topic.json", topic.to_string()),
        ("schemas/article.json", article.to_string()),
        ("site.toml", format!("{site}\n{ARTICLES}")),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file");
    }
}
