//! `artel daemon`

mod logs;
mod unit;

use std::time::Duration;

use artel_server::{ListenAddress, ListenReach};
use artel_types::{Failure, FailureCode};
use artel_workshop::{
    CommandContext, DaemonStopOutcome, OutcomeWithNotes, RunningDaemon, Workshop, WorkshopFailures,
};
use serde_json::json;

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::runtime;
use crate::screen::CliOutput;

/// Run the daemon in the background: scheduler, inbox, console and API
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel daemon start && artel open")]
pub(crate) struct Args {
    #[command(subcommand)]
    act: DaemonCommand,
}

#[derive(Debug, clap::Subcommand)]
enum DaemonCommand {
    /// Start the daemon
    #[command(after_help = "Example: artel daemon start --listen 127.0.0.1:7717")]
    Start(DaemonStartArgs),
    /// Stop the daemon; work in progress pauses and is resumed at the next start
    #[command(after_help = "Example: artel daemon stop")]
    Stop,
    /// Stop and start the daemon, with the listen address that was given at its start, if
    /// any
    #[command(after_help = "Example: artel daemon restart")]
    Restart(DaemonStartArgs),
    /// Show whether it is running, where it listens, and whether it is paused
    #[command(after_help = "Example: artel daemon status --json")]
    Status,
    /// Show its log
    #[command(after_help = "Example: artel daemon logs --follow")]
    Logs(logs::Args),
    /// Pause the daemon: it starts nothing new, and work in progress continues
    #[command(after_help = "Example: artel daemon pause --reason \"release day\"")]
    Pause {
        /// The reason, shown to anyone who asks
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let the daemon start new work again
    #[command(after_help = "Example: artel daemon resume")]
    Resume,
    /// Reload settings, roles, skills and policy
    #[command(after_help = "Example: artel daemon reload")]
    Reload,
    /// Have systemd start the daemon with your session
    #[command(after_help = "Example: artel daemon install --user")]
    Install(unit::Args),
}

#[derive(Debug, Clone, clap::Args)]
struct DaemonStartArgs {
    /// The address to listen on, instead of `server.listen`
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Also listen where others can reach it; put a proxy with TLS in front of it
    #[arg(long)]
    public: bool,
}

/// Time limit for a daemon to start, and to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// Interval between checks whether it has.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = match &args.act {
        DaemonCommand::Start(_) => {
            let OutcomeWithNotes { done, notes } = caller.workshop_or_new()?;
            screen.notes(&notes);
            done
        }
        _ => caller.workshop()?,
    };
    match &args.act {
        DaemonCommand::Start(how) => start(how, &workshop, screen),
        DaemonCommand::Stop => {
            let text = stop(&workshop, &running(&workshop)?)?;
            tell(screen, &text)
        }
        DaemonCommand::Restart(how) => {
            let Some(runs) = workshop.daemon_status()?.running else {
                return start(how, &workshop, screen);
            };
            screen.say(stop(&workshop, &runs)?);
            start(&again(how, &runs), &workshop, screen)
        }
        DaemonCommand::Status => status(&workshop, screen),
        DaemonCommand::Logs(how) => logs::run(how, &workshop, screen),
        DaemonCommand::Pause { reason } => {
            let OutcomeWithNotes { done, notes } = workshop.pause_daemon(reason.as_deref())?;
            screen.notes(&notes);
            let text = if done {
                "held: nothing new is begun until `artel daemon resume`"
            } else {
                "it is held already"
            };
            tell(screen, text)
        }
        DaemonCommand::Resume => {
            let OutcomeWithNotes { done, notes } = workshop.resume_daemon()?;
            screen.notes(&notes);
            let text = if done {
                "new work is begun again"
            } else {
                "it is not held"
            };
            tell(screen, text)
        }
        DaemonCommand::Reload => {
            workshop.signal_reload(&running(&workshop)?)?;
            tell(screen, "told; `artel daemon logs` shows what came of it")
        }
        DaemonCommand::Install(how) => unit::run(how, &workshop, screen),
    }
}

/// Returns the options for restarting a daemon: the address that a person had given it,
/// unless they name another one now. If the daemon was reachable from elsewhere, the person
/// has already agreed to that.
fn again(how: &DaemonStartArgs, runs: &RunningDaemon) -> DaemonStartArgs {
    if how.listen.is_some() {
        return how.clone();
    }
    DaemonStartArgs {
        listen: runs.is_named.then(|| runs.listen.clone()),
        public: how.public || ListenAddress::reach_of(&runs.listen) == ListenReach::Public,
    }
}

fn start(
    how: &DaemonStartArgs,
    workshop: &Workshop,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    runtime::block_on(workshop.outwait_dying_daemon())??;
    if let Some(runs) = workshop.daemon_status()?.running {
        return Err(
            Failure::new(FailureCode::H002, "the daemon is already running")
                .because(format!("process {} listens on {}", runs.pid, runs.listen))
                .advise("`artel open` opens its console; `artel daemon restart` starts it anew")
                .into(),
        );
    }
    let mut words = Vec::new();
    if let Some(listen) = &how.listen {
        words.extend(["--listen".to_owned(), listen.clone()]);
    }
    words.extend(how.public.then(|| "--public".to_owned()));
    let before = workshop.daemon_said_last().position;
    let pid = workshop.leave_daemon_to_background(&words)?;
    let mut waited = Duration::ZERO;
    while waited < PATIENCE {
        runtime::block_on(async { tokio::time::sleep(LOOK).await })?;
        waited += LOOK;
        if let Some(runs) = workshop.daemon_status()?.running {
            return up(&runs, screen);
        }
        if !std::path::Path::new(&format!("/proc/{pid}/exe")).exists() {
            break;
        }
    }
    let said = workshop.daemon_said(before).text;
    Err(
        Failure::new(FailureCode::H006, "the daemon did not come up")
            .because(said)
            .advise("`artel serve` runs it in this terminal")
            .into(),
    )
}

fn up(runs: &RunningDaemon, screen: &mut CliOutput) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(runs)?;
    } else {
        screen.line(format!(
            "the daemon (process {}) listens on http://{}",
            runs.pid, runs.listen
        ))?;
        screen.say("`artel open` prints a link to its console");
    }
    Ok(CliCommandOutcome::Done)
}

/// Stops the daemon, and returns a line that says how it ended.
fn stop(workshop: &Workshop, runs: &RunningDaemon) -> Result<String, WorkshopFailures> {
    let ended = runtime::block_on(workshop.stop_daemon(runs, PATIENCE))??;
    let pid = runs.pid;
    Ok(match ended {
        DaemonStopOutcome::AtRest => format!("the daemon (process {pid}) ended"),
        DaemonStopOutcome::Killed(after) => format!(
            "the daemon (process {pid}) did not listen for {} s and was killed; what was under way \
             is taken up at the next start",
            after.as_secs()
        ),
    })
}

fn status(
    workshop: &Workshop,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let status = workshop.daemon_status()?;
    let lacks = workshop.lack().map(|lack| lack.to_string());
    if screen.json {
        let mut value = json!(status);
        value["lacks"] = json!(lacks);
        screen.value(&value)?;
        return Ok(CliCommandOutcome::Done);
    }
    match &status.running {
        Some(runs) => screen.line(format!(
            "running: process {}, version {}, http://{}, since {}",
            runs.pid,
            harmless(&runs.version),
            harmless(&runs.listen),
            runs.since
        ))?,
        None => screen.line("not running; `artel daemon start` starts it")?,
    }
    if status.paused {
        screen.line("held: nothing new is begun until `artel daemon resume`")?;
    }
    for problem in &status.refused {
        screen.line(format!(
            "the settings were changed and are not in force: {}",
            harmless(&in_a_line(problem))
        ))?;
    }
    for fault in &status.faltered {
        let fault = harmless(&in_a_line(fault));
        screen.line(format!("{fault}; it is tried again"))?;
    }
    if let Some(lacks) = lacks {
        screen.line(format!(
            "{}; everything waits, and goes on once there is",
            harmless(&lacks)
        ))?;
    }
    Ok(CliCommandOutcome::Done)
}

/// Joins the lines of a text into one.
fn in_a_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join("; ")
}

fn running(workshop: &Workshop) -> Result<RunningDaemon, Failure> {
    workshop.daemon_status()?.running.ok_or_else(|| {
        Failure::new(FailureCode::H003, "the daemon is not running")
            .advise("`artel daemon start` starts it")
    })
}

fn tell(screen: &mut CliOutput, text: &str) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&json!({ "done": text }))?;
    } else {
        screen.line(text)?;
    }
    Ok(CliCommandOutcome::Done)
}
