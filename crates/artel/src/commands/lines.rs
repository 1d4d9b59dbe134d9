//! Standard input line by line: one line in, one line out, whatever comes.

use std::io::{self, BufRead as _, Read as _};

use artel_workshop::{Caller, Problems};

use crate::screen::Screen;
use crate::{Verdict, output_failed};

/// The longest line that is judged. What is longer is answered as what it is not: JSON.
const LONGEST: u64 = 16 << 20;

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
            .map_err(|error| output_failed(&error))?;
        if read == 0 {
            return Ok(Verdict::Done);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read as u64 == LONGEST {
            // The rest of a line that is too long belongs to it.
            skip_line(&mut input)?;
            line.truncate(100);
        }
        // What is not text is no JSON either, and is answered as such.
        screen.line(answer(&String::from_utf8_lossy(&line)))?;
        screen.flush()?;
    }
}

fn skip_line(input: &mut impl io::BufRead) -> Result<(), Problems> {
    loop {
        let piece = input.fill_buf().map_err(|error| output_failed(&error))?;
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
        let count = input.read(&mut piece).map_err(|error| output_failed(&error))?;
        if count == 0 {
            break;
        }
        let clean = stream.push_bytes(&piece[..count]);
        screen.writer().write_all(&clean).map_err(|error| output_failed(&error))?;
        screen.flush()?;
    }
    let rest = stream.finish_bytes();
    screen.writer().write_all(&rest).map_err(|error| output_failed(&error))?;
    Ok(Verdict::Done)
}
