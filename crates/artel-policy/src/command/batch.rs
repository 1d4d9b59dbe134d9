//! Bulk checks of decisions: one line in, one line out.

use serde::{Deserialize, Serialize};

use super::{CommandOrigin, judge, read};
use crate::rules::{PolicyRuleError, PolicyRuleSet};
use crate::{PolicyAnswer, PolicyRuling};

#[derive(Deserialize)]
struct CommandBatchLine {
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    command: String,
    context: Option<CommandBatchContext>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CommandBatchContext {
    Skill,
    SkillUntrusted,
}

/// The printed form of a decision. Batch checks are always decided by rules, so the output
/// does not say so.
#[derive(Serialize)]
struct CommandBatchReply<'d> {
    decision: PolicyAnswer,
    rule: &'d str,
    reason: &'d str,
}

/// Decides about one JSON object and returns the decision as one line of JSON.
///
/// The rules in the object are the whole policy. A line that cannot be judged is denied.
pub fn judge_line(line: &str) -> String {
    let decision = match serde_json::from_str::<CommandBatchLine>(line) {
        Ok(case) => case.decide(),
        Err(cause) => PolicyRuling::new(
            PolicyAnswer::Deny,
            "batch.unreadable",
            format!("this line cannot be judged: {cause}"),
        ),
    };
    let printed = CommandBatchReply {
        decision: decision.answer,
        rule: &decision.rule,
        reason: &decision.reason,
    };
    serde_json::to_string(&printed).unwrap_or_else(|_| {
        r#"{"decision":"deny","rule":"batch.unwritable","reason":"the decision cannot be written"}"#
            .to_owned()
    })
}

impl CommandBatchLine {
    fn decide(&self) -> PolicyRuling {
        let (mut rules, mut bad) = PolicyRuleSet::parse(&self.allow, &self.ask, &self.deny);
        bad.extend(rules.refuse_misspelled(&[]));
        let setting = match self.context {
            None => CommandOrigin::Person,
            Some(CommandBatchContext::Skill) => CommandOrigin::Skill,
            Some(CommandBatchContext::SkillUntrusted) => CommandOrigin::SkillUntrusted,
        };
        let mut decision = judge(&read(&self.command), &rules, setting, None);
        if !bad.is_empty() {
            let reports: Vec<String> = bad.iter().map(PolicyRuleError::to_string).collect();
            decision.reason = format!("{} ({})", decision.reason, reports.join("; "));
        }
        decision
    }
}
