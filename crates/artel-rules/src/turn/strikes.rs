//! Three strikes: consecutive failures of edits, or of builds and tests.

/// Number of failures in a row that leads to a call for help.
pub(super) const MOST: usize = 3;

/// The failures in a row. Lookups do not count.
#[derive(Debug, Clone, Default)]
pub(super) struct FailureStreaks {
    edits: Vec<String>,
    checks: Vec<String>,
    /// The tree before the first failure.
    good: Option<String>,
    /// Whether the warning after the second failure was given.
    has_warned: bool,
    has_escalated: bool,
}

/// The streak that a failure belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureStreakKind {
    Edit,
    Check,
}

impl FailureStreaks {
    pub(super) fn fail(&mut self, row: FailureStreakKind, what: String) {
        self.row(row).push(what);
        self.has_warned = false;
    }

    pub(super) fn succeed(&mut self, row: FailureStreakKind) {
        self.row(row).clear();
        self.has_warned = false;
    }

    /// Notes a snapshot, which is good as long as nothing has failed since.
    pub(super) fn snapped(&mut self, snapshot: &str) {
        if self.longest().is_empty() {
            self.good = Some(snapshot.to_owned());
        }
    }

    pub(super) fn good(&self) -> Option<&str> {
        self.good.as_deref()
    }

    /// Returns the failures to warn about, once.
    pub(super) fn to_warn(&self) -> Option<&[String]> {
        let row = self.longest();
        (row.len() + 1 == MOST && !self.has_warned).then_some(row)
    }

    pub(super) fn warned(&mut self) {
        self.has_warned = true;
    }

    /// Returns the failures that require help, once.
    pub(super) fn to_escalate(&self) -> Option<&[String]> {
        let row = self.longest();
        (row.len() >= MOST && !self.has_escalated).then_some(row)
    }

    pub(super) fn escalated(&mut self) {
        self.has_escalated = true;
    }

    pub(super) fn has_escalated(&self) -> bool {
        self.has_escalated
    }

    fn row(&mut self, row: FailureStreakKind) -> &mut Vec<String> {
        match row {
            FailureStreakKind::Edit => &mut self.edits,
            FailureStreakKind::Check => &mut self.checks,
        }
    }

    fn longest(&self) -> &[String] {
        if self.edits.len() >= self.checks.len() {
            &self.edits
        } else {
            &self.checks
        }
    }
}
