//! Staying with a run that another process drives: the daemon, to which a plan is handed over, or
//! whoever else has it.

use std::sync::Arc;
use std::time::Duration;

use artel_engine::{RunSuspendReason, ShutdownLevel};
use artel_journal::{EventBatch, EventFilter, EventQuery};
use artel_tools::AskablePerson;
use artel_types::{EventDraft, Failure, PlanHandedOver, RunAsked, RunId, StreamName, TraceId};

use super::calls::{CallApprovalDecision, CallAwaitingApproval};
use super::work::Work;
use crate::runs::RunObservers;
use crate::trouble::WorkshopFailures;
use crate::workshop::Workshop;

/// Poll interval for the other process.
const LOOK: Duration = Duration::from_millis(300);

/// Poll interval while waiting for the daemon to begin, and the number of polls.
const BEGIN: (Duration, u32) = (Duration::from_millis(50), 100);

/// The reason why watching ended.
#[derive(Debug)]
pub(crate) enum PlanWatchOutcome {
    /// The run has no other driver.
    Free,
    /// The person leaves, and the other process continues.
    Away,
    /// A call there awaits approval, and nobody is here to give it.
    Asked(Box<RunAsked>),
}

impl PlanWatchOutcome {
    /// Returns why what is driven elsewhere is left; nothing where it can be driven here.
    pub(crate) fn left(self) -> Option<RunSuspendReason> {
        match self {
            Self::Free => None,
            Self::Away => Some(RunSuspendReason::Interrupted),
            Self::Asked(asked) => Some(RunSuspendReason::Question(asked)),
        }
    }
}

impl Workshop {
    /// Returns whether a daemon is running that would do the work just as this process would,
    /// with no settings that hold only for this command.
    pub fn can_hand_over(&self) -> Result<bool, Failure> {
        let has_own = crate::models::text_of(&self.caller.environment, "ARTEL_MODEL").is_some()
            || !self.caller.flags.set.is_empty();
        if has_own || self.daemon_status()?.running.is_none() {
            return Ok(false);
        }
        Ok(!self.is_daemon_held()?)
    }

    /// Hands an approved plan to the daemon and waits until it begins. If the daemon is too
    /// busy to begin in time, any process may take the plan.
    pub async fn hand_over(&self, work: &Work, run: RunId) -> Result<(), Failure> {
        if self.drivers_now()?.run(run).is_some() {
            return Ok(());
        }
        let journal = self.open()?.journal;
        let stream = StreamName::work(work.trace);
        let handed = PlanHandedOver { run };
        let draft = EventDraft::new(stream, work.trace, self.caller.actor(), handed);
        journal.append(EventBatch::of([draft])).await?;
        let (pause, looks) = BEGIN;
        for _ in 0..looks {
            if self.drivers_now()?.run(run).is_some() {
                break;
            }
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }

    /// Stays for as long as another process drives a run. Calls that wait for a yes there
    /// are put to whoever is here.
    pub(crate) async fn attend(
        self: &Arc<Self>,
        trace: TraceId,
        run: RunId,
        company: &RunObservers,
    ) -> Result<PlanWatchOutcome, Failure> {
        let company = self.without_secrets_said(company.clone());
        let (mut stop, mut said) = (company.stop.clone(), None);
        loop {
            let Some(driver) = self.drivers_now()?.run(run).map(str::to_owned) else {
                return Ok(PlanWatchOutcome::Free);
            };
            if *stop.borrow() != ShutdownLevel::No {
                return Ok(PlanWatchOutcome::Away);
            }
            if said.as_ref() != Some(&driver) {
                let what = format!("run {} goes on in {driver}", run.short());
                company.audience.waits(&what);
                said = Some(driver);
            }
            if let Some(call) = self.call_of(trace)? {
                match &company.person {
                    Some(person) => self.put_call(&call, person).await?,
                    None => return Ok(PlanWatchOutcome::Asked(Box::new(self.as_question(&call)?))),
                }
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                changed = stop.changed() => if changed.is_err() {
                    tokio::time::sleep(LOOK).await;
                },
            }
        }
    }

    /// Returns the oldest call of a piece of work that awaits approval. Finding the calls
    /// folds the whole journal, so this happens only if some call is open.
    fn call_of(&self, trace: TraceId) -> Result<Option<CallAwaitingApproval>, Failure> {
        if !self.has_open_calls(trace)? {
            return Ok(None);
        }
        let open = self.open_calls()?.into_iter();
        Ok(open.filter(|it| it.trace == trace).min_by_key(|it| it.seq))
    }

    /// Returns whether a piece of work has more asked calls than answered ones.
    fn has_open_calls(&self, trace: TraceId) -> Result<bool, Failure> {
        let reader = self.reader()?;
        let count = |kind: &str| -> Result<usize, Failure> {
            let filter = EventFilter {
                trace: Some(trace.to_string()),
                kind: Some(kind.to_owned()),
                ..EventFilter::default()
            };
            Ok(reader.records(&EventQuery::of(filter))?.len())
        };
        Ok(count("tool.asked")? > count("tool.answered")?)
    }

    /// Returns a call in the form of a question.
    fn as_question(&self, call: &CallAwaitingApproval) -> Result<RunAsked, Failure> {
        let what = self.whole_text(&call.asked.shown)?;
        let waits = call.waits(what);
        Ok(RunAsked {
            question: waits.id,
            text: waits.text,
            choices: waits.choices,
            call: Some(call.asked.call.clone()),
            suggested: None,
        })
    }

    /// Asks the person here about a call, until a decision is made here or elsewhere.
    async fn put_call(
        self: &Arc<Self>,
        call: &CallAwaitingApproval,
        person: &Arc<dyn AskablePerson>,
    ) -> Result<(), Failure> {
        let what = self.whole_text(&call.asked.shown)?;
        let beyond = call.beyond_once();
        let beyond = beyond.map_or(String::new(), |it| format!("\nbeyond once it allows: {it}"));
        let text = format!(
            "{}\n{what}\nwhy asked: {}{beyond}\nAllow it?",
            call.asked.tool, call.asked.why
        );
        let (asking, question) = (Arc::clone(person), text.clone());
        let choices = call.choices();
        let mut answered = tokio::task::spawn_blocking(move || asking.answer(&question, &choices));
        let answer = loop {
            tokio::select! {
                answer = &mut answered => break answer.ok().flatten(),
                () = tokio::time::sleep(LOOK) => {}
            }
            // If the check fails for the moment, the question stands.
            if self.has_open_calls(call.trace).is_ok_and(|it| !it) {
                person.settled(&text, "it is no question any more");
            }
        };
        // The person left, or somebody else answered first.
        let Some(words) = answer.as_deref().and_then(CallApprovalDecision::of_words) else {
            return Ok(());
        };
        let reply = match words.reply {
            CallApprovalDecision::Always(reason) if reason.is_empty() => {
                match self.reason_of(person).await {
                    Some(reason) => CallApprovalDecision::Always(reason),
                    // Without a reason, the grant is not permanent.
                    None => CallApprovalDecision::Once,
                }
            }
            reply => reply,
        };
        let answered = self.answer_call(call, &call.asked.record, &reply);
        match answered.map_err(WorkshopFailures::first) {
            Err(failure) if failure.code != artel_types::FailureCode::R008 => Err(failure),
            _ => Ok(()),
        }
    }

    /// Asks the reason for a permanent grant.
    async fn reason_of(&self, person: &Arc<dyn AskablePerson>) -> Option<String> {
        let asking = Arc::clone(person);
        let question = "Reason for always allowing this (Enter: allow once only)";
        let asked = tokio::task::spawn_blocking(move || asking.answer(question, &[]));
        let reason = asked.await.ok().flatten()?;
        Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty())
    }
}
