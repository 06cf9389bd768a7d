//! Sockets in the file system and systemd, which only Unix has. Elsewhere there are none: the types of sockets have no value.

pub use system::{UnixListener, UnixStream, inherited, listen, notify_ready, notify_stopping, open};

#[cfg(unix)]
mod system {
    use super::super::listen::BACKLOG;
    use actix_server::{ServerBuilder, ServerServiceFactory};
    use listenfd::ListenFd;
    use sd_notify::NotifyState;
    use socket2::{Domain, SockAddr, Socket, Type};
    use std::fs::{Permissions, set_permissions};
    use std::io;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
    use std::path::Path;

    pub use actix_web::rt::net::UnixStream;
    pub use std::os::unix::net::UnixListener;

    /// The owner and the group may connect: a proxy joins the group.
    const MODE: u32 = 0o660;

    /// Opens a socket in the file system. A socket that a former server has left there is replaced.
    pub fn open(path: &Path) -> io::Result<UnixListener> {
        if path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket()) {
            match std::os::unix::net::UnixStream::connect(path) {
                Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
                Err(_) => std::fs::remove_file(path)?,
            }
        }
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(path)?)?;
        set_permissions(path, Permissions::from_mode(MODE))?;
        socket.listen(BACKLOG)?;
        Ok(socket.into())
    }

    /// Tells systemd that the server serves. Nobody listens unless systemd has started it.
    pub fn notify_ready() {
        let _ = sd_notify::notify(&[NotifyState::Ready]);
    }

    /// Tells systemd that the server ends.
    pub fn notify_stopping() {
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
    }

    /// The first socket that systemd has passed on, if it is one of these.
    pub fn inherited(sockets: &mut ListenFd) -> Option<UnixListener> {
        sockets.take_unix_listener(0).ok().flatten()
    }

    /// Serves on a socket.
    pub fn listen(
        builder: ServerBuilder,
        listener: &UnixListener,
        service: impl ServerServiceFactory<UnixStream>,
    ) -> io::Result<ServerBuilder> {
        builder.listen_uds("edge", listener.try_clone()?, service)
    }
}

#[cfg(not(unix))]
mod system {
    use actix_server::ServerBuilder;
    use listenfd::ListenFd;
    use std::io;
    use std::path::Path;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    #[derive(Debug)]
    pub enum UnixListener {}

    pub enum UnixStream {}

    pub fn open(_path: &Path) -> io::Result<UnixListener> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn notify_ready() {}

    pub fn notify_stopping() {}

    pub fn inherited(_sockets: &mut ListenFd) -> Option<UnixListener> {
        None
    }

    pub fn listen<S>(_builder: ServerBuilder, listener: &UnixListener, _service: S) -> io::Result<ServerBuilder> {
        match *listener {}
    }

    impl AsyncRead for UnixStream {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            match *self {}
        }
    }

    impl AsyncWrite for UnixStream {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            match *self {}
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            match *self {}
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            match *self {}
        }
    }
}
