//! What runs of a skill leave behind: lessons, figures, and tests made from them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Artel, House, Seen};

/// Reads a file of another name first, then the right one, and writes what was asked for.
const SCRIPT: &str = r#"
lines:
  - say: I look at the table.
    call: { read: { path: sale.csv } }
  - call: { read: { path: sales.csv } }
  - call: { write: { path: report.md, content: "Total: 3\n" } }
  - call: { finish: { answer: "2 rows, written to report.md" } }
"#;

struct World {
    house: House,
    project: PathBuf,
    skill: PathBuf,
}

impl World {
    fn new() -> Self {
        let house = House::new();
        let project = house.folder("project");
        fs::write(project.join("sales.csv"), "item,count\na,1\nb,2\n").unwrap();
        let skill = house.workshop.join("Skills/csv-report");
        fs::create_dir_all(&skill).unwrap();
        fs::write(
            skill.join("SKILL.md"),
            "---\nname: csv-report\ndescription: Makes a report of a CSV file. Use when somebody \
             asks what is in one.\n---\nReport on $ARGUMENTS. For dates, see dates.md.\n",
        )
        .unwrap();
        fs::write(skill.join("dates.md"), "Dates are days.\n".repeat(200)).unwrap();
        Self {
            house,
            project,
            skill,
        }
    }

    fn artel<const N: usize>(&self, words: [&str; N]) -> Artel {
        self.house
            .artel(words)
            .standing_in(&self.project)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("ARTEL_WORKSHOP", &self.house.workshop)
    }

    fn ok<const N: usize>(&self, words: [&str; N]) -> Seen {
        self.artel(words).run().expect(0)
    }

    fn run(&self, script: &str) -> Seen {
        let file = self.house.root().join("script.yaml");
        fs::write(&file, script).unwrap();
        let model = format!("rehearsal:{}", file.display());
        self.artel(["run", "csv-report", "sales.csv", "--json"])
            .env("ARTEL_MODEL", model)
            .run()
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let all = self
            .ok(["journal", "query", "--kind", kind, "--json"])
            .json();
        all.as_array().unwrap().clone()
    }

    fn last_run(&self) -> String {
        let started = self.events("run.started");
        started.last().unwrap()["run"].as_str().unwrap().to_owned()
    }

    fn lessons(&self) -> Vec<Value> {
        let list = self
            .ok(["skill", "feedback", "csv-report", "--json"])
            .json();
        list.as_array().unwrap().clone()
    }

    /// Returns what the last run was told at its start.
    fn told(&self) -> String {
        let prepared = self.events("run.prepared");
        let payload = &prepared.last().unwrap()["payload"];
        match payload {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

#[test]
fn what_a_run_taught_enters_the_next_one_as_data() {
    let world = World::new();
    world.run(SCRIPT).expect(0);
    let lessons = world.lessons();
    assert_eq!(lessons.len(), 1, "{lessons:?}");
    assert_eq!(lessons[0]["sort"], "success");
    let text = lessons[0]["text"].as_str().unwrap();
    assert!(text.contains("read sales.csv → write report.md"), "{text}");
    assert!(text.contains("read sale.csv (not-found)"), "{text}");
    world
        .ok([
            "feedback",
            &world.last_run()[..8],
            "name the columns <b>first</b>",
        ])
        .says("kept for the next runs of csv-report");
    world.run(SCRIPT).expect(0);
    let told = world.told();
    assert!(
        told.contains("<lessons>") && told.contains("not instructions"),
        "{told}"
    );
    assert!(
        told.contains("- feedback: name the columns ‹b>first‹/b>"),
        "{told}"
    );
    assert!(told.contains("- success: worked: read sales.csv"), "{told}");
}

#[test]
fn a_run_that_came_to_nothing_says_why_and_what_was_tried() {
    let world = World::new();
    let script = "rules:\n  - expect: { matches: \".\" }\n    call: { read: { path: no.csv } }\n";
    world.run(script).expect(1);
    let lessons = world.lessons();
    assert_eq!(lessons[0]["sort"], "failure", "{lessons:?}");
    let text = lessons[0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("not done: ") && text.contains("read no.csv (not-found)"),
        "{text}"
    );
}

#[test]
fn what_is_kept_is_bounded_without_secrets_and_can_be_changed_and_removed() {
    let world = World::new();
    for number in 0..25 {
        let text = format!("note {number}");
        world.ok(["skill", "feedback", "csv-report", "--add", &text]);
    }
    let lessons = world.lessons();
    assert_eq!(lessons.len(), 20);
    assert_eq!(lessons[0]["text"], "note 5");
    let secret = "note 25 with password=hunter2secret99";
    let add = ["skill", "feedback", "csv-report", "--add", secret];
    world.artel(add).run().fails(3, "P006");
    assert_eq!(world.lessons(), lessons);
    let id = lessons[0]["id"].as_str().unwrap();
    world.ok(["skill", "feedback", "csv-report", "--edit", id, "shorter"]);
    assert_eq!(world.lessons()[0]["text"], "shorter");
    world.ok(["skill", "feedback", "csv-report", "--remove", id]);
    assert_eq!(world.lessons().len(), 19);
    world
        .artel(["skill", "feedback", "csv-report", "--remove", id])
        .run()
        .fails(4, "W005");
    world
        .artel(["skill", "feedback", "csv-reprot"])
        .run()
        .fails(4, "R001");
    world
        .artel(["feedback", "ffffffff", "good"])
        .run()
        .fails(4, "R004");
}

#[test]
fn figures_are_those_of_the_runs_on_record() {
    let world = World::new();
    world.run(SCRIPT).expect(0);
    // A run that gives up may end either way; it counts.
    drop(world.run("lines:\n  - call: { read: { path: no.csv } }\n  - say: I give up.\n"));
    let stats = world.ok(["skill", "stats", "--json"]).json();
    let one = &stats[0];
    assert_eq!(one["skill"], "csv-report");
    assert_eq!(one["runs"], 2);
    assert_eq!(one["common_recovery"], "not-found");
    assert!(one["average_turns"].as_f64().unwrap() > 1.0, "{one}");
    assert!(one["saved_percent"].as_u64().unwrap() > 50, "{one}");
    world
        .ok(["skill", "stats", "csv-report"])
        .says("not-found 100 %");
    world
        .artel(["skill", "stats", "nothing"])
        .run()
        .fails(4, "R001");
}

#[test]
fn a_run_becomes_a_test_that_holds_and_fails_when_the_outcome_differs() {
    let world = World::new();
    world.run(SCRIPT).expect(0);
    let run = world.last_run();
    let seen = world.ok(["skill", "test", "--from", &run[..8], "--name", "two-rows"]);
    assert!(seen.out.contains("brings sales.csv"), "{}", seen.out);
    let case = world.skill.join("tests/two-rows.yaml");
    let recording = world.skill.join("tests/two-rows.rehearsal.jsonl");
    let written = fs::read_to_string(&case).unwrap();
    let root = world.house.root().display().to_string();
    for file in [&case, &recording] {
        let text = fs::read_to_string(file).unwrap();
        assert!(!text.contains(&root), "a path of this machine: {text}");
    }
    let before = world.events("run.started").len();
    let seen = world.ok(["skill", "test", "csv-report"]);
    assert!(
        seen.out
            .contains("✓ two-rows  (tests/two-rows.yaml, 3 turns)"),
        "{}",
        seen.out
    );
    assert_eq!(
        world.events("run.started").len(),
        before,
        "tests count nowhere"
    );
    assert_eq!(world.lessons().len(), 1);
    world
        .artel(["skill", "test", "--from", &run, "--name", "two-rows"])
        .run()
        .fails(2, "C004");

    fs::write(&case, written.replace("Total: 3", "Total: 4")).unwrap();
    let seen = world
        .artel(["skill", "test", "csv-report", "--json"])
        .run()
        .expect(1)
        .json();
    let run = &seen["skills"][0]["runs"][0];
    assert_eq!(run["ok"], false);
    assert_eq!(run["state"], "complete");
    let difference = run["differences"][0].as_str().unwrap();
    assert!(
        difference.contains("`report.md` lacks `Total: 4`"),
        "{difference}"
    );
}

#[test]
fn requests_and_rehearsed_runs_are_tried() {
    let world = World::new();
    let tests = world.skill.join("tests");
    fs::create_dir(&tests).unwrap();
    fs::write(tests.join("basic.rehearsal.yaml"), SCRIPT).unwrap();
    let cases = |must: &str, more: &str| {
        format!(
            "triggers:\n  must: [\"{must}\"]\n  must_not: [\"what is the weather?\"]\nruns:\n  \
             - name: a table\n    arguments: sales.csv\n    script: basic.rehearsal.yaml\n    \
             files: {{sales.csv: \"a,1\\n\"}}\n    expect:\n      answer_contains: [2 rows]\n      \
             files: {{report.md: {{contains: Total}}, draft.md: {{absent: true}}}}\n{more}"
        )
    };
    let file = tests.join("basic.yaml");
    let good = "make a report of this CSV file";
    fs::write(&file, cases(good, "")).unwrap();
    let seen = world.ok(["skill", "test"]);
    assert_eq!(seen.out.matches('✓').count(), 3, "{}", seen.out);
    // Whatever is not as written fails, and says how it is.
    let table = [
        (cases("translate this poem", ""), "chosen: none"),
        (cases(good, "      turns_at_most: 2\n"), "it took 3 turns"),
        (
            cases(good, "      state: failed\n"),
            "it ended complete, not failed",
        ),
        (
            cases(good, "").replace("2 rows", "9 rows"),
            "the answer lacks `9 rows`",
        ),
        (cases(good, "").replace("draft.md", "report.md"), ""),
        (
            cases(good, "").replace("basic.rehearsal", "../../x"),
            "cannot be used",
        ),
        ("runs: 5\n".to_owned(), "tests/basic.yaml:1"),
    ];
    for (text, words) in table {
        fs::write(&file, text).unwrap();
        let seen = world.artel(["skill", "test", "csv-report"]).run().expect(1);
        assert!(seen.out.contains(words), "{words}: {}", seen.out);
    }
}

#[test]
fn tests_of_a_skill_that_nobody_trusted_do_not_run() {
    let world = World::new();
    let folder = world.house.home.join(".claude/skills/beta");
    fs::create_dir_all(folder.join("tests")).unwrap();
    fs::write(
        folder.join("SKILL.md"),
        "---\nname: beta\ndescription: Does beta.\n---\nDo it.\n",
    )
    .unwrap();
    fs::write(folder.join("tests/a.yaml"), "triggers: {must: [beta]}\n").unwrap();
    world
        .artel(["skill", "test", "beta"])
        .run()
        .fails(3, "R003");
    world
        .ok(["skill", "test"])
        .says("beta  skipped: not trusted");
    world.ok(["skill", "trust", "beta", "--yes"]);
    world
        .ok(["skill", "test", "beta"])
        .says("✓ chosen by \"beta\"");
}

#[test]
fn the_tests_of_a_public_skill_hold() {
    let world = World::new();
    let from = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../artel-skills/tests/skills/csv-report"
    );
    for folder in ["tests", "references", "scripts", "templates"] {
        fs::create_dir_all(world.skill.join(folder)).unwrap();
        for entry in fs::read_dir(format!("{from}/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            let to = world.skill.join(folder).join(path.file_name().unwrap());
            fs::copy(path, to).unwrap();
        }
    }
    fs::copy(format!("{from}/SKILL.md"), world.skill.join("SKILL.md")).unwrap();
    let seen = world.ok(["skill", "test", "csv-report"]);
    assert_eq!(seen.out.matches('✓').count(), 4, "{}", seen.out);
}
