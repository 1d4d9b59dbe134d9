//! Asks the person at the terminal to approve tool calls.

use artel_policy::GrantScope;
use artel_policy::record::visible;
use artel_tools::{
    AttributedToolApproval, ToolApprovalAnswer, ToolApprovalQuestion, ToolCallApprover,
};
use artel_types::Actor;
use artel_workshop::{CommandContext, NO_SESSIONS, Workshop, WorkshopFailures};

use crate::prompt::{self, PromptAbortReason};

/// Asks the person at the terminal to approve tool calls.
pub(crate) struct TerminalApprover {
    /// The workshop that stores grants given for good, or `None` if there is none.
    workshop: Option<Workshop>,
    person: Actor,
}

impl TerminalApprover {
    pub(crate) fn of(caller: &CommandContext) -> Self {
        Self {
            workshop: caller.workshop().ok(),
            person: caller.actor(),
        }
    }

    /// Returns how far a yes may reach, narrowest first.
    fn scopes(&self, question: &ToolApprovalQuestion) -> Vec<GrantScope> {
        let mut scopes = vec![GrantScope::Once];
        scopes.extend(question.scopes());
        scopes.retain(|scope| *scope != GrantScope::Always || self.workshop.is_some());
        scopes
    }

    /// Stores a grant for good with the person's reason, or returns why it cannot.
    fn keep(&self, question: &ToolApprovalQuestion, reason: &str) -> Result<(), String> {
        if reason.is_empty() {
            return Err("a grant for good needs a reason; nothing was granted".to_owned());
        }
        let Some(workshop) = &self.workshop else {
            return Err("there is no workshop to keep it in".to_owned());
        };
        for offer in &question.offers {
            let kept = workshop.grant(&offer.rule, reason).map(drop);
            kept.map_err(|WorkshopFailures(failures)| {
                let texts: Vec<_> = failures.iter().map(ToString::to_string).collect();
                texts.join("; ")
            })?;
        }
        Ok(())
    }
}

impl TerminalApprover {
    /// Asks until there is an answer, or until none can be had.
    pub(crate) fn ask(
        &self,
        question: &ToolApprovalQuestion,
        gone: &dyn Fn() -> Option<PromptAbortReason>,
    ) -> Result<Option<AttributedToolApproval>, PromptAbortReason> {
        let reply = self.answer(question, gone)?;
        Ok(reply.map(|reply| reply.by(self.person.clone())))
    }

    fn answer(
        &self,
        question: &ToolApprovalQuestion,
        gone: &dyn Fn() -> Option<PromptAbortReason>,
    ) -> Result<Option<ToolApprovalAnswer>, PromptAbortReason> {
        prompt::show(&shown(question));
        let scopes = self.scopes(question);
        let choices: Vec<_> = scopes.iter().map(|scope| bracketed(*scope)).collect();
        let words: Vec<_> = scopes.iter().map(|scope| scope.word()).collect();
        let (text, known) = (
            format!("Allow it? {}  [N]o ", choices.join("  ")),
            format!("{}, no", words.join(", ")),
        );
        loop {
            let meaning = |answer: &str| meant(&answer.to_ascii_lowercase(), &scopes);
            let scope = match prompt::choose(&text, &known, gone, meaning)? {
                None => return Ok(None),
                Some(TypedToolApproval::No) => {
                    let reason = "said at the terminal".to_owned();
                    return Ok(Some(ToolApprovalAnswer::No { reason }));
                }
                Some(TypedToolApproval::Yes(scope)) => scope,
                Some(TypedToolApproval::Session(scope)) => {
                    prompt::show(&format!("{NO_SESSIONS}\n"));
                    scope
                }
            };
            if scope != GrantScope::Always {
                return Ok(Some(question.yes(scope, "said at the terminal")));
            }
            let Some(reason) = prompt::read("Reason for always allowing this: ", gone)? else {
                return Ok(None);
            };
            match self.keep(question, &reason) {
                Ok(()) => return Ok(Some(question.yes(scope, &reason))),
                Err(why) => prompt::show(&format!("{}\n", visible(&why))),
            }
        }
    }
}

/// Asks while nothing else is going on.
impl ToolCallApprover for TerminalApprover {
    fn approve(&self, question: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        let said = prompt::alone(|gone| self.ask(question, gone));
        said.unwrap_or_else(|_| Some(ToolApprovalAnswer::Left.into()))
    }
}

#[derive(Debug, Clone, Copy)]
enum TypedToolApproval {
    Yes(GrantScope),
    /// Sessions used to be offered; the answer now reaches as far as a run.
    Session(GrantScope),
    No,
}

/// Returns what would be done, why the person is asked, and what an answer beyond once
/// would allow.
fn shown(question: &ToolApprovalQuestion) -> String {
    let mut text = format!("wants to run: {}\n", visible(&question.tool));
    for line in question.record.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str(&format!(
        "  why asked: {} ({})\n",
        visible(&question.decision.reason),
        visible(&question.decision.rule)
    ));
    let rules = question.offers.iter();
    let rules: Vec<_> = rules.map(|offer| visible(&offer.rule)).collect();
    if !rules.is_empty() {
        text.push_str(&format!("  beyond once it allows: {}\n", rules.join(", ")));
    } else if question.exactly.is_some() {
        text.push_str("  for this run it allows exactly this\n");
    }
    text
}

/// Returns the answer as it is offered, with its letter in brackets.
fn bracketed(scope: GrantScope) -> &'static str {
    match scope {
        GrantScope::Once => "[o]nce",
        GrantScope::Run => "for this [r]un",
        GrantScope::Always => "[a]lways",
    }
}

/// Returns the meaning of an answer. Enter alone is a no.
fn meant(answer: &str, scopes: &[GrantScope]) -> Option<TypedToolApproval> {
    match answer {
        "y" | "yes" => return Some(TypedToolApproval::Yes(GrantScope::Once)),
        "" | "n" | "no" => return Some(TypedToolApproval::No),
        "s" | "session" if scopes.contains(&GrantScope::Run) => {
            return Some(TypedToolApproval::Session(GrantScope::Run));
        }
        _ => {}
    }
    let is_meant = |scope: &&GrantScope| answer == scope.word() || answer == &scope.word()[..1];
    scopes
        .iter()
        .find(is_meant)
        .copied()
        .map(TypedToolApproval::Yes)
}
