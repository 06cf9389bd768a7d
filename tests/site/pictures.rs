//! Pictures as WordPress 7.1 takes them: described for clients that make copies, without copies or converted, fetched
//! from an address, and completed by copies that clients made.

use super::media::{encoded, halves, multipart, png, route, sideways, stored, upload};
use super::server::{Answer, Server};
use image::ImageFormat;
use serde_json::{Value, json};

const LOCALHOST: (&str, &str) = ("host", "localhost");

/// Uploads a body under a name with further parameters.
fn upload_as(server: &Server, name: &str, query: &str, bytes: Vec<u8>) -> Answer {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [("content-disposition", disposition.as_str())];
    server.send("POST", &route(server, query), Some(&server.admin), Some(("image/png", bytes)), &headers)
}

/// Adds a file to a record, in a secure context.
fn add(server: &Server, id: &Value, size: &str, name: &str, bytes: Vec<u8>) -> Answer {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [("content-disposition", disposition.as_str()), LOCALHOST];
    let url = route(server, &format!("/{id}/sideload?image_size{size}"));
    server.send("POST", &url, Some(&server.admin), Some(("image/png", bytes)), &headers)
}

fn finish(server: &Server, id: &Value, sizes: &Value) -> Answer {
    let body = json!({"sub_sizes": sizes}).to_string().into_bytes();
    let url = route(server, &format!("/{id}/finalize"));
    server.send("POST", &url, Some(&server.admin), Some(("application/json", body)), &[LOCALHOST])
}

/// A JPEG with an alternative text for each language.
fn described(texts: &[(&str, &str)]) -> Vec<u8> {
    let list: String = texts.iter().map(|(l, t)| format!("<rdf:li xml:lang=\"{l}\">{t}</rdf:li>")).collect();
    let xmp = format!(
        "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description>\
         <Iptc4xmpCore:AltTextAccessibility><rdf:Alt>{list}</rdf:Alt></Iptc4xmpCore:AltTextAccessibility>\
         </rdf:Description></rdf:RDF></x:xmpmeta>"
    );
    let jpeg = encoded(&halves(12, 10), ImageFormat::Jpeg);
    let length = (xmp.len() as u16 + 2).to_be_bytes();
    [&jpeg[..2], &[0xff, 0xe1], &length, xmp.as_bytes(), &jpeg[2..]].concat()
}

#[test]
fn pictures_are_described_for_clients_that_make_copies() {
    let server = Server::with(&["site.prefix=wp", "media.sizes.medium.quality=60"]);
    let bytes = png(40, 30);
    let made = upload(&server, "Tall oak.png", "image/png", bytes.clone());
    let expected = json!({
        "filename": "Tall-oak.png", "filesize": bytes.len(), "exif_orientation": 1, "image_output_format": null,
        "image_save_progressive": false, "image_quality": {"default": 82, "sizes": {"medium": 60}},
    });
    for (name, value) in expected.as_object().expect("fields") {
        assert_eq!(&made.body[name], value, "{name}");
    }
    let viewed = server.get(&format!("/wp/v2/media/{}", made.body["id"])).body;
    assert_eq!((&viewed["filename"], &viewed["exif_orientation"]), (&json!("Tall-oak.png"), &Value::Null));
    let text = upload(&server, "a.txt", "text/plain", b"words".to_vec()).body;
    assert_eq!((&text["filename"], &text["filesize"]), (&json!("a.txt"), &json!(5)));
    assert!(text.get("image_quality").is_none() && text.get("exif_orientation").is_none());
    let pdf = upload(&server, "a.pdf", "application/pdf", b"%PDF-1.4 a page".to_vec()).body;
    assert_eq!(pdf["missing_image_sizes"], json!(["thumbnail", "medium", "large"]));

    // The other prefix has no clients that make copies.
    let server = Server::start();
    let made = upload(&server, "a.png", "image/png", png(40, 30)).body;
    assert_eq!((&made["filename"], made.get("image_quality")), (&json!("a.png"), None));
}

#[test]
fn a_picture_may_stay_as_it_is() {
    let server = Server::with(&["site.prefix=wp"]);
    let left = upload_as(&server, "side.jpg", "?generate_sub_sizes=false", sideways(400, 320));
    let details = &left.body["media_details"];
    assert_eq!((&details["width"], &details["height"], &details["sizes"]), (&json!(400), &json!(320), &json!({})));
    assert_eq!(
        (&left.body["exif_orientation"], &left.body["missing_image_sizes"]),
        (&json!(6), &json!(["thumbnail", "medium"]))
    );
    // Its place of origin is gone, how it has to be turned is not: an edit begins with the picture upright.
    let kept = server.send("GET", left.body["source_url"].as_str().expect("an address"), None, None, &[]);
    assert!(kept.bytes != sideways(400, 320));
    let edit = json!({"src": left.body["source_url"], "modifiers": [{"type": "rotate", "args": {"angle": 90}}]});
    let edited = server.admin("POST", &format!("/wp/v2/media/{}/edit", left.body["id"]), Some(&edit));
    let details = &edited.body["media_details"];
    assert_eq!((edited.status, &details["width"], &details["height"]), (201, &json!(400), &json!(320)));
    let edited = server.admin("GET", &format!("/wp/v2/media/{}?context=edit", edited.body["id"]), None);
    assert_eq!(edited.body["exif_orientation"], 1);
}

#[test]
fn copies_are_of_the_type_that_is_declared() {
    let server = Server::with(&["site.prefix=wp", "media.types.\"image/png\".converted_to=\"image/webp\""]);
    let made = upload(&server, "oak.png", "image/png", png(400, 320)).body;
    assert_eq!((&made["mime_type"], &made["filename"]), (&json!("image/webp"), &json!("oak.png")));
    assert!(made["source_url"].as_str().is_some_and(|url| url.ends_with("/oak.webp")), "{}", made["source_url"]);
    let medium = &made["media_details"]["sizes"]["medium"];
    assert_eq!((&medium["mime_type"], &medium["file"]), (&json!("image/webp"), &json!("oak-300x240.webp")));
    let kept = upload_as(&server, "elm.png", "?convert_format=false", png(400, 320)).body;
    assert_eq!((&kept["mime_type"], &kept["image_output_format"]), (&json!("image/png"), &json!("image/webp")));
    assert_eq!(kept["image_quality"]["default"], 86);
}

#[test]
fn alternative_texts_come_from_the_picture() {
    let server = Server::with(&["site.prefix=wp"]);
    let check = |texts: &[(&str, &str)], query: &str, expected: (&str, &str)| {
        let made = upload_as(&server, "a.jpg", query, described(texts));
        let found = (&made.body["alt_text"], &made.body["media_details"]["image_meta"]["alt"]);
        assert_eq!(found, (&json!(expected.0), &json!(expected.1)), "{texts:?} {query}: {}", made.text);
    };
    check(&[("x-default", "Any"), ("en", "An oak")], "", ("An oak", "An oak"));
    check(&[("en", "An oak")], "?alt_text=Mine", ("Mine", "An oak"));
    check(&[("fr", "Un chêne")], "", ("", ""));
    check(&[("en", "a &lt;b&gt;bold&lt;/b&gt; oak")], "", ("a bold oak", "a &lt;b&gt;bold&lt;/b&gt; oak"));
}

#[test]
fn a_form_names_its_file_for_people() {
    let server = Server::start();
    let picture = png(10, 8);
    let form = multipart(&[], Some(("file", "My Oak (1).v2.png", &picture)));
    let made = server.send("POST", &route(&server, ""), Some(&server.admin), Some(form), &[]);
    assert_eq!(
        (&made.body["title"]["raw"], &made.body["filename"]),
        (&json!("My Oak (1).v2"), &json!("My-Oak-1.v2.png"))
    );
}

#[test]
fn pictures_are_fetched_from_addresses() {
    let elsewhere = Server::start();
    let theirs = upload(&elsewhere, "their.png", "image/png", png(40, 30)).body;
    let port = elsewhere.site.rsplit_once(':').expect("a port").1.to_owned();
    let sets = ["outbound.networks=[\"127.0.0.1\"]".to_owned(), format!("outbound.ports=[{port}]")];
    let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let fetch = |server: &Server, url: &str| {
        let body = json!({"url": url, "title": "Given", "alt_text": "An oak"});
        server.admin("POST", &format!("/{}/v2/media", server.prefix), Some(&body))
    };
    let theirs = theirs["source_url"].as_str().expect("an address");
    let server = Server::with(&sets);
    let off = fetch(&server, theirs);
    assert_eq!((off.status, off.code()), (400, "rest_invalid_url"), "{}", off.text);
    sets.push("outbound.uploads=true");
    sets.push("media.max_upload=\"20KiB\"");
    let server = Server::with(&sets);
    let made = fetch(&server, theirs);
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!((&made.body["title"]["raw"], &made.body["alt_text"]), (&json!("Given"), &json!("An oak")));
    assert_eq!((&made.body["filename"], &made.body["media_details"]["width"]), (&json!("their.png"), &json!(40)));
    // A file of this site needs no request.
    let own = fetch(&server, made.body["source_url"].as_str().expect("an address"));
    assert_eq!((own.status, &own.body["filename"]), (201, &json!("their-1.png")), "{}", own.text);

    let large = upload(&elsewhere, "large.bmp.png", "image/png", noise(120, 120)).body;
    let large = large["source_url"].as_str().expect("an address");
    for (url, status, code) in [
        (large.to_owned(), 400, "rest_upload_file_too_big"),
        (format!("{}/none.png", elsewhere.site), 500, "http_404"),
        (format!("{}/none.png", server.site), 500, "http_404"),
        (format!("{}/none.txt", server.site), 400, "rest_invalid_url"),
        (format!("{}/", server.site), 400, "rest_invalid_url"),
        ("http://10.0.0.1/a.png".to_owned(), 400, "rest_invalid_param"),
        ("http://127.0.0.2/a.png".to_owned(), 400, "rest_invalid_param"),
        ("ftp://example.org/a.png".to_owned(), 400, "rest_invalid_param"),
        ("none".to_owned(), 400, "rest_invalid_param"),
    ] {
        let answer = fetch(&server, &url);
        assert_eq!((answer.status, answer.code()), (status, code), "{url}: {}", answer.text);
    }
    let refused = server.ask("POST", "/cms/v2/media", None, Some(&json!({"url": "http://10.0.0.1/a.png"})));
    assert_eq!(refused.body["data"]["details"]["url"]["code"], "rest_invalid_url", "{}", refused.text);
    let stranger = server.ask("POST", "/cms/v2/media", None, Some(&json!({"url": theirs})));
    assert_eq!((stranger.status, stranger.code()), (401, "rest_cannot_create"));
}

/// A picture that cannot be compressed.
fn noise(width: u32, height: u32) -> Vec<u8> {
    let mut state = 1u32;
    let picture = image::RgbImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [a, b, c, _] = state.rotate_left(7).to_le_bytes();
        image::Rgb([a, b, c])
    });
    encoded(&image::DynamicImage::ImageRgb8(picture), ImageFormat::Png)
}

#[test]
fn clients_add_the_copies_that_they_make() {
    let server = Server::with(&["site.prefix=wp"]);
    let made = upload_as(&server, "oak.png", "?generate_sub_sizes=false", png(400, 320)).body;
    let id = &made["id"];
    let medium = add(&server, id, "=medium", "oak-300x240.png", png(300, 240));
    assert_eq!(medium.status, 200, "{}", medium.text);
    let bytes = png(300, 240).len();
    let expected = json!({
        "image_size": "medium", "width": 300, "height": 240, "file": "oak-300x240.png", "mime_type": "image/png",
        "filesize": bytes,
    });
    assert_eq!(medium.body, expected);
    let both = add(&server, id, "[]=thumbnail&image_size[]=medium", "both.png", png(150, 120));
    assert_eq!((&both.body["image_size"], &both.body["file"]), (&json!(["thumbnail", "medium"]), &json!("both.png")));
    let scaled = add(&server, id, "=scaled", "oak-scaled.png", png(200, 160));
    assert_eq!(scaled.body["original_image"], "oak.png");
    let before = server.admin("GET", &format!("/wp/v2/media/{id}?context=edit"), None).body;
    assert_eq!((&before["media_details"]["width"], &before["media_details"]["sizes"]), (&json!(400), &json!({})));

    for (name, told) in [("other.png", "rest_invalid_sub_size_file"), ("../test.db", "rest_invalid_sub_size_file")] {
        let refused = finish(&server, id, &json!([{"image_size": "thumbnail", "file": name}]));
        assert_eq!((refused.status, refused.code()), (400, told), "{name}: {}", refused.text);
    }
    let sizes = json!([medium.body, scaled.body, {"image_size": ["thumbnail"], "file": both.body["file"], "width": 150, "height": 120}]);
    for _ in 0..2 {
        let done = finish(&server, id, &sizes);
        assert_eq!(done.status, 200, "{}", done.text);
        let details = &done.body["media_details"];
        assert_eq!((&details["width"], &details["original_image"]), (&json!(200), &json!("oak.png")));
        assert_eq!((&details["sizes"]["medium"]["width"], &done.body["filename"]), (&json!(300), &json!("oak.png")));
        assert_eq!(details["sizes"]["thumbnail"]["file"], "both.png");
        assert!(done.body["source_url"].as_str().is_some_and(|url| url.ends_with("/oak-scaled.png")));
        assert_eq!(done.body["missing_image_sizes"], json!([]));
    }
    assert_eq!(stored(&server).len(), 4);
    let gone = server.admin("DELETE", &format!("/wp/v2/media/{id}?force=true"), None);
    assert_eq!((gone.status, stored(&server)), (200, Vec::new()), "what was added goes along");
}

#[test]
fn copies_that_do_not_fit_are_refused() {
    let server = Server::with(&["site.prefix=wp"]);
    let id = upload_as(&server, "oak.png", "?generate_sub_sizes=false", png(400, 320)).body["id"].clone();
    let text = upload(&server, "a.txt", "text/plain", b"words".to_vec()).body["id"].clone();
    let check = |id: &Value, size: &str, bytes: Vec<u8>, status: u16, code: &str| {
        let answer = add(&server, id, size, "a.png", bytes);
        assert_eq!((answer.status, answer.code()), (status, code), "{size}: {}", answer.text);
    };
    check(&id, "=thumbnail", png(200, 200), 400, "rest_upload_dimension_mismatch");
    check(&id, "=original", png(40, 32), 400, "rest_upload_dimension_mismatch");
    check(&id, "=original", png(320, 400), 200, "");
    check(&id, "=poster", png(10, 10), 400, "rest_invalid_param");
    check(&id, "[]=thumbnail&image_size[]=scaled", png(10, 10), 400, "rest_invalid_param");
    check(&id, "[]=thumbnail&image_size[]=full", png(10, 10), 200, "");
    check(&id, "=", png(10, 10), 400, "rest_invalid_param");
    check(&id, "=thumbnail", b"words only".to_vec(), 500, "rest_upload_sideload_error");
    check(&id, "=thumbnail", b"\x89PNG\r\n\x1a\nno chunk".to_vec(), 400, "rest_upload_invalid_image");
    check(&text, "=thumbnail", png(10, 10), 400, "rest_post_invalid_id");
    check(&json!(999_999), "=thumbnail", png(10, 10), 404, "rest_post_invalid_id");
    assert_eq!(stored(&server).len(), 4);
}

#[test]
fn adding_copies_needs_a_secure_context() {
    let server = Server::with(&["site.prefix=wp"]);
    let id = upload(&server, "oak.png", "image/png", png(40, 32)).body["id"].clone();
    let path = format!("/wp/v2/media/{id}/finalize");
    let plain = server.admin("POST", &path, Some(&json!({})));
    assert_eq!((plain.status, plain.code()), (404, "rest_no_route"));
    let root = |headers: &[(&str, &str)]| {
        server.send("GET", &format!("{}/", server.rest), Some(&server.admin), None, headers).body
    };
    let pattern = r"/wp/v2/media/(?P<id>[\d]+)/finalize";
    for (headers, there) in [(&[][..], false), (&[LOCALHOST][..], true), (&[("host", "app.localhost:80")][..], true)] {
        let root = root(headers);
        assert_eq!(root["routes"].get(pattern).is_some(), there, "{headers:?}");
        let told = there.then(|| json!({"width": 150, "height": 150, "crop": true}));
        assert_eq!(root["image_sizes"].get("thumbnail"), told.as_ref(), "{headers:?}");
    }
    let stranger = server.send("GET", &format!("{}/", server.rest), None, None, &[LOCALHOST]).body;
    assert!(stranger.get("image_sizes").is_none());

    let everywhere = server.restart_with(&["site.prefix=wp", "site.secure_context=always"]);
    let done = everywhere.admin("POST", &path, Some(&json!({})));
    assert_eq!(done.status, 200, "{}", done.text);
    let author = everywhere.user("writer", "author");
    let refused = everywhere.ask("POST", &path, Some(&author), Some(&json!({})));
    assert_eq!((refused.status, refused.code()), (403, "rest_cannot_edit"));
}

#[test]
fn a_file_links_to_the_record_that_it_belongs_to() {
    let server = Server::with(&["site.prefix=wp"]);
    let page = server.admin("POST", "/wp/v2/pages", Some(&json!({"title": "Album", "status": "publish"}))).body;
    let made = upload_as(&server, "oak.png", &format!("?post={}", page["id"]), png(10, 8)).body;
    let link = &made["_links"]["wp:attached-to"][0];
    let href = format!("{}/wp/v2/pages/{}", server.rest, page["id"]);
    assert_eq!(*link, json!({"post_type": "page", "id": page["id"], "embeddable": true, "href": href}));
    let shown = server.get(&format!("/wp/v2/media/{}?_embed", made["id"])).body;
    assert_eq!(shown["_embedded"]["wp:attached-to"][0]["title"]["rendered"], "Album");
    let alone = upload(&server, "elm.png", "image/png", png(10, 8)).body;
    assert!(alone["_links"].get("wp:attached-to").is_none());
}

/// A still made of boxes, of a brand and a size, without pixels.
fn boxed(brand: &[u8; 4], width: u32, height: u32) -> Vec<u8> {
    let made = |name: &[u8; 4], inside: &[u8]| {
        let length = u32::try_from(inside.len() + 8).expect("short");
        [&length.to_be_bytes()[..], name, inside].concat()
    };
    let size = made(b"ispe", &[&[0; 4][..], &width.to_be_bytes(), &height.to_be_bytes()].concat());
    let properties = made(b"iprp", &made(b"ipco", &size));
    let meta = made(b"meta", &[&[0; 4][..], &made(b"hdlr", &[0; 24]), &properties].concat());
    [made(b"ftyp", &[brand, &[0; 4][..], b"mif1", brand].concat()), meta].concat()
}

#[test]
fn pictures_that_are_not_decoded_have_a_size_and_copies_of_clients() {
    let server = Server::with(&["site.prefix=wp"]);
    let made = upload_as(&server, "a.avif", "", boxed(b"avif", 400, 300));
    assert_eq!(made.status, 201, "{}", made.text);
    let (id, details) = (&made.body["id"], &made.body["media_details"]);
    assert_eq!((&details["width"], &details["height"]), (&json!(400), &json!(300)));
    assert_eq!((&made.body["mime_type"], &made.body["media_type"]), (&json!("image/avif"), &json!("image")));
    let copy = add(&server, id, "=medium", "a-300x225.avif", boxed(b"avif", 300, 225));
    assert_eq!(copy.status, 200, "{}", copy.text);
    assert_eq!((&copy.body["width"], &copy.body["mime_type"]), (&json!(300), &json!("image/avif")));
    let large = add(&server, id, "=medium", "a-900x225.avif", boxed(b"avif", 900, 225));
    assert_eq!((large.status, large.code()), (400, "rest_upload_dimension_mismatch"));
    let empty = add(&server, id, "=medium", "b.avif", boxed(b"avif", 0, 225));
    assert_eq!((empty.status, empty.code()), (400, "rest_upload_invalid_dimensions"));
    let sizes = json!([copy.body]);
    let done = finish(&server, id, &sizes);
    assert_eq!(done.body["media_details"]["sizes"]["medium"]["width"], 300, "{}", done.text);
    let still = upload_as(&server, "b.heic", "", boxed(b"heic", 640, 480));
    assert_eq!(still.status, 201, "{}", still.text);
    assert_eq!((&still.body["mime_type"], &still.body["media_details"]["height"]), (&json!("image/heic"), &json!(480)));
    let film = upload_as(&server, "c.heic", "", boxed(b"hevc", 640, 480));
    assert_eq!(film.status, 500, "{}", film.text);
}

#[test]
fn pictures_of_a_documents_pages_are_added_and_named_without_folders() {
    let server = Server::with(&["site.prefix=wp"]);
    let pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj trailer<</Root 1 0 R>>\n%%EOF".to_vec();
    let made = upload(&server, "doc.pdf", "application/pdf", pdf).body;
    assert_eq!(made["missing_image_sizes"], json!(["thumbnail", "medium", "large"]));
    let id = &made["id"];
    let full = add(&server, id, "=full", "doc-pdf.png", png(600, 300));
    let small = add(&server, id, "=thumbnail", "sub/dir/doc-pdf.png", png(150, 75));
    assert_eq!((full.status, &full.body["file"], &full.body["width"]), (200, &json!("doc-pdf.png"), &json!(600)));
    assert_eq!((small.status, &small.body["file"]), (200, &json!("subdirdoc-pdf.png")), "{}", small.text);
    let folder = made["source_url"].as_str().and_then(|url| url.split("/uploads/").nth(1)).expect("a place");
    let folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
    for name in [&format!("{folder}/doc-pdf.png"), "/doc-pdf.png", "./doc-pdf.png", "x/doc-pdf.png", "DOC-PDF.png"] {
        let refused = finish(&server, id, &json!([{"image_size": "full", "file": name}]));
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_sub_size_file"), "{name}");
    }
    let bare = json!({"image_size": "thumbnail", "file": small.body["file"]});
    let done = finish(&server, id, &json!([full.body, bare]));
    let sizes = &done.body["media_details"]["sizes"];
    assert_eq!((&sizes["full"]["width"], &sizes["full"]["file"]), (&json!(600), &json!("doc-pdf.png")));
    assert_eq!(sizes["full"].get("filesize"), None);
    assert_eq!(sizes["full"]["mime_type"], "application/pdf", "the type of the document, as of every whole file");
    assert_eq!((&sizes["thumbnail"]["width"], &sizes["thumbnail"]["mime_type"]), (&json!(0), &json!("")));
    assert_eq!(done.body["missing_image_sizes"], json!(["medium", "large"]));
    assert_eq!((&done.body["mime_type"], &done.body["source_url"]), (&made["mime_type"], &made["source_url"]));
    let original = add(&server, id, "=original", "page.png", png(600, 300));
    assert_eq!((original.status, &original.body["original_image"]), (200, &json!("doc.pdf")), "{}", original.text);
}
