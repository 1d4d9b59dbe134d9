use artel_types::plan::{PlanState, Urgency};
use artel_types::{
    ChangesetCreated, ChangesetMerged, ChangesetOrdered, ChangesetRefused, ChangesetRejected, Fact,
    PlanAdopted, PlanApproved, PlanCancelled, PlanCommented, PlanDecided, PlanDrafted, PlanEnded,
    PlanExplored, PlanFailed, PlanProposed, PlanRejected, PlanRunning, RequestCreated,
    RequestSettled,
};

use super::*;

fn run() -> RunId {
    RunId::from_random([1; 16])
}

fn asked() -> Fact {
    RequestCreated {
        words: "Add it".into(),
        title: "Add it".to_owned(),
        portal: None,
        folder: "/p".to_owned(),
        agent: "default".to_owned(),
        urgency: Urgency::Normal,
        source: "cli".to_owned(),
        file: "x".to_owned(),
        size: RequestSize::Work,
        why: "x".to_owned(),
        verify: None,
        constraints: Vec::new(),
        criteria: Vec::new(),
        skill: None,
        model: None,
    }
    .into()
}

fn explored(version: u32) -> Fact {
    PlanExplored {
        run: run(),
        version,
        why: "request".to_owned(),
    }
    .into()
}

fn drafted(version: u32) -> Fact {
    PlanDrafted {
        version,
        plan: "{}".into(),
        hash: format!("h{version}"),
        title: "t".to_owned(),
        file: "f".to_owned(),
        run: None,
    }
    .into()
}

fn approved(version: u32) -> Fact {
    PlanApproved {
        version,
        hash: format!("h{version}"),
        run: run(),
        model: None,
    }
    .into()
}

fn running(version: u32) -> Fact {
    PlanRunning {
        run: run(),
        version,
    }
    .into()
}

fn ended(state: PlanState) -> Fact {
    PlanEnded {
        run: run(),
        state,
        why: Some("w".to_owned()),
    }
    .into()
}

fn commented(text: &str) -> Fact {
    PlanCommented {
        version: 1,
        comments: vec![text.to_owned()],
        model: None,
    }
    .into()
}

fn rejected(version: u32) -> Fact {
    PlanRejected {
        version,
        reason: "no".to_owned(),
    }
    .into()
}

fn proposed() -> Fact {
    PlanProposed {
        id: "p1".to_owned(),
        step: "a".to_owned(),
        what: "x".to_owned(),
        why: "x".to_owned(),
        impact: "x".to_owned(),
        plan: "{}".into(),
        hash: "h9".to_owned(),
        blocking: true,
    }
    .into()
}

fn changeset() -> ChangesetCreated {
    ChangesetCreated {
        run: run(),
        portal: None,
        folder: "/p".to_owned(),
        branch: None,
        into: None,
        base: "b".to_owned(),
        head: "h".to_owned(),
        commits: 1,
        files: Vec::new(),
        added: 1,
        removed: 0,
        proven: true,
        complete: true,
        deferred: Vec::new(),
        patch: None,
    }
}

fn delivered() -> Fact {
    changeset().into()
}

fn unproven() -> Fact {
    let proven = false;
    ChangesetCreated {
        proven,
        ..changeset()
    }
    .into()
}

fn ordered(act: &str) -> Fact {
    ChangesetOrdered {
        act: act.to_owned(),
        into: "main".to_owned(),
        old: "a".to_owned(),
        new: "b".to_owned(),
        plan: "{}".into(),
        waiver: None,
    }
    .into()
}

fn merged(act: &str) -> Fact {
    ChangesetMerged {
        act: act.to_owned(),
        into: "main".to_owned(),
        commit: "c".to_owned(),
        files: Vec::new(),
        by_hand: None,
    }
    .into()
}

fn course(facts: &[Fact]) -> WorkState {
    let mut course = WorkState::default();
    facts.iter().for_each(|fact| course.fold(fact));
    course
}

/// One piece of work for each possible state.
fn courses() -> Vec<(&'static str, WorkState)> {
    let review = [asked(), explored(1), drafted(1)];
    let under_way = [&review[..], &[approved(1), running(1)]].concat();
    let done = [&under_way[..], &[ended(PlanState::Done), delivered()]].concat();
    let from = |start: &[Fact], more: &[Fact]| course(&[start, more].concat());
    vec![
        ("nothing", course(&[])),
        ("asked", course(&[asked()])),
        ("exploring", course(&[asked(), explored(1)])),
        ("review", course(&review)),
        ("drafting", from(&review, &[commented("c")])),
        ("approved", from(&review, &[approved(1)])),
        ("running", course(&under_way)),
        ("running+comment", from(&under_way, &[commented("c")])),
        ("running+review", from(&under_way, &[drafted(2)])),
        (
            "running+agreed",
            from(&under_way, &[drafted(2), approved(2)]),
        ),
        ("running+proposal", from(&under_way, &[proposed()])),
        (
            "no plan",
            course(&[
                asked(),
                explored(1),
                PlanFailed {
                    why: "w".to_owned(),
                    problems: vec![],
                }
                .into(),
            ]),
        ),
        ("failed", from(&under_way, &[ended(PlanState::Failed)])),
        ("rejected", from(&review, &[rejected(1)])),
        (
            "cancelled",
            from(
                &under_way,
                &[PlanCancelled {
                    reason: "r".to_owned(),
                }
                .into()],
            ),
        ),
        ("done", from(&under_way, &[ended(PlanState::Done)])),
        ("delivered", course(&done)),
        (
            "unproven",
            from(&under_way, &[ended(PlanState::Done), unproven()]),
        ),
        ("merging", from(&done, &[ordered("approve")])),
        (
            "merged",
            from(&done, &[ordered("approve"), merged("approve")]),
        ),
        (
            "undone",
            from(&done, &[merged("approve"), ordered("undo"), merged("undo")]),
        ),
        (
            "discarded",
            from(
                &done,
                &[ChangesetRejected {
                    reason: "r".to_owned(),
                    branch: None,
                    head: "h".to_owned(),
                }
                .into()],
            ),
        ),
    ]
}

const ACTS: [WorkAction<'static>; 20] = [
    WorkAction::Explore,
    WorkAction::Draft,
    WorkAction::Fail,
    WorkAction::Edit,
    WorkAction::Comment,
    WorkAction::Approve { hash: "h1" },
    WorkAction::Approve { hash: "h2" },
    WorkAction::Reject,
    WorkAction::Cancel,
    WorkAction::Run,
    WorkAction::End,
    WorkAction::Propose,
    WorkAction::Decide { proposal: "p1" },
    WorkAction::Adopt { hash: "h2" },
    WorkAction::Deliver,
    WorkAction::Merge { waiver: None },
    WorkAction::Merge { waiver: Some("w") },
    WorkAction::Discard,
    WorkAction::Undo,
    WorkAction::Redo,
];

#[test]
fn every_pair_of_state_and_act_is_decided() {
    let mut table = String::from("                  plan       ");
    for act in ACTS {
        let mark = match act {
            WorkAction::Approve { hash } | WorkAction::Adopt { hash } => hash,
            WorkAction::Merge { waiver: Some(_) } => "+w",
            _ => "",
        };
        table.push_str(&format!(" {}{mark}", act.as_str()));
    }
    for (name, course) in courses() {
        let state = course.state().map_or("-", PlanState::as_str);
        table.push_str(&format!("\n{name:17} {state:11}"));
        for act in ACTS {
            if course.may(act).is_ok() {
                let mark = match act {
                    WorkAction::Approve { hash } | WorkAction::Adopt { hash } => hash,
                    WorkAction::Merge { waiver: Some(_) } => "+w",
                    _ => "",
                };
                table.push_str(&format!(" {}{mark}", act.as_str()));
            }
        }
    }
    let table: Vec<_> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(table.join("\n"), @r#"
                      plan        explore draft fail edit comment approveh1 approveh2 reject cancel run end propose decide adopth2 deliver merge merge+w discard undo redo
    nothing           -
    asked             -           explore cancel
    exploring         exploring   explore draft fail cancel
    review            review      edit comment approveh1 reject cancel
    drafting          drafting    explore draft fail edit comment cancel
    approved          approved    edit comment cancel run end
    running           running     edit comment cancel end propose deliver
    running+comment   running     explore draft fail edit comment cancel end propose deliver
    running+review    running     edit comment approveh2 reject cancel end propose deliver
    running+agreed    running     edit comment cancel end propose adopth2 deliver
    running+proposal  running     edit comment cancel end propose decide deliver
    no plan           failed      explore comment cancel
    failed            failed      cancel run deliver
    rejected          rejected
    cancelled         cancelled   end
    done              done        deliver
    delivered         done        deliver merge merge+w discard
    unproven          done        deliver merge+w discard
    merging           done
    merged            done        undo
    undone            done        redo
    discarded         done
    "#);
}

#[test]
fn a_refusal_says_how_things_stand_and_what_can_be_done() {
    for (name, course) in courses() {
        for act in ACTS {
            let Err(refused) = course.may(act) else {
                continue;
            };
            let text = refused.to_string();
            assert!(
                !refused.why.is_empty() && !refused.instead.is_empty(),
                "{name} {text}"
            );
            if let Some(state) = course.state()
                && refused.why.starts_with("the plan is")
            {
                assert!(text.contains(&format!("`{state}`")), "{name} {text}");
            }
        }
    }
    let all = courses();
    let refused = |name: &str, act: WorkAction<'_>| {
        let (_, course) = all.iter().find(|(it, _)| *it == name).unwrap();
        course.may(act).unwrap_err().to_string()
    };
    insta::assert_snapshot!([
        refused("drafting", WorkAction::Approve { hash: "h1" }),
        refused("review", WorkAction::Approve { hash: "h0" }),
        refused("unproven", WorkAction::Merge { waiver: None }),
        refused("unproven", WorkAction::Merge { waiver: Some(" ") }),
        refused("running", WorkAction::Merge { waiver: None }),
        refused("merging", WorkAction::Undo),
        refused("running+review", WorkAction::Adopt { hash: "h2" }),
        refused("done", WorkAction::Run),
        refused("nothing", WorkAction::Approve { hash: "h1" }),
    ].join("\n"), @r"
    the plan cannot be approved: the plan is in state `drafting`; wait for the architect, edit, comment or cancel
    the plan cannot be approved: what was seen is not what stands now, version 1 with hash h1; look at it again with `artel plan show` or `artel plan diff`, then approve
    the changeset cannot be approved: its proofs do not hold on a clean checkout; reject it, or approve it with a waiver that says why
    the changeset cannot be approved: its proofs do not hold on a clean checkout; reject it, or approve it with a waiver that says why
    the changeset cannot be approved: there is no changeset, the plan is in state `running`; wait for its steps, edit, revise or cancel
    the changeset cannot be undone: the changeset is being merged; let that end first
    the version cannot be adopted: no person agreed to it; it has to be approved first
    the steps cannot be begun: the plan is in state `done`; look at its changeset, or ask for something else
    the plan cannot be approved: there is no request; ask for something first
    ");
}

#[test]
fn two_revisions_keep_all_comments() {
    let start = [
        asked(),
        explored(1),
        drafted(1),
        commented("a"),
        commented("b"),
    ];
    let course = course(&[&start[..], &[explored(2), drafted(2)]].concat());
    let said: Vec<&str> = course
        .comments()
        .iter()
        .map(|comment| comment.text.as_str())
        .collect();
    assert_eq!(said, ["a", "b"]);
    assert_eq!(
        (course.next_version(), course.in_review().unwrap().number),
        (3, 2)
    );
}

#[test]
fn a_running_plan_goes_on_by_the_version_that_was_agreed_to() {
    let mut course = course(&[asked(), explored(1), drafted(1), approved(1), running(1)]);
    course.fold(&commented("more"));
    assert!(course.is_awaiting_architect());
    course.fold(&explored(2));
    course.fold(&drafted(2));
    assert_eq!(course.state(), Some(PlanState::Running));
    assert_eq!(course.approved().unwrap().version.number, 1);
    assert_eq!(course.in_review().unwrap().number, 2);
    let turned_down = {
        let mut course = course.clone();
        course.fold(&rejected(2));
        course
    };
    assert_eq!(
        (turned_down.state(), turned_down.in_review()),
        (Some(PlanState::Running), None)
    );
    course.fold(&approved(2));
    assert!(!course.approved().unwrap().is_adopted);
    let adopted = PlanAdopted {
        version: 2,
        plan: "{}".into(),
        hash: "h2".to_owned(),
    };
    course.fold(&adopted.into());
    assert!(course.approved().unwrap().is_adopted && course.in_review().is_none());
    assert_eq!(course.run(), Some(run()));
}

#[test]
fn a_proposal_is_decided_once() {
    let mut course = course(&[
        asked(),
        explored(1),
        drafted(1),
        approved(1),
        running(1),
        proposed(),
    ]);
    assert!(course.proposals()["p1"].is_blocking);
    let decided = |version| PlanDecided {
        id: "p1".to_owned(),
        reason: "r".to_owned(),
        version,
    };
    let mut turned_down = course.clone();
    turned_down.fold(&decided(None).into());
    assert_eq!(turned_down.approved().unwrap().version.number, 1);
    course.fold(&decided(Some(2)).into());
    assert!(course.may(WorkAction::Decide { proposal: "p1" }).is_err());
    assert_eq!(course.may(WorkAction::Adopt { hash: "h9" }), Ok(()));
}

#[test]
fn a_plan_that_could_not_be_written_anew_is_still_there() {
    let failed = PlanFailed {
        why: "no answer".to_owned(),
        problems: Vec::new(),
    };
    let start = [
        asked(),
        explored(1),
        drafted(1),
        commented("c"),
        explored(2),
        failed.into(),
    ];
    let course = course(&start);
    assert_eq!(
        (course.state(), course.why()),
        (Some(PlanState::Review), Some("no answer"))
    );
}

#[test]
fn a_request_that_was_answered_has_no_plan() {
    let settled = RequestSettled {
        run: run(),
        state: "answered".to_owned(),
    };
    let course = course(&[asked(), settled.into()]);
    let refused = course.may(WorkAction::Explore).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no plan can be begun: the request is answered; ask again"
    );
}

#[test]
fn an_order_that_could_not_be_carried_out_leaves_the_changeset_as_it_was() {
    let done = [asked(), drafted(1), approved(1), running(1), delivered()];
    let refused = |act: &str| {
        let why = "the files differ".to_owned();
        let (act, files) = (act.to_owned(), Vec::new());
        Fact::from(ChangesetRefused { act, why, files })
    };
    let state = |more: &[Fact]| {
        let course = course(&[&done[..], more].concat());
        course.changeset().map(|changeset| changeset.state)
    };
    let merged_once = [ordered("approve"), merged("approve")];
    let undone = [&merged_once[..], &[ordered("undo"), merged("undo")]].concat();
    let then = |past: &[Fact], act: &str| state(&[past, &[ordered(act), refused(act)]].concat());
    assert_eq!(then(&[], "approve"), Some(ChangesetState::Open));
    assert_eq!(then(&merged_once, "undo"), Some(ChangesetState::Merged));
    assert_eq!(then(&undone, "redo"), Some(ChangesetState::Undone));
}
