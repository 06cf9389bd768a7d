//! Databases that older programs have written open in this one, and what they hold is shown as those showed it. Each folder of
//! `fixtures/versions` has, under the version of its tables, a database of SQLite, the same of PostgreSQL, and the responses of
//! the program that wrote it. `fixtures/versions/README.md` says how they were made.

use super::free_port::free_address;
use super::server::{Server, postgres, run, stdout};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The settings of the sites.
const SETS: &[&str] = &["site.prefix=wp", "site.url=http://localhost:8080"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/versions")
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(path).expect("a fixture")).read_to_end(&mut bytes).expect("it is whole");
    bytes
}

/// A folder with the declarations of this program, those of the sites, and the database of a version.
fn site(version: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    for file in ["site.toml", "schemas/event.json", "schemas/venue.json"] {
        fs::copy(fixtures().join("site").join(file), folder.path().join(file)).expect("a file");
    }
    match postgres::server() {
        None => fs::write(folder.path().join("test.db"), unpacked(&fixtures().join(version).join("site.db.gz")))
            .expect("a file"),
        Some(server) => {
            let dump = folder.path().join("site.sql");
            fs::write(&dump, unpacked(&fixtures().join(version).join("site.sql.gz"))).expect("a file");
            postgres::create(folder.path(), None);
            let url = postgres::url(&server, &postgres::name(folder.path()));
            let dump = dump.to_str().expect("a path");
            let output =
                Command::new("psql").args([&url, "-v", "ON_ERROR_STOP=1", "-q", "-f", dump]).output().expect("psql");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    folder
}

/// Members whose derivation has changed since: classes name terms by their slugs.
const DERIVED: &[&str] = &["class_list"];

/// Where a response differs from a former one. It may have further members, and what holds nothing may be a list or an object.
fn difference(before: &Value, now: &Value, place: &str) -> Option<String> {
    match (before, now) {
        (Value::Object(before), Value::Array(now)) if before.is_empty() && now.is_empty() => None,
        (Value::Object(before), Value::Object(now)) => before.iter().find_map(|(name, value)| {
            if DERIVED.contains(&name.as_str()) {
                return None;
            }
            let place = format!("{place}/{name}");
            difference(value, now.get(name).unwrap_or(&Value::Null), &place)
        }),
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .enumerate()
            .find_map(|(n, (one, other))| difference(one, other, &format!("{place}/{n}"))),
        _ => (timeless(before) != timeless(now)).then(|| format!("{place}: {before} is now {now}")),
    }
}

/// A value without the nonce of a preview, which is another one on another day.
fn timeless(value: &Value) -> Value {
    match value.as_str().and_then(|text| text.split_once("preview_nonce=")) {
        Some((before, nonce)) => json!([before, nonce.trim_start_matches(|c: char| c.is_ascii_hexdigit())]),
        None => value.clone(),
    }
}

/// The differences between the responses of an older program and those of this one.
fn differences(server: &Server, answers: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    for before in answers {
        let route = before["route"].as_str().expect("a route");
        let caller = before["as"].is_string().then_some(&server.admin);
        let now = server.ask("GET", route, caller, None);
        if now.status != 200 || now.header("x-wp-total") != before["total"].as_str() {
            found.push(format!("{route}: {} {:?} {}", now.status, now.header("x-wp-total"), now.text));
        }
        found.extend(difference(&before["body"], &now.body, route));
    }
    found
}

fn check(version: &str) {
    let folder = fixtures().join(version);
    let own = folder.join("responses-postgres.json");
    let file = if postgres::server().is_some() && own.exists() { own } else { folder.join("responses.json") };
    let before = fs::read(file).expect("a fixture");
    let before: Value = serde_json::from_slice(&before).expect("JSON");
    let answers = before["answers"].as_array().expect("a list");
    let port = free_address().port();
    let mut server = Server::over(site(version), &[SETS, &[&format!("server.listen=127.0.0.1:{port}")]].concat());
    // It does not listen at the address of the site, which the responses have.
    let reach = |server: &mut Server| {
        server.site = format!("http://127.0.0.1:{port}");
        server.rest = format!("{}/wp-json", server.site);
    };
    reach(&mut server);
    server.admin.1 = before["secret"].as_str().expect("an application password").to_owned();
    assert_eq!(differences(&server, answers), Vec::<String>::new(), "version {version}");
    // Counts, indexes and other derived tables are up to date, too, and a second start changes nothing.
    let (config, database) = (server.path("routes.toml"), server.storage());
    let words = [
        "--config",
        config.to_str().expect("a path"),
        "--set",
        &database,
        "--set",
        "site.prefix=wp",
        "check",
        "--data",
    ];
    let checked = run(&words, "");
    assert!(checked.status.success(), "version {version}: {}", String::from_utf8_lossy(&checked.stderr));
    server.kill_and_restart();
    reach(&mut server);
    assert_eq!(differences(&server, answers), Vec::<String>::new(), "version {version}, the second start");
    // It is written as any other.
    let changed = server.admin(
        "POST",
        "/wp/v2/posts?_fields=title",
        Some(&serde_json::json!({"title": "New", "status": "publish"})),
    );
    assert_eq!(changed.status, 201, "version {version}: {}", changed.text);
    assert_eq!(server.get("/wp/v2/posts?per_page=1&_fields=title").body[0]["title"]["rendered"], "New");
}

#[test]
fn databases_of_older_versions_open_with_all_they_hold() {
    let mut versions: Vec<String> = fs::read_dir(fixtures())
        .expect("the fixtures")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.parse::<u32>().is_ok())
        .collect();
    versions.sort();
    assert!(versions.len() >= 3, "{versions:?}");
    versions.iter().for_each(|version| check(version));
}
