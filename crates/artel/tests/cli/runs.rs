//! `artel run` and all that a person does around a run.

mod files;
mod steering;
mod story;
mod world;
