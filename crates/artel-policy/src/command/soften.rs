//! Here-documents that are only data, and redirections that are only writes.
//!
//! The shell passes on a here-document with a quoted delimiter unchanged. So its body is
//! cut out of the text, and all parsers read the rest like any plain text; they never see
//! the body.

use super::opinion;
use super::scan::{ShellScanResult, scan};
use crate::programs::CommandDoubt;

/// The rule of a text that is plain except for redirections that write files. The targets
/// are judged as paths, so this is no reason to ask where the root of the workspace is
/// known.
pub(super) const PLAIN_WRITE: &str = "shell.redirection";
const HEREDOC: &str = "shell.heredoc";

/// Withdraws the doubts about a here-document that is only data, and returns whether all
/// redirections are plain writes.
pub(super) fn soften(text: &str, found: &mut ShellScanResult) -> bool {
    let is_soft = |doubt: &CommandDoubt| matches!(doubt.rule, PLAIN_WRITE | HEREDOC);
    if found.doubts.is_empty() || !found.doubts.iter().all(is_soft) || found.limit.is_some() {
        return false;
    }
    let rest = match found.bodies.as_slice() {
        [] => Some(text.to_owned()),
        [body] => lift(text, body),
        _ => None,
    };
    let Some(rest) = rest else {
        return false;
    };
    let again = scan(&rest);
    let words = |found: &ShellScanResult| {
        let parts = found.parts.iter().map(|part| part.likely_words());
        parts.collect::<Vec<_>>()
    };
    // The other parsers see only plain writes: one of them cannot handle a long number before
    // a redirection.
    let mut redirections = again.parts.iter().flat_map(|part| &part.redirections);
    let is_alike = again.bodies.is_empty()
        && again.doubts.iter().all(|doubt| doubt.rule == PLAIN_WRITE)
        && again.parts.iter().all(|part| !part.words.is_empty())
        && redirections.all(|one| one.is_plain_write() || one.is_harmless())
        && words(&again) == words(found)
        && opinion::disagreement(&rest, &again).is_none();
    if is_alike {
        found.doubts.retain(|doubt| doubt.rule != HEREDOC);
        found.has_lines |= again.has_lines;
    }
    is_alike
}

/// Cuts a here-document out of a text. Its delimiter must be quoted, plain and on the
/// first line, a line must end it, and its content must be the scanned body.
fn lift(text: &str, body: &str) -> Option<String> {
    let (line, below) = text.split_once('\n')?;
    if line.matches("<<").count() != 1 || line.contains("<<<") {
        return None;
    }
    let (before, after) = line.split_once("<<")?;
    let quote = after
        .chars()
        .next()
        .filter(|quote| matches!(quote, '\'' | '"'))?;
    let (delimiter, behind) = after[1..].split_once(quote)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let stands_apart = before.ends_with(' ') && (behind.is_empty() || behind.starts_with(' '));
    if delimiter.is_empty() || !delimiter.bytes().all(is_plain) || !stands_apart {
        return None;
    }
    let mut length = 0;
    for line in below.split_inclusive('\n') {
        if line.strip_suffix('\n').unwrap_or(line) == delimiter {
            let rest = &below[length + line.len()..];
            let is_whole = below.get(..length) == Some(body);
            return is_whole.then(|| format!("{before} {behind}\n{rest}"));
        }
        length += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::PolicyAnswer;
    use crate::command::{CommandOrigin, judge, plain_argv, read};
    use crate::rules::PolicyRuleSet;

    fn answer(text: &str, workspace: Option<&Path>, setting: CommandOrigin) -> PolicyAnswer {
        let (rules, _) = PolicyRuleSet::parse(&["Bash".to_owned()], &[], &[]);
        judge(&read(text), &rules, setting, workspace).answer
    }

    #[test]
    fn a_plain_write_is_judged_as_a_path_where_the_root_is_known() {
        let root = Some(Path::new("/home/me/project"));
        for written in [
            "echo x > out.txt",
            "cargo test >> build/log.txt 2>&1",
            "cat <<'EOF' > src/a.txt\n$x `y`\nEOF",
            "cat > src/a.txt <<\"EOF\"\nx\nEOF\nls",
            "echo x > /home/me/project/a.txt",
        ] {
            assert_eq!(
                answer(written, root, CommandOrigin::Person),
                PolicyAnswer::Allow,
                "{written}"
            );
            assert_eq!(
                answer(written, None, CommandOrigin::Person),
                PolicyAnswer::Ask,
                "{written}"
            );
            assert_eq!(
                answer(written, root, CommandOrigin::Skill),
                PolicyAnswer::Ask,
                "{written}"
            );
        }
        for doubtful in [
            "echo x > .git/config",
            "cat <<'EOF' > .git/hooks/x\nx\nEOF",
            "echo x > ../x",
            "echo x > /etc/x",
            "echo x > $y",
            "echo x >| y",
            "echo x <> y",
            "echo x < y",
            "echo x 3> y",
            "echo x 99999999999999> y",
            "echo x > y*",
            "> y",
            "cat <<< x > y",
            "cat <<EOF > y\n$(id)\nEOF",
            "sh -c 'echo x > y'",
            "cd .. && echo x > y",
        ] {
            assert_eq!(
                answer(doubtful, root, CommandOrigin::Person),
                PolicyAnswer::Ask,
                "{doubtful}"
            );
        }
    }

    #[test]
    fn a_command_with_a_here_document_needs_a_shell() {
        let reading = read("cat <<'EOF'\nx\nEOF\n");
        assert!(reading.is_plain());
        assert_eq!(plain_argv(&reading), None);
    }
}
