//! The name of a model as it arrives over HTTP.

use artel_types::Failure;
use artel_workshop::refuse_rehearsal_over_http;
use serde::Deserialize;
use utoipa::ToSchema;

/// A model that somebody names: an alias, or provider:model. A rehearsal is named by an alias of
/// the settings only.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(transparent)]
pub(crate) struct ModelName(String);

impl ModelName {
    /// Returns the name, unless it is that of a rehearsal.
    pub(crate) fn admitted(self) -> Result<String, Failure> {
        refuse_rehearsal_over_http(&self.0)?;
        Ok(self.0)
    }

    /// Does the same where a model may be named.
    pub(crate) fn admit(named: Option<Self>) -> Result<Option<String>, Failure> {
        named.map(Self::admitted).transpose()
    }
}
