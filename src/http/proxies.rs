//! Who the client is when proxies stand in between: networks of trusted proxies and the headers that those send.
//!
//! Knows addresses and header texts only. A forwarding header from anybody else is noted and not believed.

use crate::model::Peer;
use crate::network::Network;
use std::net::{IpAddr, Ipv6Addr};

/// The peer of a request: `connected` is the other end of the socket, `trusted` the declared networks, `header` gives
/// all lines of a header, in order.
pub fn peer<'a, I>(connected: Option<IpAddr>, trusted: &[Network], header: impl Fn(&str) -> I) -> Peer
where
    I: Iterator<Item = &'a str>,
{
    let all = |name: &str| header(name).flat_map(|line| line.split(',')).map(str::trim).collect::<Vec<_>>();
    let (via, protocol) = (all("x-forwarded-for"), all("x-forwarded-proto"));
    let forwarded = !via.is_empty() || !protocol.is_empty() || header("forwarded").next().is_some();
    let direct = Peer { ip: connected.map(plain), https: false, forwarded };
    if !forwarded {
        return direct;
    }
    let is_trusted = |ip: IpAddr| trusted.iter().any(|network| network.contains(ip));
    if !connected.is_some_and(is_trusted) {
        return direct;
    }
    // Each proxy appends, so only entries that a trusted one wrote count: from the right, up to the first stranger.
    let mut ip = connected;
    for entry in via.iter().rev() {
        let Some(address) = address(entry) else { break };
        ip = Some(address);
        if !is_trusted(address) {
            break;
        }
    }
    let https = protocol.last().is_some_and(|name| name.eq_ignore_ascii_case("https"));
    Peer { ip: ip.map(plain), https, forwarded }
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
            let trusted = [Network::parse("10.0.0.0/8").expect("a network")];
            let found = peer(Some(connected.parse().expect("an address")), &trusted, |name| {
                let name = name.to_owned();
                headers.iter().filter(move |(n, _)| *n == name).map(|(_, v)| *v)
            });
            let (ip, https, forwarded) = expected;
            assert_eq!(found, Peer { ip: ip.parse().ok(), https, forwarded }, "{connected} {headers:?}");
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
    }
}
