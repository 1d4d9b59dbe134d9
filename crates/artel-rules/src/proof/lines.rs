//! The lines that a change touched. Problems elsewhere existed before and are not counted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use artel_types::plan::{FindingSeverity, VerdictFinding};

/// The changed lines, by file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedLines {
    files: BTreeMap<String, ChangedFileLines>,
    /// Whether a file name is written in a form that is not parsed here. Then no file can
    /// be ruled out.
    is_odd: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ChangedFileLines {
    lines: BTreeSet<u64>,
    /// Whether no lines are known: the file is not text, or was only moved.
    whole: bool,
}

impl ChangedLines {
    /// Reads the lines from a unified diff. Where lines were only removed, the lines
    /// around the gap count, because that is where a missing line shows.
    pub fn of(diff: &str) -> Self {
        let mut all = Self::default();
        let mut file: Option<String> = None;
        // The remaining lines of the hunk, and the number of the next new line.
        let (mut old, mut new, mut at) = (0_u64, 0_u64, 0_u64);
        for line in diff.lines() {
            if old == 0 && new == 0 {
                if let Some(rest) = line.strip_prefix("diff --git ") {
                    all.is_odd |= rest.contains('"');
                    file = header(rest);
                    if let Some(name) = &file {
                        all.files.entry(name.clone()).or_default().whole = true;
                    }
                } else if let Some(path) = line.strip_prefix("+++ ") {
                    file = path_of(path).or(file);
                } else if let Some(range) = line.strip_prefix("@@ ") {
                    (old, at, new) = hunk(range).unwrap_or_default();
                    let touched = file
                        .as_ref()
                        .map(|it| all.files.entry(it.clone()).or_default());
                    if let Some(touched) = touched {
                        touched.whole = false;
                    }
                }
                continue;
            }
            let touched = file.as_ref().and_then(|it| all.files.get_mut(it));
            let note = |line: u64| {
                if let Some(touched) = touched {
                    touched.lines.insert(line);
                }
            };
            match line.chars().next() {
                Some('+') => {
                    note(at);
                    (at, new) = (at + 1, new.saturating_sub(1));
                }
                Some('-') => {
                    note(at);
                    old = old.saturating_sub(1);
                }
                Some('\\') => {}
                _ => {
                    (at, old, new) = (at + 1, old.saturating_sub(1), new.saturating_sub(1));
                }
            }
        }
        all
    }

    /// Returns whether a file was changed.
    pub fn has_file(&self, file: &str) -> bool {
        let file = file.trim().trim_start_matches("./");
        self.is_odd || self.files.contains_key(file)
    }

    /// Returns the changed files.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns whether any of these lines of a file was changed.
    pub fn touch(&self, file: &str, lines: RangeInclusive<u64>) -> bool {
        let touched = self.files.get(file);
        touched.is_some_and(|it| it.whole || it.lines.range(lines).next().is_some())
    }

    /// Returns whether a finding is about the change. A finding without a file or a line
    /// is trusted.
    pub fn include(&self, finding: &VerdictFinding) -> bool {
        let file = finding.file.trim().trim_start_matches("./");
        if file.is_empty() {
            return true;
        }
        let Some(touched) = self.files.get(file) else {
            return self.is_odd;
        };
        match finding.line {
            None => true,
            Some(_) if touched.whole => true,
            // Around removed lines, the line before and the line after count.
            Some(line) => {
                touched.lines.contains(&line) || touched.lines.contains(&(line.saturating_add(1)))
            }
        }
    }

    /// Turns findings that would fail a step but are not about its change into remarks.
    pub fn lower(&self, findings: &mut [VerdictFinding]) {
        for finding in findings {
            if finding.severity.fails() && !self.include(finding) {
                finding.severity = FindingSeverity::Info;
                finding
                    .why
                    .push_str(" (not on a line that the step changed)");
            }
        }
    }
}

/// Reads `a/x b/x`; a name with spaces is read from the `+++` line.
fn header(rest: &str) -> Option<String> {
    let (_, new) = rest.split_once(" b/")?;
    Some(new.to_owned())
}

fn path_of(path: &str) -> Option<String> {
    let path = path.trim_end_matches('\t');
    path.strip_prefix("b/").map(str::to_owned)
}

/// Reads `-1,2 +3,4 @@`: the number of old lines, the first new line and the number of new
/// lines.
fn hunk(range: &str) -> Option<(u64, u64, u64)> {
    let mut parts = range.split(' ');
    let (_, old) = numbers(parts.next()?.strip_prefix('-')?)?;
    let (first, new) = numbers(parts.next()?.strip_prefix('+')?)?;
    // A hunk without new lines gives the line before the gap.
    Some((old, if new == 0 { first + 1 } else { first }, new))
}

fn numbers(text: &str) -> Option<(u64, u64)> {
    match text.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/calc.py b/calc.py\nindex 1..2 100644\n--- a/calc.py\n+++ b/calc.py\n\
        @@ -1,5 +1,6 @@\n def add(a, b):\n-    return a - b\n+    # adds\n+    return a + b\n \n \n def double(a):\n\
        @@ -20,3 +21,2 @@ def last():\n a\n---- gone\n b\n\
        diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+++ x\n\
        \\ No newline at end of file\n\
        diff --git a/old.py b/moved.py\nsimilarity index 100%\nrename from old.py\nrename to moved.py\n";

    fn finding(file: &str, line: Option<u64>) -> VerdictFinding {
        VerdictFinding {
            id: String::new(),
            severity: FindingSeverity::Error,
            file: file.to_owned(),
            line,
            why: "it is wrong".to_owned(),
            fix: String::new(),
        }
    }

    #[test]
    fn only_what_is_on_changed_lines_is_charged() {
        let lines = ChangedLines::of(DIFF);
        let table = [
            ("calc.py", Some(1), true, "beside the line that went"),
            ("calc.py", Some(2), true, "new"),
            ("calc.py", Some(3), true, "new"),
            ("calc.py", Some(4), false, "as before"),
            ("calc.py", Some(6), false, "as before"),
            ("calc.py", Some(21), true, "before the gap"),
            ("calc.py", Some(22), true, "after the gap"),
            ("calc.py", Some(23), false, "past it"),
            ("calc.py", None, true, "of the file as a whole"),
            ("./new.py", Some(1), true, "a new file"),
            ("new.py", Some(2), false, "past its end"),
            ("moved.py", Some(9), true, "no lines to tell"),
            ("other.py", Some(1), false, "not changed"),
            ("other.py", None, false, "not changed"),
            ("", None, true, "about no file"),
        ];
        for (file, line, included, why) in table {
            let one = finding(file, line);
            assert_eq!(lines.include(&one), included, "{file}:{line:?} {why}");
            let mut list = [one];
            lines.lower(&mut list);
            let is_lowered = list[0].severity == FindingSeverity::Info;
            assert_eq!(is_lowered, !included, "{file}:{line:?} {why}");
        }
    }

    #[test]
    fn a_name_that_is_not_read_rules_nothing_out() {
        let lines =
            ChangedLines::of("diff --git \"a/a\\tb.py\" \"b/a\\tb.py\"\n@@ -1 +1 @@\n-x\n+y\n");
        assert!(lines.include(&finding("a\tb.py", Some(9))));
    }

    #[test]
    fn a_warning_stays_what_it_is() {
        let mut list = [VerdictFinding {
            severity: FindingSeverity::Warning,
            ..finding("other.py", Some(1))
        }];
        ChangedLines::of(DIFF).lower(&mut list);
        assert_eq!(
            (list[0].severity, &*list[0].why),
            (FindingSeverity::Warning, "it is wrong")
        );
    }
}
