//! Triggers a reload when a declaration file changes or SIGHUP arrives.
//!
//! Files are polled, five times a second, not subscribed to: the database usually is in the same directory as
//! `routes.toml`, and a subscription to that directory would wake this thread at every write to its log. Polling also
//! detects what subscriptions miss: files that are replaced by renaming, directories and optional files that appear,
//! links that change. It costs one `stat` per file. Nothing here knows what a reload does.

use cms_base::platform::{self, Hangups};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two polls. A change counts once two polls agree, so that an editor has finished writing.
const PAUSE: Duration = Duration::from_millis(200);

/// A running watch; it ends when this is dropped.
pub struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts to watch. `on_change` returns the files to watch from then on; an empty list leaves SIGHUP alone.
pub fn watch(files: Vec<PathBuf>, on_change: impl FnMut() -> Vec<PathBuf> + Send + 'static) -> io::Result<Watch> {
    let hangups = Hangups::new()?;
    let (stop, stopped) = channel();
    let looked = look(&files);
    let name = thread::Builder::new().name("watch".into());
    let thread = name.spawn(move || run(files, looked, on_change, &hangups, &stopped))?;
    Ok(Watch { stop: Some(stop), thread: Some(thread) })
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It ends with its next pause; a panic in `on_change` was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// The state of a file from outside; `None` when it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState(Option<[i64; 7]>);

fn run(
    mut files: Vec<PathBuf>,
    mut loaded: Vec<FileState>,
    mut on_change: impl FnMut() -> Vec<PathBuf>,
    hangups: &Hangups,
    stopped: &Receiver<()>,
) {
    let mut last = loaded.clone();
    while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
        let now = look(&files);
        let settled = now != loaded && now == last;
        last = now;
        if hangups.take() || settled {
            // Taken before the reload, so that what changes during it is detected afterwards.
            let before: Vec<(PathBuf, FileState)> = files.drain(..).zip(last).collect();
            files = on_change();
            let known = |file: &Path| before.iter().find(|(path, _)| path == file).map(|(_, look)| look.clone());
            loaded = files.iter().map(|file| known(file).unwrap_or_else(|| look_at(file))).collect();
            last = loaded.clone();
        }
    }
}

fn look(files: &[PathBuf]) -> Vec<FileState> {
    files.iter().map(|file| look_at(file)).collect()
}

fn look_at(file: &Path) -> FileState {
    FileState(file.metadata().ok().as_ref().map(platform::state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Instant;

    /// One test, because SIGHUP reaches every watch of the process.
    #[test]
    fn changes_call_for_a_reload() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("routes.toml"), "1").expect("writes");
        let files = vec![at("routes.toml"), at("new/site.toml")];
        let later = vec![at("routes.toml"), at("new/site.toml"), at("other.toml")];
        let (calls, called) = channel();
        let watch = watch(files, move || {
            let _ = calls.send(());
            later.clone()
        })
        .expect("starts");
        let expect = |reloads: usize, why: &str| {
            for _ in 0..reloads {
                called.recv_timeout(Duration::from_secs(10)).unwrap_or_else(|_| panic!("no reload: {why}"));
            }
            assert!(called.recv_timeout(3 * PAUSE).is_err(), "one reload too many: {why}");
        };
        expect(0, "nothing happened");
        fs::write(at("routes.toml"), "2").expect("writes");
        expect(1, "rewritten, same size");
        fs::write(at("routes.toml.tmp"), "3").expect("writes");
        expect(0, "a file that is not watched");
        fs::rename(at("routes.toml.tmp"), at("routes.toml")).expect("renames");
        expect(1, "replaced");
        fs::create_dir(at("new")).expect("creates");
        expect(0, "a directory without the file");
        fs::write(at("new/site.toml"), "").expect("writes");
        expect(1, "an optional file appeared in a new directory");
        fs::write(at("other.toml"), "").expect("writes");
        expect(1, "a file that the reload named");
        fs::remove_dir_all(at("new")).expect("removes");
        expect(1, "a file vanished");
        signal_hook::low_level::raise(signal_hook::consts::SIGHUP).expect("raises");
        expect(1, "SIGHUP");
        let end = Instant::now();
        drop(watch);
        assert!(end.elapsed() < 5 * PAUSE);
    }
}
