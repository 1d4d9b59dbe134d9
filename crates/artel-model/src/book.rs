//! The journal as the gateway sees it: the money spent and the health of providers, on
//! which all processes of a workshop agree.

use std::collections::BTreeMap;

use artel_rules::budget::BudgetLedger;
use artel_types::{
    Event, EventDraft, Fact, Failure, FailureCode, RecordedText, StreamName, Timestamp,
};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// The place where the gateway records what it is about to do, and the results.
///
/// An implementer keeps three promises. Events that [`GatewayStore::append`] has acknowledged are
/// durable. Events of one batch are recorded together or not at all, and only if the stream
/// they name still ends where they expect it. And [`GatewayStore::read_on`] shows the events that
/// any process recorded, in order.
pub trait GatewayStore: Send + Sync {
    /// Returns the gateway state folded from all events so far, with the number of the last
    /// one.
    fn open(&self) -> Result<(GatewayState, u64), Failure>;

    /// Passes the events after `after` that [concern](GatewayState::concerns) the gateway state to
    /// `visit`. Returns the number of the last event, whether it concerns the state or not.
    fn read_on(&self, after: u64, visit: &mut dyn FnMut(&Event)) -> Result<u64, Failure>;

    /// Records events. The future resolves when they are on disk.
    fn append(
        &self,
        entries: GatewayEventBatch,
    ) -> BoxFuture<'static, Result<(), GatewayStoreError>>;

    /// Stores a text, large or small, so that an event can refer to it.
    fn keep(&self, text: String) -> BoxFuture<'static, Result<RecordedText, Failure>>;
}

/// Events that are recorded together or not at all.
#[derive(Debug, Clone, Default)]
pub struct GatewayEventBatch {
    /// The events, in order.
    pub drafts: Vec<EventDraft>,
    /// Stream and position. The events are recorded only if the stream still ends there.
    pub expecting: Option<(StreamName, u64)>,
}

/// The reason that events were not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayStoreError {
    /// Another process wrote first: read the new events and decide again.
    Moved,
    /// The events cannot be recorded.
    Failed(Failure),
}

impl GatewayStoreError {
    /// Returns the failure. Only events with an expected position can be refused with
    /// [`GatewayStoreError::Moved`].
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::Moved => {
                let what = "an event that expected no place was refused for its place";
                Failure::new(FailureCode::X001, what)
            }
        }
    }
}

impl From<Vec<EventDraft>> for GatewayEventBatch {
    fn from(drafts: Vec<EventDraft>) -> Self {
        Self {
            drafts,
            expecting: None,
        }
    }
}

/// The gateway's state: a pure fold of its events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GatewayState {
    /// Amounts spent and set aside.
    pub ledger: BudgetLedger,
    /// Recorded health of the providers, by name.
    pub standings: BTreeMap<String, RecordedProviderHealth>,
    /// Last position in the budget's stream.
    pub budget_position: u64,
}

/// The last recorded health of one provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedProviderHealth {
    /// When the provider asked for a pause, and until when.
    pub paused: Option<(Timestamp, Timestamp)>,
    /// Number of pauses in a row.
    pub attempt: u32,
    /// The provider failed too often, and gets no calls until then.
    pub open_until: Option<Timestamp>,
    /// Until then, one process probes whether the provider is back.
    pub probed_until: Option<Timestamp>,
    /// Number of successful probes in a row.
    pub successes: u32,
    /// Last reason that was recorded.
    pub why: String,
    /// Last position in the provider's stream.
    pub position: u64,
}

impl GatewayState {
    /// Returns whether events of a kind may change this state. Most of a journal does not, and
    /// need not be decoded.
    pub fn concerns(kind: &str) -> bool {
        let area = kind.split('.').next();
        matches!(area, Some("budget" | "provider" | "breaker"))
            || matches!(kind, "run.finished" | "session.ended")
    }

    /// Adds one event. An event that does not concern this state is skipped.
    pub fn fold(&mut self, event: &Event) {
        self.ledger.fold(event);
        if event.stream == StreamName::budget() {
            self.budget_position = event.stream_seq;
        }
        let Some(name) = provider_of(&event.fact) else {
            return;
        };
        let standing = self.standings.entry(name.to_owned()).or_default();
        standing.position = event.stream_seq;
        standing.fold(event);
    }

    /// Returns the last position in a provider's stream.
    pub fn position_of(&self, provider: &str) -> u64 {
        self.standings
            .get(provider)
            .map_or(0, |standing| standing.position)
    }
}

impl RecordedProviderHealth {
    fn fold(&mut self, event: &Event) {
        match &event.fact {
            Fact::ProviderPaused(paused) => {
                self.paused = Some((event.at, paused.until));
                self.attempt = paused.attempt;
                self.why.clone_from(&paused.why);
            }
            Fact::ProviderResumed(_) => {
                self.paused = None;
                self.attempt = 0;
            }
            Fact::BreakerOpened(opened) => {
                self.open_until = Some(opened.until);
                self.probed_until = None;
                self.successes = 0;
                self.why.clone_from(&opened.why);
            }
            Fact::BreakerProbed(probed) => {
                self.probed_until = Some(probed.until);
                self.successes = probed.successes;
            }
            Fact::BreakerClosed(_) => {
                self.open_until = None;
                self.probed_until = None;
            }
            _ => {}
        }
    }
}

/// Returns the provider whose health a fact is about.
pub(crate) fn provider_of(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::ProviderPaused(fact) => Some(&fact.provider),
        Fact::ProviderResumed(fact) => Some(&fact.provider),
        Fact::BreakerOpened(fact) => Some(&fact.provider),
        Fact::BreakerProbed(fact) => Some(&fact.provider),
        Fact::BreakerClosed(fact) => Some(&fact.provider),
        _ => None,
    }
}
