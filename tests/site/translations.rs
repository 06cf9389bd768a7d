//! Texts of the console in other languages (`translations`).

use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use tempfile::TempDir;

fn describe(server: &Server, query: &str) -> Value {
    let answer = server.admin("GET", &format!("/console/v1/description{query}"), None);
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body
}

/// Every text of a document, by its place.
fn texts(value: &Value, at: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::String(text) if !text.is_empty() => drop(found.insert(at.to_owned(), text.clone())),
        Value::Object(members) => members.iter().for_each(|(name, inner)| texts(inner, &format!("{at}/{name}"), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, inner)| texts(inner, &format!("{at}/{place}"), found));
        }
        _ => {}
    }
}

/// The texts of a description that people read, by their places.
fn read_by_people(description: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for part in ["groups", "states", "resources"] {
        texts(&description[part], part, &mut found);
    }
    let words = ["label", "singular", "description", "help", "title", "placeholder"];
    // Words of a schema of options for the console are no texts.
    found.retain(|place, _| {
        let (above, last) = place.rsplit_once('/').expect("a place in a list");
        words.contains(&last) || above.ends_with("/labels")
    });
    found
}

/// The texts of `OPTIONS` of the operations: titles and descriptions of properties, and of arguments of changes.
fn outlined(server: &Server, description: &Value) -> BTreeSet<String> {
    let mut found = BTreeMap::new();
    for resource in description["resources"].as_array().expect("a list") {
        for (_, operation) in resource["operations"].as_object().expect("operations") {
            let path = operation["path"].as_str().expect("a path");
            if path.contains('{') && !path.ends_with("{id}") || operation["file"] == true {
                continue;
            }
            let path = path.replace("{id}", "1");
            let told = server.admin("OPTIONS", &path, None).body;
            let properties = json!({"properties": told["schema"]["properties"]});
            texts(&properties, &format!("{path} schema"), &mut found);
            for endpoint in told["endpoints"].as_array().into_iter().flatten() {
                if endpoint["methods"][0] != "GET" {
                    texts(&endpoint["args"], &format!("{path} args"), &mut found);
                }
            }
        }
    }
    // Properties that are made of `raw` have no control.
    let is_read = |place: &str| place.ends_with("/title") || place.ends_with("/description");
    found.retain(|place, _| is_read(place) && !place.contains("/rendered/"));
    found.into_values().collect()
}

fn own(site: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    fs::write(folder.path().join("site.toml"), site).expect("a file");
    folder
}

const VENUES: &str = r#"
[resources.venues]
extends = "plain"
schema = "schemas/venue.json"
labels = { name = "Venues", add_new_item = "Add a venue" }
view = { fields = { seats = { label = "Seats", help = "All of them." } } }

[translations.de]
"Venues" = "Orte"
"Add a venue" = "Ort hinzufügen"
"Seats" = "Plätze"
"How many may stand." = "Wie viele stehen dürfen."
"Half open" = "Halb offen"
"Standing room" = "Stehplätze"

[translations.de-AT]
"Venues" = "Lokale"
"#;

fn venues() -> Server {
    let folder = own(VENUES);
    let venue = json!({"title": "venue", "type": "object", "properties": {
        "id": {"type": "integer", "description": "Id.", "readonly": true},
        "seats": {"type": "integer", "description": "Seats."},
        "standing_room": {"type": "integer", "description": "How many may stand."},
        "door": {"type": "string", "description": "Door.", "enum": ["half_open", "shut"]}
    }});
    fs::write(folder.path().join("schemas/venue.json"), venue.to_string()).expect("a file");
    Server::over(folder, &[])
}

#[test]
fn every_shipped_text_is_there_in_german() {
    let file = fs::read_to_string("schemas/translations/de.toml").expect("a shipped file");
    let known: Vec<&str> = file.lines().filter_map(|line| line.strip_prefix('"')?.split("\" = \"").next()).collect();
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let (plain, german) = (describe(&server, ""), describe(&server, "?lang=de"));
        let (before, after) = (read_by_people(&plain), read_by_people(&german));
        assert!(before.len() > 200, "{}", before.len());
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
        let same = before.iter().filter(|(place, text)| after[*place] == **text && !known.contains(&text.as_str()));
        assert_eq!(same.collect::<Vec<_>>(), [], "without a translation under {prefix}");
        let listed = german["texts"].as_object().expect("texts");
        let lost = outlined(&server, &plain).into_iter().filter(|text| !listed.contains_key(text));
        assert_eq!(lost.collect::<Vec<_>>(), Vec::<String>::new(), "descriptions without a translation under {prefix}");
        assert_eq!(listed["Title of the record."], "Titel des Eintrags.");
        assert!(plain.get("texts").is_none());
    }
}

/// A language of one's own files has a warning that counts what it lacks; German lacks nothing.
#[test]
fn check_tells_what_a_language_lacks() {
    for (site, expected) in [
        ("[translations.de]\n\"Content\" = \"Inhalt\"\n", &[][..]),
        (
            "[translations.de]\n\"Contnt\" = \"Inhalt\"\n",
            &["no text of the console or of a block: did you mean `Content`?"][..],
        ),
        ("[translations.fr]\n\"Content\" = \"Contenu\"\n", &["`translations.fr` lacks ", "`(no title)`, "][..]),
    ] {
        for (prefix, file) in [("cms", "site.toml"), ("wp", "site.toml"), ("cms", "routes.toml")] {
            let folder = own("");
            let config = folder.path().join("routes.toml");
            let mut declared = OpenOptions::new().append(true).open(folder.path().join(file)).expect("a file");
            declared.write_all(site.as_bytes()).expect("a file");
            let args =
                ["check", "--config", config.to_str().expect("a path"), "--set", &format!("site.prefix={prefix}")];
            let told = run(&args, "");
            let said = String::from_utf8_lossy(&told.stderr).into_owned();
            assert!(told.status.success(), "{said}");
            assert!(expected.iter().all(|part| said.contains(part)), "{said}");
            assert_eq!(said.contains("translations"), !expected.is_empty(), "{said}");
        }
    }
}

#[test]
fn own_resources_have_translations_of_their_own() {
    let server = venues();
    let told = |query: &str| {
        let body = describe(&server, query);
        let found = body["resources"].as_array().expect("a list").iter().find(|one| one["name"] == "venues").cloned();
        (found.expect("venues"), body["texts"].clone())
    };
    let (venues, texts) = told("?lang=de");
    assert_eq!((&venues["label"], &venues["labels"]["add_new_item"]), (&json!("Orte"), &json!("Ort hinzufügen")));
    assert_eq!(venues["singular"], "Venue", "what has no translation stays");
    let seats = &venues["fields"]["seats"];
    assert_eq!((&seats["label"], &seats["help"]), (&json!("Plätze"), &json!("All of them.")));
    for (text, translation) in [
        ("How many may stand.", "Wie viele stehen dürfen."),
        ("Half open", "Halb offen"),
        ("Standing room", "Stehplätze"),
    ] {
        assert_eq!(texts[text], translation);
    }
    assert_eq!(told("?lang=de-CH").0["label"], "Orte", "the first part of a tag");
    let nearest = told("?lang=DE-at").0;
    assert_eq!(nearest["label"], "Lokale", "the whole tag, in any case");
    assert_eq!(nearest["labels"]["add_new_item"], "Ort hinzufügen", "otherwise its first part");
    for query in ["", "?lang=en", "?lang=xx", "?lang=", "?lang=..%2F"] {
        assert_eq!((&told(query).0["label"], &told(query).1), (&json!("Venues"), &Value::Null), "{query}");
    }
    let long = format!("?lang={}", "x".repeat(36));
    assert_eq!(server.admin("GET", &format!("/console/v1/description{long}"), None).status, 400);
}

/// The contract stays in the language of the declarations.
#[test]
fn only_the_console_is_translated() {
    let server = venues();
    let plain = server.admin("OPTIONS", "/cms/v2/venues", None).text;
    assert_eq!(server.admin("OPTIONS", "/cms/v2/venues?lang=de", None).text, plain);
    assert!(plain.contains("How many may stand.") && !plain.contains("stehen"), "{plain}");
    let types = server.admin("GET", "/cms/v2/statuses?lang=de&context=edit", None).text;
    assert!(types.contains("\"Draft\"") && !types.contains("Entwurf"), "{types}");
}

/// A response in another language has another tag, and is asked for again by it.
#[test]
fn each_language_is_cached_for_itself() {
    let server = venues();
    let ask = |query: &str| server.admin("GET", &format!("/console/v1/description{query}"), None);
    let (plain, german) = (ask(""), ask("?lang=de"));
    assert_ne!(plain.text, german.text);
    assert!(plain.header("etag").is_none() || plain.header("etag") != german.header("etag"));
    assert_eq!(ask("?lang=de").text, german.text);
    for answer in [&plain, &german] {
        let stored = answer.header("cache-control").unwrap_or_default();
        assert!(stored.contains("no-store") || stored.contains("private"), "{stored:?}");
    }
}

/// Texts of the pages: what templates translate, and the sentences that the program gives them.
#[test]
fn every_text_of_the_pages_is_there_in_german() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let german: toml::Table =
        std::fs::read_to_string(root.join("schemas/translations/de.toml")).expect("a file").parse().expect("TOML");
    let german = german["translations"]["de"].as_table().expect("texts");
    let (mut texts, mut found) = (BTreeSet::new(), 0);
    let translated = regex::Regex::new(r#""([^"]+)"\|t\b"#).expect("a pattern");
    for entry in std::fs::read_dir(root.join("src/pages/templates")).expect("templates") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a template");
        texts.extend(translated.captures_iter(&text).map(|one| one[1].to_owned()));
    }
    let sentence = regex::Regex::new(r#""([A-Z][a-z]* [^"{}\\]*[.?])""#).expect("a pattern");
    for file in ["mod", "profile", "reset", "authorize"] {
        let text = std::fs::read_to_string(root.join(format!("src/pages/{file}.rs"))).expect("a source");
        let shown = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let sentences: Vec<String> = sentence.captures_iter(shown).map(|one| one[1].to_owned()).collect();
        found += sentences.len();
        texts.extend(sentences);
    }
    assert!(texts.len() > 100 && found > 20, "{} texts, {found} sentences", texts.len());
    let missing: Vec<&String> = texts.iter().filter(|text| !german.contains_key(text.as_str())).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
