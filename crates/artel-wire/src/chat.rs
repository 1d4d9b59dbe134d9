//! Chat Completions, as defined by OpenAI and spoken by vLLM, llama.cpp, LM Studio,
//! OpenRouter and many others. Requests use only what all of them know; replies are read
//! leniently.

mod encode;
mod read;

pub(crate) use encode::encode;
pub(crate) use read::ChatReplyReader;
