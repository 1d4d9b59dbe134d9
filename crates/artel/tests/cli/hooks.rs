//! Hooks of every kind, declared as people declare them, around real runs.

mod failing;
mod kinds;
mod models;
mod told;
mod trust;

use std::fs;
use std::path::PathBuf;

use crate::omniforge::world::World;

/// Declares hooks in the person's own settings.
fn declare(world: &World, hooks: &str) {
    let settings = world.house.home.join(".config/artel");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("artel.toml"), hooks).unwrap();
}

/// Declares hooks as other agents do, in the folder that runs work on.
fn declare_here(world: &World, settings: &serde_json::Value) {
    let folder = world.project.join(".claude");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
}

/// Makes a folder that the person's own hooks may write to.
fn log(world: &World) -> PathBuf {
    let log = world.house.root().join("log");
    fs::create_dir_all(&log).unwrap();
    log.canonicalize().unwrap()
}

/// Returns the hooks that ran, as event and decision.
fn ran(world: &World) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let ran = world.events("hook.ran");
    let ran = ran.iter().map(|event| &event["payload"]);
    ran.map(|fact| (text(&fact["event"]), text(&fact["decision"])))
        .collect()
}
