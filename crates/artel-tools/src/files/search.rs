//! Searches a tree on all cores, and keeps only the results that fit into an answer.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use artel_files::FileIdentity;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish,
    SinkMatch,
};
use ignore::{WalkBuilder, WalkState};
use serde::Deserialize;
use serde_json::json;

use super::walk::{RootReadHandle, TreeWalkStart};
use crate::{ToolContext, ToolError, ToolErrorKind, ToolObservation};

/// Largest amount of lines in a result, in bytes.
const MOST_BYTES: usize = 64 * 1024;
/// Largest memory for searching one file, in bytes: needed for a very long line, or for a
/// whole file if matches span lines.
const MOST_MEMORY: usize = 64 * 1024 * 1024;
/// Longest part of a line shown around the match, in characters.
const MOST_LINE: usize = 400;

/// The query of a search, and how to print the results.
pub(crate) struct GrepQuery {
    pub(crate) matcher: RegexMatcher,
    pub(crate) output: GrepOutputMode,
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) is_multiline: bool,
    pub(crate) limit: usize,
}

/// Output mode of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GrepOutputMode {
    #[default]
    Content,
    Files,
    Count,
}

/// The results of a search.
#[derive(Default)]
pub(crate) struct GrepResults {
    files: Vec<GrepFileMatches>,
    /// Number of matching lines and files in all, including those that are not kept.
    matches: usize,
    matching_files: usize,
    /// Number of files that could not be read to the end.
    failed: usize,
}

/// The matches in one file.
#[derive(Default)]
struct GrepFileMatches {
    name: String,
    count: usize,
    lines: Vec<GrepResultLine>,
    is_binary: bool,
    is_broken: bool,
}

/// A line of the result.
struct GrepResultLine {
    text: String,
    /// Whether a match begins on this line.
    is_match: bool,
}

/// Searches all files of a walk.
pub(crate) fn search(
    start: &TreeWalkStart<'_>,
    walk: &WalkBuilder,
    asked: &GrepQuery,
    bench: &ToolContext,
) -> Result<GrepResults, ToolError> {
    let beneath = RootReadHandle::of(start.root).map_err(|cause| {
        let what = format!("could not open the tree: {cause}");
        ToolError::new(ToolErrorKind::Machine, what)
    })?;
    let found = Mutex::new(GrepResults::default());
    let failed = AtomicUsize::new(0);
    walk.build_parallel().run(|| {
        let mut searcher = asked.searcher();
        let (found, beneath, failed) = (&found, &beneath, &failed);
        Box::new(move |entry| {
            let Ok(entry) = entry else {
                return WalkState::Continue;
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                return WalkState::Continue;
            }
            let path = start.relative(&entry);
            let Ok(file) = beneath.open(path) else {
                failed.fetch_add(1, Ordering::Relaxed);
                return WalkState::Continue;
            };
            let hits = asked.search(&mut searcher, &file);
            failed.fetch_add(usize::from(hits.is_broken), Ordering::Relaxed);
            if hits.count > 0 && !hits.is_binary && may_show(start, path, &file, bench) {
                let name = start.name(path);
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.add(GrepFileMatches { name, ..hits }, asked);
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.failed = failed.into_inner();
    found.files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// Asks the guard before anything of a file is shown: about its real path and its other
/// names, for the very file that was searched. A refused file is treated as one without a
/// match and is not counted, so that the result tells nobody what it holds.
fn may_show(start: &TreeWalkStart<'_>, path: &Path, file: &File, bench: &ToolContext) -> bool {
    let guard = bench.guard.in_place(&start.target.place);
    let (Ok(opened), Ok(searched)) = (start.root.open_file(path, &*guard), file.metadata()) else {
        return false;
    };
    let searched = FileIdentity {
        device: searched.dev(),
        inode: searched.ino(),
    };
    opened.about.identity == searched
}

impl GrepQuery {
    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(self.output == GrepOutputMode::Content)
            .multi_line(self.is_multiline)
            .before_context(self.before)
            .after_context(self.after)
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MOST_MEMORY))
            .build()
    }

    fn search(&self, searcher: &mut Searcher, file: &File) -> GrepFileMatches {
        let mut hits = GrepFileMatches::default();
        let sink = GrepMatchSink {
            asked: self,
            hits: &mut hits,
        };
        hits.is_broken = searcher.search_file(&self.matcher, file, sink).is_err();
        hits
    }
}

/// Records the searcher's matches in one file.
struct GrepMatchSink<'k> {
    asked: &'k GrepQuery,
    hits: &'k mut GrepFileMatches,
}

impl GrepMatchSink<'_> {
    fn keep(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let first = number.unwrap_or_default();
        for (line, bytes) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let at = match mark {
                ':' => self
                    .asked
                    .matcher
                    .find(bytes)
                    .ok()
                    .flatten()
                    .map(|found| found.start()),
                _ => None,
            };
            let text = cut(bytes, at.unwrap_or_default());
            let number = first + line as u64;
            self.hits.lines.push(GrepResultLine {
                text: format!("{number}{mark}{text}"),
                is_match: mark == ':' && line == 0,
            });
        }
    }

    fn is_full(&self) -> bool {
        self.hits.count > self.asked.limit
    }
}

impl Sink for GrepMatchSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.hits.count += 1;
        match self.asked.output {
            GrepOutputMode::Files => Ok(false),
            GrepOutputMode::Count => Ok(true),
            GrepOutputMode::Content => {
                if !self.is_full() {
                    self.keep(found.line_number(), ':', found.bytes());
                }
                Ok(true)
            }
        }
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.asked.output == GrepOutputMode::Content && !self.is_full() {
            self.keep(context.line_number(), '-', context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if !self.hits.lines.is_empty() && !self.is_full() {
            self.hits.lines.push(GrepResultLine {
                text: "--".to_owned(),
                is_match: false,
            });
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.hits.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Shows a line, or the part around `at` if the line is too long.
fn cut(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MOST_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    let text = String::from_utf8_lossy(line);
    let from = text.floor_char_boundary(at.saturating_sub(MOST_LINE / 4));
    let to = text.floor_char_boundary((from + MOST_LINE).min(text.len()));
    let (head, tail) = (from, text.len() - to);
    let mut shown = String::new();
    // Writing to a string cannot fail.
    if head > 0 {
        let _ = write!(shown, "[+{head} bytes] … ");
    }
    shown.push_str(&text[from..to]);
    if tail > 0 {
        let _ = write!(shown, " … [+{tail} bytes]");
    }
    shown
}

impl GrepResults {
    fn add(&mut self, hits: GrepFileMatches, asked: &GrepQuery) {
        self.matches += hits.count;
        self.matching_files += 1;
        self.files.push(hits);
        let kept: usize = match asked.output {
            GrepOutputMode::Content if self.files.len().is_multiple_of(64) => {
                self.files.iter().map(|hits| hits.lines.len()).sum()
            }
            _ => self.files.len(),
        };
        if kept > asked.limit * 8 {
            self.prune(asked);
        }
    }

    /// Drops the files that come after the limit, in the order of paths.
    fn prune(&mut self, asked: &GrepQuery) {
        self.files.sort_by(|one, other| one.name.cmp(&other.name));
        let mut left = asked.limit;
        let keep = self.files.iter().take_while(|hits| {
            let has_room = left > 0;
            left = left.saturating_sub(match asked.output {
                GrepOutputMode::Content => hits.count,
                _ => 1,
            });
            has_room
        });
        let keep = keep.count();
        self.files.truncate(keep);
    }

    /// Turns the results into an observation for the model.
    pub(crate) fn observation(mut self, pattern: &str, asked: &GrepQuery) -> ToolObservation {
        self.prune(asked);
        let (mut text, is_partial) = match asked.output {
            GrepOutputMode::Content => self.content(asked),
            GrepOutputMode::Files | GrepOutputMode::Count => self.names(asked),
        };
        if self.matching_files == 0 {
            text = format!(
                "nothing matches `{pattern}`\n[hidden, ignored and binary files are not searched, \
                 nor sensitive ones and others that may not be read]"
            );
        }
        if self.failed > 0 {
            let _ = write!(
                text,
                "\n[{} files could not be read to their ends]",
                self.failed
            );
        }
        ToolObservation {
            text,
            data: json!({
                "matches": (asked.output != GrepOutputMode::Files).then_some(self.matches),
                "files": self.matching_files,
            }),
            is_partial,
            ..ToolObservation::default()
        }
    }

    fn content(&self, asked: &GrepQuery) -> (String, bool) {
        let (mut text, mut shown) = (String::new(), 0);
        let mut is_cut = self.files.len() < self.matching_files;
        'files: for hits in &self.files {
            let _ = writeln!(text, "{}", hits.name);
            for line in &hits.lines {
                let is_over = line.is_match && shown == asked.limit;
                if is_over || text.len() + line.text.len() > MOST_BYTES {
                    is_cut = true;
                    break 'files;
                }
                shown += usize::from(line.is_match);
                let _ = writeln!(text, "{}", line.text);
            }
        }
        let (matches, files) = (self.matches, self.matching_files);
        is_cut |= shown < matches;
        let _ = if is_cut {
            write!(
                text,
                "[{shown} of {matches} matches, in {files} files; narrow with `path`, `glob` or \
                 `type`, or count with `output`]"
            )
        } else {
            write!(text, "[{matches} matches in {files} files]")
        };
        (text, is_cut)
    }

    fn names(&self, asked: &GrepQuery) -> (String, bool) {
        let mut text = String::new();
        for hits in &self.files {
            let _ = match asked.output {
                GrepOutputMode::Count => writeln!(text, "{}: {}", hits.name, hits.count),
                _ => writeln!(text, "{}", hits.name),
            };
        }
        let (shown, all) = (self.files.len(), self.matching_files);
        let is_partial = shown < all;
        let matches = match asked.output {
            GrepOutputMode::Count => format!(", {} matching lines", self.matches),
            _ => String::new(),
        };
        let _ = if is_partial {
            write!(text, "[{shown} of {all} files{matches}]")
        } else {
            write!(text, "[{all} files{matches}]")
        };
        (text, is_partial)
    }
}
