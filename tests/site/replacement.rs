//! Files that are replaced under their addresses, and folders of files.

use super::media::{fetch, png, route, stored, upload};
use super::server::{Answer, Server};
use serde_json::{Value, json};

type User<'u> = Option<&'u (String, String)>;

fn replace(
    server: &Server,
    id: &Value,
    user: User<'_>,
    (name, bytes): (&str, Vec<u8>),
    headers: &[(&str, &str)],
) -> Answer {
    let disposition = format!("attachment; filename=\"{name}\"");
    let all: Vec<(&str, &str)> =
        [("content-disposition", disposition.as_str())].into_iter().chain(headers.to_vec()).collect();
    let url = route(server, &format!("/{id}/replace"));
    server.send("POST", &url, user, Some(("application/octet-stream", bytes)), &all)
}

fn side(server: &Server, address: &Value) -> (u32, u32) {
    let picture = image::load_from_memory(&fetch(server, address, &[]).bytes).expect("a picture");
    (picture.width(), picture.height())
}

#[test]
fn a_new_file_has_the_addresses_of_the_old_one() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let old = upload(&server, "tree.png", "image/png", png(400, 320)).body;
        let id = &old["id"];
        let item = format!("/{prefix}/v2/media/{id}");
        let texts = json!({"alt_text": "A tree", "title": "The tree"});
        assert_eq!(server.admin("POST", &item, Some(&texts)).status, 200);
        let list = format!("/{prefix}/v2/media?include={id}");
        let listed = || server.get(&list).body[0]["media_details"]["width"].clone();
        assert_eq!(listed(), json!(400));
        let (before, tag) =
            (stored(&server), fetch(&server, &old["source_url"], &[]).header("etag").map(str::to_owned));

        let bytes = png(250, 500);
        let new = replace(&server, id, Some(&server.admin), ("oak.png", bytes.clone()), &[]);
        assert_eq!(new.status, 200, "{}", new.text);
        for name in ["id", "source_url", "slug", "guid", "link", "alt_text", "date", "mime_type"] {
            let kept = if name == "alt_text" { &texts[name] } else { &old[name] };
            assert_eq!(&new.body[name], kept, "{name}");
        }
        assert_eq!(new.body["title"]["raw"], "The tree");
        let served = fetch(&server, &old["source_url"], &[]);
        assert!(served.bytes == bytes && served.header("etag").map(str::to_owned) != tag);
        assert_eq!(fetch(&server, &old["source_url"], &[("if-none-match", &tag.expect("a tag"))]).status, 200);
        let (sizes, now) = (&old["media_details"]["sizes"], &new.body["media_details"]);
        assert_eq!((&now["width"], &now["height"], &now["filesize"]), (&json!(250), &json!(500), &json!(bytes.len())));
        for (name, size) in sizes.as_object().expect("sizes") {
            let again = &now["sizes"][name];
            assert_eq!(again["source_url"], size["source_url"], "{name}");
            assert_eq!(json!(side(&server, &size["source_url"])), json!([again["width"], again["height"]]), "{name}");
        }
        assert_eq!(side(&server, &sizes["medium"]["source_url"]), (150, 300));
        assert_eq!(stored(&server), before, "no file is left over, none is missing");
        assert_eq!(listed(), json!(250), "lists show the new file");

        // Sizes that the new picture is too small for show the picture itself.
        let small = replace(&server, id, Some(&server.admin), ("oak.png", png(90, 80)), &[]);
        assert_eq!(small.status, 200, "{}", small.text);
        assert_eq!(
            (side(&server, &sizes["medium"]["source_url"]), side(&server, &old["source_url"])),
            ((90, 80), (90, 80))
        );
        // Sizes that the old one had not get addresses of their own, and go with the record.
        let large = replace(&server, id, Some(&server.admin), ("oak.png", png(1100, 300)), &[]);
        let own = &large.body["media_details"]["sizes"]["large"]["source_url"];
        assert_eq!((large.status, side(&server, own)), (200, (1024, 279)), "{}", large.text);
        assert_eq!(side(&server, &sizes["thumbnail"]["source_url"]), (150, 150));
        assert_eq!(server.admin("DELETE", &format!("{item}?force=true"), None).status, 200);
        assert_eq!(stored(&server), Vec::<String>::new());
    }
}

#[test]
fn pictures_that_are_shown_smaller_keep_both_addresses() {
    let server = Server::with(&["media.max_side=300"]);
    let old = upload(&server, "tree.png", "image/png", png(400, 320)).body;
    assert!(old["source_url"].as_str().is_some_and(|url| url.ends_with("/tree-scaled.png")), "{old}");
    let original = json!(old["source_url"].as_str().expect("an address").replace("-scaled", ""));
    let new = replace(&server, &old["id"], Some(&server.admin), ("a.png", png(800, 200)), &[]);
    assert_eq!(new.status, 200, "{}", new.text);
    assert_eq!((side(&server, &old["source_url"]), side(&server, &original)), ((300, 75), (800, 200)));
    let small = replace(&server, &old["id"], Some(&server.admin), ("a.png", png(80, 20)), &[]);
    assert_eq!(small.body["source_url"], old["source_url"]);
    assert_eq!((side(&server, &old["source_url"]), side(&server, &original)), ((80, 20), (80, 20)));
    // One that was shown as it was gets a smaller copy under its address; the upload is stored beside it.
    let plain = upload(&server, "leaf.png", "image/png", png(200, 100)).body;
    let wide = replace(&server, &plain["id"], Some(&server.admin), ("b.png", png(900, 90)), &[]);
    assert_eq!((&wide.body["source_url"], side(&server, &plain["source_url"])), (&plain["source_url"], (300, 30)));
    for id in [&old["id"], &plain["id"]] {
        server.admin("DELETE", &format!("/cms/v2/media/{id}?force=true"), None);
    }
    assert_eq!(stored(&server), Vec::<String>::new());
}

#[test]
fn what_is_refused_leaves_the_file_as_it_is() {
    let server = Server::start();
    let bytes = png(400, 320);
    let old = upload(&server, "tree.png", "image/png", bytes.clone());
    let id = &old.body["id"];
    let author = server.user("writer", "author");
    let subscriber = server.user("reader", "subscriber");
    let before = stored(&server);
    let jpeg = || super::media::encoded(&super::media::halves(40, 30), image::ImageFormat::Jpeg);
    let stale = [("if-match", "\"nothing\"")];
    /// Who sends which file with which headers, and how that is refused.
    type Case<'a> = (User<'a>, &'a str, Vec<u8>, &'a [(&'a str, &'a str)], (u16, &'a str));
    let rows: Vec<Case<'_>> = vec![
        (Some(&server.admin), "a.jpg", jpeg(), &[], (415, "rest_upload_other_type")),
        (Some(&server.admin), "a.pdf", b"%PDF-1.4 a page".to_vec(), &[], (415, "rest_upload_other_type")),
        (Some(&server.admin), "a.exe", b"MZ".to_vec(), &[], (415, "rest_upload_unsupported_type")),
        (Some(&server.admin), "a.png", jpeg(), &[], (415, "rest_upload_other_type")),
        (Some(&server.admin), "a.png", bytes[..200].to_vec(), &[], (415, "rest_upload_unsupported_type")),
        (Some(&server.admin), "a.png", png(50, 50), &stale, (412, "rest_precondition_failed")),
        (Some(&server.admin), "a.png", png(50, 50), &[("content-md5", "0123")], (412, "rest_upload_hash_mismatch")),
        (Some(&author), "a.png", png(50, 50), &[], (403, "rest_cannot_edit")),
        (Some(&subscriber), "a.png", png(50, 50), &[], (403, "rest_cannot_edit_image")),
        (None, "a.png", png(50, 50), &[], (401, "rest_cannot_edit_image")),
    ];
    for (user, name, sent, headers, expected) in rows {
        let answer = replace(&server, id, user, (name, sent), headers);
        assert_eq!((answer.status, answer.code()), expected, "{name} {headers:?}: {}", answer.text);
    }
    let empty = server.admin("POST", &format!("/cms/v2/media/{id}/replace"), None);
    assert_eq!((empty.status, empty.code()), (400, "rest_upload_no_data"));
    assert_eq!(
        replace(&server, &json!(999_999), Some(&server.admin), ("a.png", png(5, 5)), &[]).code(),
        "rest_post_invalid_id"
    );
    assert_eq!(stored(&server), before);
    assert!(fetch(&server, &old.body["source_url"], &[]).bytes == bytes);
    assert_eq!(
        server.admin("GET", &format!("/cms/v2/media/{id}"), None).body["media_details"],
        old.body["media_details"]
    );
}

#[test]
fn documents_are_replaced_and_the_trail_tells_it() {
    let server = Server::start();
    let old = upload(&server, "plan.pdf", "application/pdf", b"%PDF-1.4 first".to_vec()).body;
    let new = replace(&server, &old["id"], Some(&server.admin), ("plan v2.pdf", b"%PDF-1.4 second".to_vec()), &[]);
    assert_eq!((new.status, &new.body["source_url"]), (200, &old["source_url"]), "{}", new.text);
    assert_eq!(fetch(&server, &old["source_url"], &[]).bytes, b"%PDF-1.4 second");
    assert_eq!(stored(&server).len(), 1);
    let trail = server.admin("GET", "/server/v1/audit", None).body;
    let entry = trail.as_array().expect("a list").iter().find(|entry| entry["event"] == "file_replaced");
    let path = format!("/cms/v2/media/{}/replace", old["id"]);
    assert_eq!(entry.expect("an entry")["path"], path);
}

#[test]
fn files_are_filed_in_folders() {
    let server = Server::start();
    let author = server.user("writer", "author");
    let subscriber = server.user("reader", "subscriber");
    let folder = |user: User<'_>, body: Value| server.ask("POST", "/cms/v2/media_folders", user, Some(&body));
    let harbour = folder(Some(&author), json!({"name": "Harbour"}));
    assert_eq!(harbour.status, 201, "{}", harbour.text);
    let harbour = &harbour.body["id"];
    let quay = folder(Some(&server.admin), json!({"name": "Quay", "parent": harbour})).body["id"].clone();
    assert_eq!(folder(Some(&subscriber), json!({"name": "Mine"})).status, 403);
    let file = |name: &str| upload(&server, name, "image/png", png(20, 10)).body["id"].clone();
    let (one, two, three) = (file("one.png"), file("two.png"), file("three.png"));
    let update = |id: &Value, folders: Value| {
        server.admin("POST", &format!("/cms/v2/media/{id}"), Some(&json!({"media_folders": folders})))
    };
    assert_eq!(update(&one, json!([harbour])).body["media_folders"], json!([harbour]));
    assert_eq!(update(&two, json!([&quay])).status, 200);
    let found = |query: &str| {
        let body = server.get(&format!("/cms/v2/media?_fields=id&orderby=id&order=asc&{query}")).body;
        body.as_array().expect("a list").iter().map(|item| item["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(found(&format!("media_folders={harbour}")), std::slice::from_ref(&one));
    let below = format!("media_folders[terms]={harbour}&media_folders[include_children]=true");
    assert_eq!(found(&below), [one.clone(), two]);
    assert!(found(&format!("media_folders_exclude={harbour},{quay}")).contains(&three));
    assert_eq!(server.get(&format!("/cms/v2/media_folders/{harbour}")).body["count"], 1);
    let foreign = json!({"media_folders": [harbour]});
    assert_eq!(server.ask("POST", &format!("/cms/v2/media/{three}"), Some(&author), Some(&foreign)).status, 403);
    assert_eq!(server.admin("DELETE", &format!("/cms/v2/media_folders/{harbour}?force=true"), None).status, 200);
    assert_eq!(server.get(&format!("/cms/v2/media/{one}")).body["media_folders"], json!([]));
}

#[test]
fn folders_are_no_part_of_the_wordpress_contract() {
    let server = Server::with(&["site.prefix=wp"]);
    let file = upload(&server, "one.png", "image/png", png(20, 10)).body;
    assert!(file.get("media_folders").is_none(), "{file}");
    assert_eq!(server.get("/wp/v2/media_folders").status, 404);
    assert_eq!(server.admin("GET", "/wp/v2/taxonomies/media_folder", None).status, 404);
    let routes = server.get("/").body["routes"].clone();
    assert!(
        routes.as_object().expect("routes").keys().all(|route| !route.contains("replace") && !route.contains("folder"))
    );
}
