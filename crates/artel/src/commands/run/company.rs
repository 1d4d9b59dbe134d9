//! Who is there while a run goes on: the person at the terminal, or nobody.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use artel_tools::{Approver, Hints, Person, Question, Said};
use artel_workshop::{Audience, Caller, Company, PortalQuestion, Stop, Trust, TrustQuestion};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::live::Passing;
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
    passing: UnboundedSender<Passing>,
) -> Company {
    let is_there = !screen.json && io::stdin().is_terminal();
    let ears = Ears(passing);
    let approver = || {
        let (inner, ears) = (Terminal::of(caller), ears.clone());
        Arc::new(AtDesk { inner, ears }) as Arc<dyn Approver>
    };
    let person = || Arc::new(AtTerminal(ears.clone())) as Arc<dyn Person>;
    let trust = TrustDesk {
        answers,
        is_there,
        ears: ears.clone(),
    };
    Company {
        approver: is_there.then(approver),
        person: is_there.then(person),
        trust: Arc::new(trust),
        audience: Arc::new(ears) as Arc<dyn Audience>,
        stop,
        hints: Hints::Shown,
    }
}

/// How long a question waits for the screen; whoever owns it may be the one that asks.
const PATIENCE: Duration = Duration::from_millis(200);

/// Hears what passes, and hands it to whoever owns the screen.
#[derive(Clone)]
struct Ears(UnboundedSender<Passing>);

impl Ears {
    fn pass(&self, passing: Passing) {
        // Once the screen is gone nobody listens.
        drop(self.0.send(passing));
    }

    /// Asks while nothing else is shown.
    fn while_quiet<T>(&self, ask: impl FnOnce() -> T) -> T {
        let (ready, is_ready) = mpsc::channel();
        self.pass(Passing::Quiet(ready));
        // Without an answer the question is asked all the same.
        is_ready.recv_timeout(PATIENCE).unwrap_or_default();
        let answer = ask();
        self.pass(Passing::Loud);
        answer
    }
}

impl Audience for Ears {
    fn words(&self, text: &str) {
        self.pass(Passing::Words(text.to_owned()));
    }

    fn begins(&self) {
        self.pass(Passing::Begins);
    }

    // What commands print is part of their results.
    fn output(&self, _: &str) {}

    fn waits(&self, what: &str) {
        self.pass(Passing::Waits(what.to_owned()));
    }

    fn notice(&self, text: &str) {
        self.pass(Passing::Notice(text.to_owned()));
    }
}

struct AtDesk {
    inner: Terminal,
    ears: Ears,
}

impl Approver for AtDesk {
    fn approve(&self, question: &Question) -> Option<Said> {
        self.ears.while_quiet(|| self.inner.approve(question))
    }
}

struct TrustDesk {
    answers: Answers,
    is_there: bool,
    ears: Ears,
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
        let answer = self.ears.while_quiet(|| typed(&text))?;
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
        let answer = self.ears.while_quiet(|| typed(&text))?;
        Some(matches!(answer.as_str(), "y" | "yes"))
    }

    fn ask_portal(&self, question: &PortalQuestion) -> Option<bool> {
        if self.answers == Answers::Yes {
            return Some(true);
        }
        if !self.is_there {
            return None;
        }
        let text = format!("{} [y/N] ", harmless(&question.to_string()));
        let answer = self.ears.while_quiet(|| typed(&text))?;
        Some(matches!(answer.as_str(), "y" | "yes"))
    }
}

struct AtTerminal(Ears);

impl Person for AtTerminal {
    fn answer(&self, question: &str, choices: &[String]) -> Option<String> {
        let mut text = format!("{}\n", harmless(question));
        for (index, choice) in choices.iter().enumerate() {
            text.push_str(&format!("  {} {}\n", index + 1, harmless(choice)));
        }
        text.push_str("▸ ");
        let answer = self.0.while_quiet(|| typed(&text))?;
        let number = answer
            .parse::<usize>()
            .ok()
            .and_then(|it| it.checked_sub(1));
        let chosen = number.and_then(|index| choices.get(index));
        Some(chosen.cloned().unwrap_or(answer))
    }
}

/// Shows a question and returns what was typed; nothing at the end of the input.
pub(crate) fn typed(question: &str) -> Option<String> {
    let mut screen = io::stderr().lock();
    // Without a screen nobody sees the question, and nobody answers it.
    drop(write!(screen, "{question}"));
    drop(screen.flush());
    let mut line = String::new();
    let count = io::stdin().read_line(&mut line).ok()?;
    (count > 0).then(|| line.trim().to_owned())
}
