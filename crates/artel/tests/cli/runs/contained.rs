//! Commands that the walls of a run judge: what runs without a question, and what ends that.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};

use super::world::World;
use crate::support::lowered;
use crate::terminal::Seat;

/// The everyday commands that used to ask, and those beside them that did not.
const EVERYDAY: [&str; 16] = [
    "sed -i s/feb/mar/ sales.csv",
    "cat <<EOF > g.txt\n$((1 + 1))\nEOF",
    "python3 - <<'EOF'\nprint(1)\nEOF",
    "python3 -m unittest -q; echo $?",
    "ls *.csv",
    "FOO=1 python3 -c 'print(2)'",
    "echo hi > /tmp/x",
    "mkdir -p calc && cd calc && python3 -c 'import os'",
    "x=$(git rev-parse HEAD); echo $x",
    "perl -e 'print 1'",
    "echo one > file.txt",
    "cat <<'EOF' > quoted.txt\n$HOME\nEOF",
    "ls ./*.csv",
    "echo two 2>&1 | tail -1",
    "git log --oneline -1",
    "find . -name '*.csv' -exec wc -l {} +",
];

/// Writes a script that calls commands one after the other, each after the result of the one before.
fn script(commands: &[Value]) -> String {
    let called = |inputs: &[Value]| {
        let calls = inputs.iter().map(|input| json!({ "bash": input }));
        json!({ "call": calls.collect::<Vec<_>>() })
    };
    // A run has so many turns: the commands of a long list come several at a time.
    let at_once = commands.len().div_ceil(8);
    let lines: Vec<Value> = commands
        .chunks(at_once)
        .map(called)
        .chain([json!({ "call": { "finish": { "answer": "done" } } })])
        .collect();
    json!({ "lines": lines }).to_string()
}

fn commands(texts: &[&str]) -> Vec<Value> {
    texts
        .iter()
        .map(|text| json!({ "command": text }))
        .collect()
}

impl World {
    /// Returns each command with its decision and what decided.
    fn decided(&self) -> Vec<(String, String, String)> {
        let events = self.events("tool.requested");
        let payloads = events.iter().map(|event| &event["payload"]);
        let commands = payloads.filter(|it| it["tool"] == "bash");
        commands
            .map(|it| {
                let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
                let input: Value = serde_json::from_str(&text("input")).unwrap();
                let command = input["command"].as_str().unwrap_or_default().to_owned();
                (command, text("decision"), text("decided_by"))
            })
            .collect()
    }

    fn rules(&self, text: &str) {
        fs::write(self.house.workshop.join("Policy/rules.toml"), text).unwrap();
    }
}

#[test]
fn everyday_commands_run_without_a_question() {
    let world = World::new(&script(&commands(&EVERYDAY)));
    world.git();
    world.task([]).run().expect(0);
    let decided = world.decided();
    assert_eq!(decided.len(), EVERYDAY.len());
    for (command, answer, _) in &decided {
        assert_eq!(answer, "allow", "{command}");
    }
    let contained = decided.iter().filter(|it| it.2 == "contained").count();
    assert!(contained >= 9, "{decided:#?}");
    let finished = world.events("tool.finished");
    for event in &finished {
        assert_ne!(event["outcome"], "denied", "{event}");
    }
}

#[test]
fn settings_and_the_production_profile_turn_it_off() {
    for words in [
        ["--set", "policy.contained=false"],
        ["--set", "profile=production"],
        ["--set", "policy.commands=ask"],
    ] {
        let world = World::new(&script(&commands(&["echo $HOME"])));
        world.task(words).run();
        let decided = world.decided();
        assert_eq!(decided[0].1, "ask", "{words:?}");
        assert_eq!(decided[0].2, "rule", "{words:?}");
    }
}

/// A host that a person granted for one call ends it for the next, and so does a job that keeps its
/// connection; a process that takes the run up knows it from the journal.
#[test]
fn a_granted_host_ends_it() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = server.local_addr().unwrap().to_string();
    let mut all = commands(&["echo $HOME"]);
    all.push(json!({ "command": "true", "network": [host] }));
    all.extend(commands(&["echo $PWD", "ls"]));
    let world = World::new(&script(&all));
    let (screen, _) = Seat::at(world.task([]))
        .shows("Allow it? [o]nce")
        .types("o\n")
        .shows("echo $PWD")
        .shows("Allow it? [o]nce")
        .types("n\n")
        .shows("Feedback for next time")
        .types("\n")
        .end();
    let decided = world.decided();
    let words: Vec<&str> = decided.iter().map(|it| it.1.as_str()).collect();
    assert_eq!(words, ["allow", "ask", "ask", "allow"], "{screen}");
    assert_eq!(decided[0].2, "contained");
    assert_eq!(decided[3].2, "rule", "what can be read runs as ever");
}

#[test]
fn a_host_granted_for_good_keeps_it_from_beginning() {
    let world = World::new(&script(&commands(&["echo $HOME"])));
    let grant = ["policy", "grant", "Fetch(docs.rs)", "--reason", "docs"];
    world.ok(grant);
    world.task([]).run();
    assert_eq!(world.decided()[0].1, "ask");
    let check = ["policy", "check", "--contained", "echo $HOME"];
    world
        .artel(check)
        .run()
        .expect(3)
        .says("the run has a network grant");
}

#[test]
fn a_secret_that_was_handed_out_ends_it() {
    let world = World::new(&script(&commands(&[
        "echo $HOME",
        "printenv NOTHING",
        "echo $PWD",
    ])));
    world
        .rules("[[rule]]\nprefix = [\"printenv\"]\ndecision = \"allow\"\nsecrets = [\"github\"]\n");
    world.ok(["policy", "grant", "Secret(github)", "--reason", "ours"]);
    let set = world.artel(["auth", "set", "--tool", "github"]);
    set.given(crate::support::KEY).run().expect(0);
    world.task([]).run();
    let decided = world.decided();
    let words: Vec<&str> = decided.iter().map(|it| it.1.as_str()).collect();
    assert_eq!(words, ["allow", "allow", "ask"], "{decided:#?}");
    assert_eq!(decided[0].2, "contained");
}

/// Ways to say `git commit`, of which a person said never.
const COMMITS: [&str; 16] = [
    "git commit -m x",
    "/usr/bin/git commit -m x",
    "g\\it commit -m x",
    "env git commit -m x",
    "git -C . -c a=b commit -m x",
    "sh -c 'git commit -m x'",
    "$(echo git) commit -m x",
    "g=git; $g commit -m x",
    "eval \"git com\"mit",
    "echo commit | xargs git",
    "python3 -c \"import os; os.system('gi' + 't commit')\"",
    "printf '%s' 'git commit' | sh",
    "/usr/lib/git-core/git-commit -m x",
    "ln -s /usr/bin/git g && ./g commit -m x",
    "cp /usr/bin/git g; ./g commit -m x",
    "eatmydata git commit -m x",
];

/// Ways to say `make`, about which a person wants to be asked.
const MAKES: [&str; 19] = [
    "make all",
    "make -j4",
    "/usr/bin/make",
    "m'a'ke all",
    "env make",
    "timeout 5 make",
    "sh -c make",
    "$(echo make)",
    "m=make; $m",
    "eval ma\"\"ke",
    "find . -name sales.csv -exec make {} +",
    "python3 -c \"import os; os.system('ma' + 'ke')\"",
    "gmake all",
    "gdb -batch -ex 'shell make all'",
    "perf stat make",
    "sqlite3 :memory: \"select edit('x', 'make all')\"",
    "sqlite3 :memory: \"select load_extension('./m')\"",
    "ln -s /usr/bin/make m && ./m all",
    "ccache make all",
];

/// Ways to get at a file of a folder that nobody may read. Those that can be read are refused; the walls
/// keep the others.
const READS: [&str; 16] = [
    "cat private/key",
    "cat ./private/../private/key",
    "cat < private/key",
    "cat pri*/k*",
    "cd private && cat key",
    "grep -rh value .",
    "find . -type f -exec cat {} +",
    "tar cf all.tar . ; tar xOf all.tar",
    "cp -r . /tmp/all; cat /tmp/all/private/key",
    "ln -s private p; cat p/key",
    "mv private p; cat p/key",
    "git show HEAD:private/key",
    "git archive HEAD | tar xO",
    "while read l; do echo $l; done < private/key",
    "cat $(ls -d p*)/key",
    "python3 look.py",
];

#[test]
fn rules_of_the_person_are_not_talked_around() {
    let all: Vec<&str> = [&COMMITS[..], &MAKES, &READS].concat();
    let world = World::new(&script(&commands(&all)));
    fs::create_dir(world.project.join("private")).unwrap();
    fs::write(world.project.join("private/key"), "the value 4711-plum\n").unwrap();
    let look = "import glob\nfor n in glob.glob('pri*/k*'):\n    print(open(n).read())\n";
    fs::write(world.project.join("look.py"), look).unwrap();
    world.git();
    world
        .rules("deny = [\"Bash(git commit:*)\", \"Read(private/**)\"]\nask = [\"Bash(make:*)\"]\n");
    world.task([]).run();
    let decided = world.decided();
    assert_eq!(decided.len(), all.len(), "{decided:#?}");
    for (command, answer, _) in &decided[..COMMITS.len() + MAKES.len()] {
        assert_ne!(answer, "allow", "{command}");
    }
    let reads = &decided[COMMITS.len() + MAKES.len()..];
    assert!(reads.iter().any(|it| it.1 == "allow"), "{reads:#?}");
    for event in world.events("tool.finished") {
        let seen = event["payload"]["observation"].to_string();
        assert!(!seen.contains("4711-plum"), "{seen}");
    }
}

/// Walls judge what an agent runs in its run. What else starts programs goes by the rules.
#[test]
fn nothing_but_commands_of_a_run_is_contained() {
    let calls = [
        json!({ "count": { "path": "sales.csv" } }),
        json!({ "bash": { "command": "echo $HOME" } }),
    ];
    let lines = json!({ "lines": [
        { "call": calls },
        { "call": { "finish": { "answer": "done" } } },
    ] });
    let world = World::new(&lines.to_string());
    let tool = "description = \"Counts\"\ncommand = [\"wc\", \"-l\", \"{path}\"]\n\n\
                [parameters.path]\ntype = \"path\"\ndescription = \"The file\"\n";
    fs::write(world.house.workshop.join("Tools/count.toml"), tool).unwrap();
    // A line of a skill that its list grants, and one that the shell computes.
    let skill = "---\nname: look\ndescription: Looks.\nallowed-tools: Read Bash\n---\n\
                 One: !`echo mark-$((6 * 7))`\n";
    let folder = world.house.workshop.join("Skills/look");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), skill).unwrap();
    let run = world.artel(["run", "look"]).run();
    assert!(!run.text().contains("mark-42"), "{}", run.text());
    world.task([]).run();
    let requested = world.events("tool.requested");
    let decided: Vec<_> = requested
        .iter()
        .map(|it| (&it["payload"]["tool"], &it["payload"]["decided_by"]))
        .filter(|(tool, _)| *tool == "count" || *tool == "bash")
        .map(|(tool, by)| format!("{tool} {by}").replace('"', ""))
        .collect();
    assert!(decided.contains(&"count rule".to_owned()), "{decided:?}");
    assert!(
        decided.contains(&"bash contained".to_owned()),
        "{decided:?}"
    );
    assert!(!world.ok(["journal", "export"]).out.contains("mark-42"));
    // Tried by hand, a tool is judged by the rules too.
    let tried = [
        "tool",
        "run",
        "bash",
        "{\"command\": \"echo mark-$((6 * 7))\"}",
    ];
    let seen = world.artel(tried).run().expect(3);
    assert!(!seen.text().contains("mark-42"), "{}", seen.text());
}

/// A hook of the project says what a contained command may say, and waits for the person's trust.
#[test]
fn a_hook_is_never_contained() {
    const COMMAND: &str = "echo mark-$((6 * 7)) >&2";
    let world = World::new(&script(&commands(&[COMMAND])));
    let hook = json!({ "type": "command", "command": COMMAND });
    let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
    fs::create_dir(world.project.join(".claude")).unwrap();
    fs::write(
        world.project.join(".claude/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    let seen = world.task([]).run().expect(0);
    assert!(seen.err.contains("artel hook trust"), "{}", seen.err);
    assert_eq!(world.decided()[0].2, "contained");
    assert!(world.events("hook.ran").is_empty());
    // Trusted, it runs by that; the walls had no say.
    world.ok(["hook", "trust", "--yes"]);
    world.task([]).run().expect(0);
    assert_eq!(world.events("hook.ran").len(), 1);
    assert_eq!(world.decided().len(), 2, "the two commands of the runs");
}

/// What a person has run behind the walls is no run's: nothing is decided about it, and its walls
/// let nothing more through for that.
#[test]
fn what_a_person_runs_in_the_sandbox_is_never_contained() {
    let world = World::new("");
    world.rules("ask = [\"Bash(sh:*)\"]\n");
    let words = ["sandbox", "run", "--", "sh", "-c"];
    let inside = |text: &str| world.artel(words).words([text]).run();
    let seen = inside("echo mark-$((6 * 7))").expect(0);
    assert_eq!(seen.out, "mark-42\n");
    let csv = world.project.join("sales.csv");
    inside(&format!("echo x > {}", csv.display()));
    assert!(fs::read_to_string(csv).unwrap().starts_with("month"));
    let journal = world.ok(["journal", "export"]).out;
    for kind in ["tool.requested", "contained"] {
        assert!(!journal.contains(kind), "{kind}: {journal}");
    }
}

#[test]
fn paths_that_may_not_be_changed_stay_as_they_are() {
    let world = World::new(&script(&commands(&[
        "for f in sales.csv kept/new.txt kept/old.txt; do echo x > $f; done; true",
        "python3 -c \"open('kept/' + 'old.txt', 'w')\"; true",
    ])));
    fs::create_dir(world.project.join("kept")).unwrap();
    fs::write(world.project.join("kept/old.txt"), "old\n").unwrap();
    world.rules("deny = [\"Edit(kept/**)\"]\n");
    world.task([]).run().expect(0);
    assert_eq!(world.decided()[0].2, "contained");
    let run = world.run();
    let text = |name: &str| fs::read_to_string(world.tree(&run, name)).ok();
    assert_eq!(text("sales.csv").as_deref(), Some("x\n"));
    assert_eq!(text("kept/old.txt").as_deref(), Some("old\n"));
    assert_eq!(text("kept/new.txt"), None);
}

#[test]
fn a_check_shows_what_rules_say_and_what_a_run_does() {
    let world = World::new("");
    let both = world
        .artel(["policy", "check", "--contained", "ls *.py"])
        .run();
    insta::assert_snapshot!(both.text());
    let json = world
        .ok(["policy", "check", "--contained", "--json", "echo $HOME"])
        .json();
    assert_eq!(json["by_rule"]["decision"], "ask");
    assert_eq!(json["by_rule"]["decided_by"], "rule");
    assert_eq!(json["in_a_run"]["decision"], "allow");
    assert_eq!(json["in_a_run"]["decided_by"], "contained");
    assert_eq!(json["uncontained"], Value::Null);
    let off = [
        "policy",
        "check",
        "--contained",
        "--json",
        "--set",
        "policy.contained=false",
        "echo $HOME",
    ];
    let json = world.artel(off).run().expect(3).json();
    assert_eq!(json["in_a_run"]["decision"], "ask");
}

impl World {
    /// Makes the project a repository with one commit.
    pub(super) fn git(&self) {
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "-qm",
                "x",
            ],
        ] {
            let done = std::process::Command::new("git")
                .current_dir(&self.project)
                .args(words)
                .output()
                .unwrap();
            assert!(done.status.success(), "{done:?}");
        }
    }
}

/// Where the machine gives less than the full sandbox, and the person accepts that, rules judge.
#[test]
fn a_lower_level_keeps_it_from_beginning() {
    let world = World::new(&script(&commands(&["echo $HOME", "ls"])));
    let command = world.task(["--set", "sandbox.accept=partial"]).command();
    let lowered = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
    let mut child = std::process::Command::new("unshare");
    child
        .args(["-Ur", "sh", "-c", lowered])
        .arg(command.get_program());
    child.args(command.get_args()).env_clear();
    for (name, value) in command.get_envs() {
        child.env(name, value.unwrap_or_default());
    }
    let ended = child
        .current_dir(command.get_current_dir().unwrap())
        .output()
        .unwrap();
    let engaged = world.events("sandbox.engaged");
    assert_eq!(engaged[0]["payload"]["level"], "partial", "{ended:?}");
    let decided = world.decided();
    assert_eq!(
        (decided[0].1.as_str(), decided[0].2.as_str()),
        ("ask", "rule"),
        "{ended:?}"
    );
    assert_eq!(decided[1].1, "allow", "{ended:?}");
}

/// A run that began behind full walls and goes on behind lower ones: what only the walls let through
/// is asked about from then on.
#[test]
fn a_lower_level_ends_it_for_the_next_command_of_a_run_that_is_taken_up() {
    let script = r#"
rules:
  - expect: { says: begin the work }
    call: { bash: { command: "echo $HOME mark-01" } }
  - expect: { says: mark-01 }
    call: { read: { path: .env } }
  - expect: { result_of: read }
    call: { bash: { command: "echo $PWD mark-02" } }
  - expect: { result_of: bash }
    call: { finish: { answer: over } }
"#;
    let world = World::new(script);
    fs::write(world.project.join(".env"), "MODE=quick\n").unwrap();
    let accept = ["--set", "sandbox.accept=partial"];
    Seat::at(world.task(accept))
        .shows("Allow it? [o]nce")
        .signal(rustix::process::Signal::INT)
        .end();
    let run = world.run();
    let resume = world.artel(["resume", &run]).words(accept);
    let ended = lowered(resume).output().unwrap();
    let levels = world.events("sandbox.engaged");
    let levels: Vec<_> = levels.iter().map(|it| &it["payload"]["level"]).collect();
    assert_eq!(levels, ["full", "partial"], "{ended:?}");
    let decided = world.decided();
    let decided: Vec<_> = decided.iter().map(|it| (&*it.1, &*it.2)).collect();
    let expected = [("allow", "contained"), ("ask", "rule")];
    assert_eq!(decided, expected, "{ended:?}");
}

/// Taken up in another process, a run knows what was let through its walls before.
#[test]
fn a_run_that_is_taken_up_knows_what_was_let_through() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = server.local_addr().unwrap().to_string();
    let all = vec![
        json!({ "command": "true", "network": [host] }),
        json!({ "command": "echo $PWD" }),
    ];
    let world = World::new(&script(&all));
    Seat::at(world.task([]))
        .shows("Allow it? [o]nce")
        .types("o\n")
        .shows("echo $PWD")
        .shows("Allow it? [o]nce")
        .signal(rustix::process::Signal::INT)
        .end();
    let run = world.run();
    let (screen, _) = Seat::at(world.artel(["resume", &run]))
        .shows("echo $PWD")
        .shows("Allow it? [o]nce")
        .signal(rustix::process::Signal::INT)
        .end();
    let decided = world.decided();
    assert!(
        decided[1..].iter().all(|it| it.1 == "ask"),
        "{screen}: {decided:#?}"
    );
}
