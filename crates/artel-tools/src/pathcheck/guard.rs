//! Decides what agents may do with a file by its name: the built-in names, and the rules
//! of the line.

use std::path::Path;

use artel_files::{Guard, Op, Refusal, Root};
use artel_policy::path::{protected, sensitive};

use super::Metadata;
use super::alias::Alias;
use super::deny::Denials;

/// Judges resolved paths as for an agent without any extra grants: protected names cannot
/// be written, sensitive files cannot be read, and deny rules apply.
pub struct PathGuard<'g> {
    root: &'g Root,
    metadata: Metadata<'g>,
    /// The name used in the path, as in `@Name/path`, or `None`.
    alias: Option<&'g Alias>,
    denials: &'g Denials,
}

impl<'g> PathGuard<'g> {
    pub(super) fn new(root: &'g Root, alias: Option<&'g Alias>, denials: &'g Denials) -> Self {
        Self {
            root,
            metadata: Metadata::of(root),
            alias,
            denials,
        }
    }
}

impl Guard for PathGuard<'_> {
    fn judge(&self, path: &Path, op: Op) -> Result<(), Refusal> {
        let name = path.to_string_lossy();
        // A name may lead into the middle of a protected folder, so the folder's own path counts
        // too.
        let whole = self.alias.and_then(|alias| alias.whole(self.root, path));
        let ground = |name: &str| match op {
            Op::Read => sensitive(name).map(|ground| (ground, "it may hold secrets")),
            Op::Write | Op::Delete => {
                protected(name).map(|ground| (ground, "agents never change it"))
            }
        };
        let ground = ground(&name).or_else(|| whole.as_deref().and_then(ground));
        if let Some((rule, reason)) = ground {
            return Err(Refusal {
                rule: rule.to_owned(),
                reason: reason.to_owned(),
            });
        }
        let named = self.alias.and_then(|alias| alias.named(path));
        self.denials.judge(named, &name, op)?;
        self.metadata.judge(path, op)
    }
}
