//! `cms-server import https://old.example.org --user NAME`: a site that runs, read over REST.

use super::compare::reaches;
use super::field_groups::museum;
use super::media::{png, upload};
use super::server::{Server, run};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Output;

/// A server of which another one reads.
struct OldSite {
    server: Server,
    password: PathBuf,
}

impl OldSite {
    fn start() -> OldSite {
        OldSite::of(Server::with(&["site.prefix=wp"]))
    }

    fn of(server: Server) -> OldSite {
        let password = server.path("password");
        fs::write(&password, format!("{}\n", server.admin.1)).expect("a file");
        OldSite { server, password }
    }

    fn make(&self, route: &str, body: Value) -> Value {
        let made = self.server.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
        assert!(matches!(made.status, 200 | 201), "{route} {body}: {}", made.text);
        made.body["id"].clone()
    }

    fn imported(&self, here: &Server, more: &[&str]) -> Output {
        let sets = reaches(&[&self.server.site]);
        let (into, password) = (here.path("old.sql").display().to_string(), self.password.display().to_string());
        let mut args = here.args();
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        args.extend(["import", &self.server.site, "--user", &self.server.admin.0, "--into", &into, "--pause", "0"]);
        args.extend(["--password-file", &password]);
        args.extend(more);
        run(&args, "")
    }
}

fn told(done: &Output) -> String {
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The items of a collection as an administrator sees them, with the same word for the address of each site.
fn seen(server: &Server, query: &str) -> Value {
    let text = server.admin("GET", &format!("/wp/v2/{query}&context=edit&per_page=100&orderby=id&order=asc"), None);
    assert_eq!(text.status, 200, "{query}: {}", text.text);
    let bare = server.site.trim_start_matches("http://");
    serde_json::from_str(&text.text.replace(&server.site.replace('/', "\\/"), "{site}").replace(bare, "{site}"))
        .expect("JSON")
}

const RECORD: &str = "_fields=id,slug,status,title.raw,content.raw,excerpt.raw,date,date_gmt,modified_gmt,author,parent,menu_order,\
    password,comment_status,ping_status,sticky,format,template,categories,tags,featured_media";

#[test]
fn a_site_that_runs_moves_in_and_later_what_has_changed() {
    let old = OldSite::start();
    let erin = json!({"username": "erin", "email": "erin@example.org", "password": "long enough", "roles": ["editor"],
        "first_name": "Erin", "description": "Writes."});
    let erin = old.make("users", erin);
    let above = old.make("categories", json!({"name": "Above & beyond", "description": "Two\nlines"}));
    let below = old.make("categories", json!({"name": "Below", "parent": above}));
    let tag = old.make("tags", json!({"name": "Ünique"}));
    let picture = upload(&old.server, "tree.png", "image/png", png(40, 30)).body["id"].clone();
    old.make(&format!("media/{picture}"), json!({"alt_text": "A \"tree\"", "caption": "Caption"}));
    let text = "<!-- wp:paragraph -->\n<p>It's a \\ back\u{301}slash 🌊</p>\n<!-- /wp:paragraph -->";
    let first = json!({"title": "A 'post' & more", "content": text, "status": "publish", "author": erin, "sticky": true,
        "categories": [above, below], "tags": [tag], "excerpt": "Short", "date": "2020-02-03T04:05:06", "format": "aside",
        "featured_media": picture});
    let first = old.make("posts", first);
    let locked = old.make("posts", json!({"title": "Locked", "status": "publish", "password": "sesame"}));
    for n in 0..60 {
        old.make("posts", json!({"title": format!("Post {n}"), "status": "publish", "date": "2021-01-01T00:00:00"}));
    }
    old.make("posts", json!({"title": "Draft", "status": "draft"}));
    old.make("posts", json!({"title": "Later", "status": "future", "date": "2099-01-01T00:00:00"}));
    let page = old.make("pages", json!({"title": "Page", "status": "private"}));
    old.make("pages", json!({"title": "Page", "status": "publish", "parent": page, "menu_order": 7}));
    old.make("blocks", json!({"title": "Piece", "content": "<p>x</p>", "status": "publish"}));
    let comment = json!({"post": first, "content": "First", "author_name": "Ann", "author_email": "ann@example.org"});
    old.make("comments", comment);
    let menu = old.make("menus", json!({"name": "Main"}));
    let entry = json!({"title": "Entry", "status": "publish", "menus": menu, "type": "post_type", "object": "page",
        "object_id": page, "menu_order": 1});
    old.make("menu-items", entry);
    old.make("settings", json!({"title": "The harbour", "timezone": "Europe/Berlin"}));

    let here = Server::with(&["site.prefix=wp"]);
    assert!(told(&old.imported(&here, &["--dry-run"])).contains("nothing was written"));
    let uploads = here.path("uploads").display().to_string();
    let report = told(&old.imported(&here, &["--attachments", &uploads, "--fetch"]));
    assert!(report.contains("post publish") && report.contains("1 attachment inherit"), "{report}");
    assert!(report.contains("files downloaded") && !report.contains("not downloaded"), "{report}");
    let file = |server: &Server| {
        let shown = server.get(&format!("/wp/v2/media/{picture}")).body;
        let address = shown["source_url"].as_str().expect("an address").to_owned();
        let sent = server.send("GET", &address, None, None, &[]);
        assert_eq!(sent.status, 200, "{address}");
        (address.replace(&server.site, ""), sent.bytes)
    };
    assert!(file(&here) == file(&old.server), "the picture has its name and its bytes");
    let collections = [
        format!("posts?status=publish,future,draft,private,trash&{RECORD}"),
        format!("pages?status=publish,future,draft,private,trash&{RECORD}"),
        format!("blocks?status=publish,draft&{RECORD}"),
        "categories?_fields=id,name,slug,description,parent,count".to_owned(),
        "tags?_fields=id,name,slug,count".to_owned(),
        "users?_fields=username,email,name,first_name,roles,description,slug".to_owned(),
        "comments?status=all&_fields=id,post,parent,author_name,author_email,content.raw,status,date_gmt".to_owned(),
        "media?_fields=id,slug,title.raw,caption.raw,alt_text,mime_type".to_owned(),
        "menu-items?_fields=id,title.raw,menus,type,object,object_id,menu_order,parent".to_owned(),
        "menus?_fields=name,slug".to_owned(),
    ];
    let same = |here: &Server, why: &str| {
        for query in &collections {
            let (left, right) = (seen(&old.server, query), seen(here, query));
            assert!(left.as_array().is_some_and(|list| !list.is_empty()), "{query}");
            assert_eq!(left, right, "{why}: {query}");
        }
    };
    same(&here, "moved in");
    assert_eq!(here.admin("GET", "/wp/v2/settings", None).body["title"], "The harbour");

    // Later, what has changed comes in, and nothing twice.
    old.make(
        &format!("posts/{first}"),
        json!({"title": "Changed", "categories": [above], "tags": [], "format": "standard"}),
    );
    old.make("posts", json!({"title": "Another", "status": "publish"}));
    let reply = json!({"post": locked, "content": "Later", "author_name": "Bo", "author_email": "bo@example.org"});
    old.make("comments", reply);
    let report = told(&old.imported(&here, &[]));
    assert!(report.contains("as in the source again") && report.contains("1 post publish"), "{report}");
    same(&here, "changed since");
}

#[test]
fn a_reading_that_was_ended_goes_on() {
    let old = OldSite::start();
    for n in 0..120 {
        old.make("posts", json!({"title": format!("Post {n}"), "status": "publish", "date": "2021-01-01T00:00:00"}));
    }
    let here = Server::with(&["site.prefix=wp"]);
    told(&old.imported(&here, &["--dry-run"]));
    let whole = fs::read(here.path("old.sql")).expect("a dump");
    // As if the power had failed: in the middle of a row, behind a page, in the first line of comments.
    let text = String::from_utf8_lossy(&whole).into_owned();
    let page = text.find("\"page\":1,\"last\":false").or(text.find("\"page\":1")).expect("a page");
    for cut in [whole.len() / 2, page + 400, text.find("-- page {\"of\"").expect("a page") + 5] {
        fs::write(here.path("old.sql"), &whole[..cut]).expect("a file");
        told(&old.imported(&here, &["--dry-run"]));
        let again = fs::read_to_string(here.path("old.sql")).expect("a dump");
        let rows = |text: &str| text.lines().filter(|line| line.starts_with("INSERT INTO `wp_posts`")).count();
        assert_eq!(rows(&again), rows(&text), "{cut}");
        assert!(again.ends_with("-- whole\n"), "{cut}");
    }
    told(&old.imported(&here, &[]));
    let list = seen(&here, "posts?_fields=id");
    assert_eq!(list, seen(&old.server, "posts?_fields=id"));

    for (site, login, told) in [
        (&*old.server.site, "nobody", "does not take the login"),
        ("http://old.example.org", "admin", "over https:// only"),
        ("https://127.0.0.1:1", "admin", "outbound.networks and"),
    ] {
        let (into, password) = (here.path("other.sql").display().to_string(), old.password.display().to_string());
        let sets = if site == old.server.site { reaches(&[site]).to_vec() } else { Vec::new() };
        let mut args = here.args();
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        args.extend(["import", site, "--user", login, "--into", &into, "--password-file", &password]);
        let done = run(&args, "");
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && error.contains(told), "{site} {login}: {error}");
    }
}

#[test]
fn values_of_field_groups_come_with_records_terms_users_files_and_comments() {
    let old = OldSite::of(museum());
    let line = |text: &str| json!({"line": text});
    let eve = json!({"username": "eve", "email": "eve@example.org", "password": "long enough", "roles": ["editor"], "acf": line("User")});
    let eve = old.make("users", eve);
    let period = old.make("periods", json!({"name": "Iron age", "acf": line("Term")}));
    let photo = upload(&old.server, "dot.png", "image/png", png(4, 4)).body["id"].clone();
    old.make(&format!("media/{photo}"), json!({"acf": line("File")}));
    let other = old.make("exhibits", json!({"title": "Other", "status": "publish"}));
    let values = json!({"number": "M 1", "height": 12.5, "note": "a\nb \\ 'c'", "mail": "a@example.org", "found": "20260131", "lent": true,
        "state": "poor", "stuff": ["wood"], "photo": photo, "like": [other], "by": eve, "when": [period], "size": {"w": 3, "of": other}});
    let exhibit = json!({"title": "Boat", "status": "publish", "acf": values});
    let exhibit = old.make("exhibits", exhibit);
    old.make("exhibits", json!({"title": "Emptied", "status": "publish", "acf": {"number": "", "lent": false, "stuff": [], "size": {"w": null}}}));
    old.make("wing", json!({"title": "North", "status": "publish", "acf": {"floor": 2}}));
    let post = old.make("posts", json!({"title": "Post", "status": "publish"}));
    let comment = json!({"post": post, "content": "First", "author_name": "Ann", "author_email": "ann@example.org", "status": "approved", "acf": line("Comment")});
    old.make("comments", comment);

    let here = museum();
    let report = told(&old.imported(&here, &[]));
    assert!(!report.contains("meta keys that nothing declares"), "{report}");
    for query in [
        "exhibits?_fields=id,acf",
        "wing?_fields=id,acf",
        "periods?_fields=id,acf",
        "users?_fields=id,acf",
        "media?_fields=id,acf",
        "comments?_fields=id,acf",
    ] {
        let (there, found) = (seen(&old.server, query), seen(&here, query));
        assert!(there.to_string().len() > 24, "{query}: {there}");
        assert_eq!(found, there, "{query}");
    }
    let stored = here.sql("SELECT json FROM meta WHERE key IN ('size', '_size_w', '_line') ORDER BY key, json");
    assert!(
        stored.contains(&"\"field_mu_size_w\"".to_owned()) && stored.contains(&"\"field_mu_line\"".to_owned()),
        "{stored:?}"
    );

    // Numbers follow where the ids are taken here.
    let here = museum();
    for n in 0..12 {
        let taken = here.admin("POST", "/wp/v2/posts", Some(&json!({"title": format!("Taken {n}")})));
        assert_eq!(taken.status, 201);
    }
    told(&old.imported(&here, &[]));
    let found = |slug: &str| here.get(&format!("/wp/v2/exhibits?slug={slug}&_fields=id,acf")).body[0].clone();
    let (boat, like) = (found("boat"), found("other")["id"].clone());
    assert_ne!(boat["id"], exhibit);
    assert_eq!((&boat["acf"]["like"], &boat["acf"]["size"]), (&json!([like]), &json!({"w": 3, "of": like})));

    // A site without these declarations keeps the values, and says so.
    let here = Server::with(&["site.prefix=wp"]);
    let report = told(&old.imported(&here, &[]));
    assert!(report.contains("meta keys that nothing declares") && report.contains("size ("), "{report}");
}
