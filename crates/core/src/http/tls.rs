//! TLS with given files: the certificate that new connections get, which a reload replaces.

use arc_swap::ArcSwap;
use cms_declaration::Tls;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{Error, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert, ServerConfig};
use tokio_rustls::rustls::sign::CertifiedKey;

/// The certificate in use.
pub struct Certificates {
    declared: Tls,
    current: ArcSwap<CertifiedKey>,
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").field("declared", &self.declared).finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.load_full())
    }
}

impl Certificates {
    /// Reads the files.
    ///
    /// # Errors
    /// They cannot be read, or do not belong together; the error names the file.
    pub fn read(declared: &Tls) -> io::Result<Arc<Certificates>> {
        let current = ArcSwap::from_pointee(pair(declared)?);
        Ok(Arc::new(Certificates { declared: declared.clone(), current }))
    }

    /// Reads the files again; connections that are open keep the old certificate.
    ///
    /// # Errors
    /// Those of [`Certificates::read`]; the old certificate stays.
    pub fn renew(&self) -> io::Result<()> {
        self.current.store(Arc::new(pair(&self.declared)?));
        Ok(())
    }

    /// The acceptor that makes connections of sockets: HTTP/1.1 over TLS 1.2 or 1.3.
    ///
    /// # Errors
    /// The library has no cipher for these versions.
    pub fn acceptor(self: &Arc<Self>) -> io::Result<TlsAcceptor> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
        let mut config = builder.with_no_client_auth().with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

fn pair(declared: &Tls) -> io::Result<CertifiedKey> {
    let (certificate, key) = (Path::new(&declared.certificate), Path::new(&declared.key));
    let fail = |path: &Path, what: String| io::Error::other(format!("server.tls: {}: {what}", path.display()));
    let said = |error: Error| match error {
        Error::NoItemsFound => "there is none in PEM in this file".to_owned(),
        error => error.to_string(),
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(|found| found.collect::<Result<Vec<_>, _>>())
        .map_err(|error| fail(certificate, said(error)))?;
    if chain.is_empty() {
        return Err(fail(certificate, "there is no certificate in this file".into()));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| fail(key, said(error)))?;
    CertifiedKey::from_der(chain, secret, &ring::default_provider())
        .map_err(|error| fail(key, format!("it does not belong to {}: {error}", certificate.display())))
}
