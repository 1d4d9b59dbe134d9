//! One file per command: its arguments, whose comments are its help, and one call.

pub(crate) mod apply;
pub(crate) mod auth;
pub(crate) mod clean;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod feedback;
pub(crate) mod fork;
pub(crate) mod init;
pub(crate) mod journal;
mod lines;
pub(crate) mod model;
pub(crate) mod policy;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sandbox;
pub(crate) mod skill;
pub(crate) mod steer;
mod story;
pub(crate) mod tool;
pub(crate) mod trace;
pub(crate) mod usage;
pub(crate) mod workshop;
