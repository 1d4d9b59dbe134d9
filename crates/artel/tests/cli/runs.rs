//! `artel run` and all that a person does around a run.

mod files;
mod prompts;
mod steering;
mod story;
mod world;
