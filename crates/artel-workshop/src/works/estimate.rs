//! What a plan is expected to take, before anybody agrees to it.

use artel_model::Chosen;
use artel_types::model::Provider;
use artel_types::plan::{Plan, PlanStep, Verify};
use artel_types::{Failure, Money};
use serde::Serialize;

use crate::workshop::Workshop;

/// What a step is expected to take.
#[derive(Debug, Clone, Serialize)]
pub struct Estimate {
    /// The step.
    pub step: String,
    /// Tokens, read and written.
    pub tokens: u64,
    /// What they cost; nothing where the price is not known.
    pub cost: Option<Money>,
}

/// Of so many tokens one is written, and the others are read.
const READ_AND_WRITTEN: u64 = 10;

impl Workshop {
    /// Says what the steps of a plan are expected to take, with a model.
    pub async fn estimate(
        &self,
        plan: &Plan,
        model: Option<&str>,
    ) -> Result<Vec<Estimate>, Failure> {
        // Without a model there is no price; the plan can be read all the same.
        let models = self.models(model).await?;
        let chosen = models.choose(model).ok();
        let of = |step: &PlanStep| {
            let tokens = tokens_of(step);
            Estimate {
                step: step.id.clone(),
                tokens,
                cost: chosen.as_ref().and_then(|chosen| price(chosen, tokens)),
            }
        };
        Ok(plan.steps.iter().map(of).collect())
    }
}

/// Returns the tokens that a step is expected to take: the architect's guess, or what steps that
/// are verified like it usually take.
pub(crate) fn tokens_of(step: &PlanStep) -> u64 {
    step.tokens.unwrap_or(match step.verify {
        Verify::None => 20_000,
        Verify::Evaluator => 40_000,
        Verify::Tdd => 90_000,
    })
}

fn price(chosen: &Chosen, tokens: u64) -> Option<Money> {
    let card = &chosen.card;
    if chosen.entry.provider == Provider::Rehearsal && card.input.is_none() {
        return Some(Money(0));
    }
    let written = tokens / READ_AND_WRITTEN;
    let read = tokens - written;
    let of = |million: Money, count: u64| million.0.saturating_mul(count) / 1_000_000;
    Some(Money(
        of(card.input?, read).saturating_add(of(card.output?, written)),
    ))
}
