//! Standard input line by line: one line in, one line out, whatever comes.

use std::borrow::Cow;
use std::io::{self, BufRead as _, Read as _};

use artel_types::{Code, Failure};
use artel_workshop::{Caller, Problems};

use crate::Verdict;
use crate::screen::{Screen, stopped};

/// The longest line that is judged. What is longer is answered as what it is not: JSON.
const LONGEST: u64 = 16 << 20;

/// A byte that is in no text.
const NO_TEXT: u8 = 0xff;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Answers every line of standard input with one line. An empty line is a line.
pub(super) fn each(
    screen: &mut Screen,
    answer: impl Fn(&str) -> String,
) -> Result<Verdict, Problems> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input
            .by_ref()
            .take(LONGEST)
            .read_until(b'\n', &mut line)
            .map_err(|error| input_failed(&error))?;
        if read == 0 {
            return Ok(Verdict::Done);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read as u64 == LONGEST {
            // The rest of a line that is too long belongs to it.
            skip_line(&mut input)?;
            line.truncate(100);
            line.push(NO_TEXT);
        }
        screen.line(answer(&readable(&line)))?;
        screen.flush()?;
    }
}

/// Returns the line, or, where it is not text, what can be read of it and a mark after that: it is
/// answered as the broken JSON it is, never as if it were something else.
fn readable(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => text.into(),
        Err(bad) => String::from_utf8_lossy(&line[..=bad.valid_up_to()]),
    }
}

fn skip_line(input: &mut impl io::BufRead) -> Result<(), Problems> {
    loop {
        let piece = input.fill_buf().map_err(|error| input_failed(&error))?;
        if piece.is_empty() {
            return Ok(());
        }
        let (length, is_end) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (piece.len(), false),
        };
        input.consume(length);
        if is_end {
            return Ok(());
        }
    }
}

/// Takes secrets out of standard input as it comes.
pub(super) fn redact(screen: &mut Screen, caller: &Caller) -> Result<Verdict, Problems> {
    use std::io::Write as _;
    let mut stream = caller.redactor().stream();
    let mut input = io::stdin().lock();
    let mut piece = vec![0; PIECE];
    loop {
        let count = input
            .read(&mut piece)
            .map_err(|error| input_failed(&error))?;
        if count == 0 {
            break;
        }
        let clean = stream.push_bytes(&piece[..count]);
        screen.writer().write_all(&clean).map_err(stopped)?;
        screen.flush()?;
    }
    let rest = stream.finish_bytes();
    screen.writer().write_all(&rest).map_err(stopped)?;
    Ok(Verdict::Done)
}

fn input_failed(error: &io::Error) -> Failure {
    Failure::new(Code::C008, "standard input could not be read")
        .because(error.to_string())
        .advise("give it something to read: a file or a pipe")
}
