//! Reports: what a plan's run did and why, in `Knowledge/Reports`, for people and for later plans.
//!
//! A report is made from the journal and from nothing else, so it can be made again at any time
//! and comes out the same.

mod failed;
mod kept;
mod page;
mod past;
mod sections;

use std::path::PathBuf;

use artel_journal::{Batch, Journal};
use artel_rules::plan::names;
use artel_types::{
    Actor, Code, Draft, Event, Fact, Failure, ReportWritten, RunId, Stream, Timestamp, TraceId,
};
use serde::Serialize;

pub(crate) use past::Past;

use super::Work;
use super::changeset::title_of;
use crate::private::PRIVATE_FOLDER;
use crate::trouble::file_failure;
use crate::workshop::{Open, Workshop};

/// Where reports are.
const FOLDER: &str = "Knowledge/Reports";

/// Larger files are no reports of ours.
const LARGEST: u64 = 16 << 20;

/// A report in a list.
#[derive(Debug, Clone, Serialize)]
pub struct ReportRow {
    /// What it is called: the trace, cut short.
    pub id: String,
    /// The piece of work.
    pub trace: TraceId,
    /// The run that it tells of.
    pub run: RunId,
    /// When it was first written.
    pub at: Timestamp,
    /// What was done, in a line.
    pub title: String,
    /// completed or failed.
    pub status: String,
    /// Its file, relative to the workshop.
    pub path: String,
}

/// A report with its text.
#[derive(Debug, Clone, Serialize)]
pub struct ReportShown {
    /// What stands in the list.
    #[serde(flatten)]
    pub row: ReportRow,
    /// The text.
    pub text: String,
}

impl Workshop {
    /// Returns every report, the newest first.
    pub fn reports(&self) -> Result<Vec<ReportRow>, Failure> {
        Ok(self.board_of_waits()?.reports())
    }

    /// Returns a report: of the run that is named, or of the last one for the request. A file that
    /// is gone is told anew.
    pub fn report(&self, id: &str) -> Result<ReportShown, Failure> {
        let work = self.work_named(id)?;
        let run = run_named(&work, id)?;
        let row = rows_of(&work).into_iter().find(|row| row.run == run);
        let Some(row) = row else {
            let short = work.trace.short();
            return Err(
                Failure::new(Code::W010, format!("{short} has no report yet"))
                    .advise(format!("`artel report rebuild {short}` writes it")),
            );
        };
        let file = self.root.join(&row.path);
        let text = match artel_files::read_bounded(&file, LARGEST) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => self.report_text(&self.past(work, run)?)?,
        };
        Ok(ReportShown { row, text })
    }

    /// Writes a report anew from the journal.
    pub fn rebuild_report(&self, id: &str) -> Result<ReportShown, Failure> {
        let work = self.work_named(id)?;
        let run = run_named(&work, id)?;
        self.write_report(work.trace, run)?;
        self.report(&run.to_string())
    }

    /// Writes the report of a plan's run that is over, as things stand now. That it was written is
    /// put on record once.
    pub fn write_report(&self, trace: TraceId, run: RunId) -> Result<PathBuf, Failure> {
        let Open { journal, .. } = self.open()?;
        self.write_report_in(&journal, trace, run)
    }

    /// The same where the journal is open already.
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
        let failed = |error| file_failure(Code::W008, &error);
        artel_files::make_dirs(&self.root.join(FOLDER), PRIVATE_FOLDER).map_err(failed)?;
        let file = self.root.join(&path);
        self.put_report(&file, run, &text)?;
        if known.is_none() {
            let status = past.status().to_owned();
            let fact = ReportWritten { run, path, status };
            let actor = Actor::system("report");
            let draft = Draft::new(Stream::work(trace), trace, actor, fact);
            journal.append(Batch::of([draft])).wait()?;
            // The plan links to it.
            self.refresh_sheets(trace, super::acts::LOOKING);
        }
        Ok(file)
    }

    /// Returns where the report of a run is, if it was written.
    pub(crate) fn report_path(&self, work: &Work, run: RunId) -> Option<String> {
        let rows = rows_of(work).into_iter();
        rows.filter(|row| row.run == run).map(|row| row.path).next()
    }

    fn report_text(&self, past: &Past) -> Result<String, Failure> {
        if past.ended.is_none() {
            let short = past.work.trace.short();
            return Err(Failure::new(
                Code::R008,
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

/// Returns the runs of a plan that are over, oldest first.
fn ended_runs(work: &Work) -> Vec<RunId> {
    let run = |event: &Event| match &event.fact {
        Fact::PlanEnded(ended) => Some(ended.run),
        _ => None,
    };
    work.events.iter().filter_map(run).collect()
}

/// Returns the run that is meant: the one whose id begins like that, or the last one.
fn run_named(work: &Work, id: &str) -> Result<RunId, Failure> {
    let runs = ended_runs(work);
    let id = id.to_ascii_lowercase();
    let named = runs.iter().find(|run| run.to_string().starts_with(&id));
    named.or(runs.last()).copied().ok_or_else(|| {
        let short = work.trace.short();
        Failure::new(
            Code::W010,
            format!("there is nothing to report about {short} yet"),
        )
        .because("no run of its plan is over")
        .advise(format!("`artel plan show {short}` shows how far it is"))
    })
}

/// Returns where a report goes. Another run for the same request gets a name of its own.
fn path_of(past: &Past) -> Result<String, Failure> {
    let (at, _) = past
        .ended
        .as_ref()
        .ok_or_else(|| Failure::new(Code::X001, "a report was named before its run was over"))?;
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
