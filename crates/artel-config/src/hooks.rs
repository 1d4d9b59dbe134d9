//! Settings of hooks: commands that receive what a run does, and can stop it. They are a
//! list, so that the layers add up: no layer's hooks remove those of another layer.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use artel_types::{Failure, FailureCode};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::layers::SettingLayerEntry;
use crate::nearest::nearest;
use crate::problem::{self, shown};
use crate::schema::{SettingField, dotted};
use crate::value::{RawSettingValue, SettingKind, SettingValue, SettingValueError, any_of};
use crate::{SettingOrigin, document, form::SettingTextForm};

/// The events that a hook can run for.
pub const HOOK_EVENTS: [&str; 14] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreModel",
    "PostModel",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionEnd",
];

/// Priority of hooks that set none: in the middle.
const PRIORITY: u8 = 50;

pub(crate) const EXAMPLE: &str = "\
# Hooks: commands that get what a run does as JSON, and can stop it: exit code 2 blocks. Those of this
# file are shown once before they run, in the sandbox; `network` and `read` have a place in your own
# settings file alone.
#[[hooks.PreToolUse]]
#matcher = \"Bash|Edit\"          # names of tools, or a regular expression; all if left out
#command = \"./check.sh\"
#timeout = \"30s\"
#priority = 50                  # lower runs first, 0 to 100
#on_failure = \"warn\"            # \"block\": what it guards does not happen if it cannot be run
#write = [\"target\"]             # what it can change of the run's files
";

/// The keys of one hook. They are checked like settings, but are not settings.
static FIELDS: [SettingField; 8] = [
    field(
        "hooks.<event>.matcher",
        SettingKind::Text(SettingTextForm::Line),
    ),
    field(
        "hooks.<event>.command",
        SettingKind::Text(SettingTextForm::Line),
    ),
    field(
        "hooks.<event>.timeout",
        SettingKind::Span {
            least: Duration::from_millis(1),
        },
    ),
    field(
        "hooks.<event>.priority",
        SettingKind::Whole {
            least: 0,
            most: 100,
        },
    ),
    field(
        "hooks.<event>.on_failure",
        SettingKind::Choice(&["warn", "block"]),
    ),
    field(
        "hooks.<event>.network",
        SettingKind::List(SettingTextForm::Line),
    ),
    field(
        "hooks.<event>.read",
        SettingKind::List(SettingTextForm::Line),
    ),
    field(
        "hooks.<event>.write",
        SettingKind::List(SettingTextForm::Line),
    ),
];

/// A hook, as a settings file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    /// Event that it runs for, one of [`HOOK_EVENTS`].
    pub event: &'static str,
    /// Tools that it runs for; all of them if empty.
    pub matcher: String,
    /// Command for the shell.
    pub command: String,
    /// Longest time that it may take, or `None` for the usual one.
    pub timeout: Option<Duration>,
    /// Priority; lower ones run first.
    pub priority: u8,
    /// Effect of a failure of the hook.
    pub on_failure: HookFailureChoice,
    /// Hosts that it can reach. Only the user's own file can grant any.
    pub network: Vec<String>,
    /// Additional folders that it can read. Only the user's own file can grant any.
    pub read: Vec<PathBuf>,
    /// Folders that it can write. Relative ones are in the run's files.
    pub write: Vec<PathBuf>,
    /// Place of its declaration.
    pub origin: SettingOrigin,
}

/// The effect of a hook that fails or cannot be run, on the action that it guards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HookFailureChoice {
    /// The person gets a warning, and the action continues.
    #[default]
    Warn,
    /// The guarded action does not happen.
    Block,
}

/// Finds the origin and the source text of places in the file.
pub(crate) struct HookSectionSource<'p> {
    pub(crate) origin: &'p dyn Fn(usize) -> SettingOrigin,
    pub(crate) source: &'p dyn Fn(std::ops::Range<usize>) -> String,
}

/// Reads the section `hooks`. Every problem comes with its place in the text.
pub(crate) fn read(
    section: &Spanned<DeValue<'_>>,
    page: &HookSectionSource<'_>,
) -> Vec<(usize, Result<HookEntry, Failure>)> {
    let DeValue::Table(events) = section.get_ref() else {
        return vec![shape("hooks", section, page)];
    };
    let mut read = Vec::new();
    for (name, hooks) in events {
        let at = name.span().start;
        let Some(event) = HOOK_EVENTS.iter().find(|event| *event == name.get_ref()) else {
            read.push((at, Err(unknown_event(name.get_ref(), &(page.origin)(at)))));
            continue;
        };
        let DeValue::Array(hooks) = hooks.get_ref() else {
            read.push(shape(&format!("hooks.{event}"), hooks, page));
            continue;
        };
        for hook in hooks {
            match hook.get_ref() {
                DeValue::Table(table) => {
                    read.extend(one(event, hook.span().start, table, page));
                }
                _ => read.push(shape(&format!("hooks.{event}"), hook, page)),
            }
        }
    }
    read
}

/// Reads one hook, or returns all its problems.
fn one(
    event: &'static str,
    at: usize,
    table: &DeTable<'_>,
    page: &HookSectionSource<'_>,
) -> Vec<(usize, Result<HookEntry, Failure>)> {
    // A table in double brackets has no place of its own, but its first key has one.
    let first = table.keys().map(|key| key.span().start).min();
    let at = first.unwrap_or(at);
    let mut hook = HookEntry {
        event,
        matcher: String::new(),
        command: String::new(),
        timeout: None,
        priority: PRIORITY,
        on_failure: HookFailureChoice::Warn,
        network: Vec::new(),
        read: Vec::new(),
        write: Vec::new(),
        origin: (page.origin)(at),
    };
    let mut wrong = Vec::new();
    for (key, value) in table {
        let at = key.span().start;
        if let Err(failure) = hook.put(key.get_ref(), value, (page.origin)(at), page) {
            wrong.push((at, Err(failure)));
        }
    }
    if wrong.is_empty() && hook.command.is_empty() {
        let missing = Failure::new(
            FailureCode::S005,
            format!("a hook for {event} has no command"),
        )
        .because(hook.origin.place())
        .advise("write what it runs: command = \"./check.sh\"");
        wrong.push((at, Err(missing)));
    }
    if wrong.is_empty() {
        return vec![(at, Ok(hook))];
    }
    wrong
}

impl HookEntry {
    fn put(
        &mut self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        origin: SettingOrigin,
        page: &HookSectionSource<'_>,
    ) -> Result<(), Failure> {
        let path = ["hooks", self.event, key].map(str::to_owned).to_vec();
        let Some(field) = FIELDS.iter().find(|field| field.name() == key) else {
            let meant = nearest(key, FIELDS.iter().map(SettingField::name));
            let meant = meant.map(|name| format!("hooks.{}.{name}", self.event));
            return Err(problem::unknown(&dotted(&path), &origin, meant.as_deref()));
        };
        let given = document::given(value.get_ref());
        if key == "matcher" && given == RawSettingValue::Text(String::new()) {
            return Ok(());
        }
        let entry = SettingLayerEntry {
            field,
            path,
            given,
            echo: shown(&(page.source)(value.span())),
            origin,
        };
        match field.kind.read(&entry.given) {
            Ok(value) => self.take(key, value, &entry),
            Err(SettingValueError::Type) => Err(problem::wrong_type(&entry)),
            Err(SettingValueError::Value) => Err(problem::not_allowed(&entry)),
        }
    }

    fn take(
        &mut self,
        key: &str,
        value: SettingValue,
        entry: &SettingLayerEntry,
    ) -> Result<(), Failure> {
        let is_own = matches!(entry.origin, SettingOrigin::User(..));
        match (key, value) {
            ("network" | "read", SettingValue::List(list)) if !is_own && !list.is_empty() => {
                return Err(not_here(entry));
            }
            ("write", SettingValue::List(list))
                if !is_own && !list.iter().all(|it| is_inside(it)) =>
            {
                return Err(not_here(entry));
            }
            ("matcher", SettingValue::Text(text)) => self.matcher = text,
            ("command", SettingValue::Text(text)) => self.command = text,
            ("timeout", SettingValue::Span { length, .. }) => self.timeout = Some(length),
            ("priority", SettingValue::Whole(number)) => {
                self.priority = u8::try_from(number).unwrap_or(PRIORITY);
            }
            ("on_failure", SettingValue::Word("block")) => {
                self.on_failure = HookFailureChoice::Block
            }
            ("network", SettingValue::List(list)) => self.network = list,
            ("read", SettingValue::List(list)) => {
                self.read = list.into_iter().map(Into::into).collect()
            }
            ("write", SettingValue::List(list)) => {
                self.write = list.into_iter().map(Into::into).collect()
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the hook as a line of TOML, without its origin.
    pub(crate) fn to_toml(&self) -> String {
        let lists = [
            ("network", self.network.clone()),
            ("read", texts(&self.read)),
            ("write", texts(&self.write)),
        ];
        let mut parts = vec![
            format!("matcher = {}", text(&self.matcher)),
            format!("command = {}", text(&self.command)),
        ];
        let span = |time: Duration| format!("timeout = \"{}ms\"", time.as_millis());
        parts.extend(self.timeout.map(span));
        parts.push(format!("priority = {}", self.priority));
        if self.on_failure == HookFailureChoice::Block {
            parts.push("on_failure = \"block\"".to_owned());
        }
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        parts.extend(
            lists.map(|(name, list)| format!("{name} = {}", SettingValue::List(list).to_toml())),
        );
        format!("{{ {} }}", parts.join(", "))
    }
}

const fn field(key: &'static str, kind: SettingKind) -> SettingField {
    SettingField {
        key,
        kind,
        default: None,
        about: "A part of a hook.",
    }
}

fn text(text: &str) -> String {
    SettingValue::Text(text.to_owned()).to_toml()
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    paths.iter().map(text).collect()
}

/// Returns whether a path always stays inside the run's files.
fn is_inside(path: &str) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !path.starts_with('~') && Path::new(path).components().all(is_plain)
}

/// Returns the failure for a settings file that came with the work and wants more than the
/// sandbox gives.
fn not_here(entry: &SettingLayerEntry) -> Failure {
    let name = shown(&dotted(&entry.path));
    let what = format!("`{name}` cannot be `{}`", shown(&entry.echo));
    Failure::new(FailureCode::S005, what)
        .because(format!(
            "{}; only your own settings file lets a hook out of the run's files",
            entry.origin.place()
        ))
        .advise("declare the hook in your own settings file, or name folders of the run's files")
}

fn unknown_event(name: &str, origin: &SettingOrigin) -> Failure {
    let meant = nearest(name, HOOK_EVENTS);
    let did = meant.map(|meant| format!("did you mean `hooks.{meant}`?"));
    let what = format!("there are no hooks for `{}`", shown(name));
    Failure::new(FailureCode::S003, what)
        .because(origin.place())
        .advise(did.unwrap_or_else(|| format!("write {}", any_of(HOOK_EVENTS))))
}

fn shape(
    name: &str,
    value: &Spanned<DeValue<'_>>,
    page: &HookSectionSource<'_>,
) -> (usize, Result<HookEntry, Failure>) {
    let at = value.span().start;
    let failure = Failure::new(
        FailureCode::S004,
        format!("`{name}` is not a list of hooks"),
    )
    .because((page.origin)(at).place())
    .advise("write `[[hooks.PreToolUse]]` on a line of its own, and `command = …` below it");
    (at, Err(failure))
}
