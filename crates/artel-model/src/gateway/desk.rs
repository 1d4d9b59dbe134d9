//! The ledger that all calls share: decided one at a time, agreed on with other processes.

use artel_rules::budget::{self, Granted, Ledger, OverBudget, Settlement};
use artel_types::{Amount, Draft, Event, Failure, Level, Limits, Stream, Timestamp};
use tokio::sync::{Mutex, MutexGuard};

use super::Gateway;
use crate::book::{Account, Book, BookError, Entries, Standing, provider_of};

/// Guards the account. Whoever decides about money waits for their turn.
pub(crate) struct Desk(Mutex<State>);

struct State {
    account: Account,
    seq: u64,
}

/// The account as it is now; nobody else in this process decides while it is held.
pub(super) struct Turn<'a> {
    state: MutexGuard<'a, State>,
    gateway: &'a Gateway,
}

impl Desk {
    pub(super) fn open(book: &dyn Book) -> Result<Self, Failure> {
        let (account, seq) = book.open()?;
        Ok(Self(Mutex::new(State { account, seq })))
    }

    /// Takes the turn and reads what any process has recorded since the last one.
    pub(super) async fn turn<'a>(&'a self, gateway: &'a Gateway) -> Result<Turn<'a>, Failure> {
        let state = self.0.lock().await;
        let mut turn = Turn { state, gateway };
        turn.catch_up()?;
        Ok(turn)
    }
}

impl Turn<'_> {
    /// Reads on; called again after somebody else wrote first. What other processes learnt about
    /// a provider is handed on at once: it is read only this time.
    pub(super) fn catch_up(&mut self) -> Result<(), Failure> {
        let State { account, seq } = &mut *self.state;
        let gateway = self.gateway;
        let book = &gateway.setup().book;
        // Where reading stopped is noted event by event: what was folded must not be folded again.
        let last = book.read_on(*seq, &mut |event: &Event| {
            *seq = event.seq;
            account.fold(event);
            if provider_of(&event.fact).is_some() && event.actor.id != gateway.name() {
                gateway.learn(event);
            }
        })?;
        *seq = last;
        Ok(())
    }

    /// Decides whether a call fits all budgets.
    pub(super) fn reserve(
        &self,
        limits: &Limits,
        key: &str,
        levels: &[Level],
        amount: Amount,
        now: Timestamp,
    ) -> Result<Granted, OverBudget> {
        budget::reserve(&self.state.account.ledger, limits, key, levels, amount, now)
    }

    /// Returns what was spent and set aside so far.
    pub(super) fn ledger(&self) -> &Ledger {
        &self.state.account.ledger
    }

    /// Tells whether a limit in money holds on one of these levels.
    pub(super) fn limits_money(&self, limits: &Limits, levels: &[Level]) -> bool {
        budget::limits_money(&self.state.account.ledger, limits, levels)
    }

    /// Tells whether any limit holds on one of these levels.
    pub(super) fn limits_anything(&self, limits: &Limits, levels: &[Level]) -> bool {
        budget::limits_anything(&self.state.account.ledger, limits, levels)
    }

    /// Returns what was recorded last about a provider.
    pub(super) fn standing(&self, provider: &str) -> Standing {
        let standings = &self.state.account.standings;
        standings.get(provider).cloned().unwrap_or_default()
    }

    /// Records a decision about money, unless another process decided since.
    pub(super) async fn record(&self, drafts: Vec<Draft>) -> Result<(), BookError> {
        let position = self.state.account.budget_position;
        let expecting = Some((Stream::budget(), position));
        self.gateway
            .setup()
            .book
            .append(Entries { drafts, expecting })
            .await
    }

    /// Records that this process is the one that tries a provider, unless another one does.
    pub(super) async fn record_on(
        &self,
        stream: Stream,
        provider: &str,
        draft: Draft,
    ) -> Result<(), BookError> {
        let position = self.state.account.position_of(provider);
        let (drafts, expecting) = (vec![draft], Some((stream, position)));
        self.gateway
            .setup()
            .book
            .append(Entries { drafts, expecting })
            .await
    }

    /// Returns the fact that pays for a call, with the warnings that are due then.
    pub(super) fn settle(
        &self,
        limits: &Limits,
        key: &str,
        amount: Amount,
        now: Timestamp,
    ) -> Option<Settlement> {
        budget::settle(&self.state.account.ledger, limits, key, amount, now)
    }
}
