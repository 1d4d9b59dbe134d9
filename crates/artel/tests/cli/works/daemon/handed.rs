//! Plans that a terminal hands over to the daemon, and stays with.

use std::fs;
use std::process::{Command, Stdio};

use super::super::town::{SCRIPT, Town};
use super::{Served, until};

/// A town with a daemon, whose model both know from the settings.
fn town(script: &str) -> Served {
    let served = Served(Town::saying(script));
    let settings = served.0.house.workshop.join("artel.toml");
    let old = fs::read_to_string(&settings).unwrap();
    let path = served.0.house.root().join("script.yaml");
    let model = format!(
        "[models.default]\nprovider = \"rehearsal\"\nmodel = \"{}\"\n",
        path.display()
    );
    fs::write(&settings, format!("{old}\n{model}")).unwrap();
    served.start();
    served
}

#[test]
fn an_approved_plan_is_done_by_the_daemon_and_seen_at_the_terminal() {
    let served = town(SCRIPT);
    let id = served.0.asked();
    let seen = served.0.artel(["plan", "approve", &id]);
    let seen = seen.env("ARTEL_MODEL", "").run().expect(0);
    let seen = seen.says("artel changeset approve");
    assert!(seen.err.contains("goes on in artel serve"), "{}", seen.err);
    assert!(seen.err.contains("Say so in the notes"), "{}", seen.err);
    assert_eq!(served.0.count("plan.handed_over"), 1);
    assert_eq!(served.0.count("changeset.created"), 1);
}

#[test]
fn what_only_holds_for_a_command_is_done_by_it() {
    let served = town(SCRIPT);
    let id = served.0.asked();
    let seen = served.0.artel(["plan", "approve", &id, "--at-once", "1"]);
    seen.env("ARTEL_MODEL", "").run().expect(0);
    assert_eq!(served.0.count("plan.handed_over"), 0);
}

#[test]
fn whoever_leaves_does_not_stop_it() {
    let work = "  - expect: { matches: \"(?s)step 1 of 2.*You may change\" }\n";
    assert!(SCRIPT.contains(work));
    let slow = format!("{work}    say: wait for it\n    then: slow\n{work}");
    let served = town(&SCRIPT.replace(work, &slow));
    let id = served.0.asked();
    let child = served
        .0
        .artel(["plan", "approve", &id])
        .env("ARTEL_MODEL", "")
        .command()
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("a step begins", || served.0.count("step.started") > 0);
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let left = child.wait_with_output().unwrap();
    let said = String::from_utf8(left.stdout).unwrap();
    assert_eq!(left.status.code(), Some(130), "{said}");
    assert!(said.contains("goes on in artel serve"), "{said}");
    assert_eq!(served.state(), "running");
}

/// Nobody sits at a script's terminal: it is told what to answer, and the plan waits for that.
#[test]
fn a_call_that_needs_a_yes_is_named_where_nobody_can_give_it() {
    let work = "  - expect: { matches: \"(?s)step 1 of 2.*You may change\" }\n";
    let reads = format!(
        "{work}    times: 1\n    call: {{ read: {{ path: .env }} }}\n  \
         - expect: {{ tools: [propose_change], result_of: read, says: .env }}\n"
    );
    let served = town(&SCRIPT.replacen(work, &reads, 1));
    let id = served.0.asked();
    let approve = served.0.artel(["plan", "approve", &id]);
    let seen = approve.env("ARTEL_MODEL", "").run().fails_last(3, "P002");
    let seen = seen.says("wants to run read").says("artel answer ");
    assert_eq!(served.state(), "running", "{}", seen.err);
    let waits = served.0.artel(["waiting", "--json"]).run().expect(0).json();
    let call = waits[0]["id"].as_str().unwrap();
    served.0.artel(["answer", call, "yes"]).run().expect(0);
    let resume = served.0.artel(["resume", &id]);
    resume.env("ARTEL_MODEL", "").run().expect(0);
    assert_eq!(served.0.count("changeset.created"), 1);
    assert_eq!(served.0.count("tool.answered"), 1);
}
