//! Branches. The line's are moved under a lock of ours; in the person's repository the
//! objects come first and the ref last.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;

use rustix::fs::FlockOperation;

use crate::RunTreeError;

use super::person::{BranchCheckoutLocation, PersonRepository};
use super::{PlanBranch, PlanBranchError, id_of, is_branch, is_id, spell};

/// Number of objects from which a pack is worthwhile.
const MANY: u32 = 100;

/// Largest number of branch names to try.
const MOST_TRIES: usize = 10_000;

impl PlanBranch {
    /// Returns the commit of a branch of the line, or `None` if the branch does not exist yet.
    pub fn head(&self, branch: &str) -> Result<Option<String>, PlanBranchError> {
        let path = self.branch_path(branch)?;
        let held = match artel_files::read_bounded(&path, 128) {
            Ok(held) => id_of(&held),
            Err(error) if error.system_kind() == Some(std::io::ErrorKind::NotFound) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        if is_id(&held) {
            Ok(Some(held))
        } else {
            Err(PlanBranchError::Damaged {
                path,
                why: "it names no commit",
            })
        }
    }

    /// Moves a branch of the line from one commit to another, durably. Makes the branch if it
    /// does not exist yet. Succeeds if the branch is already at `to`, and refuses if it is
    /// anywhere else.
    pub fn advance(&self, branch: &str, from: &str, to: &str) -> Result<(), PlanBranchError> {
        let path = self.branch_path(branch)?;
        if !is_id(to) {
            return Err(PlanBranchError::BadName {
                name: to.to_owned(),
            });
        }
        let lock = self.at.join("lock");
        let lock = File::create(&lock).map_err(RunTreeError::system("make", &lock))?;
        // The lock is released with the file, even by a kill.
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)
            .map_err(RunTreeError::system("lock", &self.at))?;
        match self.head(branch)? {
            Some(found) if found == to => return Ok(()),
            Some(found) if found != from => {
                return Err(PlanBranchError::Moved {
                    branch: branch.to_owned(),
                    found: Some(found),
                });
            }
            Some(_) | None => {}
        }
        if let Some(above) = path.parent() {
            artel_files::make_dirs(above, 0o700)?;
        }
        artel_files::write_atomic(&path, format!("{to}\n").as_bytes(), 0o600)?;
        Ok(())
    }

    /// Returns a branch name that the person does not use yet: this one, or one with a number.
    pub fn free_branch(&self, name: &str) -> Result<String, PlanBranchError> {
        if !is_branch(name) {
            return Err(PlanBranchError::BadName {
                name: name.to_owned(),
            });
        }
        if self.is_private() {
            return Ok(name.to_owned());
        }
        let listed = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"];
        let listed = self.person()?.git.run(&listed)?;
        let listed = String::from_utf8_lossy(&listed);
        let taken: BTreeSet<&str> = listed.lines().collect();
        let is_free = |name: &str| {
            let below = format!("{name}/");
            let mut above = name.match_indices('/').map(|(at, _)| &name[..at]);
            !taken.contains(name)
                && !above.any(|above| taken.contains(above))
                && !taken.iter().any(|other| other.starts_with(&below))
        };
        // A branch `fix` leaves no room for one called `fix/…`.
        let flat = name.replace('/', "-");
        let numbered = (2..MOST_TRIES)
            .flat_map(|number| [format!("{name}-{number}"), format!("{flat}-{number}")]);
        [name.to_owned(), flat.clone()]
            .into_iter()
            .chain(numbered)
            .find(|candidate| is_free(candidate))
            .ok_or_else(|| PlanBranchError::Taken {
                branch: name.to_owned(),
            })
    }

    /// Brings the commits of a branch into the person's repository, and makes or moves the
    /// branch of that name there. Refuses if somebody else made the branch, or if it is checked
    /// out.
    pub fn publish(&self, branch: &str) -> Result<(), PlanBranchError> {
        let head = self.head(branch)?;
        let head = head.ok_or_else(|| PlanBranchError::Empty {
            branch: branch.to_owned(),
        })?;
        let person = self.person()?;
        let there = person.branch(branch)?;
        if there.as_ref() == Some(&head) {
            return Ok(());
        }
        if let Some(there) = &there {
            if !self.is_ours(there) {
                return Err(PlanBranchError::Taken {
                    branch: branch.to_owned(),
                });
            }
            not_checked_out(&person, branch)?;
        }
        self.bring_over(&person, &head)?;
        let way = (there.as_deref(), Some(head.as_str()));
        match person.move_branch(branch, way, &self.format, "artel: a changeset") {
            // Another branch leaves no room for this name.
            Err(PlanBranchError::Moved { found: None, .. }) if there.is_none() => {
                Err(PlanBranchError::Taken {
                    branch: branch.to_owned(),
                })
            }
            moved => moved,
        }
    }

    /// Removes a branch from the person's repository if it still is where Artel left it.
    pub fn unpublish(&self, branch: &str, expected: &str) -> Result<(), PlanBranchError> {
        self.branch_path(branch)?;
        let person = self.person()?;
        match person.branch(branch)? {
            None => return Ok(()),
            Some(there) if there == expected => {}
            found => {
                return Err(PlanBranchError::Moved {
                    branch: branch.to_owned(),
                    found,
                });
            }
        }
        not_checked_out(&person, branch)?;
        person.move_branch(
            branch,
            (Some(expected), None),
            &self.format,
            "artel: removed",
        )
    }

    /// Brings a commit into the person's objects, with everything it needs that they do not
    /// have.
    pub(super) fn bring_over(
        &self,
        person: &PersonRepository,
        commit: &str,
    ) -> Result<(), PlanBranchError> {
        let commit = spell(commit)?;
        // `--local` skips borrowed objects, which are the person's own.
        let arguments = ["pack-objects", "--revs", "--local", "--stdout", "-q"];
        let listed = ["for-each-ref", "--format=%(objectname)", "refs/heads"];
        let heads = person.git.run(&listed)?;
        let heads = String::from_utf8_lossy(&heads);
        let mut wanted = format!("{commit}\n");
        for head in heads.lines().filter(|head| is_id(head)) {
            wanted.push_str(&format!("^{head}\n"));
        }
        let pack = self.git().run_with(&arguments, wanted.into_bytes())?;
        let count = pack.get(8..12).and_then(|bytes| bytes.try_into().ok());
        match count.map_or(0, u32::from_be_bytes) {
            0 => {}
            few if few < MANY => {
                person.git.run_with(&["unpack-objects", "-q"], pack)?;
            }
            _ => {
                person.git.run_with(&["index-pack", "--stdin"], pack)?;
            }
        }
        Ok(())
    }

    /// Returns whether a commit was made here. If so, the line's own objects hold it; the
    /// person's objects are only borrowed.
    fn is_ours(&self, commit: &str) -> bool {
        let Some((folder, file)) = commit.split_at_checked(2) else {
            return false;
        };
        let object = self.repository_at().join("objects").join(folder).join(file);
        is_id(commit) && object.is_file()
    }

    fn branch_path(&self, branch: &str) -> Result<PathBuf, PlanBranchError> {
        if !is_branch(branch) {
            return Err(PlanBranchError::BadName {
                name: branch.to_owned(),
            });
        }
        Ok(self.repository_at().join("refs/heads").join(branch))
    }
}

fn not_checked_out(person: &PersonRepository, branch: &str) -> Result<(), PlanBranchError> {
    let at = match person.seat(branch)? {
        BranchCheckoutLocation::Nowhere => return Ok(()),
        BranchCheckoutLocation::Here => person.repository.top.clone(),
        BranchCheckoutLocation::Elsewhere(at) => at,
    };
    Err(PlanBranchError::CheckedOut {
        branch: branch.to_owned(),
        at,
    })
}
