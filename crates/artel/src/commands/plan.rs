//! `artel plan`

mod decide;
mod look;
mod steps;

use std::path::PathBuf;

use artel_types::plan::PlanState;
use artel_workshop::{CommandContext, OnFailure, PlanRules, SteeringCommand, WorkshopFailures};

pub(super) use look::expected;

use super::ask::one_of;
use super::planned::usual_rules;
use crate::CliCommandOutcome;
use crate::screen::CliOutput;

/// Read, change and decide about plans
///
/// No part of a plan is carried out before you approve it, and only what you approved is
/// carried out: an approval applies to one version, by its hash.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel plan list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List plans, newest first
    #[command(after_help = "Example: artel plan list --status review")]
    List {
        /// Only plans with this status
        #[arg(long, value_name = "STATUS", value_parser = state)]
        status: Option<PlanState>,
    },
    /// Show a plan: its steps, what they may do, what they are expected to cost
    #[command(after_help = "Example: artel plan show 5d2f41c0\n\
        Example: artel plan show 5d2f41c0 --version 1 --markdown")]
    Show {
        /// The plan's trace, or a prefix of it
        id: String,
        /// Another version than the newest one
        #[arg(long, value_name = "N")]
        version: Option<u32>,
        /// Print the Markdown of its file
        #[arg(long)]
        markdown: bool,
    },
    /// Approve a plan, and carry it out
    ///
    /// Its changes go to a branch of their own, about which you decide at the end. The plan
    /// is carried out here, and Ctrl-C pauses it. If the daemon is running, the plan is
    /// handed over to it and this command follows it: Ctrl-C leaves, and the plan
    /// continues. With options for how to carry it out, it runs here.
    #[command(after_help = "Example: artel plan approve 5d2f41c0\n\
        Example: artel plan approve 5d2f41c0 --at-once 2 --fail-fast")]
    Approve(PlanApproveArgs),
    /// Say what should be different; the architect writes the next version
    #[command(after_help = "Example: artel plan revise 5d2f41c0 --comment \"no new dependency\"")]
    Revise {
        /// The plan's trace, or a prefix of it
        id: String,
        /// What should be different; can be given several times
        #[arg(long = "comment", value_name = "TEXT", required = true)]
        comments: Vec<String>,
        /// The model: an alias, or provider:model
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
    },
    /// Change a plan yourself, in your editor
    ///
    /// A plan in review stays in review. While a plan is being carried out, your text
    /// counts as approval of what it says, and the run continues with it; steps that have
    /// begun stay as they are. A text that cannot be used is kept, and opened again the
    /// next time.
    #[command(after_help = "Example: artel plan edit 5d2f41c0")]
    Edit {
        /// The plan's trace, or a prefix of it
        id: String,
        /// Read the text from this file instead of opening an editor
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Reject a plan
    #[command(after_help = "Example: artel plan reject 5d2f41c0 --reason \"we drop the feature\"")]
    Reject {
        /// The plan's trace, or a prefix of it
        id: String,
        /// The reason, which stays on record
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Cancel a plan, even while it is being carried out, or end one of its steps
    #[command(
        after_help = "Example: artel plan cancel 5d2f41c0 --reason \"not now\"\n\
        Example: artel plan cancel 5d2f41c0 3"
    )]
    Cancel {
        /// The plan's trace, or a prefix of it
        id: String,
        /// One step, by its number or name, with the steps that need it; the whole plan if
        /// not given
        step: Option<String>,
        /// The reason
        #[arg(long, value_name = "TEXT", default_value = "")]
        reason: String,
    },
    /// Pause a step until it is resumed; the other steps continue
    #[command(after_help = "Example: artel plan pause 5d2f41c0 3")]
    Pause {
        /// The plan's trace, or a prefix of it
        id: String,
        /// The step, by its number or name
        step: String,
    },
    /// Resume a step that was paused
    #[command(after_help = "Example: artel plan resume 5d2f41c0 3")]
    Resume {
        /// The plan's trace, or a prefix of it
        id: String,
        /// The step, by its number or name
        step: String,
    },
    /// Show how versions differ: the newest from the one before it or the one in progress
    #[command(after_help = "Example: artel plan diff 5d2f41c0\n\
        Example: artel plan diff 5d2f41c0 1 3")]
    Diff {
        /// The plan's trace, or a prefix of it
        id: String,
        /// The older version
        #[arg(requires = "to")]
        from: Option<u32>,
        /// The newer version
        to: Option<u32>,
    },
    /// Retry failed steps, starting from those that passed
    #[command(after_help = "Example: artel plan retry 5d2f41c0\n\
        Example: artel plan retry 5d2f41c0 3")]
    Retry {
        /// The plan's trace, or a prefix of it
        id: String,
        /// One step, by its number; all failed steps if not given
        step: Option<String>,
        #[command(flatten)]
        how: PlanRunArgs,
    },
    /// Skip a step, and with it the steps that need it
    #[command(after_help = "Example: artel plan skip 5d2f41c0 3")]
    Skip {
        /// The plan's trace, or a prefix of it
        id: String,
        /// The step, by its number
        step: String,
        /// The reason
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let a step pass although a check, or one finding, does not
    ///
    /// The changeset and the report mention the waiver from then on.
    #[command(
        after_help = "Example: artel plan waive 5d2f41c0 2 inspector --reason \"style only\"\n\
        Example: artel plan waive 5d2f41c0 2 f3 --reason \"known, tracked elsewhere\""
    )]
    Waive {
        /// The plan's trace, or a prefix of it
        id: String,
        /// The step, by its number
        step: String,
        /// inspector, tester, evaluator, or a finding
        what: String,
        /// The reason, which stays on record
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
struct PlanApproveArgs {
    /// The plan's trace, or a prefix of it
    id: String,
    /// The hash of the version you saw, or a prefix of it; any other version is refused
    #[arg(long, value_name = "HASH")]
    hash: Option<String>,
    #[command(flatten)]
    how: PlanRunArgs,
}

/// Options for how a plan is carried out.
#[derive(Debug, Clone, clap::Args)]
struct PlanRunArgs {
    /// How many steps may run at once; the number of processors if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    at_once: Option<u16>,
    /// Start nothing new after a step fails
    #[arg(long)]
    fail_fast: bool,
    /// Leave it to a background process, which ends with the run
    #[arg(long)]
    detach: bool,
    /// The model: an alias, or provider:model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Answer first-use questions with yes, for scripts
    #[arg(long)]
    yes: bool,
}

impl PlanRunArgs {
    /// Returns the flags that say the same for `artel resume`.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.at_once.map(|count| format!("--at-once={count}")));
        words.extend(self.fail_fast.then(|| "--fail-fast".to_owned()));
        words.extend(self.model.as_ref().map(|model| format!("--model={model}")));
        words
    }

    /// Returns whether no option was given that applies only to this command.
    fn is_usual(&self) -> bool {
        self.words().is_empty() && !self.detach && !self.yes
    }

    fn rules(&self) -> PlanRules {
        let usual = usual_rules();
        PlanRules {
            at_once: self.at_once.map_or(usual.at_once, usize::from),
            failure: if self.fail_fast {
                OnFailure::Fast
            } else {
                OnFailure::Continue
            },
        }
    }
}

fn state(word: &str) -> Result<PlanState, String> {
    word.parse()
        .map_err(|()| one_of(PlanState::ALL, PlanState::as_str))
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::List { status } => look::list(*status, caller, screen),
        Command::Show {
            id,
            version,
            markdown,
        } => {
            if *markdown {
                look::markdown(id, *version, caller, screen)
            } else {
                look::show(id, *version, caller, screen)
            }
        }
        Command::Approve(args) => {
            decide::approve(&args.id, args.hash.as_deref(), &args.how, caller, screen)
        }
        Command::Revise {
            id,
            comments,
            model,
        } => decide::revise(id, comments, model.as_deref(), caller, screen),
        Command::Edit { id, file } => decide::edit(id, file.as_deref(), caller, screen),
        Command::Reject { id, reason } => {
            decide::reject(id, reason.as_deref().unwrap_or_default(), caller, screen)
        }
        Command::Cancel {
            id,
            step: Some(step),
            reason,
        } => steps::steer((id, step), &SteeringCommand::Cancel, reason, caller, screen),
        Command::Cancel { id, reason, .. } => decide::cancel(id, reason, caller, screen),
        Command::Pause { id, step } => {
            steps::steer((id, step), &SteeringCommand::Pause, "", caller, screen)
        }
        Command::Resume { id, step } => {
            steps::steer((id, step), &SteeringCommand::Resume, "", caller, screen)
        }
        Command::Diff { id, from, to } => look::diff(id, from.zip(*to), caller, screen),
        Command::Retry { id, step, how } => steps::retry(id, step.as_deref(), how, caller, screen),
        Command::Skip { id, step, reason } => {
            steps::skip(id, step, reason.as_deref(), caller, screen)
        }
        Command::Waive {
            id,
            step,
            what,
            reason,
        } => {
            let reason = reason.as_deref().unwrap_or_default();
            steps::waive(id, (step, what, reason), caller, screen)
        }
    }
}
