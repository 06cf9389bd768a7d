//! Imports as owners go about them: from several files, with a report for programs, politely, and once more after new declarations.

use super::compare::reaches;
use super::media::png;
use super::moves::{author, export, import, item, meta};
use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn term(id: i64, slug: &str, parent: &str, description: &str) -> String {
    format!(
        "<wp:category><wp:term_id>{id}</wp:term_id><wp:category_nicename>{slug}</wp:category_nicename>\
         <wp:category_parent>{parent}</wp:category_parent><wp:cat_name>{slug}</wp:cat_name>\
         <wp:category_description>{description}</wp:category_description></wp:category>"
    )
}

/// Imports files of a server's folder, with the declarations that it has.
fn brought(server: &Server, files: &[&str], more: &[&str]) -> Output {
    let paths: Vec<String> = files.iter().map(|file| server.path(file).display().to_string()).collect();
    let mut args = server.args();
    args.push("import");
    args.extend(paths.iter().map(String::as_str));
    args.extend(more);
    run(&args, "")
}

fn refusal(server: &Server, files: &[&str], more: &[&str]) -> String {
    let done = brought(server, files, more);
    assert!(!done.status.success(), "{done:?}");
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn write(server: &Server, file: &str, text: &str) {
    fs::write(server.path(file), text).expect("a file");
}

#[test]
fn several_exports_of_a_site_come_in_as_one_in_any_order() {
    let filed = "<category domain=\"category\" nicename=\"deep\">deep</category>";
    let below = item(802, "page", "<wp:post_parent>801</wp:post_parent>");
    let by = item(803, "post", &format!("<dc:creator>ann</dc:creator>{filed}"));
    let pictured = item(804, "post", &meta("wp:postmeta", "_thumbnail_id", "805"));
    let file = item(805, "attachment", "<wp:attachment_url>http://old.example/a.png</wp:attachment_url>");
    let first = export("", &[below.clone(), by, pictured].concat());
    let head = [author(71, "ann", "ann@example.org"), term(31, "deep", "sea", "Down there"), term(32, "sea", "", "")];
    let second = export(&head.concat(), &[item(801, "page", ""), file, below].concat());
    for order in [["a.xml", "b.xml"], ["b.xml", "a.xml"]] {
        let server = Server::with(&["site.prefix=wp"]);
        write(&server, "a.xml", &first);
        write(&server, "b.xml", &second);
        let done = brought(&server, &order, &["--json"]);
        assert!(done.status.success(), "{done:?}");
        let report: Value = serde_json::from_slice(&done.stdout).expect("one document");
        let counts = [("page publish", 2), ("post publish", 2), ("attachment publish", 1), ("terms", 2), ("users", 1)];
        for (what, count) in counts {
            assert_eq!(report["counts"][what], count, "{what}: {report}");
        }
        assert!(report["left_out"].to_string().contains("1 records that a file before has, too"), "{report}");
        assert!(!report.to_string().contains("are not there"), "{report}");
        assert_eq!(server.get("/wp/v2/pages/802").body["parent"], 801);
        let post = server.get("/wp/v2/posts/803").body;
        let author = server.get(&format!("/wp/v2/users/{}", post["author"])).body;
        assert_eq!((&author["name"], &post["categories"]), (&json!("ann"), &json!([31])));
        assert_eq!(server.get("/wp/v2/posts/804").body["featured_media"], 805);
        let deep = server.get("/wp/v2/categories/31").body;
        assert_eq!((&deep["parent"], &deep["description"]), (&json!(32), &json!("Down there")));

        // Once more, nothing comes; a folder of declarations is made of all of them.
        let again = brought(&server, &order, &["--json"]);
        let again: Value = serde_json::from_slice(&again.stdout).expect("a report");
        assert_eq!((&again["counts"]["terms"], &again["counts"]["post publish"]), (&json!(0), &Value::Null), "{again}");
    }
    let server = Server::with(&["site.prefix=wp"]);
    write(&server, "a.xml", &first);
    write(&server, "b.xml", &second.replace("old.example", "other.example"));
    write(&server, "c.xml", &second[..second.len() - 300]);
    write(&server, "d.sql", "-- MySQL dump\nCREATE TABLE `wp_posts` (`ID` int);\n");
    write(&server, "e.json", "{\"field_groups\": []}");
    let folder = server.path("proposed").display().to_string();
    for (files, more, told) in [
        (
            &["a.xml", "b.xml"][..],
            &[][..],
            "this is an export of http://other.example, and the one before is of http://old.example",
        ),
        (&["a.xml", "c.xml"], &[], "c.xml"),
        (&["a.xml", "d.sql"], &[], "this is a dump of a whole database: name it alone"),
        (&["a.xml", "e.json"], &["--propose", &folder], "several files are exports of one site, and this is none"),
    ] {
        let error = refusal(&server, files, more);
        assert!(error.contains(told), "{files:?}: {error}");
    }
    assert_eq!(server.get("/wp/v2/posts").body, json!([]), "nothing came in");
    assert!(!server.path("proposed").exists());
    let error = refusal(&server, &["a.xml"], &["https://old.example.org"]);
    assert!(error.contains("name the address of a site alone"), "{error}");
}

#[test]
fn declarations_are_proposed_for_several_exports() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = |file: &str| folder.path().join(file).display().to_string();
    stdout(&["init", &path("")], "");
    fs::write(path("a.xml"), export("", &item(801, "book", ""))).expect("a file");
    fs::write(path("b.xml"), export("", &item(802, "film", &meta("wp:postmeta", "minutes", "90")))).expect("a file");
    let told = stdout(&["import", &path("a.xml"), &path("b.xml"), "--propose", &path(""), "--json"], "");
    let told: Value = serde_json::from_str(&told).expect("a report");
    assert_eq!((&told["counts"]["types"], &told["counts"]["meta keys"]), (&json!(2), &json!(1)), "{told}");
    let sound = stdout(&["check", "--config", &path("routes.toml"), "--set", "site.prefix=wp"], "");
    assert!(sound.contains(": sound"), "{sound}");
}

#[test]
fn the_report_is_json_for_programs() {
    let server = Server::with(&["site.prefix=wp"]);
    let odd = item(801, "post", &meta("wp:postmeta", "mood", "calm"));
    let file =
        item(802, "attachment", "<wp:attachment_url>http://old.example/wp-content/uploads/a.png</wp:attachment_url>");
    write(&server, "export.xml", &export("", &[odd, file, item(803, "revision", "")].concat()));
    let document = |more: &[&str]| -> Value {
        let done = brought(&server, &["export.xml"], &[&["--json"], more].concat());
        assert!(done.status.success(), "{done:?}");
        serde_json::from_slice(&done.stdout).expect("one document")
    };
    let rehearsed = document(&["--dry-run"]);
    assert_eq!(rehearsed["counts"]["post publish"], 1, "{rehearsed}");
    assert!(rehearsed["notes"].to_string().contains("nothing was written"), "{rehearsed}");
    let uploads = server.path("uploads");
    fs::create_dir(&uploads).expect("a folder");
    let told = document(&["--attachments", uploads.to_str().expect("a path")]);
    assert_eq!(told["counts"]["post publish"], 1, "{told}");
    for (member, line) in [
        ("notes", "meta keys that nothing declares, stored and not shown: mood (1)"),
        ("notes", "not in the folder: "),
        ("left_out", "1 versions and autosaves of records: --revisions brings them"),
    ] {
        assert!(told[member].to_string().contains(line), "{line}: {told}");
    }
    // An error after the import does not hide what came in.
    let done = brought(&server, &["export.xml"], &["--json", "--attachments", "/nowhere/at/all"]);
    assert!(!done.status.success());
    let told: Value = serde_json::from_slice(&done.stdout).expect("a report");
    assert_eq!(told["counts"]["were here already"], 2, "{told}");
}

/// A site whose file comes at the second request: the first one is to wait. With the moments of the requests.
fn busy_site(wait: &'static str) -> (String, Arc<Mutex<Vec<Instant>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let site = format!("http://{}", listener.local_addr().expect("an address"));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let moments = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut moments = moments.lock().expect("the moments");
            moments.push(Instant::now());
            let _ = respond(stream, (moments.len() == 1).then_some(wait));
        }
    });
    (site, asked)
}

fn respond(mut stream: TcpStream, wait: Option<&str>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let file = png(4, 4);
    match wait {
        Some(wait) => write!(
            stream,
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: {wait}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        ),
        None => {
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", file.len())?;
            stream.write_all(&file)
        }
    }
}

#[test]
fn downloads_wait_as_long_as_the_site_asks() {
    for (wait, least, most) in [("0", 0, 9), ("2", 2, 9)] {
        let (site, asked) = busy_site(wait);
        let server = Server::with(&["site.prefix=wp"]);
        let address = format!("<wp:attachment_url>{site}/wp-content/uploads/a.png</wp:attachment_url>");
        write(&server, "export.xml", &export("", &item(801, "attachment", &address)));
        let uploads = server.path("uploads").display().to_string();
        let (sets, file) = (reaches(&[&site]), server.path("export.xml").display().to_string());
        let mut args = server.args();
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        args.extend(["import", &file, "--attachments", &uploads, "--fetch"]);
        let done = run(&args, "");
        assert!(String::from_utf8_lossy(&done.stdout).contains("1 files downloaded"), "{done:?}");
        let moments = asked.lock().expect("the moments").clone();
        let [first, second] = moments[..] else { panic!("{} requests", moments.len()) };
        let waited = second - first;
        assert!((Duration::from_secs(least)..Duration::from_secs(most)).contains(&waited), "{wait}: {waited:?}");
    }
}

const SERIALISED: &str = "a:2:{s:6:\"locale\";s:5:\"de_DE\";s:3:\"rtl\";b:0;}";

#[test]
fn profiles_are_proposed_for_what_the_source_has() {
    let language = |slug: &str| format!("<category domain=\"language\" nicename=\"{slug}\">{slug}</category>");
    let head = format!(
        "<wp:term><wp:term_id>21</wp:term_id><wp:term_taxonomy>language</wp:term_taxonomy><wp:term_slug>de</wp:term_slug>\
         <wp:term_name>Deutsch</wp:term_name><wp:term_description><![CDATA[{SERIALISED}]]></wp:term_description></wp:term>"
    );
    let title = meta("wp:postmeta", "_yoast_wpseo_title", "%%title%% at sea");
    let items = [
        item(801, "post", &(language("en") + &title)),
        item(802, "book", &(language("de") + &title + &meta("wp:postmeta", "_yoast_wpseo_focuskw", "sea"))),
    ];
    let folder = TempDir::new().expect("a temporary folder");
    let path = |file: &str| folder.path().join(file).display().to_string();
    stdout(&["init", &path("")], "");
    fs::write(path("site.xml"), export(&head, &items.concat())).expect("a file");
    let told = stdout(&["import", &path("site.xml"), "--propose", &path(""), "--json"], "");
    let told: Value = serde_json::from_str(&told).expect("a report");
    assert_eq!(
        (&told["counts"]["values for search engines"], &told["counts"]["languages"]),
        (&json!(2), &json!(2)),
        "{told}"
    );
    let left_out = told["left_out"].to_string();
    assert!(
        left_out.contains("_yoast_wpseo_* of book: the plugin keeps it for itself") && left_out.contains("(1 values)"),
        "{left_out}"
    );
    let text = fs::read_to_string(path("site.toml")).expect("a file");
    for line in [
        "# schemas/profiles/seo.toml: 2 values for search engines were found (_yoast_wpseo_title).",
        "# schemas/profiles/languages.toml: 2 languages were found, with the records that are in them.",
        "include = [\"schemas/profiles/seo.toml\", \"schemas/profiles/languages.toml\"]",
        "languages.default = \"de\"",
        "locale = \"de_DE\"",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let sound = stdout(&["check", "--config", &path("routes.toml"), "--set", "site.prefix=wp"], "");
    assert!(sound.contains(": sound"), "{sound}");
    let site = fs::read_to_string(path("site.xml")).expect("a file");
    let server = Server::over(folder, &["site.prefix=wp"]);
    let report = import(&server, &site, &[]);
    assert!(report.contains("_yoast_wpseo_focuskw (1)") && !report.contains("_yoast_wpseo_title"), "{report}");
    let post = server.admin("GET", "/wp/v2/posts/801?context=edit&_fields=seo_values,seo,link", None).body;
    assert_eq!(
        (&post["seo_values"]["title"], &post["seo"]["title"]),
        (&json!("{title} at sea"), &json!("Title 801 at sea"))
    );
    assert!(post["link"].as_str().is_some_and(|link| link.contains("/en/")), "{post}");
    let book = server.admin("GET", "/wp/v2/book/802?context=edit&_fields=seo,link", None).body;
    assert_eq!(book["seo"]["title"], "Title 802 at sea");
    let in_language = |slug: &str| server.get(&format!("/wp/v2/book?language={slug}")).body.as_array().map(Vec::len);
    assert_eq!((in_language("de"), in_language("en")), (Some(1), Some(0)));
}

const GROUP: &str = r#"
[field_groups.size]
title = "Size"
location = [[{ param = "post_type", operator = "==", value = "post" }]]

[field_groups.size.fields]
size = { type = "group", label = "Size", key = "field_size" }
"size.w" = { type = "number", label = "Width", key = "field_w" }
"size.of" = { type = "post_object", label = "Of", key = "field_of" }
"#;

#[test]
fn a_second_run_adds_what_new_declarations_show() {
    let server = Server::with(&["site.prefix=wp"]);
    // The record that others name gets another id here.
    let taken = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "Here first"}))).body["id"].clone();
    let group = format!("a:2:{{s:1:\"w\";i:3;s:2:\"of\";i:{taken};}}");
    let values = [
        meta("wp:postmeta", "_yoast_wpseo_title", "%%title%% at sea"),
        meta("wp:postmeta", "_yoast_wpseo_meta-robots-noindex", "1"),
        meta("wp:postmeta", "_yoast_wpseo_opengraph-image-id", &taken.to_string()),
        meta("wp:postmeta", "size", &group),
        meta("wp:postmeta", "mood", "7"),
    ];
    let category = |slug: &str| {
        let value = meta("wp:termmeta", "_yoast_wpseo_metadesc", "About it");
        format!(
            "<wp:category><wp:term_id>31</wp:term_id><wp:category_nicename>{slug}</wp:category_nicename><wp:cat_name>{slug}</wp:cat_name>{value}</wp:category>"
        )
    };
    let named = item(0, "post", "").replace("<wp:post_id>0<", &format!("<wp:post_id>{taken}<"));
    let text = export(
        &category("sea"),
        &[item(801, "post", &values.concat()), item(802, "post", &values.concat()), named].concat(),
    );
    let report = import(&server, &text, &[]);
    assert!(report.contains("_yoast_wpseo_title (2)") && report.contains("size (2)"), "{report}");
    let moved = server.get("/wp/v2/posts?slug=title-0&_fields=id").body[0]["id"].clone();
    assert_ne!(moved, taken);

    let profiles = "include = [\"schemas/profiles/acf.toml\", \"schemas/profiles/seo.toml\"]\n";
    let site = format!("{profiles}\n[resources.posts.meta.mood]\nschema = {{ type = \"integer\" }}\n{GROUP}");
    write(&server, "site.toml", &site);
    let server = server.restart_with(&["site.prefix=wp"]);
    let post = |id: i64| {
        server
            .admin("GET", &format!("/wp/v2/posts/{id}?context=edit&_fields=seo_values,noindex,acf,meta.mood"), None)
            .body
    };
    assert_eq!(post(801)["seo_values"], json!({}));
    // An editor has said something meanwhile.
    let own = json!({"seo_values": {"title": "Own"}, "noindex": false});
    assert_eq!(server.admin("POST", "/wp/v2/posts/802", Some(&own)).status, 200);
    let report = import(&server, &text, &[]);
    assert!(report.contains("       3 items that came before show values that are declared by now"), "{report}");
    let shown = json!({"seo_values": {"title": "{title} at sea", "picture": moved}, "noindex": true,
        "acf": {"size": {"w": 3, "of": moved}}, "meta": {"mood": 7}});
    assert_eq!(post(801), shown);
    let kept = post(802);
    assert_eq!(
        (&kept["seo_values"], &kept["noindex"], &kept["acf"]),
        (&own["seo_values"], &own["noindex"], &shown["acf"])
    );
    let term = server.admin("GET", "/wp/v2/categories?slug=sea&context=edit", None).body[0].clone();
    assert_eq!(term["seo_values"], json!({"description": "About it"}));

    // A value that an editor takes away does not come back.
    let none = json!({"seo_values": {}, "noindex": null});
    assert_eq!(server.admin("POST", "/wp/v2/posts/801", Some(&none)).status, 200);
    let report = import(&server, &text, &[]);
    assert!(!report.contains("declared by now"), "{report}");
    assert_eq!(post(801)["seo_values"], json!({}));
}
