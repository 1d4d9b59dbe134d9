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
    CommandContext, PlanningMode, ReplyTextMode, RequestSubmission, RunDriveOutcome, RunObservers,
    RunStartOptions, ShutdownLevel, SkillRunMode, TimelineDetailLevel, TimelineLine, Workshop,
    WorkshopFailures,
};
use tokio::sync::{mpsc, watch};

use super::ask;
use crate::CliCommandOutcome;
use crate::runtime;
use crate::screen::CliOutput;
use live::{LiveRunDisplay, LiveRunDisplayState, remind};

pub(crate) use company::FirstUseAnswerMode;
pub(crate) use ending::{RunApplyMode, conclude, say_placed};
pub(crate) use picture::PlanScreen;
pub(crate) use watching::WorkStatusLine;

/// Carry out a skill, or a task in your own words
///
/// The work is done in a copy of the folder you are in; at the end you see what changed and
/// decide whether it is applied.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel run csv-report sales.csv\n\
    Example: artel run --task \"find out why the tests fail\"")]
pub(crate) struct Args {
    /// The skill to carry out
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
    /// simple (one pass), autonomous (turn after turn until done) or planned (by a plan you
    /// approve)
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Option<RunModeArg>,
    /// The maximum number of turns, 1 to 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_turns: Option<u32>,
    /// The maximum cost in US dollars
    #[arg(long, value_name = "USD", value_parser = usd)]
    max_cost: Option<Money>,
    /// The folder to work on; the current one if not given
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    watching: RunWatchArgs,
    /// Answer first-use questions with yes, for scripts
    #[arg(long)]
    yes: bool,
}

/// Options for how a run is shown, and what happens to its files.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct RunWatchArgs {
    /// How much is shown: summary (the result of each step) or full (turn by turn)
    #[arg(long, value_name = "VIEW", value_parser = view)]
    view: Option<TimelineDetailLevel>,
    /// Apply the files that it created or changed when it ends
    #[arg(long)]
    apply: bool,
}

impl RunWatchArgs {
    /// The defaults: the result of each step is shown, and no files are applied.
    pub(crate) const USUAL: Self = Self {
        view: None,
        apply: false,
    };

    pub(crate) fn apply(self) -> RunApplyMode {
        if self.apply {
            RunApplyMode::Yes
        } else {
            RunApplyMode::Ask
        }
    }
}

fn view(word: &str) -> Result<TimelineDetailLevel, String> {
    match word {
        "summary" => Ok(TimelineDetailLevel::Summary),
        "full" => Ok(TimelineDetailLevel::Full),
        _ => Err("it is summary or full".to_owned()),
    }
}

/// The way the work is done: by one run or by a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunModeArg {
    /// In a single run.
    Run(SkillRunMode),
    /// With a plan.
    Planned,
}

fn mode(word: &str) -> Result<RunModeArg, String> {
    match word {
        "simple" => Ok(RunModeArg::Run(SkillRunMode::Simple)),
        "autonomous" => Ok(RunModeArg::Run(SkillRunMode::Autonomous)),
        "planned" => Ok(RunModeArg::Planned),
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

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let made = caller.workshop_or_new()?;
    made.notes.iter().for_each(|note| screen.say(note));
    let workshop = Arc::new(made.done);
    let arguments = match &args.task {
        Some(task) => std::iter::once(task.clone())
            .chain(args.arguments.clone())
            .collect(),
        None => args.arguments.clone(),
    };
    let answers = if args.yes {
        FirstUseAnswerMode::Yes
    } else {
        FirstUseAnswerMode::Ask
    };
    let mode = match args.mode {
        Some(RunModeArg::Planned) => return plan(args, &workshop, &arguments, caller, screen),
        Some(RunModeArg::Run(mode)) => Some(mode),
        None => None,
    };
    let order = RunStartOptions {
        skill: args.skill.clone(),
        arguments,
        model: args.model.clone(),
        mode,
        max_turns: args.max_turns,
        max_cost: args.max_cost,
        folder: args.folder.clone(),
    };
    let desk = RunScreen {
        workshop: Arc::clone(&workshop),
        watching: args.watching,
        answers,
    };
    let (trace, subject) = (workshop.trace_id(), WatchedRun::New);
    desk.drive(caller, screen, trace, subject, async |company| {
        workshop.start_run(&order, company).await
    })
}

/// Records a request for what a skill or a task is to do, and has it planned.
fn plan(
    args: &Args,
    workshop: &Arc<Workshop>,
    arguments: &[String],
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let named = args.skill.as_ref();
    let words = named.map(|skill| format!("Carry out the skill {skill}"));
    let words = words.into_iter().chain(arguments.iter().cloned());
    let order = RequestSubmission {
        words: words.collect::<Vec<_>>().join(" "),
        skill: args.skill.clone(),
        folder: args.folder.clone(),
        planning: PlanningMode::Always,
        model: args.model.clone(),
        ..RequestSubmission::default()
    };
    let answers = if args.yes {
        FirstUseAnswerMode::Yes
    } else {
        FirstUseAnswerMode::Ask
    };
    let portal = ask::portal(workshop, caller, &order, answers, screen)?;
    let prospect = workshop.prospect(&order, Some(portal))?;
    ask::submit(workshop, caller, &prospect, (&order, answers), screen)
}

/// Drives a run and shows it in the terminal.
pub(crate) struct RunScreen {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) watching: RunWatchArgs,
    pub(crate) answers: FirstUseAnswerMode,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum WatchedRun {
    /// A run that is about to begin.
    New,
    /// A run that began earlier.
    Known(RunId),
}

impl RunScreen {
    /// Drives a run and shows it, until it ends or is left.
    pub(crate) fn drive(
        &self,
        caller: &CommandContext,
        screen: &mut CliOutput,
        trace: TraceId,
        subject: WatchedRun,
        work: impl AsyncFnOnce(RunObservers) -> Result<RunDriveOutcome, Failure>,
    ) -> Result<CliCommandOutcome, WorkshopFailures> {
        let (done, ending) = self.attend(caller, screen, trace, subject, work)?;
        conclude(
            &self.workshop,
            &done,
            &ending,
            self.watching.apply(),
            screen,
        )
    }

    /// Shows the events of a trace while `work` runs. Returns the result of `work` and the
    /// lines that describe the end of its first run.
    pub(crate) fn attend<T>(
        &self,
        caller: &CommandContext,
        screen: &mut CliOutput,
        trace: TraceId,
        subject: WatchedRun,
        work: impl AsyncFnOnce(RunObservers) -> Result<T, Failure>,
    ) -> Result<(T, Vec<TimelineLine>), WorkshopFailures> {
        let (stop, stops) = watch::channel(ShutdownLevel::No);
        let (passing, heard) = mpsc::unbounded_channel();
        let company = company::company(caller, screen, self.answers, stops.clone(), passing);
        let eyes = self.workshop.eyes(self.watching.view)?;
        let mut narrator = self.workshop.narrator(eyes.clone(), ReplyTextMode::Heard);
        if let WatchedRun::Known(run) = subject {
            remind(&mut narrator, &self.workshop, run)?;
        }
        let live = LiveRunDisplay {
            follower: self.workshop.follow(trace)?,
            narrator,
            eyes,
            heard,
            stop: stops,
            clock: caller.clock().clone(),
            shown: LiveRunDisplayState::default(),
            screen,
        };
        let watched = live.watch(work(company));
        let (done, ending) = runtime::block_on_stoppable(watched, &stop)??;
        let done = done.map_err(|failure| runtime::unless_stopped(failure, &stop))?;
        Ok((done, ending))
    }

    /// Runs `work` without showing anything, for programs that read a single answer.
    pub(crate) fn attend_quietly<T>(
        &self,
        caller: &CommandContext,
        screen: &CliOutput,
        work: impl AsyncFnOnce(RunObservers) -> Result<T, Failure>,
    ) -> Result<T, WorkshopFailures> {
        let (stop, stops) = watch::channel(ShutdownLevel::No);
        // The receiver is dropped at once, and senders ignore that.
        let (passing, _) = mpsc::unbounded_channel();
        let company = company::company(caller, screen, self.answers, stops, passing);
        let done = runtime::block_on_stoppable(work(company), &stop)?;
        Ok(done.map_err(|failure| runtime::unless_stopped(failure, &stop))?)
    }
}
