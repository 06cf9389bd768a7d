//! Files in S3; `tests/s3/run` builds with the feature, starts a server for it and passes the path of its folder.

use super::media::{fetch, png, upload};
use super::server::{Server, stdout};
use serde_json::json;
use std::path::{Path, PathBuf};

fn stored(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        match path.is_dir() {
            true => stored(&path, found),
            false if !hidden => found.push(path),
            false => {}
        }
    }
}

#[test]
fn files_live_in_a_bucket() {
    let folder = std::env::var("S3_FOLDER").expect("S3_FOLDER is set by tests/s3/run");
    let files = || {
        let mut found = Vec::new();
        stored(Path::new(&folder), &mut found);
        found
    };
    let sets = ["site.prefix=wp", "media.url=s3://bucket/site", "media.orphan_timeout=0s"];
    let server = Server::with(&sets);
    let bytes = png(400, 320);
    let made = upload(&server, "tree.png", "image/png", bytes.clone());
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(files().len(), 3, "{:?}", files());
    let served = fetch(&server, &made.body["source_url"], &[]);
    assert!(served.status == 200 && served.bytes == bytes);
    let part = fetch(&server, &made.body["source_url"], &[("range", "bytes=1-3")]);
    assert_eq!((part.status, part.text.as_str()), (206, "PNG"));
    let tag = served.header("etag").expect("a tag").to_owned();
    assert_eq!(fetch(&server, &made.body["source_url"], &[("if-none-match", &tag)]).status, 304);
    // Larger than what is sent at once.
    let large = vec![b'a'; 12 << 20];
    let text = upload(&server, "large.txt", "text/plain", large.clone());
    assert_eq!(text.status, 201, "{}", text.text);
    let served = server.send(
        "GET",
        text.body["source_url"].as_str().expect("an address"),
        None,
        None,
        &[("range", "bytes=12582910-")],
    );
    assert_eq!((served.status, served.text.as_str()), (206, "aa"));
    let edit = json!({"src": made.body["source_url"], "rotation": 180});
    let edited = server.admin("POST", &format!("/wp/v2/media/{}/edit", made.body["id"]), Some(&edit));
    assert_eq!(edited.status, 201, "{}", edited.text);
    let again = upload(&server, "tree.png", "image/png", bytes.clone());
    assert!(again.body["source_url"].as_str().is_some_and(|u| u.ends_with("/tree-1.png")), "{}", again.text);
    // They leave the bucket for a folder.
    let copies = server.path("uploads");
    let mut args = server.args();
    args.retain(|arg| *arg != "serve");
    let place = copies.display().to_string();
    args.extend(["export", "--files", &place]);
    assert!(stdout(&args, "").contains(&format!("{} files copied", files().len())));
    let key = made.body["media_details"]["file"].as_str().expect("a name");
    assert!(std::fs::read(copies.join(key)).expect("a file") == bytes);
    for record in [&made, &text, &edited, &again] {
        let gone = server.admin("DELETE", &format!("/wp/v2/media/{}?force=true", record.body["id"]), None);
        assert_eq!(gone.status, 200, "{}", gone.text);
    }
    assert_eq!(files(), Vec::<PathBuf>::new());
}
