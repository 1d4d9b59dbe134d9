//! Commands in a skill's text. They are judged, run in the sandbox before the first turn,
//! and replaced by their output.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use artel_engine::{RunJournal, RunJournalEntry};
use artel_policy::command::{self, CommandOrigin};
use artel_policy::rules::{PolicyRule, PolicyRuleSet};
use artel_policy::{Policy, PolicyAction, PolicyAnswer, PolicyContext};
use artel_skills::{Skill, prepare};
use artel_tools::{ToolContext, ToolErrorKind, ToolProcessSpec, run_order};
use artel_types::{EventOutcome, Failure, SkillInjected};

/// Time limit of one command.
const LONGEST: Duration = Duration::from_secs(5);

/// Maximum number of characters of a command's output that are inserted.
const MOST_CHARS: usize = 10_000;

/// Maximum number of commands per skill. They run at the same time, so together they take
/// no longer than one. Further commands are replaced by a refusal.
const MOST_COMMANDS: usize = 20;

/// Judges and runs the commands of a skill.
pub(crate) struct SkillCommandRunner {
    pub(crate) skill: Arc<Skill>,
    pub(crate) variables: Arc<prepare::SkillVariables>,
    pub(crate) rules: Vec<PolicyRule>,
    pub(crate) policy: Policy,
    pub(crate) situation: PolicyContext,
    /// A tool context whose sandbox only reads.
    pub(crate) bench: ToolContext,
}

/// The text that replaces a command, and how it came about.
struct SkillCommandOutput {
    text: String,
    rule: String,
    outcome: EventOutcome,
    millis: u64,
}

impl SkillCommandRunner {
    /// Runs each distinct command once, all at the same time, and records each result.
    pub(crate) async fn run(
        self,
        chronicle: &RunJournal,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let commands: Vec<String> = prepare::commands(&self.skill.body)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let this = Arc::new(self);
        let mut running = Vec::new();
        for (index, command) in commands.iter().enumerate() {
            let (this, command) = (Arc::clone(&this), command.clone());
            running.push(tokio::task::spawn_blocking(move || {
                if index < MOST_COMMANDS {
                    this.one(&command)
                } else {
                    SkillCommandOutput::refused(&command, "skill.too-many-commands")
                }
            }));
        }
        let mut injected = BTreeMap::new();
        let mut entries = Vec::new();
        for (command, running) in commands.into_iter().zip(running) {
            let done = running.await.unwrap_or_else(|error| SkillCommandOutput {
                text: format!("[Command execution error: {error}]"),
                rule: "skill.error".to_owned(),
                outcome: EventOutcome::Failed,
                millis: 0,
            });
            let output = chronicle.keep(done.text.clone())?;
            let fact = SkillInjected {
                skill: this.skill.name.clone(),
                command: command.clone(),
                output,
                rule: done.rule,
                millis: done.millis,
            };
            entries.push(RunJournalEntry::quiet(fact).ending(done.outcome));
            injected.insert(command, done.text);
        }
        if !entries.is_empty() {
            chronicle.append(entries).await?;
        }
        Ok(injected)
    }

    fn one(&self, command: &str) -> SkillCommandOutput {
        let rule = match self.refusal(command) {
            Ok(rule) => rule,
            Err(rule) => return SkillCommandOutput::refused(command, &rule),
        };
        let Ok(words) = prepare::argv(command, &self.variables) else {
            return SkillCommandOutput::refused(command, "skill.form");
        };
        let order = ToolProcessSpec {
            timeout: Some(LONGEST),
            is_exact: true,
            read: vec![self.skill.folder.clone()],
            ..ToolProcessSpec::of(words)
        };
        if let Err(trouble) = self.bench.ensure_skill_as_trusted() {
            return SkillCommandOutput {
                text: format!("[Command not allowed: {}]", trouble.what),
                rule: "skill.changed".to_owned(),
                outcome: EventOutcome::Denied,
                millis: 0,
            };
        }
        let (text, outcome, millis) = match run_order(&self.bench, order) {
            Ok(seen) => {
                let millis = seen.data["millis"].as_u64().unwrap_or(0);
                let file = |name: &str| read_start(seen.data[name].as_str());
                match seen.data["exit"].as_i64() {
                    Some(0) => (cut(&file("stdout")), EventOutcome::Done, millis),
                    _ => {
                        let (error, output) = (file("stderr"), file("stdout"));
                        let said = if error.trim().is_empty() {
                            output
                        } else {
                            error
                        };
                        let said = cut(said.trim());
                        (
                            format!("[Command failed: {said}]"),
                            EventOutcome::Failed,
                            millis,
                        )
                    }
                }
            }
            Err(trouble) if trouble.kind == ToolErrorKind::TimedOut => {
                let text = format!("[Command timed out after {}s]", LONGEST.as_secs());
                (text, EventOutcome::Failed, 5_000)
            }
            Err(trouble) => {
                let text = format!("[Command execution error: {}]", trouble.what);
                (text, EventOutcome::Failed, 0)
            }
        };
        SkillCommandOutput {
            text,
            rule,
            outcome,
            millis,
        }
    }

    /// Returns the rule that allows a command as `Ok`, or the rule that refuses it as `Err`.
    fn refusal(&self, command: &str) -> Result<String, String> {
        admitted(command, &self.rules, &self.policy, &self.situation)
    }
}

/// Returns the rule that allows a skill's command as `Ok`, or the rule that refuses it as
/// `Err`. A command must have a plain form, be on the skill's own list, and be allowed by
/// the policy in force.
pub(crate) fn admitted(
    command: &str,
    rules: &[PolicyRule],
    policy: &Policy,
    situation: &PolicyContext,
) -> Result<String, String> {
    prepare::check_command(command).map_err(|_| "skill.form".to_owned())?;
    let rules = PolicyRuleSet {
        allow: rules.to_vec(),
        ..PolicyRuleSet::default()
    };
    let reading = command::read(command);
    let workspace = situation.workspace.as_deref();
    let listed = command::judge(&reading, &rules, CommandOrigin::Skill, workspace);
    if listed.answer != PolicyAnswer::Allow {
        return Err(listed.rule);
    }
    let action = [PolicyAction::Shell(command.to_owned())];
    let held = policy.decide("bash", &action, situation);
    if held.answer != PolicyAnswer::Allow {
        return Err(held.rule);
    }
    Ok(listed.rule)
}

impl SkillCommandOutput {
    fn refused(command: &str, rule: &str) -> Self {
        Self {
            text: format!("[Command not allowed: {command}]"),
            rule: rule.to_owned(),
            outcome: EventOutcome::Denied,
            millis: 0,
        }
    }
}

/// Returns the beginning of a command's output.
fn read_start(path: Option<&str>) -> String {
    use std::io::Read as _;
    let Some(file) = path.and_then(|path| std::fs::File::open(Path::new(path)).ok()) else {
        return String::new();
    };
    let mut bytes = Vec::new();
    // Output that cannot be read counts as empty.
    drop(file.take(4 * MOST_CHARS as u64 + 4).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}\n... (truncated at {MOST_CHARS} chars)", &text[..end]),
        None => text.trim_end_matches('\n').to_owned(),
    }
}
