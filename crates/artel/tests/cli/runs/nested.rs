//! Portals that lie in one another: the narrowest label counts for all that a run may read.

use std::fs;

use serde_json::json;

use super::world::World;
use crate::terminal::Seat;

const LOOK: &str = r##"
lines:
  - call: { read: { path: "@project/inner/secret.txt" } }
  - call: { bash: { command: "cat ../project/inner/secret.txt" } }
  - call: { finish: { answer: looked } }
"##;

/// A project that is open, with a folder in it whose content stays on this machine, and a model that
/// is elsewhere.
fn nested() -> World {
    nested_saying(LOOK)
}

fn nested_saying(script: &str) -> World {
    let world = World::new(script);
    let inner = world.project.join("inner");
    fs::create_dir_all(world.project.join("src")).unwrap();
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("secret.txt"), "PRIVWORD\n").unwrap();
    let settings = world.house.workshop.join("artel.toml");
    let mut text = fs::read_to_string(&settings).unwrap_or_default();
    text.push_str(
        "\n[models.remote]\nprovider = \"openai-chat\"\nmodel = \"m\"\n\
         base_url = \"http://192.0.2.1:9/v1\"\napi_key_env = \"MY_KEY\"\n",
    );
    fs::write(settings, text).unwrap();
    world
}

#[test]
fn what_a_portal_inside_another_keeps_here_leaves_by_no_run_on_the_one_around_it() {
    let world = nested();
    let inner = world.project.join("inner");
    let local_only = ["portal", "add", "inner", "--privacy", "local-only"];
    world.ok(local_only);
    let added = world.ok(["portal", "add", "."]);
    added.says("`project` holds `inner`, which is local-only");
    let begin = |words: &[&str], folder: &std::path::Path| {
        let key = crate::support::KEY;
        let artel = world.artel([]).words(words).words(["--model", "remote"]);
        artel.standing_in(folder).env("MY_KEY", key).run()
    };
    let run = ["run", "--task", "look at inner/secret.txt"];
    for folder in [&inner, &world.project, &world.project.join("src")] {
        let seen = begin(&run, folder);
        assert!(
            seen.err.contains("M006"),
            "{}: {}",
            folder.display(),
            seen.err
        );
    }
    let ask = ["ask", "What does inner/secret.txt say?", "--yes"];
    let seen = begin(&ask, &world.project);
    assert!(seen.err.contains("M006"), "{}", seen.err);
    let plan = ["ask", "Mend inner/secret.txt", "--plan", "--yes"];
    let seen = begin(&plan, &world.project);
    assert!(seen.err.contains("M006"), "{}", seen.err);
    // The label of the portal itself is what the person said.
    let list = world.ok(["portal", "list", "--json"]).json();
    assert_eq!(list[1]["privacy"], json!("any"));
}

#[test]
fn what_a_nested_portal_keeps_here_is_named_by_no_run_elsewhere() {
    let world = nested();
    let other = world.house.folder("other");
    let local_only = ["portal", "add", "inner", "--privacy", "local-only"];
    world.ok(local_only);
    world.ok(["portal", "add", "."]);
    world.ok(["portal", "add", other.to_str().unwrap()]);
    let answered = || {
        world.task([]).standing_in(&other).run().expect(0);
        world.ok(["journal", "export"]).out
    };
    let seen = answered();
    assert!(!seen.contains("PRIVWORD"), "{seen}");
    assert!(seen.contains("there is no portal `project`"), "{seen}");
    // A person who opens it opens it for all.
    world.ok(["portal", "add", "inner", "--privacy", "any"]);
    let seen = answered();
    let asked = "`@project` is not the portal of this run";
    assert!(seen.contains(asked), "it is asked about: {seen}");
}

/// Reads what stays here, then what is asked about.
const READS: &str = r##"
lines:
  - call: { read: { path: secret.txt } }
  - call: { read: { path: .env } }
"##;

/// The label that a portal had when a run began goes with the run, whatever becomes of the portal.
#[test]
fn a_run_that_began_where_content_stays_here_leaves_by_no_resume_and_no_fork() {
    let world = nested_saying(READS);
    let inner = world.project.join("inner");
    fs::write(inner.join(".env"), "MODE=quick\n").unwrap();
    world.ok(["portal", "add", "inner", "--privacy", "local-only"]);
    Seat::at(world.task([]).standing_in(&inner))
        .shows("Allow it?")
        .signal(rustix::process::Signal::INT)
        .end();
    let run = world.run();
    let started = &world.events("run.started")[0]["payload"];
    assert_eq!(started["inherits"]["privacy"], "local-only", "{started}");
    let at = world.events("tool.finished")[0]["seq"].to_string();
    let tries = || {
        for words in [&["fork", &run, "--at", &at][..], &["resume", &run]] {
            let artel = world.artel([]).words(words).words(["--model", "remote"]);
            let seen = artel.env("MY_KEY", crate::support::KEY).run();
            assert!(seen.err.contains("M006"), "{words:?}: {}", seen.err);
        }
    };
    tries();
    world.ok(["portal", "add", "inner", "--privacy", "any"]);
    tries();
    world.ok(["portal", "remove", "inner"]);
    tries();
    // What begins now has the label of now.
    world.task(["--yes"]).standing_in(&inner).run();
    let started = world.events("run.started");
    let last = &started.last().unwrap()["payload"];
    assert_eq!(last["inherits"]["privacy"], "any", "{last}");
}
