//! Checks 6 to 8: what of a skill is in the first request, and how large it may be.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::world::{World, calls, conversations, finish, instructions, speaks, words_of};

#[test]
fn check_06_files_are_named_and_come_when_they_are_read() {
    let world = World::new();
    let model = speaks([
        calls("read", json!({"path": "reference.md"})),
        calls("script", json!({"path": "scripts/count.sh"})),
        finish("done"),
    ]);
    world.listens_to(&model);
    let body = "BODY-MARK: count. For details see reference.md and examples.md.";
    let folder = world.skill("count", "", body);
    fs::write(folder.join("reference.md"), "REFERENCE-MARK\nmore\nof it\n").unwrap();
    fs::write(folder.join("examples.md"), "EXAMPLES-MARK\nmore\n").unwrap();
    world.script("count", "count.sh", "# SCRIPT-MARK\necho counted\n");
    world.artel(["run", "count"]).run().expect(0);
    let told = &instructions(&model)[0];
    for words in [
        "BODY-MARK",
        "reference.md",
        "(3 lines)",
        "examples.md",
        "(2 lines)",
    ] {
        assert!(told.contains(words), "no `{words}` in:\n{told}");
    }
    let requests: Vec<String> = model
        .seen()
        .iter()
        .map(|seen| words_of(&seen.body))
        .collect();
    assert_eq!(requests.len(), 3);
    assert!(!requests[0].contains("REFERENCE-MARK"));
    assert!(requests[1].contains("REFERENCE-MARK"), "{}", requests[1]);
    assert!(requests[2].contains("counted"), "{}", requests[2]);
    for request in &requests {
        assert!(!request.contains("EXAMPLES-MARK"), "nobody read it");
        assert!(
            !request.contains("SCRIPT-MARK"),
            "scripts are run, never shown"
        );
    }
    let metrics = &world.finished()["metrics"];
    assert_eq!(metrics["files_loaded"], 1, "{metrics}");
    assert!(metrics["tokens_loaded"].as_u64().unwrap() > 0, "{metrics}");
}

#[test]
fn check_07_nothing_outside_of_the_folder_is_listed() {
    let world = World::new();
    let model = speaks([calls("read", json!({"path": "out.md"})), finish("done")]);
    world.listens_to(&model);
    let body = "For names see /etc/hosts.txt, for the rest see ../other.md, out.md and own.md.";
    let folder = world.skill("look", "", body);
    fs::write(folder.join("own.md"), "own\n").unwrap();
    fs::write(world.house.workshop.join("Skills/other.md"), "OTHER-MARK\n").unwrap();
    symlink("../other.md", folder.join("out.md")).unwrap();
    world.artel(["run", "look"]).run().expect(0);
    let told = &instructions(&model)[0];
    let listed: Vec<&str> = told.lines().filter(|line| line.starts_with("- ")).collect();
    assert!(
        listed.iter().any(|line| line.starts_with("- own.md")),
        "{listed:?}"
    );
    for name in ["hosts.txt", "other.md", "out.md"] {
        assert!(!listed.iter().any(|line| line.contains(name)), "{listed:?}");
    }
    let after = &conversations(&model)[1];
    assert!(!after.contains("OTHER-MARK"), "{after}");
}

#[test]
fn check_08_five_hundred_lines() {
    let world = World::new();
    let script = "lines:\n  - call: { finish: { answer: done } }\n";
    let write = |lines: usize, front: &str| {
        let folder = world.skill("long", front, "");
        let file = folder.join("SKILL.md");
        let head = fs::read_to_string(&file).unwrap();
        let rest = "line\n".repeat(lines - head.lines().count());
        fs::write(file, head + &rest).unwrap();
    };
    let enforced = ["long", "--set", "skills.size_limit=enforce"];
    let has_warned = |err: &str| err.contains("at most 500");
    write(500, "");
    let seen = world.rehearsed(script, enforced).run().expect(0);
    assert!(!has_warned(&seen.err), "{}", seen.err);
    write(501, "");
    let seen = world.rehearsed(script, ["long"]).run().expect(0);
    assert!(has_warned(&seen.err), "{}", seen.err);
    let seen = world.rehearsed(script, enforced).run();
    assert_ne!(seen.code, 0, "{}", seen.err);
    for place in [
        "reference.md",
        "examples.md",
        "templates/",
        "legacy_large_file",
    ] {
        assert!(seen.err.contains(place), "no {place} in:\n{}", seen.err);
    }
    write(501, "legacy_large_file: true\n");
    let seen = world.rehearsed(script, enforced).run().expect(0);
    assert!(has_warned(&seen.err), "{}", seen.err);
}
