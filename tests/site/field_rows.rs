//! docs/custom-fields.md: fields with rows, and galleries, from an export of field groups to values that are written and shown.

use super::media::upload;
use super::server::{Server, stdout};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

const DOT: &[u8] = include_bytes!("../../fixtures/field_groups/dot.png");

/// A site with the declarations of a group on posts: rows, rows inside rows, rows of two layouts, and pictures.
fn site() -> Server {
    let text =
        |key: &str, name: &str| json!({"key": key, "name": name, "label": name, "type": "text", "maxlength": 20});
    let picture =
        json!({"key": "field_pic", "name": "picture", "label": "Picture", "type": "image", "return_format": "url"});
    let towns = json!({"key": "field_towns", "name": "towns", "label": "Towns", "type": "repeater", "sub_fields": [text("field_town", "town")]});
    let export = json!([{"key": "group_rows", "title": "Parts", "show_in_rest": 1, "fields": [
        {"key": "field_team", "name": "team", "label": "Team", "type": "repeater", "max": 3,
         "sub_fields": [text("field_name", "name"), {"key": "field_age", "name": "age", "label": "Age", "type": "number"}, towns]},
        {"key": "field_parts", "name": "parts", "label": "Parts", "type": "flexible_content", "layouts": {
            "layout_1": {"key": "layout_1", "name": "quote", "label": "Quote", "sub_fields": [text("field_quote", "words")]},
            "layout_2": {"key": "layout_2", "name": "figure", "label": "Figure", "sub_fields": [picture, text("field_line", "line")]},
        }},
        {"key": "field_album", "name": "album", "label": "Album", "type": "gallery", "return_format": "url"},
    ], "location": [[{"param": "post_type", "operator": "==", "value": "post"}]]}]);
    let folder = TempDir::new().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    stdout(&["init", &path("")], "");
    fs::write(path("export.json"), export.to_string()).expect("a file");
    let report = stdout(&["import", &path("export.json"), "--propose", &path(""), "--json"], "");
    let report: Value = serde_json::from_str(&report).expect("a report");
    assert_eq!(report["left_out"], json!([]), "{report}");
    Server::over(folder, &["site.prefix=wp"])
}

/// The stored values of a post, with the keys of their fields.
fn stored(server: &Server, id: &Value) -> Vec<String> {
    server.sql(&format!("SELECT key, json FROM meta WHERE id = {id} ORDER BY key"))
}

#[test]
fn rows_and_pictures_are_written_as_wordpress_stores_them_and_shown() {
    let server = site();
    let picture = upload(&server, "dot.png", "image/png", DOT.to_vec()).body;
    let (id, url) = (&picture["id"], &picture["source_url"]);
    let given = json!({
        "team": [
            {"name": "Ann", "age": 40, "towns": [{"town": "Bergen"}, {"town": "Oslo"}]},
            {"name": "Ben", "age": null, "towns": null},
        ],
        "parts": [{"acf_fc_layout": "quote", "words": "High water"}, {"acf_fc_layout": "figure", "picture": id, "line": "A dot"}],
        "album": [id],
    });
    let made = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "A", "status": "publish", "acf": given})));
    assert_eq!(made.status, 201, "{}", made.text);
    let mut shown = given.clone();
    shown["team"][1]["age"] = json!("");
    let item = format!("/wp/v2/posts/{}", made.body["id"]);
    assert_eq!(server.get(&item).body["acf"], shown);
    let formatted = server.get(&format!("{item}?acf_format=standard")).body["acf"].clone();
    assert_eq!((&formatted["album"], &formatted["parts"][1]["picture"]), (&json!([url]), url), "{formatted}");
    assert_eq!(formatted["team"][1]["towns"], false);
    let keys = || -> Vec<String> {
        let rows = stored(&server, &made.body["id"]);
        rows.into_iter().filter(|row| !row.starts_with('_')).collect()
    };
    let of_parts = ["parts_0_words|\"High water\"", "parts_1_line|\"A dot\"", &format!("parts_1_picture|\"{id}\"")]
        .map(str::to_owned);
    let all = keys();
    for row in of_parts.iter().map(String::as_str).chain([
        "team|\"2\"",
        "team_0_name|\"Ann\"",
        "team_0_towns|\"2\"",
        "team_0_towns_1_town|\"Oslo\"",
        "team_1_name|\"Ben\"",
        "parts|[\"quote\",\"figure\"]",
    ]) {
        assert!(all.iter().any(|own| own == row), "{row}: {all:#?}");
    }
    let beside = stored(&server, &made.body["id"]);
    assert!(beside.iter().any(|row| row == "_team_0_towns_1_town|\"field_town\""), "{beside:#?}");

    // Values of rows that are no longer there are removed, and nothing else whose key looks like theirs.
    let plain = "INSERT INTO meta SELECT space, id, 'team_7_note', 1000000, json FROM meta";
    server.sql(&format!("{plain} WHERE id = {} AND key = 'team'", made.body["id"]));
    let shorter = json!({"team": [{"name": "Cleo", "age": 5, "towns": []}], "parts": [{"acf_fc_layout": "quote", "words": "Low water"}]});
    let changed = server.admin("POST", &item, Some(&json!({"acf": shorter})));
    assert_eq!(changed.body["acf"]["team"], json!([{"name": "Cleo", "age": 5, "towns": null}]), "{}", changed.text);
    assert_eq!(changed.body["acf"]["parts"], shorter["parts"]);
    assert_eq!(changed.body["acf"]["album"], json!([id]), "what is not named stays");
    let left = keys();
    assert!(!left.iter().any(|row| row.contains("_1_") || row.contains("towns_0")), "{left:#?}");
    assert!(left.iter().any(|row| row.starts_with("team_7_note|")), "{left:#?}");
    let emptied = server.admin("POST", &item, Some(&json!({"acf": {"team": null, "parts": [], "album": []}})));
    assert_eq!(emptied.body["acf"], json!({"team": null, "parts": null, "album": null}), "{}", emptied.text);
    let formatted = server.get(&format!("{item}?acf_format=standard")).body["acf"].clone();
    assert_eq!(formatted, json!({"team": false, "parts": false, "album": false}));
}

#[test]
fn rows_are_checked_at_their_places() {
    let server = site();
    let post = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "A"}))).body["id"].clone();
    let item = format!("/wp/v2/posts/{post}");
    for (acf, place) in [
        (json!({"team": "x"}), "acf[team]"),
        (json!({"team": [{"age": "old"}]}), "acf[team][0][age]"),
        (json!({"team": [{}, {"towns": [{"town": "A name of more than twenty"}]}]}), "acf[team][1][towns][0][town]"),
        (json!({"team": [{}, {}, {}, {}]}), "acf[team]"),
        (json!({"parts": [{"words": "x"}]}), "acf[parts][0]"),
        (json!({"parts": [{"acf_fc_layout": "other"}]}), "acf[parts][0]"),
        (json!({"parts": [{"acf_fc_layout": "figure", "picture": post}]}), "acf[parts][0][picture]"),
        (json!({"album": [post]}), "acf[album]"),
        (json!({"album": vec![1; 1001]}), "acf[album]"),
    ] {
        let refused = server.admin("POST", &item, Some(&json!({"acf": acf})));
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{acf}: {}", refused.text);
        let told = refused.body["data"]["params"]["acf"].as_str().unwrap_or_default();
        assert!(told.starts_with(place), "{acf}: {place}: {}", refused.text);
    }
    let options = server.ask("OPTIONS", "/wp/v2/posts", None, None).body;
    let fields = &options["schema"]["properties"]["acf"]["properties"];
    assert_eq!(
        fields["team"]["items"]["properties"]["towns"]["items"]["properties"]["town"]["maxLength"], 20,
        "{fields}"
    );
    assert_eq!(fields["parts"]["items"]["oneOf"][1]["properties"]["acf_fc_layout"]["enum"], json!(["figure"]));
    assert_eq!(fields["album"]["items"]["type"], "integer");
    // A count that somebody has stored without values makes no rows beyond a few.
    let one = server.admin("POST", &item, Some(&json!({"acf": {"team": [{"name": "Ann"}]}})));
    assert_eq!(one.status, 200, "{}", one.text);
    server.sql(&format!("UPDATE meta SET json = '\"999999999\"' WHERE id = {post} AND key = 'team'"));
    let many = server.admin("GET", &item, None).body;
    assert_eq!(many["acf"]["team"].as_array().map(Vec::len), Some(22), "{many}");
}
