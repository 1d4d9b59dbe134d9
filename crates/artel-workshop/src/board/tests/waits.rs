//! A table of what waits for a person, for each kind of thing that can.

use artel_types::plan::{PlanState, Urgency};
use artel_types::{
    ChangesetMerged, ChangesetRejected, PlanCancelled, PlanCommented, PlanExplored, PlanFailed,
    RequestSettled, RunAnswered, RunAsked, RunSteered,
};

use super::facts::*;
use super::*;

const TRACE: u8 = 1;
const RUN: u8 = 2;

/// Checks the kind, the text and the time of each item that waits.
#[track_caller]
fn check(build: impl Fn(&mut Tape), drivers: DriverProcesses, expected: &[(&str, &str, i64)]) {
    let mut tape = Tape::default();
    tape.work(trace_id(TRACE), request("Make it faster", Urgency::Normal));
    build(&mut tape);
    let found = tape.board().waiting(&drivers);
    // Earlier results are discarded when something happens.
    let mut watched = WorkshopIndex::default();
    for record in &tape.records {
        watched.take(record);
        drop(watched.waiting(&drivers));
    }
    assert_eq!(watched.waiting(&drivers), found);
    let found: Vec<_> = found
        .iter()
        .map(|it| (it.kind.as_str(), it.text.as_str(), it.since))
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|(kind, text, seq)| (*kind, *text, moment(*seq)))
        .collect();
    assert_eq!(found, expected);
}

fn asked(question: &str) -> RunAsked {
    RunAsked {
        question: question.to_owned(),
        text: format!("Which {question}?"),
        choices: vec!["a".to_owned(), "b".to_owned()],
        call: None,
        suggested: None,
    }
}

/// Adds a plan whose steps are being carried out.
fn going(tape: &mut Tape) {
    let (trace, run) = (trace_id(TRACE), run_id(RUN));
    tape.work(trace, drafted(1, "Cache the index"));
    tape.work(trace, approved(1, run));
    tape.run(run, trace, started(run, "Cache the index"));
    tape.work(trace, running(run, 1));
}

#[test]
fn a_request_that_nobody_took_up() {
    let text = "nobody has taken it up";
    check(|_| {}, nobody(), &[("left", text, 1)]);
    check(|_| {}, nobody().with_work(trace_id(TRACE)), &[]);
    let settled = |tape: &mut Tape| {
        tape.work(
            trace_id(TRACE),
            RequestSettled {
                run: run_id(RUN),
                state: "answered".to_owned(),
            },
        );
    };
    check(settled, nobody(), &[]);
}

#[test]
fn a_plan_that_is_being_written() {
    let explored = |tape: &mut Tape| {
        let (trace, run) = (trace_id(TRACE), run_id(RUN));
        tape.work(
            trace,
            PlanExplored {
                run,
                version: 1,
                why: "request".to_owned(),
            },
        );
        tape.run(run, trace, started(run, "Plan it"));
    };
    check(
        explored,
        nobody(),
        &[("left", "left while it was planned", 2)],
    );
    check(explored, nobody().with_run(run_id(RUN)), &[]);
}

#[test]
fn a_plan_to_decide_about() {
    let text = "version 1 is in review";
    let draft = |tape: &mut Tape| tape.work(trace_id(TRACE), drafted(1, "Cache the index"));
    check(draft, nobody(), &[("plan", text, 2)]);
    let commented = |tape: &mut Tape| {
        draft(tape);
        tape.work(
            trace_id(TRACE),
            PlanCommented {
                version: 1,
                comments: vec!["smaller".to_owned()],
                model: None,
            },
        );
    };
    check(
        commented,
        nobody(),
        &[("left", "left while it was planned", 3)],
    );
    let agreed = |tape: &mut Tape| {
        draft(tape);
        tape.work(trace_id(TRACE), approved(1, run_id(RUN)));
    };
    check(agreed, nobody(), &[("left", "approved and not begun", 3)]);
}

#[test]
fn a_plan_beside_the_one_that_is_being_done() {
    let beside = |tape: &mut Tape| {
        going(tape);
        tape.work(trace_id(TRACE), drafted(2, "Cache more"));
    };
    let text = "version 2 is in review beside the one that is being done";
    check(beside, nobody().with_run(run_id(RUN)), &[("plan", text, 6)]);
    check(going, nobody(), &[("left", "left on its way", 5)]);
    check(going, nobody().with_run(run_id(RUN)), &[]);
}

#[test]
fn what_a_person_stopped_is_no_work_that_was_left() {
    let steered = |act: &str| RunSteered {
        act: act.to_owned(),
        text: String::new(),
    };
    let paused = |tape: &mut Tape| {
        going(tape);
        tape.run(run_id(RUN), trace_id(TRACE), steered("pause"));
    };
    check(paused, nobody(), &[("paused", "paused by you", 5)]);
    check(paused, nobody().with_run(run_id(RUN)), &[]);
    let resumed = |tape: &mut Tape| {
        paused(tape);
        tape.run(run_id(RUN), trace_id(TRACE), steered("resume"));
    };
    check(resumed, nobody(), &[("left", "left on its way", 5)]);
}

#[test]
fn an_end_that_was_cut_short() {
    let (trace, run) = (trace_id(TRACE), run_id(RUN));
    let cut = |tape: &mut Tape| {
        going(tape);
        tape.work(trace, ended(run, PlanState::Failed));
    };
    let text = "its end was not written down whole";
    check(cut, nobody(), &[("left", text, 6)]);
    check(cut, nobody().with_run(run), &[]);
    let whole = |tape: &mut Tape| {
        cut(tape);
        tape.run(run, trace, finished(run, "failed"));
    };
    check(whole, nobody(), &[("unfinished", "the plan failed", 6)]);
}

#[test]
fn a_plan_that_failed_is_retried_taken_as_it_is_or_called_off() {
    let (trace, run) = (trace_id(TRACE), run_id(RUN));
    let failed = |tape: &mut Tape| {
        going(tape);
        tape.work(trace, ended(run, PlanState::Failed));
        tape.run(run, trace, finished(run, "failed"));
    };
    let begun = || {
        let mut tape = Tape::default();
        tape.work(trace, request("Make it faster", Urgency::Normal));
        tape
    };
    let mut tape = begun();
    failed(&mut tape);
    let short = trace.short();
    let waits = tape.board().waiting(&nobody());
    let commands = ["plan retry", "report show", "plan cancel"];
    assert_eq!(
        waits[0].commands,
        commands.map(|it| format!("artel {it} {short}"))
    );
    let called_off = |tape: &mut Tape| {
        failed(tape);
        let reason = "no need".to_owned();
        tape.work(trace, artel_types::PlanCancelled { reason });
    };
    check(called_off, nobody(), &[]);
    let with_commits = |tape: &mut Tape| {
        going(tape);
        tape.work(trace, changeset(run));
        tape.work(trace, ended(run, PlanState::Failed));
        tape.run(run, trace, finished(run, "partial"));
    };
    let mut tape = begun();
    with_commits(&mut tape);
    let waits = tape.board().waiting(&nobody());
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert!(
        waits[0]
            .text
            .starts_with("the plan failed; what passed is there: ")
    );
    assert_eq!(waits[0].commands[0], format!("artel plan retry {short}"));
}

#[test]
fn a_question_goes_before_and_is_not_left_besides() {
    let (trace, run) = (trace_id(TRACE), run_id(RUN));
    let asks = |tape: &mut Tape| {
        going(tape);
        tape.run(run, trace, asked("one"));
        tape.run(run, trace, asked("two"));
    };
    let both = [("question", "Which one?", 6), ("question", "Which two?", 7)];
    check(asks, nobody(), &both);
    let mut tape = Tape::default();
    tape.run(run, trace, started(run, "Alone"));
    tape.run(run, trace, asked("one"));
    let waits = tape.board().waiting(&nobody());
    assert_eq!(waits[0].id, run.short());
    assert_eq!(
        waits[0].commands,
        [format!("artel answer {} a|b", run.short())]
    );
    tape.run(run, trace, asked("two"));
    let waits = tape.board().waiting(&nobody());
    assert_eq!(waits[1].id, format!("{}/two", run.short()));
    let answers = |tape: &mut Tape| {
        asks(tape);
        tape.run(
            run,
            trace,
            RunAnswered {
                question: "one".to_owned(),
                answer: "a".to_owned(),
            },
        );
    };
    check(answers, nobody(), &both[1..]);
    let ends = |tape: &mut Tape| {
        asks(tape);
        tape.run(run, trace, finished(run, "cancelled"));
        tape.work(trace, ended(run, PlanState::Cancelled));
    };
    check(ends, nobody(), &[]);
}

#[test]
fn a_changeset_to_decide_about() {
    let (trace, run) = (trace_id(TRACE), run_id(RUN));
    let made = |proven: bool| {
        move |tape: &mut Tape| {
            going(tape);
            tape.run(run, trace, finished(run, "complete"));
            tape.work(trace, ended(run, PlanState::Done));
            let mut changeset = changeset(run);
            changeset.proven = proven;
            tape.work(trace, changeset);
        }
    };
    check(made(true), nobody(), &[("changeset", "0 files, +12 -3", 8)]);
    let unproven = "0 files, +12 -3, its proofs do not hold";
    check(made(false), nobody(), &[("changeset", unproven, 8)]);
    let merged = |tape: &mut Tape| {
        made(true)(tape);
        tape.work(
            trace,
            ChangesetMerged {
                act: "approve".to_owned(),
                into: "main".to_owned(),
                commit: "c".to_owned(),
                files: Vec::new(),
                by_hand: None,
            },
        );
    };
    check(merged, nobody(), &[]);
    let rejected = |tape: &mut Tape| {
        made(true)(tape);
        tape.work(
            trace,
            ChangesetRejected {
                reason: "no".to_owned(),
                branch: None,
                head: "h".to_owned(),
            },
        );
    };
    check(rejected, nobody(), &[]);
}

#[test]
fn a_request_of_which_no_plan_came() {
    let trace = trace_id(TRACE);
    let failed = |tape: &mut Tape| {
        let why = "it is not clear".to_owned();
        let problems = Vec::new();
        tape.work(trace, PlanFailed { why, problems });
    };
    check(failed, nobody(), &[("failed", "it is not clear", 2)]);
    let commented = |tape: &mut Tape| {
        failed(tape);
        let comments = vec!["only the index".to_owned()];
        tape.work(
            trace,
            PlanCommented {
                version: 0,
                comments,
                model: None,
            },
        );
    };
    let text = "left while it was planned";
    check(commented, nobody(), &[("left", text, 3)]);
    let cancelled = |tape: &mut Tape| {
        failed(tape);
        let reason = String::new();
        tape.work(trace, PlanCancelled { reason });
    };
    check(cancelled, nobody(), &[]);
}
