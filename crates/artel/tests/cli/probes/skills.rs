//! Skills whose files lead elsewhere, or change after they were trusted.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use crate::omniforge::world::{World, calls, finish, speaks};

const DONE: &str = "lines:\n  - call: { finish: { answer: done } }\n";

#[test]
fn a_file_of_a_skill_that_is_a_link_out_of_it_is_not_read() {
    let world = World::new();
    let private = world.house.home.join("private.txt");
    fs::write(&private, "PRIVATE-MARK\n").unwrap();
    let skill = world.skill("greet", "", "Greet.");
    symlink(&private, skill.join("notes.md")).unwrap();
    symlink(&world.house.home, skill.join("references")).unwrap();
    let read = |path: String| calls("read", json!({ "path": path }));
    let folder = skill.display();
    let model = speaks([
        read(format!("{folder}/notes.md")),
        read(format!("{folder}/references/private.txt")),
        calls(
            "bash",
            json!({ "command": format!("cat {folder}/notes.md {folder}/references/*") }),
        ),
        calls(
            "grep",
            json!({ "pattern": "PRIVATE", "path": folder.to_string() }),
        ),
        finish("done"),
    ]);
    world.listens_to(&model);
    world.artel(["run", "greet", "--yes"]).run();
    let told: String = world.calls().into_iter().map(|(_, _, seen)| seen).collect();
    let shown = told.replace("\"PRIVATE\"", "");
    assert!(!shown.contains("PRIVATE-MARK"), "{shown}");
    assert_eq!(model.seen().len(), 5, "{told}");
}

/// Trust covers the files of a skill, and what a link leads to is none of them.
#[test]
fn a_script_of_a_skill_that_is_a_link_out_of_it_is_left_out_and_not_run() {
    let world = World::new();
    let folder = world.project.join(".agents/skills/greet");
    fs::create_dir_all(folder.join("scripts")).unwrap();
    let text = "---\nname: greet\ndescription: Greets.\n---\n!`./scripts/go.sh`\nGreet.\n";
    fs::write(folder.join("SKILL.md"), text).unwrap();
    let script = world.project.join("go.sh");
    let mark = world.house.root().join("it-ran");
    fs::write(&script, "#!/bin/sh\necho hello\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../../../../go.sh", folder.join("scripts/go.sh")).unwrap();
    world.ok(["skill", "trust", "greet", "--yes"]);
    // What it leads to has changed since, and nobody looked at it.
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    let begins = world.rehearsed(DONE, ["greet"]).run();
    begins.says("it is a link that leads out of the folder");
    assert!(!mark.exists());
}
