//! Fields of a script that can be written in more than one way.

use std::fmt;
use std::time::Duration;

use artel_types::model::{ModelFault, ModelFaultKind, TokenUsage};
use artel_types::parse_span;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// A duration, such as `20ms` or `2s`.
#[derive(Debug, Clone, Copy)]
pub(super) struct RehearsalDuration(pub(super) Duration);

/// A tool call that the script makes.
#[derive(Debug)]
pub(super) struct RehearsalToolCall {
    pub(super) name: String,
    /// JSON, or any text that was written instead: models make mistakes.
    pub(super) arguments: String,
}

/// The token usage that a reply reports.
#[derive(Debug)]
pub(super) enum RehearsalUsage {
    /// No usage is reported.
    Unknown,
    /// These numbers are reported. Missing ones are estimated.
    Given(RehearsalTokens),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RehearsalTokens {
    input: Option<u64>,
    output: Option<u64>,
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write: u64,
    thinking: Option<u64>,
}

/// The fault of a reply: a word, or a mapping with details.
#[derive(Debug)]
pub(super) struct RehearsalFault(pub(super) ModelFault);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RehearsalFaultFields {
    kind: ModelFaultKind,
    status: Option<u16>,
    message: Option<String>,
    retry_after: Option<RehearsalDuration>,
    request_id: Option<String>,
}

impl RehearsalUsage {
    pub(super) fn usage(&self, estimate: &TokenUsage) -> Option<TokenUsage> {
        let Self::Given(tokens) = self else {
            return None;
        };
        Some(TokenUsage {
            input: tokens.input.unwrap_or(estimate.input),
            output: tokens.output.unwrap_or(estimate.output),
            cache_read: tokens.cache_read,
            cache_write: tokens.cache_write,
            thinking: tokens.thinking.unwrap_or(estimate.thinking),
        })
    }
}

impl From<RehearsalFaultFields> for RehearsalFault {
    fn from(fields: RehearsalFaultFields) -> Self {
        let message = fields.message.as_deref().unwrap_or("the script says so");
        Self(ModelFault {
            status: fields.status,
            retry_after: fields.retry_after.map(|span| span.0),
            request_id: fields.request_id,
            ..ModelFault::new(fields.kind, message)
        })
    }
}

impl<'de> Deserialize<'de> for RehearsalDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let span = parse_span(&text).map_err(|_| {
            let shown: String = text.chars().take(60).collect();
            de::Error::custom(format!(
                "`{shown}` is no length of time; expected `20ms`, `2s` or `5m`"
            ))
        })?;
        Ok(Self(span))
    }
}

impl<'de> Deserialize<'de> for RehearsalFault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RehearsalFaultVisitor;
        impl<'de> Visitor<'de> for RehearsalFaultVisitor {
            type Value = RehearsalFault;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sort of fault such as `rate-limit`, or a mapping with its `kind`")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<RehearsalFault, E> {
                let kind = ModelFaultKind::deserialize(word.into_deserializer())?;
                Ok(RehearsalFault(ModelFault::new(kind, "the script says so")))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RehearsalFault, A::Error> {
                RehearsalFaultFields::deserialize(MapAccessDeserializer::new(map)).map(Into::into)
            }
        }
        deserializer.deserialize_any(RehearsalFaultVisitor)
    }
}

impl<'de> Deserialize<'de> for RehearsalUsage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RehearsalUsageVisitor;
        impl<'de> Visitor<'de> for RehearsalUsageVisitor {
            type Value = RehearsalUsage;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`none`, or numbers such as `{ input: 900, output: 40 }`")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<RehearsalUsage, E> {
                if word == "none" {
                    return Ok(RehearsalUsage::Unknown);
                }
                Err(E::invalid_value(de::Unexpected::Str(word), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RehearsalUsage, A::Error> {
                RehearsalTokens::deserialize(MapAccessDeserializer::new(map))
                    .map(RehearsalUsage::Given)
            }
        }
        deserializer.deserialize_any(RehearsalUsageVisitor)
    }
}

impl<'de> Deserialize<'de> for RehearsalToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RehearsalToolCallVisitor;
        impl<'de> Visitor<'de> for RehearsalToolCallVisitor {
            type Value = RehearsalToolCall;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one tool with its arguments, such as `read: { path: a.txt }`")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RehearsalToolCall, A::Error> {
                one_call(map)
            }
        }
        deserializer.deserialize_any(RehearsalToolCallVisitor)
    }
}

/// Reads one tool call or a list of them.
pub(super) fn calls<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<RehearsalToolCall>, D::Error> {
    struct RehearsalToolCallsVisitor;
    impl<'de> Visitor<'de> for RehearsalToolCallsVisitor {
        type Value = Vec<RehearsalToolCall>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(
                "a tool with its arguments, such as `read: { path: a.txt }`, or a list of them",
            )
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<RehearsalToolCall>, A::Error> {
            Ok(vec![one_call(map)?])
        }

        fn visit_seq<A: SeqAccess<'de>>(
            self,
            mut items: A,
        ) -> Result<Vec<RehearsalToolCall>, A::Error> {
            let mut calls = Vec::new();
            while let Some(call) = items.next_element()? {
                calls.push(call);
            }
            Ok(calls)
        }
    }
    deserializer.deserialize_any(RehearsalToolCallsVisitor)
}

fn one_call<'de, A: MapAccess<'de>>(mut map: A) -> Result<RehearsalToolCall, A::Error> {
    let one = || de::Error::custom("expected one tool here; several are a list, one item each");
    let (name, arguments) = map.next_entry::<String, Value>()?.ok_or_else(one)?;
    if map.next_key::<String>()?.is_some() {
        return Err(one());
    }
    let arguments = match arguments {
        Value::Object(_) => arguments.to_string(),
        Value::Null => Value::Object(Map::new()).to_string(),
        Value::String(text) => text,
        other => {
            let what = format!(
                "the arguments of `{name}` are `{other}`; expected a mapping, or text that is sent as it stands"
            );
            return Err(de::Error::custom(what));
        }
    };
    Ok(RehearsalToolCall { name, arguments })
}
