//! The provider `rehearsal`: a script or a recording instead of a model.
//!
//! For tests, demonstrations and replay. It reads no file, knows no clock and no network: the same
//! requests in the same order get the same answers. `docs/rehearsal.md` describes scripts.

mod beat;
mod cassette;
mod complaint;
mod difference;
mod expect;
mod field;
mod line;
mod print;
mod script;

#[cfg(test)]
mod cassette_tests;
#[cfg(test)]
mod complaint_tests;
#[cfg(test)]
mod docs_tests;
#[cfg(test)]
mod script_tests;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_types::Failure;
use artel_types::model::Request;
use futures_util::StreamExt as _;
use futures_util::future::lazy;
use futures_util::stream::once;

use crate::{ChunkStream, Model};
use beat::Beat;
pub use cassette::{Cassette, Take, chunks_of};
pub use print::{Print, fingerprint};

/// A model that says what it was told to say. Clones share how far it has come.
#[derive(Debug, Clone)]
pub struct Rehearsal {
    source: Arc<Mutex<Source>>,
}

#[derive(Debug)]
enum Source {
    Script(Box<script::Script>),
    Cassette(cassette::Playing),
}

impl Rehearsal {
    /// Reads a script; `name` is what messages call it.
    pub fn load(text: &str, name: &str) -> Result<Self, Failure> {
        let script = script::Script::read(text, name)?;
        Ok(Self::new(Source::Script(Box::new(script))))
    }

    /// Plays a recording.
    pub fn play(cassette: Cassette) -> Self {
        Self::new(Source::Cassette(cassette.into()))
    }

    fn new(source: Source) -> Self {
        let source = Arc::new(Mutex::new(source));
        Self { source }
    }

    /// Tells how many lines or takes were never spoken. A line that may speak several times counts
    /// as often as it still may, a rule that may speak any number of times once until it has
    /// spoken; what answers otherwise does not count.
    pub fn unused(&self) -> usize {
        match &*self.source() {
            Source::Script(script) => script.unused(),
            Source::Cassette(playing) => playing.unused(),
        }
    }

    fn answer(&self, request: &Request) -> Vec<Beat> {
        let answer = match &mut *self.source() {
            Source::Script(script) => script.answer(request),
            Source::Cassette(playing) => playing
                .answer(request)
                .map(|chunks| chunks.into_iter().map(Beat::Chunk).collect()),
        };
        answer.unwrap_or_else(|fault| vec![Beat::Fault(fault)])
    }

    /// Nobody panics between two changes, so what a poisoned lock guards is whole.
    fn source(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for Rehearsal {
    fn reply(&self, request: &Request) -> ChunkStream {
        let (rehearsal, request) = (self.clone(), request.clone());
        let answer = lazy(move |_| rehearsal.answer(&request));
        Box::pin(once(answer).flat_map(beat::play))
    }
}
