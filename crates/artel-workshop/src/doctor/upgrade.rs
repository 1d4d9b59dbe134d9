//! Lists what an older Artel left in a workshop and this version has not upgraded yet.

use artel_journal::{EventFilter, EventQuery};
use artel_types::{Failure, counted};
use serde_json::Value;

use super::DoctorCheck;
use crate::runs::{RunListScope, RunStatus};
use crate::workshop::Workshop;

/// Lists what the first writing command will upgrade, and what it will then ask the
/// person. The list is empty if the workshop is up to date.
pub(super) fn checks(workshop: &Workshop) -> Vec<DoctorCheck> {
    if !workshop.needs_upgrade() {
        return Vec::new();
    }
    let first = DoctorCheck::warning(
        "upgrade",
        "an older Artel made this workshop; the next command that writes upgrades it",
        "run `artel inbox scan --no-plan` to upgrade it now",
    );
    let found = found(workshop);
    let found = found.unwrap_or_else(|failure| vec![DoctorCheck::of_failure("upgrade", &failure)]);
    std::iter::once(first).chain(found).collect()
}

/// The wording for one kind of finding.
#[derive(Clone, Copy)]
struct UpgradeAdvice {
    then: &'static str,
    remedy: &'static str,
}

fn found(workshop: &Workshop) -> Result<Vec<DoctorCheck>, Failure> {
    let mut checks = Vec::new();
    let reader = workshop.reader()?;
    let mut tell = |count: usize, what: &str, one: UpgradeAdvice, many: UpgradeAdvice| {
        let told = if count == 1 { one } else { many };
        if count > 0 {
            let found = format!("{}{}", counted(count as u64, what), told.then);
            checks.push(DoctorCheck::warning("upgrade", found, told.remedy));
        }
    };
    tell(
        workshop.used_skills(&reader)?.len(),
        "skill",
        UpgradeAdvice {
            then: " in use: will be trusted as it is now. If a run changes it later, Artel asks",
            remedy: "`artel skill list` shows it",
        },
        UpgradeAdvice {
            then: " in use: will be trusted as they are now. If a run changes one later, Artel asks",
            remedy: "`artel skill list` shows them",
        },
    );
    let sign_in = UpgradeAdvice {
        then: " signed in before the console had a name and a key of its own",
        remedy: "run `artel open` to sign in again",
    };
    tell(keyless_sign_ins(workshop)?, "browser", sign_in, sign_in);
    let rows = workshop.runs(RunListScope::All)?;
    tell(
        rows.iter()
            .filter(|row| row.state == RunStatus::Left)
            .count(),
        "run",
        UpgradeAdvice {
            then: " was interrupted: resuming keeps its caller's limits",
            remedy: "`artel runs` lists it; `artel resume ID` resumes it",
        },
        UpgradeAdvice {
            then: " were interrupted: resuming keeps their callers' limits",
            remedy: "`artel runs` lists them; `artel resume ID` resumes one",
        },
    );
    tell(
        workshop.open_questions()?.len(),
        "question",
        UpgradeAdvice {
            then: " still open: Artel will ask it again",
            remedy: "`artel waiting` lists it",
        },
        UpgradeAdvice {
            then: " still open: Artel will ask them again",
            remedy: "`artel waiting` lists them",
        },
    );
    Ok(checks)
}

/// Counts the sign-ins without a key, which are no longer valid.
fn keyless_sign_ins(workshop: &Workshop) -> Result<usize, Failure> {
    let filter = EventFilter {
        kind: Some("login.used".to_owned()),
        ..EventFilter::default()
    };
    let records = workshop.reader()?.records(&EventQuery::of(filter))?;
    let is_keyless =
        |payload: &str| serde_json::from_str::<Value>(payload).is_ok_and(|it| it["key"].is_null());
    let keyless = records.iter().filter(|it| is_keyless(&it.payload));
    Ok(keyless.count())
}
