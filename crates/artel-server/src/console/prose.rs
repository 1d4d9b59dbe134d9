//! Splits the Markdown that Artel writes into the blocks of a page: headings, lists,
//! tables, quotes. Everything in them stays text, and unknown syntax is shown as it is.

use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{Coded, coded};

/// A text, split into blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(path = "prose.html")]
pub(super) struct Prose {
    pub(super) blocks: Vec<Block>,
}

// The template escapes its values itself.
impl HtmlSafe for Prose {}

/// A block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    /// A heading of the second level.
    Head(Coded),
    /// A heading of the third level.
    Under(Coded),
    /// A paragraph.
    Text(Coded),
    /// A quotation.
    Quote(Coded),
    /// A list; each item has whether it is nested below the one before.
    Items(Vec<(bool, Coded)>),
    /// A table, with its heading first.
    Table(Vec<Vec<Coded>>),
}

/// Splits a text into blocks. The front matter and the title are left out, because the page
/// shows them elsewhere.
pub(super) fn prose(text: &str) -> Prose {
    let body = match text.strip_prefix("---\n") {
        Some(rest) => rest.split_once("\n---\n").map_or(text, |(_, body)| body),
        None => text,
    };
    let mut blocks = Vec::new();
    for line in body.lines() {
        take(&mut blocks, line);
    }
    blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_empty()));
    Prose { blocks }
}

fn take(blocks: &mut Vec<Block>, line: &str) {
    let bare = line.trim();
    if let Some(rest) = bare.strip_prefix("### ") {
        blocks.push(Block::Under(coded(rest)));
    } else if let Some(rest) = bare.strip_prefix("## ") {
        blocks.push(Block::Head(coded(rest)));
    } else if bare.starts_with("# ") {
        // The title is at the top of the page.
    } else if let Some(rest) = bare.strip_prefix("- ") {
        let item = (line.starts_with(' '), coded(rest));
        match blocks.last_mut() {
            Some(Block::Items(items)) => items.push(item),
            _ => blocks.push(Block::Items(vec![item])),
        }
    } else if bare.starts_with('|') {
        row(blocks, bare);
    } else if let Some(rest) = bare.strip_prefix('>') {
        match blocks.last_mut() {
            Some(Block::Quote(said)) => said.add(rest.trim_start()),
            _ => blocks.push(Block::Quote(coded(rest.trim_start()))),
        }
    } else {
        match blocks.last_mut() {
            Some(Block::Text(text)) if !bare.is_empty() && !text.is_empty() => text.add(bare),
            _ => blocks.push(Block::Text(coded(bare))),
        }
    }
}

fn row(blocks: &mut Vec<Block>, line: &str) {
    let cells = line.trim_matches('|').split(" | ");
    let cells: Vec<Coded> = cells.map(|cell| coded(cell.trim())).collect();
    let is_rule = line.chars().all(|letter| "|-: ".contains(letter));
    match blocks.last_mut() {
        Some(Block::Table(rows)) if is_rule && rows.len() == 1 => {}
        Some(Block::Table(rows)) => rows.push(cells),
        _ => blocks.push(Block::Table(vec![cells])),
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, prose};
    use crate::console::coded::coded;

    #[test]
    fn a_report_is_cut_into_what_a_page_is_made_of() {
        let text = "---\nkey: value\n---\n\n# Title\n\n## Steps\n\n> said\n> twice\n\n\
            | A | B |\n| --- | --- |\n| `x` | 2 |\n\n- one\n  - below\n\nfirst\nsecond\n\nnext\n";
        let cells = |one: &str, two: &str| vec![coded(one), coded(two)];
        let wanted = [
            Block::Head(coded("Steps")),
            Block::Quote(coded("said\ntwice")),
            Block::Table(vec![cells("A", "B"), cells("`x`", "2")]),
            Block::Items(vec![(false, coded("one")), (true, coded("below"))]),
            Block::Text(coded("first\nsecond")),
            Block::Text(coded("next")),
        ];
        assert_eq!(prose(text).blocks, wanted);
    }

    #[test]
    fn what_is_no_report_is_shown_all_the_same() {
        for text in ["", "---", "|", "---\nno end", "- ", "### "] {
            drop(prose(text));
        }
        assert_eq!(prose("plain").blocks, [Block::Text(coded("plain"))]);
    }
}
