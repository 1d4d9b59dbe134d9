//! The inbox: files through which people ask and decide. They are taken in when a process
//! scans them.
//!
//! The journal is the truth. A new file is first completed with the trace that names it
//! from then on, and recorded only after that. So one file is one request, no matter how
//! often and by how many processes it is scanned. The cost of scanning some files does not
//! depend on how many others exist.

mod index;
mod look;
mod names;
pub(crate) mod note;
mod plans;
mod requests;
mod theirs;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use artel_journal::{Journal, LeaseFence, LeaseOwner};
use artel_types::plan::{PlanState, Urgency};
use artel_types::{ActorSurface, Fact, Failure, Timestamp, TraceId};
use serde::Serialize;

pub(crate) use index::RequestFileIndex;
pub use names::InboxFileKind;
pub(crate) use theirs::{PreservedTexts, advice_for, advice_for_request};

use super::work::Work;
use crate::board::WorkshopIndex;
use crate::runs::LEASE;
use crate::workshop::{OpenWorkshopJournal, Workshop};
use look::InboxScanContext;

/// The folder for new requests.
const REQUESTS: &str = "Inbox/Requests";
/// The folder for plans that await a decision.
const PLANS: &str = "Inbox/Plans";
/// The folder for approved plans.
const ACTIVE: &str = "Inbox/Active";
/// The folder for rejected plans.
const REJECTED: &str = "Inbox/Rejected";

/// Number of files taken in between two renewals of the lease.
const AT_ONCE: usize = 500;

/// The result of an inbox scan.
#[derive(Debug, Default, Serialize)]
pub struct InboxScanOutcome {
    /// The files that were taken, refused or corrected.
    pub files: Vec<InboxFileOutcome>,
    /// The pieces of work to be planned now, the most urgent first.
    #[serde(skip)]
    pub due: Vec<TraceId>,
    /// Notices from opening the journal, a sentence each.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// The result for one file.
#[derive(Debug, Clone, Serialize)]
pub struct InboxFileOutcome {
    /// The file, relative to the workshop.
    pub file: String,
    /// `taken`, `refused`, `moved`, `edited`, `approved`, `rejected`, `commented` or
    /// `rewritten`.
    pub what: &'static str,
    /// The trace of the piece of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// Details, and what the person can do.
    pub text: String,
}

/// A piece of work to be planned, with the values that decide its turn.
type Due = (Reverse<Urgency>, Timestamp, TraceId);

/// The files to look at: requests by path, plans by name.
#[derive(Debug, Default)]
struct InboxFileBatch {
    requests: Vec<PathBuf>,
    plans: BTreeSet<String>,
}

impl Workshop {
    /// Takes in the files that people added to the inbox or changed there. Only one process at
    /// a time scans.
    pub async fn scan_inbox(&self) -> Result<InboxScanOutcome, Failure> {
        let mut tray = InboxFileBatch {
            requests: requests::all_in(&self.root.join(REQUESTS)),
            plans: BTreeSet::new(),
        };
        for folder in [REQUESTS, PLANS, ACTIVE] {
            note::tidy(&self.root.join(folder));
        }
        for folder in [PLANS, ACTIVE] {
            tray.plans.extend(plans::all_in(&self.root.join(folder)));
        }
        // Only the journal can tell that a plan's file was removed.
        let works = self.works()?;
        let planned = works.iter().filter(|work| !work.versions.is_empty());
        tray.plans.extend(planned.map(plans::file_name));
        drop(works);
        let mut scanned = self.take(tray, "artel inbox scan").await?;
        let mut due = Vec::new();
        for work in self.works()? {
            if self.is_due(&work)? {
                due.push((Reverse(work.request.urgency), work.at, work.trace));
            }
        }
        scanned.due = in_turn(due);
        Ok(scanned)
    }

    /// Takes in only these files of `Inbox/Requests`, `Inbox/Plans` and `Inbox/Active`: new
    /// requests, and plans that were edited, moved, marked, commented on or removed. Other
    /// files are skipped. Only work that became due through these files is returned as due.
    /// [`Workshop::scan_inbox`] finds what was left earlier.
    pub async fn take_files(&self, files: &[PathBuf]) -> Result<InboxScanOutcome, Failure> {
        let tray = self.sorted(files);
        if tray.requests.is_empty() && tray.plans.is_empty() {
            return Ok(InboxScanOutcome::default());
        }
        self.take(tray, "artel inbox").await
    }

    /// Returns the files of open plans that are missing: the process that should have written
    /// one was killed, or the file was removed while no process watched.
    /// [`Workshop::take_files`] writes them again.
    pub fn lost_plan_files(&self, board: &WorkshopIndex) -> Vec<PathBuf> {
        let lies = |name: &String| {
            let mut folders = [PLANS, ACTIVE].into_iter();
            folders.any(|folder| self.root.join(folder).join(name).exists())
        };
        let names = board.open_plans().map(plans::name_of);
        let lost = names.filter(|name| !lies(name));
        lost.map(|name| Path::new(PLANS).join(name)).collect()
    }

    /// Reports, on record and in a note beside it, that a file of `Inbox/Requests` never stops
    /// changing. Once it does stop, it is taken in like any other file and the note is
    /// removed.
    pub async fn leave_restless(&self, file: &Path) -> Result<(), Failure> {
        let tray = self.sorted(&[file.to_owned()]);
        let Some(file) = tray.requests.first() else {
            return Ok(());
        };
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let owner = LeaseOwner::this_process("artel inbox");
        let lease = journal.take_lease("inbox", owner, LEASE).await?;
        let told = InboxScanContext::new(self, &journal, &lease.fence)
            .and_then(|mut it| it.restless(file));
        drop(journal.release_lease(&lease.fence).await);
        told
    }

    fn sorted(&self, files: &[PathBuf]) -> InboxFileBatch {
        let mut tray = InboxFileBatch::default();
        for file in files {
            let file = self.root.join(file);
            let Ok(inside) = file.strip_prefix(&self.root) else {
                continue;
            };
            let folder = inside.parent().and_then(Path::to_str).unwrap_or_default();
            let Some(name) = inside.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            match folder {
                REQUESTS if requests::is_one(&file) && file.exists() && !file.is_dir() => {
                    tray.requests.push(file);
                }
                REQUESTS => note::clear_orphan(&file),
                PLANS | ACTIVE if InboxFileKind::of(name) != InboxFileKind::Passing => {
                    note::clear_orphan(&file);
                    tray.plans.insert(name.to_owned());
                }
                _ => {}
            }
        }
        // Sort by age, as far as the files tell it, and keep each file once.
        tray.requests.sort_by_cached_key(|file| {
            let about = file.symlink_metadata();
            (about.and_then(|it| it.modified()).ok(), file.clone())
        });
        tray.requests.dedup();
        tray
    }

    async fn take(&self, tray: InboxFileBatch, who: &str) -> Result<InboxScanOutcome, Failure> {
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let owner = LeaseOwner::this_process(who);
        let lease = journal.take_lease("inbox", owner, LEASE).await?;
        let taken = self.take_by_parts(&journal, &lease.fence, &tray).await;
        if taken.is_err() {
            // Forget what was noted but not recorded.
            *self.inbox.lock().unwrap_or_else(PoisonError::into_inner) =
                RequestFileIndex::default();
        }
        // If the lease cannot be released, the next process takes it over.
        drop(journal.release_lease(&lease.fence).await);
        let mut scanned = taken?;
        scanned.notes = notes;
        Ok(scanned)
    }

    async fn take_by_parts(
        &self,
        journal: &Journal,
        fence: &LeaseFence,
        tray: &InboxFileBatch,
    ) -> Result<InboxScanOutcome, Failure> {
        let (mut files, mut due) = (Vec::new(), Vec::new());
        for requests in tray.requests.chunks(AT_ONCE) {
            let mut look = InboxScanContext::new(self, journal, fence)?;
            due.extend(look.take_requests(requests, &mut files)?);
            drop(look);
            journal.renew_lease(fence, LEASE).await?;
        }
        for name in &tray.plans {
            let found = self.take_plan(journal, name)?;
            if let Some(InboxFileOutcome {
                what: "commented",
                trace: Some(trace),
                ..
            }) = &found
            {
                let work = self.work(*trace)?;
                if self.is_due(&work)? {
                    due.push((Reverse(work.request.urgency), work.at, work.trace));
                }
            }
            files.extend(found);
        }
        Ok(InboxScanOutcome {
            files,
            due: in_turn(due),
            notes: Vec::new(),
        })
    }

    /// Returns whether a piece of work that came as a file needs only to be planned.
    fn is_due(&self, work: &Work) -> Result<bool, Failure> {
        let is_early = match work.course.state() {
            None => true,
            Some(PlanState::Exploring | PlanState::Drafting) => true,
            Some(_) => work.course.is_awaiting_architect(),
        };
        let is_settled = work.course.request().is_some_and(|it| it.settled.is_some());
        let last = work
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::PlanCommented(_) => Some(event.actor.via),
                _ => None,
            });
        let is_by_file = work.request.source == "file" || last == Some(Some(ActorSurface::File));
        if !is_by_file || !is_early || is_settled {
            return Ok(false);
        }
        for run in self.open_runs(work)? {
            let state = self.state_of(run)?;
            if state.driver.is_some() || state.question().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Sorts due work by urgency, then by age, the oldest first.
fn in_turn(mut due: Vec<Due>) -> Vec<TraceId> {
    due.sort();
    due.into_iter().map(|(_, _, trace)| trace).collect()
}
