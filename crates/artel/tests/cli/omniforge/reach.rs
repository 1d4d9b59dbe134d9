//! Checks 14 to 17 and 27: what a skill may use, what its scripts reach, and what becomes of files.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::process::Command;

use artel_testkit::is_long;
use artel_testkit::standin::{Format, StandIn};
use serde_json::{Value, json};

use super::world::{World, calls, conversations, finish, speaks};
use crate::support::{Artel, entry};

/// Waits for a run in another process to come to where its model is held.
fn until_held(model: &StandIn, child: &mut std::process::Child) {
    while model.held() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        std::thread::yield_now();
    }
}

#[test]
fn check_14_what_is_not_on_the_list_is_refused_and_holds_for_that_run_alone() {
    let world = World::new();
    let touch = || calls("bash", json!({"command": "echo touched"}));
    let bound = speaks([touch(), finish("it could not").held()]);
    let free = speaks([touch(), finish("free"), touch(), finish("free again")]);
    world.house.settings(&format!(
        "{}{}",
        entry("default", Format::Anthropic, &bound),
        entry("other", Format::Anthropic, &free)
    ));
    world.skill("bound", "allowed-tools: Read\n", "Try it.");
    world.skill("free", "allowed-tools: Bash(echo:*)\n", "Try it.");
    world.skill("open", "", "Try it.");
    let mut running = world.artel(["run", "bound"]).command().spawn().unwrap();
    until_held(&bound, &mut running);
    // It was told, and it is on record.
    let told = conversations(&bound).pop().unwrap();
    assert!(told.contains("skill bound"), "{told}");
    let requested = world.events("tool.requested");
    assert_eq!(requested.len(), 1);
    assert_eq!(requested[0]["payload"]["decision"], "deny");
    assert_eq!(requested[0]["outcome"], "denied");
    // Another one with another list goes on at the same time.
    let other = |skill: &str| {
        let run = world.artel(["run", skill, "--model", "other"]).run();
        run.expect(0);
        world
            .calls()
            .into_iter()
            .rfind(|call| call.0 == "bash")
            .unwrap()
    };
    let (_, trouble, output) = other("free");
    assert_eq!(trouble, None);
    assert!(output.contains("touched"), "{output}");
    // Of a run that was killed no bound is left.
    running.kill().unwrap();
    running.wait().unwrap();
    let (_, trouble, output) = other("open");
    assert_eq!(trouble, None);
    assert!(output.contains("touched"), "{output}");
}

/// What a script tries, and what must not be seen of it.
struct Attempt {
    name: &'static str,
    text: String,
    /// Only who came through prints this.
    through: &'static str,
    /// How it ends.
    code: u8,
}

/// Makes a skill whose scripts try to get out, and something on this machine to get at.
fn attempts(world: &World, memory: &'static str) -> (TcpListener, Vec<Attempt>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let secret = world.house.home.join("secret.txt");
    fs::write(&secret, "HOME-MARK\n").unwrap();
    let forks = "import os, sys, time\n\
                 made = 0\n\
                 try:\n    \
                     while made < 5000:\n        \
                         if os.fork() == 0:\n            \
                             time.sleep(600)\n        \
                         made += 1\n\
                 except OSError:\n    \
                     sys.exit(9)\n\
                 print('FORKED-' + 'ALL')\n";
    let attempt = |name, text: String, through| Attempt {
        name,
        text,
        through,
        code: 1,
    };
    let list = vec![
        attempt(
            "connect.sh",
            format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo CONNEC\"\"TED\n"),
            "CONNECTED",
        ),
        attempt(
            "write.sh",
            "echo evil > \"$(dirname \"$0\")/evil.txt\" && echo WRIT\"\"TEN\n".to_owned(),
            "WRITTEN",
        ),
        attempt(
            "home.sh",
            format!("cat {} {}\n", secret.display(), "~/secret.txt"),
            "HOME-MARK",
        ),
        attempt(
            "memory.sh",
            format!("head -c {memory} /dev/zero | tail | wc -c && echo ALLOCA\"\"TED\n")
                .replace("&&", "\n[ \"${PIPESTATUS[1]}\" = 0 ] &&"),
            "ALLOCATED",
        ),
        Attempt {
            code: 9,
            ..attempt("forks.py", forks.to_owned(), "FORKED-ALL")
        },
    ];
    for one in &list {
        let program = if one.name.ends_with(".py") {
            "python3"
        } else {
            "bash"
        };
        let text = format!("#!/usr/bin/env {program}\n{}", one.text);
        world.script("evil", one.name, &text);
    }
    (listener, list)
}

/// Looks at what came of the attempts: nothing.
fn nothing_came_through(world: &World, listener: &TcpListener, list: &[Attempt], tool: &str) {
    let calls: Vec<_> = world.calls();
    let calls: Vec<_> = calls.iter().filter(|call| call.0 == tool).collect();
    assert_eq!(calls.len(), list.len(), "{calls:#?}");
    for (one, (_, trouble, output)) in list.iter().zip(calls) {
        assert_eq!(*trouble, None, "{} was begun: {output}", one.name);
        assert!(!output.contains(one.through), "{}: {output}", one.name);
        let end = format!("exit code {}\n", one.code);
        assert!(output.starts_with(&end), "{}: {output}", one.name);
    }
    assert!(listener.accept().is_err(), "nobody knocked");
    let skill = world.house.workshop.join("Skills/evil");
    assert!(!skill.join("scripts/evil.txt").exists());
}

#[test]
fn check_15_scripts_reach_nothing_outside() {
    let world = World::new();
    let folder = world.skill("evil", "", "Run them all.");
    let (listener, list) = attempts(&world, "1G");
    let script = |name: &str| calls("script", json!({"path": format!("scripts/{name}")}));
    let plan = list.iter().map(|one| script(one.name));
    let model = speaks(plan.chain([finish("tried")]));
    world.listens_to(&model);
    world.artel(["run", "evil"]).run().expect(0);
    nothing_came_through(&world, &listener, &list, "script");

    // A link that leads out is no script.
    fs::write(world.house.home.join("out.sh"), "echo LINK-MARK\n").unwrap();
    symlink(
        world.house.home.join("out.sh"),
        folder.join("scripts/out.sh"),
    )
    .unwrap();
    let model = speaks([script("out.sh"), finish("tried")]);
    world.listens_to(&model);
    world.artel(["run", "evil"]).run().expect(0);
    let (_, trouble, output) = world
        .calls()
        .into_iter()
        .rfind(|it| it.0 == "script")
        .unwrap();
    assert_eq!(trouble.as_deref(), Some("refused"), "{output}");
    assert!(!output.contains("LINK-MARK"), "{output}");
}

/// Check 15: a script that never ends is ended after two minutes, which is the patience for
/// scripts.
#[test]
fn proof_scripts_that_never_end_are_ended() {
    if !is_long() {
        return;
    }
    let world = World::new();
    world.skill("evil", "", "Run it.");
    world.script("evil", "loop.sh", "while :; do :; done\n");
    let script = "lines:\n  - call: { script: { path: scripts/loop.sh } }\n  \
                  - call: { finish: { answer: tried } }\n";
    world.rehearsed(script, ["evil"]).run().expect(0);
    let (_, trouble, output) = world.calls().remove(0);
    assert_eq!(trouble.as_deref(), Some("timed-out"), "{output}");
}

#[test]
fn check_16_the_same_scripts_are_walled_in_as_commands_too() {
    let world = World::new();
    let folder = world.skill("evil", "", "Run them all.");
    // Commands have more memory than scripts, and a bound all the same.
    let (listener, list) = attempts(&world, "3G");
    let run = |one: &Attempt| {
        let file = folder.join("scripts").join(one.name);
        let command = file.display().to_string();
        let rule = format!("Bash({command})");
        world.ok(["policy", "grant", &rule, "--reason", "it is tried"]);
        calls("bash", json!({ "command": command }))
    };
    let plan: Vec<_> = list.iter().map(run).collect();
    let model = speaks(plan.into_iter().chain([finish("tried")]));
    world.listens_to(&model);
    world.artel(["run", "evil"]).run().expect(0);
    nothing_came_through(&world, &listener, &list, "bash");
}

#[test]
fn check_17_what_a_script_makes_is_put_in_place_and_nothing_else_is_left() {
    let world = World::new();
    world.skill("viz", "", "Draw.");
    let text = "[ -e /tmp/left-behind ] && echo LEFT-OVER\n\
                echo x > /tmp/left-behind\n\
                echo '<html></html>' > viz.html\n\
                echo drawn\n";
    world.script("viz", "draw.sh", text);
    let script = "lines:\n  - call: { script: { path: scripts/draw.sh } }\n  \
                  - call: { finish: { answer: drawn } }\n";
    for _ in 0..2 {
        drop(fs::remove_file(world.project.join("viz.html")));
        let run = world.rehearsed(script, ["viz", "--apply"]);
        run.run().expect(0);
        let made = fs::read_to_string(world.project.join("viz.html")).unwrap();
        assert_eq!(made, "<html></html>\n");
        let (_, _, output) = world
            .calls()
            .into_iter()
            .rfind(|it| it.0 == "script")
            .unwrap();
        assert!(
            output.contains("drawn") && !output.contains("LEFT-OVER"),
            "{output}"
        );
        let trees = world.house.state("worktrees");
        let left = fs::read_dir(&trees).map(Iterator::count).unwrap_or(0);
        assert_eq!(left, 0, "{}", trees.display());
    }
    assert!(!std::path::Path::new("/tmp/left-behind").exists());
}

#[test]
fn check_27_the_list_of_production_has_ten_items() {
    let world = World::new();
    let seen = world
        .artel(["doctor", "--profile", "production", "--json"])
        .run();
    let report = seen.json();
    let checks = report["checks"].as_array().unwrap();
    let own = [
        "sandbox",
        "network",
        "limits",
        "leftovers",
        "audit",
        "injection",
        "size",
        "context",
        "depth",
        "turns",
    ];
    for area in own {
        let found = checks.iter().filter(|check| check["area"] == area);
        let health: Vec<&Value> = found.map(|check| &check["health"]).collect();
        assert_eq!(health.len(), 1, "{area}: {report}");
    }
}

/// Has a command run on a machine that gives it no namespaces of its own.
fn without_namespaces(artel: Artel) -> Command {
    let artel = artel.command();
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "sh", "-c"])
        .arg("echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"")
        .arg("sh")
        .arg(artel.get_program())
        .args(artel.get_args())
        .env_clear();
    let given = artel.get_envs();
    command.envs(given.filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = artel.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

#[test]
fn check_27_production_runs_no_script_behind_lower_walls() {
    let world = World::new();
    world.skill("viz", "", "Draw.");
    world.script("viz", "draw.sh", "echo DRAWN; touch drawn.txt\n");
    // Policy has no objection, so what is left is the sandbox.
    world.ok(["policy", "grant", "script", "--reason", "it is ours"]);
    let script = "lines:\n  - call: { script: { path: scripts/draw.sh } }\n  \
                  - call: { finish: { answer: could not } }\n";
    let words = ["viz", "--set", "profile=production", "--apply"];
    let run = world.rehearsed(script, words);
    let done = without_namespaces(run).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let (_, trouble, output) = world.calls().remove(0);
    assert!(trouble.is_some(), "{output}");
    let words = "the sandbox reaches level partial, and full is demanded";
    assert!(output.contains(words), "{output}");
    assert!(!world.project.join("drawn.txt").exists());
    let doctor = world.artel(["doctor", "--profile", "production"]);
    let done = without_namespaces(doctor).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8(done.stdout).unwrap();
    let line = said
        .lines()
        .find(|line| line.contains(" sandbox "))
        .unwrap();
    assert!(
        line.starts_with("problem") && line.contains("full is demanded"),
        "{line}"
    );
    // Where all walls stand it runs.
    let words = ["viz", "--set", "profile=production", "--apply"];
    world.rehearsed(script, words).run().expect(0);
    assert!(world.project.join("drawn.txt").exists());
}

/// A folder as others publish them: its text names programs as seen from the skill, in folders of
/// its own choice, and its list knows one tool for all of them.
#[test]
fn programs_of_a_skill_written_for_others_are_found_and_run() {
    let world = World::new();
    let front = "allowed-tools: Read, Bash\n";
    let folder = world.skill("sums", front, "Run `python scripts/sum.py 1 2`.");
    world.script(
        "sums",
        "sum.py",
        "import sys\nprint('sum', sum(map(int, sys.argv[1:])))\n",
    );
    world.script("sums", "greet.sh", "echo hello from a shell\n");
    std::fs::create_dir_all(folder.join("ooxml")).unwrap();
    std::fs::write(folder.join("ooxml/pack.py"), "print('packed')\n").unwrap();
    std::fs::write(folder.join("notes.md"), "not a program\n").unwrap();
    let script = r#"
lines:
  - call: { bash: { command: python3 scripts/sum.py 1 2 } }
  - call: { script: { path: scripts/sum.py, args: ["1", "2"] } }
  - call: { script: { path: scripts/greet.sh } }
  - call: { script: { path: ooxml/pack.py } }
  - call: { script: { path: notes.md } }
  - call: { finish: { answer: done } }
"#;
    world.rehearsed(script, ["sums"]).run().expect(0);
    let calls = world.calls();
    let seen: Vec<_> = calls.iter().map(|(_, _, text)| text.as_str()).collect();
    let hint = r#"call `script {"args":["1","2"],"path":"scripts/sum.py"}`"#;
    for (text, part) in seen.iter().zip([
        hint,
        "sum 3",
        "hello from a shell",
        "packed",
        "`notes.md` is no script of the skill",
    ]) {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}
