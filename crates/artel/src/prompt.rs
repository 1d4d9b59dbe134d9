//! Questions to the person at the terminal. Only one is asked at a time. It ends with an
//! answer, at the end of the input, or when the code that asks is told to stop.

use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_workshop::WorkshopFailures;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::output_failed;
use crate::render::harmless;
use crate::runtime::interrupted;
use crate::signals::SignalListener;

/// Poll interval: how long to wait for keys before checking whether the question still
/// stands.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 40_000_000,
};

/// Held while a question is on the screen.
static SCREEN: Mutex<()> = Mutex::new(());

/// Input after the last line that was read.
static REST: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The reason why a question ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PromptAbortReason {
    /// The person wants everything to stop.
    Interrupted,
    /// The question no longer needs an answer, for this reason.
    Settled(String),
}

/// Waits until no other question is on the screen.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows a question and returns the typed answer, or `None` at the end of the input. `gone`
/// is checked meanwhile and can end the question.
pub(crate) fn read(
    question: &str,
    gone: &dyn Fn() -> Option<PromptAbortReason>,
) -> Result<Option<String>, PromptAbortReason> {
    if let Some(gone) = gone() {
        return Err(gone);
    }
    show(question);
    let stdin = io::stdin();
    let mut rest = REST.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            return Ok(Some(text_of(&line)));
        }
        if let Some(gone) = gone() {
            // Half-typed text belongs to the question that just ended.
            rest.clear();
            show("\n");
            return Err(gone);
        }
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        // A signal cuts the wait short, which is as good as a timeout.
        if poll(&mut ready, Some(&LOOK)).unwrap_or(0) == 0 {
            continue;
        }
        let mut piece = [0; 4096];
        match rustix::io::read(&stdin, &mut piece) {
            Ok(0) | Err(_) if rest.is_empty() => return Ok(None),
            Ok(0) | Err(_) => return Ok(Some(text_of(&std::mem::take(&mut *rest)))),
            Ok(count) => rest.extend_from_slice(&piece[..count]),
        }
    }
}

/// Asks until the answer is a known one. Returns `None` at the end of the input.
pub(crate) fn choose<T>(
    question: &str,
    known: &str,
    gone: &dyn Fn() -> Option<PromptAbortReason>,
    meaning: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, PromptAbortReason> {
    loop {
        let Some(answer) = read(question, gone)? else {
            return Ok(None);
        };
        if let Some(meant) = meaning(&answer) {
            return Ok(Some(meant));
        }
        if !answer.is_empty() {
            show(&format!(
                "`{}` is no answer to it; answer one of: {known}\n",
                harmless(&answer)
            ));
        }
    }
}

/// Asks a question whose answer is no unless the person says yes.
pub(crate) fn is_yes(
    question: &str,
    gone: &dyn Fn() -> Option<PromptAbortReason>,
) -> Result<Option<bool>, PromptAbortReason> {
    choose(question, "yes, no", gone, |answer| {
        match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(true),
            "" | "n" | "no" => Some(false),
            _ => None,
        }
    })
}

/// Asks while nothing else is going on, so Ctrl-C ends the command.
pub(crate) fn alone<T>(
    ask: impl FnOnce(&dyn Fn() -> Option<PromptAbortReason>) -> Result<T, PromptAbortReason>,
) -> Result<T, WorkshopFailures> {
    let ear = SignalListener::open().map_err(|error| output_failed(&error))?;
    let gone = || (ear.count() > 0).then_some(PromptAbortReason::Interrupted);
    ask(&gone).map_err(|_| interrupted().into())
}

/// Shows a question while nothing else is going on, and returns the typed answer.
pub(crate) fn typed(question: &str) -> Result<Option<String>, WorkshopFailures> {
    alone(|gone| read(question, gone))
}

/// Prints text where questions are shown. Errors are ignored: without a screen, nobody sees
/// the question, and nobody answers it.
pub(crate) fn show(text: &str) {
    let mut screen = io::stderr().lock();
    drop(write!(screen, "{text}"));
    drop(screen.flush());
}

fn text_of(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim().to_owned()
}
