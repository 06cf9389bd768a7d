//! `cms-server new resource`: what it writes is sound and served, and nothing is overwritten.

use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    folder
}

fn config(folder: &TempDir) -> String {
    folder.path().join("routes.toml").to_str().expect("a path").to_owned()
}

/// The message of the refused command.
fn refused(args: &[&str]) -> String {
    let output = run(args, "");
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Every file below a folder, with its text.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<(String, String)> = entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![(path.display().to_string(), fs::read_to_string(&path).expect("a text"))],
        })
        .collect();
    all.sort();
    all
}

#[test]
fn new_resources_are_served_at_once() {
    let folder = folder();
    let config = config(&folder);
    let new = |name: &str, like: &[&str]| {
        let told = stdout(&[&["new", "resource", name, "--config", &config], like].concat(), "");
        assert!(told.contains(&format!("{name}.json")) && told.contains("site.toml"), "{told}");
        assert!(stdout(&["check", "--config", &config], "").contains("sound"));
    };
    new("papers", &[]);
    new("topics", &["--like", "term"]);
    new("shelves", &["--like", "plain"]);
    // The lines that stand there as comments are sound, too.
    let site = folder.path().join("site.toml");
    let text = fs::read_to_string(&site).expect("site.toml");
    assert_eq!(text.matches("\n\n# ").count(), 2, "an empty line before each: {text}");
    let text =
        text.replace("# taxonomies = [\"categories\"]", "taxonomies = [\"topics\"]").replace("# supports", "supports");
    let text = text.replace("# capabilities", "capabilities").replace("# namespace = \"core\"", "namespace = \"core\"");
    fs::write(&site, text).expect("site.toml");

    let server = Server::over(folder, &[]);
    let make = |route: &str, body: Value| {
        let made = server.admin("POST", route, Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].clone()
    };
    let topic = make("/cms/v2/topics", json!({"name": "Tides"}));
    let paper =
        json!({"title": {"raw": "On ebb"}, "content": {"raw": "It falls."}, "status": "publish", "topics": [topic]});
    let paper = make("/cms/v2/papers", paper);
    let shelf = make("/cms/v2/shelves", json!({"title": "Tall"}));

    let shown = server.get(&format!("/cms/v2/papers/{paper}")).body;
    assert_eq!((&shown["title"]["rendered"], &shown["type"]), (&json!("On ebb"), &json!("papers")), "{shown}");
    assert_eq!(shown["link"], json!(format!("{}/papers/on-ebb/", server.site)));
    assert_eq!(shown["_links"]["cms:term"][0]["taxonomy"], json!("topics"));
    let by_topic = server.get(&format!("/cms/v2/papers?topics={topic}&_fields=id")).body;
    assert_eq!(by_topic, json!([{"id": paper}]));
    assert_eq!(server.get("/cms/v2/topics?_fields=name,count").body, json!([{"name": "Tides", "count": 1}]));
    assert_eq!(server.get("/cms/v2/shelves?orderby=title&search=tall").body[0]["id"], shelf);
    let user = server.user("sue", "subscriber");
    assert_eq!(server.ask("POST", "/cms/v2/shelves", Some(&user), Some(&json!({"title": "x"}))).status, 403);
}

#[test]
fn a_running_server_serves_a_new_resource() {
    let server = Server::start();
    let config = server.path("routes.toml");
    stdout(&["new", "resource", "notes", "--config", config.to_str().expect("a path")], "");
    server.log_until("reloaded the declarations");
    let made = server.admin("POST", "/cms/v2/notes", Some(&json!({"title": {"raw": "First"}, "status": "publish"})));
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(server.get("/cms/v2/notes?_fields=title").body, json!([{"title": {"rendered": "First"}}]));
}

#[test]
fn nothing_is_overwritten() {
    let folder = folder();
    let config = config(&folder);
    let new =
        |name: &str, more: &[&str]| [&["new", "resource", name, "--config", config.as_str()], more].concat().join(" ");
    let check = |command: String, expected: &str| {
        let before = files(folder.path());
        let told = refused(&command.split(' ').collect::<Vec<_>>());
        assert!(told.contains(expected), "{command}: {told}");
        assert_eq!(files(folder.path()), before, "{command}");
    };
    check(new("posts", &[]), "there is a resource `posts` already");
    check(new("content", &[]), "there is a resource `content` already");
    check(new("Papers", &[]), "`Papers` cannot be the name of a resource");
    check(new("../papers", &[]), "cannot be the name of a resource");
    check(new("papers", &["--like", "contents"]), "did you mean `content`?");
    check("new resource papers".to_owned(), "--config routes.toml");
    fs::write(folder.path().join("schemas/papers.json"), "{}").expect("a file");
    check(new("papers", &[]), "papers.json exists already");
    fs::remove_file(folder.path().join("schemas/papers.json")).expect("was there");

    // A file that cannot take the lines, one that is not sound, and one that is not read.
    let site = folder.path().join("site.toml");
    fs::write(&site, "resources = {}\n").expect("site.toml");
    check(new("papers", &[]), "this is not TOML");
    fs::write(&site, "site.prefx = \"cms\"\n").expect("site.toml");
    check(new("papers", &[]), "there is no key `prefx`");
    fs::remove_file(&site).expect("was there");
    let routes = fs::read_to_string(&config).expect("routes.toml");
    fs::write(&config, routes.replace("{ file = \"site.toml\", optional = true },", "")).expect("routes.toml");
    check(new("papers", &[]), "the declarations do not read site.toml");
}
