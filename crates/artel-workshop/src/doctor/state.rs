//! Checks of the workshop: location, settings, journal, backups, disk space.

use std::time::Duration;

use artel_config::DurabilityChoice;
use artel_skills::SkillOrigin;
use artel_types::{Timestamp, counted};

use super::{DoctorCheck, upgrade};
use crate::caller::CommandContext;
use crate::find::WorkshopDiscovery;
use crate::private::LoosePermissionPaths;
use crate::strangers;
use crate::trouble::shell_word;
use crate::upgrade::files_or_folders;
use crate::workshop::Workshop;

pub(super) fn checks(caller: &CommandContext) -> Vec<DoctorCheck> {
    let workshop = match caller.workshop() {
        Ok(workshop) => workshop,
        Err(problems) => {
            let area = |code: String| {
                if code.starts_with('S') {
                    "settings"
                } else {
                    "workshop"
                }
            };
            return problems
                .0
                .iter()
                .map(|failure| DoctorCheck::of_failure(area(failure.code.to_string()), failure))
                .collect();
        }
    };
    let mut checks = vec![place(&workshop), settings(&workshop), journal(&workshop)];
    checks.extend(upgrade::checks(&workshop));
    checks.extend(own_files(&workshop));
    checks.push(backups(&workshop, caller.clock().now()));
    checks.push(disk(&workshop));
    checks
}

fn place(workshop: &Workshop) -> DoctorCheck {
    let how = match workshop.found() {
        WorkshopDiscovery::Flag => "named by --workshop",
        WorkshopDiscovery::Variable => "named by ARTEL_WORKSHOP",
        WorkshopDiscovery::Argument => "named on the command line",
        WorkshopDiscovery::Parent => "around this folder",
        WorkshopDiscovery::Home => "in the home folder",
    };
    DoctorCheck::ok("workshop", format!("{} ({how})", workshop.root().display()))
}

/// Checks whether only the person can read the workshop's files and decide in it.
fn own_files(workshop: &Workshop) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    let open = LoosePermissionPaths::find(workshop.root()).paths;
    checks.push(match open.first() {
        None => DoctorCheck::ok(
            "privacy",
            "nobody else reads requests, plans, reports and policy",
        ),
        Some(first) => DoctorCheck::warning(
            "privacy",
            format!(
                "others can get at {}, such as `{}`",
                files_or_folders(open.len()),
                first.display()
            ),
            format!(
                "`chmod -R go= {}`",
                shell_word(&workshop.root().join(first))
            ),
        ),
    });
    checks.extend(written_by_others(workshop));
    let skills = workshop.find_skills(workshop.root()).skills;
    for skill in skills.iter().filter(|it| it.scope == SkillOrigin::Workshop) {
        if let Some(open) = strangers::in_skill(workshop.root(), &skill.folder) {
            let found = format!("{}, so `{}` is asked about", open.said(), skill.name);
            checks.push(DoctorCheck::warning("trust", found, open.advice()));
        }
    }
    let Ok(reader) = workshop.reader() else {
        return checks;
    };
    for portal in workshop
        .portals_around_workshops(&reader)
        .unwrap_or_default()
    {
        let (name, path) = (&portal.name, portal.path.display());
        checks.push(DoctorCheck::problem(
            "portal",
            format!("a workshop lies in `{name}` (`{path}`), so no agent works there"),
            format!("`artel portal remove {name}`, then `artel portal add DIR` for each project"),
        ));
    }
    for unseen in workshop.unseen_files(&reader).unwrap_or_default() {
        let advice = match unseen.hash {
            Some(_) => "review it, then delete it or run `artel workshop trust`",
            None => "it cannot be read whole, so delete it",
        };
        checks.push(DoctorCheck::problem(
            "trust",
            format!(
                "a run put `{}` into the workshop, and you have not reviewed it",
                unseen.file.display()
            ),
            advice,
        ));
    }
    checks
}

/// Checks whether other users could write files that decide about agents. The first start
/// of a new version takes that access away.
fn written_by_others(workshop: &Workshop) -> Option<DoctorCheck> {
    let open = strangers::written_by_others(workshop.root());
    if open.is_empty() {
        return None;
    }
    let (said, advice) = (open.said(), open.advice());
    if workshop.needs_upgrade() && open.ends_with_upgrade() {
        let found = format!("{said}, which ends when the workshop is upgraded");
        return Some(DoctorCheck::warning("trust", found, advice));
    }
    let found = format!("{said}, so no agent works here");
    Some(DoctorCheck::problem("trust", found, advice))
}

fn settings(workshop: &Workshop) -> DoctorCheck {
    let settings = &workshop.settings;
    let files = match settings.files.len() {
        0 => "defaults".to_owned(),
        1 => "1 file".to_owned(),
        several => format!("{several} files"),
    };
    if !settings.warnings.is_empty() {
        return DoctorCheck::warning(
            "settings",
            format!("{files}; {}", settings.warnings.join("; ")),
            "`artel config show` says where each setting comes from",
        );
    }
    if settings.unknown_variables.is_empty() {
        return DoctorCheck::ok("settings", files);
    }
    let names = settings.unknown_variables.join(", ");
    DoctorCheck::warning(
        "settings",
        format!("{files}; these variables mean nothing to Artel: {names}"),
        "`artel config show` lists what there is",
    )
}

fn journal(workshop: &Workshop) -> DoctorCheck {
    let durability = match workshop.settings.journal.durability.value {
        DurabilityChoice::Full => "durability full",
        DurabilityChoice::Normal => "durability normal: a power cut may lose the last events",
    };
    match workshop.verify_events() {
        Err(failure) => DoctorCheck::of_failure("journal", &failure),
        Ok(verified) => match verified.first_bad {
            None => DoctorCheck::ok(
                "journal",
                format!(
                    "{}, chain and {} verified, {durability}",
                    counted(verified.events, "event"),
                    counted(verified.signatures, "signature")
                ),
            ),
            Some(bad) => DoctorCheck::problem(
                "journal",
                format!("damaged at event {}: {}", bad.seq, bad.what),
                "`artel journal restore`",
            ),
        },
    }
}

fn backups(workshop: &Workshop, now: Timestamp) -> DoctorCheck {
    let (newest, count) = workshop.backups();
    let every = workshop.settings.journal.backup_every.value;
    match newest {
        None => DoctorCheck::warning("backup", "none yet", "`artel journal backup`"),
        Some(taken) => {
            let age = now.since(taken);
            let found = format!("last one {} ago, {count} kept", span(age));
            // Allows twice the interval, because a workshop that was not used has nothing new to
            // back up.
            if age > every.saturating_mul(2) {
                return DoctorCheck::warning("backup", found, "`artel journal backup`");
            }
            DoctorCheck::ok("backup", found)
        }
    }
}

fn span(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

fn disk(workshop: &Workshop) -> DoctorCheck {
    const GIB: u64 = 1 << 30;
    let Ok(about) = rustix::fs::statvfs(workshop.root()) else {
        return DoctorCheck::warning("disk", "its free space cannot be told", "`df` shows it");
    };
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    let found = format!("{:.1} GiB free", free as f64 / GIB as f64);
    match free {
        0..104_857_600 => DoctorCheck::problem(
            "disk",
            found,
            "free some space; `artel clean` shows what Artel takes",
        ),
        104_857_600..GIB => {
            DoctorCheck::warning("disk", found, "`artel clean` shows what Artel takes")
        }
        _ => DoctorCheck::ok("disk", found),
    }
}
