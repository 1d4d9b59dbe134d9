//! A model wrapper that never waits without end.

use std::sync::Arc;
use std::time::Duration;

use artel_types::model::{ModelFault, ModelFaultKind, ModelRequest};
use futures_util::{StreamExt as _, stream};

use crate::model::{ChunkStream, Model};

/// Ends a reply that falls silent. A model behind HTTP watches its bytes itself, where even
/// a sign of life that is not part of the reply counts; this is for models that cannot.
pub struct SilenceTimeoutModel {
    model: Arc<dyn Model>,
    patience: Duration,
}

impl SilenceTimeoutModel {
    /// Wraps a model, which may be silent for at most `patience`.
    pub fn new(model: Arc<dyn Model>, patience: Duration) -> Self {
        Self { model, patience }
    }
}

impl Model for SilenceTimeoutModel {
    fn reply(&self, request: &ModelRequest) -> ChunkStream {
        let (answer, patience) = (self.model.reply(request), self.patience);
        let next = move |answer: Option<ChunkStream>| async move {
            let mut answer = answer?;
            match tokio::time::timeout(patience, answer.next()).await {
                Ok(Some(Ok(chunk))) => Some((Ok(chunk), Some(answer))),
                Ok(Some(Err(fault))) => Some((Err(fault), None)),
                Ok(None) => None,
                Err(_) => {
                    let said = format!("nothing came for {} s", patience.as_secs_f32());
                    Some((Err(ModelFault::new(ModelFaultKind::Silent, said)), None))
                }
            }
        };
        Box::pin(stream::unfold(Some(answer), next))
    }
}
