//! Keeps one gateway per process and journal, so that all runs of a process share one
//! queue per provider. A provider's slots belong to the process, and the most urgent call
//! of all runs goes next.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use artel_model::{Gateway, WeakGateway};
use artel_types::{ConfiguredSpendLimits, Failure, Secret};

static OPEN: OpenGateways = OpenGateways(Mutex::new(Vec::new()));

/// The settings that a gateway was opened with. Different settings open another gateway,
/// and the previous one finishes the calls it has begun.
#[derive(PartialEq, Eq)]
pub(crate) struct GatewayTerms {
    pub(crate) limits: ConfiguredSpendLimits,
    pub(crate) slots: usize,
    pub(crate) max_wait: Duration,
    pub(crate) secrets: Vec<Secret>,
}

struct OpenGateways(Mutex<Vec<OpenGateway>>);

struct OpenGateway {
    /// The folder of the journal.
    journal: PathBuf,
    terms: GatewayTerms,
    gateway: WeakGateway,
}

/// Returns the open gateway on a journal with these settings, or opens one.
pub(crate) fn shared_gateway(
    journal: &Path,
    terms: GatewayTerms,
    open: impl FnOnce() -> Result<Gateway, Failure>,
) -> Result<Gateway, Failure> {
    OPEN.find_or_open(journal, terms, open)
}

impl OpenGateways {
    fn find_or_open(
        &self,
        journal: &Path,
        terms: GatewayTerms,
        open: impl FnOnce() -> Result<Gateway, Failure>,
    ) -> Result<Gateway, Failure> {
        // The lock is held during opening, so that two simultaneous callers share one gateway.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.gateway.upgrade().is_some());
        let known = all
            .iter()
            .find(|known| known.journal == journal && known.terms == terms);
        if let Some(gateway) = known.and_then(|known| known.gateway.upgrade()) {
            return Ok(gateway);
        }
        let gateway = open()?;
        all.push(OpenGateway {
            journal: journal.to_owned(),
            terms,
            gateway: gateway.downgrade(),
        });
        Ok(gateway)
    }
}
