//! Timeline lines for what happens around a run: its files, its sandbox, its hooks.

use artel_types::{Event, EventOutcome, Fact};

use super::line::{Mark, span, tokens};
use super::narrate::Narrator;

impl Narrator {
    /// Returns the lines for what happens around a run: its files, its sandbox, its hooks.
    pub(super) fn aside(&self, event: &Event) -> Vec<(Mark, String)> {
        let one = |mark: Mark, text: String| vec![(mark, text)];
        match &event.fact {
            Fact::ContextCompacted(shorter) => self.full(Mark::Plain, || {
                let (before, after) = (tokens(shorter.before), tokens(shorter.after));
                format!("conversation {}: {before} → {after} tokens", shorter.how)
            }),
            Fact::TreeMade(made) => self.full(Mark::Plain, || {
                format!("{} · {}", made.how, span(made.millis))
            }),
            Fact::TreeSnapped(snapped) => self.full(Mark::Plain, || {
                format!(
                    "snapshot {} ({}) · {}",
                    snapped.snapshot,
                    snapped.why,
                    span(snapped.millis)
                )
            }),
            Fact::TreeRestored(back) => one(
                Mark::Plain,
                format!("put the files back to {}", back.snapshot),
            ),
            Fact::SkillInjected(injected) if event.outcome == Some(EventOutcome::Denied) => one(
                Mark::Waits,
                format!("not run: {} ({})", injected.command, injected.rule),
            ),
            Fact::SkillInjected(injected) => self.full(Mark::Call, || injected.command.clone()),
            Fact::HookRan(hook) if event.outcome == Some(EventOutcome::Denied) => one(
                Mark::Waits,
                format!("hook {} says no: {}", hook.hook, hook.message),
            ),
            Fact::HookRan(hook) => self.full(Mark::Plain, || {
                format!(
                    "hook {} · {} · {}",
                    hook.hook,
                    hook.decision,
                    span(hook.millis)
                )
            }),
            Fact::SandboxPassage(passage) if !passage.allowed => one(
                Mark::Waits,
                format!("not let out to {}: {}", passage.host, passage.detail),
            ),
            Fact::SandboxPassage(passage) => {
                self.full(Mark::Plain, || format!("reached {}", passage.host))
            }
            _ => Vec::new(),
        }
    }
}
