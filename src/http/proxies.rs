//! Who the client is when proxies stand in between: networks of trusted proxies and the headers that those send.
//!
//! Knows addresses and header texts only. A forwarding header from anybody else is noted and not believed.

use crate::model::Peer;
use std::net::{IpAddr, Ipv6Addr};

/// A network in CIDR notation, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// IPv4 as the mapped IPv6 address, so that both kinds compare alike.
    address: u128,
    prefix: u32,
}

impl Network {
    /// Reads `10.0.0.0/8`, `10.1.2.3`, `fd00::/8`; `None` for anything else, also for a prefix that is too long.
    pub fn parse(text: &str) -> Option<Network> {
        let (address, prefix) = match text.trim().split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u32>().ok()?)),
            None => (text.trim(), None),
        };
        let address: IpAddr = address.parse().ok()?;
        let (bits, offset) = if address.is_ipv4() { (32, 96) } else { (128, 0) };
        let prefix = prefix.unwrap_or(bits);
        (prefix <= bits).then(|| Network { address: number(address), prefix: prefix + offset })
    }

    /// Whether the address lies in the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        let mask = u128::MAX.checked_shl(128 - self.prefix).unwrap_or(0);
        (number(address) ^ self.address) & mask == 0
    }
}

fn number(address: IpAddr) -> u128 {
    u128::from(match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    })
}

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
    fn networks() {
        let check = |network: &str, address: &str, expected: Option<bool>| {
            let found = Network::parse(network).map(|n| n.contains(address.parse().expect("an address")));
            assert_eq!(found, expected, "{network} {address}");
        };
        check("10.0.0.0/8", "10.255.0.1", Some(true));
        check("10.0.0.0/8", "11.0.0.1", Some(false));
        check("10.0.0.0/8", "::ffff:10.0.0.1", Some(true));
        check("127.0.0.1", "127.0.0.2", Some(false));
        check("0.0.0.0/0", "8.8.8.8", Some(true));
        check("0.0.0.0/0", "fd00::1", Some(false));
        check("::/0", "fd00::1", Some(true));
        check("fd00::/8", "fd12::1", Some(true));
        check(" 10.0.0.1 ", "10.0.0.1", Some(true));
        for wrong in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "a/b", "10.0.0.0/-1"] {
            check(wrong, "10.0.0.1", None);
        }
    }

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
