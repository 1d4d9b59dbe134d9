//! A question that is answered in two places at once: the first answer on record counts.

use std::sync::{Arc, Mutex};

use artel_engine::{ConductorOutcome, PlanConductor};
use artel_journal::{EventFilter, EventQuery, Journal};
use artel_rules::conduct::{PlanRunRules, StepFailurePolicy};
use artel_tools::AskablePerson;
use artel_types::plan::PlanState;
use artel_types::{Fact, RunAnswered};

use crate::script::Script;
use crate::stage::{Manner, Piece, Stage};

/// Sits at the terminal, and answers a moment after somebody elsewhere did.
struct Second {
    piece: Piece,
    journal: Journal,
    /// What they are told about their question.
    told: Mutex<Vec<String>>,
}

impl AskablePerson for Second {
    fn answer(&self, _: &str, _: &[String]) -> Option<String> {
        let first = RunAnswered {
            question: "baseline".to_owned(),
            answer: "make check".to_owned(),
        };
        self.journal.append(self.piece.said(first)).wait().unwrap();
        Some("make test".to_owned())
    }

    fn settled(&self, _: &str, why: &str) {
        self.told.lock().unwrap().push(why.to_owned());
    }
}

#[test]
fn of_two_answers_to_a_question_the_first_counts_and_is_the_only_one_on_record() {
    let stage = Stage::new();
    for seed in 0..12 {
        let rules = PlanRunRules {
            at_once: 2,
            failure: StepFailurePolicy::Continue,
        };
        let mut script = Script::plain(2);
        script.has_baseline = false;
        let piece = Piece::new(&stage, script, seed, rules);
        let journal = stage.scratch.open();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        let conduct = runtime.block_on(async {
            let fence = piece.lease(&journal).await.unwrap();
            let chronicle = piece.chronicle(&journal, &fence);
            let person = Arc::new(Second {
                piece: piece.clone(),
                journal: journal.clone(),
                told: Mutex::default(),
            });
            let conductor = PlanConductor {
                person: Some(person),
                ..piece.conductor(&chronicle, &Manner::peaceful()).await
            };
            match conductor.conduct().await.unwrap() {
                ConductorOutcome::Over(conduct) => conduct,
                ConductorOutcome::Left(left) => panic!("{left:?}"),
            }
        });
        assert_eq!(conduct.outcome(), (PlanState::Done, None));
        let filter = EventFilter {
            run: Some(piece.run.to_string()),
            kind: Some("run.answered".to_owned()),
            ..EventFilter::default()
        };
        let records = journal.reader().records(&EventQuery::of(filter)).unwrap();
        let answers: Vec<_> = records
            .iter()
            .map(|record| match record.event().unwrap().fact {
                Fact::RunAnswered(it) => it.answer,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(answers, ["make check"]);
        let begun = piece.world.seen().begun.clone();
        assert!(
            begun.contains(&"baseline/make check".to_owned()),
            "{begun:?}"
        );
        assert!(!begun.contains(&"baseline/make test".to_owned()));
    }
}
