//! What happens in an answer, one thing after another.

use std::future::pending;
use std::time::Duration;

use artel_types::model::{Chunk, Fault};
use futures_util::Stream;
use futures_util::stream::unfold;

/// One thing that happens.
#[derive(Debug)]
pub(super) enum Beat {
    /// A piece of the answer comes.
    Chunk(Chunk),
    /// Nothing comes for so long.
    Wait(Duration),
    /// It fails, and is over.
    Fault(Fault),
    /// Nothing ever comes again.
    Hang,
}

/// Lets it happen.
pub(super) fn play(beats: Vec<Beat>) -> impl Stream<Item = Result<Chunk, Fault>> + Send {
    unfold(beats.into_iter(), |mut beats| async move {
        loop {
            match beats.next()? {
                Beat::Chunk(chunk) => return Some((Ok(chunk), beats)),
                Beat::Wait(span) => tokio::time::sleep(span).await,
                Beat::Fault(fault) => return Some((Err(fault), Vec::new().into_iter())),
                Beat::Hang => pending().await,
            }
        }
    })
}
