//! The journal of one run: what is appended to it, and all of it again.

use std::ops::{ControlFlow, RangeInclusive};

use artel_journal::{Batch, Fence, Filter, Journal, Query};
use artel_model::Owed;
use artel_types::{
    Actor, Code, Draft, Event, Fact, Failure, Outcome, RunId, SessionId, Stream, Text, TraceId,
    Visibility,
};
use futures_util::FutureExt as _;

/// Larger texts are kept beside the journal, and the event names them.
const LARGEST_INLINE: usize = 4 * 1024;

/// The journal of one run.
#[derive(Debug, Clone)]
pub struct Chronicle {
    journal: Journal,
    run: RunId,
    trace: TraceId,
    session: Option<SessionId>,
    actor: Actor,
    /// The proof that this process drives the run.
    fence: Option<Fence>,
}

/// Something to append.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What happened.
    pub fact: Fact,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Who is shown it.
    pub visibility: Visibility,
    /// Who did it, if not the run's agent.
    pub actor: Option<Actor>,
}

impl Entry {
    /// Everybody sees it.
    pub fn shown(fact: impl Into<Fact>) -> Self {
        Self {
            fact: fact.into(),
            outcome: None,
            visibility: Visibility::Summary,
            actor: None,
        }
    }

    /// Only the full view has it.
    pub fn quiet(fact: impl Into<Fact>) -> Self {
        Self {
            visibility: Visibility::Full,
            ..Self::shown(fact)
        }
    }

    /// Says how it ended.
    #[must_use]
    pub fn ending(mut self, outcome: Outcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Says who did it.
    #[must_use]
    pub fn by(mut self, actor: Actor) -> Self {
        self.actor = Some(actor);
        self
    }
}

impl Chronicle {
    /// Opens the journal of a run.
    pub fn new(
        journal: Journal,
        run: RunId,
        trace: TraceId,
        session: Option<SessionId>,
        actor: Actor,
    ) -> Self {
        Self {
            journal,
            run,
            trace,
            session,
            actor,
            fence: None,
        }
    }

    /// Appends only as long as a lease holds.
    #[must_use]
    pub fn fenced(mut self, fence: Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    /// Returns the run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Returns the piece of work.
    pub fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Marks the moment at which something begins that a full disk could spoil.
    pub fn mark_room(&self) -> u64 {
        self.journal.room().mark()
    }

    /// Refuses to go by a result that came while there was no room on the disk: what failed may have
    /// failed for that alone. It is settled like one whose process was killed.
    pub fn ensure_room(&self, since: u64) -> Result<(), Failure> {
        let what = match self.journal.lack() {
            Some(lack) => lack.to_string(),
            None if self.journal.room().lacked_since(since) => "the disk was full".to_owned(),
            None => return Ok(()),
        };
        Err(Failure::new(Code::J006, what)
            .because("what failed meanwhile is done again once there is room")
            .advise("free some space, then resume"))
    }

    /// Appends, and returns once that is durable.
    pub async fn append(&self, entries: Vec<Entry>) -> Result<(), Failure> {
        self.append_at(entries).await?;
        Ok(())
    }

    /// Appends, and returns where that stands once it is durable.
    pub(crate) async fn append_at(
        &self,
        entries: Vec<Entry>,
    ) -> Result<RangeInclusive<u64>, Failure> {
        Ok(self.journal.append(self.batch(entries)).await?.seqs)
    }

    /// Hands over what is written with the next thing that this run appends, and returns the
    /// promise: nothing may follow from it before it is kept.
    pub(crate) fn append_with_next(&self, entries: Vec<Entry>) -> Owed {
        let ack = self.journal.append(self.batch(entries).with_next());
        let done = async move {
            ack.await?;
            Ok(())
        };
        done.boxed().shared()
    }

    /// The same for a thread that may wait.
    pub fn append_blocking(&self, entries: Vec<Entry>) -> Result<(), Failure> {
        self.journal.append(self.batch(entries)).wait()?;
        Ok(())
    }

    fn batch(&self, entries: Vec<Entry>) -> Batch {
        let batch = Batch::of(entries.into_iter().map(|entry| self.draft(entry)));
        match &self.fence {
            Some(fence) => batch.fenced(fence),
            None => batch,
        }
    }

    /// Makes an event that only the full view has.
    pub(crate) fn quiet(&self, fact: impl Into<Fact>) -> Draft {
        self.draft(Entry::quiet(fact))
    }

    /// Returns the proof that this process drives the run.
    pub(crate) fn fence(&self) -> Option<&Fence> {
        self.fence.as_ref()
    }

    pub(crate) fn draft(&self, entry: Entry) -> Draft {
        let actor = entry.actor.unwrap_or_else(|| self.actor.clone());
        let mut draft = Draft::new(Stream::run(self.run), self.trace, actor, entry.fact)
            .in_run(self.run)
            .shown(entry.visibility);
        draft.session = self.session;
        draft.outcome = entry.outcome;
        draft
    }

    /// Puts a text where an event can name it; this may wait for the disk.
    pub fn keep(&self, text: String) -> Result<Text, Failure> {
        if text.len() <= LARGEST_INLINE {
            return Ok(Text::Inline(text));
        }
        let blob = self.journal.blobs().put(text.as_bytes())?;
        Ok(Text::Kept(blob))
    }

    /// Returns a text, wherever it is.
    pub fn text(&self, text: &Text) -> Result<String, Failure> {
        match text {
            Text::Inline(text) => Ok(text.clone()),
            Text::Kept(at) => {
                let bytes = self.journal.blobs().get(&at.blob)?;
                String::from_utf8(bytes).map_err(|error| {
                    let what = format!("the kept text {} is not text", at.blob);
                    Failure::new(Code::J001, what).because(error.to_string())
                })
            }
        }
    }

    /// Returns every event of the run, with the texts put back in that machines need. One that was
    /// forked begins with the past of the other.
    pub fn events(&self) -> Result<Vec<Event>, Failure> {
        let own = self.own_events()?;
        let forked = own.iter().find_map(|event| match &event.fact {
            Fact::RunForked(forked) => Some((forked.from, forked.at)),
            _ => None,
        });
        let Some((from, at)) = forked else {
            return Ok(own);
        };
        let source = Self {
            run: from,
            ..self.clone()
        };
        let mut events = source.events()?;
        let is_past = |event: &Event| event.seq <= at && !matches!(event.fact, Fact::RunStarted(_));
        events.retain(is_past);
        events.extend(own);
        Ok(events)
    }

    /// Returns the events that the run itself recorded, without a past that it shares.
    pub fn own_events(&self) -> Result<Vec<Event>, Failure> {
        let filter = Filter {
            run: Some(self.run.to_string()),
            ..Filter::default()
        };
        let mut events = Vec::new();
        self.journal
            .reader()
            .visit_events(&Query::of(filter), |event| {
                events.push(event);
                ControlFlow::Continue(())
            })?;
        for event in &mut events {
            self.put_back(&mut event.fact)?;
        }
        Ok(events)
    }

    /// Puts texts that are kept apart back into an event, those that machines need.
    pub(crate) fn put_back(&self, fact: &mut Fact) -> Result<(), Failure> {
        for text in fact.machine_texts() {
            if matches!(text, Text::Kept(_)) {
                *text = Text::Inline(self.text(text)?);
            }
        }
        Ok(())
    }
}
