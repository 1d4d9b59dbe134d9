//! The journal of one run: appends to it and reads all of it again.

use std::ops::{ControlFlow, RangeInclusive};

use artel_journal::{EventBatch, EventFilter, EventQuery, Journal, LeaseFence};
use artel_model::Owed;
use artel_types::{
    Actor, Event, EventDraft, EventOutcome, EventVisibility, Fact, Failure, FailureCode,
    RecordedText, RunId, SessionId, StreamName, TraceId,
};
use futures_util::FutureExt as _;

/// Largest text that is stored in an event, in bytes. Larger texts are kept beside the
/// journal, and the event refers to them.
const LARGEST_INLINE: usize = 4 * 1024;

/// The journal, narrowed to one run.
#[derive(Debug, Clone)]
pub struct RunJournal {
    journal: Journal,
    run: RunId,
    trace: TraceId,
    session: Option<SessionId>,
    actor: Actor,
    /// Proof that this process drives the run.
    fence: Option<LeaseFence>,
}

/// An entry to append.
#[derive(Debug, Clone)]
pub struct RunJournalEntry {
    pub fact: Fact,
    /// The outcome, if the fact has one.
    pub outcome: Option<EventOutcome>,
    /// Who is shown the entry.
    pub visibility: EventVisibility,
    /// The actor, if it is not the run's agent.
    pub actor: Option<Actor>,
}

impl RunJournalEntry {
    /// Makes an entry that every view shows.
    pub fn shown(fact: impl Into<Fact>) -> Self {
        Self {
            fact: fact.into(),
            outcome: None,
            visibility: EventVisibility::Summary,
            actor: None,
        }
    }

    /// Makes an entry that only the full view shows.
    pub fn quiet(fact: impl Into<Fact>) -> Self {
        Self {
            visibility: EventVisibility::Full,
            ..Self::shown(fact)
        }
    }

    /// Sets the outcome.
    #[must_use]
    pub fn ending(mut self, outcome: EventOutcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Sets the actor.
    #[must_use]
    pub fn by(mut self, actor: Actor) -> Self {
        self.actor = Some(actor);
        self
    }
}

impl RunJournal {
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

    /// Allows appends only as long as the lease holds.
    #[must_use]
    pub fn fenced(mut self, fence: LeaseFence) -> Self {
        self.fence = Some(fence);
        self
    }

    pub fn run(&self) -> RunId {
        self.run
    }

    /// Returns the trace of the work that the run belongs to.
    pub fn trace(&self) -> TraceId {
        self.trace
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Marks the beginning of something that a full disk could spoil.
    pub fn mark_room(&self) -> u64 {
        self.journal.room().mark()
    }

    /// Refuses a result that came while the disk had no room: that alone may be the reason
    /// for the failure. The work is then settled like that of a killed process.
    pub fn ensure_room(&self, since: u64) -> Result<(), Failure> {
        let what = match self.journal.lack() {
            Some(lack) => lack.to_string(),
            None if self.journal.room().lacked_since(since) => "the disk was full".to_owned(),
            None => return Ok(()),
        };
        Err(Failure::new(FailureCode::J006, what)
            .because("what failed meanwhile is done again once there is room")
            .advise("free some space, then resume"))
    }

    /// Appends entries and returns once they are durable.
    pub async fn append(&self, entries: Vec<RunJournalEntry>) -> Result<(), Failure> {
        self.append_at(entries).await?;
        Ok(())
    }

    /// Appends entries and returns their sequence numbers once they are durable.
    pub(crate) async fn append_at(
        &self,
        entries: Vec<RunJournalEntry>,
    ) -> Result<RangeInclusive<u64>, Failure> {
        Ok(self.journal.append(self.batch(entries)).await?.seqs)
    }

    /// Queues entries to be written with the next append of this run. Nothing may depend
    /// on them before the returned future is done.
    pub(crate) fn append_with_next(&self, entries: Vec<RunJournalEntry>) -> Owed {
        let ack = self.journal.append(self.batch(entries).with_next());
        let done = async move {
            ack.await?;
            Ok(())
        };
        done.boxed().shared()
    }

    /// Like [`Self::append`], for a thread that may block.
    pub fn append_blocking(&self, entries: Vec<RunJournalEntry>) -> Result<(), Failure> {
        self.journal.append(self.batch(entries)).wait()?;
        Ok(())
    }

    fn batch(&self, entries: Vec<RunJournalEntry>) -> EventBatch {
        let batch = EventBatch::of(entries.into_iter().map(|entry| self.draft(entry)));
        match &self.fence {
            Some(fence) => batch.fenced(fence),
            None => batch,
        }
    }

    /// Makes an event that only the full view shows.
    pub(crate) fn quiet(&self, fact: impl Into<Fact>) -> EventDraft {
        self.draft(RunJournalEntry::quiet(fact))
    }

    /// Returns the proof that this process drives the run.
    pub(crate) fn fence(&self) -> Option<&LeaseFence> {
        self.fence.as_ref()
    }

    pub(crate) fn draft(&self, entry: RunJournalEntry) -> EventDraft {
        let actor = entry.actor.unwrap_or_else(|| self.actor.clone());
        let mut draft = EventDraft::new(StreamName::run(self.run), self.trace, actor, entry.fact)
            .in_run(self.run)
            .shown(entry.visibility);
        draft.session = self.session;
        draft.outcome = entry.outcome;
        draft
    }

    /// Stores a text so that an event can refer to it. This may wait for the disk.
    pub fn keep(&self, text: String) -> Result<RecordedText, Failure> {
        if text.len() <= LARGEST_INLINE {
            return Ok(RecordedText::Inline(text));
        }
        let blob = self.journal.blobs().put(text.as_bytes())?;
        Ok(RecordedText::Kept(blob))
    }

    /// Returns a text, wherever it is stored.
    pub fn text(&self, text: &RecordedText) -> Result<String, Failure> {
        match text {
            RecordedText::Inline(text) => Ok(text.clone()),
            RecordedText::Kept(at) => {
                let bytes = self.journal.blobs().get(&at.blob)?;
                String::from_utf8(bytes).map_err(|error| {
                    let what = format!("the kept text {} is not text", at.blob);
                    Failure::new(FailureCode::J001, what).because(error.to_string())
                })
            }
        }
    }

    /// Returns every event of the run, including the stored texts that folding needs. The
    /// events of a forked run begin with the past of its source.
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
        let filter = EventFilter {
            run: Some(self.run.to_string()),
            ..EventFilter::default()
        };
        let mut events = Vec::new();
        self.journal
            .reader()
            .visit_events(&EventQuery::of(filter), |event| {
                events.push(event);
                ControlFlow::Continue(())
            })?;
        for event in &mut events {
            self.put_back(&mut event.fact)?;
        }
        Ok(events)
    }

    /// Puts the stored texts that folding needs back into a fact.
    pub(crate) fn put_back(&self, fact: &mut Fact) -> Result<(), Failure> {
        for text in fact.machine_texts() {
            if matches!(text, RecordedText::Kept(_)) {
                *text = RecordedText::Inline(self.text(text)?);
            }
        }
        Ok(())
    }
}
