//! Dynamic parts of contents: blocks and shortcodes that are rendered when the content is shown.

use super::server::Server;
use serde_json::{Value, json};

pub fn server() -> Server {
    Server::with(&["site.prefix=wp"])
}

/// Creates an item; its number.
pub fn made(server: &Server, route: &str, body: &Value) -> i64 {
    let made = server.admin("POST", route, Some(body));
    assert_eq!(made.status, 201, "{}", made.text);
    made.body["id"].as_i64().expect("an id")
}

/// A published record with this content; its number.
fn record(server: &Server, content: &str) -> i64 {
    made(server, "/wp/v2/posts", &json!({"title": "Holds parts", "content": content, "status": "publish"}))
}

fn shown(server: &Server, id: i64) -> String {
    server.get(&format!("/wp/v2/posts/{id}")).body["content"]["rendered"].as_str().expect("text").to_owned()
}

#[test]
fn newest_records_are_listed_and_never_stale() {
    let server = server();
    for title in ["Alpha", "Beta", "Gamma"] {
        made(
            &server,
            "/wp/v2/posts",
            &json!({"title": title, "status": "publish", "date": format!("2020-01-0{}T10:00:00", title.len())}),
        );
    }
    let holder = record(
        &server,
        "<!-- wp:latest-posts {\"postsToShow\":2,\"orderBy\":\"title\",\"order\":\"asc\",\"displayPostDate\":true} /-->",
    );
    let text = shown(&server, holder);
    assert!(text.contains(">Alpha</a>") && text.contains(">Beta</a>") && !text.contains("Gamma"), "{text}");
    assert!(text.contains("<time datetime=\"2020-01-05T10:00:00+00:00\" class=\"wp-block-latest-posts__post-date\">January 5, 2020</time>"), "{text}");
    let first = server.get("/wp/v2/posts?search=Alpha").body[0]["id"].clone();
    server.admin("POST", &format!("/wp/v2/posts/{first}"), Some(&json!({"title": "Aleph"})));
    assert!(shown(&server, holder).contains(">Aleph</a>"), "a list that is kept would be stale");
    server.admin("POST", &format!("/wp/v2/posts/{first}"), Some(&json!({"status": "draft"})));
    let text = shown(&server, holder);
    assert!(text.contains(">Beta</a>") && text.contains(">Gamma</a>") && !text.contains("Aleph"), "{text}");
}

#[test]
fn archives_terms_and_clouds_count_what_is_published() {
    let server = server();
    let below = made(&server, "/wp/v2/categories", &json!({"name": "Rivers"}));
    let inside = made(&server, "/wp/v2/categories", &json!({"name": "Deltas", "parent": below}));
    let tag = made(&server, "/wp/v2/tags", &json!({"name": "Wet"}));
    for date in ["2019-03-01T00:00:00", "2019-03-31T23:59:59", "2018-12-31T23:59:59"] {
        let body =
            json!({"title": date, "status": "publish", "date": date, "categories": [below, inside], "tags": [tag]});
        made(&server, "/wp/v2/posts", &body);
    }
    let holder = record(
        &server,
        "<!-- wp:archives {\"showPostCounts\":true} /-->\n<!-- wp:archives {\"type\":\"yearly\"} /-->\n\
         <!-- wp:categories {\"showHierarchy\":true,\"showPostCounts\":true} /-->\n<!-- wp:tag-cloud {\"showTagCounts\":true} /-->",
    );
    let text = shown(&server, holder);
    for part in [
        "/2019/03/'>March 2019</a>&nbsp;(2)</li>",
        "/2018/12/'>December 2018</a>&nbsp;(1)</li>",
        "/2019/'>2019</a></li>",
        "/category/rivers/\">Rivers</a> (3)\n<ul class='children'>",
        "/category/rivers/deltas/\">Deltas</a> (3)",
        "aria-label=\"Wet (3 items)\">Wet<span class=\"tag-link-count\"> (3)</span></a>",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn reusable_pieces_show_what_everybody_may_see_and_end() {
    let server = server();
    let piece = |content: &str, status: &str| {
        made(&server, "/wp/v2/blocks", &json!({"title": "Piece", "content": content, "status": status}))
    };
    let refers = |id: i64| format!("<!-- wp:block {{\"ref\":{id}}} /-->");
    let open = piece("<!-- wp:paragraph -->\n<p>Nine to five.</p>\n<!-- /wp:paragraph -->", "publish");
    let closed = piece("<p>Not yet.</p>", "draft");
    let outer = piece(&refers(open), "publish");
    let text = shown(&server, record(&server, &format!("{}{}{}", refers(outer), refers(closed), refers(999_999))));
    assert_eq!(text.trim(), "<p class=\"wp-block-paragraph\">Nine to five.</p>");
    let holder = record(&server, &refers(outer));
    server.admin("POST", &format!("/wp/v2/blocks/{open}"), Some(&json!({"content": "<p>Ten to six.</p>"})));
    assert_eq!(shown(&server, holder).trim(), "<p>Ten to six.</p>");
    // A pattern inside itself.
    server.admin(
        "POST",
        &format!("/wp/v2/blocks/{open}"),
        Some(&json!({"content": format!("<p>Round.</p>{}", refers(outer))})),
    );
    let text = shown(&server, holder);
    assert!((1..10).contains(&text.matches("Round.").count()), "{text}");
}

#[test]
fn galleries_show_pictures_by_number_or_those_of_the_record() {
    let server = server();
    let holder = record(&server, "[gallery columns=\"2\" link=\"none\"]");
    assert_eq!(shown(&server, holder).trim(), "");
    let picture = |name: &str, parent: i64| {
        let mut png = Vec::new();
        image::DynamicImage::new_rgb8(4, 2)
            .write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png)
            .expect("a picture");
        let disposition = format!("attachment; filename={name}.png");
        let url = format!("{}/wp/v2/media?post={parent}&alt_text={name}&caption=About+{name}", server.rest);
        let made = server.send(
            "POST",
            &url,
            Some(&server.admin),
            Some(("image/png", png)),
            &[("content-disposition", &disposition)],
        );
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].as_i64().expect("an id")
    };
    let (hanging, loose) = (picture("hanging", holder), picture("loose", 0));
    let text = shown(&server, holder);
    assert!(
        text.contains("gallery-columns-2") && text.contains("alt=\"hanging\"") && !text.contains("loose"),
        "{text}"
    );
    assert!(text.contains("<img width=\"4\" height=\"2\"") && text.contains("About hanging"), "{text}");
    let by_number = shown(&server, record(&server, &format!("[gallery ids=\"{loose},{hanging}\" link=\"file\"]")));
    let place = |what: &str| by_number.find(what).unwrap_or_else(|| panic!("{what} in {by_number}"));
    assert!(place("alt=\"loose\"") < place("alt=\"hanging\""));
    assert!(by_number.contains("loose.png'><img"), "{by_number}");
    let players = shown(
        &server,
        record(
            &server,
            "[audio src=\"https://a.example/one.mp3\"]\n\n[video mp4=\"https://a.example/two.mp4\" width=\"320\" height=\"200\"]\n\n[audio src=\"javascript:alert(1)\"]",
        ),
    );
    assert!(players.contains("<source type=\"audio/mpeg\" src=\"https://a.example/one.mp3?_=1\""), "{players}");
    assert!(players.contains("width=\"320\" height=\"200\"") && !players.contains("javascript"), "{players}");
}

#[test]
fn editors_have_single_blocks_rendered() {
    let server = server();
    record(&server, "Something.");
    let ask = |route: &str| server.admin("GET", &format!("/wp/v2/block-renderer/{route}"), None);
    let list = ask("core/latest-posts?context=edit&attributes[postsToShow]=1");
    assert!(list.body["rendered"].as_str().is_some_and(|text| text.contains(">Holds parts</a>")), "{}", list.text);
    assert_eq!(
        (ask("core/nothing?context=edit").status, ask("core/nothing?context=edit").code()),
        (404, "block_invalid")
    );
    assert_eq!(ask("core/archives?context=edit&post_id=999999").code(), "block_cannot_read");
    assert_eq!(server.get("/wp/v2/block-renderer/core/archives?context=edit").status, 401);
    let title = server.admin(
        "POST",
        "/wp/v2/block-renderer/core/site-title",
        Some(&json!({"context": "edit", "attributes": {"level": 2}})),
    );
    assert!(
        title.body["rendered"].as_str().is_some_and(|text| text.starts_with("<h2 class=\"wp-block-site-title\">")),
        "{}",
        title.text
    );
}

#[test]
fn a_part_without_a_maker_is_told_at_boot() {
    for (set, place) in [
        ("shortcodes.gallery.renderer=nobody", "unknown renderer `nobody`"),
        ("shortcodes.gallery.resource=nothing", "unknown resource `nothing`"),
        ("shortcodes.nothing.renderer=gallery", "unknown shortcode `nothing`"),
    ] {
        let output = super::server::run(&["--set", set, "check"], "");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(place), "{set}: {told}");
    }
}

#[test]
fn what_authors_write_into_parts_is_no_markup() {
    let server = server();
    let holder = record(&server, "");
    let url = format!("{}/wp/v2/media?post={holder}", server.rest);
    let mut png = Vec::new();
    let picture = image::DynamicImage::new_rgb8(1, 1);
    picture.write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).expect("a picture");
    let name = [("content-disposition", "attachment; filename=dot.png")];
    let made = server.send("POST", &url, Some(&server.admin), Some(("image/png", png)), &name).body["id"].clone();
    let gallery = |more: &str| shown(&server, record(&server, &format!("[gallery ids=\"{made}\" {more}]")));
    let text = gallery("size=\"x' onmouseover='alert(1)\"");
    assert!(text.contains("onmouseover") && !text.contains("' onmouseover='"), "{text}");
    for address in ["javascript:alert(1)//x.mp3", "java&#9;script:alert(1)//x.mp3", "data:text/html,x.mp3"] {
        let text = shown(&server, record(&server, &format!("[audio src=\"{address}\"]")));
        assert!(!text.contains("<audio"), "{address}: {text}");
    }
    let text =
        shown(&server, record(&server, "<!-- wp:latest-posts {\"className\":\"a\\u0022 onclick=\\u0022b\"} /-->"));
    assert!(!text.contains("\" onclick=\""), "{text}");
    // The record of the picture is hidden, so anonymous callers do not see it in other contents either.
    assert!(gallery("").contains("<img"));
    server.admin("POST", &format!("/wp/v2/posts/{holder}"), Some(&json!({"status": "draft"})));
    assert!(!gallery("").contains("<img"));
}

#[test]
fn a_content_ends_however_many_pieces_it_names() {
    let server = server();
    let mut inner = String::from("<p>Leaf.</p>");
    for _ in 0..3 {
        let body = json!({"title": "Piece", "content": inner, "status": "publish"});
        let id = made(&server, "/wp/v2/blocks", &body);
        inner = format!("<!-- wp:block {{\"ref\":{id}}} /-->").repeat(60);
    }
    let text = shown(&server, record(&server, &inner));
    assert!((1..=200).contains(&text.matches("Leaf.").count()), "{}", text.len());
}

#[test]
fn a_block_of_ones_own_lists_another_resource() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    super::server::stdout(&["init", folder.path().to_str().expect("a path")], "");
    let own = "[blocks.\"mine/newest-pages\"]\nrenderer = \"latest_records\"\nresource = \"pages\"\n";
    std::fs::write(folder.path().join("site.toml"), own).expect("an overlay");
    let server = Server::over(folder, &["site.prefix=wp"]);
    made(&server, "/wp/v2/pages", &json!({"title": "A page of mine", "status": "publish"}));
    let text = shown(&server, record(&server, "<!-- wp:mine/newest-pages /-->"));
    assert!(text.contains(">A page of mine</a>"), "{text}");
}

#[test]
fn queries_show_the_records_that_they_find() {
    let server = server();
    let tag = made(&server, "/wp/v2/tags", &json!({"name": "Wet & cold"}));
    let post = |title: &str, more: Value| {
        let mut body =
            json!({"title": title, "status": "publish", "excerpt": format!("About {title}"), "content": "x"});
        body.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        made(&server, "/wp/v2/posts", &body)
    };
    let eel = post("Eel", json!({"tags": [tag], "date": "2020-01-01T10:00:00"}));
    post("Auk", json!({"tags": [tag], "date": "2020-01-02T10:00:00"}));
    post("Elk", json!({"date": "2020-01-03T10:00:00"}));
    post("Hidden", json!({"tags": [tag], "status": "draft"}));
    let query = |asked: Value, inside: &str| {
        let attributes = json!({ "query": asked });
        let content = format!(
            "<!-- wp:query {attributes} --><div class=\"wp-block-query\"><!-- wp:post-template -->{inside}<!-- /wp:post-template -->\
             <!-- wp:query-no-results --><p>Nothing.</p><!-- /wp:query-no-results --></div><!-- /wp:query -->"
        );
        shown(&server, record(&server, &content))
    };
    let titles = "<!-- wp:post-title {\"isLink\":true,\"level\":3} /-->";
    let text = query(json!({"taxQuery": {"post_tag": [tag]}, "orderBy": "title", "order": "asc"}), titles);
    let site = &server.site;
    assert!(
        text.contains(&format!(
            "<h3 class=\"wp-block-post-title\"><a href=\"{site}/2020/01/auk/\" target=\"_self\" >Auk</a></h3></li><li"
        )),
        "{text}"
    );
    assert!(text.contains(">Eel</a>") && !text.contains("Elk") && !text.contains("Hidden"), "{text}");
    assert!(
        text.contains(&format!(
            "<li class=\"wp-block-post post-{eel} post type-post status-publish format-standard hentry \
             category-uncategorized tag-wet-cold\">"
        )),
        "{text}"
    );
    assert!(!text.contains("Nothing."), "{text}");
    let text = query(json!({"perPage": 1, "offset": 1, "taxQuery": {"post_tag": [tag]}}), titles);
    assert!(text.contains(">Eel</a>") && !text.contains("Auk"), "{text}");
    let front = post("Front", json!({"sticky": true, "date": "2019-01-01T10:00:00"}));
    let text = query(json!({"perPage": 1}), titles);
    assert_eq!(text.matches("<li").count(), 2, "{text}");
    assert!(text.find(&format!("<li class=\"wp-block-post post-{front} ")) < text.find("Holds parts"), "{text}");
    assert!(!query(json!({"perPage": 1, "sticky": "exclude"}), titles).contains("Front"));
    // A window beyond what a list shows at most is still the right one.
    for n in 0..104 {
        post(&format!("Many {n}"), json!({"date": format!("2021-01-01T{:02}:{:02}:00", n / 60, n % 60)}));
    }
    let text = query(json!({"search": "About Many", "perPage": 2, "offset": 102, "order": "asc"}), titles);
    assert_eq!(
        (text.matches("<li").count(), text.contains("Many 102<"), text.contains("Many 103<")),
        (2, true, true),
        "{text}"
    );
    let text = query(json!({"perPage": u64::MAX, "offset": u64::MAX, "sticky": "exclude"}), titles);
    assert!(!text.contains("wp-block-post-title"), "{text}");
    let text = query(json!({"author": 987654}), titles);
    assert!(text.contains("<div class=\"wp-block-query-no-results\"><p>Nothing.</p></div>"), "{text}");
    let all = "<!-- wp:post-date /--><!-- wp:post-excerpt {\"moreText\":\"More <b>\"} /--><!-- wp:post-terms {\"term\":\"post_tag\"} /-->\
               <!-- wp:post-author-name /--><!-- wp:read-more {\"content\":\"On\"} /--><!-- wp:post-featured-image /--><p>Plain</p>";
    let text = query(json!({"search": "About Auk"}), all);
    for part in [
        "<div class=\"wp-block-post-date\"><time datetime=\"2020-01-02T10:00:00+00:00\">January 2, 2020</time></div>",
        "<p class=\"wp-block-post-excerpt__excerpt\">About Auk </p>",
        "More &lt;b&gt;</a>",
        "rel=\"tag\">Wet &amp; cold</a>",
        "<div class=\"wp-block-post-author-name\">admin</div>",
        "target=\"_self\">On<span class=\"screen-reader-text\">: Auk</span></a>",
        "<p>Plain</p>",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    // A query in a record that it shows ends; what is not to be found by everybody is not found here.
    let own = query(
        json!({"search": "x"}),
        "<!-- wp:query {\"query\":{}} --><!-- wp:post-template --><!-- wp:post-title /--><!-- /wp:post-template --><!-- /wp:query -->",
    );
    assert!(own.matches("wp-block-post-title").count() <= 200, "{own}");
    let menus = query(json!({"postType": "nav_menu_item"}), titles);
    assert!(!menus.contains("wp-block-post-title"), "{menus}");
    // Outside a query, the record itself.
    let text = shown(&server, record(&server, "<!-- wp:post-title /--><!-- wp:post-excerpt /-->"));
    let excerpt = "<div class=\"wp-block-post-excerpt\"><p class=\"wp-block-post-excerpt__excerpt\"> </p></div>";
    assert_eq!(text.trim(), format!("<h2 class=\"wp-block-post-title\">Holds parts</h2>{excerpt}"));
}

#[test]
fn navigation_shows_its_links() {
    let server = server();
    let page = |title: &str, parent: i64| {
        made(&server, "/wp/v2/pages", &json!({"title": title, "status": "publish", "parent": parent, "content": "x"}))
    };
    let (about, site) = (page("About", 0), server.site.clone());
    page("Team", about);
    let items = format!(
        "<!-- wp:navigation-link {{\"label\":\"One & <em>two</em><script>x</script>\",\"url\":\"/one\",\"rel\":\"a\\u0022 onclick=\\u0022b\",\"opensInNewTab\":true}} /-->\
         <!-- wp:navigation-link {{\"label\":\"About\",\"type\":\"page\",\"id\":{about},\"url\":\"{site}/about/\"}} /-->\
         <!-- wp:navigation-link {{\"label\":\"Gone\",\"kind\":\"post-type\",\"id\":987654,\"url\":\"/gone\"}} /-->\
         <!-- wp:navigation-link {{\"label\":\"Script\",\"url\":\"javascript:alert(1)\"}} /-->\
         <!-- wp:navigation-submenu {{\"label\":\"More\",\"url\":\"#\"}} --><!-- wp:home-link {{\"label\":\"Home\"}} /--><!-- /wp:navigation-submenu -->"
    );
    let menu = made(&server, "/wp/v2/navigation", &json!({"title": "Menu", "status": "publish", "content": items}));
    let text =
        shown(&server, record(&server, &format!("<!-- wp:navigation {{\"ref\":{menu},\"ariaLabel\":\"Main\"}} /-->")));
    for part in [
        "<nav class=\"wp-block-navigation is-layout-flex wp-block-navigation-is-layout-flex\" aria-label=\"Main\"><ul class=\"wp-block-navigation__container\">",
        "<span class=\"wp-block-navigation-item__label\">One &amp; <em>two</em>",
        " href=\"/one\" target=\"_blank\" rel=\"a&quot; onclick=&quot;b\"",
        &format!("href=\"{site}/about/\"><span class=\"wp-block-navigation-item__label\">About</span></a></li>"),
        "<li class=\"wp-block-navigation-item has-child wp-block-navigation-submenu\"><a class=\"wp-block-navigation-item__content\" href=\"#\">",
        "<ul class=\"wp-block-navigation__submenu-container\"><li class=\"wp-block-navigation-item wp-block-home-link\">",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("Gone") && !text.contains("<script") && !text.contains("javascript:"), "{text}");
    let text = shown(
        &server,
        record(&server, "<!-- wp:page-list /--><!-- wp:search {\"label\":\"Look\\u0022 x=\\u0022\"} /-->"),
    );
    assert!(
        text.contains(&format!(
            "<li class=\"wp-block-pages-list__item has-child\"><a class=\"wp-block-pages-list__item__link\" href=\"{site}/about/\">About</a>\
             <ul class=\"wp-block-navigation__submenu-container\"><li class=\"wp-block-pages-list__item \">"
        )),
        "{text}"
    );
    assert!(text.contains("<form role=\"search\"") && !text.contains("\" x=\""), "{text}");
}

#[test]
fn comments_and_notes_are_shown() {
    let server = server();
    let post = |body: Value| made(&server, "/wp/v2/posts", &body);
    let open = post(json!({"title": "Open", "status": "publish", "content": "x"}));
    let closed = post(json!({"title": "Closed", "status": "publish", "password": "p", "content": "x"}));
    let comment = |post: i64, text: &str, more: Value| {
        let mut body = json!({"post": post, "content": text});
        body.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        made(&server, "/wp/v2/comments", &body)
    };
    let words = "word ".repeat(30);
    comment(
        open,
        &words,
        json!({"author_name": "Ann", "author_email": "ann@example.org", "author_url": "https://ann.example", "status": "approved"}),
    );
    comment(open, "Wait for me", json!({"status": "hold"}));
    comment(closed, "A secret", json!({}));
    let text = shown(&server, record(&server, "<!-- wp:latest-comments {\"displayAvatar\":false} /-->"));
    assert!(text.contains("<ol class=\"has-dates has-excerpts wp-block-latest-comments\">"), "{text}");
    assert!(text.contains("href=\"https://ann.example\">Ann</a> on <a"), "{text}");
    assert!(text.contains(&format!("<p>{}&hellip;</p>", vec!["word"; 20].join(" "))), "{text}");
    assert!(!text.contains("Wait") && !text.contains("secret") && !text.contains("<img"), "{text}");
    let notes = json!([{"id": "n1", "content": "See <em>there</em><script>x</script>"}]).to_string();
    let body = json!({"title": "Noted", "status": "publish", "content": "<!-- wp:footnotes /-->", "meta": {"footnotes": notes}});
    let text = shown(&server, post(body));
    assert!(text.contains("<ol class=\"wp-block-footnotes\"><li id=\"n1\">See <em>there</em>"), "{text}");
    assert!(text.contains("<a href=\"#n1-link\"") && !text.contains("<script"), "{text}");
}

#[test]
fn blocks_speak_the_language_of_the_site() {
    let server = server();
    let of = made(
        &server,
        "/wp/v2/posts",
        &json!({"title": "Fluss", "status": "publish", "date": "2019-03-01T00:00:00", "content": "<p>Text</p>"}),
    );
    for author in ["Ann", "Ben"] {
        let body = json!({"post": of, "author_name": author, "author_email": "a@example.com", "content": author, "status": "approve"});
        made(&server, "/wp/v2/comments", &body);
    }
    let holder = record(
        &server,
        "<!-- wp:archives {\"displayAsDropdown\":true,\"type\":\"monthly\"} /--><!-- wp:latest-comments /-->\
         <!-- wp:query {\"query\":{\"postType\":\"post\",\"search\":\"Fluss\"}} --><!-- wp:post-template -->\
         <!-- wp:post-date {\"format\":\"j. F Y\"} /--><!-- wp:post-comments-link /--><!-- wp:read-more /-->\
         <!-- wp:post-time-to-read /--><!-- /wp:post-template --><!-- wp:query-total /--><!-- /wp:query -->\
         <!-- wp:search /--><!-- wp:calendar {\"month\":3,\"year\":2019} /-->",
    );
    let english = shown(&server, holder);
    let parts = [
        (">Archives</label>", ">Archiv</label>"),
        (">Select Month</option>", ">Monat auswählen</option>"),
        ("> March 2019</option>", "> März 2019</option>"),
        (">1. March 2019</time>", ">1. März 2019</time>"),
        (">2 comments<span", ">2 Kommentare<span"),
        ("screen-reader-text\"> on Fluss</span>", "screen-reader-text\"> zu Fluss</span>"),
        (">Read more<span", ">Weiterlesen<span"),
        ("1–2 minutes", "1–2 Minuten"),
        (">2 results found</div>", ">2 Ergebnisse gefunden</div>"),
        (">Search</label>", ">Suche</label>"),
        (">March 2019</caption>", ">März 2019</caption>"),
        ("aria-label=\"Monday\">M</th>", "aria-label=\"Montag\">M</th>"),
        ("aria-label=\"Posts published on March 1, 2019\"", "aria-label=\"Beiträge vom 1. März 2019\""),
        (
            "</span> on <a class=\"wp-block-latest-comments__comment-link\"",
            "</span> zu <a class=\"wp-block-latest-comments__comment-link\"",
        ),
    ];
    for (text, _) in parts {
        assert!(english.contains(text), "{text} in\n{english}");
    }
    // A document that was cached before is made again.
    let changed = server.admin("POST", "/wp/v2/settings", Some(&json!({"language": "de_DE"})));
    assert_eq!(changed.status, 200, "{}", changed.text);
    let german = shown(&server, holder);
    for (_, text) in parts {
        assert!(german.contains(text), "{text} in\n{german}");
    }
}
