//! The subject of a run's page: a run, and the work it belongs to.

use artel_journal::JournalRecord;
use artel_types::{Event, Fact, Failure, FailureCode, RunId, TraceId};
use artel_workshop::{TimelineRecords, Work};

use crate::console::frame::PageContext;
use crate::keeper::SchedulerTask;

/// The run that a page is about, and its work if there is one.
pub(super) struct RunPageSubject {
    /// The id by which the viewer asked for it.
    pub(super) id: String,
    /// Its events; if there are very many, only those that the page needs.
    pub(super) excerpt: TimelineRecords,
    pub(super) trace: TraceId,
    pub(super) work: Option<Work>,
    pub(super) run: Option<RunId>,
    /// Whether the run carries out the work's plan.
    is_planned: bool,
}

impl RunPageSubject {
    /// Finds the subject. The id of a work stands for the run that carries out its plan.
    pub(super) fn find(site: &PageContext, id: &str) -> Result<Self, Failure> {
        let workshop = &site.workshop;
        let excerpt = workshop.run_excerpt(id)?;
        let records = &excerpt.records;
        let first = records.iter().find(|record| record.kind == "run.started");
        let first = first.and_then(|record| record.run.as_deref());
        let first: Option<RunId> = first.and_then(|run| run.parse().ok());
        let trace = match (records.first(), first) {
            (Some(record), _) => record.trace.parse().ok(),
            (None, Some(run)) => workshop.trace_of_run(run).ok(),
            (None, None) => None,
        };
        let Some(trace) = trace else {
            return Err(workshop.work_named(id).err().unwrap_or_else(|| gone(id)));
        };
        let work = workshop.work(trace).ok();
        let is_work = trace.to_string().starts_with(&id.to_ascii_lowercase());
        let plan_run = work.as_ref().and_then(|work| work.course.run());
        let run = match (is_work, plan_run) {
            // The run of a plan that was just approved has not started yet.
            (true, Some(run)) => Some(run).filter(|run| has_begun(records, *run)),
            _ => first,
        };
        Ok(Self {
            is_planned: plan_run.is_some() && (is_work || run == plan_run),
            id: id.to_owned(),
            excerpt,
            trace,
            work,
            run,
        })
    }

    /// Returns the events that the page needs, in order.
    pub(super) fn records(&self) -> &[JournalRecord] {
        &self.excerpt.records
    }

    /// Returns whether the run has more events than the page needs.
    pub(super) fn is_long(&self) -> bool {
        self.excerpt.left_out > 0
    }

    /// Returns the work, if the page is about its plan.
    pub(super) fn planned(&self) -> Option<&Work> {
        self.work.as_ref().filter(|_| self.is_planned)
    }

    /// Returns the task that the scheduler resumes: the work, or a run that belongs to
    /// none.
    pub(super) fn task(&self) -> Option<SchedulerTask> {
        match &self.work {
            Some(work) => Some(SchedulerTask::Work(work.trace)),
            None => self.run.map(SchedulerTask::Run),
        }
    }

    /// Returns links to other pages about the work.
    pub(super) fn links(&self) -> Vec<(&'static str, String)> {
        let Some(work) = &self.work else {
            return Vec::new();
        };
        let short = work.trace.short();
        let is_written = |event: &Event| matches!(event.fact, Fact::ReportWritten(_));
        let mut links = Vec::new();
        if !work.versions.is_empty() {
            links.push(("plan", format!("/plans/{short}")));
        }
        if work.changeset.is_some() {
            links.push(("changeset", format!("/changesets/{short}")));
        }
        if work.events.iter().any(is_written) {
            links.push(("report", format!("/reports/{short}")));
        }
        links
    }
}

fn has_begun(records: &[JournalRecord], run: RunId) -> bool {
    let run = run.to_string();
    let mut records = records.iter();
    records.any(|it| it.kind == "run.started" && it.run.as_deref() == Some(run.as_str()))
}

fn gone(id: &str) -> Failure {
    Failure::new(FailureCode::R004, format!("there is no run `{id}`"))
        .advise("the list of runs shows what there is")
}
