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

use crate::process::{self, JobState, Order};
use crate::{Bench, Card, Observation, Tool, Trouble, TroubleKind, parse};

/// Longest timeout that a model may request, in seconds.
const LONGEST: u64 = 30 * 60;

/// Number of bytes in one result of `output`.
const PAGE: usize = 64 * 1024;

/// Returns the command tools.
pub fn shell_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Bash(cards::bash())),
        Arc::new(Job(cards::job())),
        Arc::new(Output(cards::output())),
        Arc::new(script::Script(cards::script())),
    ]
}

struct Bash(Card);
struct Job(Card);
struct Output(Card);

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
struct JobInput {
    id: Option<u64>,
    #[serde(default)]
    kill: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputInput {
    id: String,
    #[serde(default)]
    stderr: bool,
    #[serde(default)]
    offset: u64,
}

impl Tool for Bash {
    fn card(&self) -> &Card {
        &self.0
    }

    fn intends(&self, input: &Value, bench: &Bench) -> Result<Vec<PolicyAction>, Trouble> {
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

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
        let BashInput {
            command,
            background,
            timeout,
            network,
        } = parse(input)?;
        let room = process::workroom(bench)?;
        let folder = room.state_folder()?;
        let end = place_of_end(&folder)?;
        let order = Order {
            words: shell_words(&end, &command),
            cwd: bench.notes().cwd.clone(),
            timeout: Some(time_for(&command, timeout)),
            secrets: secrets_for(&command, bench),
            write: vec![folder],
            network,
            label: Some(command.clone()),
            ..Order::default()
        };
        if background {
            let number = bench.jobs.start(bench, room, order)?;
            return Ok(Observation {
                text: format!("runs in the background as {number}; `job` says how far it is"),
                data: json!({ "job": number }),
                ..Observation::default()
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

impl Tool for Job {
    fn card(&self) -> &Card {
        &self.0
    }

    fn intends(&self, _: &Value, _: &Bench) -> Result<Vec<PolicyAction>, Trouble> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
        let JobInput { id, kill } = parse(input)?;
        let Some(id) = id else {
            return Ok(list(bench));
        };
        let state = if kill {
            bench.jobs.kill(id)?
        } else {
            bench.jobs.state(id)?
        };
        match state {
            JobState::Waiting(what) => Ok(Observation {
                text: format!("{id} {what}"),
                data: json!({"state": "waiting"}),
                ..Observation::default()
            }),
            JobState::Running => Ok(Observation {
                text: format!("{id} runs"),
                data: json!({"state": "running"}),
                ..Observation::default()
            }),
            JobState::Ended(Ok(mut observation)) => {
                observation.text = format!("{id} has ended: {}", observation.text);
                Ok(observation)
            }
            // The cancellation is what the model asked for.
            JobState::Ended(Err(trouble)) if trouble.kind == TroubleKind::Cancelled => {
                Ok(Observation::text(format!("{id}: {trouble}")))
            }
            JobState::Ended(Err(trouble)) => Err(trouble),
        }
    }
}

impl Tool for Output {
    fn card(&self) -> &Card {
        &self.0
    }

    fn intends(&self, _: &Value, _: &Bench) -> Result<Vec<PolicyAction>, Trouble> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
        use std::os::unix::fs::FileExt as _;
        let OutputInput { id, stderr, offset } = parse(input)?;
        let unknown = || {
            let trouble = Trouble::new(TroubleKind::NotFound, format!("there is no output `{id}`"));
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
        Ok(Observation {
            text,
            data: json!({ "bytes": length, "next": next }),
            is_partial: next < length,
            hints,
            ..Observation::default()
        })
    }
}

/// Returns the newest stored outputs, newest first, formatted for hints.
fn kept(bench: &Bench) -> Vec<String> {
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

fn list(bench: &Bench) -> Observation {
    let lines = bench.jobs.list().into_iter().map(|(number, label, state)| {
        let state = match &state {
            JobState::Waiting(what) => what,
            JobState::Running => "runs",
            JobState::Ended(Ok(_)) => "has ended",
            JobState::Ended(Err(_)) => "has ended badly",
        };
        format!("{number} {state}: {label}")
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        return Observation::text("no background commands");
    }
    Observation::text(lines.join("\n"))
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
fn secrets_for(command: &str, bench: &Bench) -> Vec<String> {
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
fn place_of_end(folder: &Path) -> Result<PathBuf, Trouble> {
    let below = folder.join("end");
    // A resumed run counts its folders from the start.
    let is_there = || below.symlink_metadata().is_ok_and(|about| about.is_dir());
    match std::fs::create_dir(&below) {
        Err(error) if !is_there() => {
            let what = format!("cannot make a folder for the command: {error}");
            return Err(Trouble::new(TroubleKind::Machine, what));
        }
        _ => {}
    }
    Ok(below.join("cwd"))
}

/// Returns the final folder of the shell, or `None` if it is outside the tree.
fn new_cwd(end: &Path, bench: &Bench) -> Option<String> {
    let text = artel_files::read_bounded(end, 8 * 1024).ok()?;
    let text = String::from_utf8(text).ok()?;
    let inside = bench
        .tree
        .resolve(Path::new(text.trim_end_matches('\n')))
        .ok()?;
    let path = inside.path.to_str()?;
    Some(if path.is_empty() { "." } else { path }.to_owned())
}
