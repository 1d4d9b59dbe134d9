//! The seam: a language model.

use std::pin::Pin;

use artel_types::model::{ModelFault, ModelRequest, ReplyChunk};
use futures_util::Stream;

/// A reply as a stream of chunks. It follows the grammar of [`ReplyChunk`]: one start, then one
/// end or a fault, after which it is over.
pub type ChunkStream = Pin<Box<dyn Stream<Item = Result<ReplyChunk, ModelFault>> + Send>>;

/// A language model. It keeps no conversation: the request carries all of it, so a recording can
/// stand in for any implementation.
pub trait Model: Send + Sync {
    /// Streams the reply. Nothing is sent before the stream is polled. Dropping it cancels the
    /// call.
    fn reply(&self, request: &ModelRequest) -> ChunkStream;
}
