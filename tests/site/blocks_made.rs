//! Blocks that the server makes: links to accounts, authors, comments, pages of queries, terms, calendars.

use super::dynamic::{made, server};
use super::server::Server;
use serde_json::{Value, json};

fn record(server: &Server, content: &str) -> i64 {
    let body = json!({"title": "Otters", "content": content, "status": "publish", "date": "2019-05-04T10:00:00"});
    made(server, "/wp/v2/posts", &body)
}

fn shown(server: &Server, id: i64) -> String {
    server.get(&format!("/wp/v2/posts/{id}")).body["content"]["rendered"].as_str().expect("text").to_owned()
}

fn rendered(server: &Server, content: &str) -> String {
    shown(server, record(server, content))
}

#[test]
fn links_to_accounts_have_names_drawings_and_what_the_list_says() {
    let server = server();
    let text = rendered(
        &server,
        "<!-- wp:social-links {\"openInNewTab\":true,\"showLabels\":true,\"iconColor\":\"base\",\"iconColorValue\":\"#fff\"} -->\
         <ul class=\"wp-block-social-links\"><!-- wp:social-link {\"url\":\"x.example/a?b=1&c=2\",\"service\":\"github\",\"rel\":\"me\"} /-->\
         <!-- wp:social-link {\"url\":\"a@example.org\",\"service\":\"mail\",\"label\":\"Write\"} /-->\
         <!-- wp:social-link {\"service\":\"x\"} /--></ul><!-- /wp:social-links -->\
         <!-- wp:social-link {\"url\":\"javascript:alert(1)\",\"service\":\"un\\u0022known\"} /-->",
    );
    for part in [
        "<li style=\"color:#fff\" class=\"wp-social-link wp-social-link-github has-base-color wp-block-social-link\">\
         <a rel=\"me noopener nofollow\" target=\"_blank\" href=\"https://x.example/a?b=1&#038;c=2\" \
         class=\"wp-block-social-link-anchor\"><svg ",
        "<span class=\"wp-block-social-link-label\">GitHub</span></a></li>",
        "href=\"mailto:a@example.org\"",
        ">Write</span>",
        "<li class=\"wp-social-link wp-social-link-unknown wp-block-social-link\"><a href=\"\" ",
        "<span class=\"wp-block-social-link-label screen-reader-text\">Share Icon</span>",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("<li").count(), 3, "one without an address shows nothing: {text}");
    assert!(!text.contains("javascript"), "{text}");
}

#[test]
fn what_the_server_makes_has_the_style_that_authors_chose() {
    let server = server();
    let style = json!({"style": {
        "color": {"text": "#111", "background": "var:preset|color|base"},
        "typography": {"fontSize": "1.5rem", "textAlign": "center"},
        "border": {"radius": "3px", "color": "red", "top": {"width": "1px"}},
        "spacing": {"padding": {"top": "1px"}, "margin": "2em"},
    }});
    let text = rendered(&server, &format!("<!-- wp:site-title {style} /-->"));
    let expected = "<h1 style=\"color:#111;background-color:var(--wp--preset--color--base);\
                    font-size:clamp(0.984rem, 0.984rem + ((1vw - 0.2rem) * 0.809), 1.5rem);border-color:red;border-radius:3px;\
                    border-top-width:1px;padding-top:1px;margin:2em\" class=\"wp-block-site-title has-text-color has-background \
                    has-text-align-center has-border-color\">";
    assert!(text.starts_with(expected), "{text}");
    let hostile =
        json!({"style": {"color": {"text": "red;background:url(//x.example/a)"}, "spacing": {"margin": "\"><b>"}}});
    let text = rendered(&server, &format!("<!-- wp:site-title {hostile} /-->"));
    assert!(text.starts_with("<h1 class=\"wp-block-site-title has-text-color\">"), "{text}");
    let text = rendered(
        &server,
        "<!-- wp:paragraph {\"style\":{\"typography\":{\"fontSize\":\"40px\"}}} --><p style=\"font-size:40px\">x</p><!-- /wp:paragraph -->",
    );
    let grown = "font-size:clamp(24.034px, 1.502rem + ((1vw - 3.2px) * 1.565), 40px);";
    assert_eq!(text, format!("<p class=\"wp-block-paragraph\" style=\"{grown}\">x</p>"));
}

#[test]
fn pictures_of_two_colours_have_a_class_for_them() {
    let server = server();
    let picture = |duotone: Value| {
        let attributes = json!({"style": {"color": {"duotone": duotone}}});
        format!(
            "<!-- wp:image {attributes} --><figure class=\"wp-block-image\"><img src=\"a.png\"/></figure><!-- /wp:image -->"
        )
    };
    let all = [
        json!(["#000", "#FFF"]),
        json!("var:preset|duotone|midnight"),
        json!("unset"),
        json!("var:preset|duotone|none\""),
    ];
    let text = rendered(&server, &all.map(picture).concat());
    for class in
        ["wp-duotone-000-fff-1", "wp-duotone-midnight", "wp-duotone-unset-2", "wp-duotone-varpresetduotonenone-3"]
    {
        assert!(text.contains(&format!("<figure class=\"wp-block-image {class}\">")), "{class}\n{text}");
    }
}

#[test]
fn authors_have_pictures_names_and_descriptions_and_are_never_stale() {
    let server = server();
    let me = server.admin("GET", "/wp/v2/users/me", None).body["id"].as_i64().expect("an id");
    let say = |name: &str| {
        let body = json!({"name": name, "description": "Counts <b>otters</b>."});
        assert_eq!(server.admin("POST", &format!("/wp/v2/users/{me}"), Some(&body)).status, 200);
    };
    say("Ida");
    let id = record(
        &server,
        "<!-- wp:avatar {\"size\":30,\"isLink\":true,\"linkTarget\":\"_blank\",\"style\":{\"border\":{\"radius\":\"4px\"}}} /-->\
         <!-- wp:post-author {\"showBio\":true,\"byline\":\"By\"} /--><!-- wp:post-author-biography /-->\
         <!-- wp:avatar {\"userId\":987654} /-->",
    );
    let text = shown(&server, id);
    for part in [
        "target=\"_blank\" aria-label=\"(Ida author archive, opens in a new tab)\" class=\"wp-block-avatar__link\">\
         <img alt='Ida Avatar' src='https://secure.gravatar.com/avatar/",
        "?s=30&#038;d=mm&#038;r=g' srcset='",
        "?s=60&#038;d=mm&#038;r=g 2x' class='avatar avatar-30 photo wp-block-avatar__image' height='30' width='30'  style=\"border-radius:4px;\"/>",
        "<p class=\"wp-block-post-author__byline\">By</p><p class=\"wp-block-post-author__name\">Ida</p>",
        "<div class=\"wp-block-post-author-biography\">Counts",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("wp-block-avatar__image").count(), 1, "nobody has no picture: {text}");
    say("Eva");
    assert!(shown(&server, id).contains("__name\">Eva</p>"));
}

#[test]
fn comments_are_shown_below_what_they_answer() {
    let server = server();
    let id = record(
        &server,
        "<!-- wp:comments --><div class=\"wp-block-comments\"><!-- wp:comments-title /--><!-- wp:comment-template -->\
         <!-- wp:comment-author-name /--><!-- wp:comment-date {\"format\":\"Y-m-d\"} /--><!-- wp:comment-content /-->\
         <!-- wp:comment-reply-link /--><!-- /wp:comment-template --><!-- wp:comments-pagination --><!-- wp:comments-pagination-next /-->\
         <!-- /wp:comments-pagination --></div><!-- /wp:comments --><!-- wp:post-comments-count /--><!-- wp:post-comments-link /-->",
    );
    let text = shown(&server, id);
    assert!(!text.contains("<h2") && !text.contains("<ol"), "{text}");
    assert!(text.contains("#respond>No comments<span"), "{text}");
    let comment = |text: &str, more: Value| {
        let mut body = json!({"post": id, "content": text, "author_name": "Ann <b>", "author_email": "ann@example.org", "status": "approved"});
        body.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        made(&server, "/wp/v2/comments", &body)
    };
    let first = comment("Seen \"one\"", json!({"date": "2020-01-01T10:00:00", "author_url": "http://ann.example/"}));
    let below = comment("Where?", json!({"date": "2020-01-03T10:00:00", "parent": first}));
    let second = comment("Me too", json!({"date": "2020-01-02T10:00:00"}));
    comment("Hidden", json!({"status": "hold"}));
    let text = shown(&server, id);
    let link = format!("{}/2019/05/otters/", server.site);
    for part in [
        "<h2 id=\"comments\" class=\"wp-block-comments-title\">3 responses to &#8220;Otters&#8221;</h2>".to_owned(),
        format!(
            "<ol class=\"wp-block-comment-template\"><li id=\"comment-{first}\" class=\"comment even thread-even depth-1\">"
        ),
        "<a rel=\"external nofollow ugc\" href=\"http://ann.example/\" target=\"_self\" >Ann".to_owned(),
        format!(
            "<time datetime=\"2020-01-01T10:00:00+00:00\"><a href=\"{link}#comment-{first}\">2020-01-01</a></time>"
        ),
        "<div class=\"wp-block-comment-content\"><p>Seen &#8220;one&#8221;</p>\n</div>".to_owned(),
        format!("<ol><li id=\"comment-{below}\" class=\"comment odd alt depth-2\">"),
        format!("</li></ol></li><li id=\"comment-{second}\" class=\"comment even thread-odd thread-alt depth-1\">"),
        format!("href=\"{link}?replytocom={second}#respond\" data-commentid=\"{second}\" data-postid=\"{id}\""),
        format!(
            "</ol></div><div class=\"wp-block-post-comments-count\">3</div><div class=\"wp-block-post-comments-link\">\
                 <a href={link}#comments>3 comments<span class=\"screen-reader-text\"> on Otters</span></a></div>"
        ),
    ] {
        assert!(text.contains(&part), "{part}\n{text}");
    }
    assert!(!text.contains("Hidden") && !text.contains("<nav"), "{text}");
    server.admin("DELETE", &format!("/wp/v2/comments/{second}?force=true"), None);
    let text = shown(&server, id);
    assert!(!text.contains("Me too") && text.contains(">2 responses to"), "{text}");
}

#[test]
fn queries_say_how_many_pages_and_records_they_have() {
    let server = server();
    let [eels, nothing] = ["Eels", "Nothing"].map(|name| made(&server, "/wp/v2/categories", &json!({ "name": name })));
    for n in 0..7 {
        let body = json!({"title": format!("Eel {n}"), "status": "publish", "categories": [eels]});
        made(&server, "/wp/v2/posts", &body);
    }
    let query = |more: Value, inside: &str| {
        let mut query = json!({"perPage": 1, "postType": "post", "taxQuery": {"category": [eels]}, "inherit": false});
        query.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        let attributes = json!({"queryId": 4, "query": query});
        rendered(
            &server,
            &format!("<!-- wp:query {attributes} --><div class=\"wp-block-query\">{inside}</div><!-- /wp:query -->"),
        )
    };
    let pages = "<!-- wp:query-pagination {\"paginationArrow\":\"arrow\"} --><!-- wp:query-pagination-previous /-->\
                 <!-- wp:query-pagination-numbers /--><!-- wp:query-pagination-next /--><!-- /wp:query-pagination -->";
    let text = query(json!({}), pages);
    for part in [
        "<nav class=\"wp-block-query-pagination is-layout-flex wp-block-query-pagination-is-layout-flex\" aria-label=\"Pagination\">\
         <div class=\"wp-block-query-pagination-numbers\"><span aria-current=\"page\" class=\"page-numbers current\">1</span>\n\
         <a class=\"page-numbers\" href=\"?query-4-page=2\">2</a>\n<a class=\"page-numbers\" href=\"?query-4-page=3\">3</a>\n\
         <span class=\"page-numbers dots\">&hellip;</span>\n<a class=\"page-numbers\" href=\"?query-4-page=7\">7</a></div>",
        "<a href=\"?query-4-page=2\" class=\"wp-block-query-pagination-next\">Next Page\
         <span class='wp-block-query-pagination-next-arrow is-arrow-arrow' aria-hidden='true'>→</span></a></nav>",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!query(json!({"pages": 1}), pages).contains("<nav"));
    let total = "<!-- wp:query-total /--><!-- wp:query-total {\"displayType\":\"range-display\"} /-->";
    let text = query(json!({"perPage": 3}), total);
    assert!(text.contains(">7 results found</div>") && text.contains(">Displaying 1 – 3 of 7</div>"), "{text}");
    let text = query(json!({"taxQuery": {"category": [nothing]}}), total);
    assert!(text.contains(">0 results found</div>") && text.contains(">Displaying 0 of 0</div>"), "{text}");
    let text =
        query(json!({"inherit": true}), &format!("<!-- wp:post-template --><p>x</p><!-- /wp:post-template -->{total}"));
    assert!(!text.contains("<p>") && text.contains(">0 results found<"), "a content has no page: {text}");
    let text = query(
        json!({}),
        "<!-- wp:query-title {\"type\":\"post-type\"} /--><!-- wp:query-title {\"type\":\"archive\"} /-->",
    );
    assert!(text.contains("<h1 class=\"wp-block-query-title\">Post Type: &#8220;Post&#8221;</h1></div>"), "{text}");
}

#[test]
fn queries_show_contents_and_what_is_locked() {
    let server = server();
    made(
        &server,
        "/wp/v2/posts",
        &json!({"title": "Heron", "content": "<p>Long legs</p>", "status": "publish", "sticky": true}),
    );
    made(
        &server,
        "/wp/v2/posts",
        &json!({"title": "Bittern", "content": "Secret", "status": "publish", "password": "x"}),
    );
    let text = rendered(
        &server,
        "<!-- wp:paragraph --><p>own</p><!-- /wp:paragraph --><!-- wp:post-content {\"tagName\":\"main\"} /-->\
         <!-- wp:query {\"query\":{\"perPage\":5,\"postType\":\"post\",\"exclude\":[]}} --><div><!-- wp:post-template -->\
         <!-- wp:post-title /--><!-- wp:post-content /--><!-- wp:post-time-to-read {\"displayMode\":\"words\"} /-->\
         <!-- /wp:post-template --></div><!-- /wp:query -->",
    );
    assert_eq!(text.matches("<main class=\"entry-content wp-block-post-content").count(), 1, "{text}");
    assert!(text.contains("</h2><div class=\"entry-content wp-block-post-content is-layout-flow wp-block-post-content-is-layout-flow\">\
                           <p>Long legs</p>\n</div><div class=\"wp-block-post-time-to-read\">2 words</div>"), "{text}");
    assert!(text.contains(">Protected: Bittern</h2>") && !text.contains("Secret"), "{text}");
}

#[test]
fn terms_are_queried_and_bound() {
    let server = server();
    let birds =
        made(&server, "/wp/v2/categories", &json!({"name": "Birds & co", "description": "With <em>wings</em>"}));
    let below = made(&server, "/wp/v2/categories", &json!({"name": "Auks", "parent": birds}));
    made(&server, "/wp/v2/posts", &json!({"title": "x", "status": "publish", "categories": [birds, below]}));
    let query = |more: Value| {
        let mut query = json!({"perPage": 5, "taxonomy": "category", "order": "asc", "orderBy": "name", "include": [], "hideEmpty": true});
        query.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        let bound = "<!-- wp:paragraph {\"metadata\":{\"bindings\":{\"content\":{\"source\":\"core/term-data\",\"args\":{\"field\":\"slug\"}}}}} -->\
                     <p>x</p><!-- /wp:paragraph -->";
        rendered(
            &server,
            &format!(
                "<!-- wp:terms-query {} --><div><!-- wp:term-template --><!-- wp:term-name {{\"isLink\":true}} /-->\
                 <!-- wp:term-count /--><!-- wp:term-description /-->{bound}<!-- /wp:term-template --></div><!-- /wp:terms-query -->",
                json!({ "termQuery": query })
            ),
        )
    };
    let text = query(json!({}));
    let site = &server.site;
    let expected = format!(
        "<li class=\"wp-block-term term-{birds} category taxonomy-category\"><p class=\"wp-block-term-name\">\
         <a href=\"{site}/category/birds-co/\">Birds &amp; co</a></p><div class=\"wp-block-term-count\">(1)</div>\
         <div class=\"wp-block-term-description\">With <em>wings</em></div><p class=\"wp-block-paragraph\">birds-co</p></li>"
    );
    assert!(text.contains(&expected) && !text.contains("Auks"), "{text}");
    assert!(query(json!({"showNested": true})).contains(">Auks<"));
    let text = query(json!({"include": [below]}));
    assert!(text.contains(">Auks<") && !text.contains("Birds"), "{text}");
    assert_eq!(rendered(&server, "<!-- wp:term-name /--><!-- wp:term-count /-->"), "");
}

#[test]
fn calendars_link_to_the_days_with_records() {
    let server = server();
    made(&server, "/wp/v2/posts", &json!({"title": "a", "status": "publish", "date": "2013-01-05T23:59:59"}));
    made(&server, "/wp/v2/posts", &json!({"title": "b", "status": "publish", "date": "2012-03-01T00:00:00"}));
    let id = record(&server, "<!-- wp:calendar {\"month\":1,\"year\":2013} /-->");
    let text = shown(&server, id);
    let site = &server.site;
    for part in [
        "<div class=\"wp-block-calendar\"><table id=\"wp-calendar\" class=\"wp-calendar-table\">\n\t<caption>January 2013</caption>".to_owned(),
        "<th scope=\"col\" aria-label=\"Monday\">M</th>".to_owned(),
        format!(
            "\n\t\t<td colspan=\"1\" class=\"pad\">&nbsp;</td><td>1</td><td>2</td><td>3</td><td>4</td><td><a href=\"{site}/2013/01/05/\" \
             aria-label=\"Posts published on January 5, 2013\">5</a></td><td>6</td>\n\t</tr>\n\t<tr>\n\t\t<td>7</td>"
        ),
        "<td>31</td>\n\t\t<td class=\"pad\" colspan=\"3\">&nbsp;</td>\n\t</tr>\n\t</tbody>".to_owned(),
        format!("<span class=\"wp-calendar-nav-prev\"><a href=\"{site}/2012/03/\">&laquo; Mar</a></span>"),
        format!("<span class=\"wp-calendar-nav-next\"><a href=\"{site}/2019/05/\">May &raquo;</a></span>"),
    ] {
        assert!(text.contains(&part), "{part}\n{text}");
    }
    made(&server, "/wp/v2/posts", &json!({"title": "c", "status": "publish", "date": "2013-01-06T00:00:00"}));
    assert!(shown(&server, id).contains("/2013/01/06/"), "a calendar that is stored would be stale");
    let text = rendered(&server, "<!-- wp:calendar /-->");
    assert_eq!(text.matches("id=\"today\"").count(), 1, "{text}");
}

#[test]
fn the_way_to_a_record_leads_over_its_terms_or_the_records_above_it() {
    let server = server();
    let site = &server.site;
    let birds = made(&server, "/wp/v2/categories", &json!({"name": "Birds"}));
    let auks = made(&server, "/wp/v2/categories", &json!({"name": "Auks", "parent": birds}));
    let content = "<!-- wp:breadcrumbs {\"separator\":\"\\u0022>\"} /-->";
    let body = json!({"title": "Razorbill", "content": content, "status": "publish", "categories": [auks]});
    let text = shown(&server, made(&server, "/wp/v2/posts", &body));
    let expected = format!(
        "<nav style=\"--separator: &quot;\\&quot;&gt;&quot;\" class=\"wp-block-breadcrumbs\" aria-label=\"Breadcrumbs\"><ol>\
         <li><a href=\"{site}/\">Home</a></li><li><a href=\"{site}/category/birds/\">Birds</a></li>\
         <li><a href=\"{site}/category/birds/auks/\">Auks</a></li><li><span aria-current=\"page\">Razorbill</span></li></ol></nav>"
    );
    assert_eq!(text, expected);
    let above = made(&server, "/wp/v2/pages", &json!({"title": "Above", "status": "publish"}));
    let content = "<!-- wp:breadcrumbs {\"showHomeItem\":false,\"showCurrentItem\":false} /-->";
    let below = made(
        &server,
        "/wp/v2/pages",
        &json!({"title": "Below", "content": content, "parent": above, "status": "publish"}),
    );
    let page =
        || server.get(&format!("/wp/v2/pages/{below}")).body["content"]["rendered"].as_str().expect("text").to_owned();
    assert!(page().contains(&format!("<ol><li><a href=\"{site}/above/\">Above</a></li></ol>")), "{}", page());
    server.admin("POST", &format!("/wp/v2/pages/{above}"), Some(&json!({"status": "draft"})));
    assert_eq!(page(), "", "what nobody may see is not named");
}

#[test]
fn a_link_to_log_in_depends_on_the_caller() {
    let server = server();
    let id = record(&server, "<!-- wp:loginout /-->");
    let site = &server.site;
    let out = format!("<div class=\"logged-out wp-block-loginout\"><a href=\"{site}/wp-login.php\">Log in</a></div>");
    let inside = format!(
        "<div class=\"logged-in wp-block-loginout\"><a href=\"{site}/wp-login.php?action=logout\">Log out</a></div>"
    );
    for _ in 0..2 {
        assert_eq!(shown(&server, id), out);
        let own = server.admin("GET", &format!("/wp/v2/posts/{id}"), None);
        assert_eq!(own.body["content"]["rendered"], inside);
    }
}

#[test]
fn drawings_are_those_of_the_collections() {
    let server = server();
    let text = rendered(
        &server,
        "<!-- wp:icon {\"icon\":\"core/rss\"} /--><!-- wp:icon {\"icon\":\"core/rss\",\"ariaLabel\":\"F\\u0022\",\"textColor\":\"base\",\
         \"flipVertical\":true,\"rotation\":90,\"style\":{\"dimensions\":{\"width\":\"20px\"}}} /--><!-- wp:icon {\"icon\":\"core/none\"} /-->",
    );
    assert!(
        text.starts_with("<div class=\"wp-block-icon\"><svg aria-hidden=\"true\" focusable=\"false\" xmlns="),
        "{text}"
    );
    let own = "<svg style=\"color:var(--wp--preset--color--base);width:20px; rotate: 90deg;\" aria-label=\"F&quot;\" role=\"img\" \
               class=\"has-text-color has-base-color is-flip-vertical\" ";
    assert!(text.contains(own), "{text}");
    assert_eq!(text.matches("<svg").count(), 2, "{text}");
}

#[test]
fn a_place_that_uses_a_pattern_gives_its_blocks_other_values() {
    let server = server();
    let over = "\"metadata\":{\"name\":\"Word\",\"bindings\":{\"__default\":{\"source\":\"core/pattern-overrides\"}}}";
    let content = format!(
        "<!-- wp:heading {{{over}}} --><h2 class=\"wp-block-heading\">As written</h2><!-- /wp:heading -->\
         <!-- wp:paragraph --><p>Fixed</p><!-- /wp:paragraph -->"
    );
    let pattern = made(&server, "/wp/v2/blocks", &json!({"title": "P", "content": content, "status": "publish"}));
    let used = |more: Value| {
        let mut attributes = json!({ "ref": pattern });
        attributes.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        rendered(&server, &format!("<!-- wp:block {attributes} /-->"))
    };
    assert!(used(json!({})).contains(">As written</h2>"));
    let text = used(
        json!({"content": {"Word": {"content": "New <em>word</em><script>x</script>"}, "Other": {"content": "n"}}}),
    );
    assert!(
        text.contains("<h2 class=\"wp-block-heading\">New <em>word</em>x</h2>") && text.contains(">Fixed</p>"),
        "{text}"
    );
    assert!(used(json!({"content": {"Word": {"values": {"content": "Old form"}}}})).contains(">Old form</h2>"));
}
