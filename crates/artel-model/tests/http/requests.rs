//! What is sent: the right place, the right headers, and conversations that each provider takes.

use artel_model::ModelAddress;
use artel_testkit::standin::{Answer, Format, Seen, StandIn};
use artel_types::model::{
    MessagePart, MessageRole, ModelMessage, ModelReply, ModelRequest, PromptCacheLifetime,
    ReplyFormat as Shape, ThinkingEffort, ToolChoice, ToolResult,
};
use serde_json::{Value, json};

use crate::servers::Proxy;
use crate::support::*;

/// Asks a stand-in, which must accept it, and returns what it saw.
async fn sent(format: Format, request: &ModelRequest) -> Seen {
    let stand_in = StandIn::start(format, [Answer::says("Hi.")]);
    let heard = hear(&remote(format, stand_in.url()), request).await;
    assert_eq!(heard.fault, None, "{format:?}");
    stand_in.seen().remove(0)
}

#[tokio::test]
async fn the_right_place_with_the_right_headers() {
    let key = |before: &str| format!("{before}{KEY}");
    for (format, path, header, value) in [
        (Format::Anthropic, "/v1/messages", "x-api-key", key("")),
        (
            Format::Responses,
            "/v1/responses",
            "authorization",
            key("Bearer "),
        ),
        (
            Format::Chat,
            "/v1/chat/completions",
            "authorization",
            key("Bearer "),
        ),
        (
            Format::Google,
            "/v1beta/models/stand-in-large:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            key(""),
        ),
        (Format::Ollama, "/api/chat", "authorization", key("Bearer ")),
    ] {
        let seen = sent(format, &question()).await;
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", path));
        let found = |name: &str| seen.headers.get(name).cloned().unwrap_or_default();
        assert_eq!(found(header), value, "{format:?}");
        assert_eq!(found("content-type"), "application/json", "{format:?}");
        assert!(found("user-agent").starts_with("artel/0."), "{seen:?}");
        let version = if format == Format::Anthropic {
            "2023-06-01"
        } else {
            ""
        };
        assert_eq!(found("anthropic-version"), version, "{format:?}");
        // The key stands in its header and nowhere else.
        let others = seen.headers.iter().filter(|(name, _)| *name != header);
        let others = format!(
            "{:?} {} {}",
            others.collect::<Vec<_>>(),
            seen.path,
            seen.body
        );
        assert!(!others.contains(KEY), "{format:?}: {others}");
    }
}

/// A header that is configured takes the place of the usual one; none is sent twice.
#[tokio::test]
async fn configured_headers_are_sent_as_they_are() {
    let configured = [
        ("x-team", "workshop"),
        ("user-agent", "somebody else"),
        ("anthropic-version", "2099-01-01"),
        ("content-type", "application/json; charset=utf-8"),
        ("x-api-key", "another key"),
    ];
    let proxy = Proxy::start().await;
    let stand_in = StandIn::start(Format::Anthropic, [Answer::says("Hi.")]);
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let address = ModelAddress {
        headers: configured.map(own).to_vec(),
        ..address(Format::Anthropic, stand_in.url())
    };
    let through = connections().through(Some(&proxy.url())).unwrap();
    let heard = hear(&reach(through, address), &question()).await;
    assert_eq!(heard.fault, None);
    let head = proxy.heads().remove(0).to_lowercase();
    for (name, value) in configured {
        assert_eq!(head.matches(&format!("\r\n{name}:")).count(), 1, "{head}");
        assert!(head.contains(&format!("\r\n{name}: {value}\r\n")), "{head}");
    }
    assert!(!head.contains(KEY), "{head}");
}

/// A header that cannot be sent is told by its name; its value may be a secret.
#[tokio::test]
async fn a_header_that_cannot_be_sent() {
    for (name, value) in [("x-team", "two\nlines-canary"), ("x team", "canary")] {
        let stand_in = StandIn::start(Format::Chat, [Answer::says("Hi.")]);
        let address = ModelAddress {
            headers: vec![(name.to_owned(), value.to_owned())],
            ..address(Format::Chat, stand_in.url())
        };
        let heard = hear(&reach(straight(), address), &question()).await;
        let fault = heard.fault();
        assert_eq!(
            fault.kind,
            artel_types::model::ModelFaultKind::BadRequest,
            "{fault}"
        );
        assert!(fault.message.contains(name), "{fault}");
        assert!(!format!("{fault:?}").contains("canary"), "{fault:?}");
        assert_eq!(stand_in.seen(), []);
    }
}

/// The same base address with and without a slash at its end is the same place.
#[tokio::test]
async fn a_slash_too_many_does_no_harm() {
    for format in Format::ALL {
        let stand_in = StandIn::start(format, [Answer::says("Hi.")]);
        let url = format!("{}/", stand_in.url());
        assert_eq!(hear(&remote(format, url), &question()).await.fault, None);
    }
}

/// Everything that can be asked for at once, where the formats allow it.
#[tokio::test]
async fn every_wish_is_accepted() {
    let shape = json!({
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": false,
    });
    let choices = [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Any,
        ToolChoice::Named("read".to_owned()),
    ];
    for format in Format::ALL {
        for (choice, thinking) in choices.iter().zip([
            None,
            Some(ThinkingEffort::Off),
            Some(ThinkingEffort::Low),
            Some(ThinkingEffort::High),
        ]) {
            let request = ModelRequest {
                tool_choice: choice.clone(),
                format: Some(Shape {
                    name: "an answer".to_owned(),
                    schema: shape.clone(),
                }),
                max_output: Some(5_000),
                temperature: Some(0.5),
                stop: vec!["STOP".to_owned()],
                thinking,
                cache: PromptCacheLifetime::Long,
                ..question()
            };
            let seen = sent(format, &request).await;
            let body = seen.body.to_string();
            assert!(
                body.contains("\"STOP\"") || format == Format::Responses,
                "{body}"
            );
            assert!(body.contains("5000"), "{body}");
        }
    }
}

/// What a model said goes back with the results of its calls, and with the seals that its provider
/// wants to see again.
#[tokio::test]
async fn a_conversation_goes_back_and_forth() {
    for format in Format::ALL {
        let stand_in = StandIn::start(format, [talkative(), Answer::says("Done.")]);
        let remote = remote(format, stand_in.url());
        let opening = opening();
        let reply = hear(&remote, &opening).await.reply().unwrap();
        let heard = hear(&remote, &next_turn(opening, &reply)).await;
        assert_eq!(heard.fault, None, "{format:?}");
        let body = stand_in.seen().remove(1).body;
        let text = body.to_string();
        for (what, word) in [
            ("what it said", "I will read two files."),
            ("one result", "the contents"),
            ("another result", "no such file"),
            ("the first picture", "iVBORw0KGgo"),
        ] {
            assert!(text.contains(word), "{format:?} lacks {what}: {text}");
        }
        assert_eq!(text.matches("iVBORw0KGgo").count(), 2, "{format:?}: {text}");
        assert_seals(format, &body);
    }
}

fn assert_seals(format: Format, body: &Value) {
    let text = body.to_string();
    match format {
        Format::Anthropic => {
            let thought = &body["messages"][1]["content"][0];
            let expected = json!({
                "type": "thinking", "thinking": "Let me look.", "signature": "c2lnbmVk0001==",
            });
            assert_eq!(thought, &expected);
        }
        Format::Responses => assert!(text.contains("encrypted_content"), "{text}"),
        Format::Google => {
            assert!(
                text.contains("\"thoughtSignature\":\"c2VhbGVk0001\""),
                "{text}"
            );
        }
        // Thoughts do not go back in this format.
        Format::Chat => assert!(!text.contains("Let me look."), "{text}"),
        Format::Ollama => assert!(text.contains("\"thinking\":\"Let me look.\""), "{text}"),
    }
}

/// A conversation begun with one provider goes on with any other; nobody gets a foreign seal.
#[tokio::test]
async fn a_conversation_moves_from_one_provider_to_another() {
    for from in Format::ALL {
        let stand_in = StandIn::start(from, [talkative()]);
        let reply = hear(&remote(from, stand_in.url()), &opening()).await;
        let reply = reply.reply().unwrap();
        for to in Format::ALL.into_iter().filter(|to| *to != from) {
            let seen = sent(to, &next_turn(opening(), &reply)).await;
            let body = seen.body.to_string();
            for seal in ["c2lnbmVk0001", "c2VhbGVk0001", "encrypted_content\":\""] {
                assert!(!body.contains(seal), "{from:?} to {to:?}: {body}");
            }
        }
    }
}

fn talkative() -> Answer {
    Answer::says("I will read two files.")
        .thinking("Let me look.")
        .calls("read", json!({"path": "a.txt"}))
        .calls("read", json!({"path": "b.txt"}))
}

fn opening() -> ModelRequest {
    ModelRequest {
        messages: vec![ModelMessage {
            role: MessageRole::User,
            parts: vec![
                MessagePart::text("What is this?"),
                MessagePart::Image(picture()),
            ],
        }],
        cache: PromptCacheLifetime::Short,
        thinking: Some(ThinkingEffort::Medium),
        max_output: Some(8_000),
        ..question()
    }
}

/// One call found something and shows it, the other failed; then the person speaks up.
fn next_turn(mut request: ModelRequest, reply: &ModelReply) -> ModelRequest {
    let calls: Vec<_> = reply.tool_calls().collect();
    let result = |place: usize, text: &str| ToolResult {
        id: calls[place].id.clone(),
        name: calls[place].name.clone(),
        text: text.into(),
        images: Vec::new(),
        is_error: false,
    };
    let results = [
        ToolResult {
            images: vec![picture()],
            ..result(0, "the contents")
        },
        ToolResult {
            is_error: true,
            ..result(1, "no such file")
        },
    ];
    request
        .messages
        .push(ModelMessage::assistant(reply.parts.clone()));
    request.messages.push(ModelMessage::results(results));
    request.messages.push(ModelMessage::user("Go on."));
    request
}
