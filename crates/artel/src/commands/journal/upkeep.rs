//! Commands that check, copy, restore and prune the journal.

use std::path::{Path, PathBuf};

use artel_journal::{RestoreCandidate, RestoreSource};
use artel_types::{Failure, FailureCode, FailureKind};
use artel_workshop::{CommandContext, OutcomeWithNotes, RestorePreview, WorkshopFailures};

use super::filter::moment;
use crate::CliCommandOutcome;
use crate::render::{counted, harmless};
use crate::screen::{CliOutput, StatusColour};

/// Prove that nothing was changed, or name the first event that was
///
/// Checks every event against the chain, every signature, every archive, the file itself,
/// and the head that was signed on this machine. Exit code 1 if something is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal verify --json")]
pub(super) struct JournalVerifyArgs {}

/// Back up the journal
///
/// A backup is also made automatically every 24 hours; the newest 10 are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal backup")]
pub(super) struct JournalBackupArgs {}

/// Continue from the longest intact part of a damaged journal or from a backup
///
/// Whichever holds more events is offered. The damaged file is kept, and the restore is
/// recorded in the journal and in your data folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal restore .artel/backups/journal_20261115_083000.db")]
pub(super) struct JournalRestoreArgs {
    /// A backup; the newest intact one if not given
    file: Option<PathBuf>,
    /// Choose the source, instead of taking the one with more events
    #[arg(long, value_enum)]
    take: Option<JournalRestoreSource>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum JournalRestoreSource {
    Prefix,
    Backup,
}

/// Move streams that ended long ago to a signed archive
///
/// `trace`, queries and `verify` still read them there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal prune --before 90d")]
pub(super) struct JournalPruneArgs {
    /// Move streams that ended before this: 90d, 2026-08-01
    #[arg(long, value_name = "TIME")]
    before: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub(super) fn verify(
    _args: &JournalVerifyArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let verified = caller.workshop()?.verify()?;
    if screen.json {
        screen.value(&verified)?;
    } else if let Some(bad) = &verified.first_bad {
        let word = screen.paint("damaged", StatusColour::Bad);
        let what = harmless(&bad.what);
        screen.line(format!("{word} at event {}: {what}", bad.seq))?;
        screen.line(format!(
            "{} before it fit",
            counted(verified.events.min(bad.seq.saturating_sub(1)), "event")
        ))?;
        screen.line(if verified.bad_value.is_some() {
            "Next: put the value back from a copy of `.artel/blobs`; the events themselves are intact"
        } else if verified.has_unknown_signer() {
            "Next: `artel workshop trust` accepts the keys that signed it, if the workshop is yours"
        } else {
            "Next: `artel journal restore` goes on from the longest intact part or a backup"
        })?;
    } else {
        let word = screen.paint("ok", StatusColour::Good);
        let (events, signatures) = (verified.events, verified.signatures);
        screen.line(format!(
            "{word}: {}, chain and stored values whole, {}",
            counted(events, "event"),
            counted(signatures, "signature")
        ))?;
    }
    Ok(if verified.ok {
        CliCommandOutcome::Done
    } else {
        CliCommandOutcome::Bad(FailureKind::Failed)
    })
}

pub(super) fn backup(
    _args: &JournalBackupArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let OutcomeWithNotes {
        done: backup,
        notes,
    } = caller.workshop()?.back_up()?;
    screen.notes(&notes);
    if screen.json {
        let (file, events) = (backup.file.display().to_string(), backup.events);
        screen.value(&serde_json::json!({ "file": file, "events": events }))?;
    } else {
        screen.line(format!(
            "copied {} to {}",
            counted(backup.events, "event"),
            shown(&backup.file)
        ))?;
    }
    if let Some(damage) = &backup.damage {
        let note = format!("the journal is damaged ({damage}); older backups are all kept");
        screen.notes(&[note]);
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn restore(
    args: &JournalRestoreArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let plan = workshop.plan_restore(args.file.as_deref())?;
    let Some(chosen) = choose(&plan, args.take)? else {
        if screen.json {
            screen.value(&serde_json::json!({ "restored": null, "intact": true }))?;
        } else {
            screen.line("the journal is intact; nothing to restore")?;
            if args.file.is_some() {
                screen.say("`--take backup` puts the named file in its place all the same");
            }
        }
        return Ok(CliCommandOutcome::Done);
    };
    if !screen.json {
        for candidate in &plan.candidates {
            let mark = if candidate == chosen { "→" } else { " " };
            screen.line(format!("{mark} {}", described(candidate)))?;
        }
    }
    let question = format!("go on from {}", named(&chosen.source));
    if !screen.confirm(&question, args.yes.into())? {
        screen.say("nothing was changed");
        return Ok(CliCommandOutcome::Done);
    }
    let restored = workshop.restore(chosen)?;
    if screen.json {
        screen.value(&serde_json::json!({ "restored": restored, "intact": false }))?;
    } else {
        let (events, lost) = (restored.events, restored.lost);
        screen.line(format!(
            "restored {}, gave up {lost}",
            counted(events, "event")
        ))?;
        // If the journal was missing, there is no damaged file to keep.
        if restored.set_aside.exists() {
            screen.line(format!(
                "the old file is kept at {}",
                shown(&restored.set_aside)
            ))?;
        }
    }
    Ok(CliCommandOutcome::Done)
}

/// Returns the candidate to restore from, or `None` if the journal is intact and none was
/// requested.
fn choose(
    plan: &RestorePreview,
    take: Option<JournalRestoreSource>,
) -> Result<Option<&RestoreCandidate>, Failure> {
    let Some(take) = take else {
        let best = plan.candidates.first();
        return Ok(best.filter(|_| !plan.is_intact));
    };
    let fits = |candidate: &&RestoreCandidate| match (&candidate.source, take) {
        (RestoreSource::Prefix, JournalRestoreSource::Prefix)
        | (RestoreSource::Backup(_), JournalRestoreSource::Backup) => true,
        (RestoreSource::Prefix, JournalRestoreSource::Backup)
        | (RestoreSource::Backup(_), JournalRestoreSource::Prefix) => false,
    };
    let found = plan.candidates.iter().find(fits).ok_or_else(|| {
        let what = match take {
            JournalRestoreSource::Prefix => "the journal has no intact part",
            JournalRestoreSource::Backup => "there is no intact backup",
        };
        Failure::new(FailureCode::J012, what).advise("`artel journal restore` offers what there is")
    })?;
    // Taking the intact journal in its own place is not a restore.
    Ok(Some(found).filter(|_| !(plan.is_intact && take == JournalRestoreSource::Prefix)))
}

fn named(source: &RestoreSource) -> String {
    match source {
        RestoreSource::Prefix => "the intact part of the journal".to_owned(),
        RestoreSource::Backup(file) => format!("the backup {}", shown(file)),
    }
}

fn shown(path: &Path) -> String {
    harmless(&path.display().to_string())
}

fn described(candidate: &RestoreCandidate) -> String {
    let damage = candidate.damage.as_ref().map_or(String::new(), |damage| {
        format!(" (damaged at {})", harmless(damage))
    });
    format!(
        "{:>8}  {}{damage}",
        counted(candidate.events, "event"),
        named(&candidate.source)
    )
}

pub(super) fn prune(
    args: &JournalPruneArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let before = moment("--before", Some(&args.before), caller.clock())?;
    let Some(before) = before else {
        return Ok(CliCommandOutcome::Done);
    };
    let plan = workshop.plan_prune(before)?;
    if plan.streams == 0 {
        if screen.json {
            screen.value(&serde_json::json!({ "pruned": null, "plan": plan }))?;
        } else {
            screen.line(format!("no stream ended before {before}; nothing to prune"))?;
        }
        return Ok(CliCommandOutcome::Done);
    }
    let question = format!(
        "move {} of {} that ended before {before} to an archive",
        counted(plan.events, "event"),
        counted(plan.streams, "stream")
    );
    if !screen.confirm(&question, args.yes.into())? {
        screen.say("nothing was changed");
        return Ok(CliCommandOutcome::Done);
    }
    let OutcomeWithNotes {
        done: pruned,
        notes,
    } = workshop.prune(before)?;
    screen.notes(&notes);
    if screen.json {
        screen.value(&serde_json::json!({ "pruned": pruned, "plan": plan }))?;
    } else if let Some(pruned) = pruned {
        screen.line(format!(
            "moved {} to {}",
            counted(pruned.events, "event"),
            shown(&pruned.archive)
        ))?;
    }
    Ok(CliCommandOutcome::Done)
}
