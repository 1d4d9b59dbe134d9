//! What git knows: which files there are, and which lines were changed since the allowances were set.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::process::Command;

use super::measure::CodePlace;
use super::settings;
use crate::process;
use crate::stop::XtaskError;

const FILES: [&str; 6] = [
    "*.rs",
    "*Cargo.toml",
    "*.html",
    "docs/*.md",
    "README.md",
    "CHANGELOG.md",
];

/// Lines that were added or changed, by path.
#[derive(Debug, Default)]
pub(super) struct AddedLines(BTreeMap<String, Vec<RangeInclusive<usize>>>);

/// Returns the path and the text of every file that the gates read, new ones included.
pub(super) fn texts() -> Result<Vec<(String, String)>, XtaskError> {
    let args = ["ls-files", "-z", "-co", "--exclude-standard", "--"];
    let listed = git(args.into_iter().chain(FILES))?;
    let mut paths: Vec<&str> = listed.split('\0').filter(|it| !it.is_empty()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut texts = Vec::new();
    for path in paths {
        let full = process::root().join(path);
        // A deleted file is listed until its deletion is committed.
        if full.is_file() {
            let text =
                std::fs::read_to_string(&full).map_err(|it| XtaskError::because(path, it))?;
            texts.push((path.to_owned(), text));
        }
    }
    Ok(texts)
}

impl AddedLines {
    /// Asks git what changed since the commit that last touched the allowances: at that commit every
    /// figure was met. Returns `None` where git cannot tell.
    pub(super) fn since_allowances() -> Option<Self> {
        let base = git(["log", "-1", "--format=%H", "--", settings::PATH]).ok()?;
        let base = base.trim();
        if base.is_empty() {
            return None;
        }
        let options = ["diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames"];
        let diff = git(options.into_iter().chain([base])).ok()?;
        let mut changed = Self::parse(&diff);
        let new = git(["ls-files", "-z", "-o", "--exclude-standard"]).ok()?;
        for path in new.split('\0') {
            changed.0.insert(path.to_owned(), vec![1..=usize::MAX]);
        }
        Some(changed)
    }

    /// Reads a diff without context.
    fn parse(diff: &str) -> Self {
        let mut changed = Self::default();
        let mut path = "";
        for line in diff.lines() {
            if let Some(new) = line.strip_prefix("+++ b/") {
                path = new;
            } else if let Some(lines) = line.strip_prefix("@@ -").and_then(added) {
                let ranges = changed.0.entry(path.to_owned()).or_default();
                ranges.push(lines);
            }
        }
        changed
    }

    /// Tells whether a line of the place was changed.
    pub(super) fn touch(&self, place: &CodePlace) -> bool {
        let ranges = self.0.get(&place.path).into_iter().flatten();
        let mut ranges = ranges.filter(|it| !it.is_empty());
        ranges.any(|range| *range.start() <= place.last_line && place.line <= *range.end())
    }
}

/// Reads the new lines of a hunk: `12,3 +14,2 @@`.
fn added(hunk: &str) -> Option<RangeInclusive<usize>> {
    let (_, rest) = hunk.split_once(" +")?;
    let (span, _) = rest.split_once(" @@")?;
    let (start, count) = span.split_once(',').unwrap_or((span, "1"));
    let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
    // The range of a hunk that only deletes is empty.
    Some(start..=(start + count).saturating_sub(1))
}

fn git<'a>(args: impl IntoIterator<Item = &'a str>) -> Result<String, XtaskError> {
    let mut command = Command::new("git");
    command.args(["-c", "core.quotePath=false"]).args(args);
    let output = command.current_dir(process::root()).output();
    let output = output.map_err(|cause| XtaskError::because("`git` cannot be started", cause))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(XtaskError::because(process::spell(&command), said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n\
                        @@ -3,0 +4,2 @@ fn a() {\n+    b();\n+    c();\n@@ -9,2 +11,0 @@\n-x\n-y\n";

    #[test]
    fn a_place_is_new_if_one_of_its_lines_was_added() {
        let changed = AddedLines::parse(DIFF);
        let place = |path: &str, line, last_line| CodePlace {
            path: path.to_owned(),
            line,
            last_line,
            ..CodePlace::default()
        };
        assert!(changed.touch(&place("src/a.rs", 5, 5)));
        assert!(changed.touch(&place("src/a.rs", 1, 4)));
        assert!(!changed.touch(&place("src/a.rs", 6, 30)));
        assert!(!changed.touch(&place("src/b.rs", 5, 5)));
    }
}
