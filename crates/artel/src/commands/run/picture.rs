//! A plan in the terminal while it is carried out: one picture that is drawn again in place, plain
//! lines where there is no terminal, records for programs.

use std::future::Future;
use std::io::{self, IsTerminal as _, Write as _};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use artel_types::plan::StepState;
use artel_types::{Clock, TraceId};
use artel_workshop::{
    Caller, Company, Eyes, Follower, Mark, Picture, PlanRules, PlanSum, Problems, Remark, StepRow,
    Stop, Words, Workshop, seen,
};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::sync::watch;

use super::company::{self, Answers};
use super::live::Passing;
use crate::render::{harmless, price};
use crate::runtime;
use crate::screen::{Paint, Screen};

/// How often the picture is drawn.
const DRAW: Duration = Duration::from_millis(100);

/// No line of the picture is wider, so that it can be drawn again in place.
const WIDEST: usize = 98;

/// Where the column with what a step took begins.
const COLUMN: usize = 60;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What is watched.
pub(crate) struct Canvas {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) trace: TraceId,
    pub(crate) rules: PlanRules,
    pub(crate) answers: Answers,
}

struct Drawing<'s> {
    screen: &'s mut Screen,
    picture: Picture,
    follower: Follower,
    eyes: Eyes,
    heard: UnboundedReceiver<Passing>,
    clock: Clock,
    /// Whether the picture is drawn in place.
    in_place: bool,
    /// How many lines of it stand there.
    lines: usize,
    is_quiet: bool,
    turn: usize,
}

impl Canvas {
    /// Carries something out with company, and draws what happens to the plan meanwhile.
    pub(crate) fn draw<T>(
        &self,
        caller: &Caller,
        screen: &mut Screen,
        work: impl AsyncFnOnce(Company) -> T,
    ) -> Result<T, Problems> {
        let (stop, stops) = watch::channel(Stop::No);
        let (passing, heard) = mpsc::unbounded_channel();
        let company = company::company(caller, screen, self.answers, stops.clone(), passing);
        let eyes = self.workshop.eyes(None)?;
        let narrator = self.workshop.narrator(eyes.clone(), Words::Heard);
        let known = self.workshop.work(self.trace)?;
        let in_place = !screen.json && io::stderr().is_terminal();
        let drawing = Drawing {
            follower: self.workshop.follow(self.trace)?,
            picture: self.workshop.picture(&known, self.rules, narrator)?,
            eyes,
            heard,
            clock: caller.clock().clone(),
            in_place,
            lines: 0,
            is_quiet: false,
            turn: 0,
            screen,
        };
        let watched = drawing.watch(work(company), stops);
        runtime::block_on_stoppable(watched, &stop)?
    }
}

impl Drawing<'_> {
    async fn watch<T>(
        mut self,
        work: impl Future<Output = T>,
        mut stop: watch::Receiver<Stop>,
    ) -> Result<T, Problems> {
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
        self.lines = 0;
        Ok(done)
    }

    fn catch_up(&mut self) -> Result<(), Problems> {
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

    fn pass(&mut self, passing: Passing) -> Result<(), Problems> {
        match passing {
            Passing::Notice(text) => {
                self.clear();
                self.screen.notes(&[text]);
            }
            Passing::Waits(what) => {
                if !self.screen.json {
                    self.clear();
                    self.screen.say(format!("⏸ waits: {}", harmless(&what)));
                }
            }
            Passing::Quiet(ready) => {
                self.catch_up()?;
                self.redraw();
                self.lines = 0;
                self.is_quiet = true;
                // Whoever asked may have gone already.
                ready.send(()).unwrap_or_default();
            }
            Passing::Loud => self.is_quiet = false,
            Passing::Words(_) | Passing::Begins => {}
        }
        Ok(())
    }

    fn stopping(&mut self, wish: Stop) {
        if self.screen.json {
            return;
        }
        self.clear();
        match wish {
            Stop::Politely => self
                .screen
                .say("pausing after what runs now; Ctrl-C again stops at once"),
            Stop::Now => self.screen.say("stopping at once"),
            Stop::No => {}
        }
    }

    /// Takes the picture away.
    fn clear(&mut self) {
        if self.in_place && self.lines > 0 {
            let mut out = io::stderr();
            drop(write!(out, "\u{1b}[{}A\u{1b}[J", self.lines));
            drop(out.flush());
        }
        self.lines = 0;
    }

    fn redraw(&mut self) {
        if !self.in_place || self.is_quiet {
            return;
        }
        self.turn += 1;
        let now = self.clock.now();
        let mut text = String::new();
        let mut count = 0;
        for line in self.lines_of(&self.picture.rows(now), &self.picture.sum(now)) {
            text.push_str(&line);
            text.push_str("\u{1b}[K\n");
            count += 1;
        }
        let mut out = io::stderr();
        if self.lines > 0 {
            drop(write!(out, "\u{1b}[{}A", self.lines));
        }
        drop(write!(out, "{text}\u{1b}[J"));
        drop(out.flush());
        self.lines = count;
    }

    fn lines_of(&self, rows: &[StepRow], sum: &PlanSum) -> Vec<String> {
        let mut lines = Vec::new();
        for row in rows {
            lines.push(self.row(row));
            // What was found stays with its step; of one that is done the last words are enough.
            let keep = if row.state == StepState::Done { 2 } else { 3 };
            let skip = row.remarks.len().saturating_sub(keep);
            for remark in row.remarks.iter().skip(skip) {
                lines.push(format!("      {}", self.remark(remark)));
            }
        }
        lines.push(String::new());
        lines.push(format!("  {}", cut(&summary(sum), WIDEST - 2)));
        for need in &sum.needs {
            lines.push(format!("  ⏸ {}", cut(&harmless(need), WIDEST - 4)));
        }
        lines
    }

    fn row(&self, row: &StepRow) -> String {
        let spinner = SPINNER[self.turn % SPINNER.len()];
        let (sign, paint) = match row.state {
            StepState::Waiting => ("○", None),
            StepState::Running | StepState::Verifying => (spinner, None),
            StepState::Done => ("✓", Some(Paint::Good)),
            StepState::Failed => ("✗", Some(Paint::Bad)),
            StepState::Skipped => ("⊘", Some(Paint::Doubtful)),
        };
        let title = cut(&harmless(&row.title), COLUMN - 8);
        let pad = COLUMN.saturating_sub(6 + title.chars().count());
        let took = cut(&took(row), WIDEST - COLUMN);
        format!(
            "  {} {} {title}{}{took}",
            self.painted(sign, paint),
            row.number,
            " ".repeat(pad)
        )
    }

    fn painted(&self, sign: &str, paint: Option<Paint>) -> String {
        match paint {
            Some(paint) => self.screen.paint_told(sign, paint),
            None => sign.to_owned(),
        }
    }

    fn remark(&self, remark: &Remark) -> String {
        let (sign, paint) = match remark.mark {
            Mark::Done => ("✓ ", Some(Paint::Good)),
            Mark::Bad | Mark::Failed => ("✗ ", Some(Paint::Bad)),
            Mark::Waits => ("⏸ ", Some(Paint::Doubtful)),
            _ => ("", None),
        };
        let text = cut(&harmless(&remark.text), WIDEST - 8);
        format!("{}{text}", self.painted(sign, paint))
    }
}

/// What a step took, or does.
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
            let doing = row.doing.as_deref().map(harmless).unwrap_or_default();
            let doing = if doing.is_empty() {
                row.state.to_string()
            } else {
                doing
            };
            format!("{retry}{doing}")
        }
    }
}

fn summary(sum: &PlanSum) -> String {
    let tokens = match sum.tokens {
        count @ 0..=999 => format!("{count} tokens"),
        count => format!("{}.{}k tokens", count / 1000, count % 1000 / 100),
    };
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

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end.saturating_sub(1).min(end)]),
        None => text.to_owned(),
    }
}
