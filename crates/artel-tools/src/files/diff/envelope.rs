//! The envelope format: `*** Begin Patch`, one heading per file, and hunks that name the
//! lines that they follow instead of line numbers.

use std::mem;

use super::{FilePatch, PatchHunk, PatchLineSide};

pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// Parses the parts of all files.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let mut reader = EnvelopePatchParser::default();
    let begin = patch.lines().position(|line| line.trim() == BEGIN);
    let lines = patch.lines().enumerate().skip(begin.map_or(0, |at| at + 1));
    for (number, line) in lines {
        if line.trim_end() == END {
            reader.close();
            return Ok(reader.files);
        }
        reader
            .line(line)
            .map_err(|why| format!("line {}: {why}", number + 1))?;
    }
    Err(format!(
        "the patch has no `{END}` line: it may have been cut off"
    ))
}

#[derive(Default)]
struct EnvelopePatchParser {
    files: Vec<FilePatch>,
    hunk: PatchHunk,
}

impl EnvelopePatchParser {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(heading) = line.strip_prefix("*** ") {
            return self.heading(heading.trim_end());
        }
        let Some(file) = self.files.last() else {
            return if line.trim().is_empty() {
                Ok(())
            } else {
                Err(format!("`{line}` comes before any `*** … File:` line"))
            };
        };
        match (&file.from, &file.to) {
            (None, _) => self.added(line),
            (_, None) if line.trim().is_empty() => Ok(()),
            (_, None) => Err("a deleted file has no lines in this form".to_owned()),
            _ => self.changed(line),
        }
    }

    fn heading(&mut self, heading: &str) -> Result<(), String> {
        if format!("*** {heading}") == END_OF_FILE {
            self.hunk.is_at_end = true;
            self.close();
            return Ok(());
        }
        let unknown = || format!("`*** {heading}` is no heading of this form");
        let (kind, name) = heading.split_once(": ").ok_or_else(unknown)?;
        let name = Some(name.trim().to_owned());
        let (from, to) = match kind {
            "Add File" => (None, name),
            "Delete File" => (name, None),
            "Update File" => (name.clone(), name),
            "Move to" => {
                let file = self.files.last_mut().filter(|file| file.from.is_some());
                let file = file.ok_or("`*** Move to:` comes after `*** Update File:`")?;
                file.to = name;
                return Ok(());
            }
            _ => return Err(unknown()),
        };
        self.close();
        self.files.push(FilePatch {
            from,
            to,
            ..FilePatch::default()
        });
        Ok(())
    }

    fn added(&mut self, line: &str) -> Result<(), String> {
        let text = line.strip_prefix('+');
        let text = text.ok_or("each line of an added file begins with `+`")?;
        self.hunk.old_start = Some(0);
        self.hunk.new_start = Some(0);
        self.hunk.push(PatchLineSide::New, text);
        Ok(())
    }

    fn changed(&mut self, line: &str) -> Result<(), String> {
        if let Some(seek) = line.strip_prefix("@@") {
            if !self.hunk.lines.is_empty() {
                self.close();
            }
            self.hunk.title = line.trim_end().to_owned();
            let seek = seek.trim();
            if !seek.is_empty() {
                self.hunk.seek.push(seek.to_owned());
            }
            return Ok(());
        }
        let side = match line.as_bytes().first() {
            None => PatchLineSide::Both,
            Some(b' ') => PatchLineSide::Both,
            Some(b'+') => PatchLineSide::New,
            Some(b'-') => PatchLineSide::Old,
            Some(_) => {
                return Err(format!(
                    "`{line}` begins with none of `+`, `-`, space and `@@`"
                ));
            }
        };
        self.hunk.push(side, line.get(1..).unwrap_or_default());
        Ok(())
    }

    /// Ends a hunk. Blank lines at its end separate it from the next one; they are not
    /// context.
    fn close(&mut self) {
        let mut hunk = mem::take(&mut self.hunk);
        while hunk
            .lines
            .last()
            .is_some_and(|line| line.side == PatchLineSide::Both && line.text == "\n")
        {
            hunk.lines.pop();
        }
        if !hunk.lines.is_empty()
            && let Some(file) = self.files.last_mut()
        {
            if hunk.title.is_empty() {
                "@@".clone_into(&mut hunk.title);
            }
            file.hunks.push(hunk);
        }
    }
}
