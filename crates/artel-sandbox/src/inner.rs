//! The starter: this program, started again, builds the walls around a command from
//! inside.
//!
//! It starts with nothing but a socket and the two output pipes; its orders come over the
//! socket. At level full it creates one child in new namespaces, the first process of the
//! tree. That process builds the view and every other wall, starts the command and ends
//! with it; the kernel then ends everything else in there. The starter itself stays
//! outside and ends last. It removes what was created for the command, its cgroups and its
//! placeholders, and what the command created under other spellings of protected names.

mod children;
mod first;
mod landlock;
mod network;
mod placeholder;
mod plain;
mod privileges;
mod probe;
mod program;
mod protect;
mod rlimit;
mod search;
mod seccomp;
mod special;
mod starter;
mod step;
mod tree;
mod variant;
mod view;
mod written;

use std::ffi::OsStr;

/// The first argument that turns one of Artel's programs into the starter.
pub const FIRST_ARGUMENT: &str = "__artel-sandbox";

/// Becomes the starter and never returns, if the first argument asks for it. Call it first
/// in `main`, before any threads, settings or output.
pub fn enter_if_asked() {
    let asked = std::env::args_os().nth(1);
    if asked.as_deref() == Some(OsStr::new(FIRST_ARGUMENT)) {
        std::process::exit(starter::main());
    }
}
