//! Builds the tool runner of a run: first one that only reads the person's folder, then
//! one that works in the run's own tree, with a sandbox around its processes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::{CallLog, Furnish, RecordingApprover, RunJournal};
use artel_files::RootFolder;
use artel_git::{RunTree, repositories_in, settings_files, shared_folders};
use artel_policy::rules::PolicyRule;
use artel_policy::{
    BoundAdmission, PathWall, PathWallKind, Policy, PolicyBound, PolicyContext, PortalPermission,
    RunWalls, SandboxWalls,
};
use artel_sandbox::run::LiveCommandEvent;
use artel_sandbox::{FolderOverlay, SandboxLevel, Substitute, proxy::ProxyAccess};
use artel_skills::{Skill, prepare};
use artel_tools::{
    ContentMarks, NoGuard, ProcessStartReason, ToolCallRecorder, ToolContext, ToolProcessObserver,
    ToolRegistry, ToolRunner, ToolSandbox, histories_of_kept, keep_from_reading_in,
};
use artel_types::{EventOutcome, Failure, FailureCode, SandboxEngaged};

use super::house::RunEnvironment;
use super::inheritance::{ChildTerms, RunInheritance};
use crate::hands::{CallSecretStore, NetworkPassageRecorder, layer_text};
use crate::portals::trees;
use crate::works::RunContract;

/// The name of the bound that applies until a run has its own tree.
const NO_TREE: &str = "no tree yet";

/// A command may create this many times the files that a tree keeps, because temporary
/// build files count too.
const FILES_PER_KEPT: u64 = 5;

/// Everything that the tool runner of a run is made from.
pub(crate) struct RunToolingContext {
    pub(crate) house: Arc<RunEnvironment>,
    pub(crate) chronicle: RunJournal,
    pub(crate) log: Arc<CallLog>,
    pub(crate) registry: ToolRegistry,
    pub(crate) role: String,
    pub(crate) skill: Option<Arc<Skill>>,
    pub(crate) variables: Option<Arc<prepare::SkillVariables>>,
    /// The bounds and grants that the run inherited.
    pub(crate) inherits: RunInheritance,
    /// The terms that a plan sets for the run.
    pub(crate) contract: Option<Arc<RunContract>>,
    /// The folder for the run's files.
    pub(crate) at: PathBuf,
    /// The unverified sources that its piece of work has read, and the secrets that it was
    /// given.
    pub(crate) marks: ContentMarks,
    /// Why its processes are started.
    pub(crate) started_for: ProcessStartReason,
}

impl RunToolingContext {
    /// Returns a tool runner that only reads the person's folder.
    pub(crate) fn reading(&self) -> Result<ToolRunner, Failure> {
        let folder = &self.house.folder;
        let root = RootFolder::open(folder)
            .map_err(|error| Failure::new(FailureCode::W010, error.to_string()))?;
        let mut bench = ToolContext::new(root, Arc::new(NoGuard), self.role.clone());
        bench.git = self.house.workshop.caller.program("git");
        let house = &self.house;
        // The run must not read for its callers what they may not read themselves.
        let above = self.inherits.roles();
        let roles: Vec<&str> = std::iter::once(self.role.as_str()).chain(above).collect();
        bench.portals = Arc::new(trees(&house.portals, house.portal.as_ref(), &roles));
        bench.person = self.house.company.person.clone();
        bench.stands_for = vec![folder.clone(), self.files(), self.at.join("tree")];
        if let Some(skill) = &self.skill {
            let root = RootFolder::open(&skill.folder)
                .map_err(|error| Failure::new(FailureCode::R002, error.to_string()))?;
            bench.skill = Some(Arc::new(root));
            bench.skill_secrets.clone_from(&skill.front.secrets);
            bench.skill_held = Some(super::held_skill::ask(house, skill));
        }
        if let Some(variables) = self.variables.clone() {
            bench.fill_in = Some(Arc::new(move |text: &str| {
                prepare::expand_supporting(text, &variables).text
            }));
        }
        let mut policy = self.policy()?;
        policy.bounds.push(PolicyBound {
            name: NO_TREE.to_owned(),
            admits: BoundAdmission::Operations(vec![PortalPermission::Read, PortalPermission::Git]),
        });
        let caller = &self.house.workshop.caller;
        let log: Arc<dyn ToolCallRecorder> = Arc::clone(&self.log) as Arc<dyn ToolCallRecorder>;
        let mut hands = ToolRunner::new(
            self.registry.clone(),
            bench,
            policy,
            log,
            self.house
                .workshop
                .redactor()
                .with_formats(caller.formats()),
            caller.clock.clone(),
        );
        hands.situation.workspace = Some(folder.clone());
        hands.marks = self.marks.clone();
        hands.hints = self.house.company.hints;
        hands.approver = self.house.company.approver.clone().map(|inner| {
            let log = Arc::clone(&self.log);
            let redactor = hands.redactor.clone();
            let stop = self.house.company.stop.clone();
            let audience = Arc::clone(&self.house.company.audience);
            Arc::new(RecordingApprover {
                inner,
                log,
                redactor,
                stop,
                audience,
            }) as Arc<dyn artel_tools::ToolCallApprover>
        });
        Ok(hands)
    }

    /// Returns where the run's files will be, at the same relative path as in the repository.
    pub(crate) fn files(&self) -> PathBuf {
        let folder = &self.house.folder;
        let root = folder.ancestors().find(|it| it.join(".git").exists());
        let inside = root.and_then(|root| folder.strip_prefix(root).ok());
        self.at.join("tree").join(inside.unwrap_or(Path::new("")))
    }

    /// Returns where hooks find the conversation of the run.
    pub(crate) fn transcript(&self) -> PathBuf {
        let name = format!("{}.jsonl", self.chronicle.run());
        self.at.join("transcripts").join(name)
    }

    /// Returns the function that moves the tool runner into the run's tree.
    pub(crate) fn furnish(self: &Arc<Self>) -> Arc<Furnish> {
        let this = Arc::clone(self);
        Arc::new(move |tree, hands| this.furnished(tree, hands))
    }

    fn furnished(&self, tree: &RunTree, hands: &ToolRunner) -> Result<ToolRunner, Failure> {
        let room = self.workroom(tree)?;
        let engaged = room.sandbox.engaged().clone();
        let demand = room.demand;
        let missing = match engaged.level {
            SandboxLevel::Full => self.not_shown(tree, &room),
            // Commands have no view of their own at this level.
            SandboxLevel::Partial => self.bring_shared(tree),
            // No command runs at this level.
            SandboxLevel::None => Vec::new(),
        };
        let settings = &self.house.workshop.settings;
        let fact = SandboxEngaged {
            level: engaged.level.to_string(),
            demanded: demand.0.to_string(),
            profile: format!("{:?}", settings.hands.profile.value).to_lowercase(),
            layers: engaged
                .layers
                .iter()
                .map(layer_text)
                .chain(missing.iter().map(|it| missing_text(it)))
                .collect(),
        };
        let recorded = self.log.append(fact.into(), EventOutcome::Done);
        recorded.map_err(|why| Failure::new(FailureCode::J001, why))?;
        let mut bench = hands.bench.clone();
        let root = RootFolder::open(tree.files())
            .map_err(|error| Failure::new(FailureCode::W008, error.to_string()))?;
        bench.tree = Arc::new(root);
        bench.workroom = Some(Arc::new(room));
        Ok(hands.moved(bench, |policy, situation| {
            policy.bounds.retain(|bound| bound.name != NO_TREE);
            situation.is_walled = engaged.level >= demand.0;
            situation.workspace = Some(tree.files().to_owned());
            situation.walls = Some(walls_of_a_copy(engaged.level));
        }))
    }

    /// Sets up the sandbox for the run's tree. The tree is writable, the repository and the
    /// skill's folder are readable, and shared folders are overlaid with a layer of the run's
    /// own.
    fn workroom(&self, tree: &RunTree) -> Result<ToolSandbox, Failure> {
        let mut room = self.room(tree.files())?;
        let policy = self.policy()?;
        if policy.changes_files() {
            room.view.write.push(tree.files().to_owned());
        } else {
            room.view.read.push(tree.files().to_owned());
        }
        let own = self.house.own_folders.within(tree.origin()).into_iter();
        let own = own.map(|inside| tree.files().join(inside));
        room.view.read_only.extend(own);
        // Content that may not be read is in the git history too.
        let keeps_reading = |wall: &PathWall| wall.keeps == PathWallKind::Reading;
        if room.path_walls.iter().any(keeps_reading) {
            room.view.hidden.push(tree.repository());
        } else {
            room.view.read.push(tree.repository());
            room.view.read.extend(tree.borrowed().iter().cloned());
        }
        // A step's worker must not change the tests it is held to.
        let kept = self.inherits.kept_tests().iter();
        let kept = kept.map(|path| tree.files().join(path));
        let there = kept.filter(|path| path.symlink_metadata().is_ok());
        room.view.read_only.extend(there);
        if room.sandbox.engaged().level < SandboxLevel::Full {
            return Ok(room);
        }
        for (index, inside) in self.shared(tree).iter().enumerate() {
            // The search for hidden paths covers only the tree, and a shared folder is not part of
            // it.
            if keep_from_reading_in(tree.origin(), inside, &room.path_walls) {
                continue;
            }
            // In a read-only tree, the sandbox cannot create the mount point of the overlay.
            if !policy.changes_files() && !has_ground(tree.files(), inside) {
                continue;
            }
            let layer = self.at.join("layers").join(index.to_string());
            let (upper, work) = (layer.join("upper"), layer.join("work"));
            for made in [&upper, &work] {
                artel_files::make_dirs(made, 0o700)
                    .map_err(|error| Failure::new(FailureCode::W008, error.to_string()))?;
            }
            let (lower, at) = (tree.origin().join(inside), tree.files().join(inside));
            let repositories = repositories_in(&lower).into_iter();
            room.view.hidden.extend(repositories.map(|it| at.join(it)));
            room.view.overlays.push(FolderOverlay {
                lower,
                upper,
                work,
                at,
            });
        }
        Ok(room)
    }

    /// Returns the person's folders that commands in a tree can also see.
    fn shared(&self, tree: &RunTree) -> Vec<PathBuf> {
        let names = &self.house.workshop.settings.runs.share.value;
        shared_folders(tree.origin(), names)
    }

    /// Copies the shared folders into a tree, and returns those that could not be copied.
    fn bring_shared(&self, tree: &RunTree) -> Vec<PathBuf> {
        let mut folders = self.shared(tree);
        folders.retain(|folder| tree.bring(folder).is_err());
        folders
    }

    /// Returns the shared folders that commands do not see.
    fn not_shown(&self, tree: &RunTree, room: &ToolSandbox) -> Vec<PathBuf> {
        let overlays = &room.view.overlays;
        let is_shown = |at: &Path| overlays.iter().any(|overlay| overlay.at == at);
        let mut folders = self.shared(tree);
        folders.retain(|folder| !is_shown(&tree.files().join(folder)));
        folders
    }

    /// Makes a place where processes only read: the person's folder, but for what a rule keeps from
    /// commands, for the history in which that stands too, and for tokens in settings of git.
    pub(crate) fn reading_room(&self) -> Result<ToolSandbox, Failure> {
        let mut room = self.room(&self.house.folder)?;
        room.view.read.push(self.house.folder.clone());
        let histories = histories_of_kept(&self.house.folder, &room.path_walls);
        room.view.hidden.extend(histories);
        self.keep_settings_of_git(&mut room)?;
        Ok(room)
    }

    /// Shows processes in the person's folder what git needs of the settings of repositories there. In
    /// the tree of a run they see a repository of the run's own, with settings of its own.
    fn keep_settings_of_git(&self, room: &mut ToolSandbox) -> Result<(), Failure> {
        // Without git nobody can tell what is in such a file, and it is shown to nobody.
        let git = self
            .house
            .workshop
            .caller
            .program("git")
            .unwrap_or_default();
        let level = room.sandbox.engaged().level;
        let kept = self.at.join("settings");
        let failed =
            |error: artel_files::FileError| Failure::new(FailureCode::W008, error.to_string());
        artel_files::make_dirs(&kept, 0o700).map_err(failed)?;
        let files = settings_files(&git, &self.house.folder).into_iter();
        for (number, file) in files.enumerate() {
            room.view.hidden.extend(file.included);
            match file.shown {
                // Also where nothing is left out: the person may add a token while the run goes on.
                Some(text) if level == SandboxLevel::Full => {
                    let shown = kept.join(number.to_string());
                    artel_files::write_atomic(&shown, text.as_bytes(), 0o600).map_err(failed)?;
                    let hidden = file.path;
                    room.view.substitutes.push(Substitute { hidden, shown });
                }
                Some(_) if file.is_whole => {}
                _ => room.view.hidden.push(file.path),
            }
        }
        Ok(())
    }

    fn room(&self, tree: &Path) -> Result<ToolSandbox, Failure> {
        let caller = &self.house.workshop.caller;
        let log: Arc<dyn ToolCallRecorder> = Arc::clone(&self.log) as Arc<dyn ToolCallRecorder>;
        // The call that wanted a secret is known from its own events, recorded around the use.
        let keys = CallSecretStore {
            caller: caller.clone(),
            log: Arc::clone(&log),
            call: String::new(),
            tool: String::new(),
            role: self.role.clone(),
        };
        let audience = Arc::clone(&self.house.company.audience);
        let told = Arc::clone(&audience);
        let recorder = NetworkPassageRecorder {
            log,
            told: Arc::new(move |what: &str| told.waits(what)),
        };
        let watcher = CommandOutputRelay { recorder, audience };
        let spool = self.at.join("spool");
        // The run sees the files of its own portal anyway, and a virtual environment there is
        // useful.
        let own = self.house.portal.as_ref().map(|portal| &portal.path);
        let portals = self.house.portals.iter().map(|portal| &portal.path);
        let closed: Vec<PathBuf> = portals.filter(|it| Some(*it) != own).cloned().collect();
        let room = caller.workroom(
            tree,
            spool,
            Arc::new(watcher),
            Arc::new(keys),
            self.started_for,
            &closed,
        );
        let mut room = room.map_err(|problems| problems.first())?;
        let files = self.house.workshop.settings.runs.most_files.value;
        room.limits.files = files.saturating_mul(FILES_PER_KEPT);
        room.view.write.clear();
        room.path_walls = self.policy()?.path_walls();
        if let Some(skill) = &self.skill {
            room.view.read.push(skill.folder.clone());
        }
        Ok(room)
    }

    /// Builds the policy: the rules that apply here, bounded by the skill's list of tools and
    /// by everything that the run inherited.
    pub(crate) fn policy(&self) -> Result<Policy, Failure> {
        self.policy_by(self.skill.as_deref().and_then(skill_list))
    }

    /// Builds the policy with the given list of tools for the skill.
    fn policy_by(&self, listed: Option<Vec<String>>) -> Result<Policy, Failure> {
        let caller = &self.house.workshop.caller;
        let mut policy = caller
            .policy(Some(&self.role))
            .map_err(|problems| problems.first())?;
        policy.own_folders = self.house.own_folders.within(&self.house.folder);
        if let Some(portal) = &self.house.portal {
            portal.limit(&mut policy);
        }
        if let Some(skill) = &self.skill
            && let Some(list) = listed
        {
            policy.bounds.push(bound_of_skill(&skill.name, &list));
        }
        self.inherits.hold_in(&mut policy);
        Ok(policy)
    }

    /// Returns the terms for child runs, in addition to what this run inherited itself: the
    /// bounds of its role, its skill and its portal. Scripts that a skill's list names are not
    /// those of another skill.
    pub(crate) fn terms_for_child(&self) -> Result<ChildTerms, Failure> {
        let role = self.house.workshop.caller.role(&self.role);
        let role = role.map_err(|problems| problems.first())?;
        let written = self.skill.as_ref();
        let written = written.and_then(|skill| skill.front.allowed_tools.clone());
        let policy = self.policy_by(written)?;
        let mut bounds = policy.bounds;
        bounds.push(PolicyBound {
            name: format!("rights of {}", self.role),
            admits: BoundAdmission::RightsOf {
                role: self.role.clone(),
                secrets: policy.role_secrets,
            },
        });
        Ok(ChildTerms {
            parent: Some(self.chronicle.run()),
            bounds,
            denied: role.deny,
            privacy: self.house.privacy(self.inherits.privacy()),
            ..ChildTerms::default()
        })
    }

    /// Returns the policy context for commands that only read the person's folder.
    pub(crate) fn reading_situation(&self, room: &ToolSandbox) -> PolicyContext {
        PolicyContext {
            is_walled: room.sandbox.engaged().level >= room.demand.0,
            workspace: Some(self.house.folder.clone()),
            ..PolicyContext::default()
        }
    }
}

/// Describes a shared folder that commands do not see, as a line among the sandbox layers.
fn missing_text(folder: &Path) -> String {
    format!("missing: shared folder: `{}`", folder.display())
}

/// Creates a folder in a tree if it is missing, without following links. Returns whether
/// it exists.
fn has_ground(files: &Path, inside: &Path) -> bool {
    let mut here = files.to_owned();
    inside.components().all(|part| {
        here.push(part);
        match here.symlink_metadata() {
            Ok(found) => found.is_dir(),
            Err(_) => artel_files::make_dir(&here, 0o755).is_ok(),
        }
    })
}

/// Returns the walls around a run's own tree at a sandbox level.
pub(crate) fn walls_of_a_copy(level: SandboxLevel) -> RunWalls {
    RunWalls {
        sandbox: match level {
            SandboxLevel::Full => SandboxWalls::Full,
            SandboxLevel::Partial | SandboxLevel::None => SandboxWalls::Lower,
        },
        ..RunWalls::whole()
    }
}

/// Returns the rules of a skill's own list. An unreadable rule admits nothing.
pub(crate) fn skill_rules(skill: &Skill) -> Vec<PolicyRule> {
    rules_of_list(&skill_list(skill).unwrap_or_default())
}

/// Returns the bound that a skill's list sets.
pub(crate) fn bound_of_skill(name: &str, list: &[String]) -> PolicyBound {
    PolicyBound {
        name: format!("skill {name}"),
        admits: BoundAdmission::Rules(rules_of_list(list)),
    }
}

fn rules_of_list(list: &[String]) -> Vec<PolicyRule> {
    let rules = list.iter().filter_map(|text| PolicyRule::parse(text).ok());
    rules.collect()
}

/// Returns a skill's own list of tools. Lists written for other agents know only one tool
/// that runs programs. If that tool may run anything, or names the skill's scripts, the
/// `script` tool is added.
pub(crate) fn skill_list(skill: &Skill) -> Option<Vec<String>> {
    let mut list = skill.front.allowed_tools.clone()?;
    let runs_scripts = |rule: &String| {
        let bounds = rule.strip_prefix("Bash");
        bounds.is_some_and(|it| matches!(it, "" | "(*)") || it.contains("scripts/"))
    };
    if list.iter().any(runs_scripts) && !list.iter().any(|rule| rule == SCRIPT) {
        list.push(SCRIPT.to_owned());
    }
    Some(list)
}

/// The tool that runs a skill's scripts.
const SCRIPT: &str = "script";

/// Shows the output of commands, and records the hosts they reach.
struct CommandOutputRelay {
    recorder: NetworkPassageRecorder,
    audience: Arc<dyn artel_engine::RunObserver>,
}

impl ToolProcessObserver for CommandOutputRelay {
    fn output(&self, live: &LiveCommandEvent<'_>) {
        if let LiveCommandEvent::Output(_, bytes) = live {
            self.audience.output(&String::from_utf8_lossy(bytes));
        }
    }

    fn passage(&self, passage: &ProxyAccess) {
        self.recorder.passage(passage);
    }

    fn waiting(&self, what: &str) {
        self.recorder.waiting(what);
    }
}
