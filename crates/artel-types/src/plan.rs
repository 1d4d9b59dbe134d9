//! A plan: steps that answer a request, each with what it may touch and what proves it.
//!
//! This structure is the only source of truth. The Markdown that people read is rendered
//! from it and parsed back into it; an approval is bound to the hash of its JSON.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Money;

/// A plan as the architect returns it and a person approves it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the plan does, in one line.
    pub title: String,
    /// The type of change: feat, fix, docs, refactor, test, style, chore.
    #[serde(default)]
    pub kind: CommitType,
    /// What will be different afterwards.
    #[serde(default)]
    pub overview: String,
    /// Why it is done this way.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Files that are expected to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PlannedFile>,
    /// The steps, in an order in which they could be carried out one after another.
    pub steps: Vec<PlanStep>,
    /// What could go wrong, and what is done about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<String>,
    /// Questions that are still open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// What was read for the plan: files, reports, notes.
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
    /// The path within the project.
    pub path: String,
    /// What happens to the file.
    #[serde(default)]
    pub action: PlannedFileAction,
    /// Why the file changes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// One unit of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    /// The permanent id of the step, which stays when other steps are put before it: lower
    /// case, digits, hyphens.
    pub id: String,
    /// What the step does, in one line.
    pub title: String,
    /// The role that carries it out.
    #[serde(default = "engineer")]
    pub role: String,
    /// The instructions for the worker.
    pub work: String,
    /// The instructions for the verifier.
    #[serde(default)]
    pub check: String,
    /// The steps that must have passed before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How the step is verified.
    #[serde(default)]
    pub verify: StepVerification,
    /// What the step may touch and use.
    #[serde(default)]
    pub scope: StepScope,
    /// What has to be shown before the step counts as done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<StepEvidence>,
    /// Names of the values that it hands on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gives: Vec<String>,
    /// Names of the values of earlier steps that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// Number of tokens that it is expected to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How urgent it is compared with other steps that could begin; `None` means normal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Urgency>,
}

/// What a step may touch and use: the part of the contract that policy and sandbox are
/// built from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepScope {
    /// Files that it may create, change and delete, as patterns.
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
    /// Number of turns that one attempt may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// The most it may cost, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Criteria that must hold afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Requirement>,
}

impl StepScope {
    /// Returns what an approval lets the step do: the act, the things named for it, and
    /// what an empty list means. Tools and secrets are only listed if there are any,
    /// because few steps have them.
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

    /// Returns the most the step may cost.
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

/// Something that was requested or must hold, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The statement itself.
    pub text: String,
    /// Where it comes from.
    #[serde(default)]
    pub source: RequirementSource,
}

/// Something that shows that a step is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepEvidence {
    /// The kind of proof.
    pub kind: StepEvidenceKind,
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
            /// Every value.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// Returns the word that stands for the value in JSON.
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
    /// The type of change that a branch holds; the branch name begins with it.
    CommitType default Feat {
        /// Something new.
        Feat "feat",
        /// Something repaired.
        Fix "fix",
        /// Text for people.
        Docs "docs",
        /// The same behaviour, expressed better.
        Refactor "refactor",
        /// Tests.
        Test "test",
        /// Appearance.
        Style "style",
        /// Maintenance.
        Chore "chore",
    }
}

words! {
    /// The planned change to a file.
    PlannedFileAction default Modify {
        /// The file is new.
        Create "create",
        /// The file is changed.
        Modify "modify",
        /// The file is deleted.
        Delete "delete",
    }
}

words! {
    /// The way a step is verified.
    StepVerification default Evaluator {
        /// By the runtime's own checks alone.
        None "none",
        /// By another agent, with a verdict.
        Evaluator "evaluator",
        /// Criteria, failing tests, work, then inspector and tester.
        Tdd "tdd",
    }
}

words! {
    /// The origin of a claim.
    RequirementSource default Inferred {
        /// The request says it.
        Explicit "explicit",
        /// It was read between the lines.
        Inferred "inferred",
        /// The person said it when asked.
        Answered "answered",
    }
}

words! {
    /// The kind of proof that shows that a step is done.
    StepEvidenceKind default Tests {
        /// The project's tests pass, and at least one fails without the change.
        Tests "tests",
        /// A test that fails now and shows a fault that a later step repairs.
        Red "red",
        /// A command succeeds.
        Command "command",
        /// A file exists that did not exist before or differs from before.
        File "file",
    }
}

words! {
    /// The urgency of a request, or of a step compared with others.
    Urgency default Normal {
        /// When there is time.
        Low "low",
        /// As usual.
        Normal "normal",
        /// Before others.
        High "high",
        /// Before everything else.
        Critical "critical",
    }
}

words! {
    /// The size of a request, which decides how it is handled.
    RequestSize default Work {
        /// Done at once, with a one-line plan on record.
        Trivial "trivial",
        /// Answered; nothing is changed.
        Question "question",
        /// Planned first.
        Work "work",
    }
}

words! {
    /// The state of a plan.
    PlanState default Exploring {
        /// The architect is reading.
        Exploring "exploring",
        /// The architect is writing or rewriting the plan.
        Drafting "drafting",
        /// A person has to decide.
        Review "review",
        /// A person agreed, but nothing has begun.
        Approved "approved",
        /// Its steps are being carried out.
        Running "running",
        /// Its changeset exists.
        Done "done",
        /// It could not be completed.
        Failed "failed",
        /// A person said no.
        Rejected "rejected",
        /// A person cancelled it.
        Cancelled "cancelled",
    }
}

words! {
    /// The state of a step.
    StepState default Waiting {
        /// Waiting for other steps, or for its turn.
        Waiting "waiting",
        /// Its worker is working.
        Running "running",
        /// The result is being verified.
        Verifying "verifying",
        /// It passed.
        Done "done",
        /// It did not pass.
        Failed "failed",
        /// It was not started, because of another step or a person.
        Skipped "skipped",
    }
}

words! {
    /// The severity of a finding.
    FindingSeverity default Info {
        /// It must be fixed.
        Blocker "blocker",
        /// It has to be fixed.
        Error "error",
        /// It should be fixed.
        Warning "warning",
        /// It can be fixed.
        Info "info",
    }
}

words! {
    /// The stage of a run at which a proof was made.
    ProofStage default Baseline {
        /// Before the first step.
        Baseline "baseline",
        /// With the tests of a step, before its work.
        Red "red",
        /// After the work of a step.
        Green "green",
        /// With the work of a step undone and its tests kept.
        TakenBack "taken-back",
        /// With the work, but everything that checks the project as it was before the first
        /// step.
        AsBefore "as-before",
        /// With the work, but of the tests only those that existed when the work began.
        GivenTests "given-tests",
        /// On a clean checkout of the branch.
        Final "final",
    }
}

impl StepState {
    /// Returns the checkbox that a plan's file shows for the step.
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

impl FindingSeverity {
    /// Returns whether a step with such a finding fails.
    pub fn fails(self) -> bool {
        matches!(self, Self::Blocker | Self::Error)
    }
}

impl PlanState {
    /// Returns whether this is a final state.
    pub fn is_over(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Failed | Self::Rejected | Self::Cancelled
        )
    }
}

impl PlanStep {
    /// Returns how urgent the step is compared with others that could begin.
    pub fn urgency(&self) -> Urgency {
        self.priority.unwrap_or_default()
    }
}

impl Plan {
    /// Returns the step with this id.
    pub fn step(&self, id: &str) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Returns the number of the step that people see, from 1.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.steps
            .iter()
            .position(|step| step.id == id)
            .map(|at| at + 1)
    }
}

/// Something wrong that an inspector found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictFinding {
    /// Id of the finding within its step, such as `f1`.
    #[serde(default)]
    pub id: String,
    /// How much it matters.
    pub severity: FindingSeverity,
    /// The path of the file.
    #[serde(default)]
    pub file: String,
    /// The line number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Why it matters.
    pub why: String,
    /// How to fix it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
}

impl VerdictFinding {
    /// Returns whether a finding of another verdict says the same. Ids are assigned again
    /// in each verdict and do not count; the wording of the fix may differ.
    pub fn is_same(&self, other: &Self) -> bool {
        let said = |it: &Self| (it.severity, it.file.clone(), it.line, it.why.clone());
        said(self) == said(other)
    }

    /// Returns one line that says what was found, and where.
    pub fn told(&self) -> String {
        let line = self.line.map_or(String::new(), |line| format!(":{line}"));
        match self.file.as_str() {
            "" => format!("{}: {}", self.severity, self.why),
            file => format!("{} in {file}{line}: {}", self.severity, self.why),
        }
    }
}

/// The tests of a proof, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestNames {
    /// Tests that passed.
    pub passed: Vec<String>,
    /// Tests that were skipped.
    pub skipped: Vec<String>,
}

/// A test that failed in a proof.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FailedTest {
    /// The name of the test.
    pub name: String,
    /// Its message, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

fn engineer() -> String {
    "engineer".to_owned()
}
