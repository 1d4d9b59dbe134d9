//! The layers in force: what is never allowed, what bounds a run, what was granted.
//!
//! *Never* is built in and denies. A *bound* (portal, role, skill, plan) denies everything
//! it does not admit. A *grant* allows, if every bound admits; a rule that denies or asks
//! beats it. Anything not granted is asked about. No layer widens by itself: all of them
//! are values passed in.

mod containment;
mod git;
mod grants;
mod never;
mod own;
mod path_walls;

use std::path::PathBuf;

use artel_types::{ForeignSource, SandboxOpening};

pub use containment::{
    BackgroundConnection, ContainmentMode, RunWalls, SandboxWalls, UncontainedReason, WorkFileOwner,
};
pub use git::may as git_may;
pub use grants::{Grant, GrantEntry, GrantFile, GrantScope, too_broad};
pub use path_walls::{PathWall, PathWallKind};

use crate::command::{self, CommandOrigin};
use crate::rules::{PathUse, PolicyRule, PolicyRuleSet};
use crate::{FileTarget, GitOperation, PolicyAction, PolicyAnswer, PolicyRuling, TargetTree, path};

/// Everything that decides about the calls of one run.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// The bounds of the run; all of them must admit an action.
    pub bounds: Vec<PolicyBound>,
    /// The rules that were granted.
    pub grants: Vec<Grant>,
    /// Rules for what is asked about even if it is granted.
    pub ask: Vec<PolicyRule>,
    /// Rules for what is denied.
    pub deny: Vec<PolicyRule>,
    /// Whether commands that can be judged run in the sandbox without a question.
    pub commands: CommandApproval,
    /// Whether the walls decide about commands that would otherwise be asked about.
    pub contained: ContainmentMode,
    /// The role that makes the call.
    pub role: String,
    /// The secrets named in the role's own file. If it names none, the built-in list applies.
    pub role_secrets: Option<Vec<String>>,
    /// The portal the run works on, which it may read.
    pub portal: Option<String>,
    /// Paths in the run's tree that belong to a workshop, recognised by what they are: its
    /// policy, roles, skills and inbox. Nothing in them is ever changed.
    pub own_folders: Vec<PathBuf>,
}

/// The handling of commands that can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommandApproval {
    /// They run in the sandbox.
    #[default]
    Allow,
    /// The person is asked.
    Ask,
}

/// A limit on what a run may do. Anything it does not admit is denied.
#[derive(Debug, Clone)]
pub struct PolicyBound {
    /// The owner of the limit, such as `role tester` or `skill csv-report`.
    pub name: String,
    /// The actions it admits.
    pub admits: BoundAdmission,
}

/// The actions that a bound admits.
#[derive(Debug, Clone)]
pub enum BoundAdmission {
    /// Actions that match one of these rules. Tools that touch nothing are always admitted.
    Rules(Vec<PolicyRule>),
    /// These operations, on files and in git.
    Operations(Vec<PortalPermission>),
    /// The actions that a step of a plan allows.
    Step(StepBound),
    /// Everything except commands in which `git` does something this role may not do.
    GitOf(String),
    /// Everything except git tools and secrets that this role may not use.
    RightsOf {
        /// The name of the role.
        role: String,
        /// The secrets named in the role's own file. If it names none, the built-in list
        /// applies.
        secrets: Option<Vec<String>>,
    },
}

/// Limits on what a step of a plan may touch. Reading is not limited.
#[derive(Debug, Clone, Default)]
pub struct StepBound {
    /// Files that may change, such as `Edit(src/**)`. If empty, any file may.
    pub paths: Vec<PolicyRule>,
    /// Files that may not change even if `paths` lists them.
    pub kept: Vec<PolicyRule>,
    /// Commands that may run. If empty, any command that can be judged may.
    pub commands: Vec<PolicyRule>,
    /// Hosts that may be reached.
    pub hosts: Vec<PolicyRule>,
    /// Declared tools that may be used, with the hosts they declare.
    pub tools: Vec<String>,
    /// All declared tools; other tools are not bounded by their names.
    pub declared: Vec<String>,
    /// Secrets that may be used.
    pub secrets: Vec<String>,
    /// Whether the step may change anything at all.
    pub changes: StepWriteAccess,
}

/// The permission of a step to change files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepWriteAccess {
    /// The step may change files.
    #[default]
    Some,
    /// The step looks and runs checks; the files they leave behind are thrown away.
    None,
}

/// A permission that a portal grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PortalPermission {
    /// Read the portal's files.
    Read,
    /// Make changes in a run's tree.
    Write,
    /// Use git in a run's tree.
    Git,
}

/// Facts about the run that a decision depends on and that no model can set.
#[derive(Debug, Clone, Default)]
pub struct PolicyContext {
    /// Whether the sandbox is in force at the required level.
    pub is_walled: bool,
    /// Whether the run's processes can reach hosts.
    pub has_network: bool,
    /// Whether the run's processes get secrets.
    pub has_secrets: bool,
    /// Content that nobody vouched for and that the run, or a related run, has read.
    pub foreign: Vec<ForeignSource>,
    /// The secrets given to processes of the run or of a related run. Files they left behind
    /// may hold these secrets.
    pub held_secrets: Vec<String>,
    /// The root of the run's tree.
    pub workspace: Option<PathBuf>,
    /// The walls around the run's commands, or `None` where no command is ever contained.
    pub walls: Option<RunWalls>,
}

impl Policy {
    /// Decides about a call: returns the strictest answer to any of its actions.
    pub fn decide(
        &self,
        tool: &str,
        actions: &[PolicyAction],
        situation: &PolicyContext,
    ) -> PolicyRuling {
        // The effects of a command line are not known in advance, so with network access it is
        // not confined. The effects of a declared tool were written down by its author.
        let open = PolicyContext {
            has_network: situation.has_network || actions.iter().any(reaches),
            walls: situation.walls.clone().map(|walls| opened(walls, actions)),
            ..situation.clone()
        };
        let each = actions.iter().map(|action| match action {
            PolicyAction::Shell(_) => self.decide_one(tool, action, &open),
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

    /// Returns whether a call is asked about every time, whatever the person allowed before,
    /// because it could carry away different data each time.
    pub fn asks_every_time(actions: &[PolicyAction], situation: &PolicyContext) -> bool {
        trifecta(actions, situation).is_some()
    }

    /// Returns the command rules that name secrets for their commands.
    pub fn secret_rules(&self) -> impl Iterator<Item = &PolicyRule> {
        let granted = self.grants.iter().map(|grant| &grant.rule);
        let all = granted.chain(&self.ask);
        all.filter(|rule| !rule.secrets().is_empty())
    }

    fn decide_one(
        &self,
        tool: &str,
        action: &PolicyAction,
        situation: &PolicyContext,
    ) -> PolicyRuling {
        let decision = self.decide_by_layers(tool, action, situation);
        match action {
            PolicyAction::Nothing => decision,
            _ => self.heed_unreadable(decision),
        }
    }

    /// Allows nothing past a ban or ask rule that cannot be read: nobody knows what it was
    /// about.
    fn heed_unreadable(&self, decision: PolicyRuling) -> PolicyRuling {
        let why = |rule: &PolicyRule| rule.reason().unwrap_or_default().to_owned();
        let unreadable = |rule: &&PolicyRule| rule.is_unreadable();
        if decision.answer != PolicyAnswer::Deny
            && let Some(rule) = self.deny.iter().find(unreadable)
        {
            return deny(rule.text(), why(rule));
        }
        if decision.answer == PolicyAnswer::Allow
            && let Some(rule) = self.ask.iter().find(unreadable)
        {
            return ask(rule.text(), why(rule));
        }
        decision
    }

    fn decide_by_layers(
        &self,
        tool: &str,
        action: &PolicyAction,
        situation: &PolicyContext,
    ) -> PolicyRuling {
        if let Some(never) = never::denies(action) {
            return never;
        }
        if let Some(never) = own::denies(&self.own_folders, action) {
            return never;
        }
        if let PolicyAction::Read(target) = action
            && target.place == TargetTree::Skill
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
            PolicyAction::Nothing => allow("shipped.nothing", "it touches nothing"),
            PolicyAction::Read(target) => self.read(tool, target),
            PolicyAction::Write(target) | PolicyAction::Delete(target) => self.write(tool, target),
            PolicyAction::Shell(text) => self.shell(&command::read(text), situation),
            PolicyAction::Words(words) => self.words(tool, words, situation),
            PolicyAction::Network(host) => self.named("fetch", host, "network"),
            PolicyAction::Secret(name) => self.secret(name),
            PolicyAction::Trust { what, .. } => self.named("trust", what, "trust"),
            PolicyAction::Git(operation) => self.git(tool, *operation),
        }
    }

    fn read(&self, tool: &str, target: &FileTarget) -> PolicyRuling {
        if let Some(ruled) = self.ruled(tool, target, PathUse::Reading) {
            return ruled;
        }
        if let Some(ground) = path::sensitive(&target.path) {
            let reason = format!("`{}` may hold secrets", target.path);
            return ask(ground, reason);
        }
        match &target.place {
            TargetTree::Portal(name) if self.portal.as_ref() != Some(name) => ask(
                "default.other-portal",
                format!("`@{name}` is not the portal of this run"),
            ),
            _ => allow(
                "shipped.read",
                "files of the run's tree and portal can be read",
            ),
        }
    }

    fn write(&self, tool: &str, target: &FileTarget) -> PolicyRuling {
        let ruled = self.ruled(tool, target, PathUse::Writing);
        ruled.unwrap_or_else(|| allow("shipped.write", "it is in the run's own tree"))
    }

    /// Returns what the written rules say about a file, or `None` if no rule matches.
    fn ruled(&self, tool: &str, target: &FileTarget, path_use: PathUse) -> Option<PolicyRuling> {
        let covers = |rule: &&PolicyRule| covers_path(rule, tool, &target.path);
        let catches =
            |rule: &&PolicyRule| covers(rule) || rule.catches_path(path_use, &target.path);
        if let Some(rule) = self.deny.iter().find(catches) {
            return Some(deny(rule.text(), "a rule denies it"));
        }
        if let Some(rule) = self.ask.iter().find(catches) {
            return Some(ask(rule.text(), "a rule says to ask"));
        }
        // A bare `Read` is allowed anyway; only a rule that names files lifts a built-in
        // guard.
        let grants = self.grants.iter().map(|grant| &grant.rule);
        grants
            .filter(|rule| rule.names_something())
            .find(covers)
            .map(|rule| allow(rule.text(), "it was granted"))
    }

    fn shell(&self, reading: &command::ShellAnalysis, situation: &PolicyContext) -> PolicyRuling {
        let mut rules = PolicyRuleSet {
            allow: self.grants.iter().map(|grant| grant.rule.clone()).collect(),
            ask: self.ask.clone(),
            deny: self.deny.clone(),
        };
        let is_shipped = self.commands == CommandApproval::Allow && is_confined(situation);
        if is_shipped && let Ok(any) = PolicyRule::parse("Bash") {
            rules.allow.push(any);
        }
        let workspace = situation.workspace.as_deref();
        let decision = command::judge(reading, &rules, CommandOrigin::Person, workspace);
        let decision = match decision.answer {
            PolicyAnswer::Allow if decision.rule == "Bash" && is_shipped => allow(
                "shipped.commands",
                "it can be judged, and runs in the sandbox without network and secrets",
            ),
            PolicyAnswer::Ask => match containment::blanket(&rules) {
                Some(ruled) => ruled,
                None => self.contain((reading, &rules), decision, situation),
            },
            PolicyAnswer::Allow | PolicyAnswer::Deny => decision,
        };
        self.heed_ban_on_reading(decision)
    }

    /// Lets no command run unasked if a rule keeps every file from being read: a wall around
    /// all files would leave a command nothing to run on.
    fn heed_ban_on_reading(&self, decision: PolicyRuling) -> PolicyRuling {
        let mut rules = self.deny.iter().chain(&self.ask);
        match rules.find(|rule| rule.bans_all_reading()) {
            Some(rule) if decision.answer == PolicyAnswer::Allow => ask(
                rule.text(),
                "the rule is about reading any file, and a command may read what it does not name",
            ),
            _ => decision,
        }
    }

    fn words(&self, tool: &str, words: &[String], situation: &PolicyContext) -> PolicyRuling {
        let catches = |rule: &&PolicyRule| rule.admits_tool(tool) || rule.catches_command(words);
        if let Some(rule) = self.deny.iter().find(catches) {
            return deny(rule.text(), "a rule denies it");
        }
        if let Some(rule) = self.ask.iter().find(catches) {
            return ask(rule.text(), "a rule says to ask");
        }
        let covers = |rule: &&PolicyRule| rule.admits_tool(tool) || rule.admits_command(words);
        let granted = self.grants.iter().map(|grant| &grant.rule).find(covers);
        if let Some(rule) = granted {
            return allow(rule.text(), "it was granted");
        }
        if self.commands == CommandApproval::Allow && is_confined(situation) {
            return allow(
                "shipped.commands",
                "its words are known, and it runs in the sandbox without network and secrets",
            );
        }
        ask("default.ask", "nobody granted it")
    }

    fn git(&self, tool: &str, operation: GitOperation) -> PolicyRuling {
        let by_role = git::decide(&self.role, operation);
        if by_role.answer == PolicyAnswer::Deny {
            return by_role;
        }
        let is_about =
            |rule: &&PolicyRule| git::is_about(rule, tool) || git::is_about_shown(rule, tool);
        if let Some(rule) = self.deny.iter().find(is_about) {
            return deny(rule.text(), "a rule denies it");
        }
        match self.ask.iter().find(is_about) {
            Some(rule) => ask(rule.text(), "a rule says to ask"),
            None => by_role,
        }
    }

    fn secret(&self, name: &str) -> PolicyRuling {
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

    /// Decides about a host, a secret or trusted content by the rules that name it.
    fn named(&self, tool: &str, name: &str, what: &str) -> PolicyRuling {
        let catches = |rule: &&PolicyRule| rule.catches_name(tool, name);
        if let Some(rule) = self.deny.iter().find(catches) {
            return deny(rule.text(), "a rule denies it");
        }
        if let Some(rule) = self.ask.iter().find(catches) {
            return ask(rule.text(), "a rule says to ask");
        }
        let covers = |rule: &&PolicyRule| rule.admits_name(tool, name);
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

impl PolicyBound {
    fn admits(&self, tool: &str, action: &PolicyAction) -> bool {
        match &self.admits {
            BoundAdmission::Rules(rules) => rules_admit(rules, tool, action),
            BoundAdmission::GitOf(role) => git::admits(role, action),
            BoundAdmission::RightsOf { role, secrets } => match action {
                PolicyAction::Git(operation) => git::may(role, *operation),
                PolicyAction::Secret(name) => match secrets {
                    Some(named) => named.contains(name),
                    None => grants::may_hold(role, name),
                },
                _ => true,
            },
            BoundAdmission::Step(step) => step.admits(tool, action),
            BoundAdmission::Operations(operations) => match action {
                PolicyAction::Read(_) => operations.contains(&PortalPermission::Read),
                PolicyAction::Write(_)
                | PolicyAction::Delete(_)
                | PolicyAction::Shell(_)
                | PolicyAction::Words(_) => operations.contains(&PortalPermission::Write),
                PolicyAction::Git(_) => operations.contains(&PortalPermission::Git),
                PolicyAction::Network(_)
                | PolicyAction::Secret(_)
                | PolicyAction::Trust { .. }
                | PolicyAction::Nothing => true,
            },
        }
    }
}

impl StepBound {
    fn admits(&self, tool: &str, action: &PolicyAction) -> bool {
        let any = |rules: &[PolicyRule], path: &str| {
            rules.iter().any(|rule| covers_path(rule, tool, path))
        };
        let is_declared = self.declared.iter().any(|name| name == tool);
        let is_listed = self.tools.iter().any(|name| name == tool);
        if is_declared && !is_listed {
            return false;
        }
        match action {
            PolicyAction::Nothing | PolicyAction::Read(_) | PolicyAction::Trust { .. } => true,
            PolicyAction::Secret(name) => self.secrets.contains(name),
            PolicyAction::Write(target) | PolicyAction::Delete(target) => {
                self.changes == StepWriteAccess::Some
                    && !any(&self.kept, &target.path)
                    && (self.paths.is_empty() || any(&self.paths, &target.path))
            }
            PolicyAction::Shell(text) => {
                self.commands.is_empty()
                    || command::is_covered(&command::read(text), &self.commands)
            }
            PolicyAction::Words(words) => tool != SCRIPT || self.admits_script(words),
            PolicyAction::Network(host) => {
                let mut hosts = self.hosts.iter();
                is_declared || hosts.any(|rule| rule.admits_name("fetch", host))
            }
            PolicyAction::Git(operation) => {
                self.changes == StepWriteAccess::Some || *operation == crate::GitOperation::Read
            }
        }
    }

    /// Returns whether a script of a skill may run: where commands are listed, it must be one
    /// of them.
    fn admits_script(&self, words: &[String]) -> bool {
        let mut commands = self.commands.iter();
        self.commands.is_empty()
            || commands.any(|rule| rule.admits_tool(SCRIPT) || rule.admits_command(words))
    }
}

/// The tool that runs the scripts of a skill.
const SCRIPT: &str = "script";

fn rules_admit(rules: &[PolicyRule], tool: &str, action: &PolicyAction) -> bool {
    match action {
        PolicyAction::Nothing | PolicyAction::Trust { .. } => true,
        PolicyAction::Read(target) | PolicyAction::Write(target) | PolicyAction::Delete(target) => {
            rules
                .iter()
                .any(|rule| covers_path(rule, tool, &target.path))
        }
        PolicyAction::Shell(text) => command::is_covered(&command::read(text), rules),
        PolicyAction::Words(words) => rules
            .iter()
            .any(|rule| rule.admits_tool(tool) || rule.admits_command(words)),
        PolicyAction::Network(host) => rules.iter().any(|rule| rule.admits_name("fetch", host)),
        PolicyAction::Secret(name) => rules.iter().any(|rule| rule.admits_name("secret", name)),
        PolicyAction::Git(_) => rules.iter().any(|rule| rule.admits_tool(tool)),
    }
}

/// Returns whether a rule covers this file. Rules name kinds of tools: `Read` covers every
/// tool that reads, `Edit` and `Write` every tool that changes files.
fn covers_path(rule: &PolicyRule, tool: &str, path: &str) -> bool {
    let family: &[&str] = match tool {
        "read" | "glob" | "grep" | "list" => &["read"],
        "write" | "edit" | "multi_edit" | "batch_write" | "apply_patch" | "format" => {
            &["edit", "write"]
        }
        // Files that a git tool shows count as read.
        _ if tool.starts_with("git_") => &["read"],
        _ => &[],
    };
    let names = family.iter().copied().chain([tool]);
    names.into_iter().any(|name| rule.admits_path(name, path))
}

/// Returns whether none of a command's effects can leave the run.
fn is_confined(situation: &PolicyContext) -> bool {
    situation.is_walled && !situation.has_network && !situation.has_secrets
}

/// Returns whether an action connects to a host.
fn reaches(action: &PolicyAction) -> bool {
    matches!(action, PolicyAction::Network(_))
}

/// Returns the walls during a call that itself opens them.
fn opened(mut walls: RunWalls, actions: &[PolicyAction]) -> RunWalls {
    walls.openings.extend(openings(actions));
    walls
}

/// Returns the openings that a call makes in the walls of its run.
pub fn openings(actions: &[PolicyAction]) -> impl Iterator<Item = SandboxOpening> + '_ {
    actions.iter().filter_map(|action| match action {
        PolicyAction::Network(_) => Some(SandboxOpening::Network),
        PolicyAction::Secret(_) => Some(SandboxOpening::Secret),
        _ => None,
    })
}

/// Asks if untrusted content was read, a secret is available and there is a way out: that
/// combination needs a person. The question names the content, the secret and the
/// destination.
fn trifecta(actions: &[PolicyAction], situation: &PolicyContext) -> Option<PolicyRuling> {
    if situation.foreign.is_empty() {
        return None;
    }
    let hosts = actions.iter().filter_map(|action| match action {
        PolicyAction::Network(host) => Some(format!("`{host}`")),
        _ => None,
    });
    let hosts: Vec<String> = hosts.collect();
    let used = actions.iter().filter_map(|action| match action {
        PolicyAction::Secret(name) => Some(name),
        _ => None,
    });
    let used: Vec<&String> = used.collect();
    let held = situation.held_secrets.iter();
    let held = held.filter(|name| !used.contains(name));
    let held = held.map(|name| format!("`{name}` (given to an earlier command)"));
    let secrets = used.iter().map(|name| format!("`{name}`"));
    let secrets: Vec<String> = secrets.chain(held).collect();
    let walls = situation.walls.as_ref();
    let keeps_one = walls.is_some_and(|walls| walls.connection == BackgroundConnection::Held);
    let has_network = situation.has_network || keeps_one || !hosts.is_empty();
    let has_secrets = situation.has_secrets || !secrets.is_empty();
    if !(has_network && has_secrets) {
        return None;
    }
    let hosts = if hosts.is_empty() {
        "the hosts that its processes reach".to_owned()
    } else {
        hosts.join(", ")
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

fn allow(rule: impl Into<String>, reason: impl Into<String>) -> PolicyRuling {
    PolicyRuling::new(PolicyAnswer::Allow, rule, reason)
}

fn ask(rule: impl Into<String>, reason: impl Into<String>) -> PolicyRuling {
    PolicyRuling::new(PolicyAnswer::Ask, rule, reason)
}

fn deny(rule: impl Into<String>, reason: impl Into<String>) -> PolicyRuling {
    PolicyRuling::new(PolicyAnswer::Deny, rule, reason)
}

#[cfg(test)]
mod path_rules_tests;
#[cfg(test)]
mod tests;
