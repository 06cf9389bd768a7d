//! A relay between a server and its PostgreSQL database: it counts round trips and messages, is cut, and goes silent.

use super::left_out::{SERVER, left_out};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The delay of a network for every answer: messages that are sent without waiting come before it.
const DELAY: Duration = Duration::from_millis(8);

/// See the module.
pub struct Relay {
    /// `storage.url=…`, by way of the relay.
    pub storage: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    trips: AtomicU64,
    away: AtomicBool,
    /// When a client sends this text, the relay is cut.
    trap: Mutex<Option<String>>,
    messages: Mutex<Messages>,
    streams: Mutex<Vec<TcpStream>>,
    silent: Mutex<bool>,
    heard: Condvar,
}

/// Numbers of the messages that clients and the database have sent since the count began, and the message that ends connections.
#[derive(Default)]
struct Messages {
    seen: BTreeMap<Sender, u64>,
    fatal: Option<(Sender, u64, Loss)>,
}

/// Who has sent a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Sender {
    Client,
    Database,
}

/// The connections that are lost with a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// Those of now.
    Connections,
    /// Those of now, and all others until the relay is restored.
    Database,
}

impl State {
    /// Waits until something passes.
    fn wait(&self) {
        let silent = self.silent.lock().expect("no panic holds it");
        drop(self.heard.wait_while(silent, |silent| *silent).expect("no panic holds it"));
    }

    /// Counts a read of one side as a message. `false`: it is lost, and the connections with it.
    fn passes(&self, sender: Sender) -> bool {
        let mut messages = self.messages.lock().expect("no panic holds it");
        let seen = messages.seen.entry(sender).or_default();
        *seen += 1;
        let number = *seen;
        let Some((_, _, loss)) = messages.fatal.take_if(|(from, place, _)| (*from, *place) == (sender, number)) else {
            return true;
        };
        match loss {
            Loss::Connections => self.end_connections(),
            Loss::Database => self.cut(),
        }
        false
    }

    fn cut(&self) {
        self.away.store(true, Ordering::SeqCst);
        self.end_connections();
    }

    fn end_connections(&self) {
        for stream in self.streams.lock().expect("no panic holds it").drain(..) {
            // It may have ended already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Relay {
    /// A relay before the database of a server, if that is PostgreSQL.
    pub fn before(storage: &str) -> Option<Relay> {
        let Some(url) = storage.strip_prefix("storage.url=").filter(|url| url.starts_with("postgres")) else {
            left_out(SERVER);
            return None;
        };
        let mut url = url::Url::parse(url).expect("an address");
        let server = format!("{}:{}", url.host_str().expect("a host"), url.port().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        url.set_port(Some(listener.local_addr().expect("an address").port())).expect("a port");
        let state = Arc::new(State::default());
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.away.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(&server) else { continue };
                serve(client, server, &shared);
            }
        });
        Some(Relay { storage: format!("storage.url={url}"), state })
    }

    /// How often a client has sent something for which it then waited, so far. Connections that listen are not counted.
    pub fn trips(&self) -> u64 {
        self.state.trips.load(Ordering::SeqCst)
    }

    /// Ends all connections and takes no others.
    pub fn cut(&self) {
        self.state.cut();
    }

    /// The same, as soon as a client sends this text.
    pub fn cut_at(&self, text: &str) {
        *self.state.trap.lock().expect("no panic holds it") = Some(text.to_owned());
    }

    /// How many messages each side has sent since the last call. The given one of those that follow, if any, is lost, and more
    /// with it.
    pub fn count_messages(&self, fatal: Option<(Sender, u64, Loss)>) -> BTreeMap<Sender, u64> {
        let mut messages = self.state.messages.lock().expect("no panic holds it");
        std::mem::replace(&mut *messages, Messages { fatal, ..Messages::default() }).seen
    }

    /// Lets nothing pass, and nobody hears of it: connections stay open, and new ones are taken.
    pub fn hush(&self) {
        *self.state.silent.lock().expect("no panic holds it") = true;
    }

    /// Takes connections again, and lets everything pass.
    pub fn restore(&self) {
        *self.state.silent.lock().expect("no panic holds it") = false;
        self.state.heard.notify_all();
        *self.state.trap.lock().expect("no panic holds it") = None;
        self.state.away.store(false, Ordering::SeqCst);
    }
}

fn serve(client: TcpStream, server: TcpStream, state: &Arc<State>) {
    for stream in [&client, &server] {
        stream.set_nodelay(true).expect("a socket");
        state.streams.lock().expect("no panic holds it").push(stream.try_clone().expect("a socket"));
    }
    let answered = Arc::new(AtomicBool::new(true));
    let (from, to) = (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
    let (counted, heard) = (state.clone(), answered.clone());
    std::thread::spawn(move || {
        let mut counter = Counter::default();
        pass(from, to, |bytes| {
            counted.wait();
            counter.take(bytes, &heard, &counted.trips);
            let trap = counted.trap.lock().expect("no panic holds it").clone();
            let caught = trap.is_some_and(|text| bytes.windows(text.len()).any(|part| part == text.as_bytes()));
            if caught {
                counted.cut();
            }
            !caught && counted.passes(Sender::Client)
        });
    });
    let passing = state.clone();
    std::thread::spawn(move || {
        pass(server, client, |_| {
            passing.wait();
            std::thread::sleep(DELAY);
            answered.store(true, Ordering::SeqCst);
            passing.passes(Sender::Database)
        });
    });
}

/// Passes on what is read, as long as `passes` agrees.
fn pass(mut from: TcpStream, mut to: TcpStream, mut passes: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if !passes(&buffer[..read]) || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// Reads the messages of a client.
#[derive(Default)]
struct Counter {
    buffer: Vec<u8>,
    begun: bool,
    listens: bool,
    /// The open transaction only reads: nobody waits for its end.
    reads: bool,
    /// The round trip that is under way is counted.
    counted: bool,
}

impl Counter {
    fn take(&mut self, bytes: &[u8], answered: &AtomicBool, trips: &AtomicU64) {
        self.buffer.extend_from_slice(bytes);
        // The first message has no type.
        let mut head = usize::from(self.begun);
        while self.buffer.len() >= head + 4 {
            let length = u32::from_be_bytes(self.buffer[head..head + 4].try_into().expect("four bytes")) as usize;
            if self.buffer.len() < head + length {
                return;
            }
            let message: Vec<u8> = self.buffer.drain(..head + length).collect();
            let text = String::from_utf8_lossy(&message).into_owned();
            let query = self.begun && message[0] == b'Q';
            self.listens |= query && text.contains("LISTEN ");
            if query && text.contains("BEGIN") {
                self.reads = text.contains("READ ONLY");
            }
            if answered.swap(false, Ordering::SeqCst) {
                self.counted = false;
            }
            let ends = query && self.reads && text.contains("COMMIT");
            if !self.counted && !ends && !self.listens {
                self.counted = true;
                trips.fetch_add(1, Ordering::SeqCst);
            }
            self.begun = true;
            head = 1;
        }
    }
}
