//! Decides what agents may do with a file by its name: the built-in names, and the rules
//! of the line.

use std::path::Path;

use artel_files::{FileAccessGuard, FileAccessKind, FileAccessRefusal, RootFolder};
use artel_policy::path::{protected, sensitive};

use super::ProtectedMetadataGuard;
use super::alias::PathAlias;
use super::deny::FileDenyRuleSet;

/// Judges resolved paths as for an agent without any extra grants: protected names cannot
/// be written, sensitive files cannot be read, and deny rules apply.
pub struct PathGuard<'g> {
    root: &'g RootFolder,
    metadata: ProtectedMetadataGuard<'g>,
    /// The name used in the path, as in `@Name/path`, or `None`.
    alias: Option<&'g PathAlias>,
    denials: &'g FileDenyRuleSet,
}

impl<'g> PathGuard<'g> {
    pub(super) fn new(
        root: &'g RootFolder,
        alias: Option<&'g PathAlias>,
        denials: &'g FileDenyRuleSet,
    ) -> Self {
        Self {
            root,
            metadata: ProtectedMetadataGuard::of(root),
            alias,
            denials,
        }
    }
}

impl FileAccessGuard for PathGuard<'_> {
    fn judge(&self, path: &Path, op: FileAccessKind) -> Result<(), FileAccessRefusal> {
        let name = path.to_string_lossy();
        // A name may lead into the middle of a protected folder, so the folder's own path counts
        // too.
        let whole = self.alias.and_then(|alias| alias.whole(self.root, path));
        let ground = |name: &str| match op {
            FileAccessKind::Read => sensitive(name).map(|ground| (ground, "it may hold secrets")),
            FileAccessKind::Write | FileAccessKind::Delete => {
                protected(name).map(|ground| (ground, "agents never change it"))
            }
        };
        let ground = ground(&name).or_else(|| whole.as_deref().and_then(ground));
        if let Some((rule, reason)) = ground {
            return Err(FileAccessRefusal {
                rule: rule.to_owned(),
                reason: reason.to_owned(),
            });
        }
        let named = self.alias.and_then(|alias| alias.named(path));
        self.denials.judge(named, &name, op)?;
        self.metadata.judge(path, op)
    }
}
