//! Plans for tests: plain ones, and arbitrary ones with texts that look like structure.

use artel_types::plan::{
    CommitType, Plan, PlanStep, PlannedFile, PlannedFileAction, Requirement, RequirementSource,
    StepEvidence, StepEvidenceKind, StepScope, StepVerification, Urgency,
};
use proptest::prelude::*;

/// A step without problems.
pub(super) fn step(id: &str, after: &[&str]) -> PlanStep {
    PlanStep {
        id: id.to_owned(),
        title: format!("Do {id}"),
        role: "engineer".to_owned(),
        work: format!("Do {id} well."),
        check: format!("See that {id} is done."),
        after: after.iter().map(|&id| id.to_owned()).collect(),
        verify: StepVerification::Evaluator,
        scope: StepScope::default(),
        evidence: Vec::new(),
        gives: Vec::new(),
        uses: Vec::new(),
        tokens: None,
        priority: None,
    }
}

/// A plan without problems.
pub(super) fn plan(steps: Vec<PlanStep>) -> Plan {
    Plan {
        title: "A plan".to_owned(),
        overview: "Things get better.".to_owned(),
        steps,
        ..Plan::default()
    }
}

/// Pieces that a reader could mistake for structure.
const PIECES: &[&str] = &[
    "## Steps",
    "### [x] Step 2: no",
    "Work:",
    "Check: this",
    "\\## Risks",
    "\\\\Work:",
    "---",
    "- id: x",
    "```",
    "`",
    "``",
    " ",
    "\n",
    "\n\n",
    "    deep",
    "- ",
    "* star",
    "# Plan: x",
    "##",
    "###",
    "#### four",
    "**Progress: 1 of 2 steps**",
    "[[link]]",
    "]]",
    "(explicit)",
    " (inferred)",
    ": ",
    ",",
    "\r\n",
    "é→漢",
    "x",
    "\t",
    "|",
    "\u{2028}",
    "  - inner",
    "(modify)",
    "\\",
];

/// Generates texts from such pieces and arbitrary letters.
fn hostile() -> impl Strategy<Value = String> {
    let piece = (0..PIECES.len() + 6, any::<char>()).prop_map(|(at, letter)| {
        PIECES
            .get(at)
            .map_or_else(|| letter.to_string(), |piece| (*piece).to_owned())
    });
    proptest::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat())
}

fn texts(most: usize) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(hostile(), 0..=most)
}

fn word<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    proptest::sample::select(all)
}

fn scopes() -> impl Strategy<Value = StepScope> {
    let claim = (hostile(), word(RequirementSource::ALL))
        .prop_map(|(text, source)| Requirement { text, source });
    let lists = (texts(3), texts(3), texts(2), texts(2), texts(2));
    let numbers = (any::<Option<u32>>(), proptest::option::of(0.0..1e6f64));
    (lists, numbers, proptest::collection::vec(claim, 0..3)).prop_map(
        |((paths, commands, network, tools, secrets), (turns, cost_usd), criteria)| StepScope {
            paths,
            commands,
            network,
            tools,
            secrets,
            turns,
            cost_usd,
            criteria,
        },
    )
}

fn steps() -> impl Strategy<Value = PlanStep> {
    let kinds = word(StepEvidenceKind::ALL);
    let evidence = (kinds, hostile()).prop_map(|(kind, what)| StepEvidence { kind, what });
    let words = (hostile(), hostile(), hostile(), hostile(), hostile());
    let lists = (
        texts(2),
        texts(2),
        texts(2),
        proptest::collection::vec(evidence, 0..3),
    );
    (
        words,
        lists,
        scopes(),
        word(StepVerification::ALL),
        (
            any::<Option<u64>>(),
            proptest::option::of(word(Urgency::ALL)),
        ),
    )
        .prop_map(
            |(words, (after, gives, uses, evidence), scope, verify, (tokens, priority))| {
                let (id, title, role, work, check) = words;
                PlanStep {
                    id,
                    title,
                    role,
                    work,
                    check,
                    after,
                    verify,
                    scope,
                    evidence,
                    gives,
                    uses,
                    tokens,
                    priority,
                }
            },
        )
}

/// Generates arbitrary plans, most of them useless.
pub(super) fn plans() -> impl Strategy<Value = Plan> {
    let file = (hostile(), word(PlannedFileAction::ALL), hostile());
    let file = file.prop_map(|(path, action, why)| PlannedFile { path, action, why });
    let words = (hostile(), hostile(), hostile(), word(CommitType::ALL));
    let lists = (texts(3), texts(3), texts(3), texts(3));
    let files = proptest::collection::vec(file, 0..3);
    (
        words,
        lists,
        files,
        proptest::collection::vec(steps(), 0..4),
    )
        .prop_map(
            |((title, overview, reasoning, kind), lists, files, steps)| {
                let (risks, questions, references, warnings) = lists;
                Plan {
                    title,
                    kind,
                    overview,
                    reasoning,
                    files,
                    steps,
                    risks,
                    questions,
                    references,
                    warnings,
                }
            },
        )
}
