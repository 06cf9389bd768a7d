//! Blocks as they are shown: classes, visibility, anchors, values from elsewhere.

use super::server::Server;
use serde_json::{Value, json};

fn server() -> Server {
    Server::with(&["site.prefix=wp"])
}

fn made(server: &Server, content: &str) -> Value {
    let body = json!({"title": "Shown", "content": content, "status": "publish"});
    let made = server.admin("POST", "/wp/v2/posts", Some(&body));
    assert_eq!(made.status, 201, "{}", made.text);
    made.body
}

fn shown(server: &Server, content: &str) -> String {
    made(server, content)["content"]["rendered"].as_str().expect("text").to_owned()
}

#[test]
fn blocks_have_the_classes_that_are_declared_and_those_of_their_attributes() {
    let server = server();
    let check = |content: &str, expected: &str| assert_eq!(shown(&server, content), expected, "{content}");
    check("<!-- wp:paragraph --><p class=\"a\">x</p><!-- /wp:paragraph -->", "<p class=\"a wp-block-paragraph\">x</p>");
    check("x", "<p>x</p>\n");
    check(
        "<!-- wp:paragraph {\"metadata\":{\"blockVisibility\":{\"viewport\":{\"tablet\":false,\"mobile\":false}}}} --><p>x <img src=\"a.png\"></p><!-- /wp:paragraph -->",
        "<p class=\"wp-block-hidden-mobile wp-block-hidden-tablet wp-block-paragraph\">x \
         <img decoding=\"async\" fetchpriority=\"auto\" src=\"a.png\"></p>",
    );
    check(
        "<!-- wp:paragraph {\"style\":{\"elements\":{\"link\":{\"color\":{\"text\":\"#fff\"}}}}} --><p>x</p><!-- /wp:paragraph -->\
         <!-- wp:paragraph {\"style\":{\"elements\":{\"h2\":{\"color\":{\"background\":\"red\"}}}}} --><p>y</p><!-- /wp:paragraph -->",
        "<p class=\"wp-elements-1 wp-block-paragraph\">x</p><p class=\"wp-elements-2 wp-block-paragraph\">y</p>",
    );
    let styled = shown(
        &server,
        "<!-- wp:paragraph {\"style\":{\"css\":\"color:red\"}} --><p>x</p><!-- /wp:paragraph -->\
         <!-- wp:paragraph {\"style\":{\"css\":\"<b>\"}} --><p>y</p><!-- /wp:paragraph -->",
    );
    assert!(styled.starts_with("<p class=\"has-custom-css wp-custom-css-"), "{styled}");
    assert!(styled.ends_with("<p class=\"wp-block-paragraph\">y</p>"), "{styled}");
    let button = |width: &str, text: &str| {
        let attributes = format!("{{\"style\":{{\"dimensions\":{{\"width\":\"{width}\"}}}}}}");
        let inside = format!("<div class=\"wp-block-button\" style=\"color:red\"><a>{text}</a></div>");
        shown(&server, &format!("<!-- wp:button {attributes} -->{inside}<!-- /wp:button -->x"))
    };
    let whole = |classes: &str, style: &str| {
        format!("<div class=\"wp-block-button{classes}\" style=\"{style}color:red\"><a>b</a></div>x")
    };
    let half = " has-custom-width wp-block-button__width wp-block-button__width-50";
    assert_eq!(button("50%", "b"), whole(half, "--wp--block-button--width: 50; "));
    assert_eq!(button("var:preset|dimension|50", "b"), whole(half, "--wp--block-button--width: 50; "));
    assert_eq!(button("9em", "b"), whole(" has-custom-width", "width: 9em; "));
    assert_eq!(button("9em;x:y", "b"), whole("", ""));
    assert_eq!(button("50%", ""), "x", "a button without a text is none");
}

#[test]
fn layouts_have_the_classes_that_style_sheets_name() {
    let server = server();
    let check = |content: &str, expected: &str| assert_eq!(shown(&server, content), expected, "{content}");
    let column = "<!-- wp:column --><div class=\"wp-block-column\"></div><!-- /wp:column -->";
    check(
        &format!("<!-- wp:columns --><div class=\"wp-block-columns\">{column}</div><!-- /wp:columns -->"),
        "<div class=\"wp-block-columns is-layout-flex wp-container-core-columns-is-layout-794e3cfa \
         wp-block-columns-is-layout-flex\"><div class=\"wp-block-column is-layout-flow \
         wp-block-column-is-layout-flow\"></div></div>",
    );
    // The element around the blocks inside has the classes, not what is closed before them.
    let inside = "<!-- wp:html --><b>x</b><!-- /wp:html -->";
    check(
        &format!(
            "<!-- wp:group {{\"layout\":{{\"type\":\"constrained\"}}}} --><div class=\"wp-block-group\"><p class=\"y\">y</p><br>\
             <div class=\"wp-block-group__inner-container\">{inside}</div></div><!-- /wp:group -->"
        ),
        "<div class=\"wp-block-group\"><p class=\"y\">y</p><br><div class=\"wp-block-group__inner-container \
         has-global-padding is-layout-constrained wp-block-group-is-layout-constrained\"><b>x</b></div></div>",
    );
    let cover = |attributes: &str, style: &str| {
        format!("<!-- wp:cover {attributes}--><div class=\"wp-block-cover\"{style}><p>x</p></div><!-- /wp:cover -->")
    };
    let classes = "is-layout-flow wp-block-cover-is-layout-flow";
    check(&cover("", ""), &format!("<div class=\"wp-block-cover {classes}\"><p>x</p></div>"));
    check(
        &cover("{\"minHeight\":90} ", " style=\"background:url('a?b&amp;c')\""),
        &format!(
            "<div class=\"wp-block-cover {classes}\" \
             style=\"background:url(&apos;a?b&amp;c&apos;);aspect-ratio:unset;\"><p>x</p></div>"
        ),
    );
    check(
        &cover("{\"style\":{\"dimensions\":{\"aspectRatio\":\"16/9\"}}} ", ""),
        &format!(
            "<div style=\"aspect-ratio:16/9;height:unset;min-height:unset;\" class=\"wp-block-cover {classes} \
             has-aspect-ratio\"><p>x</p></div>"
        ),
    );
    // The place of a block in a grid depends on the grid.
    let placed = "<!-- wp:group {\"layout\":{\"type\":\"grid\",\"columnCount\":3}} --><div>\
                  <!-- wp:paragraph {\"style\":{\"layout\":{\"columnSpan\":2}}} --><p>x</p><!-- /wp:paragraph -->\
                  </div><!-- /wp:group -->";
    assert!(shown(&server, placed).contains("<p class=\"wp-container-content-60984cfd wp-block-paragraph\">"));
}

#[test]
fn numbers_of_blocks_count_within_a_document() {
    let server = server();
    let button = "<!-- wp:button {\"className\":\"is-style-outline\"} --><div class=\"wp-block-button is-style-outline\">\
                  <a>x</a></div><!-- /wp:button -->";
    let picture = "<!-- wp:image {\"id\":7} --><figure><img src=\"a.png\"/></figure><!-- /wp:image -->";
    let gallery = format!("<!-- wp:gallery --><figure class=\"g\">{picture}</figure><!-- /wp:gallery -->");
    let archives = "<!-- wp:archives {\"displayAsDropdown\":true} /-->";
    let categories = "<!-- wp:categories /--><!-- wp:categories {\"displayAsDropdown\":true,\"showLabel\":false} /-->";
    let post = made(&server, &[button, &gallery, archives, "<!-- wp:search /-->", button, categories].concat());
    let address = format!("/wp/v2/posts/{}", post["id"]);
    for _ in 0..2 {
        let text = server.get(&address).body["content"]["rendered"].as_str().expect("text").to_owned();
        for part in [
            "<div class=\"wp-block-button is-style-outline is-style-outline--1\">",
            "<figure class=\"g wp-block-gallery-2 is-layout-flex wp-block-gallery-is-layout-flex\">",
            "<img decoding=\"async\" data-id=\"7\" src=\"a.png\"/>",
            "<label for=\"wp-block-archives-3\" class=\"wp-block-archives__label\">Archives</label>",
            "<select id=\"wp-block-archives-3\" name=\"archive-dropdown\">",
            "for=\"wp-block-search__input-4\" >",
            "is-style-outline--5",
            "<label class=\"wp-block-categories__label screen-reader-text\" for=\"wp-block-categories-2\">",
            "<select  name='category_name' id='wp-block-categories-2' class='postform'>",
            "<option class=\"level-0\" value=\"uncategorized\">Uncategorized</option>",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

#[test]
fn hidden_blocks_are_shown_nowhere() {
    let server = server();
    let content = "<!-- wp:paragraph {\"metadata\":{\"blockVisibility\":false}} --><p>Secret</p><!-- /wp:paragraph -->\
                   <!-- wp:quote --><blockquote><!-- wp:paragraph {\"metadata\":{\"blockVisibility\":false}} --><p>Inner</p>\
                   <!-- /wp:paragraph --><!-- wp:paragraph --><p>Open</p><!-- /wp:paragraph --></blockquote><!-- /wp:quote -->\
                   <!-- wp:archives {\"metadata\":{\"blockVisibility\":false}} /-->";
    let made = made(&server, content);
    assert_eq!(made["excerpt"]["rendered"], "<p>Open</p>\n");
    let rendered = made["content"]["rendered"].as_str().expect("text");
    assert!(!["Secret", "Inner", "archives"].iter().any(|hidden| rendered.contains(hidden)), "{rendered}");
    assert_eq!(made["content"]["raw"], content);
    let html = "x<!-- wp:html {\"metadata\":{\"blockVisibility\":false}} --><b>Hidden</b><!-- /wp:html -->";
    assert_eq!(shown(&server, html), "x", "blocks without an element of their own, too");
}

#[test]
fn ids_of_captions_are_unique_within_a_document() {
    let server = server();
    let caption = "[caption id=\"attachment_7\" width=\"30\"]<img src=\"a.png\"> Words[/caption]";
    let made = made(&server, &[caption, caption, caption].join("\n\n"));
    let address = format!("/wp/v2/posts/{}", made["id"]);
    for _ in 0..2 {
        let text = server.get(&address).text;
        for id in ["attachment_7", "attachment_7-2", "attachment_7-3"] {
            assert_eq!(text.matches(&format!("<figure id=\\\"{id}\\\"")).count(), 1, "{id} in {text}");
        }
        assert!(text.contains("aria-describedby=\\\"caption-attachment-7-2\\\""), "{text}");
    }
}

#[test]
fn anchors_are_ids_of_dynamic_blocks() {
    let server = server();
    let text = shown(&server, "<!-- wp:archives {\"anchor\":\"a\\\"b\"} /-->");
    assert!(text.starts_with("<ul id=\"a&quot;b\" class="), "{text}");
    let route = "/wp/v2/block-renderer/core/archives?context=edit&attributes[anchor]=here";
    let rendered = server.admin("GET", route, None).body["rendered"].clone();
    assert!(rendered.as_str().is_some_and(|text| text.contains("id=\"here\"")), "{rendered}");
    let refused = server.admin("GET", "/wp/v2/block-renderer/core/archives?context=edit&attributes[columns]=2", None);
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"));
    let code = &refused.body["data"]["details"]["attributes"]["code"];
    assert_eq!(code, "rest_additional_properties_forbidden", "{}", refused.text);
}

#[test]
fn own_style_sheets_of_blocks_are_for_those_who_may_write_any_markup() {
    let server = server();
    let author = server.user("ann", "author");
    let raw = |content: &str| {
        let body = json!({"title": "Styled", "content": content});
        server.ask("POST", "/wp/v2/posts", Some(&author), Some(&body)).body["content"]["raw"].clone()
    };
    let block = |attributes: &str| format!("<!-- wp:paragraph {attributes}--><p>x</p><!-- /wp:paragraph -->");
    assert_eq!(raw(&block("{\"style\":{\"css\":\"color:red\"}} ")), block(""));
    let rest = "{\"style\":{\"color\":{\"text\":\"#fff\"}},\"dropCap\":false} ";
    assert_eq!(
        raw(&block("{\"style\":{\"css\":\"a\",\"color\":{\"text\":\"#fff\"}},\"dropCap\":false} ")),
        block(rest)
    );
    assert_eq!(raw(&block("{\"css\":\"a\"} ")), block("{\"css\":\"a\"} "));
    let kept = block("{\"style\":{\"css\":\"color:red\"}} ");
    assert_eq!(made(&server, &kept)["content"]["raw"], kept);
}

#[test]
fn queries_choose_by_terms_and_leave_out_the_current_record() {
    let server = server();
    let term = |name: &str| {
        server.admin("POST", "/wp/v2/categories", Some(&json!({"name": name}))).body["id"].as_i64().expect("an id")
    };
    let (one, two) = (term("One"), term("Two"));
    for (title, terms) in [("A", vec![one]), ("B", vec![one, two]), ("C", vec![two])] {
        let body = json!({"title": title, "status": "publish", "categories": terms});
        assert_eq!(server.admin("POST", "/wp/v2/posts", Some(&body)).status, 201);
    }
    let found = |query: &str| {
        let content = format!(
            "<!-- wp:query {{\"query\":{{\"order\":\"asc\",\"orderBy\":\"title\",{query}}}}} --><div><!-- wp:post-template -->\
             <!-- wp:post-title /--><!-- /wp:post-template --></div><!-- /wp:query -->"
        );
        let body = json!({"title": "Q", "status": "publish", "categories": [two], "content": content});
        let made = server.admin("POST", "/wp/v2/posts", Some(&body)).body;
        server.admin("DELETE", &format!("/wp/v2/posts/{}?force=true", made["id"]), None);
        let text = made["content"]["rendered"].as_str().expect("text").to_owned();
        ["A", "B", "C", "Q"].into_iter().filter(|title| text.contains(&format!(">{title}</h2>"))).collect::<String>()
    };
    assert_eq!(found(&format!("\"taxQuery\":{{\"category\":[{one}]}}")), "AB");
    assert_eq!(found(&format!("\"taxQuery\":{{\"category\":[\"{one}\"]}}")), "AB");
    assert_eq!(found(&format!("\"taxQuery\":{{\"include\":{{\"category\":[{two}]}}}}")), "BCQ");
    let without = format!("\"taxQuery\":{{\"include\":{{\"category\":[{two}]}},\"exclude\":{{\"category\":[{one}]}}}}");
    assert_eq!(found(&without), "CQ");
    assert_eq!(found(&format!("{without},\"excludeCurrent\":true")), "C");
}

#[test]
fn blocks_take_values_of_their_record() {
    let server = server();
    let bound = |field: &str| format!("{{\"metadata\":{{\"bindings\":{{\"content\":{field}}}}}}}");
    let date = bound("{\"source\":\"core/post-data\",\"args\":{\"field\":\"date\"}}");
    let content = format!(
        "<!-- wp:list --><ul><!-- wp:list-item {date} --><li>Old<!-- wp:list --><ul><!-- wp:list-item --><li>Inner</li>\
         <!-- /wp:list-item --></ul><!-- /wp:list --></li><!-- /wp:list-item --></ul><!-- /wp:list -->\
         <!-- wp:paragraph {} --><p>Kept</p><!-- /wp:paragraph -->",
        bound("{\"source\":\"somewhere/else\"}"),
    );
    let body = json!({"title": "Bound", "content": content, "status": "publish", "date": "2020-05-06T07:08:09"});
    let made = server.admin("POST", "/wp/v2/posts", Some(&body)).body;
    let text = made["content"]["rendered"].as_str().expect("text");
    let expected = "<ul class=\"wp-block-list\"><li>2020-05-06T07:08:09+00:00<ul class=\"wp-block-list\"><li>Inner</li></ul></li></ul>\
                    <p class=\"wp-block-paragraph\">Kept</p>";
    assert_eq!(text, expected);
    server.admin("POST", &format!("/wp/v2/posts/{}", made["id"]), Some(&json!({"date": "2021-05-06T07:08:09"})));
    assert!(server.get(&format!("/wp/v2/posts/{}", made["id"])).text.contains("2021-05-06T07:08:09+00:00"));
}

#[test]
fn the_link_to_a_picture_is_for_those_who_may_see_it() {
    let server = server();
    let draft = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "Draft"}))).body["id"].clone();
    let mut png = Vec::new();
    image::DynamicImage::new_rgb8(4, 2)
        .write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png)
        .expect("a picture");
    let url = format!("{}/wp/v2/media?post={draft}", server.rest);
    let disposition = "attachment; filename=a.png".to_owned();
    let picture = server.send(
        "POST",
        &url,
        Some(&server.admin),
        Some(("image/png", png)),
        &[("Content-Disposition", disposition.as_str())],
    );
    let body = json!({"title": "Open", "status": "publish", "featured_media": picture.body["id"]});
    let open = server.admin("POST", "/wp/v2/posts", Some(&body)).body["id"].clone();
    let link = |who: Option<&(String, String)>| {
        let read = server.ask("GET", &format!("/wp/v2/posts/{open}"), who, None).body;
        assert_eq!(read["featured_media"], picture.body["id"]);
        read["_links"].get("wp:featuredmedia").is_some()
    };
    // The order matters: no answer to one caller is given to the other.
    assert!(link(Some(&server.admin)));
    assert!(!link(None));
    assert!(link(Some(&server.admin)));
    let listed = server.get("/wp/v2/posts?_embed").body;
    assert!(
        listed[0]["_links"].get("wp:featuredmedia").is_none()
            && listed[0]["_embedded"].get("wp:featuredmedia").is_none()
    );
    server.admin("POST", &format!("/wp/v2/posts/{draft}"), Some(&json!({"status": "publish"})));
    assert!(link(None));
}

#[test]
fn forms_lists_and_menus_follow_their_attributes() {
    let server = server();
    let has = |content: &str, part: &str| {
        let text = shown(&server, content);
        assert!(text.contains(part), "{part} in {text}");
    };
    has("<!-- wp:search {\"tagName\":\"search\"} /-->", "<form method=\"get\" action=");
    has("<!-- wp:search {\"tagName\":\"search\"} /-->", "</form></search>");
    has("<!-- wp:search /-->", "<form role=\"search\" method=\"get\"");
    let grid = "{\"layout\":{\"type\":\"grid\",\"columnCount\":2}}";
    let classes = "<ul class=\"wp-block-latest-posts__list is-grid columns-2 wp-block-latest-posts is-layout-grid \
                   wp-container-core-latest-posts-is-layout-b861f4ab wp-block-latest-posts-is-layout-grid\">";
    has(&format!("<!-- wp:latest-posts {grid} /-->"), classes);
    let details = |attributes: &str| {
        format!(
            "<!-- wp:details {attributes}--><details><summary>s</summary><img src=\"a.png\"></details><!-- /wp:details -->"
        )
    };
    has(&details(""), "fetchpriority=\"low\" src=\"a.png\"");
    assert!(!shown(&server, &details("{\"showContent\":true} ")).contains("fetchpriority"));
    let menu = "<!-- wp:navigation --><!-- wp:home-link {\"label\":\"Home\"} /--><!-- /wp:navigation -->";
    let text = shown(&server, &[menu, menu, menu].concat());
    let labels: Vec<&str> = text.split("aria-label=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(labels, [" 2", " 3"], "{text}");
    assert_eq!(shown(&server, "<!-- wp:image --><figure></figure><!-- /wp:image -->x"), "x");
    let post = made(&server, "Commented");
    server.admin("POST", "/wp/v2/comments", Some(&json!({"post": post["id"], "content": "One <b>two</b>"})));
    let list = |attributes: &str| shown(&server, &format!("<!-- wp:latest-comments {attributes}/-->"));
    assert!(list("{\"displayContent\":\"full\"} ").contains("<p>One <b>two</b></p>"));
    assert!(list("").contains("<p>One two</p>"));
    assert!(!list("{\"displayContent\":\"none\"} ").contains("One"));
    assert!(!list("{\"displayExcerpt\":false,\"displayContent\":\"full\"} ").contains("One"));
}

#[test]
fn dates_of_changes_are_shown_where_there_was_one() {
    let server = server();
    let block = "<!-- wp:post-date {\"metadata\":{\"bindings\":{\"datetime\":{\"source\":\"core/post-data\",\"args\":{\"field\":\"modified\"}}}}} /-->";
    let made = made(&server, &format!("{block}x"));
    assert_eq!(made["content"]["rendered"].as_str().map(str::trim), Some("x"), "{}", made["content"]);
    let route = format!("/wp/v2/posts/{}", made["id"]);
    let earlier = server.admin("POST", &route, Some(&json!({"date": "2020-01-02T03:04:05"}))).body;
    let text = earlier["content"]["rendered"].as_str().expect("text");
    let modified = earlier["modified"].as_str().expect("a time");
    assert!(text.contains(&format!("<time datetime=\"{modified}+00:00\"")), "{text}");
}

#[test]
fn ids_with_numbers_are_counted_through_the_documents_of_a_response() {
    const CONTENT: &str = "<!-- wp:paragraph {\"style\":{\"elements\":{\"link\":{\"color\":{\"text\":\"#fff\"}}}}} --><p>x</p><!-- /wp:paragraph -->\
        <!-- wp:archives {\"displayAsDropdown\":true} /--><!-- wp:search {\"label\":\"S\"} /-->\
        [audio src=\"http://localhost/a.mp3\"] \
        [caption id=\"attachment_7\" width=\"30\"]<img src=\"https://example.org/a.png\"/> Words[/caption]";
    let ids = |body: &Value| -> Vec<String> {
        let html = body["content"]["rendered"].as_str().expect("text");
        let attributes = html.split([' ', '>']).filter(|word| word.starts_with("id=") || word.contains("wp-elements"));
        let value = |word: &str| word.split('"').nth(1).unwrap_or_default().to_owned();
        attributes
            .map(value)
            .map(|id| {
                id.split('-').skip_while(|part| *part != "audio").nth(2).map_or(id.clone(), |n| format!("audio {n}"))
            })
            .collect()
    };
    let expected = |elements: u32, number: u32, audio: u32, caption: &str| {
        vec![
            format!("wp-elements-{elements}"),
            format!("wp-block-archives-{number}"),
            format!("wp-block-search__input-{}", number + 1),
            format!("audio {audio}"),
            format!("attachment_7{caption}"),
            format!("caption-attachment-7{caption}"),
        ]
    };
    let first = || expected(1, 1, 1, "");
    let server = server();
    let one = made(&server, CONTENT);
    (0..2).for_each(|_| drop(made(&server, CONTENT)));
    assert_eq!(ids(&one), first());
    let alone = || ids(&server.get(&format!("/wp/v2/posts/{}", one["id"])).body);
    let list = |query: &str| -> Vec<Vec<String>> {
        let listed = server.get(&format!("/wp/v2/posts?search=Shown&{query}")).body;
        listed.as_array().expect("a list").iter().map(ids).collect()
    };
    // Whatever was rendered or cached before: alone each begins with the first, in a list they go on.
    for round in ["", "a=1&", "a=2&"] {
        assert_eq!(alone(), first());
        let contents = [first(), expected(2, 3, 2, "-2"), expected(3, 5, 3, "-3")];
        assert_eq!(list(&format!("{round}_fields=content")), contents);
        // The blocks of excerpts are shown, too, and their markup is removed.
        assert_eq!(list(round), [first(), expected(3, 3, 2, "-2"), expected(5, 5, 3, "-3")]);
        assert_eq!(list(&format!("{round}per_page=1&page=2")), [first()]);
    }
    let server = Server::start();
    (0..2).for_each(|_| {
        let body = json!({"title": {"raw": "Shown"}, "content": {"raw": CONTENT}, "status": "publish"});
        assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&body)).status, 201);
    });
    let listed = server.get("/cms/v2/posts?search=Shown").body;
    assert_eq!(listed.as_array().expect("a list").iter().map(ids).collect::<Vec<_>>(), [first(), first()]);
}
