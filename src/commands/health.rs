//! Asks the server of the same declarations whether it serves: for containers, whose image has nothing else to ask with.

use crate::boot::{BootError, ConfigSource};
use cms_declaration::Server;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::time::Duration;
use ureq::Agent;
use ureq::tls::TlsConfig;

/// How long a server may take to respond; those who call this wait longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// See [`super::Command::Health`].
pub(super) fn health(source: &ConfigSource) -> Result<(), BootError> {
    let loaded = source.load()?;
    let declared = &loaded.declaration;
    let (url, most) = address(&declared.server, &declared.site.prefix)?;
    // The server is this machine's own: its certificate has the name of the site, and no proxy leads to it.
    let agent = Agent::config_builder()
        .tls_config(TlsConfig::builder().disable_verification(true).build())
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(PATIENCE));
    let agent: Agent = agent.build().into();
    let failed = |error: ureq::Error| BootError::Other(format!("{url}: {error}"));
    let mut response = agent.get(&url).call().map_err(failed)?;
    let status = response.status().as_u16();
    if status > most {
        let text = response.body_mut().read_to_string().map_err(failed)?;
        return Err(BootError::Other(format!("{url}: {status} {}", text.trim_end())));
    }
    say!("{url}: {status}");
    Ok(())
}

/// The address of the request, and the highest status of a server that works. The listener for operators knows whether the
/// database can be read; the site may respond that it wants credentials.
fn address(server: &Server, prefix: &str) -> Result<(String, u16), BootError> {
    if let Some(listen) = server.admin_listen.get() {
        return Ok((format!("http://{}/health/ready", reachable(listen)?), 200));
    }
    if server.listen.starts_with("unix:") {
        let hint = "set server.admin_listen";
        return Err(BootError::Other(format!("{} is no address to ask\n  hint: {hint}", server.listen)));
    }
    let scheme = if server.tls.get().is_some() { "https" } else { "http" };
    Ok((format!("{scheme}://{}/{prefix}-json/", reachable(&server.listen)?), 499))
}

/// The address of a listener as a client names it: one that listens on all addresses has none of its own.
fn reachable(listen: &str) -> Result<SocketAddr, BootError> {
    let none = || BootError::Other(format!("{listen} is no address to ask"));
    let mut address = listen.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or_else(none)?;
    if address.port() == 0 {
        return Err(none());
    }
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_declaration::units::OptionalSetting;

    #[test]
    fn a_server_on_all_addresses_is_asked_on_this_machine() {
        let of = |listen: &str, admin: Option<&str>| {
            let mut server = Server { listen: listen.into(), ..Server::default() };
            if let Some(admin) = admin {
                server.admin_listen = OptionalSetting::on(admin.into());
            }
            address(&server, "cms").map_err(|error| error.to_string())
        };
        assert_eq!(of("0.0.0.0:8080", None), Ok(("http://127.0.0.1:8080/cms-json/".into(), 499)));
        assert_eq!(of("[::]:80", None), Ok(("http://[::1]:80/cms-json/".into(), 499)));
        assert_eq!(of("[::]:80", Some("127.0.0.1:9090")), Ok(("http://127.0.0.1:9090/health/ready".into(), 200)));
        assert!(of("unix:/run/http.sock", None).unwrap_err().contains("server.admin_listen"));
        assert!(of("127.0.0.1:0", None).is_err());
    }
}
