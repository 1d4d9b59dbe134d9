//! Everything that can happen: one enum of typed facts, each with its name and schema in
//! the journal.
//!
//! Every record ever written must load for ever. A field may be added with a default; any
//! other change raises the schema number and keeps the older shape readable.
//! `tests/golden_facts.rs` holds one stored record per kind and schema.

use serde::{Deserialize, Serialize};

use crate::model::{
    ModelCallAttribution, ModelCallPriority, ModelFaultKind, PrivacyLabel, Provider,
    ReplyStopReason, TokenUsage,
};
use crate::plan::{
    FailedTest, PlanState, ProofStage, RequestSize, Requirement, StepVerification, Urgency,
    VerdictFinding,
};
use crate::{
    AcceptedGrant, BudgetLevel, DecidedBy, FileChange, ForeignSource, GrantOffer, KeptImage,
    LeftOutPath, Money, PromptPart, RecordedInheritance, RecordedText, RetryClass, RunId,
    RunMetrics, RunObjective, SandboxOpening, SessionId, SpendAmount, Timestamp, WorkshopId,
};

/// Error for a stored fact that could not be decoded.
#[derive(Debug, thiserror::Error)]
pub enum FactDecodeError {
    /// This build does not know the kind.
    #[error("this build knows no event kind `{0}`")]
    UnknownKind(String),
    /// The schema is newer than this build knows.
    #[error("`{kind}` has schema {found}; this build reads up to {newest}")]
    TooNew {
        /// The event kind.
        kind: &'static str,
        /// The stored schema.
        found: u32,
        /// The newest schema that this build reads.
        newest: u32,
    },
    /// The stored JSON does not match the shape of its kind.
    #[error("the payload of `{kind}` does not have its shape")]
    Shape {
        /// The event kind.
        kind: &'static str,
        /// The parser's error.
        #[source]
        cause: serde_json::Error,
    },
}

/// One event kind on the reference page: its meaning and its fields.
#[derive(Debug, Clone, Copy)]
pub struct FactPage {
    /// The dotted name of the kind.
    pub kind: &'static str,
    /// The newest schema.
    pub schema: u32,
    /// The meaning, from the doc comment.
    pub doc: &'static str,
    /// Whether the event is the last one of its stream.
    pub is_final: bool,
    /// The fields of the payload.
    pub fields: &'static [FactPageField],
}

/// One payload field on the reference page.
#[derive(Debug, Clone, Copy)]
pub struct FactPageField {
    /// The field's name in JSON.
    pub name: &'static str,
    /// The Rust type, which is close enough to read.
    pub form: &'static str,
    /// The meaning, from the doc comment.
    pub doc: &'static str,
}

macro_rules! facts {
    ($(
        $(#[doc = $doc:literal])+
        $kind:literal schema $schema:literal $(($final:ident))? $name:ident {
            $( $(#[doc = $field_doc:literal])+ $field:ident: $form:ty, )*
        }
    )+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            pub struct $name {
                $( $(#[doc = $field_doc])+ pub $field: $form, )*
            }

            impl From<$name> for Fact {
                fn from(fact: $name) -> Self {
                    Self::$name(fact)
                }
            }
        )+

        /// Everything that can happen. Matches on it are deliberately exhaustive, so a new
        /// kind shows up wherever it must be considered.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Fact {
            $( $(#[doc = $doc])+ $name($name), )+
        }

        impl Fact {
            /// Every kind with its fields, for the reference page.
            pub const PAGES: &'static [FactPage] = &[
                $( FactPage {
                    kind: $kind,
                    schema: $schema,
                    doc: concat!($($doc),+),
                    is_final: facts!(@final $($final)?),
                    fields: &[ $( FactPageField {
                        name: stringify!($field),
                        form: stringify!($form),
                        doc: concat!($($field_doc),+),
                    }, )* ],
                }, )+
            ];

            /// Returns the dotted name of the kind.
            pub fn kind(&self) -> &'static str {
                match self { $( Self::$name(_) => $kind, )+ }
            }

            /// Returns the schema number that [`Fact::encode`] writes.
            pub fn schema(&self) -> u32 {
                match self { $( Self::$name(_) => $schema, )+ }
            }

            /// Encodes the payload as JSON.
            pub fn encode(&self) -> Result<String, serde_json::Error> {
                match self { $( Self::$name(fact) => serde_json::to_string(fact), )+ }
            }

            /// Decodes a stored payload.
            pub fn decode(kind: &str, schema: u32, payload: &str) -> Result<Self, FactDecodeError> {
                match kind {
                    $( $kind => {
                        if schema > $schema {
                            return Err(FactDecodeError::TooNew {
                                kind: $kind, found: schema, newest: $schema,
                            });
                        }
                        serde_json::from_str(payload)
                            .map(Self::$name)
                            .map_err(|cause| FactDecodeError::Shape { kind: $kind, cause })
                    } )+
                    _ => Err(FactDecodeError::UnknownKind(kind.chars().take(100).collect())),
                }
            }
        }
    };
    (@final final) => { true };
    (@final) => { false };
}

facts! {
    /// A workshop folder was created.
    "workshop.created" schema 1 WorkshopCreated {
        /// The workshop's id, also in `.artel/workshop.json`.
        id: WorkshopId,
        /// The version of Artel that created it.
        version: String,
    }
    /// A person said that they trust this workshop for use on this machine.
    "workshop.trusted" schema 1 WorkshopTrusted {
        /// The path of the workshop at that time.
        path: String,
    }
    /// The configuration in effect changed since it was last recorded.
    "config.loaded" schema 1 ConfigLoaded {
        /// BLAKE3 of the effective values, in hex.
        checksum: String,
        /// The files that were read, lowest layer first.
        files: Vec<String>,
    }
    /// The journal file was migrated to a newer format.
    "journal.migrated" schema 1 JournalMigrated {
        /// The old format.
        from: u32,
        /// The new format.
        to: u32,
        /// The copy that was made beforehand.
        backup: String,
    }
    /// A copy of the journal was made.
    "journal.backed_up" schema 1 JournalBackedUp {
        /// The file name of the copy.
        file: String,
        /// Number of events in the copy.
        events: u64,
        /// Why: `asked` or `daily`.
        why: String,
    }
    /// A person restored an earlier or shortened journal.
    "journal.restored" schema 1 JournalRestored {
        /// The source of the events.
        source: String,
        /// Number of events restored.
        events: u64,
        /// Number of known events that were given up.
        lost: u64,
        /// The path that the damaged file was moved to.
        set_aside: String,
    }
    /// Finished streams were moved to an archive file.
    "journal.pruned" schema 1 JournalPruned {
        /// The archive's file name.
        archive: String,
        /// Streams that ended before this moment were moved.
        before: Timestamp,
        /// Number of streams moved.
        streams: u64,
        /// Number of events moved.
        events: u64,
        /// The signed digest of the archive, in hex.
        digest: String,
    }
    /// An incomplete write at the end of the journal was found and dropped when the journal
    /// was opened.
    "journal.tail_torn" schema 1 JournalTailTorn {
        /// Number of bytes in the incomplete write.
        bytes: u64,
    }
    /// A session began.
    "session.started" schema 1 SessionStarted {
        /// The session.
        id: SessionId,
        /// What started it, in a few words.
        title: String,
    }
    /// A session ended.
    "session.ended" schema 1 (final) SessionEnded {
        /// The session.
        id: SessionId,
    }
    /// A run began.
    "run.started" schema 4 RunStarted {
        /// The run.
        id: RunId,
        /// What it does, in one line.
        title: String,
        /// The skill it carries out, or `None` for a task in free words.
        skill: Option<String>,
        /// The request, verbatim, with secrets removed.
        task: Option<RecordedText>,
        /// The folder whose files it works on.
        folder: Option<String>,
        /// The run that started it.
        parent: Option<RunId>,
        /// The parent's call that started it. One call starts one run, even after a crash.
        call: Option<String>,
        /// The skills from the first run down to this one.
        chain: Option<Vec<String>>,
        /// Number of forks above it.
        depth: Option<u32>,
        /// The version of the plan that it carries out.
        plan: Option<u32>,
        /// The plan step that it belongs to.
        step: Option<String>,
        /// The limits on it and on everything it starts, handed down when it was started.
        inherits: Option<RecordedInheritance>,
    }
    /// The starting point of a run is settled. From this event and the later ones, any
    /// process can continue the run.
    "run.prepared" schema 2 RunPrepared {
        /// The role.
        role: String,
        /// The model that was requested.
        model: Option<String>,
        /// autonomous or simple.
        mode: String,
        /// How tools are called: native or text.
        calls: String,
        /// The standing instructions.
        system: RecordedText,
        /// The opening message of the conversation.
        opening: RecordedText,
        /// The maximum number of turns.
        turns: u32,
        /// Number of times that one approach may fail.
        retries: u32,
        /// The most it may cost.
        cost: Option<Money>,
        /// Whether it reviews its answer once before it ends.
        checks_itself: bool,
        /// Number of conversation tokens that fit the model.
        window: u64,
        /// The folder of the skill.
        skill_folder: Option<String>,
        /// BLAKE3 of the skill's files, in hex.
        skill_hash: Option<String>,
        /// The rules in the skill's own list of tools.
        allowed_tools: Option<Vec<String>>,
        /// The parts of the first prompt, each with its size in tokens.
        parts: Vec<PromptPart>,
        /// The standing context files that were read, each with its BLAKE3 hash.
        standing: Vec<String>,
        /// Number of calls it may make before it is restarted as a fresh run.
        calls_limit: Option<u32>,
        /// The reminder that it is given along the way.
        directive: Option<String>,
    }
    /// A message was added to the agent's conversation that is not a tool result: a hint, a
    /// nudge, a warning.
    "run.said" schema 1 RunSaid {
        /// The text of the message.
        text: RecordedText,
        /// Why: hint, nudge, warning, closing, check, cut, hook, refused.
        why: String,
    }
    /// A person wants a run to pause, resume, end, or know something.
    "run.steered" schema 1 RunSteered {
        /// pause, resume, cancel, hint.
        act: String,
        /// The person's words.
        text: String,
    }
    /// A process resumed a run that another process had left.
    "run.continued" schema 1 RunContinued {
        /// Sequence number of the last event at that time.
        after: u64,
        /// What was in flight, and what is done about it.
        settled: Vec<String>,
    }
    /// A run needs an answer from a person to continue.
    "run.asked" schema 2 RunAsked {
        /// Id of the question.
        question: String,
        /// The text of the question.
        text: String,
        /// The possible answers; any answer will do if the list is empty.
        choices: Vec<String>,
        /// The call that the question is about.
        call: Option<String>,
        /// The suggested answer, which the person can accept or change.
        suggested: Option<String>,
    }
    /// A person answered a run's question.
    "run.answered" schema 1 RunAnswered {
        /// Id of the question.
        question: String,
        /// The answer.
        answer: String,
    }
    /// A run gave up on its goal after repeated failures and asks for help.
    "run.escalated" schema 1 RunEscalated {
        /// Why.
        why: String,
        /// The failures, newest last.
        failures: Vec<String>,
    }
    /// The conversation of a run was shortened; all of it stays in the journal.
    "context.compacted" schema 1 ContextCompacted {
        /// How: elided or summarised.
        how: String,
        /// Number of tokens before.
        before: u64,
        /// Number of tokens after.
        after: u64,
        /// The conversation that the run continues with, as JSON.
        messages: RecordedText,
    }
    /// A run got a tree of its own, copied from a folder as it was.
    "tree.made" schema 1 TreeMade {
        /// The folder that was copied.
        origin: String,
        /// The path of the tree.
        path: String,
        /// Its first snapshot.
        snapshot: String,
        /// How it was copied, in a few words.
        how: String,
        /// Duration in milliseconds.
        millis: u64,
    }
    /// A snapshot of a run's tree was taken.
    "tree.snapped" schema 1 TreeSnapped {
        /// Id of the snapshot.
        snapshot: String,
        /// Why: before, passed, end.
        why: String,
        /// Duration in milliseconds.
        millis: u64,
    }
    /// A run's tree was reset to a snapshot.
    "tree.restored" schema 1 TreeRestored {
        /// Id of the snapshot.
        snapshot: String,
        /// Why: unknown-outcome, strikes.
        why: String,
        /// Number of files that were changed, created or removed by the reset.
        files: u64,
    }
    /// A command in a skill's text was run, or not; the outcome says which.
    "skill.injected" schema 1 SkillInjected {
        /// The skill.
        skill: String,
        /// The command.
        command: String,
        /// The text that replaces the command.
        output: RecordedText,
        /// The rule that decided.
        rule: String,
        /// Duration in milliseconds.
        millis: u64,
    }
    /// A person trusted a skill as it is now. If its contents change, the person is asked
    /// again.
    "skill.trusted" schema 1 SkillTrusted {
        /// Its name.
        skill: String,
        /// The folder it is in.
        folder: String,
        /// BLAKE3 of its files, in hex.
        hash: String,
    }
    /// A skill of the workshop itself that had been used before counts as known in the
    /// state it had then.
    "skill.known" schema 1 SkillKnown {
        /// Its name.
        skill: String,
        /// The folder it is in.
        folder: String,
        /// BLAKE3 of its files, in hex.
        hash: String,
    }
    /// A person looked at a file that a run or plan had added to the workshop's own files,
    /// and accepted it.
    "workshop.file_trusted" schema 1 WorkshopFileTrusted {
        /// The file.
        file: String,
        /// BLAKE3 of its bytes, in hex.
        hash: String,
    }
    /// A person trusted a hook as it is now.
    "hook.trusted" schema 1 HookTrusted {
        /// The file that declares it.
        file: String,
        /// The command that it runs.
        command: String,
        /// BLAKE3 of event, matcher and command, in hex.
        hash: String,
    }
    /// A hook was run; the outcome says whether it let things pass.
    "hook.ran" schema 1 HookRan {
        /// The event that it ran for.
        event: String,
        /// The command that was run, or the name of a built-in hook.
        hook: String,
        /// Its exit code, or `None` if it did not exit by itself.
        exit: Option<i32>,
        /// allow, ask, deny, block, context, none.
        decision: String,
        /// Its message.
        message: String,
        /// Duration in milliseconds.
        millis: u64,
    }
    /// A run ended; the outcome of the event says how.
    "run.finished" schema 3 (final) RunFinished {
        /// The run.
        id: RunId,
        /// The result, in one line.
        summary: String,
        /// complete, partial, failed or cancelled.
        state: Option<String>,
        /// The answer.
        answer: Option<RecordedText>,
        /// Why it is not complete.
        why: Option<String>,
        /// What was achieved and what was not, as far as known.
        objectives: Option<Vec<RunObjective>>,
        /// Files that it created or changed in its own tree.
        changed: Option<Vec<FileChange>>,
        /// The last snapshot of its tree.
        snapshot: Option<String>,
        /// What the run took: turns, tokens, cost and time.
        metrics: Option<RunMetrics>,
        /// Paths in its tree that are stored nowhere and never applied to the folder.
        left_out: Option<Vec<LeftOutPath>>,
    }
    /// A person had the files of a run applied to the folder.
    "run.applied" schema 1 RunApplied {
        /// The run.
        id: RunId,
        /// The folder.
        folder: String,
        /// The files.
        files: Vec<String>,
    }
    /// A run branched off from a point of another run: everything known up to that point is
    /// its past.
    "run.forked" schema 2 RunForked {
        /// The new run.
        id: RunId,
        /// The run whose past it shares.
        from: RunId,
        /// Sequence number of the last event of that past.
        at: u64,
        /// The model that continues, or `None` to keep the earlier one.
        model: Option<String>,
    }
    /// The work of a run continues in a fresh run, which is given what is known so far.
    "run.handed_over" schema 1 RunHandedOver {
        /// The run that continues.
        to: RunId,
        /// Why.
        why: String,
        /// The opening message of that run.
        opening: RecordedText,
    }
    /// A person gave feedback on a run.
    "feedback.given" schema 1 FeedbackGiven {
        /// The run.
        id: RunId,
        /// The person's words.
        text: String,
    }
    /// A lesson about a skill was stored for its next runs.
    "lesson.learned" schema 1 LessonLearned {
        /// Id of the lesson.
        id: String,
        /// The skill.
        skill: String,
        /// success, failure or feedback.
        sort: String,
        /// The text of the lesson.
        text: String,
        /// The run that it comes from.
        from: Option<RunId>,
    }
    /// A person changed a stored lesson.
    "lesson.changed" schema 1 LessonChanged {
        /// Id of the lesson.
        id: String,
        /// The new text.
        text: String,
    }
    /// A stored lesson was removed, by a person or because of the limit on their number.
    "lesson.removed" schema 1 LessonRemoved {
        /// Id of the lesson.
        id: String,
    }
    /// A project folder was opened to agents, or its conditions were changed.
    "portal.opened" schema 1 PortalOpened {
        /// The name people use.
        name: String,
        /// The folder, with links resolved.
        path: String,
        /// The operations allowed there: read, write, git.
        operations: Vec<String>,
        /// The roles that may work there; `*` for all.
        agents: Vec<String>,
        /// Where its content may go: any or local-only.
        privacy: String,
        /// The technologies it uses, as far as detected.
        stack: Vec<String>,
        /// The commands that build, lint and test it, if a person named them.
        checks: Vec<String>,
    }
    /// A project folder was closed to agents.
    "portal.closed" schema 1 PortalClosed {
        /// The name.
        name: String,
    }
    /// A portal refused something to a role: the portal is not open to the role, or not for
    /// that operation.
    "portal.refused" schema 1 PortalRefused {
        /// The portal.
        name: String,
        /// The role.
        role: String,
        /// What the role wanted: read, write or git, or the tool that it called.
        wanted: String,
        /// Why it was refused.
        why: String,
        /// The call, or `None` if the refusal came before anything began.
        call: Option<String>,
    }
    /// A person created, changed or removed a role.
    "agent.changed" schema 1 AgentChanged {
        /// The role.
        id: String,
        /// created, updated or removed.
        act: String,
        /// BLAKE3 of its file, in hex, or `None` if the file was removed.
        hash: Option<String>,
    }
    /// A token for the HTTP interface was created. The token itself is shown once and
    /// stored nowhere.
    "token.created" schema 2 TokenCreated {
        /// Id of the token.
        id: String,
        /// The name people use for it, and who acts with it.
        name: String,
        /// user, developer or admin.
        role: String,
        /// BLAKE3 of the token, in hex.
        hash: String,
        /// Whether a program holds it, in which case it cannot approve anything.
        program: Option<bool>,
    }
    /// A token was revoked.
    "token.revoked" schema 1 TokenRevoked {
        /// Id of the token.
        id: String,
    }
    /// A sign-in link was created. It opens the console once.
    "login.offered" schema 1 LoginOffered {
        /// Id of the link.
        id: String,
        /// The person who signs in with it.
        name: String,
        /// user, developer or admin.
        role: String,
        /// BLAKE3 of the code in the link, in hex.
        hash: String,
        /// When the link expires.
        until: Timestamp,
    }
    /// Somebody signed in at the console with a link, which is used up by that.
    "login.used" schema 2 LoginUsed {
        /// Id of the link.
        id: String,
        /// BLAKE3 of the cookie that the browser sends from then on, in hex.
        hash: String,
        /// When the sign-in expires.
        until: Timestamp,
        /// BLAKE3 of the key, in hex. Without the key, pages can be read but nothing can be
        /// changed. Sign-ins older than the keys have none and are no longer valid. Since
        /// schema 2.
        key: Option<String>,
    }
    /// The console of this workshop was given its own host name.
    "console.named" schema 1 ConsoleNamed {
        /// The name, below `localhost` and without a port.
        name: String,
    }
    /// Somebody signed out at the console.
    "login.ended" schema 1 LoginEnded {
        /// Id of the link they had signed in with.
        id: String,
    }
    /// The daemon started.
    "daemon.started" schema 2 DaemonStarted {
        /// Its process id.
        pid: u32,
        /// Its version.
        version: String,
        /// The address it listens on.
        listen: String,
        /// Number of unfinished runs and pieces of work that it resumed.
        taken: u64,
        /// Whether a person named the address at the start; `None` if it came from the
        /// settings.
        named: Option<bool>,
    }
    /// The daemon stopped.
    "daemon.stopped" schema 1 DaemonStopped {
        /// Its process id.
        pid: u32,
        /// Why.
        why: String,
    }
    /// A person told the daemon to start nothing new.
    "daemon.paused" schema 1 DaemonPaused {
        /// The reason they gave.
        why: Option<String>,
    }
    /// A person told the daemon to start new work again.
    "daemon.resumed" schema 1 DaemonResumed {}
    /// Settings, roles, skills or policy changed while the daemon was running.
    "daemon.reloaded" schema 1 DaemonReloaded {
        /// What changed.
        what: Vec<String>,
        /// Why the previous state stays in effect; empty if the new one was loaded.
        problems: Vec<String>,
    }
    /// Something the daemon was doing failed because of a fault in Artel; it is tried
    /// again.
    "daemon.faltered" schema 1 DaemonFaltered {
        /// The piece of work or the run, or `None` if it was not known yet.
        id: Option<String>,
        /// The error message, with secrets removed.
        why: String,
    }
    /// A person made a request.
    "request.created" schema 1 RequestCreated {
        /// The request, verbatim, with secrets removed.
        words: RecordedText,
        /// The opening words, as a title.
        title: String,
        /// The portal it is about.
        portal: Option<String>,
        /// The folder it is about.
        folder: String,
        /// The role that was asked.
        agent: String,
        /// How urgent it is.
        urgency: Urgency,
        /// cli, file, interactive, api or console.
        source: String,
        /// Its file in `Inbox/Requests`.
        file: String,
        /// How large it is, which decides how it is handled.
        size: RequestSize,
        /// Why it was judged to be that large.
        why: String,
        /// How its steps are to be verified, if the person said so.
        verify: Option<StepVerification>,
        /// Constraints on how it is done.
        constraints: Vec<Requirement>,
        /// Criteria that must hold afterwards.
        criteria: Vec<Requirement>,
        /// The skill to be planned.
        skill: Option<String>,
        /// The model that the person named for it.
        model: Option<String>,
    }
    /// A file in the inbox is not a valid request.
    "request.refused" schema 1 RequestRefused {
        /// The file.
        file: String,
        /// The field that is wrong.
        field: String,
        /// What is wrong with it, and what to do.
        message: String,
    }
    /// The file of a request was renamed; it is still the same request.
    "request.moved" schema 1 RequestMoved {
        /// Its new file.
        file: String,
    }
    /// A request was answered or done directly, without a plan to approve; the outcome says
    /// how.
    "request.settled" schema 1 RequestSettled {
        /// The run that did it.
        run: RunId,
        /// answered, done or failed.
        state: String,
    }
    /// The architect began to read in order to write or rewrite a plan.
    "plan.explored" schema 1 PlanExplored {
        /// The architect's run.
        run: RunId,
        /// The version that it will write.
        version: u32,
        /// request, revise, change or skill.
        why: String,
    }
    /// A new version of a plan is ready for review.
    "plan.drafted" schema 1 PlanDrafted {
        /// The version, from 1.
        version: u32,
        /// The plan as JSON.
        plan: RecordedText,
        /// BLAKE3 of that JSON, in hex. An approval is bound to it.
        hash: String,
        /// Its title.
        title: String,
        /// Its file in `Inbox/Plans`.
        file: String,
        /// The run that wrote it, or `None` if a person did.
        run: Option<RunId>,
    }
    /// No plan could be made.
    "plan.failed" schema 1 PlanFailed {
        /// Why.
        why: String,
        /// The problems with the last attempt.
        problems: Vec<String>,
    }
    /// A person asked for changes to a plan.
    "plan.commented" schema 2 PlanCommented {
        /// The version.
        version: u32,
        /// Their comments.
        comments: Vec<String>,
        /// The model that they named for the version they ask for. Since schema 2.
        model: Option<String>,
    }
    /// A person approved a plan: exactly this version.
    "plan.approved" schema 2 PlanApproved {
        /// The version.
        version: u32,
        /// Its hash.
        hash: String,
        /// The run that carries it out.
        run: RunId,
        /// The model that they named for the whole run. Since schema 2.
        model: Option<String>,
    }
    /// The person at a terminal handed an approved plan over to the daemon.
    "plan.handed_over" schema 1 PlanHandedOver {
        /// The run that carries it out.
        run: RunId,
    }
    /// A person rejected a plan.
    "plan.rejected" schema 1 PlanRejected {
        /// The version.
        version: u32,
        /// Why.
        reason: String,
    }
    /// A person cancelled a plan.
    "plan.cancelled" schema 1 PlanCancelled {
        /// Why.
        reason: String,
    }
    /// The steps of a plan are being carried out.
    "plan.running" schema 1 PlanRunning {
        /// The run.
        run: RunId,
        /// The version.
        version: u32,
    }
    /// The run of a plan ended.
    "plan.ended" schema 1 PlanEnded {
        /// The run.
        run: RunId,
        /// done, failed or cancelled.
        state: PlanState,
        /// Why it did not complete.
        why: Option<String>,
    }
    /// An agent needs the plan to change, or its step to have a wider scope.
    "plan.proposed" schema 1 PlanProposed {
        /// Id of the proposal.
        id: String,
        /// The step that needs it.
        step: String,
        /// The proposed change, in words.
        what: String,
        /// Why.
        why: String,
        /// What it would mean for the other steps.
        impact: String,
        /// The plan as it would become, as JSON.
        plan: RecordedText,
        /// Hash of that plan.
        hash: String,
        /// Whether the step cannot continue without it.
        blocking: bool,
    }
    /// A person decided about a proposal, or it lapsed with its step; the outcome says
    /// which.
    "plan.decided" schema 1 PlanDecided {
        /// Id of the proposal.
        id: String,
        /// The reason, in the person's words.
        reason: String,
        /// The version that resulted, or `None` if the proposal was turned down.
        version: Option<u32>,
    }
    /// The run of a plan switched to another version that a person approved.
    "plan.adopted" schema 1 PlanAdopted {
        /// The version.
        version: u32,
        /// The plan as JSON.
        plan: RecordedText,
        /// Its hash.
        hash: String,
    }
    /// The run of a plan got its own branch.
    "branch.begun" schema 1 BranchBegun {
        /// Its name.
        branch: String,
        /// The commit it starts from.
        base: String,
        /// The branch that was checked out at the time, or `None` if HEAD was detached.
        into: Option<String>,
        /// Files that the person has changed since that commit, so the changes are not in
        /// the branch.
        dirty: Vec<String>,
        /// Whether the folder is not in a repository, so that a patch is delivered.
        patch: bool,
    }
    /// The checks that pass before the first step are known, or a person said that none
    /// have to.
    "baseline.taken" schema 1 BaselineTaken {
        /// The commit that was checked.
        commit: String,
        /// The commands, each as one line of words.
        commands: Vec<String>,
        /// Whether there is a baseline; without one, a person is asked for commands.
        holds: bool,
        /// Why there is none.
        why: Option<String>,
    }
    /// The runtime ran a check, and this is the result. It is never changed.
    "proof.recorded" schema 3 ProofRecorded {
        /// Id of the proof within its run.
        id: String,
        /// The stage of the run at which it was made.
        place: ProofStage,
        /// The step, if any.
        step: Option<String>,
        /// Which attempt at the step, or which round at the end, from 1.
        round: u32,
        /// tests, build, lint, command or file.
        sort: String,
        /// What was run or inspected, in one line.
        what: String,
        /// The exit code, if a program was run.
        exit: Option<i64>,
        /// Number of tests that passed, if the output said so.
        passed: Option<u64>,
        /// Number of tests that failed.
        failed: Option<u64>,
        /// Number of tests that were skipped.
        skipped: Option<u64>,
        /// The tests that failed.
        failures: Vec<FailedTest>,
        /// The git tree that was checked.
        tree: String,
        /// The output, as much of it as is stored.
        output: RecordedText,
        /// Whether it shows what it was made to show.
        holds: bool,
        /// Duration in milliseconds.
        millis: u64,
        /// The tests by name, as JSON, or `None` if the output did not name them all.
        tests: Option<RecordedText>,
        /// What compilers, linters and type checkers found, each with its location.
        findings: Option<Vec<VerdictFinding>>,
        /// How much of the code the tests cover, or `None` if no coverage tool is set up.
        coverage: Option<String>,
        /// BLAKE3 of the file that was checked, in hex.
        hash: Option<String>,
    }
    /// An attempt at a step began.
    "step.started" schema 1 StepStarted {
        /// The step.
        step: String,
        /// The number of the attempt, from 1.
        round: u32,
        /// The commit it starts from.
        base: String,
    }
    /// An agent finished its part of a step.
    "step.worked" schema 2 StepWorked {
        /// The step.
        step: String,
        /// The number of the attempt.
        round: u32,
        /// criteria, tests or work.
        part: String,
        /// The run that did the part.
        run: RunId,
        /// complete, partial, failed or cancelled.
        state: String,
        /// The agent's summary, in one line or a few.
        summary: RecordedText,
        /// The criteria, if the part was to name them.
        criteria: Vec<Requirement>,
        /// The git tree that it left.
        tree: String,
        /// Files that are not in that tree and are stored nowhere. Since schema 2.
        left_out: Option<Vec<LeftOutPath>>,
    }
    /// A part of a step changed files that it is held to or may not change, and the files
    /// were restored. No matter who changed them, the attempt answers for the tests it is
    /// held to.
    "step.put_back" schema 1 StepPutBack {
        /// The step.
        step: String,
        /// The number of the attempt.
        round: u32,
        /// tests or work.
        part: String,
        /// The run that left the changes.
        run: RunId,
        /// The files, relative to the root of the repository.
        files: Vec<String>,
    }
    /// The runtime checked the result of an attempt; its proofs are recorded separately.
    "step.checked" schema 1 StepChecked {
        /// The step.
        step: String,
        /// The number of the attempt.
        round: u32,
        /// red or green.
        phase: String,
        /// Whether it passed.
        passed: bool,
        /// Why it did not pass, as the next attempt is told.
        why: Vec<String>,
    }
    /// Another agent judged an attempt.
    "step.judged" schema 1 StepJudged {
        /// The step.
        step: String,
        /// The number of the attempt.
        round: u32,
        /// evaluator, inspector or tester.
        by: String,
        /// The run of the judging agent.
        run: RunId,
        /// Whether it passed, after the runtime checked the evidence.
        passed: bool,
        /// Feedback for the next attempt.
        feedback: RecordedText,
        /// What was found.
        findings: Vec<VerdictFinding>,
        /// The basis of the verdict: commands it ran, files it read.
        evidence: Vec<String>,
        /// The values that are handed on if the step passes, as JSON.
        outputs: RecordedText,
        /// test or code: what the tester considers at fault.
        fault: Option<String>,
    }
    /// An attempt at a step did not pass.
    "step.failed" schema 1 StepFailed {
        /// The step.
        step: String,
        /// The number of the attempt.
        round: u32,
        /// Why.
        why: RecordedText,
    }
    /// The architect explained why a step failed in all its attempts, before a person
    /// decides.
    "step.advised" schema 1 StepAdvised {
        /// The step.
        step: String,
        /// The number of the last attempt.
        round: u32,
        /// The architect's run, or `None` if the architect was not asked.
        run: Option<RunId>,
        /// plan, code, tests or surroundings: what the architect considers at fault, or
        /// `None` if it did not say.
        fault: Option<String>,
        /// The explanation and the advice.
        advice: RecordedText,
        /// Id of the plan change that it proposes.
        proposal: Option<String>,
    }
    /// A step passed, with one commit and the values that it hands on.
    "step.passed" schema 1 StepPassed {
        /// The step.
        step: String,
        /// The number of the attempt.
        round: u32,
        /// The commit on the branch, or `None` if no file changed.
        commit: Option<String>,
        /// The new head of the branch.
        head: String,
        /// The files that the step changed.
        files: Vec<String>,
        /// The values that it hands on, as JSON.
        outputs: RecordedText,
        /// Checks that a person waived.
        waived: Vec<String>,
    }
    /// A step ended without passing, or a person wants another attempt.
    "step.settled" schema 1 StepSettled {
        /// The step.
        step: String,
        /// failed, skipped, cancelled, taken-over or again.
        state: String,
        /// Why.
        why: String,
    }
    /// A person paused a step, so that nothing more of it begins for now, or resumed it.
    "step.steered" schema 1 StepSteered {
        /// The step.
        step: String,
        /// pause or resume.
        act: String,
    }
    /// A person waived a check or a finding, for a recorded reason.
    "step.waived" schema 2 StepWaived {
        /// The step.
        step: String,
        /// inspector, tester, evaluator, or the finding.
        what: String,
        /// Why.
        reason: String,
        /// The finding itself, if a finding was waived: the next verdict may give its name
        /// to a different one. Since schema 2.
        finding: Option<VerdictFinding>,
    }
    /// The branch as a whole was checked on a clean checkout.
    "branch.checked" schema 1 BranchChecked {
        /// The round, from 1.
        round: u32,
        /// The commit that was checked.
        head: String,
        /// Whether every proof holds there.
        passed: bool,
        /// The proofs that do not hold.
        why: Vec<String>,
    }
    /// An agent mended what did not hold on the branch as a whole, or tried to.
    "branch.mended" schema 1 BranchMended {
        /// The round.
        round: u32,
        /// The run that did it.
        run: RunId,
        /// The commit, or `None` if no file changed.
        commit: Option<String>,
        /// The new head of the branch.
        head: String,
    }
    /// A branch is ready for review.
    "changeset.created" schema 1 ChangesetCreated {
        /// The run that made it.
        run: RunId,
        /// The portal.
        portal: Option<String>,
        /// The person's folder.
        folder: String,
        /// The branch, or `None` if the folder is not in a repository.
        branch: Option<String>,
        /// The branch that it started from, or `None` if HEAD was detached.
        into: Option<String>,
        /// The commit that it started from.
        base: String,
        /// Its last commit.
        head: String,
        /// Number of commits.
        commits: u64,
        /// The files.
        files: Vec<FileChange>,
        /// Number of lines added.
        added: u64,
        /// Number of lines removed.
        removed: u64,
        /// Whether every proof holds on a clean checkout.
        proven: bool,
        /// Whether all steps passed.
        complete: bool,
        /// What was waived or left for later.
        deferred: Vec<String>,
        /// The patch, if there is no branch.
        patch: Option<String>,
    }
    /// A person wants a changeset merged, undone or redone. This is recorded before git is
    /// touched.
    "changeset.ordered" schema 1 ChangesetOrdered {
        /// approve, undo or redo.
        act: String,
        /// The branch that moves.
        into: String,
        /// The commit that the branch was at.
        old: String,
        /// The commit that it will be at.
        new: String,
        /// What git needs to repeat the operation after a crash, as JSON.
        plan: RecordedText,
        /// Why it is merged although some proofs do not hold.
        waiver: Option<String>,
    }
    /// A changeset was merged, undone or redone.
    "changeset.merged" schema 2 ChangesetMerged {
        /// approve, undo or redo.
        act: String,
        /// The branch that moved.
        into: String,
        /// The new commit.
        commit: String,
        /// The files.
        files: Vec<String>,
        /// How a person brought it into the branch themselves: `merged` with a merge
        /// commit, or `moved` if the branch was only moved forward; `None` if Artel merged
        /// it.
        by_hand: Option<String>,
    }
    /// A person's order about a changeset was refused; everything is as it was before.
    "changeset.refused" schema 1 ChangesetRefused {
        /// approve, undo or redo.
        act: String,
        /// Why.
        why: String,
        /// The files that were in the way.
        files: Vec<String>,
    }
    /// A person rejected a changeset, and its branch was removed.
    "changeset.rejected" schema 1 ChangesetRejected {
        /// Why.
        reason: String,
        /// The branch that was removed.
        branch: Option<String>,
        /// The last commit of the branch.
        head: String,
    }
    /// A report was written.
    "report.written" schema 1 ReportWritten {
        /// The run.
        run: RunId,
        /// Its file, relative to the workshop.
        path: String,
        /// completed or failed.
        status: String,
    }
    /// Part of a prompt was loaded within a token budget.
    "context.loaded" schema 1 ContextLoaded {
        /// smallest-first, drop-largest, drop-oldest or truncate-each.
        strategy: String,
        /// The budget in tokens.
        budget: u64,
        /// Number of tokens used.
        tokens: u64,
        /// Files that were included.
        included: Vec<String>,
        /// Files that were left out.
        skipped: Vec<String>,
        /// Files that were truncated.
        truncated: Vec<String>,
    }
    /// A spending limit was set.
    "budget.limited" schema 1 BudgetLimited {
        /// The budget that is limited.
        level: BudgetLevel,
        /// The most that may be spent in all.
        limit: SpendAmount,
    }
    /// Part of a budget was set aside before a call.
    "budget.reserved" schema 2 BudgetReserved {
        /// Id of the reservation.
        key: String,
        /// The budgets that it counts against.
        levels: Vec<BudgetLevel>,
        /// The estimated amount.
        amount: SpendAmount,
        /// The step that the amount is reserved for as a whole, so that the cost of its
        /// calls is taken from it; `None` for a reservation for one call.
        step: Option<String>,
    }
    /// A call was charged to the budget.
    "budget.settled" schema 1 BudgetSettled {
        /// Id of the reservation.
        key: String,
        /// The actual cost.
        amount: SpendAmount,
    }
    /// A reservation was released without being spent.
    "budget.released" schema 1 BudgetReleased {
        /// Id of the reservation.
        key: String,
    }
    /// A budget is close to its limit, or a run has become expensive.
    "budget.warned" schema 1 BudgetWarned {
        /// The budget that is meant.
        level: BudgetLevel,
        /// The start of the period that counts, or `None` if all time counts.
        since: Option<Timestamp>,
        /// The amount used so far.
        used: SpendAmount,
        /// The amount that it is measured against.
        limit: SpendAmount,
    }
    /// A call to a model is about to be made.
    "model.requested" schema 2 ModelRequested {
        /// Id of the call; all its attempts share it.
        call: String,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// What was requested: an alias, or `provider:model`.
        wanted: String,
        /// How that was resolved, in a few words.
        resolved: String,
        /// The provider that is called.
        provider: Provider,
        /// The model, as the provider names it.
        model: String,
        /// How urgent it is.
        priority: ModelCallPriority,
        /// Where its content may go.
        privacy: PrivacyLabel,
        /// Whom the call counts for.
        account: ModelCallAttribution,
        /// The amount set aside for it.
        estimate: SpendAmount,
        /// The request as JSON, without secrets. Where `prior` names an earlier call, only
        /// what comes after that call's messages.
        request: RecordedText,
        /// BLAKE3 of the request, in hex, by which a recording is found.
        fingerprint: String,
        /// The call whose request is the beginning of this one.
        prior: Option<String>,
    }
    /// A model answered.
    "model.replied" schema 1 ModelReplied {
        /// Id of the call.
        call: String,
        /// The number of the attempt.
        attempt: u32,
        /// The provider that answered.
        provider: Provider,
        /// The model, as the provider names it.
        model: String,
        /// Whom the call counts for.
        account: ModelCallAttribution,
        /// Why the answer ended.
        stop: ReplyStopReason,
        /// The tokens used, as the provider counts them.
        usage: Option<TokenUsage>,
        /// The amount charged, from an estimate if the provider does not report usage.
        charged: SpendAmount,
        /// The cost, or `None` if no price is known.
        cost: Option<Money>,
        /// Milliseconds until the first piece arrived.
        first_ms: u64,
        /// Milliseconds until the end.
        total_ms: u64,
        /// The reply as JSON, without secrets.
        reply: RecordedText,
    }
    /// An attempt at a model call failed or was cancelled; the outcome says which.
    "model.failed" schema 1 ModelFailed {
        /// Id of the call.
        call: String,
        /// The number of the attempt.
        attempt: u32,
        /// The provider that was called.
        provider: Provider,
        /// The model, as the provider names it.
        model: String,
        /// Whom the call counts for.
        account: ModelCallAttribution,
        /// The kind of fault, or `None` if the attempt was cancelled.
        fault: Option<ModelFaultKind>,
        /// The retry class of the fault.
        class: Option<RetryClass>,
        /// The HTTP status.
        status: Option<u16>,
        /// The error message.
        message: String,
        /// The provider's id for the request.
        request_id: Option<String>,
        /// The amount charged for what had arrived by then.
        charged: SpendAmount,
        /// The cost of that, or `None` if no price is known.
        cost: Option<Money>,
        /// When the call is retried, or `None` if it is not.
        retry_at: Option<Timestamp>,
        /// The text that had arrived by then.
        partial: Option<RecordedText>,
    }
    /// A provider asked Artel to slow down; nothing more is sent to it for a while.
    "provider.paused" schema 1 ProviderPaused {
        /// The provider.
        provider: String,
        /// When the pause ends.
        until: Timestamp,
        /// Number of pauses in a row.
        attempt: u32,
        /// The provider's message.
        why: String,
    }
    /// Calls to a provider resumed as usual.
    "provider.resumed" schema 1 ProviderResumed {
        /// The provider.
        provider: String,
    }
    /// A provider failed so often that it is not called for a while.
    "breaker.opened" schema 1 BreakerOpened {
        /// The provider.
        provider: String,
        /// When it is tried again.
        until: Timestamp,
        /// The cause.
        why: String,
    }
    /// One call was let through to test whether a provider has recovered, or such a call
    /// succeeded.
    "breaker.probed" schema 1 BreakerProbed {
        /// The provider.
        provider: String,
        /// When the next test call may be let through, at the latest; the end of this one
        /// allows the next at once.
        until: Timestamp,
        /// Number of test calls in a row that succeeded.
        successes: u32,
    }
    /// A provider has recovered, or a person said that it is to be called again.
    "breaker.closed" schema 1 BreakerClosed {
        /// The provider.
        provider: String,
        /// The cause.
        why: String,
    }
    /// An agent wants to use a tool. This is recorded before anything is done.
    "tool.requested" schema 2 ToolRequested {
        /// Id of the call; all events of one call share it.
        call: String,
        /// The tool.
        tool: String,
        /// The role that makes the call.
        role: String,
        /// The input, with secrets removed.
        input: RecordedText,
        /// The decision of policy: allow, ask or deny.
        decision: String,
        /// The rule that decided.
        rule: String,
        /// Why.
        reason: String,
        /// BLAKE3 of the canonical record, in hex: what a person sees is what runs.
        record: String,
        /// How a call without a recorded result is treated: pure, idempotent, probe,
        /// restore, once.
        unknown: String,
        /// Whether a rule decided, or the walls of the run.
        decided_by: Option<DecidedBy>,
        /// What the call lets through the walls once it is carried out, or `None`.
        opens: Option<Vec<SandboxOpening>>,
    }
    /// A person is asked whether a call may be carried out; the first answer decides.
    "tool.asked" schema 2 ToolAsked {
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// BLAKE3 of what is shown, in hex; an answer names it.
        record: String,
        /// What would be done, in full.
        shown: RecordedText,
        /// Why the person is asked.
        why: String,
        /// What a yes may grant beyond this one call, or `None` if every such call is asked
        /// about.
        offer: Option<GrantOffer>,
    }
    /// A person answered whether a call may be carried out.
    "tool.answered" schema 2 ToolAnswered {
        /// Id of the call.
        call: String,
        /// The record that was shown.
        record: String,
        /// The answer: once, run, always, no; nobody if there was nobody to ask. Older
        /// journals also have session, which held for one agent's run.
        answer: String,
        /// Why, in the person's words.
        reason: String,
        /// What was granted with it, for the run's whole tree or for good.
        granted: Option<AcceptedGrant>,
        /// The rules that would allow it for good, if there was nobody to ask.
        offered: Option<Vec<String>>,
    }
    /// A call was carried out, or could not be; the outcome says which.
    "tool.finished" schema 2 ToolFinished {
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// What the model is shown, with secrets removed.
        observation: RecordedText,
        /// The kind of error, if there was one.
        trouble: Option<String>,
        /// Files that were created, changed or deleted.
        changed: Vec<String>,
        /// Duration in milliseconds.
        millis: u64,
        /// The level of the sandbox around its processes, or `None` if it started no
        /// process.
        sandbox: Option<String>,
        /// Number of secrets removed from the output.
        redacted: u64,
        /// The exit code, if a program was run.
        exit: Option<i64>,
        /// What the run remembers from now on, as JSON: its to-do list, the files it knows.
        memory: Option<RecordedText>,
        /// Pictures for the model, by where they are stored.
        images: Option<Vec<KeptImage>>,
    }
    /// A run read content that nobody vouched for. From then on, a person is asked before
    /// anything in the same piece of work combines a secret with a way out.
    "foreign.read" schema 2 ForeignRead {
        /// The call that brought it in, or `None` if the run began with it.
        call: Option<String>,
        /// What was read for the first time. Since schema 2 also words of programs.
        sources: Vec<ForeignSource>,
    }
    /// The sandbox around the processes of a run, tested before the first of them started.
    "sandbox.engaged" schema 1 SandboxEngaged {
        /// The level reached: full, partial, none.
        level: String,
        /// The level demanded.
        demanded: String,
        /// The profile that demands it.
        profile: String,
        /// The layers, each with whether and how it holds.
        layers: Vec<String>,
    }
    /// A process in the sandbox wanted to reach another machine.
    "sandbox.passage" schema 1 SandboxPassage {
        /// The host and port, as asked for.
        host: String,
        /// Whether it was let through.
        allowed: bool,
        /// The address, or why it was refused.
        detail: String,
        /// Number of bytes sent.
        sent: u64,
        /// Number of bytes received.
        received: u64,
    }
    /// A person allowed something for good in this workshop.
    "policy.granted" schema 1 PolicyGranted {
        /// The rule, as written.
        rule: String,
        /// Why, in the person's words.
        reason: String,
    }
    /// A person revoked a grant.
    "policy.revoked" schema 1 PolicyRevoked {
        /// The rule, as written.
        rule: String,
    }
    /// A secret of the key store was placed in the environment of one child process.
    "secret.used" schema 1 SecretUsed {
        /// The call that needed it.
        call: String,
        /// The name of the secret, never its value.
        secret: String,
        /// The role that used it.
        role: String,
        /// The tool.
        tool: String,
        /// granted, denied or missing.
        verdict: String,
    }
    /// Somebody added a remark.
    "note.added" schema 1 NoteAdded {
        /// The remark.
        text: RecordedText,
    }
}

impl Fact {
    /// Returns whether an event of this kind is the last one of its stream.
    pub fn ends_stream(kind: &str) -> bool {
        Self::PAGES
            .iter()
            .any(|page| page.kind == kind && page.is_final)
    }
}

impl Fact {
    /// Returns the texts that state machines read. If such a text is stored as a blob, it
    /// is put back in before the event is folded.
    pub fn machine_texts(&mut self) -> Vec<&mut RecordedText> {
        match self {
            Self::RunPrepared(it) => vec![&mut it.system, &mut it.opening],
            Self::RunSaid(it) => vec![&mut it.text],
            Self::ModelReplied(it) => vec![&mut it.reply],
            Self::ToolFinished(it) => {
                let memory = it.memory.iter_mut();
                std::iter::once(&mut it.observation).chain(memory).collect()
            }
            Self::ContextCompacted(it) => vec![&mut it.messages],
            Self::ProofRecorded(it) => it.tests.iter_mut().collect(),
            Self::StepWorked(it) => vec![&mut it.summary],
            Self::StepJudged(it) => vec![&mut it.feedback, &mut it.outputs],
            Self::StepAdvised(it) => vec![&mut it.advice],
            Self::StepFailed(it) => vec![&mut it.why],
            Self::StepPassed(it) => vec![&mut it.outputs],
            Self::PlanAdopted(it) => vec![&mut it.plan],
            _ => Vec::new(),
        }
    }
}
