//! The hands of a run: first those that only read the person's folder, then those that work in the
//! run's own tree, with the sandbox around its processes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::{CallLog, Chronicle, Furnish, Knock};
use artel_files::Root;
use artel_git::{RunTree, shared_folders};
use artel_policy::rules::Rule;
use artel_policy::{Admits, Bound, Operation, Policy, Situation};
use artel_sandbox::run::Live;
use artel_sandbox::{Overlay, proxy::Passage};
use artel_skills::{AgentKind, Skill, prepare};
use artel_tools::{Audience, Bench, Hands, Log, NoGuard, Registry, Workroom};
use artel_types::{Code, Failure, Outcome, SandboxEngaged};

use super::house::House;
use crate::hands::{CallKeys, Recorder, layer_text};
use crate::portals::trees;
use crate::works::Contract;

/// The bound that holds as long as a run has no tree of its own.
const NO_TREE: &str = "no tree yet";

/// What the hands of a run are made from.
pub(crate) struct Outfit {
    pub(crate) house: Arc<House>,
    pub(crate) chronicle: Chronicle,
    pub(crate) log: Arc<CallLog>,
    pub(crate) registry: Registry,
    pub(crate) role: String,
    pub(crate) skill: Option<Arc<Skill>>,
    pub(crate) variables: Option<Arc<prepare::Variables>>,
    /// What narrows the run: a kind of sub-agent.
    pub(crate) agent: Option<AgentKind>,
    /// What a plan sets for the run.
    pub(crate) contract: Option<Arc<Contract>>,
    /// Where the run keeps its files.
    pub(crate) at: PathBuf,
}

impl Outfit {
    /// Returns hands that only read the person's folder.
    pub(crate) fn reading(&self) -> Result<Hands, Failure> {
        let folder = &self.house.folder;
        let root =
            Root::open(folder).map_err(|error| Failure::new(Code::W010, error.to_string()))?;
        let mut bench = Bench::new(root, Arc::new(NoGuard), self.role.clone());
        bench.git = self.house.workshop.caller.program("git");
        let house = &self.house;
        bench.portals = Arc::new(trees(&house.portals, house.portal.as_ref(), &self.role));
        bench.person = self.house.company.person.clone();
        bench.stands_for = vec![folder.clone(), self.files(), self.at.join("tree")];
        if let Some(skill) = &self.skill {
            let root = Root::open(&skill.folder)
                .map_err(|error| Failure::new(Code::R002, error.to_string()))?;
            bench.skill = Some(Arc::new(root));
            bench.skill_secrets.clone_from(&skill.front.secrets);
        }
        if let Some(variables) = self.variables.clone() {
            bench.fill_in = Some(Arc::new(move |text: &str| {
                prepare::expand_supporting(text, &variables).text
            }));
        }
        let mut policy = self.policy()?;
        policy.bounds.push(Bound {
            name: NO_TREE.to_owned(),
            admits: Admits::Operations(vec![Operation::Read, Operation::Git]),
        });
        let caller = &self.house.workshop.caller;
        let log: Arc<dyn Log> = Arc::clone(&self.log) as Arc<dyn Log>;
        let mut hands = Hands::new(
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
        hands.hints = self.house.company.hints;
        hands.approver = self.house.company.approver.clone().map(|inner| {
            let log = Arc::clone(&self.log);
            let redactor = hands.redactor.clone();
            let stop = self.house.company.stop.clone();
            let audience = Arc::clone(&self.house.company.audience);
            Arc::new(Knock {
                inner,
                log,
                redactor,
                stop,
                audience,
            }) as Arc<dyn artel_tools::Approver>
        });
        Ok(hands)
    }

    /// Returns where the run's files will be: below the same folders as in the repository.
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

    /// Returns what moves the hands into the run's tree.
    pub(crate) fn furnish(self: &Arc<Self>) -> Arc<Furnish> {
        let this = Arc::clone(self);
        Arc::new(move |tree, hands| this.furnished(tree, hands))
    }

    fn furnished(&self, tree: &RunTree, hands: &Hands) -> Result<Hands, Failure> {
        let room = self.workroom(tree)?;
        let engaged = room.sandbox.engaged().clone();
        let demand = room.demand;
        let settings = &self.house.workshop.settings;
        let fact = SandboxEngaged {
            level: engaged.level.to_string(),
            demanded: demand.0.to_string(),
            profile: format!("{:?}", settings.hands.profile.value).to_lowercase(),
            layers: engaged.layers.iter().map(layer_text).collect(),
        };
        let recorded = self.log.append(fact.into(), Outcome::Done);
        recorded.map_err(|why| Failure::new(Code::J001, why))?;
        let mut bench = hands.bench.clone();
        let root = Root::open(tree.files())
            .map_err(|error| Failure::new(Code::W008, error.to_string()))?;
        bench.tree = Arc::new(root);
        bench.workroom = Some(Arc::new(room));
        Ok(hands.moved(bench, |policy, situation| {
            policy.bounds.retain(|bound| bound.name != NO_TREE);
            situation.is_walled = engaged.level >= demand.0;
            situation.workspace = Some(tree.files().to_owned());
        }))
    }

    /// Makes the place where processes run: the tree can be written, the repository and the
    /// skill's folder read, and shared folders appear with a layer of the run's own over them.
    fn workroom(&self, tree: &RunTree) -> Result<Workroom, Failure> {
        let mut room = self.room(tree.files())?;
        room.view.write.push(tree.files().to_owned());
        room.view.read.push(tree.repository());
        room.view.read.extend(tree.borrowed().iter().cloned());
        let share = &self.house.workshop.settings.runs.share.value;
        for (index, folder) in shared_folders(tree.origin(), share).into_iter().enumerate() {
            let Ok(inside) = folder.strip_prefix(tree.origin()) else {
                continue;
            };
            let layer = self.at.join("layers").join(index.to_string());
            let (upper, work) = (layer.join("upper"), layer.join("work"));
            for made in [&upper, &work] {
                artel_files::make_dirs(made, 0o700)
                    .map_err(|error| Failure::new(Code::W008, error.to_string()))?;
            }
            room.view.overlays.push(Overlay {
                lower: folder.clone(),
                upper,
                work,
                at: tree.files().join(inside),
            });
        }
        Ok(room)
    }

    /// Makes a place where processes only read.
    pub(crate) fn reading_room(&self) -> Result<Workroom, Failure> {
        let mut room = self.room(&self.house.folder)?;
        room.view.read.push(self.house.folder.clone());
        Ok(room)
    }

    fn room(&self, tree: &Path) -> Result<Workroom, Failure> {
        let caller = &self.house.workshop.caller;
        let log: Arc<dyn Log> = Arc::clone(&self.log) as Arc<dyn Log>;
        // Which call wanted a secret stands in its own events, around the use.
        let keys = CallKeys {
            caller: caller.clone(),
            log: Arc::clone(&log),
            call: String::new(),
            tool: String::new(),
            role: self.role.clone(),
        };
        let audience = Arc::clone(&self.house.company.audience);
        let told = Arc::clone(&audience);
        let recorder = Recorder {
            log,
            told: Arc::new(move |what: &str| told.waits(what)),
        };
        let watcher = Watcher { recorder, audience };
        let spool = self.at.join("spool");
        let room = caller.workroom(tree, spool, Arc::new(watcher), Arc::new(keys));
        let mut room = room.map_err(|problems| problems.first())?;
        room.view.write.clear();
        if let Some(skill) = &self.skill {
            room.view.read.push(skill.folder.clone());
        }
        Ok(room)
    }

    /// Puts the policy together: what holds here, bounded by the skill's list and by the kind of
    /// sub-agent.
    pub(crate) fn policy(&self) -> Result<Policy, Failure> {
        let caller = &self.house.workshop.caller;
        let mut policy = caller
            .policy(Some(&self.role))
            .map_err(|problems| problems.first())?;
        if let Some(portal) = &self.house.portal {
            portal.limit(&mut policy);
        }
        if let Some(skill) = &self.skill
            && skill.front.allowed_tools.is_some()
        {
            policy.bounds.push(Bound {
                name: format!("skill {}", skill.name),
                admits: Admits::Rules(skill_rules(skill)),
            });
        }
        if matches!(self.agent, Some(AgentKind::Explore | AgentKind::Plan)) {
            policy.bounds.push(Bound {
                name: "read-only agent".to_owned(),
                admits: Admits::Operations(vec![Operation::Read]),
            });
        }
        if let Some(contract) = &self.contract {
            contract.apply(&mut policy);
        }
        Ok(policy)
    }

    /// Returns facts for policy about commands that only read the person's folder.
    pub(crate) fn reading_situation(&self, room: &Workroom) -> Situation {
        Situation {
            is_walled: room.sandbox.engaged().level >= room.demand.0,
            workspace: Some(self.house.folder.clone()),
            ..Situation::default()
        }
    }
}

/// Returns the rules of a skill's own list; what cannot be read admits nothing.
pub(crate) fn skill_rules(skill: &Skill) -> Vec<Rule> {
    let listed = skill_list(skill).into_iter().flatten();
    listed.filter_map(|text| Rule::parse(&text).ok()).collect()
}

/// Returns a skill's own list. Those written for other agents know one tool that runs programs:
/// where it may run any, or names the skill's scripts, the tool that runs those is on the list.
pub(crate) fn skill_list(skill: &Skill) -> Option<Vec<String>> {
    let mut list = skill.front.allowed_tools.clone()?;
    let runs_scripts = |rule: &String| {
        let bounds = rule.strip_prefix("Bash");
        bounds.is_some_and(|it| matches!(it, "" | "(*)" | "(:*)") || it.contains("scripts/"))
    };
    if list.iter().any(runs_scripts) && !list.iter().any(|rule| rule == SCRIPT) {
        list.push(SCRIPT.to_owned());
    }
    Some(list)
}

/// The tool that runs what a skill brings.
const SCRIPT: &str = "script";

/// Shows what commands print, and records what they reach.
struct Watcher {
    recorder: Recorder,
    audience: Arc<dyn artel_engine::Audience>,
}

impl Audience for Watcher {
    fn output(&self, live: &Live<'_>) {
        if let Live::Output(_, bytes) = live {
            self.audience.output(&String::from_utf8_lossy(bytes));
        }
    }

    fn passage(&self, passage: &Passage) {
        self.recorder.passage(passage);
    }

    fn waiting(&self, what: &str) {
        self.recorder.waiting(what);
    }
}
