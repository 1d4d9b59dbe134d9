//! Tests of the grammar of chunks, and of what they add up to.

use proptest::prelude::*;

use super::*;

fn start() -> ReplyChunk {
    ReplyChunk::Start {
        id: Some("msg".into()),
        model: Some("m-1".into()),
    }
}

fn say(text: &str) -> ReplyChunk {
    ReplyChunk::Text { text: text.into() }
}

fn think(text: &str) -> ReplyChunk {
    ReplyChunk::Thinking { text: text.into() }
}

fn seal() -> ProviderSignature {
    ProviderSignature {
        wire: "anthropic".into(),
        data: "s".into(),
    }
}

fn seal_text() -> ReplyChunk {
    ReplyChunk::TextSealed { seal: seal() }
}

fn seal_thought() -> ReplyChunk {
    ReplyChunk::ThinkingSealed { seal: seal() }
}

fn call(index: u32) -> ReplyChunk {
    ReplyChunk::ToolStart {
        index,
        id: format!("c{index}"),
        name: "read".into(),
    }
}

fn arguments(index: u32, piece: &str) -> ReplyChunk {
    ReplyChunk::ToolDelta {
        index,
        arguments: piece.into(),
    }
}

fn end_call(index: u32) -> ReplyChunk {
    ReplyChunk::ToolEnd { index, seal: None }
}

fn end() -> ReplyChunk {
    ReplyChunk::End {
        stop: ReplyStopReason::End,
        usage: None,
    }
}

fn gather(chunks: &[ReplyChunk]) -> Result<ModelReplyBuilder, ReplyChunkError> {
    let mut gather = ModelReplyBuilder::default();
    for chunk in chunks {
        gather.add(chunk)?;
    }
    Ok(gather)
}

/// Shows parts in one line: `"words"`, `(thought)`, `read{arguments}`, with a `*` after
/// sealed parts.
fn shown(parts: &[MessagePart]) -> String {
    let star = |seal: &Option<ProviderSignature>| if seal.is_some() { "*" } else { "" };
    let parts = parts.iter().map(|part| match part {
        MessagePart::Text { text, seal } => format!("\"{text}\"{}", star(seal)),
        MessagePart::Thinking { text, seal } => format!("({text}){}", star(seal)),
        MessagePart::ToolCall(call) => {
            format!("{}{}{}", call.name, call.arguments, star(&call.seal))
        }
        other => panic!("{other:?}"),
    });
    parts.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(middle: &[ReplyChunk], expected: &str) {
    let chunks = [&[start()], middle, &[end()]].concat();
    let gathered = gather(&chunks).unwrap();
    assert!(gathered.is_ended());
    assert_eq!(gathered.chunks(), chunks.len() as u64);
    let (text, partial) = (gathered.text(), gathered.partial());
    let reply = gathered.reply().unwrap();
    assert_eq!(shown(&reply.parts), expected);
    assert_eq!(reply.text(), text);
    assert_eq!(reply.parts, partial, "a whole answer is kept whole");
    let ends = (reply.id.as_deref(), reply.model.as_deref(), reply.stop);
    assert_eq!(ends, (Some("msg"), Some("m-1"), ReplyStopReason::End));
}

#[test]
fn pieces_join_until_something_else_begins() {
    check(&[], "");
    check(&[say("a"), say("b")], r#""ab""#);
    check(&[say("")], "");
    check(&[say("a"), think(""), say("b")], r#""ab""#);
    check(
        &[think("p"), think("q"), say("a"), think("r")],
        r#"(pq) "a" (r)"#,
    );
    check(
        &[say("a"), call(0), say("b"), end_call(0)],
        r#""a" read "b""#,
    );
    check(
        &[call(0), say("a"), arguments(0, "{}"), say("b"), end_call(0)],
        r#"read{} "ab""#,
    );
}

#[test]
fn seals_close_what_is_open() {
    check(&[say("a"), seal_text(), say("b")], r#""a"* "b""#);
    check(&[seal_text()], r#"""*"#);
    check(&[say("a"), seal_text(), seal_text()], r#""a"* ""*"#);
    check(
        &[say("a"), call(0), end_call(0), seal_text()],
        r#""a" read ""*"#,
    );
    check(&[think("p"), seal_thought(), think("q")], "(p)* (q)");
    check(&[seal_thought()], "()*");
    check(&[think("p"), say("a"), seal_thought()], r#"(p) "a" ()*"#);
    check(&[say("a"), seal_thought(), say("b")], r#""a" ()* "b""#);
    let sealed = ReplyChunk::ToolEnd {
        index: 0,
        seal: Some(seal()),
    };
    check(&[call(0), sealed], "read*");
}

#[test]
fn calls_keep_their_order_while_their_pieces_interleave() {
    check(
        &[
            call(0),
            arguments(0, "{1"),
            call(1),
            arguments(1, "{2"),
            arguments(0, "}"),
            arguments(1, "}"),
            end_call(1),
            end_call(0),
        ],
        "read{1} read{2}",
    );
}

#[track_caller]
fn check_refused(chunks: &[ReplyChunk], expected: &str) {
    let (last, before) = chunks.split_last().unwrap();
    let before = gather(before).unwrap();
    let mut after = before.clone();
    let refused = after.add(last).unwrap_err();
    assert_eq!(refused.to_string(), expected, "{chunks:?}");
    assert_eq!(after, before, "what is refused changes nothing");
}

#[test]
fn what_breaks_the_grammar_is_refused() {
    let all = [
        say("a"),
        seal_text(),
        think("p"),
        seal_thought(),
        call(0),
        arguments(0, ""),
        end_call(0),
        end(),
    ];
    for chunk in all {
        check_refused(std::slice::from_ref(&chunk), "the answer has not begun");
        check_refused(&[start(), end(), chunk], "the answer has ended already");
    }
    check_refused(&[start(), end(), start()], "the answer has ended already");
    check_refused(&[start(), start()], "the answer begins a second time");
    check_refused(&[start(), call(1)], "call 1 begins where call 0 is due");
    check_refused(
        &[start(), call(0), call(2)],
        "call 2 begins where call 1 is due",
    );
    check_refused(&[start(), call(0), call(0)], "call 0 begins a second time");
    check_refused(
        &[start(), call(0), end_call(0), call(0)],
        "call 0 begins a second time",
    );
    check_refused(
        &[start(), arguments(0, "{")],
        "call 0 goes on without having begun",
    );
    check_refused(
        &[start(), call(0), end_call(u32::MAX)],
        "call 4294967295 goes on without having begun",
    );
    check_refused(
        &[start(), call(0), end_call(0), arguments(0, "")],
        "call 0 goes on after its end",
    );
    check_refused(
        &[start(), call(0), end_call(0), end_call(0)],
        "call 0 goes on after its end",
    );
    check_refused(
        &[start(), call(0), call(1), end_call(0), end()],
        "the answer ends before call 1 does",
    );
}

#[test]
fn half_an_answer_is_kept_without_half_a_call() {
    let gathered = gather(&[
        start(),
        think("p"),
        seal_thought(),
        say("a"),
        call(0),
        arguments(0, "{}"),
        call(1),
        arguments(1, "{"),
        end_call(1),
        say("é"),
    ]);
    let gathered = gathered.unwrap();
    assert_eq!(shown(&gathered.partial()), r#"(p)* "a" read{ "é""#);
    assert_eq!(gathered.text(), "aé");
    assert_eq!(gathered.output_bytes(), 7);
    assert!(!gathered.is_ended());
    assert_eq!(gathered.reply(), None);
}

fn chunks() -> impl Strategy<Value = Vec<ReplyChunk>> {
    let chunk = prop_oneof![
        1 => Just(start()),
        6 => "[ab]{0,3}".prop_map(|text| say(&text)),
        4 => "[pq]{0,3}".prop_map(|text| think(&text)),
        1 => Just(seal_text()),
        1 => Just(seal_thought()),
        6 => (0_u32..4).prop_map(call),
        6 => (0_u32..4, "[{}]{0,3}").prop_map(|(index, piece)| arguments(index, &piece)),
        6 => (0_u32..4).prop_map(end_call),
        1 => Just(end()),
    ];
    proptest::collection::vec(chunk, 0..60).prop_map(|chunks| [vec![start()], chunks].concat())
}

/// Cuts every piece of text into its characters.
fn in_crumbs(chunk: &ReplyChunk) -> Vec<ReplyChunk> {
    let crumbs = |text: &str, wrap: &dyn Fn(&str) -> ReplyChunk| {
        let each = text.chars().map(|c| wrap(&c.to_string()));
        each.chain([wrap("")]).collect()
    };
    match chunk {
        ReplyChunk::Text { text } => crumbs(text, &say),
        ReplyChunk::Thinking { text } => crumbs(text, &think),
        ReplyChunk::ToolDelta {
            index,
            arguments: text,
        } => crumbs(text, &|piece| arguments(*index, piece)),
        other => vec![other.clone()],
    }
}

proptest! {
    #[test]
    fn whatever_is_taken_can_be_counted_again(chunks in chunks()) {
        let mut gathered = ModelReplyBuilder::default();
        let mut taken = Vec::new();
        for chunk in chunks {
            let before = gathered.clone();
            match gathered.add(&chunk) {
                Ok(()) => taken.push(chunk),
                Err(_) => prop_assert_eq!(&before, &gathered),
            }
        }
        let words: String = taken.iter().filter_map(|chunk| match chunk {
            ReplyChunk::Text { text } => Some(text.as_str()),
            _ => None,
        }).collect();
        let bytes: usize = taken.iter().map(|chunk| match chunk {
            ReplyChunk::Text { text } | ReplyChunk::Thinking { text } => text.len(),
            ReplyChunk::ToolDelta { arguments, .. } => arguments.len(),
            _ => 0,
        }).sum();
        let ended = taken.iter().filter(|chunk| matches!(chunk, ReplyChunk::ToolEnd { .. })).count();
        let partial = gathered.partial();
        let calls = partial.iter().filter(|part| matches!(part, MessagePart::ToolCall(_)));
        prop_assert_eq!(gathered.text(), words);
        prop_assert_eq!(gathered.output_bytes(), bytes as u64);
        prop_assert_eq!(gathered.chunks(), taken.len() as u64);
        prop_assert_eq!(calls.count(), ended);
        let is_ended = matches!(taken.last(), Some(ReplyChunk::End { .. }));
        prop_assert_eq!(gathered.is_ended(), is_ended);
        prop_assert_eq!(gathered.reply().is_some(), is_ended);
    }

    #[test]
    fn how_it_was_cut_makes_no_difference(chunks in chunks()) {
        let (mut whole, mut crumbled) = (ModelReplyBuilder::default(), ModelReplyBuilder::default());
        for chunk in &chunks {
            let taken = whole.add(chunk);
            for crumb in in_crumbs(chunk) {
                prop_assert_eq!(crumbled.add(&crumb).is_ok(), taken.is_ok());
            }
        }
        prop_assert_eq!(whole.partial(), crumbled.partial());
        prop_assert_eq!(whole.output_bytes(), crumbled.output_bytes());
        prop_assert_eq!(whole.reply(), crumbled.reply());
    }
}
