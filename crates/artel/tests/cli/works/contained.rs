//! Commands of a plan's agents that the walls judge.

use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};

/// Everyday commands; more than half of them would be asked about by rule.
const EVERYDAY: [&str; 16] = [
    "sed -i s/double/double/ calc.py",
    "cat <<EOF > /tmp/g.txt\n$((1 + 1))\nEOF",
    "python3 - <<'EOF'\nprint(1)\nEOF",
    "python3 -m unittest -q; echo $?",
    "ls *.py",
    "FOO=1 python3 -m unittest -q; true",
    "echo hi > /tmp/x",
    "cd . && python3 -c 'import calc'",
    "x=$(git rev-parse HEAD); echo $x",
    "perl -e 'print 1'",
    "echo one > /tmp/file.txt",
    "cat <<'EOF' > /tmp/quoted.txt\n$HOME\nEOF",
    "ls ./*.py",
    "echo two 2>&1 | tail -1",
    "git log --oneline -1",
    "find . -name '*.py' -exec wc -l {} +",
];

fn everyday(asked: &Asked) -> Calls {
    let bash = |command: &&'static str| ("bash", json!({ "command": command }));
    match (asked.who, asked.turn) {
        (Who::Architect, _) => plan(json!([mend(json!({
            "scope": { "paths": ["calc.py", "test_calc.py"] }, "verify": "none",
        }))])),
        (Who::Worker, 0) => EVERYDAY.iter().map(bash).collect(),
        (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
        _ => pass(asked, json!({})),
    }
}

#[test]
fn everyday_commands_run_in_a_plan_without_a_question() {
    let stage = Stage::new(everyday);
    stage.done();
    let requested = stage.told("tool.requested");
    let commands: Vec<&Value> = requested.iter().filter(|it| it["tool"] == "bash").collect();
    assert_eq!(commands.len(), EVERYDAY.len());
    for it in &commands {
        assert_eq!(it["decision"], "allow", "{it}");
    }
    let contained = commands.iter().filter(|it| it["decided_by"] == "contained");
    assert!(contained.count() >= 9, "{commands:#?}");
    assert!(stage.told("tool.asked").is_empty());
}

/// A step whose plan lists commands is bound by them, walls or not; one that reaches a host is judged
/// by the rules.
#[test]
fn lists_and_hosts_of_a_step_come_first() {
    let script = |scope: Value| {
        move |asked: &Asked| match (asked.who, asked.turn) {
            (Who::Architect, _) => plan(json!([mend(json!({
                "scope": scope.clone(), "verify": "none",
            }))])),
            (Who::Worker, 0) => vec![
                ("bash", json!({ "command": "python3 -c 'print(1)'" })),
                ("bash", json!({ "command": "ls $HOME" })),
            ],
            (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
            _ => pass(asked, json!({})),
        }
    };
    let paths = json!(["calc.py", "test_calc.py"]);
    for (scope, decisions) in [
        (
            json!({ "paths": paths, "commands": ["ls:*"] }),
            ["deny", "ask"],
        ),
        (
            json!({ "paths": paths, "network": ["docs.example.org"] }),
            ["ask", "ask"],
        ),
    ] {
        let stage = Stage::new(script(scope.clone()));
        stage.done();
        let requested = stage.told("tool.requested");
        let bash = requested.iter().filter(|it| it["tool"] == "bash");
        let decided: Vec<&str> = bash.map(|it| it["decision"].as_str().unwrap()).collect();
        assert_eq!(decided, decisions, "{scope}");
    }
}

/// Whoever names criteria may run what writes files, and nobody finds those.
#[test]
fn what_the_criteria_leave_behind_is_thrown_away() {
    let stage = Stage::new(|asked: &Asked| match (asked.who, asked.turn) {
        (Who::Architect, _) => plan(json!([mend(json!({ "verify": "tdd" }))])),
        (Who::Criteria, 0) => vec![(
            "bash",
            json!({ "command": "for n in planted; do echo x > $n.py; done" }),
        )],
        (Who::Criteria, _) => {
            let criteria = json!([{ "text": "add(2, 3) is 5" }]);
            vec![("criteria", json!({ "criteria": criteria })), end("named")]
        }
        (Who::Tests, _) => vec![tests_add(), end("they fail")],
        (Who::Worker, _) => vec![adds(), end("mended")],
        _ => pass(asked, json!({})),
    });
    let id = stage.done();
    let requested = stage.told("tool.requested");
    let command = requested.iter().find(|it| it["tool"] == "bash").unwrap();
    assert_eq!(command["decided_by"], "contained", "{command}");
    let files = stage.git(&["ls-tree", "-r", "--name-only", &stage.branch(&id)]);
    assert!(files.contains("test_calc.py"), "{files}");
    assert!(!files.contains("planted"), "{files}");
    let worked = stage.told("step.worked");
    assert!(
        worked.iter().all(|it| !it.to_string().contains("planted")),
        "{worked:#?}"
    );
}
