//! `artel doctor`

use artel_config::MachineProfile;
use artel_types::FailureKind;
use artel_workshop::{CommandContext, DoctorCheck, DoctorCheckStatus, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::{CliOutput, StatusColour};

/// Check that everything Artel depends on is in place
///
/// Each line is ok, a warning or a problem, with what to do about it. Exit code 1 if there
/// is a problem, 2 if it is in the settings, 3 if the workshop is not safe to use, 4 if
/// there is none.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel doctor --json\nExample: artel doctor --profile production")]
pub(crate) struct Args {
    /// Check against the list for a profile instead: local, ci or production
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    profile: Option<MachineProfile>,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let checks = match args.profile {
        None => caller.doctor(),
        Some(profile) => caller.doctor_profile(profile),
    };
    let worst = checks
        .iter()
        .map(|check| check.health)
        .max()
        .unwrap_or(DoctorCheckStatus::Ok);
    if screen.json {
        screen.value(
            &serde_json::json!({ "ok": worst != DoctorCheckStatus::Problem, "checks": checks }),
        )?;
    } else {
        for check in &checks {
            show(check, screen)?;
        }
    }
    let mut problems = checks
        .iter()
        .filter(|check| check.health == DoctorCheckStatus::Problem)
        .map(|check| check.kind)
        .peekable();
    if problems.peek().is_none() {
        return Ok(CliCommandOutcome::Done);
    }
    // A problem that keeps every other command from starting is more telling than the
    // general failure code.
    let special = problems.find(|kind| *kind != FailureKind::Failed);
    Ok(CliCommandOutcome::Bad(
        special.unwrap_or(FailureKind::Failed),
    ))
}

fn profile(word: &str) -> Result<MachineProfile, String> {
    let unknown = |()| format!("`{word}` is none of local, ci, production");
    word.parse().map_err(unknown)
}

fn show(check: &DoctorCheck, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let (word, paint) = match check.health {
        DoctorCheckStatus::Ok => ("ok", StatusColour::Good),
        DoctorCheckStatus::Warning => ("warning", StatusColour::Doubtful),
        DoctorCheckStatus::Problem => ("problem", StatusColour::Bad),
    };
    let word = screen.paint(&format!("{word:<8}"), paint);
    let found = harmless(&check.found);
    let remedy = check
        .remedy
        .as_ref()
        .map_or(String::new(), |remedy| format!("  → {}", harmless(remedy)));
    screen.line(format!("{word} {:<9} {found}{remedy}", check.area))
}
