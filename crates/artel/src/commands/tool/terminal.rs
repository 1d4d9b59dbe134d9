//! The person at the terminal, who is asked whether a call may be carried out.

use std::io::{self, StderrLock, Write as _};

use artel_policy::Scope;
use artel_policy::record::visible;
use artel_tools::{Approver, Question, Reply, Said};
use artel_types::Actor;
use artel_workshop::{Caller, Problems, Workshop};

/// The person at the terminal.
pub(crate) struct Terminal {
    /// Where a yes for good is kept; nothing where there is no workshop to keep it in.
    workshop: Option<Workshop>,
    /// Who sits there.
    person: Actor,
}

impl Terminal {
    pub(crate) fn of(caller: &Caller) -> Self {
        Self {
            workshop: caller.workshop().ok(),
            person: caller.actor(),
        }
    }

    /// Returns how far a yes may reach, nearest first.
    fn scopes(&self, question: &Question) -> Vec<Scope> {
        let mut scopes = vec![Scope::Once];
        scopes.extend(question.scopes());
        scopes.retain(|scope| *scope != Scope::Always || self.workshop.is_some());
        scopes
    }

    /// Keeps a yes for good, with the person's reason; says why if it cannot.
    fn keep(&self, question: &Question, reason: &str) -> Result<(), String> {
        if reason.is_empty() {
            return Err("a grant for good needs a reason; nothing was granted".to_owned());
        }
        let Some(workshop) = &self.workshop else {
            return Err("there is no workshop to keep it in".to_owned());
        };
        for offer in &question.offers {
            let kept = workshop.grant(&offer.rule, reason);
            kept.map_err(|Problems(failures)| {
                let texts: Vec<_> = failures.iter().map(ToString::to_string).collect();
                texts.join("; ")
            })?;
        }
        Ok(())
    }
}

impl Approver for Terminal {
    fn approve(&self, question: &Question) -> Option<Said> {
        Some(self.answer(question)?.by(self.person.clone()))
    }
}

impl Terminal {
    fn answer(&self, question: &Question) -> Option<Reply> {
        let mut screen = io::stderr().lock();
        show(&mut screen, question);
        let scopes = self.scopes(question);
        let choices: Vec<_> = scopes.iter().map(|scope| bracketed(*scope)).collect();
        loop {
            put(
                &mut screen,
                &format!("Allow it? {}  [N]o ", choices.join("  ")),
            );
            let answer = line()?.to_ascii_lowercase();
            let Some(scope) = meant(&answer, &scopes) else {
                return Some(Reply::No {
                    reason: "said at the terminal".to_owned(),
                });
            };
            if scope != Scope::Always {
                return Some(question.yes(scope, "said at the terminal"));
            }
            put(&mut screen, "Why? It is kept with the grant: ");
            let reason = line()?;
            match self.keep(question, &reason) {
                Ok(()) => return Some(question.yes(scope, &reason)),
                Err(why) => put(&mut screen, &format!("{}\n", visible(&why))),
            }
        }
    }
}

/// Shows what would be done, why it is asked, and what an answer beyond once would allow.
fn show(screen: &mut StderrLock<'_>, question: &Question) {
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
    }
    put(screen, &text);
}

fn put(screen: &mut StderrLock<'_>, text: &str) {
    // Without a screen nobody sees the question, and nobody answers it.
    drop(write!(screen, "{text}"));
    drop(screen.flush());
}

/// Reads what was typed; nothing at the end of the input.
fn line() -> Option<String> {
    let mut line = String::new();
    let count = io::stdin().read_line(&mut line).ok()?;
    (count > 0).then(|| line.trim().to_owned())
}

/// Returns the word with the letter that stands for it in brackets.
fn bracketed(scope: Scope) -> String {
    let word = scope.word();
    let (letter, rest) = word.split_at(1);
    format!("[{letter}]{rest}")
}

/// Returns what an answer means; whatever is not offered is a no.
fn meant(answer: &str, scopes: &[Scope]) -> Option<Scope> {
    if matches!(answer, "y" | "yes") {
        return Some(Scope::Once);
    }
    let is_meant = |scope: &&Scope| answer == scope.word() || answer == &scope.word()[..1];
    scopes.iter().find(is_meant).copied()
}
