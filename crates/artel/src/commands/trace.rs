//! `artel trace`

mod events;
mod work;

use artel_types::{Code, Failure};
use artel_workshop::{Caller, Line, Problems, View, Words, Workshop};

use super::story::laid_out;
use crate::Verdict;
use crate::render::harmless;
use crate::screen::Screen;

/// Show everything that happened in one piece of work
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel trace 7c1e90ab\n\
        Example: artel trace 7c1e90ab --step 2")]
pub(crate) struct Args {
    /// The id of a trace, run or session, or how it begins
    id: String,
    /// Turn by turn, with details
    #[arg(long)]
    full: bool,
    /// Only this step of the plan, by its number or name, turn by turn
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Only this turn
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// The events themselves, as a table
    #[arg(long)]
    events: bool,
}

impl Args {
    /// How closely it is looked at: one step or turn is looked at closely.
    fn view(&self) -> View {
        match self.full || self.step.is_some() || self.turn.is_some() {
            true => View::Full,
            false => View::Summary,
        }
    }
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let workshop = caller.workshop()?;
    super::journal::warn(&workshop, screen);
    if args.events {
        return events::show(args, &workshop, screen);
    }
    if let Some(work) = work::meant(&workshop, &args.id)? {
        return work::show(args, &workshop, &work, screen);
    }
    if let Some(step) = &args.step {
        let id = harmless(&args.id);
        let what = format!("`{id}` has no step `{}`", harmless(step));
        return Err(Failure::new(Code::R004, what)
            .because("it carries out no plan")
            .advise(format!("`artel trace {id} --full` shows it turn by turn"))
            .into());
    }
    let records = workshop.run_records(&args.id)?;
    let is_run = records.iter().any(|record| record.kind == "run.started");
    if !is_run || (screen.json && args.turn.is_none()) {
        return events::show(args, &workshop, screen);
    }
    of_run(args, &workshop, &records, screen)
}

/// Tells a run line by line.
fn of_run(
    args: &Args,
    workshop: &Workshop,
    records: &[artel_journal::Record],
    screen: &mut Screen,
) -> Result<Verdict, Problems> {
    let view = args.view();
    let mut narrator = workshop.narrator(workshop.eyes(Some(view))?, Words::Told);
    let lines: Vec<Line> = records.iter().flat_map(|it| narrator.tell(it)).collect();
    let numbers = lines.iter().map(turn_of);
    refuse_unknown_turn(args.turn, numbers)?;
    let is_wanted = |line: &&Line| args.turn.is_none_or(|wanted| wanted == turn_of(line));
    let wanted: Vec<&Line> = lines.iter().filter(is_wanted).collect();
    if screen.json {
        screen.value(&serde_json::json!({ "turn": args.turn, "lines": wanted }))?;
        return Ok(Verdict::Done);
    }
    for line in wanted {
        let text = laid_out(line, |sign, paint| screen.paint(sign, paint));
        screen.line(text)?;
    }
    if view == View::Summary {
        screen.flush()?;
        screen.say(format!(
            "turn by turn: `artel trace {} --full`",
            harmless(&args.id)
        ));
    }
    Ok(Verdict::Done)
}

/// Returns the turn that a line belongs to. A turn is headed before its reply is there.
fn turn_of(line: &Line) -> u32 {
    line.turn + u32::from(line.mark == artel_workshop::Mark::Turn)
}

/// Refuses a turn that is not there, and says which are.
fn refuse_unknown_turn(
    wanted: Option<u32>,
    there: impl Iterator<Item = u32>,
) -> Result<(), Failure> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    let mut there: Vec<u32> = there.filter(|turn| *turn > 0).collect();
    there.sort_unstable();
    there.dedup();
    if there.contains(&wanted) {
        return Ok(());
    }
    let failure = Failure::new(Code::R004, format!("there is no turn {wanted}"));
    Err(match there.as_slice() {
        [] => failure
            .because("no turn is over yet")
            .advise("leave `--turn` out"),
        [only] => failure
            .because(format!("there is turn {only} alone"))
            .advise(format!("`--turn {only}`")),
        [first, .., last] => failure
            .because(format!("there are turns {first} to {last}"))
            .advise(format!("`--turn {last}` is the last one")),
    })
}
