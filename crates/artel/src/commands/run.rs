//! `artel run`

mod company;
mod ending;
mod live;
mod picture;
mod sheet;
mod watching;

use std::path::PathBuf;
use std::sync::Arc;

use artel_types::{Failure, Money, RunId, TraceId};
use artel_workshop::{
    AskOrder, Caller, Company, Line, Mode, Planning, Problems, RunDone, RunOrder, Stop, View,
    Words, Workshop,
};
use tokio::sync::{mpsc, watch};

use super::ask;
use crate::Verdict;
use crate::runtime;
use crate::screen::Screen;
use live::{Live, Shown, remind};

pub(crate) use company::Answers;
pub(crate) use ending::{Apply, conclude, say_placed};
pub(crate) use picture::Canvas;
pub(crate) use watching::Watch;

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
    /// One pass, turn after turn until it is done, or by a plan that you approve
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Option<How>,
    /// The most turns it may take, 1 to 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_turns: Option<u32>,
    /// The most US dollars it may cost
    #[arg(long, value_name = "USD", value_parser = usd)]
    max_cost: Option<Money>,
    /// The folder to work on; the current one if not given
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    watching: Watching,
    /// Answer first-use questions with yes, for scripts
    #[arg(long)]
    yes: bool,
}

/// How a run is watched, and what becomes of its files.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Watching {
    /// How much is shown: what came of each step, or turn by turn
    #[arg(long, value_name = "VIEW", value_parser = view)]
    view: Option<View>,
    /// Put the files that it made or changed in place when it is over
    #[arg(long)]
    apply: bool,
}

impl Watching {
    /// As usual: what came of each step, and nothing put in place.
    pub(crate) const USUAL: Self = Self {
        view: None,
        apply: false,
    };

    pub(crate) fn apply(self) -> Apply {
        if self.apply { Apply::Yes } else { Apply::Ask }
    }
}

fn view(word: &str) -> Result<View, String> {
    match word {
        "summary" => Ok(View::Summary),
        "full" => Ok(View::Full),
        _ => Err("it is summary or full".to_owned()),
    }
}

/// How it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// By one run.
    Run(Mode),
    /// By a plan.
    Planned,
}

fn mode(word: &str) -> Result<How, String> {
    match word {
        "simple" => Ok(How::Run(Mode::Simple)),
        "autonomous" => Ok(How::Run(Mode::Autonomous)),
        "planned" => Ok(How::Planned),
        _ => Err("it is simple, autonomous or planned".to_owned()),
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
    let answers = if args.yes { Answers::Yes } else { Answers::Ask };
    let mode = match args.mode {
        Some(How::Planned) => return plan(args, &workshop, &arguments, caller, screen),
        Some(How::Run(mode)) => Some(mode),
        None => None,
    };
    let order = RunOrder {
        skill: args.skill.clone(),
        arguments,
        model: args.model.clone(),
        mode,
        max_turns: args.max_turns,
        max_cost: args.max_cost,
        folder: args.folder.clone(),
    };
    let desk = Desk {
        workshop: Arc::clone(&workshop),
        watching: args.watching,
        answers,
    };
    let (trace, subject) = (workshop.trace_id(), Subject::New);
    desk.drive(caller, screen, trace, subject, async |company| {
        workshop.start_run(&order, company).await
    })
}

/// Asks for what a skill or a task is to do, and has it planned.
fn plan(
    args: &Args,
    workshop: &Arc<Workshop>,
    arguments: &[String],
    caller: &Caller,
    screen: &mut Screen,
) -> Result<Verdict, Problems> {
    let named = args.skill.as_ref();
    let words = named.map(|skill| format!("Carry out the skill {skill}"));
    let words = words.into_iter().chain(arguments.iter().cloned());
    let order = AskOrder {
        words: words.collect::<Vec<_>>().join(" "),
        skill: args.skill.clone(),
        folder: args.folder.clone(),
        planning: Planning::Always,
        model: args.model.clone(),
        ..AskOrder::default()
    };
    let answers = if args.yes { Answers::Yes } else { Answers::Ask };
    let portal = ask::portal(workshop, caller, &order, answers, screen)?;
    let prospect = workshop.prospect(&order, Some(portal))?;
    ask::submit(workshop, caller, &prospect, (&order, answers), screen)
}

/// Where a run is watched.
pub(crate) struct Desk {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) watching: Watching,
    pub(crate) answers: Answers,
}

/// Which run is watched.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject {
    /// One that is about to begin.
    New,
    /// One that began before.
    Known(RunId),
}

impl Desk {
    /// Drives a run and shows it, to its end or to where it is left.
    pub(crate) fn drive(
        &self,
        caller: &Caller,
        screen: &mut Screen,
        trace: TraceId,
        subject: Subject,
        work: impl AsyncFnOnce(Company) -> Result<RunDone, Failure>,
    ) -> Result<Verdict, Problems> {
        let (done, ending) = self.attend(caller, screen, trace, subject, work)?;
        conclude(
            &self.workshop,
            &done,
            &ending,
            self.watching.apply(),
            screen,
        )
    }

    /// Shows what goes on in a trace while something is done, and returns what came of it with how
    /// the end of its first run is told.
    pub(crate) fn attend<T>(
        &self,
        caller: &Caller,
        screen: &mut Screen,
        trace: TraceId,
        subject: Subject,
        work: impl AsyncFnOnce(Company) -> Result<T, Failure>,
    ) -> Result<(T, Vec<Line>), Problems> {
        let (stop, stops) = watch::channel(Stop::No);
        let (passing, heard) = mpsc::unbounded_channel();
        let company = company::company(caller, screen, self.answers, stops.clone(), passing);
        let eyes = self.workshop.eyes(self.watching.view)?;
        let mut narrator = self.workshop.narrator(eyes.clone(), Words::Heard);
        if let Subject::Known(run) = subject {
            remind(&mut narrator, &self.workshop, run)?;
        }
        let live = Live {
            follower: self.workshop.follow(trace)?,
            narrator,
            eyes,
            heard,
            stop: stops,
            clock: caller.clock().clone(),
            shown: Shown::default(),
            screen,
        };
        let watched = live.watch(work(company));
        let (done, ending) = runtime::block_on_stoppable(watched, &stop)??;
        let done = done.map_err(|failure| runtime::unless_stopped(failure, &stop))?;
        Ok((done, ending))
    }

    /// Does something while nothing of it is shown, for programs that read one answer.
    pub(crate) fn attend_quietly<T>(
        &self,
        caller: &Caller,
        screen: &Screen,
        work: impl AsyncFnOnce(Company) -> Result<T, Failure>,
    ) -> Result<T, Problems> {
        let (stop, stops) = watch::channel(Stop::No);
        // Nobody listens, and whoever speaks does not mind.
        let (passing, _) = mpsc::unbounded_channel();
        let company = company::company(caller, screen, self.answers, stops, passing);
        let done = runtime::block_on_stoppable(work(company), &stop)?;
        Ok(done.map_err(|failure| runtime::unless_stopped(failure, &stop))?)
    }
}
