//! Drives one run: does what the state machine says, records the results, and folds them.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use artel_model::{Owed, PriorModelCall};
use artel_rules::tally::{RunMetricsBuilder, saved_percent};
use artel_rules::turn::{
    ASKED, AgentRun, AgentRunAction, AgentRunEnding, AgentRunRules, AgentRunWait, RunnableToolCall,
    StepGuardrails, ToolTraits,
};
use artel_tools::{
    AskablePerson, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolRegistry, ToolViewer,
};
use artel_types::{
    Clock, EventOutcome, Fact, Failure, FailureCode, FileChange, RecordedText, RunAnswered,
    RunAsked, RunEscalated, RunFinished, RunOutcome, RunSaid, RunSteered, ToolFinished,
};

use crate::act::ToolCallsOutcome;
use crate::ask::{ModelAskOutcome, ModelHandle};
use crate::audience::RunObserver;
use crate::below::taken_below;
use crate::chronicle::{RunJournal, RunJournalEntry};
use crate::family::TurnAllowance;
use crate::first::{FirstRecordedAnswer, answer_own, told_first};
use crate::ground::RunToolEnvironment;
use crate::heir::{RunSuccessor, events_of_heirs};
use crate::hooked::RunHookState;
use crate::log::CallLog;
use crate::steer::{RunSteeringState, ShutdownLevel, SteeringInbox};

/// Number of calls after which a step is reminded of its task.
const REMIND_EVERY: u32 = 3;

/// Longest summary that a list of runs shows, in characters: the first line of the answer.
const LONGEST_SUMMARY: usize = 200;

/// Everything that a run driver is built from.
pub struct RunDriverSetup {
    pub chronicle: RunJournal,
    /// The state to resume from.
    pub turn: AgentRun,
    pub voice: ModelHandle,
    /// The tool runner and the files of the run.
    pub workplace: RunToolEnvironment,
    /// The log that records the run's tool calls.
    pub log: Arc<CallLog>,
    /// Decides which tools the run sees.
    pub viewer: ToolViewer,
    /// The system prompt.
    pub system: String,
    /// Size of the conversation that fits, in tokens.
    pub window: u64,
    /// The channel through which people reach the run.
    pub steering: SteeringInbox,
    pub audience: Arc<dyn RunObserver>,
    /// The person who can answer, or `None` if nobody is here.
    pub person: Option<Arc<dyn AskablePerson>>,
    /// The turns shared by the run and all runs that it calls.
    pub family: TurnAllowance,
    /// Turns left, for the runs that this one forks.
    pub left: Arc<AtomicU32>,
    /// Longest time that one reply of the model may take.
    pub patience: Option<Duration>,
    /// Tokens of everything in the run's skill, to compute what loading on demand saves.
    pub all_tokens: Option<u64>,
    /// Whether the run began the tree and therefore also ends it.
    pub is_root: bool,
    /// Whether the run waits for an answer that nobody can give now, instead of proceeding
    /// without it.
    pub waits: bool,
    pub clock: Clock,
}

/// Drives one run.
pub struct RunDriver {
    /// Boxed because it is large and a future holds its arguments more than once.
    pub(crate) setup: Box<RunDriverSetup>,
    /// The previous model call: the next request begins with it.
    pub(crate) prior: Option<PriorModelCall>,
    /// Results of the last calls, handed to the journal. The next model call waits for
    /// them and is written to disk together with them.
    pub(crate) owed: Option<Owed>,
    /// Number of replies that took too long.
    pub(crate) slow: u32,
    /// Whether the conversation was shortened because the provider refused it.
    pub(crate) has_shortened: bool,
    /// Whether a person gave a hint that no model has seen yet.
    pub(crate) is_hinted: bool,
    pub(crate) hooked: RunHookState,
    /// The run that takes over once the conversation is worn out.
    pub(crate) succession: Option<RunSuccessor>,
}

/// The outcome of driving a run.
#[derive(Debug)]
pub enum RunDriverOutcome {
    /// The run is over.
    Over(Box<RunFinished>),
    /// The run was left and can be taken up again.
    Left(RunSuspendReason),
}

/// Why a run was left.
#[derive(Debug, Clone, PartialEq)]
pub enum RunSuspendReason {
    /// The person at this process wanted it.
    Interrupted,
    /// A person has to answer.
    Question(Box<RunAsked>),
    /// The model cannot be called now.
    Model(Failure),
}

impl RunDriver {
    pub fn new(setup: RunDriverSetup) -> Self {
        Self {
            setup: Box::new(setup),
            prior: None,
            owed: None,
            slow: 0,
            has_shortened: false,
            is_hinted: false,
            hooked: RunHookState::none(),
            succession: None,
        }
    }

    /// Drives the run until it ends or has to be left.
    pub async fn drive(mut self) -> Result<RunDriverOutcome, Failure> {
        loop {
            for fact in self.setup.steering.news() {
                self.fold(&fact)?;
            }
            if let Some(ending) = self.pass_begin().await? {
                let finished = self.finish(&ending).await?;
                return Ok(RunDriverOutcome::Over(Box::new(finished)));
            }
            let left = self.setup.turn.left();
            self.setup.left.store(left, Ordering::Relaxed);
            let next = self.setup.turn.next();
            let is_stopped = self.setup.steering.stop() != ShutdownLevel::No;
            if next != AgentRunAction::Ask || is_stopped {
                self.written().await?;
            }
            if let AgentRunAction::End(ending) = next {
                if self.is_held(&ending).await? {
                    continue;
                }
                let finished = self.finish(&ending).await?;
                return Ok(RunDriverOutcome::Over(Box::new(finished)));
            }
            if is_stopped {
                return Ok(RunDriverOutcome::Left(RunSuspendReason::Interrupted));
            }
            if let Some(ended) = self.step(next).await? {
                return Ok(ended);
            }
        }
    }

    async fn step(&mut self, next: AgentRunAction) -> Result<Option<RunDriverOutcome>, Failure> {
        match next {
            AgentRunAction::Ask => return self.asked().await,
            AgentRunAction::Act(acts) => match self.question_of(&acts) {
                Some(asked) => self.record(RunJournalEntry::shown(asked)).await?,
                None => {
                    if self.act(acts).await? == ToolCallsOutcome::Left
                        && !self.hears_cancel().await?
                    {
                        return Ok(Some(RunDriverOutcome::Left(RunSuspendReason::Interrupted)));
                    }
                }
            },
            AgentRunAction::Tell { act, text } => self.tell(&act, text).await?,
            AgentRunAction::Refuse { act, trouble, text } => {
                self.refuse(&act, trouble, text).await?
            }
            AgentRunAction::Say { text, why } => self.say(text, why).await?,
            AgentRunAction::AskPerson { act } => self.ask_person(&act).await?,
            AgentRunAction::Escalate {
                snapshot,
                why,
                failures,
            } => self.escalate(snapshot, why, failures).await?,
            AgentRunAction::Wait(AgentRunWait::Resume) => {
                self.setup
                    .audience
                    .waits("paused; `artel resume` lets it go on");
                let rest = self.setup.audience.rests();
                let heard = self.setup.steering.heard().await;
                drop(rest);
                if let Some(fact) = heard {
                    self.fold(&fact)?;
                }
            }
            AgentRunAction::Follow(heir) => return self.follow(heir).await,
            AgentRunAction::Wait(AgentRunWait::Answer(asked)) => {
                return self.await_answer(*asked).await;
            }
            AgentRunAction::End(_) => {}
        }
        Ok(None)
    }

    /// Returns whether the run was cancelled, and folds the cancellation. A waiting call
    /// is left when the run is cancelled, so it may know before the driver does.
    async fn hears_cancel(&mut self) -> Result<bool, Failure> {
        let chronicle = self.setup.chronicle.clone();
        let course =
            blocking(move || RunSteeringState::of(chronicle.journal(), chronicle.run())).await?;
        if course != RunSteeringState::Cancelled {
            return Ok(false);
        }
        let cancelled = RunSteered {
            act: "cancel".to_owned(),
            text: String::new(),
        };
        self.fold(&cancelled.into())?;
        Ok(true)
    }

    /// Asks the model and handles the outcome.
    async fn asked(&mut self) -> Result<Option<RunDriverOutcome>, Failure> {
        let ending = match self.ask().await? {
            ModelAskOutcome::Replied => return Ok(None),
            ModelAskOutcome::Again => return Ok(None),
            ModelAskOutcome::Left(left) => return Ok(Some(RunDriverOutcome::Left(left))),
            ModelAskOutcome::Ended(ending) => ending,
        };
        let finished = self.finish(&ending).await?;
        Ok(Some(RunDriverOutcome::Over(Box::new(finished))))
    }

    /// Waits until everything handed to the journal is durable.
    pub(crate) async fn written(&mut self) -> Result<(), Failure> {
        match self.owed.take() {
            Some(owed) => owed.await,
            None => Ok(()),
        }
    }

    /// Appends a fact and folds it.
    pub(crate) async fn record(&mut self, entry: RunJournalEntry) -> Result<(), Failure> {
        let fact = entry.fact.clone();
        self.setup.chronicle.append(vec![entry]).await?;
        self.fold(&fact)
    }

    pub(crate) fn fold(&mut self, fact: &Fact) -> Result<(), Failure> {
        if let Fact::RunSaid(said) = fact {
            self.is_hinted |= said.why == "hint";
        }
        self.setup.turn.fold(fact).map_err(|unreadable| {
            Failure::new(FailureCode::X001, unreadable.to_string()).advise("`artel journal verify`")
        })
    }

    pub(crate) async fn say(&mut self, text: String, why: &'static str) -> Result<(), Failure> {
        let said = RunSaid {
            text: RecordedText::Inline(text),
            why: why.to_owned(),
        };
        self.record(RunJournalEntry::quiet(said)).await
    }

    /// Answers a call without carrying it out.
    pub(crate) async fn refuse(
        &mut self,
        act: &RunnableToolCall,
        trouble: &'static str,
        text: String,
    ) -> Result<(), Failure> {
        let outcome = match trouble {
            "refused" => EventOutcome::Denied,
            "cancelled" => EventOutcome::Cancelled,
            _ => EventOutcome::Failed,
        };
        let finished = ToolFinished {
            call: act.id.clone(),
            tool: act.tool.clone(),
            observation: RecordedText::Inline(self.setup.workplace.hands().hints.words(text)),
            trouble: Some(trouble.to_owned()),
            changed: Vec::new(),
            millis: 0,
            sandbox: None,
            redacted: 0,
            exit: None,
            memory: None,
            images: None,
        };
        self.record(RunJournalEntry::quiet(finished).ending(outcome))
            .await
    }

    async fn escalate(
        &mut self,
        snapshot: Option<String>,
        why: String,
        failures: Vec<String>,
    ) -> Result<(), Failure> {
        let ground = self.setup.workplace.ground().cloned();
        if let (Some(ground), Some(label)) = (ground, snapshot) {
            let back = blocking(move || ground.restore(&label, "strikes")).await?;
            if let Some(entry) = back {
                self.record(entry).await?;
            }
        }
        let escalated = RunEscalated { why, failures };
        self.record(RunJournalEntry::shown(escalated).ending(EventOutcome::Failed))
            .await
    }

    /// Returns the question that an agent asks, if a person is here or the run waits for
    /// answers. It is then recorded, so that it can be answered from anywhere.
    fn question_of(&self, acts: &[RunnableToolCall]) -> Option<RunAsked> {
        let act = acts.first().filter(|act| act.tool == "ask_person")?;
        if !self.setup.waits && self.setup.person.is_none() {
            return None;
        }
        let choices = act.input["choices"].as_array().into_iter().flatten();
        let choices = choices.filter_map(|it| it.as_str().map(str::to_owned));
        Some(RunAsked {
            question: format!("{ASKED}{}", act.id),
            text: act.input["question"].as_str()?.to_owned(),
            choices: choices.collect(),
            call: Some(act.id.clone()),
            suggested: None,
        })
    }

    /// Gives the person's answer to the agent.
    async fn tell(&mut self, act: &RunnableToolCall, text: String) -> Result<(), Failure> {
        let finished = ToolFinished {
            call: act.id.clone(),
            tool: act.tool.clone(),
            observation: RecordedText::Inline(text),
            trouble: None,
            changed: Vec::new(),
            millis: 0,
            sandbox: None,
            redacted: 0,
            exit: None,
            memory: None,
            images: None,
        };
        self.record(RunJournalEntry::quiet(finished)).await
    }

    /// Asks the person about a call whose outcome is unknown.
    async fn ask_person(&mut self, act: &RunnableToolCall) -> Result<(), Failure> {
        let asked = RunAsked {
            question: format!("unknown-{}", act.id),
            text: format!(
                "The process ended while `{}` ran with {}. It may not run twice by itself. Did it \
                 happen?",
                act.tool, act.input
            ),
            choices: ["happened", "again", "skip"].map(str::to_owned).to_vec(),
            call: Some(act.id.clone()),
            suggested: None,
        };
        self.record(RunJournalEntry::shown(asked)).await
    }

    async fn await_answer(&mut self, asked: RunAsked) -> Result<Option<RunDriverOutcome>, Failure> {
        let Some(person) = self.setup.person.clone() else {
            return Ok(Some(RunDriverOutcome::Left(RunSuspendReason::Question(
                Box::new(asked),
            ))));
        };
        let (text, choices) = (asked.text.clone(), asked.choices.clone());
        let asking = Arc::clone(&person);
        let mut answering = pin!(blocking(move || Ok(asking.answer(&text, &choices))));
        let mut is_settled = false;
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut answering => break answer?,
                fact = self.setup.steering.heard() => if let Some(fact) = fact {
                    self.fold(&fact)?;
                    let why = match &fact {
                        Fact::RunAnswered(it) if it.question == asked.question => {
                            format!("answered elsewhere: {}", it.answer)
                        }
                        _ if self.setup.turn.is_cancelled() => "cancelled elsewhere".to_owned(),
                        _ => continue,
                    };
                    person.settled(&asked.text, &why);
                    is_settled = true;
                },
            }
        };
        // A recorded answer counts, even if the person here typed one at the same moment.
        if is_settled {
            return Ok(None);
        }
        let Some(answer) = answer else {
            let left = match self.setup.steering.stop() {
                ShutdownLevel::No => RunSuspendReason::Question(Box::new(asked)),
                ShutdownLevel::Politely | ShutdownLevel::Now => RunSuspendReason::Interrupted,
            };
            return Ok(Some(RunDriverOutcome::Left(left)));
        };
        self.answer(asked.question, answer).await?;
        Ok(None)
    }

    /// Records the answer of the person here, unless somebody elsewhere was first.
    async fn answer(&mut self, question: String, answer: String) -> Result<(), Failure> {
        let answered = RunAnswered {
            question: question.clone(),
            answer,
        };
        let mine = Fact::from(answered.clone());
        let chronicle = self.setup.chronicle.clone();
        let first =
            blocking(move || answer_own(&chronicle, &question, RunJournalEntry::shown(answered)))
                .await?;
        let (seq, fact) = match first {
            FirstRecordedAnswer::Mine(seq) => (seq, mine),
            FirstRecordedAnswer::Other(event) => {
                self.setup.audience.notice(&told_first(&event));
                (event.seq, event.fact)
            }
        };
        self.setup.steering.leave_out(seq..=seq);
        self.fold(&fact)
    }

    /// Ends the run: takes the last snapshot, and records the changes and the usage.
    async fn finish(&mut self, ending: &AgentRunEnding) -> Result<RunFinished, Failure> {
        self.written().await?;
        self.tell_end(ending).await?;
        let hands = Arc::clone(self.setup.workplace.hands());
        let ground = self.setup.workplace.ground().cloned();
        let ground = ground.filter(|_| self.setup.is_root);
        let (entry, changed, left_out) = blocking(move || {
            hands.bench.jobs.end();
            let Some(ground) = ground else {
                return Ok((None, Vec::new(), Vec::new()));
            };
            Ok((ground.snap("end")?, ground.changes()?, ground.left_out()?))
        })
        .await?;
        if let Some(entry) = entry {
            self.record(entry).await?;
        }
        let finished = RunFinished {
            left_out: Some(left_out).filter(|left_out| !left_out.is_empty()),
            ..self.finished(ending, changed).await?
        };
        let outcome = match ending.state() {
            RunOutcome::Complete => EventOutcome::Done,
            RunOutcome::Cancelled => EventOutcome::Cancelled,
            RunOutcome::Partial | RunOutcome::Failed => EventOutcome::Failed,
        };
        let entry = RunJournalEntry::shown(finished.clone()).ending(outcome);
        self.setup.chronicle.append(vec![entry]).await?;
        Ok(finished)
    }

    async fn finished(
        &self,
        ending: &AgentRunEnding,
        changed: Vec<FileChange>,
    ) -> Result<RunFinished, Failure> {
        let chronicle = self.setup.chronicle.clone();
        let answer = ending.answer().map(str::to_owned);
        let (all, state) = (self.setup.all_tokens, ending.state());
        let heir = self.setup.turn.heir();
        let (answer, metrics) = blocking(move || {
            let answer = answer.map(|answer| chronicle.keep(answer)).transpose()?;
            let mut tally = RunMetricsBuilder::default();
            chronicle
                .own_events()?
                .iter()
                .for_each(|event| tally.fold(event));
            let later = events_of_heirs(&chronicle, heir)?;
            later.iter().for_each(|event| tally.fold(event));
            let mut metrics = tally.metrics(Some(state));
            metrics.below = Some(taken_below(&chronicle)?).filter(|below| below.runs > 0);
            metrics.saved_percent = all.and_then(|all| saved_percent(&metrics, all));
            Ok((answer, metrics))
        })
        .await?;
        let turn = &self.setup.turn;
        let shown = ending.answer().or(ending.why()).unwrap_or_default();
        let line = shown.lines().find(|line| !line.trim().is_empty());
        let summary: String = line
            .unwrap_or_default()
            .chars()
            .take(LONGEST_SUMMARY)
            .collect();
        Ok(RunFinished {
            state: Some(ending.state().as_str().to_owned()),
            answer,
            why: ending.why().map(str::to_owned),
            objectives: Some(turn.objectives().to_vec()).filter(|list| !list.is_empty()),
            changed: Some(changed).filter(|changed| !changed.is_empty()),
            snapshot: turn.snapshot().map(str::to_owned),
            metrics: Some(metrics),
            ..RunFinished::new(self.setup.chronicle.run(), summary)
        })
    }
}

/// Returns what the state machine must know about the tools of a registry.
pub fn kinds(registry: &ToolRegistry) -> BTreeMap<String, ToolTraits> {
    registry
        .cards()
        .map(|card| (card.name.clone(), kind_of(card)))
        .collect()
}

fn kind_of(card: &ToolDescriptor) -> ToolTraits {
    let has = |effect: ToolEffect| card.effects.contains(&effect);
    let asks = matches!(card.name.as_str(), "ask_person" | "skill");
    ToolTraits {
        is_pure: card.unknown == ToolCrashRecovery::Pure
            && !has(ToolEffect::Write)
            && !has(ToolEffect::Process)
            && !asks,
        is_edit: has(ToolEffect::Write) && !has(ToolEffect::Process),
        is_check: matches!(card.name.as_str(), "run_tests" | "diagnostics"),
        is_shell: card.name == "bash",
    }
}

/// Returns the rules of a run from what it was prepared with.
pub fn rules_of(prepared: &artel_types::RunPrepared, registry: &ToolRegistry) -> AgentRunRules {
    AgentRunRules {
        turns: prepared.turns,
        retries: prepared.retries,
        checks_itself: prepared.checks_itself,
        calls: if prepared.calls == "text" {
            artel_rules::turn::ToolCallStyle::Text
        } else {
            artel_rules::turn::ToolCallStyle::Native
        },
        tools: kinds(registry),
        guard: prepared.calls_limit.map(|calls| StepGuardrails {
            calls,
            every: REMIND_EVERY,
            directive: prepared.directive.clone().unwrap_or_default(),
        }),
    }
}

/// Runs work that may block on a disk or a process, on a thread where that harms nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(Failure::new(FailureCode::X001, error.to_string())),
    }
}
