//! The policy in force: settings, the workshop's grants and command rules, and the role.

use std::path::Path;

use artel_config::{MachineProfile, Settings};
use artel_policy::rules::{PolicyRule, PolicyRuleError, PolicyRuleSet};
use artel_policy::{
    BoundAdmission, CommandApproval, ContainmentMode, Grant, GrantFile, GrantScope, Policy,
    PolicyAction, PolicyBound, PolicyContext, PolicyRuling, UncontainedReason, too_broad,
};
use artel_sandbox::SandboxLevel;
use artel_types::{Failure, FailureCode};

use super::role::AgentRole;
use super::tools::declared_names;
use crate::agents::shipped;
use crate::caller::CommandContext;
use crate::runs::walls_of_a_copy;
use crate::trouble::WorkshopFailures;
use crate::workshop::Workshop;

/// Size limit of a rules file, in bytes; far more than anybody writes by hand.
const LARGEST: u64 = 1 << 20;

/// A command to ask the policy about.
#[derive(Debug, Clone, Default)]
pub struct CommandPolicyQuery {
    /// The text that would be passed to `bash -c`.
    pub command: String,
    /// Rules to allow in addition to those in force.
    pub allow: Vec<String>,
    /// The role; `default` if `None`.
    pub role: Option<String>,
}

/// The policy's answer to a command, by the rules alone and in a run where the sandbox may
/// decide.
#[derive(Debug, Clone)]
pub struct CommandPolicyAnswer {
    pub by_rule: PolicyRuling,
    /// The answer in a run with its own tree, on this machine, with these settings and grants.
    pub in_a_run: PolicyRuling,
    /// Why the run would not be contained, if it would not.
    pub uncontained: Option<UncontainedReason>,
}

/// The part of the policy that people set, for display.
#[derive(Debug, Clone)]
pub struct PolicyDetail {
    /// The value of `policy.commands`: allow or ask.
    pub commands: &'static str,
    /// The origin of that setting.
    pub origin: String,
    /// The rules of `Policy/rules.toml`: deny first, then ask, then allow.
    pub rules: Vec<PolicyRuleRow>,
    /// Why that file cannot be used. While it cannot, agents run nothing here.
    pub broken: Option<Failure>,
}

/// A rule that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRuleRow {
    /// deny, ask or allow.
    pub answer: &'static str,
    /// The text of the rule.
    pub rule: String,
    /// Why the person wrote it.
    pub reason: Option<String>,
}

impl Workshop {
    /// Returns the part of the policy that people set.
    pub fn policy_shown(&self) -> PolicyDetail {
        let (set, broken) = match command_rules(self.root()) {
            Ok(set) => (set, None),
            Err(failure) => (PolicyRuleSet::default(), Some(failure)),
        };
        let of = |answer, rules: Vec<PolicyRule>| {
            rules.into_iter().map(move |rule| PolicyRuleRow {
                answer,
                rule: rule.text().to_owned(),
                reason: rule.reason().map(str::to_owned),
            })
        };
        let rules = of("deny", set.deny)
            .chain(of("ask", set.ask))
            .chain(of("allow", set.allow));
        let mut settings = self.settings.rows().into_iter();
        let row = settings.find(|row| row.key == "policy.commands");
        PolicyDetail {
            commands: match commands(&self.settings) {
                CommandApproval::Allow => "allow",
                CommandApproval::Ask => "ask",
            },
            origin: row.map(|row| row.origin).unwrap_or_default(),
            rules: rules.collect(),
            broken,
        }
    }
}

impl CommandContext {
    /// Returns what policy would answer to a command that an agent wants to run in its own
    /// tree.
    pub fn check_command(
        &self,
        check: &CommandPolicyQuery,
    ) -> Result<CommandPolicyAnswer, WorkshopFailures> {
        let mut policy = self.policy(check.role.as_deref())?;
        for text in &check.allow {
            policy.grants.push(Grant {
                rule: rule(text)?,
                scope: GrantScope::Once,
                reason: "named on the command line".to_owned(),
            });
        }
        let engaged = self.sandbox().ok();
        let level = engaged
            .as_ref()
            .map_or(SandboxLevel::None, |(sandbox, _)| sandbox.engaged().level);
        let outside = PolicyContext {
            is_walled: engaged.is_some_and(|(_, demand)| level >= demand.0),
            workspace: self.environment.current_dir().map(ToOwned::to_owned),
            ..PolicyContext::default()
        };
        let inside = PolicyContext {
            walls: Some(walls_of_a_copy(level)),
            ..outside.clone()
        };
        let action = [PolicyAction::Shell(check.command.clone())];
        Ok(CommandPolicyAnswer {
            by_rule: policy.decide("bash", &action, &outside),
            in_a_run: policy.decide("bash", &action, &inside),
            uncontained: policy.uncontained(&inside),
        })
    }

    /// Builds the policy that applies here. Without a workshop, it consists of the settings
    /// and the built-in rules.
    pub(crate) fn policy(&self, role: Option<&str>) -> Result<Policy, WorkshopFailures> {
        let settings = self.settings_here()?;
        let mut policy = Policy {
            commands: commands(&settings),
            contained: containment(&settings),
            grants: self.stored_grants()?,
            role: role.unwrap_or("default").to_owned(),
            ..Policy::default()
        };
        if let Some(root) = self.workshop_root()? {
            let rules = command_rules(&root);
            policy.obey(self.in_force.keep(|it| &it.rules, &root, rules)?);
        }
        if let Some(name) = role {
            policy.apply(self.role(name)?);
        }
        Ok(policy)
    }

    /// Returns the permanent grants of the current workshop, if there is one.
    fn stored_grants(&self) -> Result<Vec<Grant>, WorkshopFailures> {
        let Some(root) = self.workshop_root()? else {
            return Ok(Vec::new());
        };
        let read = super::grants::read(&root).map(|(_, grants)| grants);
        Ok(self.in_force.keep(|it| &it.grants, &root, read)?)
    }

    /// Returns the root folder of the current workshop, if there is one.
    pub(crate) fn workshop_root(&self) -> Result<Option<std::path::PathBuf>, WorkshopFailures> {
        match self.place() {
            Ok(place) => {
                self.refuse_untrusted(place.marker.id, &place.root)?;
                Ok(Some(place.root))
            }
            Err(failure) if failure.code == FailureCode::W001 => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }
}

/// Adds the contents of files to a policy.
trait PolicyExtension {
    fn apply(&mut self, role: AgentRole);
    fn obey(&mut self, rules: PolicyRuleSet);
}

impl PolicyExtension for Policy {
    fn apply(&mut self, role: AgentRole) {
        self.deny.extend(role.deny);
        let mut tools = role.tools;
        if let (Some(tools), Some(secrets)) = (&mut tools, &role.secrets) {
            // The secrets that a role's file gives it need not be in its list of tools as well.
            let rules = secrets
                .iter()
                .map(|name| PolicyRule::parse(&format!("Secret({name})")));
            tools.extend(rules.filter_map(Result::ok));
        }
        self.role_secrets = role.secrets;
        self.bounds.extend(bounds_of(&self.role, tools));
    }

    fn obey(&mut self, rules: PolicyRuleSet) {
        let grant = |rule: PolicyRule| Grant {
            reason: rule.reason().unwrap_or_default().to_owned(),
            scope: GrantScope::Always,
            rule,
        };
        self.grants.extend(rules.allow.into_iter().map(grant));
        self.ask.extend(rules.ask);
        self.deny.extend(rules.deny);
    }
}

/// Returns the bounds of a role: its own list of tools and, for the roles of the git
/// matrix, a bound that keeps the shell from bypassing it.
pub(super) fn bounds_of(role: &str, tools: Option<Vec<PolicyRule>>) -> Vec<PolicyBound> {
    let listed = tools.map(|tools| PolicyBound::of_role(role, tools));
    // People's own skills run as `default`, and other roles have their own lists.
    let is_in_matrix = role != "default" && shipped::text(role).is_some();
    let git = is_in_matrix.then(|| PolicyBound {
        name: format!("git of {role}"),
        admits: BoundAdmission::GitOf(role.to_owned()),
    });
    listed.into_iter().chain(git).collect()
}

/// Reads `Policy/rules.toml`, in which a person writes prefix rules for commands with
/// examples that are checked here. A missing file means no rules.
pub(crate) fn command_rules(root: &Path) -> Result<PolicyRuleSet, Failure> {
    let file = root.join("Policy/rules.toml");
    if !file.exists() {
        return Ok(PolicyRuleSet::default());
    }
    let unread = |why: &dyn std::fmt::Display| {
        broken(&file, &why).advise("mend that place; until then agents run nothing here")
    };
    let text = text_of(&file).map_err(|why| unread(&why))?;
    let mut rules = PolicyRuleSet::from_toml(&text).map_err(|bad| unread(&bad))?;
    // The doctor lists these rules. A ban among them stops everything until it is corrected.
    rules.refuse_misspelled(&declared_names(root));
    let broad = |rule: &&PolicyRule| too_broad(rule).is_some();
    match rules.allow.iter().find(broad) {
        Some(rule) => {
            let why = too_broad(rule).unwrap_or_default();
            Err(unread(&format!("`{}` is too broad: {why}", rule.text())))
        }
        None => Ok(rules),
    }
}

/// Returns the deny and ask rules of `Policy/rules.toml` that cannot be read.
pub(crate) fn unread_bans(root: &Path) -> Vec<PolicyRuleError> {
    let text = text_of(&root.join("Policy/rules.toml"));
    let declared = declared_names(root);
    text.map_or(Vec::new(), |text| {
        PolicyRuleSet::unread_in_toml(&text, &declared)
    })
}

/// Returns the rules of a workshop, granted or in its file.
pub(crate) fn stored_rules(root: &Path) -> Vec<PolicyRule> {
    let set = command_rules(root).unwrap_or_default();
    let granted = super::grants::read(root).map_or(Vec::new(), |(_, grants)| grants);
    let granted = granted.into_iter().map(|grant| grant.rule);
    let written = set.deny.into_iter().chain(set.ask).chain(set.allow);
    written.chain(granted).collect()
}

/// Says what is wrong with a ban that cannot be read: that it grants nothing would be no news.
pub(crate) fn unread_text(bad: &PolicyRuleError) -> String {
    match bad {
        PolicyRuleError::Text {
            rule, why, instead, ..
        } => format!("the rule `{rule}` cannot be read: {why}; try {instead}"),
        PolicyRuleError::File { .. } => bad.to_string(),
    }
}

fn text_of(file: &Path) -> Result<String, String> {
    let bytes = artel_files::read_bounded(file, LARGEST).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn commands(settings: &Settings) -> CommandApproval {
    match settings.hands.commands.value {
        artel_config::CommandApprovalChoice::Allow => CommandApproval::Allow,
        artel_config::CommandApprovalChoice::Ask => CommandApproval::Ask,
    }
}

fn containment(settings: &Settings) -> ContainmentMode {
    let is_on = settings.hands.contained.value == artel_config::ContainmentChoice::On;
    if is_on && settings.hands.profile.value != MachineProfile::Production {
        ContainmentMode::On
    } else {
        ContainmentMode::Off
    }
}

/// Parses a rule that a person wrote.
pub(crate) fn rule(text: &str) -> Result<PolicyRule, Failure> {
    PolicyRule::parse(text).map_err(|bad| {
        Failure::new(FailureCode::P003, bad.to_string())
            .advise("rules look like `Bash(git status:*)`, `Edit(src/**)`, `Read`")
    })
}

/// Returns the failure for a policy file that cannot be used.
pub(super) fn broken(file: &std::path::Path, why: &impl std::fmt::Display) -> Failure {
    let what = format!(
        "`{}` cannot be used, so nothing in it counts",
        file.display()
    );
    Failure::new(FailureCode::P004, what)
        .because(why.to_string())
        .advise("mend that place, or move the file away and grant anew")
}

/// Parses the text of a grants file.
pub(super) fn parse(
    file: &std::path::Path,
    text: &str,
) -> Result<(GrantFile, Vec<Grant>), Failure> {
    GrantFile::parse(text).map_err(|bad| match &bad {
        PolicyRuleError::Text { rule, .. } => {
            let written = [format!("\"{rule}\""), format!("'{rule}'")];
            let has_it = |line: &str| written.iter().any(|rule| line.contains(rule));
            match text.lines().position(has_it) {
                Some(line) => broken(file, &format!("line {}: {bad}", line + 1)),
                None => broken(file, &bad),
            }
        }
        PolicyRuleError::File { .. } => broken(file, &bad),
    })
}
