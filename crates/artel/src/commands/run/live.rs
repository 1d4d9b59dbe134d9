//! Shows a run in progress: lines for people, records for programs.
//!
//! Recorded events are read from the journal; unrecorded ones come from the observer of the
//! run. Both are shown by the single thread that owns the screen.

use std::future::Future;
use std::io::{self, IsTerminal as _, Write as _};
use std::pin::pin;
use std::sync::mpsc;
use std::time::Duration;

use artel_journal::JournalRecord;
use artel_types::{Clock, Failure, RunId};
use artel_workshop::{
    RunTimelineBuilder, RunVisibility, ShutdownLevel, TimelineDetailLevel, TimelineLine,
    TraceFollower, WorkshopFailures, seen,
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

use super::sheet::{TerminalSize, cut};
use crate::commands::story::laid_out;
use crate::render::harmless;
use crate::screen::CliOutput;

/// Interval between checks of the journal.
const LOOK: Duration = Duration::from_millis(20);

/// The spinner turns once per this many checks.
const LOOKS: usize = 5;

/// Maximum width of a status line: it must fit the width of a terminal, or it cannot be
/// rewritten.
const WIDEST: usize = 76;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// An unrecorded event for the screen of a run.
pub(crate) enum RunScreenEvent {
    /// More words from the model.
    Words(String),
    /// The model begins its reply, possibly again.
    Begins,
    /// The run is waiting for something.
    Waits(String),
    /// Something a person should know.
    Notice(String),
    /// A person is about to be asked. The screen belongs to the question once this is
    /// acknowledged.
    Quiet(mpsc::Sender<()>),
    /// The person has answered.
    Loud,
}

/// Shows a run in the terminal while it is in progress.
pub(crate) struct LiveRunDisplay<'s> {
    pub(crate) screen: &'s mut CliOutput,
    pub(crate) follower: TraceFollower,
    pub(crate) narrator: RunTimelineBuilder,
    pub(crate) eyes: RunVisibility,
    pub(crate) heard: UnboundedReceiver<RunScreenEvent>,
    pub(crate) stop: watch::Receiver<ShutdownLevel>,
    pub(crate) clock: Clock,
    pub(crate) shown: LiveRunDisplayState,
}

/// The state of the screen.
#[derive(Default)]
pub(crate) struct LiveRunDisplayState {
    /// The run that was shown last.
    run: Option<RunId>,
    /// Whether the screen shows words on a line that has not ended.
    is_midline: bool,
    /// Whether the screen shows a status line.
    has_status: bool,
    is_quiet: bool,
    looks: usize,
    began: Option<Duration>,
    waits: Option<String>,
    /// Whether only a status line is shown.
    is_in_a_line: bool,
    /// Lines about how the run ended, which are shown after its answer.
    ending: Vec<TimelineLine>,
    trouble: Option<WorkshopFailures>,
}

impl LiveRunDisplayState {
    /// Creates the state of a screen on which a single line shows what happens.
    pub(crate) fn in_a_line() -> Self {
        Self {
            is_in_a_line: true,
            ..Self::default()
        }
    }
}

impl LiveRunDisplay<'_> {
    /// Waits for a run and shows what happens. Returns the lines that describe its end.
    pub(crate) async fn watch<T>(
        mut self,
        work: impl Future<Output = T>,
    ) -> Result<(T, Vec<TimelineLine>), WorkshopFailures> {
        let mut work = pin!(work);
        let mut look = tokio::time::interval(LOOK);
        let done = loop {
            tokio::select! {
                biased;
                done = &mut work => break done,
                Some(passing) = self.heard.recv() => self.pass(passing),
                wish = self.stop.changed() => if wish.is_ok() { self.stopping() },
                _ = look.tick() => {
                    self.catch_up();
                    self.turn_spinner();
                }
            }
        };
        self.shown.is_quiet = false;
        while let Ok(passing) = self.heard.try_recv() {
            self.pass(passing);
        }
        self.catch_up();
        self.clear();
        match self.shown.trouble.take() {
            Some(trouble) => Err(trouble),
            None => Ok((done, std::mem::take(&mut self.shown.ending))),
        }
    }

    /// Shows what was recorded since the last check.
    fn catch_up(&mut self) {
        if self.shown.is_quiet || self.shown.trouble.is_some() {
            return;
        }
        if let Err(trouble) = self.show_news() {
            self.shown.trouble = Some(trouble);
        }
    }

    fn show_news(&mut self) -> Result<(), WorkshopFailures> {
        for record in self.follower.news()? {
            if record.run.is_none() {
                continue;
            }
            let lines = self.narrator.tell(&record);
            if let Some(run) = record.run.as_deref().and_then(|run| run.parse().ok()) {
                self.shown.run = Some(run);
                self.shown.began.get_or_insert_with(|| self.clock.uptime());
            }
            if self.screen.json {
                self.print(&record, &lines)?;
                continue;
            }
            let is_end = record.kind == "run.finished" && lines.iter().all(|it| it.depth == 0);
            if is_end {
                self.shown.ending = lines;
                continue;
            }
            // The person at the terminal is about to be asked.
            let is_asked = record.kind == "run.asked" && io::stdin().is_terminal();
            if self.shown.is_in_a_line || is_asked {
                continue;
            }
            for line in lines {
                self.say(&line);
            }
        }
        Ok(())
    }

    /// Prints an event for programs. A summary leaves most events out, and prints the lines
    /// that a person would read instead.
    fn print(
        &mut self,
        record: &JournalRecord,
        lines: &[TimelineLine],
    ) -> Result<(), WorkshopFailures> {
        let milestones = match self.eyes.view {
            TimelineDetailLevel::Summary => lines,
            TimelineDetailLevel::Full => &[],
        };
        let shown = seen(&self.eyes, record);
        // Whatever led to the end comes before it.
        let is_end = record.kind == "run.finished";
        if let Some(shown) = shown.as_ref().filter(|_| !is_end) {
            self.screen.value(shown)?;
        }
        for line in milestones {
            self.screen
                .value(&serde_json::json!({ "milestone": line }))?;
        }
        if let Some(shown) = shown.as_ref().filter(|_| is_end) {
            self.screen.value(shown)?;
        }
        self.screen.flush()?;
        Ok(())
    }

    fn say(&mut self, line: &TimelineLine) {
        self.clear();
        let text = laid_out(line, |sign, paint| self.screen.paint_told(sign, paint));
        self.screen.say(text);
    }

    fn pass(&mut self, passing: RunScreenEvent) {
        // Everything recorded so far happened earlier.
        self.catch_up();
        let is_full = self.eyes.view == TimelineDetailLevel::Full && !self.screen.json;
        match passing {
            RunScreenEvent::Words(text) if is_full => self.words(&text),
            RunScreenEvent::Begins if self.shown.is_midline => {
                self.clear();
                self.screen.say("  [begins anew]");
            }
            RunScreenEvent::Words(_) | RunScreenEvent::Begins => {}
            RunScreenEvent::Waits(what) => self.waits(what),
            RunScreenEvent::Notice(text) => {
                self.clear();
                self.screen.notes(&[text]);
            }
            RunScreenEvent::Quiet(ready) => {
                self.clear();
                self.shown.is_quiet = true;
                // The thread that asked may be gone already.
                ready.send(()).unwrap_or_default();
            }
            RunScreenEvent::Loud => self.shown.is_quiet = false,
        }
    }

    /// Shows words as they arrive, with control characters made harmless.
    fn words(&mut self, text: &str) {
        let mut out = io::stderr();
        if self.shown.has_status {
            self.clear();
        }
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                drop(writeln!(out));
                self.shown.is_midline = false;
            }
            if part.is_empty() {
                continue;
            }
            let indent = if self.shown.is_midline { "" } else { "  " };
            drop(write!(out, "{indent}{}", harmless(part)));
            self.shown.is_midline = true;
        }
        drop(out.flush());
    }

    /// Shows once what the run is waiting for.
    fn waits(&mut self, what: String) {
        if self.screen.json || self.shown.waits.as_ref() == Some(&what) {
            return;
        }
        self.clear();
        let sign = self
            .screen
            .paint_told("⏸", crate::screen::StatusColour::Doubtful);
        self.screen
            .say(format!("{sign} waits: {}", harmless(&what)));
        self.shown.waits = Some(what);
    }

    fn stopping(&mut self) {
        if self.screen.json {
            return;
        }
        let wish = *self.stop.borrow();
        self.clear();
        match wish {
            ShutdownLevel::Politely => self
                .screen
                .say("stopping after what runs now; Ctrl-C again stops at once"),
            ShutdownLevel::Now => self.screen.say("stopping at once"),
            ShutdownLevel::No => {}
        }
    }

    /// Removes the status line, and ends a line of words.
    fn clear(&mut self) {
        let mut out = io::stderr();
        if std::mem::take(&mut self.shown.has_status) {
            drop(write!(out, "\r\u{1b}[K"));
        }
        if std::mem::take(&mut self.shown.is_midline) {
            drop(writeln!(out));
        }
    }

    /// Rewrites the status line, if this is a terminal.
    fn turn_spinner(&mut self) {
        self.shown.looks += 1;
        let is_due = self.shown.looks.is_multiple_of(LOOKS);
        let has_room = !self.shown.is_quiet && !self.shown.is_midline && self.screen.redraws;
        let is_summary = self.eyes.view == TimelineDetailLevel::Summary;
        let (Some(run), Some(began)) = (self.shown.run, self.shown.began) else {
            return;
        };
        if !is_due || !has_room || !is_summary {
            return;
        }
        let sign = SPINNER[self.shown.looks / LOOKS % SPINNER.len()];
        let seconds = self.clock.uptime().saturating_sub(began).as_secs();
        let text = format!("{} · {seconds} s", harmless(&self.narrator.now(run)));
        let text = cut(
            &text,
            WIDEST.min(TerminalSize::now().width().saturating_sub(2)),
        );
        let mut out = io::stderr();
        drop(write!(out, "\r\u{1b}[K{sign} {text}"));
        drop(out.flush());
        self.shown.has_status = true;
    }
}

/// Feeds the earlier events of a run to the timeline builder, so that it knows the run's
/// state.
pub(crate) fn remind(
    narrator: &mut RunTimelineBuilder,
    workshop: &artel_workshop::Workshop,
    run: RunId,
) -> Result<(), Failure> {
    for record in workshop.run_records(&run.to_string())? {
        drop(narrator.tell(&record));
    }
    Ok(())
}
