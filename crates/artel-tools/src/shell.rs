//! Commands for agents: a shell line, jobs in the background, a skill's own scripts, and the full
//! text of whatever was cut.

mod cards;
mod script;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use artel_policy::{Action, command};
use artel_rules::patience;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::process::{self, JobState, Order};
use crate::{Bench, Card, Observation, Tool, Trouble, TroubleKind, parse};

/// The longest time that a model may ask for.
const LONGEST: u64 = 30 * 60;

/// Bytes of one answer of `output`.
const PAGE: usize = 64 * 1024;

/// The shell starts where the last command left it, and says where it ends up.
const SHELL: &str = "trap 'pwd -P > \"$0\"' EXIT; eval \"$1\"";

/// Returns the tools of this file.
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

    fn intends(&self, input: &Value, _: &Bench) -> Result<Vec<Action>, Trouble> {
        let BashInput { command, .. } = parse(input)?;
        Ok(vec![Action::Shell(command)])
    }

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
        let BashInput {
            command,
            background,
            timeout,
        } = parse(input)?;
        let room = process::workroom(bench)?;
        let folder = room.state_folder()?;
        let end = folder.join("cwd");
        let order = Order {
            words: shell_words(&end, &command),
            cwd: bench.notes().cwd.clone(),
            timeout: Some(time_for(&command, timeout)),
            write: vec![folder],
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
        let observed = process::run(bench, order);
        let mut observation = observed.map_err(|trouble| with_git_hint(&command, trouble))?;
        if let Some(cwd) = new_cwd(&end, bench) {
            let before = std::mem::replace(&mut bench.notes().cwd, cwd.clone());
            if before != cwd {
                observation.text.push_str(&format!("\n(now in {cwd})"));
            }
        }
        if observation.data["exit"] != 0
            && let Some(hint) = git_hint(&command)
        {
            observation.text.push_str(&format!("\n- {hint}"));
        }
        Ok(observation)
    }
}

impl Tool for Job {
    fn card(&self) -> &Card {
        &self.0
    }

    fn intends(&self, _: &Value, _: &Bench) -> Result<Vec<Action>, Trouble> {
        Ok(vec![Action::Nothing])
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
            JobState::Running => Ok(Observation {
                text: format!("{id} runs"),
                data: json!({"state": "running"}),
                ..Observation::default()
            }),
            JobState::Ended(Ok(mut observation)) => {
                observation.text = format!("{id} has ended: {}", observation.text);
                Ok(observation)
            }
            // That it was called off is what was asked for.
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

    fn intends(&self, _: &Value, _: &Bench) -> Result<Vec<Action>, Trouble> {
        Ok(vec![Action::Nothing])
    }

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
        use std::os::unix::fs::FileExt as _;
        let OutputInput { id, stderr, offset } = parse(input)?;
        let unknown = || {
            Trouble::new(TroubleKind::NotFound, format!("there is no output `{id}`"))
                .hint("the end of a command's answer names its id")
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
        if next < length {
            text.push_str(&format!("\n… {} more bytes: offset {next}", length - next));
        }
        Ok(Observation {
            text,
            data: json!({ "bytes": length, "next": next }),
            is_partial: next < length,
            ..Observation::default()
        })
    }
}

fn list(bench: &Bench) -> Observation {
    let lines = bench.jobs.list().into_iter().map(|(number, words, state)| {
        let state = match state {
            JobState::Running => "runs",
            JobState::Ended(Ok(_)) => "has ended",
            JobState::Ended(Err(_)) => "has ended badly",
        };
        let command = words.last().cloned().unwrap_or_default();
        format!("{number} {state}: {command}")
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        return Observation::text("no background commands");
    }
    Observation::text(lines.join("\n"))
}

fn shell_words(end: &Path, command: &str) -> Vec<String> {
    let end = end.to_string_lossy();
    [
        "/bin/bash",
        "--noprofile",
        "--norc",
        "-c",
        SHELL,
        &end,
        command,
    ]
    .map(str::to_owned)
    .into()
}

/// Returns how long a line may take: as long as its slowest command is known to, or as asked.
fn time_for(command: &str, asked: Option<u64>) -> Duration {
    if let Some(seconds) = asked {
        return Duration::from_secs(seconds.clamp(1, LONGEST));
    }
    let reading = command::read(command);
    patience::Limits::of_commands(reading.words()).base
}

/// Returns where the shell ended up, if that is inside the tree.
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

/// Git writes nothing of `.git` inside the sandbox; the git tools do it outside.
fn git_hint(command: &str) -> Option<String> {
    let reading = command::read(command);
    let tool = reading.words().find_map(|words| {
        let program = words.first()?;
        if program.rsplit('/').next() != Some("git") {
            return None;
        }
        let subcommand = words.get(1..)?.iter().find(|word| !word.starts_with('-'))?;
        match subcommand.as_str() {
            "add" | "commit" | "stash" | "checkout" | "switch" | "revert" | "fetch" | "pull" => {
                Some(format!("git_{subcommand}"))
            }
            "cherry-pick" => Some("git_cherry_pick".to_owned()),
            "branch" => Some("git_branch_create".to_owned()),
            "reset" => Some("git_reset_soft".to_owned()),
            _ => None,
        }
    })?;
    Some(format!(
        "git writes nothing from here; the tool `{tool}` does it"
    ))
}

fn with_git_hint(command: &str, trouble: Trouble) -> Trouble {
    match git_hint(command) {
        Some(hint) => trouble.hint(hint),
        None => trouble,
    }
}
