//! `artel skill`: found, shown, checked, begun and trusted.

use std::fs;
use std::path::Path;

use crate::support::House;

/// Writes a skill into a folder.
fn put(folder: &Path, name: &str, front: &str, body: &str) {
    let folder = folder.join(name);
    fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: Does {name} things.\n{front}---\n{body}\n");
    fs::write(folder.join("SKILL.md"), text).unwrap();
}

fn skills(house: &House) -> std::path::PathBuf {
    house.workshop.join("Skills")
}

#[test]
fn the_list_shows_what_counts_what_is_shadowed_and_what_is_broken() {
    let house = House::new();
    put(&skills(&house), "alpha", "", "Do it.");
    put(&house.home.join(".claude/skills"), "beta", "", "Do it.");
    put(&house.home.join(".agents/skills"), "alpha", "", "Another.");
    put(&skills(&house), "gamma", "max-iterations: 0\n", "Do it.");
    let seen = house.ok(["skill", "list"]);
    let lines: Vec<&str> = seen.out.lines().collect();
    assert!(
        lines[1].starts_with("alpha  workshop  yes      5"),
        "{}",
        seen.out
    );
    assert!(lines[2].starts_with("beta   user      no"), "{}", seen.out);
    assert!(seen.out.contains("shadowed  alpha in "), "{}", seen.out);
    assert!(seen.out.contains("broken  "), "{}", seen.out);
    assert!(seen.out.contains("`max-iterations`"), "{}", seen.out);
    let json = house.ok(["skill", "list", "--json"]).json();
    assert_eq!(json["skills"][1]["name"], "beta");
    assert_eq!(json["skills"][1]["trusted"], false);
    assert_eq!(json["shadowed"][0]["name"], "alpha");
    assert_eq!(json["broken"].as_array().unwrap().len(), 1);
}

#[test]
fn without_a_workshop_skills_are_found_and_checked_and_none_is_made() {
    let house = House::empty();
    put(&house.workshop.join(".claude/skills"), "beta", "", "Do it.");
    house.ok(["skill", "list"]).says("beta  portal  no");
    house
        .ok(["skill", "show", "beta"])
        .says("Does beta things.");
    house.ok(["skill", "validate"]).says("ok  ");
    assert!(!house.workshop.join(".artel").exists());
    assert!(!house.home.join("Artel").exists());
}

#[test]
fn a_skill_is_shown_with_what_it_may_run_and_what_it_saves() {
    let house = House::new();
    let body = "Now: !`git status --short`\nThen: !`git log | head`\nAlso: !`cat notes.txt`\n\
                See https://example.org/api and reference.md for details.";
    put(
        &skills(&house),
        "alpha",
        "allowed-tools: Read Bash(git status:*)\n",
        body,
    );
    fs::write(
        skills(&house).join("alpha/reference.md"),
        "x".repeat(30_000),
    )
    .unwrap();
    let shown = house.ok(["skill", "show", "alpha", "--json"]).json();
    let commands = shown["commands"].as_array().unwrap();
    let allowed: Vec<_> = commands
        .iter()
        .map(|it| it["allowed"].as_bool().unwrap())
        .collect();
    assert_eq!(allowed, [true, false, false], "{commands:?}");
    assert_eq!(shown["urls"][0], "https://example.org/api");
    assert_eq!(shown["files"][0]["path"], "reference.md");
    assert!(shown["tokens_all"].as_u64() > shown["tokens_first"].as_u64().map(|it| it + 9_000));
    let seen = house.ok(["skill", "show", "alpha"]);
    for words in [
        "runs    git status --short",
        "refused git log | head",
        "reference.md",
    ] {
        assert!(seen.out.contains(words), "{words}: {}", seen.out);
    }
    house
        .artel(["skill", "show", "alfa"])
        .run()
        .fails(4, "R001")
        .says("did you mean `alpha`?");
}

#[test]
fn validation_is_strict_and_says_file_line_field_and_remedy() {
    let house = House::empty();
    put(&house.workshop, "good", "", "Do it.");
    put(
        &house.workshop,
        "bad",
        "max-iterations: 101\ntimeout: fast\n",
        "Do it.",
    );
    fs::create_dir(house.workshop.join("good/tests")).unwrap();
    house
        .ok(["skill", "validate", "good"])
        .says("ok  good/SKILL.md");
    let seen = house
        .artel(["skill", "validate", "good", "bad"])
        .run()
        .expect(1);
    assert!(seen.out.contains("ok  good/SKILL.md"), "{}", seen.out);
    assert!(
        seen.out.contains("bad/SKILL.md:4: `max-iterations`: "),
        "{}",
        seen.out
    );
    let json = house
        .artel(["skill", "validate", "bad", "--json"])
        .run()
        .expect(1)
        .json();
    assert_eq!(json["ok"], false);
    assert_eq!(json["files"][0]["errors"][0]["field"], "max-iterations");
    assert_eq!(json["files"][0]["errors"][0]["line"], 4);
    // A wrong test case is wrong, too.
    fs::write(house.workshop.join("good/tests/a.yaml"), "runs: 5\n").unwrap();
    house
        .artel(["skill", "validate", "good"])
        .run()
        .expect(1)
        .says("tests/a.yaml");
    house
        .artel(["skill", "validate", "nowhere"])
        .run()
        .fails(4, "W010");
}

#[test]
fn a_batch_answers_every_line_with_one_line() {
    let house = House::empty();
    let text = |front: &str| format!("---\\n{front}---\\nDo it.\\n");
    let skill = |front: &str| format!("{{\"kind\":\"skill\",\"text\":\"{}\"}}", text(front));
    let cases = [
        (skill("name: pdf\\ndescription: Reads PDF files.\\n"), None),
        (skill("name: PDF\\ndescription: x\\n"), Some("name")),
        (skill("name: pdf\\n"), Some("description")),
        (skill("name: a\\nname: b\\ndescription: x\\n"), Some("name")),
        (skill("name: [\\n"), Some("frontmatter")),
        (
            "{\"kind\":\"skill\",\"text\":\"no front\"}".to_owned(),
            Some("frontmatter"),
        ),
        (
            "{\"kind\":\"skill\",\"dir\":\"docx\",\"text\":\"---\\nname: pdf\\ndescription: x\\n\
             ---\\nDo.\\n\"}"
                .to_owned(),
            Some("name"),
        ),
        (
            "{\"kind\":\"request\",\"text\":\"---\\nstatus: odd\\n---\\nDo.\\n\"}".to_owned(),
            Some("trace_id"),
        ),
        ("{\"kind\":\"plan\",\"text\":\"\"}".to_owned(), Some("kind")),
        ("not json".to_owned(), Some("line")),
        (String::new(), Some("line")),
        (format!("\"{}\"", "x".repeat(5_000)), Some("line")),
        ("{\"kind\":\"skill\"}".to_owned(), Some("line")),
    ];
    let input: String = cases.iter().map(|(line, _)| format!("{line}\n")).collect();
    let seen = house
        .artel(["skill", "validate", "--batch"])
        .given(&input)
        .run()
        .expect(0);
    let lines: Vec<&str> = seen.out.lines().collect();
    assert_eq!(lines.len(), cases.len(), "{}", seen.out);
    for ((case, field), line) in cases.iter().zip(lines) {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["ok"], field.is_none(), "{case}: {line}");
        let errors = answer["errors"].as_array().unwrap();
        let fields: Vec<&str> = errors
            .iter()
            .map(|it| it["field"].as_str().unwrap())
            .collect();
        assert!(
            field.is_none_or(|field| fields.contains(&field)),
            "{case}: {line}"
        );
        for error in errors {
            let message = error["message"].as_str().unwrap();
            assert!(
                !message.is_empty() && message.chars().count() <= 400,
                "{line}"
            );
        }
    }
    assert!(
        !house.workshop.join(".artel").exists(),
        "it makes no workshop"
    );
}

#[test]
fn a_new_skill_is_valid_and_nothing_is_written_over() {
    let house = House::new();
    house
        .ok(["skill", "new", "csv-report"])
        .says("Next: write what it does");
    house.ok(["skill", "validate", "Skills/csv-report"]);
    house
        .ok(["skill", "list"])
        .says("csv-report  workshop  yes");
    let file = skills(&house).join("csv-report/SKILL.md");
    fs::write(&file, "mine").unwrap();
    house
        .artel(["skill", "new", "csv-report"])
        .run()
        .fails(2, "C004");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    for name in ["../x", "PDF", "a b", "", "-a", "a/b"] {
        house.artel(["skill", "new", "--", name]).run().expect(2);
    }
    assert!(!house.root().join("x").exists());
}

#[test]
fn trust_is_a_persons_act_for_what_the_skill_is_now() {
    let house = House::new();
    let folder = house.home.join(".claude/skills");
    put(
        &folder,
        "beta",
        "allowed-tools: Bash(git status:*)\n",
        "!`git status`",
    );
    let trusted = || house.ok(["skill", "list", "--json"]).json()["skills"][0]["trusted"].clone();
    house
        .artel(["skill", "trust", "beta"])
        .run()
        .fails_last(3, "C006");
    assert_eq!(trusted(), false);
    let seen = house.ok(["skill", "trust", "beta", "--yes"]);
    assert!(
        seen.out.contains("runs at its start: git status"),
        "{}",
        seen.out
    );
    assert_eq!(trusted(), true);
    assert!(house.kinds().contains(&"skill.trusted".to_owned()));
    house
        .ok(["skill", "trust", "beta", "--yes"])
        .says("needs no trust");
    put(&folder, "beta", "", "!`rm -rf ~`");
    assert_eq!(trusted(), false, "what changed is not what was trusted");
}
