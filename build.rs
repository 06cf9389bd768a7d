//! Lists the built files of the console for `pages::console`.

#[path = "build/table.rs"]
mod table;

use std::path::PathBuf;

fn main() {
    // Addresses that only have to be moved when the program is loaded take a bit each instead of 24 bytes. Linkers that do
    // not know the word pass over it.
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("console.rs");
    let dist = "console/dist";
    println!("cargo:rerun-if-changed={dist}");
    let mut files = Vec::new();
    table::collect(&root.join(dist), &root.join(dist), &["br"], &mut files);
    // A release without them would serve no console, and nobody would notice before people open it.
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    assert!(
        !release || files.iter().any(|file| file == "index.html.br"),
        "{dist} has no built console. Take the folder from the repository, or build it: cd console, npm ci, npm run build"
    );
    let served = |file: &str| file.trim_end_matches(".br").to_owned();
    let text = table::table("/console/dist", &files, served, "include_bytes");
    std::fs::write(&out, text).expect("cargo's own directory is writable");
}
