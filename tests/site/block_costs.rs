//! The cost of dynamic blocks: as many statements over many rows as over few, and none again until something changes, the
//! time of day included.

use super::inside::Inside;
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use serde_json::{Value, json};

/// Blocks that read rows, each with the attributes that change what it reads, and the most statements that they take.
const BLOCKS: &[(&str, u64)] = &[
    ("<!-- wp:archives /-->", 1),
    ("<!-- wp:archives {\"showPostCounts\":true} /-->", 1),
    ("<!-- wp:archives {\"displayAsDropdown\":true,\"type\":\"yearly\",\"showPostCounts\":true} /-->", 1),
    (
        "<!-- wp:archives {\"type\":\"yearly\"} /--><!-- wp:archives {\"displayAsDropdown\":true} /--><!-- wp:archives /-->",
        1,
    ),
    ("<!-- wp:calendar /-->", 3),
    ("<!-- wp:calendar {\"month\":3,\"year\":2026} /-->", 3),
    ("<!-- wp:categories {\"showPostCounts\":true} /-->", 2),
    ("<!-- wp:categories {\"showHierarchy\":true,\"showEmpty\":true} /-->", 2),
    ("<!-- wp:categories {\"displayAsDropdown\":true,\"showHierarchy\":true,\"showPostCounts\":true} /-->", 2),
    ("<!-- wp:categories {\"showOnlyTopLevel\":true,\"showEmpty\":true} /-->", 2),
    ("<!-- wp:latest-comments {\"commentsToShow\":100} /-->", 4),
    ("<!-- wp:latest-comments {\"displayContent\":\"full\",\"displayAvatar\":false,\"displayDate\":false} /-->", 4),
    ("<!-- wp:latest-posts {\"postsToShow\":100} /-->", 2),
    (
        "<!-- wp:latest-posts {\"orderBy\":\"title\",\"order\":\"asc\",\"displayAuthor\":true,\"displayPostContent\":true} /-->",
        4,
    ),
    ("<!-- wp:latest-posts {\"categories\":[{\"id\":1}],\"selectedAuthor\":1,\"displayPostDate\":true} /-->", 4),
    ("<!-- wp:page-list /-->", 3),
    ("<!-- wp:tag-cloud {\"showTagCounts\":true,\"numberOfTags\":100} /-->", 2),
    (
        "<!-- wp:comments --><!-- wp:comment-template --><!-- wp:comment-content /--><!-- /wp:comment-template --><!-- /wp:comments -->",
        8,
    ),
    (
        "<!-- wp:terms-query {\"termQuery\":{\"perPage\":100,\"taxonomy\":\"category\",\"showNested\":true}} -->\
      <!-- wp:term-template --><!-- wp:term-name /--><!-- wp:term-count /--><!-- /wp:term-template --><!-- /wp:terms-query -->",
        2,
    ),
    (
        "<!-- wp:query {\"query\":{\"perPage\":5}} --><!-- wp:query-total /--><!-- wp:query-pagination -->\
      <!-- wp:query-pagination-numbers /--><!-- wp:query-pagination-next /--><!-- /wp:query-pagination --><!-- /wp:query -->",
        4,
    ),
    (
        "<!-- wp:query {\"query\":{\"perPage\":10}} --><!-- wp:post-template --><!-- wp:post-title /--><!-- wp:post-date /-->\
      <!-- /wp:post-template --><!-- /wp:query -->",
        8,
    ),
    (
        "<!-- wp:query {\"query\":{\"perPage\":10}} --><!-- wp:post-template --><!-- wp:post-author-name /--><!-- wp:post-excerpt /-->\
      <!-- wp:post-terms {\"term\":\"category\"} /--><!-- wp:post-terms {\"term\":\"post_tag\"} /--><!-- wp:post-featured-image /-->\
      <!-- wp:post-comments-count /--><!-- wp:post-time-to-read /--><!-- wp:post-content /--><!-- /wp:post-template --><!-- /wp:query -->",
        26,
    ),
    (
        "<!-- wp:query {\"query\":{\"perPage\":10,\"author\":\"999999\"}} --><!-- wp:query-no-results --><p>No.</p><!-- /wp:query-no-results --><!-- /wp:query -->",
        4,
    ),
    ("<!-- wp:site-title /--><!-- wp:site-tagline /--><!-- wp:search /--><!-- wp:loginout /-->", 0),
];

/// More rows of each kind that blocks show, over several months.
fn grow(site: &Inside, from: usize, to: usize) {
    let id = |made: Value| made["id"].as_i64().expect("an id");
    let (mut term, mut page, mut comment) = (0, 0, 0);
    for n in from..to {
        term = id(site.make(
            "/cms/v2/categories",
            &json!({"name": format!("Topic {n}"), "parent": if n % 3 == 1 { term } else { 0 }}),
        ));
        let tag = id(site.make("/cms/v2/tags", &json!({"name": format!("Label {n}")})));
        let date = format!("20{:02}-{:02}-{:02}T08:00:00", 20 + n % 6, 1 + n % 12, 1 + n % 28);
        let post = id(site.make(
            "/cms/v2/posts",
            &json!({"title": {"raw": format!("Post {n}")}, "content": {"raw": "word"},
            "status": "publish", "date": date, "categories": [1, term], "tags": [tag]}),
        ));
        page = id(site.make(
            "/cms/v2/pages",
            &json!({"title": {"raw": format!("Page {n}")}, "status": "publish",
            "parent": if n % 2 == 1 { page } else { 0 }, "comment_status": "open"}),
        ));
        let on = if n % 2 == 0 { 1 } else { post };
        comment = id(site.make(
            "/cms/v2/comments",
            &json!({"post": on, "content": {"raw": format!("Comment {n}")},
            "author_name": "A", "author_email": "a@example.org", "status": "approved",
            "parent": if n % 4 == 2 { comment } else { 0 }}),
        ));
        comment = if on == 1 { comment } else { 0 };
    }
}

/// The statements that showing a content takes beyond those that showing a text takes.
fn statements(site: &Inside, holder: i64) -> Vec<u64> {
    let route = format!("/cms/v2/posts/{holder}");
    let put = |content: &str| site.ask(Method::Put, &route, true, Some(&json!({"content": {"raw": content}})));
    let once = |content: &str| {
        // The other content before it is why nothing of the last time is cached.
        put("<p>another</p>");
        put(content);
        let read = site.ask(Method::Get, &route, true, None);
        let shown = read.body["content"]["rendered"].as_str().unwrap_or_default();
        assert!(read.status == 200 && shown.contains("</"), "{content}: {shown}");
        read.queries
    };
    // A commit in the background, such as that of statistics, makes a read begin again: two statements that are not its own.
    let cost = |content: &str| once(content).min(once(content));
    let plain = cost("<p>word</p>");
    BLOCKS.iter().map(|(content, _)| cost(content).saturating_sub(plain)).collect()
}

#[test]
fn a_dynamic_block_takes_as_many_statements_over_many_rows_as_over_few() {
    let site = Inside::start();
    let holder = site.make("/cms/v2/posts", &json!({"title": {"raw": "Holder"}, "status": "publish"}))["id"].as_i64();
    grow(&site, 0, 3);
    let few = statements(&site, holder.expect("an id"));
    grow(&site, 3, 130);
    let many = statements(&site, holder.expect("an id"));
    for (((content, most), few), many) in BLOCKS.iter().zip(few).zip(many) {
        assert!(many <= few + 2 && many <= *most, "{content}: {few} over few rows, {many} over many, at most {most}");
    }
}

#[test]
fn what_depends_on_the_time_is_cached_until_then() {
    // A quarter of a minute before midnight in UTC.
    const NOW: i64 = 1_773_446_400 - 15;
    let clock = ManualClock::at(NOW);
    let site = Inside::timed(clock.clone());
    let make = |content: &str| {
        let body = json!({"title": {"raw": "Holder"}, "status": "publish", "content": {"raw": content}});
        format!("/cms/v2/posts/{}", site.make("/cms/v2/posts", &body)["id"])
    };
    let shown = |route: &str| {
        let read = site.ask(Method::Get, route, false, None);
        (read.body["content"]["rendered"].as_str().expect("a content").to_owned(), read.queries)
    };
    let calendar = make("<!-- wp:calendar /-->");
    let ago = make("<!-- wp:post-date {\"format\":\"human-diff\"} /-->");
    let past = make("<!-- wp:calendar {\"month\":1,\"year\":2020} /-->");
    let [first, _, _] = [&calendar, &ago, &past].map(|route| shown(route));
    let again = shown(&calendar);
    assert!(again.1 < first.1 && again.0 == first.0, "a calendar is cached: {} then {}", first.1, again.1);
    let (_, cached) = shown(&past);
    assert!(shown(&ago).0.contains("1 second ago"));
    clock.advance(10);
    assert!(shown(&ago).0.contains("10 seconds ago"), "{}", shown(&ago).0);
    assert_eq!(shown(&calendar), (first.0.clone(), again.1));
    clock.advance(5);
    let next_day = shown(&calendar);
    assert_ne!(next_day.0, first.0, "the day after is the current one");
    assert!(next_day.1 > again.1);
    assert_eq!(shown(&past).1, cached, "a month that is over does not change");
}
