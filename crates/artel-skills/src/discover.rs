//! Finds the skills in several folders, and decides which of two with the same name
//! counts.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::folder::SKIPPED;
use crate::{FileComplaint, Skill, SkillOrigin, SkillSizeEnforcement, load, name};

const MOST_DEPTH: usize = 6;
const MOST_FOLDERS: usize = 2_000;

/// A folder that may hold skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSourceFolder {
    /// The folder; it need not exist.
    pub folder: PathBuf,
    /// The origin of its skills.
    pub scope: SkillOrigin,
}

/// The skills found in all sources together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiscoveredSkills {
    /// The valid skills, sorted by name.
    pub skills: Vec<Skill>,
    /// Skills hidden by another of the same name.
    pub shadowed: Vec<ShadowedSkill>,
    /// Folders with a `SKILL.md` that could not be loaded as a skill, and folders that were
    /// not searched.
    pub broken: Vec<BrokenSkillFolder>,
}

/// A skill that is not used because another has the same name.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ShadowedSkill {
    /// The name that both share, as this skill writes it.
    pub name: String,
    /// The folder of this skill.
    pub path: PathBuf,
    /// The folder of the skill that is used instead.
    pub by: PathBuf,
}

/// A folder that could not be loaded as a skill.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct BrokenSkillFolder {
    pub path: PathBuf,
    pub complaints: Vec<FileComplaint>,
}

/// Finds all skills. Of two with the same name, ignoring case, the one from the earlier
/// source counts, and within a source the one whose path sorts first.
///
/// A folder may be a link. In the workshop and in the person's own folders it may lead
/// anywhere; in a portal it must stay inside the project, which is the folder two levels
/// above the source.
pub fn discover(sources: &[SkillSourceFolder], limit: SkillSizeEnforcement) -> DiscoveredSkills {
    let mut found = DiscoveredSkills::default();
    let mut known: HashMap<String, PathBuf> = HashMap::new();
    for source in sources {
        let Some(folders) = search(source, &mut found.broken) else {
            continue;
        };
        for folder in folders {
            match load(&folder, source.scope, limit) {
                Err(complaints) => found.broken.push(BrokenSkillFolder {
                    path: folder,
                    complaints,
                }),
                Ok(skill) => admit(skill, &mut known, &mut found),
            }
        }
    }
    found.skills.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn admit(skill: Skill, known: &mut HashMap<String, PathBuf>, found: &mut DiscoveredSkills) {
    let same = name::normal(&skill.name).to_lowercase();
    match known.get(&same) {
        // Two sources may lead to the same folder; it is one skill.
        Some(by) if *by == skill.folder => {}
        Some(by) => found.shadowed.push(ShadowedSkill {
            name: skill.name,
            path: skill.folder,
            by: by.clone(),
        }),
        None => {
            known.insert(same, skill.folder.clone());
            found.skills.push(skill);
        }
    }
}

/// Returns the folders of a source that hold a `SKILL.md`, sorted.
fn search(source: &SkillSourceFolder, broken: &mut Vec<BrokenSkillFolder>) -> Option<Vec<PathBuf>> {
    let top = source.folder.canonicalize().ok()?;
    let project = source.folder.parent().and_then(Path::parent);
    let within = match source.scope {
        SkillOrigin::Portal => Some(project.unwrap_or(&top).canonicalize().ok()?),
        SkillOrigin::Workshop | SkillOrigin::User => None,
    };
    let mut search = SkillFolderSearch {
        within,
        seen: HashSet::new(),
        skills: Vec::new(),
        broken,
    };
    search.folder(&top, 0);
    search.skills.sort();
    Some(search.skills)
}

struct SkillFolderSearch<'b> {
    within: Option<PathBuf>,
    seen: HashSet<PathBuf>,
    skills: Vec<PathBuf>,
    broken: &'b mut Vec<BrokenSkillFolder>,
}

impl SkillFolderSearch<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        // Links may lead here twice, or in a circle.
        let is_new = self.seen.len() <= MOST_FOLDERS && self.seen.insert(folder.to_owned());
        if !is_new {
            return;
        }
        if self.seen.len() > MOST_FOLDERS {
            let message = format!("more than {MOST_FOLDERS} folders; the rest is not searched");
            return self.complain(folder, message);
        }
        if self
            .within
            .as_ref()
            .is_some_and(|within| !folder.starts_with(within))
        {
            self.complain(folder, "it is a link that leads out of the project".into());
            return;
        }
        if folder.join("SKILL.md").symlink_metadata().is_ok() {
            self.skills.push(folder.to_owned());
            return;
        }
        if depth >= MOST_DEPTH {
            return;
        }
        for below in folders_in(folder) {
            self.folder(&below, depth + 1);
        }
    }

    fn complain(&mut self, folder: &Path, message: String) {
        self.broken.push(BrokenSkillFolder {
            path: folder.to_owned(),
            complaints: vec![FileComplaint::new("folder", message)],
        });
    }
}

/// Returns the folders in a folder with links resolved, sorted by name.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| SKIPPED.iter().all(|name| entry.file_name() != *name))
        .take(20_000)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect()
}
