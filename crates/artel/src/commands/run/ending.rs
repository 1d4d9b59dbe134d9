//! The end of a run: its answer, its outcome, and what happens to its files.

use std::io::{self, IsTerminal as _};

use artel_types::{Failure, FailureCode, FailureKind, RunOutcome};
use artel_workshop::{
    OutcomeWithNotes, RunApplyOutcome, RunDriveOutcome, RunSuspendReason, TimelineLine, Workshop,
    WorkshopFailures,
};
use serde_json::{Value, json};

use crate::CliCommandOutcome;
use crate::commands::story::laid_out;
use crate::prompt;
use crate::render::{counted, harmless, harmless_lines};
use crate::runtime;
use crate::screen::CliOutput;

/// The way the decision about the files is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunApplyMode {
    /// Ask the person, if there is one.
    Ask,
    /// The person decided with `--apply`.
    Yes,
}

/// Shows the result of a run, and does with its files what the person wants.
pub(crate) fn conclude(
    workshop: &Workshop,
    done: &RunDriveOutcome,
    ending: &[TimelineLine],
    apply: RunApplyMode,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if let Some(left) = &done.left {
        if *left == RunSuspendReason::Interrupted {
            if let Some(driver) = workshop.drivers_now()?.run(done.run) {
                return goes_on_elsewhere(done, driver, screen);
            }
            runtime::block_on(workshop.rest_run(done.run))??;
        }
        return leave(left, done, screen);
    }
    let Some(finished) = &done.finished else {
        return Ok(CliCommandOutcome::Done);
    };
    if !screen.json {
        if let Some(answer) = &done.answer {
            screen.line(harmless_lines(answer))?;
            screen.flush()?;
        }
        for line in ending {
            let text = laid_out(line, |sign, paint| screen.paint_told(sign, paint));
            screen.say(text);
        }
    }
    let state = finished.state.as_deref().and_then(|word| word.parse().ok());
    let files = finished.changed.as_ref().map_or(0, Vec::len);
    let placed = match files {
        0 => Ok(None),
        _ => place(workshop, done, files, apply, screen),
    };
    if screen.json {
        let applied = placed.as_ref().ok().and_then(Option::as_ref);
        screen.value(&json!({ "result": result(done, applied) }))?;
    }
    placed?;
    if is_person_there(screen) && state != Some(RunOutcome::Cancelled) {
        ask_for_feedback(workshop, done, screen)?;
    }
    Ok(match state {
        Some(RunOutcome::Complete) => CliCommandOutcome::Done,
        _ => CliCommandOutcome::Bad(FailureKind::Failed),
    })
}

fn is_person_there(screen: &CliOutput) -> bool {
    !screen.json && io::stdin().is_terminal()
}

/// Returns the result for programs.
fn result(done: &RunDriveOutcome, placed: Option<&RunApplyOutcome>) -> Value {
    let finished = done.finished.as_deref();
    json!({
        "run": done.run.to_string(),
        "trace": done.trace.to_string(),
        "state": finished.and_then(|it| it.state.clone()),
        "answer": done.answer,
        "why": finished.and_then(|it| it.why.clone()),
        "objectives": finished.and_then(|it| it.objectives.clone()),
        "changed": finished.and_then(|it| it.changed.clone()),
        "metrics": finished.and_then(|it| it.metrics.clone()),
        "applied": placed,
    })
}

/// Says where a run goes on that the person only looked at.
fn goes_on_elsewhere(
    done: &RunDriveOutcome,
    driver: &str,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        let (run, trace) = (done.run.to_string(), done.trace.to_string());
        let result = json!({ "run": run, "trace": trace, "goes_on_in": driver });
        screen.value(&json!({ "result": result }))?;
    } else {
        let (run, driver) = (done.run.short(), harmless(driver));
        screen.say(format!(
            "{run} goes on in {driver}: `artel resume {run}` stays with it, `artel pause {run}` \
             pauses it"
        ));
    }
    Ok(CliCommandOutcome::Bad(FailureKind::Interrupted))
}

/// Tells the person how a run that was left can be resumed.
fn leave(
    left: &RunSuspendReason,
    done: &RunDriveOutcome,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let resume = format!("`artel resume {}`", done.run.short());
    let failure = match left {
        RunSuspendReason::Interrupted => None,
        RunSuspendReason::Question(asked) => Some(
            Failure::new(FailureCode::P002, "the run waits for your answer")
                .because(asked.text.clone())
                .advise(format!(
                    "{resume} in a terminal asks it; `--answer` answers it"
                )),
        ),
        RunSuspendReason::Model(failure) => {
            let first = failure.advice.clone();
            let first = first.map_or(String::new(), |it| format!("{it}; then "));
            let advice = format!("{first}{resume} goes on from here");
            Some(failure.clone().advise(advice))
        }
    };
    if screen.json {
        let why = failure.as_ref().map_or("stopped", |it| it.what.as_str());
        let run = done.run.to_string();
        let left =
            json!({ "run": run, "trace": done.trace.to_string(), "state": "left", "why": why });
        screen.value(&json!({ "result": left }))?;
    }
    match failure {
        Some(failure) => Err(failure.into()),
        None => {
            screen.say(format!("stopped; {resume} goes on"));
            Ok(CliCommandOutcome::Bad(FailureKind::Interrupted))
        }
    }
}

/// Applies the files, if the person wants that.
fn place(
    workshop: &Workshop,
    done: &RunDriveOutcome,
    files: usize,
    apply: RunApplyMode,
    screen: &mut CliOutput,
) -> Result<Option<RunApplyOutcome>, WorkshopFailures> {
    let is_wanted = match apply {
        RunApplyMode::Yes => true,
        RunApplyMode::Ask if is_person_there(screen) => asked(workshop, done, files, screen)?,
        RunApplyMode::Ask => false,
    };
    if is_wanted {
        return apply_now(workshop, done, screen).map(Some);
    }
    if !screen.json {
        let (stays, them) = if files == 1 {
            ("it stays", "it")
        } else {
            ("they stay", "them")
        };
        let run = done.run.short();
        screen.say(format!(
            "{stays} in the run; `artel apply {run}` puts {them} in place"
        ));
    }
    Ok(None)
}

fn apply_now(
    workshop: &Workshop,
    done: &RunDriveOutcome,
    screen: &mut CliOutput,
) -> Result<RunApplyOutcome, WorkshopFailures> {
    let OutcomeWithNotes { done, notes } = runtime::block_on(workshop.apply_run(done.run))??;
    screen.notes(&notes);
    if !screen.json {
        say_placed(&done, screen);
    }
    Ok(done)
}

/// Shows which files were applied.
pub(crate) fn say_placed(placed: &RunApplyOutcome, screen: &mut CliOutput) {
    let count = placed.written.len() + placed.deleted.len() + placed.already.len();
    let files = counted(count as u64, "file");
    screen.say(format!(
        "put {files} in place in {}",
        harmless(&placed.folder)
    ));
}

/// Asks until the person decides. Viewing the diff does not count as an answer.
fn asked(
    workshop: &Workshop,
    done: &RunDriveOutcome,
    files: usize,
    screen: &mut CliOutput,
) -> Result<bool, WorkshopFailures> {
    let these = match files {
        1 => "this file".to_owned(),
        count => format!("these {count} files"),
    };
    loop {
        let text = format!("Put {these} in place? [y/N/d]iff ");
        let answer = prompt::alone(|gone| {
            prompt::choose(&text, "yes, no, diff", gone, |answer| match answer {
                "y" | "Y" | "yes" => Some(RunFilesAnswer::Place),
                "d" | "D" | "diff" => Some(RunFilesAnswer::Show),
                "" | "n" | "N" | "no" => Some(RunFilesAnswer::Leave),
                _ => None,
            })
        })?;
        match answer {
            Some(RunFilesAnswer::Place) => return Ok(true),
            Some(RunFilesAnswer::Show) => {
                screen.line(harmless_lines(&workshop.run_diff(done.run)?))?;
                screen.flush()?;
            }
            Some(RunFilesAnswer::Leave) | None => return Ok(false),
        }
    }
}

/// The person's decision about the files of a run.
#[derive(Debug, Clone, Copy)]
enum RunFilesAnswer {
    Place,
    Show,
    Leave,
}

/// Asks for one line of feedback for next time; Enter skips it.
fn ask_for_feedback(
    workshop: &Workshop,
    done: &RunDriveOutcome,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    let text = prompt::typed("Feedback for next time (Enter skips): ")?.unwrap_or_default();
    if text.is_empty() {
        return Ok(());
    }
    match workshop.give_feedback(&done.run.to_string(), &text) {
        Ok(_) => screen.say("kept"),
        // The run ended well; that the feedback could not be stored does not make it fail.
        Err(failure) => screen.say(failure.to_string()),
    }
    Ok(())
}
