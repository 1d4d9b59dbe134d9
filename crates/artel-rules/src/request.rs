//! Reads a request without a model: its title, constraints, success criteria and size.
//!
//! The text itself is kept elsewhere, verbatim. The result is shown to the person and
//! given to the architect, and the size decides what happens: a question is answered, a
//! trivial change is made, and everything else is planned. In doubt it is planned.

mod claims;
pub mod file;
mod sentences;
mod size;

use artel_types::plan::{RequestSize, Requirement};

/// Most claims of each kind that are kept.
pub const MOST_CLAIMS: usize = 40;
/// Longest claim, in characters.
pub const LONGEST_CLAIM: usize = 400;
/// Longest title, in characters.
pub const LONGEST_TITLE: usize = 80;

/// The analysis of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestAnalysis {
    /// The first words of the request.
    pub title: String,
    /// Limits on how it is done.
    pub constraints: Vec<Requirement>,
    /// What has to hold afterwards.
    pub criteria: Vec<Requirement>,
    /// The size of the request.
    pub size: RequestSize,
    /// The reason for that size.
    pub why: String,
}

/// Reads a request. The same text always gives the same result.
pub fn read(text: &str) -> RequestAnalysis {
    let lines = sentences::lines(text);
    let (constraints, criteria) = claims::read(&lines);
    let (size, why) = size::of(&lines);
    RequestAnalysis {
        title: title(&lines),
        constraints,
        criteria,
        size,
        why,
    }
}

/// Returns the first sentence that is not merely a heading, cut at a word.
fn title(lines: &[sentences::RequestLine]) -> String {
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
