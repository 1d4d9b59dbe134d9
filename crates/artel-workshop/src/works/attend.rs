//! Staying with a run that another process drives: the daemon, to which a plan is handed over, or
//! whoever else has it.

use std::sync::Arc;
use std::time::Duration;

use artel_engine::{Left, Stop};
use artel_journal::{Batch, Filter, Query};
use artel_tools::Person;
use artel_types::{Draft, Failure, PlanHandedOver, RunAsked, RunId, Stream, TraceId};

use super::calls::{CallReply, OpenCall};
use super::work::Work;
use crate::runs::Company;
use crate::trouble::Problems;
use crate::workshop::Workshop;

/// How often there is a look at what the other process does.
const LOOK: Duration = Duration::from_millis(300);

/// How often there is a look whether the daemon has begun, and how many times.
const BEGIN: (Duration, u32) = (Duration::from_millis(50), 100);

/// Why somebody no longer stays.
#[derive(Debug)]
pub(crate) enum Attended {
    /// Nobody else drives it.
    Free,
    /// The person goes; the other process goes on.
    Away,
    /// A call waits for a yes there, and nobody is here to give one.
    Asked(Box<RunAsked>),
}

impl Attended {
    /// Returns why what is driven elsewhere is left; nothing where it can be driven here.
    pub(crate) fn left(self) -> Option<Left> {
        match self {
            Self::Free => None,
            Self::Away => Some(Left::Interrupted),
            Self::Asked(asked) => Some(Left::Question(asked)),
        }
    }
}

impl Workshop {
    /// Tells whether a daemon takes work on that would have it done as this process would: nothing
    /// was said that only holds for this command.
    pub fn can_hand_over(&self) -> Result<bool, Failure> {
        let has_own = crate::models::text_of(&self.caller.environment, "ARTEL_MODEL").is_some()
            || !self.caller.flags.set.is_empty();
        if has_own || self.daemon_status()?.running.is_none() {
            return Ok(false);
        }
        Ok(!self.is_daemon_held()?)
    }

    /// Leaves a plan that was approved to the daemon, and waits until it has begun with it. Where it
    /// does not, as it has its hands full, the plan is anybody's.
    pub async fn hand_over(&self, work: &Work, run: RunId) -> Result<(), Failure> {
        if self.drivers_now()?.run(run).is_some() {
            return Ok(());
        }
        let journal = self.open()?.journal;
        let stream = Stream::work(work.trace);
        let handed = PlanHandedOver { run };
        let draft = Draft::new(stream, work.trace, self.caller.actor(), handed);
        journal.append(Batch::of([draft])).await?;
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
        company: &Company,
    ) -> Result<Attended, Failure> {
        let company = self.without_secrets_said(company.clone());
        let (mut stop, mut said) = (company.stop.clone(), None);
        loop {
            let Some(driver) = self.drivers_now()?.run(run).map(str::to_owned) else {
                return Ok(Attended::Free);
            };
            if *stop.borrow() != Stop::No {
                return Ok(Attended::Away);
            }
            if said.as_ref() != Some(&driver) {
                let what = format!("run {} goes on in {driver}", run.short());
                company.audience.waits(&what);
                said = Some(driver);
            }
            if let Some(call) = self.call_of(trace)? {
                match &company.person {
                    Some(person) => self.put_call(&call, person).await?,
                    None => return Ok(Attended::Asked(Box::new(self.as_question(&call)?))),
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

    /// Returns the oldest call of a piece of work that waits for a yes. Who is asked what is folded
    /// from the whole journal, so that is done only where something is open.
    fn call_of(&self, trace: TraceId) -> Result<Option<OpenCall>, Failure> {
        if !self.has_open_calls(trace)? {
            return Ok(None);
        }
        let open = self.open_calls()?.into_iter();
        Ok(open.filter(|it| it.trace == trace).min_by_key(|it| it.seq))
    }

    /// Tells whether more calls of a piece of work were asked about than answered.
    fn has_open_calls(&self, trace: TraceId) -> Result<bool, Failure> {
        let reader = self.reader()?;
        let count = |kind: &str| -> Result<usize, Failure> {
            let filter = Filter {
                trace: Some(trace.to_string()),
                kind: Some(kind.to_owned()),
                ..Filter::default()
            };
            Ok(reader.records(&Query::of(filter))?.len())
        };
        Ok(count("tool.asked")? > count("tool.answered")?)
    }

    /// Returns a call as the question that it is.
    fn as_question(&self, call: &OpenCall) -> Result<RunAsked, Failure> {
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

    /// Puts a call to the person here, until they or somebody elsewhere has decided.
    async fn put_call(
        self: &Arc<Self>,
        call: &OpenCall,
        person: &Arc<dyn Person>,
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
            // Where this cannot be told just now the question stands.
            if self.has_open_calls(call.trace).is_ok_and(|it| !it) {
                person.settled(&text, "it is no question any more");
            }
        };
        // They went, or somebody else was first.
        let Some(words) = answer.as_deref().and_then(CallReply::of_words) else {
            return Ok(());
        };
        let reply = match words.reply {
            CallReply::Always(reason) if reason.is_empty() => {
                match self.reason_of(person).await {
                    Some(reason) => CallReply::Always(reason),
                    // Without a reason nothing is kept for good.
                    None => CallReply::Once,
                }
            }
            reply => reply,
        };
        let answered = self.answer_call(call, &call.asked.record, &reply);
        match answered.map_err(Problems::first) {
            Err(failure) if failure.code != artel_types::Code::R008 => Err(failure),
            _ => Ok(()),
        }
    }

    /// Asks why something is granted for good.
    async fn reason_of(&self, person: &Arc<dyn Person>) -> Option<String> {
        let asking = Arc::clone(person);
        let question = "Reason for always allowing this (Enter: allow once only)";
        let asked = tokio::task::spawn_blocking(move || asking.answer(question, &[]));
        let reason = asked.await.ok().flatten()?;
        Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty())
    }
}
