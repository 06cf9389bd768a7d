//! `cms-server import site.sql`: the database of a WordPress becomes the site, with accounts that can log in, settings and
//! redirects. What a dump and an export both have is the same by either way.

use super::media::{encoded, halves};
use super::server::{Server, run, stdout};
use image::ImageFormat;
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

const SITE: &str = include_str!("../../fixtures/site.sql");

/// The rows that stand before the last line of the site.
pub fn with(rows: &str) -> String {
    let (before, end) = SITE.rsplit_once("-- Dump completed").expect("the end");
    format!("{before}{rows}-- Dump completed{end}")
}

pub fn imported(server: &Server, file: &str, content: &[u8], more: &[&str]) -> Output {
    let file = server.path(file);
    fs::write(&file, content).expect("a file");
    let mut args = server.args();
    args.retain(|arg| *arg != "serve");
    args.extend(["import", file.to_str().expect("a path")]);
    args.extend(more);
    run(&args, "")
}

/// Imports a dump; the report.
fn import(server: &Server, dump: &str, more: &[&str]) -> String {
    let output = imported(server, "site.sql", dump.as_bytes(), more);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refusal(server: &Server, dump: &str, more: &[&str]) -> String {
    let output = imported(server, "broken.sql", dump.as_bytes(), more);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn counts(server: &Server) -> Vec<String> {
    server.sql("SELECT (SELECT count(*) FROM record), (SELECT count(*) FROM \"user\"), (SELECT count(*) FROM comment)")
}

/// Rows of the plugin Redirection, of a menu, and of a record that had another address.
const MORE: &str = "INSERT INTO `wp_redirection_items` (id,url,regex,status,action_type,action_code,action_data,match_type,title) \
    VALUES (1,'/old/',0,'enabled','url',301,'https://old.example/new/','url','Moved'),(2,'/x(.*)',1,'enabled','url',301,'/','url',''),\
    (3,'/gone/',0,'enabled','error',410,'','url',''),(4,'no path',0,'enabled','url',302,'/a/','url','');\n\
    INSERT INTO `wp_terms` VALUES (6,'Main','main',0);\nINSERT INTO `wp_term_taxonomy` VALUES (36,6,'nav_menu','',0,1);\n\
    INSERT INTO `wp_term_relationships` VALUES (16,36,0);\nINSERT INTO `wp_posts` (ID,post_type,post_status,post_title,post_name,\
    post_date,post_date_gmt,menu_order) VALUES (16,'nav_menu_item','publish','Tides','tides','2024-01-02 04:00:00',\
    '2024-01-02 03:00:00',1),(17,'post','publish','Moved','moved','2024-01-02 04:00:00','2024-01-02 03:00:00',0);\n\
    INSERT INTO `wp_postmeta` VALUES (20,16,'_menu_item_type','taxonomy'),(21,16,'_menu_item_object','category'),\
    (22,16,'_menu_item_object_id','3'),(23,16,'_menu_item_menu_item_parent','0'),(24,17,'_wp_old_slug','before');\n";

#[test]
fn a_dump_becomes_the_site() {
    let server = Server::with(&["site.prefix=wp"]);
    let report = import(&server, &with(MORE), &[]);
    for told in [
        "       2 post publish",
        "       1 page draft",
        "       2 users",
        "       2 comments",
        "       1 accounts have the passwords that they had",
        "       1 accounts have no password that can be verified here",
        "       1 accounts have the role customer, which nothing declares",
        "       2 redirects",
        "       1 left out: redirects: they are regular expressions, or have conditions",
        "redirect that is not imported: no path:",
        "left out: 1 versions and autosaves of records: --revisions brings them",
        "       2 left out: rows of the table wp_links",
        "the title of the site is The & harbour now",
        "the timezone of the site is UTC+2 now",
        "the page_on_front of the site is 12 now",
    ] {
        assert!(report.contains(told), "{told}: {report}");
    }
    let server = server.restart_with(&["site.prefix=wp"]);
    let post = server.admin("GET", "/wp/v2/posts/11?context=edit", None).body;
    assert_eq!(post["content"]["raw"], "Line\r\nnext 🌊 \\ 'q' nul", "{post}");
    let told = [&post["date"], &post["date_gmt"], &post["slug"], &post["sticky"], &post["password"], &post["author"]];
    let author = server.admin("GET", "/wp/v2/users?context=edit&slug=bo", None).body[0].clone();
    let expected = [
        &json!("2024-01-02T04:00:00"),
        &json!("2024-01-02T03:00:00"),
        &json!("title"),
        &json!(true),
        &json!("pass"),
        &author["id"],
    ];
    assert_eq!(told, expected, "{post}");
    assert_eq!(author["roles"], json!(["subscriber"]), "{author}");
    let terms = server.get("/wp/v2/categories?post=11&_fields=id,slug,parent&orderby=id").body;
    assert_eq!(terms, json!([{"id": 3, "slug": "tides", "parent": 0}, {"id": 4, "slug": "spring", "parent": 3}]));
    let comments = server.admin("GET", "/wp/v2/comments?post=11&status=hold", None).body[0].clone();
    assert_eq!((&comments["id"], &comments["parent"]), (&json!(22), &json!(21)));
    let file = server.admin("GET", "/wp/v2/media/13", None).body;
    assert_eq!(file["source_url"], "https://old.example/wp-content/uploads/2024/01/Tree é.jpg", "{file}");
    let item = server.admin("GET", "/wp/v2/menu-items/16", None).body;
    assert_eq!((&item["object"], &item["object_id"], &item["menus"]), (&json!("category"), &json!(3), &json!(6)));
    let settings = server.admin("GET", "/wp/v2/settings", None).body;
    let told = ["language", "timezone", "default_category", "page_on_front"].map(|name| settings[name].clone());
    assert_eq!(told, [json!("de_DE"), json!("UTC+2"), json!(3), json!(12)], "{settings}");
    for (path, status, target) in
        [("/old/", 301, "/new/"), ("/gone/", 410, ""), ("/2024/01/before/", 301, "/2024/01/moved/")]
    {
        let answer = server.send("GET", &format!("{}{path}", server.site), None, None, &[]);
        let location = answer.header("location").unwrap_or_default();
        assert_eq!((answer.status, location.ends_with(target)), (status, true), "{path}: {location}");
    }
    let log_in = |login: &str, password: &str| {
        let body = format!("log={login}&pwd={password}");
        let form = Some(("application/x-www-form-urlencoded", body.into_bytes()));
        let status = server.send("POST", &format!("{}/wp-login.php", server.site), None, form, &[]).status;
        (300..400).contains(&status)
    };
    assert_eq!((log_in("ada", "test12345"), log_in("ada", "wrong")), (true, false));
    assert!(!log_in("bo", "password"), "a hash that nothing verifies");
    let ada = server.admin("GET", "/wp/v2/users?context=edit&slug=ada-a", None).body[0].clone();
    let told = [&ada["roles"], &ada["first_name"], &ada["url"], &ada["registered_date"]];
    let expected =
        [&json!(["administrator"]), &json!("Ada"), &json!("https://ada.example"), &json!("2020-01-02T03:04:05+00:00")];
    assert_eq!(told, expected, "{ada}");

    let before = counts(&server);
    let again = import(&server, &with(MORE), &[]);
    assert_eq!(counts(&server), before, "{again}");
    assert!(again.contains("       0 users") && !again.contains(" redirects\n"), "{again}");
}

/// The parts that both ways have: items of a small site as WordPress exports it, and the same rows.
#[test]
fn an_export_and_a_dump_of_one_site_bring_the_same() {
    let export = "<rss><channel><title>The &amp; harbour</title><language>de-DE</language><wp:wxr_version>1.2</wp:wxr_version>\
        <wp:base_blog_url>https://old.example</wp:base_blog_url>\
        <wp:author><wp:author_id>2</wp:author_id><wp:author_login>bo</wp:author_login></wp:author>\
        <wp:category><wp:term_id>3</wp:term_id><wp:category_nicename>tides</wp:category_nicename><wp:cat_name>Tides</wp:cat_name>\
        <wp:category_description>Of tides</wp:category_description></wp:category>\
        <item><title>Title</title><wp:post_id>11</wp:post_id><wp:post_date>2024-01-02 04:00:00</wp:post_date>\
        <wp:post_date_gmt>2024-01-02 03:00:00</wp:post_date_gmt><wp:post_type>post</wp:post_type><wp:status>publish</wp:status>\
        <wp:post_name>title</wp:post_name><dc:creator>bo</dc:creator><content:encoded><![CDATA[One\n\ntwo]]></content:encoded>\
        <guid>https://old.example/?p=11</guid><wp:comment_status>open</wp:comment_status><wp:ping_status>closed</wp:ping_status>\
        <category domain=\"category\" nicename=\"tides\">Tides</category>\
        <wp:postmeta><wp:meta_key>mood</wp:meta_key><wp:meta_value>calm</wp:meta_value></wp:postmeta>\
        <wp:comment><wp:comment_id>21</wp:comment_id><wp:comment_author>Ann</wp:comment_author>\
        <wp:comment_date>2024-01-02 04:00:00</wp:comment_date><wp:comment_date_gmt>2024-01-02 03:00:00</wp:comment_date_gmt>\
        <wp:comment_content>Good</wp:comment_content><wp:comment_approved>1</wp:comment_approved></wp:comment>\
        </item></channel></rss>";
    let dump = "SET NAMES utf8mb4;\nINSERT INTO a_options (option_name,option_value) VALUES ('home','https://old.example'),\
        ('blogname','The &amp; harbour'),('WPLANG','de_DE');\nINSERT INTO a_users (ID,user_login) VALUES (2,'bo');\n\
        INSERT INTO a_terms VALUES (3,'Tides','tides',0);\nINSERT INTO a_term_taxonomy VALUES (7,3,'category','Of tides',0,1);\n\
        INSERT INTO a_term_relationships VALUES (11,7,0);\nINSERT INTO a_posts (ID,post_author,post_title,post_date,post_date_gmt,\
        post_type,post_status,post_name,post_content,guid,comment_status,ping_status) VALUES (11,2,'Title','2024-01-02 04:00:00',\
        '2024-01-02 03:00:00','post','publish','title','One\\n\\ntwo','https://old.example/?p=11','open','closed');\n\
        INSERT INTO a_postmeta VALUES (1,11,'mood','calm');\nINSERT INTO a_comments (comment_ID,comment_post_ID,comment_author,\
        comment_date,comment_date_gmt,comment_content,comment_approved) VALUES (21,11,'Ann','2024-01-02 04:00:00',\
        '2024-01-02 03:00:00','Good','1');\n";
    let shown = |text: &str, file: &str| {
        let server = Server::with(&["site.prefix=wp"]);
        let output = imported(&server, file, text.as_bytes(), &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let routes = ["posts/11?context=edit", "categories/3", "comments/21?context=edit"];
        let documents = routes.map(|route| {
            let text = server.admin("GET", &format!("/wp/v2/{route}"), None).text;
            text.replace(&server.site, "https://site.example")
        });
        let exported = server.path("exported.xml");
        let mut args = server.args();
        args.retain(|arg| *arg != "serve");
        stdout(&[&args[..], &["export", "--wxr", exported.to_str().expect("a path")]].concat(), "");
        let exported = fs::read_to_string(exported).expect("an export").replace(&server.site, "https://site.example");
        let undated = exported.lines().filter(|line| !line.contains("pubDate") && !line.contains("email"));
        (documents, undated.map(str::to_owned).collect::<Vec<_>>())
    };
    let (by_export, by_dump) = (shown(export, "site.xml"), shown(dump, "site.sql"));
    assert_eq!(by_export.0, by_dump.0);
    assert_eq!(by_export.1, by_dump.1);
}

#[test]
fn a_dump_that_is_no_whole_site_changes_nothing() {
    let server = Server::with(&["site.prefix=wp"]);
    let before = counts(&server);
    let two = [SITE, &SITE.replace("`wp_", "`wp_2_")].concat();
    for (dump, told) in [
        (&SITE[..SITE.len() / 2], "the dump ends inside"),
        (&SITE[..SITE.len() - 60], "the dump ends inside"),
        (SITE.split("-- Dump completed").next().expect("a part"), "the dump has no end"),
        (&two, "the dump has several sites, whose tables begin with `wp_`, `wp_2_`"),
        ("-- nothing\n", "this is no dump of a WordPress database"),
    ] {
        let error = refusal(&server, dump, &[]);
        assert!(error.contains(told) && error.contains("nothing was written"), "{told}: {error}");
    }
    let error = refusal(&server, SITE, &["--table-prefix", "x_"]);
    assert!(error.contains("the dump has no rows of a table x_posts"), "{error}");
    assert_eq!(counts(&server), before);
    let report = import(&server, SITE, &["--dry-run"]);
    assert!(report.contains("1 post publish") && report.contains("nothing was written"), "{report}");
    assert_eq!(counts(&server), before);
    import(&server, &two, &["--table-prefix", "wp_2_"]);
    assert_ne!(counts(&server), before);
}

#[test]
fn a_rehearsal_needs_no_database_and_leaves_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |file: &str| folder.path().join(file).to_str().expect("a path").to_owned();
    fs::write(path("site.sql"), SITE).expect("a file");
    let url = format!("storage.url=sqlite:{}", path("none.db"));
    let report = stdout(&["--set", &url, "import", &path("site.sql"), "--dry-run"], "");
    assert!(report.contains("2 users") && report.ends_with("nothing was written\n"), "{report}");
    assert!(!fs::exists(path("none.db")).expect("an answer"));
}

#[test]
fn declarations_are_proposed_for_a_dump() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |file: &str| folder.path().join(file).to_str().expect("a path").to_owned();
    let rows = "INSERT INTO `wp_posts` (ID,post_type,post_status,post_title) VALUES (18,'boat','publish','Ida');\n\
        INSERT INTO `wp_postmeta` VALUES (30,18,'length','12');\n";
    fs::write(path("site.sql"), with(rows)).expect("a file");
    let report = stdout(&["import", &path("site.sql"), "--propose", &path(""), "--json"], "");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let left_out: Vec<&str> = report["left_out"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(left_out.contains(&"2 rows of the table wp_links: nothing here is like it"), "{left_out:?}");
    let declared = fs::read_to_string(path("site.toml")).expect("a file");
    assert!(declared.contains("boat") && declared.contains("length"), "{declared}");
}

#[test]
fn versions_come_in_where_they_are_asked_for() {
    let versions = "INSERT INTO `wp_posts` (ID,post_author,post_parent,post_type,post_status,post_name,post_title,post_content,\
        post_date,post_date_gmt,post_modified,post_modified_gmt) VALUES \
        (41,2,11,'revision','inherit','11-revision-v1','First','One','2024-01-02 04:00:00','2024-01-02 03:00:00','2024-01-02 04:00:00','2024-01-02 03:00:00'),\
        (42,1,11,'revision','inherit','11-revision-v1','Second','Two','2024-01-03 04:00:00','2024-01-03 03:00:00','2024-01-03 04:00:00','2024-01-03 03:00:00'),\
        (43,1,11,'revision','inherit','11-autosave-v1','Third','Three','2024-01-04 04:00:00','2024-01-04 03:00:00','2024-01-04 04:00:00','2024-01-04 03:00:00'),\
        (44,1,999,'revision','inherit','999-revision-v1','Lost','','2024-01-04 04:00:00','2024-01-04 03:00:00','2024-01-04 04:00:00','2024-01-04 03:00:00');\n";
    let server = Server::with(&["site.prefix=wp"]);
    let report = import(&server, &with(versions), &[]);
    assert!(report.contains("left out: 5 versions and autosaves of records: --revisions brings them"), "{report}");
    // A later run adds them, and a third one nothing.
    let report = import(&server, &with(versions), &["--revisions"]);
    assert!(report.contains("4 versions and autosaves of records"), "{report}");
    assert!(report.contains("1 left out: versions of records that are left out or not there"), "{report}");
    import(&server, &with(versions), &["--revisions"]);
    let fields = "_fields=title.raw,content.raw,author,date_gmt,slug&context=edit";
    let listed = server.admin("GET", &format!("/wp/v2/posts/11/revisions?{fields}"), None).body;
    let told: Vec<(&Value, &Value)> =
        listed.as_array().expect("a list").iter().map(|own| (&own["title"]["raw"], &own["date_gmt"])).collect();
    for pair in [("Third", "2024-01-04T03:00:00"), ("Second", "2024-01-03T03:00:00"), ("First", "2024-01-02T03:00:00")]
    {
        assert!(told.contains(&(&json!(pair.0), &json!(pair.1))), "{listed}");
    }
    let at = |title: &str| told.iter().position(|(own, _)| **own == json!(title));
    assert!(at("Third") < at("Second") && at("Second") < at("First"), "the newest first: {listed}");
    let bo = server.admin("GET", "/wp/v2/users?slug=bo", None).body[0]["id"].clone();
    assert_eq!(listed[at("First").expect("it is there")]["author"], bo, "{listed}");
}

#[test]
fn texts_that_were_encoded_twice_are_told_and_mended() {
    let rows = "INSERT INTO `wp_posts` (ID,post_type,post_status,post_title,post_name,post_content) VALUES \
        (61,'post','publish','GrÃ¼ÃŸe','gr','fÃ¼r und für'),(62,'post','publish','VÝŠKA Grüße','vy','It isnâ€™t');\n\
        INSERT INTO `wp_postmeta` VALUES (60,61,'list','a:1:{i:0;s:6:\"fÃ¼r\";}');\n";
    for (more, told, title, content, list) in [
        (&[][..], "3 texts were encoded twice: --mend-encoding mends them", "GrÃ¼ÃŸe", "It isnâ€™t", "s:6:\"fÃ¼r\""),
        (&["--mend-encoding"], "3 texts were encoded twice: they are mended", "Grüße", "It isn’t", "s:4:\"für\""),
    ] {
        let server = Server::with(&["site.prefix=wp"]);
        let report = import(&server, &with(rows), more);
        assert!(report.contains(told) && report.contains("the record 61: GrÃ¼ÃŸe was Grüße"), "{report}");
        assert!(report.contains("1 texts may have been encoded twice, at least in parts: they stay"), "{report}");
        let raw = |id: i64| server.admin("GET", &format!("/wp/v2/posts/{id}?context=edit"), None).body;
        assert_eq!((&raw(61)["title"]["raw"], &raw(62)["content"]["raw"]), (&json!(title), &json!(content)));
        assert_eq!(
            (&raw(61)["content"]["raw"], &raw(62)["title"]["raw"]),
            (&json!("fÃ¼r und für"), &json!("VÝŠKA Grüße"))
        );
        let stored = server.sql("SELECT json FROM meta WHERE id = 61");
        assert!(stored[0].contains(&list.replace('"', "\\\"")), "{stored:?}");
    }
}

#[test]
fn widgets_come_with_their_areas() {
    let rows = "INSERT INTO `wp_options` VALUES (50,'sidebars_widgets','a:4:{s:19:\"wp_inactive_widgets\";a:0:{}s:9:\"sidebar-1\";\
        a:3:{i:0;s:6:\"text-2\";i:1;s:8:\"search-3\";i:2;s:8:\"plugin-1\";}s:6:\"footer\";a:1:{i:0;s:6:\"text-5\";}\
        s:13:\"array_version\";i:3;}','yes'),\
        (51,'widget_text','a:3:{i:2;a:2:{s:5:\"title\";s:3:\"One\";s:4:\"text\";s:1:\"a\";}i:5;a:1:{s:5:\"title\";s:4:\"Five\";}\
        s:12:\"_multiwidget\";i:1;}','yes'),(52,'widget_search','a:2:{i:3;a:1:{s:5:\"title\";s:0:\"\";}s:12:\"_multiwidget\";i:1;}','yes'),\
        (53,'widget_plugin','a:2:{i:1;a:0:{}i:9;a:0:{}}','yes');\n";
    let folder = tempfile::TempDir::new().expect("a folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let path = |file: &str| folder.path().join(file).to_str().expect("a path").to_owned();
    fs::write(path("site.sql"), with(rows)).expect("a file");
    let told = stdout(&["import", &path("site.sql"), "--propose", &path("")], "");
    assert!(told.contains("2 areas of widgets"), "{told}");
    let areas = |server: &Server, area: &str| {
        server.admin("GET", &format!("/wp/v2/sidebars/{area}"), None).body["widgets"].clone()
    };
    let server = Server::over(folder, &["site.prefix=wp"]);
    let report = import(&server, &with(rows), &[]);
    assert!(report.contains("3 widgets\n") && report.contains("1 left out: widgets that no area has"), "{report}");
    assert!(report.contains("widget that is not imported: plugin-1:"), "{report}");
    assert_eq!(
        (areas(&server, "sidebar-1"), areas(&server, "footer")),
        (json!(["text-2", "search-3"]), json!(["text-5"]))
    );
    let shown = server.admin("GET", "/wp/v2/widgets/text-2?context=edit", None).body;
    assert_eq!(shown["instance"]["raw"]["title"], "One", "{shown}");
    import(&server, &with(rows), &[]);
    assert_eq!(areas(&server, "sidebar-1"), json!(["text-2", "search-3"]), "nothing comes twice");

    // Without declarations they wait among the unused ones.
    let server = Server::with(&["site.prefix=wp"]);
    let report = import(&server, &with(rows), &[]);
    assert!(report.contains("2 widgets of the area sidebar-1, which nothing declares"), "{report}");
    let unused = areas(&server, "wp_inactive_widgets");
    assert_eq!(unused.as_array().map(Vec::len), Some(3), "{unused}");
}

/// A text as PHP serialises it.
fn serialised(text: &str) -> String {
    format!("s:{}:\"{text}\";", text.len())
}

#[test]
fn addresses_of_files_are_rewritten_wherever_texts_are() {
    let old = "https://old.example/wp-content/uploads/2020";
    let (here, gone) = (format!("{old}/a.png"), format!("{old}/gone.png"));
    let settings = format!(
        "a:2:{{i:2;a:1:{{s:4:\"text\";{}}}s:12:\"_multiwidget\";i:1;}}",
        serialised(&format!("<img src=\"{here}\">"))
    );
    let list = format!("a:1:{{i:0;{}}}", serialised(&here));
    let rows = [
        format!(
            "INSERT INTO `wp_posts` (ID,post_type,post_status,post_title,post_name,post_content,menu_order) VALUES \
             (71,'post','publish','A','a','{here}',0),(72,'nav_menu_item','publish','A','b','',1);\n"
        ),
        format!(
            "INSERT INTO `wp_postmeta` VALUES (70,72,'_menu_item_type','custom'),(71,72,'_menu_item_url','{here}');\n"
        ),
        format!("INSERT INTO `wp_termmeta` VALUES (70,3,'icon','{here}'),(71,3,'lost','{gone}');\n"),
        format!("INSERT INTO `wp_usermeta` VALUES (70,1,'portrait','{list}'),(71,1,'description','See {here}');\n"),
        format!("INSERT INTO `wp_commentmeta` VALUES (70,21,'shot','{here}'),(71,21,'loose','{old}/loose.png');\n"),
        format!(
            "INSERT INTO `wp_options` VALUES (50,'sidebars_widgets','a:1:{{s:6:\"footer\";a:1:{{i:0;s:6:\"text-2\";}}}}','yes'),\
             (51,'widget_text','{settings}','yes');\n"
        ),
    ];
    let server = Server::with(&["site.prefix=wp"]);
    let folder = server.path("uploads");
    fs::create_dir_all(folder.join("2020")).expect("a folder");
    for name in ["a.png", "loose.png"] {
        fs::write(folder.join("2020").join(name), encoded(&halves(20, 20), ImageFormat::Png)).expect("written");
    }
    let report = import(&server, &with(&rows.concat()), &["--attachments", folder.to_str().expect("a path")]);
    for told in [
        "8 addresses in 7 items lead to the files here",
        "still elsewhere: 2020/gone.png at old.example",
        "still elsewhere: 2020/loose.png at old.example",
        "not taken: 2020/loose.png: no record names it",
    ] {
        assert!(report.contains(told), "{told}: {report}");
    }
    let new = "http://127.0.0.1:0/wp-content/uploads/2020/a.png";
    let value = |key: &str| {
        let stored = server.sql(&format!("SELECT json FROM meta WHERE key = '{key}'"));
        assert!(stored.iter().all(|value| !value.contains("old.example")) && !stored.is_empty(), "{key}: {stored:?}");
        stored[0].clone()
    };
    assert_eq!(value("icon"), json!(new).to_string());
    assert_eq!(value("shot"), json!(new).to_string());
    assert_eq!(value("portrait"), json!(format!("a:1:{{i:0;{}}}", serialised(new))).to_string());
    let shown = |path: &str| server.admin("GET", &format!("/wp/v2/{path}?context=edit"), None).body;
    let ada = server.admin("GET", "/wp/v2/users?slug=ada-a&context=edit", None).body;
    assert_eq!(ada[0]["description"], json!(format!("See {new}")));
    assert_eq!(shown("menu-items/72")["url"], json!(new));
    assert_eq!(shown("widgets/text-2")["instance"]["raw"]["text"], json!(format!("<img src=\"{new}\">")));
}

#[test]
fn values_of_terms_accounts_and_comments_are_proposed() {
    let list = "a:1:{i:0;s:1:\"a\";}";
    let rows = [
        format!("INSERT INTO `wp_termmeta` VALUES (70,3,'rank','7'),(71,3,'tones','{list}'),(72,3,'_wp_x','1');\n"),
        format!("INSERT INTO `wp_usermeta` VALUES (70,1,'points','12'),(71,1,'tools','{list}'),(72,2,'points','x');\n"),
        format!(
            "INSERT INTO `wp_commentmeta` VALUES (70,21,'liked','0'),(71,22,'liked','1'),(72,21,'akismet_result','x'),\
             (73,21,'mixed','{list}'),(74,22,'mixed','text');\n"
        ),
    ];
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = |file: &str| folder.path().join(file).to_str().expect("a path").to_owned();
    stdout(&["init", &path("")], "");
    fs::write(path("site.sql"), with(&rows.concat())).expect("a file");
    let told = stdout(&["import", &path("site.sql"), "--propose", &path(""), "--json"], "");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    // Beside those above: mood, list and blob of the record, colour of the term, rating of the comment.
    assert_eq!(told["counts"]["meta keys"], 11, "{told}");
    let left_out = told["left_out"].to_string();
    for line in [
        "meta key _wp_* of category: a column has it, or WordPress keeps it for itself (1 values)",
        "meta key akismet_* of comment: the plugin keeps it for itself (1 values)",
        "meta key mixed of comment: its values are texts, and lists or objects (2 comments)",
    ] {
        assert!(left_out.contains(line), "{line}: {left_out}");
    }
    stdout(&["check", "--config", &path("routes.toml"), "--set", "site.prefix=wp"], "");
    let server = Server::over(folder, &["site.prefix=wp"]);
    let report = import(&server, &with(&rows.concat()), &[]);
    let named = report.lines().find(|line| line.starts_with("meta keys that nothing declares")).unwrap_or_default();
    assert!(!["rank", "tones", "points", "tools", "liked"].iter().any(|key| named.contains(key)), "{report}");
    let shown = |path: &str| server.admin("GET", &format!("/wp/v2/{path}"), None).body["meta"].clone();
    let term = shown("categories/3");
    assert_eq!((&term["rank"], &term["tones"]), (&json!(7), &json!(["a"])), "{term}");
    let accounts =
        |more: &str| server.admin("GET", &format!("/wp/v2/users?slug=ada-a{more}"), None).body[0]["meta"].clone();
    let account = accounts("&context=edit");
    assert_eq!((&account["points"], &account["tools"]), (&json!("12"), &json!(["a"])), "{account}");
    let comments = ["comments/21?context=edit", "comments/22?context=edit"].map(shown);
    assert_eq!((&comments[0]["liked"], &comments[1]["liked"]), (&json!(false), &json!(true)), "{comments:?}");
    assert_eq!(accounts("").get("points"), None, "visitors read accounts");
}

#[test]
fn odd_rows_of_a_dump_leave_a_site_that_responds() {
    let rows = "INSERT INTO `wp_posts` (ID,post_type,post_status,post_title,post_name,post_parent) VALUES \
        (71,'page','publish','A','a',72),(72,'page','publish','B','b',71),(73,'page','publish','C','c',73),\
        (9007199254740993,'post','publish','Large','large',0),(9223372036854775807,'post','publish','Largest','largest',0);\n\
        INSERT INTO `wp_terms` VALUES (81,'X','x',0),(82,'Y','y',0);\n\
        INSERT INTO `wp_term_taxonomy` VALUES (81,81,'category','',82,0),(82,82,'category','',81,0);\n\
        INSERT INTO `wp_comments` (comment_ID,comment_post_ID,comment_parent,comment_content,comment_approved) VALUES \
        (91,11,92,'One','1'),(92,11,91,'Two','1');\n\
        INSERT INTO `wp_postmeta` VALUES (70,71,'thing','O:7:\"PDO_Bad\":2:{s:1:\"a\";i:1;s:1:\"b\";R:2;}'),\
        (71,72,'thing','O:7:\"PDO_Bad\":1:{s:1:\"a\";i:1;}');\n";
    let server = Server::with(&["site.prefix=wp"]);
    let declared = "[resources.pages.meta]\nthing.schema = { type = \"object\", additionalProperties = true }\n";
    fs::write(server.path("site.toml"), declared).expect("a file");
    let report = import(&server, &with(rows), &[]);
    assert!(
        report.contains("1 values of the meta key thing do not fit its declaration: kept, shown as null"),
        "{report}"
    );
    let server = server.restart_with(&["site.prefix=wp"]);
    for list in ["pages", "posts", "categories", "comments"] {
        let shown = server.admin("GET", &format!("/wp/v2/{list}?per_page=100&_embed=1&context=edit"), None);
        assert_eq!(shown.status, 200, "{list}: {}", shown.text);
    }
    let meta = |id: i64| server.get(&format!("/wp/v2/pages/{id}")).body["meta"]["thing"].clone();
    assert_eq!((meta(71), meta(72)), (Value::Null, json!({"a": 1})), "references stay texts, objects are data");
    let large = server.get("/wp/v2/posts?slug=large,largest&_fields=id,title.rendered").body;
    assert!(large.as_array().is_some_and(|list| list.len() == 2), "{large}");
    // Each of them can be left again.
    let file = server.path("left.xml").display().to_string();
    let mut args = server.args();
    args.retain(|arg| *arg != "serve");
    args.extend(["export", "--wxr", &file]);
    stdout(&args, "");
    let made = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "Next", "status": "publish"})));
    assert_eq!(made.status, 201, "{}", made.text);
}
