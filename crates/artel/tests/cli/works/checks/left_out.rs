//! What a step makes and no tree keeps: too large, or too much. The rest of its work passes, and
//! people see what is missing.

use serde_json::json;

use super::stage::{Stage, Who, adds, end, mend, plan, tests_add};

/// Above what a file may have in these tests.
const LARGE: usize = 2 << 20;

#[test]
fn what_a_steps_tree_leaves_out_is_named_with_the_step_and_the_rest_passes() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => {
            let scope = json!({ "paths": ["**"] });
            plan(json!([mend(json!({ "verify": "none", "scope": scope }))]))
        }
        _ => {
            let makes = format!(
                "head -c {LARGE} /dev/zero > out.bin && echo small > small.txt && mkdir many && \
                 for name in $(seq 120); do echo $name > many/$name; done"
            );
            vec![
                ("bash", json!({ "command": makes })),
                adds(),
                tests_add(),
                end("made"),
            ]
        }
    });
    let town = &stage.town;
    let settings = town.house.workshop.join("artel.toml");
    let old = std::fs::read_to_string(&settings).unwrap();
    let bounds = "[portal]\nlargest_file = 1\nmost_files = 100\n";
    std::fs::write(&settings, format!("{old}\n{bounds}")).unwrap();
    // A file of the person's that is as large is no news, and stays.
    std::fs::write(town.project.join("asset.bin"), vec![1; LARGE]).unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "An asset"]);
    let id = town.asked();
    let seen = town.artel(["plan", "approve", &id]).run().expect(0);
    let missing = [
        "many (120 new files, too many)".to_owned(),
        format!("out.bin ({LARGE} bytes, too large)"),
    ];
    let line = seen.err.lines().find(|line| line.contains("left out: "));
    let line = line.unwrap_or_else(|| panic!("{}", seen.err));
    let branch = stage.branch(&id);
    let names = stage.git(&["ls-tree", "-r", "--name-only", &branch]);
    for name in ["asset.bin", "small.txt"] {
        assert!(names.lines().any(|it| it == name), "{names}");
    }
    assert!(
        !names.contains("out.bin") && !names.contains("many/"),
        "{names}"
    );
    let report = town.artel(["report", "show", &id]).run().expect(0).out;
    let shown = town.artel(["changeset", "show", &id]).run().expect(0).out;
    for words in &missing {
        assert!(line.contains(words), "{words}: {line}");
        assert!(report.contains(words), "{words}: {report}");
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!report.contains("asset.bin ("), "{report}");
}
