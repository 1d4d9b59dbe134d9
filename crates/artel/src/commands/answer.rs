//! `artel answer`

use artel_workshop::{Caller, Noted, OpenQuestion, Problems, Steered};
use serde_json::json;

use crate::Verdict;
use crate::render::{harmless, harmless_lines};
use crate::screen::Screen;

/// Answer what a run or a plan asks
///
/// Without an answer it shows the question. A choice can be followed by a colon and a reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel answer 5d2f41c0\n\
    Example: artel answer 5d2f41c0 \"per account\"\n\
    Example: artel answer 5d2f41c0 \"more: the test needs a fixed clock\"")]
pub(crate) struct Args {
    /// The run, the trace or the question
    id: String,
    /// A choice, or words
    #[arg(value_name = "CHOICE|TEXT", trailing_var_arg = true)]
    answer: Vec<String>,
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let workshop = caller.workshop()?;
    let question = workshop.question_named(&args.id)?;
    if args.answer.is_empty() {
        return show(&question, screen);
    }
    let answer = args.answer.join(" ");
    let Noted { done, notes } = workshop.answer_question(&question, &answer)?;
    screen.notes(&notes);
    let driver = match &done {
        Steered::Heard(driver) => Some(driver.clone()),
        Steered::Kept | Steered::Ended => None,
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
        return Ok(Verdict::Done);
    }
    screen.line(match driver {
        Some(driver) => format!("answered; it goes on in {}", harmless(&driver)),
        None => format!("answered; `artel resume {short}` goes on"),
    })?;
    Ok(Verdict::Done)
}

fn show(question: &OpenQuestion, screen: &mut Screen) -> Result<Verdict, Problems> {
    if screen.json {
        screen.value(&json!({
            "run": question.run.to_string(),
            "trace": question.trace.to_string(),
            "title": question.title,
            "question": question.asked.question,
            "text": question.asked.text,
            "choices": question.asked.choices,
            "since": question.since,
        }))?;
        return Ok(Verdict::Done);
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
    Ok(Verdict::Done)
}
