//! One line per request on standard error, written by a thread of its own so that no request waits for the log.
//!
//! Lines are rendered where the request was answered and collected in memory, so that the thread wakes up a hundred
//! times a second rather than for each. Lines that do not fit are dropped and counted. Secrets in query strings are
//! replaced; headers and bodies are never written.

use crate::log::LogLine;
use crate::request::percent_decode;
use cms_declaration::LogFormat;
use cms_text::hex::hex;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tracing::Level;

/// Bytes that may wait to be written; lines beyond them are dropped and counted.
const MOST_WAITING: usize = 8 << 20;

/// How long lines gather before they are written together.
const GATHER: Duration = Duration::from_millis(10);

/// Longest path or query that is written whole, in bytes.
const MOST_TEXT: usize = 2048;

/// The content of a line.
pub struct AccessLogEntry<'r> {
    pub id: &'r str,
    pub method: &'r str,
    /// As sent, without the query.
    pub path: &'r str,
    /// As sent.
    pub query: &'r str,
    pub status: u16,
    pub took: Duration,
    /// Length of the response's body.
    pub bytes: usize,
    pub ip: Option<IpAddr>,
}

/// The way to the thread. Dropping it writes what waits.
pub struct AccessLog {
    queue: Arc<LogQueue>,
    writer: Option<JoinHandle<()>>,
}

struct LogQueue {
    format: LogFormat,
    waiting: Mutex<PendingLines>,
    filled: Condvar,
}

#[derive(Default)]
struct PendingLines {
    lines: Vec<u8>,
    lost: u64,
    closed: bool,
}

impl AccessLog {
    /// Starts the thread, which writes to `out`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(out: impl Write + Send + 'static, format: LogFormat) -> io::Result<AccessLog> {
        let queue = Arc::new(LogQueue { format, waiting: Mutex::default(), filled: Condvar::new() });
        let theirs = queue.clone();
        let writer = thread::Builder::new().name("access-log".into()).spawn(move || theirs.write_to(out))?;
        Ok(AccessLog { queue, writer: Some(writer) })
    }

    /// Logs a request. Secrets in the query are replaced.
    pub fn note(&self, entry: &AccessLogEntry) {
        let line = entry.render(self.queue.format);
        let mut waiting = self.queue.lock();
        if waiting.lines.len() + line.len() > MOST_WAITING {
            waiting.lost += 1;
            return;
        }
        let first = waiting.lines.is_empty();
        waiting.lines.extend_from_slice(&line);
        drop(waiting);
        if first {
            self.queue.filled.notify_one();
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.filled.notify_one();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl LogQueue {
    fn lock(&self) -> MutexGuard<'_, PendingLines> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut out: impl Write) {
        let mut lines = Vec::new();
        loop {
            let waiting = self.filled.wait_while(self.lock(), |w| w.lines.is_empty() && !w.closed);
            drop(waiting);
            if !self.lock().closed {
                thread::sleep(GATHER);
            }
            let mut waiting = self.lock();
            let (lost, closed) = (std::mem::take(&mut waiting.lost), waiting.closed);
            std::mem::swap(&mut lines, &mut waiting.lines);
            drop(waiting);
            if lost > 0 {
                let mut line = LogLine::new(self.format, Level::WARN);
                line.number("access_log_dropped", lost);
                lines.extend(line.end());
            }
            // There is nowhere to report that the log itself cannot be written.
            let _ = out.write_all(&lines);
            let _ = out.flush();
            lines.clear();
            if closed {
                return;
            }
        }
    }
}

impl AccessLogEntry<'_> {
    fn render(&self, format: LogFormat) -> Vec<u8> {
        let mut line = LogLine::new(format, Level::INFO);
        line.text("id", self.id);
        line.text("method", shortened(self.method));
        line.text("path", shortened(self.path));
        if !self.query.is_empty() {
            line.text("query", shortened(&redacted(self.query)));
        }
        line.number("status", self.status.into());
        line.number("us", u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX));
        line.number("bytes", self.bytes as u64);
        if let Some(ip) = self.ip {
            line.text("ip", &ip.to_string());
        }
        line.end()
    }
}

fn shortened(text: &str) -> &str {
    let mut end = text.len().min(MOST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The query with the values of secrets replaced.
fn redacted(query: &str) -> String {
    let mut shown = String::with_capacity(query.len());
    for pair in query.split('&') {
        if !shown.is_empty() {
            shown.push('&');
        }
        match pair.split_once('=') {
            Some((name, _)) if names_secret(name) => {
                shown.push_str(name);
                shown.push_str("=***");
            }
            _ => shown.push_str(pair),
        }
        if shown.len() > MOST_TEXT {
            break;
        }
    }
    shown
}

/// Whether a parameter of this name, as written in the address, holds a secret. An unreadable name may.
fn names_secret(name: &str) -> bool {
    let Some(name) = percent_decode(name) else { return true };
    let name = name.to_ascii_lowercase();
    ["password", "pwd", "nonce", "token", "secret", "preview"].iter().any(|word| name.contains(word))
}

/// Makes ids that are short, and different between runs too.
pub struct RequestIds {
    /// Eight digits and a hyphen.
    run: String,
    next: AtomicU64,
}

impl RequestIds {
    /// Those of this run.
    pub fn new() -> RequestIds {
        RequestIds { run: hex(&rand::random::<[u8; 4]>()) + "-", next: AtomicU64::new(1) }
    }

    /// The next one.
    pub fn next(&self) -> Arc<str> {
        let mut id = String::with_capacity(self.run.len() + 16);
        id.push_str(&self.run);
        // Writing to a text cannot fail.
        let _ = write!(id, "{:x}", self.next.fetch_add(1, Ordering::Relaxed));
        id.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn secrets_are_not_written() {
        let check = |query: &str, expected: &str| assert_eq!(redacted(query), expected);
        check("a=1&password=x&_wpnonce=y&b=2", "a=1&password=***&_wpnonce=***&b=2");
        check("pass%77ord=x&_CMSNonce=y", "pass%77ord=***&_CMSNonce=***");
        check("password%5B%5D=x&password[a]=y", "password%5B%5D=***&password[a]=***");
        check("include%5B%5D=3&_fields=id", "include%5B%5D=3&_fields=id");
        check("%ff=x", "%ff=***");
    }

    /// Where the thread writes to, shared with the test.
    #[derive(Clone, Default)]
    struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

    impl Write for SharedBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic holds it").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Two requests as they are logged.
    fn logged(format: LogFormat, path: &str) -> String {
        let page = SharedBuffer::default();
        let log = AccessLog::start(page.clone(), format).expect("a thread starts");
        let entry = AccessLogEntry {
            id: "r-1",
            method: "GET",
            path,
            query: "a=1&token=t",
            status: 200,
            took: Duration::from_micros(12),
            bytes: 34,
            ip: "::1".parse().ok(),
        };
        log.note(&entry);
        log.note(&entry);
        drop(log);
        String::from_utf8(page.0.lock().expect("no panic holds it").clone()).expect("text")
    }

    #[test]
    fn a_line_is_text() {
        let text = logged(LogFormat::Text, "/a b\n");
        let lines: Vec<&str> = text.lines().map(|line| &line[24..]).collect();
        let expected = " INFO  id=r-1 method=GET path=\"/a b\\n\" query=a=1&token=*** status=200 us=12 bytes=34 ip=::1";
        assert_eq!(lines, [expected; 2]);
    }

    #[test]
    fn a_line_is_one_json_object() {
        let path = format!("/\"\u{7f}é{}", "x".repeat(5000));
        let text = logged(LogFormat::Json, &path);
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("a JSON object")).collect();
        assert_eq!(lines.len(), 2);
        let ts = lines[1]["ts"].as_str().expect("a text");
        let form = regex::Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$").expect("a pattern");
        assert!(form.is_match(ts), "{ts}");
        let expected = json!(["r-1", "a=1&token=***", 200, 12, 34, "::1"]);
        let seen = ["id", "query", "status", "us", "bytes", "ip"].map(|key| lines[1][key].clone());
        assert_eq!(json!(seen), expected);
        assert!(lines[1]["path"].as_str().is_some_and(|p| p.len() <= MOST_TEXT && path.starts_with(p)));
    }
}
