//! Plans that people changed, moved or marked as files.

use std::path::{Path, PathBuf};

use artel_journal::Journal;
use artel_rules::plan::markdown::{Parsed, parse, render};
use artel_types::plan::PlanState;
use artel_types::{Code, Failure, TraceId};

use super::{ACTIVE, Found, PLANS, note};
use crate::trouble::{Problems, file_failure};
use crate::works::acts::{Edited, LOOKING, free_beside};
use crate::works::sheets::{hash_of, read_text};
use crate::works::work::Work;
use crate::workshop::Workshop;

/// How the name of a plan's file ends.
const ENDING: &str = "_plan.md";

/// Where plans lie that are over.
const ARCHIVE: &str = "Inbox/Archive";

/// Texts of a person that were kept: what lay where, and where it is now.
#[derive(Default)]
pub(crate) struct Kept(Vec<(String, PathBuf)>);

impl Kept {
    /// Says where they are.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(shown, copy)| {
            let copy = copy.display();
            format!("`{shown}` said something that nobody had taken yet; it is kept in `{copy}`")
        })
    }

    /// Takes the copies away: what they are of stays where it is.
    pub(crate) fn discard(&self) {
        for (_, copy) in &self.0 {
            drop(std::fs::remove_file(copy));
        }
    }
}

/// A file of a plan that is not as it was written.
struct Touched<'a> {
    work: &'a Work,
    /// Where it lies.
    file: PathBuf,
    shown: String,
    parsed: Parsed,
    /// Whether it lies, or says, that it is approved.
    approves: bool,
}

impl Workshop {
    /// Takes up what people did to the file of a plan, wherever it lies by that name.
    pub(super) fn take_plan(
        &self,
        journal: &Journal,
        name: &str,
    ) -> Result<Option<Found>, Failure> {
        let of = name.strip_suffix(ENDING).unwrap_or_default();
        let work = self.work_of_name(of)?;
        if let Some(work) = work.filter(|work| !work.versions.is_empty()) {
            return self.look_at_plan(journal, &work);
        }
        let lies = |folder: &&str| self.root.join(folder).join(name).exists();
        let stray = [PLANS, ACTIVE].into_iter().find(lies);
        Ok(stray.map(|folder| Found {
            file: format!("{folder}/{name}"),
            what: "refused",
            trace: None,
            text: "it belongs to no plan here; `artel ask` begins one".to_owned(),
        }))
    }

    fn look_at_plan(&self, journal: &Journal, work: &Work) -> Result<Option<Found>, Failure> {
        // Whoever drives it writes the file, too.
        for run in self.open_runs(work)? {
            if self.state_of(run)?.driver.is_some() {
                return Ok(None);
            }
        }
        let state = work.course.state().unwrap_or(PlanState::Review);
        let right = self.plan_file(work);
        let name = file_name(work);
        let lying = [ACTIVE, PLANS].map(|folder| (folder, self.root.join(folder).join(&name)));
        let there: Vec<_> = lying.into_iter().filter(|(_, at)| at.exists()).collect();
        let is_open = !state.is_over();
        let Some((folder, file)) = there.first().cloned() else {
            let is_elsewhere = !right.exists();
            let what = "it was not where it belongs; decisions need `artel plan …`";
            return match is_open && is_elsewhere {
                true => self.rewritten(work, what).map(Some),
                false => Ok(None),
            };
        };
        let shown = format!("{folder}/{name}");
        if !is_open {
            let what = format!("the plan is in state `{state}`, so its file belongs elsewhere");
            return match file == right && there.len() == 1 {
                true => Ok(None),
                false => self.rewritten(work, &what).map(Some),
            };
        }
        let conduct = self.conduct_of(work, LOOKING)?;
        let text = read_text(&file).unwrap_or_default();
        if file == right && text == render(&self.sheet_of(work, conduct.as_ref())?) {
            note::clear(&file);
            return Ok(None);
        }
        let parsed = match parse(&text) {
            Ok(parsed) => parsed,
            Err(problems) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                return refused(&file, shown, work.trace, &lines).map(Some);
            }
        };
        let is_review = !matches!(state, PlanState::Approved | PlanState::Running);
        let is_moved = folder == ACTIVE;
        let touched = Touched {
            work,
            file,
            shown,
            approves: is_review && (is_moved || parsed.head.status == PlanState::Approved),
            parsed,
        };
        self.take_touched(journal, touched).map(Some)
    }

    fn take_touched(&self, journal: &Journal, touched: Touched<'_>) -> Result<Found, Failure> {
        let work = touched.work;
        if touched.parsed.head.trace != work.trace {
            return self.rewritten(work, "its `trace_id` was that of another piece of work");
        }
        if self.is_old(&touched)? {
            return self.rewritten(work, "it showed an older version");
        }
        match self.draft_edit(journal, work, &touched.parsed, self.by_file()) {
            Ok(Edited::InReview { version }) => {
                note::clear(&touched.file);
                self.refresh_sheets(work.trace, LOOKING);
                let more = match touched.approves {
                    true => "; a change and an approval at once is no approval",
                    false => "",
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
            Err(Problems(problems)) => {
                let line = |failure: &Failure| {
                    let parts = [
                        Some(failure.what.clone()),
                        failure.why.clone(),
                        failure.advice.clone(),
                    ];
                    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
                };
                let lines: Vec<String> = problems.iter().map(line).collect();
                refused(&touched.file, touched.shown, work.trace, &lines)
            }
        }
    }

    /// Takes up a file whose plan says what it said: it may be approved, or commented on.
    fn take_unchanged(&self, journal: &Journal, touched: &Touched<'_>) -> Result<Found, Failure> {
        let work = touched.work;
        note::clear(&touched.file);
        if touched.approves {
            let approved = self.approve_as(journal, work, None, self.by_file());
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
            self.comment_as(journal, work, comments, self.by_file())?;
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

    /// Makes sure that no file of a plan in review holds words of a person that are not on record:
    /// what is decided by a command would be written over them.
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
            return Err(Failure::new(Code::R008, what)
                .because("a decision would be about another text, and be written over this one")
                .advise(format!(
                    "`artel inbox scan` makes it the next version; or take the file away, then \
                     `artel plan show {}`",
                    work.trace.short()
                )));
        }
        Ok(())
    }

    /// Keeps words of a person that are not on record and that a decision would write over. They
    /// lie where the file of the plan will, under a name of their own.
    pub(crate) fn keep_unread(&self, work: &Work) -> Result<Kept, Failure> {
        let mut kept = Kept::default();
        if work.versions.is_empty() {
            return Ok(kept);
        }
        let conduct = self.conduct_of(work, LOOKING)?;
        let sheet = render(&self.sheet_of(work, conduct.as_ref())?);
        let failed = |error| file_failure(Code::W008, &error);
        for folder in [PLANS, ACTIVE] {
            let shown = format!("{folder}/{}", file_name(work));
            let text = read_text(&self.root.join(&shown)).unwrap_or_default();
            if text.is_empty() || text == sheet || self.is_on_record(work, &text) {
                continue;
            }
            let archive = self.root.join(ARCHIVE);
            artel_files::make_dirs(&archive, 0o755).map_err(failed)?;
            let stem = format!("{}_unread", work.name());
            let copy = free_beside(&archive.join(file_name(work)), &stem);
            artel_files::write_atomic(&copy, text.as_bytes(), 0o644).map_err(failed)?;
            kept.0.push((shown, copy));
        }
        Ok(kept)
    }

    /// Tells whether a text is that of a version, with the comments that are known.
    fn is_on_record(&self, work: &Work, text: &str) -> bool {
        let Ok(parsed) = parse(text) else {
            return false;
        };
        let hash = hash_of(&parsed.plan).map(|(_, hash)| hash).ok();
        let mut versions = work.versions.iter();
        let is_version = versions.any(|it| Some(&it.fact.hash) == hash.as_ref());
        parsed.head.trace == work.trace && is_version && added(work, &parsed).is_empty()
    }

    /// Tells whether a file is that of an older version, as it was.
    fn is_old(&self, touched: &Touched<'_>) -> Result<bool, Failure> {
        let (_, hash) = hash_of(&touched.parsed.plan)?;
        let newest = touched.work.course.newest().map(|newest| newest.number);
        let versions = touched.work.versions.iter();
        let mut same = versions.filter(|it| it.fact.hash == hash);
        let mut current = same.clone().filter(|it| Some(it.fact.version) == newest);
        Ok(current.next().is_none() && same.next().is_some())
    }

    /// Writes the file of a plan as the journal has it, and says why.
    fn rewritten(&self, work: &Work, why: &str) -> Result<Found, Failure> {
        self.refresh_sheets(work.trace, LOOKING);
        let file = self.plan_file(work);
        let shown = file.strip_prefix(&self.root).unwrap_or(&file);
        Ok(Found {
            file: shown.display().to_string(),
            what: "rewritten",
            trace: Some(work.trace),
            text: why.to_owned(),
        })
    }
}

/// Returns what a person added to the comments by hand.
fn added(work: &Work, parsed: &Parsed) -> Vec<String> {
    let known = work.course.comments().iter();
    let known: Vec<String> = known
        .map(|it| format!("(v{}) {}", it.version, it.text))
        .collect();
    let remarks = parsed.remarks.iter();
    let new = remarks.filter(|it| it.by.is_none() && !known.contains(&it.text));
    new.map(|it| it.text.clone()).collect()
}

/// Returns the names of the files that may be plans.
pub(super) fn all_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| is_one(name)).collect()
}

/// Tells whether a file of this name may be a plan.
pub(super) fn is_one(name: &str) -> bool {
    name.ends_with(ENDING) && !name.starts_with('.')
}

/// Returns what the file of a plan is called.
pub(super) fn file_name(work: &Work) -> String {
    name_of(work.trace)
}

/// Returns the name of the file of a plan by what joins everything about it.
pub(super) fn name_of(trace: TraceId) -> String {
    format!("{}{ENDING}", Work::name_of(trace))
}

fn said(touched: &Touched<'_>, what: &'static str, text: String) -> Found {
    Found {
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
) -> Result<Found, Failure> {
    note::write(file, problems)?;
    Ok(Found {
        file: shown,
        what: "refused",
        trace: Some(trace),
        text: problems.join("; "),
    })
}
