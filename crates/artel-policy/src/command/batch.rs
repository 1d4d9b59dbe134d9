//! Bulk checks of decisions: one line in, one line out.

use serde::{Deserialize, Serialize};

use super::{Setting, judge, read};
use crate::rules::{BadRule, RuleSet};
use crate::{Answer, Decision};

#[derive(Deserialize)]
struct Case {
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    command: String,
    context: Option<Context>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Context {
    Skill,
    SkillUntrusted,
}

/// The printed form of a decision. Batch checks are always decided by rules, so the output
/// does not say so.
#[derive(Serialize)]
struct Printed<'d> {
    decision: Answer,
    rule: &'d str,
    reason: &'d str,
}

/// Decides about one JSON object and returns the decision as one line of JSON.
///
/// The rules in the object are the whole policy. A line that cannot be judged is denied.
pub fn judge_line(line: &str) -> String {
    let decision = match serde_json::from_str::<Case>(line) {
        Ok(case) => case.decide(),
        Err(cause) => Decision::new(
            Answer::Deny,
            "batch.unreadable",
            format!("this line cannot be judged: {cause}"),
        ),
    };
    let printed = Printed {
        decision: decision.answer,
        rule: &decision.rule,
        reason: &decision.reason,
    };
    serde_json::to_string(&printed).unwrap_or_else(|_| {
        r#"{"decision":"deny","rule":"batch.unwritable","reason":"the decision cannot be written"}"#
            .to_owned()
    })
}

impl Case {
    fn decide(&self) -> Decision {
        let (mut rules, mut bad) = RuleSet::parse(&self.allow, &self.ask, &self.deny);
        bad.extend(rules.refuse_misspelled(&[]));
        let setting = match self.context {
            None => Setting::Person,
            Some(Context::Skill) => Setting::Skill,
            Some(Context::SkillUntrusted) => Setting::SkillUntrusted,
        };
        let mut decision = judge(&read(&self.command), &rules, setting, None);
        if !bad.is_empty() {
            let reports: Vec<String> = bad.iter().map(BadRule::to_string).collect();
            decision.reason = format!("{} ({})", decision.reason, reports.join("; "));
        }
        decision
    }
}
