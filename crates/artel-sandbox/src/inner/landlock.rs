//! Landlock: the second wall around files, enforced by another part of the kernel than the
//! mounts.
//!
//! At level full its rules mirror the view. At level partial they are the view: a path
//! that is not named cannot be opened. Where a name must stay as it is, the folder above
//! it is granted child by child, because Landlock has no exceptions below a grant.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::step::SandboxStepError;

/// The newest Landlock version we use; an older kernel applies the rules it knows.
const NEWEST: ABI = ABI::V9;

/// The access that Landlock allows below each path.
#[derive(Debug, Default)]
pub(super) struct LandlockRules {
    /// Folders that may be listed, nothing more.
    pub(super) list: Vec<PathBuf>,
    /// Paths that may be read and executed.
    pub(super) read: Vec<PathBuf>,
    /// Paths with full access to files and folders.
    pub(super) write: Vec<PathBuf>,
    /// Devices that may be read, written and controlled.
    pub(super) devices: Vec<PathBuf>,
}

/// The network access that Landlock refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LandlockTcpAccess {
    /// None, because a network namespace keeps the network away.
    LeftToTheNamespace,
    /// Every TCP connection and listener.
    Refused,
}

/// Restricts this process and all processes it will start.
pub(super) fn restrict(
    rules: &LandlockRules,
    sockets: LandlockTcpAccess,
) -> Result<(), SandboxStepError> {
    let failed = |cause: RulesetError| SandboxStepError::new("Landlock", cause.to_string());
    let made = ruleset(rules, sockets).map_err(failed)?;
    let status = made.restrict_self().map_err(failed)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(SandboxStepError::new(
            "Landlock",
            "the kernel does not enforce it",
        ));
    }
    Ok(())
}

fn ruleset(
    rules: &LandlockRules,
    sockets: LandlockTcpAccess,
) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::from_read(NEWEST) & !BitFlags::from(AccessFs::ResolveUnix);
    let write = AccessFs::from_all(NEWEST)
        & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::ResolveUnix);
    let devices = AccessFs::ReadFile
        | AccessFs::WriteFile
        | AccessFs::ReadDir
        | AccessFs::Truncate
        | AccessFs::IoctlDev;
    let mut set = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if sockets == LandlockTcpAccess::Refused {
        set = set.handle_access(AccessNet::from_all(NEWEST))?;
    }
    set.create()?
        .add_rules(path_beneath_rules(&rules.list, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(&rules.read, read))?
        .add_rules(path_beneath_rules(&rules.write, write))?
        .add_rules(path_beneath_rules(&rules.devices, devices))
}

/// Splits a grant so that it contains nothing at or below the exceptions. The folders on
/// the way to an exception may be listed, and their other children are granted one by one.
pub(super) fn around(
    granted: &Path,
    exceptions: &[PathBuf],
    list: &mut Vec<PathBuf>,
) -> Vec<PathBuf> {
    if exceptions
        .iter()
        .any(|exception| granted.starts_with(exception))
    {
        return Vec::new();
    }
    if !exceptions
        .iter()
        .any(|exception| exception.starts_with(granted))
    {
        return vec![granted.to_owned()];
    }
    list.push(granted.to_owned());
    let Ok(entries) = std::fs::read_dir(granted) else {
        return Vec::new();
    };
    entries
        .flatten()
        // A link grants nothing by itself, and following it could lead around an exception.
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .flat_map(|entry| around(&entry.path(), exceptions, list))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_goes_around_what_must_stay() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for folder in ["a/keep", "a/other", "b"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink("/", root.join("a/link")).unwrap();
        let mut list = Vec::new();
        let mut granted = around(root, &[root.join("a/keep")], &mut list);
        granted.sort();
        assert_eq!(granted, [root.join("a/other"), root.join("b")]);
        assert_eq!(list, [root.to_owned(), root.join("a")]);
    }
}
