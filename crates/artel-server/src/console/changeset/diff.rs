//! Parses the output of `git diff` into files and lines for display.

use super::paint::{HighlightLanguage, HighlightSpan, LineHighlighter};

/// A file with more lines than this has no syntax highlighting.
const PAINTED: usize = 5_000;

/// A file with more lines than this is cut short.
const SHOWN: usize = 20_000;

/// Maximum number of lines on a page, over all files; files that do not fit have pages of
/// their own.
pub(in crate::console) const PAGE: usize = 10_000;

/// The diff of one file.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct FileDiff {
    pub(in crate::console) name: String,
    /// The file's number in the diff, from 1.
    pub(in crate::console) number: usize,
    /// Number of lines that are on the file's own page instead, because other files fill
    /// this one.
    pub(in crate::console) folded: usize,
    /// Notes by git: renamed, binary, mode.
    pub(in crate::console) notes: Vec<String>,
    pub(in crate::console) rows: Vec<DiffRow>,
    pub(in crate::console) pairs: Vec<DiffRowPair>,
    /// Number of lines that are left out.
    pub(in crate::console) left_out: usize,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum DiffLineKind {
    /// A hunk header, which says where the following lines are.
    Place,
    /// An unchanged line.
    Same,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
}

/// A line of a diff.
#[derive(Debug, Clone)]
pub(in crate::console) struct DiffRow {
    pub(in crate::console) sort: DiffLineKind,
    pub(in crate::console) old: Option<usize>,
    pub(in crate::console) new: Option<usize>,
    pub(in crate::console) spans: Vec<HighlightSpan>,
}

/// Two lines side by side; a hunk header is in both halves.
#[derive(Debug, Clone)]
pub(in crate::console) struct DiffRowPair {
    pub(in crate::console) left: Option<DiffRow>,
    pub(in crate::console) right: Option<DiffRow>,
}

impl DiffLineKind {
    /// Returns the sign shown before the line.
    pub(in crate::console) fn sign(self) -> &'static str {
        match self {
            Self::Place | Self::Same => " ",
            Self::Added => "+",
            Self::Removed => "−",
        }
    }

    /// Returns the CSS class of the line.
    pub(in crate::console) fn class(self) -> &'static str {
        match self {
            Self::Place => "place",
            Self::Same => "same",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

impl DiffRow {
    /// Returns whether the line is a hunk header.
    pub(in crate::console) fn is_place(&self) -> bool {
        self.sort == DiffLineKind::Place
    }

    /// Returns the line number to show: the old one of a removed line, else the new one.
    pub(in crate::console) fn number(&self) -> String {
        let number = match self.sort {
            DiffLineKind::Removed => self.old,
            _ => self.new,
        };
        number.map_or(String::new(), |number| number.to_string())
    }
}

/// The position in a hunk, and the number of lines left in it.
#[derive(Debug, Default)]
struct HunkCursor {
    old: usize,
    new: usize,
    old_left: usize,
    new_left: usize,
}

/// Parses a diff. Lines that are not understood become notes of their file.
pub(in crate::console) fn parse(text: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut hunk = HunkCursor::default();
    for line in text.lines() {
        if hunk.old_left > 0 || hunk.new_left > 0 {
            if let Some(file) = files.last_mut() {
                file.rows.extend(hunk.take(line));
            }
            continue;
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            files.push(FileDiff {
                name: name_of(names),
                ..FileDiff::default()
            });
            continue;
        }
        let Some(file) = files.last_mut() else {
            continue;
        };
        if let Some(found) = HunkCursor::begin(line) {
            hunk = found;
            file.rows.push(DiffRow {
                sort: DiffLineKind::Place,
                old: None,
                new: None,
                spans: vec![HighlightSpan::plain(line)],
            });
        } else {
            file.note(line);
        }
    }
    for (at, file) in files.iter_mut().enumerate() {
        file.number = at + 1;
        file.finish();
    }
    files
}

/// Keeps the files that fit on a page: the requested one, or the first ones.
pub(in crate::console) fn fit(files: &mut Vec<FileDiff>, asked_for: Option<usize>) {
    if let Some(number) = asked_for {
        files.retain(|file| file.number == number);
        return;
    }
    let mut left = PAGE;
    for file in files {
        match left.checked_sub(file.rows.len()) {
            Some(rest) => left = rest,
            None => {
                file.folded = file.rows.len() + file.left_out;
                file.rows.clear();
                file.pairs.clear();
            }
        }
    }
}

impl FileDiff {
    fn note(&mut self, line: &str) {
        let name = line
            .strip_prefix("+++ ")
            .or_else(|| line.strip_prefix("--- "));
        if let Some(name) = name {
            if name != "/dev/null" {
                self.name = unprefixed(name);
            }
            return;
        }
        let is_known = ["index ", "\\ No newline"];
        if !line.is_empty() && !is_known.iter().any(|known| line.starts_with(known)) {
            self.notes.push(line.to_owned());
        }
    }

    /// Highlights the lines and pairs them for the side-by-side layout.
    fn finish(&mut self) {
        self.left_out = self.rows.len().saturating_sub(SHOWN);
        self.rows.truncate(SHOWN);
        let language = HighlightLanguage::of(&self.name);
        if self.rows.len() <= PAINTED {
            let (mut old, mut new) = (
                LineHighlighter::new(language),
                LineHighlighter::new(language),
            );
            for row in &mut self.rows {
                let line = row.spans.first().map(|it| it.text.clone());
                let line = line.unwrap_or_default();
                match row.sort {
                    DiffLineKind::Place => {
                        (old, new) = (
                            LineHighlighter::new(language),
                            LineHighlighter::new(language),
                        )
                    }
                    DiffLineKind::Removed => row.spans = old.line(&line),
                    DiffLineKind::Added => row.spans = new.line(&line),
                    DiffLineKind::Same => {
                        old.line(&line);
                        row.spans = new.line(&line);
                    }
                }
            }
        }
        self.pairs = side_by_side(&self.rows);
    }
}

impl HunkCursor {
    /// Parses a hunk header such as `@@ -1,2 +3,4 @@`.
    fn begin(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("@@ -")?;
        let (old, rest) = rest.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let range = |text: &str| -> Option<(usize, usize)> {
            match text.split_once(',') {
                Some((from, count)) => Some((from.parse().ok()?, count.parse().ok()?)),
                None => Some((text.parse().ok()?, 1)),
            }
        };
        let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
        Some(Self {
            old,
            new,
            old_left,
            new_left,
        })
    }

    fn take(&mut self, line: &str) -> Option<DiffRow> {
        // Git may omit the space before an empty line.
        let (sign, text) = match line.chars().next() {
            Some(sign) => (sign, &line[sign.len_utf8()..]),
            None => (' ', ""),
        };
        let sort = match sign {
            '+' => DiffLineKind::Added,
            '-' => DiffLineKind::Removed,
            '\\' => return None,
            _ => DiffLineKind::Same,
        };
        let (mut old, mut new) = (None, None);
        if sort != DiffLineKind::Added {
            old = Some(self.old);
            self.old += 1;
            self.old_left = self.old_left.saturating_sub(1);
        }
        if sort != DiffLineKind::Removed {
            new = Some(self.new);
            self.new += 1;
            self.new_left = self.new_left.saturating_sub(1);
        }
        let spans = vec![HighlightSpan::plain(text)];
        Some(DiffRow {
            sort,
            old,
            new,
            spans,
        })
    }
}

/// Pairs removed lines with the added lines that replace them.
fn side_by_side(rows: &[DiffRow]) -> Vec<DiffRowPair> {
    let mut pairs = Vec::new();
    let (mut gone, mut come): (Vec<&DiffRow>, Vec<&DiffRow>) = (Vec::new(), Vec::new());
    for row in rows {
        match row.sort {
            DiffLineKind::Removed => gone.push(row),
            DiffLineKind::Added => come.push(row),
            DiffLineKind::Same | DiffLineKind::Place => {
                settle(&mut pairs, &mut gone, &mut come);
                pairs.push(DiffRowPair {
                    left: Some(row.clone()),
                    right: Some(row.clone()),
                });
            }
        }
    }
    settle(&mut pairs, &mut gone, &mut come);
    pairs
}

fn settle(pairs: &mut Vec<DiffRowPair>, gone: &mut Vec<&DiffRow>, come: &mut Vec<&DiffRow>) {
    for at in 0..gone.len().max(come.len()) {
        pairs.push(DiffRowPair {
            left: gone.get(at).map(|&row| row.clone()),
            right: come.get(at).map(|&row| row.clone()),
        });
    }
    gone.clear();
    come.clear();
}

fn name_of(names: &str) -> String {
    names
        .split_once(" b/")
        .map_or(names, |(_, name)| name)
        .to_owned()
}

fn unprefixed(name: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name);
    let plain = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    plain.unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{DiffLineKind, fit, parse};

    const DIFF: &str = "diff --git a/src/one.py b/src/one.py\nindex 1..2 100644\n--- a/src/one.py\n\
        +++ b/src/one.py\n@@ -1,3 +1,4 @@ def x\n same\n-gone\n--- looks like a head\n+come\n+more\n+--x\n\
        diff --git a/pic.png b/pic.png\nnew file mode 100644\nBinary files /dev/null and b/pic.png differ\n";

    #[test]
    fn lines_are_counted_not_guessed() {
        let files = parse(DIFF);
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].name, "src/one.py");
        let sorts: Vec<DiffLineKind> = files[0].rows.iter().map(|row| row.sort).collect();
        use DiffLineKind::{Added, Place, Removed, Same};
        assert_eq!(sorts, [Place, Same, Removed, Removed, Added, Added, Added]);
        let last = &files[0].rows[6];
        assert_eq!((last.old, last.new), (None, Some(4)));
        assert_eq!(files[1].name, "pic.png");
        assert_eq!(files[1].notes.len(), 2);
    }

    #[test]
    fn what_went_stands_beside_what_came() {
        let files = parse(DIFF);
        let pairs = &files[0].pairs;
        assert_eq!(pairs.len(), 5);
        assert!(pairs[2].left.is_some() && pairs[2].right.is_some());
        assert!(pairs[4].left.is_none() && pairs[4].right.is_some());
    }

    #[test]
    fn large_files_have_no_colours_and_huge_ones_are_cut() {
        let mut text = "diff --git a/x.rs b/x.rs\n@@ -0,0 +1,30000 @@\n".to_owned();
        for _ in 0..30_000 {
            text.push_str("+let x = 1;\n");
        }
        let files = parse(&text);
        assert_eq!(files[0].rows.len(), super::SHOWN);
        assert_eq!(files[0].left_out, 10_001);
        assert_eq!(files[0].rows[1].spans.len(), 1);
    }

    #[test]
    fn files_that_do_not_fit_the_page_are_folded_and_shown_by_themselves() {
        let file = |name: &str, lines: usize| {
            let added = "+let x = 1;\n".repeat(lines);
            format!("diff --git a/{name} b/{name}\n@@ -0,0 +1,{lines} @@\n{added}")
        };
        let text = file("a.rs", 6_000) + &file("b.rs", 6_000) + &file("c.rs", 10);
        let mut files = parse(&text);
        fit(&mut files, None);
        let seen: Vec<_> = files.iter().map(|it| (it.rows.len(), it.folded)).collect();
        assert_eq!(seen, [(6_001, 0), (0, 6_001), (11, 0)]);
        let mut files = parse(&text);
        fit(&mut files, Some(2));
        assert_eq!((files.len(), files[0].name.as_str()), (1, "b.rs"));
        assert_eq!((files[0].rows.len(), files[0].number), (6_001, 2));
    }

    #[test]
    fn whatever_comes_nothing_breaks() {
        for text in [
            "",
            "@@",
            "@@ -a +b @@\n",
            "diff --git \n@@ -1 +1 @@\n",
            "+++ \u{e9}\n-é",
        ] {
            drop(parse(text));
        }
    }
}
