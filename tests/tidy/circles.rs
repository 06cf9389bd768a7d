//! Files of a crate use those below them, and those never use them back: which file uses which is read from their paths.

use super::{CRATES, product, sources, test_files};
use std::collections::{BTreeMap, BTreeSet};

/// How many files of a crate are in circles. The numbers only fall; a crate that is not listed has none.
const CIRCLES: &[(&str, usize)] = &[("config", 3), ("declaration", 3), ("pictures", 3), ("schema", 11), ("text", 14)];

/// A module, as a path from the crate: `["sqlite", "reader"]`.
type Module = Vec<String>;

/// The paths that a `use` names: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(before: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return paths.extend((!path.is_empty()).then(|| format!("{before}{path}")));
    };
    let members = rest.rsplit_once('}').map_or(rest, |(members, _)| members);
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in members.char_indices().chain([(members.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&format!("{before}{}", head.trim()), &members[start..at], paths);
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// A crate's modules: what each uses, and under which names it passes things on.
#[derive(Default)]
struct Modules {
    uses: BTreeMap<Module, Vec<Module>>,
    passed_on: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Modules {
    fn of(name: &str) -> Modules {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("crates").join(name).join("src");
        let sources = sources();
        let tests = test_files(&sources);
        let own = sources.iter().filter(|(path, _)| {
            path.starts_with(&root) && !path.ancestors().any(|above| tests.contains(&above.with_extension("rs")))
        });
        let module = |path: &std::path::Path| -> Module {
            let path = path.strip_prefix(&root).expect("a file of the crate").with_extension("");
            let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
            parts.filter(|part| part != "mod" && part != "lib").collect()
        };
        let files: BTreeMap<Module, &str> = own.map(|(path, text)| (module(path), product(text))).collect();
        let mut modules = Modules::default();
        modules.uses.extend(files.keys().map(|module| (module.clone(), Vec::new())));
        let comment = regex::Regex::new(r"//[^\n]*").expect("a pattern");
        for (module, text) in &files {
            modules.read(module, &comment.replace_all(text, ""));
        }
        modules
    }

    fn read(&mut self, module: &Module, code: &str) {
        let uses = regex::Regex::new(r"(pub(?:\([^)]*\))? )?\buse ([^;]+);").expect("a pattern");
        for found in uses.captures_iter(code) {
            let mut paths = Vec::new();
            expand("", &found[2], &mut paths);
            for path in paths {
                let Some(path) = self.absolute(module, &path) else { continue };
                match (found.get(1), path.last()) {
                    (Some(_), Some(name)) => {
                        self.passed_on.entry(module.clone()).or_default().insert(name.clone(), path.clone());
                    }
                    _ => self.uses.get_mut(module).expect("a module").push(path),
                }
            }
        }
        let inline = regex::Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").expect("a pattern");
        let rest = uses.replace_all(code, "");
        let paths: Vec<Module> =
            inline.find_iter(&rest).filter_map(|path| self.absolute(module, path.as_str())).collect();
        self.uses.get_mut(module).expect("a module").extend(paths);
    }

    /// A path from the crate; `None`: of another crate.
    fn absolute(&self, module: &Module, path: &str) -> Option<Module> {
        let mut parts = path.split("::").map(str::trim).peekable();
        let mut from = module.clone();
        match *parts.peek()? {
            "crate" => from.clear(),
            "self" | "super" => {}
            child => {
                from.push(child.to_owned());
                return self.uses.contains_key(&from).then(|| {
                    from.extend(parts.skip(1).map(str::to_owned));
                    from
                });
            }
        }
        for part in parts {
            match part {
                "crate" | "self" => {}
                "super" => drop(from.pop()),
                part => from.push(part.to_owned()),
            }
        }
        Some(from)
    }

    /// The file that defines what a path names, wherever that is passed on.
    fn definition(&self, path: &[String]) -> Module {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let known = (0..=path.len()).rev().find(|len| self.uses.contains_key(&path[..*len])).unwrap_or(0);
            let next = path.get(known).and_then(|name| self.passed_on.get(&path[..known])?.get(name));
            let Some(next) = next else { return path[..known].to_vec() };
            path = [next.as_slice(), &path[known + 1..]].concat();
        }
        path
    }

    /// The files that are left when those that use nothing that is left, and those that nothing left uses, are taken away.
    fn circles(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let uses = |(module, paths): (&Module, &Vec<Module>)| {
            let used: BTreeSet<Module> = paths.iter().map(|path| self.definition(path)).collect();
            (module.clone(), used.into_iter().filter(|used| used != module).collect())
        };
        let mut uses: BTreeMap<Module, BTreeSet<Module>> = self.uses.iter().map(uses).collect();
        loop {
            let before = uses.len();
            let used: BTreeSet<Module> = uses.values().flatten().cloned().collect();
            uses.retain(|module, of| !of.is_empty() && used.contains(module));
            let left: BTreeSet<Module> = uses.keys().cloned().collect();
            uses.values_mut().for_each(|of| of.retain(|module| left.contains(module)));
            if uses.len() == before {
                return uses;
            }
        }
    }
}

#[test]
fn files_of_a_crate_use_each_other_in_one_direction() {
    let (mut wrong, mut arrows) = (Vec::new(), 0);
    for name in CRATES {
        let modules = Modules::of(name);
        arrows += modules.uses.values().map(Vec::len).sum::<usize>();
        let circles = modules.circles();
        let listed = CIRCLES.iter().find(|(of, _)| of == name).map_or(0, |(_, files)| *files);
        if circles.len() != listed {
            wrong.push((name, circles.len(), circles));
        }
    }
    assert!(wrong.is_empty(), "crates, how many of their files are in circles, and what they use there: {wrong:#?}");
    assert!(arrows > 1000, "{arrows} uses were found");
}

/// The rule is worth something: it finds a circle of two files, also where a third one passes the names on.
#[test]
fn a_circle_is_found_through_a_file_that_passes_names_on() {
    let mut modules = Modules::default();
    let path = |path: &str| -> Module { path.split("::").map(str::to_owned).collect() };
    for module in ["", "room", "room::a", "room::b"] {
        modules.uses.insert(if module.is_empty() { Vec::new() } else { path(module) }, Vec::new());
    }
    modules.read(&path("room"), "mod a;\nmod b;\npub use a::{A, Other};\npub(super) use b::B as C;");
    modules.read(&path("room::a"), "use super::b::B;");
    assert_eq!(modules.circles().len(), 0);
    modules.read(&path("room::b"), "fn f() -> crate::room::A { crate::room::A::new() }");
    assert_eq!(modules.circles().into_keys().collect::<Vec<_>>(), [path("room::a"), path("room::b")]);
}
