//! The kind of an inbox file, mostly judged by its name alone.

use std::path::Path;

use super::note;

/// The kind of an inbox file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxFileKind {
    /// Markdown: a request or a plan.
    Markdown,
    /// Another file that a person put there.
    Other,
    /// A file to ignore: hidden files, temporary files of programs, and Artel's own notes.
    Passing,
}

impl InboxFileKind {
    /// Returns the kind of a file. A file with the name of a note that is not one belongs to a
    /// person.
    pub fn at(file: &Path) -> Self {
        let name = file.file_name().and_then(|name| name.to_str());
        let Some(name) = name else {
            return Self::Passing;
        };
        let base = name.to_lowercase();
        let base = base.strip_suffix(note::ENDING);
        let is_like_a_note = base.is_some_and(|it| Self::of(&format!("{it}.md")) == Self::Markdown);
        if is_like_a_note && note::is_a_persons(file) {
            Self::Markdown
        } else {
            Self::of(name)
        }
    }
}

/// Endings of temporary files that editors, browsers and copying programs leave for a
/// moment.
const BRIEF: [&str; 12] = [
    "~",
    ".tmp",
    ".temp",
    ".swp",
    ".swo",
    ".swx",
    ".bak",
    ".part",
    ".partial",
    ".crdownload",
    ".lock",
    ".download",
];

impl InboxFileKind {
    /// Returns the kind of a file with this name.
    pub fn of(name: &str) -> Self {
        let lower = name.to_lowercase();
        // Some editors test whether they may write with a file that has a number as its name.
        let is_trial = !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
        let is_brief = BRIEF.iter().any(|ending| lower.ends_with(ending))
            || lower.starts_with(['.', '~', '#'])
            || is_trial;
        if is_brief || lower.ends_with(note::ENDING) {
            return Self::Passing;
        }
        if lower.ends_with(".md") {
            Self::Markdown
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::InboxFileKind::{self, Markdown, Other, Passing};

    #[test]
    fn a_name_says_what_a_file_is() {
        for (name, sort) in [
            ("a.md", Markdown),
            ("UP.MD", Markdown),
            ("note.txt", Other),
            ("note.markdown", Other),
            ("README", Other),
            ("photo.PNG", Other),
            (".a.md", Passing),
            ("a.md~", Passing),
            ("~$a.md", Passing),
            ("#a.md#", Passing),
            (".a.md.swp", Passing),
            ("a.md.tmp", Passing),
            ("A.PART", Passing),
            ("4913", Passing),
            ("a.problem.md", Passing),
            ("note.txt.problem.md", Passing),
            ("A.PROBLEM.MD", Passing),
        ] {
            assert_eq!(InboxFileKind::of(name), sort, "{name}");
        }
    }
}
