//! Lists the shipped declaration files (`routes.toml` first, then the files beside it) for `config::shipped`, and the built
//! files of the console for `pages::console`.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    // Addresses that only have to be moved when the program is loaded take a bit each instead of 24 bytes. Linkers that do
    // not know the word pass over it.
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("shipped.rs");
    let mut files = Vec::new();
    for part in ["routes.toml", "xmlrpc.toml", "schemas"] {
        println!("cargo:rerun-if-changed={part}");
        collect(&root, &root.join(part), &["toml", "json"], &mut files);
    }
    let mut text = String::from("&[\n");
    for name in files {
        // The place of the sources is put in by the compiler, so that a build folder that was copied serves its new place.
        let file = format!("/{name}");
        text.push_str(&format!("    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),\n"));
    }
    text.push_str("]\n");
    fs::write(&out, text).expect("cargo's own directory is writable");
    fs::write(out.with_file_name("console.rs"), console(&root)).expect("cargo's own directory is writable");
}

/// The table of the console's files, by the names that they are served under. It is empty where nobody has built them; a
/// release without them would serve no console, and nobody would notice before people open it.
fn console(root: &Path) -> String {
    let dist = "console/dist";
    println!("cargo:rerun-if-changed={dist}");
    let mut files = Vec::new();
    collect(root, &root.join(dist), &["br"], &mut files);
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    assert!(
        !release || files.iter().any(|file| file.ends_with("/index.html.br")),
        "{dist} has no built console. Take the folder from the repository, or build it: cd console, npm ci, npm run build"
    );
    let mut text = String::from("&[\n");
    for file in files {
        let name = file.trim_start_matches(dist).trim_start_matches('/').trim_end_matches(".br");
        let file = format!("/{file}");
        text.push_str(&format!("    ({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),\n"));
    }
    text.push_str("]\n");
    text
}

/// The files of a folder whose names have one of these endings, in the order of their names.
fn collect(root: &Path, path: &Path, endings: &[&str], files: &mut Vec<String>) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        for entry in entries {
            collect(root, &entry, endings, files);
        }
    } else if path.is_file() && path.extension().is_some_and(|end| endings.iter().any(|ending| end == *ending)) {
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        files.push(name);
    }
}
