//! Copies shared folders into a run's tree, on systems that cannot show the person's own.

use std::path::Path;

use super::beneath::NoFollowFolder;
use super::copy::FolderCopier;
use super::listing::PersonFolderLister;
use super::{RunTree, RunTreeError};

/// Largest folder that every run gets a copy of, in bytes: 500 MiB.
const MOST_BYTES: u64 = 500 << 20;

/// Folder beside the tree in which a copy is made, so that anything in the tree is
/// complete.
const UNFINISHED: &str = "bringing";

impl RunTree {
    /// Copies a shared folder into the tree, unless it already has one. The copy is in no
    /// snapshot as long as git ignores it.
    pub fn bring(&self, folder: &Path) -> Result<(), RunTreeError> {
        let files = NoFollowFolder::open(&self.own.files)?.without_waiting();
        if files.look(folder)?.is_some_and(super::restore::is_folder) {
            return Ok(());
        }
        let paths = PersonFolderLister {
            program: &self.own.program,
            folder: &self.origin,
            repository: None,
            named: &[folder.to_owned()],
            share: &self.share,
            run: &self.own.at,
        };
        let paths = paths.named_only()?;
        let unfinished = self.own.at.join(UNFINISHED);
        let clear = || {
            artel_files::remove_tree(&unfinished)
                .map_err(RunTreeError::system("remove", &unfinished))
        };
        // An attempt that was cut short may have left a part of it.
        clear()?;
        artel_files::make_dir(&unfinished, 0o700)?;
        let copy = || {
            FolderCopier::new(&self.origin, &unfinished, self.began.bounds)?
                .at_most(MOST_BYTES)
                .all(&paths)?;
            // No path is copied for an empty folder, so make it here.
            NoFollowFolder::open(&unfinished)?
                .without_waiting()
                .make_folders(folder)?;
            files.move_in(&unfinished.join(folder), folder)
        };
        let copied = copy();
        // Leftovers here are in nobody's way.
        drop(clear());
        copied
    }
}
