//! What a person is asked: the record, the reason, and the answers that are offered.

use artel_policy::rules::Rule;
use artel_policy::{Action, Decision, Grant, Record, Scope, command, too_broad};

use crate::Tool;

/// A question whether a call may be carried out.
#[derive(Debug, Clone)]
pub struct Question {
    /// The tool.
    pub tool: String,
    /// Why it is asked.
    pub decision: Decision,
    /// What would be done, completely.
    pub record: Record,
    /// What may be granted beyond this once, narrow rules only.
    pub offers: Vec<Offer>,
}

/// A rule that would spare the next question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The rule, as it would be written.
    pub rule: String,
    /// How far it may reach.
    pub scopes: Vec<Scope>,
}

/// What a person answered.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Yes, once, or with a grant that holds longer.
    Yes {
        /// What is granted besides this call.
        grant: Option<Grant>,
    },
    /// No.
    No {
        /// Why, in the person's words.
        reason: String,
    },
}

impl Question {
    pub(super) fn about(
        tool: &dyn Tool,
        decision: &Decision,
        record: &Record,
        actions: &[Action],
    ) -> Self {
        let offers = actions.iter().filter_map(offer);
        Self {
            tool: tool.card().name.clone(),
            decision: decision.clone(),
            record: record.clone(),
            offers: offers.collect(),
        }
    }
}

/// Returns the narrowest useful rule for an action. Where only a broad one would help, none.
fn offer(action: &Action) -> Option<Offer> {
    let rule = match action {
        Action::Shell(text) => shell_rule(text)?,
        Action::Network(host) => format!("Fetch(domain:{host})"),
        Action::Secret(name) => format!("Secret({name})"),
        Action::Trust { what, .. } => format!("Trust({what})"),
        Action::Read(target) => format!("Read({})", target.path),
        _ => return None,
    };
    let parsed = Rule::parse(&rule).ok()?;
    let mut scopes = vec![Scope::Run, Scope::Session];
    if too_broad(&parsed).is_none() {
        scopes.push(Scope::Always);
    }
    Some(Offer { rule, scopes })
}

/// Two words and whatever follows, or else exactly these words.
fn shell_rule(text: &str) -> Option<String> {
    let reading = command::read(text);
    let words = command::plain_argv(&reading)?;
    let is_word = |word: &String| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
        !word.starts_with('-') && word.chars().all(is_plain)
    };
    let short = words.get(..2).filter(|short| short.iter().all(is_word));
    let open = short.map(|short| format!("Bash({}:*)", short.join(" ")));
    let is_narrow = |text: &String| Rule::parse(text).is_ok_and(|rule| too_broad(&rule).is_none());
    open.filter(is_narrow)
        .or_else(|| Some(format!("Bash({})", words.join(" "))))
}
