//! What a script takes into itself. A file that is loaded runs as a part of the check: it can end
//! it, or put functions of its own in the place of those that look.

use super::words;

/// Words behind which a command begins.
const BEFORE: [&str; 10] = ["&&", "||", ";", "|", "!", "{", "(", "then", "do", "else"];

/// Names the files that a script loads with `.` or `source`, wherever they lie in the project.
/// `read` returns a file of it; what is named by a variable is found by the rest of its path.
pub(super) fn of(text: &str, folder: &str, read: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.starts_with('#'));
    let named = lines.flat_map(loaded);
    let mut found: Vec<String> = named.filter_map(|it| place(it, folder, read)).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns what of a line may be the name of a loaded file.
fn loaded(line: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut before = ";";
    let mut from = 0;
    for word in line.split(' ') {
        let begins = BEFORE.contains(&before) || before.ends_with(';');
        let end = from + word.len();
        if begins && (word == "." || word == "source") {
            let rest = &line[end..];
            let until = rest.find([';', '|', '&']).unwrap_or(rest.len());
            all.extend(words(&rest[..until]));
        }
        if !word.is_empty() {
            before = word;
        }
        from = end + 1;
    }
    all
}

/// Finds the file that is meant: beside the script, from the top, or behind a variable.
fn place(named: &str, folder: &str, read: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let parts: Vec<&str> = named.split('/').collect();
    let is_step = |part: &&str| part.is_empty() || *part == "." || *part == "..";
    let beside = joined(folder, &parts);
    let parts: Vec<&str> = parts.into_iter().skip_while(is_step).collect();
    let behind = (0..parts.len()).map(|at| parts[at..].join("/"));
    let mut places = beside.into_iter().chain(behind);
    places.find(|path| !path.is_empty() && read(path).is_some())
}

/// Puts a path behind a folder, without steps back; nothing where it leads out.
fn joined(folder: &str, parts: &[&str]) -> Option<String> {
    let mut all: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in parts {
        match *part {
            "" | "." => {}
            ".." => drop(all.pop()?),
            part => all.push(part),
        }
    }
    Some(all.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folder: &str, text: &str, expected: &[&str]) {
        let files = ["shop/invoice.sh", "tests/lib.sh", "lib.sh", "a/b/c.sh"];
        let read = |path: &str| files.contains(&path).then(String::new);
        assert_eq!(of(text, folder, &read), expected, "{text}");
    }

    #[test]
    fn what_is_loaded_is_found_wherever_it_lies() {
        check("tests", ". ./lib.sh", &["tests/lib.sh"]);
        check("", "source lib.sh --quiet", &["lib.sh"]);
        check(
            "tests",
            ". \"$(dirname \"$0\")/../shop/invoice.sh\"",
            &["shop/invoice.sh"],
        );
        check(
            "ci",
            "  set -e; . \"$root/shop/invoice.sh\" && run",
            &["shop/invoice.sh"],
        );
        check("ci", "if true; then source ${HERE}/b/c.sh; fi", &[]);
        check("a", "[ -f x ] && . b/c.sh", &["a/b/c.sh"]);
        check(
            "",
            ". \"$DIR\"/shop/invoice.sh\n. tests/lib.sh",
            &["shop/invoice.sh", "tests/lib.sh"],
        );
    }

    #[test]
    fn what_is_only_named_is_not_loaded() {
        for text in [
            "# . lib.sh",
            "grep -q x lib.sh",
            "sh lib.sh",
            "cp . lib.sh",
            "echo source lib.sh",
            ". gone.sh",
        ] {
            check("", text, &[]);
        }
    }
}
