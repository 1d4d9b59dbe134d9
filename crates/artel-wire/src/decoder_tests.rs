//! Tests that a reply has one start and one end, whatever its reader emits.

use artel_types::model::ReplyStopReason;

use super::*;

/// Reads the words `start`, `end`, `fault` and `end-fault`; any other word becomes text.
/// The chunks at the end of the bytes are decided beforehand.
struct Words {
    at_the_end: Vec<ReplyChunk>,
}

impl ReplyFrameReader for Words {
    fn frame(
        &mut self,
        _name: &str,
        data: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault> {
        let fault = Err(ModelFault::new(ModelFaultKind::Server, "no"));
        match data {
            "start" => out.push(start("id")),
            "end" => out.push(end()),
            "fault" => return fault,
            "end-fault" => {
                out.extend([end(), say("behind the end")]);
                return fault;
            }
            words => out.push(say(words)),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        out.append(&mut self.at_the_end);
        Ok(())
    }
}

fn start(id: &str) -> ReplyChunk {
    let id = Some(id.to_owned());
    ReplyChunk::Start { id, model: None }
}

fn unnamed() -> ReplyChunk {
    let (id, model) = (None, None);
    ReplyChunk::Start { id, model }
}

fn say(words: &str) -> ReplyChunk {
    let text = words.to_owned();
    ReplyChunk::Text { text }
}

fn end() -> ReplyChunk {
    let (stop, usage) = (ReplyStopReason::End, None);
    ReplyChunk::End { stop, usage }
}

fn read(
    pieces: &[&[u8]],
    at_the_end: Vec<ReplyChunk>,
) -> (Vec<ReplyChunk>, Option<ModelFaultKind>) {
    let mut decoder = ReplyDecoder::of_lines(Words { at_the_end });
    let mut out = Vec::new();
    let mut fault = None;
    for piece in pieces {
        fault = fault.or(decoder.push(piece, &mut out).err());
    }
    fault = fault.or(decoder.finish(&mut out).err());
    assert!(decoder.is_done());
    assert_eq!(decoder.finish(&mut out), Ok(()), "it ends once");
    (out, fault.map(|fault| fault.kind))
}

#[test]
fn an_answer_has_one_start_and_one_end() {
    let check = |lines: &str, expected: &[ReplyChunk], fault: Option<ModelFaultKind>| {
        let whole = read(&[lines.as_bytes()], Vec::new());
        assert_eq!(whole, (expected.to_vec(), fault), "{lines:?}");
        for at in 0..=lines.len() {
            let (first, second) = lines.as_bytes().split_at(at);
            assert_eq!(
                read(&[first, second], Vec::new()),
                whole,
                "{lines:?} at {at}"
            );
        }
    };
    let cut = Some(ModelFaultKind::Cut);
    let server = Some(ModelFaultKind::Server);
    check("", &[], cut);
    check("start\na\nend\n", &[start("id"), say("a"), end()], None);
    check("start\na\nend", &[start("id"), say("a"), end()], None);
    check("start\na\n", &[start("id"), say("a")], cut);
    check("a\nstart\nend\n", &[unnamed(), say("a"), end()], None);
    check("end\n", &[unnamed(), end()], None);
    check("start\nstart\nend\n", &[start("id"), end()], None);
    check("start\nend\na\nend\nfault\n", &[start("id"), end()], None);
    check(
        "start\na\nfault\nb\nend\n",
        &[start("id"), say("a")],
        server,
    );
    check("fault\n", &[], server);
    check("a\nend-fault\n", &[unnamed(), say("a"), end()], None);
}

#[test]
fn rubbish_behind_the_end_is_no_fault() {
    let garbled: &[u8] = b"end\n\xff\xfe\n";
    assert_eq!(read(&[garbled], Vec::new()), (vec![unnamed(), end()], None));
    assert_eq!(
        read(&[b"end\n", b"\xff\n"], Vec::new()),
        (vec![unnamed(), end()], None)
    );
    let long = [b"end\n".as_slice(), &vec![b'a'; 33 << 20]].concat();
    assert_eq!(read(&[&long], Vec::new()), (vec![unnamed(), end()], None));
}

#[test]
fn an_answer_may_be_complete_only_when_the_bytes_are() {
    let complete = || vec![say("b"), end(), say("c")];
    let expected = vec![unnamed(), say("a"), say("b"), end()];
    assert_eq!(read(&[b"a\n"], complete()), (expected, None));
    assert_eq!(read(&[], vec![end()]), (vec![unnamed(), end()], None));
    let (chunks, fault) = read(&[b"a\nfault\n"], complete());
    assert_eq!(chunks, [unnamed(), say("a")]);
    assert_eq!(fault, Some(ModelFaultKind::Server), "a fault is the end");
}

#[test]
fn an_answer_has_a_largest_size_however_it_comes() {
    let check = |over: &[u8], chunks: usize| {
        let whole = read(&[over], Vec::new());
        let found = (whole.0.len(), whole.1);
        assert_eq!(found, (chunks, Some(ModelFaultKind::Endless)));
        let pieces: Vec<&[u8]> = over.chunks(999_999).collect();
        assert!(read(&pieces, Vec::new()) == whole);
    };
    let blanks = [vec![b' '; (1 << 20) - 1], b"\n".to_vec()].concat();
    check(&[blanks.repeat(64).as_slice(), b"b\n"].concat(), 0);
    let words = [vec![b'a'; 1 << 20], b"\n".to_vec()].concat();
    check(&[words.repeat(16).as_slice(), b"b\nend\n"].concat(), 17);
}
