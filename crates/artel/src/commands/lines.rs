//! Processes standard input line by line: one line in, one line out, whatever the input is.

use std::borrow::Cow;
use std::io::{self, BufRead as _, Read as _};

use artel_types::{Failure, FailureCode};
use artel_workshop::{CommandContext, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::screen::{CliOutput, stopped};

/// Maximum length of a line in bytes. A longer line is answered as invalid JSON.
const LONGEST: u64 = 16 << 20;

/// A byte that never occurs in UTF-8 text.
const NO_TEXT: u8 = 0xff;

/// Number of bytes read at once.
const PIECE: usize = 64 * 1024;

/// Answers every line of standard input with one line, including empty lines.
pub(super) fn each(
    screen: &mut CliOutput,
    answer: impl Fn(&str) -> String,
) -> Result<CliCommandOutcome, WorkshopFailures> {
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
            return Ok(CliCommandOutcome::Done);
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

/// Returns the line. If it is not UTF-8 text, returns the readable beginning and a
/// replacement character: the line is answered as the broken JSON it is, and never taken
/// for something else.
fn readable(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => text.into(),
        Err(bad) => String::from_utf8_lossy(&line[..=bad.valid_up_to()]),
    }
}

fn skip_line(input: &mut impl io::BufRead) -> Result<(), WorkshopFailures> {
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

/// Removes secrets from standard input as it arrives.
pub(super) fn redact(
    screen: &mut CliOutput,
    caller: &CommandContext,
) -> Result<CliCommandOutcome, WorkshopFailures> {
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
    Ok(CliCommandOutcome::Done)
}

fn input_failed(error: &io::Error) -> Failure {
    Failure::new(FailureCode::C008, "standard input could not be read")
        .because(error.to_string())
        .advise("give it something to read: a file or a pipe")
}
