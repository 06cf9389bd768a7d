//! Networks of addresses, and which of them belong to everybody.

use std::net::IpAddr;
use std::sync::LazyLock;

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

    /// Whether the address is in the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        let mask = u128::MAX.checked_shl(128 - self.prefix).unwrap_or(0);
        (number(address) ^ self.address) & mask == 0
    }
}

/// Networks of no public address: of this machine, private, shared, of a link, multicast, or reserved.
const RESERVED: [&str; 19] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    // Of protocols (Teredo among them), for examples, and 6to4, behind which an address of IPv4 may be.
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
];
/// Where public addresses of IPv6 are.
const UNICAST: &str = "2000::/3";

/// Whether an address is a public one.
pub fn public(address: IpAddr) -> bool {
    static NETWORKS: LazyLock<(Vec<Network>, Option<Network>)> = LazyLock::new(|| {
        let reserved = RESERVED.iter().filter_map(|text| Network::parse(text)).collect();
        (reserved, Network::parse(UNICAST))
    });
    let (reserved, unicast) = &*NETWORKS;
    let mapped = |v6: std::net::Ipv6Addr| v6.to_ipv4_mapped().is_some();
    let within = match address {
        IpAddr::V6(v6) if !mapped(v6) => unicast.is_some_and(|network| network.contains(address)),
        _ => true,
    };
    within && !reserved.iter().any(|network| network.contains(address))
}

/// Those who are one caller, as far as an address says: an IPv4 address, an IPv6 /64.
pub fn caller_address(ip: IpAddr) -> IpAddr {
    network_of(ip, 32, 64)
}

/// The network of so many leading bits that an address is in, as its first address.
pub fn network_of(ip: IpAddr, v4: u32, v6: u32) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4((u32::from(ip) & u32::MAX.checked_shl(32 - v4).unwrap_or(0)).into()),
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) & u128::MAX.checked_shl(128 - v6).unwrap_or(0)).into()),
    }
}

fn number(address: IpAddr) -> u128 {
    u128::from(match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    })
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
    fn only_public_addresses_are_public() {
        let check = |address: &str, expected: bool| {
            assert_eq!(public(address.parse().expect("an address")), expected, "{address}");
        };
        for everybodys in ["8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "2606:4700::1111", "192.0.1.1", "172.32.0.1"] {
            check(everybodys, true);
        }
        for own in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "3fff::1",
            "4000::1",
        ] {
            check(own, false);
        }
    }
}
