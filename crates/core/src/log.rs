//! The log: one stream, the standard error, in one declared format. Not what is logged.
//!
//! A line is text for people or a JSON object for programs, with the same fields. While a request is worked on, each line of
//! its thread gets its id. Access log lines are made here, too, but written by `http`, which gathers them.

use cms_declaration::{Log, LogFormat};
use cms_text::time::format_local;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, Write as _};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The usual variable of Rust programs: levels by module. It outranks `log.level`.
const VARIABLE: &str = "RUST_LOG";

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

thread_local! {
    /// The request that this thread works on.
    static REQUEST: Cell<Option<Arc<str>>> = const { Cell::new(None) };
}

/// Directs what the program reports, panics included, to the standard error. The first call in a process counts.
pub fn start(declared: &Log) {
    let format = *FORMAT.get_or_init(|| declared.format);
    let subscriber = tracing_subscriber::registry().with(LogLayer(format).with_filter(filter(declared)));
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    }
}

/// The format of this process's log.
pub fn format() -> LogFormat {
    FORMAT.get().copied().unwrap_or_default()
}

/// Lines of the HTTP library about a connection are about bytes that a client sent: the access log has them, and any
/// client could fill the disk with them. Its servers report their threads, which is nothing to operators.
fn filter(declared: &Log) -> Targets {
    let usual = || {
        let level: LevelFilter = declared.level.as_str().parse().unwrap_or(LevelFilter::INFO);
        let quiet = level.min(LevelFilter::WARN);
        Targets::new()
            .with_default(level)
            .with_target("actix_http::h1", LevelFilter::OFF)
            .with_target("actix_server", quiet)
    };
    match std::env::var(VARIABLE) {
        Ok(levels) if !levels.is_empty() => levels.parse().unwrap_or_else(|error| {
            notice(&format!("{VARIABLE} is ignored: {error}"));
            usual()
        }),
        _ => usual(),
    }
}

/// Says something to the person who started the program, whatever the level. As text it is without time and level.
pub fn notice(text: &str) {
    let line = match format() {
        LogFormat::Text => format!("{text}\n").into_bytes(),
        LogFormat::Json => {
            let mut line = LogLine::new(LogFormat::Json, Level::INFO);
            line.message(text);
            line.end()
        }
    };
    write(&line);
}

/// There is nowhere to report that the log itself cannot be written.
fn write(line: &[u8]) {
    let _ = io::stderr().write_all(line);
}

/// Carries out what belongs to a request: each line that its thread logs meanwhile has the request's id.
pub async fn within<T>(request: Arc<str>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let outer = REQUEST.replace(Some(request.clone()));
        let polled = work.as_mut().poll(context);
        REQUEST.set(outer);
        polled
    })
    .await
}

/// A line in the making.
pub struct LogLine {
    format: LogFormat,
    bytes: Vec<u8>,
}

impl LogLine {
    /// Begins with the time and the level.
    pub fn new(format: LogFormat, level: Level) -> LogLine {
        let mut bytes = Vec::with_capacity(256);
        // Here and below: writing into memory cannot fail.
        let _ = match format {
            LogFormat::Text => write_now(&mut bytes).and_then(|()| write!(bytes, " {level:<5}")),
            LogFormat::Json => {
                bytes.extend_from_slice(b"{\"ts\":\"");
                let level = level.as_str().to_ascii_lowercase();
                write_now(&mut bytes).and_then(|()| write!(bytes, "\",\"level\":\"{level}\""))
            }
        };
        LogLine { format, bytes }
    }

    /// Writes the event, as a sentence.
    pub fn message(&mut self, text: &str) {
        match self.format {
            LogFormat::Json => self.text("message", text),
            LogFormat::Text => {
                self.bytes.push(b' ');
                // A line of the log is one line, whatever a client put into the message.
                for c in text.chars() {
                    match c.is_control() {
                        true => self.bytes.extend(c.escape_default().map(|c| c as u8)),
                        false => self.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                    }
                }
            }
        }
    }

    /// A field.
    pub fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        let plain = |b: u8| b.is_ascii_graphic() && b != b'"' && b != b'\\';
        if self.format == LogFormat::Text && !value.is_empty() && value.bytes().all(plain) {
            self.bytes.extend_from_slice(value.as_bytes());
        } else {
            let _ = serde_json::to_writer(&mut self.bytes, value);
        }
    }

    /// A field that is a number.
    pub fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        let _ = write!(self.bytes, "{value}");
    }

    fn name(&mut self, name: &str) {
        let _ = match self.format {
            LogFormat::Text => write!(self.bytes, " {name}="),
            LogFormat::Json => write!(self.bytes, ",\"{name}\":"),
        };
    }

    /// The whole line.
    pub fn end(mut self) -> Vec<u8> {
        self.bytes.extend_from_slice(match self.format {
            LogFormat::Text => b"\n".as_slice(),
            LogFormat::Json => b"}\n",
        });
        self.bytes
    }
}

/// The time in UTC with milliseconds. The part that changes once a second is cached.
fn write_now(line: &mut Vec<u8>) -> io::Result<()> {
    thread_local! {
        static SECOND: RefCell<(u64, String)> = const { RefCell::new((0, String::new())) };
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    SECOND.with_borrow_mut(|(second, text)| {
        if *second != now.as_secs() {
            *second = now.as_secs();
            *text = format_local(i64::try_from(*second).unwrap_or(i64::MAX));
        }
        write!(line, "{text}.{:03}Z", now.subsec_millis())
    })
}

/// Writes events as lines.
struct LogLayer(LogFormat);

impl<S: Subscriber> Layer<S> for LogLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        write(&rendered(self.0, event));
    }
}

fn rendered(format: LogFormat, event: &Event<'_>) -> Vec<u8> {
    let mut found = EventFields::default();
    event.record(&mut found);
    let mut line = LogLine::new(format, *event.metadata().level());
    line.message(&found.message);
    for (name, value) in &found.others {
        line.text(name, value);
    }
    let current = REQUEST.take();
    if let Some(id) = found.request.as_deref().or(current.as_deref()) {
        line.text("id", id);
    }
    REQUEST.set(current);
    line.end()
}

/// The fields of an event.
#[derive(Default)]
struct EventFields {
    message: String,
    request: Option<String>,
    others: Vec<(&'static str, String)>,
}

impl EventFields {
    fn take(&mut self, field: &Field, value: String) {
        match field.name() {
            "message" => self.message = value,
            "request" => self.request = Some(value),
            name => self.others.push((name, value)),
        }
    }
}

impl Visit for EventFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::sync::Mutex;

    /// Lines of everything that is reported while `work` runs.
    fn lines(format: LogFormat, work: impl FnOnce()) -> Vec<String> {
        struct TestLayer(LogFormat, Arc<Mutex<Vec<String>>>);
        impl<S: Subscriber> Layer<S> for TestLayer {
            fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
                let line = String::from_utf8(rendered(self.0, event)).expect("text");
                self.1.lock().expect("no panic holds it").push(line);
            }
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        let subscriber = tracing_subscriber::registry().with(TestLayer(format, seen.clone()));
        tracing::subscriber::with_default(subscriber, work);
        seen.lock().expect("no panic holds it").clone()
    }

    fn report() {
        tracing::error!(request = "r-1", login = "a b", size = 3, "lost \"it\"\nERROR forged");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(within("r-2".into(), async { tracing::warn!("inside") }));
        tracing::info!("outside");
    }

    #[test]
    fn lines_are_text_with_the_id_of_the_request() {
        let seen = lines(LogFormat::Text, report);
        let after_time: Vec<&str> = seen.iter().map(|line| &line[24..]).collect();
        let expected = [
            " ERROR lost \"it\"\\nERROR forged login=\"a b\" size=3 id=r-1\n",
            " WARN  inside id=r-2\n",
            " INFO  outside\n",
        ];
        assert_eq!(after_time, expected);
    }

    #[test]
    fn lines_are_json_objects() {
        let seen = lines(LogFormat::Json, report);
        let seen: Vec<Value> = seen.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(seen[0]["message"], "lost \"it\"\nERROR forged");
        assert_eq!(
            (&seen[0]["level"], &seen[0]["id"], &seen[0]["login"]),
            (&"error".into(), &"r-1".into(), &"a b".into())
        );
        assert_eq!((&seen[1]["message"], &seen[1]["id"]), (&"inside".into(), &"r-2".into()));
        assert_eq!(seen[2].get("id"), None);
    }
}
