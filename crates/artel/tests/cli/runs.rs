//! `artel run` and all that a person does around a run.

mod bans;
mod contained;
mod files;
mod foreign;
mod git_probes;
mod git_settings;
mod nested;
mod places;
mod prompts;
mod steering;
mod story;
mod windows;
mod world;
