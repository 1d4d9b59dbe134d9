//! `artel ask`

mod words;

use std::cell::RefCell;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;

use artel_types::FailureCode;
use artel_types::plan::{Requirement, StepVerification, Urgency};
use artel_workshop::{
    CommandContext, PlanningMode, Portal, PortalQuestion, RequestSubmission, UnrecordedRequest,
    Work, Workshop, WorkshopFailures,
};

use super::planned::PlanSession;
use super::run::FirstUseAnswerMode;
use crate::CliCommandOutcome;
use crate::prompt;
use crate::render::harmless;
use crate::screen::CliOutput;

/// Ask for something, in your own words
///
/// A question is answered, a small change is made, and everything else is planned first. No
/// part of a plan is carried out before you approve it. The project folder you are in is
/// opened to agents after one question.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: artel ask \"Add rate limiting to the login endpoint\"\n\
    Example: artel ask \"Where are sessions stored?\"\n\
    Example: artel ask --file idea.md --portal shop --priority high --verify tdd\n\
    Example: git log -1 --format=%B | artel ask --file - --yes"
)]
pub(crate) struct Args {
    /// What you want, in your own words
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// The portal it is about; the one for the current folder if not given
    #[arg(long, value_name = "PORTAL")]
    portal: Option<String>,
    /// The role to ask
    #[arg(long, short, value_name = "ROLE")]
    agent: Option<String>,
    /// How urgent it is: low, normal, high, critical
    #[arg(long, short, value_name = "PRIORITY", default_value = "normal", value_parser = urgency)]
    priority: Urgency,
    /// Read the request from a file; `-` is standard input
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["text", "interactive"])]
    file: Option<PathBuf>,
    /// Ask me for everything
    #[arg(long, short, conflicts_with = "text")]
    interactive: bool,
    /// Plan it, however small it is
    #[arg(long, conflicts_with = "no_plan")]
    plan: bool,
    /// Do it at once, with a one-step plan on record
    #[arg(long)]
    no_plan: bool,
    /// How its steps are verified: none, evaluator, tdd
    #[arg(long, value_name = "HOW", value_parser = verify)]
    verify: Option<StepVerification>,
    /// The model: an alias, or provider:model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Answer first-use questions with yes, for scripts
    #[arg(long)]
    yes: bool,
    /// Print the resulting request as JSON, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn urgency(word: &str) -> Result<Urgency, String> {
    word.parse()
        .map_err(|()| one_of(Urgency::ALL, Urgency::as_str))
}

pub(super) fn verify(word: &str) -> Result<StepVerification, String> {
    word.parse()
        .map_err(|()| one_of(StepVerification::ALL, StepVerification::as_str))
}

/// Lists the allowed words.
pub(super) fn one_of<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> String {
    let words: Vec<&str> = all.iter().map(|it| word(*it)).collect();
    format!("it is one of {}", words.join(", "))
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let asked = words::asked(args, caller, screen)?;
    let answers = if args.yes {
        FirstUseAnswerMode::Yes
    } else {
        FirstUseAnswerMode::Ask
    };
    let order = RequestSubmission {
        words: asked.words,
        portal: asked.portal,
        agent: asked.agent,
        urgency: asked.urgency,
        source: asked.source.to_owned(),
        planning: match (args.plan, args.no_plan) {
            (true, _) => PlanningMode::Always,
            (_, true) => PlanningMode::Never,
            _ => PlanningMode::BySize,
        },
        verify: asked.verify,
        model: args.model.clone(),
        ..RequestSubmission::default()
    };
    if args.dry_run {
        return rehearse(caller, &order, screen);
    }
    let made = caller.workshop_or_new()?;
    screen.notes(&made.notes);
    let workshop = Arc::new(made.done);
    // A request that is not valid is refused before anything is opened.
    workshop.prospect(&order, None)?;
    let portal = portal(&workshop, caller, &order, answers, screen)?;
    let prospect = workshop.prospect(&order, Some(portal))?;
    submit(&workshop, caller, &prospect, (&order, answers), screen)
}

/// Records a request and takes it on.
pub(super) fn submit(
    workshop: &Arc<Workshop>,
    caller: &CommandContext,
    prospect: &UnrecordedRequest,
    (order, answers): (&RequestSubmission, FirstUseAnswerMode),
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let work = workshop.file_request(prospect)?;
    if !screen.json {
        understood(&work, screen);
    }
    let mut bench = PlanSession::new(Arc::clone(workshop), caller, screen);
    bench.model.clone_from(&order.model);
    bench.answers = answers;
    let outcome = bench.take_on(work.trace)?;
    bench.conclude(work.trace, outcome)
}

/// Returns the portal that a request is about: the named one, or the one for the current
/// folder. If work is to be done in a folder without git, the person is first offered a
/// repository.
pub(super) fn portal(
    workshop: &Workshop,
    caller: &CommandContext,
    order: &RequestSubmission,
    answers: FirstUseAnswerMode,
    screen: &CliOutput,
) -> Result<Portal, WorkshopFailures> {
    let portal = match &order.portal {
        Some(name) => workshop.portal(name)?,
        None => portal_here(workshop, caller, order, answers, screen)?,
    };
    if is_there(screen) && order.is_work() {
        offer_git(caller, &portal)?;
    }
    Ok(portal)
}

fn portal_here(
    workshop: &Workshop,
    caller: &CommandContext,
    order: &RequestSubmission,
    answers: FirstUseAnswerMode,
    screen: &CliOutput,
) -> Result<Portal, WorkshopFailures> {
    let interrupted = RefCell::new(None);
    let first = |question: &PortalQuestion| match answers {
        FirstUseAnswerMode::Yes => Some(true),
        FirstUseAnswerMode::Ask if is_there(screen) => {
            let text = format!("{} [y/N] ", harmless(&question.to_string()));
            let answer = prompt::alone(|gone| prompt::is_yes(&text, gone));
            answer.unwrap_or_else(|problems| {
                interrupted.replace(Some(problems));
                None
            })
        }
        FirstUseAnswerMode::Ask => None,
    };
    let folder = order.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let portal = workshop.ensure_portal(&caller.path(&folder), &first);
    if let Some(problems) = interrupted.take() {
        return Err(problems);
    }
    Ok(portal?)
}

/// Returns whether there is a person who can be asked.
fn is_there(screen: &CliOutput) -> bool {
    !screen.json && io::stdin().is_terminal()
}

/// Offers to create a repository in a folder that is in none: with a repository, results
/// are branches.
fn offer_git(caller: &CommandContext, portal: &Portal) -> Result<(), WorkshopFailures> {
    if caller.is_in_repository(&portal.path) {
        return Ok(());
    }
    let text = format!(
        "`{}` is in no git repository. Make one now and commit what is there, so that results come \
         as branches? Without one they come as patches. [y/N] ",
        harmless(&portal.name)
    );
    if prompt::alone(|gone| prompt::is_yes(&text, gone))? == Some(true) {
        caller.begin_repository(&portal.path, "Start")?;
    }
    Ok(())
}

/// Prints what the request would look like. Without a workshop, it shows the request for
/// the workshop that would be created.
fn rehearse(
    caller: &CommandContext,
    order: &RequestSubmission,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let found = caller.workshop();
    let is_missing =
        |problems: &WorkshopFailures| problems.0.iter().all(|it| it.code == FailureCode::W001);
    let (workshop, portal) = match found {
        Err(problems) if is_missing(&problems) && order.portal.is_none() => {
            (caller.workshop_to_be()?, None)
        }
        found => {
            let workshop = found?;
            let portal = match &order.portal {
                Some(name) => Some(workshop.portal(name)?),
                None => {
                    let here = caller.path(std::path::Path::new("."));
                    workshop.portal_of(&here.canonicalize().unwrap_or(here))?
                }
            };
            (workshop, portal)
        }
    };
    let prospect = workshop.prospect(order, portal)?;
    screen.value(&workshop.prospect_value(&prospect))?;
    Ok(CliCommandOutcome::Done)
}

/// Shows how the request was understood.
fn understood(work: &Work, screen: &mut CliOutput) {
    let request = &work.request;
    let short = work.trace.short();
    screen.say(format!("request     {short}  {}", harmless(&request.title)));
    if let Some(portal) = &request.portal {
        screen.say(format!("portal      {}", harmless(portal)));
    }
    screen.say(format!(
        "size        {}: {}",
        request.size,
        harmless(&request.why)
    ));
    let mut claims = |word: &str, claims: &[Requirement]| {
        for claim in claims {
            let text = harmless(&claim.text);
            screen.say(format!("{word:<10}  {text} ({})", claim.source));
        }
    };
    claims("constraint", &request.constraints);
    claims("criterion", &request.criteria);
}
