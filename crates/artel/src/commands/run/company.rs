//! The observers of a run in progress: the person at the terminal, or nobody.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use artel_tools::{
    AskablePerson, AttributedToolApproval, HintVisibility, ToolApprovalAnswer,
    ToolApprovalQuestion, ToolCallApprover,
};
use artel_workshop::{
    CommandContext, PortalQuestion, RunObserver, RunObservers, ShutdownLevel, TrustApprover,
    TrustQuestion, answer_meant,
};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::live::RunScreenEvent;
use crate::commands::tool::TerminalApprover;
use crate::prompt::{self, PromptAbortReason};
use crate::render::{harmless, harmless_lines};
use crate::screen::CliOutput;

/// The way questions about first use are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstUseAnswerMode {
    /// The person is asked.
    Ask,
    /// All questions are answered yes, because of `--yes`.
    Yes,
}

/// Assembles the observers of a run.
pub(crate) fn company(
    caller: &CommandContext,
    screen: &CliOutput,
    answers: FirstUseAnswerMode,
    stop: watch::Receiver<ShutdownLevel>,
    passing: UnboundedSender<RunScreenEvent>,
) -> RunObservers {
    let is_there = !screen.json && io::stdin().is_terminal();
    let ears = RunScreenHandle {
        passing,
        stop: stop.clone(),
    };
    if screen.redraws {
        // A display that is redrawn in place must know of every line printed in between.
        let (ears, tell) = (ears.clone(), screen.teller());
        caller.room().told_by(move |text| {
            let notice = RunScreenEvent::Notice(text.to_owned());
            if ears.passing.send(notice).is_err() {
                tell(text);
            }
        });
    }
    let approver = || {
        let desk = RunScreenApprover {
            inner: TerminalApprover::of(caller),
            ears: ears.clone(),
            settled: Mutex::default(),
        };
        Arc::new(desk) as Arc<dyn ToolCallApprover>
    };
    let person = || {
        let (ears, settled) = (ears.clone(), Mutex::default());
        Arc::new(TerminalPerson { ears, settled }) as Arc<dyn AskablePerson>
    };
    let trust = TerminalTrustPrompt {
        answers,
        is_there,
        ears: ears.clone(),
    };
    RunObservers {
        approver: is_there.then(approver),
        person: is_there.then(person),
        trust: Arc::new(trust),
        audience: Arc::new(ears) as Arc<dyn RunObserver>,
        stop,
        hints: HintVisibility::Shown,
    }
}

/// Time that a question waits for the screen. The thread that owns the screen may itself be
/// the one that asks.
const PATIENCE: Duration = Duration::from_millis(200);

/// Passes unrecorded events to the thread that owns the screen.
#[derive(Clone)]
struct RunScreenHandle {
    passing: UnboundedSender<RunScreenEvent>,
    stop: watch::Receiver<ShutdownLevel>,
}

impl RunScreenHandle {
    fn pass(&self, passing: RunScreenEvent) {
        // Once the screen is gone, nobody receives the event.
        drop(self.passing.send(passing));
    }

    /// Asks while nothing else is shown. Questions are asked one at a time.
    fn while_quiet<T>(&self, ask: impl FnOnce() -> T) -> T {
        let _turn = prompt::turn();
        let (ready, is_ready) = mpsc::channel();
        self.pass(RunScreenEvent::Quiet(ready));
        // If the screen does not respond, the question is asked anyway.
        is_ready.recv_timeout(PATIENCE).unwrap_or_default();
        let answer = ask();
        self.pass(RunScreenEvent::Loud);
        answer
    }

    /// Returns `Interrupted` if the person wants everything to stop.
    fn gone(&self) -> Option<PromptAbortReason> {
        (*self.stop.borrow() != ShutdownLevel::No).then_some(PromptAbortReason::Interrupted)
    }

    /// Asks a yes-or-no question, or returns `None` if nobody answers.
    fn is_yes(&self, question: &str) -> Option<bool> {
        let answer = self.while_quiet(|| prompt::is_yes(question, &|| self.gone()));
        answer.ok().flatten()
    }
}

impl RunObserver for RunScreenHandle {
    fn words(&self, text: &str) {
        self.pass(RunScreenEvent::Words(text.to_owned()));
    }

    fn begins(&self) {
        self.pass(RunScreenEvent::Begins);
    }

    // The output of commands is shown with their results.
    fn output(&self, _: &str) {}

    fn waits(&self, what: &str) {
        self.pass(RunScreenEvent::Waits(what.to_owned()));
    }

    fn notice(&self, text: &str) {
        self.pass(RunScreenEvent::Notice(text.to_owned()));
    }
}

struct RunScreenApprover {
    inner: TerminalApprover,
    ears: RunScreenHandle,
    /// Calls that were answered elsewhere, with the answer.
    settled: Mutex<BTreeMap<String, String>>,
}

impl RunScreenApprover {
    fn settled(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolCallApprover for RunScreenApprover {
    fn approve(&self, question: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        let gone = || match RunScreenApprover::settled(self).get(&question.call) {
            Some(why) => Some(PromptAbortReason::Settled(why.clone())),
            None => self.ears.gone(),
        };
        let said = self.ears.while_quiet(|| {
            let said = self.inner.ask(question, &gone);
            if let Err(PromptAbortReason::Settled(why)) = &said {
                prompt::show(&format!("{}\n", harmless(why)));
            }
            said
        });
        RunScreenApprover::settled(self).remove(&question.call);
        said.unwrap_or_else(|_| Some(ToolApprovalAnswer::Left.into()))
    }

    fn settled(&self, question: &ToolApprovalQuestion, why: &str) {
        let (call, why) = (question.call.clone(), why.to_owned());
        RunScreenApprover::settled(self).insert(call, why);
    }
}

struct TerminalTrustPrompt {
    answers: FirstUseAnswerMode,
    is_there: bool,
    ears: RunScreenHandle,
}

impl TrustApprover for TerminalTrustPrompt {
    fn ask(&self, question: &TrustQuestion) -> Option<bool> {
        if self.answers == FirstUseAnswerMode::Yes {
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
        self.ears.is_yes(&text)
    }

    fn ask_hook(&self, lines: &[String]) -> Option<bool> {
        if self.answers == FirstUseAnswerMode::Yes {
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
        self.ears.is_yes(&text)
    }

    fn ask_portal(&self, question: &PortalQuestion) -> Option<bool> {
        if self.answers == FirstUseAnswerMode::Yes {
            return Some(true);
        }
        if !self.is_there {
            return None;
        }
        let text = format!("{} [y/N] ", harmless(&question.to_string()));
        self.ears.is_yes(&text)
    }
}

struct TerminalPerson {
    ears: RunScreenHandle,
    /// Questions that no longer need an answer, with the reason.
    settled: Mutex<BTreeMap<String, String>>,
}

impl TerminalPerson {
    fn settled(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(
        &self,
        question: &str,
        choices: &[String],
        filled_in: Option<&str>,
    ) -> Result<Option<String>, PromptAbortReason> {
        let mut text = format!("{}\n", harmless_lines(question));
        for (index, choice) in choices.iter().enumerate() {
            text.push_str(&format!("  {} {}\n", index + 1, harmless(choice)));
        }
        if let Some(filled_in) = filled_in {
            text.push_str(&format!("Enter takes: {}\n", harmless(filled_in)));
        }
        text.push_str("▸ ");
        let known: Vec<_> = choices.iter().map(|choice| harmless(choice)).collect();
        let gone = || match self.settled().get(question) {
            Some(why) => Some(PromptAbortReason::Settled(why.clone())),
            None => self.ears.gone(),
        };
        let meaning = |answer: &str| match (answer, filled_in) {
            ("", Some(filled_in)) => Some(filled_in.to_owned()),
            _ => answer_meant(choices, answer),
        };
        prompt::choose(&text, &known.join(", "), &gone, meaning)
    }

    fn asked(&self, question: &str, choices: &[String], filled_in: Option<&str>) -> Option<String> {
        let answer = self.ears.while_quiet(|| {
            let answer = self.put(question, choices, filled_in);
            if let Err(PromptAbortReason::Settled(why)) = &answer {
                prompt::show(&format!("{}\n", harmless(why)));
            }
            answer
        });
        self.settled().remove(question);
        answer.ok().flatten()
    }
}

impl AskablePerson for TerminalPerson {
    fn answer(&self, question: &str, choices: &[String]) -> Option<String> {
        self.asked(question, choices, None)
    }

    fn answer_filled_in(
        &self,
        question: &str,
        choices: &[String],
        filled_in: &str,
    ) -> Option<String> {
        self.asked(question, choices, Some(filled_in))
    }

    fn settled(&self, question: &str, why: &str) {
        self.settled().insert(question.to_owned(), why.to_owned());
    }
}
