//! One file per command: its arguments, whose comments are its help, and one call.

pub(crate) mod auth;
pub(crate) mod clean;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod feedback;
pub(crate) mod init;
pub(crate) mod journal;
mod lines;
pub(crate) mod model;
pub(crate) mod policy;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod skill;
pub(crate) mod tool;
pub(crate) mod trace;
pub(crate) mod usage;
pub(crate) mod workshop;
