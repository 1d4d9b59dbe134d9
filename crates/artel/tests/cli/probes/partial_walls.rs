//! On a machine without namespaces the walls are lower, and what they keep they keep: processes
//! outside can be seen there, and neither read, stopped nor used as a way around.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::omniforge::world::World;
use crate::support::{KEY, lowered};

/// What a command tries with the processes outside.
const TRIES: &str = r"#!/bin/sh
for it in /proc/[0-9]*; do
  tr '\0' '\n' < $it/environ | grep -a MY_KEY
  cat $it/root/OUTSIDE/private $it/cwd/../private
  for one in $it/fd/*; do head -c 200 $one < /dev/null | grep -a PRIVATE; done
  echo 0 > $it/oom_score_adj && echo changed $it
done 2>/dev/null
cat OUTSIDE/private
ln OUTSIDE/private linked && cat linked
ln -s OUTSIDE/private link && cat link
kill VICTIM && echo killed
kill -STOP VICTIM && echo stopped
echo tried it all
";

#[test]
fn at_level_partial_processes_outside_are_no_way_to_what_they_hold() {
    let world = World::new();
    let outside = world.house.folder("outside");
    fs::write(outside.join("private"), "PRIVATE-MARK\n").unwrap();
    let mut victim = Command::new("sleep")
        .arg("600")
        .current_dir(&outside)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let text = TRIES
        .replace("OUTSIDE", outside.to_str().unwrap())
        .replace("VICTIM", &victim.id().to_string());
    let script = world.project.join("try.sh");
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let rules = "[[rule]]\nprefix = [\"./try.sh\"]\ndecision = \"allow\"\n";
    fs::write(world.house.workshop.join("Policy/rules.toml"), rules).unwrap();
    let play = "lines:\n  - call: { bash: { command: ./try.sh } }\n  - call: { finish: { answer: done } }\n";
    let words = ["--task", "begin", "--set", "sandbox.accept=partial"];
    let ended = lowered(world.rehearsed(play, words)).output().unwrap();
    let engaged = world.events("sandbox.engaged");
    assert_eq!(engaged[0]["payload"]["level"], "partial", "{ended:?}");
    let is_alive = victim.try_wait().unwrap().is_none();
    let state = fs::read_to_string(format!("/proc/{}/stat", victim.id())).unwrap_or_default();
    victim.kill().unwrap();
    victim.wait().unwrap();
    let calls = world.calls();
    let (_, _, seen) = calls.iter().find(|(tool, ..)| tool == "bash").unwrap();
    assert!(seen.contains("tried it all"), "nothing ran: {seen}");
    for mark in [KEY, "PRIVATE-MARK", "changed /proc", "killed", "stopped"] {
        assert!(!seen.contains(mark), "{mark}: {seen}");
    }
    assert!(is_alive && !state.contains(") T "), "{state}");
}
