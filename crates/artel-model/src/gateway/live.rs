//! Removes secrets from a reply while it streams, even one that is split between chunks.

use std::collections::BTreeMap;

use artel_types::model::{ProviderSignature, ReplyChunk};
use artel_types::{SecretRedactor, SecretStreamRedactor};

/// The three kinds of text in a reply, each with redacted streams of its own.
pub(super) struct LiveReplyRedactor {
    redactor: SecretRedactor,
    text: SecretStreamRedactor,
    thinking: SecretStreamRedactor,
    calls: BTreeMap<u32, SecretStreamRedactor>,
}

impl LiveReplyRedactor {
    pub(super) fn new(redactor: &SecretRedactor) -> Self {
        Self {
            redactor: redactor.clone(),
            text: redactor.stream(),
            thinking: redactor.stream(),
            calls: BTreeMap::new(),
        }
    }

    /// Appends the chunks that can be shown by now. Text that was held back comes out before
    /// any other kind, so that the parts keep their order.
    pub(super) fn push(&mut self, chunk: ReplyChunk, out: &mut Vec<ReplyChunk>) {
        match chunk {
            ReplyChunk::Text { text } => {
                self.finish_thinking(out);
                let text = self.text.push(&text).into_owned();
                say(out, text, |text| ReplyChunk::Text { text });
            }
            ReplyChunk::Thinking { text } => {
                self.finish_text(out);
                let text = self.thinking.push(&text).into_owned();
                say(out, text, |text| ReplyChunk::Thinking { text });
            }
            ReplyChunk::ToolStart { index, id, name } => {
                self.finish_words(out);
                self.calls.insert(index, self.redactor.stream());
                let (id, name) = (self.clean(&id), self.clean(&name));
                out.push(ReplyChunk::ToolStart { index, id, name });
            }
            ReplyChunk::ToolDelta { index, arguments } => {
                let arguments = match self.calls.get_mut(&index) {
                    Some(call) => call.push(&arguments).into_owned(),
                    None => self.clean(&arguments),
                };
                say(out, arguments, |arguments| ReplyChunk::ToolDelta {
                    index,
                    arguments,
                });
            }
            ReplyChunk::ToolEnd { index, seal } => {
                let rest = self.calls.remove(&index).map(|mut call| call.finish());
                say(out, rest.unwrap_or_default(), |arguments| {
                    ReplyChunk::ToolDelta { index, arguments }
                });
                let seal = seal.map(|seal| self.clean_seal(seal));
                out.push(ReplyChunk::ToolEnd { index, seal });
            }
            ReplyChunk::TextSealed { seal } => {
                self.finish_words(out);
                let seal = self.clean_seal(seal);
                out.push(ReplyChunk::TextSealed { seal });
            }
            ReplyChunk::ThinkingSealed { seal } => {
                self.finish_words(out);
                let seal = self.clean_seal(seal);
                out.push(ReplyChunk::ThinkingSealed { seal });
            }
            ReplyChunk::Start { id, model } => {
                let id = id.map(|id| self.clean(&id));
                let model = model.map(|model| self.clean(&model));
                out.push(ReplyChunk::Start { id, model });
            }
            ReplyChunk::End { .. } => {
                self.finish_words(out);
                out.push(chunk);
            }
        }
    }

    fn finish_words(&mut self, out: &mut Vec<ReplyChunk>) {
        self.finish_thinking(out);
        self.finish_text(out);
    }

    fn finish_text(&mut self, out: &mut Vec<ReplyChunk>) {
        say(out, self.text.finish(), |text| ReplyChunk::Text { text });
    }

    fn finish_thinking(&mut self, out: &mut Vec<ReplyChunk>) {
        say(out, self.thinking.finish(), |text| ReplyChunk::Thinking {
            text,
        });
    }

    /// Removes secrets from a seal. A genuine seal never contains one; a seal that does was
    /// made by somebody who wants to see it.
    fn clean_seal(&self, seal: ProviderSignature) -> ProviderSignature {
        ProviderSignature {
            data: self.clean(&seal.data),
            ..seal
        }
    }

    fn clean(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }
}

fn say(out: &mut Vec<ReplyChunk>, text: String, chunk: impl FnOnce(String) -> ReplyChunk) {
    if !text.is_empty() {
        out.push(chunk(text));
    }
}

#[cfg(test)]
mod tests {
    use artel_types::Secret;

    use super::*;

    #[test]
    fn a_secret_over_several_pieces_is_never_shown() {
        let redactor = SecretRedactor::of_known_values([&Secret::new("sk-canary-0123456789")]);
        let mut live = LiveReplyRedactor::new(&redactor);
        let mut out = Vec::new();
        let text = |text: &str| ReplyChunk::Text { text: text.into() };
        live.push(text("the key is sk-can"), &mut out);
        live.push(text("ary-01234"), &mut out);
        live.push(text("56789, and sk-c"), &mut out);
        let (index, id, name) = (0, "1".to_owned(), "read".to_owned());
        live.push(ReplyChunk::ToolStart { index, id, name }, &mut out);
        for arguments in ["{\"k\":\"sk-canary-", "0123456789\"}"] {
            let arguments = arguments.to_owned();
            live.push(ReplyChunk::ToolDelta { index, arguments }, &mut out);
        }
        live.push(ReplyChunk::ToolEnd { index, seal: None }, &mut out);
        let shown = serde_json::to_string(&out).unwrap();
        assert!(!shown.contains("canary"), "{shown}");
        assert_eq!(shown.matches("[REDACTED]").count(), 2, "{shown}");
        // Text that only looked like the start of a secret comes out before the call begins.
        let held = shown.find("\"sk-c\"").unwrap();
        assert!(held < shown.find("tool_start").unwrap());
    }
}
