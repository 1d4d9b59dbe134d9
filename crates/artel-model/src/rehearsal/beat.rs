//! The events of a rehearsed reply, one after another.

use std::future::pending;
use std::time::Duration;

use artel_types::model::{ModelFault, ReplyChunk};
use futures_util::Stream;
use futures_util::stream::unfold;

/// One event of a rehearsed reply.
#[derive(Debug)]
pub(super) enum RehearsalEvent {
    /// A chunk of the reply arrives.
    Chunk(ReplyChunk),
    /// Nothing arrives for this long.
    Wait(Duration),
    /// The reply fails and is over.
    Fault(ModelFault),
    /// Nothing ever arrives again.
    Hang,
}

/// Plays the events as a stream.
pub(super) fn play(
    beats: Vec<RehearsalEvent>,
) -> impl Stream<Item = Result<ReplyChunk, ModelFault>> + Send {
    unfold(beats.into_iter(), |mut beats| async move {
        loop {
            match beats.next()? {
                RehearsalEvent::Chunk(chunk) => return Some((Ok(chunk), beats)),
                RehearsalEvent::Wait(span) => tokio::time::sleep(span).await,
                RehearsalEvent::Fault(fault) => return Some((Err(fault), Vec::new().into_iter())),
                RehearsalEvent::Hang => pending().await,
            }
        }
    })
}
