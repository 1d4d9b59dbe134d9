//! `artel trace` of a piece of work: its story from the request to the merge, one step down to its
//! turns, and what is said where there is no such step or turn.

use super::town::{SCRIPT, Town};

/// A town whose first attempt at the first step is wrong, from the request to the merge.
fn told() -> (Town, String) {
    let right = "      - edit: { path: calc.py, old: \"a - b\", new: \"a + b\" }\n";
    let begins = "  - expect: { matches: \"(?s)step 1 of 2.*You may change\" }\n";
    let wrong = SCRIPT.replace(right, &right.replace("a + b", "a * b"));
    let once = wrong.replacen(begins, &format!("{begins}    times: 1\n"), 1);
    let again = format!(
        "{begins}    think: multiplying is not adding\n    call:\n      - edit: {{ path: calc.py, \
         old: \"a * b\", new: \"a + b\" }}\n      - finish: {{ answer: mended now }}\n"
    );
    let after = "  - expect: { tools: [propose_change], says: test_calc.py }\n";
    let script = once.replacen(after, &format!("{again}{after}"), 1);
    assert!(script.contains("times: 1") && script.contains("mended now"));
    let town = Town::saying(&script);
    town.to_the_end();
    let request = town.request().unwrap();
    let id: String = request["trace_id"]
        .as_str()
        .unwrap()
        .chars()
        .take(8)
        .collect();
    (town, id)
}

/// Takes out what differs from run to run: moments, commits, how long it took.
fn plain(text: &str, id: &str) -> String {
    let mut plain = String::new();
    for word in text
        .replace(id, "TRACE")
        .split_inclusive([' ', '\n', ',', ')', '('])
    {
        let bare = word.trim_end_matches([' ', '\n', ',', ')', '(']);
        let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        let is_hash = bare.len() == 8 && bare.bytes().all(|it| it.is_ascii_hexdigit());
        let is_time = bare.len() == 8 && bare.split(':').filter(|it| digits(it)).count() == 3;
        let is_day = bare.len() == 10 && bare.split('-').filter(|it| digits(it)).count() == 3;
        let is_number = bare
            .split_once('.')
            .is_some_and(|(a, b)| digits(a) && digits(b));
        let shown = match bare {
            _ if is_time => "TIME",
            _ if is_day => "DAY",
            _ if is_hash => "HASH",
            _ if is_number => "0.0",
            other => other,
        };
        plain.push_str(shown);
        plain.push_str(&word[bare.len()..]);
    }
    plain
}

#[test]
fn the_story_of_a_plan_goes_from_the_request_to_the_merge() {
    let (town, id) = told();
    let seen = town.artel(["trace", &id]).run().expect(0);
    let text = plain(&seen.out, &id);
    let report = text
        .lines()
        .find(|line| line.starts_with("report"))
        .unwrap();
    assert!(report.contains("Knowledge/Reports/"), "{report}");
    let text = text.replace(report, "report");
    insta::assert_snapshot!(text, @r"
    request    Mend add in calc.py  (you, DAY TIME)
    plan       v1 Mend add  (architect, TIME)
    plan     ✓ v1 approved  (you, TIME)
    step 1   ✓ Mend add  (2 loops, 5 turns, 0.0 s, recovered: checks, commit HASH)
               ✗ checks: test_calc.Calc.test_add fails: AssertionError: 6 != 5
               ✓ evaluator: calc.py adds; run_tests passes
    step 2   ✓ Say so in the notes  (1 loop, 2 turns, 0.0 s, commit HASH)
    proofs   ✓ re-run on a clean checkout: 2 of 2 tests, 1 of 1 commands  (artel, TIME)
    changes  ✓ fix/mend-add-TRACE  2 commits, 3 files, +5 −1  (artel, TIME)
    report
    merged   ✓ main is at HASH  (you, TIME)
    ");
    seen.says(&format!("artel trace {id} --step 1"));
    // The run that carries the plan out tells the same.
    let run = town.artel(["plan", "show", &id, "--json"]).run().expect(0);
    let run = run.json()["run"].as_str().unwrap().to_owned();
    let other = town.artel(["trace", &run]).run().expect(0);
    assert_eq!(other.out, town.artel(["trace", &id]).run().out);
}

#[test]
fn one_step_is_told_down_to_its_turns_and_what_is_not_there_is_named() {
    let (town, id) = told();
    let step = town
        .artel(["trace", &id, "--step", "1"])
        .run()
        .expect(0)
        .out;
    for wanted in [
        "step 1 · attempt 1 · Mend add\n",
        "step 1 · attempt 2 · Mend add\n",
        "work · engineer · ",
        "[turn 1/",
        "→ edit {",
        "thought: multiplying is not adding",
        "✗ green: ",
        "✓ verdict of the evaluator",
        "✓ the step, as commit ",
    ] {
        assert!(step.contains(wanted), "{wanted}\n{step}");
    }
    assert!(!step.contains("NOTES.md"), "another step\n{step}");
    let by_name = town.artel(["trace", &id, "--step", "mend"]).run().expect(0);
    assert_eq!(by_name.out, step);
    let turn = town
        .artel(["trace", &id, "--step", "1", "--turn", "1"])
        .run()
        .expect(0)
        .out;
    assert!(
        turn.contains("[turn 1/") && !turn.contains("[turn 2/"),
        "{turn}"
    );
    for (words, why) in [
        (vec!["--step", "9"], "there are 1 (mend), 2 (notes)"),
        (
            vec!["--step", "2", "--turn", "99"],
            "there are turns 1 to 2",
        ),
    ] {
        let seen = town.artel(["trace", &id]).words(words).run().expect(4);
        seen.says(why);
    }
    let seen = town.artel(["trace", &id, "--turn", "1"]).run().expect(2);
    seen.says("--step 1 --turn 1");
}

#[test]
fn programs_get_the_story_beside_the_events() {
    let (town, id) = told();
    let all = town.artel(["trace", &id, "--json"]).run().expect(0).json();
    assert!(all["events"].as_array().is_some_and(|it| !it.is_empty()));
    let steps = all["story"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0]["recovered"], serde_json::json!(["checks"]));
    assert_eq!(steps[0]["attempts"].as_array().unwrap().len(), 2);
    let one = ["trace", &id, "--step", "notes", "--json"];
    let one = town.artel(one).run().expect(0).json();
    assert_eq!(one["step"]["id"], "notes");
    let agents = one["step"]["attempts"][0]["agents"].as_array().unwrap();
    assert_eq!(agents[0]["role"], "engineer");
    let run = agents[0]["run"].as_str().unwrap();
    let turn = ["trace", run, "--turn", "1", "--json"];
    let turn = town.artel(turn).run().expect(0).json();
    assert!(turn["lines"].as_array().is_some_and(|it| !it.is_empty()));
    town.artel(["trace", run, "--turn", "99"])
        .run()
        .expect(4)
        .says("there are turns 1 to ");
}
