//! Resolves answers to one question from several surfaces: the first recorded answer
//! counts, and the second surface learns that.

use artel_journal::{EventBatch, EventFilter, EventQuery, Journal, JournalAppendError, LeaseFence};
use artel_types::{Event, EventDraft, Fact, Failure, RunId, StreamName};

use crate::chronicle::{RunJournal, RunJournalEntry};

/// Whose answer counts.
pub(crate) enum FirstRecordedAnswer {
    /// This process's own answer, with its sequence number.
    Mine(u64),
    /// An answer that was recorded before.
    Other(Box<Event>),
}

/// Returns the notice for a person who answered too late: whose answer counts.
pub(crate) fn told_first(event: &Event) -> String {
    let who = event.actor.label();
    match &event.fact {
        Fact::RunAnswered(it) => {
            format!("already decided: {who} answered first: {}", it.answer)
        }
        _ => format!("already decided: {who} answered first"),
    }
}

/// Answers a question of a run, or its request to approve a call, whichever process drives
/// the run. Returns the recorded answer if somebody was first.
pub fn answer_first(
    journal: &Journal,
    run: RunId,
    asked: u64,
    draft: EventDraft,
) -> Result<Option<Event>, Failure> {
    match append_first(journal, run, asked, (draft, None))? {
        FirstRecordedAnswer::Mine(_) => Ok(None),
        FirstRecordedAnswer::Other(event) => Ok(Some(*event)),
    }
}

/// Answers a question of the run that this process drives, unless somebody was first.
pub(crate) fn answer_own(
    chronicle: &RunJournal,
    question: &str,
    entry: RunJournalEntry,
) -> Result<FirstRecordedAnswer, Failure> {
    let (journal, run) = (chronicle.journal(), chronicle.run());
    let asked = asked_at(journal, run, question)?;
    let draft = chronicle.draft(entry);
    append_first(journal, run, asked, (draft, chronicle.fence()))
}

/// Returns the sequence number at which a question was last asked.
fn asked_at(journal: &Journal, run: RunId, question: &str) -> Result<u64, Failure> {
    let filter = EventFilter {
        run: Some(run.to_string()),
        kind: Some("run.asked".to_owned()),
        ..EventFilter::default()
    };
    for record in journal
        .reader()
        .records(&EventQuery::of(filter).newest_first())?
    {
        let event = record.event()?;
        if matches!(&event.fact, Fact::RunAsked(it) if it.question == question) {
            return Ok(event.seq);
        }
    }
    // A forked run has the question from its source.
    Ok(0)
}

/// Appends an answer unless one exists, in which case that one is returned.
pub(crate) fn append_first(
    journal: &Journal,
    run: RunId,
    asked: u64,
    (draft, fence): (EventDraft, Option<&LeaseFence>),
) -> Result<FirstRecordedAnswer, Failure> {
    loop {
        // Read the position first: anything recorded after it makes the append fail.
        let position = position(journal, run)?;
        if let Some(event) = answer_to(journal, run, asked, &draft.fact)? {
            return Ok(FirstRecordedAnswer::Other(Box::new(event)));
        }
        let batch = EventBatch::of([draft.clone()]).expecting(StreamName::run(run), position);
        match journal.append(fenced(batch, fence)).wait() {
            Ok(receipt) => return Ok(FirstRecordedAnswer::Mine(*receipt.seqs.end())),
            Err(JournalAppendError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn position(journal: &Journal, run: RunId) -> Result<u64, Failure> {
    let filter = EventFilter {
        stream: Some(StreamName::run(run).to_string()),
        ..EventFilter::default()
    };
    let last = EventQuery::of(filter).newest_first().limit(1);
    let last = journal.reader().records(&last)?;
    Ok(last.first().map_or(0, |record| record.stream_seq))
}

/// Returns the recorded answer to the question at `asked`.
pub(crate) fn answer_to(
    journal: &Journal,
    run: RunId,
    asked: u64,
    mine: &Fact,
) -> Result<Option<Event>, Failure> {
    let filter = EventFilter {
        run: Some(run.to_string()),
        kind: Some(mine.kind().to_owned()),
        ..EventFilter::default()
    };
    for record in journal
        .reader()
        .records(&EventQuery::of(filter).after(asked))?
    {
        let event = record.event()?;
        let is_same = match (&event.fact, mine) {
            (Fact::ToolAnswered(it), Fact::ToolAnswered(mine)) => {
                it.call == mine.call && it.record == mine.record
            }
            (Fact::RunAnswered(it), Fact::RunAnswered(mine)) => it.question == mine.question,
            _ => false,
        };
        if is_same {
            return Ok(Some(event));
        }
    }
    Ok(None)
}

/// Makes the batch valid only as long as the lease holds.
pub(crate) fn fenced(batch: EventBatch, fence: Option<&LeaseFence>) -> EventBatch {
    match fence {
        Some(fence) => batch.fenced(fence),
        None => batch,
    }
}
