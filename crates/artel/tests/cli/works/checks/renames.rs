//! Files that a plan moves.

use std::fs;

use serde_json::json;

use super::stage::{Stage, Who, end, plan};

#[test]
fn a_file_that_was_moved_is_shown_with_both_names() {
    const TEXT: &str = "How to use it.\n\nCall add with two numbers.\nCall double with one.\n";
    const MOVE: &str = "diff --git a/guide.md b/manual.md\nsimilarity index 100%\n\
        rename from guide.md\nrename to manual.md\n";
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => plan(json!([{
            "id": "move", "title": "Move the guide", "role": "engineer",
            "work": "Move guide.md to manual.md.", "check": "It is there.", "verify": "none",
            "scope": { "paths": ["guide.md", "manual.md"] },
            "evidence": [{ "kind": "file", "what": "manual.md" }],
        }])),
        _ => vec![("apply_patch", json!({ "patch": MOVE })), end("moved")],
    });
    fs::write(stage.town.project.join("guide.md"), TEXT).unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "A guide"]);
    let id = stage.done();
    let show = ["changeset", "show", &id[..8]];
    let shown = stage.town.artel(show).run().expect(0);
    shown.says("renamed guide.md → manual.md");
    let report = ["report", "show", &id[..8]];
    let report = stage.town.artel(report).run().expect(0);
    report.says("### Files Renamed (1)\n\n- `guide.md → manual.md`");
}
