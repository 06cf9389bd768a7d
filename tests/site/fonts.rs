//! Families of fonts and their faces: settings as JSON in a text, files beside them, what is refused, and what goes along
//! with a family.

use super::media::{multipart, stored};
use super::server::{Answer, Server};
use serde_json::{Value, json};

const WOFF2: &[u8] = b"wOF2\x00\x01\x00\x00a font that is short";

fn family(server: &Server, settings: &Value) -> Answer {
    let body = json!({"font_family_settings": settings.to_string()});
    server.admin("POST", "/wp/v2/font-families", Some(&body))
}

fn face(server: &Server, family: &Value, settings: &Value) -> Answer {
    let body = json!({"font_face_settings": settings.to_string()});
    server.admin("POST", &format!("/wp/v2/font-families/{family}/font-faces"), Some(&body))
}

/// Creates a face in a form with a file in the field `f0`.
fn face_with(server: &Server, family: &Value, settings: &Value, name: &str, bytes: &[u8]) -> Answer {
    let settings = settings.to_string();
    let form = multipart(&[("font_face_settings", &settings)], Some(("f0", name, bytes)));
    let url = format!("{}/wp/v2/font-families/{family}/font-faces", server.rest);
    server.send("POST", &url, Some(&server.admin), Some(form), &[])
}

fn lato() -> Value {
    json!({"name": "Lato", "slug": "lato", "fontFamily": "Lato Sans, serif"})
}

#[test]
fn families_have_settings_that_are_json() {
    let server = Server::with(&["site.prefix=wp"]);
    let made = family(&server, &lato());
    assert_eq!(made.status, 201, "{}", made.text);
    let expected = json!({"name": "Lato", "slug": "lato", "fontFamily": "\"Lato Sans\", serif", "preview": ""});
    assert_eq!(made.body["font_family_settings"], expected);
    assert_eq!((&made.body["theme_json_version"], &made.body["font_faces"]), (&json!(3), &json!([])));
    let path = format!("/wp/v2/font-families/{}", made.body["id"]);
    let renamed = server.admin("PUT", &path, Some(&json!({"font_family_settings": "{\"name\":\"Lato 2\"}"})));
    assert_eq!((renamed.status, &renamed.body["font_family_settings"]["name"]), (200, &json!("Lato 2")));
    assert_eq!(renamed.body["font_family_settings"]["fontFamily"], expected["fontFamily"], "what is not sent stays");
    let found = server.admin("GET", "/wp/v2/font-families?slug=lato,other&_fields=id", None);
    assert_eq!((found.header("x-wp-total"), &found.body), (Some("1"), &json!([{"id": made.body["id"]}])));

    let check = |settings: Value, code: &str, reason: &str| {
        let refused = family(&server, &settings);
        assert_eq!((refused.status, refused.code()), (400, code), "{settings}: {}", refused.text);
        let told = &refused.body["data"]["details"]["font_family_settings"]["code"];
        assert_eq!(told.as_str().unwrap_or_default(), reason, "{settings}");
    };
    check(lato(), "rest_duplicate_font_family", "");
    check(json!({"name": "A", "slug": "a"}), "rest_invalid_param", "rest_property_required");
    check(json!({"name": "A", "slug": "", "fontFamily": "A"}), "rest_invalid_param", "rest_invalid_param");
    check(json!(null), "rest_invalid_param", "rest_invalid_param");
    let more = json!({"name": "A", "slug": "a", "fontFamily": "A", "more": 1});
    check(more, "rest_invalid_param", "rest_additional_properties_forbidden");
    let other = server.admin("PUT", &path, Some(&json!({"font_family_settings": "{\"slug\":\"other\"}"})));
    assert_eq!((other.status, other.code()), (400, "rest_invalid_param"));
    let plain = server.admin("POST", "/wp/v2/font-families", Some(&json!({"font_family_settings": lato()})));
    assert_eq!(plain.body["data"]["details"]["font_family_settings"]["code"], "rest_invalid_type");
    let options = server.admin("OPTIONS", "/wp/v2/font-families", None);
    assert!(options.body["schema"]["properties"].get("identity").is_none(), "what only the server uses is hidden");
}

#[test]
fn faces_belong_to_a_family_and_differ() {
    let server = Server::with(&["site.prefix=wp"]);
    let (one, two) = (family(&server, &lato()).body["id"].clone(), {
        let other = json!({"name": "Exo", "slug": "exo", "fontFamily": "Exo"});
        family(&server, &other).body["id"].clone()
    });
    let settings = json!({"fontFamily": "Lato", "fontWeight": 400, "src": "https://example.org/lato.woff2"});
    let made = face(&server, &one, &settings);
    assert_eq!((made.status, &made.body["parent"]), (201, &one), "{}", made.text);
    assert_eq!(made.body["font_face_settings"], settings, "what was not sent is not shown");
    let id = &made.body["id"];
    let own = format!("{}/wp/v2/font-families/{one}/font-faces/{id}", server.rest);
    assert_eq!((made.header("location"), &made.body["_links"]["self"][0]["href"]), (Some(own.as_str()), &json!(own)));
    for (member, value, status) in [
        ("fontWeight", json!("normal"), 400),
        ("fontFamily", json!("'LATO'"), 400),
        ("fontStretch", json!("100%"), 400),
        ("fontWeight", json!("700"), 201),
        ("fontStyle", json!("italic"), 201),
    ] {
        let mut other = settings.clone();
        other[member] = value.clone();
        let answer = face(&server, &one, &other);
        let code = if status == 400 { "rest_duplicate_font_face" } else { "" };
        assert_eq!((answer.status, answer.code()), (status, code), "{member} {value}: {}", answer.text);
    }
    let shown = server.admin("GET", &format!("/wp/v2/font-families/{one}?_embed"), None).body;
    assert_eq!(shown["font_faces"].as_array().map(Vec::len), Some(3));
    assert_eq!(shown["font_faces"][2], *id, "the newest first");
    assert_eq!(shown["_embedded"]["font_faces"][2]["id"], *id);

    let check = |method: &str, path: &str, status: u16, code: &str| {
        let answer = server.admin(method, &format!("/wp/v2/font-families/{path}"), None);
        assert_eq!((answer.status, answer.code()), (status, code), "{method} {path}: {}", answer.text);
    };
    check("GET", &format!("{two}/font-faces/{id}"), 404, "rest_font_face_parent_id_mismatch");
    check("GET", &format!("999/font-faces/{id}"), 404, "rest_post_invalid_parent");
    check("GET", "999/font-faces", 404, "rest_post_invalid_parent");
    check("GET", &format!("{one}/font-faces/999"), 404, "rest_post_invalid_id");
    check("DELETE", &format!("{one}/font-faces/{id}"), 501, "rest_trash_not_supported");
    check("DELETE", &format!("{one}"), 501, "rest_trash_not_supported");
    let of_none = face(&server, &json!(999), &settings);
    assert_eq!((of_none.status, of_none.code()), (404, "rest_post_invalid_parent"));
    assert_eq!(server.admin("GET", &format!("/wp/v2/font-families/{two}/font-faces"), None).body, json!([]));
    check("DELETE", &format!("{one}?force=true"), 200, "");
    check("GET", &format!("{one}/font-faces/{id}"), 404, "rest_post_invalid_id");
    let again = face(&server, &two, &settings);
    assert_eq!(again.status, 201, "what went along with the family is free: {}", again.text);
}

#[test]
fn faces_bring_their_files() {
    let server = Server::with(&["site.prefix=wp"]);
    let id = family(&server, &lato()).body["id"].clone();
    let settings = |src: Value| json!({"fontFamily": "Lato", "src": src});
    let refused = |settings: Value, name: &str, bytes: &[u8], code: &str| {
        let answer = face_with(&server, &id, &settings, name, bytes);
        assert_eq!((answer.status, answer.code()), (400, code), "{settings} {name}: {}", answer.text);
    };
    refused(settings(json!("f0")), "a.woff2", b"words", "rest_font_upload_invalid_file_type");
    refused(settings(json!("f0")), "a.txt", b"words", "rest_font_upload_invalid_file_type");
    refused(settings(json!("https://example.org/a.woff2")), "a.woff2", WOFF2, "rest_invalid_param");
    refused(settings(json!(["f0", "f1"])), "a.woff2", WOFF2, "rest_invalid_param");
    refused(settings(json!(["f0", ""])), "a.woff2", WOFF2, "rest_invalid_param");
    assert_eq!(stored(&server), Vec::<String>::new());
    let made = face_with(&server, &id, &settings(json!(["f0", "https://example.org/b.woff"])), "Lato 1.woff2", WOFF2);
    assert_eq!(made.status, 201, "{}", made.text);
    let address = format!("{}/wp-content/uploads/fonts/Lato-1.woff2", server.site);
    let src = json!([address, "https://example.org/b.woff"]);
    assert_eq!(made.body["font_face_settings"]["src"], src);
    let served = server.send("GET", &address, None, None, &[]);
    assert_eq!((served.header("content-type"), served.bytes.as_slice()), (Some("font/woff2"), WOFF2));
    let again = face_with(&server, &id, &settings(json!("f0")), "again.woff2", WOFF2);
    assert_eq!((again.status, again.code()), (400, "rest_duplicate_font_face"));
    assert_eq!(stored(&server), ["fonts/Lato-1.woff2"], "files of what was refused are gone");
    let alone = super::media::upload(&server, "a.woff2", "font/woff2", WOFF2.to_vec());
    assert_eq!((alone.status, alone.code()), (500, "rest_upload_sideload_error"), "not without a face");
    let face = made.body["id"].clone();
    let gone = server.admin("DELETE", &format!("/wp/v2/font-families/{id}/font-faces/{face}?force=true"), None);
    assert_eq!((gone.status, stored(&server)), (200, Vec::new()), "{}", gone.text);
}

#[test]
fn fonts_are_for_those_who_edit_the_theme() {
    let server = Server::with(&["site.prefix=wp"]);
    let id = family(&server, &lato()).body["id"].clone();
    let made = face(&server, &id, &json!({"fontFamily": "Lato", "src": "https://example.org/a.woff2"}));
    let editor = server.user("ed", "editor");
    let body = json!({"font_family_settings": lato().to_string(), "font_face_settings": made.body["font_face_settings"].to_string()});
    for (method, path, code) in [
        ("GET", String::new(), "rest_cannot_read"),
        ("GET", format!("/{id}"), "rest_cannot_read"),
        ("GET", format!("/{id}?context=edit"), "rest_cannot_read"),
        ("GET", format!("/{id}/font-faces"), "rest_cannot_read"),
        ("GET", format!("/{id}/font-faces/{}", made.body["id"]), "rest_cannot_read"),
        ("POST", String::new(), "rest_cannot_create"),
        ("POST", format!("/{id}/font-faces"), "rest_cannot_create"),
        ("DELETE", format!("/{id}?force=true"), "rest_cannot_delete"),
    ] {
        for (caller, status) in [(None, 401), (Some(&editor), 403)] {
            let sent = (method == "POST").then_some(&body);
            let answer = server.ask(method, &format!("/wp/v2/font-families{path}"), caller, sent);
            assert_eq!((answer.status, answer.code()), (status, code), "{method} {path}: {}", answer.text);
        }
    }
}
