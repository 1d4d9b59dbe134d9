//! The manner of an answer as a list of acts: what is sent, and what happens in between.

use std::collections::VecDeque;
use std::time::Duration;

use axum::body::Bytes;

/// The manner in which an answer is sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Manner {
    pub(super) pieces: Option<usize>,
    pub(super) before: Duration,
    pub(super) between: Duration,
    pub(super) hold: Option<Hold>,
    pub(super) stop: Option<Stop>,
}

/// The point at which an answer waits to be released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    BeforeHead,
    /// After this many bytes of the body.
    After(usize),
}

/// What replaces the rest of the body after this many bytes: a closed connection or
/// silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Cut(usize),
    Silence(usize),
}

/// One act in sending a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Send(Bytes),
    Pause(Duration),
    Hold,
    Cut,
    Silence,
}

/// Returns the acts for sending a body that consists of these events.
pub(super) fn acts(events: Vec<Bytes>, manner: &Manner) -> VecDeque<Act> {
    let mut rest = match manner.pieces {
        Some(size) => in_pieces(&events.concat(), size),
        None => events,
    };
    let mut acts = VecDeque::new();
    let mut begun = 0;
    if let Some(Hold::After(bytes)) = manner.hold {
        let tail = split_off(&mut rest, bytes);
        // The part that was split off counts towards where the answer stops.
        begun = rest.iter().map(Bytes::len).sum();
        send(&mut acts, rest, manner.between);
        acts.push_back(Act::Hold);
        rest = tail;
    }
    match manner.stop {
        None => send(&mut acts, rest, manner.between),
        Some(Stop::Cut(bytes)) => {
            split_off(&mut rest, bytes.saturating_sub(begun));
            send(&mut acts, rest, manner.between);
            acts.push_back(Act::Cut);
        }
        Some(Stop::Silence(bytes)) => {
            split_off(&mut rest, bytes.saturating_sub(begun));
            send(&mut acts, rest, manner.between);
            acts.push_back(Act::Silence);
        }
    }
    acts
}

fn send(acts: &mut VecDeque<Act>, pieces: Vec<Bytes>, between: Duration) {
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        if !between.is_zero() && !acts.is_empty() {
            acts.push_back(Act::Pause(between));
        }
        acts.push_back(Act::Send(piece));
    }
}

fn in_pieces(whole: &[u8], size: usize) -> Vec<Bytes> {
    whole.chunks(size).map(Bytes::copy_from_slice).collect()
}

/// Keeps the first `bytes` bytes and returns the rest.
fn split_off(pieces: &mut Vec<Bytes>, bytes: usize) -> Vec<Bytes> {
    let mut left = bytes;
    for (place, piece) in pieces.iter_mut().enumerate() {
        if piece.len() > left {
            let rest = piece.split_off(left);
            let mut tail = pieces.split_off(place + 1);
            tail.insert(0, rest);
            return tail;
        }
        left -= piece.len();
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(manner: &Manner, expected: &str) {
        let events = ["abc", "de", "fgh"].map(Bytes::from).to_vec();
        let words = acts(events, manner).into_iter().map(|act| match act {
            Act::Send(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            Act::Pause(pause) => format!("({})", pause.as_millis()),
            Act::Hold => "HOLD".to_owned(),
            Act::Cut => "CUT".to_owned(),
            Act::Silence => "SILENCE".to_owned(),
        });
        assert_eq!(words.collect::<Vec<_>>().join(" "), expected, "{manner:?}");
    }

    #[test]
    fn a_manner_becomes_acts() {
        let plain = Manner::default;
        check(&plain(), "abc de fgh");
        let pieces = Some(3);
        check(&Manner { pieces, ..plain() }, "abc def gh");
        let between = Duration::from_millis(5);
        check(&Manner { between, ..plain() }, "abc (5) de (5) fgh");
        let hold = Some(Hold::BeforeHead);
        check(&Manner { hold, ..plain() }, "abc de fgh");
        let hold = Some(Hold::After(0));
        check(&Manner { hold, ..plain() }, "HOLD abc de fgh");
        let hold = Some(Hold::After(4));
        check(&Manner { hold, ..plain() }, "abc d HOLD e fgh");
        for (bytes, expected) in [
            (0, "CUT"),
            (1, "a CUT"),
            (3, "abc CUT"),
            (7, "abc de fg CUT"),
            (8, "abc de fgh CUT"),
            (99, "abc de fgh CUT"),
        ] {
            let stop = Some(Stop::Cut(bytes));
            check(&Manner { stop, ..plain() }, expected);
        }
        let stop = Some(Stop::Silence(5));
        check(&Manner { stop, ..plain() }, "abc de SILENCE");
        check(
            &Manner {
                hold,
                stop,
                ..plain()
            },
            "abc d HOLD e SILENCE",
        );
    }
}
