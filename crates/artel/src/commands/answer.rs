//! `artel answer`

use artel_types::{Failure, FailureCode};
use artel_workshop::{
    CallApprovalDecision, CallAwaitingApproval, CommandContext, OpenQuestion, OutcomeWithNotes,
    SteeringDelivery, Workshop, WorkshopFailures,
};
use serde_json::json;

use crate::CliCommandOutcome;
use crate::render::{harmless, harmless_lines};
use crate::screen::CliOutput;

/// Answer a question of a run or a plan, or decide whether a call may be carried out
///
/// Without an answer it shows the question. A choice can be followed by a colon and a
/// reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel answer 5d2f41c0\n\
    Example: artel answer 5d2f41c0 \"per account\"\n\
    Example: artel answer 5d2f41c0 \"more: the test needs a fixed clock\"")]
pub(crate) struct Args {
    /// The id of the run, the trace, the question or the call
    id: String,
    /// A choice, or an answer in words
    #[arg(value_name = "CHOICE|TEXT", trailing_var_arg = true)]
    answer: Vec<String>,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let question = match workshop.question_named(&args.id) {
        Ok(question) => question,
        Err(failure) if failure.code == FailureCode::R004 => {
            return match workshop.call_named(&args.id) {
                Ok(call) => allow(args, &workshop, &call, screen),
                Err(other) if other.code == FailureCode::R004 => Err(failure.into()),
                Err(other) => Err(other.into()),
            };
        }
        Err(failure) => return Err(failure.into()),
    };
    if args.answer.is_empty() {
        return show(&question, screen);
    }
    let answer = args.answer.join(" ");
    let OutcomeWithNotes { done, notes } = workshop.answer_question(&question, &answer)?;
    screen.notes(&notes);
    let driver = match &done {
        SteeringDelivery::Sent(driver) => Some(driver.clone()),
        SteeringDelivery::Kept | SteeringDelivery::Ended => None,
    };
    let short = match workshop.work(question.trace) {
        Ok(work) => work.trace.short(),
        Err(_) => question.run.short(),
    };
    if screen.json {
        screen.value(&json!({
            "run": question.run.to_string(),
            "question": question.asked.question,
            "goes_on_in": driver,
            "next": driver.is_none().then(|| format!("artel resume {short}")),
        }))?;
        return Ok(CliCommandOutcome::Done);
    }
    screen.line(match driver {
        Some(driver) => format!("answered; it goes on in {}", harmless(&driver)),
        None => format!("answered; `artel resume {short}` goes on"),
    })?;
    Ok(CliCommandOutcome::Done)
}

/// Answers a call that needs a yes, or shows what the call would do.
fn allow(
    args: &Args,
    workshop: &Workshop,
    call: &CallAwaitingApproval,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let (id, what) = (call.id(), workshop.whole_text(&call.asked.shown)?);
    let command = call.command();
    if args.answer.is_empty() {
        if screen.json {
            screen.value(&call.waits(what))?;
            return Ok(CliCommandOutcome::Done);
        }
        screen.line(format!("{id}: {}", harmless(&call.title)))?;
        screen.line(format!("wants to run: {}", harmless(&call.asked.tool)))?;
        screen.line(harmless_lines(&what))?;
        screen.line(format!("why asked: {}", harmless(&call.asked.why)))?;
        if let Some(beyond) = call.beyond_once() {
            screen.line(format!("beyond once it allows: {}", harmless(&beyond)))?;
        }
        screen.say(format!("Next: `{command}`"));
        return Ok(CliCommandOutcome::Done);
    }
    let answer = args.answer.join(" ");
    let Some(words) = CallApprovalDecision::of_words(&answer) else {
        let what = format!("`{}` is no answer to it", harmless(&answer));
        return Err(Failure::new(FailureCode::C004, what)
            .because(format!("it takes one of: {}", call.choices().join(", ")))
            .advise(format!("`{command}`"))
            .into());
    };
    // A yes applies to what the person saw, and only the full id identifies that.
    if !matches!(words.reply, CallApprovalDecision::No(_)) && args.id.to_ascii_lowercase() != id {
        return Err(
            Failure::new(FailureCode::C004, "a yes names what it is for")
                .because(format!(
                    "`{}` could be another call by now",
                    harmless(&args.id)
                ))
                .advise(format!(
                    "`artel answer {id}` shows it; `artel answer {id} yes`"
                ))
                .into(),
        );
    }
    let answered = workshop.answer_call(call, &call.asked.record, &words.reply);
    let OutcomeWithNotes { mut notes, .. } = answered?;
    notes.extend(words.note.map(str::to_owned));
    screen.notes(&notes);
    if screen.json {
        screen.value(&json!({ "run": call.run.to_string(), "goes_on_in": call.driver }))?;
        return Ok(CliCommandOutcome::Done);
    }
    screen.line(format!(
        "answered; it goes on in {}",
        harmless(&call.driver)
    ))?;
    Ok(CliCommandOutcome::Done)
}

fn show(
    question: &OpenQuestion,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&json!({
            "run": question.run.to_string(),
            "trace": question.trace.to_string(),
            "title": question.title,
            "question": question.asked.question,
            "text": question.asked.text,
            "choices": question.asked.choices,
            "suggested": question.asked.suggested,
            "since": question.since,
        }))?;
        return Ok(CliCommandOutcome::Done);
    }
    screen.line(format!(
        "{}: {}",
        question.run.short(),
        harmless(&question.title)
    ))?;
    screen.line(harmless_lines(&question.asked.text))?;
    for (at, choice) in question.asked.choices.iter().enumerate() {
        screen.line(format!("  {} {}", at + 1, harmless(choice)))?;
    }
    screen.say(format!("Next: `{}`", harmless(&question.command())));
    Ok(CliCommandOutcome::Done)
}
