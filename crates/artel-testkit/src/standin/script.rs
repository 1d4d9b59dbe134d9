//! The events of a streamed reply, in order.

use axum::body::Bytes;
use serde_json::Value;

use super::answer::{Deltas, Order, Said};

/// Size of a piece in characters, small enough that a short reply has several pieces.
const USUAL_PIECE: usize = 8;

/// Maximum number of pieces, even for a giant reply.
const MOST_PIECES: usize = 500;

/// The events so far, and which of them carry content.
#[derive(Default)]
pub(super) struct Script {
    events: Vec<Bytes>,
    deltas: Vec<usize>,
}

/// One step in writing the calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The call at this position begins.
    Begin(usize),
    /// More of its arguments.
    More(usize, String),
    /// The call at this position is complete.
    End(usize),
}

impl Script {
    /// Adds an event without content.
    pub(super) fn event(&mut self, event: impl Into<Bytes>) {
        self.events.push(event.into());
    }

    /// Adds an event with a piece of content.
    pub(super) fn delta(&mut self, event: impl Into<Bytes>) {
        self.deltas.push(self.events.len());
        self.event(event);
    }

    /// Returns the number of events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns the events, with the garbage in the middle of the content, or with an error
    /// in place of the second half. `error` gets the number of the event that it replaces.
    pub(super) fn finish(
        mut self,
        said: &Said,
        error: impl FnOnce(u16, usize) -> String,
    ) -> Vec<Bytes> {
        let half = self.deltas.len().div_ceil(2);
        let middle = match half.checked_sub(1).and_then(|last| self.deltas.get(last)) {
            Some(last) => last + 1,
            None => self.events.len().min(1),
        };
        if let Some(status) = said.fails {
            self.events.truncate(middle);
            self.events.push(error(status, middle).into());
        }
        if !said.garbage.is_empty() {
            self.events
                .insert(middle, Bytes::copy_from_slice(&said.garbage));
        }
        self.events
    }
}

/// Returns a server-sent event.
pub(super) fn sse(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// Returns a server-sent event without a name.
pub(super) fn unnamed(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// Cuts text into the pieces in which a model would send it.
pub(super) fn pieces(text: &str, deltas: Deltas) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = match deltas {
        Deltas::OneChar => 1,
        Deltas::Usual => USUAL_PIECE.max(letters.len() / MOST_PIECES),
    };
    letters
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect()
}

/// Returns the steps in which the calls are written.
pub(super) fn steps(said: &Said) -> Vec<Step> {
    let calls = said.calls.iter().map(|call| {
        let more = pieces(&call.arguments, said.deltas).into_iter();
        more.collect::<Vec<_>>()
    });
    let calls: Vec<Vec<String>> = calls.collect();
    match said.order {
        Order::InTurn => in_turn(calls),
        Order::Interleaved => interleaved(&calls),
    }
}

fn in_turn(calls: Vec<Vec<String>>) -> Vec<Step> {
    let told = calls.into_iter().enumerate().flat_map(|(place, more)| {
        let more = more.into_iter().map(move |piece| Step::More(place, piece));
        [Step::Begin(place)]
            .into_iter()
            .chain(more)
            .chain([Step::End(place)])
    });
    told.collect()
}

fn interleaved(calls: &[Vec<String>]) -> Vec<Step> {
    let rounds = calls.iter().map(Vec::len).max().unwrap_or_default();
    let mut steps: Vec<Step> = (0..calls.len()).map(Step::Begin).collect();
    for round in 0..rounds {
        for (place, more) in calls.iter().enumerate() {
            if let Some(piece) = more.get(round) {
                steps.push(Step::More(place, piece.clone()));
            }
        }
    }
    steps.extend((0..calls.len()).map(Step::End));
    steps
}
