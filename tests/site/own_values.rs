//! Values of types of one's own: names of properties, changes of declarations over what is stored, texts and formats.

use super::migrate::command;
use super::own_types::folder;
use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Declares the property `a` of a resource that [`folder`] has made.
fn declare(at: &Path, resource: &str, a: &Value) {
    let mut properties = json!({
        "id": {"type": "integer", "description": "Id.", "readonly": true},
        "title": {"type": "string", "description": "Title.", "default": ""},
    });
    if !a.is_null() {
        properties["a"] = a.clone();
    }
    let schema = json!({"title": resource, "type": "object", "properties": properties});
    fs::write(at.join(format!("schemas/{resource}.json")), schema.to_string()).expect("a file");
}

fn text(server: &Server, resource: &str, body: &Value) -> (u16, Value) {
    let made = server.admin("POST", &format!("/own/v1/{resource}"), Some(body));
    (made.status, made.body)
}

/// The fate of a value: shown as this, or the change is refused.
type Outcome = Result<Value, ()>;

/// Changes of the property `a`: before, the value, after, the outcome. `T` and `U` stand for keys of items of `targets`.
fn changes() -> Vec<(Value, Value, Value, Outcome)> {
    let integer = || json!({"type": "integer"});
    let number = || json!({"type": "number"});
    let string = || json!({"type": "string"});
    let boolean = || json!({"type": "boolean"});
    let choice = |of: &[&str]| json!({"type": "string", "enum": of});
    let list = |of: Value| json!({"type": "array", "items": of});
    let one = || json!({"type": "integer", "x-relation": {"to": "targets"}});
    let many = || json!({"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "targets"}});
    let time = || json!({"type": "string", "format": "date-time"});
    let with = |mut doc: Value, key: &str, value: Value| {
        doc[key] = value;
        doc
    };
    let object = |of: Value| json!({"type": "object", "properties": of});
    let any = |of: &[&str]| json!({"type": of});
    vec![
        (integer(), json!(5), number(), Ok(json!(5.0))),
        (integer(), json!(5), string(), Err(())),
        (integer(), json!(5), boolean(), Err(())),
        (integer(), json!(1), boolean(), Err(())),
        (integer(), json!(5), time(), Err(())),
        (integer(), json!(5), list(integer()), Ok(json!([5]))),
        (integer(), json!(5), list(string()), Err(())),
        (number(), json!(5.0), integer(), Ok(json!(5))),
        (number(), json!(5.5), integer(), Err(())),
        (number(), json!(5.5), string(), Err(())),
        (string(), json!("5"), integer(), Err(())),
        (string(), json!("5"), number(), Err(())),
        (string(), json!("true"), boolean(), Err(())),
        (string(), json!("x"), list(string()), Ok(json!(["x"]))),
        (string(), json!("2026-05-01T09:30:00"), time(), Ok(json!("2026-05-01T09:30:00"))),
        (string(), json!("soon"), time(), Err(())),
        (string(), json!("x"), choice(&["x", "y"]), Ok(json!("x"))),
        (string(), json!("q"), choice(&["x", "y"]), Err(())),
        (string(), json!("2026-05-01"), json!({"type": "string", "format": "date"}), Ok(json!("2026-05-01"))),
        (string(), json!("1990-13-45"), json!({"type": "string", "format": "date"}), Err(())),
        (string(), json!("x"), object(json!({})), Err(())),
        (choice(&["x", "y"]), json!("y"), string(), Ok(json!("y"))),
        (choice(&["x", "y"]), json!("y"), choice(&["x", "y", "z"]), Ok(json!("y"))),
        (choice(&["x", "y"]), json!("y"), choice(&["x", "z"]), Err(())),
        (choice(&["x", "y"]), json!("x"), choice(&["x", "z"]), Ok(json!("x"))),
        (boolean(), json!(true), integer(), Err(())),
        (boolean(), json!(true), string(), Err(())),
        (time(), json!("2026-05-01T09:30:00"), string(), Ok(json!("2026-05-01T09:30:00"))),
        (time(), json!("2026-05-01T09:30:00"), integer(), Err(())),
        (list(string()), json!(["a", "b"]), list(integer()), Err(())),
        (list(string()), json!([]), list(integer()), Ok(json!([]))),
        (list(integer()), json!([1, 2]), list(number()), Ok(json!([1, 2]))),
        (list(string()), json!(["a"]), string(), Ok(json!("a"))),
        (list(string()), json!(["a", "b"]), string(), Err(())),
        (list(string()), json!(["a", "b"]), list(choice(&["a", "b"])), Ok(json!(["a", "b"]))),
        (list(string()), json!(["a", "b"]), list(choice(&["a"])), Err(())),
        (list(string()), json!(["a", "b"]), with(list(string()), "maxItems", json!(1)), Err(())),
        (object(json!({"b": string()})), json!({"b": "x"}), object(json!({"b": integer()})), Err(())),
        (
            object(json!({"b": string()})),
            json!({"b": "x"}),
            object(json!({"b": string(), "c": {"type": "integer", "required": true}})),
            Err(()),
        ),
        (
            object(json!({"b": string()})),
            json!({"b": "x"}),
            object(json!({"b": string(), "c": integer()})),
            Ok(json!({"b": "x"})),
        ),
        (integer(), json!(5), with(integer(), "minimum", json!(6)), Err(())),
        (integer(), json!(5), with(integer(), "minimum", json!(5)), Ok(json!(5))),
        (string(), json!("long"), with(string(), "maxLength", json!(3)), Err(())),
        (string(), json!("long"), with(string(), "pattern", json!("^[0-9]+$")), Err(())),
        (string(), json!("x"), any(&["string", "number"]), Ok(json!("x"))),
        (integer(), json!(5), any(&["integer", "string"]), Ok(json!(5))),
        (boolean(), json!(true), any(&["boolean", "string"]), Ok(json!(true))),
        (any(&["integer", "string"]), json!(5), integer(), Ok(json!(5))),
        (any(&["integer", "string"]), json!("x"), integer(), Err(())),
        (any(&["boolean", "string"]), json!("x"), string(), Ok(json!("x"))),
        (any(&["string", "object"]), json!({"b": 1}), string(), Err(())),
        (string(), json!("{\"b\":1}"), object(json!({"b": integer()})), Ok(json!({"b": 1}))),
        (string(), json!("{\"b\":1}"), object(json!({"b": string()})), Err(())),
        (string(), json!("[1,2]"), list(integer()), Ok(json!([1, 2]))),
        (one(), json!("T"), many(), Ok(json!(["T"]))),
        (many(), json!(["T"]), one(), Ok(json!("T"))),
        (many(), json!(["U", "T"]), one(), Err(())),
        (many(), json!(["U", "T"]), list(integer()), Ok(json!(["U", "T"]))),
        (many(), json!(["T"]), integer(), Ok(json!("T"))),
        (many(), json!(["T"]), string(), Err(())),
        (many(), json!(["T"]), Value::Null, Err(())),
        (many(), json!([]), Value::Null, Ok(Value::Null)),
        (list(integer()), json!(["U", "T"]), many(), Ok(json!(["U", "T"]))),
        (list(integer()), json!([4_000]), many(), Err(())),
        (string(), json!("x"), many(), Err(())),
        (string(), json!("x"), Value::Null, Err(())),
        (Value::Null, Value::Null, with(integer(), "required", json!(true)), Err(())),
        (Value::Null, Value::Null, with(choice(&["x"]), "x-create-arg", json!({"required": true})), Err(())),
        (Value::Null, Value::Null, with(with(integer(), "required", json!(true)), "default", json!(7)), Ok(json!(7))),
        (Value::Null, Value::Null, with(boolean(), "default", json!(true)), Ok(json!(true))),
        (Value::Null, Value::Null, integer(), Ok(Value::Null)),
        (string(), Value::Null, with(string(), "required", json!(true)), Err(())),
        (string(), json!("x"), with(string(), "required", json!(true)), Ok(json!("x"))),
    ]
}

#[test]
fn changes_of_declarations_convert_what_is_lossless_and_refuse_the_rest() {
    let cases = changes();
    let names: Vec<String> = (0..cases.len()).map(|n| format!("p{n}")).collect();
    let mut resources = vec![("targets", "plain", json!({}), "")];
    for (name, (before, ..)) in names.iter().zip(&cases) {
        let properties = if before.is_null() { json!({}) } else { json!({"a": before}) };
        resources.push((name, "plain", properties, ""));
    }
    let mut server = Server::over(folder(&resources), &[]);
    let target = |title: &str| text(&server, "targets", &json!({"title": title})).1["id"].as_i64().expect("an id");
    // So that keys of targets are none of rows.
    let keys = [target("-"), target("T"), target("U")];
    let filled = |value: &Value| -> Value {
        let of = value.to_string().replace("\"T\"", &keys[1].to_string()).replace("\"U\"", &keys[2].to_string());
        serde_json::from_str(&of).expect("JSON")
    };
    for (name, (before, value, ..)) in names.iter().zip(&cases) {
        let mut body = json!({"title": name});
        if !value.is_null() {
            body["a"] = filled(value);
        }
        let (status, made) = text(&server, name, &body);
        assert_eq!(status, 201, "{name} {before} {body}: {made}");
    }
    server.end();
    let at = server.path("");
    for (name, (.., after, _)) in names.iter().zip(&cases) {
        declare(&at, name, after);
    }
    let (good, plan, errors) = command(&server, &["migrate", "--dry-run", "--json"]);
    let plan: Value = serde_json::from_str(&plan).unwrap_or_else(|_| panic!("{plan} {errors}"));
    assert!(!good);
    let changes = plan["changes"].as_array().expect("a list");
    for (name, (before, value, after, outcome)) in names.iter().zip(&cases) {
        let own: Vec<&Value> = changes.iter().filter(|c| c["table"] == *format!("x_{name}")).collect();
        let refused = own.iter().any(|change| !change["refused"].is_null());
        assert_eq!(refused, outcome.is_err(), "{name}: {before} {value} to {after}: {own:?}");
        let remedies = own.iter().filter_map(|change| change["refused"].as_object());
        for refusal in remedies {
            let some = ["drop", "remedy"].iter().any(|way| !refusal[*way].is_null());
            assert!(
                some && refusal["reason"].as_str().is_some_and(|why| why.starts_with("1 row")),
                "{name}: {refusal:?}"
            );
        }
    }
    for (name, (before, .., outcome)) in names.iter().zip(&cases) {
        if outcome.is_err() {
            declare(&at, name, before);
        }
    }
    let server = server.restart_with(&[]);
    for (name, (before, value, after, outcome)) in names.iter().zip(&cases) {
        let shown = match outcome {
            Ok(shown) => filled(shown),
            Err(()) => filled(value),
        };
        let list = server.get(&format!("/own/v1/{name}"));
        let item = &list.body[0];
        let there = item.get("a").cloned().unwrap_or_default();
        let same = there == shown || there.as_f64().is_some_and(|there| Some(there) == shown.as_f64());
        assert!(same, "{name}: {before} to {after} shows {there}, not {shown}");
        if outcome.is_ok() {
            let path = format!("/own/v1/{name}/{}", item["id"]);
            let again = server.admin("PUT", &path, Some(item));
            assert_eq!(again.status, 200, "{name}: {item} is put back: {}", again.text);
        }
    }
    let (good, out, errors) = command(&server, &["check", "--data"]);
    assert!(good && out.contains("whole"), "{out} {errors}");
}

#[test]
fn what_contradicts_its_declaration_is_found() {
    let resources = [("things", "plain", json!({"a": {"type": "string", "enum": ["x", "y"]}}), "")];
    let mut server = Server::over(folder(&resources), &[]);
    assert_eq!(text(&server, "things", &json!({"a": "y"})).0, 201);
    server.end();
    server.sql("UPDATE x_things SET a = 'z'");
    let (good, _, errors) = command(&server, &["check", "--data"]);
    assert!(!good && errors.contains("x_things 1: `a` holds a value that its declaration refuses"), "{errors}");
}

#[test]
fn values_that_do_not_fit_are_deleted_on_purpose() {
    let choice = |of: &[&str]| json!({"type": "string", "enum": of});
    let resources = [("things", "plain", json!({"a": choice(&["x", "y"])}), "")];
    let mut server = Server::over(folder(&resources), &[]);
    for value in ["x", "y"] {
        assert_eq!(text(&server, "things", &json!({"a": value})).0, 201);
    }
    server.end();
    declare(&server.path(""), "things", &choice(&["x", "z"]));
    let (good, out, errors) = command(&server, &["migrate"]);
    assert!(!good, "{out} {errors}");
    let (good, out, errors) = command(&server, &["migrate", "--drop", "things.a"]);
    assert!(good, "{out} {errors}");
    let server = server.restart_with(&[]);
    let list = server.get("/own/v1/things?order=asc&orderby=id");
    assert_eq!((&list.body[0]["a"], &list.body[1]["a"]), (&json!("x"), &Value::Null), "{}", list.text);
}

/// Names with which an item is made, changed, listed and put back as any other value.
const ORDINARY: [&str; 24] = [
    "version", "kind", "status", "author", "parent", "extra", "password", "table", "order", "select", "group",
    "context", "page", "force", "rowid", "oid", "rank", "key", "content", "type", "Version", "user", "limit", "next",
];

#[test]
fn properties_may_be_called_as_the_engine_calls_its_columns() {
    let names: Vec<String> = (0..ORDINARY.len()).map(|n| format!("n{n}")).collect();
    let resources: Vec<(&str, &str, Value, &str)> = names
        .iter()
        .zip(ORDINARY)
        .map(|(resource, name)| (&**resource, "plain", json!({name: {"type": "string", "x-index": true}}), ""))
        .collect();
    let server = Server::over(folder(&resources), &[]);
    for (resource, name) in names.iter().zip(ORDINARY) {
        let (status, made) = text(&server, resource, &json!({"title": "a", name: "1.2.3"}));
        assert_eq!((status, &made[name]), (201, &json!("1.2.3")), "{name}: {made}");
        let path = format!("/own/v1/{resource}/{}", made["id"]);
        for body in [json!({"title": "b"}), json!({name: "1.2.3"}), json!({"title": "c"})] {
            let changed = server.admin("PATCH", &path, Some(&body));
            assert_eq!((changed.status, &changed.body[name]), (200, &json!("1.2.3")), "{name}: {}", changed.text);
        }
        let item = server.get(&path).body;
        let again = server.admin("PUT", &path, Some(&item));
        assert_eq!((again.status, &again.body[name]), (200, &json!("1.2.3")), "{name}: {}", again.text);
        assert_eq!(server.get(&format!("/own/v1/{resource}")).body[0][name], "1.2.3", "{name}");
        assert_eq!(server.admin("DELETE", &format!("{path}?force=true"), None).status, 200, "{name}");
    }
}

#[test]
fn a_number_called_version_counts_nothing() {
    let resources = [("things", "plain", json!({"version": {"type": "integer"}}), "")];
    let server = Server::over(folder(&resources), &[]);
    let (_, made) = text(&server, "things", &json!({"version": 7}));
    let path = format!("/own/v1/things/{}", made["id"]);
    let versions = [json!({"title": "b"}), json!({"version": 3}), json!({"title": "c"})]
        .map(|body| server.admin("PATCH", &path, Some(&body)).body["version"].clone());
    assert_eq!(versions, [json!(7), json!(3), json!(3)]);
    let (_, without) = text(&server, "things", &json!({"title": "c"}));
    assert_eq!(without["version"], Value::Null);
}

/// Properties that no database can have are refused, before there is a server.
#[test]
fn names_that_no_database_or_document_can_have_are_refused() {
    let plain = |name: &str| json!({name: {"type": "string"}, "name": {"type": "string"}});
    let wide: serde_json::Map<String, Value> =
        (0..1_700).map(|n| (format!("c{n}"), json!({"type": "integer"}))).collect();
    for (properties, wanted) in [
        (plain("Name"), "differ in capital letters alone"),
        (plain("NAME"), "differ in capital letters alone"),
        (plain("ID"), "differ in capital letters alone"),
        (plain("ctid"), "PostgreSQL has in every table"),
        (plain("xmin"), "PostgreSQL has in every table"),
        (plain("cmax"), "PostgreSQL has in every table"),
        (plain("tableoid"), "PostgreSQL has in every table"),
        (plain("_links"), "is a name of the interface"),
        (plain("_embedded"), "is a name of the interface"),
        (plain("_fields"), "is a name of the interface"),
        (plain("_version"), "is a name of the interface"),
        (plain(&"n".repeat(61)), "cannot be the name of a column"),
        (Value::Object(wide), "a table has 1000 at most"),
    ] {
        let folder = folder(&[("things", "plain", properties, "")]);
        let config = folder.path().join("routes.toml");
        let output = run(&["check", "--config", config.to_str().expect("a path")], "");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(wanted), "{wanted}: {told}");
    }
}

#[test]
fn counters_of_earlier_versions_are_renamed() {
    let resources = [("things", "plain", json!({"a": {"type": "string"}}), "")];
    let mut server = Server::over(folder(&resources), &[]);
    let (_, made) = text(&server, "things", &json!({"a": "x"}));
    let path = format!("/own/v1/things/{}", made["id"]);
    server.admin("PATCH", &path, Some(&json!({"a": "y"})));
    server.end();
    for table in ["x_things", "record", "term", "\"user\"", "comment"] {
        server.sql(&format!("ALTER TABLE {table} RENAME COLUMN _version TO version"));
    }
    server.sql("DELETE FROM layout WHERE name = 'fingerprint'");
    let (good, out, errors) = command(&server, &["migrate", "--dry-run"]);
    assert!(good && out.contains("the tables are as declared"), "{out} {errors}");
    let server = server.restart_with(&["storage.migrate=never"]);
    let changed = server.admin("PATCH", &path, Some(&json!({"a": "z"})));
    assert_eq!((changed.status, &changed.body["a"]), (200, &json!("z")), "{}", changed.text);
}

#[test]
fn texts_of_one_line_are_stored_as_they_are_sent() {
    let line = |more: Value| {
        let mut doc = json!({"type": "string", "x-write": "text_field"});
        more.as_object().expect("an object").iter().for_each(|(key, value)| doc[key] = value.clone());
        doc
    };
    let properties = json!({"a": line(json!({})), "b": line(json!({"minLength": 1})),
        "c": line(json!({"maxLength": 5})), "d": {"type": "string", "x-write": "textarea"},
        "e": {"type": "string", "format": "text-field"}, "f": {"type": "array", "items": {"type": "string", "format": "text-field"}}});
    for prefix in ["cms", "wp"] {
        let server =
            Server::over(folder(&[("things", "plain", properties.clone(), "")]), &[&format!("site.prefix={prefix}")]);
        for (sent, stored) in [
            ("Tom & Jerry <3", "Tom & Jerry <3"),
            ("5 < 6", "5 < 6"),
            ("if a<b then c", "if a<b then c"),
            ("I <3 you", "I <3 you"),
            ("50%25 off", "50%25 off"),
            ("a > b", "a > b"),
            ("AT&amp;T", "AT&amp;T"),
            ("  <b>bold</b>\n<i class=\"x\">it</i>\u{7} ", "bold it"),
            ("<script>alert(1)</script>x", "x"),
            ("<scr<b>ipt>x", "x"),
            ("a<!-- b > c -->d", "ad"),
        ] {
            let (status, made) = text(&server, "things", &json!({"a": sent}));
            assert_eq!((status, &made["a"]), (201, &json!(stored)), "{prefix} {sent}: {made}");
        }
        let shown = if prefix == "wp" { "bold" } else { "<b>bold</b>" };
        let (_, made) = text(&server, "things", &json!({"e": "<b>bold</b>", "f": ["<b>bold</b>"]}));
        assert_eq!((&made["e"], &made["f"]), (&json!(shown), &json!([shown])), "{prefix}: {made}");
        let (_, made) = text(&server, "things", &json!({"d": "5 < 6\n<p>50%25</p>"}));
        assert_eq!(made["d"], "5 < 6\n50%25", "{prefix}");
        for body in [json!({"b": "   "}), json!({"b": "<b></b>"}), json!({"c": "123456"})] {
            let (status, refused) = text(&server, "things", &body);
            assert_eq!((status, &refused["code"]), (400, &json!("rest_invalid_param")), "{prefix} {body}: {refused}");
        }
        assert_eq!(
            text(&server, "things", &json!({"b": " x ", "c": "<b>12345</b>"})).0,
            400,
            "{prefix}: sent is too long"
        );
    }
}

#[test]
fn a_format_means_the_same_at_every_property() {
    let uri = || json!({"type": "string", "format": "uri"});
    let properties = json!({"a": uri(), "b": {"type": "array", "items": uri()}, "c": {"type": "object", "properties": {"d": uri()}}});
    let addresses =
        ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\nscript:alert(1)", "vbscript:x", "data:text/html,x"];
    for prefix in ["cms", "wp"] {
        let server =
            Server::over(folder(&[("things", "plain", properties.clone(), "")]), &[&format!("site.prefix={prefix}")]);
        for address in addresses {
            for body in [json!({"a": address}), json!({"b": [address]}), json!({"c": {"d": address}})] {
                let (status, made) = text(&server, "things", &body);
                match prefix {
                    "cms" => assert_eq!(status, 400, "{body}: {made}"),
                    _ => {
                        let shown = [&made["a"], &made["b"][0], &made["c"]["d"]];
                        let clean = shown.iter().all(|shown| shown.is_null() || **shown == "");
                        assert!(status == 201 && clean, "{body}: {made}");
                    }
                }
            }
        }
        let (_, made) = text(&server, "things", &json!({"a": "https://example.org/?a=1&b=2"}));
        assert_eq!(made["a"], "https://example.org/?a=1&b=2", "{prefix}");
    }
}

#[test]
fn a_null_that_is_listed_is_taken() {
    let choice = json!({"type": "string", "enum": ["a", null]});
    let properties = json!({"a": choice, "b": {"type": "object", "properties": {"c": choice}}});
    for prefix in ["cms", "wp"] {
        let server =
            Server::over(folder(&[("things", "plain", properties.clone(), "")]), &[&format!("site.prefix={prefix}")]);
        let (status, made) = text(&server, "things", &json!({"a": null, "b": {"c": null}}));
        assert_eq!((status, &made["a"], &made["b"]), (201, &Value::Null, &json!({"c": null})), "{prefix}: {made}");
        assert_eq!(text(&server, "things", &json!({"a": "b"})).0, 400, "{prefix}");
    }
}

#[test]
fn days_are_checked_and_have_an_order() {
    let born = json!({"type": "string", "format": "date", "x-filterable": true, "x-index": true});
    let at = json!({"type": "string", "format": "time", "x-filterable": true, "x-index": true});
    let more = "sort = { id = \"id\", born = \"born\" }\n";
    let server = Server::over(folder(&[("people", "plain", json!({"born": born, "at": at}), more)]), &[]);
    for (day, time) in [("1990-12-31", "09:30"), ("2001-02-03", "18:00:30"), ("1984-06-01", "00:00")] {
        assert_eq!(text(&server, "people", &json!({"born": day, "at": time})).0, 201, "{day}");
    }
    for wrong in
        [json!({"born": "1990-13-45"}), json!({"born": "1990-02-30"}), json!({"at": "25:00"}), json!({"born": "x"})]
    {
        assert_eq!(text(&server, "people", &wrong).0, 400, "{wrong}");
    }
    for (query, days) in [
        ("where[born][ge]=1990-12-31", json!(["1990-12-31", "2001-02-03"])),
        ("where[born][lt]=1990-12-31", json!(["1984-06-01"])),
        ("where[born][ge]=1984-01-01&where[born][lt]=1991-01-01", json!(["1990-12-31", "1984-06-01"])),
        ("where[born]=2001-02-03", json!(["2001-02-03"])),
        ("where[at][gt]=09:30", json!(["2001-02-03"])),
    ] {
        let list = server.get(&format!("/own/v1/people?{query}"));
        let shown: Vec<&Value> = list.body.as_array().expect("a list").iter().map(|person| &person["born"]).collect();
        assert_eq!(json!(shown), days, "{query}: {}", list.text);
    }
    assert_eq!(server.get("/own/v1/people?where[born][ge]=tomorrow").status, 400);
}

#[test]
fn texts_in_indexes_have_a_length() {
    let properties = json!({"a": {"type": "string", "x-index": true}, "b": {"type": "string", "x-unique": true},
        "c": {"type": "string"}, "d": {"type": "string"}});
    let more = "sort = { id = \"id\", c = \"c\" }\n";
    let server = Server::over(folder(&[("things", "plain", properties, more)]), &[]);
    // Without a pattern that a database could compress.
    let mut state = 1_u64;
    let mut long = String::new();
    while long.len() < 3_600 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        long.push(char::from(b'a' + u8::try_from((state >> 33) % 26).expect("a letter")));
    }
    for name in ["a", "b", "c"] {
        let (status, refused) = text(&server, "things", &json!({name: long}));
        assert_eq!((status, &refused["code"]), (400, &json!("rest_invalid_param")), "{name}: {refused}");
        let (status, made) = text(&server, "things", &json!({name: long[..2_600]}));
        assert_eq!(status, 201, "{name}: {made}");
    }
    assert_eq!(text(&server, "things", &json!({"d": long})).0, 201);
    let title = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": long}})));
    assert_eq!(title.status, 201, "{}", title.text);
}

#[test]
fn declarations_that_do_nothing_are_told() {
    let folder = folder(&[("things", "plain", json!({}), "")]);
    let site = folder.path().join("site.toml");
    let declared = fs::read_to_string(&site).expect("a file");
    let more = "\n[capabilities.talk]\npublish = \"publish_talks\"\n[roles.organiser]\nname = \"Organiser\"\n\
        capabilities = [\"read\", \"publish_talk\"]\n[roles.administrator]\n\"+capabilities\" = [\"publish_talks\"]\n\
        [resources.genres]\nextends = \"term\"\nhierarchical = true\n";
    fs::write(&site, format!("{declared}{more}")).expect("a file");
    let config = folder.path().join("routes.toml");
    let output = run(&["check", "--config", config.to_str().expect("a path")], "");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("the role `organiser` has the capability `publish_talk`, which nothing asks for"), "{told}");
    assert!(told.contains("resources.genres is hierarchical, and its schema has no property `parent`"), "{told}");
    let shipped = tempfile::TempDir::new().expect("a folder");
    stdout(&["init", shipped.path().to_str().expect("a path")], "");
    let config = shipped.path().join("routes.toml");
    for prefix in ["site.prefix=cms", "site.prefix=wp"] {
        let output = run(&["check", "--config", config.to_str().expect("a path"), "--set", prefix], "");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !told.contains("nothing asks for"), "{prefix}: {told}");
    }
}

#[test]
fn a_value_of_several_types_keeps_its_own() {
    let any = |of: &[&str]| json!({"type": of});
    let object = json!({"type": ["string", "object"], "properties": {"b": {"type": "string"}}});
    let rows = [
        (any(&["string", "number"]), vec![json!("x"), json!(5.0), json!(0.0), json!("5")]),
        (any(&["integer", "string"]), vec![json!(5), json!("x"), json!(0), json!("")]),
        (any(&["boolean", "string"]), vec![json!(true), json!("x"), json!(false)]),
        (any(&["integer", "number"]), vec![json!(5.0), json!(1.5)]),
        (any(&["number", "object"]), vec![json!(1.5), json!({"b": [1, null]})]),
        (any(&["string", "array"]), vec![json!("a,b"), json!(["a", 1]), json!([])]),
        (object, vec![json!("x"), json!({"b": "x"})]),
        (json!({"type": ["string", "integer"], "format": "date-time"}), vec![json!("2026-05-01T09:30:00"), json!(5)]),
        (json!({"enum": [1, "a", true]}), vec![json!(1), json!("a"), json!(true)]),
        (json!({"enum": ["a", "b", null]}), vec![json!("a"), Value::Null]),
        (json!({}), vec![json!(5), json!("x"), json!(true), json!([1]), json!({"b": {}}), json!(1.5), Value::Null]),
    ];
    let names: Vec<String> = (0..rows.len()).map(|n| format!("p{n}")).collect();
    let resources: Vec<(&str, &str, Value, &str)> =
        names.iter().zip(&rows).map(|(name, (doc, _))| (&**name, "plain", json!({"a": doc}), "")).collect();
    for prefix in ["cms", "wp"] {
        let server = Server::over(folder(&resources), &[&format!("site.prefix={prefix}")]);
        for (name, (doc, values)) in names.iter().zip(&rows) {
            for value in values {
                let (status, made) = text(&server, name, &json!({"a": value}));
                assert_eq!(status, 201, "{prefix} {doc} {value}: {made}");
                let path = format!("/own/v1/{name}/{}", made["id"]);
                let read = server.get(&path).body;
                assert_eq!(&read["a"], value, "{prefix} {doc}");
                let again = server.admin("PUT", &path, Some(&read));
                assert_eq!((again.status, &again.body["a"]), (200, value), "{prefix} {doc}: {}", again.text);
            }
        }
    }
}

#[test]
fn a_value_of_several_types_is_no_key_and_no_shared_text() {
    for (family, properties, wanted) in [
        ("plain", json!({"a": {"type": ["integer", "string"], "x-relation": {"to": "users"}}}), "cannot hold keys of"),
        ("content", json!({"excerpt": {"type": ["string", "number"]}}), "a column of this family that holds texts"),
        ("content", json!({"excerpt": {}}), "a column of this family that holds texts"),
    ] {
        let folder = folder(&[("things", family, properties, "")]);
        let config = folder.path().join("routes.toml");
        let output = run(&["check", "--config", config.to_str().expect("a path")], "");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(wanted), "{wanted}: {told}");
    }
}

#[test]
fn slugs_of_plain_texts_have_the_whole_text_or_the_key() {
    let line = json!({"type": "string", "x-write": "text_field"});
    let plain = json!({"name": line, "slug": {"type": "string", "x-write": "slug"}});
    let resources = [("things", "plain", plain, ""), ("c_pages", "content", json!({}), "")];
    let rows = [
        ("I <3 you", "i-3-you"),
        ("if a<b then c", "if-ab-then-c"),
        ("1 < 2", "1-2"),
        ("<b>bold</b> <i>move</i>", "bold-move"),
        ("Straße & Co", "strase-co"),
        ("日本", "%e6%97%a5%e6%9c%ac"),
    ];
    for prefix in ["cms", "wp"] {
        let server = Server::over(folder(&resources), &[&format!("site.prefix={prefix}")]);
        for (title, slug) in rows {
            let (status, made) = text(&server, "things", &json!({"name": title}));
            assert_eq!((status, &made["slug"]), (201, &json!(slug)), "{prefix} {title}: {made}");
            let (status, made) = text(&server, "c_pages", &json!({"title": title, "status": "publish"}));
            assert_eq!((status, &made["slug"]), (201, &json!(slug)), "{prefix} {title}: {made}");
        }
        // Nothing of these can be in a slug.
        for title in ["...", "-", "!!!", "<", "...", "-"] {
            for (resource, of) in [("things", "title"), ("things", "slug"), ("c_pages", "title")] {
                let (status, made) = text(&server, resource, &json!({of: title, "status": "publish"}));
                let key = made["id"].to_string();
                assert_eq!(
                    (status, made["slug"].as_str()),
                    (201, Some(&*key)),
                    "{prefix} {resource} {of} {title}: {made}"
                );
            }
        }
        let (_, made) = text(&server, "things", &json!({"name": "Tea"}));
        let path = format!("/own/v1/things/{}", made["id"]);
        let changed = server.admin("PATCH", &path, Some(&json!({"slug": "..."}))).body;
        assert_eq!(changed["slug"], made["id"].to_string(), "{prefix}");
    }
}
