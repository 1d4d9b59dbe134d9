//! A person's own version of a plan. People may change the plan's file, and Artel reads it
//! back.

use std::path::{Path, PathBuf};

use artel_journal::Journal;
use artel_rules::plan::markdown::{ParsedPlanDocument, parse, render};
use artel_rules::plan::state::WorkAction;
use artel_rules::plan::{self, PlanProblem};
use artel_types::plan::{Plan, PlanState, StepState};
use artel_types::{Actor, Failure, FailureCode, PlanDrafted, RunId};

use super::{LOOKING, PlanApprovalDraft};
use crate::trouble::{WorkshopFailures, file_failure, shell_word};
use crate::works::sheets::{LONGEST_FILE, hash_of, keep};
use crate::works::work::Work;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// The result of a person's edit of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanEditOutcome {
    /// The text says the same as the plan.
    Unchanged,
    /// The new version waits for approval.
    InReview { version: u32 },
    /// The plan's run continues with the new version.
    Adopted { version: u32, run: RunId },
}

impl Workshop {
    /// Opens a copy of a plan in the person's editor and takes the edited text as a new
    /// version. A text that cannot be used stays in the copy, and the next call opens it
    /// again.
    pub fn edit_by_hand(&self, work: &Work) -> Result<PlanEditOutcome, WorkshopFailures> {
        self.permit(work, WorkAction::Edit)?;
        let text = self.plan_markdown(work, None)?;
        let file = self.edit_of(work);
        if self.kept_edit(work)?.is_none() {
            self.set_aside(work)?;
            let folder = self.root.join(EDITS);
            artel_files::make_dirs(&folder, 0o700)
                .map_err(|error| file_failure(FailureCode::W008, &error))?;
            artel_files::write_atomic(&file, text.as_bytes(), 0o600)
                .map_err(|error| file_failure(FailureCode::W008, &error))?;
        }
        let (short, shown) = (work.trace.short(), shell_word(&file));
        let by_file = format!("or change {shown} and `artel plan edit {short} --file {shown}`");
        let opened = self.caller.edit_file(&file);
        opened.map_err(|failure| match failure.code {
            FailureCode::C005 => {
                failure.advise(format!("`EDITOR=nano artel plan edit {short}`, {by_file}"))
            }
            _ => failure.advise(format!("set `EDITOR` to one that works, {by_file}")),
        })?;
        let made = read_edit(&file)?;
        let edited = if made == text {
            Ok(PlanEditOutcome::Unchanged)
        } else {
            self.edit_plan(work, &made)
        };
        match edited {
            Ok(edited) => {
                drop(std::fs::remove_file(&file));
                Ok(edited)
            }
            Err(WorkshopFailures(mut problems)) => {
                if let Some(last) = problems.last_mut() {
                    let kept = match last.code {
                        // The editor would open the current version, so the advice names the file.
                        FailureCode::R008 => format!(
                            "your text is kept; `artel plan edit {short} --file {shown}` hands it in"
                        ),
                        _ => format!(
                            "your text is kept in {shown}, and `artel plan edit {short}` opens it \
                             again"
                        ),
                    };
                    let advice = last.advice.take();
                    last.advice = Some(match advice {
                        Some(advice) => format!("{advice}; {kept}"),
                        None => kept,
                    });
                }
                Err(WorkshopFailures(problems))
            }
        }
    }

    /// Takes the text of a plan from a person's own file.
    pub fn edit_from(&self, work: &Work, file: &Path) -> Result<PlanEditOutcome, WorkshopFailures> {
        self.permit(work, WorkAction::Edit)?;
        let file = self.caller.absolute(file);
        let made = read_edit(&file)?;
        let edited = if made == self.plan_markdown(work, None)? {
            PlanEditOutcome::Unchanged
        } else {
            self.edit_plan(work, &made)?
        };
        if file == self.edit_of(work) {
            drop(std::fs::remove_file(&file));
        }
        Ok(edited)
    }

    /// Returns the file with a person's text that could not be used, if it belongs to the
    /// current version or to none that can be told: it may be all they have.
    pub fn kept_edit(&self, work: &Work) -> Result<Option<PathBuf>, Failure> {
        let file = self.edit_of(work);
        if file.symlink_metadata().is_err() {
            return Ok(None);
        }
        let Ok(text) = read_edit(&file) else {
            return Ok(Some(file));
        };
        let (drafted, _) = self.plan_of(work, None)?;
        let is_now = version_in(&text).is_none_or(|version| version == drafted.fact.version);
        let is_theirs = text != self.plan_markdown(work, None)?;
        Ok((is_now && is_theirs).then_some(file))
    }

    fn edit_of(&self, work: &Work) -> PathBuf {
        self.root
            .join(EDITS)
            .join(format!("{}_edit.md", work.name()))
    }

    /// Moves a text of an earlier version out of the way. It belongs to the person, so it is
    /// kept.
    fn set_aside(&self, work: &Work) -> Result<(), Failure> {
        let file = self.edit_of(work);
        let version = read_edit(&file).ok().and_then(|text| version_in(&text));
        let (Some(old), (now, _)) = (version, self.plan_of(work, None)?) else {
            return Ok(());
        };
        if old != now.fact.version {
            let aside = free_beside(&file, &format!("{}_edit_of_v{old}", work.name()));
            std::fs::rename(&file, &aside).map_err(|error| {
                Failure::new(
                    FailureCode::W008,
                    format!("`{}` cannot be moved", file.display()),
                )
                .because(error.to_string())
            })?;
        }
        Ok(())
    }

    /// Returns a plan as its file shows it; an older version as it was handed in.
    pub fn plan_markdown(&self, work: &Work, version: Option<u32>) -> Result<String, Failure> {
        let conduct = match version {
            None => self.conduct_of(work, LOOKING)?,
            Some(_) => None,
        };
        let mut sheet = self.sheet_of(work, conduct.as_ref())?;
        if let Some(version) = version {
            let (drafted, plan) = self.plan_of(work, Some(version))?;
            sheet.head.version = version;
            sheet.head.hash = drafted.fact.hash;
            sheet.head.created = Some(drafted.at);
            sheet.head.agent = drafted.by.id;
            sheet.plan = plan;
        }
        Ok(render(&sheet))
    }

    /// Takes a person's text as the next version of a plan. A plan in review stays in review.
    /// If the plan is being carried out, the edit counts as approval and the run continues
    /// with the new version.
    pub fn edit_plan(&self, work: &Work, text: &str) -> Result<PlanEditOutcome, WorkshopFailures> {
        let parsed = parse(text).map_err(|problems| unreadable(&problems))?;
        if parsed.head.trace != work.trace {
            return Err(
                Failure::new(FailureCode::C004, "the text names another piece of work")
                    .because(format!("its `trace_id` is {}", parsed.head.trace))
                    .advise("leave the `trace_id` as it is")
                    .into(),
            );
        }
        // The version that the person was shown: if the plan is being carried out, the version in
        // use.
        let conduct = self.conduct_of(work, LOOKING)?;
        let shown = self.sheet_of(work, conduct.as_ref())?;
        let (of, now) = (parsed.head.version, shown.head.version);
        if of != now && self.usable(work, &shown.plan, &parsed)?.is_some() {
            return Err(outdated(work, (of, now)).into());
        }
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let by = self.caller.actor();
        let edited = match work.course.state() {
            Some(PlanState::Approved | PlanState::Running) => {
                self.adopt_edit(&journal, work, &parsed, by)?
            }
            _ => self.draft_edit(&journal, work, &parsed, by)?,
        };
        self.refresh_sheets(work.trace, LOOKING);
        Ok(edited)
    }

    /// Makes a person's text the next version, to be reviewed.
    pub(crate) fn draft_edit(
        &self,
        journal: &Journal,
        work: &Work,
        parsed: &ParsedPlanDocument,
        by: Actor,
    ) -> Result<PlanEditOutcome, WorkshopFailures> {
        self.permit(work, WorkAction::Edit)?;
        let (_, now) = self.plan_of(work, None)?;
        let Some(plan) = self.usable(work, &now, parsed)? else {
            return Ok(PlanEditOutcome::Unchanged);
        };
        let drafted = self.draft_plan(journal, work, &plan, (by, None));
        let version = drafted.map_err(|failure| self.or_faster(work, failure))?;
        Ok(PlanEditOutcome::InReview { version })
    }

    /// Takes the edited file of a plan that is being carried out as a person's own version.
    pub(crate) fn adopt_from_file(
        &self,
        journal: &Journal,
        work: &Work,
        parsed: &ParsedPlanDocument,
    ) -> Result<PlanEditOutcome, WorkshopFailures> {
        let conduct = self.conduct_of(work, LOOKING)?;
        let now = self.sheet_of(work, conduct.as_ref())?.head.version;
        if parsed.head.version != now {
            return Err(outdated(work, (parsed.head.version, now)).into());
        }
        self.adopt_edit(journal, work, parsed, self.by_file())
    }

    fn adopt_edit(
        &self,
        journal: &Journal,
        work: &Work,
        parsed: &ParsedPlanDocument,
        by: Actor,
    ) -> Result<PlanEditOutcome, WorkshopFailures> {
        self.permit(work, WorkAction::Edit)?;
        let conduct = self.conduct_of(work, LOOKING)?;
        let now = match &conduct {
            Some(conduct) => conduct.plan().clone(),
            None => self.plan_of(work, None)?.1,
        };
        let Some(plan) = self.usable(work, &now, parsed)? else {
            return Ok(PlanEditOutcome::Unchanged);
        };
        let (json, hash) = hash_of(&plan)?;
        let version = work.next_version();
        let drafted = PlanDrafted {
            version,
            plan: keep(journal, json)?,
            hash: hash.clone(),
            title: plan.title.clone(),
            file: format!("Inbox/Plans/{}_plan.md", work.name()),
            run: None,
        };
        let agreed = PlanApprovalDraft {
            version,
            hash: &hash,
            plan: &plan,
            by,
            model: None,
            before: vec![drafted.into()],
        };
        let run = self.agree(journal, work, agreed)?;
        Ok(PlanEditOutcome::Adopted { version, run })
    }

    /// Returns the edited plan, or `None` if it equals the current one.
    fn usable(
        &self,
        work: &Work,
        now: &Plan,
        parsed: &ParsedPlanDocument,
    ) -> Result<Option<Plan>, WorkshopFailures> {
        let plan = &parsed.plan;
        let (made, hash) = hash_of(plan)?;
        if hash_of(&plan::normalise(now.clone()))?.1 == hash {
            return Ok(None);
        }
        self.refuse_secret_in(&made)?;
        let named = self.named_for(&work.request);
        let mut problems = match named.check(plan, Some(now)) {
            Ok(_) => Vec::new(),
            Err(problems) => problems,
        };
        if let Some(conduct) = self.conduct_of(work, LOOKING)? {
            let begun = conduct.steps().filter(|(_, step)| {
                matches!(
                    step.state,
                    StepState::Running | StepState::Verifying | StepState::Done
                )
            });
            let begun: Vec<String> = begun.map(|(spec, _)| spec.id.clone()).collect();
            problems.extend(plan::keeps(now, plan, begun.iter().map(String::as_str)));
        }
        if problems.is_empty() {
            Ok(Some(plan.clone()))
        } else {
            Err(unusable(&problems))
        }
    }
}

/// The folder of the copies that people edit.
const EDITS: &str = ".artel/plans";

fn read_edit(file: &Path) -> Result<String, Failure> {
    let bytes = artel_files::read_bounded(file, LONGEST_FILE)
        .map_err(|error| file_failure(FailureCode::C004, &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns an unused path beside a file. Earlier texts may hold the first names.
pub(crate) fn free_beside(file: &Path, stem: &str) -> PathBuf {
    let mut aside = file.with_file_name(format!("{stem}.md"));
    let mut number = 2_u32;
    while aside.symlink_metadata().is_ok() {
        aside = file.with_file_name(format!("{stem}_{number}.md"));
        number += 1;
    }
    aside
}

/// Returns the version that a text is based on, even if the rest cannot be read.
fn version_in(text: &str) -> Option<u32> {
    let mut lines = text.lines().take(40);
    lines.find_map(|line| line.strip_prefix("version:")?.trim().parse().ok())
}

/// Says that a text is based on an outdated version.
fn outdated(work: &Work, (of, now): (u32, u32)) -> Failure {
    let name = work.trace.short();
    let what = format!("the text is version {of}, and the plan is at version {now}");
    Failure::new(FailureCode::R008, what)
        .because("what changed since would be lost without a word")
        .advise(format!(
            "`artel plan diff {name} {of} {now}` shows what that is; take it in, and \
             write `version: {now}` at the top"
        ))
}

/// Says where a text cannot be read as a plan.
pub(crate) fn unreadable(problems: &[PlanProblem]) -> WorkshopFailures {
    said("the plan cannot be read", problems)
}

fn unusable(problems: &[PlanProblem]) -> WorkshopFailures {
    said("the plan cannot be used as it is", problems)
}

fn said(what: &str, problems: &[PlanProblem]) -> WorkshopFailures {
    let failure = |problem: &PlanProblem| {
        Failure::new(FailureCode::C004, format!("{what}: {}", problem.place))
            .because(problem.what.clone())
            .advise(problem.remedy.clone())
    };
    WorkshopFailures(problems.iter().map(failure).collect())
}
