//! Decisions about single steps.

use std::sync::Arc;

use artel_workshop::{CommandContext, OutcomeWithNotes, SteeringCommand, Work, WorkshopFailures};
use serde_json::json;

use super::PlanRunArgs;
use super::decide::go;
use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::runtime;
use crate::screen::CliOutput;

pub(super) fn retry(
    id: &str,
    step: Option<&str>,
    how: &PlanRunArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = Arc::new(caller.workshop()?);
    let work = workshop.work_named(id)?;
    let model = how.model.as_deref();
    runtime::block_on(workshop.ensure_model(model))??;
    let again = workshop.retry_plan(&work, step, model)?;
    if !screen.json {
        for title in &again.steps {
            screen.say(format!("again: {}", harmless(title)));
        }
    }
    let work = workshop.work(work.trace)?;
    go(&workshop, &work, again.run, how, caller, screen)
}

pub(super) fn skip(
    id: &str,
    step: &str,
    reason: Option<&str>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let work = workshop.work_named(id)?;
    let title = workshop.skip_step(&work, step, reason)?;
    told(&work, "skipped", &title, screen)
}

pub(super) fn waive(
    id: &str,
    (step, what, reason): (&str, &str, &str),
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let work = workshop.work_named(id)?;
    let title = workshop.waive_step(&work, step, what, reason)?;
    told(&work, &format!("waived {what} of"), &title, screen)
}

/// Pauses one step, resumes it, or ends it.
pub(super) fn steer(
    (id, step): (&str, &str),
    steer: &SteeringCommand,
    reason: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let work = workshop.work_named(id)?;
    let steering = workshop.steer_step(&work, step, steer, Some(reason));
    let OutcomeWithNotes { done, notes } = runtime::block_on(steering)??;
    screen.notes(&notes);
    let text = steer.told_of_step(work.trace, &done);
    if screen.json {
        screen.value(&json!({
            "trace_id": work.trace.to_string(),
            "step": done.title,
            "driver": done.arrived.into_driver(),
            "text": text,
        }))?;
    } else {
        screen.line(harmless(&text))?;
    }
    Ok(CliCommandOutcome::Done)
}

fn told(
    work: &Work,
    word: &str,
    title: &str,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&json!({ "trace_id": work.trace.to_string(), "did": word, "step": title }))?;
    } else {
        screen.line(format!("{} {}", harmless(word), harmless(title)))?;
    }
    Ok(CliCommandOutcome::Done)
}
