//! The note beside a file that cannot be used: what is wrong, and how to mend it.

use std::path::{Path, PathBuf};

use artel_types::{Code, Failure};

use super::names::InboxName;
use crate::trouble::file_failure;
use crate::works::sheets::read_text;

/// How the name of a note ends.
pub(super) const ENDING: &str = ".problem.md";

/// Returns where the note of a file is.
fn place(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // Of what is no Markdown the whole name is kept: the same one may be there as Markdown.
    let name = match InboxName::of(&name) {
        InboxName::Other => name,
        _ => file.file_stem().unwrap_or_default().to_string_lossy(),
    };
    file.with_file_name(format!("{name}{ENDING}"))
}

/// How the first line of a note ends that tells what was done, not what is to be mended.
const ANEW: &str = "was written anew";

/// Says beside a file what is wrong with it.
pub(super) fn write(file: &Path, problems: &[String]) -> Result<(), Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!("# `{name}` cannot be used\n\n");
    for problem in problems {
        text.push_str(&format!("- {}\n", problem.replace('\n', "\n  ")));
    }
    text.push_str(
        "\nMend it and save. The daemon looks at it again, or `artel inbox scan` does, and this note \
         goes away.\n",
    );
    put(file, &text)
}

/// Says beside a file that it was written as the journal has it, and why.
pub(super) fn tell(file: &Path, why: &[String]) -> Result<(), Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!("# `{name}` {ANEW}\n\n");
    for line in why {
        text.push_str(&format!("- {}\n", line.replace('\n', "\n  ")));
    }
    text.push_str(
        "\nThe journal is what counts, and the file says what it has. This note goes away with the \
         next thing that you do to the file, or once you delete it.\n",
    );
    put(file, &text)
}

fn put(file: &Path, text: &str) -> Result<(), Failure> {
    let note = place(file);
    if read_text(&note).as_deref() == Some(text) {
        return Ok(());
    }
    artel_files::write_atomic(&note, text.as_bytes(), 0o644)
        .map_err(|error| file_failure(Code::W008, &error))
}

/// Takes away the note of a file that is as it should be, unless it tells how it became so: our own
/// writing is seen as well, and nobody would have read it by then.
pub(super) fn settle(file: &Path) {
    let told = read_text(&place(file));
    let first = told.as_deref().and_then(|text| text.lines().next());
    if !first.is_some_and(|line| line.ends_with(ANEW)) {
        clear(file);
    }
}

/// Takes the note of a file away.
pub(crate) fn clear(file: &Path) {
    // Mostly there is none.
    drop(std::fs::remove_file(place(file)));
}

/// Takes the note of a file away if the file is gone.
pub(super) fn clear_orphan(file: &Path) {
    if !file.exists() {
        clear(file);
    }
}

/// Takes the notes away whose files are gone.
pub(super) fn tidy(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let Some(base) = name.to_str().and_then(|name| name.strip_suffix(ENDING)) else {
            continue;
        };
        let is_there = |name: String| folder.join(name).exists();
        let as_markdown = ["md", "MD", "Md", "mD"].map(|end| format!("{base}.{end}"));
        let is_other = InboxName::of(base) == InboxName::Other && is_there(base.to_owned());
        if !is_other && !as_markdown.into_iter().any(is_there) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}
