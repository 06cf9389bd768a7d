//! Scenarios: `fixtures/scenarios/*.toml`, each a list of requests and what their responses must contain.
//!
//! A step has `method`, `path` (below the REST base, query included), `as` (`admin`, a role, or nobody), `json`, and of
//! the response: `status`, `code`, `is` (JSON pointer to value), `lacks` (JSON pointers), `headers`, `save` (name to
//! JSON pointer). `${name}` in a path or a text is replaced by a saved value.

use super::server::Server;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// The document's section that it belongs to.
    section: String,
    #[serde(default = "default_prefix")]
    prefix: String,
    steps: Vec<Step>,
}

fn default_prefix() -> String {
    "cms".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: String,
    #[serde(default = "get")]
    method: String,
    path: String,
    #[serde(rename = "as", default)]
    user: String,
    json: Option<Value>,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    is: BTreeMap<String, Value>,
    #[serde(default)]
    lacks: Vec<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    save: BTreeMap<String, String>,
}

fn get() -> String {
    "GET".into()
}

fn filled(text: &str, saved: &HashMap<String, Value>) -> String {
    saved.iter().fold(text.to_owned(), |text, (name, value)| {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.replace(&format!("${{{name}}}"), &shown)
    })
}

fn fill(value: &Value, saved: &HashMap<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let whole = text.strip_prefix("${").and_then(|t| t.strip_suffix('}')).and_then(|name| saved.get(name));
            whole.cloned().unwrap_or_else(|| Value::String(filled(text, saved)))
        }
        Value::Array(list) => list.iter().map(|v| fill(v, saved)).collect(),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), fill(v, saved))).collect(),
        other => other.clone(),
    }
}

fn play(server: &Server, file: &str, scenario: &Scenario) {
    let mut saved: HashMap<String, Value> = HashMap::new();
    saved.insert("rest".into(), server.rest.clone().into());
    saved.insert("site".into(), server.site.clone().into());
    let mut users: HashMap<String, (String, String)> = HashMap::new();
    for step in &scenario.steps {
        let at = format!("{file}, {} ({})", step.name, scenario.section);
        let user = match step.user.as_str() {
            "" => None,
            "admin" => Some(server.admin.clone()),
            role => {
                let login = format!("{role}-{}", file.replace(['.', '/'], "-"));
                Some(users.entry(role.to_owned()).or_insert_with(|| server.user(&login, role)).clone())
            }
        };
        let json = step.json.as_ref().map(|j| fill(j, &saved));
        let answer = server.ask(&step.method, &filled(&step.path, &saved), user.as_ref(), json.as_ref());
        if let Some(status) = step.status {
            assert_eq!(answer.status, status, "{at}: {}", answer.text);
        }
        if let Some(code) = &step.code {
            assert_eq!(answer.code(), code, "{at}: {}", answer.text);
        }
        for (pointer, expected) in &step.is {
            let expected = fill(expected, &saved);
            assert_eq!(answer.body.pointer(pointer), Some(&expected), "{at}, {pointer}: {}", answer.text);
        }
        for pointer in &step.lacks {
            assert_eq!(answer.body.pointer(pointer), None, "{at}, {pointer}: {}", answer.text);
        }
        for (name, expected) in &step.headers {
            let expected = filled(expected, &saved);
            assert_eq!(answer.header(name).unwrap_or(""), expected, "{at}, {name}");
        }
        for (name, pointer) in &step.save {
            let value =
                answer.body.pointer(pointer).unwrap_or_else(|| panic!("{at}: nothing at {pointer}: {}", answer.text));
            saved.insert(name.clone(), value.clone());
        }
    }
}

#[test]
fn every_scenario_holds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/scenarios");
    let mut servers: HashMap<String, Server> = HashMap::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= 5);
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a scenario");
        let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let set = format!("site.prefix={}", scenario.prefix);
        let server = servers.entry(scenario.prefix.clone()).or_insert_with(|| Server::with(&[&set]));
        let file = path.file_name().and_then(|n| n.to_str()).unwrap_or("?").to_owned();
        play(server, &file, &scenario);
    }
}
