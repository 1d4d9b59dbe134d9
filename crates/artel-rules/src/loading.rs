//! Decides which of many files go into a prompt, and reports those that do not.
//!
//! Nothing is left out silently: the prompt then contains a warning block, and the person
//! who reads the plan sees the same lines. The block counts against the budget.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use artel_types::Timestamp;

use crate::tokens::BYTES_PER_TOKEN;

/// Most tokens of the budget for the block about missing files.
const MOST_WARNING: u64 = 500;
/// Smallest useful part of a file, in tokens.
const LEAST_SHARE: u64 = 50;

/// A file that could be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFileCandidate {
    /// The file's name in the prompt.
    pub path: String,
    /// Size in tokens.
    pub tokens: u64,
    /// When the file was last changed.
    pub modified: Timestamp,
    /// Importance of the file; higher numbers are more important.
    pub priority: u32,
}

/// Which files go first if not all fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ContextLoadStrategy {
    /// Takes more important files first, and among equals the smallest: as many files as
    /// possible.
    #[default]
    SmallestFirst,
    /// Leaves out the largest files, however important, until the rest fits.
    DropLargest,
    /// Leaves out less important files first, and among equals the oldest, until the rest
    /// fits.
    DropOldest,
    /// Keeps the beginning of every file, with an equal share for each.
    TruncateEach,
}

/// Which files are loaded, cut or skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextLoadOutcome {
    /// The loaded files, in display order.
    pub included: Vec<LoadedContextFile>,
    /// The skipped files, in the order in which they were given.
    pub skipped: Vec<String>,
    /// The files that are loaded only in part, by path, with the tokens kept.
    pub truncated: Vec<LoadedContextFile>,
    /// Tokens of everything loaded, without the warning block.
    pub total: u64,
    /// The block in the prompt about missing files, or `None` if nothing is missing.
    pub warning_block: Option<String>,
    /// The same for people, one line per file.
    pub warnings: Vec<String>,
}

/// A file with the amount that is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedContextFile {
    /// The file's name in the prompt.
    pub path: String,
    /// Number of tokens loaded.
    pub tokens: u64,
}

impl ContextLoadStrategy {
    pub const ALL: [Self; 4] = [
        Self::SmallestFirst,
        Self::DropLargest,
        Self::DropOldest,
        Self::TruncateEach,
    ];

    /// Returns the word used in settings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SmallestFirst => "smallest-first",
            Self::DropLargest => "drop-largest",
            Self::DropOldest => "drop-oldest",
            Self::TruncateEach => "truncate-each",
        }
    }
}

impl fmt::Display for ContextLoadStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ContextLoadStrategy {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut all = Self::ALL.into_iter();
        all.find(|it| it.as_str() == text).ok_or(())
    }
}

/// Returns the part of a model's window that may be filled, in tokens.
pub fn budget(window: u64, percent: u32) -> u64 {
    let part = u128::from(window) * u128::from(percent.min(100)) / 100;
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// Decides which files are loaded. A cap cuts every file first. The loaded files and the
/// warning block never exceed the budget.
pub fn choose(
    files: &[ContextFileCandidate],
    budget: u64,
    strategy: ContextLoadStrategy,
    per_file_cap: Option<u64>,
) -> ContextLoadOutcome {
    let cap = per_file_cap.unwrap_or(u64::MAX);
    let capped: Vec<u64> = files.iter().map(|file| file.tokens.min(cap)).collect();
    let is_whole = files
        .iter()
        .zip(&capped)
        .all(|(file, kept)| file.tokens == *kept);
    let total = capped
        .iter()
        .fold(0, |sum: u64, kept| sum.saturating_add(*kept));
    if is_whole && total <= budget {
        let all: Vec<usize> = (0..files.len()).collect();
        return settle(files, &capped, &all, budget, strategy, 0);
    }
    let room = (budget / 5).min(MOST_WARNING);
    let space = budget - room;
    let mut kept = capped;
    let taken = match strategy {
        ContextLoadStrategy::SmallestFirst => smallest_first(files, &kept, space),
        ContextLoadStrategy::DropLargest => {
            let key = |at: usize| (Reverse(kept[at]), files[at].priority, files[at].modified);
            dropping(files, &kept, space, key)
        }
        ContextLoadStrategy::DropOldest => {
            let key = |at: usize| (files[at].priority, files[at].modified, Reverse(kept[at]));
            dropping(files, &kept, space, key)
        }
        ContextLoadStrategy::TruncateEach => truncate_each(files, &mut kept, space),
    };
    settle(files, &kept, &taken, budget, strategy, room)
}

fn smallest_first(files: &[ContextFileCandidate], kept: &[u64], space: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&at| (Reverse(files[at].priority), kept[at], &files[at].path));
    let mut used = 0;
    order.retain(|&at| {
        let fits = kept[at] <= space - used;
        used += if fits { kept[at] } else { 0 };
        fits
    });
    order
}

/// Drops files, the one with the smallest key first, until the others fit.
fn dropping<K: Ord>(
    files: &[ContextFileCandidate],
    kept: &[u64],
    space: u64,
    key: impl Fn(usize) -> K,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&at| (key(at), Reverse(&files[at].path)));
    let mut total: u128 = kept.iter().map(|tokens| u128::from(*tokens)).sum();
    let mut dropped = 0;
    for &at in &order {
        if total <= u128::from(space) {
            break;
        }
        total -= u128::from(kept[at]);
        dropped += 1;
    }
    let mut taken = order.split_off(dropped);
    taken.sort_unstable();
    taken
}

/// Gives every file the same share; what a small file does not need goes to the others. If
/// the shares would be too small to be useful, the least important files get none.
fn truncate_each(files: &[ContextFileCandidate], kept: &mut [u64], space: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&at| (Reverse(files[at].priority), &files[at].path));
    let most = usize::try_from(space / LEAST_SHARE).unwrap_or(usize::MAX);
    order.truncate(most.max(1));
    order.retain(|&at| space > 0 || kept[at] == 0);
    let mut by_size = order.clone();
    by_size.sort_by_key(|&at| kept[at]);
    let (mut left, mut count) = (space, by_size.len() as u64);
    for at in by_size {
        let share = left / count.max(1);
        kept[at] = kept[at].min(share);
        left -= kept[at];
        count -= 1;
    }
    order.sort_unstable();
    order
}

fn settle(
    files: &[ContextFileCandidate],
    kept: &[u64],
    taken: &[usize],
    budget: u64,
    strategy: ContextLoadStrategy,
    room: u64,
) -> ContextLoadOutcome {
    let loaded = |at: usize| LoadedContextFile {
        path: files[at].path.clone(),
        tokens: kept[at],
    };
    let is_cut = |at: &&usize| kept[**at] < files[**at].tokens;
    let taken_set: BTreeSet<usize> = taken.iter().copied().collect();
    let skipped = (0..files.len()).filter(|at| !taken_set.contains(at));
    let mut choice = ContextLoadOutcome {
        included: taken.iter().map(|&at| loaded(at)).collect(),
        skipped: skipped.clone().map(|at| files[at].path.clone()).collect(),
        truncated: taken.iter().filter(is_cut).map(|&at| loaded(at)).collect(),
        total: taken
            .iter()
            .fold(0, |sum: u64, &at| sum.saturating_add(kept[at])),
        ..ContextLoadOutcome::default()
    };
    let left_out =
        skipped.map(|at| format!("Skipped {} ({} tokens)", files[at].path, files[at].tokens));
    let cut = taken.iter().filter(is_cut).map(|&at| {
        let (path, tokens) = (&files[at].path, files[at].tokens);
        format!("Truncated {path} ({} of {tokens} tokens kept)", kept[at])
    });
    choice.warnings = left_out.chain(cut).collect();
    if !choice.warnings.is_empty() {
        choice.warning_block = Some(block(&choice, budget, strategy, room));
    }
    choice
}

/// Writes the warning block. It names as many files as fit into `room`, and counts the
/// others.
fn block(
    choice: &ContextLoadOutcome,
    budget: u64,
    strategy: ContextLoadStrategy,
    room: u64,
) -> String {
    let mut block = format!(
        "[System Warning: Context Truncated]\nToken Budget: {budget} (strategy {strategy})\n\
         Skipped {}, truncated {}\n",
        artel_types::counted(choice.skipped.len() as u64, "file"),
        choice.truncated.len(),
    );
    let space = usize::try_from(room.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    const REST: usize = "- and 1000000 more\n".len();
    let mut named = 0;
    for warning in &choice.warnings {
        if block.len() + warning.len() + 3 + REST > space {
            break;
        }
        block.push_str(&format!("- {}\n", warning.replace(['\n', '\r'], " ")));
        named += 1;
    }
    if named > 0 && named < choice.warnings.len() {
        block.push_str(&format!("- and {} more\n", choice.warnings.len() - named));
    }
    block
}

#[cfg(test)]
mod tests;
