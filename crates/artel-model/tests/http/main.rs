//! Models behind real HTTP: every format against a server that speaks it, with every fault that a
//! network and a provider can have.
//!
//! The servers are those of `artel_testkit::standin`, on 127.0.0.1. Time is real here, so what has
//! to be waited for is short.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod conformance;
mod connecting;
mod cuts;
mod floods;
mod gateway;
#[expect(dead_code, reason = "these tests have models of their own to steer")]
#[path = "../gateway/support.rs"]
mod house;
mod noise;
mod proxies;
mod refusals;
mod requests;
mod secrets;
mod servers;
mod silence;
mod support;
