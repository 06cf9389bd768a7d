//! Lists the shipped declaration files (`routes.toml` first, then the files beside it) for `config::shipped`.

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
        collect(&root, &root.join(part), &mut files);
    }
    let mut text = String::from("&[\n");
    for name in files {
        // The place of the sources is put in by the compiler, so that a build folder that was copied serves its new place.
        let file = format!("/{name}");
        text.push_str(&format!("    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),\n"));
    }
    text.push_str("]\n");
    fs::write(out, text).expect("cargo's own directory is writable");
}

fn collect(root: &Path, path: &Path, files: &mut Vec<String>) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        for entry in entries {
            collect(root, &entry, files);
        }
    } else if path.is_file() && path.extension().is_some_and(|end| end == "toml" || end == "json") {
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        files.push(name);
    }
}
