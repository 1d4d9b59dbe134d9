//! Replays a recorded run without a model and without effects. Every recorded step must be
//! what the state machine would do next, and every call is decided again by the current
//! policy.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use artel_engine::{RunFamilyGrants, RunJournal, prepared, rules_of};
use artel_files::RootFolder;
use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_policy::{Policy, PolicyAnswer, PolicyContext};
use artel_rules::turn::{AgentRun, AgentRunAction};
use artel_tools::{
    ContentMarks, GrantedPolicy, NoGuard, RecordedOpenings, ToolCallIntent, ToolContext,
    ToolRegistry, exact_call,
};
use artel_types::{
    Actor, Event, Fact, Failure, FailureCode, RecordedText, RunId, RunPrepared, RunSaid,
    RunStarted, ToolRequested, TraceId,
};
use serde::Serialize;
use serde_json::Value;

use super::furnish::{bound_of_skill, walls_of_a_copy};
use super::inheritance::RunInheritance;
use super::marks::with_its_past;
use crate::portals::{holding, trees, with_labels_that_count};
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// The outcome of replaying a run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunReplayOutcome {
    /// The number of steps that were compared.
    pub steps: u64,
    /// The number of turns.
    pub turns: u32,
    /// Where the record differs from the state machine.
    pub divergences: Vec<ReplayDivergence>,
    /// Calls that the current policy decides differently.
    pub differences: Vec<ReplayDecisionChange>,
    /// The number of calls that were decided again.
    pub decided: u64,
    pub is_over: bool,
}

/// A recorded step that the state machine would not take.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayDivergence {
    pub seq: u64,
    /// The recorded step.
    pub recorded: String,
    /// The step that the state machine would take.
    pub machine: String,
}

/// A call that the current policy decides differently.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayDecisionChange {
    pub seq: u64,
    pub tool: String,
    /// The recorded decision.
    pub then: String,
    /// The current decision.
    pub now: String,
    /// The rule that decides now.
    pub rule: String,
    /// The reason for the current decision.
    pub why: String,
}

impl RunReplayOutcome {
    fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.turns += other.turns;
        self.divergences.extend(other.divergences);
        self.differences.extend(other.differences);
        self.decided += other.decided;
        self.is_over &= other.is_over;
    }
}

/// Decides recorded calls by the current policy.
struct ReplayPolicyJudge {
    registry: ToolRegistry,
    bench: ToolContext,
    policy: Policy,
    situation: PolicyContext,
    /// Sources that the piece of work and its past read, and secrets they were given, with
    /// sequence numbers: only those before a call count for it.
    marked: Vec<(u64, Fact)>,
    /// Grants that people gave for the whole tree of runs, each from its place in the journal
    /// on.
    grants: RunFamilyGrants,
}

/// Steps the state machine through the recorded events.
struct RunReplayer {
    turn: AgentRun,
    /// The latest calls that the state machine requested. Their results may arrive in any
    /// order, between other events.
    batch: BTreeSet<String>,
    /// Openings in the sandbox walls that earlier calls were given.
    opened: RecordedOpenings,
    replay: RunReplayOutcome,
}

impl Workshop {
    /// Replays a recorded run. For a plan run, replays the runs that it started.
    pub fn replay_run(&self, run: RunId) -> Result<RunReplayOutcome, Failure> {
        if let Some(replay) = self.replay_one(run)? {
            return Ok(replay);
        }
        let called = self.called_by(run)?;
        let mut whole = RunReplayOutcome {
            is_over: !called.is_empty(),
            ..RunReplayOutcome::default()
        };
        for run in called {
            if let Some(replay) = self.replay_one(run)? {
                whole.add(replay);
            }
        }
        if whole.turns == 0 {
            let what = "the run ended before its first turn was ready";
            return Err(
                Failure::new(FailureCode::R008, what).advise("there is nothing to play again")
            );
        }
        Ok(whole)
    }

    /// Returns the child runs of a run, in the order in which they started.
    fn called_by(&self, run: RunId) -> Result<Vec<RunId>, Failure> {
        let (_, trace) = self.started(run)?;
        let filter = EventFilter {
            trace: Some(trace.to_string()),
            kind: Some("run.started".to_owned()),
            ..EventFilter::default()
        };
        let mut called = Vec::new();
        for record in self.reader()?.records(&EventQuery::of(filter))? {
            if let Fact::RunStarted(started) = record.event()?.fact
                && started.parent == Some(run)
            {
                called.push(started.id);
            }
        }
        Ok(called)
    }

    /// Replays the turns of one run, or returns `None` if it has none of its own.
    fn replay_one(&self, run: RunId) -> Result<Option<RunReplayOutcome>, Failure> {
        let (started, trace) = self.started(run)?;
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let chronicle = RunJournal::new(journal, run, trace, None, Actor::agent("default"));
        let events = chronicle.events()?;
        let Some(facts) = prepared(&events) else {
            return Ok(None);
        };
        // A fork begins with calls of the run it was forked from, which were judged there.
        let reader = chronicle.journal().reader();
        let past = with_its_past(self, reader, trace)?;
        let grants = RunFamilyGrants::read(reader, past.iter().copied())?;
        let judge = ReplayPolicyJudge {
            marked: marked_in(reader, &past)?,
            ..self.judge(&started, facts, grants)?
        };
        let mut rules = rules_of(facts, &judge.registry);
        // The tool that calls skills is built for each run, so the registry lacks it.
        rules.tools.entry("skill".to_owned()).or_default();
        let opening = chronicle.text(&facts.opening)?;
        let mut player = RunReplayer {
            turn: AgentRun::new(rules, opening),
            batch: BTreeSet::new(),
            opened: RecordedOpenings::default(),
            replay: RunReplayOutcome::default(),
        };
        for event in &events {
            player.play(event, &chronicle, &judge)?;
        }
        player.replay.turns = player.turn.turns();
        Ok(Some(player.replay))
    }

    fn judge(
        &self,
        started: &RunStarted,
        facts: &RunPrepared,
        grants: RunFamilyGrants,
    ) -> Result<ReplayPolicyJudge, Failure> {
        let folder = started.folder.clone().map(PathBuf::from);
        let folder = folder.unwrap_or_default();
        let registry = self.caller.registry(&facts.role);
        let registry = registry.map_err(|problems| problems.first())?;
        let inherits = started.inherits.as_ref();
        let inherits = inherits.map(|it| RunInheritance::of_record(it, Vec::new()));
        let inherits = inherits.transpose()?;
        let mut policy = self.policy_again(started, facts, inherits.as_ref())?;
        let own_folders = self.own_folders()?;
        policy.own_folders = own_folders.within(&folder);
        let mut portals = with_labels_that_count(&self.portals()?);
        let portal = holding(portals.clone(), &folder);
        portals.retain(|portal| own_folders.known_workshop_beneath(&portal.path).is_none());
        if let Some(portal) = &portal {
            portal.limit(&mut policy);
        }
        let root = RootFolder::open(&folder).map_err(|error| {
            Failure::new(FailureCode::W010, error.to_string())
                .advise("calls are judged in the folder that the run worked on; put it back")
        })?;
        let mut bench = ToolContext::new(root, Arc::new(NoGuard), facts.role.clone());
        bench.git = self.caller.program("git");
        bench.stands_for = vec![folder.clone()];
        let above = inherits.iter().flat_map(RunInheritance::roles);
        let roles: Vec<&str> = std::iter::once(facts.role.as_str()).chain(above).collect();
        bench.portals = Arc::new(trees(&portals, portal.as_ref(), &roles));
        if let Some(skill) = &facts.skill_folder {
            bench.skill = RootFolder::open(skill.as_ref()).ok().map(Arc::new);
        }
        let sandbox = self.caller.sandbox().ok();
        let engaged = sandbox.map(|(sandbox, demand)| (sandbox.engaged().level, demand));
        let situation = PolicyContext {
            is_walled: engaged.is_some_and(|(level, demand)| level >= demand.0),
            workspace: Some(folder),
            walls: engaged.map(|(level, _)| walls_of_a_copy(level)),
            ..PolicyContext::default()
        };
        Ok(ReplayPolicyJudge {
            registry,
            bench,
            policy,
            situation,
            marked: Vec::new(),
            grants,
        })
    }

    /// Returns the current policy for an old run, within the bounds it had then.
    fn policy_again(
        &self,
        started: &RunStarted,
        facts: &RunPrepared,
        inherits: Option<&RunInheritance>,
    ) -> Result<Policy, Failure> {
        let policy = self.caller.policy(Some(&facts.role));
        let mut policy = policy.map_err(|problems| problems.first())?;
        if let Some(list) = &facts.allowed_tools {
            let name = started.skill.as_deref().unwrap_or_default();
            policy.bounds.push(bound_of_skill(name, list));
        }
        if let Some(inherits) = inherits {
            inherits.hold_in(&mut policy);
        }
        Ok(policy)
    }
}

/// Returns the unverified sources that pieces of work read, and the secrets they were
/// given.
fn marked_in(
    reader: &JournalReader,
    traces: &BTreeSet<TraceId>,
) -> Result<Vec<(u64, Fact)>, Failure> {
    let mut marked = Vec::new();
    for trace in traces {
        for kind in ["foreign.read", "secret.used"] {
            let filter = EventFilter {
                trace: Some(trace.to_string()),
                kind: Some(kind.to_owned()),
                ..EventFilter::default()
            };
            for record in reader.records(&EventQuery::of(filter))? {
                let event = record.event()?;
                marked.push((event.seq, event.fact));
            }
        }
    }
    Ok(marked)
}

impl ReplayPolicyJudge {
    /// Returns the policy context as it was before an event.
    fn situation_at(&self, seq: u64) -> PolicyContext {
        let marks = ContentMarks::default();
        let before = self.marked.iter().filter(|(at, _)| *at < seq);
        for (_, fact) in before {
            match fact {
                Fact::ForeignRead(it) => drop(marks.read(it.sources.clone())),
                Fact::SecretUsed(it) if it.verdict == "granted" => marks.handed_out(&it.secret),
                _ => {}
            }
        }
        marks.in_situation(&self.situation)
    }

    /// Decides a recorded call again. Returns `None` if that is no longer possible, and
    /// `Some(None)` if the decision is the same.
    fn differs(
        &self,
        event: &Event,
        asked: &ToolRequested,
        opened: &RecordedOpenings,
    ) -> Option<Option<ReplayDecisionChange>> {
        let RecordedText::Inline(input) = &asked.input else {
            return None;
        };
        let input: Value = serde_json::from_str(input).ok()?;
        let tool = self.registry.get(&asked.tool).ok()?;
        let actions = tool.intends(&input, &self.bench).ok()?;
        let given = event.run.map(|run| self.grants.of(run, event.seq));
        let granted = GrantedPolicy::new(&self.policy, given.unwrap_or_default());
        let intent = ToolCallIntent {
            tool: &asked.tool,
            actions: &actions,
            exactly: &exact_call(&asked.tool, &input, &actions),
        };
        let mut situation = self.situation_at(event.seq);
        if let Some(walls) = &mut situation.walls {
            walls.openings.extend(&opened.opened);
        }
        let decision = granted.decide(intent, &situation);
        let now = match decision.answer {
            PolicyAnswer::Allow => "allow",
            PolicyAnswer::Ask => "ask",
            PolicyAnswer::Deny => "deny",
        };
        let is_same = now == asked.decision;
        Some((!is_same).then(|| ReplayDecisionChange {
            seq: event.seq,
            tool: asked.tool.clone(),
            then: asked.decision.clone(),
            now: now.to_owned(),
            rule: decision.rule.to_string(),
            why: decision.reason.to_string(),
        }))
    }
}

impl RunReplayer {
    fn play(
        &mut self,
        event: &Event,
        chronicle: &RunJournal,
        judge: &ReplayPolicyJudge,
    ) -> Result<(), Failure> {
        self.compare(event);
        if let Fact::ToolRequested(asked) = &event.fact
            && asked.rule != "default.unfit"
            && let Some(found) = judge.differs(event, asked, &self.opened)
        {
            self.replay.decided += 1;
            self.replay.differences.extend(found);
        }
        self.opened.fold(event);
        let folded = if let Fact::ToolFinished(finished) = &event.fact {
            let text = chronicle.text(&finished.observation)?;
            self.turn.result(finished, text, Vec::new());
            Ok(())
        } else {
            self.turn.fold(&event.fact)
        };
        folded.map_err(|unreadable| Failure::new(FailureCode::J018, unreadable.to_string()))
    }

    /// Compares a recorded event with the state machine's next action.
    fn compare(&mut self, event: &Event) {
        let next = self.turn.next();
        if let AgentRunAction::Act(acts) = &next {
            self.batch = acts.iter().map(|act| act.id.clone()).collect();
        }
        let is_so = match &event.fact {
            Fact::ModelRequested(asked) if asked.attempt == 1 => {
                matches!(next, AgentRunAction::Ask)
            }
            Fact::ToolRequested(asked) => self.batch.contains(&asked.call),
            Fact::ToolFinished(finished) => {
                let is_refused = matches!(&next, AgentRunAction::Refuse { act, .. } | AgentRunAction::Tell { act, .. } if act.id == finished.call);
                is_refused || self.batch.contains(&finished.call)
            }
            Fact::RunSaid(said) => is_said(said, &next),
            Fact::RunAsked(_) => match &next {
                AgentRunAction::AskPerson { .. } => true,
                AgentRunAction::Act(acts) => {
                    acts.first().is_some_and(|act| act.tool == "ask_person")
                }
                _ => false,
            },
            Fact::RunEscalated(_) => matches!(next, AgentRunAction::Escalate { .. }),
            Fact::RunFinished(finished) => {
                self.replay.is_over = true;
                match &next {
                    // The run ends like the run it was handed over to.
                    AgentRunAction::Follow(_) => true,
                    AgentRunAction::End(ending) => {
                        finished.state.as_deref() == Some(ending.state().as_str())
                    }
                    // Budgets and time limits end a run from outside.
                    _ => finished.state.as_deref() != Some("complete"),
                }
            }
            _ => return,
        };
        self.replay.steps += 1;
        if !is_so {
            self.replay.divergences.push(ReplayDivergence {
                seq: event.seq,
                recorded: recorded(&event.fact),
                machine: of_machine(&next),
            });
        }
    }
}

/// Hooks and refusals come from outside; all other texts come from the state machine
/// itself.
fn is_said(said: &RunSaid, next: &AgentRunAction) -> bool {
    if matches!(said.why.as_str(), "hook" | "refused") {
        return true;
    }
    let RecordedText::Inline(words) = &said.text else {
        return false;
    };
    matches!(next, AgentRunAction::Say { text, why } if text == words && *why == said.why)
}

fn recorded(fact: &Fact) -> String {
    match fact {
        Fact::ModelRequested(_) => "the model was asked".to_owned(),
        Fact::ToolRequested(asked) => format!("{} {} was wanted", asked.call, asked.tool),
        Fact::ToolFinished(finished) => format!("{} {} ended", finished.call, finished.tool),
        Fact::RunSaid(said) => format!("something was said ({})", said.why),
        Fact::RunFinished(finished) => {
            format!("it ended: {}", finished.state.as_deref().unwrap_or("done"))
        }
        other => other.kind().to_owned(),
    }
}

fn of_machine(next: &AgentRunAction) -> String {
    match next {
        AgentRunAction::Ask => "ask the model".to_owned(),
        AgentRunAction::Act(acts) => {
            let names = acts.iter().map(|act| format!("{} {}", act.id, act.tool));
            format!("carry out {}", names.collect::<Vec<_>>().join(", "))
        }
        AgentRunAction::Refuse { act, .. } => format!("refuse {} {}", act.id, act.tool),
        AgentRunAction::Tell { act, .. } => format!("answer {} {}", act.id, act.tool),
        AgentRunAction::Say { why, .. } => format!("say something ({why})"),
        AgentRunAction::AskPerson { act } => format!("ask a person about {} {}", act.id, act.tool),
        AgentRunAction::Escalate { .. } => "call for help".to_owned(),
        AgentRunAction::Follow(heir) => format!("wait for the run {}", heir.short()),
        AgentRunAction::Wait(_) => "wait for a person".to_owned(),
        AgentRunAction::End(ending) => format!("end: {}", ending.state()),
    }
}
