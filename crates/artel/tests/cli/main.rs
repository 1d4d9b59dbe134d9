//! The binary from outside: what it prints, how it ends, what it leaves on disk.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a step that fails, fails the test; the children are the test's own"
)]

mod agents;
mod answers;
mod auth;
mod auth_list;
mod clean;
mod color;
mod config;
mod context;
mod crash;
mod cut;
mod damage;
mod doctor;
mod finding;
mod formats;
mod frontmatter;
mod garbage;
mod hooks;
mod hostile;
mod init;
mod init_again;
mod killed;
mod killed_heir;
mod killed_run;
mod model;
mod model_health;
mod model_test;
mod omniforge;
mod own_files;
mod pages;
mod pipes;
mod places;
mod policy;
mod policy_batch;
mod portals;
mod probes;
mod prune;
mod reading;
mod readme;
mod replay;
mod restore;
mod runs;
mod safety;
mod sandbox;
mod secrets;
mod secrets_of_models;
mod skill;
mod skill_runs;
mod spending;
mod support;
mod terminal;
mod tool;
mod tool_declared;
mod tool_questions;
mod trace;
mod trust;
mod upgrade;
mod usage;
mod verify;
mod works;
