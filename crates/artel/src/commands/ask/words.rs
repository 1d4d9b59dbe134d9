//! Reads the words of a request from the command line, a file, or a conversation.

use std::io::{self, IsTerminal as _, Read as _};

use artel_types::plan::{StepVerification, Urgency};
use artel_types::{Failure, FailureCode};
use artel_workshop::{CommandContext, WorkshopFailures};

use super::{Args, urgency, verify};
use crate::prompt::typed;
use crate::screen::CliOutput;

/// Maximum length of a request in bytes.
const LONGEST: u64 = 16 << 20;

/// Everything that the person specified for a request.
pub(super) struct AskCommandInput {
    pub(super) words: String,
    pub(super) portal: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) urgency: Urgency,
    pub(super) verify: Option<StepVerification>,
    pub(super) source: &'static str,
}

pub(super) fn asked(
    args: &Args,
    caller: &CommandContext,
    screen: &CliOutput,
) -> Result<AskCommandInput, WorkshopFailures> {
    if args.interactive {
        return conversed(args, screen);
    }
    let (words, source) = match (&args.text, &args.file) {
        (_, Some(file)) if file.as_os_str() == "-" => (piped()?, "cli"),
        (_, Some(file)) => (caller.words_of(file)?, "file"),
        (Some(text), None) => (text.clone(), "cli"),
        (None, None) => {
            return Err(
                Failure::new(FailureCode::C005, "there is nothing asked for")
                    .advise("`artel ask \"…\"`, `artel ask --file FILE` or `artel ask -i`")
                    .into(),
            );
        }
    };
    Ok(AskCommandInput {
        words,
        portal: args.portal.clone(),
        agent: args.agent.clone(),
        urgency: args.priority,
        verify: args.verify,
        source,
    })
}

/// Reads the request from standard input.
fn piped() -> Result<String, Failure> {
    let cannot = |why: String| {
        Failure::new(FailureCode::C004, "the standard input cannot be read")
            .because(why)
            .advise("give it text in UTF-8, or name a file")
    };
    if io::stdin().is_terminal() {
        return Err(cannot("nothing is piped into it".to_owned()));
    }
    let mut bytes = Vec::new();
    let mut input = io::stdin().lock().take(LONGEST + 1);
    input
        .read_to_end(&mut bytes)
        .map_err(|error| cannot(error.to_string()))?;
    if bytes.len() as u64 > LONGEST {
        return Err(cannot(format!("it is longer than {} MB", LONGEST >> 20)));
    }
    let text = String::from_utf8(bytes).map_err(|_| cannot("it is no text".to_owned()))?;
    if text.trim().is_empty() {
        return Err(
            Failure::new(FailureCode::C005, "the standard input is empty")
                .advise("write into it what you want"),
        );
    }
    Ok(text)
}

/// Asks for one thing after the other, except for what was given as a flag.
fn conversed(args: &Args, screen: &CliOutput) -> Result<AskCommandInput, WorkshopFailures> {
    if screen.json || !io::stdin().is_terminal() {
        return Err(
            Failure::new(FailureCode::C006, "nobody is here to be asked")
                .advise("`artel ask \"…\"`, or run it in a terminal")
                .into(),
        );
    }
    let mut lines = Vec::new();
    let mut question = "What do you want? An empty line ends it.\n▸ ";
    while let Some(line) = typed(question)?.filter(|line| !line.is_empty()) {
        lines.push(line);
        question = "▸ ";
    }
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let portal = match args.portal.clone() {
        Some(portal) => Some(portal),
        None => filled(typed("Portal? [that of this folder] ▸ ")?),
    };
    let agent = match args.agent.clone() {
        Some(agent) => Some(agent),
        None => filled(typed("Role? [default] ▸ ")?),
    };
    let wrong =
        |why: String| Failure::new(FailureCode::C004, why).advise("`artel ask -i` begins anew");
    let priority = match filled(typed("Priority? low, [normal], high, critical ▸ ")?) {
        Some(word) => urgency(&word).map_err(wrong)?,
        None => args.priority,
    };
    let how = match filled(typed(
        "Verified by? none, evaluator, tdd [as the plan says] ▸ ",
    )?) {
        Some(word) => Some(verify(&word).map_err(wrong)?),
        None => args.verify,
    };
    Ok(AskCommandInput {
        words: lines.join("\n"),
        portal,
        agent,
        urgency: priority,
        verify: how,
        source: "interactive",
    })
}
