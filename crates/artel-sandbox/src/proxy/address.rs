//! Tells addresses of the public network from all others.
//!
//! A name is granted as a public host. If it led to this machine, to its neighbours or to
//! the machine's own metadata, somebody else's name server would be handing out grants.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns what kind of address it is, or `None` if it is public.
///
/// In IPv6 only global unicast is public; anything unknown is not. An IPv4 address
/// embedded in an IPv6 one is judged as that IPv4 address, as far as a translator would
/// send it there.
pub(crate) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address.to_canonical() {
        IpAddr::V4(four) => not_public_v4(four),
        IpAddr::V6(six) => not_public_v6(six),
    }
}

/// First address, prefix length, kind.
const V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "unspecified"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "shared by a provider"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([168, 63, 129, 16], 32, "a metadata service"),
    ([169, 254, 169, 254], 32, "a metadata service"),
    ([169, 254, 0, 0], 16, "link-local"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "reserved"),
    ([192, 0, 2, 0], 24, "for documentation"),
    ([192, 88, 99, 0], 24, "a relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "for benchmarks"),
    ([198, 51, 100, 0], 24, "for documentation"),
    ([203, 0, 113, 0], 24, "for documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([255, 255, 255, 255], 32, "broadcast"),
    ([240, 0, 0, 0], 4, "reserved"),
];

/// The same for IPv6, narrower prefixes first.
const V6: &[([u16; 8], u32, &str)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "unspecified"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, "an IPv4 address in disguise"),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "private"),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "a discard address"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "a tunnel"),
    ([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "for benchmarks"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "reserved"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "for documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "a tunnel"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "for documentation"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "private"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link-local"),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "private"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast"),
];

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    V4.iter()
        .find(|(first, length, _)| {
            let first = Ipv4Addr::from(*first).to_bits();
            (bits ^ first) >> (32 - length) == 0
        })
        .map(|(_, _, what)| *what)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let parts = address.segments();
    if parts[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return not_public_v4(embedded(&parts));
    }
    if is_isatap(&parts)
        && let Some(what) = not_public_v4(embedded(&parts))
    {
        return Some(what);
    }
    let bits = address.to_bits();
    let listed = V6.iter().find(|(first, length, _)| {
        let first = Ipv6Addr::from(*first).to_bits();
        (bits ^ first) >> (128 - length) == 0
    });
    match listed {
        Some((_, _, what)) => Some(what),
        None if parts[0] & 0xe000 == 0x2000 => None,
        None => Some("reserved"),
    }
}

/// Returns whether this is a tunnel inside a site, with its IPv4 end in the lower half.
fn is_isatap(parts: &[u16; 8]) -> bool {
    matches!(parts[4], 0 | 0x200) && parts[5] == 0x5efe
}

fn embedded(parts: &[u16; 8]) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(parts[6]) << 16 | u32::from(parts[7]))
}
