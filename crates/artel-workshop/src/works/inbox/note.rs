//! The note beside a file: its problems and how to fix them, or what was done to it.
//!
//! A note ends with a line that names its file and holds a hash of its text, so Artel only
//! overwrites or removes a note that is still as it wrote it. If a person has a file with
//! the name of the note, the note gets another name.

use std::path::{Path, PathBuf};

use artel_types::{Failure, FailureCode};

use super::names::InboxFileKind;
use crate::private::PRIVATE_FILE;
use crate::trouble::file_failure;
use crate::works::sheets::read_text;

/// The end of a note's file name.
pub(super) const ENDING: &str = ".problem.md";

/// The end of the first line of a note about problems to fix.
const UNUSED: &str = "cannot be used";

/// The end of the first line of a note about what was done.
const ANEW: &str = "was written anew";

/// The beginning of a note's last line.
const SIGN: &str = "\n<!-- artel: ";

/// A note that is unchanged since Artel wrote it.
struct InboxProblemNote {
    place: PathBuf,
    text: String,
}

/// Returns the possible names for a file's note, the usual one first.
fn places(file: &Path) -> impl Iterator<Item = PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // A file that is not Markdown keeps its whole name, since a Markdown file with the same
    // stem may exist.
    let base = match InboxFileKind::of(&name) {
        InboxFileKind::Other => name.into_owned(),
        _ => file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    };
    let file = file.to_owned();
    (1_u32..).map(move |number| {
        file.with_file_name(match number {
            1 => format!("{base}{ENDING}"),
            number => format!("{base}_{number}{ENDING}"),
        })
    })
}

/// Returns a file's name in the form used in the last line of its note.
fn subject(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    serde_json::Value::from(name).to_string()
}

fn hash(text: &str, subject: &str) -> String {
    let hash = blake3::hash(format!("{subject}\n{text}").as_bytes()).to_hex();
    hash.chars().take(32).collect()
}

/// Returns the file that a note belongs to, as [`subject`] names it, if the note is
/// unchanged since Artel wrote it.
fn subject_in(text: &str) -> Option<&str> {
    let (text, last) = text.strip_suffix(" -->\n")?.rsplit_once(SIGN)?;
    let (subject, signed) = last.rsplit_once(' ')?;
    (hash(text, subject) == signed).then_some(subject)
}

/// Finds the note of a file.
fn find(file: &Path) -> Option<InboxProblemNote> {
    let subject = subject(file);
    let mut there = places(file).take_while(|place| place.symlink_metadata().is_ok());
    there.find_map(|place| {
        let text = read_text(&place)?;
        let is_its = subject_in(&text) == Some(subject.as_str());
        is_its.then_some(InboxProblemNote { place, text })
    })
}

/// Returns whether a file is a note that is unchanged since Artel wrote it.
pub(crate) fn is_one(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.ends_with(ENDING))
        && read_text(file).is_some_and(|text| subject_in(&text).is_some())
}

/// Returns whether a file with the name of a note is a person's own file. A note that a
/// person edited, or that an older Artel wrote, is neither removed nor taken for a
/// request.
pub(super) fn is_a_persons(file: &Path) -> bool {
    let Ok(about) = file.symlink_metadata() else {
        return false;
    };
    if about.is_dir() {
        return false;
    }
    let text = read_text(file).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let is_like_a_note =
        first.starts_with("# `") && (first.ends_with(UNUSED) || first.ends_with(ANEW));
    !is_like_a_note && !text.contains(SIGN)
}

/// Writes a note about a file's problems.
pub(super) fn write(file: &Path, problems: &[String]) -> Result<(), Failure> {
    let end = "Fix it and save. The daemon (or `artel inbox scan`) reads it again and removes this \
               note.";
    put(file, UNUSED, problems, end)
}

/// Writes a note that a file was rewritten to match the journal, and why.
pub(super) fn tell(file: &Path, why: &[String]) -> Result<(), Failure> {
    let end = "The journal is what counts, and the file now shows it. Artel removes this note when \
               you next change the file; you can also delete it.";
    put(file, ANEW, why, end)
}

/// Writes the same note for a file that is never looked at again.
pub(super) fn tell_for_good(file: &Path, why: &[String]) -> Result<(), Failure> {
    let end = "The journal is what counts, and the file now shows it. Delete this note once you have \
               read it.";
    put(file, ANEW, why, end)
}

fn put(file: &Path, what: &str, lines: &[String], end: &str) -> Result<(), Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!("# `{name}` {what}\n\n");
    for line in lines {
        text.push_str(&format!("- {}\n", line.replace('\n', "\n  ")));
    }
    text.push_str(&format!("\n{end}\n"));
    let unsigned = text.clone();
    let subject = subject(file);
    let hash = hash(&text, &subject);
    text.push_str(&format!("{SIGN}{subject} {hash} -->\n"));
    let place = match find(file) {
        Some(note) if note.text == text => return Ok(()),
        Some(note) => note.place,
        None => as_before(file, &unsigned).unwrap_or_else(|| free(file)),
    };
    artel_files::write_atomic(&place, text.as_bytes(), PRIVATE_FILE)
        .map_err(|error| file_failure(FailureCode::W008, &error))
}

/// Returns the note with the same text, written by an older Artel.
fn as_before(file: &Path, unsigned: &str) -> Option<PathBuf> {
    let there = places(file).take_while(|place| place.symlink_metadata().is_ok());
    let mut same = there.filter(|place| read_text(place).as_deref() == Some(unsigned));
    same.next()
}

/// Returns the first unused name for a file's note.
fn free(file: &Path) -> PathBuf {
    let mut free = places(file).filter(|place| place.symlink_metadata().is_err());
    free.next()
        .unwrap_or_else(|| file.with_extension("problem"))
}

/// Returns the heading of a note. A file name in it may span several lines.
fn heading(text: &str) -> &str {
    text.split_once("\n\n- ")
        .map_or(text, |(heading, _)| heading)
}

/// Removes the note of a file that is in order now, unless the note says what was done.
/// Artel's own write triggers this call too, before any person could have read such a
/// note.
pub(super) fn settle(file: &Path) {
    if let Some(note) = find(file)
        && !heading(&note.text).ends_with(ANEW)
    {
        drop(std::fs::remove_file(note.place));
    }
}

/// Removes the note of a file.
pub(crate) fn clear(file: &Path) {
    // Most files have none.
    if let Some(note) = find(file) {
        drop(std::fs::remove_file(note.place));
    }
}

/// Removes the note of a file that no longer exists.
pub(super) fn clear_orphan(file: &Path) {
    if !file.exists() {
        clear(file);
    }
}

/// Removes notes whose files are gone, and notes that newer ones replaced.
pub(super) fn tidy(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let place = entry.path();
        let is_named_so = place.to_string_lossy().ends_with(ENDING);
        let Some(text) = is_named_so.then(|| read_text(&place)).flatten() else {
            continue;
        };
        let subject = subject_in(&text).and_then(|it| serde_json::from_str::<String>(it).ok());
        let Some(file) = subject.map(|name| folder.join(name)) else {
            continue;
        };
        let is_the_one = || find(&file).is_some_and(|note| note.place == place);
        if file.symlink_metadata().is_err() || !is_the_one() {
            drop(std::fs::remove_file(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_known_by_its_last_line_and_only_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "plain.md",
            "two words.md",
            "a\"b\n -->.md",
            "pic.png",
            "x.problem.md",
        ] {
            let file = folder.path().join(name);
            std::fs::write(&file, "").unwrap();
            write(&file, &["one\ntwo".to_owned()]).unwrap();
            let note = find(&file).unwrap();
            assert!(
                is_one(&note.place) && !is_a_persons(&note.place),
                "{name:?}"
            );
            tidy(folder.path());
            assert!(note.place.exists(), "{name:?}");
            let mine = note.text.replace("two", "two, says Ann");
            std::fs::write(&note.place, &mine).unwrap();
            assert!(
                !is_one(&note.place) && !is_a_persons(&note.place),
                "{name:?}"
            );
            clear(&file);
            assert_eq!(std::fs::read_to_string(&note.place).unwrap(), mine);
            tell(&file, &["it".to_owned()]).unwrap();
            settle(&file);
            let other = find(&file).unwrap().place;
            assert_ne!(other, note.place, "{name:?}");
            std::fs::remove_file(&file).unwrap();
            tidy(folder.path());
            assert!(!other.exists() && note.place.exists(), "{name:?}");
        }
    }
}
