//! Git as Artel runs it: by absolute path, in an environment of its own, with everything switched
//! off that a repository could make it start.
//!
//! A repository is data that somebody else may have written. Its hooks, pagers, editors, helpers
//! and drivers are never run; what cannot be switched off on the command line, such as a filter
//! that changes file contents, is reported as a [`Danger`] before anything else is done.
#![warn(missing_docs)]

mod danger;
mod git;

pub use danger::{Danger, Dangers};
pub use git::{Git, GitError, Identity};

#[cfg(test)]
mod tests;
