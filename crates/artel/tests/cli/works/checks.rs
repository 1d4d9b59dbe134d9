//! Acceptance checks of planned work, one file for each source. A check is read with the words of
//! Artel: a step is tried three times before the person decides.
//!
//! Which tests show which check is told in `docs/checks.md`.

mod advice;
mod baseline;
mod checkers;
mod contract;
mod exoframe;
mod holding;
mod homebound;
mod kept;
mod kept_tests;
mod left_out;
mod listed;
mod people;
mod plain;
mod renames;
mod rewritten;
mod rights;
mod secrets_of_steps;
mod skills_agent;
mod sylk_2;
mod sylk_4;
mod sylk_5;
mod sylk_7;

use super::stage;
