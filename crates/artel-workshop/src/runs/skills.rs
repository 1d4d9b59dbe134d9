//! Finds the skills that can be used in a folder, in their order of precedence.

use std::path::{Path, PathBuf};

use artel_skills::{
    BrokenSkillFolder, DiscoveredSkills, FileComplaint, ShadowedSkill, Skill, SkillOrigin,
    SkillSizeEnforcement, SkillSourceFolder, discover,
};
use artel_types::{Failure, FailureCode};

use crate::caller::CommandContext;
use crate::in_force::LastValidFileMap;
use crate::workshop::Workshop;

#[derive(Debug, Clone, Default)]
pub struct SkillsFound {
    /// The usable skills, by name.
    pub skills: Vec<Skill>,
    /// Skills whose name is taken by one that was found earlier.
    pub shadowed: Vec<ShadowedSkill>,
    /// Skills that could not be loaded.
    pub broken: Vec<BrokenSkillFolder>,
}

impl Workshop {
    /// Finds the skills of the workshop, of the project around a folder, and of the person. If
    /// two have the same name, the one found first is used.
    pub fn find_skills(&self, folder: &Path) -> SkillsFound {
        let mut sources = vec![SkillSourceFolder {
            folder: self.root.join("Skills"),
            scope: SkillOrigin::Workshop,
        }];
        sources.extend(self.caller.skill_sources(folder));
        let limit = match self.settings.runs.size_limit.value {
            artel_config::SkillSizeChoice::Warn => SkillSizeEnforcement::Warn,
            artel_config::SkillSizeChoice::Enforce => SkillSizeEnforcement::Enforce,
        };
        let mut found = SkillsFound::from(discover(&sources, limit));
        if let Some(parts) = self.caller.in_force.parts() {
            found.keep(&parts.skills);
        }
        found
    }
}

impl Workshop {
    /// Returns the folders outside the workshop that are searched for skills: in the person's
    /// home folder and in every portal.
    pub fn skill_folders(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for place in self.skill_places()? {
            let sources = self.caller.skill_sources(&place).into_iter();
            let new = sources.map(|it| it.folder);
            let new: Vec<PathBuf> = new.filter(|it| !folders.contains(it)).collect();
            folders.extend(new);
        }
        Ok(folders)
    }

    /// Returns the broken skills in all places where runs of this workshop would look.
    pub(crate) fn broken_skills(&self) -> Result<Vec<BrokenSkillFolder>, Failure> {
        let mut broken: Vec<BrokenSkillFolder> = Vec::new();
        for place in self.skill_places()? {
            let found = self.find_skills(&place).broken.into_iter();
            let is_new = |it: &BrokenSkillFolder| broken.iter().all(|known| known.path != it.path);
            let new: Vec<BrokenSkillFolder> = found.filter(is_new).collect();
            broken.extend(new);
        }
        Ok(broken)
    }

    /// Returns the folders that runs start in.
    fn skill_places(&self) -> Result<Vec<PathBuf>, Failure> {
        let portals = self.portals()?.into_iter().map(|it| it.path);
        Ok(std::iter::once(self.root.clone()).chain(portals).collect())
    }
}

impl CommandContext {
    /// Returns the skill folders outside the workshop: those of the project around a folder,
    /// then those in the person's home folder.
    pub(crate) fn skill_sources(&self, folder: &Path) -> Vec<SkillSourceFolder> {
        let below = |root: &Path, scope| {
            [".agents/skills", ".claude/skills"].map(|name| SkillSourceFolder {
                folder: root.join(name),
                scope,
            })
        };
        let mut sources = Vec::new();
        for root in project_folders(folder, self.places.home()) {
            sources.extend(below(&root, SkillOrigin::Portal));
        }
        sources.extend(below(self.places.home(), SkillOrigin::User));
        sources
    }
}

/// Returns a folder and its parents up to the root of its repository, or only the folder
/// if it is in no repository.
fn project_folders(folder: &Path, home: &Path) -> Vec<PathBuf> {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let root = folder.ancestors().find(is_root);
    let above = folder
        .ancestors()
        .take_while(|it| root.is_none_or(|root| it.starts_with(root)));
    let folders: Vec<_> = match root {
        Some(_) => above.map(Path::to_owned).collect(),
        None => vec![folder.to_owned()],
    };
    folders.into_iter().filter(|it| it != home).collect()
}

impl SkillsFound {
    /// Remembers the valid skills. An invalid skill is replaced by its last valid version, but
    /// is still listed as broken.
    fn keep(&mut self, known: &LastValidFileMap<Skill>) {
        for skill in &self.skills {
            if known.get(&skill.folder).is_none_or(|it| it != *skill) {
                known.put(&skill.folder, skill.clone());
            }
        }
        for broken in &self.broken {
            let before = known.get(&broken.path);
            let taken = |old: &Skill| self.skills.iter().any(|it| it.name == old.name);
            if let Some(old) = before.filter(|old| !taken(old)) {
                self.skills.push(old);
            }
        }
        self.skills.sort_by(|a, b| a.name.cmp(&b.name));
    }

    pub fn get(&self, name: &str) -> Result<&Skill, Failure> {
        if let Some(skill) = self.skills.iter().find(|skill| skill.name == name) {
            return Ok(skill);
        }
        let is_broken = |broken: &&BrokenSkillFolder| {
            let folder = broken.path.file_name().and_then(|name| name.to_str());
            folder == Some(name)
        };
        if let Some(broken) = self.broken.iter().find(is_broken) {
            return Err(cannot_load(broken));
        }
        let names = self.skills.iter().map(|skill| skill.name.as_str());
        let near = artel_tools::nearest(name, names, 1);
        let shown: String = name.chars().take(80).collect();
        let failure = Failure::new(FailureCode::R001, format!("there is no skill `{shown}`"));
        Err(match near.first() {
            Some(near) => failure.advise(format!("did you mean `{near}`?")),
            None if self.skills.is_empty() => {
                failure.advise("`artel skill new NAME` makes one to begin with")
            }
            None => failure.advise("`artel skill list` shows what there is"),
        })
    }
}

/// Returns the failure for a skill that could not be loaded.
pub(crate) fn cannot_load(broken: &BrokenSkillFolder) -> Failure {
    let what = format!("the skill in `{}` cannot be used", broken.path.display());
    let failure = Failure::new(FailureCode::R002, what);
    match broken.complaints.first() {
        Some(complaint) => explained(failure, complaint),
        None => failure,
    }
}

fn explained(failure: Failure, complaint: &FileComplaint) -> Failure {
    let line = complaint
        .line
        .map_or(String::new(), |line| format!("line {line}, "));
    let failure = failure.because(format!("{line}{}: {}", complaint.field, complaint.message));
    match &complaint.remedy {
        Some(remedy) => failure.advise(remedy.clone()),
        None => failure,
    }
}

impl From<DiscoveredSkills> for SkillsFound {
    fn from(found: DiscoveredSkills) -> Self {
        Self {
            skills: found.skills,
            shadowed: found.shadowed,
            broken: found.broken,
        }
    }
}
