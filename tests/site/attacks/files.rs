//! Malicious files: by their metadata, by their names, by what they need, by the records they are attached to.

use super::super::media::{fetch, png, upload};
use super::super::server::{Answer, Server, stdout};
use super::html::active;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::{Duration, Instant};

// ------------------------------------------------------------------------------------------------ files made by hand

fn chunk(name: &[u8], contents: &[u8]) -> Vec<u8> {
    let mut sum = flate2::Crc::new();
    sum.update(name);
    sum.update(contents);
    [&(contents.len() as u32).to_be_bytes(), name, contents, &sum.sum().to_be_bytes()].concat()
}

/// A PNG of so many black pixels with a chunk before them.
fn png_with(width: u32, height: u32, extra: &[u8]) -> Vec<u8> {
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, 2, 0, 0, 0]);
    let pixels = zeros((width as usize * 3 + 1) * height as usize);
    [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IHDR", &head), extra, &chunk(b"IDAT", &pixels), &chunk(b"IEND", b"")].concat()
}

/// So many zeros, deflated: a thousandth of that.
fn zeros(number: usize) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    let piece = vec![0; 1 << 20];
    let mut left = number;
    while left > 0 {
        let size = left.min(piece.len());
        encoder.write_all(&piece[..size]).expect("deflated");
        left -= size;
    }
    encoder.finish().expect("deflated")
}

fn segment(marker: u8, contents: &[u8]) -> Vec<u8> {
    [&[0xff, marker], &((contents.len() + 2) as u16).to_be_bytes()[..], contents].concat()
}

fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::DynamicImage::ImageRgb8(image::RgbImage::new(width, height));
    picture.write_to(&mut bytes, image::ImageFormat::Jpeg).expect("encoded");
    bytes.into_inner()
}

/// A JPEG with a segment of metadata.
fn jpeg_with(tiff: &[u8]) -> Vec<u8> {
    let plain = jpeg(16, 16);
    [&plain[..2], &segment(0xe1, &[b"Exif\0\0", tiff].concat()), &plain[2..]].concat()
}

/// A WebP with a chunk of metadata.
fn webp_with(tiff: &[u8]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::DynamicImage::ImageRgb8(image::RgbImage::new(16, 16));
    picture.write_to(&mut bytes, image::ImageFormat::WebP).expect("encoded");
    let plain = bytes.into_inner();
    let part = |name: &[u8], contents: &[u8]| {
        let filler = vec![0; contents.len() % 2];
        [name, &(contents.len() as u32).to_le_bytes(), contents, &filler].concat()
    };
    let body = [part(b"VP8X", &[8, 0, 0, 0, 15, 0, 0, 15, 0, 0]), plain[12..].to_vec(), part(b"EXIF", tiff)].concat();
    [b"RIFF", &(body.len() as u32 + 4).to_le_bytes()[..], b"WEBP", &body].concat()
}

/// A file as a camera writes it: texts by tag.
fn tiff(texts: &[(u16, &str)]) -> Vec<u8> {
    let start = 8 + 2 + texts.len() * 12 + 4;
    let (mut directory, mut behind) = ((texts.len() as u16).to_le_bytes().to_vec(), Vec::new());
    for (tag, text) in texts {
        let text = format!("{text}\0\0\0\0");
        directory.extend(tag.to_le_bytes());
        directory.extend(2u16.to_le_bytes());
        directory.extend((text.len() as u32).to_le_bytes());
        directory.extend(((start + behind.len()) as u32).to_le_bytes());
        behind.extend(text.bytes());
    }
    [&b"II*\0\x08\0\0\0"[..], &directory, &[0; 4], &behind].concat()
}

/// A directory whose entries all lead to another, which leads back.
fn circles(entries: u16) -> Vec<u8> {
    let second = 8 + 2 + u32::from(entries) * 12 + 4;
    let entry = |tag: u16, to: u32| [&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0], &to.to_le_bytes()].concat();
    let count = entries.to_le_bytes();
    [
        &b"II*\0\x08\0\0\0"[..],
        &count,
        &entry(0x8825, second).repeat(entries.into()),
        &8u32.to_le_bytes(),
        &count,
        &entry(1, 0).repeat(entries.into()),
        &[0; 4],
    ]
    .concat()
}

fn named(name: &[u8; 4], inside: &[u8]) -> Vec<u8> {
    [&((inside.len() + 8) as u32).to_be_bytes(), name.as_slice(), inside].concat()
}

fn send_as(server: &Server, user: &(String, String), disposition: &str, bytes: Vec<u8>) -> Answer {
    let url = format!("{}/{}/v2/media", server.rest, server.prefix);
    let headers = [("content-disposition", disposition)];
    server.send("POST", &url, Some(user), Some(("application/octet-stream", bytes)), &headers)
}

fn form(parts: &[(String, Option<&str>, &[u8])]) -> (&'static str, Vec<u8>) {
    let mut body = Vec::new();
    for (name, file, contents) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        body.extend(format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n").bytes());
        body.extend(*contents);
        body.extend(b"\r\n");
    }
    body.extend(b"--XX--\r\n");
    ("multipart/form-data; boundary=XX", body)
}

// ------------------------------------------------------------------------------------------------ texts and names

#[test]
fn what_a_file_says_of_itself_is_plain_text() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    let hostile = [
        "<img src=x onerror=alert(1)>",
        "<script>alert(1)</script>",
        "[embed]https://example.org/\" onmouseover=alert(1)[/embed]",
        "[caption id='x' onload=alert(1)]a[/caption]",
        "<!-- wp:html --><svg onload=alert(1)><!-- /wp:html -->",
        "\u{202e}<b onclick=alert(1)>\u{7}x",
        "&lt;img src=x onerror=alert(1)&gt;",
    ];
    for (i, text) in hostile.iter().enumerate() {
        // Long ones become captions.
        for text in [(*text).to_owned(), format!("{} {}", text, "word ".repeat(30))] {
            let tags = tiff(&[(0x010e, &text), (0x013b, &text), (0x8298, &text), (0x0110, &text)]);
            let files = [
                ("a.jpg", jpeg_with(&tags)),
                ("a.png", png_with(8, 8, &chunk(b"eXIf", &tags))),
                ("a.webp", webp_with(&tags)),
            ];
            for (name, bytes) in files {
                // Who may write any HTML, and who may not.
                for user in [&server.admin, &author] {
                    let made = send_as(&server, user, &format!("attachment; filename=\"{name}\""), bytes.clone());
                    assert_eq!(made.status, 201, "{name} {i}: {}", made.text);
                    let body = &made.body;
                    let meta = body["media_details"]["image_meta"].to_string();
                    let said = if text.len() < 80 { &body["title"]["raw"] } else { &body["caption"]["raw"] };
                    assert!(said.as_str().is_some_and(|said| said.contains("alert(1)")), "{name} {i}: {}", made.text);
                    for shown in [&body["title"], &body["caption"], &body["description"]]
                        .iter()
                        .flat_map(|texts| [&texts["raw"], &texts["rendered"]])
                        .map(|text| text.as_str().unwrap_or_default())
                        .chain([meta.as_str()])
                    {
                        for sign in
                            ["<img src=x", "<script", "<svg", "<b ", "<!--", "[embed", "[caption", "\u{202e}", "\u{7}"]
                        {
                            assert!(!shown.contains(sign), "{name} {i}: {sign} in {shown}");
                        }
                        is_harmless(shown);
                    }
                }
            }
        }
    }
    let long = "x".repeat(60_000);
    let tags = tiff(&[(0x010e, &long), (0x013b, &long[..3000])]);
    let made = upload(&server, "long.jpg", "image/jpeg", jpeg_with(&tags));
    let length = |value: &Value| value.as_str().map(str::len);
    assert_eq!(length(&made.body["caption"]["raw"]), Some(2000));
    assert_eq!(length(&made.body["media_details"]["image_meta"]["credit"]), Some(250));
}

/// A browser would run nothing of it.
fn is_harmless(html: &str) {
    assert_eq!(active(html), Vec::<String>::new(), "{html}");
}

#[test]
fn names_of_files_are_one_harmless_segment() {
    let server = Server::start();
    let long = format!("{}.png", "x".repeat(5000));
    for name in [
        "<img src=x onerror=alert(1)>.png",
        "..\\..\\a.png",
        "../../../etc/a.png",
        "a%2f..%2f..%2fb.png",
        ".htaccess.png",
        "a.php.png",
        "a.html;.png",
        "photo\u{202e}gnp.exe.png",
        "a\u{0}b.png",
        &long,
    ] {
        let form = form(&[("file".into(), Some(name), &png(3, 3))]);
        let url = format!("{}/cms/v2/media", server.rest);
        let made = server.send("POST", &url, Some(&server.admin), Some(form), &[]);
        // A name that no header may hold is refused as a form.
        if made.status == 400 && name.contains('\0') {
            continue;
        }
        assert_eq!(made.status, 201, "{name}: {}", made.text);
        let source = made.body["source_url"].as_str().expect("an address");
        let own = source.rsplit('/').next().expect("a name");
        let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@');
        assert!(own.chars().all(harmless) && !own.starts_with('.') && own.len() <= 200, "{name}: {own}");
        assert!(!own.contains(".php.") && !own.contains(".html.") && !own.contains(".exe."), "{name}: {own}");
        let title = made.body["title"]["raw"].as_str().expect("a title");
        let plain = |c: char| !c.is_control() && !matches!(c, '<' | '>' | '\u{202e}');
        assert!(title.chars().all(plain) && title.chars().count() <= 200, "{name}: {title}");
        let folder = source.rsplit('/').nth(3).expect("a folder");
        assert_eq!(folder, "files", "two folders below: {source}");
        assert_eq!(fetch(&server, &made.body["source_url"], &[]).status, 200);
    }
}

// ------------------------------------------------------------------------------------------------ memory and time

/// The most memory that the process ever had, in megabytes.
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a figure");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") >> 10
}

#[test]
#[cfg(target_os = "linux")]
fn small_files_do_not_take_much_memory() {
    let server = Server::start();
    let packed = zeros(400 << 20);
    let chain: Vec<u8> = segment(0xe2, &[b"ICC_PROFILE\0\x01\xff", &[0; 60_000][..]].concat()).repeat(200);
    let plain = jpeg(16, 16);
    let profiles = [&plain[..2], &chain, &plain[2..]].concat();
    let cases: [(&str, Vec<u8>, u16); 7] = [
        ("profile.png", png_with(40, 40, &chunk(b"iCCP", &[b"icc\0\0", &packed[..]].concat())), 201),
        ("text.png", png_with(40, 40, &chunk(b"zTXt", &[b"a\0\0", &packed[..]].concat())), 201),
        (
            "described.png",
            png_with(40, 40, &chunk(b"iTXt", &[b"XML:com.adobe.xmp\0\x01\0\0\0", &packed[..]].concat())),
            201,
        ),
        ("camera.png", png_with(40, 40, &chunk(b"eXIf", &circles(5000))), 201),
        ("camera.jpg", jpeg_with(&circles(2700)), 201),
        ("profiles.jpg", profiles, 201),
        ("sides.webp", disagreeing(), 415),
    ];
    // Whatever is made at the first use is there.
    assert_eq!(upload(&server, "small.png", "image/png", png(400, 400)).status, 201);
    let before = peak(&server);
    for (name, bytes, expected) in cases {
        let (sent, began) = (bytes.len(), Instant::now());
        let answer = upload(&server, name, "application/octet-stream", bytes);
        assert_eq!(answer.status, expected, "{name}: {}", answer.text);
        assert!(began.elapsed() < Duration::from_secs(20), "{name}: {:?}", began.elapsed());
        let after = peak(&server);
        assert!(after < before + 96, "{name}: {sent} bytes take {before} to {after} MB");
    }
}

/// A WebP whose header claims one pixel, around pixels that claim 250 million.
fn disagreeing() -> Vec<u8> {
    let mut pixels = b"\x10\0\0\x9d\x01\x2a\xff\x3f\xff\x3f".to_vec();
    pixels.extend([0; 990]);
    let part = |name: &[u8], contents: &[u8]| [name, &(contents.len() as u32).to_le_bytes(), contents].concat();
    let body = [part(b"VP8X", &[0; 10]), part(b"VP8 ", &pixels)].concat();
    [b"RIFF", &(body.len() as u32 + 4).to_le_bytes()[..], b"WEBP", &body].concat()
}

#[test]
fn a_picture_that_needs_more_than_there_is_is_refused() {
    let picture = || png_with(1000, 1000, &[]);
    // Its pixels, their copy in four channels, the copies in other sizes and a fixed part.
    for (most, expected) in [(8 << 20, 400), (64 << 20, 201)] {
        let server = Server::with(&[&format!("media.max_memory={most}B")]);
        let answer = upload(&server, "a.png", "image/png", picture());
        assert_eq!(answer.status, expected, "{most}: {}", answer.text);
        if expected == 400 {
            assert_eq!(answer.code(), "rest_upload_file_too_big");
            assert!(answer.text.contains("MiB of memory"), "{}", answer.text);
        }
    }
    let none = Server::with(&["media.timeout=0s"]);
    let answer = upload(&none, "a.png", "image/png", picture());
    assert_eq!((answer.status, answer.code()), (400, "rest_upload_file_too_big"), "{}", answer.text);
}

#[test]
fn many_pictures_share_the_memory() {
    // Enough for one of them at a time: the others wait, and none is refused.
    let server = Server::with(&["media.max_memory=40000000B", "media.workers=4"]);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let sent: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| upload(&server, "same.png", "image/png", png_with(700, 700, &[])).status))
            .collect();
        sent.into_iter().map(|upload| upload.join().expect("an answer")).collect()
    });
    assert_eq!(statuses, [201; 8]);
}

#[test]
fn scans_count_as_pixels() {
    let server = Server::with(&["media.max_pixels=1000"]);
    // 16 by 16 pixels: 256; ten times a thousand pixels are passed over.
    let scanned = |scans: usize| {
        let head = segment(0xc2, &[8, 0, 16, 0, 16, 1, 1, 0x11, 0]);
        let table = segment(0xdb, &[0; 65].map(|byte: u8| byte.max(1)));
        let code = segment(0xc4, &[&[0, 1][..], &[0; 16]].concat());
        let scan = [segment(0xda, &[1, 1, 0, 0, 0, 0]), vec![0]].concat();
        [&b"\xff\xd8"[..], &table, &head, &code, &scan.repeat(scans), b"\xff\xd9"].concat()
    };
    for (scans, refused) in [(38, false), (39, false), (40, true)] {
        let answer = upload(&server, "a.jpg", "image/jpeg", scanned(scans));
        assert_eq!(answer.text.contains("too many for its"), refused, "{scans}: {}", answer.text);
    }
}

#[test]
fn an_edit_has_so_many_steps() {
    let server = Server::start();
    let made = upload(&server, "tree.png", "image/png", png(20, 10));
    let route = format!("/cms/v2/media/{}/edit", made.body["id"]);
    let steps = |number: usize| vec![json!({"type": "rotate", "args": {"angle": 90}}); number];
    for (number, expected) in [(0, 400), (1, 201), (19, 201), (20, 201), (21, 400), (5000, 400)] {
        let body = json!({"src": made.body["source_url"], "modifiers": steps(number)});
        let answer = server.admin("POST", &route, Some(&body));
        assert_eq!(answer.status, expected, "{number}: {}", answer.text);
        let requests = json!({"requests": [{"path": route, "method": "POST", "body": body}]});
        let batch = server.admin("POST", "/batch/v1", Some(&requests));
        assert!(batch.status != 207 || number > 20 || !batch.text.contains("maxItems"), "{number}: {}", batch.text);
    }
    // Turned by odd angles a picture grows, but not above what a picture may have.
    let slanted = vec![json!({"type": "rotate", "args": {"angle": 45.5}}); 20];
    let small = Server::with(&["media.max_pixels=10000"]);
    let made = upload(&small, "tree.png", "image/png", png(90, 90));
    let route = format!("/cms/v2/media/{}/edit", made.body["id"]);
    let answer = small.admin("POST", &route, Some(&json!({"src": made.body["source_url"], "modifiers": slanted})));
    assert_eq!((answer.status, answer.code()), (400, "rest_upload_file_too_big"), "{}", answer.text);
}

#[test]
fn forms_have_so_many_parts_and_files() {
    let server = Server::start();
    let url = format!("{}/cms/v2/media", server.rest);
    let send = |parts: &[(String, Option<&str>, &[u8])]| {
        server.send("POST", &url, Some(&server.admin), Some(form(parts)), &[])
    };
    let picture = png(3, 3);
    let fields = |number: usize| (0..number).map(|i| (format!("x{i}"), None, &b"1"[..])).collect::<Vec<_>>();
    for (number, expected) in [(998, 201), (999, 201), (1000, 413)] {
        let mut parts = fields(number);
        parts.push(("file".into(), Some("a.png"), &picture));
        assert_eq!(send(&parts).status, expected, "{number} fields and a file");
    }
    for (number, expected) in [(19, 201), (20, 201), (21, 413)] {
        let mut parts: Vec<(String, Option<&str>, &[u8])> = vec![("file".into(), Some("a.png"), &picture)];
        parts.extend((1..number).map(|i| (format!("other{i}"), Some("b.png"), &picture[..])));
        assert_eq!(send(&parts).status, expected, "{number} files");
    }
    // Names are bounded as values are, and nest no deeper than parameters do.
    let deep = format!("a{}", "[b]".repeat(100));
    assert_eq!(send(&[(deep, None, b"1")]).status, 400);
    let left = std::fs::read_dir(server.path("test.db.files/.incoming")).expect("a folder").count();
    assert_eq!(left, 0, "what was refused is gone");
}

#[test]
fn ranges_are_answered_one_at_a_time() {
    let server = Server::start();
    let bytes = png(400, 320);
    let made = upload(&server, "tree.png", "image/png", bytes.clone());
    let many = |number: usize| {
        let ranges: Vec<String> = (0..number).map(|i| format!("{i}-{}", i + 1)).collect();
        format!("bytes={}", ranges.join(","))
    };
    for (range, expected) in [("bytes=0-1".to_owned(), 206), (many(2), 200), (many(1000), 200)] {
        let answer = fetch(&server, &made.body["source_url"], &[("range", &range)]);
        let size = if expected == 206 { 2 } else { bytes.len() };
        assert_eq!((answer.status, answer.bytes.len()), (expected, size), "{}", &range[..range.len().min(40)]);
    }
    for wrong in ["bytes=18446744073709551615-", "bytes=-0", "bytes=5-1", "bytes=99999999999999999999-1"] {
        let answer = fetch(&server, &made.body["source_url"], &[("range", wrong)]);
        assert!(matches!(answer.status, 200 | 416), "{wrong}: {}", answer.status);
    }
}

// ------------------------------------------------------------------------------------------------ visibility

#[test]
fn nothing_is_hung_below_what_the_caller_may_not_edit() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    let record = |status: &str, who: &(String, String)| {
        let body = json!({"title": format!("secret {status}"), "status": status, "slug": format!("a-secret-{status}")});
        server.ask("POST", "/wp/v2/posts", Some(who), Some(&body)).body["id"].clone()
    };
    let own = record("publish", &author);
    let foreign = ["private", "draft", "publish"].map(|status| record(status, &server.admin));
    let made = send_as(&server, &author, "attachment; filename=\"a.png\"", png(4, 4));
    let (id, link) = (made.body["id"].clone(), made.body["link"].clone());
    let route = format!("/wp/v2/media/{id}");
    let url = format!("{}{route}", server.rest);
    for post in &foreign {
        let body = json!({"post": post});
        for method in ["PUT", "PATCH", "POST"] {
            let answer = server.ask(method, &route, Some(&author), Some(&body));
            assert_eq!((answer.status, answer.code()), (403, "rest_cannot_edit"), "{method} {post}: {}", answer.text);
        }
        let plain = ("application/x-www-form-urlencoded", format!("post={post}").into_bytes());
        let parts = form(&[("post".into(), None, post.to_string().as_bytes())]);
        for (body, query) in [
            (Some(plain.clone()), ""),
            (Some(plain), "?_method=PUT"),
            (Some(("multipart/form-data; boundary=XX", parts.1)), ""),
            (None, &*format!("?post={post}")),
        ] {
            let answer = server.send("POST", &format!("{url}{query}"), Some(&author), body, &[]);
            assert_eq!(answer.status, 403, "{query} {post}: {}", answer.text);
        }
        let source = json!({"src": made.body["source_url"], "rotation": 90, "post": post});
        let edited = server.ask("POST", &format!("{route}/edit"), Some(&author), Some(&source));
        assert_eq!(edited.status, 403, "{post}: {}", edited.text);
        let created = server.send(
            "POST",
            &format!("{}/wp/v2/media?post={post}", server.rest),
            Some(&author),
            Some(("image/png", png(4, 4))),
            &[("content-disposition", "attachment; filename=\"b.png\"")],
        );
        assert_eq!(created.status, 403, "{post}: {}", created.text);
    }
    assert_eq!(server.get(&route).body["link"], link);
    // It may be attached to an own record, and stay while something else changes; and be detached again.
    for body in [json!({"post": own}), json!({"post": own, "title": "x"}), json!({"post": 0})] {
        assert_eq!(server.ask("PUT", &route, Some(&author), Some(&body)).status, 200, "{body}");
    }
    // Attached by a user who may, it stays where it is when its author sends it back.
    server.admin("PUT", &route, Some(&json!({"post": foreign[2]})));
    let same = server.ask("PUT", &route, Some(&author), Some(&json!({"post": foreign[2], "title": "y"})));
    assert_eq!((same.status, &same.body["title"]["raw"]), (200, &json!("y")), "{}", same.text);
}

#[test]
fn addresses_do_not_name_private_records() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("writer", "author");
    let page = |body: Value| server.admin("POST", "/wp/v2/pages", Some(&body)).body;
    let post = server.admin(
        "POST",
        "/wp/v2/posts",
        Some(&json!({"title": "x", "slug": "hidden-name", "status": "publish", "date": "2020-01-01T00:00:00"})),
    );
    let above = page(json!({"title": "x", "slug": "hidden-name", "status": "publish"}));
    let below = page(json!({"title": "y", "slug": "shown", "status": "publish", "parent": above["id"]}));
    let deep = page(json!({"title": "z", "slug": "deep", "status": "publish", "parent": below["id"]}));
    let upload = |post: &Value| {
        let (post, picture) = (post.to_string(), png(4, 4));
        let form = form(&[("post".into(), None, post.as_bytes()), ("file".into(), Some("a.png"), &picture)]);
        server.send("POST", &format!("{}/wp/v2/media", server.rest), Some(&server.admin), Some(form), &[]).body["id"]
            .clone()
    };
    let (of_post, of_page) = (upload(&post.body["id"]), upload(&below["id"]));
    let commented = server.ask(
        "POST",
        "/wp/v2/comments",
        Some(&author),
        Some(&json!({"post": post.body["id"], "content": "mine"})),
    );
    assert_eq!(commented.status, 201, "{}", commented.text);
    let reads = [
        // Identifiers never change, and were public while everything was.
        format!("/wp/v2/pages/{}?_fields=link,_links", below["id"]),
        format!("/wp/v2/pages/{}?_fields=link,_links", deep["id"]),
        format!("/wp/v2/media/{of_page}?_fields=link,_links"),
        "/wp/v2/pages?search=y&_fields=link,_links".to_owned(),
        "/wp/v2/search?search=y&subtype=page".to_owned(),
    ];
    for route in &reads {
        let answer = server.get(route);
        assert!(answer.status == 200 && answer.text.contains("hidden-name"), "{route}: {}", answer.text);
    }
    for (kind, id) in [("pages", &above["id"]), ("posts", &post.body["id"])] {
        let hidden = server.admin("PUT", &format!("/wp/v2/{kind}/{id}"), Some(&json!({"status": "private"})));
        assert_eq!(hidden.status, 200, "{}", hidden.text);
    }
    for user in [None, Some(&author)] {
        for route in &reads {
            let answer = server.ask("GET", route, user, None);
            assert!(answer.status == 200 && !answer.text.contains("hidden-name"), "{route}: {}", answer.text);
        }
    }
    let file = server.get(&format!("/wp/v2/media/{of_page}")).body;
    assert_eq!(file["link"], json!(format!("{}/?attachment_id={of_page}", server.site)));
    assert_eq!(server.get(&format!("/wp/v2/media/{of_post}")).status, 401);
    let own = server.ask("GET", &format!("/wp/v2/comments/{}", commented.body["id"]), Some(&author), None);
    assert!(!own.text.contains("hidden-name"), "{}", own.text);
    // Made while the record above is private, it names it nowhere, not even in its identifier.
    let made = page(json!({"title": "new", "slug": "new", "status": "publish", "parent": above["id"]}));
    let shown = server.get(&format!("/wp/v2/pages/{}", made["id"]));
    assert!(shown.status == 200 && !shown.text.contains("hidden-name"), "{}", shown.text);
    let template = server.admin("GET", &format!("/wp/v2/pages/{}?context=edit", made["id"]), None);
    assert!(!template.text.contains("hidden-name"), "{}", template.text);
    // Published again, it is named again.
    server.admin("PUT", &format!("/wp/v2/pages/{}", above["id"]), Some(&json!({"status": "publish"})));
    assert!(server.get(&reads[0]).text.contains("hidden-name/shown"));
}

#[test]
fn relations_lead_to_what_the_caller_sees() {
    let server = Server::with(&["site.prefix=wp"]);
    let (author, editor) = (server.user("writer", "author"), server.user("chief", "editor"));
    let hidden = upload(&server, "hidden.png", "image/png", png(4, 4)).body["id"].clone();
    server.admin("PUT", &format!("/wp/v2/media/{hidden}"), Some(&json!({"status": "private"})));
    let open = upload(&server, "open.png", "image/png", png(4, 4)).body["id"].clone();
    let write = |user: &(String, String), media: &Value| {
        let body = json!({"title": "x", "status": "publish", "featured_media": media});
        server.ask("POST", "/wp/v2/posts", Some(user), Some(&body)).body
    };
    assert_eq!(write(&author, &hidden)["featured_media"], 0, "as if it were not there");
    assert_eq!(write(&author, &open)["featured_media"], open);
    assert_eq!(write(&editor, &hidden)["featured_media"], hidden);
    // A value that another user gave a record stays when it is sent back.
    let own = write(&author, &json!(0));
    let route = format!("/wp/v2/posts/{}", own["id"]);
    server.admin("PUT", &route, Some(&json!({"featured_media": hidden})));
    let same = server.ask("PUT", &route, Some(&author), Some(&json!({"featured_media": hidden, "title": "y"})));
    assert_eq!(same.body["featured_media"], hidden, "{}", same.text);
    // Pages below what the caller may not read: only who edits pages may ask, so a role that edits and does not read.
    let folder = tempfile::TempDir::new().expect("a folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let role = "[roles.layouter]\nname = \"Layouter\"\ncapabilities = [\"read\", \"edit_pages\", \"publish_pages\", \"edit_published_pages\"]\n";
    std::fs::write(folder.path().join("site.toml"), role).expect("a file");
    let server = Server::over(folder, &["site.prefix=wp"]);
    let layouter = server.user("layouter", "layouter");
    let page = |status: &str| {
        let body = json!({"title": "x", "slug": "hidden-name", "status": status});
        server.admin("POST", "/wp/v2/pages", Some(&body)).body["id"].clone()
    };
    let (private, public) = (page("private"), page("publish"));
    for (parent, expected) in [(&private, 400), (&json!(999_999), 400), (&public, 201)] {
        let body = json!({"title": "y", "status": "publish", "parent": parent});
        let answer = server.ask("POST", "/wp/v2/pages", Some(&layouter), Some(&body));
        assert_eq!(answer.status, expected, "{parent}: {}", answer.text);
    }
}

#[test]
fn declared_relations_lead_to_what_the_caller_sees() {
    let folder = tempfile::TempDir::new().expect("a folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let schema = json!({
        "title": "mark",
        "type": "object",
        "properties": {
            "id": {"type": "integer", "readonly": true},
            "note": {"type": "string"},
            "post": {"type": "integer", "x-relation": {"to": "posts", "check": true}},
            "others": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "posts", "rel": "mark.others", "check": true}},
        },
    });
    std::fs::write(folder.path().join("schemas/mark.json"), schema.to_string()).expect("a file");
    let declared = "[namespaces.marks]\npath = \"marks/v1\"\n\
        [capabilities.mark]\nread = \"\"\ncreate = \"read\"\nedit = \"read\"\ndelete = \"read\"\n\
        [resources.marks]\nfamily = \"plain\"\nnamespace = \"marks\"\nschema = \"schemas/mark.json\"\nkind = \"mark\"\n\
        routes = [\"crud\"]\ncapabilities = \"mark\"\nsort = { id = \"id\" }\nsearch = {}\n\
        [resources.marks.endpoints.list]\norderby = { type = \"string\", enum = [\"id\"], default = \"id\", x-param = \"orderby\" }\n";
    std::fs::write(folder.path().join("site.toml"), declared).expect("a file");
    let server = Server::over(folder, &["site.prefix=wp"]);
    let reader = server.user("reader", "subscriber");
    let post = |status: &str| {
        server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "x", "status": status}))).body["id"].clone()
    };
    let (public, private, nowhere) = (post("publish"), post("private"), json!(999_999));
    let write = |method: &str, route: &str, body: Value| server.ask(method, route, Some(&reader), Some(&body));
    for wrong in [&private, &nowhere] {
        for body in [json!({"post": wrong}), json!({"others": [public, wrong]})] {
            let answer = write("POST", "/marks/v1/marks", body.clone());
            assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{body}: {}", answer.text);
        }
    }
    let made = write("POST", "/marks/v1/marks", json!({"post": public, "others": [public]}));
    assert_eq!(made.status, 201, "{}", made.text);
    let route = format!("/marks/v1/marks/{}", made.body["id"]);
    assert_eq!(write("PUT", &route, json!({"post": private})).status, 400);
    // A record that another user has linked stays when it is sent back.
    let linked = server.admin("PUT", &route, Some(&json!({"post": private, "others": [private]})));
    assert_eq!(linked.status, 200, "{}", linked.text);
    let same = write("PUT", &route, json!({"post": private, "others": [private], "note": "x"}));
    assert_eq!((same.status, &same.body["others"]), (200, &json!([private])), "{}", same.text);
}

#[test]
#[cfg(unix)]
fn the_folder_of_files_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Server::start();
    assert_eq!(upload(&server, "tree.png", "image/png", png(40, 40)).status, 201);
    let mode = |path: std::path::PathBuf| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(server.path("test.db.files")), 0o700);
    for file in ["test.db", "test.db-wal", "test.db-shm"] {
        assert_eq!(mode(server.path(file)), 0o600, "{file}");
    }
    let database = server.storage();
    let copy = server.path("copy.db");
    stdout(&["--set", &database, "backup", copy.to_str().expect("a path")], "");
    assert_eq!(mode(copy), 0o600);
    // A folder that the operator has opened stays open.
    let folder = server.path("test.db.files");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o750)).expect("changed");
    let server = server.restart_with(&[]);
    assert_eq!(upload(&server, "elm.png", "image/png", png(40, 40)).status, 201);
    assert_eq!(mode(server.path("test.db.files")), 0o750);
}

#[test]
#[cfg(unix)]
fn an_import_does_not_follow_links_out_of_its_folder() {
    let server = Server::start();
    let folder = server.path("old uploads");
    std::fs::create_dir_all(folder.join("2021/03")).expect("a folder");
    let secret = server.path("secret.jpg");
    std::fs::write(&secret, jpeg(40, 40)).expect("written");
    std::os::unix::fs::symlink(&secret, folder.join("2021/03/pier.jpg")).expect("a link");
    let database = server.storage();
    let export = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/import.xml");
    let args = ["--set", &database, "import", export, "--attachments", folder.to_str().expect("a path")];
    let told = stdout(&args, "");
    assert!(told.contains("0 files") && told.contains("not in the folder: 2021/03/pier.jpg"), "{told}");
}

#[test]
fn films_and_stills_do_not_tell_their_place() {
    let server = Server::start();
    let place = b"\0\x10\x15\xc7+59.9133+010.7389/";
    let tiff = b"\0\0\0\0II*\0\x08\0\0\0\x01\0\x25\x88\x04\0\x01\0\0\0\x08\0\0\0\0\0\0\0 at +59.9133";
    let film = |kind: &[u8], inside: &[u8]| {
        [named(b"ftyp", kind), named(b"moov", inside), named(b"mdat", b"pictures that move")].concat()
    };
    let still = {
        let info = named(b"infe", b"\x02\0\0\0\0\x01\0\0Exif\0");
        let infos = named(b"iinf", &[b"\0\0\0\0\0\x01".to_vec(), info].concat());
        let meta = |at: u32| {
            let at =
                [&b"\0\0\0\0\x44\0\0\x01\0\x01\0\0\0\x01"[..], &at.to_be_bytes(), &(tiff.len() as u32).to_be_bytes()];
            let handler = named(b"hdlr", b"\0\0\0\0\0\0\0\0pict");
            let parts = [b"\0\0\0\0".to_vec(), handler, infos.clone(), named(b"iloc", &at.concat())];
            [named(b"ftyp", b"avif\0\0\0\0avifmif1"), named(b"meta", &parts.concat())].concat()
        };
        [meta(meta(0).len() as u32 + 8), named(b"mdat", tiff)].concat()
    };
    for (name, bytes) in [
        ("a.mp4", film(b"isom\0\0\0\0isommp42", &named(b"udta", &named(b"\xa9xyz", place)))),
        ("a.mov", film(b"qt  \0\0\0\0qt  ", &named(b"udta", &named(b"loci", place)))),
        ("a.avif", still),
    ] {
        let holds = |bytes: &[u8]| bytes.windows(8).any(|part| part == b"+59.9133");
        assert!(holds(&bytes), "{name}");
        let size = bytes.len();
        let made = upload(&server, name, "application/octet-stream", bytes);
        assert_eq!(made.status, 201, "{name}: {}", made.text);
        let served = fetch(&server, &made.body["source_url"], &[]);
        assert!(served.status == 200 && served.bytes.len() == size && !holds(&served.bytes), "{name}");
    }
    let tracked = film(b"isom\0\0\0\0isommp42", &named(b"gps ", b"12345678"));
    let refused = upload(&server, "b.mp4", "video/mp4", tracked);
    assert_eq!((refused.status, refused.code()), (415, "rest_upload_unsupported_type"), "{}", refused.text);
    assert!(refused.text.contains("track of places"), "{}", refused.text);
}

#[test]
fn files_are_served_so_that_nothing_in_them_runs() {
    let folder = tempfile::TempDir::new().expect("a folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let on = "[media.types.\"image/svg+xml\"]\nenabled = true\n";
    std::fs::write(folder.path().join("site.toml"), on).expect("a file");
    let server = Server::over(folder, &[]);
    let script = b"<html><script>alert(document.domain)</script>".to_vec();
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>".to_vec();
    for (name, bytes, sandbox) in [
        ("a.txt", script, true),
        ("a.svg", svg, true),
        ("a.png", png(4, 4), false),
        ("a.csv", b"=cmd()".to_vec(), false),
    ] {
        let made = upload(&server, name, "application/octet-stream", bytes);
        assert_eq!(made.status, 201, "{name}: {}", made.text);
        let tag = fetch(&server, &made.body["source_url"], &[]).header("etag").expect("a tag").to_owned();
        // Whole, in part, beyond the end, and unchanged.
        for headers in
            [vec![], vec![("range", "bytes=0-1")], vec![("range", "bytes=9999-")], vec![("if-none-match", &*tag)]]
        {
            let served = fetch(&server, &made.body["source_url"], &headers);
            assert_eq!(served.header("x-content-type-options"), Some("nosniff"), "{name} {headers:?}");
            let policy = served.header("content-security-policy").unwrap_or_default();
            assert_eq!(
                policy.contains("sandbox") && policy.contains("default-src 'none'"),
                sandbox,
                "{name} {headers:?}"
            );
            assert!(!served.header("content-type").unwrap_or_default().contains("html"), "{name}");
        }
    }
    for outside in
        ["..%2ftest.db", "%2e%2e/test.db", "..%5ctest.db", "%2fetc/passwd", "a%00.png", ".incoming/", "a%23.png"]
    {
        let answer = server.send("GET", &format!("{}/files/{outside}", server.site), None, None, &[]);
        assert!(matches!(answer.status, 400 | 404), "{outside}: {}", answer.status);
    }
}
