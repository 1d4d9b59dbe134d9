//! The gate, the jail and the order of events of planned work in a portal.

use std::fs;

use serde_json::json;

use super::super::town::named;
use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, mends, pass, plan, tests_add};

fn usual(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => mends(asked),
        _ => pass(asked, json!({})),
    }
}

#[test]
fn exoframe_10_what_lies_outside_of_the_portal_is_refused_and_on_record() {
    let stage = Stage::new(|asked| match (asked.who, asked.turn) {
        (Who::Worker, 0) => {
            let found = regex::Regex::new(r"OUTSIDE:(\S+):").unwrap();
            let path = found.captures(&asked.text).expect("a place")[1].to_owned();
            vec![
                ("read", json!({ "path": "../secret.txt" })),
                ("read", json!({ "path": path })),
                ("read", json!({ "path": "way-out/secret.txt" })),
                ("read", json!({ "path": "calc.py" })),
            ]
        }
        (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
        _ => usual(asked),
    });
    let town = &stage.town;
    let secret = town.house.folder("away").join("secret.txt");
    fs::write(&secret, "TOP-SECRET\n").unwrap();
    fs::write(town.house.root().join("secret.txt"), "TOP-SECRET\n").unwrap();
    std::os::unix::fs::symlink(secret.parent().unwrap(), town.project.join("way-out")).unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "a link"]);
    let words = format!("Mend add. OUTSIDE:{}: is there.", secret.display());
    let seen = town
        .artel(["ask", &words, "--plan", "--yes", "--json"])
        .run()
        .expect(0);
    let id = seen.json()["trace_id"].as_str().unwrap().to_owned();
    stage.approve(&id, 0);
    let told = &stage.asked_of(Who::Worker, 1)[1].last;
    assert!(!told.contains("TOP-SECRET"), "{told}");
    assert!(
        told.contains("return a - b"),
        "what lies inside is read: {told}"
    );
    let read = stage.told("tool.finished");
    let read: Vec<_> = read
        .iter()
        .filter(|it| it["tool"] == "read")
        .take(4)
        .collect();
    let refused: Vec<bool> = read.iter().map(|it| !it["trouble"].is_null()).collect();
    assert_eq!(refused, [true, true, true, false], "{read:#?}");
}

/// What stands where a decision would write is the person's, and stays.
#[test]
fn exoframe_11_what_a_decision_would_write_over_keeps_it_from_being_made() {
    let stage = Stage::new(usual);
    let town = &stage.town;
    let id = town.asked();
    let name = format!("request-{}_plan.md", &id[..8]);
    let [plans, active] =
        ["Inbox/Plans", "Inbox/Active"].map(|it| town.house.workshop.join(it).join(&name));
    let text = fs::read_to_string(&plans).unwrap();
    let edited = text.replace(
        "Make add in calc.py add,",
        "Make add in calc.py really add,",
    );
    assert_ne!(text, edited);
    for (file, words) in [(&active, "# Mine\n"), (&plans, &*edited)] {
        fs::write(file, words).unwrap();
        for act in [
            &["approve"][..],
            &["reject", "--reason", "x"],
            &["revise", "--comment", "x"],
        ] {
            let words = [&["plan", act[0], &id], &act[1..]].concat();
            let seen = town.artel([]).words(words).run().fails(3, "R008");
            seen.says("is not in the plan yet").says("artel inbox scan");
        }
        assert_eq!(
            fs::read_to_string(file).unwrap(),
            words,
            "it stays as it is"
        );
        assert_eq!(town.count("plan.approved") + town.count("plan.rejected"), 0);
        if file == &active {
            assert_eq!(fs::read_to_string(&plans).unwrap(), text);
            fs::remove_file(file).unwrap();
        }
    }
    town.artel(["inbox", "scan"])
        .run()
        .expect(0)
        .says("version 2");
    stage.approve(&id, 0);
    assert_eq!(stage.told("plan.approved")[0]["version"], 2);
    let told = &stage.asked_of(Who::Worker, 1)[0].text;
    assert!(told.contains("really add"), "{told}");
}

#[test]
fn exoframe_12_the_events_of_a_story_come_in_their_order() {
    let stage = Stage::new(usual);
    let town = &stage.town;
    let id = stage.done();
    let kinds: Vec<String> = town
        .events()
        .iter()
        .map(|it| it["kind"].as_str().unwrap().to_owned())
        .collect();
    let order = [
        "portal.opened",
        "request.created",
        "plan.explored",
        "plan.drafted",
        "plan.approved",
        "plan.running",
        "branch.begun",
        "baseline.taken",
        "step.started",
        "step.worked",
        "step.checked",
        "step.judged",
        "step.passed",
        "branch.checked",
        "changeset.created",
        "plan.ended",
        "report.written",
    ];
    let places: Vec<_> = order
        .iter()
        .map(|kind| {
            kinds
                .iter()
                .position(|it| it == kind)
                .unwrap_or_else(|| panic!("no {kind}: {kinds:?}"))
        })
        .collect();
    assert!(
        places.is_sorted(),
        "{:?}",
        order.iter().zip(&places).collect::<Vec<_>>()
    );
    let sheet = format!("request-{}_plan.md", &id[..8]);
    assert!(named(&town.house.workshop.join("Inbox/Active"), &sheet).is_empty());
    assert!(named(&town.house.workshop.join("Inbox/Plans"), &sheet).is_empty());
    let shown = town
        .artel(["changeset", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(shown["state"], "open");
    let message = stage.git(&["log", "-1", "--format=%B", &stage.branch(&id)]);
    assert!(message.contains(&format!("Trace-Id: {id}")), "{message}");
}

#[test]
fn exoframe_09_a_plan_links_to_everything_the_architect_was_given_to_read() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => {
            let mut calls = plan(json!([mend(json!({}))]));
            calls[0].1["references"] = json!(["calc.py", "[[Knowledge/Context/house.md]]"]);
            calls
        }
        _ => usual(asked),
    });
    let context = stage.town.house.workshop.join("Knowledge/Context");
    for name in ["house", "rules"] {
        fs::write(context.join(format!("{name}.md")), "Add, never subtract.\n").unwrap();
    }
    let id = stage.town.asked();
    let plans = stage.town.house.workshop.join("Inbox/Plans");
    let sheet = fs::read_dir(plans).unwrap().next().unwrap().unwrap().path();
    let sheet = fs::read_to_string(sheet).unwrap();
    for link in [
        "[[calc.py]]",
        "[[Knowledge/Context/rules]]",
        "[[Knowledge/Portals/calc]]",
    ] {
        assert_eq!(sheet.matches(link).count(), 1, "{link}: {sheet}");
    }
    assert_eq!(
        sheet.matches("Knowledge/Context/house").count(),
        1,
        "{sheet}"
    );
    stage.approve(&id, 0);
    let report = stage
        .town
        .artel(["report", "show", &id])
        .run()
        .expect(0)
        .out;
    let card = "[[Knowledge/Portals/calc]]";
    assert_eq!(report.matches(card).count(), 1, "{report}");
}

#[test]
fn exoframe_14_a_failure_ends_with_a_report_and_no_new_plan() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Worker => vec![
            ("read", json!({ "path": "nowhere.py" })),
            end("it is not there"),
        ],
        _ => usual(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    town.artel(["answer", &id, "give-up: it is not there"])
        .run()
        .expect(0);
    town.artel(["resume", &id]).run().fails_last(1, "R005");
    assert_eq!(
        stage.git(&["branch", "--format=%(refname:short)"]),
        "main",
        "nothing passed"
    );
    let report = town.artel(["report", "show", &id]).run().expect(0).out;
    for words in ["no file was changed", "artel plan retry", "read"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert_eq!(town.request().unwrap()["plan_state"], "failed");
    town.artel(["inbox", "scan"]).run().expect(0);
    assert_eq!(town.count("plan.drafted"), 1, "no plan comes of a failure");
    assert_eq!(town.count("request.created"), 1);
    let waiting = || town.artel(["waiting", "--json"]).run().expect(0).json();
    let waits = waiting();
    assert_eq!(waits[0]["kind"], "unfinished", "{waits:#}");
    let short = &id[..8];
    assert_eq!(
        waits[0]["commands"],
        json!([
            format!("artel plan retry {short}"),
            format!("artel report show {short}"),
            format!("artel plan cancel {short}"),
        ])
    );
    town.artel(["plan", "cancel", short]).run().expect(0);
    assert_eq!(waiting(), json!([]));
}

#[test]
fn exoframe_15_a_portal_says_who_may_do_what_there() {
    let add = |stage: &Stage, more: &[&str]| {
        let path = stage.town.project.to_str().unwrap().to_owned();
        stage
            .town
            .artel(["portal", "add", &path])
            .words(more)
            .run()
            .expect(0);
    };
    // Whoever is not named does nothing, and it is said before anything begins.
    let narrow = [
        (["--agents", "architect,inspector,tester"], "engineer"),
        (["--agents", "architect,engineer,tester"], "inspector"),
        (["--operations", "read"], "`write` is not open"),
        (["--operations", "read,write"], "`git` is not open"),
    ];
    for (more, why) in narrow {
        let stage = Stage::new(usual);
        add(&stage, &more);
        let seen = stage.town.ask().run();
        let seen = match seen.code {
            0 => {
                let id = seen.json()["trace_id"].as_str().unwrap().to_owned();
                stage.town.artel(["plan", "approve", &id]).run()
            }
            _ => seen,
        };
        let seen = seen.fails_last(3, "F002").says(why);
        assert!(seen.err.contains("artel portal add"), "{}", seen.err);
        assert_eq!(stage.town.count("plan.approved"), 0, "{more:?}");
        assert_eq!(stage.town.count("step.passed"), 0, "{more:?}");
        let refused = stage.told("portal.refused");
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert_eq!(refused[0]["name"], "calc");
        assert!(stage.asked_of(Who::Worker, 1).is_empty(), "{more:?}");
    }
    for agents in ["*", "architect,engineer,inspector,tester"] {
        let stage = Stage::new(usual);
        add(&stage, &["--agents", agents]);
        stage.done();
        assert_eq!(stage.town.count("step.passed"), 1, "{agents}");
    }
}
