//! Answers that come in pieces, break off, or were never answers.
#![expect(
    clippy::unwrap_used,
    reason = "in a test, a panic says where it went wrong"
)]

mod streams;

use std::collections::BTreeMap;

use artel_types::model::{ModelFaultKind, ReplyChunk};
use artel_wire::WireFormat;
use proptest::prelude::*;

use streams::{Answer, decode, folder, recordings};

#[test]
fn where_the_bytes_are_cut_does_not_matter() {
    for (wire, case, bytes) in recordings() {
        let whole = decode(wire, [bytes.as_slice()]);
        for at in 0..=bytes.len() {
            let (first, second) = bytes.split_at(at);
            let cut = decode(wire, [first, second]);
            assert_eq!(cut, whole, "{}/{case} cut at {at}", folder(wire));
        }
        let single = decode(wire, bytes.chunks(1));
        assert_eq!(single, whole, "{}/{case} byte by byte", folder(wire));
    }
}

#[test]
fn an_answer_that_breaks_off_is_whole_or_a_fault() {
    for (wire, case, bytes) in recordings() {
        let whole = decode(wire, [bytes.as_slice()]);
        let wanted = ended_calls(&whole);
        for at in 0..bytes.len() {
            let told = format!("{}/{case} ends at {at}", folder(wire));
            let broken = decode(wire, [&bytes[..at]]);
            match broken.fault.as_ref().map(|fault| fault.kind) {
                // Some servers count after they have said that they are done.
                None => assert!(broken == whole || broken == uncounted(&whole), "{told}"),
                Some(ModelFaultKind::Cut | ModelFaultKind::Garbled) => {}
                Some(_) => assert_eq!(broken.fault, whole.fault, "{told}"),
            }
            for (index, arguments) in ended_calls(&broken) {
                assert_eq!(wanted.get(&index), Some(&arguments), "{told}: call {index}");
            }
        }
    }
}

fn uncounted(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    if let Some(ReplyChunk::End { usage, .. }) = answer.chunks.last_mut() {
        *usage = None;
    }
    answer
}

/// Returns the calls that may be carried out, with their arguments.
fn ended_calls(answer: &Answer) -> BTreeMap<u32, String> {
    let mut open: BTreeMap<u32, String> = BTreeMap::new();
    let mut ended = BTreeMap::new();
    for chunk in &answer.chunks {
        match chunk {
            ReplyChunk::ToolStart { index, .. } => {
                open.insert(*index, String::new());
            }
            ReplyChunk::ToolDelta { index, arguments } => {
                open.get_mut(index).unwrap().push_str(arguments);
            }
            ReplyChunk::ToolEnd { index, .. } => {
                ended.insert(*index, open.remove(index).unwrap());
            }
            _ => {}
        }
    }
    ended
}

fn any_wire() -> impl Strategy<Value = WireFormat> {
    prop::sample::select(WireFormat::ALL.to_vec())
}

/// The frames of all recordings of a format, out of order, some of them damaged: closer to an
/// answer than any random bytes.
fn shuffled() -> impl Strategy<Value = (WireFormat, Vec<u8>)> {
    any_wire().prop_flat_map(|wire| {
        let frames: Vec<Vec<u8>> = recordings()
            .into_iter()
            .filter(|(other, ..)| *other == wire)
            .flat_map(|(_, _, bytes)| frames(wire, &bytes))
            .collect();
        let damage = prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<u8>()));
        let frame = (prop::sample::select(frames), damage).prop_map(|(mut frame, damage)| {
            if let Some((at, byte)) = damage {
                let at = at.index(frame.len());
                frame[at] = byte;
            }
            frame
        });
        prop::collection::vec(frame, 0..20).prop_map(move |frames| (wire, frames.concat()))
    })
}

fn frames(wire: WireFormat, bytes: &[u8]) -> Vec<Vec<u8>> {
    let end = if wire == WireFormat::Ollama {
        "\n"
    } else {
        "\n\n"
    };
    let text = String::from_utf8(bytes.to_vec())
        .unwrap()
        .replace("\r\n", "\n");
    text.split_inclusive(end)
        .map(|frame| frame.as_bytes().to_vec())
        .collect()
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_harm(
        wire in any_wire(),
        bytes in prop::collection::vec(any::<u8>(), 0..2_000),
        cut in any::<prop::sample::Index>(),
    ) {
        let (first, second) = bytes.split_at(cut.index(bytes.len() + 1));
        prop_assert_eq!(decode(wire, [first, second]), decode(wire, [bytes.as_slice()]));
    }

    #[test]
    fn frames_in_any_order_are_read_without_harm(
        (wire, bytes) in shuffled(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (first, second) = bytes.split_at(cut.index(bytes.len() + 1));
        prop_assert_eq!(decode(wire, [first, second]), decode(wire, [bytes.as_slice()]));
    }
}
