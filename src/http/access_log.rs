//! One JSON line per request on standard error, written by a thread of its own.
//!
//! Requests never wait for it: the channel is bounded, and what does not fit is dropped and counted. Secrets in query
//! strings are blotted out; headers are never written.

use crate::request::percent_decode;
use serde_json::json;
use std::borrow::Cow;
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const CAPACITY: usize = 8192;

/// What a line says.
#[derive(Debug)]
pub struct Entry {
    pub at: SystemTime,
    pub id: Arc<str>,
    pub method: String,
    /// As it came, without the query.
    pub path: String,
    /// As it came.
    pub query: String,
    pub status: u16,
    pub took: Duration,
    /// Length of the reply's body.
    pub bytes: usize,
    pub ip: Option<IpAddr>,
}

/// The sending end; dropping it writes what is waiting and ends the thread.
pub struct AccessLog {
    sender: Option<SyncSender<Entry>>,
    dropped: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl AccessLog {
    /// Starts the writer on standard error. Fails when the thread cannot be started.
    pub fn start() -> io::Result<AccessLog> {
        AccessLog::start_on(io::stderr())
    }

    fn start_on(out: impl Write + Send + 'static) -> io::Result<AccessLog> {
        let (sender, receiver) = sync_channel(CAPACITY);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&dropped);
        let writer =
            std::thread::Builder::new().name("access-log".into()).spawn(move || write_all(&receiver, &counter, out))?;
        Ok(AccessLog { sender: Some(sender), dropped, writer: Some(writer) })
    }

    /// Hands a line over, or drops it when the writer is behind.
    pub fn write(&self, entry: Entry) {
        let Some(sender) = &self.sender else { return };
        if let Err(TrySendError::Full(_)) = sender.try_send(entry) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Ends when every sender is gone. Lines are gathered while there are more; a closed standard error ends nothing.
fn write_all(receiver: &Receiver<Entry>, dropped: &AtomicU64, mut out: impl Write) {
    let mut buffer = Vec::with_capacity(1 << 16);
    loop {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(entry) => render(&entry, &mut buffer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        while let Ok(entry) = receiver.try_recv() {
            render(&entry, &mut buffer);
            if buffer.len() > 1 << 15 {
                break;
            }
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            line(&json!({"ts": timestamp(SystemTime::now()), "access_log_dropped": lost}), &mut buffer);
        }
        let _ = out.write_all(&buffer);
        let _ = out.flush();
        buffer.clear();
    }
}

fn render(entry: &Entry, buffer: &mut Vec<u8>) {
    let document = json!({
        "ts": timestamp(entry.at),
        "id": &*entry.id,
        "method": entry.method,
        "path": entry.path,
        "query": redact(&entry.query),
        "status": entry.status,
        "us": u64::try_from(entry.took.as_micros()).unwrap_or(u64::MAX),
        "bytes": entry.bytes,
        "ip": entry.ip.map(|ip| ip.to_string()),
    });
    line(&document, buffer);
}

fn line(document: &serde_json::Value, buffer: &mut Vec<u8>) {
    // Writing a value into memory cannot fail.
    let _ = serde_json::to_writer(&mut *buffer, document);
    buffer.push(b'\n');
}

fn timestamp(at: SystemTime) -> String {
    OffsetDateTime::from(at).format(&Rfc3339).unwrap_or_default()
}

/// The query with the values of passwords and nonces blotted out.
fn redact(query: &str) -> Cow<'_, str> {
    if query.is_empty() || !query.split('&').any(is_secret) {
        return Cow::Borrowed(query);
    }
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if is_secret(pair) => Cow::Owned(format!("{key}=***")),
        _ => Cow::Borrowed(pair),
    });
    Cow::Owned(pairs.collect::<Vec<_>>().join("&"))
}

fn is_secret(pair: &str) -> bool {
    let key = pair.split('=').next().unwrap_or_default();
    // A key that cannot be decoded fails the request; whether it was meant to be secret is unknown.
    let Some(key) = percent_decode(key) else { return true };
    let key = key.to_ascii_lowercase();
    let name = key.split('[').next().unwrap_or_default();
    key.contains("password") || name == "pwd" || name.ends_with("nonce")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn secrets_are_blotted_out() {
        let check = |query: &str, expected: &str| assert_eq!(redact(query), expected);
        check("", "");
        check("page=2&search=password", "page=2&search=password");
        check("a=1&password=x%20y&b=2", "a=1&password=***&b=2");
        check("_wpnonce=1&_cms_Nonce=2", "_wpnonce=***&_cms_Nonce=***");
        check("p%61ssword=x&user[password]=y&password[]=z", "p%61ssword=***&user[password]=***&password[]=***");
        check("%ff=1", "%ff=***");
    }

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panics").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn dropping_the_log_writes_what_waits() {
        let out = Shared::default();
        let log = AccessLog::start_on(out.clone()).expect("a thread");
        for i in 0..3 {
            log.write(Entry {
                at: SystemTime::UNIX_EPOCH,
                id: "i".into(),
                method: "GET".into(),
                path: "/a\"b".into(),
                query: format!("n={i}"),
                status: 200,
                took: Duration::from_micros(5),
                bytes: 9,
                ip: None,
            });
        }
        drop(log);
        let text = String::from_utf8(out.0.lock().expect("nobody panics").clone()).expect("UTF-8");
        assert_eq!(text.lines().count(), 3);
        assert_eq!(
            text.lines().next(),
            Some(
                r#"{"ts":"1970-01-01T00:00:00Z","id":"i","method":"GET","path":"/a\"b","query":"n=0","status":200,"us":5,"bytes":9,"ip":null}"#
            )
        );
    }
}
