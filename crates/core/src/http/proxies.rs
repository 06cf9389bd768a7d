//! The client's address behind proxies: networks of trusted proxies and the headers that those send.
//!
//! Knows addresses and header texts only. A forwarding header from anybody else is recorded and not trusted.

use crate::model::Peer;
use cms_base::network::Network;
use std::net::{IpAddr, Ipv6Addr};

/// Most trusted proxies in a chain; earlier entries of the header are not read.
const MOST_PROXIES: usize = 16;

/// The word for the other end of a Unix socket.
pub const UNIX: &str = "unix";

/// Whose forwarding headers are believed.
#[derive(Debug, Default)]
pub struct TrustedProxies {
    networks: Vec<Network>,
    /// Who connects to the Unix socket, and so has no address.
    unix: bool,
}

impl TrustedProxies {
    /// Reads `server.trusted_proxies`.
    pub fn new(declared: &[String]) -> TrustedProxies {
        TrustedProxies {
            networks: declared.iter().filter_map(|text| Network::parse(text)).collect(),
            unix: declared.iter().any(|text| text == UNIX),
        }
    }

    fn address(&self, ip: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(ip))
    }
}

/// The peer of a request: `connected` is the other end of the socket (`None`: a Unix socket) and whether the connection to
/// it is encrypted, `header` gives all lines of a header, in order.
pub fn peer<'a, I>(
    (connected, encrypted): (Option<IpAddr>, bool),
    trusted: &TrustedProxies,
    header: impl Fn(&str) -> I,
) -> Peer
where
    I: Iterator<Item = &'a str>,
{
    let present = |name: &str| header(name).next().is_some();
    let localhost = header("host").next().is_some_and(is_localhost);
    let forwarded = ["x-forwarded-for", "x-forwarded-proto", "forwarded"].into_iter().any(present);
    let direct = Peer { ip: connected.map(plain), https: encrypted, forwarded, localhost };
    if !forwarded {
        return direct;
    }
    if !connected.map_or(trusted.unix, |ip| trusted.address(ip)) {
        return direct;
    }
    // Each proxy appends, so only entries that a trusted one wrote count: from the right, up to the first untrusted
    // one.
    let mut ip = connected;
    for entry in last(header("x-forwarded-for"), MOST_PROXIES) {
        let Some(address) = address(entry) else { break };
        ip = Some(address);
        if !trusted.address(address) {
            break;
        }
    }
    // A proxy that does not say how the client connected to it passes on what it received.
    let scheme = last(header("x-forwarded-proto"), 1);
    let https = scheme.first().map_or(encrypted, |name| name.eq_ignore_ascii_case("https"));
    Peer { ip: ip.map(plain), https, ..direct }
}

/// Whether a host, perhaps with a port, is `localhost` or below it: browsers trust it like an encrypted one.
fn is_localhost(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_end_matches('.');
    let end = name.len().checked_sub(LOCALHOST.len()).and_then(|at| name.split_at_checked(at));
    end.is_some_and(|(rest, end)| end.eq_ignore_ascii_case(LOCALHOST) && (rest.is_empty() || rest.ends_with('.')))
}

const LOCALHOST: &str = "localhost";

/// The last entries of a header that is a list, the very last first.
fn last<'a>(lines: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let lines: Vec<&str> = lines.collect();
    lines.iter().rev().flat_map(|line| line.rsplit(',')).map(str::trim).take(most).collect()
}

/// An entry of `X-Forwarded-For`: an address, possibly with a port.
fn address(entry: &str) -> Option<IpAddr> {
    let bare = entry.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(entry, |(inside, _)| inside);
    bare.parse().ok().or_else(|| bare.parse::<std::net::SocketAddr>().ok().map(|socket| socket.ip()))
}

fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6_or_mapped(v6),
        v4 => v4,
    }
}

fn v6_or_mapped(address: Ipv6Addr) -> IpAddr {
    address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers() {
        let check = |connected: &str, headers: &[(&str, &str)], expected: (&str, bool, bool)| {
            let trusted = TrustedProxies::new(&["10.0.0.0/8".to_owned(), UNIX.to_owned()]);
            let found = peer((connected.parse().ok(), false), &trusted, |name| {
                let name = name.to_owned();
                headers.iter().filter(move |(n, _)| *n == name).map(|(_, v)| *v)
            });
            let (ip, https, forwarded) = expected;
            assert_eq!(
                found,
                Peer { ip: ip.parse().ok(), https, forwarded, localhost: false },
                "{connected} {headers:?}"
            );
        };
        let proto = ("x-forwarded-proto", "https");
        check("9.9.9.9", &[], ("9.9.9.9", false, false));
        check("9.9.9.9", &[("x-forwarded-for", "1.2.3.4"), proto], ("9.9.9.9", false, true));
        check("10.0.0.1", &[("x-forwarded-for", "1.2.3.4"), proto], ("1.2.3.4", true, true));
        check("10.0.0.1", &[("x-forwarded-for", "6.6.6.6, 1.2.3.4, 10.0.0.2")], ("1.2.3.4", false, true));
        check("10.0.0.1", &[("x-forwarded-for", "6.6.6.6"), ("x-forwarded-for", "1.2.3.4")], ("1.2.3.4", false, true));
        check("10.0.0.1", &[("x-forwarded-for", "1.2.3.4, junk")], ("10.0.0.1", false, true));
        check("10.0.0.1", &[("x-forwarded-for", "1.2.3.4:80")], ("1.2.3.4", false, true));
        check("10.0.0.1", &[("x-forwarded-for", "[fd00::1]:80")], ("fd00::1", false, true));
        check("10.0.0.1", &[("forwarded", "for=1.2.3.4;proto=https")], ("10.0.0.1", false, true));
        check("10.0.0.1", &[("x-forwarded-proto", "https, http")], ("10.0.0.1", false, true));
        check("::ffff:10.0.0.1", &[proto], ("10.0.0.1", true, true));
        check("the socket", &[("x-forwarded-for", "1.2.3.4"), proto], ("1.2.3.4", true, true));
        check("the socket", &[("x-forwarded-for", "1.2.3.4, 10.0.0.2")], ("1.2.3.4", false, true));
        check("the socket", &[], ("", false, false));
        let nobody = TrustedProxies::new(&["10.0.0.0/8".to_owned()]);
        let encrypted = peer(("9.9.9.9".parse().ok(), true), &nobody, |_| ["http"].into_iter());
        assert!(encrypted.https, "a stranger cannot deny it");
        let behind = |scheme: &'static str| {
            let header = move |name: &str| (name == "x-forwarded-proto").then_some(scheme).into_iter();
            peer(("10.0.0.1".parse().ok(), true), &nobody, header).https
        };
        assert_eq!((behind("http"), behind("https")), (false, true));
        let unknown = peer((None, false), &nobody, |_| ["https"].into_iter());
        assert_eq!(
            unknown,
            Peer { ip: None, https: false, forwarded: true, localhost: false },
            "a socket that nobody has named"
        );
        let chain = |proxies: usize| format!("1.2.3.4{}", ", 10.0.0.2".repeat(proxies));
        check("10.0.0.1", &[("x-forwarded-for", &chain(14))], ("1.2.3.4", false, true));
        check("10.0.0.1", &[("x-forwarded-for", &chain(15))], ("1.2.3.4", false, true));
        check("10.0.0.1", &[("x-forwarded-for", &chain(16))], ("10.0.0.2", false, true));
    }

    #[test]
    fn names_of_the_own_machine() {
        let check = |host: &str, expected: bool| assert_eq!(is_localhost(host), expected, "{host}");
        for own in ["localhost", "LocalHost:8080", "app.localhost", "localhost."] {
            check(own, true);
        }
        for other in ["", "127.0.0.1:80", "notlocalhost", "localhost.example.org", "ælocalhost", "[::1]:80"] {
            check(other, false);
        }
    }
}
