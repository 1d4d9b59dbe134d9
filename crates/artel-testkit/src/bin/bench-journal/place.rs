//! The folder to measure in. It must be on a real disk, because nothing in memory is
//! durable.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder, and the file system it is on.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) system: String,
}

/// Returns the temporary folder of the system, or cargo's if that one is not on a disk.
pub(crate) fn on_disk() -> Place {
    [Some(std::env::temp_dir()), target_folder()]
        .into_iter()
        .flatten()
        .map(|folder| Place {
            system: system_of(&folder),
            folder,
        })
        .find(|place| !["tmpfs", "ramfs"].contains(&place.system.as_str()))
        .unwrap_or_else(|| panic!("no folder on a disk: set TMPDIR to one"))
}

fn target_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.parent().map(Path::to_owned)
}

/// Returns the type of the file system, from the nearest mount point above the folder.
fn system_of(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    let nearest = mounts
        .filter(|(point, _)| folder.starts_with(point))
        // A later mount on the same mount point hides the earlier one.
        .max_by_key(|(point, _)| point.components().count());
    nearest.map_or("unknown", |(_, system)| system).to_owned()
}
