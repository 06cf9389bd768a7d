//! HTTPS with given files. `fixtures/tls` holds two certificates of one authority, made for these tests alone.

use super::server::{Answer, Server, program, run, until};
use std::io::Read as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls").join(name)
}

fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(fixture(name)).expect("a certificate")
}

/// A server with the first certificate, and the folder of its files.
fn server() -> (Server, TempDir) {
    let folder = TempDir::new().expect("a temporary folder");
    install(&folder, 1);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let certificate = format!("server.tls.certificate={}", at("site.pem"));
    let server = Server::with(&[&certificate, &format!("server.tls.key={}", at("site.key"))]);
    (server, folder)
}

fn install(folder: &TempDir, number: usize) {
    for (end, name) in [("pem", "site.pem"), ("key", "site.key")] {
        std::fs::copy(fixture(&format!("server{number}.{end}")), folder.path().join(name)).expect("a file");
    }
}

/// An anonymous GET of a client that trusts the authority of the fixtures.
fn get(server: &Server, route: &str, as_user: Option<&(String, String)>) -> Answer {
    use base64::Engine as _;
    let authority = ureq::tls::Certificate::from_pem(&std::fs::read(fixture("authority.pem")).expect("a file"));
    let roots = ureq::tls::RootCerts::new_with_certs(&[authority.expect("a certificate")]);
    let tls = ureq::tls::TlsConfig::builder().root_certs(roots).build();
    let agent: ureq::Agent = ureq::Agent::config_builder().tls_config(tls).http_status_as_error(false).build().into();
    let mut request = agent.get(format!("{}{route}", server.rest));
    if let Some((login, password)) = as_user {
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{password}"));
        request = request.header("authorization", format!("Basic {pair}"));
    }
    let mut response = request.call().expect("a response");
    let status = response.status().as_u16();
    let text = response.body_mut().read_to_string().expect("text");
    let body = serde_json::from_str(&text).unwrap_or_default();
    Answer { status, headers: Vec::new(), body, bytes: Vec::new(), text }
}

/// The certificate that a new connection gets.
fn shown(server: &Server) -> CertificateDer<'static> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate("authority.pem")).expect("an authority");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "127.0.0.1".try_into().expect("a name");
    let mut client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut stream = TcpStream::connect(server.site.trim_start_matches("https://")).expect("a server");
    while client.is_handshaking() {
        client.complete_io(&mut stream).expect("a handshake");
    }
    client.peer_certificates().expect("certificates")[0].clone().into_owned()
}

#[test]
fn the_server_speaks_https_with_given_files() {
    let (server, _folder) = server();
    assert!(server.rest.starts_with("https://127.0.0.1:"), "{}", server.rest);
    let root = get(&server, "/", None);
    assert_eq!((root.status, root.body["url"].as_str()), (200, Some(server.site.as_str())), "{}", root.text);
    assert_eq!(get(&server, "/cms/v2/users/me", Some(&server.admin)).status, 200, "passwords are accepted over HTTPS");
    assert_eq!(shown(&server), certificate("server1.pem"));
    // Bytes that are no handshake end the connection, and nothing else.
    let mut plain = TcpStream::connect(server.site.trim_start_matches("https://")).expect("a server");
    std::io::Write::write_all(&mut plain, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("a request");
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/1.1"), "{answer:?}");
    assert_eq!(get(&server, "/", None).status, 200);
}

#[test]
fn a_renewed_certificate_is_taken_over_and_a_broken_one_is_not() {
    let (server, folder) = server();
    std::fs::write(folder.path().join("site.pem"), "nonsense").expect("a file");
    server.log_until("the old certificate stays in use");
    assert_eq!(shown(&server), certificate("server1.pem"));
    install(&folder, 2);
    until("the new certificate is used", || shown(&server) == certificate("server2.pem"));
}

#[test]
fn files_that_do_not_belong_together_are_named() {
    let folder = TempDir::new().expect("a temporary folder");
    let database = format!("storage.url=sqlite:{}/x.db", folder.path().display());
    for (pem, key, named) in [
        (fixture("server1.pem"), fixture("server2.key"), "server2.key"),
        (fixture("server1.key"), fixture("server1.key"), "server1.key"),
        (fixture("server1.pem"), fixture("authority.pem"), "authority.pem"),
        (fixture("missing.pem"), fixture("server1.key"), "missing.pem"),
    ] {
        let (pem, key) = (pem.display(), key.display());
        let sets = [format!("server.tls.certificate={pem}"), format!("server.tls.key={key}"), database.clone()];
        let sets = sets.iter().flat_map(|set| ["--set", set.as_str()]);
        let output = program().args(["--set", "server.listen=127.0.0.1:0"]).args(sets).output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("server.tls: ") && said.contains(named), "{named}: {said}");
    }
}

#[test]
fn the_doctor_trusts_a_given_authority() {
    let (server, folder) = server();
    let site = format!("site.url={}", server.site);
    let asked = |more: &[&str]| {
        let common = ["--set", &site, "doctor", "--url", &server.site];
        let output = run(&[&server.args()[..], &common, more].concat(), "");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let authority = fixture("authority.pem").display().to_string();
    let (sound, said) = asked(&["--ca", &authority]);
    assert!(sound, "{said}");
    assert!(!asked(&[]).0, "nobody else trusts that authority");
    let key = folder.path().join("site.key").display().to_string();
    let (sound, said) = asked(&["--ca", &key]);
    assert!(!sound && said.contains("no certificate in PEM"), "{said}");
}
