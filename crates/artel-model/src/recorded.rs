//! Model requests in the journal: each names the call that it begins with, and holds the
//! rest.
//!
//! A conversation is sent as a whole every time, and grows with every turn. Recording it
//! whole each time would take space that grows with the square of its length. Requests
//! written here are reassembled here.

use std::collections::HashMap;
use std::sync::Arc;

use artel_types::model::{ModelMessage, ModelRequest};
use artel_types::{Failure, FailureCode, ModelRequested, RecordedText};
use serde::Serialize;

use crate::rehearsal::ModelRequestFingerprint;

/// An earlier call of the same stream, whose request a new one may begin with.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorModelCall {
    /// Id of the call in the journal. It must have been answered, because only then is its
    /// request on record.
    pub call: String,
    /// Its request, as it is on record.
    pub request: Arc<ModelRequest>,
    /// Fingerprint of that request, which the next one extends, or `None` if it is unknown and
    /// has to be computed.
    pub print: Option<ModelRequestFingerprint>,
}

/// A request as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EncodedModelRequest {
    /// The whole request, or only the messages after those of the prior one.
    pub(crate) json: String,
    /// Call that it begins with.
    pub(crate) prior: Option<String>,
}

#[derive(Serialize)]
struct RemainingMessages<'a> {
    messages: &'a [ModelMessage],
}

/// Encodes a request: only the new messages if it begins like the prior one, else the
/// whole.
pub(crate) fn write(
    request: &ModelRequest,
    prior: Option<&PriorModelCall>,
) -> Result<EncodedModelRequest, serde_json::Error> {
    let shared = prior.and_then(|prior| Some((prior, rest(&prior.request, request)?)));
    Ok(match shared {
        Some((prior, messages)) => EncodedModelRequest {
            json: serde_json::to_string(&RemainingMessages { messages })?,
            prior: Some(prior.call.clone()),
        },
        None => EncodedModelRequest {
            json: serde_json::to_string(request)?,
            prior: None,
        },
    })
}

/// Returns the messages of a request after those of an earlier one, or `None` if it does
/// not begin like it. Every field is named, so that a new field cannot be forgotten.
pub(crate) fn rest<'a>(
    prior: &ModelRequest,
    request: &'a ModelRequest,
) -> Option<&'a [ModelMessage]> {
    let ModelRequest {
        system,
        messages,
        tools,
        tool_choice,
        format,
        max_output,
        temperature,
        stop,
        thinking,
        cache,
    } = prior;
    let is_same = *system == request.system
        && *tools == request.tools
        && *tool_choice == request.tool_choice
        && *format == request.format
        && *max_output == request.max_output
        && *temperature == request.temperature
        && *stop == request.stop
        && *thinking == request.thinking
        && *cache == request.cache;
    if !is_same {
        return None;
    }
    request.messages.strip_prefix(messages.as_slice())
}

/// The recorded requests of a stream, to be reassembled.
#[derive(Debug, Clone, Default)]
pub struct RecordedModelRequests {
    calls: HashMap<String, RecordedModelRequest>,
}

#[derive(Debug, Clone)]
struct RecordedModelRequest {
    prior: Option<String>,
    text: RecordedText,
    /// Content of the text, once it was read.
    own: Option<ModelRequest>,
}

impl RecordedModelRequests {
    /// Adds a recorded request. All attempts of one call hold the same.
    pub fn note(&mut self, fact: &ModelRequested) {
        self.calls
            .entry(fact.call.clone())
            .or_insert_with(|| RecordedModelRequest {
                prior: fact.prior.clone(),
                text: fact.request.clone(),
                own: None,
            });
    }

    /// Returns whether the request of a call was added.
    pub fn knows(&self, call: &str) -> bool {
        self.calls.contains_key(call)
    }

    /// Returns the missing call that this one's request cannot be reassembled without.
    pub fn missing(&self, call: &str) -> Option<String> {
        let mut at = call;
        // A chain cannot be longer than the number of calls, unless it is a cycle.
        for _ in 0..=self.calls.len() {
            let Some(noted) = self.calls.get(at) else {
                return Some(at.to_owned());
            };
            at = noted.prior.as_deref()?;
        }
        None
    }

    /// Returns the whole request of a call. `read` fetches a text from where it is stored; each
    /// text is fetched once.
    pub fn whole(
        &mut self,
        call: &str,
        read: impl Fn(&RecordedText) -> Result<String, Failure>,
    ) -> Result<ModelRequest, Failure> {
        let mut chain = Vec::new();
        let mut next = Some(call.to_owned());
        while let Some(at) = next {
            if chain.len() > self.calls.len() {
                return Err(broken("it begins with itself"));
            }
            let Some(noted) = self.calls.get_mut(&at) else {
                return Err(broken(&format!("the call `{at}` is not on record here")));
            };
            if noted.own.is_none() {
                let json = read(&noted.text)?;
                let own = serde_json::from_str(&json);
                noted.own = Some(own.map_err(|error| broken(&error.to_string()))?);
            }
            next = noted.prior.clone();
            chain.push(at);
        }
        let own = |at: String| self.calls.get(&at).and_then(|noted| noted.own.as_ref());
        let mut parts = chain.into_iter().rev().filter_map(own);
        let mut whole = parts.next().cloned().unwrap_or_default();
        parts.for_each(|part| whole.messages.extend_from_slice(&part.messages));
        Ok(whole)
    }
}

fn broken(why: &str) -> Failure {
    Failure::new(
        FailureCode::M011,
        "a recorded request cannot be put together",
    )
    .because(why)
}

#[cfg(test)]
mod tests {
    use artel_types::SpendAmount;
    use artel_types::model::{
        ModelCallAttribution, ModelCallPriority, PrivacyLabel, Provider, ToolSpec,
    };

    use super::*;

    fn fact(call: &str, written: &EncodedModelRequest) -> ModelRequested {
        ModelRequested {
            call: call.to_owned(),
            attempt: 1,
            wanted: String::new(),
            resolved: String::new(),
            provider: Provider::Rehearsal,
            model: String::new(),
            priority: ModelCallPriority::Execution,
            privacy: PrivacyLabel::Any,
            account: ModelCallAttribution::default(),
            estimate: SpendAmount::default(),
            request: RecordedText::Inline(written.json.clone()),
            fingerprint: String::new(),
            prior: written.prior.clone(),
        }
    }

    fn read(text: &RecordedText) -> Result<String, Failure> {
        match text {
            RecordedText::Inline(text) => Ok(text.clone()),
            RecordedText::Kept(_) => Err(broken("kept apart")),
        }
    }

    fn said(words: &[&str]) -> ModelRequest {
        ModelRequest {
            system: "be brief".into(),
            messages: words.iter().copied().map(ModelMessage::user).collect(),
            ..ModelRequest::default()
        }
    }

    fn prior(call: &str, request: &ModelRequest) -> PriorModelCall {
        PriorModelCall {
            call: call.to_owned(),
            request: Arc::new(request.clone()),
            print: None,
        }
    }

    #[test]
    fn only_a_true_beginning_is_left_out() {
        let before = said(&["a", "b"]);
        let tool = Arc::new(ToolSpec {
            name: "read".into(),
            description: String::new(),
            schema: serde_json::json!({}),
        });
        let changed = |change: &dyn Fn(&mut ModelRequest)| {
            let mut request = said(&["a", "b", "c"]);
            change(&mut request);
            request
        };
        let table: [(&str, ModelRequest, bool); 9] = [
            ("longer", said(&["a", "b", "c"]), true),
            ("the same", said(&["a", "b"]), true),
            ("shorter", said(&["a"]), false),
            ("another beginning", said(&["a", "x", "c"]), false),
            ("system", changed(&|it| it.system = "x".into()), false),
            ("tools", changed(&|it| it.tools.push(tool.clone())), false),
            ("limit", changed(&|it| it.max_output = Some(9)), false),
            ("warmth", changed(&|it| it.temperature = Some(0.5)), false),
            ("stops", changed(&|it| it.stop.push("x".into())), false),
        ];
        for (name, request, is_shared) in table {
            let written = write(&request, Some(&prior("1", &before))).unwrap();
            assert_eq!(written.prior.is_some(), is_shared, "{name}");
            let mut asked = RecordedModelRequests::default();
            asked.note(&fact("1", &write(&before, None).unwrap()));
            asked.note(&fact("2", &written));
            assert_eq!(asked.whole("2", read).unwrap(), request, "{name}");
        }
        let written = write(&said(&["a", "b", "c"]), Some(&prior("1", &before))).unwrap();
        let expected = r#"{"messages":[{"role":"user","parts":[{"part":"text","text":"c"}]}]}"#;
        assert_eq!(written.json, expected);
    }

    #[test]
    fn a_chain_that_is_not_whole_is_said_not_guessed() {
        let written = |json: &str, prior: Option<&str>| EncodedModelRequest {
            json: json.to_owned(),
            prior: prior.map(str::to_owned),
        };
        let mut asked = RecordedModelRequests::default();
        asked.note(&fact("2", &written(r#"{"messages":[]}"#, Some("1"))));
        asked.note(&fact("3", &written(r#"{"messages":[]}"#, Some("3"))));
        asked.note(&fact("4", &written("{", None)));
        for (call, why) in [
            ("2", "`1` is not on record"),
            ("3", "begins with itself"),
            ("4", "EOF"),
            ("5", "`5` is not on record"),
        ] {
            let failure = asked.whole(call, read).unwrap_err();
            assert!(failure.to_string().contains(why), "{failure}");
        }
        assert_eq!(asked.missing("2").as_deref(), Some("1"));
        assert_eq!(asked.missing("3"), None);
        assert!(asked.knows("4") && asked.missing("4").is_none());
    }
}
