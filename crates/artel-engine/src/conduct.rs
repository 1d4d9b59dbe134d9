//! Drives the run of a plan: carries out the orders of the state machine, several at once,
//! records their results, and folds those.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use artel_rules::conduct::{AttemptPart, PlanRun, PlanRunOrder};
use artel_tools::AskablePerson;
use artel_types::{Actor, Fact, Failure, FailureCode, RunAnswered, RunAsked};
use tokio::task::{JoinError, JoinSet};

use crate::audience::RunObserver;
use crate::chronicle::{RunJournal, RunJournalEntry};
use crate::drive::{RunSuspendReason, blocking};
use crate::first::{FirstRecordedAnswer, answer_own, told_first};
use crate::steer::{ShutdownLevel, SteeringInbox};

/// A future of the plan executor, because its work takes time.
pub type Doing<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;

/// Carries out the orders of a plan: agents in trees of their own, or a script.
///
/// An order may be given again after a crash. The executor must then find the work that it
/// began under the order's name, and end in the same facts.
pub trait PlanExecutor: Send + Sync + 'static {
    /// Carries out an order and returns its outcome.
    fn carry_out(
        self: Arc<Self>,
        order: PlanRunOrder,
        state: Arc<PlanRun>,
    ) -> Doing<PlanOrderOutcome>;

    /// Tells everything under way to end.
    fn call_off(self: Arc<Self>) -> Doing<()>;

    /// Lets the agents of a step resume that were paused with it.
    fn wake(self: Arc<Self>, step: String) -> Doing<()>;
}

/// The outcome of an order.
#[derive(Debug)]
pub enum PlanOrderOutcome {
    /// The order is done, and these are the facts to record.
    Facts(Vec<RunJournalEntry>),
    /// The order has to be left and can be taken up again.
    Left(RunSuspendReason),
}

/// Callback for progress of the steps.
pub type Told = dyn Fn(&PlanRun) + Send + Sync;

/// Drives the run of a plan.
pub struct PlanConductor<C> {
    /// The journal of the plan's run.
    pub chronicle: RunJournal,
    /// The state to resume from.
    pub conduct: PlanRun,
    /// Carries out the orders.
    pub crew: Arc<C>,
    /// The channel through which people reach the run.
    pub steering: SteeringInbox,
    pub audience: Arc<dyn RunObserver>,
    /// The person who can answer, or `None` if nobody is here.
    pub person: Option<Arc<dyn AskablePerson>>,
    /// The actor in whose name answers are recorded.
    pub answers_as: Actor,
    /// Called whenever a step has progressed.
    pub told: Arc<Told>,
}

/// The outcome of conducting a plan's run.
#[derive(Debug)]
pub enum ConductorOutcome {
    /// The run is over.
    Over(Box<PlanRun>),
    /// The run was left and can be taken up again.
    Left(RunSuspendReason),
}

/// The name of an order, with its outcome.
type Done = (String, Result<PlanOrderOutcome, Failure>);

/// Orders under way, and the reason for leaving if one had to be left.
#[derive(Default)]
struct ConductorTasks {
    tasks: JoinSet<Done>,
    /// Orders that this process has begun, by name; `None` for one that it had to leave.
    orders: BTreeMap<String, Option<PlanRunOrder>>,
    /// Steps that are or were paused by a person. Their agents may have to be woken.
    resting: BTreeSet<String>,
    left: Option<RunSuspendReason>,
    is_called_off: bool,
}

impl ConductorTasks {
    /// Returns whether an order can begin alongside those under way. The state machine
    /// does not know about them: a step that a person resumes may find its place taken.
    fn has_room_for(&self, order: &PlanRunOrder, conduct: &PlanRun) -> bool {
        let at_once = conduct.rules().at_once;
        let mut begun = self.orders.values().flatten();
        match order {
            PlanRunOrder::Do { step, part, .. } => {
                let at_work = begun.filter(|order| !self.is_resting(order));
                let mut steps: BTreeSet<_> = at_work.filter_map(step_of).collect();
                if steps.contains(step.as_str()) {
                    return true;
                }
                let is_new =
                    *part == AttemptPart::Start && conduct.steps_at_work().all(|it| it != step);
                if is_new {
                    // A step that waits for its turn to commit has nothing under way, yet
                    // keeps its place ahead of steps that have not begun.
                    steps.extend(conduct.steps_at_work());
                }
                steps.len() < at_once
            }
            // Commits on their way to the branch belong to the result of the run.
            PlanRunOrder::Close { .. } => !begun.any(moves_branch),
            _ => true,
        }
    }

    /// Returns whether work is under way that no person has paused. Work on a paused step
    /// reports itself when it has come to rest.
    fn is_at_work(&self, conduct: &PlanRun) -> bool {
        let is_held = |step| conduct.step(step).is_some_and(|step| step.is_paused);
        let mut begun = self.orders.values().flatten();
        !conduct.is_paused() && begun.any(|order| !step_of(order).is_some_and(is_held))
    }

    /// Returns whether an order takes no place because its step is paused. Its agents wait
    /// meanwhile; parts that the runtime carries out itself are finished first.
    fn is_resting(&self, order: &PlanRunOrder) -> bool {
        match order {
            PlanRunOrder::Do { step, part, .. } => {
                part.is_of_agent() && self.resting.contains(step)
            }
            _ => false,
        }
    }

    /// Notes that a person paused a step.
    fn hears(&mut self, fact: &Fact) {
        if let Fact::StepSteered(it) = fact
            && it.act == "pause"
        {
            self.resting.insert(it.step.clone());
        }
    }
}

fn step_of(order: &PlanRunOrder) -> Option<&str> {
    match order {
        PlanRunOrder::Do { step, .. } => Some(step),
        _ => None,
    }
}

fn moves_branch(order: &PlanRunOrder) -> bool {
    match order {
        PlanRunOrder::Do { part, .. } => *part == AttemptPart::Commit,
        PlanRunOrder::Mend { .. } => true,
        _ => false,
    }
}

impl<C: PlanExecutor> PlanConductor<C> {
    /// Carries out the plan until it ends or has to be left.
    pub async fn conduct(mut self) -> Result<ConductorOutcome, Failure> {
        let mut works = None;
        let begun = self.conduct.steps();
        let begun = begun.filter(|(_, step)| step.round > 0 && !step.is_over());
        let mut underway = ConductorTasks {
            // Another process may have left paused agents of these steps.
            resting: begun.map(|(spec, _)| spec.id.clone()).collect(),
            ..ConductorTasks::default()
        };
        loop {
            for fact in self.steering.news() {
                underway.hears(&fact);
                self.hear(fact)?;
            }
            if self.conduct.is_over() {
                return Ok(ConductorOutcome::Over(Box::new(self.conduct)));
            }
            if self.conduct.is_cancelled() && !underway.is_called_off {
                underway.is_called_off = true;
                Arc::clone(&self.crew).call_off().await?;
            }
            if self.steering.stop() == ShutdownLevel::No && self.order(&mut underway).await? {
                continue;
            }
            if let Some(left) = self.rests(&underway)? {
                return Ok(ConductorOutcome::Left(left));
            }
            let is_at_work = underway.is_at_work(&self.conduct);
            works = works
                .filter(|_| is_at_work)
                .or_else(|| is_at_work.then(|| self.audience.works()).flatten());
            self.wait(&mut underway).await?;
        }
    }

    /// Begins the orders that can be carried out now. Returns true if a fact was recorded
    /// instead.
    async fn order(&mut self, underway: &mut ConductorTasks) -> Result<bool, Failure> {
        let mut state = None;
        for order in self.conduct.next() {
            if let PlanRunOrder::Record(fact) = order {
                self.conclude(*fact, underway).await?;
                return Ok(true);
            }
            if !underway.has_room_for(&order, &self.conduct) {
                continue;
            }
            let step = step_of(&order).filter(|step| underway.resting.remove(*step));
            if let Some(step) = step {
                Arc::clone(&self.crew).wake(step.to_owned()).await?;
            }
            let name = order.to_string();
            if underway.orders.contains_key(&name) {
                continue;
            }
            underway.orders.insert(name.clone(), Some(order.clone()));
            let state = state.get_or_insert_with(|| Arc::new(self.conduct.clone()));
            let doing = match order {
                PlanRunOrder::Await(asked) => self.answer(*asked),
                order => Arc::clone(&self.crew).carry_out(order, Arc::clone(state)),
            };
            underway.tasks.spawn(async move { (name, doing.await) });
        }
        Ok(false)
    }

    /// Returns why the run is left once nothing is under way, or `None` to keep waiting.
    fn rests(&self, underway: &ConductorTasks) -> Result<Option<RunSuspendReason>, Failure> {
        if !underway.tasks.is_empty() {
            return Ok(None);
        }
        if self.steering.stop() != ShutdownLevel::No {
            return Ok(Some(RunSuspendReason::Interrupted));
        }
        if let Some(left) = &underway.left {
            return Ok(Some(left.clone()));
        }
        if self.conduct.is_paused() {
            self.audience.waits("paused; `artel resume` lets it go on");
            return Ok(None);
        }
        if let Some(step) = self.conduct.paused_steps().next() {
            let title = &step.title;
            let text = format!("`{title}` is paused; `artel plan resume` lets it go on");
            self.audience.waits(&text);
            return Ok(None);
        }
        Err(Failure::new(
            FailureCode::X001,
            "a plan's run has nothing to do and is not over",
        ))
    }

    /// Waits until an order is done or a person intervenes.
    async fn wait(&mut self, underway: &mut ConductorTasks) -> Result<(), Failure> {
        let done = if underway.tasks.is_empty() {
            let rest = self.audience.rests();
            let heard = self.steering.heard().await;
            drop(rest);
            return self.heard(heard, underway);
        } else {
            tokio::select! {
                done = underway.tasks.join_next() => done,
                heard = self.steering.heard() => return self.heard(heard, underway),
            }
        };
        self.take_in(done, underway).await
    }

    /// Records finished orders, all of them together if there are several.
    async fn take_in(
        &mut self,
        mut done: Option<Result<Done, JoinError>>,
        underway: &mut ConductorTasks,
    ) -> Result<(), Failure> {
        let (mut entries, mut names) = (Vec::new(), Vec::new());
        let mut result = Ok(());
        while let Some(one) = done {
            let one = one.map_err(|error| Failure::new(FailureCode::X001, error.to_string()));
            match one.and_then(|(name, did)| Ok((name, did?))) {
                Ok((name, PlanOrderOutcome::Facts(facts))) => {
                    entries.extend(facts);
                    names.push(name);
                }
                // The question was answered elsewhere in the meantime.
                Ok((name, PlanOrderOutcome::Left(_)))
                    if self.is_settled(underway.orders.get(&name)) =>
                {
                    names.push(name);
                }
                // The name stays taken, so that this process does not begin the order
                // again.
                Ok((name, PlanOrderOutcome::Left(left))) => {
                    underway.orders.insert(name, None);
                    underway.left = Some(left);
                }
                Err(failure) => result = Err(failure),
            }
            done = underway.tasks.try_join_next();
        }
        self.record(entries, underway).await?;
        for name in names {
            underway.orders.remove(&name);
        }
        result
    }

    fn heard(&mut self, fact: Option<Fact>, underway: &mut ConductorTasks) -> Result<(), Failure> {
        let Some(fact) = fact else { return Ok(()) };
        underway.hears(&fact);
        self.hear(fact)
    }

    /// Returns whether an order was waiting for an answer that has arrived. Questions from
    /// the agent of a step are unknown here, so such a step stays left until somebody
    /// answers.
    fn is_settled(&self, order: Option<&Option<PlanRunOrder>>) -> bool {
        let Some(Some(PlanRunOrder::Await(asked))) = order else {
            return false;
        };
        self.conduct.is_cancelled() || !self.is_open(&asked.question)
    }

    /// Folds what others recorded, including the stored texts that the state machine
    /// needs.
    fn hear(&mut self, mut fact: Fact) -> Result<(), Failure> {
        self.chronicle.put_back(&mut fact)?;
        let open: Vec<RunAsked> = self.conduct.questions().cloned().collect();
        self.conduct.fold(&fact);
        if let Some(person) = &self.person {
            for (asked, why) in self.no_more_asked(open, &fact) {
                person.settled(&asked.text, &why);
            }
        }
        Ok(())
    }

    /// Returns the questions that a fact has settled, each with the reason, so that the
    /// person here is not asked any more.
    fn no_more_asked(&self, open: Vec<RunAsked>, fact: &Fact) -> Vec<(RunAsked, String)> {
        let is_open = |asked: &RunAsked| self.is_open(&asked.question);
        let why = |asked: &RunAsked| match fact {
            Fact::RunAnswered(it) if it.question == asked.question => {
                Some(format!("answered elsewhere: {}", it.answer))
            }
            _ if self.conduct.is_cancelled() => Some("cancelled elsewhere".to_owned()),
            Fact::StepSettled(it) if !is_open(asked) => {
                Some(format!("{} elsewhere: {}", it.state, it.why))
            }
            _ => None,
        };
        let settled = open.into_iter().filter_map(|asked| {
            let why = why(&asked)?;
            Some((asked, why))
        });
        settled.collect()
    }

    /// Returns whether a question is still unanswered.
    fn is_open(&self, question: &str) -> bool {
        let mut open = self.conduct.questions();
        open.any(|it| it.question == question)
    }

    /// Records a fact that follows from the state. Such a fact can settle an open
    /// question.
    async fn conclude(&mut self, fact: Fact, underway: &mut ConductorTasks) -> Result<(), Failure> {
        let open: Vec<RunAsked> = self.conduct.questions().cloned().collect();
        self.record(vec![RunJournalEntry::shown(fact.clone())], underway)
            .await?;
        if let (Fact::RunAnswered(it), Some(person)) = (&fact, &self.person) {
            let asked = open.iter().find(|asked| asked.question == it.question);
            if let Some(asked) = asked {
                person.settled(&asked.text, &it.answer);
            }
        }
        Ok(())
    }

    /// Records an answer. If somebody elsewhere was first, that answer counts; it is then
    /// read from the journal together with the events around it.
    async fn record_answer(
        &mut self,
        entry: RunJournalEntry,
        underway: &mut ConductorTasks,
    ) -> Result<(), Failure> {
        let fact = entry.fact.clone();
        let Fact::RunAnswered(RunAnswered { question, .. }) = &fact else {
            return Ok(());
        };
        // The person here has been told whose answer counts.
        if !self.is_open(question) {
            return Ok(());
        }
        let (chronicle, asked) = (self.chronicle.clone(), question.clone());
        match blocking(move || answer_own(&chronicle, &asked, entry)).await? {
            FirstRecordedAnswer::Mine(seq) => {
                self.steering.leave_out(seq..=seq);
                self.conduct.fold(&fact);
            }
            FirstRecordedAnswer::Other(event) => {
                self.audience.notice(&told_first(&event));
                while self.is_open(question) {
                    let heard = self.steering.heard().await;
                    self.heard(heard, underway)?;
                }
            }
        }
        Ok(())
    }

    async fn record(
        &mut self,
        entries: Vec<RunJournalEntry>,
        underway: &mut ConductorTasks,
    ) -> Result<(), Failure> {
        let is_answer = |entry: &RunJournalEntry| matches!(entry.fact, Fact::RunAnswered(_));
        let (answers, entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_answer);
        for answer in answers {
            self.record_answer(answer, underway).await?;
        }
        if entries.is_empty() {
            return Ok(());
        }
        let facts: Vec<Fact> = entries.iter().map(|entry| entry.fact.clone()).collect();
        let seqs = self.chronicle.append_at(entries).await?;
        self.steering.leave_out(seqs);
        let is_step = |fact: &Fact| fact.kind().starts_with("step.");
        let has_moved = facts.iter().any(is_step);
        for mut fact in facts {
            self.chronicle.put_back(&mut fact)?;
            self.conduct.fold(&fact);
        }
        if has_moved {
            (self.told)(&self.conduct);
        }
        Ok(())
    }

    /// Puts a question to the person here, if there is one.
    fn answer(&self, asked: RunAsked) -> Doing<PlanOrderOutcome> {
        let (person, by) = (self.person.clone(), self.answers_as.clone());
        Box::pin(async move {
            let Some(person) = person else {
                return Ok(PlanOrderOutcome::Left(RunSuspendReason::Question(
                    Box::new(asked),
                )));
            };
            let question = asked.clone();
            let answer = blocking(move || {
                let (text, choices) = (&question.text, &question.choices);
                Ok(match &question.suggested {
                    Some(filled_in) => person.answer_filled_in(text, choices, filled_in),
                    None => person.answer(text, choices),
                })
            });
            let answer = answer.await?;
            let Some(answer) = answer else {
                return Ok(PlanOrderOutcome::Left(RunSuspendReason::Question(
                    Box::new(asked),
                )));
            };
            let answered = RunAnswered {
                question: asked.question,
                answer,
            };
            Ok(PlanOrderOutcome::Facts(vec![
                RunJournalEntry::shown(answered).by(by),
            ]))
        })
    }
}
