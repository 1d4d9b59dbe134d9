//! The expected usage of a plan, estimated before anybody approves it.

use artel_model::ChosenModel;
use artel_rules::budget::left;
use artel_types::model::Provider;
use artel_types::plan::{Plan, PlanStep, StepVerification};
use artel_types::{BudgetLevel, Failure, Money, SpendAmount};
use serde::Serialize;

use crate::book::ACCOUNT;
use crate::workshop::Workshop;

/// The expected usage of a step.
#[derive(Debug, Clone, Serialize)]
pub struct StepEstimate {
    pub step: String,
    /// Tokens, both input and output.
    pub tokens: u64,
    /// The cost, or `None` if the price is unknown.
    pub cost: Option<Money>,
    /// The model for the step as `provider:model`, or `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// One of this many tokens is output, and the others are input.
const READ_AND_WRITTEN: u64 = 10;

impl Workshop {
    /// Estimates the steps of a plan, with the named model or else with those of the steps'
    /// roles.
    pub async fn estimate(
        &self,
        plan: &Plan,
        model: Option<&str>,
    ) -> Result<Vec<StepEstimate>, Failure> {
        // Without a model the price is unknown, but the plan can still be read.
        let models = self.models(model).await?;
        let of = |step: &PlanStep| {
            let tokens = tokens_of(step);
            let by_role = self.caller.role(&step.role).ok().and_then(|it| it.model);
            let chosen = models.choose(model.or(by_role.as_deref())).ok();
            StepEstimate {
                step: step.id.clone(),
                tokens,
                cost: chosen.as_ref().and_then(|chosen| price(chosen, tokens)),
                model: chosen
                    .as_ref()
                    .map(|it| format!("{}:{}", it.entry.provider, it.entry.model)),
            }
        };
        Ok(plan.steps.iter().map(of).collect())
    }
}

impl Workshop {
    /// Returns a sentence for each budget of the workshop that the expected usage of a plan
    /// exceeds.
    pub fn shortages(&self, tokens: u64, cost: Option<Money>) -> Result<Vec<String>, Failure> {
        let (account, _) = ACCOUNT.state(&*self.reader()?)?;
        let now = self.caller.clock.now();
        let all = left(&account.ledger, &self.settings.budget, now);
        let mut short = Vec::new();
        for one in all.iter().filter(|one| one.level == BudgetLevel::Global) {
            let span = one.period.map_or(String::new(), |it| format!(" a {it}"));
            let said = |wanted: String, left: String| {
                format!(
                    "it is expected to take {wanted}, and {left} are left of the budget{span}: it \
                     may stop on the way"
                )
            };
            if let Some(left) = one.tokens_left().filter(|left| *left < tokens) {
                short.push(said(format!("{tokens} tokens"), left.to_string()));
            }
            if let (Some(left), Some(cost)) = (one.money_left(), cost)
                && left < cost.0
            {
                short.push(said(cost.to_string(), Money(left).to_string()));
            }
        }
        Ok(short)
    }
}

/// Returns the expected tokens of a step: the architect's estimate, or the usual number
/// for its kind of verification.
pub(crate) fn tokens_of(step: &PlanStep) -> u64 {
    step.tokens.unwrap_or(match step.verify {
        StepVerification::None => 20_000,
        StepVerification::Evaluator => 40_000,
        StepVerification::Tdd => 90_000,
    })
}

/// Returns the expected usage of a step with a model. The money is zero if the price is
/// unknown.
pub(crate) fn amount_of(step: &PlanStep, chosen: Option<&ChosenModel>) -> SpendAmount {
    let tokens = tokens_of(step);
    let cost = chosen.and_then(|chosen| price(chosen, tokens));
    SpendAmount::new(tokens, cost.map_or(0, |cost| cost.0))
}

fn price(chosen: &ChosenModel, tokens: u64) -> Option<Money> {
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
