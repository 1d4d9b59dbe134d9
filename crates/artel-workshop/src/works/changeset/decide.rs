//! A person's decisions about a changeset: merge it, undo it, or redo it.

use std::path::{Path, PathBuf};

use artel_git::{
    GitIdentity, GitRunner, ManualMerge, ManualMergeKind, MergeSpec, PlanBranch, PreparedMerge,
    UndoSpec,
};
use artel_rules::plan::state::{ChangesetOrder, ChangesetState, WorkAction};
use artel_types::{ChangesetCreated, ChangesetMerged, Fact, Failure, FailureCode, TraceId};
use serde::Serialize;

use super::desk::{ChangesetDecider, ChangesetOrderOutcome, ChangesetOrderSpec, paths, text, word};
use super::refusal::{ChangesetRefusalContext, apply_by_hand};
use super::{ChangesetDecision, decisions, of_work, title_of};
use crate::works::Work;
use crate::works::carry::refused;
use crate::workshop::{OutcomeWithNotes, Workshop};

/// Shortest accepted prefix of a commit id, in characters.
const LEAST_SEEN: usize = 8;

/// The reason why a branch that a person changed needs a waiver.
pub(super) const MOVED: &str = "its branch was changed after its proofs were made";

/// The receipt for a decision about a changeset.
#[derive(Debug, Clone, Serialize)]
pub struct ChangesetReceipt {
    /// The changeset's id.
    pub id: String,
    /// The trace of the piece of work.
    pub trace: TraceId,
    /// `approve`, `reject`, `undo` or `redo`.
    pub act: &'static str,
    /// The branch that moved.
    pub into: Option<String>,
    /// The resulting commit.
    pub commit: Option<String>,
    pub files: Vec<String>,
    /// Those of the files that people changed since. Their changes stay.
    pub kept: Vec<String>,
    /// Network access during the work, which an undo cannot take back.
    pub outside: Vec<String>,
    /// The changeset's branch, if it was removed.
    pub removed: Option<String>,
    /// The report, relative to the workshop.
    pub report: Option<String>,
}

/// Options of a person's merge.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChangesetMergeOptions<'a> {
    /// The reason to merge although the proofs do not hold.
    pub waiver: Option<&'a str>,
    /// The branch to merge into, or `None` for the branch that the changeset started from.
    pub into: Option<&'a str>,
    /// The last commit that the person saw, or a prefix of its id. Nothing else is merged. A
    /// person at the repository need not name it.
    pub seen: Option<&'a str>,
}

impl Workshop {
    /// Merges a changeset with a commit of its own. If its proofs do not hold, a waiver with a
    /// reason is required.
    pub fn approve_changeset(
        &self,
        id: &str,
        how: ChangesetMergeOptions<'_>,
    ) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> {
        self.refuse_secret_in(how.waiver.unwrap_or_default())?;
        self.in_patience(id, || self.approve(id, how))
    }

    /// Repeats an act until there is room on the disk for it. This is safe for an act that is
    /// recorded as ordered before it is done and can be done again.
    fn in_patience<T>(&self, id: &str, act: impl Fn() -> Result<T, Failure>) -> Result<T, Failure> {
        let mut patience = self.patience(&*self.work_named(id)?.request.folder);
        loop {
            match act() {
                Err(failure) if patience.again_blocking(&failure) => {}
                done => return done,
            }
        }
    }

    fn approve(
        &self,
        id: &str,
        how: ChangesetMergeOptions<'_>,
    ) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> {
        let desk = ChangesetDecider::open(self)?;
        let work = match desk.begin(id, ChangesetOrder::Approve)? {
            ChangesetDecisionStart::Completed(done) => return Ok(*done),
            ChangesetDecisionStart::Open(work) => work,
        };
        let (_, created) = of_work(&work)?;
        if let Some(merge) = self.close_by_hand(&desk, &work, &created, how.into)? {
            let mut done = desk.receipt(&work, ChangesetOrder::Approve, &merge, Vec::new())?;
            let note = "it was merged by hand: it is closed as merged, and nothing was changed";
            done.notes.push(note.to_owned());
            return Ok(done);
        }
        let waiver = how.waiver.map(str::trim).filter(|it| !it.is_empty());
        let head = self.tip_of(&created);
        let is_it = |seen: &&str| seen.len() >= LEAST_SEEN && head.starts_with(*seen);
        if let Some(seen) = how.seen.filter(|seen| !is_it(seen)) {
            let line = self.changeset_line(&created).ok();
            return Err(unseen(line.as_ref(), seen, &head));
        }
        self.may_merge(&work, &created, waiver)?;
        if head != created.head && waiver.is_none() {
            return Err(needs_waiver(&work, MOVED));
        }
        let asker = asker(&work, &created, ChangesetOrder::Approve);
        if created.patch.is_some() {
            return self.place_patch(&desk, &work, &created, (asker, waiver));
        }
        let into = self.branch_to_move(&work, &created, how.into)?;
        let line = self.changeset_line(&created)?;
        let branch = created.branch.as_deref().unwrap_or(&created.head);
        let message = message(&format!("Merge {branch}: {}", title_of(&work)), &work);
        let author = line.identity(self.caller.places.home());
        let plan = || {
            line.plan_merge(&MergeSpec {
                head: &head,
                into: &into,
                message: &message,
                when: self.now_in_seconds(),
                author: &author,
            })
        };
        let wish = ChangesetOrderSpec {
            act: ChangesetOrder::Approve,
            waiver: waiver.map(str::to_owned),
            asker,
        };
        let merge = desk.order(&work, &wish, &line, plan)?;
        desk.receipt(&work, ChangesetOrder::Approve, &merge, Vec::new())
    }

    /// Writes a changeset into a folder without git, if the same files there are as they were
    /// when the run began. Changes that the person applied already count as done.
    fn place_patch(
        &self,
        desk: &ChangesetDecider<'_>,
        work: &Work,
        created: &ChangesetCreated,
        (asker, waiver): (ChangesetRefusalContext<'_>, Option<&str>),
    ) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> {
        let line = self.changeset_line(created)?;
        let wish = ChangesetOrderSpec {
            act: ChangesetOrder::Approve,
            waiver: waiver.map(str::to_owned),
            asker,
        };
        let merge = desk.order(work, &wish, &line, || line.plan_placing(&created.head))?;
        desk.receipt(work, ChangesetOrder::Approve, &merge, Vec::new())
    }

    /// Undoes a merged changeset with a new commit. Later changes of people stay.
    pub fn undo_changeset(&self, id: &str) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> {
        self.in_patience(id, || self.reverse(id, ChangesetOrder::Undo))
    }

    /// Brings back an undone changeset with a new commit.
    pub fn redo_changeset(&self, id: &str) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> {
        self.in_patience(id, || self.reverse(id, ChangesetOrder::Redo))
    }

    fn reverse(
        &self,
        id: &str,
        act: ChangesetOrder,
    ) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> {
        let desk = ChangesetDecider::open(self)?;
        let work = match desk.begin(id, act)? {
            ChangesetDecisionStart::Completed(done) => return Ok(*done),
            ChangesetDecisionStart::Open(work) => work,
        };
        let (_, created) = of_work(&work)?;
        let wanted = if act == ChangesetOrder::Undo {
            WorkAction::Undo
        } else {
            WorkAction::Redo
        };
        work.course.may(wanted).map_err(refused)?;
        if let Some(patch) = &created.patch {
            return Err(not_by_commit(&work, &created, patch));
        }
        let last = last_move(&work)?;
        let (Some(commit), Some(into)) = (last.commit, last.into) else {
            return Err(nothing_moved(&work));
        };
        if act == ChangesetOrder::Undo && moved_by_hand(&work) && created.commits > 1 {
            return Err(many_commits(&work, &created));
        }
        let line = self.changeset_line(&created)?;
        let title = title_of(&work);
        let first = match act {
            ChangesetOrder::Undo => format!("Undo the merge of {title}"),
            _ => format!("Bring back {title}"),
        };
        let body = format!("{first}\n\nThis reverses commit {commit}.");
        let message = message(&body, &work);
        let author = line.identity(self.caller.places.home());
        let plan = || {
            let order = UndoSpec {
                commit: &commit,
                into: &into,
                message: &message,
                when: self.now_in_seconds(),
                author: &author,
            };
            match act {
                ChangesetOrder::Undo => line.plan_undo(&order),
                _ => line.plan_redo(&order),
            }
        };
        let asker = asker(&work, &created, act);
        let waiver = None;
        let wish = ChangesetOrderSpec { act, waiver, asker };
        let merge = desk.order(&work, &wish, &line, plan)?;
        let kept = changed_since(&line, &commit, &merge);
        desk.receipt(&work, act, &merge, kept)
    }

    /// Returns how a person brought an open changeset into its branch themselves, if they did.
    pub(super) fn brought_by_hand(
        &self,
        work: &Work,
        created: &ChangesetCreated,
        into: Option<&str>,
    ) -> Option<(String, ManualMerge)> {
        let is_open = work.course.changeset().map(|it| it.state) == Some(ChangesetState::Open);
        let into = into.or(created.into.as_deref()).filter(|_| is_open)?;
        let branch = created.branch.as_deref()?;
        let line = self.changeset_line(created).ok()?;
        let theirs = self.branch_of_person(&created.folder, branch);
        // The person may have added commits first, or removed the branch since.
        let heads = theirs.into_iter().chain([created.head.clone()]);
        let mut ways = heads.filter_map(|head| line.brought_by_hand(&head, into).ok().flatten());
        Some((into.to_owned(), ways.next()?))
    }

    /// Closes a changeset that a person merged themselves, so that no decision is left.
    fn close_by_hand(
        &self,
        desk: &ChangesetDecider<'_>,
        work: &Work,
        created: &ChangesetCreated,
        into: Option<&str>,
    ) -> Result<Option<PreparedMerge>, Failure> {
        let Some((into, found)) = self.brought_by_hand(work, created, into) else {
            return Ok(None);
        };
        let merged = ChangesetMerged {
            act: word(ChangesetOrder::Approve).to_owned(),
            into: into.clone(),
            commit: found.commit.clone(),
            files: created.files.iter().map(|it| it.path.clone()).collect(),
            by_hand: Some(found.way.as_str().to_owned()),
        };
        let files = merged.files.iter().map(PathBuf::from).collect();
        desk.tell(work, &self.caller.actor(), merged)?;
        Ok(Some(PreparedMerge {
            into,
            old: found.before,
            new: found.commit,
            files,
            folders: Vec::new(),
            is_checked_out: false,
        }))
    }

    /// Refuses a merge that is not possible now.
    fn may_merge(
        &self,
        work: &Work,
        created: &ChangesetCreated,
        waiver: Option<&str>,
    ) -> Result<(), Failure> {
        let is_open = work.course.changeset().map(|it| it.state) == Some(ChangesetState::Open);
        let why = match (created.proven, created.complete) {
            (true, true) => None,
            (false, _) => Some("its proofs do not hold on a clean checkout"),
            (true, false) => Some("not all steps of its plan passed"),
        };
        if let (Some(why), true, None) = (why, is_open, waiver) {
            return Err(needs_waiver(work, why));
        }
        work.course
            .may(WorkAction::Merge { waiver })
            .map_err(refused)
    }

    /// Returns the branch to merge the changeset into.
    fn branch_to_move(
        &self,
        work: &Work,
        created: &ChangesetCreated,
        named: Option<&str>,
    ) -> Result<String, Failure> {
        let short = work.trace.short();
        let into = named.or(created.into.as_deref()).map(str::to_owned);
        into.ok_or_else(|| {
            Failure::new(FailureCode::C005, "nobody said which branch it goes into")
                .because("no branch was checked out when it was begun")
                .advise(format!("`artel changeset approve {short} --into BRANCH`"))
        })
    }

    /// Returns the commit that would be merged: the head of the changeset's branch in the
    /// person's repository, since they may have rebased it or added to it. Such commits have
    /// no proofs, so they need a waiver.
    pub(super) fn tip_of(&self, created: &ChangesetCreated) -> String {
        let branch = created.branch.as_deref();
        let found = branch.and_then(|branch| self.branch_of_person(&created.folder, branch));
        found.unwrap_or_else(|| created.head.clone())
    }

    fn branch_of_person(&self, folder: &str, branch: &str) -> Option<String> {
        let git = GitRunner::new(self.caller.program("git")?, folder, GitIdentity::artel());
        let name = format!("refs/heads/{branch}^{{commit}}");
        let said = git.run(&["rev-parse", "--verify", "--quiet", &name]).ok()?;
        let said = String::from_utf8_lossy(&said);
        Some(said.trim().to_owned()).filter(|id| !id.is_empty())
    }

    fn now_in_seconds(&self) -> i64 {
        let now = self.caller.clock.now();
        now.as_micros().div_euclid(1_000_000)
    }
}

/// The start of a decision.
enum ChangesetDecisionStart {
    /// The same order had been left unfinished and is now carried out.
    Completed(Box<OutcomeWithNotes<ChangesetReceipt>>),
    Open(Box<Work>),
}

impl ChangesetDecider<'_> {
    /// Finds the piece of work and completes an order that was left unfinished.
    fn begin(&self, id: &str, act: ChangesetOrder) -> Result<ChangesetDecisionStart, Failure> {
        let work = self.workshop.work_named(id)?;
        of_work(&work)?;
        match self.complete(&work)? {
            Some((done, ChangesetOrderOutcome::Done(merge))) if done == act => {
                let receipt = self.receipt(&work, act, &merge, Vec::new())?;
                Ok(ChangesetDecisionStart::Completed(Box::new(receipt)))
            }
            Some(_) => Ok(ChangesetDecisionStart::Open(Box::new(
                self.workshop.work(work.trace)?,
            ))),
            None => Ok(ChangesetDecisionStart::Open(Box::new(work))),
        }
    }

    fn receipt(
        &self,
        work: &Work,
        act: ChangesetOrder,
        merge: &PreparedMerge,
        kept: Vec<String>,
    ) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> {
        let work = self.workshop.work(work.trace)?;
        let (row, created) = of_work(&work)?;
        let mut notes = self.notes.clone();
        notes.extend(self.rewrite_report(&work));
        let past = self.workshop.past(work.clone(), created.run)?;
        let outside = match act {
            ChangesetOrder::Undo => past.left_outside(),
            _ => Vec::new(),
        };
        let done = ChangesetReceipt {
            id: row.id,
            trace: work.trace,
            act: word(act),
            into: Some(merge.into.clone()),
            commit: Some(merge.new.clone()),
            files: paths(merge),
            kept,
            outside,
            removed: None,
            report: self.workshop.report_path(&work, created.run),
        };
        Ok(OutcomeWithNotes { done, notes })
    }
}

fn asker<'c>(
    work: &Work,
    created: &'c ChangesetCreated,
    act: ChangesetOrder,
) -> ChangesetRefusalContext<'c> {
    let id = work.trace.short();
    ChangesetRefusalContext {
        again: format!("artel changeset {} {id}", word(act)),
        id,
        created,
    }
}

/// Returns the last decision that moved the person's branch.
fn last_move(work: &Work) -> Result<ChangesetDecision, Failure> {
    let moves = decisions(work).into_iter();
    let mut moves = moves.filter(|decision| decision.commit.is_some());
    moves.next_back().ok_or_else(|| nothing_moved(work))
}

/// Returns whether the person moved their branch to the changeset's commits by hand.
fn moved_by_hand(work: &Work) -> bool {
    let mut merges = work.events.iter().rev();
    let last = merges.find_map(|event| match &event.fact {
        Fact::ChangesetMerged(merged) => Some(merged.by_hand.as_deref()),
        _ => None,
    });
    last == Some(Some(ManualMergeKind::Moved.as_str()))
}

fn many_commits(work: &Work, created: &ChangesetCreated) -> Failure {
    let short = work.trace.short();
    let (folder, base, head) = (&created.folder, &created.base, &created.head);
    Failure::new(
        FailureCode::R008,
        format!("{short} cannot be undone by one commit"),
    )
    .because("your branch was moved on to its commits by hand, without a merge commit")
    .advise(format!("`git -C {folder} revert --no-edit {base}..{head}`"))
}

/// Says how to undo a change in a folder without git: no commit exists that could be
/// reversed.
fn not_by_commit(work: &Work, created: &ChangesetCreated, patch: &str) -> Failure {
    let short = work.trace.short();
    let apply = apply_by_hand(&created.folder, patch);
    let back = apply.replace("git apply", "git apply --reverse");
    Failure::new(
        FailureCode::R008,
        format!("`{}` is in no git repository", created.folder),
    )
    .because(format!(
        "{short} was put there without a commit that could be reversed"
    ))
    .advise(format!("`{back}` takes it back"))
}

fn nothing_moved(work: &Work) -> Failure {
    let short = work.trace.short();
    Failure::new(FailureCode::R008, format!("{short} was never merged"))
        .advise(format!("`artel changeset show {short}`"))
}

/// Returns the files of a changeset that people changed after its commit.
fn changed_since(line: &PlanBranch, commit: &str, merge: &PreparedMerge) -> Vec<String> {
    let since = line.changed(commit, &merge.old).unwrap_or_default();
    let both = since.iter().filter(|path| merge.files.contains(path));
    both.map(|path| text(Path::new(path))).collect()
}

fn needs_waiver(work: &Work, why: &str) -> Failure {
    let short = work.trace.short();
    Failure::new(FailureCode::R008, format!("{short} cannot be approved as it is"))
        .because(why)
        .advise(format!(
            "`artel changeset show {short}` shows it; `artel changeset approve {short} --waive \
             \"why\"` merges it all the same, `artel changeset reject {short} --reason \"…\"` does not"
        ))
}

/// Lists the changes in a changeset that the person did not see.
fn unseen(line: Option<&PlanBranch>, seen: &str, head: &str) -> Failure {
    let short = |commit: &str| commit.chars().take(10).collect::<String>();
    let mut why = format!(
        "you saw {}, and it ends in {} now",
        short(seen),
        short(head)
    );
    let since = line.and_then(|line| line.log(seen, head).ok());
    let since = since.unwrap_or_default();
    if !since.is_empty() {
        let subjects: Vec<_> = since.iter().map(|it| it.subject.as_str()).collect();
        why.push_str(&format!("; new since: {}", subjects.join(", ")));
    }
    let files = line.and_then(|line| line.changed(seen, head).ok());
    let files = files.unwrap_or_default();
    if !files.is_empty() {
        let files: Vec<_> = files.iter().map(|path| text(path)).collect();
        why.push_str(&format!("; files: {}", files.join(", ")));
    }
    Failure::new(FailureCode::R008, "the changeset is not the one you saw")
        .because(why)
        .advise("look at it anew, then decide")
}

fn message(first: &str, work: &Work) -> String {
    let first = first.trim_end();
    format!("{first}\n\nTrace-Id: {}\n", work.trace)
}
