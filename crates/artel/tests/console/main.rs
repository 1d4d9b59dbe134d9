//! The console in a real browser, the interface called from its description, and the server under
//! pressure: all from the outside, with a daemon of the test's own.
//!
//! What drives the browser is installed by the set-up of `cargo xtask test`; without it these
//! tests fail.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a step that fails, fails the test; the children are the test's own and are quoted"
)]

#[expect(dead_code, reason = "the tests of the command line use all of it")]
#[path = "../cli/works/bench.rs"]
mod bench;
mod browser;
#[expect(dead_code, reason = "the board's own tests use all of it")]
#[path = "../../../artel-workshop/src/board/tests/facts.rs"]
mod facts;
mod large;
mod pressure;
mod restarts;
mod rules;
mod schema;
mod scripts;
mod stage;
#[expect(
    dead_code,
    unused_imports,
    reason = "the tests of the command line use all of it"
)]
#[path = "../cli/support/mod.rs"]
mod support;
#[expect(dead_code, reason = "the tests of the command line use all of it")]
#[path = "../cli/works/town.rs"]
mod town;
mod wire;
