//! Rules about the source itself: crates and modules use those above them in the map of `src/lib.rs` and never those
//! below, no two of them use each other, files and functions stay small and say what they are, codes and behaviours are all used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[path = "tidy/circles.rs"]
mod circles;

fn sources() -> Vec<(PathBuf, String)> {
    files(&["src", "crates"])
}

/// The Rust files below folders, with their texts.
fn files(folders: &[&str]) -> Vec<(PathBuf, String)> {
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
    for folder in folders {
        walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    found.retain(|(path, _)| !path.ends_with("build.rs"));
    found
}

/// The name of a file below a `src` of modules, or below `crates` without the `src` there: `registry/mod.rs`, `text/slug.rs`.
fn file(path: &Path) -> String {
    let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("a file of the project").to_str().expect("text");
    let path = path.strip_prefix("crates/core/").unwrap_or(path);
    match path.strip_prefix("crates/") {
        Some(path) => path.replacen("/src/", "/", 1),
        None => path.trim_start_matches("src/").to_owned(),
    }
}

/// The module that the guards of features belong to, which has all guards in one table.
const GUARDS: &str = "access";

/// The crate or top module that a file belongs to.
fn module(path: &Path) -> String {
    let file = file(path);
    if file.starts_with("features/") && file.ends_with("/guard.rs") {
        return GUARDS.to_owned();
    }
    file.split(['/', '.']).next().expect("a part").to_owned()
}

/// The part of a file before its tests.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// Files that hold nothing but tests: their modules are declared for tests alone.
fn test_files(sources: &[(PathBuf, String)]) -> BTreeSet<PathBuf> {
    let declared = regex::Regex::new(r"#\[cfg\(test\)\]\n(pub )?mod (\w+);").expect("a pattern");
    let mut files = BTreeSet::new();
    for (path, text) in sources {
        let is_root = path.ends_with("mod.rs") || path.ends_with("lib.rs");
        let folder = if is_root { path.with_file_name("") } else { path.with_extension("") };
        files.extend(declared.captures_iter(text).map(|found| folder.join(format!("{}.rs", &found[2]))));
    }
    assert!(files.iter().all(|file| file.is_file()), "{files:#?}");
    files
}

/// The crates beside the program that are one part each.
const CRATES: &[&str] = &["base", "config", "declaration", "pictures", "schema", "storage", "text"];

/// The crate that is made of modules, as the program is.
const CORE: &str = "core";

/// The map in `src/lib.rs`: crates and modules with their layers, lowest first.
fn layers() -> BTreeMap<String, usize> {
    let map = include_str!("../src/lib.rs");
    let mut layers = BTreeMap::new();
    let mut highest = 0;
    for row in map.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let (layer, rest) = row.split_once(" | ").expect("a column");
        let Ok(layer) = layer.parse::<usize>() else { continue };
        assert!(layer == highest || layer == highest + 1, "the map goes from {highest} to {layer}");
        highest = layer;
        let names = rest.split_once(" | ").expect("two columns").0;
        for name in names.split(", ") {
            let name = name.trim_start_matches("[`").trim_end_matches("`]").trim_start_matches("cms_");
            assert!(layers.insert(name.to_owned(), layer).is_none(), "{name} is in the map twice");
        }
    }
    layers
}

/// The modules that each module uses, without its tests.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let sources = sources();
    let tests = test_files(&sources);
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let guard = regex::Regex::new(r"crate::features::\w+::guard\b").expect("a pattern");
    let of_crate = regex::Regex::new(r"\bcms_(?:core::)?(\w+)(?:::|;| as )").expect("a pattern");
    for (path, text) in sources.iter().filter(|(path, _)| !tests.contains(path)) {
        let own = module(path);
        if own == "main" || own == "lib" {
            continue;
        }
        let code = product(text);
        let used = uses.entry(own.clone()).or_default();
        let name = |part: &str| part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        // Within a crate that is one part, `crate::` is the crate itself.
        if !CRATES.contains(&own.as_str()) {
            let together = code.contains("crate::{") || code.contains("cms_core::{");
            assert!(!together, "{}: one `use` for each module", path.display());
            used.extend(guard.replace_all(code, "crate::access").split("crate::").skip(1).map(name));
        }
        used.extend(of_crate.captures_iter(code).map(|found| found[1].to_owned()));
        used.remove(&own);
    }
    uses
}

#[test]
fn the_map_names_every_module() {
    let map: BTreeSet<String> = layers().into_keys().collect();
    let declared = regex::Regex::new(r"(?m)^(?:pub(?:\(crate\))? )?mod (\w+);$").expect("a pattern");
    let roots = concat!(include_str!("../src/lib.rs"), include_str!("../crates/core/src/lib.rs"));
    let declared: BTreeSet<String> = declared.captures_iter(roots).map(|found| found[1].to_owned()).collect();
    let crates = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).expect("a folder");
    let crates = crates.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
    let mut crates: BTreeSet<String> = crates.collect();
    assert!(crates.remove(CORE));
    assert_eq!(crates, CRATES.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(map, &declared | &crates);
}

#[test]
fn modules_use_only_what_is_above_them() {
    let layers = layers();
    let mut wrong = BTreeSet::new();
    for (own, used) in uses() {
        let at = layers[&own];
        wrong.extend(
            used.iter().filter(|used| layers.get(*used).is_some_and(|l| *l > at)).map(|u| format!("{own} uses {u}")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Modules of one layer may use each other, but not in a circle.
#[test]
fn no_modules_use_each_other_in_a_circle() {
    let mut uses = uses();
    // A module that uses nothing that is left is in no circle.
    loop {
        let free: BTreeSet<String> =
            uses.iter().filter(|(_, used)| used.is_empty()).map(|(own, _)| own.clone()).collect();
        if free.is_empty() {
            break;
        }
        uses.retain(|own, _| !free.contains(own));
        uses.values_mut().for_each(|used| used.retain(|name| !free.contains(name)));
    }
    assert!(uses.is_empty(), "these modules are in circles, or use what is in one: {uses:#?}");
}

/// Modules that write rows without a request: `families` defines what a row is.
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

/// Lines of a file at most, its tests not counted.
const MOST_FILE_LINES: usize = 600;

/// Lines of a function at most.
const MOST_FUNCTION_LINES: usize = 70;

/// Functions that are longer, and why.
const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[
    ("registry/link/argument.rs", "arg", "one member after another of an argument's declaration"),
    ("registry/link/resource.rs", "resource", "one member after another of a resource's declaration"),
];

/// The functions of a formatted file with their lengths in lines: the brace that closes one stands where it begins.
fn functions(code: &str) -> Vec<(String, usize)> {
    let head = regex::Regex::new(r"^( *)(?:pub(?:\([a-z]+\))? )?(?:const )?(?:async )?(?:unsafe )?fn (\w+)");
    let head = head.expect("a pattern");
    let lines: Vec<&str> = code.lines().collect();
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(found) = head.captures(line) else { continue };
        if line.ends_with([';', '}']) {
            continue;
        }
        let ends = |line: &&str| {
            line.strip_prefix(&found[1]).is_some_and(|l| l == "}" || l.starts_with(')') && l.ends_with(';'))
        };
        let length = lines[start..].iter().position(ends).expect("an end") + 1;
        functions.push((found[2].to_owned(), length));
    }
    functions
}

#[test]
fn files_and_functions_fit_on_a_few_screens() {
    let sources = sources();
    let tests = test_files(&sources);
    let (mut large, mut known, mut count) = (Vec::new(), Vec::new(), 0);
    for (path, text) in sources.iter().filter(|(path, _)| !tests.contains(path)) {
        let file = file(path);
        let code = product(text);
        let lines = code.lines().count();
        if lines > MOST_FILE_LINES {
            large.push(format!("{file} has {lines} lines"));
        }
        for (name, lines) in functions(code) {
            count += 1;
            match LONG_FUNCTIONS.iter().find(|(known, function, _)| *known == file && *function == name) {
                Some(function) if lines > MOST_FUNCTION_LINES => known.push(function),
                _ if lines > MOST_FUNCTION_LINES => large.push(format!("{file}: {name} has {lines} lines")),
                _ => {}
            }
        }
    }
    assert!(large.is_empty(), "{large:#?}");
    assert_eq!(known.len(), LONG_FUNCTIONS.len(), "one of these is short by now: {LONG_FUNCTIONS:#?}");
    assert!(count > 1_000, "{count} functions were found");
}

#[test]
fn a_type_has_one_definition_in_its_crate() {
    let definition = regex::Regex::new(
        r"(?m)^(?: *(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|union)|(?:pub(?:\([a-z: ]+\))? )?type) ([A-Z]\w*)",
    );
    let definition = definition.expect("a pattern");
    let mut places: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let own = Some(module(&path)).filter(|name| CRATES.contains(&name.as_str()));
        for found in definition.captures_iter(&text) {
            let key = (own.clone().unwrap_or_else(|| "src".to_owned()), found[1].to_owned());
            places.entry(key).or_default().push(file(&path));
        }
    }
    let twice: Vec<_> = places.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} opens with no `//!` line", path.display());
    }
}

/// A family's rules belong to its file; elsewhere the registry and the resource are asked. The number only falls.
#[test]
fn few_places_name_a_family() {
    const MOST: usize = 56;
    let elsewhere = sources().into_iter().filter(|(path, _)| !file(path).starts_with("families/"));
    let lines = elsewhere.map(|(_, text)| text.lines().filter(|line| line.contains("Family::")).count());
    let lines: usize = lines.sum();
    assert!(lines <= MOST, "{lines} lines outside crates/core/src/families name a family; {MOST} did before");
}

#[test]
fn comments_begin_with_a_subject() {
    let comment = regex::Regex::new(r"^\s*//[/!]? What [^?]*$").expect("a pattern");
    for (path, text) in files(&["src", "crates", "tests", "benches"]) {
        let found: Vec<&str> = text.lines().filter(|line| comment.is_match(line)).collect();
        assert!(found.is_empty(), "{}: name the subject: {found:?}", path.display());
    }
}

#[test]
fn sql_is_written_in_storage_alone_and_actix_named_in_http_alone() {
    let sql = regex::Regex::new(r"SELECT |INSERT INTO|DELETE FROM|\bUPDATE\s[^;]{1,200}?\bSET\b").expect("a pattern");
    for (path, text) in sources() {
        let (own, text) = (module(&path), product(&text));
        assert!(own == "storage" || !sql.is_match(text), "{} holds SQL", path.display());
        // The log sets the levels of the library's lines, whose names are those of its crates.
        assert!(own == "http" || own == "log" || !text.contains("actix_"), "{} names actix", path.display());
    }
}

#[test]
fn the_commands_and_files_of_the_guide_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("a file");
    let (guide, commands) = (read("CONTRIBUTING.md"), read("justfile"));
    let command = regex::Regex::new(r"`just ([a-z0-9-]+)").expect("a pattern");
    let known = |name: &str| commands.lines().any(|line| line.split([' ', ':']).next() == Some(name));
    let unknown: Vec<&str> = command
        .captures_iter(&guide)
        .filter_map(|found| Some(found.get(1)?.as_str()))
        .filter(|name| !known(name))
        .collect();
    assert!(unknown.is_empty(), "the justfile has none of {unknown:?}");
    let recipes = guide.split("\n## ").find(|section| section.starts_with("Recipes\n")).expect("the section");
    let file = regex::Regex::new(r"`([\w./-]+(?:/|\.(?:rs|ts|tsx|md|json|toml)))`").expect("a pattern");
    let (mut folder, mut missing, mut count) = (PathBuf::new(), Vec::new(), 0);
    for found in file.captures_iter(recipes) {
        let path = root.join(&found[1]);
        let placeholder = found[1].contains("NAME") || found[1].contains("ENGINE");
        match path.parent() {
            Some(parent) if path.exists() || (placeholder && parent.is_dir()) => folder = parent.to_owned(),
            _ if folder.join(&found[1]).exists() => {}
            _ => missing.push(found[1].to_owned()),
        }
        count += 1;
    }
    assert!(missing.is_empty() && count > 40, "{count} files; these are none: {missing:?}");
}

/// `tests/faults/run` plants them by hand, and long after a change; whether they still apply is seen at once.
#[test]
fn the_planted_faults_fit_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut outdated = Vec::new();
    for entry in root.join("tests/faults").read_dir().expect("a folder") {
        let patch = entry.expect("an entry").path();
        if patch.extension().is_some_and(|extension| extension == "patch") {
            let check =
                std::process::Command::new("git").args(["apply", "--check"]).arg(&patch).current_dir(root).output();
            let check = check.expect("git");
            outdated.extend((!check.status.success()).then(|| String::from_utf8_lossy(&check.stderr).into_owned()));
        }
    }
    assert!(outdated.is_empty(), "{outdated:#?}");
}

/// Slow work needs a `JobOwner`. A request gets one from its scope, which has none while a transaction is open.
#[test]
fn requests_do_slow_work_outside_transactions_alone() {
    let maker = regex::Regex::new(r"JobOwner::(user|network|PROGRAM)\b").expect("a pattern");
    let files = |found: &dyn Fn(&str) -> bool| -> Vec<String> {
        let found = sources().into_iter().filter(|(_, text)| found(product(text))).map(|(path, _)| file(&path));
        found.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let makers = files(&|code| maker.is_match(code));
    // The last one is where a request's own is made; before it, memory and commands.
    let known = [
        "boot.rs",
        "commands/doctor.rs",
        "engine/mod.rs",
        "http/mod.rs",
        "http/receive.rs",
        "import/attachments.rs",
        "scope.rs",
    ];
    assert_eq!(makers, known);
    let reach = files(&|code| code.contains("shared.media.files"))
        .into_iter()
        .filter(|file| file.starts_with("handlers") || file.starts_with("features"));
    assert_eq!(reach.collect::<Vec<_>>(), Vec::<String>::new(), "handlers reach files through `file_store`");
}

#[test]
fn every_behaviour_has_a_user_in_the_shipped_declarations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut declared = String::new();
    for folder in ["schemas", "schemas/core", "schemas/dialects", "schemas/profiles"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                declared.push_str(&std::fs::read_to_string(path).expect("a file"));
            }
        }
    }
    let vocabulary = cms_core::engine::vocabulary();
    // `echo` is for trying arguments out, the rest for your own resources.
    let spare = ["echo", "authenticated", "textarea", "plain.list", "unix", "meta"];
    let all = vocabulary.kinds().into_iter().flat_map(|(_, members)| members).map(|member| member.name);
    let unused: Vec<&str> = all
        .filter(|name| !spare.contains(name))
        .filter(|name| !declared.contains(&format!("\"{name}\"")) && !declared.contains(&format!("\"{name}:")))
        .collect();
    assert!(unused.is_empty(), "no declaration uses {unused:?}");
}

/// Which behaviour a declaration names is a position in a table, and its meaning to other parts a flag of its row. Names are
/// read where people see them, and where a renderer is looked up.
#[test]
fn behaviours_are_not_compared_by_name() {
    let read = sources().into_iter().filter(|(_, text)| product(text).contains(".is.name"));
    let files: BTreeSet<String> = read.map(|(path, _)| file(&path)).collect();
    assert_eq!(files.into_iter().collect::<Vec<_>>(), ["behaviours/dynamic/mod.rs", "features/console/describe.rs"]);
}

/// The files that `routes.toml` includes.
fn core() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/core");
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    entries.map(|name| format!("schemas/core/{}", name.to_string_lossy())).collect()
}

#[test]
fn the_file_that_people_edit_is_short() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("routes.toml")).expect("a file");
    assert!(
        text.lines().count() <= 150,
        "routes.toml has {} lines; the rest belongs in schemas/core",
        text.lines().count()
    );
}

#[test]
fn lines_of_the_shipped_declarations_fit_on_a_screen() {
    for file in core().into_iter().chain(["routes.toml".to_owned(), "schemas/dialects/wp.toml".to_owned()]) {
        // Expressions of XML-RPC are as long as what they say.
        if file.ends_with("xmlrpc.toml") {
            continue;
        }
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).expect("declarations");
        let lines = text.lines().enumerate();
        let long: Vec<usize> = lines.filter(|(_, line)| line.chars().count() > 140).map(|(at, _)| at + 1).collect();
        assert!(long.is_empty(), "these lines of {file} are longer than 140 characters: {long:?}");
    }
}

#[test]
fn every_error_code_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let product: String = sources().iter().map(|(_, text)| product(text)).collect();
    let used = |variant: &str| {
        let variant = regex::Regex::new(&format!(r"Code::{variant}\b")).expect("a pattern");
        variant.is_match(&product)
    };
    let catalogue = std::fs::read_to_string(root.join("crates/core/src/error.rs")).expect("a file");
    let variant = regex::Regex::new(r#"(?m)^    (\w+) = "\w+", "#).expect("a pattern");
    let variants: Vec<&str> =
        variant.captures_iter(&catalogue).filter_map(|found| Some(found.get(1)?.as_str())).collect();
    assert!(variants.len() > 50, "{variants:?}");
    let unused: Vec<&str> = variants.into_iter().filter(|variant| !used(variant)).collect();
    assert!(unused.is_empty(), "nothing answers {unused:?}; a code of one resource is declared in [codes]");
    let mut declared = String::new();
    let schemas = ["schemas/comment.json", "schemas/dialects/menu-item.json", "schemas/dialects/menu.json"];
    let schemas = schemas.into_iter().chain(["schemas/dialects/wp.toml"]).map(str::to_owned);
    for file in core().into_iter().chain(schemas) {
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

/// Files with statuses of their own, and why.
const OWN_STATUSES: &[(&str, &str)] = &[
    ("error.rs", "the catalogue"),
    ("outbound.rs", "those of other servers"),
    ("commands/doctor.rs", "those that this server has to answer with"),
    ("http/respond.rs", "what HTTP itself answers: not modified, and a connection that is closed"),
    ("http/files.rs", "what HTTP itself answers: parts of files"),
];

#[test]
fn statuses_and_codes_are_in_the_catalogue() {
    let own = regex::Regex::new(
        r#"(?x)StatusCode::[A-Z]{2}|"rest_[a-z]+_[a-z_]+"
        |\bstatus(?:\(\))?\s(?:[=!<>]=?|:)\s\d{3}\b|with_status\(\d|Code::\w+,\s\d{3}\b|unwrap_or\([2-5]0\d\)
        |\b(?:Json|Fixed|bad|form|login|lost|message|page|problem|redirect|refused|reply)\((?:[^()"]*,\s)?[2-5]\d\d\b"#,
    );
    let own = own.expect("a pattern");
    let (mut wrong, mut known) = (Vec::new(), BTreeSet::new());
    for (path, text) in sources() {
        let file = file(&path);
        if CRATES.contains(&module(&path).as_str()) || file.starts_with("fuzzing/") {
            continue;
        }
        let code = product(&text).lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code.filter(|line| own.is_match(line)) {
            match OWN_STATUSES.iter().find(|(of, _)| *of == file) {
                Some((of, _)) => drop(known.insert(*of)),
                None => wrong.push(format!("{file}: {}", line.trim())),
            }
        }
    }
    assert!(wrong.is_empty(), "these belong in crates/core/src/error.rs: {wrong:#?}");
    assert_eq!(known.len(), OWN_STATUSES.len(), "one of these has none any more: {known:?}");
}

/// Where a line of it is too long, rustfmt leaves a whole table as it is, and says nothing.
#[test]
fn rustfmt_formats_every_table() {
    let begins = regex::Regex::new(r"^(?:pub(?:\(\w+\))? )?(?:const|static) \w+: [^=]* =(?: &?\[)?$");
    let begins = begins.expect("a pattern");
    let width = include_str!("../rustfmt.toml").lines().find_map(|line| line.strip_prefix("max_width = "));
    let width: usize = width.expect("a width").parse().expect("a number");
    let (mut long, mut tables) = (Vec::new(), 0);
    for (path, text) in sources() {
        let lines: Vec<&str> = product(&text).lines().collect();
        let starts = (0..lines.len()).filter(|at| begins.is_match(lines[*at]));
        for start in starts.filter(|at| *at == 0 || lines[at - 1] != "#[rustfmt::skip]") {
            tables += 1;
            let table = lines[start..].iter().take_while(|line| !line.ends_with(';'));
            let wide = table.filter(|line| line.chars().count() > width && !line.trim_start().starts_with("//"));
            long.extend(wide.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
    assert!(tables > 80, "{tables} tables were found");
    assert!(long.is_empty(), "{long:#?}");
}

/// Files that write markup without the writer, and why that is safe.
const OWN_MARKUP: &[(&str, &str)] = &[
    ("text/html_policy.rs", "the sanitiser decides on each tag and value itself"),
    ("text/balance.rs", "closes tags that are there, by their own names"),
    ("text/autop.rs", "adds paragraphs, which have no values"),
    ("text/strip.rs", "looks for a closing tag"),
    ("text/highlight.rs", "adds marks without values around escaped text"),
    ("xmlrpc/wire.rs", "is XML, and its writer"),
    ("xmlrpc/rsd.rs", "is XML, the values escaped"),
    ("import/xml.rs", "names tags in messages"),
    ("commands/reference.rs", "is Markdown of our own descriptions"),
    ("features/oembed/mod.rs", "is XML of keys of its own, the values escaped"),
    ("features/sitemaps/mod.rs", "is XML of elements of its own, the values escaped"),
];

/// Where finished HTML is inserted into HTML, and how often. Each place has a reason to trust it: a rendered property,
/// what a renderer made, or what went through the sanitiser with the text around it.
const FINISHED_HTML: &[(&str, usize)] = &[
    ("behaviours/dynamic/bindings.rs", 1),
    ("behaviours/dynamic/comments.rs", 1),
    ("behaviours/dynamic/lists.rs", 3),
    ("behaviours/dynamic/loops.rs", 1),
    ("behaviours/dynamic/menus.rs", 1),
    ("behaviours/dynamic/mod.rs", 3),
    ("behaviours/dynamic/players.rs", 2),
    ("behaviours/dynamic/social.rs", 1),
    ("features/oembed/mod.rs", 1),
    ("features/widgets/html.rs", 2),
    ("text/dress.rs", 2),
    ("text/shortcode.rs", 2),
];

#[test]
fn markup_is_made_by_its_writer() {
    let markup =
        regex::Regex::new(r#"(format!|write!|writeln!|push_str)\((out, |&mut \w+, |\n\s*)*"([^"]*[^"P])?<(/|[a-z])"#);
    let markup = markup.expect("a pattern");
    let (mut finished, mut own) = (Vec::new(), Vec::new());
    for (path, text) in sources() {
        let file = file(&path);
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
            finished.push((file, count));
        }
    }
    assert!(own.is_empty(), "text::html::Html makes markup and escapes what is in it:\n{}", own.join("\n"));
    finished.sort();
    let expected: Vec<(String, usize)> =
        FINISHED_HTML.iter().map(|(file, count)| ((*file).to_owned(), *count)).collect();
    assert_eq!(finished, expected, "check each new place: is it safe HTML whoever wrote its content?");
}

/// Words that are names of resources and mean something else in the console, too, and what.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("autosaves", "the operation of a record that lists what was saved while it was written"),
    ("media", "the attribute of a picture or recording in the editor"),
    ("navigation", "the part of the page"),
    ("revisions", "the feature, and the operation of a record"),
    ("search", "the argument of lists, the type of a field of HTML, and an icon"),
    ("settings", "an icon"),
    ("types", "an option of the control for files"),
];

/// The console's source without comments and imports.
fn console_sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|end| end == "ts" || end == "tsx") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("console/src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    // Comments of both kinds, imports, and imports at run time.
    let left_out = [
        r"(?s:/\*.*?\*/)",
        r"(?m:(?:^|\s)//[^\n]*$)",
        r#"(?m:^(?:import|export) [^;]*?from "[^"]*";)"#,
        r#"import\("[^"]*"\)"#,
    ];
    let left_out = regex::Regex::new(&left_out.join("|")).expect("a pattern");
    let read = files.iter().map(|path| {
        let text = std::fs::read_to_string(path).expect("a file");
        let name = path.strip_prefix(&root).expect("below").display().to_string();
        (name, left_out.replace_all(&text, " ").into_owned())
    });
    read.collect()
}

#[test]
fn the_console_names_no_resource() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = regex::Regex::new(r"(?m)^\[resources\.(\w+)\]").expect("a pattern");
    let mut names = BTreeSet::new();
    let others = ["schemas/abilities.toml", "schemas/console.toml", "schemas/dialects/wp.toml"].map(str::to_owned);
    for file in core().into_iter().chain(others) {
        let text = std::fs::read_to_string(root.join(file)).expect("declarations");
        names.extend(table.captures_iter(&text).map(|found| found[1].to_owned()));
    }
    assert!(names.len() > 40, "{names:?}");
    let (mut wrong, mut other) = (Vec::new(), BTreeSet::new());
    let sources = console_sources();
    assert!(sources.len() > 50, "{} files", sources.len());
    for name in &names {
        // As a text of its own, as a segment of a path, and as a member.
        let path = name.replace('_', "[-_]");
        let quoted = regex::Regex::new(&format!(r#"["'`]{path}["'`]|/{path}(?:[/?"'`$]|$)"#)).expect("a pattern");
        let requested = regex::Regex::new(&format!(r"/v\d+/{path}\b")).expect("a pattern");
        let meant = OTHER_WORDS.iter().any(|(word, _)| word == name);
        for (file, text) in &sources {
            let found = quoted.find(text).filter(|_| !meant).or_else(|| requested.find(text));
            wrong.extend(found.map(|found| format!("{file}: {}", found.as_str())));
            if meant && quoted.is_match(text) {
                other.insert(name.as_str());
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "the console follows from what the server describes; it names resources here: {wrong:#?}"
    );
    assert_eq!(other.len(), OTHER_WORDS.len(), "one of these is not needed any more: {OTHER_WORDS:?}, {other:?}");
}

/// `check` knows the words of the console: each that it accepts is in the console's tables.
#[test]
fn the_console_has_the_words_that_declarations_may_use() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let words = read("crates/core/src/registry/link/views.rs");
    let tables = [
        ("ICONS", "console/src/ui/icon.tsx", r#"(?m)^  "?([a-z-]+)"?: ""#),
        ("CONTROLS", "console/src/model/control-table.ts", r#"name: "([a-z-]+)""#),
        ("DISPLAYS", "console/src/displays/choice.ts", r#"(?m)^  "([a-z-]+)","#),
    ];
    for (list, file, pattern) in tables {
        let (_, rest) = words.split_once(&format!("const {list}: &[&str] = &[")).expect("the list");
        let accepted = rest.split_once("];").expect("its end").0.split('"').skip(1).step_by(2);
        let accepted: BTreeSet<&str> = accepted.collect();
        let text = read(file);
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        let known: BTreeSet<&str> =
            pattern.captures_iter(&text).filter_map(|found| Some(found.get(1)?.as_str())).collect();
        assert!(accepted.len() > 10 && known.len() > 10, "{list}");
        let missing: Vec<_> = accepted.difference(&known).collect();
        assert!(missing.is_empty(), "{file} has none of {missing:?}");
    }
}

/// Files for engines and platforms, with which nothing is deployed here.
const DEPLOYMENTS: &[&str] = &["compose.yml", "compose-nodes.yml", "fly.toml", "kubernetes.yml", "render.yaml"];

/// The files of `docs/deploy` are read, and what they say of the server is so: keys, paths, ports, user.
#[test]
fn deployments_name_what_the_server_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let (keys, image) = (read("docs/configuration.md"), read("docs/deploy/Containerfile"));
    let variable = regex::Regex::new(r"\bCMS_([A-Z0-9]+)__([A-Z0-9_]+)").expect("a pattern");
    let path = regex::Regex::new(r#"path: (/health[a-z/]*)|health_uri (\S+)|(?:Path: |path = ")(/cms-json/)"#);
    let path = path.expect("a pattern");
    let served = read("crates/core/src/http/admin.rs");
    for name in DEPLOYMENTS {
        let text = read(&format!("docs/deploy/{name}"));
        match name.ends_with(".toml") {
            true => drop(text.parse::<toml::Table>().unwrap_or_else(|error| panic!("{name}: {error}"))),
            false => {
                let documents = yaml_rust2::YamlLoader::load_from_str(&text);
                assert!(!documents.unwrap_or_else(|error| panic!("{name}: {error}")).is_empty(), "{name}");
            }
        }
        let mut named = 0;
        for found in variable.captures_iter(&text) {
            let key = format!("{}.{}", &found[1], &found[2].replace("__", ".")).to_lowercase();
            assert!(keys.contains(&format!("`{key}`")), "{name}: there is no key {key}");
            named += 1;
        }
        assert!(named >= 3 && text.contains("Checked: "), "{name}");
        for found in path.captures_iter(&text) {
            let path = found.iter().skip(1).flatten().next().expect("a path").as_str();
            assert!(path == "/cms-json/" || served.contains(&format!("\"{path}\"")), "{name}: {path}");
        }
    }
    let pods = yaml_rust2::YamlLoader::load_from_str(&read("docs/deploy/kubernetes.yml")).expect("YAML");
    let [claim, deployment, service] = &pods[..] else { panic!("a claim, a deployment and a service") };
    let pod = &deployment["spec"]["template"];
    let container = &pod["spec"]["containers"][0];
    let ports: BTreeSet<&str> =
        container["ports"].as_vec().expect("ports").iter().filter_map(|p| p["name"].as_str()).collect();
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        assert!(ports.contains(container[probe]["httpGet"]["port"].as_str().expect("a port")), "{probe}");
    }
    assert!(ports.contains(service["spec"]["ports"][0]["targetPort"].as_str().expect("a port")));
    assert_eq!(service["spec"]["selector"], pod["metadata"]["labels"]);
    assert_eq!(deployment["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"]);
    let volumes = pod["spec"]["volumes"].as_vec().expect("volumes");
    assert!(volumes.iter().any(|v| v["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]));
    for mount in container["volumeMounts"].as_vec().expect("mounts") {
        assert!(volumes.iter().any(|volume| volume["name"] == mount["name"]), "{mount:?}");
    }
    let user = pod["spec"]["securityContext"]["runAsUser"].as_i64().expect("a user");
    assert!(image.contains(&format!("USER {user}:{user}")) && image.contains("EXPOSE 8080"));
    assert_eq!(container["ports"][0]["containerPort"].as_i64(), Some(8080));
}
