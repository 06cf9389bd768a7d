//! Backups with uploaded files, their schedule, and copies from before changes of tables.

use super::media::{png, upload};
use super::server::{Server, program, run, until};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A command over the declarations and the database of a server.
fn command(server: &Server, args: &[&str]) -> Output {
    let (config, database) = (server.path("routes.toml"), server.path("test.db"));
    let database = format!("storage.url=sqlite:{}", database.display());
    run(&[&["--config", config.to_str().expect("a path"), "--set", &database], args].concat(), "")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn done(output: Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The snapshots of a folder, the oldest first.
fn snapshots(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.join("files.json").exists()).collect();
    found.sort();
    found
}

/// Every content of a folder of backups.
fn contents(folder: &Path) -> Vec<PathBuf> {
    let groups = std::fs::read_dir(folder.join("contents")).into_iter().flatten().flatten();
    groups.flat_map(|group| std::fs::read_dir(group.path()).into_iter().flatten().flatten()).map(|e| e.path()).collect()
}

#[test]
fn a_backup_with_files_copies_each_content_once_and_is_put_back() {
    let mut server = Server::start();
    let made = upload(&server, "tree.png", "image/png", png(40, 30));
    let url = made.body["source_url"].as_str().expect("an address").to_owned();
    // The same bytes under another name are the same content.
    assert_eq!(upload(&server, "again.png", "image/png", png(40, 30)).status, 201);
    let folder = server.path("backups");
    let at = folder.to_str().expect("a path").to_owned();
    let said = done(command(&server, &["backup", "--with-files", &at]));
    let first = snapshots(&folder).remove(0);
    let number = contents(&folder).len();
    let files: Value = serde_json::from_slice(&std::fs::read(first.join("files.json")).expect("a list")).expect("JSON");
    let named = files["files"].as_object().expect("files").len();
    assert!(named == 2 * number && said.contains(&format!("{named} files, {number} of them new")), "{said}");

    assert_eq!(upload(&server, "other.png", "image/png", png(50, 30)).status, 201);
    until("another second", || command(&server, &["backup", "--with-files", &at]).status.success());
    let second = snapshots(&folder).remove(1);
    assert_eq!(contents(&folder).len(), number + 1, "only what is new was copied");
    let second = second.to_str().expect("a path").to_owned();
    let said = done(command(&server, &["restore", "--verify", &second]));
    assert!(said.contains(&format!("opens with these declarations; {} files, all", named + 1)), "{said}");

    server.end();
    let files = server.path("test.db.files");
    std::fs::remove_dir_all(&files).expect("files are lost");
    let said = done(command(&server, &["restore", &second]));
    assert!(said.contains(&format!("{} files were put back", named + 1)), "{said}");
    let server = server.restart_with(&[]);
    let path = url.split_once("/files/").expect("an address of a file").1.to_owned();
    let there = server.send("GET", &format!("{}/files/{path}", server.site), None, None, &[]);
    assert_eq!((there.status, there.bytes), (200, png(40, 30)));

    // A damaged backup is not restored, and a rehearsal finds it.
    for content in contents(&folder) {
        std::fs::write(&content, b"damaged").expect("a file");
    }
    let refused = command(&server, &["restore", "--verify", &second]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("contents are damaged"));
    let refused = command(&server, &["restore", &second]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("this backup is not restored"));
}

#[test]
fn a_rehearsal_changes_nothing_and_finds_a_database_that_is_no_backup() {
    let server = Server::start();
    let copy = server.path("copy.db");
    let copy = copy.to_str().expect("a path");
    done(command(&server, &["backup", copy]));
    let before = std::fs::read(copy).expect("a copy");
    let said = done(command(&server, &["restore", "--verify", copy]));
    assert!(said.contains("whole") && said.contains("Nothing was changed"), "{said}");
    assert_eq!(std::fs::read(copy).expect("a copy"), before);
    assert_eq!(server.get("/cms/v2/posts").status, 200, "the server runs");
    std::fs::write(server.path("text"), "no database").expect("a file");
    let text_file = server.path("text");
    assert!(!command(&server, &["restore", "--verify", text_file.to_str().expect("a path")]).status.success());
    let nowhere = command(&server, &["backup"]);
    assert!(text(&nowhere.stderr).contains("backup.folder"), "{}", text(&nowhere.stderr));
}

#[test]
fn the_server_makes_backups_by_itself_and_deletes_old_ones() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let at = format!("backup.folder={}", folder.path().display());
    let server = Server::with(&[&at, "backup.every=1s", "backup.keep=2"]);
    let made = || server.log().matches(": the database (").count();
    until("four backups", || made() >= 4);
    assert!(snapshots(folder.path()).len() <= 3, "{:?}", snapshots(folder.path()));
}

#[test]
fn the_database_is_copied_before_its_tables_change() {
    let mut server = Server::start();
    let made = server.admin("POST", "/cms/v2/posts", Some(&serde_json::json!({"title": "Old", "status": "publish"})));
    let id = &made.body["id"];
    server.end();
    let copy = server.path("test.db.before-migration-1");
    assert!(!copy.exists(), "nothing has changed yet");
    let schema = std::fs::read_to_string(server.path("schemas/post.json")).expect("a file");
    let property = "\"properties\": { \"subtitle\": {\"type\": \"string\", \"description\": \"A second title.\"},";
    std::fs::write(server.path("schemas/post.json"), schema.replacen("\"properties\": {", property, 1))
        .expect("a file");
    let mut server = server.restart_with(&[]);
    let post = server.get(&format!("/cms/v2/posts/{id}"));
    assert_eq!(post.body.get("subtitle"), Some(&Value::Null), "the new column is there: {}", post.text);
    let tables = |path: &Path| {
        let conn = rusqlite::Connection::open(path).expect("a database");
        let column = conn.query_row("SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%subtitle%'", [], |row| {
            row.get::<_, i64>(0)
        });
        column.expect("a number")
    };
    assert_eq!((tables(&copy) > 0, tables(&server.path("test.db")) > 0), (false, true));
    done(command(&server, &["check", "--data"]));
    server.end();
    // To go back: the old declarations and the copy.
    std::fs::write(server.path("schemas/post.json"), schema).expect("a file");
    done(command(&server, &["restore", copy.to_str().expect("a path")]));
    let server = server.restart_with(&[]);
    assert_eq!(server.get(&format!("/cms/v2/posts/{id}")).status, 200);
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let mut server = Server::start();
    server.end();
    let path = server.path("test.db");
    let conn = rusqlite::Connection::open(&path).expect("a database");
    let known: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a number");
    conn.pragma_update(None, "user_version", known + 1).expect("a write");
    drop(conn);
    let state = || {
        let entries = std::fs::read_dir(server.folder.path()).expect("the folder");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        (names, std::fs::read(&path).expect("the database"))
    };
    let before = state();
    let database = format!("storage.url=sqlite:{}", path.display());
    let output = program()
        .args(["--config", server.path("routes.toml").to_str().expect("a path"), "--set", &database])
        .args(["--set", "server.listen=127.0.0.1:0"])
        .output()
        .expect("the program ends");
    let said = text(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("written by a newer version") && said.contains("restore the backup"), "{said}");
    let status = command(&server, &["status"]);
    assert!(text(&status.stderr).contains("newer version"), "{}", text(&status.stderr));
    assert!(state() == before, "nothing is touched");
}

/// Overwrites bytes in the middle of a text of a database.
fn damage(database: &Path, text: &str) {
    let mut bytes = std::fs::read(database).expect("a database");
    let at = bytes.windows(text.len()).position(|part| part == text.as_bytes()).expect("the text");
    bytes[at..at + text.len()].fill(b'Z');
    std::fs::write(database, bytes).expect("a database");
}

#[test]
fn a_backup_whose_texts_are_damaged_is_found_and_not_restored() {
    let mut server = Server::start();
    let body = serde_json::json!({"title": {"raw": "Tower"}, "content": {"raw": "a tower whole; the hat of Anna"}});
    assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&body)).status, 201);
    let (file, folder) = (server.path("copy.db"), server.path("backups"));
    let at = |path: &Path| path.to_str().expect("a path").to_owned();
    done(command(&server, &["backup", &at(&file)]));
    done(command(&server, &["backup", "--with-files", &at(&folder)]));
    let snapshot = snapshots(&folder).remove(0);
    for (backup, database) in [(&file, file.clone()), (&snapshot, snapshot.join("database.db"))] {
        done(command(&server, &["restore", "--verify", &at(backup)]));
        damage(&database, "a tower whole; the hat");
        let refused = command(&server, &["restore", "--verify", &at(backup)]);
        assert!(!refused.status.success() && text(&refused.stderr).contains("the database is damaged"), "{refused:?}");
    }
    server.end();
    for backup in [&file, &snapshot] {
        let refused = command(&server, &["restore", &at(backup)]);
        assert!(!refused.status.success() && text(&refused.stderr).contains("the database is damaged"), "{refused:?}");
    }
    // A backup of an older version has no digest.
    std::fs::remove_file(server.path("copy.db.sha256")).expect("the digest");
    let said = command(&server, &["restore", "--verify", &at(&file)]);
    assert!(said.status.success() && text(&said.stderr).contains("no digest"), "{said:?}");
}

#[test]
fn a_snapshot_of_the_database_alone_is_verified_and_restored() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let at = format!("backup.folder={}", folder.path().display());
    let mut server = Server::with(&[&at, "backup.every=1h", "backup.files=false"]);
    assert_eq!(upload(&server, "tree.png", "image/png", png(40, 30)).status, 201);
    until("a backup", || !snapshots(folder.path()).is_empty());
    let snapshot = snapshots(folder.path()).remove(0);
    let snapshot = snapshot.to_str().expect("a path");
    done(command(&server, &["restore", "--verify", snapshot]));
    server.end();
    done(command(&server, &["restore", snapshot]));
}

#[test]
fn a_database_that_a_server_uses_is_not_copied() {
    let mut server = Server::start();
    let to = format!("sqlite:{}", server.path("new.db").display());
    let refused = command(&server, &["copy", "--to", &to]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("uses this database"), "{refused:?}");
    assert!(!server.path("new.db").exists());
    server.end();
    done(command(&server, &["copy", "--to", &to]));
}

#[test]
fn a_folder_of_files_that_cannot_be_written_is_told_at_the_start() {
    let server = Server::with(&["media.url=file:/proc/uploads"]);
    server.log_until("uploads will fail: the folder of files cannot be written");
    let sound = Server::start();
    assert!(!sound.log().contains("uploads will fail"), "{}", sound.log());
}
