//! `artel replay`

use artel_types::FailureKind;
use artel_workshop::{
    CommandContext, ReplyTextMode, RunReplayOutcome, TimelineDetailLevel, WorkshopFailures,
};

use super::story::laid_out;
use crate::CliCommandOutcome;
use crate::render::{counted, harmless};
use crate::screen::{CliOutput, StatusColour};

/// Replay a recorded run, without a model and without effects
///
/// Every recorded step must be what Artel would do next. Calls are decided again by the
/// current policy; decisions that would differ are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel replay 5d2f41c0 --full")]
pub(crate) struct Args {
    /// The run's id, or a prefix of it
    run: String,
    /// Also show each step
    #[arg(long)]
    full: bool,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let run = workshop.run_named(&args.run)?;
    let replay = workshop.replay_run(run)?;
    let verdict = if replay.divergences.is_empty() {
        CliCommandOutcome::Done
    } else {
        CliCommandOutcome::Bad(FailureKind::Failed)
    };
    if screen.json {
        screen.value(&replay)?;
        return Ok(verdict);
    }
    if args.full {
        let mut narrator = workshop.narrator(
            workshop.eyes(Some(TimelineDetailLevel::Full))?,
            ReplyTextMode::Told,
        );
        for record in workshop.run_records(&run.to_string())? {
            for line in narrator.tell(&record) {
                let text = laid_out(&line, |sign, paint| screen.paint(sign, paint));
                screen.line(text)?;
            }
        }
    }
    show(&replay, screen)?;
    Ok(verdict)
}

fn show(replay: &RunReplayOutcome, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    for it in &replay.divergences {
        let bad = screen.paint("differs", StatusColour::Bad);
        let (was, says) = (harmless(&it.recorded), harmless(&it.machine));
        screen.line(format!(
            "{bad}  event {}: {was}; now it would {says}",
            it.seq
        ))?;
    }
    for it in &replay.differences {
        let now = match it.now.as_str() {
            "ask" => "would be asked now",
            "deny" => "would be denied now",
            _ => "would be allowed now",
        };
        let (tool, why) = (harmless(&it.tool), harmless(&it.why));
        screen.line(format!(
            "policy   event {}: {tool} {now}: {why} ({})",
            it.seq, it.rule
        ))?;
    }
    let steps = counted(replay.steps, "step");
    let turns = counted(replay.turns.into(), "turn");
    let calls = counted(replay.decided, "call");
    let how = match (replay.divergences.len(), replay.differences.len()) {
        (0, 0) => format!("as recorded; policy decides {calls} as it did"),
        (0, differ) => format!("as recorded; policy decides {differ} of {calls} differently"),
        (parted, _) => format!("{} not as recorded", counted(parted as u64, "step")),
    };
    screen.line(format!("played {steps} of {turns}: {how}"))
}
