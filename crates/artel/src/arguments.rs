//! The command line as a whole. Each command defines its own part in its file.

use std::path::PathBuf;

use artel_workshop::GlobalFlags;
use clap::{Parser, Subcommand};

use crate::commands::{
    agent, answer, apply, ask, auth, changeset, clean, config, daemon, demo, doctor, explain,
    feedback, fork, hook, inbox, init, journal, model, open, plan, policy, portal, replay, report,
    request, resume, run, runs, sandbox, serve, skill, steer, token, tool, trace, usage, waiting,
    workshop,
};
use crate::screen::OutputAudience;

/// Exit codes, listed once for all commands; `docs/errors.md` is made from the same source.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 refused by \
    policy or waiting for a yes, 4 not found, 70 our bug, 130 interrupted.\n\n\
    Example: artel init ~/Artel && artel doctor";

/// A local-first workshop for AI agents.
///
/// You ask; it plans; you approve; skilled agents do the work in a sandbox; other agents verify
/// every step; you merge a git changeset whose whole history can be replayed.
#[derive(Debug, Parser)]
#[command(name = "artel", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct ArtelArgs {
    /// The workshop to use, instead of the one this folder is in or ~/Artel
    #[arg(long, global = true, value_name = "DIR")]
    workshop: Option<PathBuf>,
    /// Print JSON for programs
    #[arg(long, global = true)]
    json: bool,
    /// Change a setting for this command, such as journal.durability=normal
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::Args),
    Ask(ask::Args),
    Request(request::Args),
    Plan(plan::Args),
    Waiting(waiting::Args),
    Answer(answer::Args),
    Inbox(inbox::Args),
    Run(Box<run::Args>),
    Runs(runs::Args),
    Pause(steer::PauseRunArgs),
    Resume(resume::Args),
    Cancel(steer::CancelRunArgs),
    Hint(steer::HintRunArgs),
    Apply(apply::Args),
    Replay(replay::Args),
    Fork(fork::Args),
    Demo(demo::Args),
    Serve(serve::Args),
    Daemon(daemon::Args),
    Open(open::Args),
    Token(token::Args),
    Changeset(Box<changeset::Args>),
    Report(report::Args),
    Doctor(doctor::Args),
    Auth(auth::Args),
    Model(model::Args),
    Policy(policy::Args),
    Sandbox(sandbox::Args),
    Skill(skill::Args),
    Portal(portal::Args),
    Agent(Box<agent::Args>),
    Hook(hook::Args),
    Feedback(feedback::Args),
    Tool(tool::Args),
    Usage(usage::Args),
    Trace(trace::Args),
    Journal(Box<journal::Args>),
    Config(config::Args),
    Workshop(workshop::Args),
    Clean(clean::Args),
    Explain(explain::Args),
}

impl ArtelArgs {
    pub(crate) fn readers(&self) -> OutputAudience {
        if self.json {
            OutputAudience::Programs
        } else {
            OutputAudience::People
        }
    }

    pub(crate) fn flags(&self) -> GlobalFlags {
        GlobalFlags {
            workshop: self.workshop.clone(),
            set: self.set.clone(),
        }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod over_http;
