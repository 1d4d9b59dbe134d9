//! The layers in force: what never happens, what bounds a run, what was granted.
//!
//! *Never* is built in and denies. A *bound* (portal, role, skill, plan) denies what it does not
//! admit. A *grant* allows, when every bound admits; a rule that denies or asks beats it. What
//! nobody granted is asked about. Nothing here widens by itself: all layers are values handed in.

mod containment;
mod git;
mod grants;
mod never;
mod own;
mod path_walls;

use std::path::PathBuf;

use artel_types::{ForeignSource, WallOpening};

pub use containment::{Containment, OpenConnection, SandboxWalls, Uncontained, Walls, WorkFiles};
pub use git::may as git_may;
pub use grants::{Grant, GrantEntry, GrantFile, Scope, too_broad};
pub use path_walls::{PathKeep, PathWall};

use crate::command::{self, Setting};
use crate::rules::{PathUse, Rule, RuleSet};
use crate::{Action, Answer, Decision, GitOperation, Place, Target, path};

/// Everything that decides for one run.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// What bounds the run; each must admit.
    pub bounds: Vec<Bound>,
    /// What was granted.
    pub grants: Vec<Grant>,
    /// What is asked about although it may be granted.
    pub ask: Vec<Rule>,
    /// What is denied.
    pub deny: Vec<Rule>,
    /// Whether commands that can be judged run in the sandbox without a question.
    pub commands: Commands,
    /// Whether the walls judge commands that would be asked about.
    pub contained: Containment,
    /// Whose call it is.
    pub role: String,
    /// The secrets that the role's own file names; what is built in holds where it names none.
    pub role_secrets: Option<Vec<String>>,
    /// The portal that the run works on, which it may read.
    pub portal: Option<String>,
    /// Paths in the run's tree that are a workshop's own, found by what they are: its policy,
    /// roles, skills and inbox. Whatever is in them is never changed.
    pub own_folders: Vec<PathBuf>,
}

/// What is done with commands that can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Commands {
    /// They run, in the sandbox.
    #[default]
    Allow,
    /// The person is asked.
    Ask,
}

/// A limit on what a run may do. What it does not admit is denied.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Whose limit it is, such as `role tester` or `skill csv-report`.
    pub name: String,
    /// What it admits.
    pub admits: Admits,
}

/// What a bound admits.
#[derive(Debug, Clone)]
pub enum Admits {
    /// What one of these rules matches; tools that touch nothing are always admitted.
    Rules(Vec<Rule>),
    /// These operations, on files and in git.
    Operations(Vec<Operation>),
    /// What a step of a plan may touch.
    Step(StepBound),
    /// Of commands those in which `git` does nothing that this role may not do; everything else.
    GitOf(String),
    /// Of what tools do in git, and of secrets, what this role may; everything else.
    RightsOf {
        /// The role.
        role: String,
        /// The secrets that its own file names; what is built in holds where it names none.
        secrets: Option<Vec<String>>,
    },
}

/// What a step of a plan may touch. Reading is not limited by it.
#[derive(Debug, Clone, Default)]
pub struct StepBound {
    /// Files that may change, such as `Edit(src/**)`; any if there are none.
    pub paths: Vec<Rule>,
    /// Files that may not, although the others say so.
    pub kept: Vec<Rule>,
    /// Commands that may run; any that can be judged if there are none.
    pub commands: Vec<Rule>,
    /// Hosts that may be reached.
    pub hosts: Vec<Rule>,
    /// Declared tools that may be used, with the hosts that they declare.
    pub tools: Vec<String>,
    /// The declared tools that there are; others are not bounded by their names.
    pub declared: Vec<String>,
    /// Secrets that may be used.
    pub secrets: Vec<String>,
    /// Whether anything may change at all.
    pub changes: Changes,
}

/// Whether a step may change files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Changes {
    /// It may.
    #[default]
    Some,
    /// It looks and runs checks; what those leave behind is thrown away.
    None,
}

/// What a portal opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Its files are read.
    Read,
    /// Changes may be made in a run's tree.
    Write,
    /// Git is used in a run's tree.
    Git,
}

/// Where a call stands: facts about the run that no model can set.
#[derive(Debug, Clone, Default)]
pub struct Situation {
    /// Whether the sandbox stands at the level that is demanded.
    pub is_walled: bool,
    /// Whether its processes can reach hosts.
    pub has_network: bool,
    /// Whether its processes get secrets.
    pub has_secrets: bool,
    /// What the run, or one that it belongs with, has read that nobody vouched for.
    pub foreign: Vec<ForeignSource>,
    /// The secrets that processes of the run, or of one that it belongs with, were given: what they
    /// left in its files may hold them.
    pub held_secrets: Vec<String>,
    /// The root of the run's tree.
    pub workspace: Option<PathBuf>,
    /// What the run's commands are kept in; nothing where no command is ever contained.
    pub walls: Option<Walls>,
}

impl Policy {
    /// Decides about a call: the strictest answer to anything it would do.
    pub fn decide(&self, tool: &str, actions: &[Action], situation: &Situation) -> Decision {
        // What a line of commands does is not known before; with a way out it is not confined. What a
        // declared tool does was written down by whoever declared it.
        let open = Situation {
            has_network: situation.has_network || actions.iter().any(reaches),
            walls: situation.walls.clone().map(|walls| opened(walls, actions)),
            ..situation.clone()
        };
        let each = actions.iter().map(|action| match action {
            Action::Shell(_) => self.decide_one(tool, action, &open),
            _ => self.decide_one(tool, action, situation),
        });
        let trifecta = trifecta(actions, situation);
        let strictest = each.chain(trifecta).reduce(|strictest, next| {
            if next.answer > strictest.answer {
                next
            } else {
                strictest
            }
        });
        strictest.unwrap_or_else(|| allow("shipped.nothing", "it touches nothing"))
    }

    /// Tells whether a call is asked about each time, whatever a person allowed before: what it
    /// could carry away is another thing each time.
    pub fn asks_every_time(actions: &[Action], situation: &Situation) -> bool {
        trifecta(actions, situation).is_some()
    }

    /// Returns the command rules that name secrets for the commands they are about.
    pub fn secret_rules(&self) -> impl Iterator<Item = &Rule> {
        let granted = self.grants.iter().map(|grant| &grant.rule);
        let all = granted.chain(&self.ask);
        all.filter(|rule| !rule.secrets().is_empty())
    }

    fn decide_one(&self, tool: &str, action: &Action, situation: &Situation) -> Decision {
        let decision = self.decide_by_layers(tool, action, situation);
        match action {
            Action::Nothing => decision,
            _ => self.heed_unreadable(decision),
        }
    }

    /// Nobody knows what a ban or a question was about that cannot be read: nothing is allowed past it.
    fn heed_unreadable(&self, decision: Decision) -> Decision {
        let why = |rule: &Rule| rule.reason().unwrap_or_default().to_owned();
        let unreadable = |rule: &&Rule| rule.is_unreadable();
        if decision.answer != Answer::Deny
            && let Some(rule) = self.deny.iter().find(unreadable)
        {
            return deny(rule.text(), why(rule));
        }
        if decision.answer == Answer::Allow
            && let Some(rule) = self.ask.iter().find(unreadable)
        {
            return ask(rule.text(), why(rule));
        }
        decision
    }

    fn decide_by_layers(&self, tool: &str, action: &Action, situation: &Situation) -> Decision {
        if let Some(never) = never::denies(action) {
            return never;
        }
        if let Some(never) = own::denies(&self.own_folders, action) {
            return never;
        }
        if let Action::Read(target) = action
            && target.place == Place::Skill
            && path::sensitive(&target.path).is_none()
        {
            return allow("shipped.skill", "a skill reads its own files");
        }
        let outside = self.bounds.iter().find(|bound| !bound.admits(tool, action));
        if let Some(bound) = outside {
            return deny(
                format!("bound.{}", bound.name),
                format!("{} does not admit it", bound.name),
            );
        }
        match action {
            Action::Nothing => allow("shipped.nothing", "it touches nothing"),
            Action::Read(target) => self.read(tool, target),
            Action::Write(target) | Action::Delete(target) => self.write(tool, target),
            Action::Shell(text) => self.shell(&command::read(text), situation),
            Action::Words(words) => self.words(tool, words, situation),
            Action::Network(host) => self.named("fetch", host, "network"),
            Action::Secret(name) => self.secret(name),
            Action::Trust { what, .. } => self.named("trust", what, "trust"),
            Action::Git(operation) => self.git(tool, *operation),
        }
    }

    fn read(&self, tool: &str, target: &Target) -> Decision {
        if let Some(ruled) = self.ruled(tool, target, PathUse::Reading) {
            return ruled;
        }
        if let Some(ground) = path::sensitive(&target.path) {
            let reason = format!("`{}` may hold secrets", target.path);
            return ask(ground, reason);
        }
        match &target.place {
            Place::Portal(name) if self.portal.as_ref() != Some(name) => ask(
                "default.other-portal",
                format!("`@{name}` is not the portal of this run"),
            ),
            _ => allow(
                "shipped.read",
                "files of the run's tree and portal can be read",
            ),
        }
    }

    fn write(&self, tool: &str, target: &Target) -> Decision {
        let ruled = self.ruled(tool, target, PathUse::Writing);
        ruled.unwrap_or_else(|| allow("shipped.write", "it is in the run's own tree"))
    }

    /// Returns what the written rules say about a file, if any does.
    fn ruled(&self, tool: &str, target: &Target, path_use: PathUse) -> Option<Decision> {
        let covers = |rule: &&Rule| covers_path(rule, tool, &target.path);
        let catches = |rule: &&Rule| covers(rule) || rule.catches_path(path_use, &target.path);
        if let Some(rule) = self.deny.iter().find(catches) {
            return Some(deny(rule.text(), "a rule denies it"));
        }
        if let Some(rule) = self.ask.iter().find(catches) {
            return Some(ask(rule.text(), "a rule says to ask"));
        }
        // A bare `Read` is what is shipped anyway; only a rule that names files lifts a guard.
        let grants = self.grants.iter().map(|grant| &grant.rule);
        grants
            .filter(|rule| rule.names_something())
            .find(covers)
            .map(|rule| allow(rule.text(), "it was granted"))
    }

    fn shell(&self, reading: &command::Reading, situation: &Situation) -> Decision {
        let mut rules = RuleSet {
            allow: self.grants.iter().map(|grant| grant.rule.clone()).collect(),
            ask: self.ask.clone(),
            deny: self.deny.clone(),
        };
        let is_shipped = self.commands == Commands::Allow && is_confined(situation);
        if is_shipped && let Ok(any) = Rule::parse("Bash") {
            rules.allow.push(any);
        }
        let workspace = situation.workspace.as_deref();
        let decision = command::judge(reading, &rules, Setting::Person, workspace);
        let decision = match decision.answer {
            Answer::Allow if decision.rule == "Bash" && is_shipped => allow(
                "shipped.commands",
                "it can be judged, and runs in the sandbox without network and secrets",
            ),
            Answer::Ask => match containment::blanket(&rules) {
                Some(ruled) => ruled,
                None => self.contain((reading, &rules), decision, situation),
            },
            Answer::Allow | Answer::Deny => decision,
        };
        self.heed_ban_on_reading(decision)
    }

    /// Lets no command run unasked where a rule keeps every file from being read: no wall around all
    /// files leaves a command anything to run on.
    fn heed_ban_on_reading(&self, decision: Decision) -> Decision {
        let mut rules = self.deny.iter().chain(&self.ask);
        match rules.find(|rule| rule.bans_all_reading()) {
            Some(rule) if decision.answer == Answer::Allow => ask(
                rule.text(),
                "the rule is about reading any file, and a command may read what it does not name",
            ),
            _ => decision,
        }
    }

    fn words(&self, tool: &str, words: &[String], situation: &Situation) -> Decision {
        let catches = |rule: &&Rule| rule.admits_tool(tool) || rule.catches_command(words);
        if let Some(rule) = self.deny.iter().find(catches) {
            return deny(rule.text(), "a rule denies it");
        }
        if let Some(rule) = self.ask.iter().find(catches) {
            return ask(rule.text(), "a rule says to ask");
        }
        let covers = |rule: &&Rule| rule.admits_tool(tool) || rule.admits_command(words);
        let granted = self.grants.iter().map(|grant| &grant.rule).find(covers);
        if let Some(rule) = granted {
            return allow(rule.text(), "it was granted");
        }
        if self.commands == Commands::Allow && is_confined(situation) {
            return allow(
                "shipped.commands",
                "its words are known, and it runs in the sandbox without network and secrets",
            );
        }
        ask("default.ask", "nobody granted it")
    }

    fn git(&self, tool: &str, operation: GitOperation) -> Decision {
        let by_role = git::decide(&self.role, operation);
        if by_role.answer == Answer::Deny {
            return by_role;
        }
        let is_about = |rule: &&Rule| git::is_about(rule, tool) || git::is_about_shown(rule, tool);
        if let Some(rule) = self.deny.iter().find(is_about) {
            return deny(rule.text(), "a rule denies it");
        }
        match self.ask.iter().find(is_about) {
            Some(rule) => ask(rule.text(), "a rule says to ask"),
            None => by_role,
        }
    }

    fn secret(&self, name: &str) -> Decision {
        let may_hold = match &self.role_secrets {
            Some(named) => named.iter().any(|it| it == name),
            None => grants::may_hold(&self.role, name),
        };
        if !may_hold {
            let role = &self.role;
            return deny(
                "never.secret-of-another-role",
                format!(
                    "the role `{role}` does not use `{name}`; a person can name it in `secrets:` \
                     of `Agents/{role}.md`"
                ),
            );
        }
        self.named("secret", name, "secret")
    }

    /// Decides about a host or a secret by the rules that name it.
    fn named(&self, tool: &str, name: &str, what: &str) -> Decision {
        let catches = |rule: &&Rule| rule.catches_name(tool, name);
        if let Some(rule) = self.deny.iter().find(catches) {
            return deny(rule.text(), "a rule denies it");
        }
        if let Some(rule) = self.ask.iter().find(catches) {
            return ask(rule.text(), "a rule says to ask");
        }
        let covers = |rule: &&Rule| rule.admits_name(tool, name);
        let granted = self.grants.iter().map(|grant| &grant.rule).find(covers);
        match granted {
            Some(rule) => allow(rule.text(), "it was granted"),
            None => ask(
                format!("default.{what}"),
                format!("nobody granted the {what} `{name}`"),
            ),
        }
    }
}

impl Bound {
    fn admits(&self, tool: &str, action: &Action) -> bool {
        match &self.admits {
            Admits::Rules(rules) => rules_admit(rules, tool, action),
            Admits::GitOf(role) => git::admits(role, action),
            Admits::RightsOf { role, secrets } => match action {
                Action::Git(operation) => git::may(role, *operation),
                Action::Secret(name) => match secrets {
                    Some(named) => named.contains(name),
                    None => grants::may_hold(role, name),
                },
                _ => true,
            },
            Admits::Step(step) => step.admits(tool, action),
            Admits::Operations(operations) => match action {
                Action::Read(_) => operations.contains(&Operation::Read),
                Action::Write(_) | Action::Delete(_) | Action::Shell(_) | Action::Words(_) => {
                    operations.contains(&Operation::Write)
                }
                Action::Git(_) => operations.contains(&Operation::Git),
                Action::Network(_) | Action::Secret(_) | Action::Trust { .. } | Action::Nothing => {
                    true
                }
            },
        }
    }
}

impl StepBound {
    fn admits(&self, tool: &str, action: &Action) -> bool {
        let any =
            |rules: &[Rule], path: &str| rules.iter().any(|rule| covers_path(rule, tool, path));
        let is_declared = self.declared.iter().any(|name| name == tool);
        let is_listed = self.tools.iter().any(|name| name == tool);
        if is_declared && !is_listed {
            return false;
        }
        match action {
            Action::Nothing | Action::Read(_) | Action::Trust { .. } => true,
            Action::Secret(name) => self.secrets.contains(name),
            Action::Write(target) | Action::Delete(target) => {
                self.changes == Changes::Some
                    && !any(&self.kept, &target.path)
                    && (self.paths.is_empty() || any(&self.paths, &target.path))
            }
            Action::Shell(text) => {
                self.commands.is_empty()
                    || command::is_covered(&command::read(text), &self.commands)
            }
            Action::Words(words) => tool != SCRIPT || self.admits_script(words),
            Action::Network(host) => {
                let mut hosts = self.hosts.iter();
                is_declared || hosts.any(|rule| rule.admits_name("fetch", host))
            }
            Action::Git(operation) => {
                self.changes == Changes::Some || *operation == crate::GitOperation::Read
            }
        }
    }

    /// Tells whether a script of a skill may run: where commands are listed, it is one of them.
    fn admits_script(&self, words: &[String]) -> bool {
        let mut commands = self.commands.iter();
        self.commands.is_empty()
            || commands.any(|rule| rule.admits_tool(SCRIPT) || rule.admits_command(words))
    }
}

/// The tool that runs what a skill brings.
const SCRIPT: &str = "script";

fn rules_admit(rules: &[Rule], tool: &str, action: &Action) -> bool {
    match action {
        Action::Nothing | Action::Trust { .. } => true,
        Action::Read(target) | Action::Write(target) | Action::Delete(target) => rules
            .iter()
            .any(|rule| covers_path(rule, tool, &target.path)),
        Action::Shell(text) => command::is_covered(&command::read(text), rules),
        Action::Words(words) => rules
            .iter()
            .any(|rule| rule.admits_tool(tool) || rule.admits_command(words)),
        Action::Network(host) => rules.iter().any(|rule| rule.admits_name("fetch", host)),
        Action::Secret(name) => rules.iter().any(|rule| rule.admits_name("secret", name)),
        Action::Git(_) => rules.iter().any(|rule| rule.admits_tool(tool)),
    }
}

/// Tells whether a rule is about this file. Rules name kinds of tools: `Read` is about whatever
/// reads, `Edit` and `Write` about whatever changes.
fn covers_path(rule: &Rule, tool: &str, path: &str) -> bool {
    let family: &[&str] = match tool {
        "read" | "glob" | "grep" | "list" => &["read"],
        "write" | "edit" | "multi_edit" | "batch_write" | "apply_patch" | "format" => {
            &["edit", "write"]
        }
        // What a tool of git shows of a file is read too.
        _ if tool.starts_with("git_") => &["read"],
        _ => &[],
    };
    let names = family.iter().copied().chain([tool]);
    names.into_iter().any(|name| rule.admits_path(name, path))
}

/// Tells whether nothing that a command does can leave the run.
fn is_confined(situation: &Situation) -> bool {
    situation.is_walled && !situation.has_network && !situation.has_secrets
}

/// Tells whether something reaches a host.
fn reaches(action: &Action) -> bool {
    matches!(action, Action::Network(_))
}

/// Returns the walls as they stand for a call that lets something through them itself.
fn opened(mut walls: Walls, actions: &[Action]) -> Walls {
    walls.openings.extend(openings(actions));
    walls
}

/// Returns what a call lets through the walls of its run.
pub fn openings(actions: &[Action]) -> impl Iterator<Item = WallOpening> + '_ {
    actions.iter().filter_map(|action| match action {
        Action::Network(_) => Some(WallOpening::Network),
        Action::Secret(_) => Some(WallOpening::Secret),
        _ => None,
    })
}

/// What was read from strangers, a secret, and a way out: together they need a person. They are told
/// what was read, which secret it is and where it could go.
fn trifecta(actions: &[Action], situation: &Situation) -> Option<Decision> {
    if situation.foreign.is_empty() {
        return None;
    }
    let hosts = actions.iter().filter_map(|action| match action {
        Action::Network(host) => Some(format!("`{host}`")),
        _ => None,
    });
    let hosts: Vec<String> = hosts.collect();
    let used = actions.iter().filter_map(|action| match action {
        Action::Secret(name) => Some(name),
        _ => None,
    });
    let used: Vec<&String> = used.collect();
    let held = situation.held_secrets.iter();
    let held = held.filter(|name| !used.contains(name));
    let held = held.map(|name| format!("`{name}` (given to an earlier command)"));
    let secrets = used.iter().map(|name| format!("`{name}`"));
    let secrets: Vec<String> = secrets.chain(held).collect();
    let walls = situation.walls.as_ref();
    let keeps_one = walls.is_some_and(|walls| walls.connection == OpenConnection::Held);
    let has_network = situation.has_network || keeps_one || !hosts.is_empty();
    let has_secrets = situation.has_secrets || !secrets.is_empty();
    if !(has_network && has_secrets) {
        return None;
    }
    let hosts = match hosts.is_empty() {
        true => "the hosts that its processes reach".to_owned(),
        false => hosts.join(", "),
    };
    Some(ask(
        "ask.untrusted-network-secret",
        format!(
            "this run has read untrusted content ({}), and this call could send {} to {}",
            sources_shown(&situation.foreign),
            secrets_shown(&secrets),
            hosts,
        ),
    ))
}

fn secrets_shown(secrets: &[String]) -> String {
    match secrets {
        [] => "a secret of its processes".to_owned(),
        [one] => format!("the secret {one}"),
        many => format!("the secrets {}", many.join(", ")),
    }
}

fn sources_shown(sources: &[ForeignSource]) -> String {
    /// A question that lists everything is not read.
    const MOST: usize = 5;
    let shown = sources.iter().take(MOST).map(ForeignSource::to_string);
    let mut shown: Vec<String> = shown.collect();
    if sources.len() > MOST {
        shown.push(format!("{} more", sources.len() - MOST));
    }
    shown.join(", ")
}

fn allow(rule: impl Into<String>, reason: impl Into<String>) -> Decision {
    Decision::new(Answer::Allow, rule, reason)
}

fn ask(rule: impl Into<String>, reason: impl Into<String>) -> Decision {
    Decision::new(Answer::Ask, rule, reason)
}

fn deny(rule: impl Into<String>, reason: impl Into<String>) -> Decision {
    Decision::new(Answer::Deny, rule, reason)
}

#[cfg(test)]
mod path_rules_tests;
#[cfg(test)]
mod tests;
