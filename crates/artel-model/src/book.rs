//! The journal as the gateway sees it: what was spent and which provider is well, on which all
//! processes of a workshop agree.

use std::collections::BTreeMap;

use artel_rules::budget::Ledger;
use artel_types::{Code, Draft, Event, Fact, Failure, Stream, Text, Timestamp};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// Where the gateway writes down what it is about to do and what came of it.
///
/// An implementer keeps three promises: what [`Book::append`] acknowledged is durable; entries are
/// recorded together or not at all, and only if the stream they name still ends where they expect
/// it; and [`Book::read_on`] shows what any process recorded, in order.
pub trait Book: Send + Sync {
    /// Returns what all events so far amount to, with the number of the last one.
    fn open(&self) -> Result<(Account, u64), Failure>;

    /// Hands over the events after `seq` that [concern](Account::concerns) the account, and returns
    /// the number of the last one, whether it does or not.
    fn read_on(&self, after: u64, visit: &mut dyn FnMut(&Event)) -> Result<u64, Failure>;

    /// Records events. The answer comes when they are on disk.
    fn append(&self, entries: Entries) -> BoxFuture<'static, Result<(), BookError>>;

    /// Puts a text, large or small, where an event can name it.
    fn keep(&self, text: String) -> BoxFuture<'static, Result<Text, Failure>>;
}

/// Events that are recorded together or not at all.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    /// The events, in order.
    pub drafts: Vec<Draft>,
    /// They are recorded only if this stream still ends at this position.
    pub expecting: Option<(Stream, u64)>,
}

/// Why entries were not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookError {
    /// Somebody else wrote first: look again and decide anew.
    Moved,
    /// They cannot be recorded.
    Failed(Failure),
}

impl BookError {
    /// Returns the failure; entries that expected no place cannot have missed it.
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::Moved => {
                let what = "an event that expected no place was refused for its place";
                Failure::new(Code::X001, what)
            }
        }
    }
}

impl From<Vec<Draft>> for Entries {
    fn from(drafts: Vec<Draft>) -> Self {
        Self {
            drafts,
            expecting: None,
        }
    }
}

/// What the events amount to for the gateway: a fold, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// What was spent and set aside.
    pub ledger: Ledger,
    /// How the providers are, by their names.
    pub standings: BTreeMap<String, Standing>,
    /// Where the budget's stream ends.
    pub budget_position: u64,
}

/// What was recorded last about one provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// When it asked for a pause, and until when.
    pub paused: Option<(Timestamp, Timestamp)>,
    /// How many times in a row.
    pub attempt: u32,
    /// It failed too often and is left alone until then.
    pub open_until: Option<Timestamp>,
    /// Somebody tries until then whether it is back.
    pub probed_until: Option<Timestamp>,
    /// How many of these tries went well, one after the other.
    pub successes: u32,
    /// What was said about it last.
    pub why: String,
    /// Where its stream ends.
    pub position: u64,
}

impl Account {
    /// Tells whether events of a kind may change anything here: most of a journal does not, and
    /// need not be decoded.
    pub fn concerns(kind: &str) -> bool {
        let area = kind.split('.').next();
        matches!(area, Some("budget" | "provider" | "breaker"))
            || matches!(kind, "run.finished" | "session.ended")
    }

    /// Adds one event. What it does not concern is passed over.
    pub fn fold(&mut self, event: &Event) {
        self.ledger.fold(event);
        if event.stream == Stream::budget() {
            self.budget_position = event.stream_seq;
        }
        let Some(name) = provider_of(&event.fact) else {
            return;
        };
        let standing = self.standings.entry(name.to_owned()).or_default();
        standing.position = event.stream_seq;
        standing.fold(event);
    }

    /// Returns the position of a provider's stream.
    pub fn position_of(&self, provider: &str) -> u64 {
        self.standings
            .get(provider)
            .map_or(0, |standing| standing.position)
    }
}

impl Standing {
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

/// Returns the provider whose health a fact speaks of.
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
