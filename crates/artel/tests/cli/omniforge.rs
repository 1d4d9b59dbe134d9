//! The acceptance checks of skills, each through the binary, named by its number.
//!
//! Some are shown elsewhere as well, or more thoroughly, and are not repeated here:
//!
//! - 2, 3: `runs::story`, `a_run_that_never_ends_…` and `programs_get_records_…`.
//! - 7, 8, 13: `artel-skills`, `tests/folders.rs` and `tests/expand.rs`.
//! - 10: `artel-policy` judges a whole corpus of command lines.
//! - 15: `artel-sandbox`, `tests/walls`: every wall by itself.
//! - 21: `runs::story`, `developers_see_turns_…`, `a_hidden_tool_…` and `secrets_are_in_no_view`.
//! - 24: `bench-runs` measures a turn, and a thousand runs at once in one process.
//! - 25: `artel-skills`, `tests/folders.rs`, `loading_on_demand_saves_at_least_two_fifths`.
//! - 26: `artel-workshop`, `tests/recovery`: the suite of faults.
//! - 27: `doctor`, `the_list_of_a_profile_…`.

mod contained;
mod hooks;
mod inject;
mod kin;
mod reach;
mod rest;
mod stranger;
mod text;
mod turns;
pub(crate) mod world;
