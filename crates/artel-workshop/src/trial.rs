//! A trial of a model: one tiny prompt and one tool call, through the whole gateway.

mod question;

use std::time::Duration;

use artel_model::{Answer, Call, CallError, Chosen, Context, Gateway, Progress, Wait};
use artel_types::model::{
    Attribution, CallReason, Chunk, Fault, FaultKind, Part, Priority, Privacy, Request, ToolCall,
};
use artel_types::{ActorKind, Code, Failure, Money};
use artel_vault::Origin;
use serde::Serialize;

use crate::models::Models;
use crate::workshop::{Open, Workshop};

/// A trial takes no longer, so that the command as a whole takes at most 20 s.
const LONGEST: Duration = Duration::from_secs(18);

/// How long a call that was called off may take to be settled.
const LAST_REST: Duration = Duration::from_secs(1);

/// Pieces that come within so little time were not written in it.
const AT_ONCE: Duration = Duration::from_millis(10);

/// Whether something works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Feature {
    /// It was seen to work.
    Works,
    /// It was not seen; it may not be there.
    #[default]
    Unseen,
}

/// What a trial showed.
#[derive(Debug, Clone, Serialize)]
pub struct Trial {
    /// Whether text arrived and a well-formed call of the offered tool.
    pub ok: bool,
    /// What was asked for.
    pub alias: String,
    /// What that means here.
    pub resolved: String,
    /// Who answered.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Where it is.
    pub base_url: Option<String>,
    /// Words arrived.
    pub text: Feature,
    /// A well-formed call of the offered tool arrived.
    pub tool_call: Feature,
    /// The answer came in several pieces.
    pub streaming: Feature,
    /// Thoughts arrived.
    pub thinking: Feature,
    /// The provider counted tokens.
    pub usage: Feature,
    /// Milliseconds until the first piece of the first answer.
    pub first_ms: Option<u64>,
    /// Milliseconds for all answers.
    pub total_ms: u64,
    /// Tokens written in a second, as the provider counts them, from the first piece to the last.
    pub tokens_per_second: Option<f64>,
    /// What it took.
    pub tokens: u64,
    /// What it cost, in millionths of a US dollar; nothing if no price is known.
    #[serde(rename = "cost_microusd")]
    pub cost: Option<Money>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// What was noticed on the way.
    pub notes: Vec<String>,
    /// How many tokens were written in how long.
    #[serde(skip)]
    written: (u64, Duration),
}

impl Workshop {
    /// Tries a model out that the person names, which beats `ARTEL_MODEL`. `say` hears what is
    /// waited for.
    pub async fn try_model(
        &self,
        alias: Option<&str>,
        say: &mut dyn FnMut(String),
    ) -> Result<Trial, Failure> {
        let models = self.models(alias).await?;
        self.try_of(models, alias, say).await
    }

    /// Tries out what an alias of the list means to runs, with `ARTEL_MODEL` as they have it. What
    /// is no alias is a model that is named.
    pub async fn try_listed(&self, alias: &str) -> Result<Trial, Failure> {
        let models = self.models(None).await?;
        if models.list().iter().any(|row| row.alias == alias) {
            return self.try_of(models, Some(alias), &mut |_| {}).await;
        }
        self.try_model(Some(alias), &mut |_| {}).await
    }

    async fn try_of(
        &self,
        models: Models,
        alias: Option<&str>,
        say: &mut dyn FnMut(String),
    ) -> Result<Trial, Failure> {
        let chosen = models.choose(alias)?;
        let key = models.key_of(&chosen.entry)?.map(|found| found.from);
        let Open { journal, notes } = self.open()?;
        notes.into_iter().for_each(&mut *say);
        // Before the model is connected: its key would make this gateway another than that of runs.
        let gateway = self.gateway(&journal, &models).await?;
        let model = models.connect(&chosen, self)?;
        let call = Call {
            request: Request::default(),
            prior: None,
            model,
            chosen: chosen.clone(),
            priority: Priority::of_call(self.reason_to_try(), Priority::Background),
            privacy: Privacy::Any,
            account: Attribution {
                person: Some(self.caller.actor().id),
                ..Attribution::default()
            },
            context: Context {
                above: Vec::new(),
                step: None,
                trace: self.trace_id(),
                actor: self.caller.actor(),
                session: None,
                run: None,
            },
        };
        let mut trial = Trial::of(&chosen);
        let asked = tokio::time::timeout(LONGEST, trial.run(&gateway, &call, say)).await;
        trial.error = match asked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(advised(error.into(), &chosen, key.as_ref())),
            Err(_) => Some(advised(trial.too_slow(), &chosen, key.as_ref())),
        };
        // What was called off is settled before the process ends.
        gateway.rest(LAST_REST).await;
        trial.conclude(say);
        Ok(trial)
    }
}

impl Workshop {
    /// Returns why a model is tried: nobody waits at a screen for what a program tries.
    fn reason_to_try(&self) -> CallReason {
        match self.caller.actor().kind {
            ActorKind::Human => CallReason::PersonWaits,
            ActorKind::Program | ActorKind::Agent | ActorKind::System => CallReason::Work,
        }
    }
}

impl Trial {
    fn of(chosen: &Chosen) -> Self {
        Self {
            ok: false,
            alias: chosen.wanted.clone(),
            resolved: chosen.resolved.clone(),
            provider: chosen.entry.provider.to_string(),
            model: chosen.entry.model.clone(),
            base_url: Some(chosen.base_url()).filter(|url| !url.is_empty()),
            text: Feature::Unseen,
            tool_call: Feature::Unseen,
            streaming: Feature::Unseen,
            thinking: Feature::Unseen,
            usage: Feature::Unseen,
            first_ms: None,
            total_ms: 0,
            tokens_per_second: None,
            tokens: 0,
            cost: None,
            error: None,
            notes: Vec::new(),
            written: Default::default(),
        }
    }

    fn too_slow(&self) -> Failure {
        let asked = "the model was asked and has not finished answering";
        let why = self.notes.last().map_or(asked, String::as_str);
        let what = format!("no answer within {} s", LONGEST.as_secs());
        Failure::new(Code::M009, what).because(why)
    }

    /// Says what is missing where every question was answered.
    fn conclude(&mut self, say: &mut dyn FnMut(String)) {
        self.ok = self.text == Feature::Works && self.tool_call == Feature::Works;
        if self.ok || self.error.is_some() {
            return;
        }
        let missing = [
            (self.text, "no words came"),
            (self.tool_call, "no well-formed call of the tool came"),
        ];
        let missing = missing.iter().filter(|(seen, _)| *seen == Feature::Unseen);
        let missing: Vec<&str> = missing.map(|(_, what)| *what).collect();
        let what = format!("the model answered, but {}", missing.join(", and "));
        self.note(what, say);
    }

    /// Asks for both at once, and then again for what did not come.
    async fn run(
        &mut self,
        gateway: &Gateway,
        call: &Call,
        say: &mut dyn FnMut(String),
    ) -> Result<(), CallError> {
        self.ask(gateway, call, question::both(), say).await?;
        if self.tool_call == Feature::Unseen {
            self.ask(gateway, call, question::only_call(), say).await?;
        }
        if self.text == Feature::Unseen {
            self.ask(gateway, call, question::only_words(), say).await?;
        }
        Ok(())
    }

    async fn ask(
        &mut self,
        gateway: &Gateway,
        call: &Call,
        request: Request,
        say: &mut dyn FnMut(String),
    ) -> Result<(), CallError> {
        let asked = Call {
            request,
            ..call.clone()
        };
        let (mut calling, mut pieces) = (gateway.call(asked), 0_u32);
        while let Some(progress) = calling.next().await {
            match progress {
                Progress::Piece(Chunk::Text { .. } | Chunk::ToolDelta { .. }) => pieces += 1,
                Progress::Waiting(wait) => {
                    if let Some(fault) = self.wait(wait, say) {
                        return Err(CallError::Fault {
                            provider: call.chosen.health_name(),
                            fault,
                            attempts: 1,
                            partial: String::new(),
                        });
                    }
                }
                Progress::Notice(notice) => self.note(notice, say),
                Progress::Done(answer) => {
                    if pieces > 1 {
                        self.streaming = Feature::Works;
                    }
                    self.take(&answer, say);
                    return Ok(());
                }
                Progress::Failed(error) => return Err(*error),
                Progress::Asking { .. } | Progress::Piece(_) => {}
            }
        }
        Err(CallError::CalledOff)
    }

    /// Says what is waited for. Where nobody listens, it is not waited: the person who is watching
    /// is the one who can change that.
    fn wait(&mut self, wait: Wait, say: &mut dyn FnMut(String)) -> Option<Fault> {
        let text = wait.to_string();
        let last = self.notes.last().map(String::as_str).unwrap_or_default();
        let Wait::Retry { fault, .. } = wait else {
            // A pause is often announced by the attempt that brought it about.
            let until = text.rsplit_once(" until ").map(|(_, until)| until);
            if !until.is_some_and(|until| last.ends_with(until)) {
                self.note(text, say);
            }
            return None;
        };
        if fault.kind == FaultKind::Unreachable {
            return Some(fault);
        }
        // What went wrong may have been said the moment before.
        let said = fault.to_string();
        let rest = text.strip_prefix(&said).filter(|_| last.ends_with(&said));
        let rest = rest.map(|rest| rest.trim_start_matches("; ").to_owned());
        self.note(rest.unwrap_or(text), say);
        None
    }

    fn note(&mut self, text: String, say: &mut dyn FnMut(String)) {
        self.notes.push(text.clone());
        say(text);
    }

    fn take(&mut self, answer: &Answer, say: &mut dyn FnMut(String)) {
        let reply = &answer.reply;
        let is_thought = |part: &Part| matches!(part, Part::Thinking { .. });
        let is_good = |call: &ToolCall| question::complaint(call).is_none();
        let seen = [
            (&mut self.text, !reply.text().trim().is_empty()),
            (&mut self.tool_call, reply.tool_calls().any(is_good)),
            (&mut self.thinking, reply.parts.iter().any(is_thought)),
            (&mut self.usage, reply.usage.is_some()),
        ];
        for (feature, is_seen) in seen {
            if is_seen {
                *feature = Feature::Works;
            }
        }
        for what in reply.tool_calls().filter_map(question::complaint) {
            self.note(what, say);
        }
        self.cost = match self.first_ms {
            None => answer.cost,
            Some(_) => self.cost.zip(answer.cost).map(|(sum, cost)| sum + cost),
        };
        self.first_ms.get_or_insert(millis(answer.first));
        self.total_ms += millis(answer.total);
        self.tokens = self.tokens.saturating_add(answer.charged.tokens.0);
        self.measure(answer);
    }

    /// An answer that came all at once was written before it came.
    fn measure(&mut self, answer: &Answer) {
        let Some(usage) = answer.reply.usage else {
            return;
        };
        let streamed = answer.total.saturating_sub(answer.first);
        let span = match streamed < AT_ONCE {
            true => answer.total,
            false => streamed,
        };
        let (tokens, time) = &mut self.written;
        *tokens = tokens.saturating_add(usage.output);
        *time += span;
        let speed = *tokens as f64 / time.as_secs_f64();
        self.tokens_per_second = speed.is_finite().then(|| (speed * 10.0).round() / 10.0);
    }
}

/// Whatever went wrong, there is a next thing to do.
fn advised(failure: Failure, chosen: &Chosen, key: Option<&Origin>) -> Failure {
    let provider = chosen.entry.provider;
    let advice = match (failure.code, key) {
        (Code::M003, Some(Origin::Env(name))) => format!("the key is from `{name}`: set another"),
        (Code::M003, Some(Origin::System(account) | Origin::File(account))) => {
            format!("`artel auth set {provider} --account {account}`")
        }
        (Code::M003, None) => format!("`artel auth set {provider}`"),
        _ if failure.advice.is_some() => return failure,
        (Code::M012, _) => "mend the script, or record it again: `docs/rehearsal.md`".to_owned(),
        _ => "`artel model show` names the place, and how the provider is".to_owned(),
    };
    failure.advise(advice)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
