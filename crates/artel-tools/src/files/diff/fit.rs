//! Fits hunks to a text: at the line that they state, or at the nearest place where every
//! line fits.
//!
//! Context is never guessed: a line of a hunk fits a line of the text only if they are
//! equal up to their line endings. Only the place where the hunk is tried varies.

use super::{PatchHunk, PatchLineSide};

/// Largest number of comparisons in the search for the nearest misfit.
const MOST_STEPS: usize = 2_000_000;

/// Why a hunk does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HunkFitError {
    /// Number of the hunk, counted from 1.
    pub(crate) hunk: usize,
    /// The fault, in a sentence without its subject.
    pub(crate) why: String,
}

/// Applies all hunks, in order.
pub(crate) fn fit(text: &str, hunks: &[PatchHunk]) -> Result<String, HunkFitError> {
    let mut fitter = HunkFitter {
        lines: text.split_inclusive('\n').collect(),
        cursor: 0,
        drift: 0,
        result: String::with_capacity(text.len()),
    };
    for (number, hunk) in hunks.iter().enumerate() {
        fitter.apply(hunk).map_err(|why| HunkFitError {
            hunk: number + 1,
            why,
        })?;
    }
    fitter.copy_to(fitter.lines.len());
    Ok(fitter.result)
}

struct HunkFitter<'a> {
    lines: Vec<&'a str>,
    /// Lines before this one are done.
    cursor: usize,
    /// Distance of the last hunk from the line that it stated.
    drift: isize,
    result: String,
}

impl<'a> HunkFitter<'a> {
    fn apply(&mut self, hunk: &PatchHunk) -> Result<(), String> {
        let old: Vec<&str> = hunk.lines_of(PatchLineSide::Old).collect();
        let from = self.seek(hunk)?;
        let at = self.place(hunk, &old, from)?;
        if let Some(start) = hunk.old_start {
            self.drift = at as isize - start as isize;
        }
        self.copy_to(at);
        let ends = line_end(self.lines.get(at).or(self.lines.first()));
        for line in &hunk.lines {
            match line.side {
                PatchLineSide::Both => self.copy_to(self.cursor + 1),
                PatchLineSide::Old => self.cursor += 1,
                PatchLineSide::New => self.push(&line.text, ends),
            }
        }
        Ok(())
    }

    /// Finds the lines that the hunk comes after, and returns the line where the search for it
    /// starts.
    fn seek(&self, hunk: &PatchHunk) -> Result<usize, String> {
        let mut from = self.cursor;
        for wanted in &hunk.seek {
            let rest = &self.lines[from..];
            let at = rest
                .iter()
                .position(|line| line.trim_end() == wanted.trim_end())
                .or_else(|| rest.iter().position(|line| line.trim() == wanted.trim()));
            let at =
                at.ok_or_else(|| format!("there is no line `{wanted}` after line {}", from))?;
            from += at + 1;
        }
        Ok(from)
    }

    fn place(&self, hunk: &PatchHunk, old: &[&str], from: usize) -> Result<usize, String> {
        let last = self.lines.len().saturating_sub(old.len());
        let is_named = hunk.old_start.is_some() || !hunk.seek.is_empty() || hunk.is_at_end;
        let expected = match hunk.old_start {
            _ if hunk.is_at_end => last,
            Some(start) => start.saturating_add_signed(self.drift),
            // Lines that are added without context go to the end.
            None if old.is_empty() && hunk.seek.is_empty() => last,
            None => from,
        };
        let expected = expected.clamp(from.min(last), last);
        if old.is_empty() {
            return Ok(expected.max(from));
        }
        if old.len() > self.lines.len() - from.min(self.lines.len()) {
            return Err(self.misfit(hunk, old, expected));
        }
        let exact = |at: &usize| self.fits(*at, old, |line, wanted| line == wanted);
        let loose = |at: &usize| self.fits(*at, old, |line, wanted| bare(line) == bare(wanted));
        if exact(&expected) || (is_named && loose(&expected)) {
            if !is_named {
                self.only_once(from, last, old)?;
            }
            return Ok(expected);
        }
        let near = nearest(expected, from, last).find(exact);
        let near = near.or_else(|| nearest(expected, from, last).find(loose));
        let at = near.ok_or_else(|| self.misfit(hunk, old, expected))?;
        if !is_named {
            self.only_once(from, last, old)?;
        }
        Ok(at)
    }

    fn only_once(&self, from: usize, last: usize, old: &[&str]) -> Result<(), String> {
        let places: Vec<_> = (from..=last)
            .filter(|at| self.fits(*at, old, |line, wanted| bare(line) == bare(wanted)))
            .take(5)
            .map(|at| (at + 1).to_string())
            .collect();
        if places.len() > 1 {
            return Err(format!(
                "fits at lines {}: give more lines of context, or a line it comes after as \
                 `@@ line`",
                places.join(", ")
            ));
        }
        Ok(())
    }

    fn fits(&self, at: usize, old: &[&str], equal: impl Fn(&str, &str) -> bool) -> bool {
        let window = self.lines.get(at..at + old.len());
        window.is_some_and(|window| window.iter().zip(old).all(|(line, old)| equal(line, old)))
    }

    /// Returns which line does not fit, at the place where the hunk fits best.
    fn misfit(&self, hunk: &PatchHunk, old: &[&str], expected: usize) -> String {
        let new: Vec<&str> = hunk.lines_of(PatchLineSide::New).collect();
        let starts = nearest(expected, 0, self.lines.len());
        let is_done = |at: &usize| self.fits(*at, &new, |line, new| bare(line) == bare(new));
        if !new.is_empty() && new != old && starts.clone().any(|at| is_done(&at)) {
            return "does not fit; its new lines are there already, so it may have been applied \
                    before"
                .to_owned();
        }
        let most = MOST_STEPS / old.len().max(1);
        let rated = starts.take(most).map(|at| (self.rate(at, old), at));
        let best = rated.fold(
            (0, expected),
            |best, next| if next.0 > best.0 { next } else { best },
        );
        let at = best.1;
        let wrong = (0..old.len()).find(|n| {
            let line = self.lines.get(at + n);
            line.is_none_or(|line| bare(line) != bare(old[*n]))
        });
        let wrong = wrong.unwrap_or_default();
        let wanted = bare(old[wrong]);
        match self.lines.get(at + wrong) {
            Some(line) => format!(
                "does not fit: line {} should be `{wanted}` and is `{}`",
                at + wrong + 1,
                bare(line)
            ),
            None => format!(
                "does not fit: line {} should be `{wanted}`, but the file has {} lines",
                at + wrong + 1,
                self.lines.len()
            ),
        }
    }

    fn rate(&self, at: usize, old: &[&str]) -> usize {
        let pairs = self.lines[at.min(self.lines.len())..].iter().zip(old);
        pairs.filter(|(line, old)| bare(line) == bare(old)).count()
    }

    fn copy_to(&mut self, to: usize) {
        while self.cursor < to {
            let line: &'a str = self.lines[self.cursor];
            self.push(line, "\n");
            self.cursor += 1;
        }
    }

    /// Adds a line. If the previous line has no line ending, it gets one first.
    fn push(&mut self, line: &str, end: &str) {
        if !self.result.is_empty() && !self.result.ends_with('\n') {
            self.result.push_str(end);
        }
        match line.strip_suffix('\n') {
            Some(body) if end == "\r\n" && !body.ends_with('\r') => {
                self.result.push_str(body);
                self.result.push_str(end);
            }
            _ => self.result.push_str(line),
        }
    }
}

/// Iterates outward from a place; of two places at the same distance, the earlier comes
/// first.
fn nearest(start: usize, from: usize, last: usize) -> impl Iterator<Item = usize> + Clone {
    let furthest = start.max(last) - start.min(from);
    (0..=furthest)
        .flat_map(move |step| {
            let after = (step > 0).then(|| start + step);
            start.checked_sub(step).into_iter().chain(after)
        })
        .filter(move |at| (from..=last).contains(at))
}

fn line_end(line: Option<&&str>) -> &'static str {
    match line {
        Some(line) if line.ends_with("\r\n") => "\r\n",
        _ => "\n",
    }
}

fn bare(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}
