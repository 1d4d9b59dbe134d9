//! Decisions about plans.

use std::path::Path;
use std::sync::Arc;

use artel_types::{RunId, TraceId};
use artel_workshop::{
    CommandContext, PlanEditOutcome, PlanVersionDetail, Work, Workshop, WorkshopFailures,
};
use serde_json::json;

use super::PlanRunArgs;
use super::expected;
use super::look::tokens;
use crate::CliCommandOutcome;
use crate::commands::planned::PlanSession;
use crate::commands::run::FirstUseAnswerMode;
use crate::render::{harmless, harmless_lines, price};
use crate::runtime;
use crate::screen::CliOutput;
use crate::signals::SignalListener;

pub(super) fn approve(
    id: &str,
    hash: Option<&str>,
    how: &PlanRunArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = Arc::new(caller.workshop()?);
    // The person sees what it takes, and whether the remaining budgets suffice, before
    // agreeing.
    let work = workshop.work_named(id)?;
    workshop.may_approve_plan(&work, hash)?;
    runtime::block_on(workshop.ensure_model(how.model.as_deref()))??;
    let look = workshop.plan_look_with(work, None, how.model.as_deref());
    // Without a model there is no price. If something is wrong with the model, the error
    // appears once the model is needed.
    if let Ok(look) = runtime::block_on(look)? {
        estimated(&look, screen)?;
    }
    let (work, run) = workshop.approve_plan(id, hash, how.model.as_deref())?;
    let version = work.course.approved().map_or(1, |it| it.version.number);
    if !screen.json {
        let short = work.trace.short();
        screen.say(format!(
            "approved {short} version {version}; run {}",
            run.short()
        ));
    }
    go(&workshop, &work, run, how, caller, screen)
}

/// Shows what each step of a plan is expected to take, and which model it uses.
fn estimated(look: &PlanVersionDetail, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    screen.notes(&look.short);
    if screen.json {
        let (tokens, cost) = look.total();
        return screen.value(&json!({ "expected": {
            "version": look.drafted.fact.version,
            "hash": look.drafted.fact.hash,
            "steps": look.estimates,
            "tokens": tokens,
            "cost": cost,
        } }));
    }
    for (number, (step, estimate)) in look.plan.steps.iter().zip(&look.estimates).enumerate() {
        let model = estimate.model.as_deref().unwrap_or("no model is known");
        screen.say(format!(
            "  step {} {}: {} tokens, {} ({})",
            number + 1,
            harmless(&step.title),
            tokens(estimate.tokens),
            price(estimate.cost),
            harmless(model)
        ));
    }
    screen.say(expected(look));
    Ok(())
}

/// Carries out a plan here or in the background. If a daemon is running, hands the plan
/// over and follows it; the daemon continues when this command has ended.
pub(super) fn go(
    workshop: &Arc<Workshop>,
    work: &Work,
    run: RunId,
    how: &PlanRunArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let driver = workshop
        .standing_of(run)
        .ok()
        .and_then(|(_, driver)| driver);
    if let Some(driver) = driver.filter(|_| how.detach) {
        return elsewhere(work.trace, run, &driver, screen);
    }
    if how.is_usual() && workshop.can_hand_over()? {
        runtime::block_on(workshop.hand_over(work, run))??;
    } else if how.detach {
        let words = how.words();
        let driver = workshop.leave_to_background(work.trace, &words)?;
        return elsewhere(work.trace, run, &driver, screen);
    }
    let mut bench = PlanSession::new(Arc::clone(workshop), caller, screen);
    bench.model.clone_from(&how.model);
    bench.answers = if how.yes {
        FirstUseAnswerMode::Yes
    } else {
        FirstUseAnswerMode::Ask
    };
    bench.rules = how.rules();
    let outcome = bench.carry_out(work.trace)?;
    bench.conclude(work.trace, outcome)
}

/// Tells the person that the run continues in another process.
fn elsewhere(
    trace: TraceId,
    run: RunId,
    driver: &str,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let short = trace.short();
    if screen.json {
        screen.value(
            &json!({ "trace_id": trace.to_string(), "run": run.to_string(), "goes_on_in": driver }),
        )?;
    } else {
        screen.line(format!(
            "{short} goes on in {}: `artel plan show {short}`, `artel waiting`",
            harmless(driver)
        ))?;
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn revise(
    id: &str,
    comments: &[String],
    model: Option<&str>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = Arc::new(caller.workshop()?);
    runtime::block_on(workshop.ensure_model(model))??;
    let work = workshop.comment_plan(id, comments, model)?;
    let mut bench = PlanSession::new(Arc::clone(&workshop), caller, screen);
    bench.model = model.map(str::to_owned);
    let outcome = bench.take_on(work.trace)?;
    bench.conclude(work.trace, outcome)
}

pub(super) fn edit(
    id: &str,
    file: Option<&Path>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let work = workshop.work_named(id)?;
    let edited = match file {
        Some(file) => workshop.edit_from(&work, file)?,
        None => {
            if let Some(kept) = workshop.kept_edit(&work)? {
                screen.say(format!(
                    "your text from before is opened again; remove `{}` to begin anew",
                    harmless(&kept.display().to_string())
                ));
            }
            // Ctrl-C belongs to the editor while it runs.
            let _ear = SignalListener::open().map_err(|error| crate::output_failed(&error))?;
            workshop.edit_by_hand(&work)?
        }
    };
    let short = work.trace.short();
    let (word, version) = match edited {
        PlanEditOutcome::Unchanged => ("unchanged", None),
        PlanEditOutcome::InReview { version } => ("review", Some(version)),
        PlanEditOutcome::Adopted { version, .. } => ("adopted", Some(version)),
    };
    if screen.json {
        screen.value(
            &json!({ "trace_id": work.trace.to_string(), "edited": word, "version": version }),
        )?;
        return Ok(CliCommandOutcome::Done);
    }
    match edited {
        PlanEditOutcome::Unchanged => screen.line("nothing changed")?,
        PlanEditOutcome::InReview { version } => {
            let work = workshop.work(work.trace)?;
            let difference = workshop.plan_difference(&work, Some((version - 1, version)))?;
            screen.line(harmless_lines(&difference.text))?;
            screen.line(format!(
                "version {version} is yours and in review: `artel plan approve {short}`"
            ))?;
        }
        PlanEditOutcome::Adopted { version, run } => {
            let driver = workshop
                .standing_of(run)
                .ok()
                .and_then(|(_, driver)| driver);
            screen.line(match driver {
                Some(_) => format!("the run goes on by version {version}"),
                None => format!("the run goes on by version {version}: `artel resume {short}`"),
            })?;
        }
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn reject(
    id: &str,
    reason: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let work = caller.workshop()?.reject_plan(id, reason)?;
    told(&work, "rejected", screen)
}

pub(super) fn cancel(
    id: &str,
    reason: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let noted = runtime::block_on(workshop.cancel_plan(id, reason))??;
    let (work, driver) = noted.done;
    screen.notes(&noted.notes);
    if let Some(driver) = driver.filter(|_| !screen.json) {
        screen.say(format!("cancel sent to {}", harmless(&driver)));
    }
    told(&work, "cancelled", screen)
}

fn told(
    work: &Work,
    word: &str,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        let state = work.course.state();
        screen.value(&json!({ "trace_id": work.trace.to_string(), "state": state }))?;
    } else {
        screen.line(format!("{word} {}", work.trace.short()))?;
    }
    Ok(CliCommandOutcome::Done)
}
