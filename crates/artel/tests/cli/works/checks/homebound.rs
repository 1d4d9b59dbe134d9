//! What came of a project whose content stays on this machine is not told to plans and runs of
//! others.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::super::bench::git;
use super::stage::{Asked, Calls, Stage, Who, end, mend, mends, pass, plan};

fn usual(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => mends(asked),
        Who::Other => match asked.turn {
            0 => vec![("read", json!({ "path": "zebra.txt" }))],
            _ => vec![end("looked")],
        },
        _ => pass(asked, json!({})),
    }
}

fn local_only(stage: &Stage) {
    let words = ["portal", "add", ".", "--privacy", "local-only"];
    stage.town.artel(words).run().expect(0);
}

/// Another project, which any model may see.
fn elsewhere(stage: &Stage) -> PathBuf {
    let folder = stage.town.house.folder("elsewhere");
    fs::write(folder.join("calc.py"), "def add(a, b):\n    return a - b\n").unwrap();
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-qm", "Another"]);
    folder
}

/// What the architect is told of a request in a folder, and what the person is.
fn told_in(stage: &Stage, folder: &std::path::Path) -> (String, String) {
    let words = ["ask", "Mend add again", "--plan", "--yes"];
    let seen = stage.town.artel(words).standing_in(folder).run().expect(0);
    let mut asked = stage.asked().into_iter();
    let architect = asked.rfind(|it| it.who == Who::Architect && it.turn == 0);
    (architect.unwrap().text, seen.err)
}

#[test]
fn reports_of_a_portal_that_stays_here_are_not_told_to_plans_of_others() {
    let stage = Stage::new(usual);
    let town = &stage.town;
    local_only(&stage);
    let words = [
        "ask",
        "Mend add for the ZEBRA account",
        "--plan",
        "--yes",
        "--json",
    ];
    let seen = town.artel(words).run().expect(0);
    let id = seen.json()["trace_id"].as_str().unwrap().to_owned();
    stage.approve(&id, 0);
    let other = elsewhere(&stage);
    let (text, told) = told_in(&stage, &other);
    assert!(!text.contains("ZEBRA"), "{text}");
    assert!(told.contains("not shown 1 report"), "{told}");
    let (text, _) = told_in(&stage, &town.project);
    assert!(text.contains("ZEBRA"), "its own plans are told: {text}");
    // A name says nothing any more, what is inside does.
    let reports = town.house.workshop.join("Knowledge/Reports");
    let report = fs::read_dir(&reports).unwrap().next().unwrap().unwrap();
    fs::rename(report.path(), reports.join("renamed.md")).unwrap();
    town.artel(["portal", "remove", "calc"]).run().expect(0);
    let (text, _) = told_in(&stage, &other);
    assert!(!text.contains("ZEBRA"), "its label outlives it: {text}");
    let opened = ["portal", "add", ".", "--privacy", "any"];
    town.artel(opened).run().expect(0);
    let (text, _) = told_in(&stage, &other);
    assert!(text.contains("ZEBRA"), "a person opened it: {text}");
}

#[test]
fn lessons_of_a_portal_that_stays_here_are_not_told_to_runs_of_others() {
    let stage = Stage::new(usual);
    let town = &stage.town;
    let folder = town.house.workshop.join("Skills/mending");
    fs::create_dir_all(&folder).unwrap();
    let text = "---\nname: mending\ndescription: Mends a function.\n---\nMend it.\n";
    fs::write(folder.join("SKILL.md"), text).unwrap();
    let other = elsewhere(&stage);
    local_only(&stage);
    fs::write(town.project.join("zebra.txt"), "stripes\n").unwrap();
    let run = |folder: &std::path::Path| {
        let words = ["run", "mending", "calc.py", "--yes"];
        town.artel(words).standing_in(folder).run().expect(0);
        let mut asked = stage.asked().into_iter();
        asked.rfind(|it| it.turn == 0).unwrap().text
    };
    run(&town.project);
    assert!(run(&town.project).contains("zebra.txt"), "its own are told");
    let (text, _) = told_in(&stage, &town.project);
    assert!(text.contains("worked: read zebra.txt"), "{text}");
    let (text, _) = told_in(&stage, &other);
    assert!(!text.contains("zebra.txt"), "{text}");
    let text = run(&other);
    assert!(!text.contains("zebra.txt"), "{text}");
}

#[test]
fn reports_of_a_project_that_holds_a_portal_that_stays_here_stay_here_too() {
    let stage = Stage::new(usual);
    let town = &stage.town;
    fs::create_dir(town.project.join("inner")).unwrap();
    let inner = ["portal", "add", "inner", "--privacy", "local-only"];
    town.artel(inner).run().expect(0);
    town.artel(["portal", "add", "."]).run().expect(0);
    let words = [
        "ask",
        "Mend add for the ZEBRA account",
        "--plan",
        "--yes",
        "--json",
    ];
    let seen = town.artel(words).run().expect(0);
    let id = seen.json()["trace_id"].as_str().unwrap().to_owned();
    stage.approve(&id, 0);
    let other = elsewhere(&stage);
    let (text, _) = told_in(&stage, &other);
    assert!(!text.contains("ZEBRA"), "{text}");
    town.artel(["portal", "remove", "inner"]).run().expect(0);
    let (text, _) = told_in(&stage, &other);
    assert!(!text.contains("ZEBRA"), "its label outlives it: {text}");
    let opened = ["portal", "add", "inner", "--privacy", "any"];
    town.artel(opened).run().expect(0);
    let (text, _) = told_in(&stage, &other);
    assert!(text.contains("ZEBRA"), "a person opened it: {text}");
}
