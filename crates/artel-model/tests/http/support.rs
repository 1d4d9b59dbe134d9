//! Asks a model over HTTP, and keeps what was heard.

use std::time::Duration;

use artel_model::{
    Model as _, ModelAddress, ProviderHttpClient, ProviderHttpClientPool, RemoteModel,
};
use artel_rules::stream::ModelReplyBuilder;
use artel_testkit::standin::{Answer, Format, StandIn};
use artel_types::Secret;
use artel_types::model::{
    MessageImage, MessagePart, ModelFault, ModelMessage, ModelReply, ModelRequest, ModelSpec,
    Provider, ReplyChunk, ThinkingStyle, ToolSpec,
};
use artel_wire::{WireFormat, WireTarget};
use futures_util::StreamExt as _;
use serde_json::json;

use crate::house::clock;

/// A key that every stand-in takes, and that must be seen nowhere else.
pub(crate) const KEY: &str = "sk-canary-0123456789abcdef";

/// A model that every stand-in has.
pub(crate) const MODEL: &str = "stand-in-large";

/// How long a server may be silent in tests where it is.
pub(crate) const SHORT: Duration = Duration::from_millis(400);

/// How long it may be silent in all others: no machine is so slow.
const LONG: Duration = Duration::from_secs(30);

/// What came of a question.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    pub(crate) chunks: Vec<ReplyChunk>,
    pub(crate) fault: Option<ModelFault>,
}

impl Heard {
    /// Puts the pieces together, which must keep the grammar.
    pub(crate) fn gathered(&self) -> ModelReplyBuilder {
        let mut gather = ModelReplyBuilder::default();
        for chunk in &self.chunks {
            gather.add(chunk).unwrap();
        }
        let ends = [gather.is_ended(), self.fault.is_some()];
        assert_ne!(ends[0], ends[1], "an end or a fault: {self:?}");
        gather
    }

    /// Returns the whole answer, if it is whole.
    pub(crate) fn reply(&self) -> Option<ModelReply> {
        self.gathered().reply()
    }

    /// Returns the fault with which it ended.
    #[track_caller]
    pub(crate) fn fault(&self) -> &ModelFault {
        assert_eq!(self.reply(), None, "an answer that ought to fail");
        self.fault.as_ref().unwrap()
    }
}

pub(crate) fn wire(format: Format) -> WireFormat {
    WireFormat::of(provider(format)).unwrap()
}

pub(crate) fn provider(format: Format) -> Provider {
    match format {
        Format::Anthropic => Provider::Anthropic,
        Format::Responses => Provider::OpenAi,
        Format::Chat => Provider::OpenAiChat,
        Format::Google => Provider::Google,
        Format::Ollama => Provider::Ollama,
    }
}

/// Goes straight to where the model is.
pub(crate) fn straight() -> ProviderHttpClient {
    connections().through(None).unwrap()
}

pub(crate) fn connections() -> ProviderHttpClientPool {
    ProviderHttpClientPool::new(Duration::from_secs(5))
}

pub(crate) fn address(format: Format, url: impl Into<String>) -> ModelAddress {
    ModelAddress {
        wire: wire(format),
        base_url: url.into(),
        key: Some(Secret::new(KEY)),
        headers: Vec::new(),
        patience: LONG,
    }
}

pub(crate) fn reach(connection: ProviderHttpClient, address: ModelAddress) -> RemoteModel {
    RemoteModel::new(connection, address, MODEL, ModelSpec::default(), clock())
}

pub(crate) fn remote(format: Format, url: impl Into<String>) -> RemoteModel {
    reach(straight(), address(format, url))
}

/// A remote that gives up on a silent server soon.
pub(crate) fn hasty(format: Format, url: impl Into<String>) -> RemoteModel {
    let address = ModelAddress {
        patience: SHORT,
        ..address(format, url)
    };
    reach(straight(), address)
}

/// Asks and listens to the end, which there must be.
pub(crate) async fn hear(remote: &RemoteModel, request: &ModelRequest) -> Heard {
    let mut answer = remote.reply(request);
    let mut heard = Heard {
        chunks: Vec::new(),
        fault: None,
    };
    let listen = async {
        while let Some(piece) = answer.next().await {
            assert_eq!(heard.fault, None, "nothing follows a fault");
            match piece {
                Ok(chunk) => heard.chunks.push(chunk),
                Err(fault) => heard.fault = Some(fault),
            }
        }
    };
    tokio::time::timeout(LONG * 2, listen).await.unwrap();
    heard
}

/// Asks a stand-in that has this one answer.
pub(crate) async fn hear_answer(format: Format, answer: Answer) -> Heard {
    let stand_in = StandIn::start(format, [answer]);
    hear(&remote(format, stand_in.url()), &question()).await
}

/// A short question with two tools to answer it.
pub(crate) fn question() -> ModelRequest {
    ModelRequest {
        system: "Answer briefly.".to_owned(),
        messages: vec![ModelMessage::user("Hello")],
        tools: vec![tool("read").into(), tool("write").into()],
        max_output: Some(1_000),
        ..ModelRequest::default()
    }
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("Makes it possible to {name} a file."),
        schema: json!({
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        }),
    }
}

/// A picture of one grey dot.
pub(crate) fn picture() -> MessageImage {
    MessageImage {
        media_type: "image/png".to_owned(),
        data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==".to_owned(),
    }
}

/// Returns a reply without ids, seals and the model's name, which are each provider's own.
pub(crate) fn bare(mut reply: ModelReply) -> ModelReply {
    reply.id = None;
    reply.model = None;
    for part in &mut reply.parts {
        match part {
            MessagePart::Text { seal, .. } | MessagePart::Thinking { seal, .. } => *seal = None,
            MessagePart::ToolCall(call) => {
                call.id.clear();
                call.seal = None;
            }
            MessagePart::Image(_) | MessagePart::ToolResult(_) => {}
        }
    }
    reply
}

/// Returns the bytes of an answer as they go over the wire.
pub(crate) async fn record(format: Format, answer: Answer) -> Vec<u8> {
    let stand_in = StandIn::start(format, [answer]);
    // Whoever makes a connection brings in the cryptography that every client here needs.
    drop(straight());
    let wire = wire(format);
    let target = WireTarget {
        model: MODEL,
        max_output: None,
        context: None,
        thinking: ThinkingStyle::Effort,
    };
    let outgoing = wire.encode(&target, &question());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut post = client.post(format!("{}{}", stand_in.url(), outgoing.path));
    for (name, value) in wire.fixed_headers() {
        post = post.header(*name, *value);
    }
    let key = wire.key_header();
    let post = post.header(key.name, format!("{}{KEY}", key.before));
    let response = post.body(outgoing.body).send().await.unwrap();
    assert!(response.status().is_success());
    response.bytes().await.unwrap().to_vec()
}
