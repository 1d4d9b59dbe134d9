//! What agents may do with a file by its name: the built-in names, and the rules of the line.

use std::path::Path;

use artel_files::{Guard, Op, Refusal, Root};
use artel_policy::path::{protected, sensitive};

use super::Metadata;
use super::deny::Denials;

/// Judges resolved paths as for an agent to whom nobody granted anything more: protected names are
/// not written, sensitive files are not read, the rules that deny hold.
pub struct PathGuard<'g> {
    metadata: Metadata<'g>,
    /// The name of the root, as in `@Name/path`, if it has one.
    alias: Option<&'g str>,
    denials: &'g Denials,
}

impl<'g> PathGuard<'g> {
    pub(super) fn new(root: &'g Root, alias: Option<&'g str>, denials: &'g Denials) -> Self {
        Self {
            metadata: Metadata::of(root),
            alias,
            denials,
        }
    }
}

impl Guard for PathGuard<'_> {
    fn judge(&self, path: &Path, op: Op) -> Result<(), Refusal> {
        let name = path.to_string_lossy();
        let ground = match op {
            Op::Read => sensitive(&name).map(|ground| (ground, "it may hold secrets")),
            Op::Write | Op::Delete => {
                protected(&name).map(|ground| (ground, "agents never change it"))
            }
        };
        if let Some((rule, reason)) = ground {
            return Err(Refusal {
                rule: rule.to_owned(),
                reason: reason.to_owned(),
            });
        }
        self.denials.judge(self.alias, &name, op)?;
        self.metadata.judge(path, op)
    }
}
