//! A plan: steps that answer a request, each with what it may touch and what proves it.
//!
//! One structure is the truth. The Markdown that people read is rendered from it and read back
//! into it; approval is bound to the hash of its JSON.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Money;

/// A plan as the architect returns it and a person approves it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What it does, in a line.
    pub title: String,
    /// The sort of change: feat, fix, docs, refactor, test, style, chore.
    #[serde(default)]
    pub kind: ChangeSort,
    /// What will be different afterwards.
    #[serde(default)]
    pub overview: String,
    /// Why it is done this way.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Files that are expected to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PlannedFile>,
    /// The steps, in an order in which they could be done one after another.
    pub steps: Vec<PlanStep>,
    /// What could go wrong, and what is done about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<String>,
    /// What is still open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// What was read for it: files, reports, notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// What could not be read, or only in part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A file that a plan expects to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFile {
    /// Its path in the project.
    pub path: String,
    /// What happens to it.
    #[serde(default)]
    pub action: FileAction,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// One unit of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    /// Names it for good, also when others are put before it: lower case, digits, hyphens.
    pub id: String,
    /// What it does, in a line.
    pub title: String,
    /// The role that does it.
    #[serde(default = "engineer")]
    pub role: String,
    /// What the worker is told.
    pub work: String,
    /// What the verifier is told.
    #[serde(default)]
    pub check: String,
    /// The steps that have to have passed before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How it is verified.
    #[serde(default)]
    pub verify: Verify,
    /// What it may touch and use.
    #[serde(default)]
    pub scope: StepScope,
    /// What has to be shown before it counts as done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Names of values that it hands on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gives: Vec<String>,
    /// Names of values of earlier steps that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// Tokens that it is expected to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How urgent it is beside the others that could begin; as usual where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Urgency>,
}

/// What a step may touch and use: the part of the contract that policy and sandbox are made from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepScope {
    /// Files that it may make, change and delete, as patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Commands that it may run, as rules such as `cargo test:*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Hosts that it may reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Declared tools that it may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Secrets of the key store that its tools and commands may be given, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// How many turns one attempt has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// What it may cost, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What has to hold afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Claim>,
}

impl StepScope {
    /// Returns what an approval lets the step do: the act, what is named for it, and what it means
    /// where nothing is. Tools and secrets are told where there are any: few steps have them.
    pub fn admits(&self) -> Vec<(&'static str, &[String], &'static str)> {
        let mut admits: Vec<(_, &[String], _)> = vec![
            ("change", &self.paths, "any file of the project"),
            ("run", &self.commands, "any command that policy allows"),
            ("reach", &self.network, "no host"),
        ];
        let seldom: [(_, &[String], _); 2] = [
            ("use", &self.tools, "no declared tool"),
            ("use the secret", &self.secrets, "no secret"),
        ];
        admits.extend(seldom.into_iter().filter(|(_, names, _)| !names.is_empty()));
        admits
    }

    /// Returns what the step may cost.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "casts from floating point stop at the ends of the range, which is what is meant"
    )]
    pub fn cost(&self) -> Option<Money> {
        self.cost_usd
            .map(|dollars| Money((dollars * 1e6).round() as u64))
    }
}

/// Something that was asked for or has to hold, and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What.
    pub text: String,
    /// Where it comes from.
    #[serde(default)]
    pub source: Source,
}

/// Something that shows that a step is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// What sort of proof it is.
    pub kind: EvidenceKind,
    /// The command, the file or the test.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident default $default:ident {
        $( $(#[$variant_doc:meta])* $variant:ident $word:literal, )+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $( $(#[$variant_doc])* #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// Every one there is.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// Returns the word for it.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                Self::ALL.iter().copied().find(|it| it.as_str() == text).ok_or(())
            }
        }
    };
}

words! {
    /// What sort of change a branch holds; its name begins with it.
    ChangeSort default Feat {
        /// Something new.
        Feat "feat",
        /// Something mended.
        Fix "fix",
        /// Text for people.
        Docs "docs",
        /// The same, said better.
        Refactor "refactor",
        /// Tests.
        Test "test",
        /// Looks.
        Style "style",
        /// Upkeep.
        Chore "chore",
    }
}

words! {
    /// What happens to a file.
    FileAction default Modify {
        /// It is new.
        Create "create",
        /// It is changed.
        Modify "modify",
        /// It goes.
        Delete "delete",
    }
}

words! {
    /// How a step is verified.
    Verify default Evaluator {
        /// By the runtime's own checks alone.
        None "none",
        /// By another agent, with a verdict.
        Evaluator "evaluator",
        /// Criteria, failing tests, work, then inspector and tester.
        Tdd "tdd",
    }
}

words! {
    /// Where a claim comes from.
    Source default Inferred {
        /// It stands in the request.
        Explicit "explicit",
        /// It was read between the lines.
        Inferred "inferred",
        /// The person said so when asked.
        Answered "answered",
    }
}

words! {
    /// What sort of proof shows that a step is done.
    EvidenceKind default Tests {
        /// The project's tests pass, and at least one fails without the change.
        Tests "tests",
        /// A test that fails now: it shows a fault that a later step mends.
        Red "red",
        /// A command ends well.
        Command "command",
        /// A file is there, and was not before or differs.
        File "file",
    }
}

words! {
    /// How urgent a request is, or a step beside others.
    Urgency default Normal {
        /// Whenever there is time.
        Low "low",
        /// As usual.
        Normal "normal",
        /// Before others.
        High "high",
        /// Before everything.
        Critical "critical",
    }
}

words! {
    /// How large a request is, which decides its path.
    Size default Work {
        /// Done at once, with a plan of one line on record.
        Trivial "trivial",
        /// Answered; nothing is changed.
        Question "question",
        /// Planned first.
        Work "work",
    }
}

words! {
    /// How far a plan has come.
    PlanState default Exploring {
        /// The architect reads.
        Exploring "exploring",
        /// The architect writes, or writes anew.
        Drafting "drafting",
        /// A person has to decide.
        Review "review",
        /// A person agreed; nothing has begun.
        Approved "approved",
        /// Its steps are being done.
        Running "running",
        /// Its changeset is there.
        Done "done",
        /// It could not be done.
        Failed "failed",
        /// A person said no.
        Rejected "rejected",
        /// A person called it off.
        Cancelled "cancelled",
    }
}

words! {
    /// How far a step has come.
    StepState default Waiting {
        /// For others, or for its turn.
        Waiting "waiting",
        /// Its worker is at it.
        Running "running",
        /// Others look at what was done.
        Verifying "verifying",
        /// It passed.
        Done "done",
        /// It did not.
        Failed "failed",
        /// It was not begun, because of another or a person.
        Skipped "skipped",
    }
}

words! {
    /// How much a finding matters.
    Severity default Info {
        /// It must be mended.
        Blocker "blocker",
        /// It has to be mended.
        Error "error",
        /// It should be.
        Warning "warning",
        /// It can be.
        Info "info",
    }
}

words! {
    /// Where in a run a proof was made.
    ProofPlace default Baseline {
        /// Before the first step.
        Baseline "baseline",
        /// With the tests of a step, before its work.
        Red "red",
        /// After the work of a step.
        Green "green",
        /// With the work of a step taken back and its tests kept.
        TakenBack "taken-back",
        /// With the work, and everything that checks the project as it was before the first step.
        AsBefore "as-before",
        /// With the work, and of the tests only what was there when the work began.
        GivenTests "given-tests",
        /// On a clean checkout of the branch.
        Final "final",
    }
}

impl StepState {
    /// Returns the mark in a plan's file.
    pub fn checkbox(self) -> &'static str {
        match self {
            Self::Waiting => "[ ]",
            Self::Running | Self::Verifying => "[~]",
            Self::Done => "[x]",
            Self::Failed => "[!]",
            Self::Skipped => "[-]",
        }
    }
}

impl Severity {
    /// Tells whether a step with such a finding has not passed.
    pub fn fails(self) -> bool {
        matches!(self, Self::Blocker | Self::Error)
    }
}

impl PlanState {
    /// Tells whether nothing more happens to it.
    pub fn is_over(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Failed | Self::Rejected | Self::Cancelled
        )
    }
}

impl PlanStep {
    /// Returns how urgent it is beside the others that could begin.
    pub fn urgency(&self) -> Urgency {
        self.priority.unwrap_or_default()
    }
}

impl Plan {
    /// Returns a step by its name.
    pub fn step(&self, id: &str) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Returns the number that people see, from 1.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.steps
            .iter()
            .position(|step| step.id == id)
            .map(|at| at + 1)
    }
}

/// Something that an inspector found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Names it within its step, such as `f1`.
    #[serde(default)]
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// The file.
    #[serde(default)]
    pub file: String,
    /// The line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Why it matters.
    pub why: String,
    /// What would mend it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
}

impl Finding {
    /// Tells whether another verdict says the same. Names are given anew in each verdict, so they
    /// say nothing about it; words of how to mend it may differ.
    pub fn is_same(&self, other: &Self) -> bool {
        let said = |it: &Self| (it.severity, it.file.clone(), it.line, it.why.clone());
        said(self) == said(other)
    }

    /// Says in a line what was found, and where.
    pub fn told(&self) -> String {
        let line = self.line.map_or(String::new(), |line| format!(":{line}"));
        match self.file.as_str() {
            "" => format!("{}: {}", self.severity, self.why),
            file => format!("{} in {file}{line}: {}", self.severity, self.why),
        }
    }
}

/// The tests of a proof by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestNames {
    /// Those that passed.
    pub passed: Vec<String>,
    /// Those that were skipped.
    pub skipped: Vec<String>,
}

/// A test that failed in a proof.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FailedTest {
    /// Its name.
    pub name: String,
    /// What it said, in a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

fn engineer() -> String {
    "engineer".to_owned()
}
