//! What a file of the inbox is, mostly by its name alone.

use std::path::Path;

use super::note;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxName {
    /// Markdown: a request or a plan.
    Markdown,
    /// Something else that a person put there.
    Other,
    /// Nothing to look at: what is hidden, what programs leave for a moment, our own notes.
    Passing,
}

impl InboxName {
    /// Tells what a file is. What is called like one of our notes and is none is a person's.
    pub fn at(file: &Path) -> Self {
        let name = file.file_name().and_then(|name| name.to_str());
        let Some(name) = name else {
            return Self::Passing;
        };
        let base = name.to_lowercase();
        let base = base.strip_suffix(note::ENDING);
        let is_like_a_note = base.is_some_and(|it| Self::of(&format!("{it}.md")) == Self::Markdown);
        match is_like_a_note && note::is_a_persons(file) {
            true => Self::Markdown,
            false => Self::of(name),
        }
    }
}

/// How names of files end that editors, browsers and copying programs leave for a moment.
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

impl InboxName {
    /// Tells what a file of this name is.
    pub fn of(name: &str) -> Self {
        let lower = name.to_lowercase();
        // An editor tries out whether it may write with a file that has a number for its name.
        let is_trial = !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
        let is_brief = BRIEF.iter().any(|ending| lower.ends_with(ending))
            || lower.starts_with(['.', '~', '#'])
            || is_trial;
        if is_brief || lower.ends_with(note::ENDING) {
            return Self::Passing;
        }
        match lower.ends_with(".md") {
            true => Self::Markdown,
            false => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::InboxName::{self, Markdown, Other, Passing};

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
            assert_eq!(InboxName::of(name), sort, "{name}");
        }
    }
}
