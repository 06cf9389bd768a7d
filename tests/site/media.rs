//! Files: uploaded as forms and as bodies, refused, resized, edited, served, and deleted with their record.

use super::server::{Answer, Server, run, stdout};
use image::{DynamicImage, GenericImageView as _, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::PathBuf;

pub fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).expect("an encoder");
    bytes.into_inner()
}

/// A picture whose left half is red and whose right half is blue.
pub fn halves(width: u32, height: u32) -> DynamicImage {
    let color = |x| if x < width / 2 { Rgb([220, 20, 20]) } else { Rgb([20, 20, 220]) };
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, _| color(x)))
}

pub fn png(width: u32, height: u32) -> Vec<u8> {
    encoded(&halves(width, height), ImageFormat::Png)
}

/// A JPEG on its side (orientation 6) with a location.
pub fn sideways(width: u32, height: u32) -> Vec<u8> {
    let mut tiff: Vec<u8> = b"II*\0\x08\0\0\0".to_vec();
    let entry = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
        let mut bytes = tag.to_le_bytes().to_vec();
        bytes.extend(kind.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(value);
        bytes
    };
    let place = entry(1, 2, 2, *b"N\0\0\0");
    let turned = entry(0x0112, 3, 1, [6, 0, 0, 0]);
    // The second directory is behind the first: 8 + 2 + 2 * 12 + 4.
    let pointer = entry(0x8825, 4, 1, 38u32.to_le_bytes());
    tiff.extend(2u16.to_le_bytes());
    tiff.extend(turned);
    tiff.extend(pointer);
    tiff.extend(0u32.to_le_bytes());
    tiff.extend(1u16.to_le_bytes());
    tiff.extend(place);
    tiff.extend(0u32.to_le_bytes());
    let jpeg = encoded(&halves(width, height), ImageFormat::Jpeg);
    let mut out = jpeg[..2].to_vec();
    out.extend([0xff, 0xe1]);
    out.extend(((tiff.len() + 8) as u16).to_be_bytes());
    out.extend(b"Exif\0\0");
    out.extend(tiff);
    out.extend(&jpeg[2..]);
    out
}

/// A PNG whose header claims this many pixels and that contains none.
fn bomb(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8], data: &[u8]| {
        let mut sum = flate2::Crc::new();
        sum.update(kind);
        sum.update(data);
        let mut bytes = (data.len() as u32).to_be_bytes().to_vec();
        bytes.extend(kind);
        bytes.extend(data);
        bytes.extend(sum.sum().to_be_bytes());
        bytes
    };
    let mut head = width.to_be_bytes().to_vec();
    head.extend(height.to_be_bytes());
    head.extend([8, 2, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    out.extend(chunk(b"IHDR", &head));
    out.extend(chunk(b"IDAT", &[0x78, 0x9c, 3, 0, 0, 0, 0, 1]));
    out.extend(chunk(b"IEND", &[]));
    out
}

pub fn multipart(fields: &[(&str, &str)], file: Option<(&str, &str, &[u8])>) -> (&'static str, Vec<u8>) {
    let mut body = Vec::new();
    for (name, value) in fields {
        body.extend(format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes());
    }
    if let Some((field, name, bytes)) = file {
        let head = format!("--XX\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n");
        body.extend(head.bytes());
        body.extend(bytes);
        body.extend(b"\r\n");
    }
    body.extend(b"--XX--\r\n");
    ("multipart/form-data; boundary=XX", body)
}

pub fn route(server: &Server, below: &str) -> String {
    format!("{}/{}/v2/media{below}", server.rest, server.prefix)
}

/// Uploads a body under a name, as the administrator.
pub fn upload(server: &Server, name: &str, media: &str, bytes: Vec<u8>) -> Answer {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [("content-disposition", disposition.as_str())];
    server.send("POST", &route(server, ""), Some(&server.admin), Some((media, bytes)), &headers)
}

/// An anonymous GET of a file.
pub fn fetch(server: &Server, url: &Value, headers: &[(&str, &str)]) -> Answer {
    server.send("GET", url.as_str().expect("an address"), None, None, headers)
}

/// Every stored file, by its path below the folder of files.
pub fn stored(server: &Server) -> Vec<String> {
    fn walk(folder: PathBuf, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() { walk(entry.path(), found) } else { found.push(entry.path()) }
        }
    }
    let root = server.path("test.db.files");
    let mut found = Vec::new();
    walk(root.clone(), &mut found);
    let below = |p: PathBuf| p.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
    let mut names: Vec<String> = found.into_iter().map(below).collect();
    // The mark by which nodes recognise the folder.
    names.retain(|name| name != ".cms-server-folder");
    names.sort();
    names
}

#[test]
fn of_several_files_in_one_field_none_is_lost_and_to_wordpress_the_last_is_meant() {
    for (prefix, expected) in [("cms", (400, "rest_bad_request")), ("wp", (201, ""))] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let (kind, mut body) = multipart(&[], Some(("file", "first.png", &png(2, 2))));
        body.truncate(body.len() - b"--XX--\r\n".len());
        body.extend(multipart(&[], Some(("file", "last.png", &png(3, 3)))).1);
        let answer = server.send("POST", &route(&server, ""), Some(&server.admin), Some((kind, body)), &[]);
        assert_eq!((answer.status, answer.body["code"].as_str().unwrap_or_default()), expected, "{}", answer.text);
        let names = if prefix == "wp" { vec!["last"] } else { vec![] };
        let list = server.admin("GET", &format!("/{prefix}/v2/media"), None);
        let slugs: Vec<&str> =
            list.body.as_array().expect("a list").iter().filter_map(|m| m["slug"].as_str()).collect();
        assert_eq!(slugs, names);
    }
}

#[test]
fn a_picture_gets_its_sizes_and_is_served() {
    let server = Server::start();
    let bytes = png(400, 320);
    let made = upload(&server, "Big tree.png", "image/png", bytes.clone());
    assert_eq!(made.status, 201, "{}", made.text);
    let body = &made.body;
    assert_eq!(made.header("x-cms-upload-attachment-id"), Some(body["id"].to_string().as_str()));
    assert_eq!((&body["title"]["raw"], &body["slug"]), (&json!("Big-tree"), &json!("big-tree")));
    assert_eq!((&body["mime_type"], &body["media_type"]), (&json!("image/png"), &json!("image")));
    assert_eq!((&body["alt_text"], &body["post"], &body["status"]), (&json!(""), &json!(null), &json!("inherit")));
    let details = &body["media_details"];
    assert_eq!(
        (&details["width"], &details["height"], &details["filesize"]),
        (&json!(400), &json!(320), &json!(bytes.len()))
    );
    let sizes: Vec<&String> = details["sizes"].as_object().expect("sizes").keys().collect();
    assert_eq!(sizes, ["thumbnail", "medium", "full"]);
    assert!(body["description"]["rendered"].as_str().expect("a text").contains("Big-tree-300x240.png 300w"));
    assert_eq!(body["missing_image_sizes"], json!([]));
    let source = body["source_url"].as_str().expect("an address");
    assert!(source.starts_with(&format!("{}/files/", server.site)) && source.ends_with("/Big-tree.png"), "{source}");
    assert_eq!(&body["guid"]["raw"], source);

    let served = fetch(&server, &body["source_url"], &[]);
    assert!(served.status == 200 && served.bytes == bytes);
    for (name, value) in [
        ("content-type", "image/png"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "public, max-age=3600"),
        ("accept-ranges", "bytes"),
    ] {
        assert_eq!(served.header(name), Some(value), "{name}");
    }
    let tag = served.header("etag").expect("a tag").to_owned();
    assert_eq!(fetch(&server, &body["source_url"], &[("if-none-match", &tag)]).status, 304);
    let part = fetch(&server, &body["source_url"], &[("range", "bytes=1-3")]);
    assert_eq!((part.status, part.text.as_str()), (206, "PNG"));
    assert_eq!(part.header("content-range"), Some(format!("bytes 1-3/{}", bytes.len()).as_str()));
    assert_eq!(fetch(&server, &body["source_url"], &[("range", "bytes=999999-")]).status, 416);
    let head = server.send("HEAD", source, None, None, &[]);
    assert_eq!((head.status, head.header("content-length")), (200, Some(bytes.len().to_string().as_str())));
    let small = fetch(&server, &details["sizes"]["thumbnail"]["source_url"], &[]);
    let small = image::load_from_memory(&small.bytes).expect("a picture");
    assert_eq!(small.dimensions(), (150, 150));
    assert!(small.to_rgb8().get_pixel(5, 75).0[0] > 150 && small.to_rgb8().get_pixel(145, 75).0[2] > 150);
    for outside in ["/files/", "/files/../test.db", "/files/%2e%2e/test.db", "/files/.incoming/x", "/files//etc/passwd"]
    {
        let answer = server.send("GET", &format!("{}{outside}", server.site), None, None, &[]);
        assert_eq!(answer.status, 404, "{outside}");
    }
}

#[test]
fn a_form_brings_fields_beside_the_file() {
    let server = Server::with(&["site.prefix=wp"]);
    let admin = Some(&server.admin);
    let post = server.admin(
        "POST",
        "/wp/v2/posts",
        Some(&json!({"title": "Album", "status": "publish", "date": "2019-03-01T00:00:00"})),
    );
    let id = post.body["id"].to_string();
    let fields = [("title", "A tree"), ("alt_text", "Tall <b>tree</b>"), ("caption", "Oak"), ("post", id.as_str())];
    let picture = png(10, 8);
    let form = multipart(&fields, Some(("file", "t.png", &picture)));
    let made = server.send("POST", &route(&server, ""), admin, Some(form), &[]);
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.body["title"]["raw"], "A tree");
    assert_eq!(made.body["alt_text"], "Tall tree");
    assert_eq!(made.body["caption"]["rendered"], "<p>Oak</p>\n");
    assert_eq!(made.body["post"].to_string(), id);
    assert_eq!(made.body["media_details"]["file"], "2019/03/t.png");
    let link = format!("{}a-tree/", post.body["link"].as_str().expect("an address"));
    assert_eq!(made.body["link"], json!(link));
    let list = server.get(&format!("/wp/v2/media?parent={id}&media_type=image&_fields=id"));
    assert_eq!(list.body, json!([{"id": made.body["id"]}]));

    let check = |form: (&'static str, Vec<u8>), headers: &[(&str, &str)], expected: (u16, &str)| {
        let answer = server.send("POST", &route(&server, ""), admin, Some(form), headers);
        assert_eq!((answer.status, answer.code()), expected, "{}", answer.text);
    };
    check(multipart(&fields, None), &[], (400, "rest_upload_no_data"));
    check(multipart(&[], Some(("other", "t.png", &picture))), &[], (500, "rest_upload_unknown_error"));
    check(multipart(&[], Some(("file", "t.png", b"no picture"))), &[], (500, "rest_upload_unknown_error"));
    check(multipart(&[], Some(("file", "t.png", b""))), &[], (500, "rest_upload_unknown_error"));
    check(
        multipart(&[], Some(("file", "t.png", &picture))),
        &[("content-md5", "00")],
        (412, "rest_upload_hash_mismatch"),
    );
    check(multipart(&[("post", "999999")], Some(("file", "t.png", &picture))), &[], (403, "rest_cannot_edit"));
    let file = made.body["id"].to_string();
    check(multipart(&[("post", &file)], Some(("file", "t.png", &picture))), &[], (400, "rest_invalid_param"));
    check(multipart(&[("status", "shiny")], Some(("file", "t.png", &picture))), &[], (400, "rest_invalid_param"));
    check(("multipart/form-data", b"--XX".to_vec()), &[], (400, "rest_bad_request"));
    check(("multipart/form-data; boundary=XX", b"--XX\r\nContent".to_vec()), &[], (400, "rest_bad_request"));
    // A form is a form on routes without files, too.
    let renamed = server.send(
        "POST",
        &route(&server, &format!("/{file}")),
        admin,
        Some(multipart(&[("title", "Elm")], None)),
        &[],
    );
    assert_eq!((renamed.status, &renamed.body["title"]["raw"]), (200, &json!("Elm")));
    assert_eq!(stored(&server).len(), 1, "what was refused is gone: {:?}", stored(&server));
}

#[test]
fn what_is_not_what_it_says_is_refused() {
    let server = Server::with(&["media.max_upload=100000B", "media.max_frames=3", "media.max_pixels=1000000"]);
    let check = |name: &str, bytes: Vec<u8>, expected: (u16, &str)| {
        let answer = upload(&server, name, "application/octet-stream", bytes);
        assert_eq!((answer.status, answer.code()), expected, "{name}: {}", answer.text);
    };
    let refused = (415, "rest_upload_unsupported_type");
    check("a.php", b"<?php echo 1;".to_vec(), refused);
    let told = upload(&server, "a.php", "application/octet-stream", b"<?php echo 1;".to_vec());
    assert!(told.text.contains("Taken are: ") && told.text.contains("png"), "{}", told.text);
    assert!(
        told.body["data"]["extensions"].as_array().is_some_and(|taken| taken.contains(&json!("jpg"))),
        "{}",
        told.text
    );
    check("a.html", b"<html><script>".to_vec(), refused);
    check("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>".to_vec(), refused);
    check("a.png", b"not a picture".to_vec(), refused);
    check("a.png", b"\x89PNG\r\n\x1a\nbroken behind its head".to_vec(), refused);
    check("a.txt", png(3, 3), refused);
    check("a.pdf", b"hello".to_vec(), refused);
    check("noend", png(3, 3), refused);
    check("bomb.png", bomb(30_000, 30_000), (400, "rest_upload_file_too_big"));
    check("large.txt", vec![b'a'; 100_001], (413, "rest_payload_too_large"));
    let mut frames = Vec::new();
    let mut animation = image::codecs::gif::GifEncoder::new(&mut frames);
    animation.encode_frames((0..4).map(|_| image::Frame::new(halves(4, 4).to_rgba8()))).expect("an encoder");
    drop(animation);
    check("many.gif", frames, (400, "rest_upload_file_too_big"));
    assert_eq!(stored(&server), Vec::<String>::new());

    let named = |name: &str, bytes: Vec<u8>| {
        let made = upload(&server, name, "image/png", bytes);
        assert_eq!(made.status, 201, "{name}: {}", made.text);
        made.body["source_url"].as_str().and_then(|u| u.rsplit('/').next()).expect("a name").to_owned()
    };
    assert_eq!(named("../../../etc/x.png", png(3, 3)), "etcx.png");
    assert_eq!(named("..\\..\\x.png", png(3, 3)), "x.png");
    assert_eq!(named("x.php.png", png(3, 3)), "x.php_.png");
    assert_eq!(named("wrong.jpg", png(3, 3)), "wrong.png");
    assert_eq!(named(".htaccess.png", png(3, 3)), "htaccess.png");
    let text = upload(&server, "notes.csv", "text/csv", b"a,b\n1,2\n".to_vec());
    assert_eq!(text.body["media_details"], json!({"filesize": 8, "sizes": {}}));
    let served = fetch(&server, &text.body["source_url"], &[]);
    assert_eq!(served.header("content-disposition"), Some("attachment"));
}

#[test]
fn svg_is_taken_where_it_is_switched_on_and_never_runs() {
    let folder = tempfile::TempDir::new().expect("a folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let on = "[media.types.\"image/svg+xml\"]\nenabled = true\n";
    std::fs::write(folder.path().join("site.toml"), on).expect("a file");
    let server = Server::over(folder, &[]);
    let bytes = b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>".to_vec();
    let made = upload(&server, "a.svg", "image/svg+xml", bytes);
    assert_eq!((made.status, &made.body["mime_type"]), (201, &json!("image/svg+xml")), "{}", made.text);
    let served = fetch(&server, &made.body["source_url"], &[]);
    assert_eq!(served.header("content-type"), Some("image/svg+xml"));
    assert!(
        served
            .header("content-security-policy")
            .is_some_and(|p| p.contains("default-src 'none'") && p.contains("sandbox"))
    );
}

#[test]
fn pictures_stand_upright_and_do_not_tell_their_place() {
    let server = Server::with(&["media.max_side=500"]);
    let made = upload(&server, "side.jpg", "image/jpeg", sideways(60, 40));
    assert_eq!(made.status, 201, "{}", made.text);
    let details = &made.body["media_details"];
    assert_eq!((&details["width"], &details["height"]), (&json!(40), &json!(60)));
    assert_eq!(details["image_meta"]["orientation"], "1");
    assert_eq!(details["original_image"], "side.jpg");
    let source = made.body["source_url"].as_str().expect("an address");
    assert!(source.ends_with("/side-rotated.jpg"), "{source}");
    let shown =
        image::load_from_memory(&fetch(&server, &made.body["source_url"], &[]).bytes).expect("a picture").to_rgb8();
    assert_eq!(shown.dimensions(), (40, 60));
    // Turned clockwise, what was left is on top.
    assert!(shown.get_pixel(20, 5).0[0] > 150 && shown.get_pixel(20, 55).0[2] > 150);
    let original = fetch(&server, &json!(source.replace("-rotated", "")), &[]);
    assert_eq!(original.status, 200);
    let place = [0x25, 0x88, 4, 0];
    assert!(sideways(60, 40).windows(4).any(|w| w == place));
    assert!(!original.bytes.windows(4).any(|w| w == place), "the place is still in the original");
    let large = upload(&server, "large.png", "image/png", png(1200, 300));
    assert!(large.body["source_url"].as_str().is_some_and(|u| u.ends_with("/large-scaled.png")), "{}", large.text);
    assert_eq!(large.body["media_details"]["width"], 500);
}

#[test]
fn edits_make_new_records() {
    let server = Server::with(&["site.prefix=wp"]);
    let made = upload(&server, "tree.png", "image/png", png(400, 200));
    let id = made.body["id"].to_string();
    let source = &made.body["source_url"];
    let edit = |body: Value| server.admin("POST", &format!("/wp/v2/media/{id}/edit"), Some(&body));
    let turned = edit(json!({"src": source, "rotation": 90, "alt_text": "Turned"}));
    assert_eq!(turned.status, 201, "{}", turned.text);
    assert_eq!(
        (&turned.body["media_details"]["width"], &turned.body["media_details"]["height"]),
        (&json!(200), &json!(400))
    );
    assert!(turned.body["source_url"].as_str().is_some_and(|u| u.ends_with("/tree-edited.png")));
    assert_eq!((&turned.body["alt_text"], &turned.body["title"]["rendered"]), (&json!("Turned"), &json!("tree")));
    assert!(turned.header("location").is_some_and(|l| l.ends_with(&turned.body["id"].to_string())));
    let steps = json!([
        {"type": "flip", "args": {"flip": {"horizontal": true, "vertical": false}}},
        {"type": "crop", "args": {"left": 0, "top": 0, "width": 25, "height": 50}},
    ]);
    let cut = edit(json!({"src": made.body["media_details"]["sizes"]["medium"]["source_url"], "modifiers": steps}));
    assert_eq!(cut.status, 201, "{}", cut.text);
    let shown = image::load_from_memory(&fetch(&server, &cut.body["source_url"], &[]).bytes).expect("a picture");
    assert_eq!(shown.dimensions(), (100, 100));
    assert!(shown.to_rgb8().get_pixel(50, 50).0[2] > 150, "mirrored, the left is blue");
    for (body, expected) in [
        (json!({"src": source}), (400, "rest_image_not_edited")),
        (json!({"src": source, "x": 10}), (400, "rest_image_not_edited")),
        (json!({"rotation": 90}), (400, "rest_missing_callback_param")),
        (json!({"src": "http://x.example/y.png", "rotation": 90}), (404, "rest_unknown_attachment")),
        (json!({"src": source, "rotation": 400}), (400, "rest_invalid_param")),
        (json!({"src": source, "modifiers": []}), (400, "rest_invalid_param")),
        (json!({"src": source, "x": 10, "y": 10, "width": 0, "height": 0}), (500, "rest_image_crop_failed")),
    ] {
        let answer = edit(body);
        assert_eq!((answer.status, answer.code()), expected, "{}", answer.text);
    }
    let oblique = edit(json!({"src": source, "rotation": 45}));
    assert_eq!(oblique.status, 201, "{}", oblique.text);
    let author = server.user("writer", "author");
    let foreign = server.ask(
        "POST",
        &format!("/wp/v2/media/{id}/edit"),
        Some(&author),
        Some(&json!({"src": source, "rotation": 90})),
    );
    assert_eq!((foreign.status, foreign.code()), (403, "rest_cannot_edit"));
    let stranger =
        server.ask("POST", &format!("/wp/v2/media/{id}/edit"), None, Some(&json!({"src": source, "rotation": 90})));
    assert_eq!((stranger.status, stranger.code()), (401, "rest_cannot_edit_image"));
}

#[test]
fn missing_sizes_are_made_later() {
    let server = Server::with(&["site.prefix=wp"]);
    let made = upload(&server, "tree.png", "image/png", png(400, 320));
    let id = made.body["id"].to_string();
    let server = server.restart_with(&["site.prefix=wp", "media.sizes.tiny.width=20"]);
    let before = server.admin("GET", &format!("/wp/v2/media/{id}?context=edit"), None);
    assert_eq!(before.body["missing_image_sizes"], json!(["tiny"]));
    let process = |action: &str| {
        server.admin("POST", &format!("/wp/v2/media/{id}/post-process"), Some(&json!({"action": action})))
    };
    let done = process("create-image-subsizes");
    assert_eq!(done.status, 200, "{}", done.text);
    assert_eq!(done.body["media_details"]["sizes"]["tiny"]["height"], 16);
    assert_eq!(done.body["missing_image_sizes"], json!([]));
    assert_eq!(process("else").code(), "rest_invalid_param");
}

#[test]
fn deleting_takes_the_files_along() {
    let server = Server::start();
    let made = upload(&server, "tree.png", "image/png", png(400, 320));
    let id = made.body["id"].to_string();
    assert_eq!(stored(&server).len(), 3);
    let kept = server.admin("DELETE", &format!("/cms/v2/media/{id}"), None);
    assert_eq!((kept.status, kept.code()), (501, "rest_trash_not_supported"));
    let gone = server.admin("DELETE", &format!("/cms/v2/media/{id}?force=true"), None);
    assert_eq!((gone.status, &gone.body["deleted"]), (200, &json!(true)));
    assert_eq!(stored(&server), Vec::<String>::new());
    assert_eq!(fetch(&server, &made.body["source_url"], &[]).status, 404);
    let again = upload(&server, "tree.png", "image/png", png(4, 4));
    assert_eq!(again.body["source_url"], made.body["source_url"], "the name is free again");
}

#[test]
fn what_a_crash_leaves_is_swept_away() {
    let server = Server::with(&["media.orphan_timeout=0s"]);
    let made = upload(&server, "tree.png", "image/png", png(400, 320));
    assert_eq!(made.status, 201);
    // As if the process had died between the files and the record.
    server.sql("UPDATE file SET record = 0 WHERE key LIKE '%-150x150.png'");
    server.sql("UPDATE file SET record = 987654 WHERE key LIKE '%-300x240.png'");
    std::fs::write(server.path("test.db.files/.incoming/cut-off"), "half").expect("written");
    std::fs::write(server.path("test.db.files/somebody-else.txt"), "mine").expect("written");
    let server = server.restart_with(&["media.orphan_timeout=0s"]);
    let mut left = stored(&server);
    for _ in 0..100 {
        if left.len() == 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        left = stored(&server);
    }
    assert!(left.len() == 2 && left[0].ends_with("/tree.png") && left[1] == "somebody-else.txt", "{left:?}");
}

#[test]
fn uploads_are_for_those_who_may() {
    let server = Server::start();
    let bytes = png(4, 4);
    let headers = [("content-disposition", "attachment; filename=\"a.png\"")];
    let send = |user: Option<&(String, String)>, bytes: Vec<u8>| {
        server.send("POST", &route(&server, ""), user, Some(("image/png", bytes)), &headers)
    };
    let stranger = send(None, bytes.clone());
    assert_eq!((stranger.status, stranger.code()), (401, "rest_cannot_create"));
    for (role, expected) in [("subscriber", 403), ("contributor", 403), ("author", 201), ("editor", 201)] {
        let user = server.user(role, role);
        let answer = send(Some(&user), bytes.clone());
        assert_eq!(answer.status, expected, "{role}: {}", answer.text);
    }
    let none = server.send("POST", &route(&server, ""), Some(&server.admin), Some(("image/png", bytes.clone())), &[]);
    assert_eq!((none.status, none.code()), (400, "rest_upload_no_content_disposition"));
    let plain = server.admin("POST", "/cms/v2/media", Some(&json!({"title": {"raw": "No file"}})));
    assert_eq!((plain.status, plain.code()), (400, "rest_upload_no_content_disposition"));
    let bare = server.send("POST", &route(&server, ""), Some(&server.admin), None, &[]);
    assert_eq!((bare.status, bare.code()), (400, "rest_upload_no_data"));
    assert_eq!(stored(&server).iter().filter(|f| f.contains(".incoming")).count(), 0);
}

#[test]
fn a_featured_picture_is_embedded() {
    let server = Server::start();
    let made = upload(&server, "tree.png", "image/png", png(400, 320));
    let body = json!({"title": {"raw": "With a picture"}, "status": "publish", "featured_media": made.body["id"]});
    let post = server.admin("POST", "/cms/v2/posts", Some(&body));
    let post = server.get(&format!("/cms/v2/posts/{}?_embed=cms:featuredmedia", post.body["id"]));
    let embedded = &post.body["_embedded"]["cms:featuredmedia"][0];
    assert_eq!(embedded["source_url"], made.body["source_url"], "{}", post.text);
    assert_eq!(embedded["media_details"]["sizes"]["medium"]["width"], 300);
}

#[test]
fn an_import_takes_files_from_a_folder() {
    let server = Server::start();
    let folder = server.path("old uploads");
    std::fs::create_dir_all(folder.join("2021/03")).expect("a folder");
    std::fs::write(folder.join("2021/03/pier.jpg"), encoded(&halves(400, 320), ImageFormat::Jpeg)).expect("written");
    let database = server.storage();
    let export = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/import.xml");
    let folder = folder.to_str().expect("a path");
    let args = ["--set", &database, "import", export, "--attachments", folder];
    let told = stdout(&args, "");
    assert!(told.contains("1 files"), "{told}");
    let record = server.get("/cms/v2/media/120");
    let details = &record.body["media_details"];
    assert_eq!((&details["file"], &details["width"]), (&json!("2021/03/pier.jpg"), &json!(400)), "{}", record.text);
    assert_eq!(record.body["alt_text"], "A pier");
    assert_eq!(fetch(&server, &details["sizes"]["medium"]["source_url"], &[]).status, 200);
    assert_eq!(fetch(&server, &record.body["source_url"], &[]).status, 200);
    let again = stdout(&args, "");
    assert!(again.contains("0 files"), "{again}");
    let elsewhere = run(&["--set", &database, "import", export, "--attachments", "/nowhere"], "");
    assert!(!elsewhere.status.success());
}

#[test]
fn lists_are_filtered_and_searched() {
    let server = Server::with(&["site.prefix=wp"]);
    let picture = upload(&server, "lamp-post.png", "image/png", png(4, 4)).body["id"].clone();
    server.admin("PUT", &format!("/wp/v2/media/{picture}"), Some(&json!({"title": "Evening"})));
    let text = upload(&server, "notes.csv", "text/csv", b"a,b\n".to_vec()).body["id"].clone();
    let check = |query: &str, expected: &[&Value]| {
        let list = server.get(&format!("/wp/v2/media?orderby=id&order=asc&_fields=id&{query}"));
        let found: Vec<&Value> = list.body.as_array().expect("a list").iter().map(|item| &item["id"]).collect();
        assert_eq!(found, expected, "{query}: {}", list.text);
    };
    check("", &[&picture, &text]);
    check("media_type=image", &[&picture]);
    check("media_type=video", &[]);
    check("media_type=image,text", &[&picture, &text]);
    check("media_type=image&mime_type=text/csv", &[&picture, &text]);
    check("mime_type=image/gif", &[]);
    check("mime_type=no/such", &[&picture, &text]);
    check("search=lamp-post", &[&picture]);
    check("search=evening", &[&picture]);
    check("search=lamp-post&search_columns=post_title", &[]);
    check("search=wp-content", &[]);
}

#[test]
fn a_list_for_editing_holds_what_the_caller_edits() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    let foreign = server.admin(
        "POST",
        "/wp/v2/posts",
        Some(&json!({"title": "Foreign", "status": "publish", "password": "secret"})),
    );
    let own = server.ask("POST", "/wp/v2/posts", Some(&author), Some(&json!({"title": "Own", "status": "publish"})));
    let picture = upload(&server, "foreign.png", "image/png", png(4, 4));
    assert_eq!((foreign.status, own.status, picture.status), (201, 201, 201));
    let ids = |answer: &Answer| -> Vec<Value> {
        answer.body.as_array().expect("a list").iter().map(|item| item["id"].clone()).collect()
    };
    let list = server.ask("GET", "/wp/v2/posts?context=edit", Some(&author), None);
    assert_eq!(ids(&list), [own.body["id"].clone()], "{}", list.text);
    assert!(!list.text.contains("secret"));
    let list = server.ask("GET", "/wp/v2/media?context=edit", Some(&author), None);
    assert_eq!((ids(&list).len(), list.header("x-wp-total")), (0, Some("1")));
    assert_eq!(ids(&server.ask("GET", "/wp/v2/media", Some(&author), None)), [picture.body["id"].clone()]);
    assert_eq!(ids(&server.admin("GET", "/wp/v2/posts?context=edit", None)).len(), 2);
}

#[test]
fn declarations_of_files_are_checked() {
    for (set, told) in [
        ("media.path=\"\"", "not a path below the site's address"),
        ("media.path=\"/a/\"", "not a path below the site's address"),
        ("media.path=\"/cms-json/files\"", "belongs to the REST interface"),
        ("media.sizes.tiny.crop=true", "needs a width and a height to crop to"),
        ("media.types.\"a/b\".extensions=[\".b\"]", "needs extensions of letters and digits"),
        ("media.max_upload=-1", "must be a size with its unit, such as \"16MiB\""),
    ] {
        let output = run(&["--set", set, "check"], "");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(told), "{set}: {text}");
    }
}

#[test]
fn files_of_one_name_do_not_get_into_each_others_way() {
    let server = Server::start();
    let bytes = png(20, 20);
    let sources: Vec<String> = std::thread::scope(|scope| {
        let uploads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| upload(&server, "same.png", "image/png", bytes.clone()))).collect();
        let answers = uploads.into_iter().map(|upload| upload.join().expect("an answer"));
        answers
            .map(|made| made.body["source_url"].as_str().unwrap_or_else(|| panic!("{}", made.text)).to_owned())
            .collect()
    });
    let distinct: std::collections::HashSet<&String> = sources.iter().collect();
    assert_eq!(distinct.len(), 8, "{sources:?}");
    assert_eq!(stored(&server).len(), 8);
}

#[test]
fn a_file_outlives_the_record_that_it_hangs_on() {
    let server = Server::start();
    let post = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "Album"}, "status": "publish"})));
    let made = upload(&server, "tree.png", "image/png", png(4, 4));
    let route = format!("/cms/v2/media/{}", made.body["id"]);
    let hung = server.admin("PUT", &route, Some(&json!({"post": post.body["id"]})));
    assert_eq!(hung.body["post"], post.body["id"]);
    server.admin("DELETE", &format!("/cms/v2/posts/{}", post.body["id"]), None);
    assert_eq!(server.get(&route).status, 401, "as hidden as its record in the trash");
    server.admin("DELETE", &format!("/cms/v2/posts/{}?force=true", post.body["id"]), None);
    let left = server.get(&route);
    assert_eq!((left.status, &left.body["post"], &left.body["link"]), (200, &json!(null), &made.body["link"]));
}

#[test]
fn a_kill_in_the_midst_of_uploads_loses_and_leaves_nothing() {
    let mut server = Server::with(&["media.orphan_timeout=0s"]);
    let bytes = png(400, 320);
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..4u64 {
        let (url, admin) = (route(&server, ""), server.admin.clone());
        let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let workers: Vec<_> = (0..3)
            .map(|_| {
                let (url, admin, bytes, count) = (url.clone(), admin.clone(), bytes.clone(), count.clone());
                std::thread::spawn(move || {
                    use base64::Engine as _;
                    let pair = format!("{}:{}", admin.0, admin.1);
                    let pair = base64::engine::general_purpose::STANDARD.encode(pair);
                    let mut made = Vec::new();
                    loop {
                        let sent = ureq::post(&url)
                            .header("authorization", format!("Basic {pair}"))
                            .header("content-disposition", "attachment; filename=\"tree.png\"")
                            .header("content-type", "image/png")
                            .send(&bytes[..]);
                        // The process is gone, or ending.
                        let Ok(mut answer) = sent else { return made };
                        let Ok(text) = answer.body_mut().read_to_string() else { return made };
                        let body: Value = serde_json::from_str(&text).expect("a document");
                        made.push(body["source_url"].as_str().expect("an address").to_owned());
                        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                })
            })
            .collect();
        // However slow the machine is, some are through and others on their way.
        for _ in 0..3000 {
            if count.load(std::sync::atomic::Ordering::Relaxed) >= 2 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        std::thread::sleep(std::time::Duration::from_millis(round * 37));
        let before = server.site.clone();
        server.kill_and_restart();
        for worker in workers {
            let made = worker.join().expect("a thread that ends");
            acknowledged.extend(made.into_iter().map(|url| url.replace(&before, "")));
        }
    }
    assert!(acknowledged.len() > 4, "only {} uploads in all", acknowledged.len());
    for path in &acknowledged {
        let served = server.send("GET", &format!("{}{path}", server.site), None, None, &[]);
        assert!(served.status == 200 && served.bytes == bytes, "{path}: {}", served.status);
    }
    // Every stored file is named by a row that a record owns, and the other way round.
    let agree = || {
        let owned = server.sql("SELECT key FROM file WHERE record IN (SELECT id FROM record) ORDER BY key");
        let claimed = server.sql("SELECT count(*) FROM file");
        owned == stored(&server) && claimed == [owned.len().to_string()]
    };
    let mut left = 100;
    while !agree() && left > 0 {
        left -= 1;
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(left > 0, "files and records do not agree: {:?}", stored(&server));
}

#[test]
fn files_that_wordpress_takes_are_taken() {
    let ico = [&[0, 0, 1, 0, 1, 0, 16, 16][..], &[0; 40]].concat();
    let files: [(&str, &str, Vec<u8>); 6] = [
        ("a.bmp", "image/bmp", [b"BM".as_slice(), &[0; 60]].concat()),
        ("a.ico", "image/x-icon", ico),
        ("a.avi", "video/avi", b"RIFF\0\0\0\0AVI LIST\0\0\0\0hdrlavih".to_vec()),
        ("a.flv", "video/x-flv", b"FLV\x01\x05\0\0\0\x09\0\0\0\0".to_vec()),
        ("a.mid", "audio/midi", b"MThd\0\0\0\x06\0\0\0\x01\0\x60".to_vec()),
        ("a.tsv", "text/tab-separated-values", b"a\tb\n".to_vec()),
    ];
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        for (name, mime, bytes) in &files {
            let made = upload(&server, name, mime, bytes.clone());
            assert_eq!((made.status, &made.body["mime_type"]), (201, &json!(mime)), "{name}: {}", made.text);
            assert_eq!(fetch(&server, &made.body["source_url"], &[]).status, 200, "{name}");
        }
    }
}

#[test]
fn a_file_that_is_no_picture_is_no_featured_picture() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let picture = upload(&server, "a.png", "image/png", png(4, 4)).body["id"].clone();
        let pdf =
            upload(&server, "a.pdf", "application/pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec()).body["id"].clone();
        let route = format!("/{prefix}/v2/posts");
        let body = |id: &Value| json!({"title": {"raw": "x"}, "status": "publish", "featured_media": id});
        let post = server.admin("POST", &route, Some(&body(&picture))).body;
        assert_eq!(post["featured_media"], picture, "{post}");
        // A value that does not exist leaves the one that is there.
        for (other, right) in [
            (&json!(999_999), &picture),
            (&pdf, &json!(0)),
            (&picture, &picture),
            (&post["id"], &json!(0)),
            (&picture, &picture),
            (&json!(0), &json!(0)),
        ] {
            let changed = server.admin("POST", &format!("{route}/{}", post["id"]), Some(&body(other)));
            assert_eq!((changed.status, &changed.body["featured_media"]), (200, right), "{other}: {}", changed.text);
        }
    }
}
