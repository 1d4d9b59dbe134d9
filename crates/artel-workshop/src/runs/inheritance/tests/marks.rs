//! Tests that a source read by one run of a piece of work, and a secret given to it, count
//! for all its runs.

use std::collections::BTreeSet;
use std::path::Path;

use artel_config::ProcessEnvironment;
use artel_journal::{EventBatch, Journal};
use artel_policy::PolicyContext;
use artel_testkit::Random;
use artel_tools::ContentMarks;
use artel_types::{
    Actor, ActorSurface, EventDraft, Fact, ForeignRead, ForeignSource, RunForked, RunId,
    RunStarted, SecretUsed, StreamName, TraceId,
};

use super::{Node, random_tree};
use crate::runs::marks::MarksOfWorks;
use crate::{CommandContext, GlobalFlags, OpenWorkshopJournal, Workshop, WorkshopInitMode};

fn workshop(home: &Path) -> Workshop {
    let environment = ProcessEnvironment::of([("HOME", home.to_str().unwrap().to_owned())], home);
    let clock = artel_config::system_clock();
    let caller = CommandContext::new(
        environment,
        clock,
        GlobalFlags::default(),
        ActorSurface::Cli,
    )
    .unwrap();
    let root = home.join("Artel");
    caller
        .init(Some(&root), WorkshopInitMode::Complete)
        .unwrap();
    std::fs::write(root.join("artel.toml"), "").unwrap();
    caller.workshop().unwrap()
}

/// A tree of runs that form one piece of work, a fork of one of them, and unrelated work.
struct Works<'w> {
    workshop: &'w Workshop,
    journal: &'w Journal,
    tree: Vec<Node>,
    trace: TraceId,
    forked: TraceId,
    other: TraceId,
    /// The marks that the process driving the tree keeps.
    kept: MarksOfWorks,
}

impl<'w> Works<'w> {
    fn begin(workshop: &'w Workshop, journal: &'w Journal, seed: u64) -> Self {
        let mut random = Random::of_seed(seed);
        let tree = random_tree(&mut random, seed);
        let trace = |sort: u8| {
            TraceId::from_random(
                [u8::try_from(seed).unwrap(), sort]
                    .repeat(8)
                    .try_into()
                    .unwrap(),
            )
        };
        let works = Self {
            workshop,
            journal,
            trace: trace(1),
            forked: trace(2),
            other: trace(3),
            kept: MarksOfWorks::default(),
            tree,
        };
        let started = works.tree.iter().map(|node| {
            let parent = node.parent.map(|at| works.tree[at].id);
            let fact = RunStarted {
                parent,
                ..RunStarted::new(node.id, "work")
            };
            draft(works.trace, node.id, fact)
        });
        let mut drafts: Vec<EventDraft> = started.collect();
        let from = works.node(&mut random);
        let own = RunId::from_random(
            works.forked.to_string().as_bytes()[..16]
                .try_into()
                .unwrap(),
        );
        let fork = RunForked {
            id: own,
            from,
            at: 1,
            model: None,
        };
        drafts.push(draft(works.forked, own, RunStarted::new(own, "fork")));
        drafts.push(draft(works.forked, own, fork));
        journal.append(EventBatch::of(drafts)).wait().unwrap();
        works
    }

    fn node(&self, random: &mut Random) -> RunId {
        let at = usize::try_from(random.below(self.tree.len() as u64)).unwrap();
        self.tree[at].id
    }

    /// A run reads something or is given a secret, which is marked and recorded.
    fn happens(&self, random: &mut Random, number: u64, expected: &mut Expected) {
        let run = self.node(random);
        let marks = self
            .kept
            .of(self.workshop, self.journal.reader(), self.trace);
        let marks = marks.unwrap();
        let fact: Fact = if random.below(2) == 0 {
            let source = ForeignSource::host(format!("h{number}.org"));
            marks.read([source.clone()]);
            expected.foreign.insert(source.to_string());
            let sources = vec![source];
            ForeignRead {
                call: Some("1".to_owned()),
                sources,
            }
            .into()
        } else {
            let is_given = random.below(3) > 0;
            let secret = format!("key{number}");
            if is_given {
                marks.handed_out(&secret);
                expected.secrets.insert(secret.clone());
            }
            let verdict = if is_given { "granted" } else { "denied" };
            SecretUsed {
                call: "1".to_owned(),
                secret,
                role: "engineer".to_owned(),
                tool: "deploy".to_owned(),
                verdict: verdict.to_owned(),
            }
            .into()
        };
        let told = EventBatch::of([draft(self.trace, run, fact)]);
        self.journal.append(told).wait().unwrap();
    }

    /// Checks that every run of the work has all marks, in this process and in the next one,
    /// and that a fork has them too.
    fn have(&self, expected: &Expected) {
        let reader = self.journal.reader();
        let next = MarksOfWorks::default();
        for node in &self.tree {
            let (_, trace) = self.workshop.started(node.id).unwrap();
            for works in [&self.kept, &next] {
                let marks = works.of(self.workshop, reader, trace).unwrap();
                assert_eq!(&Expected::of(&marks), expected);
            }
        }
        let forked = next.of(self.workshop, reader, self.forked).unwrap();
        assert_eq!(&Expected::of(&forked), expected, "of the fork");
        let other = next.of(self.workshop, reader, self.other).unwrap();
        assert_eq!(Expected::of(&other), Expected::default(), "of other work");
    }
}

#[derive(Debug, Default, PartialEq)]
struct Expected {
    foreign: BTreeSet<String>,
    secrets: BTreeSet<String>,
}

impl Expected {
    fn of(marks: &ContentMarks) -> Self {
        let marked = marks.in_situation(&PolicyContext::default());
        Self {
            foreign: marked.foreign.iter().map(ToString::to_string).collect(),
            secrets: marked.held_secrets.into_iter().collect(),
        }
    }
}

fn draft(trace: TraceId, run: RunId, fact: impl Into<Fact>) -> EventDraft {
    let actor = Actor::agent("engineer");
    EventDraft::new(StreamName::run(run), trace, actor, fact.into()).in_run(run)
}

#[test]
fn in_random_trees_of_runs_every_run_has_the_marks_of_all() {
    let home = tempfile::tempdir().unwrap();
    let workshop = workshop(home.path());
    let OpenWorkshopJournal { journal, .. } = workshop.open().unwrap();
    for seed in 0..50 {
        let mut random = Random::of_seed(1_000 + seed);
        let works = Works::begin(&workshop, &journal, seed);
        let mut expected = Expected::default();
        for number in 0..6 {
            works.happens(&mut random, number, &mut expected);
            works.have(&expected);
        }
    }
}
