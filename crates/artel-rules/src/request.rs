//! What a person asked, read without a model: a title, what limits it, what has to hold, and how
//! large it is.
//!
//! The words themselves are kept elsewhere, verbatim. What is read here is shown to the person and
//! given to the architect, and the size decides the path: a question is answered, a trivial change
//! is done, everything else is planned. In doubt it is planned.

mod claims;
pub mod file;
mod sentences;
mod size;

use artel_types::plan::{Claim, Size};

/// How many claims of each sort are kept.
pub const MOST_CLAIMS: usize = 40;
/// How many characters a claim has at most.
pub const LONGEST_CLAIM: usize = 400;
/// How many characters a title has at most.
pub const LONGEST_TITLE: usize = 80;

/// What was understood of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood {
    /// The first words.
    pub title: String,
    /// What limits how it is done.
    pub constraints: Vec<Claim>,
    /// What has to hold afterwards.
    pub criteria: Vec<Claim>,
    /// How large it is.
    pub size: Size,
    /// Why it is taken to be that large.
    pub why: String,
}

/// Reads a request. The same words always give the same answer.
pub fn read(text: &str) -> Understood {
    let lines = sentences::lines(text);
    let (constraints, criteria) = claims::read(&lines);
    let (size, why) = size::of(&lines);
    Understood {
        title: title(&lines),
        constraints,
        criteria,
        size,
        why,
    }
}

/// Takes the first sentence that is no mere heading, cut at a word.
fn title(lines: &[sentences::Line]) -> String {
    let texts = lines.iter().filter(|line| !line.is_generic_heading());
    let first = texts.flat_map(|line| line.sentences()).next();
    let first = first.unwrap_or_default();
    let first = first.trim_end_matches(['.', ':', ';', ',']).trim();
    if first.chars().count() <= LONGEST_TITLE {
        return first.to_owned();
    }
    let start: String = first.chars().take(LONGEST_TITLE).collect();
    let end = start.rfind(' ').unwrap_or(start.len());
    format!("{}…", start[..end].trim_end())
}

#[cfg(test)]
mod tests;
