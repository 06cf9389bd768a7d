//! The address of a database, and connections to it. Opening one ends at the deadline of whoever waits for it, also where
//! a server takes connections and then says nothing.

use super::super::statement::{DbError, Fault};
use super::attempts::ConnectAttempts;
use super::driver::{Driver, explain, wait, with_causes};
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{timeout, timeout_at};
use tokio_postgres::config::SslMode;
use tokio_postgres::{CancelToken, Client, Config, Connection, Error, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// How long opening a connection may take.
pub const CONNECTING: Duration = Duration::from_secs(5);
/// How long asking the server to end something may take.
const CANCELLING: Duration = Duration::from_secs(5);
/// The text of the cause where the server's certificate is not valid.
pub const CERTIFICATE: &str = "invalid peer certificate";

/// The settings of every connection. A server that is cut off must not hold what others wait for.
const SETTINGS: &str = "SET client_min_messages = warning; SET standard_conforming_strings = on; \
    SET idle_in_transaction_session_timeout = '20s'; SET lock_timeout = '20s'; SET tcp_keepalives_idle = 5; \
    SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3";

/// See the module.
pub struct Address {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    driver: Driver,
    attempts: ConnectAttempts,
    /// How often a thread has waited for the server.
    pub round_trips: AtomicU64,
    /// Without the password.
    pub shown: String,
}

/// Why an address cannot be used.
#[derive(Debug)]
pub struct BadAddress(pub String);

impl Address {
    /// Reads `postgres://user:password@host:port/database?sslmode=…`.
    pub fn parse(url: &str) -> Result<Address, BadAddress> {
        let bad = |why: &dyn std::fmt::Display| BadAddress(why.to_string());
        let mut parsed = url::Url::parse(url).map_err(|e| bad(&e))?;
        let mut shown = parsed.clone();
        // Only an address that can have none has no password.
        let _ = shown.set_password(None);
        shown.set_query(None);
        let pairs: Vec<(String, String)> = parsed.query_pairs().into_owned().collect();
        let given = |key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
        let mode = given("sslmode").unwrap_or("prefer").to_owned();
        let roots = given("sslrootcert").map(PathBuf::from);
        let others: Vec<&(String, String)> =
            pairs.iter().filter(|(k, _)| k != "sslmode" && k != "sslrootcert").collect();
        if others.is_empty() {
            parsed.set_query(None);
        } else {
            parsed.query_pairs_mut().clear().extend_pairs(others);
        }
        let mut config = Config::from_str(parsed.as_str()).map_err(|e| bad(&with_causes(&e)))?;
        config.application_name("cms-server").connect_timeout(CONNECTING);
        config
            .keepalives_idle(Duration::from_secs(5))
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(3);
        config.tcp_user_timeout(Duration::from_secs(20));
        let (ssl, verify) = match &*mode {
            "disable" => (SslMode::Disable, None),
            "prefer" => (SslMode::Prefer, Some(false)),
            "require" => (SslMode::Require, Some(roots.is_some())),
            "verify-full" if roots.is_none() => {
                return Err(BadAddress("sslmode=verify-full needs sslrootcert=FILE".into()));
            }
            "verify-full" => (SslMode::Require, Some(true)),
            _ => {
                return Err(BadAddress(format!("sslmode `{mode}` is none of disable, prefer, require, verify-full")));
            }
        };
        config.ssl_mode(ssl);
        let tls = verify.map(|verify| tls(roots.filter(|_| verify))).transpose().map_err(BadAddress)?;
        let driver = Driver::start().map_err(|e| bad(&e))?;
        let (attempts, round_trips) = (ConnectAttempts::default(), AtomicU64::new(0));
        Ok(Address { config, tls, driver, attempts, round_trips, shown: shown.to_string() })
    }

    /// A new connection, set up by the deadline, and what drives it.
    pub fn connect(self: &Arc<Address>, deadline: Option<Instant>) -> Result<(Client, AbortHandle), Refused> {
        let Some(attempt) = self.attempts.begin() else {
            return Err(Refused::Closed("the last attempt to connect has failed".into()));
        };
        let longest = Instant::now() + CONNECTING;
        let connected = self.attempt(deadline.map_or(longest, |deadline| deadline.min(longest)));
        attempt.end(matches!(connected, Err(Refused::Closed(_) | Refused::Full(_))));
        connected
    }

    fn attempt(self: &Arc<Address>, until: Instant) -> Result<(Client, AbortHandle), Refused> {
        let (reply, answer) = oneshot::channel();
        let address = self.clone();
        self.driver.handle.spawn(async move {
            let connected = timeout_at(until.into(), address.open()).await;
            // The caller may have stopped waiting; then the connection ends with its client.
            let _ = reply.send(connected);
        });
        match wait(answer, until) {
            Some(Ok(Ok(connected))) => connected,
            Some(Ok(Err(_)) | Err(_)) | None => Err(Refused::Closed("no answer in time".into())),
        }
    }

    async fn open(&self) -> Result<(Client, AbortHandle), Refused> {
        let refused = |error: Error| Refused::of(&error);
        let (client, driven) = match &self.tls {
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await.map_err(refused)?;
                (client, self.drive(connection))
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(refused)?;
                (client, self.drive(connection))
            }
        };
        let set = client.batch_execute(SETTINGS).await;
        set.map_err(|error| Refused::Closed(explain(&error, client.is_closed()).cause))?;
        Ok((client, driven))
    }

    fn drive<S>(&self, connection: Connection<Socket, S>) -> AbortHandle
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let driven = self.driver.handle.spawn(async move {
            // Who uses the connection hears of its end.
            let _ = connection.await;
        });
        driven.abort_handle()
    }

    /// A connection whose messages are for the caller.
    pub async fn listen(&self) -> Result<(Client, Messages), Error> {
        Ok(match &self.tls {
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                (client, Messages::of(connection))
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                (client, Messages::of(connection))
            }
        })
    }

    /// The thread that drives connections.
    pub fn handle(&self) -> &tokio::runtime::Handle {
        &self.driver.handle
    }

    /// Asks the server to end what a connection does; ready when it has been told.
    pub fn cancel(&self, token: CancelToken) -> oneshot::Receiver<()> {
        let tls = self.tls.clone();
        let (done, heard) = oneshot::channel::<()>();
        self.driver.handle.spawn(async move {
            let cancelled = match tls {
                Some(tls) => timeout(CANCELLING, token.cancel_query(tls)).await,
                None => timeout(CANCELLING, token.cancel_query(NoTls)).await,
            };
            // A server that is away has nothing to end. Nobody may wait for it.
            if matches!(cancelled, Ok(Ok(()))) {
                let _ = done.send(());
            }
        });
        heard
    }
}

/// A connection's messages, whatever it runs over.
pub struct Messages(Box<dyn Poll + Send>);

trait Poll {
    fn poll(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<tokio_postgres::AsyncMessage, Error>>>;
}

impl<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin> Poll for Connection<Socket, S> {
    fn poll(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<tokio_postgres::AsyncMessage, Error>>> {
        self.poll_message(context)
    }
}

impl Messages {
    fn of<S>(connection: Connection<Socket, S>) -> Messages
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        Messages(Box::new(connection))
    }

    /// The next message; `None` when the connection has ended.
    pub async fn next(&mut self) -> Option<tokio_postgres::AsyncMessage> {
        std::future::poll_fn(|context| self.0.poll(context)).await?.ok()
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub enum Refused {
    /// Nobody answers, or the server takes nobody in now.
    Closed(String),
    /// All connections that the server, the database or the user may have are in use.
    Full(String),
    /// The server refuses this user, password, database or encryption.
    Unwanted { code: String, cause: String },
}

impl Refused {
    fn of(error: &Error) -> Refused {
        match error.as_db_error() {
            Some(db) if db.code().code() == "53300" => Refused::Full(db.message().to_owned()),
            Some(db) if db.code().code().starts_with("57P") || db.code().code().starts_with("53") => {
                // Starting up, shutting down, out of memory.
                Refused::Closed(db.message().to_owned())
            }
            Some(db) => Refused::Unwanted { code: db.code().code().to_owned(), cause: db.message().to_owned() },
            // To rustls a certificate that does not hold is an error of input and output.
            None if with_causes(error).contains(CERTIFICATE) => {
                Refused::Unwanted { code: String::new(), cause: with_causes(error) }
            }
            None if explain(error, false).fault == Fault::Other && !is_io(error) => {
                Refused::Unwanted { code: String::new(), cause: with_causes(error) }
            }
            None => Refused::Closed(with_causes(error)),
        }
    }
}

fn is_io(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        if next.is::<std::io::Error>() {
            return true;
        }
        cause = next.source();
    }
    error.to_string().contains("connect") || error.to_string().contains("timeout")
}

impl From<Refused> for DbError {
    fn from(refused: Refused) -> DbError {
        let (Refused::Closed(cause) | Refused::Full(cause) | Refused::Unwanted { cause, .. }) = refused;
        DbError { fault: Fault::Unavailable, cause: format!("the database cannot be reached: {cause}") }
    }
}

/// TLS; certificates are verified against `roots`, where they are given.
fn tls(roots: Option<PathBuf>) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|e| e.to_string())?;
    let Some(file) = roots else {
        let verifier = Arc::new(AnyCertificate(provider));
        let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        return Ok(MakeRustlsConnect::new(config));
    };
    let told = |e: &dyn std::fmt::Display| format!("sslrootcert {}: {e}", file.display());
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&file).map_err(|e| told(&e))? {
        store.add(certificate.map_err(|e| told(&e))?).map_err(|e| told(&e))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider).build();
    let config = builder.with_webpki_verifier(verifier.map_err(|e| told(&e))?).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Takes any certificate: what `sslmode=prefer` and `sslmode=require` mean everywhere.
#[derive(Debug)]
struct AnyCertificate(Arc<rustls::crypto::CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
