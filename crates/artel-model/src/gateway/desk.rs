//! The ledger that all calls share. Decisions are made one at a time, and agreed on with
//! other processes.

use artel_rules::budget::{
    self, BudgetLedger, BudgetReservationFacts, BudgetSettlementFacts, OverBudget,
};
use artel_types::{
    BudgetLevel, ConfiguredSpendLimits, Event, EventDraft, Failure, SpendAmount, StreamName,
    Timestamp,
};
use tokio::sync::{Mutex, MutexGuard};

use super::Gateway;
use crate::book::{
    GatewayEventBatch, GatewayState, GatewayStore, GatewayStoreError, RecordedProviderHealth,
    provider_of,
};

/// Guards the gateway state. A call that has to decide about money waits for its turn.
pub(crate) struct SharedLedger(Mutex<SharedLedgerState>);

struct SharedLedgerState {
    account: GatewayState,
    seq: u64,
}

/// Exclusive access to the current gateway state. While it is held, nothing else in this
/// process decides.
pub(super) struct SharedLedgerGuard<'a> {
    state: MutexGuard<'a, SharedLedgerState>,
    gateway: &'a Gateway,
}

impl SharedLedger {
    pub(super) fn open(book: &dyn GatewayStore) -> Result<Self, Failure> {
        let (account, seq) = book.open()?;
        Ok(Self(Mutex::new(SharedLedgerState { account, seq })))
    }

    /// Waits for exclusive access, and reads the events that any process has recorded since the
    /// last time.
    pub(super) async fn turn<'a>(
        &'a self,
        gateway: &'a Gateway,
    ) -> Result<SharedLedgerGuard<'a>, Failure> {
        let state = self.0.lock().await;
        let mut turn = SharedLedgerGuard { state, gateway };
        turn.catch_up()?;
        Ok(turn)
    }
}

impl SharedLedgerGuard<'_> {
    /// Reads new events. It is called again if another process wrote first. Events about a
    /// provider from other processes are passed on at once, because they are read only this
    /// time.
    pub(super) fn catch_up(&mut self) -> Result<(), Failure> {
        let SharedLedgerState { account, seq } = &mut *self.state;
        let gateway = self.gateway;
        let book = &gateway.setup().book;
        // The position is noted after each event, so that no event is folded twice.
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
        limits: &ConfiguredSpendLimits,
        key: &str,
        levels: &[BudgetLevel],
        amount: SpendAmount,
        now: Timestamp,
    ) -> Result<BudgetReservationFacts, OverBudget> {
        budget::reserve(&self.state.account.ledger, limits, key, levels, amount, now)
    }

    /// Returns the amounts spent and set aside so far.
    pub(super) fn ledger(&self) -> &BudgetLedger {
        &self.state.account.ledger
    }

    /// Returns whether a money limit applies to one of these levels.
    pub(super) fn limits_money(
        &self,
        limits: &ConfiguredSpendLimits,
        levels: &[BudgetLevel],
    ) -> bool {
        budget::limits_money(&self.state.account.ledger, limits, levels)
    }

    /// Returns whether any limit applies to one of these levels.
    pub(super) fn limits_anything(
        &self,
        limits: &ConfiguredSpendLimits,
        levels: &[BudgetLevel],
    ) -> bool {
        budget::limits_anything(&self.state.account.ledger, limits, levels)
    }

    /// Returns the last recorded health of a provider.
    pub(super) fn standing(&self, provider: &str) -> RecordedProviderHealth {
        let standings = &self.state.account.standings;
        standings.get(provider).cloned().unwrap_or_default()
    }

    /// Records a decision about money, unless another process has decided since.
    pub(super) async fn record(&self, drafts: Vec<EventDraft>) -> Result<(), GatewayStoreError> {
        let position = self.state.account.budget_position;
        let expecting = Some((StreamName::budget(), position));
        self.gateway
            .setup()
            .book
            .append(GatewayEventBatch { drafts, expecting })
            .await
    }

    /// Records that this process is the one that probes a provider, unless another one is.
    pub(super) async fn record_on(
        &self,
        stream: StreamName,
        provider: &str,
        draft: EventDraft,
    ) -> Result<(), GatewayStoreError> {
        let position = self.state.account.position_of(provider);
        let (drafts, expecting) = (vec![draft], Some((stream, position)));
        self.gateway
            .setup()
            .book
            .append(GatewayEventBatch { drafts, expecting })
            .await
    }

    /// Returns the fact that settles a call's reservation, with the warnings that are due.
    pub(super) fn settle(
        &self,
        limits: &ConfiguredSpendLimits,
        key: &str,
        amount: SpendAmount,
        now: Timestamp,
    ) -> Option<BudgetSettlementFacts> {
        budget::settle(&self.state.account.ledger, limits, key, amount, now)
    }
}
