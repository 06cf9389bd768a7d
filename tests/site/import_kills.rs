//! An import that is killed goes on in the next run: the site is then the one that an import without kills has made.

use super::compare::reaches;
use super::media::{encoded, halves, stored};
use super::moves::{export, item, without};
use super::server::{Server, program, stdout};
use image::ImageFormat;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

/// Kills of each source; `CMS_TEST_KILLS` sets another number.
const KILLS: u64 = 5;

/// The progress of an import: rows that it remembers, files that have a name, pages that it has read.
fn progress(server: &Server) -> u64 {
    let rows = server.sql("SELECT (SELECT count(*) FROM origin) + (SELECT count(*) FROM file)");
    let read = fs::read_to_string(server.path("old.sql")).unwrap_or_default();
    rows[0].parse::<u64>().expect("a number") + read.matches("\n-- page ").count() as u64
}

/// Runs a command to its end.
fn whole(server: &Server, args: &[String]) -> String {
    let mut all = server.args();
    all.retain(|arg| *arg != "serve");
    all.extend(args.iter().map(String::as_str));
    stdout(&all, "")
}

/// Runs a command again and again, and kills it each time when it has come so far. How many kills there were.
fn killed(server: &Server, args: &[String], ends: u64) -> u64 {
    let kills = std::env::var("CMS_TEST_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let begins = progress(server);
    let mut done = 0;
    for round in 1..=kills {
        // The last one at the end: when only what waits for all items is left.
        let target = begins + (ends - begins) * round / kills;
        let mut all = server.args();
        all.retain(|arg| *arg != "serve");
        all.extend(args.iter().map(String::as_str));
        let mut child = program().args(all).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process");
        let ended = loop {
            if child.try_wait().expect("a state").is_some() {
                break true;
            }
            if progress(server) >= target {
                break false;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        child.kill().expect("killed");
        child.wait().expect("it has ended");
        done += u64::from(!ended);
    }
    done
}

/// Everything that the site has, as it would leave it, and its settings.
fn content(server: &Server) -> (Vec<String>, Value) {
    let file = server.path("exported.xml");
    let _ = fs::remove_file(&file);
    whole(server, &["export".into(), "--wxr".into(), file.display().to_string()]);
    let text = fs::read_to_string(file).expect("an export").replace(&server.site, "https://site.example");
    // Sizes that this server makes have names of their own.
    let of_now = |line: &&str| line.contains("<pubDate>") && !line.contains("2020") || line.contains("s:5:\"sizes\"");
    let lines = text.lines().filter(|line| !of_now(line)).map(str::to_owned);
    let mut settings = server.admin("GET", "/wp/v2/settings", None).body;
    settings["url"].take();
    (lines.collect(), settings)
}

/// Imports into one site without a kill, into another one with kills, and compares them.
fn survives(file: &str, text: &str, more: &[&str], prepare: impl Fn(&Server)) -> (Server, Server) {
    let sites = [(); 2].map(|()| Server::with(&["site.prefix=wp"]));
    let of = |server: &Server| {
        fs::write(server.path(file), text).expect("a file");
        prepare(server);
        let path = |name: &str| server.path(name).display().to_string();
        let mut args = vec!["import".to_owned(), path(file)];
        args.extend(more.iter().map(|arg| if arg.starts_with("--") { (*arg).to_owned() } else { path(arg) }));
        args
    };
    let [calm, rough] = &sites;
    whole(calm, &of(calm));
    let args = of(rough);
    assert!(killed(rough, &args, progress(calm)) >= 3, "most kills come before the end");
    whole(rough, &args);
    same(calm, rough);
    let [calm, rough] = sites;
    (calm, rough)
}

fn same(calm: &Server, rough: &Server) {
    let ((left, settings), (right, others)) = (content(calm), content(rough));
    for (left, right) in left.iter().zip(&right) {
        assert_eq!(left, right);
    }
    assert_eq!(left.len(), right.len());
    assert_eq!(settings, others);
    let waits = "source_key LIKE 'parent:%' OR source_key LIKE 'slug:%' OR source_key = 'empty'";
    let waiting = rough.sql(&format!("SELECT source_key FROM origin WHERE {waits}"));
    assert!(waiting.is_empty(), "{waiting:?}");
    let checked = whole(rough, &["check".into(), "--data".into()]);
    assert!(!checked.contains("damaged"), "{checked}");
}

/// A dump whose terms come before those above them, with published records that have no slug, values, comments, accounts.
fn dump(records: u64) -> String {
    let mut text = String::from(
        "SET NAMES utf8mb4;\nINSERT INTO wp_options (option_name,option_value) VALUES ('home','https://old.example'),\
         ('siteurl','https://old.example'),('blogname','The harbour'),('default_category','140');\n",
    );
    for n in 1..=40 {
        let _ = writeln!(
            text,
            "INSERT INTO wp_users (ID,user_login,user_email) VALUES ({},'user{n}','u{n}@x.example');",
            n + 10
        );
    }
    for n in 101..=140 {
        let above = if n < 140 { n + 1 } else { 0 };
        let _ = writeln!(
            text,
            "INSERT INTO wp_terms VALUES ({n},'Term {n}','term-{n}',0);\n\
             INSERT INTO wp_term_taxonomy VALUES ({n},{n},'category','',{above},0);"
        );
    }
    for n in 1001..=1000 + records {
        let slug = if n % 3 == 0 { String::new() } else { format!("post-{n}") };
        let above = if n % 5 == 0 { 1001 } else { 0 };
        let kind = if n % 5 == 0 || n == 1001 { "page" } else { "post" };
        let _ = writeln!(
            text,
            "INSERT INTO wp_posts (ID,post_author,post_title,post_content,post_date,post_date_gmt,post_modified,\
             post_modified_gmt,post_type,post_status,post_name,post_parent) VALUES ({n},{},'Post','Text {n}',\
             '2020-01-02 04:00:00','2020-01-02 03:00:00','2020-01-02 04:00:00','2020-01-02 03:00:00','{kind}','publish',\
             '{slug}',{above});\nINSERT INTO wp_postmeta VALUES ({n},{n},'mood','calm {n}'),({n}0,{n},'_wp_old_slug','old-{n}');\n\
             INSERT INTO wp_comments (comment_ID,comment_post_ID,comment_author,comment_content,comment_date,comment_date_gmt,\
             comment_approved,comment_parent) VALUES ({},{n},'Ann','Good {n}','2020-01-02 04:00:00','2020-01-02 03:00:00','1',0),\
             ({},{n},'Bo','So {n}','2020-01-02 04:00:00','2020-01-02 03:00:00','1',{});\n\
             INSERT INTO wp_term_relationships VALUES ({n},{},0);",
            n % 40 + 11,
            n * 2,
            n * 2 + 1,
            n * 2,
            n % 40 + 101
        );
    }
    text + "-- Dump completed on 2026-01-02  3:04:05\n"
}

#[test]
fn a_dump_whose_import_is_killed_comes_in_whole() {
    let (calm, rough) = survives("site.sql", &dump(1500), &[], |_| {});
    let terms = rough.get("/wp/v2/categories?per_page=100&_fields=id,parent&orderby=id").body;
    let first = terms.as_array().and_then(|list| list.iter().find(|term| term["id"] == 101)).expect("the term");
    assert_eq!(first["parent"], json!(102), "{terms}");
    assert_eq!(rough.get("/wp/v2/posts?per_page=100&slug=post").body.as_array().map(Vec::len), Some(1));
    assert_eq!(calm.admin("GET", "/wp/v2/settings", None).body["default_category"], json!(140));
}

/// An export of items of a type; they have no slugs.
fn items(records: u64, each: impl Fn(u64) -> String) -> String {
    export("", &(1..=records).map(each).collect::<String>())
}

fn unnamed(number: u64, kind: &str, more: &str) -> String {
    let item = item(number.try_into().expect("an id"), kind, more);
    without(&item, "wp:post_name").replace(&format!("Title {number}"), "Title")
}

#[test]
fn an_export_whose_import_is_killed_comes_in_whole() {
    let text = items(1500, |n| {
        // Each tenth has the number of one before.
        let number = if n % 10 == 0 { n + 999 } else { n + 1000 };
        let more = format!(
            "<wp:post_parent>{}</wp:post_parent><content:encoded>Text {n}</content:encoded>\
             <category domain=\"genre\" nicename=\"g{}\">G</category><category domain=\"post_tag\" nicename=\"t{n}\">T {n}</category>",
            number - 1,
            n % 7
        );
        unnamed(number, if n % 2 == 0 { "page" } else { "film" }, &more)
    });
    survives("site.xml", &text, &[], |_| {});
}

#[test]
fn files_whose_import_is_killed_keep_their_names() {
    let jpeg = encoded(&halves(320, 200), ImageFormat::Jpeg);
    let text = items(25, |n| {
        let file = format!(
            "<wp:attachment_url>https://old.example/wp-content/uploads/2020/01/tree{n}.jpg</wp:attachment_url><wp:postmeta>\
             <wp:meta_key>_wp_attached_file</wp:meta_key><wp:meta_value>2020/01/tree{n}.jpg</wp:meta_value></wp:postmeta>"
        );
        let named = format!(
            "<content:encoded>&lt;img src=\"https://old.example/wp-content/uploads/2020/01/loose{n}.jpg\"></content:encoded>"
        );
        unnamed(n + 1000, "attachment", &file).replace(">publish<", ">inherit<") + &unnamed(n + 2000, "post", &named)
    });
    let (calm, rough) = survives("site.xml", &text, &["--attachments", "uploads"], |server| {
        let folder = server.path("uploads/2020/01");
        fs::create_dir_all(&folder).expect("a folder");
        for n in 1..=25 {
            for name in [format!("tree{n}.jpg"), format!("tree{n}-99x62.jpg"), format!("loose{n}.jpg")] {
                fs::write(folder.join(name), &jpeg).expect("a file");
            }
        }
    });
    let owned = |server: &Server| server.sql("SELECT key FROM file WHERE record > 0 ORDER BY key");
    // Sizes that this server makes have names of their own.
    let is_made = |name: &&String| name.contains("-150x150") || name.contains("-300x188");
    let here = owned(&rough);
    for name in owned(&calm).iter().filter(|name| !is_made(name)) {
        assert!(here.contains(name) && stored(&rough).contains(name), "{name}: {here:?}");
    }
}

#[test]
fn a_site_whose_reading_is_killed_comes_in_whole() {
    let old = Server::with(&["site.prefix=wp"]);
    let make = |route: &str, body: Value| {
        let made = old.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].clone()
    };
    let above = make("categories", json!({"name": "Above"}));
    let below = make("categories", json!({"name": "Below", "parent": above}));
    for n in 0..260 {
        let body = json!({"title": format!("Post {n}"), "status": "publish", "categories": [below], "content": "Text",
            "date": "2020-01-01T00:00:00"});
        make("posts", body);
    }
    let sites = [(); 2].map(|()| Server::with(&["site.prefix=wp"]));
    let password = old.path("password");
    fs::write(&password, &old.admin.1).expect("a file");
    let args = |here: &Server| {
        let mut args: Vec<String> =
            reaches(&[&old.site]).into_iter().flat_map(|set| ["--set".to_owned(), set]).collect();
        let into = here.path("old.sql").display().to_string();
        let own = ["import", &old.site, "--user", "admin", "--into", &into, "--pause", "0", "--password-file"];
        args.extend(own.iter().map(|arg| (*arg).to_owned()));
        args.push(password.display().to_string());
        args
    };
    let [calm, rough] = &sites;
    whole(calm, &args(calm));
    assert!(killed(rough, &args(rough), progress(calm)) >= 3, "most kills come before the end");
    whole(rough, &args(rough));
    same(calm, rough);
    // A change that comes later, and a kill in the run that brings it.
    for post in old.admin("GET", "/wp/v2/posts?per_page=100&_fields=id", None).body.as_array().expect("a list") {
        let change = json!({"title": "Changed", "categories": [above]});
        assert_eq!(old.admin("POST", &format!("/wp/v2/posts/{}", post["id"]), Some(&change)).status, 200);
    }
    whole(calm, &args(calm));
    killed(rough, &args(rough), progress(rough) + 4);
    whole(rough, &args(rough));
    same(calm, rough);
    assert_eq!(rough.get("/wp/v2/posts?search=Changed&per_page=1").header("x-wp-total"), Some("100"));
}
