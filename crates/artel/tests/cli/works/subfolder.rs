//! Plans in a folder below the root of its repository: files are called what they are called in that
//! folder, and what is kept there is kept.

use std::fs;

use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, end, note, pass, plan, write_note};

fn file(path: String, content: String) -> (&'static str, Value) {
    ("write", json!({ "path": path, "content": content }))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit", json!({ "path": path, "old": old, "new": new }))
}

/// A file that holds a value, and a test of it; no two of these files may be the same.
fn make(name: &str) -> Calls {
    let test = format!(
        "import os\nimport unittest\n\nimport {name}\n\n\nclass It(unittest.TestCase):\n    \
         def test_{name}(self):\n        self.assertEqual({name}.VALUE, 1)\n        \
         both = ['left.py', 'right.py']\n        \
         texts = [open(it).read() for it in both if os.path.exists(it)]\n        \
         self.assertEqual(len(texts), len(set(texts)))\n"
    );
    vec![
        file(format!("{name}.py"), "VALUE = 1\n".to_owned()),
        file(format!("test_{name}.py"), test),
        end("added"),
    ]
}

/// Two steps that hold alone and not together. Whoever mends tries the tests first, by tool and by
/// command.
fn mind(asked: &Asked) -> Calls {
    let step = |name: &str| {
        json!({
            "id": name, "title": format!("Add {name}"), "role": "engineer",
            "work": format!("Add {name}.py."), "check": "It is tested.", "verify": "none",
            "scope": { "paths": [format!("{name}.py"), format!("test_{name}.py")] },
        })
    };
    match (asked.who, asked.step, asked.turn) {
        (Who::Architect, ..) => plan(json!([step("left"), step("right")])),
        (Who::Worker, 1, _) => make("left"),
        (Who::Worker, ..) => make("right"),
        (Who::Mender, _, 0) => vec![
            ("read", json!({ "path": "test_left.py" })),
            edit("test_left.py", "len(set(texts))", "len(texts)"),
            ("bash", json!({ "command": "chmod 755 test_right.py" })),
        ],
        (Who::Mender, ..) => vec![
            edit("right.py", "VALUE = 1", "VALUE = 1  # right"),
            end("they can be together"),
        ],
        _ => pass(asked, json!({})),
    }
}

/// A project that is a folder of a repository.
fn stage(mut stage: Stage) -> Stage {
    let part = stage.town.project.join("part");
    fs::create_dir(&part).unwrap();
    for name in ["calc.py", "test_calc.py", "pyproject.toml", ".gitignore"] {
        fs::rename(stage.town.project.join(name), part.join(name)).unwrap();
    }
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "A part"]);
    stage.town.project = part;
    stage.town.artel(["portal", "add", "."]).run().expect(0);
    stage
}

#[test]
fn whoever_mends_a_part_of_a_repository_is_kept_off_the_tests_of_its_steps() {
    let stage = stage(Stage::holding(mind, |asked| asked.who == Who::Worker));
    let id = stage.town.asked();
    let child = stage.begin(&id, &["--at-once", "2"]);
    stage.until_held(2);
    let output = stage.let_go(child);
    assert_eq!(output.status.code(), Some(0), "nobody is asked: {output:?}");
    let requested = stage.told("tool.requested");
    let edits = requested.iter().filter(|it| it["tool"] == "edit");
    let edits: Vec<_> = edits.map(|it| (&it["decision"], &it["rule"])).collect();
    assert_eq!(edits[0].0, "deny", "{edits:?}");
    assert_eq!(edits[0].1, "bound.step mend.1", "{edits:?}");
    assert_eq!(edits[1].0, "allow", "{edits:?}");
    let checked = stage.told("branch.checked");
    let checked: Vec<_> = checked.iter().map(|it| it["passed"].clone()).collect();
    assert_eq!(checked, [json!(false), json!(true)]);
    let branch = stage.branch(&id);
    for name in ["left", "right"] {
        let path = format!("{branch}:part/test_{name}.py");
        let test = stage.git(&["show", &path]);
        assert!(test.contains("len(set(texts))"), "{test}");
        let entry = stage.git(&["ls-tree", &branch, &format!("test_{name}.py")]);
        assert!(entry.starts_with("100644 "), "{entry}");
    }
}

#[test]
fn files_that_show_the_work_are_looked_for_in_the_part_that_is_worked_in() {
    let mut plain = note("plain", &["named"]);
    plain["evidence"] = json!([]);
    let stage = stage(Stage::new(move |asked| match asked.who {
        Who::Architect => plan(json!([note("named", &[]), plain.clone()])),
        Who::Worker => write_note(asked),
        _ => pass(asked, json!({})),
    }));
    let id = stage.done();
    assert_eq!(stage.town.count("step.passed"), 2);
    assert_eq!(stage.town.count("step.failed"), 0);
    let changed = stage.git(&["diff", "--name-only", "main", &stage.branch(&id)]);
    assert_eq!(changed, "part/named.md\npart/plain.md");
    let approve = ["changeset", "approve", &id, "--json"];
    stage.town.artel(approve).run().expect(0);
    for name in ["named.md", "plain.md"] {
        assert!(stage.town.project.join(name).exists(), "{name}");
    }
}

#[test]
fn a_yes_to_a_file_counts_in_the_part_that_is_worked_in() {
    let stage = stage(Stage::new(|asked| match asked.who {
        Who::Architect => plan(json!([note("plain", &[])])),
        Who::Worker => {
            let odd = ("bash", json!({ "command": "echo odd > 'odd [1].md'" }));
            [vec![odd], write_note(asked)].concat()
        }
        _ => pass(asked, json!({})),
    }));
    let id = stage.town.asked();
    stage.approve(&id, 3);
    stage.town.artel(["answer", &id, "accept"]).run().expect(0);
    let resume = ["resume", &id, "--json"];
    stage.town.artel(resume).run().expect(0);
    assert_eq!(stage.town.count("plan.proposed"), 1);
    let shown = stage.town.artel(["plan", "show", &id, "--json"]);
    let paths = &shown.run().expect(0).json()["plan"]["steps"][0]["scope"]["paths"];
    assert_eq!(paths, &json!(["plain.md", r"odd \[1\].md"]));
    let changed = stage.git(&["diff", "--name-only", "main", &stage.branch(&id)]);
    assert_eq!(changed, "part/odd [1].md\npart/plain.md");
}
