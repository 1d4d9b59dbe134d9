//! Parsing that several formats share: tool calls that arrive in pieces, token counts, and
//! errors in the middle of a reply.

use artel_types::model::{ModelFault, ModelFaultKind, ReplyChunk};
use serde_json::{Value, json};

use crate::calls::ToolCallNumbering;
use crate::refusal;
use crate::wire::WireFormat;

/// The tool calls of one reply, with the state of those that have not ended. A call that
/// has ended takes no further arguments.
#[derive(Debug, Default)]
pub(crate) struct StreamedToolCalls {
    calls: ToolCallNumbering,
    states: Vec<StreamedToolCallState>,
}

#[derive(Debug, Default)]
struct StreamedToolCallState {
    has_arguments: bool,
    is_ended: bool,
}

impl StreamedToolCalls {
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Begins a call and returns its number.
    pub(crate) fn begin(
        &mut self,
        id: &str,
        name: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<u32, ModelFault> {
        let index = self.calls.begin(id, name, out)?;
        self.states.push(StreamedToolCallState::default());
        Ok(index)
    }

    /// Adds to a call's arguments.
    pub(crate) fn add(&mut self, index: u32, arguments: &str, out: &mut Vec<ReplyChunk>) {
        match self.states.get_mut(index as usize) {
            Some(call) if !call.is_ended && !arguments.is_empty() => {
                call.has_arguments = true;
                let arguments = arguments.to_owned();
                out.push(ReplyChunk::ToolDelta { index, arguments });
            }
            _ => {}
        }
    }

    /// Ends a call that is complete.
    pub(crate) fn end(&mut self, index: u32, out: &mut Vec<ReplyChunk>) {
        match self.states.get_mut(index as usize) {
            Some(call) if !call.is_ended => {
                call.is_ended = true;
                out.push(ReplyChunk::ToolEnd { index, seal: None });
            }
            _ => {}
        }
    }

    /// Ends every open call of a complete reply.
    pub(crate) fn end_all(&mut self, out: &mut Vec<ReplyChunk>) {
        for index in (0..).take(self.states.len()) {
            self.end(index, out);
        }
    }

    /// Ends every open call of a reply that was stopped midway, at its limit or by a
    /// filter. Truncated arguments are not valid JSON, so their reader notices them.
    /// Missing arguments would pass for a call that needs none, so they become an unclosed
    /// brace, which keeps the call from being carried out.
    pub(crate) fn break_off(&mut self, out: &mut Vec<ReplyChunk>) {
        for index in (0..).take(self.states.len()) {
            if !self.states[index as usize].has_arguments {
                self.add(index, "{", out);
            }
            self.end(index, out);
        }
    }
}

/// Returns the text, or `None` if it is missing, empty or not a string.
pub(crate) fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// Returns the token count, or `None` if the value is not a whole number.
pub(crate) fn tokens(value: &Value) -> Option<u64> {
    value.as_u64()
}

/// Returns an optional token count: `null` is zero, anything else must be a valid count.
pub(crate) fn tokens_or_zero(value: &Value) -> Option<u64> {
    if value.is_null() {
        return Some(0);
    }
    tokens(value)
}

/// Reads an error in the middle of a reply, where the HTTP status is always 200. The error
/// is the object `{code, type, message}` or just a message. Servers put a word, or the
/// status that the error would have had, into `code` or `type`. If neither is known, the
/// message may still show that a retry is useless.
pub(crate) fn fault(wire: WireFormat, error: &Value) -> ModelFault {
    let body = json!({ "error": error });
    let said = [&error["code"], &error["type"]];
    if let Some(status) = said.into_iter().find_map(status_of) {
        return refusal::within(wire, status, &body);
    }
    let fault = refusal::within(wire, 400, &body);
    match fault.kind {
        ModelFaultKind::BadRequest => refusal::within(wire, 500, &body),
        _ => fault,
    }
}

/// Returns the HTTP status that the error would have had at the start of the reply.
fn status_of(said: &Value) -> Option<u16> {
    if let Some(status) = said.as_u64() {
        let status = u16::try_from(status).ok();
        return status.filter(|status| (400..600).contains(status));
    }
    let word = said.as_str()?;
    Some(match word {
        "rate_limit_exceeded" | "rate_limit_error" | "slow_down" | "tokens" | "requests" => 429,
        "insufficient_quota" | "billing_hard_limit_reached" | "usage_not_included" => 402,
        "server_is_overloaded" | "overloaded_error" | "engine_overloaded_error" => 503,
        "server_error" | "internal_server_error" => 500,
        "invalid_api_key" | "authentication_error" => 401,
        "permission_error" => 403,
        "model_not_found" => 404,
        "context_length_exceeded"
        | "exceed_context_size_error"
        | "invalid_request_error"
        | "invalid_prompt"
        | "data_residency_mismatch" => 400,
        _ if word.contains("image") || word.ends_with("_policy") => 400,
        _ => {
            return word
                .parse()
                .ok()
                .filter(|status| (400..600).contains(status));
        }
    })
}
