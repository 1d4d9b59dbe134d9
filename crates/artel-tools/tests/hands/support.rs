//! A run in a folder of its own, with a journal in memory and a person on a script.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use artel_files::RootFolder;
use artel_policy::{Policy, PolicyContext};
use artel_tools::{
    AttributedToolApproval, FindToolsTool, NoGuard, RunGrant, ToolApprovalAnswer,
    ToolApprovalQuestion, ToolCallApprover, ToolCallOutcome, ToolCallRecorder, ToolContext,
    ToolRegistry, ToolRunner, ToolViewer, built_in,
};
use artel_types::{Actor, ActorSurface, Clock, EventOutcome, Fact, Secret, Timestamp};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Run {
    pub(crate) folder: TempDir,
    pub(crate) hands: ToolRunner,
    pub(crate) journal: Arc<Journal>,
}

#[derive(Default)]
pub(crate) struct Journal {
    facts: Mutex<Vec<(Fact, EventOutcome)>>,
    /// What somebody else than the agent did, by kind.
    others: Mutex<Vec<(&'static str, Actor)>>,
    /// From this append on, nothing is taken.
    full_at: Mutex<Option<usize>>,
}

impl Journal {
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        self.facts
            .lock()
            .unwrap()
            .iter()
            .map(|(fact, _)| fact.kind())
            .collect()
    }

    pub(crate) fn text(&self) -> String {
        let facts = self.facts.lock().unwrap();
        facts
            .iter()
            .map(|(fact, _)| fact.encode().unwrap() + "\n")
            .collect()
    }

    /// Returns the kinds with their outcomes, in order.
    pub(crate) fn outcomes(&self) -> Vec<(&'static str, EventOutcome)> {
        let facts = self.facts.lock().unwrap();
        facts
            .iter()
            .map(|(fact, outcome)| (fact.kind(), *outcome))
            .collect()
    }

    /// Returns what somebody else than the agent did.
    pub(crate) fn others(&self) -> Vec<(&'static str, Actor)> {
        self.others.lock().unwrap().clone()
    }

    pub(crate) fn last_outcome(&self) -> EventOutcome {
        self.facts.lock().unwrap().last().unwrap().1
    }

    pub(crate) fn fill_at(&self, count: usize) {
        *self.full_at.lock().unwrap() = Some(count);
    }
}

impl ToolCallRecorder for Journal {
    fn append_by(
        &self,
        by: Option<Actor>,
        fact: Fact,
        outcome: EventOutcome,
    ) -> Result<(), String> {
        let mut facts = self.facts.lock().unwrap();
        if self
            .full_at
            .lock()
            .unwrap()
            .is_some_and(|full| facts.len() >= full)
        {
            return Err("disk full".to_owned());
        }
        if let Some(by) = by {
            self.others.lock().unwrap().push((fact.kind(), by));
        }
        facts.push((fact, outcome));
        Ok(())
    }

    fn granted(&self) -> Vec<RunGrant> {
        let facts = self.facts.lock().unwrap();
        let answers = facts.iter().filter_map(|(fact, _)| match fact {
            Fact::ToolAnswered(answered) => Some(RunGrant::of(answered)),
            _ => None,
        });
        answers.flatten().collect()
    }
}

/// Answers each question in turn, after doing something meanwhile.
pub(crate) struct Script {
    pub(crate) asked: Mutex<Vec<ToolApprovalQuestion>>,
    answers: Mutex<Vec<Answering>>,
}

type Answering = Box<dyn FnOnce(&ToolApprovalQuestion) -> Option<ToolApprovalAnswer> + Send>;

impl Script {
    pub(crate) fn of(answers: Vec<Answering>) -> Arc<Self> {
        let answers = Mutex::new(answers.into_iter().rev().collect());
        Arc::new(Self {
            asked: Mutex::default(),
            answers,
        })
    }
}

impl ToolCallApprover for Script {
    fn approve(&self, question: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        self.asked.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().pop()?;
        Some(answer(question)?.by(Actor::human("ada", ActorSurface::Web)))
    }
}

pub(crate) fn yes() -> Answering {
    Box::new(|_| Some(ToolApprovalAnswer::once()))
}

impl Run {
    pub(crate) fn new() -> Self {
        Self::with(Policy {
            role: "engineer".to_owned(),
            ..Policy::default()
        })
    }

    pub(crate) fn with(policy: Policy) -> Self {
        let folder = TempDir::new().unwrap();
        let tree = RootFolder::open(folder.path()).unwrap();
        let role = policy.role.clone();
        let mut registry = ToolRegistry::of(built_in());
        let viewer = ToolViewer {
            role: role.clone(),
            tools: None,
        };
        registry
            .add(Arc::new(FindToolsTool::new(registry.clone(), viewer)))
            .unwrap();
        let journal = Arc::new(Journal::default());
        let workspace = Some(tree.path().to_owned());
        let bench = ToolContext::new(tree, Arc::new(NoGuard), role);
        let known = [Secret::new("very-known-value-1")];
        let redactor = artel_policy::redact::redactor(&known);
        let clock = Clock::fixed("2026-11-15T12:00:00Z".parse::<Timestamp>().unwrap());
        let log = Arc::clone(&journal) as Arc<dyn ToolCallRecorder>;
        let mut hands = ToolRunner::new(registry, bench, policy, log, redactor, clock);
        hands.situation = PolicyContext {
            is_walled: true,
            workspace,
            ..PolicyContext::default()
        };
        Self {
            folder,
            hands,
            journal,
        }
    }

    pub(crate) fn call(&self, tool: &str, input: Value) -> ToolCallOutcome {
        self.hands.call("c-1", tool, &input).unwrap()
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }
}
