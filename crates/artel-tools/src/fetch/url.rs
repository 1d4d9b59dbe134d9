//! A web address that is checked once; the checked value is the one requested.

use artel_sandbox::GrantedHost;
use reqwest::Url;

use crate::{ToolError, ToolErrorKind};

/// A checked web address.
#[derive(Debug, Clone)]
pub(super) struct FetchUrl {
    url: Url,
    host: GrantedHost,
}

impl FetchUrl {
    /// Parses an address. It must use http or https, contain no user, and have a host that can
    /// be granted.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let bad = |why: String| {
            ToolError::new(
                ToolErrorKind::BadInput,
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
        let host = GrantedHost::parse(&format!("{name}:{port}"))
            .map_err(|error| bad(error.to_string()))?;
        url.set_fragment(None);
        Ok(Self { url, host })
    }

    /// Returns the host as policy names it: with its port unless that is the default.
    pub(super) fn grant(&self) -> String {
        let port = self.url.port();
        GrantedHost {
            port,
            ..self.host.clone()
        }
        .to_string()
    }

    /// Returns the one host and port that this request may reach.
    pub(super) fn host(&self) -> GrantedHost {
        self.host.clone()
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the address as text.
    pub(super) fn shown(&self) -> String {
        self.url.to_string()
    }
}
