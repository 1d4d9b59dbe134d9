//! Checks that only this user can change the state folder.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use artel_types::{Failure, FailureCode};

use crate::trouble::shell_word;

/// Refuses a state folder that another user could have prepared or can still change.
pub(crate) fn check(state: &Path) -> Result<(), Failure> {
    let unsafe_because = |why: &str, advice: String| {
        Err(Failure::new(
            FailureCode::W007,
            format!("`{}` is not safe to use", state.display()),
        )
        .because(why)
        .advise(advice))
    };
    let about = match state.symlink_metadata() {
        Ok(about) => about,
        // Artel creates a missing folder itself, with the right mode.
        Err(_) => return Ok(()),
    };
    if about.is_symlink() {
        return unsafe_because(
            "it is a link",
            "replace the link by the folder it names".to_owned(),
        );
    }
    if !about.is_dir() {
        return unsafe_because("it is not a folder", "move the file away".to_owned());
    }
    if about.uid() != rustix::process::geteuid().as_raw() {
        let why = format!("it belongs to user {}", about.uid());
        return unsafe_because(
            &why,
            "run Artel as that user, or make a workshop of your own".to_owned(),
        );
    }
    if about.mode() & 0o022 != 0 {
        let why = format!("others can write it (mode {:04o})", about.mode() & 0o7777);
        return unsafe_because(&why, format!("`chmod 700 {}`", shell_word(state)));
    }
    match PARTS.iter().find(|part| state.join(part).is_symlink()) {
        Some(part) => unsafe_because(
            &format!("`{part}` in it is a link"),
            format!("remove the link `{}`", state.join(part).display()),
        ),
        None => Ok(()),
    }
}

/// The risk that another user can change a file that a person's decisions depend on.
pub(crate) struct TamperRisk {
    /// The file, and how others can change it.
    pub(crate) why: String,
    /// The remedy.
    pub(crate) advice: String,
}

/// Says who else could have put a file into the workshop or could have written it. Returns
/// `None` if only this user can. Each folder on the way counts too: even a folder that
/// keeps other users from removing files lets them add new ones.
pub(crate) fn open_to_others(root: &Path, file: &Path) -> Option<TamperRisk> {
    let mut on_the_way: Vec<&Path> = file.ancestors().take_while(|it| *it != root).collect();
    on_the_way.push(root);
    on_the_way.reverse();
    let user = rustix::process::geteuid().as_raw();
    let mut writable = Vec::new();
    for path in on_the_way {
        let shown = path.display();
        let Ok(about) = path.symlink_metadata() else {
            return Some(TamperRisk {
                why: format!("`{shown}` cannot be looked at"),
                advice: "look at its owner and mode".to_owned(),
            });
        };
        if about.uid() != user || about.is_symlink() {
            let why = if about.is_symlink() {
                format!("`{shown}` is a link")
            } else {
                format!("`{shown}` belongs to user {}", about.uid())
            };
            return Some(TamperRisk {
                why,
                advice: "put a copy of your own there instead".to_owned(),
            });
        }
        if about.mode() & 0o022 != 0 {
            writable.push((path, about.mode() & 0o7777));
        }
    }
    let (first, mode) = writable.first()?;
    let words: Vec<String> = writable.iter().map(|(path, _)| shell_word(path)).collect();
    Some(TamperRisk {
        why: format!("others can write `{}` (mode {mode:04o})", first.display()),
        advice: format!("`chmod go-w {}`", words.join(" ")),
    })
}

/// Parts of the state folder that Artel writes to and cleans. A link in place of one would
/// lead to other people's files.
const PARTS: [&str; 9] = [
    "archive",
    "backups",
    "blobs",
    "damaged",
    "journal.db",
    "logs",
    "run",
    "worktrees",
    "workshop.json",
];
