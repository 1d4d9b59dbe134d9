//! Unified diffs, as `diff -u` and git write them, and as models write them: with wrong
//! counts, without line numbers, or with blank lines that lost their space.

use super::{FilePatch, PatchHunk, PatchLineSide, PatchSourceHandling};

/// Parses the parts of all files, and skips the text around them.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let lines: Vec<&str> = patch.split('\n').collect();
    let mut reader = UnifiedDiffParser {
        // Splitting leaves an empty piece after the last line ending, which is not a line.
        lines: match lines.split_last() {
            Some((&"", lines)) => lines,
            _ => &lines,
        },
        at: 0,
        files: Vec::new(),
    };
    while reader.at < reader.lines.len() {
        reader.step()?;
    }
    Ok(reader.files)
}

struct UnifiedDiffParser<'a> {
    lines: &'a [&'a str],
    at: usize,
    files: Vec<FilePatch>,
}

/// Number of lines left in a hunk, by its heading.
#[derive(Clone, Copy, PartialEq, Eq)]
struct HunkLinesLeft {
    old: usize,
    new: usize,
}

impl UnifiedDiffParser<'_> {
    fn step(&mut self) -> Result<(), String> {
        let line = self.lines[self.at];
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.at += 1;
            return self.git_headers(names.trim_end());
        }
        if self.is_header(self.at) {
            return self.names();
        }
        if line.starts_with("@@") {
            return self.hunk();
        }
        if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(format!(
                "line {}: binary files cannot be patched",
                self.at + 1
            ));
        }
        self.at += 1;
        Ok(())
    }

    /// Parses git's header lines of a file.
    fn git_headers(&mut self, names: &str) -> Result<(), String> {
        let mut file = FilePatch::default();
        let (mut is_new, mut is_deleted, mut is_renamed) = (false, false, false);
        while let Some(line) = self.lines.get(self.at).map(|line| line.trim_end()) {
            let Some((key, value)) = git_header(line) else {
                break;
            };
            match key {
                "old mode" => file.old_mode = mode(value),
                "new mode" => file.new_mode = mode(value),
                "new file mode" => (is_new, file.new_mode) = (true, mode(value)),
                "deleted file mode" => (is_deleted, file.old_mode) = (true, mode(value)),
                "rename from" | "copy from" => file.from = Some(unquote(value)),
                "rename to" => (is_renamed, file.to) = (true, Some(unquote(value))),
                "copy to" => {
                    file.keeps = PatchSourceHandling::Source;
                    (is_renamed, file.to) = (true, Some(unquote(value)));
                }
                _ => {}
            }
            self.at += 1;
        }
        if is_renamed {
            self.files.push(file);
            return self.skip_names();
        }
        if self.is_header(self.at) {
            self.files.push(file);
            return self.names();
        }
        let name = same_name(names)
            .ok_or_else(|| format!("line {}: the names in `{names}` are unclear", self.at))?;
        file.from = (!is_new).then(|| name.clone());
        file.to = (!is_deleted).then_some(name);
        self.files.push(file);
        Ok(())
    }

    /// Returns whether two lines name a file before and after.
    fn is_header(&self, at: usize) -> bool {
        let begins = |at: usize, with| {
            let line: Option<&&str> = self.lines.get(at);
            line.is_some_and(|line| line.starts_with(with))
        };
        begins(at, "--- ") && begins(at + 1, "+++ ")
    }

    fn names(&mut self) -> Result<(), String> {
        let old = header_name(self.lines[self.at]);
        let new = header_name(self.lines[self.at + 1]);
        let (from, to) = without_prefixes(old, new);
        if from.is_none() && to.is_none() {
            return Err(format!("line {}: the file has no name", self.at + 1));
        }
        // git's own header has already begun this file.
        match self.files.last_mut() {
            Some(file) if file.from.is_none() && file.to.is_none() => {
                (file.from, file.to) = (from, to);
            }
            _ => self.files.push(FilePatch {
                from,
                to,
                ..FilePatch::default()
            }),
        }
        self.at += 2;
        Ok(())
    }

    fn skip_names(&mut self) -> Result<(), String> {
        if self.is_header(self.at) {
            self.at += 2;
        }
        Ok(())
    }

    fn hunk(&mut self) -> Result<(), String> {
        let title = self.lines[self.at].trim_end();
        let number = self.at + 1;
        self.at += 1;
        let numbers = hunk_numbers(title);
        let mut hunk = PatchHunk {
            title: title.to_owned(),
            old_start: numbers.map(|(old, _)| before(old)),
            new_start: numbers.map(|(_, new)| before(new)),
            ..PatchHunk::default()
        };
        let left = numbers.map(|(old, new)| HunkLinesLeft {
            old: old.1,
            new: new.1,
        });
        self.body(&mut hunk, left.unwrap_or(HunkLinesLeft { old: 0, new: 0 }));
        if hunk.lines.is_empty() {
            return Err(format!("line {number}: the hunk `{title}` has no lines"));
        }
        match self.files.last_mut() {
            Some(file) => file.hunks.push(hunk),
            None => {
                return Err(format!(
                    "line {number}: no `--- ` and `+++ ` lines come before"
                ));
            }
        }
        Ok(())
    }

    /// Reads the lines that belong to the hunk. If a line could also begin something else, the
    /// counts in the heading decide; otherwise the line itself does.
    fn body(&mut self, hunk: &mut PatchHunk, mut left: HunkLinesLeft) {
        while let Some(line) = self.lines.get(self.at) {
            let is_open = left.old > 0 || left.new > 0;
            let side = match line.as_bytes().first() {
                Some(b' ') => PatchLineSide::Both,
                Some(b'+') => PatchLineSide::New,
                Some(b'-') => PatchLineSide::Old,
                Some(b'\\') => {
                    if let Some(last) = hunk.lines.last_mut() {
                        last.text.truncate(last.text.trim_end_matches('\n').len());
                    }
                    self.at += 1;
                    continue;
                }
                // A blank line that lost its one space on the way.
                None | Some(b'\r') if is_open => PatchLineSide::Both,
                _ => break,
            };
            if self.ends_here(left) {
                break;
            }
            hunk.push(
                side,
                line.get(1..)
                    .filter(|_| !line.starts_with('\r'))
                    .unwrap_or(line),
            );
            left.old = left
                .old
                .saturating_sub(usize::from(side != PatchLineSide::New));
            left.new = left
                .new
                .saturating_sub(usize::from(side != PatchLineSide::Old));
            self.at += 1;
        }
    }

    /// Returns whether a line that looks like part of the hunk begins something else.
    fn ends_here(&self, left: HunkLinesLeft) -> bool {
        let is_done = left == (HunkLinesLeft { old: 0, new: 0 });
        let could_be_last = left == (HunkLinesLeft { old: 1, new: 1 });
        let begins_hunk = self
            .lines
            .get(self.at + 2)
            .is_some_and(|line| line.starts_with("@@"));
        let is_header = self.is_header(self.at);
        (is_done && (is_header || self.lines[self.at].trim_end_matches('\r') == "-- "))
            || (is_header && begins_hunk && !could_be_last)
    }
}

fn git_header(line: &str) -> Option<(&'static str, &str)> {
    const KEYS: [&str; 10] = [
        "old mode",
        "new mode",
        "new file mode",
        "deleted file mode",
        "rename from",
        "rename to",
        "copy from",
        "copy to",
        "similarity index",
        "dissimilarity index",
    ];
    if line.starts_with("index ") {
        return Some(("index", ""));
    }
    KEYS.iter().find_map(|key| {
        let value = line.strip_prefix(key)?.strip_prefix(' ')?;
        Some((*key, value))
    })
}

fn mode(value: &str) -> Option<u32> {
    u32::from_str_radix(value.trim(), 8).ok()
}

/// Parses `@@ -12,3 +12,4 @@`: line and count on each side.
fn hunk_numbers(title: &str) -> Option<((usize, usize), (usize, usize))> {
    let inner = title.strip_prefix("@@ ")?.split(" @@").next()?;
    let (old, new) = inner.trim().split_once(' ')?;
    let side = |text: &str| match text.split_once(',') {
        Some((line, count)) => Some((line.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    Some((side(old.strip_prefix('-')?)?, side(new.strip_prefix('+')?)?))
}

/// Returns the number of lines before the hunk: a side without lines states the line that
/// it comes after.
fn before((line, count): (usize, usize)) -> usize {
    match count {
        0 => line,
        _ => line.saturating_sub(1),
    }
}

/// Reads the name of a `---` or `+++` line, without the time that `diff` adds after a tab.
fn header_name(line: &str) -> Option<String> {
    let name = line.get(4..)?.trim_end_matches('\r');
    let name = if name.starts_with('"') {
        unquote(name)
    } else {
        name.split('\t').next()?.trim_end().to_owned()
    };
    (name != "/dev/null" && !name.is_empty()).then_some(name)
}

/// Removes git's one-letter folders if both names have them and they differ.
fn without_prefixes(old: Option<String>, new: Option<String>) -> (Option<String>, Option<String>) {
    let prefix = |name: &Option<String>| {
        let name = name.as_ref()?;
        let letter = name.chars().next()?;
        ("abciow".contains(letter) && name[1..].starts_with('/')).then_some(letter)
    };
    let strip = match (&old, &new) {
        (Some(_), Some(_)) => {
            prefix(&old).is_some() && prefix(&new).is_some() && prefix(&old) != prefix(&new)
        }
        (Some(_), None) => prefix(&old) == Some('a'),
        _ => prefix(&new) == Some('b'),
    };
    let bare = |name: Option<String>| match (name, strip) {
        (Some(name), true) => Some(name[2..].to_owned()),
        (name, _) => name,
    };
    (bare(old), bare(new))
}

/// Reads the one name in `a/name b/name` or `name name`.
fn same_name(names: &str) -> Option<String> {
    if let Some(rest) = names.strip_prefix('"') {
        let end = rest.find("\" ")? + 2;
        let (old, new) = (unquote(&names[..end]), unquote(names[end..].trim_start()));
        return match without_prefixes(Some(old), Some(new)) {
            (Some(old), Some(new)) if old == new => Some(old),
            _ => None,
        };
    }
    let (old, new) = names.split_at_checked(names.len() / 2)?;
    let new = new.strip_prefix(' ')?;
    match without_prefixes(Some(old.to_owned()), Some(new.to_owned())) {
        (Some(old), Some(new)) if old == new => Some(old),
        _ => None,
    }
}

/// Decodes a name in git's quotes. A name without quotes is returned unchanged.
fn unquote(name: &str) -> String {
    let Some(inner) = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
    else {
        return name.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let octal = rest.get(..3).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        let (byte, taken) = match (octal, rest.first()) {
            (Some(byte), _) => (byte, 3),
            (None, Some(b'n')) => (b'\n', 1),
            (None, Some(b't')) => (b'\t', 1),
            (None, Some(b'r')) => (b'\r', 1),
            (None, Some(byte)) => (*byte, 1),
            (None, None) => (b'\\', 0),
        };
        bytes.push(byte);
        rest = &rest[taken..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
