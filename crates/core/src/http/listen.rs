//! Sockets that are listened on: addresses, Unix sockets, sockets that systemd has opened; and the streams of both kinds.

use super::platform::{self, UnixListener, UnixStream};
use super::tls::Certificates;
use actix_web::rt::net::TcpStream;
use cms_declaration::Server;
use listenfd::ListenFd;
use socket2::{Domain, Protocol, SockAddr, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// The beginning of a `server.listen` that names a file.
const UNIX: &str = "unix:";

/// Everything that is listened on.
pub struct Listeners {
    pub public: Socket,
    /// For the public one.
    pub tls: Option<Arc<Certificates>>,
    pub admin: Option<TcpListener>,
}

/// A socket that is listened on.
#[derive(Debug)]
pub enum Socket {
    Tcp(TcpListener),
    /// With the file that is removed at the end, where it is ours.
    Unix(UnixListener, Option<PathBuf>),
}

impl Listeners {
    /// Opens what is declared. A socket that systemd has opened takes the place of `server.listen`.
    ///
    /// # Errors
    /// The error names the address and what to do.
    pub fn open(server: &Server) -> io::Result<Listeners> {
        let tls = server.tls.get().map(Certificates::read).transpose()?;
        let public = match inherited()? {
            Some(socket) => socket,
            None => match server.listen.strip_prefix(UNIX) {
                Some(path) => {
                    let listener =
                        platform::open(Path::new(path)).map_err(|error| explained(&server.listen, &error))?;
                    Socket::Unix(listener, Some(path.into()))
                }
                None => Socket::Tcp(bind(&server.listen)?),
            },
        };
        Ok(Listeners { public, tls, admin: server.admin_listen.get().map(|address| bind(address)).transpose()? })
    }

    /// Only these.
    pub fn of(public: TcpListener, admin: Option<TcpListener>) -> Listeners {
        Listeners { public: Socket::Tcp(public), tls: None, admin }
    }

    /// The host of addresses on this machine: of `http://127.0.0.1:8080`, or a name where there is no port.
    pub fn host(&self) -> String {
        match &self.public {
            Socket::Tcp(listener) => listener.local_addr().map_or_else(|_| "localhost".into(), |a| a.to_string()),
            Socket::Unix(..) => "localhost".into(),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Socket::Unix(_, Some(path)) = self {
            // The next start replaces what is left.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The first socket that systemd has passed on. Its variables count for one process only, so its children get none.
fn inherited() -> io::Result<Option<Socket>> {
    let mut sockets = ListenFd::from_env();
    if sockets.len() == 0 {
        return Ok(None);
    }
    if let Some(listener) = platform::inherited(&mut sockets) {
        return Ok(Some(Socket::Unix(listener, None)));
    }
    let text = "systemd has passed on a socket that is no stream: write ListenStream= into its unit";
    let listener = sockets.take_tcp_listener(0).map_err(|error| io::Error::new(error.kind(), text))?;
    Ok(listener.map(Socket::Tcp))
}

/// Opens a listener on `host:port`; port 0 takes a free one. The error names the address and what to do.
pub fn bind(address: &str) -> io::Result<TcpListener> {
    let candidates: Vec<SocketAddr> = address.to_socket_addrs().map_err(|e| explained(address, &e))?.collect();
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for candidate in candidates {
        match listen(candidate) {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(explained(address, &failure))
}

fn explained(address: &str, error: &io::Error) -> io::Error {
    let cause = match error.kind() {
        io::ErrorKind::AddrInUse => "another program listens there already; stop it or take another address".into(),
        io::ErrorKind::PermissionDenied => {
            "this user may not listen there; take a port above 1023, or a folder that belongs to the user".into()
        }
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".into(),
        io::ErrorKind::InvalidInput => "an address looks like 127.0.0.1:8080 or unix:/run/cms-server/http.sock".into(),
        io::ErrorKind::NotFound => "there is no such folder".into(),
        io::ErrorKind::Unsupported => "this system has no sockets in the file system".into(),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), format!("cannot listen on {address}: {cause}"))
}

/// Connections that may wait to be accepted; the standard library's 128 is too few for a burst of clients.
pub const BACKLOG: i32 = 4096;

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // This lets a restart take over a port whose old connections linger.
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// A connection's stream.
pub enum SocketStream {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

/// Calls a method of the stream inside.
macro_rules! inside {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        match $self.get_mut() {
            SocketStream::Tcp(stream) => Pin::new(stream).$method($($argument),*),
            SocketStream::Tls(stream) => Pin::new(&mut **stream).$method($($argument),*),
            SocketStream::Unix(stream) => Pin::new(stream).$method($($argument),*),
        }
    };
}

impl SocketStream {
    /// Whether nobody can read along.
    pub fn encrypted(&self) -> bool {
        matches!(self, SocketStream::Tls(_))
    }
}

impl AsyncRead for SocketStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        inside!(self, poll_read(context, buffer))
    }
}

impl AsyncWrite for SocketStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        inside!(self, poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, poll_shutdown(context))
    }
}
