//! Plan files that people edited, moved or marked.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use artel_journal::Journal;
use artel_rules::plan::markdown::{ParsedPlanDocument, parse, render};
use artel_types::plan::PlanState;
use artel_types::{Failure, FailureCode, TraceId};

use super::theirs::{PreservedTexts, added, advice_for};
use super::{ACTIVE, InboxFileKind, InboxFileOutcome, PLANS, REJECTED, REQUESTS, note};
use crate::safety;
use crate::trouble::WorkshopFailures;
use crate::works::acts::{LOOKING, PlanEditOutcome};
use crate::works::sheets::{FOLDERS, PersonTextHandling, read_text};
use crate::works::work::Work;
use crate::workshop::Workshop;

/// The end of a plan's file name.
const ENDING: &str = "_plan.md";

/// A plan file that differs from what Artel wrote.
struct EditedPlanFile<'a> {
    work: &'a Work,
    file: PathBuf,
    shown: String,
    text: String,
    parsed: ParsedPlanDocument,
    /// The decision that its folder and its `status` express.
    wish: PlanFileDecision,
    /// Whether another process carries out the plan, and so writes the file as well.
    is_driven: bool,
}

/// A person's decision, expressed by the folder and the `status` of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanFileDecision {
    /// No decision.
    None,
    /// Approves the version that the file shows.
    Approve,
    /// Rejects the version in review.
    Reject,
}

impl Workshop {
    /// Takes in a person's changes to a plan file with this name, in any folder.
    pub(super) fn take_plan(
        &self,
        journal: &Journal,
        name: &str,
    ) -> Result<Option<InboxFileOutcome>, Failure> {
        let of = name.strip_suffix(ENDING).unwrap_or_default();
        let work = self.work_of_name(of)?;
        if let Some(work) = work.filter(|work| !work.versions.is_empty()) {
            return self.look_at_plan(journal, &work);
        }
        self.stray(name)
    }

    /// Refuses a file that belongs to no plan, with a note in each folder where it is.
    fn stray(&self, name: &str) -> Result<Option<InboxFileOutcome>, Failure> {
        let mut found = None;
        for folder in [PLANS, ACTIVE] {
            let file = self.root.join(folder).join(name);
            if !file.symlink_metadata().is_ok_and(|about| !about.is_dir()) {
                continue;
            }
            let text = match InboxFileKind::of(name) {
                InboxFileKind::Markdown if name.ends_with(ENDING) => format!(
                    "it belongs to no plan here; `artel ask` begins one, and a request of yours \
                     goes into `{REQUESTS}`"
                ),
                InboxFileKind::Markdown => format!(
                    "only files of plans lie here, and they are called `request-…{ENDING}`; move it \
                     to `{REQUESTS}` if it is a request, or take it away"
                ),
                _ => {
                    "only files of plans lie here, and this is no Markdown; take it away".to_owned()
                }
            };
            note::write(&file, std::slice::from_ref(&text))?;
            found = Some(InboxFileOutcome {
                file: format!("{folder}/{name}"),
                what: "refused",
                trace: None,
                text,
            });
        }
        Ok(found)
    }

    /// Returns whether a run put a file in its place. Such a file is not a person's decision.
    fn is_placed(&self, journal: &Journal, file: &Path) -> Result<bool, Failure> {
        let own = self.own_folders()?;
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let index = self.inbox.lock();
        let mut index = index.unwrap_or_else(PoisonError::into_inner);
        index.is_placed(&file, journal.reader(), &own)
    }

    fn is_driven(&self, work: &Work) -> Result<bool, Failure> {
        for run in self.open_runs(work)? {
            if self.state_of(run)?.driver.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes in a person's changes to the file of this plan.
    pub(crate) fn look_at_plan(
        &self,
        journal: &Journal,
        work: &Work,
    ) -> Result<Option<InboxFileOutcome>, Failure> {
        let is_driven = self.is_driven(work)?;
        let state = work.course.state().unwrap_or(PlanState::Review);
        let is_being_done = matches!(state, PlanState::Approved | PlanState::Running);
        if is_driven && !is_being_done {
            // The architect is at work, and the file will be written afterwards.
            return Ok(None);
        }
        let right = self.plan_file(work);
        let there = self.lying(work, state);
        let is_open = !state.is_over();
        let Some((folder, file)) = there.first().cloned() else {
            let is_elsewhere = !right.exists();
            return if is_open && is_elsewhere && !is_driven {
                self.put_back(work).map(Some)
            } else {
                Ok(None)
            };
        };
        if !is_open {
            let what = format!("the plan is in state `{state}`, so its file belongs elsewhere");
            return if file == right && there.len() == 1 {
                Ok(None)
            } else {
                self.rewritten(work, &what).map(Some)
            };
        }
        let conduct = self.conduct_of(work, LOOKING)?;
        let text = read_text(&file).unwrap_or_default();
        if file == right && text == render(&self.sheet_of(work, conduct.as_ref())?) {
            note::settle(&file);
            return Ok(None);
        }
        let shown = self.in_workshop(&file);
        let parsed = match parse(&text) {
            Ok(parsed) => parsed,
            Err(_) if folder == REJECTED => {
                return self.turn_down(journal, work, shown, None).map(Some);
            }
            Err(problems) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                return refused(&file, shown, work.trace, &lines).map(Some);
            }
        };
        let touched = EditedPlanFile {
            work,
            file,
            shown,
            wish: wish_of(state, folder, parsed.head.status),
            text,
            parsed,
            is_driven,
        };
        if is_being_done {
            self.take_meanwhile(journal, touched)
        } else {
            self.take_touched(journal, touched).map(Some)
        }
    }

    /// Returns the plan's files in folders where a person may have put them.
    fn lying(&self, work: &Work, state: PlanState) -> Vec<(&'static str, PathBuf)> {
        let name = file_name(work);
        let looked = match state {
            PlanState::Review => &[ACTIVE, PLANS, REJECTED][..],
            _ => &[ACTIVE, PLANS],
        };
        let places = looked
            .iter()
            .map(|folder| (*folder, self.root.join(folder).join(&name)));
        places.filter(|(_, at)| at.exists()).collect()
    }

    fn take_touched(
        &self,
        journal: &Journal,
        touched: EditedPlanFile<'_>,
    ) -> Result<InboxFileOutcome, Failure> {
        let work = touched.work;
        if self.is_placed(journal, &touched.file)? {
            let short = work.trace.short();
            let lines = [format!(
                "a run put this file here, so Artel ignores it; run `artel plan show {short}`, then \
                 `artel plan approve {short}` or `artel plan reject {short}`"
            )];
            return refused(&touched.file, touched.shown, work.trace, &lines);
        }
        if touched.parsed.head.trace != work.trace {
            return self.rewritten(work, "its `trace_id` was that of another piece of work");
        }
        if self.is_old(&touched) {
            return self.rewritten(work, "it showed an older version");
        }
        if touched.wish == PlanFileDecision::Reject {
            return self.turn_down(journal, work, touched.shown.clone(), Some(&touched.parsed));
        }
        match self.draft_edit(journal, work, &touched.parsed, self.by_file()) {
            Ok(PlanEditOutcome::InReview { version }) => {
                note::clear(&touched.file);
                self.refresh_sheets(work.trace, LOOKING);
                let more = if touched.wish == PlanFileDecision::Approve {
                    "; a change and an approval at once is no approval"
                } else {
                    ""
                };
                Ok(said(
                    &touched,
                    "edited",
                    format!(
                        "version {version} is yours and in review{more}: `artel plan diff {0}`, `artel plan approve {0}`",
                        work.trace.short()
                    ),
                ))
            }
            Ok(_) => self.take_unchanged(journal, &touched),
            Err(problems) => refused(
                &touched.file,
                touched.shown,
                work.trace,
                &lines_of(&problems),
            ),
        }
    }

    /// Takes in a file whose plan is unchanged. It may approve the plan or comment on it.
    fn take_unchanged(
        &self,
        journal: &Journal,
        touched: &EditedPlanFile<'_>,
    ) -> Result<InboxFileOutcome, Failure> {
        let work = touched.work;
        if touched.wish == PlanFileDecision::Approve {
            if let Some(open) = safety::open_to_others(&self.root, &touched.file) {
                let lines =
                    unsafe_here(&open, &format!("artel plan approve {}", work.trace.short()));
                return refused(&touched.file, touched.shown.clone(), work.trace, &lines);
            }
            note::clear(&touched.file);
            let approved = self.approve_as(journal, work, None, None, self.by_file());
            return match approved {
                Ok(_) => {
                    let version = work.course.newest().map_or(1, |newest| newest.number);
                    let short = work.trace.short();
                    let text = format!("version {version}: `artel resume {short}` carries it out");
                    Ok(said(touched, "approved", text))
                }
                Err(failure) => {
                    let why = failure.why.map_or(String::new(), |why| format!(": {why}"));
                    self.rewritten(work, &format!("{}{why}", failure.what))
                }
            };
        }
        let comments = added(work, &touched.parsed);
        if !comments.is_empty() && work.course.state() == Some(PlanState::Review) {
            let count = comments.len();
            note::clear(&touched.file);
            if let Err(failure) = self.comment_as(journal, work, comments, None, self.by_file()) {
                return match failure.code {
                    FailureCode::P006 => self.rewritten(work, &failure.what),
                    _ => Err(failure),
                };
            }
            let text = format!(
                "{} for the architect",
                artel_types::counted(count as u64, "comment")
            );
            return Ok(said(touched, "commented", text));
        }
        self.rewritten(
            work,
            "it said something else about the plan than the journal",
        )
    }

    /// Takes in a person's edit to the file of a plan that is being carried out. It becomes a
    /// new version and counts as approval, as with `artel plan edit`.
    fn take_meanwhile(
        &self,
        journal: &Journal,
        touched: EditedPlanFile<'_>,
    ) -> Result<Option<InboxFileOutcome>, Failure> {
        let (work, is_driven) = (touched.work, touched.is_driven);
        let short = work.trace.short();
        if touched.parsed.head.trace != work.trace {
            let why = "its `trace_id` was that of another piece of work";
            return self.rewritten(work, why).map(Some);
        }
        let status = touched.parsed.head.status;
        if self.version_saying(work, &touched.parsed).is_some() {
            let is_commented = !added(work, &touched.parsed).is_empty();
            let why = match () {
                () if is_commented => {
                    "while a plan is being done, comments go to the architect by a command"
                        .to_owned()
                }
                () if status.is_over() => format!(
                    "its `status` was `{status}`, and the plan is being done; `artel plan cancel \
                     {short}` calls it off"
                ),
                // The driver writes the file, too, so the file's view of the steps may lag behind.
                () if is_driven => return Ok(None),
                () => "it said something else about the plan than the journal".to_owned(),
            };
            return self.rewritten(work, &why).map(Some);
        }
        if let Some(open) = safety::open_to_others(&self.root, &touched.file) {
            let copy = format!("artel plan edit {short} --file {}", touched.shown);
            let lines = unsafe_here(&open, &copy);
            return refused(&touched.file, touched.shown, work.trace, &lines).map(Some);
        }
        match self.adopt_from_file(journal, work, &touched.parsed) {
            Ok(PlanEditOutcome::Adopted { version, .. }) => {
                note::clear(&touched.file);
                self.refresh_sheets(work.trace, LOOKING);
                let more = if is_driven {
                    String::new()
                } else {
                    format!(": `artel resume {short}`")
                };
                let text = format!("version {version} is yours, and the run goes on by it{more}");
                Ok(Some(said(&touched, "edited", text)))
            }
            Ok(_) => self
                .rewritten(
                    work,
                    "it said something else about the plan than the journal",
                )
                .map(Some),
            Err(problems) => {
                // Another process may have taken in the same text meanwhile.
                if self.is_on_record(&self.work(work.trace)?, &touched.text) {
                    return Ok(None);
                }
                refused(
                    &touched.file,
                    touched.shown,
                    work.trace,
                    &lines_of(&problems),
                )
                .map(Some)
            }
        }
    }

    /// Rejects the version in review because a person said so in its file, with the reason
    /// given there.
    fn turn_down(
        &self,
        journal: &Journal,
        work: &Work,
        shown: String,
        parsed: Option<&ParsedPlanDocument>,
    ) -> Result<InboxFileOutcome, Failure> {
        let reason = parsed.and_then(|parsed| reason_in(work, parsed));
        let reason = reason.unwrap_or_else(|| {
            if shown.starts_with(REJECTED) {
                format!("moved to `{REJECTED}` by hand")
            } else {
                "`status: rejected` was set in its file".to_owned()
            }
        });
        match self.reject_as(journal, work, &reason, self.by_file()) {
            Ok(()) => Ok(InboxFileOutcome {
                file: shown,
                what: "rejected",
                trace: Some(work.trace),
                text: reason,
            }),
            Err(failure) => {
                let why = failure.why.map_or(String::new(), |why| format!(": {why}"));
                self.rewritten(work, &format!("{}{why}", failure.what))
            }
        }
    }

    /// Refuses a decision if a file of a plan in review holds a person's words that are not on
    /// record: the decision would overwrite them.
    pub(crate) fn ensure_read(&self, work: &Work) -> Result<(), Failure> {
        if work.course.state() != Some(PlanState::Review) {
            return Ok(());
        }
        let sheet = render(&self.sheet_of(work, None)?);
        for folder in [PLANS, ACTIVE] {
            let shown = format!("{folder}/{}", file_name(work));
            let text = read_text(&self.root.join(&shown)).unwrap_or_default();
            if text.is_empty() || text == sheet || self.is_on_record(work, &text) {
                continue;
            }
            let what = format!("`{shown}` says something that is not in the plan yet");
            return Err(Failure::new(FailureCode::R008, what)
                .because("a decision would be about another text, and be written over this one")
                .advise(format!(
                    "`artel inbox scan` makes it the next version; or take the file away, then \
                     `artel plan show {}`",
                    work.trace.short()
                )));
        }
        Ok(())
    }

    /// Keeps copies of a person's words that are not on record and that a decision would
    /// overwrite. The copies get names of their own in the archive.
    pub(crate) fn keep_unread(&self, work: &Work) -> Result<PreservedTexts, Failure> {
        if work.versions.is_empty() {
            return Ok(PreservedTexts::default());
        }
        let conduct = self.conduct_of(work, LOOKING)?;
        let sheet = render(&self.sheet_of(work, conduct.as_ref())?);
        self.keep_theirs(&self.theirs_in_plan(work, &sheet), &work.name())
    }

    /// Returns whether a file shows an older version, unchanged.
    fn is_old(&self, touched: &EditedPlanFile<'_>) -> bool {
        let newest = touched.work.course.newest().map(|newest| newest.number);
        let same = self.version_saying(touched.work, &touched.parsed);
        same.is_some() && same != newest
    }

    /// Writes the file of a plan again that is in the wrong folder or missing. A missing file
    /// may not be a person's doing, so it gets no note.
    fn put_back(&self, work: &Work) -> Result<InboxFileOutcome, Failure> {
        let name = file_name(work);
        let mut folders = FOLDERS.iter();
        let lies = folders.any(|folder| self.root.join(folder).join(&name).exists());
        let found = self.rewritten(
            work,
            "it was not where it belongs; decisions need `artel plan …`",
        )?;
        if !lies {
            note::clear(&self.plan_file(work));
        }
        Ok(found)
    }

    /// Rewrites the file of a plan to match the journal. The result and a note beside the file
    /// say why.
    fn rewritten(&self, work: &Work, why: &str) -> Result<InboxFileOutcome, Failure> {
        let conduct = self.conduct_of(work, LOOKING)?;
        let sheet = render(&self.sheet_of(work, conduct.as_ref())?);
        let theirs = self.theirs_in_plan(work, &sheet);
        let kept = self.keep_theirs(&theirs, &work.name())?;
        self.put_plan(work, conduct.as_ref(), PersonTextHandling::Keep)?;
        let file = self.plan_file(work);
        let mut lines = vec![why.to_owned()];
        lines.extend(kept.notes());
        if lines.len() > 1 {
            lines.push(advice_for(work));
        }
        note::tell(&file, &lines)?;
        Ok(InboxFileOutcome {
            file: self.in_workshop(&file),
            what: "rewritten",
            trace: Some(work.trace),
            text: why.to_owned(),
        })
    }
}

fn wish_of(state: PlanState, folder: &str, status: PlanState) -> PlanFileDecision {
    match (folder, status) {
        _ if state != PlanState::Review => PlanFileDecision::None,
        (REJECTED, _) | (PLANS, PlanState::Rejected) => PlanFileDecision::Reject,
        (ACTIVE, _) | (_, PlanState::Approved) => PlanFileDecision::Approve,
        _ => PlanFileDecision::None,
    }
}

/// Returns the reason for a rejection that a file gives, under `reason` or as a comment.
fn reason_in(work: &Work, parsed: &ParsedPlanDocument) -> Option<String> {
    let mut other = parsed.head.other.iter();
    let key = other.find_map(|line| line.strip_prefix("reason:"));
    let plain = key.map(|value| value.trim().trim_matches(['"', '\'']).to_owned());
    let comments = added(work, parsed).join("; ");
    plain
        .into_iter()
        .chain([comments])
        .find(|it| !it.trim().is_empty())
}

fn lines_of(WorkshopFailures(problems): &WorkshopFailures) -> Vec<String> {
    let line = |failure: &Failure| {
        let parts = [
            Some(failure.what.clone()),
            failure.why.clone(),
            failure.advice.clone(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    problems.iter().map(line).collect()
}

/// Explains why this file cannot decide anything, and names the command that can.
fn unsafe_here(open: &safety::TamperRisk, command: &str) -> Vec<String> {
    vec![
        format!(
            "a file decides only where nobody but you can write it, and {}; {}, then `artel inbox \
             scan`",
            open.why, open.advice
        ),
        format!("`{command}` decides without the file"),
    ]
}

/// Returns the names of all files in a folder that are plans or do not belong there.
pub(super) fn all_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|it| !it.is_dir());
    let names = entries.filter(is_file);
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| InboxFileKind::of(name) != InboxFileKind::Passing)
        .collect()
}

/// Returns the file name of a plan.
pub(super) fn file_name(work: &Work) -> String {
    name_of(work.trace)
}

/// Returns the file name of the plan with this trace.
pub(super) fn name_of(trace: TraceId) -> String {
    format!("{}{ENDING}", Work::name_of(trace))
}

fn said(touched: &EditedPlanFile<'_>, what: &'static str, text: String) -> InboxFileOutcome {
    InboxFileOutcome {
        file: touched.shown.clone(),
        what,
        trace: Some(touched.work.trace),
        text,
    }
}

fn refused(
    file: &Path,
    shown: String,
    trace: TraceId,
    problems: &[String],
) -> Result<InboxFileOutcome, Failure> {
    note::write(file, problems)?;
    Ok(InboxFileOutcome {
        file: shown,
        what: "refused",
        trace: Some(trace),
        text: problems.join("; "),
    })
}
