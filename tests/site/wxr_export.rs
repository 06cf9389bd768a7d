//! The way back: `cms-server export --wxr` writes what WordPress and `import` read.

use super::media::{fetch, png, upload};
use super::own_types::{folder, make};
use super::revisions::recipes;
use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn exported(server: &Server, file: &str, more: &[&str]) -> String {
    let file = server.path(file).display().to_string();
    let mut args = server.args();
    args.extend(["export", "--wxr", &file]);
    args.extend(more);
    stdout(&args, "")
}

fn imported(server: &Server, file: &Path) -> String {
    let file = file.display().to_string();
    let mut args = server.args();
    args.extend(["import", &file]);
    stdout(&args, "")
}

fn made(server: &Server, base: &str, body: Value) -> Value {
    let made = server.admin("POST", &format!("/{}/v2/{base}", server.prefix), Some(&body));
    assert_eq!(made.status, 201, "{base} {body}: {}", made.text);
    made.body
}

/// The text between the tags of an element, the first one behind a mark.
fn element<'t>(text: &'t str, mark: &str, name: &str) -> &'t str {
    let behind = &text[text.find(mark).unwrap_or_else(|| panic!("{mark} in the export"))..];
    let begin = behind.find(&format!("<{name}>")).expect("the element") + name.len() + 2;
    let end = behind.find(&format!("</{name}>")).expect("its end");
    behind[begin..end].trim_start_matches("<![CDATA[").trim_end_matches("]]>")
}

/// The meta values of a key.
fn meta<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let mark = format!("<wp:meta_key><![CDATA[{key}]]></wp:meta_key>");
    let behind = text.split(&mark).skip(1).filter_map(|rest| rest.split_once("<wp:meta_value><![CDATA["));
    behind.filter_map(|(_, rest)| rest.split("]]></wp:meta_value>").next()).collect()
}

/// An empty site with the declarations of another one.
fn again(server: &Server) -> Server {
    let folder = TempDir::new().expect("a folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let declared = fs::read_dir(server.path("schemas")).expect("a folder").map(|file| file.expect("a file").path());
    for file in declared.chain([server.path("site.toml")]).filter(|file| file.is_file()) {
        let own = file.strip_prefix(server.path("")).expect("a file of the folder");
        fs::copy(&file, folder.path().join(own)).expect("a copy");
    }
    Server::over(folder, &[&format!("site.prefix={}", server.prefix)])
}

/// Exports a site, imports that into an empty one with the same declarations, and exports that; without the address of each.
fn twice(server: &Server) -> [String; 2] {
    let other = again(server);
    exported(server, "first.xml", &[]);
    imported(&other, &server.path("first.xml"));
    exported(&other, "second.xml", &[]);
    let read = |server: &Server, file: &str| {
        fs::read_to_string(server.path(file)).expect("an export").replace(&server.site, "")
    };
    [read(server, "first.xml"), read(&other, "second.xml")]
}

#[test]
fn what_was_imported_comes_back_the_same() {
    let demo = ["12 post, ", "1 comments that are spam"];
    let dump = ["1 attachment, 1 page, 1 post", "2 comments, 2 authors"];
    for (prefix, file, told) in
        [("cms", "fixtures/demo.xml", demo), ("wp", "fixtures/demo.xml", demo), ("wp", "fixtures/site.sql", dump)]
    {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        imported(&server, Path::new(file));
        let report = exported(&server, "whole.xml", &[]);
        told.iter().for_each(|told| assert!(report.contains(told), "{told}: {report}"));
        let [first, second] = twice(&server);
        let kind = if file.ends_with("xml") { "wp_block" } else { "attachment" };
        assert!(first.contains(&format!("<wp:post_type><![CDATA[{kind}]]>")), "a kind has WordPress's name");
        assert_eq!(second, first, "{prefix}, {file}");
    }
}

/// The texts that WordPress stores of each item of a file.
fn stored(text: &str) -> BTreeSet<String> {
    let texts = |part: &str, name: &str| -> Vec<String> {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let inside = part.split(&open).skip(1).filter_map(|rest| rest.split(&close).next());
        inside.map(|text| text.replace("<![CDATA[", "").replace("]]>", "")).collect()
    };
    let mut stored = BTreeSet::new();
    for item in text.split("<item>").skip(1) {
        let id = texts(item, "wp:post_id").concat();
        for name in [
            "title",
            "content:encoded",
            "excerpt:encoded",
            "wp:post_date_gmt",
            "wp:post_name",
            "wp:status",
            "wp:post_parent",
            "wp:menu_order",
            "wp:post_type",
            "wp:post_password",
            "wp:is_sticky",
            "wp:comment_content",
        ] {
            stored.insert(format!("{id} {name} {:?}", texts(item, name)));
        }
        for value in texts(item, "wp:postmeta") {
            let (key, value) = (texts(&value, "wp:meta_key"), texts(&value, "wp:meta_value"));
            stored.insert(format!("{id} {key:?} {value:?}"));
        }
        let terms = item.split("<category ").skip(1).filter_map(|rest| rest.split('>').next());
        stored.extend(terms.map(|term| format!("{id} {term}")));
    }
    stored
}

/// A site with values of plugins, if there is one beside the project.
#[test]
fn a_site_of_plugins_comes_back_whole() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/plugins-small.wxr");
    if !file.exists() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().to_str().expect("a path");
    stdout(&["init", path], "");
    stdout(&["import", file.to_str().expect("a path"), "--propose", path], "");
    let server = Server::over(folder, &["site.prefix=wp"]);
    imported(&server, &file);
    let [first, second] = twice(&server);
    assert_eq!(second, first);
    let (source, export) = (stored(&fs::read_to_string(file).expect("a file")), stored(&first));
    // The profile that is proposed has columns of its own for what the plugin says.
    let own = |line: &&String| ["[\"seo_values\"]", "[\"noindex\"]"].iter().any(|key| line.contains(key));
    let differences: Vec<&String> = source.symmetric_difference(&export).filter(|line| !own(line)).collect();
    assert!(source.len() > 1000 && differences.is_empty(), "{differences:#?}");
}

#[test]
fn own_properties_come_back_as_they_were() {
    let of = |to: &str| json!({"type": "integer", "x-relation": {"to": to}});
    let properties = json!({
        "minutes": {"type": "integer"}, "price": {"type": "number"}, "vegan": {"type": "boolean"},
        "season": {"type": "string", "enum": ["summer", "winter"]}, "when": {"type": "string", "format": "date-time"},
        "words": {"type": "array", "items": {"type": "string"}}, "sizes": {"type": "object", "additionalProperties": true},
        "cook": of("users"), "next": of("dishes"),
        "beside": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "dishes"}},
        "steps": {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}, "of": of("dishes")}}},
    });
    let server = Server::over(folder(&[("dishes", "content", properties, "")]), &["site.prefix=wp"]);
    let first = make(&server, "dishes", json!({"title": "first", "status": "publish"}));
    let whole = json!({"title": "whole", "status": "publish", "minutes": 20, "price": 5.5, "vegan": true, "season": "winter",
        "when": "2024-05-06T07:08:09", "words": ["a", "7"], "sizes": {"0": 1, "b": []}, "cook": 1, "next": first,
        "beside": [first], "steps": [{"text": "cut", "of": first}, {"text": "9"}]});
    let empty = json!({"title": "empty", "status": "publish", "vegan": false, "words": [], "sizes": {}});
    let ids = [make(&server, "dishes", whole), make(&server, "dishes", empty), first];
    let shown = |server: &Server| {
        let one = |id: &i64| server.admin("GET", &format!("/own/v1/dishes/{id}?context=edit"), None);
        ids.iter().map(one).map(|item| item.text.replace(&server.site, "")).collect::<Vec<_>>()
    };
    let (before, other) = (shown(&server), again(&server));
    exported(&server, "first.xml", &[]);
    let report = imported(&other, &server.path("first.xml"));
    assert_eq!(shown(&other), before, "{report}");
    for key in ["minutes", "steps", "beside"] {
        assert!(!report.contains(key), "{key} is shown: {report}");
    }

    // A value that does not fit is counted; its property is unset.
    let text =
        fs::read_to_string(server.path("first.xml")).expect("an export").replace("<![CDATA[20]]>", "<![CDATA[soon]]>");
    fs::write(server.path("odd.xml"), text).expect("a file");
    let odd = again(&server);
    let report = imported(&odd, &server.path("odd.xml"));
    assert!(report.contains("minutes"), "{report}");
    let item = odd.admin("GET", &format!("/own/v1/dishes/{}", ids[0]), None).body;
    assert_eq!((&item["minutes"], &item["price"]), (&Value::Null, &json!(5.5)));
}

#[test]
fn everything_of_a_record_is_in_the_file() {
    let server = Server::with(&["site.prefix=wp"]);
    let tag = made(&server, "tags", json!({"name": "Fish & chips", "slug": "fish", "description": "<b>Hot</b>"}));
    let body = json!({"title": "A ]]> B", "content": "<p>Text</p>", "excerpt": "Short", "status": "publish", "slug": "first",
        "date": "2024-05-06T07:08:09", "sticky": true, "format": "aside", "tags": [tag["id"]], "password": ""});
    let post = made(&server, "posts", body);
    let moved = server.admin("POST", &format!("/wp/v2/posts/{}", post["id"]), Some(&json!({"slug": "second"})));
    assert_eq!(moved.status, 200, "{}", moved.text);
    let comment = json!({"post": post["id"], "content": "Well <b>done</b>", "author_name": "Ann", "author_email": "ann@example.org", "status": "approved"});
    made(&server, "comments", comment);
    made(&server, "pages", json!({"title": "Locked", "status": "publish", "password": "open sesame"}));
    exported(&server, "out.xml", &[]);
    let text = fs::read_to_string(server.path("out.xml")).expect("an export");
    let of = |name: &str| element(&text, "<title><![CDATA[A ]]]]><![CDATA[> B]]></title>", name);
    for (name, value) in [
        ("wp:post_name", "second"),
        ("wp:post_date", "2024-05-06 07:08:09"),
        ("wp:is_sticky", "1"),
        ("dc:creator", "admin"),
        ("content:encoded", "<p>Text</p>"),
        ("excerpt:encoded", "Short"),
        ("wp:comment_author", "Ann"),
        ("wp:comment_content", "Well <b>done</b>"),
        ("wp:comment_approved", "1"),
        ("pubDate", "Mon, 06 May 2024 07:08:09 +0000"),
    ] {
        assert_eq!(of(name), value, "{name}");
    }
    assert!(of("link").ends_with("/2024/05/second/"), "{}", of("link"));
    assert!(text.contains("<category domain=\"post_tag\" nicename=\"fish\"><![CDATA[Fish &amp; chips]]></category>"));
    assert!(text.contains("<category domain=\"post_format\" nicename=\"post-format-aside\">"));
    assert_eq!(meta(&text, "_wp_old_slug"), ["first"]);
    assert_eq!(element(&text, "<title><![CDATA[Locked]]>", "wp:post_password"), "open sesame");
    assert_eq!(element(&text, "<wp:tag>", "wp:tag_description"), "<b>Hot</b>");
}

#[test]
fn properties_of_a_type_of_ones_own_are_meta_values_and_are_told() {
    let server = recipes(&[]);
    let base = made(&server, "recipes", json!({"title": {"raw": "Stock"}, "status": "publish"}));
    let id = &base["id"];
    let soup = json!({"title": {"raw": "Soup"}, "status": "publish", "minutes": 20, "vegan": true, "likes": [id], "steps": [{"text": "Cook é"}]});
    made(&server, "recipes", soup);
    let told = exported(&server, "out.xml", &[]);
    let text = fs::read_to_string(server.path("out.xml")).expect("an export");
    let likes = format!("a:1:{{i:0;s:{}:\"{id}\";}}", id.to_string().len());
    assert_eq!(meta(&text, "minutes"), ["20"]);
    assert_eq!(meta(&text, "vegan"), ["1"]);
    assert_eq!(meta(&text, "likes"), [&likes]);
    let steps = "a:1:{i:0;a:1:{s:4:\"text\";s:7:\"Cook é\";}}";
    assert!(meta(&text, "steps").contains(&steps), "{:?}", meta(&text, "steps"));
    assert!(told.contains("as a meta value: minutes of 1 recipe"), "{told}");
    assert!(told.contains("2 recipe"), "{told}");
}

#[test]
fn an_export_is_in_parts_of_some_types_or_since_a_day() {
    let server = Server::start();
    let long = "x".repeat(700_000);
    for n in 0..4 {
        made(&server, "posts", json!({"title": format!("Post {n}"), "content": long, "status": "publish"}));
    }
    made(&server, "pages", json!({"title": "A page", "status": "publish"}));
    let told = exported(&server, "out.xml", &["--part-size", "1"]);
    let files: Vec<&str> = told.lines().filter(|line| line.starts_with("written: ")).collect();
    assert_eq!(files.len(), 3, "{told}");
    assert!(files[1].ends_with("out-2.xml"), "{told}");
    // Each part is an export of its own.
    let other = Server::start();
    for file in &files {
        imported(&other, Path::new(&file["written: ".len()..]));
    }
    let list = other.get("/cms/v2/posts?_fields=title&orderby=id&order=asc");
    assert_eq!(list.body.as_array().map(Vec::len), Some(4), "{}", list.text);
    let told = exported(&server, "pages.xml", &["--type", "pages"]);
    assert!(told.contains("1 page;"), "{told}");
    let told = exported(&server, "new.xml", &["--since", "2999-01-01"]);
    assert!(told.contains("no records;"), "{told}");
    for (more, problem) in [
        (&["--type", "books"][..], "there is no content type books"),
        (&["--since", "yesterday"], "yesterday is no day: write 2026-05-01"),
        (&[], "File exists"),
    ] {
        let file = server.path(if more.is_empty() { "out.xml" } else { "none.xml" }).display().to_string();
        let mut args = server.args();
        args.extend(["export", "--wxr", &file]);
        args.extend(more);
        let done = run(&args, "");
        assert!(
            !done.status.success() && String::from_utf8_lossy(&done.stderr).contains(problem),
            "{more:?}: {done:?}"
        );
    }
}

/// Files below a folder, with their contents; without hidden ones.
fn below(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(folder).expect("a path").display().to_string();
            match path.is_dir() {
                true if !name.starts_with('.') => folders.push(path),
                false if !name.starts_with('.') => drop(found.insert(name, fs::read(path).expect("a file"))),
                _ => {}
            }
        }
    }
    found
}

#[test]
fn uploaded_files_leave_with_their_names() {
    let server = Server::with(&["site.prefix=wp"]);
    for name in ["tree.png", "with space.png"] {
        assert_eq!(upload(&server, name, "image/png", png(400, 320)).status, 201);
    }
    let copied = |server: &Server| {
        let mut args = server.args();
        let folder = server.path("uploads").display().to_string();
        args.extend(["export", "--files", &folder]);
        stdout(&args, "")
    };
    let report = copied(&server);
    let here = below(&server.path("uploads"));
    let stored: BTreeSet<String> = server.sql("SELECT key FROM file WHERE record > 0").into_iter().collect();
    assert_eq!(here.keys().cloned().collect::<BTreeSet<String>>(), stored, "{report}");
    assert!(report.contains(&format!("{} files copied", stored.len())) && stored.len() >= 4, "{report}");
    for (name, bytes) in &here {
        let served =
            fetch(&server, &json!(format!("{}/wp-content/uploads/{}", server.site, name.replace(' ', "%20"))), &[]);
        assert!(served.status == 200 && served.bytes == *bytes, "{name}");
    }
    // An export that was ended goes on; what the folder has and is another file stays.
    let names: Vec<&String> = here.keys().collect();
    let place = |name: &str| server.path("uploads").join(name);
    fs::remove_file(place(names[0])).expect("removed");
    fs::write(place(names[1]), "another").expect("written");
    fs::write(place(names[2]), &here[names[2]]).expect("written");
    fs::write(place(".cms-server-export-x"), "half").expect("written");
    let report = copied(&server);
    for told in [
        "       1 files copied".to_owned(),
        format!("{} were in the folder", names.len() - 2),
        format!("not copied, the folder has another file of this name: {}", names[1]),
    ] {
        assert!(report.contains(&told), "{told}: {report}");
    }
    assert_eq!(fs::read(place(names[1])).expect("a file"), b"another");
    assert!(!place(".cms-server-export-x").exists());
    // Nothing is chosen.
    let mut args = server.args();
    args.extend(["export"]);
    assert_eq!(run(&args, "").status.code(), Some(2));

    // Records and files together are the site.
    fs::remove_file(place(names[1])).expect("removed");
    let folder = place("").display().to_string();
    exported(&server, "whole.xml", &["--files", &folder]);
    let other = Server::with(&["site.prefix=wp"]);
    let mut args = other.args();
    let file = server.path("whole.xml").display().to_string();
    args.extend(["import", &file, "--attachments", &folder]);
    let report = stdout(&args, "");
    assert!(report.contains("       2 files,") && !report.contains("not in the folder"), "{report}");
    assert_eq!(other.get("/wp/v2/media").body.as_array().map(Vec::len), Some(2));
}
