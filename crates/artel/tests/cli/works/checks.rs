//! Acceptance checks of planned work, one file for each source.

mod skills_agent;
mod stage;
