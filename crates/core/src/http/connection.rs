//! One connection: limits on the client outside a request.
//!
//! actix times only the first head of a connection, and responds to a head that it cannot read without a body. So the
//! stream that it reads from is watched here: a head must arrive in time and have a reasonable size, a response must be
//! read in time, and a refused client gets the error object. Requests themselves are `receive`'s matter.

use super::listen::SocketStream;
use super::{Edge, LINGER};
use crate::error::{ApiError, Code};
use actix_http::StatusCode;
use actix_web::rt::time::{Sleep, sleep, sleep_until};
use std::cell::Cell;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Longest request line; actix cannot read addresses beyond 64 KiB.
const MOST_LINE: usize = 60 << 10;

/// Largest head of a request; actix gives up at 128 KiB.
const MOST_HEAD: usize = 96 << 10;

/// Most bytes that a refused client may still send, so that it gets to read the response.
const MOST_AFTERWARDS: usize = 64 << 20;

/// Bytes of a connection that are discarded at once; then others have their turn.
const DISCARDED_AT_ONCE: usize = 64 << 10;

/// The pause until more is discarded: a client that is refused does not keep its worker busy with what it still sends.
/// All of [`MOST_AFTERWARDS`] fits into [`LINGER`].
const PAUSE: Duration = Duration::from_millis(3);

/// The beginning of actix's response to a request that it cannot read. Our own responses have a body, or (to HEAD) a
/// length.
const WORDLESS: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n";
const NUMBER: &[u8] = b"\r\nx-request-id:";

/// How long things may take.
#[derive(Clone, Copy)]
pub struct Timeouts {
    /// A head, and a pause in reading a response.
    pub read: Duration,
    /// A connection without a request.
    pub idle: Duration,
}

/// The state of a connection. Shared by the stream and the request that it carries.
pub struct ConnectionState {
    /// A request is in progress.
    busy: Cell<bool>,
    /// There was a request before.
    served: Cell<bool>,
    /// The last response was complete before the body of its request was read to the end.
    unread: Cell<bool>,
    /// The last response is the last one of the connection.
    closing: Cell<bool>,
    /// Bytes of the next head, so far.
    received: Cell<usize>,
    /// They hold a line feed, so the address is complete.
    line: Cell<bool>,
    /// When the wait for a request began; the first byte of a head begins another.
    since: Cell<Instant>,
    encrypted: bool,
}

impl ConnectionState {
    fn new(encrypted: bool) -> ConnectionState {
        ConnectionState {
            encrypted,
            busy: Cell::new(false),
            served: Cell::new(false),
            unread: Cell::new(false),
            closing: Cell::new(false),
            received: Cell::new(0),
            line: Cell::new(false),
            since: Cell::new(Instant::now()),
        }
    }

    /// Whether nobody can read along between the other end and this.
    pub fn encrypted(&self) -> bool {
        self.encrypted
    }

    /// A request has begun, with or without a body; it ends when what is returned is dropped.
    pub fn begin(self: &Rc<Self>, has_body: bool) -> BusyGuard {
        self.busy.set(true);
        self.served.set(true);
        self.unread.set(has_body);
        BusyGuard(self.clone())
    }

    fn wait(&self) {
        self.busy.set(false);
        self.received.set(0);
        self.line.set(false);
        self.since.set(Instant::now());
    }

    fn hear(&self, bytes: &[u8]) {
        if self.busy.get() || self.unread.get() || bytes.is_empty() {
            return;
        }
        if self.received.get() == 0 {
            self.since.set(Instant::now());
        }
        self.received.set(self.received.get() + bytes.len());
        if !self.line.get() {
            self.line.set(bytes.contains(&b'\n'));
        }
    }
}

/// A request on its connection.
pub struct BusyGuard(Rc<ConnectionState>);

impl BusyGuard {
    /// The body was read to its end.
    pub fn has_read(&self) {
        self.0.unread.set(false);
    }

    /// Nothing follows the response to the request, which is short. The client learns it at once: it may be busy
    /// sending.
    pub fn close(&self) {
        self.0.closing.set(true);
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// The stream that actix reads from and writes to.
pub struct Connection {
    stream: SocketStream,
    standing: Rc<ConnectionState>,
    patience: Timeouts,
    /// When to check the time again while waiting for a request; never later than needed.
    timer: Option<Pin<Box<Sleep>>>,
    /// Runs while the client reads nothing of a response.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Bytes that were read, and that actix had no room for once the request line was encoded.
    held: Vec<u8>,
    /// actix was given the chance to see whether the head is complete at its largest.
    asked: bool,
    discarding: DiscardBudget,
    mode: ConnectionMode,
    edge: Arc<Edge>,
    ip: Option<IpAddr>,
}

enum ConnectionMode {
    Open,
    /// The client gets the reason, then what it still sends is discarded.
    Refusing(ConnectionRefusal),
    /// Nothing is read any more. Responses that actix still writes are sent.
    Closed,
    /// Nothing is read or written any more.
    Refused,
}

struct ConnectionRefusal {
    text: Vec<u8>,
    written: usize,
    ended: bool,
    dropped: usize,
    discarding: DiscardBudget,
    patience: Pin<Box<Sleep>>,
}

/// How much is discarded in one go.
#[derive(Default)]
struct DiscardBudget {
    bytes: usize,
    pause: Option<Pin<Box<Sleep>>>,
}

impl DiscardBudget {
    /// Waits until more may be read.
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.bytes >= DISCARDED_AT_ONCE {
            let pause = self.pause.get_or_insert_with(|| Box::pin(sleep(PAUSE)));
            ready!(pause.as_mut().poll(context));
            *self = DiscardBudget::default();
        }
        Poll::Ready(())
    }
}

impl Connection {
    /// Watches a stream.
    pub fn new(stream: SocketStream, patience: Timeouts, edge: Arc<Edge>, ip: Option<IpAddr>) -> Connection {
        Connection {
            standing: Rc::new(ConnectionState::new(stream.encrypted())),
            stream,
            patience,
            timer: None,
            stalled: None,
            held: Vec::new(),
            asked: false,
            discarding: DiscardBudget::default(),
            mode: ConnectionMode::Open,
            edge,
            ip,
        }
    }

    /// The part that requests need.
    pub fn standing(&self) -> Rc<ConnectionState> {
        self.standing.clone()
    }

    fn poll_open(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.standing.busy.get() {
            return self.poll_within(context, buffer, usize::MAX);
        }
        let unread = self.standing.unread.get();
        if unread {
            ready!(self.discarding.poll_turn(context));
        }
        let (most, code) = match self.standing.line.get() {
            true => (MOST_HEAD, Code::HeadTooLarge),
            false => (MOST_LINE, Code::UriTooLong),
        };
        let room = most.saturating_sub(self.standing.received.get());
        if room > 0 {
            self.asked = false;
        } else if self.asked {
            self.refuse(code);
            return self.poll_refusing(context);
        } else {
            self.asked = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        match self.poll_within(context, buffer, room) {
            Poll::Ready(outcome) => {
                self.encode_line(buffer, before, room);
                let read = &buffer.filled()[before..];
                if unread {
                    self.discarding.bytes += read.len();
                }
                self.standing.hear(read);
                Poll::Ready(outcome)
            }
            Poll::Pending if !self.is_overdue(context) => Poll::Pending,
            Poll::Pending if self.standing.received.get() > 0 && self.stalled.is_none() => {
                self.refuse(Code::RequestTimeout);
                self.poll_refusing(context)
            }
            Poll::Pending => {
                self.mode = ConnectionMode::Closed;
                Poll::Ready(Ok(()))
            }
        }
    }

    /// Reads, but not more than there is room for.
    fn poll_within(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
        room: usize,
    ) -> Poll<io::Result<()>> {
        if !self.held.is_empty() {
            let most = room.min(buffer.remaining()).min(self.held.len());
            buffer.put_slice(&self.held[..most]);
            self.held.drain(..most);
            return Poll::Ready(Ok(()));
        }
        if buffer.remaining() <= room {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut part))?;
        let read = part.filled().len();
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }

    /// Percent-encodes what was read of a request line from `before` on, as other servers take it: people type
    /// `?search=Grüße` into a terminal, and actix reads no such address. A line of a request that was sent ahead, in one
    /// read with the one before it, stays as it is.
    fn encode_line(&mut self, buffer: &mut ReadBuf<'_>, before: usize, room: usize) {
        if self.standing.unread.get() || self.standing.line.get() {
            return;
        }
        let read = &buffer.filled()[before..];
        let end = read.iter().position(|byte| *byte == b'\n').unwrap_or(read.len());
        if !read[..end].iter().any(is_encoded) {
            return;
        }
        let mut text = Vec::with_capacity(read.len() + 64);
        for byte in &read[..end] {
            match is_encoded(byte) {
                // Writing to memory cannot fail.
                true => drop(write!(text, "%{byte:02X}")),
                false => text.push(*byte),
            }
        }
        text.extend_from_slice(&read[end..]);
        text.append(&mut self.held);
        buffer.set_filled(before);
        self.held = text.split_off(text.len().min(room).min(buffer.remaining()));
        buffer.put_slice(&text);
    }

    /// Whether the wait for a request has been too long. Wakes the task when it is.
    fn is_overdue(&mut self, context: &mut Context<'_>) -> bool {
        let waits_for_head = self.standing.received.get() > 0 || !self.standing.served.get();
        let patience = if waits_for_head { self.patience.read } else { self.patience.read + self.patience.idle };
        let deadline = (self.standing.since.get() + patience).into();
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        // A timer that was set for an earlier request is wound up again rather than at every request.
        while timer.as_mut().poll(context).is_ready() {
            if timer.deadline() >= deadline {
                return true;
            }
            timer.as_mut().reset(deadline);
        }
        false
    }

    fn refuse(&mut self, code: Code) {
        let error = ApiError::new(code);
        self.edge.note_refusal(error.status(), self.ip);
        self.mode = ConnectionMode::Refusing(ConnectionRefusal {
            text: refusal_text(&error),
            written: 0,
            ended: false,
            dropped: 0,
            discarding: DiscardBudget::default(),
            patience: Box::pin(sleep_until((Instant::now() + LINGER).into())),
        });
    }

    /// Writes the refusal, then reads to the end of what the client sends, within reason.
    fn poll_refusing(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ConnectionMode::Refusing(refusal) = &mut self.mode else { return Poll::Ready(Ok(())) };
        let over = refusal.patience.as_mut().poll(context).is_ready();
        if !over && refusal.poll(&mut self.stream, context).is_pending() {
            return Poll::Pending;
        }
        self.mode = ConnectionMode::Refused;
        Poll::Ready(Ok(()))
    }
}

impl ConnectionRefusal {
    fn poll(&mut self, stream: &mut SocketStream, context: &mut Context<'_>) -> Poll<()> {
        while self.written < self.text.len() {
            match ready!(Pin::new(&mut *stream).poll_write(context, &self.text[self.written..])) {
                Ok(n) if n > 0 => self.written += n,
                _ => return Poll::Ready(()),
            }
        }
        if !self.ended {
            if ready!(Pin::new(&mut *stream).poll_shutdown(context)).is_err() {
                return Poll::Ready(());
            }
            self.ended = true;
        }
        let mut sink = [0; 16 << 10];
        while self.dropped < MOST_AFTERWARDS {
            ready!(self.discarding.poll_turn(context));
            let mut buffer = ReadBuf::new(&mut sink);
            if ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer)).is_err() || buffer.filled().is_empty() {
                break;
            }
            self.dropped += buffer.filled().len();
            self.discarding.bytes += buffer.filled().len();
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.mode {
            ConnectionMode::Open => self.poll_open(context, buffer),
            ConnectionMode::Refusing(_) => self.poll_refusing(context),
            ConnectionMode::Closed | ConnectionMode::Refused => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let wordless = || bytes.starts_with(WORDLESS) && !bytes.windows(NUMBER.len()).any(|part| part == NUMBER);
        if matches!(this.mode, ConnectionMode::Open) && !this.standing.busy.get() && wordless() {
            this.refuse(Code::BadRequest);
        }
        if let ConnectionMode::Refusing(refusal) = &mut this.mode {
            // actix closes the connection after this, so the response has to be sent first.
            while refusal.written < refusal.text.len() {
                let rest = &refusal.text[refusal.written..];
                match ready!(Pin::new(&mut this.stream).poll_write(context, rest))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    n => refusal.written += n,
                }
            }
            return Poll::Ready(Ok(bytes.len()));
        }
        if matches!(this.mode, ConnectionMode::Refused) {
            return Poll::Ready(Ok(bytes.len()));
        }
        match Pin::new(&mut this.stream).poll_write(context, bytes) {
            Poll::Ready(outcome) => {
                this.stalled = None;
                // A client that reads a response slowly is not idle.
                this.standing.since.set(Instant::now());
                Poll::Ready(outcome)
            }
            Poll::Pending => {
                let patience = this.patience.read;
                let stalled =
                    this.stalled.get_or_insert_with(|| Box::pin(sleep_until((Instant::now() + patience).into())));
                ready!(stalled.as_mut().poll(context));
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read the response")))
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        if self.standing.closing.get() && !self.standing.busy.get() {
            self.standing.closing.set(false);
            return Pin::new(&mut self.stream).poll_shutdown(context);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Whether a byte of a request line has to be encoded.
fn is_encoded(byte: &u8) -> bool {
    !byte.is_ascii() || matches!(byte, b'"' | b'<' | b'>' | b'`')
}

/// A whole response, where there was no complete request.
fn refusal_text(error: &ApiError) -> Vec<u8> {
    let body = error.body().to_string();
    let reason = StatusCode::from_u16(error.status()).ok().and_then(|s| s.canonical_reason()).unwrap_or("Refused");
    let mut text = Vec::with_capacity(512);
    // Writing to memory cannot fail.
    let _ = write!(
        text,
        "HTTP/1.1 {} {reason}\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: {}\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
        error.status(),
        body.len(),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::poll;
    use std::future::poll_fn;

    #[tokio::test]
    async fn what_a_refused_client_still_sends_leaves_turns_to_others() {
        let mut discarding = DiscardBudget { bytes: DISCARDED_AT_ONCE - 1, ..DiscardBudget::default() };
        assert!(poll!(poll_fn(|context| discarding.poll_turn(context))).is_ready());
        discarding.bytes += 1;
        assert!(poll!(poll_fn(|context| discarding.poll_turn(context))).is_pending());
        poll_fn(|context| discarding.poll_turn(context)).await;
        assert_eq!(discarding.bytes, 0);
        let pauses = u32::try_from(MOST_AFTERWARDS / DISCARDED_AT_ONCE).expect("a number");
        assert!(PAUSE * pauses < LINGER, "all of it arrives in time");
    }
}
