//! Chat Completions, as OpenAI made it and vLLM, llama.cpp, LM Studio, OpenRouter and many others
//! speak it. Requests keep to what all of them know; answers are read with patience.

mod encode;
mod read;

pub(crate) use encode::encode;
pub(crate) use read::Reader;
