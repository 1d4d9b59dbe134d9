//! Reports in `Knowledge/Reports`: what a plan's run did and why, for people and for later
//! plans.
//!
//! A report is made from the journal alone, so it can be made again at any time with the
//! same result.

mod failed;
mod kept;
mod page;
mod past;
mod sections;

use std::path::PathBuf;

use artel_journal::{EventBatch, Journal};
use artel_rules::plan::names;
use artel_types::{
    Actor, Event, EventDraft, Fact, Failure, FailureCode, ReportWritten, RunId, StreamName,
    Timestamp, TraceId,
};
use serde::Serialize;

pub(crate) use past::PastPlanRun;

use super::Work;
use super::changeset::title_of;
use crate::private::PRIVATE_FOLDER;
use crate::trouble::file_failure;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// The folder of the reports.
const FOLDER: &str = "Knowledge/Reports";

/// Largest report that is read, in bytes. Artel writes none this large.
const LARGEST: u64 = 16 << 20;

/// A row of the list of reports.
#[derive(Debug, Clone, Serialize)]
pub struct ReportRow {
    /// The report's id: the beginning of the trace.
    pub id: String,
    /// The trace of the piece of work.
    pub trace: TraceId,
    /// The run that the report describes.
    pub run: RunId,
    /// The time when it was first written.
    pub at: Timestamp,
    /// The subject of the work, on one line.
    pub title: String,
    /// `completed` or `failed`.
    pub status: String,
    /// Its file, relative to the workshop.
    pub path: String,
}

/// A report with its text.
#[derive(Debug, Clone, Serialize)]
pub struct ReportDetail {
    /// The row that stands for it in the list.
    #[serde(flatten)]
    pub row: ReportRow,
    pub text: String,
}

impl Workshop {
    /// Returns all reports, newest first.
    pub fn reports(&self) -> Result<Vec<ReportRow>, Failure> {
        Ok(self.board_of_waits()?.reports())
    }

    /// Returns the report of the named run, or of the request's last run. If its file is gone,
    /// the text is made again.
    pub fn report(&self, id: &str) -> Result<ReportDetail, Failure> {
        let work = self.work_named(id)?;
        let run = run_named(&work, id)?;
        let row = rows_of(&work).into_iter().find(|row| row.run == run);
        let Some(row) = row else {
            let short = work.trace.short();
            return Err(
                Failure::new(FailureCode::W010, format!("{short} has no report yet"))
                    .advise(format!("`artel report rebuild {short}` writes it")),
            );
        };
        let file = self.root.join(&row.path);
        let text = match artel_files::read_bounded(&file, LARGEST) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => self.report_text(&self.past(work, run)?)?,
        };
        Ok(ReportDetail { row, text })
    }

    /// Writes a report again from the journal.
    pub fn rebuild_report(&self, id: &str) -> Result<ReportDetail, Failure> {
        let work = self.work_named(id)?;
        let run = run_named(&work, id)?;
        self.write_report(work.trace, run)?;
        self.report(&run.to_string())
    }

    /// Writes the report of a finished plan's run in its present state. Only the first time is
    /// recorded.
    pub fn write_report(&self, trace: TraceId, run: RunId) -> Result<PathBuf, Failure> {
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        self.write_report_in(&journal, trace, run)
    }

    /// Like `write_report`, with a journal that is open already.
    pub(crate) fn write_report_in(
        &self,
        journal: &Journal,
        trace: TraceId,
        run: RunId,
    ) -> Result<PathBuf, Failure> {
        let past = self.past(self.work(trace)?, run)?;
        let text = self.report_text(&past)?;
        let known = self.report_path(&past.work, run);
        let path = match &known {
            Some(path) => path.clone(),
            None => path_of(&past)?,
        };
        let failed = |error| file_failure(FailureCode::W008, &error);
        artel_files::make_dirs(&self.root.join(FOLDER), PRIVATE_FOLDER).map_err(failed)?;
        let file = self.root.join(&path);
        self.put_report(&file, run, &text)?;
        if known.is_none() {
            let status = past.status().to_owned();
            let fact = ReportWritten { run, path, status };
            let actor = Actor::system("report");
            let draft = EventDraft::new(StreamName::work(trace), trace, actor, fact);
            journal.append(EventBatch::of([draft])).wait()?;
            // The plan's file links to the report.
            self.refresh_sheets(trace, super::acts::LOOKING);
        }
        Ok(file)
    }

    /// Returns the path of a run's report, if it was written.
    pub(crate) fn report_path(&self, work: &Work, run: RunId) -> Option<String> {
        let rows = rows_of(work).into_iter();
        rows.filter(|row| row.run == run).map(|row| row.path).next()
    }

    fn report_text(&self, past: &PastPlanRun) -> Result<String, Failure> {
        if past.ended.is_none() {
            let short = past.work.trace.short();
            return Err(Failure::new(
                FailureCode::R008,
                format!("the steps of {short} are not over, so there is nothing to report"),
            )
            .advise(format!("`artel plan show {short}` shows how far it is")));
        }
        let words = self.whole_text(&past.work.request.words)?;
        let text = page::render(past, &words);
        Ok(self.redactor().redact(&text).into_owned())
    }
}

pub(super) fn rows_of(work: &Work) -> Vec<ReportRow> {
    let row = |event: &Event| match &event.fact {
        Fact::ReportWritten(written) => Some(ReportRow {
            id: work.trace.short(),
            trace: work.trace,
            run: written.run,
            at: event.at,
            title: title_of(work),
            status: written.status.clone(),
            path: written.path.clone(),
        }),
        _ => None,
    };
    work.events.iter().filter_map(row).collect()
}

/// Returns the finished runs of a plan, oldest first.
fn ended_runs(work: &Work) -> Vec<RunId> {
    let run = |event: &Event| match &event.fact {
        Fact::PlanEnded(ended) => Some(ended.run),
        _ => None,
    };
    work.events.iter().filter_map(run).collect()
}

/// Returns the run whose id begins with `id`, or else the last run.
fn run_named(work: &Work, id: &str) -> Result<RunId, Failure> {
    let runs = ended_runs(work);
    let id = id.to_ascii_lowercase();
    let named = runs.iter().find(|run| run.to_string().starts_with(&id));
    named.or(runs.last()).copied().ok_or_else(|| {
        let short = work.trace.short();
        Failure::new(
            FailureCode::W010,
            format!("there is nothing to report about {short} yet"),
        )
        .because("no run of its plan is over")
        .advise(format!("`artel plan show {short}` shows how far it is"))
    })
}

/// Returns the path for a new report. A further run for the same request gets a name of
/// its own.
fn path_of(past: &PastPlanRun) -> Result<String, Failure> {
    let (at, _) = past.ended.as_ref().ok_or_else(|| {
        Failure::new(
            FailureCode::X001,
            "a report was named before its run was over",
        )
    })?;
    let day: String = at.to_string().chars().take(10).collect();
    let slug = names::slug(&past.conduct.plan().title);
    let runs = ended_runs(&past.work);
    let number = runs.iter().position(|run| *run == past.run).unwrap_or(0) + 1;
    let again = match number {
        1 => String::new(),
        number => format!("-{number}"),
    };
    let short = past.work.trace.short();
    Ok(format!("{FOLDER}/{day}_{short}_{slug}{again}.md"))
}
