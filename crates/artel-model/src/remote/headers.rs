//! The headers of a call, including the key.

use artel_types::model::{ModelFault, ModelFaultKind};
use artel_wire::ApiKeyHeader;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::ModelAddress;

impl ModelAddress {
    /// Returns the headers of every call. A configured header replaces the usual one, so that
    /// none is sent twice.
    pub(super) fn call_headers(
        &self,
        more: &[(&'static str, String)],
    ) -> Result<HeaderMap, ModelFault> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.key {
            let ApiKeyHeader { name, before } = self.wire.key_header();
            let value = hidden(&format!("{before}{}", key.expose())).ok_or_else(|| {
                ModelFault::new(
                    ModelFaultKind::Key,
                    "it has a line break or another character that no header can hold",
                )
            })?;
            headers.insert(name, value);
        }
        for (name, value) in self.wire.fixed_headers() {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        let more = more.iter().map(|(name, value)| (*name, value.as_str()));
        let configured = self.headers.iter();
        let configured = configured.map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in more.chain(configured) {
            let (name, value) = HeaderName::try_from(name)
                .ok()
                .zip(hidden(value))
                .ok_or_else(|| {
                    let why = format!("the header `{name}` cannot be sent");
                    ModelFault::new(ModelFaultKind::BadRequest, why)
                })?;
            headers.insert(name, value);
        }
        Ok(headers)
    }
}

/// Makes a header that is never printed, because any header may hold a secret.
fn hidden(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl std::fmt::Debug for ModelAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.headers.iter().map(|(name, _)| name.as_str());
        f.debug_struct("Address")
            .field("wire", &self.wire)
            .field("base_url", &self.base_url)
            .field("headers", &names.collect::<Vec<_>>())
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
