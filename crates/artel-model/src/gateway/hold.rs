//! Sets aside the expected cost of a plan's step, for all calls made for it.

use artel_rules::budget::{hold, let_go};
use artel_types::{EventDraft, EventVisibility, Fact, Failure, SpendAmount, StreamName};

use super::{Gateway, ModelCallContext};
use crate::book::GatewayStoreError;

impl Gateway {
    /// Sets aside the expected cost of a step, or as much of it as is left. Repeating it
    /// changes nothing; neither does it change anything if no limit applies.
    pub async fn hold(
        &self,
        step: &str,
        amount: SpendAmount,
        by: &ModelCallContext,
    ) -> Result<(), Failure> {
        let setup = self.setup();
        let mut turn = self.desk().turn(self).await?;
        loop {
            let (ledger, now) = (turn.ledger(), setup.clock.now());
            let Some(fact) = hold(ledger, &setup.limits, step, amount, now) else {
                return Ok(());
            };
            match turn.record(vec![draft(by, fact)]).await {
                Ok(()) => return Ok(()),
                Err(GatewayStoreError::Moved) => turn.catch_up()?,
                Err(GatewayStoreError::Failed(failure)) => return Err(failure),
            }
        }
    }

    /// Releases the rest of what was set aside for a step, if anything.
    pub async fn let_go(&self, step: &str, by: &ModelCallContext) -> Result<(), Failure> {
        let turn = self.desk().turn(self).await?;
        let Some(fact) = let_go(turn.ledger(), step) else {
            return Ok(());
        };
        let recorded = self.setup().book.append(vec![draft(by, fact)].into()).await;
        recorded.map_err(GatewayStoreError::into_failure)
    }
}

fn draft(by: &ModelCallContext, fact: impl Into<Fact>) -> EventDraft {
    let mut draft = EventDraft::new(StreamName::budget(), by.trace, by.actor.clone(), fact);
    draft.session = by.session;
    draft.run = by.run;
    draft.shown(EventVisibility::Full)
}
