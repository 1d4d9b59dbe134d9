//! Bans and questions of the person beside every kind of tool.

mod spellings;

use std::fs;

use serde_json::{Value, json};

use super::world::World;
use crate::terminal::Seat;

/// One call of a script: a tool and its input.
type Called = (&'static str, Value);

/// What was decided about a call.
#[derive(Debug, PartialEq, Eq)]
struct Decided {
    tool: String,
    answer: String,
    rule: String,
}

/// Writes a script that makes all of these calls.
pub(super) fn script_of(calls: &[Called]) -> String {
    let called = |calls: &[Called]| {
        let calls = calls.iter().map(|(tool, input)| json!({ *tool: input }));
        json!({ "call": calls.collect::<Vec<_>>() })
    };
    // A run has so many turns: the calls of a long list come several at a time.
    let at_once = calls.len().div_ceil(8);
    let lines: Vec<Value> = calls
        .chunks(at_once)
        .map(called)
        .chain([json!({ "call": { "finish": { "answer": "done" } } })])
        .collect();
    json!({ "lines": lines }).to_string()
}

impl World {
    /// Returns what was decided about each call but the last, which ends the run.
    fn all_decided(&self) -> Vec<Decided> {
        let events = self.events("tool.requested");
        let facts = events.iter().map(|event| &event["payload"]);
        let facts = facts.filter(|it| it["tool"] != "finish");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        facts
            .map(|it| Decided {
                tool: text(&it["tool"]),
                answer: text(&it["decision"]),
                rule: text(&it["rule"]),
            })
            .collect()
    }

    /// Has runs play a role of the person's own, with these lines in its file.
    fn default_role(&self, front: &str) {
        let text = format!("---\nname: Careful\ndescription: Works.\n{front}---\nWork.\n");
        fs::write(self.house.workshop.join("Agents/default.md"), text).unwrap();
    }

    fn bans(&self, rules: &str) {
        fs::write(self.house.workshop.join("Policy/rules.toml"), rules).unwrap();
    }
}

fn everything() -> Vec<Called> {
    vec![
        ("read", json!({ "path": "sales.csv" })),
        (
            "edit",
            json!({ "path": "sales.csv", "old": "jan", "new": "mar" }),
        ),
        ("write", json!({ "path": "new.txt", "content": "x" })),
        ("glob", json!({ "pattern": "*.csv" })),
        ("run_tests", json!({})),
        ("fetch", json!({ "url": "https://docs.rs/" })),
        ("bash", json!({ "command": "ls" })),
        ("git_status", json!({})),
    ]
}

/// What a ban was about that nobody can read nobody knows, so it is about everything.
#[test]
fn a_ban_that_nobody_can_read_stops_every_tool() {
    let outdated = "disallowed-tools: [edit, \"read(private/**)\", write]\n";
    for (role, rules, answer) in [
        (outdated, "", "deny"),
        ("", "deny = [\"read(private/**)\"]\n", "ask"),
        ("", "ask = [\"Read(./)\"]\n", "ask"),
    ] {
        let world = World::new(&script_of(&everything()));
        world.git();
        let test = "import unittest\n\n\nclass Sums(unittest.TestCase):\n    pass\n";
        fs::write(world.project.join("test_sums.py"), test).unwrap();
        if !role.is_empty() {
            world.default_role(role);
        }
        world.bans(rules);
        world.task([]).run();
        let decided = world.all_decided();
        assert_eq!(decided.len(), everything().len(), "{decided:#?}");
        for it in &decided {
            assert_eq!(it.answer, answer, "{role}{rules}: {it:?}");
        }
    }
    let world = World::new(&script_of(&[(
        "todo",
        json!({ "tasks": [{ "text": "read", "state": "pending" }] }),
    )]));
    world.default_role(outdated);
    world.task([]).run().expect(0);
    assert_eq!(world.all_decided()[0].answer, "allow");
}

/// Tools of git do what commands of git do, so bans on those are bans on them.
#[test]
fn bans_on_commands_of_git_hold_for_its_tools() {
    let commit = || {
        let message = "chore: note what was looked at";
        ("git_commit", json!({ "message": message }))
    };
    let status = || ("git_status", json!({}));
    for (rules, role, answers) in [
        ("", "", ["allow", "allow"]),
        ("deny = [\"Bash(git commit:*)\"]\n", "", ["deny", "allow"]),
        ("deny = [\"git_commit\"]\n", "", ["deny", "allow"]),
        ("deny = [\"Bash(git:*)\"]\n", "", ["deny", "deny"]),
        ("deny = [\"Git\"]\n", "", ["deny", "deny"]),
        ("deny = [\"Bash\"]\n", "", ["allow", "allow"]),
        ("ask = [\"Bash(git commit)\"]\n", "", ["ask", "allow"]),
        ("", "disallowed-tools: [Git]\n", ["deny", "deny"]),
        ("", "disallowed-tools: [git_commit]\n", ["deny", "allow"]),
    ] {
        let world = World::new(&script_of(&[commit(), status()]));
        world.git();
        world.bans(rules);
        if !role.is_empty() {
            world.default_role(role);
        }
        world.task([]).run();
        let decided = world.all_decided();
        let words: Vec<&str> = decided.iter().map(|it| it.answer.as_str()).collect();
        assert_eq!(words, answers, "{rules}{role}: {decided:#?}");
    }
}

/// Ways to get at a file of a folder that nobody may read: spellings of commands, and tools of git.
fn reads(blob: &str) -> Vec<Called> {
    let commands = [
        "cat private/key",
        "cat pri*/k*",
        "cd private && cat key",
        "grep -rh value .",
        "find . -type f -exec cat {} +",
        "tar cf all.tar . ; tar xOf all.tar",
        "cp -r . /tmp/all; cat /tmp/all/private/key",
        "ln -s private p; cat p/key",
        "mv private p; cat p/key",
        "git show HEAD",
        "git show HEAD:private/key",
        "git archive HEAD | tar xO",
        "git log -p --all",
        "git cat-file --batch-all-objects --batch",
        "while read l; do echo $l; done < private/key",
        "cat $(ls -d p*)/key",
        "python3 look.py",
        "sh -c 'cat p''rivate/key'",
        "x=private; cat $x/key",
    ];
    let tools = [
        ("git_show", json!({})),
        ("git_show", json!({ "commit": "HEAD" })),
        ("git_show", json!({ "commit": "HEAD~1" })),
        ("git_show", json!({ "commit": "HEAD:private/key" })),
        ("git_show", json!({ "commit": "HEAD:./private/key" })),
        ("git_show", json!({ "commit": ":private/key" })),
        ("git_show", json!({ "commit": ":0:private/key" })),
        ("git_show", json!({ "commit": blob })),
        (
            "git_show",
            json!({ "commit": "HEAD~1", "path": "private/key" }),
        ),
        ("git_show", json!({ "commit": "HEAD~1", "path": "private" })),
        ("git_show", json!({ "commit": "HEAD~1", "path": "." })),
        ("git_show", json!({ "commit": "HEAD~1", "path": "pri*/k*" })),
        (
            "git_show",
            json!({ "commit": "HEAD~1", "path": ":(top)private" }),
        ),
        ("git_blame", json!({ "path": "private/key" })),
        ("git_blame", json!({ "path": "./private/../private/key" })),
        ("git_diff_between", json!({ "from": "HEAD~1" })),
        ("git_diff_between", json!({ "from": "HEAD~2" })),
        (
            "git_diff_between",
            json!({ "from": "HEAD~2", "path": "private" }),
        ),
        (
            "git_diff_between",
            json!({ "from": "HEAD~2:private/key", "to": "HEAD:private/key" }),
        ),
        ("git_diff_between", json!({ "from": blob, "to": "HEAD" })),
        ("git_log", json!({ "path": "private/key" })),
        ("git_diff", json!({})),
        ("read", json!({ "path": "private/key" })),
        ("grep", json!({ "pattern": "value" })),
    ];
    let commands = commands.map(|command| ("bash", json!({ "command": command })));
    commands.into_iter().chain(tools).collect()
}

/// A project with a history in which there is a folder that nobody may read.
fn with_private_files(calls: impl Fn(&str) -> Vec<Called>) -> World {
    let blob = {
        let world = World::new("");
        private_files(&world);
        world.git_said(&["rev-parse", "HEAD:private/key"])
    };
    let world = World::new(&script_of(&calls(blob.trim())));
    private_files(&world);
    world
}

fn private_files(world: &World) {
    fs::create_dir(world.project.join("private")).unwrap();
    fs::write(world.project.join("private/key"), "before\n").unwrap();
    world.git();
    fs::write(world.project.join("private/key"), "the value 4711-plum\n").unwrap();
    fs::write(world.project.join("sales.csv"), "month,sum\nmar,3\n").unwrap();
    fs::write(world.project.join(".env"), "MODE=quick\n").unwrap();
    let look = "import glob\nfor n in glob.glob('pri*/k*'):\n    print(open(n).read())\n";
    fs::write(world.project.join("look.py"), look).unwrap();
    world.git_said(&["add", "-A"]);
    world.git_said(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-qm",
        "y",
    ]);
}

impl World {
    fn git_said(&self, words: &[&str]) -> String {
        let done = std::process::Command::new("git")
            .current_dir(&self.project)
            .args(words)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Returns the tools of the calls that showed a text.
    fn showed(&self, text: &str) -> Vec<String> {
        let events = self.events("tool.finished");
        let facts = events.iter().map(|event| &event["payload"]);
        let shown = facts.filter(|it| it["observation"].to_string().contains(text));
        shown
            .map(|it| it["tool"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Only the wall keeps what no rule can read: there is no rule about commands that would ask.
#[test]
fn no_spelling_and_no_tool_shows_what_may_not_be_read() {
    let open = with_private_files(reads);
    open.task([]).run();
    let shown = open.showed("4711-plum");
    assert!(shown.len() > 20, "without a rule they do: {shown:?}");
    for rules in [
        "deny = [\"Read(private/**)\"]\n",
        "ask = [\"Read(private/**)\"]\n",
        "deny = [\"Read(**/k*)\"]\n",
        "deny = [\"Read(private/{key,other})\"]\n",
    ] {
        let world = with_private_files(reads);
        world.bans(rules);
        world.task([]).run();
        let decided = world.all_decided();
        let allowed = decided.iter().filter(|it| it.answer == "allow").count();
        assert!(allowed >= 12, "{rules}: {decided:#?}");
        assert_eq!(world.showed("4711-plum"), Vec::<String>::new(), "{rules}");
        // What else changed is shown as ever.
        let shown = world.showed("mar,3");
        assert!(shown.contains(&"git_show".to_owned()), "{rules}: {shown:?}");
    }
}

/// What a skill's text and a hook print is told to the agent as the output of its own commands is.
#[test]
fn skills_and_hooks_print_nothing_that_may_not_be_read() {
    let seen = |rules: &str| {
        let world = with_private_files(|_| vec![("git_status", json!({}))]);
        world.bans(rules);
        let folder = world.house.workshop.join("Skills/look");
        fs::create_dir_all(&folder).unwrap();
        let commands = [
            "git log -p -1",
            "git diff HEAD~1",
            "git grep value HEAD",
            "grep -rh value .",
            "echo mark",
        ];
        let lines = commands.map(|command| format!("- !`{command}`\n")).concat();
        let front = "name: look\ndescription: Looks.\nallowed-tools: Bash, Read";
        fs::write(
            folder.join("SKILL.md"),
            format!("---\n{front}\n---\n{lines}"),
        )
        .unwrap();
        let settings = world.house.home.join(".config/artel");
        fs::create_dir_all(&settings).unwrap();
        let hook = "git log -p | grep value; cat private/key; git show; echo mark";
        let hook = format!("[[hooks.SessionStart]]\ncommand = \"{hook}\"\n");
        fs::write(settings.join("artel.toml"), hook).unwrap();
        world.artel(["run", "look"]).run().expect(0);
        let whole = world.ok(["journal", "export"]).out;
        assert_eq!(world.events("skill.injected").len(), commands.len());
        let mut showed = Vec::new();
        for kind in ["skill.injected", "hook.ran"] {
            let events = world.events(kind);
            let said = |text: &str| {
                let showing = events.iter().filter(|it| it.to_string().contains(text));
                showing.count()
            };
            assert_eq!(said("mark"), 1, "{kind}: {events:#?}");
            showed.push(said("4711-plum"));
        }
        (showed, whole.contains("4711-plum"))
    };
    assert_eq!(seen(""), (vec![4, 1], true), "without a rule they do");
    for rules in [
        "deny = [\"Read(private/**)\"]\n",
        "ask = [\"Read(private/**)\"]\n",
        "deny = [\"Read(**/k*)\"]\n",
    ] {
        assert_eq!(seen(rules), (vec![0, 0], false), "{rules}");
    }
}

#[test]
fn tools_of_git_ask_about_files_that_may_hold_secrets() {
    let calls = |_: &str| {
        vec![
            ("git_show", json!({ "commit": "HEAD", "path": ".env" })),
            ("git_show", json!({ "commit": "HEAD:.env" })),
            ("git_blame", json!({ "path": ".env" })),
            ("git_blame", json!({ "path": "sales.csv" })),
        ]
    };
    let world = with_private_files(calls);
    world.task([]).run();
    let decided = world.all_decided();
    let words: Vec<&str> = decided.iter().map(|it| it.answer.as_str()).collect();
    assert_eq!(words, ["ask", "ask", "ask", "allow"], "{decided:#?}");
}

/// Whoever says yes to `make` has not said yes to reading what another rule keeps.
#[test]
fn a_yes_lifts_the_wall_of_its_own_question() {
    let calls = |_: &str| {
        vec![
            (
                "bash",
                json!({ "command": "make --version; python3 look.py" }),
            ),
            ("bash", json!({ "command": "cat private/key" })),
        ]
    };
    let world = with_private_files(calls);
    world.bans("ask = [\"Read(private/**)\", \"Bash(make:*)\"]\n");
    let (screen, _) = Seat::at(world.task([]))
        .shows("make --version")
        .shows("Allow it? [o]nce")
        .types("o\n")
        .shows("cat private/key")
        .shows("Allow it? [o]nce")
        .types("o\n")
        .shows("Feedback for next time")
        .types("\n")
        .end();
    let events = world.events("tool.finished");
    let seen: Vec<bool> = events
        .iter()
        .filter(|event| event["payload"]["tool"] == "bash")
        .map(|event| {
            event["payload"]["observation"]
                .to_string()
                .contains("4711-plum")
        })
        .collect();
    assert_eq!(seen, [false, true], "{screen}");
}

/// A tool that rules do not know by its name would be banned by a misspelling, and not be.
#[test]
fn rules_know_every_built_in_tool_by_its_name() {
    let world = World::new("");
    let listed = world.ok(["tool", "list"]).out;
    let names = listed.lines().skip(1);
    let names: Vec<&str> = names
        .filter_map(|line| line.trim_start_matches(['*', ' ']).split(' ').next())
        .collect();
    assert!(names.len() > 40, "{listed}");
    for name in names {
        let rule = name.to_uppercase();
        let check = world.artel(["policy", "check", "--allow"]);
        check.words([&*rule, "--", "ls"]).run().fails(2, "P003");
    }
}

/// Rules of a skill's own list that name nothing: the list is there, so what is not on it is denied,
/// the skill's scripts included, and whoever runs the skill is told.
#[test]
fn rules_of_a_skill_that_name_nothing_grant_nothing_and_the_person_is_told() {
    for rule in ["bash(git status)", "Bash(:*)", "Bash()"] {
        let world = World::new(&script_of(&[
            ("bash", json!({ "command": "git status" })),
            ("script", json!({ "path": "scripts/mark.sh" })),
            ("read", json!({ "path": "sales.csv" })),
        ]));
        let folder = world.house.workshop.join("Skills/look");
        fs::create_dir_all(folder.join("scripts")).unwrap();
        fs::write(folder.join("scripts/mark.sh"), "echo mark-$((6 * 7))\n").unwrap();
        let front = format!("name: look\ndescription: Looks.\nallowed-tools: {rule}");
        let skill = format!("---\n{front}\n---\nOne: !`echo mark-$((6 * 7))`\n");
        fs::write(folder.join("SKILL.md"), skill).unwrap();
        let seen = world.artel(["run", "look"]).run();
        assert!(
            seen.err.contains(&format!("`{rule}`")) && seen.err.contains("allowed-tools"),
            "{rule}: {}",
            seen.err
        );
        let decided = world.all_decided();
        assert_eq!(decided.len(), 3, "{rule}: {decided:#?}");
        for it in &decided {
            assert_eq!(it.answer, "deny", "{rule}: {it:?}");
            assert!(it.rule.contains("skill look"), "{rule}: {it:?}");
        }
        assert!(!world.ok(["journal", "export"]).out.contains("mark-42"));
    }
}
