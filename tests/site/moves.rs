//! Exports of WordPress as people have them: taken addresses, odd items, values and types of plugins, files with names of
//! their own. What is not taken as it is, is in the report.

use super::media::{encoded, fetch, halves};
use super::server::{Server, run, stdout};
use image::ImageFormat;
use serde_json::{Value, json};
use std::fs;

/// An export: authors and terms, then items.
pub fn export(head: &str, items: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel><title>The &amp; harbour</title>\n\
         <description>News from the quay</description><language>de-DE</language>\n\
         <wp:wxr_version>1.2</wp:wxr_version><wp:base_site_url>http://old.example</wp:base_site_url>\n\
         <wp:base_blog_url>http://old.example</wp:base_blog_url>\n{head}\n{items}\n</channel></rss>\n"
    )
}

/// A published item of a type.
pub fn item(id: i64, kind: &str, more: &str) -> String {
    format!(
        "<item><title>Title {id}</title><wp:post_id>{id}</wp:post_id><wp:post_date>2020-01-02 03:04:05</wp:post_date>\
         <wp:post_date_gmt>2020-01-02 03:04:05</wp:post_date_gmt><wp:post_type>{kind}</wp:post_type>\
         <wp:post_name>title-{id}</wp:post_name><wp:status>publish</wp:status>{more}</item>\n"
    )
}

/// The item without one of its elements.
pub fn without(item: &str, element: &str) -> String {
    let (before, rest) = item.split_once(&format!("<{element}>")).expect("the element");
    let (_, after) = rest.split_once(&format!("</{element}>")).expect("its end");
    format!("{before}{after}")
}

pub fn meta(element: &str, key: &str, value: &str) -> String {
    format!("<{element}><wp:meta_key>{key}</wp:meta_key><wp:meta_value><![CDATA[{value}]]></wp:meta_value></{element}>")
}

pub fn author(id: i64, login: &str, email: &str) -> String {
    format!(
        "<wp:author><wp:author_id>{id}</wp:author_id><wp:author_login>{login}</wp:author_login>\
         <wp:author_email>{email}</wp:author_email></wp:author>"
    )
}

/// Imports a text with the declarations that the server has, and further arguments; the report.
pub fn import(server: &Server, text: &str, more: &[&str]) -> String {
    let file = server.path("export.xml");
    fs::write(&file, text).expect("a file");
    let mut args = server.args();
    args.retain(|arg| *arg != "serve");
    args.extend(["import", file.to_str().expect("a path")]);
    args.extend(more);
    stdout(&args, "")
}

fn wp() -> Server {
    Server::with(&["site.prefix=wp"])
}

/// A server with further declarations.
fn declared(site: &str) -> Server {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    fs::write(folder.path().join("site.toml"), site).expect("a file");
    Server::over(folder, &["site.prefix=wp"])
}

#[test]
fn an_address_that_is_taken_refuses_nothing() {
    let server = wp();
    let by = |login: &str| format!("<dc:creator>{login}</dc:creator>");
    let authors = [
        author(71, "boss", "ADMIN@example.org"),
        author(72, "ann@example.org", "ann@example.org"),
        author(73, "ann", "ann@example.org"),
        author(74, "bare", ""),
    ];
    let items: String = [(801, "boss"), (802, "ann@example.org"), (803, "ann"), (804, "bare")]
        .map(|(id, login)| item(id, "post", &by(login)))
        .concat();
    let report = import(&server, &export(&authors.concat(), &items), &[]);
    assert!(report.contains("the author boss is the account admin, which has the address"), "{report}");
    assert!(report.contains("the author ann has the address ann@example.org of another author"), "{report}");
    assert!(report.contains("the author bare has no address"), "{report}");
    assert!(report.contains("       3 users"), "{report}");
    let author = |id: i64| server.get(&format!("/wp/v2/posts/{id}")).body["author"].clone();
    assert_eq!(author(801), 1, "the account with the address");
    let account = |id: i64| {
        let user = server.admin("GET", &format!("/wp/v2/users/{}?context=edit", author(id)), None).body;
        (user["username"].clone(), user["email"].clone())
    };
    assert_eq!(account(802), (json!("ann@example.org"), json!("ann@example.org")));
    assert_eq!(account(803), (json!("ann"), json!("ann@invalid")));
    assert_eq!(account(804), (json!("bare"), json!("bare@invalid")));
    let again = import(&server, &export(&authors.concat(), &items), &[]);
    assert!(again.contains("       0 users") && again.contains("4 were here already"), "{again}");
}

#[test]
fn published_records_without_a_slug_get_one_from_the_title() {
    let server = wp();
    let bare = |id: i64, kind: &str, status: &str, title: &str| {
        let item = without(&item(id, kind, ""), "wp:post_name");
        item.replace(&format!("Title {id}"), title).replace(">publish<", &format!(">{status}<"))
    };
    let items = [
        bare(810, "post", "publish", "My Title"),
        bare(811, "post", "publish", "My Title"),
        // The one that has a slug keeps it, although it comes later.
        item(812, "post", "").replace("title-812", "my-title"),
        bare(813, "page", "publish", "A Page"),
        bare(814, "attachment", "inherit", "A Photo"),
        bare(815, "post", "publish", "!!!"),
        bare(816, "post", "draft", "Unready"),
        bare(817, "post", "private", "Mine"),
    ];
    import(&server, &export("", &items.concat()), &[]);
    let slug = |route: &str| server.admin("GET", &format!("/wp/v2/{route}?context=edit"), None).body["slug"].clone();
    let expected = [
        ("posts/812", "my-title"),
        ("posts/810", "my-title-2"),
        ("posts/811", "my-title-3"),
        ("pages/813", "a-page"),
        ("media/814", "a-photo"),
        ("posts/815", "815"),
        ("posts/816", ""),
        ("posts/817", "mine"),
    ];
    for (route, wanted) in expected {
        assert_eq!(slug(route), wanted, "{route}");
    }
    let page = server.get("/wp/v2/pages/813").body;
    assert!(page["link"].as_str().is_some_and(|link| link.ends_with("/a-page/")), "{page}");
}

#[test]
fn an_odd_item_is_told_and_the_rest_is_imported() {
    let whole = |id: i64| item(id, "post", "");
    let dated = |date: &str| whole(820).replacen("2020-01-02 03:04:05", date, 1);
    let more = |more: &str| item(820, "post", more);
    type Right = Option<(&'static str, Value)>;
    let table: [(&str, String, &str, Right); 12] = [
        ("no status", without(&whole(820), "wp:status"), "no wp:status", Some(("status", json!("draft")))),
        (
            "no status of a file",
            without(&item(820, "attachment", ""), "wp:status"),
            "becomes `inherit`",
            Some(("status", json!("inherit"))),
        ),
        ("no type", without(&whole(820), "wp:post_type"), "left out: it has no wp:post_type", None),
        ("no date", dated("Invalid date"), "left out: <wp:post_date> holds \"Invalid date\"", None),
        ("a date with a zone", dated("2020-01-02T03:04:05Z"), "", Some(("date", json!("2020-01-02T03:04:05")))),
        ("a date without seconds", dated("2020-01-02 03:04"), "", Some(("date", json!("2020-01-02T03:04:00")))),
        (
            "half an order",
            more("<wp:menu_order>0.5</wp:menu_order>"),
            "holds \"0.5\": read as 0",
            Some(("status", json!("publish"))),
        ),
        (
            "sticky",
            more("<wp:is_sticky>true</wp:is_sticky>"),
            "holds \"true\": read as 1",
            Some(("sticky", json!(true))),
        ),
        (
            "an ampersand",
            whole(820).replace("Title 820", "R & D"),
            "an & is read as itself",
            Some(("title", json!({"raw": "R & D", "rendered": "R &#038; D"}))),
        ),
        (
            "an entity",
            whole(820).replace("Title 820", "R&nbsp;D"),
            "&nbsp; is no entity of XML",
            Some(("title", json!({"raw": "R\u{a0}D", "rendered": "R\u{a0}D"}))),
        ),
        (
            "only the date of the feed",
            without(
                &without(&more("<pubDate>Tue, 05 Mar 2024 10:15:00 +0000</pubDate>"), "wp:post_date"),
                "wp:post_date_gmt",
            ),
            "",
            Some(("date_gmt", json!("2024-03-05T10:15:00"))),
        ),
        (
            "a NUL",
            whole(820).replace("Title 820", "a\0b"),
            "NUL",
            Some(("title", json!({"raw": "ab", "rendered": "ab"}))),
        ),
    ];
    let server = wp();
    for (place, (what, odd, told, right)) in table.into_iter().enumerate() {
        let id = 820 + 2 * place as i64;
        let odd = odd.replace("820", &id.to_string());
        let report = import(&server, &export("", &(odd.clone() + &whole(id + 1))), &[]);
        assert!(report.contains(told) && report.contains("line ") != told.is_empty(), "{what}: {report}");
        assert_eq!(server.get(&format!("/wp/v2/posts/{}", id + 1)).status, 200, "{what}: {report}");
        let route = if odd.contains("attachment") { "media" } else { "posts" };
        let found = server.admin("GET", &format!("/wp/v2/{route}/{id}?context=edit"), None);
        match right {
            Some((member, value)) => assert_eq!(found.body[member], value, "{what}: {}", found.text),
            None => assert_eq!(found.status, 404, "{what}: {}", found.text),
        }
    }
}

#[test]
fn a_published_record_without_any_date_is_of_now() {
    let server = wp();
    let bare = without(&without(&item(825, "post", ""), "wp:post_date"), "wp:post_date_gmt");
    import(&server, &export("", &bare), &[]);
    let date = server.get("/wp/v2/posts/825").body["date"].as_str().expect("a date").to_owned();
    assert!(date.as_str() > "2025", "{date}");
}

const META: &str = r#"
[resources.posts.meta]
gallery.schema = { type = "array", items = { type = "integer" } }
price.schema = { type = "number" }
count.schema = { type = "integer" }
flag.schema = { type = "boolean" }
opts.schema = { type = "object", properties = { a = { type = "string" }, b = { type = "boolean" } } }
note.schema = { type = "string" }
many = { single = false, schema = { type = "integer" } }
[resources.categories.meta]
rank.schema = { type = "integer" }
[resources.comments.meta]
rating.schema = { type = "integer" }
"#;

#[test]
fn declared_meta_is_of_its_type() {
    let server = declared(META);
    let values = [
        ("gallery", "a:2:{i:0;i:37;i:1;s:2:\"10\";}"),
        ("price", "12.5"),
        ("count", "7"),
        ("flag", "1"),
        ("opts", "a:2:{s:1:\"a\";s:1:\"x\";s:1:\"b\";b:1;}"),
        ("note", "12"),
        ("many", "1"),
        ("many", "2"),
        ("subtitle", "Of boats"),
        ("_seo", "x"),
    ];
    let own: String = values.iter().map(|(key, value)| meta("wp:postmeta", key, value)).collect();
    let odd: String = [("gallery", "none"), ("price", "dear"), ("count", ""), ("flag", "perhaps")]
        .iter()
        .map(|(key, value)| meta("wp:postmeta", key, value))
        .collect();
    let comment = format!(
        "<wp:comment><wp:comment_id>9</wp:comment_id><wp:comment_content>Good</wp:comment_content>\
         <wp:comment_approved>1</wp:comment_approved>{}{}</wp:comment>",
        meta("wp:commentmeta", "rating", "5"),
        meta("wp:commentmeta", "akismet", "x")
    );
    let term = format!(
        "<wp:category><wp:term_id>90</wp:term_id><wp:category_nicename>boats</wp:category_nicename>\
         <wp:cat_name>Boats</wp:cat_name>{}{}</wp:category>",
        meta("wp:termmeta", "rank", "3"),
        meta("wp:termmeta", "colour", "red")
    );
    let items = item(830, "post", &(own + &comment)) + &item(831, "post", &odd);
    let report = import(&server, &export(&term, &items), &[]);
    let shown = server.get("/wp/v2/posts/830").body["meta"].clone();
    let right = json!({"gallery": [37, 10], "price": 12.5, "count": 7, "flag": true, "opts": {"a": "x", "b": true},
        "note": "12", "many": [1, 2]});
    for (key, value) in right.as_object().expect("an object") {
        assert_eq!(&shown[key], value, "{key}: {shown}");
    }
    let odd = server.get("/wp/v2/posts/831").body["meta"].clone();
    assert_eq!(
        [&odd["gallery"], &odd["price"], &odd["count"], &odd["flag"]],
        [&json!(null), &json!(null), &json!(0), &json!(null)]
    );
    assert_eq!(server.get("/wp/v2/categories/90").body["meta"]["rank"], 3);
    assert_eq!(server.get("/wp/v2/comments/9").body["meta"]["rating"], 5);
    for told in ["subtitle (1)", "_seo (1)", "akismet (1)", "colour (1)"] {
        assert!(report.contains(told), "{told}: {report}");
    }
    for told in ["1 values of the meta key gallery", "1 values of the meta key price", "1 values of the meta key flag"]
    {
        assert!(report.contains(told), "{told}: {report}");
    }
    assert!(!report.contains("rating (") && !report.contains("rank ("), "{report}");
    // Nothing of it is lost: what is written is of the declared type, and XML-RPC has the text of the export.
    let stored = server.sql("SELECT json FROM meta WHERE key = 'subtitle'");
    assert_eq!(stored, ["\"Of boats\""]);
    let written = server.admin("POST", "/wp/v2/posts/830", Some(&json!({"meta": {"count": 8}})));
    assert_eq!((&written.body["meta"]["count"], &written.body["meta"]["price"]), (&json!(8), &json!(12.5)));
}

const FILMS: &str = r#"
[resources.films]
extends = "content"
namespace = "core"
base = "film"
kind = "film"
capabilities = "post"
address = "/film/{slug}/"
taxonomies = ["genres", "categories"]

[resources.genres]
extends = "term"
namespace = "core"
base = "genre"
kind = "genre"
capabilities = "term"
address = "/genre/{slug}/"
"#;

/// Records of types and terms of taxonomies that nothing declares wait for their declaration.
#[test]
fn a_later_declaration_shows_records_with_their_terms() {
    let term = "<wp:term><wp:term_id>95</wp:term_id><wp:term_taxonomy>genre</wp:term_taxonomy><wp:term_slug>noir</wp:term_slug>\
        <wp:term_name>Noir</wp:term_name></wp:term>";
    let category = "<wp:category><wp:term_id>96</wp:term_id><wp:category_nicename>boats</wp:category_nicename>\
        <wp:cat_name>Boats</wp:cat_name></wp:category>";
    let carried = "<category domain=\"genre\" nicename=\"noir\">Noir</category>\
        <category domain=\"genre\" nicename=\"west\">Western</category>\
        <category domain=\"category\" nicename=\"boats\">Boats</category>\
        <category domain=\"event_type\" nicename=\"fair\">Fair</category>";
    let text = export(&format!("{term}{category}"), &item(840, "film", carried));
    for again in [false, true] {
        let server = wp();
        let report = import(&server, &text, &[]);
        let told = [
            "1 film publish: stored, no resource shows them",
            "2 terms of genre: stored, no resource shows them",
            "1 terms of event_type: stored, no resource shows them",
            "2 times a record has a term of genre that it cannot show",
            "1 times a record has a term of category that it cannot show",
        ];
        for told in told {
            assert!(report.contains(told), "{told}: {report}");
        }
        fs::write(server.path("site.toml"), FILMS).expect("a file");
        let server = server.restart_with(&["site.prefix=wp"]);
        if again {
            import(&server, &text, &[]);
        }
        let genres = server.get("/wp/v2/genre?_fields=id,slug,count&orderby=slug").body;
        let ids: Vec<&Value> = genres.as_array().expect("a list").iter().map(|term| &term["id"]).collect();
        assert_eq!(ids.len(), 2, "{genres}");
        let film = server.get("/wp/v2/film/840").body;
        assert_eq!((&film["genre"], &film["categories"]), (&json!(ids), &json!([96])), "{film}");
        assert_eq!(genres[0]["count"], 1, "{genres}");
        let listed = server.get("/wp/v2/film?genre=95").body;
        assert_eq!(listed[0]["id"], 840, "{listed}");
        let waiting = server.sql("SELECT source_key FROM origin WHERE source_key LIKE 'filing:%'");
        assert_eq!(waiting.len(), 1, "only what nothing declares waits: {waiting:?}");
    }
}

#[test]
fn what_an_export_says_of_its_site_is_taken_into_an_empty_one() {
    let server = wp();
    let report = import(&server, &export("", &item(850, "post", "")), &[]);
    let server = server.restart_with(&["site.prefix=wp"]);
    let settings = server.admin("GET", "/wp/v2/settings", None).body;
    let told = ["title", "description", "language"].map(|name| settings[name].clone());
    assert_eq!(told, [json!("The & harbour"), json!("News from the quay"), json!("de_DE")], "{report}");
    let other = export("", &item(851, "post", "")).replace("News from the quay", "Other news");
    let report = import(&server, &other, &[]);
    assert!(
        report.contains("the description of the site stays News from the quay; the file has Other news"),
        "{report}"
    );
    assert_eq!(server.admin("GET", "/wp/v2/settings", None).body["description"], "News from the quay");
}

#[test]
fn changed_ids_and_files_that_are_elsewhere_are_told() {
    let server = wp();
    let category = "<wp:category><wp:term_id>1</wp:term_id><wp:category_nicename>allgemein</wp:category_nicename>\
        <wp:cat_name>Allgemein</wp:cat_name></wp:category>";
    let file = |id: i64, name: &str| {
        let url = format!("<wp:attachment_url>http://old.example/wp-content/uploads/{name}</wp:attachment_url>");
        item(id, "attachment", &url).replace(">publish<", ">inherit<")
    };
    let ends = [
        ("heic", "image/heic"),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("m4a", "audio/mpeg"),
        ("csv", "text/csv"),
        ("ico", "image/x-icon"),
        ("avi", "video/avi"),
        ("JPG?w=5", "image/jpeg"),
        ("unknown", "application/octet-stream"),
    ];
    let items: String = (860..).zip(ends).map(|(id, (end, _))| file(id, &format!("a.{end}"))).collect();
    let twice = format!("{category}{category}");
    let date =
        "<wp:postmeta><wp:meta_key>_wp_old_date</wp:meta_key><wp:meta_value>2019-03-04</wp:meta_value></wp:postmeta>";
    let unlisted = "<dc:creator>erik</dc:creator>";
    let further = item(880, "nav_menu_item", date) + &item(881, "post", unlisted);
    let report = import(&server, &export(&twice, &(items.clone() + &further)), &[]);
    for told in
        ["1 left out: old addresses of records that have no address", "1 records of erik, whom the file does not list"]
    {
        assert!(report.contains(told), "{report}");
    }
    for (id, (end, mime)) in (860..).zip(ends) {
        assert_eq!(server.get(&format!("/wp/v2/media/{id}")).body["mime_type"], mime, "{end}");
    }
    assert!(report.contains("9 files are still at old.example"), "{report}");
    // The default category that every site has gives way to that of the old site.
    assert!(!report.contains("term 1"), "{report}");
    assert_eq!(server.get("/wp/v2/categories/1").body["slug"], "allgemein");
    assert_eq!(server.get("/wp/v2/categories").body.as_array().map(Vec::len), Some(1));
    assert!(report.contains("1 are named twice in the file") && !report.contains("were here already"), "{report}");

    // Many changes are one line.
    let other = export(&category.replace("llgemein", "nderes"), &items).replace("old.example", "other.example");
    let report = import(&server, &other, &[]);
    assert!(report.contains("term 1 was taken and became"), "{report}");
    let line = report.lines().find(|line| line.starts_with("record 860 was taken and became ")).expect("the line");
    assert!(line.contains("868 became"), "{report}");
}

#[test]
fn files_keep_their_names_and_their_copies() {
    let server = wp();
    let folder = server.path("uploads");
    fs::create_dir_all(folder.join("2020/01")).expect("a folder");
    let jpeg = |name: &str, width: u32, height: u32| {
        fs::write(folder.join("2020/01").join(name), encoded(&halves(width, height), ImageFormat::Jpeg))
            .expect("written");
    };
    let names = [
        "plain.jpg",
        "with space.jpg",
        "UPPER.JPG",
        "Снимок.jpg",
        "quote's.jpg",
        "plus+plus.jpg",
        "hash#1.jpg",
        "amp&amp.jpg",
    ];
    let mut items = String::new();
    for (id, name) in (870..).zip(names) {
        jpeg(name, 600, 400);
        let xml = name.replace('&', "&amp;");
        let more = format!(
            "<wp:attachment_url>http://old.example/wp-content/uploads/2020/01/{xml}</wp:attachment_url>{}",
            meta("wp:postmeta", "_wp_attached_file", &format!("2020/01/{name}"))
        );
        items += &item(id, "attachment", &more).replace(">publish<", ">inherit<");
    }
    let details = "a:4:{s:5:\"width\";i:600;s:6:\"height\";i:400;s:4:\"file\";s:17:\"2020/01/plain.jpg\";s:5:\"sizes\";a:2:{\
        s:6:\"medium\";a:4:{s:4:\"file\";s:17:\"plain-310x207.jpg\";s:5:\"width\";i:310;s:6:\"height\";i:207;\
        s:9:\"mime-type\";s:10:\"image/jpeg\";}s:5:\"theme\";a:4:{s:4:\"file\";s:17:\"plain-570x380.jpg\";\
        s:5:\"width\";i:570;s:6:\"height\";i:380;s:9:\"mime-type\";s:10:\"image/jpeg\";}}}";
    let with_details = format!("{}</item>", meta("wp:postmeta", "_wp_attachment_metadata", details));
    items = items.replacen("</item>", &with_details, 1);
    jpeg("plain-310x207.jpg", 310, 207);
    jpeg("plain-570x380.jpg", 570, 380);
    jpeg("plain-99x66.jpg", 99, 66);
    jpeg("loose.jpg", 20, 20);
    jpeg("nobodys.jpg", 20, 20);
    let text = "<content:encoded><![CDATA[<img src=\"http://old.example/wp-content/uploads/2020/01/loose.jpg\">]]></content:encoded>";
    items += &item(890, "post", text);
    let report = import(&server, &export("", &items), &["--attachments", folder.to_str().expect("a path")]);
    assert!(report.contains("8 files,") && report.contains("4 smaller copies"), "{report}");
    assert!(!report.contains("renamed") && !report.contains("still at"), "{report}");
    let encoded = [
        "plain.jpg",
        "with%20space.jpg",
        "UPPER.JPG",
        "%D0%A1%D0%BD%D0%B8%D0%BC%D0%BE%D0%BA.jpg",
        "quote's.jpg",
        "plus+plus.jpg",
        "hash%231.jpg",
        "amp&amp.jpg",
        "plain-310x207.jpg",
        "plain-570x380.jpg",
        "plain-99x66.jpg",
        "loose.jpg",
    ];
    for name in encoded {
        let url = json!(format!("{}/wp-content/uploads/2020/01/{name}", server.site));
        assert_eq!(fetch(&server, &url, &[]).status, 200, "{name}");
    }
    let nobodys = json!(format!("{}/wp-content/uploads/2020/01/nobodys.jpg", server.site));
    assert_eq!(fetch(&server, &nobodys, &[]).status, 404, "nothing names it");
    for (id, name) in (870..).zip(names) {
        let record = server.get(&format!("/wp/v2/media/{id}")).body;
        assert_eq!(record["media_details"]["file"], format!("2020/01/{name}"), "{record}");
        assert_eq!(fetch(&server, &record["source_url"], &[]).status, 200, "{record}");
        for (size, details) in record["media_details"]["sizes"].as_object().expect("sizes") {
            assert_eq!(fetch(&server, &details["source_url"], &[]).status, 200, "{size}: {record}");
        }
    }
    let sizes = server.get("/wp/v2/media/870").body["media_details"]["sizes"].clone();
    assert_eq!(
        (&sizes["medium"]["width"], &sizes["theme"]["file"]),
        (&json!(310), &json!("plain-570x380.jpg")),
        "{sizes}"
    );
    assert_eq!(sizes["thumbnail"]["width"], 150, "what is missing is made");
    let text = server.admin("GET", "/wp/v2/posts/890?context=edit", None).body["content"]["raw"].clone();
    assert_eq!(text, "<img src=\"http://127.0.0.1:0/wp-content/uploads/2020/01/loose.jpg\">");
    // A file that is added to the folder later comes later.
    jpeg("plain-88x59.jpg", 88, 59);
    let again = import(&server, &export("", &items), &["--attachments", folder.to_str().expect("a path")]);
    assert!(again.contains("0 files,") && again.contains("1 smaller copies"), "{again}");
    // They go with their record.
    let gone = server.admin("DELETE", "/wp/v2/media/870?force=true", None);
    assert_eq!(gone.status, 200, "{}", gone.text);
    let url = json!(format!("{}/wp-content/uploads/2020/01/plain-99x66.jpg", server.site));
    assert_eq!(fetch(&server, &url, &[]).status, 404);
}

#[test]
fn addresses_of_files_that_are_here_are_rewritten() {
    let server = wp();
    let folder = server.path("uploads");
    fs::create_dir_all(folder.join("2020")).expect("a folder");
    fs::write(folder.join("2020/a b.jpg"), encoded(&halves(20, 20), ImageFormat::Jpeg)).expect("written");
    let old = "http://old.example/wp-content/uploads/2020";
    let block = "{\"url\":\"http:\\/\\/old.example\\/wp-content\\/uploads\\/2020\\/a%20b.jpg\"}";
    let content = format!(
        "<!-- wp:x {block} --><img src=\"{old}/a%20b.jpg\"><a href=\"https://www.old.example/wp-content/uploads/2020/a b.jpg\">\
         <img src=\"{old}/gone.jpg\"><img src=\"http://other.example/uploads/2020/a%20b.jpg\">[audio {old}/a%20b.jpg]"
    );
    let list = format!("a:1:{{i:0;s:{}:\"{old}/a b.jpg\";}}", old.len() + 8);
    let more = format!(
        "<content:encoded><![CDATA[{content}]]></content:encoded><excerpt:encoded>{old}/a%20b.jpg</excerpt:encoded>{}{}",
        meta("wp:postmeta", "list", &list),
        meta("wp:postmeta", "data", block)
    );
    let text = export("", &item(896, "post", &more));
    let folder = folder.to_str().expect("a path");
    let raw = |server: &Server| {
        let shown = server.admin("GET", "/wp/v2/posts/896?context=edit", None).body;
        let values = server.sql("SELECT json FROM meta WHERE id = 896 ORDER BY key");
        (shown["content"]["raw"].clone(), shown["excerpt"]["raw"].clone(), values)
    };
    import(&server, &text, &["--attachments", folder, "--keep-addresses"]);
    assert_eq!(raw(&server).0, json!(content));
    let report = import(&server, &text, &["--attachments", folder]);
    assert!(report.contains("7 addresses in 1 items lead to the files here"), "{report}");
    assert!(report.contains("1 addresses of files are still at other.example"), "{report}");
    assert!(report.contains("still elsewhere: 2020/gone.jpg at old.example"), "{report}");
    // The address that the declarations give the site.
    let new = "http://127.0.0.1:0/wp-content/uploads/2020";
    let (content, excerpt, values) = raw(&server);
    let content = content.as_str().expect("a text");
    let escaped = new.replace('/', "\\/");
    assert!(content.starts_with(&format!("<!-- wp:x {{\"url\":\"{escaped}\\/a%20b.jpg\"}} -->")), "{content}");
    assert_eq!(content.matches(new).count(), 3, "{content}");
    assert_eq!(excerpt, json!(format!("{new}/a%20b.jpg")));
    let list = format!("a:1:{{i:0;s:{}:\"{new}/a b.jpg\";}}", new.len() + 8);
    assert_eq!(values[1], json!(list).to_string());
    assert!(values[0].contains("a%20b.jpg") && !values[0].contains("old.example"), "{values:?}");
    let again = import(&server, &text, &["--attachments", folder]);
    assert!(again.contains("0 addresses in 0 items"), "{again}");
}

#[test]
fn large_pictures_of_an_export_stay_as_they_are() {
    let server = declared("media.max_side = 500\n");
    let folder = server.path("uploads");
    fs::create_dir_all(folder.join("2020")).expect("a folder");
    fs::write(folder.join("2020/wide.jpg"), encoded(&halves(900, 600), ImageFormat::Jpeg)).expect("written");
    let more = format!(
        "<wp:attachment_url>http://old.example/wp-content/uploads/2020/wide.jpg</wp:attachment_url>{}",
        meta("wp:postmeta", "_wp_attached_file", "2020/wide.jpg")
    );
    let items = item(895, "attachment", &more).replace(">publish<", ">inherit<");
    import(&server, &export("", &items), &["--attachments", folder.to_str().expect("a path")]);
    let record = server.get("/wp/v2/media/895").body;
    assert_eq!(
        (&record["media_details"]["file"], &record["media_details"]["width"]),
        (&json!("2020/wide.jpg"), &json!(900))
    );
}

#[test]
fn a_file_that_cannot_be_read_still_changes_nothing() {
    let server = wp();
    let file = server.path("export.xml");
    let text = export("", &item(899, "post", ""));
    fs::write(&file, &text[..text.len() - 30]).expect("a file");
    let mut args = server.args();
    args.retain(|arg| *arg != "serve");
    args.extend(["import", file.to_str().expect("a path")]);
    let output = run(&args, "");
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(server.get("/wp/v2/posts/899").status, 404);
}

#[test]
fn declarations_are_proposed_for_what_a_file_has() {
    let value = |key: &str, value: &str| meta("wp:postmeta", key, value);
    let book = |id: i64, more: &str| item(id, "book", more);
    let list = "a:2:{i:0;s:1:\"a\";i:1;s:1:\"b\";}";
    let object = "a:1:{s:4:\"size\";i:3;}";
    let in_genre = "<category domain=\"genre\" nicename=\"sea\"><![CDATA[Sea]]></category>";
    let first = [
        value("pages", "120"),
        value("price", "9.5"),
        value("signed", "1"),
        value("tones", list),
        value("box", object),
    ]
    .concat();
    let second = [
        value("pages", "7"),
        value("price", "10"),
        value("signed", "0"),
        value("_edit_last", "1"),
        value("mixed", list),
    ]
    .concat();
    let third = [
        value("mixed", "text"),
        value("_oembed_1", "x"),
        value("_oembed_2", "x"),
        value("subtitle", "A"),
        value("subtitle", "B"),
    ]
    .concat();
    let group = "a:2:{s:12:\"show_in_rest\";i:1;s:8:\"location\";a:1:{i:0;a:1:{i:0;a:3:{s:5:\"param\";s:9:\"post_type\";s:8:\"operator\";s:2:\"==\";s:5:\"value\";s:4:\"post\";}}}}";
    let field = "a:1:{s:4:\"type\";s:4:\"text\";}";
    let acf = |id: i64, kind: &str, slug: &str, parent: i64, content: &str, name: &str| {
        format!(
            "<item><title>{name}</title><content:encoded><![CDATA[{content}]]></content:encoded><excerpt:encoded><![CDATA[{name}]]></excerpt:encoded>\
             <wp:post_id>{id}</wp:post_id><wp:post_parent>{parent}</wp:post_parent><wp:post_name>{slug}</wp:post_name>\
             <wp:status>publish</wp:status><wp:post_type>{kind}</wp:post_type></item>"
        )
    };
    let items = [
        book(101, &(first + in_genre)),
        book(102, &second),
        book(103, &third),
        item(104, "post", &[value("mood", "calm"), value("motto", "Row"), value("_motto", "field_m")].concat()),
        item(105, "revision", ""),
        without(&item(106, "post", ""), "wp:status"),
        acf(200, "acf-field-group", "group_x", 0, group, "Extras"),
        acf(201, "acf-field", "field_m", 200, field, "motto"),
    ];
    let genre = "<wp:term><wp:term_id>9</wp:term_id><wp:term_taxonomy>genre</wp:term_taxonomy><wp:term_slug>sea</wp:term_slug><wp:term_name>Sea</wp:term_name></wp:term>";
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let path = |file: &str| folder.path().join(file).display().to_string();
    stdout(&["init", &path("")], "");
    fs::write(folder.path().join("site.xml"), export(genre, &items.concat())).expect("a file");
    let told: Value =
        serde_json::from_str(&stdout(&["import", &path("site.xml"), "--propose", &path(""), "--json"], ""))
            .expect("JSON");
    let counts = &told["counts"];
    assert_eq!(
        [&counts["types"], &counts["taxonomies"], &counts["field groups"], &counts["meta keys"]],
        [1, 1, 1, 7],
        "{told}"
    );
    let notes = told["notes"].to_string();
    assert!(notes.contains("has no wp:status, and becomes `draft`"), "{notes}");
    let left_out = told["left_out"].to_string();
    assert!(!left_out.contains("wp:status"), "what comes in is not left out: {left_out}");
    for line in [
        "meta key _oembed_* of book: a column has it, or WordPress keeps it for itself (2 values)",
        "meta key mixed of book: its values are texts, and lists or objects (2 records)",
        "1 versions and autosaves of records: --revisions brings them",
    ] {
        assert!(left_out.contains(line), "{line}: {left_out}");
    }
    let text = fs::read_to_string(folder.path().join("site.toml")).expect("a file");
    assert!(text.contains("# Guessed: in 2 of 3 records, every value is of the type integer."), "{text}");
    let server = Server::over(folder, &["site.prefix=wp"]);
    import(&server, &fs::read_to_string(server.path("site.xml")).expect("a file"), &[]);
    let book = server.get("/wp/v2/book/101").body;
    let own =
        json!({"pages": 120, "price": 9.5, "signed": true, "tones": ["a", "b"], "box": {"size": 3}, "subtitle": []});
    for (key, value) in own.as_object().expect("an object") {
        assert_eq!(&book["meta"][key], value, "{key}: {book}");
    }
    assert_eq!(server.get("/wp/v2/book/103").body["meta"]["subtitle"], json!(["A", "B"]));
    assert_eq!(server.get("/wp/v2/genre?slug=sea").body[0]["count"], 1);
    let post = server.get("/wp/v2/posts/104").body;
    assert_eq!((&post["acf"]["motto"], &post["meta"]["mood"]), (&json!("Row"), &json!("calm")), "{post}");
}
