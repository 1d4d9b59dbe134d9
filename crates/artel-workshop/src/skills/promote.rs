//! A recorded run becomes a test of its skill.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use artel_files::{create_new, make_dirs, read_bounded};
use artel_git::RunTree;
use artel_model::{Cassette, Take};
use artel_skills::Skill;
use artel_skills::cases::{self, Cases, Expect, FileState, Run, State, Triggers};
use artel_types::model::{Part, Reply, Request};
use artel_types::{
    ChangeKind, Code, Fact, Failure, FileChange, RunFinished, RunId, RunStarted, RunState, Text,
};
use serde::Serialize;

use super::rehearse::{SKILL_DIR, WORKSPACE};
use crate::trouble::{file_failure, path_text};
use crate::workshop::Workshop;

/// So many input files are taken along, so large together and each.
const MOST_FILES: usize = 50;
const MOST_BYTES: usize = 512 * 1024;
const LARGEST_FILE: u64 = 128 * 1024;

/// So much of a line stands for a text in what is expected.
const LONGEST_EXPECTED: usize = 80;

/// A run that became a test.
#[derive(Debug, Clone, Serialize)]
pub struct Promoted {
    /// The skill.
    pub skill: String,
    /// The case.
    #[serde(serialize_with = "path_text")]
    pub case: PathBuf,
    /// What the model says in it.
    #[serde(serialize_with = "path_text")]
    pub recording: PathBuf,
    /// The input files that the case brings.
    pub files: Vec<String>,
    /// Files that were read, and are too large, too many or no text.
    pub left_out: Vec<String>,
}

impl Workshop {
    /// Writes a test from a run: what it was given, what the model said, how it ended.
    pub fn promote_run(&self, id: &str, name: Option<&str>) -> Result<Promoted, Failure> {
        let (started, _) = self.started(self.run_named(id)?)?;
        let run = started.id;
        let skill = self.skill_of(&started)?;
        let name = name.map_or_else(|| format!("run-{}", run.short()), str::to_owned);
        check_name(&name)?;
        let seen = self.seen(run)?;
        let Some(finished) = &seen.finished else {
            return Err(Failure::new(Code::R008, "the run is not over")
                .advise(format!("`artel resume {}` goes on with it", run.short())));
        };
        let state = match finished.state.as_deref().and_then(|it| it.parse().ok()) {
            Some(RunState::Complete) => State::Complete,
            Some(RunState::Partial) => State::Partial,
            Some(RunState::Failed) => State::Failed,
            Some(RunState::Cancelled) | None => {
                return Err(Failure::new(Code::R008, "a cancelled run is no example")
                    .advise("`artel runs` shows those that came to an end"));
            }
        };
        let ground = Before::of(self, &started)?;
        let arguments = self.text_of(started.task.as_ref())?;
        let wanted = seen.read.iter().map(String::as_str);
        let wanted = wanted.chain(arguments.split_whitespace());
        let (files, left_out) = ground.inputs(wanted);
        let expect = Expect {
            state,
            answer_contains: expected_line(&self.text_of(finished.answer.as_ref())?, &ground)
                .into_iter()
                .collect(),
            files: ground.outcome(finished.changed.as_deref().unwrap_or_default()),
            turns_at_most: finished
                .metrics
                .as_ref()
                .and_then(|metrics| u32::try_from(metrics.turns).ok()),
        };
        let script = format!("{name}.rehearsal.jsonl");
        let case = Cases {
            triggers: Triggers::default(),
            runs: vec![Run {
                name: name.clone(),
                arguments,
                script: script.clone(),
                files: files.clone(),
                expect,
            }],
        };
        let cassette = ground.cleaned(&self.cassette(&run.to_string())?, &skill);
        let folder = skill.folder.join("tests");
        let (case_file, recording) = (folder.join(format!("{name}.yaml")), folder.join(script));
        for file in [&case_file, &recording] {
            if file.symlink_metadata().is_ok() {
                let what = format!("`{}` is there already", file.display());
                return Err(Failure::new(Code::C004, what).advise("`--name` gives another name"));
            }
        }
        let failed = |error| file_failure(Code::W008, &error);
        make_dirs(&folder, 0o755).map_err(failed)?;
        create_new(&recording, cassette.write_jsonl()?.as_bytes(), 0o644).map_err(failed)?;
        create_new(&case_file, cases::write(&case).as_bytes(), 0o644).map_err(failed)?;
        Ok(Promoted {
            skill: skill.name,
            case: case_file,
            recording,
            files: files.into_keys().collect(),
            left_out,
        })
    }

    fn skill_of(&self, started: &RunStarted) -> Result<Skill, Failure> {
        let short = started.id.short();
        let Some(name) = &started.skill else {
            return Err(Failure::new(Code::R008, "the run is of no skill")
                .because("a task in free words has no folder to keep a test in")
                .advise("`artel run SKILL …`, then `artel skill test --from RUN`"));
        };
        if let Some(parent) = started.parent {
            return Err(Failure::new(Code::R008, "the run was called by another")
                .because(format!("what `{short}` was given stands there"))
                .advise(format!("`artel skill test --from {}`", parent.short())));
        }
        let folder = started.folder.as_deref().map(Path::new);
        let folder = folder.filter(|folder| folder.is_dir());
        let found = self.find_skills(&self.run_folder(folder)?);
        found.get(name).cloned()
    }

    /// Looks through the events of a run.
    fn seen(&self, run: RunId) -> Result<SeenRun, Failure> {
        let filter = artel_journal::Filter {
            run: Some(run.to_string()),
            ..artel_journal::Filter::default()
        };
        let mut seen = SeenRun::default();
        let query = artel_journal::Query::of(filter);
        for record in self.reader()?.records(&query)? {
            match record.event()?.fact {
                Fact::ToolRequested(fact) => {
                    let input = self.text_of(Some(&fact.input))?;
                    let input: serde_json::Value = serde_json::from_str(&input).unwrap_or_default();
                    seen.read.extend(paths_in(&input));
                }
                Fact::RunFinished(finished) => seen.finished = Some(finished),
                _ => {}
            }
        }
        Ok(seen)
    }

    fn text_of(&self, text: Option<&Text>) -> Result<String, Failure> {
        match text {
            None => Ok(String::new()),
            Some(Text::Inline(text)) => Ok(text.clone()),
            Some(Text::Kept(kept)) => {
                let bytes = artel_journal::Blobs::at(self.home.blobs()).get(&kept.blob)?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }
}

#[derive(Default)]
struct SeenRun {
    /// The paths that calls named.
    read: BTreeSet<String>,
    finished: Option<RunFinished>,
}

/// Returns the words of an input that may be paths of files: fields that are, and the words of
/// commands.
fn paths_in(input: &serde_json::Value) -> Vec<String> {
    let mut paths = Vec::new();
    for key in ["path", "file", "from", "input"] {
        paths.extend(input[key].as_str().map(str::to_owned));
    }
    for item in input["paths"].as_array().into_iter().flatten() {
        paths.extend(item.as_str().map(str::to_owned));
    }
    let command = input["command"].as_str().unwrap_or_default();
    let words = command.split_whitespace();
    paths.extend(words.map(|word| word.trim_matches(['"', '\'']).to_owned()));
    paths
}

/// The files of a run as they were when it began.
struct Before {
    folder: PathBuf,
    tree: Option<RunTree>,
}

impl Before {
    fn of(workshop: &Workshop, started: &RunStarted) -> Result<Self, Failure> {
        let folder = started.folder.as_deref().map(PathBuf::from);
        let folder = folder.ok_or_else(|| Failure::new(Code::R008, "the run names no folder"))?;
        let git = workshop.caller.program("git");
        let at = workshop.tree_of(started.id);
        // A run that changed nothing made no tree: its folder is what it read.
        let tree = git.and_then(|git| RunTree::open(&git, &at).ok());
        Ok(Self { folder, tree })
    }

    /// Returns a path relative to the workspace, if it lies in it.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let tree = self.tree.as_ref().map(RunTree::files);
        let relative = tree
            .and_then(|tree| path.strip_prefix(tree).ok())
            .or_else(|| path.strip_prefix(&self.folder).ok())
            .unwrap_or(path);
        let plain: PathBuf = relative
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect();
        let mut parts = plain.components();
        let is_plain = parts.all(|part| matches!(part, Component::Normal(_)));
        (is_plain && !plain.as_os_str().is_empty()).then_some(plain)
    }

    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        match &self.tree {
            Some(tree) => tree.file_at(tree.start(), path, LARGEST_FILE).ok()?,
            None => {
                let root = artel_files::Root::open(&self.folder).ok()?;
                root.read(path, LARGEST_FILE, &any).ok()
            }
        }
    }

    /// Returns the files of these names that were there, and those that cannot be taken along.
    fn inputs<'p>(
        &self,
        paths: impl Iterator<Item = &'p str>,
    ) -> (BTreeMap<String, String>, Vec<String>) {
        let paths: BTreeSet<PathBuf> = paths.filter_map(|path| self.inside(path)).collect();
        let (mut files, mut left_out, mut bytes) = (BTreeMap::new(), Vec::new(), 0);
        for path in paths {
            let name = path.display().to_string();
            let Some(held) = self.read(&path) else {
                if self.folder.join(&path).is_file() {
                    left_out.push(name);
                }
                continue;
            };
            let fits = files.len() < MOST_FILES && bytes + held.len() <= MOST_BYTES;
            match String::from_utf8(held) {
                Ok(text) if fits && path.to_str().is_some() => {
                    bytes += text.len();
                    files.insert(name, text);
                }
                _ => left_out.push(name),
            }
        }
        (files, left_out)
    }

    /// Returns what the changed files must be after a run.
    fn outcome(&self, changed: &[FileChange]) -> BTreeMap<String, FileState> {
        let expected = changed.iter().take(MOST_FILES).filter_map(|change| {
            let state = match change.kind {
                ChangeKind::Deleted => FileState::Absent(true),
                ChangeKind::Mode => return None,
                ChangeKind::Made | ChangeKind::Changed => {
                    let file = self.tree.as_ref()?.files().join(&change.path);
                    let bytes = read_bounded(&file, 4 << 20).ok();
                    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                    let line = text.and_then(|text| expected_line(&text, self));
                    line.map_or(FileState::Absent(false), FileState::Contains)
                }
            };
            Some((change.path.clone(), state))
        });
        expected.collect()
    }

    /// Returns a recording without what is different in every folder, and without the questions:
    /// they hold the whole conversation, and a test asks its own.
    fn cleaned(&self, cassette: &Cassette, skill: &Skill) -> Cassette {
        let mut names = vec![
            (skill.folder.display().to_string(), SKILL_DIR),
            (self.folder.display().to_string(), WORKSPACE),
        ];
        if let Some(tree) = &self.tree {
            names.push((tree.files().display().to_string(), WORKSPACE));
        }
        // A folder in another is named before it.
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let clean = |text: &mut String| {
            for (path, name) in &names {
                *text = text.replace(path.as_str(), name);
            }
        };
        let takes = cassette.takes().iter().map(|take| {
            let mut reply: Reply = take.reply.clone();
            for part in &mut reply.parts {
                match part {
                    Part::Text { text, .. } | Part::Thinking { text, .. } => clean(text),
                    Part::ToolCall(call) => clean(&mut call.arguments),
                    Part::Image(_) | Part::ToolResult(_) => {}
                }
            }
            Take::new(Request::default(), reply)
        });
        Cassette::new(takes.collect())
    }

    fn names_a_folder(&self, text: &str) -> bool {
        let tree = self
            .tree
            .as_ref()
            .map(|tree| tree.files().display().to_string());
        tree.is_some_and(|tree| text.contains(&tree))
            || text.contains(&*self.folder.display().to_string())
    }
}

/// Returns the first line that says something and holds no path of this machine.
fn expected_line(text: &str, before: &Before) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !before.names_a_folder(line))?;
    Some(line.chars().take(LONGEST_EXPECTED).collect::<String>())
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_fine = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_fine) {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(
        Failure::new(Code::C004, format!("`{shown}` is no name for a test"))
            .advise("letters, digits, `-` and `_`, at most 64 of them"),
    )
}

fn any(_: &Path, _: artel_files::Op) -> Result<(), artel_files::Refusal> {
    Ok(())
}
