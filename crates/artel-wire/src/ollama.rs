//! Ollama's own format: one JSON object per line, and calls whole, with objects as their
//! arguments.

mod encode;
mod read;

pub(crate) use encode::encode;
pub(crate) use read::OllamaReplyReader;
