//! Timeline lines for what happens around a run: its files, its sandbox, its hooks.

use artel_types::{Event, EventOutcome, Fact};

use super::line::{TimelineLineKind, span, tokens};
use super::narrate::RunTimelineBuilder;

impl RunTimelineBuilder {
    /// Returns the lines for what happens around a run: its files, its sandbox, its hooks.
    pub(super) fn aside(&self, event: &Event) -> Vec<(TimelineLineKind, String)> {
        let one = |mark: TimelineLineKind, text: String| vec![(mark, text)];
        match &event.fact {
            Fact::ContextCompacted(shorter) => self.full(TimelineLineKind::Plain, || {
                let (before, after) = (tokens(shorter.before), tokens(shorter.after));
                format!("conversation {}: {before} → {after} tokens", shorter.how)
            }),
            Fact::TreeMade(made) => self.full(TimelineLineKind::Plain, || {
                format!("{} · {}", made.how, span(made.millis))
            }),
            Fact::TreeSnapped(snapped) => self.full(TimelineLineKind::Plain, || {
                format!(
                    "snapshot {} ({}) · {}",
                    snapped.snapshot,
                    snapped.why,
                    span(snapped.millis)
                )
            }),
            Fact::TreeRestored(back) => one(
                TimelineLineKind::Plain,
                format!("put the files back to {}", back.snapshot),
            ),
            Fact::SkillInjected(injected) if event.outcome == Some(EventOutcome::Denied) => one(
                TimelineLineKind::Waits,
                format!("not run: {} ({})", injected.command, injected.rule),
            ),
            Fact::SkillInjected(injected) => {
                self.full(TimelineLineKind::Call, || injected.command.clone())
            }
            Fact::HookRan(hook) if event.outcome == Some(EventOutcome::Denied) => one(
                TimelineLineKind::Waits,
                format!("hook {} says no: {}", hook.hook, hook.message),
            ),
            Fact::HookRan(hook) => self.full(TimelineLineKind::Plain, || {
                format!(
                    "hook {} · {} · {}",
                    hook.hook,
                    hook.decision,
                    span(hook.millis)
                )
            }),
            Fact::SandboxPassage(passage) if !passage.allowed => one(
                TimelineLineKind::Waits,
                format!("not let out to {}: {}", passage.host, passage.detail),
            ),
            Fact::SandboxPassage(passage) => self.full(TimelineLineKind::Plain, || {
                format!("reached {}", passage.host)
            }),
            _ => Vec::new(),
        }
    }
}
