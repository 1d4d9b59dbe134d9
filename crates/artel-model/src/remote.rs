//! A model behind HTTP: sends what the codec wrote, reads the response, and never waits
//! without a limit.

mod connection;
mod headers;
mod trouble;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use artel_types::model::{ModelFault, ModelFaultKind, ModelRequest, ModelSpec, ReplyChunk};
use artel_types::{Clock, Secret};
use artel_wire::{ReplyDecoder, WireFormat, WireRequest, WireTarget};
use futures_util::stream;
use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, Response};

use crate::model::{ChunkStream, Model};

pub use connection::{ProviderHttpClient, ProviderHttpClientPool};

/// Largest part of a refusal that is read, in bytes. The rest is never interesting.
const LARGEST_REFUSAL: usize = 64 * 1024;

/// Longest time that bytes may follow after the reply has ended. A connection that is
/// dropped before they end cannot be reused, and a new one to a provider far away takes
/// longer than this.
const LAST_BYTES: Duration = Duration::from_millis(50);

/// The address of a model server, and how to reach it.
#[derive(Clone)]
pub struct ModelAddress {
    /// Wire format that it speaks.
    pub wire: WireFormat,
    /// URL before the wire format's own path.
    pub base_url: String,
    /// Key, if it needs one.
    pub key: Option<Secret>,
    /// Additional headers.
    pub headers: Vec<(String, String)>,
    /// Longest silence, before the response begins and in the middle of it.
    pub patience: Duration,
}

/// A model behind a provider's HTTP interface.
#[derive(Debug, Clone)]
pub struct RemoteModel {
    connection: ProviderHttpClient,
    address: Arc<ModelAddress>,
    model: String,
    card: ModelSpec,
    clock: Clock,
}

impl RemoteModel {
    /// Describes a model at an address. Nothing is sent yet.
    pub fn new(
        connection: ProviderHttpClient,
        address: ModelAddress,
        model: impl Into<String>,
        card: ModelSpec,
        clock: Clock,
    ) -> Self {
        Self {
            connection,
            address: Arc::new(address),
            model: model.into(),
            card,
            clock,
        }
    }

    /// Makes a call that costs nothing, to check that the key is good and the address right.
    /// Returns the names of models, if the provider lists them in the usual way.
    pub async fn look(&self) -> Result<Vec<String>, ModelFault> {
        let path = self.address.wire.models_path();
        let builder = self.connection.client().get(self.url(path));
        let response = self.send(builder, &[]).await?;
        let body = self.read_some(response, LARGEST_REFUSAL * 16).await?;
        // Any server can answer 200: a login page, or another service.
        model_names(&body).ok_or_else(|| {
            let said = format!("it answered without a list of models: {}", beginning(&body));
            ModelFault::new(ModelFaultKind::BadRequest, said)
        })
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address.base_url.trim_end_matches('/'))
    }

    fn encode(&self, request: &ModelRequest) -> WireRequest {
        let target = WireTarget {
            model: &self.model,
            max_output: self.card.max_output,
            context: self.card.context,
            thinking: self.card.thinking,
        };
        self.address.wire.encode(&target, request)
    }

    /// Sends a request and returns the response, or a fault if it is a refusal.
    async fn send(
        &self,
        builder: RequestBuilder,
        more: &[(&'static str, String)],
    ) -> Result<Response, ModelFault> {
        let ModelAddress { wire, patience, .. } = *self.address;
        let sent = builder.headers(self.address.call_headers(more)?).send();
        let response = match tokio::time::timeout(patience, sent).await {
            Ok(sent) => sent.map_err(|error| trouble::of_sending(&error))?,
            Err(_) => return Err(trouble::silent(patience, "before it answered")),
        };
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        let body = self
            .read_some(response, LARGEST_REFUSAL)
            .await
            .unwrap_or_default();
        let look_up = |name: &str| header(&headers, name);
        Err(wire.fault(status.as_u16(), &look_up, &body, self.clock.now()))
    }

    async fn read_some(&self, mut response: Response, most: usize) -> Result<Vec<u8>, ModelFault> {
        let mut body = Vec::new();
        while body.len() < most {
            match next_bytes(&mut response, self.address.patience).await? {
                Some(bytes) => body.extend_from_slice(&bytes),
                None => break,
            }
        }
        body.truncate(most);
        Ok(body)
    }

    async fn open(&self, request: &ModelRequest) -> Result<RemoteReplyStream, ModelFault> {
        let WireRequest {
            path,
            headers,
            body,
        } = self.encode(request);
        let builder = self.connection.client().post(self.url(&path)).body(body);
        let response = self.send(builder, &headers).await?;
        let wire = self.address.wire;
        let sort = no_stream(response.headers()).filter(|_| wire != WireFormat::Ollama);
        if let Some(sort) = sort {
            return Err(self.judge_whole(response, sort).await);
        }
        Ok(RemoteReplyStream {
            request_id: wire.request_id(&|name| header(response.headers(), name)),
            response,
            decoder: wire.decoder(),
            ready: VecDeque::new(),
            fresh: Vec::new(),
            fault: None,
            patience: self.address.patience,
        })
    }
}

impl RemoteModel {
    /// Returns the fault of a response that is not a stream. It is often an error with a
    /// success status.
    async fn judge_whole(&self, response: Response, sort: &'static str) -> ModelFault {
        let body = match self.read_some(response, LARGEST_REFUSAL).await {
            Ok(body) => body,
            Err(fault) => return fault,
        };
        let (mut decoder, mut chunks) = (self.address.wire.decoder(), Vec::new());
        let frame = [b"data: ", body.as_slice(), b"\n\n"].concat();
        match decoder.push(&frame, &mut chunks) {
            Err(fault) if fault.kind != ModelFaultKind::Garbled => fault,
            _ => {
                let said = format!(
                    "it answered with {sort} instead of a stream: {}",
                    beginning(&body)
                );
                ModelFault::new(ModelFaultKind::BadRequest, said)
            }
        }
    }
}

/// Returns the kind of a response that surely is not a stream. Lines of JSON are a stream
/// whatever their content type, and some servers name no type at all.
fn no_stream(headers: &HeaderMap) -> Option<&'static str> {
    let sort = header(headers, "content-type")?.to_ascii_lowercase();
    match sort.split(';').next().unwrap_or_default().trim() {
        "application/json" => Some("JSON"),
        "text/html" => Some("a web page"),
        _ => None,
    }
}

impl Model for RemoteModel {
    fn reply(&self, request: &ModelRequest) -> ChunkStream {
        let begin = RemoteReplyStage::Asking(Box::new((self.clone(), request.clone())));
        Box::pin(stream::unfold(begin, RemoteReplyStage::next))
    }
}

/// The stage of a streamed reply.
enum RemoteReplyStage {
    Asking(Box<(RemoteModel, ModelRequest)>),
    Answering(Box<RemoteReplyStream>),
    Over,
}

struct RemoteReplyStream {
    /// Id that the provider gave the request.
    request_id: Option<String>,
    response: Response,
    decoder: ReplyDecoder,
    ready: VecDeque<ReplyChunk>,
    fresh: Vec<ReplyChunk>,
    fault: Option<ModelFault>,
    patience: Duration,
}

impl RemoteReplyStage {
    async fn next(self) -> Option<(Result<ReplyChunk, ModelFault>, Self)> {
        let mut answering = match self {
            Self::Asking(asking) => {
                let (remote, request) = *asking;
                match remote.open(&request).await {
                    Ok(answering) => Box::new(answering),
                    Err(fault) => return Some((Err(fault), Self::Over)),
                }
            }
            Self::Answering(answering) => answering,
            Self::Over => return None,
        };
        match answering.next().await? {
            Ok(chunk) => Some((Ok(chunk), Self::Answering(answering))),
            Err(fault) => Some((Err(fault), Self::Over)),
        }
    }
}

impl RemoteReplyStream {
    /// Returns the next chunk, or `None` after the end.
    async fn next(&mut self) -> Option<Result<ReplyChunk, ModelFault>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some(Ok(chunk));
            }
            if let Some(fault) = self.fault.take() {
                return Some(Err(fault));
            }
            if self.decoder.is_done() {
                return None;
            }
            // Chunks that were decoded before a fault are returned before the fault.
            let result = match next_bytes(&mut self.response, self.patience).await {
                Ok(Some(bytes)) => self.decoder.push(&bytes, &mut self.fresh),
                Ok(None) => self.decoder.finish(&mut self.fresh),
                Err(fault) => Err(fault),
            };
            self.fault = result.err().map(|fault| self.named(fault));
            if self.decoder.is_done() && self.fault.is_none() {
                self.pass_over_rest().await;
            }
            self.ready.extend(self.fresh.drain(..));
        }
    }

    async fn pass_over_rest(&mut self) {
        let rest = async { while let Ok(Some(_)) = self.response.chunk().await {} };
        drop(tokio::time::timeout(LAST_BYTES, rest).await);
    }

    /// Adds the request id to a fault: a fault midway seldom has one.
    fn named(&mut self, fault: ModelFault) -> ModelFault {
        ModelFault {
            request_id: fault.request_id.or(self.request_id.take()),
            ..fault
        }
    }
}

async fn next_bytes(
    response: &mut Response,
    patience: Duration,
) -> Result<Option<bytes::Bytes>, ModelFault> {
    match tokio::time::timeout(patience, response.chunk()).await {
        Ok(read) => read.map_err(|error| trouble::of_reading(&error)),
        Err(_) => Err(trouble::silent(patience, "in the middle of its answer")),
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned)
}

/// Finds the names in a list of models: the `id` or `name` of each item in `data` or
/// `models`.
fn model_names(body: &[u8]) -> Option<Vec<String>> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let list = body.get("data").or_else(|| body.get("models"))?;
    // Some servers say `null` if they have none.
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    let name = |item: &serde_json::Value| {
        let name = item.get("id").or_else(|| item.get("name"));
        name.and_then(|name| name.as_str()).map(str::to_owned)
    };
    Some(list.iter().filter_map(name).collect())
}

/// Returns the beginning of a body, for a message.
fn beginning(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(120)
        .collect()
}

impl std::fmt::Debug for RemoteReplyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.decoder)
    }
}
