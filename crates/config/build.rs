//! Lists the shipped declaration files (`routes.toml` first, then the files of `schemas`) for `shipped`.

#[path = "../../build/table.rs"]
mod table;

use std::path::PathBuf;

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("shipped.rs");
    let mut files = Vec::new();
    for part in ["routes.toml", "schemas"] {
        println!("cargo:rerun-if-changed=../../{part}");
        table::collect(&root, &root.join(part), &["toml", "json"], &mut files);
    }
    let text = table::table("/../..", &files, str::to_owned, "include_str");
    std::fs::write(&out, text).expect("cargo's own directory is writable");
}
