//! Runs one target of `cms_server::fuzzing` over one input and holds it to its cost. Shared with the workspace in `fuzz/`.

use super::html;
use cms_server::fuzzing::FuzzTarget;
use peak_alloc::PeakAlloc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Counts for the whole process: targets run one after the other.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Longer texts are not checked: a browser's rules make a tree of the square of some texts.
const JUDGED: usize = 16 << 10;

/// The peak before the checker was last called, and the time that it took.
static PEAK: AtomicUsize = AtomicUsize::new(0);
static JUDGING: AtomicU64 = AtomicU64::new(0);

/// The times of a run.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    /// Bytes at the peak, above what was in use before.
    pub memory: usize,
    /// Of CPU time.
    pub nanoseconds: u64,
}

/// Runs a target. Panics where it breaks a promise, its cost included.
pub fn run(target: &FuzzTarget, input: &[u8]) -> Took {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    PEAK.store(0, Ordering::Relaxed);
    JUDGING.store(0, Ordering::Relaxed);
    let start = cpu_time();
    (target.run)(input, judge);
    let nanoseconds = (cpu_time() - start).saturating_sub(JUDGING.load(Ordering::Relaxed));
    let memory = MEMORY.peak_usage().max(PEAK.load(Ordering::Relaxed)).saturating_sub(before);
    let (length, cost) = (input.len(), target.cost);
    assert!(memory <= cost.memory_for(length), "{memory} bytes of memory for {length} bytes of input");
    assert!(nanoseconds <= cost.nanoseconds_for(length), "{nanoseconds} ns of CPU time for {length} bytes of input");
    Took { memory, nanoseconds }
}

/// Calls the HTML5 parser, whose own cost does not count.
fn judge(text: &str, allowed: &dyn Fn(&str, &str, &str) -> bool) -> Vec<String> {
    if text.len() > JUDGED {
        return Vec::new();
    }
    PEAK.fetch_max(MEMORY.peak_usage(), Ordering::Relaxed);
    let start = cpu_time();
    let found = html::outside(text, allowed);
    JUDGING.fetch_add(cpu_time() - start, Ordering::Relaxed);
    MEMORY.reset_peak_usage();
    found
}

/// Nanoseconds that this thread has run, which other processes do not lengthen; where the system does not report them,
/// those that have passed.
fn cpu_time() -> u64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|line| line.split(' ').next()?.parse().ok());
    told.unwrap_or_else(|| START.elapsed().as_nanos() as u64)
}
