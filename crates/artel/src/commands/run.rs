//! `artel run`

mod company;

use std::path::PathBuf;
use std::sync::Arc;

use artel_types::{Failure, FailureKind, Money, RunState};
use artel_workshop::{Caller, Left, Mode, Problems, RunDone, RunOrder, Stop, Workshop};
use tokio::sync::watch;

use crate::Verdict;
use crate::render::{harmless, harmless_lines};
use crate::runtime;
use crate::screen::{Paint, Screen};

pub(crate) use company::{Answers, company};

/// Carry out a skill, or a task in your own words
///
/// The work is done in a copy of the folder you are in; at its end you see what changed and decide
/// whether it is put in place.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel run csv-report sales.csv\n\
    Example: artel run --task \"find out why the tests fail\"")]
pub(crate) struct Args {
    /// The skill, and what it works on
    #[arg(value_name = "SKILL", required_unless_present = "task")]
    skill: Option<String>,
    /// What the skill works on
    #[arg(value_name = "ARGS")]
    arguments: Vec<String>,
    /// A task in your own words, instead of a skill
    #[arg(long, value_name = "TEXT", conflicts_with = "skill")]
    task: Option<String>,
    /// The model: an alias, or provider:model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// One pass, or turn after turn until it is done
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Option<Mode>,
    /// The most turns it may take, 1 to 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_turns: Option<u32>,
    /// The most US dollars it may cost
    #[arg(long, value_name = "USD", value_parser = usd)]
    max_cost: Option<Money>,
    /// The folder to work on; the current one if not given
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Answer first-use questions with yes, for scripts
    #[arg(long)]
    yes: bool,
}

fn mode(word: &str) -> Result<Mode, String> {
    match word {
        "simple" => Ok(Mode::Simple),
        "autonomous" => Ok(Mode::Autonomous),
        _ => Err("it is simple or autonomous".to_owned()),
    }
}

fn usd(text: &str) -> Result<Money, String> {
    let dollars: f64 = text
        .parse()
        .map_err(|_| "expected a number such as 0.50".to_owned())?;
    if !(0.0..=1e9).contains(&dollars) {
        return Err("expected a number such as 0.50".to_owned());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked"
    )]
    let micros = (dollars * 1e6).round() as u64;
    Ok(Money(micros))
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let made = caller.workshop_or_new()?;
    made.notes.iter().for_each(|note| screen.say(note));
    let workshop = Arc::new(made.done);
    let arguments = match &args.task {
        Some(task) => std::iter::once(task.clone())
            .chain(args.arguments.clone())
            .collect(),
        None => args.arguments.clone(),
    };
    let order = RunOrder {
        skill: args.skill.clone(),
        arguments,
        model: args.model.clone(),
        mode: args.mode,
        max_turns: args.max_turns,
        max_cost: args.max_cost,
        folder: args.folder.clone(),
    };
    let answers = if args.yes { Answers::Yes } else { Answers::Ask };
    let (stop, stops) = watch::channel(Stop::No);
    let company = company(caller, screen, answers, stops);
    let done = runtime::block_on_stoppable(workshop.start_run(&order, company), &stop)??;
    show(&workshop, &done, screen)
}

/// Shows what came of a run.
pub(crate) fn show(_: &Workshop, done: &RunDone, screen: &mut Screen) -> Result<Verdict, Problems> {
    if let Some(left) = &done.left {
        return Err(left_failure(left, done).into());
    }
    let Some(finished) = &done.finished else {
        return Ok(Verdict::Done);
    };
    let state = finished
        .state
        .as_deref()
        .and_then(|word| word.parse::<RunState>().ok());
    if screen.json {
        screen.value(finished)?;
    } else {
        if let Some(answer) = &done.answer {
            screen.line(harmless_lines(answer))?;
        }
        if let Some(why) = &finished.why {
            let word = screen.paint("not complete", Paint::Bad);
            screen.say(format!("{word}: {}", harmless(why)));
        }
        for change in finished.changed.iter().flatten() {
            screen.say(format!("  {:?} {}", change.kind, harmless(&change.path)));
        }
    }
    Ok(match state {
        Some(RunState::Complete) => Verdict::Done,
        _ => Verdict::Bad(FailureKind::Failed),
    })
}

fn left_failure(left: &Left, done: &RunDone) -> Failure {
    use artel_types::Code;
    let resume = format!("`artel resume {}`", done.run.short());
    match left {
        Left::Interrupted => {
            Failure::new(Code::R007, "stopped; nothing is lost").advise(format!("{resume} goes on"))
        }
        Left::Question(asked) => Failure::new(Code::P002, "the run waits for your answer")
            .because(asked.text.clone())
            .advise(format!("{resume} in a terminal asks it")),
        Left::Model(failure) => {
            let advice = failure
                .advice
                .clone()
                .map_or(String::new(), |it| format!("{it}; then "));
            failure
                .clone()
                .advise(format!("{advice}{resume} goes on from here"))
        }
    }
}
