//! Every parser of foreign bytes keeps its promises: over the inputs in `fuzz/corpus`, and over generated ones.
//!
//! The same functions run guided by coverage in the workspace `fuzz/`; what is found there becomes a file of the
//! corpus. Inputs are generated from a fixed seed, so that a run is like the one before; `FUZZ_CASES` makes more of them.

#[path = "common/drive.rs"]
mod drive;
#[path = "common/html.rs"]
mod html;

use cms_server::fuzzing::{FuzzTarget, TARGETS};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngSeed, TestCaseError, TestError, TestRunner};
use std::any::Any;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Generated inputs for each target. They are the same in every run; more of them are worth their time once.
const CASES: u32 = 500;

/// Bytes of the longest generated input.
const LONGEST: usize = 8 << 10;

/// Inputs of one target in the corpus, and the bytes of the longest: the corpus is to stay small.
const MOST_KEPT: usize = 60;
const LONGEST_KEPT: u64 = 32 << 10;

macro_rules! targets {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { hold(stringify!($name)); })*
    };
}

targets! {
    head multipart query json arguments schema fields cursor sanitiser content blocks shortcodes texts page_head wxr xmlrpc
    exif png gif webp jpeg boxed declarations
}

#[test]
fn every_target_is_run_and_has_a_corpus() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, NAMES);
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).expect("the manifest");
    for target in TARGETS {
        assert!(manifest.contains(&format!("name = \"{}\"", target.name)), "{} has no program in fuzz/", target.name);
        let kept = kept(target);
        assert!(!kept.is_empty() && kept.len() <= MOST_KEPT, "{} inputs are kept for {}", kept.len(), target.name);
        for path in kept {
            assert!(fs::metadata(&path).expect("a file").len() <= LONGEST_KEPT, "{} is too long", path.display());
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn kept(target: &FuzzTarget) -> Vec<PathBuf> {
    let files = fs::read_dir(folder().join("corpus").join(target.name)).expect("a corpus");
    let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Holds a target to its promises.
fn hold(name: &str) {
    // Memory is counted for the whole process.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let corpus: Vec<(PathBuf, Vec<u8>)> = kept(target)
        .into_iter()
        .map(|path| {
            let bytes = fs::read(&path).expect("a file");
            (path, bytes)
        })
        .collect();
    // Targets that compile something once do it here, where nothing is measured.
    for (_, bytes) in &corpus {
        (target.run)(bytes, |_, _| Vec::new());
    }
    let mut highest = Highest::default();
    for (path, bytes) in &corpus {
        // The harness shows what is printed only if the test fails.
        println!("{}", path.display());
        highest.take(bytes.len(), drive::run(target, bytes));
    }
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        max_shrink_time: 20_000,
        rng_seed: RngSeed::Fixed(0x5eed),
        ..ProptestConfig::default()
    };
    let inputs: Vec<Vec<u8>> = corpus.into_iter().map(|(_, bytes)| bytes).collect();
    let highest = std::cell::RefCell::new(highest);
    // Of a broken promise only the shortest input is reported, not each on the way to it.
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let outcome = TestRunner::new(config).run(&generated(inputs, words(target.words)), |input| {
        let took = std::panic::catch_unwind(|| drive::run(target, &input));
        let took = took.map_err(|panic| TestCaseError::fail(sentence(&*panic)))?;
        highest.borrow_mut().take(input.len(), took);
        Ok(())
    });
    std::panic::set_hook(loud);
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => panic!("{name} breaks its promise at b\"{}\": {why}", input.escape_ascii()),
        Err(error) => panic!("{name}: {error}"),
    }
    println!("{name}: {:?}", highest.borrow());
}

fn sentence(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// The highest costs seen: what the bounds of a target are set by.
#[derive(Debug, Default)]
struct Highest {
    memory: usize,
    memory_per_byte: usize,
    milliseconds: u64,
    nanoseconds_per_byte: u64,
}

impl Highest {
    fn take(&mut self, length: usize, took: drive::Took) {
        self.memory = self.memory.max(took.memory);
        self.milliseconds = self.milliseconds.max(took.nanoseconds / 1_000_000);
        // Short inputs do not reveal the rate.
        if length >= 1_000 {
            self.memory_per_byte = self.memory_per_byte.max(took.memory / length);
            self.nanoseconds_per_byte = self.nanoseconds_per_byte.max(took.nanoseconds / length as u64);
        }
    }
}

/// Bytes of all kinds; words of the language in any order; corpus inputs with parts cut out, doubled, exchanged and
/// joined; and a few words many times over, which is where work grows with the square.
fn generated(corpus: Vec<Vec<u8>>, words: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        8 => prop::sample::select(words),
        1 => prop::collection::vec(any::<u8>(), 1..4),
        1 => "[ -~]{1,8}".prop_map(String::into_bytes),
    ];
    let sentence = prop::collection::vec(word.clone(), 0..40).prop_map(|words| words.concat());
    let kept = prop::sample::select(corpus);
    let spliced = (kept.clone(), any::<(Index, Index, Index)>(), sentence.clone(), kept.clone(), 0..4).prop_map(
        |(base, (from, to, at), sentence, other, kind)| {
            let bounds = (from.index(base.len() + 1), to.index(base.len() + 1));
            let (from, to) = (bounds.0.min(bounds.1), bounds.0.max(bounds.1));
            let other = &other[at.index(other.len() + 1)..];
            match kind {
                0 => [&base[..from], &base[to..]].concat(),
                1 => [&base[..to], &base[from..]].concat(),
                2 => [&base[..from], &sentence, &base[to..]].concat(),
                _ => [&base[..from], other].concat(),
            }
        },
    );
    let repeated =
        (prop::collection::vec(word, 1..4), spliced.clone(), 1..4_000_usize).prop_map(|(words, tail, times)| {
            let part = words.concat();
            let times = times.min(LONGEST / part.len().max(1));
            [part.repeat(times), tail].concat()
        });
    let again =
        (kept, 2..100_usize).prop_map(|(base, times)| base.repeat(times.min(LONGEST / base.len().max(1)).max(1)));
    prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..300),
        8 => sentence,
        8 => spliced,
        1 => repeated,
        1 => again,
    ]
}

/// The words of a dictionary, written as libFuzzer reads them: a word in quotes on each line, bytes as `\xNN`.
fn words(name: &str) -> Vec<Vec<u8>> {
    let path = folder().join("dictionaries").join(format!("{name}.dict"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| word(line).unwrap_or_else(|| panic!("{}: {line}", path.display()))).collect()
}

fn word(line: &str) -> Option<Vec<u8>> {
    let mut rest = line.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut word = Vec::new();
    while let Some((first, tail)) = rest.split_first() {
        (word, rest) = match (first, tail) {
            (b'\\', [b'x', high, low, tail @ ..]) => {
                let hex = std::str::from_utf8(&[*high, *low]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())?;
                ([word, vec![hex]].concat(), tail)
            }
            (b'\\', [escaped, tail @ ..]) => ([word, vec![*escaped]].concat(), tail),
            (b'"', _) => return None,
            (byte, tail) => ([word, vec![*byte]].concat(), tail),
        };
    }
    Some(word)
}
