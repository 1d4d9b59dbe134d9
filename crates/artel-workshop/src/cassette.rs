//! Cassettes: the model calls of one piece of work, taken from the journal to be played
//! again.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use artel_journal::{BlobStore, EventFilter, EventQuery, JournalReader};
use artel_model::{Cassette, CassetteTake, RecordedModelRequests};
use artel_types::model::ModelReply;
use artel_types::{Fact, Failure, FailureCode, RecordedText};

use crate::workshop::Workshop;

/// A recorded reply that goes into a cassette.
struct CassetteReply {
    call: String,
    reply: RecordedText,
    /// The stream that holds its request and the requests before it.
    stream: String,
}

impl Workshop {
    /// Returns the answered calls of a trace, run or session, in the order of their replies.
    /// Failed attempts are left out: playing the cassette again gives what was used.
    pub fn cassette(&self, id: &str) -> Result<Cassette, Failure> {
        let filter = EventFilter {
            trace: Some(self.resolve(id)?),
            kind: Some("model.".to_owned()),
            ..EventFilter::default()
        };
        let reader = self.reader()?;
        let (mut asked, mut said) = (RecordedModelRequests::default(), Vec::new());
        reader.visit_events(&EventQuery::of(filter), |event| {
            match event.fact {
                Fact::ModelRequested(fact) => asked.note(&fact),
                Fact::ModelReplied(fact) => said.push(CassetteReply {
                    call: fact.call,
                    reply: fact.reply,
                    stream: event.stream.to_string(),
                }),
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        said.retain(|said| asked.knows(&said.call));
        note_earlier(&reader, &mut asked, &said)?;
        let blobs = BlobStore::at(self.home.blobs());
        let mut takes = Vec::with_capacity(said.len());
        for CassetteReply { call, reply, .. } in said {
            let request = asked.whole(&call, |text| read(&blobs, text))?;
            let reply: ModelReply =
                serde_json::from_str(&read(&blobs, &reply)?).map_err(unreadable)?;
            takes.push(CassetteTake::new(request, reply));
        }
        if takes.is_empty() {
            let what = format!("`{id}` has no answer of a model to play again");
            let advice = format!("`artel trace {id}` shows what it holds");
            return Err(Failure::new(FailureCode::M011, what).advise(advice));
        }
        Ok(Cassette::new(takes))
    }
}

/// Reads earlier requests from the same streams. A run that another process resumed
/// continues under another trace, and its requests begin with messages that are recorded
/// earlier in the stream.
fn note_earlier(
    reader: &JournalReader,
    asked: &mut RecordedModelRequests,
    said: &[CassetteReply],
) -> Result<(), Failure> {
    let is_cut = |said: &&CassetteReply| asked.missing(&said.call).is_some();
    let streams: BTreeSet<&str> = said
        .iter()
        .filter(is_cut)
        .map(|said| said.stream.as_str())
        .collect();
    for stream in streams {
        let filter = EventFilter {
            stream: Some(stream.to_owned()),
            kind: Some("model.requested".to_owned()),
            ..EventFilter::default()
        };
        reader.visit_events(&EventQuery::of(filter), |event| {
            if let Fact::ModelRequested(fact) = event.fact {
                asked.note(&fact);
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

fn read(blobs: &BlobStore, text: &RecordedText) -> Result<String, Failure> {
    match text {
        RecordedText::Inline(text) => Ok(text.clone()),
        RecordedText::Kept(kept) => String::from_utf8(blobs.get(&kept.blob)?).map_err(unreadable),
    }
}

fn unreadable(error: impl std::fmt::Display) -> Failure {
    Failure::new(FailureCode::M011, "a recorded call cannot be read").because(error.to_string())
}
