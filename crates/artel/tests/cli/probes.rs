//! Attacks of our own on every part, kept so that what held goes on holding. Those on one crate's
//! own promises are in that crate's tests.

mod children;
mod clock_jumps;
mod forged_events;
mod models;
mod other_users;
mod partial_walls;
mod pipes_as_files;
mod pointers;
mod secret_names;
mod skills;
