//! What a person is asked: the record, the reason, and the answers that are offered.

use artel_policy::rules::Rule;
use artel_policy::{Action, Decision, Grant, Place, Record, Scope, command, too_broad};
use artel_types::{Actor, Outcome, ToolAnswered};

/// A question whether a call may be carried out.
#[derive(Debug, Clone)]
pub struct Question {
    /// The call that it is about.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Why it is asked.
    pub decision: Decision,
    /// What would be done, completely.
    pub record: Record,
    /// What may be granted beyond this once, narrow rules only; together they spare the whole
    /// question, so where one part has none, nothing is offered.
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
    /// Yes, once, or with grants that hold longer.
    Yes {
        /// What is granted besides this call; nothing for once.
        grants: Vec<Grant>,
    },
    /// No.
    No {
        /// Why, in the person's words.
        reason: String,
    },
    /// Whoever was asked left without an answer: the question stays open, and is put again when
    /// the run is taken up.
    Left,
    /// Nobody can answer, so the answer is no.
    Nobody,
}

/// An answer with whoever gave it.
#[derive(Debug, Clone)]
pub struct Said {
    /// What was answered.
    pub reply: Reply,
    /// Who did; nobody in particular where it follows from what was settled before.
    pub by: Option<Actor>,
    /// Whether the journal has it already.
    pub is_recorded: bool,
}

impl Reply {
    /// Says who answered.
    pub fn by(self, actor: Actor) -> Said {
        Said {
            reply: self,
            by: Some(actor),
            is_recorded: false,
        }
    }
}

impl From<Reply> for Said {
    fn from(reply: Reply) -> Self {
        Self {
            reply,
            by: None,
            is_recorded: false,
        }
    }
}

impl Said {
    /// Returns what is put on record about it, and how it came out.
    pub fn fact(&self, call: &str, record: &str) -> (ToolAnswered, Outcome) {
        let (answer, reason, outcome) = match &self.reply {
            // Where nobody can answer, the answer is no.
            Reply::Left | Reply::Nobody => ("nobody", "", Outcome::Denied),
            Reply::No { reason } => ("no", reason.as_str(), Outcome::Denied),
            Reply::Yes { grants } => match grants.first() {
                None => ("once", "", Outcome::Allowed),
                Some(grant) => (grant.scope.word(), grant.reason.as_str(), Outcome::Allowed),
            },
        };
        let fact = ToolAnswered {
            call: call.to_owned(),
            record: record.to_owned(),
            answer: answer.to_owned(),
            reason: reason.to_owned(),
        };
        (fact, outcome)
    }
}

impl Question {
    pub(super) fn about<'a>(
        (call, tool): (&str, &str),
        decision: &Decision,
        record: &Record,
        actions: impl Iterator<Item = &'a Action>,
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
        }
    }

    /// Returns how far a yes to all of the offers may reach; nothing beyond once without offers.
    pub fn scopes(&self) -> Vec<Scope> {
        let Some((first, rest)) = self.offers.split_first() else {
            return Vec::new();
        };
        let is_everywhere = |scope: &&Scope| rest.iter().all(|offer| offer.scopes.contains(scope));
        first.scopes.iter().filter(is_everywhere).copied().collect()
    }

    /// Returns the yes that grants every offer as far as said.
    pub fn yes(&self, scope: Scope, reason: &str) -> Reply {
        let grant = |offer: &Offer| {
            Some(Grant {
                rule: Rule::parse(&offer.rule).ok()?,
                scope,
                reason: reason.to_owned(),
            })
        };
        let grants = match scope {
            Scope::Once => Vec::new(),
            Scope::Run | Scope::Session | Scope::Always => {
                self.offers.iter().filter_map(grant).collect()
            }
        };
        Reply::Yes { grants }
    }
}

/// Returns the narrowest useful rule for an action. Where only a broad one would help, none.
fn offer(tool: &str, action: &Action) -> Option<Offer> {
    let rule = match action {
        Action::Shell(text) => shell_rule(text)?,
        Action::Network(host) => format!("Fetch({})", globset::escape(host)),
        Action::Secret(name) => format!("Secret({name})"),
        Action::Trust { what, .. } => format!("Trust({what})"),
        // The words of these tools are the author's or the project's; a script's name is not.
        Action::Words(_) if tool != "script" => tool.to_owned(),
        // A rule says nothing of the tree that a file is in.
        Action::Read(target) if target.place == Place::Worktree => {
            format!("Read({})", globset::escape(&target.path))
        }
        _ => return None,
    };
    let parsed = Rule::parse(&rule).ok()?;
    if matches!(action, Action::Read(target) if !parsed.admits_path("read", &target.path)) {
        return None;
    }
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
