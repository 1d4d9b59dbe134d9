//! Work that is planned first: what it leaves, and what people decide about it.

mod answering;
mod asking;
mod bench;
mod changesets;
mod checks;
mod console;
mod crowd;
mod daemon;
mod deciding;
mod demo;
mod executors;
mod flood;
mod forking;
mod full_disk;
mod http;
mod inbox;
mod killed_merge;
mod prompts;
mod reports;
mod story;
mod telling;
mod tokens;
mod town;
mod wire;
