//! `artel plan`: looking at plans and deciding about them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::town::{SCRIPT, Town, payload};

/// Asks for a plan and returns its short name.
fn planned(town: &Town) -> String {
    town.asked().chars().take(8).collect()
}

/// Sets an editor that does something with the file.
fn editor(town: &Town, script: &str) -> String {
    let path = town.house.root().join("editor.sh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_plan_is_shown_with_what_an_approval_allows_and_costs() {
    let town = Town::new();
    let id = planned(&town);
    let seen = town.artel(["plan", "show", &id]).run().expect(0);
    for words in [
        "Mend add (",
        "version 1, review",
        "calc.py, test_calc.py",
        "step 1 may change calc.py, test_calc.py",
        "request: It must add. (explicit)",
        "2 steps, expected to take",
        "\nStep 1: Mend add\n  work      Make add in calc.py add, and show it with a test.\n",
        "\n  check     The tests pass.\n",
        "\n  gives     RESULT\n",
        "\n  shown by  file NOTES.md\n",
        &format!("`artel plan approve {id} --hash "),
    ] {
        let all = format!("{}{}", seen.out, seen.err);
        assert!(all.contains(words), "no `{words}` in:\n{all}");
    }
    let json = town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(json["plan"]["steps"][1]["after"][0], "mend");
    assert_eq!(json["estimates"].as_array().unwrap().len(), 2);
    let text = town
        .artel(["plan", "show", &id, "--markdown"])
        .run()
        .expect(0)
        .out;
    let name = format!("Inbox/Plans/request-{id}_plan.md");
    assert_eq!(
        text.trim_end(),
        fs::read_to_string(town.house.workshop.join(name))
            .unwrap()
            .trim_end()
    );
    let edited = text
        .replace("- paths: `NOTES.md`", "- paths: `NOTES.md`\n- turns: 7")
        .replace(
            "\n## Steps\n",
            "\n## Files to Modify\n\n- `NOTES.md` (create): what was mended\n\n## Steps\n",
        );
    let file = town.house.root().join("edited.md");
    fs::write(&file, edited).unwrap();
    let file = file.to_str().unwrap();
    town.artel(["plan", "edit", &id, "--file", file])
        .run()
        .expect(0);
    town.artel(["plan", "show", &id])
        .run()
        .expect(0)
        .says("step 2 may change NOTES.md; run any command that policy allows; reach no host; take 7 turns")
        .says("Files to change\n  NOTES.md (create): what was mended\n");
    town.artel(["plan", "list", "--status", "review"])
        .run()
        .expect(0)
        .says(&id);
    town.artel(["plan", "list", "--status", "great"])
        .run()
        .fails(2, "C004")
        .says("exploring, drafting");
    town.artel(["plan", "show", &id, "--version", "7"])
        .run()
        .fails(4, "W010");
    town.artel(["plan", "show", "ffffffff"])
        .run()
        .fails(4, "R004");
}

#[test]
fn comments_are_all_kept_and_come_back_as_the_next_version() {
    let town = Town::new();
    let id = planned(&town);
    let kept = town.house.state(&format!("plans/request-{id}_plan.v1.md"));
    let first = fs::read(&kept).unwrap();
    let revise = |one: &str, two: &str| {
        town.artel(["plan", "revise", &id, "--comment", one, "--comment", two])
            .run()
            .expect(0)
    };
    revise("no new dependency", "fewer steps").says("version 2");
    revise("more tests", "say why").says("what differs from version 2");
    let json = town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(json["version"], 3);
    assert_eq!(json["comments"].as_array().unwrap().len(), 4);
    assert_eq!(json["comments"][3]["text"], "say why");
    assert_eq!(json["comments"][3]["version"], 2);
    assert_eq!(
        fs::read(&kept).unwrap(),
        first,
        "an old version stays as it was"
    );
    let file = format!("Inbox/Plans/request-{id}_plan.md");
    let file = fs::read_to_string(town.house.workshop.join(file)).unwrap();
    assert!(
        file.contains("no new dependency") && file.contains("say why"),
        "{file}"
    );
    town.artel(["plan", "diff", &id])
        .run()
        .expect(0)
        .says("nothing differs");
    town.artel(["plan", "revise", &id]).run().fails(2, "C005");
    town.artel(["plan", "revise", &id, "--comment", " "])
        .run()
        .fails(2, "C005");
}

#[test]
fn nothing_is_decided_without_a_reason_or_from_a_wrong_state() {
    let town = Town::new();
    let id = planned(&town);
    let before = town.events().len();
    town.artel(["plan", "reject", &id])
        .run()
        .fails(2, "C005")
        .says("--reason");
    town.artel(["plan", "reject", &id, "--reason", "  "])
        .run()
        .fails(2, "C005");
    let other = "0123456789abcdef";
    town.artel(["plan", "approve", &id, "--hash", other])
        .run()
        .fails(3, "R008")
        .says("version 1");
    for words in [["skip", "1"], ["retry", "1"]] {
        town.artel(["plan", words[0], &id, words[1]])
            .run()
            .fails(3, "R008");
    }
    town.artel(["plan", "waive", &id, "1", "tester", "--reason", "x"])
        .run()
        .fails(3, "R008");
    assert_eq!(
        town.events().len(),
        before,
        "what is refused leaves nothing"
    );
    town.artel(["plan", "reject", &id, "--reason", "not now"])
        .run()
        .expect(0);
    for act in ["approve", "edit", "cancel"] {
        town.artel(["plan", act, &id])
            .env("EDITOR", "/bin/true")
            .run()
            .fails(3, "R008");
    }
    town.artel(["plan", "approve", &id])
        .run()
        .says("already decided")
        .says("rejected it");
    let rejected = town
        .house
        .workshop
        .join(format!("Inbox/Rejected/request-{id}_plan.md"));
    assert!(
        fs::read_to_string(rejected)
            .unwrap()
            .contains("status: rejected")
    );
    assert_eq!(town.request().unwrap()["status"], "rejected");
}

#[test]
fn a_plan_is_called_off() {
    let town = Town::new();
    let id = planned(&town);
    town.artel(["plan", "cancel", &id, "--reason", "later"])
        .run()
        .expect(0);
    let json = town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(json["state"], "cancelled");
    assert_eq!(json["why"], "later");
    town.artel(["plan", "cancel", &id]).run().fails(3, "R008");
}

#[test]
fn a_persons_own_text_is_the_next_version_or_is_refused_by_line() {
    let town = Town::new();
    let id = planned(&town);
    let edit = |script: &str| {
        town.artel(["plan", "edit", &id])
            .env("EDITOR", editor(&town, script))
    };
    edit(":").run().expect(0).says("nothing changed");
    let seen = edit("sed -i 's/with one line/with two lines/' \"$1\"")
        .run()
        .expect(0);
    seen.says("+ Write NOTES.md with two lines.")
        .says("version 2 is yours");
    let json = town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(
        (&json["state"], &json["by"]),
        (&"review".into(), &crate::support::ADA.into())
    );
    let seen = edit("sed -i 's/^- verify: none/- verify: maybe/' \"$1\"").run();
    let seen = seen
        .fails(2, "C004")
        .says("none`, `evaluator` or `tdd")
        .says("your text is kept");
    let file = town
        .house
        .workshop
        .join(format!("Inbox/Plans/request-{id}_plan.md"));
    let text = fs::read_to_string(&file).unwrap();
    let line = text
        .lines()
        .position(|line| line == "- verify: none")
        .unwrap()
        + 1;
    seen.says(&format!("line {line}"));
    let swap = "s/^- verify: maybe/- verify: none/; s/^- role: engineer/- role: nobody/";
    edit(&format!("sed -i '{swap}' \"$1\""))
        .run()
        .expect(2)
        .says("opened again")
        .says("nobody");
    edit("false").run().expect(2).says("--file");
    let bare = town.artel(["plan", "edit", &id]).run().expect(2);
    let command = bare
        .err
        .split('`')
        .find(|it| it.contains("--file"))
        .unwrap();
    let kept = command.rsplit(' ').next().unwrap().to_owned();
    assert!(fs::read_to_string(&kept).unwrap().contains("role: nobody"));
    assert_eq!(town.count("plan.drafted"), 2);
    edit("sed -i 's/^- role: nobody/- role: designer/' \"$1\"")
        .run()
        .expect(0)
        .says("version 3 is yours");
    assert!(!std::path::Path::new(&kept).exists());
    let mine = town.house.root().join("mine.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&mine, text.replace("with two lines", "with three lines")).unwrap();
    let mine = mine.display().to_string();
    let by_file = ["plan", "edit", &id, "--file", &mine];
    town.artel(by_file)
        .run()
        .expect(0)
        .says("version 4 is yours");
    town.artel(by_file).run().expect(0).says("nothing changed");
    fs::write(&mine, text.replace("with two lines", "with nine lines")).unwrap();
    let outdated = town.artel(by_file).run().expect(3);
    outdated.says("the text is version 3, and the plan is at version 4");
    assert_eq!(town.count("plan.drafted"), 4);
    town.artel(["plan", "diff", &id, "1", "2"])
        .run()
        .expect(0)
        .says("two lines");
}

#[test]
fn a_persons_text_stays_where_its_version_cannot_be_told() {
    let town = Town::new();
    let id = planned(&town);
    let edit = |script: &str| {
        town.artel(["plan", "edit", &id])
            .env("EDITOR", editor(&town, script))
    };
    let kept = town
        .house
        .workshop
        .join(format!(".artel/plans/request-{id}_edit.md"));
    let spoils = [
        "sed -i '/^version:/d; s/with one line/in my words/' \"$1\"",
        "sed -i 's/^version:.*/version: x/; s/with one line/in my words/' \"$1\"",
        "echo 'in my words' > \"$1\"",
        // More than is read.
        "{ echo 'in my words'; head -c 17000000 /dev/zero; } > \"$1\"",
    ];
    for spoil in spoils {
        edit(spoil).run().expect(2);
        let text = fs::read(&kept).unwrap();
        edit(":").run().expect(2).says("opened again");
        assert_eq!(fs::read(&kept).unwrap(), text, "{spoil}");
        assert!(String::from_utf8_lossy(&text).contains("in my words"));
        fs::remove_file(&kept).unwrap();
    }
    // What was made of other versions is moved away, and never over what was moved before.
    let plans = kept.parent().unwrap();
    for (words, aside) in [("first", "_of_v7.md"), ("second", "_of_v7_2.md")] {
        fs::write(&kept, format!("---\nversion: 7\n---\n{words}\n")).unwrap();
        edit(":").run().expect(0).says("nothing changed");
        let aside = plans.join(format!("request-{id}_edit{aside}"));
        assert!(fs::read_to_string(aside).unwrap().contains(words));
    }
}

/// The steps of a plan that is being done stay; what is left follows the person's text.
#[test]
fn a_plan_that_was_approved_is_changed_by_its_persons_text() {
    let town = Town::new();
    let id = planned(&town);
    let approval = town
        .house
        .workshop
        .join(format!("Inbox/Active/request-{id}_plan.md"));
    fs::rename(
        town.house
            .workshop
            .join(format!("Inbox/Plans/request-{id}_plan.md")),
        &approval,
    )
    .unwrap();
    town.artel(["inbox", "scan"])
        .run()
        .expect(0)
        .says("approved");
    let script = editor(
        &town,
        "sed -i 's/Say so in the notes/Say it in the notes/' \"$1\"",
    );
    let seen = town
        .artel(["plan", "edit", &id])
        .env("EDITOR", script)
        .run()
        .expect(0);
    seen.says("goes on by version 2");
    let resumed = town.artel(["resume", &id, "--json"]).run().expect(0);
    let json = resumed.result();
    assert_eq!(json["plan_state"], "done");
    let run = json["run"].as_str().unwrap();
    let adopted =
        |event: &&serde_json::Value| event["kind"] == "plan.adopted" && event["run"] == run;
    assert_eq!(town.events().iter().filter(adopted).count(), 1);
    let approved: Vec<_> = town
        .events()
        .into_iter()
        .filter(|it| it["kind"] == "plan.approved")
        .collect();
    assert_eq!(payload(&approved[1])["version"], 2);
    let log = super::bench::git(&town.project, &["log", "--format=%B", "--all"]);
    assert!(log.contains("Say it in the notes"), "{log}");
}

#[test]
fn of_two_people_one_decides() {
    let town = Town::new();
    let id = planned(&town);
    let reject = |reason: &str| {
        town.artel(["plan", "reject", &id, "--reason", reason])
            .command()
    };
    let children: Vec<_> = (0..4)
        .map(|n| reject(&format!("r{n}")).spawn().unwrap())
        .collect();
    let outputs: Vec<_> = children
        .into_iter()
        .map(|it| it.wait_with_output().unwrap())
        .collect();
    let won = outputs.iter().filter(|it| it.status.success()).count();
    assert_eq!(won, 1, "{outputs:?}");
    for lost in outputs.iter().filter(|it| !it.status.success()) {
        let said = String::from_utf8_lossy(&lost.stderr);
        assert!(
            lost.status.code() == Some(3) && said.contains("already decided"),
            "{said}"
        );
    }
    assert_eq!(town.count("plan.rejected"), 1);
}

#[test]
fn an_approved_plan_is_carried_out_in_the_background() {
    let town = Town::new();
    let id = planned(&town);
    town.artel(["plan", "approve", &id, "--detach"])
        .run()
        .expect(0)
        .says("goes on in process");
    // Each look is a process of its own, which takes its time.
    for _ in 0..3000 {
        let state = town.request().unwrap()["plan_state"].clone();
        if state == "done" {
            return;
        }
    }
    panic!("it was not done: {:?}", town.request());
}

/// The architect hands nothing in before it knows what is meant.
#[test]
fn what_could_not_be_planned_waits_until_somebody_says_more() {
    let unclear = "rules:
  - expect: { says: Keep it to calc.py }
    call: { read: { path: calc.py } }
  - expect: { says: Plan this request }
    call: { finish: { answer: nothing is clear } }
";
    let town = Town::saying(&SCRIPT.replacen("rules:\n", unclear, 1));
    let waiting = || town.artel(["waiting", "--json"]).run().expect(0).json();
    let asked = |town: &Town| {
        drop(town.ask().run());
        let waits = waiting();
        let failed = &waits[waits.as_array().unwrap().len() - 1];
        assert_eq!(failed["kind"], "failed", "{waits}");
        let text = failed["text"].as_str().unwrap();
        assert!(text.contains("nothing is clear"), "{waits}");
        failed["id"].as_str().unwrap().to_owned()
    };
    let first = asked(&town);
    let again = [
        "plan",
        "revise",
        &first,
        "--comment",
        "Keep it to calc.py",
        "--json",
    ];
    town.artel(again).run().expect(0);
    let waits = waiting();
    assert_eq!(waits[0]["kind"], "plan", "{waits}");
    assert_eq!(waits[0]["id"], first.as_str());
    let second = asked(&town);
    assert_ne!(first, second);
    let off = ["plan", "cancel", &second, "--json"];
    town.artel(off).run().expect(0);
    assert_eq!(
        waiting().as_array().unwrap().len(),
        1,
        "only the plan is left"
    );
}

#[test]
fn an_approval_says_before_it_is_recorded_what_each_step_takes_and_by_which_model() {
    let town = Town::new();
    let id = planned(&town);
    let script = town.house.root().join("other.yaml");
    fs::copy(town.house.root().join("script.yaml"), &script).unwrap();
    let model = format!("rehearsal:{}", script.display());
    let words = ["plan", "approve", &id, "--model", &model, "--detach"];
    let seen = town.artel(words).run().expect(0);
    let at = |words: &str| {
        let found = seen.err.find(words);
        found.unwrap_or_else(|| panic!("no `{words}` in:\n{}", seen.err))
    };
    let order = [
        at(&format!("step 1 Mend add: 40k tokens, free ({model})")),
        at("step 2 Say so in the notes: 20k tokens, free"),
        at("2 steps, expected to take 60k tokens"),
        at(&format!("approved {id} version 1")),
    ];
    assert!(order.is_sorted(), "{}", seen.err);

    let town = Town::new();
    let id = planned(&town);
    let words = ["plan", "approve", &id, "--model", &model, "--json"];
    let seen = town.artel(words).run().expect(0);
    let first: serde_json::Value = serde_json::from_str(seen.out.lines().next().unwrap()).unwrap();
    let steps = &first["expected"]["steps"];
    assert_eq!(steps[0]["model"], model.as_str(), "{first}");
    assert_eq!(steps[1]["tokens"], 20_000, "{first}");
    assert_eq!(seen.result()["state"], "done");
}
