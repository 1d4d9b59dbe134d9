//! What a call has at hand: the run's tree, the portals, the place where processes run, and what
//! the run remembers between calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_files::{Guard, Op, Refusal, Root};
use artel_policy::rules::Rule;
use artel_policy::{PathWall, Place, Target};

use crate::notes::Notes;
use crate::process::{Consent, Jobs, Workroom};
use crate::seen::Seen;
use crate::{Trouble, TroubleKind};

/// The workplace of one call. Clones share the trees and what the run remembers; the guard is
/// the call's own.
#[derive(Clone)]
pub struct Bench {
    /// The run's own tree: relative paths are in it.
    pub tree: Arc<Root>,
    /// Other trees, by the names that `@Name/path` uses.
    pub portals: Arc<BTreeMap<String, Root>>,
    /// Judges resolved paths when they are used.
    pub guard: Arc<dyn Judge>,
    /// Whose tools these are: `engineer`, `tester`, …
    pub role: String,
    /// The git program, where there is one.
    pub git: Option<PathBuf>,
    /// Where processes run; nothing where none may.
    pub workroom: Option<Arc<Workroom>>,
    /// The folder of the skill that is active.
    pub skill: Option<Arc<Root>>,
    /// What says whether the active skill is still as it was trusted; nothing where nobody has to
    /// trust it.
    pub skill_held: Option<Arc<SkillHeld>>,
    /// The secrets that the active skill's declaration names for its scripts.
    pub skill_secrets: Vec<String>,
    /// The command rules that name secrets; the run's policy fills it.
    pub secret_rules: Arc<[Rule]>,
    /// What the person's rules keep commands from; tools of git leave out the same. The run's policy
    /// fills it.
    pub path_walls: Arc<[PathWall]>,
    /// Commands in the background.
    pub jobs: Arc<Jobs>,
    /// Who can be asked; nobody where no person is there.
    pub person: Option<Arc<dyn Person>>,
    /// Folders that the run's tree stands for: the person's, by its path.
    pub stands_for: Vec<PathBuf>,
    /// What fills in the variables of a skill's files when they are read.
    pub fill_in: Option<Arc<FillIn>>,
    /// What the person said yes to, where they were asked about the call that is carried out.
    pub consent: Consent,
    /// The call that is carried out, by its name in the journal.
    pub call: String,
    seen: Arc<Mutex<Seen>>,
    notes: Arc<Mutex<Notes>>,
    /// The notes as they were last written down.
    written: Arc<Mutex<Notes>>,
}

/// Fills in the variables of a text.
pub type FillIn = dyn Fn(&str) -> String + Send + Sync;

/// Says why nothing of a skill may be started now; nothing if it may.
pub type SkillHeld = dyn Fn() -> Option<String> + Send + Sync;

/// Judges a resolved path in a place. The policy of the run stands behind it.
pub trait Judge: Send + Sync {
    /// Returns the guard for one place.
    fn in_place(&self, place: &Place) -> Arc<dyn Guard + Send + Sync>;
}

/// Judges nothing. A bench has this until a call brings its own guard; no tool is run before.
pub struct NoGuard;

impl Judge for NoGuard {
    fn in_place(&self, _: &Place) -> Arc<dyn Guard + Send + Sync> {
        Arc::new(|_: &Path, _: Op| {
            Err(Refusal {
                rule: "never.unjudged".to_owned(),
                reason: "no call has been judged yet".to_owned(),
            })
        })
    }
}

/// A person who can answer an agent's question.
pub trait Person: Send + Sync {
    /// Puts a question; nothing if nobody answers.
    fn answer(&self, question: &str, choices: &[String]) -> Option<String>;

    /// The same for a question whose answer is filled in: whoever takes it as it is need not type
    /// it. Somebody who cannot be shown that is asked as ever.
    fn answer_filled_in(
        &self,
        question: &str,
        choices: &[String],
        _filled_in: &str,
    ) -> Option<String> {
        self.answer(question, choices)
    }

    /// Hears that a question which may still be open here is none any more, and why. Whoever shows
    /// questions takes it away then, and returns nothing for it.
    fn settled(&self, _question: &str, _why: &str) {}
}

impl Bench {
    /// Lays a bench out.
    pub fn new(tree: Root, guard: Arc<dyn Judge>, role: impl Into<String>) -> Self {
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
            consent: Consent::None,
            call: String::new(),
            seen: Arc::default(),
            notes: Arc::default(),
            written: Arc::default(),
        }
    }

    /// Refuses to start anything of a skill that is not as it was trusted any more.
    pub fn ensure_skill_as_trusted(&self) -> Result<(), Trouble> {
        match self.skill_held.as_ref().and_then(|why_not| why_not()) {
            Some(why) => Err(Trouble::new(TroubleKind::Refused, why)),
            None => Ok(()),
        }
    }

    /// Finds the tree that a path is in, and the path in it. `@Name/path` is in a portal.
    pub fn find(&self, path: &str) -> Result<(Target, &Root), Trouble> {
        if let Some(found) = self.find_by_whole_path(path) {
            return Ok(found);
        }
        let Some(rest) = path.strip_prefix('@') else {
            let target = Target {
                place: Place::Worktree,
                path: path.to_owned(),
            };
            return Ok((target, &self.tree));
        };
        let (name, inside) = rest.split_once('/').unwrap_or((rest, ""));
        if name == "skill"
            && let Some(skill) = &self.skill
        {
            let target = Target {
                place: Place::Skill,
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
            Trouble::new(
                TroubleKind::NotFound,
                format!("there is no portal `{name}`"),
            )
            .hint(known)
            .hint(format!("a file of that name in the tree: `./{path}`"))
        })?;
        let target = Target {
            place: Place::Portal(name.to_owned()),
            path: inside.to_owned(),
        };
        Ok((target, root))
    }

    /// Finds a path that is written out: in the skill's folder, or in the folder that the run's
    /// tree stands for.
    fn find_by_whole_path(&self, path: &str) -> Option<(Target, &Root)> {
        let whole = Path::new(path);
        if !whole.is_absolute() {
            return None;
        }
        let inside = |folder: &Path| Some(whole.strip_prefix(folder).ok()?.to_str()?.to_owned());
        if let Some(skill) = &self.skill
            && let Some(path) = inside(skill.path())
        {
            let place = Place::Skill;
            return Some((Target { place, path }, skill));
        }
        let path = self.stands_for.iter().find_map(|folder| inside(folder))?;
        let place = Place::Worktree;
        Some((Target { place, path }, &self.tree))
    }

    /// Returns what was read so far.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the run's notes.
    pub fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the notes if they are others than when this was last asked.
    pub(crate) fn changed_notes(&self) -> Option<Notes> {
        let notes = self.notes().clone();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *written == notes {
            return None;
        }
        written.clone_from(&notes);
        Some(notes)
    }
}
