//! The context of a tool call: the run's tree, the portals, the sandbox for processes, and
//! the state that the run keeps between calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_files::{FileAccessGuard, FileAccessKind, FileAccessRefusal, RootFolder};
use artel_policy::rules::PolicyRule;
use artel_policy::{FileTarget, PathWall, TargetTree};

use crate::notes::RunNotes;
use crate::process::{BackgroundJobs, ToolCallConsent, ToolSandbox};
use crate::seen::ModelKnownFiles;
use crate::{ToolError, ToolErrorKind};

/// The context of one tool call. Clones share the trees and the run's state; the guard
/// belongs to the call alone.
#[derive(Clone)]
pub struct ToolContext {
    /// The run's own tree. Relative paths are in it.
    pub tree: Arc<RootFolder>,
    /// Other trees, by the names that `@Name/path` uses.
    pub portals: Arc<BTreeMap<String, RootFolder>>,
    /// Judges resolved paths when they are used.
    pub guard: Arc<dyn PlaceGuardProvider>,
    /// The role of the agent that has these tools: `engineer`, `tester`, …
    pub role: String,
    /// The git program, if there is one.
    pub git: Option<PathBuf>,
    /// The sandbox for processes, or `None` if this run may not start any.
    pub workroom: Option<Arc<ToolSandbox>>,
    /// The folder of the active skill.
    pub skill: Option<Arc<RootFolder>>,
    /// Checks that the active skill is still as it was trusted. `None` if it needs no trust.
    pub skill_held: Option<Arc<SkillHeld>>,
    /// The secrets that the active skill declares for its scripts.
    pub skill_secrets: Vec<String>,
    /// The command rules that name secrets, set by the run's policy.
    pub secret_rules: Arc<[PolicyRule]>,
    /// The paths that the person's rules hide from commands; the git tools leave them out as
    /// well. Set by the run's policy.
    pub path_walls: Arc<[PathWall]>,
    /// Commands in the background.
    pub jobs: Arc<BackgroundJobs>,
    /// The person who can be asked, or `None` if nobody is there.
    pub person: Option<Arc<dyn AskablePerson>>,
    /// Folders that the run's tree stands for: the person's folder, by its path.
    pub stands_for: Vec<PathBuf>,
    /// Fills in the variables of a skill's files when they are read.
    pub fill_in: Option<Arc<FillIn>>,
    /// The person's consent to the current call, if they were asked about it.
    pub consent: ToolCallConsent,
    /// The current call, by its name in the journal.
    pub call: String,
    seen: Arc<Mutex<ModelKnownFiles>>,
    notes: Arc<Mutex<RunNotes>>,
    /// The notes as they were last recorded.
    written: Arc<Mutex<RunNotes>>,
}

/// Fills in the variables of a text.
pub type FillIn = dyn Fn(&str) -> String + Send + Sync;

/// Returns the reason why nothing of a skill may be started now, or `None` if it may.
pub type SkillHeld = dyn Fn() -> Option<String> + Send + Sync;

/// Provides guards that judge resolved paths, on behalf of the run's policy.
pub trait PlaceGuardProvider: Send + Sync {
    /// Returns the guard for one place.
    fn in_place(&self, place: &TargetTree) -> Arc<dyn FileAccessGuard + Send + Sync>;
}

/// A guard that refuses everything. A context has it until a call brings its own guard; no
/// tool runs before that.
pub struct NoGuard;

impl PlaceGuardProvider for NoGuard {
    fn in_place(&self, _: &TargetTree) -> Arc<dyn FileAccessGuard + Send + Sync> {
        Arc::new(|_: &Path, _: FileAccessKind| {
            Err(FileAccessRefusal {
                rule: "never.unjudged".to_owned(),
                reason: "no call has been judged yet".to_owned(),
            })
        })
    }
}

/// A person who can answer an agent's question.
pub trait AskablePerson: Send + Sync {
    /// Asks a question. Returns `None` if nobody answers.
    fn answer(&self, question: &str, choices: &[String]) -> Option<String>;

    /// Asks a question with a prepared answer, which the person can accept without typing it.
    /// A surface that cannot show a prepared answer asks as usual.
    fn answer_filled_in(
        &self,
        question: &str,
        choices: &[String],
        _filled_in: &str,
    ) -> Option<String> {
        self.answer(question, choices)
    }

    /// Reports that a question which may still be open here is settled, and why. A surface
    /// that shows the question then removes it and returns `None` for it.
    fn settled(&self, _question: &str, _why: &str) {}
}

impl ToolContext {
    /// Creates a context with nothing but a tree, a guard and a role.
    pub fn new(
        tree: RootFolder,
        guard: Arc<dyn PlaceGuardProvider>,
        role: impl Into<String>,
    ) -> Self {
        Self {
            tree: Arc::new(tree),
            portals: Arc::default(),
            guard,
            role: role.into(),
            git: None,
            workroom: None,
            skill: None,
            skill_held: None,
            skill_secrets: Vec::new(),
            secret_rules: Arc::default(),
            path_walls: Arc::default(),
            jobs: Arc::default(),
            person: None,
            stands_for: Vec::new(),
            fill_in: None,
            consent: ToolCallConsent::None,
            call: String::new(),
            seen: Arc::default(),
            notes: Arc::default(),
            written: Arc::default(),
        }
    }

    /// Refuses to start anything of a skill that has changed since it was trusted.
    pub fn ensure_skill_as_trusted(&self) -> Result<(), ToolError> {
        match self.skill_held.as_ref().and_then(|why_not| why_not()) {
            Some(why) => Err(ToolError::new(ToolErrorKind::Refused, why)),
            None => Ok(()),
        }
    }

    /// Finds the tree of a path, and the path within it. `@Name/path` is in a portal.
    pub fn find(&self, path: &str) -> Result<(FileTarget, &RootFolder), ToolError> {
        if let Some(found) = self.find_by_whole_path(path) {
            return Ok(found);
        }
        let Some(rest) = path.strip_prefix('@') else {
            let target = FileTarget {
                place: TargetTree::Worktree,
                path: path.to_owned(),
            };
            return Ok((target, &self.tree));
        };
        let (name, inside) = rest.split_once('/').unwrap_or((rest, ""));
        if name == "skill"
            && let Some(skill) = &self.skill
        {
            let target = FileTarget {
                place: TargetTree::Skill,
                path: inside.to_owned(),
            };
            return Ok((target, skill));
        }
        let root = self.portals.get(name).ok_or_else(|| {
            let known: Vec<_> = self
                .portals
                .keys()
                .map(|name| format!("@{name}/"))
                .collect();
            let known = match known.as_slice() {
                [] => "this run has no portals".to_owned(),
                known => format!("portals of this run: {}", known.join(", ")),
            };
            ToolError::new(
                ToolErrorKind::NotFound,
                format!("there is no portal `{name}`"),
            )
            .hint(known)
            .hint(format!("a file of that name in the tree: `./{path}`"))
        })?;
        let target = FileTarget {
            place: TargetTree::Portal(name.to_owned()),
            path: inside.to_owned(),
        };
        Ok((target, root))
    }

    /// Finds an absolute path in the skill's folder, or in a folder that the run's tree stands
    /// for.
    fn find_by_whole_path(&self, path: &str) -> Option<(FileTarget, &RootFolder)> {
        let whole = Path::new(path);
        if !whole.is_absolute() {
            return None;
        }
        let inside = |folder: &Path| Some(whole.strip_prefix(folder).ok()?.to_str()?.to_owned());
        if let Some(skill) = &self.skill
            && let Some(path) = inside(skill.path())
        {
            let place = TargetTree::Skill;
            return Some((FileTarget { place, path }, skill));
        }
        let path = self.stands_for.iter().find_map(|folder| inside(folder))?;
        let place = TargetTree::Worktree;
        Some((FileTarget { place, path }, &self.tree))
    }

    /// Returns the files that the model has seen so far.
    pub fn seen(&self) -> MutexGuard<'_, ModelKnownFiles> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn notes(&self) -> MutexGuard<'_, RunNotes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the notes if they have changed since the last call.
    pub(crate) fn changed_notes(&self) -> Option<RunNotes> {
        let notes = self.notes().clone();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *written == notes {
            return None;
        }
        written.clone_from(&notes);
        Some(notes)
    }
}
