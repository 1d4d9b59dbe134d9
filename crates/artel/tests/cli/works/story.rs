//! The whole story from outside: asked, planned, approved, done, checked, merged, reported. It
//! ends the same wherever it is killed.

use std::process::Command;

use artel_testkit::figure;
use serde_json::{Value, json};

use super::bench::git;
use super::killing::{Moment, chosen, is_tidy, once, tried, unanswered};
use super::stage::{Asked, Calls, Stage, Who, end, mend, mends, plan};
use super::town::{Left, Town, payload};

#[test]
fn a_request_becomes_a_merged_changeset() {
    let town = Town::new();
    let id = town.asked();
    assert_eq!(git(&town.project, &["status", "--porcelain"]), "");
    let before = git(&town.project, &["rev-parse", "main"]);
    assert_eq!(
        town.count("step.started"),
        0,
        "nothing is done before approval"
    );
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(0);
    assert_eq!(git(&town.project, &["rev-parse", "main"]), before);
    assert_eq!(git(&town.project, &["status", "--porcelain"]), "");
    let branches = git(&town.project, &["branch", "--format=%(refname:short)"]);
    let short: String = id.chars().take(8).collect();
    assert!(
        branches.contains(&format!("fix/mend-add-{short}")),
        "{branches}"
    );
    town.artel(["changeset", "approve", &id, "--json"])
        .run()
        .expect(0);
    let played = town.artel(["replay", &id]).run().expect(0);
    assert!(played.out.contains("as recorded"), "{}", played.out);
    let left = town.left();
    assert_eq!(left.status, "");
    assert_eq!(left.files["NOTES.md"], b"add adds\n");
    assert!(String::from_utf8_lossy(&left.files["calc.py"]).contains("a + b"));
    let messages = git(&town.project, &["log", "--format=%B", "main"]);
    assert_eq!(
        messages.matches(&format!("Trace-Id: {id}")).count(),
        3,
        "{messages}"
    );
    let parents = git(&town.project, &["log", "-1", "--format=%P", "main"]);
    assert_eq!(parents.split_whitespace().count(), 2, "a merge of its own");
    let report = town.artel(["report", "show", &short]).run().expect(0);
    let stat = git(&town.project, &["diff", "--shortstat", "main^1", "main"]);
    let number = |word: &str| {
        stat.split(',')
            .find(|it| it.contains(word))
            .map(|it| it.trim().split(' ').next().unwrap().to_owned())
    };
    let text = &report.out;
    assert!(
        text.contains(&format!("Files changed: {}", number("file").unwrap())),
        "{text}"
    );
    assert!(
        text.contains(&format!("Insertions: {}", number("insertion").unwrap())),
        "{text}"
    );
}

/// One command of the story, and what comes before it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    Ask,
    Approve,
    Merge,
}

impl Act {
    pub(super) fn command(self, town: &Town) -> Command {
        match self {
            Self::Ask => town.ask().command(),
            Self::Approve => {
                let id = town.asked();
                town.artel(["plan", "approve", &id, "--json"]).command()
            }
            Self::Merge => {
                let id = town.asked();
                town.artel(["plan", "approve", &id, "--json"])
                    .run()
                    .expect(0);
                town.artel(["changeset", "approve", &id, "--json"])
                    .command()
            }
        }
    }
}

#[test]
fn proof_story_killed_at_every_append_it_ends_the_same() {
    let whole = Town::new();
    let mut points = Vec::new();
    for act in [Act::Ask, Act::Approve, Act::Merge] {
        let town = Town::new();
        let of_act = Moment::points(&town, act.command(&town), 0);
        points.extend(of_act.into_iter().map(|(moment, nth)| (act, moment, nth)));
    }
    whole.to_the_end();
    let expected: Left = whole.left();
    assert!(once(&whole).is_empty());
    is_tidy(&whole);
    assert!(points.len() > 180, "{}", points.len());

    let all = points.len();
    let chosen = chosen(&points, all as u64 / 12, "killed_story");
    let tried = tried(chosen, |(act, moment, nth)| {
        let town = Town::new();
        let is_killed = moment.kill(&town, act.command(&town), 0, nth);
        let at = format!("killed {moment:?} at append {nth} of {act:?}");
        let in_flight = unanswered(&town);
        assert!(in_flight.len() <= 1, "one conversation at a time: {at}");
        town.to_the_end();
        assert_eq!(town.left(), expected, "{at}");
        assert_eq!(once(&town), in_flight, "{at}");
        is_tidy(&town);
        let request = town.request().unwrap();
        let file = request["path"].as_str().unwrap();
        assert!(town.house.workshop.join(file).exists(), "{file}: {at}");
        town.house.ok(["journal", "verify"]);
        (is_killed, in_flight.len())
    });
    let kills = tried.iter().filter(|(is_killed, _)| *is_killed).count();
    let again: usize = tried.iter().map(|(_, again)| again).sum();
    figure(&format!(
        "kills of a whole story | {kills} of {all} points | all end the same | at most 1 reply \
         asked for again at a kill, {again} in all"
    ));
}

#[test]
fn what_people_change_meanwhile_stays_theirs() {
    let town = Town::new();
    let id = town.asked();
    std::fs::write(town.project.join("mine.txt"), "mine\n").unwrap();
    std::fs::write(town.project.join("test_calc.py"), "# mine\n").unwrap();
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(0);
    assert_eq!(
        std::fs::read(town.project.join("mine.txt")).unwrap(),
        b"mine\n"
    );
    assert_eq!(
        std::fs::read(town.project.join("test_calc.py")).unwrap(),
        b"# mine\n"
    );
    let head = git(&town.project, &["rev-parse", "main"]);
    let refused = town.artel(["changeset", "approve", &id]).run().expect(3);
    assert!(refused.err.contains("test_calc.py"), "{}", refused.err);
    assert_eq!(git(&town.project, &["rev-parse", "main"]), head);
    assert_eq!(
        std::fs::read(town.project.join("test_calc.py")).unwrap(),
        b"# mine\n"
    );
    git(&town.project, &["checkout", "-q", "test_calc.py"]);
    town.artel(["changeset", "approve", &id]).run().expect(0);
    assert_eq!(
        std::fs::read(town.project.join("mine.txt")).unwrap(),
        b"mine\n"
    );
}

/// A verifier that believes everything, and looks at nothing.
const FOOLED: &str = r##"
rules:
  - expect: { says: Plan this request }
    call:
      - submit_plan:
          title: Mend add
          kind: fix
          overview: add adds.
          steps:
            - { id: mend, title: Mend add, role: engineer, work: Make add in calc.py add., check: It adds., verify: evaluator, scope: { paths: [calc.py] } }
      - finish: { answer: planned }
  - expect: { tools: [propose_change] }
    call: { finish: { answer: "All done, every test passes." } }
  - expect: { tools: [verdict] }
    call:
      - verdict: { verdict: pass, evidence: ["all good"] }
      - finish: { answer: all good }
  - expect: { tools: [advice] }
    call:
      - advice: { fault: code, why: "the work is not done" }
      - finish: { answer: advised }
"##;

#[test]
fn a_verifier_that_is_fooled_gets_nothing_through() {
    let town = Town::saying(FOOLED);
    let id = town.asked();
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(3);
    assert_eq!(town.count("step.passed"), 0);
    assert_eq!(
        town.count("step.failed"),
        3,
        "three attempts, then the person"
    );
    let waiting = town.artel(["waiting", "--json"]).run().expect(0);
    assert!(waiting.out.contains("take-over"), "{}", waiting.out);
    assert_eq!(
        git(&town.project, &["branch", "--format=%(refname:short)"]),
        "main"
    );
}

/// The work is real, and so is its test: what the runtime checks passes, and only the verifier is
/// left to be fooled.
fn fooled_by_good_work(asked: &Asked, first: &Calls) -> Calls {
    let all_good = json!({ "verdict": "pass", "evidence": ["all good"] });
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => mends(asked),
        _ if asked.turn == 0 && !first.is_empty() => first.clone(),
        _ => vec![("verdict", all_good), end("all good")],
    }
}

#[test]
fn a_verifier_that_is_fooled_by_good_work_is_asked_and_not_believed() {
    let looks = vec![("read", json!({ "path": "calc.py" }))];
    for (first, why) in [
        (Vec::new(), "you have looked at nothing"),
        (looks, "no `evidence` names what you looked at yourself"),
    ] {
        let stage = Stage::new(move |asked| fooled_by_good_work(asked, &first));
        let id = stage.town.asked();
        stage.approve(&id, 3);
        let checked = stage.told("step.checked");
        assert_eq!(checked.len(), 3);
        assert!(
            checked.iter().all(|it| it["passed"] == true),
            "the runtime has nothing against it: {checked:#?}"
        );
        let tried = stage.told("tool.finished");
        let tried: Vec<_> = tried.iter().filter(|it| it["tool"] == "verdict").collect();
        assert_eq!(tried.len(), 3, "it is asked in each attempt: {tried:#?}");
        for tried in tried {
            let seen = tried["observation"].as_str().unwrap();
            assert!(seen.contains("not taken") && seen.contains(why), "{seen}");
        }
        let judged = stage.told("step.judged");
        assert_eq!(judged.len(), 3);
        for judged in judged {
            assert_eq!(judged["by"], "evaluator");
            assert_eq!(judged["passed"], false, "{judged:#}");
            let said = judged["feedback"].as_str().unwrap();
            assert!(said.contains("no verdict was handed in"), "{said}");
        }
        let town = &stage.town;
        assert_eq!(town.count("step.failed"), 3);
        assert_eq!(town.count("step.passed"), 0);
        let waiting = town.artel(["waiting", "--json"]).run().expect(0).json();
        let choices = waiting[0]["choices"].to_string();
        for choice in ["more", "waive-inspector", "take-over"] {
            assert!(choices.contains(choice), "{choices}");
        }
        let branches = stage.git(&["branch", "--format=%(refname:short)"]);
        assert_eq!(branches, "main", "nothing is on a branch");
    }
}

#[test]
fn a_verifier_without_evidence_is_no_verifier() {
    let script = FOOLED.replace(
        "call: { finish: { answer: \"All done, every test passes.\" } }",
        "call:\n      - edit: { path: calc.py, old: \"a - b\", new: \"a + b\" }\n      - finish: { answer: done }",
    );
    let script = script.replace(
        "scope: { paths: [calc.py] }",
        "scope: { paths: [calc.py] }, evidence: [{ kind: file, what: calc.py }]",
    );
    let town = Town::saying(&script);
    let id = town.asked();
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(3);
    assert_eq!(town.count("step.passed"), 0);
    let judged = |event: &Value| event["kind"] == "step.judged" && payload(event)["passed"] == true;
    assert!(!town.events().iter().any(judged));
}
