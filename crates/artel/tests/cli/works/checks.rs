//! Acceptance checks of planned work, one file for each source.

mod exoframe;
mod skills_agent;
mod stage;
mod sylk_2;
mod sylk_4;
mod sylk_5;
mod sylk_7;
