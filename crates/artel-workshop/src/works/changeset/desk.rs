//! Records orders about changesets and carries them out, one process at a time.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use artel_git::{GitError, MergeRefusedError, PlanBranch, PlanBranchError, PreparedMerge};
use artel_journal::{EventBatch, Journal};
use artel_rules::plan::state::{ChangesetOrder, ChangesetState};
use artel_types::{
    Actor, ChangesetCreated, ChangesetMerged, ChangesetOrdered, ChangesetRefused, EventDraft, Fact,
    Failure, FailureCode, StreamName,
};

use super::of_work;
use super::refusal::{ChangesetRefusalContext, names};
use super::turn::ChangesetLock;
use crate::placed::repository_around;
use crate::works::Work;
use crate::works::sheets::keep;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// Number of times a merge is planned when the person's branch keeps moving.
const MOST_TRIES: usize = 5;

/// Decides about changesets while holding the changeset lock, so no other process does.
pub(super) struct ChangesetDecider<'w> {
    pub(super) workshop: &'w Workshop,
    pub(super) journal: Journal,
    /// Notices from along the way.
    pub(super) notes: Vec<String>,
    _turn: ChangesetLock,
}

/// An order to record, with the context for a refusal.
pub(super) struct ChangesetOrderSpec<'a> {
    pub(super) act: ChangesetOrder,
    pub(super) waiver: Option<String>,
    pub(super) asker: ChangesetRefusalContext<'a>,
}

/// The outcome of an order.
pub(super) enum ChangesetOrderOutcome {
    /// The order was carried out.
    Done(PreparedMerge),
    /// The order was taken back, and everything is as before.
    Refused(PlanBranchError),
}

impl<'w> ChangesetDecider<'w> {
    /// Waits for the changeset lock, as long as for the journal.
    pub(super) fn open(workshop: &'w Workshop) -> Result<Self, Failure> {
        let turn = ChangesetLock::wait(&workshop.turn_file(), workshop.options().patience)?;
        Self::with(workshop, turn)
    }

    /// Takes the changeset lock if it is free.
    pub(super) fn open_if_free(workshop: &'w Workshop) -> Result<Option<Self>, Failure> {
        let turn = ChangesetLock::take(&workshop.turn_file())?;
        turn.map(|turn| Self::with(workshop, turn)).transpose()
    }

    fn with(workshop: &'w Workshop, turn: ChangesetLock) -> Result<Self, Failure> {
        let OpenWorkshopJournal { journal, notes } = workshop.open()?;
        Ok(Self {
            workshop,
            journal,
            notes,
            _turn: turn,
        })
    }

    /// Completes an order that a process left unfinished, if there is one.
    pub(super) fn complete(
        &self,
        work: &Work,
    ) -> Result<Option<(ChangesetOrder, ChangesetOrderOutcome)>, Failure> {
        let state = work.course.changeset().map(|it| it.state);
        let Some(ChangesetState::Ordered(act)) = state else {
            return Ok(None);
        };
        let last = work
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::ChangesetOrdered(ordered) => Some((ordered, event)),
                _ => None,
            });
        let Some((ordered, event)) = last else {
            return Ok(None);
        };
        let (row, created) = of_work(work)?;
        let asker = ChangesetRefusalContext {
            again: format!("artel changeset show {}", row.id),
            id: row.id,
            created: &created,
        };
        let line = self.workshop.changeset_line(&created)?;
        let since = u64::try_from(event.at.as_micros()).unwrap_or(0);
        let since = SystemTime::UNIX_EPOCH + Duration::from_micros(since);
        line.clear_locks(&ordered.into, since)
            .map_err(|error| asker.failed(error))?;
        let came = self.carry(work, (ordered, &event.actor), &line, &asker)?;
        Ok(Some((act, came)))
    }

    /// Records an order and carries it out. If the branch moves meanwhile, the merge is
    /// planned again. Any other obstacle is returned as a failure.
    pub(super) fn order(
        &self,
        work: &Work,
        wish: &ChangesetOrderSpec<'_>,
        line: &PlanBranch,
        plan: impl Fn() -> Result<PreparedMerge, MergeRefusedError>,
    ) -> Result<PreparedMerge, Failure> {
        let mut work = self.workshop.work(work.trace)?;
        let by = self.workshop.caller.actor();
        for try_number in 1.. {
            let merge = plan().map_err(|refused| wish.asker.refused(refused))?;
            self.refuse_own(&merge, wish.asker.created)?;
            let ordered = self.ordered(wish, &merge)?;
            let fact = Fact::from(ordered.clone());
            let told = self
                .workshop
                .record_for(&self.journal, &work, by.clone(), vec![fact]);
            match told {
                Ok(()) => {}
                Err(failure) if failure.code == FailureCode::J009 && try_number < MOST_TRIES => {
                    // No other process decides about changesets now, so the new event is a report
                    // or the like.
                    work = self.workshop.work(work.trace)?;
                    continue;
                }
                Err(failure) => return Err(failure),
            }
            match self.carry(&work, (&ordered, &by), line, &wish.asker)? {
                ChangesetOrderOutcome::Done(merge) => return Ok(merge),
                ChangesetOrderOutcome::Refused(
                    PlanBranchError::Moved { .. } | PlanBranchError::Switched { .. },
                ) if try_number < MOST_TRIES => {
                    work = self.workshop.work(work.trace)?;
                }
                ChangesetOrderOutcome::Refused(error) => return Err(wish.asker.failed(error)),
            }
        }
        Err(Failure::new(FailureCode::X001, "it was tried for ever"))
    }

    /// Refuses to change a workshop's own files: a plan never writes policy, roles, skills or
    /// a person's words.
    fn refuse_own(&self, merge: &PreparedMerge, created: &ChangesetCreated) -> Result<(), Failure> {
        let own = self.workshop.own_folders()?;
        let folder = Path::new(&created.folder);
        let root = repository_around(folder);
        let is_own = |file: &&PathBuf| own.owns(&root.join(file)) || own.owns(&folder.join(file));
        let files: Vec<PathBuf> = merge.files.iter().filter(is_own).cloned().collect();
        if files.is_empty() {
            return Ok(());
        }
        let what = format!("these are a workshop's own files: {}", names(&files));
        Err(Failure::new(FailureCode::P001, what)
            .because("no run or plan changes them")
            .advise("make such changes yourself, or merge the branch with git"))
    }

    fn ordered(
        &self,
        wish: &ChangesetOrderSpec<'_>,
        merge: &PreparedMerge,
    ) -> Result<ChangesetOrdered, Failure> {
        let plan = serde_json::to_string(merge)
            .map_err(|error| Failure::new(FailureCode::X001, error.to_string()))?;
        Ok(ChangesetOrdered {
            act: word(wish.act).to_owned(),
            into: merge.into.clone(),
            old: merge.old.clone(),
            new: merge.new.clone(),
            plan: keep(&self.journal, plan)?,
            waiver: wish.waiver.clone(),
        })
    }

    /// Carries out a recorded order and records the outcome. An order that fails halfway stays
    /// open, and the next process continues with it.
    fn carry(
        &self,
        work: &Work,
        (ordered, by): (&ChangesetOrdered, &Actor),
        line: &PlanBranch,
        asker: &ChangesetRefusalContext<'_>,
    ) -> Result<ChangesetOrderOutcome, Failure> {
        let merge = self.workshop.whole_text(&ordered.plan)?;
        let merge: PreparedMerge = serde_json::from_str(&merge).map_err(|error| {
            Failure::new(FailureCode::J001, "an order on record cannot be read")
                .because(error.to_string())
        })?;
        let done = match line.tree_of(&merge.new) {
            // The commit was lost with the folder of its run and was never brought anywhere else.
            Err(PlanBranchError::Git(GitError::Refused { .. })) => Err(PlanBranchError::BadName {
                name: merge.new.clone(),
            }),
            _ if line.is_private() => line.place(&merge),
            _ => line.carry_out(&merge),
        };
        let act = ordered.act.clone();
        match done {
            Ok(()) => {
                let merged = ChangesetMerged {
                    act,
                    into: merge.into.clone(),
                    commit: merge.new.clone(),
                    files: paths(&merge),
                    by_hand: None,
                };
                self.tell(work, by, merged)?;
                Ok(ChangesetOrderOutcome::Done(merge))
            }
            Err(error) if leaves_all_as_before(&error) => {
                let files = match &error {
                    PlanBranchError::Dirty { files } => files.iter().map(|it| text(it)).collect(),
                    _ => Vec::new(),
                };
                let why = error.to_string();
                self.tell(work, by, ChangesetRefused { act, why, files })?;
                Ok(ChangesetOrderOutcome::Refused(error))
            }
            Err(error) => Err(asker.failed(error)),
        }
    }

    /// Writes the changeset's report again. Returns a note if that fails.
    pub(super) fn rewrite_report(&self, work: &Work) -> Option<String> {
        let run = work.changeset.as_ref()?.run;
        let written = self
            .workshop
            .write_report_in(&self.journal, work.trace, run);
        Some(format!(
            "the report was not written: {}",
            written.err()?.what
        ))
    }

    pub(super) fn tell(
        &self,
        work: &Work,
        by: &Actor,
        fact: impl Into<Fact>,
    ) -> Result<(), Failure> {
        let draft = EventDraft::new(StreamName::work(work.trace), work.trace, by.clone(), fact);
        self.journal.append(EventBatch::of([draft])).wait()?;
        Ok(())
    }
}

impl Workshop {
    /// Completes orders about changesets that a crash interrupted. Returns a sentence about
    /// each outcome. Does nothing while another process holds the changeset lock.
    pub fn settle_changesets(&self) -> Result<Vec<String>, Failure> {
        let is_open = |work: &Work| {
            let state = work.course.changeset().map(|it| it.state);
            matches!(state, Some(ChangesetState::Ordered(_)))
        };
        let left = self.works_with("changeset.ordered")?;
        if !left.iter().any(is_open) {
            return Ok(Vec::new());
        }
        let Some(desk) = ChangesetDecider::open_if_free(self)? else {
            return Ok(Vec::new());
        };
        let mut notes = desk.notes.clone();
        for work in left {
            // The last holder of the lock may have completed the order.
            let work = self.work(work.trace)?;
            let short = work.trace.short();
            match desk.complete(&work) {
                Ok(None) => {}
                Ok(Some((act, ChangesetOrderOutcome::Done(merge)))) => {
                    notes.push(format!(
                        "`{} {short}` was cut short; it is done now: {} is at {}",
                        word(act),
                        merge.into,
                        short_id(&merge.new)
                    ));
                    notes.extend(desk.rewrite_report(&work));
                }
                Ok(Some((act, ChangesetOrderOutcome::Refused(error)))) => {
                    notes.push(format!("`{} {short}` was cut short: {error}", word(act)));
                }
                Err(failure) => notes.push(format!(
                    "`{short}` is ordered and could not be carried out: {}",
                    failure.what
                )),
            }
        }
        Ok(notes)
    }

    fn turn_file(&self) -> std::path::PathBuf {
        self.home.state().join("changesets.lock")
    }
}

/// Returns the word for an order in the journal.
pub(super) fn word(order: ChangesetOrder) -> &'static str {
    match order {
        ChangesetOrder::Approve => "approve",
        ChangesetOrder::Undo => "undo",
        ChangesetOrder::Redo => "redo",
    }
}

/// Returns the files of a merge as text.
pub(super) fn paths(merge: &PreparedMerge) -> Vec<String> {
    merge.files.iter().map(|file| text(file)).collect()
}

/// Returns the short form of a commit id.
pub(super) fn short_id(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns whether the person's files are unchanged after this error. The order is then
/// over. Other errors may leave it half done, or may go away.
fn leaves_all_as_before(error: &PlanBranchError) -> bool {
    matches!(
        error,
        PlanBranchError::Dirty { .. }
            | PlanBranchError::Moved { .. }
            | PlanBranchError::Switched { .. }
            | PlanBranchError::Private { .. }
            | PlanBranchError::Gone { .. }
            | PlanBranchError::BadName { .. }
    )
}
