//! Watching whatever goes on in a piece of work while it goes on.

use std::sync::Arc;

use artel_types::{Failure, TraceId};
use artel_workshop::{Caller, Company, Problems, Stop, Words, Workshop};
use tokio::sync::{mpsc, watch};

use super::company::{self, Answers};
use super::live::{Live, Shown};
use crate::runtime;
use crate::screen::Screen;

/// What is watched, and how questions about first uses are answered.
pub(crate) struct Watch {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) trace: TraceId,
    pub(crate) answers: Answers,
}

impl Watch {
    /// Does something with company, and shows in one line what happens meanwhile: in a terminal,
    /// where it can be drawn again and is gone in the end. Programs are told everything.
    pub(crate) fn in_a_line<T>(
        &self,
        caller: &Caller,
        screen: &mut Screen,
        work: impl AsyncFnOnce(Company) -> Result<T, Failure>,
    ) -> Result<T, Problems> {
        let (stop, stops) = watch::channel(Stop::No);
        let (passing, heard) = mpsc::unbounded_channel();
        let company = company::company(caller, screen, self.answers, stops.clone(), passing);
        let eyes = self.workshop.eyes(None)?;
        let live = Live {
            follower: self.workshop.follow(self.trace)?,
            narrator: self.workshop.narrator(eyes.clone(), Words::Heard),
            eyes,
            heard,
            stop: stops,
            clock: caller.clock().clone(),
            shown: Shown::in_a_line(),
            screen,
        };
        let watched = live.watch(work(company));
        let (done, _) = runtime::block_on_stoppable(watched, &stop)??;
        Ok(done.map_err(|failure| runtime::unless_stopped(failure, &stop))?)
    }
}
