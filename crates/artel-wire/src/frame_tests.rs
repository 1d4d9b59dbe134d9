//! Tests of framing, whole and in pieces.

use proptest::prelude::*;

use super::*;

type Found = Vec<(String, String)>;

/// Returns the frames that the pieces make, and the fault that stopped them.
fn frames<'a>(
    mut frames: WireFraming,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Found, Option<ModelFaultKind>) {
    let mut found = Found::new();
    let mut sink = |name: &str, data: &str| {
        found.push((name.to_owned(), data.to_owned()));
        Ok(())
    };
    for piece in pieces {
        if let Err(fault) = frames.push(piece, &mut sink) {
            return (found, Some(fault.kind));
        }
    }
    let fault = frames.finish(&mut sink).err();
    (found, fault.map(|fault| fault.kind))
}

fn events() -> WireFraming {
    WireFraming::Events(ServerSentEventParser::default())
}

fn lines() -> WireFraming {
    WireFraming::Lines(WireLineSplitter::default())
}

fn check_events(bytes: &[u8], expected: &[(&str, &str)]) {
    for size in [bytes.len().max(1), 1] {
        let (found, fault) = frames(events(), bytes.chunks(size));
        assert_eq!(fault, None);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn events_are_found() {
    check_events(b"", &[]);
    check_events(b"data: a\n\n", &[("message", "a")]);
    check_events(
        b"event: x\ndata: a\n\ndata: b\n\n",
        &[("x", "a"), ("message", "b")],
    );
    check_events(b"event: x\r\ndata: a\r\n\r\n", &[("x", "a")]);
    check_events(b"\xEF\xBB\xBFdata: a\n\n", &[("message", "a")]);
    check_events(b"data: a\n\n\xEF\xBB\xBFdata: b\n\n", &[("message", "a")]);
    check_events(
        b": a comment\n:\ndata: a\n: another\n\n",
        &[("message", "a")],
    );
    check_events(
        b"data: a\ndata: b\ndata:\ndata: c\n\n",
        &[("message", "a\nb\n\nc")],
    );
    check_events(b"data:a\ndata:  b\n\n", &[("message", "a\n b")]);
    check_events(b"data: a: b\n\n", &[("message", "a: b")]);
    check_events(
        "data: Grüße 世界 🌍\n\n".as_bytes(),
        &[("message", "Grüße 世界 🌍")],
    );
}

#[test]
fn an_event_without_data_is_none() {
    check_events(b"event: x\n\n\n\n\r\n", &[]);
    check_events(b"event: x\n\ndata: a\n\n", &[("message", "a")]);
    check_events(b"data\n\n", &[("message", "")]);
    check_events(b"data:\n\n", &[("message", "")]);
    check_events(b"event\ndata: a\n\n", &[("message", "a")]);
    check_events(b"id: 1\nretry: 3\nunknown\nDATA: no\n data: no\n\n", &[]);
}

#[test]
fn an_event_counts_once_its_blank_line_has_come() {
    check_events(b"data: a\n\ndata: b\n", &[("message", "a")]);
    check_events(b"data: a\n\ndata: b", &[("message", "a")]);
    check_events(b"data: a\r\n\r", &[]);
}

#[test]
fn lines_are_found() {
    let check = |bytes: &[u8], expected: &[&str]| {
        for size in [bytes.len().max(1), 1] {
            let (found, fault) = frames(lines(), bytes.chunks(size));
            assert_eq!(fault, None);
            let found: Vec<&str> = found.iter().map(|(_, line)| line.as_str()).collect();
            assert_eq!(found, expected);
        }
    };
    check(b"", &[]);
    check(b"a\nb\n", &["a", "b"]);
    check(b"a\r\n\r\n  \nb", &["a", "b"]);
    check("Grüße\n世界".as_bytes(), &["Grüße", "世界"]);
}

#[test]
fn what_is_not_utf8_is_garbled() {
    for bytes in [
        &b"data: \xff\n\n"[..],
        b"event: \xc3\n",
        b"data: \xf0\x9f\n\n",
    ] {
        assert_eq!(frames(events(), [bytes]).1, Some(ModelFaultKind::Garbled));
    }
    // Comments are skipped unread.
    check_events(b": \xff\ndata: a\n\n", &[("message", "a")]);
    assert_eq!(
        frames(lines(), [&b"\xff\n"[..]]).1,
        Some(ModelFaultKind::Garbled)
    );
    assert_eq!(
        frames(lines(), [&b"\xff"[..]]).1,
        Some(ModelFaultKind::Garbled)
    );
}

#[test]
fn a_frame_has_a_largest_size_however_it_comes() {
    let check = |frames_of: fn() -> WireFraming, bytes: &[u8], expected: Option<ModelFaultKind>| {
        let (_, fault) = frames(frames_of(), [bytes]);
        assert_eq!(fault, expected, "{} bytes at once", bytes.len());
        let (_, fault) = frames(frames_of(), bytes.chunks(1 << 20));
        assert_eq!(fault, expected, "{} bytes in pieces", bytes.len());
    };
    let fill = |before: &str, count: usize, after: &str| {
        let mut bytes = before.as_bytes().to_vec();
        bytes.resize(bytes.len() + count, b'a');
        bytes.extend_from_slice(after.as_bytes());
        bytes
    };
    let too_large = Some(ModelFaultKind::Endless);
    check(lines, &fill("", LARGEST_FRAME, "\n"), None);
    check(lines, &fill("", LARGEST_FRAME + 1, "\n"), too_large);
    // Many lines of one event are one frame.
    let half = fill("data: ", LARGEST_FRAME / 2, "\n");
    check(events, &[half.as_slice(), &half, b"\n"].concat(), None);
    check(
        events,
        &[half.as_slice(), &half, b"data: a\n"].concat(),
        too_large,
    );
}

/// Generates text with everything in it that matters to framing.
fn stuff() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "(data|event|id|:|)(: ?|)[a-zé🌍:]{0,6}(\n|\r\n|\r|\n\n|\r\n\r\n)".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..6),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn where_the_bytes_are_cut_does_not_matter(
        bytes in stuff(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.push(0);
        cuts.push(bytes.len());
        cuts.sort_unstable();
        for new in [events, lines] {
            let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            let whole = frames(new(), [bytes.as_slice()]);
            prop_assert_eq!(frames(new(), pieces), whole.clone());
            prop_assert_eq!(frames(new(), bytes.chunks(1)), whole);
        }
    }
}
