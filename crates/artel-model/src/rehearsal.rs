//! The provider `rehearsal`: a script or a recording instead of a model.
//!
//! It is for tests, demonstrations and replay. It uses no files, no clock and no network:
//! the same requests in the same order get the same replies. `docs/rehearsal.md` describes
//! scripts.

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
use artel_types::model::ModelRequest;
use futures_util::StreamExt as _;
use futures_util::future::lazy;
use futures_util::stream::once;

use crate::{ChunkStream, Model};
use beat::RehearsalEvent;
pub use cassette::{Cassette, CassetteTake, chunks_of};
pub use print::{ModelRequestFingerprint, fingerprint};

/// A model that replies as scripted. Clones share their position in the script.
#[derive(Debug, Clone)]
pub struct RehearsalModel {
    source: Arc<Mutex<RehearsalSource>>,
}

#[derive(Debug)]
enum RehearsalSource {
    Script(Box<script::RehearsalScript>),
    Cassette(cassette::CassettePlayer),
}

impl RehearsalModel {
    /// Reads a script. Messages refer to it as `name`.
    pub fn load(text: &str, name: &str) -> Result<Self, Failure> {
        let script = script::RehearsalScript::read(text, name)?;
        Ok(Self::new(RehearsalSource::Script(Box::new(script))))
    }

    /// Plays a recording.
    pub fn play(cassette: Cassette) -> Self {
        Self::new(RehearsalSource::Cassette(cassette.into()))
    }

    fn new(source: RehearsalSource) -> Self {
        let source = Arc::new(Mutex::new(source));
        Self { source }
    }

    /// Returns how many lines or takes were never used. A line with several uses counts as
    /// often as it is left. A rule with unlimited uses counts once until it is used.
    /// `otherwise` does not count.
    pub fn unused(&self) -> usize {
        match &*self.source() {
            RehearsalSource::Script(script) => script.unused(),
            RehearsalSource::Cassette(playing) => playing.unused(),
        }
    }

    fn answer(&self, request: &ModelRequest) -> Vec<RehearsalEvent> {
        let answer = match &mut *self.source() {
            RehearsalSource::Script(script) => script.answer(request),
            RehearsalSource::Cassette(playing) => playing
                .answer(request)
                .map(|chunks| chunks.into_iter().map(RehearsalEvent::Chunk).collect()),
        };
        answer.unwrap_or_else(|fault| vec![RehearsalEvent::Fault(fault)])
    }

    /// Locks the source. Nothing panics between two changes, so the value in a poisoned lock is
    /// intact.
    fn source(&self) -> MutexGuard<'_, RehearsalSource> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for RehearsalModel {
    fn reply(&self, request: &ModelRequest) -> ChunkStream {
        let (rehearsal, request) = (self.clone(), request.clone());
        let answer = lazy(move |_| rehearsal.answer(&request));
        Box::pin(once(answer).flat_map(beat::play))
    }
}
