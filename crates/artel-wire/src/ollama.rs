//! Ollama's own format: one JSON object a line, calls whole and with their arguments as objects.

mod encode;
mod read;

pub(crate) use encode::encode;
pub(crate) use read::Reader;
