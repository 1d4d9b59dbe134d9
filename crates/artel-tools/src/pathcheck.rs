//! Performs or refuses one file operation as the file tools would, from one line of input
//! to one line of output.
//!
//! This shows and tests the path rules from outside: the same roots, the same guard and
//! the same built-in names as in a run, with a policy that fits into the line itself.

mod alias;
mod deny;
mod guard;
mod metadata;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use artel_files::{FileEntryKind, RootFolder, RootFolderError};
use serde::{Deserialize, Serialize};

pub use guard::PathGuard;
pub use metadata::ProtectedMetadataGuard;

use alias::{PathAlias, PathCheckLocation};
use deny::FileDenyRuleSet;

/// Largest part of a file that is shown, in bytes.
const MOST_TEXT: u64 = 1 << 20;
/// Largest number of names shown of a folder.
const MOST_ENTRIES: usize = 10_000;
/// Longest line accepted, in bytes; a longer one is not a request about a path.
const MOST_LINE: usize = 64 << 20;

/// The request: an operation on a path beneath a root.
#[derive(Debug, Deserialize)]
struct PathCheckRequest {
    root: String,
    path: String,
    op: PathCheckOperation,
    content: Option<String>,
    #[serde(default)]
    aliases: BTreeMap<String, String>,
    #[serde(default)]
    deny: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PathCheckOperation {
    Read,
    Write,
    Delete,
}

/// The reply: the decision, the reason, and the content read.
#[derive(Debug, Serialize)]
struct PathCheckReply {
    decision: &'static str,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<String>>,
}

/// Performs or refuses the operation that a line of JSON describes, and returns the reply
/// as one line of JSON. Every input gets a reply; one that cannot be parsed is refused.
pub fn check_line(line: &str) -> String {
    let answer = read_question(line)
        .and_then(|question| question.perform())
        .unwrap_or_else(PathCheckReply::deny);
    // A struct of strings always serialises; the fallback is there all the same.
    serde_json::to_string(&answer)
        .unwrap_or_else(|_| r#"{"decision":"deny","reason":"the answer has no form"}"#.to_owned())
}

fn read_question(line: &str) -> Result<PathCheckRequest, String> {
    if line.len() > MOST_LINE {
        return Err(format!("the line is longer than {MOST_LINE} bytes"));
    }
    serde_json::from_str(line).map_err(|cause| format!("the line cannot be understood: {cause}"))
}

impl PathCheckRequest {
    fn perform(&self) -> Result<PathCheckReply, String> {
        let PathCheckLocation { root, alias, path } = self.place()?;
        let denials = FileDenyRuleSet::read(&self.deny, root.path())?;
        let guard = PathGuard::new(&root, alias.as_ref(), &denials);
        let path = path.as_path();
        let done = match self.op {
            PathCheckOperation::Read => read(&root, path, &guard),
            PathCheckOperation::Write => {
                let content = self.content.as_deref().unwrap_or("x");
                let written = root.write(path, content.as_bytes(), &guard);
                written.map(|written| PathCheckReply::allow("written", &written.path))
            }
            PathCheckOperation::Delete => {
                let deleted = root.delete(path, &guard);
                deleted.map(|path| PathCheckReply::allow("removed", &path))
            }
        };
        done.map_err(|error| told(&error))
    }

    /// Finds the root and the path beneath it. `@Name/path` is beneath the folder of that
    /// name; a file whose name begins with `@` is written as `./@name`.
    fn place(&self) -> Result<PathCheckLocation, String> {
        let root = open(&self.root)?;
        let Some(named) = self.path.strip_prefix('@') else {
            let path = PathBuf::from(&self.path);
            return Ok(PathCheckLocation {
                root,
                alias: None,
                path,
            });
        };
        let (name, inside) = named.split_once('/').unwrap_or((named, ""));
        let folder = self.aliases.get(name).ok_or_else(|| {
            format!(
                "there is no `@{name}`; a file of that name here is `./{}`",
                self.path
            )
        })?;
        // A second slash does not make the path absolute: the name is already a root.
        let inside = match inside.trim_start_matches('/') {
            "" => ".",
            inside => inside,
        };
        if !matches!(self.op, PathCheckOperation::Read)
            && Path::new(inside).components().eq([Component::CurDir])
        {
            return Err(format!(
                "`@{name}` is the root itself, which is not changed"
            ));
        }
        PathAlias::place(name, folder, inside, root)
    }
}

fn open(root: &str) -> Result<RootFolder, String> {
    if !Path::new(root).is_absolute() {
        return Err(format!("the root `{root}` is not an absolute path"));
    }
    RootFolder::open(Path::new(root)).map_err(|error| error.to_string())
}

fn read(
    root: &RootFolder,
    path: &Path,
    guard: &PathGuard<'_>,
) -> Result<PathCheckReply, RootFolderError> {
    let about = root.resolve(path)?.about;
    if about.is_some_and(|about| about.found == FileEntryKind::Folder) {
        let listing = root.list(path, MOST_ENTRIES, guard)?;
        let mut answer = PathCheckReply::allow("listed", &listing.path);
        if listing.is_cut {
            answer
                .reason
                .push_str(&format!("; it holds more than {MOST_ENTRIES} names"));
        }
        let names = listing
            .entries
            .iter()
            .map(|entry| entry.name.to_string_lossy().into_owned());
        answer.entries = Some(names.collect());
        return Ok(answer);
    }
    let opened = root.open_file(path, guard)?;
    let mut bytes = Vec::new();
    let taken = opened.file.take(MOST_TEXT).read_to_end(&mut bytes);
    taken.map_err(|cause| artel_files::FileError::System {
        path: path.to_owned(),
        doing: "read",
        cause,
    })?;
    let mut answer = PathCheckReply::allow("read", &opened.path);
    if opened.about.length > MOST_TEXT {
        answer.reason.push_str(&format!(
            "; the first {MOST_TEXT} of {} bytes",
            opened.about.length
        ));
    }
    answer.text = Some(String::from_utf8_lossy(&bytes).into_owned());
    Ok(answer)
}

/// Returns the reason for a refusal, with the rule if a rule decided.
fn told(error: &RootFolderError) -> String {
    match error {
        RootFolderError::Refused { refusal, .. } => format!("{error} ({})", refusal.rule),
        _ => error.to_string(),
    }
}

impl PathCheckReply {
    fn allow(done: &str, path: &Path) -> Self {
        let path = match path.to_string_lossy() {
            path if path.is_empty() => ".".to_owned(),
            path => path.into_owned(),
        };
        let reason = format!("`{path}` was {done}");
        Self {
            decision: "allow",
            reason,
            text: None,
            entries: None,
        }
    }

    fn deny(reason: String) -> Self {
        Self {
            decision: "deny",
            reason,
            text: None,
            entries: None,
        }
    }
}

#[cfg(test)]
mod tests;
