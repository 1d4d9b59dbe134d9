//! Shows a plan while it is carried out: a display that is redrawn in place, plain lines
//! without a terminal, records for programs.

use std::collections::BTreeSet;
use std::future::Future;
use std::io::{self, Write as _};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use artel_types::Tokens;
use artel_types::plan::StepState;
use artel_types::{Clock, Failure, TraceId};
use artel_workshop::{
    CommandContext, PlanProgress, PlanProgressTotals, PlanRules, ProgressRemark, ReplyTextMode,
    RunObservers, RunVisibility, ShutdownLevel, StepRow, TimelineLineKind, TraceFollower, Workshop,
    WorkshopFailures, seen,
};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::sync::watch;

use super::company::{self, FirstUseAnswerMode};
use super::live::RunScreenEvent;
use super::sheet::{PlanLinePriority, TerminalSize, cut, fitted, width};
use crate::render::{harmless, price};
use crate::runtime;
use crate::screen::{CliOutput, StatusColour};

/// Interval between redraws.
const DRAW: Duration = Duration::from_millis(100);

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Carries out a plan and draws its progress.
pub(crate) struct PlanScreen {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) trace: TraceId,
    pub(crate) rules: PlanRules,
    pub(crate) answers: FirstUseAnswerMode,
}

struct LivePlanDisplay<'s> {
    screen: &'s mut CliOutput,
    picture: PlanProgress,
    follower: TraceFollower,
    eyes: RunVisibility,
    heard: UnboundedReceiver<RunScreenEvent>,
    clock: Clock,
    /// Whether the display is redrawn in place.
    in_place: bool,
    /// Widths of the lines that are on the screen now.
    drawn: Vec<usize>,
    /// Terminal size at the time they were drawn.
    room: TerminalSize,
    /// What the run was last waiting for.
    waits: Option<String>,
    is_quiet: bool,
    turn: usize,
    /// A line with the keys and commands available meanwhile.
    keys: String,
}

impl PlanScreen {
    /// Runs `work` with observers, and draws the progress of the plan meanwhile.
    pub(crate) fn draw<T>(
        &self,
        caller: &CommandContext,
        screen: &mut CliOutput,
        work: impl AsyncFnOnce(RunObservers) -> Result<T, Failure>,
    ) -> Result<T, WorkshopFailures> {
        let (stop, stops) = watch::channel(ShutdownLevel::No);
        let (passing, heard) = mpsc::unbounded_channel();
        let company = company::company(caller, screen, self.answers, stops.clone(), passing);
        let eyes = self.workshop.eyes(None)?;
        let narrator = self.workshop.narrator(eyes.clone(), ReplyTextMode::Heard);
        let known = self.workshop.work(self.trace)?;
        let in_place = screen.redraws;
        let drawing = LivePlanDisplay {
            follower: self.workshop.follow(self.trace)?,
            picture: self.workshop.picture(&known, self.rules, narrator)?,
            eyes,
            heard,
            clock: caller.clock().clone(),
            in_place,
            drawn: Vec::new(),
            room: TerminalSize::now(),
            waits: None,
            is_quiet: false,
            turn: 0,
            keys: keys(&self.trace.short()),
            screen,
        };
        let watched = drawing.watch(work(company), stops);
        let done = runtime::block_on_stoppable(watched, &stop)??;
        Ok(done.map_err(|failure| runtime::unless_stopped(failure, &stop))?)
    }
}

impl LivePlanDisplay<'_> {
    async fn watch<T>(
        mut self,
        work: impl Future<Output = T>,
        mut stop: watch::Receiver<ShutdownLevel>,
    ) -> Result<T, WorkshopFailures> {
        let mut work = pin!(work);
        let mut look = tokio::time::interval(DRAW);
        let done = loop {
            tokio::select! {
                biased;
                done = &mut work => break done,
                Some(passing) = self.heard.recv() => self.pass(passing)?,
                wish = stop.changed() => if wish.is_ok() { self.stopping(*stop.borrow()) },
                _ = look.tick() => {
                    self.catch_up()?;
                    self.redraw();
                }
            }
        };
        self.is_quiet = false;
        while let Ok(passing) = self.heard.try_recv() {
            self.pass(passing)?;
        }
        self.catch_up()?;
        self.redraw();
        self.drawn.clear();
        Ok(done)
    }

    fn catch_up(&mut self) -> Result<(), WorkshopFailures> {
        if self.is_quiet {
            return Ok(());
        }
        for record in self.follower.news()? {
            let remarks = self.picture.take(&record);
            if self.screen.json {
                if let Some(shown) = seen(&self.eyes, &record) {
                    self.screen.value(&shown)?;
                }
                self.screen.flush()?;
            } else if !self.in_place {
                for remark in &remarks {
                    let text = self.remark(remark);
                    self.screen.say(format!("  {text}"));
                }
            }
        }
        Ok(())
    }

    fn pass(&mut self, passing: RunScreenEvent) -> Result<(), WorkshopFailures> {
        match passing {
            RunScreenEvent::Notice(text) => {
                self.clear();
                self.screen.notes(&[text]);
            }
            RunScreenEvent::Waits(what) => {
                if !self.screen.json && self.waits.as_ref() != Some(&what) {
                    self.clear();
                    self.screen.say(format!("⏸ waits: {}", harmless(&what)));
                    self.waits = Some(what);
                }
            }
            RunScreenEvent::Quiet(ready) => {
                self.catch_up()?;
                self.redraw();
                self.drawn.clear();
                self.is_quiet = true;
                // The thread that asked may be gone already.
                ready.send(()).unwrap_or_default();
            }
            RunScreenEvent::Loud => self.is_quiet = false,
            RunScreenEvent::Words(_) | RunScreenEvent::Begins => {}
        }
        Ok(())
    }

    fn stopping(&mut self, wish: ShutdownLevel) {
        if self.screen.json {
            return;
        }
        self.clear();
        match wish {
            ShutdownLevel::Politely => self
                .screen
                .say("pausing after what runs now; Ctrl-C again stops at once"),
            ShutdownLevel::Now => self.screen.say("stopping at once"),
            ShutdownLevel::No => {}
        }
    }

    /// Removes the display from the screen.
    fn clear(&mut self) {
        let up = TerminalSize::now().rows_of(&self.drawn);
        if self.in_place && up > 0 {
            let mut out = io::stderr();
            drop(write!(out, "\u{1b}[{up}A\u{1b}[J"));
            drop(out.flush());
        }
        self.drawn.clear();
    }

    fn redraw(&mut self) {
        if !self.in_place || self.is_quiet {
            return;
        }
        self.turn += 1;
        let now = self.clock.now();
        let room = TerminalSize::now();
        if room != self.room {
            // The terminal has wrapped the old lines differently.
            self.clear();
            self.room = room;
        }
        let lines = self.lines_of(&self.picture.rows(now), &self.picture.sum(now));
        let lines = fitted(lines, room.height());
        let text: String = lines
            .iter()
            .map(|line| format!("{line}\u{1b}[K\n"))
            .collect();
        let mut out = io::stderr();
        if !self.drawn.is_empty() {
            drop(write!(out, "\u{1b}[{}A", self.drawn.len()));
        }
        drop(write!(out, "{text}\u{1b}[J"));
        drop(out.flush());
        self.drawn = lines.iter().map(|line| width(line)).collect();
    }

    fn lines_of(
        &self,
        rows: &[StepRow],
        sum: &PlanProgressTotals,
    ) -> Vec<(PlanLinePriority, String)> {
        let widest = self.room.width();
        let mut lines = Vec::new();
        let mut rows: Vec<&StepRow> = rows.iter().collect();
        rows.sort_by_key(|row| (row.layer, row.number));
        // If the steps simply follow one another, layers are not mentioned.
        let layers: BTreeSet<usize> = rows.iter().map(|row| row.layer).collect();
        let is_layered = layers.len() > 1 && layers.len() < rows.len();
        let mut last = 0;
        for row in &rows {
            if is_layered && row.layer != last {
                last = row.layer;
                lines.push((PlanLinePriority::Gap, format!("  layer {last}")));
            }
            let weight = match row.state {
                StepState::Waiting => PlanLinePriority::Waiting,
                StepState::Running | StepState::Verifying => PlanLinePriority::Now,
                StepState::Done | StepState::Failed | StepState::Skipped => PlanLinePriority::Over,
            };
            lines.push((weight, self.row(row)));
            // Findings stay with their step; for a finished step, the last remarks are
            // enough.
            let keep = if row.state == StepState::Done { 2 } else { 3 };
            let skip = row.remarks.len().saturating_sub(keep);
            for remark in row.remarks.iter().skip(skip) {
                lines.push((
                    PlanLinePriority::Remark,
                    format!("      {}", self.remark(remark)),
                ));
            }
        }
        lines.push((PlanLinePriority::Gap, String::new()));
        let total = cut(&summary(sum), widest.saturating_sub(2));
        lines.push((PlanLinePriority::Now, format!("  {total}")));
        for need in &sum.needs {
            let need = cut(&in_one_line(need), widest.saturating_sub(4));
            lines.push((PlanLinePriority::Now, format!("  ⏸ {need}")));
        }
        let is_over = |row: &&StepRow| {
            matches!(
                row.state,
                StepState::Done | StepState::Failed | StepState::Skipped
            )
        };
        if sum.phase.is_some() || !rows.iter().all(is_over) {
            let keys = cut(&self.keys, widest.saturating_sub(2));
            lines.push((PlanLinePriority::Gap, format!("  {keys}")));
        }
        lines
    }

    fn row(&self, row: &StepRow) -> String {
        let spinner = SPINNER[self.turn % SPINNER.len()];
        let (sign, paint) = match row.state {
            StepState::Waiting => ("○", None),
            StepState::Running | StepState::Verifying => (spinner, None),
            StepState::Done => ("✓", Some(StatusColour::Good)),
            StepState::Failed => ("✗", Some(StatusColour::Bad)),
            StepState::Skipped => ("⊘", Some(StatusColour::Doubtful)),
        };
        // The column at which the usage of a step begins.
        let column = self.room.width() * 3 / 5;
        let title = cut(&in_one_line(&row.title), column.saturating_sub(8));
        let pad = column.saturating_sub(6 + width(&title));
        let took = cut(&took(row), self.room.width().saturating_sub(column + 2));
        format!(
            "  {} {} {title}{}{took}",
            self.painted(sign, paint),
            row.number,
            " ".repeat(pad)
        )
    }

    fn painted(&self, sign: &str, paint: Option<StatusColour>) -> String {
        match paint {
            Some(paint) => self.screen.paint_told(sign, paint),
            None => sign.to_owned(),
        }
    }

    fn remark(&self, remark: &ProgressRemark) -> String {
        let (sign, paint) = match remark.mark {
            TimelineLineKind::Done => ("✓ ", Some(StatusColour::Good)),
            TimelineLineKind::Bad | TimelineLineKind::Failed => ("✗ ", Some(StatusColour::Bad)),
            TimelineLineKind::Waits => ("⏸ ", Some(StatusColour::Doubtful)),
            _ => ("", None),
        };
        let text = cut(
            &in_one_line(&remark.text),
            self.room.width().saturating_sub(8),
        );
        format!("{}{text}", self.painted(sign, paint))
    }
}

/// Returns a line that says what the person can do meanwhile, here and in another terminal.
fn keys(id: &str) -> String {
    format!(
        "Ctrl-C leaves, artel resume {id} comes back · elsewhere: artel hint {id} \"…\" · \
         artel cancel {id} · artel waiting"
    )
}

/// Returns what a step took, or what it is doing.
fn took(row: &StepRow) -> String {
    let seconds = row.seconds.map_or(String::new(), |it| format!("{it:.1} s"));
    let loops = match row.round {
        0 | 1 => "1 loop".to_owned(),
        round => format!("{round} loops"),
    };
    match row.state {
        StepState::Waiting => "waiting".to_owned(),
        StepState::Done => format!("{loops:<9} {seconds}"),
        StepState::Failed | StepState::Skipped => row.state.to_string(),
        StepState::Running | StepState::Verifying => {
            let retry = match row.round {
                0 | 1 => String::new(),
                round => format!("retry {round}/{} ", row.allowed),
            };
            let doing = row.doing.as_deref().map(in_one_line).unwrap_or_default();
            let doing = if doing.is_empty() {
                row.state.to_string()
            } else {
                doing
            };
            format!("{retry}{doing}")
        }
    }
}

fn summary(sum: &PlanProgressTotals) -> String {
    let tokens = format!("{} tokens", Tokens(sum.tokens));
    let cost = price(sum.cost);
    let phase = match &sum.phase {
        Some(phase) => format!(" · {phase}"),
        None => String::new(),
    };
    format!(
        "{}/{} steps · {tokens} · {cost} · {:.0} s{phase}",
        sum.done, sum.all, sum.seconds
    )
}

/// Returns text for one line of the display, which has no room for more.
fn in_one_line(text: &str) -> String {
    harmless(&text.replace(['\n', '\t'], " "))
}
