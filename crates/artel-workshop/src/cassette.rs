//! Recordings: the calls of one piece of work, taken out of the journal to be played again.

use std::collections::HashMap;
use std::ops::ControlFlow;

use artel_journal::{Blobs, Filter, Query};
use artel_model::{Cassette, Take};
use artel_types::model::{Reply, Request};
use artel_types::{Code, Fact, Failure, Text};

use crate::workshop::Workshop;

impl Workshop {
    /// Returns the calls of a trace, run or session that were answered, in the order of their
    /// answers. Attempts that failed are not part of it: playing it again gives what was used.
    pub fn cassette(&self, id: &str) -> Result<Cassette, Failure> {
        let trace = self.resolve(id)?;
        let filter = Filter {
            trace: Some(trace),
            kind: Some("model.".to_owned()),
            ..Filter::default()
        };
        let blobs = Blobs::at(self.home.blobs());
        let (mut asked, mut takes) = (HashMap::new(), Vec::new());
        let mut failure = None;
        self.reader()?.visit_events(&Query::of(filter), |event| {
            let taken = match event.fact {
                Fact::ModelRequested(fact) => {
                    asked.insert((fact.call, fact.attempt), fact.request);
                    Ok(())
                }
                Fact::ModelReplied(fact) => {
                    let request = asked.remove(&(fact.call, fact.attempt));
                    take(&blobs, request, &fact.reply).map(|take| takes.extend(take))
                }
                _ => Ok(()),
            };
            match taken {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        match failure {
            Some(failure) => Err(failure),
            None if takes.is_empty() => {
                let what = format!("`{id}` has no answer of a model to play again");
                Err(Failure::new(Code::M011, what).advise("`artel trace` shows what it holds"))
            }
            None => Ok(Cassette::new(takes)),
        }
    }
}

fn take(blobs: &Blobs, request: Option<Text>, reply: &Text) -> Result<Option<Take>, Failure> {
    let Some(request) = request else {
        return Ok(None);
    };
    let request: Request = read(blobs, &request)?;
    let reply: Reply = read(blobs, reply)?;
    Ok(Some(Take::new(request, reply)))
}

fn read<T: serde::de::DeserializeOwned>(blobs: &Blobs, text: &Text) -> Result<T, Failure> {
    let read = match text {
        Text::Inline(text) => serde_json::from_str(text),
        Text::Kept(kept) => serde_json::from_slice(&blobs.get(&kept.blob)?),
    };
    read.map_err(|error| {
        Failure::new(Code::M011, "a recorded call cannot be read").because(error.to_string())
    })
}
