//! The edge on a connection in memory: what a client that sends these bytes reads. For the targets of `fuzzing`.
//!
//! The stack is that of a socket, from the parser of heads to the writer of responses; only what `connection` watches
//! (time) is left out.

use super::{AccessLog, Edge, RequestIds, Service, ServiceSwap, answer};
use actix_http::{HttpService, KeepAlive, Protocol};
use actix_service::{Service as _, ServiceFactory as _, fn_service};
use actix_web::rt::Runtime;
use cms_declaration::LogFormat;
use futures_util::future::join;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

/// Bytes that the connection holds on their way in each direction.
const HELD: usize = 64 << 10;

/// How long an exchange may take; nothing in it waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server without a socket. For one thread.
pub struct MemoryServer {
    edge: Arc<Edge>,
    runtime: Runtime,
}

impl MemoryServer {
    /// Serves with a service that writes no access log.
    ///
    /// # Errors
    /// No thread or no runtime can be had.
    pub fn new(service: Arc<dyn Service>) -> io::Result<MemoryServer> {
        let services = Arc::new(ServiceSwap::new(service));
        let log = AccessLog::start(io::sink(), LogFormat::Json)?;
        let edge = Edge {
            bodies: Arc::default(),
            services,
            log,
            metrics: None,
            ids: RequestIds::new(),
            stopping: Arc::default(),
        };
        Ok(MemoryServer { edge: Arc::new(edge), runtime: Runtime::new()? })
    }

    /// Everything that a client receives that sends these bytes and then nothing more.
    ///
    /// # Errors
    /// The server does not end the connection in time.
    pub fn exchange(&self, sent: &[u8]) -> io::Result<Vec<u8>> {
        let (mut client, server) = tokio::io::duplex(HELD);
        let served = self.serve(server);
        let asked = async move {
            let (mut incoming, mut outgoing) = tokio::io::split(&mut client);
            let mut received = Vec::new();
            // A server that has read enough reads no further; what it has sent counts all the same.
            let send = async {
                let _ = outgoing.write_all(sent).await;
                let _ = outgoing.shutdown().await;
            };
            let (read, ()) = join(incoming.read_to_end(&mut received), send).await;
            read.map(|_| received)
        };
        let both = async { tokio::time::timeout(PATIENCE, join(asked, served)).await };
        match self.runtime.block_on(both) {
            Ok((received, ())) => received,
            Err(_elapsed) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    async fn serve(&self, connection: DuplexStream) {
        let edge = Arc::clone(&self.edge);
        let factory = HttpService::build()
            .keep_alive(KeepAlive::Disabled)
            .client_request_timeout(Duration::ZERO)
            .client_disconnect_timeout(Duration::ZERO)
            .finish(fn_service(move |request| {
                let edge = Arc::clone(&edge);
                async move { Ok::<_, Infallible>(answer(request, &edge).await) }
            }));
        let Ok(service) = factory.new_service(()).await else { return };
        // Bytes that are no request end the connection: the client has read why.
        let _ = service.call((connection, Protocol::Http1, None)).await;
    }
}
