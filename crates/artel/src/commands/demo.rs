//! `artel demo`

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use artel_types::plan::Plan;
use artel_types::{Failure, FailureCode};
use artel_workshop::{
    ChangesetMergeOptions, CommandContext, DEMO_REQUEST, DemoSetup, OnFailure, PlanEditOutcome,
    PlanRules, RequestOutcome, RequestSubmission, RunObservers, RunSuspendReason, Work, Workshop,
    WorkshopFailures,
};

use super::run::{FirstUseAnswerMode, PlanScreen, WorkStatusLine};
use crate::CliCommandOutcome;
use crate::prompt;
use crate::render::{counted, harmless, harmless_lines};
use crate::runtime::interrupted;
use crate::screen::CliOutput;
use crate::signals::SignalListener;

/// Play the whole story on a sample project, without a key or the network
///
/// A request becomes a plan, you approve it, agents carry it out and check each other, and
/// you merge the result. Only the model is rehearsed; git, tests and sandbox are real.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel demo\nExample: artel demo --yes --keep")]
pub(crate) struct Args {
    /// Approve the plan and merge the result, for scripts
    #[arg(long)]
    yes: bool,
    /// Keep the demo in ~/Artel-demo
    #[arg(long)]
    keep: bool,
}

/// A person's answer to a demo question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DemoAnswer {
    Yes,
    No,
    /// The person wants to see more, or to change it.
    Look,
    Edit,
}

/// The answers with their words. The first word of each is its letter.
type Choices<'c> = &'c [(DemoAnswer, [&'static str; 2])];

const OF_PLANS: Choices<'_> = &[
    (DemoAnswer::Yes, ["y", "yes"]),
    (DemoAnswer::Look, ["v", "view"]),
    (DemoAnswer::Edit, ["e", "edit"]),
    (DemoAnswer::No, ["n", "no"]),
];

const OF_CHANGES: Choices<'_> = &[
    (DemoAnswer::Yes, ["y", "yes"]),
    (DemoAnswer::Look, ["d", "diff"]),
    (DemoAnswer::No, ["n", "no"]),
];

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if !args.yes && !io::stdin().is_terminal() {
        return Err(
            Failure::new(FailureCode::C005, "the demo asks before it goes on")
                .because("there is no terminal to ask in")
                .advise("`artel demo --yes` approves and merges by itself")
                .into(),
        );
    }
    // A signal only ends the current work or question, so that nothing is left behind.
    let _ear = SignalListener::open().map_err(|error| crate::output_failed(&error))?;
    let demo = caller.lay_out_demo()?;
    let played = play(args, &demo, screen);
    // Nothing is left behind unless it was asked for, however the demo ended.
    match &played {
        Ok(DemoRetention::Kept) => {}
        Err(_) if args.keep => {
            screen.say(format!("The demo is kept in {}.", demo.folder.display()));
        }
        _ => {
            caller.remove_demo(&demo)?;
            screen.say(
                "Removed the demo; `artel demo --keep` keeps it. Next, in a repository of yours: \
                 `artel auth set anthropic` (your own model), then `artel ask \"…\"`",
            );
        }
    }
    played.map(|_| CliCommandOutcome::Done)
}

/// The fate of the demo folder at the end: kept or removed.
enum DemoRetention {
    Kept,
    Removed,
}

/// Plays the demo. Everything it opened is closed when this returns.
fn play(
    args: &Args,
    demo: &DemoSetup,
    screen: &mut CliOutput,
) -> Result<DemoRetention, WorkshopFailures> {
    let story = DemoWalkthrough {
        args,
        workshop: Arc::new(demo.caller.workshop()?),
        demo,
    };
    story.tell(screen)?;
    let stays = if story.keeps(screen)? {
        DemoRetention::Kept
    } else {
        DemoRetention::Removed
    };
    story.places(screen)?;
    if let DemoRetention::Kept = stays {
        story.farewell(screen)?;
    }
    Ok(stays)
}

struct DemoWalkthrough<'s> {
    args: &'s Args,
    workshop: Arc<Workshop>,
    demo: &'s DemoSetup,
}

impl DemoWalkthrough<'_> {
    fn tell(&self, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
        screen.say(
            "Artel demo: a small project with a bug, a request, and no network. \
             Model: rehearsal (embedded).\n",
        );
        let work = self.ask(screen)?;
        let id = work.trace.to_string();
        self.plan(screen, &work)?;
        let (_, plan) = self
            .workshop
            .plan_of(&self.workshop.work(work.trace)?, None)?;
        show_plan(&plan, screen);
        if !self.approves(&id, screen)? {
            screen.say("Nothing was done.");
            return Ok(());
        }
        self.carry_out(&work, screen)?;
        self.merge(&id, screen)
    }

    fn ask(&self, screen: &mut CliOutput) -> Result<Work, WorkshopFailures> {
        let portal = self.workshop.open_portal(&self.demo.portal)?.done;
        let order = RequestSubmission {
            words: DEMO_REQUEST.to_owned(),
            model: Some(self.demo.model.clone()),
            ..RequestSubmission::default()
        };
        let prospect = self.workshop.prospect(&order, Some(portal))?;
        let work = self.workshop.file_request(&prospect)?;
        screen.say(format!(
            "  request  {:<66} trace {}",
            work.request.title,
            work.trace.short()
        ));
        Ok(work)
    }

    fn plan(&self, screen: &mut CliOutput, work: &Work) -> Result<(), WorkshopFailures> {
        let watch = WorkStatusLine {
            workshop: Arc::clone(&self.workshop),
            trace: work.trace,
            answers: FirstUseAnswerMode::Yes,
        };
        let caller = &self.demo.caller;
        screen.say("  reading  the architect looks at the project, and changes nothing");
        let settled = watch.in_a_line(caller, screen, async |company: RunObservers| {
            self.workshop.pursue(work.trace, None, company).await
        })?;
        match settled {
            RequestOutcome::Planned { .. } => Ok(()),
            RequestOutcome::Left(RunSuspendReason::Interrupted) => Err(interrupted().into()),
            other => Err(
                Failure::new(FailureCode::X001, "the rehearsal made no plan")
                    .because(format!("{other:?}"))
                    .into(),
            ),
        }
    }

    fn approves(&self, id: &str, screen: &mut CliOutput) -> Result<bool, WorkshopFailures> {
        if !self.args.yes {
            loop {
                match choose("Approve this plan?", OF_PLANS)? {
                    DemoAnswer::Yes => break,
                    DemoAnswer::No => return Ok(false),
                    DemoAnswer::Look => {
                        let work = self.workshop.work_named(id)?;
                        let (drafted, _) = self.workshop.plan_of(&work, None)?;
                        let file = self.workshop.root().join(&drafted.fact.file);
                        let text = std::fs::read_to_string(&file).unwrap_or_default();
                        screen.say(harmless_lines(&text));
                    }
                    DemoAnswer::Edit => self.edit(id, screen)?,
                }
            }
        }
        self.workshop.approve_plan(id, None, None)?;
        Ok(true)
    }

    /// Opens the person's editor. If they cannot edit the plan or change nothing, it stays
    /// as it is.
    fn edit(&self, id: &str, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
        let work = self.workshop.work_named(id)?;
        match self.workshop.edit_by_hand(&work) {
            Ok(PlanEditOutcome::Unchanged) => screen.say("Nothing changed."),
            Ok(PlanEditOutcome::InReview { .. } | PlanEditOutcome::Adopted { .. }) => {
                let work = self.workshop.work(work.trace)?;
                show_plan(&self.workshop.plan_of(&work, None)?.1, screen);
            }
            Err(problems) => screen.tell(&problems),
        }
        Ok(())
    }

    fn carry_out(&self, work: &Work, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
        let rules = PlanRules {
            at_once: 2,
            failure: OnFailure::Continue,
        };
        let canvas = PlanScreen {
            workshop: Arc::clone(&self.workshop),
            trace: work.trace,
            rules,
            answers: FirstUseAnswerMode::Yes,
        };
        let id = work.trace.to_string();
        screen.say("");
        let caller = &self.demo.caller;
        let carried = canvas.draw(caller, screen, async |company: RunObservers| {
            self.workshop.carry_out(&id, rules, None, company).await
        })?;
        match carried.left {
            None => Ok(()),
            Some(RunSuspendReason::Interrupted) => Err(interrupted().into()),
            Some(left) => Err(
                Failure::new(FailureCode::R008, "the demo was left before its end")
                    .because(match left {
                        RunSuspendReason::Interrupted => "it was stopped".to_owned(),
                        RunSuspendReason::Question(asked) => asked.text,
                        RunSuspendReason::Model(failure) => failure.to_string(),
                    })
                    .advise("`artel demo` begins anew")
                    .into(),
            ),
        }
    }

    fn merge(&self, id: &str, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
        let shown = self.workshop.changeset(id)?;
        screen.say(format!(
            "\n  changeset  {}   {}, {}, +{} −{}",
            shown.row.branch.as_deref().unwrap_or("-"),
            counted(shown.row.commits, "commit"),
            counted(shown.row.files, "file"),
            shown.row.added,
            shown.row.removed
        ));
        screen.say(format!("  proofs     {}", shown.proof));
        if !self.args.yes {
            loop {
                match choose("Merge it?", OF_CHANGES)? {
                    DemoAnswer::Yes => break,
                    DemoAnswer::Look => {
                        screen.say(harmless_lines(&self.workshop.changeset_diff(id)?));
                    }
                    DemoAnswer::No | DemoAnswer::Edit => {
                        screen.say("Not merged; its branch stays.");
                        return Ok(());
                    }
                }
            }
        }
        let done = self
            .workshop
            .approve_changeset(id, ChangesetMergeOptions::default())?;
        let commit = done.done.commit.unwrap_or_default();
        let short: String = commit.chars().take(8).collect();
        screen.say(format!(
            "Merged into {} as {short}.",
            done.done.into.unwrap_or_default()
        ));
        Ok(())
    }

    fn keeps(&self, screen: &mut CliOutput) -> Result<bool, WorkshopFailures> {
        if self.args.keep {
            return Ok(true);
        }
        if self.args.yes || screen.json {
            return Ok(false);
        }
        let text = format!("Keep this demo in {}? [Y/n] ▸ ", self.demo.folder.display());
        let answer = prompt::alone(|gone| {
            prompt::choose(&text, "yes, no", gone, |answer| {
                match answer.to_ascii_lowercase().as_str() {
                    "" | "y" | "yes" => Some(true),
                    "n" | "no" => Some(false),
                    _ => None,
                }
            })
        })?;
        Ok(answer == Some(true))
    }

    /// Shows where everything is.
    fn places(&self, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
        let folder = self.demo.folder.display();
        let project = self.demo.portal.path.display();
        screen.say(format!("\n  project  {project}"));
        if let Some(work) = self.workshop.works()?.first() {
            screen.say(format!(
                "  plan     {folder}/{}",
                self.workshop.plan_path(work)
            ));
            if let Ok(report) = self.workshop.report(&work.trace.short()) {
                screen.say(format!("  report   {folder}/{}", report.row.path));
            }
        }
        screen.say(format!("  journal  {folder}/.artel/journal.db"));
        Ok(())
    }

    fn farewell(&self, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
        let works = self.workshop.works()?;
        let folder = self.demo.folder.display();
        if let Some(work) = works.first() {
            let short = work.trace.short();
            let next = match work.changeset {
                Some(_) => format!("`artel --workshop {folder} changeset show {short} --diff`"),
                None => format!("`artel --workshop {folder} plan show {short}`"),
            };
            screen.say(format!(
                "Next: `artel --workshop {folder} trace {short}` (everything that happened) · \
                 {next} · `artel auth set anthropic` (your own model)"
            ));
        }
        Ok(())
    }
}

/// Repeats the question until the answer is valid. The end of the input counts as a no.
fn choose(question: &str, choices: Choices<'_>) -> Result<DemoAnswer, WorkshopFailures> {
    let words = choices.iter().map(|(_, [letter, word])| {
        let rest = word.strip_prefix(letter).unwrap_or_default();
        format!("[{letter}]{rest}")
    });
    let text = format!("{question} {} ▸ ", words.collect::<Vec<_>>().join("  "));
    let known: Vec<_> = choices.iter().map(|(_, [_, word])| *word).collect();
    let known = known.join(", ");
    let chosen =
        prompt::alone(|gone| prompt::choose(&text, &known, gone, |answer| meant(choices, answer)))?;
    Ok(chosen.unwrap_or(DemoAnswer::No))
}

fn meant(choices: Choices<'_>, answer: &str) -> Option<DemoAnswer> {
    let answer = answer.to_ascii_lowercase();
    let is_meant = |(_, words): &&(DemoAnswer, [&str; 2])| words.contains(&answer.as_str());
    choices.iter().find(is_meant).map(|(choice, _)| *choice)
}

fn show_plan(plan: &Plan, screen: &mut CliOutput) {
    let tokens: u64 = plan.steps.iter().filter_map(|step| step.tokens).sum();
    screen.say(format!(
        "  plan     {}, est. {}k tokens, touches {}\n",
        counted(plan.steps.len() as u64, "step"),
        tokens / 1000,
        harmless(&touched(plan).join(", "))
    ));
    for (index, step) in plan.steps.iter().enumerate() {
        let after: Vec<_> = step.after.iter().filter_map(|id| plan.number(id)).collect();
        let after: Vec<_> = after.iter().map(ToString::to_string).collect();
        let after = if after.is_empty() {
            String::new()
        } else {
            format!("after {}", after.join(", "))
        };
        screen.say(format!(
            "    {:<2} {:<42} {:<10} {:<26} {after:<9} {}",
            index + 1,
            harmless(&step.title),
            step.role,
            harmless(&step.scope.paths.join(", ")),
            step.verify
        ));
    }
    screen.say("");
}

/// Returns the folders that a plan changes, and the files that are not in a folder.
fn touched(plan: &Plan) -> Vec<String> {
    let places = plan
        .files
        .iter()
        .map(|file| match file.path.split_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => file.path.clone(),
        });
    let places: BTreeSet<String> = places.collect();
    places.into_iter().collect()
}
