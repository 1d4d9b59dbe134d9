//! The inbox: files through which people ask and decide, taken up when somebody looks.
//!
//! The journal is the truth. A file is completed before it is recorded, with the trace that names
//! it from then on, so one file is one request however often and by however many it is looked at.

mod note;
mod plans;
mod requests;

use std::cmp::Reverse;

use artel_journal::{Journal, Owner};
use artel_types::plan::PlanState;
use artel_types::{Fact, Failure, TraceId, Via};
use serde::Serialize;

use super::work::Work;
use crate::runs::LEASE;
use crate::workshop::{Open, Workshop};

/// What a look at the inbox found.
#[derive(Debug, Default, Serialize)]
pub struct Scanned {
    /// What was taken up, refused or put right, file by file.
    pub files: Vec<Found>,
    /// The pieces of work that are to be planned now, the most urgent first.
    #[serde(skip)]
    pub due: Vec<TraceId>,
}

/// What came of one file.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// The file, in the workshop.
    pub file: String,
    /// taken, refused, edited, approved, commented or rewritten.
    pub what: &'static str,
    /// The piece of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// More about it, and what to do.
    pub text: String,
}

impl Workshop {
    /// Takes up what people put into the inbox or changed there. One process at a time looks.
    pub async fn scan_inbox(&self) -> Result<Scanned, Failure> {
        let Open { journal, .. } = self.open()?;
        let owner = Owner::this_process("artel inbox scan");
        let lease = journal.take_lease("inbox", owner, LEASE).await?;
        let scanned = self.look_through(&journal);
        // Whoever comes next takes the lease over if it cannot be given back.
        drop(journal.release_lease(&lease.fence).await);
        scanned
    }

    fn look_through(&self, journal: &Journal) -> Result<Scanned, Failure> {
        let mut files = Vec::new();
        self.take_requests(journal, &mut files)?;
        self.take_plans(journal, &mut files)?;
        let mut due = Vec::new();
        for work in self.works()? {
            if self.is_due(&work)? {
                due.push(work);
            }
        }
        due.sort_by_key(|work| (Reverse(work.request.urgency), work.at));
        Ok(Scanned {
            files,
            due: due.iter().map(|work| work.trace).collect(),
        })
    }

    /// Tells whether a piece of work that came as a file waits for nothing but to be planned.
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
        let is_by_file = work.request.source == "file" || last == Some(Some(Via::File));
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
