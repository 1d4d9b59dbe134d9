//! Checks the form of a `!` command before anybody asks whether it is allowed.
//!
//! A command is executed as words, never through a shell. Syntax that a shell would
//! interpret is therefore refused, not passed on: a command that means something else than
//! it says must not run. The caller asks policy whether the words are allowed.

use std::fmt;

use super::SkillVariables;
use super::words::split_words;
use crate::complaint::is_invisible;

/// Variables that may begin a word of a command. Text from a person is not among them.
pub const SYSTEM: &[&str] = &[
    "SKILL_DIR",
    "CLAUDE_SKILL_DIR",
    "WORKSPACE",
    "CLAUDE_PROJECT_DIR",
    "SESSION_ID",
    "CLAUDE_SESSION_ID",
    "DATE",
];

/// Longest command, in bytes: more than a person writes on a line.
const MOST_BYTES: usize = 4096;

/// Why a command is never run, whatever the policy allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillCommandRefusal {
    /// The command is empty.
    Empty,
    /// The command is longer than a line that a person writes.
    TooLong,
    /// The command contains an operator that only a shell understands.
    Operator(&'static str),
    /// The command has several lines.
    Newline,
    /// The command contains invisible characters.
    Invisible,
    /// A quote is not closed.
    Unbalanced,
    /// The program is an absolute path.
    AbsoluteProgram,
    /// The program's path contains `..`.
    Traversal,
    /// The command uses a variable that is not one of the system's.
    Variable,
}

impl fmt::Display for SkillCommandRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Empty => "it is empty",
            Self::TooLong => "it is too long",
            Self::Operator(sign) => return write!(f, "it holds the shell operator `{sign}`"),
            Self::Newline => "it goes over several lines",
            Self::Invisible => "it holds letters that cannot be seen",
            Self::Unbalanced => "a quote is not closed",
            Self::AbsoluteProgram => "its program is an absolute path",
            Self::Traversal => "its program's path holds `..`",
            Self::Variable => {
                "it uses a variable; only `${SKILL_DIR}`, `${WORKSPACE}`, `${SESSION_ID}` and \
                 `${DATE}` may begin a word"
            }
        };
        f.write_str(text)
    }
}

/// Returns the words of a command with its variables unreplaced, or why it is not run.
pub fn check_command(command: &str) -> Result<Vec<String>, SkillCommandRefusal> {
    words(command, None)
}

/// Returns the words to execute, or why the command is not run. The first word is a
/// program's name or a path below the workspace.
pub fn argv(command: &str, variables: &SkillVariables) -> Result<Vec<String>, SkillCommandRefusal> {
    words(command, Some(variables))
}

fn words(
    command: &str,
    variables: Option<&SkillVariables>,
) -> Result<Vec<String>, SkillCommandRefusal> {
    check_letters(command)?;
    let words = split_words(command).map_err(|_| SkillCommandRefusal::Unbalanced)?;
    let program = words.first().filter(|word| !word.is_empty());
    let program = program.ok_or(SkillCommandRefusal::Empty)?;
    if program.contains("..") {
        return Err(SkillCommandRefusal::Traversal);
    }
    if program.starts_with(['/', '~']) {
        return Err(SkillCommandRefusal::AbsoluteProgram);
    }
    if program.contains('$') {
        return Err(SkillCommandRefusal::Variable);
    }
    words
        .into_iter()
        .map(|word| filled(word, variables))
        .collect()
}

fn check_letters(command: &str) -> Result<(), SkillCommandRefusal> {
    // Longer operators first, so that the message names the one that the author wrote.
    const OPERATORS: &[&str] = &["&&", "||", "$(", ">>", "<<", ";", "|", "&", ">", "<", "`"];
    if command.len() > MOST_BYTES {
        return Err(SkillCommandRefusal::TooLong);
    }
    if command.contains([
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ]) {
        return Err(SkillCommandRefusal::Newline);
    }
    let is_hidden = |letter: char| letter.is_control() && letter != '\t' || is_invisible(letter);
    if command.contains(is_hidden) {
        return Err(SkillCommandRefusal::Invisible);
    }
    match OPERATORS.iter().find(|sign| command.contains(**sign)) {
        Some(sign) => Err(SkillCommandRefusal::Operator(sign)),
        None => Ok(()),
    }
}

/// Replaces a system variable at the beginning of a word. Any other `$` is refused.
fn filled(word: String, variables: Option<&SkillVariables>) -> Result<String, SkillCommandRefusal> {
    if !word.contains('$') {
        return Ok(word);
    }
    let inner = word
        .strip_prefix("${")
        .and_then(|rest| rest.split_once('}'));
    let (name, rest) = inner.ok_or(SkillCommandRefusal::Variable)?;
    let is_path = rest.is_empty() || rest.starts_with('/');
    if !SYSTEM.contains(&name) || !is_path || rest.contains('$') {
        return Err(SkillCommandRefusal::Variable);
    }
    match variables.and_then(|variables| variables.system(name)) {
        Some(value) => Ok(format!("{value}{rest}")),
        None => Ok(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_compute_is_refused() {
        use SkillCommandRefusal as No;
        let long = format!("echo {}", "x".repeat(5_000));
        let table = [
            ("", No::Empty),
            ("  ", No::Empty),
            ("'' a", No::Empty),
            ("a; b", No::Operator(";")),
            ("a && b", No::Operator("&&")),
            ("a || b", No::Operator("||")),
            ("a | b", No::Operator("|")),
            ("a & b", No::Operator("&")),
            ("a > b", No::Operator(">")),
            ("a >> b", No::Operator(">>")),
            ("a < b", No::Operator("<")),
            ("a $(b)", No::Operator("$(")),
            ("a 'b;c'", No::Operator(";")),
            ("a\nb", No::Newline),
            ("a\rb", No::Newline),
            ("a \u{202e}b", No::Invisible),
            ("a \0b", No::Invisible),
            ("a 'b", No::Unbalanced),
            ("/bin/ls", No::AbsoluteProgram),
            ("~/x", No::AbsoluteProgram),
            ("'/bin/ls' x", No::AbsoluteProgram),
            ("../x", No::Traversal),
            ("a/../../x", No::Traversal),
            ("$HOME/x", No::Variable),
            ("echo $ARGUMENTS", No::Variable),
            ("echo ${USER}", No::Variable),
            ("echo $1", No::Variable),
            ("echo x${DATE}", No::Variable),
            ("echo ${DATE}x", No::Variable),
            ("${SKILL_DIR}/scripts/x.sh", No::Variable),
            (&long, No::TooLong),
        ];
        for (command, expected) in table {
            assert_eq!(check_command(command), Err(expected), "{command:?}");
        }
    }

    #[test]
    fn plain_words_and_the_system_s_names_pass() {
        let variables = SkillVariables {
            skill_dir: "/my skills/pdf".into(),
            date: "2026-11-15".into(),
            ..SkillVariables::default()
        };
        let words = argv(
            "python3 ${SKILL_DIR}/scripts/facts.py --since '${DATE}' \"a b\"",
            &variables,
        );
        let expected = [
            "python3",
            "/my skills/pdf/scripts/facts.py",
            "--since",
            "2026-11-15",
            "a b",
        ];
        assert_eq!(words.unwrap(), expected);
        assert_eq!(check_command("git status --short").unwrap().len(), 3);
        assert_eq!(check_command("ls ../x").unwrap(), ["ls", "../x"]);
    }
}
