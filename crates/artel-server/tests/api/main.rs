//! The HTTP interface from the outside: a real server on a port of its own, a real workshop, and a
//! client that sends what it is told, byte by byte.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod acts;
mod garbage;
mod guards;
mod house;
mod lists;
mod models;
mod pages;
mod price;
mod probes;
mod programs;
mod reach;
mod roles;
mod room;
mod sign_in;
mod stream;
mod telemetry;
mod turns;
mod upkeep;
mod visibility;
