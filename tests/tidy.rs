//! Rules about the source itself: modules use those above them and never those below, files say what they are, codes
//! and behaviours are all used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules by layer, lowest first. Those on one line are one layer and may use each other: a behaviour computes what
/// `prepare` shows, and the engine is re-entered by handlers.
const LAYERS: &[&[&str]] = &[
    &["error", "model", "network", "pool"],
    &["schema", "config", "storage", "text", "files", "pictures", "outbound"],
    &["registry"],
    &["request", "route", "scope", "fields", "conditional"],
    &["records", "args"],
    &["access"],
    &["behaviours", "prepare"],
    &["families"],
    &["cache", "discovery"],
    &["handlers", "engine", "embed"],
    &["xmlrpc", "pages"],
    &["http", "boot"],
    &["import", "scheduler", "doctor"],
    &["serve"],
    &["cli"],
    &["fuzzing"],
];

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("a file");
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found
}

/// The top module that a file belongs to.
fn module(path: &Path) -> String {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("below src");
    let first = below.components().next().expect("a part").as_os_str().to_str().expect("text");
    first.trim_end_matches(".rs").to_owned()
}

/// The part of a file before its tests.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text)
}

#[test]
fn modules_use_only_what_is_above_them() {
    let layer: BTreeMap<&str, usize> =
        LAYERS.iter().enumerate().flat_map(|(i, names)| names.iter().map(move |n| (*n, i))).collect();
    let mut wrong = BTreeSet::new();
    for (path, text) in sources() {
        let own = module(&path);
        if own == "main" || own == "lib" {
            continue;
        }
        let at = *layer.get(own.as_str()).unwrap_or_else(|| panic!("{own} is on no layer; see tests/tidy.rs"));
        for part in product(&text).split("crate::").skip(1) {
            let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if layer.get(used.as_str()).is_some_and(|l| *l > at) {
                wrong.insert(format!("{own} uses {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Modules that write rows without a request: what a row is they learn from `families`.
const WITHOUT_HANDLERS: &[&str] = &["families", "boot", "import", "scheduler"];

#[test]
fn boot_import_and_scheduler_never_use_handlers() {
    let mut seen = BTreeSet::new();
    for (path, text) in sources() {
        let own = module(&path);
        let Some(own) = WITHOUT_HANDLERS.iter().find(|name| **name == own) else { continue };
        seen.insert(*own);
        assert!(!product(&text).contains("handlers::"), "{} uses handlers; see families", path.display());
    }
    assert_eq!(seen.len(), WITHOUT_HANDLERS.len(), "a module has another name: {seen:?}");
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} opens with no `//!` line", path.display());
    }
}

#[test]
fn sql_is_written_in_storage_alone_and_actix_named_in_http_alone() {
    for (path, text) in sources() {
        let (own, text) = (module(&path), product(&text).to_owned());
        if own != "storage" {
            for word in ["SELECT ", "INSERT INTO", "DELETE FROM"] {
                assert!(!text.contains(word), "{} holds SQL", path.display());
            }
        }
        if own != "http" {
            assert!(!text.contains("actix_web"), "{} names actix", path.display());
        }
    }
}

#[test]
fn every_behaviour_has_a_user_in_the_shipped_declarations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut declared = std::fs::read_to_string(root.join("routes.toml")).expect("routes.toml");
    for folder in ["schemas", "schemas/dialects"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                declared.push_str(&std::fs::read_to_string(path).expect("a file"));
            }
        }
    }
    let vocabulary = cms_server::engine::vocabulary();
    // `echo` is for trying arguments out, the rest for resources of one's own.
    let spare = ["echo", "logged_in", "textarea", "plain.list", "unix", "meta"];
    let all =
        [vocabulary.reads, vocabulary.writes, vocabulary.queries, vocabulary.guards, vocabulary.handlers].concat();
    let unused: Vec<&str> = all
        .into_iter()
        .filter(|name| !spare.contains(name))
        .filter(|name| !declared.contains(&format!("\"{name}\"")) && !declared.contains(&format!("\"{name}:")))
        .collect();
    assert!(unused.is_empty(), "no declaration uses {unused:?}");
}

#[test]
fn every_error_code_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let product: String = sources().iter().map(|(_, text)| product(text)).collect();
    let used = |variant: &str| {
        let variant = regex::Regex::new(&format!(r"Code::{variant}\b")).expect("a pattern");
        variant.is_match(&product)
    };
    let unused: Vec<String> =
        cms_server::error::Code::ALL.iter().map(|code| format!("{code:?}")).filter(|variant| !used(variant)).collect();
    assert!(unused.is_empty(), "nothing answers {unused:?}; a code of one resource is declared in [codes]");
    let mut declared = String::new();
    for file in ["routes.toml", "schemas/dialects/wp.toml", "schemas/comment.json", "schemas/dialects/menu-item.json"] {
        declared.push_str(&std::fs::read_to_string(root.join(file)).expect("a file"));
    }
    let codes = regex::Regex::new(r"(?m)^([a-z_]+) = \{ (?:status = \d+, )?message = ").expect("a pattern");
    let idle: Vec<&str> = codes
        .captures_iter(&declared)
        .filter_map(|found| Some(found.get(1)?.as_str()))
        .filter(|code| !declared.contains(&format!("\"{code}\"")))
        .collect();
    assert!(idle.is_empty(), "no declaration names {idle:?}");
}

/// Who writes markup without the writer, and why that is sound.
const OWN_MARKUP: &[(&str, &str)] = &[
    ("text/html_policy.rs", "the sanitiser decides on each tag and value itself"),
    ("text/balance.rs", "closes tags that are there, by their own names"),
    ("text/autop.rs", "adds paragraphs, which have no values"),
    ("text/strip.rs", "looks for a closing tag"),
    ("text/highlight.rs", "adds marks without values around escaped text"),
    ("xmlrpc/wire.rs", "is XML, and its writer"),
    ("xmlrpc/rsd.rs", "is XML, the values escaped"),
    ("import/xml.rs", "names tags in messages"),
    ("handlers/oembed.rs", "is XML of keys of its own, the values escaped"),
];

/// Where finished HTML is put into HTML, and how often. Each place has a reason to trust it: a rendered property, what
/// a renderer made, or what went through the sanitiser with the text around it.
const FINISHED_HTML: &[(&str, usize)] = &[
    ("behaviours/dynamic/lists.rs", 2),
    ("behaviours/dynamic/loops.rs", 1),
    ("behaviours/dynamic/menus.rs", 1),
    ("behaviours/dynamic/mod.rs", 3),
    ("behaviours/dynamic/players.rs", 1),
    ("behaviours/files.rs", 1),
    ("handlers/oembed.rs", 1),
    ("text/shortcode.rs", 2),
];

#[test]
fn markup_is_made_by_its_writer() {
    let markup =
        regex::Regex::new(r#"(format!|write!|writeln!|push_str)\((out, |&mut \w+, |\n\s*)*"([^"]*[^"P])?<(/|[a-z])"#);
    let markup = markup.expect("a pattern");
    let (mut finished, mut own) = (Vec::new(), Vec::new());
    for (path, text) in sources() {
        let file = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("below src");
        let file = file.to_str().expect("text");
        let code = product(&text);
        // Fuzz targets make hostile inputs.
        if file != "text/html.rs"
            && !file.starts_with("fuzzing/")
            && !OWN_MARKUP.iter().any(|(known, _)| *known == file)
        {
            own.extend(markup.find_iter(code).map(|found| format!("{file}: {}", found.as_str())));
        }
        let count = code.matches("Html::rendered(").count();
        if count > 0 {
            finished.push((file.to_owned(), count));
        }
    }
    assert!(own.is_empty(), "text::html::Html makes markup and escapes what is in it:\n{}", own.join("\n"));
    finished.sort();
    let expected: Vec<(String, usize)> =
        FINISHED_HTML.iter().map(|(file, count)| ((*file).to_owned(), *count)).collect();
    assert_eq!(finished, expected, "look at each new place: is it safe HTML whoever wrote what is in it?");
}
