//! The program of each target: which one it is, its name says.

#![no_main]

#[path = "../tests/common/drive.rs"]
mod drive;
#[path = "../tests/common/html.rs"]
mod html;

use cms_server::fuzzing::{FuzzTarget, TARGETS};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<&FuzzTarget> = LazyLock::new(|| {
    let target = TARGETS.iter().find(|target| target.name == env!("CARGO_BIN_NAME")).expect("a target");
    // Targets that compile something once do it here, where nothing is measured.
    for kept in
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/", env!("CARGO_BIN_NAME"))).expect("a corpus")
    {
        (target.run)(&std::fs::read(kept.expect("an entry").path()).expect("a file"), |_, _| Vec::new());
    }
    target
});

fuzz_target!(|input: &[u8]| {
    drive::run(&TARGET, input);
});
