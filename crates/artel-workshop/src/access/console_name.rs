//! The host name at which browsers reach the console.

use std::fmt;

use artel_types::WorkshopId;

/// The domain whose names every browser resolves to this machine, whatever its name server
/// says.
const BELOW: &str = ".localhost";

/// The host name of a workshop's console, without a port.
///
/// Browsers send a cookie to every port of the host that set it. The console therefore
/// uses a host name that no other local service shares and that nobody can guess.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleHostName(String);

impl ConsoleHostName {
    pub(super) fn new(workshop: &WorkshopId, random: [u8; 16]) -> Self {
        Self(format!(
            "{}-{}{BELOW}",
            workshop.short(),
            super::hex(&random)
        ))
    }

    /// Parses a recorded name, or returns `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let label = text.strip_suffix(BELOW)?;
        let (workshop, random) = label.split_once('-')?;
        let is_hex = |text: &str| {
            text.bytes()
                .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_whole = workshop.len() == 8 && random.len() == 32;
        (is_whole && is_hex(workshop) && is_hex(random)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a `Host` header names this host. The port is ignored, because a
    /// forwarded port differs from the server's own.
    pub fn is_in(&self, host: &str) -> bool {
        let Some((name, rest)) = host.split_at_checked(self.0.len()) else {
            return false;
        };
        let is_port = match rest.strip_prefix(':') {
            Some(port) => port.bytes().all(|it| it.is_ascii_digit()) && port.parse::<u16>().is_ok(),
            None => rest.is_empty(),
        };
        name.eq_ignore_ascii_case(&self.0) && is_port
    }
}

impl fmt::Display for ConsoleHostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ConsoleHostName;

    const NAME: &str = "018f2b3c-0f1e2d3c4b5a69788796a5b4c3d2e1f0.localhost";

    #[test]
    fn only_its_own_name_at_any_port() {
        let name = ConsoleHostName::parse(NAME).unwrap();
        for (host, is_it) in [
            (NAME.to_owned(), true),
            (format!("{NAME}:7717"), true),
            (format!("{NAME}:9000"), true),
            (NAME.to_uppercase(), true),
            (format!("{NAME}.:7717"), false),
            (format!("{NAME}."), false),
            (format!("{NAME}:"), false),
            (format!("{NAME}:+80"), false),
            (format!("{NAME}:65536"), false),
            (format!("{NAME}:80:80"), false),
            (format!("{NAME}:80@attacker.example"), false),
            (format!("x.{NAME}:7717"), false),
            (format!("{NAME}.attacker.example"), false),
            (NAME.replace("localhost", "local"), false),
            (NAME.replace("018f", "118f"), false),
            ("localhost:7717".to_owned(), false),
            ("127.0.0.1:7717".to_owned(), false),
            ("[::1]:7717".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(name.is_in(&host), is_it, "{host}");
        }
    }

    #[test]
    fn what_is_no_such_name_is_none() {
        for text in [
            "",
            "localhost",
            ".localhost",
            "018f2b3c-.localhost",
            "018F2B3C-0f1e2d3c4b5a69788796a5b4c3d2e1f0.localhost",
            "018f2b3c-0f1e2d3c4b5a69788796a5b4c3d2e1f0.localhost:80",
            "018f2b3c-0f1e2d3c4b5a69788796a5b4c3d2e1f0.example",
        ] {
            assert_eq!(ConsoleHostName::parse(text), None, "{text}");
        }
        assert!(ConsoleHostName::parse(NAME).is_some());
    }
}
