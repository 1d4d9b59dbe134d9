//! Who is there while a run goes on: the person at the terminal, or nobody.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use artel_tools::{Approver, Person};
use artel_workshop::{Audience, Caller, Company, Nobody, Stop, Trust, TrustQuestion};
use tokio::sync::watch;

use crate::commands::tool::Terminal;
use crate::render::harmless;
use crate::screen::Screen;

/// How first-use questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// By the person.
    Ask,
    /// With yes: `--yes`.
    Yes,
}

/// Puts the company of a run together.
pub(crate) fn company(
    caller: &Caller,
    screen: &Screen,
    answers: Answers,
    stop: watch::Receiver<Stop>,
) -> Company {
    let is_there = !screen.json && io::stdin().is_terminal();
    Company {
        audience: Arc::new(Nobody) as Arc<dyn Audience>,
        approver: is_there.then(|| Arc::new(Terminal::of(caller)) as Arc<dyn Approver>),
        person: is_there.then(|| Arc::new(AtTerminal) as Arc<dyn Person>),
        trust: Arc::new(TrustDesk { answers, is_there }),
        stop,
    }
}

struct TrustDesk {
    answers: Answers,
    is_there: bool,
}

impl Trust for TrustDesk {
    fn ask(&self, question: &TrustQuestion) -> Option<bool> {
        if self.answers == Answers::Yes {
            return Some(true);
        }
        if !self.is_there {
            return None;
        }
        let mut text = format!(
            "The skill `{}` comes from {} and was never used here as it is.\n",
            harmless(&question.skill),
            harmless(&question.folder)
        );
        let mut list = |what: &str, items: &[String]| {
            for item in items {
                text.push_str(&format!("  {what} {}\n", harmless(item)));
            }
        };
        list("runs at its start:", &question.commands);
        list("brings the script:", &question.scripts);
        list("names the address:", &question.urls);
        match &question.tools {
            Some(tools) => list("may use:", tools),
            None => text.push_str("  may use: whatever policy allows\n"),
        }
        text.push_str("Trust it until a file of it changes? [y/N] ");
        let answer = typed(&text)?;
        Some(matches!(answer.as_str(), "y" | "yes"))
    }

    fn ask_hook(&self, lines: &[String]) -> Option<bool> {
        if self.answers == Answers::Yes {
            return Some(true);
        }
        if !self.is_there {
            return None;
        }
        let mut text =
            "A hook wants to run in the sandbox during this and later runs:\n".to_owned();
        for line in lines {
            text.push_str(&format!("  {}\n", harmless(line)));
        }
        text.push_str("Trust it until it or a file it names changes? [y/N] ");
        let answer = typed(&text)?;
        Some(matches!(answer.as_str(), "y" | "yes"))
    }
}

struct AtTerminal;

impl Person for AtTerminal {
    fn answer(&self, question: &str, choices: &[String]) -> Option<String> {
        let mut text = format!("{}\n", harmless(question));
        for (index, choice) in choices.iter().enumerate() {
            text.push_str(&format!("  {} {}\n", index + 1, harmless(choice)));
        }
        text.push_str("▸ ");
        let answer = typed(&text)?;
        let number = answer
            .parse::<usize>()
            .ok()
            .and_then(|it| it.checked_sub(1));
        let chosen = number.and_then(|index| choices.get(index));
        Some(chosen.cloned().unwrap_or(answer))
    }
}

/// Shows a question and returns what was typed; nothing at the end of the input.
fn typed(question: &str) -> Option<String> {
    let mut screen = io::stderr().lock();
    // Without a screen nobody sees the question, and nobody answers it.
    drop(write!(screen, "{question}"));
    drop(screen.flush());
    let mut line = String::new();
    let count = io::stdin().read_line(&mut line).ok()?;
    (count > 0).then(|| line.trim().to_owned())
}
