//! Commands for agents: a shell line, background commands, a skill's own scripts, and the
//! full text of shortened output.

mod advice;
mod cards;
mod script;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use artel_policy::{PolicyAction, command};
use artel_rules::patience;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::process::{self, BackgroundJobState, ToolProcessSpec};
use crate::{Tool, ToolContext, ToolDescriptor, ToolError, ToolErrorKind, ToolObservation, parse};

/// Longest timeout that a model may request, in seconds.
const LONGEST: u64 = 30 * 60;

/// Number of bytes in one result of `output`.
const PAGE: usize = 64 * 1024;

/// Returns the command tools.
pub fn shell_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(BashTool(cards::bash())),
        Arc::new(BackgroundJobTool(cards::job())),
        Arc::new(CommandOutputTool(cards::output())),
        Arc::new(script::SkillScriptTool(cards::script())),
    ]
}

struct BashTool(ToolDescriptor);
struct BackgroundJobTool(ToolDescriptor);
struct CommandOutputTool(ToolDescriptor);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BashInput {
    command: String,
    #[serde(default)]
    background: bool,
    timeout: Option<u64>,
    #[serde(default)]
    network: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackgroundJobInput {
    id: Option<u64>,
    #[serde(default)]
    kill: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandOutputInput {
    id: String,
    #[serde(default)]
    stderr: bool,
    #[serde(default)]
    offset: u64,
}

impl Tool for BashTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let BashInput {
            command, network, ..
        } = parse(input)?;
        let network = process::network(&network)?;
        let secrets = secrets_for(&command, bench);
        let mut actions = vec![PolicyAction::Shell(command)];
        actions.extend(process::reached(&network));
        actions.extend(secrets.into_iter().map(PolicyAction::Secret));
        Ok(actions)
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let BashInput {
            command,
            background,
            timeout,
            network,
        } = parse(input)?;
        let room = process::workroom(bench)?;
        let folder = room.state_folder()?;
        let end = place_of_end(&folder)?;
        let order = ToolProcessSpec {
            words: shell_words(&end, &command),
            cwd: bench.notes().cwd.clone(),
            timeout: Some(time_for(&command, timeout)),
            secrets: secrets_for(&command, bench),
            write: vec![folder],
            network,
            label: Some(command.clone()),
            ..ToolProcessSpec::default()
        };
        if background {
            let number = bench.jobs.start(bench, room, order)?;
            return Ok(ToolObservation {
                text: format!("runs in the background as {number}; `job` says how far it is"),
                data: json!({ "job": number }),
                ..ToolObservation::default()
            });
        }
        let limit = order.timeout.unwrap_or_default();
        let observed = process::run(bench, order);
        let mut observation =
            observed.map_err(|trouble| advice::with_hints(&command, limit, trouble))?;
        if let Some(cwd) = new_cwd(&end, bench) {
            let before = std::mem::replace(&mut bench.notes().cwd, cwd.clone());
            if before != cwd {
                observation.text.push_str(&format!("\n(now in {cwd})"));
            }
        }
        if observation.data["exit"] != 0 {
            let advice = advice::after(&command, &observation.text, bench, room);
            observation.hints.splice(..0, advice);
        }
        Ok(observation)
    }
}

impl Tool for BackgroundJobTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let BackgroundJobInput { id, kill } = parse(input)?;
        let Some(id) = id else {
            return Ok(list(bench));
        };
        let state = if kill {
            bench.jobs.kill(id)?
        } else {
            bench.jobs.state(id)?
        };
        match state {
            BackgroundJobState::Waiting(what) => Ok(ToolObservation {
                text: format!("{id} {what}"),
                data: json!({"state": "waiting"}),
                ..ToolObservation::default()
            }),
            BackgroundJobState::Running => Ok(ToolObservation {
                text: format!("{id} runs"),
                data: json!({"state": "running"}),
                ..ToolObservation::default()
            }),
            BackgroundJobState::Ended(Ok(mut observation)) => {
                observation.text = format!("{id} has ended: {}", observation.text);
                Ok(observation)
            }
            // The cancellation is what the model asked for.
            BackgroundJobState::Ended(Err(trouble)) if trouble.kind == ToolErrorKind::Cancelled => {
                Ok(ToolObservation::text(format!("{id}: {trouble}")))
            }
            BackgroundJobState::Ended(Err(trouble)) => Err(trouble),
        }
    }
}

impl Tool for CommandOutputTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        use std::os::unix::fs::FileExt as _;
        let CommandOutputInput { id, stderr, offset } = parse(input)?;
        let unknown = || {
            let trouble = ToolError::new(
                ToolErrorKind::NotFound,
                format!("there is no output `{id}`"),
            );
            match kept(bench) {
                ids if ids.is_empty() => trouble.hint("no command has printed anything yet"),
                ids => trouble.hint(format!("write `id` as {}", ids.join(" or "))),
            }
        };
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(unknown());
        }
        let stream = if stderr { "stderr" } else { "stdout" };
        let path = process::workroom(bench)?.spool.join(&id).join(stream);
        let file = std::fs::File::open(path).map_err(|_| unknown())?;
        let length = file.metadata().map_err(|_| unknown())?.len();
        let mut page = vec![0; PAGE];
        let count = file.read_at(&mut page, offset).map_err(|_| unknown())?;
        page.truncate(count);
        let next = offset + count as u64;
        let mut text = String::from_utf8_lossy(&page).into_owned();
        let mut hints = Vec::new();
        if next < length {
            text.push_str(&format!("\n… {} more bytes: offset {next}", length - next));
            hints.push(format!("write `offset` as `{next}` for the rest"));
        }
        Ok(ToolObservation {
            text,
            data: json!({ "bytes": length, "next": next }),
            is_partial: next < length,
            hints,
            ..ToolObservation::default()
        })
    }
}

/// Returns the newest stored outputs, newest first, formatted for hints.
fn kept(bench: &ToolContext) -> Vec<String> {
    let spool = bench.workroom.as_ref().map(|room| room.spool.clone());
    let entries = spool.and_then(|spool| std::fs::read_dir(spool).ok());
    let names = entries.into_iter().flatten().flatten();
    let mut names: Vec<String> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names.truncate(5);
    names.iter().map(|name| format!("`{name}`")).collect()
}

fn list(bench: &ToolContext) -> ToolObservation {
    let lines = bench.jobs.list().into_iter().map(|(number, label, state)| {
        let state = match &state {
            BackgroundJobState::Waiting(what) => what,
            BackgroundJobState::Running => "runs",
            BackgroundJobState::Ended(Ok(_)) => "has ended",
            BackgroundJobState::Ended(Err(_)) => "has ended badly",
        };
        format!("{number} {state}: {label}")
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        return ToolObservation::text("no background commands");
    }
    ToolObservation::text(lines.join("\n"))
}

/// Returns the words of a shell that writes its final folder to `end`. Its messages about
/// the line begin with its own name.
fn shell_words(end: &Path, command: &str) -> Vec<String> {
    let trap = format!("pwd -P > {}", quoted(&end.to_string_lossy()));
    let shell = format!("trap {} EXIT; eval \"$1\"", quoted(&trap));
    let words = ["/bin/bash", "--noprofile", "--norc", "-c", &shell, "bash"];
    let words = words.into_iter().chain([command]);
    words.map(str::to_owned).collect()
}

/// Quotes a word so that the shell takes it literally.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns the secrets that a command rule names for this line. Every process of a line
/// sees its variables, so only a command that stands alone gets any.
fn secrets_for(command: &str, bench: &ToolContext) -> Vec<String> {
    if bench.secret_rules.is_empty() {
        return Vec::new();
    }
    let Some(words) = command::plain_argv(&command::read(command)) else {
        return Vec::new();
    };
    let rules = bench.secret_rules.iter();
    let named = rules.filter(|rule| rule.admits_command(&words));
    let mut secrets: Vec<String> = named.flat_map(|rule| rule.secrets()).cloned().collect();
    secrets.sort();
    secrets.dedup();
    secrets
}

/// Returns the time limit of a line: as requested, or that of its slowest known command.
fn time_for(command: &str, asked: Option<u64>) -> Duration {
    if let Some(seconds) = asked {
        return Duration::from_secs(seconds.clamp(1, LONGEST));
    }
    let reading = command::read(command);
    patience::CommandTimeLimits::of_commands(reading.words()).base
}

/// Returns the file where the shell writes its final folder. At level partial nothing can
/// be created directly in a writable folder, only further down.
fn place_of_end(folder: &Path) -> Result<PathBuf, ToolError> {
    let below = folder.join("end");
    // A resumed run counts its folders from the start.
    let is_there = || below.symlink_metadata().is_ok_and(|about| about.is_dir());
    match std::fs::create_dir(&below) {
        Err(error) if !is_there() => {
            let what = format!("cannot make a folder for the command: {error}");
            return Err(ToolError::new(ToolErrorKind::Machine, what));
        }
        _ => {}
    }
    Ok(below.join("cwd"))
}

/// Returns the final folder of the shell, or `None` if it is outside the tree.
fn new_cwd(end: &Path, bench: &ToolContext) -> Option<String> {
    let text = artel_files::read_bounded(end, 8 * 1024).ok()?;
    let text = String::from_utf8(text).ok()?;
    let inside = bench
        .tree
        .resolve(Path::new(text.trim_end_matches('\n')))
        .ok()?;
    let path = inside.path.to_str()?;
    Some(if path.is_empty() { "." } else { path }.to_owned())
}
