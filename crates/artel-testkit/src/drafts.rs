//! Events to append.

use artel_types::plan::{Plan, PlanStep, StepScope, StepVerification};
use artel_types::{
    Actor, ActorSurface, EventDraft, EventOutcome, NoteAdded, RecordedText, RunFinished, RunId,
    RunStarted, StreamName, TraceId,
};

use crate::Random;

/// Returns a person's remark in the given stream.
pub fn note(stream: &str, text: &str) -> EventDraft {
    let trace = TraceId::from_random([7; 16]);
    let stream = StreamName::new(stream).expect("a plain stream name");
    EventDraft::new(
        stream,
        trace,
        Actor::human("ada@example.org", ActorSurface::Cli),
        NoteAdded { text: text.into() },
    )
}

/// Extracts the text of a remark from its payload.
pub fn note_text(payload: &str) -> String {
    let note: NoteAdded = serde_json::from_str(payload).expect("the payload of a remark");
    match note.text {
        RecordedText::Inline(text) => text,
        RecordedText::Kept(kept) => kept.blob.to_string(),
    }
}

/// Returns a plan with a single step.
pub fn plan_of_one_step() -> Plan {
    let step = PlanStep {
        id: "round".to_owned(),
        title: "Round".to_owned(),
        role: "engineer".to_owned(),
        work: "Round the prices.".to_owned(),
        check: "They are round.".to_owned(),
        after: Vec::new(),
        verify: StepVerification::Evaluator,
        scope: StepScope::default(),
        evidence: Vec::new(),
        gives: Vec::new(),
        uses: Vec::new(),
        tokens: None,
        priority: None,
    };
    Plan {
        title: "Round the prices".to_owned(),
        overview: "Prices are rounded.".to_owned(),
        steps: vec![step],
        ..Plan::default()
    }
}

/// Returns a fresh trace id.
pub fn random_trace(random: &mut Random) -> TraceId {
    TraceId::from_random(random.bytes())
}

/// Returns the events of a complete run, with `notes` remarks in between.
pub fn run_events(run: RunId, trace: TraceId, notes: usize) -> Vec<EventDraft> {
    let draft = |fact: artel_types::Fact| {
        EventDraft::new(StreamName::run(run), trace, Actor::agent("engineer"), fact).in_run(run)
    };
    let mut drafts = vec![draft(RunStarted::new(run, "a run").into())];
    for number in 0..notes {
        let text = format!("remark {number}").as_str().into();
        drafts.push(draft(NoteAdded { text }.into()).on(format!("src/file{number}.rs")));
    }
    let end = RunFinished::new(run, "done");
    drafts.push(draft(end.into()).ending(EventOutcome::Done));
    drafts
}
