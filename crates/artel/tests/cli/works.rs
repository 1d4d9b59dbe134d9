//! Work that is planned first: what it leaves, and what people decide about it.

mod bench;
mod changesets;
mod reports;
mod story;
mod town;
