//! Markup that authors without the right to write any HTML try to get into what readers see.

use super::html::active;
use crate::server::Server;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Values that leave an attribute, a tag, a comment or a text where nothing escapes them.
const HOSTILE: [&str; 8] = [
    "\" onmouseover=alert(1) x=\"",
    "' onfocus='alert(1)' autofocus x='",
    "\"><img src=x onerror=alert(1)>",
    "'><script>alert(1)</script>",
    "--><svg onload=alert(1)>",
    "javascript:alert(1)",
    "[embed]/onmouseover=alert(1)//[/embed]",
    "&quot; onmouseover=alert(1) &#34;&#x22;&lt;script&gt;",
];

fn publish(server: &Server, author: &(String, String), body: &Value) -> Value {
    let made = server.ask("POST", "/wp/v2/posts", Some(author), Some(body));
    assert_eq!(made.status, 201, "{}", made.text);
    server.get(&format!("/wp/v2/posts/{}", made.body["id"])).body
}

/// Nothing that a browser runs; a form is what the search block is.
fn is_harmless(shown: &Value, sent: &str) {
    for field in ["title", "content", "excerpt"] {
        let html = shown[field]["rendered"].as_str().unwrap_or_else(|| panic!("{field} of {shown}"));
        let found: Vec<String> = active(html).into_iter().filter(|what| what != "element form").collect();
        let some = |text: &str| text.chars().take(2_000).collect::<String>();
        assert!(found.is_empty(), "{found:?}\nsent {}\nshown {}", some(sent), some(html));
    }
}

#[test]
fn shortcodes_count_between_tags_only() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    for content in [
        "<b title=\"[embed]/onmouseover=alert(1)//[/embed]\">x</b>",
        "<b title='[embed]/onmouseover=alert(1)//[/embed]'>x</b>",
        "<b title=\"[embed]/onfocus=alert(1) tabindex=1 autofocus //[/embed]\">x</b>",
        "<img src=x alt=\"[embed] onerror=alert(1) //[/embed]\">",
        "<a href=\"http://x/[embed]\" title=\"[/embed] onmouseover=alert(1) \">x</a>",
        "<i class=\"[gallery\" title=\"] onmouseover=alert(1) \">x</i>",
        "[embed]x<b title=\"[/embed] onmouseover=alert(1) \">y</b>",
        "[caption id='x\" onmouseover=alert(1) \"' width=\"5\"]<img src=\"x\"> y[/caption]",
        "[caption width=\"5\" caption='<img src=x onerror=alert(1)>']<img src=\"x\">[/caption]",
        "[caption width=\"5\" caption='&lt;img src=x onerror=alert(1)&gt;']<img src=\"x\">[/caption]",
        "[caption align='\" onmouseover=\"alert(1)' class='\" onmouseover=\"alert(1)' width=\"5\"]<img src=\"x\">y[/caption]",
        "[audio src='x.mp3\" onerror=\"alert(1)']",
        "[video mp4=\"javascript:alert(1)//.mp4\"]",
        "[embed]javascript:alert(1)[/embed]",
        "<!-- wp:paragraph --><p title=\"[embed]/onmouseover=alert(1)//[/embed]\">x</p><!-- /wp:paragraph -->",
    ] {
        is_harmless(
            &publish(
                &server,
                &author,
                &json!({"content": content, "title": content, "excerpt": content, "status": "publish"}),
            ),
            content,
        );
    }
    let shown = publish(
        &server,
        &author,
        &json!({"content": "<p>[embed]http://example.org/a[/embed]</p>", "status": "publish"}),
    );
    let html = shown["content"]["rendered"].as_str().expect("text");
    assert!(
        html.contains("<a href=\"http://example.org/a\">http://example.org/a</a>"),
        "between tags it counts: {html}"
    );
}

#[test]
fn shortcodes_in_the_texts_of_a_file_stay_text() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    let pixel: &[u8] =
        b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    let headers = [("content-disposition", "attachment; filename=\"p.gif\"")];
    let url = format!("{}/wp/v2/media", server.rest);
    let made = server.send("POST", &url, Some(&author), Some(("image/gif", pixel.to_vec())), &headers);
    assert_eq!(made.status, 201, "{}", made.text);
    for hostile in HOSTILE {
        let route = format!("/wp/v2/media/{}", made.body["id"]);
        let body = json!({"alt_text": hostile, "caption": hostile, "description": hostile, "title": hostile});
        let changed = server.ask("POST", &route, Some(&author), Some(&body));
        assert_eq!(changed.status, 200, "{}", changed.text);
        let shown = server.get(&route).body;
        for field in ["title", "caption", "description"] {
            let html = shown[field]["rendered"].as_str().expect("text");
            assert_eq!(active(html), Vec::<String>::new(), "{field} of {hostile}: {html}");
        }
    }
}

#[test]
fn layouts_and_classes_are_known_words() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    for block in
        ["group", "columns", "column", "buttons", "quote", "gallery", "social-links", "query", "heading", "list"]
    {
        for hostile in HOSTILE {
            let layout =
                json!({"type": hostile, "orientation": hostile, "justifyContent": hostile, "flexWrap": hostile});
            let attributes = json!({"layout": layout, "className": hostile, "tagName": hostile, "align": hostile});
            let attributes = within_comment(&attributes);
            let content = format!(
                "<!-- wp:{block} {attributes} --><div title=\" class=\" x=\" onmouseover=alert(1)//\"><ul><li>x</li></ul></div>\
                 <h2 title=\"<p class=\" x=\" onmouseover=alert(1)//\" class='a\"b'>y</h2><!-- /wp:{block} -->"
            );
            is_harmless(&publish(&server, &author, &json!({"content": content, "status": "publish"})), &content);
        }
    }
}

fn within_comment(json: &Value) -> String {
    json.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace("--", "\\u002d\\u002d")
}

/// The names of everything that renderers read from a block's or shortcode's attributes, taken from their source: a new
/// one is tried without being named here.
fn attributes_read() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/core/src/behaviours/dynamic");
    let reads =
        Regex::new(r#"(?:\b(?:text|flag|number|numbers|shows)\(|(?:attributes|query|layout|metadata)\[)"(\w+)""#);
    let reads = reads.expect("a pattern");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a file");
        names.extend(reads.captures_iter(&text).map(|found| found[1].to_owned()));
    }
    assert!(names.len() > 30 && names.contains("className") && names.contains("postType"), "{names:?}");
    names
}

/// Blocks or shortcodes that are declared to be rendered.
fn declared(table: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    for file in ["schemas/core/32-dynamic-blocks.toml", "schemas/dialects/wp.toml"] {
        let text = std::fs::read_to_string(root.join(file)).expect("a file");
        let document: toml::Table = text.parse().expect("TOML");
        names.extend(document.get(table).and_then(|t| t.as_table()).into_iter().flat_map(|t| t.keys().cloned()));
    }
    names
}

#[test]
fn no_renderer_lets_a_value_out_of_its_place() {
    let server = Server::with(&["site.prefix=wp", "server.max_rendered=200000B"]);
    let author = server.user("writer", "author");
    let made = |route: &str, body: &Value| {
        let made = server.admin("POST", route, Some(body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].clone()
    };
    let names = attributes_read();
    let numbers =
        ["ref", "id", "ids", "level", "columns", "postsToShow", "perPage", "width", "height", "include", "exclude"];
    for hostile in HOSTILE {
        // The lists show what a user wrote who may not write any HTML, as far as allowed.
        let texts =
            json!({"title": hostile, "content": hostile, "excerpt": hostile, "status": "publish", "slug": hostile});
        let shown = publish(&server, &author, &texts);
        is_harmless(&shown, hostile);
        let term =
            made("/wp/v2/categories", &json!({"name": format!("{hostile} {}", shown["id"]), "description": hostile}));
        let tag = made("/wp/v2/tags", &json!({"name": format!("{hostile} {}", shown["id"])}));
        let route = format!("/wp/v2/posts/{}", shown["id"]);
        let changed = server.admin("POST", &route, Some(&json!({"categories": [term], "tags": [tag]})));
        assert_eq!(changed.status, 200, "{}", changed.text);
        let comment = json!({"post": shown["id"], "author_name": hostile, "author_email": "a@example.org",
            "author_url": hostile, "content": hostile, "author": 0});
        let commented = server.admin("POST", "/wp/v2/comments", Some(&comment));
        assert!([201, 400].contains(&commented.status), "{}", commented.text);

        for valid in [false, true] {
            let value = |name: &String| match numbers.contains(&name.as_str()) {
                true if valid => json!(if name == "ref" || name == "id" { shown["id"].clone() } else { json!(3) }),
                _ => json!(hostile),
            };
            let flat: Map<String, Value> = names.iter().map(|name| (name.clone(), value(name))).collect();
            let mut attributes = flat.clone();
            // An unknown kind finds nothing, a known one does.
            let mut query = flat.clone();
            if valid {
                for name in ["postType", "author", "search", "sticky", "taxQuery", "exclude", "offset"] {
                    query.remove(name);
                }
                attributes.insert("term".into(), json!("category"));
                attributes.insert("type".into(), json!(""));
                for flag in
                    ["isLink", "displayPostDate", "displayPostContent", "showPostCounts", "showHierarchy", "showEmpty"]
                {
                    attributes.insert(flag.into(), json!(true));
                }
            }
            attributes.insert("query".into(), Value::Object(query));
            attributes.insert("layout".into(), Value::Object(flat.clone()));
            let json = within_comment(&Value::Object(attributes));
            let single = |block: &String| format!("<!-- wp:{block} {json} -->inside<!-- /wp:{block} -->\n");
            let blocks: String = declared("blocks").iter().map(single).collect();
            let codes: String = declared("shortcodes")
                .iter()
                .map(|code| {
                    let pairs = |quote: char| {
                        let of = |name: &String| format!(" {name}={quote}{}{quote}", hostile.replace(quote, ""));
                        names.iter().map(of).collect::<String>()
                    };
                    format!(
                        "[{code}{}]\n[{code}{} src=\"a.mp3\"]\n[{code} ids=\"1\"{}]\n",
                        pairs('"'),
                        pairs('\''),
                        pairs('"')
                    )
                })
                .collect();
            let content = format!(
                "{blocks}<!-- wp:query {json} --><!-- wp:post-template {json} -->{blocks}<!-- /wp:post-template -->\
                 <!-- /wp:query -->\n{codes}"
            );
            let holder = publish(&server, &author, &json!({"content": content, "status": "publish"}));
            is_harmless(&holder, &content);
            // Who may write any HTML writes none of it into an attribute of a block by accident.
            let by_admin = publish(&server, &server.admin, &json!({"content": blocks, "status": "publish"}));
            is_harmless(&by_admin, &blocks);
        }
    }
}

#[test]
fn a_small_content_makes_no_huge_page() {
    const BOUND: usize = 4 << 20;
    const ROWS: usize = 2_000;
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    for place in 0..100 {
        publish(&server, &author, &json!({"title": format!("Post {place}"), "status": "publish"}));
    }
    let filler = "x".repeat(10_000);
    let query = |inside: &str| {
        format!(
            "<!-- wp:query {{\"query\":{{\"perPage\":100}}}} --><!-- wp:post-template -->{inside}<!-- /wp:post-template -->\
             <!-- /wp:query -->"
        )
    };
    let shown = publish(&server, &author, &json!({"content": query(&query(&filler)), "status": "publish"}));
    let html = shown["content"]["rendered"].as_str().expect("text");
    assert!(html.len() <= BOUND + filler.len(), "{} bytes", html.len());
    assert!(html.contains("<!-- Some blocks and shortcodes are left out"), "{}", &html[html.len() - 200..]);
    // Rows are counted as well as bytes: a page of ten thousand empty items is slow, however small.
    let shown = publish(&server, &author, &json!({"content": query(&query("")), "status": "publish"}));
    let html = shown["content"]["rendered"].as_str().expect("text");
    assert!(html.matches("<li").count() <= ROWS && html.contains("left out"), "{}", html.matches("<li").count());
    let one = publish(&server, &author, &json!({"content": query("x"), "status": "publish"}));
    let html = one["content"]["rendered"].as_str().expect("text");
    assert!(!html.contains("left out") && html.matches("<li").count() == 100, "{html}");
}

#[test]
fn parts_render_so_much_of_what_others_wrote() {
    /// Bytes of other records' texts, and of each that an excerpt is made from.
    const TEXT: usize = 1 << 20;
    const SOURCE: usize = 64 << 10;
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    let prose = "Seagulls stand on the pier. ";
    let left_out = |html: &str| html.contains("<!-- Some blocks and shortcodes are left out");
    let shown = |content: &str| {
        let shown = publish(&server, &author, &json!({"content": content, "status": "publish"}));
        shown["content"]["rendered"].as_str().expect("text").to_owned()
    };
    for place in 0..10 {
        let content = prose.repeat(SOURCE / prose.len() + 1);
        publish(&server, &author, &json!({"title": format!("Post {place}"), "content": content, "status": "publish"}));
    }
    // Excerpts of ten records, however often they are requested.
    let query = "<!-- wp:query {\"query\":{\"perPage\":10,\"order\":\"asc\"}} --><!-- wp:post-template --><!-- wp:post-excerpt /-->\
                 <!-- /wp:post-template --><!-- /wp:query -->";
    let list = "<!-- wp:latest-posts {\"postsToShow\":10,\"order\":\"asc\",\"displayPostContent\":true} /-->";
    for (part, class) in [(query, "wp-block-post-excerpt__excerpt"), (list, "wp-block-latest-posts__post-excerpt")] {
        for (times, expected) in [(1, 10), (2, TEXT / SOURCE)] {
            let html = shown(&part.repeat(times));
            assert_eq!((html.matches(class).count(), left_out(&html)), (expected, times == 2), "{class} {times}");
        }
    }
    // Reusable blocks count with all that is in them.
    let body = json!({"title": "A piece", "content": prose.repeat(10_000), "status": "publish"});
    let piece = server.admin("POST", "/wp/v2/blocks", Some(&body));
    assert_eq!(piece.status, 201, "{}", piece.text);
    for (times, expected) in [(1, 1), (3, 3), (4, 3), (50, 3)] {
        let html = shown(&format!("<!-- wp:block {{\"ref\":{}}} /-->", piece.body["id"]).repeat(times));
        let whole = html.matches(prose.trim_end()).count() / 10_000;
        assert_eq!((whole, left_out(&html)), (expected, times > expected), "{times}");
    }
}

#[test]
fn an_excerpt_is_made_of_a_beginning() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    let excerpt = |content: &str| {
        let shown = publish(&server, &author, &json!({"content": content, "status": "publish"}));
        shown["excerpt"]["rendered"].as_str().expect("text").to_owned()
    };
    let prose = "<p>\"Seagulls\" don't <b>wait</b> for us...</p>\n\n";
    assert_eq!(excerpt(&prose.repeat(20_000)), excerpt(&prose.repeat(100)));
    // Words behind so much markup are not searched.
    let empty = "<i></i>".repeat(10_000);
    assert_eq!(excerpt(&format!("Here {empty} there")), "<p>Here</p>\n");
}
