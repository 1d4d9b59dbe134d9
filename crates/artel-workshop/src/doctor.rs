//! Checks whether everything that Artel depends on is there, and says what to do if not.

mod machine;
mod models;
mod profile;
mod rules;
mod state;
mod upgrade;

use artel_config::MachineProfile;
use artel_types::{Failure, FailureKind};
use serde::Serialize;

use crate::caller::CommandContext;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DoctorCheckStatus {
    /// Everything is as it should be.
    Ok,
    /// It works, but not as well as it could.
    Warning,
    /// Something will not work.
    Problem,
}

/// One line of the doctor's report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorCheck {
    pub health: DoctorCheckStatus,
    /// The area that was checked.
    pub area: &'static str,
    pub found: String,
    /// The advice to the person.
    pub remedy: Option<String>,
    /// The kind of failure, which decides the exit code.
    #[serde(skip)]
    pub kind: FailureKind,
}

impl DoctorCheck {
    fn ok(area: &'static str, found: impl Into<String>) -> Self {
        Self {
            health: DoctorCheckStatus::Ok,
            area,
            found: found.into(),
            remedy: None,
            kind: FailureKind::Failed,
        }
    }

    fn warning(area: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            health: DoctorCheckStatus::Warning,
            area,
            found: found.into(),
            remedy: Some(remedy.into()),
            kind: FailureKind::Failed,
        }
    }

    fn problem(area: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            health: DoctorCheckStatus::Problem,
            area,
            found: found.into(),
            remedy: Some(remedy.into()),
            kind: FailureKind::Failed,
        }
    }

    fn of_failure(area: &'static str, failure: &Failure) -> Self {
        let why = failure
            .why
            .as_ref()
            .map_or(String::new(), |why| format!(" ({why})"));
        let remedy = failure
            .advice
            .clone()
            .unwrap_or_else(|| format!("`artel explain {}`", failure.code));
        Self {
            kind: failure.kind(),
            ..Self::problem(area, format!("{}{why}", failure.what), remedy)
        }
    }
}

impl CommandContext {
    /// Checks the machine, the workshop with its journal, and the models. Changes nothing.
    pub fn doctor(&self) -> Vec<DoctorCheck> {
        let mut checks = machine::checks(self);
        checks.extend(models::checks(self));
        checks.extend(state::checks(self));
        checks.extend(rules::checks(self));
        checks
    }

    /// Checks whether this installation meets a profile, as a list to go through before others
    /// rely on it. Every line passes or fails.
    pub fn doctor_profile(&self, profile: MachineProfile) -> Vec<DoctorCheck> {
        profile::checks(self, profile)
    }
}
