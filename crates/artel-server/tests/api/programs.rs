//! What a program may do with a token of its own: work within the bounds that people set, and never
//! change them.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::house::{Answer, House};

/// Every route by which a program may change something, with the reason. A route that is not here
/// needs a person; a new one has to be decided.
const FOR_PROGRAMS: &[(&str, &str)] = &[
    ("/api/v1/agents/{id}/validate", "only looks at the file"),
    (
        "/api/v1/changesets/{id}/reject",
        "merges nothing, and the branch stays",
    ),
    ("/api/v1/checks/agents", "only looks at the files"),
    (
        "/api/v1/checks/skill-tests",
        "plays tests that people wrote, on a stage of their own",
    ),
    ("/api/v1/checks/skills", "only looks at the files"),
    ("/api/v1/daemon/pause", "holds work back, and begins none"),
    (
        "/api/v1/daemon/reload",
        "reads what people wrote into the files",
    ),
    (
        "/api/v1/daemon/resume",
        "work goes on within the bounds that it has",
    ),
    ("/api/v1/events", "a note, on record as the program's"),
    (
        "/api/v1/feedback",
        "an opinion about a run, on record as the program's",
    ),
    (
        "/api/v1/inbox/scan",
        "takes up what lies there, which then waits for a person",
    ),
    ("/api/v1/journal/verify", "only looks at the journal"),
    ("/api/v1/logout", "ends its own token's session"),
    (
        "/api/v1/models/{alias}/test",
        "one small call to a model that people set up",
    ),
    ("/api/v1/plans", "a plan waits for the approval of a person"),
    ("/api/v1/plans/{id}/cancel", "ends work, and begins none"),
    ("/api/v1/plans/{id}/reject", "ends work, and begins none"),
    (
        "/api/v1/plans/{id}/revise",
        "the next version waits for the approval of a person",
    ),
    ("/api/v1/plans/{id}/steps/{step}/pause", "holds work back"),
    (
        "/api/v1/plans/{id}/steps/{step}/resume",
        "the step goes on as it was approved",
    ),
    ("/api/v1/policy/check", "only judges"),
    (
        "/api/v1/policy/grants/{n}/revoke",
        "takes a permission away, and gives none",
    ),
    (
        "/api/v1/policy/redact",
        "only shows what would be struck out",
    ),
    ("/api/v1/portals/{name}/verify", "only looks at the folder"),
    (
        "/api/v1/reports/{id}/rebuild",
        "writes again what the journal says",
    ),
    (
        "/api/v1/requests",
        "work for a program waits for the approval of a person",
    ),
    ("/api/v1/requests/preview", "only looks"),
    (
        "/api/v1/requests/{id}/resume",
        "goes on with what was asked for",
    ),
    (
        "/api/v1/runs",
        "works in a copy, within the bounds of its role and portal",
    ),
    ("/api/v1/runs/{id}/cancel", "ends work, and begins none"),
    (
        "/api/v1/runs/{id}/fork",
        "is bounded as the run that it comes from",
    ),
    (
        "/api/v1/runs/{id}/hint",
        "words to a run, on record as the program's",
    ),
    ("/api/v1/runs/{id}/pause", "holds work back"),
    (
        "/api/v1/runs/{id}/promote",
        "makes a test of a skill, and grants it nothing",
    ),
    (
        "/api/v1/runs/{id}/replay",
        "plays what is on record, and changes nothing",
    ),
    (
        "/api/v1/runs/{id}/resume",
        "the run goes on within the bounds that it has",
    ),
    (
        "/api/v1/skills",
        "begins a skill with the words of a template",
    ),
    (
        "/api/v1/skills/{name}/lessons",
        "words to later runs, which widen no bounds",
    ),
    (
        "/api/v1/skills/{name}/lessons/{id}/edit",
        "words to later runs, which widen no bounds",
    ),
    (
        "/api/v1/skills/{name}/lessons/{id}/remove",
        "takes words away",
    ),
    (
        "/api/v1/skills/{name}/test",
        "plays tests that people wrote, on a stage of their own",
    ),
    ("/api/v1/skills/{name}/validate", "only looks at the file"),
    ("/api/v1/tokens/{id}/revoke", "shuts a door, and opens none"),
    (
        "/api/v1/tools/{name}/run",
        "is judged by policy like the call of an agent",
    ),
];

#[test]
fn every_route_that_changes_something_needs_a_person_or_says_why_not() {
    let house = House::new();
    let routes = house.routes().into_iter();
    let open = routes.filter(|it| it.method != "GET" && it.about["x-person"] != true);
    let open: BTreeSet<_> = open.map(|it| it.path).collect();
    let decided: BTreeSet<_> = FOR_PROGRAMS
        .iter()
        .map(|(path, _)| (*path).to_owned())
        .collect();
    assert_eq!(open, decided);
    assert_eq!(FOR_PROGRAMS.len(), decided.len());
    assert!(FOR_PROGRAMS.iter().all(|(_, why)| !why.is_empty()));
}

/// A house with a program's token of the highest role.
struct WithProgram {
    house: House,
    token: String,
}

impl WithProgram {
    fn new() -> Self {
        let house = House::new();
        let body = json!({ "role": "admin", "name": "robot", "program": true });
        let made = house.post("admin", "/api/v1/tokens", &body).expect(201);
        let token = made.json()["token"].as_str().unwrap().to_owned();
        Self { house, token }
    }

    fn sends(&self, path: &str) -> Answer {
        self.says(path, &json!({}))
    }

    fn says(&self, path: &str, body: &Value) -> Answer {
        let call = self.house.call("POST", path).by(&self.token);
        call.json(&body.to_string()).send()
    }

    /// Has a skill run, and returns what it was told that nobody vouched for.
    fn foreign_in_run_of(&self, skill: &str) -> Vec<Value> {
        let house = &self.house;
        let body = json!({ "skill": skill, "portal": "shop" });
        let began = house.post("developer", "/api/v1/runs", &body).expect(201);
        let run = began.json()["run"].as_str().unwrap().to_owned();
        let events = |kind: &str| format!("/api/v1/events?run={run}&kind={kind}");
        house.until(&events("run.finished"), |it| !it["events"][0].is_null());
        let read = house
            .get("admin", &events("foreign.read"))
            .expect(200)
            .json();
        let read = read["events"].as_array().unwrap();
        read.iter()
            .flat_map(|it| it["payload"]["sources"].as_array().unwrap().clone())
            .collect()
    }
}

#[test]
fn what_a_program_teaches_a_skill_is_told_as_its_words_and_marks_the_run() {
    let with = WithProgram::new();
    let house = &with.house;
    house.portal("shop");
    for name in ["mend", "knit"] {
        let folder = house.workshop.root().join("Skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: {name}\ndescription: Mends socks.\n---\nMend it.\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }
    let path = |skill: &str| format!("/api/v1/skills/{skill}/lessons");
    let words = |text: &str| json!({ "text": text });
    let kept = |answer: Answer| answer.json()["id"].as_str().unwrap().to_owned();
    let of_program = [json!({ "kind": "program", "name": "robot" })];
    with.says(&path("mend"), &words("Begin at the heel."))
        .expect(201);
    assert_eq!(with.foreign_in_run_of("mend"), of_program);

    // It is a stranger's until a person has worded it again, and so is what it rewords.
    let own = house.post("developer", &path("knit"), &words("Begin at the toe."));
    let own = kept(own.expect(201));
    let added = kept(with.says(&path("knit"), &words("Use wool.")).expect(201));
    let edit = |id: &str| format!("{}/{id}/edit", path("knit"));
    let vouched = words("Use wool, the grey one.");
    house.post("developer", &edit(&added), &vouched).expect(200);
    assert_eq!(with.foreign_in_run_of("knit"), [] as [Value; 0]);
    with.says(&edit(&own), &words("Begin anywhere."))
        .expect(200);
    assert_eq!(with.foreign_in_run_of("knit"), of_program);

    let shown = house.get("developer", "/api/v1/skills/knit").expect(200);
    let lessons = shown.json()["lessons"].as_array().unwrap().clone();
    let by = |id: &str| lessons.iter().find(|it| it["id"] == id).unwrap()["by"].clone();
    assert_eq!(by(&own), "program robot");
    assert_eq!(by(&added), "developer");
    let taught = lessons.iter().filter(|it| it["sort"] != "feedback");
    assert!({ taught }.all(|it| it["by"].is_null()), "{lessons:?}");
}

#[test]
fn a_program_takes_no_bounds_away() {
    let with = WithProgram::new();
    let house = &with.house;
    let role = house.workshop.root().join("Agents/engineer.md");
    let text = "---\nname: Engineer\ndescription: Changes files and runs no commands.\n\
                disallowed-tools: Bash\n---\nYou change files, and you run no commands.\n";
    fs::write(&role, text).unwrap();
    let project = house.folder.path().join("proj");
    fs::create_dir(&project).unwrap();
    let body = json!({ "path": project, "name": "proj", "privacy": "local-only" });
    house.post("admin", "/api/v1/portals", &body).expect(201);
    let decision = || {
        let body = json!({ "command": "ls -la", "role": "engineer" });
        let checked = house.post("developer", "/api/v1/policy/check", &body);
        checked.expect(200).json()["decision"].clone()
    };
    assert_eq!(decision(), "deny");
    for path in [
        "/api/v1/agents/engineer/remove",
        "/api/v1/portals/proj/remove",
        "/api/v1/portals/proj/refresh",
    ] {
        let refused = with.sends(path).expect(403);
        assert!(
            refused.text.contains("needs a person"),
            "{path}: {}",
            refused.text
        );
    }
    assert!(role.is_file());
    assert_eq!(decision(), "deny");
    let portal: Value = house
        .get("admin", "/api/v1/portals/proj")
        .expect(200)
        .json();
    assert_eq!(portal["privacy"], "local-only");
    // A person may.
    for path in [
        "/api/v1/agents/engineer/remove",
        "/api/v1/portals/proj/remove",
    ] {
        house.post("admin", path, &json!({})).expect(200);
    }
    assert!(!role.exists());
}
