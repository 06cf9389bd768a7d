//! `cms-server import`: counts equal the file's, a second run brings nothing, a broken file changes nothing.

use super::server::{Server, run, stdout};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/import.xml");

/// Items by kind and status, counted in the text alone.
fn counted(file: &Path) -> BTreeMap<(String, String), u64> {
    let text = std::fs::read_to_string(file).expect("the export");
    let value = |item: &str, tag: &str| {
        let inner = item.split(&format!("<{tag}>")).nth(1).and_then(|r| r.split(&format!("</{tag}>")).next());
        inner.unwrap_or("").trim().trim_start_matches("<![CDATA[").trim_end_matches("]]>").to_owned()
    };
    let mut counts = BTreeMap::new();
    for item in text.split("<item>").skip(1) {
        *counts.entry((value(item, "wp:post_type"), value(item, "wp:status"))).or_insert(0) += 1;
    }
    counts
}

/// The same from the database.
fn stored(server: &Server) -> BTreeMap<(String, String), u64> {
    let rows = server.sql(
        "SELECT k.word, s.word, count(*) FROM record r JOIN dictionary k ON k.number = r.kind \
         JOIN dictionary s ON s.number = r.status GROUP BY 1, 2",
    );
    let row = |row: &String| {
        let cells: Vec<&str> = row.split('|').collect();
        ((cells[0].to_owned(), cells[1].to_owned()), cells[2].parse().expect("a number"))
    };
    rows.iter().map(row).collect()
}

fn args(server: &Server) -> Vec<String> {
    let db = server.storage();
    vec!["--set".into(), db, "import".into()]
}

fn import(server: &Server, file: &Path) -> String {
    let args = args(server);
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.push(file.to_str().expect("a path"));
    stdout(&args, "")
}

/// Kinds are stored without the platform's prefix.
fn neutral(counts: BTreeMap<(String, String), u64>) -> BTreeMap<(String, String), u64> {
    counts.into_iter().map(|((k, s), n)| ((if k == "wp_block" { "block".into() } else { k }, s), n)).collect()
}

#[test]
fn everything_of_the_small_export_is_there() {
    let server = Server::start();
    import(&server, Path::new(SMALL));
    assert_eq!(stored(&server), neutral(counted(Path::new(SMALL))));

    let post = server.admin("GET", "/cms/v2/posts/101?context=edit", None).body;
    assert_eq!(post["slug"], "harbour-log");
    assert_eq!(post["date"], "2021-03-04T09:15:00");
    assert!(post["content"]["raw"].as_str().expect("text").contains("ends with ]]> and goes on"));
    assert_eq!(post["categories"].as_array().map(Vec::len), Some(2));
    assert_eq!(post["guid"]["raw"], "http://export.example/?p=101");
    let bare = server.admin("GET", "/cms/v2/posts/102?context=edit", None).body;
    assert_eq!((&bare["status"], &bare["categories"]), (&json!("draft"), &json!([1])), "what names no category");
    assert_eq!(bare["tags"], json!([]));
    let tree = server.get("/cms/v2/categories?include=21,22,23&orderby=id&order=asc").body;
    assert_eq!((&tree[1]["parent"], &tree[2]["parent"]), (&json!(21), &json!(22)));
    assert_eq!(tree[0]["count"], 3, "published posts in the category");
    let notice = server.get("/cms/v2/posts?sticky=true").body;
    assert_eq!((&notice[0]["id"], &notice[0]["format"]), (&json!(108), &json!("aside")));
    let locked = server.get("/cms/v2/posts/107").body;
    assert_eq!((&locked["content"]["protected"], &locked["content"]["rendered"]), (&json!(true), &json!("")));
    let page = server.get("/cms/v2/pages/111").body;
    assert_eq!((&page["parent"], &page["menu_order"]), (&json!(110), &json!(1)));
    assert!(page["link"].as_str().expect("text").ends_with("/about/people/"));
    let author = server.get("/cms/v2/users/11").body;
    assert_eq!(author["name"], "Mira Vann");
    let block = server.admin("GET", "/cms/v2/blocks/140?context=edit", None).body;
    assert_eq!(block["status"], "Publish");
}

#[test]
fn a_second_run_brings_nothing() {
    let server = Server::start();
    import(&server, Path::new(SMALL));
    let before = stored(&server);
    let report = import(&server, Path::new(SMALL));
    assert!(report.contains("were here already"), "{report}");
    assert_eq!(stored(&server), before);
}

#[test]
fn a_taken_id_is_replaced_and_references_follow() {
    let server = Server::start();
    let file = server.path("moved.xml");
    let text = std::fs::read_to_string(SMALL).expect("the export");
    // The page that is the parent of others gets the id of a post that is here already.
    let made =
        server.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "Here first"}, "status": "publish"}))).body;
    let taken = made["id"].as_i64().expect("an id");
    let moved = text
        .replace("<wp:post_id>110</wp:post_id>", &format!("<wp:post_id>{taken}</wp:post_id>"))
        .replace("<wp:post_parent>110</wp:post_parent>", &format!("<wp:post_parent>{taken}</wp:post_parent>"));
    std::fs::write(&file, moved).expect("a file");
    let report = import(&server, &file);
    assert!(report.contains(&format!("record {taken} was taken and became")), "{report}");
    let page = server.get("/cms/v2/pages?slug=about").body[0]["id"].clone();
    assert_ne!(page, taken);
    assert_eq!(server.get("/cms/v2/pages?slug=people").body[0]["parent"], page);
    assert_eq!(server.get(&format!("/cms/v2/posts/{taken}")).body["title"]["rendered"], "Here first");
}

#[test]
fn a_broken_file_changes_nothing() {
    let server = Server::start();
    let text = std::fs::read(SMALL).expect("the export");
    let file = server.path("cut.xml");
    std::fs::write(&file, &text[..text.len() - 3000]).expect("a file");
    let args = args(&server);
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.push(file.to_str().expect("a path"));
    let output = run(&args, "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("line") && said.contains("nothing was imported"), "{said}");
    assert!(stored(&server).is_empty());
}

/// A real export, if there is one beside the project.
#[test]
fn a_real_export_comes_in_whole() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/themeunittestdata.wordpress.xml");
    if !file.exists() {
        return;
    }
    let server = Server::start();
    import(&server, &file);
    assert_eq!(stored(&server), counted(&file));
    let published = server.get("/cms/v2/posts?per_page=1");
    assert_eq!(published.header("x-cms-total"), Some("49"));
}

#[test]
fn menus_of_an_export_lead_to_what_came_with_it() {
    let server = Server::with(&["site.prefix=wp"]);
    let args = args(&server);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    stdout(&[&["--set", "site.prefix=wp"], args.as_slice(), &[SMALL]].concat(), "");
    let menu = server.admin("GET", "/wp/v2/menus?slug=top", None).body[0].clone();
    let items = server.admin("GET", &format!("/wp/v2/menu-items?menus={}", menu["id"]), None).body;
    let told = |item: &serde_json::Value| {
        let names = ["type", "object", "object_id", "parent", "target", "classes", "xfn", "menu_order", "invalid"];
        names.map(|name| item[name].clone())
    };
    let page = json!(["post_type", "page", 110, 0, "_blank", ["wide", "blue"], ["me"], 1, false]);
    let category = json!(["taxonomy", "category", 22, 130, "", [""], [""], 2, false]);
    assert_eq!(json!([told(&items[0]), told(&items[1])]), json!([page, category]));
    let addresses = [&items[0]["url"], &items[1]["url"]].map(|url| url.as_str().expect("an address").to_owned());
    assert!(addresses[0].ends_with("/about/") && addresses[1].ends_with("/category/harbour/piers/"), "{addresses:?}");
}

/// An export of records, each with a number, an author, a number of the record above, and more.
fn export(records: &[(i64, &str, i64, &str)]) -> String {
    let items = records.iter().map(|(id, author, parent, more)| {
        format!(
            "<item><title>R {id}</title><dc:creator>{author}</dc:creator><wp:post_id>{id}</wp:post_id>\
             <wp:post_parent>{parent}</wp:post_parent><wp:status>publish</wp:status>{more}</item>"
        )
    });
    format!(
        "<?xml version=\"1.0\"?><rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xmlns:wp=\"http://wordpress.org/export/1.2/\"><channel><wp:wxr_version>1.2</wp:wxr_version>\
         <wp:base_blog_url>http://old.example</wp:base_blog_url><wp:author><wp:author_id>70</wp:author_id>\
         <wp:author_login>sue</wp:author_login></wp:author>{}</channel></rss>",
        items.collect::<String>()
    )
}

#[test]
fn records_of_unlisted_authors_go_to_the_importing_user() {
    let server = Server::start();
    server.user("eve", "editor");
    let page = "<wp:post_type>page</wp:post_type>";
    let file = server.path("authors.xml");
    std::fs::write(&file, export(&[(501, "sue", 0, page), (502, "nobody", 0, page), (503, "", 0, page)]))
        .expect("a file");
    import(&server, &file);
    let author = |id: i64| server.get(&format!("/cms/v2/pages/{id}")).body["author"].clone();
    let id_of = |name: &str| server.admin("GET", &format!("/cms/v2/users?search={name}"), None).body[0]["id"].clone();
    assert_eq!([author(501), author(502), author(503)], [id_of("sue"), json!(1), json!(1)]);

    std::fs::write(&file, export(&[(504, "nobody", 0, page)])).expect("a file");
    let args = args(&server);
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.extend([file.to_str().expect("a path"), "--user", "eve"]);
    stdout(&args, "");
    assert_eq!(author(504), id_of("eve"));
    let last = args.len() - 1;
    args[last] = "adam";
    let refused = run(&args, "");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no user adam"), "{refused:?}");
}

#[test]
fn references_mean_the_record_that_was_read_last() {
    let server = Server::start();
    let page = "<wp:post_type>page</wp:post_type>";
    // 601 is given twice; 600 refers to one that comes later, 604 to none of the file.
    let records = [
        (600, "sue", 605, page),
        (601, "sue", 0, "<wp:post_name>first</wp:post_name><wp:post_type>page</wp:post_type>"),
        (602, "sue", 601, page),
        (601, "sue", 0, "<wp:post_name>second</wp:post_name><wp:post_type>page</wp:post_type>"),
        (603, "sue", 601, page),
        (604, "sue", 1, page),
        (605, "sue", 0, page),
    ];
    let file = server.path("twice.xml");
    std::fs::write(&file, export(&records)).expect("a file");
    import(&server, &file);
    let page = |id: i64| server.get(&format!("/cms/v2/pages/{id}")).body;
    let named = |slug: &str| server.get(&format!("/cms/v2/pages?slug={slug}")).body[0]["id"].clone();
    assert_eq!(named("first"), 601);
    assert_eq!(page(602)["parent"], named("first"));
    assert_eq!(page(603)["parent"], named("second"));
    assert_eq!([&page(600)["parent"], &page(604)["parent"]], [&json!(605), &json!(0)]);

    // Another export of the same site may refer to what the first one brought.
    std::fs::write(&file, export(&[(650, "sue", 605, "<wp:post_type>page</wp:post_type>")])).expect("a file");
    import(&server, &file);
    assert_eq!(page(650)["parent"], 605);
}

#[test]
fn menu_items_without_a_target_show_no_other_record() {
    let server = Server::with(&["site.prefix=wp"]);
    let here = server.admin("POST", "/wp/v2/pages", Some(&json!({"title": "Here first", "status": "publish"}))).body;
    let meta = |key: &str, value: &str| {
        format!("<wp:postmeta><wp:meta_key>{key}</wp:meta_key><wp:meta_value>{value}</wp:meta_value></wp:postmeta>")
    };
    let item = format!(
        "<wp:post_type>nav_menu_item</wp:post_type>{}{}{}",
        meta("_menu_item_type", "post_type"),
        meta("_menu_item_object", "page"),
        meta("_menu_item_object_id", &here["id"].to_string())
    );
    let file = server.path("menu.xml");
    std::fs::write(&file, export(&[(701, "sue", 0, &item)]).replace("<title>R 701</title>", "<title></title>"))
        .expect("a file");
    let args = args(&server);
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.push(file.to_str().expect("a path"));
    stdout(&[&["--set", "site.prefix=wp"], args.as_slice()].concat(), "");
    let item = server.admin("GET", "/wp/v2/menu-items/701", None).body;
    assert_eq!((&item["url"], &item["invalid"]), (&json!(""), &json!(true)), "{item}");
    assert_eq!(item["title"]["rendered"], "#0 (no title)", "{item}");
}
