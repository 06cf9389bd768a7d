//! Sockets in the file system, which only Unix has. Elsewhere there are none: their types have no value.

pub use system::{UnixListener, UnixStream, inherited, listen, open};

#[cfg(unix)]
mod system {
    use super::super::listen::BACKLOG;
    use actix_server::{ServerBuilder, ServerServiceFactory};
    use listenfd::ListenFd;
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
