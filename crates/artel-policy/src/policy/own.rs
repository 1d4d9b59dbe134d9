//! Protects a workshop's own files in a run's tree: never changed, wherever they lie and
//! whatever they are called.

use std::path::{Component, Path, PathBuf};

use super::deny;
use crate::{Action, Decision, Place};

/// Returns the denial of a change to one of these folders or files. A folder that contains
/// one cannot be removed either.
pub(super) fn denies(own_folders: &[PathBuf], action: &Action) -> Option<Decision> {
    let (target, is_removed) = match action {
        Action::Write(target) => (target, false),
        Action::Delete(target) => (target, true),
        _ => return None,
    };
    if target.place != Place::Worktree {
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
    use crate::Target;

    #[test]
    fn only_what_is_a_workshops_own_is_kept() {
        let own = ["Inbox", "lib/skills/greet", "Agents"].map(PathBuf::from);
        let file = |place: Place, path: &str| Target {
            place,
            path: path.to_owned(),
        };
        let here = |path: &str| file(Place::Worktree, path);
        for (action, denied) in [
            (Action::Write(here("Inbox/Active/x.md")), true),
            (Action::Write(here("./Inbox/Active/x.md")), true),
            (Action::Write(here("Inbox")), true),
            (Action::Delete(here("Agents/a.md")), true),
            (Action::Write(here("lib/skills/greet/SKILL.md")), true),
            (Action::Write(here("lib/skills/other/SKILL.md")), false),
            (Action::Write(here("lib/skills")), false),
            (Action::Delete(here("lib/skills")), true),
            (Action::Write(here("src/Inbox/x.md")), false),
            (Action::Write(here("Inboxes/x.md")), false),
            (Action::Read(here("Inbox/Active/x.md")), false),
            (Action::Write(file(Place::Skill, "Inbox/x")), false),
        ] {
            assert_eq!(denies(&own, &action).is_some(), denied, "{action:?}");
        }
        assert_eq!(denies(&[], &Action::Write(here("Inbox/x"))), None);
    }
}
