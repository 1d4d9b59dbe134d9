//! Which kinds of events a board reads, by what it is for.

/// How much a board knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Depth {
    /// Everything.
    #[default]
    Whole,
    /// Who has to decide what: nothing of what models and tools did, which is most of a journal.
    Waits,
}

impl Depth {
    /// Tells whether an event of this kind has to be decoded.
    pub(super) fn wants(self, kind: &str) -> bool {
        match kind {
            "run.started" | "run.continued" | "run.steered" | "run.asked" | "run.answered"
            | "run.finished" | "run.applied" | "request.created" | "request.settled" => true,
            _ if kind.starts_with("plan.") || kind.starts_with("changeset.") => is_known(kind),
            "run.prepared" | "run.said" | "session.ended" | "model.requested" | "model.replied"
            | "model.failed" | "tool.requested" | "tool.answered" | "tool.finished" => {
                self == Self::Whole
            }
            _ => self == Self::Whole && kind.starts_with("budget.") && is_known(kind),
        }
    }
}

/// A newer build may have written kinds that this one does not know; they are no damage.
fn is_known(kind: &str) -> bool {
    artel_types::Fact::PAGES
        .iter()
        .any(|page| page.kind == kind)
}
