//! One spelling for every host.
//!
//! Every host, in a grant or a request, is parsed here and nowhere else, so that what was
//! checked and what is looked up and dialled are the same value. A spelling that another
//! program could read differently (an octal or shortened address, a NUL, a user before an
//! `@`) is refused instead of guessed at.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::job::GrantedHost;

/// A text that does not name a host that could be granted or reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a host: {fault}")]
pub struct HostParseError {
    /// The text, escaped and shortened so that it can be shown.
    pub text: String,
    /// The fault in the text.
    pub fault: HostFault,
}

/// The fault in the spelling of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    /// The text is empty.
    #[error("it is empty; write `HOST` or `HOST:PORT`")]
    Empty,
    /// The text is longer than any name.
    #[error("a name has at most 253 characters and 63 between two dots")]
    TooLong,
    /// A character outside ASCII, which would have more than one spelling.
    #[error("it is not plain ASCII; write the `xn--` form of the name")]
    NotAscii,
    /// A control character, a space or another character that no name contains.
    #[error("a name has letters, digits, `-` and dots only")]
    Character,
    /// A URL, with its scheme or path.
    #[error("it is an address of a page; write the host only, as in `example.com:443`")]
    Page,
    /// A user before an `@`.
    #[error("there is a user in it; write what follows the `@`, if that is the host you mean")]
    User,
    /// A wildcard.
    #[error("a star would grant hosts nobody has seen; name each host")]
    Wildcard,
    /// A label that is empty, or begins or ends with a dash.
    #[error("a part between two dots is empty, or begins or ends with `-`")]
    Label,
    /// An IPv4 address in a spelling that programs disagree about.
    #[error("write an IPv4 address as four plain decimal numbers, as in `192.0.2.1`")]
    Number,
    /// An IPv6 address without brackets, or brackets around something else.
    #[error("write an IPv6 address in brackets, as in `[2001:db8::1]:443`, without a zone")]
    Brackets,
    /// A port that is not valid.
    #[error("a port is a plain number from 1 to 65535")]
    Port,
    /// A name of this machine.
    #[error("names of this machine are never granted; write `127.0.0.1:PORT` or `[::1]:PORT`")]
    ThisMachine,
    /// An address that stands for none or for many.
    #[error("nothing can be reached at exactly that address; write the one you mean")]
    Nowhere,
}

impl GrantedHost {
    /// Parses `HOST`, `HOST:PORT` or `[IPV6]:PORT` into the canonical spelling: names in lower
    /// case without a final dot, addresses in their standard form, and an IPv4 address inside
    /// an IPv6 one as plain IPv4.
    pub fn parse(text: &str) -> Result<Self, HostParseError> {
        let (name, port) =
            split(text).map_err(|fault| HostParseError::new(text.as_bytes(), fault))?;
        Ok(Self {
            name: name.to_string(),
            port,
        })
    }
}

impl fmt::Display for GrantedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]", self.name)?;
        } else {
            f.write_str(&self.name)?;
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl FromStr for GrantedHost {
    type Err = HostParseError;

    fn from_str(text: &str) -> Result<Self, HostParseError> {
        Self::parse(text)
    }
}

impl HostParseError {
    pub(crate) fn new(text: &[u8], fault: HostFault) -> Self {
        Self {
            text: shown(text),
            fault,
        }
    }
}

/// Longest domain name, without its final dot.
const LONGEST_NAME: usize = 253;

/// Longest label between two dots.
const LONGEST_LABEL: usize = 63;

/// A domain or an address. Only the parsers in this file create one, so it has one
/// spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProxyTargetHost {
    Domain(String),
    Address(IpAddr),
}

impl ProxyTargetHost {
    /// Parses a name or an IPv4 address without a port.
    pub(crate) fn parse(text: &str) -> Result<Self, HostFault> {
        if text.len() > LONGEST_NAME + 1 {
            return Err(HostFault::TooLong);
        }
        check_characters(text)?;
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.is_empty() {
            return Err(HostFault::Empty);
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            let address: Ipv4Addr = name.parse().map_err(|_| HostFault::Number)?;
            return Self::address(address.into());
        }
        name.split('.').try_for_each(check_label)?;
        if last.contains('_') {
            return Err(HostFault::Character);
        }
        if last == "localhost" || name == "localhost.localdomain" {
            return Err(HostFault::ThisMachine);
        }
        if name.len() > LONGEST_NAME {
            return Err(HostFault::TooLong);
        }
        Ok(Self::Domain(name))
    }

    /// Takes an address in its canonical form. Addresses that stand for none or for many are
    /// refused: the kernel reads `0.0.0.0` as this machine.
    pub(crate) fn address(address: IpAddr) -> Result<Self, HostFault> {
        let address = address.to_canonical();
        let nowhere = match address {
            IpAddr::V4(four) => four.octets()[0] == 0 || four.octets()[0] >= 224,
            IpAddr::V6(six) => six.is_unspecified() || six.is_multicast(),
        };
        if nowhere {
            return Err(HostFault::Nowhere);
        }
        Ok(Self::Address(address))
    }
}

impl fmt::Display for ProxyTargetHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// One host and port that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProxyTarget {
    pub(crate) name: ProxyTargetHost,
    pub(crate) port: u16,
}

impl ProxyTarget {
    /// Parses `HOST:PORT`, using this port if none is written.
    pub(crate) fn parse(text: &[u8], default: Option<u16>) -> Result<Self, HostParseError> {
        let bad = |fault| HostParseError::new(text, fault);
        let spelled = std::str::from_utf8(text).map_err(|_| bad(HostFault::NotAscii))?;
        let (name, port) = split(spelled).map_err(bad)?;
        let port = port.or(default).ok_or_else(|| bad(HostFault::Port))?;
        Ok(Self { name, port })
    }

    pub(crate) fn host(&self) -> GrantedHost {
        GrantedHost {
            name: self.name.to_string(),
            port: Some(self.port),
        }
    }
}

/// Makes foreign bytes fit to be shown: escaped, on one line, not too long.
fn shown(text: &[u8]) -> String {
    let short = text.get(..80).unwrap_or(text);
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{}{more}", short.escape_ascii())
}

pub(crate) fn split(text: &str) -> Result<(ProxyTargetHost, Option<u16>), HostFault> {
    if let Some(rest) = text.strip_prefix('[') {
        let (inside, after) = rest.split_once(']').ok_or(HostFault::Brackets)?;
        let address: Ipv6Addr = inside.parse().map_err(|_| HostFault::Brackets)?;
        let port = match after {
            "" => None,
            _ => Some(parse_port(
                after.strip_prefix(':').ok_or(HostFault::Brackets)?,
            )?),
        };
        return Ok((ProxyTargetHost::address(address.into())?, port));
    }
    if Ipv6Addr::from_str(text).is_ok() {
        return Err(HostFault::Brackets);
    }
    if text.contains("://") {
        return Err(HostFault::Page);
    }
    // Anything before an `@` is a user, even if it looks like a host and a port.
    if text.contains('@') {
        return Err(HostFault::User);
    }
    match text.split_once(':') {
        None => Ok((ProxyTargetHost::parse(text)?, None)),
        Some((host, port)) => Ok((ProxyTargetHost::parse(host)?, Some(parse_port(port)?))),
    }
}

fn parse_port(text: &str) -> Result<u16, HostFault> {
    // The standard parser accepts a plus sign and leading zeros; others do not.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    match text.parse() {
        Ok(port) if plain => Ok(port),
        _ => Err(HostFault::Port),
    }
}

fn check_characters(text: &str) -> Result<(), HostFault> {
    match text.chars().find(|c| !is_plain(*c)) {
        None => Ok(()),
        Some(c) if !c.is_ascii() => Err(HostFault::NotAscii),
        Some('/') => Err(HostFault::Page),
        Some('@') => Err(HostFault::User),
        Some('*') => Err(HostFault::Wildcard),
        Some('[' | ']') => Err(HostFault::Brackets),
        Some(_) => Err(HostFault::Character),
    }
}

/// Returns whether a character may occur in a name. Underscores are not allowed in host
/// names by the standard, but some real names have them.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn check_label(label: &str) -> Result<(), HostFault> {
    if label.is_empty() || label.starts_with('-') || label.ends_with('-') {
        return Err(HostFault::Label);
    }
    if label.len() > LONGEST_LABEL {
        return Err(HostFault::TooLong);
    }
    Ok(())
}

/// Returns whether a label is a number. No top-level domain is, so a name that ends in one
/// is an address in some spelling: decimal, octal, hexadecimal or shortened.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x");
    match hexadecimal {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}
