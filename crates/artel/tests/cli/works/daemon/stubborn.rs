//! Daemons that do not end as they should, and what comes after them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use artel_config::ProcessEnvironment;
use artel_testkit::{figure, is_long, system_clock};
use artel_types::ActorSurface;
use artel_workshop::{CommandContext, DaemonStopOutcome, GlobalFlags, Workshop};

use super::{Served, until};

fn signal(name: &str, pid: &str) {
    let sent = Command::new("kill").args([name, pid]).status();
    assert!(sent.unwrap().success());
}

/// The workshop as a command sees it, to wait less than a command does.
fn opened(town: &Served) -> Workshop {
    let house = &town.0.house;
    let variables = [
        ("HOME", house.home.display().to_string()),
        ("ARTEL_WORKSHOP", house.workshop.display().to_string()),
    ];
    let environment = ProcessEnvironment::of(variables, &town.0.project);
    let caller = CommandContext::new(
        environment,
        system_clock(),
        GlobalFlags::default(),
        ActorSurface::Cli,
    );
    caller.unwrap().workshop().unwrap()
}

/// Ends the daemon: as a person does where the test is long, with less patience where it is not.
fn stop(town: &Served) {
    if is_long() {
        let stopped = town.0.artel(["daemon", "stop"]).run().expect(0);
        stopped.says("did not listen for 10 s and was killed");
        return;
    }
    let workshop = opened(town);
    let runs = workshop.daemon_status().unwrap().running.unwrap();
    let patience = Duration::from_millis(300);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let ended = runtime.block_on(workshop.stop_daemon(&runs, patience));
    assert_eq!(ended.unwrap(), DaemonStopOutcome::Killed(patience));
}

#[test]
fn proof_stop_one_that_does_not_listen_is_killed_and_its_work_goes_on() {
    let town = Served::new();
    town.leave();
    let pid = town.start()["pid"].to_string();
    until("it goes on", || town.0.count("run.continued") > 0);
    signal("-STOP", &pid);
    assert_eq!(town.status()["running"]["pid"].to_string(), pid);
    stop(&town);
    assert!(!Path::new(&format!("/proc/{pid}/exe")).exists());
    assert!(!town.0.house.state("daemon.pid").exists());
    assert!(town.status()["running"].is_null());
    let stopped = town.payloads("daemon.stopped");
    assert_eq!(stopped[0]["pid"].to_string(), pid);
    assert!(
        stopped[0]["why"].as_str().unwrap().contains("killed"),
        "{stopped:?}"
    );
    town.0.house.ok(["journal", "verify"]);

    town.start();
    until("the plan is done", || town.state() == "done");
    town.0.artel(["daemon", "stop"]).run().expect(0);
    assert_eq!(town.0.count("plan.ended"), 1);
    town.0.to_the_end();
    assert_eq!(town.0.left().files["NOTES.md"], b"add adds\n");
    town.0.house.ok(["journal", "verify"]);
    figure("a daemon that does not listen | killed | its work is done after the next start");
}

#[test]
fn a_start_right_after_a_kill_gets_the_place_of_the_dead() {
    let town = Served::new();
    let mut runs = town.start();
    for _ in 0..5 {
        let (pid, address) = (runs["pid"].to_string(), runs["listen"].clone());
        signal("-KILL", &pid);
        let start = ["daemon", "start", "--json", "--listen"];
        let start = town.0.artel(start).words(address.as_str());
        runs = start.run().expect(0).json();
        assert_eq!(runs["listen"], address);
        assert_ne!(runs["pid"].to_string(), pid);
    }
    town.0.artel(["daemon", "stop"]).run().expect(0);
    assert_eq!(town.payloads("daemon.started").len(), 6);
}
