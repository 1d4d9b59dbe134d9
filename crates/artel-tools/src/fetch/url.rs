//! An address of a page: checked once, and the checked value is what is asked for.

use artel_sandbox::Host;
use reqwest::Url;

use crate::{Trouble, TroubleKind};

/// A page that can be asked for.
#[derive(Debug, Clone)]
pub(super) struct Page {
    url: Url,
    host: Host,
}

impl Page {
    /// Reads an address. Only the web's own schemes, no user, a host that can be granted.
    pub(super) fn parse(text: &str) -> Result<Self, Trouble> {
        let bad = |why: String| {
            Trouble::new(
                TroubleKind::BadInput,
                format!("this address cannot be fetched: {why}"),
            )
            .hint("write it whole, as in `https://docs.rs/serde`")
        };
        let mut url = Url::parse(text.trim()).map_err(|error| bad(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(format!("`{}` is neither http nor https", url.scheme())));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("there is a user or a password in it".to_owned()));
        }
        let name = url
            .host_str()
            .ok_or_else(|| bad("it names no host".to_owned()))?;
        let port = url
            .port_or_known_default()
            .ok_or_else(|| bad("it has no port".to_owned()))?;
        let host =
            Host::parse(&format!("{name}:{port}")).map_err(|error| bad(error.to_string()))?;
        url.set_fragment(None);
        Ok(Self { url, host })
    }

    /// Returns the host as policy names it: with its port where that is not the usual one.
    pub(super) fn grant(&self) -> String {
        let port = self.url.port();
        Host {
            port,
            ..self.host.clone()
        }
        .to_string()
    }

    /// Returns the one host and port that may be reached for it.
    pub(super) fn host(&self) -> Host {
        self.host.clone()
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Returns it for showing.
    pub(super) fn shown(&self) -> String {
        self.url.to_string()
    }
}
