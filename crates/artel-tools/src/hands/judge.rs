//! The guard of one call: judges resolved paths when they are used, on the handle that is
//! used.

use std::path::Path;
use std::sync::Arc;

use artel_files::{FileAccessGuard, FileAccessKind, FileAccessRefusal, RootFolder};
use artel_policy::{FileTarget, PolicyAction, PolicyAnswer, PolicyContext, TargetTree};

use super::GrantedPolicy;
use crate::pathcheck::ProtectedMetadataGuard;
use crate::{PlaceGuardProvider, Tool};

/// Judges everything that one call touches. An approved action is allowed only as it
/// resolved when it was approved.
pub(super) struct ToolCallGuardProvider {
    granted: Arc<GrantedPolicy>,
    tree: Arc<RootFolder>,
    tool: String,
    approved: Arc<Vec<PolicyAction>>,
}

struct PlaceGuard {
    tree: Arc<RootFolder>,
    granted: Arc<GrantedPolicy>,
    tool: String,
    approved: Arc<Vec<PolicyAction>>,
    place: TargetTree,
}

impl ToolCallGuardProvider {
    pub(super) fn new(
        granted: Arc<GrantedPolicy>,
        tree: Arc<RootFolder>,
        tool: &dyn Tool,
        approved: &[PolicyAction],
    ) -> Self {
        Self {
            granted,
            tree,
            tool: tool.card().name.clone(),
            approved: Arc::new(approved.to_vec()),
        }
    }
}

impl PlaceGuardProvider for ToolCallGuardProvider {
    fn in_place(&self, place: &TargetTree) -> Arc<dyn FileAccessGuard + Send + Sync> {
        Arc::new(PlaceGuard {
            granted: Arc::clone(&self.granted),
            tree: Arc::clone(&self.tree),
            tool: self.tool.clone(),
            approved: Arc::clone(&self.approved),
            place: place.clone(),
        })
    }
}

impl FileAccessGuard for PlaceGuard {
    fn judge(&self, resolved: &Path, op: FileAccessKind) -> Result<(), FileAccessRefusal> {
        // Names alone do not show what git would treat as a repository.
        ProtectedMetadataGuard::of(&self.tree).judge(resolved, op)?;
        let target = FileTarget {
            place: self.place.clone(),
            path: resolved.to_string_lossy().into_owned(),
        };
        let action = match op {
            FileAccessKind::Read => PolicyAction::Read(target),
            FileAccessKind::Write => PolicyAction::Write(target),
            FileAccessKind::Delete => PolicyAction::Delete(target),
        };
        let situation = PolicyContext::default();
        let decision =
            self.granted
                .policy()
                .decide(&self.tool, std::slice::from_ref(&action), &situation);
        match decision.answer {
            PolicyAnswer::Allow => Ok(()),
            // Bans and bounds apply even to approved actions; an approval answers only a question.
            PolicyAnswer::Ask if self.approved.contains(&action) => Ok(()),
            PolicyAnswer::Ask | PolicyAnswer::Deny => Err(FileAccessRefusal {
                rule: decision.rule,
                reason: decision.reason,
            }),
        }
    }
}
