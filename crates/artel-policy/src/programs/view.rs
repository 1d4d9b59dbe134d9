//! The inspection of one command: its findings, and the checks of its paths.

use super::table::{self, DoubtReason, ProgramPurpose, ProgramSpec};
use super::{CommandAssessment, CommandDoubt, NestedCommand};
use super::{calls, names};

/// Stands for a word that is not known yet. It is a control character, so no command that
/// could be allowed contains it.
pub(super) const UNKNOWN_WORD: char = '\u{1}';

/// Limit on commands wrapped in one another.
const DEEPEST: u8 = 16;

/// Longest command, in words, for which the effect of unknown further words is examined. A
/// longer one is asked about.
const LONGEST_OPEN: usize = 1_000;

/// Number of doubts kept per command; more would not tell a person anything.
const MOST_DOUBTS: usize = 16;

/// Longest quotation of a command in a reason, in characters. Longer ones would be
/// unreadable.
const LONGEST_QUOTE: usize = 80;

/// The findings about a command so far, and the location of the project.
pub(super) struct CommandInspector<'a> {
    pub(super) finding: CommandAssessment,
    /// The base name of the program.
    pub(super) name: String,
    pub(super) role: ProgramPurpose,
    /// The part of the table that a test leaves out, if any.
    pub(super) left_out: Option<&'a str>,
    root: &'a str,
    depth: u8,
}

impl<'a> CommandInspector<'a> {
    pub(super) fn new(root: &'a str) -> Self {
        Self {
            finding: CommandAssessment::default(),
            name: String::new(),
            role: ProgramPurpose::Works,
            left_out: None,
            root: root.trim_end_matches('/'),
            depth: 0,
        }
    }

    /// Inspects a command and collects its effects.
    pub(super) fn command(&mut self, words: &[String]) {
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        self.name = base_name(program).to_owned();
        calls::check_devices(self, arguments);
        match find_program(&self.name) {
            Some(known) => self.program(known, arguments),
            None => calls::unknown_program(self, arguments),
        }
        // A wrapper without a command does something itself, such as `env` alone.
        self.finding.is_wrapper &= !self.finding.starts.is_empty();
    }

    /// Inspects the arguments of a program in the table.
    pub(super) fn program(&mut self, program: &'static ProgramSpec, arguments: &[String]) {
        self.role = program.role;
        self.finding.is_wrapper = program.role == ProgramPurpose::Wraps;
        let only_tells = matches!(arguments, [word] if word == "--version" || word == "--help");
        if let Some(why) = program.always
            && !(only_tells && why.is_about_deeds())
            && self.has_part(program, "always")
        {
            let name = self.name.clone();
            self.doubt(why, &name);
        }
        let parsed = super::options::read(self, program, arguments);
        super::operands::take(self, program, &parsed);
    }

    /// Records a doubt about `what`.
    pub(super) fn doubt(&mut self, why: DoubtReason, what: &str) {
        if self.finding.doubts.len() >= MOST_DOUBTS {
            return;
        }
        let mut quoted: String = what.chars().take(LONGEST_QUOTE).collect();
        if quoted.len() < what.len() {
            quoted.push('…');
        }
        if self.depth == 0 {
            quoted = quoted.replace(UNKNOWN_WORD, "…");
        } else if what.contains(UNKNOWN_WORD) {
            quoted.push(UNKNOWN_WORD);
        }
        let doubt = CommandDoubt {
            rule: why.rule(),
            reason: format!("`{quoted}` {}", why.phrase()),
        };
        if !self.finding.doubts.contains(&doubt) {
            self.finding.doubts.push(doubt);
        }
    }

    /// Records a doubt about one word of this program.
    pub(super) fn doubt_word(&mut self, why: DoubtReason, word: &str) {
        let what = format!("{} {word}", self.name);
        self.doubt(why, &what);
    }

    /// Records a file that is written. For a program that only reads, that is a doubt in
    /// itself.
    pub(super) fn write(&mut self, path: &str) {
        if is_sink(path) {
            return;
        }
        if path.starts_with(['|', '!']) {
            self.doubt_word(DoubtReason::Starts, path);
        }
        if self.role == ProgramPurpose::Reads {
            self.doubt_word(DoubtReason::Writes, path);
        }
        self.finding.writes.push(path.to_owned());
    }

    /// Records a file that is read.
    pub(super) fn read(&mut self, path: &str) {
        if path != "-" && !path.is_empty() {
            self.finding.reads.push(path.to_owned());
        }
    }

    /// Records a command that is started with these words.
    pub(super) fn start_words(&mut self, words: &[&str]) {
        if !words.is_empty() {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            self.finding.starts.push(NestedCommand::Words(words));
        }
    }

    /// Records a shell text that is run.
    pub(super) fn start_script(&mut self, text: &str) {
        self.finding
            .starts
            .push(NestedCommand::Script(text.to_owned()));
    }

    /// Records a command that gets more words than are known, and asks if those could do harm.
    ///
    /// `known` is the command as the judge sees it; `trial` is the same command with
    /// [`UNKNOWN_WORD`] in place of the missing words.
    pub(super) fn start_open(&mut self, known: &[String], trial: &[String]) {
        if !known.is_empty() {
            self.finding
                .starts
                .push(NestedCommand::Open(known.to_vec()));
        }
        if trial.len() > LONGEST_OPEN || self.is_harmed_by_open_words(trial) {
            self.doubt(DoubtReason::OpenWords, &known.join(" "));
        }
    }

    /// Asks about a text that is run and not completely known yet.
    pub(super) fn doubt_open_text(&mut self, text: &str) {
        if text.contains(UNKNOWN_WORD) {
            self.doubt_word(DoubtReason::OpenWords, text);
        }
    }

    /// Inspects another command as part of this one.
    pub(super) fn also(&mut self, words: &[String]) {
        let Some(inner) = self.inner(words) else {
            return self.doubt_word(DoubtReason::TooDeep, "…");
        };
        self.finding.doubts.extend(inner.doubts);
        self.finding.starts.extend(inner.starts);
        self.finding.writes.extend(inner.writes);
        self.finding.reads.extend(inner.reads);
    }

    /// Returns whether a path, as written, leads out of the project.
    pub(super) fn strays(&self, path: &str) -> bool {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if path.starts_with('~') || path.contains(UNKNOWN_WORD) {
            return true;
        }
        if !path.starts_with('/') {
            return climbs(path);
        }
        if is_sink(path) {
            return false;
        }
        let below = path
            .strip_prefix(self.root)
            .filter(|_| !self.root.is_empty());
        !below.is_some_and(|below| (below.is_empty() || below.starts_with('/')) && !climbs(below))
    }

    /// Returns whether any part of a word names a place outside the project or a protected
    /// one: `--out=/x`, `json:../x`, `-I/x`.
    pub(super) fn leads_out(&self, word: &str) -> bool {
        let apart = |letter: char| ",;=:|\"'{}()[] \n\t@".contains(letter);
        let glued = word
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'))
            .and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
        let mut pieces = word.split(apart).chain(glued);
        pieces.any(|piece| {
            !piece.is_empty() && (self.strays(piece) || crate::path::protected(piece).is_some())
        })
    }

    /// Returns whether a part of the table is in use; a test may leave it out.
    pub(super) fn has_part(&self, program: &ProgramSpec, what: &str) -> bool {
        self.left_out
            .is_none_or(|left_out| left_out != table::part(program.first_name(), what))
    }

    fn inner(&self, words: &[String]) -> Option<CommandAssessment> {
        if self.depth >= DEEPEST {
            return None;
        }
        let mut inner = CommandInspector::new(self.root);
        inner.depth = self.depth + 1;
        inner.left_out = self.left_out;
        inner.command(words);
        Some(inner.finding)
    }

    fn is_harmed_by_open_words(&self, trial: &[String]) -> bool {
        let mut trial = trial.to_vec();
        for _ in 0..DEEPEST {
            if trial
                .first()
                .is_none_or(|first| first.contains(UNKNOWN_WORD))
            {
                return true;
            }
            let Some(found) = self.inner(&trial) else {
                return true;
            };
            let named = |path: &String| path.contains(UNKNOWN_WORD);
            let open = DoubtReason::OpenWords.rule();
            let is_about = |doubt: &CommandDoubt| doubt.rule == open || named(&doubt.reason);
            if found.writes.iter().any(named) || found.doubts.iter().any(is_about) {
                return true;
            }
            let mut next = None;
            for start in found.starts {
                match start {
                    NestedCommand::Script(text) if text.contains(UNKNOWN_WORD) => return true,
                    NestedCommand::Words(words) if words.iter().any(named) => next = Some(words),
                    _ => {}
                }
            }
            let Some(words) = next else {
                return false;
            };
            trial = words;
        }
        true
    }
}

/// Returns whether the table has a program, given the word that starts it.
pub(crate) fn is_known(program: &str) -> bool {
    find_program(base_name(program)).is_some()
}

/// Finds a program by its name, with or without a version, machine or build in it.
fn find_program(name: &str) -> Option<&'static ProgramSpec> {
    names::known(name).map(|known| known.program)
}

/// Returns the part of a word after the last slash.
pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns whether writing to this path changes no file.
fn is_sink(path: &str) -> bool {
    matches!(
        path,
        "" | "-" | "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty"
    )
}

/// Returns whether a path climbs above its starting point.
fn climbs(path: &str) -> bool {
    let mut depth = 0_i64;
    for component in path.split('/') {
        depth += match component {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        if depth < 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_strays_when_it_leads_out_as_written() {
        let view = CommandInspector::new("/home/me/project/");
        for inside in [
            "a/b",
            ".",
            "a/../b",
            "/home/me/project",
            "/home/me/project/x",
            "/dev/null",
        ] {
            assert!(!view.strays(inside), "{inside}");
        }
        let outside = [
            "..",
            "a/../../b",
            "~/x",
            "/etc/passwd",
            "/home/me/project2/x",
            "/home/me/project/../x",
            "file:///etc/passwd",
        ];
        for outside in outside {
            assert!(view.strays(outside), "{outside}");
        }
        assert!(CommandInspector::new("").strays("/home/me/project/x"));
    }
}
