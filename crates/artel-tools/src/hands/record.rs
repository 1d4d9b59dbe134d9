//! Resolves what a call would do: the actions that policy judges, and the record that the
//! person sees.

use std::path::Path;

use artel_policy::{
    ConsentRecord, ConsentRecordFile, FileTarget, PolicyAction, PolicyAnswer, PolicyRuling,
    TargetTree, command,
};

use super::{ActiveToolCall, ToolRunner};
use crate::files::inside_hint;
use crate::{ToolError, ToolErrorKind};

impl ToolRunner {
    /// Returns the actions of a call, with every file as it resolves now.
    pub(super) fn intended(
        &self,
        call: &ActiveToolCall<'_>,
    ) -> Result<Vec<PolicyAction>, (PolicyRuling, ToolError)> {
        let unfit = |trouble: ToolError| {
            let rule = match trouble.kind {
                ToolErrorKind::Refused => "never.outside",
                _ => "default.unfit",
            };
            (
                PolicyRuling::new(PolicyAnswer::Deny, rule, &trouble.what),
                trouble,
            )
        };
        let actions = call.tool.intends(call.input, &self.bench).map_err(unfit)?;
        let resolved = actions.into_iter().map(|action| self.resolved(action));
        resolved.collect::<Result<_, _>>().map_err(unfit)
    }

    fn resolved(&self, action: PolicyAction) -> Result<PolicyAction, ToolError> {
        Ok(match action {
            PolicyAction::Read(target) => PolicyAction::Read(self.resolve(target)?),
            PolicyAction::Write(target) => PolicyAction::Write(self.resolve(target)?),
            PolicyAction::Delete(target) => PolicyAction::Delete(self.resolve(target)?),
            other => other,
        })
    }

    fn resolve(&self, target: FileTarget) -> Result<FileTarget, ToolError> {
        let root = match &target.place {
            TargetTree::Worktree => self.bench.tree.as_ref(),
            TargetTree::Skill => self
                .bench
                .skill
                .as_deref()
                .ok_or_else(|| ToolError::new(ToolErrorKind::NotFound, "no skill is active"))?,
            TargetTree::Portal(name) => self.bench.portals.get(name).ok_or_else(|| {
                ToolError::new(
                    ToolErrorKind::NotFound,
                    format!("there is no portal `{name}`"),
                )
            })?,
        };
        match root.resolve(Path::new(&target.path)) {
            Ok(found) => Ok(FileTarget {
                place: target.place,
                path: found.path.to_string_lossy().into_owned(),
            }),
            // The tool gives a better error for a missing file, and nothing is touched.
            Err(error) if error.is_missing() => Ok(target),
            Err(error) => Err(ToolError::new(ToolErrorKind::Refused, error.to_string())
                .hint(inside_hint(root, &target.path))
                .hint("name files relative to the tree; `list` shows what is in it")),
        }
    }

    /// Creates the record of a call.
    pub(super) fn record(
        &self,
        call: &ActiveToolCall<'_>,
        actions: &[PolicyAction],
    ) -> ConsentRecord {
        let mut record = ConsentRecord {
            tool: call.tool.card().name.clone(),
            input: call.input.to_string(),
            ..ConsentRecord::default()
        };
        describe(&mut record, actions);
        if let Some(workroom) = &self.bench.workroom {
            workroom.describe(&mut record);
        }
        record
    }
}

/// Adds the actions of a call to a record.
pub(super) fn describe(record: &mut ConsentRecord, actions: &[PolicyAction]) {
    for action in actions {
        let (operation, target) = match action {
            PolicyAction::Read(target) => ("read", target),
            PolicyAction::Write(target) => ("write", target),
            PolicyAction::Delete(target) => ("delete", target),
            PolicyAction::Shell(text) => {
                let words = command::plain_argv(&command::read(text));
                let shell = || vec!["bash".to_owned(), "-c".to_owned(), text.clone()];
                record.argv = words.unwrap_or_else(shell);
                continue;
            }
            PolicyAction::Words(words) => {
                record.argv.clone_from(words);
                continue;
            }
            PolicyAction::Network(host) => {
                record.sandbox.push(format!("network {host}"));
                continue;
            }
            PolicyAction::Secret(name) => {
                record.environment.push(format!("secret {name}"));
                continue;
            }
            PolicyAction::Git(operation) => {
                record.argv = vec!["git".to_owned(), operation.phrase().to_owned()];
                continue;
            }
            PolicyAction::Trust { what, shown } => {
                let shown = shown.iter().map(|line| (line.clone(), what.clone()));
                record.contents.extend(shown);
                continue;
            }
            PolicyAction::Nothing => continue,
        };
        record.targets.push(ConsentRecordFile {
            operation: operation.to_owned(),
            place: target.place.to_string(),
            path: target.path.clone(),
        });
    }
}
