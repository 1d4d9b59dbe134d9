//! What can happen: one enum of typed facts, each with its name and schema in the journal.
//!
//! Every record ever written must load for ever. A field may be added with a default; anything
//! else raises the schema number and keeps the older shape readable. `tests/golden_facts.rs` holds one stored
//! record per kind and schema.

use serde::{Deserialize, Serialize};

use crate::model::{Attribution, FaultKind, Priority, Privacy, Provider, Stop, Usage};
use crate::plan::{Claim, FailedTest, Finding, PlanState, ProofPlace, Size, Urgency, Verify};
use crate::{
    Amount, Class, DecidedBy, FileChange, ForeignSource, GrantOffer, Granted, KeptImage,
    LeftOutPath, Level, Money, Objective, PromptPart, RecordedInheritance, RunId, RunMetrics,
    SessionId, Text, Timestamp, WallOpening, WorkshopId,
};

/// Why a stored fact could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// A kind this build does not know.
    #[error("this build knows no event kind `{0}`")]
    UnknownKind(String),
    /// A schema this build does not know.
    #[error("`{kind}` has schema {found}; this build reads up to {newest}")]
    TooNew {
        /// The event kind.
        kind: &'static str,
        /// What is stored.
        found: u32,
        /// What can be read.
        newest: u32,
    },
    /// The stored JSON does not have the kind's shape.
    #[error("the payload of `{kind}` does not have its shape")]
    Shape {
        /// The event kind.
        kind: &'static str,
        /// What the parser said.
        #[source]
        cause: serde_json::Error,
    },
}

/// One line of the reference page: an event kind with what it means and its fields.
#[derive(Debug, Clone, Copy)]
pub struct FactPage {
    /// The dotted name.
    pub kind: &'static str,
    /// The newest schema.
    pub schema: u32,
    /// What it means.
    pub doc: &'static str,
    /// Whether nothing follows it in its stream.
    pub is_final: bool,
    /// Its payload.
    pub fields: &'static [FieldPage],
}

/// One field of a payload, for the reference page.
#[derive(Debug, Clone, Copy)]
pub struct FieldPage {
    /// The name in JSON.
    pub name: &'static str,
    /// The Rust type, which is close enough to read.
    pub form: &'static str,
    /// What it means.
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

        /// Everything that can happen. Matches on it are exhaustive on purpose: a new kind shows
        /// up wherever it must be thought about.
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
                    fields: &[ $( FieldPage {
                        name: stringify!($field),
                        form: stringify!($form),
                        doc: concat!($($field_doc),+),
                    }, )* ],
                }, )+
            ];

            /// Returns the dotted name.
            pub fn kind(&self) -> &'static str {
                match self { $( Self::$name(_) => $kind, )+ }
            }

            /// Returns the schema that [`Fact::encode`] writes.
            pub fn schema(&self) -> u32 {
                match self { $( Self::$name(_) => $schema, )+ }
            }

            /// Returns the payload as JSON.
            pub fn encode(&self) -> Result<String, serde_json::Error> {
                match self { $( Self::$name(fact) => serde_json::to_string(fact), )+ }
            }

            /// Reads a stored payload.
            pub fn decode(kind: &str, schema: u32, payload: &str) -> Result<Self, DecodeError> {
                match kind {
                    $( $kind => {
                        if schema > $schema {
                            return Err(DecodeError::TooNew {
                                kind: $kind, found: schema, newest: $schema,
                            });
                        }
                        serde_json::from_str(payload)
                            .map(Self::$name)
                            .map_err(|cause| DecodeError::Shape { kind: $kind, cause })
                    } )+
                    _ => Err(DecodeError::UnknownKind(kind.chars().take(100).collect())),
                }
            }
        }
    };
    (@final final) => { true };
    (@final) => { false };
}

facts! {
    /// A workshop folder was laid out.
    "workshop.created" schema 1 WorkshopCreated {
        /// The workshop's id, also in `.artel/workshop.json`.
        id: WorkshopId,
        /// The version of Artel that made it.
        version: String,
    }
    /// A person said that this workshop is theirs to use on this machine.
    "workshop.trusted" schema 1 WorkshopTrusted {
        /// Where it was then.
        path: String,
    }
    /// The configuration in force changed since the last time it was recorded.
    "config.loaded" schema 1 ConfigLoaded {
        /// BLAKE3 of the effective values, in hex.
        checksum: String,
        /// The files that were read, lowest layer first.
        files: Vec<String>,
    }
    /// The journal file was brought to a newer format.
    "journal.migrated" schema 1 JournalMigrated {
        /// The format it had.
        from: u32,
        /// The format it has.
        to: u32,
        /// The copy that was taken first.
        backup: String,
    }
    /// A copy of the journal was taken.
    "journal.backed_up" schema 1 JournalBackedUp {
        /// The copy.
        file: String,
        /// How many events it holds.
        events: u64,
        /// Why: `asked`, `daily`.
        why: String,
    }
    /// A person put back an earlier or shortened journal.
    "journal.restored" schema 1 JournalRestored {
        /// Where the events came from.
        source: String,
        /// How many there were.
        events: u64,
        /// How many known events were given up.
        lost: u64,
        /// Where the damaged file was put.
        set_aside: String,
    }
    /// Finished streams were moved to an archive file.
    "journal.pruned" schema 1 JournalPruned {
        /// The archive's file name.
        archive: String,
        /// Streams that ended before this were moved.
        before: Timestamp,
        /// How many streams.
        streams: u64,
        /// How many events.
        events: u64,
        /// The signed digest of the archive, in hex.
        digest: String,
    }
    /// A write that was cut off in the middle was found and dropped when the journal was opened.
    "journal.tail_torn" schema 1 JournalTailTorn {
        /// How many bytes belonged to it.
        bytes: u64,
    }
    /// A line of work began.
    "session.started" schema 1 SessionStarted {
        /// Which one.
        id: SessionId,
        /// What began it, in a few words.
        title: String,
    }
    /// A line of work ended.
    "session.ended" schema 1 (final) SessionEnded {
        /// Which one.
        id: SessionId,
    }
    /// A run began.
    "run.started" schema 4 RunStarted {
        /// Which one.
        id: RunId,
        /// What it does, in a line.
        title: String,
        /// The skill it carries out; nothing for a task in free words.
        skill: Option<String>,
        /// What was asked, verbatim, secrets taken out.
        task: Option<Text>,
        /// The folder whose files it works on.
        folder: Option<String>,
        /// The run that called it.
        parent: Option<RunId>,
        /// The call of the parent that began it; one call begins one run, also after a crash.
        call: Option<String>,
        /// The skills from the first run down to this one.
        chain: Option<Vec<String>>,
        /// How many forks lie above it.
        depth: Option<u32>,
        /// The version of the plan that it carries out.
        plan: Option<u32>,
        /// The step of a plan that it belongs to.
        step: Option<String>,
        /// What bounds it and all that it begins, as handed down by whatever began it.
        inherits: Option<RecordedInheritance>,
    }
    /// What a run starts from is settled: with this and its later events any process can go on.
    "run.prepared" schema 2 RunPrepared {
        /// The role.
        role: String,
        /// The model that was asked for.
        model: Option<String>,
        /// autonomous or simple.
        mode: String,
        /// How tools are called: native or text.
        calls: String,
        /// The standing instructions.
        system: Text,
        /// The first words of the conversation.
        opening: Text,
        /// How many turns it has.
        turns: u32,
        /// How often one approach may fail.
        retries: u32,
        /// What it may cost.
        cost: Option<Money>,
        /// Whether it looks over its answer once before it ends.
        checks_itself: bool,
        /// How many tokens of conversation fit the model.
        window: u64,
        /// The folder of the skill.
        skill_folder: Option<String>,
        /// BLAKE3 of the skill's files, in hex.
        skill_hash: Option<String>,
        /// The rules of the skill's own list of tools.
        allowed_tools: Option<Vec<String>>,
        /// The parts of the first request, each with its size in tokens.
        parts: Vec<PromptPart>,
        /// The files of standing context that were read, each with its BLAKE3.
        standing: Vec<String>,
        /// How many calls it has before it is begun anew.
        calls_limit: Option<u32>,
        /// What it is reminded of on the way.
        directive: Option<String>,
    }
    /// Something was said to the agent besides what tools answered: a hint, a nudge, a warning.
    "run.said" schema 1 RunSaid {
        /// The words.
        text: Text,
        /// Why: hint, nudge, warning, closing, check, cut, hook, refused.
        why: String,
    }
    /// A person wants a run to pause, go on, end, or know something.
    "run.steered" schema 1 RunSteered {
        /// pause, resume, cancel, hint.
        act: String,
        /// What they said.
        text: String,
    }
    /// A process took up a run that another one had left.
    "run.continued" schema 1 RunContinued {
        /// The last event there was.
        after: u64,
        /// What was in flight, and what is done about it.
        settled: Vec<String>,
    }
    /// A run needs an answer of a person to go on.
    "run.asked" schema 2 RunAsked {
        /// Names the question.
        question: String,
        /// What is asked.
        text: String,
        /// What can be answered; anything if empty.
        choices: Vec<String>,
        /// The call it is about.
        call: Option<String>,
        /// What is filled in as the answer; the person takes it or changes it.
        suggested: Option<String>,
    }
    /// A person answered a run.
    "run.answered" schema 1 RunAnswered {
        /// Names the question.
        question: String,
        /// What was answered.
        answer: String,
    }
    /// A run gave up on its goal after repeated failures and calls for help.
    "run.escalated" schema 1 RunEscalated {
        /// Why.
        why: String,
        /// What failed, newest last.
        failures: Vec<String>,
    }
    /// The conversation of a run was made shorter; all of it stays in the journal.
    "context.compacted" schema 1 ContextCompacted {
        /// How: elided or summarised.
        how: String,
        /// Tokens before.
        before: u64,
        /// Tokens after.
        after: u64,
        /// The conversation that is gone on with, as JSON.
        messages: Text,
    }
    /// A run got a tree of its own, made from a folder as it is.
    "tree.made" schema 1 TreeMade {
        /// The folder it was made from.
        origin: String,
        /// Where it is.
        path: String,
        /// Its first snapshot.
        snapshot: String,
        /// How it was made, in a few words.
        how: String,
        /// How long it took.
        millis: u64,
    }
    /// The state of a run's tree was kept.
    "tree.snapped" schema 1 TreeSnapped {
        /// Names it.
        snapshot: String,
        /// Why: before, passed, end.
        why: String,
        /// How long it took.
        millis: u64,
    }
    /// A run's tree was put back to a snapshot.
    "tree.restored" schema 1 TreeRestored {
        /// Which one.
        snapshot: String,
        /// Why: unknown-outcome, strikes.
        why: String,
        /// How many files were changed, made or removed by that.
        files: u64,
    }
    /// A command in a skill's text was run, or not; the outcome says which.
    "skill.injected" schema 1 SkillInjected {
        /// The skill.
        skill: String,
        /// The command.
        command: String,
        /// What stands in its place.
        output: Text,
        /// The rule that decided.
        rule: String,
        /// How long it took.
        millis: u64,
    }
    /// A person trusted a skill as it is: one with other contents is asked about again.
    "skill.trusted" schema 1 SkillTrusted {
        /// Its name.
        skill: String,
        /// Where it is.
        folder: String,
        /// BLAKE3 of its files, in hex.
        hash: String,
    }
    /// A skill of the workshop's own that was used before counts as known as it was then.
    "skill.known" schema 1 SkillKnown {
        /// Its name.
        skill: String,
        /// Where it is.
        folder: String,
        /// BLAKE3 of its files, in hex.
        hash: String,
    }
    /// A person looked at a file that a run or plan had put among the workshop's own, and said that
    /// it counts.
    "workshop.file_trusted" schema 1 WorkshopFileTrusted {
        /// The file.
        file: String,
        /// BLAKE3 of its bytes, in hex.
        hash: String,
    }
    /// A person trusted a hook as it is.
    "hook.trusted" schema 1 HookTrusted {
        /// The file that declares it.
        file: String,
        /// What it runs.
        command: String,
        /// BLAKE3 of event, matcher and command, in hex.
        hash: String,
    }
    /// A hook was run; the outcome says whether it let things pass.
    "hook.ran" schema 1 HookRan {
        /// What it was run for.
        event: String,
        /// What was run, or the name of a built-in one.
        hook: String,
        /// Its exit code; nothing where it did not end by itself.
        exit: Option<i32>,
        /// allow, ask, deny, block, context, none.
        decision: String,
        /// What it said.
        message: String,
        /// How long it took.
        millis: u64,
    }
    /// A run ended; the outcome of the event says how.
    "run.finished" schema 3 (final) RunFinished {
        /// Which one.
        id: RunId,
        /// What came of it, in a line.
        summary: String,
        /// complete, partial, failed or cancelled.
        state: Option<String>,
        /// The answer.
        answer: Option<Text>,
        /// Why it is not complete.
        why: Option<String>,
        /// What was achieved, and what was not, as far as it is known.
        objectives: Option<Vec<Objective>>,
        /// Files that it made or changed in its own tree.
        changed: Option<Vec<FileChange>>,
        /// The last snapshot of its tree.
        snapshot: Option<String>,
        /// What it took.
        metrics: Option<RunMetrics>,
        /// What of its tree is kept nowhere and never put in place.
        left_out: Option<Vec<LeftOutPath>>,
    }
    /// A person had the files of a run put in place.
    "run.applied" schema 1 RunApplied {
        /// Which run.
        id: RunId,
        /// Where.
        folder: String,
        /// The files.
        files: Vec<String>,
    }
    /// A run goes on differently from a point of another: what that one knew up to then is its past.
    "run.forked" schema 2 RunForked {
        /// Which run.
        id: RunId,
        /// The run whose past it has.
        from: RunId,
        /// The last event of that past.
        at: u64,
        /// The model that goes on; that of the past if not given.
        model: Option<String>,
    }
    /// The work of a run goes on in a fresh one, which is told what is known so far.
    "run.handed_over" schema 1 RunHandedOver {
        /// The run that goes on.
        to: RunId,
        /// Why.
        why: String,
        /// The first words of that run.
        opening: Text,
    }
    /// A person said how a run went.
    "feedback.given" schema 1 FeedbackGiven {
        /// Which run.
        id: RunId,
        /// What they said.
        text: String,
    }
    /// Something about a skill is kept for its next runs.
    "lesson.learned" schema 1 LessonLearned {
        /// Names it.
        id: String,
        /// The skill.
        skill: String,
        /// success, failure or feedback.
        sort: String,
        /// What is kept.
        text: String,
        /// The run it comes from.
        from: Option<RunId>,
    }
    /// A person changed what is kept.
    "lesson.changed" schema 1 LessonChanged {
        /// Names it.
        id: String,
        /// What is kept from now on.
        text: String,
    }
    /// A person, or the bound on their number, removed what was kept.
    "lesson.removed" schema 1 LessonRemoved {
        /// Names it.
        id: String,
    }
    /// A project folder was opened to agents, or what holds for it was changed.
    "portal.opened" schema 1 PortalOpened {
        /// The name people use.
        name: String,
        /// The folder, without links.
        path: String,
        /// What may be done there: read, write, git.
        operations: Vec<String>,
        /// The roles that may work there; `*` for all.
        agents: Vec<String>,
        /// Where its content may go: any or local-only.
        privacy: String,
        /// What it is made of, as far as it was found.
        stack: Vec<String>,
        /// The commands that build, lint and test it, where a person said so.
        checks: Vec<String>,
    }
    /// A project folder was closed to agents.
    "portal.closed" schema 1 PortalClosed {
        /// The name.
        name: String,
    }
    /// A portal did not let a role do something: it is not open to the role, or not for that.
    "portal.refused" schema 1 PortalRefused {
        /// The portal.
        name: String,
        /// The role.
        role: String,
        /// What it wanted: read, write or git, or the tool that it called.
        wanted: String,
        /// Why not.
        why: String,
        /// The call; nothing where it was said before anything began.
        call: Option<String>,
    }
    /// A person made, changed or removed a role.
    "agent.changed" schema 1 AgentChanged {
        /// Which one.
        id: String,
        /// created, updated or removed.
        act: String,
        /// BLAKE3 of its file, in hex; nothing where it is gone.
        hash: Option<String>,
    }
    /// A token for the HTTP interface was made. The token itself is shown once and kept nowhere.
    "token.created" schema 2 TokenCreated {
        /// Names it.
        id: String,
        /// What people call it, and who acts with it.
        name: String,
        /// user, developer or admin.
        role: String,
        /// BLAKE3 of the token, in hex.
        hash: String,
        /// Whether a program holds it: then nothing is approved with it.
        program: Option<bool>,
    }
    /// A token holds no more.
    "token.revoked" schema 1 TokenRevoked {
        /// Which one.
        id: String,
    }
    /// A link was offered that opens the console once.
    "login.offered" schema 1 LoginOffered {
        /// Names it.
        id: String,
        /// Who signs in by it.
        name: String,
        /// user, developer or admin.
        role: String,
        /// BLAKE3 of the code in it, in hex.
        hash: String,
        /// It holds until then.
        until: Timestamp,
    }
    /// Somebody signed in at the console by a link, which is used up by that.
    "login.used" schema 2 LoginUsed {
        /// Which link.
        id: String,
        /// BLAKE3 of what the browser shows from then on, in hex.
        hash: String,
        /// It holds until then.
        until: Timestamp,
        /// BLAKE3 of the key without which pages are read and nothing is changed, in hex. A sign-in
        /// from before there were keys has none, and holds no more. Since schema 2.
        key: Option<String>,
    }
    /// The console of this workshop was given a host name of its own.
    "console.named" schema 1 ConsoleNamed {
        /// The name, below `localhost` and without a port.
        name: String,
    }
    /// Somebody signed out at the console.
    "login.ended" schema 1 LoginEnded {
        /// By which link they had signed in.
        id: String,
    }
    /// The daemon took up its work.
    "daemon.started" schema 2 DaemonStarted {
        /// Its process.
        pid: u32,
        /// Its version.
        version: String,
        /// Where it listens.
        listen: String,
        /// How many unfinished runs and pieces of work it took up.
        taken: u64,
        /// Whether a person named the address at the start; nothing where the settings did.
        named: Option<bool>,
    }
    /// The daemon laid its work down.
    "daemon.stopped" schema 1 DaemonStopped {
        /// Its process.
        pid: u32,
        /// Why.
        why: String,
    }
    /// A person had the daemon begin nothing new.
    "daemon.paused" schema 1 DaemonPaused {
        /// What they said about it.
        why: Option<String>,
    }
    /// A person had the daemon begin new work again.
    "daemon.resumed" schema 1 DaemonResumed {}
    /// Settings, roles, skills or policy changed while the daemon ran.
    "daemon.reloaded" schema 1 DaemonReloaded {
        /// What changed.
        what: Vec<String>,
        /// Why what was in force stays in force; empty where the new is.
        problems: Vec<String>,
    }
    /// Something that the daemon was at broke off by a fault of Artel; it is tried again.
    "daemon.faltered" schema 1 DaemonFaltered {
        /// The piece of work or the run; nothing where it was not known yet.
        id: Option<String>,
        /// What was said about it, secrets taken out.
        why: String,
    }
    /// A person asked for something.
    "request.created" schema 1 RequestCreated {
        /// The words, verbatim, secrets taken out.
        words: Text,
        /// The first of them.
        title: String,
        /// The portal it is about.
        portal: Option<String>,
        /// The folder it is about.
        folder: String,
        /// The role that was asked for.
        agent: String,
        /// How urgent it is.
        urgency: Urgency,
        /// cli, file, interactive, api or console.
        source: String,
        /// Its file in `Inbox/Requests`.
        file: String,
        /// How large it is, which decides its path.
        size: Size,
        /// Why it is taken to be that large.
        why: String,
        /// How its steps are to be verified, where the person said so.
        verify: Option<Verify>,
        /// What limits how it is done.
        constraints: Vec<Claim>,
        /// What has to hold afterwards.
        criteria: Vec<Claim>,
        /// The skill that is to be planned.
        skill: Option<String>,
        /// The model that the person named for it.
        model: Option<String>,
    }
    /// A file in the inbox is no request.
    "request.refused" schema 1 RequestRefused {
        /// The file.
        file: String,
        /// The field that is wrong.
        field: String,
        /// What is wrong with it, and what to do.
        message: String,
    }
    /// The file of a request was given another name, and is still that request.
    "request.moved" schema 1 RequestMoved {
        /// Its file from now on.
        file: String,
    }
    /// A request was answered, or done at once, without a plan to approve; the outcome says how.
    "request.settled" schema 1 RequestSettled {
        /// The run that did it.
        run: RunId,
        /// answered, done or failed.
        state: String,
    }
    /// The architect began to read for a plan, or to write it anew.
    "plan.explored" schema 1 PlanExplored {
        /// Its run.
        run: RunId,
        /// The version that it is to write.
        version: u32,
        /// request, revise, change or skill.
        why: String,
    }
    /// There is a new version of a plan, to be reviewed.
    "plan.drafted" schema 1 PlanDrafted {
        /// Which version, from 1.
        version: u32,
        /// The plan as JSON.
        plan: Text,
        /// BLAKE3 of that JSON, in hex: what an approval is bound to.
        hash: String,
        /// Its title.
        title: String,
        /// Its file in `Inbox/Plans`.
        file: String,
        /// The run that wrote it; nothing where a person did.
        run: Option<RunId>,
    }
    /// No plan came of it.
    "plan.failed" schema 1 PlanFailed {
        /// Why.
        why: String,
        /// What was wrong with the last attempt.
        problems: Vec<String>,
    }
    /// A person wants a plan to be different.
    "plan.commented" schema 2 PlanCommented {
        /// The version.
        version: u32,
        /// What they said.
        comments: Vec<String>,
        /// The model that they named for the version that it asks for. Since schema 2.
        model: Option<String>,
    }
    /// A person approved a plan: this version of it, and no other.
    "plan.approved" schema 2 PlanApproved {
        /// The version.
        version: u32,
        /// Its hash.
        hash: String,
        /// The run that carries it out.
        run: RunId,
        /// The model that they named for all of that run. Since schema 2.
        model: Option<String>,
    }
    /// Whoever is at a terminal leaves a plan that was approved to the daemon.
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
    /// A person called a plan off.
    "plan.cancelled" schema 1 PlanCancelled {
        /// Why.
        reason: String,
    }
    /// The steps of a plan are being done.
    "plan.running" schema 1 PlanRunning {
        /// The run.
        run: RunId,
        /// The version.
        version: u32,
    }
    /// The steps of a plan are over.
    "plan.ended" schema 1 PlanEnded {
        /// The run.
        run: RunId,
        /// done, failed or cancelled.
        state: PlanState,
        /// Why it is not done.
        why: Option<String>,
    }
    /// An agent needs the plan to be different, or its step to have more scope.
    "plan.proposed" schema 1 PlanProposed {
        /// Names the proposal.
        id: String,
        /// The step that needs it.
        step: String,
        /// What should change, in words.
        what: String,
        /// Why.
        why: String,
        /// What it would mean for the other steps.
        impact: String,
        /// The plan as it would be, as JSON.
        plan: Text,
        /// Its hash.
        hash: String,
        /// Whether the step cannot go on without it.
        blocking: bool,
    }
    /// A person decided about a proposal, or it lapsed with its step; the outcome says how.
    "plan.decided" schema 1 PlanDecided {
        /// Names the proposal.
        id: String,
        /// Why, in their words.
        reason: String,
        /// The version that it became; nothing where it was turned down.
        version: Option<u32>,
    }
    /// The steps of a plan go on by another version that a person approved.
    "plan.adopted" schema 1 PlanAdopted {
        /// The version.
        version: u32,
        /// The plan as JSON.
        plan: Text,
        /// Its hash.
        hash: String,
    }
    /// The run of a plan has a branch of its own, from here on.
    "branch.begun" schema 1 BranchBegun {
        /// Its name.
        branch: String,
        /// The commit that it starts from.
        base: String,
        /// The branch that was checked out then; nothing where none was.
        into: Option<String>,
        /// Files of the person that differ from that commit, and so are not in it.
        dirty: Vec<String>,
        /// Whether the folder is in no repository, so that a patch is delivered.
        patch: bool,
    }
    /// What passes before the first step is known, or a person said that nothing has to.
    "baseline.taken" schema 1 BaselineTaken {
        /// The commit it was taken on.
        commit: String,
        /// The commands, each as one line of words.
        commands: Vec<String>,
        /// Whether there is one; without it a person is asked for commands.
        holds: bool,
        /// Why there is none.
        why: Option<String>,
    }
    /// The runtime ran a check, and this is what it gave. It is never changed.
    "proof.recorded" schema 3 ProofRecorded {
        /// Names it within its run.
        id: String,
        /// Where in the run it was made.
        place: ProofPlace,
        /// The step, if any.
        step: Option<String>,
        /// Which attempt at the step, or which round at the end, from 1.
        round: u32,
        /// tests, build, lint, command or file.
        sort: String,
        /// What was run or looked at, in one line.
        what: String,
        /// The exit code, where a program was run.
        exit: Option<i64>,
        /// Tests that passed, where the output said so.
        passed: Option<u64>,
        /// Tests that failed.
        failed: Option<u64>,
        /// Tests that were skipped.
        skipped: Option<u64>,
        /// Which ones failed.
        failures: Vec<FailedTest>,
        /// The git tree it was made on.
        tree: String,
        /// What was printed, as much as is kept.
        output: Text,
        /// Whether it shows what it was made to show.
        holds: bool,
        /// How long it took.
        millis: u64,
        /// The tests by name, as JSON; nothing where the output did not name them all.
        tests: Option<Text>,
        /// What compilers, linters and type checkers found, each with its place.
        findings: Option<Vec<Finding>>,
        /// How much of the code the tests run; nothing where no tool for it is set up.
        coverage: Option<String>,
        /// The BLAKE3 hash of the file that was looked at, as hex.
        hash: Option<String>,
    }
    /// An attempt at a step began.
    "step.started" schema 1 StepStarted {
        /// The step.
        step: String,
        /// Which attempt, from 1.
        round: u32,
        /// The commit it starts from.
        base: String,
    }
    /// An agent did its part of a step.
    "step.worked" schema 2 StepWorked {
        /// The step.
        step: String,
        /// Which attempt.
        round: u32,
        /// criteria, tests or work.
        part: String,
        /// The run that did it.
        run: RunId,
        /// complete, partial, failed or cancelled.
        state: String,
        /// What it says about it, in a line or a few.
        summary: Text,
        /// Criteria, where it was to name them.
        criteria: Vec<Claim>,
        /// The git tree it left.
        tree: String,
        /// What of its files is not in that tree, and kept nowhere. Since schema 2.
        left_out: Option<Vec<LeftOutPath>>,
    }
    /// A part of a step left files changed that it is held to, or that are not its to change; they
    /// are again as they were. Whoever did it, the attempt answers for the tests it is held to.
    "step.put_back" schema 1 StepPutBack {
        /// The step.
        step: String,
        /// Which attempt.
        round: u32,
        /// tests or work.
        part: String,
        /// The run that left them so.
        run: RunId,
        /// The files, from the root of the repository.
        files: Vec<String>,
    }
    /// The runtime checked what an attempt left; its proofs are recorded beside it.
    "step.checked" schema 1 StepChecked {
        /// The step.
        step: String,
        /// Which attempt.
        round: u32,
        /// red or green.
        phase: String,
        /// Whether it passes.
        passed: bool,
        /// Why not; what the next attempt is told.
        why: Vec<String>,
    }
    /// Another agent judged an attempt.
    "step.judged" schema 1 StepJudged {
        /// The step.
        step: String,
        /// Which attempt.
        round: u32,
        /// evaluator, inspector or tester.
        by: String,
        /// Its run.
        run: RunId,
        /// Whether it passes, after the runtime looked at the evidence.
        passed: bool,
        /// What the next attempt is told.
        feedback: Text,
        /// What was found.
        findings: Vec<Finding>,
        /// What it rests on: commands it ran, files it read.
        evidence: Vec<String>,
        /// Values that are handed on if the step passes, as JSON.
        outputs: Text,
        /// test or code: what a tester holds to be at fault.
        fault: Option<String>,
    }
    /// An attempt at a step did not pass.
    "step.failed" schema 1 StepFailed {
        /// The step.
        step: String,
        /// Which attempt.
        round: u32,
        /// Why.
        why: Text,
    }
    /// The architect said why a step did not pass in any of its attempts, before a person decides.
    "step.advised" schema 1 StepAdvised {
        /// The step.
        step: String,
        /// The last attempt.
        round: u32,
        /// The architect's run; nothing where it was not asked.
        run: Option<RunId>,
        /// plan, code, tests or surroundings: what it holds to be at fault; nothing where it said
        /// nothing.
        fault: Option<String>,
        /// Why, and what it advises.
        advice: Text,
        /// The change of the plan that it proposes.
        proposal: Option<String>,
    }
    /// A step passed: one commit, and the values it hands on.
    "step.passed" schema 1 StepPassed {
        /// The step.
        step: String,
        /// Which attempt.
        round: u32,
        /// The commit on the branch; nothing where no file changed.
        commit: Option<String>,
        /// The branch's head from now on.
        head: String,
        /// The files that it changed.
        files: Vec<String>,
        /// The values, as JSON.
        outputs: Text,
        /// Checks that a person waived.
        waived: Vec<String>,
    }
    /// A step is over without having passed, or a person wants another attempt.
    "step.settled" schema 1 StepSettled {
        /// The step.
        step: String,
        /// failed, skipped, cancelled, taken-over or again.
        state: String,
        /// Why.
        why: String,
    }
    /// A person wants nothing of one step to begin for now, or wants it to go on.
    "step.steered" schema 1 StepSteered {
        /// The step.
        step: String,
        /// pause or resume.
        act: String,
    }
    /// A person waived a check or a finding, for a reason that stays.
    "step.waived" schema 2 StepWaived {
        /// The step.
        step: String,
        /// inspector, tester, evaluator, or the finding.
        what: String,
        /// Why.
        reason: String,
        /// The finding itself, where it is one: the next verdict gives its name to another. Since
        /// schema 2.
        finding: Option<Finding>,
    }
    /// The branch as a whole was checked on a clean checkout.
    "branch.checked" schema 1 BranchChecked {
        /// Which round, from 1.
        round: u32,
        /// The commit.
        head: String,
        /// Whether every proof holds there.
        passed: bool,
        /// What does not.
        why: Vec<String>,
    }
    /// What did not hold on the whole branch was mended, or could not be.
    "branch.mended" schema 1 BranchMended {
        /// Which round.
        round: u32,
        /// The run that did it.
        run: RunId,
        /// The commit; nothing where no file changed.
        commit: Option<String>,
        /// The branch's head from now on.
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
        /// The branch; nothing where the folder is in no repository.
        branch: Option<String>,
        /// The branch that it started from; nothing where none was checked out.
        into: Option<String>,
        /// The commit that it started from.
        base: String,
        /// Its last commit.
        head: String,
        /// How many commits it has.
        commits: u64,
        /// The files.
        files: Vec<FileChange>,
        /// Lines added.
        added: u64,
        /// Lines removed.
        removed: u64,
        /// Whether every proof holds on a clean checkout.
        proven: bool,
        /// Whether all steps passed.
        complete: bool,
        /// What was waived or left for later.
        deferred: Vec<String>,
        /// The patch, where there is no branch.
        patch: Option<String>,
    }
    /// A person wants a changeset merged, undone or brought back; it is on record before git is touched.
    "changeset.ordered" schema 1 ChangesetOrdered {
        /// approve, undo or redo.
        act: String,
        /// The branch that moves.
        into: String,
        /// Where it was.
        old: String,
        /// Where it will be.
        new: String,
        /// What git needs to do it again after a crash, as JSON.
        plan: Text,
        /// Why it is merged although proofs do not hold.
        waiver: Option<String>,
    }
    /// A changeset was merged, undone or brought back.
    "changeset.merged" schema 2 ChangesetMerged {
        /// approve, undo or redo.
        act: String,
        /// The branch that moved.
        into: String,
        /// The new commit.
        commit: String,
        /// The files.
        files: Vec<String>,
        /// How a person brought it into the branch themselves: `merged` by a merge commit, `moved`
        /// where the branch was only moved on; nothing where Artel did.
        by_hand: Option<String>,
    }
    /// What a person ordered about a changeset was not done; everything is as it was before.
    "changeset.refused" schema 1 ChangesetRefused {
        /// approve, undo or redo.
        act: String,
        /// Why.
        why: String,
        /// The files that stood in the way.
        files: Vec<String>,
    }
    /// A person rejected a changeset; its branch is gone.
    "changeset.rejected" schema 1 ChangesetRejected {
        /// Why.
        reason: String,
        /// The branch that was removed.
        branch: Option<String>,
        /// Its last commit.
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
    /// Part of a prompt was loaded under a budget of tokens.
    "context.loaded" schema 1 ContextLoaded {
        /// smallest-first, drop-largest, drop-oldest or truncate-each.
        strategy: String,
        /// The budget.
        budget: u64,
        /// What was used of it.
        tokens: u64,
        /// Files that are in it.
        included: Vec<String>,
        /// Files that were left out.
        skipped: Vec<String>,
        /// Files that were cut.
        truncated: Vec<String>,
    }
    /// A limit was set.
    "budget.limited" schema 1 BudgetLimited {
        /// Whose.
        level: Level,
        /// How much may be spent in all.
        limit: Amount,
    }
    /// Part of a budget was set aside before a call.
    "budget.reserved" schema 2 BudgetReserved {
        /// Names the reservation.
        key: String,
        /// The budgets it counts against.
        levels: Vec<Level>,
        /// The estimate.
        amount: Amount,
        /// The step that it is set aside for as a whole: what its calls take is taken out of it.
        /// Nothing where it is for one call.
        step: Option<String>,
    }
    /// A call was paid for.
    "budget.settled" schema 1 BudgetSettled {
        /// Names the reservation.
        key: String,
        /// What it really cost.
        amount: Amount,
    }
    /// A reservation was given back unspent.
    "budget.released" schema 1 BudgetReleased {
        /// Names the reservation.
        key: String,
    }
    /// A budget has come close to its limit, or a run has become expensive.
    "budget.warned" schema 1 BudgetWarned {
        /// Whose.
        level: Level,
        /// Since when it counts; nothing where it counts for ever.
        since: Option<Timestamp>,
        /// What was used by then.
        used: Amount,
        /// What it is measured against.
        limit: Amount,
    }
    /// A question is about to be put to a model.
    "model.requested" schema 2 ModelRequested {
        /// Names the call; its attempts share it.
        call: String,
        /// Which attempt it is, from 1.
        attempt: u32,
        /// What was asked for: an alias, or `provider:model`.
        wanted: String,
        /// How that was resolved, in a few words.
        resolved: String,
        /// Who is asked.
        provider: Provider,
        /// The model, in the provider's word.
        model: String,
        /// How urgent it is.
        priority: Priority,
        /// Where its content may go.
        privacy: Privacy,
        /// On whose account.
        account: Attribution,
        /// What was set aside for it.
        estimate: Amount,
        /// The request as JSON, without secrets; where `prior` names an earlier call, only what
        /// comes after that one's messages.
        request: Text,
        /// BLAKE3 of the request, in hex: what a recording is found by.
        fingerprint: String,
        /// The call whose request this one begins with.
        prior: Option<String>,
    }
    /// A model answered.
    "model.replied" schema 1 ModelReplied {
        /// Names the call.
        call: String,
        /// Which attempt it was.
        attempt: u32,
        /// Who answered.
        provider: Provider,
        /// The model, in the provider's word.
        model: String,
        /// On whose account.
        account: Attribution,
        /// Why the answer ended.
        stop: Stop,
        /// What it took, as the provider counts.
        usage: Option<Usage>,
        /// What it took where the provider does not say, and what was charged either way.
        charged: Amount,
        /// What it cost; nothing if no price is known.
        cost: Option<Money>,
        /// Milliseconds until the first piece came.
        first_ms: u64,
        /// Milliseconds until the end.
        total_ms: u64,
        /// The reply as JSON, without secrets.
        reply: Text,
    }
    /// An attempt to get an answer failed, or was called off; the outcome says which.
    "model.failed" schema 1 ModelFailed {
        /// Names the call.
        call: String,
        /// Which attempt it was.
        attempt: u32,
        /// Who was asked.
        provider: Provider,
        /// The model, in the provider's word.
        model: String,
        /// On whose account.
        account: Attribution,
        /// The sort of fault; nothing where it was called off.
        fault: Option<FaultKind>,
        /// Its class.
        class: Option<Class>,
        /// The HTTP status.
        status: Option<u16>,
        /// What was said about it.
        message: String,
        /// The provider's name for the request.
        request_id: Option<String>,
        /// What was charged for what had come by then.
        charged: Amount,
        /// What that cost; nothing if no price is known.
        cost: Option<Money>,
        /// When it is tried again; nothing if it is not.
        retry_at: Option<Timestamp>,
        /// What had come by then, as text.
        partial: Option<Text>,
    }
    /// A provider asked us to slow down; nothing more is sent to it for a while.
    "provider.paused" schema 1 ProviderPaused {
        /// Who.
        provider: String,
        /// Until when.
        until: Timestamp,
        /// How many times in a row.
        attempt: u32,
        /// What it said.
        why: String,
    }
    /// A provider is asked again as usual.
    "provider.resumed" schema 1 ProviderResumed {
        /// Who.
        provider: String,
    }
    /// A provider failed so often that it is left alone for a while.
    "breaker.opened" schema 1 BreakerOpened {
        /// Who.
        provider: String,
        /// When it is tried again.
        until: Timestamp,
        /// What decided it.
        why: String,
    }
    /// One call is let through to see whether a provider is back, or has come back.
    "breaker.probed" schema 1 BreakerProbed {
        /// Who.
        provider: String,
        /// Another one may be let through from then on; at once, when this one is over.
        until: Timestamp,
        /// How many came back well, one after the other.
        successes: u32,
    }
    /// A provider is well again, or a person said that it is to be asked again.
    "breaker.closed" schema 1 BreakerClosed {
        /// Who.
        provider: String,
        /// What decided it.
        why: String,
    }
    /// An agent wants to use a tool. It is on record before anything is done.
    "tool.requested" schema 2 ToolRequested {
        /// Names the call; the events of one call share it.
        call: String,
        /// The tool.
        tool: String,
        /// Whose call it is: a role.
        role: String,
        /// The input, secrets taken out.
        input: Text,
        /// What policy answered: allow, ask or deny.
        decision: String,
        /// The rule that decided.
        rule: String,
        /// Why.
        reason: String,
        /// BLAKE3 of the canonical record, in hex: what a person sees is what runs.
        record: String,
        /// What an intent without a result means: pure, idempotent, probe, restore, once.
        unknown: String,
        /// Whether a rule decided, or the walls of the run.
        decided_by: Option<DecidedBy>,
        /// What the call lets through the walls, once it is carried out; nothing where it lets nothing.
        opens: Option<Vec<WallOpening>>,
    }
    /// A person is asked whether a call may be carried out; whoever answers first decides.
    "tool.asked" schema 2 ToolAsked {
        /// Names the call.
        call: String,
        /// The tool.
        tool: String,
        /// BLAKE3 of what is shown, in hex: an answer names it.
        record: String,
        /// What would be done, completely.
        shown: Text,
        /// Why it is asked.
        why: String,
        /// What a yes may grant beyond this once; nothing where it is asked about every time.
        offer: Option<GrantOffer>,
    }
    /// A person answered whether a call may be carried out.
    "tool.answered" schema 2 ToolAnswered {
        /// Names the call.
        call: String,
        /// The record that was shown.
        record: String,
        /// What was answered: once, run, always, no; nobody where nobody could be asked. Older
        /// journals also have session, which held for one agent's run.
        answer: String,
        /// Why, in the person's words.
        reason: String,
        /// What was granted with it, for the run's whole tree or for good.
        granted: Option<Granted>,
        /// The rules that would allow it for good, where nobody could be asked.
        offered: Option<Vec<String>>,
    }
    /// A call was carried out, or could not be; the outcome says which.
    "tool.finished" schema 2 ToolFinished {
        /// Names the call.
        call: String,
        /// The tool.
        tool: String,
        /// What the model gets to see, secrets taken out.
        observation: Text,
        /// The kind of trouble, where there was any.
        trouble: Option<String>,
        /// Files that were made, changed or deleted.
        changed: Vec<String>,
        /// How long it took.
        millis: u64,
        /// The level of the sandbox that stood around its processes; nothing where there were none.
        sandbox: Option<String>,
        /// How many secrets were taken out of the output.
        redacted: u64,
        /// The exit code, where a program was run.
        exit: Option<i64>,
        /// What the run remembers since, as JSON: the list of things to do, files it knows.
        memory: Option<Text>,
        /// Pictures for the model, by where they are kept.
        images: Option<Vec<KeptImage>>,
    }
    /// A run read something that nobody vouched for. From then on a secret and a way out together are
    /// asked about in all of its piece of work.
    "foreign.read" schema 2 ForeignRead {
        /// The call that brought it; nothing where the run began with it.
        call: Option<String>,
        /// What was read for the first time. Since schema 2 also words of programs.
        sources: Vec<ForeignSource>,
    }
    /// The walls that stand around the processes of a run, tested before the first of them.
    "sandbox.engaged" schema 1 SandboxEngaged {
        /// The level reached: full, partial, none.
        level: String,
        /// The level demanded.
        demanded: String,
        /// The profile that demands it.
        profile: String,
        /// Each wall with whether and how it stands.
        layers: Vec<String>,
    }
    /// A process in the sandbox wanted to reach another machine.
    "sandbox.passage" schema 1 SandboxPassage {
        /// The host and port, as asked for.
        host: String,
        /// Whether it was let through.
        allowed: bool,
        /// The address, or why not.
        detail: String,
        /// Bytes that went out.
        sent: u64,
        /// Bytes that came in.
        received: u64,
    }
    /// A person allowed something for good in this workshop.
    "policy.granted" schema 1 PolicyGranted {
        /// The rule, as written.
        rule: String,
        /// Why, in the person's words.
        reason: String,
    }
    /// A person took a grant back.
    "policy.revoked" schema 1 PolicyRevoked {
        /// The rule, as written.
        rule: String,
    }
    /// A secret of the key store went into the environment of one child.
    "secret.used" schema 1 SecretUsed {
        /// The call that needed it.
        call: String,
        /// Its name, never its value.
        secret: String,
        /// Who used it: a role.
        role: String,
        /// The tool.
        tool: String,
        /// granted, denied or missing.
        verdict: String,
    }
    /// Somebody wrote a remark.
    "note.added" schema 1 NoteAdded {
        /// The remark.
        text: Text,
    }
}

impl Fact {
    /// Tells whether nothing follows this kind in its stream.
    pub fn ends_stream(kind: &str) -> bool {
        Self::PAGES
            .iter()
            .any(|page| page.kind == kind && page.is_final)
    }
}

impl Fact {
    /// Returns the texts that machines read, which are put back in before an event is folded where
    /// they are kept apart.
    pub fn machine_texts(&mut self) -> Vec<&mut Text> {
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
