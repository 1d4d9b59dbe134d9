//! What a person is asked: the record, the reason, and the answers that are offered.

use artel_policy::rules::Rule;
use artel_policy::{Action, Decision, Grant, Place, Record, Scope, command, too_broad};
use artel_types::{Actor, GrantOffer, GrantReach, Granted, Outcome, ToolAnswered, literal_pattern};

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
    /// The rules that may be granted beyond this once, narrow ones only; together they spare the
    /// whole question, so where one part has none, there are none.
    pub offers: Vec<Offer>,
    /// Names the very call, which can be allowed for the run where no rule can say it; nothing
    /// where it is asked about every time.
    pub exactly: Option<String>,
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
    /// Yes.
    Yes {
        /// How far it reaches: what the question offers is granted that far.
        scope: Scope,
        /// Why, in the person's words.
        reason: String,
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
    /// A yes for this once.
    pub fn once() -> Self {
        Self::Yes {
            scope: Scope::Once,
            reason: String::new(),
        }
    }

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
    pub fn fact(&self, question: &Question) -> (ToolAnswered, Outcome) {
        let mut fact = ToolAnswered {
            call: question.call.clone(),
            record: question.record.hash().as_str().to_owned(),
            answer: String::new(),
            reason: String::new(),
            granted: None,
            offered: None,
        };
        let outcome = match &self.reply {
            // Where nobody can answer, the answer is no.
            Reply::Left | Reply::Nobody => {
                "nobody".clone_into(&mut fact.answer);
                fact.offered = question.storable();
                Outcome::Denied
            }
            Reply::No { reason } => {
                "no".clone_into(&mut fact.answer);
                fact.reason.clone_from(reason);
                Outcome::Denied
            }
            Reply::Yes { scope, reason } => {
                fact.granted = question.granted(*scope);
                let reach = fact.granted.as_ref().map(|granted| granted.reach.as_str());
                reach.unwrap_or("once").clone_into(&mut fact.answer);
                fact.reason.clone_from(reason);
                Outcome::Allowed
            }
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
            exactly: None,
        }
    }

    /// Returns how far a yes may reach beyond once, nearest first.
    pub fn scopes(&self) -> Vec<Scope> {
        let Some((first, rest)) = self.offers.split_first() else {
            return self.exactly.iter().map(|_| Scope::Run).collect();
        };
        let is_everywhere = |scope: &&Scope| rest.iter().all(|offer| offer.scopes.contains(scope));
        first.scopes.iter().filter(is_everywhere).copied().collect()
    }

    /// Returns the yes that reaches as far as said.
    pub fn yes(&self, scope: Scope, reason: &str) -> Reply {
        Reply::Yes {
            scope,
            reason: reason.to_owned(),
        }
    }

    /// Returns what is on record of it, for whoever answers from elsewhere.
    pub fn offer(&self) -> Option<GrantOffer> {
        let reaches = self.scopes().into_iter().filter_map(reach_of);
        Some(GrantOffer {
            rules: self.offers.iter().map(|it| it.rule.clone()).collect(),
            exactly: self.exactly.clone()?,
            reaches: reaches.collect(),
        })
    }

    /// Returns what a yes grants that reaches as far as said; nothing beyond what is offered.
    fn granted(&self, scope: Scope) -> Option<Granted> {
        self.offer()?.taken(reach_of(scope)?)
    }

    /// Returns the rules that would allow it for good; nothing where there are none.
    fn storable(&self) -> Option<Vec<String>> {
        let granted = self.granted(Scope::Always)?;
        (!granted.rules.is_empty()).then_some(granted.rules)
    }

    /// Returns the offers as grants for the run.
    pub(super) fn grants(&self) -> impl Iterator<Item = Grant> {
        self.offers.iter().filter_map(|offer| {
            Some(Grant {
                rule: Rule::parse(&offer.rule).ok()?,
                scope: Scope::Run,
                reason: String::new(),
            })
        })
    }
}

fn reach_of(scope: Scope) -> Option<GrantReach> {
    match scope {
        Scope::Once => None,
        Scope::Run => Some(GrantReach::Run),
        Scope::Always => Some(GrantReach::Always),
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
            format!("Read({})", literal_pattern(&target.path))
        }
        _ => return None,
    };
    let parsed = Rule::parse(&rule).ok()?;
    if matches!(action, Action::Read(target) if !parsed.admits_path("read", &target.path)) {
        return None;
    }
    let mut scopes = vec![Scope::Run];
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
