//! The walls from inside: every way out is tried, shown to be open outside where that is safe,
//! and shown to be shut inside with the host unchanged.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests start processes and fail by panicking"
)]

mod fixture;

mod calls;
mod files;
mod ladder;
mod limits;
mod network;
mod processes;
mod protected;
mod starting;
