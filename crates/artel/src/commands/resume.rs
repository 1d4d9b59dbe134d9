//! `artel resume`

use std::sync::Arc;

use artel_workshop::{Caller, Noted, Problems, Standing, Steer, Steered, Workshop};

use super::run::{Answers, Desk, Subject, Watching};
use crate::Verdict;
use crate::render::harmless;
use crate::runtime;
use crate::screen::Screen;

/// Go on with a run that was left or paused, from its last event
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel resume 5d2f41c0")]
pub(crate) struct Args {
    /// The run's id, or how it begins
    run: String,
    /// Answer its open question
    #[arg(long, value_name = "ANSWER")]
    answer: Option<String>,
    /// Another model than the one it began with
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    watching: Watching,
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let workshop = Arc::new(caller.workshop()?);
    let run = workshop.run_named(&args.run)?;
    if let Some(answer) = &args.answer {
        let told = runtime::block_on(workshop.answer_run(run, answer))??;
        screen.notes(&told.notes);
    }
    let (standing, driver) = workshop.standing_of(run)?;
    if standing == Standing::Paused {
        let Noted { done, notes } = runtime::block_on(workshop.steer_run(run, &Steer::Resume))??;
        screen.notes(&notes);
        if let Steered::Heard(driver) = done {
            return elsewhere(&run.short(), &driver, screen);
        }
    }
    if let (Some(driver), Some(_)) = (&driver, &args.answer) {
        return elsewhere(&run.short(), driver, screen);
    }
    let how = (args.model.as_deref(), args.watching);
    take_up(workshop, run, how, caller, screen)
}

/// Drives a run here, with a model of its own where one was named.
pub(super) fn take_up(
    workshop: Arc<Workshop>,
    run: artel_types::RunId,
    (model, watching): (Option<&str>, Watching),
    caller: &Caller,
    screen: &mut Screen,
) -> Result<Verdict, Problems> {
    let desk = Desk {
        workshop: Arc::clone(&workshop),
        watching,
        answers: Answers::Ask,
    };
    let trace = workshop.trace_of_run(run)?;
    desk.drive(
        caller,
        screen,
        trace,
        Subject::Known(run),
        async |company| workshop.resume_run(run, model, company).await,
    )
}

/// Says that the run goes on where it is driven.
fn elsewhere(run: &str, driver: &str, screen: &mut Screen) -> Result<Verdict, Problems> {
    if screen.json {
        screen.value(&serde_json::json!({ "run": run, "goes_on_in": driver }))?;
    } else {
        screen.line(format!("{run} goes on in {}", harmless(driver)))?;
    }
    Ok(Verdict::Done)
}
