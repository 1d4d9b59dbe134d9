//! Shows a piece of work in progress in a single status line.

use std::sync::Arc;

use artel_types::{Failure, TraceId};
use artel_workshop::{
    CommandContext, ReplyTextMode, RunObservers, ShutdownLevel, Workshop, WorkshopFailures,
};
use tokio::sync::{mpsc, watch};

use super::company::{self, FirstUseAnswerMode};
use super::live::{LiveRunDisplay, LiveRunDisplayState};
use crate::runtime;
use crate::screen::CliOutput;

/// The watched work, and the answer mode for questions about first use.
pub(crate) struct WorkStatusLine {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) trace: TraceId,
    pub(crate) answers: FirstUseAnswerMode,
}

impl WorkStatusLine {
    /// Runs `work` with observers, and shows in one line what happens meanwhile. The line
    /// is redrawn in a terminal and is gone at the end. Programs get every event.
    pub(crate) fn in_a_line<T>(
        &self,
        caller: &CommandContext,
        screen: &mut CliOutput,
        work: impl AsyncFnOnce(RunObservers) -> Result<T, Failure>,
    ) -> Result<T, WorkshopFailures> {
        let (stop, stops) = watch::channel(ShutdownLevel::No);
        let (passing, heard) = mpsc::unbounded_channel();
        let company = company::company(caller, screen, self.answers, stops.clone(), passing);
        let eyes = self.workshop.eyes(None)?;
        let live = LiveRunDisplay {
            follower: self.workshop.follow(self.trace)?,
            narrator: self.workshop.narrator(eyes.clone(), ReplyTextMode::Heard),
            eyes,
            heard,
            stop: stops,
            clock: caller.clock().clone(),
            shown: LiveRunDisplayState::in_a_line(),
            screen,
        };
        let watched = live.watch(work(company));
        let (done, _) = runtime::block_on_stoppable(watched, &stop)??;
        Ok(done.map_err(|failure| runtime::unless_stopped(failure, &stop))?)
    }
}
