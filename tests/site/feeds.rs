//! Feeds as programs for them read them: every format, which list a path names, and that they follow the site.

use super::free_port::free_address;
use super::own_types;
use super::server::{Answer, Server};
use feed_rs::model::{Entry, Feed, FeedType};
use serde_json::{Value, json};

fn page(server: &Server, path: &str) -> Answer {
    server.send("GET", &format!("{}{path}", server.site), None, None, &[])
}

/// A feed of the server, which has to be sound.
fn feed(server: &Server, path: &str) -> Feed {
    let answer = page(server, path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    feed_rs::parser::parse(&*answer.bytes).unwrap_or_else(|error| panic!("{path}: {error}: {}", answer.text))
}

fn titles(feed: &Feed) -> Vec<&str> {
    feed.entries.iter().map(title).collect()
}

fn title(entry: &Entry) -> &str {
    entry.title.as_ref().map_or("", |title| &title.content)
}

/// The address that an item leads to.
fn link(entry: &Entry) -> &str {
    let leads = |rel: &Option<String>| rel.as_deref().is_none_or(|rel| rel == "alternate");
    entry.links.iter().find(|link| leads(&link.rel)).map_or("", |link| &link.href)
}

fn body(entry: &Entry) -> &str {
    entry.content.as_ref().and_then(|content| content.body.as_deref()).unwrap_or_default()
}

/// A server with declarations of its own.
fn declared(site: &str, sets: &[&str]) -> Server {
    let server = Server::with(sets);
    std::fs::write(server.path("site.toml"), site).expect("a file");
    server.restart_with(sets)
}

fn make(server: &Server, base: &str, body: Value) -> Value {
    let made = server.admin("POST", &format!("/{}/v2/{base}", server.prefix), Some(&body));
    assert_eq!(made.status, 201, "{base} {body}: {}", made.text);
    made.body
}

fn post(server: &Server, title: &str, date: &str, mut more: Value) -> Value {
    let own = json!({"title": title, "date": date, "status": "publish", "content": format!("<p>About {title}.</p>")});
    for (name, value) in own.as_object().expect("an object") {
        more.as_object_mut().expect("an object").entry(name).or_insert(value.clone());
    }
    make(server, "posts", more)
}

/// A site with what everybody may read, and what nobody but its author may.
fn filled(server: &Server) -> Value {
    let boats = make(server, "categories", json!({"name": "Boats & ships", "slug": "boats"}))["id"].clone();
    let small = make(server, "categories", json!({"name": "Small", "slug": "small", "parent": boats}))["id"].clone();
    let wind = make(server, "tags", json!({"name": "Wind"}))["id"].clone();
    let third = post(server, "Third", "2024-03-01T10:00:00", json!({"tags": [wind], "categories": [small]}));
    post(server, "Second", "2024-02-02T10:00:00", json!({"categories": [boats]}));
    post(server, "First", "2023-01-02T10:00:00", json!({"tags": [wind]}));
    for (title, more) in [
        ("Draft", json!({"status": "draft"})),
        ("Private", json!({"status": "private"})),
        ("Later", json!({"status": "future", "date": "2101-01-01T00:00:00"})),
    ] {
        post(server, title, "2024-03-02T10:00:00", more);
    }
    make(server, "pages", json!({"title": "A page", "status": "publish"}));
    make(server, "comments", json!({"post": third["id"], "content": "Well said."}));
    third
}

#[test]
fn each_list_has_a_feed_in_each_format() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let third = filled(&server);
        let (all, boats) = (&["Third", "Second", "First"][..], &["Third", "Second"][..]);
        let by_id =
            format!("/?feed=rss2&cat={}", server.get(&format!("/{prefix}/v2/categories?slug=boats")).body[0]["id"]);
        let commented = format!("/?feed=comments-rss2&p={}", third["id"]);
        let cases: &[(&str, FeedType, &[&str])] = &[
            ("/feed/", FeedType::RSS2, all),
            // WordPress answers without the slash, too.
            ("/feed", FeedType::RSS2, all),
            ("/feed/rss2/", FeedType::RSS2, all),
            ("/feed/atom/", FeedType::Atom, all),
            ("/feed/rdf/", FeedType::RSS1, all),
            ("/feed/json/", FeedType::JSON, all),
            ("/feed.json", FeedType::JSON, all),
            ("/?feed=atom", FeedType::Atom, all),
            ("/category/boats/feed/", FeedType::RSS2, boats),
            ("/category/boats/small/feed/atom/", FeedType::Atom, &["Third"]),
            ("/tag/wind/feed/json", FeedType::JSON, &["Third", "First"]),
            ("/author/admin/feed/rdf/", FeedType::RSS1, all),
            ("/2024/feed/", FeedType::RSS2, boats),
            ("/2024/02/feed/", FeedType::RSS2, &["Second"]),
            ("/2024/03/01/feed/", FeedType::RSS2, &["Third"]),
            ("/search/second/feed/", FeedType::RSS2, &["Second"]),
            ("/?feed=rss2&s=second", FeedType::RSS2, &["Second"]),
            ("/?feed=rss2&m=202402", FeedType::RSS2, &["Second"]),
            ("/?feed=atom&tag=wind", FeedType::Atom, &["Third", "First"]),
            (&by_id, FeedType::RSS2, boats),
            ("/comments/feed/", FeedType::RSS2, &["Comment on Third by admin"]),
            ("/comments/feed/atom/", FeedType::Atom, &["Comment on Third by admin"]),
            ("/2024/03/third/feed/", FeedType::RSS2, &["By: admin"]),
            (&commented, FeedType::RSS2, &["By: admin"]),
            ("/2024/02/second/feed/", FeedType::RSS2, &[]),
        ];
        for (path, format, expected) in cases {
            let found = feed(&server, path);
            assert_eq!((&found.feed_type, titles(&found)), (format, expected.to_vec()), "{prefix} {path}");
        }
        // Lists that are not there, also because nobody may read what they belong to.
        for path in [
            "/nothing/feed/",
            "/category/nothing/feed/atom/",
            "/2024/13/feed/",
            "/2024/02/30/feed/",
            "/2024/03/third/extra/feed/",
            "/2024/03/private/feed/",
            "/author/nobody/feed/",
            "/?feed=rss2&cat=999999999999999999999",
            "/?feed=rss2&p=x",
        ] {
            let answer = page(&server, path);
            match prefix {
                "wp" => assert!(feed(&server, path).entries.is_empty(), "{path}"),
                _ => assert_eq!(answer.status, 404, "{path}: {}", answer.text),
            }
        }
        // Old addresses of WordPress.
        for (path, format) in [("/rss/", FeedType::RSS2), ("/atom/", FeedType::Atom), ("/rdf/", FeedType::RSS1)] {
            match prefix {
                "wp" => assert_eq!(feed(&server, path).feed_type, format, "{path}"),
                _ => assert_eq!(page(&server, path).status, 404, "{path}"),
            }
        }
        // These are no feeds.
        for path in ["/feed/nonsense/", "/feeds/", "/feed/atom/more/"] {
            assert_eq!(page(&server, path).status, 404, "{prefix} {path}");
        }
    }
}

#[test]
fn items_have_what_readers_see() {
    let server = Server::start();
    let audio = "https://media.example/a.mp3?x=1&y=2";
    let content = format!("<p>c ]]&gt; \u{e9} \u{202e}rtl</p><p><audio controls src=\"{audio}\"></audio></p>");
    let own = json!({"content": content, "excerpt": "In <b>short</b> & clear", "slug": "title"});
    let title = "A & B <b>x</b> \u{5d0} \u{1f600} \u{1} ]]>";
    let post = post(&server, title, "2024-02-02T10:00:00", own);
    make(
        &server,
        "posts",
        json!({"title": "Locked", "content": "Secret", "password": "open", "status": "publish",
        "date": "2023-01-01T00:00:00"}),
    );
    for path in ["/feed/", "/feed/atom/", "/feed/rdf/", "/feed.json"] {
        let found = feed(&server, path);
        let [item, locked] = &found.entries[..] else { panic!("{path}: {:?}", titles(&found)) };
        let shown = self::title(item);
        assert!(shown.starts_with("A & B x \u{5d0} \u{1f600}") && shown.ends_with("]]>"), "{path}: {shown}");
        assert!(path.ends_with("json") || !shown.contains('\u{1}'), "{path}: {shown}");
        let link = post["link"].as_str().expect("an address");
        assert_eq!(self::link(item), link, "{path}");
        assert!(body(item).contains("\u{e9} \u{202e}rtl</p>"), "{path}: {}", body(item));
        assert_eq!(
            item.published.map(|date| date.to_rfc3339()).as_deref(),
            Some("2024-02-02T10:00:00+00:00"),
            "{path}"
        );
        // Who may not read a record may know that it is there.
        assert_eq!(self::title(locked), "Protected: Locked", "{path}");
        assert!(!page(&server, path).text.contains("Secret"), "{path}");
        if path != "/feed/rdf/" {
            assert_eq!(item.authors.first().map(|author| &*author.name), Some("admin"), "{path}");
            assert_eq!(item.id, post["guid"]["rendered"].as_str().expect("an identifier"), "{path}");
            assert!(item.categories.iter().any(|category| category.term == "Uncategorized"), "{path}");
        }
    }
    let files = feed(&server, "/feed/").entries[0].media.clone();
    let file = files[0].content[0].clone();
    assert_eq!(file.url.map(|url| url.to_string()).as_deref(), Some(audio));
    assert_eq!(file.content_type.map(|media| media.to_string()).as_deref(), Some("audio/mpeg"));
    assert_eq!(page(&server, "/feed.json").body["items"][0]["attachments"][0]["url"], audio);
}

#[test]
fn a_feed_is_sent_again_only_after_a_change() {
    let server = Server::start();
    let first = post(&server, "First", "2024-02-02T10:00:00", json!({}));
    for path in ["/feed/", "/feed/atom/", "/feed.json", "/comments/feed/"] {
        let url = format!("{}{path}", server.site);
        let whole = page(&server, path);
        let header = |name: &str| whole.header(name).unwrap_or_else(|| panic!("{path} without {name}")).to_owned();
        let (tag, changed) = (header("etag"), header("last-modified"));
        assert_eq!(header("cache-control"), "no-cache", "{path}");
        for condition in [("if-none-match", &*tag), ("if-modified-since", &*changed)] {
            let again = server.send("GET", &url, None, None, &[condition]);
            assert_eq!((again.status, again.bytes.len()), (304, 0), "{path} {condition:?}");
        }
        let head = server.send("HEAD", &url, None, None, &[]);
        assert_eq!((head.status, head.header("etag"), head.bytes.len()), (200, Some(&*tag), 0), "{path}");
        let packed = server.send("GET", &url, None, None, &[("accept-encoding", "gzip"), ("if-none-match", &tag)]);
        assert_eq!(packed.status, if packed.header("content-encoding").is_some() { 200 } else { 304 }, "{path}");
    }
    let tag = page(&server, "/feed/").header("etag").expect("a tag").to_owned();
    let of = format!("/cms/v2/posts/{}", first["id"]);
    // Each write is in the next response.
    let steps: [(&str, &str, Value, &[&str]); 4] = [
        ("POST", &of, json!({"title": "Renamed"}), &["Renamed"]),
        ("POST", "/cms/v2/posts", json!({"title": "New", "status": "publish"}), &["New", "Renamed"]),
        ("POST", "/cms/v2/posts", json!({"title": "Hidden", "status": "draft"}), &["New", "Renamed"]),
        ("DELETE", &of, json!({}), &["New"]),
    ];
    for (method, route, body, expected) in steps {
        let written = server.admin(method, route, Some(&body));
        assert!(written.status < 300, "{method} {route}: {}", written.text);
        let url = format!("{}/feed/", server.site);
        let next = server.send("GET", &url, None, None, &[("if-none-match", &tag)]);
        let found = feed_rs::parser::parse(&*next.bytes).expect("a feed");
        assert_eq!((next.status, titles(&found)), (200, expected.to_vec()), "{method} {route}");
    }
    // The caller's rights are nothing to a feed: everybody shares it.
    let mine = server.send("GET", &format!("{}/feed/", server.site), Some(&server.admin), None, &[]);
    assert!(!mine.text.contains("Hidden"), "{}", mine.text);
}

#[test]
fn links_lead_to_the_front_end_and_identifiers_stay() {
    let front = "https://www.example.org";
    let site = "[site.front]\nurl = \"https://www.example.org\"\n\
        [site.front.paths]\nposts = \"/blog/{slug}\"\ncategories = \"/topics/{path}\"\n";
    let server = declared(site, &[]);
    let third = filled(&server);
    let guid = third["guid"]["rendered"].as_str().expect("an identifier");
    assert!(guid.starts_with(&server.site), "{guid}");
    for path in ["/feed/", "/feed/atom/", "/feed.json"] {
        let found = feed(&server, path);
        assert_eq!(link(&found.entries[0]), format!("{front}/blog/third"), "{path}");
        assert_eq!(found.entries[0].id, guid, "{path}");
        assert!(found.links.iter().any(|link| link.href == format!("{front}/")), "{path}: {:?}", found.links);
        assert!(page(&server, path).text.contains(&format!("{}{path}", server.site)), "{path}: its own address");
    }
    // The server has the feed of comments, whose items are read in the front end.
    let text = page(&server, "/feed/").text;
    let (_, rest) = text.split_once("<wfw:commentRss>").expect("a feed of comments");
    let comments = rest.split('<').next().unwrap_or_default().replace("&amp;", "&");
    let found = feed(&server, comments.strip_prefix(&*server.site).expect("on the server"));
    assert_eq!(titles(&found), ["By: admin"]);
    assert!(link(&found.entries[0]).starts_with(&format!("{front}/blog/third")), "{:?}", found.entries[0].links);
    assert!(found.entries[0].id.starts_with(guid), "{}", found.entries[0].id);
    // Paths of both lead to the lists, for a proxy that passes feeds on.
    for path in ["/topics/boats/feed/", "/category/boats/feed/", "/tag/wind/feed/atom/"] {
        assert_eq!(titles(&feed(&server, path))[0], "Third", "{path}");
    }
    for path in ["/blog/third/feed/", "/2024/03/third/feed/"] {
        assert_eq!(titles(&feed(&server, path)), ["By: admin"], "{path}");
    }
}

#[test]
fn feeds_are_below_the_path_of_the_site() {
    let port = free_address().port();
    let host = format!("http://127.0.0.1:{port}");
    let server = Server::with(&[&format!("server.listen=127.0.0.1:{port}"), &format!("site.url={host}/below")]);
    assert_eq!(server.site, format!("{host}/below"));
    let post = post(&server, "First", "2024-02-02T10:00:00", json!({}));
    for path in ["/feed/", "/feed/atom/", "/feed.json", "/2024/feed/"] {
        let found = feed(&server, path);
        assert_eq!(link(&found.entries[0]), post["link"], "{path}");
        assert!(page(&server, path).text.contains(&format!("{host}/below{path}")), "{path}: its own address");
    }
}

#[test]
fn types_of_ones_own_take_part() {
    let dated = json!({"date": {"type": "string", "format": "date-time", "x-column": "date_local", "x-read": "time",
        "x-write": "time"}});
    let types = [
        ("c_events", "content", dated.clone(), "syndication = \"own\"\nsearchable = true\n"),
        ("c_news", "content", dated.clone(), "syndication = \"site\"\n"),
        ("c_notes", "content", dated, ""),
    ];
    let server = Server::over(own_types::folder(&types), &[]);
    for (resource, title, date) in [
        ("c_events", "Regatta <b>", "2024-05-01T10:00:00"),
        ("c_events", "Concert", "2024-06-01T10:00:00"),
        ("c_news", "Opening", "2024-07-01T10:00:00"),
        ("c_notes", "Note", "2024-08-01T10:00:00"),
    ] {
        own_types::make(&server, resource, json!({"title": title, "date": date}));
    }
    post(&server, "Post", "2024-06-15T10:00:00", json!({}));
    for (path, expected) in [
        ("/feed/", &["Opening", "Post"][..]),
        ("/c_events/feed/", &["Concert", "Regatta"]),
        ("/c_events/feed/json", &["Concert", "Regatta"]),
    ] {
        let found = feed(&server, path);
        assert_eq!(titles(&found), expected, "{path}");
        let item = found.entries.last().expect("an item");
        assert!(link(item).starts_with(&server.site) && link(item).ends_with('/'), "{path}: {}", link(item));
    }
    assert_eq!(link(&feed(&server, "/c_events/feed/").entries[0]), format!("{}/own/concert/", server.site));
    assert_eq!(page(&server, "/c_notes/feed/").status, 404);
}

#[test]
fn episodes_have_the_elements_of_podcasts() {
    let properties = json!({
        "length": {"type": "string"},
        "number": {"type": "integer"},
        "cover": {"type": "string", "format": "uri"},
        "secret": {"type": "string", "context": ["edit"]},
    });
    let more = "syndication = \"own\"\n[resources.c_episodes.podcast.channel]\nauthor = \"Harbour & Radio\"\ncategory = \"News\"\n\
                [resources.c_episodes.podcast.item]\nduration = \"{length}\"\nepisode = \"{number}\"\nimage = \"{cover}\"\n\
                title = \"{title} ({number})\"\n";
    let server = Server::over(own_types::folder(&[("c_episodes", "content", properties, more)]), &[]);
    let cover = "https://pictures.example/a.png?x=1&y=2";
    own_types::make(
        &server,
        "c_episodes",
        json!({"title": "Six <b>", "length": "12:30", "number": 7, "cover": cover, "secret": "hidden"}),
    );
    own_types::make(&server, "c_episodes", json!({"title": "Bare"}));
    post(&server, "Post", "2024-06-15T10:00:00", json!({}));
    let text = page(&server, "/c_episodes/feed/").text;
    feed_rs::parser::parse(text.as_bytes()).expect("a feed");
    for (element, times) in [
        ("xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\"", 1),
        ("<itunes:author>Harbour &amp; Radio</itunes:author>", 1),
        ("<itunes:category text=\"News\" />", 1),
        ("<itunes:duration>12:30</itunes:duration>", 1),
        ("<itunes:episode>7</itunes:episode>", 1),
        ("<itunes:image href=\"https://pictures.example/a.png?x=1&amp;y=2\" />", 1),
        ("<itunes:title>", 2),
        ("hidden", 0),
    ] {
        assert_eq!(text.matches(element).count(), times, "{element}: {text}");
    }
    for path in ["/feed/", "/c_episodes/feed/atom/", "/comments/feed/"] {
        assert!(!page(&server, path).text.contains("itunes"), "{path}");
    }
}

#[test]
fn feeds_can_be_shorter_or_off() {
    let site = "[syndication]\nitems = 2\nexcerpts = true\nhub = \"https://hub.example/\"\n";
    let server = declared(site, &[]);
    filled(&server);
    for path in ["/feed/", "/feed/atom/", "/feed.json"] {
        let found = feed(&server, path);
        assert_eq!(titles(&found), ["Third", "Second"], "{path}");
        assert!(page(&server, path).text.contains("https://hub.example/"), "{path}: its hub");
        assert!(!page(&server, path).text.contains("<content:encoded>"), "{path}");
    }
    let server = server.restart_with(&["syndication.enabled=false"]);
    for path in ["/feed/", "/feed.json", "/comments/feed/", "/category/boats/feed/"] {
        assert_eq!(page(&server, path).status, 404, "{path}");
    }
    // It is the home page then.
    assert!(!page(&server, "/?feed=rss2").text.contains("<rss"));
}
