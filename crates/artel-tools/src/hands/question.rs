//! The question to a person: the record, the reason, and the answers offered.

use artel_policy::rules::PolicyRule;
use artel_policy::{
    ConsentRecord, Grant, GrantScope, PolicyAction, PolicyRuling, TargetTree, command, too_broad,
};
use artel_types::{
    AcceptedGrant, Actor, EventOutcome, GrantOffer, GrantReach, ToolAnswered, literal_pattern,
};

/// The question whether a call may be carried out.
#[derive(Debug, Clone)]
pub struct ToolApprovalQuestion {
    /// The id of the call.
    pub call: String,
    pub tool: String,
    /// The decision that made the question necessary.
    pub decision: PolicyRuling,
    /// The complete record of what the call would do.
    pub record: ConsentRecord,
    /// The narrow rules that may be granted beyond this one call. Together they make the whole
    /// question unnecessary, so if one part has no such rule, the list is empty.
    pub offers: Vec<ToolApprovalOffer>,
    /// Identifies exactly this call, which can be allowed for the run if no rule can express
    /// it. `None` if the question is put every time.
    pub exactly: Option<String>,
}

/// A rule that would make the next question unnecessary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolApprovalOffer {
    /// The rule as it would be written.
    pub rule: String,
    /// The scopes that it may have.
    pub scopes: Vec<GrantScope>,
}

/// A person's answer.
#[derive(Debug, Clone)]
pub enum ToolApprovalAnswer {
    Yes {
        /// The scope in which everything that the question offers is granted.
        scope: GrantScope,
        /// The reason, in the person's words.
        reason: String,
    },
    No {
        /// The reason, in the person's words.
        reason: String,
    },
    /// The person left without an answer: the question stays open, and is put again when the
    /// run is resumed.
    Left,
    /// Nobody can answer, so the answer is no.
    Nobody,
}

/// An answer, and who gave it.
#[derive(Debug, Clone)]
pub struct AttributedToolApproval {
    pub reply: ToolApprovalAnswer,
    /// The actor who answered, or `None` if the answer follows from earlier decisions.
    pub by: Option<Actor>,
    /// Whether the journal already has the answer.
    pub is_recorded: bool,
}

impl ToolApprovalAnswer {
    /// Returns a yes for this one call.
    pub fn once() -> Self {
        Self::Yes {
            scope: GrantScope::Once,
            reason: String::new(),
        }
    }

    /// Adds the actor who answered.
    pub fn by(self, actor: Actor) -> AttributedToolApproval {
        AttributedToolApproval {
            reply: self,
            by: Some(actor),
            is_recorded: false,
        }
    }
}

impl From<ToolApprovalAnswer> for AttributedToolApproval {
    fn from(reply: ToolApprovalAnswer) -> Self {
        Self {
            reply,
            by: None,
            is_recorded: false,
        }
    }
}

impl AttributedToolApproval {
    /// Returns the fact to record about the answer, with its outcome.
    pub fn fact(&self, question: &ToolApprovalQuestion) -> (ToolAnswered, EventOutcome) {
        let mut fact = ToolAnswered {
            call: question.call.clone(),
            record: question.record.hash().as_str().to_owned(),
            answer: String::new(),
            reason: String::new(),
            granted: None,
            offered: None,
        };
        let outcome = match &self.reply {
            // Without anybody to answer, the answer is no.
            ToolApprovalAnswer::Left | ToolApprovalAnswer::Nobody => {
                "nobody".clone_into(&mut fact.answer);
                fact.offered = question.storable();
                EventOutcome::Denied
            }
            ToolApprovalAnswer::No { reason } => {
                "no".clone_into(&mut fact.answer);
                fact.reason.clone_from(reason);
                EventOutcome::Denied
            }
            ToolApprovalAnswer::Yes { scope, reason } => {
                fact.granted = question.granted(*scope);
                let reach = fact.granted.as_ref().map(|granted| granted.reach.as_str());
                reach.unwrap_or("once").clone_into(&mut fact.answer);
                fact.reason.clone_from(reason);
                EventOutcome::Allowed
            }
        };
        (fact, outcome)
    }
}

impl ToolApprovalQuestion {
    pub(super) fn about<'a>(
        (call, tool): (&str, &str),
        decision: &PolicyRuling,
        record: &ConsentRecord,
        actions: impl Iterator<Item = &'a PolicyAction>,
    ) -> Self {
        Self {
            call: call.to_owned(),
            tool: tool.to_owned(),
            decision: decision.clone(),
            record: record.clone(),
            offers: actions
                .map(|action| offer(tool, action))
                .collect::<Option<_>>()
                .unwrap_or_default(),
            exactly: None,
        }
    }

    /// Returns the scopes beyond this one call that a yes may have, narrowest first.
    pub fn scopes(&self) -> Vec<GrantScope> {
        let Some((first, rest)) = self.offers.split_first() else {
            return self.exactly.iter().map(|_| GrantScope::Run).collect();
        };
        let is_everywhere =
            |scope: &&GrantScope| rest.iter().all(|offer| offer.scopes.contains(scope));
        first.scopes.iter().filter(is_everywhere).copied().collect()
    }

    /// Returns a yes with the given scope.
    pub fn yes(&self, scope: GrantScope, reason: &str) -> ToolApprovalAnswer {
        ToolApprovalAnswer::Yes {
            scope,
            reason: reason.to_owned(),
        }
    }

    /// Returns the recorded form of the offer, for a surface elsewhere that answers the
    /// question.
    pub fn offer(&self) -> Option<GrantOffer> {
        let reaches = self.scopes().into_iter().filter_map(reach_of);
        Some(GrantOffer {
            rules: self.offers.iter().map(|it| it.rule.clone()).collect(),
            exactly: self.exactly.clone()?,
            reaches: reaches.collect(),
        })
    }

    /// Returns what a yes with this scope grants, but never more than is offered.
    fn granted(&self, scope: GrantScope) -> Option<AcceptedGrant> {
        self.offer()?.taken(reach_of(scope)?)
    }

    /// Returns the rules that would allow it permanently, or `None` if there are none.
    fn storable(&self) -> Option<Vec<String>> {
        let granted = self.granted(GrantScope::Always)?;
        (!granted.rules.is_empty()).then_some(granted.rules)
    }

    /// Returns the offers as grants for the run.
    pub(super) fn grants(&self) -> impl Iterator<Item = Grant> {
        self.offers.iter().filter_map(|offer| {
            Some(Grant {
                rule: PolicyRule::parse(&offer.rule).ok()?,
                scope: GrantScope::Run,
                reason: String::new(),
            })
        })
    }
}

fn reach_of(scope: GrantScope) -> Option<GrantReach> {
    match scope {
        GrantScope::Once => None,
        GrantScope::Run => Some(GrantReach::Run),
        GrantScope::Always => Some(GrantReach::Always),
    }
}

/// Returns the narrowest useful rule for an action, or `None` if only a broad one would
/// help.
fn offer(tool: &str, action: &PolicyAction) -> Option<ToolApprovalOffer> {
    let rule = match action {
        PolicyAction::Shell(text) => shell_rule(text)?,
        PolicyAction::Network(host) => format!("Fetch({})", globset::escape(host)),
        PolicyAction::Secret(name) => format!("Secret({name})"),
        PolicyAction::Trust { what, .. } => format!("Trust({what})"),
        // The words of these tools come from the author or the project; a script's name does not.
        PolicyAction::Words(_) if tool != "script" => tool.to_owned(),
        // A rule does not state which tree a file is in.
        PolicyAction::Read(target) if target.place == TargetTree::Worktree => {
            format!("Read({})", literal_pattern(&target.path))
        }
        _ => return None,
    };
    let parsed = PolicyRule::parse(&rule).ok()?;
    if matches!(action, PolicyAction::Read(target) if !parsed.admits_path("read", &target.path)) {
        return None;
    }
    let mut scopes = vec![GrantScope::Run];
    if too_broad(&parsed).is_none() {
        scopes.push(GrantScope::Always);
    }
    Some(ToolApprovalOffer { rule, scopes })
}

/// Returns a rule for two words and any continuation, or else for exactly these words.
fn shell_rule(text: &str) -> Option<String> {
    let reading = command::read(text);
    let words = command::plain_argv(&reading)?;
    let is_word = |word: &String| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
        !word.starts_with('-') && word.chars().all(is_plain)
    };
    let short = words.get(..2).filter(|short| short.iter().all(is_word));
    let open = short.map(|short| format!("Bash({}:*)", short.join(" ")));
    let is_narrow =
        |text: &String| PolicyRule::parse(text).is_ok_and(|rule| too_broad(&rule).is_none());
    open.filter(is_narrow)
        .or_else(|| Some(format!("Bash({})", words.join(" "))))
}
