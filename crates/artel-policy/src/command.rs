//! Judges shell text by its parsed words.
//!
//! [`read`] finds every command in a text, including those in substitutions, control flow,
//! functions, wrappers and text handed to another shell. [`judge`] decides: one denied
//! command denies the whole text, and every command needs its own grant. Only *plain* text
//! can be allowed at all: literal words joined by `&&`, `||`, `;`, `|` and line ends, with
//! no redirections other than `2>&1` and those to `/dev/null`. Anything the shell would
//! compute is asked about at best.
//!
//! Three parsers look at plain text: our own linear pass, brush-parser and
//! tree-sitter-bash. If they do not see the same words and operators, the person is asked.
//! In all other text our own pass finds the commands, so that bans still apply, and the
//! best answer is a question.
//!
//! A pattern such as `src/*.rs` counts as literal when a path (or the name of a long
//! option) stands in front of it, because then it cannot turn into an option or a
//! subcommand.

mod batch;
mod concern;
mod course;
mod guard;
mod launch;
mod opinion;
mod own;
mod reading;
mod scan;
mod soften;
mod verdict;

pub use batch::judge_line;
pub use concern::{CommandConcern, concern, sensitive_read};
pub use reading::{ShellAnalysis, ShellRedirection, ShellWord, SimpleShellCommand};
pub use verdict::{is_covered, judge};

/// The longest text that is judged, in bytes.
pub const MAX_TEXT: usize = 1024 * 1024;

/// On whose behalf a command is judged, and so whose rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CommandOrigin {
    /// The rules of a person.
    #[default]
    Person,
    /// A line of a skill: one command, no operators.
    Skill,
    /// A line of a skill that nobody vouched for. In addition, its own `Bash` and `Bash(*)`
    /// grants are ignored.
    SkillUntrusted,
}

/// Reads a text as it would be passed to `bash -c`. Never fails, and takes linear time.
pub fn read(text: &str) -> ShellAnalysis {
    if text.len() > MAX_TEXT {
        return ShellAnalysis {
            refusal: Some(guard::too_long(text.len())),
            ..ShellAnalysis::default()
        };
    }
    launch::read(text)
}

/// Returns the words to start without a shell, if the text is one plain command.
pub fn plain_argv(reading: &ShellAnalysis) -> Option<Vec<String>> {
    let [part] = reading.parts() else {
        return None;
    };
    if !reading.is_plain() || reading.has_input || !part.redirections().is_empty() {
        return None;
    }
    // A leading `time` is a shell keyword, not a program.
    let is_timed = part.words().first().and_then(ShellWord::as_literal) == Some("time");
    let words = part
        .words()
        .iter()
        .map(|word| word.as_literal().map(str::to_owned));
    words.collect::<Option<Vec<_>>>().filter(|_| !is_timed)
}

/// Returns the literal words of a text that is exactly one plain command.
pub(crate) fn words_of(text: &str) -> Option<Vec<String>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let found = scan::scan(text);
    let [part] = found.parts.as_slice() else {
        return None;
    };
    let is_plain = found.doubts.is_empty()
        && found.limit.is_none()
        && found.operators.is_empty()
        && part.redirections.is_empty()
        && guard::hidden(text).is_none();
    let words = part
        .words
        .iter()
        .map(|word| word.as_literal().map(str::to_owned));
    is_plain.then(|| words.collect())?
}
