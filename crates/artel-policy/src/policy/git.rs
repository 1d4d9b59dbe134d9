//! Who may do what in git: the matrix of roles and operations.

use super::{allow, deny};
use crate::{Decision, GitOperation};

/// Tells whether a role may do this in git. A role that the matrix does not know may read.
pub fn may(role: &str, operation: GitOperation) -> bool {
    use GitOperation as Does;
    match operation {
        Does::Read => true,
        Does::Commit => matches!(
            role,
            "engineer" | "designer" | "tester" | "architect" | "default"
        ),
        Does::BranchCreate | Does::History => role == "architect",
        Does::Checkout | Does::Remote => matches!(role, "architect" | "librarian"),
        Does::Clone => role == "librarian",
        Does::Push | Does::Merge | Does::Rewrite => false,
    }
}

pub(super) fn decide(role: &str, operation: GitOperation) -> Decision {
    if may(role, operation) {
        return allow("shipped.git", "the role may do that in the run's own tree");
    }
    let what = operation.phrase();
    deny(
        format!("matrix.{what}"),
        format!("the role `{role}` may not {what} in git"),
    )
}

impl GitOperation {
    /// Returns the operation as a verb.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Commit => "commit",
            Self::BranchCreate => "create branches",
            Self::Checkout => "check out",
            Self::History => "revert or pick commits",
            Self::Remote => "fetch or pull",
            Self::Clone => "clone",
            Self::Push => "push",
            Self::Merge => "merge",
            Self::Rewrite => "rewrite history",
        }
    }
}
