//! The grants that people gave to whole trees of runs, folded from the recorded answers.
//!
//! A tree is a run that nobody called, with all runs below it: the agents of a plan's run
//! with their later rounds and verifiers, called skills, and runs that took over. A yes
//! for the run holds in the whole tree, whichever of its runs asked and whichever process
//! drives it.

use std::collections::BTreeMap;

use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_tools::RunGrant;
use artel_types::{Event, EventOutcome, Fact, Failure, RunId, TraceId};

/// The grants given in some pieces of work, each with the run that asked.
#[derive(Debug, Default)]
pub struct RunFamilyGrants {
    parents: BTreeMap<RunId, Option<RunId>>,
    given: Vec<RunFamilyGrant>,
}

#[derive(Debug)]
struct RunFamilyGrant {
    seq: u64,
    run: RunId,
    grants: Vec<RunGrant>,
}

impl RunFamilyGrants {
    /// Reads the grants given in some pieces of work.
    pub fn read(
        reader: &JournalReader,
        traces: impl IntoIterator<Item = TraceId>,
    ) -> Result<Self, Failure> {
        let mut all = Self::default();
        for trace in traces {
            for kind in ["run.started", "tool.answered"] {
                let filter = EventFilter {
                    trace: Some(trace.to_string()),
                    kind: Some(kind.to_owned()),
                    ..EventFilter::default()
                };
                for record in reader.records(&EventQuery::of(filter))? {
                    all.fold(&record.event()?);
                }
            }
        }
        Ok(all)
    }

    /// Folds an event.
    pub fn fold(&mut self, event: &Event) {
        match &event.fact {
            Fact::RunStarted(started) => {
                self.parents.insert(started.id, started.parent);
            }
            Fact::ToolAnswered(answered) if event.outcome == Some(EventOutcome::Allowed) => {
                let grants = RunGrant::of(answered);
                if let Some(run) = event.run.filter(|_| !grants.is_empty()) {
                    let seq = event.seq;
                    self.given.push(RunFamilyGrant { seq, run, grants });
                }
            }
            _ => {}
        }
    }

    /// Returns the grants that apply to a run at a place in the journal: those given in
    /// its tree before that place.
    pub fn of(&self, run: RunId, before: u64) -> Vec<RunGrant> {
        let root = self.root_of(run);
        let given = self.given.iter();
        given
            .filter(|given| given.seq < before && self.root_of(given.run) == root)
            .flat_map(|given| given.grants.iter().cloned())
            .collect()
    }

    /// Returns the run at the top of the tree, or the run itself if its parent is not
    /// recorded.
    fn root_of(&self, run: RunId) -> RunId {
        let mut root = run;
        // Parents in a journal cannot form a circle, but the loop would end even if they
        // did.
        for _ in 0..=self.parents.len() {
            match self.parents.get(&root) {
                Some(Some(parent)) if self.parents.contains_key(parent) => root = *parent,
                _ => break,
            }
        }
        root
    }
}

#[cfg(test)]
mod tests {
    use artel_types::{
        AcceptedGrant, Actor, EventVisibility, GrantReach, RunStarted, StreamName, Timestamp,
        ToolAnswered,
    };

    use super::*;

    fn run(number: u8) -> RunId {
        RunId::from_random([number; 16])
    }

    fn event(seq: u64, of: RunId, fact: impl Into<Fact>) -> Event {
        Event {
            seq,
            stream: StreamName::run(of),
            stream_seq: seq,
            at: Timestamp::from_micros(0),
            trace: TraceId::from_random([9; 16]),
            session: None,
            run: Some(of),
            cause: None,
            actor: Actor::agent("default"),
            target: None,
            outcome: Some(EventOutcome::Allowed),
            visibility: EventVisibility::Full,
            fact: fact.into(),
        }
    }

    fn began(child: u8, parent: Option<u8>) -> Event {
        let started = RunStarted {
            parent: parent.map(run),
            ..RunStarted::new(run(child), "works")
        };
        event(0, run(child), started)
    }

    fn answer(rule: &str, exactly: Option<&str>) -> ToolAnswered {
        ToolAnswered {
            call: "1.1".to_owned(),
            record: "r".to_owned(),
            answer: "run".to_owned(),
            reason: String::new(),
            granted: Some(AcceptedGrant {
                reach: GrantReach::Run,
                rules: Some(rule.to_owned())
                    .filter(|rule| !rule.is_empty())
                    .into_iter()
                    .collect(),
                exactly: exactly.map(str::to_owned),
            }),
            offered: None,
        }
    }

    /// The run 1 of a plan has two agents, 2 and 3; run 2 called 4. Run 5 belongs to the
    /// same work but to no tree of these.
    fn trees() -> RunFamilyGrants {
        let mut all = RunFamilyGrants::default();
        for (child, parent) in [
            (1, None),
            (2, Some(1)),
            (3, Some(1)),
            (4, Some(2)),
            (5, None),
        ] {
            all.fold(&began(child, parent));
        }
        all
    }

    #[test]
    fn a_yes_for_the_run_holds_in_all_of_its_tree_and_nowhere_else() {
        let mut all = trees();
        all.fold(&event(10, run(4), answer("Read(.env)", None)));
        all.fold(&event(12, run(3), answer("", Some("5a1e"))));
        let given = |number: u8, before: u64| all.of(run(number), before).len();
        for number in 1..=4 {
            assert_eq!(given(number, u64::MAX), 2, "run {number}");
            // In a replay, a call is decided by the grants given before it.
            assert_eq!(
                (given(number, 10), given(number, 11)),
                (0, 1),
                "run {number}"
            );
        }
        assert_eq!(given(5, u64::MAX), 0, "another tree");
        assert_eq!(given(6, u64::MAX), 0, "a run that is not on record");
    }

    #[test]
    fn what_is_no_yes_or_cannot_be_read_grants_nothing() {
        let mut all = trees();
        let mut denied = event(10, run(4), answer("Read(.env)", None));
        denied.outcome = Some(EventOutcome::Denied);
        all.fold(&denied);
        all.fold(&event(11, run(4), answer("Read(", None)));
        let old = ToolAnswered {
            granted: None,
            ..answer("", None)
        };
        all.fold(&event(12, run(4), old));
        assert!(all.of(run(1), u64::MAX).is_empty());
    }

    #[test]
    fn parents_that_go_in_a_circle_are_no_tree_of_everything() {
        let mut all = RunFamilyGrants::default();
        all.fold(&began(1, Some(2)));
        all.fold(&began(2, Some(1)));
        all.fold(&event(10, run(1), answer("Read(.env)", None)));
        assert!(all.of(run(3), u64::MAX).is_empty());
    }
}
