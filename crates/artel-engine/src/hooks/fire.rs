//! Runs the hooks of an event, one after another, and records each of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use artel_types::model::ModelMessage;
use artel_types::{EventOutcome, Failure, HookRan, SecretRedactor};
use serde_json::{Map, Value, json};

use super::answer::HookAnswer;
use super::event::HookEvent;
use super::hook::{Hook, HookAction, HookFailureMode};
use super::matcher::names_of;
use super::runner::{self, HookCommandSpec};
use super::trust::HookScriptFingerprint;
use super::{
    CombinedHookAnswer, HookEnvironment, HookReport, HookToolCall, input, transcript, trust,
};

/// The hooks of a run, in order, with everything they need.
pub(super) struct SharedRunHooks {
    pub(super) hooks: Vec<Hook>,
    pub(super) runner: HookEnvironment,
    /// The run's files as they are now.
    tree: Mutex<PathBuf>,
    /// The conversation as it is now.
    conversation: Mutex<Vec<ModelMessage>>,
    /// The fingerprint of each hook's files, as a person trusted them.
    trusted: Arc<Prints>,
    /// The same for each tree of the run, as it was when the run entered it.
    copies: Arc<Mutex<BTreeMap<PathBuf, Arc<Prints>>>>,
}

/// The fingerprints of the hooks' files, in the order of the hooks.
type Prints = Vec<Option<HookScriptFingerprint>>;

fn prints(hooks: &[Hook], tree: &Path) -> Arc<Prints> {
    let prints = hooks
        .iter()
        .map(|hook| HookScriptFingerprint::of(hook, tree));
    Arc::new(prints.collect())
}

impl SharedRunHooks {
    pub(super) fn new(hooks: Vec<Hook>, runner: HookEnvironment) -> Self {
        Self {
            trusted: prints(&hooks, &runner.tree),
            copies: Arc::default(),
            tree: Mutex::new(runner.tree.clone()),
            conversation: Mutex::default(),
            hooks,
            runner,
        }
    }

    /// Returns the same hooks for a run that this one calls, working in the same tree.
    pub(super) fn for_child(&self, runner: HookEnvironment) -> Self {
        Self {
            hooks: self.hooks.clone(),
            runner,
            tree: Mutex::new(self.tree()),
            conversation: Mutex::default(),
            trusted: Arc::clone(&self.trusted),
            copies: Arc::clone(&self.copies),
        }
    }

    /// Returns whether the run changed a file that a hook runs, or one beside it. In the
    /// person's own folder the files must be as a person trusted them; a run's tree is a
    /// copy of that folder.
    fn is_changed(&self, hook: &Hook, tree: &Path) -> bool {
        if tree == self.runner.tree {
            return trust::stranger(hook, tree, &self.runner.trusted).is_some();
        }
        let at = self
            .hooks
            .iter()
            .position(|known| std::ptr::eq(known, hook));
        let print = |prints: &Prints| at.and_then(|at| prints.get(at).cloned().flatten());
        let (Some(trusted), Some(now)) =
            (print(&self.trusted), HookScriptFingerprint::of(hook, tree))
        else {
            return HookScriptFingerprint::of(hook, tree).is_some();
        };
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let first = copies.get(tree).and_then(|prints| print(prints));
        !trusted.is_copied_to(&now) || first.is_some_and(|first| first != now)
    }

    /// Runs the hooks of an event in order. Each hook sees the changes of the ones before
    /// it.
    pub(super) fn fire(
        &self,
        event: HookEvent,
        names: &[&str],
        facts: Value,
    ) -> Result<CombinedHookAnswer, Failure> {
        let tree = self.tree();
        let mut told = input::common(&self.runner.session, event, &tree);
        if let Value::Object(facts) = facts {
            told.extend(facts);
        }
        let mut heard = CombinedHookAnswer::default();
        if let Err(why) = self.write_transcript() {
            heard
                .notices
                .push(format!("hooks get no transcript: {why}"));
            told.insert("transcript_path".to_owned(), json!(""));
        }
        let is_wanted = |hook: &&Hook| hook.event == event && hook.matcher.admits(names);
        for hook in self.hooks.iter().filter(is_wanted) {
            let answer = self.run(hook, &told, &tree, &mut heard.notices)?;
            if let Some(input) = &answer.input {
                told.insert("tool_input".to_owned(), input.clone());
            }
            heard.take(answer);
            if event.is_gate() && heard.is_final() {
                break;
            }
        }
        Ok(heard)
    }

    /// Runs one hook and records it.
    fn run(
        &self,
        hook: &Hook,
        told: &Map<String, Value>,
        tree: &Path,
        notices: &mut Vec<String>,
    ) -> Result<HookAnswer, Failure> {
        let uptime = || self.runner.room.as_ref().map(|room| room.clock.uptime());
        let began = uptime();
        let (exit, answer) = self.ask(hook, told, tree);
        let took = uptime()
            .zip(began)
            .map(|(now, then)| now.saturating_sub(then));
        let millis = took.map_or(0, |took| took.as_millis());
        let (answer, message, outcome) = match answer {
            Ok(answer) => {
                let outcome = match answer.word() {
                    "deny" | "block" => EventOutcome::Denied,
                    _ => EventOutcome::Done,
                };
                let message = answer.message();
                (answer, message, outcome)
            }
            Err(HookFailure { why, is_open }) => {
                let said = format!("the hook `{}` failed: {why}", short(hook.label()));
                notices.push(said.clone());
                let is_open = is_open && hook.on_failure == HookFailureMode::Warn;
                let answer = if is_open {
                    HookAnswer::default()
                } else {
                    HookAnswer::blocking(hook.event, said)
                };
                (answer, why, EventOutcome::Failed)
            }
        };
        let ran = HookRan {
            event: hook.event.name().to_owned(),
            hook: short(hook.label()),
            exit,
            decision: answer.word().to_owned(),
            message,
            millis: u64::try_from(millis).unwrap_or(u64::MAX),
        };
        let foreign = runner::foreign_through(hook, &answer, tree);
        (self.runner.record)(HookReport {
            ran,
            outcome,
            foreign: self.runner.marks.read(foreign),
        })?;
        Ok(answer)
    }

    fn ask(
        &self,
        hook: &Hook,
        told: &Map<String, Value>,
        tree: &Path,
    ) -> (Option<i32>, Result<HookAnswer, HookFailure>) {
        let command = match &hook.action {
            HookAction::Command(command) => command,
            HookAction::BuiltIn(hook_in) => {
                let answer = hook_in.answer(hook.event, &Value::Object(told.clone()));
                return (None, answer.map_err(HookFailure::open));
            }
        };
        if self.is_changed(hook, tree) {
            // The run itself may have changed the file: a guard is not to be switched off
            // that way.
            let why = "a file that it runs, or one beside it, has changed since a person trusted \
                       the hook; restore the file, or end the run and ask a person to trust the \
                       hook again";
            return (None, Err(HookFailure::shut(why)));
        }
        let Some(room) = &self.runner.room else {
            let why = "no process can be started here".to_owned();
            return (None, Err(HookFailure::open(why)));
        };
        let tree_text = tree.to_string_lossy().into_owned();
        let ended = runner::run(
            room,
            HookCommandSpec {
                hook,
                command,
                stdin: Value::Object(told.clone()).to_string().into_bytes(),
                environment: vec![
                    ("CLAUDE_PROJECT_DIR", tree_text.clone()),
                    ("ARTEL_PROJECT_DIR", tree_text),
                    ("ARTEL_HOOK_EVENT", hook.event.name().to_owned()),
                    ("ARTEL_SESSION_ID", self.runner.session.id.clone()),
                ],
                tree,
                transcript: Path::new(&self.runner.session.transcript),
                session: self.session_name(),
            },
        );
        (
            ended.exit,
            ended.answer(hook.event).map_err(HookFailure::open),
        )
    }

    fn session_name(&self) -> String {
        let letters = self.runner.session.id.chars();
        let letters = letters.filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-');
        letters.take(64).collect()
    }

    /// Returns the fields about a call for hooks.
    pub(super) fn call(&self, call: &HookToolCall) -> Value {
        json!({
            "tool_name": names_of(&call.tool).first(),
            "tool_input": input::outward(&call.tool, &call.input, &self.tree()),
            "tool_use_id": call.id,
        })
    }

    /// Writes the conversation to the path that hooks are given.
    fn write_transcript(&self) -> std::io::Result<()> {
        let session = &self.runner.session;
        let (Some(room), false) = (&self.runner.room, session.transcript.is_empty()) else {
            return Ok(());
        };
        let messages = self.conversation.lock();
        let messages = messages.unwrap_or_else(PoisonError::into_inner).clone();
        let redactor =
            SecretRedactor::of_known_values(&room.known).with_formats(Arc::clone(&room.formats));
        let path = Path::new(&session.transcript);
        transcript::write(path, &session.id, &messages, &redactor)
    }

    /// Updates the conversation.
    pub(super) fn read_along(&self, messages: &[ModelMessage]) {
        let conversation = self.conversation.lock();
        let mut conversation = conversation.unwrap_or_else(PoisonError::into_inner);
        messages.clone_into(&mut conversation);
    }

    /// Sets the folder with the run's files.
    pub(super) fn works_in(&self, tree: &Path) {
        let mut now = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        tree.clone_into(&mut now);
        drop(now);
        if tree != self.runner.tree {
            let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = || prints(&self.hooks, tree);
            copies.entry(tree.to_owned()).or_insert_with(fresh);
        }
    }

    pub(super) fn tree(&self) -> PathBuf {
        let tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        tree.clone()
    }
}

/// The reason for a hook's failure, and whether it may be ignored.
struct HookFailure {
    why: String,
    is_open: bool,
}

impl HookFailure {
    fn open(why: String) -> Self {
        Self { why, is_open: true }
    }

    fn shut(why: &str) -> Self {
        Self {
            why: why.to_owned(),
            is_open: false,
        }
    }
}

/// Returns enough of a command to recognise it.
fn short(command: &str) -> String {
    match command.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &command[..end]),
        None => command.to_owned(),
    }
}
