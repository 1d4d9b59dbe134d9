//! Work that is planned first: what it leaves, and what people decide about it.

mod answering;
mod asking;
mod bench;
mod changesets;
mod checks;
mod console;
mod daemon;
mod deciding;
mod demo;
mod executors;
mod flood;
mod http;
mod inbox;
mod prompts;
mod reports;
mod story;
mod town;
mod wire;
