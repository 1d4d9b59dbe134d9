//! Skills that skills call, forks, and what is taken up again by itself.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use artel_testkit::standin::{Answer, Format, StandIn};
use artel_types::{Actor, EventDraft, RunId, RunStarted, StreamName, TraceId};
use serde_json::{Value, json};

use super::super::stage::{Asked, Calls, Stage, Who, end, mend, plan, until};
use super::super::town::payload;
use super::{
    Judged, all_denied, bash, calls_skill, give_script, is, judged, runs_script, skill, tries,
    write, write_skill,
};
use crate::support::{Seen, entry};

/// The outer skill has the inner one try what it may not do itself.
fn nested(asked: &Asked) -> Calls {
    match () {
        () if is(asked, "inner") => tries(asked, vec![bash("id"), write("planted.txt")]),
        () => match asked.turn {
            0 => vec![calls_skill("inner", "try it")],
            _ => vec![end("over")],
        },
    }
}

#[track_caller]
fn denied(judged: &[Judged]) {
    let tried: Vec<_> = judged.iter().filter(|it| it.tool != "skill").collect();
    assert_eq!(tried.len(), 2, "{judged:#?}");
    let is_denied = |it: &&&Judged| it.decision == "deny" && it.rule.starts_with("bound.");
    assert_eq!(tried.iter().filter(is_denied).count(), 2, "{judged:#?}");
}

#[test]
fn what_a_skill_or_a_fork_may_not_do_no_skill_that_it_calls_does() {
    for front in [
        "allowed-tools: Read\n",
        "context: fork\nagent: Explore\n",
        "context: fork\nagent: Plan\n",
        "context: fork\nagent: inspector\nallowed-tools: Read Grep\n",
    ] {
        let stage = Stage::new(|asked| match () {
            () if is(asked, "first") => match asked.turn {
                0 => vec![calls_skill("outer", "go on")],
                _ => vec![end("over")],
            },
            () => nested(asked),
        });
        skill(&stage, "first", "");
        skill(&stage, "outer", front);
        skill(&stage, "inner", "");
        let run = ["run", "first", "go", "--apply", "--json"];
        stage.town.artel(run).run().expect(0);
        denied(&judged(&stage));
        assert!(!stage.town.project.join("planted.txt").exists(), "{front}");
    }
}

#[test]
fn a_list_that_is_narrower_further_up_holds_below_a_wider_one() {
    let stage = Stage::new(|asked| match () {
        () if is(asked, "first") => tries(asked, vec![calls_skill("outer", "go on")]),
        () => nested(asked),
    });
    skill(&stage, "first", "allowed-tools: Read\n");
    skill(&stage, "outer", "allowed-tools: Read Write Bash\n");
    skill(&stage, "inner", "");
    let run = ["run", "first", "go", "--apply", "--json"];
    stage.town.artel(run).run().expect(0);
    let judged = judged(&stage);
    denied(&judged);
    let by_first = |it: &&Judged| it.rule == "bound.skill first";
    assert_eq!(judged.iter().filter(by_first).count(), 2, "{judged:#?}");
}

/// Writes a role of the person's own.
fn role(stage: &Stage, name: &str, front: &str) {
    let create = ["agent", "create", name, "--name", name];
    stage.town.house.ok(create);
    let file = stage.town.house.workshop.join(format!("Agents/{name}.md"));
    let text = fs::read_to_string(&file).unwrap();
    let (head, body) = text.split_once("\n---").unwrap();
    fs::write(&file, format!("{head}\n{front}---{body}")).unwrap();
}

#[test]
fn what_a_role_of_the_persons_own_may_not_do_no_skill_that_it_calls_does() {
    // Whether it plays the same role or another.
    for inner in ["", "context: fork\nagent: free\n"] {
        for limit in ["tools: [Read]\n", "disallowed-tools: [Bash, Write]\n"] {
            let stage = Stage::new(|asked| match () {
                () if is(asked, "first") => tries(asked, vec![calls_skill("outer", "go on")]),
                () => nested(asked),
            });
            role(&stage, "bounded", limit);
            role(&stage, "free", "");
            skill(&stage, "first", "");
            skill(&stage, "outer", "context: fork\nagent: bounded\n");
            skill(&stage, "inner", inner);
            let run = ["run", "first", "go", "--apply", "--json"];
            stage.town.artel(run).run().expect(0);
            let judged = judged(&stage);
            let tried = judged.iter().filter(|it| it.tool != "skill");
            let answers: Vec<_> = tried.map(|it| it.decision.as_str()).collect();
            assert_eq!(answers, ["deny", "deny"], "{inner}{limit}: {judged:#?}");
        }
    }
}

#[test]
fn scripts_that_a_skill_lists_are_its_own_and_not_those_of_a_skill_that_it_calls() {
    let stage = Stage::new(|asked| match () {
        () if is(asked, "inner") => tries(asked, vec![runs_script("report.sh")]),
        () => tries(
            asked,
            vec![runs_script("report.sh"), calls_skill("inner", "go")],
        ),
    });
    skill(
        &stage,
        "outer",
        "allowed-tools: Bash(scripts/report.sh:*)\n",
    );
    skill(&stage, "inner", "");
    for name in ["outer", "inner"] {
        give_script(&stage, name, "report.sh");
    }
    let run = ["run", "outer", "go", "--json"];
    stage.town.artel(run).run().expect(0);
    let judged = judged(&stage);
    let scripts = judged.iter().filter(|it| it.tool == "script");
    let said: Vec<_> = scripts
        .map(|it| (it.whose.as_str(), it.decision.as_str()))
        .collect();
    let own = ("outer of nobody", "allow");
    assert_eq!(said, [own, ("inner of nobody", "deny")], "{judged:#?}");
}

#[test]
fn a_fork_with_another_role_reads_no_portal_that_its_caller_may_not() {
    // One that both may name is asked about, which shows that the other is not even named.
    let reads = |name: &str| ("read", json!({ "path": format!("@{name}/notes.txt") }));
    let stage = Stage::new(move |asked| match () {
        () if is(asked, "inner") => tries(asked, vec![reads("open"), reads("closed")]),
        () => tries(asked, vec![calls_skill("inner", "go")]),
    });
    role(&stage, "reader", "");
    skill(&stage, "outer", "");
    skill(&stage, "inner", "context: fork\nagent: reader\n");
    for (name, agents) in [("open", "default,reader"), ("closed", "reader")] {
        let folder = stage.town.house.folder(name);
        fs::write(folder.join("notes.txt"), "NOTES\n").unwrap();
        let folder = folder.to_str().unwrap();
        let add = ["portal", "add", folder, "--agents", agents];
        stage.town.house.ok(add);
    }
    let run = ["run", "outer", "go", "--json"];
    stage.town.artel(run).run();
    let judged = judged(&stage);
    let reads = judged.iter().filter(|it| it.tool == "read");
    let rules: Vec<_> = reads.map(|it| it.rule.as_str()).collect();
    assert_eq!(
        rules,
        ["default.other-portal", "default.unfit"],
        "{judged:#?}"
    );
}

#[test]
fn a_skill_that_only_people_may_call_is_refused_to_models() {
    let stage = Stage::new(nested);
    skill(&stage, "outer", "");
    skill(&stage, "inner", "disable-model-invocation: true\n");
    stage
        .town
        .artel(["run", "outer", "go", "--json"])
        .run()
        .expect(0);
    let begun = stage.told("run.started");
    assert_eq!(begun.len(), 1, "{begun:#?}");
    let asked = stage.asked();
    let told = &asked.last().unwrap().last;
    assert!(told.contains("for people to call"), "{told}");
}

#[test]
fn the_model_that_a_person_named_is_the_one_of_all_that_is_called() {
    let other = StandIn::minded(Format::Chat, |_| Answer::status(500));
    let stage = Stage::new(nested);
    let named = entry("named", Format::Chat, &stage.model);
    let default = entry("default", Format::Chat, &other);
    stage.town.house.settings(&format!("{named}{default}"));
    skill(&stage, "outer", "");
    skill(&stage, "inner", "model: default\n");
    let run = ["run", "outer", "go", "--model", "named", "--json"];
    stage.town.artel(run).run().expect(0);
    assert_eq!(stage.told("run.started").len(), 2);
    assert!(other.seen().is_empty());
}

/// Returns the run that carries a skill out, and the one that called it.
fn run_of(stage: &Stage, skill: &str) -> Option<String> {
    let events = stage.town.events();
    let is_it = |it: &&Value| it["kind"] == "run.started" && payload(it)["skill"] == skill;
    let found = events.iter().find(is_it)?;
    Some(found["run"].as_str().unwrap().to_owned())
}

#[test]
fn a_called_run_that_is_taken_up_by_itself_after_a_kill_has_the_same_bounds() {
    // Held once, so that the kill comes while the called run waits for its first answer.
    let is_first = AtomicBool::new(true);
    let stage = Stage::holding(nested, move |asked| {
        is(asked, "inner") && is_first.swap(false, Ordering::SeqCst)
    });
    skill(&stage, "outer", "allowed-tools: Read\n");
    skill(&stage, "inner", "");
    let begun = stage.town.artel(["run", "outer", "go", "--json"]);
    let mut begun = begun.command().spawn().unwrap();
    stage.until_held(1);
    begun.kill().unwrap();
    begun.wait().unwrap();
    stage.model.release();
    let inner = run_of(&stage, "inner").unwrap();
    // What the skill says now is no way out: what it may do is on record.
    skill(&stage, "outer", "");
    resume(&stage, &inner);
    denied(&judged(&stage));
}

/// Takes a run up, as soon as the lease of the killed process is over.
fn resume(stage: &Stage, run: &str) {
    until("the lease of the killed one", || {
        stage.town.artel(["resume", run, "--json"]).run();
        judged(stage).iter().any(|it| it.tool != "skill")
    });
}

#[test]
fn a_run_that_is_taken_up_after_a_kill_has_its_bounds_and_so_have_those_that_it_called() {
    let is_first = AtomicBool::new(true);
    let tries_all = || vec![bash("id"), write("planted.txt")];
    let stage = Stage::holding(
        move |asked| match asked.turn {
            0 if is(asked, "outer") => vec![calls_skill("inner", "try it")],
            0 => tries_all(),
            1 if is(asked, "outer") => tries_all(),
            _ => vec![end("over")],
        },
        move |asked| is(asked, "inner") && is_first.swap(false, Ordering::SeqCst),
    );
    skill(&stage, "outer", "allowed-tools: Read\n");
    skill(&stage, "inner", "context: fork\nagent: Explore\n");
    let begun = stage.town.artel(["run", "outer", "go", "--json"]);
    let mut begun = begun.command().spawn().unwrap();
    stage.until_held(1);
    begun.kill().unwrap();
    begun.wait().unwrap();
    stage.model.release();
    skill(&stage, "outer", "");
    skill(&stage, "inner", "");
    resume(&stage, &run_of(&stage, "outer").unwrap());
    let judged = judged(&stage);
    all_denied(
        &judged,
        &[
            ("inner of nobody", "bash"),
            ("inner of nobody", "write"),
            ("outer of nobody", "bash"),
            ("outer of nobody", "write"),
        ],
    );
}

#[test]
fn a_skill_of_a_project_that_changed_is_trusted_again_before_its_run_is_taken_up() {
    let is_first = AtomicBool::new(true);
    let stage = Stage::holding(
        |asked| tries(asked, vec![runs_script("x.sh")]),
        move |_| is_first.swap(false, Ordering::SeqCst),
    );
    let skills = stage.town.project.join(".claude/skills");
    write_skill(&skills, "outer", "", "Help.");
    let script = skills.join("outer/scripts/x.sh");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, "echo seen\n").unwrap();
    let begun = stage.town.artel(["run", "outer", "go", "--yes", "--json"]);
    let mut begun = begun.command().spawn().unwrap();
    stage.until_held(1);
    begun.kill().unwrap();
    begun.wait().unwrap();
    stage.model.release();
    fs::write(&script, "echo unseen\n").unwrap();
    let run = run_of(&stage, "outer").unwrap();
    until("an answer", || {
        let seen = stage.town.artel(["resume", &run, "--json"]).run();
        seen.text().contains("is not trusted") || !judged(&stage).is_empty()
    });
    assert_eq!(judged(&stage), []);
    let trust = ["skill", "trust", "outer", "--yes"];
    stage.town.artel(trust).run().expect(0);
    let resumed = ["resume", &run, "--json"];
    stage.town.artel(resumed).run().expect(0);
    assert_eq!(judged(&stage).len(), 1);
}

#[test]
fn a_run_in_a_portal_plays_again_within_what_is_open_there() {
    let stage = Stage::new(|asked| tries(asked, vec![bash("id"), write("planted.txt")]));
    skill(&stage, "outer", "");
    let project = stage.town.project.to_str().unwrap();
    let add = ["portal", "add", project, "--operations", "read"];
    stage.town.house.ok(add);
    stage.town.artel(["run", "outer", "go", "--json"]).run();
    denied(&judged(&stage));
    let run = run_of(&stage, "outer").unwrap();
    let replay = stage.town.artel(["replay", &run, "--json"]).run();
    let replay = replay.expect(0).json();
    assert_eq!(replay["differences"], json!([]), "{replay}");
    assert_eq!(replay["decided"], 3, "{replay}");
}

#[test]
fn a_run_whose_parents_cannot_be_read_is_refused() {
    let stage = Stage::new(nested);
    skill(&stage, "outer", "");
    skill(&stage, "inner", "");
    stage
        .town
        .artel(["run", "outer", "go", "--json"])
        .run()
        .expect(0);
    let events = stage.town.events();
    let inner = run_of(&stage, "inner").unwrap();
    let prepared = |it: &&Value| it["kind"] == "run.prepared" && it["run"] == inner.as_str();
    let prepared = payload(events.iter().find(prepared).unwrap()).to_string();
    let prepared = artel_types::Fact::decode("run.prepared", 2, &prepared).unwrap();
    // A run of before, below one that is not there; and two that name each other.
    let id = |seed: u8| RunId::from_random([seed; 16]);
    let trace = TraceId::from_random([7; 16]);
    for (run, parent) in [(1, 9), (2, 3), (3, 2)] {
        let started = RunStarted {
            parent: Some(id(parent)),
            call: Some("c/1".to_owned()),
            folder: Some(stage.town.project.display().to_string()),
            ..RunStarted::new(id(run), "lost")
        };
        let draft = |fact| {
            let actor = Actor::system("test");
            EventDraft::new(StreamName::run(id(run)), trace, actor, fact).in_run(id(run))
        };
        let facts = [started.into(), prepared.clone()];
        stage.town.house.append(facts.map(draft));
    }
    for run in [1, 2] {
        let name = id(run).to_string();
        let seen = stage.town.artel(["resume", &name]).run();
        seen.fails_last(3, "R008").says("the limits of run");
    }
}

#[test]
fn a_fork_of_work_keeps_the_bounds_of_its_step() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({
            "verify": "none",
            "scope": { "paths": ["calc.py", "test_calc.py"], "commands": ["true"] },
        }))])),
        _ if asked.text.contains("outside of the plan") => {
            // Its own past comes first.
            if asked.last.contains("outside of the plan") {
                vec![calls_skill("inner", "go"), bash("id"), write("planted.txt")]
            } else if is(asked, "inner") {
                tries(asked, vec![bash("id"), write("planted.txt")])
            } else {
                vec![end("alone")]
            }
        }
        _ if is(asked, "inner") => tries(asked, vec![bash("id"), write("planted.txt")]),
        // It breaks a test each time, so that the step is left with a question.
        _ if asked.turn == 0 => vec![("read", json!({ "path": "calc.py" }))],
        _ => {
            let edit = json!({ "path": "calc.py", "old": "2 * a", "new": "2 + a" });
            vec![("edit", edit), end("mended")]
        }
    });
    skill(&stage, "inner", "");
    let id = stage.town.asked();
    stage.town.artel(["plan", "approve", &id, "--json"]).run();
    let events = stage.town.events();
    let is_work = |it: &&Value| it["kind"] == "run.started" && payload(it)["call"] == "mend/1/work";
    let work = events.iter().find(is_work).unwrap()["run"]
        .as_str()
        .unwrap();
    let is_end = |it: &&Value| it["kind"] == "tool.finished" && it["run"] == work;
    let at = events.iter().find(is_end).unwrap()["seq"].to_string();
    stage.town.artel(["fork", &id, "--at", &at, "--json"]).run();
    let events = stage.town.events();
    let forked = events
        .iter()
        .find(|it| it["kind"] == "run.forked")
        .expect("a fork");
    let fork = forked["run"].as_str().unwrap();
    let requested = events.iter().filter(|it| it["kind"] == "tool.requested");
    let own = requested.filter(|it| it["run"] == fork).map(payload);
    let own: Vec<_> = own.filter(|it| it["tool"] != "finish").collect();
    let of = |tool: &str| {
        own.iter()
            .find(|it| it["tool"] == tool)
            .unwrap_or_else(|| panic!("{own:#?}"))
    };
    for tool in ["bash", "write"] {
        assert_eq!(of(tool)["decision"], "deny", "{own:#?}");
        assert!(
            of(tool)["rule"].as_str().unwrap().starts_with("bound.step"),
            "{own:#?}"
        );
    }
    let tried = judged(&stage);
    assert!(tried.iter().any(|it| it.tool == "bash"), "{tried:#?}");
    assert!(tried.iter().all(|it| it.decision == "deny"), "{tried:#?}");
}

/// Contained commands change what they like in the copy of the files; what is put in place is bound.
#[test]
fn a_fork_of_work_puts_nothing_outside_of_its_step_in_place() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({
            "verify": "none",
            "scope": { "paths": ["calc.py", "test_calc.py"] },
        }))])),
        _ if asked.text.contains("outside of the plan") => {
            let begins = asked.last.contains("outside of the plan");
            let plants = asked.text.contains("plant it");
            match () {
                () if begins && plants => {
                    let command = "mkdir -p extra; echo x > extra/new.txt; echo '# x' >> calc.py";
                    vec![bash(command)]
                }
                () if begins => vec![bash("echo '# x' >> calc.py")],
                () => vec![end("alone")],
            }
        }
        // It breaks a test each time, so that the step is left with a question.
        _ if asked.turn == 0 => vec![("read", json!({ "path": "calc.py" }))],
        _ => {
            let edit = json!({ "path": "calc.py", "old": "2 * a", "new": "2 + a" });
            vec![("edit", edit), end("mended")]
        }
    });
    let id = stage.town.asked();
    stage.town.artel(["plan", "approve", &id, "--json"]).run();
    let events = stage.town.events();
    let is_work = |it: &&Value| it["kind"] == "run.started" && payload(it)["call"] == "mend/1/work";
    let work = events.iter().find(is_work).unwrap()["run"]
        .as_str()
        .unwrap();
    let is_end = |it: &&Value| it["kind"] == "tool.finished" && it["run"] == work;
    let at = events.iter().find(is_end).unwrap()["seq"].to_string();
    let calc = || fs::read_to_string(stage.town.project.join("calc.py")).unwrap();
    let before = calc();
    let fork = ["fork", &id, "--at", &at, "--apply", "--hint", "plant it"];
    let refused = |seen: Seen| {
        seen.fails_last(3, "P001")
            .says("the step mend does not let the run change extra/new.txt")
            .says("artel plan edit");
        assert_eq!(calc(), before);
        assert!(!stage.town.project.join("extra").exists());
    };
    refused(stage.town.artel(fork).run());
    let events = stage.town.events();
    let forked = events.iter().find(|it| it["kind"] == "run.forked").unwrap();
    let forked = forked["run"].as_str().unwrap();
    refused(stage.town.artel(["apply", forked, "--yes"]).run());
    let fork = ["fork", &id, "--at", &at, "--apply"];
    stage.town.artel(fork).run().expect(0);
    assert!(calc().ends_with("# x\n"), "{}", calc());
}

#[test]
fn a_run_in_a_workshop_plays_again_with_what_is_the_workshops_own() {
    let own = || vec![write("Knowledge/Context/rules.md"), write("mine.txt")];
    let stage = Stage::new(move |asked| tries(asked, own()));
    skill(&stage, "outer", "");
    let shop = stage.town.house.workshop.clone();
    let run = stage.town.artel(["run", "outer", "go", "--json"]);
    run.standing_in(&shop).run().expect(0);
    let judged = judged(&stage);
    let rules: Vec<_> = judged.iter().map(|it| it.rule.as_str()).collect();
    assert_eq!(rules, ["never.workshop", "shipped.write"], "{judged:#?}");
    let run = run_of(&stage, "outer").unwrap();
    let replay = stage.town.artel(["replay", &run, "--json"]).run();
    let replay = replay.expect(0).json();
    assert_eq!(replay["differences"], json!([]), "{replay}");
}
