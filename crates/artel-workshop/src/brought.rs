//! What a folder already has that would decide in a workshop: settings, policy, roles, skills and
//! the like, which came with a project that somebody else wrote. A person sees them where the folder
//! becomes a workshop of theirs, and where they trust the workshop that it is.

use std::fs;
use std::path::{Path, PathBuf};

use artel_files::read_bounded;
use artel_skills::{SkillOrigin, SkillSizeEnforcement, SkillSourceFolder, discover};
use artel_types::{Failure, FailureCode};

use crate::init::is_own_template;
use crate::marker::WorkshopMarker;
use crate::trouble::shell_word;

/// The folders whose files decide something, or are told to agents: first what decides most, since
/// a long list is cut.
const DECIDING: [&str; 6] = ["Policy", "Agents", "Skills", "Tools", "Inbox", "Knowledge"];

const SETTINGS: &str = "artel.toml";

/// The folder of Artel's own files. Its subfolders are empty in a folder that is not a
/// workshop yet.
const STATE: &str = ".artel";
const OF_STATE: [&str; 4] = ["blobs", "worktrees", "logs", "run"];

/// Maximum number of files that are counted; nobody reads more.
const MOST: usize = 10_000;

/// Maximum number of files that a refusal names.
const MOST_NAMED: usize = 5;

const LARGEST_SETTINGS: u64 = 4 << 20;

/// The files and settings that a folder already holds before it becomes a workshop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreexistingWorkshopFiles {
    pub root: PathBuf,
    /// The files, relative to the folder; what decides most stands first.
    pub files: Vec<PathBuf>,
    /// The lines of its settings file that set something.
    pub settings: Vec<String>,
}

impl PreexistingWorkshopFiles {
    /// Looks for what would decide in a folder that is to become a workshop; nothing where there is
    /// nothing of the kind. What `init` itself would write does not count, and neither do empty files.
    pub(crate) fn find(root: &Path) -> Option<Self> {
        Self::with(root, state_files(root))
    }

    /// Looks for the same in a workshop, whose state goes with its journal.
    pub(crate) fn in_workshop(root: &Path) -> Option<Self> {
        Self::with(root, Vec::new())
    }

    fn with(root: &Path, mut state: Vec<PathBuf>) -> Option<Self> {
        let settings = settings_in(&root.join(SETTINGS));
        let mut files = Vec::new();
        if settings.is_some() {
            files.push(PathBuf::from(SETTINGS));
        }
        for folder in DECIDING {
            let start = files.len();
            walk(root, Path::new(folder), &mut files);
            files[start..].sort();
        }
        state.sort();
        files.extend(state);
        (!files.is_empty()).then(|| Self {
            root: root.to_owned(),
            files,
            settings: settings.unwrap_or_default(),
        })
    }

    /// Returns the failure that names the files nobody has accepted yet.
    pub fn refusal(&self) -> Failure {
        let shown = self.root.display();
        let named: Vec<_> = self.files.iter().take(MOST_NAMED).collect();
        let named: Vec<_> = named
            .iter()
            .map(|it| format!("`{}`", it.display()))
            .collect();
        let rest = match self.files.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = format!("`{shown}` already contains files that would control agents");
        Failure::new(FailureCode::W009, what)
            .because(format!(
                "you have not accepted them: {}{rest}",
                named.join(", ")
            ))
            .advise(format!(
                "review them, then run `artel init {}` and answer yes, or add `--yes`",
                shell_word(&self.root)
            ))
    }
}

/// Returns the skills in a folder that is to become a workshop. Each path is relative to
/// the folder, or absolute if it is a link that leads elsewhere.
pub(crate) fn skills_in(root: &Path) -> Vec<PathBuf> {
    let source = SkillSourceFolder {
        folder: root.join("Skills"),
        scope: SkillOrigin::Workshop,
    };
    let found = discover(&[source], SkillSizeEnforcement::Warn);
    let skills = found.skills.into_iter().map(|it| it.folder);
    let others = found.broken.into_iter().map(|it| it.path);
    let others = others.chain(found.shadowed.into_iter().map(|it| it.path));
    let all = skills.chain(others);
    all.map(|folder| match folder.strip_prefix(root) {
        Ok(inside) => inside.to_owned(),
        Err(_) => folder,
    })
    .collect()
}

/// Returns the lines of a settings file that set something, or `None` if no line does.
fn settings_in(file: &Path) -> Option<Vec<String>> {
    let about = file.symlink_metadata().ok()?;
    if !about.is_file() {
        // The target of a link does not belong to this folder.
        return Some(vec!["(it is no plain file)".to_owned()]);
    }
    let Ok(bytes) = read_bounded(file, LARGEST_SETTINGS) else {
        return Some(vec!["(it cannot be read)".to_owned()]);
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim_end);
    let sets = |line: &&str| !line.trim_start().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<_> = lines.filter(sets).map(str::to_owned).collect();
    (!lines.is_empty()).then_some(lines)
}

/// Collects the files beneath a folder. Links are listed but not followed.
fn walk(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(about) = root.join(&path).symlink_metadata() else {
            continue;
        };
        if files.len() >= MOST {
            return;
        }
        if about.is_dir() {
            match fs::read_dir(root.join(&path)) {
                Ok(entries) => {
                    let entries = entries.flatten();
                    waiting.extend(entries.map(|entry| path.join(entry.file_name())));
                }
                // The folder cannot be read, so nobody knows what is in it.
                Err(_) => files.push(path),
            }
        } else if path == folder && about.is_file() {
            // A file in place of a folder is in the way; creating the folder reports it.
        } else if !(about.is_file() && (about.len() == 0 || is_own_template(root, &path))) {
            files.push(path);
        }
    }
}

/// Returns what is among Artel's own files: a marker, which is always somebody else's
/// where this is called, and anything that only a workshop in use has.
fn state_files(root: &Path) -> Vec<PathBuf> {
    let state = Path::new(STATE);
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(state))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let path = state.join(&name);
        let is_made_by_init = OF_STATE.iter().any(|folder| name == *folder);
        // `.gitignore`, and temporary files of writes in progress.
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        if is_made_by_init {
            walk(root, &path, &mut files)
        } else {
            files.push(path)
        }
    }
    files
}

impl WorkshopMarker {
    /// Returns the skills that were there before the workshop was, which no person has vouched
    /// for.
    pub(crate) fn found_skills(&self, root: &Path) -> Vec<PathBuf> {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        self.skills_found.iter().map(|it| root.join(it)).collect()
    }
}
