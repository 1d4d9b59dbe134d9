use std::collections::BTreeMap;

use artel_types::plan::{
    PlannedFile, PlannedFileAction, Requirement, RequirementSource, StepEvidence, StepEvidenceKind,
    StepVerification,
};
use proptest::prelude::*;

use super::*;
use crate::plan::normalise;
use crate::plan::samples::{plan, plans, step};

fn sheet(plan: Plan) -> PlanDocument {
    PlanDocument {
        head: PlanFrontmatter {
            trace: TraceId::from_random([7; 16]),
            request: "request-07070707".to_owned(),
            status: PlanState::Running,
            version: 2,
            hash: "abc123".to_owned(),
            created: Some(Timestamp::from_micros(1_794_732_600_000_000)),
            agent: "architect".to_owned(),
            portal: Some("shop".to_owned()),
            tags: vec!["api".to_owned()],
            other: vec!["cssclass: wide".to_owned()],
        },
        plan,
        progress: BTreeMap::new(),
        remarks: Vec::new(),
        links: Vec::new(),
    }
}

fn rich() -> PlanDocument {
    let mut limiter = step("limiter", &[]);
    limiter.title = "Write the limiter".to_owned();
    limiter.work = "Use a bucket.\n\n## Steps\n```sh\n# build\ncargo build\n```".to_owned();
    limiter.verify = StepVerification::Tdd;
    limiter.scope.paths = vec!["src/**".to_owned(), "tests/**".to_owned()];
    limiter.scope.commands = vec!["cargo test:*".to_owned()];
    limiter.scope.network = vec!["docs.rs".to_owned()];
    limiter.scope.turns = Some(20);
    limiter.scope.cost_usd = Some(0.5);
    limiter.scope.criteria = vec![Requirement {
        text: "returns 429 (too many)".to_owned(),
        source: RequirementSource::Explicit,
    }];
    limiter.evidence = vec![
        StepEvidence {
            kind: StepEvidenceKind::Tests,
            what: String::new(),
        },
        StepEvidence {
            kind: StepEvidenceKind::Command,
            what: "cargo test".to_owned(),
        },
    ];
    limiter.gives = vec!["limit".to_owned()];
    limiter.tokens = Some(12_000);
    let mut docs = step("docs", &["limiter"]);
    docs.verify = StepVerification::None;
    docs.check = String::new();
    docs.uses = vec!["limit".to_owned()];
    let mut plan = plan(vec![limiter, docs, step("other", &["limiter"])]);
    plan.reasoning = "A bucket is simple.".to_owned();
    plan.files = vec![PlannedFile {
        path: "src/limit.rs".to_owned(),
        action: PlannedFileAction::Create,
        why: "the limiter".to_owned(),
    }];
    plan.risks = vec!["Clocks jump.\nWe use counters.".to_owned()];
    plan.questions = vec!["Which limit?".to_owned()];
    plan.references = vec!["src/main.rs".to_owned(), "[odd]".to_owned()];
    plan.warnings = vec!["Skipped big.csv (90000 tokens)".to_owned()];
    let mut sheet = sheet(plan);
    let mark = |state, why: Option<&str>| StepProgress {
        state,
        why: why.map(str::to_owned),
    };
    sheet.progress = BTreeMap::from([
        ("limiter".to_owned(), mark(StepState::Done, None)),
        ("docs".to_owned(), mark(StepState::Failed, Some("no\ntext"))),
        (
            "other".to_owned(),
            mark(StepState::Skipped, Some("step 2 failed")),
        ),
    ]);
    let at = Timestamp::from_micros(1_794_732_600_000_000);
    sheet.remarks = vec![PlanDocumentComment::signed(
        "ann",
        at,
        1,
        "Say why.\nAnd how.",
    )];
    sheet
}

#[test]
fn a_plan_looks_like_this() {
    insta::assert_snapshot!(render(&rich()), @r#"
    ---
    trace_id: "07070707-0707-4707-8707-070707070707"
    request_id: request-07070707
    status: running
    kind: feat
    version: 2
    hash: "abc123"
    created: 2026-11-15T08:50:00.000000Z
    agent: architect
    portal: shop
    tags: [api]
    cssclass: wide
    ---

    # Plan: A plan

    ## Overview

    Things get better.

    ## Reasoning

    A bucket is simple.

    ## Files to Modify

    - `src/limit.rs` (create): the limiter

    ## Steps

    **Progress: 1 of 3 steps**

    ### [x] Step 1: Write the limiter

    - id: limiter
    - role: engineer
    - verify: tdd
    - paths: `src/**`, `tests/**`
    - commands: `cargo test:*`
    - network: `docs.rs`
    - turns: 20
    - cost: 0.5
    - evidence: tests, command `cargo test`
    - gives: `limit`
    - tokens: 12000
    - criteria:
      - returns 429 (too many) (explicit)
    - layer: 1

    Work:

    Use a bucket.

    \## Steps
    ```sh
    # build
    cargo build
    ```

    Check:

    See that limiter is done.

    ### [!] Step 2: Do docs

    - id: docs
    - role: engineer
    - after: `limiter`
    - verify: none
    - uses: `limit`
    - layer: 2
    - why: failed, no text

    Work:

    Do docs well.

    ### [-] Step 3: Do other

    - id: other
    - role: engineer
    - after: `limiter`
    - verify: evaluator
    - layer: 2
    - why: skipped, step 2 failed

    Work:

    Do other well.

    Check:

    See that other is done.

    ## Risks

    - Clocks jump.
      We use counters.

    ## Open Questions

    - Which limit?

    ## Context References

    - [[src/main.rs]]
    - `[odd]`

    ## Context Warnings

    - Skipped big.csv (90000 tokens)

    ## Required Permissions

    - Step 1 may change `src/**`, `tests/**`; run `cargo test:*`; reach `docs.rs`; cost up to 0.5 dollars
    - Step 2 may change any file of the project; run any command that policy allows; reach no host
    - Step 3 may change any file of the project; run any command that policy allows; reach no host

    ## Review Comments

    - **ann on version 1, 2026-11-15T08:50:00.000000Z**: Say why.
      And how.

    ## Next Steps

    - See how far it is: `artel plan show 07070707`
    - See what needs you: `artel waiting`
    - Change what is left: `artel plan edit 07070707` or `artel plan revise 07070707 --comment "…"`
    "#);
}

#[test]
fn what_people_plausibly_edit_is_read() {
    let text = render(&rich());
    let read = |text: &str| parse(text).unwrap();
    let reordered = {
        let start = text.find("### [!] Step 2").unwrap();
        let end = text.find("### [-] Step 3").unwrap();
        let next = text.find("## Risks").unwrap();
        let swapped = [
            &text[..start],
            &text[end..next],
            &text[start..end],
            &text[next..],
        ];
        swapped.concat()
    };
    let ids = |parsed: &ParsedPlanDocument| -> Vec<String> {
        parsed
            .plan
            .steps
            .iter()
            .map(|step| step.id.clone())
            .collect()
    };
    assert_eq!(ids(&read(&reordered)), ["limiter", "other", "docs"]);

    let step = "### Add a second test!\n\nWork: Test it.\n\n### Add a second test!\n* After: limiter, docs\n- cost: $0.25\n- criteria:\n  - it is quick\n\nWork:\nTest it again.\nCheck: Run it.\n\n## Risks";
    let added = read(&text.replace("## Risks", step));
    assert_eq!(
        ids(&added),
        [
            "limiter",
            "docs",
            "other",
            "add-a-second-test",
            "add-a-second-test-2"
        ]
    );
    let last = added.plan.steps.last().unwrap();
    assert_eq!(last.after, ["limiter", "docs"]);
    assert_eq!((&*last.work, &*last.check), ("Test it again.", "Run it."));
    assert_eq!(
        (last.scope.cost_usd, last.scope.criteria[0].source),
        (Some(0.25), RequirementSource::Answered)
    );

    let windows = read(&text.replace('\n', "\r\n"));
    assert_eq!(windows.plan, rich().plan);
    let approved = read(&text.replace("status: running", "status: approved  # by hand"));
    assert_eq!(approved.head.status, PlanState::Approved);
    let said = read(&text.replace("## Next Steps", "- and mine\n\n## Next Steps"));
    assert_eq!(
        said.remarks.last().unwrap(),
        &PlanDocumentComment {
            by: None,
            text: "and mine".to_owned()
        }
    );
    let bare = read(&text.replace(
        "- `src/limit.rs` (create): the limiter",
        "- src/limit.rs: x",
    ));
    assert_eq!(bare.plan.files[0].path, "src/limit.rs");
    assert_eq!(bare.plan.files[0].action, PlannedFileAction::Modify);
}

#[test]
fn what_cannot_be_read_names_its_line() {
    let text = render(&rich());
    let table = [
        ("---\ntrace_id", "trace_id", "no frontmatter found"),
        (
            "status: running",
            "status: banana",
            "exploring, drafting, review",
        ),
        ("version: 2\n", "", "`version` is missing"),
        ("version: 2", "version: two", "a whole number"),
        ("tags: [api]", "tags: api", "`[a, b]`"),
        ("# Plan: A plan", "", "`# Plan: title`"),
        ("## Overview", "## Overwiev", "Overview, Reasoning"),
        ("## Risks", "## Steps", "a second time"),
        (
            "- role: engineer",
            "- rolle: engineer",
            "expected one of the fields id, role",
        ),
        ("- role: engineer", "some words", "- role: engineer"),
        (
            "- verify: tdd",
            "- verify: perhaps",
            "`none`, `evaluator` or `tdd`",
        ),
        ("- turns: 20", "- turns: many", "a whole number"),
        ("- cost: 0.5", "- cost: cheap", "0.50"),
        (
            "- evidence: tests",
            "- evidence: proof",
            "tests, red, command, file",
        ),
        ("`src/**`, `tests", "`src/** `tests", "comma"),
        ("Work:\n\nUse", "\nUse", "this is no field"),
        ("Work:\n\nUse", "Work: a\nWork: b", "a second time"),
        ("- Which limit?", "Which limit?", "`- ` before each entry"),
        ("(create)", "(invent)", "create, modify or delete"),
        ("**Progress", "Words\n**Progress", "Step 1"),
    ];
    for (old, new, expected) in table {
        assert!(text.contains(old), "{old}");
        let problems = parse(&text.replacen(old, new, 1)).unwrap_err();
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let said = said.join("\n");
        assert!(
            said.contains(expected) && said.contains("line "),
            "{new}: {said}"
        );
    }
    let problems = parse(&text.replace("- turns: 20", "- turns: many")).unwrap_err();
    let line = text.lines().position(|line| line == "- turns: 20").unwrap() + 1;
    assert_eq!(problems[0].place, crate::plan::PlanProblemPlace::Line(line));
}

#[test]
fn every_state_says_what_to_do_next() {
    for state in PlanState::ALL {
        let mut sheet = rich();
        sheet.head.status = *state;
        let text = render(&sheet);
        let (_, next) = text.split_once("## Next Steps\n\n- ").unwrap();
        assert!(!next.contains("TRACE"), "{next}");
        assert_eq!(parse(&text).unwrap().head, sheet.head);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_plan_reads_back_as_it_is(plan in plans()) {
        let plan = normalise(plan);
        let mut sheet = rich();
        sheet.plan = plan.clone();
        let text = render(&sheet);
        let parsed = match parse(&text) {
            Ok(parsed) => parsed,
            Err(problems) => return Err(TestCaseError::fail(format!("{problems:?}\n{text}"))),
        };
        prop_assert_eq!(&parsed.plan, &plan, "{}", text);
        prop_assert_eq!(parsed.head, sheet.head);
        prop_assert_eq!(parsed.remarks, sheet.remarks);
    }

    #[test]
    fn putting_right_once_is_enough(plan in plans()) {
        let once = normalise(plan);
        prop_assert_eq!(normalise(once.clone()), once);
    }

    #[test]
    fn any_file_is_judged(text in "(?s).{0,200}", lines in "([#`*:-]{0,3} ?[a-zA-Z]{0,8}:?\n){0,30}") {
        let _judged = parse(&text);
        let head = "---\ntrace_id: \"07070707-0707-4707-8707-070707070707\"\nstatus: review\nversion: 1\n---\n# Plan: x\n## Overview\n## Steps\n";
        let _judged = parse(&format!("{head}{lines}"));
    }
}
