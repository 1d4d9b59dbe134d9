//! Only the process that holds a folder's write turn puts files into it.
//!
//! Files are compared, written and, after a failure, put back. Two processes doing that at
//! once would take back each other's files. The lock is the system's own, on the folder
//! itself: nothing is written for it, it holds for every workshop that works on the folder,
//! and it ends with the process.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};

use super::{RunTree, RunTreeError};

/// Longest wait for the turn. Putting files in place takes less.
const PATIENCE: Duration = Duration::from_secs(60);

/// The right to put files into a folder and the folders below it.
#[derive(Debug)]
pub struct FolderWriteTurn {
    /// The locks are held while these files are open.
    _held: Vec<File>,
}

impl RunTree {
    /// Waits up to a minute for the turn to put the run's files in place. While it is held,
    /// nobody else puts files there.
    pub fn turn(&self) -> Result<FolderWriteTurn, RunTreeError> {
        FolderWriteTurn::of(&self.origin)
    }
}

impl FolderWriteTurn {
    /// Waits for the turn of a folder.
    pub(crate) fn of(folder: &Path) -> Result<Self, RunTreeError> {
        Self::within(folder, PATIENCE)
    }

    fn within(folder: &Path, patience: Duration) -> Result<Self, RunTreeError> {
        let locks = locks(folder)?;
        let (tell, told) = mpsc::channel();
        // If the locks come too late, nobody receives them, and they end with the files.
        std::thread::spawn(move || drop(tell.send(lock_all(locks))));
        match told.recv_timeout(patience) {
            Ok(Ok(held)) => Ok(Self { _held: held }),
            Ok(Err(cause)) => Err(RunTreeError::system("lock", folder)(cause)),
            Err(_) => Err(RunTreeError::Occupied {
                folder: folder.to_owned(),
            }),
        }
    }
}

/// Returns the locks to take, outermost first: an exclusive one on the folder, and shared
/// ones on the person's folders around it, so that nobody can hold the turn of one of
/// those.
fn locks(folder: &Path) -> Result<Vec<(File, FlockOperation)>, RunTreeError> {
    let open = |path: &Path| File::open(path).map_err(RunTreeError::system("open", path));
    let owner = |file: &File| file.metadata().map(|about| about.uid()).ok();
    let own = open(folder)?;
    let whose = owner(&own);
    let mut locks = vec![(own, FlockOperation::LockExclusive)];
    for above in folder.ancestors().skip(1) {
        let Ok(file) = File::open(above) else {
            break;
        };
        if owner(&file) != whose {
            break;
        }
        locks.push((file, FlockOperation::LockShared));
    }
    locks.reverse();
    Ok(locks)
}

fn lock_all(locks: Vec<(File, FlockOperation)>) -> Result<Vec<File>, Errno> {
    let mut held = Vec::with_capacity(locks.len());
    for (file, way) in locks {
        match retry_on_intr(|| flock(&file, way)) {
            Ok(()) => held.push(file),
            // Some file systems cannot lock folders. There, comparing the files is the only
            // protection.
            Err(Errno::BADF | Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn one_has_the_turn_of_a_folder_and_of_what_lies_below() {
        let top = TempDir::new().unwrap();
        let top = top.path().canonicalize().unwrap();
        let (one, other, below) = (top.join("one"), top.join("other"), top.join("one/below"));
        for folder in [&below, &other] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let is_free = |folder: &Path| {
            let mut locks = locks(folder).unwrap().into_iter();
            locks.all(|(file, way)| {
                let at_once = match way {
                    FlockOperation::LockShared => FlockOperation::NonBlockingLockShared,
                    _ => FlockOperation::NonBlockingLockExclusive,
                };
                flock(&file, at_once).is_ok()
            })
        };
        for held in [&one, &below] {
            let turn = FolderWriteTurn::of(held).unwrap();
            assert!(!is_free(&one) && !is_free(&below), "{}", held.display());
            assert!(is_free(&other));
            drop(turn);
            assert!(is_free(&one) && is_free(&below));
        }
        let _turn = FolderWriteTurn::of(&one).unwrap();
        let refused = FolderWriteTurn::within(&one, Duration::ZERO).unwrap_err();
        assert!(
            refused.to_string().contains("nothing was written"),
            "{refused}"
        );
    }
}
