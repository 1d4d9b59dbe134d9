//! Protects a workshop's own files in a run's tree: never changed, wherever they lie and
//! whatever they are called.

use std::path::{Component, Path, PathBuf};

use super::deny;
use crate::{PolicyAction, PolicyRuling, TargetTree};

/// Returns the denial of a change to one of these folders or files. A folder that contains
/// one cannot be removed either.
pub(super) fn denies(own_folders: &[PathBuf], action: &PolicyAction) -> Option<PolicyRuling> {
    let (target, is_removed) = match action {
        PolicyAction::Write(target) => (target, false),
        PolicyAction::Delete(target) => (target, true),
        _ => return None,
    };
    if target.place != TargetTree::Worktree {
        return None;
    }
    let path: PathBuf = Path::new(&target.path)
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let is_own = |own: &&PathBuf| path.starts_with(own) || (is_removed && own.starts_with(&path));
    let own = own_folders.iter().find(is_own)?;
    let reason = format!(
        "`{}` is a workshop's own: agents never change it",
        own.display()
    );
    Some(deny("never.workshop", reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileTarget;

    #[test]
    fn only_what_is_a_workshops_own_is_kept() {
        let own = ["Inbox", "lib/skills/greet", "Agents"].map(PathBuf::from);
        let file = |place: TargetTree, path: &str| FileTarget {
            place,
            path: path.to_owned(),
        };
        let here = |path: &str| file(TargetTree::Worktree, path);
        for (action, denied) in [
            (PolicyAction::Write(here("Inbox/Active/x.md")), true),
            (PolicyAction::Write(here("./Inbox/Active/x.md")), true),
            (PolicyAction::Write(here("Inbox")), true),
            (PolicyAction::Delete(here("Agents/a.md")), true),
            (PolicyAction::Write(here("lib/skills/greet/SKILL.md")), true),
            (
                PolicyAction::Write(here("lib/skills/other/SKILL.md")),
                false,
            ),
            (PolicyAction::Write(here("lib/skills")), false),
            (PolicyAction::Delete(here("lib/skills")), true),
            (PolicyAction::Write(here("src/Inbox/x.md")), false),
            (PolicyAction::Write(here("Inboxes/x.md")), false),
            (PolicyAction::Read(here("Inbox/Active/x.md")), false),
            (
                PolicyAction::Write(file(TargetTree::Skill, "Inbox/x")),
                false,
            ),
        ] {
            assert_eq!(denies(&own, &action).is_some(), denied, "{action:?}");
        }
        assert_eq!(denies(&[], &PolicyAction::Write(here("Inbox/x"))), None);
    }
}
