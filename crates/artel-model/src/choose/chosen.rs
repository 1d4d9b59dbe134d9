//! The place of a chosen model: on this machine or elsewhere, and the name under which its
//! health is kept.

use std::net::IpAddr;

use artel_types::model::{ModelAliasSettings, Provider};
use reqwest::Url;

use super::ChosenModel;

/// Longest host in a name. A stream's name has at most 200 characters; a host may have
/// more.
const LONGEST_NAME: usize = 120;

impl ChosenModel {
    /// Returns whether nothing leaves this machine: a rehearsal, or a server that listens here
    /// and is not reached through a proxy elsewhere.
    ///
    /// Ollama passes requests for its cloud models on, and their tags say so. Any other server
    /// that listens here and forwards its requests cannot be told from one that answers itself.
    pub fn is_local(&self) -> bool {
        let ModelAliasSettings {
            provider, model, ..
        } = &self.entry;
        match provider {
            Provider::Rehearsal => return true,
            Provider::Ollama if is_in_cloud(model) => return false,
            _ => {}
        }
        let is_direct = match self.entry.proxy.as_deref() {
            None | Some("none") => true,
            Some(proxy) => is_here(proxy),
        };
        is_direct && is_here(&self.base_url())
    }

    /// Returns the part of the URL before the provider's own path. It is empty for a rehearsal.
    pub fn base_url(&self) -> String {
        base_url(&self.entry).to_owned()
    }

    /// Returns the name under which the server's health is kept: `anthropic`, or with the place
    /// if that is not the usual one, as in `openai-chat:127.0.0.1:8080`. It can name a stream
    /// of the journal.
    pub fn health_name(&self) -> String {
        name_of_place(&self.entry)
    }
}

/// Returns whether a provider is at its usual URL.
pub(super) fn is_at_usual_place(entry: &ModelAliasSettings) -> bool {
    entry.provider.usual_url().unwrap_or_default() == base_url(entry)
}

/// Returns the provider's word, with host and port if they are not the usual ones.
pub(super) fn name_of_place(entry: &ModelAliasSettings) -> String {
    let provider = entry.provider.as_str();
    if is_at_usual_place(entry) {
        return provider.to_owned();
    }
    let place = match Url::parse(base_url(entry)) {
        Ok(url) => {
            let port = url.port().map(|port| format!(":{port}"));
            let host = url.host_str().unwrap_or_default().to_owned();
            host + &port.unwrap_or_default()
        }
        Err(_) => base_url(entry).to_owned(),
    };
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.:/".contains(*letter);
    let name: String = place.chars().filter(is_plain).collect();
    if name.len() <= LONGEST_NAME && name == place.replace(['[', ']'], "") {
        return format!("{provider}:{name}");
    }
    // The hash keeps two places apart that differ only in what was left out.
    let hash = blake3::hash(place.as_bytes()).to_hex();
    let name: String = name.chars().take(LONGEST_NAME).collect();
    format!("{provider}:{name}-{}", &hash[..8])
}

fn base_url(entry: &ModelAliasSettings) -> &str {
    let own = entry.base_url.as_deref();
    let url = own.or(entry.provider.usual_url()).unwrap_or_default();
    url.trim_end_matches('/')
}

/// Returns whether an Ollama model runs elsewhere, by its tag: `qwen3-coder:cloud` and
/// `gpt-oss:120b-cloud` do.
fn is_in_cloud(model: &str) -> bool {
    let tag = model.rsplit_once(':').map_or("", |(_, tag)| tag);
    let tag = tag.trim_end().to_ascii_lowercase();
    tag == "cloud" || tag.ends_with("-cloud")
}

/// Returns whether a URL leads to this machine. It is parsed as the client parses it, so
/// that no spelling is understood differently.
fn is_here(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
