//! Skills that came with a project: what of them is started is what a person trusted.

use std::fs;

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::json;

use super::world::{World, calls, finish};

const FRONT: &str = "---\nname: look\ndescription: Looks at it.\nallowed-tools: Read, Bash\n---\n";

/// A project that brings a skill with a script. The person trusts it as it is.
fn world() -> (World, std::path::PathBuf) {
    let world = World::new();
    let skill = world.project.join(".claude/skills/look");
    let script = skill.join("scripts/look.py");
    fs::create_dir_all(skill.join("scripts")).unwrap();
    fs::write(skill.join("SKILL.md"), format!("{FRONT}Look.\n")).unwrap();
    fs::write(&script, "print('SEEN')\n").unwrap();
    fs::write(skill.join("scripts/part.py"), "").unwrap();
    world.ok(["skill", "trust", "look", "--yes"]);
    (world, script)
}

/// Runs the script, has somebody do something, and runs it again until the model has seen that.
fn between_two_calls(world: &World, deed: impl Fn() + Send + Sync + 'static) -> Vec<String> {
    let runs = |name: &str| calls("script", json!({ "path": format!("scripts/{name}") }));
    let model = StandIn::minded(Format::Anthropic, move |body| -> Answer {
        match body["messages"].as_array().map_or(0, Vec::len) {
            1 => calls("find_tools", json!({ "names": ["script"] })),
            3 => runs("look.py"),
            5 => {
                deed();
                runs("look.py")
            }
            _ => finish("looked"),
        }
    });
    world.listens_to(&model);
    world.artel(["run", "look"]).run().expect(0);
    let scripts = world.calls().into_iter().filter(|it| it.0 == "script");
    scripts.map(|(_, _, seen)| seen).collect()
}

#[test]
fn a_script_that_changed_while_a_run_goes_on_is_not_started() {
    for file in ["look.py", "part.py", "new.py"] {
        let (world, script) = world();
        let changed = script.with_file_name(file);
        let deed = move || fs::write(&changed, "print('UNSEEN')\n").unwrap();
        let [first, second] = &between_two_calls(&world, deed)[..] else {
            panic!("two calls");
        };
        assert!(first.contains("SEEN"), "{first}");
        assert!(!second.contains("UNSEEN"), "{file}: {second}");
        let words = "has changed since it was trusted";
        assert!(second.contains(words), "{file}: {second}");
    }
}

#[test]
fn a_script_runs_on_while_its_skill_stays_and_as_it_is_trusted_again() {
    let (world, script) = world();
    let again = world.artel(["skill", "trust", "look", "--yes"]);
    let again = std::sync::Mutex::new(Some(again));
    let deed = move || {
        fs::write(&script, "print('SEEN ANEW')\n").unwrap();
        again.lock().unwrap().take().unwrap().run().expect(0);
    };
    let [first, second] = &between_two_calls(&world, deed)[..] else {
        panic!("two calls");
    };
    assert!(first.contains("SEEN"), "{first}");
    assert!(second.contains("SEEN ANEW"), "{second}");
}
