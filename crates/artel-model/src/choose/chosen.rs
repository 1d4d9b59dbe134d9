//! Where a chosen model is: on this machine or elsewhere, and under which name its health is kept.

use std::net::IpAddr;

use artel_types::model::{ModelEntry, Provider};
use reqwest::Url;

use super::Chosen;

/// A name of a stream has at most 200 characters; a host may have more.
const LONGEST_NAME: usize = 120;

impl Chosen {
    /// Tells whether nothing leaves this machine: a rehearsal, or a server that listens here and is
    /// not reached through a proxy elsewhere.
    ///
    /// Ollama passes questions to its cloud models on, and their tags say so. Any other server that
    /// listens here and forwards what it is asked cannot be told from one that answers itself.
    pub fn is_local(&self) -> bool {
        let ModelEntry {
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

    /// Returns what precedes the provider's own path; empty for a rehearsal.
    pub fn base_url(&self) -> String {
        base_url(&self.entry).to_owned()
    }

    /// Returns the name under which the health of whoever answers is kept: `anthropic`, or with the
    /// place, as `openai-chat:127.0.0.1:8080`, where that is not the usual one. It can name a
    /// stream of the journal.
    pub fn health_name(&self) -> String {
        name_of_place(&self.entry)
    }
}

/// Tells whether a provider is where everybody finds it.
pub(super) fn is_at_usual_place(entry: &ModelEntry) -> bool {
    entry.provider.usual_url().unwrap_or_default() == base_url(entry)
}

/// Returns the provider's word, with host and port if they are not the usual ones.
pub(super) fn name_of_place(entry: &ModelEntry) -> String {
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
    // What was left out must not make two places one.
    let hash = blake3::hash(place.as_bytes()).to_hex();
    let name: String = name.chars().take(LONGEST_NAME).collect();
    format!("{provider}:{name}-{}", &hash[..8])
}

fn base_url(entry: &ModelEntry) -> &str {
    let own = entry.base_url.as_deref();
    let url = own.or(entry.provider.usual_url()).unwrap_or_default();
    url.trim_end_matches('/')
}

/// Reads the tag of an Ollama model: `qwen3-coder:cloud` and `gpt-oss:120b-cloud` run elsewhere.
fn is_in_cloud(model: &str) -> bool {
    let tag = model.rsplit_once(':').map_or("", |(_, tag)| tag);
    let tag = tag.trim_end().to_ascii_lowercase();
    tag == "cloud" || tag.ends_with("-cloud")
}

/// Reads the address as the client does, so that no spelling of it is understood differently.
fn is_here(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
